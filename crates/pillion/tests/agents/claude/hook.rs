//! Claude Code with `pillion hook` in the person's settings, in a terminal: what it asks nobody about is reviewed, and
//! nothing is reviewed twice.

use pillion_testkit::{ClaudeRelease, ClaudeStart, Env, Home, Turn};

use super::{Scene, ide, read};
use crate::companion::SOON;
use crate::hooks;
use crate::review::editor;

const BEFORE: &str = "one\ntwo\nthree\n";

/// What the review says of a change that it did not show.
const UNSHOWN: &str = "without showing";

/// How the review names what the hook shows, and what the agent proposes itself.
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

    let path = scene.change("cancelled.txt", PROPOSES);
    scene.claude.pane().send_keys(["Escape"]);
    scene.review.wait_idle();
    scene.claude.wait_ready();
    assert_eq!(read(&path), BEFORE);
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_with_a_hook_is_reviewed_in_accept_edits_mode() {
    is_reviewed_in(ClaudeRelease::Native, "acceptEdits");
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_on_node_with_a_hook_is_reviewed_in_accept_edits_mode() {
    is_reviewed_in(ClaudeRelease::Node, "acceptEdits");
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_with_a_hook_is_reviewed_in_bypass_permissions_mode() {
    is_reviewed_in(ClaudeRelease::Native, "bypassPermissions");
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_on_node_with_a_hook_is_reviewed_in_bypass_permissions_mode() {
    is_reviewed_in(ClaudeRelease::Node, "bypassPermissions");
}

/// Where it would ask: what was accepted in the review is not asked about once more.
#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_with_a_hook_is_reviewed_in_default_mode() {
    is_reviewed_in(ClaudeRelease::Native, "default");
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_on_node_with_a_hook_is_reviewed_in_default_mode() {
    is_reviewed_in(ClaudeRelease::Node, "default");
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
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_with_a_hook_shows_its_own_proposal_in_plan_mode() {
    shows_its_own_proposal_in_plan_mode(ClaudeRelease::Native);
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_on_node_with_a_hook_shows_its_own_proposal_in_plan_mode() {
    shows_its_own_proposal_in_plan_mode(ClaudeRelease::Node);
}
