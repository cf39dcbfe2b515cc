//! What an agent makes of each discovery file, and why.

use std::fmt;
use std::io::ErrorKind;
use std::path::PathBuf;

/// A discovery file of one agent, on this machine.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// Where it is.
    pub path: PathBuf,
    /// The port that it names, if it can be dialled.
    pub port: Option<u16>,
    /// Its workspace roots.
    pub roots: Vec<PathBuf>,
    /// What becomes of it.
    pub verdict: Verdict,
}

/// What becomes of a discovery file. `Display` says it to people, as what follows the file's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The agent takes it.
    Chosen,
    /// The agent takes it only to name its folders when it refuses: none fits.
    ChosenToExplain,
    /// The agent dials it if the chosen one does not answer.
    Fallback,
    /// It would do, but another goes first.
    SecondChoice(Preference),
    /// It is for the editor process `pid`, and the agent looks for `wanted` only.
    OtherProcess {
        /// The process in the file's name.
        pid: u64,
        /// The process that the agent takes for its editor; none if it found none.
        wanted: Option<u32>,
    },
    /// The agent's folder is in none of its roots.
    OtherWorkspace,
    /// Several fit, and the agent then takes none of them.
    Ambiguous,
    /// The agent's terminal is one of an editor, and not of the process that this file names.
    OtherTerminal,
    /// It names no workspace.
    NoWorkspace,
    /// It belongs to another user.
    OtherUser,
    /// It cannot be read.
    Unreadable(ErrorKind),
    /// Its content is not a discovery file's.
    Malformed,
    /// Another file of the folder cannot be read, and this release then takes none.
    Spoiled,
    /// The agent's attempt ends with an error at this file.
    EndsAttempt,
    /// The agent takes it for stale and deletes it.
    Stale(Stale),
    /// This release, or an agent with these variables, does not look there.
    NotLookedAt,
}

/// Why another file goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preference {
    /// This variable holds the other's port.
    PortVariable(&'static str),
    /// The other is for the agent's own editor process.
    OwnProcess,
    /// The other's process lives, and this one's does not.
    LivingProcess,
    /// The other's process id is larger.
    LargerPid,
    /// The other's name comes first in the alphabet.
    FirstName,
    /// The other was written later.
    Newer,
    /// The other lies where the agent looks first.
    FirstPlace,
}

/// Why an agent takes a lock file for stale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stale {
    /// The process that it names is gone, or another user's; or it names none, and nothing listens.
    ProcessGone,
    /// There is no `ppid`, and `workspacePath` as a whole is not the path of anything.
    NoFolder,
}

impl Verdict {
    /// Whether the agent goes on with what this file says.
    pub fn is_chosen(&self) -> bool {
        matches!(self, Self::Chosen | Self::ChosenToExplain)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chosen => f.write_str("chosen"),
            Self::ChosenToExplain => {
                f.write_str("is for another workspace, like all others; the agent shows its folders in its message")
            }
            Self::Fallback => f.write_str("tried if the chosen one does not respond"),
            Self::SecondChoice(preference) => write!(f, "second choice: {preference}"),
            Self::OtherProcess { pid, wanted: Some(wanted) } => {
                write!(f, "is for process {pid}; this release looks only for {wanted}")
            }
            Self::OtherProcess { pid, wanted: None } => {
                write!(f, "is for process {pid}; this release found no editor process")
            }
            Self::OtherWorkspace => f.write_str("is for another workspace"),
            Self::Ambiguous => {
                f.write_str("matches, and so does another: the agent then connects to none on its own")
            }
            Self::OtherTerminal => f.write_str(
                "belongs to a process other than this terminal's editor",
            ),
            Self::NoWorkspace => f.write_str("names no workspace"),
            Self::OtherUser => f.write_str("belongs to another user"),
            Self::Unreadable(kind) => write!(f, "cannot be read: {kind}"),
            Self::Malformed => f.write_str("is malformed"),
            Self::Spoiled => f.write_str(
                "is ignored: another file next to it cannot be read, and this release then ignores them all",
            ),
            Self::EndsAttempt => {
                f.write_str("makes this release fail: it cannot handle this workspacePath")
            }
            Self::Stale(Stale::ProcessGone) => {
                f.write_str("is stale: its process is gone; the agent deletes it")
            }
            Self::Stale(Stale::NoFolder) => f.write_str(
                "is stale: it names no process and its workspacePath is not a folder; the agent deletes it",
            ),
            Self::NotLookedAt => f.write_str(
                "is not read: it is for other releases, or for a variable that is not set",
            ),
        }
    }
}

impl fmt::Display for Preference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PortVariable(name) => write!(f, "{name} holds the port of another"),
            Self::OwnProcess => f.write_str("another belongs to the agent's own editor process"),
            Self::LivingProcess => f.write_str("the process of another is running"),
            Self::LargerPid => f.write_str("another has a larger process id"),
            Self::FirstName => f.write_str("another has a file name that sorts first"),
            Self::Newer => f.write_str("another is newer"),
            Self::FirstPlace => f.write_str("another is where the agent looks first"),
        }
    }
}
