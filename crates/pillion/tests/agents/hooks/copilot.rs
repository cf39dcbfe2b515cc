//! Copilot CLI with a hook in the person's settings: without a terminal, and in one beside a review that it is connected to.

use std::fs;
use std::path::Path;
use std::process::Child;

use pillion_protocol::Dialect;
use pillion_testkit::{ClaudeNpm, Copilot, Home, Model, Tmux, Turn};
use serde_json::{Value, json};

use super::{BEFORE, Decision, Scene, ended};
use crate::companion::{self, SOON};
use crate::review::Review;
use crate::shared_encodings::{ENCODINGS, assert_bytes};

/// A person who has installed the hook.
pub(super) fn set_up(home: &Home) {
    Copilot::set_up(home, &home.workspace());
    companion::run(home, ["hook", "install", "copilot"]);
}

/// Starts one that prints its answer and ends. It may use its tools without asking, or has nobody to ask.
pub(super) fn print(scene: &Scene, options: &[&str]) -> Child {
    let env = Copilot::env(scene.home.env(), &scene.model);
    let copilot = ClaudeNpm::from_env().copilot_bin().join("copilot");
    let copilot = copilot.display().to_string();
    scene.start(
        &env,
        &[&[copilot.as_str(), "-p", "change it"], options].concat(),
    )
}

/// The same with a model that changes files by patches alone.
fn print_with_patches(scene: &Scene, options: &[&str]) -> Child {
    let mut all = vec!["--model", "gpt-5.5"];
    all.extend(options);
    print(scene, &all)
}

const MODES: [&[&str]; 2] = [&["--allow-all-tools"], &[]];

/// A way to start one.
type Print = fn(&Scene, &[&str]) -> Child;

/// Has a file in each encoding changed twice: accepted as it is, and after an edit. These are the texts then. Then files are written
/// anew, and edited, where it can ask nobody.
fn makes_accepted_changes(
    print: Print,
    changes: impl Fn(&Path) -> [Turn; 2],
    texts: [&str; 2],
    new: &[(&str, &str)],
) {
    for (number, mode) in MODES.into_iter().enumerate() {
        let scene = Scene::new(set_up);
        let files = super::encodings_of(number, MODES.len()).map(|(kind, encode)| {
            let file = scene.home.file(&format!("{kind}.txt"), encode(BEFORE));
            (kind, encode, file)
        });
        let files: Vec<_> = files.collect();
        let new = new.iter().filter(|_| number == 1).map(|(name, text)| {
            let file = scene.home.workspace().join(name);
            (text, file)
        });
        let new: Vec<_> = new.collect();
        let changes = files.iter().flat_map(|(.., file)| changes(file));
        let writes = new.iter();
        let writes = writes.map(|(text, file)| Turn::write_file(file, **text));
        scene.script(changes.chain(writes));
        let copilot = print(&scene, mode);
        for (kind, encode, file) in &files {
            scene.decide(file, &Decision::Accept);
            // It proposes the next change once it has made this one.
            let next = companion::wait_pending(&scene.home, file);
            assert_bytes(file, &encode(texts[0]));
            let accepted = encode(&texts[1].replace("tres", &format!("tres {kind}")));
            scene.decide_about(&next.name, &Decision::Edit(&accepted));
            scene.wait_told(&format!("+tres {kind}"));
            assert_bytes(file, &accepted);
        }
        for (text, file) in &new {
            let accepted = format!("{text}more\n");
            scene.decide(file, &Decision::Edit(accepted.as_bytes()));
        }
        let printed = ended(copilot);
        assert!(printed.has_succeeded, "{}", printed.output);
        for (text, file) in &new {
            assert_bytes(file, format!("{text}more\n").as_bytes());
        }
    }
}

/// An edit of a file in each encoding, and new files.
#[test]
#[ignore = "needs the real agents and Copilot CLI: cargo xtask test"]
fn copilot_without_a_terminal_writes_what_its_hook_allows_byte_for_byte() {
    let new = [
        ("new.txt", "one\ntwo\n"),
        ("new-crlf.txt", "one\r\ntwo"),
        ("new-bom.txt", "\u{feff}one\r\n"),
    ];
    // The first lines, as a text with LF: it would take the mark before them, too.
    let changes = |file: &Path| {
        [
            Turn::replace(file, "one\ntwo", "eins\nzwei"),
            Turn::replace(file, "zwei", "deux"),
        ]
    };
    let texts = ["eins\nzwei\nthree\n", "uno\ntres\nthree\nquattro\n"];
    makes_accepted_changes(print, changes, texts, &new);
}

