//! Pillion is asked if a decision counts; the view stays until it has answered.

use std::thread::sleep;

use pillion_testkit::client::Update;
use pillion_testkit::{NvimVersion, each_neovim};
use pillion_view::LOOK;
use serde_json::{Value, json};

use crate::diff::{ORIGINAL, Review};

const PROPOSED: &str = "one\n2\nthree\nfour\nfive\nsix\nseven\n";
const EDITED: &str = "one\n2\nthree\nfour\nfive\nsix\nseven\nmine\n";

const LEAVE: &str = "vim.cmd [[command! Leave wq]]";

/// The text that something else writes before it is accepted.
const NEWER: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";

const IN_VIEW: &str = "vim.b.pillion_diff ~= nil and vim.api.nvim_get_mode().mode == 'n'";

fn said(text: &str) -> String {
    format!("vim.api.nvim_exec('messages', true):find('{text}', 1, true) ~= nil")
}

#[each_neovim]
fn what_is_refused_keeps_its_view_and_its_text(version: NvimVersion) {
    let mut review = Review::with(version, LEAVE);
    for keys in [
        ":w<CR>",
        ":x<CR>",
        ":wq<CR>",
        "ZZ",
        ":silent x<CR>",
        ":w|q<CR>",
        ":w|tabclose<CR>",
        ":Leave<CR>",
        ":PillionAccept<CR>",
    ] {
        std::fs::write(&review.path, ORIGINAL).unwrap();
        review.propose(PROPOSED);
        review.type_until("Gomine<Esc>", "vim.bo.modified");
        std::fs::write(&review.path, NEWER).unwrap();
        review.world.nvim.command("messages clear");
        review.type_until(keys, &said("changed on disk"));
        review.world.nvim.wait_until("the view", IN_VIEW);
        review.is_pending(keys);
        let state: Value = review.world.nvim.lua(
            "return { vim.bo.modified, #vim.fn.win_findbuf(vim.api.nvim_get_current_buf()) }",
            json!([]),
        );
        assert_eq!(state, json!([true, 1]), "after {keys}");
        assert_eq!(review.lines().join("\n") + "\n", EDITED, "after {keys}");
        sleep(LOOK);
        review.world.nvim.input(":w<CR>");
        review.is_accepted(EDITED);
    }
}

#[each_neovim]
fn whatever_quits_after_an_acceptance_waits_for_it(version: NvimVersion) {
    for keys in [
        ":w<CR>:qa<CR>",
        ":w|qa<CR>",
        ":x<CR>:qa<CR>",
        ":w<CR>:wqa<CR>",
        ":w<CR>:qa!<CR>",
        ":silent w|qa!<CR>",
    ] {
        let mut review = Review::with(version, LEAVE);
        review.propose(PROPOSED);
        review.type_until("Gomine<Esc>", "vim.bo.modified");
        review.world.nvim.input(keys);
        assert_eq!(
            review.gemini.outcome(),
            Update::accepted(review.path(), EDITED),
            "{keys}"
        );
        assert_eq!(review.world.nvim.wait_exit(), 0, "{keys}");
    }
}

#[each_neovim]
fn nothing_quits_if_the_acceptance_does_not_count(version: NvimVersion) {
    let mut review = Review::with(version, LEAVE);
    review.propose(PROPOSED);
    review.type_until("Gomine<Esc>", "vim.bo.modified");
    std::fs::write(&review.path, NEWER).unwrap();
    // The last key answers the prompt after Neovim's two messages.
    review.type_until(":w<CR>:qa<CR><CR>", &said("changed on disk"));
    review.world.nvim.wait_until("the view", IN_VIEW);
    review.is_pending(":qa");
    assert_eq!(review.lines().join("\n") + "\n", EDITED);
    review.world.nvim.input(":qa!<CR>");
    assert_eq!(
        review.gemini.outcome(),
        Update::DiffRejected {
            path: review.path()
        }
    );
}

const MINE: &str = "vim.fn.line('$') == 8 and vim.api.nvim_get_mode().mode == 'n'";

/// Types `g:keys` in the moment in which a proposal has come.
const HASTY: &str = "vim.g.keys = ''
    vim.api.nvim_create_autocmd('User', { pattern = 'PillionDiffOpened', callback = function()
      vim.api.nvim_feedkeys(vim.keycode(vim.g.keys), 't', false)
    end })";

/// Letters that were meant for another buffer, in one go.
#[each_neovim]
fn keys_that_come_with_a_proposal_change_nothing(version: NvimVersion) {
    let mut review = Review::with(version, HASTY);
    review.type_until("yy", "vim.fn.getreg('\"') ~= ''");
    for keys in [
        "ohello<Esc>",
        "xxdd",
        "ihi<Esc>",
        "pAx<Esc>J~",
        "do",
        ":PillionDropHunk<CR>",
    ] {
        let set = "vim.cmd('messages clear'); vim.g.keys = ...";
        review.world.nvim.lua::<()>(set, json!([keys]));
        // Who has typed nothing since they decided looks for what comes next.
        review.type_until("j", "not require('pillion.diff.focus').is_following()");
        review.begin(PROPOSED);
        let why = said("a proposal has just opened: keys count once you pause");
        review.world.nvim.wait_until(keys, &why);
        review.world.look();
        assert_eq!(review.lines().join("\n") + "\n", PROPOSED, "{keys}");
        assert!(
            review
                .world
                .nvim
                .lua::<bool>("return not vim.bo.modified", json!([])),
            "{keys}"
        );
        review.type_until("Gomine<Esc>", MINE);
        review.world.nvim.input(":w<CR>");
        review.is_accepted(EDITED);
    }
    review.world.nvim.assert_no_errors();
}

/// A newer one takes its place all the same.
#[each_neovim]
fn a_newer_proposal_is_there_while_keys_do_not_count(version: NvimVersion) {
    let review = Review::with(version, HASTY);
    review.world.nvim.command("let g:keys = 'x'");
    review.begin(PROPOSED);
    review.begin(NEWER);
    assert_eq!(review.lines().join("\n") + "\n", NEWER);
    let why = said("a proposal has just opened: keys count once you pause");
    review.world.nvim.wait_until("x", &why);
    review.world.look();
    assert_eq!(review.lines().join("\n") + "\n", NEWER);
}

#[each_neovim]
fn keys_count_at_once_in_a_proposal_that_the_person_goes_to(version: NvimVersion) {
    let review = Review::new(version);
    review.begin(PROPOSED);
    review.world.look();
    review.type_until("gt", "vim.fn.expand('%:t') == 'a.txt'");
    review.type_until(":PillionDiffs<CR>", "vim.b.pillion_diff == 1");
    review.type_until("Gomine<Esc>", MINE);
}

/// Nobody waits for it any more: it stays as it is, and says so.
#[each_neovim]
fn a_proposal_whose_agent_is_gone_is_not_opened_up(version: NvimVersion) {
    let Review {
        world,
        gemini,
        path,
    } = Review::new(version);
    gemini.propose(&path, PROPOSED);
    gemini.disconnect();
    let why = said("no longer waits for a.txt here");
    world.nvim.wait_until("what became of it", &why);
    let state: Value = world.nvim.lua(
        "return { vim.b.pillion_diff ~= nil, vim.bo.modifiable }",
        json!([]),
    );
    assert_eq!(state, json!([true, false]));
}
