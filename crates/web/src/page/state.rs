//! What tabs are told of diffs and agents.

use pillion_judge::{Judged, marks};
use pillion_protocol::Dialect;
use pillion_text::visible;
use pillion_view::DiffId;
use pillion_view::changes::IS_WRITTEN;

use super::{Page, Shown};
use crate::wire;

/// [`IS_WRITTEN`], with the names of the page's buttons.
const IS_WRITTEN_HERE: &str = "This change is already in the file. Keep leaves it there; what you exclude or edit is written to the file then. Take back restores what was there before. Leave changes nothing.";

impl Page {
    /// The agents, and what they do.
    pub(super) fn status_now(&self) -> wire::StatusNow {
        let status = &self.status;
        let review = status.review.as_ref();
        let names = |agents: &[Dialect]| {
            agents
                .iter()
                .map(|it| it.display_name().to_owned())
                .collect()
        };
        wire::StatusNow {
            agents: names(&status.agents),
            working: names(&status.working),
            mode: review.map(|it| it.label.clone()),
            choice: review.and_then(|it| Some(it.mode?.name().to_owned())),
            asking: status.asking.clone(),
            warnings: status
                .unasked
                .iter()
                .chain(&status.warnings)
                .cloned()
                .collect(),
            unseen: status.unseen,
            waiting: status.waiting.clone(),
            decided: status.decided.as_ref().map(|it| it.text.clone()),
        }
    }

    /// What a diff is now for a tab.
    pub(crate) fn diff_state(&mut self, id: DiffId, tab: &str) -> Option<wire::DiffState> {
        let agent = self.agent_name(id);
        let has_roots = !self.roots.is_empty();
        let view = self.views.find_mut(id)?;
        let seen = seen_now(view, tab);
        let (g, judged) = (view.g, &view.judged);
        let proposal = &judged.proposal;
        let count = proposal.count();
        let hunks = proposal
            .hunks()
            .iter()
            .enumerate()
            .map(|(at, hunk)| wire::HunkState {
                before: (hunk.before.start, hunk.before.end),
                after: (hunk.after.start, hunk.after.end),
                out: hunk.out,
                mark: hunk.mark.map(|mark| marks::name(mark).to_owned()),
                white: judged.white.get(at) == Some(&true),
            });
        let remarks = judged.hunk_notes.iter().map(|note| {
            let lines = note.lines_in(proposal);
            wire::Remark {
                lines: (!note.is_on_file).then_some((lines.start, lines.end)),
                removed: note.removed_in(proposal).map(|it| (it.start, it.end)),
                place: note.place(proposal),
                text: note.text.clone(),
                says: visible::lines(&note.says(proposal)),
            }
        });
        let mode = judged.diff.mode.map(|it| it.to_string());
        let of_agent = judged.notes_of_agent().map(|note| match &*note {
            IS_WRITTEN => IS_WRITTEN_HERE.to_owned(),
            _ => note,
        });
        Some(wire::DiffState {
            id: id.0,
            revision: judged.diff.revision,
            g,
            shown: judged.target.shown.clone(),
            name: judged.diff.file_name(),
            agent,
            does: judged.diff.does().to_owned(),
            set: judged.diff.set,
            is_comparing: judged.is_comparing(),
            added: count.added,
            removed: count.removed,
            hunks: hunks.collect(),
            lines: (proposal.before().len(), proposal.after().len()),
            facts: judged.facts(has_roots, &self.keys),
            notes: mode.into_iter().chain(of_agent).collect(),
            written: judged.diff.written.clone(),
            is_new: proposal.is_new_file(),
            deletes: judged.diff.deletes,
            is_one_sided: judged.is_one_sided(),
            can_merge: judged.can_merge(),
            takes_no_edits: judged.takes_no_edits(),
            undo: (judged.acts(), proposal.steps().1),
            remarks: remarks.collect(),
            reason: judged.reason.clone(),
            ignores_white: judged.ignores_white,
            is_deciding: judged.deciding.is_some(),
            seen,
            is_generated: is_generated(judged),
        })
    }
}

/// What a tab has seen of a diff.
pub(crate) fn seen_now(view: &mut Shown, tab: &str) -> wire::SeenNow {
    view.as_seen_by(tab, |judged| wire::SeenNow {
        hunks: (0..judged.proposal.hunks().len())
            .map(|hunk| judged.has_seen(hunk))
            .collect(),
        unseen: judged.seen_hunks().unseen,
        whole: judged.is_all_seen(),
    })
}

/// Returns true if programs write the file, and people rarely read it.
fn is_generated(judged: &Judged) -> bool {
    const NAMES: [&str; 8] = [
        "Cargo.lock",
        "package-lock.json",
        "yarn.lock",
        "pnpm-lock.yaml",
        "poetry.lock",
        "composer.lock",
        "Gemfile.lock",
        "go.sum",
    ];
    let name = judged.diff.file_name();
    let after = judged.proposal.after();
    let says_so = |line: usize| {
        let line = after.shown(line);
        line.contains("@generated") || line.contains("Code generated by")
    };
    NAMES.contains(&&*name) || (0..after.len().min(5)).any(says_so)
}
