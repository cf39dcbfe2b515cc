//! Folders that come, go and cannot be watched, with a system that the test makes up.

use super::*;

/// A system that allows only so many watches.
#[derive(Default)]
struct Limited {
    watched: BTreeSet<PathBuf>,
    max: usize,
}

impl Source for Limited {
    fn watch(&mut self, folder: &Path) -> Result<(), Refusal> {
        if let Err(error) = folder.metadata() {
            return Err(Refusal::Failed(error));
        }
        if self.watched.len() >= self.max && !self.watched.contains(folder) {
            return Err(Refusal::Full);
        }
        self.watched.insert(folder.to_owned());
        Ok(())
    }

    fn unwatch(&mut self, folder: &Path) {
        self.watched.remove(folder);
    }

    fn read(
        &mut self,
        _until: Option<std::time::Instant>,
    ) -> std::io::Result<Vec<super::super::source::Change>> {
        Ok(Vec::new())
    }
}

struct World {
    _folder: tempfile::TempDir,
    root: PathBuf,
    source: Limited,
    tree: Tree,
}

impl World {
    fn new(folders: &[&str], max_folders: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in folders {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        Self {
            _folder: folder,
            source: Limited {
                max: usize::MAX,
                ..Limited::default()
            },
            tree: Tree::new(std::slice::from_ref(&root), max_folders),
            root,
        }
    }

    fn sync_all(&mut self) {
        let found = &mut Found::new(FileFilter::Nothing);
        self.tree.sync_all(&mut self.source, found);
        self.check();
    }

    fn sync(&mut self, folder: &str) {
        let folder = self.root.join(folder);
        let found = &mut Found::new(FileFilter::Nothing);
        self.tree.sync(&folder, &mut self.source, found);
        self.check();
    }

    /// Checks that the known folders are the watched ones.
    fn check(&self) {
        assert!(self.tree.folders.keys().eq(&self.source.watched));
    }

    /// The folders that are watched below the root.
    fn watched(&self) -> Vec<&str> {
        let watched = self.source.watched.iter();
        let watched = watched.map(|folder| folder.strip_prefix(&self.root).unwrap());
        watched.map(|folder| folder.to_str().unwrap()).collect()
    }
}

#[test]
fn ignored_and_hidden_folders_are_not_watched() {
    let mut world = World::new(&["src/deep", "target/debug", ".git/info"], 100);
    fs::write(world.root.join(".gitignore"), "target\n").unwrap();
    world.sync_all();
    assert_eq!(world.watched(), ["", "src", "src/deep"]);
    assert!(world.tree.troubles().is_empty());
}

#[test]
fn other_rules_are_other_folders() {
    let mut world = World::new(&["src/out", "target/debug", "other"], 100);
    world.sync_all();
    assert_eq!(world.watched().len(), 6);
    fs::write(world.root.join(".gitignore"), "target\n").unwrap();
    fs::write(world.root.join("src/.gitignore"), "out\n").unwrap();
    world.sync("");
    assert_eq!(world.watched(), ["", "other", "src"]);
    fs::remove_file(world.root.join("src/.gitignore")).unwrap();
    world.sync("src");
    assert_eq!(world.watched(), ["", "other", "src", "src/out"]);
    assert!(world.tree.ignores(&world.root.join("target/a"), false));
}

#[test]
fn a_folder_that_is_gone_takes_only_what_was_in_it() {
    let mut world = World::new(&["a/b/c", "a-b/c", "a.b", "aa"], 100);
    world.sync_all();
    world.tree.forget(&world.root.join("a"), &mut world.source);
    world.check();
    assert_eq!(world.watched(), ["", "a-b", "a-b/c", "a.b", "aa"]);
}

#[test]
fn of_too_many_folders_the_upper_ones_are_watched_and_it_is_said_as_long_as_it_lasts() {
    let mut world = World::new(&["a/deep/deeper", "b/deep", "c"], 4);
    world.sync_all();
    assert_eq!(world.watched(), ["", "a", "b", "c"]);
    let trouble = Trouble::TooManyFolders(4);
    assert!(world.tree.troubles().contains(&trouble));
    assert!(!world.tree.may_grow(&mut world.source));
    for gone in ["b", "c"] {
        let gone = world.root.join(gone);
        fs::remove_dir_all(&gone).unwrap();
        world.tree.forget(&gone, &mut world.source);
    }
    assert!(world.tree.may_grow(&mut world.source));
    world.sync_all();
    assert_eq!(world.watched(), ["", "a", "a/deep", "a/deep/deeper"]);
    assert!(world.tree.troubles().is_empty());
}

#[test]
fn a_system_without_watches_is_named_until_it_has_some_again() {
    let mut world = World::new(&["a", "b"], 100);
    world.source.max = 2;
    world.sync_all();
    assert!(world.tree.troubles().contains(&Trouble::NoWatches));
    assert!(!world.tree.may_grow(&mut world.source));
    world.source.max = 3;
    assert!(world.tree.may_grow(&mut world.source));
    world.sync_all();
    assert_eq!(world.watched(), ["", "a", "b"]);
    assert!(world.tree.troubles().is_empty());
}

#[test]
fn a_root_that_is_gone_is_named_until_it_is_back() {
    let mut world = World::new(&["sub"], 100);
    world.sync_all();
    fs::remove_dir_all(&world.root).unwrap();
    world.sync_all();
    assert!(world.watched().is_empty());
    let troubles: Vec<_> = world.tree.troubles().iter().cloned().collect();
    assert!(matches!(&troubles[..], [Trouble::Root(root, _)] if *root == world.root));
    assert!(!world.tree.may_grow(&mut world.source));
    fs::create_dir(&world.root).unwrap();
    assert!(world.tree.may_grow(&mut world.source));
    world.sync_all();
    assert!(world.tree.troubles().is_empty());
}

#[test]
fn a_root_is_watched_where_the_one_around_it_ignores_it() {
    let mut world = World::new(&["src", "scratch/deep"], 100);
    fs::write(world.root.join(".gitignore"), "scratch\n").unwrap();
    let inner = world.root.join("scratch");
    world.tree = Tree::new(&[world.root.clone(), inner], 100);
    world.sync_all();
    assert_eq!(world.watched(), ["", "scratch", "scratch/deep", "src"]);
    world.sync("");
    assert_eq!(world.watched(), ["", "scratch", "scratch/deep", "src"]);
}

#[test]
fn links_to_folders_are_not_followed() {
    let mut world = World::new(&["src"], 100);
    #[cfg(unix)]
    std::os::unix::fs::symlink(&world.root, world.root.join("src/loop")).unwrap();
    world.sync_all();
    assert_eq!(world.watched(), ["", "src"]);
}
