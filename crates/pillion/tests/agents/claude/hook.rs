//! Claude Code with `pillion hook` in the person's settings, in a terminal: what it asks nobody about is reviewed, and
//! nothing is reviewed twice.

use std::fs;

use pillion_testkit::{ClaudeRelease, ClaudeStart, Env, HALF, Home, ModelRequest, Turn, kill_hub};

use super::{Scene, ide, read};
use crate::companion::SOON;
use crate::hooks;
use crate::review::editor;

const BEFORE: &str = "one\ntwo\nthree\n";

/// The review's words about a change that it did not show.
const UNSHOWN: &str = "without showing";

/// The review's words for what the hook shows, and what the agent proposes itself.
const PROPOSES: &str = "Claude Code proposes";

/// With the hook in the person's settings, and connected.
fn scene(release: ClaudeRelease, mode: &str, review: impl Fn(&Home) -> Env) -> Scene {
    let home = Home::new();
    hooks::claude::set_up(&home);
    let env = review(&home);
    let how = ClaudeStart {
        mode,
        // Root may not use one of the modes otherwise.
        env: Env::default().with("IS_SANDBOX", "1"),
        ..ide()
    };
    Scene::with(release, home, &env, &how)
}

impl Scene {
    /// Lets the model change a file, and waits until that is shown as this.
    fn change(&self, name: &str, by: &str) -> std::path::PathBuf {
        let path = self.home.file(name, BEFORE);
        self.model.clear();
        let edit = Turn::replace(&path, "two", "zwei");
        let said = format!("{name} is done");
        self.model
            .script([Turn::read_file(&path), edit, Turn::say(said)]);
        self.claude.prompt("change it");
        self.review.pane().wait_for(&format!("{by} {name}"), SOON);
        path
    }

    fn wait_said(&self, name: &str) {
        self.claude.wait_for(&format!("{name} is done"));
        let screen = self.review.wait_idle();
        assert!(!screen.contains(UNSHOWN), "all was shown: {screen}");
    }
}

fn is_reviewed_in(release: ClaudeRelease, mode: &str) {
    let scene = scene(release, mode, |home| editor(home, "zwei", "deux"));
    let path = scene.change("accepted.txt", PROPOSES);
    assert!(!scene.claude.asks(), "it is asked about in one place");
    scene.review.accept("accepted.txt");
    scene.wait_said("accepted.txt");
    assert_eq!(read(&path), BEFORE.replace("two", "zwei"));

    let path = scene.change("edited.txt", PROPOSES);
    scene.review.edit();
    scene.review.accept("edited.txt");
    scene.wait_asked("+deux");
    scene.wait_said("edited.txt");
    assert_eq!(read(&path), BEFORE.replace("two", "deux"));

    let path = scene.change("rejected.txt", PROPOSES);
    scene.review.reject_because("rejected.txt", "in English");
    scene.wait_asked("and says: in English");
    scene.wait_said("rejected.txt");
    assert_eq!(read(&path), BEFORE);

    if mode == "acceptEdits" {
        a_subagent_reads_why_its_change_is_rejected(&scene, release);
    }

    let path = scene.change("cancelled.txt", PROPOSES);
    hooks::stop_while_its_hook_waits(&scene.home, &path, || {
        scene.claude.pane().send_keys(["Escape"]);
    });
    scene.review.wait_idle();
    scene.claude.wait_ready();

    let path = scene.change("killed.txt", PROPOSES);
    kill_hub(&scene.home);
    scene.wait_asked("The change was not made");
    scene.claude.wait_for("killed.txt is done");
    assert_eq!(read(&path), BEFORE);
}

