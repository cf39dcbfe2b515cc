//! The one answer to who is asking: the person, an agent, or nobody who is known. Asked for everything that decides or speaks for
//! the person, for what a view says, and by commands that do their work without a companion.
//!
//! Here is what is known, for all companions of a process: the agents that are connected, were, or have called a hook, with
//! those that companions before noted in the store, and the views. `rule` judges by it, `lineage` is what is looked at.

mod lineage;
mod rule;

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use pillion_changes::Store;
use pillion_changes::store::NotedAgent;
use pillion_discovery::Environment;
use pillion_discovery::private_file::Stream;
use pillion_protocol::{AgentProcess, Dialect, Stranger};
use pillion_system::lineage::{kin, lineage};
use pillion_system::peer;
use pillion_system::{attended, lock, process, spawn};
use pillion_view::Leaving;

pub use self::lineage::Lineage;
use self::lineage::{Machine, identity};
use self::rule::{Agent, Known};
use crate::wire::Wire;

/// The time limit for finding out which process an agent is that has just connected.
const FOUND_WITHIN: Duration = Duration::from_secs(2);

/// The number of agents that are kept in mind.
const MAX_AGENTS: usize = 512;

/// All that is known, for one companion. Clones, also those for other companions, share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Who {
    shared: Arc<Shared>,
    /// Where agents are noted for companions and commands to come.
    store: Option<Store>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    found: Condvar,
    /// Held while the person's views are judged: whoever comes meanwhile takes the same answer.
    judging: Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    agents: Vec<Agent>,
    /// True if agents were noted that are not any more.
    is_lost: bool,
    views: BTreeMap<u64, Asker>,
    last_view: u64,
    /// The number of agents whose processes are looked for.
    sought: usize,
    /// Counts up whenever an agent or a view is known that was not, or a view has left.
    version: u64,
    /// What was known of the person's views at a version.
    known: Option<(u64, Known)>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Asker {
    /// Its process, as the system tells or as it says.
    pid: Option<u32>,
    lineage: Lineage,
    /// The agents whose variables it has, as it says.
    says: Vec<Dialect>,
    /// The editor of a view.
    editor: Option<u32>,
    /// The editor and all above it, if it may have started the view by a shell that has ended.
    above: Lineage,
}

impl Asker {
    /// The other end of a connection, of whose process the system tells, or else the one that it `claims` to be.
    pub(crate) fn at(stream: &Stream, claimed: u32, says: Vec<Dialect>) -> Self {
        let mut found = Self::new(peer::process(stream), Some(claimed), says);
        // Its number was its own until now, or what was found may be another's.
        if !peer::is_there(stream) {
            found.lineage = Lineage::default();
        }
        found
    }

    /// The process `peer`, as the system tells it, or else `claimed`, as it says.
    fn new(peer: Option<u32>, claimed: Option<u32>, says: Vec<Dialect>) -> Self {
        let seen = match peer::TELLS_PROCESSES {
            true => peer,
            false => peer.or(claimed),
        };
        // Where other processes are shown than those that are told of, nothing is known of these.
        let is_shown = || process::own_shown() == Some(std::process::id());
        let seen = seen.filter(|_| is_shown());
        Self {
            pid: peer.or(claimed),
            lineage: seen.map(Lineage::of).unwrap_or_default(),
            says,
            ..Self::default()
        }
    }

    /// One that somebody else names.
    pub(crate) fn of_process(pid: u32) -> Self {
        Self::new(Some(pid), None, Vec::new())
    }

    pub(crate) fn this_process(environment: &Environment) -> Self {
        let own = process::own_shown();
        Self {
            pid: own,
            lineage: own.map(Lineage::of).unwrap_or_default(),
            says: environment.commanding_agents(),
            ..Self::default()
        }
    }

    /// Its process, as far as it is known.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.pid
    }

    /// A view, with the editor that it says it belongs to.
    pub(crate) fn with_editor(mut self, pid: u32) -> Self {
        let may_be_its = !self.lineage.is_below(pid) && !attended::listening(pid).is_empty();
        self.above = match may_be_its {
            true => Lineage::of(pid),
            false => Lineage::default(),
        };
        self.editor = Some(pid);
        self
    }

    /// All above it, as far as that is known.
    fn lineage(&self, known: &Known) -> Lineage {
        let own = self.lineage.clone();
        match known.may_have_started(&self.above, &own) {
            true => own.below(&self.above),
            false => own,
        }
    }

    /// As [`Lineage::way_from`], of a hook that asks.
    pub(crate) fn way_from(&self, agent: AgentProcess) -> Option<Vec<&str>> {
        self.lineage.way_from(agent)
    }

    /// Returns false if the system tells that this process has not started it.
    pub(crate) fn may_be_below(&self, pid: u32) -> bool {
        self.lineage.may_be_below(pid)
    }

    fn has_variable(&self, agent: Dialect) -> bool {
        let mut all = self.lineage.commanding().chain(self.says.iter().copied());
        all.any(|it| it == agent)
    }

    fn judge(&self, known: &Known) -> Result<(), Stranger> {
        rule::judge(
            &self.lineage(known),
            &self.says,
            self.editor,
            known,
            &Machine,
        )
    }
}

