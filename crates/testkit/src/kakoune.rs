//! Real Kakounes with the repository's module, in terminals. They are steered by keys as a person would, and asked
//! for values through their session.

mod setup;

use std::cell::Cell;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

pub use self::setup::KakouneSetup;
use crate::process::tree;
use crate::{Env, Pane, SOON, kill_tree, pause};

/// The time limit for its answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// The state that helps to find out why a test failed.
const DESCRIBE: &str =
    "%val{client_list} | %val{buflist} | %val{bufname} | %val{selections_desc} | %val{modified}";

/// A running Kakoune: a server with its first client, in one process. It and all that it started are killed on
/// drop.
#[derive(Debug)]
pub struct Kakoune {
    pane: Pane,
    program: PathBuf,
    env: Env,
    session: String,
    /// Holds its answers.
    folder: PathBuf,
    asked: Cell<u32>,
    pid: u32,
}

impl Kakoune {
    /// The values of an expansion in the first client, such as `%val{bufname}`.
    ///
    /// # Panics
    /// With the screen, if there is no answer.
    #[track_caller]
    pub fn list(&self, expansion: &str) -> Vec<String> {
        self.ask("-client client0", expansion)
            .unwrap_or_else(|| panic!("no answer to {expansion}\n{}", self.pane.screen()))
    }

    /// The values of an expansion in the client of this name; nothing if there is none.
    pub fn list_in(&self, client: &str, expansion: &str) -> Option<Vec<String>> {
        self.ask(&format!("-try-client {client}"), expansion)
    }

    /// The one value of an expansion in the first client.
    #[track_caller]
    pub fn get(&self, expansion: &str) -> String {
        self.list(expansion).join(" ")
    }

