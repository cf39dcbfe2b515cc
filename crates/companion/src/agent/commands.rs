//! Owns which commands of an agent run, as its hooks tell: what one of them says in place of the hooks is not believed.

use pillion_view::ask::WorkStep;

/// No agent runs more of them at once, and none has its hooks called in more ways.
const MAX: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct Commands {
    /// The calls that run, of those that may run anything.
    running: Vec<String>,
    /// The ways in which the agent has had its hooks called while nothing ran: by a script of the person's, by `timeout`. Command
    /// lines, from the hook on up.
    ways: Vec<Vec<String>>,
}

impl Commands {
    /// A hook that was called in this way, if it is known, is believed.
    pub(super) fn believes(&mut self, way: Option<&[&str]>) -> bool {
        let is_known =
            way.is_some_and(|it| it.is_empty() || self.ways.iter().any(|known| known == it));
        let is_believed = is_known || self.running.is_empty();
        if let Some(way) = way.filter(|_| is_believed && !is_known && self.ways.len() < MAX) {
            self.ways
                .push(way.iter().map(|it| (*it).to_owned()).collect());
        }
        is_believed
    }

    /// A hook has told this, and is believed.
    pub(crate) fn note(&mut self, step: &WorkStep) {
        match step {
            WorkStep::CallBegins(call) if call.path.is_none() && self.running.len() < MAX => {
                self.running.push(call.id.clone());
            }
            WorkStep::CallBegins(_) => {}
            WorkStep::CallEnds(id) | WorkStep::CallFails(id) => {
                self.running.retain(|own| own != id)
            }
            // A call that the person stops has no end.
            WorkStep::TurnBegins(_) | WorkStep::TurnEnds => self.running.clear(),
        }
    }
}
