//! A session that outlives its companion: it comes back when the companion does.

mod backoff;
mod contexts;
mod decision;
mod hub;
mod proposal;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;

pub use contexts::Contexts;
pub use decision::Decision;
pub use proposal::Proposal;

use crate::address::Address;
use crate::client::Client;
use crate::error::{ClientError, within};
use crate::introduction::Server;
use crate::updates::Updates;
use backoff::Backoff;
use hub::Hub;

/// How long leaving may take in all.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// A connection that lasted so long was a good one.
const STABLE: Duration = Duration::from_secs(5);

/// Finds the companion.
type Find = Box<dyn FnMut() -> Option<Address> + Send>;

/// A session with whichever companion is found, for as long as this value lives.
///
/// It comes back when the connection broke or the companion has forgotten it. What was proposed
/// before is not proposed again: those [`Proposal`]s end with [`ClientError::Lost`], and each is
/// settled at most once.
///
/// [`end`](Self::end) closes the open views and says goodbye. Dropping it leaves without a word, as
/// agents do: proposals that are still held end with [`ClientError::Lost`].
///
/// ```
/// # mod accepting { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shared/accepting.rs")); }
/// use pillion_agent::{Decision, Session};
///
/// # let companion = accepting::Accepting::start();
/// # let address = companion.address();
/// # accepting::run(async {
/// let session = Session::connect(move || Some(address.clone())).await?;
/// match session.propose("/tmp/notes.md", "new text\n").await? {
///     // The agent writes the file, never the companion (C5.9).
///     Decision::Accepted { text, .. } => assert_eq!(text, "new text\n"),
///     Decision::Rejected | Decision::Closed(_) => {}
/// }
/// session.end().await;
/// # Ok(())
/// # });
/// ```
#[derive(Debug)]
pub struct Session {
    hub: Arc<Hub>,
    task: JoinHandle<()>,
}

/// Whether a session has its companion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// The first attempt is under way.
    Connecting,
    /// It has.
    Connected(Server),
    /// It has not, and tries again from time to time.
    Disconnected {
        /// Why, for people.
        reason: String,
    },
}

impl Session {
    /// Connects to the companion that `find` finds.
    ///
    /// `find` is called again before every later attempt, because a companion that was started again
    /// has another port and another token. It runs on the session's task and may block for
    /// milliseconds; if it panics the session stays disconnected.
    ///
    /// # Errors
    /// When the first attempt fails: [`ClientError::NotConnected`] if `find` finds nothing, else as
    /// [`Client::connect_to`]. Later attempts are repeated, with pauses of up to five seconds.
    pub async fn connect(
        find: impl FnMut() -> Option<Address> + Send + 'static,
    ) -> Result<Self, ClientError> {
        let mut find: Find = Box::new(find);
        let first = dial(&mut find).await?;
        Ok(Self::spawn(find, Some(first)))
    }

    /// As [`connect`](Self::connect), but comes back at once and repeats the first attempt, too.
    ///
    /// # Panics
    /// Outside of a Tokio runtime.
    pub fn start(find: impl FnMut() -> Option<Address> + Send + 'static) -> Self {
        Self::spawn(Box::new(find), None)
    }

    fn spawn(find: Find, first: Option<(Client, Updates)>) -> Self {
        let hub = Arc::new(Hub::new());
        let first = first.map(|(client, updates)| {
            hub.connected(client);
            updates
        });
        let task = tokio::spawn(keep_connected(Hearing(Arc::clone(&hub)), find, first));
        Self { hub, task }
    }

    /// Whether it is connected just now.
    pub fn status(&self) -> Status {
        self.hub.status().borrow().clone()
    }

    /// The status and its changes.
    pub fn follow_status(&self) -> watch::Receiver<Status> {
        self.hub.status()
    }

    /// What the editor shows: what is known now, if anything is, and every change.
    pub fn follow_context(&self) -> Contexts {
        self.hub.contexts()
    }

