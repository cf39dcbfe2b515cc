//! The person is away for a while: Node's HTTP client gives a silent stream up after five minutes,
//! and MCP's SDK a silent session. Claude Code's WebSocket is as silent.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use pillion_testkit::{Agent, AgentKind, Claude, ClaudeRelease, Home, Model, Tmux, Turn};

use crate::companion::SOON;
use crate::review::Review;

/// More than both.
const AWAY: Duration = Duration::from_secs(360);

#[test]
#[ignore = "in --all: waits for six minutes; needs the real agents and Claude Code: cargo xtask test --all"]
fn agents_are_still_connected_after_six_minutes() {
    let (tmux, home) = (Tmux::start(), Home::new());
    let folder = home.workspace();
    let review = Review::start(&tmux, &home);
    let agents = AgentKind::ALL.map(|kind| {
        let model = Model::start();
        let agent = Agent::start(kind, &tmux, &home, &model, &folder);
        review.wait_connected(kind);
        (agent, model)
    });
    let claudes = ClaudeRelease::ALL.map(|release| {
        let model = Model::start();
        let claude = Claude::start(release, &tmux, &home, &model, &folder);
        (claude, model)
    });
    review.pane().wait_for("● Claude Code ×2", SOON);
    // Nothing to wait for: that nothing happens is the test.
    sleep(AWAY);
    review.pane().wait_for("● Claude Code ×2", SOON);
    let turns = |name: &str| {
        let write = Turn::write_file(folder.join(name), "one\n");
        [write, Turn::say("that is done")]
    };
    let assert_written = |name: &str| {
        let text = fs::read_to_string(folder.join(name)).expect("it was written");
        assert_eq!(text, "one\n", "{name}");
    };
    for (agent, model) in &agents {
        let kind = agent.kind();
        review.wait_connected(kind);
        agent.ide_status("Connected to Pillion");
        let name = format!("{}.txt", kind.name());
        model.script(turns(&name));
        agent.prompt("write it");
        review.wait_view(kind, &name);
        review.accept(&name);
        agent.wait_accepted(&name);
        agent.wait_for("that is done");
        assert_written(&name);
    }
    for (claude, model) in &claudes {
        let name = format!("claude-{}.txt", claude.release().version());
        model.script(turns(&name));
        claude.prompt("write it");
        review.pane().wait_for(&format!("proposes {name}"), SOON);
        review.accept(&name);
        claude.wait_for("that is done");
        assert_written(&name);
    }
}
