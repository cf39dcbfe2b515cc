//! The agent's program.

use std::path::Path;

use pillion_agent::find::Release;
use pillion_protocol::Dialect;
use pillion_protocol::discovery::join_roots;

use super::super::facts::Facts;
use super::super::finding::{Finding, Id};
use super::shell;

pub fn check(facts: &Facts, findings: &mut Vec<Finding>) {
    let program = &facts.program;
    let agent = facts.agent();
    let name = agent.display_name();
    let install = install_newest(facts);
    if program.path.is_none() {
        let what = format!(
            "{name} is not installed: the command `{}` is not on PATH",
            agent.name()
        );
        let why = "the rest describes what its newest release would do";
        findings.push(Finding::problem(Id::NotInstalled, what, why).fix(&install));
        return;
    }
    if program.version.is_none() {
        let what = format!("cannot tell which release of {name} is installed");
        let why = match agent.opens_session() {
            true => "the rest describes what the newest one would do; older ones look elsewhere",
            false => "the rest describes what the newest one would do",
        };
        findings.push(Finding::warning(Id::ReleaseUnknown, what, why).fix(&install));
    }
    if !program.has_node {
        let what = format!("Node.js is missing: {name} runs on `node`, which is not on PATH");
        let why = format!("{name} does not start: install Node.js, or put `node` on PATH");
        findings.push(Finding::problem(Id::NodeMissing, what, why));
    }
    if !program.has_ps && agent.opens_session() {
        let what = "the command `ps` is missing";
        let why = format!("{name} uses it to find its editor's process: install `procps`");
        findings.push(Finding::warning(Id::PsMissing, what, why));
    }
}

/// The one finding about a release that is not supported: what else it does is not known.
pub fn too_old(facts: &Facts, oldest: Release) -> Finding {
    let what = older_than(facts.release, oldest);
    let why = "Pillion serves it, but does not know where a release that old looks for companions";
    Finding::problem(Id::TooOld, what, why).fix(install_newest(facts))
}

/// Says that a release is not supported.
pub fn older_than(release: Release, oldest: Release) -> String {
    format!(
        "{release} is installed, and {} is the oldest release that Pillion supports",
        oldest.version
    )
}

/// The command that installs the agent's newest release, in the way in which the one that is there was.
pub fn install_newest(facts: &Facts) -> String {
    let path = facts.program.path.as_deref();
    let path = path.filter(|_| !facts.program.is_packaged);
    update(facts.agent(), path)
}

/// The command that updates an agent. `unpackaged` is where its program is, if no npm package brought it.
pub fn update(agent: Dialect, unpackaged: Option<&Path>) -> String {
    if let (Dialect::ClaudeCode, Some(path)) = (agent, unpackaged) {
        return format!("{} update", shell::path(path));
    }
    let tag = agent.package().map_or("", |_| "@latest");
    format!("{}{tag}", agent.install_command())
}

/// Starts a companion that serves the folder. Some folders cannot be named to agents: one above them can.
pub fn start(facts: &Facts) -> String {
    let can_be_root = |folder: &&Path| join_roots(&[folder.to_path_buf()]).is_ok();
    match facts.folder.ancestors().find(can_be_root) {
        Some(above) if above != facts.folder => {
            format!("pillion --workspace {}", shell::path(above))
        }
        _ => "pillion".to_owned(),
    }
}

/// Starts the agent with a companion.
pub fn run(facts: &Facts, port: u16) -> String {
    format!("pillion run --port {port} {}", facts.agent().name())
}
