//! What the editor shows, as agents are told of it (C4).

use std::path::Path;
use std::time::{Duration, SystemTime};

use pillion_protocol::context::{MAX_FILES, MAX_SELECTION};
use serde_json::Value;

use super::bench::Bench;
use super::diffs::open_view;
use super::probe::NoAnswer;
use super::rule::Group::Context;
use super::rule::Level::{May, Must, Should};
use super::rule::{Check, Finding, Problem, broken, check, unchecked};
use super::story::{Contexts, files, is_context};

pub(super) const CHECKS: &[Check] = &[
    check(
        Context,
        May,
        "C4.1-sent",
        "The companion sends `ide/contextUpdate`",
        |b| Box::pin(sent(b)),
    ),
    check(
        Context,
        Should,
        "C4.1-every",
        "Every session is sent the context as soon as its stream is open",
        |b| Box::pin(every_session(b)),
    ),
    check(
        Context,
        Should,
        "C4.1-once",
        "The same context is sent to a session once",
        |b| Box::pin(once(b)),
    ),
    check(
        Context,
        Should,
        "C4.2-change",
        "A move of the cursor is sent",
        |b| Box::pin(change(b)),
    ),
    check(
        Context,
        Should,
        "C4.2-debounce",
        "Changes are debounced by 50 ms",
        |b| Box::pin(debounce(b)),
    ),
    check(
        Context,
        Must,
        "C4.3-shape",
        "The params are an IdeContext: every field has its type",
        |b| Box::pin(shape(b)),
    ),
    check(Context, Must, "C4.3-path", "Paths are absolute", |b| {
        Box::pin(each_file(b, absolute_path))
    }),
    check(
        Context,
        Must,
        "C4.3-cursor",
        "Cursors count lines and characters from 1",
        |b| Box::pin(each_file(b, cursor)),
    ),
    check(
        Context,
        Must,
        "C4.3-moved",
        "The cursor that is sent stands where it was moved to",
        |b| Box::pin(moved(b)),
    ),
    check(
        Context,
        Must,
        "C4.4-exists",
        "Only files that exist on disk are listed",
        |b| Box::pin(each_file(b, existing_file)),
    ),
    check(
        Context,
        Must,
        "C4.4-diff",
        "A file that is only proposed is not listed while its view is open",
        |b| Box::pin(proposed(b)),
    ),
    check(
        Context,
        Must,
        "C4.5-timestamp",
        "Timestamps are Unix time in milliseconds",
        |b| Box::pin(each_file(b, timestamp)),
    ),
    check(
        Context,
        Should,
        "C4.6-active",
        "At most one file is active",
        |b| Box::pin(each_context(b, one_active)),
    ),
    check(
        Context,
        Should,
        "C4.6-details",
        "Only the active file has a cursor and a selection",
        |b| Box::pin(each_file(b, details)),
    ),
    check(
        Context,
        Should,
        "C4.7-files",
        "At most 10 files are listed",
        |b| Box::pin(each_context(b, few_files)),
    ),
    check(
        Context,
        Should,
        "C4.7-selection",
        "Selections are at most 16 KiB (16384 UTF-16 units)",
        |b| Box::pin(each_file(b, short_selection)),
    ),
    check(
        Context,
        Should,
        "C4.8-newest",
        "The active file is the newest: agents look at no other",
        |b| Box::pin(each_context(b, newest_is_active)),
    ),
    check(
        Context,
        May,
        "C4.9-trusted",
        "`isTrusted`, which overrides the agent's own question, is not made up",
        |b| Box::pin(trusted(b)),
    ),
];

/// Updates that come closer than this were not debounced; the rest is for the way here.
const TOO_CLOSE: Duration = Duration::from_millis(25);

/// September 2001: no editor focused a file before, and seconds are smaller.
const EARLIEST: u64 = 1_000_000_000_000;

/// How far two clocks of one machine may be apart.
const LATEST: Duration = Duration::from_secs(60);

