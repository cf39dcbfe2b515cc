//! Settings in TOML. Our hooks are tables of their own at the end of the text, each with an empty line before it, so that
//! they can be taken out again to the byte.

use std::ops::Range;

use serde_json::{Map, Value};
use toml_edit::{ArrayOfTables, ImDocument, Item, Table};

use super::{Refused, count, in_order, is_our_item, newline, position};
use crate::call::Entry;

/// A file starts with it if its writer marked it as Unicode.
const MARK: char = '\u{feff}';

/// The hint of what is not written as it has to be.
const AS_TABLES: &str = "Write each hook as a table of its own, such as `[[hooks.PreToolUse]]`.";

pub fn add(text: &str, agent: &str, entries: &[Entry]) -> Result<String, Refused> {
    let mut text = text.to_owned();
    for entry in entries {
        text = add_one(&text, agent, entry)?;
    }
    Ok(text)
}

pub fn remove(text: &str, agent: &str) -> Result<String, Refused> {
    let mut text = text.to_owned();
    while let Some(range) = ours(&text, None, agent)?.pop() {
        let before = count(&values(&text)?, agent);
        text.replace_range(with_gap(&text, range), "");
        if count(&values(&text)?, agent) >= before {
            break;
        }
    }
    match count(&values(&text)?, agent) {
        0 => Ok(text),
        _ => Err(Refused {
            why: "a Pillion hook is not written as a table of its own".to_owned(),
            hint: "Take it out yourself: it runs `pillion hook`.",
        }),
    }
}

pub fn values(text: &str) -> Result<Map<String, Value>, Refused> {
    read(text, |document| Ok(table(document)))
}

fn add_one(text: &str, agent: &str, entry: &Entry) -> Result<String, Refused> {
    let nl = newline(text);
    let ours = ours(text, Some(entry.event), agent)?;
    let mut block = Vec::new();
    lines(&format!("hooks.{}", entry.event), &entry.item, &mut block);
    let block = block.join(nl);
    let mut result = text.to_owned();
    match &ours[..] {
        [] => {
            let is_empty = text.trim_start_matches(MARK).is_empty();
            let is_ended = is_empty || text.ends_with('\n');
            result += if is_empty { "" } else { nl };
            result += if is_ended { "" } else { nl };
            result += &block;
            result += if is_ended { nl } else { "" };
        }
        [_] if items(&values(text)?, entry.event, agent) == [entry.item.clone()] => {
            return Ok(result);
        }
        [first, rest @ ..] => {
            for range in rest.iter().rev() {
                result.replace_range(with_gap(&result, range.clone()), "");
            }
            result.replace_range(first.clone(), &block);
        }
    }
    // What is written is read as it was meant, or nothing is written.
    match items(&values(&result)?, entry.event, agent) == [entry.item.clone()] {
        true => Ok(result),
        false => Err(shape(entry.event, "")),
    }
}

/// Our items in the list of an event.
fn items(values: &Map<String, Value>, event: &str, agent: &str) -> Vec<Value> {
    let list = values
        .get("hooks")
        .and_then(|hooks| hooks[event].as_array());
    let items = list.into_iter().flatten();
    items
        .filter(|item| is_our_item(item, agent))
        .cloned()
        .collect()
}

/// Returns the place of something in a text, in parentheses.
fn place(text: &str, item: &Item) -> String {
    let span = item.span();
    span.map_or(String::new(), |span| {
        format!(" ({})", position(text, span.start))
    })
}

fn shape(name: &str, place: &str) -> Refused {
    Refused {
        why: format!("`hooks.{name}` is not written as tables{place}, so no hook can be added"),
        hint: AS_TABLES,
    }
}

