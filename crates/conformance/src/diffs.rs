//! Proposals, from `openDiff` to their outcome (C5).

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::check::checks;
use crate::message::{ACCEPTED, REJECTED};
use crate::observation::Scenario;
use crate::rule::{Finding, Problem, blocked, broken, cut, shown, unchecked};
use crate::scenario;
use crate::session::Session;
use crate::test_context::TestContext;
use crate::texts::difference;

checks! {
    Diffs:
    Must "C5.2-open" => open,
        "`openDiff` answers as soon as the view is open";
    Should "C5.1-relative" => relative_path,
        "`openDiff` refuses a relative path";
    Should "C5.1-arguments" => missing_argument,
        "`openDiff` without `newContent` fails";
    Should "C5.1-replace" => replace,
        "A second `openDiff` of a path replaces the first";
    Must "C5.2-empty" => empty_content,
        "A successful `openDiff` answers `content: []`";
    Must "C5.2-failure" => open_failure,
        "A failed `openDiff` answers `isError: true` and one text block";
    Must "C5.4-suppress" => suppress,
        "`closeDiff` takes `suppressNotification`";
    Must "C5.5-shape" => close_shape,
        "`closeDiff` answers one text block with JSON: {\"content\": …}";
    Must "C5.5-unknown" => close_unknown,
        "`closeDiff` of a path without a view answers `isError: true` and one text block";
    Must "C5.5-closes" => close_twice,
        "After `closeDiff` the view is gone";
    Must "C5.6-sent" => accepted,
        "An acceptance is reported with `ide/diffAccepted {filePath, content}`";
    Must "C5.6-bytes" => accepted_bytes,
        "A text that is accepted without edits comes back byte for byte";
    Must "C5.6-once" => accepted_once,
        "An acceptance is reported once";
    Must "C5.7-sent" => rejected,
        "A rejection is reported with `ide/diffRejected {filePath}`";
    Must "C5.7-once" => rejected_once,
        "A rejection is reported once";
    Must "C5.8-accepted" => accepted_path,
        "`ide/diffAccepted` has the path exactly as the agent sent it";
    Must "C5.8-rejected" => rejected_path,
        "`ide/diffRejected` has the path exactly as the agent sent it";
    Must "C5.9-writes" => writes_nothing,
        "The companion does not write the file";
    Must "C5.10-suppressed" => silent_close(true),
        "`closeDiff` with `suppressNotification` is followed by no outcome";
    Should "C5.10-closed" => silent_close(false),
        "`closeDiff` without `suppressNotification` is followed by no outcome either";
}

/// How often a view is opened to see whether one opens at once: a machine may be busy.
const OPENINGS: usize = 3;

async fn relative_path(test: &TestContext) -> Finding {
    let session = test.deaf_session().await?;
    test.has_views(&session).await?;
    let reply = session.open_diff(&test.names.name(), "text\n").await?;
    if reply.is_error() {
        return Ok(reply.shown());
    }
    broken("it opens a view, of an unknown file")
}

async fn missing_argument(test: &TestContext) -> Finding {
    let session = test.deaf_session().await?;
    test.has_views(&session).await?;
    let path = test.names.path();
    let arguments = json!({"filePath": path});
    let reply = session.call("openDiff", arguments).await?;
    if reply.is_error() {
        return Ok(reply.shown());
    }
    let _ = session.close_diff(&path, true).await;
    broken(format!("it succeeds: {}", reply.shown()))
}

async fn replace(test: &TestContext) -> Finding {
    let mut session = test.session().await?;
    let path = test.open_view(&session, "first\n").await?;
    let second = session.open_diff(&path, "second\n").await?;
    if second.is_error() {
        return broken(format!("the second fails: {}", second.shown()));
    }
    session.listen(test.connection.timeouts.quiet).await;
    if let Some(outcome) = session.outcomes().first() {
        if test.accepts_itself().await {
            return unchecked("the editor accepts diffs automatically");
        }
        let outcome = shown(outcome);
        return broken(format!(
            "agents take this for the end of the second diff: {outcome}"
        ));
    }
    match test.closed_text(&session, &path).await?.as_str() {
        "second\n" => Ok("the view contains the second text".to_owned()),
        other => {
            // Who keeps both has one more to close.
            let _ = session.close_diff(&path, true).await;
            broken(format!("the view contains {:?}", cut(other)))
        }
    }
}

