//! Changes that are accepted and yet not written: the review says so before.

use std::fs;

use pillion_testkit::{ClaudeRelease, Turn};

use super::run::run_in;
use super::{Scene, read};
use crate::companion::{self, SOON};

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_empties_a_file_but_makes_no_empty_one_and_writes_over_no_newer_text() {
    leaves_alone_what_it_is_said_to(ClaudeRelease::Native);
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_on_node_empties_a_file_but_makes_no_empty_one_and_writes_over_no_newer_text() {
    leaves_alone_what_it_is_said_to(ClaudeRelease::Node);
}

fn leaves_alone_what_it_is_said_to(release: ClaudeRelease) {
    let scene = Scene::new(release);
    leaves_a_file_alone_that_changed(&scene);
    takes_an_empty_new_file_for_a_rejection(&scene);
}

fn takes_an_empty_new_file_for_a_rejection(scene: &Scene) {
    let full = scene.home.file("full.txt", "one\ntwo\n");
    let empty = Turn::write_file(&full, "");
    let turns = [Turn::read_file(&full), empty];
    scene.propose(turns, "full.txt is done", "full.txt");
    scene.review.accept("full.txt");
    scene.claude.wait_for("full.txt is done");
    assert_eq!(read(&full), "");
    scene.review.wait_idle();

    let path = scene.propose_new("empty.txt", "");
    let pending = companion::wait_pending(&scene.home, &path);
    let accept = companion::command(&scene.home, ["accept", &pending.name]).output();
    let accept = accept.expect("the command under test runs");
    let said = String::from_utf8_lossy(&accept.stderr);
    assert!(said.contains("treats this as a rejection"), "{said}");
    let review = &scene.review;
    review.press("a", "and changes nothing");
    assert!(scene.claude.asks(), "nothing is decided yet");
    review.confirm("empty.txt: the agent treats this as a rejection");
    scene.claude.wait_answered();
    scene.claude.wait_ready();
    scene.review.wait_idle();
    assert!(!path.exists());
}

/// It compares the file with what it has read, and sends that to its model.
fn leaves_a_file_alone_that_changed(scene: &Scene) {
    const FILE: &str = "changed.txt";
    let path = scene.home.file(FILE, "one\ntwo\nthree\n");
    let turns = [
        Turn::read_file(&path),
        Turn::replace(&path, "three", "drei"),
    ];
    scene.propose(turns, "the turn is over", FILE);
    fs::write(&path, "eins\ntwo\nthree\n").expect("the workspace is ours");
    let review = &scene.review;
    review
        .pane()
        .wait_for("changed on disk since this diff opened", SOON);
    review.press("a", "may refuse to write");
    assert!(scene.claude.asks(), "nothing is decided yet");
    review.confirm(&format!("accepted {FILE}"));
    scene.claude.wait_for("the turn is over");
    assert_eq!(read(&path), "eins\ntwo\nthree\n");
    scene.wait_asked("has changed since");
    scene.claude.wait_ready();
    scene.review.wait_idle();
    scene.model.clear();
}

/// With the hooks of `pillion run`, its own question is answered where an answer to its diff would be taken for a rejection.
#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_that_is_run_makes_the_empty_file_that_is_accepted() {
    for mode in ["default", "acceptEdits"] {
        let scene = run_in(mode);
        let folder = scene.home.workspace();
        let names = [
            "__init__.py",
            "newline.txt",
            "bom.txt",
            "emptied.txt",
            "full.txt",
        ];
        let [empty, newline, bom, emptied, full] = names.map(|name| folder.join(name));
        let first = scene.propose_new("first.txt", "");
        // The review does not doubt it.
        scene.review.accept("first.txt");
        scene.claude.wait_for("first.txt is done");
        assert_eq!(read(&first), "", "{mode}");
        scene.review.wait_idle();
        fs::write(&full, "one\n").expect("the workspace is ours");
        scene.model.script([
            Turn::at_once([
                Turn::write_file(&empty, ""),
                Turn::write_file(&newline, "\n"),
                Turn::write_file(&bom, "\u{feff}"),
                Turn::write_file(&emptied, "text\n"),
            ]),
            Turn::read_file(&full),
            Turn::replace(&full, "one\n", ""),
            Turn::say("all of it is done"),
        ]);
        scene.claude.prompt("change it");
        // The person takes everything out of the last, and wants the file.
        let nothing = scene.home.home().join("nothing");
        fs::write(&nothing, "").expect("the home is ours");
        for (path, content) in [
            (&empty, None),
            (&newline, None),
            (&bom, None),
            (&emptied, Some(&*nothing)),
        ] {
            let name = path.file_name().expect("it has a name");
            scene.wait_view(&name.to_string_lossy());
            let pending = companion::wait_pending(&scene.home, path);
            companion::accept(&scene.home, &pending.name, content);
        }
        scene.wait_view("full.txt");
        scene.review.accept("full.txt");
        scene.claude.wait_for("all of it is done");
        for (path, expected) in [(&empty, ""), (&newline, "\n"), (&emptied, ""), (&full, "")] {
            assert_eq!(read(path), expected, "{mode}: {}", path.display());
        }
        // What it makes of a byte order mark alone is its own matter.
        assert!(bom.exists(), "{mode}");
        scene.review.wait_idle();
    }
}
