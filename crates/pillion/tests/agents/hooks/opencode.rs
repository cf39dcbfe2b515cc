//! opencode with Pillion's plugin: without a terminal, and in one beside a review that it is connected to.

use std::fs;
use std::process::Child;

use pillion_testkit::{
    Env, HEADLESS_PROMPT, Home, Model, OPENCODE_PATCHER, Opencode, Tmux, Turn, set_up_claude,
};

use super::{BEFORE, Decision, Scene, ended};
use crate::companion::{self, SOON};
use crate::opencode::{is_told_what_is_selected, look_at};
use crate::review::Review;
use crate::shared_encodings::{ENCODINGS, assert_bytes};

/// A person who has installed the plugin.
fn install(home: &Home) {
    companion::run(home, ["hook", "install", "opencode"]);
}

pub(super) fn scene() -> Scene {
    Scene::new(install)
}

/// Starts one that prints its answer and ends.
pub(super) fn print(scene: &Scene, _: usize) -> Child {
    print_with(scene, "fake")
}

/// The same with a model that changes files by patches alone.
fn print_with_patches(scene: &Scene, _: usize) -> Child {
    print_with(scene, OPENCODE_PATCHER)
}

fn print_with(scene: &Scene, model: &str) -> Child {
    Opencode::set_up(&scene.home, &scene.model);
    let command = Opencode::print(model, HEADLESS_PROMPT);
    let command: Vec<&str> = command.iter().map(String::as_str).collect();
    scene.start(&Opencode::env(scene.home.env()), &command)
}

/// A text in each encoding, edited; new files, also an empty one; and files that are overwritten.
#[test]
#[ignore = "in --all: needs the real agents and opencode: cargo xtask test --all"]
fn opencode_writes_what_its_plugin_allows_byte_for_byte() {
    let scene = scene();
    super::makes_accepted_changes(&scene, 1, print);
    let empty = scene.home.workspace().join("empty.txt");
    scene.script([Turn::write_file(&empty, "")]);
    let agent = print(&scene, 0);
    let pending = companion::wait_pending(&scene.home, &empty);
    let accept = ["accept", &pending.name, "--because", "and the tests?"];
    companion::run(&scene.home, accept);
    scene.wait_told("and says: and the tests?");
    ended(agent).expect_done("empty");
    assert_bytes(&empty, b"");
}

/// opencode makes the calls of an answer at once: those that change one file are shown one after the other, each with what was accepted
/// before, also after one that is rejected.
#[test]
#[ignore = "needs the real agents and opencode: cargo xtask test"]
fn opencode_keeps_each_of_several_changes_of_a_file_in_an_answer() {
    let scene = scene();
    let file = scene.home.workspace().join("new.txt");
    scene.script([Turn::at_once([
        Turn::write_file(&file, BEFORE),
        Turn::replace(&file, "one", "eins"),
        Turn::replace(&file, "two", "no"),
        Turn::replace(&file, "three", "drei"),
    ])]);
    let agent = print(&scene, 0);
    let decisions = [
        Decision::Accept,
        Decision::Edit(b"uno\ntwo\nthree\n"),
        Decision::Reject("why?"),
        Decision::Accept,
    ];
    let texts = [
        BEFORE,
        "uno\ntwo\nthree\n",
        "uno\ntwo\nthree\n",
        "uno\ntwo\ndrei\n",
    ];
    for (number, (decision, text)) in decisions.iter().zip(texts).enumerate() {
        let pending = companion::wait_pending(&scene.home, &file);
        assert_eq!(companion::pending(&scene.home).len(), 1, "{number}");
        scene.decide_about(&pending.name, decision);
        match decision {
            Decision::Reject(_) => {}
            _ => companion::wait_until("what was accepted", || {
                (fs::read(&file).ok()? == text.as_bytes()).then_some(())
            }),
        }
    }
    ended(agent).expect_done("all of them");
    assert_bytes(&file, texts[3].as_bytes());
    let unseen = companion::run(&scene.home, ["changes", "--json"]);
    assert_eq!(String::from_utf8_lossy(&unseen).trim(), "[]");
}

