//! Proposals, from `openDiff` to their outcome (C5).

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::bench::Bench;
use crate::check::{Check, check};
use crate::message::{ACCEPTED, REJECTED};
use crate::probe::NoAnswer;
use crate::rule::Group::Diffs;
use crate::rule::Level::{Must, Should};
use crate::rule::{Finding, Problem, blocked, broken, cut, shown, unchecked};
use crate::seen::Story;
use crate::session::{Session, ToolReply};
use crate::story;
use crate::texts::difference;

pub(super) const CHECKS: &[Check] = &[
    check(
        Diffs,
        Must,
        "C5.2-open",
        "`openDiff` answers at once, when the view is open",
        |b| Box::pin(open(b)),
    ),
    check(
        Diffs,
        Should,
        "C5.1-relative",
        "`openDiff` refuses a relative path",
        |b| Box::pin(relative_path(b)),
    ),
    check(
        Diffs,
        Should,
        "C5.1-arguments",
        "`openDiff` without `newContent` fails",
        |b| Box::pin(missing_argument(b)),
    ),
    check(
        Diffs,
        Should,
        "C5.1-replace",
        "A second `openDiff` of a path replaces the first",
        |b| Box::pin(replace(b)),
    ),
    check(
        Diffs,
        Must,
        "C5.2-empty",
        "A successful `openDiff` answers `content: []`",
        |b| Box::pin(empty_content(b)),
    ),
    check(
        Diffs,
        Must,
        "C5.2-failure",
        "A failed `openDiff` answers `isError: true` and one text block",
        |b| Box::pin(open_failure(b)),
    ),
    check(
        Diffs,
        Must,
        "C5.4-suppress",
        "`closeDiff` takes `suppressNotification`",
        |b| Box::pin(suppress(b)),
    ),
    check(
        Diffs,
        Must,
        "C5.5-shape",
        "`closeDiff` answers one text block with JSON: {\"content\": …}",
        |b| Box::pin(close_shape(b)),
    ),
    check(
        Diffs,
        Must,
        "C5.5-unknown",
        "`closeDiff` of a path without a view answers `isError: true` and one text block",
        |b| Box::pin(close_unknown(b)),
    ),
    check(
        Diffs,
        Must,
        "C5.5-closes",
        "After `closeDiff` the view is gone",
        |b| Box::pin(close_twice(b)),
    ),
    check(
        Diffs,
        Must,
        "C5.6-sent",
        "An acceptance is told with `ide/diffAccepted {filePath, content}`",
        |b| Box::pin(accepted(b)),
    ),
    check(
        Diffs,
        Must,
        "C5.6-bytes",
        "A text that is accepted unedited comes back byte for byte",
        |b| Box::pin(accepted_bytes(b)),
    ),
    check(
        Diffs,
        Must,
        "C5.6-once",
        "An acceptance is told once",
        |b| Box::pin(accepted_once(b)),
    ),
    check(
        Diffs,
        Must,
        "C5.7-sent",
        "A rejection is told with `ide/diffRejected {filePath}`",
        |b| Box::pin(rejected(b)),
    ),
    check(Diffs, Must, "C5.7-once", "A rejection is told once", |b| {
        Box::pin(rejected_once(b))
    }),
    check(
        Diffs,
        Must,
        "C5.8-accepted",
        "`ide/diffAccepted` carries the path as the agent spelt it",
        |b| Box::pin(accepted_path(b)),
    ),
    check(
        Diffs,
        Must,
        "C5.8-rejected",
        "`ide/diffRejected` carries the path as the agent spelt it",
        |b| Box::pin(rejected_path(b)),
    ),
    check(
        Diffs,
        Must,
        "C5.9-writes",
        "The companion does not write the file",
        |b| Box::pin(writes_nothing(b)),
    ),
    check(
        Diffs,
        Must,
        "C5.10-suppressed",
        "`closeDiff` with `suppressNotification` is followed by no outcome",
        |b| Box::pin(silent_close(b, true)),
    ),
    check(
        Diffs,
        Should,
        "C5.10-closed",
        "`closeDiff` without `suppressNotification` is followed by no outcome either",
        |b| Box::pin(silent_close(b, false)),
    ),
];

/// How often a view is opened to see whether one opens at once: a machine may be busy.
const OPENINGS: usize = 3;

fn answer(reply: Result<ToolReply, NoAnswer>) -> Result<ToolReply, Problem> {
    reply.map_err(|NoAnswer { why, .. }| Problem::Broken(why))
}

async fn relative_path(bench: &Bench) -> Finding {
    let session = bench.deaf_session().await?;
    bench.has_views(&session).await?;
    let reply = answer(session.open_diff(&bench.names.name(), "text\n").await)?;
    if reply.is_error() {
        return Ok(reply.shown());
    }
    broken("it opens a view: of which file is anybody's guess")
}

