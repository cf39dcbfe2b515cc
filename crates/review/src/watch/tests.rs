//! Files that are saved in a workspace come out of the watch, and nothing else.

use std::fs;

use crossbeam_channel::Receiver;

use super::*;

/// A watched folder, and what is shared of it.
struct World {
    _folder: tempfile::TempDir,
    root: PathBuf,
    saved: Receiver<File>,
}

const TIMEOUT: Duration = Duration::from_secs(60);

impl World {
    /// With these files from the start, given as path and text. The watch has begun.
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (send, saved) = crossbeam_channel::unbounded();
        let world = Self {
            _folder: folder,
            root,
            saved,
        };
        for (name, text) in files {
            world.write(name, text);
        }
        let focus = move |file| drop(send.send(file));
        start(vec![world.root.clone()], focus).unwrap();
        world.sync();
        world
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.root.join(from), self.root.join(to)).unwrap();
    }

    /// The next file that is shared, below the root.
    #[track_caller]
    fn next(&self) -> String {
        let file = self.saved.recv_timeout(TIMEOUT).expect("a file is shared");
        assert!(file.is_focused());
        let path = Path::new(&file.path).strip_prefix(&self.root).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Waits until everything before has been seen, or shared.
    #[track_caller]
    fn sync(&self) {
        for number in 0.. {
            let name = format!("sync{}-{number}", now_ms());
            self.write(&name, "");
            let wait = Duration::from_millis(700);
            while let Ok(file) = self.saved.recv_timeout(wait) {
                if file.path.ends_with(&name) {
                    return;
                }
                assert!(file.path.contains("sync"), "{} was shared", file.path);
            }
            assert!(number < 100, "nothing is shared");
        }
    }
}

#[test]
fn files_are_noticed_however_an_editor_saves_them() {
    let world = World::new(&[("a.rs", "old"), ("src/b.rs", "old"), ("c.rs", "old")]);
    world.write("a.rs", "written in place");
    assert_eq!(world.next(), "a.rs");
    world.write("src/b.rs.tmp", "written beside it");
    world.rename("src/b.rs.tmp", "src/b.rs");
    assert_eq!(world.next(), "src/b.rs");
    // Vim's way, with a look at whether the folder can be written.
    world.write("4913", "");
    fs::remove_file(world.root.join("4913")).unwrap();
    world.rename("c.rs", "c.rs~");
    world.write("c.rs", "new");
    fs::remove_file(world.root.join("c.rs~")).unwrap();
    assert_eq!(world.next(), "c.rs");
}

#[test]
fn files_in_new_folders_are_noticed_at_once_and_later() {
    let world = World::new(&[]);
    world.write("new/deep/a.rs", "with its folder");
    assert_eq!(world.next(), "new/deep/a.rs");
    world.write("new/deep/b.rs", "later");
    assert_eq!(world.next(), "new/deep/b.rs");
    // A folder of the same name is another folder.
    fs::remove_dir_all(world.root.join("new")).unwrap();
    world.write("new/deep/c.rs", "again");
    assert_eq!(world.next(), "new/deep/c.rs");
    world.write("new/deep/d.rs", "later");
    assert_eq!(world.next(), "new/deep/d.rs");
}

#[test]
fn folders_that_are_moved_are_known_by_their_new_names() {
    let world = World::new(&[("one/deep/a.rs", "")]);
    // By another name, what was written just before the last look seems to be written after it.
    world.sync();
    world.rename("one", "two");
    world.sync();
    world.write("two/deep/a.rs", "saved");
    assert_eq!(world.next(), "two/deep/a.rs");
    world.sync();
    world.rename("two", "three");
    world.write("two/deep/b.rs", "another folder in its place");
    assert_eq!(world.next(), "two/deep/b.rs");
    world.sync();
    world.write("three/deep/c.rs", "saved");
    assert_eq!(world.next(), "three/deep/c.rs");
}

#[test]
fn what_is_ignored_is_not_shared_and_rules_may_change() {
    let world = World::new(&[(".gitignore", "target\n*.log\n"), ("target/a", "")]);
    world.write("target/out.txt", "x");
    world.write("a.log", "x");
    world.write("new/target/deep/b", "x");
    world.sync();
    world.write(".gitignore", "*.txt\n");
    world.sync();
    world.write("a.txt", "x");
    world.sync();
    world.write("a.log", "y");
    assert_eq!(world.next(), "a.log");
    world.write("target/out", "y");
    assert_eq!(world.next(), "target/out");
    fs::remove_file(world.root.join(".gitignore")).unwrap();
    world.write("b.txt", "at once");
    assert_eq!(world.next(), "b.txt");
}

