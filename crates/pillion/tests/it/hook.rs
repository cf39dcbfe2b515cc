//! `hook`: what an agent is answered, whatever happens.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pillion_discovery::socket::{Socket, connect_to_hub};
use pillion_discovery::state;
use pillion_system::{peer, process};
use pillion_testkit::{Env, SOON, Size, Tmux, pause};
use serde_json::{Value, json};

use crate::diff::{number, pending};
use crate::log::came_of;
use crate::sandbox::{Sandbox, Serve, signal, signal_to};

const BEFORE: &str = "one\ntwo\nthree\n";

/// The agents, and the names of their event and of the tool that writes a whole file.
const AGENTS: [(&str, &str, &str); 3] = [
    ("claude", "PreToolUse", "Write"),
    ("gemini", "BeforeTool", "write_file"),
    ("qwen", "PreToolUse", "write_file"),
];

/// The time for which a session is kept of which nobody knows if it comes back.
const GONE: Duration = Duration::from_secs(30);

/// The time that a hook may take beyond its limit, if it has views to close.
const CLOSING: Duration = Duration::from_secs(10);

/// A hook that was called.
pub struct Hook(Child);

/// The answer of the hook.
#[derive(Debug)]
pub struct Answer {
    code: Option<i32>,
    /// Null if nothing is on standard output.
    pub output: Value,
    stderr: String,
}

impl Hook {
    pub fn call(sandbox: &Sandbox, args: &[&str], call: &Value) -> Self {
        Self::write(sandbox, args, call.to_string().as_bytes())
    }

    fn write(sandbox: &Sandbox, args: &[&str], input: &[u8]) -> Self {
        Self::run(&mut sandbox.command([&["hook"], args].concat()), input)
    }

    pub fn run(hook: &mut Command, input: &[u8]) -> Self {
        let mut child = hook
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Of one that is too long it does not read the end.
        let _ = child.stdin.take().unwrap().write_all(input);
        Self(child)
    }

