//! The companion that an agent finds, and why not another: each release's own way, worked out without
//! running it (C2.3, C2.7).
//!
//! [`find`] takes a [`Situation`] (a release, its environment, its working directory, and the chain
//! of its ancestors), reads the discovery files as that release reads them, and gives a [`Finding`]:
//! the process that the release takes for its editor, every discovery file with its [`Verdict`], and
//! what it would dial. Nothing is dialled, and nothing is written: not even the stale lock files
//! that Qwen Code deletes are.
//!
//! ```
//! use std::fs;
//! use std::path::Path;
//! use pillion_agent::find::{Release, Situation, find};
//! use pillion_discovery::Environment;
//! use pillion_system::process;
//! use pillion_protocol::Dialect;
//!
//! let tmp = tempfile::tempdir()?;
//! let folder = tmp.path().join("gemini/ide");
//! fs::create_dir_all(&folder)?;
//! let project = tmp.path().join("project");
//! fs::create_dir(&project)?;
//! let content = format!(
//!     r#"{{"port": 4242, "workspacePath": {:?}, "authToken": "secret",
//!         "ideInfo": {{"name": "kate", "displayName": "Kate"}}}}"#,
//!     project.display(),
//! );
//! fs::write(folder.join("gemini-ide-server-1-4242.json"), content)?;
//!
//! let environment = Environment::from_pairs([("TMPDIR", tmp.path())]);
//! let chain = process::chain(std::process::id());
//! let finding = find(&Situation {
//!     only: None,
//!     release: Release::newest(Dialect::GeminiCli),
//!     environment: &environment,
//!     current_dir: &project,
//!     chain: &chain,
//!     in_container: false,
//! });
//! assert_eq!(finding.dials[0].to_string(), "http://127.0.0.1:4242/mcp");
//! assert_eq!(finding.chosen().unwrap().verdict.to_string(), "chosen");
//! assert!(finding.refusal.is_none());
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Companions that are reached over stdio (a field `stdio`, or a variable) are not worked out.
//!
//! The releases of the last six months are supported. Tests compare all of this with the real clients of the newest and
//! the oldest of them in hundreds of situations; Claude Code is started for each situation, and counts as
//! picking no companion once it has read the folder often enough. Of a release that is older,
//! nothing is worked out ([`Refusal::TooOld`]), and files that are not as their format has them count as malformed, whatever
//! an agent may make of them.

mod claude;
mod copilot;
mod folder;
mod ide_pid;
mod locks;
mod pick;
mod read;
mod terminal;
mod verdict;
mod workspace;

use std::fmt;
use std::path::{Path, PathBuf};

use pillion_discovery::Environment;
use pillion_protocol::discovery::{DiscoveryFile, IdeInfo};
use pillion_protocol::{Address as At, Dialect, Token};
use pillion_system::process::Process;

pub use self::ide_pid::ide_pid;
use self::pick::{Pick, Place};
pub use self::verdict::{Candidate, Preference, Stale, Verdict};
use self::workspace::Fit;
use crate::Address;
use crate::host::{Host, hosts};
pub use crate::release::{Release, Version, VersionError};

/// An agent that is about to look for its companion.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// The agent.
    pub release: Release,
    /// Its environment.
    pub environment: &'a Environment,
    /// Its working directory, absolute.
    pub current_dir: &'a Path,
    /// Its process and then its ancestors, nearest first
    /// ([`chain`](pillion_system::process::chain)).
    pub chain: &'a [Process],
    /// True if it runs in a container ([`is_in_container`](crate::host::is_in_container)).
    pub in_container: bool,
    /// Only files that name this port are looked at: enough where a variable of the agent names it, and it takes one of them.
    pub only: Option<u16>,
}

/// The result of an agent's search.
#[derive(Debug, Clone, Default)]
pub struct Finding {
    /// The process that it takes for its editor; none if nothing is known of its processes.
    pub ide_pid: Option<u32>,
    /// Every discovery file of this agent, in the order in which it looks at them.
    pub candidates: Vec<Candidate>,
    /// The attempts to connect, one after the other, until one succeeds.
    pub dials: Vec<Dial>,
    /// Why it dials nothing, or nothing more after [`dials`](Self::dials).
    pub refusal: Option<Refusal>,
}

