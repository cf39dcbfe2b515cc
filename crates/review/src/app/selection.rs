//! Lines of a diff that are selected: they are taken out, or noted, by themselves.

use std::ops::Range;
use std::time::Instant;

use pillion_judge::act::Act;
use pillion_judge::proposal::Part;
use pillion_view::DiffId;

use super::{App, Tone};
use crate::view::Viewport;

/// Rows of a diff, as it was arranged then.
#[derive(Debug, Clone, Copy)]
pub struct Selection {
    diff: DiffId,
    arrangement: u64,
    /// The row where it began, and the one that moves.
    anchor: usize,
    row: usize,
}

impl App {
    /// The selected rows of the shown diff, unless it was arranged anew since.
    pub fn selected(&self) -> Option<Range<usize>> {
        let (selection, view) = (self.selection?, self.view()?);
        let is_there =
            selection.diff == view.diff.id && selection.arrangement == view.arrangement();
        let Selection { anchor, row, .. } = selection;
        is_there.then(|| anchor.min(row)..anchor.max(row) + 1)
    }

    /// Begins to select at the first row of the hunk that is in sight, or ends that.
    pub(super) fn select(&mut self, viewport: &Viewport, now: Instant) {
        if self.selected().is_some() {
            return self.end_selection();
        }
        let view = &mut self.views[self.current];
        let (seen, hunk) = (view.visible(viewport), view.rows().of_hunk(view.hunk));
        let row = hunk.start.clamp(seen.start, seen.end.saturating_sub(1));
        self.selection = Some(Selection {
            diff: view.diff.id,
            arrangement: view.arrangement(),
            anchor: row,
            row,
        });
        let text = "<down> and <up> select lines: <exclude> takes them out, <note> notes them, <end-search> ends this";
        let text = self.keys.fill(text);
        self.say(Tone::Info, text, now);
    }

    pub(super) fn end_selection(&mut self) {
        self.selection = None;
        self.message = None;
    }

    /// Moves the end of the selection. Returns false if nothing is selected, or the act does not move it.
    pub(super) fn extend_selection(&mut self, act: Act, viewport: &Viewport) -> bool {
        if self.selected().is_none() {
            return false;
        }
        let Some(selection) = &mut self.selection else {
            return false;
        };
        let view = &mut self.views[self.current];
        let last = view.rows().count().saturating_sub(1);
        let page = u16::try_from(viewport.height).unwrap_or(u16::MAX);
        let Some(to) = super::acts::moved(act, selection.row, last, page.saturating_sub(2)) else {
            return false;
        };
        selection.row = to;
        view.bring_into_view(to, viewport);
        true
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

    /// The lines of the text after that a note is about: those that are selected, or else the hunk's.
    pub(super) fn noted_lines(&self) -> Option<Range<usize>> {
        let view = self.view()?;
        let hunks = || view.lines_of_hunk(view.hunk);
        let Some(rows) = self.selected() else {
            return hunks();
        };
        let lines = rows.filter_map(|row| view.rows().get(row).and_then(|it| it.lines().1));
        let lines: Vec<_> = lines.collect();
        match (lines.first(), lines.last()) {
            (Some(first), Some(last)) => Some(*first..*last + 1),
            // Nothing is left of these lines but their place.
            _ => hunks(),
        }
    }
}