/// Returns the places of our hooks, of one event or of all: in the order of the text.
fn ours(text: &str, event: Option<&str>, agent: &str) -> Result<Vec<Range<usize>>, Refused> {
    read(text, |document| {
        let hooks = match document.get("hooks") {
            None => return Ok(Vec::new()),
            Some(Item::Table(hooks)) => hooks,
            Some(other) => {
                let why = format!("`hooks` is not a table{}", place(text, other));
                return Err(Refused {
                    why,
                    hint: AS_TABLES,
                });
            }
        };
        let mut found = Vec::new();
        for (name, item) in hooks {
            match item {
                _ if event.is_some_and(|event| event != name) => {}
                Item::ArrayOfTables(groups) => {
                    let groups = groups
                        .iter()
                        .filter(|group| is_our_item(&Value::Object(table(group)), agent));
                    found.extend(groups.filter_map(span));
                }
                _ if event.is_some() => return Err(shape(name, &place(text, item))),
                _ => {}
            }
        }
        found.sort_by_key(|range| range.start);
        Ok(found)
    })
}

/// Returns the place of a table, with those below it.
fn span(table: &Table) -> Option<Range<usize>> {
    let below = table.iter().filter_map(|(_, item)| match item {
        Item::Table(table) => span(table),
        Item::ArrayOfTables(tables) => tables_span(tables),
        _ => None,
    });
    let spans = table.span().into_iter().chain(below);
    spans.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end))
}

fn tables_span(tables: &ArrayOfTables) -> Option<Range<usize>> {
    let spans = tables.iter().filter_map(span);
    spans.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end))
}

/// With the line break after it and the empty line before it; at the end of a text without a last line break, with the
/// two before it.
fn with_gap(text: &str, range: Range<usize>) -> Range<usize> {
    let ends = |text: &str| match text {
        _ if text.ends_with("\r\n") => 2,
        _ => usize::from(text.ends_with('\n')),
    };
    let after = &text[range.end..];
    let line = after.split_inclusive('\n').next().unwrap_or_default();
    let is_ended = line.ends_with('\n');
    // Only what is ours: a comment behind the last value would be somebody else's.
    let end = if line.trim().is_empty() {
        range.end + line.len()
    } else {
        range.end
    };
    let mut start = range.start;
    let first = ends(&text[..start]);
    let second = ends(&text[..start - first]);
    if is_ended {
        // The line before keeps its own.
        start -= if second > 0 || start == first {
            first
        } else {
            0
        };
    } else {
        start -= first + second;
    }
    start..end
}

fn read<T>(
    text: &str,
    then: impl FnOnce(&ImDocument<&str>) -> Result<T, Refused>,
) -> Result<T, Refused> {
    let document = ImDocument::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let reason = error.message().lines().collect::<Vec<_>>().join(", ");
        Refused {
            why: format!("it is not valid TOML: {reason} at {}", position(text, at)),
            hint: "Correct that place first.",
        }
    })?;
    then(&document)
}

fn table(table: &Table) -> Map<String, Value> {
    let items = table.iter();
    items
        .map(|(name, item)| (name.to_owned(), value(item)))
        .collect()
}

fn value(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Table(own) => Value::Object(table(own)),
        Item::ArrayOfTables(tables) => tables.iter().map(|own| Value::Object(table(own))).collect(),
        Item::Value(own) => plain(own),
    }
}

fn plain(own: &toml_edit::Value) -> Value {
    use toml_edit::Value as Toml;
    match own {
        Toml::String(text) => Value::from(text.value().as_str()),
        Toml::Integer(number) => Value::from(*number.value()),
        Toml::Float(number) => Value::from(*number.value()),
        Toml::Boolean(is) => Value::from(*is.value()),
        Toml::Datetime(time) => Value::from(time.value().to_string()),
        Toml::Array(items) => items.iter().map(plain).collect(),
        Toml::InlineTable(own) => {
            let own = own.iter();
            own.map(|(name, value)| (name.to_owned(), plain(value)))
                .collect()
        }
    }
}

/// An item as a table of an array, with those of its lists below it.
fn lines(name: &str, item: &Value, out: &mut Vec<String>) {
    out.push(format!("[[{name}]]"));
    for (field, value) in item.as_object().map(in_order).into_iter().flatten() {
        match value {
            Value::Array(items) => {
                let name = format!("{name}.{field}");
                items.iter().for_each(|item| lines(&name, item, out));
            }
            Value::String(text) => {
                out.push(format!(
                    "{field} = {}",
                    toml_edit::Value::from(text.as_str())
                ));
            }
            plain => out.push(format!("{field} = {plain}")),
        }
    }
}
