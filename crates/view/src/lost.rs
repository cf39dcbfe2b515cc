//! The accepted texts that never reached their agent, for the person who accepted them.

use std::fmt;
use std::path::PathBuf;

use pillion_discovery::exact;
use pillion_protocol::Proposer;
use serde::{Deserialize, Serialize};

/// The reason why no agent takes a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Loss {
    /// It was accepted, and the agent never received it.
    Undelivered,
    /// The person was editing it when the person answered in the agent's own window, and the agent
    /// takes only answers from there.
    Unused,
    /// The person wrote it in one view, and decided in another, or by a command.
    DecidedElsewhere,
    /// The agent has received it, and has not written the file.
    Unwritten,
    /// The agent has received it, and the file has something else.
    Different,
    /// The file changed again before the agent could be told to write it.
    FileChanged,
    /// The agent has no way to write just that.
    Inexpressible,
    /// It belongs to a set of which the agent writes nothing.
    WithItsSet,
    /// Nobody was shown it: its agent would have found the text that it replaces where blanks differ.
    Unshown,
}

/// An accepted text that never reached its agent, for the person who accepted it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostOutcome {
    /// Whose proposal it was.
    pub proposer: Proposer,
    /// The reason why it does not have it.
    pub how: Loss,
    /// The file that was not written, as the agent spells it.
    #[serde(with = "exact::path")]
    pub path: PathBuf,
    /// The state of the text.
    pub text: LostText,
}

impl Loss {
    /// The reason in a few words, of a text that was to be written for this proposer.
    pub fn why(self, proposer: Proposer) -> String {
        let agent = proposer.display_name();
        match self {
            Self::DecidedElsewhere => "it was decided in another window".to_owned(),
            Self::FileChanged => "the file changed again".to_owned(),
            Self::Undelivered => format!("{agent} never received it"),
            Self::Unused => format!("{agent} does not use it"),
            Self::Unwritten => format!("{agent} did not write it"),
            Self::Different => format!("{agent} wrote something else"),
            Self::Inexpressible => format!("{agent} has no way to write it"),
            Self::WithItsSet => format!("{agent} writes nothing of its set"),
            Self::Unshown => "it was not shown".to_owned(),
        }
    }
}

/// One sentence, what matters most first: editors cut what is long.
impl fmt::Display for LostOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (agent, path) = (self.proposer.display_name(), self.path.display());
        let why = match self.how {
            Loss::Undelivered => "never received what you accepted for",
            Loss::Unused => "does not use your edits of",
            // Below: they are not about the agent.
            Loss::DecidedElsewhere | Loss::FileChanged | Loss::Unshown => "does not use",
            Loss::Unwritten => "did not write what you accepted for",
            Loss::Different => "did not write exactly what you accepted for",
            Loss::Inexpressible => "has no way to write what you accepted for",
            Loss::WithItsSet => "writes nothing of the set of",
        };
        let what = match self.how {
            Loss::DecidedElsewhere => format!("{path} was decided in another window"),
            Loss::FileChanged => format!("{path} changed again after you accepted its change"),
            Loss::Unshown => format!(
                "{agent} has named lines of {path} that are not there exactly; its edit was not shown, and its model is told to read the file"
            ),
            _ => format!("{agent} {why} {path}"),
        };
        match &self.text {
            LostText::AsProposed => write!(f, "nothing was written: {what}"),
            LostText::Kept(file) => {
                write!(f, "your text is kept in {}: {what}", file.display())
            }
            LostText::NotKept(error) => write!(
                f,
                "your text for {path} is lost: {}, and it could not be saved: {error}",
                self.how.why(self.proposer)
            ),
        }
    }
}

/// The state of a text that never reached its agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LostText {
    /// The agent had proposed just this: the person loses nothing of theirs.
    AsProposed,
    /// The person had edited it. It is in this private file, which is theirs.
    Kept(#[serde(with = "exact::path")] PathBuf),
    /// The person had edited it, and no file could be written, for this reason.
    NotKept(String),
}

#[cfg(test)]
mod tests {
    use pillion_protocol::Dialect;

    use super::*;

    #[test]
    fn each_loss_names_agent_file_and_place() {
        let link = pillion_discovery::FileError::Link("/tmp/x".into());
        let kept = || LostText::Kept("/tmp/k/a.rs".into());
        for (how, text, expected) in [
            (
                Loss::Undelivered,
                LostText::AsProposed,
                "nothing was written: Gemini CLI never received what you accepted for /w/a.rs",
            ),
            (
                Loss::Undelivered,
                kept(),
                "your text is kept in /tmp/k/a.rs: Gemini CLI never received what you accepted for /w/a.rs",
            ),
            (
                Loss::Unused,
                kept(),
                "your text is kept in /tmp/k/a.rs: Gemini CLI does not use your edits of /w/a.rs",
            ),
            (
                Loss::Unwritten,
                LostText::AsProposed,
                "nothing was written: Gemini CLI did not write what you accepted for /w/a.rs",
            ),
            (
                Loss::Different,
                kept(),
                "your text is kept in /tmp/k/a.rs: Gemini CLI did not write exactly what you accepted for /w/a.rs",
            ),
            (
                Loss::DecidedElsewhere,
                kept(),
                "your text is kept in /tmp/k/a.rs: /w/a.rs was decided in another window",
            ),
            (
                Loss::FileChanged,
                LostText::AsProposed,
                "nothing was written: /w/a.rs changed again after you accepted its change",
            ),
            (
                Loss::FileChanged,
                kept(),
                "your text is kept in /tmp/k/a.rs: /w/a.rs changed again after you accepted its change",
            ),
            (
                Loss::Inexpressible,
                kept(),
                "your text is kept in /tmp/k/a.rs: Gemini CLI has no way to write what you accepted for /w/a.rs",
            ),
            (
                Loss::Undelivered,
                LostText::NotKept(link.to_string()),
                "your text for /w/a.rs is lost: Gemini CLI never received it, and it could not be saved: \
                 \"/tmp/x\" is a symbolic link",
            ),
        ] {
            let (proposer, path) = (
                Proposer::Agent(Dialect::GeminiCli),
                PathBuf::from("/w/a.rs"),
            );
            assert_eq!(
                LostOutcome {
                    proposer,
                    how,
                    path,
                    text
                }
                .to_string(),
                expected
            );
        }
    }
}
