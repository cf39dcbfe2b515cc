//! What is no companion at all: the suite says so, soon, and does not fall over.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use pillion_agent::conformance::{Conformance, Patience, Report, Target};
use pillion_discovery::Environment;
use serde_json::json;

use crate::companion::TOKEN;
use crate::rules::{Absent, failed};

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
