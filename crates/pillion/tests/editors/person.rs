//! A person in an editor with one file open, and agents that are connected to it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use pillion_protocol::{Dialect, File};
use pillion_testkit::client::Update;
use pillion_testkit::{Home, SOON, TestAgent, TestClaude, Tmux, pause};

use crate::driver::{Editor, Habit, Kind, PILLION, Start};

/// The content of `a.txt`.
pub const ORIGINAL: &str = "one\ntwo\nthree\nfour\nfive\n";

/// The text that Gemini CLI proposes for it.
pub const PROPOSED: &str = "one\n2\nthree\nfour\nfive\nsix\n";

/// By then a question is on the screen, and has been there for so long that its answer counts.
const QUESTION: Duration = Duration::from_secs(3);

pub struct Person {
    pub editor: Box<dyn Editor>,
    /// Connected, from the beginning.
    pub gemini: TestAgent,
    /// `a.txt`, which is open.
    pub path: PathBuf,
    _tmux: Tmux,
    // Last: the editor has files in it.
    pub home: Home,
}

impl Person {
    pub fn new(kind: Kind) -> Person {
        Person::with(kind, Habit::None)
    }

    pub fn with(kind: Kind, habit: Habit) -> Person {
        let home = Home::new();
        let path = home.file("a.txt", ORIGINAL);
        let cwd = home.workspace();
        Person::in_folder(kind, habit, home, cwd, path)
    }

    /// The same in this folder, with this file open.
    pub fn in_folder(kind: Kind, habit: Habit, home: Home, cwd: PathBuf, path: PathBuf) -> Person {
        let tmux = Tmux::start();
        let editor = kind.start(&Start {
            home: &home,
            tmux: &tmux,
            cwd,
            files: vec![path.clone()],
            habit,
        });
        wait(&*editor, "Pillion running", |editor| editor.is_running());
        let gemini = agent(&*editor, &home, Dialect::GeminiCli);
        Person {
            editor,
            gemini,
            path,
            _tmux: tmux,
            home,
        }
    }

    /// One more agent, connected.
    pub fn agent(&self, dialect: Dialect) -> TestAgent {
        agent(&*self.editor, &self.home, dialect)
    }

    /// Claude Code, connected.
    pub fn claude(&self) -> TestClaude {
        let claude = TestClaude::find(&self.home);
        self.wait("Claude Code known", |editor| {
            editor.knows(Dialect::ClaudeCode.name())
        });
        claude
    }

    /// Gemini CLI proposes a text for `a.txt`, and it is shown in focus.
    #[track_caller]
    pub fn begin(&self, text: &str) {
        if let Err(error) = self.gemini.try_propose(&self.path, text) {
            panic!("openDiff failed: {error}\n{}", self.editor.describe());
        }
        self.wait("a proposal", |editor| editor.is_in_proposal());
    }

    /// The same, and the person has looked at it so long that they may accept it.
    #[track_caller]
    pub fn propose(&self, text: &str) {
        self.begin(text);
        self.look();
    }

    /// The output of `pillion diffs` for the first proposal.
    #[track_caller]
    pub fn printed(&self) -> String {
        self.pillion(&["diffs", "1"])
    }

    /// The output of this command.
    #[track_caller]
    pub fn pillion(&self, words: &[&str]) -> String {
        let mut command = std::process::Command::new(PILLION);
        command
            .args(words)
            .env_clear()
            .envs(self.home.env().iter())
            .current_dir(self.home.workspace());
        let output = command.output().unwrap();
        let note = String::from_utf8_lossy(&output.stderr);
        assert!(
            !note.contains("did not tell"),
            "{note}\n{}",
            self.editor.describe()
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// Looks at the proposal on the screen so long.
    #[track_caller]
    pub fn look(&self) {
        self.wait("a proposal that may be accepted", |editor| {
            editor.may_accept()
        });
    }

    /// Accepts, and reads what is asked, such as that not all of it was on the screen, and accepts all the same.
    #[track_caller]
    pub fn accept_whatever_is_asked(&self) {
        let started = Instant::now();
        while self.editor.has_views() {
            assert!(started.elapsed() < SOON, "{}", self.editor.describe());
            self.editor.accept();
            let asked = Instant::now();
            while self.editor.has_views() && asked.elapsed() < QUESTION {
                pause(asked);
            }
        }
    }

    /// Waits until this is so in the editor.
    #[track_caller]
    pub fn wait(&self, what: &str, condition: impl Fn(&dyn Editor) -> bool) {
        wait(&*self.editor, what, condition);
    }

    /// The next outcome is this text, accepted.
    #[track_caller]
    pub fn is_accepted(&mut self, text: &str) {
        let expected = Update::accepted(self.path.display().to_string(), text);
        let outcome = self.gemini.outcome();
        assert_eq!(outcome, expected, "{}", self.editor.describe());
        self.wait_gone();
        self.editor.assert_no_errors();
    }

    #[track_caller]
    pub fn is_rejected(&mut self) {
        let path = self.path.display().to_string();
        let outcome = self.gemini.outcome();
        assert_eq!(
            outcome,
            Update::DiffRejected { path },
            "{}",
            self.editor.describe()
        );
        self.wait_gone();
    }

    /// Nothing was decided.
    #[track_caller]
    pub fn is_pending(&mut self, why: &str) {
        self.editor.wait_read();
        let pending = self.gemini.check_pending(&self.home);
        assert_eq!(pending, Ok(()), "after {why}\n{}", self.editor.describe());
    }

    /// Gemini CLI has heard of everything that was decided.
    #[track_caller]
    pub fn has_heard_all(&mut self) {
        self.editor.wait_read();
        let heard = self.gemini.check_heard_all(&self.home, PILLION);
        assert_eq!(heard, Ok(()), "{}", self.editor.describe());
    }

    /// Waits until no view is left.
    #[track_caller]
    pub fn wait_gone(&self) {
        self.wait("no view left", |editor| !editor.has_views());
    }

    /// The person, who is in the view, reads that nobody has decided, and closes it.
    #[track_caller]
    pub fn leave_undecided(&self) {
        self.wait("what has become of it", |editor| {
            editor.sees("no longer waits for a.txt here")
        });
        self.editor.close();
        self.wait_gone();
    }

    /// The agent closes its proposal; the text that stood in it.
    #[track_caller]
    pub fn withdraw(&self) -> String {
        let text = self.gemini.close(&self.path).unwrap();
        self.wait_gone();
        text
    }

    /// Waits until agents are shown an active file in which `wanted` holds.
    pub fn active(&mut self, wanted: impl Fn(&File) -> bool) -> File {
        active(&mut self.gemini, wanted)
    }
}

/// Waits until this agent is shown an active file in which `wanted` holds.
pub fn active(agent: &mut TestAgent, wanted: impl Fn(&File) -> bool) -> File {
    let context = agent.context(|context| context.active_file().is_some_and(&wanted));
    context.active_file().expect("it was wanted").clone()
}

/// Waits until a file reads like this.
#[track_caller]
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < SOON, "expected {what}");
        pause(started);
    }
}

#[track_caller]
pub fn wait(editor: &dyn Editor, what: &str, condition: impl Fn(&dyn Editor) -> bool) {
    let started = Instant::now();
    while !condition(editor) {
        assert!(
            started.elapsed() < SOON,
            "expected {what}\n{}",
            editor.describe()
        );
        pause(started);
    }
}

fn agent(editor: &dyn Editor, home: &Home, dialect: Dialect) -> TestAgent {
    let agent = TestAgent::find(home, dialect);
    wait(editor, "the agent known", |editor| {
        editor.knows(dialect.name())
    });
    agent
}
