//! The front end as the companion sees it: what it is asked to show and how it answers.

use std::fmt;
use std::time::Duration;

use pillion_protocol::ask::Refused;
use pillion_protocol::{Dialect, FileDiagnostics, IdeContext, Note, ReviewMode};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::lost::LostOutcome;
use crate::proposal::{Diff, DiffId, ProposalKey};
use crate::reply::Reply;

/// The reason why a view closes without a decision in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CloseReason {
    /// The agent closed it: the person answered in the agent's own window.
    ClosedByAgent,
    /// The agent went away for good.
    AgentGone,
    /// A command accepted the text in the view.
    Settled,
    /// A command rejected it, or accepted another text: the text in the view is
    /// not used.
    Overruled,
    /// The person accepted it in another view. Text that they wrote in this one is kept by the companion.
    AcceptedElsewhere,
    /// The person rejected it in another view. Text that they wrote in this one is kept, too.
    RejectedElsewhere,
    /// The view could not be opened, or not in time; the agent got an error.
    NotShown,
}

impl CloseReason {
    /// Returns what the person reads if nobody has decided: whoever is in the view stays there, and can change nothing
    /// any more, until they leave. In all other cases they have decided elsewhere, and what they type is not for this view.
    pub fn undecided(self, agent: &str, name: &str) -> Option<String> {
        (self == Self::AgentGone)
            .then(|| format!("{agent} no longer waits for {name} here: nothing was decided"))
    }
}

/// The comparison that a front end wants with the file that a proposal would change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compares {
    /// Only whether it can be changed: [`Diff::original`] has no text.
    Nothing,
    /// Its text.
    Text,
    /// Its text, and where the proposal differs from it: [`Diff::hunks`].
    Hunks,
}

/// The condition under which a view is shown a proposal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Shows {
    /// If it was used last of those whose roots hold the file: an editor.
    #[default]
    LastUsed,
    /// Always: a review, which is looked at beside an editor.
    Always,
    /// If no other view is there: one that keeps a workspace open and shows nothing itself.
    Alone,
    /// Never: agents get its context, and show their changes themselves.
    Never,
    /// One revision only: a guest, which has a proposal open that another view, its host, shows as a file. Agents get
    /// to know nothing of it, and it is there for as long as its host at most.
    Only {
        /// The process of the host.
        host: u32,
        /// The revision, by its number in the companion.
        key: ProposalKey,
    },
}

/// A front end: it shows proposals and lets a person judge them. One that has a loop of its own is a
/// function that sends each event there.
pub trait Editor: Send + 'static {
    /// Takes what the companion requests or reports.
    ///
    /// Called in the order in which things happened, from the companion's own thread. It must return at
    /// once: hand the work to the front end's own thread, which answers through the given reply (dropping
    /// it reports that nothing listens there any more) and speaks through [`Handle`](crate::Handle).
    fn event(&mut self, event: EditorEvent);

    /// Returns how proposals are compared with the file before they come.
    fn compares(&self) -> Compares {
        Compares::Text
    }

    /// The person pressed Ctrl-C in the terminal that the companion runs in. Returns true if that ends it:
    /// false if it was meant for a program that the front end runs there.
    fn interrupted(&mut self) -> bool {
        true
    }

    /// A signal ends the front end. Returns the time that it needs to report the person's last drafts, which nobody takes
    /// any more once it has left: it leaves by itself within that time, or is made to leave then.
    fn ending(&mut self) -> Duration {
        Duration::ZERO
    }
}

impl<F: FnMut(EditorEvent) + Send + 'static> Editor for F {
    fn event(&mut self, event: EditorEvent) {
        self(event);
    }
}

