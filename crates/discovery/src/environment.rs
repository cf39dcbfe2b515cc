//! The variables and directories that decide where agents look and which editor a terminal belongs
//! to, as a snapshot.
//!
//! Tests build an [`Environment`] of their own; nothing else in this crate reads the process's.

mod shared;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use pillion_protocol::Dialect;
use pillion_protocol::dialect::{Base, Place};
use pillion_protocol::path::absolute;

/// The environment of a process. `Debug` shows no values: some are secrets.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<String, OsString>,
    /// The folder where relative values start.
    current_dir: PathBuf,
    /// The account's home directory, which counts when no variable names one.
    account_home: Option<PathBuf>,
}

impl Environment {
    /// A snapshot of this process's environment.
    pub fn current() -> Self {
        let named = |(name, value): (OsString, _)| Some((name.into_string().ok()?, value));
        Self {
            variables: std::env::vars_os().filter_map(named).collect(),
            current_dir: std::env::current_dir().unwrap_or_default(),
            account_home: std::env::home_dir(),
        }
    }

    /// An environment of just these variables. Relative values start at the root directory.
    pub fn from_pairs<N, V>(pairs: impl IntoIterator<Item = (N, V)>) -> Self
    where
        N: Into<String>,
        V: Into<OsString>,
    {
        Self {
            variables: pairs
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            current_dir: PathBuf::from("/"),
            account_home: None,
        }
    }

