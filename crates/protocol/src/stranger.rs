//! Whoever asks and is not the person: what is said to them.

use serde::{Deserialize, Serialize};

use crate::dialect::Dialect;

/// Whoever is not the person, as far as it can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Stranger {
    /// This agent has started it.
    Agent(Dialect),
    /// Nothing shows that the person has started it.
    Unknown,
    /// It is the person's editor, and another program, of which nothing shows that it is theirs, may type there.
    Beside,
}

impl Stranger {
    /// Says why a command does not count.
    pub fn of_command(self) -> String {
        match self {
            Self::Agent(agent) => {
                format!("this command was started by {agent}: it does not speak for you")
            }
            Self::Unknown => {
                "nothing shows that you have started this command: neither a terminal \
                 that you use nor a view of yours is above it, and an agent may have left it behind"
                    .to_owned()
            }
            Self::Beside => self.of_window(),
        }
    }

    /// Says where the person can give it.
    pub fn hint(self) -> String {
        match self {
            Self::Agent(agent) => {
                format!("Decide in the view, or in a terminal that {agent} has not started.")
            }
            Self::Unknown => "Type it in a terminal of your own, or decide in the view.".to_owned(),
            Self::Beside => "Close that program, or decide in `pillion review`.".to_owned(),
        }
    }

    /// Says why a browser is shown nothing.
    pub fn of_browser(self) -> String {
        match self {
            Self::Agent(agent) => format!(
                "this browser, or the program that asks, was started by {agent}, and does not speak for you: quit it, and start it from the desktop"
            ),
            Self::Unknown | Self::Beside => "nothing shows that you have started this browser, and an agent may have: quit it, and start it from the desktop".to_owned(),
        }
    }

    /// Says why what comes from a window does not count.
    pub fn of_window(self) -> String {
        match self {
            Self::Agent(agent) => format!(
                "this window was started by {agent}, and does not speak for you: do it in one that you have opened"
            ),
            Self::Unknown => "nothing shows that you have opened this window, and an agent may have: do it in one that you have opened from a terminal".to_owned(),
            Self::Beside => "another program is connected to this editor, and nothing shows that it is yours: close that, or decide in `pillion review`".to_owned(),
        }
    }
}