    /// The text of a buffer.
    #[track_caller]
    pub fn text(&self, buffer: &str) -> String {
        let buffer = quoted(buffer);
        let file = self.answer_file();
        let script = format!(
            "evaluate-commands -no-hooks -buffer {buffer} %{{ evaluate-commands -draft %{{
                 execute-keys '%'
                 echo -to-file {file} -- %val{{selection}}
             }} }}
             echo -to-file {file}.done",
            file = file.display()
        );
        self.send(&script);
        let text = self.wait_answer(&file);
        text.unwrap_or_else(|| panic!("no text of {buffer}\n{}", self.pane.screen()))
    }

    /// The text in the first client.
    #[track_caller]
    pub fn text_in_focus(&self) -> String {
        let file = self.answer_file();
        let script = format!(
            "evaluate-commands -no-hooks -client client0 %{{ evaluate-commands -draft %{{
                 execute-keys '%'
                 echo -to-file {file} -- %val{{selection}}
             }} }}
             echo -to-file {file}.done",
            file = file.display()
        );
        self.send(&script);
        let text = self.wait_answer(&file);
        text.unwrap_or_else(|| panic!("no text in focus\n{}", self.pane.screen()))
    }

    /// Runs commands in the first client, as another program does: not as if they were typed.
    pub fn command(&self, commands: &str) {
        let commands = quoted(commands);
        self.send(&format!("evaluate-commands -client client0 {commands}"));
        // Commands are read in turn.
        self.ask("-client client0", "%val{session}");
    }

    /// Runs commands in no client, as a program does that knows the session.
    pub fn command_of_other(&self, commands: &str) {
        self.send(commands);
        // Commands are read in turn.
        self.ask("", "%val{session}");
    }

    /// Presses keys as a person does. `<ret>`, `<esc>`, `<space>` and `<c-s>` stand for such keys.
    pub fn input(&self, keys: &str) {
        self.pane.type_text(&bytes_of(keys));
    }

    /// Waits until an expansion is as wanted; `what` says in words what is waited for.
    ///
    /// # Panics
    /// With `what` and all that Kakoune shows, when it takes too long.
    #[track_caller]
    pub fn wait_until(&self, what: &str, expansion: &str, wanted: impl Fn(&[String]) -> bool) {
        let started = Instant::now();
        loop {
            let found = self.ask("-client client0", expansion);
            if found.as_deref().is_some_and(&wanted) {
                return;
            }
            assert!(
                started.elapsed() < SOON,
                "expected {what}, but {expansion} is {found:?}\n{}",
                self.describe()
            );
            pause(started);
        }
    }

    /// Waits until an expansion has this value.
    #[track_caller]
    pub fn wait_value(&self, expansion: &str, value: &str) {
        self.wait_until(value, expansion, |found| found == [value]);
    }

    /// Waits until its debug buffer holds this.
    #[track_caller]
    pub fn wait_debug(&self, text: &str) {
        let started = Instant::now();
        while !self.text("*debug*").contains(text) {
            let state = self.describe();
            assert!(started.elapsed() < SOON, "expected {text:?}\n{state}");
            pause(started);
        }
    }

    /// Fails if a hook or a command failed since it started.
    ///
    /// # Panics
    /// With its debug buffer, if one did.
    #[track_caller]
    pub fn assert_no_errors(&self) {
        let debug = self.text("*debug*");
        // It looks for terminals that it could open.
        let is_error = |line: &str| line.starts_with("error ") && !line.contains("/windowing:");
        assert!(!debug.lines().any(is_error), "{}", self.describe());
    }

    /// All that helps to find out why a test failed.
    pub fn describe(&self) -> String {
        let state = self.ask("-client client0", DESCRIBE).unwrap_or_default();
        let debug = self.text("*debug*");
        let screen = self.pane.screen();
        format!("screen:\n{screen}\n{}\ndebug:\n{debug}", state.join(" "))
    }

    /// The process of the server and the first client.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Its terminal.
    pub fn pane(&self) -> Pane {
        self.pane.clone()
    }

    /// The name of its session.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Its program, and the variables to run it with: for another client.
    pub fn program(&self) -> (PathBuf, Env) {
        (self.program.clone(), self.env.clone())
    }

    /// Quits with `:kill!` and waits until it is gone. Its exit status.
    pub fn quit(&self) -> i32 {
        self.send("kill!");
        self.wait_exit()
    }

    /// Kills the process of server and client, with SIGKILL: it can tell nobody. Waits until it is gone.
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
        let pids = tree(self.pid).into_iter();
        pids.filter(|it| *it != self.pid).collect()
    }

    fn ask(&self, place: &str, expansion: &str) -> Option<Vec<String>> {
        let file = self.answer_file();
        let script = format!(
            "evaluate-commands {place} %{{ echo -quoting shell -to-file {file} -- {expansion} }}
             echo -to-file {file}.done",
            file = file.display()
        );
        self.send(&script);
        let answer = self.wait_answer(&file)?;
        Some(shell_words::split(&answer).expect("Kakoune quotes for shells"))
    }

    fn answer_file(&self) -> PathBuf {
        self.asked.set(self.asked.get() + 1);
        self.folder.join(format!("answer-{}", self.asked.get()))
    }

    /// The answer that it wrote into this file, once it is whole.
    fn wait_answer(&self, file: &std::path::Path) -> Option<String> {
        let done = file.with_extension("done");
        let started = Instant::now();
        while !done.exists() {
            if started.elapsed() > ANSWER_TIMEOUT {
                return None;
            }
            sleep(Duration::from_millis(5));
        }
        fs::read_to_string(file).ok()
    }

    /// Hands commands to the session.
    fn send(&self, script: &str) {
        let mut child = Command::new(&self.program)
            .args(["-p", &self.session])
            .env_clear()
            .envs(self.env.iter())
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it started once");
        let mut stdin = child.stdin.take().expect("it is a pipe");
        // A session that is gone reads nothing.
        let _ = stdin.write_all(script.as_bytes());
        drop(stdin);
        let _ = child.wait();
    }
}

impl Drop for Kakoune {
    fn drop(&mut self) {
        kill_tree(self.pid);
    }
}

/// As Kakoune reads a word whatever is in it.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The bytes that a terminal sends for keys.
fn bytes_of(keys: &str) -> String {
    let mut bytes = keys.to_owned();
    for (name, byte) in [
        ("<ret>", "\r"),
        ("<esc>", "\u{1b}"),
        ("<space>", " "),
        ("<lt>", "<"),
        ("<a-;>", "\u{1b};"),
        ("<c-s>", "\u{13}"),
    ] {
        bytes = bytes.replace(name, byte);
    }
    bytes
}
