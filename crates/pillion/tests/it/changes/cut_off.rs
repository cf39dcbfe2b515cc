//! Companions that end while a shell command of an agent runs: what it changes is listed nevertheless, and that nobody watched.

use std::fs;
use std::time::Instant;

use pillion_system::process;
use pillion_testkit::{SOON, pause};
use serde_json::{Value, json};

use super::World;
use super::accepted::{Agent, serve};
use crate::hook::Hook;
use crate::sandbox::{Serve, signal_to};

const WORDS: &str = "Pillion ended while a call of this turn ran";

/// The end of a companion with its view, or of the hub while the view stays.
#[derive(Clone, Copy, Debug)]
enum Way {
    Hub(&'static str),
    Own(&'static str),
}

impl Way {
    fn is_hub(self) -> bool {
        matches!(self, Self::Hub(_))
    }

    /// Ends it. Returns what serves then: another one, or the same.
    fn ends(self, world: &World, mut served: Serve) -> Serve {
        match self {
            Self::Hub(signal) => {
                let hub = world.sandbox.companion_pid();
                signal_to(hub, signal);
                let started = Instant::now();
                while world.sandbox.run(["diffs"]).code != Some(0)
                    || world.sandbox.companion_pid() == hub
                {
                    assert!(started.elapsed() < SOON, "no hub comes back");
                }
                served
            }
            Self::Own(signal) => {
                served.signal(signal);
                served.ended();
                serve(world, false)
            }
        }
    }
}

const WAYS: [Way; 3] = [Way::Hub("KILL"), Way::Hub("TERM"), Way::Own("KILL")];

#[test]
fn what_a_call_changes_while_nobody_watches_is_listed_as_unclear_in_its_turn() {
    for way in WAYS {
        for changes_first in [true, false] {
            let world = World::new();
            let serve = serve(&world, way.is_hub());
            let agent = Agent::new(&world, "claude");
            let list = || world.sandbox.run(["changes"]).expect(0).stdout;
            agent.tells("UserPromptSubmit", &json!({"prompt": "go"}));
            agent.shell("1", "six", "6");
            let call =
                json!({"tool_name": "Bash", "tool_input": {"command": "x"}, "tool_use_id": "2"});
            agent.tells("PreToolUse", &call);
            if changes_first {
                agent.write("two", "EVIL");
            }
            let _serve = way.ends(&world, serve);
            if !changes_first {
                agent.write("two", "EVIL");
            }
            fs::write(world.root.join("new.txt"), "new\n").unwrap();
            agent.tells("PostToolUse", &call);
            let case = format!("{way:?} {changes_first}");
            for is_over in [false, true] {
                let listed = list();
                assert!(listed.contains(WORDS), "{case} {is_over}: {listed}");
                assert!(listed.contains("+2 -2  a.txt"), "{case}: {listed}");
                assert!(
                    listed.contains("new.txt (new), unclear who changed it"),
                    "{case}: {listed}"
                );
                agent.tells("Stop", &json!({}));
            }
            // Nothing of it comes again.
            agent.tells("UserPromptSubmit", &json!({"prompt": "go on"}));
            agent.shell("3", "five", "5");
            agent.tells("Stop", &json!({}));
            let turns = world.sandbox.run(["turns"]).expect(0).stdout;
            assert!(
                turns.contains("2 files, 2 unseen") && turns.contains("1 file, 1 unseen"),
                "{turns}"
            );
            world.sandbox.run(["keep", "--all"]).expect(0);
            assert_eq!(list(), "there are no unseen changes here\n", "{case}");
        }
    }
}

/// Of two agents at work, it is the one whose call ran.
#[test]
fn what_a_call_changes_while_nobody_watches_is_not_in_another_agents_turn() {
    for way in WAYS {
        let world = World::new();
        let serve = serve(&world, way.is_hub());
        let agent = Agent::new(&world, "claude");
        agent.tells("UserPromptSubmit", &json!({"prompt": "go"}));
        agent.tells(
            "UserPromptSubmit",
            &json!({"prompt": "other", "session_id": "other"}),
        );
        let call = json!({"tool_name": "Bash", "tool_input": {"command": "x"}, "tool_use_id": "2"});
        agent.tells("PreToolUse", &call);
        agent.write("two", "EVIL");
        let _serve = way.ends(&world, serve);
        agent.tells("PostToolUse", &call);
        agent.tells("Stop", &json!({}));
        let listed = world.sandbox.run(["changes", "1"]).expect(0).stdout;
        assert!(listed.contains(WORDS), "{way:?} {listed}");
        assert!(listed.contains("+1 -1  a.txt"), "{way:?} {listed}");
    }
}

/// What its hook has returned of is put down.
#[test]
fn a_turn_whose_end_was_told_is_whole_however_soon_the_companion_ends() {
    for way in WAYS {
        let world = World::new();
        let serve = serve(&world, way.is_hub());
        let agent = Agent::new(&world, "claude");
        agent.tells("UserPromptSubmit", &json!({"prompt": "go"}));
        let call = json!({"tool_name": "Bash", "tool_input": {"command": "x"}, "tool_use_id": "1"});
        agent.tells("PreToolUse", &call);
        for number in 0..3000 {
            fs::write(world.root.join(format!("f{number:04}")), "new\n").unwrap();
        }
        agent.tells("PostToolUse", &call);
        agent.tells("Stop", &json!({}));
        let _serve = way.ends(&world, serve);
        let listed = world.sandbox.run(["changes", "1"]).expect(0).stdout;
        assert!(!listed.contains("unclear"), "{way:?} {listed}");
        assert!(listed.contains("f2999 (new)"), "{way:?} {listed}");
    }
}

/// Its hook waits until there is somebody again who keeps the texts before.
#[test]
fn what_a_call_changes_right_after_a_kill_can_be_taken_back() {
    for turn_goes_on in [true, false] {
        let world = World::new();
        let _serve = serve(&world, true);
        let agent = Agent::new(&world, "claude");
        let files: Vec<_> = (0..200)
            .map(|it| world.root.join(format!("f{it:03}")))
            .collect();
        for file in &files {
            fs::write(file, "old\n").unwrap();
        }
        let begins = || agent.tells("UserPromptSubmit", &json!({"prompt": "go"}));
        if turn_goes_on {
            begins();
        } else {
            // What is there is known.
            begins();
            agent.tells("Stop", &json!({}));
        }
        signal_to(world.sandbox.companion_pid(), "KILL");
        if !turn_goes_on {
            begins();
        }
        let call = json!({"tool_name": "Bash", "tool_input": {"command": "x"}, "tool_use_id": "1"});
        agent.tells("PreToolUse", &call);
        for file in &files {
            fs::write(file, "EVIL\n").unwrap();
        }
        agent.tells("PostToolUse", &call);
        agent.tells("Stop", &json!({}));
        let turns = world.sandbox.run(["turns"]).expect(0).stdout;
        assert!(
            turns.contains("200 files, 200 unseen"),
            "{turn_goes_on}: {turns}"
        );
        let turn = turns.split_whitespace().nth(1).unwrap().to_owned();
        world.sandbox.run_as_person(["revert", &turn]).expect(0);
        for file in &files {
            assert_eq!(fs::read_to_string(file).unwrap(), "old\n", "{turn_goes_on}");
        }
    }
}

/// Nothing is done, and a script is not told otherwise.
#[test]
fn a_turn_of_which_all_is_left_out_is_not_taken_back() {
    let world = World::new();
    let serve = serve(&world, false);
    let agent = Agent::new(&world, "claude");
    agent.tells("UserPromptSubmit", &json!({"prompt": "go"}));
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "x"}, "tool_use_id": "1"});
    agent.tells("PreToolUse", &call);
    let _serve = Way::Own("KILL").ends(&world, serve);
    let new = world.root.join("new.txt");
    fs::write(&new, "new\n").unwrap();
    agent.tells("PostToolUse", &call);
    agent.tells("Stop", &json!({}));
    let refused = world.sandbox.run_as_person(["revert", "1"]);
    let hint = "`pillion revert --all 1` takes it back.";
    refused.expect_error(1, "nothing of turn 1 was taken back", hint);
    assert!(new.exists());
    world
        .sandbox
        .run_as_person(["revert", "--all", "1"])
        .expect(0);
    assert!(!new.exists());
}

