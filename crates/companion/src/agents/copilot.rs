//! GitHub Copilot CLI's protocol.
//!
//! Its proposals are answered with a yes or a no: it writes the text that it computed before, whatever the file has become
//! since, and takes neither another text nor a reason.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pillion_protocol::copilot::notifications::{ADD_FILE_REFERENCE, SELECTION_CHANGED};
use pillion_protocol::copilot::tools::{
    self, CLOSE_DIFF, GET_DIAGNOSTICS, GET_SELECTION, OPEN_DIFF, UPDATE_SESSION_NAME,
};
use pillion_protocol::copilot::{add_file_reference, record, selection_changed};
use pillion_protocol::record::Recorded;
use pillion_protocol::{Dialect, IdeContext, Outcome};
use pillion_view::decision::takes_no_edits;
use serde_json::{Map, Value};

use super::contract::Contract;
use super::{AgentProtocol, ListedTool, Message, Params, Reply, ToolCall, ToolResult};
use crate::diffs::Answer;
use crate::line_endings::Tool;
use crate::outbox::{Delivery, Mention};
use crate::target::Target;

/// The time limit for an editor's search for problems: the model waits.
const DIAGNOSTICS_TIMEOUT: Duration = Duration::from_millis(500);

pub(super) struct Copilot;

impl AgentProtocol for Copilot {
    fn tools(&self, _shows_diffs: bool) -> Vec<ListedTool> {
        // It lists them once, and asks in its terminal if a proposal cannot be shown.
        tools::listed().into()
    }

    fn tool(&self, name: &str, _is_models: bool) -> Option<&'static str> {
        tools::NAMES.into_iter().find(|tool| *tool == name)
    }

    fn parse(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        _is_models: bool,
    ) -> Result<ToolCall, String> {
        Ok(match tool {
            OPEN_DIFF => ToolCall::Open(tools::opened(arguments)?),
            CLOSE_DIFF => ToolCall::Close(tools::closed_tab(arguments)?),
            GET_DIAGNOSTICS => ToolCall::Diagnostics(tools::diagnosed_uri(arguments), false),
            GET_SELECTION => ToolCall::Selection,
            UPDATE_SESSION_NAME => ToolCall::Told,
            other => return Err(super::unknown(other)),
        })
    }

    fn adapt(&self, mut target: Target, _proposed: &str, _tool: Option<Tool>) -> Target {
        let note = takes_no_edits(Dialect::CopilotCli);
        target.notes.extend(note.map(|note| format!("{note}.")));
        target
    }

    fn patience(&self, tool: &str) -> Option<Duration> {
        (tool == GET_DIAGNOSTICS).then_some(DIAGNOSTICS_TIMEOUT)
    }

    fn answer(&self, tool: &str, result: Option<ToolResult>) -> Option<Reply> {
        let blocks = |text: String| Some(Reply::Blocks(vec![text]));
        match (tool, result) {
            (OPEN_DIFF, Some(Ok(Answer::Opened))) => Some(Reply::Outcome),
            (CLOSE_DIFF, Some(closed)) => blocks(tools::closed(closed.is_ok())),
            (GET_DIAGNOSTICS, None) => blocks("[]".to_owned()),
            (UPDATE_SESSION_NAME, Some(Ok(_))) => blocks(tools::heard()),
            (_, Some(Ok(Answer::Text(text)))) => blocks(text),
            (_, result) => result.map(Reply::Tool),
        }
    }

    fn outcome(&self, mut delivery: Delivery) -> Message {
        let Some(tab) = delivery.tab.take() else {
            return Contract.outcome(delivery);
        };
        let is_accepted = matches!(delivery.outcome, Outcome::Accepted { .. });
        let answer = tools::decided(is_accepted, &tab.name);
        Message::Answer(tab.request, vec![answer])
    }

    fn context(&self, context: Arc<IdeContext>, _agent: Dialect) -> Message {
        let params = selection_changed(context.active_file());
        Message::Notification(SELECTION_CHANGED, Params::Value(params))
    }

    fn mention(&self, mention: &Mention, _agent: Dialect) -> Option<Message> {
        let params = add_file_reference(&mention.path, mention.lines);
        Some(Message::Notification(
            ADD_FILE_REFERENCE,
            Params::Value(params),
        ))
    }

    fn waits_for_outcomes(&self) -> bool {
        true
    }

    fn record(&self, folder: &Path, process: u32) -> Option<PathBuf> {
        let sessions = fs::read_dir(folder.join(record::SESSIONS)).ok()?;
        let mut sessions = sessions.flatten().map(|session| session.path());
        let open = sessions.find(|session| session.join(record::open_in(process)).exists())?;
        Some(open.join(record::NAME))
    }

    fn recorded(&self, line: &str) -> Option<Recorded> {
        record::recorded(line)
    }

    fn tries_newer_revision(&self) -> bool {
        true
    }
}
