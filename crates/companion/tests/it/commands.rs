//! Decisions by command, over the wire: about the revision that they name, and no other.

#[cfg(unix)]
use std::fs;
use std::io::{BufRead, BufReader, Write};
#[cfg(unix)]
use std::path::Path;

use pillion_discovery::socket::Address;
use pillion_protocol::{Dialect, Verdict};
use pillion_testkit::client::Update;
use pillion_view::ClientError as CommandError;
use pillion_view::ask::{DiffRef, Diffs, GetDiff, GetReview, PendingDiff, Refused, State};
use pillion_view::{CloseReason, DiffId, ProposalKey, Proposed, Ruling};

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
        (pending[0].agent.as_str(), pending[0].key.revision),
        ("qwen", 1)
    );
    let named: DiffRef = "1.1".parse().unwrap();
    let text = commands.diff(named).await.unwrap();
    assert_eq!(text.proposed.as_deref(), Some("x"));
    let (proposed, standing) = (None, None);
    let without_text = PendingDiff {
        proposed,
        standing,
        ..text
    };
    assert_eq!(without_text, pending[0]);

    companion.editor.stands("edited");
    let refused = commands.decide(diff.key(), Verdict::accept(None)).await;
    assert_eq!(code(refused), "textChanged", "nobody was shown that");
    let told = commands.diff(named).await.unwrap();
    assert_eq!(told.standing.as_deref(), Some("edited"));
    let (settled, closed) = tokio::join!(
        commands.decide(diff.key(), Verdict::accept(None)),
        companion.editor.close("edited")
    );
    assert_eq!(settled.unwrap(), Ruling::Settled(None));
    assert_eq!(closed, (diff.id, CloseReason::Settled));
    let content = "edited".to_owned();
    let expected = Update::accepted(path.clone(), content);
    assert_eq!(next_outcome(&mut updates).await, expected);

    let error = commands.decide(diff.key(), Verdict::accept(None)).await;
    let error = error.unwrap_err();
    let gone = Refused::NotPending { id: diff.id.0 };
    assert!(
        matches!(&error, CommandError::Refused(it) if *it == gone),
        "{error:?}"
    );

    let (opened, diff) = tokio::join!(client.open_diff(&path, "x"), companion.editor.show());
    opened.unwrap();
    let rejected = commands.decide(diff.key(), Verdict::reject()).await;
    assert!(rejected.unwrap().is_settled());
    assert_eq!(companion.editor.close("").await.1, CloseReason::Overruled);
    let rejected = Update::DiffRejected { path };
    assert_eq!(next_outcome(&mut updates).await, rejected);
}

/// The code of a refusal.
fn code(ruling: Result<Ruling, CommandError>) -> String {
    match ruling.unwrap() {
        Ruling::Refused(refusal) => refusal.code.into_owned(),
        Ruling::Settled(_) => String::new(),
    }
}

/// What was shown is what its name means: the text in the view, another one there later, and one that nobody has edited.
#[tokio::test]
async fn a_text_that_the_person_was_not_shown_is_not_accepted_by_its_name() {
    let mut companion = TestCompanion::start();
    let (client, mut updates) = companion.connect(QWEN).await;
    let commands = companion.commands();
    for (name, shown, standing, expected) in [
        ("a", None, Some("x"), ""),
        ("b", None, Some("other"), "textChanged"),
        ("c", Some("mine"), Some("mine"), ""),
        ("d", Some("mine"), Some("other"), "textChanged"),
        ("e", Some("mine"), Some("x"), "textChanged"),
    ] {
        let path = companion.path(name);
        let (opened, diff) = tokio::join!(client.open_diff(&path, "x"), companion.editor.show());
        opened.unwrap();
        let named = DiffRef::exactly(diff.id.0, 1);
        if let Some(shown) = shown {
            companion.editor.stands(shown);
            commands.diff(named).await.unwrap();
        }
        companion.editor.stands(standing.unwrap());
        let accept = || commands.decide(diff.key(), Verdict::accept(None));
        assert_eq!(code(accept().await), expected, "{name}");
        if !expected.is_empty() {
            assert!(companion.editor.is_idle(), "nothing was closed");
            // Looked at again, it counts.
            commands.diff(named).await.unwrap();
            assert_eq!(code(accept().await), "", "{name}");
        }
        companion.editor.close(standing.unwrap()).await;
        let accepted = Update::accepted(path, standing.unwrap().to_owned());
        assert_eq!(next_outcome(&mut updates).await, accepted, "{name}");
    }
}

