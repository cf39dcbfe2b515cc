//! The loop's work for agents that are connected and whose hooks tell nothing: their changes are found by looking.

use std::time::Instant;

use pillion_changes::recorder::Glance;
use pillion_protocol::Dialect;

use super::MainLoop;
use crate::agent::{Look, Signal};
use crate::sessions::SessionId;

impl MainLoop {
    /// A hook that is a command tells what this agent does: it, or one of these processes, is recorded by that. `begins` if it
    /// tells that a turn begins.
    pub(super) fn note_command_hook(
        &mut self,
        agent: Dialect,
        processes: &[u32],
        begins: bool,
        now: Instant,
    ) {
        // Hooks are in the person's settings, so that all of a kind run them whose process is not known.
        let is_its = |session: &SessionId| match self.sessions.process(session) {
            Some(process) => processes.contains(&process),
            None => true,
        };
        let mut sessions = self.agents.looked_for_of(agent);
        sessions.retain(is_its);
        for session in sessions {
            self.signal(&session, Signal::IsHooked(begins), now);
        }
    }

    /// The folders were looked at.
    pub(super) fn glanced(&mut self, glance: &Glance, now: Instant) {
        let numbers = glance.sessions.iter();
        let sessions = numbers.filter_map(|number| self.recording.session(*number));
        let sessions: Vec<_> = sessions.collect();
        self.agents.looked(glance, &sessions, now);
    }

    pub(super) fn elapse_unhooked(&mut self, now: Instant) {
        let accepted = || self.accepted_texts.all();
        match self.agents.next_look(now) {
            Some(Look::Now) => self.recording.glance(accepted()),
            Some(Look::AtEnd(session)) => {
                let accepted = accepted();
                self.recording.attended_is_quiet(&session, accepted);
            }
            None => {}
        }
    }
}
