//! Copilot CLI with the terminal review: it finds the review's socket by a lock file, and takes a yes or a no.

mod patches;

use std::fs;
use std::time::Instant;

use pillion_testkit::{Copilot, Home, Model, ModelRequest, Tmux, Turn, all_of, pause};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::companion::{PILLION, SOON, run, wait_pending, wait_until};
use crate::review::Review;
use crate::shared_encodings::{ENCODINGS, assert_bytes};

/// The review's name for it.
const NAME: &str = "Copilot CLI";

/// The review's words about what it cannot have.
const TAKES_NO_EDITS: &str = "writes its own text";

/// A review with one Copilot CLI that is connected to it.
struct Scene {
    copilot: Copilot,
    review: Review,
    model: Model,
    // After those that run in it.
    tmux: Tmux,
    // Last: the others have files in it.
    home: Home,
}

impl Scene {
    fn new() -> Scene {
        Scene::in_home(Home::new(), &["copilot"])
    }

    /// In this home, where the agent is started by this command.
    fn in_home(home: Home, command: &[&str]) -> Scene {
        let (tmux, model) = (Tmux::start(), Model::start());
        let review = Review::start(&tmux, &home);
        let copilot = Copilot::start_by(&tmux, &home, &model, &home.workspace(), command);
        review.pane().wait_for(&format!("● {NAME}"), SOON);
        Scene {
            copilot,
            review,
            model,
            tmux,
            home,
        }
    }

    /// Waits until this hub has the agent. What the review shows may come from the one before.
    fn wait_connected_to(&self, hub: u64) {
        wait_until("the agent at this hub", || {
            let listed = run(&self.home, ["list", "--json"]);
            let listed: Value = serde_json::from_slice(&listed).ok()?;
            let has_it = |it: &Value| {
                let agents = it["agents"].as_array();
                let has_it = agents.is_some_and(|all| all.iter().any(|name| name == "copilot"));
                it["pid"] == hub && has_it
            };
            listed.as_array()?.iter().any(has_it).then_some(())
        });
    }

    /// Lets the model propose, and waits until both the review and the agent ask about this file.
    fn propose(&self, turn: Turn, file_name: &str) {
        self.model.clear();
        self.model
            .script([turn, Turn::say(format!("{file_name} is done"))]);
        self.copilot.prompt("change it");
        let title = format!("{NAME} proposes {file_name}");
        self.review.pane().wait_for(&title, SOON);
        self.copilot.wait_question();
    }

    /// Sends a prompt, and returns what the model gets with it.
    fn ask(&self, prompt: &str) -> ModelRequest {
        self.model.clear();
        let answer = format!("I heard {prompt}");
        self.model.script([Turn::say(&answer)]);
        self.copilot.prompt(prompt);
        self.copilot.wait_for(&answer);
        self.model.last_main().expect("it asked its model")
    }

    /// Waits until no note that waits for the agent says this.
    fn wait_read(&self, note: &str) {
        wait_until("the note is read", || {
            let notes = run(&self.home, ["notes"]);
            (!String::from_utf8_lossy(&notes).contains(note)).then_some(())
        });
    }

    /// Lets the model ask for what is selected, and returns what it is answered.
    fn answer_about_the_selection(&self) -> String {
        self.model.clear();
        let selection = Turn::CallTool {
            name: "ide-get_selection",
            input: serde_json::json!({}),
        };
        self.model.script([selection, Turn::say("I see")]);
        self.copilot.prompt("what is selected?");
        self.copilot.wait_for("I see");
        let answer = self.model.last_main().expect("it asked its model");
        answer.newest_message()
    }

    /// The hub's process, by its lock file, if there is one.
    fn hub(&self) -> Option<u64> {
        let folder = self.home.home().join(".copilot/ide");
        let paths = fs::read_dir(folder)
            .ok()?
            .flatten()
            .map(|entry| entry.path());
        let mut contents = paths.filter_map(|path| fs::read(path).ok());
        let lock: Value = serde_json::from_slice(&contents.next()?).ok()?;
        lock["pid"].as_u64()
    }
}

