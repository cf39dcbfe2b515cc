//! Owns which commands of an agent run, as its hooks tell: what one of them says in place of the hooks is not believed.

use pillion_view::ask::WorkStep;

/// No agent runs more of them at once.
const MAX: usize = 64;

/// The calls that may run anything.
#[derive(Debug, Default)]
pub(crate) struct Commands(Vec<String>);

impl Commands {
    /// A hook has told this, and is believed.
    pub(crate) fn note(&mut self, step: &WorkStep) {
        match step {
            WorkStep::CallBegins(call) if call.path.is_none() && self.0.len() < MAX => {
                self.0.push(call.id.clone());
            }
            WorkStep::CallBegins(_) => {}
            WorkStep::CallEnds(id) | WorkStep::CallFails(id) => self.0.retain(|own| own != id),
            // A call that the person stops has no end.
            WorkStep::TurnBegins(_) | WorkStep::TurnEnds => self.0.clear(),
        }
    }

    /// Returns true if any runs.
    pub(super) fn is_any(&self) -> bool {
        !self.0.is_empty()
    }
}
