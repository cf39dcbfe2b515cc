//! What is known of each companion: from its files, and for Pillion's own from itself.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pillion_companion::control::{Client, CompanionStatus};
use pillion_discovery::survey::{Companion, Liveness};
use pillion_discovery::{Environment, detect, process};
use pillion_protocol::IdeInfo;
use serde::Serialize;
use tokio::task::JoinSet;

/// Whoever has not answered by then is shown without what only it knows.
const STATUS_TIMEOUT: Duration = Duration::from_millis(300);

/// One companion, as `--json` prints it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Facts {
    pub(super) port: u16,
    /// The companion's process, or for another's the one under which agents find it.
    pub(super) pid: Option<u32>,
    pub(super) editor: Option<IdeInfo>,
    pub(super) workspace: Vec<String>,
    pub(super) pillion: bool,
    pub(super) state: State,
    /// Whether commands in this folder talk to it.
    pub(super) current: bool,
    /// None if it does not tell.
    pub(super) agents: Option<Vec<String>>,
    /// None if it does not tell.
    pub(super) pending_diffs: Option<usize>,
    last_focused_ms: Option<u64>,
    files: Vec<String>,
    #[serde(skip)]
    is_silent: bool,
}

/// Whether it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum State {
    Alive,
    ProcessGone,
    NobodyListens,
}

impl Facts {
    pub fn port(&self) -> u16 {
        self.port
    }

    /// It could tell more, and does not answer.
    pub fn is_silent(&self) -> bool {
        self.is_silent
    }

    /// From its files alone.
    pub(super) fn of(companion: &Companion) -> Self {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let parents = companion.files.iter().filter_map(|file| file.content.ppid);
        let own = companion.state.as_ref().map(|state| state.pid);
        let publisher = || {
            let mut marks = companion.files.iter();
            marks.find_map(|file| Some(file.content.pillion.as_ref()?.pid))
        };
        Self {
            port: companion.port,
            pid: own
                .or_else(publisher)
                .or(companion.pids.first().copied())
                .or_else(|| parents.min()),
            editor: companion.ide.clone().or_else(|| by_process(companion)),
            workspace: companion.roots.iter().map(|root| text(root)).collect(),
            pillion: companion.is_pillion(),
            state: match companion.liveness {
                Liveness::Alive => State::Alive,
                Liveness::ProcessGone => State::ProcessGone,
                Liveness::NobodyListens => State::NobodyListens,
            },
            current: false,
            agents: None,
            pending_diffs: None,
            last_focused_ms: None,
            files: companion
                .files
                .iter()
                .map(|file| text(&file.path))
                .collect(),
            is_silent: false,
        }
    }
}

/// The editor of a companion that does not name it: what its process is. Not what is above that one:
/// a companion may have been started in another editor's terminal.
fn by_process(companion: &Companion) -> Option<IdeInfo> {
    let nothing = Environment::from_pairs::<&str, &str>([]);
    let parents = companion.files.iter().filter_map(|file| file.content.ppid);
    let pids = companion.pids.iter().copied().chain(parents);
    let mut detected = pids.filter_map(|pid| {
        let process = process::process(pid)?;
        // Detection looks above the first one.
        let detection = detect(&nothing, &[process.clone(), process])?;
        let ide = detection.ide;
        Some(IdeInfo::new(ide.name, ide.display_name))
    });
    detected.next()
}

/// Everything about `companions`, of which the one on port `here` is that of this folder. Pillion's
/// own are asked at the same time.
///
/// # Errors
/// When the system refuses what asking needs.
pub fn gather(companions: Vec<Companion>, here: Option<u16>) -> anyhow::Result<Vec<Facts>> {
    let mut listed: Vec<_> = companions.iter().map(Facts::of).collect();
    for facts in &mut listed {
        facts.current = facts.state == State::Alive && Some(facts.port) == here;
    }
    let mut asked = JoinSet::new();
    pillion_agent::runtime()?.block_on(async {
        for (at, companion) in companions.into_iter().enumerate() {
            if let Some(state) = companion.state.filter(|_| listed[at].state == State::Alive) {
                asked.spawn(async move {
                    let client = Client::new(state.port, state.control_token);
                    let status = tokio::time::timeout(STATUS_TIMEOUT, client.status()).await;
                    (at, status.ok().and_then(Result::ok))
                });
            }
        }
        while let Some(answer) = asked.join_next().await {
            if let Ok((at, status)) = answer {
                listed[at].hear(status);
            }
        }
    });
    Ok(listed)
}

impl Facts {
    fn hear(&mut self, status: Option<CompanionStatus>) {
        match status {
            Some(status) => {
                self.agents = Some(status.agents);
                self.pending_diffs = Some(status.pending_diffs);
                self.last_focused_ms = status.last_focused_ms;
            }
            None => self.is_silent = true,
        }
    }

    pub(super) fn roots(&self) -> impl Iterator<Item = PathBuf> {
        self.workspace.iter().map(PathBuf::from)
    }
}
