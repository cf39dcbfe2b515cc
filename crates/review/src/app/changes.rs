//! The list of what agents have written already: turns with their files, what was decided about them, and the keys by which
//! the person decides. The companion makes the list, and does what they want.

use std::time::Instant;

use crossterm::event::KeyCode;
use pillion_view::changes::{
    ActDone, ChangesAct, ChangesList, ListedChange, ListedTurn, Meant, TakeBack,
};

use super::review_delay::Press;
use super::{App, Effect, Overlay, Tone};

/// The list as it is shown.
#[derive(Debug, Default)]
pub struct ChangesPage {
    /// None until it has come.
    list: Option<ChangesList>,
    /// The turn or change under the cursor.
    id: String,
}

/// A line of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangesRow<'a> {
    /// A turn.
    Turn(&'a ListedTurn),
    /// A change of it.
    Change(&'a ListedChange),
}

impl ChangesRow<'_> {
    /// How it is named.
    pub fn id(&self) -> &str {
        match self {
            Self::Turn(turn) => &turn.id,
            Self::Change(change) => &change.id,
        }
    }

    fn revision(&self) -> &str {
        match self {
            Self::Turn(turn) => &turn.revision,
            Self::Change(change) => &change.revision,
        }
    }

    fn is_unseen(&self) -> bool {
        matches!(self, Self::Change(change) if change.is_unseen)
    }
}

impl ChangesPage {
    /// What is said in place of lines, if there are none.
    pub fn instead(&self) -> Option<&str> {
        match &self.list {
            None => Some("reading what agents have written…"),
            Some(list) => match &list.problem {
                Some(problem) => Some(problem),
                None => list
                    .turns
                    .is_empty()
                    .then_some("no turn of an agent is known here"),
            },
        }
    }

    /// The lines, the newest turn first.
    pub fn rows(&self) -> Vec<ChangesRow<'_>> {
        let turns = self.list.iter().flat_map(|list| &list.turns);
        let rows = turns.flat_map(|turn| {
            let changes = turn.changes.iter().map(ChangesRow::Change);
            std::iter::once(ChangesRow::Turn(turn)).chain(changes)
        });
        rows.collect()
    }

    /// How many changes are left out.
    pub fn left_out(&self) -> usize {
        self.list.as_ref().map_or(0, |list| list.left_out)
    }

    /// Where the cursor is.
    pub fn at(&self) -> usize {
        let rows = self.rows();
        let at = rows.iter().position(|row| row.id() == self.id);
        at.unwrap_or_default()
    }

    fn take(&mut self, list: ChangesList) {
        let is_first = self.list.is_none();
        self.list = Some(list);
        let rows = self.rows();
        let is_there = rows.iter().any(|row| row.id() == self.id);
        if is_first || !is_there {
            let unseen = rows.iter().find(|row| row.is_unseen());
            let id = unseen.or(rows.first()).map(|row| row.id().to_owned());
            self.id = id.unwrap_or_default();
        }
    }

    fn go_by(&mut self, by: isize) {
        let rows = self.rows();
        let last = rows.len().saturating_sub(1);
        let at = self.at().saturating_add_signed(by).min(last);
        let id = rows.get(at).map(|row| row.id().to_owned());
        self.id = id.unwrap_or_default();
    }

    /// Goes to the next change that nobody has seen. Returns false if there is none.
    fn go_on(&mut self) -> bool {
        let (rows, at) = (self.rows(), self.at());
        let (before, after) = rows.split_at((at + 1).min(rows.len()));
        let id = after.iter().chain(before).find(|row| row.is_unseen());
        let id = id.map(|row| row.id().to_owned());
        let is_there = id.is_some();
        self.id = id.unwrap_or_else(|| self.id.clone());
        is_there
    }
}

impl App {
    /// The list, while it is shown.
    pub fn changes(&self) -> Option<&ChangesPage> {
        let is_shown = self.overlay == Some(Overlay::Changes);
        self.changes.as_ref().filter(|_| is_shown)
    }

    pub(super) fn show_changes(&mut self) {
        self.overlay = Some(Overlay::Changes);
        self.changes = Some(ChangesPage::default());
        self.effects.push(Effect::Changes);
    }

    /// The list is another one now.
    pub(super) fn changes_changed(&mut self) {
        if self.changes().is_some() {
            self.effects.push(Effect::Changes);
        }
    }

    pub(super) fn listed(&mut self, list: ChangesList) {
        if let Some(page) = &mut self.changes {
            page.take(list);
        }
    }

    pub(super) fn acted(&mut self, done: ActDone, now: Instant) {
        let tone = match done.done {
            true => Tone::Good,
            false => Tone::Warning,
        };
        self.say(tone, done.message, now);
        self.changes_changed();
    }

    pub(super) fn on_changes_key(&mut self, press: &Press, now: Instant) {
        let page = isize::from(self.size.height.cast_signed())
            .saturating_sub(6)
            .max(1);
        let code = press.key.code;
        let Some(list) = &mut self.changes else {
            return;
        };
        match code {
            KeyCode::Down | KeyCode::Char('j') => list.go_by(1),
            KeyCode::Up | KeyCode::Char('k') => list.go_by(-1),
            KeyCode::PageDown => list.go_by(page),
            KeyCode::PageUp => list.go_by(-page),
            KeyCode::Home | KeyCode::Char('g') => list.go_by(isize::MIN),
            KeyCode::End | KeyCode::Char('G') => list.go_by(isize::MAX),
            KeyCode::Char('n') if !list.go_on() => {
                self.say(Tone::Info, "nothing is unseen here", now);
            }
            KeyCode::Char('n') => {}
            KeyCode::Char('S' | 'q') | KeyCode::Esc => {
                (self.overlay, self.changes) = (None, None);
            }
            KeyCode::Enter | KeyCode::Char('a' | 'r' | 'z') => match press.check() {
                Ok(()) => self.act_on_row(code, now),
                Err(why) => self.say_too_early(why, now),
            },
            KeyCode::Char('?') => self.overlay = Some(Overlay::Help(0)),
            _ => {}
        }
    }

    fn act_on_row(&mut self, code: KeyCode, now: Instant) {
        let Some(page) = &self.changes else {
            return;
        };
        let Some(row) = page.rows().get(page.at()).copied() else {
            return;
        };
        let (id, revision) = (Some(row.id().to_owned()), Some(row.revision().to_owned()));
        let meant = Meant {
            id: id.clone(),
            path: None,
            revision,
        };
        let is_text = !matches!(row, ChangesRow::Change(change) if change.added.is_none());
        let act = match code {
            KeyCode::Enter if !is_text => {
                let text = "this is not text, and cannot be shown: a keeps it, r takes it back";
                return self.say(Tone::Info, text, now);
            }
            KeyCode::Enter => {
                // What is opened is to be seen.
                (self.overlay, self.changes) = (None, None);
                ChangesAct::Look(id)
            }
            KeyCode::Char('a') => ChangesAct::Keep(meant),
            KeyCode::Char('z') => ChangesAct::Undo(id),
            _ => ChangesAct::TakeBack(TakeBack {
                meant,
                ..TakeBack::default()
            }),
        };
        self.effects.push(Effect::Act(act));
    }
}
