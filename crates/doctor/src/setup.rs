//! An agent's setup here: the release that is installed, its settings, and the variables that it has once it has
//! started. Read as the agent reads it, and judged nowhere here.

mod claude;
pub mod hooks;
pub mod program;
pub mod settings;
pub mod variables;

use std::path::Path;

use pillion_discovery::Environment;
use pillion_protocol::Dialect;

use self::hooks::Hooks;
use self::settings::Settings;
use self::variables::Variables;

/// The files and variables that an agent reads before it looks for a companion.
#[derive(Debug)]
pub struct Setup {
    /// The content of its settings files.
    pub settings: Settings,
    /// Pillion's hooks.
    pub hooks: Hooks,
    /// The variables that the agent has when it looks for a companion.
    pub variables: Variables,
}

impl Setup {
    /// Reads its setup when it is started in `folder` with the variables of this `terminal`.
    pub fn read(agent: Dialect, terminal: &Environment, folder: &Path) -> Self {
        let variables = Variables::of(terminal);
        let (settings, variables) = match agent {
            Dialect::ClaudeCode => {
                let settings = claude::read(terminal, folder);
                let variables = variables.overridden(&settings);
                (settings, variables)
            }
            Dialect::GeminiCli | Dialect::QwenCode => {
                (settings::read(agent, terminal, folder), variables)
            }
            _ => (Settings::default(), variables),
        };
        Self {
            hooks: hooks::read(agent, terminal),
            settings,
            variables,
        }
    }
}
