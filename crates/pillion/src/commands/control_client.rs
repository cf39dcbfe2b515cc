//! A running companion, as commands reach it.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use anyhow::Context;
use pillion_companion::who::ThisProcess;
use pillion_discovery::Environment;
use pillion_discovery::survey::Companion;
use pillion_protocol::diff::MAX_CONTENT;
use pillion_view::ask::{Ask, Judged, Refused, Speak};
use pillion_view::changes::Hearing;
use pillion_view::{Client, ClientError, Connected};

use crate::args::Target;
use crate::choice::{self, Running, SUSPENDED};
use crate::failure::{Failure, Kind};

/// Returns the answer of the companion of Pillion's that `target` means.
///
/// # Errors
/// [`Kind::NoCompanion`] when none fits, or what it answers.
pub fn ask<A: Ask>(target: &Target, question: A) -> anyhow::Result<A::Answer> {
    ask_several(target, |it| it.ask(question))
}

/// Returns what comes of several questions to it.
///
/// # Errors
/// As [`ask`].
pub fn ask_several<T>(
    target: &Target,
    questions: impl FnOnce(&mut Connected) -> Result<T, ClientError>,
) -> anyhow::Result<T> {
    let environment = Environment::current();
    let chosen = choice::of_pillion(&environment, target)?;
    let mut connected = connect(&environment, &chosen)?;
    questions(&mut connected).map_err(failure)
}

/// Returns its answer, however long that takes.
///
/// # Errors
/// As [`ask`].
pub fn wait_for<A: Ask>(target: &Target, question: A) -> anyhow::Result<A::Answer> {
    ask_several(target, |it| it.wait_for(question))
}

/// Connects with this companion.
///
/// # Errors
/// When it cannot be reached.
pub fn connect(environment: &Environment, chosen: &Companion) -> anyhow::Result<Connected> {
    let client = chosen.state.as_ref().and_then(Client::new);
    let client = client.context("the companion takes no commands")?;
    let client = client.commanded_by(environment.commanding_agents());
    client.connect().map_err(failure)
}

/// Refuses a command that is not the person's, as every companion here has it, and what companions before have noted: the command
/// may not find those that run, because its environment is another one.
///
/// # Errors
/// [`Kind::Refused`] when an agent started it, or nothing shows that the person did.
pub fn speak_for_the_person() -> anyhow::Result<()> {
    let environment = Environment::current();
    let this = ThisProcess::look(&environment);
    let mut judged = this.is_no_known_agents();
    let mut is_heard = false;
    for client in clients(&environment) {
        match client.ask(Speak) {
            Ok(()) => is_heard = true,
            // One that has ended knows nobody.
            Err(ClientError::Unreachable { .. }) => {}
            Err(error) => return Err(failure(error)),
        }
    }
    // A companion knows the person's views, and more of agents.
    if !is_heard {
        judged = judged.and_then(|()| this.is_the_persons());
    }
    judged.map_err(|by| {
        let in_view = false;
        refusal(&Refused::NotThePerson { by, in_view }).into()
    })
}

/// Tells every companion that changes were judged, so that it counts anew, and the agent hears of it. Returns how much
/// the agent is told.
pub fn tell_judged(judged: &Judged) -> Hearing {
    let clients = clients(&Environment::current());
    // One that has ended counts nothing.
    let heard = { clients.iter() }.filter_map(|it| it.ask(judged.clone()).ok());
    heard.max().unwrap_or(Hearing::Nothing)
}

/// The ways to all companions that answer.
fn clients(environment: &Environment) -> Vec<Client> {
    let running = Running::answering(environment);
    let clients = running.states().filter_map(Client::new);
    let commanding = environment.commanding_agents();
    clients
        .map(|it| it.commanded_by(commanding.clone()))
        .collect()
}

/// Returns true if no companion of Pillion's runs.
pub fn are_none_running() -> bool {
    let environment = Environment::current();
    Running::answering(&environment).states().next().is_none()
}

/// The text of a file, or of standard input for `-`.
///
/// # Errors
/// When it cannot be read, or is not UTF-8: agents could not be given it.
pub fn read_text(path: &Path) -> anyhow::Result<String> {
    let is_input = path == Path::new("-");
    let shown = if is_input {
        Path::new("standard input").display()
    } else {
        path.display()
    };
    // No more than is needed to know that it is too long: `/dev/zero` does not end.
    let read = |input: &mut dyn Read| {
        let mut bytes = Vec::new();
        let limit = MAX_CONTENT as u64 + 1;
        input.take(limit).read_to_end(&mut bytes).map(|_| bytes)
    };
    let bytes = if is_input {
        read(&mut io::stdin().lock())
    } else {
        fs::File::open(path).and_then(|mut file| read(&mut file))
    };
    let cannot = || Failure::new(Kind::Refused, format!("cannot read {shown}"));
    let bytes = bytes.with_context(cannot)?;
    if bytes.len() > MAX_CONTENT {
        let message = format!("{shown} is longer than the limit of {MAX_CONTENT} bytes");
        return Err(Failure::new(Kind::Refused, message).into());
    }
    String::from_utf8(bytes).map_err(|_| {
        let failure = Failure::new(Kind::Refused, format!("{shown} is not UTF-8"));
        failure
            .hint("Agents accept only text; convert the file to UTF-8 first.")
            .into()
    })
}

/// The error of a companion, for people.
pub fn failure(error: ClientError) -> anyhow::Error {
    match error {
        ClientError::Refused(refused) => refusal(&refused).into(),
        ClientError::Silent { .. } => Failure::new(Kind::Internal, error.to_string())
            .hint(SUSPENDED)
            .into(),
        ClientError::Unreachable { .. } | ClientError::Broken { .. } => {
            let failure = Failure::new(Kind::NoCompanion, "cannot reach the companion")
                .hint("If another version of Pillion started it, restart it.");
            anyhow::Error::new(error).context(failure)
        }
    }
}

/// The failure, with the user's next step: look at what is there now, or name it.
fn refusal(refused: &Refused) -> Failure {
    let failure = Failure::new(Kind::Refused, refused.to_string());
    match refused {
        Refused::NotPending { .. } => failure.hint("`pillion diffs` lists the pending diffs."),
        Refused::OtherRevision { id, .. } => {
            failure.hint(format!("`pillion diffs {id}` shows what is proposed now."))
        }
        Refused::NotThePerson { by, .. } => failure.hint(by.hint()),
        Refused::Failed { .. } => failure,
    }
}
