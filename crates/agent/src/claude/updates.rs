//! Notifications of a companion: what is selected, and what the person mentions.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use pillion_protocol::claude::notifications::{AT_MENTIONED, SELECTION_CHANGED};
use pillion_protocol::context::Range;
use pillion_system::lock;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::Notify;

use crate::address::MAX_MESSAGE;

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

#[cfg(test)]
mod tests {
    use pillion_protocol::context::File;
    use pillion_protocol::{Dialect, claude};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn mention(path: &str) -> Update {
        update(AT_MENTIONED, json!({"filePath": path})).unwrap()
    }

    #[test]
    fn what_pillion_sends_is_read() {
        let mut file = File::focused("/a", 5);
        file.selected_text = Some("two".into());
        let params = claude::selection_changed(Some(&file), Dialect::ClaudeCode);
        let Some(Update::Selection(selection)) = update(SELECTION_CHANGED, params) else {
            panic!("it is a selection")
        };
        assert_eq!(selection.path.as_deref(), Some("/a"));
        assert_eq!(selection.text, "two");
        let none = claude::selection_changed(None, Dialect::ClaudeCode);
        let none = update(SELECTION_CHANGED, none);
        assert_eq!(none, Some(Update::Selection(Selection::default())));
        let params = claude::at_mentioned("/a", Some((1, 2)), Dialect::ClaudeCode);
        let Some(Update::Mention(mention)) = update(AT_MENTIONED, params) else {
            panic!("it is a mention")
        };
        assert_eq!(
            (mention.path.as_str(), mention.lines()),
            ("/a", Some((1, 2)))
        );
    }

    #[test]
    fn what_the_agent_ignores_is_ignored() {
        let at = json!({"line": 0, "character": 0});
        let range = json!({"start": at, "end": at});
        for (method, params) in [
            (SELECTION_CHANGED, json!({"text": "", "selection": null})),
            (SELECTION_CHANGED, json!({"text": 5, "selection": range})),
            (
                AT_MENTIONED,
                json!({"filePath": "/a", "lineStart": null, "lineEnd": null}),
            ),
            (AT_MENTIONED, json!({"filePath": 5})),
            (AT_MENTIONED, json!(null)),
            ("log_event", json!({"filePath": "/a"})),
        ] {
            assert_eq!(update(method, params.clone()), None, "{params}");
        }
        let start_alone = update(AT_MENTIONED, json!({"filePath": "/a", "lineStart": 3}));
        let Some(Update::Mention(mention)) = start_alone else {
            panic!("it is a mention")
        };
        assert_eq!(mention.lines(), None);
    }

    #[tokio::test]
    async fn the_oldest_give_way_when_nobody_reads() {
        let (inbox, mut updates) = Updates::new();
        for number in 0..=MAX_WAITING {
            inbox.put(mention(&number.to_string()));
        }
        assert_eq!(updates.next().await, Some(mention("1")));
        let half = "x".repeat(MAX_WAITING_BYTES / 2 + 1);
        inbox.put(mention(&half));
        inbox.put(mention("small"));
        inbox.put(mention(&half));
        drop(inbox);
        assert_eq!(updates.next().await, Some(mention("small")));
        assert!(updates.next().await.is_some());
        assert_eq!(
            updates.next().await,
            None,
            "the texts are too long together"
        );
    }

    proptest! {
        #[test]
        fn no_params_break_it(text in r#"[\[\]{}":,a-z0-9.\-]{0,60}"#) {
            let value: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
            for method in [SELECTION_CHANGED, AT_MENTIONED] {
                update(method, value.clone());
                update(method, json!({"filePath": value, "selection": value, "lineStart": value}));
            }
        }
    }
}