/// Until the next one watches, nobody knows what has changed: that is not said to be nothing.
#[test]
fn before_somebody_watches_again_it_is_said_that_nobody_has_watched() {
    let world = World::new();
    let mut first = serve(&world, false);
    let agent = Agent::new(&world, "claude");
    agent.tells("UserPromptSubmit", &json!({"prompt": "go"}));
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "x"}, "tool_use_id": "2"});
    agent.tells("PreToolUse", &call);
    first.signal("KILL");
    first.ended();
    agent.write("two", "EVIL");
    let said = "nothing unseen is known here: Pillion ended in turn 1 of Claude Code, and what has changed since is \
                listed once an editor or a review is open here\n";
    for command in [&["changes"][..], &["keep", "--all"]] {
        assert_eq!(world.sandbox.run(command).expect(0).stdout, said);
    }
    let looked = world.sandbox.run(["look"]).expect(1).stderr;
    assert!(looked.contains(said.trim_end()), "{looked}");
    let _serve = serve(&world, false);
    let listed = || world.sandbox.run(["changes"]).expect(0).stdout;
    assert!(listed().contains("+1 -1  a.txt"), "{}", listed());
    world.sandbox.run(["keep", "--all"]).expect(0);
    assert_eq!(listed(), "there are no unseen changes here\n");
}

