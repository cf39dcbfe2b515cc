//! From the start to the end of a companion, and its lock files over time.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pillion_http::StatusCode;
use serde_json::Value;

use super::client::Client;
use super::lock_files::known_name;
use super::upgrade::of_agent;
use crate::check::checks;
use crate::claude_observation::Restored;
use crate::lifecycle::{answers, files_are_gone, is_closed, rewritten};
use crate::observation::{Stopped, once};
use crate::rule::{Finding, Otherwise, Problem, blocked, broken};
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
    Must "K9-port" => is_closed(stop, "a client was connected"),
        "A stopped companion no longer listens",
        "The agent dials again for 15 seconds, and would find a companion without an editor.";
    Must "K9-files" => files_are_gone(stop),
        "A stopped companion leaves no lock file",
        "A second living file for the folder keeps the agent from connecting to either.";
}

/// The interval between looks for a file that was deleted. Writing it in place leaves a gap of
/// microseconds, which only slower writers show.
const LOOK_INTERVAL: Duration = Duration::from_millis(1);

async fn whole_files(test: &TestContext) -> Finding {
    // Before a file is deleted here.
    let mut changes = test.watch.changes();
    let restored = put_back(test).await?;
    changes.flaw = changes.flaw.or_else(|| restored.flaw.clone());
    rewritten(&changes, restored.missing.is_empty())
}

async fn restored(test: &TestContext) -> Finding {
    let restored = put_back(test).await?;
    match &restored.missing[..] {
        [] => Ok(format!("after {:.1?}", restored.longest)),
        [first, ..] => broken(format!(
            "{} was not put back within {:?} (put back by this command)",
            first.display(),
            test.timeouts.restore
        )),
    }
}

/// Deletes the lock files, as the agent does, and returns their fate.
async fn put_back(test: &TestContext) -> Result<&Restored, Problem> {
    once(&test.claude.restored, Restored::see(test)).await
}

impl Restored {
    async fn see(test: &TestContext) -> Result<Self, Problem> {
        let row = test.rows().answers;
        test.answers().await.or_blocked(row, "it is not running")?;
        let mut deleted = Vec::new();
        for file in test.target.discovery_files() {
            if !file.metadata.is_file() || known_name(file).is_err() {
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
        while !deleted.is_empty() && started.elapsed() < test.timeouts.restore {
            deleted.retain(|file| !seen.has_back(&file.path, started));
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
        seen.missing = deleted.iter().map(|file| file.path.clone()).collect();
        Ok(seen)
    }

    /// Returns true if a file is there again, and how.
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

/// Has the companion stopped while a client is connected, and returns its remains. Some wait for the end of
/// every connection.
async fn stop(test: &TestContext) -> Result<Stopped, Problem> {
    let _client = Client::open(test).await.ok();
    // Another program may have got the port, which does not know the token.
    let is_it = async || match test.send(of_agent(test)).await {
        Ok(answer) => answer.status == StatusCode::SWITCHING_PROTOCOLS,
        Err(error) => !error.is_hung_up,
    };
    Stopped::see(test, is_it).await
}
