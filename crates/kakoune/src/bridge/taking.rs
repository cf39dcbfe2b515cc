//! An agent's change that the person takes back in the buffer of the file: hunks under the selection, or all of it. If
//! the buffer has unsaved changes, it is taken out of the buffer, and else out of the file, which Kakoune then reads again.

use std::time::SystemTime;

use pillion_discovery::FileError;
use pillion_view::Reply;
use pillion_view::changes::{ActDone, BufferText, ChangesAct, Meant, Part, Row};

use super::Bridge;
use crate::disk::{Done, Job};
use crate::form::Form;
use crate::inbox::Taking;
use crate::script;

impl Taking {
    fn meant(&self) -> Meant {
        Meant {
            path: Some(self.path.clone()),
            typed: Some(self.typed.clone()),
            row: self.row.clone(),
            buffers: vec![BufferText {
                path: self.path.clone(),
                content: self.content.clone(),
                is_modified: self.is_modified,
            }],
            ..Meant::default()
        }
    }

    /// What stands at the selected lines is kept.
    pub(crate) fn keep(&self) -> ChangesAct {
        ChangesAct::Keep(Meant {
            at: self.lines,
            ..self.meant()
        })
    }
}

/// A row of the list of changes: the line of the cursor in a client, and since when it stands there as it is, without a
/// decision.
pub(super) struct Listed {
    client: String,
    line: u32,
    since: SystemTime,
}

impl Bridge {
    /// Notes which row is under the cursor of a client that shows the list: the one that was there before, or another one.
    pub(super) fn looks_at(&mut self, client: String, line: u32, is_same: bool, at: SystemTime) {
        let known = self
            .listed
            .take()
            .filter(|it| is_same && it.client == client);
        let since = known.map_or(at, |it| it.since);
        self.listed = Some(Listed {
            client,
            line,
            since,
        });
    }

    /// Returns for how long the person has looked at the row that they decide about. The next one has only then come under
    /// their key.
    fn row(&mut self, client: &str, line: Option<u32>, at: SystemTime) -> Option<Row> {
        let line = line?;
        let known = self.listed.take();
        let known = known.filter(|it| it.client == client && it.line == line);
        let rested_for = known.and_then(|it| at.duration_since(it.since).ok());
        self.looks_at(client.to_owned(), line, false, at);
        Some(Row {
            rested_for,
            is_chosen: false,
        })
    }

    /// First, Kakoune is not to ask about the file, if nothing is lost.
    pub(super) fn take(&mut self, mut taking: Box<Taking>, line: Option<u32>, at: SystemTime) {
        taking.row = self.row(&taking.client, line, at);
        let await_write = script::await_write(&taking.path);
        self.session.run_then(await_write, Done::Awaiting(taking));
    }

    pub(super) fn take_now(&self, taking: Box<Taking>) {
        let act = ChangesAct::TakeBack(Part {
            meant: taking.meant(),
            lines: taking.lines,
        });
        let done = self.done.0.clone();
        let reply = Reply::told(move |acted| drop(done.send(Done::Taken(taking, acted))));
        self.handle.ask(act, reply);
    }

    /// The person decides about a change that they name, or about that of a line of the list.
    pub(super) fn act(
        &mut self,
        client: String,
        mut act: ChangesAct,
        line: Option<u32>,
        at: SystemTime,
    ) {
        let row = self.row(&client, line, at);
        if let ChangesAct::Keep(meant) | ChangesAct::TakeBack(Part { meant, .. }) = &mut act {
            meant.row = row;
        }
        let done = self.done.0.clone();
        let reply = Reply::told(move |acted| drop(done.send(Done::Acted(client, acted))));
        self.handle.ask(act, reply);
    }

    /// It was taken back. An edit of the buffer is written down for it first.
    pub(super) fn taken(&mut self, taking: Box<Taking>, acted: ActDone) {
        let is_written = acted.done && acted.edits.is_empty();
        self.session.run(script::reload(&taking.path, is_written));
        self.answer(&taking.client, &acted.message);
        if let Some(edit) = acted.edits.into_iter().next() {
            let (_, held) = Form::of(&edit.content);
            self.taking.insert(taking.number, edit.id);
            self.worker.order(Job::WriteTaken { taking, held });
        }
    }

    pub(super) fn taken_written(&mut self, taking: &Taking, result: Result<(), FileError>) {
        match result {
            Ok(()) => self.session.run(script::take_out(taking)),
            Err(error) => {
                tracing::warn!(%error, "a text for a buffer cannot be written");
                self.not_taken(taking.number);
            }
        }
    }

    /// The buffer has the text, or has not: then nothing is to count as taken back.
    pub(super) fn not_taken(&mut self, number: u64) {
        let Some(change) = self.taking.remove(&number) else {
            return;
        };
        let undo = ChangesAct::Undo(Some(change));
        self.handle.ask(undo, Reply::new(drop));
        self.show_message("the buffer was edited meanwhile: nothing was taken out of it");
    }
}
