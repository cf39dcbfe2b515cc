//! `f`: the pending diffs as a list, of which what is typed leaves those that it fits. Nothing is decided there.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use pillion_view::DiffId;
use tui_input::Input;

use super::{App, Overlay, remark};
use crate::view::View;

/// The list, and where the cursor is in it.
#[derive(Debug, Default)]
pub struct FilesPage {
    filter: Input,
    /// None once that has gone: nothing else takes its place unseen.
    chosen: Option<DiffId>,
}

impl FilesPage {
    /// What was typed, with the cursor in it.
    pub fn filter(&self) -> String {
        remark::with_cursor(&self.filter)
    }
}

impl App {
    pub(super) fn show_files(&mut self) {
        self.files = FilesPage {
            chosen: self.view().map(|view| view.diff.id),
            ..FilesPage::default()
        };
        self.overlay = Some(Overlay::Files);
    }

    /// The diffs that what was typed fits, by their places: each of its words is in the path or the agent's name, in any case.
    pub fn listed_files(&self) -> Vec<usize> {
        let filter = self.files.filter.value().to_lowercase();
        let fits = |view: &View| {
            let text = format!("{} {}", view.target.shown, self.agent_name(view)).to_lowercase();
            filter.split_whitespace().all(|word| text.contains(word))
        };
        let views = self.views.iter().enumerate();
        let fitting = views.filter(|(_, view)| fits(view));
        fitting.map(|(at, _)| at).collect()
    }

    /// The row of the cursor among them.
    pub fn chosen_file(&self) -> Option<usize> {
        let at = self.views.position(self.files.chosen?).ok()?;
        self.listed_files().iter().position(|view| *view == at)
    }

    pub(super) fn on_files_key(&mut self, key: KeyEvent) {
        let chosen = self.chosen_file();
        let page = usize::from(self.size.height.saturating_sub(3)).max(1);
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let at = chosen.unwrap_or_default();
        let to = match (key.code, control) {
            (KeyCode::Esc, _) | (KeyCode::Char('g'), true) => {
                self.overlay = None;
                return;
            }
            (KeyCode::Enter, _) => {
                self.overlay = None;
                let view = chosen.map(|at| self.listed_files()[at]);
                if let Some(view) = view.filter(|view| *view != self.current) {
                    self.current = view;
                    self.show_first_hunk();
                }
                return;
            }
            (KeyCode::Down, _) | (KeyCode::Char('n'), true) | (KeyCode::Tab, _) => at + 1,
            (KeyCode::Up, _) | (KeyCode::Char('p'), true) | (KeyCode::BackTab, _) => {
                at.saturating_sub(1)
            }
            (KeyCode::PageDown, _) => at.saturating_add(page),
            (KeyCode::PageUp, _) => at.saturating_sub(page),
            _ => {
                let request = remark::request(key);
                let changed = request.and_then(|request| self.files.filter.handle(request));
                if !changed.is_some_and(|changed| changed.value) {
                    return;
                }
                0
            }
        };
        let listed = self.listed_files();
        let view = listed.get(to.min(listed.len().saturating_sub(1)));
        self.files.chosen = view.map(|view| self.views[*view].diff.id);
    }
}
