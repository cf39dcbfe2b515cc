//! The review in terminals that answer no question, or answer late. tmux answers; here `script` is
//! the terminal, which hands on bytes and says nothing itself.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use pillion_testkit::{SOON, pause};

use crate::sandbox::Sandbox;
use crate::shared_agent_work::{OTHER, command_begins, command_ends, turn_begins, turn_ends};

/// Longer than a diff that has just come up ignores decisions.
const REVIEWED: Duration = Duration::from_millis(800);

/// So much longer, if the terminal has never said that it shows anything.
const SILENT: Duration = Duration::from_secs(2);

struct Terminal {
    child: Child,
    keyboard: ChildStdin,
    written: Arc<Mutex<Vec<u8>>>,
    sandbox: Sandbox,
}

impl Terminal {
    /// Runs `pillion review` with `args` in a terminal that never says anything by itself.
    fn start(args: &str) -> Self {
        let sandbox = Sandbox::new();
        let command = format!(
            "stty rows 30 cols 110; exec {} review {args}",
            env!("CARGO_BIN_EXE_pillion")
        );
        let mut child = std::process::Command::new("script")
            .args(["-qec", &command, "/dev/null"])
            .env_clear()
            .envs(sandbox.home.env().iter())
            .env("TERM", "xterm-256color")
            .env("SHELL", "/bin/sh")
            .current_dir(sandbox.home.workspace())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let written = Arc::new(Mutex::new(Vec::new()));
        let mut screen = child.stdout.take().unwrap();
        let sink = Arc::clone(&written);
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = screen.read(&mut bytes) {
                sink.lock().unwrap().extend_from_slice(&bytes[..count]);
            }
        });
        Self {
            keyboard: child.stdin.take().unwrap(),
            child,
            written,
            sandbox,
        }
    }

    fn screen(&self) -> String {
        String::from_utf8_lossy(&self.written.lock().unwrap()).into_owned()
    }

    #[track_caller]
    fn wait_for(&self, text: &str) -> String {
        let started = Instant::now();
        loop {
            let screen = self.screen();
            if screen.contains(text) {
                return screen;
            }
            assert!(started.elapsed() < SOON, "no {text:?} in {screen:?}");
            pause(started);
        }
    }

    fn send(&mut self, bytes: &str) {
        self.keyboard.write_all(bytes.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Leaves although a proposal is pending, and gives all that was written.
    #[track_caller]
    fn expect_quit(mut self) -> String {
        thread::sleep(REVIEWED);
        self.send("q");
        self.wait_for("Quit?");
        thread::sleep(REVIEWED);
        self.send("y");
        let status = self.child.wait().unwrap();
        let screen = self.wait_for("\u{1b}[?1049l");
        assert_eq!(status.code(), Some(0), "{screen:?}");
        screen
    }

    /// Leaves, and expects the terminal to be given back.
    #[track_caller]
    fn expect_end(mut self) {
        self.send("q");
        let status = self.child.wait().unwrap();
        let screen = self.wait_for("\u{1b}[?1049l");
        assert_eq!(status.code(), Some(0), "{screen:?}");
    }
}

#[test]
#[ignore = "needs script: cargo xtask test"]
fn a_terminal_that_answers_no_question_shows_the_review() {
    for theme in ["auto", "dark"] {
        let terminal = Terminal::start(&format!("--theme {theme}"));
        terminal.wait_for("Waiting for an agent.");
        // It asks when its frames are shown, and waits for no answer.
        terminal.wait_for("\u{1b}[6n");
        terminal.expect_end();
    }
}

#[test]
#[ignore = "needs script: cargo xtask test"]
fn an_answer_that_comes_late_decides_nothing() {
    let mut terminal = Terminal::start("--demo");
    terminal.wait_for("reading_list.py");
    // Accepting asks about what was not on the screen.
    let started = Instant::now();
    while !terminal
        .screen()
        .contains("all of it has been on the screen")
    {
        assert!(started.elapsed() < SOON, "{:?}", terminal.screen());
        terminal.send("n");
        thread::sleep(Duration::from_millis(50));
    }
    thread::sleep(SILENT + REVIEWED);
    // "rgb" would reject and "e" would edit.
    terminal.send("\u{1b}]10;rgb:eeee/eeee/eeee\u{1b}\\\u{1b}]11;rgb:1e1e/1e1e/1e1e\u{7}");
    terminal.send("\u{1b}[?62;22c\u{1b}[12;40R");
    // Not a key, not an answer, and not even UTF-8.
    terminal.keyboard.write_all(b"\xff\xfe\x1b[999~").unwrap();
    terminal.send("a");
    let screen = terminal.wait_for("the demo agent wrote the text");
    assert!(!screen.contains("rejected"), "{screen:?}");
    terminal.expect_end();
}

#[test]
#[ignore = "needs script: cargo xtask test"]
fn a_proposal_is_announced_as_chosen_and_the_title_comes_back() {
    let terminal = Terminal::start("--theme dark --demo --notify bell,title,osc9");
    let screen = terminal.wait_for("]2;pillion: 1 pending, reading_list.py\u{7}");
    assert!(screen.contains("\u{7}\u{1b}]9;Pillion proposes reading_list.py\u{7}"));
    assert_eq!(screen.matches("\u{1b}[22;2t").count(), 1, "{screen:?}");
    assert!(!screen.contains("\u{1b}[23;2t"), "{screen:?}");
    let written = terminal.expect_quit();
    assert_eq!(written.matches("\u{1b}[23;2t").count(), 1, "{written:?}");

    let terminal = Terminal::start("--theme dark --demo");
    terminal.wait_for("reading_list.py");
    let written = terminal.expect_quit();
    for sequence in ["\u{7}", "\u{1b}]", "\u{1b}[22;2t", "\u{1b}[23;2t"] {
        assert!(!written.contains(sequence), "{sequence:?} {written:?}");
    }
}

/// What the review said each time that it rang.
fn announced(screen: &str) -> Vec<&str> {
    let mut rings = 0;
    let mut said = Vec::new();
    for (at, part) in screen.split("\u{1b}]9;").enumerate() {
        // The message and titles end with the same byte.
        let titles = part.matches("\u{1b}]2;").count();
        rings += part.matches('\u{7}').count() - titles - usize::from(at > 0);
        if at > 0 {
            said.push(part.split('\u{7}').next().unwrap());
        }
    }
    assert_eq!(rings, said.len(), "{screen:?}");
    said
}

#[test]
#[ignore = "needs script: cargo xtask test"]
fn a_turn_that_ends_with_files_to_look_at_is_announced_once() {
    let mut terminal = Terminal::start("--theme dark --notify bell,title,osc9");
    terminal.wait_for("Waiting");
    terminal.sandbox.home.file(OTHER.0, OTHER.1);
    let turn = |terminal: &Terminal, names: &[&str], before_end: &dyn Fn(&Sandbox)| {
        let home = &terminal.sandbox.home;
        turn_begins(home);
        command_begins(home);
        for name in names {
            home.file(name, "new\n");
        }
        command_ends(home);
        before_end(&terminal.sandbox);
        turn_ends(home);
    };
    let nothing = |_: &Sandbox| {};
    let three = "Codex CLI has ended its turn: 3 files to look at";
    turn(&terminal, &["a", "b", "c"], &nothing);
    terminal.wait_for(&format!("\u{7}\u{1b}]9;{three}\u{7}"));
    let listed = terminal.sandbox.run(["changes"]).expect(0);
    assert!(listed.stdout.contains("turn 1"), "{}", listed.report());
    // One that changed nothing, and one whose file was seen before it ended.
    turn(&terminal, &[], &nothing);
    turn(&terminal, &["d"], &|sandbox| {
        let listed = sandbox.run(["changes"]).expect(0).stdout;
        let mut newest = { listed.lines() }.filter_map(|line| line.strip_prefix("turn "));
        let newest = newest.next_back().unwrap().split(' ').next().unwrap();
        sandbox.run_as_person(["keep", newest]).expect(0);
    });
    // The last one tells that the others were heard of.
    let one = "Codex CLI has ended its turn: 1 file to look at";
    turn(&terminal, &["e"], &nothing);
    let screen = terminal.wait_for(one);
    assert_eq!(announced(&screen), [three, one]);
    // In the list, they see the next one come.
    terminal.send("S");
    terminal.wait_for("4.1");
    turn(&terminal, &["f"], &nothing);
    terminal.wait_for("5.1");
    // The end of that turn was heard of when the next one is listed.
    turn(&terminal, &["g", "h"], &nothing);
    let screen = terminal.wait_for("6.1");
    assert_eq!(announced(&screen), [three, one]);
    terminal.child.kill().unwrap();
    terminal.child.wait().unwrap();
}
