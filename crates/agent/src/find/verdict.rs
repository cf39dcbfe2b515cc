//! An agent's verdict on each discovery file, and why.

use std::io::ErrorKind;
use std::path::PathBuf;

/// A discovery file of one agent, on this machine.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The path of the file.
    pub path: PathBuf,
    /// The port that it names, if it can be dialled.
    pub port: Option<u16>,
    /// Its workspace roots.
    pub roots: Vec<PathBuf>,
    /// The agent's verdict on it.
    pub verdict: Verdict,
}

/// The verdict on a discovery file. `Display` says it to people, as what follows the file's name.
#[derive(Debug, Clone, PartialEq, Eq, derive_more::Display)]
pub enum Verdict {
    /// The agent takes it.
    #[display("chosen")]
    Chosen,
    /// The agent takes it only to name its folders when it refuses: none fits.
    #[display(
        "is for another workspace, like all others; the agent shows its folders in its message"
    )]
    ChosenToExplain,
    /// The agent dials it if the chosen one does not answer.
    #[display("tried if the chosen one does not respond")]
    Fallback,
    /// It would do, but another goes first.
    #[display("second choice: {_0}")]
    SecondChoice(Preference),
    /// The agent's folder is in none of its roots.
    #[display("is for another workspace")]
    OtherWorkspace,
    /// Several fit, and the agent then takes none of them.
    #[display("matches, and so does another: the agent then connects to none on its own")]
    Ambiguous,
    /// The agent's terminal is one of an editor, and not of the process that this file names.
    #[display("belongs to a process other than this terminal's editor")]
    OtherTerminal,
    /// It names no workspace.
    #[display("names no workspace")]
    NoWorkspace,
    /// It belongs to another user.
    #[display("belongs to another user")]
    OtherUser,
    /// It cannot be read.
    #[display("cannot be read: {_0}")]
    Unreadable(ErrorKind),
    /// Its content is not a discovery file's.
    #[display("is malformed")]
    Malformed,
    /// Another file of the folder cannot be read, and this release then takes none.
    #[display(
        "is ignored: another file next to it cannot be read, and this release then ignores them all"
    )]
    Spoiled,
    /// Its process is gone, and the agent passes it over.
    #[display("is ignored: its process is gone")]
    Dead,
    /// The agent takes it for stale and deletes it.
    #[display("is stale: {_0}; the agent deletes it")]
    Stale(Stale),
    /// This release, or an agent with these variables or in this terminal, does not look there.
    #[display(
        "is not read: it is for other releases or terminals, or for a variable that is not set"
    )]
    NotLookedAt,
}

/// Why another file goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, derive_more::Display)]
pub enum Preference {
    /// This variable holds the other's port.
    #[display("{_0} holds the port of another")]
    PortVariable(&'static str),
    /// The other is for the agent's own editor process.
    #[display("another belongs to the agent's own editor process")]
    OwnProcess,
    /// The other's process lives, and this one's does not.
    #[display("the process of another is running")]
    LivingProcess,
    /// The other's process id is larger.
    #[display("another has a larger process id")]
    LargerPid,
    /// The other's name comes first in the alphabet.
    #[display("another has a file name that sorts first")]
    FirstName,
    /// The other was written later.
    #[display("another is newer")]
    Newer,
    /// The other lies where the agent looks first.
    #[display("another is where the agent looks first")]
    FirstPlace,
}

/// Why an agent takes a lock file for stale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, derive_more::Display)]
pub enum Stale {
    /// The process that it names is gone, or another user's; or it names none, and nothing listens.
    #[display("its process is gone")]
    ProcessGone,
    /// There is no `ppid`, and `workspacePath` as a whole is not the path of anything.
    #[display("it names no process and its workspacePath is not a folder")]
    NoFolder,
}

impl Verdict {
    /// Returns true if the agent goes on with what this file says.
    pub fn is_chosen(&self) -> bool {
        matches!(self, Self::Chosen | Self::ChosenToExplain)
    }
}
