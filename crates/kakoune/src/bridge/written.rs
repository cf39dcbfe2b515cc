//! Flags beside the lines that agents have written and nobody has looked at, in the files that are open.

use std::path::Path;

use pillion_view::Reply;
use pillion_view::ask::Changes;
use pillion_view::changes::ChangesList;

use super::Bridge;
use crate::disk::Done;
use crate::{removed, script};

impl Bridge {
    /// Asks what there is now.
    pub(super) fn ask_written(&self) {
        let done = self.done.0.clone();
        let reply = Reply::told(move |list| drop(done.send(Done::Listed(list))));
        self.handle.ask(Changes, reply);
    }

    /// The buffer of a file and the file are the same now: its lines may be elsewhere.
    pub(super) fn lines_move(&mut self, path: &Path) {
        if self.flagged.remove(path).is_some() || self.written.contains_key(path) {
            self.ask_written();
        }
    }

    pub(super) fn written_is(&mut self, list: ChangesList) {
        if list.problem.is_some() {
            return;
        }
        self.written.clear();
        let changes = list.turns.into_iter().flat_map(|turn| turn.changes);
        for change in changes.filter(|it| it.is_unseen) {
            let flags = self.written.entry(change.path).or_default();
            flags.extend(removed::flags(&change.hunks));
        }
        self.flag();
    }

    /// Has the files flagged that are open, where they are not as they should be.
    pub(super) fn flag(&mut self) {
        let report = self.clients.newest();
        let open: Vec<_> = report.map_or_else(Vec::new, |it| it.files().collect());
        self.flagged.retain(|path, _| open.contains(path));
        for path in open {
            let flags = self.written.get(&path).cloned().unwrap_or_default();
            if self
                .flagged
                .get(&path)
                .map_or(!flags.is_empty(), |it| *it != flags)
            {
                self.session.run(script::flag(&path, &flags));
                self.flagged.insert(path, flags);
            }
        }
    }
}
