//! The names of the agent's command, the ways to find it, and how starting it fails.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Command;

use pillion_protocol::Dialect;
use pillion_testkit::{SOON, Size, Tmux};

use super::{Stage, TALKATIVE};
use crate::foreign::Foreign;
use crate::sandbox::Sandbox;

#[test]
fn what_stands_behind_the_agent_is_the_agents() {
    let stage = Stage::new(TALKATIVE);
    let own = [
        "--approval-mode",
        "default",
        "--print",
        "--require",
        "--port",
        "1",
        "--log",
        "x",
        "--help",
        "-h",
        "--version",
        "--",
        "",
        "it's $HOME `x`",
        "run",
        "gemini",
    ];
    let said = stage.said(stage.command(["qwen"].into_iter().chain(own)));
    assert_eq!(said.args, own);
    let before = ["--workspace", ".", "--", "qwen", "--print"];
    assert_eq!(stage.said(stage.command(before)).args, ["--print"]);
}

/// A person who has just opened an editor is quicker in another terminal than its companion is in starting.
#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_companion_that_is_starting_is_waited_for() {
    let tmux = Tmux::start();
    for (agent, starts) in [("gemini", true), ("gemini", false), ("claude", false)] {
        let stage = Stage::new("env | grep _IDE_SERVER_PORT= || echo none; exec sleep 300");
        let env = stage.sandbox.home.env().with("PATH", stage.path());
        let folder = stage.sandbox.home.workspace();
        let name = format!("{agent}-{starts}");
        let command = [env!("CARGO_BIN_EXE_pillion"), "run", agent];
        let pane = tmux.spawn(&name, Size::new(160, 20), &env, &folder, &command);
        let note = format!("Starting {agent} without one in two seconds.");
        pane.wait_for(&note, SOON);
        let foreign = Foreign::new();
        if starts {
            let (id, folder) = (std::process::id(), folder.to_str().unwrap());
            foreign.serve_gemini(&stage.sandbox, id, folder, "token");
            pane.wait_for(
                &format!("GEMINI_CLI_IDE_SERVER_PORT={}", foreign.port()),
                SOON,
            );
        } else {
            pane.wait_for("none", SOON);
        }
    }
}

#[test]
fn an_agent_that_is_not_on_the_path_is_named_by_its_own() {
    let stage = Stage::new(TALKATIVE);
    let serve = stage.sandbox.serve::<&str>([]);
    let own = stage.sandbox.home.workspace().join("own");
    fs::create_dir(&own).unwrap();
    let script = own.join("gemini.js");
    fs::write(&script, format!("#!/bin/sh\necho own >&2\n{TALKATIVE}\n")).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink(&script, own.join("gemini")).unwrap();
    let absolute = own.join("gemini");
    let port = serve.port().to_string();
    for name in ["./gemini", "../own/gemini.js", absolute.to_str().unwrap()] {
        let mut command = stage.command([name, "--version"]);
        command.current_dir(&own);
        let said = stage.said(command);
        assert_eq!(
            (said.args.as_slice(), said.stderr()),
            (&["--version".to_owned()][..], "own\n".to_owned())
        );
        assert_eq!(said.variable("GEMINI_CLI_IDE_SERVER_PORT"), Some(&*port));
    }
    let output = stage.command(["--print", "./own/gemini"]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(
        printed.ends_with("\nrun:       ./own/gemini\n"),
        "{printed}"
    );
    let sandbox = &stage.sandbox;
    sandbox.run(["run", "./gemini"]).expect_error(
        1,
        "there is no program ./gemini",
        "`pillion run gemini`",
    );
    fs::remove_file(&script).unwrap();
    sandbox.run(["run", "./own/gemini"]).expect_error(
        1,
        "./own/gemini cannot be run",
        "is missing",
    );
    sandbox
        .run(["run", "./own/vim"])
        .expect_error(2, "unknown agent ./own/vim", "`pillion env`");
}

/// Above the agent may be a folder that every user can write to.
#[test]
fn a_pipe_in_the_place_of_a_file_is_not_waited_for() {
    let stage = Stage::new(TALKATIVE);
    let pipe = |path: PathBuf| {
        let made = Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
    };
    pipe(stage.bin().join("package.json"));
    assert_eq!(stage.said(stage.command(["gemini"])).args, [""; 0]);
    let own = stage.sandbox.home.workspace().join("own");
    fs::create_dir(&own).unwrap();
    pipe(own.join("gemini"));
    let output = stage.command(["./own/gemini"]).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("cannot start ./own/gemini"), "{error}");
}

