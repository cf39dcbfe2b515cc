//! Servers that are no companion at all: the suite says so, soon, and does not fall over.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::pin::Pin;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use companion_conformance::{
    Conformance, Help, Helper, Protocol, Report, Step, Target, Timeouts, Verdict,
};
use pillion_discovery::Environment;
use serde_json::{Value, json};

use crate::companion::TOKEN;
use crate::examined::{Absent, failed};
use crate::wire::Request;
use pillion_testkit::{SOON, peak_memory};

/// For all of it, on a machine that is busy.
const LONGEST: Duration = Duration::from_secs(240);

/// The event streams that are flooded.
const FLOODS: u32 = 4;

/// In bytes. Without a limit it would be several times as much after a second.
const MOST_MEMORY: usize = 600_000 << 10;

/// The report when this answers.
fn report(answer: fn(TcpStream)) -> Report {
    report_within(Duration::from_millis(200), answer)
}

/// The same with another limit for each answer.
fn report_within(limit: Duration, answer: fn(TcpStream)) -> Report {
    report_with(limit, Box::new(Absent), answer)
}

/// The same with a helper.
fn report_with(limit: Duration, helper: Box<dyn Helper>, answer: fn(TcpStream)) -> Report {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || answer(stream.unwrap()));
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file.json");
    let content = json!({"port": port, "workspacePath": folder.path(), "authToken": TOKEN});
    std::fs::write(&file, content.to_string()).unwrap();
    let environment = Environment::from_pairs([("TMPDIR", folder.path())]);
    let target = Target::of_file(&file, Protocol::Companion, &environment).unwrap();
    let timeouts = Timeouts {
        answer: limit,
        ..Timeouts::default()
    };
    let conformance = Conformance::new(target, timeouts, helper);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let run = conformance.run(|_| true, |_| {});
    let ended = runtime.block_on(async { tokio::time::timeout(LONGEST, run).await });
    ended.expect("nobody is waited for without end")
}

/// A person who may do it yet, and who stops nothing.
struct Asked;

impl Helper for Asked {
    fn help<'a>(&'a self, step: &'a Step) -> Pin<Box<dyn Future<Output = Help> + 'a>> {
        Box::pin(async move {
            match step {
                Step::Stop => Help::Nobody("it is the test's".to_owned()),
                _ => Help::Asked,
            }
        })
    }
}

#[track_caller]
fn expect_no_mcp(report: &Report) {
    let failed = failed(report);
    let has = |id: &str| failed.iter().any(|row| row.starts_with(id));
    assert!(has("C1.1-initialize: ") && !has("C5"), "{failed:#?}");
}

/// Expects this reason in the first row about MCP.
#[track_caller]
fn expect_reason(report: &Report, reason: &str) {
    expect_no_mcp(report);
    let failed = failed(report);
    let row = failed.iter().find(|row| row.contains("C1.1-initialize: "));
    assert!(row.is_some_and(|row| row.contains(reason)), "{row:?}");
}

/// Reads a request, body and all, and gives its method and its message.
fn request(stream: &TcpStream) -> Option<(String, Value)> {
    let request = Request::read(stream.try_clone().ok()?).ok()?;
    let message = serde_json::from_slice(&request.body).unwrap_or_default();
    Some((request.method, message))
}

fn answer(mut stream: TcpStream, body: &Value) {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n";
    let _ = stream.write_all(format!("{head}Mcp-Session-Id: x\r\n\r\n{body}").as_bytes());
}

#[test]
#[ignore = "in --all: checks the suite itself: cargo xtask test --all"]
fn one_that_never_answers() {
    expect_no_mcp(&report(|mut stream| {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
    }));
}

#[test]
#[ignore = "in --all: checks the suite itself: cargo xtask test --all"]
fn one_that_hangs_up() {
    expect_no_mcp(&report(drop));
}

#[test]
#[ignore = "in --all: checks the suite itself: cargo xtask test --all"]
fn one_that_speaks_no_http() {
    expect_no_mcp(&report(|mut stream| {
        let _ = stream.write_all(b"220 mail.example ESMTP\r\n\0\xff\r\n\r\n");
    }));
}

#[test]
#[ignore = "in --all: checks the suite itself: cargo xtask test --all"]
fn one_that_answers_everything_with_a_page() {
    expect_no_mcp(&report(|mut stream| {
        let mut bytes = [0; 8192];
        let _ = stream.read(&mut bytes);
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n";
        let _ = stream.write_all(format!("{head}<p>hello").as_bytes());
    }));
}

#[test]
#[ignore = "in --all: checks the suite itself: cargo xtask test --all"]
fn one_that_answers_without_end() {
    expect_no_mcp(&report(|mut stream| {
        let mut bytes = [0; 8192];
        let _ = stream.read(&mut bytes);
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
        let _ = stream.write_all(head.as_bytes());
        while stream.write_all(b"data: [1, null]\n\n").is_ok() {
            thread::sleep(Duration::from_millis(1));
        }
    }));
}

