//! The version that an agent's command prints.
//!
//! The only thing that the doctor runs, and only where no package has the release.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use pillion_agent::find::Version;
use pillion_system::child::{self, Group};

/// The time limit for it. Node takes a second or two on a slow machine.
const VERSION_TIMEOUT: Duration = Duration::from_secs(10);

pub fn version(command: &Path, variables: &[(&str, &OsStr)]) -> Option<Version> {
    // Nothing of what it started is to stay.
    let mut asked = Command::new(command);
    asked.envs(variables.iter().copied());
    let ended = child::run(asked.arg("--version"), Group::Own, VERSION_TIMEOUT).ok()?;
    let is_answer = ended.status.is_some_and(|status| status.success());
    is_answer.then(|| version_in(&String::from_utf8_lossy(&ended.out)))?
}

/// A line that is nothing but a version, or else the first word that is one.
fn version_in(text: &str) -> Option<Version> {
    let line = text.lines().find_map(|line| line.trim().parse().ok());
    line.or_else(|| {
        text.split_whitespace()
            .find_map(|word| word.trim_end_matches('.').parse().ok())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_about_node_is_not_the_agents_version() {
        for (text, expected) in [
            ("0.44.0\n", Some(Version::new(0, 44, 0))),
            (
                "Node 18.0.0 is too old\n0.44.0\n",
                Some(Version::new(0, 44, 0)),
            ),
            ("Gemini CLI v0.44.0-nightly.1", Some(Version::new(0, 44, 0))),
            (
                "GitHub Copilot CLI 1.0.102.\nRun 'copilot update'",
                Some(Version::new(1, 0, 102)),
            ),
            ("no", None),
        ] {
            assert_eq!(version_in(text), expected, "{text}");
        }
    }
}
