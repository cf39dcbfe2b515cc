//! Our hooks in a settings text of an agent: how they get in, how they get out again, and what is read back. Nothing else
//! of the text ever changes. The entries are data of each agent's protocol.

mod json;
#[cfg(test)]
mod tests;
mod toml;

use std::fmt;
use std::path::Path;

use serde_json::{Map, Value};

use crate::call::Entry;

/// The fields of a hook that may hold its command line.
const COMMANDS: [&str; 2] = ["command", "bash"];

/// The fields of a hook that may hold its time limit.
const LIMITS: [&str; 2] = ["timeout", "timeoutSec"];

/// The language of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON, with comments.
    Json,
    /// TOML.
    Toml,
}

/// The command line of a hook of ours: `PROGRAM hook AGENT FLAG…`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// The path of the program.
    pub program: String,
    /// The agent's name on the command line.
    pub agent: String,
    /// The arguments that follow it.
    pub flags: Vec<String>,
}

/// One hook in a settings file.
#[derive(Debug, Clone, PartialEq)]
pub struct Hook {
    /// Its event.
    pub event: String,
    /// Its group among those of the event, and its place in the group.
    pub place: (usize, usize),
    /// The tools that it is about, as a regular expression; none for all.
    pub matcher: Option<String>,
    /// The command that the agent runs.
    pub command: String,
    /// The time limit, in the agent's unit.
    pub limit: Option<f64>,
}

/// The reason why a settings text stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The reason, with the line and column if there is one place for it.
    pub why: String,
    /// The advice to a person about it.
    pub hint: &'static str,
}

/// Returns the text with these entries, which are this agent's; `text` is none if there is no file. Any that an older Pillion
/// wrote is replaced, and a text that has them already stays as it is.
///
/// # Errors
/// When the text cannot be read, or has something else where hooks belong.
pub fn add(
    format: Format,
    text: Option<&str>,
    agent: &str,
    entries: &[Entry],
) -> Result<String, Refused> {
    let text = text.unwrap_or(match format {
        Format::Json => json::EMPTY,
        Format::Toml => "",
    });
    match format {
        Format::Json => json::add(text, agent, entries),
        Format::Toml => toml::add(text, agent, entries),
    }
}

/// Returns the text without our hooks: what it was before, byte for byte, unless somebody has changed it since.
///
/// # Errors
/// When the text cannot be read, or our hooks cannot be taken out of it.
pub fn remove(format: Format, text: &str, agent: &str) -> Result<String, Refused> {
    match format {
        Format::Json => json::remove(text, agent),
        Format::Toml => toml::remove(text, agent),
    }
}

/// Returns the whole text as values, to be read.
///
/// # Errors
/// When it cannot be read.
pub fn values(format: Format, text: &str) -> Result<Map<String, Value>, Refused> {
    match format {
        Format::Json => json::values(text),
        Format::Toml => toml::values(text),
    }
}

/// Returns every hook in a settings file with these values.
pub fn hooks(values: &Map<String, Value>) -> Vec<Hook> {
    let mut hooks = Vec::new();
    let events = values.get("hooks").and_then(Value::as_object);
    for (event, list) in events.into_iter().flatten() {
        for (index, group) in list.as_array().into_iter().flatten().enumerate() {
            let hook = |place, hook: &Value| Hook {
                event: event.clone(),
                place: (index, place),
                matcher: group["matcher"].as_str().map(str::to_owned),
                command: command(hook).unwrap_or_default().to_owned(),
                limit: LIMITS.iter().find_map(|field| hook[*field].as_f64()),
            };
            match group["hooks"].as_array() {
                Some(own) => {
                    hooks.extend(own.iter().enumerate().map(|(at, own)| hook(at, own)));
                }
                None => hooks.push(hook(0, group)),
            }
        }
    }
    hooks
}

/// Tells whether an agent runs a hook that is in its settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// It does, as far as the settings tell.
    Active,
    /// The person has turned it off.
    Disabled,
    /// The person has not trusted it yet.
    Untrusted,
}

