//! One proposal, from its view's opening to the decision.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::decision::Decision;
use super::hub::{Hub, Turn};
use crate::client::Client;
use crate::error::ClientError;

/// How long a decision that was made in the very last moment may be under way.
const LAST_MOMENT: Duration = Duration::from_secs(1);

/// An open view. Dropping it before the decision closes the view.
#[derive(Debug)]
pub struct Proposal {
    /// Its session's. The session may end first; waiters then see it end.
    hub: Weak<Hub>,
    client: Arc<Client>,
    path: String,
    /// None when the waiting is over.
    waiting: Option<oneshot::Receiver<Decision>>,
    decided: Option<Decision>,
    /// The companion has nothing open, or has been asked to close it.
    is_closed: bool,
    /// Where the view is closed, whichever thread drops this.
    runtime: Handle,
}

impl Proposal {
    pub(super) async fn open(hub: &Arc<Hub>, path: &str, text: &str) -> Result<Self, ClientError> {
        // Before the call: the reviewer may be faster than the answer.
        let (client, waiting) = hub.wait_for(path)?;
        let mut proposal = Self {
            hub: Arc::downgrade(hub),
            client,
            path: path.to_owned(),
            waiting: Some(waiting),
            decided: None,
            is_closed: true,
            runtime: Handle::current(),
        };
        hub.closed(path).await;
        // From here on it may be open.
        proposal.is_closed = false;
        let opened = proposal.client.open_diff(path, text).await;
        // Of anything else than a refusal it is not known whether the view is open.
        proposal.is_closed = matches!(
            opened,
            Err(ClientError::Tool(_) | ClientError::Refused(400..=499))
        );
        hub.heed(&proposal.client, &opened);
        opened.map(|()| proposal)
    }

    /// The file, as it was proposed.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Waits for the decision; gives the same again when it is asked again. Cancel-safe: a
    /// decision that comes in the meantime is kept.
    ///
    /// # Errors
    /// [`ClientError::Lost`] when the companion went away before, or the session ended.
    pub async fn decision(&mut self) -> Result<Decision, ClientError> {
        self.wait().await;
        self.decided.clone().ok_or(ClientError::Lost)
    }

    /// Closes the view. What comes of it is [`Decision::Closed`], unless it had been decided just
    /// before.
    ///
    /// # Errors
    /// When the companion is gone, or will not close it.
    pub async fn withdraw(mut self) -> Result<Decision, ClientError> {
        let turn = match self.start_closing() {
            Ok(turn) => turn,
            Err(decision) => return Ok(decision),
        };
        let closed = match turn {
            Some(turn) => turn.close(&self.client, &self.path).await,
            None => self.client.close_diff(&self.path).await,
        };
        // A failure above has closed nothing that a second attempt would.
        self.is_closed = true;
        if let Some(hub) = self.hub.upgrade() {
            hub.heed(&self.client, &closed);
        }
        match closed {
            Ok(text) => Ok(Decision::Closed(text)),
            Err(error) => {
                // If it does not come, it has not been made.
                let _ = tokio::time::timeout(LAST_MOMENT, self.wait()).await;
                self.decided.take().ok_or(error)
            }
        }
    }

    async fn wait(&mut self) {
        if let Some(waiting) = &mut self.waiting {
            self.decided = waiting.await.ok();
            self.waiting = None;
        }
    }

    /// What is decided has no view any more: one of this file would be another proposal's.
    fn start_closing(&mut self) -> Result<Option<Turn>, Decision> {
        if let Some(decision) = self.decided.take() {
            return Err(decision);
        }
        match (self.hub.upgrade(), &mut self.waiting) {
            (Some(hub), waiting) => hub.start_closing(&self.path, waiting.as_mut()).map(Some),
            (None, Some(waiting)) => waiting.try_recv().map_or(Ok(None), Err),
            (None, None) => Ok(None),
        }
    }
}

impl Drop for Proposal {
    fn drop(&mut self) {
        // A caller with nothing to close takes no turn: it would end before the one that it waited for.
        let turn = if self.is_closed {
            None
        } else {
            self.start_closing().ok()
        };
        // From here on no caller waits.
        self.waiting = None;
        if let Some(hub) = self.hub.upgrade() {
            hub.forget(&self.path);
        }
        let Some(turn) = turn else { return };
        let client = Arc::clone(&self.client);
        let path = std::mem::take(&mut self.path);
        self.runtime.spawn(async move {
            // The companion may have closed it by itself.
            let _ = match turn {
                Some(turn) => turn.close(&client, &path).await,
                None => client.close_diff(&path).await,
            };
        });
    }
}
