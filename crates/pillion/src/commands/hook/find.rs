//! Finds the companion of the agent whose hook this is. It starts none, and waits for none but one that was killed: whoever
//! showed its diffs starts it again.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::Context;
use pillion_discovery::Environment;
use pillion_discovery::survey::Companion;
use pillion_hooks::{Call, Changes};

use crate::args::Target;
use crate::choice::{self, Need, Running};
use crate::failure::{Failure, Kind};

/// The time limit for a companion that was killed, and the interval at which it is looked for.
const COMES_BACK_WITHIN: Duration = Duration::from_secs(5);
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// The time before the hook's own limit in which it says why.
const SAYS_WHY_WITHIN: Duration = Duration::from_millis(200);

/// Why a change is denied whose companion was killed.
const KILLED: &str =
    "the editor or review that would show it was killed: the user has to start it again";

/// Why there is no companion.
#[derive(Debug)]
pub enum Missing {
    /// The hook's own options are wrong, as this says.
    Misled(String),
    /// Somebody is there who could be asked, and does not answer.
    Silent(String),
    /// Somebody is or was there who could be asked, and cannot be reached.
    Unreachable(String),
    /// Nobody is there.
    Nobody(anyhow::Error),
}

/// The places where the companion is looked for that is to show these changes: at each of the files, and at last in the folder
/// in which the agent works.
pub fn targets(changes: &Changes, call: &Call, target: &Target) -> Vec<Target> {
    let files = match changes {
        Changes::Files(changes) => &changes[..],
        _ => &[],
    };
    let about = files
        .iter()
        .map(|change| target.clone().about(Path::new(&change.path)));
    let mut targets: Vec<_> = about.collect();
    if targets.is_empty() {
        targets.push(target.clone());
    }
    if let (Some(folder), None, None) = (&call.folder, &target.workspace, target.port) {
        targets.push(Target {
            workspace: Some(folder.clone()),
            ..target.clone()
        });
    }
    targets
}

/// Returns the companion that the first of these targets means that means one. One that was killed is waited for, but not past
/// the deadline.
///
/// # Errors
/// When there is none.
pub fn companion(targets: &[Target], deadline: Option<Instant>) -> Result<Companion, Missing> {
    let environment = Environment::current();
    let until = Instant::now() + COMES_BACK_WITHIN;
    let last = deadline.map(|it| it.checked_sub(SAYS_WHY_WITHIN).unwrap_or(it));
    let until = last.map_or(until, |last| until.min(last));
    loop {
        // Before the look: it may have come back in between.
        let is_over = Instant::now() >= until;
        let missing = match look(&environment, targets) {
            Err(missing @ (Missing::Nobody(_) | Missing::Unreachable(_))) => missing,
            found => return found,
        };
        if !targets
            .iter()
            .any(|it| choice::is_any_unended(&environment, it))
        {
            return Err(missing);
        }
        if is_over {
            return Err(match missing {
                Missing::Nobody(_) => Missing::Unreachable(KILLED.to_owned()),
                missing => missing,
            });
        }
        sleep(BETWEEN_LOOKS);
    }
}

/// Looks once: at discovery files only if no companion of Pillion's answers.
fn look(environment: &Environment, targets: &[Target]) -> Result<Companion, Missing> {
    let answering = Running::answering(environment);
    let why = match first(&answering, Need::Control, targets) {
        Err(why) if is_gone(&why) => why,
        found => return found.map_err(|why| Missing::Misled(why.to_string())),
    };
    if !answering.is_empty() {
        return Err(Missing::Nobody(why));
    }
    let running = Running::look(environment);
    let why = match first(&running, Need::Control, targets) {
        Err(why) => why,
        found => return found.map_err(Missing::Nobody),
    };
    match first(&running, Need::Any, targets) {
        // As one that is suspended.
        Ok(other) if other.is_silent => Err(Missing::Silent(why.to_string())),
        Ok(other) if other.is_pillion() => Err(Missing::Unreachable(why.to_string())),
        _ => Err(Missing::Nobody(why)),
    }
}

/// The companion that the first of these targets means that means one; none if none does, with what is said of the first.
fn first(running: &Running<'_>, need: Need, targets: &[Target]) -> anyhow::Result<Companion> {
    let mut found = targets.iter().map(|target| running.choose(need, target));
    let first = found.next().context("there is nowhere to look")?;
    first.or_else(|why| found.find_map(Result::ok).ok_or(why))
}

/// Returns true if there is no companion after all.
pub fn is_gone(error: &anyhow::Error) -> bool {
    let failure = error.downcast_ref::<Failure>();
    failure.is_some_and(|failure| failure.kind() == Kind::NoCompanion)
}
