//! The processes of ours that stand beside the hook before a call (`pillion hook guard`). Claude Code makes a call whose hook
//! gets no answer, and a companion that was killed answers nothing. So a process waits until the hook is answered; if there
//! will be no answer, it has the agent ask the person. A state machine without I/O. `W` stands for the way to a process: using
//! it lets the call go on as its hook was answered, dropping it says that there is no answer.
//!
//! A person is shown a call only when its process is there: from then on nothing passes unseen. `P` stands for a call that waits
//! for that.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::request_id::RequestId;
use crate::sessions::SessionId;

/// The number of answered calls of a session that are remembered: the process of a call may come after the answer.
const MAX_ANSWERED: usize = 64;

/// The most processes that wait in a session. One more gets no answer.
const MAX_WAITING: usize = 256;

/// The time limit for a call's wait for its process. Then it is shown without one, as the system may have no process more.
pub(crate) const GUARDED_WITHIN: Duration = Duration::from_secs(10);

/// The processes, and what has become of the calls that they stand beside.
#[derive(Debug)]
pub(crate) struct Guards<W, P> {
    sessions: HashMap<SessionId, Calls<W, P>>,
}

#[derive(Debug)]
struct Calls<W, P> {
    /// The agent's names for the calls whose hook is answered, oldest first.
    answered: VecDeque<String>,
    held: Vec<Held>,
    waiting: Vec<(String, W)>,
    unguarded: Vec<Unguarded<P>>,
}

/// A call whose process is not there yet.
#[derive(Debug)]
struct Unguarded<P> {
    call: String,
    waits: P,
    until: Instant,
}

/// A call whose hook waits for the person.
#[derive(Debug)]
struct Held {
    call: String,
    request: RequestId,
    /// The name of its proposal.
    proposal: String,
}

impl<W, P> Default for Guards<W, P> {
    fn default() -> Self {
        Self {
            sessions: HashMap::new(),
        }
    }
}

impl<W, P> Default for Calls<W, P> {
    fn default() -> Self {
        Self {
            answered: VecDeque::new(),
            held: Vec::new(),
            waiting: Vec::new(),
            unguarded: Vec::new(),
        }
    }
}

impl<W, P> Guards<W, P> {
    /// A process stands beside this call. Returns its way if the hook is answered already.
    pub(crate) fn wait(&mut self, session: &SessionId, call: String, way: W) -> Option<W> {
        let calls = self.sessions.entry(Arc::clone(session)).or_default();
        if calls.answered.contains(&call) {
            return Some(way);
        }
        if calls.waiting.len() < MAX_WAITING {
            calls.waiting.push((call, way));
        }
        None
    }

    /// This call waits until a process stands beside it. Returns it if one does.
    pub(crate) fn guarded(
        &mut self,
        session: &SessionId,
        call: &str,
        waits: P,
        now: Instant,
    ) -> Option<P> {
        let calls = self.sessions.entry(Arc::clone(session)).or_default();
        if calls.waiting.iter().any(|(waiting, _)| waiting == call) {
            return Some(waits);
        }
        calls.unguarded.push(Unguarded {
            call: call.to_owned(),
            waits,
            until: now + GUARDED_WITHIN,
        });
        None
    }

    /// Takes the calls that have waited for this process.
    pub(crate) fn take(&mut self, session: &SessionId, call: &str) -> Vec<P> {
        let calls = self.sessions.get_mut(session);
        let taken = calls.map(|it| it.unguarded.extract_if(.., |it| it.call == call));
        taken.into_iter().flatten().map(|it| it.waits).collect()
    }

    /// Returns the time at which [`Guards::late`] wants to be called.
    pub(crate) fn due(&self) -> Option<Instant> {
        let calls = self.sessions.values().flat_map(|it| &it.unguarded);
        calls.map(|it| it.until).min()
    }

    /// Takes the calls that have waited for their process in vain.
    pub(crate) fn late(&mut self, now: Instant) -> Vec<(SessionId, P)> {
        let mut late = Vec::new();
        for (session, calls) in &mut self.sessions {
            let taken = calls.unguarded.extract_if(.., |it| it.until <= now);
            late.extend(taken.map(|it| (Arc::clone(session), it.waits)));
        }
        late
    }

    /// The hook of this call waits for the person, who sees it as the proposal of this name.
    pub(crate) fn held(
        &mut self,
        session: &SessionId,
        call: String,
        request: RequestId,
        proposal: String,
    ) {
        let calls = self.sessions.entry(Arc::clone(session)).or_default();
        calls.held.push(Held {
            call,
            request,
            proposal,
        });
    }

    /// The hook of this call is answered. Returns the ways of the processes beside it.
    pub(crate) fn answered(&mut self, session: &SessionId, call: &str) -> Vec<W> {
        let calls = self.sessions.entry(Arc::clone(session)).or_default();
        calls.answer(call.to_owned())
    }

    /// Returns the ways of the processes beside calls that wait for the person no more.
    pub(crate) fn decided(
        &mut self,
        waits: impl Fn(&SessionId, &str) -> bool,
    ) -> Vec<(SessionId, W)> {
        let mut ways = Vec::new();
        for (session, calls) in &mut self.sessions {
            let is_over = |held: &mut Held| !waits(session, &held.proposal);
            let over: Vec<_> = calls.held.extract_if(.., is_over).collect();
            for held in over {
                let answered = calls.answer(held.call);
                ways.extend(answered.into_iter().map(|way| (Arc::clone(session), way)));
            }
        }
        ways
    }

