//! The gate: whether a decision counts. The one home of what was seen, how long to wait and what is doubted, for
//! every view: a view states what it knows ([`Seen`]), and shows the sentence that it is answered.
//!
//! A state machine: time and facts come in. What the file is like at that moment is looked up beside the loop.

mod doubts;

use std::borrow::Cow;
use std::time::{Duration, Instant};

use pillion_protocol::verdict::MAX_NOTES;
use pillion_protocol::{Outcome, Verdict};
use serde::{Deserialize, Serialize};

use crate::pending::{ProposalKey, Stale};
pub(crate) use doubts::{Doubt, Weighed, weigh, weigh_blind};
pub use doubts::{deletes_most, unreadable};

/// How long a proposal must have been on the screen before a decision about it counts. Also how long a question
/// must have been there before its answer counts.
pub const LOOK: Duration = Duration::from_millis(700);

/// Decisions that follow each other more quickly come from a key that is held down: keyboards repeat at least ten
/// times a second, and nobody decides so fast.
pub const HELD: Duration = Duration::from_millis(120);

/// The code of a refusal: it has not been on the screen.
pub const NOT_SEEN: &str = "notSeen";

/// It has not been there for long enough.
const TOO_SOON: &str = "tooSoon";

/// The key is held down.
const HELD_DOWN: &str = "held";

/// The notes are too long.
const TOO_LONG: &str = "notesTooLong";

/// What the person decided about one revision of a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decide {
    /// The revision that the view showed.
    pub key: ProposalKey,
    /// What was decided, with the notes for the agent.
    pub verdict: Verdict,
    /// What the person has seen of it; none of a view that cannot know, and where closing the view rejects.
    pub seen: Option<Seen>,
    /// The text of the file that the proposal was compared with last, as a fingerprint; none if that is the text that
    /// came with the proposal.
    pub base: Option<String>,
}

/// What a view knows about how its person came to a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Seen {
    /// For how long exactly this revision had been on the screen when the person began to type; none if it never was.
    pub drawn_for: Option<Duration>,
    /// Whether the person typed it for this view: no autosave, no macro, no command for many buffers.
    pub is_typed: bool,
    /// How many of the changed hunks have never been on the screen as a whole; none if the view cannot know.
    pub unseen_hunks: Option<Unseen>,
    /// Which of them go against what else was done.
    pub against: Against,
}

/// Hunks that would be accepted although they go against what somebody did since: so many of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Against {
    /// They undo newer changes of the file.
    pub newer: usize,
    /// They stand in place of what the person wrote.
    pub written: usize,
    /// The person took them out, and they are back as others.
    pub taken_out: usize,
}

/// Hunks that nobody has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unseen {
    /// How many.
    pub hunks: usize,
    /// Of how many.
    pub of: usize,
}

/// What the gate answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Ruling {
    /// The decision counts, and is on its way to the agent: the view goes away. If there were notes: what becomes of
    /// them, for the person.
    Settled(Option<Told>),
    /// It does not count, and the view stays.
    Refused(Refusal),
}

/// What becomes of the notes for the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// When the agent gets them, or that it does not: a sentence for people, without a final full stop.
    pub message: String,
    /// The notes as a text for the person's clipboard, where no agent takes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clipboard: Option<String>,
}

/// Why a decision does not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// For programs.
    pub code: Cow<'static, str>,
    /// For people: a sentence or more, without a final full stop.
    pub message: String,
    /// Whether the same decision counts if the person repeats it after having read the message.
    pub repeat: bool,
}

/// What the gate remembers.
#[derive(Debug, Default)]
pub struct Gate {
    /// The last decision that a person typed, whether or not it counted.
    last: Option<Instant>,
    asked: Option<Asked>,
}

/// A question that was put to the person.
#[derive(Debug)]
struct Asked {
    key: ProposalKey,
    /// The text that they want to accept.
    text: String,
    doubts: Vec<Doubt>,
    at: Instant,
}

impl Decide {
    /// Of a view that cannot know what its person has seen.
    pub fn blind(key: ProposalKey, outcome: Outcome) -> Self {
        let (verdict, base) = match outcome {
            Outcome::Accepted { content, base } => (Verdict::accept(Some(content)), base),
            Outcome::Rejected => (Verdict::reject(), None),
        };
        Self {
            key,
            verdict,
            seen: None,
            base,
        }
    }
}

