//! What tests need beyond Rust: installed before them, or known to be missing.

use std::ffi::OsStr;
use std::path::PathBuf;

use super::summary::IgnoredTest;
use crate::prerequisites::Program;
use crate::{editors, npm, prerequisites, target_dir};

/// What is there. What is not, in words.
#[derive(Debug)]
pub struct Needs {
    /// The folder of the npm packages, with all programs that tests run.
    npm: Result<PathBuf, String>,
    /// The folder of the editors: not every machine can have them.
    editors: Result<PathBuf, String>,
}

impl Needs {
    /// Nothing was to be installed.
    pub fn left_out() -> Needs {
        let why = "left out".to_owned();
        Needs {
            npm: Err(why.clone()),
            editors: Err(why),
        }
    }

    /// Installs what is missing.
    pub fn install() -> Needs {
        let missing = prerequisites::ensure();
        let (for_editors, for_all): (Vec<_>, Vec<_>) =
            missing.iter().partition(|program| program.is_for_editors);
        let target = target_dir();
        Needs {
            npm: none_missing(&for_all).and_then(|()| {
                npm::install(&target).map_err(|error| format!("needs the npm packages: {error:#}"))
            }),
            editors: none_missing(&for_editors).and_then(|()| {
                editors::install(&target).map_err(|error| format!("needs the editors: {error:#}"))
            }),
        }
    }

    /// The first thing that is missing.
    pub fn missing(&self) -> Option<&str> {
        let missing = self.npm.as_ref().err().or(self.editors.as_ref().err());
        missing.map(String::as_str)
    }

    /// What this test misses.
    pub fn missing_for(&self, test: &IgnoredTest) -> Option<&str> {
        if !test.needs_something() {
            return None;
        }
        let editors = self.editors.as_ref().err();
        let missing = self.npm.as_ref().err();
        let missing = missing.or(editors.filter(|_| editors::are_needed(&test.reason)));
        missing.map(String::as_str)
    }

    /// The variables by which tests find what is there.
    pub fn variables(&self) -> Vec<(&'static str, &OsStr)> {
        let npm = self.npm.iter().map(|npm| ("PILLION_TEST_NPM", npm));
        let editors = self.editors.iter();
        let editors = editors.map(|editors| ("PILLION_TEST_EDITORS", editors));
        npm.chain(editors)
            .map(|(name, folder)| (name, folder.as_os_str()))
            .collect()
    }
}

fn none_missing(programs: &[&Program]) -> Result<(), String> {
    if programs.is_empty() {
        return Ok(());
    }
    let named: Vec<String> = programs
        .iter()
        .map(|program| format!("{} (Debian: {})", program.name, program.package))
        .collect();
    Err(format!("needs {}", named.join(", ")))
}
