//! Claude Code with the terminal review, in both releases: the native one, and the last on Node.

mod bytes;
mod changes;
mod connection;
mod context;
mod decisions;
mod feedback;
mod hook;
mod lost;
mod matrix;
mod rules;
mod run;
mod sending;
mod unwritten;

use std::fs;
use std::path::{Path, PathBuf};

use pillion_testkit::{
    Claude, ClaudeRelease, ClaudeStart, Env, Home, Model, ModelRequest, Tmux, Turn, set_up_claude,
};

use crate::companion::SOON;
use crate::review::Review;

/// The review's name for it.
const NAME: &str = "Claude Code";

/// A review with one Claude Code that is connected to it.
#[derive(Debug)]
struct Scene {
    claude: Claude,
    review: Review,
    model: Model,
    // After those that run in it.
    tmux: Tmux,
    // Last: the others have files in it.
    home: Home,
}

impl Scene {
    /// In a fresh home.
    fn new(release: ClaudeRelease) -> Scene {
        Scene::with(release, Home::new(), &Env::default(), &ide())
    }

    /// In this home, with more environment variables for the review.
    fn with(release: ClaudeRelease, home: Home, more: &Env, how: &ClaudeStart<'_>) -> Scene {
        let (tmux, model) = (Tmux::start(), Model::start());
        set_up_claude(&home, &home.workspace());
        let review = Review::start_with(&tmux, &home, "review", more);
        let claude = Claude::start_with(release, &tmux, &home, &model, &home.workspace(), how);
        wait_connected(&review);
        Scene {
            claude,
            review,
            model,
            tmux,
            home,
        }
    }

    /// Lets the model propose, and waits until the review shows the proposal for this file, and Claude
    /// Code asks in its own window. `said` is the model's text at the end.
    fn propose(&self, turns: impl IntoIterator<Item = Turn>, said: &str, file_name: &str) {
        self.model.script(turns);
        self.model.script([Turn::say(said)]);
        self.claude.prompt("change it");
        self.wait_view(file_name);
    }

    /// The same for a new file, which is not in the workspace yet: its path.
    fn propose_new(&self, file_name: &str, text: &str) -> PathBuf {
        let path = self.home.workspace().join(file_name);
        let said = format!("{file_name} is done");
        self.propose([Turn::write_file(&path, text)], &said, file_name);
        path
    }

    /// Waits until the review shows the proposal for this file, and Claude Code asks in its own window.
    fn wait_view(&self, file_name: &str) {
        let title = format!("{NAME} proposes {file_name}");
        self.review.pane().wait_for(&title, SOON);
        self.claude.wait_question();
    }

    /// Waits until the review says that Claude Code closed its diff, and shows it no more.
    fn wait_closed(&self, file_name: &str) {
        let said = format!("{NAME} closed its diff of {file_name}");
        self.review.pane().wait_for(&said, SOON);
        self.review.wait_idle();
    }

    /// Waits until the model has been asked something in the main conversation that holds this.
    fn wait_asked(&self, text: &str) -> ModelRequest {
        let what = format!("with {text:?}");
        let is_asked = |request: &ModelRequest| request.is_main && request.mentions(text);
        self.model.wait_for(&what, SOON, is_asked)
    }
}

/// Started so that it looks for a companion by itself.
fn ide() -> ClaudeStart<'static> {
    ClaudeStart {
        arguments: &["--ide"],
        ..ClaudeStart::default()
    }
}

/// Waits until the review's header shows that Claude Code is connected.
fn wait_connected(review: &Review) {
    review.pane().wait_for(&format!("● {NAME}"), SOON);
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("Claude Code has written it")
}
