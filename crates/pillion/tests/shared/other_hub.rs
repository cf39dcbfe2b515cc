//! The hub of another version, as far as one front end sees.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::thread;

use pillion_discovery::Environment;
use pillion_discovery::hub_socket::HubSocket;
use pillion_testkit::Home;
use serde_json::json;

/// Attaches one front end, whose companion no agent ever finds, until it leaves.
pub fn start(home: &Home, version: &str) {
    let environment =
        Environment::from_pairs([("TMPDIR", home.tmp()), ("XDG_RUNTIME_DIR", home.runtime())]);
    let socket = HubSocket::listen(&environment).unwrap().unwrap();
    socket.listener().set_nonblocking(false).unwrap();
    let attached = json!({
        "version": version, "pid": std::process::id(), "port": 1, "files": [OsStr::new("/nowhere")],
    });
    thread::spawn(move || {
        let (mut stream, _) = socket.listener().accept().unwrap();
        let lines = BufReader::new(stream.try_clone().unwrap()).lines();
        writeln!(stream, "{}", json!({"attached": attached})).unwrap();
        let is_leave = |line: &String| line == "\"leave\"";
        let _ = lines.map_while(Result::ok).find(is_leave);
    });
}
