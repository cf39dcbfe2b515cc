//! The files that a companion needs for the editors that are attached to it: every name that some release of some agent may
//! look for, in every directory.

use std::path::PathBuf;

use pillion_protocol::Dialect;
use pillion_protocol::dialect::{Base, Place};
use pillion_system::process;

use crate::environment::Environment;

/// An editor that is attached to a companion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seat {
    /// The variables that say where its agents look.
    pub environment: Environment,
    /// Its process, whose ancestors agents look for, too. It must live and be this user's, or Qwen Code deletes its lock
    /// file.
    pub editor_pid: u32,
}

/// One directory that agents look at.
#[derive(Debug, Clone)]
pub(super) struct AgentDir {
    pub(super) base: PathBuf,
    pub(super) folder: &'static [&'static str],
    pub(super) directory: PathBuf,
    /// The variable by which a person moves it elsewhere.
    pub(super) variable: Option<&'static str>,
    /// The agents that look there.
    pub(super) agents: Vec<Dialect>,
    pub(super) files: Vec<Entry>,
}

/// One file in such a directory.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) dialect: Dialect,
    pub(super) name: String,
    /// The process in its name.
    pub(super) pid: Option<u32>,
    /// The editors for whose agents it is, at least one.
    pub(super) editors: Vec<u32>,
}

impl AgentDir {
    /// Has a file there for this editor's agents. Two editors may have ancestors in common.
    fn want(&mut self, dialect: Dialect, name: String, pid: Option<u32>, editor: u32) {
        // A pid may equal a port, and `PREFIX-PID` then `PREFIX-PORT`.
        match self.files.iter_mut().find(|entry| entry.name == name) {
            Some(entry) if entry.editors.contains(&editor) => {}
            Some(entry) => entry.editors.push(editor),
            None => self.files.push(Entry {
                dialect,
                name,
                pid,
                editors: vec![editor],
            }),
        }
    }
}

/// Every directory once, with the files of all editors in it, for the agents that can reach the companion.
pub(super) fn agent_dirs(
    seats: &[Seat],
    port: u16,
    is_reached: impl Fn(Dialect) -> bool,
) -> Vec<AgentDir> {
    let mut dirs: Vec<AgentDir> = Vec::new();
    for seat in seats {
        let environment = &seat.environment;
        let mut pids = vec![seat.editor_pid];
        pids.extend(process::ancestors(seat.editor_pid));
        for dialect in Dialect::ALL.into_iter().filter(|it| is_reached(*it)) {
            for place in dialect.places() {
                if is_second(seats, environment, place) {
                    continue;
                }
                let directory = environment.directory(place);
                let known = dirs.iter().position(|dir| dir.directory == directory);
                let at = known.unwrap_or_else(|| {
                    dirs.push(AgentDir {
                        base: environment.base(place.base),
                        folder: place.folder,
                        directory,
                        variable: Environment::variable(place.base),
                        agents: Vec::new(),
                        files: Vec::new(),
                    });
                    dirs.len() - 1
                });
                let dir = &mut dirs[at];
                let readers = Dialect::ALL.into_iter();
                let readers = readers.filter(|it| it.discovery() == dialect && it.reads(place));
                dir.agents.extend(readers);
                dir.agents.sort_unstable();
                dir.agents.dedup();
                for (name, pid) in names(place, &pids, port) {
                    dir.want(dialect, name, pid, seat.editor_pid);
                }
            }
        }
    }
    dirs
}

/// Returns true if a file there would be the second of this companion in the eyes of the Claude Code of this
/// environment. Newer releases look in both folders, take two files of one port for two companions, and then connect to
/// neither; older ones look only where `CLAUDE_CONFIG_DIR` says. So its file is there, unless another editor's Claude
/// Code needs the one in the home directory: then only newer ones find this companion.
fn is_second(seats: &[Seat], environment: &Environment, place: &Place) -> bool {
    let home = environment.base(Base::ClaudeHome);
    let is_elsewhere = environment.base(Base::ClaudeConfig) != home;
    let is_needed = || {
        let mut configured = seats
            .iter()
            .map(|seat| seat.environment.base(Base::ClaudeConfig));
        configured.any(|folder| folder == home)
    };
    match place.base {
        Base::ClaudeHome => is_elsewhere,
        Base::ClaudeConfig => is_elsewhere && is_needed(),
        Base::TmpDir | Base::QwenHome | Base::CopilotHome => false,
    }
}

/// The names of the files, each with the process in it.
fn names(place: &Place, pids: &[u32], port: u16) -> Vec<(String, Option<u32>)> {
    let pids = if place.name.holds_pid() {
        pids
    } else {
        &pids[..1]
    };
    let named = |pid: &u32| {
        let own = place.name.holds_pid().then_some(*pid);
        (place.name.of(*pid, port), own)
    };
    pids.iter().map(named).collect()
}
