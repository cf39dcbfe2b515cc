//! Dialling: containers, and other programs on the port.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Barrier, Mutex};

use pillion_agent::host::is_in_container;
use pillion_testkit::{SOON, Size, Tmux};
use serde_json::{Value, json};

use crate::foreign::Foreign;
use crate::vscode::{Person, TOKEN, VsCode};

use super::world::{CLAUDE, GEMINI, QWEN, Told, World, in_namespace, kill};

/// Runs the doctor in a container, or in something that agents take for one.
fn in_a_container(world: &World, before: &str, agent: &str) -> Told {
    let script = format!("{before}\n\"$0\" \"$@\"; exit $?");
    let wrapped = |args: &[&str]| {
        let command = world.command(&script, args);
        if is_in_container() {
            return command;
        }
        let mark = "mount -t tmpfs tmpfs /run && touch /run/.containerenv && exec \"$@\"";
        in_namespace(mark, &[], &command)
    };
    world.told_by(wrapped(&[agent, "--json"]), || wrapped(&[agent]))
}

#[test]
fn the_host_that_is_dialled_in_a_container_is_named() {
    let world = World::new().without("REMOTE_CONTAINERS");
    let serve = world.serve();
    let told = in_a_container(&world, "", GEMINI);
    let fix = told.expect_first("container-host", "dials host.docker.internal");
    assert_eq!(fix, format!("pillion run --port {} gemini", serve.port()));
    // What `run` sets there.
    let set = "export REMOTE_CONTAINERS=1";
    in_a_container(&world, set, GEMINI).expect_connects("container-host");
    // It tries this machine first.
    in_a_container(&world, "", QWEN).expect_connects("container-host");
}

/// It may hold a password.
#[test]
fn a_proxy_is_named_without_its_address() {
    let world = World::new();
    let _serve = world.serve();
    for agent in [GEMINI, QWEN] {
        let told = world.after("export https_proxy=http://me:secret@proxy.example", agent);
        assert!(told.text.contains("proxy: https_proxy=…"), "{}", told.text);
        assert!(!told.text.contains("secret"), "{}", told.text);
    }
}

/// Answers every connection on a dead companion's port with this.
fn take(port: u16, answer: &'static [u8]) {
    let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
    // Ends with the test's process.
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut asked = [0; 4096];
            // A check whether there is a listener sends nothing.
            if stream.read(&mut asked).is_ok_and(|length| length > 0) {
                let _ = stream.write_all(answer);
            }
        }
    });
}

#[test]
fn another_program_on_the_port_is_distinguished_from_a_companion() {
    for answer in [
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello".as_slice(),
        b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        b"220 mail.example ESMTP\r\n",
        b"",
    ] {
        let world = World::new();
        take(kill(world.serve()), answer);
        let told = world.doctor(GEMINI);
        let fix = told.expect_first("port-taken", "another program listens on port");
        let after = world.after(&fix, GEMINI);
        after.expect_gone("port-taken");
        after.expect_first("no-companion", "no companion is running");
    }
}

/// Takes every connection on a port, and keeps what is sent there.
fn overhear(port: u16) -> (u16, Arc<Mutex<Vec<u8>>>) {
    let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&heard);
    // Ends with the test's process.
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut asked = [0; 4096];
            let length = stream.read(&mut asked).unwrap_or(0);
            kept.lock().unwrap().extend_from_slice(&asked[..length]);
            let _ = stream.write_all(
                b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
            );
        }
    });
    (port, heard)
}

#[test]
fn whoever_took_a_dead_companions_port_is_told_nothing() {
    let world = World::new();
    let (_, heard) = overhear(kill(world.serve()));
    let told = world.doctor(GEMINI);
    let fix = told.expect_first("port-taken", "another program listens on port");
    // A companion leaves a file for each of its ancestors: no list of them, and not twice.
    assert_eq!(fix.split(' ').count(), 4, "{fix}");
    assert_eq!(told.text.matches("rm -f --").count(), 1, "{}", told.text);
    world.after(&fix, GEMINI).expect_gone("port-taken");
    assert_eq!(*heard.lock().unwrap(), b"");
}

/// A lock file for Claude Code: its editor lives, and the companion of Pillion's that left it is this process.
fn left_by(world: &World, publisher: Option<u32>, editor: u32, port: u16) {
    let folder = world.home().home().join(".claude/ide");
    fs::create_dir_all(&folder).unwrap();
    let mut content = json!({
        "pid": editor, "workspaceFolders": [world.home().workspace().canonicalize().unwrap()],
        "ideName": "Pillion", "transport": "ws", "authToken": "the-secret-of-the-dead",
    });
    if let Some(pid) = publisher {
        content["pillion"] = json!({ "pid": pid });
    }
    fs::write(folder.join(format!("{port}.lock")), content.to_string()).unwrap();
}

