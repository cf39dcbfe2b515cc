//! `pillion kakoune`: a companion beside a Kakoune session, which has neither channels nor a language-server client.
//!
//! `editors/kakoune/pillion.kak` starts it. Kakoune reports by writing files into a private folder (`inbox`), says the rest by a
//! process (`said`), and receives messages through `kak -p` (`session`, `script`). One thread owns everything else (`bridge`): the
//! proposals in Kakoune's buffers (`view`), and what is sent to agents about its files (`context`). It never waits for
//! a disk (`disk`).

mod bridge;
mod clients;
mod context;
mod disk;
mod files;
mod form;
mod inbox;
mod notes;
mod offer;
mod quote;
mod removed;
mod said;
mod script;
mod seen;
mod session;
mod tmux;
mod view;

pub use bridge::run;
use pillion_view::StartOwn;
pub use said::say;

/// The options for serving the session.
#[derive(Debug, Clone)]
pub struct Options {
    /// Its name.
    pub session: String,
    /// The process of its server.
    pub server: u32,
    /// True if proposals may get a tmux pane of their own.
    pub may_split: bool,
    /// The function that starts a companion in this process, where there can be no hub.
    pub start_own: StartOwn,
}
