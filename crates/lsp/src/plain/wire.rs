//! The clients' messages, as far as this profile reads them. Nothing else is asked of a message: clients
//! leave out what the specification wants, and put in what it does not know.

use std::path::PathBuf;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::{message, uri};

/// A place in a document: counted from 0, characters in the negotiated encoding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct Position {
    #[serde(deserialize_with = "number")]
    pub line: u32,
    #[serde(deserialize_with = "number")]
    pub character: u32,
}

/// A number that is too big means the end, as some clients write it.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let number = u64::deserialize(deserializer)?;
    Ok(u32::try_from(number).unwrap_or(u32::MAX))
}

/// From one place to before another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct Range {
    pub start: Position,
    pub end: Position,
}

/// The part that every message about a document has.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct About<D = Identifier> {
    pub text_document: D,
}

#[derive(Debug, Deserialize)]
pub struct Identifier {
    pub uri: String,
}

/// An editor's action on a document.
#[derive(Debug)]
pub enum DocumentEvent {
    /// It opens it, under this name.
    Opened {
        uri: String,
        text: String,
    },
    Changed(Edits),
    /// It saves it. Not every editor sends the text.
    Saved(Option<String>),
    Closed,
}

/// The document of a notification and its event; nothing if it is about anything else.
///
/// # Errors
/// A sentence that names the field.
pub fn document_event(
    method: &str,
    params: Value,
) -> Result<Option<(PathBuf, DocumentEvent)>, String> {
    let (uri, event) = match method {
        "textDocument/didOpen" => {
            let Opened { uri, text } = message::params::<About<_>>(params)?.text_document;
            (uri.clone(), DocumentEvent::Opened { uri, text })
        }
        "textDocument/didChange" => {
            let params: DidChange = message::params(params)?;
            let Versioned { uri, version } = params.text_document;
            let (version, changes) = (version.as_i64(), params.content_changes);
            (uri, DocumentEvent::Changed(Edits { version, changes }))
        }
        "textDocument/didSave" => {
            let params: DidSave = message::params(params)?;
            let event = DocumentEvent::Saved(params.text);
            (params.text_document.uri, event)
        }
        "textDocument/didClose" => {
            let Identifier { uri } = message::params::<About>(params)?.text_document;
            (uri, DocumentEvent::Closed)
        }
        // What every client sends and nothing needs.
        _ => return Ok(None),
    };
    Ok(uri::to_path(&uri).map(|path| (path, event)))
}

#[derive(Debug, Deserialize)]
struct Opened {
    uri: String,
    text: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DidChange {
    text_document: Versioned,
    content_changes: Vec<Change>,
}

#[derive(Debug, Deserialize)]
struct Versioned {
    uri: String,
    /// Of the document after the edits: a number that grows.
    #[serde(default)]
    version: Value,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DidSave {
    text_document: Identifier,
    text: Option<String>,
}

/// The edits that led to a version of a document.
#[derive(Debug)]
pub struct Edits {
    pub version: Option<i64>,
    pub changes: Vec<Change>,
}

#[cfg(test)]
impl From<Vec<Change>> for Edits {
    fn from(changes: Vec<Change>) -> Self {
        let version = None;
        Self { version, changes }
    }
}

/// One edit; without a range it is the whole text.
#[derive(Debug, Deserialize)]
pub struct Change {
    pub range: Option<Range>,
    pub text: String,
}

/// `textDocument/documentHighlight`, `hover` and `signatureHelp`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct At {
    pub text_document: Identifier,
    pub position: Position,
}

/// `textDocument/codeAction`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CodeAction {
    pub text_document: Identifier,
    pub range: Range,
    #[serde(default)]
    pub context: CodeActionContext,
}

#[derive(Debug, Default, Deserialize)]
pub struct CodeActionContext {
    /// The kinds that are wanted.
    pub only: Option<Vec<String>>,
}

/// `workspace/executeCommand`.
#[derive(Debug, Deserialize)]
pub struct ExecuteCommand {
    pub command: String,
    pub arguments: Option<Vec<Value>>,
}
