//! Pillion's hooks in the settings of the agent's user, read and not judged.

use std::path::{Path, PathBuf};

use pillion_discovery::{Environment, regular_file};
use pillion_hooks::settings::{self, CommandLine, Format, Hook};
use pillion_protocol::Dialect;
use pillion_system::{SearchPath, is_program};
use serde_json::{Map, Value};

use super::settings::user_file;

/// No settings file of a person's is as long.
const MAX_FILE: u64 = 4 << 20;

/// The facts about an agent's hooks.
#[derive(Debug, Clone, Default)]
pub struct Hooks {
    /// The settings file in which `pillion hook install` puts them.
    pub path: PathBuf,
    /// Why it cannot be read, if it cannot.
    pub broken: Option<String>,
    /// Its content.
    pub values: Map<String, Value>,
    /// Ours, as far as they stand in that file.
    pub ours: Vec<Ours>,
    /// True if it is a script of ours, and not what this version writes.
    pub is_other_script: bool,
}

/// A hook of ours.
#[derive(Debug, Clone)]
pub struct Ours {
    /// The hook.
    pub hook: Hook,
    /// The command that it runs.
    pub command: CommandLine,
    /// True if that program is there and may be run.
    pub has_program: bool,
}

impl Hooks {
    /// Those of an agent in a settings file with these values. `has_program` tells whether a program is there.
    pub fn of(
        agent: Dialect,
        path: PathBuf,
        values: Map<String, Value>,
        has_program: impl Fn(&str) -> bool,
    ) -> Self {
        let ours = settings::hooks(&values).into_iter().filter_map(|hook| {
            let command = hook.ours(agent.name())?;
            let has_program = has_program(&command.program);
            Some(Ours {
                hook,
                command,
                has_program,
            })
        });
        Self {
            ours: ours.collect(),
            path,
            broken: None,
            values,
            is_other_script: false,
        }
    }

    /// Returns true if this text, which has hooks of ours, would be another one if they were installed again.
    fn is_not_written_as(&self, agent: Dialect, text: &str) -> bool {
        self.ours.first().is_some_and(|ours| {
            let entries = pillion_hooks::of(agent).entries(&ours.command.to_string());
            let written = settings::add(Format::of(agent), Some(text), agent.name(), &entries);
            written.as_deref() != Ok(text)
        })
    }
}

/// Reads those of an agent.
pub fn read(agent: Dialect, environment: &Environment) -> Hooks {
    let path = user_file(agent, environment);
    let text = match regular_file::read(&path, MAX_FILE) {
        Ok(bytes) => String::from_utf8(bytes).map_err(|_| "it is not in UTF-8".to_owned()),
        Err(_) if !path.exists() => Ok(String::new()),
        Err(error) => Err(error.to_string()),
    };
    let format = Format::of(agent);
    let read = text.and_then(|text| match format.values(&text) {
        Ok(values) => Ok((values, text)),
        Err(refused) => Err(refused.why),
    });
    match read {
        Ok((values, text)) => {
            let hooks = Hooks::of(agent, path, values, |it| has_program(it, environment));
            Hooks {
                is_other_script: format == Format::Script && hooks.is_not_written_as(agent, &text),
                ..hooks
            }
        }
        Err(why) => Hooks {
            path,
            broken: Some(why),
            ..Hooks::default()
        },
    }
}

fn has_program(program: &str, environment: &Environment) -> bool {
    let path = Path::new(program);
    match path.is_absolute() {
        true => is_program(path),
        false => {
            let folders = SearchPath::of(|name| environment.filled(name)).without_relative();
            path.components().count() == 1 && folders.programs(program).next().is_some()
        }
    }
}
