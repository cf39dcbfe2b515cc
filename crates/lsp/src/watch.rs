//! The files that a plugin has open, and word of each that has another state on the disk. A file is told of when it rests: whoever
//! writes it may not be done. All are looked at when the system says that something happens in their folders, and every second where
//! it does not say that.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use crossbeam_channel::{Receiver, Sender, after, at, bounded, never, select, unbounded};
use pillion_changes::{FolderWatch, Stat};
use pillion_discovery::real_path;
use pillion_system::spawn;

use crate::uri;

/// The time for which a file is the same that is whole.
const RESTS: Duration = Duration::from_millis(50);

/// The same of one that is empty or gone: it may be about to be written.
const RESTS_EMPTY: Duration = Duration::from_millis(500);

/// What happens within this time is looked at once.
const TOGETHER: Duration = Duration::from_millis(20);

/// The pause between looks where the system does not tell everything.
const POLL: Duration = Duration::from_secs(1);

/// Watches the files of the URIs that were sent last, on a thread of its own that ends with the sender. `tell` is called with
/// the URI and the size of each file once, and again when the file has another state; without a size, it is gone.
///
/// # Errors
/// When there is no thread.
pub fn start(tell: impl Fn(&str, Option<u64>) + Send + 'static) -> io::Result<Sender<Vec<String>>> {
    let (stir, stirred) = bounded(1);
    let told = stir.clone();
    let system = FolderWatch::start(move || _ = told.try_send(())).ok();
    let (sender, uris) = unbounded();
    spawn("files", move || {
        run(system, &stirred, &uris, tell);
        drop(stir);
    })?;
    Ok(sender)
}

/// A file that is watched.
struct Watched {
    path: PathBuf,
    /// Its state, and when it was seen first.
    state: Option<Stat>,
    since: Instant,
    is_told: bool,
}

fn run(
    mut system: Option<FolderWatch>,
    stirred: &Receiver<()>,
    uris: &Receiver<Vec<String>>,
    tell: impl Fn(&str, Option<u64>),
) {
    let mut files: BTreeMap<String, Watched> = BTreeMap::new();
    let mut pause = never();
    loop {
        select! {
            recv(uris) -> new => match new {
                Ok(new) => {
                    let known = |uri: String| {
                        let file = files.remove(&uri).or_else(|| Watched::named(&uri));
                        Some((uri, file?))
                    };
                    files = new.into_iter().filter_map(known).collect();
                }
                Err(_) => return,
            },
            recv(stirred) -> _ => thread::sleep(TOGETHER),
            recv(pause) -> _ => {}
        }
        let folders = files.values().flat_map(Watched::folders);
        let folders = Vec::from_iter(BTreeSet::from_iter(folders));
        let is_all = system.as_mut().is_some_and(|system| {
            let watched = system.set(folders.iter().map(PathBuf::as_path), &folders);
            // What is looked at now need not be told.
            system.tell_again();
            watched.is_all
        });
        let now = Instant::now();
        let looked_at = files.iter_mut();
        let due = looked_at.filter_map(|(uri, file)| file.look(now, |size| tell(uri, size)));
        pause = match due.min() {
            Some(due) => at(due),
            None if is_all || files.is_empty() => never(),
            None => after(POLL),
        };
    }
}

impl Watched {
    fn named(uri: &str) -> Option<Self> {
        let path = uri::to_path(uri)?;
        Some(Self {
            state: state(&path),
            path,
            since: Instant::now(),
            is_told: false,
        })
    }

    /// The folders in which something happens when the file changes.
    fn folders(&self) -> impl Iterator<Item = PathBuf> + use<> {
        let real = real_path(&self.path);
        let folders = [self.path.parent(), real.parent()].map(|it| it.map(Path::to_owned));
        folders.into_iter().flatten()
    }

