//! A private terminal multiplexer: full-screen programs run in it, tests type into them and read
//! their screens. Knows nothing about what runs inside.

mod connection;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::process::Signal;
use tempfile::{NamedTempFile, TempDir};

use self::connection::Connection;
use crate::process::signal;
use crate::{Env, SOON, display, kill_tree, pause};

/// The value of `TERM` for programs inside; its description is part of `ncurses-base`.
const TERM: &str = "screen-256color";

/// The terminal that keeps the server alive.
const KEEPER: &str = "keeper";

/// A terminal's size, in character cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub width: u16,
    /// Rows.
    pub height: u16,
}

impl Size {
    /// `width` columns by `height` rows.
    pub const fn new(width: u16, height: u16) -> Size {
        Size { width, height }
    }
}

/// A tmux server of the test's own. Dies, with all that runs in it, when this and the last
/// [`Pane`] are dropped, and also when the test process is killed.
#[derive(Debug, Clone)]
pub struct Tmux {
    server: Arc<Server>,
}

/// One terminal with one program in it. The screen stays readable after the program has ended.
#[derive(Debug, Clone)]
pub struct Pane {
    server: Arc<Server>,
    name: String,
}

#[derive(Debug)]
struct Server {
    connection: Mutex<Connection>,
    socket: PathBuf,
    /// Open as long as the person's terminal is.
    _keyboard: ChildStdin,
    /// Holds the socket.
    _folder: TempDir,
}

impl Tmux {
    /// Starts a server without the user's configuration, environment or status bar.
    ///
    /// # Panics
    /// If tmux is not installed.
    pub fn start() -> Tmux {
        let folder = tempfile::Builder::new()
            .prefix("pillion-tmux-")
            .tempdir()
            .expect("a temporary folder can be made");
        let socket = folder.path().join("tmux");
        // The keeper keeps the server alive between programs, and ends everything when this
        // process is killed before it could drop anything. By session, since programs may ignore
        // the hangup.
        let keeper = format!(
            "tail -f /dev/null --pid={test}
            for pid in $(tmux -S '{socket}' list-panes -a -F '#{{pane_pid}}'); do
                [ $pid = $$ ] || pkill -KILL -s $pid
            done
            tmux -S '{socket}' kill-server",
            test = std::process::id(),
            socket = socket.display()
        );
        let mut tmux = Command::new("tmux");
        tmux.env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LANG", "C.UTF-8")
            .args(["-u", "-f", "/dev/null", "-S"])
            .arg(&socket);
        let server = Server {
            connection: Mutex::new(Connection::start(tmux, KEEPER, &keeper)),
            _keyboard: attach(&socket),
            socket,
            _folder: folder,
        };
        for (scope, option, value) in [
            ("-g", "status", "off"),
            ("-g", "remain-on-exit", "on"),
            ("-g", "history-limit", "10000"),
            ("-g", "default-terminal", TERM),
            // Otherwise Esc waits half a second for the rest of a key sequence.
            ("-s", "escape-time", "0"),
        ] {
            server.run(["set-option", scope, option, value]);
        }
        server.wait_for_person();
        Tmux {
            server: Arc::new(server),
        }
    }

    /// Runs `command` (program and arguments, no shell) in a terminal of its own, in `cwd`, with
    /// `env` and nothing else but TERM and tmux's own variables. `name` is unique in this server.
    pub fn spawn<S: AsRef<OsStr>>(
        &self,
        name: &str,
        size: Size,
        env: &Env,
        cwd: &Path,
        command: &[S],
    ) -> Pane {
        let mut args: Vec<OsString> = ["new-session", "-d", "-s", name]
            .map(OsString::from)
            .to_vec();
        args.extend(["-x".into(), size.width.to_string().into()]);
        args.extend(["-y".into(), size.height.to_string().into()]);
        args.extend(["-c".into(), cwd.into(), "--".into()]);
        args.extend(["env".into(), "-i".into(), format!("TERM={TERM}").into()]);
        for (name, value) in env.iter() {
            let mut pair = name.to_owned();
            pair.push("=");
            pair.push(value);
            args.push(pair);
        }
        args.extend(command.iter().map(|part| part.as_ref().to_owned()));
        self.server.run(args);
        Pane {
            server: Arc::clone(&self.server),
            name: name.to_owned(),
        }
    }
}