    /// The same environment with relative values starting at `directory`.
    #[must_use]
    pub fn with_current_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.current_dir = directory.into();
        self
    }

    /// The name of the variable that decides first what [`tmpdir`](Self::tmpdir) is.
    pub const TMPDIR: &str = if cfg!(windows) { "TEMP" } else { "TMPDIR" };

    /// The same environment with another temporary directory.
    #[must_use]
    pub fn with_tmpdir(self, directory: impl Into<OsString>) -> Self {
        self.with(Self::TMPDIR, Some(directory))
    }

    /// The same environment with one variable changed; without a value it is taken out.
    #[must_use]
    pub fn with(mut self, name: &str, value: Option<impl Into<OsString>>) -> Self {
        match value {
            Some(value) => self.variables.insert(name.to_owned(), value.into()),
            None => self.variables.remove(name),
        };
        self
    }

    /// The result of Node's `os.tmpdir()` in this environment (C2.2), to the byte.
    pub fn tmpdir(&self) -> PathBuf {
        let get = |name: &str| self.filled(name);
        if cfg!(windows) {
            windows_tmpdir(get)
        } else {
            unix_tmpdir(get)
        }
    }

    /// The home directory as agents compute it: an empty variable means that there is none.
    pub fn home(&self) -> Option<PathBuf> {
        let name = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
        match self.variables.get(name) {
            Some(home) => Some(PathBuf::from(home)).filter(|home| !home.as_os_str().is_empty()),
            None => self.account_home.clone(),
        }
    }

    /// Qwen Code's directory: `QWEN_HOME`, or `.qwen` in the home directory, or without a home in
    /// [`tmpdir`](Self::tmpdir).
    ///
    /// As in Qwen Code 0.24: `~`, `~/…` and `~\…` start at the home directory, and a relative value
    /// starts at the current directory. (Qwen Code means the agent's, which is ours only when both
    /// were started in one place: a relative `QWEN_HOME` works there and nowhere else.)
    pub fn qwen_home(&self) -> PathBuf {
        let home = self.home();
        let Some(value) = self.filled("QWEN_HOME") else {
            let parent = home.unwrap_or_else(|| self.tmpdir());
            return self.resolve(&parent.join(".qwen"));
        };
        match value.to_str().and_then(below_tilde) {
            Some(segments) => {
                let mut path = home.unwrap_or_default();
                path.extend(segments);
                self.resolve(&path)
            }
            None => self.resolve(Path::new(value)),
        }
    }

    /// The folders in which this user's companions keep their private state: the best place first. A companion
    /// uses the first that it may use; searches for companions cover all.
    ///
    /// `$XDG_RUNTIME_DIR/pillion`, if that variable names a directory, and `tmpdir/pillion-UID`; on
    /// Windows `%LOCALAPPDATA%\pillion` and `tmpdir\pillion`.
    pub fn state_dirs(&self) -> Vec<PathBuf> {
        #[cfg(unix)]
        let fallback = format!("pillion-{}", rustix::process::geteuid().as_raw());
        #[cfg(not(unix))]
        let fallback = "pillion";
        let variable = if cfg!(windows) {
            "LOCALAPPDATA"
        } else {
            "XDG_RUNTIME_DIR"
        };
        let private = self
            .filled(variable)
            .map(Path::new)
            .filter(|base| base.is_absolute() && base.is_dir())
            .map(|base| base.join("pillion"));
        let shared = self.resolve(&self.tmpdir()).join(fallback);
        private.into_iter().chain([shared]).collect()
    }

    /// The folders in which agents keep what is their own, such as settings and sessions.
    pub fn agent_folders(&self) -> Vec<PathBuf> {
        let mut folders = vec![
            self.base(Base::ClaudeConfig),
            self.base(Base::QwenHome),
            self.base(Base::CopilotHome),
            self.codex_home(),
            self.kimi_home(),
            self.vibe_home(),
            self.opencode_config(),
        ];
        folders.extend(self.home().map(|home| home.join(".gemini")));
        folders
    }

    /// The folder for data that is to survive a restart, as the XDG specification has it: `XDG_STATE_HOME`, or
    /// `.local/state` in the home directory; `LOCALAPPDATA` on Windows. None without a home directory.
    pub fn user_state_dir(&self) -> Option<PathBuf> {
        let (variable, fallback) = match cfg!(windows) {
            true => ("LOCALAPPDATA", "AppData/Local"),
            false => ("XDG_STATE_HOME", ".local/state"),
        };
        let named = self.filled(variable).map(PathBuf::from);
        let named = named.filter(|folder| folder.is_absolute());
        named.or_else(|| Some(self.home()?.join(fallback)))
    }

    /// The directory that a place is relative to, absolute and without `.` and `..`.
    pub fn base(&self, base: Base) -> PathBuf {
        match base {
            Base::TmpDir => self.resolve(&self.tmpdir()),
            Base::QwenHome => self.qwen_home(),
            Base::ClaudeConfig => self.named_or_home("CLAUDE_CONFIG_DIR", ".claude"),
            Base::ClaudeHome => self.in_home(".claude"),
            Base::CopilotHome => self.named_or_home("COPILOT_HOME", ".copilot"),
        }
    }

    /// The folder that this variable names, or else the one of this name in the home directory.
    fn named_or_home(&self, variable: &str, name: &str) -> PathBuf {
        match self.filled(variable) {
            Some(folder) => self.resolve(Path::new(folder)),
            None => self.in_home(name),
        }
    }

    fn in_home(&self, name: &str) -> PathBuf {
        let home = self.home().unwrap_or_else(|| self.tmpdir());
        self.resolve(&home.join(name))
    }

    /// Codex CLI's own directory, which holds no discovery files.
    pub fn codex_home(&self) -> PathBuf {
        self.named_or_home("CODEX_HOME", ".codex")
    }

    /// Kimi Code's own directory, which holds no discovery files.
    pub fn kimi_home(&self) -> PathBuf {
        self.named_or_home("KIMI_CODE_HOME", ".kimi-code")
    }

    /// Mistral Vibe's own directory, which holds no discovery files.
    pub fn vibe_home(&self) -> PathBuf {
        self.named_or_home("VIBE_HOME", ".vibe")
    }

    /// The folder of opencode's settings, as the XDG specification has it on every system.
    pub fn opencode_config(&self) -> PathBuf {
        self.named_or_home("XDG_CONFIG_HOME", ".config")
            .join("opencode")
    }

    /// The folder of the settings of Pillion's own, as the XDG specification has it on every system.
    pub fn pillion_config(&self) -> PathBuf {
        self.named_or_home("XDG_CONFIG_HOME", ".config")
            .join("pillion")
    }

    /// The variable that a person sets to move a base elsewhere. Nobody moves their home for that.
    pub fn variable(base: Base) -> Option<&'static str> {
        match base {
            Base::TmpDir => Some("TMPDIR"),
            Base::QwenHome => Some("QWEN_HOME"),
            Base::ClaudeConfig => Some("CLAUDE_CONFIG_DIR"),
            Base::ClaudeHome => None,
            Base::CopilotHome => Some("COPILOT_HOME"),
        }
    }

    /// The variable that moves elsewhere what agents look at below this path.
    pub fn variable_of(&self, path: &Path) -> Option<&'static str> {
        // The temporary directory may hold the others.
        let bases = [
            Base::QwenHome,
            Base::ClaudeConfig,
            Base::ClaudeHome,
            Base::CopilotHome,
        ];
        let mut bases = bases.into_iter();
        let base = bases.find(|base| path.starts_with(self.base(*base)));
        Self::variable(base.unwrap_or(Base::TmpDir))
    }

    /// The directory of a place's files.
    pub fn directory(&self, place: &Place) -> PathBuf {
        let mut path = self.base(place.base);
        path.extend(place.folder);
        path
    }

    /// The value of a variable, if it is set and not empty: agents take an empty one for unset.
    pub fn filled(&self, name: &str) -> Option<&OsStr> {
        let value = self.variables.get(name)?;
        (!value.is_empty()).then_some(value)
    }

    /// The value of a variable, if it is set, be it empty.
    pub fn value(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(name).map(OsString::as_os_str)
    }

    /// The agents one of whose commands this process is, or is below.
    pub fn commanding_agents(&self) -> Vec<Dialect> {
        let is_set = |agent: &Dialect| {
            let variable = agent.shell_variable();
            variable.is_some_and(|name| self.filled(name).is_some())
        };
        Dialect::ALL.into_iter().filter(is_set).collect()
    }

    /// The folder where relative values start: the current directory.
    pub fn current_dir(&self) -> &Path {
        &self.current_dir
    }

    fn resolve(&self, path: &Path) -> PathBuf {
        absolute(&self.current_dir, path)
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment")
            .field("variables", &self.variables.keys())
            .field("current_dir", &self.current_dir)
            .finish_non_exhaustive()
    }
}

