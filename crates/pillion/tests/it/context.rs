//! `context`: what an agent would see.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Instant;

use pillion_testkit::SOON;
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, ended, signal};
use crate::vscode::{Person, VsCode, discovery_file};

/// A `pillion context --follow --json`.
struct Following {
    child: Child,
    out: Option<BufReader<ChildStdout>>,
}

impl Following {
    fn start(sandbox: &Sandbox) -> Self {
        Self::of(sandbox.command(["context", "--follow", "--json"]))
    }

    fn of(mut command: Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let out = Some(out);
        Self { child, out }
    }

    /// The next context that is wanted.
    fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let mut line = String::new();
            self.out.as_mut().unwrap().read_line(&mut line).unwrap();
            let context =
                serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
            if wanted(&context) {
                return context;
            }
        }
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn active(context: &Value) -> &str {
    let file = &context["workspaceState"]["openFiles"][0];
    let is_active = file["isActive"] == true;
    file["path"]
        .as_str()
        .filter(|_| is_active)
        .unwrap_or_default()
}

#[test]
fn what_was_focused_is_shown_with_cursor_and_selection() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    let path = sandbox.home.file("a.rs", "1\n2\n123456\n");
    let before = sandbox.run(["context"]).expect(0).stdout;
    assert_eq!(before, "no file is open in Pillion\n");
    let other = sandbox.home.home().join("b.rs");
    std::fs::write(&other, "").unwrap();
    sandbox.run(["focus", other.to_str().unwrap()]).expect(0);
    sandbox
        .run(["focus", "a.rs:3:4", "--selection", "one\n\u{1b}two"])
        .expect(0);
    let path = path.to_str().unwrap();
    let expected = format!("* {path}:3:4\n    │ one\n    │ ␛two\n  ~/b.rs\n");
    let started = Instant::now();
    loop {
        let shown = sandbox.run(["context"]).expect(0).stdout;
        if shown == expected {
            break;
        }
        // Agents get it a moment later, the first file perhaps before the second (C4.2).
        assert!(started.elapsed() < SOON, "{shown}");
    }
    let json = sandbox.run(["context", "--json"]).expect(0).stdout;
    assert!(!json.contains('\u{1b}'), "{json:?}");
    let context: Value = serde_json::from_str(&json).unwrap();
    let file = &context["workspaceState"]["openFiles"][0];
    assert_eq!(file["cursor"], json!({"line": 3, "character": 4}));
    assert_eq!(file["selectedText"], "one\n\u{1b}two");
}

#[test]
fn no_companion_is_exit_code_3() {
    let sandbox = Sandbox::new();
    sandbox
        .run(["context"])
        .expect_error(3, "no Pillion companion", "pillion serve");
}

#[test]
fn a_companion_that_may_bear_no_second_session_is_left_alone() {
    let sandbox = Sandbox::new();
    let vscode = VsCode::start(&sandbox.home, Person::Waits);
    for args in [
        &["context"][..],
        &["context", "--json"],
        &["context", "--follow"],
    ] {
        sandbox
            .run(args)
            .expect_error(3, "is not Pillion's", "pillion serve");
    }
    assert_eq!(vscode.sessions(), 0);
}

#[test]
fn following_survives_a_restart_and_ends_at_a_signal() {
    let sandbox = Sandbox::new();
    let (a, b) = (sandbox.home.file("a.rs", ""), sandbox.home.file("b.rs", ""));
    let serve = sandbox.serve::<&str>([]);
    let mut following = Following::start(&sandbox);
    sandbox.run(["focus", "a.rs"]).expect(0);
    following.until(|context| active(context) == a.to_str().unwrap());
    drop(serve);
    following.until(|context| *context == json!({}));
    let _serve = sandbox.serve::<&str>([]);
    let mut told = BufReader::new(following.child.stderr.take().unwrap()).lines();
    let mut told = || told.next().map(|line| line.unwrap());
    let gone = told().unwrap();
    assert!(gone.ends_with("; waiting for it to come back."), "{gone}");
    assert_eq!(told().unwrap(), "The companion is back.");
    sandbox.run(["focus", "b.rs"]).expect(0);
    following.until(|context| active(context) == b.to_str().unwrap());
    signal(&following.child, "INT");
    assert_eq!(ended(&mut following.child), Some(0));
    assert_eq!(told(), None);
}

