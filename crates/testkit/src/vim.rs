//! Real Vims with the repository's plugin, in terminals. They are steered by keys as a person would, and
//! watched through a channel that they open to the test.

mod channel;
mod setup;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde::de::DeserializeOwned;
use serde_json::Value;

use self::channel::Channel;
pub use self::setup::VimSetup;
use crate::process::tree;
use crate::{Pane, SOON, kill_tree, pause};

/// The time limit for one look.
const LOOK_TIMEOUT: Duration = Duration::from_secs(20);

/// The state that helps to find out why a test failed.
const DESCRIBE: &str = "'mode ' .. mode(1) .. ', state ' .. state() .. ', ' .. getcwd() .. ', tab ' \
    .. tabpagenr() .. '/' .. tabpagenr('$') .. execute('ls!') .. execute('messages')";

/// A running Vim. It and all that it started are killed on drop.
#[derive(Debug)]
pub struct Vim {
    pane: Pane,
    channel: Channel,
    pid: u32,
}

impl Vim {
    /// Waits until it has started up.
    #[track_caller]
    fn attach(pane: Pane, channel: Channel) -> Vim {
        let pid = pane.pid();
        let vim = Vim { pane, channel, pid };
        vim.wait_until("Vim started up", "v:vim_did_enter");
        vim
    }

    /// The value of an expression.
    ///
    /// # Panics
    /// With the screen, if Vim does not answer, or if the expression fails.
    #[track_caller]
    pub fn get<T: DeserializeOwned>(&self, expression: &str) -> T {
        let answer = self.channel.ask(expression, LOOK_TIMEOUT);
        let Some(value) = answer else {
            panic!("Vim gave no answer to {expression}\n{}", self.pane.screen())
        };
        serde_json::from_value(value.clone())
            .unwrap_or_else(|error| panic!("{value} is {expression}: {error}\n{}", self.describe()))
    }

    /// Runs an Ex command, as code does: not as if it were typed.
    pub fn command(&self, command: &str) {
        self.channel.run(command);
        // Messages are read in turn.
        self.get::<Value>("1");
    }

    /// Presses keys as a person does. `<CR>`, `<Esc>`, `<C-w>` and `<Space>` stand for such keys.
    pub fn input(&self, keys: &str) {
        self.pane.type_text(&bytes_of(keys));
    }

    /// Waits until an expression is true; `what` says in words what it looks for.
    ///
    /// # Panics
    /// With `what` and all that Vim shows, when it takes too long.
    #[track_caller]
    pub fn wait_until(&self, what: &str, condition: &str) {
        let started = Instant::now();
        loop {
            let answer = self.channel.ask(condition, LOOK_TIMEOUT);
            if answer.as_ref().is_some_and(is_true) {
                return;
            }
            assert!(
                started.elapsed() < SOON,
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

    /// Waits until this message was shown.
    #[track_caller]
    pub fn wait_said(&self, text: &str) {
        let text = text.replace('\'', "''");
        self.wait_until(
            "a message",
            &format!("execute('messages') .. join(pillion#Messages(), \"\\n\") =~# '\\V{text}'"),
        );
    }

    /// Fails if it has noted an error of a script since it started.
    ///
    /// # Panics
    /// With all that it shows, if it has.
    #[track_caller]
    pub fn assert_no_errors(&self) {
        let messages: String = self.get("execute('messages')");
        let is_error = |line: &str| {
            let number = line.strip_prefix('E').and_then(|rest| rest.split_once(':'));
            line.starts_with("Error detected")
                || number.is_some_and(|(number, _)| number.parse::<u16>().is_ok())
        };
        assert!(!messages.lines().any(is_error), "{}", self.describe());
    }

    /// All that helps to find out why a test failed.
    pub fn describe(&self) -> String {
        let mut text = format!("screen:\n{}\n", self.pane.screen());
        if let Some(Value::String(state)) = self.channel.ask(DESCRIBE, Duration::from_secs(1)) {
            let _ = writeln!(text, "{state}");
        }
        text
    }

    /// The editor's process.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Its terminal.
    pub fn pane(&self) -> Pane {
        self.pane.clone()
    }

    /// Types `:qa!` and waits until it is gone. Its exit status.
    pub fn quit(&self) -> i32 {
        self.pane.send_keys(["C-\\", "C-n", ":qall!", "Enter"]);
        self.wait_exit()
    }

    /// Kills the editor's process alone, with SIGKILL: it can tell nobody. Waits until it is gone.
    pub fn kill(&self) {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        // The only failure that can happen to our own child is that it is gone.
        let _ = pid.map(|pid| kill_process(pid, Signal::KILL));
        self.wait_exit();
    }

    /// Waits until it is gone, for whatever reason. Its exit status; 0 if a signal ended it.
    pub fn wait_exit(&self) -> i32 {
        self.pane.wait_exit(SOON)
    }

    /// The processes that it started.
    pub fn children(&self) -> Vec<u32> {
        tree(self.pid)
            .into_iter()
            .filter(|it| *it != self.pid)
            .collect()
    }
}

impl Drop for Vim {
    fn drop(&mut self) {
        kill_tree(self.pid);
    }
}

/// As Vim script has it.
fn is_true(value: &Value) -> bool {
    match value {
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        // What an expression that fails gives.
        Value::String(text) => !text.is_empty() && text != "ERROR",
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Null => false,
    }
}

/// The keys that have a name here, and the bytes that a terminal sends for them.
const KEYS: [(&str, &str); 9] = [
    ("<CR>", "\r"),
    ("<Esc>", "\u{1b}"),
    ("<Space>", " "),
    ("<lt>", "<"),
    ("<C-w>", "\u{17}"),
    ("<C-v>", "\u{16}"),
    ("<C-z>", "\u{1a}"),
    ("<C-\\>", "\u{1c}"),
    ("<C-n>", "\u{e}"),
];

/// The bytes that a terminal sends for keys.
fn bytes_of(keys: &str) -> String {
    let is_name = |it: &&str| !it.is_empty() && it.chars().all(|c| c.is_alphanumeric() || c == '-');
    let ended = keys.split('<').filter_map(|it| Some(it.split_once('>')?.0));
    for name in ended.filter(is_name) {
        let is_known = KEYS.iter().any(|(known, _)| *known == format!("<{name}>"));
        assert!(is_known, "no bytes are known for the key <{name}>");
    }
    KEYS.iter().fold(keys.to_owned(), |bytes, (name, byte)| {
        bytes.replace(name, byte)
    })
}
