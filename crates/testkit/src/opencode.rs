//! opencode, in a terminal and without one. It takes context from a companion, and has a plugin of Pillion's if that is installed.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::json;

use crate::{ClaudeNpm, Env, Home, Model, Pane, SOON, Size, Tmux};

/// Long enough for it to start on a busy machine of two cores, where it makes a database first.
const START_TIMEOUT: Duration = Duration::from_secs(120);

/// Keys that come in one read with Enter count as pasted.
const PASTE_PAUSE: Duration = Duration::from_millis(500);

/// The text below the input line.
const READY: &str = "ctrl+p commands";

/// The package that it downloads for plugins, though not for ours. Without a network it waits for that for a minute, unless it
/// takes it for installed.
const FOR_PLUGINS: &str = "@opencode-ai/plugin";

/// The model to which it gives a tool for patches alone, by its name.
pub const PATCHER: &str = "gpt-5.5";

/// A running opencode.
#[derive(Debug)]
pub struct Opencode {
    pane: Pane,
}

impl Opencode {
    /// `base` with what makes it ask nobody but its model, and with its command on PATH.
    pub fn env(base: Env) -> Env {
        let mut env = base;
        env.prepend_path(ClaudeNpm::from_env().opencode_bin());
        env.with("OPENCODE_DISABLE_AUTOUPDATE", "1")
            .with("OPENCODE_DISABLE_MODELS_FETCH", "1")
            .with("OPENCODE_DISABLE_LSP_DOWNLOAD", "1")
    }

    /// Makes the stand-in model the one that this person's opencode asks.
    pub fn set_up(home: &Home, model: &Model) {
        let folder = home.home().join(".config/opencode");
        let settings = json!({
            "autoupdate": false,
            "share": "disabled",
            "model": "test/fake",
            "small_model": "test/fake",
            "provider": {
                "test": {
                    "npm": "@ai-sdk/openai-compatible",
                    "name": "Test",
                    "options": { "baseURL": format!("{}/v1", model.url()), "apiKey": "none" },
                    "models": { "fake": { "name": "Fake" }, (PATCHER): { "name": "Patcher" } },
                },
            },
        });
        fs::create_dir_all(&folder).expect("the home is ours");
        let file = folder.join("opencode.json");
        fs::write(file, settings.to_string()).expect("the home is ours");
        let installed = json!({ "packages": { "": { "dependencies": { (FOR_PLUGINS): "*" } } } });
        fs::create_dir_all(folder.join("node_modules")).expect("the home is ours");
        fs::write(folder.join("package-lock.json"), installed.to_string())
            .expect("the home is ours");
    }

    /// The command line of one that prints its answer to this prompt and ends.
    pub fn print(model: &str, prompt: &str) -> Vec<String> {
        let command = ClaudeNpm::from_env().opencode_bin().join("opencode");
        let model = format!("test/{model}");
        let words = [
            &*command.display().to_string(),
            "run",
            "--model",
            &model,
            prompt,
        ];
        words.map(str::to_owned).to_vec()
    }

    /// Starts it in `cwd`, with more environment variables, and waits until it takes input. One in a
    /// tmux server.
    pub fn start(tmux: &Tmux, home: &Home, model: &Model, cwd: &Path, more: &Env) -> Opencode {
        Opencode::set_up(home, model);
        let mut env = Opencode::env(home.env());
        for (name, value) in more.iter() {
            env.set(name, value);
        }
        let command = [ClaudeNpm::from_env().opencode_bin().join("opencode")];
        let pane = tmux.spawn("opencode", Size::new(110, 45), &env, cwd, &command);
        Opencode::attach(pane)
    }

    /// Takes hold of one that was started in this terminal, perhaps by another program, and waits until
    /// it takes input.
    pub fn attach(pane: Pane) -> Opencode {
        pane.wait_for(READY, START_TIMEOUT);
        Opencode { pane }
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
}
