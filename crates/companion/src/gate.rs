//! The gate: whether a decision counts. The one home of what was seen, how long to wait and what is doubted, for
//! every view: a view states what it knows ([`Seen`](pillion_view::Seen)), and shows the sentence that it is answered.
//!
//! A state machine: time and facts come in. The state of the file at that moment is looked up beside the loop.

mod doubts;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use pillion_view::decision::{
    FILE_CHANGED, HELD_DOWN, HeldKey, LOOK, NOT_SEEN, TEXT_CHANGED, TOO_SOON,
};
use pillion_view::{By, Decide, DiffId, ProposalKey, Refusal};

pub(crate) use self::doubts::{Doubt, Weighed, weigh, weigh_blind};

/// What is added to a question that is answered before anybody can have read it. The wait goes on as it began.
const TOO_EARLY: &str = " (this came too soon after the question)";

/// Who types on pauses for less: after a decision, nothing else is meant for what comes then.
const PAUSE: Duration = Duration::from_millis(300);

/// The state of the gate.
#[derive(Debug, Default)]
pub struct Gate {
    /// The last decision that a person typed, whether or not it counted.
    last: Option<Instant>,
    key: HeldKey,
    /// The last decision that passed, and whether its person has paused since.
    passed: Option<(Instant, bool)>,
    /// The last question about each diff.
    asked: HashMap<DiffId, Asked>,
}

#[derive(Debug)]
struct Asked {
    key: ProposalKey,
    text: String,
    doubts: Vec<Doubt>,
    at: Instant,
}

impl Gate {
    /// Checks that the person can have meant this, judged by when it came.
    pub fn look(&mut self, decide: &Decide, now: Instant) -> Result<(), Refusal> {
        let Some(seen) = decide.by.seen() else {
            return Ok(());
        };
        if !seen.is_typed {
            let text = "only what you type for this diff decides";
            return Err(Refusal::new("notTyped", text));
        }
        let former = self.last.replace(now);
        let pause = former.map_or(Duration::MAX, |at| now.saturating_duration_since(at));
        // On a busy machine the answer to the last one takes longer than the key needs to repeat: only the view knows then.
        let (pause, missed) = match seen.pauses.split_last() {
            Some((last, missed)) => (pause.min(*last), missed),
            None => (pause, &[][..]),
        };
        for missed in missed {
            self.key.is_held_after(*missed);
        }
        let is_held = self.key.is_held_after(pause);
        let Some(drawn_for) = seen.drawn_for else {
            let text = "this has not been on the screen yet: look at it first";
            return Err(Refusal::new(NOT_SEEN, text));
        };
        // A key that types a whole command repeats more slowly. A pause counts while this one is on the screen.
        if let Some((_, has_paused)) = &mut self.passed {
            let is_beside_it = pause <= drawn_for || drawn_for >= LOOK;
            *has_paused |= pause >= PAUSE && is_beside_it;
        }
        let refused = |code, text| Err(Refusal::new(code, text));
        if is_held {
            let text = "key repeat ignored: release the key and press it again";
            return refused(HELD_DOWN, text);
        }
        if drawn_for < LOOK {
            let text = match decide.key.revision {
                1 => "this has only just opened: look at it, then decide again",
                _ => "a newer proposal has only just opened: look at it, then decide again",
            };
            return refused(TOO_SOON, text);
        }
        let goes_on = |(at, has_paused): (Instant, bool)| {
            !has_paused && drawn_for < now.saturating_duration_since(at)
        };
        if self.passed.is_some_and(goes_on) {
            let text = "you have typed on since your last decision: pause, then decide again";
            return refused(HELD_DOWN, text);
        }
        self.passed = Some((now, false));
        Ok(())
    }

    /// Checks that what is doubted about accepting `text` has been asked before, and is accepted all the same.
    ///
    /// # Errors
    /// The question.
    pub(crate) fn ask(
        &mut self,
        decide: &Decide,
        text: &str,
        mut doubts: Vec<Doubt>,
        now: Instant,
    ) -> Result<(), Refusal> {
        let key = decide.key;
        if let By::Named { despite_change } = decide.by {
            // Who repeats a command has not looked at the file for that.
            let has_changed = |it: &Doubt| matches!(it, Doubt::FileChanged(_));
            if !despite_change && doubts.iter().any(has_changed) {
                return Err(file_changed(key));
            }
            doubts.retain(|it| !has_changed(it));
        }
        if doubts.is_empty() {
            return Ok(());
        }
        let answers = decide.by.seen().and_then(|seen| seen.answers);
        let asked = self.asked.get(&key.id).filter(|_| answers != Some(false));
        let asked = asked.filter(|asked| asked.key == key && asked.text == text);
        let is_known = |asked: &&Asked| doubts.iter().all(|doubt| asked.covers(doubt));
        let mut refusal = question(&doubts, answers.is_none());
        let at = match asked.filter(is_known) {
            Some(asked) if now.saturating_duration_since(asked.at) >= LOOK => return Ok(()),
            Some(asked) => {
                refusal.message += TOO_EARLY;
                asked.at
            }
            None => now,
        };
        let text = text.to_owned();
        let asked = Asked {
            key,
            text,
            doubts,
            at,
        };
        self.asked.insert(key.id, asked);
        Err(refusal)
    }

    /// Forgets what was asked about proposals that are over.
    pub(crate) fn forget_others(&mut self, is_current: impl Fn(ProposalKey) -> bool) {
        self.asked.retain(|_, asked| is_current(asked.key));
    }
}

impl Asked {
    /// Returns true if the question was about this, or about more of the same kind.
    fn covers(&self, doubt: &Doubt) -> bool {
        let mut asked = self.doubts.iter();
        asked.any(|asked| asked == doubt || asked.is_more_than(doubt))
    }
}

/// The refusal of an edited text whose agent takes none.
pub(crate) fn refuses_edits(why: &str) -> Refusal {
    Refusal::new("writesOwnText", why)
}

/// The refusal of a decision about a change that is written, and is not there any more for this reason.
pub(crate) fn is_over(why: &str) -> Refusal {
    let text = format!("{why}: nothing is decided; reject it without a word to close it");
    Refusal::new("over", text)
}

/// The refusal of a decision about a change that is written, which could not be carried out.
pub(crate) fn not_done(why: &str) -> Refusal {
    Refusal::new("notDone", why)
}

/// The refusal of what a command accepts, although the file is another one now.
fn file_changed(key: ProposalKey) -> Refusal {
    let id = key.id;
    let text = format!("the file of diff {id} changed on disk since {key} was proposed");
    Refusal::new(FILE_CHANGED, text)
}

/// The refusal of a text that is not what its name means.
pub(crate) fn text_changed(key: ProposalKey) -> Refusal {
    let text = format!("what stands in the view of {key} is not what you were shown");
    Refusal::new(TEXT_CHANGED, text)
}

/// All doubts as one question, and how to answer it where who repeats the decision does.
fn question(doubts: &[Doubt], is_repeated: bool) -> Refusal {
    let sentences: Vec<String> = doubts.iter().map(Doubt::to_string).collect();
    let answer = if is_repeated {
        ": accept again to go ahead"
    } else {
        ""
    };
    Refusal {
        code: doubts.first().map_or("doubt", Doubt::code).into(),
        message: sentences.join("; ") + answer,
        repeat: true,
    }
}

#[cfg(test)]
mod tests;
