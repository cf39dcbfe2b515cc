//! The part of a long line that a window does not show is not seen.

use std::fmt::Write as _;

use pillion_testkit::{NvimVersion, each_neovim};
use serde_json::{Value, json};

use crate::diff::Review;

/// So many words of twelve columns each, in one line; the numbered ones are others.
fn line(count: usize, changed: &[usize]) -> String {
    let mut line = String::new();
    for number in 0..count {
        let name = if changed.contains(&number) {
            "New"
        } else {
            "old"
        };
        write!(line, "{name}{number:04}();  ").unwrap();
    }
    line
}

const ALL_SEEN: &str = "#require('pillion.diff.pending').sorted()[1].unseen == 0";

fn review(version: NvimVersion, layout: &str) -> Review {
    Review::with_layout(version, layout)
}

impl Review {
    /// A file between lines that stay, of which this one becomes that one.
    fn propose_line(&self, before: &str, after: &str) -> std::path::PathBuf {
        let text = |line: &str| format!("first\n{line}\nlast\n");
        self.propose_long(&(text(before), text(after)))
    }

    #[track_caller]
    fn says(&self, place: &str) {
        // Where the command line has no room, it is above the window.
        let said = format!(
            "vim.api.nvim_exec('messages', true):find('not seen: {place})', 1, true) ~= nil \
             or vim.wo.winbar:find('not seen: {place}', 1, true) ~= nil"
        );
        self.world.nvim.wait_until(place, &said);
    }

    /// Types keys, and Neovim has drawn what they did.
    #[track_caller]
    fn scroll(&self, keys: &str, unseen: usize) {
        self.world.nvim.input(keys);
        self.world.nvim.command("redraw");
        self.world.nvim.lua::<()>("vim.wait(50)", json!([]));
        let state: String = self.world.nvim.lua(
            "return vim.inspect({ require('pillion.diff.pending').sorted()[1].unseen, vim.fn.winsaveview() })",
            json!([]),
        );
        assert_eq!(self.unseen(), unseen, "{keys}: {state}");
    }
}

/// As in a minified file.
#[each_neovim]
fn the_far_end_of_a_long_line_is_seen_where_it_was_scrolled_to(version: NvimVersion) {
    for layout in ["vertical", "horizontal"] {
        let mut review = review(version, layout);
        let path = review.propose_line(&line(150, &[]), &line(150, &[75]));
        review.is_asked();
        review.says("line 2, column 901");
        review.scroll("2G0", 1);
        review.scroll("900|", 0);
        review.world.nvim.input(":w<CR>");
        review.is_accepted_as(&path, &format!("first\n{}\nlast\n", line(150, &[75])));
    }
}

#[each_neovim]
fn each_change_of_a_long_line_has_to_be_seen(version: NvimVersion) {
    let mut review = review(version, "vertical");
    review.propose_line(&line(150, &[]), &line(150, &[3, 75]));
    // The first is there at once, and what is between them does not matter.
    review.is_asked();
    review.says("line 2, column 901");
    review.scroll("2G900|", 0);
    // The second alone is not enough.
    review.propose_line(&line(150, &[]), &line(150, &[40, 75]));
    review.world.nvim.command("messages clear");
    review.scroll("2G900|", 1);
    review.is_asked();
    review.says("line 2, column 481");
    review.scroll("480|", 0);
}

#[each_neovim]
fn a_line_that_is_wrapped_is_seen_as_far_as_it_is_on_the_screen(version: NvimVersion) {
    let review = review(version, "unified");
    // All of it is there.
    review.propose_line(&line(150, &[]), &line(150, &[75]));
    review.world.nvim.command("setlocal wrap");
    review.world.nvim.wait_until("all seen", ALL_SEEN);
    // A line that is taller than the window, of which the end is not.
    let path = review.propose_line(&line(900, &[]), &line(900, &[3, 899]));
    review.world.nvim.command("setlocal wrap smoothscroll");
    review.world.nvim.command("normal! 2G0zt");
    review.scroll("", 1);
    let shown: Value = review
        .world
        .nvim
        .lua("return vim.fn.screenpos(0, 2, 40).row > 0", json!([]));
    assert_eq!(shown, json!(true), "its beginning");
    review.scroll("$", 0);
    review.gemini.close(&path).unwrap();
    review.wait_gone();
}

#[each_neovim]
fn what_is_gone_from_a_long_line_is_seen_where_it_was(version: NvimVersion) {
    let review = review(version, "vertical");
    review.propose_line(&line(150, &[]), &line(150, &[]).replace("old0075();  ", ""));
    review.scroll("2G0", 1);
    review.scroll("890|", 0);
    // A new line, all of it: its end is there at once, where the window was.
    review.propose_long(&(
        "first\nlast\n".to_owned(),
        format!("first\n{}\nlast\n", line(20, &[])),
    ));
    review.scroll("2G0", 1);
    review.scroll("60zl", 1);
    review.scroll("60zl", 0);
}