async fn missing_argument(bench: &Bench) -> Finding {
    let session = bench.deaf_session().await?;
    bench.has_views(&session).await?;
    let path = bench.names.path();
    let arguments = json!({"filePath": path});
    let reply = answer(session.call("openDiff", arguments).await)?;
    if reply.is_error() {
        return Ok(reply.shown());
    }
    let _ = session.close_diff(&path, true).await;
    broken(format!("it succeeds: {}", reply.shown()))
}

async fn replace(bench: &Bench) -> Finding {
    let mut session = bench.session().await?;
    let path = bench.open_view(&session, "first\n").await?;
    let second = answer(session.open_diff(&path, "second\n").await)?;
    if second.is_error() {
        return broken(format!("the second fails: {}", second.shown()));
    }
    session.listen(bench.line.patience.quiet).await;
    if let Some(outcome) = session.outcomes().first() {
        if bench.accepts_itself().await {
            return unchecked("the editor accepts diffs by itself");
        }
        let outcome = shown(outcome);
        return broken(format!("agents take this for the second's end: {outcome}"));
    }
    match bench.closed_text(&session, &path).await?.as_str() {
        "second\n" => Ok("the second text stands in the view".to_owned()),
        other => {
            // Who keeps both has one more to close.
            let _ = session.close_diff(&path, true).await;
            broken(format!("{:?} stands in the view", cut(other)))
        }
    }
}

async fn open(bench: &Bench) -> Finding {
    let session = bench.deaf_session().await?;
    let mut quickest: Option<Duration> = None;
    for _ in 0..OPENINGS {
        let took = open_once(bench, &session).await?;
        let so_far = quickest.map_or(took, |quickest| quickest.min(took));
        quickest = Some(so_far);
        if so_far < bench.line.patience.prompt {
            return Ok(format!("{so_far:.0?}"));
        }
    }
    broken(format!(
        "the quickest of {OPENINGS} answers took {:.1?}",
        quickest.unwrap_or_default()
    ))
}

/// How long `openDiff` took. The view must be there by then.
async fn open_once(bench: &Bench, session: &Session<'_>) -> Result<Duration, Problem> {
    let path = bench.names.path();
    let started = Instant::now();
    let reply = answer(session.open_diff(&path, "text\n").await)?;
    let took = started.elapsed();
    if reply.is_error() {
        return broken(format!("it fails: {}", reply.shown()));
    }
    if answer(session.close_diff(&path, false).await)?.is_error() {
        tokio::time::sleep(bench.line.patience.quiet).await;
        // If it never closes, that is another rule's matter.
        if !answer(session.close_diff(&path, false).await)?.is_error() {
            return broken("it answers before the view is open: it could not be closed at once");
        }
    }
    Ok(took)
}

async fn empty_content(bench: &Bench) -> Finding {
    let session = bench.deaf_session().await?;
    bench.has_views(&session).await?;
    let reply = answer(session.open_diff(&bench.names.path(), "text\n").await)?;
    match reply.content() {
        Some(content) if content.is_empty() => Ok("content: []".to_owned()),
        _ => broken(format!("it answers {}", reply.shown())),
    }
}

async fn open_failure(bench: &Bench) -> Finding {
    let session = bench.deaf_session().await?;
    bench.has_views(&session).await?;
    for path in [bench.names.name(), bench.names.folder(), String::new()] {
        let reply = answer(session.open_diff(&path, "text\n").await)?;
        if reply.fails_well() {
            return Ok(reply.shown());
        }
        if reply.is_error() {
            return broken(format!("it answers {}", reply.shown()));
        }
    }
    unchecked("it opens a view even for a relative path, a folder and an empty path")
}

async fn suppress(bench: &Bench) -> Finding {
    let session = bench.deaf_session().await?;
    let path = bench.open_view(&session, "text\n").await?;
    bench.close(&session, &path, true).await?;
    Ok("it closes the view".to_owned())
}

async fn close_shape(bench: &Bench) -> Finding {
    let session = bench.deaf_session().await?;
    let path = bench.open_view(&session, "text\n").await?;
    let reply = bench.close(&session, &path, false).await?;
    match reply.closed_content() {
        Ok(_) => Ok("a string `content`".to_owned()),
        Err(why) => broken(why),
    }
}

async fn close_unknown(bench: &Bench) -> Finding {
    let session = bench.deaf_session().await?;
    let reply = answer(session.close_diff(&bench.names.path(), true).await)?;
    if reply.fails_well() {
        return Ok(reply.shown());
    }
    broken(format!("it answers {}", reply.shown()))
}

