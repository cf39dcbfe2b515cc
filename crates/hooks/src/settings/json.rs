//! JSON files: the concrete syntax tree of `jsonc-parser` knows where a new value goes, with the file's own indentation
//! and line ends. A value is taken out of the text itself, so that every comment stays.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstContainerNode, CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::{Map, Value};

use super::{Key, Refused, after_newline, in_order, names, position};

/// A file starts with it if its writer marked it as Unicode.
const MARK: char = '\u{feff}';

/// A JSON text, parsed.
pub(super) struct Json {
    mark: &'static str,
    root: CstRootNode,
}

impl Json {
    /// Parses a text, which may be blank. Nothing but comments is allowed that is not JSON, and not even those if the file
    /// has to be plain for a program.
    pub(super) fn parse(text: &str, plain_for: Option<&str>) -> Result<Self, Refused> {
        let (mark, text) = match text.strip_prefix(MARK) {
            Some(rest) => ("\u{feff}", rest),
            None => ("", text),
        };
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
        let root = CstRootNode::parse(text, &options).map_err(|error| {
            let hint = match plain_for {
                None => "Correct that place first; comments are allowed, trailing commas are not.",
                Some(_) => {
                    "Correct that place first; neither comments nor trailing commas are allowed."
                }
            };
            let (kind, at) = (error.kind().to_string(), error.range().start);
            let why = format!(
                "it is not valid JSON: {} at {}",
                lower(&kind),
                position(text, at)
            );
            Refused { why, hint }
        })?;
        // That parser lets comments pass whatever it is told, and line breaks in strings.
        let nodes = root.children();
        if let Some((program, comment)) = plain_for.zip(nodes.iter().find_map(first_comment)) {
            let place = position(text, start(&comment));
            return Err(Refused {
                why: format!(
                    "it has a comment ({place}), and {program} skips a file with comments"
                ),
                hint: "Take the comments out of it first.",
            });
        }
        let mut plain = String::new();
        nodes.iter().for_each(|node| write_plain(node, &mut plain));
        if !plain.trim().is_empty() {
            serde_json::from_str::<Value>(&plain).map_err(|error| Refused {
                why: format!("it is not valid JSON: {error}"),
                hint: "Correct that place first.",
            })?;
        }
        let json = Self { mark, root };
        match json.root.value() {
            Some(other) if other.as_object().is_none() => {
                Err(json.wrong(&other, "it is not a JSON object"))
            }
            _ => Ok(json),
        }
    }

    pub(super) fn values(&self) -> Map<String, Value> {
        match self.root.to_serde_value() {
            Some(Value::Object(values)) => values,
            _ => Map::new(),
        }
    }

    /// Returns the text with a value at this path: in place of the one that is there, or at the end of what has to hold it.
    pub(super) fn set(self, path: &[Key], value: &Value) -> Result<String, Refused> {
        let (node, depth) = self.locate(self.root.object_value_or_set(), path)?;
        let Some((key, rest)) = path[depth..].split_first() else {
            return Ok(self.replace(&node, value));
        };
        let outer = rest.iter().rev();
        let new = outer.fold(input(value), |inner, key| match key {
            Key::Name(name) => CstInputValue::Object(vec![((*name).to_owned(), inner)]),
            Key::Index(_) => CstInputValue::Array(vec![inner]),
        });
        match (key, node.as_object(), node.as_array()) {
            (Key::Name(name), Some(object), _) => drop(object.append(name, new)),
            (_, _, list) => drop(list.map(|list| list.append(new))),
        }
        Ok(self.text())
    }

    /// Returns the text without the value at this path, and without the lists and objects that held nothing else.
    pub(super) fn remove(self, path: &[Key]) -> Result<String, Refused> {
        let Some(object) = self.root.object_value() else {
            return Ok(self.text());
        };
        let (node, depth) = self.locate(object, path)?;
        Ok(match depth == path.len() {
            true => self.without(&whole(node)),
            false => self.text(),
        })
    }

    /// Finds the value at as much of this path as is there, and how much of it that is.
    fn locate(&self, root: CstObject, path: &[Key]) -> Result<(CstNode, usize), Refused> {
        let mut node: CstNode = root.into();
        for (depth, key) in path.iter().enumerate() {
            let is_no =
                |what| self.wrong(&node, &format!("`{}` is not {what}", names(&path[..depth])));
            let child = match key {
                Key::Name(name) => {
                    let object = node.as_object().ok_or_else(|| is_no("an object"))?;
                    self.property(&object, name)?
                }
                Key::Index(index) => {
                    let list = node.as_array().ok_or_else(|| is_no("a list"))?;
                    list.elements().into_iter().nth(*index)
                }
            };
            match child {
                Some(child) => node = child,
                None => return Ok((node, depth)),
            }
        }
        Ok((node, path.len()))
    }

