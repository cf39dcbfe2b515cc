//! What is being typed in the fields of tabs and was not sent. It belongs to the proposal that it was begun on, and to a tab.

use std::collections::HashMap;

use pillion_judge::HunkNote;
use pillion_judge::proposal::Proposal;
use pillion_text::{restore, visible};
use pillion_view::DiffId;

use super::{Page, Shown};
use crate::server::Outcome;
use crate::wire;

/// What is typed on one diff.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    edits: Vec<Edit>,
    /// The note that is being typed in a tab.
    pub(crate) notes: HashMap<String, HunkNote>,
}

/// A text that is being edited.
#[derive(Debug, Clone)]
pub(crate) struct Edit {
    tab: String,
    /// The hunk; or else the file.
    hunk: Option<usize>,
    /// As it was when it was begun.
    pub(crate) base: Proposal,
    /// What the field holds, once something was typed.
    text: Option<String>,
}

impl Edit {
    /// The file as it was typed; none if nothing is another.
    fn whole(&self) -> Option<String> {
        let text = edited(&self.base, self.hunk, self.text.as_ref()?)?;
        (text != self.base.text()).then_some(text)
    }
}

impl Fields {
    /// What was begun in this tab.
    pub(crate) fn edit(&mut self, tab: &str, hunk: Option<usize>) -> Option<&mut Edit> {
        let mut edits = self.edits.iter_mut();
        edits.find(|it| it.tab == tab && it.hunk == hunk)
    }

    /// It is no longer only in the field.
    pub(crate) fn sent(&mut self, tab: &str, hunk: Option<usize>) {
        self.edits.retain(|it| it.tab != tab || it.hunk != hunk);
    }

    /// All texts that were typed and not sent.
    pub(super) fn texts(&self) -> impl Iterator<Item = String> {
        self.edits.iter().filter_map(Edit::whole)
    }
}

/// The text that would be accepted with what was typed in place of a hunk, or of the file.
pub(crate) fn edited(of: &Proposal, hunk: Option<usize>, text: &str) -> Option<String> {
    match hunk {
        None => Some(restore::of_field(&of.text(), text)),
        Some(hunk) => of.with_hunk(hunk, text),
    }
}

impl Page {
    /// A field is opened. Answers what was typed in it before, if that was on this text; what was typed on another is kept.
    pub(crate) fn begin_edit(
        &mut self,
        tab: &str,
        id: DiffId,
        hunk: Option<usize>,
    ) -> Option<String> {
        let tabs = &self.tabs;
        let view = self.views.find_mut(id)?;
        let is_free =
            |it: &mut Edit| it.hunk == hunk && (it.tab == tab || !tabs.contains_key(&it.tab));
        let former: Vec<_> = view.fields.edits.extract_if(.., is_free).collect();
        let now = view.proposal.text();
        let (same, other): (Vec<_>, Vec<_>) =
            former.into_iter().partition(|it| it.base.text() == now);
        let typed = same.into_iter().rev().find_map(|it| it.text);
        view.fields.edits.push(Edit {
            tab: tab.to_owned(),
            hunk,
            base: view.proposal.clone(),
            text: typed.clone(),
        });
        let (path, name) = (view.target.path.clone(), view.target.shown.clone());
        for text in other.iter().filter_map(Edit::whole) {
            let why = format!("{name} was another text when you typed what you did not send");
            self.keep(path.clone(), text, why);
        }
        typed
    }

    /// Something is typed.
    pub(crate) fn unsent(&mut self, tab: &str, id: DiffId, unsent: wire::Unsent) -> Outcome {
        match unsent {
            wire::Unsent::Reason(text) => {
                if let Some(view) = self.views.find_mut(id) {
                    view.reason = text;
                }
            }
            wire::Unsent::Note(note) => {
                let on = self.noted(tab, id, note);
                if let Some((view, on)) = self.views.find_mut(id).zip(on.ok()) {
                    view.fields.notes.insert(tab.to_owned(), on);
                }
            }
            wire::Unsent::Edit(edit) => {
                let view = self.views.find_mut(id);
                if let Some(known) = view.and_then(|it| it.fields.edit(tab, edit.hunk)) {
                    known.text = Some(edit.text);
                }
            }
        }
        Ok(b"{}".to_vec())
    }

    /// A diff was decided: what was typed on it and not sent is kept.
    pub(crate) fn keep_unsent(&self, view: &Shown, words: &str) {
        let notes = view.fields.notes.values().map(|it| it.text.as_str());
        let unsent = notes.chain([view.reason.as_str()]).map(str::trim);
        let unsent: Vec<_> = unsent.filter(|it| !it.is_empty()).collect();
        if !unsent.is_empty() {
            let unsent = unsent.join("\n");
            let why = format!(
                "{words} · you had not sent “{}”",
                visible::one_line(&unsent)
            );
            let path = view.target.path.with_extension("words.txt");
            self.keep(path, unsent, why);
        }
        self.keep_texts(view, words);
    }

    /// The texts that were typed on a diff and not sent are kept, now that it is gone.
    pub(super) fn keep_texts(&self, view: &Shown, words: &str) {
        for text in view.fields.texts() {
            let why = format!("{words} · you had typed a text and not sent it");
            self.keep(view.target.path.clone(), text, why);
        }
    }

    /// A tab is gone: a note that was being typed there is one, as after Esc.
    pub(super) fn leave_notes(&mut self, tab: &str) {
        let mut noted = Vec::new();
        for view in self.views.iter_mut() {
            if let Some(note) = view.fields.notes.remove(tab) {
                view.write_note(note);
                view.arranged = None;
                noted.push(view.diff.id);
            }
        }
        for id in noted {
            self.tell_diff(id);
        }
    }
}
