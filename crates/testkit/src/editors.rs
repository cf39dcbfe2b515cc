//! Where the editors are. `cargo xtask test` installs them and says so by a variable.

use std::path::{Path, PathBuf};

/// The variable that holds the folder of the installation.
const VARIABLE: &str = "PILLION_TEST_EDITORS";

/// The variable that holds a Neovim to try instead of each that is installed.
const OTHER_NVIM: &str = "PILLION_TEST_NVIM";

/// Which Neovim: the oldest that is supported, and a newer one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NvimVersion {
    /// 0.7.2, of Debian bookworm. One process, whether in a terminal or not.
    V0_7,
    /// 0.10.4, of Debian trixie. In a terminal, one process draws and its child is the editor.
    V0_10,
}

impl NvimVersion {
    /// Both.
    pub const ALL: [NvimVersion; 2] = [NvimVersion::V0_7, NvimVersion::V0_10];

    /// As people name it.
    pub fn name(self) -> &'static str {
        self.number().trim_end_matches('.')
    }

    /// How its number starts.
    pub fn number(self) -> &'static str {
        match self {
            NvimVersion::V0_7 => "0.7.",
            NvimVersion::V0_10 => "0.10.",
        }
    }

    fn suite(self) -> &'static str {
        match self {
            NvimVersion::V0_7 => "bookworm",
            NvimVersion::V0_10 => "trixie",
        }
    }
}

/// Which Vim: the oldest that is supported, and a newer one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VimVersion {
    /// 9.0.1378, of Debian bookworm.
    V9_0,
    /// 9.1.1230, of Debian trixie.
    V9_1,
}

impl VimVersion {
    fn suite(self) -> &'static str {
        match self {
            VimVersion::V9_0 => "bookworm",
            VimVersion::V9_1 => "trixie",
        }
    }

    /// The folder of its scripts, below its `$VIM`.
    fn runtime(self) -> &'static str {
        match self {
            VimVersion::V9_0 => "vim90",
            VimVersion::V9_1 => "vim91",
        }
    }
}

/// Which Kakoune: the oldest that is supported, and a newer one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KakouneVersion {
    /// 2022.10.31, of Debian bookworm.
    V2022_10,
    /// 2024.05.18, of Debian trixie.
    V2024_05,
}

impl KakouneVersion {
    fn suite(self) -> &'static str {
        match self {
            KakouneVersion::V2022_10 => "bookworm",
            KakouneVersion::V2024_05 => "trixie",
        }
    }
}

/// The folder with the editors of several Debian releases.
#[derive(Debug, Clone)]
pub struct Editors {
    folder: PathBuf,
}

impl Editors {
    /// The folder that `PILLION_TEST_EDITORS` names.
    ///
    /// # Panics
    /// If the variable is unset.
    pub fn from_env() -> Editors {
        let folder = std::env::var_os(VARIABLE).unwrap_or_else(|| {
            panic!("{VARIABLE} is not set: run this test through `cargo xtask test`, which installs the editors")
        });
        Editors::at(folder)
    }

    /// Those in this folder.
    pub fn at(folder: impl Into<PathBuf>) -> Editors {
        Editors {
            folder: folder.into(),
        }
    }

    /// The folder itself, absolute. In it is one for each Debian release.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Neovim's program.
    ///
    /// # Panics
    /// If it is not there.
    pub fn nvim(&self, version: NvimVersion) -> PathBuf {
        self.program(version.suite(), "usr/bin/nvim")
    }

    /// Helix's program: 25.01, of Debian trixie.
    ///
    /// # Panics
    /// If it is not there.
    pub fn helix(&self) -> PathBuf {
        self.program("trixie", "usr/lib/hx/hx")
    }

    /// Vim's program, and the folder of its scripts.
    ///
    /// # Panics
    /// If it is not there.
    pub fn vim(&self, version: VimVersion) -> (PathBuf, PathBuf) {
        let vim = self.program(version.suite(), "usr/bin/vim.basic");
        let scripts = self.folder.join(version.suite()).join("usr/share/vim");
        (vim, scripts.join(version.runtime()))
    }

    /// Kakoune's program. Its scripts lie where it looks for them.
    ///
    /// # Panics
    /// If it is not there.
    pub fn kakoune(&self, version: KakouneVersion) -> PathBuf {
        self.program(version.suite(), "usr/bin/kak")
    }

    /// The Neovim that `PILLION_TEST_NVIM` names, to be tried in the place of each version: for
    /// people who want to know whether another one works.
    pub fn other_nvim() -> Option<PathBuf> {
        std::env::var_os(OTHER_NVIM).map(PathBuf::from)
    }

    fn program(&self, suite: &str, path: &str) -> PathBuf {
        let program = self.folder.join(suite).join(path);
        assert!(
            program.exists(),
            "{VARIABLE} names {}, but there is no {}: `cargo xtask test` installs it",
            self.folder.display(),
            program.display()
        );
        program
    }
}
