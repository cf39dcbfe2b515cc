//! What agents whose hooks ask write: as what their changes are listed, and what came of what was accepted.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use pillion_testkit::{SOON, pause};
use serde_json::{Value, json};

use super::World;
use crate::diff::{number, pending};
use crate::hook::{AgentProcess, Hook};
use crate::log::came_of;
use crate::sandbox::Serve;

const BEFORE: &str = "one\ntwo\nthree\nfour\nfive\nsix\n";

/// An agent with hooks that works in a world.
pub(super) struct Agent<'a> {
    world: &'a World,
    name: &'a str,
    file: PathBuf,
}

impl<'a> Agent<'a> {
    pub(super) fn new(world: &'a World, name: &'a str) -> Self {
        let file = world.root.join("a.txt");
        fs::write(&file, BEFORE).unwrap();
        Self { world, name, file }
    }

    fn calls(&self, event: &str, fields: &Value) -> Hook {
        let mut call = json!({
            "hook_event_name": event, "session_id": "s", "cwd": self.world.root,
            "permission_mode": "bypassPermissions",
        });
        let all = call.as_object_mut().unwrap();
        all.extend(fields.as_object().unwrap().clone());
        Hook::call(&self.world.sandbox, &[self.name], &call)
    }

    pub(super) fn tells(&self, event: &str, fields: &Value) {
        self.calls(event, fields).answer();
    }

    /// A shell command replaces a text.
    pub(super) fn shell(&self, id: &str, old: &str, new: &str) {
        let fields =
            json!({"tool_name": "Bash", "tool_input": {"command": "x"}, "tool_use_id": id});
        self.tells("PreToolUse", &fields);
        self.write(old, new);
        self.tells("PostToolUse", &fields);
    }

    pub(super) fn write(&self, old: &str, new: &str) {
        let text = fs::read_to_string(&self.file).unwrap();
        fs::write(&self.file, text.replace(old, new)).unwrap();
    }

    /// It asks for a line to be replaced, and that is accepted. Returns its call.
    fn is_accepted(&self, id: &str, old: &str, new: &str) -> Value {
        let patch =
            format!("*** Begin Patch\n*** Update File: a.txt\n@@\n-{old}\n+{new}\n*** End Patch\n");
        let (tool, input) = match self.name {
            "codex" => ("apply_patch", json!({"command": patch})),
            _ => (
                "Edit",
                json!({"file_path": self.file, "old_string": old, "new_string": new}),
            ),
        };
        let fields = json!({"tool_name": tool, "tool_input": input, "tool_use_id": id});
        let hook = self.calls("PreToolUse", &fields);
        let diff = number(&pending(&self.world.sandbox, 1)[0]);
        self.world.sandbox.insist(["accept", &diff]).expect(0);
        hook.answer();
        fields
    }

    fn edit(&self, id: &str, old: &str, new: &str) {
        let call = self.is_accepted(id, old, new);
        self.write(old, new);
        self.tells("PostToolUse", &call);
    }
}

pub(super) fn serve(world: &World, is_hub: bool) -> Serve {
    match is_hub {
        true => world.sandbox.serve_in_hub::<&str>([]),
        false => world.sandbox.serve::<&str>([]),
    }
}

#[test]
fn what_a_shell_has_changed_is_unseen_whatever_is_accepted_in_the_file_later() {
    for (agent, is_hub) in [("claude", true), ("claude", false), ("codex", false)] {
        let world = World::new();
        let _serve = serve(&world, is_hub);
        let agent = Agent::new(&world, agent);
        let state = || {
            let said = world.sandbox.run(["changes", "--all", "--json"]).expect(0);
            let all: Vec<Value> = serde_json::from_str(&said.stdout).unwrap();
            all.last().unwrap()["state"].as_str().unwrap().to_owned()
        };
        agent.tells("UserPromptSubmit", &json!({"prompt": "go"}));
        agent.edit("1", "six", "6");
        agent.edit("2", "four", "4");
        agent.tells("Stop", &json!({}));
        assert_eq!(state(), "accepted", "{} {is_hub}", agent.name);
        agent.tells("UserPromptSubmit", &json!({"prompt": "go on"}));
        agent.shell("3", "two", "EVIL");
        agent.edit("4", "five", "5");
        agent.tells("Stop", &json!({}));
        assert_eq!(state(), "unseen", "{} {is_hub}", agent.name);
    }
}

