//! Lines of a diff that are selected: they are taken out, or noted, by themselves.

use std::ops::Range;
use std::time::Instant;

use pillion_judge::HunkNote;
use pillion_judge::proposal::Part;
use pillion_judge::rows::Row;
use pillion_view::DiffId;

use super::{App, Tone};

/// Rows of a diff, as it was arranged then.
#[derive(Debug, Clone, Copy)]
pub struct Selection {
    diff: DiffId,
    arrangement: u64,
    /// The row where it began: it ends at the cursor.
    anchor: usize,
}

impl App {
    /// The selected rows of the shown diff, unless it was arranged anew since.
    pub fn selected(&self) -> Option<Range<usize>> {
        let (selection, view) = (self.selection?, self.view()?);
        let is_there =
            selection.diff == view.diff.id && selection.arrangement == view.arrangement();
        let (anchor, row) = (selection.anchor, view.cursor);
        is_there.then(|| anchor.min(row)..anchor.max(row) + 1)
    }

    /// Begins to select at the cursor, or ends that.
    pub(super) fn select(&mut self, now: Instant) {
        if self.selected().is_some() {
            return self.end_selection();
        }
        let view = &self.views[self.current];
        self.selection = Some(Selection {
            diff: view.diff.id,
            arrangement: view.arrangement(),
            anchor: view.cursor,
        });
        let text = "<down> and <up> select lines: <exclude> excludes them, <note> notes them, <end-search> ends this";
        let text = self.keys.fill(text);
        self.say(Tone::Info, text, now);
    }

    pub(super) fn end_selection(&mut self) {
        self.selection = None;
        self.message = None;
    }

    /// The changed lines that are selected, hunk by hunk.
    fn selected_parts(&self) -> Option<Vec<Part>> {
        let rows = self.selected()?;
        Some(self.view()?.rows().parts(rows))
    }

    /// Takes the selected lines out, or back in. Returns false if nothing is selected.
    pub(super) fn toggle_selected(&mut self, now: Instant) -> bool {
        let Some(parts) = self.selected_parts() else {
            return false;
        };
        if parts.is_empty() {
            self.say(Tone::Info, "none of these lines changes", now);
            return true;
        }
        let toggled = self.views[self.current].proposal.toggle_lines(&parts);
        self.end_selection();
        self.toggled(toggled, now);
        true
    }

    /// Splits the hunk above the line at the cursor, or the selected lines off.
    pub(super) fn split(&mut self, now: Instant) {
        let selected = self.selected_parts();
        self.end_selection();
        let view = &mut self.views[self.current];
        let parts = selected.unwrap_or_else(|| view.part_below_cursor().into_iter().collect());
        let text = match view.proposal.split(&parts) {
            true => "split: <exclude> excludes what begins here, <undo> undoes it",
            false => "nothing to split off: put the cursor below the first line of the hunk",
        };
        let text = self.keys.fill(text);
        self.say(Tone::Info, text, now);
    }

    /// The note on the lines that are selected, or else on the one at the cursor, or else on all of the hunk that begins there. It is
    /// empty if there is none yet.
    pub(super) fn noted(&self) -> Option<HunkNote> {
        let view = self.view()?;
        let rows = match self.selected() {
            None if let Some(Row::Note(note)) = view.rows().get(view.cursor) => {
                return view.hunk_notes.get(note).cloned();
            }
            None if view.rows().of_hunk(view.hunk).start == view.cursor => {
                return view.note_on_hunk(view.hunk);
            }
            None => view.cursor..view.cursor + 1,
            Some(rows) => rows,
        };
        let rows = rows.filter_map(|row| view.rows().get(row)).map(Row::lines);
        let (before, after): (Vec<_>, Vec<_>) = rows.unzip();
        let all = |lines: Vec<Option<usize>>| {
            let mut lines = lines.into_iter().flatten();
            let first = lines.next()?;
            Some(first..lines.last().unwrap_or(first) + 1)
        };
        match (all(after), all(before)) {
            (Some(lines), _) => Some(view.note_at(lines)),
            // Nothing is left of these lines but their place.
            (None, Some(lines)) => view.note_on_removed(lines),
            (None, None) => view.note_on_hunk(view.hunk),
        }
    }
}
