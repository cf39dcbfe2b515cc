//! The names of proposals, and what takes their views away.

use pillion_protocol::claude::tools::{CLOSE_ALL_DIFF_TABS, FILE_SAVED, TAB_CLOSED};
use serde_json::json;

use super::client::{Client, tab_name};
use super::diffs::{blocks_of, is_rejection};
use super::scenario::{self, open_view, open_view_of};
use crate::agent::Agent;
use crate::check::checks;
use crate::reply::ToolReply;
use crate::rule::{Finding, Otherwise, Problem, broken};
use crate::test_context::TestContext;

checks! {
    Diffs:
    Must "K5-close" => close in client,
        "`close_tab` is answered with the text block TAB_CLOSED",
        "The agent closes every tab after its decision, and waits for the answer.";
    Must "K5-close-late" => close_late,
        "`close_tab` is answered in the same way after the decision, twice, and for an unknown tab",
        "The agent closes a tab up to twice after the person has decided.";
    Must "K5-close-once" => close_once in client,
        "A proposal that `close_tab` closed is answered at most once, and not as accepted",
        "The person decided in the terminal: a second answer may meet another call.";
    Must "K5-names" => names in client,
        "Two tab names are two proposals, even of one path",
        "Closing one would close, or decide, the other.";
    Must "K5-same-name" => same_name in client,
        "A tab name that comes twice accepts nothing",
        "A proposal that the person never saw would be written.";
    Must "K5-all" => close_all in client,
        "`closeAllDiffTabs` closes the views of this connection and answers CLOSED_n_DIFF_TABS",
        "The agent calls it at the start of each turn: views of the previous turn would stay.";
}

/// Checks that `close_tab` was answered as it must be.
fn closed(reply: &ToolReply) -> Result<(), Problem> {
    match blocks_of(reply).is_some_and(|blocks| blocks == [TAB_CLOSED]) {
        true => Ok(()),
        false => reply.wrong(),
    }
}

async fn close(client: &mut Client<'_>) -> Finding {
    let view = open_view(client, "text\n").await?;
    closed(&client.close_tab(&view.tab).await?)?;
    Ok(TAB_CLOSED.to_owned())
}

async fn close_late(test: &TestContext) -> Finding {
    let mut client = test.client().await?;
    let view = open_view(&mut client, "text\n").await?;
    let first = closed(&client.close_tab(&view.tab).await?);
    first.map_err(|problem| problem.due_to(&["K5-close"]))?;
    for (tab, when) in [
        (view.tab, "after it was closed"),
        (tab_name(test, "none"), "of an unknown tab"),
    ] {
        let reply = client.close_tab(&tab).await?;
        closed(&reply).map_err(|problem| problem.about(when))?;
    }
    client.leave().await;
    // What a person decided, if anyone did.
    for decided in [
        scenario::accepted(test).await,
        scenario::rejected(test).await,
    ] {
        let Ok(decided) = decided else { continue };
        let when = ["after the decision", "twice after it"];
        for (reply, when) in decided.closes.iter().zip(when) {
            let reply = reply.as_ref().or_broken(when)?;
            closed(reply).map_err(|problem| problem.about(when))?;
        }
    }
    Ok(TAB_CLOSED.to_owned())
}

async fn close_once(client: &mut Client<'_>) -> Finding {
    let view = open_view(client, "text\n").await?;
    client.close_tab(&view.tab).await?;
    client.close_tab(&view.tab).await?;
    client.settle().await;
    match &client.answers(&view.id)[..] {
        [] => Ok("no answer".to_owned()),
        [answer] if accepts(answer) => answer.wrong(),
        [answer] => Ok(answer.shown()),
        answers => broken(format!("received {} answers", answers.len())),
    }
}

/// Returns true if an answer has a text written.
fn accepts(reply: &ToolReply) -> bool {
    blocks_of(reply).is_some_and(|blocks| blocks.first() == Some(&FILE_SAVED))
}

async fn names(client: &mut Client<'_>) -> Finding {
    let first = open_view(client, "first\n").await?;
    let second = open_view_of(client, &first.path, "second\n").await?;
    client.close_tab(&first.tab).await?;
    client.settle().await;
    client.unanswered(&second.id, "when the first is closed, the second")?;
    match client.answers(&first.id).first() {
        Some(answer) if !is_rejection(answer) && !answer.is_error() => {
            broken(format!("the first is answered with {}", answer.shown()))
        }
        _ => Ok("the second stays when the first is closed".to_owned()),
    }
}

async fn same_name(client: &mut Client<'_>) -> Finding {
    let first = open_view(client, "first\n").await?;
    let path = client.test.names.path();
    let mut second = client.view(&path);
    second.tab = first.tab.clone();
    client.open_diff(&second, "second\n").await?;
    client.settle().await;
    let calls = [("first", &first.id), ("second", &second.id)];
    for (name, id) in calls {
        let mut answers = client.answers(id).into_iter();
        if let Some(answer) = answers.find(|it| !it.is_error() && !is_rejection(it)) {
            return broken(format!("the {name} is answered with {}", answer.shown()));
        }
    }
    client.close_tab(&first.tab).await?;
    client.settle().await;
    for (name, id) in calls {
        if let Some(answer) = client.answers(id).iter().find(|it| accepts(it)) {
            return broken(format!("the {name} is answered with {}", answer.shown()));
        }
    }
    client.is_served().await?;
    Ok("neither is accepted".to_owned())
}

async fn close_all(client: &mut Client<'_>) -> Finding {
    for count in [2, 0] {
        let mut ids = Vec::new();
        for _ in 0..count {
            ids.push(open_view(client, "text\n").await?.id);
        }
        let reply = client.call(CLOSE_ALL_DIFF_TABS, json!({})).await?;
        let expected = format!("CLOSED_{count}_DIFF_TABS");
        if blocks_of(&reply).is_none_or(|blocks| blocks != [expected.as_str()]) {
            let shown = reply.shown();
            return broken(format!("with {count} open it is answered with {shown}"));
        }
        client.settle().await;
        let mut answers = ids.iter().flat_map(|id| client.answers(id));
        if let Some(answer) = answers.find(accepts) {
            return broken(format!("a proposal is answered with {}", answer.shown()));
        }
    }
    Ok("CLOSED_2_DIFF_TABS, CLOSED_0_DIFF_TABS".to_owned())
}