/// Of a subagent, which works in the background, each change is shown as well, and the reason is for it.
fn a_subagent_reads_why_its_change_is_rejected(scene: &Scene, release: ClaudeRelease) {
    scene.claude.wait_ready();
    scene.model.clear();
    let path = scene.home.file("old.txt", BEFORE);
    scene
        .model
        .script([Turn::subagent(), Turn::say("it is started")]);
    scene.model.script_subagent([
        Turn::read_file(&path),
        Turn::replace(&path, "two", "zwei"),
        Turn::replace(&path, "two", "deux"),
        Turn::say("the subagent is done"),
    ]);
    scene.claude.prompt("change it");
    let pane = scene.review.pane();
    pane.wait_for("Claude Code proposes old.txt", SOON);
    scene.review.reject_because("old.txt", "in French");
    let is_told =
        |request: &ModelRequest| request.is_subagents() && request.mentions("and says: in French");
    scene.model.wait_for("the reason", SOON, is_told);
    pane.wait_for("deux", SOON);
    assert_eq!(read(&path), BEFORE);
    scene.model.script([Turn::say("all is done")]);
    scene.review.accept("old.txt");
    // Only later releases let the main conversation go on meanwhile.
    let said = match release {
        ClaudeRelease::Native => "all is done",
        ClaudeRelease::Node => "it is started",
    };
    scene.claude.wait_for(said);
    assert_eq!(read(&path), BEFORE.replace("two", "deux"));
    scene.review.wait_idle();
    scene.claude.wait_ready();
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_with_a_hook_is_reviewed_in_accept_edits_mode() {
    is_reviewed_in(ClaudeRelease::Native, "acceptEdits");
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_on_node_with_a_hook_is_reviewed_in_accept_edits_mode() {
    is_reviewed_in(ClaudeRelease::Node, "acceptEdits");
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_with_a_hook_is_reviewed_in_bypass_permissions_mode() {
    is_reviewed_in(ClaudeRelease::Native, "bypassPermissions");
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_on_node_with_a_hook_is_reviewed_in_bypass_permissions_mode() {
    is_reviewed_in(ClaudeRelease::Node, "bypassPermissions");
}

/// In the mode in which it would ask: a change that was accepted in the review is not asked about once more.
#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_with_a_hook_is_reviewed_in_default_mode() {
    is_reviewed_in(ClaudeRelease::Native, "default");
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_on_node_with_a_hook_is_reviewed_in_default_mode() {
    is_reviewed_in(ClaudeRelease::Node, "default");
}

/// Node writes it as it is, which is no JSON of the strict kind.
#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn half_a_character_in_what_claude_writes_hides_nothing() {
    let scene = scene(ClaudeRelease::Native, "bypassPermissions", |_| {
        Env::default()
    });
    let (new, there) = (
        scene.home.workspace().join("new.txt"),
        scene.home.file("there.txt", BEFORE),
    );
    let write = [Turn::write_file(&new, format!("half {HALF}\n"))];
    let edit = [
        Turn::read_file(&there),
        Turn::replace(&there, "two", format!("half {HALF}")),
    ];
    for (turns, name, before) in [
        (&write[..], "new.txt", None),
        (&edit, "there.txt", Some(BEFORE)),
    ] {
        scene.model.clear();
        let said = Turn::say(format!("{name} is done"));
        scene.model.script(turns.iter().cloned().chain([said]));
        scene.claude.prompt("change it");
        scene
            .review
            .pane()
            .wait_for(&format!("{PROPOSES} {name}"), SOON);
        scene.review.reject(name);
        scene.wait_said(name);
        let path = scene.home.workspace().join(name);
        assert_eq!(fs::read_to_string(path).ok().as_deref(), before);
    }
}

/// In plan mode it asks also about what a hook allows, so that its own proposal is the one that is shown.
fn shows_its_own_proposal_in_plan_mode(release: ClaudeRelease) {
    let scene = scene(release, "plan", |_| Env::default());
    let path = scene.change("planned.txt", PROPOSES);
    scene.review.accept("planned.txt");
    scene.wait_said("planned.txt");
    assert_eq!(read(&path), BEFORE.replace("two", "zwei"));
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_with_a_hook_shows_its_own_proposal_in_plan_mode() {
    shows_its_own_proposal_in_plan_mode(ClaudeRelease::Native);
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_on_node_with_a_hook_shows_its_own_proposal_in_plan_mode() {
    shows_its_own_proposal_in_plan_mode(ClaudeRelease::Node);
}
