//! Changes that cannot be written yet, as the store's disk is full, for example: they are listed, and nothing is decided about them.

use std::path::Path;
use std::sync::Arc;

use pillion_changes::{ChangeRef, recorder};
use pillion_discovery::real_path;
use pillion_view::changes::{ChangesAct, Meant, NOT_KEPT, NamedAct, Part};

/// What the recorder alone has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Unkept(pub(crate) Arc<recorder::Unkept>);

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
            ChangesAct::Keep(meant) | ChangesAct::TakeBack(Part { meant, .. }) => is_meant(meant),
            ChangesAct::Stage(part) => is_meant(&part.meant),
        };
        is_it.then(|| format!("{NOT_KEPT}: {}", self.0.why))
    }

    /// Returns why one of these turns cannot be forgotten yet: the store still says that it goes on.
    fn refusal_to_forget(&self, names: &[String]) -> Option<String> {
        let is_named = |turn: &&u64| names.iter().any(|it| *it == turn.to_string());
        let number = self.0.ended.iter().find(is_named)?;
        let why = &self.0.why;
        Some(format!(
            "turn {number} has ended, and that is {NOT_KEPT}: {why}"
        ))
    }

    fn has(&self, name: ChangeRef) -> bool {
        let mut turns = self.0.turns.iter().filter(|it| it.number == name.turn);
        turns.any(|turn| name.change.is_none_or(|it| turn.change(it).is_some()))
    }

    fn has_file(&self, path: &Path) -> bool {
        let path = real_path(path);
        let mut changes = self.0.turns.iter().flat_map(|it| &it.changes);
        changes.any(|it| it.path == path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pillion_view::changes::Named;

    #[test]
    fn a_turn_whose_end_is_not_kept_is_not_said_to_go_on() {
        let unkept = Unkept(Arc::new(recorder::Unkept {
            ended: vec![1],
            why: "No space left".to_owned(),
            ..recorder::Unkept::default()
        }));
        let why = |act, name: &str| {
            let named = Named {
                act,
                names: vec![name.to_owned()],
                takes_all: false,
                folders: Vec::new(),
                notes: Vec::new(),
                on_lines: Vec::new(),
            };
            unkept.refusal(&ChangesAct::Named(named))
        };
        let said = "turn 1 has ended, and that is not kept yet: No space left";
        assert_eq!(why(NamedAct::Forget, "1").as_deref(), Some(said));
        // The store knows of the others, and nothing but the end of the first is behind.
        for (act, name) in [
            (NamedAct::Forget, "2"),
            (NamedAct::Forget, "3"),
            (NamedAct::Keep, "1"),
            (NamedAct::Undo, "1"),
        ] {
            assert_eq!(why(act, name), None, "{act:?} {name}");
        }
    }
}
