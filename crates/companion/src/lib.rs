//! The companion: the server that agents talk to, between them and a front end that it knows only
//! as an [`Editor`].
//!
//! Agents come in through the endpoint, which alone knows HTTP, and MCP, which knows no
//! transport. Front ends come in through a [`Handle`], commands through [`control`]. All of it becomes
//! one kind of event, and one loop handles them in order, with state machines that know neither
//! sockets nor clocks.

mod acceptance;
mod agents;
mod asking;
mod checks;
mod clock;
mod companion;
mod context;
pub mod control;
mod diffs;
mod disk;
mod editor;
mod endpoint;
mod event;
mod exact;
mod feedback;
pub mod gate;
pub mod hub;
mod line_endings;
mod lost;
mod main_loop;
mod mcp;
mod original;
mod outbox;
mod pending;
mod presence;
mod questions;
mod request_id;
mod sessions;
mod speaker;
mod succession;
mod target;
mod turns;
mod views;
mod wire;
mod written;

pub use clock::now_ms;
pub use companion::{Companion, Handle, Options, StartError};
pub use editor::{
    CloseReason, Compares, Diff, DiffId, Editor, EditorEvent, Reply, Report, Shows, Status,
};
pub use lost::{Loss, LostOutcome, LostText};
pub use original::{Original, OriginalError, Stamp};
pub use pending::{Pending, ProposalKey, Proposed, Stale};
