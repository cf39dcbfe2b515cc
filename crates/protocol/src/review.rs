//! The review mode of an agent: when it asks the person before it changes something. Its start says with which it begins,
//! and a person can choose another.

use serde::{Deserialize, Serialize};

/// The cases in which an agent asks before it changes a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReviewMode {
    /// Before each change, whatever its permission mode.
    Always,
    /// As its permission mode has it.
    Asked,
    /// Not at all about files in the workspace: the person looks at its changes when they are written.
    After,
}

/// A person's choice for one process of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProcessChoice {
    /// The process.
    pub process: AgentProcess,
    /// The cases in which it asks; none if that is as it was started.
    pub mode: Option<ReviewMode>,
    /// True if its shell commands are shown before they run.
    pub shows_commands: bool,
}

/// A process of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentProcess {
    /// Its id.
    pub pid: u32,
    /// The time when it started, in the system's own unit: an id is given again.
    pub started_at: u64,
}

/// One word by which a person changes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReviewChoice {
    /// [`ReviewMode::Always`].
    Always,
    /// [`ReviewMode::Asked`].
    Asked,
    /// [`ReviewMode::After`].
    After,
    /// Shell commands are shown before they run, too.
    Commands,
    /// They are not.
    NoCommands,
    /// No choice of a mode: what agents have written and nobody has seen is shown.
    Changes,
}

impl ReviewMode {
    /// Its word in options and settings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Asked => "asked",
            Self::After => "after",
        }
    }

    /// The mode of this word; [`Asked`](Self::Asked) for any other.
    pub fn named(word: &str) -> Self {
        let modes = [Self::Always, Self::After];
        let found = modes.into_iter().find(|mode| mode.name() == word);
        found.unwrap_or(Self::Asked)
    }
}

impl ReviewChoice {
    /// All that there are.
    pub const ALL: [Self; 6] = [
        Self::Always,
        Self::Asked,
        Self::After,
        Self::Commands,
        Self::NoCommands,
        Self::Changes,
    ];

    /// The word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Always => ReviewMode::Always.name(),
            Self::Asked => ReviewMode::Asked.name(),
            Self::After => ReviewMode::After.name(),
            Self::Commands => "commands",
            Self::NoCommands => "no-commands",
            Self::Changes => "changes",
        }
    }

    /// The words of all, for people.
    pub fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    /// The choice of this word.
    ///
    /// # Errors
    /// One sentence with the words that there are.
    pub fn named(word: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|choice| choice.name() == word);
        found.ok_or_else(|| format!("{word:?} is none of {}", Self::names()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_is_found_by_its_word() {
        for choice in ReviewChoice::ALL {
            assert_eq!(ReviewChoice::named(choice.name()), Ok(choice));
        }
        for word in ["", "Always", "always "] {
            let refused = ReviewChoice::named(word).unwrap_err();
            assert!(
                refused
                    .ends_with("is none of always, asked, after, commands, no-commands, changes"),
                "{refused}"
            );
        }
    }
}
