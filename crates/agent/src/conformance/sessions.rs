//! Several agents at one companion (C1.4).

use std::time::Duration;

use super::bench::Bench;
use super::diffs::open_view;
use super::probe::NoAnswer;
use super::rule::Group::Sessions;
use super::rule::Level::{Must, Should};
use super::rule::{Check, Finding, broken, check, unchecked};

pub(super) const CHECKS: &[Check] = &[
    check(
        Sessions,
        Must,
        "C1.4-two",
        "Two agents are served at once",
        |b| Box::pin(two(b)),
    ),
    check(
        Sessions,
        Must,
        "C1.4-views",
        "Two agents have views of two files at once",
        |b| Box::pin(two_views(b)),
    ),
    check(
        Sessions,
        Should,
        "C1.4-accepted",
        "An acceptance is told to the agent that proposed, and to no other",
        |b| Box::pin(accepted_owner(b)),
    ),
    check(
        Sessions,
        Should,
        "C1.4-rejected",
        "A rejection is told to the agent that proposed, and to no other",
        |b| Box::pin(rejected_owner(b)),
    ),
    check(
        Sessions,
        Must,
        "C1.4-leaving",
        "An agent that leaves does not disturb the others",
        |b| Box::pin(leaving(b)),
    ),
];

async fn two(bench: &Bench) -> Finding {
    let mut first = bench.session().await?;
    let mut second = bench.session().await?;
    for (name, session) in [("first", &first), ("second", &second)] {
        if let Err(NoAnswer(why)) = session.ping().await {
            return broken(format!("the {name} of two sessions does not answer: {why}"));
        }
    }
    let moment = Duration::from_millis(20);
    first.listen(moment).await;
    second.listen(moment).await;
    if first.has_ended || second.has_ended {
        return broken("the second session ends an event stream");
    }
    Ok("two sessions, two streams".to_owned())
}

async fn two_views(bench: &Bench) -> Finding {
    let first = bench.deaf_session().await?;
    let second = bench.deaf_session().await?;
    let path = open_view(bench, &first, "first\n").await?;
    let other = bench.new_path();
    match second.open_diff(&other, "second\n").await {
        Ok(reply) if !reply.is_error() => {}
        Ok(reply) => return broken(format!("the second view fails: {}", reply.shown())),
        Err(NoAnswer(why)) => return broken(format!("the second view fails: {why}")),
    }
    let mut texts = Vec::new();
    for (session, path) in [(&first, &path), (&second, &other)] {
        let reply = match session.close_diff(path, false).await {
            Ok(reply) => reply,
            Err(NoAnswer(why)) => return broken(why),
        };
        match reply.closed_content() {
            Ok(text) => texts.push(text),
            Err(why) if reply.is_error() => return broken(why),
            Err(why) => return unchecked(format!("{why}; see C5.5-shape")),
        }
    }
    if texts == ["first\n", "second\n"] {
        return Ok("each closes its own".to_owned());
    }
    broken(format!("the views held {texts:?}"))
}

async fn accepted_owner(bench: &Bench) -> Finding {
    let story = bench.accepted().await?;
    overheard(story.outcomes.is_empty(), story.overheard.len())
}

async fn rejected_owner(bench: &Bench) -> Finding {
    let story = bench.rejected().await?;
    overheard(story.outcomes.is_empty(), story.overheard.len())
}

fn overheard(owner_heard_nothing: bool, overheard: usize) -> Finding {
    if overheard > 0 {
        return broken("another agent was told");
    }
    if owner_heard_nothing {
        return unchecked("nobody was told; see C5.6-sent and C5.7-sent");
    }
    Ok("the other agent heard nothing".to_owned())
}

async fn leaving(bench: &Bench) -> Finding {
    let mut stays = bench.session().await?;
    let leaves = bench.session().await?;
    let path = open_view(bench, &stays, "text\n").await?;
    leaves.leave().await;
    stays.listen(bench.patience.quiet).await;
    if stays.has_ended {
        return broken("the other's event stream ended");
    }
    match stays.close_diff(&path, false).await {
        Ok(reply) if !reply.is_error() => Ok("the other keeps stream and view".to_owned()),
        Ok(reply) => broken(format!("the other's view is gone: {}", reply.shown())),
        Err(NoAnswer(why)) => broken(format!("the other is not served any more: {why}")),
    }
}
