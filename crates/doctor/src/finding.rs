//! The doctor's findings: a closed list, each with an id that people can search for.
//!
//! `docs/doctor.md` explains every id; a test holds that page and this list together.

use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Worth knowing; nothing is wrong.
    Note,
    /// The agent connects anyway, or would but for another finding.
    Warning,
    /// It keeps the agent from connecting, or the changes of one that opens no session from being shown.
    Problem,
}

/// One leg of the way from the agent to the editor, in the order in which it is walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// The release that is installed, and the programs that it needs to run.
    Agent,
    /// The settings, which must turn IDE mode on.
    Settings,
    /// The folders, in which it must look for companions where they are.
    Folders,
    /// The discovery file that it takes.
    Companion,
    /// The way to the companion, through hosts and proxies.
    Connection,
    /// The tools and the context of the companion then.
    Session,
}

impl Step {
    pub const ALL: [Self; 6] = [
        Self::Agent,
        Self::Settings,
        Self::Folders,
        Self::Companion,
        Self::Connection,
        Self::Session,
    ];

    /// The name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Settings => "IDE mode",
            Self::Folders => "folders",
            Self::Companion => "companion",
            Self::Connection => "connection",
            Self::Session => "session",
        }
    }
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $text:literal in $step:ident,)*) => {
        /// The kind of a finding. The texts are stable: scripts compare them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
        pub enum Id { $($(#[$doc])* #[serde(rename = $text)] $name,)* }

        impl Id {
            /// Every one, in the order of the walk.
            #[cfg(test)]
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            pub fn step(self) -> Step {
                match self { $(Self::$name => Step::$step,)* }
            }
        }
    };
}

ids! {
    /// There is no such command.
    NotInstalled = "agent-not-installed" in Agent,
    /// Neither its package nor the command itself shows its release.
    ReleaseUnknown = "agent-release-unknown" in Agent,
    /// It is older than the releases whose ways are known.
    TooOld = "agent-too-old" in Agent,
    /// The program that runs it is missing.
    NodeMissing = "node-missing" in Agent,
    /// It cannot see its own process tree (C2.3).
    PsMissing = "ps-missing" in Agent,
    /// A settings file that it does not understand.
    SettingsBroken = "settings-broken" in Settings,
    /// It does not look for a companion at all.
    IdeModeOff = "ide-mode-off" in Settings,
    /// It makes changes without asking.
    NoDiffs = "changes-without-asking" in Settings,
    /// It shows its changes in its own window.
    DiffsInTerminal = "diffs-in-terminal" in Settings,
    /// Pillion's hooks are not in its settings.
    HookMissing = "hook-missing" in Settings,
    /// It does not run Pillion's hooks before the person has agreed.
    HookUntrusted = "hook-untrusted" in Settings,
    /// A setting turns Pillion's hooks off.
    HooksDisabled = "hooks-disabled" in Settings,
    /// An entry is not as this Pillion writes it.
    HookOutdated = "hook-outdated" in Settings,
    /// The program of Pillion's hooks is gone.
    HookProgram = "hook-program-missing" in Settings,
    /// Pillion's hooks are there, and the agent runs them.
    HooksInstalled = "hooks-installed" in Settings,
    /// A companion is there, but not where this terminal's agents look.
    TmpdirDiffers = "tmpdir-differs" in Folders,
    /// Nothing is there for it.
    NoCompanion = "no-companion" in Companion,
    /// One serves the folder, and has no file for this agent.
    NoFile = "no-discovery-file" in Companion,
    /// Companions are there, for other folders (C2.5).
    WrongFolder = "wrong-folder" in Companion,
    /// A file whose companion is gone (C6.2).
    DeadCompanion = "dead-companion" in Companion,
    /// It serves the folder, and the agent takes it for another reason not.
    NotTaken = "companion-not-taken" in Companion,
    /// Two companions that it cannot tell apart (C2.7).
    SeveralCompanions = "several-companions" in Companion,
    /// The companion runs in a program of another version.
    HubVersion = "hub-version" in Companion,
    /// The port variable names a companion that is gone, or another folder's (C2.6).
    StaleVariable = "stale-variable" in Companion,
    /// It dials a name that does not lead to the companion.
    ContainerHost = "container-host" in Connection,
    /// Somebody else listens on the companion's port.
    PortTaken = "port-taken" in Connection,
    /// The token in the file is not the companion's.
    TokenRefused = "token-refused" in Connection,
    /// The companion does not answer.
    NoAnswer = "no-answer" in Connection,
    /// No editor of the companion shows diffs, which stay in the agent (C5.1, C5.4).
    DiffsHidden = "diffs-hidden" in Session,
    /// Nobody answers where the agent asks for its context.
    NoContext = "no-context" in Session,
}

/// One thing that was found, as `--json` prints it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub id: Id,
    pub level: Level,
    /// The finding, as a sentence without its period.
    pub what: String,
    pub why: String,
    /// The fix: a command to paste, or one to type into the agent if it starts with `/`.
    pub fix: Option<String>,
}

impl Finding {
    fn new(id: Id, level: Level, what: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            id,
            level,
            what: what.into(),
            why: why.into(),
            fix: None,
        }
    }

    pub fn problem(id: Id, what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::new(id, Level::Problem, what, why)
    }

    pub fn warning(id: Id, what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::new(id, Level::Warning, what, why)
    }

    pub fn note(id: Id, what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::new(id, Level::Note, what, why)
    }

    /// A problem if it `blocks` the way, else a warning.
    pub fn blocking(blocks: bool, id: Id, what: impl Into<String>, why: impl Into<String>) -> Self {
        let level = if blocks {
            Level::Problem
        } else {
            Level::Warning
        };
        Self::new(id, level, what, why)
    }

    #[must_use]
    pub fn fix(mut self, command: impl Into<String>) -> Self {
        self.fix = Some(command.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/doctor.md"));

    #[test]
    fn the_page_explains_every_finding_in_the_order_of_the_walk() {
        let mut described = PAGE.lines().filter_map(|line| line.strip_prefix("### "));
        for id in Id::ALL {
            assert_eq!(described.next(), Some(id.as_str()));
        }
        assert_eq!(described.next(), None);
        assert!(Id::ALL.is_sorted_by_key(|id| id.step()));
    }

    #[test]
    fn an_id_is_a_word_that_people_can_search_for() {
        for id in Id::ALL {
            let text = id.as_str();
            let fits = |char: char| char.is_ascii_lowercase() || char == '-';
            assert!(text.len() > 5 && text.chars().all(fits), "{text}");
            let same = Id::ALL.iter().filter(|other| other.as_str() == text);
            assert_eq!(same.count(), 1, "{text}");
        }
    }
}
