//! Emacs with a file open, and what a person does in it.

use std::fs;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use pillion_discovery::Environment;
use pillion_discovery::state;
use pillion_testkit::client::claude::Answer;
use pillion_testkit::{
    Call, Emacs, EmacsSetup, EmacsVersion, Home, SOON, Tmux, lock_files, make_repository,
    programs_below,
};
use pillion_view::LOOK;

const PILLION: &str = env!("CARGO_BIN_EXE_pillion");

const PAGE: &str = include_str!("../../../../../docs/editors.md");

pub const BEFORE: &str = "one\ntwo\nthree\n";

/// A proposal has the focus, and its hunks are known.
const IS_SHOWN: &str =
    "(and (string-match-p \"\\\\.proposed\\\\.\" (buffer-name)) (flymake-diagnostics))";

/// The text in the minibuffer.
pub const MINIBUFFER: &str = "(when-let ((window (active-minibuffer-window))) \
    (with-current-buffer (window-buffer window) (minibuffer-contents)))";

/// Emacs's language-server clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// Emacs's own: a server for each project, and so for each proposal.
    Eglot,
    /// 9.0 in Emacs 30.1, 10.0 in 30.2.
    LspMode,
}

impl Client {
    /// A name for a file of a mode that is set up.
    pub fn file(self, name: &str) -> String {
        match self {
            Client::Eglot => format!("{name}.txt"),
            Client::LspMode => format!("{name}.py"),
        }
    }

    /// The page's lines for the init file.
    fn settings(self) -> &'static str {
        let section = PAGE.split("\n## ").find(|it| it.starts_with("Emacs\n"));
        let blocks = section
            .expect("the page has it")
            .split("```elisp\n")
            .skip(1);
        let mut blocks = blocks.filter_map(|rest| rest.split("```").next());
        let block = match self {
            Client::Eglot => blocks.next(),
            Client::LspMode => blocks.nth(1),
        };
        block.expect("the page has two")
    }
}

/// Emacs with a file open in a project.
pub struct Scene {
    pub client: Client,
    pub emacs: Emacs,
    pub path: PathBuf,
    pub tmux: Tmux,
    // Last: the editor has files in it.
    pub home: Home,
}

impl Scene {
    /// The client serves the file.
    pub fn start(client: Client, version: EmacsVersion, text: &str) -> Scene {
        let home = Home::new();
        let path = home.file(&client.file("poem"), text);
        // A project, whose folder is the root.
        make_repository(&home.workspace());
        let tmux = Tmux::start();
        let setup = EmacsSetup::new(version, &home)
            .pillion(PILLION)
            .without_package()
            .with_lsp_mode()
            .init(client.settings());
        let emacs = setup.arg(&path).in_tmux(&tmux);
        if client == Client::LspMode {
            // Once for each project.
            emacs.pane().wait_for("Select action", SOON);
            emacs.input("i");
        }
        let scene = Scene {
            client,
            emacs,
            path,
            tmux,
            home,
        };
        scene.wait_served();
        scene
    }

    fn wait_served(&self) {
        let is_served = match self.client {
            Client::Eglot => "(eglot-managed-p)",
            Client::LspMode => "(bound-and-true-p lsp--buffer-workspaces)",
        };
        self.emacs.wait_until("a server", is_served);
    }

    /// Waits until this proposal is in a window. Its buffer.
    #[track_caller]
    pub fn wait_view(&self, name: &str) -> String {
        let buffer = self.client.file(&format!("{name}.proposed"));
        let is_there = format!("(get-buffer-window {buffer:?})");
        self.emacs.wait_until("the proposal", &is_there);
        buffer
    }

    /// Waits until this proposal is there, goes to it, and waits until its hunks are known.
    #[track_caller]
    pub fn go(&self, name: &str) {
        let buffer = self.wait_view(name);
        if self.client == Client::Eglot {
            // It takes no focus.
            let name = || self.emacs.get::<String>("(buffer-name)");
            let mut here = name();
            while here != buffer {
                let is_left = format!("(not (equal (buffer-name) {here:?}))");
                self.emacs.input_until("<C-x>o", &is_left);
                here = name();
            }
            self.wait_served();
            // It marks nothing before the next key.
            self.emacs.input("<C-a>");
        }
        self.emacs.wait_until("hunks", IS_SHOWN);
    }

