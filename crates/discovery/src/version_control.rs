//! Folders of version control: which folders hold the history of a repository, where nobody but its own program writes, and
//! where git keeps that of a work tree. What is read of a repository is a regular file below a limit: in one that somebody
//! else has made, anything may be a pipe or lead to a device.

pub mod git;

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use crate::real_path::canonicalize;
use crate::regular_file;

/// The name under which git keeps everything: a folder, or a file in work trees and submodules.
pub const GIT: &str = ".git";

/// The entries that mark the top folder of a repository, and hold its history or lead to it.
pub const MARKS: [&str; 7] = [GIT, ".jj", ".hg", ".svn", ".bzr", ".pijul", "_darcs"];

/// The files of git that name a folder are not longer than this, in bytes.
const MAX_NAME: u64 = 64 << 10;

/// Returns true if an entry of this name, be it a folder, a file or a link, is one of [`MARKS`].
pub fn is_mark(name: &OsStr) -> bool {
    MARKS.iter().any(|mark| name == *mark)
}

/// Returns true if git takes this folder for a repository, whatever its name is: a bare one, one to which a file called
/// `.git` leads, or the part of one that belongs to a work tree. Blocking.
pub fn is_git_folder(folder: &Path) -> bool {
    let is = |name: &str, kind: fn(&Metadata) -> bool| {
        folder.join(name).metadata().is_ok_and(|it| kind(&it))
    };
    let head = folder.join("HEAD").symlink_metadata();
    // It may be a link to a branch that has no commit yet.
    head.is_ok_and(|it| it.is_file() || it.is_symlink())
        && (is("commondir", Metadata::is_file)
            || (is("objects", Metadata::is_dir) && is("refs", Metadata::is_dir)))
}

/// Returns true if git takes this folder for the top of a work tree. A folder called `.git` that is none of git's is passed over,
/// as git does; a file or a link counts wherever it leads, as it may lead there again. Blocking.
pub fn is_work_tree(top: &Path) -> bool {
    let git = top.join(GIT);
    let kind = git.symlink_metadata();
    kind.is_ok_and(|kind| !kind.is_dir() || is_git_folder(&git))
}

/// Returns true if this folder is the top of a repository of any kind. Blocking.
pub fn is_top(folder: &Path) -> bool {
    MARKS.iter().any(|mark| match *mark {
        GIT => is_work_tree(folder),
        mark => folder.join(mark).symlink_metadata().is_ok(),
    })
}

/// Returns true if a folder has a `.git` of which git makes nothing, and no other repository. Blocking.
pub fn has_broken_mark(folder: &Path) -> bool {
    folder.join(GIT).symlink_metadata().is_ok() && !is_top(folder)
}

/// Returns true if this path below `root` lies in a folder of version control, or is one, and not in a work tree within it.
/// Blocking.
pub fn holds(root: &Path, path: &Path) -> bool {
    for (depth, it) in path.ancestors().enumerate() {
        let is_root = it == root;
        if !is_root && it.file_name().is_some_and(is_mark) {
            return true;
        }
        if depth > 0 && is_git_folder(it) {
            return true;
        }
        if is_root || (depth > 0 && is_work_tree(it)) {
            return false;
        }
    }
    false
}

/// The top folders of those work trees of a repository of git's that lie within its own folder. Blocking.
pub fn work_trees_within(git: &Path) -> Vec<PathBuf> {
    let (Ok(real), Ok(entries)) = (canonicalize(git), fs::read_dir(git.join("worktrees"))) else {
        return Vec::new();
    };
    let tree = |entry: fs::DirEntry| {
        let own = entry.path();
        let mark = own.join(name_in(&own.join("gitdir"))?);
        let top = canonicalize(mark.parent()?).ok()?;
        let inner = top.strip_prefix(&real).ok()?;
        let is_tree = inner != Path::new("") && top.join(GIT).is_file();
        is_tree.then(|| git.join(inner))
    };
    entries.flatten().filter_map(tree).collect()
}

/// The folders in which git keeps what belongs to a work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitFolders {
    /// The folder that belongs to this work tree alone.
    pub own: PathBuf,
    /// The folder that all work trees of the repository share; the same one if there are no others.
    pub common: PathBuf,
}

impl GitFolders {
    /// Finds the folders of the work tree with this top folder; none if it is not the top of one. Blocking.
    pub fn of(top: &Path) -> Option<Self> {
        let git = top.join(GIT);
        let own = match git.metadata().ok()?.is_dir() {
            true => git,
            false => top.join(name_in(&git)?.strip_prefix("gitdir:")?.trim_start()),
        };
        let common = name_in(&own.join("commondir"));
        let common = common.map_or_else(|| own.clone(), |common| own.join(common));
        Some(Self { own, common })
    }
}

/// The name of a folder that a file of git's has; none if that is not a regular file.
fn name_in(file: &Path) -> Option<String> {
    let name = regular_file::read(file, MAX_NAME).ok()?;
    Some(String::from_utf8_lossy(&name).trim().to_owned())
}

