//! Owns the proposal of an agent as it makes it: one file, and what it is to become.

use std::sync::Arc;

use pillion_changes::looking::Shown;
use pillion_protocol::held::HeldCall;
use pillion_protocol::{Dialect, Proposer};

use crate::line_endings::Tool;
use crate::outbox::Tab;
use crate::sessions::SessionId;
use crate::stand_in::StandIn;
use crate::subagents::Question;

/// A proposal as an agent makes it.
#[derive(Debug, Clone)]
pub(crate) struct Proposal {
    pub(crate) session: SessionId,
    pub(crate) proposer: Proposer,
    /// The proposer's number, which no other one gets.
    pub(crate) number: u64,
    /// As the agent spelt it: the outcome carries it unchanged (C5.8).
    pub(crate) file_path: String,
    /// Of an agent that names its proposals and waits for the outcome in the call.
    pub(crate) tab: Option<Tab>,
    /// Its place in its proposer's set, from 1, and the number of files there.
    pub(crate) set: Option<(u32, u32)>,
    pub(crate) deletes: bool,
    /// The session in which the agent whose hook makes it has asked about the same change before.
    pub(crate) asked_in: Option<SessionId>,
    /// A hook has told that a subagent makes it.
    pub(crate) is_hook_of_subagent: bool,
    /// The tool that writes it, whose call a hook of this agent's holds.
    pub(crate) held_tool: Option<(Dialect, String)>,
    /// The stand-in for the file's text, with which it is compared.
    pub(crate) stand_in: Option<Arc<StandIn>>,
    pub(crate) proposed: Arc<String>,
    /// The tool with which its agent makes it, if a hook has told that.
    pub(crate) tool: Option<Tool>,
    /// The fingerprint of a text that was accepted, is not written yet, and is contained in this one.
    pub(crate) over: Option<String>,
}

impl Proposal {
    /// The whole text that a file is to have.
    pub(crate) fn new(
        session: SessionId,
        proposer: Proposer,
        path: impl Into<String>,
        content: impl Into<String>,
    ) -> Self {
        Self {
            session,
            proposer,
            number: 1,
            file_path: path.into(),
            tab: None,
            set: None,
            deletes: false,
            asked_in: None,
            is_hook_of_subagent: false,
            held_tool: None,
            stand_in: None,
            proposed: Arc::new(content.into()),
            tool: None,
            over: None,
        }
    }

    /// Returns the side of its agent from which it comes; none if nothing comes from the other one: a command's, what a hook
    /// holds, and an agent's whose hooks know what it proposes.
    pub(crate) fn side(&self) -> Option<Side> {
        match self.proposer {
            Proposer::For(_) if self.held().is_none() => Some(Side::Hook),
            Proposer::Agent(agent) if self.tab.is_none() || agent.writes_own_text() => {
                Some(Side::Own)
            }
            _ => None,
        }
    }

    /// Returns the name by which it is known in its session.
    pub(crate) fn name(&self) -> &str {
        self.tab.as_ref().map_or(&self.file_path, |tab| &tab.name)
    }

    /// Returns the call that a hook holds, of which the text is.
    pub(crate) fn held(&self) -> Option<&HeldCall> {
        self.stand_in.as_deref()?.held()
    }

    /// The change, if it is written already.
    pub(crate) fn written(&self) -> Option<&Arc<Shown>> {
        match self.stand_in.as_deref()? {
            StandIn::Written(shown, _) => Some(shown),
            StandIn::Held(_) => None,
        }
    }

    /// Returns the question of the agent's that its outcome answers.
    pub(crate) fn question(&self) -> Option<&Question> {
        self.tab.as_ref()?.question.as_deref()
    }

    /// Returns true if the tool that writes it has no way to write this text in place of that one.
    pub(crate) fn cannot_write(&self, before: Option<&str>, text: &str) -> bool {
        let cannot =
            |(agent, tool): &(_, String)| !pillion_hooks::of(*agent).can_write(tool, before, text);
        self.held_tool.as_ref().is_some_and(cannot)
    }

    pub(crate) fn is_of_subagent(&self) -> bool {
        self.is_hook_of_subagent || self.question().is_some_and(Question::is_of_subagent)
    }
}

/// The side of an agent from which a change comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// It proposes the change itself.
    Own,
    /// Its hook does.
    Hook,
}
