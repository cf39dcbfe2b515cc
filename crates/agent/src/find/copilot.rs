//! Copilot CLI's lock files, and the one that it takes by itself. The person can have it take any with `/ide`.
//!
//! The rules were seen from outside: they are what the program does with files and folders that were laid before it.

use std::path::{Path, PathBuf};

use pillion_discovery::canonicalize;
use pillion_protocol::copilot::LockFile;
use pillion_protocol::dialect::{Base, FileName};
use pillion_system::process::{Answer, ask};

use super::read::{Seen, names};
use super::verdict::{Candidate, Preference, Verdict};
use super::{Dial, Finding, Refusal, Situation, Source, Transport};
use crate::host::Host;

/// A file with the name of a lock file, and what becomes of it.
struct Lock {
    seen: Seen<LockFile>,
    /// The port of the companion's other agents, if it is one of Pillion's.
    port: Option<u16>,
    verdict: Verdict,
}

/// Works out what Copilot CLI connects to when it starts.
pub(super) fn find(situation: &Situation<'_>) -> Finding {
    let folder = situation.environment.base(Base::CopilotHome).join("ide");
    let here = canonicalize(situation.current_dir);
    let here = here.unwrap_or_else(|_| situation.current_dir.to_owned());
    let names = names(&folder, situation.only).into_iter();
    let names = names.filter(|name| name.ends_with(".lock"));
    let mut locks: Vec<Lock> = names
        .map(|name| Lock::read(folder.join(&name), &name, &here))
        .collect();
    let fitting = locks.iter_mut().filter(|lock| lock.verdict.is_chosen());
    let mut fitting: Vec<&mut Lock> = fitting.collect();
    fitting.sort_by_key(|lock| std::cmp::Reverse(lock.timestamp()));
    for other in fitting.into_iter().skip(1) {
        other.verdict = Verdict::SecondChoice(Preference::Newer);
    }
    let chosen = locks.iter().find(|lock| lock.verdict.is_chosen());
    let dials: Vec<Dial> = chosen.and_then(Lock::dial).into_iter().collect();
    Finding {
        ide_pid: None,
        refusal: dials.is_empty().then(|| why_none(&locks)),
        dials,
        candidates: locks.into_iter().map(Lock::candidate).collect(),
    }
}

fn why_none(locks: &[Lock]) -> Refusal {
    let others = locks
        .iter()
        .filter(|it| it.verdict == Verdict::OtherWorkspace);
    let mut roots: Vec<PathBuf> = others.flat_map(|lock| lock.roots().to_vec()).collect();
    roots.dedup();
    match roots.is_empty() {
        true => Refusal::NoCompanion,
        false => Refusal::OtherWorkspace(roots),
    }
}

impl Lock {
    fn read(path: PathBuf, name: &str, here: &Path) -> Self {
        let seen = Seen::read(path);
        let verdict = match (&seen.read, seen.content()) {
            (Err(kind), _) => Verdict::Unreadable(*kind),
            (Ok(_), None) => Verdict::Malformed,
            (Ok(_), Some(content)) => verdict(content, here),
        };
        Self {
            seen,
            port: FileName::PortLock.port_in(name),
            verdict,
        }
    }

    fn timestamp(&self) -> u64 {
        self.seen.content().map_or(0, |content| content.timestamp)
    }

    fn roots(&self) -> &[PathBuf] {
        let content = self.seen.content();
        content.map_or(&[], |content| &content.workspace_folders)
    }

    fn dial(&self) -> Option<Dial> {
        let content = self.seen.content()?;
        Some(Dial {
            host: Host::Loopback,
            port: self.port.unwrap_or_default(),
            socket: Some(content.socket_path.clone()),
            token: content.headers.token(),
            source: Source::File(self.seen.path.clone()),
            transport: Transport::Http,
        })
    }

    fn candidate(self) -> Candidate {
        Candidate {
            port: self.port,
            roots: self.roots().to_vec(),
            path: self.seen.path,
            verdict: self.verdict,
        }
    }
}

/// The verdict on one file, whatever the others are. Links in a root are not resolved, but those in the working directory
/// are; a folder below a root is another one.
fn verdict(content: &LockFile, here: &Path) -> Verdict {
    if ask(content.pid) == Answer::Nobody {
        return Verdict::Dead;
    }
    let is_here = |root: &PathBuf| root.components().eq(here.components());
    match content.workspace_folders.as_slice() {
        [] => Verdict::NoWorkspace,
        roots if roots.iter().any(is_here) => Verdict::Chosen,
        _ => Verdict::OtherWorkspace,
    }
}
