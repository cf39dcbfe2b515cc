//! The agent's settings files, read and not judged.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use pillion_agent::find::{Release, Version, is_truthy};
use pillion_discovery::{Environment, canonicalize, is_same, regular_file};
use pillion_hooks::settings::Format;
use pillion_protocol::Dialect;
use pillion_protocol::dialect::Base;
use regex_automata::meta::Regex;
use serde_json::{Map, Value};

use super::owner::{self, Insecure};

/// No settings file of a person's is as long.
const MAX_FILE: u64 = 4 << 20;

/// The settings that turn IDE mode on, now and in the agents' first months.
pub const ENABLED: [&str; 2] = ["ide", "enabled"];
/// Its name in those months.
pub const OLD_NAME: &str = "ideMode";

/// Since this release, Gemini CLI takes the administrator's files only where nobody else can write.
const IS_CAREFUL: Version = Version::new(0, 60, 0);

/// The settings files in the order in which agents merge them: a later one wins.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// In that order.
    pub files: Vec<SettingsFile>,
    /// Beside them.
    pub trust: TrustList,
}

/// The agent's list of the folders that the user trusts or does not.
#[derive(Debug, Clone, Default)]
pub struct TrustList {
    /// The file.
    pub path: PathBuf,
    /// Its rules, one for each folder.
    pub rules: Vec<TrustRule>,
    /// The error that makes it unreadable, if there is one.
    pub broken: Option<String>,
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
    /// The folder's own: counts where the folder is trusted.
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
    /// The agent passes it over, as others than the administrator could have written it.
    Insecure(Insecure),
    /// Its settings.
    Object(Map<String, Value>),
}

/// One line of the agent's list of trusted folders.
#[derive(Debug, Clone)]
pub struct TrustRule {
    /// The folder at and below which it counts, by its real path.
    pub folder: PathBuf,
    /// The longest rule decides.
    pub length: usize,
    /// True if the agent reads the folder's own files.
    pub is_trusted: bool,
}

impl Settings {
    /// Returns true if no file turns IDE mode on, whichever of them counts: then it is off. The content of a
    /// broken file is not known.
    pub fn has_ide_mode_nowhere(&self) -> bool {
        self.files.iter().all(|file| {
            let is_broken = matches!(file.content, Content::Broken(_));
            let is_set = |names: &[&str]| file.content.get(names).is_some_and(is_truthy);
            !is_broken && !is_set(&ENABLED) && !is_set(&[OLD_NAME])
        })
    }

