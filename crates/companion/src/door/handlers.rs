//! All that can be asked, and who does it: the loop of a companion, or for what looks at disks and for what may take long,
//! a task beside it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pillion_discovery::{CompanionState, state};
use pillion_protocol::Stranger;
use pillion_view::ask::{
    AgentOfHook, ArePersons, AwaitNotes, CatchUp, Changes, ContextAsker, Decided, Decisions, Diffs,
    Focus, GetContext, GetDiff, GetReview, Guard, Guarded, Hook, Look, LookedAt, Lost, Mention,
    PassedOn, PendingDiff, Propose, Recount, Refused, SendNotes, SetReview, ShownContext, Speak,
    State, Withdraw, Work,
};
use pillion_view::changes::ChangesAct;
use pillion_view::{Decide, ProposalKey};
use tokio::sync::oneshot;

use super::table::Table;
use super::{Caller, Host};
#[cfg(unix)]
use crate::agents::context_sockets;
use crate::commands::Commands;
use crate::looking;
use crate::main_loop::MainLoop;
use crate::recording::WAITS;
use crate::tasks;
use crate::who::Asker;

/// All that can be asked, and who does it.
pub(super) fn table() -> Table {
    Table::default()
        .host::<State>(states)
        .beside::<Diffs, _>(diffs)
        .beside::<GetDiff, _>(diff)
        .beside::<GetContext, _>(context)
        .beside::<Speak, _>(speak)
        .beside::<ArePersons, _>(are_persons)
        .beside::<CatchUp, _>(catch_up)
        .beside::<Guard, _>(guard)
        .beside::<AwaitNotes, _>(await_notes)
        .beside::<PassedOn, _>(passed_on)
        .beside::<ContextAsker, _>(context_asker)
        .beside::<Hook, _>(hook)
        .beside::<Work, _>(work)
        .later::<Decide>(MainLoop::decide)
        .later::<Changes>(MainLoop::changes)
        .later::<ChangesAct>(MainLoop::act)
        .beside::<Propose, _>(propose)
        .beside::<Decisions, _>(decisions)
        .beside::<Withdraw, _>(withdraw)
        .beside::<Look, _>(look)
        .later::<Focus>(MainLoop::focus)
        .later::<SendNotes>(MainLoop::send_notes)
        .on::<Mention>(MainLoop::point_to)
        .on::<SetReview>(|it, set| it.choose(Some(set.choice), set.number))
        .on::<GetReview>(|it, get| it.choose(None, get.number))
        .on::<Recount>(MainLoop::recount)
        .on::<Lost>(MainLoop::lost)
}

/// The time limit for the editor to tell what stands in a view.
const TEXT_TIMEOUT: Duration = Duration::from_secs(2);

/// What the companions here say of themselves, as far as they do in time. If none does, there is no answer: whoever asks
/// knows then that they hang.
fn states(host: &dyn Host, _: State) -> Result<Vec<CompanionState>, Refused> {
    let companions = host.companions();
    let asked: Vec<_> = companions.iter().map(Commands::ask_state).collect();
    let deadline = Instant::now() + state::STATE_WITHIN;
    let left = || deadline.saturating_duration_since(Instant::now());
    let told = { asked.iter() }.filter_map(|state| state.recv_timeout(left()).ok());
    let told: Vec<_> = told.collect();
    match told.is_empty() && !asked.is_empty() {
        true => Err("the companion does not answer".into()),
        false => Ok(told),
    }
}

async fn diffs(companion: Commands, _: Diffs, _: Arc<Caller>) -> Result<Vec<PendingDiff>, Refused> {
    let listed = companion.ask("diffs", |it, listing| it.list(listing));
    let mut pending = listed.await?;
    companion.look_up(&mut pending).await;
    Ok(pending)
}

async fn diff(
    companion: Commands,
    get: GetDiff,
    caller: Arc<Caller>,
) -> Result<PendingDiff, Refused> {
    let found = companion.get("diff", move |it| it.find_pending(get.diff));
    let mut found = found.await??;
    companion.look_up(std::slice::from_mut(&mut found)).await;
    let key = found.key;
    found.standing = standing(&companion, key).await;
    if let Some(text) = found.standing.clone().filter(|_| get.is_printed)
        && caller.is_person(&companion).await
    {
        companion.send("printed", move |it, _| it.note_printed(key, &text));
    }
    Ok(found)
}

/// The text that stands in the view of a proposal; none if the editor does not tell in time.
async fn standing(companion: &Commands, key: ProposalKey) -> Option<String> {
    let told = companion.ask("text", move |it, told| it.ask_text(key, told));
    let told = tokio::time::timeout(TEXT_TIMEOUT, told).await;
    told.ok().and_then(Result::ok).flatten()
}

