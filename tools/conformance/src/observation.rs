//! Observations that are made once and read by several rules.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use pillion_http::Event;
use serde_json::Value;
use tokio::sync::OnceCell;

use crate::rule::Problem;

/// Updates that come closer than this were not debounced; the rest is for the way here.
pub(super) const TOO_CLOSE: Duration = Duration::from_millis(25);

/// Something that is looked at once: what was seen, or why nothing was.
pub(super) type Once<T> = OnceCell<Result<T, Problem>>;

/// A message, or the params of one, and when it came.
pub(super) type Timed = (Instant, Value);

/// The result that is known, or else that of a first look.
pub(super) async fn once<T>(
    known: &Once<T>,
    look: impl Future<Output = Result<T, Problem>>,
) -> Result<&T, Problem> {
    let seen = known.get_or_init(|| look).await;
    seen.as_ref().map_err(Clone::clone)
}

/// Everything of that kind, for every protocol, and what sessions over HTTP leave behind.
#[derive(Debug, Default)]
pub(super) struct Observations {
    /// Ok if a session can be opened at all.
    pub(super) handshake: Once<()>,
    /// Ok if a view can be opened at all.
    pub(super) views: Once<()>,
    /// True if diffs are accepted without anybody's help.
    pub(super) accepts_itself: OnceCell<bool>,
    pub(super) accepted: Once<Scenario>,
    pub(super) rejected: Once<Scenario>,
    pub(super) contexts: Once<Contexts>,
    /// Ok if two agents are served at once.
    pub(super) together: Once<String>,
    pub(super) stopped: Once<Stopped>,
    /// True if a command failed although it had every chance.
    pub(super) is_command_broken: Cell<bool>,
    /// Sessions of which the check is over.
    pub(super) left: RefCell<Vec<Record>>,
    pub(super) events: RefCell<HeardEvents>,
}

/// The parts of a session that have to be undone.
#[derive(Debug, Clone, Default)]
pub(super) struct Record {
    pub(super) id: Option<String>,
    pub(super) version: String,
    /// The views that are open, each with the params of the call that closes it.
    pub(super) views: Vec<(String, Value)>,
}

/// The events of all event streams.
#[derive(Debug, Default)]
pub(super) struct HeardEvents {
    pub(super) count: usize,
    /// The first that is no JSON-RPC message, or that has an id.
    pub(super) odd: Option<Event>,
}

/// The way of one proposal from `openDiff` to its outcome.
#[derive(Debug, Clone)]
pub(super) struct Scenario {
    /// As it was sent: spelt oddly, where the companion takes it.
    pub(super) path: String,
    pub(super) text: String,
    /// The outcomes that the agent received, in order.
    pub(super) outcomes: Vec<Value>,
    /// True if the file was on the disk afterwards.
    pub(super) was_written: bool,
}

/// The contexts that the editor's state was sent in.
#[derive(Debug, Clone)]
pub(super) struct Contexts {
    /// The contexts that two sessions received from their start on, one after the other.
    pub(super) of_sessions: [Vec<Timed>; 2],
    pub(super) of_cursor: CursorMoved,
    /// The contexts that were received when a command focused many files.
    pub(super) of_visits: Visits,
    /// True if a context was not a notification.
    pub(super) is_asked: bool,
}

/// Visits of many files, one after the other, and the contexts that came of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Visits {
    /// The number of files that were focused.
    pub(super) count: usize,
    /// Why they were not, if so.
    pub(super) why_not: Option<String>,
    pub(super) contexts: Vec<Timed>,
}

/// The messages that were received when the cursor moved, whatever the protocol.
#[derive(Debug, Clone)]
pub(super) struct CursorMoved {
    /// While it was moved about.
    pub(super) moves: Result<Moves, Problem>,
    /// When commands moved it in quick succession.
    pub(super) bursts: Vec<Moves>,
}

/// Moves of the cursor and the contexts that came of them.
#[derive(Debug, Clone)]
pub(super) struct Moves {
    /// When they were asked for.
    pub(super) asked: SystemTime,
    /// The number of moves, if they were done by commands.
    pub(super) count: Option<u32>,
    /// The file and the line where a command, which can be relied on, has moved the cursor.
    pub(super) to: Option<(String, u32)>,
    pub(super) contexts: Vec<Timed>,
}

impl Moves {
    /// The time between each context and the next, where they came close together.
    pub(super) fn close_gaps(&self) -> impl Iterator<Item = Duration> {
        let pairs = self.contexts.windows(2);
        let gaps = pairs.map(|pair| pair[1].0.duration_since(pair[0].0));
        gaps.filter(|gap| *gap < TOO_CLOSE)
    }

    /// Returns true if some were reported together.
    pub(super) fn is_merged(&self) -> bool {
        let arrived = self.contexts.len();
        // The cursor may have stood where the first move went.
        arrived > 0 && self.count.is_some_and(|count| arrived + 1 < count as usize)
    }

    /// Returns true if some were reported together, and the others separately.
    pub(super) fn is_debounced(&self) -> bool {
        self.is_merged() && self.close_gaps().next().is_none()
    }
}

/// The messages that were received about selections, in the protocols in which a notification reports them.
#[derive(Debug, Clone)]
pub(super) struct Selections {
    /// The messages after the start, unasked.
    pub(super) of_start: Vec<Timed>,
    pub(super) of_cursor: CursorMoved,
}

/// A mention that was brought about.
#[derive(Debug, Clone)]
pub(super) struct Mention {
    pub(super) file: String,
    /// The messages that came of it.
    pub(super) messages: Vec<Value>,
}

/// The remains of a companion that was stopped.
#[derive(Debug, Clone)]
pub(super) struct Stopped {
    pub(super) listens: bool,
    pub(super) files: Vec<PathBuf>,
}
