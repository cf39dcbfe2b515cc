//! The companion that the agent takes, and why none, or not another.

use pillion_agent::find::{Candidate, Preference, Verdict};
use pillion_discovery::survey::Companion;
use pillion_discovery::version::{self, VERSION};

use super::super::facts::disk::Closed;
use super::super::facts::{Facts, is_for};
use super::super::finding::{Finding, Id};
use super::agent::{run, start};
use super::{claude, explains_absence, folders, shell};

pub fn check(facts: &Facts, findings: &mut Vec<Finding>) {
    // A companion that is running but does not respond is reported by the next step.
    let mut dialled = facts.search.dials.iter();
    if !facts.is_connected() && !dialled.any(|dial| facts.listens(dial)) {
        let explained = findings.iter().any(|it| explains_absence(facts, it));
        findings.extend(nothing_found(facts, explained));
    }
    several(facts, findings);
    hub_version(facts, findings);
    variable(facts, findings);
}

/// Why the agent dials no companion: the one reason that has to go first.
fn nothing_found(facts: &Facts, explained: bool) -> Vec<Finding> {
    if let Some(finding) = claude::not_taken(facts) {
        return vec![finding];
    }
    if let Some(finding) = below_root(facts) {
        return vec![finding];
    }
    let fitting: Vec<_> = facts.fitting().collect();
    let mut looked_at = fitting
        .iter()
        .filter(|companion| facts.looks_at(companion.port));
    let mut found = Vec::new();
    if let Some(companion) = looked_at.next().filter(|_| !explained) {
        found.push(not_taken(facts, companion));
    } else if let Some(companion) = fitting.first() {
        found.extend((!explained).then(|| not_taken(facts, companion)));
    } else if let Some(companion) = without_file(facts).filter(|_| !explained) {
        found.push(no_file(facts, companion));
    } else if facts.living().next().is_some() {
        found.push(wrong_folder(facts, explained));
    } else if !explained {
        found.push(no_companion(facts));
    }
    found
}

/// The companion that serves this folder, for an agent that connects by itself in its root only.
fn below_root(facts: &Facts) -> Option<Finding> {
    let agent = facts.agent();
    let companion = facts.fitting().find(|_| agent.connects_in_roots_only())?;
    let above =
        |root: &&std::path::PathBuf| facts.folder.starts_with(root) && **root != facts.folder;
    let root = companion.roots.iter().find(above)?;
    let (name, editor) = (agent.display_name(), companion.display_name());
    let what = format!(
        "{editor} serves {}, and {name} connects on its own only in that folder, not below it",
        root.display()
    );
    let why = "`/ide` in the agent lists all companions, and connects to the one that you choose";
    let fix = format!("cd -- {}", shell::path(root));
    Some(Finding::problem(Id::WrongFolder, what, why).fix(fix))
}

/// A companion that serves this folder, and that the agent cannot find anywhere.
fn without_file(facts: &Facts) -> Option<&Companion> {
    let mut companions = facts.survey.companions.iter();
    companions.find(|companion| {
        let serves = companion.is_alive() && companion.depth(&facts.folder).is_some();
        serves && !is_for(companion, facts.agent())
    })
}

fn no_file(facts: &Facts, companion: &Companion) -> Finding {
    let name = facts.agent().display_name();
    let what = format!(
        "{} on port {} serves this folder, but left no discovery file for {name}",
        companion.display_name(),
        companion.port
    );
    let finding = |why: String| Finding::problem(Id::NoFile, &what, why);
    if !companion.is_pillion() {
        let why = format!("that companion does not serve {name}: start one of Pillion's");
        return finding(why).fix(start(facts));
    }
    let Some((folder, closed)) = facts.disk.closed.first() else {
        let why = "it was started with another HOME, or could not write the file then; it tries again every ten seconds: start the editor from this terminal, or a review here";
        return finding(why.to_owned()).fix(start(facts));
    };
    let moved = match facts.environment().variable_of(folder) {
        Some(variable) => format!(", or set {variable} to another folder for editor and agent"),
        None => String::new(),
    };
    let remedy = match closed {
        Closed::Full => "free some space there",
        Closed::ReadOnly | Closed::Forbidden => "make it writable",
    };
    finding(format!(
        "{} {closed}: {remedy}{moved}; the companion tries again every ten seconds",
        folder.display()
    ))
}

/// A companion serves this folder, and the agent does not take it.
fn not_taken(facts: &Facts, companion: &Companion) -> Finding {
    let (release, port) = (facts.release, companion.port);
    let own = |candidate: &&Candidate| candidate.port == Some(port);
    let candidates: Vec<_> = facts.search.candidates.iter().filter(own).collect();
    let is_chosen = candidates
        .iter()
        .any(|candidate| candidate.verdict.is_chosen());
    let refusal = facts.search.refusal.as_ref();
    let name = companion.display_name();
    let mut verdicts = candidates.iter().map(|candidate| &candidate.verdict);
    let reason = match (verdicts.next(), refusal) {
        (Some(Verdict::SecondChoice(why)), _) if !is_chosen => why.to_string(),
        (Some(verdict), _) if !is_chosen => format!("its discovery file {verdict}"),
        (_, Some(refusal)) => refusal.to_string(),
        _ => "it looks elsewhere".to_owned(),
    };
    let what = format!("{release} does not accept {name} on port {port}: {reason}");
    let why = "without a discovery file that it accepts, it does not try to connect";
    Finding::problem(Id::NotTaken, what, why).fix(run(facts, port))
}

