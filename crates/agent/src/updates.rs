//! What a companion pushes: context and outcomes.

use http_body_util::BodyExt;
use hyper::body::Incoming;
use pillion_protocol::IdeContext;
use pillion_protocol::context::CONTEXT_UPDATE;
use serde_json::Value;

use crate::sse::Parser;

/// One pushed notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Update {
    /// What the editor shows changed (C4).
    Context(IdeContext),
    /// The reviewer accepted a diff (C5.6).
    DiffAccepted {
        /// The file, as it was given to [`Client::open_diff`](crate::Client::open_diff).
        path: String,
        /// The complete final text.
        content: String,
    },
    /// The reviewer rejected a diff (C5.7).
    DiffRejected {
        /// The file, as it was given to [`Client::open_diff`](crate::Client::open_diff).
        path: String,
    },
}

/// The event stream of a session.
#[derive(Debug)]
pub struct Updates {
    body: Incoming,
    parser: Parser,
    ready: std::collections::VecDeque<Update>,
}

impl Updates {
    pub(crate) fn new(body: Incoming) -> Self {
        Self {
            body,
            parser: Parser::default(),
            ready: Default::default(),
        }
    }

    /// The next update; `None` when the companion ended the stream. Cancel-safe. Notifications
    /// that the contract does not know are skipped.
    pub async fn next(&mut self) -> Option<Update> {
        loop {
            if let Some(update) = self.ready.pop_front() {
                return Some(update);
            }
            let frame = self.body.frame().await?.ok()?;
            if let Some(bytes) = frame.data_ref() {
                let events = self.parser.push(bytes);
                self.ready
                    .extend(events.iter().filter_map(|event| parse(event)));
            }
        }
    }
}

fn parse(event: &str) -> Option<Update> {
    let mut message: Value = serde_json::from_str(event).ok()?;
    let mut params = message.get_mut("params")?.take();
    let method = message.get("method")?.as_str()?;
    if method == CONTEXT_UPDATE {
        return serde_json::from_value(params).ok().map(Update::Context);
    }
    let mut take = |field| match params.get_mut(field)?.take() {
        Value::String(text) => Some(text),
        _ => None,
    };
    let path = take("filePath")?;
    match method {
        "ide/diffAccepted" => Some(Update::DiffAccepted {
            path,
            content: take("content")?,
        }),
        "ide/diffRejected" => Some(Update::DiffRejected { path }),
        _ => None,
    }
}
