//! Copilot CLI with a hook in the person's settings: without a terminal, and in one beside a review that it is connected to.

use std::fs;
use std::path::Path;
use std::process::Child;

use pillion_protocol::Dialect;
use pillion_testkit::{ClaudeNpm, Copilot, Home, Model, Tmux, Turn};
use serde_json::json;

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

/// An edit of a file in each encoding: accepted as it is, and after an edit.
#[test]
#[ignore = "needs the real agents and Copilot CLI: cargo xtask test"]
fn copilot_without_a_terminal_writes_what_its_hook_allows_byte_for_byte() {
    let scene = Scene::new(set_up);
    for (mode, (kind, encode)) in MODES.into_iter().cycle().zip(ENCODINGS) {
        if kind.starts_with("utf16") {
            continue;
        }
        let file = scene.home.file(&format!("{kind}.txt"), encode(BEFORE));
        // The first lines, as a text with LF: it would take the mark before them, too.
        scene.script([Turn::replace(&file, "one\ntwo", "eins\nzwei")]);
        let copilot = print(&scene, mode);
        scene.decide(&file, &Decision::Accept);
        let printed = ended(copilot);
        assert!(printed.has_succeeded, "{kind}: {}", printed.output);
        assert_bytes(&file, &encode("eins\nzwei\nthree\n"));

        scene.script([Turn::replace(&file, "zwei", "deux")]);
        let copilot = print(&scene, mode);
        let accepted = encode("uno\ndos\nthree\nquattro\n");
        scene.decide(&file, &Decision::Edit(&accepted));
        scene.wait_told("+dos");
        let printed = ended(copilot);
        assert!(printed.has_succeeded, "{kind}: {}", printed.output);
        assert_bytes(&file, &accepted);
    }
    for (name, text) in [
        ("new.txt", "one\ntwo\n"),
        ("new-crlf.txt", "one\r\ntwo"),
        ("new-bom.txt", "\u{feff}one\r\n"),
    ] {
        let file = scene.home.workspace().join(name);
        scene.script([Turn::write_file(&file, text)]);
        let copilot = print(&scene, &[]);
        let accepted = format!("{text}more\n");
        scene.decide(&file, &Decision::Edit(accepted.as_bytes()));
        let printed = ended(copilot);
        assert!(printed.has_succeeded, "{name}: {}", printed.output);
        assert_bytes(&file, accepted.as_bytes());
    }
}

/// Of an edit, and of a new file; then the turn goes on.
#[test]
#[ignore = "needs the real agents and Copilot CLI: cargo xtask test"]
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

/// The hooks of all calls of an answer run before the first call does.
#[test]
#[ignore = "needs the real agents and Copilot CLI: cargo xtask test"]
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
#[ignore = "needs the real agents and Copilot CLI: cargo xtask test"]
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
#[ignore = "needs the real agents and Copilot CLI: cargo xtask test"]
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
#[ignore = "needs the real agents and Copilot CLI: cargo xtask test"]
fn copilot_without_a_terminal_writes_over_a_newer_text_what_was_accepted() {
    let scene = Scene::new(set_up);
    for (number, (newer, _)) in super::NEWER.iter().enumerate() {
        let start = |scene: &Scene, number: usize| print(scene, MODES[number % MODES.len()]);
        let turns = |file: &Path| vec![Turn::read_file(file), super::edit(file)];
        let (file, accepted) = super::accept_over(&scene, number, turns, start);
        match newer {
            Some(_) => {
                scene.wait_told("has changed since you proposed this");
                assert_bytes(&file, accepted.as_bytes());
            }
            None => {
                scene.wait_told("is empty or deleted by now");
                assert!(!file.exists());
            }
        }
    }
}

/// It says which folder is not there. If the program itself refuses to start, it is denied without a word.
#[test]
#[ignore = "needs the real agents and Copilot CLI: cargo xtask test"]
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

/// A patch of a file in each encoding: accepted as it is, and after an edit.
#[test]
#[ignore = "needs the real agents and Copilot CLI: cargo xtask test"]
fn copilot_without_a_terminal_applies_the_patch_of_what_was_accepted() {
    let scene = Scene::new(set_up);
    for (mode, (kind, encode)) in MODES.into_iter().cycle().zip(ENCODINGS) {
        if kind.starts_with("utf16") {
            continue;
        }
        let name = format!("{kind}.txt");
        let file = scene.home.file(&name, encode(BEFORE));
        // The first line, without the mark that may be before it.
        let patch = format!("*** Update File: {name}\n@@\n-one\n+eins\n two\n");
        scene.script([Turn::patch(&patch)]);
        let copilot = print_with_patches(&scene, mode);
        scene.decide(&file, &Decision::Accept);
        let printed = ended(copilot);
        assert!(printed.has_succeeded, "{kind}: {}", printed.output);
        assert_bytes(&file, &encode("eins\ntwo\nthree\n"));

        let patch = format!("*** Update File: {name}\n@@\n two\n-three\n+trois\n");
        scene.script([Turn::patch(&patch)]);
        let copilot = print_with_patches(&scene, mode);
        let accepted = encode("uno\ntwo\ntres\n");
        scene.decide(&file, &Decision::Edit(&accepted));
        scene.wait_told("+tres");
        let printed = ended(copilot);
        assert!(printed.has_succeeded, "{kind}: {}", printed.output);
        assert_bytes(&file, &accepted);
    }
}

/// Files of one patch that are changed, rejected, added, deleted and moved.
#[test]
#[ignore = "needs the real agents and Copilot CLI: cargo xtask test"]
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
#[ignore = "needs the real agents and Copilot CLI: cargo xtask test"]
fn copilot_applies_no_patch_that_was_rejected_or_cannot_be_expressed() {
    let scene = Scene::new(set_up);
    let file = scene.home.file("a.txt", BEFORE);
    let patch = || Turn::patch("*** Update File: a.txt\n@@\n-two\n+zwei\n");
    for (mode, decision, told) in [
        (
            MODES[0],
            Decision::Reject("in English, please"),
            "and says: in English, please",
        ),
        (MODES[1], Decision::Edit(b"one\ndos\nthree"), "+dos"),
        (MODES[0], Decision::Edit(b"one\r\ntwo\nthree\n"), "a.txt"),
    ] {
        scene.script([patch()]);
        let copilot = print_with_patches(&scene, mode);
        scene.decide(&file, &decision);
        scene.wait_told(told);
        let printed = ended(copilot);
        assert!(
            printed.output.contains("the turn is done"),
            "{}",
            printed.output
        );
        assert_bytes(&file, BEFORE.as_bytes());
    }
    // A command that is no patch in this format is asked about by Copilot CLI, which refuses where it can ask nobody.
    let unclear = Turn::patch("*** Update File: a.txt\n@@\n- two\n+zwei\n");
    scene.script([unclear]);
    ended(print_with_patches(&scene, MODES[0]));
    scene.wait_told("Pillion cannot show this patch");
    assert_bytes(&file, BEFORE.as_bytes());
    companion::wait_none_pending(&scene.home);
}

/// In a terminal, beside a review that it is connected to.
#[test]
#[ignore = "needs the real agents and Copilot CLI: cargo xtask test"]
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
