//! Guests: views that came for one revision, which another view shows as a file. Agents get to know nothing of them.

use pillion_view::{EditorEvent, ProposalKey, Shows, Stale};

use super::{View, ViewId, Views};

impl Views {
    /// Returns true if no other view is left but guests.
    pub(crate) fn is_last(&self, id: ViewId) -> bool {
        let mut hosts = self.hosts();
        hosts.next().is_some_and(|view| view.id == id) && hosts.next().is_none()
    }

    /// Tells whether a guest can be shown this revision.
    ///
    /// # Errors
    /// When no view shows it any more, or is asked to.
    pub(crate) fn check_open(&self, key: ProposalKey) -> Result<(), Stale> {
        let audience = self.audiences.get(&key.id).filter(|it| it.is_open());
        let current = audience.ok_or(Stale::NotPending)?.key();
        (current == key).then_some(()).ok_or(Stale::Replaced)
    }

    /// The views that show this revision get to know that a guest has it open.
    pub(crate) fn send_shared(&mut self, key: ProposalKey) {
        let audience = self.audiences.get(&key.id).filter(|it| it.key() == key);
        let shown = |view: &&mut View| audience.is_some_and(|it| it.has(view.id));
        let is_host = |view: &&mut View| !view.options.is_guest();
        for view in self.views.iter_mut().filter(shown).filter(is_host) {
            view.editor.event(EditorEvent::Shared(key));
        }
    }

    /// All but guests.
    pub(super) fn hosts(&self) -> impl Iterator<Item = &View> {
        self.views.iter().filter(|view| !view.options.is_guest())
    }
}

impl View {
    /// Returns true if it is a guest that came for this revision.
    pub(super) fn came_for(&self, key: ProposalKey) -> bool {
        matches!(self.options.shows, Shows::Only { key: only, .. } if only == key)
    }
}

/// Returns true if this view is a guest.
pub(super) fn is_guest(views: &[View], id: ViewId) -> bool {
    let view = views.iter().find(|view| view.id == id);
    view.is_some_and(|view| view.options.is_guest())
}
