//! Qwen Code with a hook in the person's settings, in the modes in which it asks nobody.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;

use pillion_protocol::Dialect;
use pillion_system::process::{descendants, is_alive};
use pillion_testkit::{Agent, AgentKind, Env, Home, Model, Npm, Size, Tmux, Turn, kill_tree};

use serde_json::Value;

use super::{BEFORE, Decision, Scene, ended};
use crate::companion;
use crate::review::{self, Review, title};
use crate::shared_encodings::assert_bytes;

const MODES: [&str; 2] = ["yolo", "auto-edit"];

pub(super) fn scene() -> Scene {
    super::scene(AgentKind::Qwen, Dialect::QwenCode)
}

pub(super) fn print(scene: &Scene, number: usize) -> Child {
    super::print(scene, AgentKind::Qwen, MODES[number % MODES.len()])
}

#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn qwen_hears_why_its_changes_are_rejected() {
    let scene = scene();
    super::hears_why_changes_are_rejected(&scene, MODES.len(), print);
    // Nobody decides in time.
    let settings = scene.home.home().join(".qwen/settings.json");
    let own = fs::read_to_string(&settings).expect("it has settings");
    let limited = own.replace("hook qwen", "hook qwen --limit 2");
    fs::write(settings, limited).expect("they are ours");
    let file = scene.home.file("late.txt", BEFORE);
    scene.script([Turn::read_file(&file), super::edit(&file)]);
    let agent = print(&scene, 0);
    scene.wait_told("nobody decided in time");
    ended(agent).expect_done("too late");
    assert_bytes(&file, BEFORE.as_bytes());
    companion::wait_none_pending(&scene.home);
}

/// It may make the accepted change by itself, of the text that is there now.
#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn qwen_makes_the_change_itself_that_was_accepted_over_a_newer_text() {
    let scene = scene();
    let turns = |file: &Path, number: usize| {
        let (newer, accepted) = super::NEWER[number];
        let read = newer.map(|_| Turn::read_file(file));
        let again = Turn::write_file(file, accepted);
        let turns = [Turn::read_file(file), super::edit(file)].into_iter();
        turns.chain(read).chain([again]).collect()
    };
    let files = super::accept_over(&scene, turns, |scene| print(scene, 0));
    scene.wait_told_times("has changed since you proposed this", files.len());
    for (file, accepted) in files {
        assert_bytes(&file, accepted.as_bytes());
    }
}

/// An accepted change is written. An edited one is denied, until the model makes exactly that change: nobody is asked about
/// it again.
#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn qwen_makes_the_changes_that_were_accepted_and_no_others() {
    let scene = scene();
    for number in 0..MODES.len() {
        let files = super::encodings_of(number, MODES.len()).map(|(kind, encode)| {
            let file = scene.home.file(&format!("{kind}.txt"), encode(BEFORE));
            (format!("dos {kind}"), encode, file)
        });
        let files: Vec<_> = files.collect();
        scene.script(files.iter().flat_map(|(dos, _, file)| {
            [
                Turn::read_file(file),
                Turn::replace(file, "two", "zwei"),
                Turn::read_file(file),
                Turn::replace(file, "zwei", "deux"),
                Turn::replace(file, "zwei", dos),
                Turn::replace(file, dos, "deux"),
            ]
        }));
        let agent = print(&scene, number);
        for (dos, encode, file) in &files {
            scene.decide(file, &Decision::Accept);
            let next = companion::wait_pending(&scene.home, file);
            let accepted = BEFORE.replace("two", "zwei");
            assert_bytes(file, &encode(&accepted));
            let edited = accepted.replace("zwei", dos);
            scene.decide_about(&next.name, &Decision::Edit(&encode(&edited)));
            scene.wait_told(&format!("+{dos}"));
            // The wanted change passes, and the next one is shown.
            let next = companion::wait_pending(&scene.home, file);
            assert_bytes(file, &encode(&edited));
            let shown = companion::proposed(&scene.home, &next.name);
            assert_eq!(shown.as_bytes(), encode(&accepted.replace("zwei", "deux")));
            scene.decide_about(&next.name, &Decision::Reject("as it was"));
        }
        ended(agent).expect_done("decided");
        for (dos, encode, file) in &files {
            assert_bytes(file, &encode(&BEFORE.replace("two", dos)));
        }
    }
}

