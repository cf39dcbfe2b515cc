//! A decision is about the revision that the person has seen on the screen when they began to make it.

use std::thread;

use pillion_testkit::{NvimVersion, each_neovim};
use pillion_view::HELD;

use serde_json::{Value, json};

use crate::diff::{ORIGINAL, Review};

const PROPOSED: &str = "one\n2\nthree\nfour\nfive\nsix\nseven\n";
const SWAPPED: &str = "one\n2\nthree\nfour\nfive\nsix\nseven\nand worse\n";

/// Each way to accept, in one view.
const ACCEPTING: [&str; 8] = [
    ":w<CR>",
    ":wq<CR>",
    ":x<CR>",
    "ZZ",
    ":W<CR>",
    "<C-s>",
    ":PillionAccept<CR>",
    " p",
];

/// A refusal is said in whole sentences, for which Neovim wants Enter in a narrow window.
const INIT: &str = "vim.o.columns = 200
    vim.cmd [[
      command! W w
      nnoremap <C-s> <Cmd>w<CR>
      nnoremap <Space>p <Cmd>PillionAccept<CR>
    ]]";

impl Review {
    fn forget_messages(&self) {
        self.world.nvim.command("messages clear");
    }

    /// The keys accept nothing, for this reason; and reject nothing.
    #[track_caller]
    fn is_refused(&self, keys: &str, reason: &str) {
        // Not as from a key that is held down.
        thread::sleep(HELD);
        self.forget_messages();
        let condition =
            format!("vim.api.nvim_exec('messages', true):find('{reason}', 1, true) ~= nil");
        self.type_until(keys, &condition);
        let state: Value = self.world.nvim.lua(
            "return { #require('pillion.diff').list(), vim.bo.modified, vim.b.pillion_diff ~= nil }",
            json!([]),
        );
        assert_eq!(state, json!([1, false, true]), "after {keys}");
    }

    #[track_caller]
    fn was_never_decided(&mut self) {
        self.is_pending("what was not seen");
        // What is typed next is not from a key that is held down.
        thread::sleep(HELD);
    }
}

const HOUR: u64 = 3_600_000;

#[each_neovim]
fn a_view_that_has_just_taken_the_focus_accepts_nothing_and_stays(version: NvimVersion) {
    let mut review = Review::with(version, INIT);
    review.world.looked_for(0);
    review.begin(PROPOSED);
    review.world.nvim.wait_until(
        "the proposal drawn",
        "(function()
            local diff = require('pillion.diff.pending').get(1)
            return require('pillion.diff.seen').sight(diff) ~= nil
        end)()",
    );
    for keys in ACCEPTING {
        review.is_refused(keys, "this has only just opened: look at it");
    }
    review.was_never_decided();
    review.world.looked_for(HOUR);
    review.world.nvim.input(":w<CR>");
    review.is_accepted(PROPOSED);
}

#[each_neovim]
fn a_decision_that_comes_too_early_does_not_put_the_next_one_off(version: NvimVersion) {
    for keys in ["<C-s>", "ZZ", ":PillionReject<CR>"] {
        let mut review = Review::with(version, INIT);
        review.world.looked_for(0);
        review.begin(PROPOSED);
        review.world.nvim.command("redraw!");
        for _ in 0..5 {
            review.is_refused(keys, "only just opened");
        }
        review.world.looked_for(HOUR);
        thread::sleep(HELD);
        review.world.nvim.input("<C-s>");
        review.is_accepted(PROPOSED);
    }
}

#[each_neovim]
fn a_newer_proposal_is_not_accepted_by_what_was_begun_before_it_was_drawn(version: NvimVersion) {
    let mut review = Review::with(version, INIT);
    review.world.looked_for(HOUR);
    for typed in [":w", ":wq", ":x", ":W", ":silent! w", ":PillionAccept"] {
        review.propose(PROPOSED);
        review.type_until(typed, "vim.api.nvim_get_mode().mode == 'c'");
        // It is about what they saw when they began.
        review.begin(SWAPPED);
        review.is_refused("<CR>", "look at it");
        review.was_never_decided();
        review.world.look();
        review.world.nvim.input(":w<CR>");
        review.is_accepted(SWAPPED);
    }
}

#[each_neovim]
fn a_newer_proposal_that_was_just_drawn_is_accepted_by_nothing(version: NvimVersion) {
    let mut review = Review::with(version, INIT);
    review.propose(PROPOSED);
    review.world.looked_for(0);
    for (number, keys) in ACCEPTING.iter().enumerate() {
        review.begin(if number % 2 == 0 { SWAPPED } else { PROPOSED });
        review.is_refused(keys, "look at it");
    }
    review.was_never_decided();
    review.world.looked_for(HOUR);
    review.world.nvim.input("ZZ");
    review.is_accepted(PROPOSED);
}

