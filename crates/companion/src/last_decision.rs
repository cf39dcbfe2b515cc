//! Owns what a person decided last, and what came of it: a phrase for status lines. A state machine without I/O.

use std::path::Path;

use pillion_changes::WriteOutcome;
use pillion_text::visible;
use pillion_view::{DiffId, Phrase};

/// The last decision; none as long as a newer proposal waits.
#[derive(Debug, Default)]
pub(crate) struct LastDecision(Option<Decided>);

#[derive(Debug)]
struct Decided {
    of: DiffId,
    name: String,
    /// The agent in whose own window it was decided, if so: which way, only the file tells.
    elsewhere: Option<String>,
    phrase: Phrase,
}

impl LastDecision {
    /// A person has accepted or rejected a change of this file.
    pub(crate) fn decided(&mut self, of: DiffId, path: &str, is_accepted: bool) {
        let word = if is_accepted { "accepted" } else { "rejected" };
        self.is(of, path, word, None);
    }

    /// A person has answered in its own window what this agent asked about a change of this file.
    pub(crate) fn answered(&mut self, of: DiffId, path: &str, agent: &str) {
        let place = format!("answered in {agent}'s own window");
        self.is(of, path, &place, Some(agent.to_owned()));
    }

    fn is(&mut self, of: DiffId, path: &str, what: &str, elsewhere: Option<String>) {
        let name = Path::new(path).file_name().unwrap_or_default();
        let name = visible::one_line(&name.to_string_lossy()).to_string();
        let phrase = Phrase {
            text: format!("{name}: {what}"),
            is_written: false,
        };
        self.0 = Some(Decided {
            of,
            name,
            elsewhere,
            phrase,
        });
    }

    /// This came of what was accepted, or answered elsewhere: with no, if that is known.
    pub(crate) fn came_of(&mut self, id: DiffId, outcome: &WriteOutcome, is_rejected: bool) {
        if let Some(decided) = self.0.as_mut().filter(|it| it.of == id) {
            let what = match &decided.elsewhere {
                Some(agent) => {
                    let place = format!("in {agent}'s own window");
                    match outcome {
                        WriteOutcome::Written => format!("accepted {place}, and written"),
                        _ if is_rejected => format!("rejected {place}"),
                        other => format!("{} (answered {place})", other.name()),
                    }
                }
                None => outcome.to_string(),
            };
            decided.phrase = Phrase {
                text: format!("{}: {what}", decided.name),
                is_written: *outcome == WriteOutcome::Written,
            };
        }
    }

    /// There is something to decide. Returns true if the phrase goes.
    pub(crate) fn proposed(&mut self) -> bool {
        self.0.take().is_some()
    }

    pub(crate) fn phrase(&self) -> Option<Phrase> {
        self.0.as_ref().map(|it| it.phrase.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_of_it_is_said_of_the_last_decision_alone() {
        let mut last = LastDecision::default();
        let text = |last: &LastDecision| last.phrase().map(|it| it.text);
        let why = "Gemini CLI did not write it".to_owned();
        for (outcome, expected) in [
            (WriteOutcome::Written, "a␊.txt: written"),
            (
                WriteOutcome::WrittenDifferently,
                "a␊.txt: written differently",
            ),
            (
                WriteOutcome::NotWritten { why },
                "a␊.txt: not written: Gemini CLI did not write it",
            ),
        ] {
            last.decided(DiffId(1), "/w/a\n.txt", true);
            assert_eq!(text(&last).unwrap(), "a␊.txt: accepted");
            last.came_of(DiffId(2), &outcome, false);
            assert_eq!(text(&last).unwrap(), "a␊.txt: accepted");
            last.came_of(DiffId(1), &outcome, false);
            assert_eq!(text(&last).unwrap(), expected);
        }
        last.decided(DiffId(2), "/w/b.txt", false);
        assert_eq!(text(&last).unwrap(), "b.txt: rejected");
        last.came_of(DiffId(1), &WriteOutcome::Written, false);
        assert_eq!(text(&last).unwrap(), "b.txt: rejected");
        last.answered(DiffId(3), "/w/c.txt", "Claude Code");
        let place = "answered in Claude Code's own window";
        assert_eq!(text(&last).unwrap(), format!("c.txt: {place}"));
        last.came_of(DiffId(3), &WriteOutcome::Written, false);
        let there = "in Claude Code's own window";
        let written = format!("c.txt: accepted {there}, and written");
        assert_eq!(text(&last).unwrap(), written);
        let why = "Claude Code did not write it".to_owned();
        let outcome = WriteOutcome::NotWritten { why };
        last.came_of(DiffId(3), &outcome, false);
        let unknown = format!("c.txt: not written ({place})");
        assert_eq!(text(&last).unwrap(), unknown);
        last.came_of(DiffId(3), &outcome, true);
        assert_eq!(text(&last).unwrap(), format!("c.txt: rejected {there}"));
        assert!(last.proposed());
        assert_eq!(last.phrase(), None);
    }
}
