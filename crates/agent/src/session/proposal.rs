//! One proposal, from its view's opening to the decision.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::hub::Hub;
use crate::client::Client;
use crate::error::ClientError;

/// How long a decision that was made in the very last moment may be under way.
const LAST_MOMENT: Duration = Duration::from_secs(1);

/// What became of a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Accepted (C5.6). The text may be another than the proposed one: the reviewer can edit it.
    Accepted(String),
    /// Rejected, which closing the view without accepting is, too (C5.7).
    Rejected,
    /// This session closed the view; this was the text in it (C5.5).
    Closed(String),
}

/// An open view. Dropping it before the decision closes the view.
#[derive(Debug)]
pub struct Proposal {
    hub: Arc<Hub>,
    client: Arc<Client>,
    path: String,
    waiting: oneshot::Receiver<Decision>,
    is_over: bool,
}

impl Proposal {
    pub(super) async fn open(hub: &Arc<Hub>, path: &str, text: &str) -> Result<Self, ClientError> {
        // Before the call: the reviewer may be faster than the answer.
        let (client, waiting) = hub.wait_for(path)?;
        let mut proposal = Self {
            hub: Arc::clone(hub),
            client,
            path: path.to_owned(),
            waiting,
            is_over: false,
        };
        hub.closed(path).await;
        let opened = proposal.client.open_diff(path, text).await;
        // Of anything else than a refusal it is not known whether the view is open.
        proposal.is_over = matches!(opened, Err(ClientError::Tool(_) | ClientError::Refused(_)));
        opened.map(|()| proposal)
    }

    /// The file, as it was proposed.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Waits until somebody decided. Cancel-safe.
    ///
    /// # Errors
    /// [`ClientError::Lost`] when the companion went away before.
    pub async fn decision(&mut self) -> Result<Decision, ClientError> {
        let decision = (&mut self.waiting).await;
        self.is_over = true;
        decision.map_err(|_| ClientError::Lost)
    }

    /// Closes the view. What comes of it is [`Decision::Closed`], unless somebody had decided just
    /// before.
    ///
    /// # Errors
    /// When the companion is gone, or will not close it.
    pub async fn withdraw(mut self) -> Result<Decision, ClientError> {
        let closed = self.client.close_diff(&self.path).await;
        // A failure above has closed nothing that a second attempt would.
        self.is_over = true;
        match closed {
            Ok(text) => Ok(Decision::Closed(text)),
            Err(error) => {
                let decided = tokio::time::timeout(LAST_MOMENT, &mut self.waiting).await;
                decided.ok().and_then(Result::ok).ok_or(error)
            }
        }
    }
}

impl Drop for Proposal {
    fn drop(&mut self) {
        self.waiting.close();
        self.hub.forget(&self.path);
        // A decision that nobody looked at: the next view of this file is not ours to close.
        if self.is_over || self.waiting.try_recv().is_ok() {
            return;
        }
        if let Ok(runtime) = Handle::try_current() {
            let client = Arc::clone(&self.client);
            let path = std::mem::take(&mut self.path);
            let (closing, before) = self.hub.start_closing(&path);
            runtime.spawn(async move {
                if let Some(mut before) = before {
                    while before.changed().await.is_ok() {}
                }
                let _ = client.close_diff(&path).await;
                drop(closing);
            });
        }
    }
}