#[cfg(all(test, unix))]
pub(crate) mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

    use std::os::unix::fs::symlink;

    use super::*;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn make_git(folder: &Path) {
        fs::create_dir_all(folder.join("objects/pack")).unwrap();
        fs::create_dir_all(folder.join("refs/heads")).unwrap();
        write(&folder.join("HEAD"), "ref: refs/heads/main\n");
    }

    #[test]
    fn a_git_folder_has_what_git_asks_for_under_any_name() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        make_git(&at("bare"));
        make_git(&at("linked"));
        fs::remove_file(at("linked/HEAD")).unwrap();
        symlink("refs/heads/main", at("linked/HEAD")).unwrap();
        write(&at("tree/HEAD"), "ref: refs/heads/other\n");
        write(&at("tree/commondir"), "../bare\n");
        make_git(&at("elsewhere"));
        fs::remove_dir_all(at("elsewhere/objects")).unwrap();
        symlink("../bare/objects", at("elsewhere/objects")).unwrap();
        for name in ["bare", "linked", "tree", "elsewhere"] {
            assert!(is_git_folder(&at(name)), "{name}");
        }
        write(&at("no-refs/HEAD"), "");
        fs::create_dir(at("no-refs/objects")).unwrap();
        make_git(&at("no-head"));
        fs::remove_file(at("no-head/HEAD")).unwrap();
        make_git(&at("files"));
        fs::remove_dir_all(at("files/objects")).unwrap();
        write(&at("files/objects"), "");
        for name in ["", "no-refs", "no-head", "files", "gone", "bare/HEAD"] {
            assert!(!is_git_folder(&at(name)), "{name}");
        }
    }

    #[test]
    fn version_control_holds_what_is_below_it_but_for_work_trees() {
        let folder = tempfile::tempdir().unwrap();
        let root = &canonicalize(folder.path()).unwrap();
        let at = |name: &str| root.join(name);
        make_git(&at(".bare"));
        make_git(&at("bare.git"));
        write(&at("bare.git/main/.git"), "gitdir: ../worktrees/main\n");
        write(
            &at("bare.git/feature/x/.git"),
            "gitdir: ../../worktrees/x\n",
        );
        write(&at("bare.git/worktrees/main/HEAD"), "");
        write(&at("bare.git/worktrees/main/commondir"), "../..\n");
        let main = at("bare.git/main/.git").display().to_string();
        write(&at("bare.git/worktrees/main/gitdir"), &main);
        write(&at("bare.git/worktrees/x/gitdir"), "../../feature/x/.git\n");
        write(&at("bare.git/worktrees/gone/gitdir"), "/gone/.git\n");
        fs::create_dir(at("bare.git/worktrees/odd")).unwrap();
        for name in [
            ".git",
            ".git/hooks/x",
            "a/.hg/store/data/n.i",
            ".jj/repo/op_store/x",
            "b/.svn/wc.db",
            ".bare/objects/ab/cd",
            ".bare/new",
            "bare.git/HEAD",
            "bare.git/worktrees/main/index",
            "bare.git/main/.git",
        ] {
            assert!(holds(root, &at(name)), "{name}");
        }
        for name in [
            "a/b",
            ".github/x",
            ".gitignore",
            "HEAD",
            "bare.git/main/src/a",
            "bare.git/feature/x/a",
        ] {
            assert!(!holds(root, &at(name)), "{name}");
        }
        assert!(!holds(&at("bare.git/main"), &at("bare.git/main/a")));
        assert!(holds(&at("bare.git"), &at("bare.git/config")));
        assert!(holds(Path::new(""), &at(".git/config")));
        let mut trees = work_trees_within(&at("bare.git"));
        trees.sort();
        assert_eq!(trees, [at("bare.git/feature/x"), at("bare.git/main")]);
        assert!(work_trees_within(&at(".bare")).is_empty());
    }

    #[test]
    fn the_folders_of_a_work_tree_are_found_through_files_and_pipes_are_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        make_git(&at("plain/.git"));
        write(&at("tree/.git"), "gitdir: ../plain/.git/worktrees/t\n");
        write(&at("plain/.git/worktrees/t/commondir"), "../..\n");
        let both = |own: PathBuf, common: PathBuf| Some(GitFolders { own, common });
        let git = at("plain/.git");
        assert_eq!(GitFolders::of(&at("plain")), both(git.clone(), git));
        let own = at("tree").join("../plain/.git/worktrees/t");
        assert_eq!(
            GitFolders::of(&at("tree")),
            both(own.clone(), own.join("../.."))
        );
        for name in ["pipe", "device", "none"] {
            fs::create_dir(at(name)).unwrap();
        }
        let mode = rustix::fs::Mode::RUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe/.git"), mode).unwrap();
        symlink("/dev/zero", at("device/.git")).unwrap();
        for name in ["pipe", "device", "none", "gone"] {
            assert_eq!(GitFolders::of(&at(name)), None, "{name}");
        }
    }
}
