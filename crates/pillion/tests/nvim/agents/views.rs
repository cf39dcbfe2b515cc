//! Two Neovims and a review in one project, with one Claude Code that looks for a companion by itself: it connects, and
//! what it proposes is shown in the Neovim that was used last and in the review, decided in either.

use std::fs;
use std::path::PathBuf;

use pillion_testkit::{
    Claude, ClaudeRelease, ClaudeStart, Home, Model, Nvim, NvimVersion, Pane, SOON, Size, Tmux,
    Turn, set_up_claude,
};

use super::{BEFORE, FILE, SIZE};
use crate::world::{PILLION, look, setup};

/// The title of the proposal in the review.
const PROPOSAL: &str = "Claude Code proposes poem.txt";

struct Scene {
    claude: Claude,
    first: Nvim,
    second: Nvim,
    review: Pane,
    model: Model,
    // After those that run in it.
    _tmux: Tmux,
    // Last: the others have files in it.
    home: Home,
}

impl Scene {
    fn new(release: ClaudeRelease, versions: [NvimVersion; 2]) -> Scene {
        let (tmux, home, model) = (Tmux::start(), Home::new(), Model::start());
        set_up_claude(&home, &home.workspace());
        let file = home.file(FILE, BEFORE);
        let [first, second] = versions.map(|version| {
            let nvim = setup(version, &home).arg(&file).in_tmux(&tmux, SIZE);
            nvim.wait_until(
                "Pillion running",
                "require('pillion.client').state.port ~= nil",
            );
            nvim
        });
        let command = [PILLION, "review"];
        let size = Size::new(120, 40);
        let review = tmux.spawn("review", size, &home.env(), &home.workspace(), &command);
        review.wait_for("Waiting for an agent.", SOON);
        let how = ClaudeStart {
            arguments: &["--ide"],
            ..ClaudeStart::default()
        };
        let claude = Claude::start_with(release, &tmux, &home, &model, &home.workspace(), &how);
        for nvim in [&first, &second] {
            wait_connected(nvim);
        }
        review.wait_for("● Claude Code", SOON);
        Scene {
            claude,
            first,
            second,
            review,
            model,
            _tmux: tmux,
            home,
        }
    }

    fn path(&self) -> PathBuf {
        self.home.workspace().join(FILE)
    }

    /// Moves the cursor to a line where it is in no other one, so that this Neovim is the one that was used last. The review
    /// says when Pillion knows.
    fn use_nvim(&self, nvim: &Nvim, line: u32) {
        nvim.input(&format!("{line}G"));
        self.review.wait_for(&format!("{FILE}:{line}"), SOON);
    }

    /// Lets the model propose another second line, and waits until this Neovim and the review show it.
    fn propose(&self, line: &str, shown_in: &Nvim) {
        fs::write(self.path(), BEFORE).unwrap();
        let read = Turn::read_file(self.path());
        let change = Turn::replace(self.path(), "two", line);
        self.model.clear();
        self.model.script([read, change, Turn::say("that is done")]);
        self.claude.prompt("change it");
        self.claude.wait_question();
        wait_pending(shown_in, 1);
        self.review.wait_for(PROPOSAL, SOON);
    }

    /// Waits until it is decided everywhere, and the file has this second line.
    fn wait_decided(&self, line: &str, nvims: &[&Nvim]) {
        for nvim in nvims {
            wait_pending(nvim, 0);
        }
        self.review.wait_gone(PROPOSAL, SOON);
        self.claude.wait_answered();
        self.claude.wait_ready();
        let text = fs::read_to_string(self.path()).unwrap();
        assert_eq!(text, BEFORE.replace("two", line));
    }

    /// Accepts in the review as a person does, who repeats a key that came too early.
    fn accept_in_review(&self) {
        let is_not_yet = |screen: &str| screen.contains("look at it") || screen.contains("ignored");
        loop {
            self.review.send_keys(["a"]);
            let screen = self.review.wait_until("an answer", SOON, |screen| {
                !screen.contains(PROPOSAL) || is_not_yet(screen)
            });
            if !screen.contains(PROPOSAL) {
                return;
            }
            self.review.wait_until("time to look", SOON, |screen| {
                !is_not_yet(screen) || screen.contains("look at it")
            });
            std::thread::sleep(2 * pillion_view::LOOK);
        }
    }

    fn accept_in(&self, nvim: &Nvim) {
        nvim.input(":PillionDiffs<CR>");
        nvim.wait_until("the proposal in focus", "vim.b.pillion_diff ~= nil");
        look(nvim);
        nvim.input(":w<CR>");
    }
}

fn wait_connected(nvim: &Nvim) {
    nvim.wait_until(
        "Claude Code connected",
        "vim.deep_equal(require('pillion.client').state.mentions, { 'claude' })",
    );
}

fn wait_pending(nvim: &Nvim, count: usize) {
    nvim.wait_until(
        &format!("{count} pending diffs"),
        &format!("#require('pillion.diff').list() == {count}"),
    );
}

/// Checks what each release does, with either Neovim used last.
fn check(release: ClaudeRelease, versions: [NvimVersion; 2]) {
    let scene = Scene::new(release, versions);
    let (first, second) = (&scene.first, &scene.second);

    scene.use_nvim(first, 3);
    scene.use_nvim(second, 2);
    scene.propose("in the review", second);
    wait_pending(first, 0);
    scene.accept_in_review();
    scene.wait_decided("in the review", &[first, second]);

    scene.use_nvim(first, 1);
    scene.propose("in the first", first);
    wait_pending(second, 0);
    scene.accept_in(first);
    scene.wait_decided("in the first", &[first, second]);

    // The first one quits: agent, context and pending proposal stay.
    scene.propose("after it", first);
    scene.first.kill();
    scene.review.wait_for(PROPOSAL, SOON);
    wait_pending(second, 1);
    wait_connected(second);
    scene.accept_in(second);
    scene.wait_decided("after it", &[second]);
    second.assert_no_errors();
}

#[test]
#[ignore = "needs the real agents, Claude Code and Neovim: cargo xtask test"]
fn native() {
    check(
        ClaudeRelease::Native,
        [NvimVersion::V0_12, NvimVersion::V0_10],
    );
}

#[test]
#[ignore = "in --all: needs the real agents, Claude Code and Neovim: cargo xtask test --all"]
fn node() {
    check(
        ClaudeRelease::Node,
        [NvimVersion::V0_10, NvimVersion::V0_12],
    );
}
