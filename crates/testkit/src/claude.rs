//! Claude Code in a terminal: how each release is started, what it shows, which keys it takes.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{ClaudeNpm, ClaudeRelease, Env, Home, Model, Npm, Pane, SOON, Size, Tmux, pause};

/// Long enough for Node to start on a busy machine of two cores.
const START_TIMEOUT: Duration = Duration::from_secs(120);

/// Keys that come in one read with Enter count as pasted.
const PASTE_PAUSE: Duration = Duration::from_millis(500);

/// After so long, a key that had no effect is pressed again.
const KEY_TIMEOUT: Duration = Duration::from_secs(5);

/// The texts below the empty input line: one of these for each permission mode.
const READY: [&str; 6] = [
    "? for shortcuts",
    "plan mode on",
    "accept edits on",
    "auto mode on",
    "bypass permissions on",
    // All that Emacs's `term` draws of it in the wrong place.
    "(shift+tab to cycle)",
];

/// The question above the choices for a proposed change.
const QUESTION: &str = "Do you want to ";

/// Stands below those choices.
const QUESTION_KEYS: &str = "Esc to cancel";

/// Above the companions that `/ide` offers.
const LISTS: [&str; 2] = ["Connect to an IDE", "Select IDE"];

/// The question of `/ide` before it connects: whether it shall from now on without being asked.
const ASK_ALWAYS: [&str; 2] = ["IDE automatically?", "enable auto-connect to IDE?"];

/// The key that no server is asked about.
const API_KEY: &str = "sk-ant-api03-made-up-for-tests-0123456789-abcdefghij";

/// Of a key that the person has approved, the settings keep so many last characters.
const APPROVED_LEN: usize = 20;

impl ClaudeRelease {
    /// `base` with what makes it ask the stand-in model and nobody else, and with its command,
    /// `claude`, on PATH. Nothing in it leads to a companion.
    pub fn env(self, base: Env, model: &Model) -> Env {
        let mut env = base;
        Npm::from_env().add_to(&mut env);
        env.prepend_path(ClaudeNpm::from_env().bin(self));
        ClaudeRelease::asking(env, model)
    }

    /// The same, where the command is on PATH already.
    pub fn asking(base: Env, model: &Model) -> Env {
        base.with("ANTHROPIC_BASE_URL", model.url())
            .with("ANTHROPIC_API_KEY", API_KEY)
            .with("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .with("DISABLE_TELEMETRY", "1")
            .with("DISABLE_AUTOUPDATER", "1")
            // Bun, in which the native release runs, need not optimise what runs for seconds only: that takes
            // a third of its time.
            .with("BUN_JSC_useDFGJIT", "0")
            // It would run npm, git and ssh first, each several times.
            .with("DISABLE_INSTALLATION_CHECKS", "1")
            // Its own way to look for commands and agents starts a program for each folder.
            .with("CLAUDE_CODE_USE_NATIVE_FILE_SEARCH", "1")
            .with("CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL", "1")
            // Otherwise it may try to install an extension into an editor of this machine.
            .with("CLAUDE_CODE_IDE_SKIP_AUTO_INSTALL", "1")
    }
}

/// Answers Claude Code's first questions for this person, and whether `folder` is trusted. Settings that
/// are there already stay.
pub fn set_up_claude(home: &Home, folder: &Path) {
    set_up_claude_in(&home.home(), folder);
}

/// The same for the person with this home folder.
pub fn set_up_claude_in(home: &Path, folder: &Path) {
    let path = home.join(".claude.json");
    let mut settings: Value = fs::read(&path).map_or_else(
        |_| json!({}),
        |bytes| serde_json::from_slice(&bytes).expect("the settings are ours"),
    );
    settings["hasCompletedOnboarding"] = true.into();
    let approved = &API_KEY[API_KEY.len() - APPROVED_LEN..];
    settings["customApiKeyResponses"] = json!({ "approved": [approved], "rejected": [] });
    let folder = folder.to_str().expect("the folder's name is UTF-8");
    settings["projects"][folder]["hasTrustDialogAccepted"] = true.into();
    fs::write(&path, settings.to_string()).expect("the home is ours");
    // A person who has run it once has this folder.
    fs::create_dir_all(home.join(".claude")).expect("the home is ours");
}

/// The setup for starting one.
#[derive(Debug, Clone, Default)]
pub struct ClaudeStart<'a> {
    /// The terminal's name, unique in its tmux server; that of the release if it is empty.
    pub name: &'a str,
    /// Arguments before those for the permission mode, such as `--ide`.
    pub arguments: &'a [&'a str],
    /// The permission mode; "default" if it is empty. The release's own default shows no diff.
    pub mode: &'a str,
    /// More environment variables.
    pub env: Env,
}

