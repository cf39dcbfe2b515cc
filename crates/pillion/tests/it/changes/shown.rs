//! What a person was shown is what they keep or take back, and not what the agent has written since.

use std::fs;

use pillion_changes::store::NotedAgent;
use pillion_changes::{Act, Decided, Deciding, Kept, Recorder};
use pillion_protocol::AgentProcess;
use pillion_system::process;
use pillion_testkit::{SOON, Size, Tmux};
use serde_json::Value;

use super::{SESSION, World, call};

/// A turn that goes on, of an agent that writes between a person's commands.
struct Turn {
    world: World,
    recorder: Recorder,
    calls: u32,
}

impl Turn {
    /// With this text in `a`.
    fn new(text: &str) -> Self {
        let world = World::new();
        fs::write(world.root.join("a"), "before\n").unwrap();
        let roots = std::slice::from_ref(&world.root);
        let mut recorder = Recorder::new(world.store.clone(), roots, Vec::new());
        recorder.prepare();
        recorder.begin(SESSION, "claude", "a prompt").unwrap();
        let calls = 0;
        let mut turn = Self {
            world,
            recorder,
            calls,
        };
        turn.write("a", text);
        turn
    }

    /// The agent's next call writes this.
    fn write(&mut self, name: &str, text: &str) {
        self.calls += 1;
        let id = self.calls.to_string();
        self.recorder.before(SESSION, "claude", call(&id)).unwrap();
        fs::write(self.world.root.join(name), text).unwrap();
        self.recorder.after(SESSION, &id, |_| Vec::new()).unwrap();
    }

    fn person(&self, line: &str) -> String {
        let args: Vec<_> = line.split(' ').collect();
        self.world.sandbox.run(args).expect(0).stdout
    }

    /// The command is refused, and prints this; once more, it is done.
    #[track_caller]
    fn expect_refused_once(&self, line: &str, names: &str, printed: &[&str]) {
        let args: Vec<_> = line.split(' ').collect();
        let refused = self.world.sandbox.run(args);
        for text in printed {
            assert!(refused.stdout.contains(text), "{line}: {}", refused.stdout);
        }
        let changed = format!("changed since you were shown it: {names}; nothing was decided");
        refused.expect_error(1, &changed, "the same command again means that");
        self.person(line);
    }

    fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.world.root.join(name)).ok()
    }

    fn states(&self) -> Vec<String> {
        let json = self.person("changes 1 --json");
        let changes: Vec<Value> = serde_json::from_str(&json).unwrap();
        let state = |it: &Value| it["state"].as_str().unwrap().to_owned();
        changes.iter().map(state).collect()
    }
}

#[test]
fn a_text_that_has_changed_since_it_was_shown_is_neither_kept_nor_taken_back() {
    for shown in [
        "show 1.1",
        "show 1",
        "changes",
        "changes 1",
        "changes --json",
    ] {
        let mut turn = Turn::new("one\n");
        turn.person(shown);
        turn.write("a", "two\n");
        turn.expect_refused_once("keep 1.1", "1.1", &["-before\n+two\n"]);
        assert_eq!(turn.states(), ["kept"], "{shown}");
    }
    for command in ["revert 1.1", "revert 1"] {
        let mut turn = Turn::new("one\n");
        turn.person("show 1.1");
        turn.write("a", "two\n");
        turn.expect_refused_once(command, "1.1", &["-before\n+two\n"]);
        assert_eq!(turn.text("a").as_deref(), Some("before\n"), "{command}");
    }
}

#[test]
fn lines_that_somebody_changed_again_are_named_and_the_patch_stays_one() {
    let world = World::new();
    let file = world.root.join("a");
    fs::write(&file, "a\nb\nc\nd\ne\n").unwrap();
    world.turn(|_| fs::write(&file, "a\nB\nc\nd\nE\n").unwrap());
    let since = "# changed since, so that it is not taken back: line 2 of the file as it is now\n";
    let show = || world.sandbox.run(["show", "1.1"]).expect(0).stdout;
    assert!(!show().contains("changed since"));
    let patch = show();
    fs::write(&file, "a\nmine\nc\nd\nE\n").unwrap();
    assert_eq!(
        show(),
        patch.replacen("unseen\n", &format!("unseen\n{since}"), 1)
    );
    let places = world
        .sandbox
        .run(["changes", "--locations"])
        .expect(0)
        .stdout;
    let expected = |line, state| format!("{}:{line}: 1.1 {state}\n", file.display());
    let changed = expected(2, "unseen, changed since, +1 -1: mine");
    assert_eq!(places, changed + &expected(5, "unseen +1 -1: E"));
}

