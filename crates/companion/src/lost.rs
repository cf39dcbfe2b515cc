//! Owns the texts that were accepted and never reached their agent. One that only the person had is put into a
//! private file, and the person gets a message either way.
//!
//! Front ends keep nothing of what was accepted. So that no text gets lost in between, a diff whose agent is gone
//! is remembered until the editor has closed its view, and an edited text stays in flight until the agent has sent
//! a request.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pillion_discovery::kept_text;
use pillion_protocol::{Outcome, Proposer};
use pillion_view::{DiffId, Loss, LostOutcome, LostText};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::disk::{CHECK_TIMEOUT, DiskThreads};
use crate::ids::ViewId;
use crate::outbox::Delivery;
use crate::target::check;

/// The most files that may be checked, and texts that may be kept, at once.
const MAX_CHECKS: usize = 16;

/// Everything that is being kept is, or is known to be lost, within this time.
pub(crate) const KEPT_WITHIN: Duration = Duration::from_secs(5);

/// An accepted text that no agent takes any more.
#[derive(PartialEq, Eq)]
pub(crate) struct Lost {
    /// The diff that was accepted, if it was.
    pub(crate) of: Option<DiffId>,
    pub(crate) proposer: Proposer,
    pub(crate) file_path: String,
    pub(crate) content: String,
    /// True if nobody else has it: it differs from what the agent proposed, or has written.
    pub(crate) is_kept: bool,
    pub(crate) how: Loss,
    /// The view in which the person wrote it, if they are to be told there.
    pub(crate) view: Option<ViewId>,
}

/// The end of a text that seemed lost.
#[derive(Debug)]
pub(crate) struct Told {
    /// The diff that was accepted, if it was.
    pub(crate) of: Option<DiffId>,
    /// The view that is to tell the person.
    pub(crate) view: Option<ViewId>,
    /// What they are told; nothing, if the file has it: then it was taken after all.
    pub(crate) lost: Option<LostOutcome>,
}

/// The ways to two disks: one that hangs does not keep the other from being used.
#[derive(Debug, Clone)]
struct Disks {
    /// To the files that agents were to write.
    checks: DiskThreads,
    /// To where texts are kept.
    writes: DiskThreads,
}

/// The texts that are being kept.
#[derive(Debug)]
pub(crate) struct Losses {
    places: Arc<[PathBuf]>,
    disks: Disks,
    keeping: JoinSet<Told>,
}

impl Losses {
    /// Texts are kept below the first of these directories that can be written to.
    pub(crate) fn new(places: impl Into<Arc<[PathBuf]>>) -> Self {
        Self {
            places: places.into(),
            disks: Disks {
                checks: DiskThreads::new(MAX_CHECKS),
                writes: DiskThreads::new(MAX_CHECKS),
            },
            keeping: JoinSet::new(),
        }
    }

    pub(crate) fn add(&mut self, lost: Lost) {
        let (places, disks) = (Arc::clone(&self.places), self.disks.clone());
        self.keeping.spawn(lost.keep(places, disks));
    }

    /// Returns true if nothing is being kept or waits to be reported.
    #[cfg(unix)]
    pub(crate) fn is_empty(&self) -> bool {
        self.keeping.is_empty()
    }

    /// The next one to report; none when nothing is being kept. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Option<Told> {
        while let Some(kept) = self.keeping.join_next().await {
            if let Ok(told) = kept {
                return Some(told);
            }
        }
        None
    }
}

impl Lost {
    /// Returns what is lost of an outcome that its agent did not take.
    pub(crate) fn new(delivery: Delivery) -> Option<Self> {
        let Outcome::Accepted { content, .. } = delivery.outcome else {
            return None;
        };
        Some(Self {
            of: delivery.id,
            proposer: delivery.proposer,
            file_path: delivery.file_path,
            content: Arc::unwrap_or_clone(content),
            is_kept: delivery.is_edited,
            how: Loss::Undelivered,
            view: None,
        })
    }

    /// Keeps the text, unless the file has it.
    async fn keep(self, places: Arc<[PathBuf]>, disks: Disks) -> Told {
        let (of, view) = (self.of, self.view);
        let lost = self.keep_unwritten(places, disks).await;
        Told { of, view, lost }
    }

    async fn keep_unwritten(self, places: Arc<[PathBuf]>, disks: Disks) -> Option<LostOutcome> {
        let lost = Arc::new(self);
        let checking = Arc::clone(&lost);
        let checked = disks.checks.run(move || checking.is_written());
        if matches!(timeout(CHECK_TIMEOUT, checked).await, Ok(Some(true))) {
            return None;
        }
        let (proposer, how, path) = (lost.proposer, lost.how, PathBuf::from(&lost.file_path));
        let text = if lost.is_kept {
            let place = places.first().map(PathBuf::as_path);
            let silent = kept_text::silent(place.unwrap_or(Path::new("")));
            let put = disks.writes.run(move || lost.put(&places));
            let put = timeout(kept_text::KEEP_TIMEOUT, put).await.ok().flatten();
            put.unwrap_or(LostText::NotKept(silent.to_string()))
        } else {
            LostText::AsProposed
        };
        Some(LostOutcome {
            proposer,
            how,
            path,
            text,
        })
    }

    fn is_written(&self) -> bool {
        let target = check(&self.file_path, true);
        target.is_ok_and(|it| it.original.text.as_deref() == Some(self.content.as_bytes()))
    }

    fn put(&self, places: &[PathBuf]) -> LostText {
        let path = Path::new(&self.file_path);
        kept_text::keep_in(places, path, &self.content)
            .map_or_else(|error| LostText::NotKept(error.to_string()), LostText::Kept)
    }
}

/// Without the text: it belongs into no log.
impl fmt::Debug for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lost")
            .field("proposer", &self.proposer)
            .field("file_path", &self.file_path)
            .field("is_kept", &self.is_kept)
            .finish_non_exhaustive()
    }
}
