//! Owns the front ends that share a companion: those whose folders overlap. A state machine, without I/O.
//!
//! Of folders that overlap there is one companion at a time: one that starts, or that stops, is waited for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A front end. Never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ViewId(pub(super) u64);

/// The number of a workspace, which the front ends of one companion share. Never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct WorkspaceId(u64);

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Workspaces {
    workspaces: BTreeMap<WorkspaceId, Workspace>,
    last: u64,
}

#[derive(Debug)]
struct Workspace {
    phase: Phase,
    /// The front ends, with their roots.
    views: BTreeMap<ViewId, Vec<PathBuf>>,
    /// The roots that it stops with.
    left: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Starting,
    Running,
    Stopping,
}

/// The place of a front end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// It is in this one now, which runs.
    Joins(WorkspaceId),
    /// It is in this new one, which is to be started.
    Starts(WorkspaceId),
    /// Another one has to start, or to end, first.
    Waits,
}

impl Workspaces {
    /// A front end comes, or has waited.
    pub(super) fn place(&mut self, view: ViewId, roots: &[PathBuf]) -> Place {
        let overlapping = |(_, it): &(&WorkspaceId, &mut Workspace)| it.overlaps(roots);
        let mut others: Vec<_> = self.workspaces.iter_mut().filter(overlapping).collect();
        let running = others.iter().position(|(_, it)| it.phase == Phase::Running);
        if let Some(at) = running {
            let (id, workspace) = others.swap_remove(at);
            workspace.views.insert(view, roots.to_vec());
            return Place::Joins(*id);
        }
        if !others.is_empty() {
            return Place::Waits;
        }
        self.last += 1;
        let id = WorkspaceId(self.last);
        let workspace = Workspace {
            phase: Phase::Starting,
            views: BTreeMap::from([(view, roots.to_vec())]),
            left: Vec::new(),
        };
        self.workspaces.insert(id, workspace);
        Place::Starts(id)
    }

    /// Returns the workspace of a front end.
    pub(super) fn of(&self, view: ViewId) -> Option<WorkspaceId> {
        let mut workspaces = self.workspaces.iter();
        let found = workspaces.find(|(_, it)| it.views.contains_key(&view));
        found.map(|(id, _)| *id)
    }

    /// The companion runs.
    pub(super) fn started(&mut self, id: WorkspaceId) {
        if let Some(workspace) = self.workspaces.get_mut(&id) {
            workspace.phase = Phase::Running;
        }
    }

    /// The companion has ended, or could not start.
    pub(super) fn ended(&mut self, id: WorkspaceId) {
        self.workspaces.remove(&id);
    }

    /// The companion is about to stop, whoever is there.
    pub(super) fn stops(&mut self, id: WorkspaceId) {
        if let Some(workspace) = self.workspaces.get_mut(&id) {
            workspace.phase = Phase::Stopping;
        }
    }

    /// A front end has other roots now. It stays where it is.
    pub(super) fn change_roots(&mut self, view: ViewId, roots: Vec<PathBuf>) {
        let mut workspaces = self.workspaces.values_mut();
        if let Some(known) = workspaces.find_map(|it| it.views.get_mut(&view)) {
            *known = roots;
        }
    }

    /// A front end leaves. Answers the workspace that stops with it, if it was the last.
    pub(super) fn left(&mut self, view: ViewId) -> Option<WorkspaceId> {
        let mut workspaces = self.workspaces.iter_mut();
        let (id, workspace) = workspaces.find(|(_, it)| it.views.contains_key(&view))?;
        let roots = workspace.views.remove(&view)?;
        if !workspace.views.is_empty() || workspace.phase != Phase::Running {
            workspace.left.extend(roots);
            return None;
        }
        workspace.phase = Phase::Stopping;
        workspace.left = roots;
        Some(*id)
    }

    /// Returns true if there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.workspaces.is_empty()
    }
}

impl Workspace {
    fn overlaps(&self, roots: &[PathBuf]) -> bool {
        let left = match self.phase {
            Phase::Stopping => self.left.as_slice(),
            // Its agents are no longer told of them.
            Phase::Starting | Phase::Running => &[],
        };
        let mut own = self.views.values().flatten().chain(left);
        own.any(|own| roots.iter().any(|root| overlap(own, root)))
    }
}

