//! An acceptance beside the file that it is about, as that is now. Looks at the disk, and never writes (C5.9).

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pillion_changes::has_other_names;
use pillion_discovery::{real_path, runner};
use pillion_protocol::runs_code::Runner;
use pillion_protocol::{Dialect, Proposer};
use pillion_text::{Text, fingerprint, merge};
use pillion_view::{Decide, Original, Stamp};

use crate::gate::{Doubt, Weighed, weigh, weigh_blind};
use crate::line_endings;
use crate::on_disk::{FileState, OnDisk};
use crate::proposal::Proposal;

/// The facts that are needed to weigh an acceptance.
#[derive(Debug, Clone)]
pub(crate) struct Acceptance {
    /// Shared with the loop, which carries it out: its text may be large.
    pub(crate) decide: Arc<Decide>,
    /// With its text as it is shown.
    pub(crate) proposal: Proposal,
    pub(crate) roots: Arc<[PathBuf]>,
    /// As the agent wrote it.
    pub(crate) as_written: Arc<String>,
    /// The file's state when the change was proposed, once that was checked.
    pub(crate) opened: Option<FileState>,
    /// Acceptances for the same file, and what the file was then.
    pub(crate) unwritten: Vec<(Option<Stamp>, Proposer)>,
    /// What was accepted of the same agent for the same file, and what that was then.
    pub(crate) accepted_before: Option<(OnDisk, Arc<String>)>,
    /// True if the agent asks in its own window, too, and that question can be answered.
    pub(crate) is_asked: bool,
}

#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) doubts: Vec<Doubt>,
    /// The file's state; nothing if the disk did not answer.
    pub(crate) file: Option<FileState>,
    /// Of the accepted text, if anything is doubted: a question is about one text.
    pub(crate) fingerprint: String,
    /// If the agent has not written yet what was accepted before.
    pub(crate) together: Option<Together>,
}

/// What comes of two changes of a file that were both proposed beside the same text: their agent makes one after the other.
#[derive(Debug)]
pub(crate) struct Together {
    /// The fingerprint of the text with the first.
    pub(crate) over: String,
    /// With both.
    pub(crate) text: Arc<String>,
}

impl Acceptance {
    /// Waits for the disk.
    pub(crate) fn weigh(self) -> Finding {
        let path = Path::new(&self.proposal.file_path);
        // A link that a change made is meant itself, and not what it leads to.
        let (on_disk, read) = match self.proposal.written() {
            Some(_) => (OnDisk::itself(path), None),
            None => {
                let on_disk = OnDisk::check(path);
                let read = Original::read(&on_disk.leads_to).ok();
                (on_disk, read)
            }
        };
        let is_read = read.is_some();
        let bytes = read.and_then(|file| file.text);
        let text = is_read.then(|| fingerprint::of(bytes.as_deref()));
        let opened = self.opened.as_ref();
        let has_changed = opened.is_some_and(|it| it.has_changed(&on_disk, bytes.as_deref()));
        let stand_in = self.proposal.stand_in.as_ref();
        let bytes = match stand_in {
            Some(stand_in) => stand_in
                .find(bytes.as_deref().unwrap_or_default())
                .ok()
                .and_then(|it| it.text)
                .map(String::into_bytes),
            None => bytes,
        };
        let together = self.together(&on_disk, bytes.as_deref().unwrap_or_default());
        let original =
            match self.proposal.proposer.is(Dialect::restores_line_ends) && stand_in.is_none() {
                true => bytes.clone().map(|bytes| {
                    line_endings::adapt(bytes, &self.as_written, None)
                        .original
                        .into()
                }),
                false => bytes.as_deref().map(Cow::from),
            };
        // Written since, or not: a file that is as it was then does not have that text yet.
        let mut unwritten = self.unwritten.iter().rev();
        let unwritten = unwritten.find(|(stamp, _)| *stamp == on_disk.stamp);
        // A root may be a link. Most are none, and then there is nothing to look up.
        let is_below = |root: &PathBuf| on_disk.leads_to.starts_with(root);
        let roots: Cow<'_, [PathBuf]> = match self.roots.iter().any(is_below) {
            true => Cow::Borrowed(&self.roots),
            false => self.roots.iter().map(|root| real_path(root)).collect(),
        };
        let accepted = self.accepted();
        // Of one that is made over a text which is not written yet, the text before is not known here.
        let is_edited = accepted != *self.proposal.proposed && self.proposal.over.is_none();
        let before = bytes.as_deref().map(str::from_utf8).transpose();
        let cannot_write = |before| self.proposal.cannot_write(before, accepted);
        let is_inexpressible = is_edited && before.is_ok_and(cannot_write);
        let doubts = weigh(Weighed {
            is_inexpressible,
            path: &on_disk.leads_to,
            runner: runner(Path::new(&self.proposal.file_path)),
            roots: &roots,
            has_other_names: has_other_names(&on_disk.leads_to),
            // What is written already is decided about as the file is by then, and no newer change is lost.
            has_changed: has_changed && self.proposal.written().is_none(),
            on_disk: bytes.as_deref(),
            original,
            unwritten: unwritten.map(|(_, proposer)| *proposer),
            ..self.weighed()
        });
        Finding {
            together,
            ..self.finding(doubts, Some(FileState { on_disk, text }))
        }
    }

    /// With what was accepted before, if the file is as it was then, and both change other lines.
    fn together(&self, on_disk: &OnDisk, bytes: &[u8]) -> Option<Together> {
        let (then, before) = self.accepted_before.as_ref()?;
        if then != on_disk || self.proposal.stand_in.is_some() {
            return None;
        }
        let [base, this, first] =
            [bytes, self.accepted().as_bytes(), before.as_bytes()].map(Text::new);
        let merged = merge::texts(&base, &this, &first);
        let text = (merged.conflicts == 0).then_some(merged.text)?;
        Some(Together {
            over: fingerprint::of(Some(before.as_bytes())),
            text: Arc::new(String::from_utf8(text).ok()?),
        })
    }

    /// If the disk does not answer: what is doubted without a look at the file.
    pub(crate) fn weigh_blind(self) -> Finding {
        self.finding(weigh_blind(&self.weighed()), None)
    }

    fn accepted(&self) -> &str {
        self.decide
            .verdict
            .text()
            .unwrap_or(&self.proposal.proposed)
    }

    /// What there is to weigh without a look at the file.
    fn weighed(&self) -> Weighed<'_> {
        let (proposal, seen) = (&self.proposal, self.decide.by.seen());
        Weighed {
            proposer: proposal.proposer,
            path: Path::new(&proposal.file_path),
            runner: Runner::of(Path::new(&proposal.file_path)),
            // What is gone already is not deleted by accepting that.
            deletes: proposal.deletes && proposal.written().is_none(),
            roots: &[],
            has_other_names: false,
            proposed: &proposal.proposed,
            accepted: self.accepted(),
            unseen: seen.and_then(|seen| seen.unseen_hunks),
            against: seen.map(|seen| seen.against).unwrap_or_default(),
            has_changed: false,
            base: self.decide.base.as_deref(),
            on_disk: None,
            original: None,
            unwritten: None,
            is_asked: self.is_asked,
            is_inexpressible: false,
            is_of_hook: proposal.held().is_some(),
        }
    }

    fn finding(&self, doubts: Vec<Doubt>, file: Option<FileState>) -> Finding {
        let fingerprint = match doubts.is_empty() {
            true => String::new(),
            false => fingerprint::hash(self.accepted().as_bytes()),
        };
        Finding {
            doubts,
            file,
            fingerprint,
            together: None,
        }
    }
}