    /// The agent waits for the answer to the hook of this call no more, and there will be none.
    pub(crate) fn unanswered(&mut self, session: &SessionId, call: &str) {
        if let Some(calls) = self.sessions.get_mut(session) {
            calls.waiting.retain(|(waiting, _)| waiting != call);
        }
    }

    /// The same for the call that is held with this request.
    pub(crate) fn cancel(&mut self, session: &SessionId, request: &RequestId) {
        let Some(calls) = self.sessions.get_mut(session) else {
            return;
        };
        let is_meant = |held: &mut Held| held.request == *request;
        let cancelled: Vec<_> = calls.held.extract_if(.., is_meant).collect();
        for held in cancelled {
            self.unanswered(session, &held.call);
        }
    }

    /// The session is over, and with it every answer.
    pub(crate) fn forget(&mut self, session: &SessionId) {
        self.sessions.remove(session);
    }
}

impl<W, P> Calls<W, P> {
    fn answer(&mut self, call: String) -> Vec<W> {
        let ways = self.waiting.extract_if(.., |(waiting, _)| *waiting == call);
        let ways = ways.map(|(_, way)| way).collect();
        self.answered.push_back(call);
        if self.answered.len() > MAX_ANSWERED {
            self.answered.pop_front();
        }
        ways
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

    #[test]
    fn a_call_goes_on_when_its_hook_is_answered_whichever_comes_first() {
        let (mut guards, a, b) = (Guards::<_, ()>::default(), session("a"), session("b"));
        assert_eq!(guards.wait(&a, "x".into(), 1), None);
        assert_eq!(guards.wait(&b, "x".into(), 2), None);
        assert_eq!(guards.answered(&a, "x"), [1]);
        assert_eq!(guards.wait(&a, "x".into(), 3), Some(3));
        assert_eq!(guards.wait(&a, "y".into(), 4), None, "another call");
        assert_eq!(guards.answered(&b, "x"), [2]);
        assert!(guards.answered(&b, "x").is_empty());
    }

    #[test]
    fn a_call_is_shown_when_its_process_is_there_or_does_not_come() {
        let (mut guards, a, b) = (Guards::<_, &str>::default(), session("a"), session("b"));
        let now = Instant::now();
        assert_eq!(guards.due(), None);
        assert_eq!(guards.guarded(&a, "x", "a x", now), None);
        assert_eq!(guards.guarded(&b, "x", "b x", now), None);
        assert_eq!(guards.guarded(&b, "y", "b y", now), None);
        assert_eq!(guards.wait(&b, "x".into(), 1), None);
        assert_eq!(guards.take(&b, "x"), ["b x"]);
        assert!(guards.take(&b, "x").is_empty(), "once");
        assert_eq!(guards.guarded(&b, "x", "again", now), Some("again"));
        assert_eq!(guards.due(), Some(now + GUARDED_WITHIN));
        assert_eq!(guards.late(now), []);
        let mut late = guards.late(now + GUARDED_WITHIN);
        late.sort();
        assert_eq!(late, [(a.clone(), "a x"), (b, "b y")]);
        assert_eq!(guards.due(), None);
        guards.guarded(&a, "z", "gone", now);
        guards.forget(&a);
        assert_eq!(guards.due(), None);
    }

    #[test]
    fn a_call_that_is_held_goes_on_when_its_proposal_is_gone() {
        let (mut guards, a, b) = (Guards::<_, ()>::default(), session("a"), session("b"));
        for (session, call, way) in [(&a, "x", 1), (&a, "y", 2), (&b, "x", 3)] {
            guards.held(session, call.into(), request(way), format!("p{way}"));
            assert_eq!(guards.wait(session, call.into(), way), None);
        }
        assert_eq!(guards.decided(|_, _| true), []);
        let waits = |_: &SessionId, proposal: &str| proposal != "p2";
        assert_eq!(guards.decided(waits), [(a.clone(), 2)]);
        assert_eq!(guards.decided(waits), [], "once");
        assert_eq!(guards.wait(&a, "y".into(), 4), Some(4));
        let waits = |session: &SessionId, _: &str| *session == b;
        assert_eq!(guards.decided(waits), [(a, 1)]);
    }

    #[test]
    fn a_call_whose_hook_gets_no_answer_does_not_go_on() {
        let way = || Arc::new(());
        let is_dropped = |way: &Arc<()>| Arc::strong_count(way) == 1;
        let (mut guards, a) = (Guards::<_, ()>::default(), session("a"));
        let ways = [(); 4].map(|()| way());
        for (number, way) in ways.iter().enumerate() {
            let call = number.to_string();
            guards.wait(&a, call.clone(), Arc::clone(way));
            if number != 1 {
                guards.held(&a, call, request(number), format!("p{number}"));
            }
        }
        guards.cancel(&a, &request(0));
        guards.unanswered(&a, "1");
        assert_eq!(ways.each_ref().map(is_dropped), [true, true, false, false]);
        let gone = guards.decided(|_, proposal| proposal == "p3");
        assert_eq!(gone.len(), 1, "what was cancelled is not answered");
        drop(gone);
        guards.forget(&a);
        assert!(is_dropped(&ways[3]));
        assert!(guards.wait(&a, "0".into(), way()).is_none());
    }

    #[test]
    fn one_that_calls_without_end_fills_no_memory() {
        let (mut guards, a) = (Guards::<_, ()>::default(), session("a"));
        for number in 0..2 * MAX_WAITING {
            guards.wait(&a, "x".into(), number);
            guards.answered(&a, &format!("other {number}"));
        }
        let calls = &guards.sessions[&a];
        assert_eq!(calls.answered.len(), MAX_ANSWERED);
        assert_eq!(guards.answered(&a, "x").len(), MAX_WAITING);
    }
}
