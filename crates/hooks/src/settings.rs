//! Settings files as texts: a value gets in, and out again, and comments, order and all that is not ours stay. So do our hooks
//! in those of an agent, whose entries are data of its protocol. `pillion install` edits those of editors with it, too.

mod json;
mod script;
#[cfg(test)]
mod tests;
pub mod toml;

use std::fmt;
use std::path::Path;

use pillion_protocol::Dialect;
use serde_json::{Map, Value};

use self::json::Json;
use crate::call::Entry;
pub use crate::format::Format;
use crate::format::SOURCE;

/// The fields of a hook that may hold its command line.
const COMMANDS: [&str; 2] = ["command", "bash"];

/// The fields of a hook that may hold the tools that it is about.
const MATCHERS: [&str; 2] = ["matcher", "match"];

/// The fields of a hook that may hold its time limit.
const LIMITS: [&str; 2] = ["timeout", "timeoutSec"];

/// One step on the way to a value in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key<'a> {
    /// The value of this name in an object or a table.
    Name(&'a str),
    /// The value at this place in a list.
    Index(usize),
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

impl Format {
    /// The language of this agent's settings.
    pub fn of(agent: Dialect) -> Self {
        crate::of(agent).format()
    }

    /// The same, but for comments, which do not keep what is ours in a file.
    #[must_use]
    pub fn with_comments(self) -> Self {
        match self {
            Self::PlainJson(_) => Self::Json,
            other => other,
        }
    }

    /// Returns the whole text as values, to be read. Of a script, these are the hooks that it starts.
    ///
    /// # Errors
    /// When it cannot be read, or is another's script.
    pub fn values(self, text: &str) -> Result<Map<String, Value>, Refused> {
        match self {
            Self::Toml => toml::values(text),
            Self::TomlList(event) => Ok(by_event(toml::values(text)?, event)),
            Self::Script => script::values(text),
            _ => Ok(self.json(text)?.values()),
        }
    }

    /// Returns the text with this value at this path: in place of the one that is there, or behind the last one where it
    /// belongs. In TOML, it is an item of a list.
    ///
    /// # Errors
    /// When the text cannot be read, or has something else on the way there.
    pub fn set(self, text: &str, path: &[Key], value: &Value) -> Result<String, Refused> {
        match self {
            Self::Toml => toml::set(text, path, value),
            Self::TomlList(event) => toml::set(text, &listed(text, path, event)?, value),
            Self::Script => Ok(value[SOURCE].as_str().unwrap_or_default().to_owned()),
            _ => self.json(text)?.set(path, value),
        }
    }

    /// Returns the text without the value at this path, and without what held nothing else.
    ///
    /// # Errors
    /// When the text cannot be read, or has something else on the way there.
    pub fn remove(self, text: &str, path: &[Key]) -> Result<String, Refused> {
        match self {
            Self::Toml => toml::remove(text, path),
            Self::TomlList(event) => toml::remove(text, &listed(text, path, event)?),
            Self::Script => Ok(String::new()),
            _ => self.json(text)?.remove(path),
        }
    }

    /// Returns true if nothing is in this text, not even a comment.
    pub fn is_empty(self, text: &str) -> bool {
        let is_blank = |it: &char| it.is_whitespace();
        let rest: String = text.chars().filter(|it| !is_blank(it)).collect();
        matches!(rest.trim_start_matches('\u{feff}'), "" | "{}")
    }

    fn json(self, text: &str) -> Result<Json, Refused> {
        let plain_for = match self {
            Self::PlainJson(program) => Some(program),
            _ => None,
        };
        Json::parse(text, plain_for)
    }
}

/// The values of a file whose hooks stand in one list, as if each event had a list of its own.
fn by_event(mut values: Map<String, Value>, event: &str) -> Map<String, Value> {
    let mut lists = Map::new();
    for item in values
        .get("hooks")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let list = lists.entry(item[event].as_str().unwrap_or_default());
        let list = list.or_insert_with(|| Value::Array(Vec::new()));
        if let Some(list) = list.as_array_mut() {
            list.push(item.clone());
        }
    }
    values.insert("hooks".to_owned(), lists.into());
    values
}