/// It runs before the call has ended: as a hook of the agent's, or in the agent.
#[test]
fn what_a_formatter_makes_of_an_accepted_text_is_unseen_by_itself() {
    for (agent, is_hub) in [("claude", true), ("claude", false), ("codex", true)] {
        let world = World::new();
        let _serve = serve(&world, is_hub);
        let agent = Agent::new(&world, agent);
        agent.tells("UserPromptSubmit", &json!({"prompt": "go"}));
        let call = agent.is_accepted("1", "two", "2");
        agent.write("two", "2");
        let accepted = fs::read_to_string(&agent.file).unwrap();
        agent.write("five", "formatted");
        agent.tells("PostToolUse", &call);
        agent.tells("Stop", &json!({}));
        let shown = world.sandbox.run(["show", "1.1"]).expect(0).stdout.clone();
        assert!(shown.contains("# 1.1 unseen"), "{shown}");
        assert!(
            shown.contains("+formatted") && !shown.contains("\n+2\n"),
            "{shown}"
        );
        world.sandbox.run(["revert", "1.1"]).expect(0);
        assert_eq!(fs::read_to_string(&agent.file).unwrap(), accepted);
    }
}

/// A call tells itself when it has ended: what a later one, or the person, makes of the file is another thing.
#[test]
fn what_came_of_an_accepted_change_is_what_its_own_call_has_made() {
    for (fails, outcome) in [(false, "written"), (true, "not written")] {
        let world = World::new();
        let _serve = serve(&world, !fails);
        let agent = Agent::new(&world, "claude");
        agent.tells("UserPromptSubmit", &json!({"prompt": "go"}));
        let call = agent.is_accepted("1", "two", "2");
        let (written, end) = match fails {
            true => ("mine", "PostToolUseFailure"),
            false => ("2", "PostToolUse"),
        };
        agent.write("two", written);
        agent.tells(end, &call);
        agent.shell("2", "five", "another call's");
        assert_eq!(came_of(&world.sandbox, "a.txt").1, outcome);
    }
}

/// All hooks of an answer ask before its first change is made. What the second makes of what a person has saved between, nobody is
/// shown: it is made anew, over the first.
#[test]
fn what_a_person_saves_between_two_changes_of_an_answer_is_under_both() {
    for is_shown_first in [false, true] {
        let world = World::new();
        let _serve = serve(&world, is_shown_first);
        let agent = Agent::new(&world, "kimi");
        agent.tells("UserPromptSubmit", &json!({"prompt": []}));
        let first = agent.is_accepted("1", "two", "2");
        let input = json!({"file_path": agent.file, "old_string": "five", "new_string": "5"});
        let call = json!({"tool_name": "Edit", "tool_input": input, "tool_use_id": "2"});
        if !is_shown_first {
            agent.write("three", "mine");
        }
        let hook = agent.calls("PreToolUse", &call);
        if is_shown_first {
            let id = number(&pending(&world.sandbox, 1)[0]);
            agent.write("three", "mine");
            let accept = ["accept", &id, "--despite-change"];
            world.sandbox.insist(accept).expect(0);
        }
        hook.answer()
            .expect_denied("changed again after it was accepted: read it again");
        agent.write("two", "2");
        agent.tells("PostToolUse", &first);
        agent.edit("3", "five", "5");
        assert_eq!(came_of(&world.sandbox, "a.txt").1, "written");
        let text = fs::read_to_string(&agent.file).unwrap();
        assert_eq!(text, "one\n2\nmine\nfour\n5\nsix\n", "{is_shown_first}");
    }
}

