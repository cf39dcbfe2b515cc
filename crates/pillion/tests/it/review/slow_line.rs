//! The review at the end of a line that shows late what was written, or of a terminal that does not say what it shows.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{RecvTimeoutError, unbounded};
use pillion_protocol::Dialect;
use pillion_testkit::client::Update;
use pillion_testkit::{SOON, TestAgent};

use crate::sandbox::Sandbox;

/// The time that a text has to be on the screen before it is decided about.
const LOOK: Duration = Duration::from_millis(700);

/// The terminal's answer when it is asked where its cursor is.
#[derive(Clone, Copy, PartialEq)]
enum Answers {
    Once,
    Never,
    /// Once at once, and once more a second later.
    Twice,
}

/// A terminal at the end of a line: bytes arrive at so many a second, and answers leave once what was before them has
/// arrived.
struct Terminal {
    review: Child,
    keys: Arc<Mutex<ChildStdin>>,
    /// The bytes that have arrived, and when.
    shown: Arc<Mutex<Vec<(Instant, u8)>>>,
}

impl Terminal {
    fn start(sandbox: &Sandbox, rate: Option<u32>, answers: Answers) -> Self {
        let program = env!("CARGO_BIN_EXE_pillion");
        let script = format!("stty rows 24 cols 80; exec {program} review --theme dark");
        let mut command = Command::new("script");
        command
            .args(["-qfc", &script, "/dev/null"])
            .current_dir(sandbox.home.workspace())
            .env_clear()
            .envs(sandbox.home.env().iter())
            .env("TERM", "xterm-256color")
            .env("SHELL", "/bin/sh")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut review = command.spawn().expect("script can be started");
        let keys = Arc::new(Mutex::new(review.stdin.take().unwrap()));
        let mut output = review.stdout.take().unwrap();
        let shown: Arc<Mutex<Vec<(Instant, u8)>>> = Arc::default();
        let (line, arrivals) = unbounded();
        // The line holds as many bytes as it likes: the review never waits for it.
        thread::spawn(move || {
            let mut bytes = [0; 4_096];
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                if bytes[..count].iter().any(|byte| line.send(*byte).is_err()) {
                    return;
                }
            }
        });
        let (screen, replies) = (Arc::clone(&shown), Arc::clone(&keys));
        thread::spawn(move || {
            let (mut sequence, mut place) = (Vec::new(), String::from("1;1"));
            for byte in arrivals {
                if let Some(rate) = rate {
                    thread::sleep(Duration::from_secs(1) / rate);
                }
                screen.lock().unwrap().push((Instant::now(), byte));
                if byte == b'\x1b' {
                    sequence.clear();
                }
                sequence.push(byte);
                if let Some(moved) = sequence.strip_prefix(b"\x1b[")
                    && let Some(moved) = moved.strip_suffix(b"H")
                {
                    place = String::from_utf8_lossy(moved).into_owned();
                } else if sequence == b"\x1b[6n" && answers != Answers::Never {
                    let answer = format!("\x1b[{place}R");
                    let reply = move |keys: &Mutex<ChildStdin>, answer: &str| {
                        // The review may be over.
                        let _ = keys.lock().unwrap().write_all(answer.as_bytes());
                    };
                    reply(&replies, &answer);
                    if answers == Answers::Twice {
                        let replies = Arc::clone(&replies);
                        thread::spawn(move || {
                            thread::sleep(Duration::from_secs(1));
                            reply(&replies, &answer);
                        });
                    }
                }
            }
        });
        Self {
            review,
            keys,
            shown,
        }
    }

    fn press(&self, key: u8) {
        self.keys.lock().unwrap().write_all(&[key]).unwrap();
    }

    /// When a text had arrived.
    fn shown_at(&self, text: &str) -> Option<Instant> {
        let shown = self.shown.lock().unwrap();
        let bytes: Vec<u8> = shown.iter().map(|(_, byte)| *byte).collect();
        let mut parts = bytes.windows(text.len());
        let at = parts.position(|part| part == text.as_bytes())?;
        Some(shown[at + text.len() - 1].0)
    }

    fn wait_for(&self, text: &str) -> Instant {
        let started = Instant::now();
        loop {
            if let Some(at) = self.shown_at(text) {
                return at;
            }
            assert!(started.elapsed() < SOON, "{text} does not arrive");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        pillion_testkit::kill_tree(self.review.id());
        let _ = self.review.wait();
    }
}

