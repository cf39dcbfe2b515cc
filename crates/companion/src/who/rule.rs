//! The rule: who is behind a process, from the facts that are known of it, of agents and of the person's views. Pure.
//!
//! An agent above it, or the variable of an agent in what it or one above it was started with, is that agent. Everybody else needs
//! evidence, because a process whose parent has ended is nobody's child any more. What is above an agent may have adopted it: where that
//! cannot be told, it is a child of nothing. What is at the top of its lineage decides which is enough:
//! - a process that is also above one of the person's views, or such a view or its editor: always;
//! - a top that began before any agent that was known here: no agent has started it;
//! - for a view, a top that began before any agent was known: an editor's helper in the background has no other evidence;
//! - a terminal or a login shell, if the top is another user's (a login, a secure shell, a container) or descends from a login that
//!   no agent descends from: others could have been made by an agent, or by what an agent has left behind;
//! - the process that began its session, if no agent has been in that: what an editor starts in the background stays in it;
//! - a window on a display, or a terminal in which the same program is attached, as a multiplexer's is, if the display's server or
//!   that program is shown to be the person's, too: an agent can make both. Another user's server is, unless an agent's login has it.

use pillion_protocol::{AgentProcess, Dialect, Stranger};
use pillion_system::lineage::Kin;
use pillion_system::process;

use super::lineage::{Lineage, Look, identity};

/// An agent that is connected, was, or has called a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Agent {
    /// None of one that another version of Pillion has noted, and is not known here.
    pub(super) agent: Option<Dialect>,
    pub(super) process: AgentProcess,
    /// The login that it descends from, where logins are counted.
    pub(super) login: Option<u32>,
    /// The process that began its session, where that is told.
    pub(super) session: Option<u32>,
    /// When it was known first, in the unit of times at which processes start.
    pub(super) since: u64,
    /// True if it had started all views of the person when it was known first: then what it starts is the person's.
    pub(super) is_everybodys: bool,
    /// The processes above it, of which one may adopt what it leaves behind; none of one that had ended before it was known here.
    pub(super) above: Option<Vec<AgentProcess>>,
}

impl Agent {
    /// Returns true if this may have adopted a process that the agent has left behind.
    fn may_have_left(&self, child: &Kin, to: &Kin) -> bool {
        let is_above = |above: &Vec<AgentProcess>| above.contains(&identity(to));
        let may_be_above = self.above.as_ref().map_or_else(|| to.is_ours(), is_above);
        may_be_above
            && self.process.started_at > to.started_at
            && child.started_at >= self.process.started_at
    }
}

/// What is known beside the one who asks.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    pub(super) agents: Vec<Agent>,
    /// True if there were others: then nothing is older than all of them, or apart from them.
    pub(super) is_lost: bool,
    /// The lineages of the person's views.
    pub(super) views: Vec<Lineage>,
    /// The agents whose variables all views have: that proves nothing.
    pub(super) inherited: Vec<Dialect>,
}

impl Known {
    /// Returns true if this began before all agents.
    fn is_older(&self, top: &Kin) -> bool {
        self.are_all(|agent| top.started_at < agent.process.started_at)
    }

    /// Returns true if this began before any agent was known.
    fn is_older_than_knowledge(&self, top: &Kin) -> bool {
        self.are_all(|agent| top.started_at < agent.since)
    }

    fn is_without_agents(&self, session: u32) -> bool {
        self.are_all(|agent| agent.session.is_some_and(|it| it != session))
    }

    /// Returns true if this editor may have started what says that it belongs to it, and has no other parent in its session: what an
    /// agent leaves behind there can say so, too, of whatever is there, but of no editor that was started after it was known.
    pub(super) fn may_have_started(&self, editor: &Lineage, helper: &Lineage) -> bool {
        let session = helper.top().and_then(|it| it.session);
        let is_apart = |agent: &Agent| agent.session.is_some_and(|it| Some(it) != session);
        editor.first().is_some_and(|editor| {
            !editor.is_shell()
                && self.are_all(|agent| is_apart(agent) || editor.started_at > agent.since)
        })
    }

    /// Returns true if this descends from another login than all agents.
    fn is_of_another_login(&self, top: &Kin) -> bool {
        let is_other = |agent: &Agent| agent.login.is_some_and(|login| Some(login) != top.login);
        top.login.is_some() && self.are_all(is_other)
    }

    /// Returns true if this is another user's, and of no login that an agent descends from.
    fn is_another_users(&self, top: &Kin) -> bool {
        let is_other = |agent: &Agent| agent.login.is_none() || agent.login != top.login;
        top.uid.is_some_and(|uid| uid != process::own_uid()) && self.are_all(is_other)
    }

