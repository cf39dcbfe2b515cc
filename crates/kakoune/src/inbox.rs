//! Messages from Kakoune: small files in a private folder, which cost it no shell and never block it.
//! They are noticed, read and removed here, on a thread of its own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crossbeam_channel::Sender;
use pillion_companion::{DiffId, ProposalKey};
use pillion_system::spawn;

use crate::context::Report;
use crate::quote;

/// How often the folder is read where the system reports no changes, and in any case.
const POLL_INTERVAL: Duration = if cfg!(target_os = "linux") {
    Duration::from_secs(2)
} else {
    Duration::from_millis(50)
};

/// Nobody writes more.
const MAX_FILE: u64 = 600 << 20;

/// The file with the newest report. It is overwritten, not removed.
const CONTEXT: &str = "context";

/// A file whose name begins so belongs to another one, which is written after it.
const TEXT: &str = "text-";

/// A message from Kakoune.
#[derive(Debug)]
pub struct Received {
    pub what: What,
    /// When it was written: what was typed counts from then, however late it is read.
    pub at: SystemTime,
}

/// Its content.
#[derive(Debug, PartialEq, Eq)]
pub enum What {
    /// What a client shows.
    Report(Box<Report>),
    /// A proposal was loaded, and this is how its buffer holds it; or why it was not.
    Loaded(ProposalKey, Result<Vec<u8>, String>),
    /// A proposal stands on the screen of a client: of a pane for proposals, or of the person's own.
    Drawn(ProposalKey, String),
    /// A proposal is displayed, or its window got the focus.
    Focused(DiffId),
    /// The person accepted the text.
    Accepted(ProposalKey, Vec<u8>),
    /// The person rejected it.
    Rejected(ProposalKey, Vec<u8>),
    /// The person removed the buffer.
    Removed(DiffId, Vec<u8>),
    /// A view was taken away as it was asked for.
    Given(DiffId, Vec<u8>),
    /// Something tried to decide that the person did not type.
    Untyped(DiffId),
    /// The client of this process is gone: a pane for proposals, or the person's own.
    ClientClosed(u32, String),
    /// The server is this process now.
    Server(u32),
    /// Kakoune ends.
    End,
}

/// Reads what appears in `folder` until nothing listens.
///
/// # Errors
/// When the folder cannot be watched.
pub fn start(folder: PathBuf, messages: Sender<Received>) -> io::Result<()> {
    let mut watch = watch::Watch::new(&folder)?;
    spawn("inbox", move || {
        let mut context = String::new();
        loop {
            for one in read_all(&folder, &mut context) {
                if messages.send(one).is_err() {
                    return;
                }
            }
            watch.wait(POLL_INTERVAL);
        }
    })
}

/// What is there and whole, in the order in which it was written. `context` is the report that was read last.
fn read_all(folder: &Path, context: &mut String) -> Vec<Received> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut found: Vec<(SystemTime, String)> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let at = entry.metadata().ok()?.modified().ok()?;
            (!name.starts_with(TEXT)).then_some((at, name))
        })
        .collect();
    found.sort();
    let read = found.into_iter().filter_map(|(at, name)| {
        let path = folder.join(&name);
        let text = String::from_utf8_lossy(&read(&path)?).into_owned();
        if name == CONTEXT {
            if text == *context {
                return None;
            }
            let report = Report::read(&text)?;
            *context = text;
            let what = What::Report(Box::new(report));
            return Some(Received { what, at });
        }
        let mut words = quote::words(&text)?;
        // Until it is whole.
        (words.pop()? == "end").then_some(())?;
        let belongs = folder.join(format!("{TEXT}{name}"));
        let what = understand(&name, words, || read(&belongs).unwrap_or_default());
        for path in [&path, &belongs] {
            let _ = fs::remove_file(path);
        }
        Some(Received { what: what?, at })
    });
    read.collect()
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let data = fs::symlink_metadata(path).ok()?;
    (data.is_file() && data.len() <= MAX_FILE).then_some(())?;
    fs::read(path).ok()
}

