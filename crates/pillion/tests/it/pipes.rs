//! Output into a pipe that nobody reads to its end.

use std::io::{self, Read};
use std::process::Stdio;

use crate::sandbox::Sandbox;

/// The exit code, and what it said on standard error, with nobody who reads standard output.
fn unread(sandbox: &Sandbox, args: &[&str], variable: &str) -> (Option<i32>, String) {
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let mut child = sandbox
        .command(args)
        .env(variable, "true")
        .stdout(writer)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut errors = String::new();
    let mut stderr = child.stderr.take().unwrap();
    stderr.read_to_string(&mut errors).unwrap();
    (child.wait().unwrap().code(), errors)
}

#[test]
fn a_reader_that_has_read_enough_is_no_error() {
    let sandbox = Sandbox::new();
    for (args, variable) in [
        (&["install", "--list"][..], "X"),
        (&["install", "--list", "--json"], "X"),
        (&["detect", "--json"], "ZED_TERM"),
        (&["completions", "bash"], "X"),
        (&["man"], "X"),
        (&["--help"], "X"),
    ] {
        let ended = unread(&sandbox, args, variable);
        assert_eq!(ended, (Some(0), String::new()), "{args:?}");
    }
}

#[test]
fn an_installation_whose_output_is_not_read_is_done_all_the_same() {
    let sandbox = Sandbox::new();
    let ended = unread(&sandbox, &["install", "nvim"], "X");
    assert_eq!(ended, (Some(0), String::new()));
    let data = sandbox.home.home().join(".local/share/nvim");
    let plugin = data.join("site/pack/pillion/start/pillion");
    assert!(plugin.join("plugin/pillion.lua").is_file());
}