/// A view that is attached. Dropping it says that it has left.
#[derive(Debug)]
pub(crate) struct SeatedView {
    who: Who,
    number: u64,
    /// The processes that were connected to its editor when that was looked at last.
    clients: Mutex<Vec<u32>>,
}

impl SeatedView {
    /// Its editor is another process now.
    pub(crate) fn change_editor(&self, pid: u32) {
        let asker = self.asker().with_editor(pid);
        let mut state = self.who.lock();
        state.views.insert(self.number, asker);
        state.version += 1;
    }

    /// Whether it is the person's. Waits until all agents that have connected are known, and for the system.
    pub(crate) fn judge(&self) -> Result<(), Stranger> {
        self.who.wait_for_sought();
        self.asker().judge(&self.who.known())
    }

    /// Whether it is the person's, and so is whatever else is connected to its editor, by the same rule: what is done in an
    /// editor does not tell in which of its windows it was typed. What started the editor can do as it likes anyway. Waits as
    /// [`judge`](Self::judge) does.
    pub(crate) fn judge_typed(&self) -> Result<(), Stranger> {
        self.judge()?;
        let own = self.asker();
        // What connects to this process opens no window of it.
        let Some(editor) = own.editor.filter(|it| *it != std::process::id()) else {
            return Ok(());
        };
        let known = self.who.known();
        let mut found = lock(&self.clients);
        *found = attended::clients(editor, &found);
        let is_strange = |pid: &u32| {
            let client = || Asker::of_process(*pid).with_editor(editor);
            !own.lineage(&known).is_below(*pid)
                && attended::is_window_of(editor, *pid)
                && client().judge(&known).is_err()
        };
        let strange: Vec<_> = found.iter().copied().filter(is_strange).collect();
        // Of one that has only sent something and ended there is nothing left to be judged.
        let is_there = |found: &[u32]| strange.iter().any(|it| found.contains(it));
        match !strange.is_empty() && is_there(&attended::clients(editor, &found)) {
            true => Err(Stranger::Beside),
            false => Ok(()),
        }
    }

    fn asker(&self) -> Asker {
        let own = self.who.lock().views.get(&self.number).cloned();
        own.unwrap_or_default()
    }

    /// Why it leaves: a signal that ends it may come from the person.
    pub(crate) fn judge_end(&self, why: Leaving) -> Leaving {
        let Leaving::Signalled(sender) = why else {
            return why;
        };
        let own = self.asker();
        // An editor that the person closes says so.
        if own.editor == Some(sender) {
            return Leaving::Killed;
        }
        // It may have ended by now, as a script whose last word that was.
        let is_above = own.lineage(&self.who.known()).is_below(sender);
        let is_others = || {
            let user = kin(sender).and_then(|it| it.uid);
            user.is_some_and(|user| user != process::own_uid())
        };
        let is_persons = || {
            self.who.wait_for_sought();
            let known = self.who.known();
            let sender = Asker::of_process(sender);
            // A program such as `pkill` is gone by now.
            let is_nobody_known = known.agents.is_empty() && !known.is_lost;
            is_nobody_known || sender.judge(&known).is_ok()
        };
        match is_above || is_others() || is_persons() {
            true => Leaving::Closed,
            false => Leaving::Killed,
        }
    }
}

impl Drop for SeatedView {
    fn drop(&mut self) {
        let mut state = self.who.lock();
        state.views.remove(&self.number);
        state.version += 1;
    }
}

/// An agent whose process is looked for: until it is found, nobody is judged. Dropping it gives up.
#[derive(Debug)]
pub(crate) struct Sought {
    who: Who,
    since: u64,
}

impl Sought {
    /// Finds the processes at the other end of an agent's connection; if the system tells none, `claimed` is taken for one. Waits for the
    /// system.
    pub(crate) fn find(self, agent: Dialect, wire: Option<&Wire>, claimed: Option<u32>) {
        let told = wire.and_then(Wire::process);
        let connection = wire.and_then(Wire::connection);
        let held = match (told, connection) {
            (Some(pid), _) => vec![pid],
            (None, Some(connection)) => peer::holders(connection, claimed),
            (None, None) => Vec::new(),
        };
        let held = match held.is_empty() {
            true => claimed.into_iter().collect(),
            false => held,
        };
        // 1 is everybody's ancestor here, and what an agent in a container is there.
        let processes = held.into_iter().filter(|pid| *pid > 1).filter_map(process);
        self.who.learn(agent, processes.collect(), self.since);
    }
}

