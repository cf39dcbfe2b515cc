//! The agent's settings files, read and not judged.

use std::fs;
use std::path::{Path, PathBuf};

use json_comments::{CommentSettings, StripComments};
use pillion_discovery::Environment;
use pillion_protocol::Dialect;
use serde_json::{Map, Value};

/// No settings file of a person's is as long.
const MAX_FILE: u64 = 4 << 20;

/// The settings files in the order in which agents merge them: a later one wins.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    pub files: Vec<SettingsFile>,
    /// The folders that the user trusts or does not, by their real paths.
    pub trust: Vec<TrustRule>,
}

#[derive(Debug, Clone)]
pub struct SettingsFile {
    pub scope: Scope,
    pub path: PathBuf,
    pub content: Content,
}

/// Whose settings they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    SystemDefaults,
    User,
    /// The folder's own: counts where the folder is trusted.
    Project,
    /// The administrator's last word.
    System,
}

/// What is in a settings file.
#[derive(Debug, Clone)]
pub enum Content {
    Missing,
    /// Not a JSON object, and why not.
    Broken(String),
    Object(Map<String, Value>),
}

/// One line of the agent's list of trusted folders.
#[derive(Debug, Clone)]
pub struct TrustRule {
    /// The folder at and below which it counts, by its real path.
    pub folder: PathBuf,
    /// The longest rule decides.
    pub length: usize,
    pub is_trusted: bool,
}

/// How an agent's settings files are named.
struct Names {
    folder: PathBuf,
    project: &'static str,
    /// The variables that name the administrator's files.
    system: &'static str,
    defaults: &'static str,
    system_folder: &'static str,
    trust: &'static str,
}

fn names(agent: Dialect, environment: &Environment) -> Names {
    if agent == Dialect::QwenCode {
        return Names {
            folder: environment.qwen_home(),
            project: ".qwen",
            system: "QWEN_CODE_SYSTEM_SETTINGS_PATH",
            defaults: "QWEN_CODE_SYSTEM_DEFAULTS_PATH",
            system_folder: if cfg!(target_os = "macos") {
                "/Library/Application Support/QwenCode"
            } else if cfg!(windows) {
                r"C:\ProgramData\qwen-code"
            } else {
                "/etc/qwen-code"
            },
            trust: "QWEN_CODE_TRUSTED_FOLDERS_PATH",
        };
    }
    let home = environment.filled("GEMINI_CLI_HOME").map(PathBuf::from);
    let home = home.or_else(|| environment.home()).unwrap_or_default();
    Names {
        folder: home.join(".gemini"),
        project: ".gemini",
        system: "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
        defaults: "GEMINI_CLI_SYSTEM_DEFAULTS_PATH",
        system_folder: if cfg!(target_os = "macos") {
            "/Library/Application Support/GeminiCli"
        } else if cfg!(windows) {
            r"C:\ProgramData\gemini-cli"
        } else {
            "/etc/gemini-cli"
        },
        trust: "GEMINI_CLI_TRUSTED_FOLDERS_PATH",
    }
}

/// Reads every settings file that the agent reads when it starts in `folder`.
pub fn read(agent: Dialect, environment: &Environment, folder: &Path) -> Settings {
    let names = names(agent, environment);
    let named = |variable| environment.filled(variable).map(PathBuf::from);
    let system = named(names.system);
    let system = system.unwrap_or_else(|| Path::new(names.system_folder).join("settings.json"));
    let defaults =
        named(names.defaults).unwrap_or_else(|| system.with_file_name("system-defaults.json"));
    let user = names.folder.join("settings.json");
    let project = folder.join(names.project).join("settings.json");
    let mut places = vec![
        (Scope::SystemDefaults, defaults),
        (Scope::User, user.clone()),
    ];
    // In the home directory both would be one file.
    if project.canonicalize().ok() != user.canonicalize().ok() || !project.exists() {
        places.push((Scope::Project, project));
    }
    places.push((Scope::System, system));
    let files = places.into_iter().map(|(scope, path)| SettingsFile {
        content: content(&path, agent == Dialect::QwenCode),
        scope,
        path,
    });
    let trust = named(names.trust);
    let trust = trust.unwrap_or_else(|| names.folder.join("trustedFolders.json"));
    Settings {
        files: files.collect(),
        trust: trust_rules(&trust),
    }
}