/// Returns true if one is the other, or lies in it.
fn overlap(one: &Path, other: &Path) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(roots: &[&str]) -> Vec<PathBuf> {
        roots.iter().map(PathBuf::from).collect()
    }

    /// With one that runs, for these roots.
    fn running(roots: &[&str]) -> (Workspaces, WorkspaceId) {
        let mut workspaces = Workspaces::default();
        let Place::Starts(id) = workspaces.place(ViewId(1), &paths(roots)) else {
            panic!("there is no other");
        };
        workspaces.started(id);
        (workspaces, id)
    }

    #[test]
    fn front_ends_whose_roots_overlap_share_a_companion() {
        for (known, roots, joins) in [
            (&["/a"][..], &["/a"][..], true),
            (&["/a"], &["/a/b"], true),
            (&["/a/b"], &["/a"], true),
            (&["/x", "/a"], &["/y", "/a/b"], true),
            (&["/a"], &["/ab"], false),
            (&["/a/b"], &["/a/c"], false),
            (&["/a"], &[], false),
            (&[], &[], false),
            (&[], &["/a"], false),
        ] {
            let (mut workspaces, id) = running(known);
            let place = workspaces.place(ViewId(2), &paths(roots));
            assert_eq!(place == Place::Joins(id), joins, "{known:?} {roots:?}");
            assert!(place != Place::Waits);
        }
    }

    #[test]
    fn one_that_starts_is_waited_for() {
        let mut workspaces = Workspaces::default();
        let Place::Starts(id) = workspaces.place(ViewId(1), &paths(&["/a"])) else {
            panic!("there is no other");
        };
        assert_eq!(workspaces.place(ViewId(2), &paths(&["/a"])), Place::Waits);
        let other = workspaces.place(ViewId(3), &paths(&["/b"]));
        assert!(matches!(other, Place::Starts(_)));
        workspaces.started(id);
        let second = workspaces.place(ViewId(2), &paths(&["/a"]));
        assert_eq!(second, Place::Joins(id));
    }

    #[test]
    fn one_that_cannot_start_is_not_there() {
        let mut workspaces = Workspaces::default();
        let Place::Starts(id) = workspaces.place(ViewId(1), &paths(&["/a"])) else {
            panic!("there is no other");
        };
        workspaces.ended(id);
        assert!(workspaces.is_empty());
        let next = workspaces.place(ViewId(2), &paths(&["/a"]));
        assert!(matches!(next, Place::Starts(other) if other != id));
    }

    #[test]
    fn it_stops_with_the_last_and_is_waited_for_until_it_has_ended() {
        let (mut workspaces, id) = running(&["/a"]);
        workspaces.place(ViewId(2), &paths(&["/a/b"]));
        assert_eq!(workspaces.left(ViewId(1)), None);
        assert_eq!(workspaces.left(ViewId(1)), None, "it has left before");
        assert_eq!(workspaces.left(ViewId(2)), Some(id));
        assert_eq!(workspaces.place(ViewId(3), &paths(&["/a"])), Place::Waits);
        assert!(!workspaces.is_empty());
        workspaces.ended(id);
        assert!(workspaces.is_empty());
        let next = workspaces.place(ViewId(3), &paths(&["/a"]));
        assert!(matches!(next, Place::Starts(other) if other != id));
    }

    #[test]
    fn one_that_is_stopped_takes_no_front_end() {
        let (mut workspaces, id) = running(&["/a"]);
        workspaces.stops(id);
        assert_eq!(workspaces.place(ViewId(2), &paths(&["/a"])), Place::Waits);
        assert_eq!(workspaces.left(ViewId(1)), None, "it stops already");
        assert_eq!(workspaces.place(ViewId(2), &paths(&["/a"])), Place::Waits);
    }

    #[test]
    fn the_roots_of_now_count() {
        let (mut workspaces, id) = running(&["/a"]);
        workspaces.change_roots(ViewId(1), paths(&["/b"]));
        let joins = workspaces.place(ViewId(2), &paths(&["/b"]));
        assert_eq!(joins, Place::Joins(id));
        let of = |view| workspaces.of(ViewId(view));
        assert_eq!([of(1), of(2), of(3)], [Some(id), Some(id), None]);
        workspaces.left(ViewId(1));
        workspaces.change_roots(ViewId(2), paths(&["/c"]));
        let other = workspaces.place(ViewId(3), &paths(&["/a"]));
        assert!(matches!(other, Place::Starts(_)), "it has left");
    }
}
