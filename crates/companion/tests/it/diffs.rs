//! Diffs (C5), over the wire.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pillion_protocol::{Dialect, Outcome, ProposedFile};
use pillion_testkit::client::{ClientError, Update};
use pillion_view::ask::Propose;
use pillion_view::{Client, CloseReason, Connected, Diff, EditorEvent, Ruling, Stale, Status};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::support::{RawStream, STOPS, TestCompanion, initialize, next_outcome, status};

const GEMINI: Dialect = Dialect::GeminiCli;
const QWEN: Dialect = Dialect::QwenCode;

fn accepted(content: &str) -> Outcome {
    let content = content.to_owned();
    Outcome::accepted(content)
}

#[tokio::test]
async fn open_diff_is_answered_once_the_view_is_open() {
    let mut companion = TestCompanion::start();
    let (client, _updates) = companion.connect(GEMINI).await;
    let path = companion.path("new");
    let mut open = Box::pin(client.open_diff(&path, "text"));
    let asked = tokio::select! {
        asked = companion.editor.next() => asked,
        opened = &mut open => panic!("answered before the view was open: {opened:?}"),
    };
    let EditorEvent::Open(diff, shown) = asked else {
        panic!("not an open_diff: {asked:?}");
    };
    assert_eq!(&*diff.proposed, "text");
    let early = timeout(Duration::from_millis(100), &mut open).await;
    assert!(early.is_err(), "{early:?}");
    shown.done(());
    open.await.unwrap();
}

#[tokio::test]
async fn what_the_reviewer_accepts_arrives_byte_for_byte_and_once() {
    let mut companion = TestCompanion::start();
    let (client, mut updates) = companion.connect(GEMINI).await;
    let path = companion.path("new");
    for text in [
        "",
        "a",
        "a\r\nb\n",
        "\u{feff}a\rb",
        "\u{2028}\0😀e\u{301}",
        r#"{"content":1}"#,
    ] {
        let (opened, diff) = tokio::join!(client.open_diff(&path, text), companion.editor.show());
        opened.unwrap();
        assert_eq!(&*diff.proposed, text);
        companion.decide(&diff, accepted(text)).await;
        let late = companion.ruling(&diff, Outcome::Rejected).await;
        assert_eq!(late, Ruling::stale(Stale::NotPending));
        let update = next_outcome(&mut updates).await;
        let content = text.to_owned();
        let path = path.clone();
        assert_eq!(update, Update::accepted(path, content));
    }
    let more = timeout(Duration::from_millis(100), updates.next()).await;
    assert!(more.is_err(), "{more:?}");
}

#[tokio::test]
async fn close_diff_returns_the_edited_text_and_no_outcome_follows() {
    let mut companion = TestCompanion::start();
    let (client, mut updates) = companion.connect(GEMINI).await;
    let path = companion.path("new");
    let (opened, diff) = tokio::join!(client.open_diff(&path, "x"), companion.editor.show());
    opened.unwrap();
    let edited = r#"{"content":"a trap"}"#;
    let (closed, (id, reason)) =
        tokio::join!(client.close_diff(&path), companion.editor.close(edited));
    assert_eq!(closed.unwrap(), edited);
    assert_eq!((id, reason), (diff.id, CloseReason::ClosedByAgent));
    let late = companion.ruling(&diff, Outcome::Rejected).await;
    assert_eq!(late, Ruling::stale(Stale::NotPending));
    updates.next().await; // the first context
    let more = timeout(Duration::from_millis(100), updates.next()).await;
    assert!(more.is_err(), "C5.10: {more:?}");
}

#[tokio::test]
async fn two_agents_with_one_path_each_get_their_own() {
    let mut companion = TestCompanion::start();
    let path = companion.path("same");
    let (gemini, mut gemini_updates) = companion.connect(GEMINI).await;
    let (qwen, mut qwen_updates) = companion.connect(QWEN).await;
    let (opened, first) = tokio::join!(gemini.open_diff(&path, "g"), companion.editor.show());
    opened.unwrap();
    let (opened, second) = tokio::join!(qwen.open_diff(&path, "q"), companion.editor.show());
    opened.unwrap();
    assert_eq!(
        (first.proposer, second.proposer),
        (GEMINI.into(), QWEN.into())
    );
    companion.decide(&second, Outcome::Rejected).await;
    companion.decide(&first, accepted("g")).await;
    let update = next_outcome(&mut qwen_updates).await;
    assert_eq!(update, Update::DiffRejected { path: path.clone() });
    let update = next_outcome(&mut gemini_updates).await;
    let content = "g".to_owned();
    assert_eq!(update, Update::accepted(path, content));
}

