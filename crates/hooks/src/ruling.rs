//! The rulings about the changes of a call, and the words with which the agent's model is told of them.

use pillion_protocol::{Note, remarks};
use pillion_text::hunks::{self, Hunk};
use pillion_text::{Text, unified};

use crate::change::{After, Change};

/// The ruling about a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Ruling {
    /// There is nothing to decide: the call goes the agent's own way.
    Pass,
    /// It changes files in a way that cannot be shown, as one sentence says: the agent asks the person itself.
    Unclear(String),
    /// A person accepted at least one of its changes.
    Accepted(Accepted),
    /// It is not to be carried out. The model is told why.
    Denied(String),
    /// A person has approved exactly these changes before.
    Approved,
    /// The tool has run, and this is what the model has to be told of what the person decided.
    Told(String),
}

/// The changes that a person accepted.
#[derive(Debug, Clone, PartialEq)]
pub struct Accepted {
    /// All changes of the call, in their order.
    pub files: Vec<Reviewed>,
    /// The text that the model is told; none if everything was accepted as proposed, without notes.
    pub context: Option<String>,
}

/// A change that a person has decided about.
#[derive(Debug, Clone, PartialEq)]
pub struct Reviewed {
    /// The change as the agent proposed it, of the text that the file had when the person decided.
    pub change: Change,
    /// The content that is to be written; none if the file is to stay as it is.
    pub written: Option<After>,
    /// True if the file has changed since the agent proposed it, so that the agent's own call would write something else.
    pub has_changed: bool,
}

/// A person's decision about one change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// The accepted text; none if the change was rejected.
    pub accepted: Option<String>,
    /// The text that the file had then; none if it was not there.
    pub before: Option<String>,
    /// The notes that they had about it.
    pub notes: Vec<Note>,
}

impl Reviewed {
    /// The text that is to be written; none if the file is to be deleted, or to stay as it is.
    pub(crate) fn text(&self) -> Option<&str> {
        self.written.as_ref()?.text()
    }
}

impl Accepted {
    /// Returns the text for the model where the agent has no way to write just what was accepted, for this reason.
    pub(crate) fn not_written(&self, why: &str) -> String {
        let told = self.context.iter().map(String::as_str);
        let why = remarks::not_written(why);
        told.chain([why.as_str()]).collect::<Vec<_>>().join("\n")
    }

    /// Returns the text for the model with this before it.
    pub(crate) fn told_after(&self, before: Vec<String>) -> Option<String> {
        let told: Vec<_> = before.into_iter().chain(self.context.clone()).collect();
        (!told.is_empty()).then(|| told.join("\n"))
    }

    /// The texts of which the diff that the model is told lacks the end, with their files.
    pub fn told_in_part(&self) -> impl Iterator<Item = (&str, &str)> {
        let files = self.files.iter().filter_map(|file| {
            let written = file.text()?;
            let proposed = file.change.after.text().unwrap_or_default();
            Some((file.change.path.as_str(), proposed, written))
        });
        let in_part = files.filter(|(_, proposed, written)| {
            proposed != written && !remarks::tells_all(&unified::unified(proposed, written))
        });
        in_part.map(|(path, _, written)| (path, written))
    }

    /// Returns true if all of it is to be written as the agent proposed it.
    pub fn is_as_proposed(&self) -> bool {
        let is_as_proposed = |file: &Reviewed| {
            !file.has_changed && file.written.as_ref() == Some(&file.change.after)
        };
        self.files.iter().all(is_as_proposed)
    }
}

impl Ruling {
    /// Applies these decisions to these changes, in the same order.
    pub fn of(changes: Vec<Change>, decided: Vec<Decided>) -> Self {
        let (mut files, mut told) = (Vec::new(), Vec::new());
        for (change, decided) in changes.into_iter().zip(decided) {
            let (file, words) = reviewed(change, decided);
            files.push(file);
            told.extend(words);
        }
        let is_any_written = files.iter().any(|file| file.written.is_some());
        let told = told.join("\n");
        if !is_any_written {
            return Self::Denied(told);
        }
        Self::Accepted(Accepted {
            files,
            context: Some(told).filter(|told| !told.is_empty()),
        })
    }
}

