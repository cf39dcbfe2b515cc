//! Messages from Kakoune. What its clients show lies in small files in a private folder, which cost it no shell and never block
//! it: they are noticed and read here, on a thread of its own. Anybody can write files: everything else is `said`.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crossbeam_channel::Sender;
use pillion_protocol::verdict::Lines;
use pillion_system::spawn;
use pillion_view::changes::{ChangesAct, Meant, Part, Row};
use pillion_view::{DiffId, ProposalKey};

use crate::context::{Report, read_selection};
use crate::form::Form;
use crate::notes::Said;
use crate::quote;
use crate::seen::Window;

/// The interval at which the folder is read where the system reports no changes, and in any case.
const POLL_INTERVAL: Duration = if cfg!(target_os = "linux") {
    Duration::from_secs(2)
} else {
    Duration::from_millis(50)
};

/// Nobody writes more.
const MAX_FILE: u64 = 1 << 20;

/// The buffer of the list of changes.
const LIST: &str = "*pillion-changes*";

/// The prefix of the name of the file with the newest report of a client; it ends with the client's process id. The file
/// is overwritten, and removed when the client is gone.
const CONTEXT: &str = "context";

/// The reports that were read last, each with its time: the same one, written anew, says that the person is back there.
type Reports = HashMap<String, (SystemTime, String)>;

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
    Report(Box<Report>),
    /// The client of this process is there, 0 for none, in the session of this name.
    Here(u32, String),
    /// A proposal was loaded, and this is how its buffer holds it; or why it was not.
    Loaded(ProposalKey, Result<Vec<u8>, String>),
    /// A proposal is not loaded yet, because the person is busy in the former one.
    Later(ProposalKey),
    /// The text of the buffer in the place of which a newer proposal is loaded.
    Former(ProposalKey, Vec<u8>),
    /// A proposal stands on the screen of a client: of a pane for proposals, or of the person's own.
    Drawn(ProposalKey, String),
    /// The part of a proposal that a window shows.
    Saw(ProposalKey, Box<Window>),
    /// A proposal was put in front of the person, who cannot edit it yet: true; or now they can.
    Locked(DiffId, bool),
    /// A proposal is displayed, or its window got the focus.
    Focused(DiffId),
    /// The person opened a prompt in front of a proposal.
    Asked(DiffId),
    /// This stands in the buffer of a proposal.
    Draft(ProposalKey, Vec<u8>),
    /// The person wants back what they had made of an earlier one, in this client.
    BringBack(ProposalKey, String),
    /// They want this text of a proposal merged with the file on disk, in this client.
    Merge(ProposalKey, Vec<u8>, String),
    /// The person takes back what an agent has written in the file of a buffer, perhaps by this line of the list.
    TakeOut(Box<Taking>, Option<u32>),
    /// The person decides about changes without a buffer, in this client, perhaps by this line of the list.
    Act(String, Box<ChangesAct>, Option<u32>),
    /// This line of the list is under the cursor of a client, and is the row that was there before, or not.
    Row(String, u32, bool),
    /// It was taken out of the buffer.
    TakenOut(u64),
    /// The buffer was changed meanwhile, and it was not.
    NotTakenOut(u64),
    /// The person wants to see what was not on the screen, in this client.
    Next(ProposalKey, String),
    /// The person accepted the text, in this client.
    Accepted(ProposalKey, Vec<u8>, Said),
    Rejected(ProposalKey, Vec<u8>, Said),
    /// The person wrote a note on what is selected, as Kakoune describes it.
    Noted(ProposalKey, Said, String),
    /// The person removed the buffer, in which this revision stood.
    Removed(ProposalKey, Vec<u8>),
    /// A view was taken away as it was asked for. The revision that stood in it is 0 if its buffer was gone.
    Given(ProposalKey, Vec<u8>),
    /// The text of a view that was settled, and in which the person was busy until now.
    Left(DiffId, Vec<u8>),
    Told(ProposalKey, Vec<u8>),
    /// Something tried to decide that the person did not type, in this client.
    Untyped(DiffId, String),
    /// The client of this process is gone: a pane for proposals, or the person's own.
    ClientClosed(u32, String),
    /// The buffer of this file and the file are the same now: the person has saved it, or Kakoune has read it.
    Synced(PathBuf, bool),
    /// The server is this process now.
    Server(u32),
    End,
}

