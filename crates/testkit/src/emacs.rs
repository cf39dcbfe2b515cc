//! Real Emacsen with the repository's package, in terminals. They are steered by keys as a person would, and watched
//! through a channel that they open to the test.

mod channel;
mod setup;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde::de::DeserializeOwned;
use serde_json::Value;

use self::channel::Channel;
pub use self::setup::EmacsSetup;
use crate::process::{signal, tree};
use crate::{Pane, SOON, kill_tree, pause};

/// The time limit for one answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// The state that helps to find out why a test failed.
const DESCRIBE: &str = "(format \"%s in %s; %S\\n%s\" major-mode (buffer-name) (mapcar #'buffer-name (buffer-list)) \
    (with-current-buffer \"*Messages*\" (buffer-string)))";

/// That the proposal in focus, or the only one, has been on the screen so long that it may be decided.
const LOOKED_AT: &str = "(let ((diff (or (pillion-view-focused) (and (null (cdr pillion-diff--pending)) (car pillion-diff--pending))))) \
    (and (pillion-diff--pending-p diff) (not (pillion-astray-p diff)) (not (pillion-diff-is-deciding diff)) \
    (eql (pillion-diff-seen-revision diff) (pillion-diff-revision diff)) (> (- (float-time) (pillion-diff-seen-since diff)) 0.8) \
    (> (- (float-time) (car pillion-seen--decided)) pillion-seen--burst)))";

/// A running Emacs. It and all that it started are killed on drop.
#[derive(Debug)]
pub struct Emacs {
    pane: Pane,
    channel: Channel,
    pid: u32,
}

impl Emacs {
    /// Waits until it has started up.
    #[track_caller]
    fn attach(pane: Pane, channel: Channel) -> Emacs {
        let pid = pane.pid();
        let emacs = Emacs { pane, channel, pid };
        emacs.wait_until("Emacs started up", "after-init-time");
        emacs
    }

    /// The value of an expression, evaluated in the buffer of the selected window.
    ///
    /// # Panics
    /// With the screen, if Emacs does not answer, or if the expression fails.
    #[track_caller]
    pub fn get<T: DeserializeOwned>(&self, expression: &str) -> T {
        match self.channel.ask(expression, ANSWER_TIMEOUT) {
            Some(Ok(value)) => serde_json::from_value(value.clone()).unwrap_or_else(|error| {
                panic!("{value} is {expression}: {error}\n{}", self.describe())
            }),
            Some(Err(error)) => panic!("{expression}: {error}\n{}", self.describe()),
            None => panic!(
                "Emacs gave no answer to {expression}\n{}",
                self.pane.screen()
            ),
        }
    }

    /// Evaluates an expression, as code does: not as if it were typed.
    #[track_caller]
    pub fn eval(&self, expression: &str) {
        self.get::<Value>(&format!("(progn {expression} nil)"));
    }

    /// Presses keys as a person does. `<C-c>`, `<M-x>`, `<RET>`, `<ESC>`, `<TAB>` stand for such keys, `<C-SPC>` sets the mark.
    pub fn input(&self, keys: &str) {
        // tmux cannot be handed the byte.
        for (number, part) in keys.split("<C-SPC>").enumerate() {
            if number > 0 {
                self.pane.send_keys(["C-Space"]);
            }
            if !part.is_empty() {
                self.pane.type_text(&bytes_of(part));
            }
        }
    }

    /// Waits until an expression is true; `what` says in words what it looks for.
    ///
    /// # Panics
    /// With `what` and all that Emacs shows, when it takes too long.
    #[track_caller]
    pub fn wait_until(&self, what: &str, condition: &str) {
        let started = Instant::now();
        // Not every value can be sent.
        let condition = format!("(and {condition} t)");
        loop {
            let answer = self.channel.ask(&condition, ANSWER_TIMEOUT);
            if let Some(Ok(value)) = &answer
                && !matches!(value, Value::Null | Value::Bool(false))
            {
                return;
            }
            assert!(
                started.elapsed() < SOON && self.channel.is_open(),
                "expected {what}, but {condition} is {answer:?}\n{}",
                self.describe()
            );
            pause(started);
        }
    }

