//! The installed Codex CLI, in two releases. `cargo xtask test` installs them and names their place in a variable.

use std::fs;
use std::path::PathBuf;

/// The variable that holds the folder of the installation.
const VARIABLE: &str = "PILLION_TEST_CODEX";

/// The releases of Codex CLI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodexRelease {
    /// 0.169.0.
    V0_169,
    /// 0.171.0.
    V0_171,
}

impl CodexRelease {
    /// Both.
    pub const ALL: [CodexRelease; 2] = [CodexRelease::V0_169, CodexRelease::V0_171];

    /// As it names itself.
    pub fn version(self) -> &'static str {
        match self {
            CodexRelease::V0_169 => "0.169.0",
            CodexRelease::V0_171 => "0.171.0",
        }
    }

    /// The folder of the command `codex`, a native program.
    ///
    /// # Panics
    /// If `PILLION_TEST_CODEX` is unset, or names no such folder.
    pub fn bin(self) -> PathBuf {
        let folder = std::env::var_os(VARIABLE).unwrap_or_else(|| {
            panic!(
                "{VARIABLE} is not set: run this test through `cargo xtask test`, which installs Codex CLI; \
                 the words \"Codex CLI\" in what it is ignored for ask for that"
            )
        });
        let modules = PathBuf::from(folder).join("node_modules");
        let start = format!("codex-{}-", self.version());
        let packages = fs::read_dir(&modules).into_iter().flatten().flatten();
        let packages = packages.filter(|package| {
            let name = package.file_name();
            name.as_encoded_bytes().starts_with(start.as_bytes())
        });
        let platforms = packages.flat_map(|package| {
            let vendor = fs::read_dir(package.path().join("vendor"));
            vendor.into_iter().flatten().flatten()
        });
        let mut bins = platforms.map(|platform| platform.path().join("bin"));
        let found = bins.find(|bin| bin.join("codex").is_file());
        found.unwrap_or_else(|| {
            panic!(
                "{VARIABLE} names a folder without {}/{start}…/vendor/…/bin/codex: `cargo xtask test` installs it",
                modules.display()
            )
        })
    }
}