/// A person's request to keep or to take back changes that an agent has written, in the buffer of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taking {
    /// Counts them, within the session.
    pub number: u64,
    pub client: String,
    pub path: PathBuf,
    pub is_modified: bool,
    /// The state of the buffer.
    pub timestamp: u64,
    /// The text that saving would write.
    pub content: String,
    /// The selected lines, from 0; none if the whole file is meant.
    pub lines: Option<Lines>,
    /// The words that they typed after the command: a change, words to the agent, or both.
    pub typed: String,
    /// The row of the list that they decided about, if they did that there.
    pub row: Option<Row>,
}

/// Reads what appears in `folder` until nothing listens.
pub fn start(folder: PathBuf, messages: Sender<Received>) -> io::Result<()> {
    let mut watch = watch::Watch::new(&folder);
    spawn("inbox", move || {
        let mut reports = Reports::new();
        loop {
            for one in read_all(&folder, &mut reports) {
                if messages.send(one).is_err() {
                    return;
                }
            }
            watch.wait(POLL_INTERVAL);
        }
    })
}

/// Reads the reports that are there, whole and new, in the order in which they were written.
fn read_all(folder: &Path, reports: &mut Reports) -> Vec<Received> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut found: Vec<(SystemTime, String)> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let at = entry.metadata().ok()?.modified().ok()?;
            name.starts_with(CONTEXT).then_some((at, name))
        })
        .collect();
    found.sort();
    reports.retain(|name, _| found.iter().any(|(_, it)| it == name));
    let read = found.into_iter().filter_map(|(at, name)| {
        let text = String::from_utf8_lossy(&read(&folder.join(&name))?).into_owned();
        let report = Report::read(&text)?;
        let read = (at, text);
        if reports.get(&name) == Some(&read) {
            return None;
        }
        reports.insert(name, read);
        let what = What::Report(Box::new(report));
        Some(Received { what, at })
    });
    read.collect()
}

/// Removes what the client of this process has reported: it is gone.
pub fn forget(folder: &Path, pid: u32) {
    let _ = fs::remove_file(folder.join(format!("{CONTEXT}-{pid}")));
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let data = fs::symlink_metadata(path).ok()?;
    (data.is_file() && data.len() <= MAX_FILE).then_some(())?;
    fs::read(path).ok()
}