    /// Presses keys, and waits until what they did holds.
    #[track_caller]
    pub fn input_until(&self, keys: &str, condition: &str) {
        self.input(keys);
        self.wait_until(keys, condition);
    }

    /// Gives a command by its name, as a person does.
    pub fn command(&self, name: &str) {
        self.input(&format!("<M-x>{name}<RET>"));
    }

    /// Waits until this message was shown.
    #[track_caller]
    pub fn wait_said(&self, text: &str) {
        let condition = format!(
            "(with-current-buffer \"*Messages*\" (save-excursion (goto-char (point-min)) (search-forward {text:?} nil t)))"
        );
        self.wait_until("a message", &condition);
    }

    /// Returns true if the proposal in focus, or the only one, has been on the screen so long that it may be
    /// decided.
    #[track_caller]
    pub fn has_looked(&self) -> bool {
        self.get(&format!("(if {LOOKED_AT} t :json-false)"))
    }

    /// Waits until that is so.
    #[track_caller]
    pub fn wait_looked(&self) {
        self.wait_until("a proposal that was looked at", LOOKED_AT);
    }

    /// Fails if an error was reported since it started.
    ///
    /// # Panics
    /// With all that it shows, if one was.
    #[track_caller]
    pub fn assert_no_errors(&self) {
        let messages: String = self.get("(with-current-buffer \"*Messages*\" (buffer-string))");
        let signs = [
            "Error in post-command-hook",
            "Error running timer",
            "error in process",
            "Error during redisplay",
            "Symbol’s ",
            "Wrong type argument",
            "Wrong number of arguments",
        ];
        assert!(
            !signs.iter().any(|sign| messages.contains(sign)),
            "{}",
            self.describe()
        );
    }

    /// All that helps to find out why a test failed.
    pub fn describe(&self) -> String {
        let mut text = format!("screen:\n{}\n", self.pane.screen());
        let state = self.channel.ask(DESCRIBE, Duration::from_secs(5));
        if let Some(Ok(Value::String(state))) = state {
            let _ = writeln!(text, "{state}");
        }
        text
    }

    /// The editor's process.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Its terminal; of a daemon, where it was started.
    pub fn pane(&self) -> Pane {
        self.pane.clone()
    }

    /// Quits without a question, and waits until it is gone.
    pub fn quit(&self) {
        self.channel.send(
            "(let ((kill-emacs-query-functions nil) (confirm-kill-processes nil)) (kill-emacs))",
        );
        self.wait_exit();
    }

    /// Kills the editor's process alone, with SIGKILL: it can tell nobody. Waits until it is gone.
    pub fn kill(&self) {
        signal(self.pid, Signal::KILL);
        self.wait_exit();
    }

    /// Waits until it is gone, for whatever reason.
    #[track_caller]
    pub fn wait_exit(&self) {
        let started = Instant::now();
        while self.channel.is_open() {
            assert!(started.elapsed() < SOON, "{}", self.describe());
            pause(started);
        }
    }

    /// The processes that it started.
    pub fn children(&self) -> Vec<u32> {
        let all = tree(self.pid).into_iter();
        all.filter(|it| *it != self.pid).collect()
    }
}

impl Drop for Emacs {
    fn drop(&mut self) {
        kill_tree(self.pid);
    }
}

/// The bytes that a terminal sends for keys.
fn bytes_of(keys: &str) -> String {
    let mut bytes = keys.to_owned();
    for letter in 'a'..='z' {
        let control = char::from(letter as u8 & 0x1f);
        bytes = bytes.replace(&format!("<C-{letter}>"), &control.to_string());
        bytes = bytes.replace(&format!("<M-{letter}>"), &format!("\u{1b}{letter}"));
    }
    for (name, byte) in [
        ("<C-/>", "\u{1f}"),
        ("<C-M-c>", "\u{1b}\u{3}"),
        ("<M-lt>", "\u{1b}<"),
        ("<M-gt>", "\u{1b}>"),
        ("<RET>", "\r"),
        ("<ESC>", "\u{1b}"),
        ("<TAB>", "\t"),
        ("<DEL>", "\u{7f}"),
    ] {
        bytes = bytes.replace(name, byte);
    }
    bytes
}