/// What a file that begins with a byte order mark begins with.
const MARK: &[u8] = "\u{feff}".as_bytes();

fn content(path: &Path, ignores_mark: bool) -> Content {
    match fs::metadata(path) {
        Err(_) => return Content::Missing,
        Ok(metadata) if !metadata.is_file() => {
            return Content::Broken("it is not a regular file".to_owned());
        }
        Ok(metadata) if metadata.len() > MAX_FILE => {
            return Content::Broken("it is too long".to_owned());
        }
        Ok(_) => {}
    }
    match fs::read(path) {
        Ok(bytes) => parse(&bytes, ignores_mark),
        Err(error) => Content::Broken(error.to_string()),
    }
}

/// As the agents parse: comments are allowed, trailing commas are not. A byte order mark is ignored
/// by Qwen Code, and by Gemini CLI not.
fn parse(bytes: &[u8], ignores_mark: bool) -> Content {
    let bytes = match bytes.strip_prefix(MARK) {
        Some(rest) if ignores_mark => rest,
        Some(_) => return Content::Broken("it begins with a byte order mark".to_owned()),
        None => bytes,
    };
    let stripped = StripComments::with_settings(CommentSettings::c_style(), bytes);
    match serde_json::from_reader(stripped) {
        Ok(Value::Object(object)) => Content::Object(object),
        Ok(_) => Content::Broken("it is not a JSON object".to_owned()),
        Err(error) => Content::Broken(error.to_string()),
    }
}

fn trust_rules(path: &Path) -> Vec<TrustRule> {
    let Content::Object(rules) = content(path, false) else {
        return Vec::new();
    };
    let rule = |(folder, level): (String, Value)| {
        let length = folder.len();
        let folder = PathBuf::from(folder);
        let (folder, is_trusted) = match level.as_str()? {
            "TRUST_FOLDER" => (folder, true),
            "TRUST_PARENT" => (folder.parent()?.to_owned(), true),
            "DO_NOT_TRUST" => (folder, false),
            _ => return None,
        };
        Some(TrustRule {
            folder: folder.canonicalize().unwrap_or(folder),
            length,
            is_trusted,
        })
    };
    rules.into_iter().filter_map(rule).collect()
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
    fn a_byte_order_mark_is_ignored_by_qwen_code_only() {
        let text = "\u{feff}{\"ide\": {\"enabled\": true}}".as_bytes();
        let on = Some(&Value::Bool(true));
        assert_eq!(parse(text, true).get(&["ide", "enabled"]), on);
        let Content::Broken(reason) = parse(text, false) else {
            panic!("Gemini CLI does not start with it");
        };
        assert_eq!(reason, "it begins with a byte order mark");
    }

    #[test]
    fn comments_are_allowed_and_trailing_commas_are_not() {
        let text = "{ // yes\n \"ide\": /* also # here */ {\"enabled\": true}, \"u\": \"//x\" }";
        let content = parse(text.as_bytes(), false);
        assert_eq!(content.get(&["ide", "enabled"]), Some(&Value::Bool(true)));
        assert_eq!(content.get(&["u"]), Some(&Value::from("//x")));
        assert_eq!(content.get(&["ide", "enabled", "x"]), None);
        for broken in [
            "{\"a\": 1,}",
            "",
            "[]",
            "{",
            "# no\n{}",
            "\"x\"",
            &"[".repeat(9999),
        ] {
            assert!(
                matches!(parse(broken.as_bytes(), true), Content::Broken(_)),
                "{broken:.20}"
            );
        }
    }
}
