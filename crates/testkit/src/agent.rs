//! The real agents in a terminal: how each is started, what it shows, which keys it takes.

use std::path::Path;
use std::time::Duration;

use crate::{Env, Home, Model, Npm, Pane, SOON, Size, Tmux, Turn};

/// Long enough for Node to start on a busy machine of two cores.
const START: Duration = Duration::from_secs(120);

/// Agents take keys that come closer together than about 40 ms for a paste.
const PASTE_PAUSE: Duration = Duration::from_millis(500);

/// The time for which an agent's client goes on trying to reach a companion that is gone. Each of these
/// failures marks the agent as disconnected, even one that is connected to another by then.
const OLD_CLIENT_GIVES_UP: Duration = Duration::from_secs(4);

/// The text of both agents in an empty input line.
const READY: &str = "Type your message";

/// The command by which both agents are left.
const QUIT: &str = "/quit";

/// The text of both about it below the input line once they have loaded their commands. Until then they
/// take commands for prompts.
const ABOUT_QUIT: &str = "xit the cli";

/// The question of both agents above the choices for a proposed change.
const QUESTION: &str = "Apply this change?";

/// The choice that refuses, behind its number.
const NO: &str = ". No, suggest changes";

/// The kind of agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentKind {
    /// Gemini CLI.
    Gemini,
    /// Qwen Code.
    Qwen,
}

impl AgentKind {
    /// Both.
    pub const ALL: [AgentKind; 2] = [AgentKind::Gemini, AgentKind::Qwen];

    /// The command's name.
    pub fn name(self) -> &'static str {
        match self {
            AgentKind::Gemini => "gemini",
            AgentKind::Qwen => "qwen",
        }
    }

    /// The cursor's place as it sends it to its model, without blanks (see
    /// [`ModelRequest::newest_message`](crate::ModelRequest::newest_message)).
    pub fn reported_cursor(self, line: u32, character: u32) -> String {
        match self {
            AgentKind::Gemini => format!(r#""line":{line},"character":{character}"#),
            AgentKind::Qwen => format!("line{line},character{character}"),
        }
    }

    /// The arguments that it is started with.
    pub fn arguments(self) -> &'static [&'static str] {
        match self {
            AgentKind::Gemini => &[],
            // Its own default approves by itself and shows no diff.
            AgentKind::Qwen => &["--approval-mode", "default"],
        }
    }

    /// Its command line.
    fn command_line(self, npm: &Npm) -> Vec<String> {
        let command = npm.bin().join(self.name()).display().to_string();
        let arguments = self.arguments().iter().map(|&argument| argument.to_owned());
        [command].into_iter().chain(arguments).collect()
    }

    /// `base` with what makes it ask the stand-in model, and with its command on PATH; in a
    /// container, with what lets it find a companion there, too. It does not start itself once more, as it
    /// does for people, to get a larger heap: that takes a quarter of its time. Nor does it colour its screen, which it
    /// cuts up and puts together again for each frame: that takes a fifth.
    pub fn env(self, base: Env, model: &Model) -> Env {
        let env = self.unwired_env(base, model).with("NO_COLOR", "1");
        match self {
            // In a container it would dial another host than this one.
            AgentKind::Gemini => env
                .with("REMOTE_CONTAINERS", "1")
                .with("GEMINI_CLI_NO_RELAUNCH", "true"),
            AgentKind::Qwen => env.with("QWEN_CODE_NO_RELAUNCH", "true"),
        }
    }

    /// The same as people have it, and without anything that leads to a companion.
    pub fn unwired_env(self, base: Env, model: &Model) -> Env {
        let mut env = base;
        Npm::from_env().add_to(&mut env);
        match self {
            AgentKind::Gemini => env
                .with("GEMINI_API_KEY", "none")
                .with("GOOGLE_GEMINI_BASE_URL", model.url()),
            AgentKind::Qwen => env
                .with("OPENAI_API_KEY", "none")
                .with("OPENAI_BASE_URL", format!("{}/v1", model.url()))
                .with("OPENAI_MODEL", "fake"),
        }
    }
}

