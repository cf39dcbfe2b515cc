//! The shape of a context: looks at one, and at one file of it (C4.3 to C4.8); and at a selection, as other
//! protocols have it.

use std::path::Path;
use std::time::{Duration, SystemTime};

use pillion_discovery::is_same;
use serde_json::{Value, json};

use crate::rule::{Look, shown};

/// September 2001: no editor focused a file before, and seconds are smaller.
const EARLIEST: u64 = 1_000_000_000_000;

/// The largest distance between two clocks of one machine.
const LATEST: Duration = Duration::from_secs(60);

/// A field that a message must hold: its place, true if it must be there at all, and a test of its type.
pub(super) type Field = (&'static str, bool, fn(&Value) -> bool);

const CONTEXT: [Field; 3] = [
    ("/workspaceState", false, Value::is_object),
    ("/workspaceState/isTrusted", false, Value::is_boolean),
    ("/workspaceState/openFiles", false, Value::is_array),
];

const FILE: [Field; 6] = [
    ("/path", true, Value::is_string),
    ("/timestamp", true, Value::is_number),
    ("/isActive", false, Value::is_boolean),
    ("/selectedText", false, Value::is_string),
    ("/cursor", false, |cursor| cursor["line"].is_number()),
    ("/cursor", false, |cursor| cursor["character"].is_number()),
];

/// Every one of these fields is as it must be.
pub(super) fn fits(value: &Value, fields: &[Field]) -> Result<(), String> {
    for (place, is_required, is_type) in fields {
        let found = value.pointer(place);
        let is_right = found.map_or(!is_required, is_type);
        if !is_right {
            let name = place.trim_start_matches('/').replace('/', ".");
            let found = found.map_or_else(|| "missing".to_owned(), shown);
            return Err(format!("`{name}` is {found}"));
        }
    }
    Ok(())
}

pub(super) fn context_shape(context: &Value) -> Result<(), String> {
    if !context.is_object() {
        return Err(format!("`params` is {}", shown(context)));
    }
    fits(context, &CONTEXT)?;
    files(context).iter().try_for_each(|file| fits(file, &FILE))
}

/// Checks that a schema takes the strings that an agent sends, which are the properties of the schema `wanted`. They may be
/// left out where they are optional.
pub(super) fn takes(schema: &Value, wanted: &Value, are_optional: bool) -> Result<(), String> {
    if schema["type"] != "object" {
        return Err(shown(schema));
    }
    let sent = wanted["properties"].as_object().into_iter().flatten();
    let sent: Vec<_> = sent.map(|(field, _)| field.as_str()).collect();
    for field in &sent {
        let known = &schema["properties"][field]["type"];
        let is_text = *known == "string" || *known == json!(["string", "null"]);
        let is_open =
            schema["properties"].get(field).is_none() && schema["additionalProperties"] != false;
        if !is_text && !is_open {
            return Err(format!("it does not take the string `{field}`"));
        }
    }
    let required = schema["required"].as_array().into_iter().flatten();
    let mut required = required.filter_map(Value::as_str);
    match required.find(|field| are_optional || !sent.contains(field)) {
        Some(field) => Err(format!("it requires `{field}`, which the agent leaves out")),
        None => Ok(()),
    }
}

pub(super) fn is_absolute(path: &Value) -> bool {
    path.as_str()
        .is_some_and(|path| Path::new(path).is_absolute())
}

/// Returns true if a selection is in this file, however it is spelt.
pub(super) fn is_in(params: &Value, file: &str) -> bool {
    let path = params["filePath"].as_str();
    path.is_some_and(|path| is_same(path.as_ref(), file.as_ref()))
}

/// A `selection` does not end before it starts.
pub(super) fn ordered(selection: &Value) -> Result<(), String> {
    let place = |end: &str| {
        let number = |field: &str| selection[end][field].as_u64();
        (number("line"), number("character"))
    };
    if place("start") > place("end") {
        return Err(format!("it ends before it starts: {}", shown(selection)));
    }
    Ok(())
}

/// The open files of a context.
pub(super) fn files(context: &Value) -> &[Value] {
    let files = context.pointer("/workspaceState/openFiles");
    files.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The thing that the rule is about has another type.
const NO_SHAPE: Result<Look, String> = Ok(Look::Blocked(&["C4.3-shape"]));

pub(super) fn absolute_path(file: &Value) -> Result<Look, String> {
    let Some(path) = file["path"].as_str() else {
        return NO_SHAPE;
    };
    if Path::new(path).is_absolute() {
        return Ok(Look::Kept);
    }
    Err("it is not absolute".to_owned())
}

pub(super) fn cursor(file: &Value) -> Result<Look, String> {
    let Some(cursor) = file.get("cursor") else {
        return Ok(Look::NotAbout);
    };
    for name in ["line", "character"] {
        if !cursor[name].is_number() {
            return NO_SHAPE;
        }
        if cursor[name].as_u64().is_none_or(|number| number == 0) {
            return Err(format!("`cursor.{name}` is {}", cursor[name]));
        }
    }
    Ok(Look::Kept)
}

pub(super) fn existing_file(file: &Value) -> Result<Look, String> {
    let Some(path) = file["path"].as_str().map(Path::new) else {
        return NO_SHAPE;
    };
    if !path.is_absolute() {
        return Ok(Look::Blocked(&["C4.3-path"]));
    }
    if path.is_file() {
        return Ok(Look::Kept);
    }
    Err("the file does not exist on disk".to_owned())
}

pub(super) fn timestamp(file: &Value) -> Result<Look, String> {
    let Some(time) = file["timestamp"].as_f64() else {
        return NO_SHAPE;
    };
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let latest = (now.unwrap_or_default() + LATEST).as_millis();
    // Both limits are far below where f64 gets coarse.
    if time < EARLIEST as f64 {
        return Err(format!(
            "{time} is not a current time in milliseconds since 1970"
        ));
    }
    if time > latest as f64 {
        return Err(format!("{time} is in the future"));
    }
    Ok(Look::Kept)
}

fn is_active(file: &Value) -> bool {
    file["isActive"] == true
}

/// Kept if there are files that could be distinguished.
fn of_several(files: &[Value]) -> Look {
    match files.len() {
        0 | 1 => Look::NotAbout,
        _ => Look::Kept,
    }
}

pub(super) fn one_active(files: &[Value]) -> Result<Look, String> {
    let count = files.iter().filter(|file| is_active(file)).count();
    if count > 1 {
        return Err(format!("{count} files are active at once"));
    }
    Ok(of_several(files))
}

pub(super) fn details(file: &Value) -> Result<Look, String> {
    if is_active(file) {
        return Ok(Look::NotAbout);
    }
    let has = |name: &str| file.get(name).is_some_and(|value| !value.is_null());
    let mut details = ["cursor", "selectedText"].into_iter();
    match details.find(|name| has(name)) {
        Some(name) => Err(format!("it has a `{name}`, but is not active")),
        None => Ok(Look::Kept),
    }
}

/// The length of the selection of a file, in UTF-16 units.
pub(super) fn selection(file: &Value) -> Option<usize> {
    let text = file["selectedText"].as_str()?;
    Some(text.encode_utf16().count())
}

pub(super) fn newest_is_active(files: &[Value]) -> Result<Look, String> {
    let time = |file: &Value| file["timestamp"].as_f64();
    let Some(active) = files.iter().find(|file| is_active(file)) else {
        return Ok(Look::NotAbout);
    };
    // Of two that are equal, agents take the first.
    let mut before = files.iter().take_while(|file| !is_active(file));
    if let Some(equal) = before.find(|file| time(file).is_some() && time(file) == time(active)) {
        return Err(format!(
            "{} is active, but {} comes before it with the same timestamp",
            active["path"], equal["path"]
        ));
    }
    let is_newer =
        |file: &&Value| matches!((time(file), time(active)), (Some(a), Some(b)) if a > b);
    let newer = files.iter().filter(|file| !is_active(file)).find(is_newer);
    match newer {
        None => Ok(of_several(files)),
        Some(newer) => Err(format!(
            "{} is active, but {} has a newer timestamp",
            active["path"], newer["path"]
        )),
    }
}
