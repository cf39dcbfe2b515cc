//! Claude Code's settings files, and the file in which it keeps what it was told in its menus.

use std::path::{Path, PathBuf};

use pillion_discovery::{Environment, canonicalize};
use pillion_protocol::dialect::Base;

use super::settings::{Content, Scope, Settings, SettingsFile, plain};

/// Where an administrator's settings are.
const MANAGED: &str = if cfg!(target_os = "macos") {
    "/Library/Application Support/ClaudeCode/managed-settings.json"
} else if cfg!(windows) {
    r"C:\Program Files\ClaudeCode\managed-settings.json"
} else {
    "/etc/claude-code/managed-settings.json"
};

/// Reads them as it does that is started in `folder`. A later one wins; the last is no settings file,
/// but what `/config` writes.
pub fn read(environment: &Environment, folder: &Path) -> Settings {
    let user = environment.base(Base::ClaudeConfig).join("settings.json");
    let project = folder.join(".claude/settings.json");
    let mut places = vec![(Scope::User, user.clone())];
    // In the home directory both would be one file.
    if canonicalize(&project).ok() != canonicalize(&user).ok() || !project.exists() {
        places.push((Scope::Project, project));
    }
    places.push((Scope::Local, folder.join(".claude/settings.local.json")));
    places.push((Scope::System, PathBuf::from(MANAGED)));
    places.push((Scope::Menus, menus(environment)));
    let files = places.into_iter().map(|(scope, path)| {
        let content: Content = plain(&path);
        SettingsFile {
            scope,
            path,
            content,
        }
    });
    Settings {
        files: files.collect(),
        ..Settings::default()
    }
}

fn menus(environment: &Environment) -> PathBuf {
    let home = match environment.filled("CLAUDE_CONFIG_DIR") {
        Some(_) => environment.base(Base::ClaudeConfig),
        None => environment.home().unwrap_or_default(),
    };
    home.join(".claude.json")
}
