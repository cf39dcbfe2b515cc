//! The material of the tests of the distribution: all artifacts, and a bare Debian to install them in.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::run::Run;
use crate::{bare_root, dist, target_dir};

/// Both.
#[derive(Debug)]
pub struct Artifacts {
    out: PathBuf,
    root: PathBuf,
}

impl Artifacts {
    /// Makes them, as two steps of the run.
    pub fn make(run: &mut Run) -> Result<Artifacts> {
        let out = run.step("cargo xtask dist", || {
            let made = dist::make_all(&dist::Args::default());
            let is_good = made.is_ok();
            (made, is_good)
        })??;
        let root = run.step("a bare Debian", || {
            let made = bare_root::install(&target_dir());
            let is_good = made.is_ok();
            (made, is_good)
        })??;
        Ok(Artifacts { out, root })
    }

    /// The variables by which tests find them.
    pub fn give_to(&self, command: &mut Command) {
        command.env("PILLION_TEST_DIST", &self.out);
        command.env("PILLION_TEST_ROOT", &self.root);
    }
}
