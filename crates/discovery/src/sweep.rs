//! Clearing away what dead companions of this user left behind (C6.2).
//!
//! Only Pillion's own files carry a mark. One without it may belong to another companion, and it is not up to us to
//! judge whether that one is alive.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use pillion_protocol::Dialect;
use pillion_protocol::dialect::FileName;
use pillion_protocol::discovery::Namespaces;

use crate::discovery_files::{MAX_FILE, parse};
use crate::environment::Environment;
use crate::namespaces::Visibility;
use crate::private_file::{Folder, unfinished_writer};
use crate::{liveness, socket, state_dir};
use pillion_system::process;

/// Removes the files of dead Pillion companions from every place of every dialect, and their
/// sockets. Returns what it removed.
///
/// A companion is dead when its process is gone or nothing listens on its port. What is not seen from here, as of
/// one in another container, says nothing. Files of others, of
/// other users, without Pillion's mark, longer than 64 KiB, behind a link, or with a name that no
/// agent looks for stay. What cannot be read or removed is passed over: the next sweep tries again.
pub fn sweep(environment: &Environment) -> Vec<PathBuf> {
    let mut swept = Swept::default();
    for ((base, parts), patterns) in places(environment) {
        swept.look(&base, parts, |name, content| {
            let mut fitting = patterns.iter().filter(|(_, pattern)| pattern.fits(name));
            let file = fitting.find_map(|(dialect, _)| parse(*dialect, name, content))?;
            let publisher = file.pillion?;
            Some((publisher.pid, file.port, publisher.namespaces))
        });
    }
    for directory in environment.state_dirs() {
        if let Some((base, part)) = state_dir::split(&directory) {
            swept.look_at_sockets(base, part);
        }
    }
    swept.finish()
}

type AgentDir = (PathBuf, &'static [&'static str]);

/// Every directory once, with the files that agents look for in it.
fn places(environment: &Environment) -> BTreeMap<AgentDir, Vec<(Dialect, FileName)>> {
    let mut places: BTreeMap<AgentDir, Vec<(Dialect, FileName)>> = BTreeMap::new();
    for dialect in Dialect::ALL {
        for place in dialect.places() {
            let dir = (environment.base(place.base), place.folder);
            places.entry(dir).or_default().push((dialect, place.name));
        }
    }
    places
}

#[derive(Default)]
struct Swept {
    removed: Vec<PathBuf>,
    /// Files whose companion's process lives: its port says whether the companion does.
    in_doubt: Vec<(Rc<Folder>, String, u16)>,
}

impl Swept {
    /// Removes what is surely left over, and what a dead companion did not finish. `owner` is the
    /// process and the port of the companion whose file it is, and where they mean something, if it is one of
    /// Pillion's.
    fn look(
        &mut self,
        base: &Path,
        parts: &[&str],
        owner: impl Fn(&str, &[u8]) -> Option<(u32, u16, Option<Namespaces>)>,
    ) {
        let Ok(Some(folder)) = Folder::open(base, parts) else {
            return;
        };
        let folder = Rc::new(folder);
        for name in folder.names().unwrap_or_default() {
            let writer = unfinished_writer(&name);
            let may_go = match writer {
                Some(writer) => !process::is_alive(writer),
                None => name.ends_with(".json") || name.ends_with(".lock"),
            };
            // Only reading shows that it is a regular file of ours.
            let Some(content) = may_go
                .then(|| folder.read(&name, MAX_FILE).ok().flatten())
                .flatten()
            else {
                continue;
            };
            if writer.is_some() {
                self.remove(&folder, &name);
                continue;
            }
            let Some((pid, port, written)) = owner(&name, &content) else {
                continue;
            };
            let visibility = Visibility::of(written.as_ref(), &folder.path().join(&name));
            if visibility.processes && !process::is_alive(pid) {
                self.remove(&folder, &name);
            } else if visibility.ports {
                self.in_doubt.push((Rc::clone(&folder), name, port));
            }
        }
    }

    /// Removes what dead companions left in a state directory.
    fn look_at_sockets(&mut self, base: &Path, part: &str) {
        let Ok(Some(folder)) = Folder::open(base, &[part]) else {
            return;
        };
        for name in folder.names().unwrap_or_default() {
            let owner = socket::owner_here(&name).or_else(|| unfinished_writer(&name));
            if owner.is_some_and(|pid| !process::is_alive(pid)) {
                self.remove(&folder, &name);
            }
        }
    }

    /// Dials once for all files of a port: one that does not answer costs the same for a hundred.
    fn finish(mut self) -> Vec<PathBuf> {
        let refusing = liveness::refusing(self.in_doubt.iter().map(|(_, _, port)| *port));
        for (folder, name, port) in std::mem::take(&mut self.in_doubt) {
            if refusing.contains(&port) {
                self.remove(&folder, &name);
            }
        }
        self.removed
    }

    fn remove(&mut self, folder: &Folder, name: &str) {
        if folder.remove(name).is_ok() {
            self.removed.push(folder.path().join(name));
        }
    }
}
