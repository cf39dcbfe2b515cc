//! The harness itself: both agents start, take a prompt, show the stand-in model's answer and do
//! what they are told.

use pillion_testkit::{Agent, AgentKind, Home, Model, SOON, Tmux, Turn};

#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn gemini_answers_proposes_and_obeys() {
    answers_proposes_and_obeys(AgentKind::Gemini);
}

#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn qwen_answers_proposes_and_obeys() {
    answers_proposes_and_obeys(AgentKind::Qwen);
}

/// Without a companion the agent asks in its own window alone.
fn answers_proposes_and_obeys(kind: AgentKind) {
    let (tmux, home, model) = (Tmux::start(), Home::new(), Model::start());
    let agent = Agent::start(kind, &tmux, &home, &model, &home.workspace());
    model.script([Turn::say("the pinned answer"), Turn::say("and another")]);
    agent.prompt("say something");
    agent.wait_for("the pinned answer");
    agent.prompt("say something");
    agent.wait_for("and another");
    model.wait_for("with the prompt", SOON, |request| {
        request.is_main && request.mentions("say something")
    });
    assert_eq!(model.turns_left(), 0);

    let path = home.workspace().join("allowed.txt");
    model.script([Turn::write_file(&path, "new\n"), Turn::say("that is done")]);
    agent.prompt("write it");
    agent.allow();
    agent.wait_accepted("allowed.txt");
    agent.wait_for("that is done");
    assert_eq!(
        std::fs::read_to_string(&path).expect("it was written"),
        "new\n"
    );

    let path = home.file("there.txt", "old\n");
    model.script([
        Turn::read_file(&path),
        Turn::replace(&path, "old", "other"),
        Turn::say("never said"),
    ]);
    agent.prompt("change it");
    agent.wait_question();
    agent.cancel();
    model.clear();
    for (name, refuse) in [
        ("denied.txt", Agent::deny as fn(&Agent)),
        ("cancelled.txt", Agent::cancel),
    ] {
        let path = home.workspace().join(name);
        model.script([Turn::write_file(&path, "new\n")]);
        agent.prompt("write another");
        refuse(&agent);
        agent.wait_rejected(name);
        assert!(!path.exists(), "{name} was refused");
    }
    agent.quit();
}
