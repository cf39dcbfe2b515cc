//! However the editor ends, its files go and what is pending is rejected (C5.7, C6.2).

#[cfg(target_os = "linux")]
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use pillion_discovery::{Environment, unended};
use pillion_protocol::Dialect;
use pillion_testkit::{IdleProcess, SOON, TestAgent, discovery_files};
use serde_json::{Value, json};

use crate::agent::{self, rejected};
use crate::client::{Editor, plugin_params};
use crate::sandbox::{self, Sandbox};

/// An editor with a diff that is pending.
struct Pending {
    editor: Editor,
    agent: TestAgent,
    files: Vec<PathBuf>,
    sandbox: Sandbox,
}

const PROPOSED: &str = "/tmp/proposed";

impl Pending {
    fn new(start: impl FnOnce(&Sandbox) -> Editor) -> Self {
        let sandbox = Sandbox::new();
        let mut editor = start(&sandbox);
        let files = agent::files(&mut editor);
        let agent = TestAgent::connect(&files[0]);
        let call = agent.proposing(PROPOSED, "x");
        editor.open_diff();
        call.end().unwrap();
        Self {
            editor,
            agent,
            files,
            sandbox,
        }
    }

    fn plugin() -> Self {
        Self::new(Editor::plugin)
    }

    #[track_caller]
    fn expect_end(&mut self, code: i32) -> String {
        assert_eq!(self.agent.outcome(), rejected(PROPOSED), "C5.7");
        let (ended, errors) = self.editor.ended();
        assert_eq!(ended, Some(code), "{errors}");
        self.expect_no_files();
        errors
    }

    #[track_caller]
    fn expect_no_files(&self) {
        assert!(!self.files.iter().any(|file| file.exists()), "C6.2");
    }
}

#[test]
fn shutdown_and_exit() {
    let mut pending = Pending::plugin();
    let answer = pending.editor.request("shutdown", Value::Null);
    assert!(
        answer["error"].is_null() && answer["result"].is_null(),
        "{answer}"
    );
    pending.editor.notify("exit", Value::Null);
    assert_eq!(pending.expect_end(0), "");
}

#[test]
fn from_shutdown_on_no_agent_is_served() {
    let mut pending = Pending::plugin();
    pending.editor.request("shutdown", Value::Null);
    assert_eq!(pending.agent.outcome(), rejected(PROPOSED));
    pending.expect_no_files();
    pending.editor.hang_up();
    assert_eq!(pending.editor.ended().0, Some(0));
}

#[test]
fn a_signal_after_shutdown() {
    for signal in ["TERM", "INT", "HUP"] {
        let mut pending = Pending::plugin();
        pending.editor.request("shutdown", Value::Null);
        assert_eq!(pending.agent.outcome(), rejected(PROPOSED));
        sandbox::signal(&pending.editor.child, signal);
        assert_eq!(pending.editor.ended(), (Some(0), String::new()), "{signal}");
    }
}

#[test]
fn exit_without_shutdown_is_reported() {
    let mut pending = Pending::plugin();
    pending.editor.notify("exit", Value::Null);
    let errors = pending.expect_end(1);
    assert!(
        errors.starts_with("error: the editor sent exit without shutdown\nhint: "),
        "{errors}"
    );
}

#[test]
fn the_end_of_the_input() {
    let mut pending = Pending::plugin();
    pending.editor.hang_up();
    assert_eq!(pending.expect_end(0), "");
}

#[test]
fn every_signal() {
    for signal in ["TERM", "INT", "HUP"] {
        let mut pending = Pending::plugin();
        sandbox::signal(&pending.editor.child, signal);
        assert_eq!(pending.expect_end(0), "", "{signal}");
    }
}

#[test]
fn a_signal_before_the_plugin_is_ready() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::start::<&str>(&sandbox, []);
    editor.initialize(plugin_params());
    sandbox::signal(&editor.child, "TERM");
    assert_eq!(editor.ended().0, Some(0));
}

#[test]
fn the_end_of_the_editor_s_process_while_another_holds_its_pipes() {
    let process = IdleProcess::start();
    let mut pending = Pending::new(|sandbox| {
        let mut params = plugin_params();
        params["processId"] = process.id().into();
        let mut editor = Editor::start::<&str>(sandbox, []);
        editor.initialize(params);
        editor.notify("initialized", json!({}));
        editor
    });
    let name = format!("-{}-", process.id());
    assert!(pending.files[0].to_str().unwrap().contains(&name), "C2.3");
    drop(process);
    assert_eq!(pending.expect_end(0), "");
}