/// Reads a message: what it is, a text, words and an end.
pub fn understand(message: &[u8]) -> Option<What> {
    let mut words = quote::words(message)?.into_iter();
    (words.next_back()? == b"end").then_some(())?;
    let lossy = |word: Vec<u8>| String::from_utf8_lossy(&word).into_owned();
    let (name, text) = (lossy(words.next()?), words.next()?);
    let mut words = words.map(lossy);
    let mut parts = name.split('-');
    let what = parts.next()?;
    let number: Option<u64> = parts.next().and_then(|part| part.parse().ok());
    let revision = parts.next().and_then(|part| part.parse().ok());
    let diff = number.map(DiffId);
    let proposal = || {
        let (id, revision) = (diff?, revision?);
        Some(ProposalKey { id, revision })
    };
    Some(match what {
        "end" => What::End,
        "here" => What::Here(u32::try_from(number?).ok()?, words.next()?),
        "closed" => What::ClientClosed(u32::try_from(number?).ok()?, words.next()?),
        "synced" => {
            let (path, what) = (words.next()?.into(), words.next()?);
            let has_client = words.next().is_some_and(|it| !it.is_empty());
            What::Synced(path, what == "saved" && has_client)
        }
        "server" => What::Server(words.next()?.parse().ok()?),
        "loaded" => What::Loaded(proposal()?, Ok(text)),
        "failed" => What::Loaded(proposal()?, Err(words.next()?)),
        "drawn" => What::Drawn(proposal()?, words.next()?),
        "saw" => What::Saw(proposal()?, Box::new(Window::read(words)?)),
        "locked" | "unlocked" => What::Locked(diff?, what == "locked"),
        "focused" => What::Focused(diff?),
        "asked" => What::Asked(diff?),
        // A buffer is never without a newline: this one was not read, and says nothing of what was kept before.
        "draft" => What::Draft(proposal()?, Some(text).filter(|it| !it.is_empty())?),
        "bring" => What::BringBack(proposal()?, words.next()?),
        "merge" => What::Merge(proposal()?, text, words.next()?),
        "out" => {
            let is_kept = words.next()? == "keep";
            let taking = Box::new(taking(number?, &mut words, &text)?);
            match is_kept {
                true => What::Act(taking.client.clone(), Box::new(taking.keep()), None),
                false => What::TakeOut(taking, words.next().and_then(|it| it.parse().ok())),
            }
        }
        "act" => {
            let (client, (act, line)) = (words.next()?, act(words)?);
            What::Act(client, Box::new(act), line)
        }
        "row" => {
            let (client, line) = (words.next()?, words.next()?.parse().ok()?);
            What::Row(client, line, words.next()? == words.next()?)
        }
        "taken" => What::TakenOut(number?),
        "untaken" => What::NotTakenOut(number?),
        "next" => What::Next(proposal()?, words.next()?),
        "later" => What::Later(proposal()?),
        "former" => What::Former(proposal()?, text),
        "accept" => What::Accepted(proposal()?, text, Said::read(words)?),
        "reject" => What::Rejected(proposal()?, text, Said::read(words)?),
        "note" => {
            let (client, text, selection) = (words.next()?, words.next()?, words.next()?);
            let said = Said::read([client, text].into_iter().chain(words))?;
            What::Noted(proposal()?, said, selection)
        }
        "removed" => What::Removed(proposal()?, text),
        "given" => What::Given(proposal()?, text),
        "left" => What::Left(diff?, text),
        "told" => What::Told(proposal()?, text),
        "untyped" => What::Untyped(diff?, words.next()?),
        _ => return None,
    })
}

/// The request to take something back, of a buffer that holds `held`.
fn taking(number: u64, words: &mut impl Iterator<Item = String>, held: &[u8]) -> Option<Taking> {
    let mut next = || words.next();
    let (client, path, is_modified) = (next()?, next()?, next()? == "true");
    let timestamp = next()?.parse().ok()?;
    let form = Form::saved(next()? == "crlf", next()? == "utf8");
    let [(anchor, _), (cursor, _)] = read_selection(&next()?)?;
    let (first, last) = (anchor.min(cursor), anchor.max(cursor));
    let typed = next()?;
    let after = typed.strip_prefix("-file");
    let after = after.map(|it| it.strip_prefix(':').unwrap_or(it));
    let of_whole = after.filter(|it| it.is_empty() || it.starts_with(char::is_whitespace));
    Some(Taking {
        number,
        client,
        path: path.into(),
        is_modified,
        timestamp,
        content: form.text(std::str::from_utf8(held).ok()?),
        lines: match of_whole {
            Some(_) => None,
            None => Some(Lines {
                first: first.saturating_sub(1),
                last: last.saturating_sub(1),
            }),
        },
        typed: of_whole.unwrap_or(&typed).to_owned(),
        row: None,
    })
}

/// A decision about what was typed, or about the line in the list, which is empty where there is none and else names the line of a
/// file and a change: `4: 7.2`; and where in the list that is. What was done last has left the list: undoing is about no line.
fn act(mut words: impl Iterator<Item = String>) -> Option<(ChangesAct, Option<u32>)> {
    let (command, listed, typed) = (words.next()?, words.next()?, words.next()?);
    if command == "undo" {
        let named = Some(typed.trim().to_owned()).filter(|it| !it.is_empty());
        return Some((ChangesAct::Undo(named), None));
    }
    let (line_of_file, id) = listed.split_once(": ").unzip();
    let line_of_file = line_of_file.and_then(|it| it.parse::<u32>().ok()?.checked_sub(1));
    let is_of_list = words.next().is_some_and(|it| it == LIST);
    let line: Option<u32> = words.next().and_then(|it| it.parse().ok());
    let meant = Meant {
        id: id.map(str::to_owned),
        typed: Some(typed),
        ..Meant::default()
    };
    let act = match &*command {
        "keep" => ChangesAct::Keep(Meant {
            at: line_of_file.map(|it| Lines {
                first: it,
                last: it,
            }),
            ..meant
        }),
        "take-back" => ChangesAct::TakeBack(Part { meant, lines: None }),
        _ => return None,
    };
    Some((act, line.filter(|_| is_of_list)))
}

