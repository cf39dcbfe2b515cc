//! Several agents at one companion.

use pillion_protocol::claude::tools::CLOSE_ALL_DIFF_TABS;
use serde_json::{Value, json};

use super::client::{Client, answers, session};
use super::diffs::{blocks_of, saved};
use super::scenario::{View, decide, open_view, tab_name};
use super::selection::{is_selection, selections};
use crate::check::checks;
use crate::probe::NoAnswer;
use crate::rule::{Finding, Problem, blocked, broken, unchecked};
use crate::session::ToolReply;
use crate::test_context::{Step, TestContext};

checks! {
    Sessions:
    Must "K8-two" => two,
        "Two clients are served at once",
        "Starting a second agent would cost the first its companion.";
    Must "K8-decision" => decision,
        "A decision is answered only to the client that proposed the change, even with equal ids",
        "The other agent takes it for the answer to a call of its own, and writes another file.";
    Must "K8-close-all" => close_all,
        "`closeAllDiffTabs` leaves the views of other clients alone",
        "The agent calls it with every prompt: each would close what another agent is waiting for.";
    Must "K8-tab-names" => tab_names,
        "Two clients may use one tab name",
        "One agent closes what another is waiting for.";
    Should "K8-selection" => both_hear,
        "Two clients that are connected at once both get the selection",
        "One of the agents does not know what is open.";
    Must "K8-leaving" => leaving,
        "A client that disconnects does not disturb the others",
        "An agent that exits closes what another is waiting for.";
}

/// Runs a check with two clients, and closes what they left open, whatever it finds.
async fn with_two<'a>(
    test: &'a TestContext,
    check: impl AsyncFnOnce(&mut Client<'a>, &mut Client<'a>) -> Finding,
) -> Finding {
    serves_two(test).await?;
    let (mut first, mut second) = (session(test).await?, session(test).await?);
    let finding = check(&mut first, &mut second).await;
    first.leave().await;
    second.leave().await;
    finding
}

/// Whether two clients are served at once. It is tried once.
async fn together_once(test: &TestContext) -> Result<(), Problem> {
    test.claude
        .together
        .get_or_init(|| together(test))
        .await
        .clone()
}

async fn together(test: &TestContext) -> Result<(), Problem> {
    let mut first = session(test).await?;
    let mut second = match Client::open(test).await {
        Ok(second) => second,
        Err(NoAnswer { why, .. }) => {
            first.leave().await;
            return broken(format!("the second client is not served: {why}"));
        }
    };
    let mut served = Ok(());
    for (name, client) in [("first", &mut first), ("second", &mut second)] {
        if let Err(NoAnswer { why, .. }) = client.is_served().await {
            served = broken(format!("the {name} of two clients is not answered: {why}"));
        }
    }
    first.leave().await;
    second.leave().await;
    served
}

async fn two(test: &TestContext) -> Finding {
    together_once(test).await?;
    Ok("two clients".to_owned())
}

/// The same for the rules that need it.
async fn serves_two(test: &TestContext) -> Result<(), Problem> {
    let served = together_once(test).await;
    served.or_else(|_| blocked(&["K8-two"], "two clients are not served at once"))
}

/// A view is still open: nothing has answered its call.
async fn still_waits(client: &mut Client<'_>, view: &View, when: &str) -> Result<(), Problem> {
    client.listen(client.test.connection.timeouts.quiet).await;
    if let Some(answer) = client.answers(&view.id).first() {
        return broken(format!(
            "{when} the other's is answered with {}",
            answer.shown()
        ));
    }
    match client.is_served().await {
        Ok(()) => Ok(()),
        Err(NoAnswer { why, .. }) => broken(format!("{when} the other is no longer served: {why}")),
    }
}

/// Opens a view with an id that the other client uses as well.
async fn propose(client: &mut Client<'_>, id: &Value, text: &str) -> Result<View, Problem> {
    let path = client.test.names.path();
    let tab = tab_name(client.test, &path);
    client.open_diff_as(id, &tab, &path, text).await?;
    client.listen(client.test.connection.timeouts.quiet).await;
    let id = id.clone();
    Ok(View { tab, path, id })
}

