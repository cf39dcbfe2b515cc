//! Discovery files that are in the way, or that lead nowhere.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pillion_agent::find::{Candidate, Verdict};
use pillion_discovery::FileError;
use pillion_discovery::survey::{Companion, Liveness};
use pillion_protocol::dialect::Base;

use super::super::facts::Facts;
use super::super::facts::dial::Outcome;
use super::super::finding::{Finding, Id};
use super::agent::start;
use super::companion::{is_agents, is_other_users};
use super::shell;

/// The user id of the administrator, as whom people start an editor by mistake.
const ROOT: u32 = 0;

pub fn check(facts: &Facts, findings: &mut Vec<Finding>) {
    dead(facts, findings);
    foreign(facts, findings);
    unread(facts, findings);
    malformed(facts, findings);
    if !facts.disk.readable.is_empty() {
        let files = &facts.disk.readable;
        let what = format!("other users can read {}", list(files));
        let why = "anyone who reads the token in it can see what you are working on and propose changes to you";
        let fix = shell::on_files("chmod 600 --", files);
        findings.push(Finding::warning(Id::FileOpen, what, why).fix(fix));
    }
}

/// Files whose companion is gone (C6.2).
fn dead(facts: &Facts, findings: &mut Vec<Finding>) {
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

/// Files and folders of others. Where the agent connects that is as it should be: the machine has many
/// users.
fn foreign(facts: &Facts, findings: &mut Vec<Finding>) {
    let errors = facts.survey.unread.iter();
    let own = errors.filter(|error| is_agents(facts, error.path()));
    let owned = own.filter_map(|error| match error {
        FileError::Foreign { path, uid } => Some((path.clone(), *uid)),
        _ => None,
    });
    let owned: Vec<(PathBuf, u32)> = owned.collect();
    let (Some((first, uid)), false) = (owned.first(), facts.is_connected()) else {
        return;
    };
    let paths: Vec<_> = owned.iter().map(|(path, _)| path.clone()).collect();
    let what = format!("{} belongs to another user (id {uid})", list(&paths));
    let why = "agents connect only to companions of their own user: run editor and agent as the same user, or start a companion of your own, with a folder of its own for such files";
    let finding = Finding::blocking(is_other_users(facts), Id::OtherUser, what, why);
    findings.push(finding.fix(other_users(facts, first, *uid)));
}

/// Files and folders that the agent, or Pillion, cannot read.
fn unread(facts: &Facts, findings: &mut Vec<Finding>) {
    let errors = facts.survey.unread.iter();
    for error in errors.filter(|error| is_agents(facts, error.path())) {
        if matches!(error, FileError::Foreign { .. }) {
            continue;
        }
        let path = error.path();
        let what = format!("{error}, so it is not used");
        let why = format!("{} learns from it where its companion is", facts.agent());
        // Without the folder a companion has no place for its file.
        let is_needed = is_folder(facts, path) && facts.living().next().is_none();
        let blocks = !facts.is_connected() && is_needed;
        let finding = Finding::blocking(blocks, Id::Unreadable, what, why);
        findings.push(finding.fix(repair(error)));
    }
    for candidate in &facts.search.candidates {
        let known = facts
            .survey
            .unread
            .iter()
            .any(|error| error.path() == candidate.path);
        if let (Verdict::Unreadable(kind), false) = (&candidate.verdict, known) {
            let what = format!("cannot read {}: {kind}", candidate.path.display());
            let why = "the agent learns from it where its companion is";
            let fix = shell::on_files("chmod u+r --", &[&candidate.path]);
            findings.push(Finding::warning(Id::Unreadable, what, why).fix(fix));
        }
    }
}

/// Returns true if discovery files of this agent lie at or below the path.
fn is_folder(facts: &Facts, path: &Path) -> bool {
    let mut places = facts.agent().discovery().places().iter();
    places.any(|place| facts.environment().directory(place).starts_with(path))
}

/// A folder of another user's keeps our companions' files out; a file does not. That user may need it.
fn other_users(facts: &Facts, path: &Path, uid: u32) -> String {
    if !is_folder(facts, path) {
        return start(facts);
    }
    let is_temporary = path.starts_with(facts.environment().base(Base::TmpDir));
    if is_temporary && uid != ROOT {
        "mkdir -p ~/.cache/tmp && export TMPDIR=~/.cache/tmp".to_owned()
    } else {
        format!("sudo chown -R \"$(id -u)\" -- {}", shell::path(path))
    }
}

fn repair(error: &FileError) -> String {
    let path = error.path();
    match error {
        FileError::Io { .. } => shell::on_files("chmod u+rwX --", &[path]),
        FileError::NotAFile(_) => shell::on_files("rm -r --", &[path]),
        _ => shell::remove(path),
    }
}

fn malformed(facts: &Facts, findings: &mut Vec<Finding>) {
    let is_bad = |candidate: &&Candidate| {
        matches!(candidate.verdict, Verdict::Malformed | Verdict::NoWorkspace)
    };
    let seen = facts.search.candidates.iter().filter(is_bad);
    let mut files: Vec<PathBuf> = seen.map(|candidate| candidate.path.clone()).collect();
    for path in facts
        .survey
        .malformed
        .iter()
        .filter(|path| is_agents(facts, path))
    {
        if !files.contains(path) {
            files.push(path.clone());
        }
    }
    // A link is not judged here: that it is one has been reported.
    files.retain(|path| !facts.survey.unread.iter().any(|error| error.path() == path));
    for path in files {
        let what = format!("{} is not a valid discovery file", path.display());
        let why = "an agent cannot use a file that is not as the format has it (C2.4)";
        let fix = shell::remove(&path);
        findings.push(Finding::warning(Id::Malformed, what, why).fix(fix));
    }
}

/// A list for a sentence: the first, and how many more.
pub fn list(files: &[PathBuf]) -> String {
    match files {
        [] => String::new(),
        [one] => one.display().to_string(),
        [first, more @ ..] => format!("{} and {} more", first.display(), more.len()),
    }
}
