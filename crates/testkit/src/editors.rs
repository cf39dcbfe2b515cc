//! The installed editors. `cargo xtask test` installs them and names their place in a variable.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The variable that holds the folder of the installation.
const VARIABLE: &str = "PILLION_TEST_EDITORS";

/// The variable that holds a Neovim to try instead of each that is installed.
const OTHER_NVIM: &str = "PILLION_TEST_NVIM";

/// Debian's stable release, in whose folder the older of two versions is.
const STABLE: &str = "trixie";

/// Debian's unstable one, which moves: the newer version may be newer than its name says.
const UNSTABLE: &str = "sid";

/// Ubuntu's release with the oldest Emacs that is supported.
const UBUNTU: &str = "noble";

/// The releases of Neovim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NvimVersion {
    /// 0.10.4, of Debian stable.
    V0_10,
    /// 0.12.4 or newer, of Debian unstable.
    V0_12,
}

impl NvimVersion {
    /// Both.
    pub const ALL: [NvimVersion; 2] = [NvimVersion::V0_10, NvimVersion::V0_12];

    /// As people name it.
    pub fn name(self) -> &'static str {
        match self {
            NvimVersion::V0_10 => "0.10",
            NvimVersion::V0_12 => "0.12",
        }
    }

    fn suite(self) -> &'static str {
        match self {
            NvimVersion::V0_10 => STABLE,
            NvimVersion::V0_12 => UNSTABLE,
        }
    }
}

/// The releases of Vim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VimVersion {
    /// 9.1.1230, of Debian stable.
    V9_1,
    /// 9.2.858 or newer, of Debian unstable.
    V9_2,
}

impl VimVersion {
    fn suite(self) -> &'static str {
        match self {
            VimVersion::V9_1 => STABLE,
            VimVersion::V9_2 => UNSTABLE,
        }
    }
}

/// The releases of Kakoune.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KakouneVersion {
    /// 2024.05.18, of Debian stable.
    V2024_05,
    /// 2026.05.21 or newer, of Debian unstable.
    V2026_05,
}

impl KakouneVersion {
    fn suite(self) -> &'static str {
        match self {
            KakouneVersion::V2024_05 => STABLE,
            KakouneVersion::V2026_05 => UNSTABLE,
        }
    }
}

/// The releases of Emacs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmacsVersion {
    /// 29.3, of Ubuntu 24.04.
    V29_3,
    /// 30.1, of Debian stable.
    V30_1,
    /// 30.2 or newer, of Debian unstable.
    V30_2,
}

impl EmacsVersion {
    fn suite(self) -> &'static str {
        match self {
            EmacsVersion::V29_3 => UBUNTU,
            EmacsVersion::V30_1 => STABLE,
            EmacsVersion::V30_2 => UNSTABLE,
        }
    }
}

/// The releases of Helix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HelixVersion {
    /// 25.01.1, of Debian stable.
    V25_01,
    /// 25.07.1 or newer, of Debian unstable.
    V25_07,
}

impl HelixVersion {
    fn suite(self) -> &'static str {
        match self {
            HelixVersion::V25_01 => STABLE,
            HelixVersion::V25_07 => UNSTABLE,
        }
    }
}

/// The releases of Kate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KateVersion {
    /// 25.04.2, of Debian stable.
    V25_04,
    /// 26.08.2 or newer, of Debian unstable.
    V26_08,
}

impl KateVersion {
    fn suite(self) -> &'static str {
        match self {
            KateVersion::V25_04 => STABLE,
            KateVersion::V26_08 => UNSTABLE,
        }
    }
}

/// The place of an Emacs that does not lie where it was built for.
#[derive(Debug, Clone)]
pub struct EmacsPlace {
    /// Its program.
    pub program: PathBuf,
    /// The state with which it starts.
    pub dump: PathBuf,
    /// Its client.
    pub client: PathBuf,
    /// Lisp.
    pub lisp: PathBuf,
    /// Data, such as its documentation.
    pub data: PathBuf,
    /// Programs of its own.
    pub helpers: PathBuf,
}

impl EmacsPlace {
    /// The option by which it starts with its state, which it would look for elsewhere.
    pub fn dump_option(&self) -> OsString {
        let mut option = OsString::from("--dump-file=");
        option.push(&self.dump);
        option
    }

