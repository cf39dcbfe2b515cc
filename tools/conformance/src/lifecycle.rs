//! From the start to the end of a companion (C6), and its files over time (C2.5).

use std::path::Path;
use std::time::{Duration, Instant};

use pillion_http::{Method, StatusCode};
use pillion_protocol::discovery::{WORKSPACE_SEPARATOR, split_roots};
use serde_json::Value;

use crate::agent::Agent;
use crate::check::checks;
use crate::helper::Step;
use crate::observation::{Stopped, once};
use crate::rule::{Finding, Look, Otherwise, Problem, broken, cut, kept, unchecked};
use crate::session::Session;
use crate::test_context::TestContext;
use crate::watch::Changes;

checks! {
    Lifecycle:
    Must "C6.1-answers" => answers,
        "A companion answers on the port in every discovery file";
    Should "C2.5-atomic" => whole_files,
        "A discovery file is rewritten atomically";
    Must "C2.5-separator" => separator,
        "`workspacePath` joins the roots with the system's path-list separator";
    Should "C1.1-events" => events in session,
        "Events are JSON-RPC messages without event ids: current agents fail on any others";
    // The last: nothing can be looked at afterwards.
    Must "C6.2-port" => is_closed(stop, "an agent's event stream was open"),
        "A stopped companion no longer listens";
    Must "C6.2-files" => files_are_gone(stop),
        "A stopped companion leaves no discovery file";
}

/// Checks that the companion answers, whatever its protocol.
pub(super) async fn answers(test: &TestContext) -> Finding {
    let address = test.target.address();
    let what = format_args!("nothing answers on {address}");
    test.answers().await.or_broken(what)?;
    Ok(address.to_string())
}

pub(super) async fn whole_files(test: &TestContext) -> Finding {
    rewritten(&test.watch.changes(), false)
}

/// Checks that readers saw whole files only, of which one may be known to have been written.
pub(super) fn rewritten(changes: &Changes, is_written: bool) -> Finding {
    match (&changes.flaw, changes.rewritten) {
        (Some(why), _) => broken(why),
        (None, 0) if !is_written => unchecked(
            "no file was rewritten: open or close a workspace folder in the editor during the run",
        ),
        (None, count) => Ok(format!("rewritten {count} times")),
    }
}

/// Looked at late: of every stream that there was.
pub(super) async fn events(session: &mut Session<'_>) -> Finding {
    session.listen(session.test.timeouts.quiet).await;
    let heard = session.test.observations.events.borrow();
    match &heard.odd {
        Some(event) if event.has_id => broken("an event has an id: agents reconnect to resume"),
        Some(event) if event.data.is_empty() => broken("an event is empty"),
        Some(event) => broken(format!(
            "an event is not a JSON-RPC message: {}",
            cut(&event.data)
        )),
        None if heard.count == 0 => {
            unchecked("no event arrived: nothing was sent, and nothing was decided")
        }
        None => Ok(format!("{} events", heard.count)),
    }
}

/// Looked at late: a second folder may have been opened meanwhile.
async fn separator(test: &TestContext) -> Finding {
    let files = test.target.discovery_files().iter();
    let first = files.filter_map(|file| Some((&file.path, file.content.as_ref().ok()?)));
    let later = test.watch.changes().contents;
    let later = later.iter().map(|(path, content)| (path, content));
    let looks = first
        .chain(later)
        .map(|(path, content)| match content.get("workspacePath") {
            None => Ok(Look::NotAbout),
            Some(Value::String(listed)) => is_joined(listed).or_broken(path.display()),
            Some(_) => Ok(Look::Blocked(&["C2.4-workspacePath"])),
        });
    let kept = kept(
        looks,
        "there was only one folder: open a second workspace folder in the editor during the run",
    )?;
    Ok(format!("{kept} lists"))
}

fn is_joined(listed: &str) -> Result<Look, String> {
    if listed.trim_start().starts_with('[') {
        return Err("it is a JSON array".to_owned());
    }
    if cfg!(unix) && listed.contains([';', '\n']) && !Path::new(listed).exists() {
        return Err(format!("it is not joined with {WORKSPACE_SEPARATOR:?}"));
    }
    match split_roots(listed).len() {
        0 | 1 => Ok(Look::NotAbout),
        _ => Ok(Look::Kept),
    }
}

/// Has the companion stopped while an agent listens, and returns its remains. Some wait for the end of every event
/// stream, and hang.
pub(super) async fn stop(test: &TestContext) -> Result<Stopped, Problem> {
    let _agent = test.session().await.ok();
    // Another program may have got the port, which does not know the token.
    let is_it = async || {
        let answer = test.send(test.probe(Method::POST).body("{}")).await;
        !answer.is_ok_and(|answer| answer.status == StatusCode::UNAUTHORIZED)
    };
    Stopped::see(test, is_it).await
}

impl Stopped {
    /// Has it stopped, and waits until nothing is left of it, as long as that may take; `is_it` asks
    /// whether it is the companion that still has the port.
    pub(super) async fn see(
        test: &TestContext,
        is_it: impl AsyncFn() -> bool,
    ) -> Result<Self, Problem> {
        let row = test.rows().answers;
        test.answers().await.or_blocked(row, "it is not running")?;
        let listens = async || test.connect().await.is_ok() && is_it().await;
        let until = Instant::now() + test.help(&Step::Stop).await?;
        loop {
            let files = test.target.files();
            let left = files.filter(|file| file.symlink_metadata().is_ok());
            let seen = Self {
                files: left.map(Path::to_owned).collect(),
                listens: listens().await,
            };
            let is_gone = !seen.listens && seen.files.is_empty();
            if is_gone || Instant::now() > until {
                return Ok(seen);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Checks that nothing listens after a stop; `connected` names the client that was connected then.
pub(super) async fn is_closed(
    test: &TestContext,
    stop: impl AsyncFn(&TestContext) -> Result<Stopped, Problem>,
    connected: &str,
) -> Finding {
    match once(&test.observations.stopped, stop(test)).await?.listens {
        true => broken(format!("it still listens; {connected} when it was stopped")),
        false => Ok("nobody listens".to_owned()),
    }
}

/// Checks that it took its files along.
pub(super) async fn files_are_gone(
    test: &TestContext,
    stop: impl AsyncFn(&TestContext) -> Result<Stopped, Problem>,
) -> Finding {
    let stopped = once(&test.observations.stopped, stop(test)).await?;
    let left = stopped.files.iter().map(|file| file.display().to_string());
    let left: Vec<_> = left.collect();
    match left.is_empty() {
        true => Ok("every file is gone".to_owned()),
        false => broken(format!("still there: {}", left.join(", "))),
    }
}
