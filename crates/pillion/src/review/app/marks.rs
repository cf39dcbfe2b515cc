//! What the marks of hunks mean, in words.

use crate::review::proposal::Marks;
use crate::text::hunks::Mark;

/// One hunk, beside its number.
pub fn name(mark: Mark) -> &'static str {
    match mark {
        Mark::New => "new",
        Mark::Changed => "changed since",
        Mark::Reverts => "would undo a newer change",
        Mark::Conflict => "conflicts with a newer change",
    }
}

/// All hunks of a proposal, as one line.
pub fn note(marks: &Marks) -> Option<String> {
    let hunks = |count: usize| match count {
        1 => "1 hunk".to_owned(),
        count => format!("{count} hunks"),
    };
    let mut parts = Vec::new();
    let newer = marks.reverts + marks.conflicts;
    if newer > 0 {
        parts.push(format!(
            "{} would undo newer changes of the file",
            hunks(newer)
        ));
        if marks.conflicts > 0 {
            parts.push(format!("{} of the same lines", marks.conflicts));
        }
    }
    if marks.changed > 0 {
        parts.push(format!(
            "{} changed since you decided",
            hunks(marks.changed)
        ));
    }
    if marks.new > 0 {
        parts.push(format!("{} new since you looked", hunks(marks.new)));
    }
    (!parts.is_empty()).then(|| parts.join(" · "))
}

/// Why accepting needs a second thought.
pub fn doubt(marks: &Marks) -> Option<&'static str> {
    if marks.doubtful == 0 {
        return None;
    }
    Some(if marks.reverts + marks.conflicts > 0 {
        "a hunk that is in undoes newer changes of the file: a again accepts it"
    } else {
        "a hunk changed since you took it out: n goes there, a again accepts it"
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_says_what_to_look_at_and_nothing_else() {
        assert_eq!(note(&Marks::default()), None);
        let marks = Marks {
            new: 1,
            changed: 2,
            reverts: 1,
            conflicts: 1,
            doubtful: 0,
        };
        let said = "2 hunks would undo newer changes of the file · 1 of the same lines · \
                    2 hunks changed since you decided · 1 hunk new since you looked";
        assert_eq!(note(&marks).as_deref(), Some(said));
        assert_eq!(doubt(&marks), None);
    }
}
