//! The hub: one process of a user hosts the companions, one for all views whose folders overlap. Views attach to it over a
//! private socket (`pillion_view::hub`).

mod server;
mod workspaces;

pub use self::server::{Hub, Stopper};
