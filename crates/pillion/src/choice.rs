//! Chooses the companion that is meant: by its port, or for a folder or file the terminal's own editor, then the
//! deepest workspace root, then the one that was used last.
//!
//! Among equals, one that responds is taken. Every command chooses through this, from what `pillion_discovery`
//! lists; which one an agent picks by itself is `pillion_agent::find`'s to say.

mod rules;
mod selector;

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::path::PathBuf;

use pillion_discovery::survey::Companion;
use pillion_discovery::{CompanionState, Environment, obstacle, state, survey, unended};
use pillion_protocol::Dialect;
use pillion_system::process;

use self::rules::Claim;
use self::selector::Selector;
use crate::args::Target;
use crate::failure::{Failure, Kind};
use crate::silent_disk;

const HINT: &str = "Start `pillion`, `pillion serve` or an editor with the plugin in that folder, or \
                    name one with --workspace or --port.";

/// The advice about one that does not answer.
pub const SUSPENDED: &str = "Was it suspended with Ctrl-Z? `fg` in its terminal resumes it.";

const PORT_HINT: &str = "`pillion list` shows the running companions and their ports; without --port, the one of this folder is used.";

/// The purpose that a companion is needed for.
#[derive(Debug, Clone, Copy)]
pub enum Need {
    /// Something that every companion can do.
    Any,
    /// Something that this agent can do with one that it finds.
    Agent(Dialect),
    /// Something that only Pillion's own can do, for those that are allowed to.
    Control,
}

impl Need {
    fn is_met_by(self, companion: &Companion) -> bool {
        match self {
            Self::Any => true,
            Self::Agent(agent) => companion.files.iter().any(|file| file.is_for(agent)),
            Self::Control => companion.state.is_some(),
        }
    }

    /// Why a companion that is meant cannot be taken.
    fn unmet(self, companion: &Companion, environment: &Environment) -> Failure {
        let (name, port) = (companion.display_name(), companion.port);
        let failure = |message: String| Failure::new(Kind::NoCompanion, message);
        match self {
            Self::Agent(agent) => {
                let message = format!("{name} (port {port}) left no discovery file for {agent}");
                failure(message).hint(format!("That companion does not serve {agent}. {HINT}"))
            }
            Self::Any | Self::Control if companion.is_silent => {
                failure(does_not_answer(companion)).hint(SUSPENDED)
            }
            Self::Any | Self::Control if companion.is_pillion() => {
                if let Some(obstacle) = obstacle(environment) {
                    let message = format!("{name} (port {port}) cannot be reached: {obstacle}");
                    return failure(message).hint(obstacle.hint());
                }
                let [private, shared] = if cfg!(windows) {
                    ["LOCALAPPDATA", "TEMP"]
                } else {
                    ["XDG_RUNTIME_DIR", "TMPDIR"]
                };
                failure(format!(
                    "the socket of {name} (port {port}) is not found"
                ))
                .hint(format!(
                    "Run this with the {private} and {shared} that the companion was started with; if another version of Pillion started it, restart it."
                ))
            }
            Self::Any | Self::Control => failure(format!(
                "the companion of {name} (port {port}) is not Pillion's"
            ))
            .hint(format!(
                "This command works only with Pillion's own companions. {HINT}"
            )),
        }
    }
}

/// The companions that run.
#[derive(Debug)]
pub struct Running<'a> {
    environment: &'a Environment,
    companions: Vec<Companion>,
    /// The processes that this one descends from, the nearest first, once they matter.
    ancestors: OnceCell<Vec<u32>>,
}

/// The companion of Pillion's that `target` means. Discovery files are read only if none does, to say why.
///
/// # Errors
/// [`Kind::NoCompanion`] when there is none.
pub fn of_pillion(environment: &Environment, target: &Target) -> anyhow::Result<Companion> {
    let answering = Running::answering(environment).choose(Need::Control, target);
    answering.or_else(|_| Running::look(environment).choose(Need::Control, target))
}

/// The workspace roots of a companion that `target` may mean and that has not ended by itself, whether or not it can be reached.
pub fn unended(environment: &Environment, target: &Target) -> Option<Vec<PathBuf>> {
    let selector = Selector::new(target, environment).ok()?;
    match selector {
        Selector::Port(port) => unended::roots_on(environment, port),
        Selector::Place { .. } => {
            let mut places = selector.places().into_iter();
            places.find_map(|place| unended::roots_around(environment, place))
        }
    }
}

fn does_not_answer(companion: &Companion) -> String {
    let (name, port) = (companion.display_name(), companion.port);
    format!("the companion of {name} (port {port}) does not answer")
}

impl<'a> Running<'a> {
    /// Those that live now.
    pub fn look(environment: &'a Environment) -> Self {
        let _watch = silent_disk::Watch::start(environment);
        let found = survey(environment);
        silent_disk::warn(&found.silent);
        Self::among(found.companions, environment)
    }

    /// Those of Pillion's that answer. No discovery file is read.
    pub fn answering(environment: &'a Environment) -> Self {
        let _watch = silent_disk::Watch::start(environment);
        let states = state::list(environment).into_iter();
        Self::among(states.map(Companion::by_state).collect(), environment)
    }

    /// Those of these that live.
    pub fn among(mut companions: Vec<Companion>, environment: &'a Environment) -> Self {
        companions.retain(Companion::is_alive);
        Self {
            environment,
            companions,
            ancestors: OnceCell::new(),
        }
    }

