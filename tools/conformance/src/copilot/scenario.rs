//! Proposals and what a person makes of them, each kind seen once.

use std::path::Path;

use serde_json::Value;

use super::client::Proposal;
use crate::agent::Agent;
use crate::copilot_observation::Decided;
use crate::decide::decide;
use crate::helper::Step;
use crate::observation::once;
use crate::probe::NoAnswer;
use crate::reply::ToolReply;
use crate::rule::{Problem, blocked, unchecked};
use crate::scenario::TEXT;
use crate::session::Session;
use crate::test_context::TestContext;

/// Opens a view of a new file.
pub(super) async fn open_view(session: &mut Session<'_>, text: &str) -> Result<Proposal, Problem> {
    let path = session.test.names.path();
    let tab = session.tab_name(&path);
    open_view_as(session, tab, &path, text).await
}

/// Opens a view of this file under this name.
pub(super) async fn open_view_as(
    session: &mut Session<'_>,
    tab: String,
    path: &str,
    text: &str,
) -> Result<Proposal, Problem> {
    has_views(session).await?;
    let mut proposal = session.propose_as(tab, path, text);
    still_open(session, &mut proposal).await?;
    Ok(proposal)
}

/// Checks that a view can be opened at all, which is tried once.
async fn has_views(session: &mut Session<'_>) -> Result<(), Problem> {
    let test = session.test;
    let try_one = async {
        let mut proposal = session.propose(&test.names.path(), "text\n");
        let found = still_open(session, &mut proposal).await;
        // Whether that works is another rule's matter.
        let _ = session.close_tab(&proposal.tab).await;
        found
    };
    once(&test.observations.views, try_one).await.copied()
}

/// A proposal is not answered for as long as something that must not come is waited for.
pub(super) async fn still_open(
    session: &Session<'_>,
    proposal: &mut Proposal,
) -> Result<(), Problem> {
    match proposal.answer(session.test.timeouts.quiet).await {
        None => Ok(()),
        Some(answer) => {
            let why = shown(&answer);
            blocked(
                &["P5-waits"],
                format!("open_diff is answered before the decision: {why}"),
            )
        }
    }
}

/// An answer, for a report.
pub(super) fn shown(answer: &Result<ToolReply, NoAnswer>) -> String {
    match answer {
        Ok(reply) => reply.shown(),
        Err(error) => error.why.clone(),
    }
}

/// The way of a proposal that was accepted.
pub(super) async fn accepted(test: &TestContext) -> Result<&Decided, Problem> {
    once(&test.copilot.accepted, Decided::of(test, Step::Accept)).await
}

/// The way of a proposal that was rejected.
pub(super) async fn rejected(test: &TestContext) -> Result<&Decided, Problem> {
    once(&test.copilot.rejected, Decided::of(test, Step::Reject)).await
}

/// The way of a proposal whose view was closed without a decision.
pub(super) async fn closed(test: &TestContext) -> Result<&Decided, Problem> {
    once(&test.copilot.closed, Decided::of(test, Step::Close)).await
}

impl Decided {
    async fn of(test: &TestContext, step: impl Fn(String) -> Step) -> Result<Self, Problem> {
        let mut session = test.session().await?;
        // NUL is not what the rule is about.
        let text = TEXT.replace('\0', "");
        let mut proposal = open_view(&mut session, &text).await?;
        let step = step(proposal.path.clone());
        let (time, is_done) = decide(test, &mut session, &step).await?;
        let answer = match session.listening(proposal.answer(time)).await {
            Some(answer) => answer,
            None if is_done => NoAnswer::because(format!("no answer within {time:?}")),
            None => {
                test.nobody_came();
                return unchecked(format!("nobody decided within {time:?}"));
            }
        };
        let close = session.close_tab(&proposal.tab).await;
        session.listen(test.timeouts.quiet).await;
        let was_written = Path::new(&proposal.path).exists();
        session.leave().await;
        Ok(Self {
            answer,
            close,
            was_written,
        })
    }
}

/// The object in the text block of a tool's answer.
pub(super) fn told(reply: &ToolReply) -> Option<Value> {
    let text = reply.text().filter(|_| !reply.is_error())?;
    let value: Value = serde_json::from_str(text).ok()?;
    value.is_object().then_some(value)
}
