//! Proposals, from `open_diff` to the answer, which is the decision.

use std::path::Path;

use pillion_protocol::copilot::tools::{CLOSE_DIFF, OPEN_DIFF};
use serde_json::Value;

use super::client::arguments;
use super::scenario::{self, open_view, shown, still_open, told};
use crate::agent::Agent;
use crate::check::checks;
use crate::copilot_observation::Decided;
use crate::decide::{self, decide};
use crate::diffs::{fails, fails_without, not_written};
use crate::helper::Step;
use crate::reply::ToolReply;
use crate::rule::{Finding, Otherwise, Problem, blocked, broken};
use crate::session::Session;
use crate::shape::{Field, fits};
use crate::test_context::TestContext;
use crate::texts::{lines, time_factor};

checks! {
    Diffs:
    Must "P5-waits" => waits in session,
        "`open_diff` is answered with the decision and not before",
        "An early answer decides in the person's place; after an error the agent asks about a diff that it does not show.";
    Must "P5-accepted" => accepted,
        "An acceptance is answered with one text block of JSON: `result` is SAVED, `trigger` and `message` are strings",
        "The agent ignores any other answer, and keeps asking in its own window.";
    Must "P5-rejected" => rejected,
        "A rejection is answered in the same way, with REJECTED",
        "The agent ignores any other answer, and keeps asking in its own window.";
    Must "P5-closed" => closed,
        "A view that is closed without a decision is not answered with SAVED",
        "The agent writes what nobody accepted.";
    Must "P5-edited" => edited in session,
        "A text that was edited in the view is not accepted",
        "The agent writes its own text, whatever the person made of it.";
    Must "P5-writes" => writes_nothing,
        "The companion does not write the file",
        "The agent overwrites it with the text that it computed before the review.";
    Must "P5-large" => large in session,
        "A text of 5 MB can be proposed",
        "The agent asks about a diff that it does not show.";
    Should "P5-relative" => relative_path in session,
        "`open_diff` of a relative path fails",
        "The person would review a change to a file other than the one the agent means.";
    Should "P5-directory" => directory in session,
        "`open_diff` of a folder fails",
        "The call waits for a decision that nobody can make.";
    Should "P5-arguments" => wrong_arguments in session,
        "`open_diff` without one of its arguments fails",
        "The call waits for a decision that nobody can make.";
    Must "P5-lost" => lost,
        "A view whose agent is gone is closed",
        "The person accepts something that nobody writes.";
}

async fn waits(session: &mut Session<'_>) -> Finding {
    let path = session.test.names.path();
    let mut proposal = session.propose(&path, "text\n");
    if let Some(answer) = proposal.answer(session.test.timeouts.quiet).await {
        return broken(format!("it is answered with {}", shown(&answer)));
    }
    session.is_served().await?;
    Ok("other calls are answered meanwhile".to_owned())
}

/// The fields of a decision that the agent reads.
const DECISION: [Field; 3] = [
    ("/result", true, Value::is_string),
    ("/trigger", true, Value::is_string),
    ("/message", true, Value::is_string),
];

/// The result of an answer, if the agent can read it.
fn result(reply: &ToolReply) -> Result<String, Problem> {
    let Some(told) = told(reply) else {
        return reply.wrong();
    };
    fits(&told, &DECISION).map_err(Problem::Broken)?;
    Ok(told["result"].as_str().unwrap_or_default().to_owned())
}

fn decision(decided: &Decided, expected: &str) -> Finding {
    let reply = decided.answer.as_ref().or_broken("the decision")?;
    match result(reply)? {
        same if same == expected => Ok(same),
        _ => reply.wrong(),
    }
}

async fn accepted(test: &TestContext) -> Finding {
    decision(scenario::accepted(test).await?, "SAVED")
}

async fn rejected(test: &TestContext) -> Finding {
    decision(scenario::rejected(test).await?, "REJECTED")
}

/// Returns true if an answer has the agent write its text.
pub(super) fn saves(reply: &ToolReply) -> bool {
    result(reply).is_ok_and(|result| result == "SAVED")
}

