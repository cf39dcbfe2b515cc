//! A running companion, as commands reach it.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use anyhow::Context;
use pillion_changes::Store;
use pillion_discovery::Environment;
use pillion_discovery::survey::Companion;
use pillion_protocol::Dialect;
use pillion_protocol::diff::MAX_CONTENT;
use pillion_system::process;
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

/// Refuses a command that an agent has started which is connected to any companion here, or has called a hook: it does not
/// speak for the person. A companion that the command does not find, because its environment is another one, has noted its
/// agents' processes in the store.
///
/// # Errors
/// [`Kind::Refused`] when an agent started it.
pub fn speak_for_the_person() -> anyhow::Result<()> {
    let environment = Environment::current();
    let running = Running::answering(&environment);
    let clients: Vec<_> = running.states().filter_map(Client::new).collect();
    let commanding = environment.commanding_agents();
    if clients.is_empty()
        && let Some(agent) = commanding.first()
    {
        let agent = agent.display_name().to_owned();
        return Err(by_agent(agent));
    }
    let own = process::chain(std::process::id());
    let own: Vec<_> = own.iter().map(|it| it.pid).collect();
    // What cannot be read says nothing of anybody.
    let noted = Store::of(&environment).and_then(|store| store.agent_among(&own));
    if let Some(agent) = noted.ok().flatten() {
        let known = Dialect::from_name(&agent).map(|it| it.display_name().to_owned());
        let agent = known.unwrap_or(agent);
        return Err(by_agent(agent));
    }
    for client in clients {
        let client = client.commanded_by(commanding.clone());
        match client.ask(Speak) {
            // One that has ended knows no agent.
            Ok(()) | Err(ClientError::Unreachable { .. }) => {}
            Err(error) => return Err(failure(error)),
        }
    }
    Ok(())
}

/// Tells every companion that changes were judged, so that it counts anew, and the agent hears of it. Returns how much
/// the agent is told.
pub fn tell_judged(judged: &Judged) -> Hearing {
    let environment = Environment::current();
    let commanding = environment.commanding_agents();
    let running = Running::answering(&environment);
    let mut hearing = Hearing::Nothing;
    for client in running.states().filter_map(Client::new) {
        let client = client.commanded_by(commanding.clone());
        // One that has ended counts nothing.
        let heard = client.ask(judged.clone());
        hearing = hearing.max(heard.unwrap_or(Hearing::Nothing));
    }
    hearing
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

fn by_agent(agent: String) -> anyhow::Error {
    let in_view = false;
    refusal(&Refused::ByAgent { agent, in_view }).into()
}

/// The failure, with the user's next step: look at what is there now, or name it.
fn refusal(refused: &Refused) -> Failure {
    let failure = Failure::new(Kind::Refused, refused.to_string());
    match refused {
        Refused::NotPending { .. } => failure.hint("`pillion diffs` lists the pending diffs."),
        Refused::OtherRevision { id, .. } => {
            failure.hint(format!("`pillion diffs {id}` shows what is proposed now."))
        }
        Refused::FileChanged { id, revision } => failure.hint(format!(
            "Look at the file and at `pillion diffs {id}` again; `pillion accept {id}.{revision} --despite-change` accepts it."
        )),
        Refused::ByAgent { agent, .. } => failure.hint(format!(
            "Decide in the view, or in a terminal that {agent} has not started."
        )),
        Refused::Failed { .. } => failure,
    }
}