    pub fn answer(self) -> Answer {
        let output = self.0.wait_with_output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        Answer {
            code: output.status.code(),
            output: match stdout.as_str() {
                "" => Value::Null,
                text => serde_json::from_str(text).unwrap(),
            },
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// The process of an agent that starts hooks: a shell, which says that it is the agent. Dropping it kills it.
pub struct AgentProcess(Child);

impl AgentProcess {
    pub fn start(sandbox: &Sandbox) -> Self {
        let mut shell = Command::new("sh");
        shell.env_clear().envs(sandbox.home.env().iter());
        shell.current_dir(sandbox.home.workspace());
        Self(shell.stdin(Stdio::piped()).spawn().unwrap())
    }

    /// Starts a hook, and returns what waits for its answer, which comes once.
    pub fn calls(
        &mut self,
        sandbox: &Sandbox,
        name: &str,
        call: &Value,
    ) -> impl FnOnce() -> Answer + use<> {
        let place = tempfile::tempdir_in(sandbox.home.tmp()).unwrap();
        fs::write(place.path().join("call"), call.to_string()).unwrap();
        let (program, at) = (env!("CARGO_BIN_EXE_pillion"), place.path().display());
        let line = format!(
            "CLAUDE_PID=$$ '{program}' hook {name} <{at}/call >{at}/out 2>{at}/err; echo $? >{at}/code\n"
        );
        let stdin = self.0.stdin.as_mut().unwrap();
        stdin.write_all(line.as_bytes()).unwrap();
        move || {
            let read = |file: &str| fs::read_to_string(place.path().join(file)).unwrap_or_default();
            let started = Instant::now();
            while !read("code").ends_with('\n') {
                assert!(started.elapsed() < SOON, "the hook gives no answer");
                pause(started);
            }
            Answer {
                code: read("code").trim_end().parse().ok(),
                output: serde_json::from_str(&read("out")).unwrap_or_default(),
                stderr: read("err"),
            }
        }
    }
}

impl Drop for AgentProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Answer {
    /// The decision of Claude Code about it, and why.
    #[track_caller]
    pub fn decision(&self) -> (&str, &str) {
        assert_eq!(self.code, Some(0), "{self:?}");
        let decided = &self.output["hookSpecificOutput"];
        let text = |name: &str| decided[name].as_str().unwrap_or_default();
        (text("permissionDecision"), text("permissionDecisionReason"))
    }

    /// Expects that Claude Code denies the change with a reason that says this.
    #[track_caller]
    pub fn expect_denied(&self, why: &str) {
        let (decision, reason) = self.decision();
        assert!(decision == "deny" && reason.contains(why), "{self:?}");
    }

    /// Returns true if Claude Code does not make the call.
    pub fn is_blocked(&self) -> bool {
        self.code == Some(2) || self.decision().0 == "deny"
    }

    /// Expects nothing, which leaves everything to the agent.
    #[track_caller]
    pub fn expect_nothing(&self) {
        let is_nothing = self.code == Some(0) && self.output.is_null() && self.stderr.is_empty();
        assert!(is_nothing, "{self:?}");
    }
}

/// A call of Claude Code's.
fn call(sandbox: &Sandbox, tool: &str, input: &Value) -> Value {
    json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": sandbox.home.workspace(),
        "permission_mode": "bypassPermissions", "tool_name": tool, "tool_input": input,
    })
}

pub fn edit(sandbox: &Sandbox, path: &Path, old: &str, new: &str) -> Value {
    let input = json!({"file_path": path, "old_string": old, "new_string": new});
    call(sandbox, "Edit", &input)
}

fn write(sandbox: &Sandbox, path: &Path, content: &str) -> Value {
    call(
        sandbox,
        "Write",
        &json!({"file_path": path, "content": content}),
    )
}

/// A companion, and a hook that waits for a decision about an edit of this file: with the number of its proposal.
fn waiting(sandbox: &Sandbox, args: &[&str]) -> (Serve, Hook, String) {
    let serve = sandbox.serve::<&str>([]);
    let path = sandbox.home.file("a.txt", BEFORE);
    let call = edit(sandbox, &path, "two", "zwei");
    let hook = Hook::call(sandbox, &[&["claude"], args].concat(), &call);
    let id = number(&pending(sandbox, 1)[0]);
    (serve, hook, id)
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn at_a_terminal_it_says_who_runs_it() {
    let sandbox = Sandbox::new();
    let tmux = Tmux::start();
    let mut env = Env::default();
    for (name, value) in sandbox.home.env().iter() {
        env.set(name, value);
    }
    let folder = sandbox.home.workspace();
    for (name, words) in [("hook", &["claude"][..]), ("guard", &["guard", "claude"])] {
        let command = [&[env!("CARGO_BIN_EXE_pillion"), "hook"], words].concat();
        let pane = tmux.spawn(name, Size::new(100, 20), &env, &folder, &command);
        assert_eq!(pane.wait_exit(SOON), 2);
        let screen = pane.scrollback();
        assert!(
            screen.contains("error: Claude Code runs this command"),
            "{screen}"
        );
        assert!(screen.contains("hint: "), "{screen}");
    }
}

#[test]
fn without_a_companion_it_steps_aside_and_says_so_or_denies_if_it_is_strict() {
    let sandbox = Sandbox::new();
    for (agent, event, tool) in AGENTS {
        let path = sandbox.home.workspace().join("new.txt");
        let mut call = write(&sandbox, &path, "x\n");
        call["hook_event_name"] = event.into();
        call["tool_name"] = tool.into();
        let answer = Hook::call(&sandbox, &[agent], &call).answer();
        let told = answer.output["systemMessage"].as_str().unwrap();
        assert!(told.contains("no Pillion companion is running"), "{told}");
        assert_eq!(
            answer.output.as_object().unwrap().len(),
            1,
            "and nothing else"
        );
        assert_eq!(answer.code, Some(0));
        let answer = Hook::call(&sandbox, &[agent, "--strict"], &call).answer();
        let denied = answer.output.to_string();
        assert!(
            denied.contains("deny") && denied.contains("no one is available"),
            "{denied}"
        );
    }
}

#[test]
fn what_is_not_understood_is_blocked() {
    let sandbox = Sandbox::new();
    let long = vec![b' '; 100 << 20];
    for (agent, input, why) in [
        ("codex", &b""[..], "standard input is empty"),
        ("codex", b"no JSON", "it is not JSON"),
        ("codex", b"[]", "it is not a JSON object"),
        ("codex", b"{}", "hook_event_name is missing"),
        (
            "claude",
            b"{\"hook_event_name\": 1, \"session_id\": \"s\", \"permission_mode\": \"\"}",
            "hook_event_name is not a string",
        ),
        (
            "claude",
            b"{\"hook_event_name\": \"PreToolUse\", \"session_id\": \"s\", \"transcript_path\": \"/t\"}",
            "tool_name is missing",
        ),
        ("claude", &long, "it is longer than 32 MB"),
    ] {
        let answer = Hook::write(&sandbox, &[agent], input).answer();
        assert_eq!(answer.code, Some(2), "{answer:?}");
        assert!(
            answer.stderr.contains(why) && answer.output.is_null(),
            "{answer:?}"
        );
    }
}

/// Others run the hooks in Claude Code's settings, with fields of their own: an exit code would block them at each event. It makes no
/// difference whether somebody could be asked.
#[test]
fn what_other_programs_call_claude_codes_hook_with_passes_and_is_no_turn_of_its() {
    let sandbox = Sandbox::new();
    let folder = sandbox.home.workspace();
    let path = sandbox.home.file("a.txt", BEFORE);
    let events = [
        "UserPromptSubmit",
        "PreToolUse",
        "PermissionRequest",
        "PostToolUse",
        "Stop",
    ];
    // VS Code's agents as they were and as they are, and Cursor's.
    let calls = events.into_iter().flat_map(|event| {
        let input = json!({"filePath": path, "oldString": "two", "newString": "zwei"});
        let tool = "replace_string_in_file";
        [
            json!({"hookEventName": event, "sessionId": "s", "cwd": folder, "timestamp": "2026-11-28T18:07:06.396Z",
                "tool_name": tool, "tool_input": input, "prompt": "go", "transcript_path": "/t"}),
            json!({"hook_event_name": event, "session_id": "s", "cwd": folder, "timestamp": "2026-11-28T18:07:06.396Z",
                "tool_name": tool, "tool_input": input, "prompt": "go", "transcript_path": "/t", "tool_use_id": "c"}),
            json!({"hook_event_name": event, "conversation_id": "s", "tool_name": "Write", "tool_input": input}),
        ]
    });
    let texts = ["", "no JSON", "[]", "{}"].map(str::to_owned).into_iter();
    let inputs: Vec<String> = calls.map(|call| call.to_string()).chain(texts).collect();
    let pass = || {
        for input in &inputs {
            let answer = Hook::write(&sandbox, &["claude"], input.as_bytes()).answer();
            assert!(
                answer.code == Some(0) && answer.output.is_null(),
                "{input}: {answer:?}"
            );
            let told = "was called by another program, whose changes it does not show";
            assert!(answer.stderr.contains(told), "{input}: {answer:?}");
        }
    };
    pass();
    let _serve = sandbox.serve::<&str>([]);
    pass();
    pending(&sandbox, 0);
    let turns = sandbox.run(["turns", "--json"]).expect(0).stdout;
    assert_eq!(turns.trim(), "[]");
}

/// A typing error in the settings: without it, every change would pass unseen.
#[test]
fn a_workspace_that_does_not_exist_blocks_every_change_and_is_named() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    let path = sandbox.home.file("a.txt", BEFORE);
    let missing = sandbox.home.workspace().join("missing");
    let missing = missing.to_str().unwrap();
    for (call, is_blocked) in [
        (edit(&sandbox, &path, "two", "zwei"), true),
        (write(&sandbox, &path, "x\n"), true),
        (write(&sandbox, Path::new("/elsewhere.txt"), "x\n"), true),
        (call(&sandbox, "Bash", &json!({"command": "true"})), false),
    ] {
        let answer = Hook::call(&sandbox, &["claude", "--workspace", missing], &call).answer();
        match is_blocked {
            true => {
                assert_eq!(answer.code, Some(2), "{answer:?}");
                let why = format!("the folder {missing} does not exist");
                assert!(answer.stderr.contains(&why), "{answer:?}");
            }
            false => answer.expect_nothing(),
        }
    }
    pending(&sandbox, 0);
}

#[test]
fn a_call_of_another_form_is_blocked_for_every_agent_but_claude() {
    let sandbox = Sandbox::new();
    for agent in ["codex", "copilot", "gemini", "opencode", "qwen"] {
        for input in [&b"{}"[..], b"{\"tool\": \"edit\"}", b"{\"toolArgs\": {}}"] {
            let answer = Hook::write(&sandbox, &[agent], input).answer();
            match agent {
                // Of an exit code it hears no reason.
                "copilot" => assert_eq!(answer.output["permissionDecision"], "deny", "{answer:?}"),
                _ => assert_eq!(answer.code, Some(2), "{agent}: {answer:?}"),
            }
        }
    }
}

#[test]
fn a_log_that_cannot_be_written_keeps_nothing_from_being_answered() {
    let sandbox = Sandbox::new();
    let path = sandbox.home.workspace().join("new.txt");
    let call = write(&sandbox, &path, "x\n");
    let options = ["claude", "--strict", "--log", "/nowhere/log"];
    let answer = Hook::call(&sandbox, &options, &call).answer();
    answer.expect_denied("no one is available");
    assert!(answer.stderr.contains("/nowhere/log"), "{answer:?}");
}

#[test]
fn what_changes_no_file_passes() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    let path = sandbox.home.file("a.txt", BEFORE);
    let mut other_event = write(&sandbox, &path, "x\n");
    other_event["hook_event_name"] = "SessionStart".into();
    let mut question = write(&sandbox, &path, "x\n");
    question["hook_event_name"] = "PermissionRequest".into();
    for call in [
        call(&sandbox, "Bash", &json!({"command": "true"})),
        call(&sandbox, "mcp__x__Edit", &json!(1)),
        other_event,
        question,
        write(&sandbox, &path, BEFORE),
    ] {
        Hook::call(&sandbox, &["claude"], &call)
            .answer()
            .expect_nothing();
    }
    pending(&sandbox, 0);
}

#[test]
fn an_edit_that_cannot_work_is_denied_without_asking() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    let path = sandbox.home.file("a.txt", "one\none\n");
    let missing = sandbox.home.workspace().join("missing.txt");
    for (call, why) in [
        (edit(&sandbox, &path, "two", "zwei"), "is not in the file"),
        (
            edit(&sandbox, &path, "one", "eins"),
            "occurs 2 times in the file",
        ),
        (edit(&sandbox, &path, "one", "one"), "are the same"),
        (edit(&sandbox, &path, "", "new"), "the file exists"),
        (edit(&sandbox, &missing, "one", "two"), "does not exist"),
    ] {
        Hook::call(&sandbox, &["claude"], &call)
            .answer()
            .expect_denied(why);
    }
    pending(&sandbox, 0);
}

