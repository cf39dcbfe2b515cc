//! `languages.toml` with Pillion and without, as text. Helix replaces a language's own servers by a list in this file, so a
//! list is extended, or starts with those that Helix was built with.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use pillion_hooks::settings::{Refused, toml};
use pillion_text::fingerprint;
use serde::{Deserialize, Serialize};
use toml_edit::{Array, ImDocument, Item, Table, Value};

use super::languages::Language;

/// The line before what is ours.
const BEGIN: &str =
    "# >>> `pillion install helix` wrote this; `pillion uninstall helix` removes it >>>";

/// The start of the line after it.
const END: &str = "# <<< pillion install helix ";

const SERVER: &str = "[language-server.pillion]\ncommand = \"pillion\"\nargs = [\"lsp\"]\n";

/// The facts that are needed to undo it.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    /// There was no file.
    is_new: bool,
    /// The languages of the user's own entries that it was added to, each with the line that is new there; empty if an own
    /// list was extended.
    lists: BTreeMap<String, String>,
}

/// The refusal where our text is not as we wrote it.
fn changed(line: usize) -> Refused {
    Refused {
        why: format!("what `pillion install helix` wrote was changed, from line {line} on"),
        hint: "Remove that part yourself, up to the line that starts with `# <<<`.",
    }
}

/// Returns true if something of ours is in it.
pub fn is_installed(text: &str) -> bool {
    text.lines().any(|line| line == BEGIN)
}

/// With Pillion for every language that Helix knows, and for those that the file adds.
pub fn install(text: Option<&str>, known: &[Language]) -> Result<String, Refused> {
    let (mut result, is_new) = match text {
        // What an older version wrote, or one for another Helix, goes first.
        Some(text) if is_installed(text) => without(text)?,
        other => (other.unwrap_or_default().to_owned(), other.is_none()),
    };
    let document = toml::parse(&result)?;
    let has_server = match document.get("language-server") {
        None => false,
        Some(Item::Table(table)) => table.contains_key("pillion"),
        Some(_) => return Err(inline("language-server")),
    };
    let entries = entries(&result, &document)?;
    let (mut lists, mut edits) = (BTreeMap::new(), Vec::new());
    for entry in &entries {
        let own = known.iter().find(|language| language.name == entry.name);
        let (range, new, line) = match &entry.list {
            Some((_, list)) if list.iter().any(is_pillion) => continue,
            Some((range, list)) => {
                let mut list = list.clone();
                list.push("pillion");
                (range.clone(), list.to_string(), String::new())
            }
            None => {
                let line = servers(own.map_or(&[][..], |language| &language.servers));
                let start = entry.line.start;
                let end = &result[entry.line.clone()];
                let end = &end[end.trim_end_matches(['\r', '\n']).len()..];
                let end = if end.is_empty() { "\n" } else { end };
                (start..start, format!("{line}{end}"), line)
            }
        };
        edits.push((range, new));
        lists.insert(entry.name.clone(), line);
    }
    let listed: BTreeSet<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    let missing = known.iter();
    let missing = missing.filter(|language| !listed.contains(language.name.as_str()));
    let block = block(&Record { is_new, lists }, has_server, missing);
    apply(&mut result, edits);
    let result = toml::append(&result, &block);
    // Two tables that are one for Helix, say.
    toml::parse(&result)?;
    Ok(result)
}

/// Without Pillion; nothing, if there was no file before.
pub fn uninstall(text: &str) -> Result<Option<String>, Refused> {
    let (text, is_new) = without(text)?;
    Ok((!is_new || !text.trim().is_empty()).then_some(text))
}

/// The text without Pillion, and whether there was no file before.
fn without(text: &str) -> Result<(String, bool), Refused> {
    let (block, record) = find(text)?;
    let mut text = toml::without(text, block);
    let mut edits = Vec::new();
    for entry in entries(&text, &toml::parse(&text)?)? {
        let (Some(line), Some((range, mut list))) = (record.lists.get(&entry.name), entry.list)
        else {
            continue;
        };
        let own = line_of(&text, range.start);
        if text[own.clone()].trim_end() == line {
            edits.push((own, String::new()));
        } else if list.iter().any(is_pillion) {
            list.retain(|server| !is_pillion(server));
            edits.push((range, list.to_string()));
        }
    }
    apply(&mut text, edits);
    Ok((text, record.is_new))
}

