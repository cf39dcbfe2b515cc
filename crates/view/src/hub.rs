//! The hub's socket: what a view and the hub say to each other, exactly what an [`Editor`](crate::Editor) gets and a
//! [`Handle`](crate::Handle) reports; how a view starts the hub, and how it finds the next one if a hub ends.

#[cfg(unix)]
pub(crate) mod client;
mod companion;
#[cfg(unix)]
pub(crate) mod launch;
pub mod link;
pub mod wire;

pub use self::companion::Companion;
#[cfg(unix)]
pub use self::launch::{IS_THERE, LISTENS};
