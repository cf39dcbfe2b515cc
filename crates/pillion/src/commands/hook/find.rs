//! Finds the companion of the agent whose hook this is, once, and keeps the connection with it. It starts none, and waits for
//! none but one that was killed: whoever showed its diffs starts it again.

use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::Context;
use pillion_discovery::survey::Companion;
use pillion_discovery::{Environment, socket, unended};
use pillion_hooks::{Call, Changes};
use pillion_protocol::path::absolute;
use pillion_system::spawn;
use pillion_text::visible;
use pillion_view::ask::Ask;
use pillion_view::{Client, ClientError, Connected};

use crate::args::Target;
use crate::choice::{self, Need, Running};
use crate::failure::is_without_companion;

/// The time limit for a companion that was killed, and the interval at which it is looked for.
const COMES_BACK_WITHIN: Duration = Duration::from_secs(5);
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// The time before the hook's own limit in which it says why.
const SAYS_WHY_WITHIN: Duration = Duration::from_millis(200);

/// The advice about another program that answers in the place of Pillion's.
const TAKEN: &str = "if that is Pillion in another version, the user closes all editors and reviews and opens them again; \
     if not, the user ends that process";

/// Why nobody has answered, if the system has said nothing of it.
const UNREACHABLE: &str = "the editor or review here cannot be reached";

/// Why there is no companion.
#[derive(Debug)]
pub enum Missing {
    /// The hook's own options are wrong, as this says.
    Misled(String),
    /// Somebody is there who could be asked, and does not answer.
    Silent(String),
    /// Somebody is or was there who could be asked, and cannot be reached.
    Unreachable(String),
    /// Nobody is there.
    Nobody(anyhow::Error),
}

/// The places where the companion is looked for that is to show these changes: at each of the files, or of those that could not be read, and
/// at last in the folder in which the agent works.
pub fn targets(changes: &Changes, unread: &[PathBuf], call: &Call, target: &Target) -> Vec<Target> {
    let files: Vec<_> = match changes {
        Changes::Files(changes) => changes.iter().map(|it| Path::new(&it.path)).collect(),
        _ => unread.iter().map(PathBuf::as_path).collect(),
    };
    // Agents take `..` out of a name before they follow links, or not: both places are asked.
    let is_up = |file: &Path| file.components().any(|it| it == Component::ParentDir);
    let plain = { files.iter() }.filter(|it| is_up(it));
    let plain: Vec<_> = plain.map(|it| absolute(Path::new("/"), it)).collect();
    let all = files.into_iter().chain(plain.iter().map(PathBuf::as_path));
    let mut targets: Vec<_> = all.map(|file| target.clone().about(file)).collect();
    if targets.is_empty() {
        targets.push(target.clone());
    }
    if let (Some(folder), None, None) = (&call.folder, &target.workspace, target.port) {
        targets.push(in_folder(target, folder));
    }
    targets
}

/// The place of an agent that works in this folder. It may have removed it.
pub fn in_folder(target: &Target, folder: &Path) -> Target {
    match folder.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => target.clone().about(folder),
        _ => Target {
            workspace: Some(folder.to_owned()),
            ..target.clone()
        },
    }
}

/// The companions that run, and the connection with one of them.
#[derive(Debug)]
pub struct Companions<'a> {
    environment: &'a Environment,
    /// Those of Pillion's that answered when they were looked for last.
    running: Option<Running<'a>>,
    connected: Option<(u16, Connected)>,
}

impl<'a> Companions<'a> {
    /// They are looked for when one is needed.
    pub fn new(environment: &'a Environment) -> Self {
        Self {
            environment,
            running: None,
            connected: None,
        }
    }

    /// Returns the companion that the first of these targets means that means one. One that was killed is waited for, but not
    /// past the deadline.
    pub fn find(
        &mut self,
        targets: &[Target],
        deadline: Option<Instant>,
    ) -> Result<Companion, Missing> {
        let began = Instant::now();
        let until = began + COMES_BACK_WITHIN;
        let last = deadline.map(|it| it.checked_sub(SAYS_WHY_WITHIN).unwrap_or(it));
        let until = last.map_or(until, |last| until.min(last));
        loop {
            // Before the look: it may have come back in between.
            let is_over = Instant::now() >= until;
            let running = Running::answering(self.environment);
            let found = look(self.environment, &running, targets);
            // The person may think for hours.
            if let Ok(found) = &found {
                running.hang_up_but(found);
            }
            self.running = Some(running);
            let missing = match found {
                Err(missing @ (Missing::Nobody(_) | Missing::Unreachable(_))) => missing,
                found => return found,
            };
            // Whoever cannot look has not found out that nobody is there.
            if let Err(error) = spawn("look", || {}) {
                let why = format!("this process cannot start a thread: {error}");
                return Err(Missing::Silent(why));
            }
            let mut targets = targets.iter();
            let Some(roots) = targets.find_map(|it| choice::unended(self.environment, it)) else {
                return Err(missing);
            };
            // Of two hooks in a turn, the second does not wait for whom the first has waited in vain.
            let was_awaited = unended::was_awaited(self.environment, &roots);
            if is_over && !was_awaited && began.elapsed() >= COMES_BACK_WITHIN / 2 {
                unended::note_awaited(self.environment, &roots);
            }
            if is_over || was_awaited {
                return Err(match missing {
                    Missing::Nobody(_) => Missing::Unreachable(killed(&roots)),
                    missing => missing,
                });
            }
            sleep(BETWEEN_LOOKS);
        }
    }

