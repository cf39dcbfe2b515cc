//! Proposals of a session: a call each, which is answered when the person has decided.

use std::path::MAIN_SEPARATOR;
use std::time::{Duration, Instant};

use pillion_http::Method;
use pillion_protocol::copilot::tools::{CLOSE_DIFF, OPEN_DIFF};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::timeout_at;

use crate::agent::Agent;
use crate::message::request;
use crate::probe::NoAnswer;
use crate::reply::ToolReply;
use crate::session::Session;

/// The time limit for the decision about a proposal: no check takes as long.
const DECISION_LIMIT: Duration = Duration::from_secs(600);

/// A proposal that waits for its decision. Dropping it cuts the connection of its call.
pub(super) struct Proposal {
    pub(super) tab: String,
    pub(super) path: String,
    call: JoinSet<Result<Value, NoAnswer>>,
    answer: Option<Result<ToolReply, NoAnswer>>,
}

/// The arguments of a proposal.
pub(super) fn arguments(path: &str, text: &str, tab: &str) -> Value {
    json!({"original_file_path": path, "new_file_contents": text, "tab_name": tab})
}

impl Session<'_> {
    /// A name for the tab of a file, as the agent gives it.
    pub(super) fn tab_name(&self, path: &str) -> String {
        let name = path.rsplit(MAIN_SEPARATOR).next().unwrap_or(path);
        // No two are alike.
        let number = self.test.names.number();
        format!("[Copilot CLI] - {name} ({number:06x})")
    }

    /// Proposes a text, and does not wait for the answer.
    pub(super) fn propose(&mut self, path: &str, text: &str) -> Proposal {
        let tab = self.tab_name(path);
        self.propose_as(tab, path, text)
    }

    /// The same under this name.
    pub(super) fn propose_as(&mut self, tab: String, path: &str, text: &str) -> Proposal {
        self.opens(
            &tab,
            json!({"name": CLOSE_DIFF, "arguments": {"tab_name": tab}}),
        );
        let id = self.new_id();
        let params = json!({"name": OPEN_DIFF, "arguments": arguments(path, text, &tab)});
        let body = request(id.clone(), "tools/call", params);
        let probe = self.probe(Method::POST).body(body);
        let mut call = JoinSet::new();
        call.spawn(async move {
            let answer = probe.send(DECISION_LIMIT).await?;
            answer.reply(&id, DECISION_LIMIT).await
        });
        Proposal {
            tab,
            path: path.to_owned(),
            call,
            answer: None,
        }
    }

    pub(super) async fn close_tab(&mut self, tab: &str) -> Result<ToolReply, NoAnswer> {
        let reply = self.call(CLOSE_DIFF, json!({"tab_name": tab})).await?;
        self.closed(tab);
        Ok(reply)
    }
}

impl Proposal {
    /// The answer to its call, if it is in time.
    pub(super) async fn answer(&mut self, limit: Duration) -> Option<Result<ToolReply, NoAnswer>> {
        if self.answer.is_none() {
            let until = Instant::now() + limit;
            let joined = timeout_at(until.into(), self.call.join_next())
                .await
                .ok()??;
            let reply = joined.unwrap_or_else(|error| NoAnswer::because(error.to_string()));
            self.answer = Some(reply.map(ToolReply));
        }
        self.answer.clone()
    }
}
