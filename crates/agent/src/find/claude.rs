//! Claude Code's lock files: which one a release takes, and why none if two fit.
//!
//! The rules were seen from outside: they are what the program does with files, variables and folders
//! that tests lay before it.

use std::path::{Path, PathBuf};

use pillion_discovery::canonicalize;
use pillion_discovery::namespaces::Visibility;
use pillion_protocol::Dialect;
use pillion_protocol::claude::LockFile;
use pillion_protocol::dialect::{Base, FileName};
use pillion_system::process::{Answer, ask};

use super::read::{Seen, names};
use super::verdict::{Candidate, Preference, Stale, Verdict};
use super::{Dial, Finding, Refusal, Situation, Source};
use crate::host::Host;

/// The variable that the person turns automatic connecting off with, even if `--ide` is given.
const AUTO_CONNECT: &str = "CLAUDE_CODE_AUTO_CONNECT_IDE";
/// The variable that makes every folder fit.
const SKIP_VALID_CHECK: &str = "CLAUDE_CODE_IDE_SKIP_VALID_CHECK";

/// The values that turn a variable on, and those that turn it off.
const YES: [&str; 4] = ["1", "true", "yes", "on"];
const NO: [&str; 4] = ["0", "false", "no", "off"];

/// Works out what Claude Code finds that is to connect: with `--ide`, by its settings or by a variable.
pub(super) fn find(situation: &Situation<'_>) -> Finding {
    let search = Search::new(situation);
    let mut locks: Vec<Lock> = search.locks().collect();
    let refusal = search.choose(&mut locks);
    let chosen = locks.iter().find(|lock| lock.verdict.is_chosen());
    Finding {
        ide_pid: None,
        dials: chosen.and_then(Lock::dial).into_iter().collect(),
        refusal,
        candidates: locks.into_iter().map(Lock::candidate).collect(),
    }
}

/// Works out what opencode finds: the same files, but only those in the home directory; by the port
/// variable it dials without looking at any.
pub(super) fn find_for_opencode(situation: &Situation<'_>) -> Finding {
    let mut finding = find(situation);
    let variable = Dialect::ClaudeCode.port_variable();
    let named = variable.and_then(|name| Some((name, situation.environment.filled(name)?)));
    let Some((name, value)) = named else {
        return finding;
    };
    for candidate in &mut finding.candidates {
        candidate.verdict = Verdict::NotLookedAt;
    }
    let port = value.to_str().and_then(|value| value.parse().ok());
    let dial = |port| Dial {
        host: Host::Loopback,
        port,
        socket: None,
        token: None,
        source: Source::Variable(name),
        transport: super::Transport::WebSocket,
    };
    finding.dials = port.map(dial).into_iter().collect();
    finding.refusal = finding.dials.is_empty().then_some(Refusal::NoPort);
    finding
}

/// A release that looks.
struct Search<'a> {
    situation: &'a Situation<'a>,
    /// Its working directory, by its real path.
    folder: PathBuf,
    /// The port in the port variable.
    port: Option<u16>,
    skips_folders: bool,
    /// True if its terminal is one of an editor whose process it looks for.
    is_in_editor: bool,
}

/// A file with the name of a lock file, and its verdict.
struct Lock {
    seen: Seen<LockFile>,
    /// The port in its name.
    port: u16,
    verdict: Verdict,
}

impl<'a> Search<'a> {
    fn new(situation: &'a Situation<'a>) -> Self {
        let environment = situation.environment;
        let text = |name| environment.filled(name).and_then(|value| value.to_str());
        let port = Dialect::ClaudeCode.port_variable().and_then(text);
        let is_opencode = situation.release.agent == Dialect::OpenCode;
        let is_in_editor = text("TERM_PROGRAM") == Some("vscode")
            || text("TERMINAL_EMULATOR") == Some("JetBrains-JediTerm");
        Self {
            situation,
            folder: canonicalize(situation.current_dir)
                .unwrap_or_else(|_| situation.current_dir.to_owned()),
            port: port.and_then(|port| port.parse().ok()),
            skips_folders: text(SKIP_VALID_CHECK).is_some_and(|it| is_one_of(YES, it)),
            is_in_editor: is_in_editor && !is_opencode,
        }
    }

    /// The lock files, by their names, in the folders where the release looks.
    fn locks(&self) -> impl Iterator<Item = Lock> {
        let environment = self.situation.environment;
        let configured = environment.base(Base::ClaudeConfig).join("ide");
        let usual = environment.base(Base::ClaudeHome).join("ide");
        let folders = match self.situation.release.agent {
            Dialect::OpenCode => vec![usual],
            _ if configured == usual => vec![usual],
            _ => vec![configured, usual],
        };
        let only = self.situation.only;
        folders.into_iter().flat_map(move |folder| {
            let locks = names(&folder, only).into_iter();
            locks.filter_map(move |name| {
                let port = FileName::PortLock.port_in(&name)?;
                let seen = Seen::read(folder.join(name));
                let verdict = self.verdict(&seen, port);
                Some(Lock {
                    seen,
                    port,
                    verdict,
                })
            })
        })
    }

