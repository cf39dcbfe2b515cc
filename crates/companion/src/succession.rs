//! Coming back where the predecessor was: on its port, with its token for Claude Code, which dials
//! both again and never reads a new lock file, and with what the person has chosen for agents. Whatever is in the way, the
//! companion starts elsewhere.

use std::path::PathBuf;
use std::time::Duration;
use std::{io, thread};

use pillion_discovery::handover::{self, Takeover};
use pillion_discovery::{Environment, Handover, Predecessor, Tokens};
use pillion_protocol::{Dialect, ProcessChoice};
use pillion_system::spawn;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};

use crate::{endpoint, numbers};
use pillion_system::now_ms;

/// The time limit for the disk to give the record of a predecessor.
const RECORD_TIMEOUT: Duration = Duration::from_secs(1);

/// The time limit for a companion to end whose successor this one may be: some editors start a language
/// server again before the old one has left.
const END_TIMEOUT: Duration = Duration::from_millis(500);

/// The time limit for a predecessor to close its port: more than it allows its agents.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// The interval at which that is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The state that a companion takes over.
#[derive(Debug)]
pub(crate) struct Inheritance {
    predecessor: Predecessor,
    /// Its own record of that, from the first moment on: if it is killed while it starts, the next one finds it.
    record: Option<Handover>,
}

impl Inheritance {
    fn new(environment: &Environment, roots: &[PathBuf], predecessor: Predecessor) -> Self {
        let (port, token) = (predecessor.port, predecessor.token.clone());
        let record = Handover::record(environment, roots, port, token, now_ms());
        let record = record
            .and_then(|mut record| {
                record.set_choices(predecessor.choices.clone())?;
                Ok(record)
            })
            .inspect_err(|error| tracing::info!(%error, "cannot record what was taken over"))
            .ok();
        Self {
            predecessor,
            record,
        }
    }

    /// Returns the person's choices for agents that still run. They count wherever those find this companion.
    pub(crate) fn choices(&self) -> Vec<ProcessChoice> {
        self.predecessor.choices.clone()
    }

    /// It is not used. Waits for the disk.
    fn withdraw(self) {
        if let Some(record) = self.record {
            record.withdraw();
        }
    }
}

/// Binds the predecessor's port, or a fresh one, and makes the tokens that go with it.
///
/// # Errors
/// The system's error when loopback has no port left.
pub(crate) async fn listen(
    inheritance: Option<Inheritance>,
    tokens: Tokens,
) -> io::Result<(TcpListener, u16, Tokens)> {
    if let Some(inheritance) = inheritance {
        let predecessor = &inheritance.predecessor;
        match bind_again(predecessor).await {
            Ok((listener, port)) => {
                tracing::info!(port, "took over the port of the previous companion");
                let tokens = tokens.with(Dialect::ClaudeCode, inheritance.predecessor.token);
                return Ok((listener, port, tokens));
            }
            // Its token goes with its port: the process that has the port now may have received the token.
            Err(error) => {
                let port = predecessor.port;
                tracing::info!(%error, port, "cannot take over the port of the previous companion");
                // Without a thread it stays until this process has ended.
                let _ = spawn("succession", || inheritance.withdraw());
            }
        }
    }
    let (listener, port) = endpoint::bind(None).await?;
    Ok((listener, port, tokens))
}

/// Returns what there is to take over. Never waits long for a disk.
pub(crate) async fn inheritance(
    environment: Environment,
    roots: Vec<PathBuf>,
) -> Option<Inheritance> {
    let (found, finding) = oneshot::channel();
    let check = move || {
        let inheritance = take_over(&environment, &roots);
        // Nothing listens to one that comes too late.
        if let Err(Some(unused)) = found.send(inheritance) {
            unused.withdraw();
        }
    };
    spawn("succession", check).ok()?;
    timeout(RECORD_TIMEOUT, finding).await.ok()?.ok()?
}

fn take_over(environment: &Environment, roots: &[PathBuf]) -> Option<Inheritance> {
    let ended_by = Instant::now() + END_TIMEOUT;
    loop {
        match handover::take_over(environment, roots, now_ms()) {
            Takeover::Taken(predecessor) => {
                if !predecessor.is_of_this_process {
                    numbers::were_given(environment);
                }
                return Some(Inheritance::new(environment, roots, predecessor));
            }
            Takeover::Running if Instant::now() < ended_by => thread::sleep(POLL_INTERVAL),
            Takeover::Running | Takeover::Nothing => return None,
        }
    }
}

async fn bind_again(predecessor: &Predecessor) -> io::Result<(TcpListener, u16)> {
    let closed_by = Instant::now() + CLOSE_TIMEOUT;
    loop {
        let bound = endpoint::bind(Some(predecessor.port)).await;
        match &bound {
            Err(error)
                if error.kind() == io::ErrorKind::AddrInUse
                    && predecessor.is_closing
                    && Instant::now() < closed_by =>
            {
                sleep(POLL_INTERVAL).await;
            }
            _ => return bound,
        }
    }
}

#[cfg(test)]
mod tests {
    use pillion_discovery::counter::{self, Counter};
    use pillion_protocol::Token;

    use super::*;

