//! `f`: the pending diffs as a list by folders, of which what is typed leaves those that it fits. A file that gets another name is
//! one entry of it. Nothing is decided there.

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

/// A row of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilesRow {
    /// The folder of the diffs below it.
    Folder(String),
    /// A diff, by its place among the pending ones, and the one that deletes the same file under its former name.
    Diff(usize, Option<usize>),
}

impl FilesRow {
    /// The place of a diff, if this row is of one.
    fn diff(&self) -> Option<usize> {
        match self {
            Self::Folder(_) => None,
            Self::Diff(at, _) => Some(*at),
        }
    }

    /// The number of diffs that it is about.
    pub fn diffs(&self) -> usize {
        match self {
            Self::Folder(_) => 0,
            Self::Diff(_, from) => 1 + usize::from(from.is_some()),
        }
    }

    /// Returns true if it is about the diff at a place.
    pub fn is_of(&self, place: usize) -> bool {
        matches!(self, Self::Diff(at, from) if *at == place || *from == Some(place))
    }
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

    /// The rows that what was typed fits: each of its words is in the path, the former path or the agent's name, in any case.
    pub fn listed_files(&self) -> Vec<FilesRow> {
        let filter = self.files.filter.value().to_lowercase();
        let fits = |row: &FilesRow| {
            let FilesRow::Diff(at, from) = row else {
                return false;
            };
            let view = &self.views[*at];
            let former = from.map_or("", |from| &self.views[from].target.shown);
            let subagent = if view.diff.is_of_subagent {
                "subagent"
            } else {
                ""
            };
            let (shown, agent) = (&view.target.shown, self.agent_name(view));
            let text = format!("{shown} {former} {agent} {subagent}");
            let text = text.to_lowercase();
            filter.split_whitespace().all(|word| text.contains(word))
        };
        let mut rows = self.all_files();
        rows.retain(fits);
        self.by_folders(rows)
    }

    /// All pending diffs, by folders.
    pub fn files_by_folders(&self) -> Vec<FilesRow> {
        self.by_folders(self.all_files())
    }

    /// The number of diffs with all others of the sets that the pending ones belong to: those that are decided, and those that are
    /// yet to come.
    pub fn of_sets(&self) -> usize {
        let sets = self.views.iter().filter_map(|view| view.diff.set);
        let mut sets: Vec<_> = sets.map(|set| (set.id, set.of)).collect();
        let alone = self.views.len() - sets.len();
        sets.sort_unstable();
        sets.dedup();
        sets.iter().fold(alone, |all, (_, of)| all + *of as usize)
    }

    /// A row for each diff, but one for both of a file that gets another name.
    fn all_files(&self) -> Vec<FilesRow> {
        let all = 0..self.views.len();
        let former: Vec<_> = all.clone().map(|at| self.former_name(at)).collect();
        let rest = all.filter(|at| !former.contains(&Some(*at)));
        rest.map(|at| FilesRow::Diff(at, former[at])).collect()
    }

    /// The diff that deletes what this one creates anew: of the same proposer, and the same text.
    pub fn former_name(&self, at: usize) -> Option<usize> {
        let new = &self.views[at];
        if !new.proposal.is_new_file() || new.proposal.after().is_empty() {
            return None;
        }
        let is_former = |it: &View| {
            it.diff.deletes
                && (it.diff.proposer, it.diff.number) == (new.diff.proposer, new.diff.number)
                && it.proposal.before() == new.proposal.after()
        };
        self.views.iter().position(is_former)
    }

    /// The other name of the file that is shown, if it gets another one.
    pub fn other_name(&self) -> Option<String> {
        let name = |at: usize| &self.views[at].target.shown;
        if let Some(from) = self.former_name(self.current) {
            return Some(format!("renamed from {}", name(from)));
        }
        let mut all = 0..self.views.len();
        let to = all.find(|at| self.former_name(*at) == Some(self.current))?;
        Some(format!("renamed to {}", name(to)))
    }

    /// Names the folders, if there are several.
    fn by_folders(&self, mut rows: Vec<FilesRow>) -> Vec<FilesRow> {
        let folder = |row: &FilesRow| self.views[row.diff()?].target.folder();
        rows.sort_by_key(folder);
        let groups = || rows.chunk_by(|one, other| folder(one) == folder(other));
        if groups().count() < 2 {
            return rows;
        }
        let heading = |group: &[FilesRow]| folder(group.first()?).map(str::to_owned);
        let listed = groups().flat_map(|group| {
            let heading = heading(group).map(FilesRow::Folder);
            heading.into_iter().chain(group.iter().cloned())
        });
        listed.collect()
    }

    /// The row of the cursor among them.
    pub fn chosen_file(&self) -> Option<usize> {
        let at = self.views.position(self.files.chosen?).ok()?;
        self.listed_files().iter().position(|row| row.is_of(at))
    }

    fn listed_diffs(&self) -> Vec<usize> {
        self.listed_files()
            .iter()
            .filter_map(FilesRow::diff)
            .collect()
    }

    pub(super) fn on_files_key(&mut self, key: KeyEvent) {
        let page = usize::from(self.size.height.saturating_sub(3)).max(1);
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let (diffs, chosen) = (self.listed_diffs(), self.chosen_file());
        let chosen = chosen.and_then(|row| self.listed_files()[row].diff());
        let chosen = diffs.iter().position(|it| Some(*it) == chosen);
        let at = chosen.unwrap_or_default();
        let to = match (key.code, control) {
            (KeyCode::Esc, _) | (KeyCode::Char('g'), true) => {
                self.overlay = None;
                return;
            }
            (KeyCode::Enter, _) => {
                self.overlay = None;
                let view = chosen.map(|at| diffs[at]);
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
        let diffs = self.listed_diffs();
        let view = diffs.get(to.min(diffs.len().saturating_sub(1)));
        self.files.chosen = view.map(|view| self.views[*view].diff.id);
    }
}