/// Attaches in a terminal of the person's, which has no size that windows would take, and shows the terminal that keeps the server
/// alive. No process of the test is above it.
fn attach(socket: &Path) -> ChildStdin {
    let client = format!(
        "until tmux -S '{socket}' has-session; do sleep 0.01; done 2>/dev/null
        exec tmux -u -S '{socket}' attach-session -r -f ignore-size -t {KEEPER}",
        socket = socket.display()
    );
    let mut terminal = Command::new("setsid")
        .args(["--fork", "script", "-qfec", &client, "/dev/null"])
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("SHELL", "/bin/sh")
        .env("TERM", TERM)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(display::window())
        .spawn()
        .expect("setsid and script must be installed (Debian: util-linux, bsdutils)");
    let keyboard = terminal.stdin.take().expect("it is piped");
    assert!(terminal.wait().expect("it was started").success());
    keyboard
}

/// A terminal that the test itself, which tests' agents are, opens for a program. Nobody sees it.
#[derive(Debug)]
pub struct AgentsTerminal {
    child: Child,
    keyboard: ChildStdin,
    /// All that was drawn.
    drawn: NamedTempFile,
}

impl AgentsTerminal {
    /// Runs a command of words without quotes and blanks in it.
    pub fn run<S: AsRef<OsStr>>(env: &Env, words: &[S]) -> Self {
        let words: Vec<_> = words
            .iter()
            .map(|it| it.as_ref().to_string_lossy())
            .collect();
        let line = format!("stty rows 30 cols 120; exec {}", words.join(" "));
        let drawn = NamedTempFile::new().expect("a temporary file can be made");
        let mut child = Command::new("script")
            .args(["-qfec", &line])
            .arg(drawn.path())
            .env_clear()
            .envs(env.iter())
            .envs([("SHELL", "/bin/sh"), ("TERM", TERM)])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("script must be installed (Debian: bsdutils)");
        let keyboard = child.stdin.take().expect("it is piped");
        Self {
            child,
            keyboard,
            drawn,
        }
    }

    /// Types this.
    pub fn type_text(&mut self, text: &str) {
        let typed = self.keyboard.write_all(text.as_bytes());
        typed.expect("it reads");
    }

    /// Waits until this was drawn in one go.
    #[track_caller]
    pub fn wait_for(&self, text: &str) {
        let started = Instant::now();
        let drawn = || fs::read(self.drawn.path()).expect("it is ours");
        while !String::from_utf8_lossy(&drawn()).contains(text) {
            let all = || String::from_utf8_lossy(&drawn()).into_owned();
            assert!(started.elapsed() < SOON, "expected {text:?} in {:?}", all());
            pause(started);
        }
    }
}

impl Drop for AgentsTerminal {
    fn drop(&mut self) {
        kill_tree(self.child.id());
        let _ = self.child.wait();
    }
}

impl Tmux {
    /// The variable that identifies the server that a program runs in: `TMUX`, but for the pane.
    pub fn variable(&self) -> String {
        format!("{},0,0", self.server.socket.display())
    }
}

impl Pane {
    /// This one by its own name, whatever else its program opens in its session.
    pub fn alone(&self) -> Pane {
        self.named(&self.format("#{pane_id}"))
    }

    /// The others of its session, which programs opened, beside it or elsewhere.
    pub fn others(&self) -> Vec<Pane> {
        let own = self.format("#{pane_id}");
        let target = self.target();
        let panes = ["list-panes", "-s", "-t", &target, "-F", "#{pane_id}"];
        let panes = self.server.run(panes);
        let others = panes.lines().filter(|pane| *pane != own);
        others.map(|pane| self.named(pane)).collect()
    }

    fn named(&self, name: &str) -> Pane {
        Pane {
            server: Arc::clone(&self.server),
            name: name.to_owned(),
        }
    }

    /// Gives programs that are opened in its session these variables, as they are on a person's machine.
    pub fn share(&self, env: &Env) {
        let target = self.target();
        for (name, value) in env.iter() {
            let set = ["set-environment", "-t", &target].map(OsStr::new);
            self.server.run(set.into_iter().chain([name, value]));
        }
    }

    /// Closes it, as people do.
    pub fn close(&self) {
        self.server.run(["kill-pane", "-t", &self.target()]);
    }

    /// Returns true if it has the focus in its window.
    pub fn is_active(&self) -> bool {
        self.format("#{pane_active}") == "1"
    }