/// Text that fills the screen; the last line that fits has the mark.
fn text(mark: &str) -> String {
    let line = |number: usize| {
        let letters = "abcdefghijklmnopqrstuvwxyz";
        match number {
            17 => format!("{mark} is here\n"),
            _ => format!("{mark}{number} {letters} {letters}\n"),
        }
    };
    (0..18).map(line).collect()
}

/// The pause before a press, by its number: four come in a second. Of eight in vain, the person lets the key go for a
/// while: a busy machine may read two of them as quickly one after the other as a key repeats that is held down, and then
/// those that follow count as such, too, until there is a pause.
fn pause_before(press: u32) -> Duration {
    match press % 8 {
        0 if press > 0 => 2 * LOOK,
        _ => LOOK * 5 / 14,
    }
}

/// Rejects the first of two diffs once it was seen, and presses `a` four times a second from then on. Answers how long
/// the second one had been on the screen when it was accepted, and how long ago the first one was decided.
fn impatient(rate: Option<u32>, answers: Answers) -> (Duration, Duration) {
    let sandbox = Sandbox::new();
    let terminal = Terminal::start(&sandbox, rate, answers);
    terminal.wait_for("Waiting for an agent");
    let mut agent = TestAgent::find(&sandbox.home, Dialect::GeminiCli);
    let path = |name: &str| sandbox.home.workspace().join(name);
    agent.propose(path("first.txt"), &text("first"));
    agent.propose(path("second.txt"), &text("second"));
    terminal.wait_for("first is here");
    let press_until_decided = |agent: &mut TestAgent, key: u8| {
        let (done, is_done) = unbounded::<()>();
        thread::scope(|scope| {
            scope.spawn(|| {
                let is_done = is_done;
                for press in 0.. {
                    if is_done.recv_timeout(pause_before(press)) != Err(RecvTimeoutError::Timeout) {
                        return;
                    }
                    terminal.press(key);
                }
            });
            let outcome = agent.outcome();
            drop(done);
            (outcome, Instant::now())
        })
    };
    let (outcome, rejected) = press_until_decided(&mut agent, b'r');
    assert!(
        matches!(outcome, Update::DiffRejected { .. }),
        "{outcome:?}"
    );
    let (outcome, accepted) = press_until_decided(&mut agent, b'a');
    assert!(
        matches!(outcome, Update::DiffAccepted { .. }),
        "{outcome:?}"
    );
    let shown = terminal.shown_at("second is here");
    let shown = shown.expect("it was on the screen");
    (
        accepted.saturating_duration_since(shown),
        accepted.duration_since(rejected),
    )
}

#[test]
#[ignore = "needs script: cargo xtask test"]
fn nothing_is_accepted_before_a_slow_line_has_shown_it() {
    let (shown, since) = impatient(Some(1_600), Answers::Once);
    assert!(shown >= LOOK, "{shown:?}");
    assert!(since > 2 * LOOK, "the line was slow: {since:?}");
}

#[test]
#[ignore = "needs script: cargo xtask test"]
fn a_terminal_that_does_not_say_what_it_shows_gets_more_time() {
    let (shown, _) = impatient(None, Answers::Never);
    assert!(shown >= 3 * LOOK, "{shown:?}");
}

#[test]
#[ignore = "needs script: cargo xtask test"]
fn a_terminal_that_answers_twice_is_believed_once() {
    let (shown, since) = impatient(Some(3_000), Answers::Twice);
    assert!(shown >= LOOK, "{shown:?} {since:?}");
}
