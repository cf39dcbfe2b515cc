//! An editor that shows no proposals: agents have its context, and show their changes themselves.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};

use pillion_testkit::{
    Agent, AgentKind, Claude, ClaudeRelease, ClaudeStart, Home, Model, Tmux, Turn, set_up_claude,
};
use serde_json::json;

use crate::companion::command;

const FILE: &str = "new.txt";
const TEXT: &str = "one\ntwo\n";

/// A running `pillion lsp --no-diffs`. Killed on drop.
struct Editor(Child);

impl Editor {
    /// Starts it and waits until agents can find it.
    fn start(home: &Home) -> Self {
        let mut command = command(home, ["lsp", "--no-diffs"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut editor = Self(command.spawn().expect("the command under test runs"));
        let folder = format!("file://{}", home.workspace().display());
        let params = json!({
            "workspaceFolders": [{"uri": folder}],
            "capabilities": {"experimental": {"pillion": true}},
        });
        let initialize =
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
        editor.send(&initialize.to_string());
        let mut output = BufReader::new(editor.0.stdout.take().expect("it is piped"));
        let mut header = String::new();
        output.read_line(&mut header).expect("it answers");
        assert!(header.starts_with("Content-Length"), "{header}");
        editor.send(r#"{"jsonrpc": "2.0", "method": "initialized", "params": {}}"#);
        // As an editor reads it, whatever comes.
        std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
        editor
    }

    fn send(&mut self, message: &str) {
        let input = self.0.stdin.as_mut().expect("it is piped");
        write!(input, "Content-Length: {}\r\n\r\n{message}", message.len()).expect("it reads");
        input.flush().expect("it reads");
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn gemini_asks_in_its_own_window_where_no_editor_shows_diffs() {
    asks_in_its_own_window(AgentKind::Gemini);
}

#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn qwen_asks_in_its_own_window_where_no_editor_shows_diffs() {
    asks_in_its_own_window(AgentKind::Qwen);
}

fn asks_in_its_own_window(kind: AgentKind) {
    let (tmux, home) = (Tmux::start(), Home::new());
    let path = home.file(FILE, "before\n");
    let _editor = Editor::start(&home);
    let model = Model::start();
    let agent = Agent::start(kind, &tmux, &home, &model, &home.workspace());
    agent.ide_status("Connected to Editor");
    agent.propose(&model, &path, TEXT);
    let screen = agent.pane().screen();
    assert!(
        screen.contains("before") && screen.contains("two"),
        "{screen}"
    );
    agent.allow();
    agent.wait_accepted(FILE);
    agent.wait_for("that is done");
    assert_eq!(fs::read_to_string(&path).expect("it is there"), TEXT);
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_asks_in_its_own_window_where_no_editor_shows_diffs() {
    claude_asks_in_its_own_window(ClaudeRelease::Native);
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_on_node_asks_in_its_own_window_where_no_editor_shows_diffs() {
    claude_asks_in_its_own_window(ClaudeRelease::Node);
}

fn claude_asks_in_its_own_window(release: ClaudeRelease) {
    let (tmux, home, model) = (Tmux::start(), Home::new(), Model::start());
    let path = home.file(FILE, "before\n");
    let _editor = Editor::start(&home);
    set_up_claude(&home, &home.workspace());
    let how = ClaudeStart {
        arguments: &["--ide"],
        ..ClaudeStart::default()
    };
    let claude = Claude::start_with(release, &tmux, &home, &model, &home.workspace(), &how);
    model.script([
        Turn::read_file(&path),
        Turn::write_file(&path, TEXT),
        Turn::say("that is done"),
    ]);
    claude.prompt("change it");
    claude.wait_question();
    // The newer one says that the change is in the editor, and asks blindly: docs/editors.md has what helps.
    if release == ClaudeRelease::Node {
        claude.wait_for("two");
    }
    claude.allow();
    claude.wait_for("that is done");
    assert_eq!(fs::read_to_string(&path).expect("it is there"), TEXT);
}
