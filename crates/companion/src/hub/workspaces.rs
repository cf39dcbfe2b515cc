//! Owns the front ends that share a companion: those whose folders overlap. A state machine, without I/O.
//!
//! Of folders that overlap there is one companion at a time: one that starts, or that stops, is waited for. Front ends change
//! their folders while they are served, and one may come whose folders overlap those of two companions. Then some
//! [move](Workspaces::movers) to the other companion. Where agents keep them from that, a folder is
//! [withheld](Workspaces::withheld) from agents by the companion that has had it for a shorter time: Claude Code connects
//! to neither of two companions of its folder.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A front end. Never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ViewId(pub(super) u64);

/// The number of a workspace, which the front ends of one companion share. Never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct WorkspaceId(u64);

#[derive(Debug, Default)]
pub(super) struct Workspaces {
    workspaces: BTreeMap<WorkspaceId, Workspace>,
    last: u64,
    last_root: u64,
}

#[derive(Debug)]
struct Workspace {
    phase: Phase,
    views: BTreeMap<ViewId, Vec<PathBuf>>,
    /// The roots that it stops with.
    left: Vec<PathBuf>,
    /// The roots of now, with numbers in the order in which workspaces got them.
    since: BTreeMap<PathBuf, u64>,
}

/// Front ends that are to leave one companion and to come to another.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Move {
    pub(super) from: WorkspaceId,
    pub(super) to: WorkspaceId,
    pub(super) views: BTreeSet<ViewId>,
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
            let id = *id;
            workspace.views.insert(view, roots.to_vec());
            self.note_roots(id);
            return Place::Joins(id);
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
            since: BTreeMap::new(),
        };
        self.workspaces.insert(id, workspace);
        self.note_roots(id);
        Place::Starts(id)
    }

    /// Numbers the roots that a workspace has got, and forgets those that it has no longer.
    fn note_roots(&mut self, id: WorkspaceId) {
        let Some(workspace) = self.workspaces.get_mut(&id) else {
            return;
        };
        let roots: BTreeSet<_> = workspace.views.values().flatten().cloned().collect();
        workspace.since.retain(|root, _| roots.contains(root));
        for root in roots {
            workspace.since.entry(root).or_insert_with(|| {
                self.last_root += 1;
                self.last_root
            });
        }
    }

    pub(super) fn of(&self, view: ViewId) -> Option<WorkspaceId> {
        let mut workspaces = self.workspaces.iter();
        let found = workspaces.find(|(_, it)| it.views.contains_key(&view));
        found.map(|(id, _)| *id)
    }

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
        let mut workspaces = self.workspaces.iter_mut();
        let known = workspaces.find_map(|(id, it)| Some((*id, it.views.get_mut(&view)?)));
        if let Some((id, known)) = known {
            *known = roots;
            self.note_roots(id);
        }
    }

    /// Returns the front ends that have to leave their companion and to come again, so that folders that overlap have one
    /// companion: as few as possible, and rather the one that `came` last. None if nothing overlaps, or if no companion
    /// `may_be_left` by those that would have to move. Those that `are_fixed` never move.
    pub(super) fn movers(
        &self,
        came: Option<ViewId>,
        may_be_left: impl Fn(WorkspaceId) -> bool,
        are_fixed: impl Fn(ViewId) -> bool,
    ) -> Option<Move> {
        let mut found = Vec::new();
        for (from, to) in self.overlapping() {
            let views = from.1.reaching(to.1);
            if may_be_left(*from.0) && !views.iter().any(|view| are_fixed(*view)) {
                let has_come = came.is_some_and(|came| views.contains(&came));
                let order = (views.len(), !has_come, Reverse(*from.0));
                let (from, to) = (*from.0, *to.0);
                found.push((order, Move { from, to, views }));
            }
        }
        let best = found.into_iter().min_by_key(|(order, _)| *order);
        best.map(|(_, found)| found)
    }

    /// Returns the companions whose folders overlap those of another one.
    pub(super) fn with_overlap(&self) -> BTreeSet<WorkspaceId> {
        self.overlapping().map(|(one, _)| *one.0).collect()
    }

    /// Returns the pairs of companions whose folders overlap, each in both orders.
    fn overlapping(&self) -> impl Iterator<Item = (Numbered<'_>, Numbered<'_>)> {
        let pairs = self
            .running()
            .flat_map(|one| self.running().map(move |other| (one, other)));
        pairs.filter(|(one, other)| {
            let mut roots = one.1.since.keys();
            one.0 != other.0 && roots.any(|root| other.1.overlaps(std::slice::from_ref(root)))
        })
    }

    fn running(&self) -> impl Iterator<Item = Numbered<'_>> {
        let mut workspaces = self.workspaces.iter();
        std::iter::from_fn(move || workspaces.find(|(_, it)| it.phase == Phase::Running))
    }

    /// Returns the roots of a workspace in which agents are to find another companion, because that has had the same folder,
    /// or one around it, for longer.
    pub(super) fn withheld(&self, id: WorkspaceId) -> Vec<PathBuf> {
        let Some(workspace) = self.workspaces.get(&id) else {
            return Vec::new();
        };
        let is_others = |(root, since): &(&PathBuf, &u64)| {
            let mut others = self.running().filter(|(other, _)| **other != id);
            others.any(|(_, other)| {
                let mut known = other.since.iter();
                known.any(|(known, earlier)| root.starts_with(known) && earlier < *since)
            })
        };
        let withheld = workspace.since.iter().filter(is_others);
        withheld.map(|(root, _)| root.clone()).collect()
    }

    /// A front end leaves. Answers the workspace that stops with it, if it was the last.
    pub(super) fn left(&mut self, view: ViewId) -> Option<WorkspaceId> {
        let mut workspaces = self.workspaces.iter_mut();
        let (id, workspace) = workspaces.find(|(_, it)| it.views.contains_key(&view))?;
        let (id, roots) = (*id, workspace.views.remove(&view)?);
        let stops = workspace.views.is_empty() && workspace.phase == Phase::Running;
        if stops {
            workspace.phase = Phase::Stopping;
            workspace.left = roots;
        } else {
            workspace.left.extend(roots);
        }
        self.note_roots(id);
        stops.then_some(id)
    }

    /// Returns true if no other front end shares the workspace of this one.
    pub(super) fn is_alone(&self, view: ViewId) -> bool {
        let workspace = self.of(view).and_then(|id| self.workspaces.get(&id));
        workspace.is_some_and(|it| it.views.len() == 1)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.workspaces.is_empty()
    }
}

