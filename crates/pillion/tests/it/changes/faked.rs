//! A command of an agent that speaks for the agent's hooks. Here this process is the agent.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::World;
use crate::hook::Hook;

/// The agents, their tool for shell commands, and their names for the begin of a turn, around a call, and for the end of a turn.
const AGENTS: [(&str, &str, [&str; 4]); 4] = [
    ("claude", "Bash", CLAUDES),
    ("codex", "Bash", CLAUDES),
    (
        "gemini",
        "run_shell_command",
        ["BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent"],
    ),
    ("kimi", "Bash", CLAUDES),
];
const CLAUDES: [&str; 4] = ["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"];

#[test]
fn a_command_that_speaks_for_the_agents_hooks_hides_nothing() {
    for (agent, tool, [begins, before, after, ends]) in AGENTS {
        let all = [
            &[ends, begins][..],
            &[after, ends, begins],
            &[after, ends],
            &[begins],
        ];
        let number = if agent == "claude" { all.len() } else { 1 };
        for said in &all[..number] {
            let world = World::new();
            let _serve = world.sandbox.serve::<&str>([]);
            let file = world.root.join("a.txt");
            fs::write(&file, "one\ntwo\n").unwrap();
            let input = |event: &str| {
                let prompt = match agent {
                    "kimi" => json!([{"type": "text", "text": "go"}]),
                    _ => json!("go"),
                };
                json!({
                    "hook_event_name": event, "session_id": "s", "cwd": world.root, "permission_mode": "default",
                    "prompt": prompt, "tool_name": tool, "tool_input": {"command": "x"}, "tool_use_id": "1",
                })
            };
            let tell = |event: &str| Hook::call(&world.sandbox, &[agent], &input(event)).answer();
            tell(begins);
            tell(before);
            for (at, event) in said.iter().enumerate() {
                let input = input(event).to_string();
                let hook =
                    format!("printf '%s' '{input}' | \"$0\" hook {agent}; echo {at} >> a.txt");
                let mut shell = Command::new("sh");
                shell
                    .args(["-c", &hook, env!("CARGO_BIN_EXE_pillion")])
                    .stdout(Stdio::null());
                shell
                    .env_clear()
                    .envs(world.sandbox.home.env().iter())
                    .current_dir(&world.root);
                assert!(shell.status().unwrap().success());
            }
            tell(after);
            tell(ends);
            let listed = world.sandbox.run(["changes", "--json"]).expect(0).stdout;
            let listed: Value = serde_json::from_str(&listed).unwrap();
            assert_eq!(listed[0]["by"], tool, "{agent} {said:?}: {listed:#}");
            assert_eq!(
                listed[0]["added"],
                said.len(),
                "{agent} {said:?}: {listed:#}"
            );
        }
    }
}

/// What a person's settings have around the hook, such as a script of theirs or a time limit, is the agent's own way to call it.
#[test]
fn a_hook_in_a_script_of_the_persons_is_the_agents_own() {
    for (wrapper, forged) in [
        ("timeout 500 \"$0\" hook claude", false),
        ("cd . && \"$0\" hook claude 2>/dev/null", false),
        ("cat | \"$0\" hook claude; true", false),
        ("timeout 500 \"$0\" hook claude", true),
    ] {
        let world = World::new();
        let _serve = world.sandbox.serve::<&str>([]);
        let file = world.root.join("a.txt");
        fs::write(&file, "one\n").unwrap();
        let tell = |script: &str, event: &str| {
            let input = json!({
                "hook_event_name": event, "session_id": "s", "cwd": world.root, "permission_mode": "default",
                "prompt": "go", "tool_name": "Bash", "tool_input": {"command": "x"}, "tool_use_id": "1",
            });
            let mut shell = Command::new("sh");
            shell.args(["-c", script, env!("CARGO_BIN_EXE_pillion")]);
            shell.env_clear().envs(world.sandbox.home.env().iter());
            shell.current_dir(&world.root).stdin(Stdio::piped());
            let mut shell = shell.stdout(Stdio::null()).spawn().unwrap();
            let mut stdin = shell.stdin.take().unwrap();
            stdin.write_all(input.to_string().as_bytes()).unwrap();
            drop(stdin);
            assert!(shell.wait().unwrap().success(), "{script}");
        };
        tell(wrapper, "UserPromptSubmit");
        tell(wrapper, "PreToolUse");
        fs::write(&file, "one\ntwo\n").unwrap();
        if forged {
            let inner = format!("true; {wrapper}; true");
            ["PostToolUse", "Stop", "UserPromptSubmit"]
                .iter()
                .for_each(|it| tell(&inner, it));
            fs::write(&file, "one\ntwo\nthree\n").unwrap();
        }
        tell(wrapper, "PostToolUse");
        tell(wrapper, "Stop");
        let listed = world.sandbox.run(["changes", "--json"]).expect(0).stdout;
        let listed: Value = serde_json::from_str(&listed).unwrap();
        assert_eq!(listed[0]["by"], "Bash", "{wrapper}: {listed:#}");
        let added = if forged { 2 } else { 1 };
        assert_eq!(listed[0]["added"], added, "{wrapper}: {listed:#}");
    }
}
