//! The limits on what a client can consume of a companion: above all other users of the machine, who have no token.

mod hub;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::Instant;

use pillion_testkit::client::Update;
use pillion_testkit::{SOON, pause, peak_memory};

use crate::sandbox::{Sandbox, Serve};

/// A companion that may have few files open, so that a test need not open thousands.
fn serve_with_descriptors(sandbox: &Sandbox, limit: u32) -> Serve {
    let script = format!("ulimit -n {limit} && exec \"$0\" serve");
    let mut child = std::process::Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_pillion")])
        .env_clear()
        .envs(sandbox.home.env().iter())
        .current_dir(sandbox.home.workspace())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    let ready = serde_json::from_str(&line).unwrap();
    Serve { child, ready }
}

fn dial(serve: &Serve) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", serve.port())).unwrap();
    stream.set_read_timeout(Some(SOON)).unwrap();
    stream
}

fn is_closed(stream: &mut TcpStream) -> bool {
    // Whatever was not read yet is thrown away, which is an error on this side.
    matches!(stream.read(&mut [0]), Ok(0) | Err(_))
}

#[test]
fn silent_connections_take_no_descriptor_from_those_with_a_token() {
    let sandbox = Sandbox::new();
    let serve = serve_with_descriptors(&sandbox, 128);
    let mut early = serve.connect();
    early.propose("/tmp/early", "x");
    let mut silent: Vec<_> = (0..300).map(|_| dial(&serve)).collect();
    let late = serve.connect();
    late.propose("/tmp/late", "x");
    sandbox.run(["reject", "1.1"]).expect(0);
    assert!(matches!(early.outcome(), Update::DiffRejected { .. }));
    assert!(is_closed(&mut silent[0]), "the oldest has to go");
}

#[test]
fn a_silent_connection_is_closed_and_an_idle_stream_stays() {
    let sandbox = Sandbox::new();
    let serve = sandbox.serve::<&str>([]);
    let mut agent = serve.connect();
    agent.propose("/tmp/new", "x");
    let mut silent = dial(&serve);
    let mut unfinished = dial(&serve);
    unfinished
        .write_all(b"GET /mcp HTTP/1.1\r\nHost: 1")
        .unwrap();
    assert!(is_closed(&mut silent) && is_closed(&mut unfinished));
    sandbox.run(["reject", "1.1"]).expect(0);
    assert!(matches!(agent.outcome(), Update::DiffRejected { .. }));
}

#[test]
fn headers_without_an_end_take_little_memory() {
    let sandbox = Sandbox::new();
    let serve = sandbox.serve::<&str>([]);
    let before = peak_memory(serve.child.id());
    let header = format!("GET /mcp HTTP/1.1\r\nX: {}", "x".repeat(300 * 1024));
    let connections: Vec<_> = (0..300)
        .map(|_| {
            let mut stream = dial(&serve);
            // It may be refused before all of it is read.
            let _ = stream.write_all(header.as_bytes());
            stream
        })
        .collect();
    serve.connect().propose("/tmp/new", "x");
    let grown = peak_memory(serve.child.id()) - before;
    assert!(grown < 40 << 20, "{grown} bytes for {}", connections.len());
}

#[test]
fn unfinished_bodies_take_no_more_memory_together_than_a_few_long_ones() {
    const LONG: usize = 100 << 20;
    let sandbox = Sandbox::new();
    let serve = sandbox.serve::<&str>([]);
    let before = peak_memory(serve.child.id());
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n\
         Accept: application/json, text/event-stream\r\n\
         Content-Type: application/json\r\nContent-Length: {LONG}\r\n\r\n",
        serve.port(),
        serve.token().expose()
    );
    let piece = vec![b' '; 1 << 20];
    let mut refused = 0;
    let unfinished: Vec<_> = (0..6)
        .map(|_| {
            let mut stream = dial(&serve);
            stream.write_all(head.as_bytes()).unwrap();
            let is_sent = (1..LONG >> 20).all(|_| stream.write_all(&piece).is_ok());
            refused += usize::from(!is_sent);
            stream
        })
        .collect();
    serve.connect().propose("/tmp/new", "x");
    let grown = peak_memory(serve.child.id()) - before;
    // A body grows by doubling.
    assert!(grown < 600 << 20, "{grown} bytes for {}", unfinished.len());
    assert!(refused >= 3, "{refused}");
    drop(unfinished);
    // Whoever left counts no longer, once that is noticed.
    let head = head.replace("Content-Length", "Connection: close\r\nContent-Length");
    let started = Instant::now();
    loop {
        let mut stream = dial(&serve);
        stream.write_all(head.as_bytes()).unwrap();
        let is_sent = (0..LONG >> 20).all(|_| stream.write_all(&piece).is_ok());
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        if is_sent && answer.starts_with("HTTP/1.1 400") {
            break;
        }
        assert!(started.elapsed() < SOON, "{answer}");
        pause(started);
    }
}

#[test]
fn a_body_in_tiny_pieces_takes_no_more_memory_than_its_bytes() {
    const PIECES: usize = 500_000;
    let sandbox = Sandbox::new();
    let serve = sandbox.serve::<&str>([]);
    let before = peak_memory(serve.child.id());
    let mut stream = dial(&serve);
    let token = serve.token();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n\
         Accept: application/json, text/event-stream\r\n\
         Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
        serve.port(),
        token.expose()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let pieces = "1\r\n \r\n".repeat(1000);
    for _ in 0..PIECES / 1000 {
        stream.write_all(pieces.as_bytes()).unwrap();
    }
    stream.write_all(b"0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    let grown = peak_memory(serve.child.id()) - before;
    assert!(grown < 10 << 20, "{grown} bytes");
}
