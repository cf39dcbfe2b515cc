//! A person's Emacs with the package, and agents that are connected to it.

use std::path::PathBuf;

use pillion_protocol::{Dialect, File};
use pillion_testkit::client::Update;
use pillion_testkit::{Emacs, EmacsSetup, EmacsVersion, Home, TestAgent, Tmux};

/// The command under test.
pub const PILLION: &str = env!("CARGO_BIN_EXE_pillion");

pub const ORIGINAL: &str = "one\ntwo\nthree\nfour\nfive\n";
pub const PROPOSED: &str = "one\n2\nthree\nfour\nfive\nsix\n";

/// Emacs with `a.txt` open, the terminal, and the home that it runs in.
#[derive(Debug)]
pub struct World {
    pub emacs: Emacs,
    /// `a.txt`.
    pub path: PathBuf,
    _tmux: Tmux,
    // Last: Emacs has files in it.
    pub home: Home,
}

impl World {
    pub fn new(version: EmacsVersion) -> World {
        World::with(version, Home::new(), |setup| setup)
    }

    /// The same in this home, started as `change` says.
    pub fn with(
        version: EmacsVersion,
        home: Home,
        change: impl FnOnce(EmacsSetup) -> EmacsSetup,
    ) -> World {
        let path = home.file("a.txt", ORIGINAL);
        let tmux = Tmux::start();
        let emacs = change(setup(version, &home)).arg(&path).in_tmux(&tmux);
        let world = World {
            emacs,
            path,
            _tmux: tmux,
            home,
        };
        world.wait_running();
        world
    }

    /// Waits until Pillion runs for this Emacs.
    #[track_caller]
    pub fn wait_running(&self) {
        self.emacs.wait_until(
            "Pillion running",
            "(and (pillion-client-running-p) (pillion-client-get :port))",
        );
    }

    /// An agent that is connected, as Emacs knows.
    pub fn agent(&self, dialect: Dialect) -> TestAgent {
        let agent = TestAgent::find(&self.home, dialect);
        let known = format!(
            "(member \"{}\" (mapcar (lambda (it) (plist-get it :name)) (pillion-client-get :agents)))",
            dialect.name()
        );
        self.emacs.wait_until("the agent known", &known);
        agent
    }

    /// Gemini CLI, connected.
    pub fn gemini(&self) -> TestAgent {
        self.agent(Dialect::GeminiCli)
    }

    /// Waits until a proposal has the focus.
    #[track_caller]
    pub fn wait_view(&self) {
        self.emacs.wait_until(
            "a proposal",
            "(string-prefix-p \"*Proposal\" (buffer-name))",
        );
    }

    /// Gemini proposes a text for `a.txt`, and the person looks at it so long that they may accept it.
    #[track_caller]
    pub fn propose(&self, gemini: &TestAgent, text: &str) {
        gemini.propose(&self.path, text);
        self.wait_view();
        self.look();
    }

    #[track_caller]
    pub fn look(&self) {
        self.emacs.wait_looked();
    }

    #[track_caller]
    pub fn is_accepted(&self, gemini: &mut TestAgent, text: &str) {
        let expected = Update::accepted(self.path.display().to_string(), text);
        assert_eq!(gemini.outcome(), expected, "{}", self.emacs.describe());
        self.wait_gone();
    }

    #[track_caller]
    pub fn is_rejected(&self, gemini: &mut TestAgent) {
        let path = self.path.display().to_string();
        let expected = Update::DiffRejected { path };
        assert_eq!(gemini.outcome(), expected, "{}", self.emacs.describe());
        self.wait_gone();
    }

    /// Nothing was decided.
    #[track_caller]
    pub fn is_pending(&self, gemini: &mut TestAgent, why: &str) {
        self.emacs.pane().wait_read();
        let pending = gemini.check_pending(&self.home);
        assert_eq!(pending, Ok(()), "after {why}\n{}", self.emacs.describe());
    }

    #[track_caller]
    pub fn wait_gone(&self) {
        self.emacs.wait_until(
            "no view left",
            "(not (seq-some (lambda (it) (local-variable-p 'pillion-diff--mine it)) (buffer-list)))",
        );
    }

    /// Waits until agents are shown an active file in which `wanted` holds.
    pub fn active(&self, agent: &mut TestAgent, wanted: impl Fn(&File) -> bool) -> File {
        let context = agent.context(|context| context.active_file().is_some_and(&wanted));
        context.active_file().expect("it was wanted").clone()
    }
}

/// An Emacs with the package and the command under test, still to be started.
pub fn setup(version: EmacsVersion, home: &Home) -> EmacsSetup {
    EmacsSetup::new(version, home)
        .pillion(PILLION)
        .init("(pillion-mode 1)")
}

/// Lines with their numbers, changed where this says so.
pub fn lines(count: usize, change: impl Fn(usize) -> Option<String>) -> String {
    let line = |number: usize| change(number).unwrap_or_else(|| format!("line {number}\n"));
    (1..=count).map(line).collect()
}