#[tokio::test]
async fn an_editor_that_refuses_or_drops_the_request_fails_the_call() {
    let mut companion = TestCompanion::start();
    let (client, _updates) = companion.connect(GEMINI).await;
    let path = companion.path("new");
    for (refuse, reason) in [(true, "no window"), (false, "the editor did not answer")] {
        let answer = async {
            match companion.editor.next().await {
                EditorEvent::Open(_, shown) if refuse => shown.failed("no window"),
                other => drop(other),
            }
            companion.editor.close("").await.1
        };
        let (opened, closed) = tokio::join!(client.open_diff(&path, "x"), answer);
        assert_eq!(opened.unwrap_err().to_string(), reason);
        assert_eq!(closed, CloseReason::NotShown);
    }
}

#[tokio::test]
async fn an_editor_that_does_not_answer_fails_the_call_after_ten_seconds() {
    let mut companion = TestCompanion::start();
    let (client, _updates) = companion.connect(GEMINI).await;
    let path = companion.path("new");
    let start = tokio::time::Instant::now();
    let (opened, _held) = tokio::join!(client.open_diff(&path, "x"), companion.editor.next());
    let error = opened.unwrap_err();
    assert!(matches!(error, ClientError::Tool(_)), "{error:?}");
    assert!(error.to_string().contains("10 seconds"), "{error}");
    let took = start.elapsed();
    assert!(
        took >= Duration::from_secs(10) && took < Duration::from_secs(15),
        "{took:?}"
    );
}

/// With a clock that only counts, `Sessions` has the same in each run.
#[tokio::test]
#[ignore = "in --all: waits for half a minute: cargo xtask test --all"]
async fn the_views_of_an_agent_that_vanished_go_away_after_thirty_seconds() {
    let mut companion = TestCompanion::start();
    let (client, updates) = companion.connect(GEMINI).await;
    let path = companion.path("new");
    let (opened, diff) = tokio::join!(client.open_diff(&path, "x"), companion.editor.show());
    opened.unwrap();
    drop(updates);
    drop(client);
    tokio::time::sleep(Duration::from_secs(29)).await;
    assert!(companion.editor.is_idle(), "closed too early");
    let (id, reason) = companion.editor.close("").await;
    assert_eq!((id, reason), (diff.id, CloseReason::AgentGone));
}

/// A way of writing a file again.
type Rewriting = fn(&std::path::Path, &str);

#[cfg(unix)]
#[tokio::test]
async fn a_file_that_was_written_again_with_the_same_bytes_has_not_changed() {
    use std::fs::{self, FileTimes};
    use std::time::SystemTime;

    let again: [(&str, Rewriting); 4] = [
        ("touched", |path, _| {
            let later = SystemTime::now() + Duration::from_secs(5);
            let file = fs::File::options().write(true).open(path).unwrap();
            let times = FileTimes::new().set_modified(later);
            file.set_times(times).unwrap();
        }),
        ("written", |path, text| fs::write(path, text).unwrap()),
        ("replaced", |path, text| {
            fs::write(path.with_extension("new"), text).unwrap();
            fs::rename(path.with_extension("new"), path).unwrap();
        }),
        ("changed and changed back", |path, text| {
            fs::write(path, "other\n").unwrap();
            fs::write(path, text).unwrap();
        }),
    ];
    let changed: [(&str, Rewriting); 4] = [
        ("changed", |path, _| fs::write(path, "other\n").unwrap()),
        ("changed in place", |path, text| {
            fs::write(path, text.to_uppercase()).unwrap();
        }),
        ("deleted", |path, _| fs::remove_file(path).unwrap()),
        ("a link to the same bytes elsewhere", |path, text| {
            fs::write(path.with_extension("new"), text).unwrap();
            fs::remove_file(path).unwrap();
            std::os::unix::fs::symlink(path.with_extension("new"), path).unwrap();
        }),
    ];
    for dialect in [GEMINI, QWEN] {
        let mut companion = TestCompanion::start();
        let (client, mut updates) = companion.connect(dialect).await;
        for (number, (what, rewrite)) in again.iter().chain(&changed).enumerate() {
            let text = "the text\n";
            let path = companion.file(&format!("{number}.txt"), text);
            let (opened, diff) =
                tokio::join!(client.open_diff(&path, "new\n"), companion.editor.show());
            opened.unwrap();
            rewrite(std::path::Path::new(&path), text);
            let ruling = companion.first_ruling(&diff, accepted("new\n")).await;
            if number < again.len() {
                assert_eq!(ruling, Ruling::Settled(None), "{what}");
            } else {
                let Ruling::Refused(refusal) = ruling else {
                    panic!("{what} is accepted");
                };
                assert_eq!(refusal.code, "fileChanged", "{what}");
                companion.decide(&diff, Outcome::Rejected).await;
            }
            next_outcome(&mut updates).await;
        }
    }
}

