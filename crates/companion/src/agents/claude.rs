//! Claude Code's protocol, which opencode speaks, too.

use std::sync::Arc;
use std::time::Duration;

use pillion_protocol::claude::hooks::{
    self, AFTER_TURN, AFTER_WRITE, BEFORE_TURN, BEFORE_WRITE, NO_DECISION, QUESTION,
};
use pillion_protocol::claude::notifications::{AT_MENTIONED, SELECTION_CHANGED};
use pillion_protocol::claude::tools::{
    self, CLOSE_ALL_DIFF_TABS, CLOSE_TAB, DIFF_REJECTED, FILE_SAVED, GET_DIAGNOSTICS, TAB_CLOSED,
};
use pillion_protocol::claude::{at_mentioned, selection_changed};
use pillion_protocol::diff::OPEN_DIFF;
use pillion_protocol::remarks::REJECTED;
use pillion_protocol::{Dialect, IdeContext, Outcome};
use serde_json::{Map, Value};

use super::contract::Contract;
use super::{AgentProtocol, ListedTool, Message, Params, Reply, ToolCall, ToolResult};
use crate::diffs::Answer;
use crate::line_endings::Tool;
use crate::outbox::{Delivery, Mention};
use crate::subagents;
use crate::target::Target;

/// The time limit for an editor's search for problems: the agent goes on with its edit after a second, and after
/// three times asks no more.
const DIAGNOSTICS_TIMEOUT: Duration = Duration::from_millis(500);

/// The longest that Claude Code may take from the end of its handshake until it listens to what the editor has
/// to tell; on a busy machine it misses what comes at once.
const SETTLE_TIME: Duration = Duration::from_secs(1);

/// In a call's `_meta`, if the model has asked for it.
const MODELS_CALL: &str = "claudecode/toolUseId";

/// The tools that hooks call.
const HOOKS: [&str; 5] = [BEFORE_WRITE, QUESTION, AFTER_WRITE, BEFORE_TURN, AFTER_TURN];

pub(super) struct Claude;

impl AgentProtocol for Claude {
    fn tools(&self, _shows_diffs: bool) -> Vec<ListedTool> {
        // It calls openDiff whatever is listed.
        tools::listed().into()
    }

    fn tool(&self, name: &str, is_models: bool) -> Option<&'static str> {
        let hooks: &[_] = if is_models { &[] } else { &HOOKS };
        let mut names = tools::NAMES.iter().chain(hooks).copied();
        names.find(|tool| *tool == name)
    }

    fn is_models(&self, meta: &Value) -> bool {
        meta.get(MODELS_CALL).is_some()
    }

    fn parse(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        is_models: bool,
    ) -> Result<ToolCall, String> {
        Ok(match tool {
            OPEN_DIFF => ToolCall::Open(tools::opened(arguments)?),
            CLOSE_TAB => ToolCall::Close(tools::closed_tab(arguments)?),
            CLOSE_ALL_DIFF_TABS => ToolCall::CloseAll,
            GET_DIAGNOSTICS => ToolCall::Diagnostics(tools::diagnosed_uri(arguments), !is_models),
            BEFORE_WRITE => ToolCall::BeforeWrite(hooks::Call::from_arguments(arguments)),
            QUESTION => ToolCall::Question(hooks::Call::from_arguments(arguments)),
            AFTER_WRITE => ToolCall::AfterWrite(hooks::Call::from_arguments(arguments)),
            BEFORE_TURN => ToolCall::BeforeTurn(hooks::Call::from_arguments(arguments)),
            AFTER_TURN => ToolCall::AfterTurn(hooks::Call::from_arguments(arguments)),
            other => return Err(super::unknown(other)),
        })
    }

    fn adapt(&self, target: Target, proposed: &str, tool: Option<Tool>) -> Target {
        target.adapted(proposed, tool)
    }

    fn patience(&self, tool: &str) -> Option<Duration> {
        (tool == GET_DIAGNOSTICS).then_some(DIAGNOSTICS_TIMEOUT)
    }

    fn answer(&self, tool: &str, result: Option<ToolResult>) -> Option<Reply> {
        if tool == GET_DIAGNOSTICS || HOOKS.contains(&tool) {
            let text = match result {
                Some(Ok(Answer::Text(text))) => text,
                // The hook waits for the person.
                Some(Ok(Answer::Opened)) => return Some(Reply::Decision),
                _ if tool == GET_DIAGNOSTICS => "[]".to_owned(),
                // The agent asks in its terminal then, whatever its mode.
                _ if tool == BEFORE_WRITE => hooks::ask().to_string(),
                _ => NO_DECISION.to_owned(),
            };
            return Some(Reply::Blocks(vec![text]));
        }
        Some(match result? {
            Ok(Answer::Opened) => Reply::Decision,
            Ok(Answer::ClosedAll(views)) => {
                Reply::Blocks(vec![format!("CLOSED_{views}_DIFF_TABS")])
            }
            // Whether it was open or not: the agent closes some twice, and some late.
            _ if tool == CLOSE_TAB => Reply::Blocks(vec![TAB_CLOSED.to_owned()]),
            result => Reply::Tool(result),
        })
    }

    fn outcome(&self, mut delivery: Delivery) -> Message {
        let Some(tab) = delivery.tab.take() else {
            return Contract.outcome(delivery);
        };
        if let Some(held) = delivery.held() {
            let words = delivery.words.as_deref();
            let answer = match &delivery.outcome {
                Outcome::Accepted { content, .. } => hooks::allow(held.input_with(content), words),
                Outcome::Rejected => hooks::refuse(words.unwrap_or(REJECTED)),
            };
            return Message::Answer(tab.request, vec![answer.to_string()]);
        }
        if let Some(question) = &tab.question {
            let answer = match question.answer(Dialect::ClaudeCode, &delivery.outcome) {
                subagents::Answer::AsProposed => hooks::approve(None),
                subagents::Answer::Edited(answer) => answer,
                subagents::Answer::NothingLeft(why) => hooks::deny(&why),
                subagents::Answer::Rejected => {
                    hooks::deny(delivery.words.as_deref().unwrap_or(REJECTED))
                }
            };
            return Message::Answer(tab.request, vec![answer.to_string()]);
        }
        let blocks = match delivery.outcome {
            Outcome::Accepted { content, .. } => {
                vec![FILE_SAVED.to_owned(), Arc::unwrap_or_clone(content)]
            }
            Outcome::Rejected => vec![DIFF_REJECTED.to_owned()],
        };
        Message::Answer(tab.request, blocks)
    }

    fn context(&self, context: Arc<IdeContext>, agent: Dialect) -> Message {
        let params = selection_changed(context.active_file(), agent);
        Message::Notification(SELECTION_CHANGED, Params::Value(params))
    }

    fn mention(&self, mention: &Mention, agent: Dialect) -> Option<Message> {
        let params = at_mentioned(&mention.path, mention.lines, agent);
        Some(Message::Notification(AT_MENTIONED, Params::Value(params)))
    }

    fn settle_time(&self) -> Option<Duration> {
        Some(SETTLE_TIME)
    }
}
