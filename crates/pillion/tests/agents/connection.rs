//! Agents find the companion by themselves, and say so (C2).

use pillion_testkit::{Agent, AgentKind, Env, Home, Model, Tmux};

use crate::review::Review;

/// As in the terminal of an editor, whose companion starts when it likes. In a plain terminal
/// neither agent takes `/ide enable` unless there was a companion when it started; Qwen Code 0.24.4
/// nowhere.
#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn gemini_connects_to_a_companion_that_came_later_when_asked() {
    let (tmux, home, model) = (Tmux::start(), Home::new(), Model::start());
    let editors = Env::default().with("TERM_PROGRAM", "Zed");
    let (kind, folder) = (AgentKind::Gemini, home.workspace());
    let gemini = Agent::start_with(kind, &tmux, &home, &model, &folder, &editors);
    gemini.ide_status("Disconnected");
    let review = Review::start(&tmux, &home);
    gemini.ide_enable();
    review.wait_connected(kind);
}
