//! The workspace of an editor: which folders are its roots, in which agents connect (C2.5), and the folder in which an
//! agent starts there.
//!
//! The roots are the folders that the editor works in and the projects of its open files: those that the editor names, or
//! else the files' repositories. The home folder itself, the root of the file system and a folder that other users may write to,
//! such as `/tmp`, are none: whatever an agent starts in would be below the first two, and anybody can make the last one look
//! like a project.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::real_path::canonicalize;
use crate::version_control::{has_broken_mark, is_top};

/// The facts that the roots depend on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Workspace {
    /// The folders that the editor works in, the most important one first.
    pub folders: Vec<PathBuf>,
    /// The folders that the editor itself takes for the projects of its files.
    pub projects: Vec<PathBuf>,
    /// The open files, the one used last first. One for each folder is enough.
    pub files: Vec<PathBuf>,
    /// True if the person has chosen the folders: they alone are the roots, wherever they lie.
    pub is_chosen: bool,
}

/// The roots of a workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Roots {
    /// Real paths, each once; the most important one first.
    pub paths: Vec<PathBuf>,
    /// The folder in which an agent starts: the project of the file used last, or else the deepest root around it, or
    /// else the first root.
    pub start: Option<PathBuf>,
}

impl Workspace {
    /// Works the roots out. Waits for disks.
    pub fn roots(&self, home: Option<&Path>) -> Roots {
        let mut projects = Projects::new(home, &self.projects);
        let files = self.files.iter().filter_map(|file| folder_of(file));
        let around: Vec<PathBuf> = files.collect();
        let mut found: Vec<PathBuf> = Vec::new();
        for folder in &around {
            found.extend(projects.of(folder));
        }
        let last = around.first().and_then(|folder| projects.of(folder));
        let folders = self
            .folders
            .iter()
            .filter_map(|path| canonicalize(path).ok());
        let folders = folders.filter(|folder| folder.is_dir());
        let mut paths = Vec::new();
        if self.is_chosen {
            paths.extend(folders);
        } else {
            found.sort();
            paths.extend(folders.chain(found));
            paths.retain(|folder| projects.allow(folder));
        }
        if paths.is_empty() && !self.is_chosen {
            // A file of the home folder's, say: its own folder is better than no agent at all.
            let first = around.first().filter(|folder| projects.allow(folder));
            paths.extend(first.cloned());
        }
        let paths = each_once(paths);
        let start = start(&paths, around.first(), last);
        Roots { paths, start }
    }
}

/// Returns true if a folder, by its real path, may be a root that nobody has chosen.
pub fn may_be_root(folder: &Path, home: Option<&Path>) -> bool {
    folder.parent().is_some() && Some(folder) != home && !is_everybodys(folder)
}

/// Returns true if every user may write in a folder that is not this user's own. In some containers all folders are like that but
/// for the ones that are shared on purpose, and the user is root there.
#[cfg(unix)]
fn is_everybodys(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let user = rustix::process::geteuid();
    folder.metadata().is_ok_and(|it| {
        let is_others = !user.is_root() && it.uid() != user.as_raw();
        let is_shared = it.mode() & 0o1000 != 0;
        it.mode() & 0o002 != 0 && (is_shared || is_others)
    })
}

/// There it is unknown.
#[cfg(not(unix))]
fn is_everybodys(_folder: &Path) -> bool {
    false
}

/// The real folder that a file lies in. Editors show folders in buffers, too.
fn folder_of(file: &Path) -> Option<PathBuf> {
    match canonicalize(file) {
        Ok(real) if real.is_dir() => Some(real),
        Ok(real) => real.parent().map(Path::to_owned),
        // It is not written yet.
        Err(_) => canonicalize(file.parent()?).ok(),
    }
}

fn each_once(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut kept: Vec<PathBuf> = Vec::with_capacity(paths.len());
    for path in paths {
        if !kept.contains(&path) {
            kept.push(path);
        }
    }
    kept
}