    /// Goes to a proposal that is out of sight.
    #[track_caller]
    pub fn show(&self, name: &str) {
        let buffer = self.client.file(&format!("{name}.proposed"));
        let is_there = format!("(get-buffer-window {buffer:?})");
        self.emacs
            .input_until(&format!("<C-x>b{buffer}<RET>"), &is_there);
        self.go(name);
    }

    /// Types at the end of the proposal.
    #[track_caller]
    pub fn type_at_end(&self, text: &str) {
        let is_locked: bool = self.emacs.get("(if buffer-read-only t :json-false)");
        if self.client == Client::LspMode && is_locked {
            self.emacs.input_until("e", "(not buffer-read-only)");
        }
        self.emacs.input_until("<M-gt>", "(eobp)");
        let is_typed = format!("(looking-back {text:?} (point-min))");
        self.emacs.input_until(text, &is_typed);
    }

    /// Chooses the code action that accepts.
    #[track_caller]
    pub fn accept(&self) {
        self.choose("Accept");
    }

    #[track_caller]
    pub fn reject(&self) {
        self.choose("Reject");
    }

    #[track_caller]
    fn choose(&self, action: &str) {
        // Nothing counts before that.
        sleep(LOOK);
        let pane = self.emacs.pane();
        match self.client {
            Client::Eglot => {
                self.emacs.command("eglot-code-actions");
                pane.wait_for("(default Accept ", SOON);
            }
            Client::LspMode => {
                self.emacs.command("lsp-execute-code-action");
                pane.wait_for("Select code action:", SOON);
            }
        }
        // All of it by its first letter.
        self.emacs.input(&action[..1]);
        let is_whole = format!("(string-prefix-p \"{action} \" {MINIBUFFER})");
        self.emacs.input_until("<TAB>", &is_whole);
        self.emacs
            .input_until("<RET>", "(zerop (minibuffer-depth))");
    }

    /// Accepts until it is: nothing is accepted in the first second of a proposal that came before another one.
    #[track_caller]
    pub fn accept_until(&self, call: &Call<Answer>) {
        let started = Instant::now();
        loop {
            self.accept();
            if call.is_answered_within(Duration::from_millis(500)) {
                return;
            }
            assert!(started.elapsed() < SOON, "{}", self.emacs.describe());
        }
    }

    /// Kills the buffer in focus, whatever becomes of its edits, and is back in the file.
    #[track_caller]
    pub fn close(&self) {
        let is_edited: bool = self.emacs.get("(if (buffer-modified-p) t :json-false)");
        self.emacs.input("<C-x>k<RET>");
        if is_edited {
            self.emacs.pane().wait_for("modified; kill anyway?", SOON);
            self.emacs.input("yes<RET>");
        }
        let file = self.path.file_name().unwrap();
        self.emacs
            .wait_until("the file", &format!("(equal (buffer-name) {file:?})"));
        self.emacs.input_until("<C-x>1", "(one-window-p)");
    }

    /// The processes that agents can connect to.
    pub fn companions(&self) -> Vec<u32> {
        let environment = Environment::from_pairs([
            ("TMPDIR", self.home.tmp()),
            ("XDG_RUNTIME_DIR", self.home.runtime()),
        ]);
        let running = state::list(&environment).into_iter();
        running.map(|companion| companion.pid).collect()
    }

    /// The number of `pillion lsp` that Emacs has started.
    pub fn servers(&self) -> usize {
        programs_below(self.emacs.pid(), "pillion").len()
    }

    /// Waits until it runs so many.
    #[track_caller]
    pub fn wait_servers(&self, count: usize) {
        self.wait(&format!("{count} servers"), || self.servers() == count);
    }

    #[track_caller]
    pub fn wait(&self, what: &str, condition: impl Fn() -> bool) {
        let started = Instant::now();
        while !condition() {
            assert!(
                started.elapsed() < SOON,
                "expected {what}\n{}",
                self.emacs.describe()
            );
            sleep(Duration::from_millis(20));
        }
    }

    /// The files that are published for Claude Code: each with its content.
    pub fn published(&self) -> Vec<(PathBuf, String)> {
        let files = lock_files(&self.home).into_iter();
        files
            .map(|file| (file.clone(), fs::read_to_string(file).unwrap()))
            .collect()
    }
}