    /// The verdict on one file, whatever the others are.
    fn verdict(&self, seen: &Seen<LockFile>, port: u16) -> Verdict {
        let content = match (&seen.read, seen.content()) {
            (Err(kind), _) => return Verdict::Unreadable(*kind),
            (Ok(_), None) => return Verdict::Malformed,
            (Ok(_), Some(content)) => content,
        };
        if is_gone(content, port) && !comes_back(content, &seen.path, port) {
            return Verdict::Stale(Stale::ProcessGone);
        }
        if self.is_named(port) {
            return Verdict::Chosen;
        }
        let folders = content.workspace_folders.as_slice();
        if !self.skips_folders && folders.is_empty() {
            return Verdict::NoWorkspace;
        }
        if !self.skips_folders && !folders.iter().any(|root| self.contains(root)) {
            return Verdict::OtherWorkspace;
        }
        if self.is_in_editor && !self.is_ancestor(content) {
            return Verdict::OtherTerminal;
        }
        Verdict::Chosen
    }

    /// Leaves one of those that would do, or none. Why none, if so.
    fn choose(&self, locks: &mut [Lock]) -> Option<Refusal> {
        if let Some(value) = self.situation.environment.filled(AUTO_CONNECT)
            && value.to_str().is_some_and(|it| is_one_of(NO, it))
        {
            for lock in locks.iter_mut().filter(|it| it.verdict.is_chosen()) {
                lock.verdict = Verdict::NotLookedAt;
            }
            return Some(Refusal::TurnedOff(AUTO_CONNECT));
        }
        let fits = |lock: &&mut Lock| lock.verdict.is_chosen();
        let mut fitting: Vec<&mut Lock> = locks.iter_mut().filter(fits).collect();
        let named = fitting.iter().filter(|it| self.is_named(it.port)).count();
        if named == 1 {
            let others = fitting.into_iter().filter(|it| !self.is_named(it.port));
            let name = Dialect::ClaudeCode.port_variable().unwrap_or_default();
            others.for_each(|it| {
                it.verdict = Verdict::SecondChoice(Preference::PortVariable(name));
            });
            return None;
        }
        match fitting.len() {
            1 => None,
            0 => Some(self.why_none(locks)),
            _ => {
                for lock in &mut fitting {
                    lock.verdict = Verdict::Ambiguous;
                }
                let ports = fitting.iter().map(|it| it.port);
                Some(Refusal::Ambiguous(ports.collect()))
            }
        }
    }

    /// Why there is none, where none fits.
    fn why_none(&self, locks: &[Lock]) -> Refusal {
        let with = |verdict: Verdict| locks.iter().filter(move |it| it.verdict == verdict);
        if with(Verdict::OtherTerminal).next().is_some() {
            return Refusal::OtherTerminal;
        }
        let roots = with(Verdict::OtherWorkspace).flat_map(|it| it.folders().to_vec());
        let mut roots: Vec<PathBuf> = roots.collect();
        roots.dedup();
        if !roots.is_empty() {
            return Refusal::OtherWorkspace(roots);
        }
        match with(Verdict::NoWorkspace).next() {
            Some(_) => Refusal::NoFolder,
            None => Refusal::NoCompanion,
        }
    }

    /// Returns true if the port variable names it: then its folders and its process do not matter.
    fn is_named(&self, port: u16) -> bool {
        let is_opencode = self.situation.release.agent == Dialect::OpenCode;
        self.port == Some(port) && !is_opencode
    }

    /// Returns true if its folder is this root or below it. Links in a root are not resolved, but those in the working
    /// directory are: a root that is named by a link never fits.
    fn contains(&self, root: &Path) -> bool {
        let root = pillion_protocol::path::absolute(&self.folder, root);
        self.folder.starts_with(root)
    }

    fn is_ancestor(&self, content: &LockFile) -> bool {
        let pid = content.pid();
        pid.is_some_and(|pid| self.situation.chain.iter().any(|it| it.pid == pid))
    }
}

impl Lock {
    fn folders(&self) -> &[PathBuf] {
        let content = self.seen.content();
        content.map_or(&[], |content| &content.workspace_folders)
    }

    fn dial(&self) -> Option<Dial> {
        let content = self.seen.content()?;
        let is_websocket = content.transport.as_deref() == Some("ws");
        Some(Dial {
            host: Host::Loopback,
            port: self.port,
            socket: None,
            // The other transport knows none.
            token: content.auth_token.clone().filter(|_| is_websocket),
            source: Source::File(self.seen.path.clone()),
            transport: if is_websocket {
                super::Transport::WebSocket
            } else {
                super::Transport::EventSource
            },
        })
    }

    fn candidate(self) -> Candidate {
        Candidate {
            port: Some(self.port),
            roots: self.folders().to_vec(),
            path: self.seen.path,
            verdict: self.verdict,
        }
    }
}

/// Returns true if the agent takes the file's companion for gone when it starts, and deletes the
/// file.
fn is_gone(content: &LockFile, port: u16) -> bool {
    match (&content.pid, content.pid()) {
        (_, Some(pid)) => ask(pid) != Answer::Here,
        (Some(_), None) => true,
        // It dials then, and so does this.
        (None, None) => !pillion_discovery::listens(port),
    }
}

/// Returns true if its companion puts a file back that the agent deleted at its start, while the agent still
/// looks for one: it lives, in a container whose processes are not seen here. (Then the agent asks for no
/// process.)
fn comes_back(content: &LockFile, path: &Path, port: u16) -> bool {
    let publisher = content.pillion.as_ref();
    let namespaces = publisher.and_then(|it| it.namespaces.as_ref());
    let visibility = Visibility::of(namespaces, path);
    !visibility.processes && visibility.ports && pillion_discovery::listens(port)
}

fn is_one_of(words: [&str; 4], text: &str) -> bool {
    words.contains(&text.trim().to_ascii_lowercase().as_str())
}
