//! The loop's work for agents that are connected and whose hooks tell nothing: their changes are found by looking.

use std::time::Instant;

use pillion_changes::recorder::Glance;
use pillion_protocol::Dialect;
use pillion_protocol::remarks::FileRemark;
use pillion_view::changes::Hearing;

use super::MainLoop;
use crate::agent::Look;
use crate::remark::Remark;
use crate::sessions::SessionId;

impl MainLoop {
    /// An agent listens.
    pub(super) fn attend(&mut self, session: &SessionId) {
        let is_on = self.recording.is_on();
        let Some(kind) = self.agent(session).map(|it| it.kind).filter(|_| is_on) else {
            return;
        };
        if self.agents.is_new_to_looks(session) {
            self.recording.attend(session, kind.name());
        }
    }

    /// A hook that is a command tells what this agent does: it, or one of these processes, is recorded by that. `begins` if it
    /// tells that a turn begins.
    pub(super) fn note_command_hook(&mut self, agent: Dialect, processes: &[u32], begins: bool) {
        // Hooks are in the person's settings, so that all of a kind run them whose process is not known.
        let is_its = |session: &SessionId| match self.sessions.process(session) {
            Some(process) => processes.contains(&process),
            None => true,
        };
        let mut sessions = self.agents.looked_for_of(agent);
        sessions.retain(is_its);
        for session in sessions {
            match (self.agents.note_hooks(&session), begins) {
                (true, true) => self.recording.attended_had_no_turn(&session),
                (true, false) => self.recording.left(&session),
                (false, _) => {}
            }
        }
    }

    /// A hook of this session tells something in the middle of a turn.
    pub(super) fn note_session_hook(&mut self, session: &SessionId) {
        if self.agents.note_hooks(session) {
            self.recording.left(session);
        }
    }

    pub(super) fn unhooked_is_heard(&mut self, session: &SessionId, now: Instant) {
        if self.agents.looked_for_is_heard(session, now) {
            self.recording.attended_is_heard(session);
        }
    }

    pub(super) fn unhooked_begins(&mut self, session: &SessionId) {
        if self.agents.looked_for_begins(session) {
            let accepted = self.accepted_texts.all();
            self.recording.attended_begins(session, accepted);
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

    /// The person's judgement of written changes goes with the next prompt, as far as there is room for it.
    pub(super) fn tell_unhooked(
        &mut self,
        session: &SessionId,
        agent: Dialect,
        told: &[FileRemark],
    ) -> Hearing {
        if told.is_empty() {
            return Hearing::Nothing;
        }
        let (mut remark, mut is_cut) = Remark::written_in_short(agent, told);
        // It has to stand beside a file that is there.
        let current = self.context.current();
        if let Some(file) = current.active_file().filter(|_| !remark.is_taken(false)) {
            remark = remark.beside(&file.path);
        }
        if !remark.is_taken(false) {
            return Hearing::Nothing;
        }
        is_cut |= remark.is_cut();
        self.remark(session, remark, false);
        match is_cut {
            true => Hearing::Beginning,
            false => Hearing::Shown,
        }
    }
}