/// The contexts, if there are any.
async fn heard(bench: &Bench) -> Result<&Contexts, Problem> {
    let contexts = bench.contexts().await?;
    match contexts.all().next() {
        Some(_) => Ok(contexts),
        None => unchecked("no `ide/contextUpdate` came"),
    }
}

/// Every file that was listed keeps a rule. `Ok(false)`: the rule does not apply to it.
async fn each_file(bench: &Bench, look: fn(&Value) -> Result<bool, String>) -> Finding {
    let contexts = heard(bench).await?;
    if contexts.files().next().is_none() {
        return unchecked("no file is open: open one in the editor, or give --move-with CMD");
    }
    let mut kept = 0;
    for file in contexts.files() {
        match look(file) {
            Ok(applies) => kept += usize::from(applies),
            Err(why) => {
                let path = file["path"].as_str().unwrap_or("a file without a path");
                return broken(format!("{path}: {why}"));
            }
        }
    }
    match kept {
        0 => unchecked("no file that was listed has one"),
        kept => Ok(format!("{kept} entries")),
    }
}

async fn each_context(bench: &Bench, look: fn(&[Value]) -> Result<(), String>) -> Finding {
    let contexts = heard(bench).await?;
    let mut kept = 0;
    for context in contexts.all() {
        let files = files(context);
        look(files).map_err(Problem::Broken)?;
        kept += usize::from(!files.is_empty());
    }
    match kept {
        0 => unchecked("no file is open: open one in the editor, or give --move-with CMD"),
        kept => Ok(format!("{kept} contexts")),
    }
}

async fn sent(bench: &Bench) -> Finding {
    let contexts = heard(bench).await?;
    Ok(format!("{} contexts", contexts.all().count()))
}

async fn every_session(bench: &Bench) -> Finding {
    let contexts = heard(bench).await?;
    for (nth, of_session) in ["first", "second"].iter().zip(&contexts.of_sessions) {
        if of_session.is_empty() {
            return broken(format!("the {nth} of two sessions got none"));
        }
    }
    Ok("two sessions got one".to_owned())
}

async fn once(bench: &Bench) -> Finding {
    let contexts = heard(bench).await?;
    for of_session in &contexts.of_sessions {
        if of_session.windows(2).any(|pair| pair[0] == pair[1]) {
            return broken("it came twice, though nothing had changed");
        }
    }
    Ok("no repetition".to_owned())
}

async fn change(bench: &Bench) -> Finding {
    let contexts = heard(bench).await?;
    let moves = contexts.of_moves.as_ref().map_err(Clone::clone)?;
    match moves.len() {
        0 => broken("none came when the cursor moved"),
        count => Ok(format!("{count} contexts")),
    }
}

async fn debounce(bench: &Bench) -> Finding {
    let contexts = heard(bench).await?;
    let moves = contexts.of_moves.as_ref().map_err(Clone::clone)?;
    let gaps = moves
        .windows(2)
        .map(|pair| pair[1].0.duration_since(pair[0].0));
    match gaps.min() {
        _ if moves.is_empty() => unchecked("no context came when the cursor moved"),
        None => Ok("one context for all moves".to_owned()),
        Some(gap) if gap < TOO_CLOSE => broken(format!("two contexts came {gap:.0?} apart")),
        Some(gap) => Ok(format!("at least {gap:.0?} apart")),
    }
}

async fn moved(bench: &Bench) -> Finding {
    let contexts = heard(bench).await?;
    let moves = contexts.of_moves.as_ref().map_err(Clone::clone)?;
    let Some((file, line)) = &contexts.moved_to else {
        return unchecked(
            "nobody knows where it was moved to: give --move-with CMD, and have a file of some \
             lines in the workspace",
        );
    };
    let Some((_, last)) = moves.last() else {
        return unchecked("no context came when the cursor moved; see C4.2-change");
    };
    let active = files(last).iter().find(|file| is_active(file));
    let real = |path: &str| Path::new(path).canonicalize().ok();
    match active {
        None if files(last).is_empty() => unchecked("no file is listed; see C4.3-shape"),
        None => broken("no file is active afterwards"),
        Some(active) if active["path"].as_str().and_then(real) != real(file) => {
            broken(format!("{file} was focused, {} is active", active["path"]))
        }
        Some(active) if active["cursor"]["line"] != *line => broken(format!(
            "it was moved to line {line}, `cursor.line` is {}",
            active["cursor"]["line"]
        )),
        Some(_) => Ok(format!("line {line}")),
    }
}