    fn predecessor(port: u16, is_closing: bool) -> Inheritance {
        Inheritance {
            predecessor: Predecessor {
                port,
                token: Token::from("old".to_owned()),
                choices: Vec::new(),
                is_closing,
                is_of_this_process: false,
            },
            record: None,
        }
    }

    /// Returns what is there for the next companion of the same folders.
    fn look(environment: &Environment, roots: &[PathBuf]) -> Takeover {
        handover::take_over(environment, roots, now_ms())
    }

    #[tokio::test]
    async fn what_is_taken_over_is_recorded_at_once_and_not_if_it_cannot_be_used() {
        let base = tempfile::tempdir().unwrap();
        let state = base.path().join("state");
        let pairs = [("TMPDIR", base.path()), ("XDG_STATE_HOME", &state)];
        let environment = Environment::from_pairs(pairs);
        let roots = vec![PathBuf::from("/w")];
        let (_somebody, port) = endpoint::bind(None).await.unwrap();
        let token = Tokens::generate().unwrap().get(Dialect::ClaudeCode).clone();
        let former = Handover::record(&environment, &roots, port, token, now_ms());
        former.unwrap().end(now_ms());
        let inherited = inheritance(environment.clone(), roots.clone()).await;
        // As that of a companion of this process, which starts.
        assert!(matches!(look(&environment, &roots), Takeover::Running));
        let (_listener, found, _) = listen(inherited, Tokens::generate().unwrap())
            .await
            .unwrap();
        assert_ne!(found, port);
        let started = Instant::now();
        while !matches!(look(&environment, &roots), Takeover::Nothing) {
            assert!(started.elapsed() < Duration::from_secs(60));
            sleep(POLL_INTERVAL).await;
        }
    }

    /// Those that this process has given are no lost ones.
    #[tokio::test]
    async fn where_another_process_had_numbers_and_none_are_left_they_begin_with_the_time() {
        for is_own in [true, false] {
            let base = tempfile::tempdir().unwrap();
            let state = base.path().join("state");
            let pairs = [("XDG_RUNTIME_DIR", base.path()), ("XDG_STATE_HOME", &state)];
            let environment = Environment::from_pairs(pairs);
            let roots = vec![PathBuf::from("/w")];
            let diffs = Counter::of(&environment, counter::DIFFS).unwrap();
            assert_eq!(diffs.take(1, 0).unwrap(), 1);
            let token = Tokens::generate().unwrap().get(Dialect::ClaudeCode).clone();
            let former = Handover::record(&environment, &roots, 1, token, now_ms());
            former.unwrap().end(now_ms());
            if !is_own {
                let folder = environment.state_dirs().into_iter().find(|it| it.is_dir());
                let record = std::fs::read_dir(folder.unwrap()).unwrap().next().unwrap();
                let record = record.unwrap().path();
                let text = std::fs::read_to_string(&record).unwrap();
                let own = format!("\"pid\":{}", std::process::id());
                assert!(text.contains(&own), "{text}");
                let other = text.replace(&own, "\"pid\":2147483646");
                let name = record.file_name().unwrap().to_str().unwrap();
                let name = name.replace(&std::process::id().to_string(), "2147483646");
                std::fs::write(record.with_file_name(name), other).unwrap();
                std::fs::remove_file(&record).unwrap();
            }
            let before = now_ms();
            let taken = take_over(&environment, &roots);
            assert!(taken.is_some(), "{is_own}");
            assert_eq!(diffs.take(1, 0).unwrap() >= before, !is_own);
        }
    }

    #[tokio::test]
    async fn the_port_and_only_claude_codes_token_are_kept() {
        let (listener, port) = endpoint::bind(None).await.unwrap();
        drop(listener);
        let fresh = Tokens::generate().unwrap();
        let listening = listen(Some(predecessor(port, false)), fresh.clone()).await;
        let (_listener, found, tokens) = listening.unwrap();
        assert_eq!(found, port);
        assert_eq!(tokens.dialect_of(b"old"), Some(Dialect::ClaudeCode));
        for dialect in [Dialect::GeminiCli, Dialect::QwenCode, Dialect::CopilotCli] {
            assert_eq!(tokens.get(dialect).expose(), fresh.get(dialect).expose());
        }
    }

    #[tokio::test]
    async fn where_somebody_else_listens_port_and_token_are_fresh() {
        let (_somebody, port) = endpoint::bind(None).await.unwrap();
        let fresh = Tokens::generate().unwrap();
        let listening = listen(Some(predecessor(port, false)), fresh).await;
        let (_listener, found, tokens) = listening.unwrap();
        assert_ne!(found, port);
        assert_eq!(tokens.dialect_of(b"old"), None);
    }

    #[tokio::test]
    async fn a_predecessor_that_is_closing_is_waited_for() {
        let (closing, port) = endpoint::bind(None).await.unwrap();
        let fresh = Tokens::generate().unwrap();
        let starting = tokio::spawn(listen(Some(predecessor(port, true)), fresh));
        tokio::task::yield_now().await;
        assert!(!starting.is_finished());
        drop(closing);
        let (_listener, found, _tokens) = starting.await.unwrap().unwrap();
        assert_eq!(found, port);
    }
}