/// An agent that finds such a text loosely would have made the change: the person hears that it is not shown, and the model what to do.
#[test]
fn the_person_hears_of_an_edit_that_is_refused_unseen() {
    let sandbox = Sandbox::new();
    let mut serve = sandbox.serve::<&str>([]);
    let path = sandbox.home.file("a.txt", "one\n\ttwo\n");
    for (agent, told) in [
        ("claude", None),
        ("qwen", None),
        ("opencode", Some("opencode")),
        ("gemini", Some("Gemini CLI")),
        ("copilot", Some("Copilot CLI")),
    ] {
        let mut call = edit(&sandbox, &path, "  two", "zwei");
        match agent {
            "claude" => {}
            "gemini" => {
                call["hook_event_name"] = "BeforeTool".into();
                call["tool_name"] = "replace".into();
            }
            "copilot" => {
                let input = json!({"path": path, "old_str": "  two", "new_str": "zwei"});
                call = json!({"sessionId": "s", "cwd": sandbox.home.workspace(),
                              "toolName": "edit", "toolArgs": input});
            }
            _ => call["tool_name"] = "edit".into(),
        }
        let answer = Hook::call(&sandbox, &[agent], &call).answer();
        let output = answer.output.to_string();
        let is_told = output.contains("not in the file") && output.contains("read the file");
        assert!(is_told, "{agent}: {output}");
        if let Some(name) = told {
            let said = serve.said("was not shown, and its model is told to read the file");
            assert!(said.contains(name), "{agent}: {said}");
        }
    }
    pending(&sandbox, 0);
}

#[test]
fn what_cannot_be_shown_is_left_to_the_agents_own_question() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    let folder = sandbox.home.workspace();
    let utf16 = sandbox.home.file("utf16.txt", b"\xff\xfeo\0n\0e\0");
    let latin1 = sandbox.home.file("latin1.txt", b"caf\xe9\n");
    let large = sandbox.home.file("large.txt", "");
    fs::File::options()
        .write(true)
        .open(&large)
        .unwrap()
        .set_len((64 << 20) + 1)
        .unwrap();
    let pipe = folder.join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
    let notebook =
        json!({"notebook_path": folder.join("a.ipynb"), "new_source": "1", "cell_id": "a"});
    for (call, why) in [
        (edit(&sandbox, &utf16, "one", "two"), "is not in UTF-8"),
        (write(&sandbox, &latin1, "x"), "is not in UTF-8"),
        (edit(&sandbox, &large, "x", "y"), "is longer than 64 MB"),
        (write(&sandbox, &folder, "x"), "is a folder"),
        (write(&sandbox, &pipe, "x"), "it is not a regular file"),
        (write(&sandbox, &latin1.join("x"), "x"), "cannot be read"),
        (
            call(&sandbox, "Edit", &json!({"file_path": 1})),
            "Edit has no file_path",
        ),
        (
            call(&sandbox, "Write", &json!({"file_path": "/a"})),
            "Write has no content",
        ),
        (
            call(&sandbox, "NotebookEdit", &notebook),
            "is not a notebook",
        ),
    ] {
        // In its mode bypassPermissions, it asks nobody about the files that it protects itself.
        for (mode, expected) in [("default", "ask"), ("bypassPermissions", "deny")] {
            let mut call = call.clone();
            call["permission_mode"] = mode.into();
            let answer = Hook::call(&sandbox, &["claude"], &call).answer();
            let (decision, reason) = answer.decision();
            assert!(
                decision == expected && reason.contains(why),
                "{why}: {answer:?}"
            );
        }
    }
    pending(&sandbox, 0);
    // Gemini CLI has no question that a hook could ask for.
    let mut call = write(&sandbox, &latin1, "x");
    call["hook_event_name"] = "BeforeTool".into();
    call["tool_name"] = "write_file".into();
    let answer = Hook::call(&sandbox, &["gemini"], &call).answer();
    assert_eq!(answer.output["decision"], "deny", "{answer:?}");
}

/// The agent works elsewhere, where nobody could be asked.
#[cfg(target_os = "linux")]
#[test]
fn a_file_of_a_workspace_that_is_named_through_proc_is_not_written_unseen() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    let file = sandbox.home.file("a.txt", BEFORE);
    let elsewhere = sandbox.home.root().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink("/proc/self/root", elsewhere.join("link")).unwrap();
    symlink("/usr/share", elsewhere.join("out")).unwrap();
    let below = file.strip_prefix(sandbox.home.root()).unwrap().display();
    let (file, here) = (file.display(), elsewhere.display());
    let through = "leads through /proc";
    for (agent, event, tool) in AGENTS {
        for (path, why) in [
            (format!("/proc/self/root{file}"), through),
            (format!("/proc/{}/root{file}", std::process::id()), through),
            (format!("/proc/self/task/../root{file}"), through),
            (format!("/dev/fd/../root{file}"), through),
            (format!("{here}/link{file}"), through),
            // Some take `..` out of the text.
            (format!("/dev/fd/../..{file}"), through),
            (format!("{here}/out/../../{below}"), "leads up with `..`"),
        ] {
            let mut call = write(&sandbox, Path::new(&path), "x");
            call["hook_event_name"] = event.into();
            call["tool_name"] = tool.into();
            call["cwd"] = elsewhere.to_str().into();
            let mut hook = sandbox.command(["hook", agent]);
            let hook = Hook::run(hook.current_dir(&elsewhere), call.to_string().as_bytes());
            let answer = hook.answer();
            let said = answer.output.to_string();
            assert!(said.contains(why), "{agent} {path}: {answer:?}");
        }
    }
    pending(&sandbox, 0);
}

#[test]
fn a_file_outside_of_the_workspace_and_one_behind_a_link_are_shown() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    let outside = sandbox.home.home().join("outside.txt");
    fs::write(&outside, BEFORE).unwrap();
    let link = sandbox.home.workspace().join("link.txt");
    symlink(&outside, &link).unwrap();
    for path in [&outside, &link] {
        let call = edit(&sandbox, path, "two", "zwei");
        let hook = Hook::call(&sandbox, &["claude"], &call);
        let shown = &pending(&sandbox, 1)[0];
        assert_eq!(shown["path"], path.to_str().unwrap());
        sandbox.insist(["accept", &number(shown)]).expect(0);
        let answer = hook.answer();
        assert_eq!(answer.decision().0, "allow");
        let input = &answer.output["hookSpecificOutput"]["updatedInput"];
        assert_eq!(input["file_path"], path.to_str().unwrap());
    }
}

/// A patch is shown wherever its file is; one that names something else than a file is left to the agent's own question, or
/// denied where there is none.
#[test]
fn a_patch_for_a_file_outside_or_behind_a_link_is_shown_and_one_for_a_folder_is_not_applied() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    let outside = sandbox.home.home().join("outside.txt");
    fs::write(&outside, BEFORE).unwrap();
    let folder = sandbox.home.workspace();
    symlink(&outside, folder.join("link.txt")).unwrap();
    symlink(sandbox.home.home(), folder.join("linked")).unwrap();
    fs::create_dir(folder.join("folder")).unwrap();
    let patch = |name: &str| {
        let text = format!(
            "*** Begin Patch\n*** Update File: {name}\n@@\n one\n-two\n+zwei\n*** End Patch\n"
        );
        call(&sandbox, "apply_patch", &json!({"command": text}))
    };
    let absolute = outside.to_str().unwrap();
    for name in [absolute, "link.txt", "linked/outside.txt"] {
        let hook = Hook::call(&sandbox, &["codex"], &patch(name));
        let shown = &pending(&sandbox, 1)[0];
        assert!(shown["path"].as_str().unwrap().ends_with(".txt"), "{shown}");
        sandbox
            .run(["reject", &number(shown), "--because", "not there"])
            .expect(0);
        hook.answer().expect_denied("not there");
    }
    for name in ["folder", "link.txt/x"] {
        let answer = Hook::call(&sandbox, &["codex"], &patch(name)).answer();
        assert_eq!(answer.decision().0, "deny", "{name}: {answer:?}");
    }
    pending(&sandbox, 0);
    assert_eq!(fs::read_to_string(&outside).unwrap(), BEFORE);
}

/// `pillion hook guard`, which stands beside a hook, says nothing of its own to what names no call.
#[test]
fn what_stands_beside_a_hook_is_silent_about_what_names_no_call() {
    let sandbox = Sandbox::new();
    let path = sandbox.home.file("a.txt", BEFORE);
    let unnamed = edit(&sandbox, &path, "two", "zwei").to_string();
    let beside = || {
        for input in [&b""[..], b"no JSON", b"{}", unnamed.as_bytes()] {
            Hook::write(&sandbox, &["guard", "claude"], input)
                .answer()
                .expect_nothing();
        }
    };
    beside();
    let _serve = sandbox.serve::<&str>([]);
    beside();
    pending(&sandbox, 0);
}

