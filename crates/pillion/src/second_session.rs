//! Asks before a command opens a session with a companion that may bear no second one.

use pillion_discovery::survey::Companion;
use pillion_text::stderr;

use crate::failure::{Failure, Kind};
use crate::person::Person;

/// `--yes` of the commands that open a session.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub struct Consent {
    /// Do not ask before opening a session with a companion that is not Pillion's. Such a companion
    /// may serve only one session; an agent that is connected to it then stops getting answers
    #[arg(long)]
    yes: bool,

    /// Whose port was asked about already.
    #[arg(skip)]
    asked: Option<u16>,
}

impl Consent {
    /// Asks, where it has to be asked: at a terminal.
    ///
    /// # Errors
    /// [`Kind::Refused`] when the answer is no, [`Kind::Usage`] when there is no terminal to ask on.
    pub fn ask(&mut self, companion: &Companion) -> anyhow::Result<()> {
        let is_known = self.asked.replace(companion.port) == Some(companion.port);
        if self.yes || is_known || companion.is_pillion() {
            return Ok(());
        }
        let warning = warning(companion);
        let Some(mut person) = Person::at_terminal() else {
            let hint = "If no agent is connected to it, or losing that agent is fine, add --yes. `pillion list` and `pillion doctor` open no session.";
            return Err(Failure::new(Kind::Usage, warning).hint(hint).into());
        };
        stderr::warn(format_args!("{warning}."));
        if person.agrees("Open a session anyway?")? {
            return Ok(());
        }
        Err(Failure::new(Kind::Refused, "no session was opened").into())
    }
}

/// The warning about what a second session may do to the first, as one sentence without its full stop.
pub fn warning(companion: &Companion) -> String {
    let (name, port) = (companion.display_name(), companion.port);
    format!(
        "the companion of {name} (port {port}) is not Pillion's and may serve only one session, as VS Code's does: an agent that is connected to it then stops getting answers until it is restarted"
    )
}
