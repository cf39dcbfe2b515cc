//! Proposed changes (C5): the arguments of the two tools, their answers and the outcomes.

pub mod on_behalf;
pub mod set;
pub mod written;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use self::set::SetArgument;
use self::written::Written;
use crate::dialect::Dialect;
use crate::held::HeldCall;
use crate::verdict::{Note, OUTCOME_NOTES};

/// The tool that shows a proposal (C5.1).
pub const OPEN_DIFF: &str = "openDiff";
/// The tool that takes a proposal's view away (C5.4).
pub const CLOSE_DIFF: &str = "closeDiff";

/// The arguments of [`OPEN_DIFF`] (C5.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenDiff {
    /// The file that the agent wants to change, as the agent spells it (C5.8).
    pub file_path: String,
    /// The whole text that the agent wants the file to have.
    pub new_content: String,
    /// The set that it belongs to. Only from [`Dialect::Script`]: the contract knows nothing of it.
    pub set: Option<SetArgument>,
    /// True if the file is to be deleted. Only from [`Dialect::Script`], too.
    pub deletes: bool,
    /// The agent whose change a command proposes. Only from [`Dialect::Script`], too.
    pub on_behalf_of: Option<Dialect>,
    /// The text before and the change's name, if it is written already. Only from [`Dialect::Script`], too.
    pub written: Option<Written>,
    /// The change of a notebook's cell, of whose source the text is. Only from [`Dialect::Script`], too.
    pub cell: Option<HeldCall>,
}

/// The key of [`Outcome::Accepted::base`] in the `_meta` of an acceptance.
pub const DIFF_BASE: &str = "pillion/base";

/// The argument of [`OPEN_DIFF`] that says that the file is to be deleted, for which the new text is empty. The contract
/// does not know it: only Pillion's own commands send it.
pub const DELETES: &str = "deletes";

/// The argument of [`OPEN_DIFF`] that says that the text is the source of a notebook's cell: the input of the tool that is to
/// change it. The contract does not know it: only Pillion's own commands send it.
pub const CELL: &str = "cell";

/// The largest proposed content, in bytes of UTF-8.
pub const MAX_CONTENT: usize = 64 * 1024 * 1024;

impl OpenDiff {
    /// Reads the arguments of a tool call of this agent. Fields that it has no use for are ignored, whatever is in them.
    ///
    /// # Errors
    /// Names the first field that breaks the contract, for the agent.
    pub fn from_arguments(
        mut arguments: Map<String, Value>,
        agent: Dialect,
    ) -> Result<Self, String> {
        Ok(Self {
            file_path: take_string(&mut arguments, OPEN_DIFF, "filePath")?,
            new_content: take_content(&mut arguments, "newContent")?,
            set: match agent {
                Dialect::Script => SetArgument::take(&mut arguments)?,
                _ => None,
            },
            deletes: agent == Dialect::Script && take_flag(&mut arguments, DELETES)?,
            written: match agent {
                Dialect::Script => written::take(&mut arguments)?,
                _ => None,
            },
            on_behalf_of: match agent {
                Dialect::Script => on_behalf::take(&mut arguments)?,
                _ => None,
            },
            cell: match agent {
                Dialect::Script => take_cell(&mut arguments)?,
                _ => None,
            },
        })
    }
}

/// The file of a call of [`CLOSE_DIFF`] (C5.4), as in the [`OpenDiff`] before. Agents also send
/// `suppressNotification`, which changes nothing here: a view that the agent closed never has an outcome
/// (C5.10).
///
/// # Errors
/// As [`OpenDiff::from_arguments`].
pub fn closed_file(mut arguments: Map<String, Value>) -> Result<String, String> {
    take_string(&mut arguments, CLOSE_DIFF, "filePath")
}

