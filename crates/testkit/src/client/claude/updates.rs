//! Notifications of a companion: what is selected, and what the person mentions.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use pillion_protocol::claude::notifications::{AT_MENTIONED, SELECTION_CHANGED};
use pillion_protocol::context::Range;
use pillion_system::lock;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::Notify;

use crate::client::link::MAX_MESSAGE;

/// The number of updates that may wait to be read, and the length of their texts together. The oldest give
/// way to newer ones.
const MAX_WAITING: usize = 256;
const MAX_WAITING_BYTES: usize = MAX_MESSAGE;

/// One notification of the companion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Update {
    /// The person looks at another file, or has selected something else.
    Selection(Selection),
    /// The person mentions a file or lines of it.
    Mention(Mention),
}

/// The file that the person looks at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Selection {
    /// The file, by its path; none means that no file is open any more.
    #[serde(rename = "filePath")]
    pub path: Option<String>,
    /// The text that is selected; empty if none is.
    #[serde(default, deserialize_with = "text_or_null")]
    pub text: String,
    /// The place of the selection or the cursor.
    #[serde(rename = "selection")]
    pub range: Range,
}

/// The file or the lines that the person mentions.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Mention {
    /// The file or folder.
    #[serde(rename = "filePath")]
    pub path: String,
    line_start: Option<u32>,
    line_end: Option<u32>,
}

impl Mention {
    /// The first line and the last, from 0; none if the whole file is meant.
    pub fn lines(&self) -> Option<(u32, u32)> {
        self.line_start.zip(self.line_end)
    }
}

/// Notifications, in order. A reader that falls behind misses the oldest, and delays nothing.
#[derive(Debug)]
pub struct Updates(Arc<Shared>);

/// The other end of [`Updates`], which end when it is dropped.
#[derive(Debug)]
pub(super) struct Inbox(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    updates: VecDeque<Update>,
    is_ended: bool,
}

impl Updates {
    pub(super) fn new() -> (Inbox, Self) {
        let shared = Arc::new(Shared::default());
        (Inbox(Arc::clone(&shared)), Self(shared))
    }

    /// The next update; none when the connection has ended. Cancel-safe.
    pub async fn next(&mut self) -> Option<Update> {
        loop {
            let changed = self.0.changed.notified();
            {
                let mut waiting = lock(&self.0.waiting);
                if let Some(update) = waiting.updates.pop_front() {
                    return Some(update);
                }
                if waiting.is_ended {
                    return None;
                }
            }
            changed.await;
        }
    }
}

impl Inbox {
    pub(super) fn put(&self, update: Update) {
        lock(&self.0.waiting).put(update);
        self.0.changed.notify_one();
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        lock(&self.0.waiting).is_ended = true;
        self.0.changed.notify_one();
    }
}

impl Waiting {
    fn put(&mut self, update: Update) {
        self.updates.push_back(update);
        while self.updates.len() > MAX_WAITING || self.bytes() > MAX_WAITING_BYTES {
            self.updates.pop_front();
        }
    }

    fn bytes(&self) -> usize {
        self.updates.iter().map(Update::size).sum()
    }
}

impl Update {
    /// The length of its texts, in bytes.
    fn size(&self) -> usize {
        match self {
            Self::Selection(it) => it.text.len() + it.path.as_ref().map_or(0, String::len),
            Self::Mention(it) => it.path.len(),
        }
    }
}

/// The update that a notification is. As the agent does, this ignores one whose fields have other types.
pub(super) fn update(method: &str, params: Value) -> Option<Update> {
    match method {
        SELECTION_CHANGED => serde_json::from_value(params).ok().map(Update::Selection),
        AT_MENTIONED if !has_null_line(&params) => {
            serde_json::from_value(params).ok().map(Update::Mention)
        }
        _ => None,
    }
}

/// The agent ignores a mention whose lines are there but `null`.
fn has_null_line(params: &Value) -> bool {
    let is_null = |name| params.get(name).is_some_and(Value::is_null);
    is_null("lineStart") || is_null("lineEnd")
}

fn text_or_null<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
