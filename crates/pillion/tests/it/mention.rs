//! `pillion mention` and `pillion focus FILE:FROM-TO`, as Claude Code gets them.

use pillion_protocol::claude::LockFile;
use pillion_testkit::SOON;
use pillion_testkit::client::Address;
use pillion_testkit::client::claude::{Client, Selection, Update, Updates};

use crate::sandbox::{Sandbox, Serve};

fn address(serve: &Serve) -> Address {
    let mut files = serve.files().into_iter();
    let lock = files.find(|file| file.to_string_lossy().contains("/.claude/ide/"));
    let lock = std::fs::read(lock.unwrap()).unwrap();
    let lock: LockFile = serde_json::from_slice(&lock).unwrap();
    Address::new(serve.port()).with_token(lock.auth_token.unwrap())
}

fn runtime() -> tokio::runtime::Runtime {
    pillion_agent::runtime().unwrap()
}

/// The path of the next mention.
async fn next(updates: &mut Updates) -> String {
    loop {
        let update = tokio::time::timeout(SOON, updates.next()).await.unwrap();
        if let Update::Mention(mention) = update.unwrap() {
            return mention.path;
        }
    }
}

#[test]
fn a_mention_needs_an_agent_that_knows_them() {
    let sandbox = Sandbox::new();
    let serve = sandbox.serve::<&str>([]);
    sandbox.home.file("a b.rs", "one\ntwo\nthree\n");
    let gemini = serve.connect();
    let refused = sandbox.run(["mention", "a b.rs"]);
    let refused = refused.expect_error(1, "no connected agent supports mentions", "Claude");
    assert_eq!(refused.stdout, "");
    drop(gemini);
    runtime().block_on(async {
        let (_claude, mut updates) = Client::connect(address(&serve)).await.unwrap();
        for (argument, expected) in [
            ("a b.rs", "a b.rs"),
            ("a b.rs:2", "a b.rs#L2"),
            ("a b.rs:2-9", "a b.rs#L2-3"),
        ] {
            let ran = sandbox.run(["mention", argument]).expect(0);
            assert!(ran.stderr.contains("Claude Code"), "{}", ran.stderr);
            let mentioned = next(&mut updates).await;
            let path = sandbox.home.workspace().join(expected);
            assert_eq!(mentioned, format!("\"{}\"", path.display()));
        }
        for (argument, error) in [
            ("nowhere", "there is no file nowhere"),
            ("a b.rs:3-2", "is not a position in a b.rs"),
            ("a b.rs:0", "is not a position in a b.rs"),
            (".", "is a folder"),
        ] {
            let ran = sandbox.run(["mention", argument]);
            ran.expect_error(1, error, "");
        }
        // Nothing of these came.
        sandbox.run(["mention", "a b.rs:1"]).expect(0);
        assert!(next(&mut updates).await.ends_with("#L1\""));
    });
}

#[test]
fn selected_lines_come_with_their_text_and_place() {
    let sandbox = Sandbox::new();
    let serve = sandbox.serve::<&str>([]);
    let file = sandbox.home.file("a.rs", "one\nzwei \u{1f600}\nthree");
    runtime().block_on(async {
        let (_claude, mut updates) = Client::connect(address(&serve)).await.unwrap();
        let mut last = None;
        let mut select = async |args: &[&str]| -> Selection {
            sandbox.run(args).expect(0);
            loop {
                let update = tokio::time::timeout(SOON, updates.next()).await.unwrap();
                match update.unwrap() {
                    // The last one comes again once the agent surely listens.
                    Update::Selection(selection)
                        if selection.path.is_some() && last.as_ref() != Some(&selection) =>
                    {
                        last = Some(selection.clone());
                        return selection;
                    }
                    _ => {}
                }
            }
        };
        let lines = |selection: &Selection| (selection.range.start.line, selection.range.end.line);
        let selected = select(&["focus", "a.rs:2-3"]).await;
        assert_eq!(selected.path.as_deref(), file.to_str());
        assert_eq!(selected.text, "zwei \u{1f600}\nthree");
        assert_eq!(lines(&selected), (1, 3));
        let selected =
            select(&["focus", "a.rs:1-1", "--selection", "as it is in the buffer"]).await;
        assert_eq!(selected.text, "as it is in the buffer");
        assert_eq!(lines(&selected), (0, 1));
        let selected = select(&["focus", "a.rs:2:3"]).await;
        assert_eq!((selected.text.as_str(), lines(&selected)), ("", (1, 1)));
        assert_eq!(selected.range.start.character, 2);
    });
}
