//! The places where other programs of this user keep their temporary files and settings: an editor that was started with
//! another TMPDIR, HOME, CLAUDE_CONFIG_DIR or COPILOT_HOME than this terminal leaves its discovery files where no agent here
//! looks.

use std::path::PathBuf;
use std::time::Duration;

use pillion_discovery::survey::{self, Companion, FoundFile};
use pillion_discovery::{Environment, is_same};
use pillion_protocol::dialect::Base;
use pillion_system::{lineage, process, time_limit};

/// Another place where agents of other terminals would look.
#[derive(Debug, Clone)]
pub struct Elsewhere {
    /// The directory in place of the one where this agent finds its files.
    pub value: PathBuf,
    pub companions: Vec<Companion>,
}

/// The time limit for looking into such a place: another program's home may be on a disk that never answers.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// Programs that start companions, or are some, by the beginning of their names.
const NAMES: &str = "pillion nvim vim gvim emacs code codium cursor windsurf antigravity positron hx helix kak \
                     kate zed sublime idea pycharm webstorm goland clion rider rubymine phpstorm rustrover \
                     java node electron";

/// True if this system lets one see other processes' variables.
pub const CAN_SEE: bool = cfg!(target_os = "linux");

/// Looks at the variables of this user's editors and companions and of the `terminal`, and into the places that those name
/// for this directory and the agent's own variables do not.
pub fn look(environment: &Environment, terminal: &Environment, base: Base) -> Vec<Elsewhere> {
    let looks = places(terminal, base).into_iter().map(|value| {
        let here = environment.clone();
        move || (!is_same(&here.base(base), &value)).then(|| there(here, base, value))
    });
    let found = time_limit::run_all(ANSWER_TIMEOUT, looks);
    let found = found.into_iter().flatten().flatten();
    found.filter(|it| !it.companions.is_empty()).collect()
}

/// Looks into such a place.
fn there(here: Environment, base: Base, value: PathBuf) -> Elsewhere {
    let there = here.with(
        Environment::variable(base).unwrap_or_default(),
        Some(&value),
    );
    let mut companions = survey::survey_in(&there, |place| place.base == base, true).companions;
    // One directory may lie below the other.
    let is_there = |file: &FoundFile| {
        let mut places = file.dialect.places().iter();
        places.any(|place| file.path.parent() == Some(&there.directory(place)))
    };
    companions.retain(|companion| companion.files.iter().any(is_there) && companion.is_alive());
    Elsewhere { value, companions }
}

/// The places that other programs name, each once.
fn places(terminal: &Environment, base: Base) -> Vec<PathBuf> {
    let others = environments();
    let named = std::iter::once(terminal).chain(&others);
    let named = named.map(|other| other.base(base));
    // Where most programs without a TMPDIR put their files.
    let usual = (cfg!(unix) && base == Base::TmpDir).then(|| PathBuf::from("/tmp"));
    let mut found: Vec<PathBuf> = named.filter(|it| it.is_absolute()).chain(usual).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The environments of programs that start companions, as far as this user may see them.
fn environments() -> Vec<Environment> {
    let all = CAN_SEE.then(process::all).unwrap_or_default().into_iter();
    let others = all.filter(|pid| *pid != std::process::id());
    others.filter_map(environment).collect()
}

fn environment(pid: u32) -> Option<Environment> {
    let kin = lineage::kin(pid).filter(|kin| kin.uid == Some(process::own_uid()))?;
    let mut known = NAMES.split_whitespace();
    known.find(|known| kin.process.name().starts_with(known))?;
    let pairs = process::variables(pid).into_iter();
    let pairs = pairs.filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    Some(Environment::from_pairs(pairs).with_current_dir(process::folder(pid)?))
}