/// An agent's shell can: nothing that it writes there decides.
#[cfg(target_os = "linux")]
#[test]
fn a_program_that_opens_the_editors_connection() {
    for stream in [0, 1] {
        let mut pending = Pending::plugin();
        let pipe = format!("/proc/{}/fd/{stream}", pending.editor.child.id());
        let mut pipe = OpenOptions::new().write(true).open(pipe).unwrap();
        let seen = json!({"drawnMs": 5000, "typed": true, "hunks": [0]});
        let decision = json!({"id": 1, "revision": 1, "decision": "accept", "seen": seen});
        let method = "pillion/decide";
        if stream == 0 {
            let request = json!({"jsonrpc": "2.0", "id": 9, "method": method, "params": decision});
            write(&mut pipe, &request);
        } else {
            // What the editor shows may be that program's by then.
            pending.editor.ask(method, decision);
        }
        let errors = pending.expect_end(1);
        let said = "error: another program has the editor's connection to Pillion";
        assert!(errors.starts_with(said), "{errors}");
    }
}

/// It has had it open since before anybody looks.
#[cfg(target_os = "linux")]
#[test]
fn a_program_that_has_kept_the_editors_connection_open() {
    let sandbox = Sandbox::new();
    let (reader, mut writer) = std::io::pipe().unwrap();
    // Nobody's child, as what an agent leaves behind.
    let mut left = Command::new("sh");
    left.args(["-c", "sleep 600 2>&- & echo $! >&2"])
        .stdout(writer.try_clone().unwrap());
    let left = left.stderr(Stdio::piped()).output().unwrap().stderr;
    let left = String::from_utf8(left).unwrap();
    let mut command = sandbox.command(["lsp"]);
    command
        .stdin(reader)
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(command);
    let started = Instant::now();
    let mut errors = child.stderr.take().unwrap();
    // It ends with the first message after it has looked.
    while child.try_wait().unwrap().is_none() {
        let message = json!({"jsonrpc": "2.0", "method": "$/any"});
        let body = message.to_string();
        let _ = write!(writer, "Content-Length: {}\r\n\r\n{body}", body.len());
        assert!(started.elapsed() < SOON, "it goes on");
        thread::sleep(Duration::from_millis(20));
    }
    let kill = Command::new("kill").arg(left.trim()).status().unwrap();
    assert!(kill.success());
    let mut said = String::new();
    errors.read_to_string(&mut said).unwrap();
    assert!(
        said.starts_with("error: another program has the editor's connection"),
        "{said}"
    );
}

/// An agent's shell can take all that the system has for noticing it.
#[cfg(target_os = "linux")]
#[test]
fn where_nobody_would_notice_who_says_it_the_editor_shows_and_decides_nothing() {
    let script = "echo 0 >/proc/sys/user/max_inotify_instances && exec \"$0\" lsp";
    let mut pending = Pending::new(|sandbox| {
        let mut command = Command::new("unshare");
        command
            .args(["-Ur", "sh", "-c", script, env!("CARGO_BIN_EXE_pillion")])
            .env_clear()
            .envs(sandbox.home.env().iter())
            .current_dir(sandbox.home.workspace());
        let mut editor = Editor::spawn(&mut command);
        editor.initialize(plugin_params());
        editor.notify("initialized", json!({}));
        let why = "nothing that you decide in this editor counts";
        let message = editor.next("window/showMessage")["params"]["message"].to_string();
        assert!(message.contains(why), "{message}");
        editor
    });
    let seen = json!({"drawnMs": 5000, "typed": true, "hunks": [0]});
    for decision in ["accept", "reject"] {
        let decision = json!({"id": 1, "revision": 1, "decision": decision, "seen": seen});
        let answer = pending
            .editor
            .request("pillion/decide", decision)
            .to_string();
        assert!(answer.contains("nobody would notice"), "{answer}");
    }
    // Whoever sends that closes nothing in the person's name.
    pending.editor.request("shutdown", Value::Null);
    pending.editor.notify("exit", Value::Null);
    let (ended, errors) = pending.editor.ended();
    assert_eq!(ended, Some(0), "{errors}");
    let home = &pending.sandbox.home;
    let places = [("TMPDIR", home.tmp()), ("XDG_RUNTIME_DIR", home.runtime())];
    let environment = Environment::from_pairs(places);
    let workspace = home.workspace();
    assert!(
        unended::roots_around(&environment, &workspace).is_some(),
        "hooks deny"
    );
}

/// An editor that started us from a shell, which is our parent and can be killed.
fn below_a_shell(sandbox: &Sandbox) -> Editor {
    let script = "exec 3<&0; \"$0\" lsp <&3 & wait";
    let mut command = Command::new("sh");
    command
        .args(["-c", script, env!("CARGO_BIN_EXE_pillion")])
        .env_clear()
        .envs(sandbox.home.env().iter())
        .current_dir(sandbox.home.workspace());
    Editor::spawn(&mut command)
}

