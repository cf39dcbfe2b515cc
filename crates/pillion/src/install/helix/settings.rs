//! `languages.toml` with Pillion and without, as text: nothing of the user's is written anew, and what was
//! added is taken away to the byte. Helix replaces a language's own servers by a list in this file, so a
//! list is extended, or starts with those that Helix was built with.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

use pillion_text::fingerprint;
use serde::{Deserialize, Serialize};
use toml_edit::{ImDocument, Item, Table, Value};

use super::super::edit::Refused;
use super::languages::Language;

/// The line before what is ours.
const BEGIN: &str =
    "# >>> `pillion install helix` wrote this; `pillion uninstall helix` removes it >>>";

/// The start of the line after it.
const END: &str = "# <<< pillion install helix ";

/// The end of a line of ours in an entry of the user's.
const MARK: &str = " # pillion install helix ";

const SERVER: &str = "[language-server.pillion]\ncommand = \"pillion\"\nargs = [\"lsp\"]\n";

const ENTRY: &str = "\"pillion\"";

/// The facts that are needed to undo it.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    /// There was no file.
    is_new: bool,
    /// The newlines that were added before.
    newlines: usize,
    /// The languages of the user's own entries that it was added to.
    lists: BTreeSet<String>,
}

/// It is TOML, but nothing can be added.
fn inline(key: &str) -> Refused {
    Refused {
        why: format!("`{key}` is not written as a table, so no entry can be added"),
        hint: "Write each entry as a table of its own, such as `[[language]]`.",
    }
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
///
/// # Errors
/// Why nothing can be added.
pub fn install(text: Option<&str>, known: &[Language]) -> Result<String, Refused> {
    let clean = match text {
        // What an older version wrote, or one for another Helix, goes first.
        Some(text) if is_installed(text) => uninstall(text)?,
        other => other.map(str::to_owned),
    };
    let text = clean.as_deref().unwrap_or_default();
    let document = parse(text)?;
    let has_server = match document.get("language-server") {
        None => false,
        Some(Item::Table(table)) => table.contains_key("pillion"),
        Some(_) => return Err(inline("language-server")),
    };
    let entries = entries(&document)?;
    let mut result = text.to_owned();
    let lists = extend(&mut result, &entries, known);
    let is_ended = result.is_empty() || result.ends_with('\n');
    let newlines = usize::from(!is_ended) + usize::from(!result.is_empty());
    let record = Record {
        is_new: clean.is_none(),
        newlines,
        lists,
    };
    let listed: BTreeSet<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    let missing = known.iter();
    let missing = missing.filter(|language| !listed.contains(language.name.as_str()));
    result += &"\n".repeat(newlines);
    result += &block(&record, has_server, missing);
    // Two tables that are one for Helix, say.
    parse(&result)?;
    Ok(result)
}

/// Adds Pillion to the user's own entries. The languages whose lists it was added to.
fn extend(text: &mut String, entries: &[Entry], known: &[Language]) -> BTreeSet<String> {
    let mut lists = BTreeSet::new();
    let mut inserts = Vec::new();
    for entry in entries {
        inserts.push(match &entry.list {
            Some(list) if list.at.is_some() => continue,
            Some(list) => list.insert.clone(),
            None => {
                let own = known.iter().find(|language| language.name == entry.name);
                let own = own.map_or(&[][..], |language| &language.servers);
                (entry.start, line(own))
            }
        });
        lists.insert(entry.name.clone());
    }
    inserts.sort_by_key(|(at, _)| Reverse(*at));
    for (at, insert) in inserts {
        text.insert_str(at, &insert);
    }
    lists
}

/// Without Pillion; nothing, if there was no file before.
///
/// # Errors
/// When what is ours was changed.
pub fn uninstall(text: &str) -> Result<Option<String>, Refused> {
    let (block, record) = find(text)?;
    let before = &text[..block.start];
    let newlines = before.len() - before.trim_end_matches('\n').len();
    let before = &before[..before.len() - record.newlines.min(newlines)];
    let mut result = without_lines(&format!("{before}{}", &text[block.end..]));
    let document = parse(&result)?;
    let ours = entries(&document)?.into_iter();
    let ours = ours.filter(|entry| record.lists.contains(&entry.name));
    let mut removes: Vec<Range<usize>> = ours.filter_map(|entry| entry.list?.at).collect();
    removes.sort_by_key(|range| Reverse(range.start));
    for range in removes {
        result.replace_range(range, "");
    }
    Ok((!record.is_new || !result.is_empty()).then_some(result))
}

/// An entry for a language in the user's file.
struct Entry {
    name: String,
    /// The start of the line of its name.
    start: usize,
    list: Option<List>,
}

/// Its servers.
struct List {
    /// The place of Pillion among them, with its separator.
    at: Option<Range<usize>>,
    /// The place and the text by which Pillion would get there.
    insert: (usize, String),
}

fn parse(text: &str) -> Result<ImDocument<String>, Refused> {
    ImDocument::parse(text.to_owned()).map_err(|error| {
        let line = error.span().map(|span| line_number(text, span.start));
        let line = line
            .map(|line| format!("line {line}: "))
            .unwrap_or_default();
        let message = error.message().replace('\n', "; ");
        Refused {
            why: format!("it cannot be parsed: {line}{message}"),
            hint: "Fix the file; `hx --health` checks it.",
        }
    })
}

fn entries(document: &ImDocument<String>) -> Result<Vec<Entry>, Refused> {
    let tables = match document.get("language") {
        None => return Ok(Vec::new()),
        Some(Item::ArrayOfTables(tables)) => tables,
        Some(_) => return Err(inline("language")),
    };
    let text = document.raw();
    Ok(tables
        .iter()
        .filter_map(|table| entry(text, table))
        .collect())
}

/// Nothing, if it has no name: Helix refuses such a file.
fn entry(text: &str, table: &Table) -> Option<Entry> {
    let name = table.get("name")?;
    let at = name.span()?.start;
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let servers = table.get("language-servers");
    Some(Entry {
        name: name.as_str()?.to_owned(),
        start,
        list: servers.and_then(|servers| list(text, servers)),
    })
}

fn list(text: &str, list: &Item) -> Option<List> {
    let (array, span) = (list.as_array()?, list.span()?);
    let name = |value: &Value| match value {
        Value::InlineTable(table) => Some(table.get("name")?.as_str()?.to_owned()),
        other => other.as_str().map(str::to_owned),
    };
    let mut values = array.iter();
    let pillion = values.find(|value| name(value).as_deref() == Some("pillion"));
    let at = pillion.and_then(Value::span);
    let insert = match array.iter().last().and_then(Value::span) {
        Some(last) => (last.end, format!(", {ENTRY}")),
        None => (span.start + 1, ENTRY.to_owned()),
    };
    Some(List {
        at: at.map(|at| with_separator(text, at)),
        insert,
    })
}

/// With the comma before it, or the one behind it if it is the first.
fn with_separator(text: &str, span: Range<usize>) -> Range<usize> {
    let before = text[..span.start].trim_end_matches([' ', '\t']);
    if before.ends_with(',') {
        return before.len() - 1..span.end;
    }
    let after = text[span.end..].trim_start_matches([' ', '\t']);
    match after.strip_prefix(',') {
        Some(rest) => {
            let rest = rest.trim_start_matches([' ', '\t']);
            span.start..text.len() - rest.len()
        }
        None => span,
    }
}

fn servers(own: &[String]) -> String {
    let all: Vec<&str> = own.iter().map(String::as_str).chain([ENTRY]).collect();
    format!("language-servers = [{}]", all.join(", "))
}

/// A line of ours in an entry of the user's.
fn line(own: &[String]) -> String {
    let line = servers(own);
    let hash = hash(&line);
    format!("{line}{MARK}{hash}\n")
}

/// Without the lines of ours that are as they were, and without our mark on those that are not.
fn without_lines(text: &str) -> String {
    let mut kept = String::new();
    for line in text.split_inclusive('\n') {
        let content = line.trim_end_matches(['\r', '\n']);
        match content.rsplit_once(MARK) {
            Some((ours, mark)) if hash(ours) == mark => {}
            Some((changed, _)) => kept += &format!("{changed}{}", &line[content.len()..]),
            None => kept += line,
        }
    }
    kept
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
        let name = Value::from(language.name.as_str()).to_string();
        let servers = servers(&language.servers);
        block += &format!("\n[[language]]\nname = {}\n{servers}\n", name.trim());
    }
    let hash = hash(&block);
    format!("{BEGIN}\n{block}{END}{hash}\n")
}

