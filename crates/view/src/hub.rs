//! The hub's socket: what a view and the hub say to each other, exactly what an [`Editor`](crate::Editor) gets and a
//! [`Handle`] reports; how a view starts the hub, and how it finds the next one if a hub ends.

#[cfg(unix)]
pub(crate) mod client;
#[cfg(unix)]
pub(crate) mod launch;
pub mod link;
pub mod wire;

use std::fmt;

#[cfg(unix)]
pub use self::launch::{IS_THERE, LISTENS};
use self::wire::Attached;
use crate::handle::Handle;

/// The way to a companion, whether the hub has it or this process. Dropping it leaves, and waits until that is done.
pub trait Companion: fmt::Debug + Send {
    /// Returns what is known of the companion now.
    fn attached(&self) -> Attached;
    /// Returns the handle through which the front end reports.
    fn handle(&self) -> Handle;
    /// Waits until the front end has left: because of a signal, or because it has said so.
    fn wait(self: Box<Self>);
}