async fn closed(test: &TestContext) -> Finding {
    let decided = scenario::closed(test).await?;
    match &decided.answer {
        Ok(reply) if saves(reply) => reply.wrong(),
        answer => Ok(shown(answer)),
    }
}

async fn edited(session: &mut Session<'_>) -> Finding {
    let test = session.test;
    let mut proposal = open_view(session, "text\n").await?;
    let step = Step::AcceptEdited(proposal.path.clone());
    match session.listening(test.help(&step)).await {
        Ok(_) => {}
        // To refuse it is what is asked for; that the command works at all shows below.
        Err(Problem::Broken(_)) => {}
        Err(other) => return Err(other),
    }
    let seen = match proposal.answer(test.timeouts.quiet).await {
        Some(Ok(reply)) if saves(&reply) => return reply.wrong(),
        Some(answer) => return Ok(shown(&answer)),
        None => "it is refused".to_owned(),
    };
    // The proposal itself can still be accepted.
    let (time, _) = decide(test, session, &Step::AcceptAgain(proposal.path.clone())).await?;
    match proposal.answer(time).await {
        Some(Ok(reply)) if saves(&reply) => Ok(seen),
        Some(answer) => {
            let why = format!(
                "the proposal itself is then answered with {}",
                shown(&answer)
            );
            blocked(&["P5-accepted"], why)
        }
        None => blocked(
            &["P5-accepted"],
            "the proposal itself cannot be accepted then",
        ),
    }
}

async fn writes_nothing(test: &TestContext) -> Finding {
    let mut session = test.session().await?;
    let mut proposal = open_view(&mut session, "text\n").await?;
    still_open(&session, &mut proposal).await?;
    let is_there = Path::new(&proposal.path).exists();
    not_written(is_there, "while its view was open")?;
    session.close_tab(&proposal.tab).await?;
    session.leave().await;
    if let Some(Ok(decided)) = test.copilot.rejected.get() {
        not_written(decided.was_written, "after the rejection")?;
    }
    let decided = scenario::accepted(test).await?;
    not_written(decided.was_written, "after the acceptance")?;
    Ok("neither while the view is open nor after the decision".to_owned())
}

async fn large(session: &mut Session<'_>) -> Finding {
    let text = lines(5_000_000);
    session.limit *= time_factor(&text);
    let path = session.test.names.path();
    let mut proposal = session.propose(&path, &text);
    if let Some(answer) = proposal.answer(session.test.timeouts.quiet).await {
        return broken(format!("it is answered with {}", shown(&answer)));
    }
    // An immediate answer has arrived by then.
    session.is_served().await?;
    session.close_tab(&proposal.tab).await?;
    Ok(format!("{} bytes", text.len()))
}

const TOOLS: [&str; 2] = [OPEN_DIFF, CLOSE_DIFF];

async fn relative_path(session: &mut Session<'_>) -> Finding {
    let name = session.test.names.name();
    let tab = session.tab_name(&name);
    fails(session, TOOLS, arguments(&name, "text\n", &tab)).await
}

async fn directory(session: &mut Session<'_>) -> Finding {
    let folder = session.test.names.folder();
    let tab = session.tab_name(&folder);
    fails(session, TOOLS, arguments(&folder, "text\n", &tab)).await
}

async fn wrong_arguments(session: &mut Session<'_>) -> Finding {
    let path = session.test.names.path();
    let complete = arguments(&path, "text\n", &session.tab_name(&path));
    let fields = ["original_file_path", "new_file_contents", "tab_name"];
    fails_without(session, TOOLS, &complete, fields).await
}

async fn lost(test: &TestContext) -> Finding {
    decide::lost(test, async || {
        // That the command works where there is a view.
        scenario::accepted(test).await?;
        let mut session = test.session().await?;
        let proposal = open_view(&mut session, "text\n").await?;
        let path = proposal.path.clone();
        // As of an agent that is killed: it says nothing.
        drop(proposal);
        session.cut();
        Ok(path)
    })
    .await
}