/// Nobody is shown what is changed then, and nothing of it is recorded: whether it was started before the editor, the person has
/// quit that, or it is at work elsewhere.
#[test]
fn what_stands_beside_a_hook_has_the_agent_ask_where_nobody_is() {
    let sandbox = Sandbox::new();
    let path = sandbox.home.file("a.txt", BEFORE);
    let mut call = edit(&sandbox, &path, "two", "zwei");
    call["tool_use_id"] = "toolu_1".into();
    let asks = |call: &Value, port: u16| {
        let before = Hook::call(&sandbox, &["guard", "claude"], call).answer();
        for answer in [before, beside(&sandbox, call, port)] {
            let (decision, why) = answer.decision();
            assert_eq!(decision, "ask");
            assert!(why.contains("neither shown nor recorded"), "{why}");
        }
    };
    asks(&call, 1);
    let mut ended = sandbox.serve::<&str>([]);
    let port = ended.port();
    ended.signal("TERM");
    ended.ended();
    asks(&call, port);
    let _serve = sandbox.serve::<&str>([]);
    let mut elsewhere = call.clone();
    elsewhere["cwd"] = sandbox.home.home().to_str().unwrap().into();
    asks(&elsewhere, 1);
    // There, its permission mode decides; and what a command writes is not shown before the write by an open one either.
    let asked = ["guard", "claude", "--asked"];
    Hook::call(&sandbox, &asked, &elsewhere)
        .answer()
        .expect_nothing();
    elsewhere["tool_name"] = "Bash".into();
    elsewhere["tool_input"] = json!({"command": "true"});
    Hook::call(&sandbox, &["guard", "claude"], &elsewhere)
        .answer()
        .expect_nothing();
}

/// Claude Code, which was started with the companion at this port, is about to make this call: `pillion hook guard` stands beside it.
fn beside(sandbox: &Sandbox, call: &Value, port: u16) -> Answer {
    let command = sandbox
        .command(["hook", "guard", "claude"])
        .env("CLAUDE_CODE_SSE_PORT", port.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = command.unwrap();
    let input = call.to_string();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    Hook(child).answer()
}

/// The companion may be killed before this process has reached it: then there is nobody whom it could ask.
#[test]
fn what_stands_beside_a_hook_has_the_agent_ask_if_its_companion_was_killed() {
    let sandbox = Sandbox::new();
    let path = sandbox.home.file("a.txt", BEFORE);
    let mut call = edit(&sandbox, &path, "two", "zwei");
    call["tool_use_id"] = "toolu_1".into();
    let beside = |port: u16| beside(&sandbox, &call, port);
    let mut killed = sandbox.serve::<&str>([]);
    let port = killed.port();
    killed.signal("KILL");
    killed.ended();
    let answer = beside(port);
    let (decision, why) = answer.decision();
    assert_eq!(decision, "ask");
    let roots = sandbox.home.workspace().display().to_string();
    assert!(
        why.contains("was killed: the user has to start it again"),
        "{why}"
    );
    assert!(why.contains(&roots), "{why}");
}

/// Claude Code does not come back to a companion that is there only when it has given up dialling, at the same port or another.
#[test]
fn what_stands_beside_a_hook_has_the_agent_ask_where_it_is_not_connected_to_an_open_editor() {
    let sandbox = Sandbox::new();
    let path = sandbox.home.file("a.txt", BEFORE);
    let mut call = edit(&sandbox, &path, "two", "zwei");
    call["tool_use_id"] = "toolu_1".into();
    let mut killed = sandbox.serve::<&str>([]);
    let former = killed.port();
    killed.signal("KILL");
    killed.ended();
    let serve = sandbox.serve::<&str>([]);
    let below = sandbox.home.workspace().join("sub");
    fs::create_dir(&below).unwrap();
    for (port, folder) in [
        (serve.port(), sandbox.home.workspace()),
        (serve.port(), sandbox.home.home()),
        (former, sandbox.home.workspace()),
        (1, sandbox.home.workspace()),
        (1, below),
    ] {
        call["cwd"] = folder.to_str().unwrap().into();
        let answer = beside(&sandbox, &call, port);
        let (decision, why) = answer.decision();
        assert_eq!(decision, "ask", "{port} {folder:?}");
        assert!(
            why.contains("was not connected") && why.contains("by now, type /ide"),
            "{why}"
        );
    }
}

#[test]
fn the_whole_text_is_written_as_it_was_accepted() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    let accepted = sandbox.home.home().join("accepted");
    for (before, edited, old, new) in [
        ("one\ntwo\n", "one\ndeux\n", "one\ntwo\n", "one\ndeux\n"),
        (
            "one\r\ntwo\r\n",
            "one\r\ndeux\r\n",
            "one\ntwo\n",
            "one\ndeux\n",
        ),
        (
            "\u{feff}one\r\ntwo",
            "\u{feff}one\r\ndeux",
            "one\ntwo",
            "one\ndeux",
        ),
        ("one \ntwo\n\n", "one \ndeux", "one \ntwo\n\n", "one \ndeux"),
    ] {
        let path = sandbox.home.file("a.txt", before);
        let mut call = edit(&sandbox, &path, "two", "zwei");
        call["tool_input"]["replace_all"] = true.into();
        let hook = Hook::call(&sandbox, &["claude"], &call);
        let id = number(&pending(&sandbox, 1)[0]);
        fs::write(&accepted, edited).unwrap();
        let file = accepted.to_str().unwrap();
        sandbox
            .insist(["accept", &id, "--content-file", file])
            .expect(0);
        let answer = hook.answer();
        let output = &answer.output["hookSpecificOutput"];
        let expected = json!({
            "file_path": path, "old_string": old, "new_string": new, "replace_all": false,
        });
        assert_eq!(output["updatedInput"], expected, "{before:?}");
        let context = output["additionalContext"].as_str().unwrap();
        assert!(context.contains("+deux"), "{context}");
    }
}

/// As the text of the cell, with a note that says which one it is.
#[test]
fn a_change_of_a_notebooks_cell_is_shown_and_decided_as_its_source() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    let notebook = json!({"cells": [
        {"id": "a", "source": ["x = 1\n", "y = 2"]}, {"id": "b", "source": "z"},
    ]});
    let path = sandbox.home.file("a.ipynb", notebook.to_string());
    let edited = sandbox.home.home().join("edited");
    fs::write(&edited, "x = 3").unwrap();
    let edited = ["--content-file", edited.to_str().unwrap()];
    let input = json!({"notebook_path": path, "cell_id": "a", "new_source": "x = 2"});
    for (decision, more, allowed, told) in [
        ("accept", &[][..], Some("x = 2"), ""),
        ("accept", &edited, Some("x = 3"), "+x = 3"),
        (
            "reject",
            &["--note", "a.ipynb:1", "why?"],
            None,
            "(`x = 2`): why?",
        ),
    ] {
        let call = call(&sandbox, "NotebookEdit", &input);
        let hook = Hook::call(&sandbox, &["claude"], &call);
        let shown = &pending(&sandbox, 1)[0];
        let id = number(shown);
        let text: Value = {
            let told = sandbox.run(["diffs", &id, "--json"]).expect(0);
            serde_json::from_str(&told.stdout).unwrap()
        };
        assert!(text.to_string().contains("x = 2"), "{text}");
        sandbox.insist([&[decision, &id], more].concat()).expect(0);
        let answer = hook.answer();
        let output = &answer.output["hookSpecificOutput"];
        let source = output["updatedInput"]["new_source"].as_str();
        assert_eq!(source, allowed, "{answer:?}");
        assert!(output.to_string().contains(told), "{answer:?}");
    }
}