/// An attempt to connect.
#[derive(Debug, Clone)]
pub struct Dial {
    /// The host.
    pub host: Host,
    /// The port; of a companion on a socket that of its other agents, 0 if that is unknown.
    pub port: u16,
    /// The Unix socket that is dialled instead.
    pub socket: Option<PathBuf>,
    /// The token that it presents, if it has one.
    pub token: Option<Token>,
    /// The source of the port.
    pub source: Source,
    /// The transport for talking to the listener.
    pub transport: Transport,
}

/// The transport between an agent and a companion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// MCP over streamable HTTP, as the companion contract has it.
    Http,
    /// MCP over a WebSocket.
    WebSocket,
    /// MCP over an event source, as in its first revision, without a token.
    EventSource,
}

/// The source of a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A discovery file.
    File(PathBuf),
    /// A variable.
    Variable(&'static str),
}

/// Why an agent does not dial. `Display` says it to people.
#[derive(Debug, Clone, PartialEq, Eq, derive_more::Display)]
pub enum Refusal {
    /// It is offered only in terminals of known editors, and no discovery file names another.
    #[display(
        "IDE mode is not available here: the terminal does not belong to a known editor, and no discovery file that it accepts names one"
    )]
    Unsupported,
    /// There is no discovery file for it, and no variable names a workspace.
    #[display("no companion was found")]
    NoCompanion,
    /// The workspace is empty: the editor has no folder open.
    #[display("the editor has no folder open")]
    NoFolder,
    /// The agent's folder is in none of these.
    #[display("the folder is not in the companion's workspace{}", listed(_0))]
    OtherWorkspace(Vec<PathBuf>),
    /// Several companions fit: those on these ports. Claude Code then takes none by itself.
    #[display(
        "several companions match, so the agent connects to none of them on its own: ports {}",
        _0.iter().map(u16::to_string).collect::<Vec<_>>().join(", ")
    )]
    Ambiguous(Vec<u16>),
    /// Those that fit belong to other processes than the editor whose terminal this is.
    #[display("this is an editor's terminal, and no matching companion belongs to that editor")]
    OtherTerminal,
    /// This variable turns automatic connecting off.
    #[display("{_0} turns automatic connecting off")]
    TurnedOff(&'static str),
    /// Neither file nor variable names a port that can be dialled.
    #[display("neither a discovery file nor a variable names a port")]
    NoPort,
    /// It is older than this, the oldest release whose ways are known.
    #[display("nothing is known of releases before {_0}")]
    TooOld(Release),
    /// Pillion's own commands ask companions at their sockets.
    #[display("Pillion's commands need no discovery file")]
    NoAgent,
}

/// Works out what an agent finds. Blocking; reads the file system and asks for processes.
pub fn find(situation: &Situation<'_>) -> Finding {
    let Situation {
        release,
        environment,
        chain,
        ..
    } = *situation;
    let mut finding = Finding::default();
    if let Some(oldest) = release.too_old() {
        finding.refusal = Some(Refusal::TooOld(oldest));
        return finding;
    }
    let ide_pid = ide_pid(release.agent, environment, chain);
    let place = Place::new(situation, ide_pid);
    let pick = match release.agent {
        Dialect::GeminiCli => place.pick_by_process(),
        Dialect::QwenCode => place.pick_by_lock(),
        Dialect::ClaudeCode => return claude::find(situation),
        Dialect::OpenCode => return claude::find_for_opencode(situation),
        Dialect::CopilotCli => return copilot::find(situation),
        Dialect::CodexCli | Dialect::KimiCode | Dialect::MistralVibe => {
            finding.refusal = Some(Refusal::NoAgent);
            return finding;
        }
    };
    finding.ide_pid = ide_pid;
    let ide_info = pick.chosen_content().and_then(|it| it.ide_info.as_ref());
    let is_named = ide_info.is_some_and(IdeInfo::is_named);
    finding.refusal = if is_named || terminal::is_known(release.agent, environment) {
        place.connect(&pick, &mut finding.dials)
    } else {
        Some(Refusal::Unsupported)
    };
    finding.candidates = pick.candidates();
    finding
}

