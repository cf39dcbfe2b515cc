//! The processes of ours that stand beside the hook before a call (`pillion hook guard`). Claude Code makes a call whose hook
//! gets no answer, and a companion that was killed answers nothing. So a process waits until the hook is answered; if there
//! will be no answer, it has the agent ask the person. A state machine without I/O. `W` stands for the way to a process: using
//! it lets the call go on as its hook was answered, dropping it says that there is no answer.
//!
//! A person is shown a call only when its process is there: from then on nothing passes unseen. `P` stands for a call that waits
//! for that.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::ids::RequestId;

/// The number of calls that are remembered: the process of a call may come after the answer.
const MAX_KNOWN: usize = 4096;

/// No agent gives its calls longer names. The process beside a call with one waits as for a call that does not come.
const MAX_NAME: usize = 256;

/// The most processes that wait. One more gets no answer.
const MAX_WAITING: usize = 256;

/// The time limit for a call's wait for its process. Then it is shown without one, as the system may have no process more.
pub(crate) const GUARDED_WITHIN: Duration = Duration::from_secs(10);

/// The time limit for a process's wait for its call. Then there will be no answer.
const CALLED_WITHIN: Duration = Duration::from_secs(60);

/// The processes beside the calls of an agent, and what has become of these.
#[derive(Debug)]
pub(crate) struct Guards<W, P> {
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
pub(crate) struct Held {
    pub(crate) call: String,
    pub(crate) request: RequestId,
    /// The name of its proposal.
    pub(crate) proposal: String,
}

impl<W, P> Default for Guards<W, P> {
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
    pub(crate) fn wait(&mut self, call: String, way: W, now: Instant) -> Option<W> {
        let known = self.known.iter().find(|it| it.call == call);
        if known.is_some_and(|it| it.is_answered) {
            return Some(way);
        }
        let until = known.is_none().then_some(now + CALLED_WITHIN);
        if self.waiting.len() < MAX_WAITING {
            self.waiting.push(Waiting { call, way, until });
        }
        None
    }

    /// The hook before this call has come, and will be answered.
    pub(crate) fn called(&mut self, call: &str) {
        if self.know(call).is_some() {
            let waiting = self.waiting.iter_mut().filter(|it| it.call == call);
            waiting.for_each(|it| it.until = None);
        }
    }

    /// This call waits until a process stands beside it. Returns it if one does.
    pub(crate) fn guarded(&mut self, call: &str, waits: P, now: Instant) -> Option<P> {
        if self.waiting.iter().any(|it| it.call == call) {
            return Some(waits);
        }
        self.unguarded.push(Unguarded {
            call: call.to_owned(),
            waits,
            until: now + GUARDED_WITHIN,
        });
        None
    }

    /// Takes the calls that have waited for this process.
    pub(crate) fn take(&mut self, call: &str) -> Vec<P> {
        let taken = self.unguarded.extract_if(.., |it| it.call == call);
        taken.map(|it| it.waits).collect()
    }

    /// Returns the time at which [`Guards::late`] wants to be called.
    pub(crate) fn due(&self) -> Option<Instant> {
        let unguarded = self.unguarded.iter().map(|it| it.until);
        let waiting = self.waiting.iter().filter_map(|it| it.until);
        unguarded.chain(waiting).min()
    }

    /// Takes the calls that have waited for their process in vain. Processes that have waited so for their call get no answer.
    pub(crate) fn late(&mut self, now: Instant) -> Vec<P> {
        self.waiting
            .retain(|it| it.until.is_none_or(|until| now < until));
        let taken = self.unguarded.extract_if(.., |it| it.until <= now);
        taken.map(|it| it.waits).collect()
    }

    /// The hook of a call waits for the person.
    pub(crate) fn held(&mut self, held: Held) {
        self.held.push(held);
    }

    /// The hook of this call is answered. Returns the ways of the processes beside it.
    pub(crate) fn answered(&mut self, call: &str) -> Vec<W> {
        if let Some(known) = self.know(call) {
            known.is_answered = true;
        }
        let ways = self.waiting.extract_if(.., |it| it.call == call);
        ways.map(|it| it.way).collect()
    }

    /// Returns the ways of the processes beside calls that wait for the person no more.
    pub(crate) fn decided(&mut self, waits: impl Fn(&str) -> bool) -> Vec<W> {
        let over = self.held.extract_if(.., |held| !waits(&held.proposal));
        let over: Vec<_> = over.collect();
        let ways = over.iter().flat_map(|held| self.answered(&held.call));
        ways.collect()
    }

    /// The agent waits for the answer to the hook of this call no more, and there will be none.
    pub(crate) fn unanswered(&mut self, call: &str) {
        self.waiting.retain(|it| it.call != call);
        self.known.retain(|it| it.call != call);
    }

    /// The same for the call that is held with this request.
    pub(crate) fn cancel(&mut self, request: &RequestId) {
        let cancelled = self.held.extract_if(.., |held| held.request == *request);
        let cancelled: Vec<_> = cancelled.collect();
        for held in cancelled {
            self.unanswered(&held.call);
        }
    }

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
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    fn request(number: usize) -> RequestId {
        RequestId::new(json!(number)).unwrap()
    }

    /// The call with this request, and the proposal of this number.
    fn held(call: &str, number: usize) -> Held {
        Held {
            call: call.to_owned(),
            request: request(number),
            proposal: format!("p{number}"),
        }
    }

