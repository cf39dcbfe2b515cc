//! Of three changes in one answer the second is rejected; and what becomes of a change that nobody decides about: in time,
//! or at all, because the companion is killed. Each agent's command hook, without a terminal.

use std::fs;
use std::path::PathBuf;
use std::process::Child;

use pillion_protocol::Dialect;
use pillion_testkit::{
    AgentKind, ClaudeNpm, ClaudeRelease, Copilot, HEADLESS_PROMPT, Home, Turn, set_up_claude,
};
use serde_json::{Value, json};

use super::{BEFORE, Decision, Scene, ended, settings};
use crate::companion;
use crate::shared_encodings::assert_bytes;

/// An agent in a home, whose hook gets other options for each start.
struct World {
    scene: Scene,
    agent: Dialect,
    /// Below the person's home.
    settings: &'static str,
    /// The settings that stand there beside hooks.
    own: Value,
}

impl World {
    fn new(
        agent: Dialect,
        settings: &'static str,
        own: Value,
        set_up: impl FnOnce(&Home),
    ) -> World {
        World {
            scene: Scene::new(set_up),
            agent,
            settings,
            own,
        }
    }

    /// Puts the hook with these options into the settings.
    fn hook(&self, options: &str) {
        let settings = settings(self.agent, options, self.own.clone());
        let file = self.scene.home.home().join(self.settings);
        fs::write(file, settings.to_string()).expect("the home is ours");
    }

    /// Everything, with what starts an agent that ends by itself.
    fn decides_or_does_not(mut self, start: impl Fn(&Scene) -> Child) {
        self.hook("--limit 2");
        let late = self.scene.home.file("late.txt", BEFORE);
        let edit = |file: &PathBuf| Turn::replace(file, "two", "zwei");
        self.scene.script([Turn::read_file(&late), edit(&late)]);
        let agent = start(&self.scene);
        self.scene.wait_told("nobody decided in time");
        ended(agent).expect_done("too late");
        assert_bytes(&late, BEFORE.as_bytes());
        companion::wait_none_pending(&self.scene.home);

        self.hook("");
        let [a, b, c, lost] =
            ["a.txt", "b.txt", "c.txt", "lost.txt"].map(|name| self.scene.home.file(name, BEFORE));
        let read = [&a, &b, &c].map(Turn::read_file);
        let three = Turn::at_once([&a, &b, &c].map(edit));
        let rest = [three, Turn::read_file(&lost), edit(&lost)];
        self.scene.script(read.into_iter().chain(rest));
        let agent = start(&self.scene);
        self.scene.decide(&a, &Decision::Accept);
        let why = "not the second one";
        self.scene.decide(&b, &Decision::Reject(why));
        let edited = b"one\ndrei\nthree\n";
        self.scene.decide(&c, &Decision::Edit(edited));
        self.scene.wait_told(&format!("and says: {why}"));
        companion::wait_pending(&self.scene.home, &lost);
        let accepted = BEFORE.replace("two", "zwei");
        assert_bytes(&a, accepted.as_bytes());
        assert_bytes(&b, BEFORE.as_bytes());
        assert_bytes(&c, edited);
        drop(self.scene.serve.take());
        self.scene.wait_told_both(why, "The change was not made");
        ended(agent).expect_done("killed");
        assert_bytes(&lost, BEFORE.as_bytes());
    }
}

fn claude(release: ClaudeRelease, mode: &str) {
    let own = json!({"skipDangerousModePermissionPrompt": true});
    let set_up = |home: &Home| set_up_claude(home, &home.workspace());
    let world = World::new(Dialect::ClaudeCode, ".claude/settings.json", own, set_up);
    world.decides_or_does_not(|scene| {
        // Root may not use one of the modes otherwise.
        let env = release.env(scene.home.env(), &scene.model);
        let env = env.with("IS_SANDBOX", "1");
        let claude = ClaudeNpm::from_env().bin(release).join("claude");
        let claude = claude.display().to_string();
        let command = [&claude, "-p", HEADLESS_PROMPT, "--permission-mode", mode];
        scene.start(&env, &command)
    });
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_in_auto_mode_writes_nothing_that_nobody_has_decided_about() {
    claude(ClaudeRelease::Native, "auto");
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_on_node_writes_nothing_that_nobody_has_decided_about() {
    claude(ClaudeRelease::Node, "bypassPermissions");
}

#[test]
#[ignore = "in --all: needs the real agents and Copilot CLI: cargo xtask test --all"]
fn copilot_writes_nothing_that_nobody_has_decided_about() {
    let set_up = |home: &Home| Copilot::set_up(home, &home.workspace());
    let home = Home::new();
    set_up(&home);
    let file = home.home().join(".copilot/settings.json");
    let own = fs::read(file).ok();
    let own = own.map(|own| serde_json::from_slice(&own).expect("it is JSON"));
    let own = own.unwrap_or_else(|| json!({}));
    let settings = ".copilot/settings.json";
    let world = World::new(Dialect::CopilotCli, settings, own, set_up);
    world.decides_or_does_not(|scene| {
        let env = Copilot::env(scene.home.env(), &scene.model);
        let copilot = ClaudeNpm::from_env().copilot_bin().join("copilot");
        let copilot = copilot.display().to_string();
        let command = [&*copilot, "-p", "change it", "--allow-all-tools"];
        scene.start(&env, &command)
    });
}

#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn gemini_writes_nothing_that_nobody_has_decided_about() {
    let settings = ".gemini/settings.json";
    let home = Home::new();
    let own = fs::read(home.home().join(settings)).expect("it has settings");
    let own = serde_json::from_slice(&own).expect("they are ours");
    let world = World::new(Dialect::GeminiCli, settings, own, |_| ());
    world.decides_or_does_not(|scene| super::print(scene, AgentKind::Gemini, "yolo"));
}