#[test]
fn claude_codes_token_goes_to_no_other_program() {
    let mut dead = std::process::Command::new("true").spawn().unwrap();
    dead.wait().unwrap();
    let mut other = std::process::Command::new("sleep")
        .arg("600")
        .spawn()
        .unwrap();
    // Killed, or another process has its number by now.
    for publisher in [dead.id(), other.id()] {
        let world = World::new();
        world.install(CLAUDE, "2.1.332");
        let (port, heard) = overhear(0);
        left_by(&world, Some(publisher), std::process::id(), port);
        let told = world.doctor(CLAUDE);
        told.expect_first("port-taken", "another program listens on port");
        assert_eq!(told.code, 1, "{}", told.text);
        assert_eq!(*heard.lock().unwrap(), b"", "{publisher}");
    }
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn a_companion_of_anothers_that_lives_is_asked() {
    let world = World::new();
    world.install(CLAUDE, "2.1.332");
    let (port, heard) = overhear(0);
    left_by(&world, None, std::process::id(), port);
    world
        .doctor(CLAUDE)
        .expect_first("token-refused", "refuses the token");
    assert!(!heard.lock().unwrap().is_empty());
}

#[test]
fn a_companion_that_is_suspended_goes_on_by_the_command() {
    let world = World::new();
    let serve = world.serve();
    serve.signal("STOP");
    let told = world.doctor(GEMINI);
    let fix = told.expect_first("no-answer", "does not respond");
    assert_eq!(fix, format!("kill -CONT {}", serve.child.id()));
    world.after(&fix, GEMINI).expect_connects("no-answer");
}

#[test]
fn an_agents_session_with_anothers_companion_is_left_alone() {
    let world = World::new();
    let vscode = VsCode::start(world.home(), Person::Waits);
    let told = world.doctor(GEMINI);
    told.expect_connects("no-context");
    assert!(told.text.contains("accepts the token"), "{}", told.text);
    assert!(told.text.contains("would connect to VS Code"));
    assert_eq!(vscode.sessions(), 0);
    let text = fs::read_to_string(&vscode.file).unwrap();
    fs::write(&vscode.file, text.replace(TOKEN, "an-older-token")).unwrap();
    world
        .doctor(GEMINI)
        .expect_first("token-refused", "refuses the token");
    assert_eq!(vscode.sessions(), 0);
}

#[test]
fn a_companion_that_does_not_name_its_editor_is_named_by_its_port() {
    // Without a name, agents connect only in the terminal of an editor that they know.
    let world = World::new().with("TERM_PROGRAM", "vscode");
    let vscode = VsCode::start(world.home(), Person::Waits);
    let text = fs::read_to_string(&vscode.file).unwrap();
    let mut content: Value = serde_json::from_str(&text).unwrap();
    assert!(content.as_object_mut().unwrap().remove("ideInfo").is_some());
    fs::write(&vscode.file, content.to_string()).unwrap();
    let told = world.doctor(GEMINI);
    told.expect_connects("companion-not-taken");
    let port = &content["port"];
    let verdict = format!("Gemini CLI would connect to the unnamed companion on port {port}.");
    assert!(told.text.contains(&verdict), "{}", told.text);
}

#[test]
fn the_file_of_an_editor_that_is_only_busy_is_not_to_be_removed() {
    let world = World::new();
    let busy = Foreign::new();
    let workspace = world.home().workspace();
    busy.serve_gemini(
        &world.sandbox,
        std::process::id(),
        workspace.to_str().unwrap(),
        "busys",
    );
    let told = world.doctor(GEMINI);
    let fix = told.expect_first("no-answer", "does not respond");
    assert_eq!(fix, "");
}

#[test]
fn at_a_terminal_it_is_shown_what_is_waited_for() {
    let world = World::new();
    let silent = Foreign::new();
    let workspace = world.home().workspace();
    let shown = workspace.to_str().unwrap();
    silent.serve_gemini(&world.sandbox, std::process::id(), shown, "silents");
    let mut env = world.home().env();
    env.prepend_path(world.bin());
    env.set("REMOTE_CONTAINERS", "1");
    let note = "still waiting for a companion to respond";
    let tmux = Tmux::start();
    let command = [env!("CARGO_BIN_EXE_pillion"), "doctor", GEMINI];
    let size = Size::new(100, 40);
    let pane = tmux.spawn("doctor", size, &env, &workspace, &command);
    pane.wait_for(note, SOON);
    pane.wait_for("would not connect from here", SOON);
    // Not for scripts.
    let output = world.command("\"$0\" \"$@\"", &[GEMINI]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

/// Each of two answers only when both are asked: asked one after the other neither would.
#[test]
fn companions_that_are_slow_are_asked_at_once() {
    let world = World::new();
    let both = Arc::new(Barrier::new(2));
    for _ in 0..2 {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let content = serde_json::json!({
            "port": port, "workspacePath": world.home().workspace(), "ppid": std::process::id(),
            "authToken": "slow", "ideInfo": {"name": "vscode", "displayName": "VS Code"},
        });
        let folder = world.home().home().join(".qwen/ide");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{port}.lock")), content.to_string()).unwrap();
        let both = Arc::clone(&both);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut begin = [0; 64];
                // A look at whether anybody listens asks nothing.
                if stream.read(&mut begin).unwrap_or(0) > 0 {
                    both.wait();
                    let refusal = b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n";
                    // The caller may be gone.
                    let _ = stream.write_all(refusal);
                }
            }
        });
    }
    let told = world.doctor(QWEN);
    told.expect_first("token-refused", "refuses the token");
    told.expect_gone("no-answer");
}