/// Of an edit, and of a new file; then the turn goes on.
#[test]
#[ignore = "in --all: needs the real agents and Copilot CLI: cargo xtask test --all"]
fn copilot_without_a_terminal_hears_why_a_change_is_rejected() {
    let scene = Scene::new(set_up);
    for mode in MODES {
        let file = scene.home.file("old.txt", BEFORE);
        let new = scene.home.workspace().join("new.txt");
        scene.script([
            Turn::replace(&file, "two", "zwei"),
            Turn::write_file(&new, "new\n"),
        ]);
        let copilot = print(&scene, mode);
        scene.decide(&file, &Decision::Reject("in English, please"));
        scene.wait_told("Denied by preToolUse hook: ");
        scene.wait_told("and says: in English, please");
        scene.decide(&new, &Decision::Reject("there is one already"));
        scene.wait_told("and says: there is one already");
        let printed = ended(copilot);
        assert!(
            printed.output.contains("the turn is done"),
            "{}",
            printed.output
        );
        assert_bytes(&file, BEFORE.as_bytes());
        assert!(!new.exists());
    }
}

/// A project's hooks for Claude Code, which it runs, too; this person has none of their own.
fn set_up_claudes(home: &Home) {
    Copilot::set_up(home, &home.workspace());
    let settings = super::settings(Dialect::ClaudeCode, "", json!({}));
    home.file(".claude/settings.json", settings.to_string());
}

/// Of a project's hooks for Claude Code, it makes its own: an edit, a new file, and a patch are shown, decided and recorded as
/// Copilot CLI's, and so are its turns.
#[test]
#[ignore = "needs the real agents and Copilot CLI: cargo xtask test"]
fn copilot_that_runs_claude_codes_hooks_is_asked_about_and_recorded_as_itself() {
    let scene = Scene::new(set_up_claudes);
    let [edited, rejected, patched] =
        ["edited.txt", "rejected.txt", "patched.txt"].map(|name| scene.home.file(name, BEFORE));
    let new = scene.home.workspace().join("new.txt");
    let run = json!({"command": "echo run > run.txt", "description": "x"});
    scene.script([
        Turn::replace(&edited, "two", "zwei"),
        Turn::replace(&rejected, "two", "zwei"),
        Turn::write_file(&new, "new\n"),
        Turn::CallTool {
            name: "bash",
            input: run,
        },
    ]);
    let copilot = print(&scene, MODES[0]);
    scene.decide(&edited, &Decision::Edit(b"one\ndos\nthree\n"));
    scene.decide(&rejected, &Decision::Reject("in English, please"));
    scene.wait_told("and says: in English, please");
    scene.decide(&new, &Decision::Accept);
    ended(copilot).expect_done("decided");
    scene.script([Turn::patch(
        "*** Update File: patched.txt\n@@\n-two\n+zwei\n",
    )]);
    let copilot = print_with_patches(&scene, MODES[0]);
    scene.decide(&patched, &Decision::Accept);
    ended(copilot).expect_done("patched");
    assert_bytes(&edited, b"one\ndos\nthree\n");
    assert_bytes(&rejected, BEFORE.as_bytes());
    assert_bytes(&new, b"new\n");
    assert_bytes(&patched, b"one\nzwei\nthree\n");
    let turns = companion::wait_until("two turns that have ended", || {
        let turns = companion::run(&scene.home, ["turns", "--json"]);
        let turns: Vec<Value> = serde_json::from_slice(&turns).expect("it is JSON");
        let have_ended = turns.iter().all(|turn| turn["ended"].is_u64());
        (have_ended && turns.len() == 2).then_some(turns)
    });
    for turn in turns {
        assert_eq!(
            (&turn["agent"], &turn["prompt"]),
            (&"copilot".into(), &"change it".into())
        );
    }
    let changes = companion::run(&scene.home, ["changes", "--all", "--json"]);
    let changes = String::from_utf8(changes).expect("it is text");
    assert!(
        changes.contains("run.txt") && !changes.contains("unclear"),
        "{changes}"
    );
}

