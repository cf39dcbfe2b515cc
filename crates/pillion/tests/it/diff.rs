//! `diff`: a person's decision for a script.

mod notes;
mod received;
mod sets;
mod unasked;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use pillion_testkit::{Env, SOON, Size, Tmux};
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, ended, insist, signal};
use crate::texts::{assert_same, texts};
use crate::vscode::{Person, TOKEN, VsCode};

/// Longer than the review has to have shown a diff before a key decides about it.
const LOOKED: Duration = Duration::from_millis(750);

/// A `pillion diff` that waits.
struct Asking(Child);

struct Answer {
    code: Option<i32>,
    stdout: Vec<u8>,
    stderr: String,
}

impl Asking {
    fn start(sandbox: &Sandbox, args: &[&str], text: &[u8]) -> Self {
        Self::start_in(sandbox, &sandbox.home.workspace(), args, text)
    }

    fn start_in(sandbox: &Sandbox, folder: &Path, args: &[&str], text: &[u8]) -> Self {
        let mut child = sandbox
            .command([&["diff"], args].concat())
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // One that fails at once does not read it.
        let _ = child.stdin.take().unwrap().write_all(text);
        Self(child)
    }

    /// Waits until its diff is shown; the proposal's number, such as `1.1`.
    fn shown(&self, sandbox: &Sandbox) -> String {
        number(&pending(sandbox, 1)[0])
    }

