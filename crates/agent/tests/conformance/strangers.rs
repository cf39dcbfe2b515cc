//! What is no companion at all: the suite says so, soon, and does not fall over.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use pillion_agent::conformance::{Conformance, Patience, Report, Target};
use pillion_discovery::Environment;
use serde_json::{Value, json};

use crate::companion::TOKEN;
use crate::rules::{Absent, failed};
use crate::wire::Request;

/// What becomes of the rules when this answers.
fn report(answer: fn(TcpStream)) -> Report {
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
    let target = Target::of_file(&file, &environment).unwrap();
    let patience = Patience {
        answer: Duration::from_millis(200),
        ..Patience::default()
    };
    let conformance = Conformance::new(target, patience, Box::new(Absent));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let started = Instant::now();
    let report = runtime.block_on(conformance.run(|_| true, |_| {}));
    let took = started.elapsed();
    assert!(took < Duration::from_secs(30), "{took:?}");
    report
}

#[track_caller]
fn expect_no_mcp(report: &Report) {
    let failed = failed(report);
    let has = |id: &str| failed.iter().any(|row| row.starts_with(id));
    assert!(has("C1.1-initialize: ") && !has("C5"), "{failed:#?}");
}

/// What the first row about MCP says.
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
fn one_that_never_answers() {
    expect_no_mcp(&report(|mut stream| {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
    }));
}

#[test]
fn one_that_hangs_up() {
    expect_no_mcp(&report(drop));
}

#[test]
fn one_that_speaks_no_http() {
    expect_no_mcp(&report(|mut stream| {
        let _ = stream.write_all(b"220 mail.example ESMTP\r\n\0\xff\r\n\r\n");
    }));
}

#[test]
fn one_that_answers_everything_with_a_page() {
    expect_no_mcp(&report(|mut stream| {
        let mut bytes = [0; 8192];
        let _ = stream.read(&mut bytes);
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n";
        let _ = stream.write_all(format!("{head}<p>hello").as_bytes());
    }));
}

#[test]
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
    expect_reason(&report, "no end of it came");
}

#[test]
fn one_whose_answer_is_too_long() {
    let report = report(|mut stream| {
        let mut bytes = [0; 8192];
        let _ = stream.read(&mut bytes);
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n";
        let _ = stream.write_all(head.as_bytes());
        while stream.write_all(&[b' '; 1 << 20]).is_ok() {}
    });
    expect_no_mcp(&report);
}

#[test]
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

/// How much of this process lies in memory.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn flood(stream: TcpStream, pushed: &[u8]) {
    let Some((method, message)) = request(&stream) else {
        return;
    };
    if method == "GET" {
        let mut stream = stream;
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
        let _ = stream.write_all(head.as_bytes());
        while stream.write_all(pushed).is_ok() {}
        return;
    }
    let result = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "flood", "version": "1"},
    });
    let id = &message["id"];
    answer(
        stream,
        &json!({"jsonrpc": "2.0", "id": id, "result": result}),
    );
}

/// Both in one test: what is measured is the whole process.
#[test]
fn one_whose_event_stream_is_a_flood_takes_no_memory_for_it() {
    let messages = |stream| {
        let event = "data: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n";
        flood(stream, event.repeat(1_000).as_bytes());
    };
    let report_of_messages = report(messages);
    let bytes = |stream| flood(stream, &[b'x'; 1 << 16]);
    let report_of_bytes = report(bytes);
    for report in [report_of_messages, report_of_bytes] {
        assert!(!failed(&report).is_empty());
    }
    assert!(resident() < 2 << 20, "{} kB", resident());
}