/// The gate rules, as for a view: the same doubts, and what is repeated counts, but for a file that has changed.
#[tokio::test]
async fn what_a_view_would_be_asked_a_command_is_asked_too() {
    let mut companion = TestCompanion::start();
    let (client, mut updates) = companion.connect(QWEN).await;
    let commands = companion.commands();
    let elsewhere = tempfile::tempdir().unwrap();
    let outside = elsewhere.path().canonicalize().unwrap().join("new");
    let outside = outside.to_str().unwrap().to_owned();
    let many = companion.file("many", &"line\n".repeat(100));
    let root = companion.path("");
    for setting in [&["init", "-q"][..], &["config", "core.hooksPath", "hk"]] {
        let mut git = std::process::Command::new("git");
        git.args(["-C", &root]).args(setting);
        assert!(git.status().unwrap().success());
    }
    fs::create_dir(companion.path(".circleci")).unwrap();
    std::os::unix::fs::symlink(companion.path(".circleci"), companion.path("ci")).unwrap();
    for (path, text, doubt) in [
        (outside, "x", "outsideWorkspace"),
        (companion.path(".envrc"), "x", "runs"),
        (companion.path("hk/pre-commit"), "x", "runs"),
        (companion.path("ci/config.yml"), "x", "runs"),
        (many, "line\n", "deleted"),
    ] {
        let (opened, diff) = tokio::join!(client.open_diff(&path, text), companion.editor.show());
        opened.unwrap();
        let accept = || commands.decide(diff.key(), Verdict::accept(Some(text.to_owned())));
        let asked = code(accept().await);
        assert!(asked.starts_with(doubt), "{path}: {asked}");
        let settled = async {
            while code(accept().await) == asked {
                tokio::task::yield_now().await;
            }
        };
        tokio::join!(settled, companion.editor.close(text));
        let accepted = Update::accepted(path, text.to_owned());
        assert_eq!(next_outcome(&mut updates).await, accepted);
    }
}