    fn replace(&self, node: &CstNode, value: &Value) -> String {
        match node.parent() {
            _ if node.to_serde_value().as_ref() == Some(value) => {}
            // Written anew in its place, it has the right indentation.
            Some(CstContainerNode::Array(list)) => {
                list.insert(node.element_index().unwrap_or_default(), input(value));
                return self.without(node);
            }
            parent => {
                if let Some(property) = parent.and_then(|parent| parent.as_object_prop()) {
                    property.set_value(input(value));
                }
            }
        }
        self.text()
    }

    fn without(&self, node: &CstNode) -> String {
        format!("{}{}", self.mark, without(&self.root.to_string(), node))
    }

    fn text(&self) -> String {
        format!("{}{}", self.mark, self.root)
    }

    /// The value of the property of this name, which may be there once.
    fn property(&self, object: &CstObject, name: &str) -> Result<Option<CstNode>, Refused> {
        let mut named = object.properties();
        named.retain(|own| own.decoded_name().is_some_and(|own| own == name));
        match &named[..] {
            [_, again, ..] => {
                let why = format!("`{name}` is there twice");
                Err(self.wrong(&again.clone().into(), &why))
            }
            other => Ok(other.first().and_then(|own| own.value())),
        }
    }

    fn wrong(&self, node: &CstNode, what: &str) -> Refused {
        let place = position(&self.root.to_string(), start(node));
        Refused {
            why: format!("{what} ({place})"),
            hint: "Correct that first: the program that reads the file does not expect it either.",
        }
    }
}

/// The first comment in a part of a text.
fn first_comment(node: &CstNode) -> Option<CstNode> {
    match node.is_comment() {
        true => Some(node.clone()),
        false => node.children().iter().find_map(first_comment),
    }
}

/// Writes a part of a text with blanks in place of comments.
fn write_plain(node: &CstNode, out: &mut String) {
    let children = node.children();
    if node.is_comment() {
        let comment = node.to_string();
        out.extend(
            comment
                .chars()
                .map(|own| if own == '\n' { own } else { ' ' }),
        );
    } else if children.is_empty() {
        *out += &node.to_string();
    } else {
        children.iter().for_each(|child| write_plain(child, out));
    }
}

/// What goes with a value: its property, and the lists and objects around it that hold nothing else, not even a comment.
fn whole(value: CstNode) -> CstNode {
    let property =
        |node: &CstContainerNode| node.parent().filter(|it| it.as_object_prop().is_some());
    let has_comment = |node: &CstContainerNode| node.children().iter().any(CstNode::is_comment);
    let mut node = match value.parent() {
        Some(own) if own.as_object_prop().is_some() => own.into(),
        _ => value,
    };
    while let Some(holder) = node.parent()
        && let Some(property) = property(&holder)
        && holder.children_exclude_trivia_and_tokens().len() == 1
        && !has_comment(&holder)
        && !has_comment(&property)
    {
        node = property.into();
    }
    node
}

/// Returns the text without a property or an element, its comma, and the line if nothing else is on it.
fn without(text: &str, node: &CstNode) -> String {
    let (start, length) = (start(node), node.to_string().len());
    let mut before = text[..start].to_owned();
    let mut after = text[start + length..].to_owned();
    let previous = node.previous_siblings().find(CstNode::is_comma);
    let next = node.next_siblings().find(CstNode::is_comma);
    let goes_before = next.is_some() || previous.is_none();
    if let Some(comma) = next {
        after.remove(self::start(&comma) - start - length);
    } else if let Some(comma) = previous {
        before.remove(self::start(&comma));
    }
    let blanks = [' ', '\t'];
    let (line, rest) = (
        before.trim_end_matches(blanks),
        after.trim_start_matches(blanks),
    );
    match after_newline(rest) {
        Some(next) if line.ends_with('\n') => format!("{line}{next}"),
        None if goes_before || line.ends_with('\n') => format!("{before}{rest}"),
        _ => format!("{line}{after}"),
    }
}

/// The place of a node in the text.
fn start(node: &CstNode) -> usize {
    let before = node
        .previous_siblings()
        .map(|other| other.to_string().len());
    let parent = node.parent().map(CstNode::from);
    before.sum::<usize>() + parent.map_or(0, |parent| start(&parent))
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(is) => CstInputValue::Bool(*is),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(fields) => {
            let fields = in_order(fields).into_iter();
            CstInputValue::Object(
                fields
                    .map(|(name, own)| (name.clone(), input(own)))
                    .collect(),
            )
        }
    }
}

fn lower(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| {
        first.to_lowercase().chain(chars).collect()
    })
}
