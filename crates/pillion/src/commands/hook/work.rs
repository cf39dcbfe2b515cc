//! Tells the companion of the work of the hook's agent, so that what the agent changes is recorded.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use pillion_changes::turn::first_words;
use pillion_hooks::{Answer, Call, Event, HookProtocol, Scope};
use pillion_protocol::Dialect;
use pillion_view::ask::{Ask, ToolCall, Work, WorkStep};

use super::find::{self, Companions};
use super::{IS_SHOWN, agent};
use crate::args::Target;

/// The step that a call of the hook stands for; none if it is none that changes files.
pub fn step(protocol: &dyn HookProtocol, call: &Call) -> Option<WorkStep> {
    let scope = || Some(protocol.scope(call)).filter(|scope| *scope != Scope::Nothing);
    Some(match call.event {
        Event::BeforeTurn => WorkStep::TurnBegins(first_words(&call.prompt)),
        Event::BeforeTool => {
            let scope = scope()?;
            WorkStep::CallBegins(ToolCall {
                id: call.key(&scope),
                tool: call.tool.clone(),
                path: file(scope),
                subagent: call.subagent.clone(),
                is_shown: IS_SHOWN.load(Ordering::Relaxed),
            })
        }
        Event::AfterTool => WorkStep::CallEnds(call.key(&scope()?)),
        Event::AfterFailure => WorkStep::CallFails(call.key(&scope()?)),
        Event::AfterTurn => WorkStep::TurnEnds,
        Event::Question | Event::Other(_) => return None,
    })
}

fn file(scope: Scope) -> Option<PathBuf> {
    match scope {
        Scope::File(path) => Some(PathBuf::from(path)),
        Scope::Nothing | Scope::Anything => None,
    }
}

/// Tells the companion of the folder in which the agent works, and waits until it has recorded what there is before. Returns
/// what the agent's model is to be told. Without a companion, nothing happens.
///
/// # Errors
/// When one that should record what comes is not there, or does not answer: a sentence for the person.
pub fn tell(
    agent: Dialect,
    protocol: &dyn HookProtocol,
    call: &Call,
    target: &Target,
    companions: &mut Companions<'_>,
) -> Result<Option<String>, String> {
    let Some(step) = step(protocol, call) else {
        return Ok(None);
    };
    // What it has not heard of is found later, once something has begun.
    let begins = matches!(step, WorkStep::TurnBegins(_) | WorkStep::CallBegins(_));
    let work = Work {
        agent,
        session: call.session.clone(),
        processes: agent::processes(protocol),
        process: agent::process(protocol),
        step,
        takes_context: protocol.takes_context(call),
    };
    let targets = targets(protocol, call, target);
    let told = match begins {
        true => companions.ask_expected(&targets, &work),
        false => Ok({ companions.known(&targets) }.and_then(|it| companions.ask(&it, work))),
    };
    told.map(Option::flatten)
        .map_err(|why| format!("Pillion does not record what comes now: {why}."))
}

/// An answer with what the person is to be told beside it.
pub fn said(protocol: &dyn HookProtocol, answer: Answer, unsaid: &[String]) -> Answer {
    match unsaid {
        [] => answer,
        _ => answer.with_message(protocol.person_field(), &unsaid.join(" ")),
    }
}

/// Asks the companion of the folder in which the agent works, if that is known to answer.
pub fn ask_known<A: Ask>(
    protocol: &dyn HookProtocol,
    call: &Call,
    target: &Target,
    companions: &mut Companions<'_>,
    ask: A,
) -> Option<A::Answer> {
    let companion = companions.known(&targets(protocol, call, target))?;
    companions.ask(&companion, ask)
}

/// The places where the companion is looked for: the same for all steps of a turn, if the agent works in a workspace.
fn targets(protocol: &dyn HookProtocol, call: &Call, target: &Target) -> Vec<Target> {
    if target.workspace.is_some() || target.port.is_some() {
        return vec![target.clone()];
    }
    let folder = { call.folder.as_ref() }.map(|folder| find::in_folder(target, folder));
    let file = file(protocol.scope(call)).map(|file| target.clone().about(&file));
    folder.into_iter().chain(file).collect()
}
