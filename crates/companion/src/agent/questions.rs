//! The questions that agents ask in their own terminals beside their proposals, where a hook waits for the answer, too.
//! A rejection that says why answers the question in place of the proposal's call: the model reads the reason, and its
//! turn goes on. A state machine without I/O.
//!
//! So does the acceptance of an empty new file, which Claude Code takes for a rejection if the proposal's call is answered.
//!
//! A question does not say which proposal it belongs to, only for which file. So it is answered only where it is the
//! one question for the one proposal of that file; any other rejection goes the proposal's own way.

use crate::ids::RequestId;

/// The most that wait of an agent: each holds one of the answers that may be on their way.
const MAX_WAITING: usize = 16;

/// The questions of an agent that wait. Dropping a caller leaves its question to the agent.
#[derive(Debug)]
pub(crate) struct Questions<C>(Vec<Question<C>>);

#[derive(Debug)]
struct Question<C> {
    request: RequestId,
    /// The file that it is about.
    path: String,
    caller: C,
}

impl<C> Default for Questions<C> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<C> Questions<C> {
    /// The agent asks whether it may change this file.
    pub(crate) fn ask(&mut self, request: RequestId, path: String, caller: C) {
        if self.0.len() < MAX_WAITING {
            self.0.push(Question {
                request,
                path,
                caller,
            });
        }
    }

    /// Returns true if there is one question about this file, and no more.
    pub(crate) fn has_one(&self, path: &str) -> bool {
        self.0.iter().filter(|it| it.path == path).count() == 1
    }

    /// Returns the caller that asks about this file, if it is one only.
    pub(crate) fn take(&mut self, path: &str) -> Option<C> {
        let mut callers = self.end(path);
        callers.pop().filter(|_| callers.is_empty())
    }

    /// The questions about this file are over: another change of it begins, or one was decided.
    pub(crate) fn end(&mut self, path: &str) -> Vec<C> {
        let ended = self.0.extract_if(.., |it| it.path == path);
        ended.map(|it| it.caller).collect()
    }

    /// The agent does not wait for this call any more.
    pub(crate) fn cancel(&mut self, request: &RequestId) {
        self.0.retain(|question| question.request != *request);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(number: usize) -> RequestId {
        RequestId::new(json!(number)).unwrap()
    }

    /// Callers are numbers, which are those of their calls.
    fn asked(all: &[(&str, usize)]) -> Questions<usize> {
        let mut questions = Questions::default();
        for (path, number) in all {
            questions.ask(request(*number), (*path).to_owned(), *number);
        }
        questions
    }

    #[test]
    fn the_one_question_about_a_file_is_found_once() {
        let mut questions = asked(&[("/x", 1), ("/y", 2)]);
        for (path, expected) in [("/x", Some(1)), ("/x", None), ("/y", Some(2))] {
            assert_eq!(questions.has_one(path), expected.is_some(), "{path}");
            assert_eq!(questions.take(path), expected, "{path}");
        }
    }

    #[test]
    fn of_two_for_one_file_nobody_knows_which_is_meant() {
        let mut questions = asked(&[("/x", 1), ("/x", 2)]);
        assert!(!questions.has_one("/x"));
        assert_eq!(questions.take("/x"), None);
        assert_eq!(questions.take("/x"), None);
    }

    #[test]
    fn what_is_over_is_not_answered() {
        let all = [("/x", 1), ("/x", 2), ("/y", 3)];
        let mut questions = asked(&all);
        questions.cancel(&request(1));
        assert_eq!(questions.take("/x"), Some(2));
        let mut questions = asked(&all);
        assert_eq!(questions.end("/x"), [1, 2]);
        assert_eq!(questions.take("/x"), None);
    }

    #[test]
    fn no_more_wait_than_answers_may_be_on_their_way() {
        let mut questions = Questions::default();
        for number in 0..=MAX_WAITING {
            questions.ask(request(number), format!("/{number}"), number);
        }
        let last = format!("/{MAX_WAITING}");
        assert_eq!(questions.take(&last), None);
        assert_eq!(questions.take("/0"), Some(0));
        questions.ask(request(99), last.clone(), 99);
        assert_eq!(questions.take(&last), Some(99));
    }
}
