//! Decisions by command, over the wire: about the revision that they name, and no other.

#[cfg(unix)]
use std::fs;
use std::io::{Read, Write};
#[cfg(unix)]
use std::path::Path;

use pillion_agent::Update;
use pillion_discovery::socket::Address;
use pillion_protocol::{Dialect, Verdict};
use pillion_view::CloseReason;
use pillion_view::commands::{ClientError as CommandError, DiffError, DiffRef, Settle};

use crate::support::{SOON, TestCompanion, next_outcome};

const QWEN: Dialect = Dialect::QwenCode;

#[tokio::test]
async fn commands_list_accept_and_reject() {
    let mut companion = TestCompanion::start();
    let (client, mut updates) = companion.connect(QWEN).await;
    let commands = companion.commands();
    let path = companion.path("new");
    let (opened, diff) = tokio::join!(client.open_diff(&path, "x"), companion.editor.show());
    opened.unwrap();
    let pending = commands.diffs().await.unwrap();
    assert_eq!(pending.len(), 1);
    assert_eq!(
        (pending[0].agent.as_str(), pending[0].revision),
        ("qwen", 1)
    );
    let named: DiffRef = "1.1".parse().unwrap();
    let text = commands.diff(named).await.unwrap();
    assert_eq!(
        (text.summary, text.proposed.as_str()),
        (pending[0].clone(), "x")
    );

    let mut settle = Settle {
        id: diff.id.0,
        revision: 1,
        verdict: Verdict::accept(None),
        despite_change: false,
    };
    let (settled, closed) =
        tokio::join!(commands.settle(&settle), companion.editor.close("edited"));
    assert!(settled.unwrap().edited);
    assert_eq!(closed, (diff.id, CloseReason::Settled));
    let content = "edited".to_owned();
    let expected = Update::accepted(path.clone(), content);
    assert_eq!(next_outcome(&mut updates).await, expected);

    let error = commands.settle(&settle).await.unwrap_err();
    let gone = DiffError::NotPending { id: diff.id.0 };
    assert!(
        matches!(&error, CommandError::Diff(it) if *it == gone),
        "{error:?}"
    );

    let (opened, diff) = tokio::join!(client.open_diff(&path, "x"), companion.editor.show());
    opened.unwrap();
    settle.id = diff.id.0;
    settle.verdict = Verdict::reject();
    commands.settle(&settle).await.unwrap();
    assert_eq!(companion.editor.close("").await.1, CloseReason::Overruled);
    let rejected = Update::DiffRejected { path };
    assert_eq!(next_outcome(&mut updates).await, rejected);
}

#[tokio::test]
async fn a_command_decides_the_newest_revision_and_no_other() {
    let mut companion = TestCompanion::start();
    let (client, mut updates) = companion.connect(QWEN).await;
    let commands = companion.commands();
    let (path, other) = (companion.path("new"), companion.path("other"));
    for (path, text) in [(&path, "one"), (&path, "two"), (&other, "x")] {
        let (opened, _) = tokio::join!(client.open_diff(path, text), companion.editor.show());
        opened.unwrap();
    }
    let settle = |id, revision, verdict| Settle {
        id,
        revision,
        verdict,
        despite_change: true,
    };
    let replaced = |id, named, current| DiffError::OtherRevision { id, named, current };
    for (id, revision, why) in [
        (1, 1, replaced(1, 1, 2)),
        (1, 3, replaced(1, 3, 2)),
        (1, 0, replaced(1, 0, 2)),
        (2, 2, replaced(2, 2, 1)),
        (3, 1, DiffError::NotPending { id: 3 }),
    ] {
        for verdict in [
            Verdict::accept(None),
            Verdict::accept(Some("mine".to_owned())),
            Verdict::reject(),
        ] {
            let error = commands.settle(&settle(id, revision, verdict)).await;
            let error = error.unwrap_err();
            let is_why = matches!(&error, CommandError::Diff(it) if *it == why);
            assert!(is_why, "{id}.{revision} {error:?}");
        }
    }
    assert!(companion.editor.is_idle(), "nothing was closed");
    let exactly = settle(1, 2, Verdict::accept(None));
    let (settled, closed) = tokio::join!(commands.settle(&exactly), companion.editor.close("two"));
    assert!(!settled.unwrap().edited);
    assert_eq!(closed.1, CloseReason::Settled);
    let content = "two".to_owned();
    assert_eq!(
        next_outcome(&mut updates).await,
        Update::accepted(path, content)
    );
}