    #[test]
    fn a_call_goes_on_when_its_hook_is_answered_whichever_comes_first() {
        let (mut guards, now) = (Guards::<_, ()>::default(), Instant::now());
        assert_eq!(guards.wait("x".into(), 1, now), None);
        assert_eq!(guards.answered("x"), [1]);
        assert_eq!(guards.wait("x".into(), 3, now), Some(3));
        assert_eq!(guards.wait("y".into(), 4, now), None, "another call");
        assert!(guards.answered("x").is_empty());
    }

    #[test]
    fn a_call_is_shown_when_its_process_is_there_or_does_not_come() {
        let (mut guards, now) = (Guards::<_, &str>::default(), Instant::now());
        assert_eq!(guards.due(), None);
        guards.called("x");
        assert_eq!(guards.guarded("x", "x", now), None);
        assert_eq!(guards.guarded("y", "y", now), None);
        assert_eq!(guards.wait("x".into(), 1, now), None);
        assert_eq!(guards.take("x"), ["x"]);
        assert!(guards.take("x").is_empty(), "once");
        assert_eq!(guards.guarded("x", "again", now), Some("again"));
        assert_eq!(guards.due(), Some(now + GUARDED_WITHIN));
        assert!(guards.late(now).is_empty());
        assert_eq!(guards.late(now + GUARDED_WITHIN), ["y"]);
        assert_eq!(guards.due(), None);
    }

    #[test]
    fn a_call_that_is_held_goes_on_when_its_proposal_is_gone() {
        let (mut guards, now) = (Guards::<_, ()>::default(), Instant::now());
        for (call, way) in [("x", 1), ("y", 2)] {
            guards.held(held(call, way));
            assert_eq!(guards.wait(call.into(), way, now), None);
        }
        assert!(guards.decided(|_| true).is_empty());
        let waits = |proposal: &str| proposal != "p2";
        assert_eq!(guards.decided(waits), [2]);
        assert!(guards.decided(waits).is_empty(), "once");
        assert_eq!(guards.wait("y".into(), 4, now), Some(4));
        assert_eq!(guards.decided(|_| false), [1]);
    }

    #[test]
    fn a_call_whose_hook_gets_no_answer_does_not_go_on() {
        let way = || Arc::new(());
        let is_dropped = |way: &Arc<()>| Arc::strong_count(way) == 1;
        let (mut guards, now) = (Guards::<_, ()>::default(), Instant::now());
        let ways = [(); 4].map(|()| way());
        for (number, way) in ways.iter().enumerate() {
            let call = number.to_string();
            guards.wait(call.clone(), Arc::clone(way), now);
            if number != 1 {
                guards.held(held(&call, number));
            }
        }
        guards.cancel(&request(0));
        guards.unanswered("1");
        assert_eq!(ways.each_ref().map(is_dropped), [true, true, false, false]);
        let gone = guards.decided(|proposal| proposal == "p3");
        assert_eq!(gone.len(), 1, "what was cancelled is not answered");
        drop(gone);
        assert!(guards.wait("0".into(), way(), now).is_none());
        drop(guards);
        assert!(is_dropped(&ways[3]));
    }

    #[test]
    fn one_that_calls_without_end_fills_no_memory() {
        let (mut guards, now) = (Guards::<_, ()>::default(), Instant::now());
        for number in 0..2 * MAX_KNOWN {
            guards.wait("x".into(), number, now);
            guards.answered(&format!("other {number}"));
        }
        let long = "x".repeat(MAX_NAME + 1);
        guards.called(&long);
        guards.answered(&long);
        assert_eq!(guards.known.len(), MAX_KNOWN);
        assert!(guards.known.iter().all(|it| it.call != long));
        assert_eq!(guards.answered("x").len(), MAX_WAITING);
    }

    #[test]
    fn a_process_waits_a_minute_for_its_call_and_as_long_as_it_takes_for_the_answer() {
        let (mut guards, now) = (Guards::<_, ()>::default(), Instant::now());
        let later = now + CALLED_WITHIN;
        guards.called("came before");
        guards.called("given up");
        guards.unanswered("given up");
        let calls = ["came before", "comes", "does not come", "given up"];
        for (number, call) in calls.into_iter().enumerate() {
            assert_eq!(guards.wait(call.into(), number, now), None, "{call}");
        }
        guards.called("comes");
        assert_eq!(guards.due(), Some(later));
        assert!(guards.late(later - Duration::from_nanos(1)).is_empty());
        assert_eq!(guards.due(), Some(later));
        assert!(guards.late(later).is_empty());
        assert_eq!(guards.due(), None);
        for (call, ways) in calls.into_iter().zip([&[0][..], &[1], &[], &[]]) {
            assert_eq!(guards.answered(call), ways, "{call}");
        }
    }

    #[test]
    fn a_process_that_comes_late_goes_on_as_its_hook_was_answered() {
        let (mut guards, now) = (Guards::<_, ()>::default(), Instant::now());
        for number in 0..MAX_KNOWN {
            guards.answered(&number.to_string());
        }
        for number in [0, 1, MAX_KNOWN / 2, MAX_KNOWN - 1] {
            let call = number.to_string();
            assert_eq!(guards.wait(call, number, now), Some(number));
        }
    }
}