#[tokio::test]
async fn a_command_does_not_accept_what_an_editor_does_not_tell() {
    let mut companion = TestCompanion::start();
    let (client, _updates) = companion.connect(QWEN).await;
    let path = companion.path("new");
    let (opened, diff) = tokio::join!(client.open_diff(&path, "x"), companion.editor.show());
    opened.unwrap();
    let commands = companion.commands();
    let accept = commands.decide(diff.key(), Verdict::accept(None));
    let refused = accept.await.unwrap_err().to_string();
    assert!(
        refused.contains("does not tell what stands in the view"),
        "{refused}"
    );
    assert!(companion.editor.is_idle(), "nothing was closed");
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
    let key = |id, revision| ProposalKey {
        id: DiffId(id),
        revision,
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
            let error = commands.decide(key(id, revision), verdict).await;
            let error = error.unwrap_err();
            let is_why = matches!(&error, CommandError::Refused(it) if *it == why);
            assert!(is_why, "{id}.{revision} {error:?}");
        }
    }
    assert!(companion.editor.is_idle(), "nothing was closed");
    companion.editor.stands("two");
    let (settled, closed) = tokio::join!(
        commands.decide(key(1, 2), Verdict::accept(None)),
        companion.editor.close("two")
    );
    assert!(settled.unwrap().is_settled());
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
    let by = r#""by":{"named":{"despiteChange":true}}"#;
    for (key, verdict) in [
        (r#"{"id":1}"#, r#"{"decision":"accept"}"#),
        (r#"{"id":1}"#, r#"{"decision":"reject"}"#),
        (r#"{"id":1,"revision":null}"#, r#"{"decision":"accept"}"#),
        (r#""all""#, r#"{"decision":"reject"}"#),
    ] {
        let decide = format!(r#"{{"key":{key},"verdict":{verdict},{by},"base":null}}"#);
        let state = companion.state();
        let lines = [PROGRAM, &asked(state.port, "decide", &decide)];
        let answer = say(state.address.as_ref().unwrap(), &lines.join("\n"));
        assert!(answer.contains(r#""request":7"#), "{answer}");
        assert!(answer.contains("decide is not understood"), "{answer}");
    }
    assert!(companion.editor.is_idle(), "nothing was closed");
}

#[tokio::test]
async fn what_is_no_command_is_refused_and_ends_no_companion() {
    let companion = TestCompanion::start();
    let state = companion.state();
    let address = state.address.as_ref().unwrap();
    let ask = |port: u16, method: &str| asked(port, method, "null");
    let (own, other) = (state.port, state.port ^ 1);
    let no_one = r#"{"ask":{"request":1,"method":"diffs"}}"#;
    for (lines, expected) in [
        ([""; 2], "is not understood here"),
        (["{}", ""], "is not understood here"),
        (["companions", ""], "is not understood here"),
        ([r#"{"attach":{}}"#, ""], "is not understood here"),
        ([r#"{"program":7}"#, ""], "is not understood here"),
        ([PROGRAM, "{}"], "is not understood here"),
        (
            [PROGRAM, r#"{"ask":{"method":"diffs"}}"#],
            "is not understood here",
        ),
        ([PROGRAM, PROGRAM], "is not understood here"),
        (
            [PROGRAM, &ask(own, "format")],
            "\\\"format\\\" is not known here",
        ),
        (
            [PROGRAM, &ask(other, "diffs")],
            "there is no such companion",
        ),
        ([PROGRAM, no_one], "there is no such companion"),
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
        let unknown = GetDiff {
            diff: DiffRef::exactly(9, 1),
            is_printed: true,
        };
        let refused = program.ask(unknown).unwrap_err();
        let states = program.ask(State).unwrap();
        (diffs.len(), refused.to_string(), states.len())
    });
    let told = asked.await.unwrap();
    assert_eq!(told, (2, "no diff 9 is pending".to_owned(), 1));
}

/// The first line of a program.
const PROGRAM: &str = r#"{"program":{"pid":1}}"#;

/// The line of a request to the companion at this port.
fn asked(port: u16, method: &str, params: &str) -> String {
    format!(r#"{{"ask":{{"request":7,"method":"{method}","companion":{port},"params":{params}}}}}"#)
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
        companion.editor.stands("new\n");
        let accept = |despite| commands.decide_by(diff.key(), Verdict::accept(None), despite);
        if what != "same" {
            for _ in 0..2 {
                assert_eq!(code(accept(false).await), "fileChanged", "{what}");
            }
        }
        let (settled, _) = tokio::join!(accept(what != "same"), companion.editor.close("new\n"));
        assert!(settled.unwrap().is_settled(), "{what}");
        let expected = Update::accepted(path.clone(), "new\n".to_owned());
        assert_eq!(next_outcome(&mut updates).await, expected, "{what}");
        // An agent that writes nothing is reported after a while.
        fs::write(&path, "new\n").unwrap();
    }
}

#[tokio::test]
async fn a_program_goes_on_with_the_connection_on_which_it_found_the_companion() {
    let companion = TestCompanion::start();
    let state = companion.state();
    let client = pillion_view::Client::new(&state).unwrap();
    // Nobody can connect any more.
    fs::remove_file(state.address.unwrap().path()).unwrap();
    let asked = spawn_blocking(move || client.ask(GetReview::default()));
    let chosen = asked.await.unwrap().unwrap();
    assert!(!chosen.message.is_empty());
}