#[test]
fn following_waits_for_its_companion_beside_one_that_may_bear_no_second_session() {
    let sandbox = Sandbox::new();
    let b = sandbox.home.file("b.rs", "");
    let serve = sandbox.serve::<&str>([]);
    let mut following = Following::start(&sandbox);
    sandbox.run(["focus", "b.rs"]).expect(0);
    following.until(|context| active(context) == b.to_str().unwrap());
    let vscode = VsCode::start(&sandbox.home, Person::Waits);
    // Other companions exist for editors that have Pillion's, too: a name says nothing.
    let root = sandbox.home.workspace();
    discovery_file(&sandbox.home, vscode.port(), &root, "pillion", "Pillion");
    drop(serve);
    following.until(|context| *context == json!({}));
    let mut reported = BufReader::new(following.child.stderr.take().unwrap()).lines();
    let lost = reported.next().unwrap().unwrap();
    assert!(lost.ends_with("; waiting for it to come back."), "{lost}");
    let _serve = sandbox.serve::<&str>([]);
    let back = reported.next().unwrap().unwrap();
    assert_eq!(back, "The companion is back.");
    assert_eq!(vscode.sessions(), 0);
    sandbox.run(["focus", "b.rs"]).expect(0);
    following.until(|context| active(context) == b.to_str().unwrap());
}

#[test]
fn a_companion_that_is_away_is_not_taken_for_one_without_files() {
    let sandbox = Sandbox::new();
    let path = sandbox.home.file("a.rs", "");
    let serve = sandbox.serve::<&str>([]);
    sandbox.run(["focus", "a.rs"]).expect(0);
    let child = sandbox
        .command(["context", "--follow"])
        .stdout(Stdio::piped())
        .spawn();
    let mut following = Following {
        child: child.unwrap(),
        out: None,
    };
    let mut lines = BufReader::new(following.child.stdout.take().unwrap()).lines();
    let mut until = |wanted: &str| {
        let lines = lines.by_ref().map(|line| line.unwrap());
        let before: Vec<_> = lines.take_while(|line| line != wanted).collect();
        before
    };
    let shown = format!("* {}", path.display());
    until(&shown);
    drop(serve);
    assert_eq!(until("Pillion is not connected"), [""]);
    let _serve = sandbox.serve::<&str>([]);
    sandbox.run(["focus", "a.rs"]).expect(0);
    until(&shown);
    signal(&following.child, "INT");
    assert_eq!(ended(&mut following.child), Some(0));
}

#[test]
fn following_ends_when_its_output_is_not_read() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    let mut following = Following::start(&sandbox);
    following.until(|_| true);
    following.out = None;
    assert_eq!(ended(&mut following.child), Some(0));
}

#[test]
fn whoever_looks_at_the_context_is_no_agent() {
    for is_in_hub in [false, true] {
        let sandbox = Sandbox::new();
        let _serve = match is_in_hub {
            false => sandbox.serve::<&str>([]),
            true => sandbox.serve_in_hub::<&str>([]),
        };
        let path = sandbox.home.file("a.rs", "");
        let mut following = Following::start(&sandbox);
        sandbox.run(["focus", "a.rs"]).expect(0);
        following.until(|context| Path::new(active(context)) == path);
        let listed = sandbox.run(["list", "--json"]).expect(0).stdout;
        let listed: Value = serde_json::from_str(&listed).unwrap();
        assert_eq!(listed[0]["agents"], json!([]), "{listed}");
    }
}