#[test]
fn a_file_that_came_to_a_turn_since_it_was_shown_is_not_decided_with_it() {
    let mut turn = Turn::new("one\n");
    turn.person("changes");
    turn.write("b", "new\n");
    turn.expect_refused_once("keep 1", "1.2", &["+new\n"]);
    assert_eq!(turn.states(), ["kept", "kept"]);
    turn.write("c", "new\n");
    turn.write("b", "newer\n");
    turn.expect_refused_once("revert 1", "1.2, 1.3", &["+newer\n", "+new\n"]);
    // What was kept before is none of what is taken back.
    assert_eq!(
        ["a", "b", "c"].map(|it| turn.text(it)),
        [Some("one\n"), Some("new\n"), None].map(|it| it.map(str::to_owned))
    );
}

#[test]
fn what_is_as_it_was_shown_or_was_never_shown_is_decided_at_once() {
    let mut turn = Turn::new("one\n");
    turn.write("b", "new\n");
    turn.write("b", "newer\n");
    assert_eq!(turn.person("keep 1.2"), "1.2 b: kept\n");
    // A script lists, and decides about what it was told.
    let changes: Vec<Value> = serde_json::from_str(&turn.person("changes --json")).unwrap();
    assert_eq!(changes[0]["id"], "1.1");
    assert_eq!(
        turn.person("revert 1.1").lines().next(),
        Some("1.1 a: taken back")
    );
    turn.person("undo 1.1");
    turn.person("keep 1");
    assert_eq!(turn.states(), ["kept", "kept"]);
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_whole_text_does_nothing_to_a_terminal() {
    let mut turn = Turn::new("one\n");
    turn.write("a", "\u{1b}[8mhidden\u{202e}\n");
    let home = &turn.world.sandbox.home;
    let command = [env!("CARGO_BIN_EXE_pillion"), "show", "1.1", "--text"];
    let tmux = Tmux::start();
    let size = Size::new(80, 10);
    let pane = tmux.spawn("person", size, &home.env(), &home.workspace(), &command);
    assert_eq!(pane.wait_exit(SOON), 0);
    // The line that says so pushes the first one out of the screen.
    let printed = pane.scrollback();
    assert!(printed.contains("␛[8mhidden⟨U+202E⟩"), "{printed}");
    let piped = turn.world.sandbox.run(["show", "1.1", "--text"]).expect(0);
    assert_eq!(piped.stdout, "\u{1b}[8mhidden\u{202e}\n");
}

/// As git does it; in a pipe every byte is as it is, for `git apply`.
#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_patch_on_a_terminal_has_colours_and_comes_in_the_persons_pager() {
    let turn = Turn::new("after\n");
    let home = &turn.world.sandbox.home;
    let command = [env!("CARGO_BIN_EXE_pillion"), "show", "1.1"];
    let show = |variables: &[(&str, &str)]| {
        let (tmux, mut env) = (Tmux::start(), home.env());
        for (name, value) in variables {
            env.set(name, value);
        }
        let pane = tmux.spawn(
            "person",
            Size::new(80, 40),
            &env,
            &home.workspace(),
            &command,
        );
        assert_eq!(pane.wait_exit(SOON), 0);
        pane.screen_with_colours()
    };
    let pager = ("GIT_PAGER", "sed 's/^/paged: /'");
    let screen = show(&[pager]);
    assert!(screen.contains("paged: \u{1b}[32m+after"), "{screen:?}");
    let screen = show(&[pager, ("NO_COLOR", "1")]);
    assert!(screen.contains("paged: +after"), "{screen:?}");
    assert!(!screen.contains("[32m"), "{screen:?}");
    for none in ["cat", "", "no-such-pager"] {
        let screen = show(&[("PAGER", none)]);
        assert!(screen.contains("\u{1b}[32m+after"), "{none}: {screen:?}");
        assert!(!screen.contains("paged"), "{none}: {screen:?}");
    }
    let piped = turn.world.sandbox.run(["show", "1.1"]);
    assert!(piped.expect(0).stdout.ends_with("\n-before\n+after\n"));
}

