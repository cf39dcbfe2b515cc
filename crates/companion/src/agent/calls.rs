//! Owns which calls of an agent run, as its hooks tell: what it was allowed to write may come until its call has ended, and what a
//! command of it says in place of the hooks is not believed.

use std::path::{Path, PathBuf};

use pillion_view::ask::{ToolCall, WorkStep};

use crate::line_endings::Tool;

/// No agent runs more of them at once, and none has its hooks called in more ways.
const MAX: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct Calls {
    running: Vec<ToolCall>,
    /// The ways in which the agent has had its hooks called while nothing ran: by a script of the person's, by `timeout`. Command
    /// lines, from the hook on up.
    ways: Vec<Vec<String>>,
}

impl Calls {
    /// A hook that was called in this way, if it is known, is believed.
    pub(super) fn believes(&mut self, way: Option<&[&str]>) -> bool {
        let is_known =
            way.is_some_and(|it| it.is_empty() || self.ways.iter().any(|known| known == it));
        let is_believed = is_known || !self.has_command();
        if let Some(way) = way.filter(|_| is_believed && !is_known && self.ways.len() < MAX) {
            self.ways
                .push(way.iter().map(|it| (*it).to_owned()).collect());
        }
        is_believed
    }

    /// A hook has told this, and is believed.
    pub(crate) fn note(&mut self, step: &WorkStep, is_subagent: bool) {
        match step {
            WorkStep::CallBegins(call) if self.running.len() < MAX => {
                self.running.push(call.clone());
            }
            WorkStep::CallEnds(id) | WorkStep::CallFails(id) => {
                self.running.retain(|call| call.id != *id);
            }
            // A call that the person stops has no end.
            WorkStep::TurnBegins(_) | WorkStep::TurnEnds if !is_subagent => self.running.clear(),
            _ => {}
        }
    }

    fn has_command(&self) -> bool {
        self.running.iter().any(|call| call.path.is_none())
    }

    /// The person has rejected what was to become of this file.
    pub(super) fn rejected(&mut self, file: &Path) {
        self.running
            .retain(|call| call.path.as_deref() != Some(file));
    }

    /// The tool of those that run on this file, if it is one.
    pub(crate) fn tool_on(&self, file: &Path) -> Option<Tool> {
        let on_it = self
            .running
            .iter()
            .filter(|it| it.path.as_deref() == Some(file));
        let mut tools = on_it.map(|call| Tool::named(&call.tool));
        let tool = tools.next()?;
        tool.filter(|_| tools.all(|it| it == tool))
    }

    /// The one that runs on this file, if it is the only one.
    pub(crate) fn only_on(&self, file: &Path) -> Option<String> {
        let mut on_it = { self.running.iter() }.filter(|it| it.path.as_deref() == Some(file));
        let call = on_it.next()?;
        on_it.next().is_none().then(|| call.id.clone())
    }

    /// Returns true if one runs that may write this file.
    pub(super) fn may_write(&self, file: &Path) -> bool {
        let may = |path: &Option<PathBuf>| path.as_ref().is_none_or(|path| path == file);
        self.running.iter().any(|call| may(&call.path))
    }
}