/// A running Claude Code.
#[derive(Debug)]
pub struct Claude {
    release: ClaudeRelease,
    pane: Pane,
}

impl Claude {
    /// Starts one that looks for a companion (`--ide`) in `cwd`, and waits until it takes input.
    pub fn start(
        release: ClaudeRelease,
        tmux: &Tmux,
        home: &Home,
        model: &Model,
        cwd: &Path,
    ) -> Claude {
        let how = ClaudeStart {
            arguments: &["--ide"],
            ..ClaudeStart::default()
        };
        Claude::start_with(release, tmux, home, model, cwd, &how)
    }

    /// Starts one, and waits until it takes input.
    pub fn start_with(
        release: ClaudeRelease,
        tmux: &Tmux,
        home: &Home,
        model: &Model,
        cwd: &Path,
        how: &ClaudeStart<'_>,
    ) -> Claude {
        set_up_claude(home, cwd);
        let mut env = release.env(home.env(), model);
        for (name, value) in how.env.iter() {
            env.set(name, value);
        }
        let command = ClaudeNpm::from_env().bin(release).join("claude");
        let command = command.display().to_string();
        let mode = Some(how.mode).filter(|mode| !mode.is_empty());
        let mode = ["--permission-mode", mode.unwrap_or("default")];
        let command: Vec<&str> = [command.as_str()]
            .into_iter()
            .chain(how.arguments.iter().copied())
            .chain(mode)
            .collect();
        let name = match how.name {
            // A dot separates window and pane.
            "" => format!("claude-{}", release.version().replace('.', "-")),
            name => name.to_owned(),
        };
        let pane = tmux.spawn(&name, Size::new(110, 45), &env, cwd, &command);
        Claude::attach(release, pane)
    }

    /// Takes hold of one that was started in this terminal, perhaps by another program, and waits until
    /// it takes input.
    pub fn attach(release: ClaudeRelease, pane: Pane) -> Claude {
        let what = "Claude Code ready for input";
        pane.wait_until(what, START_TIMEOUT, is_ready);
        Claude { release, pane }
    }

    /// The release of this one.
    pub fn release(&self) -> ClaudeRelease {
        self.release
    }

    /// Its terminal, for everything that this type does not name.
    pub fn pane(&self) -> &Pane {
        &self.pane
    }

    /// Sends a prompt, or a command that starts with `/`: one line, shorter than the screen is wide.
    pub fn prompt(&self, text: &str) {
        self.wait_ready();
        self.type_text(text);
        self.enter();
    }

    /// Types into the input line, after what stands there, and waits until it is there.
    pub fn type_text(&self, text: &str) {
        self.pane.type_text(text);
        self.pane.wait_for(text.trim_end(), SOON);
    }

    /// Sends what stands in the input line.
    pub fn enter(&self) {
        sleep(PASTE_PAUSE);
        self.pane.send_keys(["Enter"]);
    }