/// It may be told of a file before it has one, and in two connections.
#[test]
#[ignore = "needs the real agents and Copilot CLI: cargo xtask test"]
fn copilot_connects_by_itself_and_its_model_reads_what_is_selected() {
    let home = Home::new();
    // Before there is a review, which would share it as saved.
    let file = home.file("looked-at.txt", "one\ntwo\nthree\n");
    let scene = Scene::in_home(home, &["copilot"]);
    for (lines, shown, told) in [
        ("2-2", "@looked-at.txt:2", "File: looked-at.txt (line 2)"),
        (
            "1-2",
            "@looked-at.txt:1-2",
            "File: looked-at.txt (lines 1-2)",
        ),
    ] {
        run(
            &scene.home,
            ["focus", &format!("{}:{lines}", file.display())],
        );
        scene.copilot.wait_for(shown);
        let request = scene.ask(&format!("about {lines}"));
        assert!(request.mentions(told), "{:#}", request.body["messages"]);
    }
    // The model asks for it itself, too.
    let newest = scene.answer_about_the_selection();
    assert!(newest.contains(r#""text":"onetwo""#), "{newest}");

    let Scene {
        copilot,
        review,
        tmux,
        home,
        ..
    } = scene;
    drop((copilot, review, tmux));
    let started = Instant::now();
    while !all_of(&home).is_empty() {
        assert!(started.elapsed() < SOON, "{:?} still run", all_of(&home));
        pause(started);
    }
}

#[test]
#[ignore = "needs the real agents and Copilot CLI: cargo xtask test"]
fn copilot_writes_what_is_accepted_and_nothing_that_is_rejected_byte_for_byte() {
    let scene = Scene::new();
    writes_edited_files_byte_for_byte(&scene, |kind| REJECTED_TOO.contains(&kind));
    writes_new_files_byte_for_byte(&scene, &[("new-crlf.txt", "one\r\ntwo")]);
    its_text_cannot_be_changed_and_a_changed_file_is_warned_of(&scene);
}

#[test]
#[ignore = "in --all: needs the real agents and Copilot CLI: cargo xtask test --all"]
fn copilot_writes_what_is_accepted_in_other_encodings_byte_for_byte() {
    let scene = Scene::new();
    // Its own tools read no UTF-16.
    writes_edited_files_byte_for_byte(&scene, |kind| {
        !REJECTED_TOO.contains(&kind) && !kind.starts_with("utf16")
    });
    // It makes no folder.
    fs::create_dir(scene.home.workspace().join("there")).expect("the workspace is ours");
    let files = [("new.txt", "one\ntwo\n"), ("there/third.txt", "x")];
    writes_new_files_byte_for_byte(&scene, &files);
}

/// Whatever the encoding, it writes nothing then: once with marks and line endings that it would lose, once without.
const REJECTED_TOO: [&str; 2] = ["lf", "bom-crlf"];

fn writes_edited_files_byte_for_byte(scene: &Scene, is_chosen: impl Fn(&str) -> bool) {
    let (before, after) = ("one\ntwo\nthree\n", "one\nzwei\nthree\n");
    for (kind, encode) in ENCODINGS.into_iter().filter(|(kind, _)| is_chosen(kind)) {
        let file = &format!("{kind}.txt");
        let path = scene.home.file(file, encode(before));
        if REJECTED_TOO.contains(&kind) {
            scene.propose(Turn::replace(&path, "two", "zwei"), file);
            scene.review.reject(file);
            scene.copilot.wait_ready();
            scene.review.wait_idle();
            assert_bytes(&path, &encode(before));
        }

        scene.propose(Turn::replace(&path, "two", "zwei"), file);
        scene.review.accept(file);
        scene.copilot.wait_for(&format!("{file} is done"));
        assert_bytes(&path, &encode(after));
        scene.review.wait_idle();
    }
}

fn writes_new_files_byte_for_byte(scene: &Scene, files: &[(&str, &str)]) {
    for (file, text) in files {
        let path = scene.home.workspace().join(file);
        scene.propose(Turn::write_file(&path, *text), file);
        scene.review.accept(file);
        scene.copilot.wait_for(&format!("{file} is done"));
        assert_bytes(&path, text.as_bytes());
        scene.review.wait_idle();
    }
}

/// It would write its own text whatever was accepted.
fn its_text_cannot_be_changed_and_a_changed_file_is_warned_of(scene: &Scene) {
    let path = scene.home.file("a.txt", "one\ntwo\n");
    scene.propose(Turn::replace(&path, "two", "zwei"), "a.txt");
    let screen = scene.review.pane().wait_for(TAKES_NO_EDITS, SOON);
    assert!(screen.contains("zwei"), "{screen}");
    for key in ["Space", "e"] {
        scene.review.press(key, TAKES_NO_EDITS);
    }
    fs::write(&path, "mine\ntwo\n").expect("the workspace can be written");
    scene.review.press("a", "has changed on disk since");
    assert_bytes(&path, b"mine\ntwo\n");
    scene.copilot.cancel();
    assert_bytes(&path, b"mine\ntwo\n");
}

#[test]
#[ignore = "needs the real agents and Copilot CLI: cargo xtask test"]
fn copilot_reads_once_why_it_was_rejected() {
    let scene = Scene::new();
    let path = scene.home.file("a.txt", "one\ntwo\n");
    scene.propose(Turn::replace(&path, "two", "zwei"), "a.txt");
    let screen = scene.review.reject_because("a.txt", "Use digits.");
    assert!(
        screen.contains("gets your note with your next prompt"),
        "{screen}"
    );
    // What is typed before is lost.
    scene.copilot.wait_for("Operation cancelled by user");
    // Its screen does not tell when it has the note.
    let mut prompts = (0..5).map(|number| scene.ask(&format!("go on {number}")));
    assert!(prompts.any(|request| request.newest_message().contains("Usedigits.")));
    scene.wait_read("Use digits");
    let newest = scene.ask("and now").newest_message();
    assert!(!newest.contains("digits"), "{newest}");
    scene.propose(Turn::replace(&path, "two", "2"), "a.txt");
    scene.review.accept("a.txt");
    scene.copilot.wait_for("a.txt is done");
    let newest = scene.ask("thank you").newest_message();
    assert!(!newest.contains("digits"), "{newest}");
}

/// It shows its model the beginning of a long reason, and that asks for all.
#[test]
#[ignore = "in --all: needs the real agents and Copilot CLI: cargo xtask test --all"]
fn copilots_model_asks_once_for_all_of_a_long_reason() {
    let scene = Scene::new();
    let path = scene.home.file("a.txt", "one\ntwo\n");
    scene.propose(Turn::replace(&path, "two", "zwei"), "a.txt");
    let pending = wait_pending(&scene.home, &path);
    let reason = format!("{}in the end", "digits ".repeat(100));
    run(&scene.home, ["reject", &pending.name, "--because", &reason]);
    scene.review.wait_idle();
    scene.copilot.wait_ready();
    let mut prompts = (0..5).map(|number| scene.ask(&format!("go on {number}")));
    assert!(prompts.any(|request| {
        let newest = request.newest_message();
        newest.contains("digits") && !newest.contains("intheend")
    }));
    let newest = scene.answer_about_the_selection();
    assert!(newest.contains("digitsintheend"), "{newest}");
    scene.wait_read("digits");
    let mut prompts = (0..5).map(|number| scene.ask(&format!("thank you {number}")));
    assert!(prompts.any(|request| !request.newest_message().contains("digits")));
}

#[test]
#[ignore = "in --all: needs the real agents and Copilot CLI: cargo xtask test --all"]
fn copilot_closes_the_view_when_answered_in_its_own_window() {
    let scene = Scene::new();
    let path = scene.home.file("a.txt", "one\ntwo\n");
    type Answer = fn(&Copilot);
    for (answer, text) in [
        (Copilot::cancel as Answer, "one\ntwo\n"),
        (Copilot::allow, "one\nzwei\n"),
    ] {
        scene.propose(Turn::replace(&path, "two", "zwei"), "a.txt");
        answer(&scene.copilot);
        let closed = format!("{NAME} closed its diff of a.txt");
        scene.review.pane().wait_for(&closed, SOON);
        scene.review.wait_idle();
        assert_bytes(&path, text.as_bytes());
    }
}

/// The hub is killed, with its socket and the lock file left behind; the review starts another.
#[test]
#[ignore = "in --all: needs the real agents and Copilot CLI: cargo xtask test --all"]
fn copilot_comes_back_when_the_companion_was_killed() {
    let command = [PILLION, "run", "--require", "copilot"];
    let scene = Scene::in_home(Home::new(), &command);
    let path = scene.home.file("a.txt", "one\ntwo\n");
    for text in ["zwei", "deux"] {
        let killed = scene.hub().expect("the review is published");
        let pid = i32::try_from(killed).ok().and_then(Pid::from_raw);
        kill_process(pid.expect("a process"), Signal::KILL).expect("it is ours");
        let other = wait_until("another hub", || scene.hub().filter(|pid| *pid != killed));
        scene.wait_connected_to(other);
        scene.review.pane().wait_for(&format!("● {NAME}"), SOON);
        scene.copilot.wait_ready();
        let last = fs::read_to_string(&path).expect("it is there");
        let old = last.lines().nth(1).expect("two lines").to_owned();
        scene.propose(Turn::replace(&path, &old, text), "a.txt");
        scene.review.accept_shown(&format!("+ {text}"));
        let (expected, started) = (format!("one\n{text}\n"), Instant::now());
        while fs::read_to_string(&path).ok().as_ref() != Some(&expected) {
            assert!(started.elapsed() < SOON, "{text:?} is not written");
            pause(started);
        }
        // Its last request is answered: the model is scripted anew.
        scene.copilot.wait_for("a.txt is done");
        scene.copilot.wait_ready();
    }
}
