//! `L`: all notes on pending diffs as a list, to go to one or to delete it. Nothing is decided there.

use std::time::Instant;

use pillion_judge::act::Act;
use pillion_view::DiffId;

use super::acts::moved;
use super::{App, LONG_MESSAGE, Overlay, Tone};

/// A note as it was listed: its diff, and its words. Nothing else takes its place unseen.
pub type NoteName = (DiffId, String);

impl App {
    /// All notes in the order in which they are read: the place of the diff, and the note's place in it.
    pub fn all_notes(&self) -> Vec<(usize, usize)> {
        let of_view = |at: usize| {
            let mut notes = self.views[at].note_places();
            notes.sort_unstable();
            notes.into_iter().map(move |(_, note)| (at, note))
        };
        (0..self.views.len()).flat_map(of_view).collect()
    }

    fn name_of(&self, (view, note): (usize, usize)) -> NoteName {
        let view = &self.views[view];
        (view.diff.id, view.hunk_notes[note].text.clone())
    }

    /// The row of the cursor.
    pub fn chosen_note(&self) -> Option<usize> {
        let chosen = self.chosen_note.as_ref()?;
        let notes = self.all_notes();
        notes.iter().position(|note| self.name_of(*note) == *chosen)
    }

    fn choose_note(&mut self, row: usize) {
        let notes = self.all_notes();
        let note = notes.get(row).or(notes.last());
        self.chosen_note = note.map(|note| self.name_of(*note));
    }

    pub(super) fn show_notes(&mut self, now: Instant) {
        if self.all_notes().is_empty() {
            let text = self.keys.fill("there is no note: <note> makes one");
            return self.say(Tone::Info, text, now);
        }
        self.choose_note(0);
        self.overlay = Some(Overlay::Notes);
    }

    pub(super) fn on_notes_act(&mut self, act: Act, now: Instant) {
        let (notes, row) = (self.all_notes(), self.chosen_note());
        let note = row.map(|row| notes[row]);
        match (act, note) {
            (Act::Close | Act::Notes, _) => self.overlay = None,
            (Act::Open, Some((view, note))) => {
                self.overlay = None;
                self.show_note(view, note);
            }
            (Act::DeleteNote, Some((view, note))) => {
                let note = self.views[view].delete_note(note);
                // Where it can be undone.
                self.show_at(view);
                self.choose_note(row.unwrap_or_default());
                let place = note.place(&self.views[view].proposal);
                let back = self.keys.fill("<undo> brings it back");
                let text = format!("deleted your note on {place} · {back}: {}", note.text);
                self.say_for(LONG_MESSAGE, Tone::Info, text, now);
                self.overlay = self.overlay.filter(|_| notes.len() > 1);
            }
            (Act::Undo, _) if self.view().is_some_and(|it| it.has_noted_last()) => {
                self.undo(true, now);
            }
            _ => {
                let last = notes.len().saturating_sub(1);
                let height = self.size.height.saturating_sub(3);
                let to = moved(act, row.unwrap_or_default(), last, height);
                if let Some(to) = to {
                    self.choose_note(to);
                }
            }
        }
    }
}
