//! Several agents at one companion (C1.4).

use std::time::Duration;

use crate::agent::Agent;
use crate::check::checks;
use crate::helper::Step;
use crate::message::{is_context, is_outcome};
use crate::moves::move_about;
use crate::observation::once;
use crate::reply::ToolReply;
use crate::rule::{Finding, Otherwise, Problem, blocked, broken, unchecked};
use crate::scenario::{self, CURSOR};
use crate::session::Session;
use crate::test_context::TestContext;

checks! {
    Sessions:
    Must "C1.4-two" => two,
        "Two agents are served at once";
    Must "C1.4-views" => two_views,
        "Two agents can have views of two files at once";
    Should "C1.4-accepted" => owner(true),
        "An acceptance is reported only to the agent that proposed the change";
    Should "C1.4-rejected" => owner(false),
        "A rejection is reported only to the agent that proposed the change";
    Should "C1.4-context" => contexts,
        "Two agents that are connected at once both get the context";
    Must "C1.4-leaving" => leaving,
        "An agent that disconnects does not disturb the others";
}

/// Checks that two sessions are served at once. It is tried once.
pub(super) async fn two(test: &TestContext) -> Finding {
    once(&test.observations.together, together(test))
        .await
        .cloned()
}

async fn together(test: &TestContext) -> Finding {
    test.has_sessions().await?;
    // One was opened before, so these must be opened too.
    let opened = Session::open(test).await;
    let mut first = opened.or_broken("the first of two sessions cannot be opened")?;
    first.needs_stream().await?;
    let opened = Session::open(test).await;
    let mut second = opened.or_broken("the second of two sessions cannot be opened")?;
    let stream = second.open_stream().await;
    stream.or_broken("the second session has no event stream")?;
    for (name, session) in [("first", &mut first), ("second", &mut second)] {
        let served = session.is_served().await;
        served.or_broken(format_args!("the {name} of two sessions does not answer"))?;
        session.listen(Duration::from_millis(20)).await;
    }
    if first.end().is_some() || second.end().is_some() {
        return broken("the second session ends an event stream");
    }
    Ok("two sessions, two streams".to_owned())
}

/// The same for the rules that need it.
pub(super) async fn serves_two(test: &TestContext) -> Result<(), Problem> {
    let served = two(test).await;
    test.close_sessions().await;
    served.or_else(|_| blocked(test.rows().two, "two agents are not served at once"))?;
    Ok(())
}

async fn two_views(test: &TestContext) -> Finding {
    serves_two(test).await?;
    let mut first = test.deaf_session().await?;
    let mut second = test.deaf_session().await?;
    let path = first.open_view("first\n").await?;
    let other = test.names.path();
    let opened = second.open_diff(&other, "second\n").await;
    let opened = opened.and_then(ToolReply::success);
    opened.or_broken("the second view fails")?;
    let texts = [
        first.closed_text(&path).await?,
        second.closed_text(&other).await?,
    ];
    match texts == ["first\n", "second\n"] {
        true => Ok("each closes its own".to_owned()),
        false => broken(format!("the views held {texts:?}")),
    }
}

async fn owner(test: &TestContext, is_accepted: bool) -> Finding {
    serves_two(test).await?;
    let mut owner = test.session().await?;
    let mut bystander = test.session().await?;
    let file = owner.open_view("text\n").await?;
    let (step, row): (_, &[&str]) = match is_accepted {
        true => (Step::Accept(file), &["C5.6-sent"]),
        false => (Step::Reject(file), &["C5.7-sent"]),
    };
    let (time, is_done) = test.done_or_asked(&step).await?;
    owner.wait_for(time, is_outcome).await;
    bystander.listen(test.timeouts.quiet).await;
    match (owner.outcomes().is_empty(), bystander.outcomes().is_empty()) {
        (true, true) if is_done => blocked(row, "no agent got the outcome"),
        (true, true) => {
            unchecked("no agent got the outcome, and nothing is known to have been decided")
        }
        (true, false) => {
            broken("another agent got the outcome, and not the one that proposed the change")
        }
        (false, false) => broken("another agent got the outcome too"),
        (false, true) => Ok("the other agent got nothing".to_owned()),
    }
}

async fn contexts(test: &TestContext) -> Finding {
    let alone = scenario::contexts(test).await?;
    if alone.all().next().is_none() {
        return unchecked("no `ide/contextUpdate` arrived");
    }
    if alone.of_sessions.iter().any(Vec::is_empty) {
        let why = "not every session is sent the context";
        return blocked(&["C4.1-every"], why);
    }
    serves_two(test).await?;
    let mut both = [test.session().await?, test.session().await?];
    let limit = test.timeouts.answer;
    for (name, session) in ["first", "second"].iter().zip(&mut both) {
        if session.wait_for(limit, is_context).await.is_none() {
            return broken(format!("the {name} of two agents is not sent the context"));
        }
    }
    for session in &mut both {
        session.listen(test.timeouts.quiet).await;
    }
    let heard = both.each_ref().map(|session| session.messages().len());
    let (mut time, is_done) = match move_about(test, &mut both[0], &CURSOR).await {
        Ok(moved) => (moved.time, moved.is_done),
        Err(Problem::Unchecked(_)) => return Ok("both at the start".to_owned()),
        Err(broken) => return Err(broken),
    };
    let mut informed = 0;
    for (session, heard) in both.iter_mut().zip(heard) {
        let context = session.wait_from(heard, time, is_context).await;
        informed += usize::from(context.is_some());
        time = limit;
    }
    match informed {
        0 if is_done => blocked(&["C4.2-change"], "no context arrived when the cursor moved"),
        0 => unchecked("no context arrived, and the cursor is not known to have been moved"),
        1 => broken("only one of two agents gets the context when the cursor moves"),
        _ => Ok("both at the start and when the cursor moved".to_owned()),
    }
}

async fn leaving(test: &TestContext) -> Finding {
    serves_two(test).await?;
    let mut stays = test.session().await?;
    let says_so = test.session().await?;
    let path = stays.open_view("text\n").await?;
    says_so.leave().await;
    // Agents of today close their stream and say nothing.
    drop(test.session().await?);
    stays.listen(test.timeouts.quiet).await;
    if stays.end().is_some() {
        return broken("the other's event stream ended");
    }
    let served = stays.is_served().await;
    served.or_broken("the other is no longer served")?;
    let reply = stays.close_diff(&path, false).await;
    let reply = reply.or_broken("closeDiff")?;
    if reply.is_error() && test.accepts_itself().await {
        return Ok("the other keeps its stream; the editor itself accepted its view".to_owned());
    }
    reply.success().or_broken("the other's view is gone")?;
    Ok("the other keeps stream and view".to_owned())
}
