//! Proposals, from `openDiff` to their outcome (C5).

use std::path::Path;
use std::time::{Duration, Instant};

use pillion_protocol::diff::OPEN_DIFF;
use serde_json::{Value, json};

use crate::agent::Agent;
use crate::check::{checks, prompt};
use crate::message::{ACCEPTED, REJECTED};
use crate::observation::Scenario;
use crate::reply::ToolReply;
use crate::rule::{Finding, Otherwise, Problem, blocked, broken, cut, shown, unchecked};
use crate::scenario;
use crate::session::Session;
use crate::test_context::TestContext;
use crate::texts::same_bytes;
use crate::views::ACCEPTS_ITSELF;

checks! {
    Diffs:
    Must "C5.2-open" => open in deaf_session,
        "`openDiff` answers as soon as the view is open";
    Should "C5.1-relative" => relative_path in deaf_session,
        "`openDiff` refuses a relative path";
    Should "C5.1-arguments" => missing_argument in deaf_session,
        "`openDiff` without `newContent` fails";
    Should "C5.1-replace" => replace in session,
        "A second `openDiff` of a path replaces the first";
    Must "C5.2-empty" => empty_content in deaf_session,
        "A successful `openDiff` answers `content: []`";
    Must "C5.2-failure" => open_failure in deaf_session,
        "A failed `openDiff` answers `isError: true` and one text block";
    Must "C5.4-suppress" => suppress in deaf_session,
        "`closeDiff` takes `suppressNotification`";
    Must "C5.5-shape" => close_shape in deaf_session,
        "`closeDiff` answers one text block with JSON: {\"content\": …}";
    Must "C5.5-unknown" => close_unknown in deaf_session,
        "`closeDiff` of a path without a view answers `isError: true` and one text block";
    Must "C5.5-closes" => close_twice in deaf_session,
        "After `closeDiff` the view is gone";
    Must "C5.6-sent" => sent(ACCEPTED),
        "An acceptance is reported with `ide/diffAccepted {filePath, content}`";
    Must "C5.6-bytes" => accepted_bytes,
        "A text that is accepted without edits comes back byte for byte";
    Must "C5.6-once" => once(ACCEPTED),
        "An acceptance is reported once";
    Must "C5.7-sent" => sent(REJECTED),
        "A rejection is reported with `ide/diffRejected {filePath}`";
    Must "C5.7-once" => once(REJECTED),
        "A rejection is reported once";
    Must "C5.8-accepted" => same_path(ACCEPTED),
        "`ide/diffAccepted` has the path exactly as the agent sent it";
    Must "C5.8-rejected" => same_path(REJECTED),
        "`ide/diffRejected` has the path exactly as the agent sent it";
    Must "C5.9-writes" => writes_nothing,
        "The companion does not write the file";
    Must "C5.10-suppressed" => silent_close(true) in session,
        "`closeDiff` with `suppressNotification` is followed by no outcome";
    Should "C5.10-closed" => silent_close(false) in session,
        "`closeDiff` without `suppressNotification` is followed by no outcome either";
}

async fn relative_path(session: &mut Session<'_>) -> Finding {
    session.has_views().await?;
    let name = session.test.names.name();
    let reply = session.open_diff(&name, "text\n").await?;
    match reply.is_error() {
        true => Ok(reply.shown()),
        false => broken("it opens a view, of an unknown file"),
    }
}

async fn missing_argument(session: &mut Session<'_>) -> Finding {
    session.has_views().await?;
    let path = session.test.names.path();
    let reply = session.call(OPEN_DIFF, json!({"filePath": path})).await?;
    if reply.is_error() {
        return Ok(reply.shown());
    }
    let _ = session.close_diff(&path, true).await;
    broken(format!("it succeeds: {}", reply.shown()))
}

async fn replace(session: &mut Session<'_>) -> Finding {
    let path = session.open_view("first\n").await?;
    let second = session.open_diff(&path, "second\n").await?;
    second.success().or_broken("the second fails")?;
    session.listen(session.test.timeouts.quiet).await;
    if let Some(outcome) = session.outcomes().first() {
        if session.test.accepts_itself().await {
            return unchecked(ACCEPTS_ITSELF);
        }
        let outcome = shown(outcome);
        return broken(format!(
            "agents take this for the end of the second diff: {outcome}"
        ));
    }
    match session.closed_text(&path).await?.as_str() {
        "second\n" => Ok("the view contains the second text".to_owned()),
        other => {
            // Who keeps both has one more to close.
            let _ = session.close_diff(&path, true).await;
            broken(format!("the view contains {:?}", cut(other)))
        }
    }
}

async fn open(session: &mut Session<'_>) -> Finding {
    prompt(session.test.timeouts.prompt, async || {
        open_once(session).await
    })
    .await
}

/// Returns the time that `openDiff` took. The view must be there by then.
async fn open_once(session: &mut Session<'_>) -> Result<Duration, Problem> {
    let path = session.test.names.path();
    let started = Instant::now();
    let reply = session.open_diff(&path, "text\n").await?;
    let took = started.elapsed();
    reply.success().or_broken("it fails")?;
    if session.close_diff(&path, false).await?.is_error() {
        tokio::time::sleep(session.test.timeouts.quiet).await;
        // If it never closes, that is another rule's matter.
        if !session.close_diff(&path, false).await?.is_error() {
            return broken("it answers before the view is open: it could not be closed at once");
        }
    }
    Ok(took)
}

async fn empty_content(session: &mut Session<'_>) -> Finding {
    session.has_views().await?;
    let path = session.test.names.path();
    let reply = session.open_diff(&path, "text\n").await?;
    match reply.content() {
        Some(content) if content.is_empty() => Ok("content: []".to_owned()),
        _ => reply.wrong(),
    }
}

