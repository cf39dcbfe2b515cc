//! Starting the hub: this program, detached from the front end that needs it.
//!
//! It says one word on its standard output, which nobody reads after that. A program in between starts it and ends at
//! once: the hub of all editors is no child of one of them, and does not end with those.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, io};

use crossbeam_channel::unbounded;
use pillion_discovery::Environment;
use pillion_system::descriptors::inherit_only_streams;
use pillion_system::spawn;

/// The word of a hub that listens now.
pub const LISTENS: &str = "listening";

/// The word of one that has nothing to do, because another is there.
pub const IS_THERE: &str = "another hub is there";

/// The time limit for it to say its word.
const WORD_WITHIN: Duration = Duration::from_secs(5);

const MAX_WORD: u64 = 256;

/// In the environment of a front end: where the hub that it starts logs.
const LOG: &str = "PILLION_HUB_LOG";

/// The other variables of the environment that count for any program.
const SYSTEM: [&str; 4] = ["PATH", "LANG", "LD_LIBRARY_PATH", "RUST_BACKTRACE"];

/// The outcome of starting one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Launched {
    Listens,
    /// There was one.
    IsThere,
    /// Here no hub can run.
    Failed,
}

/// Starts a hub, and waits until it listens.
pub(crate) fn launch(environment: &Environment) -> Launched {
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
    if let Some(log) = environment.filled(LOG) {
        command.env(LOG, log);
    }
    inherit_only_streams(&mut command);
    let command = command.args(["hub", "--detach"]);
    let command = command.stdin(Stdio::null()).stderr(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let (said, word) = unbounded();
    let out = child.stdout.take();
    spawn("hub's start", move || {
        let mut line = String::new();
        if let Some(out) = out {
            // What is no text is no word.
            let _ = BufReader::new(out).take(MAX_WORD).read_line(&mut line);
        }
        let _ = said.send(line.trim_end().to_owned());
        let _ = child.wait();
    })?;
    word.recv_timeout(WORD_WITHIN).map_err(io::Error::other)
}

/// Starts the hub itself, with the environment and the standard output of this process, which is to end then.
///
/// # Errors
/// When the system refuses.
pub fn detach() -> io::Result<()> {
    let mut command = Command::new(program());
    command.arg("hub");
    if let Some(log) = env::var_os(LOG) {
        command.arg("--log").arg(log);
    }
    let command = command.stdin(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(drop)
}

/// This program, also if its file was replaced while it runs.
fn program() -> PathBuf {
    let file = env::current_exe().ok().filter(|path| path.exists());
    file.unwrap_or_else(|| Path::new("/proc/self/exe").to_owned())
}
