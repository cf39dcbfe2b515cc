//! opencode takes the context from Claude Code's lock file, and nothing else.

use pillion_testkit::{Env, Home, Model, Opencode, Tmux, Turn, set_up_claude};

use crate::companion::{SOON, run};
use crate::review::Review;

#[test]
#[ignore = "needs the real agents and opencode: cargo xtask test"]
fn opencode_tells_its_model_what_is_selected() {
    let (tmux, home, model) = (Tmux::start(), Home::new(), Model::start());
    let folder = home.workspace();
    set_up_claude(&home, &folder);
    // Before there is a review, which would share it as saved.
    let file = home.file("looked-at.txt", "one\ntwo\nthree\n");
    let review = Review::start(&tmux, &home);
    let opencode = Opencode::start(&tmux, &home, &model, &folder, &Env::default());
    review.pane().wait_for("● opencode", SOON);
    run(&home, ["focus", &format!("{}:2-2", file.display())]);
    review.pane().wait_for("looked-at.txt:2", SOON);
    // The file, and the line as a person counts.
    opencode.wait_for("looked-at.txt#2");
    model.script([Turn::say("an answer")]);
    opencode.prompt("a question");
    opencode.wait_for("an answer");
    let request = model.wait_for("with the question", SOON, |request| {
        request.is_main && request.mentions("a question")
    });
    let told = format!(r#"The user selected #2 from "{}""#, file.display());
    assert!(request.mentions(&told), "{:#}", request.body["messages"]);
    assert!(request.mentions("```two\n```"));
}