/// A failure as it must be (C5.2, C5.5).
fn failure(reply: &ToolReply) -> Finding {
    match reply.fails_well() {
        true => Ok(reply.shown()),
        false => reply.wrong(),
    }
}

async fn open_failure(session: &mut Session<'_>) -> Finding {
    session.has_views().await?;
    let names = &session.test.names;
    for path in [names.name(), names.folder(), String::new()] {
        let reply = session.open_diff(&path, "text\n").await?;
        if reply.is_error() {
            return failure(&reply);
        }
    }
    unchecked("it opens a view even for a relative path, a folder and an empty path")
}

async fn suppress(session: &mut Session<'_>) -> Finding {
    let path = session.open_view("text\n").await?;
    session.close_view(&path, true).await?;
    Ok("it closes the view".to_owned())
}

async fn close_shape(session: &mut Session<'_>) -> Finding {
    let path = session.open_view("text\n").await?;
    let reply = session.close_view(&path, false).await?;
    match reply.closed_content() {
        Ok(_) => Ok("a string `content`".to_owned()),
        Err(why) => broken(why),
    }
}

async fn close_unknown(session: &mut Session<'_>) -> Finding {
    let path = session.test.names.path();
    failure(&session.close_diff(&path, true).await?)
}

async fn close_twice(session: &mut Session<'_>) -> Finding {
    let path = session.open_view("text\n").await?;
    session.close_view(&path, true).await?;
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

/// The course of a proposal that was decided on.
async fn decided<'a>(test: &'a TestContext, method: &str) -> Result<&'a Scenario, Problem> {
    match method {
        ACCEPTED => scenario::accepted(test).await,
        _ => scenario::rejected(test).await,
    }
}

async fn sent(test: &TestContext, method: &str) -> Finding {
    outcome(decided(test, method).await?, method)?;
    Ok("it came".to_owned())
}

async fn accepted_bytes(test: &TestContext) -> Finding {
    let scenario = scenario::accepted(test).await?;
    let content = seen_outcome(scenario, ACCEPTED)?["params"]["content"].as_str();
    same_bytes(content.unwrap_or_default(), &scenario.text)
}

async fn once(test: &TestContext, method: &str) -> Finding {
    let scenario = decided(test, method).await?;
    seen_outcome(scenario, method)?;
    match scenario.outcomes.len() {
        1 => Ok("one outcome".to_owned()),
        count => broken(format!("received {count} outcomes")),
    }
}

async fn same_path(test: &TestContext, method: &str) -> Finding {
    let scenario = decided(test, method).await?;
    let path = &seen_outcome(scenario, method)?["params"]["filePath"];
    if *path == scenario.path.as_str() {
        return Ok(scenario.path.clone());
    }
    broken(format!("{:?} came back as {path}", scenario.path))
}

async fn writes_nothing(test: &TestContext) -> Finding {
    let mut session = test.deaf_session().await?;
    let path = session.open_view("text\n").await?;
    for when in ["while its view was open", "after its view was closed"] {
        tokio::time::sleep(test.timeouts.quiet).await;
        not_written(Path::new(&path).exists(), when)?;
        // Whether that works is another rule's matter.
        let _ = session.close_diff(&path, true).await;
    }
    if let Some(Ok(scenario)) = test.observations.rejected.get() {
        not_written(scenario.was_written, "after the rejection")?;
    }
    let scenario = scenario::accepted(test).await?;
    not_written(scenario.was_written, "after the acceptance")?;
    seen_outcome(scenario, ACCEPTED)?;
    Ok("neither while the view is open nor after the decision".to_owned())
}

/// The file is left to the agent, which writes it.
pub(super) fn not_written(was_written: bool, when: &str) -> Result<(), Problem> {
    match was_written {
        true => broken(format!("the file was on disk {when} (removed again)")),
        false => Ok(()),
    }
}

/// A call that cannot be one for a view fails; `open` and `close` are the tools for views that have a name.
pub(super) async fn fails(
    agent: &mut impl Agent,
    [open, close]: [&str; 2],
    arguments: Value,
) -> Finding {
    let tab = arguments["tab_name"].as_str().map(str::to_owned);
    let seen = match agent.call(open, arguments).await {
        Ok(reply) if reply.is_error() => return Ok(reply.shown()),
        Ok(reply) => reply.wrong(),
        Err(error) => Err(error.into()),
    };
    if let Some(tab) = tab {
        let _ = agent.call(close, json!({"tab_name": tab})).await;
    }
    seen
}

/// The call fails without any of these arguments, and with a number in its place.
pub(super) async fn fails_without(
    agent: &mut impl Agent,
    tools: [&str; 2],
    complete: &Value,
    fields: [&str; 3],
) -> Finding {
    let mut seen = String::new();
    for field in fields {
        let mut without = complete.clone();
        without.as_object_mut().map(|fields| fields.remove(field));
        let failed = fails(agent, tools, without).await;
        seen = failed.map_err(|problem| problem.about(format_args!("without `{field}`")))?;
        let mut other = complete.clone();
        other[field] = json!(7);
        fails(agent, tools, other).await?;
    }
    agent.is_served().await?;
    Ok(seen)
}

async fn silent_close(session: &mut Session<'_>, suppress: bool) -> Finding {
    let path = session.open_view("text\n").await?;
    session.close_view(&path, suppress).await?;
    let quiet = session.test.timeouts.quiet;
    session.listen(quiet).await;
    match session.outcomes().first() {
        None => Ok(format!("none within {quiet:?}")),
        Some(outcome) => broken(format!("received: {}", shown(outcome))),
    }
}
