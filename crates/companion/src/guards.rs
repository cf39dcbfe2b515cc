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

use crate::ids::RequestId;
use crate::sessions::SessionId;

/// The number of calls of a session that are remembered: the process of a call may come after the answer.
const MAX_KNOWN: usize = 4096;

/// No agent gives its calls longer names. The process beside a call with one waits as for a call that does not come.
const MAX_NAME: usize = 256;

/// The most processes that wait in a session. One more gets no answer.
const MAX_WAITING: usize = 256;

/// The time limit for a call's wait for its process. Then it is shown without one, as the system may have no process more.
pub(crate) const GUARDED_WITHIN: Duration = Duration::from_secs(10);

/// The time limit for a process's wait for its call. Then there will be no answer.
const CALLED_WITHIN: Duration = Duration::from_secs(60);

/// The processes, and what has become of the calls that they stand beside.
#[derive(Debug)]
pub(crate) struct Guards<W, P> {
    sessions: HashMap<SessionId, Calls<W, P>>,
}

#[derive(Debug)]
struct Calls<W, P> {
    /// The calls that have come, and whose hook is answered or will be; oldest first.
    known: VecDeque<Known>,
    held: Vec<Held>,
    waiting: Vec<Waiting<W>>,
    unguarded: Vec<Unguarded<P>>,
}

#[derive(Debug)]
struct Known {
    /// The agent's name for it.
    call: String,
    is_answered: bool,
}

/// A process that stands beside a call.
#[derive(Debug)]
struct Waiting<W> {
    call: String,
    way: W,
    /// None once the call has come.
    until: Option<Instant>,
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
            known: VecDeque::new(),
            held: Vec::new(),
            waiting: Vec::new(),
            unguarded: Vec::new(),
        }
    }
}

impl<W, P> Guards<W, P> {
    /// A process stands beside this call. Returns its way if the hook is answered already.
    pub(crate) fn wait(
        &mut self,
        session: &SessionId,
        call: String,
        way: W,
        now: Instant,
    ) -> Option<W> {
        let calls = self.sessions.entry(Arc::clone(session)).or_default();
        let known = calls.known.iter().find(|it| it.call == call);
        if known.is_some_and(|it| it.is_answered) {
            return Some(way);
        }
        let until = known.is_none().then_some(now + CALLED_WITHIN);
        if calls.waiting.len() < MAX_WAITING {
            calls.waiting.push(Waiting { call, way, until });
        }
        None
    }

    /// The hook before this call has come, and will be answered.
    pub(crate) fn called(&mut self, session: &SessionId, call: &str) {
        let calls = self.sessions.entry(Arc::clone(session)).or_default();
        if calls.know(call).is_some() {
            let waiting = calls.waiting.iter_mut().filter(|it| it.call == call);
            waiting.for_each(|it| it.until = None);
        }
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
        if calls.waiting.iter().any(|it| it.call == call) {
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
        let calls = self.sessions.values();
        let due = calls.flat_map(|it| {
            let unguarded = it.unguarded.iter().map(|it| it.until);
            unguarded.chain(it.waiting.iter().filter_map(|it| it.until))
        });
        due.min()
    }

    /// Takes the calls that have waited for their process in vain. Processes that have waited so for their call get no answer.
    pub(crate) fn late(&mut self, now: Instant) -> Vec<(SessionId, P)> {
        let mut late = Vec::new();
        for (session, calls) in &mut self.sessions {
            calls
                .waiting
                .retain(|it| it.until.is_none_or(|until| now < until));
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
        calls.answer(call)
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
                let answered = calls.answer(&held.call);
                ways.extend(answered.into_iter().map(|way| (Arc::clone(session), way)));
            }
        }
        ways
    }

