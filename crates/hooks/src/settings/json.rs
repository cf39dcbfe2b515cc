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
    /// Parses a text, which may be blank. Nothing but comments is allowed that is not JSON, and those only if
    /// `has_comments`.
    pub(super) fn parse(text: &str, has_comments: bool) -> Result<Self, Refused> {
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
            let hint = "Correct that place first; comments are allowed, trailing commas are not.";
            let (kind, at) = (error.kind().to_string(), error.range().start);
            let why = format!(
                "it is not valid JSON: {} at {}",
                lower(&kind),
                position(text, at)
            );
            Refused { why, hint }
        })?;
        let is_blank = text.trim().is_empty();
        if !has_comments && !is_blank {
            // That parser always lets comments pass.
            serde_json::from_str::<Value>(text).map_err(|error| Refused {
                why: format!("it is not valid JSON: {error}"),
                hint: "Correct that place first; comments are not allowed.",
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
        let mut holder: CstContainerNode = self.root.object_value_or_set().into();
        for depth in 0..path.len() {
            let (key, rest) = (path[depth], &path[depth + 1..]);
            match self.child(&holder, key)? {
                None => {
                    let new = rest
                        .iter()
                        .rev()
                        .fold(input(value), |inner, key| match key {
                            Key::Name(name) => {
                                CstInputValue::Object(vec![((*name).to_owned(), inner)])
                            }
                            Key::Index(_) => CstInputValue::Array(vec![inner]),
                        });
                    append(&holder, key, new);
                    break;
                }
                Some(child) if rest.is_empty() => {
                    if child.to_serde_value().as_ref() == Some(value) {
                        break;
                    }
                    match (holder.as_array(), key, child.parent()) {
                        // Written anew in its place, it has the right indentation.
                        (Some(list), Key::Index(index), _) => {
                            list.insert(index, input(value));
                            return Ok(self.without(&child));
                        }
                        (_, _, Some(CstContainerNode::ObjectProp(property))) => {
                            property.set_value(input(value));
                        }
                        _ => {}
                    }
                }
                Some(child) => {
                    holder = self.holder(&child, rest[0], &path[..=depth])?;
                }
            }
        }
        Ok(self.text())
    }

    /// Returns the text without the value at this path, and without the lists and objects that held nothing else.
    pub(super) fn remove(self, path: &[Key]) -> Result<String, Refused> {
        let Some(object) = self.root.object_value() else {
            return Ok(self.text());
        };
        let mut node: CstNode = object.into();
        for (depth, key) in path.iter().enumerate() {
            let holder = self.holder(&node, *key, &path[..depth])?;
            let Some(child) = self.child(&holder, *key)? else {
                return Ok(self.text());
            };
            node = child;
        }
        Ok(self.without(&whole(node)))
    }

    fn without(&self, node: &CstNode) -> String {
        format!("{}{}", self.mark, without(&self.root.to_string(), node))
    }

    fn text(&self) -> String {
        format!("{}{}", self.mark, self.root)
    }

    /// The value as what a key of this kind leads into.
    fn holder(&self, node: &CstNode, key: Key, path: &[Key]) -> Result<CstContainerNode, Refused> {
        let (holder, expected): (Option<CstContainerNode>, _) = match key {
            Key::Name(_) => (node.as_object().map(Into::into), "an object"),
            Key::Index(_) => (node.as_array().map(Into::into), "a list"),
        };
        let why = || format!("`{}` is not {expected}", names(path));
        holder.ok_or_else(|| self.wrong(node, &why()))
    }

    fn child(&self, holder: &CstContainerNode, key: Key) -> Result<Option<CstNode>, Refused> {
        match (holder.as_object(), key) {
            (Some(object), Key::Name(name)) => self.property(&object, name),
            (_, Key::Index(index)) => {
                let elements = holder.as_array().map(|list| list.elements());
                Ok(elements.and_then(|elements| elements.into_iter().nth(index)))
            }
            (None, Key::Name(_)) => Ok(None),
        }
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

fn append(holder: &CstContainerNode, key: Key, value: CstInputValue) {
    match (holder.as_object(), key) {
        (Some(object), Key::Name(name)) => drop(object.append(name, value)),
        _ => drop(holder.as_array().map(|list| list.append(value))),
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
