//! Discovery files that lead nowhere.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pillion_agent::find::Verdict;
use pillion_discovery::survey::{Companion, Liveness};

use super::super::facts::Facts;
use super::super::facts::dial::Outcome;
use super::super::finding::{Finding, Id};
use super::agent::start;
use super::shell;

/// Files whose companion is gone (C6.2).
pub fn check(facts: &Facts, findings: &mut Vec<Finding>) {
    let dead = facts
        .survey
        .companions
        .iter()
        .filter(|companion| is_surely_dead(facts, companion));
    let dead: Vec<_> = dead.collect();
    let files = dead.iter().flat_map(|companion| &companion.files);
    let looked_at = looked_at(facts);
    let files: Vec<PathBuf> = files
        .map(|file| file.path.clone())
        .filter(|path| looked_at.contains(path.as_path()))
        .collect();
    if files.is_empty() {
        return;
    }
    let is_dialled = facts.dialled.iter().any(|dialled| {
        let is_dead = facts.at(dialled.dial.port).is_none();
        is_dead && dialled.outcome == Outcome::Unreachable
    });
    let blocks = !facts.is_connected() && is_dialled;
    let what = if blocks {
        format!(
            "{} picks a companion that is gone, from {}",
            facts.release,
            list(&files)
        )
    } else {
        format!("a companion that is gone left {}", list(&files))
    };
    let why = "its editor was killed and could not clean up; an agent that picks such a file connects to nothing";
    // A port that a living companion has by now is in the names of that one's files, too.
    let ports = dead.iter().map(|companion| companion.port);
    let remove = remove_all(&files, ports.filter(|port| facts.at(*port).is_none()));
    let fix = match facts.living().next() {
        Some(_) => remove,
        // One that starts removes the files of Pillion's dead ones.
        None if dead.iter().all(|companion| companion.is_pillion()) => start(facts),
        None => format!("{remove} && {}", start(facts)),
    };
    findings.push(Finding::blocking(blocks, Id::DeadCompanion, what, why).fix(fix));
}

/// Returns true if it cannot live in a container of its own either.
fn is_surely_dead(facts: &Facts, companion: &Companion) -> bool {
    let is_out_of_reach = companion.liveness == Liveness::OutOfReach;
    !companion.is_alive() && !is_out_of_reach && !facts.doubtful.contains(&companion.port)
}

/// The files that this release looks at.
pub fn looked_at(facts: &Facts) -> BTreeSet<&Path> {
    let candidates = facts.search.candidates.iter();
    let read = candidates.filter(|candidate| candidate.verdict != Verdict::NotLookedAt);
    read.map(|candidate| candidate.path.as_path()).collect()
}

/// A companion leaves a file for each ancestor of its editor: a pattern for those of one port.
pub fn remove_all(files: &[PathBuf], ports: impl Iterator<Item = u16>) -> String {
    let mut words: Vec<String> = Vec::new();
    let ports: Vec<_> = ports.map(|port| format!("-{port}.json")).collect();
    for file in files {
        let name = file
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let ending = ports.iter().find(|ending| name.ends_with(ending.as_str()));
        let pattern = ending.and_then(|ending| {
            let folder = shell::path(file.parent()?);
            let prefix = name
                .strip_suffix(ending.as_str())?
                .trim_end_matches(|c: char| c.is_ascii_digit());
            let is_shared = prefix.ends_with('-');
            is_shared.then(|| format!("{folder}/{prefix}*{ending}"))
        });
        let word = pattern.unwrap_or_else(|| shell::path(file));
        if !words.contains(&word) {
            words.push(word);
        }
    }
    format!("rm -f -- {}", words.join(" "))
}

/// A list for a sentence: the first, and how many more.
fn list(files: &[PathBuf]) -> String {
    match files {
        [] => String::new(),
        [one] => one.display().to_string(),
        [first, more @ ..] => format!("{} and {} more", first.display(), more.len()),
    }
}
