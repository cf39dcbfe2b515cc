//! The processes of ours that wait beside agents to wake them. An agent starts one with each prompt (`pillion hook wait`);
//! if that ends with a text, the agent reads the text at once, also when it was idle. Each agent has one: the next ends the
//! former.
//!
//! Notes that were handed to one are the agent's as soon as the process says that it passes them on. If it ends before,
//! they wait again.

use std::collections::HashMap;

use pillion_protocol::remarks;

use super::Agents;
use super::notes::text;
use crate::event::Waiter;
use crate::remark::Remark;
use crate::sessions::SessionId;

/// A process that waits. Dropping its way ends it.
#[derive(Debug)]
pub(crate) struct Waker {
    number: u64,
    way: Waiter,
}

/// What processes have got, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Handed {
    last: u64,
    open: HashMap<u64, HandedNotes>,
}

/// The remarks that a process has got and not passed on yet.
#[derive(Debug)]
struct HandedNotes {
    session: SessionId,
    remarks: Vec<Remark>,
}

impl Agents {
    /// One more process waits, for this agent. Returns its number, if the agent is here.
    pub(crate) fn wait_beside(&mut self, session: &SessionId, way: Waiter) -> Option<u64> {
        let agent = self.agents.get_mut(session)?;
        self.handed.last += 1;
        let number = self.handed.last;
        agent.waker = Some(Waker { number, way });
        Some(number)
    }

    /// Hands the notes for this agent to the process that waits beside it. Returns the number of that.
    pub(crate) fn hand_notes(&mut self, session: &SessionId) -> Option<u64> {
        let agent = self.agents.get_mut(session)?;
        // Of an agent without hooks nobody knows whether its prompt has carried them already.
        if !agent.mode.is_hooked() {
            return None;
        }
        let Waker { number, way } = agent.waker.take()?;
        let remarks = agent.notes.take_remarks()?;
        if way.send(remarks::sent(&text(&remarks))).is_err() {
            agent.notes.put_back(remarks);
            return None;
        }
        let handed = HandedNotes {
            session: session.clone(),
            remarks,
        };
        self.handed.open.insert(number, handed);
        Some(number)
    }

    /// The process of this number has ended; before that it may have passed on what it got. Returns whose notes it had got, if any:
    /// they wait again if it has not passed them on.
    pub(crate) fn waker_ended(&mut self, number: u64, is_passed_on: bool) -> Option<SessionId> {
        for agent in self.agents.values_mut() {
            agent.waker.take_if(|it| it.number == number);
        }
        let handed = self.handed.open.remove(&number)?;
        match self.agents.get_mut(&handed.session) {
            _ if is_passed_on => {
                let names = handed.remarks.iter().map(|it| it.name().to_owned());
                self.told.extend(names);
            }
            Some(agent) => agent.notes.put_back(handed.remarks),
            None => {
                let left = handed.remarks.into_iter().map(Remark::without_outcome);
                self.left_notes.extend(left);
            }
        }
        Some(handed.session)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Instant;

    use pillion_protocol::claude::hooks::Call;
    use pillion_protocol::remarks::FileRemark;
    use pillion_protocol::{Dialect, IdeContext};
    use serde_json::Map;
    use tokio::sync::oneshot::{self, Receiver};

    use super::*;

    /// Agents whose hooks tell, with a note for each.
    fn agents(sessions: &[&SessionId]) -> Agents {
        let mut agents = Agents::default();
        for session in sessions {
            let agent = agents.connected(session, Dialect::ClaudeCode);
            agent.mode.hooked(&Call::from_arguments(Map::new()), true);
            let note = FileRemark::new("/a".into(), "no".into(), &[], false);
            let remark = Remark::written(Dialect::ClaudeCode, &[note]);
            agent.notes.add_for_hook(remark);
        }
        agents
    }

    fn waits(agents: &mut Agents, session: &SessionId) -> (u64, Receiver<String>) {
        let (way, got) = oneshot::channel();
        (agents.wait_beside(session, way).unwrap(), got)
    }

    #[test]
    fn each_agent_has_one_process_and_the_next_ends_the_former() {
        let (a, b): (SessionId, SessionId) = ("a".into(), "b".into());
        let mut agents = agents(&[&a, &b]);
        let can_wake =
            |agents: &Agents, session| agents.get(session).is_some_and(|it| it.can_wake());
        let (first, mut first_got) = waits(&mut agents, &a);
        let (_, mut others) = waits(&mut agents, &b);
        let (second, mut got) = waits(&mut agents, &a);
        let is_ended = |got: &mut Receiver<String>| {
            got.try_recv() == Err(oneshot::error::TryRecvError::Closed)
        };
        assert_eq!(
            [&mut first_got, &mut others, &mut got].map(is_ended),
            [true, false, false]
        );
        // That the former one is gone is no news of the one that waits.
        assert!(agents.waker_ended(first, false).is_none());
        assert!(can_wake(&agents, &a));
        assert!(agents.waker_ended(second, false).is_none());
        assert!(!can_wake(&agents, &a) && can_wake(&agents, &b));
        agents.remove(&b, Instant::now());
        assert!(is_ended(&mut others));
    }

    #[test]
    fn what_a_process_got_is_known_until_it_has_ended() {
        let a: SessionId = "a".into();
        let mut agents = agents(&[&a]);
        let (number, mut got) = waits(&mut agents, &a);
        assert_eq!(agents.hand_notes(&a), Some(number));
        assert_eq!(got.try_recv().unwrap(), remarks::sent("no"));
        // The next one has nothing to do with it.
        let (next, _) = waits(&mut agents, &a);
        assert!(agents.waker_ended(next, false).is_none());
        // Nor has the session.
        agents.remove(&a, Instant::now());
        assert_eq!(agents.waker_ended(number, false), Some(a));
        assert_eq!(agents.waker_ended(number, false), None);
        // They wait for the agent to come back.
        assert_eq!(agents.waiting_notes().len(), 1);
    }

    #[test]
    fn notes_wait_again_where_no_process_takes_them() {
        let a: SessionId = "a".into();
        let mut agents = agents(&[&a]);
        assert_eq!(agents.hand_notes(&a), None);
        let (_, got) = waits(&mut agents, &a);
        drop(got);
        assert_eq!(agents.hand_notes(&a), None);
        assert!(agents.get(&a).unwrap().notes.wait());
        // Without hooks, its prompt may have carried them.
        let b: SessionId = "b".into();
        let agent = agents.connected(&b, Dialect::ClaudeCode);
        let note = FileRemark::new("/a".into(), "no".into(), &[], false);
        let none = Arc::new(IdeContext::default());
        agent.notes.add(
            Remark::written(Dialect::ClaudeCode, &[note]),
            &none,
            Instant::now(),
        );
        let (_, _got) = waits(&mut agents, &b);
        assert_eq!(agents.hand_notes(&b), None);
    }
}