/// Returns the review of a change, and the text that the model is told about it.
fn reviewed(mut change: Change, decided: Decided) -> (Reviewed, Option<String>) {
    let Decided {
        accepted,
        before,
        notes,
    } = decided;
    let proposed = change.after.text().unwrap_or_default();
    let Some(accepted) = accepted else {
        let told = remarks::decided(false, &change.path, &notes, proposed);
        let file = Reviewed {
            change,
            written: None,
            has_changed: false,
        };
        return (file, Some(told));
    };
    let has_changed = before != change.before;
    let is_merged = has_changed && has_newer(&change, before.as_deref(), &accepted);
    change.before = before;
    let path = &change.path;
    let after = match accepted == proposed {
        true => change.after.clone(),
        false => After::Text(accepted.clone()),
    };
    let is_nothing_left = change.before.as_deref() == after.text()
        && !(change.cell.is_some() && accepted == proposed);
    let edits = match accepted == proposed {
        _ if is_nothing_left => Some(remarks::nothing_left(path)),
        true => None,
        false => Some(remarks::edited(
            path,
            &unified::unified(proposed, &accepted),
        )),
    };
    let told = [
        has_changed.then(|| remarks::over_newer(path, is_merged)),
        edits,
        (!notes.is_empty()).then(|| remarks::decided(true, path, &notes, &accepted)),
    ];
    let told: Vec<_> = told.into_iter().flatten().collect();
    let file = Reviewed {
        change,
        written: (!is_nothing_left).then_some(after),
        has_changed,
    };
    (file, (!told.is_empty()).then(|| told.join("\n")))
}

