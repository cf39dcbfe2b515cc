//! An agent's change that the person takes back in the buffer of the file: hunks under the selection, or all of it. If
//! the buffer has unsaved changes, it is taken out of the buffer, and else out of the file, which Kakoune then reads again.

use pillion_discovery::FileError;
use pillion_view::Reply;
use pillion_view::changes::{ActDone, BufferText, ChangesAct, Meant, TakeBack};

use super::Bridge;
use crate::disk::{Done, Job};
use crate::form::Form;
use crate::inbox::Taking;
use crate::script;

impl Bridge {
    /// First, Kakoune is not to ask about the file, if nothing is lost.
    pub(super) fn take(&self, taking: Box<Taking>) {
        let await_write = script::await_write(&taking.path);
        self.session.run_then(await_write, Done::Awaiting(taking));
    }

    pub(super) fn take_now(&self, taking: Box<Taking>) {
        let act = ChangesAct::TakeBack(TakeBack {
            meant: Meant {
                path: Some(taking.path.clone()),
                typed: Some(taking.typed.clone()),
                ..Meant::default()
            },
            lines: taking.lines,
            buffers: vec![BufferText {
                path: taking.path.clone(),
                content: taking.content.clone(),
                is_modified: taking.is_modified,
            }],
        });
        let done = self.done.0.clone();
        let reply = Reply::told(move |acted| drop(done.send(Done::Taken(taking, acted))));
        self.handle.ask(act, reply);
    }

    /// The person decides about a change that they name, or about that of a line of the list.
    pub(super) fn act(&self, client: String, act: ChangesAct) {
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
