//! An agent with command hooks, in a folder: calls `pillion hook`, as the agent does, and waits until it may go on.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use pillion_testkit::Home;
use serde_json::{Value, json};

/// Calls the hook of an agent, and returns what that answers.
fn hook(home: &Home, agent: &str, event: &str, fields: Value) -> String {
    let mut input = json!({
        "hook_event_name": event, "session_id": "s", "cwd": home.workspace(),
    });
    let all = input.as_object_mut().expect("it is an object");
    all.extend(fields.as_object().expect("they are an object").clone());
    let mut child = Command::new(env!("CARGO_BIN_EXE_pillion"))
        .args(["hook", agent])
        .env_clear()
        .envs(home.env().iter())
        .current_dir(home.workspace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command under test runs");
    let mut stdin = child.stdin.take().expect("it is piped");
    let input = input.to_string();
    stdin.write_all(input.as_bytes()).expect("it reads");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("it is JSON")
}

/// A shell command of Codex CLI's is about to run.
pub fn command_begins(home: &Home) {
    command(home, "PreToolUse");
}

/// It has run, and that is recorded.
pub fn command_ends(home: &Home) {
    command_is_over(home);
    is_recorded(home);
}

/// It has run.
pub fn command_is_over(home: &Home) {
    command(home, "PostToolUse");
}

fn command(home: &Home, event: &str) {
    let fields = json!({
        "tool_name": "Bash", "tool_input": {"command": "x"}, "tool_use_id": "1",
    });
    hook(home, "codex", event, fields);
}

/// The file that [`is_recorded`] needs, and what is in it. To be made before an agent without hooks is connected: what is
/// written later may be its own, and a file that is written again is empty for a moment.
pub const OTHER: (&str, &str) = ("other.txt", "x\n");

/// Codex CLI gets a prompt. Returns what it hears with it.
pub fn turn_begins(home: &Home) -> String {
    hook(home, "codex", "UserPromptSubmit", json!({"prompt": "go"}))
}

/// Its turn ends.
#[allow(dead_code, reason = "not every suite ends one")]
pub fn turn_ends(home: &Home) {
    hook(home, "codex", "Stop", json!({}));
}

/// Returns when all that the companion was told before is recorded: another agent is about to write what is in [`OTHER`]
/// already, and waits for its turn.
pub fn is_recorded(home: &Home) {
    let (name, content) = OTHER;
    let file = home.workspace().join(name);
    let input = json!({"file_path": file, "content": content});
    let fields = json!({"tool_name": "write_file", "tool_input": input});
    hook(home, "gemini", "BeforeTool", fields);
}

/// The output of `pillion` with these arguments.
fn printed(home: &Home, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pillion"));
    command.args(args).env_clear().envs(home.env().iter());
    let output = command.current_dir(home.workspace()).output();
    let output = output.expect("the command under test runs");
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).expect("it prints text")
}

/// The one change that is recorded is this command's, of this file, and has this line and not that one.
pub fn assert_recorded(home: &Home, path: &Path, line: &str, other: &str) {
    let all: Vec<Value> =
        serde_json::from_str(&printed(home, &["changes", "--json"])).expect("JSON");
    let [change] = &all[..] else {
        panic!("{all:#?}");
    };
    assert_eq!(change["by"], "Bash");
    assert_eq!(change["path"].as_str().map(Path::new), Some(path));
    let diff = printed(home, &["show", change["id"].as_str().expect("an id")]);
    assert!(diff.contains(line) && !diff.contains(other), "{diff}");
}
