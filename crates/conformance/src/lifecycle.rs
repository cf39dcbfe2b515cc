//! From the start to the end of a companion (C6), and its files over time (C2.5).

use std::path::Path;
use std::time::{Duration, Instant};

use pillion_http::{Method, StatusCode};
use pillion_protocol::discovery::{WORKSPACE_SEPARATOR, split_roots};
use tokio::net::TcpStream;

use crate::check::checks;
use crate::observation::Stopped;
use crate::rule::{Counter, Finding, Look, Problem, blocked, broken, cut, unchecked};
use crate::test_context::{Step, TestContext};

checks! {
    Lifecycle:
    Must "C6.1-answers" => answers,
        "A companion answers on the port in every discovery file";
    Should "C2.5-atomic" => whole_files,
        "A discovery file is rewritten atomically";
    Must "C2.5-separator" => separator,
        "`workspacePath` joins the roots with the system's path-list separator";
    Should "C1.1-events" => events,
        "Events are JSON-RPC messages without event ids: current agents fail on any others";
    // The last: nothing can be looked at afterwards.
    Must "C6.2-port" => stopped_port,
        "A stopped companion no longer listens";
    Must "C6.2-files" => stopped_files,
        "A stopped companion leaves no discovery file";
}

/// Whether the companion answers, whatever its protocol.
pub(super) async fn answers(test: &TestContext) -> Finding {
    let port = test.connection.target.port();
    match test.answers().await {
        Ok(()) => Ok(format!("port {port}")),
        Err(why) => broken(format!("nothing answers on port {port}: {why}")),
    }
}

async fn whole_files(test: &TestContext) -> Finding {
    let watch = test.watched();
    if let Some(why) = watch.flaw {
        return broken(why);
    }
    match watch.rewritten {
        0 => unchecked(
            "no file was rewritten: open or close a workspace folder in the editor during the run",
        ),
        count => Ok(format!("rewritten {count} times")),
    }
}

/// Looked at late: of every stream that there was.
async fn events(test: &TestContext) -> Finding {
    let mut session = test.session().await?;
    session.listen(test.connection.timeouts.quiet).await;
    let heard = test.connection.events();
    match heard.odd {
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
    let files = test.connection.target.discovery_files().iter();
    let first =
        files.filter_map(|file| Some((file.path.clone(), file.field("workspacePath")?.clone())));
    let later = test.watched().contents.into_iter();
    let later =
        later.filter_map(|(path, content)| Some((path, content.get("workspacePath")?.clone())));
    let mut counter = Counter::default();
    for (path, listed) in first.chain(later) {
        let Some(listed) = listed.as_str() else {
            counter.add(Look::Blocked(&["C2.4-workspacePath"]));
            continue;
        };
        let is_joined = is_joined(listed);
        counter.add(is_joined.or_else(|why| broken(format!("{}: {why}", path.display())))?);
    }
    let kept = counter.kept(
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

/// Has the companion stopped; what is left of it.
async fn stopped(test: &TestContext) -> Result<&Stopped, Problem> {
    let stopped = test.observations.stopped.get_or_init(|| Stopped::see(test));
    stopped.await.as_ref().map_err(Clone::clone)
}

impl Stopped {
    /// Has it stopped while an agent listens: some wait for the end of every event stream, and hang.
    async fn see(test: &TestContext) -> Result<Self, Problem> {
        if let Err(why) = test.answers().await {
            return blocked(&["C6.1-answers"], format!("it is not running: {why}"));
        }
        let _agent = test.session().await.ok();
        Self::after_stop(test, async || listens(test).await).await
    }

    /// Has it stopped, and waits until nothing is left of it, as long as that may take; `listens` asks
    /// whether it still answers.
    pub(crate) async fn after_stop(
        test: &TestContext,
        listens: impl AsyncFn() -> bool,
    ) -> Result<Self, Problem> {
        let until = Instant::now() + test.help(&Step::Stop).await?;
        loop {
            let files = test.connection.target.files();
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

    /// Whether nothing listens any more; `connected` names the client that was connected when it was stopped.
    pub(crate) fn closed_port(&self, connected: &str) -> Finding {
        if self.listens {
            return broken(format!("it still listens; {connected} when it was stopped"));
        }
        Ok("nobody listens".to_owned())
    }

    /// Whether it took its files along.
    pub(crate) fn removed_files(&self) -> Finding {
        if self.files.is_empty() {
            return Ok("every file is gone".to_owned());
        }
        let left: Vec<_> = self
            .files
            .iter()
            .map(|file| file.display().to_string())
            .collect();
        broken(format!("still there: {}", left.join(", ")))
    }
}

async fn listens(test: &TestContext) -> bool {
    let address = ("127.0.0.1", test.connection.target.port());
    if TcpStream::connect(address).await.is_err() {
        return false;
    }
    // Another program may have got the port, which does not know the token.
    let answer = test.connection.probe(Method::POST).body("{}");
    let answer = answer.send(test.connection.timeouts.answer).await;
    answer.map_or(true, |answer| answer.status != StatusCode::UNAUTHORIZED)
}

async fn stopped_port(test: &TestContext) -> Finding {
    stopped(test)
        .await?
        .closed_port("an agent's event stream was open")
}

async fn stopped_files(test: &TestContext) -> Finding {
    stopped(test).await?.removed_files()
}