async fn open(test: &TestContext) -> Finding {
    let session = test.deaf_session().await?;
    let mut quickest: Option<Duration> = None;
    for _ in 0..OPENINGS {
        let took = open_once(test, &session).await?;
        let so_far = quickest.map_or(took, |quickest| quickest.min(took));
        quickest = Some(so_far);
        if so_far < test.connection.timeouts.prompt {
            return Ok(format!("{so_far:.0?}"));
        }
    }
    broken(format!(
        "the quickest of {OPENINGS} answers took {:.1?}",
        quickest.unwrap_or_default()
    ))
}

/// How long `openDiff` took. The view must be there by then.
async fn open_once(test: &TestContext, session: &Session<'_>) -> Result<Duration, Problem> {
    let path = test.names.path();
    let started = Instant::now();
    let reply = session.open_diff(&path, "text\n").await?;
    let took = started.elapsed();
    if reply.is_error() {
        return broken(format!("it fails: {}", reply.shown()));
    }
    if session.close_diff(&path, false).await?.is_error() {
        tokio::time::sleep(test.connection.timeouts.quiet).await;
        // If it never closes, that is another rule's matter.
        if !session.close_diff(&path, false).await?.is_error() {
            return broken("it answers before the view is open: it could not be closed at once");
        }
    }
    Ok(took)
}

async fn empty_content(test: &TestContext) -> Finding {
    let session = test.deaf_session().await?;
    test.has_views(&session).await?;
    let reply = session.open_diff(&test.names.path(), "text\n").await?;
    match reply.content() {
        Some(content) if content.is_empty() => Ok("content: []".to_owned()),
        _ => broken(format!("it answers {}", reply.shown())),
    }
}

async fn open_failure(test: &TestContext) -> Finding {
    let session = test.deaf_session().await?;
    test.has_views(&session).await?;
    for path in [test.names.name(), test.names.folder(), String::new()] {
        let reply = session.open_diff(&path, "text\n").await?;
        if reply.fails_well() {
            return Ok(reply.shown());
        }
        if reply.is_error() {
            return broken(format!("it answers {}", reply.shown()));
        }
    }
    unchecked("it opens a view even for a relative path, a folder and an empty path")
}

async fn suppress(test: &TestContext) -> Finding {
    let session = test.deaf_session().await?;
    let path = test.open_view(&session, "text\n").await?;
    test.close(&session, &path, true).await?;
    Ok("it closes the view".to_owned())
}

async fn close_shape(test: &TestContext) -> Finding {
    let session = test.deaf_session().await?;
    let path = test.open_view(&session, "text\n").await?;
    let reply = test.close(&session, &path, false).await?;
    match reply.closed_content() {
        Ok(_) => Ok("a string `content`".to_owned()),
        Err(why) => broken(why),
    }
}

async fn close_unknown(test: &TestContext) -> Finding {
    let session = test.deaf_session().await?;
    let reply = session.close_diff(&test.names.path(), true).await?;
    if reply.fails_well() {
        return Ok(reply.shown());
    }
    broken(format!("it answers {}", reply.shown()))
}

async fn close_twice(test: &TestContext) -> Finding {
    let session = test.deaf_session().await?;
    let path = test.open_view(&session, "text\n").await?;
    test.close(&session, &path, true).await?;
    let again = session.close_diff(&path, true).await?;
    match again.closed_content() {
        Ok(text) if text == "text\n" => broken("a second closeDiff still finds the view"),
        Ok(_) | Err(_) => Ok("a second closeDiff finds nothing".to_owned()),
    }
}

