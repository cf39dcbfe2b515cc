//! The decision that a person makes of a diff, for the gate to rule.

use pillion_protocol::{Decision, Note, Verdict};
use pillion_text::fingerprint;
use pillion_view::{By, Decide, Proposed, Seen, Unseen};

use super::Judged;

impl Judged {
    /// The hunks that would be accepted unseen, for the gate.
    pub fn unseen(&self) -> Unseen {
        let is_hidden =
            self.proposal.hidden_before().is_some() || self.proposal.hidden_after().is_some();
        if is_hidden {
            return Unseen { hunks: 1, of: 1 };
        }
        let seen = self.seen_hunks();
        Unseen {
            hunks: seen.unseen,
            of: seen.of,
        }
    }

    /// The proposal as it stands is accepted.
    pub fn acceptance(&self, seen: Seen, notes: Vec<Note>) -> Box<Decide> {
        let proposal = &self.proposal;
        let base = (!proposal.is_as_it_came()).then(|| fingerprint::of(proposal.original()));
        Box::new(Decide {
            key: self.key(),
            verdict: Verdict {
                notes,
                ..Verdict::accept(Some(proposal.text()))
            },
            by: By::Seen(seen),
            base,
        })
    }

    /// It is rejected.
    pub fn rejection(&self, seen: Seen, notes: Vec<Note>) -> Box<Decide> {
        Box::new(Decide {
            key: self.key(),
            verdict: Verdict {
                decision: Decision::Reject,
                notes,
            },
            by: By::Seen(seen),
            base: None,
        })
    }

    /// The message once the agent gets what was accepted.
    pub fn accepted(&self) -> String {
        let count = self.proposal.count();
        let name = &self.target.shown;
        if self.takes_for_rejection() {
            format!("{name}: the agent treats this as a rejection")
        } else if self.proposal.is_nothing() && self.diff.written.is_none() {
            format!("accepted {name} without any of its hunks: nothing is left to be written")
        } else if count.out > 0 {
            let kept = count.hunks - count.out;
            format!("accepted {name} with {kept} of {} hunks", count.hunks)
        } else {
            format!("accepted {name}")
        }
    }

    /// The message once the agent gets the rejection.
    pub fn rejected(&self, has_reason: bool) -> String {
        let name = &self.target.shown;
        match (&self.diff.written, has_reason) {
            (None, _) => format!("rejected {name}"),
            (Some(_), true) => name.clone(),
            (Some(_), false) => format!("rejected {name}, which stays unseen"),
        }
    }
}