#[tokio::test]
async fn an_outcome_waits_for_a_stream_that_is_away_for_a_moment() {
    use crate::support::{Request, initialize};
    let mut companion = TestCompanion::start();
    let session = initialize(&companion).await;
    let in_session = |request: Request| request.header("Mcp-Session-Id", &session);
    let path = companion.path("new");
    let call = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params":
        {"name": "openDiff", "arguments": {"filePath": path, "newContent": "x"}}});
    let open = in_session(companion.request("POST", &call.to_string())).send();
    let (opened, diff) = tokio::join!(open, companion.editor.show());
    assert_eq!(opened.status, 200, "{opened:?}");
    companion.decide(&diff, accepted("late")).await;
    for expected in [1, 0] {
        let stream = in_session(companion.request("GET", ""));
        let stream = stream.header("Content-Length", "0");
        let text = stream.read_for(Duration::from_millis(300)).await;
        assert_eq!(text.matches("ide/diffAccepted").count(), expected, "{text}");
        assert_eq!(text.matches("ide/contextUpdate").count(), 1, "{text}");
    }
}

#[tokio::test]
async fn an_outcome_is_heard_once_whenever_its_stream_closes() {
    const ROUNDS: u32 = 500;
    let mut companion = TestCompanion::start();
    let session = initialize(&companion).await;
    let path = |round| format!("/{round}/new");
    let mut heard = String::new();
    let mut stream = RawStream::open(&companion, &session).await;
    for round in 0..ROUNDS {
        let call = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params":
            {"name": "openDiff", "arguments": {"filePath": path(round), "newContent": "x"}}});
        let open = companion.request("POST", &call.to_string());
        let open = open.header("Mcp-Session-Id", &session).send();
        let (opened, diff) = tokio::join!(open, companion.editor.show());
        assert_eq!(opened.status, 200, "{opened:?}");
        companion.decide(&diff, Outcome::Rejected).await;
        // The stream closes before, while and after the outcome is on its way.
        let closes = Instant::now() + Duration::from_micros(u64::from(round % 100) * 20);
        while Instant::now() < closes {
            std::hint::spin_loop();
        }
        stream.read_what_is_there();
        heard += &std::mem::take(&mut stream.text);
        drop(stream);
        stream = RawStream::open(&companion, &session).await;
        if !heard.contains(&path(round)) {
            stream.read_until(&path(round)).await;
        }
    }
    stream.read_what_is_there();
    heard += &stream.text;
    for round in 0..ROUNDS {
        assert_eq!(heard.matches(&path(round)).count(), 1, "round {round}");
    }
}

#[tokio::test]
async fn no_byte_tells_an_agent_what_its_text_was_compared_with() {
    let mut companion = TestCompanion::start();
    let session = initialize(&companion).await;
    let tool = |name: &str, path: &str| {
        serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params":
            {"name": name, "arguments": {"filePath": path, "newContent": "x"}}})
        .to_string()
    };
    let mut stream = None;
    for path in ["/closed", "/pushed"] {
        let open = companion.request("POST", &tool("openDiff", path));
        let open = open.header("Mcp-Session-Id", &session).send();
        let (opened, diff) = tokio::join!(open, companion.editor.show());
        assert_eq!(opened.status, 200, "{opened:?}");
        let outcome = Outcome::Accepted {
            content: Arc::new("y".to_owned()),
            base: Some("absent".to_owned()),
        };
        companion.decide(&diff, outcome).await;
        if path == "/closed" {
            // Nothing was pushed yet: the answer carries what was accepted.
            let close = companion.request("POST", &tool("closeDiff", path));
            let closed = close.header("Mcp-Session-Id", &session).send().await;
            let text = r#""text":"{\"content\":\"y\"}""#;
            assert!(closed.text.contains(text), "{closed:?}");
            assert!(!closed.text.contains("_meta"), "{closed:?}");
            stream = Some(RawStream::open(&companion, &session).await);
        }
    }
    let mut stream = stream.unwrap();
    let params = r#""method":"ide/diffAccepted","params":{"content":"y","filePath":"/pushed"}}"#;
    stream.read_until(params).await;
    assert!(!stream.text.contains("_meta"), "{}", stream.text);
}

