//! Jobs that the loop gives to other threads, because they wait for a disk or another program, and the handling of
//! the results.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use pillion_discovery::{FileError, kept_text};
use pillion_view::{Decide, DiffId, ProposalKey, Proposed, Reply, Tell};

use super::Bridge;
use crate::disk::{self, Done, Kept};
use crate::removed::Removed;
use crate::script;
use crate::view::View;

/// The time limit for an agent's outcome, because the disk or Kakoune does not respond.
const AWAIT_TIMEOUT: Duration = Duration::from_secs(5);

/// A decision that its agent does not know yet. Of an acceptance it hears once the file was checked, and Kakoune was
/// told that it is about to be written: the agent writes it at once.
pub(super) struct Decided {
    decide: Decide,
    /// When it hears of it in any case.
    pub(super) due: Instant,
}

impl Decided {
    pub(super) fn now(decide: Decide) -> Self {
        Self {
            decide,
            due: Instant::now() + AWAIT_TIMEOUT,
        }
    }
}

impl Bridge {
    /// Follows the file of a proposal, which its agent is about to write. Returns false if that is not possible.
    pub(super) fn follow(&self, view: &View) -> bool {
        let (path, done) = (view.diff.path.clone(), self.done.0.clone());
        disk::follow(view.key(), path, done).is_ok()
    }

    /// Sends the agent what was decided, if that is still to be sent.
    pub(super) fn resolve(&mut self, id: DiffId) {
        if let Some(Decided { decide, .. }) = self.decided.remove(&id) {
            let (key, done) = (decide.key, self.done.0.clone());
            let reply = Reply::told(move |ruling| drop(done.send(Done::Ruled { key, ruling })));
            self.handle.ask(decide, reply);
        }
    }

    /// The file of a proposal is not about to be written after all.
    pub(super) fn unfollow(&mut self, key: ProposalKey) {
        let followed = self.followed.iter();
        let path = followed
            .filter(|(_, followed)| **followed == key)
            .map(|(path, _)| path.clone())
            .next();
        if let Some(path) = path {
            self.followed.remove(&path);
            self.session.run(script::reload(&path, false));
        }
    }

    /// Keeps the person's text, which is not lost with the view; they are told in this client, after `why`, if that says
    /// something.
    pub(super) fn keep(&mut self, path: PathBuf, text: String, mut why: String, client: &str) {
        if !why.is_empty() {
            why.push_str(", and ");
        }
        let (places, done) = (kept_text::places(&self.environment), self.done.0.clone());
        let (told, reason) = (client.to_owned(), why.clone());
        let then = move |result| {
            let _ = done.send(Done::Kept(Kept {
                result,
                why: reason,
                client: told,
            }));
        };
        match kept_text::keep_aside(places, path, text, then) {
            Ok(()) => self.keeping += 1,
            Err(error) => self.answer(client, &format!("{why}your edits are lost: {error}")),
        }
    }

    pub(super) fn done(&mut self, done: Done) {
        match done {
            Done::Written { key, result } => self.written(key, result),
            Done::TextWritten {
                key,
                client,
                said,
                result,
            } => self.text_written(key, &client, &said, result),
            Done::Merged {
                key,
                client,
                result,
            } => self.merged(key, client, result),
            Done::Awaiting(taking) => self.take_now(taking),
            Done::Taken(taking, acted) => self.taken(taking, acted),
            Done::Acted(client, acted) => self.answer(&client, &acted.message),
            Done::TakenWritten(taking, result) => self.taken_written(&taking, result),
            Done::Listed(list) => self.written_is(list),
            Done::Roots(roots) => {
                if roots != self.roots {
                    self.roots.clone_from(&roots);
                    self.handle.tell(Tell::Roots(roots));
                }
            }
            Done::Checked { key, path: None } => self.resolve(key.id),
            Done::Checked {
                key,
                path: Some(path),
            } => {
                // First: Kakoune would ask about the file if the agent were faster.
                let await_write = script::await_write(&path);
                self.session.run_then(await_write, Done::Awaited(key.id));
                self.followed.insert(path, key);
            }
            Done::Awaited(id) => self.resolve(id),
            Done::Ruled { key, ruling } => self.ruled(key, &ruling),
            Done::Followed {
                key,
                path,
                is_written,
            } => {
                if self.followed.get(&path) == Some(&key) {
                    self.followed.remove(&path);
                    self.session.run(script::reload(&path, is_written));
                }
            }
            Done::Kept(kept) => self.kept(kept),
            Done::Split { client, is_open } => {
                if !is_open {
                    self.not_split(&client);
                }
            }
            Done::Gone => (self.is_over, self.is_gone) = (true, true),
        }
    }

    /// Agents hear of what is due, also if Kakoune does not respond.
    pub(super) fn resolve_due(&mut self, now: Instant) {
        let due = self
            .decided
            .iter()
            .filter(|(_, decided)| decided.due <= now);
        for id in due.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.resolve(id);
        }
    }

    /// Resolves the acceptances, which count, and waits for the texts that are being kept, as far as the disk answers.
    pub(super) fn finish(&mut self) {
        for id in self.decided.keys().copied().collect::<Vec<_>>() {
            self.resolve(id);
        }
        let deadline = Instant::now() + kept_text::KEEP_TIMEOUT;
        while self.keeping > 0
            && let Ok(done) = self.done.1.recv_deadline(deadline)
        {
            if let Done::Kept(kept) = done {
                self.kept(kept);
            }
        }
    }

    fn written(&mut self, key: ProposalKey, result: Result<(PathBuf, Removed), FileError>) {
        let Ok(view) = self.views.current_mut(key) else {
            return;
        };
        match result {
            Ok((file, removed)) => {
                let load = script::load(view, &file, &removed);
                view.seen_lines = removed.seen_lines;
                self.session.run(load);
            }
            Err(error) => {
                let view = self.views.take(key);
                if let Some(shown) = view.ok().and_then(|mut view| view.shown.take()) {
                    shown.failed(format!("the proposal cannot be shown: {error}"));
                }
            }
        }
    }

    fn kept(&mut self, kept: Kept) {
        self.keeping -= 1;
        let Kept {
            result,
            why,
            client,
        } = kept;
        match result {
            Ok(file) => {
                self.session.run(script::keep(&file));
                let file = file.display();
                self.answer(&client, &format!("{why}your edits are kept in {file}"));
            }
            Err(error) => self.answer(&client, &format!("{why}your edits are lost: {error}")),
        }
    }

    /// There is no pane: the proposal is shown where the person is.
    fn not_split(&mut self, client: &str) {
        let review = self.review.take_if(|review| review.client == client);
        if review.is_some_and(|review| self.views.find(review.view).is_some()) {
            self.offer.want(false, Instant::now());
        }
    }
}