async fn close_twice(bench: &Bench) -> Finding {
    let session = bench.deaf_session().await?;
    let path = bench.open_view(&session, "text\n").await?;
    bench.close(&session, &path, true).await?;
    let again = answer(session.close_diff(&path, true).await)?;
    match again.closed_content() {
        Ok(text) if text == "text\n" => broken("a second closeDiff still finds the view"),
        Ok(_) | Err(_) => Ok("a second closeDiff finds nothing".to_owned()),
    }
}

/// The first outcome of a story, if it is of this kind and has this shape.
fn outcome<'a>(story: &'a Story, method: &str) -> Result<&'a Value, Problem> {
    let Some(first) = story.outcomes.first() else {
        return broken("no outcome came");
    };
    let has = |name: &str| first["params"][name].is_string();
    let is_complete = has("filePath") && (method == REJECTED || has("content"));
    // Whoever gives it an id asks for an answer, and no agent gives one.
    if first["method"] != method || !is_complete || first.get("id").is_some() {
        return broken(format!("this came: {}", shown(first)));
    }
    Ok(first)
}

/// The same for rules that are about something else in it.
fn seen_outcome<'a>(story: &'a Story, method: &str) -> Result<&'a Value, Problem> {
    outcome(story, method).or_else(|_| {
        let row: &[&str] = match method {
            ACCEPTED => &["C5.6-sent"],
            _ => &["C5.7-sent"],
        };
        blocked(row, "the outcome did not come as it should")
    })
}

async fn accepted(bench: &Bench) -> Finding {
    outcome(story::accepted(bench).await?, ACCEPTED)?;
    Ok("it came".to_owned())
}

async fn rejected(bench: &Bench) -> Finding {
    outcome(story::rejected(bench).await?, REJECTED)?;
    Ok("it came".to_owned())
}

async fn accepted_bytes(bench: &Bench) -> Finding {
    let story = story::accepted(bench).await?;
    let content = seen_outcome(story, ACCEPTED)?["params"]["content"].as_str();
    match difference(content.unwrap_or_default(), &story.text) {
        None => Ok(format!("{} bytes", story.text.len())),
        Some(difference) => broken(difference),
    }
}

fn once(story: &Story, method: &str) -> Finding {
    seen_outcome(story, method)?;
    match story.outcomes.len() {
        1 => Ok("one outcome".to_owned()),
        count => broken(format!("{count} outcomes came")),
    }
}

async fn accepted_once(bench: &Bench) -> Finding {
    once(story::accepted(bench).await?, ACCEPTED)
}

async fn rejected_once(bench: &Bench) -> Finding {
    once(story::rejected(bench).await?, REJECTED)
}

fn same_path(story: &Story, method: &str) -> Finding {
    let path = &seen_outcome(story, method)?["params"]["filePath"];
    if *path == story.path.as_str() {
        return Ok(story.path.clone());
    }
    broken(format!("{:?} came back as {path}", story.path))
}

async fn accepted_path(bench: &Bench) -> Finding {
    same_path(story::accepted(bench).await?, ACCEPTED)
}

async fn rejected_path(bench: &Bench) -> Finding {
    same_path(story::rejected(bench).await?, REJECTED)
}

async fn writes_nothing(bench: &Bench) -> Finding {
    let session = bench.deaf_session().await?;
    let path = bench.open_view(&session, "text\n").await?;
    for when in ["while its view was open", "after its view was closed"] {
        tokio::time::sleep(bench.line.patience.quiet).await;
        if Path::new(&path).exists() {
            return broken(format!(
                "the file was on the disk {when} (it was removed again)"
            ));
        }
        // Whether that works is another rule's matter.
        let _ = session.close_diff(&path, true).await;
    }
    if let Some(Ok(story)) = bench.seen.rejected.get()
        && story.was_written
    {
        return broken("the file was on the disk after the rejection (it was removed again)");
    }
    let story = story::accepted(bench).await?;
    if story.was_written {
        return broken("the file was on the disk after the acceptance (it was removed again)");
    }
    seen_outcome(story, ACCEPTED)?;
    Ok("neither while the view is open nor after the decision".to_owned())
}

async fn silent_close(bench: &Bench, suppress: bool) -> Finding {
    let mut session = bench.session().await?;
    let path = bench.open_view(&session, "text\n").await?;
    bench.close(&session, &path, suppress).await?;
    session.listen(bench.line.patience.quiet).await;
    match session.outcomes().first() {
        None => Ok(format!("none within {:?}", bench.line.patience.quiet)),
        Some(outcome) => broken(format!("this came: {}", shown(outcome))),
    }
}
