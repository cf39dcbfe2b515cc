//! Texts that an agent writes are not what the person works on.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pillion_protocol::{File, Outcome};
use pillion_view::Tell;
use serde_json::{Value, json};

use super::client::Claude;
use crate::support::TestCompanion;

fn hook(subagent: &str) -> Value {
    json!({"review": "always", "mode": "auto", "agent": subagent, "tool": "Write", "input": "{}"})
}

/// A later save has a later time, as an editor's have: whose they are is found out beside the loop, in any order.
fn saved(path: &str) -> Tell {
    static TIME: AtomicU64 = AtomicU64::new(1);
    let time = TIME.fetch_add(1, Ordering::Relaxed);
    Tell::Saved(File::focused(path, time).into())
}

/// Says until it is heard that the person has saved this file. The file that is focused then.
async fn heard(test: &TestCompanion, claude: &mut Claude, path: &str) -> Value {
    let (handle, path) = (test.handle.clone(), path.to_owned());
    let saving = tokio::spawn(async move {
        loop {
            handle.tell(saved(&path));
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    // On a busy machine no file is known to be there at first.
    let focused = loop {
        let params = claude.notification("selection_changed").await;
        if params["filePath"].is_string() {
            break params["filePath"].clone();
        }
    };
    saving.abort();
    focused
}

#[tokio::test]
async fn what_is_saved_in_a_turn_is_not_the_focus_and_what_is_saved_after_it_is() {
    for (begin, arguments, subagent) in [
        ("closeAllDiffTabs", json!({}), ""),
        ("pillionBeforeTurn", hook(""), ""),
        ("pillionBeforeWrite", hook("agent 1"), "agent 1"),
        ("getDiagnostics", json!({"uri": "file:///w/a"}), ""),
    ] {
        let test = TestCompanion::start();
        let mut claude = Claude::connect(&test).await;
        let (agents, persons) = (test.file("agents", "x\n"), test.file("persons", "x\n"));
        let begun = claude.call(begin, arguments).await;
        claude.blocks(begun).await;
        test.handle.tell(saved(&agents));
        let ended = claude.call("pillionAfterTurn", hook(subagent)).await;
        assert_eq!(claude.blocks(ended).await, ["{}"], "{begin}");
        let focused = heard(&test, &mut claude, &persons).await;
        assert_eq!(focused, persons, "{begin}");
    }
}

#[tokio::test]
async fn an_accepted_text_that_is_written_late_is_not_the_focus() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let (agents, persons) = (test.file("agents", "x\n"), test.file("persons", "x\n"));
    let open = claude.open(&agents, "new\n", "tab").await;
    let diff = test.editor.show().await;
    test.decide(&diff, Outcome::accepted("mine\n")).await;
    claude.blocks(open).await;
    let ended = claude.call("pillionAfterTurn", hook("")).await;
    claude.blocks(ended).await;
    let focused = heard(&test, &mut claude, &persons).await;
    assert_eq!(focused, persons);
    // The turn is long over.
    std::fs::write(&agents, "mine\n").unwrap();
    test.handle.tell(saved(&agents));
    let other = test.file("other", "x\n");
    assert_eq!(heard(&test, &mut claude, &other).await, other);
    std::fs::write(&agents, "mine\nand more\n").unwrap();
    assert_eq!(heard(&test, &mut claude, &agents).await, agents);
}