impl Drop for Sought {
    fn drop(&mut self) {
        self.who.lock().sought -= 1;
        self.who.shared.found.notify_all();
    }
}

fn process(pid: u32) -> Option<AgentProcess> {
    let started_at = process::started_at(pid)?;
    Some(AgentProcess { pid, started_at })
}

fn noted(agent: Dialect, process: AgentProcess) -> NotedAgent {
    let kin = kin(process.pid);
    NotedAgent {
        agent: agent.name().to_owned(),
        process,
        login: kin.as_ref().and_then(|it| it.login),
        session: kin.and_then(|it| it.session),
    }
}

fn note(store: &Store, agent: &NotedAgent) {
    if let Err(error) = store.note_agent(agent) {
        tracing::warn!(%error, "an agent's process cannot be noted");
    }
}

/// The same as it is known here from `since` on. What is above it is looked at.
fn known_agent(noted: &NotedAgent, since: u64, is_everybodys: bool) -> Agent {
    let process = noted.process;
    let found = lineage(process.pid);
    let mut all = found.iter().map(identity);
    Agent {
        agent: Dialect::from_name(&noted.agent),
        process,
        login: noted.login,
        session: noted.session,
        since,
        is_everybodys,
        above: (all.next() == Some(process)).then(|| all.collect()),
    }
}

fn lives(process: AgentProcess) -> bool {
    process::started_at(process.pid) == Some(process.started_at)
}

impl Who {
    /// The same for a companion with these variables. What companions before it have noted is read beside it.
    pub(crate) fn at(&self, environment: &Environment) -> Self {
        let store = Store::of(environment).ok();
        let own = Self {
            shared: Arc::clone(&self.shared),
            store,
        };
        // Until it is read, nobody is judged.
        let sought = own.seek();
        let reading = own.clone();
        let read = move || {
            reading.remember(reading.store.iter());
            drop(sought);
        };
        if let Err(error) = spawn("known agents", read) {
            tracing::warn!(%error, "the agents that were known before are not read");
        }
        own
    }

    fn remember<'a>(&self, stores: impl Iterator<Item = &'a Store>) {
        for store in stores {
            let noted = store.agents().unwrap_or_default();
            let is_lost = store.has_lost_agents();
            let mut state = self.lock();
            state.is_lost |= is_lost;
            for noted in noted {
                state.add(known_agent(&noted, noted.process.started_at, false));
            }
        }
    }

    /// An agent has connected, or may have before, and its process is looked for.
    pub(crate) fn seek(&self) -> Sought {
        self.lock().sought += 1;
        Sought {
            who: self.clone(),
            since: process::now(),
        }
    }

    /// An agent has called a hook: it is what stands between the hook and the person's shell, terminal or view, up to the uppermost of these
    /// processes, which the hook takes for it. Above an agent that nobody knows yet there may be a view's starter of which nothing shows
    /// either that it is the person's: it has started the agent, too.
    pub(crate) fn hooked(&self, agent: Dialect, hook: &Asker, processes: &[u32]) {
        let known = self.known();
        let views: Vec<_> = self.lock().views.values().cloned().collect();
        let views = views.iter().map(|view| (view.lineage(&known), &view.says));
        let views: Vec<_> = views
            .filter(|(it, says)| known.agent(it, says).is_none())
            .collect();
        let is_persons = |process: &AgentProcess| views.iter().any(|(it, _)| it.has(*process));
        let above = hook.lineage.agent_of_hook(processes, &Machine);
        let end = above.iter().position(is_persons).unwrap_or(above.len());
        self.learn(agent, above[..end].to_vec(), process::now());
    }

    fn learn(&self, agent: Dialect, processes: Vec<AgentProcess>, since: u64) {
        let views = self.known().views;
        let is_above = |view: &Lineage| processes.iter().any(|it| view.has(*it));
        let is_everybodys = !views.is_empty() && views.iter().all(is_above);
        // While the last view leaves, it cannot be told whether the agent has started it: the next companion notes the agent.
        let is_noted = !is_everybodys && !self.lock().views.is_empty();
        for process in processes {
            let noted = noted(agent, process);
            let known = known_agent(&noted, since, is_everybodys);
            let is_new = self.lock().add(known);
            if let (true, true, Some(store)) = (is_new, is_noted, &self.store) {
                note(store, &noted);
            }
        }
    }

    pub(crate) fn seat(&self, view: Asker) -> SeatedView {
        let mut state = self.lock();
        state.last_view += 1;
        state.version += 1;
        let number = state.last_view;
        state.views.insert(number, view);
        drop(state);
        SeatedView {
            who: self.clone(),
            number,
            clients: Mutex::default(),
        }
    }

    /// Returns a number that is another one once a view may be judged otherwise.
    pub(crate) fn version(&self) -> u64 {
        self.lock().version
    }

    /// Whether the person is the one who asks. Waits until all agents that have connected are known, and for the system.
    pub(crate) fn judge(&self, asker: &Asker) -> Result<(), Stranger> {
        self.wait_for_sought();
        asker.judge(&self.known())
    }

    /// Waits until all agents that have connected are known.
    fn wait_for_sought(&self) {
        let state = self.lock();
        let is_sought = |state: &mut State| state.sought > 0;
        let found = &self.shared.found;
        drop(found.wait_timeout_while(state, FOUND_WITHIN, is_sought));
    }

    /// Everything that is known. Looks at processes, for one who asks at a time.
    fn known(&self) -> Known {
        let _judging = lock(&self.shared.judging);
        let state = self.lock();
        let version = state.version;
        if let Some((_, known)) = state.known.as_ref().filter(|(at, _)| *at == version) {
            return known.clone();
        }
        let (agents, views) = (state.agents.clone(), state.views.clone());
        let is_lost = state.is_lost;
        drop(state);
        let known = with_views(agents, is_lost, views.into_values().collect());
        self.lock().known = Some((version, known.clone()));
        known
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.shared.state)
    }
}

