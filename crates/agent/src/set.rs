//! Proposes files that belong together, and waits until a person has decided about each.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use pillion_protocol::{Note, Outcome, SetArgument};
use tokio::time::timeout;

use crate::client::Client;
use crate::error::ClientError;
pub use crate::proposed_file::ProposedFile;
use crate::updates::{Update, Updates};

/// The time limit for the companion to open or close a view when nobody waits for a decision any more.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// The time for which a decision that was made in the very last moment may be under way.
const LAST_MOMENT: Duration = Duration::from_secs(1);

/// The end for one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// A person decided.
    Decided {
        /// The decision.
        outcome: Outcome,
        /// The notes on it.
        notes: Vec<Note>,
    },
    /// Nobody decided before it was withdrawn.
    Withdrawn {
        /// The text in its view, if the person had edited it.
        edited: Option<String>,
        /// False if the companion does not respond, so that it may show the proposal still.
        is_closed: bool,
    },
}

/// The end for a file that the companion was not asked to show, or has refused.
pub const NOT_SHOWN: End = End::Withdrawn {
    edited: None,
    is_closed: true,
};

/// The result of a set.
#[derive(Debug)]
#[must_use]
pub struct Reviewed {
    /// The end for each file, in their order.
    pub ends: Vec<End>,
    /// The error, if there was one: then all that was not decided is withdrawn.
    pub error: Option<ClientError>,
}

/// Proposes files as one set, each to be decided on its own, and waits until a person has decided about all of them. When
/// `stop` ends before that, the others are withdrawn. `shown` is called once all are shown.
///
/// A companion that is not Pillion's knows no sets, and shows each file by itself. A session reviews one set at a time: what
/// `updates` has to say about other files meanwhile is skipped. Whoever drops this future ends the session, too, which takes
/// the views away. `decided` is called with the place of each file that was decided, at once.
pub async fn review(
    client: &Client,
    updates: &mut Updates,
    files: &[ProposedFile],
    shown: impl FnOnce(),
    decided: &mut dyn FnMut(usize, &End),
    stop: impl Future<Output = ()>,
) -> Reviewed {
    let mut review = Review {
        client,
        updates,
        files,
        ends: vec![None; files.len()],
        proposed: 0,
        decided,
    };
    let mut stop = pin!(stop);
    let error = review.open_and_wait(shown, stop.as_mut()).await.err();
    let ends = review.withdraw().await;
    Reviewed { ends, error }
}

struct Review<'a> {
    client: &'a Client,
    updates: &'a mut Updates,
    files: &'a [ProposedFile],
    /// None of those that are not decided.
    ends: Vec<Option<End>>,
    /// The number of files that the companion was asked to show.
    proposed: usize,
    decided: &'a mut dyn FnMut(usize, &End),
}

impl Review<'_> {
    /// Returns once all are decided, or `stop` has ended.
    async fn open_and_wait(
        &mut self,
        shown: impl FnOnce(),
        mut stop: Pin<&mut impl Future<Output = ()>>,
    ) -> Result<(), ClientError> {
        let name = self.client.new_set();
        for (at, file) in self.files.iter().enumerate() {
            let set = SetArgument {
                name: name.clone(),
                place: at as u32 + 1,
                of: self.files.len() as u32,
            };
            let set = (self.files.len() > 1).then_some(&set);
            let client = self.client;
            let mut opening = pin!(client.open(file, set));
            self.proposed = at + 1;
            tokio::select! {
                biased;
                opened = &mut opening => {
                    if opened.as_ref().is_err_and(|error| !leaves_it_open(error)) {
                        self.ends[at] = Some(NOT_SHOWN);
                    }
                    opened?;
                }
                () = &mut stop => {
                    // Only a view that is open can be closed.
                    let opened = timeout(CLOSE_TIMEOUT, opening).await;
                    if !matches!(opened, Ok(Ok(()))) {
                        self.ends[at] = Some(withdrawn(None, opened.is_ok()));
                    }
                    return Ok(());
                }
            }
        }
        shown();
        while self.ends.iter().any(Option::is_none) {
            tokio::select! {
                // Who decided in the same moment has decided.
                biased;
                decided = self.next_decision() => decided?,
                () = &mut stop => return Ok(()),
            }
        }
        Ok(())
    }

    /// Waits for one more decision about a file of this set. Cancel-safe.
    async fn next_decision(&mut self) -> Result<(), ClientError> {
        loop {
            let update = self.updates.next_of_session().await;
            let (path, outcome) = match update.map_err(|_| ClientError::Lost)? {
                Update::DiffAccepted {
                    path,
                    content,
                    base,
                } => {
                    let content = Arc::new(content);
                    (path, Outcome::Accepted { content, base })
                }
                Update::DiffRejected { path } => (path, Outcome::Rejected),
                Update::Context(_) => continue,
            };
            let files = self.files.iter().take(self.proposed);
            let at = files.zip(&self.ends);
            let at = { at }.position(|(file, end)| file.path == path && end.is_none());
            if let Some(at) = at {
                let notes = self.updates.take_notes();
                let end = End::Decided { outcome, notes };
                (self.decided)(at, &end);
                self.ends[at] = Some(end);
                return Ok(());
            }
        }
    }

    /// Withdraws all that nobody has decided about.
    async fn withdraw(mut self) -> Vec<End> {
        let mut is_responding = true;
        for (at, file) in self.files.iter().enumerate() {
            if at >= self.proposed {
                self.ends[at] = Some(NOT_SHOWN);
            }
            if self.ends[at].is_some() {
                continue;
            }
            let limit = match is_responding {
                true => CLOSE_TIMEOUT,
                false => Duration::ZERO,
            };
            let closed = timeout(limit, self.client.close_diff(&file.path)).await;
            is_responding &= closed.is_ok();
            let end = match closed {
                Ok(Ok(content)) => withdrawn(Some(content).filter(|it| *it != file.content), true),
                Ok(Err(error)) => {
                    self.hear_late(at).await;
                    // Otherwise there is nothing to close any more.
                    withdrawn(None, matches!(error, ClientError::Tool(_)))
                }
                Err(_) => withdrawn(None, false),
            };
            self.ends[at].get_or_insert(end);
        }
        self.ends.into_iter().flatten().collect()
    }

    /// Takes a decision about this file that was made in the moment in which it was to be closed.
    async fn hear_late(&mut self, at: usize) {
        while self.ends[at].is_none() {
            let decided = timeout(LAST_MOMENT, self.next_decision()).await;
            if !matches!(decided, Ok(Ok(()))) {
                return;
            }
        }
    }
}

fn withdrawn(edited: Option<String>, is_closed: bool) -> End {
    End::Withdrawn { edited, is_closed }
}

/// Returns true if the view may be open after this error: of anything else than a refusal that is not known.
fn leaves_it_open(error: &ClientError) -> bool {
    !matches!(
        error,
        ClientError::NoDiffs | ClientError::Tool(_) | ClientError::Refused(400..=499)
    )
}
