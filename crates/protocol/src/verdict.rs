//! The decision of a person about one revision of a proposal, with their notes for the agent: one type for the loop,
//! the editor protocol and the commands.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// The most that all notes of one verdict may hold, in bytes of UTF-8.
pub const MAX_NOTES: usize = 10_000;

/// A decision about one revision of a proposal, and what the agent is told with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Read")]
pub struct Verdict {
    /// Accepted or not.
    #[serde(flatten)]
    pub decision: Decision,
    /// Remarks for the agent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
}

/// Accepted or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "decision", rename_all = "camelCase")]
pub enum Decision {
    /// The agent is to write it.
    Accept {
        /// The whole text as it stood in the view; none if that is the proposal as it came.
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<String>,
    },
    /// The agent is not to write it.
    Reject,
}

/// A verdict as it is read, so that an error names the field.
#[derive(Deserialize)]
struct Read {
    decision: String,
    content: Option<String>,
    notes: Option<Vec<Note>>,
}

/// A remark for the agent: on lines of the text in the view, or on the whole change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The lines; none for the whole change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<Lines>,
    /// The person's words, where that is not plain with what line they are on.
    pub text: String,
    /// The beginning of the line beside which they were typed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
}

/// Lines of a text, from 0, both of them included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Ends")]
pub struct Lines {
    /// The first.
    pub first: u32,
    /// The last.
    pub last: u32,
}

/// Lines as they are read.
#[derive(Deserialize)]
struct Ends {
    first: u32,
    last: u32,
}

impl TryFrom<Ends> for Lines {
    type Error = &'static str;

    fn try_from(Ends { first, last }: Ends) -> Result<Self, Self::Error> {
        let is_forwards = first <= last;
        let lines = is_forwards.then_some(Self { first, last });
        lines.ok_or("the last comes before the first")
    }
}

impl Lines {
    /// The same without the line at its end.
    pub fn range(self) -> Range<usize> {
        self.first as usize..self.last as usize + 1
    }
}

impl Verdict {
    /// Accepted, without notes; `content` as in [`Decision::Accept`].
    pub fn accept(content: Option<String>) -> Self {
        Decision::Accept { content }.into()
    }

    /// Rejected, without notes.
    pub fn reject() -> Self {
        Decision::Reject.into()
    }

    /// The text that it accepts, if it names one.
    pub fn text(&self) -> Option<&str> {
        match &self.decision {
            Decision::Accept { content } => content.as_deref(),
            Decision::Reject => None,
        }
    }

    /// Returns true if it rejects.
    pub fn is_rejection(&self) -> bool {
        self.decision == Decision::Reject
    }

    /// Drops the blanks around notes, and notes that say nothing.
    ///
    /// # Errors
    /// The number of bytes of the notes, if that is more than [`MAX_NOTES`].
    pub fn tidy_notes(&mut self) -> Result<(), usize> {
        tidy(&mut self.notes)
    }
}

/// Drops the blanks around notes, and notes that say nothing.
///
/// # Errors
/// The number of bytes of the notes, if that is more than [`MAX_NOTES`].
pub fn tidy(notes: &mut Vec<Note>) -> Result<(), usize> {
    for note in &mut *notes {
        let text = note.text.trim();
        if text.len() < note.text.len() {
            note.text = text.to_owned();
        }
    }
    notes.retain(|note| !note.text.is_empty());
    match notes.iter().map(|note| note.text.len()).sum() {
        ..=MAX_NOTES => Ok(()),
        bytes => Err(bytes),
    }
}

/// Returns true if a person who rejects a change that is written already takes it back with these notes: a note on all of it is
/// their reason.
pub fn takes_back(notes: &[Note]) -> bool {
    notes.iter().any(|note| note.lines.is_none())
}

impl From<Decision> for Verdict {
    fn from(decision: Decision) -> Self {
        let notes = Vec::new();
        Self { decision, notes }
    }
}

impl Note {
    /// A remark on the whole change.
    pub fn on_all(text: impl Into<String>) -> Self {
        Self::at(None, text)
    }

    /// A remark on lines, or on the whole change.
    pub fn at(lines: Option<Lines>, text: impl Into<String>) -> Self {
        let text = text.into();
        let on = None;
        Self { lines, text, on }
    }

