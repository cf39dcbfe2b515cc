//! The person's text in a proposal before they decide. Whoever asks is told it. As a draft it is kept, whatever ends
//! Kakoune, the hub or the agent, and comes back into the buffer of a later proposal of the file if they want it. It
//! decides nothing.

use std::sync::Arc;

use pillion_text::merge::Merged;
use pillion_view::{FileChange, ProposalKey, Reply, Tell};

use super::Bridge;
use crate::disk::Job;
use crate::form::Form;
use crate::script;

impl Bridge {
    /// Somebody asks for the text of a view: Kakoune tells it, and the view stays.
    pub(super) fn ask_text(&mut self, key: ProposalKey, told: Reply<String>) {
        match self.views.current(key) {
            Err(stale) => told.failed(stale.to_string()),
            Ok(view) if !view.is_loaded => told.done(view.diff.proposed.to_string()),
            Ok(view) => {
                self.session.run(script::ask_text(view));
                self.asked.push((key, told));
            }
        }
    }

    pub(super) fn told(&mut self, key: ProposalKey, held: Vec<u8>) {
        let view = self.views.current(key).ok();
        let text = String::from_utf8(held).ok();
        let text = view.zip(text).map(|(view, held)| view.form.text(&held));
        // Whoever asked about what is gone is answered with that.
        for (asked, told) in std::mem::take(&mut self.asked) {
            match &text {
                Some(text) if asked == key => told.done(text.clone()),
                _ if self.views.current(asked).is_err() || asked == key => drop(told),
                _ => self.asked.push((asked, told)),
            }
        }
    }

    /// This stands in the buffer of a proposal.
    pub(super) fn drafted(&mut self, key: ProposalKey, held: &[u8]) {
        let Ok(view) = self.views.current_mut(key) else {
            return;
        };
        let edits = view.edits(held);
        let was_edited = std::mem::replace(&mut view.is_edited, edits.is_some());
        if was_edited || edits.is_some() {
            self.handle.tell(Tell::Draft { key, text: edits });
        }
    }

    /// This is what the person had made of an earlier proposal of the file.
    pub(super) fn offered(&mut self, key: ProposalKey, text: String) {
        if let Ok(view) = self.views.current_mut(key)
            && !view.kept.contains(&text)
        {
            view.kept.push(text);
            self.tell_kept(key);
        }
    }

    /// The person is told that something was kept, once the proposal is there.
    pub(super) fn tell_kept(&self, key: ProposalKey) {
        let view = self.views.current(key).ok();
        if let Some(view) = view.filter(|view| view.is_loaded && !view.kept.is_empty()) {
            let name = view.diff.path.file_name().unwrap_or_default().display();
            let kept = match view.kept.len() {
                1 => format!("what you had changed in {name} was kept: :pillion-bring-back"),
                count => format!(
                    "{count} texts of yours for {name} were kept: :pillion-bring-back brings the last one, and again the one before"
                ),
            };
            // What is said when it comes to the front would cover it.
            self.session.run(script::entitle(view, &kept));
            self.show_message(&kept);
        }
    }

    /// The person wants it back, in this client.
    pub(super) fn bring_back(&mut self, key: ProposalKey, client: String) {
        let view = match self.views.current_mut(key) {
            Ok(view) => view,
            Err(stale) => return self.refuse(key, stale, &client),
        };
        let Some(kept) = view.kept.last() else {
            return self.answer(&client, "nothing that you had changed here was kept");
        };
        if view.is_locked() {
            return self.answer(&client, "look at the proposal first");
        }
        let (_, held) = Form::of(kept);
        if view.form.text(&held) != *kept {
            let why = "Kakoune cannot hold it byte for byte: `pillion log` lists it";
            return self.answer(&client, why);
        }
        // Again brings the one before.
        view.kept.rotate_right(1);
        let said = "your text is back: u takes it out again".to_owned();
        self.worker.order(Job::WriteText {
            key,
            held,
            client,
            said,
        });
    }

    /// The person wants what stands in the proposal merged with the file on disk.
    pub(super) fn merge(&mut self, key: ProposalKey, held: Vec<u8>, client: String) {
        let view = match self.views.current(key) {
            Ok(view) => view,
            Err(stale) => return self.refuse(key, stale, &client),
        };
        if view.is_locked() {
            return self.answer(&client, "look at the proposal first");
        }
        let Ok(held) = String::from_utf8(held) else {
            return self.answer(&client, "the text is not UTF-8, so it cannot be merged");
        };
        self.worker.order(Job::Merge {
            diff: Arc::clone(&view.diff),
            text: view.form.text(&held),
            client,
        });
    }

    /// This comes of it.
    pub(super) fn merged(
        &mut self,
        key: ProposalKey,
        client: String,
        result: Result<(FileChange, Merged), String>,
    ) {
        let Ok(view) = self.views.current_mut(key) else {
            return;
        };
        let (change, found) = match result {
            Ok(merged) => merged,
            Err(why) => return self.answer(&client, &why),
        };
        let text = String::from_utf8_lossy(&found.text);
        let (_, held) = Form::of(&text);
        if view.form.text(&held) != text {
            return self.answer(
                &client,
                "Kakoune cannot hold what comes of it byte for byte",
            );
        }
        view.merged = Some(change);
        let lines = "the lines on disk alone";
        let but = match found.conflicts {
            0 => String::new(),
            1 => format!(", but 1 place that both changed has {lines}"),
            count => format!(", but {count} places that both changed have {lines}"),
        };
        let said = format!("merged with what has changed on disk{but}; u takes it back");
        self.worker.order(Job::WriteText {
            key,
            held,
            client,
            said,
        });
    }

    /// It lies in a file, for the buffer.
    pub(super) fn text_written(
        &self,
        key: ProposalKey,
        client: &str,
        said: &str,
        result: Result<(), pillion_discovery::FileError>,
    ) {
        match (self.views.current(key), result) {
            (Ok(view), Ok(())) => {
                self.session.run(script::bring_back(view));
                self.answer(client, said);
            }
            (Ok(_), Err(error)) => {
                self.answer(
                    client,
                    &format!("it cannot be put into the buffer: {error}"),
                );
            }
            (Err(_), _) => {}
        }
    }
}
