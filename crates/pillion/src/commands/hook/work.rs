//! Tells the companion of the work of the hook's agent, so that what the agent changes is recorded.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use pillion_changes::turn::first_words;
use pillion_hooks::{Call, Event, HookProtocol, Scope};
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
/// what the agent's model is to be told. Without a companion, nothing happens; before what may change files, one that was killed is waited for.
pub fn tell(
    agent: Dialect,
    protocol: &dyn HookProtocol,
    call: &Call,
    target: &Target,
    companions: &mut Companions<'_>,
) -> Option<String> {
    let step = step(protocol, call)?;
    let work = Work {
        agent,
        session: call.session.clone(),
        processes: agent::processes(protocol),
        process: agent::process(protocol),
        step,
        takes_context: protocol.takes_context(call),
    };
    let targets = targets(protocol, call, target);
    match work.step {
        // What is there before is known to nobody else once the agent has gone on.
        WorkStep::TurnBegins(_) | WorkStep::CallBegins(_) => {
            companions.ask_when_back(&targets, &work).flatten()
        }
        _ => {
            let companion = companions.known(&targets)?;
            companions.ask(&companion, work).flatten()
        }
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