    /// Tells of the file if it rests. Returns when it would, if it does not yet.
    fn look(&mut self, now: Instant, tell: impl Fn(Option<u64>)) -> Option<Instant> {
        let state = state(&self.path);
        if state != self.state {
            (self.state, self.since, self.is_told) = (state, now, false);
        }
        let is_empty = state.is_none_or(|it| it.size == 0);
        let due = self.since + if is_empty { RESTS_EMPTY } else { RESTS };
        if !self.is_told && now >= due {
            self.is_told = true;
            tell(state.map(|it| it.size));
        }
        (!self.is_told).then_some(due)
    }
}

fn state(path: &Path) -> Option<Stat> {
    Stat::of(&fs::metadata(path).ok()?)
}

#[cfg(all(test, unix))]
mod tests {
    use crossbeam_channel::RecvTimeoutError;

    use super::*;

    const SOON: Duration = Duration::from_secs(60);

    /// Watches a file with the system's help or without it; what is told.
    fn watch(path: &Path, has_help: bool) -> (Sender<Vec<String>>, Receiver<String>) {
        let (sender, told) = unbounded();
        let tell = move |uri: &str, _| drop(sender.send(uri.to_owned()));
        let uris = if has_help {
            start(tell).expect("a thread")
        } else {
            let (uris, received) = unbounded();
            spawn("blind", move || run(None, &never(), &received, tell)).expect("a thread");
            uris
        };
        uris.send(vec![uri::from_path(path)]).expect("it runs");
        (uris, told)
    }

    #[test]
    fn each_state_of_a_file_is_told_when_it_rests() {
        for has_help in [true, false] {
            let folder = tempfile::tempdir().unwrap();
            let link = folder.path().join("link");
            let real = folder.path().join("inner/ä");
            std::os::unix::fs::symlink(&real, &link).unwrap();
            fs::create_dir(folder.path().join("inner")).unwrap();
            let (uris, told) = watch(&link, has_help);
            let is_told = || assert_eq!(told.recv_timeout(SOON).unwrap(), uri::from_path(&link));
            // That it is not there.
            is_told();
            for text in ["one", "two", ""] {
                fs::write(&real, text).unwrap();
                is_told();
            }
            fs::write(real.with_extension("new"), "three").unwrap();
            fs::rename(real.with_extension("new"), &real).unwrap();
            is_told();
            // The folder is another one.
            fs::rename(folder.path().join("inner"), folder.path().join("old")).unwrap();
            fs::create_dir(folder.path().join("inner")).unwrap();
            fs::write(&real, "four").unwrap();
            is_told();
            fs::write(&real, "five").unwrap();
            is_told();
            drop(uris);
            let last = std::iter::repeat_with(|| told.recv_timeout(SOON)).find_map(Result::err);
            assert_eq!(
                last,
                Some(RecvTimeoutError::Disconnected),
                "the thread ends"
            );
        }
    }

    #[test]
    fn a_file_is_told_of_when_it_is_whole() {
        let start = Instant::now();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "one").unwrap();
        let mut file = Watched {
            since: start,
            ..Watched::named(&uri::from_path(&path)).unwrap()
        };
        let told = std::cell::Cell::new(0);
        let mut look = |after: Duration| {
            let due = file.look(start + after, |_| told.set(told.get() + 1));
            (due.map(|due| due - start), told.get())
        };
        let (ms, none) = (Duration::from_millis, None);
        assert_eq!(look(ms(0)), (Some(RESTS), 0));
        assert_eq!(look(RESTS), (none, 1));
        assert_eq!(look(ms(1000)), (none, 1), "it is the same");
        fs::write(&path, "").unwrap();
        assert_eq!(look(ms(2000)), (Some(ms(2000) + RESTS_EMPTY), 1));
        fs::write(&path, "half").unwrap();
        assert_eq!(look(ms(2100)), (Some(ms(2100) + RESTS), 1));
        fs::write(&path, "half and half").unwrap();
        assert_eq!(look(ms(2140)), (Some(ms(2140) + RESTS), 1));
        assert_eq!(look(ms(2190)), (none, 2));
        fs::remove_file(&path).unwrap();
        assert_eq!(look(ms(3000)), (Some(ms(3000) + RESTS_EMPTY), 2));
        assert_eq!(look(ms(3500)), (none, 3));
    }
}