/// A request of the companion to its front end, or a report. In a message between processes, [`Show`], a number stands for the
/// way of each answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[serde(bound(
    serialize = "W::Reply<()>: Serialize, W::Reply<String>: Serialize, W::Reply<Vec<FileDiagnostics>>: Serialize",
    deserialize = "W::Reply<()>: Deserialize<'de>, W::Reply<String>: Deserialize<'de>, W::Reply<Vec<FileDiagnostics>>: Deserialize<'de>"
))]
pub enum EditorEvent<W: Way = Here> {
    /// Show this proposal; answered when the view is open or cannot be opened (C5.2).
    Open(Diff, W::Reply<()>),
    /// Take the view away without stealing the focus; answered with the text as it stood there, edits
    /// included (C5.5). No outcome of this diff is accepted afterwards (C5.10).
    Close(DiffId, CloseReason, W::Reply<String>),
    /// Tell the text that stands in the view of this proposal now, edits included; the view stays as it is.
    Text(ProposalKey, W::Reply<String>),
    /// A guest has this proposal open, too.
    Shared(ProposalKey),
    /// This is what the person made of an earlier proposal of the same file, which nobody decided about, taken along to this
    /// one: it can be offered to them. It comes more than once.
    Draft(ProposalKey, String),
    /// The person wrote these notes on an earlier proposal of the same file, which nobody decided about: they are there again.
    Notes(ProposalKey, Vec<Note>),
    /// The problems that the editor shows: of the file of this URI, or of all. An agent waits, and after
    /// half a second it is answered that there are none.
    Diagnostics(Option<String>, W::Reply<Vec<FileDiagnostics>>),
    /// Agents came or went, or what they are shown changed.
    Status(Status),
    /// The companion is another one, at this port: its hub was another one, or the folders of the front end overlap those of
    /// others.
    Moved(u16),
    /// A text that the reviewer accepted never reached its agent, and will not any more. May come after
    /// [`EditorEvent::Stopped`].
    Lost(LostOutcome),
    /// The companion stops, asked by a signal or by its handle: nothing more comes but what is lost.
    Stopped,
}

/// An event as a message.
pub type Show = EditorEvent<Numbered>;

/// The way of an answer to what a front end is asked.
pub trait Way: fmt::Debug + Clone + PartialEq {
    /// The way of an answer of this kind.
    type Reply<T>;
}

/// In this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Here {}

/// Over a connection: the number of the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Numbered {}

impl Way for Here {
    type Reply<T> = Reply<T>;
}

impl Way for Numbered {
    type Reply<T> = u64;
}

/// An end of a connection, which changes ways of one kind into those of the other.
pub trait Changes<V: Way, W: Way> {
    /// The other way; none if nobody answers any more.
    fn changed<T: Serialize + DeserializeOwned + 'static>(
        &self,
        reply: V::Reply<T>,
    ) -> Option<W::Reply<T>>;
}

impl<V: Way> EditorEvent<V> {
    /// The number of the diff that it is about, if it is about one.
    pub fn diff_mut(&mut self) -> Option<&mut DiffId> {
        match self {
            Self::Open(diff, _) => Some(&mut diff.id),
            Self::Close(id, ..) => Some(id),
            Self::Text(key, _) | Self::Shared(key) | Self::Draft(key, _) | Self::Notes(key, _) => {
                Some(&mut key.id)
            }
            _ => None,
        }
    }

    /// The same with other ways for the answers; none if nobody answers any more.
    pub fn with_ways<W: Way>(self, end: &impl Changes<V, W>) -> Option<EditorEvent<W>> {
        Some(match self {
            Self::Open(diff, shown) => EditorEvent::Open(diff, end.changed(shown)?),
            Self::Close(id, why, closed) => EditorEvent::Close(id, why, end.changed(closed)?),
            Self::Text(key, told) => EditorEvent::Text(key, end.changed(told)?),
            Self::Diagnostics(uri, found) => EditorEvent::Diagnostics(uri, end.changed(found)?),
            Self::Shared(key) => EditorEvent::Shared(key),
            Self::Draft(key, text) => EditorEvent::Draft(key, text),
            Self::Notes(key, notes) => EditorEvent::Notes(key, notes),
            Self::Status(status) => EditorEvent::Status(status),
            Self::Moved(port) => EditorEvent::Moved(port),
            Self::Lost(lost) => EditorEvent::Lost(lost),
            Self::Stopped => EditorEvent::Stopped,
        })
    }
}

