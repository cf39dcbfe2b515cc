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

/// Letters that were meant for another buffer, at every moment of the first second and in one go.
#[each_neovim]
fn keys_of_the_first_second_change_nothing(version: NvimVersion) {
    let mut review = Review::new(version);
    for (wait, keys) in [
        (0, "ohello<Esc>"),
        (400, "xxdd"),
        (800, "ihi<Esc>"),
        (0, "pAx<Esc>J~"),
        (600, "do"),
        (0, "m:PillionDropHunk<CR>"),
    ] {
        review.type_until("yy:messages clear<CR>", "vim.fn.mode() == 'n'");
        review.begin(PROPOSED);
        sleep(std::time::Duration::from_millis(wait));
        review.world.nvim.input(keys);
        let why = said("a proposal has just opened: keys count once you pause");
        review.world.nvim.wait_until(keys, &why);
        review.world.look();
        assert_eq!(review.lines().join("\n") + "\n", PROPOSED, "{wait} {keys}");
        assert!(review.world.nvim.lua::<bool>("return not vim.bo.modified", json!([])));
        review.type_until("Gomine<Esc>", MINE);
        review.world.nvim.input(":w<CR>");
        review.is_accepted(EDITED);
    }
    review.world.nvim.assert_no_errors();
}

/// What the person made of an earlier proposal is offered all the same, and so is a newer proposal.
#[each_neovim]
fn what_pillion_changes_within_the_first_second_is_there(version: NvimVersion) {
    let review = Review::new(version);
    review.begin(PROPOSED);
    review.begin(NEWER);
    assert_eq!(review.lines().join("\n") + "\n", NEWER);
    review.type_until("x", &said("keys count once you pause"));
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

/// A view that stays after its agent took the proposal back stays as it is.
#[each_neovim]
fn a_proposal_that_is_taken_back_within_the_first_second_is_not_opened_up(version: NvimVersion) {
    let review = Review::new(version);
    review.begin(PROPOSED);
    assert_eq!(review.gemini.close(&review.path).unwrap(), PROPOSED);
    review.wait_gone();
}
