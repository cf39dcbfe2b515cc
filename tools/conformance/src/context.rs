//! The editor's state, as agents get it (C4).

use std::time::{Duration, SystemTime};

use pillion_discovery::is_same;
use pillion_protocol::context::{CONTEXT_UPDATE, MAX_FILES, MAX_SELECTION};
use serde_json::Value;

use crate::agent::{Agent, params_since};
use crate::check::checks;
use crate::message::is_context;
use crate::observation::{Contexts, Moves};
use crate::rule::{Finding, Look, Otherwise, Problem, blocked, broken, kept, unchecked};
use crate::scenario;
use crate::shape::{
    absolute_path, context_shape, cursor, details, existing_file, files, newest_is_active,
    one_active, selection, timestamp,
};
use crate::test_context::TestContext;

checks! {
    Context:
    May "C4.1-sent" => sent,
        "The companion sends `ide/contextUpdate`";
    Should "C4.1-every" => every_session,
        "Every session is sent the context as soon as its stream is open";
    Should "C4.1-once" => once,
        "The same context is sent to a session only once";
    Should "C4.2-change" => change,
        "A cursor movement is sent";
    Should "C4.2-debounce" => debounce,
        "Changes are debounced by 50 ms";
    Must "C4.3-shape" => shape,
        "The params are an IdeContext: every field has its type";
    Must "C4.3-listed" => listed,
        "The focused file is listed in `workspaceState.openFiles`";
    Must "C4.3-path" => each_file(absolute_path, NO_PATH),
        "Paths are absolute";
    Must "C4.3-cursor" => each_file(cursor, NO_CURSOR),
        "Cursors count lines and characters from 1";
    Must "C4.3-moved" => moved,
        "The cursor that is sent is where it was moved to";
    Must "C4.4-exists" => each_file(existing_file, NO_PATH),
        "Only files that exist on disk are listed";
    Must "C4.4-diff" => proposed,
        "A proposed file that does not exist is not listed while its view is open";
    Must "C4.5-timestamp" => each_file(timestamp, NO_PATH),
        "Timestamps are Unix time in milliseconds";
    Must "C4.5-focused" => focused,
        "A newly focused file has a current timestamp";
    Should "C4.6-active" => each_context(one_active),
        "At most one file is active";
    Should "C4.6-details" => each_file(details, SEVERAL),
        "Only the active file has a cursor and a selection";
    Should "C4.7-files" => few_files,
        "At most 10 files are listed";
    Should "C4.7-selection" => short_selections,
        "Selections are at most 16 KiB (16384 UTF-16 units)";
    Should "C4.8-newest" => each_context(newest_is_active),
        "The active file has the newest timestamp: agents consider no other";
    Should "C4.9-trusted" => trusted,
        "`isTrusted`, which overrides the agent's own trust prompt, is not made up";
}

/// Sentences about something that is missing.
const NO_PATH: &str = "no listed file has one";
const NO_CURSOR: &str = "no listed file has a cursor: focus one in the editor";
const SEVERAL: &str = "two files were never listed together: open several in the editor, or pass --move-with CMD with several in the workspace";

/// The largest error of a timestamp.
const INACCURATE: Duration = Duration::from_secs(2);

/// The contexts, if there are any.
async fn heard(test: &TestContext) -> Result<&Contexts, Problem> {
    let contexts = scenario::contexts(test).await?;
    match contexts.all().next() {
        Some(_) => Ok(contexts),
        None => unchecked("no `ide/contextUpdate` arrived"),
    }
}

/// The contexts and those of the cursor's moves, if there are any contexts.
async fn heard_moves(test: &TestContext) -> Result<(&Contexts, &Moves), Problem> {
    let contexts = heard(test).await?;
    Ok((contexts, contexts.of_cursor.moves()?))
}

/// The contexts, if there is a file in any of them.
async fn heard_files(test: &TestContext) -> Result<&Contexts, Problem> {
    let contexts = heard(test).await?;
    if contexts.files().next().is_some() {
        return Ok(contexts);
    }
    if contexts.of_cursor.place().is_ok() {
        return blocked(&["C4.3-listed", "C4.2-change"], "no file is listed");
    }
    unchecked("no file is open: open one in the editor, or pass --move-with CMD")
}

