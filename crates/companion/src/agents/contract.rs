//! The companion contract: Gemini CLI and Qwen Code.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pillion_discovery::regular_file;
use pillion_protocol::context::CONTEXT_UPDATE;
use pillion_protocol::diff::{self, CLOSE_DIFF, OPEN_DIFF, ProposedFile};
use pillion_protocol::record::{self, PROCESSES, PROJECTS, Recorded};
use pillion_protocol::{Dialect, IdeContext};
use serde_json::{Map, Value};

use super::{AgentProtocol, ListedTool, Message, Params, Reply, ToolCall, ToolResult};
use crate::line_endings::Tool;
use crate::outbox::Delivery;
use crate::target::Target;

/// A file about a process is no longer.
const MAX_PROCESS: u64 = 1 << 16;

pub(super) struct Contract;

impl AgentProtocol for Contract {
    fn tools(&self, shows_diffs: bool) -> Vec<ListedTool> {
        // Gemini CLI fails to write what its user allows after openDiff has ended with an error.
        if shows_diffs {
            diff::listed().into()
        } else {
            Vec::new()
        }
    }

    fn tool(&self, name: &str, _is_models: bool) -> Option<&'static str> {
        diff::NAMES.into_iter().find(|tool| *tool == name)
    }

    fn parse(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        _is_models: bool,
    ) -> Result<ToolCall, String> {
        match tool {
            OPEN_DIFF => Ok(ToolCall::Open(ProposedFile::from_arguments(arguments)?)),
            CLOSE_DIFF => diff::closed_file(arguments).map(ToolCall::Close),
            other => Err(super::unknown(other)),
        }
    }

    fn adapt(&self, target: Target, proposed: &str, _tool: Option<Tool>) -> Target {
        target.with_crlf(proposed)
    }

    fn answer(&self, _tool: &str, result: Option<ToolResult>) -> Option<Reply> {
        result.map(Reply::Tool)
    }

    fn outcome(&self, delivery: Delivery) -> Message {
        let Delivery {
            file_path, outcome, ..
        } = delivery;
        let method = outcome.method();
        let params = outcome.into_params(file_path);
        Message::Notification(method, Params::Value(params))
    }

    fn context(&self, context: Arc<IdeContext>, _agent: Dialect) -> Message {
        Message::Notification(CONTEXT_UPDATE, Params::Context(context))
    }

    fn closing_returns_text(&self) -> bool {
        true
    }

    fn record(&self, folder: &Path, process: u32) -> Option<PathBuf> {
        let process = folder.join(PROCESSES).join(format!("{process}.json"));
        let name = record::of_process(&regular_file::read(&process, MAX_PROCESS).ok()?)?;
        let projects = fs::read_dir(folder.join(PROJECTS)).ok()?.flatten();
        let mut records = projects.map(|project| project.path().join(&name));
        records.find(|record| record.exists())
    }

    fn recorded(&self, line: &str) -> Option<Recorded> {
        record::recorded(line)
    }
}
