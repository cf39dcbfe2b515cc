//! The way to the hub, which is started if there is none: this program, detached from the front end that needs it.
//!
//! The hub says one word on its standard output, which nobody reads after that. The hub of all editors is no child of one of
//! them, and does not end with those.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, io, thread};

use crossbeam_channel::unbounded;
use pillion_discovery::{Environment, socket};
use pillion_system::{detached, spawn};

/// The word of a hub that listens now.
pub const LISTENS: &str = "listening";

/// The word of one that has nothing to do, because another is there.
pub const IS_THERE: &str = "another hub is there";

/// The time limit for the hub to say its word.
const WORD_WITHIN: Duration = Duration::from_secs(5);

const MAX_WORD: u64 = 256;

/// In the environment of a front end: where the hub that it starts logs.
const LOG: &str = "PILLION_HUB_LOG";

/// The other variables of the environment that count for any program.
const SYSTEM: [&str; 4] = ["PATH", "LANG", "LD_LIBRARY_PATH", "RUST_BACKTRACE"];

/// The time limit until a hub listens.
const REACHED_WITHIN: Duration = Duration::from_secs(10);

const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(200);

/// The rule for starting a hub if there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Launch {
    /// By this program.
    IfNeeded,
    /// Somebody else starts one.
    Never,
    /// There is one already, or none: nothing is waited for.
    NotEvenAwaited,
}

/// Connects to the hub. None if there cannot be one, if it takes too long, or if it `is_over`.
pub(crate) fn dial(
    environment: &Environment,
    how: Launch,
    is_over: impl Fn() -> bool,
) -> Option<UnixStream> {
    let deadline = Instant::now() + REACHED_WITHIN;
    let mut pause = FIRST_PAUSE;
    loop {
        if let Some(stream) = socket::connect_to_hub(environment) {
            return Some(stream);
        }
        if how == Launch::NotEvenAwaited || is_over() || Instant::now() >= deadline {
            return None;
        }
        if how == Launch::IfNeeded {
            match launch(environment) {
                Launched::Listens => continue,
                // It starts to listen, or is about to end.
                Launched::IsThere => {}
                Launched::Failed => return None,
            }
        }
        thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// The outcome of starting a hub.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Launched {
    Listens,
    /// There was one.
    IsThere,
    /// Here no hub can run.
    Failed,
}

/// Starts a hub, and waits until it listens.
fn launch(environment: &Environment) -> Launched {
    match word(environment) {
        Ok(word) if word == LISTENS => Launched::Listens,
        Ok(word) if word == IS_THERE => Launched::IsThere,
        Ok(_) => {
            tracing::warn!("the hub did not start");
            Launched::Failed
        }
        Err(error) => {
            tracing::warn!(%error, "cannot start the hub");
            Launched::Failed
        }
    }
}

fn word(environment: &Environment) -> io::Result<String> {
    let mut command = Command::new(program());
    // It goes on for longer than the front end, and needs none of its secrets.
    let system = SYSTEM
        .iter()
        .filter_map(|name| Some((*name, environment.value(name)?)));
    command.env_clear().envs(environment.places().chain(system));
    command.arg("hub");
    if let Some(log) = environment.filled(LOG) {
        command.arg("--log").arg(log);
    }
    let (out, said_there) = io::pipe()?;
    command.stdin(Stdio::null()).stderr(Stdio::null());
    detached::spawn(command.stdout(said_there))?;
    // It holds an end of the pipe.
    drop(command);
    let (said, word) = unbounded();
    spawn("hub's start", move || {
        let mut line = String::new();
        // What is no text is no word.
        let _ = BufReader::new(out).take(MAX_WORD).read_line(&mut line);
        let _ = said.send(line.trim_end().to_owned());
    })?;
    word.recv_timeout(WORD_WITHIN).map_err(io::Error::other)
}

/// This program, also if its file was replaced while it runs.
fn program() -> PathBuf {
    let file = env::current_exe().ok().filter(|path| path.exists());
    file.unwrap_or_else(|| Path::new("/proc/self/exe").to_owned())
}