/// The rule of Node's `os.tmpdir()` on Unix.
fn unix_tmpdir<'a>(get: impl Fn(&str) -> Option<&'a OsStr>) -> PathBuf {
    let path = ["TMPDIR", "TMP", "TEMP"]
        .into_iter()
        .find_map(get)
        .unwrap_or(OsStr::new("/tmp"));
    match path.to_str().and_then(|text| text.strip_suffix('/')) {
        Some(cut) if !cut.is_empty() => PathBuf::from(cut),
        _ => PathBuf::from(path),
    }
}

/// The rule of Node's `os.tmpdir()` on Windows. (Where Windows itself is named by no variable Node
/// makes up a path; here it is the usual one.)
fn windows_tmpdir<'a>(get: impl Fn(&str) -> Option<&'a OsStr>) -> PathBuf {
    let path = ["TEMP", "TMP"].into_iter().find_map(&get);
    let path = path.map(OsStr::to_owned).unwrap_or_else(|| {
        let root = ["SystemRoot", "windir"].into_iter().find_map(&get);
        let mut path = root.unwrap_or(OsStr::new(r"C:\Windows")).to_owned();
        path.push(r"\temp");
        path
    });
    match path.to_str().and_then(|text| text.strip_suffix('\\')) {
        Some(cut) if !cut.is_empty() && !cut.ends_with(':') => PathBuf::from(cut),
        _ => PathBuf::from(path),
    }
}

