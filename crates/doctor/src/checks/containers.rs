//! Companions of other containers: their files are here, but not their processes, or not their ports. One that may live
//! is never to be removed.

use std::path::PathBuf;

use pillion_agent::find::{Stale, Verdict};
use pillion_discovery::survey::{Companion, Liveness};
use pillion_protocol::Dialect;

use super::super::facts::{Facts, is_for};
use super::super::finding::{Finding, Id};
use super::agent::start;
use super::files::list;

pub fn check(facts: &Facts, findings: &mut Vec<Finding>) {
    let companions = facts.survey.companions.iter();
    let own = companions.filter(|companion| {
        is_for(companion, facts.agent()) && companion.depth(&facts.folder).is_some()
    });
    for companion in own {
        let name = companion.display_name();
        let port = companion.port;
        if companion.liveness == Liveness::OutOfReach {
            findings.push(out_of_reach(facts, companion));
        } else if !companion.is_alive() && facts.doubtful.contains(&port) {
            findings.push(in_doubt(facts, companion));
        } else if companion.is_alive() && !companion.visibility().processes {
            let what = format!(
                "{name} on port {port} runs in another container, whose processes are not seen here"
            );
            findings.extend(unseen(facts, port, what));
        }
    }
}

fn out_of_reach(facts: &Facts, companion: &Companion) -> Finding {
    let what = format!(
        "{} on port {} belongs to another container or machine, whose network is not this one's; its files are here: {}",
        companion.display_name(),
        companion.port,
        list(&files(companion)),
    );
    let why = "agents reach a companion over loopback only: run both in one container, or let the container share the network (`--network host`); or start a review here; do not remove the files of a companion that may be running";
    Finding::blocking(!facts.is_connected(), Id::OtherContainer, what, why).fix(start(facts))
}

/// One whose files do not say where it runs.
fn in_doubt(facts: &Facts, companion: &Companion) -> Finding {
    let is_answered = companion.liveness == Liveness::ProcessGone;
    let seen = if is_answered {
        "its process is not seen here"
    } else {
        "nothing listens on its port here"
    };
    let what = format!(
        "the companion of {} is gone, or runs in another container: {seen}",
        list(&files(companion)),
    );
    let why = "if it runs, do not remove that file: share processes and network with its container (`--pid host --network host`), or run both in one; or start a review here";
    Finding::blocking(!facts.is_connected(), Id::OtherContainer, what, why).fix(start(facts))
}

/// The finding about one that the agent reaches, and whose process it does not see.
fn unseen(facts: &Facts, port: u16, what: String) -> Option<Finding> {
    let mut candidates = facts.search.candidates.iter();
    let is_stale = candidates.any(|candidate| {
        candidate.port == Some(port) && candidate.verdict == Verdict::Stale(Stale::ProcessGone)
    });
    match facts.agent() {
        Dialect::ClaudeCode if facts.is_connected() => {
            let why = "when it starts, Claude Code deletes the lock file, and connects once the companion has put it back: that takes up to ten seconds";
            Some(Finding::note(Id::OtherContainer, what, why))
        }
        _ if is_stale => {
            let why = format!(
                "{} deletes the lock file of a process that it does not see: start the container with `--pid host`, or run both in one container; or start a review here",
                facts.release
            );
            let finding = Finding::blocking(!facts.is_connected(), Id::OtherContainer, what, why);
            Some(finding.fix(start(facts)))
        }
        _ => None,
    }
}

fn files(companion: &Companion) -> Vec<PathBuf> {
    let files = companion.files.iter();
    files.map(|file| file.path.clone()).collect()
}