#[tokio::test]
async fn a_reader_that_stalls_holds_up_nobody() {
    use crate::support::initialize;
    let mut companion = TestCompanion::start();
    let session = initialize(&companion).await;
    let stream = companion.request("GET", "");
    let stream = stream
        .header("Mcp-Session-Id", &session)
        .header("Content-Length", "0");
    let stalled = stream.open().await;
    for number in 0..3 {
        let path = companion.path(&format!("new-{number}"));
        let call = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params":
            {"name": "openDiff", "arguments": {"filePath": path, "newContent": "x"}}});
        let open = companion.request("POST", &call.to_string());
        let open = open.header("Mcp-Session-Id", &session).send();
        let (opened, diff) = tokio::join!(open, companion.editor.show());
        assert_eq!(opened.status, 200, "{opened:?}");
        let outcome = accepted(&"x".repeat(8 * 1024 * 1024));
        companion.decide(&diff, outcome).await;
    }
    let (client, _updates) = companion.connect(QWEN).await;
    let path = companion.path("new");
    let (opened, _) = tokio::join!(client.open_diff(&path, "q"), companion.editor.show());
    opened.unwrap();
    let start = Instant::now();
    let running = companion.companion;
    let stop = spawn_blocking(move || drop(running));
    stop.await.unwrap();
    assert!(start.elapsed() < STOPS, "{:?}", start.elapsed());
    drop(stalled);
}

/// Qwen Code asks about all changes of an answer before it makes the first, and about each again by its hook. What it has made of
/// those that were accepted is nothing new; what it cannot make is said before it is accepted.
#[tokio::test]
async fn of_two_changes_beside_the_same_text_both_are_accepted_once() {
    let (before, first) = ("one\ntwo\nthree\n", "eins\ntwo\nthree\n");
    for (second, on_disk, hooks, is_shown) in [
        ("one\ntwo\ndrei\n", first, "eins\ntwo\ndrei\n", false),
        ("one\ntwo\ndrei\n", first, "eins\ntwo\ntrois\n", true),
        (
            "one\ntwo\ndrei\n",
            "uno\ntwo\nthree\n",
            "uno\ntwo\ndrei\n",
            true,
        ),
        ("one\ntwo\ndrei\n", before, "one\ntwo\ndrei\n", false),
        ("un\ntwo\nthree\n", first, "un\ntwo\nthree\n", true),
    ] {
        let mut companion = TestCompanion::start();
        let (client, _updates) = companion.connect(QWEN).await;
        let path = companion.file("a", before);
        for text in [first, second] {
            let (opened, diff) =
                tokio::join!(client.open_diff(&path, text), companion.editor.show());
            opened.unwrap();
            if text == second {
                let edited = format!("{text}four\n");
                match companion.first_ruling(&diff, accepted(&edited)).await {
                    Ruling::Refused(refusal) => assert_eq!(&*refusal.code, "writesOwnText"),
                    ruling => panic!("{ruling:?}"),
                }
            }
            companion.decide(&diff, accepted(text)).await;
        }
        if on_disk != before {
            fs::write(&path, on_disk).unwrap();
        }
        let propose = Propose {
            files: vec![ProposedFile::new(&path, hooks)],
            agent: Some(QWEN),
            session: None,
            process: None,
        };
        let hook = Client::new(&companion.state()).unwrap();
        let proposed = spawn_blocking(move || hook.ask(propose).map(|()| hook));
        if is_shown {
            assert_eq!(&*companion.editor.show().await.proposed, hooks);
        }
        // It would fail if a view were asked for it, and not answer.
        let proposed = proposed.await.unwrap();
        proposed.unwrap_or_else(|why| panic!("{second:?} {on_disk:?} {hooks:?}: {why}"));
    }
}

