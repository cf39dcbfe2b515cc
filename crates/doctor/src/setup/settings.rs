//! The agent's settings files, read and not judged.

use std::path::{Path, PathBuf};

use pillion_discovery::{Environment, is_same, regular_file};
use pillion_hooks::settings::Format;
use pillion_protocol::Dialect;
use pillion_protocol::dialect::Base;
use serde_json::{Map, Value};

/// No settings file of a person's is as long.
const MAX_FILE: u64 = 4 << 20;

/// The settings that turn IDE mode on, now and in the agents' first months.
pub const ENABLED: [&str; 2] = ["ide", "enabled"];
/// Its name in those months.
pub const OLD_NAME: &str = "ideMode";

/// The settings files.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// In the order in which agents merge them: a later one wins.
    pub files: Vec<SettingsFile>,
    /// The folder's own, where it counts only if the agent trusts the folder, which is not looked into.
    pub of_folder: Option<SettingsFile>,
}

/// One settings file, which need not be there.
#[derive(Debug, Clone)]
pub struct SettingsFile {
    /// The party that it belongs to.
    pub scope: Scope,
    /// The path of the file.
    pub path: PathBuf,
    /// Its content.
    pub content: Content,
}

/// The party that settings belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The administrator's suggestions.
    SystemDefaults,
    /// The user's, for all folders.
    User,
    /// The folder's own.
    Project,
    /// The folder's own, but this user's alone (Claude Code).
    Local,
    /// The administrator's last word.
    System,
    /// The choices in the agent's menus (Claude Code).
    Menus,
}

/// The content of a settings file.
#[derive(Debug, Clone)]
pub enum Content {
    /// There is no such file.
    Missing,
    /// Not a JSON object, and why not.
    Broken(String),
    /// Its settings.
    Object(Map<String, Value>),
}

impl Settings {
    /// Returns true if no file turns IDE mode on, whichever of them counts: then it is off. The content of a
    /// broken file is not known.
    pub fn has_ide_mode_nowhere(&self) -> bool {
        self.files.iter().chain(&self.of_folder).all(|file| {
            let is_broken = matches!(file.content, Content::Broken(_));
            let is_set = |names: &[&str]| file.content.get(names) == Some(&Value::Bool(true));
            !is_broken && !is_set(&ENABLED) && !is_set(&[OLD_NAME])
        })
    }

    /// The files that count, the last word first.
    pub fn counting(&self) -> impl Iterator<Item = &SettingsFile> {
        self.files.iter().rev()
    }
}

/// The name of the agent's own directories.
pub fn directory(agent: Dialect) -> &'static str {
    match agent {
        Dialect::QwenCode => ".qwen",
        _ => ".gemini",
    }
}

/// The folder of an administrator's settings.
fn system_folder(agent: Dialect) -> PathBuf {
    let (package, application) = match agent {
        Dialect::QwenCode => ("qwen-code", "QwenCode"),
        _ => ("gemini-cli", "GeminiCli"),
    };
    if cfg!(target_os = "macos") {
        Path::new("/Library/Application Support").join(application)
    } else if cfg!(windows) {
        Path::new(r"C:\ProgramData").join(package)
    } else {
        Path::new("/etc").join(package)
    }
}

/// The home directory in the agent's view.
pub fn home(agent: Dialect, environment: &Environment) -> PathBuf {
    let named = environment.filled("GEMINI_CLI_HOME").map(PathBuf::from);
    let named = named.filter(|_| agent == Dialect::GeminiCli);
    named.or_else(|| environment.home()).unwrap_or_default()
}

/// The file of the user's settings that names hooks; of opencode, the plugin that is one.
pub fn user_file(agent: Dialect, environment: &Environment) -> PathBuf {
    let folder = match agent {
        Dialect::ClaudeCode => environment.base(Base::ClaudeConfig),
        Dialect::CopilotCli => environment.base(Base::CopilotHome),
        Dialect::CodexCli => return environment.codex_home().join("config.toml"),
        Dialect::QwenCode => environment.base(Base::QwenHome),
        Dialect::GeminiCli => home(agent, environment).join(directory(agent)),
        Dialect::KimiCode => return environment.kimi_home().join("config.toml"),
        Dialect::MistralVibe => return environment.vibe_home().join("hooks.toml"),
        Dialect::OpenCode => return environment.opencode_config().join("plugin/pillion.js"),
    };
    folder.join("settings.json")
}