/// Also by a program that completes the names of files.
#[test]
fn an_argument_that_cannot_be_meant_is_told_without_what_a_terminal_would_do() {
    let turn = Turn::new("one\n");
    let said = turn
        .world
        .sandbox
        .run(["show", "\u{1b}]0;taken\u{7}\u{202e}"]);
    let stderr = said.expect(2).stderr;
    assert!(stderr.contains("⟨U+202E⟩"), "{stderr:?}");
    assert!(!stderr.contains(['\u{1b}', '\u{202e}']), "{stderr:?}");
}

#[test]
fn what_an_agent_has_printed_was_not_shown_to_the_person() {
    let mut turn = Turn::new("one\n");
    let sandbox = &turn.world.sandbox;
    sandbox.run_as_person(["show", "1.1"]).expect(0);
    let pid = std::process::id();
    let started_at = process::started_at(pid).unwrap();
    let agent = AgentProcess { pid, started_at };
    let agent = NotedAgent {
        agent: "claude".to_owned(),
        process: agent,
        login: None,
        session: None,
    };
    turn.world.store.note_agent(&agent).unwrap();
    turn.write("a", "two\n");
    turn.person("show 1.1");
    let sandbox = &turn.world.sandbox;
    let refused = sandbox.run_as_person(["keep", "1.1"]);
    refused.expect_error(1, "changed since you were shown it: 1.1", "again");
    sandbox.run_as_person(["keep", "1.1"]).expect(0);
}

/// Somebody takes these back elsewhere: in a view, or in another terminal.
fn take_back_elsewhere(turn: &Turn, names: &[&str]) {
    let store = &turn.world.store;
    let kept = Kept::read(store, 1).unwrap();
    let names: Vec<_> = names.iter().map(|it| it.parse().unwrap()).collect();
    let mut deciding = Deciding::new(store, &kept);
    let taken_back = |it: Decided| assert_eq!(it.result.unwrap(), "taken back");
    deciding.all(Act::TakeBack, &names, taken_back).unwrap();
}

impl Turn {
    /// That is not undone, and printed; once more, it is.
    #[track_caller]
    fn expect_not_undone_once(&self, line: &str, name: &str) {
        let args: Vec<_> = line.split(' ').collect();
        let refused = self.world.sandbox.run(args);
        let header = format!("# {name} taken back\n");
        assert!(refused.stdout.contains(&header), "{}", refused.stdout);
        let message =
            format!("taken back since you were shown what was: {name}; nothing was undone");
        refused.expect_error(1, &message, "the same command again means that");
        self.person(line);
    }
}

#[test]
fn undo_means_what_the_person_was_told_was_taken_back() {
    let mut turn = Turn::new("one\n");
    turn.write("b", "new\n");
    turn.person("revert 1.1");
    take_back_elsewhere(&turn, &["1.2"]);
    turn.expect_not_undone_once("undo", "1.2");
    assert_eq!(turn.states(), ["taken back", "unseen"]);
    assert!(turn.person("undo").starts_with("1.1 a: "));
}

#[test]
fn a_change_that_was_taken_back_again_is_not_undone_by_its_name() {
    let turn = Turn::new("one\n");
    turn.person("revert 1.1");
    let store = &turn.world.store;
    let kept = Kept::read(store, 1).unwrap();
    let mut deciding = Deciding::new(store, &kept);
    let name = "1.1".parse().unwrap();
    deciding.all(Act::Undo, &[name], drop).unwrap();
    take_back_elsewhere(&turn, &["1.1"]);
    turn.expect_not_undone_once("undo 1.1", "1.1");
    assert_eq!(turn.states(), ["unseen"]);
}

#[test]
fn what_nobody_was_told_is_undone_at_once() {
    let mut turn = Turn::new("one\n");
    turn.write("b", "new\n");
    take_back_elsewhere(&turn, &["1.1", "1.2"]);
    assert!(turn.person("undo 1.1").starts_with("1.1 a: "));
    assert!(turn.person("undo").starts_with("1.2 b: "));
    assert_eq!(turn.states(), ["unseen", "unseen"]);
}
