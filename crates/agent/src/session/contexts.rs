//! What the editor shows, as an agent sees it.

use pillion_protocol::IdeContext;
use tokio::sync::watch;

/// The contexts of a session, each as agents see it (C4.8). Only the newest one is kept for a reader
/// that is slow. While the companion is away the context is empty.
#[derive(Debug, Clone)]
pub struct Contexts {
    pub(super) seen: watch::Receiver<IdeContext>,
}

impl Contexts {
    /// The next context that has not been given out yet; none when the session is over.
    /// Cancel-safe.
    pub async fn next(&mut self) -> Option<IdeContext> {
        self.seen.changed().await.ok()?;
        Some(self.seen.borrow_and_update().clone())
    }

    /// What an agent would see now.
    pub fn current(&self) -> IdeContext {
        self.seen.borrow().clone()
    }
}