#[test]
fn a_rejected_change_is_denied_with_the_notes_and_one_of_which_nothing_is_left_too() {
    let sandbox = Sandbox::new();
    let (_serve, hook, id) = waiting(&sandbox, &[]);
    let note = ["--because", "no", "--note", "a.txt:2", "in English"];
    sandbox
        .run([&["reject", &id], &note[..]].concat())
        .expect(0);
    let path = sandbox.home.workspace().join("a.txt");
    let expected = format!(
        "The user rejected your change to {} and says:\n- no\n- line 2 (`zwei`): in English",
        path.display()
    );
    hook.answer().expect_denied(&expected);
    let call = edit(&sandbox, &path, "two", "zwei");
    let hook = Hook::call(&sandbox, &["claude"], &call);
    let id = number(&pending(&sandbox, 1)[0]);
    let file = path.to_str().unwrap();
    sandbox
        .insist(["accept", &id, "--content-file", file])
        .expect(0);
    hook.answer().expect_denied("nothing is left");
}

#[test]
fn if_nobody_decides_in_time_the_change_is_denied() {
    let sandbox = Sandbox::new();
    let (_serve, hook, _) = waiting(&sandbox, &["--limit", "2s"]);
    hook.answer().expect_denied("nobody decided in time");
    pending(&sandbox, 0);
}

/// As soon as the time is up: there are no views to be closed.
#[test]
fn if_the_input_does_not_end_in_time_the_call_is_blocked() {
    let sandbox = Sandbox::new();
    for input in ["", "{\"hook_event_name\": ", "{}"] {
        let (reader, mut writer) = std::io::pipe().unwrap();
        writer.write_all(input.as_bytes()).unwrap();
        let started = Instant::now();
        let child = sandbox
            .command(["hook", "claude", "--limit", "1s"])
            .stdin(reader)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let answer = Hook(child).answer();
        assert_eq!(answer.code, Some(2), "{answer:?}");
        assert!(answer.stderr.contains("in time"), "{answer:?}");
        assert!(started.elapsed() < CLOSING, "{:?}", started.elapsed());
    }
}

/// Whichever way it ends: nobody has rejected anything.
#[test]
fn if_the_companion_ends_the_change_is_denied_and_nobody_has_rejected_it() {
    for name in ["KILL", "TERM", "HUP"] {
        let sandbox = Sandbox::new();
        let (serve, hook, _) = waiting(&sandbox, &[]);
        serve.signal(name);
        expect_undecided(&hook.answer());
    }
    // The hub, its last view, and one that is killed.
    for name in ["TERM", "KILL"] {
        for is_hub in [true, false] {
            let sandbox = Sandbox::new();
            let serve = sandbox.serve_in_hub::<&str>([]);
            let path = sandbox.home.file("a.txt", BEFORE);
            let call = edit(&sandbox, &path, "two", "zwei");
            let hook = Hook::call(&sandbox, &["claude"], &call);
            pending(&sandbox, 1);
            match is_hub {
                true => signal_to(sandbox.companion_pid(), name),
                false => serve.signal(name),
            }
            expect_undecided(&hook.answer());
        }
    }
}

#[track_caller]
fn expect_undecided(answer: &Answer) {
    answer.expect_denied("ended, and nobody had decided");
    let reason = answer.decision().1;
    assert!(!reason.contains("rejected"), "{reason}");
}

/// Its view starts another one: until that is there, nobody knows that nobody is.
#[test]
fn a_hub_that_was_killed_is_waited_for() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve_in_hub::<&str>([]);
    let path = sandbox.home.file("a.txt", BEFORE);
    let call = edit(&sandbox, &path, "two", "zwei");
    for _ in 0..20 {
        signal_to(sandbox.companion_pid(), "KILL");
        let hook = Hook::call(&sandbox, &["claude"], &call);
        let started = Instant::now();
        while sandbox.run(["diffs"]).code != Some(0) {
            assert!(started.elapsed() < SOON, "no hub comes back");
        }
        let proposal = number(&pending(&sandbox, 1)[0]);
        sandbox.run(["reject", &proposal]).expect(0);
        hook.answer().expect_denied("rejected");
    }
}

/// Also one that a signal ends in an orderly way, although its view is there.
#[test]
fn while_each_new_hub_is_killed_changes_are_denied() {
    for name in ["KILL", "TERM", "HUP", "INT"] {
        let sandbox = Sandbox::new();
        let _serve = sandbox.serve_in_hub::<&str>([]);
        let path = sandbox.home.file("a.txt", BEFORE);
        let call = edit(&sandbox, &path, "two", "zwei");
        let is_over = AtomicBool::new(false);
        let answers = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let hub = connect_to_hub(&sandbox.environment());
                    let hub = hub.as_ref().and_then(peer::process);
                    // Another one may be faster.
                    let _ = hub.map(|pid| {
                        let words = [format!("-{name}"), pid.to_string()];
                        Command::new("kill").args(words).status()
                    });
                }
            });
            let ask = |_| Hook::call(&sandbox, &["claude", "--limit", "1s"], &call).answer();
            let answers: Vec<_> = (0..5).map(ask).collect();
            is_over.store(true, Ordering::Relaxed);
            answers
        });
        for answer in answers {
            assert!(answer.is_blocked(), "{name}: {answer:?}");
        }
    }
}

/// What an agent has listen in the hub's place could accept everything. This process is such a program.
#[cfg(target_os = "linux")]
#[test]
fn another_program_in_the_place_of_the_hub_decides_nothing_and_the_hub_takes_its_place_back() {
    let sandbox = Sandbox::new();
    let path = sandbox.home.file("a.txt", BEFORE);
    let call = edit(&sandbox, &path, "two", "zwei");
    let other = Socket::of_hub(&sandbox.environment()).unwrap().unwrap();
    let socket = other.path();
    let asked = Hook::call(&sandbox, &["claude"], &call).answer();
    asked.expect_denied("where Pillion's own process should");
    for command in [&["diffs"][..], &["accept", "1.1"], &["keep", "1.1"]] {
        assert_ne!(sandbox.run(command).code, Some(0));
    }
    let listener = other.listener().as_unix();
    let hears_nothing = |(mut stream, _): (UnixStream, _)| {
        let mut said = Vec::new();
        stream.read_to_end(&mut said).unwrap();
        assert!(said.is_empty());
    };
    listener.set_nonblocking(true).unwrap();
    while let Ok(accepted) = listener.accept() {
        hears_nothing(accepted);
    }
    listener.set_nonblocking(false).unwrap();
    let mut view = sandbox.command(["serve"]).spawn().unwrap();
    hears_nothing(listener.accept().unwrap());
    view.kill().unwrap();
    view.wait().unwrap();
    drop(other);
    let _serve = sandbox.serve_in_hub::<&str>([]);
    let aside = socket.with_extension("other");
    let other = UnixListener::bind(&aside).unwrap();
    fs::rename(&aside, &socket).unwrap();
    let started = Instant::now();
    // Whoever is there afterwards listens.
    while connect_to_hub(&sandbox.environment())
        .is_none_or(|it| peer::process(&it) == Some(std::process::id()))
    {
        assert!(started.elapsed() < SOON, "the hub does not come back");
        pause(started);
    }
    let hook = Hook::call(&sandbox, &["claude"], &call);
    let proposal = number(&pending(&sandbox, 1)[0]);
    sandbox.run(["reject", &proposal]).expect(0);
    hook.answer().expect_denied("rejected");
    drop(other);
}