    /// The files that count where the folder is trusted or is not, the last word first.
    pub fn counting(&self, is_trusted: bool) -> impl Iterator<Item = &SettingsFile> {
        let files = self.files.iter().rev();
        files.filter(move |file| is_trusted || file.scope != Scope::Project)
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

/// The file of the user's settings; none if it is an agent without any that are known.
pub fn user_file(agent: Dialect, environment: &Environment) -> Option<PathBuf> {
    let folder = match agent {
        Dialect::ClaudeCode => environment.base(Base::ClaudeConfig),
        Dialect::CopilotCli => environment.base(Base::CopilotHome),
        Dialect::CodexCli => return Some(environment.codex_home().join("config.toml")),
        Dialect::QwenCode => environment.base(Base::QwenHome),
        Dialect::GeminiCli => home(agent, environment).join(directory(agent)),
        Dialect::OpenCode | Dialect::Script => return None,
    };
    Some(folder.join("settings.json"))
}

/// Reads every settings file that the agent reads when it starts in `folder`.
pub fn read(release: Release, environment: &Environment, folder: &Path) -> Settings {
    let agent = release.agent;
    let prefix = match agent {
        Dialect::QwenCode => "QWEN_CODE",
        _ => "GEMINI_CLI",
    };
    let user = user_file(agent, environment).unwrap_or_default();
    let named = |file: &str| {
        let variable = format!("{prefix}_{file}_PATH");
        environment.filled(&variable).map(PathBuf::from)
    };
    let system = named("SYSTEM_SETTINGS");
    let system = system.unwrap_or_else(|| system_folder(agent).join("settings.json"));
    let defaults = named("SYSTEM_DEFAULTS");
    let defaults = defaults.unwrap_or_else(|| system.with_file_name("system-defaults.json"));
    let project = folder.join(directory(agent)).join("settings.json");
    let mut places = vec![
        (Scope::SystemDefaults, defaults),
        (Scope::User, user.clone()),
    ];
    // In the home directory both would be one file.
    if !is_same(&project, &user) {
        places.push((Scope::Project, project));
    }
    places.push((Scope::System, system));
    let is_careful = agent == Dialect::GeminiCli && release.version >= IS_CAREFUL;
    let files = places.into_iter().map(|(scope, path)| {
        let is_administrators = matches!(scope, Scope::System | Scope::SystemDefaults);
        let insecure = (is_careful && is_administrators)
            .then(|| owner::insecure(&path))
            .flatten();
        let mut content = match insecure {
            Some(insecure) => Content::Insecure(insecure),
            None => content(&path, agent == Dialect::QwenCode),
        };
        if let Content::Object(object) = &mut content {
            let values = object.values_mut();
            values.for_each(|value| expand_all(value, environment));
        }
        SettingsFile {
            scope,
            path,
            content,
        }
    });
    let trust = named("TRUSTED_FOLDERS");
    let trust = trust.unwrap_or_else(|| user.with_file_name("trustedFolders.json"));
    Settings {
        files: files.collect(),
        trust: trust_list(trust),
    }
}

/// The content of a file, whose texts stand for themselves.
pub(super) fn content(path: &Path, ignores_mark: bool) -> Content {
    if !path.exists() {
        return Content::Missing;
    }
    match regular_file::read(path, MAX_FILE) {
        Ok(bytes) => parse(&bytes, ignores_mark),
        Err(error) => Content::Broken(error.to_string()),
    }
}

/// As the agents parse: comments are allowed, trailing commas are not. A byte order mark is ignored
/// by Qwen Code, and by Gemini CLI not.
fn parse(bytes: &[u8], ignores_mark: bool) -> Content {
    let broken = |why: &str| Content::Broken(why.to_owned());
    let Ok(text) = str::from_utf8(bytes) else {
        return broken("it is not in UTF-8");
    };
    if text.starts_with('\u{feff}') && !ignores_mark {
        return broken("it starts with a byte order mark");
    }
    match Format::Json.values(text) {
        // Hooks can be added to such a file, but no agent reads it.
        Ok(_) if !text.contains('{') => broken("it has no JSON object"),
        Ok(object) => Content::Object(object),
        Err(refused) => Content::Broken(refused.why),
    }
}

fn trust_list(path: PathBuf) -> TrustList {
    let (rules, broken) = match content(&path, false) {
        Content::Object(rules) => (rules, None),
        Content::Broken(reason) => (Map::new(), Some(reason)),
        Content::Missing | Content::Insecure(_) => (Map::new(), None),
    };
    let mut list = TrustList {
        path,
        rules: Vec::new(),
        broken,
    };
    for (folder, level) in rules {
        let length = folder.len();
        let folder = PathBuf::from(folder);
        let (folder, is_trusted) = match level.as_str() {
            Some("TRUST_FOLDER") => (Some(folder), true),
            Some("TRUST_PARENT") => (folder.parent().map(Path::to_owned), true),
            Some("DO_NOT_TRUST") => (Some(folder), false),
            _ => {
                let reason = format!("the value for {} is not a trust level", folder.display());
                list.broken = Some(reason);
                continue;
            }
        };
        list.rules.extend(folder.map(|folder| TrustRule {
            folder: canonicalize(&folder).unwrap_or(folder),
            length,
            is_trusted,
        }));
    }
    list
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

/// Puts their values for the variables that texts name, as `$NAME`, `${NAME}` or `${NAME:-else}`.
fn expand_all(value: &mut Value, environment: &Environment) {
    match value {
        Value::String(text) => *text = expand(text, environment),
        Value::Array(values) => values
            .iter_mut()
            .for_each(|value| expand_all(value, environment)),
        Value::Object(object) => object
            .values_mut()
            .for_each(|value| expand_all(value, environment)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A variable in a text, and what stands for it where it is not set.
static VARIABLE: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"\$(?:([A-Za-z0-9_]+)|\{([^}]+?)(?::-([^}]*))?\})";
    Regex::new(pattern).expect("the pattern is valid")
});

/// A variable that is not set stays as it stands there.
fn expand(text: &str, environment: &Environment) -> String {
    if !text.contains('$') {
        return text.to_owned();
    }
    let mut expanded = String::new();
    let mut end = 0;
    for found in VARIABLE.captures_iter(text) {
        let group = |index| found.get_group(index).map(|span| &text[span.range()]);
        let name = group(1).or_else(|| group(2)).unwrap_or_default();
        let value = environment.value(name).map(|value| value.to_string_lossy());
        let value = value.as_deref().or_else(|| group(3)).or_else(|| group(0));
        let whole = found.get_match().map_or(end..end, |whole| whole.range());
        expanded.extend([&text[end..whole.start], value.unwrap_or_default()]);
        end = whole.end;
    }
    expanded + &text[end..]
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
        assert_eq!(reason, "it starts with a byte order mark");
    }

    #[test]
    fn variables_in_texts_are_their_values() {
        let environment = Environment::from_pairs([("A", "x"), ("EMPTY", "")]);
        for (text, expected) in [
            ("$A-${A}-${A:-y}", "x-x-x"),
            ("$B ${B} ${B:-y:-z}", "$B ${B} y:-z"),
            ("$EMPTY|${EMPTY:-y}|${B:-}", "||"),
            ("$ $$A ${A ${}", "$ $x ${A ${}"),
            ("ä$Aä", "äxä"),
        ] {
            assert_eq!(expand(text, &environment), expected, "{text}");
        }
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
            "{\"a\": \"b\nc\"}",
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