    /// Gives the command `/ide`, and chooses the first companion that it offers, for once.
    pub fn connect_by_command(&self) {
        self.prompt("/ide");
        let what = "the list of companions";
        let is_list = |screen: &str| LISTS.iter().any(|title| screen.contains(title));
        self.pane.wait_until(what, SOON, is_list);
        // "None" is chosen, below them. A key that comes too early does nothing.
        let is_marked = |screen: &str| {
            let rows = screen
                .lines()
                .skip_while(|row| !LISTS.iter().any(|it| row.contains(it)));
            rows.into_iter()
                .any(|row| row.contains('❯') && !row.contains("None"))
        };
        let started = Instant::now();
        while !is_marked(&self.pane.screen()) {
            assert!(started.elapsed() < SOON, "{}", self.pane.screen());
            self.pane.send_keys(["Up"]);
            sleep(PASTE_PAUSE);
        }
        self.enter();
        let asks_always =
            |screen: &str| ASK_ALWAYS.iter().any(|question| screen.contains(question));
        let screen = self.pane.wait_until("the choice taken", SOON, |screen| {
            asks_always(screen) || screen.contains("Connected to ")
        });
        if asks_always(&screen) {
            self.pane.send_keys(["Down"]);
            self.enter();
        }
    }

    /// Waits until it takes input.
    pub fn wait_ready(&self) {
        self.pane.wait_until("the empty input line", SOON, is_ready);
    }

    /// Waits until it asks in its own window whether a change may be made. The screen.
    pub fn wait_question(&self) -> String {
        self.pane
            .wait_until("a question for a change", SOON, is_question)
    }

    /// Returns true if it asks that now.
    pub fn asks(&self) -> bool {
        is_question(&self.pane.screen())
    }

    /// Allows the change in its own window, once.
    pub fn allow(&self) {
        self.answer("Yes");
    }

    /// Refuses it there, by the choice "No".
    pub fn deny(&self) {
        self.answer("No");
    }

    /// Refuses it there, with Esc.
    pub fn cancel(&self) {
        self.wait_question();
        self.pane.send_keys(["Escape"]);
        self.wait_answered();
    }

    /// Waits until it asks no more.
    pub fn wait_answered(&self) {
        let answered = |screen: &str| !is_question(screen);
        self.pane.wait_until("no question any more", SOON, answered);
    }

    /// Waits until this stands on its screen.
    pub fn wait_for(&self, text: &str) -> String {
        self.pane.wait_for(text, SOON)
    }

    /// Leaves, and waits until it has left.
    pub fn quit(self) {
        self.prompt("/exit");
        self.pane.wait_exit(SOON);
    }

    /// Kills it and all its processes (SIGKILL), and waits until they are gone.
    pub fn kill(self) {
        self.pane.kill();
    }

    fn answer(&self, choice: &str) {
        let screen = self.wait_question();
        // Its number depends on what else is offered.
        let number = screen.lines().find_map(|row| {
            let (before, rest) = row.split_once(". ")?;
            (rest.trim() == choice).then(|| before.split_whitespace().last())?
        });
        let number = number.unwrap_or_else(|| panic!("expected the choice {choice:?}:\n{screen}"));
        self.press_until_answered(number, question(&screen));
    }

    /// Presses the key until the question is answered: for a moment after it appears, keys do nothing. The
    /// next question may follow at once.
    fn press_until_answered(&self, key: &str, question: Option<&str>) {
        let started = Instant::now();
        let mut pressed = None::<Instant>;
        loop {
            let screen = self.pane.screen();
            if self::question(&screen) != question {
                return;
            }
            assert!(
                started.elapsed() < SOON,
                "expected an answer by {key}:\n{screen}"
            );
            if pressed.is_none_or(|at| at.elapsed() > KEY_TIMEOUT) {
                sleep(PASTE_PAUSE);
                self.pane.send_keys([key]);
                pressed = Some(Instant::now());
            }
            pause(started);
        }
    }
}

fn is_ready(screen: &str) -> bool {
    READY.iter().any(|ready| screen.contains(ready)) && !is_question(screen)
}

fn is_question(screen: &str) -> bool {
    question(screen).is_some()
}

/// The question for a change, with the name of the file.
fn question(screen: &str) -> Option<&str> {
    let asks = screen.contains(QUESTION_KEYS);
    screen.lines().rfind(|row| asks && row.contains(QUESTION))
}
