//! TOML files. `toml_edit` tells where each table is, and the text itself is changed: its own writer would give the whole file
//! other line ends, and move the comments at the end.

use std::ops::Range;

use serde_json::{Map, Value};
use toml_edit::{ImDocument, Item, Table};

use super::{Key, Refused, after_newline, in_order, names, newline, position};

/// Parses a text.
///
/// # Errors
/// When it is not TOML.
pub fn parse(text: &str) -> Result<ImDocument<&str>, Refused> {
    ImDocument::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let reason = error.message().lines().collect::<Vec<_>>().join(", ");
        Refused {
            why: format!("it is not valid TOML: {reason} at {}", position(text, at)),
            hint: "Correct that place first.",
        }
    })
}

/// Returns the text with a block of lines at the end, after an empty line. Whether its last line ends stays as it is.
pub fn append(text: &str, block: &str) -> String {
    let nl = newline(text);
    let (gap, block) = match text.trim_start_matches('\u{feff}') {
        "" => ("", block),
        text if text.ends_with('\n') => (nl, block),
        _ => (&*nl.repeat(2), block.trim_end_matches('\n')),
    };
    format!("{text}{gap}{}", block.replace('\n', nl))
}

/// Returns the text without these lines, and without the empty one before them, or else behind them.
pub fn without(text: &str, lines: Range<usize>) -> String {
    let (before, after) = (&text[..lines.start], &text[lines.end..]);
    let rest = after.trim_start_matches([' ', '\t']);
    let after = match rest {
        "" => "",
        _ => after_newline(rest).unwrap_or(after),
    };
    let end_of_line = |text: &str| {
        let line = text.strip_suffix('\n')?;
        Some(line.strip_suffix('\r').unwrap_or(line).len())
    };
    let before = match end_of_line(before) {
        Some(end) if before[..end].ends_with('\n') => &before[..end],
        None => return format!("{before}{}", after_newline(after).unwrap_or(after)),
        Some(_) => before,
    };
    match end_of_line(before).filter(|_| after.is_empty() && !text.ends_with('\n')) {
        Some(end) => before[..end].to_owned(),
        None => format!("{before}{after}"),
    }
}

pub(super) fn values(text: &str) -> Result<Map<String, Value>, Refused> {
    let values = object(parse(text)?.as_table());
    Ok(match values {
        Value::Object(values) => values,
        _ => Map::new(),
    })
}

/// Returns the text with a table of an array at this path: in place of the one that is there, or at the end.
pub(super) fn set(text: &str, path: &[Key], value: &Value) -> Result<String, Refused> {
    let document = parse(text)?;
    let mut block = String::new();
    write(&names(path), value, &mut block);
    let result = match find(text, &document, path, 0)? {
        Some(table) if object(table) == *value => return Ok(text.to_owned()),
        Some(table) => {
            let range = place(text, table, path)?;
            let block = block.trim_end().replace('\n', newline(text));
            format!("{}{block}{}", &text[..range.start], &text[range.end..])
        }
        None => append(text, &block),
    };
    // What is written is read as it was meant, or nothing is written.
    let now = parse(&result)?;
    match find(&result, &now, path, 0)? {
        Some(table) if object(table) == *value => Ok(result),
        _ => Err(shape(path, None)),
    }
}

/// Returns the text without a table of an array.
pub(super) fn remove(text: &str, path: &[Key]) -> Result<String, Refused> {
    let document = parse(text)?;
    match find(text, &document, path, 0)? {
        Some(table) => Ok(without(text, place(text, table, path)?)),
        None => Ok(text.to_owned()),
    }
}

/// Finds the table at this path, on which every list is an array of tables.
fn find<'a>(
    text: &str,
    table: &'a Table,
    path: &[Key],
    depth: usize,
) -> Result<Option<&'a Table>, Refused> {
    let Some(Key::Name(name)) = path.get(depth) else {
        return Ok(Some(table));
    };
    match (table.get(name), path.get(depth + 1)) {
        (None, _) => Ok(None),
        (Some(Item::ArrayOfTables(tables)), Some(Key::Index(index))) => match tables.get(*index) {
            Some(table) => find(text, table, path, depth + 2),
            None => Ok(None),
        },
        (Some(Item::Table(table)), Some(Key::Name(_))) => find(text, table, path, depth + 1),
        (Some(other), _) => {
            let place = other.span().map(|span| position(text, span.start));
            Err(shape(&path[..=depth], place))
        }
    }
}

fn shape(path: &[Key], place: Option<String>) -> Refused {
    let place = place.map_or(String::new(), |place| format!(" ({place})"));
    Refused {
        why: format!(
            "`{}` is not written as a table{place}, so nothing of it can be changed",
            names(path)
        ),
        hint: "Write each entry of that list as a table of its own, below its name in double brackets, or change it yourself.",
    }
}

/// Returns the place of the table at this path, with those below it.
fn place(text: &str, table: &Table, path: &[Key]) -> Result<Range<usize>, Refused> {
    let range = span(table).unwrap_or_default();
    // Tables of others may stand between those of one.
    let mut own = Value::Object(values(&text[range.clone()])?);
    for key in path {
        own = match (key, own) {
            (Key::Name(name), Value::Object(mut fields)) if fields.len() == 1 => {
                fields.remove(*name).unwrap_or_default()
            }
            (Key::Index(_), Value::Array(mut items)) if items.len() == 1 => items.remove(0),
            (Key::Index(_), Value::Object(fields)) => Value::Object(fields),
            _ => return Err(shape(path, Some(position(text, range.start)))),
        };
    }
    Ok(range)
}

fn span(table: &Table) -> Option<Range<usize>> {
    let below = table.iter().flat_map(|(_, item)| match item {
        Item::Table(table) => vec![span(table)],
        Item::ArrayOfTables(tables) => tables.iter().map(span).collect(),
        _ => Vec::new(),
    });
    let spans = table.span().into_iter().chain(below.flatten());
    spans.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end))
}

fn object(table: &Table) -> Value {
    let items = table.iter();
    items
        .map(|(name, item)| (name.to_owned(), value(item)))
        .collect()
}

fn value(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Table(own) => object(own),
        Item::ArrayOfTables(tables) => tables.iter().map(object).collect(),
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

/// Writes an object as a table of an array, with those of its lists below it.
fn write(name: &str, item: &Value, out: &mut String) {
    *out += &format!("[[{name}]]\n");
    for (field, value) in item.as_object().map(in_order).into_iter().flatten() {
        match value {
            Value::Array(items) => {
                let name = format!("{name}.{field}");
                items.iter().for_each(|item| write(&name, item, out));
            }
            Value::String(text) => {
                *out += &format!("{field} = {}\n", toml_edit::Value::from(text.as_str()));
            }
            plain => *out += &format!("{field} = {plain}\n"),
        }
    }
}
