//! A lock file as Claude Code reads it: JSON, or else a text with a folder on each line.

use std::io::ErrorKind;
use std::path::PathBuf;

use pillion_protocol::Token;
use pillion_protocol::discovery::Namespaces;
use serde::Deserialize;
use serde_json::Value;

use crate::find::content::{is_truthy, leading_number, text_of};
use crate::find::read;

/// A file with the name of a lock file.
pub(super) struct Lock {
    pub(super) path: PathBuf,
    /// The number at the beginning of its name.
    pub(super) port: Option<u32>,
    /// Its content.
    pub(super) read: Result<Content, ErrorKind>,
}

/// The content of a lock file.
pub(super) struct Content {
    pub(super) process: Process,
    /// None if the list holds something that is not text: then the file fits only by its port.
    pub(super) folders: Option<Vec<PathBuf>>,
    pub(super) is_websocket: bool,
    pub(super) token: Option<Token>,
    /// The namespaces in which it was written, if it is one of Pillion's.
    pub(super) namespaces: Option<Namespaces>,
}

/// The process that the companion belongs to.
#[derive(Debug, PartialEq)]
pub(super) enum Process {
    /// This process's.
    Id(u32),
    /// The file names none.
    None,
    /// The file names something that can be no process.
    Impossible,
    /// The file names something that always lives.
    Any,
}

impl Lock {
    pub(super) fn read(path: PathBuf) -> Self {
        let name = path.file_name().and_then(|name| name.to_str());
        let port = name.and_then(leading_number);
        let read = read::bytes(&path)
            .map(|bytes| Content::parse(&bytes))
            .map_err(|error| error.kind());
        Self { path, port, read }
    }

    /// The port, if it can be dialled.
    pub(super) fn dialled_port(&self) -> Option<u16> {
        let port = u16::try_from(self.port?).ok()?;
        (port > 0).then_some(port)
    }

    pub(super) fn folders(&self) -> &[PathBuf] {
        let content = self.read.as_ref().ok();
        content
            .and_then(|content| content.folders.as_deref())
            .unwrap_or_default()
    }
}

impl Content {
    fn parse(bytes: &[u8]) -> Self {
        let Ok(value) = serde_json::from_slice::<Value>(bytes) else {
            return Self::of_lines(&String::from_utf8_lossy(bytes));
        };
        let transport = value.get("transport").and_then(Value::as_str);
        let token = value.get("authToken").filter(|token| is_truthy(token));
        Self {
            process: process(value.get("pid")),
            folders: folders(value.get("workspaceFolders")),
            is_websocket: transport == Some("ws"),
            token: token.map(|token| Token::from(text_of(token))),
            namespaces: Namespaces::deserialize(&value["pillion"]["namespaces"]).ok(),
        }
    }

    /// The form before JSON.
    fn of_lines(text: &str) -> Self {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        Self {
            process: Process::Any,
            folders: Some(lines.map(PathBuf::from).collect()),
            is_websocket: false,
            token: None,
            namespaces: None,
        }
    }
}

/// The folders, empty ones left out; none if one of them is not text. A text in place of the list is
/// taken letter by letter.
fn folders(value: Option<&Value>) -> Option<Vec<PathBuf>> {
    let list = match value {
        Some(Value::Array(list)) => list.as_slice(),
        Some(Value::String(text)) => {
            let root = text.contains('/').then(|| PathBuf::from("/"));
            return Some(root.into_iter().collect());
        }
        _ => &[],
    };
    let texts = list.iter().filter(|value| is_truthy(value));
    texts
        .map(|value| value.as_str().map(PathBuf::from))
        .collect()
}

fn process(value: Option<&Value>) -> Process {
    let Some(value) = value.filter(|value| is_truthy(value)) else {
        return Process::None;
    };
    let number = match value {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Bool(_) => Some(1),
        _ => None,
    };
    match number {
        // Minus one means every process.
        Some(-1) => Process::Any,
        Some(number) => u32::try_from(number).map_or(Process::Impossible, Process::Id),
        None => Process::Impossible,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_process_is_a_number_or_a_text_of_one() {
        for (value, expected) in [
            (json!(7), Process::Id(7)),
            (json!("7"), Process::Id(7)),
            (json!(0), Process::None),
            (json!(null), Process::None),
            (json!(""), Process::None),
            (json!(-1), Process::Any),
            (json!(1.5), Process::Impossible),
            (json!("x"), Process::Impossible),
            (json!({}), Process::Impossible),
        ] {
            assert_eq!(process(Some(&value)), expected, "{value}");
        }
        assert_eq!(process(None), Process::None);
    }

    #[test]
    fn folders_are_texts_and_empty_ones_are_none() {
        let read = |value: Value| folders(Some(&value));
        assert_eq!(read(json!(["", null, "/a"])), Some(vec!["/a".into()]));
        assert_eq!(read(json!([5, "/a"])), None);
        assert_eq!(read(json!("/a")), Some(vec!["/".into()]));
        assert_eq!(read(json!({})), Some(vec![]));
    }

    #[test]
    fn what_is_no_json_is_a_list_of_folders() {
        let content = Content::parse(b"/a\n/b\n\n");
        assert_eq!(content.folders, Some(vec!["/a".into(), "/b".into()]));
        assert!(!content.is_websocket);
        assert_eq!(Content::parse(b"").folders, Some(vec![]));
    }
}