    /// What stands before words that were typed beside so many lines that are removed, or one that is another by now.
    pub fn about(line: &str, removed: usize) -> String {
        match removed {
            0 => format!("(typed on `{line}`, which has changed since) "),
            1 => format!("(on `{line}`, which is removed) "),
            _ => format!("(on {removed} removed lines, `{line}`) "),
        }
    }

    /// The words alone, and on how many lines they are that were removed then.
    pub fn words(&self) -> (&str, usize) {
        let about = |removed| {
            let about = Self::about(self.on.as_ref()?, removed);
            Some((self.text.strip_prefix(&about)?, removed))
        };
        let count = self
            .text
            .strip_prefix("(on ")
            .and_then(|it| it.split_once(' '));
        let several = count.and_then(|(count, _)| about(count.parse().ok()?));
        { several.or_else(|| about(1)) }
            .or_else(|| about(0))
            .unwrap_or((&self.text, 0))
    }
}

impl TryFrom<Read> for Verdict {
    type Error = String;

    fn try_from(read: Read) -> Result<Self, String> {
        let content = read.content;
        let decision = match read.decision.as_str() {
            "accept" => Decision::Accept { content },
            "reject" => Decision::Reject,
            other => return Err(format!("decision: {other:?} is neither accept nor reject")),
        };
        Ok(Self {
            decision,
            notes: read.notes.unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(value: Value) -> Verdict {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_reason_takes_back_and_notes_on_lines_do_not() {
        let lines = Some(Lines { first: 0, last: 0 });
        let text = "why?".to_owned();
        let on_line = Note::at(lines, text);
        assert!(!takes_back(&[]));
        assert!(!takes_back(std::slice::from_ref(&on_line)));
        assert!(takes_back(&[on_line, Note::on_all("use the table")]));
    }

    #[test]
    fn a_verdict_is_one_object() {
        let lines = Some(Lines { first: 2, last: 4 });
        let text = "why?".to_owned();
        for (verdict, written) in [
            (Verdict::accept(None), json!({"decision": "accept"})),
            (
                Verdict::accept(Some("x".into())),
                json!({"decision": "accept", "content": "x"}),
            ),
            (
                Verdict {
                    decision: Decision::Reject,
                    notes: vec![Note::on_all("no"), Note::at(lines, text)],
                },
                json!({"decision": "reject", "notes": [
                    {"text": "no"}, {"lines": {"first": 2, "last": 4}, "text": "why?"}
                ]}),
            ),
        ] {
            assert_eq!(serde_json::to_value(&verdict).unwrap(), written);
            assert_eq!(read(written), verdict);
        }
        let nulls = json!({"decision": "accept", "content": null, "notes": null});
        assert_eq!(read(nulls), Verdict::accept(None));
    }

    #[test]
    fn what_is_no_verdict_is_named() {
        for (value, why) in [
            (
                json!({"decision": "perhaps"}),
                "decision: \"perhaps\" is neither accept nor reject",
            ),
            (json!({"content": "x"}), "missing field `decision`"),
            (
                json!({"decision": true}),
                "invalid type: boolean `true`, expected a string",
            ),
            (
                json!({"decision": "reject", "notes": [{"text": 1}]}),
                "invalid type: integer `1`, expected a string",
            ),
        ] {
            let error = serde_json::from_value::<Verdict>(value).unwrap_err();
            assert_eq!(error.to_string(), why);
        }
    }

    fn tidied(notes: impl IntoIterator<Item = impl Into<String>>) -> Result<Vec<Note>, usize> {
        let mut verdict = Verdict {
            decision: Decision::Reject,
            notes: notes.into_iter().map(Note::on_all).collect(),
        };
        verdict.tidy_notes().map(|()| verdict.notes)
    }

    #[test]
    fn notes_that_say_nothing_are_none() {
        assert_eq!(tidied(["", " \n\t"]), Ok(Vec::new()));
        let kept = vec![Note::on_all("a\n b"), Note::on_all("c")];
        assert_eq!(tidied(["\n a\n b ", "", "c"]), Ok(kept));
    }

    #[test]
    fn notes_have_one_limit_for_all_of_them() {
        let half = "x".repeat(MAX_NOTES / 2);
        assert!(tidied([&half, &half]).is_ok());
        let more = format!("{half}y");
        assert_eq!(tidied([&half, &more]), Err(MAX_NOTES + 1));
        let wide = "é".repeat(MAX_NOTES);
        assert_eq!(tidied([&half, &wide]), Err(half.len() + 2 * MAX_NOTES));
    }
}
