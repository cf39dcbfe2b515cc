//! Settings in JSON with comments: what stands there, and what of it is ours.
//!
//! A list or an object that is made for our entry starts with a line break, and in one that was there and is empty the
//! entry follows the bracket at once: that is how it is known later whether the container goes with the entry.

mod layout;

use std::ops::Range;

use jsonc_parser::ast::{self, Object};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Map, Value};

use self::layout::{
    Container, child_at, container, insert, is_made_for_one, line_indent, made_list, properties,
    ranges, unit, without, written,
};
use super::{Refused, count, is_our_hook, is_our_item, newline, position};
use crate::call::Entry;

/// The text where there is no file.
pub const EMPTY: &str = "{\n}\n";

const HOOKS: &str = "hooks";

/// A file starts with it if its writer marked it as Unicode.
const MARK: char = '\u{feff}';

/// The list of an event.
struct Event<'a> {
    property: Range<usize>,
    list: Container,
    elements: &'a [ast::Value<'a>],
}

pub fn add(text: &str, agent: &str, entries: &[Entry]) -> Result<String, Refused> {
    let (mark, text) = split_mark(text);
    let mut text = text.to_owned();
    let mut entries = entries.iter();
    if is_blank(&text)?
        && let Some(first) = entries.next()
    {
        text = with_root(&text, first);
    }
    for entry in entries {
        text = add_one(&text, agent, entry)?;
    }
    Ok(format!("{mark}{text}"))
}

pub fn remove(text: &str, agent: &str) -> Result<String, Refused> {
    let (mark, text) = split_mark(text);
    let mut text = text.to_owned();
    let mut left = count(&values(&text)?, agent);
    while let Some(shorter) = remove_last(&text, agent)? {
        let now = count(&values(&shorter)?, agent);
        if now >= left {
            break;
        }
        (left, text) = (now, shorter);
    }
    Ok(format!("{mark}{text}"))
}

pub fn values(text: &str) -> Result<Map<String, Value>, Refused> {
    let (_, text) = split_mark(text);
    match is_blank(text)? {
        true => Ok(Map::new()),
        false => read(text, |root| Ok(object(root))),
    }
}

/// A text without an object, and the object that is made for this entry. A blank stands before its only property, where no
/// other edit of ours puts one; and it ends with a line break only if it needed none before it. Behind a carriage return
/// there is none at all: together they would be another one.
fn with_root(text: &str, entry: &Entry) -> String {
    let (nl, unit) = (newline(text), "  ");
    let list = made_list(entry.event, &entry.item, unit, unit, nl);
    let root = format!("{{ \"{HOOKS}\": {{{nl}{unit}{list}{nl}}} }}");
    match text.chars().next_back() {
        None | Some('\n') => format!("{text}{root}{nl}"),
        Some('\r') => format!("{text}{root}"),
        Some(_) => format!("{text}{nl}{root}"),
    }
}

/// The text without the root object, if that was made for our hooks, which are all that it has.
fn without_root<'a>(text: &'a str, root: &Object) -> Option<&'a str> {
    let [only] = &root.properties[..] else {
        return None;
    };
    let blanks = [
        &text[root.range.start + 1..only.range.start],
        &text[only.range.end..root.range.end - 1],
    ];
    let before = &text[..root.range.start];
    let before = match &text[root.range.end..] {
        "\n" | "\r\n" => before,
        "" if before.ends_with('\r') => before,
        "" => before.strip_suffix(newline(text))?,
        _ => return None,
    };
    (blanks == [" "; 2] && is_blank(before).ok()?).then_some(before)
}

fn split_mark(text: &str) -> (&str, &str) {
    match text.strip_prefix(MARK) {
        Some(rest) => text.split_at(text.len() - rest.len()),
        None => ("", text),
    }
}