/// The path in such a file of what this path means in those values: of a new item, the end of the list.
fn listed<'a>(text: &str, path: &[Key<'a>], event: &str) -> Result<Vec<Key<'a>>, Refused> {
    let [hooks, Key::Name(name), Key::Index(index)] = path else {
        return Ok(path.to_vec());
    };
    let values = toml::values(text)?;
    let all = values.get("hooks").and_then(Value::as_array);
    let all = all.map_or(&[][..], Vec::as_slice);
    let mut own = (0..all.len()).filter(|at| all[*at][event].as_str() == Some(name));
    Ok(vec![
        *hooks,
        Key::Index(own.nth(*index).unwrap_or(all.len())),
    ])
}

/// Returns the text with these entries, which are this agent's; `text` is none if there is no file. Any that an older Pillion
/// wrote is replaced where it is, and a text that has them already stays as it is.
///
/// # Errors
/// When the text cannot be read, or has something else where hooks belong.
pub fn add(
    format: Format,
    text: Option<&str>,
    agent: &str,
    entries: &[Entry],
) -> Result<String, Refused> {
    let mut text = text.unwrap_or_default().to_owned();
    for Entry { event, item } in entries {
        let values = format.values(&text)?;
        let mut ours = places(&values, agent);
        ours.retain(|place| place.event == *event);
        let first = ours.iter().position(|place| place.hook.is_none());
        let first = first.map(|at| ours.remove(at));
        // Several of ours, by whatever accident: one is enough.
        for place in ours.iter().rev() {
            text = format.remove(&text, &place.path())?;
        }
        let list = values.get("hooks").map(|hooks| &hooks[*event]);
        let end = list.and_then(Value::as_array).map_or(0, Vec::len);
        let index = Key::Index(first.map_or(end, |place| place.group));
        text = format.set(&text, &[Key::Name("hooks"), Key::Name(event), index], item)?;
    }
    Ok(text)
}

/// Returns the text without our hooks.
///
/// # Errors
/// When the text cannot be read, or our hooks cannot be taken out of it.
pub fn remove(format: Format, text: &str, agent: &str) -> Result<String, Refused> {
    let mut text = text.to_owned();
    for place in places(&format.values(&text)?, agent).iter().rev() {
        text = format.remove(&text, &place.path())?;
    }
    Ok(text)
}

/// The place of something of ours: an item in the list of an event, or one hook of an item that has others.
struct Place {
    event: String,
    group: usize,
    hook: Option<usize>,
}

impl Place {
    fn path(&self) -> Vec<Key<'_>> {
        let item = [
            Key::Name("hooks"),
            Key::Name(&self.event),
            Key::Index(self.group),
        ];
        let hook = self.hook.map(|at| [Key::Name("hooks"), Key::Index(at)]);
        item.into_iter().chain(hook.into_iter().flatten()).collect()
    }
}

/// The places of what is ours, in the order of each list.
fn places(values: &Map<String, Value>, agent: &str) -> Vec<Place> {
    let all = hooks(values);
    let is_ours = |hook: &Hook| hook.ours(agent).is_some();
    let mut found: Vec<Place> = Vec::new();
    for hook in all.iter().filter(|hook| is_ours(hook)) {
        let (group, at) = hook.place;
        let is_beside = |other: &&Hook| other.event == hook.event && other.place.0 == group;
        let is_whole = all.iter().filter(is_beside).all(is_ours);
        if !(is_whole && at > 0) {
            found.push(Place {
                event: hook.event.clone(),
                group,
                hook: (!is_whole).then_some(at),
            });
        }
    }
    found
}

/// The names on a path, as people write them.
fn names(path: &[Key]) -> String {
    let names = path.iter().filter_map(|key| match key {
        Key::Name(name) => Some(*name),
        Key::Index(_) => None,
    });
    names.collect::<Vec<_>>().join(".")
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
                matcher: MATCHERS
                    .iter()
                    .find_map(|field| Some(group[*field].as_str()?.to_owned())),
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

/// Returns whether an agent runs a hook of its settings file at `path` with these values. Only an agent with settings in TOML,
/// which is Codex, asks the person, and writes the answer into the same file.
pub fn state(agent: Dialect, values: &Map<String, Value>, path: &Path, hook: &Hook) -> State {
    if Format::of(agent) != Format::Toml {
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

/// Returns what follows a line break.
fn after_newline(text: &str) -> Option<&str> {
    text.strip_prefix("\r\n").or(text.strip_prefix('\n'))
}

/// Returns the line ending of a text, by its first line.
fn newline(text: &str) -> &'static str {
    match text.split_once('\n') {
        Some((first, _)) if first.ends_with('\r') => "\r\n",
        _ => "\n",
    }
}
