//! The answer to a tool call, as agents read it.

use serde_json::Value;

use crate::probe::NoAnswer;
use crate::rule::{Problem, shown, wrong};

/// The answer to a tool call: a result or a JSON-RPC error.
#[derive(Debug, Clone)]
pub(super) struct ToolReply(pub(super) Value);

impl ToolReply {
    fn result(&self) -> &Value {
        &self.0["result"]
    }

    /// Returns true if the tool, or the call, failed.
    pub(super) fn is_error(&self) -> bool {
        !self.result().is_object() || self.result()["isError"] == true
    }

    /// It, unless the tool, or the call, failed.
    pub(super) fn success(self) -> Result<Self, NoAnswer> {
        match self.is_error() {
            true => NoAnswer::because(self.shown()),
            false => Ok(self),
        }
    }

    /// A reply that breaks the rule.
    pub(super) fn wrong<T>(&self) -> Result<T, Problem> {
        wrong(&self.0)
    }

    /// Its content blocks.
    pub(super) fn content(&self) -> Option<&Vec<Value>> {
        self.result()["content"].as_array()
    }

    /// The text of its only block.
    pub(super) fn text(&self) -> Option<&str> {
        match self.content()?.as_slice() {
            [block] if block["type"] == "text" => block["text"].as_str(),
            _ => None,
        }
    }

    /// The text in the view, if the answer has the form that agents read (C5.5).
    pub(super) fn closed_content(&self) -> Result<String, String> {
        if self.is_error() {
            return Err(format!("the answer is a failure: {}", self.shown()));
        }
        let Some(text) = self.text() else {
            return Err(format!(
                "the answer is not one text block: {}",
                self.shown()
            ));
        };
        let Ok(value) = serde_json::from_str::<Value>(text) else {
            return Err("the block's text is not JSON".to_owned());
        };
        match value.get("content") {
            Some(Value::String(content)) => Ok(content.clone()),
            _ => Err("the block's text is JSON without a string `content`".to_owned()),
        }
    }

    /// Returns true if it fails as C5.2 and C5.5 say: `isError` and one text block that says why.
    pub(super) fn fails_well(&self) -> bool {
        self.result()["isError"] == true && self.text().is_some_and(|text| !text.trim().is_empty())
    }

    /// The beginning of it, for a report.
    pub(super) fn shown(&self) -> String {
        shown(&self.0)
    }
}
