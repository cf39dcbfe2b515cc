//! What people are told when an agent never received what they accepted.

use pillion_companion::{LostOutcome, LostText};

/// One sentence, what matters most first: editors cut what is long.
pub fn sentence(lost: &LostOutcome) -> String {
    let (agent, path) = (lost.agent.display_name(), lost.path.display());
    match &lost.text {
        LostText::AsProposed => {
            format!("nothing was written: {agent} never received what you accepted for {path}")
        }
        LostText::Kept(file) => format!(
            "your text is kept in {}: {agent} never received what you accepted for {path}",
            file.display()
        ),
        LostText::NotKept(error) => format!(
            "your text for {path} is lost: {agent} never received it, and it cannot be kept: {error}"
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use pillion_discovery::FileError;
    use pillion_protocol::Dialect;

    use super::*;

    #[test]
    fn each_loss_says_who_what_and_where() {
        let link = FileError::Link("/tmp/x".into());
        for (text, expected) in [
            (
                LostText::AsProposed,
                "nothing was written: Gemini CLI never received what you accepted for /w/a.rs",
            ),
            (
                LostText::Kept("/tmp/k/a.rs".into()),
                "your text is kept in /tmp/k/a.rs: Gemini CLI never received what you accepted for /w/a.rs",
            ),
            (
                LostText::NotKept(link),
                "your text for /w/a.rs is lost: Gemini CLI never received it, and it cannot be kept: \
                 \"/tmp/x\" is a symbolic link",
            ),
        ] {
            let (agent, path) = (Dialect::GeminiCli, PathBuf::from("/w/a.rs"));
            assert_eq!(sentence(&LostOutcome { agent, path, text }), expected);
        }
    }
}
