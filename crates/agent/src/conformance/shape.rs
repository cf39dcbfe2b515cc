//! What may stand in a context: looks at one, and at one file of it (C4.3 to C4.8).

use std::path::Path;
use std::time::{Duration, SystemTime};

use pillion_protocol::context::{MAX_FILES, MAX_SELECTION};
use serde_json::Value;

use super::rule::shown;

/// September 2001: no editor focused a file before, and seconds are smaller.
const EARLIEST: u64 = 1_000_000_000_000;

/// How far two clocks of one machine may be apart.
const LATEST: Duration = Duration::from_secs(60);

pub(super) fn context_shape(context: &Value) -> Result<(), String> {
    let wrong = |what: &str, value: &Value| Err(format!("{what} is {}", shown(value)));
    if !context.is_object() {
        return wrong("`params`", context);
    }
    let state = match context.get("workspaceState") {
        None => return Ok(()),
        Some(state) if state.is_object() => state,
        Some(other) => return wrong("`workspaceState`", other),
    };
    if let Some(value) = state.get("isTrusted").filter(|it| !it.is_boolean()) {
        return wrong("`isTrusted`", value);
    }
    let list = match state.get("openFiles") {
        None => return Ok(()),
        Some(Value::Array(list)) => list,
        Some(other) => return wrong("`openFiles`", other),
    };
    for file in list {
        let path = file.get("path").unwrap_or(&Value::Null);
        if !path.is_string() {
            return wrong("`path`", path);
        }
        let time = file.get("timestamp").unwrap_or(&Value::Null);
        if !time.is_number() {
            return wrong("`timestamp`", time);
        }
        if let Some(value) = file.get("isActive").filter(|it| !it.is_boolean()) {
            return wrong("`isActive`", value);
        }
        if let Some(value) = file.get("selectedText").filter(|it| !it.is_string()) {
            return wrong("`selectedText`", value);
        }
        if let Some(cursor) = file.get("cursor") {
            let is_number = |name| cursor.get(name).is_some_and(Value::is_number);
            if !is_number("line") || !is_number("character") {
                return wrong("`cursor`", cursor);
            }
        }
    }
    Ok(())
}

pub(super) fn absolute_path(file: &Value) -> Result<bool, String> {
    let Some(path) = file["path"].as_str() else {
        return Ok(false);
    };
    if Path::new(path).is_absolute() {
        return Ok(true);
    }
    Err("it is not absolute".to_owned())
}

pub(super) fn cursor(file: &Value) -> Result<bool, String> {
    let Some(cursor) = file.get("cursor") else {
        return Ok(false);
    };
    for name in ["line", "character"] {
        if !cursor[name].is_number() {
            return Ok(false);
        }
        if cursor[name].as_u64().is_none_or(|number| number == 0) {
            return Err(format!("`cursor.{name}` is {}", cursor[name]));
        }
    }
    Ok(true)
}

pub(super) fn existing_file(file: &Value) -> Result<bool, String> {
    let Some(path) = file["path"].as_str().map(Path::new) else {
        return Ok(false);
    };
    // A relative one is another rule's matter.
    if !path.is_absolute() {
        return Ok(false);
    }
    if path.is_file() {
        return Ok(true);
    }
    Err("there is no such file on the disk".to_owned())
}

pub(super) fn timestamp(file: &Value) -> Result<bool, String> {
    let Some(time) = file["timestamp"].as_f64() else {
        return Ok(false);
    };
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let latest = (now.unwrap_or_default() + LATEST).as_millis();
    // Both limits are far below where f64 gets coarse.
    if time < EARLIEST as f64 {
        return Err(format!(
            "{time} are not milliseconds since 1970 of any time near now"
        ));
    }
    if time > latest as f64 {
        return Err(format!("{time} is in the future"));
    }
    Ok(true)
}

fn is_active(file: &Value) -> bool {
    file["isActive"] == true
}

pub(super) fn one_active(files: &[Value]) -> Result<(), String> {
    let count = files.iter().filter(|file| is_active(file)).count();
    if count > 1 {
        return Err(format!("{count} files are active at once"));
    }
    Ok(())
}

pub(super) fn details(file: &Value) -> Result<bool, String> {
    let has = |name: &str| file.get(name).is_some_and(|value| !value.is_null());
    let found = ["cursor", "selectedText"]
        .into_iter()
        .find(|name| has(name));
    match found {
        Some(name) if !is_active(file) => Err(format!("it has a `{name}`, but is not active")),
        _ => Ok(true),
    }
}

pub(super) fn few_files(files: &[Value]) -> Result<(), String> {
    if files.len() > MAX_FILES {
        return Err(format!("{} files are listed", files.len()));
    }
    Ok(())
}

pub(super) fn short_selection(file: &Value) -> Result<bool, String> {
    let Some(text) = file["selectedText"].as_str() else {
        return Ok(false);
    };
    let units = text.encode_utf16().count();
    if units > MAX_SELECTION {
        return Err(format!("its selection has {units} UTF-16 units"));
    }
    Ok(true)
}

pub(super) fn newest_is_active(files: &[Value]) -> Result<(), String> {
    let time = |file: &Value| file["timestamp"].as_f64();
    let Some(active) = files.iter().find(|file| is_active(file)) else {
        return Ok(());
    };
    // Of two that are equal, agents take the first.
    let mut before = files.iter().take_while(|file| !is_active(file));
    if let Some(equal) = before.find(|file| time(file).is_some() && time(file) == time(active)) {
        return Err(format!(
            "{} is active, but {} stands before it with the same timestamp",
            active["path"], equal["path"]
        ));
    }
    let is_newer =
        |file: &&Value| matches!((time(file), time(active)), (Some(a), Some(b)) if a > b);
    let newer = files.iter().filter(|file| !is_active(file)).find(is_newer);
    match newer {
        None => Ok(()),
        Some(newer) => Err(format!(
            "{} is active, but {} has the newer timestamp",
            active["path"], newer["path"]
        )),
    }
}
