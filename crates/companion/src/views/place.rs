//! Decides which views a proposal belongs in. A guest came for one revision, which another view shows as a file: agents get
//! to know nothing of it.

use std::collections::HashSet;
use std::path::Path;

use pillion_view::{DiffId, EditorEvent, ProposalKey, Shows, Stale};

use super::audience::Audience;
use super::{View, ViewId, Views};

impl Views {
    /// Has a proposal shown wherever else it belongs now: a file of a set, where others of the set are.
    pub(super) fn extend(&mut self, id: DiffId) {
        let beside = self.views_of_set(id);
        let Some(audience) = self.audiences.get_mut(&id).filter(|it| it.is_open()) else {
            return;
        };
        let path = audience.path().to_owned();
        let may_show = |view: &&View| !audience.is_refused_by(view.id);
        let of = |shows: Shows| {
            let views = self.views.iter().filter(may_show);
            views.filter(move |view| view.options.shows == shows)
        };
        let holds = |view: &View| view.holds(&path);
        let mut wanted: Vec<ViewId> = of(Shows::Always).map(|view| view.id).collect();
        let mut editors = of(Shows::LastUsed).filter(|view| !view.is_agents);
        let has_editor = editors.any(|view| audience.has(view.id));
        if !has_editor {
            let rank = |view: &&View| {
                (
                    !view.is_agents,
                    holds(view),
                    beside.contains(&view.id),
                    view.used,
                )
            };
            let best = of(Shows::LastUsed).max_by_key(rank);
            wanted.extend(best.map(|view| view.id));
        }
        if wanted.is_empty() && audience.is_empty() {
            let last = of(Shows::Alone).max_by_key(|view| view.used);
            wanted.extend(last.map(|view| view.id));
        }
        let guests = self.views.iter().filter(may_show);
        let guests = guests.filter(|view| view.came_for(audience.key()));
        wanted.extend(guests.map(|view| view.id));
        wanted.retain(|view| !audience.has(*view));
        for view in &wanted {
            audience.seat(*view);
        }
        self.send_open(id, &wanted);
    }

    /// The views that show files of the set of a proposal.
    fn views_of_set(&self, id: DiffId) -> HashSet<ViewId> {
        let set = |it: &Audience| it.diff().set.map(|set| set.id);
        let Some(own) = self.audiences.get(&id).and_then(set) else {
            return HashSet::new();
        };
        let others = self.audiences.values();
        let others = others.filter(|it| it.is_open() && set(it) == Some(own));
        others.flat_map(Audience::seated).copied().collect()
    }

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
    fn holds(&self, path: &Path) -> bool {
        self.options.roots.iter().any(|root| path.starts_with(root))
    }

    /// Returns true if it is a guest that came for this revision.
    pub(super) fn came_for(&self, key: ProposalKey) -> bool {
        matches!(self.options.shows, Shows::Only { key: only, .. } if only == key)
    }
}

pub(super) fn is_guest(views: &[View], id: ViewId) -> bool {
    let view = views.iter().find(|view| view.id == id);
    view.is_some_and(|view| view.options.is_guest())
}
