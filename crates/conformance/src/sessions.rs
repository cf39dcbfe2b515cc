//! Several agents at one companion (C1.4).

use std::time::Duration;

use crate::check::checks;
use crate::message::{is_context, is_outcome};
use crate::probe::NoAnswer;
use crate::rule::{Finding, Problem, blocked, broken, unchecked};
use crate::scenario::{self, move_about};
use crate::session::Session;
use crate::test_context::{Step, TestContext};

checks! {
    Sessions:
    Must "C1.4-two" => two,
        "Two agents are served at once";
    Must "C1.4-views" => two_views,
        "Two agents can have views of two files at once";
    Should "C1.4-accepted" => accepted_owner,
        "An acceptance is reported only to the agent that proposed the change";
    Should "C1.4-rejected" => rejected_owner,
        "A rejection is reported only to the agent that proposed the change";
    Should "C1.4-context" => contexts,
        "Two agents that are connected at once both get the context";
    Must "C1.4-leaving" => leaving,
        "An agent that disconnects does not disturb the others";
}

/// Whether two sessions are served at once. It is tried once.
async fn together_once(test: &TestContext) -> Result<(), Problem> {
    let together = test.observations.together.get_or_init(|| together(test));
    together.await.clone()
}

async fn together(test: &TestContext) -> Result<(), Problem> {
    test.has_sessions().await?;
    let mut first = another(test, "first").await?;
    if let Err(NoAnswer { why, .. }) = first.open_stream().await {
        return blocked(&["C1.1-stream"], format!("there is no event stream: {why}"));
    }
    let mut second = another(test, "second").await?;
    if let Err(NoAnswer { why, .. }) = second.open_stream().await {
        return broken(format!("the second session has no event stream: {why}"));
    }
    for (name, session) in [("first", &first), ("second", &second)] {
        if let Err(NoAnswer { why, .. }) = session.is_served().await {
            return broken(format!("the {name} of two sessions does not answer: {why}"));
        }
    }
    let moment = Duration::from_millis(20);
    first.listen(moment).await;
    second.listen(moment).await;
    if first.end.is_some() || second.end.is_some() {
        return broken("the second session ends an event stream");
    }
    Ok(())
}

/// A session: one was opened before, so this one must be opened too.
async fn another<'a>(test: &'a TestContext, name: &str) -> Result<Session<'a>, Problem> {
    let opened = Session::open(&test.connection).await;
    opened.or_else(|NoAnswer { why, .. }| {
        broken(format!(
            "the {name} of two sessions cannot be opened: {why}"
        ))
    })
}

async fn two(test: &TestContext) -> Finding {
    together_once(test).await?;
    Ok("two sessions, two streams".to_owned())
}

/// The same for the rules that need it.
async fn serves_two(test: &TestContext) -> Result<(), Problem> {
    let served = together_once(test).await;
    test.connection.clean_up().await;
    served.or_else(|_| blocked(&["C1.4-two"], "two agents are not served at once"))
}

async fn two_views(test: &TestContext) -> Finding {
    serves_two(test).await?;
    let first = test.deaf_session().await?;
    let second = test.deaf_session().await?;
    let path = test.open_view(&first, "first\n").await?;
    let other = test.names.path();
    match second.open_diff(&other, "second\n").await {
        Ok(reply) if !reply.is_error() => {}
        Ok(reply) => return broken(format!("the second view fails: {}", reply.shown())),
        Err(NoAnswer { why, .. }) => return broken(format!("the second view fails: {why}")),
    }
    let mut texts = Vec::new();
    for (session, path) in [(&first, &path), (&second, &other)] {
        texts.push(test.closed_text(session, path).await?);
    }
    if texts == ["first\n", "second\n"] {
        return Ok("each closes its own".to_owned());
    }
    broken(format!("the views held {texts:?}"))
}

async fn owner(
    test: &TestContext,
    step: impl Fn(String) -> Step,
    row: &'static [&'static str],
) -> Finding {
    serves_two(test).await?;
    let mut owner = test.session().await?;
    let mut bystander = test.session().await?;
    let path = test.open_view(&owner, "text\n").await?;
    let (time, is_done) = test.done_or_asked(&step(path)).await?;
    owner.wait_for(time, is_outcome).await;
    bystander.listen(test.connection.timeouts.quiet).await;
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

async fn accepted_owner(test: &TestContext) -> Finding {
    owner(test, |file| Step::Accept { file }, &["C5.6-sent"]).await
}

async fn rejected_owner(test: &TestContext) -> Finding {
    owner(test, |file| Step::Reject { file }, &["C5.7-sent"]).await
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
    let limit = test.connection.timeouts.answer;
    for (name, session) in ["first", "second"].iter().zip(&mut both) {
        if session.wait_for(limit, is_context).await.is_none() {
            return broken(format!("the {name} of two agents is not sent the context"));
        }
    }
    for session in &mut both {
        session.listen(test.connection.timeouts.quiet).await;
    }
    let heard = both.each_ref().map(|session| session.messages.len());
    let (mut time, is_done) = match move_about(test, &both[0]).await {
        Ok(moved) => (moved.time, moved.is_done),
        Err(Problem::Unchecked(_)) => return Ok("both at the start".to_owned()),
        Err(broken) => return Err(broken),
    };
    let mut informed = 0;
    for (session, heard) in both.iter_mut().zip(heard) {
        session.messages.drain(..heard);
        if session.wait_for(time, is_context).await.is_some() {
            informed += 1;
        }
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
    let path = test.open_view(&stays, "text\n").await?;
    says_so.leave().await;
    // Agents of today close their stream and say nothing.
    drop(test.session().await?);
    stays.listen(test.connection.timeouts.quiet).await;
    if stays.end.is_some() {
        return broken("the other's event stream ended");
    }
    if let Err(NoAnswer { why, .. }) = stays.is_served().await {
        return broken(format!("the other is no longer served: {why}"));
    }
    match stays.close_diff(&path, false).await {
        Ok(reply) if !reply.is_error() => Ok("the other keeps stream and view".to_owned()),
        Ok(_) if test.accepts_itself().await => {
            Ok("the other keeps its stream; the editor itself accepted its view".to_owned())
        }
        Ok(reply) => broken(format!("the other's view is gone: {}", reply.shown())),
        Err(NoAnswer { why, .. }) => broken(format!("closeDiff: {why}")),
    }
}