/// What an agent has started of Pillion itself, for another user's folder as it were, is not the process that has the hub's lock.
#[cfg(target_os = "linux")]
#[test]
fn pillions_own_program_in_the_place_of_the_hub_decides_nothing() {
    let (sandbox, others) = (Sandbox::new(), Sandbox::new());
    let path = sandbox.home.file("a.txt", BEFORE);
    let call = edit(&sandbox, &path, "two", "zwei");
    let _serve = sandbox.serve_in_hub::<&str>([]);
    let _others = others.serve_in_hub(["--workspace", sandbox.home.workspace().to_str().unwrap()]);
    let socket = |it: &Sandbox| {
        state::list(&it.environment())
            .remove(0)
            .address
            .unwrap()
            .path()
    };
    let hub = connect_to_hub(&sandbox.environment());
    let hub = hub.as_ref().and_then(peer::process).unwrap();
    let (place, aside) = (socket(&sandbox), socket(&sandbox).with_extension("other"));
    fs::hard_link(socket(&others), &aside).unwrap();
    // It could take its place back at any time.
    signal_to(hub, "STOP");
    fs::rename(&aside, place).unwrap();
    let asked = Hook::call(&sandbox, &["claude"], &call).answer();
    signal_to(hub, "CONT");
    asked.expect_denied("where Pillion's own process should");
}

/// Where another program has put its own lock in the place of the living hub's, nobody asks the one or the other; the hub is there again
/// once that is gone.
#[cfg(target_os = "linux")]
#[test]
fn who_replaces_the_lock_of_the_hub_decides_nothing() {
    let sandbox = Sandbox::new();
    let path = sandbox.home.file("a.txt", BEFORE);
    let call = edit(&sandbox, &path, "two", "zwei");
    let _serve = sandbox.serve_in_hub::<&str>([]);
    let socket = state::list(&sandbox.environment()).remove(0).address;
    let lock = socket.unwrap().path().with_extension("lock");
    assert!(lock.exists(), "{}", lock.display());
    let aside = lock.with_extension("other");
    let other = fs::File::create(&aside).unwrap();
    other.lock().unwrap();
    fs::rename(&aside, &lock).unwrap();
    let asked = Hook::call(&sandbox, &["claude"], &call).answer();
    asked.expect_denied("where Pillion's own process should");
    assert_ne!(sandbox.run(["diffs"]).code, Some(0));
    fs::remove_file(&lock).unwrap();
    drop(other);
    let started = Instant::now();
    while connect_to_hub(&sandbox.environment()).is_none() || sandbox.run(["diffs"]).code != Some(0)
    {
        assert!(started.elapsed() < SOON, "the hub does not come back");
        pause(started);
    }
    let hook = Hook::call(&sandbox, &["claude"], &call);
    let proposal = number(&pending(&sandbox, 1)[0]);
    sandbox.run(["reject", &proposal]).expect(0);
    hook.answer().expect_denied("rejected");
}

/// A file that is full, one that is closed, and the null device.
#[test]
fn a_denial_that_nobody_can_read_blocks_the_call() {
    let sandbox = Sandbox::new();
    let path = sandbox.home.workspace().join("a.txt");
    let _serve = sandbox.serve::<&str>([]);
    for (agent, event, tool) in AGENTS {
        let mut call = write(&sandbox, &path, BEFORE);
        (call["hook_event_name"], call["tool_name"]) = (event.into(), tool.into());
        for to in [">/dev/full", ">&-", ">/dev/null"] {
            let line = format!("exec \"$0\" hook {agent} --limit 1s {to}");
            let mut child = Command::new("sh")
                .args(["-c", &line, env!("CARGO_BIN_EXE_pillion")])
                .env_clear()
                .envs(sandbox.home.env().iter())
                .current_dir(sandbox.home.workspace())
                .stdin(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let mut stdin = child.stdin.take().unwrap();
            stdin.write_all(call.to_string().as_bytes()).unwrap();
            drop(stdin);
            let output = child.wait_with_output().unwrap();
            let why = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{line}: {why}");
            assert!(why.contains("could not be written"), "{line}: {why}");
        }
    }
}

/// As where a container has no room for more.
#[test]
fn a_hook_that_cannot_start_a_thread_denies_and_says_so() {
    let sandbox = Sandbox::new();
    let path = sandbox.home.file("a.txt", BEFORE);
    let call = edit(&sandbox, &path, "two", "zwei").to_string();
    let _serve = sandbox.serve::<&str>([]);
    let mut child = sandbox
        .command(["hook", "claude"])
        // No system has room for such a stack.
        .env("RUST_MIN_STACK", (1_u64 << 60).to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(call.as_bytes())
        .unwrap();
    let answer = Hook(child).answer();
    answer.expect_denied("cannot start a thread");
    let lines: Vec<_> = answer.stderr.lines().collect();
    let is_said_once = matches!(lines[..], [line] if line.contains("cannot start a thread"));
    assert!(is_said_once, "{}", answer.stderr);
}

/// The twin of the above where the companion is the view's own process, which is killed with it.
#[test]
fn where_a_companion_was_killed_changes_are_denied_until_one_ends_by_itself() {
    let sandbox = Sandbox::new();
    let path = sandbox.home.file("a.txt", BEFORE);
    let call = edit(&sandbox, &path, "two", "zwei");
    // Without a limit: a shorter one than Pillion's own may be over before the first look on a busy machine.
    let ask = || Hook::call(&sandbox, &["claude"], &call).answer();
    let mut killed = sandbox.serve::<&str>([]);
    killed.signal("KILL");
    killed.ended();
    let roots = sandbox.home.workspace().display().to_string();
    let what_to_do = format!(
        "has to start it again in {roots} (`pillion` there is enough), and may quit it then"
    );
    ask().expect_denied(&what_to_do);
    // In a folder around it is as good.
    let around = sandbox.home.workspace().parent().unwrap().to_owned();
    let mut ended = sandbox.serve(["--workspace", around.to_str().unwrap()]);
    ended.signal("TERM");
    ended.ended();
    assert_eq!(
        ask().output["hookSpecificOutput"],
        Value::Null,
        "nobody is there"
    );
}

/// The twin in the hub, which ends by itself when its last view is gone.
#[test]
fn where_the_last_view_of_the_hub_was_killed_changes_are_denied_until_one_ends_by_itself() {
    let sandbox = Sandbox::new();
    let path = sandbox.home.file("a.txt", BEFORE);
    let call = edit(&sandbox, &path, "two", "zwei");
    let ask = || Hook::call(&sandbox, &["claude"], &call).answer();
    for (name, is_denied) in [("KILL", true), ("TERM", false)] {
        let mut serve = sandbox.serve_in_hub::<&str>([]);
        let hub = sandbox.companion_pid();
        serve.signal(name);
        serve.ended();
        let started = Instant::now();
        while process::is_alive(hub) {
            assert!(started.elapsed() < SOON, "the hub does not end");
            pause(started);
        }
        let answer = ask();
        match is_denied {
            true => answer.expect_denied("was killed"),
            false => assert_eq!(answer.output["hookSpecificOutput"], Value::Null),
        }
    }
}

/// As when Codex CLI works in the folder above the one that is reviewed.
#[test]
fn of_several_files_one_in_a_workspace_is_enough_to_be_shown() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    let path = sandbox.home.file("a.txt", BEFORE);
    let above = sandbox.home.workspace().parent().unwrap().to_owned();
    let (new, changed) = (above.join("new.txt"), path.display());
    for patch in [
        format!(
            "*** Add File: {}\n+x\n*** Update File: {changed}\n@@\n-two\n+zwei\n",
            new.display()
        ),
        format!(
            "*** Update File: {changed}\n@@\n-two\n+zwei\n*** Add File: {}\n+x\n",
            new.display()
        ),
        format!("*** Add File: new.txt\n+x\n*** Update File: {changed}\n@@\n-two\n+zwei\n"),
    ] {
        let patch = format!("*** Begin Patch\n{patch}*** End Patch\n");
        let mut call = call(&sandbox, "apply_patch", &json!({"command": patch}));
        call["cwd"] = above.to_str().into();
        let hook = Hook::call(&sandbox, &["codex"], &call);
        for proposal in pending(&sandbox, 2) {
            sandbox.run(["reject", &number(&proposal)]).expect(0);
        }
        hook.answer().expect_denied("rejected");
    }
}

#[test]
fn if_the_companion_does_not_respond_the_change_is_denied() {
    let sandbox = Sandbox::new();
    let serve = sandbox.serve::<&str>([]);
    serve.signal("STOP");
    let path = sandbox.home.file("a.txt", BEFORE);
    for call in [
        edit(&sandbox, &path, "two", "zwei"),
        write(&sandbox, &path, "x\n"),
        write(&sandbox, &sandbox.home.workspace().join("new.txt"), "x\n"),
    ] {
        let answer = Hook::call(&sandbox, &["claude"], &call).answer();
        answer.expect_denied("does not answer");
    }
    serve.signal("CONT");
}

/// Who has only lost the hook, with the terminal of both, does not write: some agents do when a hook gives no answer.
#[test]
fn an_agent_that_waits_no_longer_takes_the_view_away() {
    for name in ["TERM", "INT", "HUP"] {
        let sandbox = Sandbox::new();
        let (_serve, hook, _) = waiting(&sandbox, &[]);
        signal(&hook.0, name);
        hook.answer()
            .expect_denied("hook was ended before anybody had decided");
        pending(&sandbox, 0);
    }
}

/// One that is killed sends its hook no signal: what it read the answer from is closed.
#[test]
fn a_killed_agent_takes_the_view_and_its_hook_away() {
    for is_in_hub in [true, false] {
        let sandbox = Sandbox::new();
        let _serve = match is_in_hub {
            true => sandbox.serve_in_hub::<&str>([]),
            false => sandbox.serve::<&str>([]),
        };
        let path = sandbox.home.file("a.txt", BEFORE);
        let call = edit(&sandbox, &path, "two", "zwei");
        let mut hook = Hook::call(&sandbox, &["claude"], &call);
        pending(&sandbox, 1);
        drop(hook.0.stdout.take());
        assert_eq!(hook.answer().code, Some(2), "in a hub: {is_in_hub}");
        pending(&sandbox, 0);
    }
}

/// It cannot take its views away itself.
#[test]
fn a_killed_hook_takes_its_proposals_away() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    let path = sandbox.home.file("a.txt", BEFORE);
    let patch = "*** Begin Patch\n*** Add File: new.txt\n+x\n*** Update File: a.txt\n@@\n-two\n+zwei\n*** End Patch\n";
    for (args, call, files) in [
        (["claude"], edit(&sandbox, &path, "two", "zwei"), 1),
        (["claude"], write(&sandbox, &path, "x\n"), 1),
        (
            ["codex"],
            call(&sandbox, "apply_patch", &json!({"command": patch})),
            2,
        ),
    ] {
        let hook = Hook::call(&sandbox, &args, &call);
        pending(&sandbox, files);
        let killed = Instant::now();
        signal(&hook.0, "KILL");
        assert_eq!(hook.answer().code, None);
        pending(&sandbox, 0);
        assert!(killed.elapsed() < GONE, "{:?}", killed.elapsed());
    }
}