    /// The variables by which it finds its other files.
    pub fn variables(&self) -> [(&'static str, &Path); 4] {
        [
            ("EMACSLOADPATH", &self.lisp),
            ("EMACSDATA", &self.data),
            ("EMACSDOC", &self.data),
            ("EMACSPATH", &self.helpers),
        ]
    }
}

/// The folder with the editors of several releases of Debian's and Ubuntu's.
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

    /// The folder itself, absolute. In it is one for each release.
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

    /// Helix's program.
    ///
    /// # Panics
    /// If it is not there.
    pub fn helix(&self, version: HelixVersion) -> PathBuf {
        self.program(version.suite(), "usr/lib/hx/hx")
    }

    /// Kate's program. Its data and its libraries are in the folders that [`Editors::folder`] has of that release.
    ///
    /// # Panics
    /// If it is not there.
    pub fn kate(&self, version: KateVersion) -> PathBuf {
        self.program(version.suite(), "usr/bin/kate")
    }

    /// Vim's program, and the folder of its scripts.
    ///
    /// # Panics
    /// If it is not there.
    pub fn vim(&self, version: VimVersion) -> (PathBuf, PathBuf) {
        let vim = self.program(version.suite(), "usr/bin/vim.basic");
        let scripts = self.folder.join(version.suite()).join("usr/share/vim");
        (vim, numbered(&scripts, "vim"))
    }

    /// kakoune-lsp, which is not Debian's.
    pub fn kakoune_lsp(&self) -> PathBuf {
        self.folder.join("kak-lsp/bin/kak-lsp")
    }

    /// Kakoune's program. Its scripts lie where it looks for them.
    ///
    /// # Panics
    /// If it is not there.
    pub fn kakoune(&self, version: KakouneVersion) -> PathBuf {
        self.program(version.suite(), "usr/bin/kak")
    }

    /// An Emacs, and what it needs to find its own files.
    ///
    /// # Panics
    /// If it is not there.
    pub fn emacs(&self, version: EmacsVersion) -> EmacsPlace {
        let suite = version.suite();
        let folder = self.folder.join(suite);
        let share = numbered(&folder.join("usr/share/emacs"), "");
        let libexec = numbered(&folder.join("usr/libexec/emacs"), "");
        let (helpers, dump) = dump_below(&libexec)
            .unwrap_or_else(|| panic!("{} has no file *.pdmp", libexec.display()));
        EmacsPlace {
            program: self.program(suite, "usr/bin/emacs-nox"),
            client: self.program(suite, "usr/bin/emacsclient.emacs"),
            lisp: share.join("lisp"),
            data: share.join("etc"),
            helpers,
            dump,
        }
    }

    /// The folder of Debian's packages for an Emacs.
    ///
    /// # Panics
    /// If it is not there.
    pub fn emacs_packages(&self, version: EmacsVersion) -> PathBuf {
        self.program(version.suite(), "usr/share/emacs/site-lisp/elpa-src")
    }

    /// The folders of one of them: that of its Lisp, and that of its module if it has one.
    ///
    /// # Panics
    /// If its release does not have it.
    pub fn emacs_package(&self, version: EmacsVersion, name: &str) -> (PathBuf, Option<PathBuf>) {
        let all = self.emacs_packages(version);
        let lisp = numbered(&all, &format!("{name}-"));
        let libraries = self.folder.join(version.suite()).join("usr/lib");
        let mut modules = entries(&libraries).map(|it| it.join(format!("emacs-lib{name}")));
        (lisp, modules.find(|it| it.is_dir()))
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

/// The entries of a folder.
fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
}

/// The folder in this one that is named after a version, such as `vim91`.
fn numbered(folder: &Path, name: &str) -> PathBuf {
    let is_it = |path: &PathBuf| {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let number = file.strip_prefix(name);
        number.is_some_and(|it| it.starts_with(|it: char| it.is_ascii_digit()))
    };
    let found = entries(folder).find(is_it);
    found.unwrap_or_else(|| panic!("{} has no version of {name}", folder.display()))
}

/// Emacs's folder for programs of its own, which is named after the machine, and the state in it.
fn dump_below(libexec: &Path) -> Option<(PathBuf, PathBuf)> {
    let is_dump = |path: &PathBuf| path.extension().is_some_and(|it| it == "pdmp");
    entries(libexec).find_map(|folder| {
        let dump = entries(&folder).find(is_dump)?;
        Some((folder, dump))
    })
}
