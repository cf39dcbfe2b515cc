//! Files that belong together: each says its place, and each is decided on its own.

use pillion_agent::Update;
use pillion_testkit::{Heard, NvimVersion, TestAgent, each_neovim};
use serde_json::json;

use crate::diff::Review;

/// The winbars of all windows that show a proposal.
const LABELS: &str = "vim.tbl_map(function(win) return vim.wo[win].winbar end,
    vim.tbl_filter(function(win)
      return vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win)):find('^pillion://') ~= nil
    end, vim.api.nvim_list_wins()))";

/// Three files in one set of a script.
struct Set {
    review: Review,
    script: TestAgent,
}

impl Set {
    fn new(version: NvimVersion) -> Set {
        let review = Review::with(version, "vim.o.columns, vim.o.lines = 160, 40");
        let script = TestAgent::script(&review.world.home);
        let set = Set { review, script };
        for (name, place) in [
            ("a.txt", "1 of 3"),
            ("b.txt", "2 of 3"),
            ("c.txt", "3 of 3"),
        ] {
            set.script
                .propose_in_set("x", place, set.path(name), "new\n");
        }
        set
    }

    fn path(&self, name: &str) -> String {
        self.review
            .world
            .home
            .workspace()
            .join(name)
            .display()
            .to_string()
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

    /// The script hears this next.
    #[track_caller]
    fn hears(&mut self, expected: Update) {
        let heard = self.script.hear(std::time::Duration::from_secs(15));
        assert_eq!(
            heard,
            Heard::Outcome(expected),
            "{}",
            self.review.world.nvim.describe()
        );
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
    let path = set.path("b.txt");
    set.hears(Update::DiffRejected { path });
    set.shows(&["a.txt (1 of 3)", "c.txt (3 of 3)"]);
    for (number, name, left) in [(3, "c.txt", &["a.txt (1 of 3)"][..]), (1, "a.txt", &[])] {
        set.decide(number, ":w<CR>");
        set.hears(Update::accepted(set.path(name), "new\n"));
        set.shows(left);
    }
    set.review.wait_gone();
}

#[each_neovim]
fn a_file_of_a_set_is_withdrawn_or_revised_and_then_its_proposer_is_gone(version: NvimVersion) {
    let set = Set::new(version);
    let other = TestAgent::script(&set.review.world.home);
    other.propose_in_set("x", "2 of 2", set.path("d.txt"), "new\n");
    set.script.close(set.path("a.txt")).unwrap();
    set.shows(&["b.txt (2 of 3)", "c.txt (3 of 3)", "d.txt (2 of 2)"]);
    set.script.propose(set.path("b.txt"), "newer\n");
    set.decide(2, "gg");
    assert_eq!(set.review.lines(), ["newer"]);
    set.shows(&["b.txt (2 of 3)", "c.txt (3 of 3)", "d.txt (2 of 2)"]);
    set.script.disconnect();
    set.review
        .world
        .nvim
        .wait_until("one view", &format!("#{LABELS} == 1"));
    other.disconnect();
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