    fn are_all(&self, holds: impl Fn(&Agent) -> bool) -> bool {
        !self.is_lost && self.agents.iter().all(holds)
    }

    /// The agent that is above a process, or is it.
    pub(super) fn agent_above(&self, asker: &Lineage) -> Option<Stranger> {
        let is_one = |agent: &&Agent| !agent.is_everybodys && asker.is_below_agent(agent.process);
        let found = self.agents.iter().find(is_one)?;
        Some(found.agent.map_or(Stranger::Unknown, Stranger::Agent))
    }

    /// The same up to the first that may have adopted what is below it: sessions do not tell, and an agent may have left it behind. What
    /// starts the person's views, or is the `editor` of this one, adopts nothing, and neither does what has opened a terminal for its child, or
    /// has others attached.
    fn apart(&self, asker: &Lineage, editor: Option<u32>, look: &impl Look) -> Lineage {
        let starts_views = |parent: &Kin| {
            let of_view = |view: &Lineage| {
                view.parent()
                    .is_some_and(|it| identity(it) == identity(parent))
            };
            editor == Some(parent.process.pid) || self.views.iter().any(of_view)
        };
        asker.clone().until(|child, parent| {
            child.session == Some(child.process.pid)
                && parent.session.is_some_and(|it| child.session != Some(it))
                && parent.terminal.is_none()
                && { self.agents.iter() }
                    .any(|it| !it.is_everybodys && it.may_have_left(child, parent))
                && !starts_views(parent)
                && !child.terminal.is_some_and(|it| look.has_opened(parent, it))
                && look.attached(&Lineage::only(parent)).is_empty()
        })
    }

    /// The agent that is above a process, or whose variable it has.
    pub(super) fn agent(&self, asker: &Lineage, says: &[Dialect]) -> Option<Stranger> {
        self.agent_above(asker).or_else(|| {
            let mut named = asker.commanding().chain(says.iter().copied());
            let named = named.find(|agent| !self.inherited.contains(agent));
            named.map(Stranger::Agent)
        })
    }
}

/// The most multiplexers and displays that are looked through, one in the other.
const MAX_NESTED: usize = 3;

/// Whether the person is behind this process, which may be a view of an editor, and says itself that it has the variables of the agents
/// `says`.
pub(super) fn judge(
    asker: &Lineage,
    says: &[Dialect],
    editor: Option<u32>,
    known: &Known,
    look: &impl Look,
) -> Result<(), Stranger> {
    if let Some(agent) = known.agent(asker, says) {
        return Err(agent);
    }
    let is_early = |asker: &Lineage| {
        asker
            .top()
            .is_some_and(|it| known.is_older_than_knowledge(it))
    };
    let is_persons = |asker: &Lineage| {
        let asker = known.apart(asker, editor, look);
        is_evident(&asker, known, look, MAX_NESTED) || (editor.is_some() && is_early(&asker))
    };
    if is_persons(asker) {
        return Ok(());
    }
    let session = asker.session_of_orphan();
    let session = session.filter(|it| known.is_without_agents(*it));
    let asker = session.map(|it| asker.clone().below(&look.lineage(it)));
    let asker = asker.ok_or(Stranger::Unknown)?;
    match known.agent(&asker, says) {
        Some(agent) => Err(agent),
        None => is_persons(&asker).then_some(()).ok_or(Stranger::Unknown),
    }
}

/// Whether it is the person's by itself, no agent being above it. So many programs are looked through that are attached to it, or
/// that show it.
fn is_evident(asker: &Lineage, known: &Known, look: &impl Look, nested: usize) -> bool {
    let Some(top) = asker.top() else {
        return false;
    };
    let is_persons = |other: &Lineage| {
        let apart = known.apart(other, None, look);
        known.agent(other, &[]).is_none() && is_evident(&apart, known, look, nested - 1)
    };
    let is_display = |pid| {
        let server = look.lineage(pid);
        let is_another_users = |top| known.is_another_users(top);
        server.top().is_some_and(is_another_users) || is_persons(&server)
    };
    let are_displays = |servers: Vec<u32>| servers.into_iter().all(is_display);
    let attached = || {
        look.attached(asker)
            .into_iter()
            .map(|pid| look.lineage(pid))
    };
    known.views.iter().any(|view| view.shares(asker))
        || known.is_older(top)
        || (asker.is_typed() && (asker.is_elsewheres() || known.is_of_another_login(top)))
        || asker.is_below_this_process()
        || !asker.is_told()
        || (nested > 0
            && (look.displays(asker).is_some_and(are_displays)
                || attached().any(|it| is_persons(&it))))
}

#[cfg(test)]
mod tests;
