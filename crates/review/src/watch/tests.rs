//! Files that are saved in a workspace come out of the watch, and nothing else.

use std::fs;

use crossbeam_channel::Receiver;

use super::batch::MAX_BURST;
use super::*;

/// A watched folder, and what is shared of it.
struct World {
    _folder: tempfile::TempDir,
    root: PathBuf,
    saved: Receiver<File>,
    troubles: Receiver<Vec<String>>,
}

const TIMEOUT: Duration = Duration::from_secs(60);

impl World {
    /// With these files from the start, given as path and text. The watch has begun.
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (send, saved) = crossbeam_channel::unbounded();
        let (report, troubles) = crossbeam_channel::unbounded();
        let world = Self {
            _folder: folder,
            root,
            saved,
            troubles,
        };
        for (name, text) in files {
            world.write(name, text);
        }
        let focus = move |file| drop(send.send(file));
        let report = move |texts| drop(report.send(texts));
        start(vec![world.root.clone()], focus, report);
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
    assert_eq!(world.troubles.try_iter().collect::<Vec<_>>(), [[""; 0]]);
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
    world.rename("one", "two");
    world.sync();
    world.write("two/deep/a.rs", "saved");
    assert_eq!(world.next(), "two/deep/a.rs");
    world.rename("two", "three");
    world.write("two/deep/b.rs", "another folder in its place");
    let mut shared = [world.next(), world.next()];
    shared.sort();
    // The one that was saved just before is where it was moved to.
    assert_eq!(shared, ["three/deep/a.rs", "two/deep/b.rs"]);
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

/// Nothing happens by itself.
struct Silent;

impl Source for Silent {
    fn watch(&mut self, _folder: &Path) -> Result<(), source::Refusal> {
        Ok(())
    }

    fn unwatch(&mut self, _folder: &Path) {}

    fn read(&mut self, _until: Option<Instant>) -> io::Result<Vec<Change>> {
        Ok(Vec::new())
    }
}

const MINUTE: Duration = Duration::from_secs(60);

fn silent(root: &Path, since: SystemTime) -> Watch<Silent> {
    Watch::new(&[root.to_owned()], Silent, MAX_FOLDERS, since)
}

fn write_at(path: &Path, time: SystemTime) {
    fs::write(path, "").unwrap();
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(time).unwrap();
}

#[test]
fn what_is_saved_before_the_folders_are_watched_is_shared() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir(root.join("src")).unwrap();
    let since = SystemTime::now() - MINUTE;
    let saved = root.join("src/saved.rs");
    write_at(&saved, since + Duration::from_secs(1));
    write_at(&root.join("old.rs"), since - Duration::from_secs(1));
    write_at(&root.join("ahead.rs"), SystemTime::now() + MINUTE);
    let mut watch = silent(&root, since);
    let due = watch.batch.due().unwrap();
    assert_eq!(watch.settle(due), [saved]);
    assert_eq!(watch.batch.due(), None);
}

#[test]
fn a_checkout_before_the_folders_are_watched_is_no_save() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let since = SystemTime::now() - MINUTE;
    for number in 0..=MAX_BURST {
        write_at(&root.join(format!("{number}.rs")), since);
    }
    let mut watch = silent(&root, since);
    let due = watch.batch.due().unwrap();
    assert!(watch.settle(due).is_empty());
}

#[test]
fn a_file_of_a_new_folder_is_shared_however_late_it_is_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let mut watch = silent(&root, SystemTime::now());
    let new = root.join("new");
    fs::create_dir(&new).unwrap();
    watch.take_in(vec![Change::Folder(new.clone())], Instant::now());
    // As if that had been a minute ago.
    watch.new_since = watch.new_since.map(|since| since - MINUTE);
    let saved = new.join("saved.rs");
    write_at(&saved, SystemTime::now() - MINUTE);
    write_at(&new.join("old.rs"), SystemTime::now() - MINUTE * 2);
    let due = watch.batch.due().unwrap();
    assert_eq!(watch.settle(due), [saved]);
}

#[test]
fn the_largest_burst_leaves_little_to_remember() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let mut watch = silent(&root, SystemTime::now());
    let now = Instant::now();
    for number in 0..100_000 {
        let path = root.join(number.to_string());
        let changes = vec![Change::Folder(path.clone()), Change::Saved(path.join("a"))];
        watch.take_in(changes, now);
        assert!(watch.new.len() <= MAX_OUTDATED);
    }
    assert!(watch.settle(now + JUST_NOW).is_empty());
    assert!(watch.new.is_empty() && watch.batch.due().is_none());
}

#[cfg(target_os = "linux")]
#[test]
fn what_the_system_could_not_keep_is_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    write_at(&root.join("old.rs"), SystemTime::now() - MINUTE);
    let mut watch = Watch::new(
        std::slice::from_ref(&root),
        System::new(&[]).unwrap(),
        MAX_FOLDERS,
        SystemTime::now(),
    );
    let max = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
    let max: usize = max.trim().parse().unwrap();
    // Alike events in a row would be one; some come late, because a process that another test starts
    // holds the file for a moment.
    for number in 0..max + max / 4 {
        fs::write(root.join(["a.log", "b.log"][number % 2]), "").unwrap();
    }
    fs::write(root.join(".gitignore"), "*.log\n").unwrap();
    fs::create_dir(root.join("new")).unwrap();
    let late = root.join("new/late.rs");
    fs::write(&late, "").unwrap();
    let mut was_lost = false;
    let shared = |watch: &mut Watch<System>, was_lost: &mut bool| loop {
        let until = Instant::now() + Duration::from_millis(200);
        let changes = watch.source.read(Some(until)).unwrap();
        *was_lost |= changes.iter().any(|it| matches!(it, Change::Lost(_)));
        watch.take_in(changes, Instant::now());
        let mut files = watch.settle(Instant::now());
        // On a busy machine these are due before it is known that something was lost.
        files.retain(|file| file.extension() != Some("log".as_ref()));
        if !files.is_empty() {
            return files;
        }
    };
    assert_eq!(shared(&mut watch, &mut was_lost), [late]);
    assert!(was_lost, "the queue held everything");
    let later = root.join("new/later.rs");
    fs::write(&later, "").unwrap();
    assert_eq!(shared(&mut watch, &mut was_lost), [later]);
}
