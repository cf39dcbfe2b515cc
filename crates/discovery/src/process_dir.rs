//! Private folders of one process, where it lays down what an editor is to open:
//! `…/pillion/KIND/PID`, below the system's directories for such. They go with their process; what a
//! dead one left goes with the next. All of it waits for a disk.

use std::fs;
use std::path::PathBuf;

use pillion_system::process;

use crate::environment::Environment;
use crate::private_file::{FileError, Folder};
use crate::real_path::canonicalize;
use crate::state_dir;

/// The folders of this process. Dropping it removes them.
#[derive(Debug)]
pub struct ProcessDir {
    /// The best one first.
    places: Vec<Place>,
}

/// One of the system's directories, with our folder for files of one kind in it.
#[derive(Debug)]
pub struct Place {
    base: PathBuf,
    part: String,
    kind: &'static str,
}

impl ProcessDir {
    /// This process's folders for files of `kind`. What dead processes left there is removed.
    pub fn new(environment: &Environment, kind: &'static str) -> Self {
        let directories = environment.state_dirs();
        let places = directories.iter().filter_map(|directory| {
            let (base, part) = state_dir::split(directory)?;
            Some(Place {
                base: base.to_owned(),
                part: part.to_owned(),
                kind,
            })
        });
        let places: Vec<Place> = places.collect();
        for folder in places.iter().flat_map(Place::left_behind) {
            let _ = fs::remove_dir_all(folder.path());
        }
        Self { places }
    }

    /// Returns the result of `make` in the first place where it succeeds.
    ///
    /// # Errors
    /// Why it cannot in the last.
    pub fn put<T>(&self, make: impl Fn(&Place) -> Result<T, FileError>) -> Result<T, FileError> {
        let mut made = Err(FileError::NotAFolder(PathBuf::new()));
        for place in &self.places {
            made = make(place);
            if made.is_ok() {
                break;
            }
        }
        made
    }

    /// The folders of other processes.
    pub fn others(&self) -> impl Iterator<Item = Folder> {
        let folders = self.places.iter().flat_map(Place::all);
        folders.filter_map(|(pid, folder)| (pid != std::process::id()).then_some(folder))
    }

    /// The parents of the folders of all processes, by each of their names.
    pub fn parents(&self) -> Vec<PathBuf> {
        let parent = |place: &Place| {
            let real = canonicalize(&place.base).unwrap_or_else(|_| place.base.clone());
            [place.base.clone(), real].map(|base| base.join(&place.part).join(place.kind))
        };
        self.places.iter().flat_map(parent).collect()
    }
}

impl Drop for ProcessDir {
    fn drop(&mut self) {
        for folder in self.places.iter().filter_map(Place::own) {
            let _ = fs::remove_dir_all(folder.path());
        }
    }
}

impl Place {
    /// A folder in that of this process. It is made where it is not there.
    ///
    /// # Errors
    /// When the disk refuses, or something is in the way.
    pub fn create(&self, name: &str) -> Result<Folder, FileError> {
        let parts = [self.part.as_str(), self.kind, &own_name(), name];
        Folder::create(&self.base, &parts)
    }

    fn own(&self) -> Option<Folder> {
        self.open(&[&self.part, self.kind, &own_name()])
    }

    /// The folders of all processes, by their numbers. A link, or another user's, is none.
    fn all(&self) -> impl Iterator<Item = (u32, Folder)> {
        let parent = self.open(&[&self.part, self.kind]);
        let names = parent.and_then(|parent| parent.names().ok());
        let names = names.unwrap_or_default().into_iter();
        names.filter_map(|name| {
            let pid = name
                .parse()
                .ok()
                .filter(|pid: &u32| pid.to_string() == name)?;
            let folder = self.open(&[&self.part, self.kind, &name])?;
            Some((pid, folder))
        })
    }

    /// Those of dead processes. One with our own number is of a process that had it before.
    fn left_behind(&self) -> impl Iterator<Item = Folder> {
        self.all().filter_map(|(pid, folder)| {
            let is_dead = pid == std::process::id() || !process::is_alive(pid);
            is_dead.then_some(folder)
        })
    }

    fn open(&self, parts: &[&str]) -> Option<Folder> {
        Folder::open(&self.base, parts).ok()?
    }
}

fn own_name() -> String {
    std::process::id().to_string()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const KIND: &str = "proposals";

    /// With these two places on each system.
    fn dir(best: &Path, next: &Path) -> ProcessDir {
        let best = ["XDG_RUNTIME_DIR", "LOCALAPPDATA"].map(|name| (name, best));
        let next = ["TMPDIR", "TEMP", "TMP"].map(|name| (name, next));
        let environment = Environment::from_pairs(best.into_iter().chain(next));
        ProcessDir::new(&environment, KIND)
    }

    /// The folder of this process, once something was put there.
    fn own(dir: &ProcessDir) -> Option<PathBuf> {
        let folder = dir.places.iter().find_map(Place::own);
        folder.map(|folder| folder.path().to_owned())
    }

    #[test]
    fn a_process_has_one_folder_which_goes_with_it() {
        let home = tempfile::tempdir().unwrap();
        let dir = dir(home.path(), home.path());
        assert!(own(&dir).is_none() && dir.others().next().is_none());
        let one = dir.put(|place| place.create("1")).unwrap();
        let two = dir.put(|place| place.create("2")).unwrap();
        let own = own(&dir).unwrap();
        for folder in [&one, &two] {
            assert_eq!(folder.path().parent(), Some(own.as_path()));
        }
        let parents = dir.parents();
        assert!(parents.iter().any(|it| Some(it.as_path()) == own.parent()));
        drop(dir);
        assert!(!own.exists());
    }

    #[cfg(unix)]
    #[test]
    fn only_folders_of_dead_processes_are_removed() {
        let home = tempfile::tempdir().unwrap();
        let first = dir(home.path(), home.path());
        first.put(|place| place.create("1-1")).unwrap();
        let all = own(&first).unwrap().parent().unwrap().to_owned();
        let (dead, ours) = (u32::MAX.to_string(), std::process::id().to_string());
        let kept = ["notes", "0001", "1"];
        let outside = home.path().join("outside");
        for folder in kept.iter().copied().chain([dead.as_str()]) {
            fs::create_dir_all(all.join(folder).join("1-1")).unwrap();
        }
        fs::create_dir(&outside).unwrap();
        let link = all.join((u32::MAX - 1).to_string());
        std::os::unix::fs::symlink(&outside, &link).unwrap();
        let next = dir(home.path(), home.path());
        assert!(!all.join(dead).exists());
        assert!(!all.join(ours).exists(), "of who had this number before");
        assert!(kept.iter().all(|folder| all.join(folder).exists()));
        assert!(outside.exists() && link.is_symlink());
        // Both places may be the same one.
        assert!(next.others().count() > 0);
        assert!(next.others().all(|other| other.path() == all.join("1")));
    }

    #[test]
    fn the_next_place_is_used_when_the_best_one_cannot_be() {
        let (best, next) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(best.path().join("pillion"), "in the way").unwrap();
        let dir = dir(best.path(), next.path());
        let folder = dir.put(|place| place.create("1-1")).unwrap();
        let real = |path: &Path| path.canonicalize().unwrap();
        assert!(real(folder.path()).starts_with(real(next.path())));
    }
}