    /// Proposes a text for a file, by its absolute path, and waits for the outcome. When this is
    /// dropped before, the view is closed.
    ///
    /// # Errors
    /// As [`open_diff`](Self::open_diff) and [`Proposal::decision`].
    pub async fn propose(&self, path: &str, text: &str) -> Result<Decision, ClientError> {
        self.open_diff(path, text).await?.decision().await
    }

    /// Proposes a text for a file, by its absolute path (C5.1). Returns when the view is open. When
    /// this is dropped before, the view is closed.
    ///
    /// # Errors
    /// [`ClientError::Tool`] when the companion cannot show it, [`ClientError::Busy`] when this
    /// session has a diff open on this path, [`ClientError::NoDiffs`] when the companion shows none,
    /// [`ClientError::NotConnected`] when it is away, [`ClientError::Refused`] when it has forgotten
    /// the session (404) or refuses its token (401), which is then opened anew, and otherwise when
    /// the companion does not answer or makes no sense.
    pub async fn open_diff(&self, path: &str, text: &str) -> Result<Proposal, ClientError> {
        Proposal::open(&self.hub, path, text).await
    }

    /// Ends the session, and closes the views that are open in it: a caller that waits for one gets
    /// [`Decision::Closed`], or the decision that was made just before. Takes two seconds at most.
    pub async fn end(mut self) {
        // Most companions do not let sessions be ended: the stream's end tells them, too.
        let _ = within(CLOSE_TIMEOUT, self.leave()).await;
    }

    async fn leave(&mut self) -> Result<(), ClientError> {
        let client = self.hub.client();
        if let Some(client) = &client {
            // It still listens: what was decided just now counts.
            for path in self.hub.pending() {
                // The companion may have closed it just now.
                if let Ok(text) = client.close_diff(&path).await {
                    self.hub.settle(&path, Decision::Closed(text));
                }
            }
        }
        self.task.abort();
        // It may be about to connect again.
        let _ = (&mut self.task).await;
        match client {
            Some(client) => client.end().await,
            None => Ok(()),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn dial(find: &mut Find) -> Result<(Client, Updates), ClientError> {
    let address = find().ok_or(ClientError::NotConnected)?;
    Client::connect_to(address).await
}

/// Tells everybody when nothing is heard any more.
struct Hearing(Arc<Hub>);

impl Drop for Hearing {
    fn drop(&mut self) {
        self.0.disconnected("the session is over".to_owned());
    }
}

async fn keep_connected(hearing: Hearing, mut find: Find, mut first: Option<Updates>) {
    let hub = &*hearing.0;
    let mut backoff = Backoff::default();
    loop {
        let dialled = match first.take() {
            Some(updates) => Ok(updates),
            None => dial(&mut find).await.map(|(client, updates)| {
                hub.connected(client);
                updates
            }),
        };
        let reason = match dialled {
            Ok(updates) => {
                let since = tokio::time::Instant::now();
                let reason = listen(hub, updates).await;
                if since.elapsed() >= STABLE {
                    backoff = Backoff::default();
                }
                reason
            }
            Err(error) => error.to_string(),
        };
        hub.disconnected(reason);
        tokio::time::sleep(backoff.next()).await;
    }
}

/// Passes on what the companion pushes, until it is gone; says why.
async fn listen(hub: &Hub, mut updates: Updates) -> String {
    let mut backoff = Backoff::default();
    loop {
        let since = tokio::time::Instant::now();
        loop {
            tokio::select! {
                // What was decided before counts.
                biased;
                update = updates.next() => match update {
                    Some(update) => hub.take(update),
                    None => break,
                },
                reason = hub.broken() => return reason,
            }
        }
        if since.elapsed() >= STABLE {
            backoff = Backoff::default();
        } else if backoff.is_long() {
            return "it keeps closing the event stream".to_owned();
        } else {
            tokio::time::sleep(backoff.next()).await;
        }
        if let Err(error) = updates.reopen().await {
            return error.to_string();
        }
    }
}