type Numbered<'a> = (&'a WorkspaceId, &'a Workspace);

impl Workspace {
    /// Returns the front ends whose roots overlap those of the other workspace, and those whose roots overlap theirs.
    fn reaching(&self, other: &Workspace) -> BTreeSet<ViewId> {
        let mut found = BTreeSet::new();
        let mut around: Vec<PathBuf> = other.since.keys().cloned().collect();
        loop {
            let reaches = |(view, roots): &(&ViewId, &Vec<PathBuf>)| {
                let mut pairs = around
                    .iter()
                    .flat_map(|at| roots.iter().map(move |root| (at, root)));
                !found.contains(*view) && pairs.any(|(at, root)| overlap(at, root))
            };
            let more: Vec<_> = self.views.iter().filter(reaches).collect();
            if more.is_empty() {
                return found;
            }
            found.extend(more.iter().map(|(view, _)| **view));
            around.extend(
                more.into_iter()
                    .flat_map(|(_, roots)| roots.iter().cloned()),
            );
        }
    }

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

    /// Workspaces that run, each of front ends with these roots, which are numbered from 1 on.
    fn served(workspaces: &[&[&[&str]]]) -> (Workspaces, Vec<WorkspaceId>) {
        let mut all = Workspaces::default();
        let mut ids = Vec::new();
        let mut view = 0;
        for (number, views) in workspaces.iter().enumerate() {
            // They come to a folder of their own, and change their roots then.
            let own = format!("/own/{number}");
            let first = view;
            for _ in *views {
                view += 1;
                match all.place(ViewId(view), &paths(&[&own])) {
                    Place::Starts(id) => {
                        all.started(id);
                        ids.push(id);
                    }
                    place => assert_eq!(place, Place::Joins(ids[number])),
                }
            }
            for (at, roots) in (first + 1..).zip(*views) {
                all.change_roots(ViewId(at), paths(roots));
            }
        }
        (all, ids)
    }

