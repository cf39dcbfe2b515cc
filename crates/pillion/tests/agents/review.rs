//! The terminal review in a real terminal, as a person works with it: its screen and its keys.

use std::thread::sleep;
use std::time::{Duration, Instant};

use pillion_testkit::{Agent, AgentKind, Env, Home, Model, Pane, Size, Tmux};

use crate::companion::{PILLION, SOON};

/// Nothing is pending, with an agent connected.
const IDLE: &str = "Nothing to review right now.";

/// Nothing is pending, with no agent.
const WELCOME: &str = "Waiting for an agent.";

/// The review's answers to a key that came right after something else appeared under it, and to one
/// that it read together with another.
const NOT_YET: [&str; 4] = [
    "look at it",
    "key repeat ignored",
    "pasted text decides nothing",
    "key repeat ignored",
];

/// The words after the title of a proposal that waits behind the one that is shown.
const BEHIND: &str = "Tab shows it";

/// A running `pillion review`.
#[derive(Debug)]
pub struct Review {
    pane: Pane,
}

impl Review {
    /// Starts it for the home's workspace and waits until it is there.
    pub fn start(tmux: &Tmux, home: &Home) -> Review {
        Review::start_with(tmux, home, "review", &Env::default())
    }

    /// The same, in a terminal of that name, with more environment variables.
    pub fn start_with(tmux: &Tmux, home: &Home, name: &str, more: &Env) -> Review {
        let mut env = home.env();
        for (name, value) in more.iter() {
            env.set(name, value);
        }
        let size = Size::new(120, 40);
        let command = [PILLION, "review"];
        let pane = tmux.spawn(name, size, &env, &home.workspace(), &command);
        pane.wait_for(WELCOME, SOON);
        Review { pane }
    }

    /// Its terminal, for everything that this type does not name.
    pub fn pane(&self) -> &Pane {
        &self.pane
    }

    /// Waits until its header shows that this agent is connected.
    pub fn wait_connected(&self, kind: AgentKind) {
        self.pane
            .wait_for(&format!("● {}", display_name(kind)), SOON);
    }

    /// Waits until it shows this agent's proposal for the file of this name.
    pub fn wait_view(&self, kind: AgentKind, file_name: &str) -> String {
        self.pane.wait_for(&title(kind, file_name), SOON)
    }

    /// Waits until nothing is pending, while the agent is still connected.
    pub fn wait_idle(&self) -> String {
        self.pane.wait_for(IDLE, SOON)
    }

    /// Accepts what is shown.
    pub fn accept(&self, file_name: &str) {
        self.press("a", &format!("accepted {file_name}"));
    }

    /// Accepts what is shown, of which this is a part: also a file that was accepted before.
    pub fn accept_shown(&self, shown: &str) {
        let until = Instant::now() + SOON;
        let mut screen = self.pane.wait_for(shown, SOON);
        while screen.contains(shown) {
            self.wait_received();
            self.pane.send_keys(["a"]);
            let left = until.saturating_duration_since(Instant::now());
            let what = format!("{shown:?} gone after \"a\"");
            screen = self.pane.wait_until(&what, left.max(LEAST), |screen| {
                !screen.contains(shown) || is_not_yet(screen)
            });
        }
    }

    /// Rejects it.
    pub fn reject(&self, file_name: &str) {
        self.press("r", &format!("rejected {file_name}"));
    }

    /// Rejects it, and says why.
    pub fn reject_because(&self, file_name: &str, reason: &str) -> String {
        self.press("R", "reason for rejecting");
        self.pane.type_text(reason);
        self.pane.wait_for(&format!("{reason}▏"), SOON);
        let rejected = format!("rejected {file_name}");
        loop {
            // Right after another key it would count as pasted.
            sleep(ANSWER_PAUSE);
            self.pane.send_keys(["Enter"]);
            let is_done =
                |screen: &str| screen.contains(&rejected) || screen.contains("Enter again");
            let screen = self.pane.wait_until(&rejected, SOON, is_done);
            if screen.contains(&rejected) {
                return screen;
            }
        }
    }

    /// Takes the current hunk out of the proposal.
    pub fn take_hunk_out(&self) {
        self.press("Space", "space include");
    }

    /// Edits the proposal in `$EDITOR`, which must be one that ends by itself.
    pub fn edit(&self) {
        self.press("e", "· edited");
    }