    fn answer(self) -> Answer {
        let output = self.0.wait_with_output().unwrap();
        Answer {
            code: output.status.code(),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Answer {
    #[track_caller]
    fn expect(&self, code: i32) -> &str {
        assert_eq!(self.code, Some(code), "{}", self.stderr);
        assert!(!self.stderr.contains(TOKEN));
        std::str::from_utf8(&self.stdout).unwrap()
    }
}

/// The file in which an accepted text was kept.
#[track_caller]
fn kept(answer: &Answer) -> PathBuf {
    let mut lines = answer.stderr.lines();
    let hint = lines.find_map(|line| line.strip_prefix("hint: The accepted text is kept in "));
    let path = hint.and_then(|hint| hint.strip_suffix('.'));
    PathBuf::from(path.unwrap_or_else(|| panic!("{}", answer.stderr)))
}

/// A listed proposal's number, as `accept` takes it.
pub fn number(listed: &Value) -> String {
    listed["diff"].as_str().unwrap().to_owned()
}

/// Waits until so many diffs are pending.
pub fn pending(sandbox: &Sandbox, count: usize) -> Vec<Value> {
    pending_in(sandbox, &sandbox.home.workspace(), count)
}

/// The same of the companion of another folder.
fn pending_in(sandbox: &Sandbox, folder: &Path, count: usize) -> Vec<Value> {
    let started = Instant::now();
    loop {
        let out = sandbox.run_in(folder, ["diffs", "--json"]).expect(0).stdout;
        let diffs: Vec<Value> = serde_json::from_str(&out).unwrap();
        if diffs.len() == count {
            return diffs;
        }
        assert!(started.elapsed() < SOON, "{diffs:?}");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn every_text_comes_back_byte_for_byte() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    for (name, text) in texts(20_000_000) {
        let asking = Asking::start(&sandbox, &["new.txt"], text.as_bytes());
        let id = asking.shown(&sandbox);
        sandbox.insist(["accept", &id]).expect(0);
        let answer = asking.answer();
        assert_same(answer.expect(0), &text, name, "printed");
    }
}

#[test]
fn the_reviewer_may_change_the_text_and_reads_who_asks() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    let content = sandbox.home.file("proposed", "as proposed\n");
    let args = ["--content-file", content.to_str().unwrap(), "sub/new.txt"];
    let asking = Asking::start(&sandbox, &args, b"");
    let diff = pending(&sandbox, 1).remove(0);
    let path = sandbox.home.workspace().join("sub/new.txt");
    let expected = json!({"diff": "1.1", "id": 1, "revision": 1, "agent": "pillion", "path": path,
        "leadsTo": null, "set": null});
    assert_eq!(diff, expected);
    assert_eq!(
        sandbox.run(["diffs", "1"]).expect(0).stdout,
        "as proposed\n"
    );
    let args = ["accept", "1.1", "--content-file", "-"];
    sandbox.insist_with_input(args, b"edited\r").expect(0);
    assert_eq!(asking.answer().expect(0), "edited\r");
    assert!(!path.exists(), "it is not written without --write");

    let asking = Asking::start(&sandbox, &["new.txt"], b"x");
    let id = asking.shown(&sandbox);
    sandbox
        .insist_with_input(["accept", &id, "--content-file", "-"], b"")
        .expect(0);
    assert_eq!(asking.answer().expect(0), "", "an empty text is one");
}

#[test]
fn a_rejection_is_exit_code_1() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    let asking = Asking::start(&sandbox, &["new.txt"], b"x");
    let id = asking.shown(&sandbox);
    sandbox.run(["reject", &id]).expect(0);
    let answer = asking.answer();
    assert_eq!(answer.expect(1), "");
    assert_eq!(answer.stderr, "error: the change was rejected\n");
}

#[test]
fn json_has_the_outcome() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    let path = sandbox.home.workspace().join("new.txt");
    let ask = |args: &[&str], settle: Option<&str>| {
        let args = [args, &["--json", "new.txt"]].concat();
        let asking = Asking::start(&sandbox, &args, b"x\x1b");
        if let Some(settle) = settle {
            let id = asking.shown(&sandbox);
            sandbox.run([settle, &id]).expect(0);
        }
        let answer = asking.answer();
        let text = String::from_utf8(answer.stdout).unwrap();
        assert!(!text.contains('\x1b'), "{text:?}");
        (answer.code, serde_json::from_str::<Value>(&text).unwrap())
    };
    let accepted = json!({"path": path, "outcome": "accepted", "content": "x\x1b"});
    assert_eq!(ask(&[], Some("accept")), (Some(0), accepted));
    let rejected = json!({"path": path, "outcome": "rejected"});
    assert_eq!(ask(&[], Some("reject")), (Some(1), rejected));
    let timed_out = json!({"path": path, "outcome": "timedOut"});
    assert_eq!(ask(&["--timeout", "50ms"], None), (Some(1), timed_out));
    pending(&sandbox, 0);
}

#[test]
fn time_and_signals_close_the_view() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    let answer = Asking::start(&sandbox, &["--timeout", "200ms", "new.txt"], b"x").answer();
    assert_eq!(answer.expect(1), "");
    assert!(
        answer.stderr.contains("nobody decided in time"),
        "{}",
        answer.stderr
    );
    pending(&sandbox, 0);
    for (name, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let mut asking = Asking::start(&sandbox, &["new.txt"], b"x");
        asking.shown(&sandbox);
        signal(&asking.0, name);
        assert_eq!(ended(&mut asking.0), Some(code), "{name}");
        pending(&sandbox, 0);
    }
}

#[test]
fn what_was_accepted_before_a_signal_arrives_is_not_lost() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    for name in ["INT", "TERM", "HUP"] {
        let asking = Asking::start(&sandbox, &["new.txt"], b"accepted");
        let id = asking.shown(&sandbox);
        // Both are there when it goes on.
        signal(&asking.0, "STOP");
        sandbox.insist(["accept", &id]).expect(0);
        signal(&asking.0, name);
        signal(&asking.0, "CONT");
        assert_eq!(asking.answer().expect(0), "accepted", "{name}");
    }
}

#[test]
fn an_editor_that_is_suspended_is_not_waited_for_longer_than_was_asked() {
    let sandbox = Sandbox::new();
    let serve = sandbox.serve::<&str>([]);
    signal(&serve.child, "STOP");
    let started = Instant::now();
    let answer = Asking::start(&sandbox, &["--timeout", "300ms", "new.txt"], b"x").answer();
    let mut context = sandbox.command(["context"]);
    let mut context = context.stderr(Stdio::null()).spawn().unwrap();
    let ended = ended(&mut context);
    let took = started.elapsed();
    signal(&serve.child, "CONT");
    assert_eq!(answer.expect(3), "");
    assert!(answer.stderr.contains("suspended"), "{}", answer.stderr);
    assert_eq!(ended, Some(3));
    // The first answer alone would be waited for so long.
    assert!(took < Duration::from_secs(10), "{took:?}");
    pending(&sandbox, 0);
}