/// Nothing on the screen distinguishes it from the one before.
#[each_neovim]
fn the_same_text_proposed_again_can_be_accepted(version: NvimVersion) {
    let mut review = Review::new(version);
    review.propose(PROPOSED);
    review.propose(PROPOSED);
    review.propose("\u{feff}one\n2\nthree\nfour\nfive\nsix\nseven\n");
    review.world.nvim.input(":w<CR>");
    review.is_accepted("\u{feff}one\n2\nthree\nfour\nfive\nsix\nseven\n");
}

#[each_neovim]
fn what_was_never_on_the_screen_is_shown_before_it_is_accepted(version: NvimVersion) {
    let mut review = Review::with(
        version,
        "vim.keymap.set('n', ' f', function() require('pillion').accept() end)",
    );
    for keys in [":PillionAccept<CR>", ":Pillion accept 2<CR>", " f"] {
        review.world.nvim.input("i");
        review.begin(PROPOSED);
        review.type_until("<Esc>", "vim.api.nvim_get_mode().mode == 'n'");
        review.forget_messages();
        review.type_until(keys, "vim.b.pillion_diff ~= nil");
        review.world.nvim.wait_until("why", "vim.api.nvim_exec('messages', true):find('has not been on the screen yet', 1, true) ~= nil");
        review.was_never_decided();
        review.world.look();
        review.world.nvim.input(":PillionAccept<CR>");
        review.is_accepted(PROPOSED);
        review
            .world
            .nvim
            .wait_until("back", "vim.b.pillion_diff == nil");
    }
}

#[each_neovim]
fn a_macro_that_is_recorded_is_not_disturbed(version: NvimVersion) {
    let review = Review::new(version);
    review.type_until("qaggx", "vim.fn.reg_recording() == 'a'");
    let here: Value = review
        .world
        .nvim
        .lua("return vim.api.nvim_get_current_win()", json!([]));
    review.begin(PROPOSED);
    let now: Value = review
        .world
        .nvim
        .lua("return vim.api.nvim_get_current_win()", json!([]));
    assert_eq!(now, here);
    review.type_until("xjq", "vim.fn.reg_recording() == ''");
    let recorded: String = review
        .world
        .nvim
        .lua("return vim.fn.getreg('a')", json!([]));
    assert_eq!(recorded, "ggxxj");
    assert_eq!(review.lines()[0], "e");
    assert_eq!(review.lines()[1..].join("\n") + "\n", ORIGINAL[4..]);
    // In the view, too, when the agent takes it away.
    review.type_until(":PillionDiffs<CR>", "vim.b.pillion_diff ~= nil");
    review.type_until("qb", "vim.fn.reg_recording() == 'b'");
    review.gemini.close(&review.path).unwrap();
    review.type_until("x", "vim.bo.modified and vim.b.pillion_diff ~= nil");
    review.world.nvim.input("q");
    review.wait_gone();
}

#[each_neovim]
fn a_question_that_is_being_answered_keeps_the_focus(version: NvimVersion) {
    let mut review = Review::new(version);
    review.type_until(
        ":let g:answer = input('? ')<CR>",
        "vim.api.nvim_get_mode().mode == 'c'",
    );
    review.begin(PROPOSED);
    review.type_until(
        "yes<CR>",
        "vim.g.answer == 'yes' and vim.b.pillion_diff == nil",
    );
    review.type_until(":PillionDiffs<CR>", "vim.b.pillion_diff ~= nil");
    review.world.look();
    review.world.nvim.input(":w<CR>");
    review.is_accepted(PROPOSED);
}

/// What of the only diff has been on the screen, once what was drawn before has been noted.
const SIGHT: &str = "vim.cmd.redraw()
    vim.wait(0)
    return require('pillion.diff.seen').sight(require('pillion.diff.pending').sorted()[1])";

#[each_neovim]
fn without_a_user_interface_nothing_is_seen(version: NvimVersion) {
    let mut review = Review::with(version, INIT);
    let sight = || review.world.nvim.lua::<Option<Value>>(SIGHT, json!([]));
    review.world.nvim.detach_ui();
    review.begin(PROPOSED);
    review
        .world
        .nvim
        .wait_until("the view", "vim.b.pillion_diff ~= nil");
    assert_eq!(sight(), None, "before there was one");
    review.world.nvim.attach_ui();
    review.world.look();
    review.world.nvim.detach_ui();
    let is_hidden = format!("(function() {SIGHT} end)() == nil");
    review.world.nvim.wait_until("nobody looks", &is_hidden);
    review.world.nvim.attach_ui();
    review.world.look();
    review.world.nvim.input(":w<CR>");
    review.is_accepted(PROPOSED);
}
