//! Programs that run beside an agent's commands, and those that the commands of a turn have left running. While one of them runs, the turn that has ended stays open: what
//! changes is listed in it, and it is unclear who made it. Once none runs, what changes is the person's.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pillion_discovery::real_path;
use pillion_system::lineage::{Kin, kin, lineage, variables};
use pillion_system::{clock, process, spawn};

use super::session::Shell;
use super::{Extent, Recorder};
use crate::store::StoreError;
use crate::table::Table;

/// Is called with a session's number when nothing runs any more that its last turn has left behind.
pub(super) type AllEnded = Arc<dyn Fn(u64) + Send + Sync>;

/// Variables by which a shell says in which folder it is, or was: what it starts has them, wherever that goes.
const FOLDERS: [&str; 2] = ["PWD", "OLDPWD"];

/// What git leaves running by itself after its commands.
const GIT_SERVICES: [&str; 4] = [
    "maintenance",
    "gc",
    "fsmonitor--daemon",
    "credential-cache--daemon",
];

impl Recorder {
    /// This is the process of a session's agent.
    pub fn is_process(&mut self, session: u64, process: u32) {
        if let Some(session) = self.sessions.get_mut(&session) {
            session.process = Some(process);
        }
    }

    /// `told` is called when nothing runs any more that a turn of a session has left behind.
    pub fn on_left_behind_ended(&mut self, told: impl Fn(u64) + Send + Sync + 'static) {
        self.left_behind_ended = Some(Arc::new(told));
    }

    /// Nothing runs any more that the last turn of this session has left behind.
    pub fn left_behind_ended(&mut self, session: u64) -> Result<(), StoreError> {
        if !self.is_left_behind(session) {
            return Ok(());
        }
        self.look(Extent::All);
        // It may have left something itself.
        if self.leaves_behind(session) {
            return self.save();
        }
        self.close(session);
        if self.sessions.get(&session).is_some_and(|it| it.is_gone) {
            self.sessions.remove(&session);
            self.watch_while_used();
        }
        self.save()
    }

    /// Somebody asks what has changed by now: in turns that have ended, no call tells when to look. What could not be written is
    /// tried again.
    pub fn catch_up(&mut self) -> Result<(), StoreError> {
        if !self.closed.is_empty() || self.sessions.values().any(|it| it.is_left_behind) {
            let now = clock::now_ms();
            let found = self.unsaved_differences(Extent::Told);
            self.found_all(found, now);
        } else if self.behind.is_none() {
            return Ok(());
        }
        self.save()
    }

    /// The files that programs in the folders have open to write at this moment which no command of this session has started, while
    /// one runs: nobody knows whose their text is.
    pub(super) fn written_by_others(&self, session: u64) -> HashSet<PathBuf> {
        let session = self.sessions.get(&session);
        let session = session.filter(|it| it.calls.iter().any(|call| call.path.is_none()));
        let Some((session, agent)) = session.and_then(|it| Some((it, it.process?))) else {
            return HashSet::new();
        };
        let roots = self.tables.iter().map(|it| real_path(it.root()));
        let roots: Vec<PathBuf> = roots.collect();
        let is_other = |pid: &u32| {
            let folder = process::folder(*pid);
            if !folder.is_some_and(|it| roots.iter().any(|root| it.starts_with(root))) {
                return false;
            }
            let line = lineage(*pid);
            let is_below = line.iter().any(|it| it.process.pid == agent);
            !is_below && !is_left(&line, &session.shells, Some(agent))
        };
        let others = process::all().into_iter().filter(is_other);
        let written = others.flat_map(process::written_files);
        written.map(|path| self.located(&path)).collect()
    }

    pub(super) fn is_left_behind(&self, session: u64) -> bool {
        self.sessions
            .get(&session)
            .is_some_and(|it| it.is_left_behind)
    }

    /// Returns true if the shell commands of a session's turn have left something running: then it is told when that has ended.
    pub(super) fn leaves_behind(&mut self, number: u64) -> bool {
        let Some(session) = self.sessions.get_mut(&number) else {
            return false;
        };
        let Some(told) = self.left_behind_ended.clone() else {
            return false;
        };
        let roots: Vec<&Path> = self.tables.iter().map(Table::root).collect();
        let left = left_behind(&session.shells, session.process, &roots);
        session.is_left_behind = !left.is_empty()
            && spawn("left behind", move || {
                for pid in left {
                    process::wait_for_end(pid);
                }
                told(number);
            })
            .is_ok();
        session.is_left_behind
    }
}

/// The processes of this user whose folder is in one of these and that a shell command has started.
fn left_behind(shells: &[Shell], agent: Option<u32>, roots: &[&Path]) -> Vec<u32> {
    let Some(since) = shells.first().map(|it| it.began) else {
        return Vec::new();
    };
    let is_young = |pid: &u32| process::started_at(*pid).is_some_and(|at| at >= since);
    let mut young: Vec<u32> = process::all().into_iter().filter(is_young).collect();
    young.retain(|pid| is_left(&lineage(*pid), shells, agent) && is_in(*pid, roots));
    young
}

/// Returns true if the first of those that are no older than the shell commands is nobody's child any more, or is the agent's and was
/// started while a command ran: at other times, an agent starts hooks, status lines and servers of its own.
fn is_left(line: &[Kin], shells: &[Shell], agent: Option<u32>) -> bool {
    let is_own =
        { line.first() }.is_some_and(|it| it.uid.is_none_or(|it| it == process::own_uid()));
    let since = shells.first().map(|it| it.began);
    let young = line
        .iter()
        .take_while(|it| Some(it.started_at) >= since)
        .count();
    let Some(top) = line[..young].last() else {
        return false;
    };
    let is_orphan = |parent: u32| parent <= 1 || kin(parent).is_none_or(|it| it.adopts());
    let is_of_shell = match agent == Some(top.process.parent) {
        true => shells.iter().any(|it| it.ran_at(top.started_at)),
        false => is_orphan(top.process.parent),
    };
    is_own && is_of_shell && !serves_git(&line[..young])
}

/// Returns true if these are git's, and write no file of a work tree.
fn serves_git(line: &[Kin]) -> bool {
    let words = |it: &Kin| it.process.command.split(' ').nth(1).map(str::to_owned);
    let is_git = line.iter().all(|it| it.process.name() == "git");
    let service = line.last().and_then(words);
    is_git && service.is_some_and(|it| GIT_SERVICES.contains(&&*it))
}

fn is_in(pid: u32, roots: &[&Path]) -> bool {
    let variables = variables(pid).into_iter();
    let told = variables.filter(|(name, _)| FOLDERS.iter().any(|it| name == it));
    let told = told.map(|(_, folder)| PathBuf::from(folder));
    let mut folders = told.chain(process::folder(pid));
    folders.any(|folder| roots.iter().any(|root| folder.starts_with(root)))
}
