//! A decision, what its person has seen, and how it is answered: the gate of the companion rules.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use pillion_discovery::exact;
use pillion_protocol::ask::Refused;
use pillion_protocol::verdict::MAX_NOTES;
use pillion_protocol::{Dialect, Outcome, Verdict};
use serde::{Deserialize, Serialize};

use crate::pending::Stale;
use crate::proposal::ProposalKey;

/// The time for which a proposal must have been on the screen before a decision about it counts. Also how long a question
/// must have been there before its answer counts.
pub const LOOK: Duration = Duration::from_millis(700);

/// The time for which a row of a list must have been under the cursor: nobody reads it in less.
pub const GLANCE: Duration = Duration::from_millis(300);

/// A key that is pressed again more quickly is held down: keyboards repeat at least ten times a second, and nobody
/// decides so fast.
pub const HELD: Duration = Duration::from_millis(120);

/// A key that may be held down. On a busy machine or a slow line there are gaps between its repeats: it counts as
/// released once it was not pressed for [`LOOK`].
#[derive(Debug, Clone, Copy, Default)]
pub struct HeldKey {
    is_held: bool,
}

impl HeldKey {
    /// Returns true if the key is held down, now that it is pressed again after this pause.
    pub fn is_held_after(&mut self, pause: Duration) -> bool {
        self.is_held = pause < if self.is_held { LOOK } else { HELD };
        self.is_held
    }
}

/// Returns the reason why nothing can be changed in a proposal of this agent, if that is so.
pub fn takes_no_edits(agent: Dialect) -> Option<String> {
    let name = agent.display_name();
    agent
        .writes_own_text()
        .then(|| format!("{name} writes its own text: accept or reject it as it is"))
}

/// The code of a refusal: it has not been on the screen.
pub const NOT_SEEN: &str = "notSeen";

/// It has not been there for long enough.
pub const TOO_SOON: &str = "tooSoon";

/// The key is held down.
pub const HELD_DOWN: &str = "held";

/// An agent has started the view, or may have.
const BY_AGENT: &str = "byAgent";

/// The code of the doubt that the agent would take the acceptance for a rejection.
pub const TAKEN_FOR_REJECTION: &str = "unchangedIsRejection";

/// The file is another one than when the agent proposed.
pub const FILE_CHANGED: &str = "fileChanged";

/// What stands in the view is not what the person was shown.
pub const TEXT_CHANGED: &str = "textChanged";

/// The notes are too long.
const TOO_LONG: &str = "notesTooLong";

/// A person's decision about one revision of a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decide<B = By> {
    /// The revision that the view showed.
    #[serde(flatten)]
    pub key: ProposalKey,
    /// The verdict, with the notes for the agent.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// How the person decided.
    #[serde(rename = "seen")]
    pub by: B,
    /// The text of the file that the proposal was compared with last, as a fingerprint; none if that is the text that
    /// came with the proposal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
}

/// The way in which a person decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum By {
    /// In a view that knows what they have seen of it.
    Seen(Seen),
    /// In a view that cannot know, or where closing the view rejects.
    View,
    /// By a command that names it. Without a text, they accept what stands in the view, if that is what they were shown.
    Named {
        /// Accept although the file has changed since the proposal.
        despite_change: bool,
    },
}

impl By {
    /// What the view knows.
    pub fn seen(&self) -> Option<&Seen> {
        match self {
            Self::Seen(seen) => Some(seen),
            Self::View | Self::Named { .. } => None,
        }
    }
}

impl From<Option<Seen>> for By {
    fn from(seen: Option<Seen>) -> Self {
        seen.map_or(Self::View, Self::Seen)
    }
}

/// The facts that a view knows about how its person came to a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen<H = Unseen> {
    /// For how long exactly this revision had been on the screen when the person began to type; none if it never was.
    #[serde(rename = "drawnMs", with = "exact::milliseconds::optional", default)]
    pub drawn_for: Option<Duration>,
    /// True if the person typed it for this view: no autosave, no macro, no command for many buffers.
    #[serde(rename = "typed")]
    pub is_typed: bool,
    /// The pauses, by the view's clock, before each decision that the person typed since the last one that was sent,
    /// this one included: those typed while an answer is awaited are not sent. Empty if the view does not know.
    #[serde(rename = "pausesMs", with = "exact::milliseconds", default)]
    pub pauses: Vec<Duration>,
    /// The changed hunks that have never been on the screen as a whole; none if the view cannot know.
    #[serde(rename = "hunks")]
    pub unseen_hunks: Option<H>,
    /// The hunks that go against what else was done.
    #[serde(default)]
    pub against: Against,
    /// Whether this answers the gate's question, where that takes another key than the decision; none where who repeats
    /// the decision answers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<bool>,
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
    /// The number of them.
    pub hunks: usize,
    /// The number of all changed hunks.
    pub of: usize,
}

/// The answer of the gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Ruling {
    /// The decision counts, and is on its way to the agent: the view goes away. If there were notes: what becomes of
    /// them, for the person.
    Settled(Option<Told>),
    /// It does not count, and the view stays.
    Refused(Refusal),
}

/// The message about the notes for the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// Says when the agent gets them, or that it does not: a sentence for people, without a final full stop.
    pub message: String,
    /// The notes as a text for the person's clipboard, where no agent takes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clipboard: Option<String>,
}

/// The reason why a decision does not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// For programs.
    pub code: Cow<'static, str>,
    /// For people: a sentence or more, without a final full stop.
    pub message: String,
    /// True if the same decision counts if the person repeats it after having read the message.
    pub repeat: bool,
}

impl Decide {
    /// Of a view that cannot know what its person has seen.
    pub fn blind(key: ProposalKey, outcome: Outcome) -> Self {
        let (verdict, base) = match outcome {
            Outcome::Accepted { content, base } => {
                let content = Arc::unwrap_or_clone(content);
                (Verdict::accept(Some(content)), base)
            }
            Outcome::Rejected => (Verdict::reject(), None),
        };
        Self {
            key,
            verdict,
            by: By::View,
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
            pauses: Vec::new(),
            unseen_hunks: None,
            against: Against::default(),
            answers: None,
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

    /// Returns true if the decision counts.
    pub fn is_settled(&self) -> bool {
        matches!(self, Self::Settled(_))
    }
}

/// No gate rules, and why.
impl From<Refused> for Ruling {
    fn from(refused: Refused) -> Self {
        let code = match refused {
            Refused::NotThePerson { .. } => BY_AGENT,
            _ => "failed",
        };
        Self::Refused(Refusal::new(code, refused))
    }
}

impl Refusal {
    /// The reason, for programs and for people.
    pub fn new(code: &'static str, message: impl ToString) -> Self {
        Self {
            code: code.into(),
            message: message.to_string(),
            repeat: false,
        }
    }

    /// The notes have so many bytes.
    pub fn too_long(bytes: usize) -> Self {
        let text = format!(
            "your notes have {bytes} bytes, and the limit is {MAX_NOTES}: shorten them, then decide again"
        );
        Self::new(TOO_LONG, text)
    }

    /// Returns true if only its time was wrong: a question that is on the screen stays there.
    pub fn is_about_time(&self) -> bool {
        [NOT_SEEN, TOO_SOON, HELD_DOWN].contains(&&*self.code)
    }
}
