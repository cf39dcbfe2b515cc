//! `pillion env`: what it prints for whom, and what it does not.

use std::net::ToSocketAddrs;
use std::process;

use pillion_agent::host::is_in_container;
use serde_json::{Value, json};

use crate::foreign::Foreign;
use crate::sandbox::Sandbox;
use crate::vscode::{Person, VsCode};

fn has_container_host() -> bool {
    is_in_container() && ("host.docker.internal", 0).to_socket_addrs().is_ok()
}

#[test]
fn it_prints_what_wires_every_agent() {
    let sandbox = Sandbox::new();
    let serve = sandbox.serve::<&str>([]);
    let (port, pid) = (serve.port(), serve.child.id());
    let (token, workspace) = (serve.token(), sandbox.home.workspace());
    let (token, workspace) = (token.expose(), workspace.display());
    let mut expected = format!(
        "export GEMINI_CLI_IDE_SERVER_PORT='{port}'\n\
         export GEMINI_CLI_IDE_WORKSPACE_PATH='{workspace}'\n\
         export GEMINI_CLI_IDE_AUTH_TOKEN='{token}'\n\
         export GEMINI_CLI_IDE_PID='{pid}'\n"
    );
    if is_in_container() {
        expected += "export REMOTE_CONTAINERS='1'\n";
    }
    expected += &format!(
        "export QWEN_CODE_IDE_SERVER_PORT='{port}'\n\
         export QWEN_CODE_IDE_WORKSPACE_PATH='{workspace}'\n\
         export CLAUDE_CODE_SSE_PORT='{port}'\n\
         export CLAUDE_CODE_IDE_SKIP_AUTO_INSTALL='1'\n"
    );
    let ran = sandbox.run(["env", "--shell", "bash"]).expect(0);
    assert_eq!((ran.stdout, ran.stderr), (expected, String::new()));
}

#[test]
fn without_a_companion_it_prints_nothing() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(["env", "--shell", "sh"]);
    assert_eq!(ran.stdout, "");
    ran.expect_error(3, "no companion is running for", "pillion serve");
    let ran = sandbox.run(["env", "--json"]);
    assert_eq!(ran.stdout, "");
    ran.expect_error(3, "no companion is running for", "pillion serve");
    let _serve = sandbox.serve::<&str>([]);
    let ran = sandbox.run_in("/".as_ref(), ["env", "--shell", "sh"]);
    assert_eq!(ran.stdout, "");
    ran.expect_error(
        3,
        "no companion for /; the only one running is for ",
        "--workspace",
    );
}

