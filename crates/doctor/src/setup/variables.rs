//! The variables that an agent has when it looks for its companion: those of the terminal, and for Claude Code those of
//! its settings, which have the last word.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pillion_discovery::Environment;
use pillion_protocol::Dialect;
use serde_json::Value;

use super::claude;
use super::settings::{Scope, Settings};

/// Variables that say nothing to an agent, but to Pillion where its companions' state is.
const PILLIONS: [&str; 2] = ["XDG_RUNTIME_DIR", "LOCALAPPDATA"];

/// An agent's variables.
#[derive(Debug, Clone, Default)]
pub struct Variables {
    /// All that it has.
    pub all: Environment,
    /// The origins of those that are not the terminal's.
    origins: BTreeMap<String, Origin>,
}

/// The settings file that sets a variable.
#[derive(Debug, Clone, PartialEq, Eq, derive_more::Display)]
#[display("`env` of {}", path.display())]
pub struct Origin {
    /// The file.
    pub path: PathBuf,
}

impl Variables {
    /// Those of the terminal.
    pub fn of(terminal: &Environment) -> Self {
        Self {
            all: terminal.clone(),
            origins: BTreeMap::new(),
        }
    }

    /// Those of an agent that is started in `folder`. Of its settings, nothing else is read.
    pub fn read(agent: Dialect, terminal: &Environment, folder: &Path) -> Self {
        let variables = Self::of(terminal);
        match agent {
            Dialect::ClaudeCode => variables.overridden(&claude::read(terminal, folder)),
            _ => variables,
        }
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
                self.set(name, &value, &file.path);
            }
        }
        self
    }

    /// The origin of a variable, if it is not the terminal.
    pub fn origin(&self, name: &str) -> Option<&Origin> {
        self.origins.get(name)
    }

    /// A variable's name, and the file that sets it for the agent if the terminal does not.
    pub fn shown(&self, name: &str) -> String {
        match self.origin(name) {
            Some(origin) => format!("{name} ({origin})"),
            None => name.to_owned(),
        }
    }

    fn set(&mut self, name: &str, value: &str, path: &Path) {
        if !PILLIONS.contains(&name) {
            let all = std::mem::take(&mut self.all);
            self.all = all.with(name, Some(value));
            let path = path.to_owned();
            self.origins.insert(name.to_owned(), Origin { path });
        }
    }
}
