//! Hunks that were never on the screen are asked about.

use std::path::PathBuf;
use std::thread::sleep;

use pillion_testkit::client::Update;
use pillion_testkit::{NvimVersion, each_neovim};
use pillion_view::{HELD, LOOK};
use serde_json::{Value, json};

use crate::diff::Review;

const LAYOUTS: [&str; 3] = ["vertical", "horizontal", "unified"];

const ASKED: &str =
    "vim.api.nvim_exec('messages', true):find('not been on the screen', 1, true) ~= nil";

/// 400 lines, and the same with every tenth changed.
fn many_hunks() -> (String, String) {
    let before = (1..=400).map(|number| format!("line {number}\n"));
    let after = (1..=400).map(|number| match number % 10 {
        0 => format!("LINE {number}\n"),
        _ => format!("line {number}\n"),
    });
    (before.collect(), after.collect())
}

/// The same with one hunk that is longer than any screen.
fn one_hunk() -> (String, String) {
    let (before, _) = many_hunks();
    let after = before.replacen("line 5\n", &"a new line\n".repeat(300), 1);
    (before, after)
}

impl Review {
    pub fn with_layout(version: NvimVersion, layout: &str) -> Review {
        Review::with(
            version,
            &format!(
                "vim.o.columns = 200 require('pillion').setup({{ diff = {{ layout = '{layout}' }} }})"
            ),
        )
    }

    pub fn propose_long(&self, (before, after): &(String, String)) -> PathBuf {
        let path = self.world.home.file("long.txt", before);
        self.gemini.propose(&path, after);
        self.world.look();
        self.world.nvim.command("messages clear");
        path
    }

    #[track_caller]
    pub fn is_asked(&mut self) {
        self.type_until(":w<CR>", ASKED);
        self.is_pending("a question");
        // What is typed next is not from a key that is held down.
        sleep(HELD);
    }

    pub fn unseen(&self) -> usize {
        self.world.nvim.lua(
            "return #require('pillion.diff.pending').sorted()[1].unseen",
            json!([]),
        )
    }

    /// Scrolls to the end, a screen at a time.
    fn scroll_through(&self) {
        let mut last = 0;
        loop {
            self.world.nvim.input("<C-f>");
            self.world.nvim.command("redraw");
            let bottom: usize = self.world.nvim.lua("return vim.fn.line('w$')", json!([]));
            if bottom == last {
                return;
            }
            last = bottom;
        }
    }

    #[track_caller]
    pub fn is_accepted_as(&mut self, path: &std::path::Path, text: &str) {
        let expected = Update::accepted(path.display().to_string(), text);
        assert_eq!(self.gemini.outcome(), expected);
        self.wait_gone();
    }
}

#[each_neovim]
fn what_was_not_on_the_screen_is_asked_about_once(version: NvimVersion) {
    for layout in LAYOUTS {
        let mut review = Review::with_layout(version, layout);
        for texts in [many_hunks(), one_hunk()] {
            let path = review.propose_long(&texts);
            review.is_asked();
            review.world.look();
            sleep(LOOK);
            review.world.nvim.input(":w<CR>");
            review.is_accepted_as(&path, &texts.1);
        }
    }
}

#[each_neovim]
fn what_was_scrolled_through_is_seen(version: NvimVersion) {
    for layout in LAYOUTS {
        let mut review = Review::with_layout(version, layout);
        for texts in [many_hunks(), one_hunk()] {
            let path = review.propose_long(&texts);
            assert!(review.unseen() > 0);
            review.scroll_through();
            review.world.nvim.wait_until(
                "all seen",
                "#require('pillion.diff.pending').sorted()[1].unseen == 0",
            );
            review.world.nvim.input(":w<CR>");
            review.is_accepted_as(&path, &texts.1);
        }
    }
}

#[each_neovim]
fn what_is_only_removed_is_seen_where_it_was(version: NvimVersion) {
    for layout in LAYOUTS {
        let mut review = Review::with_layout(version, layout);
        let (before, _) = many_hunks();
        let after = before.replace("line 30\n", "").replace("line 350\n", "");
        let path = review.propose_long(&(before, after.clone()));
        assert_eq!(review.unseen(), 1, "{layout}");
        review.is_asked();
        review.type_until(
            "349G",
            "#require('pillion.diff.pending').sorted()[1].unseen == 0",
        );
        review.world.look();
        review.world.nvim.input(":w<CR>");
        review.is_accepted_as(&path, &after);
    }
}

#[each_neovim]
fn edits_move_what_is_unseen_and_see_what_they_change(version: NvimVersion) {
    let review = Review::with_layout(version, "vertical");
    let (before, after) = many_hunks();
    review.propose_long(&(before, after));
    review.type_until("zRgg", "vim.fn.line('.') == 1");
    let unseen = review.unseen();
    // Out of sight, and nothing of it is shown.
    let edit = "local from, to, lines = ... vim.api.nvim_buf_set_lines(0, from, to, false, lines)";
    review.world.nvim.lua::<()>(edit, json!([0, 0, ["mine"]]));
    assert_eq!(review.unseen(), unseen, "inserted above");
    review
        .world
        .nvim
        .lua::<()>(edit, json!([400, 401, ["mine"]]));
    assert_eq!(review.unseen(), unseen - 1, "changed");
    review.world.nvim.lua::<()>(edit, json!([385, 395, []]));
    assert_eq!(review.unseen(), unseen - 2, "taken out");
    review
        .world
        .nvim
        .lua::<()>(edit, json!([386, 387, ["mine"]]));
    assert_eq!(review.unseen(), unseen - 2, "changed beside");
    let rows: Value = review.world.nvim.lua(
        "local wrong = {}
             for _, hunk in ipairs(require('pillion.diff.pending').sorted()[1].unseen) do
               if not vim.fn.getline(hunk.first + 1):find('^LINE') then table.insert(wrong, hunk.first) end
             end
             return wrong",
        json!([]),
    );
    assert_eq!(rows, json!([]));
}

#[each_neovim]
fn what_is_folded_is_not_seen(version: NvimVersion) {
    let review = Review::with_layout(version, "vertical");
    let (before, after) = many_hunks();
    review.propose_long(&(before, after));
    review.type_until(
        ":setlocal foldmethod=manual foldenable<CR>zE:21,$fold<CR>gg:let g:done = 1<CR>",
        "vim.g.done == 1",
    );
    let unseen = review.unseen();
    assert!(unseen > 0);
    review.type_until("Gzt<C-b>G:let g:done = 2<CR>", "vim.g.done == 2");
    review.world.nvim.command("redraw!");
    assert_eq!(review.unseen(), unseen);
}

#[each_neovim]
fn a_newer_proposal_is_seen_anew(version: NvimVersion) {
    let mut review = Review::with_layout(version, "vertical");
    let texts = many_hunks();
    let path = review.propose_long(&texts);
    review.scroll_through();
    review.world.nvim.wait_until(
        "all seen",
        "#require('pillion.diff.pending').sorted()[1].unseen == 0",
    );
    let newer = texts.1.replace("LINE 20\n", "other\n");
    review.gemini.propose(&path, &newer);
    review.world.look();
    review.world.nvim.command("messages clear");
    review.is_asked();
    review.world.nvim.input(":q<CR>");
    let rejected = Update::DiffRejected {
        path: path.display().to_string(),
    };
    assert_eq!(review.gemini.outcome(), rejected);
}
