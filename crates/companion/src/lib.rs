//! The companion: the server that agents talk to, between them and a front end that it knows only
//! as an [`Editor`].

mod editor;

pub use editor::{CloseReason, Diff, DiffId, Editor, Reply, Status};
