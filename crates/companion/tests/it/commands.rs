//! Decisions by command, over the wire: about the revision that they name, and no other.

#[cfg(unix)]
use std::fs;
use std::io::{BufRead, BufReader, Write};
#[cfg(unix)]
use std::path::Path;

use pillion_agent::Update;
use pillion_discovery::socket::Address;
use pillion_protocol::{Dialect, Verdict};
use pillion_view::ClientError as CommandError;
use pillion_view::CloseReason;
use pillion_view::ask::{DiffRef, Diffs, Refused, Settle, State};

use tokio::task::spawn_blocking;

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
    let gone = Refused::NotPending { id: diff.id.0 };
    assert!(
        matches!(&error, CommandError::Refused(it) if *it == gone),
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
    let replaced = |id, named, current| Refused::OtherRevision { id, named, current };
    for (id, revision, why) in [
        (1, 1, replaced(1, 1, 2)),
        (1, 3, replaced(1, 3, 2)),
        (1, 0, replaced(1, 0, 2)),
        (2, 2, replaced(2, 2, 1)),
        (3, 1, Refused::NotPending { id: 3 }),
    ] {
        for verdict in [
            Verdict::accept(None),
            Verdict::accept(Some("mine".to_owned())),
            Verdict::reject(),
        ] {
            let error = commands.settle(&settle(id, revision, verdict)).await;
            let error = error.unwrap_err();
            let is_why = matches!(&error, CommandError::Refused(it) if *it == why);
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
        let lines = [
            program(state.port),
            format!(r#"{{"ask":{{"request":7,"method":"settle","params":{settle}}}}}"#),
        ];
        let answer = say(state.address.as_ref().unwrap(), &lines.join("\n"));
        assert!(answer.contains(r#""request":7"#), "{answer}");
        assert!(answer.contains("settle is not understood"), "{answer}");
    }
    assert!(companion.editor.is_idle(), "nothing was closed");
}

#[tokio::test]
async fn what_is_no_command_is_refused_and_ends_no_companion() {
    let companion = TestCompanion::start();
    let state = companion.state();
    let address = state.address.as_ref().unwrap();
    let (own, other) = (program(state.port), program(state.port ^ 1));
    let no_one = r#"{"program":{"pid":1}}"#;
    let ask = |method: &str| format!(r#"{{"ask":{{"request":1,"method":"{method}"}}}}"#);
    for (lines, expected) in [
        ([""; 2], "is not understood here"),
        (["{}", ""], "is not understood here"),
        (["companions", ""], "is not understood here"),
        ([r#"{"attach":{}}"#, ""], "is not understood here"),
        ([r#"{"program":7}"#, ""], "is not understood here"),
        ([&own, "{}"], "is not understood here"),
        (
            [&own, r#"{"ask":{"method":"diffs"}}"#],
            "is not understood here",
        ),
        ([&own, &own], "is not understood here"),
        ([&own, &ask("format")], "\\\"format\\\" is not known here"),
        ([&other, &ask("diffs")], "there is no such companion"),
        ([no_one, &ask("diffs")], "there is no such companion"),
    ] {
        let answer = say(address, &lines.join("\n"));
        assert!(answer.contains(expected), "{lines:?} {answer}");
    }
    assert!(companion.commands().diffs().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_program_asks_several_things_over_one_connection() {
    let mut companion = TestCompanion::start();
    let (client, _updates) = companion.connect(QWEN).await;
    for name in ["a", "b"] {
        let path = companion.path(name);
        let (opened, _) = tokio::join!(client.open_diff(&path, "x"), companion.editor.show());
        opened.unwrap();
    }
    let program = pillion_view::Client::new(&companion.state()).unwrap();
    let asked = spawn_blocking(move || {
        let mut program = program.connect().unwrap();
        let diffs = program.ask(Diffs).unwrap();
        // One that is refused ends nothing.
        let refused = program.ask(DiffRef::exactly(9, 1)).unwrap_err();
        let states = program.ask(State).unwrap();
        (diffs.len(), refused.to_string(), states.len())
    });
    let told = asked.await.unwrap();
    assert_eq!(told, (2, "no diff 9 is pending".to_owned(), 1));
}

/// The first line of a program that asks the companion at this port.
fn program(port: u16) -> String {
    format!(r#"{{"program":{{"pid":1,"companion":{port}}}}}"#)
}

/// The first line of the answer to these lines.
fn say(address: &Address, lines: &str) -> String {
    let mut stream = address.connect().unwrap();
    stream.set_read_timeout(Some(SOON)).unwrap();
    stream.write_all(format!("{lines}\n").as_bytes()).unwrap();
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).unwrap();
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
            let changed = Refused::FileChanged { id, revision };
            for _ in 0..2 {
                let error = commands.settle(&settle(false)).await.unwrap_err();
                let is_why = matches!(&error, CommandError::Refused(it) if *it == changed);
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