/// With its own hooks as well, each change is shown once.
#[test]
#[ignore = "in --all: needs the real agents and Copilot CLI: cargo xtask test --all"]
fn copilot_with_its_own_hooks_and_claude_codes_is_asked_about_once() {
    let scene = Scene::new(|home| {
        set_up_claudes(home);
        companion::run(home, ["hook", "install", "copilot"]);
    });
    let file = scene.home.file("a.txt", BEFORE);
    scene.script([super::edit(&file)]);
    let copilot = print(&scene, MODES[0]);
    scene.decide(&file, &Decision::Accept);
    ended(copilot).expect_done("accepted");
    assert_bytes(&file, b"one\nzwei\nthree\n");
    let log = companion::run(&scene.home, ["log", "--json"]);
    let log: Vec<Value> = serde_json::from_slice(&log).expect("it is JSON");
    assert_eq!(log.len(), 1, "{log:#?}");
}

/// In a terminal beside a review that it is connected to: without a box with the call in it, in which it would ask what to do.
#[test]
#[ignore = "in --all: needs the real agents and Copilot CLI: cargo xtask test --all"]
fn copilot_in_a_terminal_that_runs_claude_codes_hooks_shows_its_changes_as_its_own() {
    let home = Home::new();
    set_up_claudes(&home);
    let (tmux, model) = (Tmux::start(), Model::start());
    let review = Review::start(&tmux, &home);
    let copilot = Copilot::start(&tmux, &home, &model, &home.workspace());
    review.pane().wait_for("● Copilot CLI", SOON);
    let file = home.file("a.txt", BEFORE);
    model.script([super::edit(&file), Turn::say("zwei is done")]);
    copilot.prompt("change it");
    review.pane().wait_for("Copilot CLI proposes a.txt", SOON);
    let screen = copilot.pane().screen();
    assert!(!screen.contains("Hook permission request"), "{screen}");
    review.accept("a.txt");
    // A project's hooks for Claude Code name its question, too: it asks all the same, and is answered.
    copilot.wait_for("zwei is done");
    assert_bytes(&file, b"one\nzwei\nthree\n");
    review.wait_idle();
    let log = companion::run(&home, ["log", "--json"]);
    let log: Vec<Value> = serde_json::from_slice(&log).expect("it is JSON");
    assert_eq!(log.len(), 1, "{log:#?}");
}

/// The same of two changes of a file in one answer, about each of which it asks itself when it makes it.
#[test]
#[ignore = "in --all: needs the real agents and Copilot CLI: cargo xtask test --all"]
fn copilot_in_a_terminal_that_runs_claude_codes_hooks_shows_both_changes_of_a_file_once() {
    let home = Home::new();
    set_up_claudes(&home);
    // Before there is an agent that may have made it.
    let file = home.file("both.txt", BEFORE);
    let (tmux, model) = (Tmux::start(), Model::start());
    let review = Review::start(&tmux, &home);
    let copilot = Copilot::start(&tmux, &home, &model, &home.workspace());
    review.pane().wait_for("● Copilot CLI", SOON);
    let edits = [("one", "eins"), ("three", "drei")];
    let edits = edits.map(|(old, new)| Turn::replace(&file, old, new));
    model.script([Turn::at_once(edits), Turn::say("both are done")]);
    copilot.prompt("change it");
    for _ in 0..2 {
        let pending = companion::wait_pending(&home, &file);
        companion::accept(&home, &pending.name, None);
    }
    copilot.wait_for("both are done");
    super::assert_both_are_written(&home, &file);
}

/// Of a file, too.
#[test]
#[ignore = "needs the real agents and Copilot CLI: cargo xtask test"]
fn copilot_makes_both_changes_of_a_file_in_one_answer() {
    let scene = Scene::new(set_up);
    super::makes_both_changes_of_a_file(&scene, || print(&scene, &["--allow-all-tools"]));
}

