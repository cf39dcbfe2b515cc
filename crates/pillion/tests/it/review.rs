//! The review in a real terminal, with an agent of the test's own.

mod changes;
mod drafts;
mod edits;
mod gate;
mod history;
#[cfg(target_os = "linux")]
mod hung_disk;
mod keys;
mod merged;
mod notes;
mod page;
mod plain;
mod saves;
mod sets;
#[cfg(target_os = "linux")]
mod slow_line;
mod words;

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use pillion_testkit::client::Update;
use pillion_testkit::{Env, Pane, SOON, Size, TestAgent, Tmux, slow_text};

use crate::sandbox::Sandbox;

/// Longer than a diff that has just come up ignores decisions.
const REVIEWED: Duration = Duration::from_millis(750);

/// The review's answers to a key that came too early all the same.
const TOO_EARLY: [&str; 2] = ["look at it", "key repeat ignored"];

fn is_too_early(screen: &str) -> bool {
    TOO_EARLY.iter().any(|text| screen.contains(text))
}

/// The end of a question about accepting.
const QUESTION: &str = ": y accepts";

const WELCOME: &str = "Waiting for an agent.";

struct Review {
    sandbox: Sandbox,
    pane: Pane,
    _tmux: Tmux,
}

impl Review {
    fn start(size: Size, args: &str, more: &Env) -> Self {
        Self::start_in(Sandbox::new(), size, args, more)
    }

    fn start_in(sandbox: Sandbox, size: Size, args: &str, more: &Env) -> Self {
        let mut env = sandbox.home.env();
        for (name, value) in more.iter() {
            env.set(name, value);
        }
        let tmux = Tmux::start();
        // The shell shows afterwards how the terminal was left.
        let script = format!(
            "{} review {args}; printf '\\r\\nexit code %s\\r\\n' $?; stty -a; sleep 100",
            env!("CARGO_BIN_EXE_pillion")
        );
        let command = ["sh", "-c", &script];
        let pane = tmux.spawn("review", size, &env, &sandbox.home.workspace(), &command);
        Self {
            sandbox,
            pane,
            _tmux: tmux,
        }
    }

    fn usual() -> Self {
        Self::usual_with(&Env::default())
    }

    fn usual_with(more: &Env) -> Self {
        let review = Self::start(Size::new(110, 30), "", more);
        review.pane.wait_for(WELCOME, SOON);
        review
    }

    /// Another one for the same person, after this one has ended.
    fn again(self, more: &Env) -> Self {
        let review = Self::start_in(self.sandbox, Size::new(110, 30), "", more);
        review.pane.wait_for(WELCOME, SOON);
        review
    }

    fn connect(&self) -> TestAgent {
        let folder = self.sandbox.home.tmp().join("gemini/ide");
        let files = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let is_gemini = |path: &PathBuf| path.to_str().unwrap().contains("gemini-ide-server");
        TestAgent::connect(&files.into_iter().find(is_gemini).unwrap())
    }

    /// A file of the workspace.
    fn path(&self, name: &str) -> String {
        let path = self.sandbox.home.workspace().join(name);
        path.to_str().unwrap().to_owned()
    }

    /// Presses a key once the diff that is shown takes decisions.
    fn decide(&self, key: &str) {
        loop {
            std::thread::sleep(REVIEWED);
            let no_answer = |screen: &str| !is_too_early(screen);
            let before = self.pane.wait_until("no answer", SOON, no_answer);
            self.pane.send_keys([key]);
            let changed = |screen: &str| *screen != before;
            let after = self.pane.wait_until("an answer to a key", SOON, changed);
            if !is_too_early(&after) {
                return;
            }
        }
    }

    /// Presses a key until it has come to this on the screen, and not too early. The screen may change without the key.
    fn decide_until(&self, key: &str, wanted: &str) -> String {
        decide_in(&self.pane, key, wanted)
    }

    /// Another one beside it, in a window of its own.
    fn beside(&self) -> Pane {
        let home = &self.sandbox.home;
        let command = [env!("CARGO_BIN_EXE_pillion")];
        let size = Size::new(110, 30);
        self._tmux
            .spawn("other", size, &home.env(), &home.workspace(), &command)
    }

