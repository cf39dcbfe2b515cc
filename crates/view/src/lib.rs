//! A view, and what it says to its companion. A view is a front end: an editor, or the terminal review. It shows
//! proposals and lets a person judge them ([`Editor`]), and reports what the person does ([`Handle`]).
//!
//! It attaches to a companion, mostly in another process ([`attach`]), and knows nothing of agents' protocols.

pub mod ask;
mod attach;
pub mod changes;
mod choice;
mod client;
pub mod decision;
mod editor;
mod handle;
pub mod hub;
mod lost;
mod merged;
mod options;
mod original;
mod pending;
mod proposal;
mod reply;
mod tell;

#[cfg(unix)]
pub use attach::attach_to_running;
pub use attach::{Attached, StartOwn, attach, attach_guest};
pub use choice::Choice;
pub use client::{Client, ClientError, Connected, Woken};
pub use decision::{
    Against, By, Decide, GLANCE, HELD, HeldKey, LOOK, NOT_SEEN, Refusal, Ruling, Seen, Told, Unseen,
};
pub use editor::{
    Chosen, CloseReason, Compares, Editor, EditorEvent, EndedTurn, Phrase, Review, Show, Shows,
    Status, TurnNews,
};
pub use handle::{Handle, Said};
pub use hub::Companion;
pub use lost::{Loss, LostOutcome, LostText};
pub use merged::FileChange;
pub use options::{Options, StartError};
pub use original::{Original, OriginalError, Stamp};
pub use pending::{Pending, Proposed, Stale};
pub use proposal::{Diff, DiffId, ModeChange, ProposalKey, SetPlace};
pub use reply::{Answering, Failure, Reply};
pub use tell::{Leaving, OpenFile, Tell};
