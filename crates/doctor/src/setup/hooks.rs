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
        }
    }
}

/// Reads those of an agent; none if it has no hooks that are known.
pub fn read(agent: Dialect, environment: &Environment) -> Option<Hooks> {
    pillion_hooks::of(agent)?;
    let path = user_file(agent, environment)?;
    let values = match regular_file::read(&path, MAX_FILE) {
        Ok(bytes) => String::from_utf8(bytes)
            .map_err(|_| "it is not in UTF-8".to_owned())
            .and_then(|text| {
                Format::of(agent)
                    .values(&text)
                    .map_err(|refused| refused.why)
            }),
        Err(_) if !path.exists() => Ok(Map::new()),
        Err(error) => Err(error.to_string()),
    };
    Some(match values {
        Ok(values) => Hooks::of(agent, path, values, |it| has_program(it, environment)),
        Err(why) => Hooks {
            path,
            broken: Some(why),
            ..Hooks::default()
        },
    })
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