#[test]
#[ignore = "in --all: needs the real agents and opencode: cargo xtask test --all"]
fn opencode_hears_why_its_changes_are_rejected() {
    super::hears_why_changes_are_rejected(&scene(), 1, print);
}

/// It cannot ask about what is not shown, so that is refused. It would damage a text that is not in UTF-8.
#[test]
#[ignore = "in --all: needs the real agents and opencode: cargo xtask test --all"]
fn opencode_is_refused_what_cannot_be_shown_and_what_cannot_work() {
    let scene = scene();
    let (_, encode) = ENCODINGS[5];
    let [latin, utf16, text] = [
        ("latin.txt", b"one\xe9\ntwo\n".to_vec()),
        ("utf16.txt", encode(BEFORE)),
        ("text.txt", BEFORE.into()),
    ]
    .map(|(name, bytes)| (scene.home.file(name, &bytes), bytes));
    scene.script([
        Turn::replace(&latin.0, "two", "zwei"),
        Turn::replace(&utf16.0, "two", "zwei"),
        Turn::replace(&text.0, "  two  ", "zwei"),
    ]);
    ended(print(&scene, 0)).expect_done("refused");
    scene.wait_told_times("is not in UTF-8", 2);
    scene.wait_told("the text to replace is not in the file, at least not exactly");
    for (file, bytes) in [latin, utf16, text] {
        assert_bytes(&file, &bytes);
    }
    companion::wait_none_pending(&scene.home);
}

/// The set of a patch's files: one is edited, one rejected, one deleted, one new, in texts with LF and with CRLF.
#[test]
#[ignore = "in --all: needs the real agents and opencode: cargo xtask test --all"]
fn opencode_applies_what_was_accepted_of_a_patch() {
    let scene = scene();
    let crlf = BEFORE.replace('\n', "\r\n");
    let [a, b, gone] = [("a.txt", BEFORE), ("b.txt", &crlf), ("gone.txt", BEFORE)]
        .map(|(name, text)| scene.home.file(name, text));
    let [c, new] = ["c.txt", "new.txt"].map(|name| scene.home.workspace().join(name));
    fs::write(&c, "\u{feff}one\ntwo").expect("the workspace is ours");
    scene.script([Turn::patch(
        "*** Update File: a.txt\n@@\n-two\n+zwei\n*** Update File: b.txt\n@@\n-two\n+zwei\n*** Delete File: gone.txt\n\
         *** Update File: c.txt\n@@\n-one\n+eins\n*** Add File: new.txt\n+new\n",
    )]);
    let agent = print_with_patches(&scene, 0);
    let edited = crlf.replace("two", "deux");
    scene.decide_all(&[
        (&a, Decision::Reject("not this one")),
        (&b, Decision::Edit(edited.as_bytes())),
        (&gone, Decision::Accept),
        (&c, Decision::Accept),
        (&new, Decision::Edit(b"new\r\n\n")),
    ]);
    scene.wait_told_both("and says: not this one", "+deux");
    ended(agent).expect_done("patched");
    assert_bytes(&a, BEFORE.as_bytes());
    assert_bytes(&b, edited.as_bytes());
    assert!(!gone.exists());
    assert_bytes(&c, "\u{feff}eins\ntwo\n".as_bytes());
    assert_bytes(&new, b"new\r\n\n");
}