async fn proposed(bench: &Bench) -> Finding {
    heard(bench).await?;
    bench.clean_up().await;
    let mut session = bench.deaf_session().await?;
    let path = open_view(bench, &session, "text\n").await?;
    // The first context on the stream tells what is open now.
    if let Err(NoAnswer(why)) = session.open_stream().await {
        return unchecked(format!("there is no event stream: {why}; see C1.1-stream"));
    }
    session.wait_for(bench.patience.answer, is_context).await;
    session.listen(bench.patience.quiet).await;
    let messages = session.messages.iter().map(|(_, message)| message);
    let mut contexts = messages.filter(|it| is_context(it)).peekable();
    if contexts.peek().is_none() {
        return unchecked("no `ide/contextUpdate` came; see C4.1-every");
    }
    let mut listed = contexts.flat_map(|context| files(&context["params"]));
    if listed.any(|file| file["path"] == path.as_str()) {
        return broken("the proposed file, which does not exist, is listed");
    }
    Ok("it is not listed".to_owned())
}

async fn shape(bench: &Bench) -> Finding {
    let contexts = heard(bench).await?;
    for context in contexts.all() {
        context_shape(context).map_err(Problem::Broken)?;
    }
    Ok(format!("{} contexts", contexts.all().count()))
}

fn context_shape(context: &Value) -> Result<(), String> {
    let wrong = |what: &str, value: &Value| Err(format!("{what} is {}", super::shown(value)));
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

fn absolute_path(file: &Value) -> Result<bool, String> {
    let Some(path) = file["path"].as_str() else {
        return Ok(false);
    };
    if Path::new(path).is_absolute() {
        return Ok(true);
    }
    Err("it is not absolute".to_owned())
}

fn cursor(file: &Value) -> Result<bool, String> {
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

fn existing_file(file: &Value) -> Result<bool, String> {
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

fn timestamp(file: &Value) -> Result<bool, String> {
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

fn one_active(files: &[Value]) -> Result<(), String> {
    let count = files.iter().filter(|file| is_active(file)).count();
    if count > 1 {
        return Err(format!("{count} files are active at once"));
    }
    Ok(())
}

fn details(file: &Value) -> Result<bool, String> {
    let has = |name: &str| file.get(name).is_some_and(|value| !value.is_null());
    let found = ["cursor", "selectedText"]
        .into_iter()
        .find(|name| has(name));
    match found {
        Some(name) if !is_active(file) => Err(format!("it has a `{name}`, but is not active")),
        _ => Ok(true),
    }
}

fn few_files(files: &[Value]) -> Result<(), String> {
    if files.len() > MAX_FILES {
        return Err(format!("{} files are listed", files.len()));
    }
    Ok(())
}

fn short_selection(file: &Value) -> Result<bool, String> {
    let Some(text) = file["selectedText"].as_str() else {
        return Ok(false);
    };
    let units = text.encode_utf16().count();
    if units > MAX_SELECTION {
        return Err(format!("its selection has {units} UTF-16 units"));
    }
    Ok(true)
}

fn newest_is_active(files: &[Value]) -> Result<(), String> {
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

async fn trusted(bench: &Bench) -> Finding {
    let contexts = heard(bench).await?;
    let mut answers = contexts
        .all()
        .filter_map(|it| it.pointer("/workspaceState/isTrusted"));
    match answers.next() {
        None => Ok("it is not sent".to_owned()),
        Some(answer) => unchecked(format!(
            "it is sent: {answer}. Whether the editor really knows cannot be seen from outside"
        )),
    }
}
