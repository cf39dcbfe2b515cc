//! The hub of another version, as far as one front end sees: a copy of these tests that has Pillion's name, because front ends
//! ask no other program.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::{env, fs, mem, process, thread};

use pillion_discovery::{Environment, Socket};
use pillion_testkit::Home;
use serde_json::json;

/// The version that it has, in its environment.
const VERSION: &str = "PILLION_TEST_OTHER_HUB";

/// Attaches one front end, whose companion no agent ever finds, until it leaves.
pub fn start(home: &Home, version: &str) {
    let program = home.tmp().join("pillion");
    fs::copy(env::current_exe().unwrap(), &program).unwrap();
    let mut child = Command::new(program)
        .args([
            "--exact",
            "other_hub::plays",
            "--include-ignored",
            "--nocapture",
        ])
        .env(VERSION, version)
        .env("TMPDIR", home.tmp())
        .env("XDG_RUNTIME_DIR", home.runtime())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().ends_with(LISTENS)));
    // It ends with this process at the latest.
    mem::forget((child.stdin.take(), lines));
    thread::spawn(move || child.wait());
}

const LISTENS: &str = "the other hub listens";

#[test]
#[ignore = "needs to be started by another test: cargo xtask test"]
fn plays() {
    let Ok(version) = env::var(VERSION) else {
        return;
    };
    thread::spawn(|| {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        process::exit(0);
    });
    let environment = Environment::from_pairs(env::vars());
    let socket = Socket::of_hub(&environment).unwrap().unwrap();
    writeln!(io::stdout(), "{LISTENS}").unwrap();
    let attached = json!({
        "version": version, "pid": process::id(), "port": 1, "files": [OsStr::new("/nowhere")],
    });
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
}