#[test]
fn an_accepted_text_that_cannot_be_printed_is_kept() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    for args in [vec!["diff", "new.txt"], vec!["diff", "--json", "new.txt"]] {
        let mut command = sandbox.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"kept").unwrap();
        drop(child.stdout.take());
        let asking = Asking(child);
        let id = asking.shown(&sandbox);
        sandbox.insist(["accept", &id]).expect(0);
        let answer = asking.answer();
        answer.expect(1);
        assert_eq!(fs::read_to_string(kept(&answer)).unwrap(), "kept");
    }
}

#[test]
fn a_companion_that_goes_away_is_exit_code_3() {
    let sandbox = Sandbox::new();
    let mut serve = sandbox.serve::<&str>([]);
    let asking = Asking::start(&sandbox, &["new.txt"], b"x");
    asking.shown(&sandbox);
    serve.signal("KILL");
    serve.ended();
    let answer = asking.answer();
    assert_eq!(answer.expect(3), "");
    assert!(
        answer.stderr.contains("nobody had decided"),
        "{}",
        answer.stderr
    );
    let ran = sandbox.run(["diff", "new.txt"]);
    ran.expect_error(3, "no Pillion companion", "pillion serve");
}

#[test]
fn an_accepted_text_is_written_only_over_what_was_reviewed() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    let file = sandbox.home.file("a.txt", "old\n");
    let link = sandbox.home.workspace().join("link");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let accept = |asking: &Asking| {
        let id = asking.shown(&sandbox);
        sandbox.insist(["accept", &id]).expect(0);
    };

    let asking = Asking::start(&sandbox, &["--write", "link"], b"new\n");
    accept(&asking);
    assert_eq!(asking.answer().expect(0), "");
    assert_eq!(fs::read_to_string(&file).unwrap(), "new\n");
    assert!(link.symlink_metadata().unwrap().is_symlink());

    let asking = Asking::start(&sandbox, &["--write", "a.txt"], b"newer\n");
    let id = asking.shown(&sandbox);
    fs::write(&file, "somebody's\n").unwrap();
    sandbox
        .insist(["accept", &id, "--despite-change"])
        .expect(0);
    let answer = asking.answer();
    assert_eq!(answer.expect(1), "");
    assert_eq!(fs::read_to_string(&file).unwrap(), "somebody's\n");
    assert!(
        answer.stderr.contains("a.txt was changed in the meantime"),
        "{}",
        answer.stderr
    );
    let kept = kept(&answer);
    assert_eq!(fs::read_to_string(&kept).unwrap(), "newer\n");
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(kept.metadata().unwrap().permissions().mode() & 0o777, 0o600);

    let asking = Asking::start(&sandbox, &["--write", "a.txt"], b"x");
    let id = asking.shown(&sandbox);
    sandbox.run(["reject", &id]).expect(0);
    asking.answer().expect(1);
    assert_eq!(fs::read_to_string(&file).unwrap(), "somebody's\n");
}