/// Every file that was listed keeps a rule.
async fn each_file(
    test: &TestContext,
    look: fn(&Value) -> Result<Look, String>,
    none: &str,
) -> Finding {
    let looks = heard_files(test).await?.files().map(|file| {
        let path = file["path"].as_str().unwrap_or("a file without a path");
        look(file).or_broken(path)
    });
    Ok(format!("{} entries", kept(looks, none)?))
}

/// Every list of files keeps a rule about several.
async fn each_context(test: &TestContext, look: fn(&[Value]) -> Result<Look, String>) -> Finding {
    let contexts = heard_files(test).await?.all();
    let looks = contexts.map(|context| look(files(context)).map_err(Problem::Broken));
    Ok(format!("{} contexts", kept(looks, SEVERAL)?))
}

async fn sent(test: &TestContext) -> Finding {
    let contexts = heard(test).await?;
    Ok(format!("{} contexts", contexts.all().count()))
}

async fn every_session(test: &TestContext) -> Finding {
    let contexts = heard(test).await?;
    for (nth, of_session) in ["first", "second"].iter().zip(&contexts.of_sessions) {
        if of_session.is_empty() {
            return broken(format!("the {nth} of two sessions got none"));
        }
    }
    Ok("two sessions got one".to_owned())
}

async fn once(test: &TestContext) -> Finding {
    let contexts = heard(test).await?;
    for of_session in &contexts.of_sessions {
        if of_session.windows(2).any(|pair| pair[0].1 == pair[1].1) {
            return broken("it arrived twice although nothing had changed");
        }
    }
    Ok("no repetition".to_owned())
}

async fn change(test: &TestContext) -> Finding {
    let (_, moves) = heard_moves(test).await?;
    moves.sent()
}

async fn debounce(test: &TestContext) -> Finding {
    let contexts = heard(test).await?;
    contexts.of_cursor.debounced(&["C4.2-change"])
}

/// A context need not name files, but agents learn of them from nowhere else.
async fn listed(test: &TestContext) -> Finding {
    let (contexts, moves) = heard_moves(test).await?;
    let (file, _) = contexts.of_cursor.place()?;
    let last = moves.last()?;
    match last.pointer("/workspaceState/openFiles") {
        Some(Value::Array(files)) if files.is_empty() => {
            broken(format!("{file} was focused, and `openFiles` is empty"))
        }
        Some(Value::Array(files)) => Ok(format!("{} files", files.len())),
        Some(_) => blocked(&["C4.3-shape"], "`openFiles` is not an array"),
        None if last.get("workspaceState").is_none() => broken(format!(
            "{file} was focused, and there is no `workspaceState`"
        )),
        None => broken(format!("{file} was focused, and there are no `openFiles`")),
    }
}

async fn moved(test: &TestContext) -> Finding {
    let (contexts, moves) = heard_moves(test).await?;
    let (file, line) = contexts.of_cursor.place()?;
    let last = moves.last()?;
    let active = scenario::active(last);
    let is_it = |path: &str| is_same(path.as_ref(), file.as_ref());
    match active {
        None if files(last).is_empty() => blocked(&["C4.3-listed"], "no file is listed"),
        None => broken("no file is active afterwards"),
        Some(active) if !active["path"].as_str().is_some_and(is_it) => {
            broken(format!("{file} was focused, {} is active", active["path"]))
        }
        Some(active) if !active["cursor"]["line"].is_number() => {
            blocked(&["C4.3-shape"], format!("`cursor` is {}", active["cursor"]))
        }
        Some(active) if active["cursor"]["line"] != line => broken(format!(
            "it was moved to line {line}, `cursor.line` is {}",
            active["cursor"]["line"]
        )),
        Some(_) => Ok(format!("line {line}")),
    }
}

/// Returns true if another file than this one has the focus, or none that is open.
fn is_focus_elsewhere(context: &Value, file: &str) -> bool {
    let is_it = |it: &&Value| it["path"] == file;
    match scenario::active(context) {
        Some(active) => !is_it(&active),
        None => !files(context).iter().any(|it| is_it(&it)),
    }
}

