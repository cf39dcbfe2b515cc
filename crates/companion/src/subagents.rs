//! An agent's question whether it may change a file, where that is all that is heard of the change. Claude Code's subagents propose
//! nothing as long as a hook of ours waits at their question, and Claude Code itself proposes nothing in a turn that began before it
//! was connected. So the question is shown as their proposal, and its answer is the decision: with the reason, so that the agent goes
//! on. A question that is not understood here is left to the agent.

use std::path::Path;

use pillion_hooks::{Call, Change, Changes, Decided, Files, Ruling};
use pillion_protocol::{Dialect, Outcome};
use pillion_view::Original;
use serde_json::Value;

/// A question about a change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    call: Call,
    change: Change,
}

/// The changes that this call of an agent would make. Waits for the disk.
pub(crate) fn changes(agent: Dialect, call: &Call) -> Changes {
    pillion_hooks::of(agent).changes(call, &mut Disk)
}

impl Question {
    /// Reads the file that an agent asks about with this call of its hook. Waits for the disk. None if the question is not
    /// understood, or the file cannot be read as text.
    pub(crate) fn read(agent: Dialect, call: Call) -> Option<Self> {
        let Changes::Files(changes) = changes(agent, &call) else {
            return None;
        };
        let [change] = <[Change; 1]>::try_from(changes).ok()?;
        let is_shown = change.after.text().is_some() && !change.is_nothing();
        is_shown.then_some(Self { call, change })
    }

    pub(crate) fn is_of_subagent(&self) -> bool {
        self.call.subagent.is_some()
    }

    /// Returns true if it is about this call of a tool. Claude Code does not name the call in its question.
    pub(crate) fn is_of_call(&self, subagent: Option<&str>, tool: &str, input: &Value) -> bool {
        let is_same = |(name, value)| input.get(name) == Some(value);
        let asked = self.call.input.as_object();
        self.call.tool == tool
            && self.call.subagent.as_deref() == subagent
            && asked.is_some_and(|asked| asked.iter().all(is_same))
    }

    /// The file, as the agent names it.
    pub(crate) fn path(&self) -> &str {
        &self.change.path
    }

    /// The arguments of the tool.
    pub(crate) fn input(&self) -> &Value {
        &self.call.input
    }

    /// The text that the agent would propose: it edits a text with LF only.
    pub(crate) fn proposed(&self) -> String {
        let after = self.change.after.text().unwrap_or_default();
        match self.call.input.get("content") {
            Some(_) => after.to_owned(),
            None => after.replace("\r\n", "\n"),
        }
    }

    pub(crate) fn answer(&self, agent: Dialect, outcome: &Outcome) -> Answer {
        let Outcome::Accepted { content, .. } = outcome else {
            return Answer::Rejected;
        };
        if **content == self.proposed() {
            return Answer::AsProposed;
        }
        let decided = Decided {
            accepted: Some(content.to_string()),
            before: self.change.before.clone(),
            notes: Vec::new(),
        };
        let ruling = Ruling::of(vec![self.change.clone()], vec![decided]);
        if let Ruling::Denied(why) = ruling {
            return Answer::NothingLeft(why);
        }
        let answer = pillion_hooks::of(agent).answer(&self.call, &ruling);
        answer.output.map_or(Answer::Rejected, Answer::Edited)
    }
}

#[derive(Debug)]
pub(crate) enum Answer {
    /// The agent makes its own change.
    AsProposed,
    /// This answer of the hook has it write what the person has accepted.
    Edited(Value),
    /// The person has taken everything out of the change: what the model reads.
    NothingLeft(String),
    /// Nothing is written.
    Rejected,
}

struct Disk;

impl Files for Disk {
    fn read(&mut self, path: &Path) -> Result<Option<Vec<u8>>, String> {
        let read = Original::read(path).map_err(|error| error.to_string())?;
        Ok(read.text)
    }
}