/// What a file of this name means, with these words in it.
fn understand(name: &str, words: Vec<String>, text: impl FnOnce() -> Vec<u8>) -> Option<What> {
    let mut words = words.into_iter();
    let mut parts = name.split('-');
    let what = parts.next()?;
    let number = parts.next().and_then(|part| part.parse().ok());
    let revision = parts.next().and_then(|part| part.parse().ok());
    let diff = number.map(DiffId);
    let proposal = || {
        let (id, revision) = (diff?, revision?);
        Some(ProposalKey { id, revision })
    };
    Some(match what {
        "end" => What::End,
        "closed" => What::ClientClosed(u32::try_from(number?).ok()?, words.next()?),
        "server" => What::Server(words.next()?.parse().ok()?),
        "loaded" => What::Loaded(proposal()?, Ok(text())),
        "failed" => What::Loaded(proposal()?, Err(words.next()?)),
        "drawn" => What::Drawn(proposal()?, words.next()?),
        "focused" => What::Focused(diff?),
        "accept" => What::Accepted(proposal()?, text()),
        "reject" => What::Rejected(proposal()?, text()),
        "removed" => What::Removed(diff?, text()),
        "given" => What::Given(diff?, text()),
        "untyped" => What::Untyped(diff?),
        _ => return None,
    })
}

#[cfg(target_os = "linux")]
mod watch {
    use std::io;
    use std::os::fd::OwnedFd;
    use std::path::Path;
    use std::thread::sleep;
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};

    /// Reports files that were written.
    #[derive(Debug)]
    pub struct Watch {
        fd: OwnedFd,
    }

    impl Watch {
        pub fn new(folder: &Path) -> io::Result<Self> {
            let fd = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
            add_watch(&fd, folder, WatchFlags::CLOSE_WRITE | WatchFlags::MOVED_TO)?;
            Ok(Self { fd })
        }

        /// Until something was written, or for so long.
        pub fn wait(&mut self, limit: Duration) {
            let timeout = Timespec::try_from(limit).ok();
            let mut fds = [PollFd::new(&self.fd, PollFlags::IN)];
            match poll(&mut fds, timeout.as_ref()) {
                Ok(0) => {}
                // What it was does not matter: everything is read.
                Ok(_) => {
                    let mut events = [0; 4096];
                    while rustix::io::read(&self.fd, &mut events).is_ok_and(|read| read > 0) {}
                }
                Err(_) => sleep(Duration::from_millis(50)),
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod watch {
    use std::io;
    use std::path::Path;
    use std::thread::sleep;
    use std::time::Duration;

    /// Reports nothing: everything is read after a while.
    #[derive(Debug)]
    pub struct Watch;

    impl Watch {
        pub fn new(_: &Path) -> io::Result<Self> {
            Ok(Self)
        }

        pub fn wait(&mut self, limit: Duration) {
            sleep(limit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: ProposalKey = ProposalKey {
        id: DiffId(3),
        revision: 2,
    };

    fn understood(name: &str, words: &[&str]) -> Option<What> {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        understand(name, words, || b"text".to_vec())
    }

    #[test]
    fn names_of_files_say_what_happened() {
        let text = || b"text".to_vec();
        for (name, words, what) in [
            ("accept-3-2", &[][..], What::Accepted(KEY, text())),
            ("removed-3", &[], What::Removed(KEY.id, text())),
            ("drawn-3-2", &["9-3"], What::Drawn(KEY, "9-3".to_owned())),
            (
                "failed-3-2",
                &["why"],
                What::Loaded(KEY, Err("why".to_owned())),
            ),
            ("closed-7", &[""], What::ClientClosed(7, String::new())),
        ] {
            assert_eq!(understood(name, words), Some(what), "{name}");
        }
        for name in [
            "accept",
            "accept-x-1",
            "accept-1",
            "accept-1-x",
            "what-1",
            "",
        ] {
            assert_eq!(understood(name, &[]), None, "{name}");
        }
    }

    #[test]
    fn a_file_that_is_not_whole_waits() {
        let folder = std::env::temp_dir().join(format!("pillion-inbox-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let mut context = String::new();
        fs::write(folder.join("text-accept-3-2"), "mine").unwrap();
        fs::write(folder.join("accept-3-2"), "").unwrap();
        assert!(read_all(&folder, &mut context).is_empty());
        fs::write(folder.join("accept-3-2"), "'end'").unwrap();
        let messages = read_all(&folder, &mut context);
        assert_eq!(messages[0].what, What::Accepted(KEY, b"mine".to_vec()));
        assert!(fs::read_dir(&folder).unwrap().next().is_none());
        fs::remove_dir_all(&folder).unwrap();
    }
}