    /// Presses `key` until this stands on the screen: it wants a person to have seen what a key is
    /// pressed for, and says so when the key came too early.
    pub fn press(&self, key: &str, expected: &str) -> String {
        let until = Instant::now() + SOON;
        loop {
            self.wait_received();
            self.pane.send_keys([key]);
            let left = until.saturating_duration_since(Instant::now());
            let what = format!("{expected:?} after {key:?}");
            let screen = self.pane.wait_until(&what, left.max(LEAST), |screen| {
                screen.contains(expected) || is_not_yet(screen)
            });
            if screen.contains(expected) {
                return screen;
            }
        }
    }

    /// Turns from the first of two proposals to the second, which has this title, once it is there.
    pub fn turn_to_second(&self, title: &str) {
        let are_two = |screen: &str| {
            let mut rows = screen.lines().map(str::trim_start);
            // In a wide window a list stands beside the diff.
            rows.any(|row| row.starts_with("1/2 ") || row.starts_with("2 pending"))
        };
        self.pane.wait_until("two proposals", SOON, are_two);
        self.pane.send_keys(["Tab"]);
        let is_shown = |screen: &str| {
            let is_title = |row: &str| row.contains(title) && !row.contains(BEHIND);
            screen.lines().any(is_title)
        };
        self.pane.wait_until(title, SOON, is_shown);
    }

    /// Waits until it no longer says that a key came too early.
    pub fn wait_received(&self) {
        let is_heard = |screen: &str| !is_not_yet(screen);
        self.pane.wait_until("no refused key", SOON, is_heard);
    }

    /// Answers the question that a key brought up, after a moment: it has to be read.
    pub fn confirm(&self, expected: &str) {
        let until = Instant::now() + SOON;
        loop {
            sleep(ANSWER_PAUSE);
            self.pane.send_keys(["y"]);
            sleep(ANSWER_PAUSE);
            let screen = self.pane.screen();
            if screen.contains(expected) {
                return;
            }
            assert!(
                Instant::now() < until,
                "expected {expected:?} after \"y\":\n{screen}"
            );
        }
    }

    /// Kills it (SIGKILL): it can clean nothing up.
    pub fn kill(self) {
        self.pane.kill();
    }
}

/// Longer than the review takes a key for held.
const ANSWER_PAUSE: Duration = Duration::from_secs(1);

const LEAST: Duration = Duration::from_secs(1);

fn is_not_yet(screen: &str) -> bool {
    NOT_YET.iter().any(|answer| screen.contains(answer))
}

/// A review with one agent that is connected to it.
#[derive(Debug)]
pub struct Scene {
    pub agent: Agent,
    pub review: Review,
    pub model: Model,
    // After those that run in it.
    pub tmux: Tmux,
    // Last: the others have files in it.
    pub home: Home,
}

impl Scene {
    /// In a fresh home.
    pub fn new(kind: AgentKind) -> Scene {
        Scene::with(kind, Home::new(), &Env::default())
    }

    /// In this home, with more environment variables for the review.
    pub fn with(kind: AgentKind, home: Home, more: &Env) -> Scene {
        let (tmux, model) = (Tmux::start(), Model::start());
        let review = Review::start_with(&tmux, &home, "review", more);
        let agent = Agent::start(kind, &tmux, &home, &model, &home.workspace());
        review.wait_connected(kind);
        Scene {
            agent,
            review,
            model,
            tmux,
            home,
        }
    }

    pub fn kind(&self) -> AgentKind {
        self.agent.kind()
    }

    /// Waits until the review shows the agent's proposal, and the agent asks in its own window.
    pub fn wait_view(&self, file_name: &str) {
        self.review.wait_view(self.kind(), file_name);
        self.agent.wait_question();
    }
}

/// The review's name for an agent.
pub fn display_name(kind: AgentKind) -> &'static str {
    match kind {
        AgentKind::Gemini => "Gemini CLI",
        AgentKind::Qwen => "Qwen Code",
    }
}

/// The title above a proposal.
pub fn title(kind: AgentKind, file_name: &str) -> String {
    format!("{} proposes {file_name}", display_name(kind))
}

/// An editor that replaces `old` by `new` in the file that it is given, and ends: the value of
/// EDITOR. Both are plain words.
pub fn editor(home: &Home, old: &str, new: &str) -> Env {
    use std::os::unix::fs::PermissionsExt;
    let script = home.root().join("editor");
    let text = format!("#!/bin/sh\nexec sed -i 's/{old}/{new}/' \"$1\"\n");
    std::fs::write(&script, text).expect("the folder is ours");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755))
        .expect("the file is ours");
    Env::default().with("EDITOR", script)
}