#[tokio::test]
async fn a_decision_without_a_revision_is_no_decision() {
    let mut companion = TestCompanion::start();
    let (client, _updates) = companion.connect(QWEN).await;
    let path = companion.path("new");
    let (opened, _) = tokio::join!(client.open_diff(&path, "x"), companion.editor.show());
    opened.unwrap();
    for settle in [
        r#"{"id":1,"decision":"accept"}"#,
        r#"{"id":1,"decision":"reject"}"#,
        r#"{"id":1,"revision":null,"decision":"accept"}"#,
        r#""all""#,
    ] {
        let state = companion.state();
        let command = format!(
            r#"{{"command":{{"companion":{},"pid":1,"request":{{"settle":{settle}}}}}}}"#,
            state.port
        );
        let answer = say(state.address.as_ref().unwrap(), &command);
        assert!(answer.contains("the command is not understood"), "{answer}");
    }
    assert!(companion.editor.is_idle(), "nothing was closed");
}

#[tokio::test]
async fn what_is_no_command_is_refused_and_ends_no_companion() {
    let companion = TestCompanion::start();
    let state = companion.state();
    let address = state.address.as_ref().unwrap();
    let other = format!(
        r#"{{"command":{{"companion":{},"pid":1,"request":"diffs"}}}}"#,
        state.port ^ 1
    );
    for (line, expected) in [
        ("", ""),
        ("{}", ""),
        ("companions", ""),
        (r#"{"attach":{}}"#, ""),
        (r#"{"command":7}"#, "the command is not understood"),
        (
            r#"{"command":{"request":"format"}}"#,
            "the command is not understood",
        ),
        (other.as_str(), "there is no such companion"),
    ] {
        let answer = say(address, line);
        assert!(answer.contains(expected), "{line} {answer}");
        assert_eq!(answer.is_empty(), expected.is_empty(), "{line} {answer}");
    }
    assert!(companion.commands().diffs().await.unwrap().is_empty());
}

/// The answer to a line.
fn say(address: &Address, line: &str) -> String {
    let mut stream = address.connect().unwrap();
    stream.set_read_timeout(Some(SOON)).unwrap();
    stream.write_all(format!("{line}\n").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// A way of writing a file again.
#[cfg(unix)]
type Rewriting = fn(&Path, &str);

#[cfg(unix)]
#[tokio::test]
async fn a_command_accepts_what_would_go_over_a_changed_file_only_if_it_says_so() {
    let changes: [(&str, Rewriting); 4] = [
        ("same", |path, text| fs::write(path, text).unwrap()),
        ("changed", |path, _| fs::write(path, "other\n").unwrap()),
        ("deleted", |path, _| fs::remove_file(path).unwrap()),
        ("linked", |path, text| {
            fs::write(path.with_extension("new"), text).unwrap();
            fs::remove_file(path).unwrap();
            std::os::unix::fs::symlink(path.with_extension("new"), path).unwrap();
        }),
    ];
    let mut companion = TestCompanion::start();
    let (client, mut updates) = companion.connect(QWEN).await;
    let commands = companion.commands();
    for (what, rewrite) in changes {
        let path = companion.file(what, "the text\n");
        let (opened, diff) =
            tokio::join!(client.open_diff(&path, "new\n"), companion.editor.show());
        opened.unwrap();
        rewrite(Path::new(&path), "the text\n");
        let settle = |despite_change| Settle {
            id: diff.id.0,
            revision: 1,
            verdict: Verdict::accept(None),
            despite_change,
        };
        if what != "same" {
            let (id, revision) = (diff.id.0, 1);
            let changed = DiffError::FileChanged { id, revision };
            for _ in 0..2 {
                let error = commands.settle(&settle(false)).await.unwrap_err();
                let is_why = matches!(&error, CommandError::Diff(it) if *it == changed);
                assert!(is_why, "{what} {error:?}");
            }
        }
        let accept = settle(what != "same");
        let (settled, _) = tokio::join!(commands.settle(&accept), companion.editor.close("new\n"));
        settled.unwrap();
        let expected = Update::accepted(path.clone(), "new\n".to_owned());
        assert_eq!(next_outcome(&mut updates).await, expected, "{what}");
        // An agent that writes nothing is reported after a while.
        fs::write(&path, "new\n").unwrap();
    }
}
