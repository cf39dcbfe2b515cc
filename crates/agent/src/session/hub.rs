//! What a session's task and its users share: the connection, the context, and the waiting callers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pillion_protocol::IdeContext;
use tokio::sync::{Notify, oneshot, watch};

use super::decision::Decision;
use super::{Contexts, Status};
use crate::client::Client;
use crate::error::ClientError;
use crate::updates::Update;

#[derive(Debug)]
pub(super) struct Hub {
    status: watch::Sender<Status>,
    context: watch::Sender<IdeContext>,
    now: Mutex<Now>,
    /// Wakes the readers of the event stream.
    breaking: Notify,
}

/// Changes, by its sender's end, when a view has been closed.
type Closing = watch::Receiver<()>;

/// The right to close the view of a path. Until it is dropped no new one is opened there: the closing
/// would close that.
#[derive(Debug)]
pub(super) struct Turn {
    before: Option<Closing>,
    _over: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Now {
    client: Option<Arc<Client>>,
    /// The callers that wait for the outcome of a path.
    waiting: HashMap<String, oneshot::Sender<Decision>>,
    /// The views that are being closed, until they are.
    closing: HashMap<String, Closing>,
    /// Why the session cannot go on, though its event stream is open.
    broken: Option<String>,
}

impl Hub {
    pub(super) fn new() -> Self {
        Self {
            status: watch::Sender::new(Status::Connecting),
            context: watch::Sender::new(IdeContext::default()),
            now: Mutex::default(),
            breaking: Notify::new(),
        }
    }

    pub(super) fn connected(&self, client: Client) {
        let server = client.server().clone();
        self.now().client = Some(Arc::new(client));
        self.status.send_replace(Status::Connected(server));
    }

    /// No outcome will arrive for what was open.
    pub(super) fn disconnected(&self, reason: String) {
        *self.now() = Now::default();
        self.context.send_if_modified(|context| {
            let is_full = *context != IdeContext::default();
            *context = IdeContext::default();
            is_full
        });
        let status = Status::Disconnected { reason };
        self.status.send_if_modified(|known| {
            let is_news = *known != status;
            *known = status;
            is_news
        });
    }

    pub(super) fn take(&self, update: Update) {
        match update {
            Update::Context(context) => {
                self.context.send_replace(context.as_seen_by_agent());
            }
            Update::DiffAccepted {
                path,
                content: text,
                base,
            } => {
                self.settle(&path, Decision::Accepted { text, base });
            }
            Update::DiffRejected { path } => self.settle(&path, Decision::Rejected),
        }
    }

    /// Notifies the caller that waits for this path, if there is one.
    pub(super) fn settle(&self, path: &str, decision: Decision) {
        let mut now = self.now();
        if let Some(waiting) = now.waiting.remove(path) {
            // The waiter may be gone. Within the lock, because closing the view checks this first.
            let _ = waiting.send(decision);
        }
    }

    /// Waits for the outcome of this path from now on.
    pub(super) fn wait_for(
        &self,
        path: &str,
    ) -> Result<(Arc<Client>, oneshot::Receiver<Decision>), ClientError> {
        let mut now = self.now();
        let client = now.client.clone().ok_or(ClientError::NotConnected)?;
        if !client.can_diff() {
            return Err(ClientError::NoDiffs);
        }
        if now.waiting.contains_key(path) {
            return Err(ClientError::Busy(path.to_owned()));
        }
        let (sender, receiver) = oneshot::channel();
        now.waiting.insert(path.to_owned(), sender);
        Ok((client, receiver))
    }

    /// Forgets the caller that waited for this path, if it has gone. (Another may wait for it by now.)
    pub(super) fn forget(&self, path: &str) {
        let mut now = self.now();
        if now
            .waiting
            .get(path)
            .is_some_and(oneshot::Sender::is_closed)
        {
            now.waiting.remove(path);
        }
    }

    /// Takes the right to close the view of this path, unless the proposal that waits with `waiting`
    /// was decided.
    pub(super) fn start_closing(
        &self,
        path: &str,
        waiting: Option<&mut oneshot::Receiver<Decision>>,
    ) -> Result<Turn, Decision> {
        let mut now = self.now();
        if let Some(decision) = waiting.and_then(|waiting| waiting.try_recv().ok()) {
            return Err(decision);
        }
        let (over, closing) = watch::channel(());
        now.closing
            .retain(|_, closing| closing.has_changed().is_ok());
        let before = now.closing.insert(path.to_owned(), closing);
        Ok(Turn {
            before,
            _over: over,
        })
    }

    /// Waits until no view of this path is being closed: the closing would close a new one.
    pub(super) async fn closed(&self, path: &str) {
        let closing = self.now().closing.get(path).cloned();
        if let Some(mut closing) = closing {
            while closing.changed().await.is_ok() {}
        }
    }

    /// Looks at what a call came to: a companion that does not know the session any more, or refuses
    /// its token, has to be connected to anew, as MCP says, even if the event stream stays open.
    pub(super) fn heed<T>(&self, client: &Arc<Client>, outcome: &Result<T, ClientError>) {
        let Err(error @ ClientError::Refused(401 | 404)) = outcome else {
            return;
        };
        let mut now = self.now();
        if now
            .client
            .as_ref()
            .is_some_and(|it| Arc::ptr_eq(it, client))
        {
            now.broken = Some(error.to_string());
            self.breaking.notify_one();
        }
    }

    /// Waits until the session cannot go on; says why. Cancel-safe.
    pub(super) async fn broken(&self) -> String {
        loop {
            if let Some(reason) = self.now().broken.take() {
                return reason;
            }
            self.breaking.notified().await;
        }
    }

    pub(super) fn pending(&self) -> Vec<String> {
        self.now().waiting.keys().cloned().collect()
    }

    pub(super) fn client(&self) -> Option<Arc<Client>> {
        self.now().client.clone()
    }

    pub(super) fn status(&self) -> watch::Receiver<Status> {
        self.status.subscribe()
    }

    pub(super) fn contexts(&self) -> Contexts {
        let mut seen = self.context.subscribe();
        // What is known already is news to a new reader.
        if *seen.borrow() != IdeContext::default() {
            seen.mark_changed();
        }
        Contexts { seen }
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        // Nothing that holds the lock leaves it half done.
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn {
    /// Closes the view, after any earlier attempt to close one there.
    pub(super) async fn close(self, client: &Client, path: &str) -> Result<String, ClientError> {
        if let Some(mut before) = self.before {
            while before.changed().await.is_ok() {}
        }
        client.close_diff(path).await
    }
}
