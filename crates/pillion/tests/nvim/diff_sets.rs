//! Files that belong together: each says its place, and each is decided on its own.

use pillion_testkit::{NvimVersion, TestProgram, each_neovim};
use serde_json::json;

use crate::diff::Review;

/// The winbars of all windows that show a proposal.
const LABELS: &str = "vim.tbl_map(function(win) return vim.wo[win].winbar end,
    vim.tbl_filter(function(win)
      return vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win)):find('^pillion://') ~= nil
    end, vim.api.nvim_list_wins()))";

/// Three files in one set of a program.
struct Set {
    review: Review,
    program: TestProgram,
}

impl Set {
    fn new(version: NvimVersion) -> Set {
        let review = Review::with(version, "vim.o.columns, vim.o.lines = 160, 40");
        let files = ["a.txt", "b.txt", "c.txt"].map(|name| (name, "new\n"));
        let program = TestProgram::propose(&review.world.home, &files);
        Set { review, program }
    }

    /// Waits until exactly these files are shown, each beside its place.
    #[track_caller]
    fn shows(&self, labels: &[&str]) {
        let count = labels.len();
        let has = |label: &&str| {
            format!(
                "vim.tbl_contains(vim.tbl_map(function(line) return line:find('{label}', 1, true) ~= nil end, labels), true)"
            )
        };
        let all: Vec<_> = labels.iter().map(has).collect();
        let all = if all.is_empty() {
            "true".to_owned()
        } else {
            all.join(" and ")
        };
        let condition = format!(
            "(function() local labels = {LABELS} return #labels == {count} and {all} end)()"
        );
        self.review
            .world
            .nvim
            .wait_until(&labels.join(", "), &condition);
    }

    /// Goes to a diff, looks at it, and types.
    fn decide(&self, number: u64, keys: &str) {
        let nvim = &self.review.world.nvim;
        nvim.input(&format!(":PillionDiffs {number}<CR>"));
        nvim.wait_until("the view", &format!("vim.b.pillion_diff == {number}"));
        self.review.world.look();
        // Two decisions that follow each other at once count as a held key.
        std::thread::sleep(2 * pillion_view::HELD);
        nvim.input(keys);
    }
}

#[each_neovim]
fn the_files_of_a_set_say_their_places_and_are_decided_one_by_one(version: NvimVersion) {
    let mut set = Set::new(version);
    set.shows(&["a.txt (1 of 3)", "b.txt (2 of 3)", "c.txt (3 of 3)"]);
    set.decide(2, ":q<CR>");
    assert_eq!(set.program.accepted(), (1, None));
    set.shows(&["a.txt (1 of 3)", "c.txt (3 of 3)"]);
    for (at, left) in [(2, &["a.txt (1 of 3)"][..]), (0, &[])] {
        set.decide(at as u64 + 1, ":w<CR>");
        assert_eq!(set.program.accepted(), (at, Some("new\n".to_owned())));
        set.shows(left);
    }
    set.review.wait_gone();
}

#[each_neovim]
fn a_set_goes_with_its_proposer_and_another_stays(version: NvimVersion) {
    let set = Set::new(version);
    let files = ["d.txt", "e.txt"].map(|name| (name, "new\n"));
    let other = TestProgram::propose(&set.review.world.home, &files);
    set.shows(&[
        "a.txt (1 of 3)",
        "b.txt (2 of 3)",
        "c.txt (3 of 3)",
        "d.txt (1 of 2)",
        "e.txt (2 of 2)",
    ]);
    drop(set.program);
    let nvim = &set.review.world.nvim;
    // The one that they are in stays until they leave it.
    nvim.wait_until(
        "what has become of it",
        "vim.wo.winbar:find('no longer waits for a.txt', 1, true) ~= nil",
    );
    nvim.input(":q<CR>");
    nvim.wait_until("two views", &format!("#{LABELS} == 2"));
    drop(other);
    set.review.wait_gone();
}

#[each_neovim]
fn the_list_of_pending_diffs_names_the_places(version: NvimVersion) {
    let set = Set::new(version);
    set.review.world.nvim.lua::<serde_json::Value>(
        "vim.ui.select = function(items, options) vim.g.rows = vim.tbl_map(options.format_item, items) end",
        json!([]),
    );
    set.review
        .type_until(":PillionDiffs<CR>", "vim.g.rows ~= nil");
    let rows: Vec<String> = set.review.world.nvim.lua("return vim.g.rows", json!([]));
    for (row, place) in rows.iter().zip([
        "a.txt (1 of 3)  +",
        "b.txt (2 of 3)  +",
        "c.txt (3 of 3)  +",
    ]) {
        assert!(row.contains(place), "{rows:?}");
    }
}
