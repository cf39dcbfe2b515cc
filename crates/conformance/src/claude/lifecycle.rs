//! From the start to the end of a companion, and its lock files over time.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::net::TcpStream;

use super::client::Client;
use super::lock_files::known_name;
use super::upgrade::Upgrade;
use crate::check::checks;
use crate::claude_observation::Restored;
use crate::lifecycle::answers;
use crate::observation::Stopped;
use crate::rule::{Finding, Problem, blocked, broken, unchecked};
use crate::test_context::TestContext;

checks! {
    Lifecycle:
    Must "K9-answers" => answers,
        "A companion answers on the port in the name of the lock file",
        "The agent reaches no companion, and deletes the file.";
    Should "K9-atomic" => whole_files,
        "A lock file is complete when it appears, and rewritten atomically",
        "An agent that reads half of it does not connect.";
    Should "K9-restored" => restored,
        "A deleted lock file is restored",
        "The agent deletes it when it considers the process dead; after that, no agent finds the companion.";
    // The last: nothing can be looked at afterwards.
    Must "K9-port" => stopped_port,
        "A stopped companion no longer listens",
        "The agent dials again for 15 seconds, and would find a companion without an editor.";
    Must "K9-files" => stopped_files,
        "A stopped companion leaves no lock file",
        "A second living file for the folder keeps the agent from connecting to either.";
}

/// How often a file that was deleted is looked for. Who writes it in place leaves a gap of
/// microseconds, which only slower writers show.
const LOOK_INTERVAL: Duration = Duration::from_millis(1);

async fn whole_files(test: &TestContext) -> Finding {
    // Before a file is deleted here.
    let watch = test.watched();
    if let Some(why) = watch.flaw {
        return broken(why);
    }
    let restored = put_back(test).await?;
    if let Some(why) = &restored.flaw {
        return broken(why.clone());
    }
    match (watch.rewritten, restored.missing.is_empty()) {
        (0, false) => unchecked(
            "no file was rewritten: open or close a workspace folder in the editor during the run",
        ),
        (count, _) => Ok(format!("rewritten {count} times")),
    }
}

async fn restored(test: &TestContext) -> Finding {
    let restored = put_back(test).await?;
    match &restored.missing[..] {
        [] => Ok(format!("after {:.1?}", restored.longest)),
        [first, ..] => broken(format!(
            "{} was not put back within {:?} (put back by this command)",
            first.display(),
            test.connection.timeouts.restore
        )),
    }
}

/// Deletes the lock files, as the agent does; what became of them.
async fn put_back(test: &TestContext) -> Result<&Restored, Problem> {
    let restored = test.claude.restored.get_or_init(|| Restored::see(test));
    restored.await.as_ref().map_err(Clone::clone)
}

impl Restored {
    async fn see(test: &TestContext) -> Result<Self, Problem> {
        if let Err(why) = test.answers().await {
            return blocked(&["K9-answers"], format!("it is not running: {why}"));
        }
        let mut deleted = Vec::new();
        for file in test.connection.target.discovery_files() {
            if !file.facts.is_file || known_name(file).is_err() {
                continue;
            }
            // Moved within its folder, it stays as private as it was.
            let aside = file.path.with_extension("pillion-conformance");
            if std::fs::rename(&file.path, &aside).is_ok() {
                deleted.push(Deleted {
                    path: file.path.clone(),
                    aside,
                });
            }
        }
        if deleted.is_empty() {
            return blocked(&["K1-file", "K1-name"], "there is no lock file to delete");
        }
        let started = Instant::now();
        let mut seen = Self::default();
        while !deleted.is_empty() && started.elapsed() < test.connection.timeouts.restore {
            deleted.retain(|file| !seen.has_back(&file.path, started));
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
        seen.missing = deleted.iter().map(|file| file.path.clone()).collect();
        Ok(seen)
    }

    /// Whether a file is there again, and how.
    fn has_back(&mut self, path: &Path, started: Instant) -> bool {
        let Ok(bytes) = std::fs::read(path) else {
            return false;
        };
        if !serde_json::from_slice::<Value>(&bytes).is_ok_and(|value| value.is_object()) {
            let flaw = format!("{} was seen half written", path.display());
            self.flaw.get_or_insert(flaw);
        }
        self.longest = self.longest.max(started.elapsed());
        true
    }
}

/// A file that is deleted for the companion. Whatever happens, it is there again afterwards.
struct Deleted {
    path: PathBuf,
    aside: PathBuf,
}

impl Drop for Deleted {
    fn drop(&mut self) {
        // A link fails where the companion has put it back.
        let _ = std::fs::hard_link(&self.aside, &self.path);
        let _ = std::fs::remove_file(&self.aside);
    }
}

/// Has the companion stopped while a client is connected; what is left of it. Some wait for the end of
/// every connection.
async fn stopped(test: &TestContext) -> Result<&Stopped, Problem> {
    let see = async || {
        if let Err(why) = test.answers().await {
            return blocked(&["K9-answers"], format!("it is not running: {why}"));
        }
        let _client = Client::open(test).await.ok();
        Stopped::after_stop(test, async || listens(test).await).await
    };
    let stopped = test.claude.stopped.get_or_init(see).await;
    stopped.as_ref().map_err(Clone::clone)
}

async fn listens(test: &TestContext) -> bool {
    let address = ("127.0.0.1", test.connection.target.port());
    if TcpStream::connect(address).await.is_err() {
        return false;
    }
    // Another program may have got the port, which does not know the token.
    let answered = Upgrade::of_agent(test)
        .send(test.connection.timeouts.answer)
        .await;
    answered.map_or_else(|error| !error.is_hung_up, |answered| answered.status == 101)
}

async fn stopped_port(test: &TestContext) -> Finding {
    stopped(test).await?.closed_port("a client was connected")
}

async fn stopped_files(test: &TestContext) -> Finding {
    stopped(test).await?.removed_files()
}
