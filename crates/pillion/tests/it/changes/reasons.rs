//! `--because` and `--note` of `pillion revert` and `pillion keep`: which changes they are about, and where they are shown.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Instant;

use pillion_testkit::{SOON, pause};
use serde_json::Value;

use super::World;
use crate::hook::Hook;

const OLD: &str = "1\n2\n3\n";
const NEW: &str = "1\ntwo\n3\n";

/// Two turns with two files each, of which two have the same name.
fn world() -> World {
    let world = World::new();
    for turn in ["first", "second"] {
        fs::create_dir_all(world.root.join(turn)).unwrap();
        for name in ["a.rs", turn] {
            fs::write(world.root.join(turn).join(name), OLD).unwrap();
        }
    }
    for turn in ["first", "second"] {
        world.turn(|root| {
            for name in ["a.rs", turn] {
                fs::write(root.join(turn).join(name), NEW).unwrap();
            }
        });
    }
    world
}

fn run(world: &World, args: &[&str]) -> String {
    let mut command = world.sandbox.command(args);
    let output = command.current_dir(&world.root).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

fn refused(world: &World, args: &[&str]) -> String {
    let mut command = world.sandbox.command(args);
    let output = command.current_dir(&world.root).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// The files with their reasons.
fn reasons(world: &World) -> Vec<(String, Option<String>)> {
    let printed = run(world, &["changes", "--all", "--json"]);
    let all: Vec<Value> = serde_json::from_str(&printed).unwrap();
    let reason = |it: &Value| it["reason"].as_str().map(str::to_owned);
    all.iter()
        .map(|it| (it["id"].as_str().unwrap().to_owned(), reason(it)))
        .collect()
}

#[test]
fn a_reason_is_kept_with_what_was_decided_and_shown_everywhere() {
    let world = world();
    let text = "use the\ntable \u{1b}[31m";
    run(&world, &["revert", "1.1", "--because", text]);
    run(&world, &["keep", "2", "--because=-- fine"]);
    let some = |it: &str| Some(it.to_owned());
    let expected = [
        ("1.1".to_owned(), some("use the")),
        ("1.2".to_owned(), None),
        ("2.1".to_owned(), some("-- fine")),
        ("2.2".to_owned(), some("-- fine")),
    ];
    assert_eq!(reasons(&world), expected);
    let listed = run(&world, &["changes", "1"]);
    assert!(listed.contains("first/a.rs: use the\n"), "{listed}");
    let shown = run(&world, &["show", "1.1"]);
    let start = "# 1.1 taken back\n# use the\n# table ␛[31m\ndiff --git a/";
    assert!(shown.starts_with(start), "{shown}");
    let log = run(&world, &["log"]);
    assert!(log.contains("use the") && log.contains("-- fine"), "{log}");
    run(&world, &["undo", "1.1"]);
    assert_eq!(reasons(&world)[0].1, None);
}

#[test]
fn changes_of_several_turns_are_named_at_once() {
    let world = world();
    run(&world, &["revert", "1.2", "2", "--because", "both"]);
    let given: Vec<_> = reasons(&world)
        .into_iter()
        .map(|it| it.1.is_some())
        .collect();
    assert_eq!(given, [false, true, true, true]);
    // Nothing is done if one is not there.
    let why = refused(&world, &["revert", "1.1", "1.9", "--because", "x"]);
    assert!(why.contains("1.9"), "{why}");
    assert_eq!(
        fs::read_to_string(world.root.join("first/a.rs")).unwrap(),
        NEW
    );
}

#[test]
fn a_note_is_about_the_file_that_its_path_names() {
    let absolute = |world: &World| world.root.join("first/a.rs:2").display().to_string();
    for spelling in ["first/a.rs:2", "a.rs:2", "./first/../first/a.rs:2-3", "/"] {
        let world = world();
        let absolute = absolute(&world);
        let place = if spelling == "/" { &absolute } else { spelling };
        run(&world, &["revert", "1", "--note", place, "why not 2?"]);
        let given: Vec<_> = reasons(&world).into_iter().map(|it| it.1).collect();
        let expected = [Some("why not 2?".to_owned()), None, None, None];
        assert_eq!(given, expected, "{place}");
        let shown = run(&world, &["show", "1.1"]);
        let is_range = place.ends_with("2-3");
        let lines = if is_range { "lines 2-3" } else { "line 2" };
        assert!(
            shown.contains(&format!("# {lines}: why not 2?\n")),
            "{shown}"
        );
    }
}

#[test]
fn a_note_that_is_about_no_change_or_several_decides_nothing() {
    let world = world();
    let long = "x".repeat(10_001);
    for (args, why) in [
        (
            &["1", "2", "--note", "a.rs:2", "x"][..],
            "several of these files",
        ),
        (&["1.2", "--note", "a.rs:2", "x"], "none of these changes"),
        (&["1", "--note", "a.rs", "x"], "not a file with lines"),
        (&["1", "--because", &long], "10001 bytes"),
        (
            &["1.1", "1.2", "--because", "x", "--note", "b.rs:1", "y"],
            "none of these",
        ),
    ] {
        for command in ["revert", "keep"] {
            let said = refused(&world, &[&[command], args].concat());
            assert!(said.contains(why), "{args:?}: {said}");
        }
    }
    assert!(reasons(&world).iter().all(|it| it.1.is_none()));
    let unseen: Vec<Value> = serde_json::from_str(&run(&world, &["changes", "--json"])).unwrap();
    assert_eq!(unseen.len(), 4);
}

#[test]
fn notes_on_lines_that_say_nothing_are_dropped_and_the_others_are_trimmed() {
    for (text, expected) in [
        ("  ", None),
        ("\n\t", None),
        ("\n why not 2? ", Some("why not 2?")),
    ] {
        let world = world();
        run(&world, &["revert", "1.1", "--note", "a.rs:2", text]);
        assert_eq!(reasons(&world)[0].1.as_deref(), expected, "{text:?}");
        let shown = run(&world, &["show", "1.1"]);
        assert_eq!(shown.contains("# line 2"), expected.is_some(), "{shown}");
    }
}

/// Words that would be lost are named, and the command fails if it did nothing else.
#[test]
fn words_of_which_nothing_was_decided_are_named() {
    for (before, after, why) in [
        (
            &["keep", "1"][..],
            &["keep", "1", "--because", "too\nlate"][..],
            "too late",
        ),
        (
            &["revert", "1.1"],
            &["revert", "1.1", "--because", "late"],
            "late",
        ),
        (
            &["keep", "1.1"],
            &["keep", "1", "--note", "a.rs:2", "late"],
            "late",
        ),
    ] {
        let world = world();
        run(&world, before);
        let said = refused(&world, after);
        let why = format!("nothing was decided, and no agent is told: {why}\n");
        assert!(said.contains(&why), "{said}");
    }
    // Those on all are told with one turn, if not with the other.
    let world = world();
    run(&world, &["keep", "1"]);
    run(&world, &["keep", "1", "2", "--because", "fine"]);
    // Without words, there is nothing to lose.
    run(&world, &["keep", "1", "2"]);
}

#[test]
fn the_newest_turn_is_taken_back_first() {
    for order in [["1", "2"], ["2", "1"], ["1.1", "2.1"]] {
        let world = World::new();
        let file = world.root.join("a.rs");
        fs::write(&file, OLD).unwrap();
        for text in ["two", "zwei"] {
            let text = OLD.replace('2', text);
            world.turn(|root| fs::write(root.join("a.rs"), &text).unwrap());
        }
        let printed = run(&world, &["revert", order[0], order[1]]);
        assert_eq!(fs::read_to_string(&file).unwrap(), OLD, "{order:?}");
        assert!(printed.starts_with("2.1 "), "{printed}");
    }
}

/// Of several errors, all are printed.
#[test]
fn what_fails_in_each_of_several_turns_is_said() {
    let world = world();
    for turn in ["first", "second"] {
        fs::write(world.root.join(turn).join("a.rs"), "1\nmine\n3\n").unwrap();
    }
    let said = refused(&world, &["revert", "1.1", "2.1", "--because", "why"]);
    for name in [
        "1.1 is as it was",
        "2.1 is as it was",
        "no agent is told: why",
    ] {
        assert!(said.contains(name), "{said}");
    }
}

#[test]
fn a_turn_of_another_project_is_named_with_its_folder() {
    let world = world();
    let elsewhere = tempfile::tempdir().unwrap();
    for args in [["revert", "1.1"], ["keep", "1"], ["revert", "1"]] {
        let said = world
            .sandbox
            .run_in(elsewhere.path(), args)
            .expect(0)
            .stderr;
        let expected = format!("note: turn 1 was in {}\n", world.root.display());
        assert!(said.contains(&expected), "{said}");
        let said = world.sandbox.run_in(&world.root, args).expect(0).stderr;
        assert!(!said.contains("note: turn"), "{said}");
    }
    let ran = world.sandbox.run_in(elsewhere.path(), ["revert", "9.1"]);
    assert!(ran.expect(1).stderr.contains("9"), "there is none");
}

#[test]
fn what_is_no_text_has_no_lines() {
    let world = World::new();
    fs::write(world.root.join("picture"), b"\0a\n").unwrap();
    fs::write(world.root.join("latin"), b"caf\xe9\n").unwrap();
    world.turn(|root| {
        fs::write(root.join("picture"), b"\0b\n").unwrap();
        fs::write(root.join("latin"), b"th\xe9\n").unwrap();
        fs::write(root.join("new"), b"\xff").unwrap();
        fs::write(root.join("text"), "a\n").unwrap();
    });
    let printed = run(&world, &["changes", "--json"]);
    let all: Vec<Value> = serde_json::from_str(&printed).unwrap();
    let lines = |it: &Value| (it["added"].as_u64(), it["removed"].as_u64());
    let counted: Vec<_> = all.iter().map(lines).collect();
    assert_eq!(
        counted.iter().filter(|it| **it == (None, None)).count(),
        3,
        "{all:?}"
    );
    assert!(counted.contains(&(Some(1), Some(0))), "{all:?}");
}

/// Shows a change with `pillion look`. Returns that, and the name of the diff.
#[allow(clippy::zombie_processes, reason = "the caller waits for it")]
fn look_at(world: &World, change: &str) -> (Child, String) {
    let mut look = world.sandbox.command(["look", change]);
    let look = look.current_dir(&world.root).stdout(Stdio::piped());
    let looking = look.stderr(Stdio::piped()).spawn().unwrap();
    let until = Instant::now() + SOON;
    loop {
        let listed = run(world, &["diffs", "--json"]);
        let listed: Vec<Value> = serde_json::from_str(&listed).unwrap();
        if let Some(diff) = listed.first() {
            break (looking, diff["diff"].as_str().unwrap().to_owned());
        }
        assert!(Instant::now() < until, "{change} is not shown");
    }
}

/// Rejects the only diff that `pillion look` shows, with this said. Returns what the decision printed.
fn rejected_with(world: &World, change: &str, said: &[&str]) -> String {
    let _serve = world.sandbox.serve::<&str>([]);
    let (looking, shown) = look_at(world, change);
    let told = world.sandbox.run([&["reject", &shown], said].concat());
    let ended = looking.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{stderr}");
    told.expect(0).stderr
}

/// Another program has put the text before into the file.
#[test]
fn of_what_is_not_there_any_more_a_view_decides_nothing_and_keeps_the_words() {
    let world = world();
    let _serve = world.sandbox.serve::<&str>([]);
    let (looking, shown) = look_at(&world, "1.1");
    fs::write(world.root.join("first/a.rs"), OLD).unwrap();
    let [notes, log] = [["notes"], ["log"]].map(|it| run(&world, &it));
    for decision in [
        &["accept", &shown, "--despite-change"][..],
        &["reject", &shown, "--because", "use the table"],
        &["reject", &shown, "--note", "a.rs:2", "why?"],
    ] {
        let told = world.sandbox.run(decision).expect(1).stderr;
        let why = "1.1 is no longer in the file";
        assert!(told.contains(why), "{decision:?}: {told}");
        assert!(told.contains("nothing is decided"), "{told}");
    }
    assert_eq!(
        [run(&world, &["notes"]), run(&world, &["log"])],
        [notes, log]
    );
    // It is shown until it is closed.
    world.sandbox.run(["reject", &shown]).expect(0);
    assert!(looking.wait_with_output().unwrap().status.success());
    let said = world.sandbox.run(["look", "1.1"]).expect(1).stderr;
    assert!(
        said.contains("1.1 is gone: nothing of it is in the file"),
        "{said}"
    );
}

/// Somebody changes the file while it is looked at: what cannot be done any more is refused, and the view stays.
#[test]
fn what_cannot_be_carried_out_is_refused_and_the_view_keeps_the_words() {
    for is_hub in [true, false] {
        let world = world();
        let path = world.root.join("first/a.rs");
        let _serve = super::accepted::serve(&world, is_hub);
        let (looking, shown) = look_at(&world, "1.1");
        // In place of the agent's own line.
        let mine = NEW.replace("two", "mine");
        fs::write(&path, &mine).unwrap();
        let [notes, log] = [["notes"], ["log"]].map(|it| run(&world, &it));
        let edited = world.root.join("edited");
        fs::write(&edited, format!("{NEW}edited\n")).unwrap();
        for (decision, words) in [
            (
                &["reject", &shown, "--because", "use the table"][..],
                "use the table",
            ),
            (
                &[
                    "reject",
                    &shown,
                    "--because",
                    "no",
                    "--note",
                    "a.rs:1",
                    "why?",
                ],
                "why?",
            ),
            (
                &["accept", &shown, "--content-file", edited.to_str().unwrap()],
                "",
            ),
        ] {
            let told = world.sandbox.run(decision).expect(1).stderr;
            assert!(told.contains("1.1 is as it was"), "{decision:?}: {told}");
            assert!(
                words.is_empty() || (told.contains("no agent is told") && told.contains(words)),
                "{told}"
            );
            assert_eq!(fs::read_to_string(&path).unwrap(), mine, "{decision:?}");
        }
        assert_eq!(
            [run(&world, &["notes"]), run(&world, &["log"])],
            [notes, log]
        );
        assert!(run(&world, &["diffs"]).contains(&shown), "it is shown");
        // To keep it loses nothing of what the person has written: nobody asks.
        world.sandbox.run(["accept", &shown]).expect(0);
        let ended = looking.wait_with_output().unwrap();
        assert!(ended.status.success());
        assert_eq!(
            String::from_utf8_lossy(&ended.stdout),
            "1.1 first/a.rs: kept\n"
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), mine);
    }
}

/// Of a turn, the others stay open.
#[test]
fn what_is_forgotten_or_taken_back_elsewhere_is_not_shown_any_longer() {
    for is_hub in [true, false] {
        for (name, elsewhere, left) in [
            ("1.1", ["forget", "1"], 0),
            ("1.1", ["revert", "1.1"], 0),
            ("1", ["revert", "1.1"], 1),
            ("1", ["keep", "1.1"], 2),
        ] {
            let world = World::new();
            world.turn(|root| {
                fs::write(root.join("a"), NEW).unwrap();
                fs::write(root.join("b"), NEW).unwrap();
            });
            let _serve = super::accepted::serve(&world, is_hub);
            let (mut looking, _) = look_at(&world, name);
            let shown = || -> Vec<Value> {
                serde_json::from_str(&run(&world, &["diffs", "--json"])).unwrap()
            };
            let until = Instant::now() + SOON;
            while name == "1" && shown().len() < 2 {
                assert!(Instant::now() < until);
            }
            run(&world, &elsewhere);
            while shown().len() > left {
                assert!(Instant::now() < until, "{elsewhere:?}: {:?}", shown());
            }
            assert_eq!(shown().len(), left, "{elsewhere:?}");
            match left {
                0 => assert!(looking.wait().unwrap().success()),
                _ => looking.kill().unwrap(),
            }
            let _ = looking.wait();
        }
    }
}

#[test]
fn a_diff_of_what_is_written_is_rejected_with_a_reason_and_taken_back() {
    let world = world();
    let path = world.root.join("first/a.rs");
    let text = |path: &Path| fs::read_to_string(path).unwrap();
    // Without a reason, nothing is decided: notes on lines are told, and are none.
    let notes = ["--note", "a.rs:2", "why?"];
    let told = rejected_with(&world, "1.1", &notes);
    assert!(
        told.contains("1.1 stays as it is · Claude Code is"),
        "{told}"
    );
    rejected_with(&world, "1.1", &[]);
    assert_eq!(
        (text(&path), reasons(&world)[0].1.clone()),
        (NEW.into(), None)
    );
    // What the person has written since stays.
    let mine = format!("{NEW}mine\n");
    fs::write(&path, mine).unwrap();
    let told = rejected_with(&world, "1.1", &["--because", "use the table"]);
    assert!(
        told.contains("1.1 first/a.rs: taken back · Claude Code is"),
        "{told}"
    );
    assert_eq!(text(&path), format!("{OLD}mine\n"));
    assert_eq!(reasons(&world)[0].1.as_deref(), Some("use the table"));
    run(&world, &["undo"]);
    assert_eq!(text(&path), format!("{NEW}mine\n"));
}

#[test]
fn new_and_deleted_files_are_rejected_with_a_reason_and_taken_back() {
    let world = World::new();
    let path = |name: &str| world.root.join(name);
    fs::write(path("gone"), OLD).unwrap();
    world.turn(|root| {
        fs::remove_file(root.join("gone")).unwrap();
        fs::write(root.join("new"), NEW).unwrap();
    });
    for change in ["1.1", "1.2"] {
        rejected_with(&world, change, &["--because", "no"]);
    }
    assert_eq!(fs::read_to_string(path("gone")).unwrap(), OLD);
    assert!(!path("new").exists());
}

/// The companion has ended that knew the agent, or runs no more: what is said to the agent waits for its next prompt. About
/// several files it is one note.
#[test]
fn a_reason_waits_for_an_agent_that_no_companion_knows() {
    for (has_companion, of, files) in [
        (false, "1.1", &["first/a.rs"][..]),
        (true, "1.1", &["first/a.rs"]),
        (false, "1", &["first/a.rs", "first/first"]),
        (true, "1", &["first/a.rs", "first/first"]),
    ] {
        let world = world();
        let serve = |is_run: bool| is_run.then(|| world.sandbox.serve::<&str>([]));
        let running = serve(has_companion);
        let mut command = world
            .sandbox
            .command(["revert", of, "--because", "use the table"]);
        let output = command.current_dir(&world.root).output().unwrap();
        let said =
            String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
        let later = "Claude Code is not connected now, and is told when it works here again";
        assert!(output.status.success() && said.contains(later), "{said}");
        let notes = run(&world, &["notes"]);
        assert!(
            notes.starts_with("Claude Code has yet to read:\n") && notes.contains("use the table"),
            "{notes}"
        );
        for once in ["has yet to read", "use the table", "again unless they"] {
            assert_eq!(notes.matches(once).count(), 1, "{notes}");
        }
        assert!(files.iter().all(|it| notes.contains(it)), "{notes}");
        let _running = running.or_else(|| serve(true));
        let hook = |event: &str| {
            let call = serde_json::json!({
                "hook_event_name": event, "session_id": "s", "cwd": world.root, "prompt": "go on",
                "permission_mode": "default",
            });
            let answer = Hook::call(&world.sandbox, &["claude"], &call).answer();
            answer.output.to_string()
        };
        let told = hook("UserPromptSubmit");
        assert!(told.contains("use the table"), "{told}");
        hook("Stop");
        let none = "nothing that you said waits for an agent here\n";
        let start = Instant::now();
        while run(&world, &["notes"]) != none {
            assert!(start.elapsed() < SOON);
            pause(start);
        }
    }
}

/// Also what an agent that works here has not read yet: neither the store nor a companion has it any more, and no agent hears of it.
#[test]
fn what_no_agent_has_read_of_a_turn_is_forgotten_with_it() {
    for (has_companion, is_here, all) in [
        (false, false, false),
        (false, false, true),
        (true, false, false),
        (true, true, false),
        (true, true, true),
    ] {
        let world = world();
        let running = has_companion.then(|| world.sandbox.serve::<&str>([]));
        let hook = |event: &str| {
            let call = serde_json::json!({
                "hook_event_name": event, "session_id": "s", "cwd": world.root, "prompt": "go on",
                "permission_mode": "default", "tool_name": "Bash", "tool_use_id": "t",
                "tool_input": {"command": "x"}, "tool_response": {},
            });
            let answer = Hook::call(&world.sandbox, &["claude"], &call).answer();
            answer.output.to_string()
        };
        let mut turn = "1";
        if is_here {
            turn = "3";
            hook("UserPromptSubmit");
            hook("PreToolUse");
            fs::write(world.root.join("first/first"), "secret\n").unwrap();
            hook("PostToolUse");
            hook("Stop");
        }
        run(&world, &["revert", turn, "--because", "secret"]);
        run(&world, &["revert", "2", "--because", "the other one"]);
        assert!(run(&world, &["notes"]).contains("secret"));
        let said = run(&world, &["forget", if all { "--all" } else { turn }]);
        let notes = if all { "2 notes" } else { "1 note" };
        let expected = format!("With them {notes} went that no agent has read");
        assert!(said.contains(&expected), "{said}");
        let notes = world.store.path().join("notes");
        let left = fs::read_dir(notes).unwrap().flatten();
        let left: Vec<_> = left
            .map(|it| fs::read_to_string(it.path()).unwrap())
            .collect();
        assert_eq!(left.len(), usize::from(!all), "{left:?}");
        assert!(!left.concat().contains("secret"), "{left:?}");
        let _running = running.or_else(|| Some(world.sandbox.serve::<&str>([])));
        let told = hook("UserPromptSubmit");
        assert!(!told.contains("secret"), "{told}");
        assert_eq!(told.contains("the other one"), !all, "{told}");
    }
}
