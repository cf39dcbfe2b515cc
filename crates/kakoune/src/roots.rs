//! The workspace roots, in which agents connect: the folder that Kakoune works in, and the repositories of its
//! open files. Never the home folder itself, nor the root of the file system.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use crossbeam_channel::{Sender, bounded};
use pillion_discovery::canonicalize;
use pillion_system::spawn;

use crate::disk::Done;

/// The entries in the folder of a repository; in a work tree or a submodule `.git` is a file.
const MARKS: [&str; 7] = [".git", ".jj", ".hg", ".svn", ".bzr", ".pijul", "_darcs"];

/// The facts that the roots depend on.
#[derive(Debug)]
pub struct Request {
    /// The process of the server, and the folder that it reported.
    pub server: u32,
    pub folder: String,
    pub files: Vec<PathBuf>,
}

impl Request {
    /// The folder in which Kakoune works: `:cd` runs no hook in every version.
    fn working_folder(&self) -> PathBuf {
        let current = std::fs::read_link(format!("/proc/{}/cwd", self.server));
        current.unwrap_or_else(|_| self.folder.clone().into())
    }
}

/// Has the roots worked out on a thread, for [`Done::Roots`]. While it waits for a disk it takes no more requests:
/// they are repeated.
///
/// # Errors
/// When the system has no thread for it.
pub fn follow(home: Option<PathBuf>, done: Sender<Done>) -> io::Result<Sender<Request>> {
    let (requests, received) = bounded::<Request>(1);
    let run = move || {
        for request in received {
            let folder = request.working_folder();
            let roots = find(&folder, &request.files, home.as_deref());
            if done.send(Done::Roots(roots)).is_err() {
                return;
            }
        }
    };
    spawn("roots", run)?;
    Ok(requests)
}

/// The roots as real paths, each once; the working folder first. Waits for a disk.
pub fn find(folder: &Path, files: &[PathBuf], home: Option<&Path>) -> Vec<PathBuf> {
    let home = home.map(|home| canonicalize(home).unwrap_or_else(|_| home.to_owned()));
    let is_workspace = |folder: &Path| folder.parent().is_some() && Some(folder) != home.as_deref();
    let folders: Vec<PathBuf> = files
        .iter()
        .filter_map(|file| canonicalize(file.parent()?).ok())
        .collect();
    let repositories: BTreeSet<PathBuf> = folders
        .iter()
        .filter_map(|folder| repository(folder, is_workspace))
        .collect();
    let mut roots: Vec<PathBuf> = Vec::new();
    let working = canonicalize(folder).ok();
    for root in working.into_iter().chain(repositories) {
        if is_workspace(&root) && !roots.contains(&root) {
            roots.push(root);
        }
    }
    if roots.is_empty() {
        // A file of the home folder's, say: its own folder is better than no agent at all.
        roots.extend(folders.into_iter().find(|folder| is_workspace(folder)));
    }
    roots
}

/// The nearest repository at or above a folder.
fn repository(folder: &Path, is_workspace: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let has_mark = |folder: &&Path| {
        let mut marks = MARKS.iter();
        marks.any(|mark| folder.join(mark).symlink_metadata().is_ok())
    };
    let mut folders = folder.ancestors().filter(|folder| is_workspace(folder));
    folders.find(has_mark).map(Path::to_owned)
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn neither_home_nor_the_machine_is_a_workspace() {
        let dir = std::env::temp_dir().join(format!("pillion-roots-{}", std::process::id()));
        let home = dir.join("home");
        fs::create_dir_all(home.join("repo/.git")).unwrap();
        fs::create_dir_all(home.join("repo/src")).unwrap();
        fs::create_dir_all(home.join(".git")).unwrap();
        let home = fs::canonicalize(&home).unwrap();
        let find = |folder: &Path, files: &[PathBuf]| find(folder, files, Some(&home));
        assert_eq!(find(Path::new("/"), &[]), Vec::<PathBuf>::new());
        assert_eq!(find(&home, &[]), Vec::<PathBuf>::new());
        let file = home.join("repo/src/a.rs");
        assert_eq!(find(&home, &[file]), [home.join("repo")]);
        assert_eq!(find(&home, &[home.join("a")]), Vec::<PathBuf>::new());
        assert_eq!(find(&home.join("repo"), &[]), [home.join("repo")]);
        fs::remove_dir_all(&dir).unwrap();
    }
}
