//! The state of companions for Pillion's own commands, which ask each at its [`socket`](mod@crate::socket).

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pillion_protocol::ask::{Ask, Program};
use pillion_protocol::discovery::{Publisher, join_roots};
use pillion_protocol::{DiscoveryFile, IdeInfo};
use pillion_system::{peer, process, time_limit};
use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::namespaces;
use crate::private_file::Stream;
use crate::program::{Connection, Open};
use crate::socket::{self, Address};

/// The question for the companions behind a socket. Who refuses it hangs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State;

impl Ask for State {
    type Answer = Vec<CompanionState>;
    const METHOD: &'static str = "state";
    const FOR_PERSON: bool = false;
}

/// The time limit for an answer from a listener: it looks at no disk, but the machine may be busy.
const ANSWERED_WITHIN: Duration = Duration::from_secs(5);

/// The time limit for [`look`], unless a disk does not answer.
pub(crate) const LOOK_WITHIN: Duration = Duration::from_secs(7);

/// The time limit for a companion's loop to report its state: so that whoever asked still gets an answer.
pub const STATE_WITHIN: Duration = Duration::from_secs(4);

/// A running companion.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompanionState {
    /// The companion's process.
    pub pid: u32,
    /// The version of its program.
    pub version: String,
    /// Its loopback port.
    pub port: u16,
    /// Its workspace roots.
    pub roots: Vec<PathBuf>,
    /// The editor after which agents call it.
    pub ide: IdeInfo,
    /// The editors and reviews that are attached, oldest first.
    pub views: Vec<ViewState>,
    /// When it started, in Unix milliseconds.
    pub started_at_ms: u64,
    /// Its discovery files, as agents find them now: in another temporary directory than that of whoever asks, perhaps.
    #[serde(default)]
    pub files: Vec<PathBuf>,
    /// The short names of the agents that are connected, oldest first.
    pub agents: Vec<String>,
    /// The number of diffs that wait for the reviewer.
    pub pending_diffs: usize,
    /// True if none of its views shows diffs: agents then show their changes in their own windows.
    #[serde(default)]
    pub hides_diffs: bool,
    /// When agents ask, as people have chosen: a few words. None if no agent is known to do as they choose.
    #[serde(default)]
    pub review: Option<String>,
    /// Why what agents change is not recorded, or not kept, as a sentence for people; none if it is.
    #[serde(default)]
    pub unrecorded: Option<String>,
    /// The folder below which it keeps what agents change, if it may keep that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_dir: Option<PathBuf>,
    /// The most bytes that what is kept of changes may take, as its environment has it; none if nothing is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes_limit: Option<u64>,
    /// When a file was last focused, in Unix milliseconds; none if no file is open.
    pub last_focused_ms: Option<u64>,
    /// The address at which it was asked, and at which commands reach it; none before that.
    #[serde(skip)]
    pub address: Option<Address>,
    /// The connection on which it was asked: whoever has more to ask goes on with it.
    #[serde(skip)]
    pub open: Open,
}

/// One of the editors and reviews that a companion serves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ViewState {
    /// Its short name.
    pub name: String,
    /// Its name for people.
    pub display_name: String,
    /// Its process.
    pub pid: u32,
}

/// The companions of this user that run.
#[derive(Debug, Clone, Default)]
pub struct Running {
    /// Those that answer, in no particular order.
    pub companions: Vec<CompanionState>,
    /// The processes that listen and do not answer, as one that was suspended.
    pub silent: Vec<u32>,
}

impl CompanionState {
    /// The processes of its editors and reviews.
    pub fn editors(&self) -> Vec<u32> {
        self.views.iter().map(|view| view.pid).collect()
    }

    /// Why whoever has this environment does not find what is kept here, for people.
    pub fn kept_elsewhere(&self, environment: &Environment) -> Option<String> {
        let why = kept_elsewhere(self.state_dir.as_deref()?, environment)?;
        let open = self.views.iter();
        let open = open.map(|it| format!("{} (process {})", it.display_name, it.pid));
        Some(format!(
            "{why}. Open here: {}",
            open.collect::<Vec<_>>().join(", ")
        ))
    }

    /// The content of its discovery files, but for token and editor.
    pub(crate) fn as_file(&self) -> Option<DiscoveryFile> {
        Some(DiscoveryFile {
            port: self.port,
            workspace_path: join_roots(&self.roots).ok()?,
            auth_token: None,
            ide_info: Some(self.ide.clone()),
            ppid: None,
            ide_name: None,
            pillion: Some(Publisher {
                pid: self.pid,
                namespaces: namespaces::here(),
            }),
        })
    }
}

/// Why whoever has this environment does not find what is kept below this folder, for people.
pub fn kept_elsewhere(state_dir: &Path, environment: &Environment) -> Option<String> {
    let own = environment.user_state_dir()?;
    (state_dir != own).then(|| {
        format!(
            "what agents change here is kept below {}, and not below {}: the first editor or review here was opened with another \
             HOME or XDG_STATE_HOME; close all that are open here, and open yours again",
            state_dir.display(),
            own.display()
        )
    })
}

/// The companions of this user that answer, in no particular order.
pub fn list(environment: &Environment) -> Vec<CompanionState> {
    look(environment).companions
}

/// The companions of this user. Waits for disks, and five seconds for who does not answer and was not suspended.
pub fn look(environment: &Environment) -> Running {
    let addresses = socket::addresses(environment);
    let names = environment.commanding_agents().into_iter();
    let program = Program {
        pid: std::process::id(),
        commanded_by: names.map(|agent| agent.name().to_owned()).collect(),
    };
    let asked = addresses.into_iter().map(|address| {
        let program = program.clone();
        move || ask(address, program)
    });
    let mut running = Running::default();
    for answer in time_limit::run_all(LOOK_WITHIN, asked) {
        match answer {
            Some(Answer::Companions(companions)) => running.companions.extend(companions),
            Some(Answer::Silent(Some(pid))) => running.silent.push(pid),
            Some(Answer::Silent(None) | Answer::Nobody) | None => {}
        }
    }
    running
}

enum Answer {
    Companions(Vec<CompanionState>),
    /// Of this process, if the system tells.
    Silent(Option<u32>),
    /// Nobody listens there, or somebody else.
    Nobody,
}

fn ask(address: Address, program: Program) -> Answer {
    let Ok(stream) = address.connect() else {
        return Answer::Nobody;
    };
    let pid = peer::process(&stream);
    if pid.is_some_and(process::is_suspended) {
        return Answer::Silent(pid);
    }
    match question(stream, program) {
        Ok(Some((mut companions, open))) => {
            for companion in &mut companions {
                companion.address = Some(address.clone());
                companion.open = open.clone();
            }
            Answer::Companions(companions)
        }
        Ok(None) => Answer::Nobody,
        Err(_) => Answer::Silent(pid),
    }
}

/// Asks for the state; none if another program answers.
fn question(stream: Stream, program: Program) -> io::Result<Option<(Vec<CompanionState>, Open)>> {
    let mut connection = Connection::new(stream, program)?;
    match connection.ask(&State, Some(ANSWERED_WITHIN)) {
        Ok(Ok(companions)) => Ok(Some((companions, Open::new(connection)))),
        Ok(Err(_)) => Err(io::ErrorKind::TimedOut.into()),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(None),
        Err(error) => Err(error),
    }
}