/// With a note, Kimi Code is denied until its model makes exactly the change that was accepted.
#[test]
fn what_was_approved_for_a_call_is_approved_in_its_turn_only() {
    for (is_hub, next, is_asked) in [
        (true, None, false),
        (true, Some("UserPromptSubmit"), true),
        (false, Some("UserPromptSubmit"), true),
        (false, Some("PostToolUseFailure"), false),
    ] {
        let world = World::new();
        let _serve = serve(&world, is_hub);
        let agent = Agent::new(&world, "kimi");
        agent.tells("UserPromptSubmit", &json!({"prompt": []}));
        let input = json!({"file_path": agent.file, "old_string": "two", "new_string": "2"});
        let call = json!({"tool_name": "Edit", "tool_input": input, "tool_use_id": "1"});
        let hook = agent.calls("PreToolUse", &call);
        let id = number(&pending(&world.sandbox, 1)[0]);
        let accept = ["accept", &id, "--because", "and the tests?"];
        world.sandbox.insist(accept).expect(0);
        hook.answer().expect_denied("the user is not asked again");
        if let Some(event) = next {
            let mut other = call.clone();
            (other["prompt"], other["tool_use_id"]) = (json!([]), "0".into());
            agent.tells(event, &other);
        }
        let again = agent.calls("PreToolUse", &call);
        if is_asked {
            let id = number(&pending(&world.sandbox, 1)[0]);
            world.sandbox.insist(["reject", &id]).expect(0);
            again.answer().expect_denied("rejected");
        } else {
            assert_eq!(again.answer().output, Value::Null, "{next:?}");
        }
    }
}

/// Mistral Vibe, which tells no beginning of a turn, and two sessions of Claude Code, one of which was at work before anybody looked.
#[test]
fn a_turn_whose_only_change_is_rejected_is_listed() {
    for (name, is_hub, tool, event, end) in [
        (
            "vibe",
            true,
            "file_system.search_replace",
            "pre_tool",
            "post_agent",
        ),
        (
            "vibe",
            false,
            "file_system.search_replace",
            "pre_tool",
            "post_agent",
        ),
        ("claude", true, "Edit", "PreToolUse", "Stop"),
    ] {
        let world = World::new();
        let _serve = serve(&world, is_hub);
        let agent = Agent::new(&world, name);
        if name == "claude" {
            agent.tells(
                "UserPromptSubmit",
                &json!({"prompt": "go", "session_id": "other"}),
            );
        }
        let input = json!({"file_path": agent.file, "old_string": "two", "new_string": "2"});
        let fields = json!({"tool_name": tool, "tool_input": input, "tool_use_id": "1"});
        let hook = agent.calls(event, &fields);
        let diff = number(&pending(&world.sandbox, 1)[0]);
        world.sandbox.insist(["reject", &diff]).expect(0);
        hook.answer();
        agent.tells(end, &json!({}));
        let turns = world.sandbox.run(["turns"]).expect(0).stdout;
        let listed = turns.lines().filter(|it| it.contains("1 rejected"));
        assert_eq!(listed.count(), 1, "{name} {is_hub}: {turns}");
    }
}