#[cfg(target_os = "linux")]
mod watch {
    use std::os::fd::OwnedFd;
    use std::path::Path;
    use std::thread::sleep;
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
    use rustix::io::Errno;

    /// The interval at which the folder is read where others have taken all that the system has for this.
    const UNTOLD: Duration = Duration::from_millis(200);

    /// Reports files that were written, as far as the system tells.
    #[derive(Debug)]
    pub struct Watch {
        fd: Option<OwnedFd>,
    }

    impl Watch {
        pub fn new(folder: &Path) -> Self {
            let start = || {
                let fd = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
                add_watch(&fd, folder, WatchFlags::CLOSE_WRITE | WatchFlags::MOVED_TO)?;
                Ok(fd)
            };
            let fd = start().inspect_err(|error: &Errno| {
                tracing::warn!(%error, "the folder is read again and again");
            });
            Self { fd: fd.ok() }
        }

        /// Until something was written, or for so long.
        pub fn wait(&mut self, limit: Duration) {
            let Some(fd) = &self.fd else {
                return sleep(UNTOLD);
            };
            let timeout = Timespec::try_from(limit).ok();
            let mut fds = [PollFd::new(fd, PollFlags::IN)];
            match poll(&mut fds, timeout.as_ref()) {
                Ok(0) => {}
                // What it was does not matter: everything is read.
                Ok(_) => {
                    let mut events = [0; 4096];
                    while rustix::io::read(fd, &mut events).is_ok_and(|read| read > 0) {}
                }
                Err(_) => sleep(Duration::from_millis(50)),
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod watch {
    use std::path::Path;
    use std::thread::sleep;
    use std::time::Duration;

    /// Reports nothing: everything is read after a while.
    #[derive(Debug)]
    pub struct Watch;

    impl Watch {
        pub fn new(_: &Path) -> Self {
            Self
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

    fn said(client: &str) -> Said {
        Said::read([client.to_owned(), String::new()]).expect("it is whole")
    }

    fn understood(name: &str, words: &[&str]) -> Option<What> {
        let all = [&[name, "text"], words, &["end"]].concat();
        let all: Vec<_> = all.into_iter().map(quote::word).collect();
        understand(all.join(" ").as_bytes())
    }

    /// The words of a person who takes back what an agent has written in a buffer.
    fn taken_back(typed: &str) -> [&str; 9] {
        [
            "take-back",
            "",
            "/a",
            "true",
            "7",
            "lf",
            "none",
            "1.1,1.1",
            typed,
        ]
    }

    #[test]
    fn all_of_a_file_is_meant_only_by_its_own_word() {
        for (typed, is_whole, rest) in [
            ("-file", true, ""),
            ("-file why", true, " why"),
            ("-file: why", true, " why"),
            ("-files are many", false, "-files are many"),
            ("the -file", false, "the -file"),
        ] {
            let words = taken_back(typed);
            let Some(What::TakeOut(taking, None)) = understood("out-3", &words) else {
                panic!("{typed} is not read");
            };
            assert_eq!((taking.lines.is_none(), &*taking.typed), (is_whole, rest));
        }
    }

    #[test]
    fn names_say_what_happened() {
        let text = || b"text".to_vec();
        for (name, words, what) in [
            (
                "accept-3-2",
                &["client1", ""][..],
                What::Accepted(KEY, text(), said("client1")),
            ),
            ("removed-3-2", &[""], What::Removed(KEY, text())),
            (
                "out-3",
                &[
                    "take-back",
                    "client0",
                    "/a",
                    "true",
                    "7",
                    "crlf",
                    "utf8",
                    "4.2,2.1",
                    "why",
                ],
                What::TakeOut(
                    Box::new(Taking {
                        number: 3,
                        client: "client0".to_owned(),
                        path: "/a".into(),
                        is_modified: true,
                        timestamp: 7,
                        content: "\u{feff}text".to_owned(),
                        lines: Some(Lines { first: 1, last: 3 }),
                        typed: "why".to_owned(),
                        row: None,
                    }),
                    None,
                ),
            ),
            (
                "act",
                &["client0", "undo", "7.2", ""],
                What::Act("client0".to_owned(), Box::new(ChangesAct::Undo(None)), None),
            ),
            ("draft-3-2", &["client0", ""], What::Draft(KEY, text())),
            (
                "bring-3-2",
                &["client1"],
                What::BringBack(KEY, "client1".to_owned()),
            ),
            ("given-3-2", &[""], What::Given(KEY, text())),
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
    fn a_line_of_the_list_is_meant() {
        for (typed, buffer, line) in [
            ("", LIST, Some(4)),
            ("why", LIST, Some(4)),
            ("", "/a", None),
        ] {
            let words = ["client0", "keep", "7: 1.2", typed, buffer, "4"];
            let act = understood("act", &words);
            let Some(What::Act(_, act, meant)) = act else {
                panic!("{typed} is not read");
            };
            assert_eq!(meant, line, "{typed} {buffer}");
            let ChangesAct::Keep(kept) = *act else {
                panic!("{act:?}");
            };
            let at = Lines { first: 6, last: 6 };
            assert_eq!((kept.id.as_deref(), kept.at), (Some("1.2"), Some(at)));
        }
        let words = [&taken_back("why")[..], &["4"]].concat();
        let taking = understood("out-3", &words);
        assert!(matches!(taking, Some(What::TakeOut(_, Some(4)))));
    }

    /// The report of a client of this process.
    fn report(pid: u32) -> String {
        format!(
            "'s' 'client0' '{pid}' '' '/w/a' '0' '1.1,1.1' 'a' 'a' 'a' '80' '' '' '/w' '/w/a' 'end'"
        )
    }

    fn read_whats(folder: &Path, reports: &mut Reports) -> Vec<What> {
        let messages = read_all(folder, reports).into_iter();
        messages.map(|message| message.what).collect()
    }

    #[test]
    fn no_client_hides_what_another_reported() {
        let folder = tempfile::tempdir().unwrap();
        let mut reports = Reports::new();
        let write = |pid, second| {
            let path = folder.path().join(format!("context-{pid}"));
            fs::write(&path, report(pid)).unwrap();
            let file = fs::File::options().write(true).open(path).unwrap();
            let at = SystemTime::UNIX_EPOCH + Duration::from_secs(second);
            file.set_modified(at).unwrap();
        };
        let mut read = || -> Vec<u32> {
            let whats = read_whats(folder.path(), &mut reports).into_iter();
            let pids = whats.filter_map(|what| match what {
                What::Report(report) => Some(report.pid),
                _ => None,
            });
            pids.collect()
        };
        write(8, 1);
        write(7, 2);
        assert_eq!(read(), [8, 7]);
        assert_eq!(read(), [0; 0], "both are known");
        write(8, 3);
        assert_eq!(read(), [8], "the person is back there");
        forget(folder.path(), 7);
        read();
        // Another client has the number of one that is gone.
        write(7, 2);
        assert_eq!(read(), [7]);
    }

    #[test]
    fn nothing_else_in_the_folder_is_read_and_nothing_that_is_not_whole() {
        let folder = tempfile::tempdir().unwrap();
        let whole = ["'accept-3-2'", "'mine'", "'client0'", "''", "'end'"].join(" ");
        let texts = ["accept-3-2", "text-accept-3-2", "context-7"].map(|it| (it, &*whole));
        for (name, text) in texts.into_iter().chain([("context-8", "")]) {
            fs::write(folder.path().join(name), text).unwrap();
        }
        std::os::unix::fs::symlink("/", folder.path().join("context-9")).unwrap();
        assert_eq!(read_whats(folder.path(), &mut Reports::new()), []);
        let accepted = What::Accepted(KEY, b"mine".to_vec(), said("client0"));
        assert_eq!(understand(whole.as_bytes()), Some(accepted));
        for end in 0..whole.len() {
            assert_eq!(understand(&whole.as_bytes()[..end]), None, "{end}");
        }
    }
}