/// A flag that may be missing.
fn take_flag(arguments: &mut Map<String, Value>, field: &str) -> Result<bool, String> {
    match arguments.remove(field) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(flag)) => Ok(flag),
        Some(other) => {
            let kind = kind_of(&other);
            Err(format!("{OPEN_DIFF}: {field} is {kind}, not true or false"))
        }
    }
}

/// The change of a notebook's cell.
fn take_cell(arguments: &mut Map<String, Value>) -> Result<Option<HeldCall>, String> {
    match arguments.remove(CELL) {
        None | Some(Value::Null) => Ok(None),
        Some(input) => HeldCall::of_cell(&input)
            .map(Some)
            .ok_or_else(|| format!("{OPEN_DIFF}: {CELL} is no change of a notebook's cell")),
    }
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
        /// last, or, where an agent's hook asks, the one that the file had when they decided, of which they were warned. Only
        /// for [`Dialect::Script`]: the contract knows nothing of it.
        base: Option<String>,
    },
    /// Rejected, which closing the view without accepting is too.
    Rejected,
}

impl Outcome {
    /// Accepted without saying what it was compared with.
    pub fn accepted(content: impl Into<String>) -> Self {
        Self::Accepted {
            content: Arc::new(content.into()),
            base: None,
        }
    }

    /// As much of it as this agent is to hear: all but Pillion's own commands get what the contract
    /// says, and nothing else.
    #[must_use]
    pub fn for_agent(self, agent: Dialect) -> Self {
        match self {
            Self::Accepted { content, .. } if agent != Dialect::Script => {
                let base = None;
                Self::Accepted { content, base }
            }
            outcome => outcome,
        }
    }