impl Finding {
    /// The file that it takes.
    pub fn chosen(&self) -> Option<&Candidate> {
        self.candidates
            .iter()
            .find(|candidate| candidate.verdict.is_chosen())
    }
}

impl Place<'_> {
    /// Adds the dials, and returns why there are no more.
    fn connect(&self, pick: &Pick, dials: &mut Vec<Dial>) -> Option<Refusal> {
        let chosen = pick.chosen_content();
        let workspace = chosen.map(|content| content.workspace_path.clone());
        let fit = workspace.or_else(|| self.workspace_variable());
        match fit.map(|workspace| self.matcher.fit(&workspace)) {
            Some(Fit::Inside) => {}
            None => return Some(Refusal::NoCompanion),
            Some(Fit::Empty) => return Some(Refusal::NoFolder),
            Some(Fit::Outside(roots)) => return Some(Refusal::OtherWorkspace(roots)),
        }
        let mut token = chosen
            .and_then(Self::token_in)
            .or_else(|| self.token_variable());
        if let (Some(chosen), Some(content)) = (pick.chosen(), chosen) {
            let source = Source::File(chosen.seen.path.clone());
            dials.extend(self.dials(content.port, token.as_ref(), &source));
            for at in &pick.fallbacks {
                let seen = &pick.files[*at].seen;
                let Some(content) = seen.content() else {
                    continue;
                };
                // A file without a token does not make it forget the last one.
                token = Self::token_in(content).or(token);
                let source = Source::File(seen.path.clone());
                dials.extend(self.dials(content.port, token.as_ref(), &source));
            }
        }
        let variable = self.situation.release.agent.port_variable();
        let variable = variable.filter(|_| !pick.is_variable_rejected);
        if let (Some(name), Some(port)) = (variable, self.port_variable) {
            dials.extend(self.dials(port, token.as_ref(), &Source::Variable(name)));
        }
        dials.is_empty().then_some(Refusal::NoPort)
    }

    fn dials(&self, port: u16, token: Option<&Token>, source: &Source) -> Vec<Dial> {
        let Situation {
            release,
            environment,
            in_container,
            ..
        } = *self.situation;
        let hosts = hosts(release.agent, environment, in_container).iter();
        let hosts = hosts.filter(|_| port > 0);
        let dials = hosts.map(|host| Dial {
            host: *host,
            port,
            socket: None,
            token: token.cloned(),
            source: source.clone(),
            transport: Transport::Http,
        });
        dials.collect()
    }

    fn token_in(content: &DiscoveryFile) -> Option<Token> {
        let token = content.auth_token.clone();
        token.filter(|token| !token.expose().is_empty())
    }

    fn token_variable(&self) -> Option<Token> {
        let name = self.situation.release.agent.variables()?.token?;
        let value = self.situation.environment.filled(name)?;
        Some(Token::from(value.to_string_lossy().into_owned()))
    }

    fn workspace_variable(&self) -> Option<String> {
        let name = self.situation.release.agent.variables()?.workspace?;
        // An empty one counts: it says that the editor has no folder open.
        let value = self.situation.environment.value(name)?;
        Some(value.to_string_lossy().into_owned())
    }
}

impl Dial {
    /// The address to connect to, with the token.
    pub fn address(&self) -> Address {
        let at = self.socket.clone().map_or(At::Tcp(self.port), At::Unix);
        Address::new(at)
            .with_host(self.host.to_string())
            .with_token(self.token.clone())
    }
}

impl fmt::Display for Dial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port, .. } = self;
        if let Some(socket) = &self.socket {
            return write!(f, "{}", socket.display());
        }
        match self.transport {
            Transport::Http => write!(f, "http://{host}:{port}/mcp"),
            Transport::WebSocket => write!(f, "ws://{host}:{port}/"),
            Transport::EventSource => write!(f, "http://{host}:{port}/sse"),
        }
    }
}

/// Roots behind a sentence, if there are any.
fn listed(roots: &[PathBuf]) -> String {
    let shown: Vec<_> = roots.iter().map(|root| root.to_string_lossy()).collect();
    match shown.is_empty() {
        true => String::new(),
        false => format!(": {}", shown.join(", ")),
    }
}