    /// The agent waits for the answer to the hook of this call no more, and there will be none.
    pub(crate) fn unanswered(&mut self, session: &SessionId, call: &str) {
        if let Some(calls) = self.sessions.get_mut(session) {
            calls.waiting.retain(|it| it.call != call);
            calls.known.retain(|it| it.call != call);
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
    /// This call, which is remembered from now on unless its name is too long for that.
    fn know(&mut self, call: &str) -> Option<&mut Known> {
        if call.len() > MAX_NAME {
            return None;
        }
        let place = self.known.iter().position(|it| it.call == call);
        if place.is_none() {
            if self.known.len() == MAX_KNOWN {
                self.known.pop_front();
            }
            self.known.push_back(Known {
                call: call.to_owned(),
                is_answered: false,
            });
        }
        self.known
            .get_mut(place.unwrap_or(self.known.len().saturating_sub(1)))
    }

    fn answer(&mut self, call: &str) -> Vec<W> {
        if let Some(known) = self.know(call) {
            known.is_answered = true;
        }
        let ways = self.waiting.extract_if(.., |it| it.call == call);
        ways.map(|it| it.way).collect()
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
        let now = Instant::now();
        assert_eq!(guards.wait(&a, "x".into(), 1, now), None);
        assert_eq!(guards.wait(&b, "x".into(), 2, now), None);
        assert_eq!(guards.answered(&a, "x"), [1]);
        assert_eq!(guards.wait(&a, "x".into(), 3, now), Some(3));
        assert_eq!(guards.wait(&a, "y".into(), 4, now), None, "another call");
        assert_eq!(guards.answered(&b, "x"), [2]);
        assert!(guards.answered(&b, "x").is_empty());
    }

    #[test]
    fn a_call_is_shown_when_its_process_is_there_or_does_not_come() {
        let (mut guards, a, b) = (Guards::<_, &str>::default(), session("a"), session("b"));
        let now = Instant::now();
        assert_eq!(guards.due(), None);
        guards.called(&b, "x");
        assert_eq!(guards.guarded(&a, "x", "a x", now), None);
        assert_eq!(guards.guarded(&b, "x", "b x", now), None);
        assert_eq!(guards.guarded(&b, "y", "b y", now), None);
        assert_eq!(guards.wait(&b, "x".into(), 1, now), None);
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
        let now = Instant::now();
        for (session, call, way) in [(&a, "x", 1), (&a, "y", 2), (&b, "x", 3)] {
            guards.held(session, call.into(), request(way), format!("p{way}"));
            assert_eq!(guards.wait(session, call.into(), way, now), None);
        }
        assert_eq!(guards.decided(|_, _| true), []);
        let waits = |_: &SessionId, proposal: &str| proposal != "p2";
        assert_eq!(guards.decided(waits), [(a.clone(), 2)]);
        assert_eq!(guards.decided(waits), [], "once");
        assert_eq!(guards.wait(&a, "y".into(), 4, now), Some(4));
        let waits = |session: &SessionId, _: &str| *session == b;
        assert_eq!(guards.decided(waits), [(a, 1)]);
    }

    #[test]
    fn a_call_whose_hook_gets_no_answer_does_not_go_on() {
        let way = || Arc::new(());
        let is_dropped = |way: &Arc<()>| Arc::strong_count(way) == 1;
        let (mut guards, a) = (Guards::<_, ()>::default(), session("a"));
        let now = Instant::now();
        let ways = [(); 4].map(|()| way());
        for (number, way) in ways.iter().enumerate() {
            let call = number.to_string();
            guards.wait(&a, call.clone(), Arc::clone(way), now);
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
        assert!(guards.wait(&a, "0".into(), way(), now).is_none());
    }

    #[test]
    fn one_that_calls_without_end_fills_no_memory() {
        let (mut guards, a) = (Guards::<_, ()>::default(), session("a"));
        let now = Instant::now();
        for number in 0..2 * MAX_KNOWN {
            guards.wait(&a, "x".into(), number, now);
            guards.answered(&a, &format!("other {number}"));
        }
        let long = "x".repeat(MAX_NAME + 1);
        guards.called(&a, &long);
        guards.answered(&a, &long);
        let calls = &guards.sessions[&a];
        assert_eq!(calls.known.len(), MAX_KNOWN);
        assert!(calls.known.iter().all(|it| it.call != long));
        assert_eq!(guards.answered(&a, "x").len(), MAX_WAITING);
    }

    #[test]
    fn a_process_waits_a_minute_for_its_call_and_as_long_as_it_takes_for_the_answer() {
        let (mut guards, a) = (Guards::<_, ()>::default(), session("a"));
        let now = Instant::now();
        let later = now + CALLED_WITHIN;
        guards.called(&a, "came before");
        guards.called(&a, "given up");
        guards.unanswered(&a, "given up");
        let calls = ["came before", "comes", "does not come", "given up"];
        for (number, call) in calls.into_iter().enumerate() {
            assert_eq!(guards.wait(&a, call.into(), number, now), None, "{call}");
        }
        guards.called(&a, "comes");
        assert_eq!(guards.due(), Some(later));
        assert_eq!(guards.late(later - Duration::from_nanos(1)), []);
        assert_eq!(guards.due(), Some(later));
        assert_eq!(guards.late(later), []);
        assert_eq!(guards.due(), None);
        for (call, ways) in calls.into_iter().zip([&[0][..], &[1], &[], &[]]) {
            assert_eq!(guards.answered(&a, call), ways, "{call}");
        }
    }

    #[test]
    fn a_process_that_comes_late_goes_on_as_its_hook_was_answered() {
        let (mut guards, a) = (Guards::<_, ()>::default(), session("a"));
        let now = Instant::now();
        for number in 0..MAX_KNOWN {
            guards.answered(&a, &number.to_string());
        }
        for number in [0, 1, MAX_KNOWN / 2, MAX_KNOWN - 1] {
            let call = number.to_string();
            assert_eq!(guards.wait(&a, call, number, now), Some(number));
        }
    }
}