impl Seen {
    /// Enough to count, in tests and for what was typed in full sight.
    pub fn typed(drawn_for: Duration) -> Self {
        Self {
            drawn_for: Some(drawn_for),
            is_typed: true,
            unseen_hunks: None,
            against: Against::default(),
        }
    }
}

impl Ruling {
    /// The decision is about a proposal that is not there any more.
    pub fn stale(why: Stale) -> Self {
        let code = match why {
            Stale::NotPending => "notPending",
            Stale::Replaced => "replaced",
        };
        Self::Refused(Refusal::new(code, why))
    }

    /// No companion answers.
    pub fn failed(reason: impl ToString) -> Self {
        Self::Refused(Refusal::new("failed", reason))
    }

    /// Whether the decision counts.
    pub fn is_settled(&self) -> bool {
        matches!(self, Self::Settled(_))
    }
}

impl Refusal {
    fn new(code: &'static str, message: impl ToString) -> Self {
        Self {
            code: code.into(),
            message: message.to_string(),
            repeat: false,
        }
    }

    /// The notes have so many bytes.
    pub(crate) fn too_long(bytes: usize) -> Self {
        let text = format!(
            "your notes have {bytes} bytes, and the limit is {MAX_NOTES}: shorten them, then decide again"
        );
        Self::new(TOO_LONG, text)
    }

    /// Whether only its time was wrong: a question that is on the screen stays there.
    pub fn is_about_time(&self) -> bool {
        [NOT_SEEN, TOO_SOON, HELD_DOWN].contains(&&*self.code)
    }
}

impl Gate {
    /// Whether the person can have meant this, judged by when it came.
    ///
    /// # Errors
    /// Why not.
    pub fn look(&mut self, decide: &Decide, now: Instant) -> Result<(), Refusal> {
        let Some(seen) = &decide.seen else {
            return Ok(());
        };
        if !seen.is_typed {
            let text = "only what you type for this diff decides";
            return Err(Refusal::new("notTyped", text));
        }
        let former = self.last.replace(now);
        let Some(drawn_for) = seen.drawn_for else {
            let text = "this has not been on the screen yet: look at it first";
            return Err(Refusal::new(NOT_SEEN, text));
        };
        if former.is_some_and(|at| now.saturating_duration_since(at) < HELD) {
            let text = "key repeat ignored: release the key and press it again";
            return Err(Refusal::new(HELD_DOWN, text));
        }
        if drawn_for < LOOK {
            let text = match decide.key.revision {
                1 => "this has only just opened: look at it, then decide again",
                _ => "a newer proposal has only just opened: look at it, then decide again",
            };
            return Err(Refusal::new(TOO_SOON, text));
        }
        Ok(())
    }

    /// Whether what is doubted about accepting `text` has been asked before, and is accepted all the same.
    ///
    /// # Errors
    /// The question.
    pub(crate) fn ask(
        &mut self,
        key: ProposalKey,
        text: &str,
        doubts: Vec<Doubt>,
        now: Instant,
    ) -> Result<(), Refusal> {
        if doubts.is_empty() {
            return Ok(());
        }
        let asked = self.asked.as_ref();
        let asked = asked.filter(|asked| asked.key == key && asked.text == text);
        let is_known = |asked: &&Asked| doubts.iter().all(|doubt| asked.covers(doubt));
        let at = match asked.filter(is_known) {
            Some(asked) if now.saturating_duration_since(asked.at) >= LOOK => return Ok(()),
            Some(asked) => asked.at,
            None => now,
        };
        let refusal = question(&doubts);
        let text = text.to_owned();
        self.asked = Some(Asked {
            key,
            text,
            doubts,
            at,
        });
        Err(refusal)
    }
}

impl Asked {
    /// Whether the question was about this, or about more of the same kind.
    fn covers(&self, doubt: &Doubt) -> bool {
        let mut asked = self.doubts.iter();
        asked.any(|asked| asked == doubt || asked.is_more_than(doubt))
    }
}

/// All doubts as one question.
fn question(doubts: &[Doubt]) -> Refusal {
    let sentences: Vec<String> = doubts.iter().map(Doubt::to_string).collect();
    Refusal {
        code: doubts.first().map_or("doubt", Doubt::code).into(),
        message: format!("{}: accept again to go ahead", sentences.join("; ")),
        repeat: true,
    }
}

#[cfg(test)]
mod tests;
