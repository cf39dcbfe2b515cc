//! The facts that the reviewer should know about the diff that is shown, in a line above it.

use pillion_judge::{Disk, Judged, marks};
use pillion_text::visible;

use super::App;

impl App {
    /// The note on the current view, as one line: what is most important of the view, and
    /// all that is to be known of the agent.
    pub fn note(&self) -> Option<String> {
        let (notes, mode) = self.view().map_or((&[][..], None), |view| {
            (&view.diff.notes, view.diff.mode.map(|it| it.to_string()))
        });
        // That has a row of its own.
        let notes = notes.iter().filter(|note| mode.as_ref() != Some(note));
        let notes = notes.map(|note| visible::one_line(note));
        let warnings = self.view().into_iter().flat_map(|view| warnings(view));
        let parts: Vec<String> = warnings.chain(self.note_of_view()).chain(notes).collect();
        (!parts.is_empty()).then(|| parts.join(" · "))
    }

    fn note_of_view(&self) -> Option<String> {
        let view = self.view()?;
        let disk = match view.disk {
            Disk::Same => None,
            Disk::Changed => Some("changed on disk since this diff opened"),
            Disk::Gone => Some("deleted on disk since this diff opened"),
            Disk::Appeared => Some("appeared on disk since this diff opened"),
        };
        let older = "compared with an older version of the file";
        let disk = disk.or_else(|| (!view.proposal.is_current()).then_some(older));
        if let Some(what) = disk {
            if view.diff.written.is_some() {
                let how = self.keys.fill("<reject> closes it, <list> opens it anew");
                return Some(format!("{what} · {how}"));
            }
            let merges = self.keys.fill(match view.disk {
                Disk::Gone => "<merge> makes it a new file",
                _ => "<merge> merges both",
            });
            return Some(format!("{what} · {merges}"));
        }
        if let Some(marks) = marks::note(view.proposal.hunks()) {
            return Some(marks);
        }
        if view.target.is_outside && !self.roots.is_empty() {
            return Some("this file is outside the workspace".to_owned());
        }
        if let Some(bytes) = view.proposal.hidden_before() {
            return Some(format!("the file is not shown: binary, {bytes} bytes"));
        }
        if !view.proposal.before().is_utf8() {
            return Some("the file is not UTF-8: invalid bytes are shown as �".to_owned());
        }
        let note = "the file has CRLF, the proposal LF: line endings are not compared";
        view.proposal.ignores_endings().then(|| note.to_owned())
    }
}

/// Things that are easily overlooked, and are asked about.
fn warnings(view: &Judged) -> Vec<String> {
    let runner = view.diff.runner.clone();
    let unreadable = match view.unreadable.len() {
        0 => None,
        1 => Some("1 line gets � in place of its characters".to_owned()),
        lines => Some(format!("{lines} lines get � in place of their characters")),
    };
    runner.into_iter().chain(unreadable).collect()
}
