//! Programs that propose over the companion's own socket.

use pillion_protocol::{Dialect, ProposedFile, Proposer};
use pillion_view::ask::Propose;
use tokio::task::spawn_blocking;

use crate::support::TestCompanion;

impl TestCompanion {
    /// Proposes these files, and returns the refusal if they are refused.
    async fn propose(&self, agent: Option<Dialect>, names: &[&str]) -> Result<(), String> {
        let files = names.iter();
        let files = files.map(|name| ProposedFile::new(self.path(name), "x"));
        let files = files.collect();
        let client = pillion_view::Client::new(&self.state()).unwrap();
        let propose = Propose {
            files,
            agent,
            session: None,
            process: None,
        };
        let proposed = spawn_blocking(move || client.ask(propose));
        proposed.await.unwrap().map_err(|why| why.to_string())
    }
}

#[tokio::test]
async fn what_is_proposed_is_the_agents_for_which_it_is_or_pillions() {
    for (agent, expected) in [
        (None, Proposer::Pillion),
        (Some(Dialect::CodexCli), Proposer::For(Dialect::CodexCli)),
        (Some(Dialect::GeminiCli), Proposer::For(Dialect::GeminiCli)),
    ] {
        let mut companion = TestCompanion::start();
        let mut editor = std::mem::replace(&mut companion.editor, crate::support::stand_in().1);
        let (proposed, diff) = tokio::join!(companion.propose(agent, &["a"]), editor.show());
        assert_eq!(proposed, Ok(()));
        assert_eq!(diff.proposer, expected);
    }
}

#[tokio::test]
async fn a_set_has_each_file_once_and_not_too_many() {
    let mut companion = TestCompanion::start();
    let mut editor = std::mem::replace(&mut companion.editor, crate::support::stand_in().1);
    let twice = companion.propose(None, &["a", "b", "a"]).await;
    assert_eq!(twice, Err("one file is in the set twice".to_owned()));
    let many: Vec<_> = (0..101).map(|number| number.to_string()).collect();
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    let many = companion.propose(None, &many).await;
    assert_eq!(many, Err("a set has at most 100 files".to_owned()));
    assert!(editor.is_idle(), "nothing of it is shown");
}
