//! The handle through which a front end reports to its companion.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use pillion_protocol::{Dialect, File, ReviewChoice};

use crate::changes::{ActDone, ChangesAct, ChangesList};
use crate::decision::{Decide, Ruling};
use crate::editor::{Chosen, Report};
use crate::proposal::ProposalKey;
use crate::reply::Reply;

/// A front end's way to report to its companion. Cheap to clone; never blocks. When the
/// companion is gone, nothing happens.
#[derive(Clone)]
pub struct Handle {
    report: Arc<dyn Fn(Report) + Send + Sync>,
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Handle")
    }
}

impl Handle {
    /// One that hands each report to `report`, which returns at once.
    pub fn new(report: impl Fn(Report) + Send + Sync + 'static) -> Self {
        let report = Arc::new(report);
        Self { report }
    }

    /// Reports something.
    pub fn report(&self, report: Report) {
        (self.report)(report);
    }

    /// Reports the open files and what is focused: the whole list (C4.2).
    pub fn report_context(&self, files: Vec<File>, is_trusted: Option<bool>) {
        self.report(Report::Context { files, is_trusted });
    }

    /// The person decided about a proposal: the companion's gate rules whether that counts. The view stays until it
    /// has answered. A decision that is taken before the front end leaves is carried out.
    pub fn decide(&self, decide: Decide, ruling: Reply<Ruling>) {
        self.report(Report::Decide(Box::new(decide), Instant::now(), ruling));
    }

    /// This stands in the view of a proposal; none if the person has changed nothing there. It is kept in case the view, the
    /// hub or the agent ends before somebody decides.
    pub fn keep_draft(&self, key: ProposalKey, text: Option<String>) {
        self.report(Report::Draft(key, text));
    }

    /// One file was saved, by the person or by an agent: only the person's are the focus.
    pub fn saved(&self, file: File) {
        self.report(Report::Saved(file));
    }

    /// The editor's text of a file and the file are the same now.
    pub fn synced(&self, path: PathBuf, is_saved: bool) {
        self.report(Report::Synced { path, is_saved });
    }

    /// The person points agents to a file, or to its lines from the first to the last, from 0. `reply`
    /// gets the agent whose prompt names it now; none if no agent that is connected knows mentions.
    pub fn mention(&self, path: PathBuf, lines: Option<(u32, u32)>, reply: Reply<Option<Dialect>>) {
        self.report(Report::Mention { path, lines, reply });
    }

    /// The person chooses when agents ask before they change files; without a choice, `reply` gets what is chosen.
    pub fn review(&self, choice: Option<ReviewChoice>, reply: Reply<Chosen>) {
        self.report(Report::Review(choice, reply));
    }

    /// The person sends the notes that wait for agents, so that these read them at once. `reply` gets what came of it.
    pub fn send_notes(&self, reply: Reply<Chosen>) {
        self.report(Report::SendNotes(reply));
    }

    /// `reply` gets the changes that agents have written already.
    pub fn changes(&self, reply: Reply<ChangesList>) {
        self.report(Report::Changes(reply));
    }

    /// The person does something with such changes. `reply` gets what came of it.
    pub fn act(&self, act: ChangesAct, reply: Reply<ActDone>) {
        self.report(Report::Act(Box::new(act), reply));
    }

    /// The editor's workspace roots changed (C2.5).
    pub fn change_roots(&self, roots: Vec<PathBuf>) {
        self.report(Report::Roots(roots));
    }

    /// The editor's process is another one now: agents find the companion by it, and by its ancestors.
    pub fn change_editor(&self, pid: u32) {
        self.report(Report::Editor(pid));
    }

    /// The front end leaves; it gets [`EditorEvent::Stopped`](crate::EditorEvent::Stopped). The companion stops with the
    /// last one, and pending diffs count as rejected then (C5.7).
    pub fn leave(&self) {
        self.report(Report::Leave);
    }
}