async fn focused(test: &TestContext) -> Finding {
    let (contexts, moves) = heard_moves(test).await?;
    let before = contexts.of_sessions[1].last();
    let is_new = |file: &str| before.is_some_and(|(_, it)| is_focus_elsewhere(it, file));
    let place = contexts.of_cursor.place().ok();
    let Some((file, _)) = place.filter(|(file, _)| is_new(file)) else {
        return unchecked(
            "no file is known to have gained the focus: pass --move-with CMD, with another file focused before",
        );
    };
    let active = scenario::active(moves.last()?);
    let Some(active) = active.filter(|active| active["path"] == file) else {
        return blocked(&["C4.3-moved"], "it is not active afterwards");
    };
    let time = active["timestamp"].as_f64();
    let Some(time) = time.filter(|_| timestamp(active).is_ok()) else {
        let rows = &["C4.5-timestamp", "C4.3-shape"];
        return blocked(rows, "it has no timestamp to compare");
    };
    let asked = moves.asked.duration_since(SystemTime::UNIX_EPOCH);
    let late = asked.unwrap_or_default().as_millis() as f64 - time;
    if late <= INACCURATE.as_millis() as f64 {
        return Ok("it has".to_owned());
    }
    broken(format!(
        "{file}: its timestamp is {:.0} s older than the moment it was focused",
        late / 1000.0
    ))
}

async fn proposed(test: &TestContext) -> Finding {
    heard(test).await?;
    test.close_sessions().await;
    let mut session = test.deaf_session().await?;
    let path = session.open_view("text\n").await?;
    // The first context on the stream is what is open now.
    session.needs_stream().await?;
    session.wait_for(test.timeouts.answer, is_context).await;
    session.listen(test.timeouts.quiet).await;
    let contexts = params_since(&session, 0, CONTEXT_UPDATE);
    if contexts.is_empty() {
        return unchecked("nothing was sent while a view was open");
    }
    let mut listed = contexts.iter().flat_map(|(_, context)| files(context));
    if listed.any(|file| file["path"] == path.as_str()) {
        return broken("the proposed file, which does not exist, is listed");
    }
    Ok("it is not listed".to_owned())
}

async fn shape(test: &TestContext) -> Finding {
    let contexts = heard(test).await?;
    if contexts.is_asked {
        return broken("it has an `id`, so it is a request, not a notification");
    }
    for context in contexts.all() {
        context_shape(context).map_err(Problem::Broken)?;
    }
    Ok(format!("{} contexts", contexts.all().count()))
}

async fn trusted(test: &TestContext) -> Finding {
    let contexts = heard(test).await?;
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

async fn few_files(test: &TestContext) -> Finding {
    let contexts = heard(test).await?;
    let most = contexts.all().map(|it| files(it).len()).max();
    let most = most.unwrap_or_default();
    if most > MAX_FILES {
        return broken(format!("{most} files are listed"));
    }
    let visits = &contexts.of_visits;
    if visits.count > MAX_FILES && most == MAX_FILES {
        return Ok(format!("{most} of {} files", visits.count));
    }
    let needed = format!("at most {most} were listed; there must be more than {MAX_FILES} open");
    unchecked(match (&visits.why_not, visits.count) {
        (Some(why), _) => format!("{needed}: {why}"),
        (None, 0) => format!("{needed}: give --move-with CMD, and have that many in the workspace"),
        (None, count) => format!("{needed}, and after {count} were focused the editor has not"),
    })
}

async fn short_selections(test: &TestContext) -> Finding {
    let contexts = heard(test).await?;
    let longest = contexts.files().filter_map(selection).max();
    match longest {
        Some(units) if units > MAX_SELECTION => {
            broken(format!("a selection has {units} UTF-16 units"))
        }
        // It may have been cut before a character of two.
        Some(units) if units + 1 >= MAX_SELECTION => Ok(format!("{units} UTF-16 units")),
        longest => unchecked(format!(
            "the longest had {} UTF-16 units: select a text of more than 16 KiB in the editor while \
             this runs, or have the CMD of --move-with do so",
            longest.unwrap_or_default()
        )),
    }
}
