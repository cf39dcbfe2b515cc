//! Changes that are written already: what is shown is what became of them, beside the text before. They are marked by one more
//! argument of [`OPEN_DIFF`], of which the contract knows nothing: only Pillion's own commands send it.

use serde_json::{Map, Value};

use crate::diff::{OPEN_DIFF, take_flag, take_string};
use crate::verdict::Note;

/// The name of the argument: an object with the text before as `text`, or null if there was no file, the name of the change
/// as `change`, and `isUnclear`, which is true if nobody knows who made it.
pub const WRITTEN_OVER: &str = "writtenOver";

/// A change that stands in the file already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The text before; none if there was no file.
    pub before: Option<String>,
    /// Its name, `7.2`; empty if that is not known.
    pub change: String,
    /// True if nobody knows who made it.
    pub is_unclear: bool,
}

impl Written {
    /// It as an argument.
    pub fn to_argument(&self) -> Value {
        serde_json::json!({
            "text": self.before,
            "change": self.change,
            "isUnclear": self.is_unclear,
        })
    }

    /// The message that the person is shown about such a change.
    pub const NOTE: &str = "This change is already in the file. Accept to keep it. What you exclude or edit is written to the file when you accept. Rejecting changes nothing, unless you give a reason: that takes the change back.";
}

/// Returns true if a person who rejects such a change with these notes takes it back: a note on all of it is their reason.
pub fn takes_back(notes: &[Note]) -> bool {
    notes.iter().any(|note| note.lines.is_none())
}

/// Takes it out of the arguments of a tool call, if it is there.
///
/// # Errors
/// When it is not understood, for the proposer.
pub(super) fn take(arguments: &mut Map<String, Value>) -> Result<Option<Written>, String> {
    match arguments.remove(WRITTEN_OVER) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(mut written)) => {
            let before = match written.get("text") {
                None | Some(Value::Null) => None,
                Some(_) => Some(take_string(&mut written, OPEN_DIFF, "text")?),
            };
            let change = match written.get("change") {
                None | Some(Value::Null) => String::new(),
                Some(_) => take_string(&mut written, OPEN_DIFF, "change")?,
            };
            let is_unclear = take_flag(&mut written, "isUnclear")?;
            Ok(Some(Written {
                before,
                change,
                is_unclear,
            }))
        }
        Some(_) => Err(format!("{OPEN_DIFF}: {WRITTEN_OVER} is not an object")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::verdict::Lines;

    #[test]
    fn a_reason_takes_back_and_notes_on_lines_do_not() {
        let lines = Some(Lines { first: 0, last: 0 });
        let on_line = Note {
            lines,
            text: "why?".to_owned(),
        };
        let reason = Note::on_all("use the table");
        assert!(!takes_back(&[]));
        assert!(!takes_back(std::slice::from_ref(&on_line)));
        assert!(takes_back(&[on_line, reason]));
    }

    #[test]
    fn the_text_before_is_read_as_it_was_sent() {
        for (before, is_unclear) in [
            (None, false),
            (Some(String::new()), true),
            (Some("a\r\n\u{feff}".to_owned()), false),
        ] {
            let written = Written {
                before,
                change: "7.2".to_owned(),
                is_unclear,
            };
            let mut arguments = Map::from_iter([(WRITTEN_OVER.to_owned(), written.to_argument())]);
            assert_eq!(take(&mut arguments), Ok(Some(written)));
            assert!(arguments.is_empty());
        }
        assert_eq!(take(&mut Map::new()), Ok(None));
        let unnamed = json!({"text": "a"});
        let mut arguments = Map::from_iter([(WRITTEN_OVER.to_owned(), unnamed)]);
        let change = take(&mut arguments).unwrap().unwrap().change;
        assert_eq!(change, "");
        for wrong in [
            json!("a"),
            json!([]),
            json!({"text": 1}),
            json!({"change": 7.2}),
            json!({"isUnclear": 1}),
        ] {
            let mut arguments = Map::from_iter([(WRITTEN_OVER.to_owned(), wrong)]);
            assert!(take(&mut arguments).is_err());
        }
    }
}
