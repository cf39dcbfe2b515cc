//! Problems that an editor shows, as Claude Code reads them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::context::Range;

/// The problems of one file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileDiagnostics<D = Diagnostic> {
    /// `file://` and the path, as it was asked for.
    pub uri: String,
    /// Its problems.
    pub diagnostics: Vec<D>,
}

/// One problem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Diagnostic<R = Range, S = Severity> {
    /// The problem, in words for people.
    pub message: String,
    /// Its severity.
    pub severity: S,
    /// Its range.
    pub range: R,
    /// The tool that found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// That tool's name for it: a string or a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Value>,
}

/// The severity of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Severity {
    /// An error.
    Error,
    /// A warning.
    Warning,
    /// An information.
    Info,
    /// A hint.
    Hint,
}