/// Of a change that is proposed beside what was written before, nothing is lost.
#[tokio::test]
async fn a_change_beside_what_is_written_can_be_edited() {
    let mut companion = TestCompanion::start();
    let (client, _updates) = companion.connect(QWEN).await;
    let path = companion.file("a", "one\n");
    for (text, edited) in [("two\n", "zwei\n"), ("three\n", "drei\n")] {
        let (opened, diff) = tokio::join!(client.open_diff(&path, text), companion.editor.show());
        opened.unwrap();
        companion.decide(&diff, accepted(edited)).await;
        fs::write(&path, edited).unwrap();
    }
}

/// Where one asks about a change of a file: the agent opens its diff, or its hook asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Diff,
    Hook,
}

/// Asks, in a session or by a hook of its own, about a file that is to have this text. Returns what keeps it asked, and the diff if it
/// is shown.
async fn ask(
    companion: &mut TestCompanion,
    side: Side,
    (path, text): (&str, &str),
    is_shown: bool,
) -> (Asked, Option<Diff>) {
    let (client, updates) = companion.connect(QWEN).await;
    let propose = Propose {
        files: vec![ProposedFile::new(path, text)],
        agent: Some(QWEN),
        session: None,
        process: None,
    };
    let state = companion.state();
    let hook = spawn_blocking(move || {
        let mut hook = Client::new(&state).unwrap().connect().unwrap();
        if side == Side::Hook {
            hook.wait_for(propose).unwrap();
        }
        hook
    });
    let opening = async {
        if side == Side::Diff {
            client.open_diff(path, text).await.unwrap();
        }
    };
    let showing = async {
        match is_shown {
            true => Some(companion.editor.show().await),
            false => None,
        }
    };
    let ((), hook, diff) = tokio::join!(opening, hook, showing);
    (Asked(client, updates, hook.unwrap()), diff)
}

/// What an agent holds open while it asks.
struct Asked(
    #[expect(dead_code)] pillion_testkit::client::Client,
    #[expect(dead_code)] pillion_testkit::client::Updates,
    #[expect(dead_code)] Connected,
);

fn says(what: &str) -> impl Fn(&Status) -> bool {
    let text = format!("a: {what}");
    move |it| it.decided.as_ref().is_some_and(|it| it.text == text)
}

/// Qwen Code asks by its hook about what was accepted in its diff, and the other way round: that is settled unasked and no other
/// decision, so that what came of the person's is said.
#[tokio::test]
async fn what_the_agents_other_side_asks_again_is_no_other_decision() {
    use Side::{Diff, Hook};
    for [first, second] in [[Diff, Hook], [Hook, Diff]] {
        let mut companion = TestCompanion::start();
        let path = companion.file("a", "one\n");
        let (_first, diff) = ask(&mut companion, first, (&path, "two\n"), true).await;
        companion.decide(&diff.unwrap(), accepted("two\n")).await;
        let (_second, _) = ask(&mut companion, second, (&path, "two\n"), false).await;
        fs::write(&path, "two\n").unwrap();
        status(&mut companion, says("written")).await;
        assert!(companion.editor.is_idle(), "{first:?}");
    }
}

/// The agent has written it, and the file is gone again: nothing is awaited of it, whoever asks for the same.
#[tokio::test]
async fn what_was_written_and_deleted_again_is_accepted_unasked() {
    use Side::{Diff, Hook};
    for [first, second] in [[Diff, Diff], [Diff, Hook], [Hook, Diff], [Hook, Hook]] {
        let mut companion = TestCompanion::start();
        let path = companion.path("a");
        let (_first, diff) = ask(&mut companion, first, (&path, "two\n"), true).await;
        companion.decide(&diff.unwrap(), accepted("two\n")).await;
        fs::write(&path, "two\n").unwrap();
        status(&mut companion, says("written")).await;
        fs::remove_file(&path).unwrap();
        let (_second, diff) = ask(&mut companion, second, (&path, "two\n"), true).await;
        let diff = diff.unwrap();
        let ruling = companion.first_ruling(&diff, accepted("two\n")).await;
        assert_eq!(ruling, Ruling::Settled(None), "{first:?} {second:?}");
    }
}
