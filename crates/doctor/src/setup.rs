//! An agent's setup here: the release that is installed, its settings, its trust in the folder, and the
//! variables that it has once it has started. Read as the agent reads it, and judged
//! nowhere here.

mod claude;
mod dotenv;
pub mod hooks;
pub mod owner;
pub mod program;
pub mod settings;
pub mod trust;
pub mod variables;

use std::path::Path;

use pillion_agent::find::Release;
use pillion_discovery::Environment;
use pillion_protocol::Dialect;
use pillion_protocol::dialect::Protocol;

use self::hooks::Hooks;
use self::settings::{Settings, SettingsFile};
use self::trust::{Trust, trust};
use self::variables::Variables;

/// The files and variables that a release of an agent reads before it looks for a companion.
#[derive(Debug)]
pub struct Setup {
    /// The content of its settings files.
    pub settings: Settings,
    /// Pillion's hooks; none if the agent has no hooks that are known.
    pub hooks: Option<Hooks>,
    /// The agent's trust in the folder: with it, it reads the folder's own files.
    pub trust: Trust,
    /// The variables that the agent has when it looks for a companion.
    pub variables: Variables,
}

impl Setup {
    /// Reads its setup when it is started in `folder` with the variables of this `terminal`.
    pub fn read(release: Release, terminal: &Environment, folder: &Path) -> Self {
        let variables = Variables::before_settings(release, terminal);
        let settings = match release.agent {
            Dialect::ClaudeCode => claude::read(terminal, folder),
            Dialect::OpenCode | Dialect::CopilotCli | Dialect::CodexCli => Settings::default(),
            _ => settings::read(release, &variables.all, folder),
        };
        let (trust, variables) = match release.agent.protocol() {
            Protocol::Claude | Protocol::Copilot | Protocol::Codex => {
                (Trust::Trusted, variables.overridden(&settings))
            }
            Protocol::Companion => {
                let trust = trust(release, &variables.all, &settings, folder);
                let variables = variables.after_settings(release, folder, &settings, trust);
                (trust, variables)
            }
        };
        Self {
            hooks: hooks::read(release.agent, terminal),
            settings,
            trust,
            variables,
        }
    }

    /// The settings files that count here, the last word first.
    pub fn counting(&self) -> impl Iterator<Item = &SettingsFile> {
        self.settings.counting(self.trust.is_trusted())
    }
}
