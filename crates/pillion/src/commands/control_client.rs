//! A running companion, as commands reach it.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use anyhow::Context;
use pillion_changes::{ChangeRef, Kept, Store};
use pillion_companion::who::ThisProcess;
use pillion_companion::{act_alone, knows_session};
use pillion_discovery::survey::Companion;
use pillion_discovery::{CompanionState, Environment};
use pillion_protocol::diff::MAX_CONTENT;
use pillion_view::ask::{Ask, CatchUp, Changes, Recount, Refused, Speak};
use pillion_view::changes::{ChangesAct, ListedTurn, NOT_KEPT, Named, NamedAct, NotDone, Report};
use pillion_view::{Client, ClientError, Connected, Failure as _};

use crate::args::Target;
use crate::choice::{self, Running, SUSPENDED};
use crate::failure::{Failure, Kind};
use crate::progress;

/// Returns the answer of the companion of Pillion's that `target` means.
///
/// # Errors
/// [`Kind::NoCompanion`] when none fits, or what it answers.
pub fn ask<A: Ask>(target: &Target, question: A) -> anyhow::Result<A::Answer> {
    ask_several(target, |it| it.ask(question))
}

/// Returns what comes of several questions to it.
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
pub fn wait_for<A: Ask>(target: &Target, question: A) -> anyhow::Result<A::Answer> {
    ask_several(target, |it| it.wait_for(question))
}

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
    let running = Running::answering(&environment);
    for client in running.states().filter_map(|it| client(&environment, it)) {
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

/// Has a person's act on these turns' changes carried out: for each turn by the companion that knows its agent, or by one
/// around its folders, so that the agent hears of it. The others count anew. Where none runs, it is carried out here.
pub fn act(store: &Store, turns: &[&Kept], named: &Named) -> anyhow::Result<Report> {
    let environment = Environment::current();
    let running = Running::answering(&environment);
    let client = |it| client(&environment, it);
    let port = |it: Option<&CompanionState>| it.map(|it| it.port);
    let mut parts: Vec<(Option<&CompanionState>, Vec<u64>)> = Vec::new();
    for kept in turns {
        let doer = { running.states() }
            .find(|it| knows_session(it, &kept.turn))
            .or_else(|| running.states().find(|it| kept.is_of(&it.roots)))
            .or_else(|| running.states().next());
        match parts.iter_mut().find(|(it, _)| port(*it) == port(doer)) {
            Some((_, turns)) => turns.push(kept.turn.number),
            None => parts.push((doer, vec![kept.turn.number])),
        }
    }
    // What has no name belongs to one folder.
    if parts.is_empty() || named.names.is_empty() {
        let doer = parts.first().map_or(running.states().next(), |it| it.0);
        parts = vec![(doer, Vec::new())];
    }
    let mut report = Report::default();
    for (doer, turns) in &parts {
        let asked = doer.and_then(client);
        let asked = asked.map(|it| {
            it.connect()?
                .wait_for(ChangesAct::Named(part_of(named, turns)))
        });
        let done = match asked {
            // One that has ended does nothing.
            None | Some(Err(ClientError::Unreachable { .. })) => {
                act_alone(store, part_of(named, turns))
            }
            Some(Err(error)) if is_cut_short(&error) => {
                report.failed.push(cut_short(named, &error));
                continue;
            }
            Some(done) => done.map_err(failure)?,
        };
        report.add(done.report);
    }
    let is_doer = |it: &&CompanionState| parts.iter().any(|(doer, _)| port(*doer) == Some(it.port));
    for other in running.states().filter(|it| !is_doer(it)) {
        // One that has ended counts nothing.
        let _ = client(other).map(|it| it.ask(Recount));
    }
    Ok(report)
}

/// Returns true if the companion has ended, or was killed, while it was at work.
fn is_cut_short(error: &ClientError) -> bool {
    match error {
        ClientError::Broken { source, .. } => source.kind() != io::ErrorKind::InvalidData,
        ClientError::Refused(refused) => *refused == Refused::because(Refused::UNANSWERED),
        _ => false,
    }
}

/// Nobody knows how far it came.
fn cut_short(named: &Named, error: &ClientError) -> NotDone {
    let hint = match named.act {
        NamedAct::Undo => {
            "`pillion changes --all` lists what is there now. Undo what is left by its name, such as `pillion undo 7`."
        }
        NamedAct::Forget => "Give the command again: what is forgotten already stays so.",
        _ => {
            "Give the command again: what is done already is not done twice. `pillion changes --all` lists what is there now."
        }
    };
    NotDone {
        what: "the companion has ended meanwhile: all of it may be done, a part, or nothing"
            .to_owned(),
        why: vec![error.to_string()],
        hint: Some(hint.to_owned()),
    }
}

/// Waits until the companions that are meant know what agents have changed by now. Returns false if that takes long.
pub fn catch_up(is_meant: impl Fn(&CompanionState) -> bool) -> bool {
    progress::doing("waiting for what agents changed last");
    let environment = Environment::current();
    let running = Running::answering(&environment);
    let meant = running.states().filter(|it| is_meant(it));
    let mut asked = meant.filter_map(|it| Some(client(&environment, it)?.ask(CatchUp)));
    // One that has ended finds nothing any more.
    let is_late = asked.any(|it| matches!(it, Ok(false) | Err(ClientError::Silent { .. })));
    progress::pause();
    !is_late
}

/// The changes that these companions cannot write yet, turn by turn.
pub fn unkept(is_meant: impl Fn(&CompanionState) -> bool) -> Vec<ListedTurn> {
    let environment = Environment::current();
    let running = Running::answering(&environment);
    let meant = running
        .states()
        .filter(|it| it.unrecorded.is_some() && is_meant(it));
    let lists = meant.filter_map(|it| client(&environment, it)?.ask(Changes).ok());
    let mut turns: Vec<_> = lists.flat_map(|it| it.turns).collect();
    for turn in &mut turns {
        turn.changes.retain(|it| it.state == NOT_KEPT);
    }
    turns.retain(|it| !it.changes.is_empty());
    turns
}

/// The way to a companion.
fn client(environment: &Environment, companion: &CompanionState) -> Option<Client> {
    let client = Client::new(companion)?;
    Some(client.commanded_by(environment.commanding_agents()))
}

/// The part of it that is about these turns; all of it without any.
fn part_of(named: &Named, turns: &[u64]) -> Named {
    let mut part = named.clone();
    let is_in = |name: &str| {
        let named = name.parse::<ChangeRef>();
        turns.is_empty() || named.is_ok_and(|it| turns.contains(&it.turn))
    };
    part.names.retain(|name| is_in(name));
    part.on_lines.retain(|(name, _)| is_in(name));
    part
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
