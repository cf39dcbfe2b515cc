//! The variables that an agent has when it looks for its companion: those of the terminal, and what
//! it adds from `.env` files and its settings when it starts.
//!
//! It reads its settings first, by the terminal's variables alone, then the `.env` files, and looks
//! for companions last. A variable of the terminal's stays as it is, but for Claude Code, whose settings
//! have the last word.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pillion_agent::find::{Release, Version};
use pillion_discovery::{Environment, regular_file};
use pillion_protocol::Dialect;
use serde_json::Value;

use super::dotenv::{self, Entry};
use super::settings::{self, Scope, Settings, directory};
use super::trust::{Trust, trust};

/// Since this release, a setting makes Gemini CLI pass over `.env` files of projects.
const PASSES_OVER: Version = Version::new(0, 42, 0);

/// Since this release, Qwen Code reads the user's own `.env` files wherever it starts, besides a project's; it takes
/// variables from its settings, and an empty variable for none.
const READS_OWN: Version = Version::new(0, 10, 0);

/// Since this release, Qwen Code knows `QWEN_HOME`, and takes neither that nor the folder for temporary files from
/// a project's file.
const KNOWS_HOME: Version = Version::new(0, 15, 10);

/// The variables that Qwen Code looks for in the user's own `.env` files before anything else.
const FIRST: [&str; 2] = ["QWEN_HOME", "QWEN_CODE_TRUSTED_FOLDERS_PATH"];

/// Variables that say nothing to an agent, but to Pillion where its companions' state is.
const PILLIONS: [&str; 2] = ["XDG_RUNTIME_DIR", "LOCALAPPDATA"];

/// A file that is longer holds no variables.
const MAX_FILE: u64 = 1 << 20;

/// An agent's variables.
#[derive(Debug, Clone, Default)]
pub struct Variables {
    /// All that it has.
    pub all: Environment,
    /// The origins of those that the terminal does not have.
    pub origins: BTreeMap<String, Origin>,
    /// True if the agent sets one that the terminal has empty.
    pub takes_empty_for_none: bool,
}

/// The line that sets a variable for the agent.
#[derive(Debug, Clone, PartialEq, Eq, derive_more::Display)]
#[display("{} of {}", line.map_or("`env`".to_owned(), |line| format!("line {line}")), path.display())]
pub struct Origin {
    /// The file.
    pub path: PathBuf,
    /// The line of a `.env` file; none: `env` in the settings.
    pub line: Option<usize>,
}

/// An agent that starts in a folder, as far as its `.env` files go.
struct Start<'a> {
    release: Release,
    folder: &'a Path,
    settings: &'a Settings,
    trust: Trust,
    /// The user's home directory, in the agent's view.
    home: PathBuf,
    /// The user's own files, the first one first.
    own: Vec<PathBuf>,
}

impl Variables {
    /// Those that the agent reads its settings by.
    pub fn before_settings(release: Release, terminal: &Environment) -> Self {
        let mut variables = Self {
            all: terminal.clone(),
            origins: BTreeMap::new(),
            takes_empty_for_none: is_qwen_since(release, READS_OWN),
        };
        if is_qwen_since(release, KNOWS_HOME) {
            variables.take_home(terminal);
        }
        variables
    }

    /// Adds what the agent adds after it has read its settings.
    #[must_use]
    pub fn after_settings(
        mut self,
        release: Release,
        folder: &Path,
        settings: &Settings,
        trust: Trust,
    ) -> Self {
        let home = settings::home(release.agent, &self.all);
        let start = Start {
            own: own_files(release, &home, &self.all),
            release,
            folder,
            settings,
            trust,
            home,
        };
        for path in start.files(&self.all) {
            let excluded = start.excluded(&path);
            for entry in entries(&path) {
                if !excluded.contains(&entry.name.as_str()) {
                    self.add(&entry.name, &entry.value, &path, Some(entry.line));
                }
            }
        }
        if is_qwen_since(release, READS_OWN) {
            self.add_from_settings(&start);
        }
        self
    }

    /// Sets the variables of Claude Code's settings, whatever the terminal says. Those that its menus wrote count least.
    #[must_use]
    pub fn overridden(mut self, settings: &Settings) -> Self {
        let of = |menus: bool| {
            let files = settings.files.iter();
            files.filter(move |file| (file.scope == Scope::Menus) == menus)
        };
        for file in of(true).chain(of(false)) {
            let set = file.content.get(&["env"]).and_then(Value::as_object);
            for (name, value) in set.into_iter().flatten() {
                let value = match value {
                    Value::String(text) => text.clone(),
                    Value::Bool(_) | Value::Number(_) => value.to_string(),
                    Value::Null | Value::Array(_) | Value::Object(_) => continue,
                };
                self.set(name, &value, &file.path, None);
            }
        }
        self
    }

    /// The origin of a variable, if it is not the terminal.
    pub fn origin(&self, name: &str) -> Option<&Origin> {
        self.origins.get(name)
    }

    fn add(&mut self, name: &str, value: &str, path: &Path, line: Option<usize>) {
        let is_free = match self.all.value(name) {
            Some(value) => self.takes_empty_for_none && value.is_empty(),
            None => true,
        };
        if is_free {
            self.set(name, value, path, line);
        }
    }

    fn set(&mut self, name: &str, value: &str, path: &Path, line: Option<usize>) {
        if !PILLIONS.contains(&name) {
            let all = std::mem::take(&mut self.all);
            self.all = all.with(name, Some(value));
            let path = path.to_owned();
            self.origins.insert(name.to_owned(), Origin { path, line });
        }
    }