/// The first outcome of a scenario, if it is of this kind and has this shape.
fn outcome<'a>(scenario: &'a Scenario, method: &str) -> Result<&'a Value, Problem> {
    let Some(first) = scenario.outcomes.first() else {
        return broken("no outcome arrived");
    };
    let has = |name: &str| first["params"][name].is_string();
    let is_complete = has("filePath") && (method == REJECTED || has("content"));
    // With an id it would be a request, which no agent answers.
    if first["method"] != method || !is_complete || first.get("id").is_some() {
        return broken(format!("received: {}", shown(first)));
    }
    Ok(first)
}

/// The same for rules that are about something else in it.
fn seen_outcome<'a>(scenario: &'a Scenario, method: &str) -> Result<&'a Value, Problem> {
    outcome(scenario, method).or_else(|_| {
        let row: &[&str] = match method {
            ACCEPTED => &["C5.6-sent"],
            _ => &["C5.7-sent"],
        };
        blocked(row, "the outcome did not come as required")
    })
}

async fn accepted(test: &TestContext) -> Finding {
    outcome(scenario::accepted(test).await?, ACCEPTED)?;
    Ok("it came".to_owned())
}

async fn rejected(test: &TestContext) -> Finding {
    outcome(scenario::rejected(test).await?, REJECTED)?;
    Ok("it came".to_owned())
}

async fn accepted_bytes(test: &TestContext) -> Finding {
    let scenario = scenario::accepted(test).await?;
    let content = seen_outcome(scenario, ACCEPTED)?["params"]["content"].as_str();
    match difference(content.unwrap_or_default(), &scenario.text) {
        None => Ok(format!("{} bytes", scenario.text.len())),
        Some(difference) => broken(difference),
    }
}

fn once(scenario: &Scenario, method: &str) -> Finding {
    seen_outcome(scenario, method)?;
    match scenario.outcomes.len() {
        1 => Ok("one outcome".to_owned()),
        count => broken(format!("received {count} outcomes")),
    }
}

async fn accepted_once(test: &TestContext) -> Finding {
    once(scenario::accepted(test).await?, ACCEPTED)
}

async fn rejected_once(test: &TestContext) -> Finding {
    once(scenario::rejected(test).await?, REJECTED)
}

fn same_path(scenario: &Scenario, method: &str) -> Finding {
    let path = &seen_outcome(scenario, method)?["params"]["filePath"];
    if *path == scenario.path.as_str() {
        return Ok(scenario.path.clone());
    }
    broken(format!("{:?} came back as {path}", scenario.path))
}

async fn accepted_path(test: &TestContext) -> Finding {
    same_path(scenario::accepted(test).await?, ACCEPTED)
}

async fn rejected_path(test: &TestContext) -> Finding {
    same_path(scenario::rejected(test).await?, REJECTED)
}

async fn writes_nothing(test: &TestContext) -> Finding {
    let session = test.deaf_session().await?;
    let path = test.open_view(&session, "text\n").await?;
    for when in ["while its view was open", "after its view was closed"] {
        tokio::time::sleep(test.connection.timeouts.quiet).await;
        if Path::new(&path).exists() {
            return broken(format!("the file was on disk {when} (removed again)"));
        }
        // Whether that works is another rule's matter.
        let _ = session.close_diff(&path, true).await;
    }
    if let Some(Ok(scenario)) = test.observations.rejected.get()
        && scenario.was_written
    {
        return broken("the file was on disk after the rejection (removed again)");
    }
    let scenario = scenario::accepted(test).await?;
    if scenario.was_written {
        return broken("the file was on disk after the acceptance (removed again)");
    }
    seen_outcome(scenario, ACCEPTED)?;
    Ok("neither while the view is open nor after the decision".to_owned())
}

async fn silent_close(test: &TestContext, suppress: bool) -> Finding {
    let mut session = test.session().await?;
    let path = test.open_view(&session, "text\n").await?;
    test.close(&session, &path, suppress).await?;
    session.listen(test.connection.timeouts.quiet).await;
    match session.outcomes().first() {
        None => Ok(format!("none within {:?}", test.connection.timeouts.quiet)),
        Some(outcome) => broken(format!("received: {}", shown(outcome))),
    }
}
