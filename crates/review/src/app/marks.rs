//! What the marks of hunks mean, in words.

use pillion_text::hunks::Mark;

use crate::proposal::Marks;

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
    let mut parts: Vec<String> = Vec::new();
    let mut count = |count: usize, one: &str, several: &str| {
        let subject = match (count, parts.is_empty()) {
            (0, _) => return,
            (1, true) => "1 hunk".to_owned(),
            (count, true) => format!("{count} hunks"),
            (count, false) => count.to_string(),
        };
        let phrase = if count == 1 { one } else { several };
        parts.push(format!("{subject} {phrase}"));
    };
    count(
        marks.reverts,
        "would undo a newer change",
        "would undo newer changes",
    );
    count(
        marks.conflicts,
        "conflicts with a newer change",
        "conflict with newer changes",
    );
    count(
        marks.changed,
        "changed since you decided",
        "changed since you decided",
    );
    count(marks.new, "new since you looked", "new since you looked");
    (!parts.is_empty()).then(|| parts.join(" · "))
}

/// Of a proposal that replaced another not all that is new was on the screen.
pub const UNSEEN: &str = "some new changes were not on the screen: n goes on, a again accepts";

/// Why accepting needs a second thought.
pub fn doubt(marks: &Marks) -> Option<&'static str> {
    if marks.doubtful == 0 {
        return None;
    }
    Some(if marks.reverts + marks.conflicts > 0 {
        "an included hunk undoes newer changes to the file: a again accepts it"
    } else {
        "a hunk changed since you took it out: n goes to it, a again accepts it"
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(reverts: usize, conflicts: usize, changed: usize, new: usize) -> Marks {
        Marks {
            new,
            changed,
            reverts,
            conflicts,
            doubtful: 0,
        }
    }

    #[test]
    fn a_note_says_what_to_look_at_and_nothing_else() {
        assert_eq!(note(&Marks::default()), None);
        let all = "2 hunks would undo newer changes · 1 conflicts with a newer change · \
                   2 changed since you decided · 1 new since you looked";
        assert_eq!(note(&marks(2, 1, 2, 1)).as_deref(), Some(all));
        assert_eq!(doubt(&marks(2, 1, 2, 1)), None);
    }

    #[test]
    fn each_count_of_a_note_stands_for_itself_and_one_is_singular() {
        let text = |marks| note(&marks).unwrap();
        assert_eq!(text(marks(1, 0, 0, 0)), "1 hunk would undo a newer change");
        let one = "1 hunk would undo a newer change · 2 conflict with newer changes";
        assert_eq!(text(marks(1, 2, 0, 0)), one);
        assert_eq!(
            text(marks(0, 1, 0, 0)),
            "1 hunk conflicts with a newer change"
        );
        assert_eq!(
            text(marks(0, 3, 0, 0)),
            "3 hunks conflict with newer changes"
        );
        assert_eq!(
            text(marks(0, 0, 1, 3)),
            "1 hunk changed since you decided · 3 new since you looked"
        );
    }
}
