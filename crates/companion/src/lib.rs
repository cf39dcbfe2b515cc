//! The companion: the server that agents talk to, between them and views that it knows only
//! as an [`Editor`](pillion_view::Editor).
//!
//! Agents come in through the endpoint, which alone knows HTTP, and MCP, which knows no
//! transport. Views come in through a [`Handle`](pillion_view::Handle), commands through a socket. All of it becomes
//! one kind of event, and one loop handles them in order, with state machines that know neither
//! sockets nor clocks.

mod acceptance;
mod accepted_texts;
mod acceptor;
mod acting;
mod agent;
mod agents;
mod checks;
mod commands;
mod companion;
mod context;
#[cfg(unix)]
mod context_keeper;
mod diffs;
mod discovery;
mod disk;
mod door;
mod endpoint;
mod event;
pub mod gate;
#[cfg(unix)]
pub mod hub;
mod ids;
mod judging;
mod kept_notes;
mod last_decision;
mod line_endings;
mod looking;
mod lost;
mod main_loop;
mod mcp;
mod numbers;
mod on_disk;
mod outbox;
mod places;
mod prompts;
mod proposal;
mod proposers;
mod proposing;
mod recording;
mod remark;
mod runtime;
mod sessions;
mod socket;
mod stand_in;
mod subagents;
mod succession;
mod target;
mod tasks;
mod unkept;
mod views;
mod weighing;
pub mod who;
mod wire;
mod written;

pub use acting::act_alone;
pub use companion::{Companion, start_own};
pub use recording::knows_session;
