//! What clients send, as far as this profile reads it. Nothing else is asked of a message: clients
//! leave out what the specification wants, and put in what it does not know.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

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

#[derive(Debug, Deserialize)]
pub struct Identifier {
    pub uri: String,
}

/// `textDocument/didOpen`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DidOpen {
    pub text_document: Opened,
}

#[derive(Debug, Deserialize)]
pub struct Opened {
    pub uri: String,
    pub text: String,
}

/// `textDocument/didChange`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DidChange {
    pub text_document: Versioned,
    pub content_changes: Vec<Change>,
}

#[derive(Debug, Deserialize)]
pub struct Versioned {
    pub uri: String,
    /// Of the document after the edits: a number that grows.
    #[serde(default)]
    pub version: Value,
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

/// `textDocument/didSave`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DidSave {
    pub text_document: Identifier,
    pub text: Option<String>,
}

/// `textDocument/didClose`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DidClose {
    pub text_document: Identifier,
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

/// The answer to `window/showDocument`.
#[derive(Debug, Deserialize)]
pub struct Shown {
    pub success: bool,
}
