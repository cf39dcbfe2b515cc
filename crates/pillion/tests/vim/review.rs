//! A person's Vim and one agent that proposes changes of `a.txt` in it.

use std::path::PathBuf;
use std::time::Duration;

use pillion_testkit::client::Update;
use pillion_testkit::{Home, TestAgent, VimSetup, VimVersion};
use pillion_view::LOOK;

use crate::world::World;

pub const ORIGINAL: &str = "one\ntwo\nthree\nfour\nfive\n";
pub const PROPOSED: &str = "one\n2\nthree\nfour\nfive\nsix\n";

/// That the proposal has been on the screen for so long that a decision counts, and takes keys.
pub fn looked_at() -> String {
    let long = LOOK.as_millis();
    format!("pillion#diff#DrawnFor() >= {long} && (bufname() !~ '^pillion://' || &modifiable)")
}

pub struct Review {
    pub world: World,
    pub gemini: TestAgent,
    pub path: PathBuf,
}

impl Review {
    pub fn new(version: VimVersion) -> Review {
        Review::with(version, "")
    }

    pub fn with(version: VimVersion, vimrc: &str) -> Review {
        Review::set_up(version, |setup| setup.vimrc(vimrc))
    }

    pub fn set_up(version: VimVersion, change: impl FnOnce(VimSetup) -> VimSetup) -> Review {
        let world = World::with(version, Home::new(), &[("a.txt", ORIGINAL)], change);
        let gemini = world.gemini();
        let path = world.home.workspace().join("a.txt");
        Review {
            world,
            gemini,
            path,
        }
    }

    /// Gemini proposes a text, and it is shown.
    #[track_caller]
    pub fn begin(&self, text: &str) {
        self.gemini.propose(&self.path, text);
        self.vim()
            .wait_until("a view", "bufname() =~ '^pillion://'");
    }

    /// The same, and the person has looked at it so long that they may accept it.
    #[track_caller]
    pub fn propose(&self, text: &str) {
        self.begin(text);
        self.look();
    }

    #[track_caller]
    pub fn look(&self) {
        self.vim()
            .wait_until("a proposal that was looked at", &looked_at());
    }

    pub fn vim(&self) -> &pillion_testkit::Vim {
        &self.world.vim
    }

    #[track_caller]
    pub fn is_accepted(&mut self, text: &str) {
        let expected = Update::accepted(self.path.display().to_string(), text);
        assert_eq!(
            self.gemini.outcome(),
            expected,
            "{}",
            self.world.vim.describe()
        );
        self.wait_gone();
    }

    #[track_caller]
    pub fn is_rejected(&mut self) {
        let path = self.path.display().to_string();
        assert_eq!(self.gemini.outcome(), Update::DiffRejected { path });
        self.wait_gone();
    }

    /// Nothing was decided.
    #[track_caller]
    pub fn is_pending(&mut self, why: &str) {
        self.vim().pane().wait_read();
        let pending = self.gemini.check_pending(&self.world.home);
        assert_eq!(pending, Ok(()), "after {why}\n{}", self.vim().describe());
    }

    /// Waits until no trace of a view is left.
    #[track_caller]
    pub fn wait_gone(&self) {
        self.vim().wait_until(
            "no view left",
            "empty(getbufinfo()->filter('v:val.name =~ \"^pillion\"'))",
        );
    }

    #[track_caller]
    pub fn close(&mut self) {
        self.gemini.close(&self.path).unwrap();
        self.wait_gone();
    }
}

impl Review {
    /// A newer proposal, whatever has the focus.
    pub fn begin_again(&self, text: &str) {
        self.gemini.propose(&self.path, text);
    }

    /// Returns true if the proposal has the focus.
    pub fn is_in_view(&self) -> bool {
        self.vim()
            .get("bufname() =~# '^pillion://' ? v:true : v:false")
    }

    /// Waits until so much time has passed that a newer proposal could be accepted.
    #[track_caller]
    pub fn look_at_newer(&self) {
        std::thread::sleep(Duration::from_millis(1200));
    }
}