/// The person saves the file between two changes of an answer: the first is made as it was accepted, and the second anew, over both.
#[test]
#[ignore = "needs the real agents and Copilot CLI: cargo xtask test"]
fn copilot_makes_a_change_anew_that_was_accepted_over_less_than_the_file_has() {
    let scene = Scene::new(set_up);
    let file = scene.home.file("both.txt", "one\ntwo\nthree\nfour\nfive\n");
    let edits = [("one", "eins"), ("three", "drei")];
    let edits = edits.map(|(old, new)| Turn::replace(&file, old, new));
    let again = edits[1].clone();
    scene.script([Turn::at_once(edits), again]);
    let copilot = print(&scene, &["--allow-all-tools"]);
    scene.decide(&file, &Decision::Accept);
    let second = companion::wait_pending(&scene.home, &file);
    fs::write(&file, "one\ntwo\nthree\nfour\nmine\n").expect("it is ours");
    let accept = ["accept", &second.name, "--despite-change"];
    companion::run(&scene.home, accept);
    scene.wait_told("changed again after it was accepted");
    let third = companion::wait_pending(&scene.home, &file);
    let text = "eins\ntwo\ndrei\nfour\nmine\n";
    assert_eq!(companion::proposed(&scene.home, &third.name), text);
    scene.decide_about(&third.name, &Decision::Accept);
    ended(copilot).expect_done("both");
    assert_bytes(&file, text.as_bytes());
    let log = companion::wait_until("all to be known", || {
        let log = companion::run(&scene.home, ["log", "--json"]);
        let log: Vec<Value> = serde_json::from_slice(&log).expect("it is JSON");
        log.iter().all(|it| !it["outcome"].is_null()).then_some(log)
    });
    let outcomes: Vec<_> = log
        .iter()
        .map(|it| it["outcome"].as_str().expect("known"))
        .collect();
    // The newest is the first. The first change is written over what the person has saved meanwhile.
    let expected = ["written", "not written", "written differently"];
    assert_eq!(outcomes, expected, "{log:#?}");
}

/// The hooks of all calls of an answer run before the first call does.
#[test]
#[ignore = "in --all: needs the real agents and Copilot CLI: cargo xtask test --all"]
fn copilot_makes_those_changes_of_an_answer_that_were_accepted() {
    let scene = Scene::new(set_up);
    let files = ["a.txt", "b.txt", "c.txt"].map(|name| scene.home.file(name, BEFORE));
    let edits = files.iter().map(|file| Turn::replace(file, "two", "zwei"));
    scene.script([Turn::at_once(edits)]);
    let copilot = print(&scene, &["--allow-all-tools"]);
    scene.decide(&files[0], &Decision::Accept);
    scene.decide(&files[1], &Decision::Reject("not this one"));
    scene.decide(&files[2], &Decision::Edit(b"one\ndrei\nthree\n"));
    scene.wait_told("and says: not this one");
    let printed = ended(copilot);
    assert!(printed.has_succeeded, "{}", printed.output);
    for (file, text) in files
        .iter()
        .zip(["one\nzwei\nthree\n", BEFORE, "one\ndrei\nthree\n"])
    {
        assert_bytes(file, text.as_bytes());
    }
}

/// Copilot CLI asks about what is not shown, and refuses where it can ask nobody.
#[test]
#[ignore = "in --all: needs the real agents and Copilot CLI: cargo xtask test --all"]
fn copilot_without_a_terminal_is_refused_what_cannot_be_shown() {
    let scene = Scene::new(set_up);
    let (_, encode) = ENCODINGS[5];
    let file = scene.home.file("utf16.txt", encode(BEFORE));
    scene.script([Turn::replace(&file, "two", "zwei")]);
    let printed = ended(print(&scene, &["--allow-all-tools"]));
    scene.wait_told("is not in UTF-8");
    assert!(
        printed.output.contains("the turn is done"),
        "{}",
        printed.output
    );
    assert_bytes(&file, &encode(BEFORE));
    companion::wait_none_pending(&scene.home);
}

/// It is connected to the review, too, and would open a diff of each change that it asks about.
#[test]
#[ignore = "in --all: needs the real agents and Copilot CLI: cargo xtask test --all"]
fn copilot_with_a_hook_and_a_review_shows_each_change_once() {
    let home = Home::new();
    set_up(&home);
    let (tmux, model) = (Tmux::start(), Model::start());
    let review = Review::start(&tmux, &home);
    let copilot = Copilot::start(&tmux, &home, &model, &home.workspace());
    review.pane().wait_for("● Copilot CLI", SOON);
    let file = home.file("a.txt", BEFORE);
    let propose = |turn: Turn, text: &str| {
        model.clear();
        model.script([turn, Turn::say(format!("{text} is done"))]);
        copilot.prompt("change it");
        review.pane().wait_for("proposes a.txt", SOON);
        review.pane().wait_for(text, SOON);
    };
    let done = |text: &str, expected: &str| {
        // It asks nothing in between.
        copilot.wait_for(&format!("{text} is done"));
        assert_bytes(&file, expected.as_bytes());
        review.wait_idle();
        copilot.wait_ready();
    };
    propose(Turn::replace(&file, "two", "zwei"), "zwei");
    review.accept("a.txt");
    done("zwei", "one\nzwei\nthree\n");

    // Of two hunks, the first is taken out.
    let lines =
        |second: &str, last: &str| format!("one\n{second}\n{}{last}\n", "three\n".repeat(20));
    fs::write(&file, lines("zwei", "end")).expect("the workspace is ours");
    let edit = Turn::replace(&file, lines("zwei", "end"), lines("deux", "fin"));
    propose(edit, "deux");
    review.take_hunk_out();
    review.accept("a.txt");
    done("deux", &lines("zwei", "fin"));

    propose(Turn::replace(&file, "one", "eins"), "eins");
    review.reject_because("a.txt", "Use digits.");
    copilot.wait_for("eins is done");
    let told = "and says: Use digits.";
    model.wait_for(told, SOON, |request| {
        request.is_main && request.mentions(told)
    });
    let before = fs::read(&file).expect("it is there");
    assert!(before.starts_with(b"one\n"));
    review.wait_idle();
    copilot.wait_ready();
}