fn wrong_folder(facts: &Facts, explained: bool) -> Finding {
    let shown = facts.folder.display();
    let roots = facts.living().flat_map(|companion| {
        let name = companion.display_name();
        companion.roots.iter().map(move |root| (name, root))
    });
    let nearest = roots.max_by_key(|(_, root)| folders::shared(root, &facts.folder));
    let (agent, which) = (
        facts.agent(),
        match facts.agent().connects_in_roots_only() {
            true => {
                "in a folder that the editor has open, unless you choose a companion with `/ide`"
            }
            false => "in or below a folder that the editor has open (C2.5)",
        },
    );
    let why = format!(
        "{} connects only {which}; to serve this folder, run `pillion` here",
        agent.display_name()
    );
    match nearest {
        Some((name, root)) => {
            let what = format!(
                "no companion serves {shown}; {name} serves {}",
                root.display()
            );
            let fix = format!("cd -- {}", shell::path(root));
            Finding::blocking(!explained, Id::WrongFolder, what, why).fix(fix)
        }
        None => {
            let what = format!("no companion serves {shown}: the editor has no folder open");
            Finding::blocking(!explained, Id::WrongFolder, what, why).fix(start(facts))
        }
    }
}

fn no_companion(facts: &Facts) -> Finding {
    let what = format!(
        "no companion is running for {}",
        facts.agent().display_name()
    );
    let why = "there is no editor to connect to: start one with its plugin, or start Pillion's own review in another terminal";
    Finding::problem(Id::NoCompanion, what, why).fix(start(facts))
}

/// Two that the agent could take, and nothing of the user's that says which.
fn several(facts: &Facts, findings: &mut Vec<Finding>) {
    let chosen = facts.search.chosen().and_then(|chosen| chosen.port);
    let Some(chosen) = chosen.filter(|port| facts.at(*port).is_some()) else {
        return;
    };
    let variable = facts.agent().port_variable();
    let named = variable.and_then(|name| facts.environment().filled(name));
    if named.is_some_and(|named| named.to_string_lossy() == chosen.to_string()) {
        return;
    }
    let mut others: Vec<(u16, Preference)> = Vec::new();
    for candidate in &facts.search.candidates {
        let preference = match candidate.verdict {
            // The user's own word, or the agent's own editor: that choice is not an accident.
            Verdict::SecondChoice(Preference::PortVariable(_) | Preference::OwnProcess) => continue,
            Verdict::SecondChoice(preference) => preference,
            Verdict::Fallback => Preference::Newer,
            _ => continue,
        };
        let Some(port) = candidate.port.filter(|port| *port != chosen) else {
            continue;
        };
        let is_new = !others.iter().any(|(other, _)| *other == port);
        let mut fitting = facts.fitting();
        if is_new && fitting.any(|companion| companion.port == port) {
            others.push((port, preference));
        }
    }
    for (port, preference) in others {
        let name = |port| facts.at(port).map_or("an editor", Companion::display_name);
        let what = format!(
            "two companions serve this folder: the agent picks {} on port {chosen}, not {} on port {port} ({preference})",
            name(chosen),
            name(port),
        );
        let why = "nothing says which one you mean, so the agent's choice can change with each start; the command picks the other one";
        let fix = run(facts, port);
        findings.push(Finding::warning(Id::SeveralCompanions, what, why).fix(fix));
    }
}

/// An update that has not reached the process that hosts the companions of this folder.
pub fn hub_version(facts: &Facts, findings: &mut Vec<Finding>) {
    let serving = facts.fitting().chain(facts.companion());
    let states = serving.filter_map(|it| it.state.as_ref());
    let mut versions = states.map(|state| state.version.as_str());
    if let Some(mismatch) = versions.find_map(|hub| version::of_hub(hub, VERSION)) {
        findings.push(Finding::warning(
            Id::HubVersion,
            mismatch.what,
            mismatch.advice,
        ));
    }
}

/// The port variable, where it leads nowhere.
fn variable(facts: &Facts, findings: &mut Vec<Finding>) {
    let Some(variable) = facts.agent().port_variable() else {
        return;
    };
    let Some(value) = facts.environment().filled(variable) else {
        return;
    };
    let value = value.to_string_lossy();
    let companion = value.parse().ok().and_then(|port| facts.at(port));
    let reached = facts
        .dialled
        .iter()
        .any(|dialled| dialled.outcome.is_connected() && dialled.dial.port.to_string() == *value);
    let shown = facts.setup.variables.shown(variable);
    let what = match companion {
        _ if reached => return,
        None => format!("{shown} is {value}, but no companion is on that port"),
        Some(companion) if !is_for(companion, facts.agent()) => return,
        Some(companion) if companion.depth(&facts.folder).is_none() => format!(
            "{shown} is {value}, but {} on that port serves {}",
            companion.display_name(),
            companion.shown_roots().join(", "),
        ),
        Some(_) => return,
    };
    let why = if facts.setup.variables.origin(variable).is_some() {
        "a companion gets a new port at every start, so a fixed value goes stale"
    } else {
        "the terminal is older than the running editor, or was opened for another folder"
    };
    let blocks = !facts.is_connected() && facts.fitting().next().is_some();
    let fix = shell::unset(facts, variable);
    findings.push(Finding::blocking(blocks, Id::StaleVariable, what, why).fix(fix));
}
