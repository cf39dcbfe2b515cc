//! Owns what a companion is to its front end, whether the hub has it or this process.

use std::fmt;

use super::wire::Attached;
use crate::handle::Handle;

/// The way to a companion. Dropping it leaves, and waits until that is done.
pub trait Companion: fmt::Debug + Send {
    /// Returns what is known of the companion now.
    fn attached(&self) -> Attached;
    /// Returns the handle through which the front end reports.
    fn handle(&self) -> Handle;
    /// Waits until the front end has left: because of a signal, or because it has said so.
    fn wait(self: Box<Self>);
}