/// An edit that leads from the text that is there now is made, and none of a file that is not there.
#[test]
#[ignore = "in --all: needs the real agents and Copilot CLI: cargo xtask test --all"]
fn copilot_without_a_terminal_writes_over_a_newer_text_what_was_accepted() {
    let scene = Scene::new(set_up);
    let turns = |file: &Path, _| vec![Turn::read_file(file), super::edit(file)];
    let files = super::accept_over(&scene, turns, |scene| print(scene, MODES[0]));
    scene.wait_told_times("has changed since you proposed this", 2);
    scene.wait_told("is empty or deleted by now");
    for ((file, accepted), (newer, _)) in files.iter().zip(super::NEWER) {
        match newer {
            Some(_) => assert_bytes(file, accepted.as_bytes()),
            None => assert!(!file.exists()),
        }
    }
}

/// It says which folder is not there. If the program itself refuses to start, it is denied without a word.
#[test]
#[ignore = "in --all: needs the real agents and Copilot CLI: cargo xtask test --all"]
fn copilot_without_a_terminal_makes_no_change_if_its_hook_is_wrong() {
    for (option, told) in [
        ("--workspace /nowhere", "the folder /nowhere does not exist"),
        ("--port 0", "hook exited with code 2"),
        ("--unknown", "hook exited with code 2"),
    ] {
        let scene = Scene::new(|home| {
            Copilot::set_up(home, &home.workspace());
            let file = home.home().join(".copilot/settings.json");
            let own = fs::read(&file).map_or(Ok(json!({})), |own| serde_json::from_slice(&own));
            let own = own.expect("they are ours");
            let settings = super::settings(Dialect::CopilotCli, option, own);
            fs::write(&file, settings.to_string()).expect("the home is ours");
        });
        let file = scene.home.file("a.txt", BEFORE);
        scene.script([Turn::replace(&file, "two", "zwei")]);
        let printed = ended(print(&scene, &["--allow-all-tools"]));
        scene.wait_told(told);
        assert!(
            printed.output.contains("the turn is done"),
            "{}",
            printed.output
        );
        assert_bytes(&file, BEFORE.as_bytes());
    }
}

/// A patch of a file in each encoding.
#[test]
#[ignore = "in --all: needs the real agents and Copilot CLI: cargo xtask test --all"]
fn copilot_without_a_terminal_applies_the_patch_of_what_was_accepted() {
    // The first line, without the mark that may be before it.
    let changes = |file: &Path| {
        let name = file.file_name().expect("it has a name").display();
        ["-one\n+eins\n two\n", " two\n-three\n+trois\n"]
            .map(|lines| Turn::patch(&format!("*** Update File: {name}\n@@\n{lines}")))
    };
    let texts = ["eins\ntwo\nthree\n", "uno\ntwo\ntres\n"];
    makes_accepted_changes(print_with_patches, changes, texts, &[]);
}

