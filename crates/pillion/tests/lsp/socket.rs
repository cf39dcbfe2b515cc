//! `pillion lsp --socket`: who is heard there.

use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use pillion_testkit::SOON;
use serde_json::{Value, json};

use crate::client::{plugin_params, read};
use crate::sandbox::Sandbox;

fn message(id: u32, method: &str, params: Value) -> Vec<u8> {
    let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let text = message.to_string();
    format!("Content-Length: {}\r\n\r\n{text}", text.len()).into()
}

/// Whoever has not started it and connects first, and whatever the editor has started and given its end, as Vim does.
#[test]
fn the_process_that_has_started_it_is_heard_and_nobody_else() {
    let sandbox = Sandbox::new();
    let folder = tempfile::tempdir_in(sandbox.home.tmp()).unwrap();
    let path = folder.path().join("socket");
    let mut command = sandbox.command(["lsp", "--socket", path.to_str().unwrap()]);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert_eq!(line, "listening\n");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);

    let (at, first) = (path.clone(), message(1, "initialize", plugin_params()));
    let mut other = Command::new("sleep");
    let dial = move || {
        let mut stream = UnixStream::connect(&at)?;
        stream.write_all(&first)?;
        rustix::io::fcntl_setfd(&stream, rustix::io::FdFlags::empty())?;
        std::mem::forget(stream);
        Ok(())
    };
    // SAFETY: it makes system calls only.
    let mut other = unsafe { other.arg("600").pre_exec(dial) }.spawn().unwrap();

    let stream = UnixStream::connect(&path).unwrap();
    stream.set_read_timeout(Some(SOON)).unwrap();
    let mut answers = BufReader::new(stream.try_clone().unwrap());
    let mut ask = |id, method, params| {
        (&stream).write_all(&message(id, method, params)).unwrap();
        // What another one has read of it would be missed.
        if id == 1 {
            let begun = String::from_utf8_lossy(answers.fill_buf().unwrap()).into_owned();
            assert!(begun.contains("\r\nContent-Sum: "), "{begun}");
        }
        loop {
            let answer = read(&mut answers).expect("an answer");
            if answer.get("method").is_none() {
                return answer["id"].as_u64();
            }
        }
    };
    assert_eq!(ask(1, "initialize", plugin_params()), Some(1));
    assert!(!path.exists(), "nobody else is awaited");
    for end in ["shutdown", "exit"] {
        let mut heir = Command::new("cat");
        heir.stdin(Stdio::piped());
        heir.stdout(OwnedFd::from(stream.try_clone().unwrap()));
        let mut heir = heir.spawn().unwrap();
        let said = message(9, end, Value::Null);
        heir.stdin.take().unwrap().write_all(&said).unwrap();
        assert!(heir.wait().unwrap().success());
    }
    // Its answer would have come before.
    assert_eq!(ask(2, "shutdown", Value::Null), Some(2));
    for process in [&mut other, &mut child] {
        process.kill().unwrap();
        process.wait().unwrap();
    }
}
