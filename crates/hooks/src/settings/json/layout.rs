//! Finds where an entry goes in a JSON text, and what goes with it: brackets, commas, comments and white space.
//!
//! Each change inserts one entry at one place, so that it can be taken out again to the byte.

use std::ops::Range;

use jsonc_parser::ast::Object;
use jsonc_parser::common::Ranged;
use serde_json::Value;

use super::super::{in_order, newline};

/// A list or an object in a text.
pub(super) struct Container {
    /// Behind the opening bracket.
    pub(super) open: usize,
    /// At the closing one.
    pub(super) close: usize,
    pub(super) children: Vec<Range<usize>>,
}

pub(super) fn properties(object: &Object) -> Vec<Range<usize>> {
    ranges(&object.properties)
}

pub(super) fn ranges(children: &[impl Ranged]) -> Vec<Range<usize>> {
    children
        .iter()
        .map(|child| child.start()..child.end())
        .collect()
}

pub(super) fn container(
    range: jsonc_parser::common::Range,
    children: Vec<Range<usize>>,
) -> Container {
    Container {
        open: range.start + 1,
        close: range.end - 1,
        children,
    }
}

pub(super) fn child_at(container: &Container, start: usize) -> usize {
    let mut children = container.children.iter();
    children
        .position(|child| child.start == start)
        .unwrap_or_default()
}

/// Returns the indent of a level, by the first line of the outermost object.
pub(super) fn unit<'a>(text: &'a str, root: &Object) -> &'a str {
    let first = root
        .properties
        .first()
        .map(|property| indent_before(text, property.range.start));
    let own = first.flatten().unwrap_or_default();
    match own.strip_prefix(line_indent(text, root.range.start)) {
        Some(unit) if !unit.is_empty() => unit,
        _ => "  ",
    }
}

/// The white space before a place, if nothing else stands before it on its line.
fn indent_before(text: &str, at: usize) -> Option<&str> {
    let white = white_before(text, at);
    let line = white.rfind('\n')?;
    Some(&white[line + 1..])
}

/// The white space with which the line of a place starts.
pub(super) fn line_indent(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |line| line + 1);
    let line = &text[start..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// The white space that ends at a place.
fn white_before(text: &str, at: usize) -> &str {
    let before = &text[..at];
    &before[before.trim_end_matches([' ', '\t', '\r', '\n']).len()..]
}

pub(super) fn made_list(event: &str, item: &Value, indent: &str, unit: &str, nl: &str) -> String {
    let inner = format!("{indent}{unit}");
    let item = written(item, &inner, unit, nl);
    format!("\"{event}\": [{nl}{inner}{item}{nl}{indent}]")
}

/// A value, of which the lines after the first are indented.
pub(super) fn written(value: &Value, indent: &str, unit: &str, nl: &str) -> String {
    let inner = format!("{indent}{unit}");
    let block = |open: char, lines: Vec<String>, close: char| {
        let lines = lines.join(&format!(",{nl}{inner}"));
        format!("{open}{nl}{inner}{lines}{nl}{indent}{close}")
    };
    match value {
        Value::Array(items) => {
            let items = items.iter().map(|item| written(item, &inner, unit, nl));
            block('[', items.collect(), ']')
        }
        Value::Object(fields) => {
            let fields = in_order(fields)
                .into_iter()
                .map(|(name, value)| format!("\"{name}\": {}", written(value, &inner, unit, nl)));
            block('{', fields.collect(), '}')
        }
        plain => plain.to_string(),
    }
}

/// Puts one more child at the end. In an empty container it follows the bracket, on a line of its own only if the
/// container never goes with it.
pub(super) fn insert(
    text: &str,
    container: &Container,
    unit: &str,
    is_kept: bool,
    write: impl Fn(&str) -> String,
) -> String {
    let nl = newline(text);
    let Some(last) = container.children.last() else {
        let own = line_indent(text, container.open);
        let (before, after) = text.split_at(container.open);
        if is_kept && text[container.open..container.close].contains('\n') {
            let indent = format!("{own}{unit}");
            return format!("{before}{nl}{indent}{}{after}", write(&indent));
        }
        return format!("{before}{}{after}", write(own));
    };
    let (end, is_cut) = end_of_line(text, last.end, container.close);
    let (separator, indent) = match indent_before(text, last.start) {
        Some(indent) => (format!("{nl}{indent}"), indent),
        None if is_cut => {
            let indent = line_indent(text, last.start);
            (format!("{nl}{indent}"), indent)
        }
        None => (" ".to_owned(), line_indent(text, last.start)),
    };
    let (before, comments, after) = (&text[..last.end], &text[last.end..end], &text[end..]);
    format!("{before},{comments}{separator}{}{after}", write(indent))
}

/// Returns where the comments behind a value end that stand on its line, and whether a line break has to follow.
fn end_of_line(text: &str, from: usize, to: usize) -> (usize, bool) {
    let (mut at, mut end) = (from, from);
    while at < to {
        let rest = &text[at..to];
        if rest.starts_with([' ', '\t']) {
            at += 1;
        } else if rest.starts_with("//") {
            let length = rest.find(['\r', '\n']).unwrap_or(rest.len());
            return (at + length, true);
        } else if let Some(body) = rest.strip_prefix("/*") {
            let Some(length) = body.find("*/") else { break };
            at += length + 4;
            end = at;
        } else {
            break;
        }
    }
    (end, false)
}

/// Returns true if the only child stands in a container that was made for it.
pub(super) fn is_made_for_one(text: &str, container: &Container) -> bool {
    let [only] = &container.children[..] else {
        return false;
    };
    let (before, after) = (
        &text[container.open..only.start],
        &text[only.end..container.close],
    );
    before.contains('\n') && before.trim().is_empty() && after.trim().is_empty()
}

/// Takes a child out, with the comma and the white space that belong to it.
pub(super) fn without(text: &str, container: &Container, index: usize) -> String {
    let own = &container.children[index];
    if let Some(previous) = index.checked_sub(1).map(|at| &container.children[at]) {
        let (comma, end) = comma(text, previous.end, own.start);
        return [&text[..comma], &text[comma + 1..end], &text[own.end..]].concat();
    }
    if let Some(next) = container.children.get(1) {
        let (comma, end) = comma(text, own.end, next.start);
        let end = if end == comma + 1 {
            next.start
        } else {
            comma + 1
        };
        let kept = if end == next.start {
            ""
        } else {
            &text[own.end..comma]
        };
        return [&text[..own.start], kept, &text[end..]].concat();
    }
    let white = white_before(text, own.start).len();
    let start = (own.start - white).max(container.open);
    let is_cut = start > container.open && !text[own.end..].starts_with(['\r', '\n']);
    let start = if is_cut { own.start } else { start };
    [&text[..start], &text[own.end..]].concat()
}

/// Returns where the comma between two values is, and where it or the last comment between them ends.
fn comma(text: &str, from: usize, to: usize) -> (usize, usize) {
    let (mut at, mut comma, mut end) = (from, from, from);
    while at < to {
        let rest = &text[at..to];
        let length = if rest.starts_with("//") {
            rest.find(['\r', '\n']).unwrap_or(rest.len())
        } else if let Some(body) = rest.strip_prefix("/*") {
            body.find("*/").map_or(rest.len(), |length| length + 4)
        } else {
            if rest.starts_with(',') {
                comma = at;
                end = at + 1;
            }
            at += rest.chars().next().map_or(1, char::len_utf8);
            continue;
        };
        at += length;
        end = at;
    }
    (comma, end)
}