/// One entry in the list of one event.
fn add_one(text: &str, agent: &str, entry: &Entry) -> Result<String, Refused> {
    let Entry { event, item } = entry;
    read(text, |root| {
        let unit = unit(text, root);
        let (nl, top) = (newline(text), container(root.range, properties(root)));
        let Some(hooks) = hooks(text, root)? else {
            let write = |indent: &str| {
                let inner = format!("{indent}{unit}");
                let list = made_list(event, item, &inner, unit, nl);
                format!("\"{HOOKS}\": {{{nl}{inner}{list}{nl}{indent}}}")
            };
            return Ok(insert(text, &top, unit, true, write));
        };
        let Some(found) = event_of(text, hooks, event)? else {
            let write = |indent: &str| made_list(event, item, indent, unit, nl);
            let hooks = container(hooks.range, properties(hooks));
            return Ok(insert(text, &hooks, unit, false, write));
        };
        let mut elements = found.elements.iter();
        let mixed = |element| without_hook(text, element, agent);
        if let Some(shorter) = elements.find_map(mixed) {
            return add_one(&shorter, agent, entry);
        }
        let is_ours = |element: &&ast::Value| is_our_item(&value(element), agent);
        let mut ours = found.elements.iter().filter(is_ours);
        let (first, second) = (ours.next(), ours.next());
        match first {
            Some(first) if second.is_none() => {
                if value(first) == *item {
                    return Ok(text.to_owned());
                }
                let range = first.range();
                let new = written(item, line_indent(text, range.start), unit, nl);
                Ok(format!(
                    "{}{new}{}",
                    &text[..range.start],
                    &text[range.end..]
                ))
            }
            // Several of ours, by whatever accident: one is enough.
            Some(first) => {
                let at = found
                    .list
                    .children
                    .iter()
                    .position(|child| child.start == first.start());
                let shorter = without(text, &found.list, at.unwrap_or_default());
                add_one(&shorter, agent, entry)
            }
            None => {
                let write = |indent: &str| written(item, indent, unit, nl);
                Ok(insert(text, &found.list, unit, false, write))
            }
        }
    })
}

/// Takes the last of our hooks out, if there is one.
fn remove_last(text: &str, agent: &str) -> Result<Option<String>, Refused> {
    if is_blank(text)? {
        return Ok(None);
    }
    read(text, |root| {
        let Some(hooks) = hooks(text, root)? else {
            return Ok(None);
        };
        let mut last: Option<(usize, String)> = None;
        for property in &hooks.properties {
            let Ok(Some(event)) = event_of(text, hooks, property.name.as_str()) else {
                continue;
            };
            for (index, element) in event.elements.iter().enumerate() {
                let start = element.start();
                if last.as_ref().is_some_and(|(other, _)| *other > start) {
                    continue;
                }
                if is_our_item(&value(element), agent) {
                    last = Some((start, without_entry(text, root, hooks, &event, index)));
                } else if let Some(shorter) = without_hook(text, element, agent) {
                    last = Some((start, shorter));
                }
            }
        }
        Ok(last.map(|(_, shorter)| shorter))
    })
}

/// Without an entry, and without the list and the object if they were made for it.
fn without_entry(text: &str, root: &Object, hooks: &Object, event: &Event, index: usize) -> String {
    if !is_made_for_one(text, &event.list) {
        return without(text, &event.list, index);
    }
    let events = container(hooks.range, properties(hooks));
    if !is_made_for_one(text, &events) {
        return without(text, &events, child_at(&events, event.property.start));
    }
    let top = container(root.range, properties(root));
    let own = root
        .properties
        .iter()
        .find(|property| property.name.as_str() == HOOKS);
    let start = own.map_or(top.open, |property| property.range.start);
    if let Some(text) = without_root(text, root) {
        return text.to_owned();
    }
    without(text, &top, child_at(&top, start))
}

/// Without our hook in a group that has others, which somebody put together.
fn without_hook(text: &str, group: &ast::Value, agent: &str) -> Option<String> {
    if is_our_item(&value(group), agent) {
        return None;
    }
    let hooks = group.as_object()?.get_array(HOOKS)?;
    let is_ours = |hook: &ast::Value| is_our_hook(&value(hook), agent);
    let index = hooks.elements.iter().rposition(is_ours)?;
    Some(without(
        text,
        &container(hooks.range, ranges(&hooks.elements)),
        index,
    ))
}