/// The person has closed it: what they change then is nobody else's.
#[test]
fn what_changes_after_a_person_has_closed_the_last_view_is_in_no_list() {
    for is_hub in [true, false] {
        let world = World::new();
        let mut first = serve(&world, is_hub);
        let companion = world.sandbox.companion_pid();
        let agent = Agent::new(&world, "claude");
        agent.tells("UserPromptSubmit", &json!({"prompt": "go"}));
        let call = json!({"tool_name": "Bash", "tool_input": {"command": "x"}, "tool_use_id": "2"});
        agent.tells("PreToolUse", &call);
        first.signal("TERM");
        first.ended();
        let started = Instant::now();
        while process::is_alive(companion) {
            assert!(started.elapsed() < SOON, "the hub does not end");
        }
        agent.write("two", "mine");
        let _serve = serve(&world, is_hub);
        agent.tells("PostToolUse", &call);
        agent.tells("Stop", &json!({}));
        let listed = world.sandbox.run(["changes"]).expect(0).stdout;
        assert_eq!(listed, "there are no unseen changes here\n", "{is_hub}");
    }
}

/// Nobody was there when the person took it back: whoever records next finds it.
#[test]
fn what_was_taken_back_while_nobody_watched_is_no_change_of_the_agent() {
    for goes_on in [true, false] {
        let world = World::new();
        let mut first = serve(&world, false);
        let agent = Agent::new(&world, "claude");
        agent.tells("UserPromptSubmit", &json!({"prompt": "go"}));
        agent.shell("1", "six", "6");
        if !goes_on {
            agent.tells("Stop", &json!({}));
        }
        // The hook after a call does not wait until all is put down; that of a turn's end does.
        let started = Instant::now();
        while !world.sandbox.run(["changes"]).stdout.contains("1.1") {
            assert!(started.elapsed() < SOON, "nothing is put down");
            pause(started);
        }
        first.signal("KILL");
        first.ended();
        world.sandbox.insist(["revert", "1.1"]).expect(0);
        let _serve = serve(&world, !goes_on);
        let list = || world.sandbox.run(["changes"]).expect(0).stdout;
        let nothing = "there are no unseen changes here\n";
        let all = world.sandbox.run(["changes", "--all"]).expect(0).stdout;
        assert_eq!(list(), nothing, "{goes_on}: {all}");
        agent.tells("Stop", &json!({}));
        assert_eq!(list(), nothing, "{goes_on}");
        agent.tells("UserPromptSubmit", &json!({"prompt": "go on"}));
        agent.shell("2", "two", "2");
        let listed = list();
        assert!(listed.contains("+1 -1"), "{goes_on}: {listed}");
    }
}

/// The words of an agent: its hook's arguments, its events when a turn begins, before and after a call and when a turn ends, and its shell.
type Words = (&'static [&'static str], [&'static str; 4], &'static str);

const CLAUDES: [&str; 4] = ["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"];
const GEMINIS: [&str; 4] = ["BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent"];
const AGENTS: [Words; 7] = [
    (&["claude"], CLAUDES, "Bash"),
    (&["claude", "--strict"], CLAUDES, "Bash"),
    (&["codex"], CLAUDES, "Bash"),
    (&["gemini"], GEMINIS, "run_shell_command"),
    (&["kimi"], CLAUDES, "Bash"),
    (&["opencode"], CLAUDES, "bash"),
    (&["qwen"], CLAUDES, "run_shell_command"),
];

/// What an agent's hook is told at an event.
fn told(world: &World, event: &str, tool: &str) -> Value {
    json!({
        "hook_event_name": event, "session_id": "s", "cwd": world.root, "prompt": "go",
        "permission_mode": "bypassPermissions", "tool_name": tool, "tool_use_id": "1",
        "tool_input": {"command": "x"},
    })
}