    #[test]
    fn front_ends_move_until_no_folders_of_companions_overlap() {
        for (workspaces, came, may_be_left, movers) in [
            // Nothing overlaps.
            (
                &[&[&["/a"][..]][..], &[&["/b"]]][..],
                2,
                &[true, true][..],
                &[][..],
            ),
            // An editor opens a file of a project that another one has open.
            (&[&[&["/a"]], &[&["/b", "/a"]]], 2, &[true, true], &[2]),
            (&[&[&["/a"]], &[&["/b", "/a"]]], 1, &[true, true], &[1]),
            (&[&[&["/a"]], &[&["/b", "/a/deep"]]], 2, &[true, true], &[2]),
            // Its companion has agents, so the other one moves; both have some.
            (&[&[&["/a"]], &[&["/b", "/a"]]], 2, &[true, false], &[1]),
            (&[&[&["/a"]], &[&["/b", "/a"]]], 2, &[false, false], &[]),
            // It is not alone there: an agent there may work in its folder, and is not left by it.
            (&[&[&["/a"]], &[&["/a"], &["/b"]]], 2, &[false, false], &[]),
            (&[&[&["/a"]], &[&["/a"], &["/b"]]], 2, &[true, true], &[2]),
            (
                &[&[&["/a"]], &[&["/a", "/b"], &["/b"]]],
                2,
                &[true, true],
                &[1],
            ),
            (
                &[&[&["/a"]], &[&["/a", "/b"], &["/b"]]],
                2,
                &[false, true],
                &[2, 3],
            ),
            // A review of the folder around two.
            (
                &[&[&["/a/b"], &["/a"]], &[&["/a/c"]]],
                2,
                &[true, true],
                &[3],
            ),
        ] {
            let (all, ids) = served(workspaces);
            let place = |id| ids.iter().position(|it| *it == id).unwrap();
            let may_be_left = |id| may_be_left[place(id)];
            let found = all.movers(Some(ViewId(came)), may_be_left, |_| false);
            let found = found.map(|it| {
                assert!(it.from != it.to && all.of(ViewId(came)).is_some());
                let is_there = |view: &ViewId| all.of(*view) == Some(it.from);
                assert!(it.views.iter().all(is_there), "{workspaces:?}");
                it.views
            });
            let found = found.unwrap_or_default();
            let expected: BTreeSet<_> = movers.iter().map(|view| ViewId(*view)).collect();
            assert_eq!(found, expected, "{workspaces:?}");
            let fixed = all.movers(None, may_be_left, |view| expected.contains(&view));
            let fixed = fixed.map(|it| it.views).unwrap_or_default();
            assert!(fixed.is_disjoint(&expected), "{workspaces:?}");
        }
    }

    #[test]
    fn a_folder_is_withheld_by_the_companion_that_got_it_later() {
        let (mut all, ids) = served(&[&[&["/a", "/x"]], &[&["/b", "/a", "/x/deep"]]]);
        assert_eq!(all.withheld(ids[0]), paths(&[]));
        assert_eq!(all.withheld(ids[1]), paths(&["/a", "/x/deep"]));
        assert_eq!(all.with_overlap(), BTreeSet::from([ids[0], ids[1]]));
        // A folder around it is not withheld: nobody else has the rest of it.
        all.change_roots(ViewId(2), paths(&["/b", "/"]));
        assert_eq!(all.withheld(ids[1]), paths(&[]));
        // What the first one gives up and gets again it has for a shorter time.
        all.change_roots(ViewId(2), paths(&["/a"]));
        all.change_roots(ViewId(1), paths(&["/x"]));
        assert_eq!(all.withheld(ids[1]), paths(&[]));
        assert_eq!(all.with_overlap(), BTreeSet::new());
        all.change_roots(ViewId(1), paths(&["/x", "/a"]));
        assert_eq!(all.withheld(ids[0]), paths(&["/a"]));
        assert_eq!(all.withheld(ids[1]), paths(&[]));
        all.left(ViewId(2));
        assert_eq!(all.withheld(ids[0]), paths(&[]));
    }
}