#[test]
#[ignore = "in --all: checks the suite itself: cargo xtask test --all"]
fn one_whose_answer_has_no_end() {
    let report = report(|mut stream| {
        let mut bytes = [0; 8192];
        let _ = stream.read(&mut bytes);
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n";
        let _ = stream.write_all(head.as_bytes());
        while stream.write_all(b" ").is_ok() {
            thread::sleep(Duration::from_millis(20));
        }
    });
    expect_reason(&report, "did not end within");
}

#[test]
#[ignore = "in --all: checks the suite itself: cargo xtask test --all"]
fn one_whose_answer_is_too_long() {
    static IS_SENT: AtomicBool = AtomicBool::new(false);
    let report = report_within(SOON, |mut stream| {
        let is_first = || !IS_SENT.swap(true, Ordering::SeqCst);
        if request(&stream).is_some_and(|(method, _)| method == "POST") && is_first() {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n";
            let _ = stream.write_all(head.as_bytes());
            while stream.write_all(&[b' '; 1 << 20]).is_ok() {}
        }
    });
    expect_reason(&report, "longer than 64 MiB");
}

#[test]
#[ignore = "in --all: checks the suite itself: cargo xtask test --all"]
fn one_whose_answer_has_too_many_values() {
    let report = report_within(SOON, |stream| {
        let _ = request(&stream);
        answer(stream, &json!(vec![0; 1_000_000]));
    });
    expect_reason(&report, "too many values");
}

#[test]
#[ignore = "in --all: checks the suite itself: cargo xtask test --all"]
fn one_that_refuses_in_words() {
    let report = report(|mut stream| {
        let _ = request(&stream);
        let head = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
        let body = json!({"jsonrpc": "2.0", "error": {"code": -32600, "message": "not today"}});
        let _ = stream.write_all(format!("{head}{body}").as_bytes());
    });
    expect_reason(&report, "HTTP 400, \"not today\"");
}

#[test]
#[ignore = "in --all: checks the suite itself: cargo xtask test --all"]
fn one_that_answers_initialize_with_an_error() {
    let report = report(|stream| {
        let Some((_, message)) = request(&stream) else {
            return;
        };
        let error = json!({"code": -32603, "message": "no"});
        let id = &message["id"];
        answer(stream, &json!({"jsonrpc": "2.0", "id": id, "error": error}));
    });
    expect_no_mcp(&report);
}

/// Serves, but for its event streams, of which each is `push`ed to and left open until that ends.
fn serve(mut stream: TcpStream, push: impl FnOnce(&mut TcpStream)) {
    let Some((method, message)) = request(&stream) else {
        return;
    };
    if method == "GET" {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
        let _ = stream.write_all(head.as_bytes());
        push(&mut stream);
        return;
    }
    let result = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "stranger", "version": "1"},
        "content": [{"type": "text", "text": json!({"content": "text"}).to_string()}],
    });
    let id = &message["id"];
    answer(
        stream,
        &json!({"jsonrpc": "2.0", "id": id, "result": result}),
    );
}

/// Pushes so much on its first event streams that nobody could keep it.
fn flood(stream: TcpStream, pushed: &[u8], streams: &AtomicU32) {
    serve(stream, |stream| {
        if streams.fetch_add(1, Ordering::SeqCst) < FLOODS {
            while stream.write_all(pushed).is_ok() {}
        }
        let _ = stream.read(&mut [0]);
    });
}

#[test]
#[ignore = "in --all: checks the suite itself: cargo xtask test --all"]
fn one_whose_event_streams_end_at_once_keeps_nobody_waiting() {
    let report = report_with(SOON, Box::new(Asked), |stream| serve(stream, |_| {}));
    let mut rows = report.rows.iter();
    let row = rows.find(|row| row.rule.id == "C5.6-sent").unwrap();
    let is_told = row.verdict == Verdict::Skip && row.detail.contains("C1.1-stream-stays");
    assert!(is_told, "{row:?}");
}

/// A whole process is measured, so the other tests are in another one.
#[test]
#[ignore = "in --all: checks the suite itself: cargo xtask test --all"]
fn one_whose_event_stream_is_a_flood_takes_no_memory_for_it() {
    let flooded = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "strangers::flooded", "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&flooded.stdout);
    assert!(
        flooded.status.success() && shown.contains("1 passed"),
        "{shown}"
    );
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn flooded() {
    let of_messages = report(|stream| {
        static STREAMS: AtomicU32 = AtomicU32::new(0);
        let event = "data: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n";
        flood(stream, event.repeat(1_000).as_bytes(), &STREAMS);
    });
    let of_bytes = report(|stream| {
        static STREAMS: AtomicU32 = AtomicU32::new(0);
        flood(stream, &[b'x'; 1 << 16], &STREAMS);
    });
    for report in [of_messages, of_bytes] {
        assert!(!failed(&report).is_empty());
    }
    let peak = peak_memory(std::process::id());
    assert!(peak < MOST_MEMORY, "{peak} bytes");
}
