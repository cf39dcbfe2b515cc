//! The plain profile: editors with a language-server client and no plugin.

mod bytes;
mod comparison;
mod context;
mod drafts;
mod emacs;
mod guests;
mod handshake;
#[cfg(unix)]
mod hooks;
mod names;
mod open_with;
mod review;
mod saves;
mod sets;
pub mod world;
mod written;
