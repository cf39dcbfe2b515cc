//! The common parts of the tests of diffs: a file, an agent that proposes, what is on the screen.

use std::path::PathBuf;

use pillion_testkit::client::Update;
use pillion_testkit::{Home, NvimVersion, TestAgent};
use serde_json::{Value, json};

use crate::world::World;

/// The file that is open, and what it holds.
pub const ORIGINAL: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";

/// A person with `a.txt` open, and Gemini CLI.
#[derive(Debug)]
pub struct Review {
    pub world: World,
    pub gemini: TestAgent,
    pub path: PathBuf,
}

impl Review {
    pub fn new(version: NvimVersion) -> Review {
        Review::with(version, "")
    }

    /// The same with these lines in `init.lua`.
    pub fn with(version: NvimVersion, init: &str) -> Review {
        let files = [("a.txt", ORIGINAL)];
        let world = World::with(version, Home::new(), &files, |setup| setup.init(init));
        let gemini = world.gemini();
        let path = world.home.workspace().join("a.txt");
        Review {
            world,
            gemini,
            path,
        }
    }

    /// Gemini proposes a text for `a.txt`, and the person looks at it.
    #[track_caller]
    pub fn propose(&self, text: &str) {
        self.begin(text);
        self.world.look();
    }

    /// Gemini proposes a text for `a.txt`, and it is shown.
    pub fn begin(&self, text: &str) {
        self.gemini.propose(&self.path, text);
    }

    pub fn path(&self) -> String {
        self.path.display().to_string()
    }

    /// The next outcome is this text, accepted.
    #[track_caller]
    pub fn is_accepted(&mut self, text: &str) {
        let expected = Update::accepted(self.path(), text);
        assert_eq!(self.gemini.outcome(), expected);
        self.wait_gone();
    }

    #[track_caller]
    pub fn is_rejected(&mut self) {
        let expected = Update::DiffRejected { path: self.path() };
        assert_eq!(self.gemini.outcome(), expected);
        self.wait_gone();
    }

    /// Nothing was decided.
    #[track_caller]
    pub fn is_pending(&mut self, why: &str) {
        let pending = self.gemini.check_pending(&self.world.home);
        assert_eq!(
            pending,
            Ok(()),
            "after {why}\n{}",
            self.world.nvim.describe()
        );
    }

    /// Waits until no trace of a view is left.
    #[track_caller]
    pub fn wait_gone(&self) {
        self.world.nvim.wait_until(
            "no view left",
            "#vim.tbl_filter(function(buf) return vim.api.nvim_buf_get_name(buf):find('^pillion') \
             end, vim.api.nvim_list_bufs()) == 0",
        );
    }

    /// Waits until what the keys did holds.
    #[track_caller]
    pub fn type_until(&self, keys: &str, condition: &str) {
        self.world.nvim.input(keys);
        self.world.nvim.wait_until(condition, condition);
    }

    /// Layout, sizes, focus, cursor, options, registers: what must be as before.
    pub fn everything(&self) -> Value {
        self.world
            .nvim
            .lua(include_str!("diff_everything.lua"), json!([]))
    }

    /// The lines of the buffer in focus.
    pub fn lines(&self) -> Vec<String> {
        self.world.nvim.lua(
            "return vim.api.nvim_buf_get_lines(0, 0, -1, false)",
            json!([]),
        )
    }
}