/// Carries out changes that do not touch each other.
fn apply(text: &mut String, mut edits: Vec<(Range<usize>, String)>) {
    edits.sort_by_key(|(range, _)| Reverse(range.start));
    for (range, new) in edits {
        text.replace_range(range, &new);
    }
}

/// An entry for a language in the user's file.
struct Entry {
    name: String,
    /// The line of its name.
    line: Range<usize>,
    /// Its servers, and their place.
    list: Option<(Range<usize>, Array)>,
}

fn entries(text: &str, document: &ImDocument<&str>) -> Result<Vec<Entry>, Refused> {
    match document.get("language") {
        None => Ok(Vec::new()),
        Some(Item::ArrayOfTables(tables)) => Ok(tables
            .iter()
            .filter_map(|table| entry(text, table))
            .collect()),
        Some(_) => Err(inline("language")),
    }
}

/// Nothing, if it has no name: Helix refuses such a file.
fn entry(text: &str, table: &Table) -> Option<Entry> {
    let name = table.get("name")?;
    let list = table.get("language-servers").and_then(|list| {
        let range = list.span()?;
        // By itself, it can be changed and written.
        let list: Value = text[range.clone()].parse().ok()?;
        Some((range, list.as_array()?.clone()))
    });
    Some(Entry {
        name: name.as_str()?.to_owned(),
        line: line_of(text, name.span()?.start),
        list,
    })
}

fn is_pillion(server: &Value) -> bool {
    let name = match server {
        Value::InlineTable(table) => table.get("name"),
        other => Some(other),
    };
    name.and_then(Value::as_str) == Some("pillion")
}

/// It is TOML, but nothing can be added.
fn inline(key: &str) -> Refused {
    Refused {
        why: format!("`{key}` is not written as a table, so no entry can be added"),
        hint: "Write each entry as a table of its own, such as `[[language]]`.",
    }
}

fn servers(own: &[String]) -> String {
    let own: String = own.iter().map(|server| format!("{server}, ")).collect();
    format!("language-servers = [{own}\"pillion\"]")
}

fn block<'a>(
    record: &Record,
    has_server: bool,
    missing: impl Iterator<Item = &'a Language>,
) -> String {
    let record = serde_json::to_string(record).unwrap_or_default();
    let mut block = format!("# {record}\n");
    if !has_server {
        block += SERVER;
    }
    for language in missing {
        let name = Value::from(language.name.as_str());
        let servers = servers(&language.servers);
        block += &format!("\n[[language]]\nname = {name}\n{servers}\n");
    }
    let hash = hash(&block);
    format!("{BEGIN}\n{block}{END}{hash}\n")
}

/// Finds our part, from its first line to its last.
fn find(text: &str) -> Result<(Range<usize>, Record), Refused> {
    let mut starts = text.match_indices(BEGIN).map(|(at, _)| at);
    let start = starts.find(|at| line_of(text, *at).start == *at);
    let start = start.unwrap_or_default();
    let changed = || changed(text[..start].matches('\n').count() + 1);
    let content = line_of(text, start).end;
    let end = text[content..]
        .find(&format!("\n{END}"))
        .ok_or_else(changed)?;
    let last = line_of(text, content + end + 1);
    let block = text[content..last.start].replace("\r\n", "\n");
    let record = block
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("# "));
    let record = record.and_then(|record| serde_json::from_str(record).ok());
    let is_whole = text[last.clone()].trim_end().strip_prefix(END) == Some(&hash(&block));
    let record = record.filter(|_| is_whole).ok_or_else(changed)?;
    Ok((start..last.start + text[last].trim_end().len(), record))
}

/// The line at a place, with its end.
fn line_of(text: &str, at: usize) -> Range<usize> {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[at..]
        .find('\n')
        .map_or(text.len(), |newline| at + newline + 1);
    start..end
}

fn hash(text: &str) -> String {
    let mut hash = fingerprint::hash(text.as_bytes());
    hash.truncate(8);
    hash
}

#[cfg(test)]
mod tests;
