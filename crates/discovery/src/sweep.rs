//! Clearing away what dead companions of this user left behind (C6.2).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pillion_protocol::Dialect;
use pillion_protocol::dialect::FileName;

use crate::environment::Environment;
use crate::private_file::{Folder, unfinished_writer};
use crate::publication::{MAX_FILE, parse};
use crate::{liveness, process, state};

/// Removes the files of dead Pillion companions from every place of every dialect, and their state
/// files. Returns what it removed.
///
/// A companion is dead when its process is gone or nobody listens on its port. Files of others, of
/// other users, without Pillion's mark, longer than 64 KiB, behind a link, or with a name that no
/// agent looks for stay. What cannot be read or removed is passed over: the next sweep tries again.
pub fn sweep(environment: &Environment) -> Vec<PathBuf> {
    let mut removed = Vec::new();
    for ((base, parts), patterns) in places(environment) {
        sweep_folder(&base, parts, &mut removed, |name, content| {
            let fits = patterns.iter().any(|pattern| pattern.fits(name));
            fits && parse(content).is_some_and(|file| {
                file.pillion
                    .is_some_and(|publisher| liveness::is_dead(publisher.pid, file.port))
            })
        });
    }
    for directory in environment.state_dirs() {
        if let Some((base, part)) = state::split(&directory) {
            sweep_folder(base, &[part], &mut removed, |name, content| {
                state::parse(name, content)
                    .is_some_and(|state| liveness::is_dead(state.pid, state.port))
            });
        }
    }
    removed
}

type Shelf = (PathBuf, &'static [&'static str]);

/// Every directory once, with the names that agents look for in it.
fn places(environment: &Environment) -> BTreeMap<Shelf, Vec<FileName>> {
    let mut places: BTreeMap<Shelf, Vec<FileName>> = BTreeMap::new();
    for place in Dialect::ALL.into_iter().flat_map(Dialect::places) {
        let shelf = (environment.base(place.base), place.folder);
        places.entry(shelf).or_default().push(place.name);
    }
    places
}

/// Removes the files that are left over, and those that a dead companion did not finish.
fn sweep_folder(
    base: &Path,
    parts: &[&str],
    removed: &mut Vec<PathBuf>,
    is_left_over: impl Fn(&str, &[u8]) -> bool,
) {
    let Ok(Some(folder)) = Folder::open(base, parts) else {
        return;
    };
    for name in folder.names().unwrap_or_default() {
        let may_go = match unfinished_writer(&name) {
            Some(writer) => !process::is_alive(writer),
            None => name.ends_with(".json") || name.ends_with(".lock"),
        };
        // Reading is what tells that it is a regular file of ours.
        let Some(content) = may_go
            .then(|| folder.read(&name, MAX_FILE).ok().flatten())
            .flatten()
        else {
            continue;
        };
        let is_unfinished = unfinished_writer(&name).is_some();
        if (is_unfinished || is_left_over(&name, &content)) && folder.remove(&name).is_ok() {
            removed.push(folder.path().join(&name));
        }
    }
}
