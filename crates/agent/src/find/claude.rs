//! Claude Code's lock files: which one a release takes, and why none if two fit.
//!
//! The rules were seen from outside: they are what the program does with files, variables and folders
//! that tests lay before it.

mod lock;

use std::path::{Path, PathBuf};

use pillion_discovery::canonicalize;
use pillion_discovery::namespaces::Visibility;
use pillion_protocol::Dialect;
use pillion_protocol::dialect::Base;
use pillion_system::process::{Answer, ask};

use self::lock::{Content, Lock, Process};
use super::content::leading_number;
use super::read::names;
use super::verdict::{Candidate, Preference, Stale, Verdict};
use super::{Dial, Finding, Refusal, Situation, Source};
use crate::host::Host;
use crate::release::Change;

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
    let dials = chosen.and_then(|judged| dial(&judged.lock)).into_iter();
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
    /// The number in the port variable.
    port: Option<u32>,
    skips_folders: bool,
    /// True if its terminal is one of an editor whose process it looks for.
    is_in_editor: bool,
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
            port: port.and_then(leading_number),
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
            _ if self.situation.release.has(Change::BothFolders) => vec![configured, usual],
            _ => vec![configured],
        };
        folders.into_iter().flat_map(|folder| {
            // The port is the number at the beginning, whatever follows it.
            let locks = names(&folder).into_iter();
            let locks = locks.filter(|name| name.ends_with(".lock"));
            locks.map(move |name| Lock::read(folder.join(name)))
        })
    }

    /// The verdict on one file, whatever the others are.
    fn verdict(&self, lock: &Lock) -> Verdict {
        let content = match &lock.read {
            Err(kind) => return Verdict::Unreadable(*kind),
            Ok(content) => content,
        };
        let Some(port) = lock.port else {
            return Verdict::Malformed;
        };
        if is_gone(&content.process, lock) && !comes_back(content, lock) {
            return Verdict::Stale(Stale::ProcessGone);
        }
        if self.is_named(lock) {
            return Verdict::Chosen;
        }
        if let Some(verdict) = self.misfit(content.folders.as_deref()) {
            return verdict;
        }
        if self.is_in_editor && !self.is_ancestor(&content.process) {
            return Verdict::OtherTerminal;
        }
        if port == 0 || port > u32::from(u16::MAX) {
            return Verdict::Malformed;
        }
        Verdict::Chosen
    }

    /// Why its folders do not fit, if they do not.
    fn misfit(&self, folders: Option<&[PathBuf]>) -> Option<Verdict> {
        let fits = |root: &PathBuf| self.contains(&self.resolved(root));
        match folders {
            _ if self.skips_folders => None,
            None => Some(Verdict::Malformed),
            Some([]) => Some(Verdict::NoWorkspace),
            Some(folders) => (!folders.iter().any(fits)).then_some(Verdict::OtherWorkspace),
        }
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
                let ports = fitting.iter().filter_map(|it| it.lock.dialled_port());
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
        self.port.is_some() && self.port == lock.port && !is_opencode
    }

    fn contains(&self, root: &Path) -> bool {
        let release = self.situation.release;
        let is_passed_over = root.parent().is_none()
            && release.agent == Dialect::ClaudeCode
            && !release.has(Change::RootDirectory);
        self.folder == root || (self.folder.starts_with(root) && !is_passed_over)
    }

    /// A root as the release compares it. Links in it are not resolved, but those in the working
    /// directory are: a root that is named by a link never fits.
    fn resolved(&self, root: &Path) -> PathBuf {
        pillion_protocol::path::absolute(&self.folder, root)
    }

    fn is_ancestor(&self, process: &Process) -> bool {
        let Process::Id(pid) = process else {
            return false;
        };
        self.situation.chain.iter().any(|it| it.pid == *pid)
    }
}

/// Returns true if the agent takes the file's companion for gone when it starts, and deletes the
/// file.
fn is_gone(process: &Process, lock: &Lock) -> bool {
    match process {
        Process::Id(pid) => ask(*pid) != Answer::Here,
        Process::Impossible => true,
        // It dials then, and so does this.
        Process::None => {
            let port = lock.dialled_port();
            !port.is_some_and(pillion_discovery::listens)
        }
        Process::Any => false,
    }
}

/// Returns true if its companion puts a file back that the agent deleted at its start, while the agent still
/// looks for one: it lives, in a container whose processes are not seen here. (Then the agent asks for no
/// process.)
fn comes_back(content: &Content, lock: &Lock) -> bool {
    let visibility = Visibility::of(content.namespaces.as_ref(), &lock.path);
    let port = lock.dialled_port();
    !visibility.processes && visibility.ports && port.is_some_and(pillion_discovery::listens)
}

impl Judged {
    fn candidate(self) -> Candidate {
        Candidate {
            port: self.lock.dialled_port(),
            roots: self.lock.folders().to_vec(),
            path: self.lock.path,
            verdict: self.verdict,
        }
    }
}

fn dial(lock: &Lock) -> Option<Dial> {
    let content = lock.read.as_ref().ok()?;
    let is_websocket = content.is_websocket;
    Some(Dial {
        host: Host::Loopback,
        port: lock.dialled_port()?,
        socket: None,
        // The other transport knows none.
        token: content.token.clone().filter(|_| is_websocket),
        source: Source::File(lock.path.clone()),
        transport: if is_websocket {
            super::Transport::WebSocket
        } else {
            super::Transport::EventSource
        },
    })
}

fn is_one_of(words: [&str; 4], text: &str) -> bool {
    words.contains(&text.trim().to_ascii_lowercase().as_str())
}