async fn decision(test: &TestContext) -> Finding {
    with_two(
        test,
        async |first: &mut Client<'_>, second: &mut Client<'_>| {
            let view = open_view(first, "text\n").await?;
            first.close_tab(&view.tab).await?;
            let id = json!("the same");
            let other = propose(second, &id, "second\n").await?;
            let own = propose(first, &id, "first\n").await?;
            if !first.answers(&id).is_empty() {
                return blocked(&["K5-blocks"], "openDiff is answered before the decision");
            }
            let step = Step::AcceptAgain {
                file: own.path.clone(),
            };
            let (time, _) = decide(first, &step).await?;
            let is_answer = |it: &Value| answers(it, &id);
            let answer = first.wait_from(0, time, is_answer).await.map(ToolReply);
            second.listen(test.connection.timeouts.quiet).await;
            if let Some(answer) = second.answers(&other.id).first() {
                return broken(format!("the other is answered with {}", answer.shown()));
            }
            match answer.as_ref().map(saved) {
                Some(Ok("first\n")) => Ok("the other still waits".to_owned()),
                Some(Ok(_)) => broken("the text of the other's proposal came back"),
                Some(Err(_)) => blocked(&["K5-accepted"], "it is not answered as an acceptance"),
                None => blocked(
                    &["K5-accepted"],
                    "the client that proposed it is not answered",
                ),
            }
        },
    )
    .await
}

async fn close_all(test: &TestContext) -> Finding {
    with_two(
        test,
        async |first: &mut Client<'_>, second: &mut Client<'_>| {
            let view = open_view(first, "text\n").await?;
            let reply = second.call(CLOSE_ALL_DIFF_TABS, json!({})).await?;
            still_waits(first, &view, "after one client has closed its own,").await?;
            let counted = blocks_of(&reply).unwrap_or_default().join(" ");
            match counted.as_str() {
                "CLOSED_0_DIFF_TABS" => Ok(counted),
                "CLOSED_1_DIFF_TABS" => broken("it counts the other's view"),
                _ => blocked(
                    &["K5-all"],
                    format!("it is answered with {}", reply.shown()),
                ),
            }
        },
    )
    .await
}

async fn tab_names(test: &TestContext) -> Finding {
    with_two(
        test,
        async |first: &mut Client<'_>, second: &mut Client<'_>| {
            let view = open_view(first, "text\n").await?;
            let id = second
                .open_diff(&view.tab, &test.names.path(), "text\n")
                .await?;
            still_waits(first, &view, "after a second client has used the name,").await?;
            if let Some(answer) = second.answers(&id).first() {
                return broken(format!("the second is answered with {}", answer.shown()));
            }
            second.close_tab(&view.tab).await?;
            still_waits(first, &view, "after the second client has closed it,").await?;
            Ok("both are open".to_owned())
        },
    )
    .await
}

async fn both_hear(test: &TestContext) -> Finding {
    let known = selections(test).await?;
    if known.of_start.is_empty() {
        return match known.all().next() {
            Some(_) => blocked(&["K7-start"], "a new client is sent none"),
            None => unchecked("no `selection_changed` arrived: focus a file in the editor"),
        };
    }
    with_two(
        test,
        async |first: &mut Client<'_>, second: &mut Client<'_>| {
            for (name, client) in [("first", first), ("second", second)] {
                let limit = test.connection.timeouts.answer;
                if client.wait_from(0, limit, is_selection).await.is_none() {
                    return broken(format!("the {name} of two clients got none"));
                }
            }
            Ok("both got one".to_owned())
        },
    )
    .await
}

async fn leaving(test: &TestContext) -> Finding {
    serves_two(test).await?;
    let mut stays = session(test).await?;
    let finding = async {
        let view = open_view(&mut stays, "text\n").await?;
        for is_polite in [true, false] {
            let mut leaves = session(test).await?;
            open_view(&mut leaves, "text\n").await?;
            match is_polite {
                true => leaves.leave().await,
                false => leaves.cut(),
            }
            still_waits(&mut stays, &view, "after one client has left,").await?;
        }
        Ok("the other still waits".to_owned())
    };
    let finding = finding.await;
    stays.leave().await;
    finding
}
