//! Claude Code's lock files: which one a release takes, and why none if two fit.
//!
//! The rules were seen from outside: they are what the program does with files, variables and folders
//! that tests lay before it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use pillion_discovery::canonicalize;
use pillion_discovery::namespaces::Visibility;
use pillion_protocol::Dialect;
use pillion_protocol::claude::LockFile;
use pillion_protocol::dialect::{Base, FileName};
use pillion_system::process::{Answer, ask};

use super::read::{bytes, names};
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
    let judge = |lock| Judged {
        verdict: search.verdict(&lock),
        lock,
    };
    let mut judged: Vec<Judged> = search.locks().map(judge).collect();
    let refusal = search.choose(&mut judged);
    let chosen = judged.iter().find(|judged| judged.verdict.is_chosen());
    let dials = chosen.and_then(|judged| judged.lock.dial()).into_iter();
    Finding {
        ide_pid: None,
        dials: dials.collect(),
        refusal,
        candidates: judged.into_iter().map(Judged::candidate).collect(),
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

/// A file with the name of a lock file.
struct Lock {
    path: PathBuf,
    /// The port in its name.
    port: u16,
    /// Its content; none if it is not a lock file's.
    read: Result<Option<LockFile>, ErrorKind>,
}

/// A lock file and its verdict.
struct Judged {
    lock: Lock,
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
                Some(Lock::read(folder.join(name), port))
            })
        })
    }

    /// The verdict on one file, whatever the others are.
    fn verdict(&self, lock: &Lock) -> Verdict {
        let content = match &lock.read {
            Err(kind) => return Verdict::Unreadable(*kind),
            Ok(None) => return Verdict::Malformed,
            Ok(Some(content)) => content,
        };
        if is_gone(content, lock) && !comes_back(content, lock) {
            return Verdict::Stale(Stale::ProcessGone);
        }
        if self.is_named(lock) {
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
    fn choose(&self, judged: &mut [Judged]) -> Option<Refusal> {
        if let Some(value) = self.situation.environment.filled(AUTO_CONNECT)
            && value.to_str().is_some_and(|it| is_one_of(NO, it))
        {
            for judged in judged.iter_mut().filter(|it| it.verdict.is_chosen()) {
                judged.verdict = Verdict::NotLookedAt;
            }
            return Some(Refusal::TurnedOff(AUTO_CONNECT));
        }
        let fits = |judged: &&mut Judged| judged.verdict.is_chosen();
        let mut fitting: Vec<&mut Judged> = judged.iter_mut().filter(fits).collect();
        let named = fitting.iter().filter(|it| self.is_named(&it.lock)).count();
        if named == 1 {
            let others = fitting.into_iter().filter(|it| !self.is_named(&it.lock));
            let name = Dialect::ClaudeCode.port_variable().unwrap_or_default();
            others.for_each(|it| {
                it.verdict = Verdict::SecondChoice(Preference::PortVariable(name));
            });
            return None;
        }
        match fitting.len() {
            1 => None,
            0 => Some(self.why_none(judged)),
            _ => {
                for judged in &mut fitting {
                    judged.verdict = Verdict::Ambiguous;
                }
                let ports = fitting.iter().map(|it| it.lock.port);
                Some(Refusal::Ambiguous(ports.collect()))
            }
        }
    }

    /// Why there is none, where none fits.
    fn why_none(&self, judged: &[Judged]) -> Refusal {
        let with = |verdict: Verdict| judged.iter().filter(move |it| it.verdict == verdict);
        if with(Verdict::OtherTerminal).next().is_some() {
            return Refusal::OtherTerminal;
        }
        let roots = with(Verdict::OtherWorkspace).flat_map(|it| it.lock.folders().to_vec());
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
    fn is_named(&self, lock: &Lock) -> bool {
        let is_opencode = self.situation.release.agent == Dialect::OpenCode;
        self.port == Some(lock.port) && !is_opencode
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
    fn read(path: PathBuf, port: u16) -> Self {
        let read = bytes(&path)
            .map(|bytes| serde_json::from_slice(&bytes).ok())
            .map_err(|error| error.kind());
        Self { path, port, read }
    }

    fn content(&self) -> Option<&LockFile> {
        self.read.as_ref().ok()?.as_ref()
    }

    fn folders(&self) -> &[PathBuf] {
        let content = self.content();
        content.map_or(&[], |content| &content.workspace_folders)
    }

    fn dial(&self) -> Option<Dial> {
        let content = self.content()?;
        let is_websocket = content.transport.as_deref() == Some("ws");
        Some(Dial {
            host: Host::Loopback,
            port: self.port,
            socket: None,
            // The other transport knows none.
            token: content.auth_token.clone().filter(|_| is_websocket),
            source: Source::File(self.path.clone()),
            transport: if is_websocket {
                super::Transport::WebSocket
            } else {
                super::Transport::EventSource
            },
        })
    }
}

/// Returns true if the agent takes the file's companion for gone when it starts, and deletes the
/// file.
fn is_gone(content: &LockFile, lock: &Lock) -> bool {
    match (&content.pid, content.pid()) {
        (_, Some(pid)) => ask(pid) != Answer::Here,
        (Some(_), None) => true,
        // It dials then, and so does this.
        (None, None) => !pillion_discovery::listens(lock.port),
    }
}

/// Returns true if its companion puts a file back that the agent deleted at its start, while the agent still
/// looks for one: it lives, in a container whose processes are not seen here. (Then the agent asks for no
/// process.)
fn comes_back(content: &LockFile, lock: &Lock) -> bool {
    let publisher = content.pillion.as_ref();
    let namespaces = publisher.and_then(|it| it.namespaces.as_ref());
    let visibility = Visibility::of(namespaces, &lock.path);
    !visibility.processes && visibility.ports && pillion_discovery::listens(lock.port)
}

impl Judged {
    fn candidate(self) -> Candidate {
        Candidate {
            port: Some(self.lock.port),
            roots: self.lock.folders().to_vec(),
            path: self.lock.path,
            verdict: self.verdict,
        }
    }
}

fn is_one_of(words: [&str; 4], text: &str) -> bool {
    words.contains(&text.trim().to_ascii_lowercase().as_str())
}
