//! Proposed changes (C5): the arguments of the two tools, their answers and the outcomes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::held::HeldCall;

/// The tool that shows a proposal (C5.1).
pub const OPEN_DIFF: &str = "openDiff";
/// The tool that takes a proposal's view away (C5.4).
pub const CLOSE_DIFF: &str = "closeDiff";

/// A file that is to change, as an agent proposes it, whatever its protocol calls that, or a program.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposedFile {
    /// The file, as whoever proposes it spells it (C5.8).
    pub path: String,
    /// The whole text that it is to have; empty if it is to be deleted.
    pub content: String,
    /// The name of the proposal from now on, if the agent gives it one. Programs give none.
    #[serde(skip)]
    pub tab: Option<String>,
    /// True if it is to be deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deletes: bool,
    /// The fingerprint of a text that was accepted for the file, is not written yet, and is contained in this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
    /// True if a subagent of the agent proposes it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_of_subagent: bool,
    /// The tool that writes it and nothing else, if a hook holds its call: it may have no way to write every text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The change of a notebook's cell, of whose source the text is.
    #[serde(with = "cell", default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<HeldCall>,
}

/// The largest proposed content, in bytes of UTF-8.
pub const MAX_CONTENT: usize = 64 * 1024 * 1024;

impl ProposedFile {
    /// A file that is to have this text.
    pub fn new(path: impl Into<String>, content: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            content: content.into(),
            ..Self::default()
        }
    }

    /// The same under this name.
    #[must_use]
    pub fn in_tab(self, name: String) -> Self {
        let tab = Some(name);
        Self { tab, ..self }
    }

    /// A file that is to be deleted.
    pub fn deleted(path: impl Into<String>) -> Self {
        Self {
            deletes: true,
            ..Self::new(path, "")
        }
    }

    /// The source that this cell of a notebook is to have.
    pub fn cell(path: impl Into<String>, cell: HeldCall) -> Self {
        let source = cell.proposed().to_owned();
        Self {
            cell: Some(cell),
            ..Self::new(path, source)
        }
    }

    /// Reads the arguments of [`OPEN_DIFF`] (C5.1). Fields that the contract does not know are ignored, whatever is in them.
    ///
    /// # Errors
    /// Names the first field that breaks the contract, for the agent.
    pub fn from_arguments(mut arguments: Map<String, Value>) -> Result<Self, String> {
        let path = take_string(&mut arguments, OPEN_DIFF, "filePath")?;
        Ok(Self::new(path, take_content(&mut arguments, "newContent")?))
    }
}

/// The file of a call of [`CLOSE_DIFF`] (C5.4), as in the [`ProposedFile`] before. Agents also send
/// `suppressNotification`, which changes nothing here: a view that the agent closed never has an outcome
/// (C5.10).
///
/// # Errors
/// As [`ProposedFile::from_arguments`].
pub fn closed_file(mut arguments: Map<String, Value>) -> Result<String, String> {
    take_string(&mut arguments, CLOSE_DIFF, "filePath")
}

/// The text that is proposed to [`OPEN_DIFF`].
pub(crate) fn take_content(
    arguments: &mut Map<String, Value>,
    field: &str,
) -> Result<String, String> {
    let content = take_string(arguments, OPEN_DIFF, field)?;
    match content.len() {
        ..=MAX_CONTENT => Ok(content),
        size => Err(format!(
            "{OPEN_DIFF}: {field} has {size} bytes; at most {MAX_CONTENT} can be shown"
        )),
    }
}

pub(crate) fn take_string(
    arguments: &mut Map<String, Value>,
    tool: &str,
    field: &str,
) -> Result<String, String> {
    match arguments.get_mut(field).map(Value::take) {
        Some(Value::String(text)) => Ok(text),
        None => Err(format!("{tool}: {field} is missing")),
        Some(other) => {
            let found = kind_of(&other);
            Err(format!("{tool}: {field} is {found}, not a string"))
        }
    }
}

