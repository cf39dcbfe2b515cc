//! Rules whether a call of an agent is shown before it runs: one table of when the agent asks, what the call does, and what is kept of
//! the file.

use pillion_changes::recorder::Coverage;
use pillion_protocol::ReviewMode;
use pillion_protocol::held::HeldCall;

use super::mode::Mode;
use crate::event::Caller;
use crate::ids::RequestId;

/// The decision about a call before it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    /// The person sees it first.
    Show,
    /// It runs without a question.
    Let,
    /// It is as the agent itself has it.
    Leave,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Does {
    RunCommand,
    /// It changes a file of which this is known.
    Change(Coverage),
}

/// A call whose hook is to wait for the person.
#[derive(Debug)]
pub(crate) struct HeldHook {
    /// The agent's name for it.
    pub(crate) call: String,
    pub(crate) request: RequestId,
    pub(crate) held: HeldCall,
    pub(crate) caller: Caller,
}

impl Mode {
    /// Returns what becomes of a call.
    pub(crate) fn before(&self, does: Does) -> Before {
        match (self.review(), does) {
            (_, Does::Change(Coverage::Unchanged)) => Before::Leave,
            (_, Does::RunCommand) if self.shows_commands() => Before::Show,
            (_, Does::RunCommand) => Before::Leave,
            (Some(ReviewMode::Always), _) => Before::Show,
            (Some(ReviewMode::After), Does::Change(coverage)) => match coverage {
                Coverage::Elsewhere | Coverage::Leads | Coverage::Unchanged => Before::Leave,
                Coverage::Kept => Before::Let,
                // What cannot be taken back in time is shown first: agents themselves ask about few of these files.
                Coverage::NotKept | Coverage::RunsCode => Before::Show,
            },
            (Some(ReviewMode::Asked) | None, _) => Before::Leave,
        }
    }
}

#[cfg(test)]
mod tests {
    use pillion_protocol::ReviewChoice;

    use super::*;

    fn chosen(choices: &[ReviewChoice]) -> Mode {
        let mut mode = Mode::default();
        choices.iter().for_each(|choice| mode.choose(*choice));
        mode
    }

    #[test]
    fn whether_it_asks_now_is_one_table() {
        use Before::{Leave, Let, Show};
        use Coverage::{Elsewhere, Kept, NotKept, RunsCode, Unchanged};
        use Does::{Change, RunCommand};
        use ReviewChoice::{After, Always, Asked, Commands, NoCommands};
        let does = [
            RunCommand,
            Change(Kept),
            Change(NotKept),
            Change(Elsewhere),
            Change(RunsCode),
        ];
        for (choices, expected) in [
            (&[][..], [Leave; 5]),
            (&[Asked], [Leave; 5]),
            (&[Always], [Leave, Show, Show, Show, Show]),
            (&[After], [Leave, Let, Show, Leave, Show]),
            (&[Commands], [Show, Leave, Leave, Leave, Leave]),
            (&[Asked, Commands], [Show, Leave, Leave, Leave, Leave]),
            (&[Always, Commands], [Show; 5]),
            (&[After, Commands], [Show, Let, Show, Leave, Show]),
            (
                &[Commands, NoCommands, After],
                [Leave, Let, Show, Leave, Show],
            ),
        ] {
            let mode = chosen(choices);
            assert_eq!(mode.before(Change(Unchanged)), Leave, "{choices:?}");
            assert_eq!(does.map(|it| mode.before(it)), expected, "{choices:?}");
        }
        // A turn that began without its hooks: nothing can make it ask.
        let mut mode = chosen(&[Always]);
        mode.turn_begins();
        assert_eq!(does.map(|it| mode.before(it)), [Leave; 5]);
    }
}
