//! The names of proposals, and what takes their views away.

use super::diffs::saves;
use super::scenario::{self, open_view, open_view_as, shown, still_open, told};
use crate::check::checks;
use crate::reply::ToolReply;
use crate::rule::{Finding, Otherwise, Problem, broken};
use crate::session::Session;
use crate::test_context::TestContext;

checks! {
    Diffs:
    Must "P5-close" => close in session,
        "`close_diff` is answered with one text block of JSON",
        "The agent calls it when the person has decided in its own window, and waits for the answer.";
    Must "P5-close-late" => close_late,
        "`close_diff` is answered in the same way after the view was closed or decided, and for an unknown tab",
        "The person may have decided in both places at once.";
    Must "P5-close-ends" => close_ends in session,
        "A proposal that `close_diff` closed is answered, and not with SAVED",
        "The agent's call stays open, or it writes what nobody accepted.";
    Must "P5-names" => names in session,
        "Two tab names are two proposals, even of one path",
        "Closing one would close, or decide, the other.";
}

/// Checks that `close_diff` was answered as it must be.
pub(super) fn closed(reply: &ToolReply) -> Result<(), Problem> {
    match told(reply) {
        Some(_) => Ok(()),
        None => reply.wrong(),
    }
}

async fn close(session: &mut Session<'_>) -> Finding {
    let proposal = open_view(session, "text\n").await?;
    let reply = session.close_tab(&proposal.tab).await?;
    closed(&reply)?;
    Ok(reply.shown())
}

async fn close_late(test: &TestContext) -> Finding {
    let mut session = test.session().await?;
    let proposal = open_view(&mut session, "text\n").await?;
    let first = closed(&session.close_tab(&proposal.tab).await?);
    first.map_err(|problem| problem.due_to(&["P5-close"]))?;
    let unknown = session.tab_name("none");
    for (tab, when) in [
        (&proposal.tab, "after it was closed"),
        (&unknown, "of an unknown tab"),
    ] {
        let reply = session.close_tab(tab).await?;
        closed(&reply).map_err(|problem| problem.about(when))?;
    }
    // What a person decided, if anyone did.
    for decided in [
        scenario::accepted(test).await,
        scenario::rejected(test).await,
    ] {
        let Ok(decided) = decided else { continue };
        let reply = decided.close.as_ref().or_broken("after the decision")?;
        closed(reply).map_err(|problem| problem.about("after the decision"))?;
    }
    Ok("as for a view".to_owned())
}

async fn close_ends(session: &mut Session<'_>) -> Finding {
    let mut proposal = open_view(session, "text\n").await?;
    session.close_tab(&proposal.tab).await?;
    match proposal.answer(session.test.timeouts.answer).await {
        None => broken("its call stays open"),
        Some(Ok(reply)) if saves(&reply) => reply.wrong(),
        Some(answer) => Ok(shown(&answer)),
    }
}

async fn names(session: &mut Session<'_>) -> Finding {
    let first = open_view(session, "first\n").await?;
    let tab = session.tab_name(&first.path);
    let mut second = open_view_as(session, tab, &first.path, "second\n").await?;
    session.close_tab(&first.tab).await?;
    let open = still_open(session, &mut second).await;
    if let Err(Problem::Blocked { why, .. }) = open {
        return broken(format!(
            "when the first is closed, the second is, too: {why}"
        ));
    }
    Ok("the second stays when the first is closed".to_owned())
}