#[test]
fn a_text_that_is_written_in_place_is_on_disk_before_the_first_byte_goes() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    let file = sandbox.home.file("a.txt", "old\n".repeat(1_000_000));
    fs::hard_link(&file, sandbox.home.workspace().join("other name")).unwrap();
    let text = "new\n".repeat(1_000_000);
    let mut asking = Asking::start(&sandbox, &["--write", "a.txt"], text.as_bytes());
    let id = asking.shown(&sandbox);
    sandbox.insist(["accept", &id]).expect(0);
    let mut line = String::new();
    let stderr = asking.0.stderr.take().unwrap();
    BufReader::new(stderr).read_line(&mut line).unwrap();
    signal(&asking.0, "KILL");
    let place = line.split_once("its new text is also in ");
    let place = place.and_then(|(_, place)| place.trim_end().strip_suffix('.'));
    let copy = PathBuf::from(place.unwrap_or_else(|| panic!("{line:?}")));
    asking.0.wait().unwrap();
    // Killed in the middle, or a moment too late.
    let is_kept = fs::read_to_string(&copy).is_ok_and(|kept| kept == text);
    assert!(is_kept || fs::read_to_string(&file).unwrap() == text);
    if is_kept {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(copy.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}

/// Agents may be connected to it, and it may bear no second session.
#[test]
fn another_programs_companion_is_not_asked() {
    let sandbox = Sandbox::new();
    let vscode = VsCode::start(&sandbox.home, Person::EditsAndAccepts);
    let ran = sandbox.run_with_input(["diff", "a.ts"], b"new\n");
    let ran = ran.expect_error(3, "is not Pillion's", "`pillion serve`");
    assert_eq!(ran.stdout, "");
    assert!(vscode.calls().is_empty());
    // Beside it, one that is Pillion's decides.
    let _serve = sandbox.serve::<&str>([]);
    let asking = Asking::start(&sandbox, &["a.ts"], b"new\n");
    sandbox.run(["accept", &asking.shown(&sandbox)]).expect(0);
    assert_eq!(asking.answer().expect(0), "new\n");
    assert!(vscode.calls().is_empty());
}

#[test]
fn the_companion_whose_workspace_holds_the_file_decides() {
    let sandbox = Sandbox::new();
    let other = sandbox.home.other_workspace("other");
    let _there = sandbox.serve(["--workspace", other.to_str().unwrap()]);
    let path = other.join("sub/new.txt");
    let ask_from = |folder: &Path| {
        let args = ["../other/sub/new.txt", path.to_str().unwrap()];
        let args = [args[usize::from(folder == Path::new("/"))]];
        let asking = Asking::start_in(&sandbox, folder, &args, b"x");
        let diff = pending_in(&sandbox, &other, 1).remove(0);
        assert_eq!(diff["path"], path.to_str().unwrap());
        let id = number(&diff);
        insist(|| sandbox.run_in(&other, ["accept", &id])).expect(0);
        assert_eq!(asking.answer().expect(0), "x");
    };
    ask_from(Path::new("/"));
    let _here = sandbox.serve::<&str>([]);
    ask_from(&sandbox.home.workspace());
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_reviewer_edits_and_accepts_in_the_terminal() {
    let sandbox = Sandbox::new();
    let tmux = Tmux::start();
    let mut env: Env = sandbox.home.env();
    env.set("EDITOR", "sh -c 'printf edited > \"$0\"'");
    let review = [env!("CARGO_BIN_EXE_pillion"), "review"];
    let workspace = sandbox.home.workspace();
    let pane = tmux.spawn("review", Size::new(110, 30), &env, &workspace, &review);
    pane.wait_for("Waiting for an agent.", SOON);
    let asking = Asking::start(&sandbox, &["new.txt"], b"proposed\n");
    pane.wait_for("Pillion proposes new.txt", SOON);
    thread::sleep(LOOKED);
    pane.send_keys(["e"]);
    pane.wait_for("edited", SOON);
    thread::sleep(LOOKED);
    pane.send_keys(["a"]);
    assert_eq!(asking.answer().expect(0), "edited");
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_terminal_on_standard_input_gets_a_hint() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    let tmux = Tmux::start();
    let command = [env!("CARGO_BIN_EXE_pillion"), "diff", "new.txt"];
    let (env, workspace) = (sandbox.home.env(), sandbox.home.workspace());
    let pane = tmux.spawn("diff", Size::new(110, 30), &env, &workspace, &command);
    pane.wait_for("press Ctrl-D", SOON);
    pane.send_keys(["typed", "Enter", "C-d"]);
    pending(&sandbox, 1);
    assert_eq!(sandbox.run(["diffs", "1"]).expect(0).stdout, "typed\n");
    pane.wait_for("Waiting for a decision in Pillion; Ctrl-C withdraws", SOON);
    pane.send_keys(["C-c"]);
    pending(&sandbox, 0);
}
