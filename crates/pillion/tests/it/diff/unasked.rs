//! The findings of `diff` by itself: nobody is asked.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::{Asking, pending};
use crate::sandbox::{Sandbox, ran};

#[test]
fn an_empty_input_does_not_propose_to_empty_a_file() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    sandbox.home.file("full.txt", "something\n");
    let answer = Asking::start(&sandbox, &["full.txt"], b"").answer();
    assert_eq!(answer.expect(1), "");
    for part in [
        "standard input is empty",
        "full.txt is not",
        "--content-file",
    ] {
        assert!(answer.stderr.contains(part), "{}", answer.stderr);
    }
    sandbox.home.file("empty", "");
    let asking = Asking::start(&sandbox, &["--content-file", "empty", "full.txt"], b"");
    let id = asking.shown(&sandbox);
    sandbox.insist(["accept", &id]).expect(0);
    assert_eq!(asking.answer().expect(0), "");
}

#[test]
fn nobody_is_asked_about_a_text_that_the_file_has_already() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    let file = sandbox.home.file("same.txt", "the same\r\n\u{e9}");
    let link = sandbox.home.workspace().join("link");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let written = fs::metadata(&file).unwrap().modified().unwrap();
    let ask =
        |args: &[&str]| Asking::start(&sandbox, args, "the same\r\n\u{e9}".as_bytes()).answer();
    let answer = ask(&["link"]);
    assert_eq!(
        answer.expect(0),
        "the same\r\n\u{e9}",
        "a pipe goes on with it"
    );
    assert!(
        answer.stderr.contains("already has this text"),
        "{}",
        answer.stderr
    );
    assert_eq!(ask(&["--write", "same.txt"]).expect(0), "");
    assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), written);
    let report: Value = serde_json::from_str(ask(&["--json", "same.txt"]).expect(0)).unwrap();
    let expected = json!({"path": file, "outcome": "unchanged", "content": "the same\r\n\u{e9}"});
    assert_eq!(report, expected);

    // One byte is a change.
    let asking = Asking::start(&sandbox, &["same.txt"], "the same\r\n\u{e8}".as_bytes());
    let id = asking.shown(&sandbox);
    sandbox.run(["reject", &id]).expect(0);
    asking.answer().expect(1);
}

#[test]
fn a_text_that_needs_no_answer_needs_no_editor() {
    let sandbox = Sandbox::new();
    sandbox.home.file("same.txt", "same\n");
    let ran = sandbox.run_with_input(["diff", "--write", "same.txt"], b"same\n");
    assert_eq!(ran.expect(0).stdout, "");
    for write in [&["--write"][..], &[]] {
        let args = [&["diff", "same.txt"], write].concat();
        let ran = sandbox.run_with_input(args, b"other\n");
        let ran = ran.expect_error(3, "no Pillion companion", "pillion serve");
        assert_eq!(ran.stdout, "");
    }
    let file = sandbox.home.workspace().join("same.txt");
    assert_eq!(fs::read_to_string(file).unwrap(), "same\n");
}

#[test]
fn a_shell_that_redirects_into_the_file_itself_is_told() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    let file = sandbox.home.file("a.txt", "old\n");
    let link = sandbox.home.workspace().join("link");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    for (name, redirect) in [("a.txt", "> a.txt"), ("link", ">> a.txt")] {
        let script = format!("echo new | \"$0\" diff {name} {redirect}");
        let mut command = Command::new("sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_pillion")]);
        command.current_dir(sandbox.home.workspace()).env_clear();
        let ran = ran(command.envs(sandbox.home.env().iter()), b"");
        ran.expect_error(1, "standard output is redirected to ", "`--write`");
    }
    pending(&sandbox, 0);
}

#[test]
fn nobody_reviews_what_cannot_be_written() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    let folder = sandbox.home.workspace().join("sealed");
    fs::create_dir(&folder).unwrap();
    let script = "mount -t tmpfs -o ro pillion-test sealed
        echo new | \"$0\" diff --write sealed/below/new.txt";
    let mut command = Command::new("unshare");
    command.args([
        "--mount",
        "sh",
        "-ec",
        script,
        env!("CARGO_BIN_EXE_pillion"),
    ]);
    command.current_dir(sandbox.home.workspace()).env_clear();
    let ran = ran(command.envs(sandbox.home.env().iter()), b"").expect(1);
    assert!(ran.stderr.contains("cannot write "), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("Read-only file system"),
        "{}",
        ran.stderr
    );
    pending(&sandbox, 0);
}

#[test]
fn what_cannot_be_proposed_is_reported() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    let refused = |args: &[&str], text: &[u8], error: &str| {
        let answer = Asking::start(&sandbox, args, text).answer();
        assert_eq!(answer.expect(1), "");
        assert!(answer.stderr.contains(error), "{}", answer.stderr);
    };
    refused(&["."], b"", "is a folder");
    refused(&["new/"], b"x", "is a folder");
    refused(&["new.txt"], b"\xe9", "is not UTF-8");
    refused(
        &["--content-file", "none", "new.txt"],
        b"",
        "cannot read none",
    );
    refused(
        &["--content-file", "/dev/zero", "new.txt"],
        b"",
        "longer than",
    );
    let too_long = vec![b'x'; 64 * 1024 * 1024 + 1];
    refused(
        &["new.txt"],
        &too_long,
        "longer than the limit of 67108864 bytes",
    );
    sandbox
        .run(["diff", "new.txt", "--timeout", "soon"])
        .expect(2);
    sandbox
        .run(["diff", "new.txt", "--write", "--json"])
        .expect(2);
    sandbox.run(["diff"]).expect(2);
    sandbox
        .run(["diff", "-"])
        .expect_error(2, "FILE names the file to change", "`./-`");
}