/// The state of its companion that a front end can show people.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// The agents that are connected, oldest first.
    pub agents: Vec<Dialect>,
    /// The context that agents are shown.
    pub context: IdeContext,
    /// Discovery places that could not be served, each as one sentence for people.
    pub warnings: Vec<String>,
    /// The ways in which agents ask before they change files, one sentence for each that something is known of.
    pub asking: Vec<String>,
    /// Agents that changed a file without asking, one sentence each: people are told once.
    pub unasked: Vec<String>,
    /// The rule by which agents ask, as the person has chosen; none if no agent is known to do what they choose.
    pub review: Option<Review>,
    /// The number of files that agents have changed here and nobody has seen.
    #[serde(default)]
    pub unseen: usize,
    /// The agents whose turn goes on and who tell of it by command hooks; they are not connected.
    #[serde(default)]
    pub working: Vec<Dialect>,
    /// Another number once the list of what agents have written differs; 0 if nothing is known of it.
    #[serde(default)]
    pub changes: u64,
    /// The turn that was the last to end with such files.
    pub ended: Option<EndedTurn>,
    /// What people have said to agents that these have not read yet, one sentence each.
    #[serde(default)]
    pub waiting: Vec<String>,
    /// The agents that ask in their own windows once the last editor or review is closed; none while there is another one.
    #[serde(default)]
    pub left_alone: Vec<String>,
    /// What a person decided last, and what came of it, unless something waits for them since.
    #[serde(default)]
    pub decided: Option<Phrase>,
}

impl Status {
    /// What a person is told who quits while notes wait for agents.
    pub fn waiting_at_quit(&self) -> Option<String> {
        match self.waiting.len() {
            0 => None,
            1 => Some("1 note waits for its agent, and is kept until it reads it".to_owned()),
            count => Some(format!(
                "{count} notes wait for their agents, and are kept until these read them"
            )),
        }
    }

    /// What a person is told who ends a review: agents may ask elsewhere from then on, too. An editor is quit for other reasons, and
    /// asks about nothing for which there is no harm.
    pub fn at_quit(&self) -> Option<String> {
        let alone = (!self.left_alone.is_empty()).then(|| {
            format!(
                "without an editor or review here, {} asks about each change in its own window",
                self.left_alone.join(" and ")
            )
        });
        let all: Vec<_> = self.waiting_at_quit().into_iter().chain(alone).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}

/// A few words for status lines about a decision: `a.txt: accepted`, and once it is known, what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Phrase {
    /// The words: shown as they stand.
    pub text: String,
    /// True if the file has what was accepted.
    pub is_written: bool,
}

/// A turn that has ended with files that nobody has seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EndedTurn {
    /// Its number.
    pub turn: u64,
    /// The sentence that people are told.
    pub text: String,
}

/// The news of turns for people: one of each that ends while they are there.
#[derive(Debug, Default)]
pub struct TurnNews {
    /// The turn of the last status; none before there was one.
    known: Option<Option<u64>>,
}

impl TurnNews {
    /// Returns the news of this status.
    pub fn of(&mut self, status: &Status) -> Option<String> {
        let turn = status.ended.as_ref().map(|ended| ended.turn);
        // What ended before is no news for one who comes now.
        let known = self.known.replace(turn)?;
        let ended = status.ended.as_ref();
        let new = ended.filter(|ended| known != Some(ended.turn));
        new.map(|ended| ended.text.clone())
    }
}

/// The rule by which agents ask before they change files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Review {
    /// The same for all agents that do as the person chooses; none if they differ.
    pub mode: Option<ReviewMode>,
    /// For a status line, such as `review: always`.
    pub label: String,
    /// The text that is shown while nothing waits for a decision, if agents change files without asking.
    pub unasked: Option<String>,
}

/// The outcome of a choice, or of sending notes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chosen {
    /// True if agents do as the person has chosen, or have the notes.
    pub done: bool,
    /// For the person: what agents do now, or why they do not do it.
    pub message: String,
}

impl From<Refused> for Chosen {
    fn from(why: Refused) -> Self {
        Self::refused(why)
    }
}

impl Chosen {
    /// It is not done, and why.
    pub fn refused(message: impl Into<String>) -> Self {
        Self {
            done: false,
            message: message.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_turn_people_are_told_once() {
        let status = |turn: Option<u64>| Status {
            ended: turn.map(|turn| EndedTurn {
                turn,
                text: turn.to_string(),
            }),
            ..Status::default()
        };
        for (seen, told) in [
            // One that ended before they came is no news.
            (&[Some(7), Some(7), Some(8), Some(8)][..], &["8"][..]),
            (&[None, Some(7), Some(7)], &["7"]),
            (&[None, Some(7), None, Some(9)], &["7", "9"]),
        ] {
            let mut news = TurnNews::default();
            let said = seen.iter().filter_map(|turn| news.of(&status(*turn)));
            assert_eq!(said.collect::<Vec<_>>(), told, "{seen:?}");
        }
    }
}