/// Returns true if there is nothing but white space and comments.
fn is_blank(text: &str) -> Result<bool, Refused> {
    parsed(text, |root| Ok(root.is_none()))
}

fn read<T>(text: &str, then: impl FnOnce(&Object) -> Result<T, Refused>) -> Result<T, Refused> {
    parsed(text, |root| match root {
        Some(ast::Value::Object(root)) => then(root),
        Some(other) => Err(wrong(
            text,
            other.start(),
            "it is not a JSON object".to_owned(),
        )),
        None => Err(wrong(text, 0, "it is empty".to_owned())),
    })
}

/// Parses a text as the agents do: with comments, and without anything else that is not JSON.
fn parsed<T>(
    text: &str,
    then: impl FnOnce(Option<&ast::Value>) -> Result<T, Refused>,
) -> Result<T, Refused> {
    let options = ParseOptions {
        allow_comments: true,
        allow_loose_object_property_names: false,
        allow_trailing_commas: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options);
    let parsed = parsed.map_err(|error| Refused {
        why: format!(
            "it is not valid JSON: {} at {}",
            lower(error.kind()),
            position(text, error.range().start)
        ),
        hint: "Correct that place first; comments are allowed, trailing commas are not.",
    })?;
    then(parsed.value.as_ref())
}

fn lower(kind: &impl ToString) -> String {
    let text = kind.to_string();
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| {
        first.to_lowercase().chain(chars).collect()
    })
}

fn wrong(text: &str, at: usize, what: String) -> Refused {
    Refused {
        why: format!("{what} ({})", position(text, at)),
        hint: "Correct that first: the agent itself does not expect it either.",
    }
}

/// The object with the hooks, if there is one.
fn hooks<'a>(text: &str, root: &'a Object<'a>) -> Result<Option<&'a Object<'a>>, Refused> {
    match only(text, root, HOOKS)? {
        None => Ok(None),
        Some(ast::ObjectProp {
            value: ast::Value::Object(hooks),
            ..
        }) => Ok(Some(hooks)),
        Some(other) => Err(wrong(
            text,
            other.value.start(),
            format!("`{HOOKS}` is not an object"),
        )),
    }
}

fn event_of<'a>(
    text: &str,
    hooks: &'a Object<'a>,
    name: &str,
) -> Result<Option<Event<'a>>, Refused> {
    match only(text, hooks, name)? {
        None => Ok(None),
        Some(ast::ObjectProp {
            value: ast::Value::Array(list),
            range,
            ..
        }) => Ok(Some(Event {
            property: range.start..range.end,
            list: container(list.range, ranges(&list.elements)),
            elements: &list.elements,
        })),
        Some(other) => Err(wrong(
            text,
            other.value.start(),
            format!("`{HOOKS}.{name}` is not a list"),
        )),
    }
}

/// The property of this name, which may be there once.
fn only<'a>(
    text: &str,
    object: &'a Object<'a>,
    name: &str,
) -> Result<Option<&'a ast::ObjectProp<'a>>, Refused> {
    let mut named = object
        .properties
        .iter()
        .filter(|property| property.name.as_str() == name);
    let first = named.next();
    match named.next() {
        None => Ok(first),
        Some(again) => Err(wrong(
            text,
            again.start(),
            format!("`{name}` is there twice"),
        )),
    }
}

fn object(object: &Object) -> Map<String, Value> {
    let properties = object.properties.iter();
    properties
        .map(|own| (own.name.as_str().to_owned(), value(&own.value)))
        .collect()
}

fn value(node: &ast::Value) -> Value {
    match node {
        ast::Value::StringLit(text) => Value::from(text.value.as_ref()),
        ast::Value::NumberLit(number) => {
            serde_json::from_str(number.value).unwrap_or(Value::from(number.value))
        }
        ast::Value::BooleanLit(is) => Value::from(is.value),
        ast::Value::Object(own) => Value::Object(object(own)),
        ast::Value::Array(list) => list.elements.iter().map(value).collect(),
        ast::Value::NullKeyword(_) => Value::Null,
    }
}
