//! Taking and dropping hunks, and the layouts.

use serde_json::{Value, json};

use crate::diff::{ORIGINAL, Review};

const PROPOSED: &str = "ONE\ntwo\nthree\nnew\nfour\nsix\nseven\n";

/// Drops and takes back each kind of hunk; `mine`, an edit elsewhere, stays.
fn drop_and_take(review: &mut Review) {
    let steps = [
        (
            "Gomine<Esc>gg:PillionDropHunk<CR>",
            "one two three new four six seven mine",
        ),
        (
            "gg:PillionTakeHunk<CR>",
            "ONE two three new four six seven mine",
        ),
        (
            "4G:PillionDropHunk<CR>",
            "ONE two three four six seven mine",
        ),
        (
            "5G:PillionDropHunk<CR>",
            "ONE two three four five six seven mine",
        ),
        (
            "3G:PillionTakeHunk<CR>",
            "ONE two three new four five six seven mine",
        ),
        (
            "6G:PillionTakeHunk<CR>",
            "ONE two three new four six seven mine",
        ),
        (
            "6G:PillionPreviousHunk<CR>x",
            "ONE two three ew four six seven mine",
        ),
    ];
    review.propose(PROPOSED);
    for (keys, lines) in steps {
        review.type_until(
            keys,
            &format!("table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), ' ') == '{lines}'"),
        );
    }
    review.world.nvim.input(":w<CR>");
    review.is_accepted("ONE\ntwo\nthree\new\nfour\nsix\nseven\nmine\n");
}

each_neovim! {
    fn hunks_are_dropped_and_taken_back_side_by_side(version) {
        let mut review = Review::new(version);
        let before = review.everything();
        drop_and_take(&mut review);
        assert_eq!(review.everything(), before);
    }
}

each_neovim! {
    fn hunks_are_dropped_and_taken_back_in_one_window(version) {
        let mut review = Review::with(version, "require('pillion').setup({ diff = { layout = 'unified' } })");
        let before = review.everything();
        drop_and_take(&mut review);
        assert_eq!(review.everything(), before);
    }
}

each_neovim! {
    fn diff_mode_takes_the_originals_hunk_and_never_changes_the_original(version) {
        let mut review = Review::with(version, "require('pillion').setup({ diff = { layout = 'horizontal' } })");
        review.propose("ONE\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n");
        review.type_until("ggdo", "vim.fn.getline(1) == 'one'");
        review.type_until("<C-w>kGdp<C-w>j", "vim.fn.getline(7) == 'seven'");
        review.type_until("Gx", "vim.fn.getline(7) == 'even'");
        review.world.nvim.input("dp<CR>:w<CR>");
        review.is_accepted("one\ntwo\nthree\nfour\nfive\nsix\neven\n");
        assert_eq!(review.lines().join("\n") + "\n", ORIGINAL);
    }
}

each_neovim! {
    fn one_window_shows_what_is_added_and_what_is_removed(version) {
        let mut review = Review::with(version, "require('pillion').setup({ diff = { layout = 'unified' } })");
        review.propose("one\ntwo\nnew\nfour\nfive\nsix\n");
        let marks = "vim.fn.json_encode(vim.tbl_map(function(mark)
            return { mark[2], mark[4].hl_group or '', vim.tbl_map(function(line) return vim.trim(line[1][1]) end, mark[4].virt_lines or {}) }
        end, vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace('pillion_diff'), 0, -1, { details = true })))";
        let shown: Value = review.world.nvim.lua(&format!("return vim.fn.json_decode({marks})"), json!([]));
        assert_eq!(shown, json!([[2, "PillionAdd", []], [2, "", ["three"]], [5, "", ["seven"]]]));
        review.type_until("3Gdd", &format!("({marks}):find('new') == nil and ({marks}):find('Add') == nil"));
        review.world.nvim.input(":w<CR>");
        review.is_accepted("one\ntwo\nfour\nfive\nsix\n");
    }
}