/// Reads every settings file that Gemini CLI or Qwen Code reads when it starts in `folder`.
pub fn read(agent: Dialect, environment: &Environment, folder: &Path) -> Settings {
    let prefix = match agent {
        Dialect::QwenCode => "QWEN_CODE",
        _ => "GEMINI_CLI",
    };
    let user = user_file(agent, environment);
    let named = |file: &str| {
        let variable = format!("{prefix}_{file}_PATH");
        environment.filled(&variable).map(PathBuf::from)
    };
    let system = named("SYSTEM_SETTINGS");
    let system = system.unwrap_or_else(|| system_folder(agent).join("settings.json"));
    let defaults = named("SYSTEM_DEFAULTS");
    let defaults = defaults.unwrap_or_else(|| system.with_file_name("system-defaults.json"));
    let project = folder.join(directory(agent)).join("settings.json");
    let read = |(scope, path): (Scope, PathBuf)| SettingsFile {
        content: content(agent, &path),
        scope,
        path,
    };
    // In the home directory both would be one file.
    let of_folder = (!is_same(&project, &user)).then(|| read((Scope::Project, project)));
    let files = [
        (Scope::SystemDefaults, defaults),
        (Scope::User, user),
        (Scope::System, system),
    ];
    Settings {
        files: files.map(read).into(),
        of_folder,
    }
}

/// The byte order mark, which some files begin with.
const MARK: char = '\u{feff}';

/// The content of a settings file of this agent, whose texts stand for themselves.
pub(super) fn content(agent: Dialect, path: &Path) -> Content {
    if !path.exists() {
        return Content::Missing;
    }
    match regular_file::read(path, MAX_FILE) {
        Ok(bytes) => parse(agent, &bytes),
        Err(error) => Content::Broken(error.to_string()),
    }
}

/// As the agent parses: trailing commas are not allowed, and comments not by every agent.
fn parse(agent: Dialect, bytes: &[u8]) -> Content {
    let broken = |why: &str| Content::Broken(why.to_owned());
    let Ok(text) = str::from_utf8(bytes) else {
        return broken("it is not in UTF-8");
    };
    let text = text.strip_prefix(MARK).unwrap_or(text);
    match Format::of(agent).values(text) {
        // Hooks can be added to such a file, but no agent reads it.
        Ok(_) if !text.contains('{') => broken("it has no JSON object"),
        Ok(object) => Content::Object(object),
        Err(refused) => Content::Broken(refused.why),
    }
}

impl Content {
    /// The value at this path of names.
    pub fn get(&self, path: &[&str]) -> Option<&Value> {
        let Self::Object(object) = self else {
            return None;
        };
        let (first, rest) = path.split_first()?;
        rest.iter()
            .try_fold(object.get(*first)?, |value, name| value.get(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_allowed_and_trailing_commas_are_not() {
        let text = "{ // yes\n \"ide\": /* also # here */ {\"enabled\": true}, \"u\": \"//x\" }";
        let content = parse(Dialect::GeminiCli, text.as_bytes());
        assert_eq!(content.get(&["ide", "enabled"]), Some(&Value::Bool(true)));
        assert_eq!(content.get(&["u"]), Some(&Value::from("//x")));
        assert_eq!(content.get(&["ide", "enabled", "x"]), None);
        for broken in [
            "{\"a\": 1,}",
            "",
            "[]",
            "{",
            "# no\n{}",
            "{\"a\": \"b\nc\"}",
            "\"x\"",
            &"[".repeat(9999),
        ] {
            for agent in [Dialect::GeminiCli, Dialect::ClaudeCode] {
                let content = parse(agent, broken.as_bytes());
                assert!(matches!(content, Content::Broken(_)), "{broken:.20}");
            }
        }
    }

    #[test]
    fn a_file_with_comments_is_none_to_claude_code_alone() {
        for text in ["// x\n{}", "{ /* x */ \"a\": 1}", "{\"a\": [1, // x\n2]}"] {
            for agent in [Dialect::GeminiCli, Dialect::QwenCode, Dialect::CopilotCli] {
                let content = parse(agent, text.as_bytes());
                assert!(matches!(content, Content::Object(_)), "{agent}: {text}");
            }
            let Content::Broken(why) = parse(Dialect::ClaudeCode, text.as_bytes()) else {
                panic!("{text}");
            };
            assert!(
                why.contains("Claude Code skips a file with comments"),
                "{why}"
            );
        }
        let text = "{\"a\": \"/* // */\"}";
        let content = parse(Dialect::ClaudeCode, text.as_bytes());
        assert_eq!(content.get(&["a"]), Some(&Value::from("/* // */")));
    }
}