    /// The notification's method.
    pub fn method(&self) -> &'static str {
        match self {
            Self::Accepted { .. } => "ide/diffAccepted",
            Self::Rejected => "ide/diffRejected",
        }
    }

    /// The notification's params, for the `file_path` that the agent sent (C5.8). The contract knows nothing of
    /// notes: only for [`Dialect::Script`].
    pub fn into_params(self, file_path: String, notes: &[Note]) -> Value {
        let mut params = Map::from_iter([("filePath".to_owned(), Value::String(file_path))]);
        let mut meta = Map::new();
        if let Self::Accepted { content, base } = self {
            let content = Value::String(Arc::unwrap_or_clone(content));
            params.insert("content".to_owned(), content);
            meta.extend(base.map(|base| (DIFF_BASE.to_owned(), Value::String(base))));
        }
        if !notes.is_empty() {
            meta.insert(OUTCOME_NOTES.to_owned(), json!(notes));
        }
        if !meta.is_empty() {
            params.insert("_meta".to_owned(), Value::Object(meta));
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn arguments(value: Value) -> Map<String, Value> {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn wrong_arguments_name_the_field() {
        let message = |value| {
            let arguments = arguments(value);
            OpenDiff::from_arguments(arguments, Dialect::GeminiCli).unwrap_err()
        };
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
    fn only_a_script_says_which_set_a_file_belongs_to() {
        let set = json!({"name": "x", "place": 2, "of": 3});
        for set in [set, json!({"name": "x", "place": 9, "of": 3}), json!("x")] {
            for agent in Dialect::ALL {
                let call = json!({"filePath": "/a", "newContent": "", "set": set});
                let open = OpenDiff::from_arguments(arguments(call), agent);
                let is_right = set["place"] == 2;
                match agent {
                    Dialect::Script => assert_eq!(open.is_ok_and(|it| it.set.is_some()), is_right),
                    _ => assert_eq!(open.unwrap().set, None, "{agent:?}"),
                }
            }
        }
    }

    #[test]
    fn only_a_script_says_that_a_file_is_to_be_deleted() {
        for (deletes, expected) in [
            (json!(true), Some(true)),
            (json!(false), Some(false)),
            (json!(null), Some(false)),
            (json!("yes"), None),
        ] {
            for agent in Dialect::ALL {
                let call = json!({"filePath": "/a", "newContent": "", "deletes": deletes});
                let open = OpenDiff::from_arguments(arguments(call), agent);
                match agent {
                    Dialect::Script => assert_eq!(open.ok().map(|it| it.deletes), expected),
                    _ => assert!(!open.unwrap().deletes, "{agent:?}"),
                }
            }
        }
    }

    #[test]
    fn only_a_script_names_the_agent_that_it_proposes_for() {
        for (name, expected) in [
            (json!("codex"), Some(Some(Dialect::CodexCli))),
            (json!("claude"), Some(Some(Dialect::ClaudeCode))),
            (json!("somebody"), Some(None)),
            (json!(7), None),
        ] {
            for agent in Dialect::ALL {
                let call = json!({"filePath": "/a", "newContent": "", "onBehalfOf": name});
                let open = OpenDiff::from_arguments(arguments(call), agent);
                match agent {
                    Dialect::Script => assert_eq!(open.ok().map(|it| it.on_behalf_of), expected),
                    _ => assert_eq!(open.unwrap().on_behalf_of, None, "{agent:?}"),
                }
            }
        }
    }

    #[test]
    fn only_a_script_proposes_the_source_of_a_cell() {
        let input = json!({"notebook_path": "/a", "cell_id": "x", "new_source": "1"});
        let cell = HeldCall::of_cell(&input);
        for (argument, expected) in [
            (input, Some(cell)),
            (Value::Null, Some(None)),
            (json!({"notebook_path": "/a"}), None),
            (json!("cell"), None),
        ] {
            for agent in Dialect::ALL {
                let call = json!({"filePath": "/a", "newContent": "1", "cell": argument});
                let open = OpenDiff::from_arguments(arguments(call), agent);
                match agent {
                    Dialect::Script => assert_eq!(open.ok().map(|it| it.cell), expected),
                    _ => assert_eq!(open.unwrap().cell, None, "{agent:?}"),
                }
            }
        }
    }

    #[test]
    fn unknown_fields_are_ignored() {
        let value = json!({"suppressNotification": true, "filePath": "/a", "more": [{}]});
        assert_eq!(closed_file(arguments(value)).unwrap(), "/a");
    }

    #[test]
    fn outcomes_have_the_wire_shape_of_the_contract() {
        let accepted = Outcome::accepted("x\r\n");
        assert_eq!(accepted.method(), "ide/diffAccepted");
        assert_eq!(
            accepted.into_params("/a".into(), &[]),
            json!({"filePath": "/a", "content": "x\r\n"})
        );
        assert_eq!(Outcome::Rejected.method(), "ide/diffRejected");
        assert_eq!(
            Outcome::Rejected.into_params("/a".into(), &[]),
            json!({"filePath": "/a"})
        );
    }

    #[test]
    fn only_a_script_receives_what_an_acceptance_was_compared_with() {
        for agent in Dialect::ALL {
            let accepted = Outcome::Accepted {
                content: Arc::new("x".into()),
                base: Some("absent".into()),
            };
            let params = accepted.for_agent(agent).into_params("/a".into(), &[]);
            let expected = match agent {
                Dialect::Script => {
                    r#"{"_meta":{"pillion/base":"absent"},"content":"x","filePath":"/a"}"#
                }
                _ => r#"{"content":"x","filePath":"/a"}"#,
            };
            assert_eq!(params.to_string(), expected, "{agent:?}");
        }
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
            let parsed = OpenDiff::from_arguments(arguments, Dialect::QwenCode).unwrap();
            let expected = OpenDiff { file_path, new_content, set: None, deletes: false, on_behalf_of: None, written: None, cell: None };
            prop_assert_eq!(parsed, expected);
        }

        #[test]
        fn a_closed_content_is_always_an_object(content: String) {
            let text = serde_json::to_string(&ClosedContent { content: content.clone() }).unwrap();
            let value: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(value, json!({"content": content}));
        }
    }
}
