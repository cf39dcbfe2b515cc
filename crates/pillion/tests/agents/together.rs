//! Several agents at one companion (C1.4): each gets what is its own.

use std::fs;

use pillion_testkit::{Agent, AgentKind, Home, Model, Tmux, Turn};

use crate::companion::SOON;
use crate::review::{Review, title};

const FILE: &str = "both.txt";

/// Both propose a text for the same file; one is accepted, the other rejected.
#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn two_agents_with_a_diff_on_one_path_get_an_outcome_each() {
    let (tmux, home) = (Tmux::start(), Home::new());
    let review = Review::start(&tmux, &home);
    let models = [Model::start(), Model::start()];
    let [gemini, qwen] = [
        (AgentKind::Gemini, &models[0]),
        (AgentKind::Qwen, &models[1]),
    ]
    .map(|(kind, model)| {
        let agent = Agent::start(kind, &tmux, &home, model, &home.workspace());
        review.wait_connected(kind);
        agent
    });
    let path = home.workspace().join(FILE);
    for (agent, model) in [(&gemini, &models[0]), (&qwen, &models[1])] {
        let text = format!("from {}\n", agent.kind().name());
        model.script([Turn::write_file(&path, text), Turn::say("that is done")]);
        agent.prompt("write it");
        agent.wait_question();
    }
    review.wait_view(AgentKind::Gemini, FILE);
    review.turn_to_second(&title(AgentKind::Qwen, FILE));

    review.accept(FILE);
    qwen.wait_accepted(FILE);
    qwen.wait_for("that is done");
    let is_qwens = || fs::read_to_string(&path).is_ok_and(|text| text == "from qwen\n");
    assert!(is_qwens());

    let screen = review.wait_view(AgentKind::Gemini, FILE);
    assert!(!screen.contains(&title(AgentKind::Qwen, FILE)), "{screen}");
    assert!(gemini.asks(), "the other agent's outcome is not Gemini's");
    // The review compares with what the agent found, and says what became of it since.
    review.pane().wait_for("appeared on disk", SOON);
    review.reject(FILE);
    gemini.wait_rejected(FILE);
    assert!(is_qwens());
    review.wait_idle();
}