#[test]
fn two_calls_at_once_and_the_same_call_twice_are_decided_one_by_one() {
    let sandbox = Sandbox::new();
    let (_serve, first, id) = waiting(&sandbox, &[]);
    let path = sandbox.home.workspace().join("a.txt");
    let same = edit(&sandbox, &path, "two", "zwei");
    let same = Hook::call(&sandbox, &["claude"], &same);
    pending(&sandbox, 2);
    let other = sandbox.home.workspace().join("b.txt");
    let other = Hook::call(&sandbox, &["claude"], &write(&sandbox, &other, "b\n"));
    let ids: Vec<_> = pending(&sandbox, 3).iter().map(number).collect();
    assert_eq!(ids[0], id);
    sandbox
        .run(["reject", &ids[0], "--because", "first"])
        .expect(0);
    first.answer().expect_denied("says: first");
    sandbox
        .run(["reject", &ids[2], "--because", "other"])
        .expect(0);
    other.answer().expect_denied("says: other");
    sandbox.run(["accept", &ids[1]]).expect(0);
    assert_eq!(same.answer().decision().0, "allow");
}

/// The texts to which a file with [`BEFORE`] changes while a change of it is looked at: elsewhere, in the same line, and
/// altogether. None is a file that is deleted.
const NEWER: [Option<&str>; 3] = [
    Some("zero\none\ntwo\nthree\n"),
    Some("one\ndeux\nthree\n"),
    None,
];

fn change_file(path: &Path, newer: Option<&str>) {
    match newer {
        Some(text) => fs::write(path, text).unwrap(),
        None => fs::remove_file(path).unwrap(),
    }
}

#[test]
fn what_is_accepted_over_a_newer_text_replaces_all_of_it() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    let path = sandbox.home.workspace().join("a.txt");
    for newer in NEWER {
        sandbox.home.file("a.txt", BEFORE);
        let call = edit(&sandbox, &path, "two", "zwei");
        let hook = Hook::call(&sandbox, &["claude"], &call);
        let id = number(&pending(&sandbox, 1)[0]);
        change_file(&path, newer);
        let refused = sandbox.run(["accept", &id]);
        refused.expect_error(1, "changed on disk since", "--despite-change");
        sandbox
            .insist(["accept", &id, "--despite-change"])
            .expect(0);
        let answer = hook.answer();
        assert_eq!(answer.decision().0, "allow", "{answer:?}");
        let output = &answer.output["hookSpecificOutput"];
        let input = &output["updatedInput"];
        assert_eq!(input["old_string"], newer.unwrap_or_default());
        assert_eq!(input["new_string"], BEFORE.replace("two", "zwei"));
        let told = output["additionalContext"].as_str().unwrap();
        assert!(
            told.contains("has changed since you proposed this"),
            "{told}"
        );
    }
}

/// As Claude Code does not write it then, its model is told, and so is the person.
#[test]
fn what_an_agent_cannot_write_over_a_newer_text_is_denied_and_the_view_says_so() {
    let sandbox = Sandbox::new();
    let mut serve = sandbox.serve::<&str>([]);
    let path = sandbox.home.file("a.txt", BEFORE);
    let edited = sandbox.home.home().join("edited");
    fs::write(&edited, "mine\n").unwrap();
    for (more, text) in [
        (vec![], None),
        (
            vec!["--content-file", edited.to_str().unwrap()],
            Some("mine\n"),
        ),
    ] {
        sandbox.home.file("a.txt", BEFORE);
        let hook = Hook::call(&sandbox, &["claude"], &write(&sandbox, &path, "new\n"));
        let id = number(&pending(&sandbox, 1)[0]);
        fs::write(&path, "newer\n").unwrap();
        let accept = ["accept", &id, "--despite-change"];
        sandbox.run([&accept, &more[..]].concat()).expect(0);
        let answer = hook.answer();
        answer.expect_denied("Nothing was written, because Claude Code writes over no file");
        let said = serve.said("has no way to write what you accepted for");
        match text {
            None => assert!(said.contains("nothing was written: Claude Code"), "{said}"),
            Some(text) => {
                answer.expect_denied("+mine");
                let (_, kept) = said.split_once("your text is kept in ").unwrap();
                let (kept, _) = kept.split_once(": ").unwrap();
                assert_eq!(fs::read_to_string(kept).unwrap(), text);
            }
        }
    }
}

