//! The changes that are noticed, and who waits for them.

use std::fs;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use crossbeam_channel::Receiver;

use super::*;

const SOON: Duration = Duration::from_secs(60);

/// Files of which some hang until they are let go.
#[derive(Clone, Default)]
struct Hanging(Arc<(Mutex<bool>, Condvar)>);

impl Hanging {
    fn wait(&self, path: &Path) {
        if path.to_string_lossy().contains("hangs") {
            let (is_free, changed) = &*self.0;
            let is_free = is_free.lock().unwrap();
            drop(changed.wait_while(is_free, |is_free| !*is_free).unwrap());
        }
    }

    fn let_go(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }
}

impl Files for Hanging {
    fn stamp(&self, path: &Path) -> Option<Stamp> {
        self.wait(path);
        OnDisk.stamp(path)
    }

    fn read(&self, path: &Path) -> Result<Original, OriginalError> {
        self.wait(path);
        OnDisk.read(path)
    }
}

struct World<F> {
    sources: Sources<F>,
    answers: Receiver<Answer>,
    folder: tempfile::TempDir,
}

impl<F: Files> World<F> {
    fn new(files: F) -> Self {
        let (send, answers) = crossbeam_channel::unbounded();
        Self {
            sources: Sources::new(files, move |answer| drop(send.send(answer))),
            answers,
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn watch(&mut self, id: u64, name: &str) {
        let path = self.path(name);
        let original = Original::read(&path).unwrap();
        self.sources.watch(DiffId(id), &path, original);
    }

    /// What comes of the next answer about a file.
    fn next(&mut self) -> Option<(DiffId, News)> {
        loop {
            let answer = self.answers.recv_timeout(SOON).unwrap();
            let is_of_file = matches!(answer, Answer::File { .. });
            let news = self.sources.take(answer);
            if is_of_file {
                return news;
            }
        }
    }

    /// Takes in everything that is told, checking whenever that is wanted, until nothing is to be checked.
    fn settle(&mut self) -> Vec<(DiffId, News)> {
        let mut news = Vec::new();
        while !self.sources.is_quiet() {
            self.sources.look().unwrap();
            news.extend(self.next());
        }
        news
    }

    /// Waits until something has to be checked.
    fn await_stir(&mut self) {
        while self.sources.is_quiet() {
            let answer = self.answers.recv_timeout(SOON).unwrap();
            self.sources.take(answer);
        }
    }

    /// The result of one check of the one file that is watched.
    fn look(&mut self) -> Option<Disk> {
        self.sources.look().unwrap();
        match self.next() {
            None => None,
            Some((DiffId(1), News::Disk(disk))) => Some(disk),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn another_text_on_disk_is_noticed_and_the_same_one_is_not() {
    let mut world = World::new(OnDisk);
    world.write("file", "one");
    world.watch(1, "file");
    assert_eq!(world.look(), None);
    world.write("file", "three");
    assert_eq!(world.look(), Some(Disk::Changed));
    assert_eq!(world.look(), None);
    fs::remove_file(world.path("file")).unwrap();
    assert_eq!(world.look(), Some(Disk::Gone));
    world.write("file", "one");
    assert_eq!(world.look(), Some(Disk::Same));
    world.sources.retain(|_| false);
    world.write("file", "four");
    world.sources.look().unwrap();
    assert!(
        world
            .answers
            .try_iter()
            .all(|it| !matches!(it, Answer::File { .. }))
    );
}

#[test]
fn a_write_between_the_read_and_the_watch_is_noticed() {
    let mut world = World::new(OnDisk);
    world.write("file", "one");
    let path = world.path("file");
    let original = Original::read(&path).unwrap();
    world.write("file", "three");
    world.sources.watch(DiffId(1), &path, original);
    assert_eq!(world.look(), Some(Disk::Changed));
}

#[test]
fn a_file_that_is_read_again_is_watched_as_it_is_then() {
    let mut world = World::new(OnDisk);
    world.write("file", "one");
    world.watch(1, "file");
    world.write("file", "three");
    world.sources.reread(DiffId(1)).unwrap();
    let read = News::Read(Ok(Some("three".into())));
    assert_eq!(world.next(), Some((DiffId(1), read)));
    assert_eq!(world.look(), None);
    fs::remove_file(world.path("file")).unwrap();
    fs::create_dir(world.path("file")).unwrap();
    world.sources.reread(DiffId(1)).unwrap();
    let Some((_, News::Read(Err(reason)))) = world.next() else {
        panic!("it cannot be read")
    };
    assert!(reason.ends_with("is a folder"), "{reason}");
}

#[test]
fn a_file_that_hangs_keeps_no_other_one_from_being_noticed() {
    let hanging = Hanging::default();
    let mut world = World::new(hanging.clone());
    for name in ["hangs", "file"] {
        world.write(name, "one");
    }
    world.watch(1, "hangs");
    world.watch(2, "file");
    world.sources.look().unwrap();
    world.sources.reread(DiffId(1)).unwrap();
    for name in ["hangs", "file"] {
        world.write(name, "three");
    }
    // Whichever the first thread checked first.
    loop {
        world.sources.look().unwrap();
        if let Some(news) = world.next() {
            assert_eq!(news, (DiffId(2), News::Disk(Disk::Changed)));
            break;
        }
    }
    // Nobody piles up behind it.
    world.sources.reread(DiffId(1)).unwrap();
    hanging.let_go();
    let mut about_it = Vec::new();
    while about_it.is_empty() || world.sources.files[&DiffId(1)].is_looked_at {
        about_it.extend(world.next());
    }
    let read = (DiffId(1), News::Read(Ok(Some("three".into()))));
    let changed = (DiffId(1), News::Disk(Disk::Changed));
    assert!(
        about_it.contains(&read) || about_it.contains(&changed),
        "{about_it:?}"
    );
}

#[test]
fn what_is_answered_about_a_former_proposal_counts_for_nothing() {
    let mut world = World::new(OnDisk);
    world.write("file", "one");
    world.watch(1, "file");
    world.sources.reread(DiffId(1)).unwrap();
    world.write("file", "three");
    // The agent proposes anew, for the file as it is by now.
    world.watch(1, "file");
    assert_eq!(world.next(), None);
    assert_eq!(world.look(), None);
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_is_checked_until_something_has_happened() {
    let mut world = World::new(OnDisk);
    world.write("file", "one");
    world.watch(1, "file");
    assert_eq!(world.settle(), []);
    world.write("file", "three");
    world.await_stir();
    let news = |disk| vec![(DiffId(1), News::Disk(disk))];
    assert_eq!(world.settle(), news(Disk::Changed));
    // As editors save: another file takes its place.
    world.write("other", "one");
    fs::rename(world.path("other"), world.path("file")).unwrap();
    world.await_stir();
    assert_eq!(world.settle(), news(Disk::Same));
    fs::remove_file(world.path("file")).unwrap();
    world.await_stir();
    assert_eq!(world.settle(), news(Disk::Gone));
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_in_a_folder_that_is_yet_to_be_made_is_noticed() {
    let mut world = World::new(OnDisk);
    let new = Original {
        text: None,
        stamp: None,
    };
    let path = world.path("a/b/file");
    world.sources.watch(DiffId(1), &path, new);
    assert_eq!(world.settle(), []);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    world.await_stir();
    assert_eq!(world.settle(), []);
    fs::write(&path, "one").unwrap();
    world.await_stir();
    assert_eq!(world.settle(), [(DiffId(1), News::Disk(Disk::Appeared))]);
}

/// A change that is written may have made a link: what is compared is where it leads, whatever there is.
#[cfg(unix)]
#[test]
fn a_link_that_was_written_is_no_other_text_until_it_leads_elsewhere() {
    use std::os::unix::fs::symlink;
    let mut world = World::new(OnDisk);
    world.write("target", "another text\n");
    let (target, link) = (world.path("target"), world.path("link"));
    symlink(&target, &link).unwrap();
    let shown = Original {
        text: Some(target.to_str().unwrap().into()),
        stamp: None,
    };
    world.sources.watch_itself(DiffId(1), &link, shown);
    assert_eq!(world.look(), None);
    world.write("target", "one more\n");
    assert_eq!(world.look(), None);
    fs::remove_file(&link).unwrap();
    symlink("elsewhere", &link).unwrap();
    assert_eq!(world.look(), Some(Disk::Changed));
    fs::remove_file(&link).unwrap();
    assert_eq!(world.look(), Some(Disk::Gone));
}