/// It may write an edited cell itself.
#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn qwen_changes_the_cells_that_its_hook_allows() {
    const TOOL: &str = "notebook_edit";
    let again = |file: &Path| Some(super::cell(TOOL, file, "3"));
    super::changes_cells(&scene(), TOOL, again, |scene| print(scene, 0));
}

/// It, and a review, with its change of a file that waits there.
struct Waiting {
    home: Home,
    tmux: Tmux,
    model: Model,
    review: Review,
}

impl Waiting {
    fn new() -> Self {
        let home = Home::new();
        super::install(&home, AgentKind::Qwen, Dialect::QwenCode);
        let (tmux, model) = (Tmux::start(), Model::start());
        let review = Review::start(&tmux, &home);
        Self {
            home,
            tmux,
            model,
            review,
        }
    }

    /// Starts it in a terminal, in this mode. Returns once the change waits.
    fn start(&self, mode: &str, name: &str) -> (Agent, PathBuf) {
        let (kind, home) = (AgentKind::Qwen, &self.home);
        let command = Npm::from_env().bin().join(kind.name());
        let command = [&*command.display().to_string(), "--approval-mode", mode];
        let (env, folder) = (kind.env(home.env(), &self.model), home.workspace());
        let pane = self
            .tmux
            .spawn(mode, Size::new(100, 40), &env, &folder, &command);
        let agent = Agent::attach(kind, pane);
        let file = home.file(name, BEFORE);
        self.model.clear();
        self.model
            .script([Turn::read_file(&file), super::edit(&file)]);
        agent.prompt("change it");
        self.review
            .pane()
            .wait_for(&title(kind, name), companion::SOON);
        (agent, file)
    }
}

/// In a terminal, in the modes in which it asks nobody.
#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn qwen_that_is_stopped_takes_its_change_away() {
    let waiting = Waiting::new();
    for mode in MODES {
        let (agent, file) = waiting.start(mode, "stopped.txt");
        super::stop_while_its_hook_waits(&waiting.home, &file, || {
            agent.pane().send_keys(["Escape"]);
        });
        waiting.review.wait_idle();
        agent.quit();
    }
}

#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn qwen_whose_terminal_closes_writes_nothing_that_is_undecided() {
    closes_its_terminal("default");
}

/// It runs a hook that a signal ends as if that had said yes, and kills its hooks before it ends itself: on a busy machine it may write
/// (see docs/hooks.md).
#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn qwen_in_yolo_mode_whose_terminal_closes_writes_nothing_that_is_undecided() {
    closes_its_terminal("yolo");
}

fn closes_its_terminal(mode: &str) {
    let waiting = Waiting::new();
    let (agent, file) = waiting.start(mode, &format!("{mode}.txt"));
    let its = descendants(agent.pane().pid());
    agent.pane().close();
    companion::wait_until("its end", || {
        its.iter().all(|it| !is_alive(*it)).then_some(())
    });
    companion::wait_none_pending(&waiting.home);
    assert_bytes(&file, BEFORE.as_bytes());
}

/// Killed, it says nothing.
#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn qwen_that_is_killed_is_at_work_no_more() {
    let waiting = Waiting::new();
    for mode in ["yolo", "default"] {
        let (agent, file) = waiting.start(mode, &format!("{mode}.txt"));
        kill_tree(agent.pane().pid());
        companion::wait_none_pending(&waiting.home);
        let is_over = |screen: &str| !screen.contains("at work") && !screen.contains("● Qwen");
        let pane = waiting.review.pane();
        pane.wait_until("nobody at work", companion::SOON, is_over);
        let turns = companion::run(&waiting.home, ["turns", "--json"]);
        let turns: Vec<Value> = serde_json::from_slice(&turns).expect("it is JSON");
        let goes_on = turns.iter().filter(|it| it["ended"].is_null()).count();
        assert_eq!(goes_on, 0, "{mode}: {turns:#?}");
        assert_bytes(&file, BEFORE.as_bytes());
    }
}

