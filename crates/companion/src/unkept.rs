//! Changes that cannot be written yet, as the store's disk is full, for example: they are listed, and nothing is decided about them.

use std::path::Path;
use std::sync::Arc;

use pillion_changes::{ChangeRef, Turn};
use pillion_discovery::real_path;
use pillion_view::changes::{ChangesAct, Meant, NOT_KEPT, NamedAct, TakeBack};

/// The turns with changes that the recorder alone has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Unkept {
    pub(crate) turns: Arc<[Turn]>,
    /// The reason why they are not in the store, as a sentence.
    pub(crate) why: String,
}

impl Unkept {
    /// Returns why nothing can be decided, if this act means one of them.
    pub(crate) fn refusal(&self, act: &ChangesAct) -> Option<String> {
        let is_named = |name: &str| name.parse().is_ok_and(|name| self.has(name));
        let is_meant = |it: &Meant| match (&it.id, &it.path) {
            (Some(id), _) => is_named(id),
            (None, path) => path.as_ref().is_some_and(|it| self.has_file(it)),
        };
        let is_it = match act {
            // What is undone was written.
            ChangesAct::Undo(_) => false,
            ChangesAct::Named(named) if named.act == NamedAct::Undo => false,
            // To forget something may make room.
            ChangesAct::Named(named) if named.act == NamedAct::Forget => {
                return self.refusal_to_forget(&named.names);
            }
            ChangesAct::Named(named) => named.names.iter().any(|it| is_named(it)),
            ChangesAct::Look(id) => id.as_ref().is_some_and(|it| is_named(it)),
            ChangesAct::Keep(meant) | ChangesAct::TakeBack(TakeBack { meant, .. }) => {
                is_meant(meant)
            }
            ChangesAct::Stage(part) => is_meant(&part.meant),
        };
        is_it.then(|| format!("{NOT_KEPT}: {}", self.why))
    }

    /// Returns why one of these turns cannot be forgotten yet: the store still says that it goes on.
    fn refusal_to_forget(&self, names: &[String]) -> Option<String> {
        let is_named = |turn: &&Turn| names.iter().any(|it| *it == turn.number.to_string());
        let mut ended = self.turns.iter().filter(|it| it.ended.is_some());
        let turn = ended.find(is_named)?;
        let (number, why) = (turn.number, &self.why);
        Some(format!(
            "turn {number} has ended, and that is {NOT_KEPT}: {why}"
        ))
    }

    fn has(&self, name: ChangeRef) -> bool {
        let mut turns = self.turns.iter().filter(|it| it.number == name.turn);
        turns.any(|turn| match name.change {
            None => !turn.changes.is_empty(),
            Some(it) => turn.change(it).is_some(),
        })
    }

    fn has_file(&self, path: &Path) -> bool {
        let path = real_path(path);
        let mut changes = self.turns.iter().flat_map(|it| &it.changes);
        changes.any(|it| it.path == path)
    }
}
