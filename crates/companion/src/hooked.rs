//! The agents whose hooks are commands, by what they call their sessions: a session here for each of theirs. Without I/O.

use std::collections::{HashMap, HashSet};

use pillion_protocol::Dialect;

use crate::sessions::SessionId;

/// More sessions at once are not told apart from agents that do not say anything.
const MAX_SESSIONS: usize = 256;

/// An agent calls no session by a longer name.
const MAX_NAME: usize = 256;

/// The sessions that hooks have told of.
#[derive(Debug, Default)]
pub(crate) struct Hooked {
    agents: HashMap<SessionId, Dialect>,
    /// Those whose turn goes on.
    working: HashSet<SessionId>,
}

impl Hooked {
    /// The session of this agent that it calls by this name, and whether it is new; none if there are too many.
    pub(crate) fn session(&mut self, agent: Dialect, name: &str) -> Option<(SessionId, bool)> {
        if name.len() > MAX_NAME {
            return None;
        }
        // No session of a connected agent has such an id.
        let id: SessionId = format!("hooks of {}: {name}", agent.name()).into();
        let is_new = !self.agents.contains_key(&id);
        if is_new && self.agents.len() >= MAX_SESSIONS {
            return None;
        }
        self.agents.insert(id.clone(), agent);
        Some((id, is_new))
    }

    /// The agent of a session; none if it is none of these.
    pub(crate) fn agent(&self, session: &SessionId) -> Option<Dialect> {
        self.agents.get(session).copied()
    }

    /// The sessions, with their agents.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = (&SessionId, Dialect)> {
        self.agents.iter().map(|(session, agent)| (session, *agent))
    }

    /// Returns true if there is none.
    #[cfg(unix)]
    pub(crate) fn is_empty(&self) -> bool {
        self.agents.is_empty()
    }

    /// The turn of this session goes on, or has ended. Returns true if that is news.
    pub(crate) fn works(&mut self, session: &SessionId, is_working: bool) -> bool {
        match is_working {
            true => self.working.insert(session.clone()),
            false => self.working.remove(session),
        }
    }

    /// The agents whose turn goes on, each kind once.
    pub(crate) fn working(&self) -> Vec<Dialect> {
        let agents = self.working.iter().filter_map(|it| self.agent(it));
        let mut agents: Vec<_> = agents.collect();
        agents.sort_unstable_by_key(|agent| agent.name());
        agents.dedup();
        agents
    }

    /// A session is over. Returns false if it was already.
    pub(crate) fn forget(&mut self, session: &SessionId) -> bool {
        self.working.remove(session);
        self.agents.remove(session).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_of_each_agent_is_a_session_until_it_ends() {
        let mut hooked = Hooked::default();
        let (first, is_new) = hooked.session(Dialect::CodexCli, "a").unwrap();
        assert!(is_new);
        assert_eq!(
            hooked.session(Dialect::CodexCli, "a"),
            Some((first.clone(), false))
        );
        let (other, is_new) = hooked.session(Dialect::GeminiCli, "a").unwrap();
        assert!(is_new && other != first);
        assert_eq!(hooked.agent(&other), Some(Dialect::GeminiCli));
        assert!(hooked.forget(&first) && !hooked.forget(&first));
        assert_eq!(hooked.agent(&first), None);
    }

    #[test]
    fn each_kind_whose_turn_goes_on_is_named_once() {
        let mut hooked = Hooked::default();
        let named = |hooked: &mut Hooked, agent, name| hooked.session(agent, name).unwrap().0;
        let first = named(&mut hooked, Dialect::CodexCli, "a");
        let second = named(&mut hooked, Dialect::CodexCli, "b");
        let other = named(&mut hooked, Dialect::GeminiCli, "a");
        assert!(hooked.works(&first, true) && !hooked.works(&first, true));
        assert!(hooked.works(&second, true) && hooked.works(&other, true));
        assert_eq!(hooked.working(), [Dialect::CodexCli, Dialect::GeminiCli]);
        assert!(hooked.works(&other, false) && !hooked.works(&other, false));
        assert!(hooked.forget(&first));
        assert_eq!(hooked.working(), [Dialect::CodexCli]);
        assert!(hooked.forget(&second));
        assert_eq!(hooked.working(), []);
    }

    #[test]
    fn one_that_invents_names_fills_no_memory() {
        let mut hooked = Hooked::default();
        assert_eq!(
            hooked.session(Dialect::CodexCli, &"x".repeat(MAX_NAME + 1)),
            None
        );
        let kept = (0..2 * MAX_SESSIONS).filter(|number| {
            hooked
                .session(Dialect::CodexCli, &number.to_string())
                .is_some()
        });
        assert_eq!(kept.count(), MAX_SESSIONS);
        assert!(
            hooked.session(Dialect::CodexCli, "0").is_some(),
            "it is known"
        );
    }
}