#[test]
fn what_git_is_told_to_ignore_everywhere_is_not_shared() {
    let world = World::new(&[
        (".git/HEAD", "ref: refs/heads/main\n"),
        (".git/objects/none", ""),
        (".git/refs/none", ""),
        (".git/config", "[core]\n\texcludesFile = everywhere\n"),
        ("everywhere", "*.secret\n"),
    ]);
    world.write("keys.secret", "x");
    world.write("deep/below/keys.secret", "x");
    world.sync();
    world.write("deep/below/keys.rs", "x");
    assert_eq!(world.next(), "deep/below/keys.rs");
}

#[test]
fn rules_that_nobody_watches_may_change_too() {
    let world = World::new(&[
        (".git/HEAD", "ref: refs/heads/main\n"),
        (".git/objects/none", ""),
        (".git/refs/none", ""),
        (".git/info/exclude", "a.txt\n"),
        ("src/main.rs", ""),
    ]);
    world.write("a.txt", "x");
    world.sync();
    world.write(".git/info/exclude", "none of the files here\n");
    world.write("a.txt", "y");
    assert_eq!(world.next(), "a.txt");
    world.write(".git/info/exclude", "b.txt\n");
    world.write("src/b.txt", "y");
    world.sync();
}

#[test]
fn a_checkout_is_no_save_and_what_is_saved_after_it_is() {
    let world = World::new(&[("old/a.rs", "")]);
    for number in 0..400 {
        world.write(&format!("group{}/part{number}/file.rs", number % 7), "x");
    }
    fs::remove_dir_all(world.root.join("old")).unwrap();
    world.sync();
    world.write("group3/part3/file.rs", "saved");
    assert_eq!(world.next(), "group3/part3/file.rs");
}

#[test]
fn a_folder_that_is_never_quiet_still_shares_what_is_saved() {
    let world = World::new(&[]);
    let end = Instant::now() + TIMEOUT;
    while Instant::now() < end {
        world.write("noise.txt", "x");
        let _ = fs::read(world.root.join("noise.txt")).unwrap();
        world.write("main.rs", "x");
        if let Ok(file) = world.saved.recv_timeout(Duration::from_millis(50))
            && file.path.ends_with("main.rs")
        {
            return;
        }
    }
    panic!("a saved file was not noticed beside a busy one");
}

#[test]
fn what_editors_write_for_themselves_is_no_save() {
    for name in ["a.rs~", ".a.rs.swp", "4913", "#a.rs#", "a.rs.tmp"] {
        assert!(is_made_by_an_editor(Path::new(name)), "{name}");
    }
    for name in ["a.rs", "#a.rs", "v2"] {
        assert!(!is_made_by_an_editor(Path::new(name)), "{name}");
    }
}

const MINUTE: Duration = Duration::from_secs(60);

fn write_at(path: &Path, time: SystemTime) {
    fs::write(path, "").unwrap();
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(time).unwrap();
}

#[test]
fn what_is_saved_before_the_folders_are_looked_through_is_shared() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir(root.join("src")).unwrap();
    let since = SystemTime::now() - MINUTE;
    let saved = root.join("src/saved.rs");
    write_at(&saved, since + Duration::from_secs(1));
    write_at(&root.join("old.rs"), since - Duration::from_secs(1));
    write_at(&root.join("ahead.rs"), SystemTime::now() + MINUTE);
    let mut files = Files::new(vec![root.clone()], since);
    assert_eq!(files.look(), [saved]);
    assert!(files.look().is_empty());
    // Whatever the clock of a disk says, another time is another text.
    let ahead = root.join("ahead.rs");
    write_at(&ahead, SystemTime::now() + 2 * MINUTE);
    assert_eq!(files.look(), [ahead]);
}

#[test]
fn ignored_folders_and_links_are_not_looked_through_but_roots_are() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for inner in ["src/deep", "target/debug", ".git/info", "scratch/deep"] {
        fs::create_dir_all(root.join(inner)).unwrap();
    }
    fs::write(root.join(".gitignore"), "target\nscratch\n").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(&root, root.join("src/loop")).unwrap();
    let roots = vec![root.clone(), root.join("scratch"), root.join("src")];
    let mut files = Files::new(roots, SystemTime::now());
    files.look();
    let mut folders = files.folders().to_vec();
    folders.sort();
    let expected = ["", "scratch", "scratch/deep", "src", "src/deep"];
    assert_eq!(folders, expected.map(|it| root.join(it)));
}