#[test]
fn a_signal_that_ends_the_agent_is_seen_by_who_started_it() {
    let stage = Stage::new("kill -TERM $$");
    let _serve = stage.sandbox.serve::<&str>([]);
    let output = stage.command(["gemini"]).output().unwrap();
    assert_eq!(output.status.signal(), Some(15), "{output:?}");
}

#[test]
fn an_agent_that_is_not_there_can_be_got() {
    let sandbox = Sandbox::new();
    for (agent, package) in [
        ("gemini", "@google/gemini-cli"),
        ("qwen", "@qwen-code/qwen-code"),
        ("claude", "@anthropic-ai/claude-code"),
        ("opencode", "opencode-ai"),
    ] {
        let install = format!("npm install -g {package}");
        sandbox
            .run(["run", agent])
            .expect_error(1, "is not installed", &install);
    }
    sandbox.run(["run", "vim"]).expect_error(
        2,
        "unknown agent vim",
        "gemini, qwen, claude, opencode",
    );
    sandbox.run(["run"]).expect(2);
    sandbox.run(["run", "--approval-mode", "qwen"]).expect(2);
    let stage = Stage::new(TALKATIVE);
    let forbidden = stage.bin().join("gemini");
    fs::set_permissions(&forbidden, fs::Permissions::from_mode(0o644)).unwrap();
    let start = || {
        let output = stage.command(["gemini"]).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(start().contains("hint: Run `gemini --version`"));
    // It is there, but not what it needs: npm would not help.
    fs::write(&forbidden, "#!/no/such/node\n").unwrap();
    fs::set_permissions(&forbidden, fs::Permissions::from_mode(0o755)).unwrap();
    let error = start();
    assert!(error.contains("gemini cannot be run"), "{error}");
    assert!(!error.contains("not installed"), "{error}");
}

#[test]
fn print_shows_what_would_be_done_and_does_nothing() {
    let stage = Stage::new("touch ran");
    let serve = stage.sandbox.serve::<&str>([]);
    let mut command = stage.command(["--print", "gemini", "a b", "\u{1b}[2J"]);
    let output = command.env("SSH_CONNECTION", "x").output().unwrap();
    let workspace = stage.sandbox.home.workspace();
    let expected = format!(
        "companion: Pillion, port {port}, {workspace}\n\
         set:       GEMINI_CLI_IDE_SERVER_PORT={port}\n\
         set:       GEMINI_CLI_IDE_WORKSPACE_PATH={workspace}\n\
         set:       GEMINI_CLI_IDE_AUTH_TOKEN=…\n\
         set:       GEMINI_CLI_IDE_PID={pid}\n\
         run:       gemini 'a b' '␛[2J'\n",
        port = serve.port(),
        pid = serve.child.id(),
        workspace = workspace.display(),
    );
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
    assert_eq!(output.status.code(), Some(0));
    assert!(!workspace.join("ran").exists());
}

#[test]
fn the_current_folder_may_be_gone() {
    let stage = Stage::new(TALKATIVE);
    let gone = stage.sandbox.home.other_workspace("gone");
    let script = r#"rmdir "$PWD"; exec "$0" run gemini"#;
    let output = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_pillion")])
        .current_dir(&gone)
        .env_clear()
        .envs(stage.sandbox.home.env().iter())
        .output()
        .unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(
        error.starts_with("error: the current folder no longer exists\nhint: "),
        "{error}"
    );
}

#[test]
fn of_a_release_that_is_too_old_it_says_which_is_supported_and_how_to_update_it() {
    let stage = Stage::new(TALKATIVE);
    let serve = stage.sandbox.serve::<&str>([]);
    for (agent, version, told) in [
        (
            Dialect::GeminiCli,
            "0.44.1",
            "warning: Gemini CLI 0.44.1 is installed, and 0.45.0 is the oldest release that Pillion supports\n\
             hint: Update it with `npm install -g @google/gemini-cli@latest`.\n",
        ),
        (
            Dialect::QwenCode,
            "0.15.10",
            "warning: Qwen Code 0.15.10 is installed, and 0.21.2 is the oldest release that Pillion supports\n\
             hint: Update it with `npm install -g @qwen-code/qwen-code@latest`.\n",
        ),
        (Dialect::GeminiCli, "0.45.0", ""),
    ] {
        let package = agent.package().unwrap();
        let package = format!(r#"{{"name": "{package}", "version": "{version}"}}"#);
        fs::write(stage.bin().join("package.json"), package).unwrap();
        let said = stage.said(stage.command([agent.name()]));
        assert_eq!(said.stderr(), told, "{agent} {version}");
        // It is started all the same, with the companion's port.
        let port = agent.port_variable().unwrap();
        assert_eq!(said.variable(port), Some(serve.port().to_string().as_str()));
    }
}