#[test]
fn a_parent_that_is_killed_before_initialize() {
    let sandbox = Sandbox::new();
    let mut editor = below_a_shell(&sandbox);
    editor.request("too/early", Value::Null);
    sandbox::signal(&editor.child, "KILL");
    assert_eq!(sandbox::ended(&mut editor.child), None);
    editor.output_ended();
}

#[test]
fn a_parent_that_is_killed() {
    let mut pending = Pending::new(|sandbox| {
        let mut params = plugin_params();
        params["processId"] = Value::Null;
        let mut editor = below_a_shell(sandbox);
        editor.initialize(params);
        editor.notify("initialized", json!({}));
        editor
    });
    let name = format!("-{}-", pending.editor.child.id());
    assert!(pending.files[0].to_str().unwrap().contains(&name), "C2.3");
    sandbox::signal(&pending.editor.child, "KILL");
    assert_eq!(sandbox::ended(&mut pending.editor.child), None);
    assert_eq!(pending.agent.outcome(), rejected(PROPOSED));
    pending.editor.output_ended();
    pending.expect_no_files();
}

/// A plugin that reads nothing, and a discovery file for its agents.
fn deaf(sandbox: &Sandbox) -> (Child, ChildStdin, PathBuf) {
    let mut child = sandbox
        .command(["lsp"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    for message in [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": plugin_params()}),
        json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}),
    ] {
        write(&mut input, &message);
    }
    let found = wait_for(|| {
        let files = discovery_files(&sandbox.home, Dialect::GeminiCli);
        files.into_iter().next()
    });
    (child, input, found)
}

fn write(input: &mut impl Write, message: &Value) {
    let body = message.to_string();
    write!(input, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
}

#[test]
fn proposals_do_not_pile_up_before_an_editor_that_reads_nothing() {
    let sandbox = Sandbox::new();
    let file = sandbox.home.file("a.txt", "");
    let (mut child, mut input, found) = deaf(&sandbox);
    let agent = TestAgent::connect(&found);
    // More than its widened input holds, so most were read when all are written; the answers are more than a pipe
    // holds.
    for id in 2..30_000 {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": "no/such/method"});
        write(&mut input, &request);
    }
    let call = agent.proposing(file.to_str().unwrap(), "x");
    assert_eq!(
        call.end(),
        Err("the editor does not read its messages".to_owned())
    );
    sandbox::signal(&child, "TERM");
    assert_eq!(sandbox::ended(&mut child), Some(0));
}

#[test]
fn an_editor_that_reads_nothing_does_not_keep_it_alive() {
    let sandbox = Sandbox::new();
    // More than a pipe holds.
    let big = "x".repeat(4 << 20);
    let file = sandbox.home.file("big.txt", &big);
    let (mut child, _input, found) = deaf(&sandbox);
    let agent = TestAgent::connect(&found);
    let call = agent.proposing(file.to_str().unwrap(), &big);
    let mut output = child.stdout.take().unwrap();
    let mut read = Vec::new();
    while !String::from_utf8_lossy(&read).contains("pillion/openDiff") {
        let mut bytes = [0; 64];
        let count = output.read(&mut bytes).unwrap();
        read.extend_from_slice(&bytes[..count]);
    }
    sandbox::signal(&child, "TERM");
    assert_eq!(sandbox::ended(&mut child), Some(0));
    call.end().unwrap_err();
    assert!(!found.exists(), "C6.2");
}

/// Its person has quit it: nobody waits for it to come back, as for one that was killed.
#[test]
fn an_editor_that_reads_no_more_is_heard_to_the_end() {
    let sandbox = Sandbox::new();
    let (mut child, mut input, _) = deaf(&sandbox);
    drop(child.stdout.take());
    // The first answer that cannot be written comes long before the last is asked for.
    for id in 2..1_000 {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": "no/such/method"});
        write(&mut input, &request);
    }
    write(
        &mut input,
        &json!({"jsonrpc": "2.0", "id": 1, "method": "shutdown"}),
    );
    write(&mut input, &json!({"jsonrpc": "2.0", "method": "exit"}));
    assert_eq!(sandbox::ended(&mut child), Some(0));
    let expected = unended::roots_around(&sandbox.environment(), &sandbox.home.workspace());
    assert_eq!(expected, None);
}

fn wait_for<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < SOON, "it does not come");
        thread::sleep(Duration::from_millis(5));
    }
}