/// The model has to make it itself, and a diff that it is told has a limit.
#[test]
fn all_of_a_long_text_that_the_agent_cannot_be_made_to_write_is_in_a_file_that_is_named() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    let edited = sandbox.home.home().join("edited");
    for (lines, is_long) in [(1, false), (1_000, true), (20_000, true)] {
        let path = sandbox.home.file("a.txt", BEFORE);
        let mut call = write(&sandbox, &path, "new\n");
        call["tool_name"] = "write_file".into();
        let hook = Hook::call(&sandbox, &["qwen"], &call);
        let id = number(&pending(&sandbox, 1)[0]);
        let text = "mine, and not the agent's\n".repeat(lines);
        fs::write(&edited, &text).unwrap();
        let accept = ["accept", &id, "--content-file", edited.to_str().unwrap()];
        sandbox.run(accept).expect(0);
        let answer = hook.answer();
        answer.expect_denied("Nothing is written yet");
        let (_, reason) = answer.decision();
        assert!(reason.len() < 9_000, "{}", reason.len());
        let named = format!(
            "All of the text that the user accepted for {} is in ",
            path.display()
        );
        let kept = reason.split_once(&named);
        assert_eq!(kept.is_some(), is_long, "{reason}");
        if let Some((_, kept)) = kept {
            let (kept, _) = kept.split_once(".\n").unwrap();
            assert_eq!(fs::read_to_string(kept).unwrap(), text);
            let mode = fs::metadata(kept).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }
}

/// Some releases of Claude Code refuse what the hook allows then.
#[test]
#[ignore = "waits for ten seconds: cargo xtask test"]
fn what_is_not_written_over_a_newer_text_although_it_is_allowed_is_said() {
    let sandbox = Sandbox::new();
    let (mut serve, hook, id) = waiting(&sandbox, &[]);
    let path = sandbox.home.file("a.txt", "newer\n");
    sandbox
        .insist(["accept", &id, "--despite-change"])
        .expect(0);
    assert_eq!(hook.answer().decision().0, "allow");
    let said = serve.said("did not write what you accepted for");
    assert!(said.contains("nothing was written: Claude Code"), "{said}");
    assert!(said.contains(path.to_str().unwrap()), "{said}");
}

/// The person cannot have seen it.
#[test]
fn what_changes_again_after_it_was_accepted_is_denied_and_the_view_says_so() {
    let sandbox = Sandbox::new();
    let mut serve = sandbox.serve::<&str>([]);
    let path = sandbox.home.workspace().join("a.txt");
    let line = format!("{}:1", path.display());
    for newer in NEWER {
        sandbox.home.file("a.txt", BEFORE);
        let call = edit(&sandbox, &path, "two", "zwei");
        let hook = Hook::call(&sandbox, &["claude"], &call);
        let id = number(&pending(&sandbox, 1)[0]);
        signal(&hook.0, "STOP");
        let accept = ["accept", &id, "--note", &line, "and the tests?"];
        sandbox.insist(accept).expect(0);
        change_file(&path, newer);
        signal(&hook.0, "CONT");
        let answer = hook.answer();
        answer.expect_denied("changed again after it was accepted");
        answer.expect_denied("line 1 (`one`): and the tests?");
        serve.said("a.txt changed again after you accepted its change");
    }
}

/// Whether they are told or not: an agent whose hook asks writes by itself.
#[test]
fn what_a_hooks_agent_makes_of_an_accepted_change_is_in_the_log() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    let files = ["done.txt", "gone.txt", "nothing.txt"];
    for (file, answer) in files.into_iter().zip(["2\n", "3\n", ""]) {
        let path = sandbox.home.workspace().join(file);
        let hook = Hook::call(&sandbox, &["claude"], &write(&sandbox, &path, "2\n"));
        let id = number(&pending(&sandbox, 1)[0]);
        sandbox.insist(["accept", &id]).expect(0);
        assert_eq!(hook.answer().decision().0, "allow");
        if !answer.is_empty() {
            fs::write(&path, answer).unwrap();
        }
    }
    let mut stop = write(&sandbox, &sandbox.home.workspace(), "");
    stop["hook_event_name"] = "Stop".into();
    Hook::call(&sandbox, &["claude"], &stop).answer();
    for (file, outcome) in files
        .into_iter()
        .zip(["written", "written differently", "not written"])
    {
        assert_eq!(came_of(&sandbox, file).1, outcome, "{file}");
    }
}

#[test]
fn the_agents_own_question_is_answered_for_exactly_what_was_approved_and_once() {
    let sandbox = Sandbox::new();
    let (_serve, hook, id) = waiting(&sandbox, &[]);
    sandbox.insist(["accept", &id]).expect(0);
    let answer = hook.answer();
    let path = sandbox.home.workspace().join("a.txt");
    let mut question = edit(&sandbox, &path, "", "");
    question["hook_event_name"] = "PermissionRequest".into();
    question["tool_input"] = answer.output["hookSpecificOutput"]["updatedInput"].clone();
    let ask = |question: &Value| Hook::call(&sandbox, &["claude"], question).answer();
    for (pointer, value) in [
        ("/session_id", "other"),
        ("/tool_input/new_string", "one\ndrei\n"),
        ("/tool_input/file_path", "/elsewhere"),
    ] {
        let mut other = question.clone();
        *other.pointer_mut(pointer).unwrap() = value.into();
        ask(&other).expect_nothing();
    }
    let allowed = ask(&question);
    let decision = &allowed.output["hookSpecificOutput"]["decision"];
    assert_eq!(decision["behavior"], "allow", "{allowed:?}");
    ask(&question).expect_nothing();
}

/// A call of the hook of each agent, in turn, that adds a file of the agent's name; what the agent is called, and the file.
fn additions(sandbox: &Sandbox) -> Vec<(&'static str, &'static str, String, Value)> {
    let names = ["Claude Code", "Gemini CLI", "Qwen Code"];
    let mut additions = Vec::new();
    for ((agent, event, tool), shown) in AGENTS.into_iter().zip(names) {
        let name = format!("{agent}.txt");
        let mut call = write(sandbox, &sandbox.home.workspace().join(&name), "x\n");
        call["hook_event_name"] = event.into();
        call["tool_name"] = tool.into();
        additions.push((agent, shown, name, call));
    }
    let name = "codex.txt".to_owned();
    let patch = format!("*** Begin Patch\n*** Add File: {name}\n+x\n*** End Patch\n");
    let call = call(sandbox, "apply_patch", &json!({"command": patch}));
    additions.push(("codex", "Codex CLI", name, call));
    additions
}

#[test]
fn the_agent_is_named_whose_hook_it_is() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    for (agent, _, name, call) in additions(&sandbox) {
        let hook = Hook::call(&sandbox, &[agent], &call);
        let listed = &pending(&sandbox, 1)[0];
        assert_eq!(listed["agent"], agent, "{listed}");
        let companions = sandbox.run(["list", "--json"]).expect(0);
        let companions: Value = serde_json::from_str(&companions.stdout).unwrap();
        assert_eq!(companions[0]["agents"], json!([agent]));
        let path = sandbox.home.workspace().join(&name);
        assert_eq!(listed["path"], path.to_str().unwrap(), "{listed}");
        // The outcome is told as that of any command.
        let told = sandbox.run(["reject", &number(listed), "--because", "in English"]);
        told.expect(0);
        let answer = hook.answer();
        let text = format!("{}{}", answer.output, answer.stderr);
        assert!(text.contains("in English"), "{answer:?}");
    }
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn the_review_names_the_agent_whose_hook_it_is() {
    let sandbox = Sandbox::new();
    let tmux = Tmux::start();
    let review = [env!("CARGO_BIN_EXE_pillion"), "review"];
    let (env, folder) = (sandbox.home.env(), sandbox.home.workspace());
    let pane = tmux.spawn("review", Size::new(110, 30), &env, &folder, &review);
    pane.wait_for("Waiting for an agent.", SOON);
    for (agent, shown, name, call) in additions(&sandbox) {
        let hook = Hook::call(&sandbox, &[agent], &call);
        pane.wait_for(&format!("{shown} proposes {name}"), SOON);
        let screen = pane.wait_for(&format!("● {shown}"), SOON);
        assert!(!screen.contains("● Pillion"), "{screen}");
        let id = number(&pending(&sandbox, 1)[0]);
        sandbox.run_as_person(["reject", &id]).expect(0);
        assert_eq!(hook.answer().code, Some(0));
        pane.wait_gone(&format!("proposes {name}"), SOON);
    }
}
