//! Codex CLI in a terminal: how it is started without an account, what it shows, which keys it takes.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{CodexRelease, Env, Home, Model, Pane, SOON, Size, Tmux};

/// Long enough for it to start on a busy machine of two cores.
const START_TIMEOUT: Duration = Duration::from_secs(120);

/// Keys that come in one read with Enter count as pasted.
const PASTE_PAUSE: Duration = Duration::from_millis(500);

/// The text in the empty input line.
const READY: &str = "Ask Codex to do anything";

/// Stands on the screen while the model or a tool is at work.
const WORKING: &str = "esc to interrupt";

/// The question about a patch.
const QUESTION: &str = "Would you like to make the following edits?";

/// The model that it believes to speak with, by which it chooses its tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodexModel {
    /// Calls the tool for patches itself.
    Direct,
    /// Calls it in JavaScript, which Codex runs.
    Code,
}

/// A hook in its settings.
#[derive(Debug, Clone)]
pub struct CodexHook {
    /// When it is called.
    pub event: &'static str,
    /// The tools that it is called for; none if it is about none.
    pub matcher: Option<String>,
    /// A shell command.
    pub command: String,
    /// The time that Codex waits for it, in seconds.
    pub timeout: u64,
}

/// The setup for starting it.
#[derive(Debug, Clone)]
pub struct CodexStart {
    /// The release.
    pub release: CodexRelease,
    /// The model, by which it chooses its tools.
    pub model: CodexModel,
    /// `read-only`, in which it asks about each patch, or `workspace-write`, in which it asks about none in its folder.
    pub sandbox: &'static str,
    /// Its hooks.
    pub hooks: Vec<CodexHook>,
}

/// A running Codex CLI.
#[derive(Debug)]
pub struct Codex {
    pane: Pane,
}

impl CodexStart {
    /// `base` with the command on PATH and an account that there is not.
    pub fn env(&self, base: Env) -> Env {
        let mut env = base;
        env.prepend_path(self.release.bin());
        env.with("OPENAI_API_KEY", "none")
    }

    /// Makes the stand-in model the one that this person's Codex asks, and has them trust the folder.
    pub fn set_up(&self, home: &Home, model: &Model, folder: &Path) {
        let name = match self.model {
            CodexModel::Direct => "gpt-5.5",
            CodexModel::Code => "gpt-6-sol",
        };
        let (sandbox, url, folder) = (self.sandbox, model.url(), folder.display());
        let mut settings = format!(
            "model = \"{name}\"\nmodel_provider = \"test\"\napproval_policy = \"on-request\"\nsandbox_mode = \"{sandbox}\"\n\
             check_for_update_on_startup = false\n[notice.model_migrations]\n\"gpt-5.5\" = \"gpt-6-sol\"\n\
             [model_providers.test]\nname = \"Test\"\nbase_url = \"{url}/v1\"\nwire_api = \"responses\"\n\
             [projects.\"{folder}\"]\ntrust_level = \"trusted\"\n"
        );
        for hook in &self.hooks {
            let CodexHook {
                event,
                matcher,
                command,
                timeout,
            } = hook;
            let matcher = matcher.as_ref();
            let matcher = matcher.map_or(String::new(), |it| format!("matcher = '{it}'\n"));
            settings.push_str(&format!(
                "[[hooks.{event}]]\n{matcher}[[hooks.{event}.hooks]]\ntype = \"command\"\n\
                 command = '''{command}'''\ntimeout = {timeout}\nstatusMessage = \"Waiting for the test\"\n"
            ));
        }
        let folder = Codex::folder(home);
        fs::create_dir_all(&folder).expect("the home is ours");
        fs::write(folder.join("config.toml"), settings).expect("the home is ours");
    }
}

impl Codex {
    /// The folder of its settings.
    pub fn folder(home: &Home) -> PathBuf {
        home.home().join(".codex")
    }

    /// Starts it in the home's workspace by this command, and waits until it takes input. One in a tmux server.
    pub fn start_by<S: AsRef<std::ffi::OsStr>>(
        tmux: &Tmux,
        home: &Home,
        model: &Model,
        start: &CodexStart,
        command: &[S],
    ) -> Codex {
        let folder = home.workspace();
        start.set_up(home, model, &folder);
        let env = start.env(home.env());
        let pane = tmux.spawn("codex", Size::new(120, 45), &env, &folder, command);
        pane.wait_for(READY, START_TIMEOUT);
        Codex { pane }
    }

    /// The same by its own command, which runs hooks that nobody has trusted.
    pub fn start(tmux: &Tmux, home: &Home, model: &Model, start: &CodexStart) -> Codex {
        let command = ["codex", "--dangerously-bypass-hook-trust"];
        Codex::start_by(tmux, home, model, start, &command)
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

    /// Waits until it asks about a patch in its own window.
    pub fn wait_question(&self) -> String {
        self.pane.wait_for(QUESTION, SOON)
    }

    /// Waits until it works at nothing and asks nothing.
    pub fn wait_ready(&self) -> String {
        let is_ready = |screen: &str| {
            screen.contains(READY) && !screen.contains(WORKING) && !screen.contains(QUESTION)
        };
        self.pane.wait_until("an empty input line", SOON, is_ready)
    }

    /// Ends its turn, and with it the hook that it waits for.
    pub fn interrupt(&self) {
        self.pane.send_keys(["Escape"]);
        self.wait_ready();
    }
}
