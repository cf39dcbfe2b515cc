//! The names of proposals, and what takes their views away.

use pillion_protocol::claude::tools::{CLOSE_ALL_DIFF_TABS, FILE_SAVED, TAB_CLOSED};
use serde_json::json;

use super::client::{Client, with_client};
use super::diffs::{blocks_of, is_rejection};
use super::scenario::{self, open_view, open_view_of, tab_name};
use crate::check::checks;
use crate::rule::{Finding, Problem, blocked, broken};
use crate::session::ToolReply;
use crate::test_context::TestContext;

checks! {
    Diffs:
    Must "K5-close" => close,
        "`close_tab` is answered with the text block TAB_CLOSED",
        "The agent closes every tab after its decision, and waits for the answer.";
    Must "K5-close-late" => close_late,
        "`close_tab` is answered in the same way after the decision, twice, and for an unknown tab",
        "The agent closes a tab up to twice after the person has decided.";
    Must "K5-close-once" => close_once,
        "A proposal that `close_tab` closed is answered at most once, and not as accepted",
        "The person decided in the terminal: a second answer may meet another call.";
    Must "K5-names" => names,
        "Two tab names are two proposals, even of one path",
        "Closing one would close, or decide, the other.";
    Must "K5-same-name" => same_name,
        "A tab name that comes twice accepts nothing",
        "A proposal that the person never saw would be written.";
    Must "K5-all" => close_all,
        "`closeAllDiffTabs` closes the views of this connection and answers CLOSED_n_DIFF_TABS",
        "The agent calls it at the start of each turn: views of the previous turn would stay.";
}

/// Whether `close_tab` was answered as it must be.
fn is_closed(reply: &ToolReply) -> bool {
    blocks_of(reply).is_some_and(|blocks| blocks == [TAB_CLOSED])
}

async fn close(test: &TestContext) -> Finding {
    with_client(test, async |client: &mut Client<'_>| {
        let view = open_view(client, "text\n").await?;
        let reply = client.close_tab(&view.tab).await?;
        match is_closed(&reply) {
            true => Ok(TAB_CLOSED.to_owned()),
            false => broken(format!("it is answered with {}", reply.shown())),
        }
    })
    .await
}

/// The answer to a `close_tab` with nothing to close.
fn late(reply: Result<&ToolReply, &str>, when: &str) -> Result<(), Problem> {
    match reply {
        Ok(reply) if is_closed(reply) => Ok(()),
        Ok(reply) => broken(format!("{when}: it is answered with {}", reply.shown())),
        Err(why) => broken(format!("{when}: {why}")),
    }
}

async fn close_late(test: &TestContext) -> Finding {
    let unknown = with_client(test, async |client: &mut Client<'_>| {
        let view = open_view(client, "text\n").await?;
        let first = client.close_tab(&view.tab).await?;
        if !is_closed(&first) {
            return blocked(
                &["K5-close"],
                format!("it is answered with {}", first.shown()),
            );
        }
        for (tab, when) in [
            (view.tab, "after it was closed"),
            (tab_name(test, "none"), "of an unknown tab"),
        ] {
            let reply = client.close_tab(&tab).await;
            late(reply.as_ref().map_err(|error| error.why.as_str()), when)?;
        }
        Ok(TAB_CLOSED.to_owned())
    });
    let seen = unknown.await?;
    // What a person decided, if anyone did.
    for decided in [
        scenario::accepted(test).await,
        scenario::rejected(test).await,
    ] {
        let Ok(decided) = decided else { continue };
        for (reply, when) in decided
            .closes
            .iter()
            .zip(["after the decision", "twice after it"])
        {
            late(reply.as_ref().map_err(String::as_str), when)?;
        }
    }
    Ok(seen)
}

async fn close_once(test: &TestContext) -> Finding {
    with_client(test, async |client: &mut Client<'_>| {
        let view = open_view(client, "text\n").await?;
        client.close_tab(&view.tab).await?;
        client.close_tab(&view.tab).await?;
        client.listen(test.connection.timeouts.quiet).await;
        match &client.answers(&view.id)[..] {
            [] => Ok("no answer".to_owned()),
            [answer] if accepts(answer) => {
                broken(format!("it is answered with {}", answer.shown()))
            }
            [answer] => Ok(answer.shown()),
            answers => broken(format!("received {} answers", answers.len())),
        }
    })
    .await
}

/// Whether an answer has a text written.
fn accepts(reply: &ToolReply) -> bool {
    blocks_of(reply).is_some_and(|blocks| blocks.first() == Some(&FILE_SAVED))
}

async fn names(test: &TestContext) -> Finding {
    with_client(test, async |client: &mut Client<'_>| {
        let first = open_view(client, "first\n").await?;
        let second = open_view_of(client, &first.path, "second\n").await?;
        client.close_tab(&first.tab).await?;
        client.listen(test.connection.timeouts.quiet).await;
        if let Some(answer) = client.answers(&second.id).first() {
            return broken(format!(
                "the second is answered with {} when the first is closed",
                answer.shown()
            ));
        }
        match client.answers(&first.id).first() {
            Some(answer) if !is_rejection(answer) && !answer.is_error() => {
                broken(format!("the first is answered with {}", answer.shown()))
            }
            _ => Ok("the second stays when the first is closed".to_owned()),
        }
    })
    .await
}

async fn same_name(test: &TestContext) -> Finding {
    with_client(test, async |client: &mut Client<'_>| {
        let first = open_view(client, "first\n").await?;
        let path = test.names.path();
        let second = client.open_diff(&first.tab, &path, "second\n").await?;
        client.listen(test.connection.timeouts.quiet).await;
        let calls = [("first", &first.id), ("second", &second)];
        for (name, id) in calls {
            let mut answers = client.answers(id).into_iter();
            if let Some(answer) = answers.find(|it| !it.is_error() && !is_rejection(it)) {
                return broken(format!("the {name} is answered with {}", answer.shown()));
            }
        }
        client.close_tab(&first.tab).await?;
        client.listen(test.connection.timeouts.quiet).await;
        for (name, id) in calls {
            if let Some(answer) = client.answers(id).iter().find(|it| accepts(it)) {
                return broken(format!("the {name} is answered with {}", answer.shown()));
            }
        }
        client.is_served().await?;
        Ok("neither is accepted".to_owned())
    })
    .await
}

async fn close_all(test: &TestContext) -> Finding {
    with_client(test, async |client: &mut Client<'_>| {
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
            client.listen(test.connection.timeouts.quiet).await;
            let mut answers = ids.iter().flat_map(|id| client.answers(id));
            if let Some(answer) = answers.find(accepts) {
                return broken(format!("a proposal is answered with {}", answer.shown()));
            }
        }
        Ok("CLOSED_2_DIFF_TABS, CLOSED_0_DIFF_TABS".to_owned())
    })
    .await
}