/// The schema of arguments that are strings, and all of which must be there.
pub(crate) fn schema_of_strings(names: &[&str]) -> Value {
    let property = |name: &&str| ((*name).to_owned(), json!({"type": "string"}));
    let properties: Map<_, _> = names.iter().map(property).collect();
    json!({"type": "object", "properties": properties, "required": names})
}

/// The name that people use for a value of this kind.
pub(crate) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// The outcome of a proposal, as reported to the agent (C5.6, C5.7).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Accepted, with the final text byte for byte.
    Accepted {
        /// The complete final text. Shared: it may be large.
        content: Arc<String>,
        /// The text of the file over which it is to be written, as a fingerprint: the one that the reviewer compared it with
        /// last, or, where an agent's hook asks, the one that the file had when they decided, of which they were warned. No
        /// agent hears it: the contract knows nothing of it.
        base: Option<String>,
    },
    /// Rejected, which closing the view without accepting is too.
    Rejected,
}

impl Outcome {
    /// The accepted text; none if it was rejected.
    pub fn text(&self) -> Option<&Arc<String>> {
        match self {
            Self::Accepted { content, .. } => Some(content),
            Self::Rejected => None,
        }
    }

    /// Accepted without saying what it was compared with.
    pub fn accepted(content: impl Into<String>) -> Self {
        Self::Accepted {
            content: Arc::new(content.into()),
            base: None,
        }
    }

    /// The notification's method.
    pub fn method(&self) -> &'static str {
        match self {
            Self::Accepted { .. } => "ide/diffAccepted",
            Self::Rejected => "ide/diffRejected",
        }
    }

    /// The notification's params, for the `file_path` that the agent sent (C5.8).
    pub fn into_params(self, file_path: String) -> Value {
        let mut params = Map::from_iter([("filePath".to_owned(), Value::String(file_path))]);
        if let Self::Accepted { content, .. } = self {
            let content = Value::String(Arc::unwrap_or_clone(content));
            params.insert("content".to_owned(), content);
        }
        Value::Object(params)
    }
}

/// The text block of a successful [`CLOSE_DIFF`] (C5.5): a JSON object, even when the content
/// itself looks like one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosedContent {
    /// The file's final content in the view.
    pub content: String,
}

/// The names of the two tools that a companion registers (C5.1, C5.4).
pub const NAMES: [&str; 2] = [OPEN_DIFF, CLOSE_DIFF];

/// The tools as `tools/list` shows them: name, description, and the schema of the arguments.
pub fn listed() -> [(&'static str, &'static str, Value); 2] {
    let path = json!({"type": "string", "description": "The absolute path of the file."});
    [
        (
            OPEN_DIFF,
            "Shows the user proposed new content for a file, to edit, accept or reject. Answers when the view is open; the outcome is sent as the notification ide/diffAccepted or ide/diffRejected.",
            json!({
                "type": "object",
                "properties": {
                    "filePath": path,
                    "newContent": {"type": "string", "description": "The whole proposed content."},
                },
                "required": ["filePath", "newContent"],
            }),
        ),
        (
            CLOSE_DIFF,
            "Closes the view that openDiff opened for a file, and returns the text in it.",
            json!({
                "type": "object",
                "properties": {
                    "filePath": path,
                    "suppressNotification": {
                        "type": "boolean",
                        "description": "Accepted for compatibility: no outcome is ever sent.",
                    },
                },
                "required": ["filePath"],
            }),
        ),
    ]
}

/// The input of the agent's tool says all of a cell's change.
mod cell {
    use crate::held::HeldCall;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
    use serde_json::Value;

