//! Proposed changes (C5): the arguments of the two tools, their answers and the outcomes.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

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
}

/// The arguments of [`CLOSE_DIFF`] (C5.4). Agents also send `suppressNotification`, which changes
/// nothing here: a view that the agent closed never has an outcome (C5.10).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CloseDiff {
    /// The file of the proposal, as in the [`OpenDiff`] before.
    pub file_path: String,
}

impl OpenDiff {
    /// Reads the arguments as they stand in a tool call.
    ///
    /// # Errors
    /// Names the field that is missing or is no string, or says what is wrong with the JSON.
    pub fn parse(arguments: &str) -> Result<Self, serde_json::Error> {
        let [file_path, new_content] = strings(arguments, OPEN_DIFF, ["filePath", "newContent"])?;
        Ok(Self {
            file_path,
            new_content,
        })
    }
}

impl CloseDiff {
    /// Reads the arguments as they stand in a tool call.
    ///
    /// # Errors
    /// As [`OpenDiff::parse`].
    pub fn parse(arguments: &str) -> Result<Self, serde_json::Error> {
        let [file_path] = strings(arguments, CLOSE_DIFF, ["filePath"])?;
        Ok(Self { file_path })
    }
}

/// What became of a proposal, as the agent is told (C5.6, C5.7).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Accepted, with the final text byte for byte.
    Accepted {
        /// The complete final text.
        content: String,
    },
    /// Rejected, which closing the view without accepting is too.
    Rejected,
}

impl Outcome {
    /// The notification's method.
    pub fn method(&self) -> &'static str {
        match self {
            Self::Accepted { .. } => "ide/diffAccepted",
            Self::Rejected => "ide/diffRejected",
        }
    }

    /// The notification's params, for the `file_path` that the agent sent (C5.8).
    pub fn params(&self, file_path: &str) -> Value {
        match self {
            Self::Accepted { content } => json!({"filePath": file_path, "content": content}),
            Self::Rejected => json!({"filePath": file_path}),
        }
    }
}

/// The text block of a successful [`CLOSE_DIFF`] (C5.5): a JSON object, even when the content
/// itself looks like one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosedContent {
    /// The file's final content in the view.
    pub content: String,
}

/// A tool as `tools/list` shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tool {
    /// What agents call it by.
    pub name: &'static str,
    /// What it does, for the agent's model.
    pub description: &'static str,
}

/// The two tools that a companion registers (C5.1, C5.4).
pub const TOOLS: [Tool; 2] = [
    Tool {
        name: OPEN_DIFF,
        description: "Shows a proposed new content of a file to the user, who may edit, accept or \
                      reject it. Answers when the view is open; the outcome comes as the \
                      notification ide/diffAccepted or ide/diffRejected.",
    },
    Tool {
        name: CLOSE_DIFF,
        description: "Takes away the view that openDiff showed for a file, and returns the text \
                      that stood in it.",
    },
];

impl Tool {
    /// The JSON schema of the tool's arguments.
    pub fn input_schema(self) -> Value {
        let path = json!({"type": "string", "description": "The absolute path of the file."});
        if self.name == OPEN_DIFF {
            json!({
                "type": "object",
                "properties": {
                    "filePath": path,
                    "newContent": {"type": "string", "description": "The whole proposed content."},
                },
                "required": ["filePath", "newContent"],
            })
        } else {
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
            })
        }
    }
}

/// Reads the named string fields of a JSON object in one pass and ignores the others. A derived
/// implementation would not say which field has the wrong type.
fn strings<const N: usize>(
    arguments: &str,
    tool: &'static str,
    fields: [&'static str; N],
) -> Result<[String; N], serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(arguments);
    let strings = deserializer.deserialize_map(Fields { tool, fields })?;
    deserializer.end()?;
    Ok(strings)
}

struct Fields<const N: usize> {
    tool: &'static str,
    fields: [&'static str; N],
}

impl<'de, const N: usize> Visitor<'de> for Fields<N> {
    type Value = [String; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the arguments of {} as an object", self.tool)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found: [Option<String>; N] = [const { None }; N];
        while let Some(key) = map.next_key::<String>()? {
            match self.fields.iter().position(|field| *field == key) {
                Some(at) => found[at] = Some(map.next_value_seed(StringField(self.fields[at]))?),
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        if let Some(at) = found.iter().position(Option::is_none) {
            let (tool, field) = (self.tool, self.fields[at]);
            return Err(serde::de::Error::custom(format_args!(
                "{tool}: {field} is missing"
            )));
        }
        Ok(found.map(Option::unwrap_or_default))
    }
}

struct StringField(&'static str);

impl<'de> DeserializeSeed<'de> for StringField {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_string(self)
    }
}

impl Visitor<'_> for StringField {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to be a string", self.0)
    }

    fn visit_str<E>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }

    fn visit_string<E>(self, text: String) -> Result<String, E> {
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn wrong_arguments_name_the_field() {
        let message = |arguments: &str| OpenDiff::parse(arguments).unwrap_err().to_string();
        assert!(message("{}").starts_with("openDiff: filePath is missing"));
        assert!(message(r#"{"filePath":"/a"}"#).starts_with("openDiff: newContent is missing"));
        assert!(
            message(r#"{"filePath":"/a","newContent":5}"#)
                .starts_with("invalid type: integer `5`, expected newContent to be a string")
        );
        assert!(message(r#"{"filePath":null}"#).contains("expected filePath to be a string"));
        assert!(message("[]").contains("expected the arguments of openDiff as an object"));
        assert!(message("{").contains("EOF"));
    }

    #[test]
    fn unknown_fields_are_ignored() {
        let arguments = r#"{"suppressNotification":true,"filePath":"/a","more":[{}]}"#;
        assert_eq!(CloseDiff::parse(arguments).unwrap().file_path, "/a");
    }

    #[test]
    fn outcomes_have_the_wire_shape_of_the_contract() {
        let accepted = Outcome::Accepted {
            content: "x\r\n".into(),
        };
        assert_eq!(accepted.method(), "ide/diffAccepted");
        assert_eq!(
            accepted.params("/a"),
            json!({"filePath": "/a", "content": "x\r\n"})
        );
        assert_eq!(Outcome::Rejected.method(), "ide/diffRejected");
        assert_eq!(Outcome::Rejected.params("/a"), json!({"filePath": "/a"}));
    }

    #[test]
    fn schemas_require_what_parsing_requires() {
        for tool in TOOLS {
            let schema = tool.input_schema();
            for field in schema["required"].as_array().unwrap() {
                let field = field.as_str().unwrap();
                assert!(
                    schema["properties"][field].is_object(),
                    "{} {field}",
                    tool.name
                );
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_survives_the_arguments(file_path: String, new_content: String) {
            let arguments = json!({"filePath": file_path, "newContent": new_content}).to_string();
            let parsed = OpenDiff::parse(&arguments).unwrap();
            prop_assert_eq!(parsed, OpenDiff { file_path, new_content });
        }

        #[test]
        fn a_closed_content_is_always_an_object(content: String) {
            let text = serde_json::to_string(&ClosedContent { content: content.clone() }).unwrap();
            let value: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(value, json!({"content": content}));
        }
    }
}