/// In a terminal, beside a review. A subagent works in a session of its own, and belongs to the turn of the person's. What the
/// person stops is not written, whatever is decided later; the next prompt begins anew.
#[test]
#[ignore = "needs the real agents and opencode: cargo xtask test"]
fn opencode_in_a_terminal_shows_each_change_once_and_takes_it_away_if_it_is_stopped() {
    let home = Home::new();
    install(&home);
    set_up_claude(&home, &home.workspace());
    let (tmux, model) = (Tmux::start(), Model::start());
    let looked_at = look_at(&home);
    let review = Review::start(&tmux, &home);
    let opencode = Opencode::start(&tmux, &home, &model, &home.workspace(), &Env::default());
    review.pane().wait_for("● opencode", SOON);
    let file = home.file("a.txt", BEFORE);
    let propose = |turn: Turn, text: &str| {
        model.clear();
        model.script([turn, Turn::say(format!("{text} is done"))]);
        opencode.prompt(&format!("prompt {text}"));
        review.pane().wait_for("proposes a.txt", SOON);
        review.pane().wait_for(text, SOON);
    };
    let lines =
        |second: &str, last: &str| format!("one\n{second}\n{}{last}\n", "three\n".repeat(20));
    fs::write(&file, lines("two", "end")).expect("the workspace is ours");
    // Of two hunks, the first is taken out.
    let edit = Turn::replace(&file, lines("two", "end"), lines("deux", "fin"));
    propose(edit, "deux");
    review.take_hunk_out();
    review.accept("a.txt");
    opencode.wait_for("deux is done");
    assert_bytes(&file, lines("two", "fin").as_bytes());
    review.wait_idle();

    model.script_subagent([Turn::replace(&file, "one", "eins"), Turn::say("it is told")]);
    propose(Turn::opencode_subagent(), "eins");
    review.reject_because("a.txt", "Use digits.");
    opencode.wait_for("eins is done");
    let told = "and says: Use digits.";
    model.wait_for(told, SOON, |request| {
        request.is_subagents() && request.mentions(told)
    });
    review.wait_idle();

    propose(Turn::replace(&file, "two", "zwei"), "zwei");
    super::stop_while_its_hook_waits(&home, &file, || {
        opencode.pane().send_keys(["Escape"]);
        opencode.wait_for("again to interrupt");
        opencode.pane().send_keys(["Escape"]);
    });
    review.wait_idle();

    propose(Turn::replace(&file, "two", "drei"), "drei");
    review.accept("a.txt");
    opencode.wait_for("drei is done");
    assert_bytes(&file, lines("drei", "fin").as_bytes());
    // Nothing came of the one that was stopped.
    assert_eq!(
        prompts(&home),
        ["prompt deux", "prompt eins", "prompt drei"]
    );
    review.wait_idle();
    model.clear();
    is_told_what_is_selected(&home, &model, &review, &opencode, &looked_at);
}

/// The prompts of all turns of which something came, the first one first.
fn prompts(home: &Home) -> Vec<String> {
    let turns = companion::run(home, ["turns", "--json"]);
    let turns: Vec<serde_json::Value> = serde_json::from_slice(&turns).expect("it is JSON");
    let prompt = |turn: &serde_json::Value| turn["prompt"].as_str().unwrap_or_default().to_owned();
    turns.iter().map(prompt).collect()
}

/// As the hooks of others: opencode goes on.
#[test]
#[ignore = "in --all: needs the real agents and opencode: cargo xtask test --all"]
fn opencode_goes_on_where_its_plugin_cannot_start_pillion() {
    let scene = scene();
    let plugin = scene.home.home().join(".config/opencode/plugin/pillion.js");
    let text = fs::read_to_string(&plugin).expect("it is installed");
    for program in ["/nowhere/pillion", "/bin/false"] {
        let broken = text.replace(companion::PILLION, program);
        assert_ne!(broken, text);
        fs::write(&plugin, broken).expect("the home is ours");
        let file = scene.home.file("a.txt", BEFORE);
        scene.script([super::edit(&file)]);
        ended(print(&scene, 0)).expect_done(program);
        assert_bytes(&file, BEFORE.replace("two", "zwei").as_bytes());
    }
}

/// An edit that leads from the text that is there now is made, and so is a whole file.
#[test]
#[ignore = "in --all: needs the real agents and opencode: cargo xtask test --all"]
fn opencode_writes_over_a_newer_text_what_was_accepted() {
    super::writes_over_a_newer_text(&scene(), super::edit, |scene| print(scene, 0));
    super::writes_over_a_newer_text(&scene(), super::whole, |scene| print(scene, 0));
}