/// What is known with these views: those are the person's that need no other for that, and those that belong to them.
fn with_views(agents: Vec<Agent>, is_lost: bool, views: Vec<Asker>) -> Known {
    let all_have = |agent: &Dialect| views.iter().all(|it| it.has_variable(*agent));
    let inherited = Dialect::ALL.into_iter().filter(all_have);
    let mut known = Known {
        agents,
        is_lost,
        views: Vec::new(),
        inherited: match views.is_empty() {
            true => Vec::new(),
            false => inherited.collect(),
        },
    };
    for _ in 0..2 {
        // Many may be of one process, and each look costs something.
        let mut judged: Vec<(&Asker, bool)> = Vec::new();
        for view in &views {
            let same = judged.iter().find(|(it, _)| *it == view);
            let is_persons = same.map_or_else(|| view.judge(&known).is_ok(), |(_, known)| *known);
            judged.push((view, is_persons));
        }
        let persons = judged.into_iter().filter(|(_, is_persons)| *is_persons);
        known.views = persons.map(|(view, _)| view.lineage(&known)).collect();
    }
    known
}

impl State {
    fn add(&mut self, agent: Agent) -> bool {
        let is_known = self.agents.iter().any(|it| it.process == agent.process);
        if is_known || (self.agents.len() >= MAX_AGENTS && !self.make_room()) {
            return false;
        }
        self.version += 1;
        self.agents.push(agent);
        true
    }

    /// Forgets one that has ended: not the first, by which the age of everything is told.
    fn make_room(&mut self) -> bool {
        let first = self.agents.iter().map(|it| it.process.started_at).min();
        let is_over = |it: &Agent| Some(it.process.started_at) != first && !lives(it.process);
        let found = self.agents.iter().position(is_over);
        found.map(|at| self.agents.remove(at)).is_some()
    }
}

/// The process that runs this command, as far as the store and the system tell: for commands that need no companion.
#[derive(Debug)]
pub struct ThisProcess {
    asker: Asker,
    known: Known,
}

impl ThisProcess {
    /// Looks at it, and at what companions have noted of agents.
    pub fn look(environment: &Environment) -> Self {
        let asker = Asker::this_process(environment);
        let who = Who::default();
        who.remember(stores(environment, &asker.lineage).iter());
        Self {
            asker,
            known: who.known(),
        }
    }

    /// Whether no agent that was noted is above it.
    ///
    /// # Errors
    /// When one is.
    pub fn is_no_known_agents(&self) -> Result<(), Stranger> {
        let above = self.known.agent_above(&self.asker.lineage);
        above.map_or(Ok(()), Err)
    }

    /// Whether it is the person's. No view is known.
    ///
    /// # Errors
    /// When an agent has started it, or nothing shows that the person has.
    pub fn is_the_persons(&self) -> Result<(), Stranger> {
        self.asker.judge(&self.known)
    }
}

/// The stores in which agents may be noted: by the variables of this process and of those above it, and in the
/// account's home. Whoever hides one store has not hidden the others.
fn stores(environment: &Environment, lineage: &Lineage) -> Vec<Store> {
    let account = process::account_home().map(|home| Environment::from_pairs([("HOME", home)]));
    let own = [environment.clone()].into_iter().chain(account);
    let all = own.chain(lineage.environments());
    let mut stores: Vec<Store> = Vec::new();
    for store in all.filter_map(|it| Store::of(&it).ok()) {
        if stores.iter().all(|it| it.path() != store.path()) {
            stores.push(store);
        }
    }
    stores
}

#[cfg(test)]
mod tests;