/// Returns true if an accepted text has all that became of the file since this change was proposed.
fn has_newer(change: &Change, newer: Option<&str>, accepted: &str) -> bool {
    let (Some(before), Some(newer)) = (&change.before, newer) else {
        return false;
    };
    let [before, accepted, newer] = [before, accepted, newer].map(Text::new);
    let (became, left) = (
        hunks::between(&before, &newer),
        hunks::between(&newer, &accepted),
    );
    let touches = |made: &Hunk, changed: &Hunk| match made.after.is_empty() {
        true => changed.before.start <= made.after.start && made.after.start <= changed.before.end,
        false => changed.before.start < made.after.end && made.after.start < changed.before.end,
    };
    !became
        .iter()
        .any(|made| left.iter().any(|it| touches(made, it)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(before: Option<&str>, after: After) -> Change {
        Change::of_file("/a".to_owned(), before.map(str::to_owned), after)
    }

    fn text(text: &str) -> After {
        After::Text(text.to_owned())
    }

    /// A decision about a file that has not changed, if it had the text "a\n".
    fn decided(accepted: Option<&str>, notes: &[&str]) -> Decided {
        decided_over(Some("a\n"), accepted, notes)
    }

    fn decided_over(before: Option<&str>, accepted: Option<&str>, notes: &[&str]) -> Decided {
        Decided {
            accepted: accepted.map(str::to_owned),
            before: before.map(str::to_owned),
            notes: notes.iter().map(|text| Note::on_all(*text)).collect(),
        }
    }

    fn ruled(change: Change, decided: Decided) -> (Option<Option<After>>, String) {
        match Ruling::of(vec![change], vec![decided]) {
            Ruling::Accepted(Accepted { mut files, context }) => {
                (Some(files.remove(0).written), context.unwrap_or_default())
            }
            Ruling::Denied(told) => (None, told),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_was_accepted_as_proposed_is_told_only_with_its_notes() {
        for after in [text("b\n"), text(""), After::Deleted] {
            let proposed = after.text().unwrap_or_default().to_owned();
            let change = change(Some("a\n"), after.clone());
            let accepted = |notes| decided(Some(&proposed), notes);
            let expected = (Some(Some(after)), String::new());
            assert_eq!(ruled(change.clone(), accepted(&[])), expected);
            let (_, told) = ruled(change, accepted(&["and the tests?"]));
            assert_eq!(
                told,
                "The user accepted your change to /a and says: and the tests?"
            );
        }
    }

    #[test]
    fn what_was_edited_is_told_as_a_diff() {
        let change = change(Some("a\n"), text("b\n"));
        let (written, told) = ruled(change, decided(Some("c\n"), &["c is better"]));
        assert_eq!(written, Some(Some(text("c\n"))));
        assert_eq!(
            told,
            "The user edited your change to /a before accepting it. From what you proposed to what was accepted:\n\
             @@ -1 +1 @@\n-b\n+c\n\n\
             The user accepted your change to /a and says: c is better"
        );
    }

    #[test]
    fn a_change_of_which_nothing_is_left_is_denied_like_a_rejected_one() {
        let change = || change(Some("a\n"), text("b\n"));
        let (written, told) = ruled(change(), decided(Some("a\n"), &[]));
        assert_eq!(written, None);
        assert!(told.contains("nothing is left"), "{told}");
        let (written, told) = ruled(change(), decided(None, &["use a table"]));
        assert_eq!(written, None);
        assert_eq!(
            told,
            "The user rejected your change to /a and says: use a table"
        );
    }

    #[test]
    fn over_a_newer_text_the_call_is_not_as_proposed_and_the_model_is_told() {
        for (newer, accepted, expected, is_merged) in [
            (Some("new\na\n"), "b\n", Some(text("b\n")), false),
            (Some("a\nnew\n"), "b\nnew\n", Some(text("b\nnew\n")), true),
            (
                Some("a\nnew\nmore\n"),
                "b\nnew\n",
                Some(text("b\nnew\n")),
                false,
            ),
            (None, "b\n", Some(text("b\n")), false),
            (Some("b\n"), "b\n", None, true),
        ] {
            let change = change(Some("a\n"), text("b\n"));
            let decided = decided_over(newer, Some(accepted), &["why?"]);
            let told = match Ruling::of(vec![change], vec![decided]) {
                Ruling::Accepted(all) => {
                    assert!(!all.is_as_proposed());
                    assert_eq!(all.files[0].change.before.as_deref(), newer);
                    assert_eq!(all.files[0].written, expected);
                    all.context.unwrap()
                }
                Ruling::Denied(told) if expected.is_none() => told,
                other => panic!("{other:?}"),
            };
            let first = told.lines().next().unwrap();
            assert_eq!(first, remarks::over_newer("/a", is_merged), "{newer:?}");
            assert!(told.ends_with("says: why?"), "{told}");
        }
    }

    #[test]
    fn of_several_files_each_has_its_own_decision() {
        let files = || vec![change(None, text("b\n")), change(Some("x"), After::Deleted)];
        let added = || decided_over(None, Some("b\n"), &[]);
        let ruling = Ruling::of(files(), vec![added(), decided(None, &[])]);
        let Ruling::Accepted(accepted) = ruling else {
            panic!("{ruling:?}");
        };
        assert!(!accepted.is_as_proposed());
        assert_eq!(accepted.files[0].written, Some(text("b\n")));
        assert_eq!(accepted.files[1].written, None);
        let told = Some("The user rejected your change to /a.".to_owned());
        assert_eq!(accepted.context, told);
        let ruling = Ruling::of(
            files(),
            vec![added(), decided_over(Some("x"), Some(""), &[])],
        );
        assert!(
            matches!(ruling, Ruling::Accepted(all) if all.is_as_proposed() && all.context.is_none())
        );
    }
}
