//! The facts about each companion: from its files, and for Pillion's own from itself.

use pillion_discovery::ViewState;
use pillion_discovery::survey::{Companion, FoundFile, Liveness};
use pillion_discovery::{Environment, detect};
use pillion_protocol::IdeInfo;
use pillion_system::process;
use serde::Serialize;

/// One companion, as `--json` prints it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Facts {
    pub port: u16,
    /// The companion's process, or for another's the one under which agents find it.
    pub(super) pid: Option<u32>,
    pub(super) editor: Option<IdeInfo>,
    pub(super) workspace: Vec<String>,
    pub(super) pillion: bool,
    pub(super) state: Liveness,
    /// True if commands in this folder talk to it.
    pub(super) current: bool,
    /// The editors and reviews that it serves; none if it does not tell.
    pub(super) views: Option<Vec<ViewState>>,
    /// None if it does not tell.
    pub(super) agents: Option<Vec<String>>,
    /// None if it does not tell.
    pub(super) pending_diffs: Option<usize>,
    /// None if no agent asks as people choose.
    pub(super) review: Option<String>,
    last_focused_ms: Option<u64>,
    files: Vec<String>,
    /// It could tell more, and does not answer.
    #[serde(skip)]
    pub is_silent: bool,
}

impl Facts {
    /// From its files, and from what it says if it does. That of this folder is on port `here`.
    pub fn of(companion: &Companion, here: Option<u16>) -> Self {
        let state = companion.state.as_ref().filter(|_| companion.is_alive());
        let parents = companion.files.iter().filter_map(|file| file.content.ppid);
        let own = companion.state.as_ref().map(|state| state.pid);
        let publisher = || companion.files.iter().find_map(FoundFile::publisher);
        let files = companion.files.iter();
        Self {
            port: companion.port,
            pid: own
                .or_else(publisher)
                .or(companion.pids.first().copied())
                .or_else(|| parents.min()),
            editor: companion.ide.clone().or_else(|| by_process(companion)),
            workspace: companion.shown_roots(),
            pillion: companion.is_pillion(),
            state: companion.liveness,
            current: companion.is_alive() && Some(companion.port) == here,
            views: state.map(|it| it.views.clone()),
            agents: state.map(|it| it.agents.clone()),
            pending_diffs: state.map(|it| it.pending_diffs),
            review: state.and_then(|it| it.review.clone()),
            last_focused_ms: state.and_then(|it| it.last_focused_ms),
            files: files.map(|file| file.path.display().to_string()).collect(),
            is_silent: companion.is_silent,
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