/// Its view starts another one, which is to know what was there before.
#[test]
fn a_killed_hub_is_waited_for_before_a_turn_and_before_a_call() {
    for (args, [prompt, before, after, end], tool) in AGENTS {
        for killed_at in [prompt, before] {
            let world = World::new();
            let _serve = serve(&world, true);
            for number in 0..20 {
                fs::write(world.root.join(format!("f{number}")), "old\n").unwrap();
            }
            for event in [prompt, before, after, end] {
                if event == killed_at {
                    signal_to(world.sandbox.companion_pid(), "KILL");
                }
                let call = told(&world, event, tool);
                let answer = Hook::call(&world.sandbox, args, &call).answer();
                let said = answer.output.to_string();
                assert!(!said.contains("record"), "{args:?} {event}: {said}");
                if event == before {
                    for number in 0..20 {
                        fs::write(world.root.join(format!("f{number}")), "new\n").unwrap();
                    }
                }
            }
            let listed = world.sandbox.run(["changes"]).expect(0).stdout;
            let changed = listed.matches("+1 -1").count();
            assert_eq!(changed, 20, "{args:?} {killed_at}: {listed}");
        }
    }
}

/// Nothing starts it again, and whoever asks after the first does not wait for it. What the agent has done already is told at once.
#[test]
fn that_nobody_records_since_a_companion_was_killed_is_said_before_a_turn_and_before_a_call() {
    for is_hub in [true, false] {
        let world = World::new();
        let mut serve = serve(&world, is_hub);
        let companion = world.sandbox.companion_pid();
        serve.signal("KILL");
        serve.ended();
        let started = Instant::now();
        while process::is_alive(companion) {
            assert!(started.elapsed() < SOON, "the hub does not end");
        }
        let (mut hooks, asked) = (Vec::new(), Instant::now());
        let agents = AGENTS.into_iter().enumerate();
        // Each waits for seconds.
        let agents = agents.filter(|(at, _)| [0, 1, 4].contains(at));
        for (_, (args, [prompt, before, after, end], tool)) in agents {
            for event in [prompt, before, after, end] {
                let call = told(&world, event, tool);
                let hook = Hook::call(&world.sandbox, args, &call);
                hooks.push((args, event, [prompt, before].contains(&event), hook));
            }
        }
        for (args, event, is_said, hook) in hooks {
            let answer = hook.answer();
            let said = answer.output["systemMessage"].as_str().unwrap_or_default();
            // Kimi Code has no place for it.
            match is_said && args != ["kimi"] {
                true => assert!(
                    said.starts_with("Pillion does not record what comes now: ")
                        && said.contains("was killed"),
                    "{args:?} {event} {is_hub}: {answer:?}"
                ),
                false => answer.expect_nothing(),
            }
            assert!(!answer.is_blocked(), "{answer:?}");
        }
        let (waited, again) = (asked.elapsed(), Instant::now());
        let (args, [prompt, ..], tool) = AGENTS[0];
        let answer = Hook::call(&world.sandbox, args, &told(&world, prompt, tool)).answer();
        assert!(again.elapsed() < waited, "{:?}", again.elapsed());
        assert!(answer.output.to_string().contains("was killed"));
    }
}

/// The folder in which it works, or the whole workspace. Its hooks tell of a folder that is not there.
#[test]
fn what_an_agent_removes_with_its_own_folder_is_listed_at_the_end_of_its_turn() {
    for (args, [prompt, before, after, end], tool) in AGENTS {
        for (folder, files) in [(".", 2), ("sub", 1)] {
            for is_hub in [true, false] {
                let world = World::new();
                fs::create_dir(world.root.join("sub")).unwrap();
                for name in ["a", "sub/b"] {
                    fs::write(world.root.join(name), "old\n").unwrap();
                }
                let _serve = serve(&world, is_hub);
                let folder = pillion_discovery::real_path(&world.root.join(folder));
                for event in [prompt, before, after, end] {
                    let mut call = told(&world, event, tool);
                    call["cwd"] = folder.to_str().unwrap().into();
                    let mut hook = world.sandbox.command([&["hook"][..], args].concat());
                    hook.current_dir(world.sandbox.home.home());
                    Hook::run(&mut hook, call.to_string().as_bytes()).answer();
                    if event == before {
                        fs::remove_dir_all(&folder).unwrap();
                    }
                }
                let turns = world.sandbox.run_in(world.sandbox.home.root(), ["turns"]);
                let turns = turns.expect(0).stdout;
                let said = format!("{} unseen", files);
                assert!(
                    turns.contains(&said),
                    "{args:?} {folder:?} {is_hub}: {turns}"
                );
                fs::create_dir_all(&folder).unwrap();
                let listed = world.sandbox.run(["changes"]).expect(0).stdout;
                assert_eq!(listed.matches("(deleted)").count(), files, "{listed}");
                assert!(!listed.contains("not watched"), "{listed}");
                world.sandbox.insist(["revert", "1"]).expect(0);
                assert!(folder.join(if files == 2 { "a" } else { "b" }).exists());
            }
        }
    }
}