    /// Sends a signal to the review, and to nothing else.
    fn signal(&self, signal: rustix::process::Signal) {
        let listed = self.sandbox.run(["list", "--json"]).expect(0);
        let listed: serde_json::Value = serde_json::from_str(&listed.stdout).unwrap();
        let pid = listed[0]["views"][0]["pid"]
            .as_i64()
            .unwrap()
            .try_into()
            .unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// The terminal is as it was before.
    fn expect_end(&self) -> String {
        let screen = self.pane.wait_for("exit code 0", SOON);
        self.pane.wait_for(" icanon ", SOON);
        self.pane.wait_for(" echo ", SOON);
        screen
    }
}

/// See [`Review::decide_until`].
fn decide_in(pane: &Pane, key: &str, wanted: &str) -> String {
    loop {
        std::thread::sleep(REVIEWED);
        let no_answer = |screen: &str| !is_too_early(screen);
        pane.wait_until("no answer", SOON, no_answer);
        pane.send_keys([key]);
        let answered = |screen: &str| screen.contains(wanted) || is_too_early(screen);
        let screen = pane.wait_until(wanted, SOON, answered);
        if screen.contains(wanted) {
            return screen;
        }
    }
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn the_demo_shows_the_whole_way() {
    let review = Review::start(Size::new(110, 30), "--demo", &Env::default());
    let screen = review
        .pane
        .wait_for("Pillion proposes reading_list.py", SOON);
    // No other view of the current folder shows it.
    let folders = screen.lines().next().unwrap_or_default();
    assert!(folders.starts_with(" pillion pillion-demo-"), "{screen}");
    assert!(!folders.contains(" + "), "{screen}");
    // Accepting asks about what was not on the screen.
    review.pane.wait_until("all of it seen", SOON, |screen| {
        review.pane.send_keys(["n"]);
        screen.contains("all of it has been on the screen")
    });
    review.decide("a");
    review.pane.wait_for("the demo agent wrote the text", SOON);
    review.pane.send_keys(["q"]);
    review.expect_end();
    let left = fs::read_dir(review.sandbox.home.tmp()).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    let is_demo = |name: &std::ffi::OsString| name.to_string_lossy().contains("demo");
    assert!(!left.iter().any(is_demo), "{left:?}");
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn small_and_growing_terminals_are_filled() {
    let review = Review::start(Size::new(60, 15), "--demo", &Env::default());
    review.pane.wait_for("hunk 1/5", SOON);
    review.pane.resize(Size::new(200, 40));
    review.pane.wait_for("│", SOON);
    review.pane.resize(Size::new(30, 5));
    review.pane.wait_for("small", SOON);
    review.pane.resize(Size::new(60, 15));
    review.pane.wait_for("hunk 1/5", SOON);
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn no_color_means_no_colour() {
    let colours = |more: &Env| {
        let review = Review::start(Size::new(110, 30), "--demo --theme dark", more);
        review.pane.wait_for("hunk 1/5", SOON);
        review.pane.screen_with_colours()
    };
    let is_coloured = |screen: &str| {
        let codes = screen.split("\u{1b}[").skip(1);
        let mut parts = codes.flat_map(|code| code.split('m').next().unwrap_or("").split(';'));
        parts.any(|part| matches!(part.parse(), Ok(30..=38 | 40..=48 | 90..=107)))
    };
    assert!(is_coloured(&colours(&Env::default())));
    let screen = colours(&Env::default().with("NO_COLOR", "1"));
    assert!(!is_coloured(&screen), "{screen:?}");
    assert!(screen.contains("+ "), "{screen}");
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn without_utf8_all_that_is_on_the_screen_is_ascii() {
    for (name, value) in [("LC_ALL", "C"), ("LC_CTYPE", "POSIX")] {
        let env = Env::default().with(name, value);
        let review = Review::start(Size::new(150, 30), "--demo", &env);
        for (key, wanted) in [("?", "hunk 1/5"), ("Escape", " Keys ")] {
            let screen = review.pane.wait_for(wanted, SOON);
            assert!(screen.is_ascii(), "{screen}");
            review.pane.send_keys([key]);
        }
    }
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn quitting_asks_and_then_rejects() {
    let review = Review::usual();
    let mut agent = review.connect();
    agent.propose(review.path("new.txt"), "new\n");
    review.pane.wait_for("proposes", SOON);
    review.decide("q");
    review.pane.wait_for("reject", SOON);
    review.pane.send_keys(["y"]);
    assert!(
        matches!(agent.outcome(), Update::DiffRejected { .. }),
        "C5.7"
    );
    review.expect_end();
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_signal_gives_the_terminal_back_and_rejects() {
    let review = Review::usual();
    let mut agent = review.connect();
    agent.propose(review.path("new.txt"), "new\n");
    review.pane.wait_for("proposes", SOON);
    let pid = review.sandbox.running_pid();
    let kill = std::process::Command::new("kill")
        .arg(pid.to_string())
        .status();
    assert!(kill.unwrap().success());
    assert!(
        matches!(agent.outcome(), Update::DiffRejected { .. }),
        "C5.7"
    );
    review.expect_end();
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_command_accepts_what_the_reviewer_edited() {
    let editor = "sh -c 'printf edited > \"$0\"'";
    let review = Review::usual_with(&Env::default().with("EDITOR", editor));
    let mut agent = review.connect();
    let path = review.path("new.txt");
    agent.propose(&path, "new\n");
    review.pane.wait_for("proposes", SOON);
    review.decide("e");
    review.pane.wait_for("edited", SOON);
    let looked = review.sandbox.run(["diffs", "1", "--as-proposed"]);
    assert_eq!(looked.expect(0).stdout, "new\n");
    let looked = review.sandbox.run_as_person(["diffs", "1"]).expect(0);
    assert_eq!(looked.stdout, "edited");
    review.sandbox.run_as_person(["accept", "1.1"]).expect(0);
    let content = "edited".to_owned();
    assert_eq!(agent.outcome(), Update::accepted(path, content));
    review.pane.wait_for("Nothing to review", SOON);
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_proposal_that_comes_while_the_editor_runs_is_not_accepted_with_the_edit() {
    let editor = "sh -c 'until test -e go; do sleep 0.05; done; printf mine > \"$0\"'";
    let review = Review::usual_with(&Env::default().with("EDITOR", editor));
    let mut agent = review.connect();
    let path = review.path("new.txt");
    agent.propose(&path, "first\n");
    review.pane.wait_for("proposes", SOON);
    review.decide("e");
    review.pane.wait_gone("proposes", SOON);
    agent.propose(&path, "second\n");
    review.sandbox.home.file("go", "");
    let screen = review.pane.wait_for("your text is kept", SOON);
    assert!(screen.contains("second"), "{screen}");
    // It stands in place of what the reviewer wrote.
    review.decide("a");
    review.pane.wait_for(QUESTION, SOON);
    review.decide("y");
    let content = "second\n".to_owned();
    assert_eq!(agent.outcome(), Update::accepted(path, content));
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_proposal_that_is_printed_to_a_terminal_does_not_control_it() {
    let review = Review::usual();
    let agent = review.connect();
    agent.propose(
        review.path("new.txt"),
        "one\n\u{1b}[2J\u{9b}31mtwo\u{202e}\n",
    );
    let script = format!("{} diffs 1; sleep 100", env!("CARGO_BIN_EXE_pillion"));
    let pane = review._tmux.spawn(
        "printed",
        Size::new(110, 30),
        &review.sandbox.home.env(),
        &review.sandbox.home.workspace(),
        &["sh", "-c", &script],
    );
    let screen = pane.wait_for("␛[2J⟨U+009B⟩31mtwo⟨U+202E⟩", SOON);
    assert!(screen.contains("one"), "{screen}");
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_file_that_changes_on_disk_is_shown_as_such() {
    let review = Review::usual();
    let file = review.sandbox.home.file("a.txt", "old\n");
    let agent = review.connect();
    agent.propose(file.to_str().unwrap(), "new\n");
    review.pane.wait_for("proposes a.txt", SOON);
    fs::write(&file, "other\n").unwrap();
    review.pane.wait_for("changed on disk", SOON);
    review.decide("o");
    review.pane.wait_for("other", SOON);
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn no_byte_of_a_proposal_reaches_the_terminal_raw() {
    let review = Review::usual();
    let agent = review.connect();
    let text = "\u{1b}]0;taken over\u{7}\u{1b}[2J\u{9b}31m\u{202e}evil\0\n";
    agent.propose("/tmp/a\u{1b}[31m\nb.txt", text);
    let screen = review.pane.wait_for("evil", SOON);
    assert!(
        screen.contains("proposes"),
        "the screen was not cleared\n{screen}"
    );
    let raw = review.pane.screen_with_colours();
    for character in ['\u{7}', '\u{9b}', '\u{202e}', '\0'] {
        assert!(!raw.contains(character), "{character:?}\n{raw:?}");
    }
    assert!(screen.contains('␛'), "{screen}");
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn what_the_user_ignores_in_every_repository_is_not_shared() {
    let review = Review::usual();
    let excludes = review.sandbox.home.home().join(".config/git/ignore");
    fs::create_dir_all(excludes.parent().unwrap()).unwrap();
    fs::write(excludes, "*.secret\n").unwrap();
    // Rules count from the next event on; the watch begins at some time after the start.
    review.pane.wait_until("a saved file", SOON, |screen| {
        review.sandbox.home.file("keys.secret", "hidden");
        review.sandbox.home.file("src/saved.rs", "fn main() {}\n");
        assert!(!screen.contains("keys.secret"), "{screen}");
        screen.contains("src/saved.rs")
    });
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_saved_file_is_shared_and_two_reviews_show_one_proposal() {
    let review = Review::usual();
    let mut agent = review.connect();
    let file = review.sandbox.home.file("src/saved.rs", "fn main() {}\n");
    let start = Instant::now();
    let update = agent.next(|update| match update {
        Update::Context(context) => context.active_file().is_some(),
        _ => false,
    });
    assert!(start.elapsed() < SOON);
    let Update::Context(context) = update else {
        unreachable!()
    };
    assert_eq!(context.active_file().unwrap().path, file.to_str().unwrap());
    review.pane.wait_for("src/saved.rs", SOON);

    let other = review.beside();
    other.wait_for("src/saved.rs", SOON);
    agent.propose(review.path("new.txt"), "new\n");
    other.wait_for("proposes new.txt", SOON);
    review.pane.wait_for("proposes new.txt", SOON);
    review.decide("a");
    assert!(matches!(agent.outcome(), Update::DiffAccepted { .. }));
    other.wait_for("the diff of new.txt was accepted in another window", SOON);
    other.wait_gone("proposes new.txt", SOON);
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_held_key_and_a_paste_decide_about_one_diff_at_most() {
    let review = Review::usual();
    let agent = review.connect();
    for name in 0..12 {
        agent.propose(review.path(&format!("{name}.txt")), "new\n");
    }
    review.pane.wait_for("0.txt", SOON);
    std::thread::sleep(REVIEWED);
    review.pane.type_text("aaaarrrr");
    review.pane.wait_for("pasted text decides nothing", SOON);
    let pending = || {
        let list = review.sandbox.run(["diffs", "--json"]).expect(0).stdout;
        list.matches("\"path\"").count()
    };
    assert_eq!(pending(), 12);
    // On a busy machine a key may come so late that it was released and pressed again, for all that
    // anybody can tell: that round says nothing.
    for _ in 0..12 {
        let before = pending();
        std::thread::sleep(REVIEWED);
        if hold(&review.pane, "a") {
            review.pane.wait_for("key repeat ignored", SOON);
            return assert_eq!(pending(), before - 1);
        }
        (pending()..12)
            .for_each(|gone| agent.propose(review.path(&format!("again-{gone}.txt")), "new\n"));
    }
    panic!("this machine is too busy to hold a key");
}

/// Holds a key down for two seconds, as terminals report it: silent at first, then 30 times a second.
/// Returns true if none came so late that the key might have been released.
fn hold(pane: &Pane, key: &str) -> bool {
    let mut last = Instant::now();
    pane.send_keys([key]);
    std::thread::sleep(Duration::from_millis(500));
    let mut longest = Duration::from_millis(650);
    let mut was_held = true;
    for _ in 0..75 {
        let start = Instant::now();
        pane.send_keys([key]);
        was_held &= last.elapsed() < longest;
        (last, longest) = (start, Duration::from_millis(250));
        std::thread::sleep(Duration::from_millis(30));
    }
    was_held
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_key_typed_at_the_former_proposal_does_not_accept_the_one_that_comes() {
    let review = Review::usual();
    let mut agent = review.connect();
    let before = slow_text(1);
    let file = review.sandbox.home.file("a.txt", &before);
    let path = file.to_str().unwrap().to_owned();
    let harmless = format!("harmless\n{before}");
    let mut evil = String::new();
    for (round, ms) in [0, 20, 60, 120, 250, 400].into_iter().enumerate() {
        agent.propose(&path, &harmless);
        review.pane.wait_for("harmless", SOON);
        std::thread::sleep(REVIEWED);
        evil = format!("evil {round}\n{}", slow_text(99));
        let call = agent.proposing(&path, &evil);
        std::thread::sleep(Duration::from_millis(ms));
        review.pane.send_keys(["a"]);
        call.end().unwrap();
    }
    review.pane.wait_for("evil 5", SOON);
    review.decide("a");
    review.pane.wait_for(QUESTION, SOON);
    review.decide("y");
    let is_evil = |update: &Update| matches!(update, Update::DiffAccepted { content, .. } if content.starts_with("evil"));
    let content = evil;
    assert!(
        agent.next(is_evil) == Update::accepted(path, content),
        "unseen"
    );
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn an_edited_text_that_the_agent_did_not_take_is_kept_when_the_review_ends() {
    let editor = "sh -c 'printf mine > \"$0\"'";
    let review = Review::usual_with(&Env::default().with("EDITOR", editor));
    let agent = review.connect();
    agent.propose(review.path("new.txt"), "new\n");
    review.pane.wait_for("proposes", SOON);
    review.decide("e");
    review.pane.wait_for("the proposal is now your text", SOON);
    drop(agent);
    review.decide("a");
    review.pane.wait_for("Waiting for an agent", SOON);
    review.pane.send_keys(["q"]);
    let screen = review.expect_end();
    assert!(screen.contains("your text is kept in"), "{screen}");
    let tmp = fs::read_dir(review.sandbox.home.tmp()).unwrap();
    let kept = tmp
        .map(|entry| entry.unwrap().path())
        .find(|path| path.to_str().unwrap().contains("pillion-kept-"));
    let text = fs::read_to_string(kept.unwrap().join("new.txt")).unwrap();
    assert_eq!(text, "mine");
}

/// By Ctrl-Z, or by a signal that no program can catch, as when a laptop's session is frozen.
#[test]
#[cfg(unix)]
#[ignore = "needs tmux: cargo xtask test"]
fn a_review_that_was_stopped_and_goes_on_has_its_terminal_again() {
    use rustix::process::Signal;
    let sandbox = Sandbox::new();
    let tmux = Tmux::start();
    let env = sandbox.home.env().with("PS1", "shell> ");
    let shell = ["bash", "--norc", "--noprofile", "-i"];
    let size = Size::new(110, 30);
    let pane = tmux.spawn("review", size, &env, &sandbox.home.workspace(), &shell);
    let review = Review {
        sandbox,
        pane,
        _tmux: tmux,
    };
    let path = PathBuf::from(review.path("a.txt"));
    fs::write(&path, "old\n").unwrap();
    let pane = &review.pane;
    let type_line = |text: &str| {
        pane.type_text(text);
        pane.send_keys(["Enter"]);
    };
    pane.wait_for("shell>", SOON);
    type_line(&format!("{} review", env!("CARGO_BIN_EXE_pillion")));
    pane.wait_for(WELCOME, SOON);
    let mut agent = review.connect();
    for stop in [None, Some(Signal::STOP), None, Some(Signal::STOP)] {
        agent.propose(&path, "new\n");
        pane.wait_for("proposes a.txt", SOON);
        match stop {
            None => pane.send_keys(["C-z"]),
            Some(signal) => review.signal(signal),
        }
        pane.wait_for("Stopped", SOON);
        // What the shell and its programs leave on the screen.
        type_line("echo left over; fg");
        let is_redrawn =
            |screen: &str| screen.contains("proposes a.txt") && !screen.contains("left over");
        pane.wait_until("the review alone", SOON, is_redrawn);
        review.decide("R");
        pane.wait_for("reason for rejecting", SOON);
        pane.type_text("no");
        pane.wait_for("a.txt: no", SOON);
        // As a line feed it would be no Enter.
        review.decide("Enter");
        pane.wait_for("Nothing to review right now", SOON);
        assert!(matches!(agent.outcome(), Update::DiffRejected { .. }));
    }
}