/// A running agent.
#[derive(Debug)]
pub struct Agent {
    kind: AgentKind,
    pane: Pane,
}

impl Agent {
    /// Starts it in `cwd` and waits until it takes input. In one tmux server one of each kind.
    pub fn start(kind: AgentKind, tmux: &Tmux, home: &Home, model: &Model, cwd: &Path) -> Agent {
        Agent::start_with(kind, tmux, home, model, cwd, &Env::default())
    }

    /// The same, with more environment variables, such as those that a companion gives its
    /// editor's terminals.
    pub fn start_with(
        kind: AgentKind,
        tmux: &Tmux,
        home: &Home,
        model: &Model,
        cwd: &Path,
        more: &Env,
    ) -> Agent {
        let npm = Npm::from_env();
        let mut env = kind.env(home.env(), model);
        for (name, value) in more.iter() {
            env.set(name, value);
        }
        let size = Size::new(100, 40);
        let pane = tmux.spawn(kind.name(), size, &env, cwd, &kind.command_line(&npm));
        Agent::attach(kind, pane)
    }

    /// Takes hold of one that was started in this terminal, perhaps in an editor that runs there
    /// and gives it the keys, and waits until it takes input.
    pub fn attach(kind: AgentKind, pane: Pane) -> Agent {
        let agent = Agent { kind, pane };
        agent.pane.wait_for(READY, START);
        agent.wait_commands();
        agent
    }

    /// The kind of this agent.
    pub fn kind(&self) -> AgentKind {
        self.kind
    }

    /// Its terminal, for everything that this type does not name.
    pub fn pane(&self) -> &Pane {
        &self.pane
    }

    /// Sends a prompt, or a command that starts with `/`: one line, shorter than the screen is
    /// wide. The screen is cleared before, so that what stands there afterwards is the answer.
    pub fn prompt(&self, text: &str) {
        self.submit(text);
        self.wait_taken();
    }

    /// Sends a prompt whose beginning another program puts into the input line: waits for that, and
    /// types the rest, one line.
    pub fn complete_prompt(&self, rest: &str) {
        self.pane.wait_gone(READY, SOON);
        self.enter(rest);
        self.wait_taken();
    }

    /// Prompts it, and waits for its answer. Returns the request that it sent to the model.
    pub fn ask(&self, model: &Model, prompt: &str) -> String {
        self.ask_with(model, prompt, Agent::prompt)
    }

    /// The same, with the prompt typed by `send`.
    pub fn ask_with(&self, model: &Model, prompt: &str, send: impl Fn(&Agent, &str)) -> String {
        model.script([Turn::say("I have seen it")]);
        send(self, prompt);
        self.wait_for("I have seen it");
        let asked = model.wait_for("with the prompt", SOON, |request| {
            request.is_main && request.mentions(prompt)
        });
        asked.newest_message()
    }

    /// Has it propose `text` for the file at `path`, and waits until it asks about that.
    pub fn propose(&self, model: &Model, path: &Path, text: &str) {
        model.script([
            // Qwen overwrites no file that it has not read.
            Turn::read_file(path),
            Turn::write_file(path, text),
            Turn::say("that is done"),
        ]);
        self.prompt("change it");
        self.wait_question();
    }

    /// Waits until it asks in its own window whether a change may be made.
    pub fn wait_question(&self) -> String {
        self.pane.wait_for(QUESTION, SOON)
    }

    /// Returns true if it asks that now.
    pub fn asks(&self) -> bool {
        self.pane.screen().contains(QUESTION)
    }

    /// Allows the change in the agent's own window, once.
    pub fn allow(&self) {
        self.answer("Enter");
    }

    /// Refuses it there, by the choice "No".
    pub fn deny(&self) {
        self.wait_question();
        // It may be drawn line by line.
        let screen = self.pane.wait_for(NO, SOON);
        // Its number depends on what else is offered.
        let number = screen.lines().find_map(|row| {
            let (before, _) = row.split_once(NO)?;
            before.split_whitespace().last()
        });
        let number = number.unwrap_or_else(|| panic!("expected the choice \"No\":\n{screen}"));
        self.answer(number);
    }