    /// Gives it the focus in its window.
    pub fn activate(&self) {
        self.server.run(["select-pane", "-t", &self.target()]);
    }

    /// Presses keys by tmux's names for them: `Enter`, `Escape`, `Tab`, `C-c`, `Down`, `a`.
    pub fn send_keys<const N: usize>(&self, keys: [&str; N]) {
        let target = self.target();
        let command = ["send-keys", "-t", &target, "--"];
        self.server.run(command.into_iter().chain(keys));
    }

    /// Types `text` as it is, key by key. A line break in it is Enter.
    pub fn type_text(&self, text: &str) {
        self.server
            .run(["send-keys", "-t", &self.target(), "-l", "--", text]);
    }

    /// Pastes `text`, marked as a paste if the program wants that.
    pub fn paste(&self, text: &str) {
        let target = self.target();
        self.server.run(["set-buffer", "-b", "pasted", "--", text]);
        self.server
            .run(["paste-buffer", "-p", "-d", "-b", "pasted", "-t", &target]);
    }

    /// Waits until the program has read everything that was typed.
    ///
    /// # Panics
    /// With the whole screen, if it does not.
    pub fn wait_read(&self) {
        // tmux has written it by the time it answers another command.
        let terminal = self.format("#{pane_tty}");
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK;
        // It is gone with the program.
        let Ok(terminal) = open(terminal, flags, Mode::empty()) else {
            return;
        };
        let started = Instant::now();
        let is_unread = || {
            let mut fds = [PollFd::new(&terminal, PollFlags::IN)];
            poll(&mut fds, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
        };
        while is_unread() && self.is_running() {
            assert!(
                started.elapsed() < SOON,
                "expected the program to read what was typed; {}",
                self.described(&self.screen())
            );
            pause(started);
        }
    }

    /// The visible screen as text, one line per row, without trailing blanks.
    pub fn screen(&self) -> String {
        self.capture(&[])
    }

    /// The visible screen with the escape sequences of its colours and attributes.
    pub fn screen_with_colours(&self) -> String {
        self.capture(&["-e"])
    }

    /// The text that has scrolled out of the screen, and the screen.
    pub fn scrollback(&self) -> String {
        self.capture(&["-S", "-"])
    }

    /// Waits until `text` stands on the screen. The screen it stood on.
    ///
    /// # Panics
    /// With the whole screen, when `timeout` has passed.
    pub fn wait_for(&self, text: &str, timeout: Duration) -> String {
        self.wait_until(&format!("{text:?} on the screen"), timeout, |screen| {
            screen.contains(text)
        })
    }

    /// Waits until `text` stands on the screen no more.
    ///
    /// # Panics
    /// With the whole screen, when `timeout` has passed.
    pub fn wait_gone(&self, text: &str, timeout: Duration) -> String {
        self.wait_until(&format!("{text:?} gone"), timeout, |screen| {
            !screen.contains(text)
        })
    }

    /// Waits until `seen` is true of the screen; `what` says in words what it looks for.
    ///
    /// # Panics
    /// With `what` and the whole screen, when `timeout` has passed.
    pub fn wait_until(&self, what: &str, timeout: Duration, seen: impl Fn(&str) -> bool) -> String {
        let started = Instant::now();
        loop {
            let screen = self.screen();
            if seen(&screen) {
                return screen;
            }
            assert!(
                started.elapsed() < timeout,
                "expected {what} within {timeout:?}; {}{}",
                self.described(&screen),
                self.others_described()
            );
            pause(started);
        }
    }

    /// Waits until the program has ended. Its exit status; 0 if a signal ended it.
    ///
    /// # Panics
    /// With the whole screen, when `timeout` has passed.
    pub fn wait_exit(&self, timeout: Duration) -> i32 {
        let started = Instant::now();
        loop {
            // tmux reads the end of the output, which makes the pane dead, before it waits for the
            // program.
            let ended = self.format("#{pane_dead_status}#{pane_dead_signal}");
            if !ended.is_empty() {
                return self.format("#{pane_dead_status}").parse().unwrap_or(0);
            }
            // On a busy machine it misses the signal that a program has ended now and then, and then
            // never waits for it.
            if !self.is_running()
                && let Ok(server) = self.format("#{pid}").parse()
            {
                signal(server, Signal::CHILD);
            }
            assert!(
                started.elapsed() < timeout,
                "expected the program of {:?} to end within {timeout:?}; {}{}",
                self.name,
                self.described(&self.screen()),
                self.others_described()
            );
            pause(started);
        }
    }

    /// Returns true if the program runs.
    pub fn is_running(&self) -> bool {
        self.format("#{pane_dead}") != "1"
    }

    /// The program's process id.
    pub fn pid(&self) -> u32 {
        let pid = self.format("#{pane_pid}");
        pid.parse().expect("tmux tells a pane's process id")
    }

    /// Kills the program and all that it started (SIGKILL), and waits until it is gone.
    pub fn kill(&self) {
        if self.is_running() {
            kill_tree(self.pid());
            self.wait_exit(SOON);
        }
    }

    /// Gives the terminal another size.
    pub fn resize(&self, size: Size) {
        let (width, height) = (size.width.to_string(), size.height.to_string());
        let target = self.target();
        self.server
            .run(["resize-window", "-t", &target, "-x", &width, "-y", &height]);
    }

    /// For the message of a test that fails.
    fn described(&self, screen: &str) -> String {
        let ended = match self.is_running() {
            true => "",
            false => " (its program has ended)",
        };
        format!("the screen of {:?}{ended}:\n{}", self.name, framed(screen))
    }

    /// The screens of the other terminals: why this one waits is often shown there.
    fn others_described(&self) -> String {
        let names = self.server.run(["list-sessions", "-F", "#{session_name}"]);
        let names = names.lines();
        let others = names.filter(|name| *name != KEEPER && *name != self.name);
        let others = others.map(|name| {
            let other = Pane {
                server: Arc::clone(&self.server),
                name: name.to_owned(),
            };
            format!("\nand {}", other.described(&other.screen()))
        });
        others.collect()
    }

    fn capture(&self, options: &[&str]) -> String {
        let target = self.target();
        let mut args = vec!["capture-pane", "-p", "-t", &target];
        args.extend(options);
        let screen = self.server.run(args);
        let lines: Vec<&str> = screen.lines().map(str::trim_end).collect();
        lines.join("\n")
    }

    fn format(&self, format: &str) -> String {
        let target = self.target();
        let answer = self
            .server
            .run(["display-message", "-p", "-t", &target, format]);
        answer.trim().to_owned()
    }

    /// `=` makes tmux match the name whole; the colon says that it is a session's. A pane's own begins with `%`.
    fn target(&self) -> String {
        match self.name.starts_with('%') {
            true => self.name.clone(),
            false => format!("={}:", self.name),
        }
    }
}

impl Server {
    /// Waits until the person is attached.
    fn wait_for_person(&self) {
        let started = Instant::now();
        let clients = ["list-clients", "-F", "#{client_tty}"].map(OsStr::new);
        let is_attached = || {
            let connection = self.connection.lock();
            let mut connection = connection.unwrap_or_else(PoisonError::into_inner);
            // While the session begins, there is nothing that could be listed.
            let listed = connection.run(&clients).unwrap_or_default();
            listed.lines().any(|line| !line.is_empty())
        };
        while !is_attached() {
            assert!(started.elapsed() < SOON, "nobody attaches");
            pause(started);
        }
    }

    /// Runs a command, without a process for it, and returns its output.
    fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> String {
        let args: Vec<S> = args.into_iter().collect();
        let args: Vec<&OsStr> = args.iter().map(AsRef::as_ref).collect();
        let connection = self.connection.lock();
        let mut connection = connection.unwrap_or_else(PoisonError::into_inner);
        connection
            .run(&args)
            .unwrap_or_else(|error| panic!("tmux {args:?} failed: {error}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let connection = self.connection.get_mut();
        let connection = connection.unwrap_or_else(PoisonError::into_inner);
        // By process id and not by hangup alone: a program may ignore that, or sit in a child.
        let panes = ["list-panes", "-a", "-F", "#{pane_dead} #{pane_pid}"];
        let panes = connection.run(&panes.map(OsStr::new)).unwrap_or_default();
        for pane in panes.lines() {
            if let Some(pid) = pane.strip_prefix("0 ").and_then(|pid| pid.parse().ok()) {
                kill_tree(pid);
            }
        }
        // It ends before it can answer.
        let _ = connection.run(&[OsStr::new("kill-server")]);
    }
}

fn framed(screen: &str) -> String {
    let rows: Vec<String> = screen.lines().map(|row| format!("  │ {row}")).collect();
    rows.join("\n")
}
