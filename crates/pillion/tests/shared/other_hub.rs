//! The hub of another version, as far as one front end sees.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::thread;

use pillion_discovery::{Environment, Socket};
use pillion_testkit::Home;
use serde_json::json;

/// Attaches one front end, whose companion no agent ever finds, until it leaves.
pub fn start(home: &Home, version: &str) {
    let environment =
        Environment::from_pairs([("TMPDIR", home.tmp()), ("XDG_RUNTIME_DIR", home.runtime())]);
    let socket = Socket::of_hub(&environment).unwrap().unwrap();
    let attached = json!({
        "version": version, "pid": std::process::id(), "port": 1, "files": [OsStr::new("/nowhere")],
    });
    thread::spawn(move || {
        loop {
            let mut stream = socket.listener().accept().unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let first = lines.next().and_then(Result::ok).unwrap_or_default();
            if first.starts_with("{\"program\"") {
                let none = json!({"answer": {"request": 1, "result": {"Ok": []}}});
                writeln!(stream, "{none}").unwrap();
                continue;
            }
            writeln!(stream, "{}", json!({"attached": attached})).unwrap();
            let is_leave = |line: &String| line.starts_with(r#"{"tell":{"leave""#);
            let _ = lines.map_while(Result::ok).find(is_leave);
            return;
        }
    });
}