/// Another hook of the same call may wait for long, and its own window for the person: a change that was accepted long after it is
/// the clock.
#[test]
fn nothing_is_called_unwritten_while_its_call_runs() {
    let variants = [
        ("claude", true, "PostToolUseFailure"),
        ("codex", false, "Stop"),
        ("claude", false, "UserPromptSubmit"),
    ];
    let worlds = variants.map(|_| World::new());
    let agents = variants.iter().zip(&worlds);
    let agents = agents.map(|((name, is_hub, end), world)| {
        let serve = serve(world, *is_hub);
        let agent = Agent::new(world, name);
        agent.tells("UserPromptSubmit", &json!({"prompt": "go"}));
        let call = agent.is_accepted("1", "two", "2");
        // The call of another kind of agent, of which nothing is known.
        let mut clock = serve.connect();
        clock.propose(world.root.join("clock.txt"), "x");
        let id = number(&pending(&world.sandbox, 1)[0]);
        world.sandbox.insist(["accept", &id]).expect(0);
        clock.outcome();
        (serve, agent, call, end, clock)
    });
    let agents: Vec<_> = agents.collect();
    for (_serve, agent, call, end, _clock) in agents {
        let sandbox = &agent.world.sandbox;
        assert_eq!(came_of(sandbox, "clock.txt").1, "not written");
        let log = sandbox.run(["log", "--json"]).expect(0).stdout;
        let log: Vec<Value> = serde_json::from_str(&log).unwrap();
        let first = log.last().unwrap();
        assert_eq!(first["outcome"], Value::Null, "{first}");
        agent.tells(end, &call);
        assert_eq!(came_of(sandbox, "a.txt").1, "not written", "{}", agent.name);
    }
}

/// Its own window may ask once more, or its disk is slow: the log says what is known, and is put right.
#[test]
fn what_an_agent_writes_late_is_not_called_unwritten_for_good() {
    let variants = [("claude", false), ("codex", true), ("claude", true)];
    let worlds = variants.map(|_| World::new());
    let agents: Vec<_> = variants.iter().zip(&worlds).collect();
    let agents = agents.into_iter().map(|((name, is_hub), world)| {
        let serve = serve(world, *is_hub);
        let agent = Agent::new(world, name);
        agent.tells("UserPromptSubmit", &json!({"prompt": "go"}));
        let call = agent.is_accepted("1", "two", "2");
        (serve, agent, call)
    });
    let agents: Vec<_> = agents.collect();
    for (_serve, agent, call) in &agents {
        agent.tells("Stop", &json!({}));
        let outcome = || came_of(&agent.world.sandbox, "a.txt").1;
        assert_eq!(outcome(), "not written", "{}", agent.name);
        agent.write("two", "2");
        agent.tells("PostToolUse", call);
        let start = Instant::now();
        while outcome() != "written" {
            assert!(start.elapsed() < SOON, "{}", agent.name);
            pause(start);
        }
    }
}

/// Hooks that were installed while a session goes on, and an agent that tells of no prompt: nobody has told the turn's beginning.
#[test]
fn a_turn_that_began_with_a_rejected_change_ends_with_its_agent_or_as_that_says() {
    for (name, fields, end) in [
        (
            "claude",
            json!({"hook_event_name": "PreToolUse", "tool_name": "Edit"}),
            None,
        ),
        (
            "vibe",
            json!({"hook_event_name": "pre_tool", "tool_name": "file_system.search_replace"}),
            Some(json!({"hook_event_name": "post_agent"})),
        ),
    ] {
        let world = World::new();
        let _serve = world.sandbox.serve::<&str>([]);
        let agent = Agent::new(&world, name);
        let mut process = AgentProcess::start(&world.sandbox);
        let input = json!({"file_path": agent.file, "old_string": "six", "new_string": "6"});
        let mut call = json!({
            "session_id": "s", "cwd": world.root, "permission_mode": "bypassPermissions",
            "tool_input": input, "tool_use_id": "1", "tool_call_id": "1",
        });
        let all = call.as_object_mut().unwrap();
        all.extend(fields.as_object().unwrap().clone());
        let answer = process.calls(&world.sandbox, name, &call);
        let diff = number(&pending(&world.sandbox, 1)[0]);
        world.sandbox.insist(["reject", &diff]).expect(0);
        answer();
        let store = world.sandbox.home.changes_store();
        let turn = || {
            let numbers = store.numbers().unwrap();
            numbers.first().and_then(|it| store.turn(*it).ok())
        };
        let started = Instant::now();
        while turn().is_none() {
            assert!(started.elapsed() < SOON, "{name}: no turn");
            pause(started);
        }
        match end {
            Some(mut end) => {
                let all = end.as_object_mut().unwrap();
                all.extend([
                    ("session_id".to_owned(), "s".into()),
                    ("cwd".to_owned(), json!(world.root)),
                ]);
                process.calls(&world.sandbox, name, &end)();
            }
            None => drop(process),
        }
        while turn().is_some_and(|it| it.ended.is_none()) {
            assert!(started.elapsed() < SOON, "{name}: it goes on");
            pause(started);
        }
        fs::write(world.root.join("mine"), "").unwrap();
        let said = world.sandbox.run(["turns"]).expect(0).stdout;
        assert!(said.contains("0 files, 1 rejected"), "{name}: {said}");
    }
}