    /// Returns the companion that the first of these targets means that means one, of those that are known to answer. Nobody is
    /// waited for.
    pub fn known(&mut self, targets: &[Target]) -> Option<Companion> {
        let running = &*self
            .running
            .get_or_insert_with(|| Running::answering(self.environment));
        first(running, Need::Control, targets).ok()
    }

    /// Asks the companion that the first of these targets means that means one; none if nobody is there, or it refuses. One that was
    /// killed is waited for, also if it is killed while it is asked.
    ///
    /// # Errors
    /// When one is expected and none answers, with why.
    pub fn ask_expected<A: Ask + Clone>(
        &mut self,
        targets: &[Target],
        ask: &A,
    ) -> Result<Option<A::Answer>, String> {
        let until = Instant::now() + COMES_BACK_WITHIN;
        let mut found = self.known(targets);
        loop {
            if let Some(companion) = found {
                match self.try_ask(&companion, ask.clone()) {
                    Ok(answer) => return Ok(Some(answer)),
                    Err(Some(ClientError::Refused(_))) => return Ok(None),
                    Err(Some(silent @ ClientError::Silent { .. })) => {
                        return Err(silent.to_string());
                    }
                    Err(broken) if Instant::now() >= until => {
                        let why = broken.map(|it| it.to_string());
                        return Err(why.unwrap_or_else(|| UNREACHABLE.to_owned()));
                    }
                    Err(_) => {}
                }
            }
            let mut all = targets.iter();
            if !all.any(|it| choice::unended(self.environment, it).is_some()) {
                return Ok(None);
            }
            found = match self.find(targets, Some(until + SAYS_WHY_WITHIN)) {
                Ok(companion) => Some(companion),
                Err(Missing::Silent(why) | Missing::Unreachable(why)) => return Err(why),
                Err(Missing::Misled(_) | Missing::Nobody(_)) => return Ok(None),
            };
        }
    }

    /// Asks a companion; none if it does not answer, or refuses.
    pub fn ask<A: Ask>(&mut self, companion: &Companion, ask: A) -> Option<A::Answer> {
        self.try_ask(companion, ask).ok()
    }

    fn try_ask<A: Ask>(
        &mut self,
        companion: &Companion,
        ask: A,
    ) -> Result<A::Answer, Option<ClientError>> {
        let mut connection = self.connect(companion).ok_or(None)?;
        let answer = connection.ask(ask);
        if let Ok(_) | Err(ClientError::Refused(_)) = answer {
            self.connected = Some((companion.port, connection));
        }
        answer
            .inspect_err(|error| tracing::warn!(%error, method = A::METHOD, "not answered"))
            .map_err(Some)
    }

    /// Returns the connection with a companion; none if it cannot be reached.
    pub fn connect(&mut self, companion: &Companion) -> Option<Connected> {
        match self.connected.take() {
            Some((port, connection)) if port == companion.port => Some(connection),
            _ => Client::new(companion.state.as_ref()?)?.connect().ok(),
        }
    }

    /// Keeps a connection for what is asked next.
    pub fn keep(&mut self, companion: &Companion, connection: Connected) {
        self.connected = Some((companion.port, connection));
    }
}

/// Why nobody is shown what the companion with these roots would show: it was killed. As long as none that serves its folders has
/// ended by itself, one is expected.
pub fn killed(roots: &[PathBuf]) -> String {
    let roots: Vec<_> = { roots.iter() }
        .map(|it| visible::one_line(&it.to_string_lossy()))
        .collect();
    let place = match roots.is_empty() {
        true => String::new(),
        false => format!(" in {} (`pillion` there is enough)", roots.join(" and ")),
    };
    format!(
        "the editor or review that would show it was killed: the user has to start it again{place}, and may quit it then"
    )
}

/// Looks once: at discovery files only if no companion of Pillion's answers.
fn look(
    environment: &Environment,
    answering: &Running<'_>,
    targets: &[Target],
) -> Result<Companion, Missing> {
    let why = match first(answering, Need::Control, targets) {
        Err(why) if is_without_companion(&why) => why,
        found => return found.map_err(|why| Missing::Misled(why.to_string())),
    };
    // Pillion takes its place back.
    if let Some(taken) = socket::taken(environment) {
        return Err(Missing::Unreachable(format!("{taken}: {TAKEN}")));
    }
    if !answering.is_empty() {
        return Err(Missing::Nobody(why));
    }
    let running = Running::look(environment);
    let why = match first(&running, Need::Control, targets) {
        Err(why) => why,
        found => return found.map_err(Missing::Nobody),
    };
    match first(&running, Need::Any, targets) {
        // As one that is suspended.
        Ok(other) if other.is_silent => Err(Missing::Silent(why.to_string())),
        Ok(other) if other.is_pillion() => Err(Missing::Unreachable(why.to_string())),
        _ => Err(Missing::Nobody(why)),
    }
}

/// The companion that the first of these targets means that means one; none if none does, with what is said of the first.
fn first(running: &Running<'_>, need: Need, targets: &[Target]) -> anyhow::Result<Companion> {
    let mut found = targets.iter().map(|target| running.choose(need, target));
    let first = found.next().context("there is nowhere to look")?;
    first.or_else(|why| found.find_map(Result::ok).ok_or(why))
}