    /// Closes the connections on which they were found, but for that of this one.
    pub fn hang_up_but(&self, found: &Companion) {
        let kept = found.state.as_ref().and_then(|it| it.address.as_ref());
        for state in self.states().filter(|it| it.address.as_ref() != kept) {
            drop(state.open.take());
        }
    }

    pub fn is_empty(&self) -> bool {
        self.companions.is_empty()
    }

    /// The states that those of Pillion's report of themselves.
    pub fn states(&self) -> impl Iterator<Item = &CompanionState> {
        self.companions.iter().filter_map(|it| it.state.as_ref())
    }

    /// The one that `target` means, of those that can do what is needed.
    ///
    /// # Errors
    /// [`Kind::NoCompanion`] when there is none.
    pub fn choose(&self, need: Need, target: &Target) -> anyhow::Result<Companion> {
        let _watch = silent_disk::Watch::start(self.environment);
        let selector = Selector::new(target, self.environment)?;
        let all: Vec<_> = self.companions.iter().collect();
        let mut able = all.clone();
        able.retain(|companion| need.is_met_by(companion));
        let found = self.meant(need, &able, &selector);
        let other = found.or_else(|| self.meant(need, &all, &selector));
        if let Some(missed) = other.and_then(|it| self.missed(need, &selector, it)) {
            return Err(missed.into());
        }
        if let Some(companion) = found.cloned() {
            return Ok(match need {
                Need::Agent(agent) => companion.read(agent),
                Need::Any | Need::Control => companion,
            });
        }
        if let Some(other) = other {
            return Err(need.unmet(other, self.environment).into());
        }
        let (what, running) = match need {
            Need::Control => ("Pillion companion", &able),
            Need::Any | Need::Agent(_) => ("companion", &all),
        };
        let missing = selector.missing(what, running);
        let hint = match selector {
            Selector::Port(_) => PORT_HINT,
            Selector::Place { .. } => HINT,
        };
        Err(Failure::new(Kind::NoCompanion, missing).hint(hint).into())
    }

    /// The one that an agent may find here by itself, whatever is chosen.
    pub fn found_by(&self, agent: Dialect, target: &Target) -> Option<&Companion> {
        let selector = Selector::new(target, self.environment).ok()?;
        let able = { self.companions.iter() }.filter(|it| Need::Agent(agent).is_met_by(it));
        let found = self.pick(&able.collect::<Vec<_>>(), &selector)?;
        (!found.is_silent).then_some(found)
    }

    /// Commands are for Pillion's own, also where another one has the better claim.
    fn meant<'b>(
        &self,
        need: Need,
        among: &[&'b Companion],
        selector: &Selector,
    ) -> Option<&'b Companion> {
        let own: Vec<_> = { among.iter().copied() }
            .filter(|it| it.is_pillion())
            .collect();
        let own = match need {
            Need::Agent(_) => None,
            Need::Any | Need::Control => self.pick(&own, selector),
        };
        own.or_else(|| self.pick(among, selector))
    }

    /// That Pillion's own companion is expected and does not answer, so that this one is no other for it, and an agent gets it only
    /// if the person names it: whoever stopped that one may have put this one there.
    fn missed(&self, need: Need, selector: &Selector, instead: &Companion) -> Option<Failure> {
        let is_for_agent = matches!(need, Need::Agent(_));
        if instead.state.is_some() || (instead.is_pillion() && !is_for_agent) {
            return None;
        }
        let answers = |it: &Companion, place| it.state.is_some() && it.depth(place).is_some();
        let expected = |place| {
            let roots = unended::roots_around(self.environment, place)?;
            let is_answered = self.companions.iter().any(|it| answers(it, place));
            (!is_answered).then_some((place, roots))
        };
        let (place, roots) = selector.places().into_iter().find_map(expected)?;
        let is_silent = |it: &&Companion| it.is_silent && it.depth(place).is_some();
        let mut message = match self.companions.iter().find(is_silent) {
            Some(silent) => does_not_answer(silent),
            None => {
                let roots: Vec<_> = roots.iter().map(|it| it.display().to_string()).collect();
                let roots = roots.join(", ");
                format!("the companion of Pillion for {roots} was killed, or is not there yet")
            }
        };
        if is_for_agent && !instead.is_silent && need.is_met_by(instead) {
            let (other, port) = (instead.display_name(), instead.port);
            message += &format!("; {other} takes its place only with --port {port}");
        }
        Some(Failure::new(Kind::NoCompanion, message).hint(SUSPENDED))
    }

    fn pick<'b>(&self, candidates: &[&'b Companion], selector: &Selector) -> Option<&'b Companion> {
        if let Selector::Port(port) = selector {
            let mut named = candidates.iter().filter(|it| it.port == *port);
            return named.next().copied();
        }
        for place in selector.places() {
            // An agent refuses a companion of another folder, its terminal's own editor, too.
            let here = |it: &&&'b Companion| it.depth(place).is_some();
            let here: Vec<_> = candidates.iter().filter(here).copied().collect();
            if let [only] = here[..] {
                return Some(only);
            }
            let claim = |companion: &'b Companion| {
                let ancestors = || process::ancestors(std::process::id());
                let ancestors = self.ancestors.get_or_init(ancestors);
                let generations = rules::generations(companion, ancestors);
                let claim = Claim {
                    generations: Reverse(generations.unwrap_or(usize::MAX)),
                    is_named: rules::is_named(companion, self.environment),
                    depth: companion.depth(place)?,
                };
                Some((claim, companion))
            };
            let equals = rules::foremost(here.into_iter().filter_map(claim).collect());
            if let Some(latest) = rules::latest(equals) {
                return Some(latest);
            }
        }
        None
    }
}