    /// Refuses it there, with Esc.
    pub fn cancel(&self) {
        self.answer("Escape");
    }

    /// Waits until it says that the change to the file of this name was made.
    pub fn wait_accepted(&self, file_name: &str) -> String {
        self.wait_verdict(
            file_name,
            "accepted",
            match self.kind {
                AgentKind::Gemini => "✓  WriteFile",
                AgentKind::Qwen => "✓ WriteFile",
            },
        )
    }

    /// Waits until it says that the change to the file of this name was refused.
    pub fn wait_rejected(&self, file_name: &str) -> String {
        self.wait_verdict(
            file_name,
            "rejected",
            match self.kind {
                AgentKind::Gemini => "-  WriteFile",
                AgentKind::Qwen => "- WriteFile",
            },
        )
    }

    /// Waits until this stands on its screen.
    pub fn wait_for(&self, text: &str) -> String {
        self.pane.wait_for(text, SOON)
    }

    /// Asks `/ide status` and waits until the answer holds `expected`. The screen.
    pub fn ide_status(&self, expected: &str) -> String {
        self.command("/ide status", &[expected])
    }

    /// Gives one of its own commands, and waits until one of `answers` stands on the screen, which
    /// is returned.
    pub fn command(&self, command: &str, answers: &[&str]) -> String {
        self.prompt(command);
        let what = format!("one of {answers:?}");
        self.pane.wait_until(&what, SOON, |screen| {
            answers.iter().any(|answer| screen.contains(answer))
        })
    }

    /// Connects again, to whatever companion is there now, after the one that it had is gone, and
    /// waits until it says that it has. Takes some seconds: it is asked only when its client for the
    /// old one has given up.
    pub fn ide_enable(&self) {
        std::thread::sleep(OLD_CLIENT_GIVES_UP);
        self.command("/ide enable", &["Connected to"]);
    }

    /// Leaves, and waits until it has left.
    pub fn quit(self) {
        self.submit(QUIT);
        self.pane.wait_exit(SOON);
    }

    /// Kills it and all its processes (SIGKILL), and waits until they are gone.
    pub fn kill(self) {
        self.pane.kill();
    }

    /// Waits until it knows its own commands: it completes one then.
    fn wait_commands(&self) {
        self.pane.type_text(QUIT);
        self.pane.wait_for(ABOUT_QUIT, START);
        self.pane.send_keys(["BSpace"; QUIT.len()]);
        self.pane.wait_for(READY, SOON);
    }

    fn wait_taken(&self) {
        self.pane.wait_until("the prompt taken", SOON, |screen| {
            screen.contains(READY) || screen.contains(QUESTION)
        });
    }

    fn submit(&self, text: &str) {
        self.pane.wait_for(READY, SOON);
        self.pane.send_keys(["C-l"]);
        self.enter(text);
    }

    fn enter(&self, text: &str) {
        self.pane.type_text(text);
        let what = format!("{text:?} in the input line");
        self.pane.wait_until(&what, SOON, |screen| {
            screen.contains(text) && !screen.contains(READY)
        });
        // Enter right behind a key is taken for part of something pasted.
        std::thread::sleep(PASTE_PAUSE);
        self.pane.send_keys(["Enter"]);
    }

    fn answer(&self, key: &str) {
        self.wait_question();
        self.pane.send_keys([key]);
        self.pane.wait_gone(QUESTION, SOON);
    }

    fn wait_verdict(&self, file_name: &str, verdict: &str, sign: &str) -> String {
        let what = format!("the change to {file_name} {verdict}");
        self.pane.wait_until(&what, SOON, |screen| {
            let says = |row: &str| row.contains(sign) && row.contains(file_name);
            screen.lines().any(says) && !screen.contains(QUESTION)
        })
    }
}