#[test]
fn what_leads_nowhere_is_taken_out_although_there_is_no_companion() {
    let sandbox = Sandbox::new();
    let dead = Foreign::new().port().to_string();
    let run = |args: &[&str]| {
        let mut command = sandbox.command(args);
        command
            .env("GEMINI_CLI_IDE_SERVER_PORT", &dead)
            .env("GEMINI_CLI_IDE_AUTH_TOKEN", "stale")
            .env("QWEN_CODE_IDE_WORKSPACE_PATH", "/stale")
            // So that a container's host is out of the question.
            .env("SSH_CONNECTION", "x");
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(
            error.starts_with("error: no companion is running for "),
            "{error}"
        );
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(
        run(&["env", "--shell", "sh"]),
        "unset GEMINI_CLI_IDE_SERVER_PORT\nunset GEMINI_CLI_IDE_AUTH_TOKEN\n\
         unset QWEN_CODE_IDE_WORKSPACE_PATH\n"
    );
    assert_eq!(run(&["env", "--json"]), "");
}

#[test]
fn json_holds_the_same_without_the_token() {
    let sandbox = Sandbox::new();
    let serve = sandbox.serve::<&str>([]);
    let out = sandbox.run(["env", "--json"]).expect(0).stdout;
    assert!(!out.contains(serve.token().expose()), "{out}");
    let mut said: Value = serde_json::from_str(&out).unwrap();
    let workspace = sandbox.home.workspace();
    let companion = json!({"displayName": "Pillion", "port": serve.port(), "roots": [workspace]});
    let port = serve.port().to_string();
    said[0]["set"]
        .as_object_mut()
        .unwrap()
        .remove("REMOTE_CONTAINERS");
    assert_eq!(
        said,
        json!([
            {"agent": "gemini", "companion": companion, "unset": [], "set": {
                "GEMINI_CLI_IDE_SERVER_PORT": port,
                "GEMINI_CLI_IDE_WORKSPACE_PATH": workspace,
                "GEMINI_CLI_IDE_AUTH_TOKEN": "…",
                "GEMINI_CLI_IDE_PID": serve.child.id().to_string(),
            }},
            {"agent": "qwen", "companion": companion, "unset": [], "set": {
                "QWEN_CODE_IDE_SERVER_PORT": port,
                "QWEN_CODE_IDE_WORKSPACE_PATH": workspace,
            }},
            {"agent": "claude", "companion": companion, "unset": [], "set": {
                "CLAUDE_CODE_SSE_PORT": port,
                "CLAUDE_CODE_IDE_SKIP_AUTO_INSTALL": "1",
            }},
        ])
    );
}

#[test]
fn each_agent_gets_a_companion_that_serves_it() {
    let sandbox = Sandbox::new();
    let workspace = sandbox.home.workspace();
    let workspace = workspace.to_str().unwrap();
    let (gemini, qwen) = (Foreign::new(), Foreign::new());
    gemini.serve_gemini(&sandbox, process::id(), workspace, "t");
    qwen.serve_qwen(&sandbox, process::id(), workspace);
    let out = sandbox.run(["env", "--shell", "sh"]).expect(0).stdout;
    let port = |name: &str, port: u16| format!("export {name}='{port}'\n");
    assert!(
        out.contains(&port("GEMINI_CLI_IDE_SERVER_PORT", gemini.port())),
        "{out}"
    );
    assert!(
        out.contains(&port("QWEN_CODE_IDE_SERVER_PORT", qwen.port())),
        "{out}"
    );
    assert!(
        !out.contains("qwens"),
        "Qwen Code reads no token from a variable: {out}"
    );
}

#[test]
fn what_leads_nowhere_is_taken_out_where_nothing_takes_its_place() {
    let sandbox = Sandbox::new();
    let workspace = sandbox.home.workspace();
    let foreign = Foreign::new();
    foreign.serve_gemini(&sandbox, process::id(), workspace.to_str().unwrap(), "");
    let dead = Foreign::new().port().to_string();
    let mut command = sandbox.command(["env", "--shell", "fish"]);
    command.env("GEMINI_CLI_IDE_SERVER_PORT", &dead);
    command.env("GEMINI_CLI_IDE_PID", "1");
    command.env("QWEN_CODE_IDE_SERVER_PORT", &dead);
    let output = command.output().unwrap();
    let (out, err) = (output.stdout, output.stderr);
    let (out, err) = (
        String::from_utf8(out).unwrap(),
        String::from_utf8(err).unwrap(),
    );
    let has = |line: &str| out.lines().any(|it| it == line);
    let port = foreign.port();
    assert!(
        has(&format!("set -gx GEMINI_CLI_IDE_SERVER_PORT '{port}'")),
        "{out}"
    );
    assert!(
        has(&format!("set -gx GEMINI_CLI_IDE_PID '{}'", process::id())),
        "{out}"
    );
    // In a container with a host the port may be the host's.
    let is_removed = has("set -e QWEN_CODE_IDE_SERVER_PORT");
    assert_eq!(is_removed, !has_container_host(), "{out}");
    assert!(!out.contains(&dead), "{out}");
    let note = |agent| format!("note: VS Code (port {port}) left no discovery file for {agent}\n");
    assert_eq!(err, ["Qwen Code", "Claude Code"].map(note).concat());
}

#[test]
fn a_shell_that_is_not_known_is_asked_for() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    let mut command = sandbox.command(["env"]);
    let output = command.env("SHELL", "/bin/tcsh").output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(
        error.contains("hint: Name it with --shell: bash, zsh, fish, powershell, sh;"),
        "{error}"
    );
    assert!(error.contains("`pillion run`"), "{error}");
    assert!(output.stdout.is_empty());
    sandbox.run(["env", "--shell", "tcsh"]).expect(2);
    sandbox.run(["env", "--shell", "sh", "--json"]).expect(2);
}

#[test]
fn two_of_anothers_companions_are_distinguished_without_a_session() {
    let sandbox = Sandbox::new();
    let windows = [(); 2].map(|()| VsCode::start(&sandbox.home, Person::Waits));
    let ran = sandbox.run(["env", "--shell", "sh"]).expect(0);
    let ports = windows.each_ref().map(VsCode::port);
    let named = |port: &&u16| ran.stdout.contains(&format!("PORT='{port}'"));
    assert_eq!(ports.iter().filter(named).count(), 1, "{}", ran.stdout);
    assert_eq!(windows.each_ref().map(VsCode::sessions), [0, 0]);
}
