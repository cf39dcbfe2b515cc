//! Scripts that people put before an agent on PATH, under its name, and that run `pillion run` in
//! turn: the agent is the one behind them. Without this they would call themselves forever.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use pillion_agent::find::Release;
use pillion_discovery::{Environment, canonicalize};
use pillion_protocol::Dialect;

use crate::failure::{Failure, Kind};
use pillion_doctor::setup::program::{self, is_bare};

/// Names the programs that `pillion run` has become on the way to the agent. One that comes back here
/// was none.
pub const GUARD: &str = "PILLION_RUN_THROUGH";

/// The program to become.
#[derive(Debug)]
pub struct Chosen {
    pub program: OsString,
    /// The value of [`GUARD`] for it; none for what surely is the agent.
    pub guard: Option<OsString>,
}

impl Chosen {
    /// The release that the program says it is, if no package says it. A wrapper that hides that it runs this
    /// command is noticed here, too.
    pub fn reported_release(&self, agent: Dialect, environment: &Environment) -> Release {
        let guard = self.guard.as_deref().map(|guard| (GUARD, guard));
        let program = &self.program;
        program::reported_release(agent, program, guard.as_slice(), environment)
    }
}

/// The agent's program behind every wrapper. A command that is a path is taken as it is, once.
///
/// # Errors
/// When there is none: nothing but wrappers is on PATH, or the path that is named leads back here.
pub fn look_behind(
    command: &OsStr,
    agent: Dialect,
    environment: &Environment,
) -> Result<Chosen, Failure> {
    let through = environment.filled(GUARD).unwrap_or_default();
    let through: Vec<PathBuf> = std::env::split_paths(through).collect();
    let has_led_here = |path: &Path| real(path).is_some_and(|real| through.contains(&real));
    let is_bare = is_bare(Path::new(command));
    let candidates = if is_bare {
        program::search_path(environment)
            .programs(command)
            .collect()
    } else {
        vec![environment.current_dir().join(command)]
    };
    let Some(first) = candidates.first() else {
        // Starting what is nowhere says what is wrong.
        let alias = program::behind_alias(agent, environment).filter(|_| is_bare);
        let program = alias.map_or_else(|| command.to_owned(), PathBuf::into_os_string);
        return Ok(Chosen {
            program,
            guard: None,
        });
    };
    let is_wrapper = |path: &Path| has_led_here(path) || (is_bare && runs_pillion(path));
    let found = candidates.iter().find(|path| !is_wrapper(path));
    let found = found.ok_or_else(|| only_wrappers(is_bare, agent, first))?;
    let program = if found == first {
        command.to_owned()
    } else {
        found.clone().into_os_string()
    };
    let guard = (!program::is_packaged(found, agent)).then(|| {
        let entered = through.iter().cloned().chain(real(found));
        // A path that the list cannot hold is not on PATH either.
        std::env::join_paths(entered).unwrap_or_default()
    });
    Ok(Chosen { program, guard })
}

fn only_wrappers(is_bare: bool, agent: Dialect, wrapper: &Path) -> Failure {
    let (name, wrapper) = (agent.name(), wrapper.display());
    let message = format!("{wrapper} runs `pillion run`, which would run it again");
    let failure = Failure::new(Kind::Refused, message);
    if is_bare {
        failure.hint(format!(
            "There is no other `{name}` on PATH: install {agent} (`{}`), or \
             have the script call it by its path.",
            agent.install_command()
        ))
    } else {
        failure.hint(format!(
            "Name {agent}'s own program, or only `{name}` to use the one on PATH."
        ))
    }
}

/// Returns true if a script says that it runs `pillion run`. One that hides it is noticed when it
/// has.
fn runs_pillion(path: &Path) -> bool {
    let script = program::script(path);
    script.is_some_and(|script| script.lines().any(calls_run))
}

fn calls_run(line: &str) -> bool {
    let line = line.trim_start();
    let is_comment = ["#", "::"].iter().any(|mark| line.starts_with(mark));
    let is_between = |letter: char| letter.is_whitespace() || "\"'`;&|()$={}@".contains(letter);
    let mut words = line.split(is_between).filter(|word| !word.is_empty());
    let is_pillion =
        |word: &str| Path::new(&word.replace('\\', "/")).file_stem() == Some("pillion".as_ref());
    !is_comment && words.any(is_pillion) && words.any(|word| word == "run")
}

fn real(path: &Path) -> Option<PathBuf> {
    canonicalize(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_runs_pillion_run_is_known() {
        for line in [
            "exec pillion run gemini \"$@\"",
            "  /opt/bin/pillion run --require gemini",
            "exec \"$HOME/bin/pillion\" run \"$(basename \"$0\")\"",
            "FOO=1 pillion --log x run gemini",
            "\"C:\\tools\\pillion.exe\" run gemini %*",
            "subprocess.call(['pillion', 'run', 'gemini'])",
        ] {
            assert!(calls_run(line), "{line}");
        }
        for line in [
            "# pillion run gemini",
            "eval \"$(pillion env)\"",
            "run pillion",
            "exec node /opt/gemini.js",
            "exec /opt/pillion-like/run gemini",
            "",
        ] {
            assert!(!calls_run(line), "{line}");
        }
    }
}
