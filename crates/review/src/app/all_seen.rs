//! `A`: accepts all pending diffs of which everything was on the screen, one after the other. The gate takes none that follow each
//! other like the repeats of a key, and what it asks about one is left to that.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use pillion_text::counted;
use pillion_view::{ProposalKey, Proposed, Refusal, Seen};

use super::review_delay::{LOOK, Press};
use super::{App, Question, Tone};
use crate::view::View;

/// The time from a ruling to the next decision: no key repeats as slowly.
const BETWEEN: Duration = Duration::from_millis(200);

/// Diffs that are being accepted.
#[derive(Debug)]
pub struct Accepting {
    left: VecDeque<ProposalKey>,
    /// What the person had seen when they answered.
    seen: Seen,
    /// The time from which the next one may be sent.
    due: Instant,
    accepted: usize,
    refused: Vec<String>,
}

impl App {
    /// Notes that what is in sight has been there for long enough.
    pub(super) fn note_look(&mut self, now: Instant) {
        let looked_at = self.delay.looked_at(&Press::alone(now), self.subject());
        if looked_at.is_some_and(|time| time >= LOOK) {
            self.views[self.current].note_look();
        }
    }

    /// The pending diffs that would be accepted.
    pub fn all_seen(&self) -> impl Iterator<Item = &View> {
        self.views.iter().filter(|view| view.is_all_seen())
    }

    /// Asks whether all that was seen is to be accepted, or does so once that was answered.
    pub(super) fn accept_seen(&mut self, press: &Press, now: Instant) {
        let keys: VecDeque<_> = self.all_seen().map(Proposed::key).collect();
        let question = match keys.len() {
            0 => {
                let text = "no pending diff has been on the screen as a whole";
                return self.say(Tone::Info, text, now);
            }
            1 => "1 diff has been on the screen as a whole: <answer> accepts it".to_owned(),
            count => {
                format!("{count} diffs have been on the screen as a whole: <answer> accepts them")
            }
        };
        let question = question.replace("<answer>", &self.keys.fill("<answer>"));
        if !self.is_asked(Question::AcceptSeen, &question) {
            return self.ask(Question::AcceptSeen, question, now);
        }
        self.accepting = Some(Accepting {
            left: keys,
            seen: self.seen(press),
            due: now,
            accepted: 0,
            refused: Vec::new(),
        });
        self.answered_question();
    }

    /// The time at which the next one of them is sent.
    pub(super) fn accepts_next(&self) -> Option<Instant> {
        self.accepting.as_ref().map(|accepting| accepting.due)
    }

    /// Sends the next one of them, if it is time, or says what came of all.
    pub(super) fn accept_next(&mut self, now: Instant) {
        let is_deciding = self.views.iter().any(|view| view.deciding.is_some());
        let is_due = |accepting: &mut Accepting| !is_deciding && accepting.due <= now;
        let Some(mut accepting) = self.accepting.take_if(is_due) else {
            return;
        };
        while let Some(key) = accepting.left.pop_front() {
            let at = self.views.position(key.id).ok();
            let is_meant = |at: &usize| {
                let view = &self.views[*at];
                view.key() == key && view.is_all_seen()
            };
            if let Some(at) = at.filter(is_meant) {
                let seen = Seen {
                    unseen_hunks: Some(self.views[at].unseen()),
                    ..accepting.seen.clone()
                };
                self.accept_at(at, seen);
                self.accepting = Some(accepting);
                return;
            }
        }
        let accepted = format!("accepted {}", counted(accepting.accepted, "diff"));
        match &accepting.refused[..] {
            [] => self.say(Tone::Good, accepted, now),
            left => {
                let text = format!("{accepted}; left: {}", left.join(", "));
                self.say(Tone::Warning, text, now);
            }
        }
    }

    /// The gate has ruled about one of them. Returns true if it is one, which is told with all others.
    pub(super) fn accepted_next(
        &mut self,
        name: &str,
        refusal: Option<&Refusal>,
        now: Instant,
    ) -> bool {
        let Some(accepting) = &mut self.accepting else {
            return false;
        };
        accepting.due = now + BETWEEN;
        match refusal {
            None => accepting.accepted += 1,
            Some(refusal) => accepting
                .refused
                .push(format!("{name}: {}", refusal.message)),
        }
        true
    }
}