/// Files of one patch that are changed, rejected, added, deleted and moved.
#[test]
#[ignore = "in --all: needs the real agents and Copilot CLI: cargo xtask test --all"]
fn copilot_applies_those_files_of_a_patch_that_were_accepted() {
    let scene = Scene::new(set_up);
    for mode in MODES {
        let [a, b, gone, from] =
            ["a.txt", "b.txt", "gone.txt", "from.txt"].map(|name| scene.home.file(name, BEFORE));
        let [to, new] = ["to.txt", "new.txt"].map(|name| scene.home.workspace().join(name));
        let update = "@@\n-two\n+zwei\n";
        scene.script([Turn::patch(&format!(
            "*** Update File: a.txt\n{update}*** Update File: b.txt\n{update}*** Add File: new.txt\n+new\n\
             *** Delete File: gone.txt\n*** Update File: from.txt\n*** Move to: to.txt\n{update}"
        ))]);
        let copilot = print_with_patches(&scene, mode);
        scene.decide_all(&[
            (&a, Decision::Edit(b"one\ndrei\nthree\n")),
            (&b, Decision::Reject("not this one")),
            (&new, Decision::Accept),
            (&gone, Decision::Accept),
            (&from, Decision::Accept),
            (&to, Decision::Accept),
        ]);
        scene.wait_told("and says: not this one");
        let printed = ended(copilot);
        assert!(printed.has_succeeded, "{}", printed.output);
        for (file, text) in [
            (&a, "one\ndrei\nthree\n"),
            (&b, BEFORE),
            (&new, "new\n"),
            (&to, "one\nzwei\nthree\n"),
        ] {
            assert_bytes(file, text.as_bytes());
        }
        assert!(!gone.exists() && !from.exists());
        for file in [&new, &to] {
            fs::remove_file(file).expect("the workspace is ours");
        }
    }
}

/// The model hears why, and the turn goes on. A change that no patch can express is denied with the diff that is wanted.
#[test]
#[ignore = "in --all: needs the real agents and Copilot CLI: cargo xtask test --all"]
fn copilot_applies_no_patch_that_was_rejected_or_cannot_be_expressed() {
    for mode in MODES {
        let scene = Scene::new(set_up);
        let decisions = [
            (
                Decision::Reject("in English, please"),
                "and says: in English, please",
            ),
            (Decision::Edit(b"one\ndos\nthree"), "+dos"),
            (Decision::Edit(b"one\r\ntwo\nthree\n"), "c.txt"),
        ];
        let names = ["a.txt", "b.txt", "c.txt"];
        let files = names.map(|name| scene.home.file(name, BEFORE));
        let unclear = scene.home.file("unclear.txt", BEFORE);
        let patches =
            names.map(|name| Turn::patch(&format!("*** Update File: {name}\n@@\n-two\n+zwei\n")));
        // A command that is no patch in this format is asked about by Copilot CLI, which refuses where it can ask nobody.
        let last = Turn::patch("*** Update File: unclear.txt\n@@\n- two\n+zwei\n");
        scene.script(patches.into_iter().chain([last]));
        let copilot = print_with_patches(&scene, mode);
        for (file, (decision, told)) in files.iter().zip(&decisions) {
            scene.decide(file, decision);
            scene.wait_told(told);
        }
        scene.wait_told("Pillion cannot show this patch");
        let printed = ended(copilot);
        let output = &printed.output;
        assert!(output.contains("the turn is done"), "{output}");
        for file in files.iter().chain([&unclear]) {
            assert_bytes(file, BEFORE.as_bytes());
        }
        companion::wait_none_pending(&scene.home);
    }
}

/// In a terminal, beside a review that it is connected to.
#[test]
#[ignore = "in --all: needs the real agents and Copilot CLI: cargo xtask test --all"]
fn copilot_with_a_hook_and_a_review_shows_a_patch_once() {
    let home = Home::new();
    set_up(&home);
    let (tmux, model) = (Tmux::start(), Model::start());
    let review = Review::start(&tmux, &home);
    let command = ["copilot", "--model", "gpt-5.5"];
    let copilot = Copilot::start_by(&tmux, &home, &model, &home.workspace(), &command);
    review.pane().wait_for("● Copilot CLI", SOON);
    let [a, b] = ["a.txt", "b.txt"].map(|name| home.file(name, BEFORE));
    model.script([
        Turn::patch(
            "*** Update File: a.txt\n@@\n-two\n+zwei\n*** Update File: b.txt\n@@\n-two\n+deux\n",
        ),
        Turn::say("both are done"),
    ]);
    copilot.prompt("change it");
    for name in ["a.txt", "b.txt"] {
        review.pane().wait_for(&format!("proposes {name}"), SOON);
        review.accept(name);
    }
    // It asks nothing in between.
    copilot.wait_for("both are done");
    assert_bytes(&a, b"one\nzwei\nthree\n");
    assert_bytes(&b, b"one\ndeux\nthree\n");
    review.wait_idle();
}
