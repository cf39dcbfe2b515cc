//! An agent's reading of a discovery file: JSON of any shape, with JavaScript's notions of what is
//! missing and what is empty. Companions of others write these files.

use std::path::PathBuf;

use pillion_protocol::Token;
use pillion_protocol::discovery::split_roots;
use serde_json::Value;

/// A file's content.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Content(Value);

/// The field `workspacePath`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Workspace {
    /// It is not there.
    Missing,
    /// It is there and is not text: agents fail on it.
    NoText,
    /// Its text.
    Text(String),
}

impl Content {
    /// None if it is no JSON. Bytes that are not Unicode are replaced, as agents do.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(bytes);
        serde_json::from_str(&text).ok().map(Self)
    }

    /// A field, if it is there and not `null`.
    pub(crate) fn field(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// Returns true if it is `null`: looking into that ends an agent's attempt.
    pub(crate) fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Returns true if JavaScript takes it for true in a condition.
    pub(crate) fn is_truthy(&self) -> bool {
        is_truthy(&self.0)
    }

    /// Returns true if it is an object or an array.
    pub(crate) fn is_object(&self) -> bool {
        self.0.is_object() || self.0.is_array()
    }

    pub(crate) fn workspace(&self) -> Workspace {
        match self.0.get("workspacePath") {
            None => Workspace::Missing,
            Some(Value::String(text)) => Workspace::Text(text.clone()),
            Some(_) => Workspace::NoText,
        }
    }

    /// The workspace, or nothing if it is missing or `null`.
    pub(crate) fn workspace_if_any(&self) -> Option<Workspace> {
        self.field("workspacePath").map(|_| self.workspace())
    }

    /// The roots, for people.
    pub(crate) fn roots(&self) -> Vec<PathBuf> {
        match self.workspace() {
            Workspace::Text(text) => split_roots(&text),
            Workspace::Missing | Workspace::NoText => Vec::new(),
        }
    }

    /// The port as a text, if it is something in a condition.
    pub(crate) fn port_text(&self) -> Option<String> {
        let value = self.field("port").filter(|value| is_truthy(value))?;
        Some(text_of(value))
    }

    /// The port as the text that a port variable is compared with.
    pub(crate) fn raw_port_text(&self) -> Option<String> {
        self.0.get("port").map(text_of)
    }

    /// The port, if it can be dialled.
    pub(crate) fn port(&self) -> Option<u16> {
        port_number(&self.port_text()?)
    }

    /// `None` if there is no token field, `Some(None)` if there is one that is empty.
    pub(crate) fn token(&self) -> Option<Option<Token>> {
        let value = self.field("authToken")?;
        Some(is_truthy(value).then(|| Token::from(text_of(value))))
    }

    /// Returns true if both names of the editor are there.
    pub(crate) fn names_editor(&self) -> bool {
        let has = |info: &Value, name| info.get(name).is_some_and(is_truthy);
        let info = self.field("ideInfo");
        info.is_some_and(|info| has(info, "name") && has(info, "displayName"))
    }

    /// `ppid`, if it is something in a condition; a number that is not a process id is 0.
    pub(crate) fn parent(&self) -> Option<u32> {
        let value = self.field("ppid").filter(|value| is_truthy(value))?;
        Some(text_of(value).parse().unwrap_or(0))
    }
}

/// A text as the port of an address, if a URL parser accepts it there.
pub(crate) fn port_number(text: &str) -> Option<u16> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

/// The number at the start of a text, as JavaScript's `parseInt` reads it.
pub(crate) fn leading_number(text: &str) -> Option<u32> {
    let text = text.trim_start();
    let text = text.strip_prefix('+').unwrap_or(text);
    let end = text.find(|c: char| !c.is_ascii_digit());
    text[..end.unwrap_or(text.len())].parse().ok()
}

/// Returns true if JavaScript takes a value for true.
pub fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is) => *is,
        Value::Number(number) => number.as_f64().is_some_and(|number| number != 0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

/// JavaScript's text of a value; what can stand for no port and no token is a mark.
pub(crate) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() => format!("{float}"),
            _ => number.to_string(),
        },
        Value::Bool(is) => is.to_string(),
        Value::Null => "null".to_owned(),
        Value::Array(_) | Value::Object(_) => "[object Object]".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(text: &str) -> Content {
        Content::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_port_may_be_a_number_or_a_text() {
        for (json, expected) in [
            (r#"{"port":4242}"#, Some(4242)),
            (r#"{"port":"4242"}"#, Some(4242)),
            (r#"{"port":4242.0}"#, Some(4242)),
            (r#"{"port":65536}"#, None),
            (r#"{"port":-1}"#, None),
            (r#"{"port":0}"#, None),
            (r#"{"port":true}"#, None),
            (r#"{"port":{}}"#, None),
            ("{}", None),
            ("[]", None),
            ("null", None),
            ("5", None),
        ] {
            assert_eq!(content(json).port(), expected, "{json}");
        }
    }

    #[test]
    fn a_token_is_missing_or_empty_or_there() {
        let exposed = |json| {
            let token = content(json).token();
            token.map(|token| token.map(|token| token.expose().to_owned()))
        };
        assert_eq!(exposed("{}"), None);
        assert_eq!(exposed(r#"{"authToken":null}"#), None);
        assert_eq!(exposed(r#"{"authToken":""}"#), Some(None));
        assert_eq!(exposed(r#"{"authToken":"s"}"#), Some(Some("s".into())));
    }

    #[test]
    fn an_editor_needs_both_names() {
        let named = r#"{"ideInfo":{"name":"a","displayName":"A"}}"#;
        assert!(content(named).names_editor());
        for json in [
            r#"{"ideInfo":{"name":"a"}}"#,
            r#"{"ideInfo":{"name":"","displayName":"A"}}"#,
            r#"{"ideInfo":"a"}"#,
            r#"{"ideInfo":null}"#,
        ] {
            assert!(!content(json).names_editor(), "{json}");
        }
    }
}
