//! The meaning of the marks of hunks, in words.

use pillion_text::counted;
use pillion_text::hunks::{Hunk, Mark};
use pillion_view::Against;

/// The phrases for one hunk with a mark, and for several: what matters most comes first.
const PHRASES: [(Mark, &str, &str); 5] = [
    (
        Mark::Reverts,
        "would undo a newer change",
        "would undo newer changes",
    ),
    (
        Mark::Conflict,
        "conflicts with a newer change",
        "conflict with newer changes",
    ),
    (
        Mark::Overwrites,
        "replaces what you wrote",
        "replace what you wrote",
    ),
    (
        Mark::Changed,
        "changed since you took it out",
        "changed since you took them out",
    ),
    (Mark::New, "new since you looked", "new since you looked"),
];

/// One hunk, beside its number.
pub fn name(mark: Mark) -> &'static str {
    match mark {
        Mark::New => "new",
        Mark::Changed => "changed since you took it out",
        Mark::Overwrites => "replaces what you wrote",
        Mark::Reverts => "would undo a newer change",
        Mark::Conflict => "conflicts with a newer change",
    }
}

/// All hunks of a proposal, as one line.
pub fn note(hunks: &[Hunk]) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    for (mark, one, several) in PHRASES {
        let marked = hunks.iter().filter(|hunk| hunk.mark == Some(mark));
        let count = marked.count();
        let subject = match (count, parts.is_empty()) {
            (0, _) => continue,
            (count, true) => counted(count, "hunk"),
            (count, false) => count.to_string(),
        };
        let phrase = if count == 1 { one } else { several };
        parts.push(format!("{subject} {phrase}"));
    }
    (!parts.is_empty()).then(|| parts.join(" · "))
}

/// The numbers of hunks that would be accepted although they go against something else.
pub fn against(hunks: &[Hunk]) -> Against {
    let count = |wanted: &[Mark]| {
        let found = hunks.iter().filter(|hunk| !hunk.out);
        found
            .filter(|hunk| hunk.mark.is_some_and(|mark| wanted.contains(&mark)))
            .count()
    };
    Against {
        newer: count(&[Mark::Reverts, Mark::Conflict]),
        written: count(&[Mark::Overwrites]),
        taken_out: count(&[Mark::Changed]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many hunks of each kind, all of them out.
    fn marks(reverts: usize, conflicts: usize, changed: usize, new: usize) -> Vec<Hunk> {
        let counts = [reverts, conflicts, 0, changed, new];
        let marks = PHRASES.iter().zip(counts);
        let hunks = marks.flat_map(|((mark, ..), count)| {
            let hunk = Hunk {
                out: true,
                mark: Some(*mark),
                ..Hunk::new(0..1, 0..1)
            };
            vec![hunk; count]
        });
        hunks.collect()
    }

    #[test]
    fn a_note_says_what_to_look_at_and_nothing_else() {
        assert_eq!(note(&[]), None);
        let all = "2 hunks would undo newer changes · 1 conflicts with a newer change · \
                   2 changed since you took them out · 1 new since you looked";
        assert_eq!(note(&marks(2, 1, 2, 1)).as_deref(), Some(all));
        assert_eq!(
            against(&marks(2, 1, 2, 1)),
            Against::default(),
            "all are out"
        );
        let mut accepted = marks(2, 1, 2, 1);
        accepted.iter_mut().for_each(|hunk| hunk.out = false);
        let expected = Against {
            newer: 3,
            written: 0,
            taken_out: 2,
        };
        assert_eq!(against(&accepted), expected);
    }

    #[test]
    fn each_count_of_a_note_stands_for_itself_and_one_is_singular() {
        let text = |hunks: Vec<Hunk>| note(&hunks).unwrap();
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
            "1 hunk changed since you took it out · 3 new since you looked"
        );
    }
}
