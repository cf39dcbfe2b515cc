//! Claude Code's settings files, and the file in which it keeps what was chosen in its menus.

use std::fs;
use std::path::{Path, PathBuf};

use pillion_discovery::{Environment, is_same};
use pillion_protocol::Dialect;
use pillion_protocol::dialect::Base;

use super::settings::{Scope, Settings, SettingsFile, content, user_file};

/// The administrator's settings, besides those in a folder beside it.
const MANAGED: &str = if cfg!(target_os = "macos") {
    "/Library/Application Support/ClaudeCode/managed-settings.json"
} else if cfg!(windows) {
    r"C:\Program Files\ClaudeCode\managed-settings.json"
} else {
    "/etc/claude-code/managed-settings.json"
};

/// Reads them as an agent started in `folder` does. Later ones win; the last is not a settings file,
/// but what `/config` writes.
pub fn read(environment: &Environment, folder: &Path) -> Settings {
    let user = user_file(Dialect::ClaudeCode, environment);
    let project = folder.join(".claude/settings.json");
    let mut places = vec![(Scope::User, user.clone())];
    // In the home directory both would be one file.
    if !is_same(&project, &user) {
        places.push((Scope::Project, project));
    }
    places.push((Scope::Local, folder.join(".claude/settings.local.json")));
    let managed = PathBuf::from(MANAGED);
    let more = drop_ins(&managed.with_extension("d"));
    places.push((Scope::System, managed));
    places.extend(more.into_iter().map(|path| (Scope::System, path)));
    places.push((Scope::Menus, menus(environment)));
    let files = places.into_iter().map(|(scope, path)| SettingsFile {
        scope,
        content: content(Dialect::ClaudeCode, &path),
        path,
    });
    Settings {
        files: files.collect(),
        ..Settings::default()
    }
}

/// An administrator's files in a folder of their own, by the bytes of their names.
fn drop_ins(folder: &Path) -> Vec<PathBuf> {
    let counts = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".json") && !name.starts_with('.') && !path.is_dir()
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.path()).filter(counts).collect();
    files.sort_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
    files
}

fn menus(environment: &Environment) -> PathBuf {
    let home = match environment.filled("CLAUDE_CONFIG_DIR") {
        Some(_) => environment.base(Base::ClaudeConfig),
        None => environment.home().unwrap_or_default(),
    };
    home.join(".claude.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_administrators_folder_count_in_the_order_of_their_names() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.json", "10-x.json", "B.json", ".a.json", "a.txt", "json"] {
            fs::write(folder.path().join(name), "{}").unwrap();
        }
        fs::create_dir(folder.path().join("a.json")).unwrap();
        let found = drop_ins(folder.path());
        let names = found.iter().map(|path| path.file_name().unwrap());
        assert_eq!(names.collect::<Vec<_>>(), ["10-x.json", "B.json", "b.json"]);
        assert!(drop_ins(&folder.path().join("none")).is_empty());
    }
}
