//! The person's unsaved changes are missing in a proposal, and are merged into it if they want that.

use std::fs;
use std::time::Duration;

use pillion_testkit::{NvimVersion, each_neovim};
use serde_json::{Value, json};

use crate::diff::{ORIGINAL, Review};

const PROPOSED: &str = "one\n2\nthree\nfour\nfive\nsix\nseven\n";

fn said(text: &str) -> String {
    format!("vim.api.nvim_exec('messages', true):find('{text}', 1, true) ~= nil")
}

/// A review of a file with unsaved changes, which these keys make.
fn unsaved(version: NvimVersion, keys: &str) -> Review {
    let review = Review::with(version, "vim.o.columns = 200");
    review.type_until(
        keys,
        "vim.bo.modified and vim.api.nvim_get_mode().mode == 'n'",
    );
    review
}

#[each_neovim]
fn unsaved_changes_are_merged_into_a_proposal(version: NvimVersion) {
    for (keys, merged) in [
        (
            "Gomine<Esc>",
            "one\n2\nthree\nfour\nfive\nsix\nseven\nmine\n",
        ),
        (
            "ggOmine<Esc>6Gdd",
            "mine\none\n2\nthree\nfour\nsix\nseven\n",
        ),
        ("4Gcc4<Esc>", "one\n2\nthree\n4\nfive\nsix\nseven\n"),
    ] {
        let mut review = unsaved(version, keys);
        review.propose(PROPOSED);
        review.type_until(
            ":PillionMerge<CR>",
            &said("your unsaved changes are in the proposal"),
        );
        assert_eq!(review.lines().join("\n") + "\n", merged, "{keys}");
        review.type_until("u", "not vim.bo.modified");
        assert_eq!(review.lines().join("\n") + "\n", PROPOSED, "{keys}");
        review.type_until("<C-r>", "vim.bo.modified");
        review.world.nvim.input(":w<CR>");
        review.is_accepted(merged);
    }
}

#[each_neovim]
fn what_both_changed_stays_the_persons_and_is_said(version: NvimVersion) {
    let mut review = unsaved(version, "2Gccmine<Esc>Golast<Esc>");
    review.propose(PROPOSED);
    review.type_until(
        ":PillionMerge<CR>",
        &said("your own lines stand in one place"),
    );
    let merged = format!("{}last\n", PROPOSED.replace('2', "mine"));
    assert_eq!(review.lines().join("\n") + "\n", merged);
    review.world.nvim.input(":w<CR>");
    review.is_accepted(&merged);
    let mine: Value = review
        .world
        .nvim
        .lua("return { vim.fn.getline(2), vim.bo.modified }", json!([]));
    assert_eq!(mine, json!(["mine", true]), "the person's own buffer");
    assert_eq!(fs::read_to_string(&review.path).unwrap(), ORIGINAL);
}

#[each_neovim]
fn without_unsaved_changes_there_is_nothing_to_merge(version: NvimVersion) {
    let review = Review::new(version);
    review.propose(PROPOSED);
    review.type_until(":PillionMerge<CR>", &said("there is nothing to merge with"));
    assert_eq!(review.lines().join("\n") + "\n", PROPOSED);
}

/// The text in the buffer of the file, whether it has unsaved changes, and whether a conflict was said.
const BUFFER: &str = "{ table.concat(vim.fn.getbufline('a.txt', 1, '$'), '|'), vim.bo[vim.fn.bufnr('a.txt')].modified,
    vim.api.nvim_exec('messages', true):find('changed on disk', 1, true) ~= nil }";

fn buffer(review: &Review) -> Value {
    review
        .world
        .nvim
        .lua(&format!("return {BUFFER}"), json!([]))
}

/// Nobody has to type `:e!`: what was merged is in the file that the agent writes.
#[each_neovim]
fn a_buffer_whose_changes_were_merged_is_read_when_the_agent_has_written(version: NvimVersion) {
    for (keys, edits, merged) in [
        ("Gomine<Esc>", "", "one|2|three|four|five|six|seven|mine"),
        // Both changed a line, and it stays the person's.
        ("2Gccmine<Esc>", "", "one|mine|three|four|five|six|seven"),
        // What they write into the proposal then.
        ("6Gdd", "GoMORE<Esc>", "one|2|three|four|five|seven|MORE"),
    ] {
        let mut review = unsaved(version, keys);
        let mine = review.lines().join("|");
        review.propose(PROPOSED);
        review.type_until(
            ":PillionMerge<CR>",
            "require('pillion.diff.pending').sorted()[1].is_merged",
        );
        review.type_until(
            edits,
            &format!("table.concat(vim.fn.getline(1, '$'), '|') == '{merged}'"),
        );
        let text = merged.replace('|', "\n") + "\n";
        review.world.nvim.input(":w<CR>");
        review.is_accepted(&text);
        fs::write(&review.path, &text).unwrap();
        review.world.nvim.wait_until(
            "the new text",
            &format!("vim.deep_equal({BUFFER}, {{ '{merged}', false, false }})"),
        );
        review.type_until(
            "u",
            &format!("table.concat(vim.fn.getline(1, '$'), '|') == '{mine}'"),
        );
    }
}

#[each_neovim]
fn a_buffer_with_changes_that_are_not_in_the_file_is_left_alone(version: NvimVersion) {
    for (in_the_proposal, in_the_buffer, mine) in [
        ("", "", "one|two|three|four|five|six|seven|mine"),
        // The merge is taken back.
        (
            ":PillionMerge<CR>",
            "",
            "one|two|three|four|five|six|seven|mine",
        ),
        // More is written before the agent writes.
        (
            ":PillionMerge<CR>",
            "ggOfirst<Esc>",
            "first|one|two|three|four|five|six|seven|mine",
        ),
    ] {
        let mut review = unsaved(version, "Gomine<Esc>");
        review.propose(PROPOSED);
        let is_merged = !in_the_proposal.is_empty();
        review.type_until(
            in_the_proposal,
            &format!(
                "(require('pillion.diff.pending').sorted()[1].is_merged or false) == {is_merged}"
            ),
        );
        if in_the_buffer.is_empty() && is_merged {
            review.type_until("u", "not vim.bo.modified");
        }
        let text = review.lines().join("\n") + "\n";
        review.world.nvim.input(":w<CR>");
        review.is_accepted(&text);
        review.type_until(in_the_buffer, "vim.api.nvim_get_mode().mode == 'n'");
        fs::write(&review.path, &text).unwrap();
        review
            .world
            .nvim
            .wait_until("the conflict", &format!("({BUFFER})[3]"));
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(buffer(&review), json!([mine, true, true]));
    }
}