fn start(roots: &[PathBuf], folder: Option<&PathBuf>, project: Option<PathBuf>) -> Option<PathBuf> {
    let around = || {
        let folder = folder?;
        let around = roots.iter().filter(|root| folder.starts_with(root));
        around.max_by_key(|root| root.components().count())
    };
    let project = project.filter(|found| roots.contains(found));
    project.or_else(|| around().or(roots.first()).cloned())
}

/// The projects around folders. Each folder is looked at once.
struct Projects {
    home: Option<PathBuf>,
    /// Those that the editor named, real paths, the deepest first.
    named: Vec<PathBuf>,
    repositories: HashMap<PathBuf, Option<PathBuf>>,
}

impl Projects {
    fn new(home: Option<&Path>, named: &[PathBuf]) -> Self {
        let home = home.map(|home| canonicalize(home).unwrap_or_else(|_| home.to_owned()));
        let repositories = HashMap::new();
        let mut projects = Self {
            home,
            named: Vec::new(),
            repositories,
        };
        let mut named: Vec<_> = named
            .iter()
            .filter_map(|it| canonicalize(it).ok())
            .collect();
        // An editor may take any `.git` for git's.
        named.retain(|folder| projects.allow(folder) && !has_broken_mark(folder));
        named.sort_by_key(|folder| Reverse(folder.components().count()));
        projects.named = named;
        projects
    }

    /// The project at or above a folder: the deepest that the editor named, or else the nearest repository.
    fn of(&mut self, folder: &Path) -> Option<PathBuf> {
        let mut named = self.named.iter();
        match named.find(|project| folder.starts_with(project)) {
            Some(project) => Some(project.clone()),
            None => self.repository(folder),
        }
    }

    /// Returns true if this folder may be a root.
    fn allow(&self, folder: &Path) -> bool {
        may_be_root(folder, self.home.as_deref())
    }

    /// The nearest repository at or above a folder.
    fn repository(&mut self, folder: &Path) -> Option<PathBuf> {
        if let Some(known) = self.repositories.get(folder) {
            return known.clone();
        }
        let found = match folder.parent() {
            Some(_) if self.allow(folder) && is_top(folder) => Some(folder.to_owned()),
            Some(above) => self.repository(above),
            None => None,
        };
        self.repositories.insert(folder.to_owned(), found.clone());
        found
    }
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

    use std::fs;

    use super::*;
    use crate::version_control::tests::make_git;
    use crate::version_control::{GIT, MARKS};

    /// A home folder that is a repository, and one below it.
    struct Disk {
        _dir: tempfile::TempDir,
        home: PathBuf,
    }

    impl Disk {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let home = fs::canonicalize(dir.path()).unwrap().join("home");
            for folder in ["repo/src/deep", "notes", "other/.hg"] {
                fs::create_dir_all(home.join(folder)).unwrap();
            }
            for folder in [".git", "repo/.git"] {
                make_git(&home.join(folder));
            }
            for file in ["a", "repo/src/deep/a.rs", "notes/a", "other/a"] {
                fs::write(home.join(file), "").unwrap();
            }
            Self { _dir: dir, home }
        }

        fn roots(&self, folders: &[&str], files: &[&str], is_chosen: bool) -> Roots {
            let at = |names: &[&str]| names.iter().map(|name| self.home.join(name)).collect();
            let workspace = Workspace {
                folders: at(folders),
                projects: Vec::new(),
                files: at(files),
                is_chosen,
            };
            workspace.roots(Some(&self.home))
        }

        /// The same, as names below home, with the start at the end.
        fn named(&self, folders: &[&str], files: &[&str], is_chosen: bool) -> String {
            self.shown(self.roots(folders, files, is_chosen))
        }

