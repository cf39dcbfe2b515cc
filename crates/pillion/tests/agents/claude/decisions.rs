//! Claude Code proposes, a person decides: in the review, or in Claude Code's own window.

use pillion_testkit::{Claude, ClaudeRelease, Turn};

use super::{Scene, read};

const FILE: &str = "new.txt";

/// Without a final newline: [`ClaudeRelease::Node`] loses that of a new file.
const TEXT: &str = "one\ntwo\nthree";

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_does_what_is_decided() {
    let scene = does_what_is_decided(ClaudeRelease::Native);
    shows_the_edits_of_one_turn_one_after_the_other(&scene);
    edits_on_what_was_accepted(&scene);
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_on_node_does_what_is_decided() {
    does_what_is_decided(ClaudeRelease::Node);
}

/// All in one run: it takes longer to start than to do any of this.
fn does_what_is_decided(release: ClaudeRelease) -> Scene {
    let scene = Scene::new(release);
    writes_what_is_accepted(&scene);
    writes_nothing_that_is_rejected(&scene);
    closes_the_view_when_answered_in_its_own_window(&scene);
    scene
}

fn writes_what_is_accepted(scene: &Scene) {
    let path = scene.propose_new(FILE, TEXT);
    scene.review.accept(FILE);
    scene.claude.wait_for("new.txt is done");
    assert_eq!(read(&path), TEXT);
    scene.review.wait_idle();
    let requests = scene.model.requests();
    let is_modified = requests
        .iter()
        .any(|request| request.mentions("modified your"));
    assert!(!is_modified, "the model is told that it was edited");
}

/// The turn ends there, and the model gets it with the next prompt.
fn writes_nothing_that_is_rejected(scene: &Scene) {
    let path = scene.propose_new("rejected.txt", TEXT);
    scene.review.reject("rejected.txt");
    scene.claude.wait_answered();
    scene.claude.wait_ready();
    scene.review.wait_idle();
    assert!(!path.exists());
    scene.model.clear();
    scene.model.script([Turn::say("I heard you")]);
    scene.claude.prompt("go on");
    scene.claude.wait_for("I heard you");
    scene.wait_asked("The user doesn't want to proceed");
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_reads_with_the_next_prompt_why_it_was_rejected() {
    reads_why_it_was_rejected(ClaudeRelease::Native);
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_on_node_reads_with_the_next_prompt_why_it_was_rejected() {
    reads_why_it_was_rejected(ClaudeRelease::Node);
}

/// Of a file that does not exist, and of one that does: with the first prompt after it, and with no other.
fn reads_why_it_was_rejected(release: ClaudeRelease) {
    let scene = Scene::new(release);
    let path = scene.home.workspace().join(FILE);
    let rounds = ["Use the table, not if.", "Nor a %s loop."];
    for (round, reason) in rounds.into_iter().enumerate() {
        let read = path.exists().then(|| Turn::read_file(&path));
        let turns = read.into_iter().chain([Turn::write_file(&path, TEXT)]);
        scene.propose(turns, "it is done", FILE);
        let screen = scene.review.reject_because(FILE, reason);
        assert!(
            screen.contains("gets your note with your next prompt"),
            "{screen}"
        );
        scene.claude.wait_answered();
        for prompt in ["go on", "and now"] {
            scene.model.clear();
            let heard = format!("I heard {prompt} {round}");
            scene.model.script([Turn::say(&heard)]);
            // A file that exists is mentioned in the prompt, which so is not empty.
            if path.exists() && prompt == "go on" {
                scene.claude.wait_for("@new.txt");
                scene.claude.type_text(prompt);
                scene.claude.enter();
            } else {
                scene.claude.prompt(prompt);
            }
            scene.claude.wait_for(&heard);
            let request = scene.model.last_main().expect("it asked its model");
            assert!(request.mentions(&format!("and says: {reason}")), "{reason}");
            let told = request.body.to_string().matches("and says: ").count();
            assert_eq!(told, round + 1, "{prompt}");
        }
        scene.model.clear();
        std::fs::write(&path, "before\n").expect("the workspace can be written");
    }
}

fn closes_the_view_when_answered_in_its_own_window(scene: &Scene) {
    let path = scene.propose_new("allowed.txt", TEXT);
    scene.claude.allow();
    scene.wait_closed("allowed.txt");
    scene.claude.wait_for("allowed.txt is done");
    assert_eq!(read(&path), TEXT);

    for (file, refuse) in [
        ("denied.txt", Claude::deny as fn(&Claude)),
        ("cancelled.txt", Claude::cancel),
    ] {
        let path = scene.propose_new(file, TEXT);
        refuse(&scene.claude);
        scene.wait_closed(file);
        scene.claude.wait_ready();
        assert!(!path.exists(), "{file} was refused");
        scene.model.clear();
    }
}

/// One after the other: what is rejected takes the later ones with it, before they are shown.
fn shows_the_edits_of_one_turn_one_after_the_other(scene: &Scene) {
    let files = ["first.txt", "second.txt", "third.txt", "fourth.txt"];
    let paths = files.map(|name| scene.home.workspace().join(name));
    let writes = paths.iter().map(|path| Turn::write_file(path, TEXT));
    scene.propose([Turn::at_once(writes)], "all is done", files[0]);
    scene.review.accept(files[0]);
    scene.wait_view(files[1]);
    assert!(!paths[1].exists());
    scene.review.accept(files[1]);
    scene.wait_view(files[2]);
    scene.review.reject(files[2]);
    scene.claude.wait_ready();
    scene.review.wait_idle();
    let written = paths.map(|path| path.exists());
    assert_eq!(written, [true, true, false, false]);
}

/// The second edit of a file is computed on what was accepted of the first.
fn edits_on_what_was_accepted(scene: &Scene) {
    scene.model.clear();
    let path = scene.home.file("twice.txt", "one\ntwo\nthree\n");
    let edits = [
        Turn::replace(&path, "one", "eins"),
        Turn::replace(&path, "three", "drei"),
    ];
    let turns = [Turn::read_file(&path), Turn::at_once(edits)];
    scene.propose(turns, "both are done", "twice.txt");
    scene.review.accept_shown("+ eins");
    scene.review.accept_shown("+ drei");
    scene.claude.wait_for("both are done");
    assert_eq!(read(&path), "eins\ntwo\ndrei\n");
}
