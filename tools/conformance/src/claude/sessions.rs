//! Several agents at one companion.

use pillion_protocol::claude::tools::CLOSE_ALL_DIFF_TABS;
use serde_json::{Value, json};

use super::client::{Client, View};
use super::diffs::{blocks_of, saved};
use super::scenario::open_view;
use super::selection::{is_selection, selections};
use crate::agent::Agent;
use crate::check::checks;
use crate::decide::decide;
use crate::helper::Step;
use crate::message::answers;
use crate::observation::once;
use crate::reply::ToolReply;
use crate::rule::{Finding, Otherwise, Problem, blocked, broken};
use crate::test_context::TestContext;

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

/// Checks that two clients are served at once. It is tried once.
async fn two(test: &TestContext) -> Finding {
    once(&test.observations.together, together(test))
        .await
        .cloned()
}

async fn together(test: &TestContext) -> Finding {
    let mut first = test.client().await?;
    let second = Client::open(test).await;
    let mut second = second.or_broken("the second client is not served")?;
    for (name, client) in [("first", &mut first), ("second", &mut second)] {
        let served = client.is_served().await;
        served.or_broken(format_args!("the {name} of two clients is not answered"))?;
    }
    first.leave().await;
    second.leave().await;
    Ok("two clients".to_owned())
}

/// Two clients, for the rules that need them.
async fn clients(test: &TestContext) -> Result<[Client<'_>; 2], Problem> {
    let served = two(test).await;
    served.or_else(|_| blocked(&["K8-two"], "two clients are not served at once"))?;
    Ok([test.client().await?, test.client().await?])
}

/// A view is still open: nothing has answered its call.
async fn still_waits(client: &mut Client<'_>, view: &View, when: &str) -> Result<(), Problem> {
    client.settle().await;
    client.unanswered(&view.id, &format!("{when} the other's"))?;
    let served = client.is_served().await;
    served.or_broken(format_args!("{when} the other is no longer served"))
}

/// Opens a view with an id that the other client uses as well.
async fn propose(client: &mut Client<'_>, id: &Value, text: &str) -> Result<View, Problem> {
    let path = client.test.names.path();
    let mut view = client.view(&path);
    view.id = id.clone();
    client.open_diff(&view, text).await?;
    client.settle().await;
    Ok(view)
}

async fn decision(test: &TestContext) -> Finding {
    let [mut first, mut second] = clients(test).await?;
    let view = open_view(&mut first, "text\n").await?;
    first.close_tab(&view.tab).await?;
    let id = json!("the same");
    let other = propose(&mut second, &id, "second\n").await?;
    let own = propose(&mut first, &id, "first\n").await?;
    if !first.answers(&id).is_empty() {
        return blocked(&["K5-blocks"], "openDiff is answered before the decision");
    }
    let step = Step::AcceptAgain(own.path);
    let (time, _) = decide(test, &mut first, &step).await?;
    let answer = first.wait_for(time, |it| answers(it, &id)).await;
    second.settle().await;
    second.unanswered(&other.id, "the other")?;
    let Some(answer) = answer.map(ToolReply) else {
        let why = "the client that proposed it is not answered";
        return blocked(&["K5-accepted"], why);
    };
    match saved(&answer).map_err(|problem| problem.due_to(&["K5-accepted"]))? {
        "first\n" => Ok("the other still waits".to_owned()),
        _ => broken("the text of the other's proposal came back"),
    }
}

async fn close_all(test: &TestContext) -> Finding {
    let [mut first, mut second] = clients(test).await?;
    let view = open_view(&mut first, "text\n").await?;
    let reply = second.call(CLOSE_ALL_DIFF_TABS, json!({})).await?;
    let when = "after one client has closed its own,";
    still_waits(&mut first, &view, when).await?;
    let counted = blocks_of(&reply).unwrap_or_default().join(" ");
    match counted.as_str() {
        "CLOSED_0_DIFF_TABS" => Ok(counted),
        "CLOSED_1_DIFF_TABS" => broken("it counts the other's view"),
        _ => reply
            .wrong()
            .map_err(|problem: Problem| problem.due_to(&["K5-all"])),
    }
}

async fn tab_names(test: &TestContext) -> Finding {
    let [mut first, mut second] = clients(test).await?;
    let view = open_view(&mut first, "text\n").await?;
    let mut same = second.view(&test.names.path());
    same.tab = view.tab.clone();
    second.open_diff(&same, "text\n").await?;
    let when = "after a second client has used the name,";
    still_waits(&mut first, &view, when).await?;
    second.unanswered(&same.id, "the second")?;
    second.close_tab(&view.tab).await?;
    let when = "after the second client has closed it,";
    still_waits(&mut first, &view, when).await?;
    Ok("both are open".to_owned())
}

async fn both_hear(test: &TestContext) -> Finding {
    let known = selections(test).await?;
    known.comes_at_start(&["K7-start"], "a new client is sent none")?;
    let mut both = clients(test).await?;
    for (name, client) in ["first", "second"].iter().zip(&mut both) {
        let selection = client.wait_for(test.timeouts.answer, is_selection).await;
        if selection.is_none() {
            return broken(format!("the {name} of two clients got none"));
        }
    }
    Ok("both got one".to_owned())
}

async fn leaving(test: &TestContext) -> Finding {
    let [mut stays, mut polite] = clients(test).await?;
    let view = open_view(&mut stays, "text\n").await?;
    open_view(&mut polite, "text\n").await?;
    polite.leave().await;
    still_waits(&mut stays, &view, "after one client has left,").await?;
    let mut rude = test.client().await?;
    open_view(&mut rude, "text\n").await?;
    rude.cut();
    still_waits(&mut stays, &view, "after one client was cut off,").await?;
    Ok("the other still waits".to_owned())
}
