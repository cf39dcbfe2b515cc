//! The outcome of dialling, and the session that follows.

use pillion_agent::find::{Dial, Source};
use pillion_agent::host::{Host, hosts};
use pillion_discovery::survey::{Companion, FoundFile};

use super::super::facts::Facts;
use super::super::facts::dial::{Dialled, Outcome};
use super::super::finding::{Finding, Id};
use super::agent::run;
use super::{files, shell};

pub fn check(facts: &Facts, findings: &mut Vec<Finding>) {
    if facts.is_connected() {
        return;
    }
    for dialled in &facts.dialled {
        // Where both hosts of one port fail for one reason, one finding says it.
        if let Some(finding) = failed(facts, dialled)
            && !findings.iter().any(|known| known.id == finding.id)
        {
            findings.push(finding);
        }
    }
    let hosts = hosts(
        facts.agent(),
        facts.environment(),
        facts.network.in_container,
    );
    if facts.dialled.is_empty() && hosts == [Host::ContainerHost] && !facts.network.resolves {
        // It would fail even if it were wired to the companion.
        let companion = facts.fitting().next();
        findings.extend(companion.and_then(|companion| container(facts, companion)));
    }
}

/// The companion to which the agent is connected.
pub fn session(facts: &Facts, findings: &mut Vec<Finding>) {
    let companion = facts
        .dialled
        .last()
        .filter(|it| it.outcome == Outcome::Connected);
    let companion = companion.and_then(|it| facts.at(it.dial.port)?.state.as_ref());
    if companion.is_some_and(|it| it.hides_diffs) {
        let name = facts.agent().display_name();
        let what = "none of the companion's editors shows diffs";
        let why = format!("{name} then shows its changes in its own window (C5.1, C5.4)");
        findings.push(Finding::warning(Id::DiffsHidden, what, why));
    }
}

fn failed(facts: &Facts, dialled: &Dialled) -> Option<Finding> {
    let Dialled { dial, outcome } = dialled;
    let port = dial.port;
    match outcome {
        Outcome::Connected | Outcome::Admitted => None,
        Outcome::NameRefused => name_refused(facts, dial),
        // Nothing on loopback either: the companion is gone, which is reported for its file.
        Outcome::Unreachable if dial.host == Host::ContainerHost => {
            container(facts, facts.at(dial.port)?)
        }
        // That its companion is gone is reported for its file.
        Outcome::Unreachable => None,
        Outcome::TokenRefused => {
            let what = format!(
                "the process on port {port} refuses the token from {}",
                source(facts, dial)
            );
            let why =
                "the file belongs to an older companion, whose port another one now has (C3.3)";
            Some(Finding::problem(Id::TokenRefused, what, why).fix(forget(facts, dial)))
        }
        Outcome::NoCompanion(reason) => {
            let what = format!(
                "another program listens on port {port}, named by {}: {reason}",
                source(facts, dial)
            );
            let why = "the companion that had this port is gone but left its file behind";
            Some(Finding::problem(Id::PortTaken, what, why).fix(forget(facts, dial)))
        }
        Outcome::Silent => {
            let what = format!("the process on port {port} does not respond");
            Some(silent(facts, dial, what))
        }
    }
}

fn silent(facts: &Facts, dial: &Dial, what: String) -> Finding {
    let finding = |why| Finding::problem(Id::NoAnswer, what, why);
    if let Some(pid) = facts.files_of(dial.port).find_map(FoundFile::publisher) {
        let why = "a companion responds within milliseconds; this one may be suspended with Ctrl-Z";
        finding(why).fix(format!("kill -CONT {pid}"))
    } else if facts.at(dial.port).is_some() {
        // Its file is not removed: the editor needs it when it resumes.
        finding(
            "a companion responds within milliseconds; its editor may be busy or hanging: wait, or restart it",
        )
    } else if facts.doubtful.contains(&dial.port) {
        finding(
            "the companion that had this port is gone, or runs in another container: do not remove its file unless it is gone",
        )
    } else {
        finding("the companion that had this port is gone but left its file behind")
            .fix(forget(facts, dial))
    }
}

fn container(facts: &Facts, companion: &Companion) -> Option<Finding> {
    let host = Host::ContainerHost;
    let meaning = if facts.network.resolves {
        "where nothing listens"
    } else {
        "a name that does not resolve here"
    };
    let what = format!(
        "{} dials {host}, {meaning}; {} runs in this container",
        facts.release,
        companion.display_name()
    );
    let why = "in a container, the agent assumes that its editor is outside unless a variable says otherwise";
    let finding = Finding::problem(Id::ContainerHost, what, why);
    stay_inside(facts, companion.port, finding)
}

/// A fix that makes the agent dial loopback in a container, where it does not by itself.
fn stay_inside(facts: &Facts, port: u16, finding: Finding) -> Option<Finding> {
    // One that dials loopback, too, has its fault there.
    let is_led_out = hosts(facts.agent(), facts.environment(), true) == [Host::ContainerHost];
    is_led_out.then(|| finding.fix(run(facts, port)))
}

fn name_refused(facts: &Facts, dial: &Dial) -> Option<Finding> {
    let name = facts
        .at(dial.port)
        .map_or("the companion", Companion::display_name);
    let what = format!(
        "{} dials {}, a host name that {name} on port {} does not accept",
        facts.release, dial.host, dial.port
    );
    let why = "such a companion accepts only 127.0.0.1; in a container, the agent assumes that its editor is outside unless a variable says otherwise";
    let finding = Finding::problem(Id::ContainerHost, what, why);
    stay_inside(facts, dial.port, finding)
}

fn source(facts: &Facts, dial: &Dial) -> String {
    match &dial.source {
        Source::File(path) => path.display().to_string(),
        Source::Variable(name) => facts.setup.variables.shown(name),
    }
}

/// Takes away what led the agent there.
fn forget(facts: &Facts, dial: &Dial) -> String {
    match &dial.source {
        Source::Variable(name) => shell::unset(facts, name),
        Source::File(path) => {
            let looked_at = files::looked_at(facts);
            let files = facts.files_of(dial.port);
            let files = files.filter(|file| looked_at.contains(file.path.as_path()));
            let mut files: Vec<_> = files.map(|file| file.path.clone()).collect();
            if !files.contains(path) {
                files.push(path.clone());
            }
            files::remove_all(&files, std::iter::once(dial.port))
        }
    }
}
