//! `list`: what runs on this machine, and what only left files.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::sandbox::Sandbox;
use crate::vscode::{self, Person, TOKEN, VsCode};

fn listed(sandbox: &Sandbox, args: &[&str]) -> Vec<Value> {
    let args = [&["list", "--json"], args].concat();
    let out = sandbox.run(args).expect(0).stdout;
    assert!(!out.contains(TOKEN), "a token shows: {out}");
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"))
}

#[test]
fn an_empty_machine_is_no_error_and_what_to_do_is_shown() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(["list"]).expect(0);
    assert_eq!(ran.stdout, "no companion is running on this machine\n");
    assert!(
        ran.stderr.starts_with("hint: Start one with `pillion`"),
        "{}",
        ran.stderr
    );
    assert_eq!(listed(&sandbox, &[]), Vec::<Value>::new());
}

#[test]
fn ours_tell_who_is_connected_and_what_waits() {
    let sandbox = Sandbox::new();
    let serve = sandbox.serve::<&str>([]);
    let agent = serve.connect();
    agent.propose("/tmp/a.txt", "x");
    let found = listed(&sandbox, &[]);
    assert_eq!(found.len(), 1, "{found:?}");
    let (ours, root) = (&found[0], sandbox.home.workspace());
    let mut told = ours.clone();
    let files = told.as_object_mut().unwrap().remove("files").unwrap();
    assert_eq!(files.as_array().unwrap().len(), serve.files().len());
    let editor = json!({"name": "pillion", "displayName": "Pillion"});
    assert_eq!(
        told,
        json!({"port": serve.port(), "pid": serve.child.id(), "editor": editor, "workspace": [root],
            "pillion": true, "state": "alive", "current": true, "agents": ["gemini"],
            "review": null, "pendingDiffs": 1, "lastFocusedMs": null,
            "views": [{"name": "pillion", "displayName": "Pillion", "pid": serve.child.id()}]})
    );
    let table = sandbox.run(["list"]).expect(0).stdout;
    let lines: Vec<Vec<_>> = table
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(
        lines[0],
        [
            "PORT",
            "PID",
            "EDITOR",
            "BY",
            "AGENTS",
            "DIFFS",
            "WORKSPACE"
        ]
    );
    let (port, pid) = (serve.port().to_string(), serve.child.id().to_string());
    let root = root.to_str().unwrap();
    assert_eq!(
        lines[1],
        ["*", &port, &pid, "Pillion", "pillion", "gemini", "1", root]
    );
    for token in [serve.token().expose(), "Token"] {
        assert!(!table.contains(token) && !ours.to_string().contains(token));
    }
}

#[test]
fn the_companion_of_this_folder_is_marked_and_the_home_folder_is_a_tilde() {
    let sandbox = Sandbox::new();
    let here = sandbox.serve::<&str>([]);
    let there = sandbox.home.home().join("elsewhere");
    fs::create_dir(&there).unwrap();
    let there = sandbox.serve(["--workspace", there.to_str().unwrap()]);
    let found = listed(&sandbox, &[]);
    let current = |port: u16| {
        let mut found = found.iter();
        found.find(|it| it["port"] == port).unwrap()["current"].clone()
    };
    assert_eq!(
        (current(here.port()), current(there.port())),
        (json!(true), json!(false))
    );
    let table = sandbox.run(["list"]).expect(0).stdout;
    assert!(
        table.lines().any(|line| line.ends_with("  ~/elsewhere")),
        "{table}"
    );
}

#[test]
fn others_are_listed_and_what_is_gone_only_when_asked_for() {
    let sandbox = Sandbox::new();
    let home = &sandbox.home;
    let vscode = VsCode::start(home, Person::Waits);
    let elsewhere = Path::new("/elsewhere");
    // Nobody listens on port 9.
    vscode::discovery_file(home, 9, elsewhere, "intellijidea", "IntelliJ\u{1b}[2J IDEA");
    let found = listed(&sandbox, &[]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["port"], vscode.port());
    assert_eq!(found[0]["pillion"], false);
    assert_eq!(found[0]["editor"]["displayName"], "VS Code");
    assert_eq!(found[0]["agents"], Value::Null);
    assert_eq!(found[0]["current"], true);
    let ran = sandbox.run(["list"]).expect(0);
    assert!(ran.stderr.contains("1 companion is gone"), "{}", ran.stderr);
    assert!(ran.stderr.contains("list --all"), "{}", ran.stderr);

    let found = listed(&sandbox, &["--all"]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(
        (&found[0]["port"], &found[0]["state"]),
        (&json!(9), &json!("nobodyListens"))
    );
    let table = sandbox.run(["list", "--all"]).expect(0).stdout;
    let line = table
        .lines()
        .find(|line| line.contains("nobody listens"))
        .unwrap();
    assert!(
        line.contains("IntelliJ␛[2J IDEA") && line.contains("other"),
        "{line}"
    );
}

#[test]
fn an_editor_that_does_not_say_its_name_is_known_by_its_process() {
    let sandbox = Sandbox::new();
    let home = &sandbox.home;
    let vscode = VsCode::start(home, Person::Waits);
    let code = home.home().join("code");
    fs::write(&code, "read line\n").unwrap();
    let mut editor = Command::new("/bin/sh");
    let mut editor = editor.arg(&code).stdin(Stdio::piped()).spawn().unwrap();
    let (pid, port) = (editor.id(), vscode.port());
    // As VS Code's companion writes it.
    let content = json!({"port": port, "workspacePath": home.workspace(), "ppid": pid,
        "authToken": TOKEN});
    let name = format!("gemini-ide-server-{pid}-{port}.json");
    fs::write(vscode.file.with_file_name(name), content.to_string()).unwrap();
    fs::remove_file(&vscode.file).unwrap();
    let found = listed(&sandbox, &[]);
    editor.kill().unwrap();
    editor.wait().unwrap();
    let expected = json!({"name": "vscode", "displayName": "VS Code"});
    assert_eq!(found[0]["editor"], expected, "{found:?}");
}

#[test]
fn what_cannot_be_read_is_warned_of_and_hides_nothing() {
    let sandbox = Sandbox::new();
    let serve = sandbox.serve::<&str>([]);
    let folder = sandbox.home.tmp().join("gemini/ide");
    fs::write(folder.join("gemini-ide-server-7-8.json"), "{").unwrap();
    let link = folder.join("gemini-ide-server-8-9.json");
    std::os::unix::fs::symlink(&serve.files()[0], link).unwrap();
    let ran = sandbox.run(["list", "--json"]).expect(0);
    let found: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(found.len(), 1);
    let warnings: Vec<_> = ran.stderr.lines().collect();
    assert_eq!(warnings.len(), 2, "{}", ran.stderr);
    assert!(
        warnings.iter().all(|line| line.starts_with("warning: ")),
        "{warnings:?}"
    );
    assert!(
        ran.stderr.contains("7-8.json is not a discovery file"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("is a symbolic link"), "{}", ran.stderr);
}

#[test]
fn a_hundred_files_are_listed_soon() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    for port in 1..100 {
        let root = format!("/work/{port}");
        vscode::discovery_file(&sandbox.home, port, Path::new(&root), "vscode", "VS Code");
    }
    let fastest = (0..5).map(|_| {
        let started = Instant::now();
        assert!(listed(&sandbox, &["--all"]).len() >= 100);
        started.elapsed()
    });
    // The figure itself is measured where nothing else runs: here it must not be of another order.
    let fastest = fastest.min().unwrap();
    assert!(fastest < Duration::from_millis(500), "{fastest:?}");
}