/// In the mode that the README recommends it asks itself, before the hook: the review that it is connected to shows each change
/// once, also one that the person edits, and `pillion log` says once that it was accepted.
#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn qwen_that_asks_itself_shows_each_change_once() {
    let home = Home::new();
    super::install(&home, AgentKind::Qwen, Dialect::QwenCode);
    let more = review::editor(&home, "zwei", "deux");
    let scene = review::Scene::with(AgentKind::Qwen, home, &more);
    let [a, b, c] = ["a.txt", "b.txt", "c.txt"].map(|name| scene.home.file(name, BEFORE));
    let new = scene.home.workspace().join("d.txt");
    let after = BEFORE.replace("two", "zwei");
    let turns = [
        (&a, Turn::replace(&a, "two", "zwei"), false),
        (&b, Turn::replace(&b, "two", "zwei"), true),
        (&c, Turn::write_file(&c, after.as_str()), false),
        (&new, Turn::write_file(&new, after.as_str()), true),
    ];
    for (number, (file, turn, is_edited)) in turns.into_iter().enumerate() {
        let name = file.file_name().expect("it has a name").to_string_lossy();
        let done = format!("{name} is done");
        let read = file.exists().then(|| Turn::read_file(file));
        scene
            .model
            .script(read.into_iter().chain([turn, Turn::say(&done)]));
        scene.agent.prompt("change it");
        scene.review.wait_view(AgentKind::Qwen, &name);
        if is_edited {
            scene.review.edit();
        }
        scene.review.accept(&name);
        // Once more, it would wait for a decision.
        scene.agent.wait_for(&done);
        let expected = match is_edited {
            true => after.replace("zwei", "deux"),
            false => after.clone(),
        };
        assert_bytes(file, expected.as_bytes());
        scene.review.wait_idle();
        let log = companion::run(&scene.home, ["log", "--json"]);
        let log: Vec<Value> = serde_json::from_slice(&log).expect("it is JSON");
        assert_eq!(log.len(), number + 1, "{log:#?}");
    }
}

/// The person answers its question in its own window: "Yes" there is enough, "No" writes nothing, and neither is asked again.
#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn qwen_that_is_answered_in_its_own_window_shows_nothing_again() {
    let home = Home::new();
    super::install(&home, AgentKind::Qwen, Dialect::QwenCode);
    let scene = review::Scene::with(AgentKind::Qwen, home, &Env::default());
    let after = BEFORE.replace("two", "zwei");
    for (name, is_allowed) in [("a.txt", true), ("b.txt", false)] {
        let file = scene.home.file(name, BEFORE);
        let done = format!("{name} is done");
        scene.model.script([
            Turn::read_file(&file),
            Turn::replace(&file, "two", "zwei"),
            Turn::say(&done),
        ]);
        scene.agent.prompt("change it");
        scene.review.wait_view(AgentKind::Qwen, name);
        match is_allowed {
            true => scene.agent.allow(),
            false => scene.agent.deny(),
        }
        if is_allowed {
            // Once more, it would wait for a decision.
            scene.agent.wait_for(&done);
        }
        scene.review.wait_idle();
        let expected = if is_allowed { &after } else { BEFORE };
        assert_bytes(&file, expected.as_bytes());
    }
}

/// Of two changes of a file in one answer it asks about both before it makes the first: each is shown and accepted once, and written.
#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn qwen_that_asks_itself_makes_both_changes_of_a_file_in_one_answer() {
    super::that_asks_itself_makes_both_changes_of_a_file(AgentKind::Qwen, Dialect::QwenCode);
}
