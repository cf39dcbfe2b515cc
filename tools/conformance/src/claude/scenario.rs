//! Proposals and what a person makes of them, each kind seen once.

use std::path::{MAIN_SEPARATOR_STR, Path};

use serde_json::Value;

use super::client::{Client, View};
use crate::agent::Agent;
use crate::claude_observation::Decided;
use crate::decide::decide;
use crate::helper::Step;
use crate::message::answers;
use crate::observation::once;
use crate::reply::ToolReply;
use crate::rule::{Problem, blocked, broken, unchecked};
use crate::scenario::{TEXT, proposals};
use crate::test_context::TestContext;

/// Opens a view of a new file.
pub(super) async fn open_view(client: &mut Client<'_>, text: &str) -> Result<View, Problem> {
    let path = client.test.names.path();
    open_view_of(client, &path, text).await
}

/// Opens a view of this file.
pub(super) async fn open_view_of(
    client: &mut Client<'_>,
    path: &str,
    text: &str,
) -> Result<View, Problem> {
    has_views(client).await?;
    let view = propose(client, path, text).await?;
    // An immediate answer has arrived by then.
    client.is_served().await?;
    still_open(client, &view)?;
    Ok(view)
}

/// Proposes a text, whatever becomes of it.
pub(super) async fn propose(
    client: &mut Client<'_>,
    path: &str,
    text: &str,
) -> Result<View, Problem> {
    let view = client.view(path);
    client.open_diff(&view, text).await?;
    Ok(view)
}

/// Checks that a view can be opened at all, which is tried once.
async fn has_views(client: &mut Client<'_>) -> Result<(), Problem> {
    let test = client.test;
    let try_one = async {
        let view = propose(client, &test.names.path(), "text\n").await?;
        client.settle().await;
        let found = still_open(client, &view);
        // Whether that works is another rule's matter.
        let _ = client.close_tab(&view.tab).await;
        found
    };
    once(&test.observations.views, try_one).await.copied()
}

fn still_open(client: &Client<'_>, view: &View) -> Result<(), Problem> {
    let why = match (client.answers(&view.id).first(), client.end()) {
        (Some(answer), _) => format!("is answered before the decision: {}", answer.shown()),
        (None, Some(end)) => format!("ends the connection: {end}"),
        (None, None) => return Ok(()),
    };
    blocked(&["K5-blocks", "K2-text"], format!("openDiff {why}"))
}

/// The way of a proposal that was accepted.
pub(super) async fn accepted(test: &TestContext) -> Result<&Decided, Problem> {
    once(&test.claude.accepted, Decided::of(test, Step::Accept)).await
}

/// The way of a proposal that was rejected.
pub(super) async fn rejected(test: &TestContext) -> Result<&Decided, Problem> {
    once(&test.claude.rejected, Decided::of(test, Step::Reject)).await
}

/// The way of a proposal whose view was closed without a decision.
pub(super) async fn closed(test: &TestContext) -> Result<&Decided, Problem> {
    once(&test.claude.closed, Decided::of(test, Step::Close)).await
}

impl Decided {
    async fn of(test: &TestContext, step: impl Fn(String) -> Step) -> Result<Self, Problem> {
        let mut client = test.client().await?;
        let (view, text) = propose_odd(&mut client).await?;
        let (time, is_done) = decide(test, &mut client, &step(view.path.clone())).await?;
        let is_answer = |it: &Value| answers(it, &view.id);
        let answer = client.wait_for(time, is_answer).await;
        if answer.is_none() && !is_done {
            test.nobody_came();
            return unchecked(format!("nobody decided within {time:?}"));
        }
        client.settle().await;
        let mut closes = Vec::new();
        for _ in 0..2 {
            let reply = client.close_tab(&view.tab).await;
            closes.push(reply.map_err(|error| error.why));
        }
        client.settle().await;
        let decided = Self {
            was_written: Path::new(&view.path).exists(),
            answers: client.answers(&view.id),
            text,
            closes,
        };
        client.leave().await;
        Ok(decided)
    }
}

/// Opens a view for a new file with a name and a text that are easily spoilt. Line ends are LF, as the
/// agent sends them.
async fn propose_odd(client: &mut Client<'_>) -> Result<(View, String), Problem> {
    has_views(client).await?;
    let text = TEXT.replace("\r\n", "\n");
    let mut refused = String::new();
    for (path, text) in proposals(&client.test.names, MAIN_SEPARATOR_STR, &text) {
        let view = propose(client, &path, &text).await?;
        client.settle().await;
        match client.answers(&view.id).first() {
            None => return Ok((view, text)),
            Some(reply) => refused = reply.shown(),
        }
    }
    let why = format!("openDiff is answered before the decision: {refused}");
    blocked(&["K5-blocks", "K6-nul"], why)
}

/// Opens a view of a new file and has it accepted as it stands; the answer, and how much of it is a
/// matter of the text.
pub(super) async fn accept_text(client: &mut Client<'_>, text: &str) -> Result<ToolReply, Problem> {
    has_views(client).await?;
    let view = propose(client, &client.test.names.path(), text).await?;
    // As long as a view takes to open, so that the first command finds it.
    client.settle().await;
    client.unanswered(&view.id, "before the decision it")?;
    let (time, _) = decide(client.test, client, &Step::AcceptAgain(view.path)).await?;
    let time = time.max(client.limit);
    let is_answer = |it: &Value| answers(it, &view.id);
    match (client.wait_for(time, is_answer).await, client.end()) {
        (Some(answer), _) => Ok(ToolReply(answer)),
        (None, Some(end)) => broken(end),
        (None, None) => {
            let why = format!("no answer within {time:?} of the acceptance");
            blocked(&["K5-accepted"], why)
        }
    }
}