    pub fn serialize<S: Serializer>(
        cell: &Option<HeldCall>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        cell.as_ref().map(HeldCall::input).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<HeldCall>, D::Error> {
        let input: Option<Value> = Option::deserialize(deserializer)?;
        let read = |input: Value| {
            let cell = HeldCall::of_cell(&input);
            cell.ok_or_else(|| de::Error::custom("the input changes no notebook's cell"))
        };
        input.map(read).transpose()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn arguments(value: Value) -> Map<String, Value> {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_cell_is_read_as_it_was_sent() {
        let input = json!({
            "notebook_path": "/n.ipynb", "cell_id": "a", "new_source": "x = 1\n", "edit_mode": "replace",
        });
        let cell = HeldCall::of_cell(&input).unwrap();
        let sent = ProposedFile::cell("/n.ipynb", cell);
        let message = json!(sent);
        assert_eq!(message["cell"], input);
        assert_eq!(
            serde_json::from_value::<ProposedFile>(message).unwrap(),
            sent
        );
        for wrong in [json!({}), json!(1), json!({"notebook_path": 1})] {
            let file = json!({"path": "/n", "content": "", "cell": wrong});
            assert!(serde_json::from_value::<ProposedFile>(file).is_err());
        }
    }

    #[test]
    fn wrong_arguments_name_the_field() {
        let message = |value| ProposedFile::from_arguments(arguments(value)).unwrap_err();
        assert_eq!(message(json!({})), "openDiff: filePath is missing");
        assert_eq!(
            message(json!({"filePath": "/a"})),
            "openDiff: newContent is missing"
        );
        assert_eq!(
            message(json!({"filePath": "/a", "newContent": 5})),
            "openDiff: newContent is a number, not a string"
        );
        assert_eq!(
            message(json!({"filePath": null})),
            "openDiff: filePath is null, not a string"
        );
        assert_eq!(
            message(json!({"filePath": "/a", "newContent": "x".repeat(MAX_CONTENT + 1)})),
            "openDiff: newContent has 67108865 bytes; at most 67108864 can be shown"
        );
    }

    #[test]
    fn unknown_fields_are_ignored() {
        let own = json!({"name": "x", "place": 9});
        let value = json!({"filePath": "/a", "newContent": "x", "set": own, "onBehalfOf": 7, "deletes": true});
        let expected = ProposedFile::new("/a", "x");
        assert_eq!(ProposedFile::from_arguments(arguments(value)), Ok(expected));
        let value = json!({"suppressNotification": true, "filePath": "/a", "more": [{}]});
        assert_eq!(closed_file(arguments(value)).unwrap(), "/a");
    }

    #[test]
    fn outcomes_have_the_wire_shape_of_the_contract() {
        let accepted = Outcome::accepted("x\r\n");
        assert_eq!(accepted.method(), "ide/diffAccepted");
        assert_eq!(
            accepted.into_params("/a".into()),
            json!({"filePath": "/a", "content": "x\r\n"})
        );
        assert_eq!(Outcome::Rejected.method(), "ide/diffRejected");
        assert_eq!(
            Outcome::Rejected.into_params("/a".into()),
            json!({"filePath": "/a"})
        );
    }

    #[test]
    fn what_an_acceptance_was_compared_with_is_told_to_no_agent() {
        let accepted = Outcome::Accepted {
            content: Arc::new("x".into()),
            base: Some("absent".into()),
        };
        let params = accepted.into_params("/a".into());
        assert_eq!(params, json!({"filePath": "/a", "content": "x"}));
    }

    #[test]
    fn every_tool_is_listed() {
        assert_eq!(listed().map(|(name, ..)| name), NAMES);
    }

    #[test]
    fn schemas_require_what_parsing_requires() {
        for (name, _, schema) in listed() {
            for field in schema["required"].as_array().unwrap() {
                let field = field.as_str().unwrap();
                assert!(schema["properties"][field].is_object(), "{name} {field}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_survives_the_arguments(file_path: String, new_content: String) {
            let text = json!({"filePath": file_path, "newContent": new_content}).to_string();
            let arguments = serde_json::from_str(&text).unwrap();
            let parsed = ProposedFile::from_arguments(arguments).unwrap();
            prop_assert_eq!(parsed, ProposedFile::new(file_path, new_content));
        }

        #[test]
        fn a_closed_content_is_always_an_object(content: String) {
            let text = serde_json::to_string(&ClosedContent { content: content.clone() }).unwrap();
            let value: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(value, json!({"content": content}));
        }
    }
}
