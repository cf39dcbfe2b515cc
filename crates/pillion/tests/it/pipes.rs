//! What is printed into a pipe that nobody reads to its end.

use std::io::{self, Read};
use std::process::Stdio;

use crate::sandbox::Sandbox;

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
        let code = child.wait().unwrap().code();
        assert_eq!((code, errors.as_str()), (Some(0), ""), "{args:?}");
    }
}