/// The answer of a hook has reached nobody if its agent ends before it goes on.
#[test]
fn what_was_said_with_a_decision_is_told_at_the_next_session_if_the_agent_ended_with_it() {
    for (is_accepted, goes_on) in [(false, false), (true, false), (false, true), (true, true)] {
        let case = format!("accepted: {is_accepted}, goes on: {goes_on}");
        let world = World::new();
        let _serve = world.sandbox.serve::<&str>([]);
        let agent = Agent::new(&world, "claude");
        let calls = |process: &mut AgentProcess, event: &str, session: &str, fields: &Value| {
            let mut call = json!({
                "hook_event_name": event, "session_id": session, "cwd": world.root,
                "permission_mode": "bypassPermissions", "prompt": "go on",
            });
            let all = call.as_object_mut().unwrap();
            all.extend(fields.as_object().unwrap().clone());
            process.calls(&world.sandbox, "claude", &call)
        };
        let tells = |process: &mut AgentProcess, event: &str, session: &str| {
            let answer = calls(process, event, session, &json!({}))();
            answer.output.to_string()
        };
        let mut first = AgentProcess::start(&world.sandbox);
        let path = agent.file.to_str().unwrap();
        let input = json!({"file_path": path, "old_string": "six", "new_string": "6"});
        let edit = json!({"tool_name": "Edit", "tool_input": input, "tool_use_id": "1"});
        let asks = calls(&mut first, "PreToolUse", "first", &edit);
        let diff = number(&pending(&world.sandbox, 1)[0]);
        let line = format!("{path}:2");
        let args = match is_accepted {
            true => vec!["accept", &diff, "--note", &line, "use the table"],
            false => vec!["reject", &diff, "--because", "use the table"],
        };
        world.sandbox.insist(args).expect(0);
        let answer = asks().output.to_string();
        assert!(answer.contains("use the table"), "{case}: {answer}");
        if goes_on {
            tells(&mut first, "Stop", "first");
        }
        drop(first);
        let store = world.sandbox.home.changes_store();
        let started = Instant::now();
        let is_over = || {
            let numbers = store.numbers().unwrap();
            let turn = numbers.first().and_then(|it| store.turn(*it).ok());
            turn.is_some_and(|it| it.ended.is_some())
        };
        while !is_over() {
            assert!(started.elapsed() < SOON, "{case}: the turn goes on");
            pause(started);
        }
        let mut next = AgentProcess::start(&world.sandbox);
        let told = tells(&mut next, "UserPromptSubmit", "next");
        assert_eq!(told.contains("use the table"), !goes_on, "{case}: {told}");
        let what = match is_accepted {
            // Nobody says of it that it was made.
            true => format!("The user accepted your change to {path} ("),
            false => format!("The user rejected your change to {path} and says"),
        };
        assert_eq!(told.contains(&what), !goes_on, "{case}: {told}");
        tells(&mut next, "Stop", "next");
        let told = tells(&mut next, "UserPromptSubmit", "next");
        assert!(!told.contains("use the table"), "{case}: {told}");
        let none = "nothing that you said waits for an agent here\n";
        while world.sandbox.run(["notes"]).expect(0).stdout != none {
            assert!(started.elapsed() < SOON, "{case}: it waits still");
            pause(started);
        }
    }
}