/// The segments behind a leading `~`, or nothing if it does not stand for the home directory.
fn below_tilde(value: &str) -> Option<impl Iterator<Item = &str>> {
    let rest = value.strip_prefix('~')?;
    let is_home = rest.is_empty() || rest.starts_with(['/', '\\']);
    is_home.then(|| {
        rest.split(['/', '\\'])
            .filter(|segment| !segment.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    type Get<'a> = &'a dyn Fn(&str) -> Option<&'static OsStr>;

    fn tmpdir(
        rule: fn(Get<'_>) -> PathBuf,
        pairs: &'static [(&'static str, &'static str)],
    ) -> String {
        let get = |name: &str| {
            let (_, value) = pairs.iter().find(|(other, _)| *other == name)?;
            (!value.is_empty()).then(|| OsStr::new(*value))
        };
        rule(&get).into_os_string().into_string().unwrap()
    }

    #[test]
    fn unix_takes_the_first_filled_variable_and_cuts_one_slash() {
        for (pairs, expected) in [
            (&[][..], "/tmp"),
            (&[("TEMP", "/c"), ("TMP", "/b"), ("TMPDIR", "/a")], "/a"),
            (&[("TEMP", "/c"), ("TMP", "/b"), ("TMPDIR", "")], "/b"),
            (&[("TEMP", "/c/")], "/c"),
            (&[("TMPDIR", "/a//")], "/a/"),
            (&[("TMPDIR", "/")], "/"),
            (&[("TMPDIR", "//")], "/"),
            (&[("TMPDIR", "relative/")], "relative"),
        ] {
            assert_eq!(tmpdir(|get| unix_tmpdir(get), pairs), expected, "{pairs:?}");
        }
    }

    #[test]
    fn windows_knows_no_tmpdir_and_keeps_the_root_of_a_drive() {
        for (pairs, expected) in [
            (
                &[("TMPDIR", r"C:\x"), ("TMP", r"C:\b\"), ("TEMP", "")][..],
                r"C:\b",
            ),
            (&[("TMP", r"C:\b"), ("TEMP", r"C:\a")], r"C:\a"),
            (&[("TEMP", r"D:\")], r"D:\"),
            (&[("TEMP", r"\")], r"\"),
            (
                &[("SystemRoot", r"C:\W"), ("windir", r"C:\V")],
                r"C:\W\temp",
            ),
            (&[("windir", r"C:\V")], r"C:\V\temp"),
            (&[], r"C:\Windows\temp"),
        ] {
            assert_eq!(
                tmpdir(|get| windows_tmpdir(get), pairs),
                expected,
                "{pairs:?}"
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn qwen_home_is_resolved_as_qwen_code_resolves_it() {
        for (qwen_home, expected) in [
            ("", "/h/.qwen"),
            ("/q", "/q"),
            ("/q/", "/q"),
            ("/a/./b/../q", "/a/q"),
            ("~", "/h"),
            ("~/q//r", "/h/q/r"),
            (r"~\q\r", "/h/q/r"),
            ("~user/q", "/w/~user/q"),
            ("q", "/w/q"),
            ("../../../q", "/q"),
        ] {
            let environment = Environment::from_pairs([("HOME", "/h"), ("QWEN_HOME", qwen_home)])
                .with_current_dir("/w");
            assert_eq!(
                environment.qwen_home(),
                Path::new(expected),
                "{qwen_home:?}"
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn claude_codes_folder_is_the_configured_one_or_in_the_home_directory() {
        for (configured, expected) in [
            (None, "/h/.claude"),
            (Some(""), "/h/.claude"),
            (Some("/c"), "/c"),
            (Some("/h/.claude/"), "/h/.claude"),
            (Some("/h/x/../.claude"), "/h/.claude"),
            (Some("c"), "/w/c"),
            (Some("../c"), "/c"),
            // It expands nothing.
            (Some("~/c"), "/w/~/c"),
        ] {
            let environment = Environment::from_pairs([("HOME", "/h")])
                .with("CLAUDE_CONFIG_DIR", configured)
                .with_current_dir("/w");
            let base = environment.base(Base::ClaudeConfig);
            assert_eq!(base, Path::new(expected), "{configured:?}");
            assert_eq!(environment.base(Base::ClaudeHome), Path::new("/h/.claude"));
        }
        let homeless = Environment::from_pairs([("HOME", ""), ("TMPDIR", "/t")]);
        assert_eq!(homeless.base(Base::ClaudeConfig), Path::new("/t/.claude"));
    }

    #[cfg(unix)]
    #[test]
    fn without_a_home_qwen_lives_in_the_temporary_directory() {
        let environment = Environment::from_pairs([("HOME", ""), ("TMPDIR", "/t")]);
        assert_eq!(environment.qwen_home(), Path::new("/t/.qwen"));
    }

    #[cfg(unix)]
    #[test]
    fn state_lives_in_the_runtime_directory_or_beside_the_discovery_files() {
        let uid = rustix::process::geteuid().as_raw();
        let shared = PathBuf::from(format!("/t/pillion-{uid}"));
        let runtime = tempfile::tempdir().unwrap();
        let private = runtime.path().join("pillion");
        let missing = runtime.path().join("missing");
        let state_dirs = |runtime: &Path| {
            let pairs = [
                ("TMPDIR", OsStr::new("/t/")),
                ("XDG_RUNTIME_DIR", runtime.as_os_str()),
            ];
            Environment::from_pairs(pairs).state_dirs()
        };
        assert_eq!(state_dirs(runtime.path()), [private, shared.clone()]);
        for unusable in [missing.as_path(), Path::new("relative"), Path::new("")] {
            assert_eq!(
                state_dirs(unusable),
                std::slice::from_ref(&shared),
                "{unusable:?}"
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_that_is_not_unicode_is_used_as_it_is() {
        use std::os::unix::ffi::OsStrExt;
        let raw = OsStr::from_bytes(b"/t\xff/");
        let environment = Environment::from_pairs([("TMPDIR", raw)]);
        assert_eq!(
            environment.base(Base::TmpDir),
            Path::new(OsStr::from_bytes(b"/t\xff"))
        );
    }
}
