//! opencode takes the context from Claude Code's lock file, and nothing else.

use std::path::{Path, PathBuf};

use pillion_testkit::{Env, Home, Model, Opencode, Size, Tmux, Turn, lock_files, set_up_claude};

use crate::companion::{PILLION, SOON, run};
use crate::review::Review;

#[test]
#[ignore = "in --all: needs the real agents and opencode: cargo xtask test --all"]
fn opencode_sends_its_model_what_is_selected() {
    sends_its_model_what_is_selected(|tmux, home, model| {
        Opencode::start(tmux, home, model, &home.workspace(), &Env::default())
    });
}

/// By the variable, which is Claude Code's, it would dial without a token and be refused.
#[test]
#[ignore = "in --all: needs the real agents and opencode: cargo xtask test --all"]
fn opencode_is_run_without_the_variable_that_misleads_it() {
    sends_its_model_what_is_selected(|tmux, home, model| {
        Opencode::set_up(home, model);
        let locks = lock_files(home);
        let port = locks.first().and_then(|path| path.file_stem());
        let port = port.expect("the review is published");
        let env = Opencode::env(home.env()).with("CLAUDE_CODE_SSE_PORT", port);
        let size = Size::new(110, 45);
        let command = [PILLION, "run", "--require", "opencode"];
        Opencode::attach(tmux.spawn("opencode", size, &env, &home.workspace(), &command))
    });
}

fn sends_its_model_what_is_selected(start: impl FnOnce(&Tmux, &Home, &Model) -> Opencode) {
    let (tmux, home, model) = (Tmux::start(), Home::new(), Model::start());
    set_up_claude(&home, &home.workspace());
    let file = look_at(&home);
    let review = Review::start(&tmux, &home);
    let opencode = start(&tmux, &home, &model);
    review.pane().wait_for("● opencode", SOON);
    is_told_what_is_selected(&home, &model, &review, &opencode, &file);
}

/// A file to be selected in. It must be there before a review is, which would share it as saved.
pub fn look_at(home: &Home) -> PathBuf {
    home.file("looked-at.txt", "one\ntwo\nthree\n")
}

/// One that is connected to the review by the lock file.
pub fn is_told_what_is_selected(
    home: &Home,
    model: &Model,
    review: &Review,
    opencode: &Opencode,
    file: &Path,
) {
    run(home, ["focus", &format!("{}:2-2", file.display())]);
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
