//! The person is away for a while: Node's HTTP client gives a silent stream up after five minutes,
//! and MCP's SDK a silent session.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use pillion_testkit::{Agent, AgentKind, Home, Model, Tmux, Turn};

use crate::review::Review;

/// More than both.
const AWAY: Duration = Duration::from_secs(360);

#[test]
#[ignore = "waits for six minutes; needs the real agents: cargo xtask test"]
fn agents_are_still_connected_after_six_minutes() {
    let (tmux, home) = (Tmux::start(), Home::new());
    let review = Review::start(&tmux, &home);
    let agents = AgentKind::ALL.map(|kind| {
        let model = Model::start();
        let agent = Agent::start(kind, &tmux, &home, &model, &home.workspace());
        review.wait_connected(kind);
        (agent, model)
    });
    // Nothing to wait for: that nothing happens is the test.
    sleep(AWAY);
    for (agent, model) in &agents {
        let kind = agent.kind();
        review.wait_connected(kind);
        agent.ide_status("Connected to Pillion");
        let name = format!("{}.txt", kind.name());
        let path = home.workspace().join(&name);
        model.script([Turn::write_file(&path, "one\n"), Turn::say("that is done")]);
        agent.prompt("write it");
        review.wait_view(kind, &name);
        review.accept(&name);
        agent.wait_accepted(&name);
        agent.wait_for("that is done");
        assert_eq!(fs::read_to_string(&path).expect("it was written"), "one\n");
    }
}
