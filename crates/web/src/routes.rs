//! What is asked by method and path, as a call with its parameters.

use std::collections::BTreeMap;
use std::ops::Range;

use http::{Method, StatusCode};
use percent_encoding::percent_decode_str;
use pillion_view::DiffId;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::door::{Refused, not_understood, refused};
use crate::wire;

/// A request of the page.
#[derive(Debug)]
pub(crate) enum Call {
    /// Something about a pending diff.
    Diff(DiffId, OfDiff),
    /// A text is searched in all of them.
    Search(String),
    /// The list of what was written.
    Turns,
    /// An act on a turn or a change of it.
    Turn(Option<String>, TurnDo, wire::TurnAct),
    /// Words on a row of that list.
    TurnWords(String, wire::RowTyped),
    /// The former decisions, or one of them.
    History(Option<usize>),
    /// When agents are to ask.
    Review(wire::Choose),
    /// Notes are sent now.
    SendNotes,
    /// An agent is pointed to lines.
    Mention(wire::Mention),
}

/// A request about a diff.
#[derive(Debug)]
pub(crate) enum OfDiff {
    Rows(wire::RowsQuery),
    Row(wire::RowsQuery, wire::RowOf),
    Colours(u64, Range<usize>, Range<usize>),
    Text(wire::TextQuery),
    Toggle(wire::Lines),
    Split(wire::Lines),
    Edit(wire::EditText),
    Undo(wire::At),
    Redo(wire::At),
    Merge(wire::At),
    Note(wire::NoteText),
    Words(wire::Typed),
    Whitespace(wire::Whitespace),
    Seen(wire::SeenLines),
    /// Other texts of the file, to be compared with.
    Bases,
    Decide(wire::DecideNow),
}

/// An act on what was written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TurnDo {
    Look,
    Keep,
    TakeBack,
    Undo,
    Stage,
}

/// Reads a body.
///
/// # Errors
/// When it is something else.
pub(crate) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refused> {
    serde_json::from_slice(body).map_err(|error| not_understood(format!("not understood: {error}")))
}

fn nothing() -> Refused {
    refused(
        StatusCode::NOT_FOUND,
        "notFound",
        "there is no such address here",
    )
}

/// The parameters of an address.
pub(crate) fn query(query: &str) -> BTreeMap<String, String> {
    let decode = |text: &str| {
        let text = text.replace('+', " ");
        percent_decode_str(&text).decode_utf8_lossy().into_owned()
    };
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(name, value)| (decode(name), decode(value)))
        .collect()
}

/// The parameters as a type: numbers and truth values are what they look like, but for those that are texts.
fn parameters<T: DeserializeOwned>(text: &str, texts: &[&str]) -> Result<T, Refused> {
    let pairs = query(text).into_iter().map(|(name, value)| {
        let plain = match texts.contains(&&*name) {
            true => None,
            false => serde_json::from_str(&value).ok(),
        };
        (name, plain.unwrap_or(Value::String(value)))
    });
    let object = Value::Object(pairs.collect::<Map<_, _>>());
    serde_json::from_value(object)
        .map_err(|error| not_understood(format!("not understood: {error}")))
}

/// Lines, as `3-17`.
fn lines(text: Option<&String>) -> Result<Range<usize>, Refused> {
    let Some(text) = text else {
        return Ok(0..0);
    };
    let ends = text.split_once('-');
    let ends = ends.and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
    let (from, to) =
        ends.ok_or_else(|| not_understood(format!("not understood: {text:?} are no lines")))?;
    Ok(from..to)
}

/// The call that a request is.
///
/// # Errors
/// When there is no such route, or it takes something else.
pub(crate) fn call(method: &Method, path: &str, text: &str, body: &[u8]) -> Result<Call, Refused> {
    let is_post = *method == Method::POST;
    let mut parts = path.split('/').skip(1);
    let [first, second, third] = std::array::from_fn(|_| parts.next());
    if parts.next().is_some() {
        return Err(nothing());
    }
    Ok(match (is_post, first.unwrap_or_default(), second, third) {
        (_, "diffs", Some(id), Some(what)) => {
            let id = id.parse().map_err(|_| nothing())?;
            Call::Diff(DiffId(id), of_diff(is_post, what, text, body)?)
        }
        (false, "search", None, None) => Call::Search(query(text).remove("q").unwrap_or_default()),
        (false, "turns", None, None) => Call::Turns,
        (true, "turns", Some(id), Some("words")) => Call::TurnWords(id.to_owned(), parse(body)?),
        (true, "turns", Some(id), Some(act)) => {
            let act = match act {
                "look" => TurnDo::Look,
                "keep" => TurnDo::Keep,
                "takeBack" => TurnDo::TakeBack,
                "undo" => TurnDo::Undo,
                "stage" => TurnDo::Stage,
                _ => return Err(nothing()),
            };
            let id = Some(id).filter(|it| *it != "-").map(str::to_owned);
            Call::Turn(id, act, parse(body)?)
        }
        (false, "history", at, None) => {
            let at = at.map(str::parse).transpose().map_err(|_| nothing())?;
            Call::History(at)
        }
        (true, "review", None, None) => Call::Review(parse(body)?),
        (true, "sendNotes", None, None) => Call::SendNotes,
        (true, "mention", None, None) => Call::Mention(parse(body)?),
        _ => return Err(nothing()),
    })
}

fn of_diff(is_post: bool, what: &str, text: &str, body: &[u8]) -> Result<OfDiff, Refused> {
    Ok(match (is_post, what) {
        (false, "rows") => OfDiff::Rows(parameters(text, &["unfold", "layout"])?),
        (false, "row") => OfDiff::Row(
            parameters(text, &["unfold", "layout"])?,
            parameters(text, &["side"])?,
        ),
        (false, "bases") => OfDiff::Bases,
        (false, "text") => OfDiff::Text(parameters(text, &["side"])?),
        (false, "colours") => {
            let given = query(text);
            let g = given
                .get("g")
                .and_then(|it| it.parse().ok())
                .unwrap_or_default();
            OfDiff::Colours(g, lines(given.get("left"))?, lines(given.get("right"))?)
        }
        (true, "toggle") => OfDiff::Toggle(parse(body)?),
        (true, "split") => OfDiff::Split(parse(body)?),
        (true, "edit") => OfDiff::Edit(parse(body)?),
        (true, "undo") => OfDiff::Undo(parse(body)?),
        (true, "redo") => OfDiff::Redo(parse(body)?),
        (true, "merge") => OfDiff::Merge(parse(body)?),
        (true, "note") => OfDiff::Note(parse(body)?),
        (true, "words") => OfDiff::Words(parse(body)?),
        (true, "whitespace") => OfDiff::Whitespace(parse(body)?),
        (true, "seen") => OfDiff::Seen(parse(body)?),
        (true, "decide") => OfDiff::Decide(parse(body)?),
        _ => return Err(nothing()),
    })
}