async fn context(
    companion: Commands,
    get: GetContext,
    _: Arc<Caller>,
) -> Result<ShownContext, Refused> {
    let mut sent = companion.get("contexts", |it| it.contexts_sent()).await?;
    match sent.wait_for(|sent| get.known != Some(*sent)).await {
        Ok(_) => {}
        Err(_) => return Err("the companion is stopping".into()),
    }
    companion.get("context", |it| it.shown_context()).await
}

async fn speak(_: Commands, _: Speak, _: Arc<Caller>) -> Result<(), Refused> {
    // The door has let it in.
    Ok(())
}

async fn are_persons(
    companion: Commands,
    asked: ArePersons,
    _: Arc<Caller>,
) -> Result<Option<Stranger>, Refused> {
    let judged = tasks::spawn_blocking(move || {
        let mut askers = asked.pids.into_iter().map(Asker::of_process);
        askers.find_map(|asker| companion.who().judge(&asker).err())
    });
    judged.await.map_err(|_| "the companion is stopping".into())
}

async fn catch_up(companion: Commands, _: CatchUp, _: Arc<Caller>) -> Result<bool, Refused> {
    let done = companion.ask("catch up", |it, done| it.catch_up(done));
    let done = tokio::time::timeout(WAITS, done).await;
    done.unwrap_or(Ok(false))
}

async fn guard(companion: Commands, guard: Guard, _: Arc<Caller>) -> Result<Guarded, Refused> {
    let guarded = companion.ask("guard", move |it, way| it.guard(guard, way));
    Ok(guarded.await.unwrap_or(Guarded::Unanswered))
}

async fn await_notes(
    companion: Commands,
    wait: AwaitNotes,
    caller: Arc<Caller>,
) -> Result<Option<String>, Refused> {
    let (way, notes) = oneshot::channel();
    let own = companion.clone();
    let waits = companion.ask("wait", move |it, waits| {
        let Some(number) = it.wait_beside(&wait.processes, way) else {
            return drop(waits);
        };
        caller.at_end(move |is_passed_on| {
            own.send("waiter's end", move |it, _| {
                it.waiter_ended(number, is_passed_on);
            });
        });
        let _ = waits.send(());
    });
    // Its agent may not be connected here.
    if waits.await.is_err() {
        return Ok(None);
    }
    Ok(notes.await.ok())
}

async fn passed_on(_: Commands, _: PassedOn, caller: Arc<Caller>) -> Result<(), Refused> {
    caller.end(true);
    caller.proposal().passed_on().await;
    Ok(())
}

async fn context_asker(
    companion: Commands,
    asker: ContextAsker,
    caller: Arc<Caller>,
) -> Result<(), Refused> {
    // Elsewhere it asks nowhere.
    #[cfg(unix)]
    if let Some(process) = caller.pid() {
        let place = context_sockets::Place::new(asker.home, asker.tmpdir);
        companion.add_context_asker(process, place);
    }
    #[cfg(not(unix))]
    drop((asker, caller));
    Ok(())
}

async fn hook(
    companion: Commands,
    hook: Hook,
    caller: Arc<Caller>,
) -> Result<Option<AgentOfHook>, Refused> {
    let processes = &hook.processes;
    companion
        .hooked(hook.agent, caller.asker(), processes)
        .await;
    let agent = companion.get("hook", move |it| it.hook(&hook, caller.asker()));
    agent.await
}

async fn work(
    companion: Commands,
    work: Work,
    caller: Arc<Caller>,
) -> Result<Option<String>, Refused> {
    if work
        .process
        .is_some_and(|it| !caller.asker().may_be_below(it))
    {
        tracing::warn!(agent = %work.agent, "a command speaks for hooks of a process that has not started it");
        return Ok(None);
    }
    let processes = &work.processes;
    companion
        .hooked(work.agent, caller.asker(), processes)
        .await;
    let told = companion.ask("work", move |it, told| {
        it.worked(work, caller.asker(), told);
    });
    told.await
}

async fn propose(
    companion: Commands,
    mut propose: Propose,
    caller: Arc<Caller>,
) -> Result<(), Refused> {
    // It belongs to no turn of an agent that has not started the program.
    let is_its = |it: &u32| caller.asker().may_be_below(*it);
    propose.session = propose
        .session
        .filter(|_| propose.process.as_ref().is_none_or(is_its));
    let to_loop = companion.to_loop().clone();
    caller.proposal().propose(to_loop, propose).await
}

async fn decisions(_: Commands, _: Decisions, caller: Arc<Caller>) -> Result<Decided, Refused> {
    caller.proposal().decisions().await
}

async fn withdraw(_: Commands, _: Withdraw, caller: Arc<Caller>) -> Result<(), Refused> {
    caller.proposal().withdraw();
    Ok(())
}

async fn look(companion: Commands, look: Look, _: Arc<Caller>) -> Result<LookedAt, Refused> {
    looking::look(companion.to_loop().clone(), look).await
}
