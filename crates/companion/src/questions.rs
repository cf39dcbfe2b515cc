//! The questions that agents ask in their own terminals beside their proposals, where a hook waits for the answer, too.
//! A rejection that says why answers the question in place of the proposal's call: the model reads the reason, and its
//! turn goes on. A state machine without I/O.
//!
//! So does the acceptance of an empty new file, which Claude Code takes for a rejection if the proposal's call is answered.
//!
//! A question does not say which proposal it belongs to, only for which file. So it is answered only where it is the
//! one question for the one proposal of that file; any other rejection goes the proposal's own way.

use std::collections::HashMap;

use serde_json::Value;

use crate::event::Caller;
use crate::ids::RequestId;
use crate::sessions::SessionId;

/// A question that waits in the loop: who asks, and the whole input of the tool that is asked about.
#[derive(Debug)]
pub(crate) struct AskedBeside {
    pub(crate) caller: Caller,
    pub(crate) input: Value,
}

/// The most that wait in a session: each holds one of the answers that may be on their way.
const MAX_WAITING: usize = 16;

/// The questions that wait. Dropping a caller leaves its question to the agent.
#[derive(Debug)]
pub(crate) struct Questions<C> {
    waiting: HashMap<SessionId, Vec<Question<C>>>,
}

#[derive(Debug)]
struct Question<C> {
    request: RequestId,
    /// The file that it is about.
    path: String,
    caller: C,
}

impl<C> Default for Questions<C> {
    fn default() -> Self {
        Self {
            waiting: HashMap::new(),
        }
    }
}

impl<C> Questions<C> {
    /// The agent asks whether it may change this file.
    pub(crate) fn ask(&mut self, session: &SessionId, request: RequestId, path: String, caller: C) {
        let waiting = self.waiting.entry(session.clone()).or_default();
        if waiting.len() < MAX_WAITING {
            waiting.push(Question {
                request,
                path,
                caller,
            });
        }
    }

    /// Returns true if there is one question about this file, and no more.
    pub(crate) fn has_one(&self, session: &SessionId, path: &str) -> bool {
        let waiting = self.waiting.get(session);
        waiting.is_some_and(|all| all.iter().filter(|it| it.path == path).count() == 1)
    }

    /// Returns the caller that asks about this file, if it is one only.
    pub(crate) fn take(&mut self, session: &SessionId, path: &str) -> Option<C> {
        let mut callers = self.end(session, path);
        callers.pop().filter(|_| callers.is_empty())
    }

    /// The questions about this file are over: another change of it begins, or one was decided.
    pub(crate) fn end(&mut self, session: &SessionId, path: &str) -> Vec<C> {
        let waiting = self.waiting.get_mut(session);
        let ended = waiting.map(|all| all.extract_if(.., |it| it.path == path));
        ended.into_iter().flatten().map(|it| it.caller).collect()
    }

    /// The agent does not wait for this call any more.
    pub(crate) fn cancel(&mut self, session: &SessionId, request: &RequestId) {
        if let Some(waiting) = self.waiting.get_mut(session) {
            waiting.retain(|question| question.request != *request);
        }
    }

    /// The session is over.
    pub(crate) fn forget(&mut self, session: &SessionId) {
        self.waiting.remove(session);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn session(name: &str) -> SessionId {
        name.into()
    }

    fn request(number: usize) -> RequestId {
        RequestId::new(json!(number)).unwrap()
    }

    /// Callers are numbers, which are those of their calls.
    fn asked(all: &[(&str, &str, usize)]) -> Questions<usize> {
        let mut questions = Questions::default();
        for (of, path, number) in all {
            let path = (*path).to_owned();
            questions.ask(&session(of), request(*number), path, *number);
        }
        questions
    }

    #[test]
    fn the_one_question_about_a_file_is_found_once() {
        let mut questions = asked(&[("a", "/x", 1), ("a", "/y", 2), ("b", "/x", 3)]);
        for (of, path, expected) in [
            ("a", "/x", Some(1)),
            ("a", "/x", None),
            ("b", "/x", Some(3)),
            ("a", "/y", Some(2)),
            ("c", "/x", None),
        ] {
            assert_eq!(questions.take(&session(of), path), expected, "{of} {path}");
        }
    }

    #[test]
    fn of_two_for_one_file_nobody_knows_which_is_meant() {
        let mut questions = asked(&[("a", "/x", 1), ("a", "/x", 2)]);
        assert_eq!(questions.take(&session("a"), "/x"), None);
        assert_eq!(questions.take(&session("a"), "/x"), None);
    }

    #[test]
    fn what_is_over_is_not_answered() {
        let all = [("a", "/x", 1), ("a", "/x", 2), ("a", "/y", 3)];
        let mut questions = asked(&all);
        questions.cancel(&session("a"), &request(1));
        assert_eq!(questions.take(&session("a"), "/x"), Some(2));
        let mut questions = asked(&all);
        assert_eq!(questions.end(&session("a"), "/x"), [1, 2]);
        assert_eq!(questions.take(&session("a"), "/x"), None);
        questions.forget(&session("a"));
        assert_eq!(questions.take(&session("a"), "/y"), None);
    }

    #[test]
    fn no_more_wait_than_answers_may_be_on_their_way() {
        let mut questions = Questions::default();
        for number in 0..=MAX_WAITING {
            let path = format!("/{number}");
            questions.ask(&session("a"), request(number), path, number);
        }
        let last = format!("/{MAX_WAITING}");
        assert_eq!(questions.take(&session("a"), &last), None);
        assert_eq!(questions.take(&session("a"), "/0"), Some(0));
        questions.ask(&session("a"), request(99), last.clone(), 99);
        assert_eq!(questions.take(&session("a"), &last), Some(99));
    }
}
