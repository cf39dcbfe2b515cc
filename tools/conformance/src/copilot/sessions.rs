//! Several agents at one companion.

use super::scenario::{open_view, open_view_as, still_open};
use super::selection::{is_selection, selections};
use crate::agent::Agent;
use crate::check::checks;
use crate::rule::{Finding, Otherwise, Problem, broken};
use crate::sessions::{serves_two, two};
use crate::test_context::TestContext;

checks! {
    Sessions:
    Must "P8-two" => two,
        "Two agents are served at once",
        "Starting a second agent would cost the first its companion.";
    Must "P8-tab-names" => tab_names,
        "Two agents may use one tab name",
        "One agent closes what another is waiting for.";
    Should "P8-selection" => both_hear,
        "Two agents that are connected at once both get the selection",
        "One of the agents does not know what is open.";
    Must "P8-leaving" => leaving,
        "An agent that disconnects does not disturb the others",
        "An agent that exits closes what another is waiting for.";
}

/// Checks that the view that was open is still open.
fn kept(open: Result<(), Problem>, when: &str) -> Result<(), Problem> {
    match open {
        Err(Problem::Blocked { why, .. }) => broken(format!("{when}: {why}")),
        other => other,
    }
}

async fn tab_names(test: &TestContext) -> Finding {
    serves_two(test).await?;
    let (mut first, mut second) = (test.session().await?, test.session().await?);
    let mut view = open_view(&mut first, "first\n").await?;
    let path = test.names.path();
    let same = open_view_as(&mut second, view.tab.clone(), &path, "second\n").await;
    let mut same = same.map_err(|problem| problem.about("the same name"))?;
    kept(still_open(&first, &mut view).await, "after the second call")?;
    second.close_tab(&view.tab).await?;
    kept(
        still_open(&first, &mut view).await,
        "after the second is closed",
    )?;
    first.close_tab(&view.tab).await?;
    let _ = same.answer(test.timeouts.quiet).await;
    Ok("both are open".to_owned())
}

async fn both_hear(test: &TestContext) -> Finding {
    let known = selections(test).await?;
    known.comes_at_start(&["P7-start"], "a new session is sent none")?;
    serves_two(test).await?;
    let mut both = [test.session().await?, test.session().await?];
    for (name, session) in ["first", "second"].iter().zip(&mut both) {
        let selection = session.wait_for(test.timeouts.answer, is_selection).await;
        if selection.is_none() {
            return broken(format!("the {name} of two agents got none"));
        }
    }
    Ok("both got one".to_owned())
}

async fn leaving(test: &TestContext) -> Finding {
    serves_two(test).await?;
    let mut stays = test.session().await?;
    let mut view = open_view(&mut stays, "text\n").await?;
    let mut polite = test.session().await?;
    let other = open_view(&mut polite, "text\n").await?;
    polite.leave().await;
    drop(other);
    kept(
        still_open(&stays, &mut view).await,
        "after one agent has left",
    )?;
    let mut rude = test.session().await?;
    drop(open_view(&mut rude, "text\n").await?);
    rude.cut();
    kept(
        still_open(&stays, &mut view).await,
        "after one agent was cut off",
    )?;
    let served = stays.is_served().await;
    served.or_broken("the other is no longer served")?;
    stays.close_tab(&view.tab).await?;
    Ok("the other still waits".to_owned())
}