/// Returns whether an agent runs a hook of the settings file at `path` with these values. Only an agent with settings in TOML,
/// which is Codex, asks the person, and writes the answer into the same file.
pub fn state(values: &Map<String, Value>, path: &Path, hook: &Hook) -> State {
    if Format::of(path) == Format::Json {
        return State::Active;
    }
    let (group, place) = hook.place;
    let key = format!(
        "{}:{}:{group}:{place}",
        path.display(),
        snake_case(&hook.event)
    );
    let state = values.get("hooks").map(|hooks| &hooks["state"][&key]);
    let field = |name: &str| state.map(|state| &state[name]);
    if field("enabled") == Some(&Value::Bool(false)) {
        State::Disabled
    } else if field("trusted_hash").is_some_and(Value::is_string) {
        State::Active
    } else {
        State::Untrusted
    }
}

/// `PreToolUse` as `pre_tool_use`.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for char in name.chars() {
        if char.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(char.to_ascii_lowercase());
    }
    snake
}

impl Hook {
    /// Returns its command line, if it is ours for this agent.
    pub fn ours(&self, agent: &str) -> Option<CommandLine> {
        CommandLine::parse(&self.command, agent)
    }
}

impl Format {
    /// The language of the file of this name.
    pub fn of(file: &Path) -> Self {
        match file
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            true => Self::Toml,
            false => Self::Json,
        }
    }
}

impl CommandLine {
    /// Reads a command line, if it is ours for this agent.
    pub fn parse(text: &str, agent: &str) -> Option<Self> {
        let words = shell_words::split(text).ok()?;
        let [program, hook, named, flags @ ..] = &words[..] else {
            return None;
        };
        let is_ours = is_our_program(program) && hook == "hook" && named == agent;
        is_ours.then(|| Self {
            program: program.clone(),
            agent: named.clone(),
            flags: flags.to_vec(),
        })
    }
}

impl fmt::Display for CommandLine {
    /// As a shell reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = [self.program.as_str(), "hook", &self.agent];
        let words = words
            .into_iter()
            .chain(self.flags.iter().map(String::as_str));
        f.write_str(&shell_words::join(words))
    }
}

/// Returns true if the file of a program is named like ours: that is how a hook is known to be ours.
pub fn is_our_program(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    name == "pillion" || name == "pillion.exe"
}

fn command(hook: &Value) -> Option<&str> {
    COMMANDS.iter().find_map(|field| hook[*field].as_str())
}

fn is_our_hook(hook: &Value, agent: &str) -> bool {
    command(hook).is_some_and(|command| CommandLine::parse(command, agent).is_some())
}

/// Returns true if an item in the list of an event is ours alone.
fn is_our_item(item: &Value, agent: &str) -> bool {
    match item["hooks"].as_array() {
        Some(hooks) => !hooks.is_empty() && hooks.iter().all(|hook| is_our_hook(hook, agent)),
        None => is_our_hook(item, agent),
    }
}

/// The number of our hooks in a text with these values.
fn count(values: &Map<String, Value>, agent: &str) -> usize {
    let hooks = hooks(values);
    hooks
        .iter()
        .filter(|hook| hook.ours(agent).is_some())
        .count()
}

/// The fields of an object in the order in which people write them: what it is, what else is said of it, and lists last,
/// as TOML needs it.
fn in_order(fields: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut fields: Vec<_> = fields.iter().collect();
    let rank = |(name, value): &(&String, &Value)| {
        let is_block = value.is_array() || value.is_object();
        (is_block, !matches!(name.as_str(), "type" | "matcher"))
    };
    fields.sort_by_key(rank);
    fields
}

/// The line and column of a place in a text, both from 1.
fn position(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let column = before[start..].chars().count() + 1;
    format!("line {line}, column {column}")
}

/// Returns the line ending of a text, by its first line.
fn newline(text: &str) -> &'static str {
    match text.split_once('\n') {
        Some((first, _)) if first.ends_with('\r') => "\r\n",
        _ => "\n",
    }
}
