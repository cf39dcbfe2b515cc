//! The changes of agents, whether they asked or not: the texts before, the changes of each turn, and taking them back.
//!
//! - [`store`]: the private store of texts and turns.
//! - [`state`]: the state of a file at one moment.
//! - [`turn`]: a turn, its changes, and what became of them.
//! - [`log`]: the decisions about proposals, and texts that a person wrote in one that nobody has decided about.
//! - [`history`]: a person's decisions, as a list.
//! - [`kept`]: a turn with what people made of it, and how it is shown.
//! - [`deciding`]: a person's decisions about changes: keep them, take them back, undo that.
//! - [`current_hunks`]: the hunks of a change as they stand in a text now.
//! - [`recorder`]: watches folders while agents work, and keeps what they change.
//! - [`folder_watch`]: tells that something has happened in folders.
//! - [`remark`]: what there is to say of a turn beside its changes.
//! - [`take_back`]: writes old texts back, into what stands there now.
//! - [`save`]: writes files as editors do.
//! - [`patch`]: changes as `git apply` takes them.
//! - [`staging`]: what was accepted or kept, in git's index.
//! - [`leftovers`]: files that are still being written.
//!
//! Everything here waits for the disk, and knows neither agents nor companions.

pub mod current_hunks;
pub mod deciding;
pub mod folder_watch;
mod git;
mod head;
pub mod history;
pub mod kept;
pub mod leftovers;
mod line_log;
pub mod log;
pub mod looking;
mod parallel;
pub mod patch;
pub mod recorder;
pub mod remark;
pub mod save;
mod scan;
mod secrets;
pub mod staging;
pub mod state;
pub mod store;
mod table;
pub mod take_back;
mod there;
pub mod turn;
mod typed;

pub use deciding::{Act, DecideError, Decided, Deciding, Words};
pub use folder_watch::FolderWatch;
pub use git::has_git_written;
pub use kept::Kept;
pub use log::{Entry, EntryRef, EntryState, Proposal, WriteOutcome};
pub use recorder::{Decision, Offer, Recorder, Tally};
pub use remark::Remark;
pub use scan::{ByFolder, Stat, has_other_names};
pub use state::{FileState, Hash};
pub use store::{NoteNames, Store, StoreError, WaitingNote, agent_lives};
pub use turn::{Author, Change, ChangeRef, ChangeState, Judged, Judgement, Turn};
pub use typed::{Typed, TypedError};
