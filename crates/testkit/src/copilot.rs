//! Copilot CLI in a terminal: how it is started without an account, what it shows, which keys it takes.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::json;

use crate::{ClaudeNpm, Env, Home, Model, Pane, SOON, Size, Tmux};

/// Long enough for it to start on a busy machine of two cores, where it unpacks itself first.
const START_TIMEOUT: Duration = Duration::from_secs(120);

/// Keys that come in one read with Enter count as pasted.
const PASTE_PAUSE: Duration = Duration::from_millis(500);

/// The text below the empty input line.
const READY: &str = "/ commands";

/// The question below a proposed change, with the file's path.
const QUESTION: &str = "Do you want to ";

/// Stands below the choices.
const QUESTION_KEYS: &str = "esc to cancel";

/// A running Copilot CLI.
#[derive(Debug)]
pub struct Copilot {
    pane: Pane,
}

impl Copilot {
    /// `base` with what makes it ask the stand-in model and nobody else, and with its command on PATH.
    pub fn env(base: Env, model: &Model) -> Env {
        let npm = ClaudeNpm::from_env();
        let mut env = base;
        env.prepend_path(npm.copilot_bin());
        env.with("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", model.url()))
            .with("COPILOT_PROVIDER_TYPE", "openai")
            .with("COPILOT_PROVIDER_API_KEY", "none")
            .with("COPILOT_MODEL", "claude-sonnet-4.6")
            .with("COPILOT_OFFLINE", "true")
            .with("COPILOT_AUTO_UPDATE", "false")
            .with("XDG_CACHE_HOME", npm.copilot_cache())
    }

    /// Has this person trust the folder.
    pub fn set_up(home: &Home, folder: &Path) {
        let settings = home.home().join(".copilot");
        fs::create_dir_all(&settings).expect("the home is ours");
        let trusted = json!({ "trustedFolders": [folder] });
        fs::write(settings.join("config.json"), trusted.to_string()).expect("the home is ours");
    }

    /// Starts it in `cwd` by this command, and waits until it takes input. One in a tmux server.
    pub fn start_by<S: AsRef<std::ffi::OsStr>>(
        tmux: &Tmux,
        home: &Home,
        model: &Model,
        cwd: &Path,
        command: &[S],
    ) -> Copilot {
        Copilot::set_up(home, cwd);
        let env = Copilot::env(home.env(), model);
        let pane = tmux.spawn("copilot", Size::new(120, 45), &env, cwd, command);
        pane.wait_for(READY, START_TIMEOUT);
        Copilot { pane }
    }

    /// The same by its own command.
    pub fn start(tmux: &Tmux, home: &Home, model: &Model, cwd: &Path) -> Copilot {
        Copilot::start_by(tmux, home, model, cwd, &["copilot"])
    }

    /// Its terminal, for everything that this type does not name.
    pub fn pane(&self) -> &Pane {
        &self.pane
    }

    /// Sends a prompt: one line.
    pub fn prompt(&self, text: &str) {
        self.pane.type_text(text);
        self.pane.wait_for(text, SOON);
        std::thread::sleep(PASTE_PAUSE);
        self.pane.send_keys(["Enter"]);
    }

    /// Waits until this stands on its screen.
    pub fn wait_for(&self, text: &str) -> String {
        self.pane.wait_for(text, SOON)
    }

    /// Waits until it asks about a change in its own window.
    pub fn wait_question(&self) -> String {
        let is_asked = |screen: &str| screen.contains(QUESTION) && screen.contains(QUESTION_KEYS);
        self.pane.wait_until("its question", SOON, is_asked)
    }

    /// Waits until it asks nothing and takes input.
    pub fn wait_ready(&self) -> String {
        let is_ready = |screen: &str| !screen.contains(QUESTION_KEYS) && screen.contains(READY);
        self.pane.wait_until("no question", SOON, is_ready)
    }

    /// Answers its question with yes.
    pub fn allow(&self) {
        self.pane.send_keys(["Enter"]);
        self.wait_ready();
    }

    /// Answers it with no, which ends its turn.
    pub fn cancel(&self) {
        self.pane.send_keys(["Escape"]);
        self.wait_ready();
    }
}
