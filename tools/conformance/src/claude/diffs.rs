//! Proposals, from `openDiff` to the answer, which is the decision.

use std::path::Path;

use pillion_protocol::claude::tools::{CLOSE_TAB, DIFF_REJECTED, FILE_SAVED, TAB_CLOSED};
use pillion_protocol::diff::OPEN_DIFF;
use serde_json::Value;

use super::client::Client;
use super::scenario::{self, open_view, propose};
use crate::agent::Agent;
use crate::check::checks;
use crate::claude_observation::Decided;
use crate::decide;
use crate::diffs::{fails, fails_without, not_written};
use crate::reply::ToolReply;
use crate::rule::{Finding, Problem, blocked, broken};
use crate::test_context::TestContext;
use crate::texts::same_bytes;

checks! {
    Diffs:
    Must "K5-blocks" => blocks in client,
        "`openDiff` is answered with the decision and not before",
        "An early answer decides in the person's place; after an error the agent asks about a diff that it does not show.";
    Must "K5-accepted" => accepted,
        "An acceptance is answered with the text blocks FILE_SAVED and the whole final text",
        "Without the second block the agent's own question stays; with another word nothing is written.";
    Must "K5-bytes" => accepted_bytes,
        "A text that is accepted without edits comes back byte for byte",
        "The agent writes what comes back.";
    Must "K5-rejected" => rejected,
        "A rejection is answered with the text block DIFF_REJECTED",
        "With another word the agent writes the file, or keeps asking.";
    Must "K5-closed" => closed,
        "A view that is closed without a decision is answered with DIFF_REJECTED, never TAB_CLOSED",
        "The agent takes TAB_CLOSED for an acceptance, and writes what nobody accepted.";
    Must "K5-once" => once,
        "A decision is answered once",
        "A second answer may meet another call.";
    Must "K5-writes" => writes_nothing,
        "The companion does not write the file",
        "The agent writes it, and treats a file that changed in the meantime as changed by somebody else.";
    Should "K5-relative" => relative_path in client,
        "`openDiff` of a relative path fails",
        "The person would review a change to a file other than the one the agent means.";
    Should "K5-directory" => directory in client,
        "`openDiff` of a folder fails",
        "The call waits for a decision that nobody can make.";
    Should "K5-arguments" => arguments in client,
        "`openDiff` without one of its arguments fails",
        "The call waits for a decision that nobody can make.";
    Must "K5-lost" => lost,
        "A view whose agent is gone is closed",
        "The person accepts something that nobody writes.";
}

async fn blocks(client: &mut Client<'_>) -> Finding {
    let path = client.test.names.path();
    let view = propose(client, &path, "text\n").await?;
    client.settle().await;
    client.unanswered(&view.id, "it")?;
    client.is_served().await?;
    Ok("other calls are answered meanwhile".to_owned())
}

/// The first answer to a call that was decided.
fn answer(decided: &Decided) -> Result<&ToolReply, Problem> {
    match decided.answers.first() {
        Some(answer) => Ok(answer),
        None => broken("no answer arrived"),
    }
}

/// The texts of an answer's blocks, if it is not a failure and has only such.
pub(super) fn blocks_of(reply: &ToolReply) -> Option<Vec<&str>> {
    let blocks = reply.content().filter(|_| !reply.is_error())?.iter();
    let text = |block: &'_ Value| block["type"] == "text";
    blocks
        .map(|block| block["text"].as_str().filter(|_| text(block)))
        .collect()
}

/// The text that an answer accepts.
pub(super) fn saved(reply: &ToolReply) -> Result<&str, Problem> {
    match blocks_of(reply).as_deref() {
        Some([FILE_SAVED, text]) => Ok(text),
        _ => reply.wrong(),
    }
}

async fn accepted(test: &TestContext) -> Finding {
    saved(answer(scenario::accepted(test).await?)?)?;
    Ok(FILE_SAVED.to_owned())
}

async fn accepted_bytes(test: &TestContext) -> Finding {
    let decided = scenario::accepted(test).await?;
    let text = answer(decided).and_then(saved);
    let text = text.map_err(|problem| problem.due_to(&["K5-accepted"]))?;
    same_bytes(text, &decided.text)
}

/// Returns true if an answer rejects.
pub(super) fn is_rejection(reply: &ToolReply) -> bool {
    let blocks = blocks_of(reply);
    blocks.is_some_and(|blocks| blocks.first() == Some(&DIFF_REJECTED))
}

fn rejection(decided: &Decided) -> Finding {
    let answer = answer(decided)?;
    if is_rejection(answer) {
        return Ok(DIFF_REJECTED.to_owned());
    }
    match blocks_of(answer).as_deref() {
        Some([TAB_CLOSED, ..]) => {
            let shown = answer.shown();
            broken(format!("the agent takes it for an acceptance: {shown}"))
        }
        _ => answer.wrong(),
    }
}

async fn rejected(test: &TestContext) -> Finding {
    rejection(scenario::rejected(test).await?)
}

async fn closed(test: &TestContext) -> Finding {
    rejection(scenario::closed(test).await?)
}

async fn once(test: &TestContext) -> Finding {
    let accepted = scenario::accepted(test).await?;
    let rejected = scenario::rejected(test).await?;
    for (name, decided) in [("acceptance", accepted), ("rejection", rejected)] {
        match decided.answers.len() {
            0 => return blocked(&["K5-accepted", "K5-rejected"], "no answer arrived"),
            1 => {}
            count => return broken(format!("received {count} answers to the {name}")),
        }
    }
    Ok("one answer each".to_owned())
}

async fn writes_nothing(test: &TestContext) -> Finding {
    let mut client = test.client().await?;
    let view = open_view(&mut client, "text\n").await?;
    client.settle().await;
    not_written(Path::new(&view.path).exists(), "while its view was open")?;
    client.leave().await;
    if let Some(Ok(decided)) = test.claude.rejected.get() {
        not_written(decided.was_written, "after the rejection")?;
    }
    let decided = scenario::accepted(test).await?;
    not_written(decided.was_written, "after the acceptance")?;
    Ok("neither while the view is open nor after the decision".to_owned())
}

const TOOLS: [&str; 2] = [OPEN_DIFF, CLOSE_TAB];

async fn relative_path(client: &mut Client<'_>) -> Finding {
    let name = client.test.names.name();
    let view = client.view(&name);
    fails(client, TOOLS, view.arguments("text\n")).await
}

async fn directory(client: &mut Client<'_>) -> Finding {
    let folder = client.test.names.folder();
    let view = client.view(&folder);
    fails(client, TOOLS, view.arguments("text\n")).await
}

async fn arguments(client: &mut Client<'_>) -> Finding {
    let path = client.test.names.path();
    let complete = client.view(&path).arguments("text\n");
    let fields = ["new_file_path", "new_file_contents", "tab_name"];
    fails_without(client, TOOLS, &complete, fields).await
}

async fn lost(test: &TestContext) -> Finding {
    decide::lost(test, async || {
        // That the command works where there is a view.
        scenario::accepted(test).await?;
        let mut client = test.client().await?;
        let view = open_view(&mut client, "text\n").await?;
        client.settle().await;
        client.cut();
        Ok(view.path)
    })
    .await
}