/// Finds our part, with its first and last line.
fn find(text: &str) -> Result<(Range<usize>, Record), Refused> {
    let begin = format!("{BEGIN}\n");
    let starts = text.match_indices(&begin).map(|(at, _)| at);
    let mut starts = starts.filter(|at| *at == 0 || text[..*at].ends_with('\n'));
    let start = starts.next().unwrap_or_default();
    let changed = || changed(line_number(text, start));
    let content = start + begin.len();
    let rest = text.get(content..).ok_or_else(changed)?;
    let length = rest.find(&format!("\n{END}")).ok_or_else(changed)? + 1;
    let (block, end) = rest.split_at(length);
    let last = end.lines().next().unwrap_or_default();
    let record = block
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("# "));
    let record = record.and_then(|record| serde_json::from_str(record).ok());
    let record: Record = record.ok_or_else(changed)?;
    if last.strip_prefix(END) != Some(&hash(block)) {
        return Err(changed());
    }
    let end = content + length + last.len();
    let newline = usize::from(text[end..].starts_with('\n'));
    Ok((start..end + newline, record))
}

fn line_number(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

fn hash(text: &str) -> String {
    let mut hash = fingerprint::hash(text.as_bytes());
    hash.truncate(8);
    hash
}

#[cfg(test)]
mod tests;