    fn take_home(&mut self, terminal: &Environment) {
        let first = terminal.qwen_home();
        let mut files = vec![first.join(".env")];
        if terminal.filled("QWEN_HOME").is_none() {
            files.extend(first.parent().map(|home| home.join(".env")));
        }
        self.take_first(&files);
        let found = self.all.qwen_home();
        if found != first {
            self.take_first(&[found.join(".env")]);
        }
    }

    fn take_first(&mut self, files: &[PathBuf]) {
        for path in files {
            for entry in entries(path) {
                if FIRST.contains(&entry.name.as_str()) && !entry.value.is_empty() {
                    self.add(&entry.name, &entry.value, path, Some(entry.line));
                }
            }
        }
    }

    fn add_from_settings(&mut self, start: &Start<'_>) {
        let excluded = start.kept_from_projects();
        for file in start.settings.counting(start.trust.is_trusted()) {
            let set = file.content.get(&["env"]).and_then(Value::as_object);
            for (name, value) in set.into_iter().flatten() {
                if let Some(value) = value.as_str()
                    && !excluded.contains(&name.as_str())
                {
                    self.add(name, value, &file.path, None);
                }
            }
        }
    }
}

impl Start<'_> {
    /// The files that the agent reads, in the order in which they count.
    fn files(&self, environment: &Environment) -> Vec<PathBuf> {
        let reads_own = is_qwen_since(self.release, READS_OWN);
        if !reads_own && !self.reads_projects(self.folder, environment) {
            return Vec::new();
        }
        let own = || self.own.iter().filter(|path| path.exists()).cloned();
        for folder in self.folder.ancestors() {
            if folder == self.home {
                if reads_own || own().next().is_some() {
                    break;
                }
            } else if let Some(project) = self.of_project(folder, environment) {
                let besides = own().filter(|_| reads_own);
                return std::iter::once(project).chain(besides).collect();
            }
        }
        own().take(if reads_own { usize::MAX } else { 1 }).collect()
    }

    /// The file of a folder that is not the home directory.
    fn of_project(&self, folder: &Path, environment: &Environment) -> Option<PathBuf> {
        let hidden = folder.join(directory(self.release.agent)).join(".env");
        let plain = folder.join(".env");
        let is_ignored = self.setting(&["advanced", "ignoreLocalEnv"]).next();
        let passes_over = self.release.agent == Dialect::GeminiCli
            && self.release.version >= PASSES_OVER
            && is_ignored == Some(&Value::Bool(true));
        let mut files = [Some(hidden), Some(plain).filter(|_| !passes_over)]
            .into_iter()
            .flatten();
        files.find(|path| {
            let is_own = self.own.contains(path);
            path.exists() && (is_own || self.reads_projects(folder, environment))
        })
    }

    /// Returns true if the agent reads `.env` files of a project's folder.
    fn reads_projects(&self, folder: &Path, environment: &Environment) -> bool {
        if !self.trust.is_trusted() || self.release.agent == Dialect::GeminiCli {
            return self.trust.is_trusted();
        }
        let own = || trust(self.release, environment, self.settings, folder);
        folder == self.folder || own() != Trust::Distrusted
    }

    /// The variables that the agent does not take from this file.
    fn excluded(&self, path: &Path) -> Vec<&str> {
        let directory = directory(self.release.agent);
        let is_own = self.own.contains(&path.to_owned());
        let is_agents = match self.release.agent {
            Dialect::GeminiCli => path.to_string_lossy().contains(directory),
            _ => {
                is_own
                    || path
                        .parent()
                        .is_some_and(|parent| parent.ends_with(directory))
            }
        };
        let mut names = Vec::new();
        if !is_agents {
            let named = self.setting(&["advanced", "excludedEnvVars"]);
            let named = named.filter_map(Value::as_array).flatten();
            names.extend(named.filter_map(Value::as_str));
        }
        if !is_own {
            names.extend(self.kept_from_projects());
        }
        names
    }

    /// The variables that Qwen Code takes from the user's own files only.
    fn kept_from_projects(&self) -> &'static [&'static str] {
        match is_qwen_since(self.release, KNOWS_HOME) {
            true => &["QWEN_HOME", "TMPDIR", "TMP", "TEMP"],
            false => &[],
        }
    }

    /// The values in the settings that count, the last word first.
    fn setting<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = &'a Value> {
        let counting = self.settings.counting(self.trust.is_trusted());
        counting.filter_map(|file| file.content.get(names))
    }
}

/// Returns true if it is this release of Qwen Code, or a later one.
fn is_qwen_since(release: Release, since: Version) -> bool {
    release.agent == Dialect::QwenCode && release.version >= since
}

/// The user's own `.env` files.
fn own_files(release: Release, home: &Path, environment: &Environment) -> Vec<PathBuf> {
    let usual = home.join(directory(release.agent)).join(".env");
    let mut files = Vec::new();
    if is_qwen_since(release, KNOWS_HOME) {
        files.push(environment.qwen_home().join(".env"));
    }
    if !files.contains(&usual) {
        files.push(usual);
    }
    files.push(home.join(".env"));
    files
}

/// The assignments of a file, each variable once. A file that cannot be read assigns nothing.
fn entries(path: &Path) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    // Mostly there is none: then nothing waits until the parser's pattern is compiled.
    let Ok(text) = regular_file::read(path, MAX_FILE) else {
        return entries;
    };
    for entry in dotenv::parse(&String::from_utf8_lossy(&text)) {
        entries.retain(|known| known.name != entry.name);
        entries.push(entry);
    }
    entries
}
