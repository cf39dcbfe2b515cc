//! Scripts named as the agent, before it on PATH, that run `pillion run`.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Stage, TALKATIVE};

const PILLION: &str = env!("CARGO_BIN_EXE_pillion");

/// A folder with a wrapper of this text, named as the agent.
fn wrapper(stage: &Stage, folder: &str, script: &str) -> PathBuf {
    let folder = stage.sandbox.home.root().join(folder);
    fs::create_dir(&folder).unwrap();
    let path = folder.join("gemini");
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// `pillion run gemini --version`, or what is called so, with these folders before PATH.
fn command(stage: &Stage, program: &Path, folders: &[PathBuf]) -> Command {
    let path: Vec<PathBuf> = std::env::split_paths(&stage.path()).collect();
    let path = folders.iter().cloned().chain(path);
    let path: OsString = std::env::join_paths(path).unwrap();
    let mut command = Command::new(program);
    command
        .env_clear()
        .envs(stage.sandbox.home.env().iter())
        .env("PATH", path)
        .current_dir(stage.sandbox.home.workspace());
    command
}

#[test]
fn a_wrapper_that_runs_pillion_run_gets_the_agent_behind_it() {
    let scripts = [
        format!("#!/bin/sh\nexec {PILLION} run gemini \"$@\"\n"),
        format!("#!/bin/bash\necho wrapped >&2\nexec '{PILLION}' run gemini \"$@\"\n"),
        // Nothing in the text says so.
        format!("#!/bin/sh\np={PILLION}\nwords='run gemini'\nexec $p $words \"$@\"\n"),
    ];
    for (number, script) in scripts.iter().enumerate() {
        let stage = Stage::new(TALKATIVE);
        let folder = wrapper(&stage, &format!("w{number}"), script);
        let mut by_name = command(
            &stage,
            &folder.join("gemini"),
            std::slice::from_ref(&folder),
        );
        by_name.arg("--version");
        assert_eq!(stage.said(by_name).args, ["--version"], "{script}");
        let mut by_run = command(&stage, Path::new(PILLION), &[folder]);
        by_run.args(["run", "gemini", "--version"]);
        assert_eq!(stage.said(by_run).args, ["--version"], "{script}");
    }
}

#[test]
fn a_wrapper_that_waits_for_pillion_run_gets_the_agent_and_its_exit_code() {
    let stage = Stage::new("echo the agent; exit 7");
    let script = format!("#!/bin/sh\n{PILLION} run gemini \"$@\"\nexit $?\n");
    let folder = wrapper(&stage, "waits", &script);
    let output = command(&stage, &folder.join("gemini"), &[folder])
        .output()
        .unwrap();
    assert_eq!(output.stdout, b"the agent\n", "{output:?}");
    assert_eq!(output.status.code(), Some(7));
}

#[test]
fn wrappers_in_a_row_and_links_to_them_get_the_agent_behind_all() {
    let stage = Stage::new(TALKATIVE);
    let hidden = format!("#!/bin/sh\np={PILLION}\nexec $p $(echo run) gemini \"$@\"\n");
    let outer = wrapper(&stage, "outer", &hidden);
    let inner = wrapper(&stage, "inner", &hidden.replace("echo run", "printf run"));
    let linked = stage.sandbox.home.root().join("linked");
    fs::create_dir(&linked).unwrap();
    symlink(inner.join("gemini"), linked.join("gemini")).unwrap();
    let mut command = command(&stage, &outer.join("gemini"), &[outer, linked, inner]);
    command.arg("-p");
    assert_eq!(stage.said(command).args, ["-p"]);
}

#[test]
fn a_wrapper_with_nothing_behind_it_is_reported() {
    let stage = Stage::new(TALKATIVE);
    fs::remove_file(stage.bin().join("gemini")).unwrap();
    for (name, script) in [
        ("said", format!("#!/bin/sh\nexec {PILLION} run gemini\n")),
        (
            "hidden",
            format!("#!/bin/sh\np={PILLION}\nexec $p $(echo run) gemini\n"),
        ),
        (
            "by-path",
            format!("#!/bin/sh\np={PILLION}\nexec $p $(echo run) \"$0\"\n"),
        ),
    ] {
        let folder = wrapper(&stage, name, &script);
        let program = folder.join("gemini");
        let output = command(&stage, &program, &[folder]).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{error}");
        let said = format!("error: {} runs `pillion run`", program.display());
        assert!(
            error.contains(&said) && error.contains("\nhint: "),
            "{error}"
        );
    }
}