        fn shown(&self, Roots { paths, start }: Roots) -> String {
            let name = |path: &PathBuf| match path.strip_prefix(&self.home) {
                Ok(path) if path.as_os_str().is_empty() => "~".to_owned(),
                Ok(path) => path.display().to_string(),
                Err(_) => path.display().to_string(),
            };
            let names: Vec<_> = paths.iter().map(name).collect();
            let start = start.as_ref().map_or("nowhere".to_owned(), name);
            format!("{} > {start}", names.join(" "))
        }
    }

    /// Each row: the folders, the files, and the roots with the folder where an agent starts.
    #[test]
    fn the_roots_are_the_folders_and_the_repositories_of_files() {
        let disk = Disk::new();
        let file = "repo/src/deep/a.rs";
        for (folders, files, expected) in [
            (vec!["repo"], vec![], "repo > repo"),
            (vec!["repo/src"], vec![file], "repo/src repo > repo"),
            (vec![""], vec![file], "repo > repo"),
            (vec!["/"], vec![file], "repo > repo"),
            (vec![""], vec![], " > nowhere"),
            (vec![""], vec!["a"], " > nowhere"),
            (vec![""], vec!["notes/a"], "notes > notes"),
            (vec!["", "notes"], vec!["notes/a"], "notes > notes"),
            (
                vec!["notes"],
                vec![file, "other/a"],
                "notes other repo > repo",
            ),
            (
                vec!["notes"],
                vec!["other/a", file],
                "notes other repo > other",
            ),
            (
                vec!["notes", "repo", "notes"],
                vec!["a"],
                "notes repo > notes",
            ),
            (vec!["gone", "a"], vec!["gone/a"], " > nowhere"),
            (vec!["notes"], vec!["repo/src/new"], "notes repo > repo"),
            // A folder in a buffer.
            (vec![""], vec!["repo"], "repo > repo"),
            (vec![""], vec!["repo/src/"], "repo > repo"),
            (vec![""], vec!["notes"], "notes > notes"),
        ] {
            assert_eq!(
                disk.named(&folders, &files, false),
                expected,
                "{folders:?} {files:?}"
            );
        }
    }

    /// Each row: the projects that the editor names, the files, and what becomes of them.
    #[test]
    fn a_project_that_the_editor_names_stands_in_for_the_repository() {
        let disk = Disk::new();
        let file = "repo/src/deep/a.rs";
        for (projects, files, expected) in [
            // Of a repository with several projects, and of one within another.
            (vec!["repo/src"], vec![file], "repo/src > repo/src"),
            (vec!["repo/src", "repo"], vec![file], "repo/src > repo/src"),
            (vec!["repo"], vec!["other/a", file], "other repo > other"),
            (vec!["other"], vec![file], "repo > repo"),
            (vec!["", "/", "gone"], vec![file], "repo > repo"),
            (vec![""], vec!["notes/a"], "notes > notes"),
        ] {
            let at = |names: &[&str]| names.iter().map(|name| disk.home.join(name)).collect();
            let workspace = Workspace {
                projects: at(&projects),
                files: at(&files),
                ..Workspace::default()
            };
            let shown = disk.shown(workspace.roots(Some(&disk.home)));
            assert_eq!(shown, expected, "{projects:?} {files:?}");
        }
        make_git(&disk.home.join("repo/src/.git"));
        let workspace = Workspace {
            projects: vec![disk.home.join("repo")],
            files: vec![disk.home.join(file)],
            ..Workspace::default()
        };
        let shown = disk.shown(workspace.roots(Some(&disk.home)));
        assert_eq!(shown, "repo > repo", "a submodule of the project");
    }

    #[test]
    fn folders_that_the_person_has_chosen_are_the_roots_wherever_they_lie() {
        let disk = Disk::new();
        let file = "repo/src/deep/a.rs";
        for (folders, files, expected) in [
            (vec![""], vec![file], "~ > ~"),
            (vec!["notes"], vec![file], "notes > notes"),
            (
                vec!["notes", "repo/src", "repo"],
                vec![file],
                "notes repo/src repo > repo",
            ),
            (
                vec!["notes", "repo/src"],
                vec![file],
                "notes repo/src > repo/src",
            ),
            (vec![], vec![file], " > nowhere"),
        ] {
            assert_eq!(
                disk.named(&folders, &files, true),
                expected,
                "{folders:?} {files:?}"
            );
        }
        assert_eq!(disk.named(&["/"], &[], true), "/ > /");
    }

    #[test]
    fn every_mark_makes_a_repository_also_as_a_file_or_a_broken_link() {
        let dir = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(dir.path()).unwrap();
        for mark in MARKS {
            for kind in ["folder", "file", "link"] {
                let repository = home.join(format!("{mark}-{kind}"));
                fs::create_dir_all(repository.join("src")).unwrap();
                let at = repository.join(mark);
                match kind {
                    "folder" if mark == GIT => make_git(&at),
                    "folder" => fs::create_dir(at).unwrap(),
                    "file" => fs::write(at, "gitdir: elsewhere").unwrap(),
                    _ => std::os::unix::fs::symlink("/gone", at).unwrap(),
                }
                let files = vec![repository.join("src/a")];
                let workspace = Workspace {
                    files,
                    ..Workspace::default()
                };
                let roots = workspace.roots(Some(&home));
                assert_eq!(roots.paths, [repository], "{mark} {kind}");
            }
        }
    }

    #[test]
    fn a_folder_called_git_that_is_no_repository_is_none() {
        let disk = Disk::new();
        for inner in ["", "hooks", "objects"] {
            fs::create_dir_all(disk.home.join("repo/src/.git").join(inner)).unwrap();
            let named = disk.named(&["notes"], &["repo/src/deep/a.rs"], false);
            assert_eq!(named, "notes repo > repo", "{inner}");
        }
    }

    /// Whatever the editor takes it for, and whatever is below it is found.
    #[test]
    fn a_folder_in_which_everybody_may_write_is_a_root_only_if_it_is_chosen() {
        use std::os::unix::fs::PermissionsExt;
        let disk = Disk::new();
        let tmp = disk.home.join("tmp");
        make_git(&tmp.join(".git"));
        make_git(&tmp.join("repo/.git"));
        fs::write(tmp.join("a"), "").unwrap();
        let named = |tree: &Disk| {
            let projects = vec![tree.home.join("tmp")];
            let files = vec![tree.home.join("tmp/a")];
            let workspace = Workspace {
                projects,
                files,
                ..Workspace::default()
            };
            tree.shown(workspace.roots(Some(&tree.home)))
        };
        for (mode, expected) in [(0o755, "tmp > tmp"), (0o1777, " > nowhere")] {
            fs::set_permissions(&tmp, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(disk.named(&["tmp"], &[], false), expected);
            assert_eq!(disk.named(&[], &["tmp/a"], false), expected);
            assert_eq!(named(&disk), expected);
        }
        let inner = disk.named(&["tmp"], &["tmp/repo/b"], false);
        assert_eq!(inner, "tmp/repo > tmp/repo");
        assert_eq!(disk.named(&["tmp"], &[], true), "tmp > tmp");
    }

    /// By its editor, too.
    #[test]
    fn a_git_folder_without_a_head_makes_no_project() {
        let disk = Disk::new();
        fs::create_dir(disk.home.join("notes/.git")).unwrap();
        let workspace = Workspace {
            projects: vec![disk.home.join("notes")],
            files: vec![disk.home.join("notes/deep/a")],
            ..Workspace::default()
        };
        fs::create_dir(disk.home.join("notes/deep")).unwrap();
        let shown = disk.shown(workspace.roots(Some(&disk.home)));
        assert_eq!(shown, "notes/deep > notes/deep");
    }

    #[test]
    fn roots_and_files_are_where_links_lead() {
        let disk = Disk::new();
        let link = disk.home.join("link");
        std::os::unix::fs::symlink(disk.home.join("repo"), &link).unwrap();
        std::os::unix::fs::symlink(link.join("src/deep/a.rs"), disk.home.join("b.rs")).unwrap();
        assert_eq!(disk.named(&["link"], &[], false), "repo > repo");
        assert_eq!(disk.named(&[], &["b.rs"], false), "repo > repo");
        assert_eq!(disk.named(&["link"], &["notes/a"], true), "repo > repo");
    }
}
