//! Quitting and closing throw nothing away without a word.

use std::thread::sleep;

use pillion_testkit::client::Update;
use pillion_testkit::{NvimVersion, each_neovim};
use pillion_view::LOOK;
use serde_json::{Value, json};

use crate::diff::Review;

const PROPOSED: &str = "one\n2\nthree\nfour\nfive\nsix\nseven\n";
const EDITED: &str = "one\n2\nthree\nfour\nfive\nsix\nseven\nmine\n";

impl Review {
    /// The keys end in this message, and decide nothing.
    #[track_caller]
    fn is_told(&mut self, keys: &str, message: &str) {
        self.world.nvim.command("messages clear");
        // Enter, for the questions of Neovim about long messages.
        let condition =
            format!("vim.api.nvim_exec('messages', true):find('{message}', 1, true) ~= nil");
        self.type_until(&format!("{keys}<CR>"), &condition);
        // That Enter may have come before the question: then Neovim tells nobody what stands in it.
        self.world.nvim.leave_prompts();
        self.is_pending(keys);
        let pending: Value = self
            .world
            .nvim
            .lua("return #require('pillion.diff').list()", json!([]));
        assert_eq!(pending, json!(1), "after {keys}");
    }
}

#[each_neovim]
fn q_on_an_edited_proposal_says_what_it_would_throw_away(version: NvimVersion) {
    let mut review = Review::with(version, "vim.cmd [[nnoremap <C-q> <Cmd>q<CR>]]");
    review.propose(PROPOSED);
    review.type_until("Gomine<Esc>", "vim.bo.modified");
    for keys in [":q<CR>", "<C-w>q", ":silent q<CR>", "<C-q>"] {
        review.is_told(
            keys,
            "you edited this proposal: :w accepts it, :q! rejects it",
        );
        let state: Value = review.world.nvim.lua(
            "return { vim.bo.modified, vim.bo.bufhidden, vim.fn.line('$') }",
            json!([]),
        );
        assert_eq!(state, json!([true, "hide", 8]), "after {keys}");
    }
    // Elsewhere it may still be seen.
    review.type_until(":split<CR>:q<CR>", "vim.fn.winnr('$') == 2");
    review.world.nvim.input(":w<CR>");
    review.is_accepted(EDITED);
}

#[each_neovim]
fn closing_the_window_of_an_edited_proposal_rejects_it_and_keeps_the_edits(version: NvimVersion) {
    let mut review = Review::new(version);
    for keys in [":close<CR>", "<C-w>c", ":tabclose<CR>", "<C-w>h:only<CR>"] {
        review.propose(PROPOSED);
        review.world.nvim.command("messages clear");
        review.world.nvim.input(&format!("Gomine<Esc>{keys}"));
        let expected = Update::DiffRejected {
            path: review.path(),
        };
        assert_eq!(review.gemini.outcome(), expected);
        let number: u32 = review.world.nvim.wait_for(
            "the buffer",
            "return tonumber(vim.api.nvim_exec('messages', true):match('rejected a.txt; edits are in buffer (%d+) %(:w NAME saves%)'))",
            json!([]),
        );
        let kept: Vec<String> = review.world.nvim.lua(
            "return vim.api.nvim_buf_get_lines(..., 0, -1, false)",
            json!([number]),
        );
        assert_eq!(kept.join("\n") + "\n", EDITED, "after {keys}");
        let saved = review.world.home.root().join("saved.txt");
        let write = "local buf, name = ...
                vim.api.nvim_buf_call(buf, function() vim.cmd('write! ' .. name) end)";
        review.world.nvim.lua::<()>(write, json!([number, saved]));
        assert_eq!(std::fs::read_to_string(saved).unwrap(), EDITED);
        review.world.nvim.command(&format!("bwipeout! {number}"));
        review.wait_gone();
    }
}

#[each_neovim]
fn qa_with_a_pending_diff_says_so_and_stays(version: NvimVersion) {
    let mut review = Review::with(
        version,
        "vim.cmd [[nnoremap <C-q> <Cmd>qa<CR>]] vim.cmd [[command! Qa qa]]",
    );
    review.propose(PROPOSED);
    for keys in [
        ":qa<CR>",
        ":quitall<CR>",
        ":xa<CR>",
        ":wqa<CR>",
        "<C-q>",
        ":Qa<CR>",
    ] {
        for tab in [1, 2] {
            review.world.nvim.command(&format!("tabnext {tab}"));
            review.is_told(keys, "change to a.txt is pending: :qa! rejects it");
            // A map of a buffer that is not ours is not read.
            if keys.starts_with(':') || tab == 2 {
                let messages = review.world.nvim.messages();
                assert!(
                    !messages.contains("E37") && !messages.contains("E162"),
                    "{keys}: {messages}"
                );
            }
            let modified: Value = review.world.nvim.lua(
                "return vim.bo[vim.fn.bufnr('^pillion://')].modified",
                json!([]),
            );
            assert_eq!(modified, json!(false), "after {keys}");
        }
    }
    review.type_until("2gtGomine<Esc>", "vim.bo.modified");
    for keys in [":qa<CR>", ":xa<CR>", ":wqa<CR>"] {
        review.is_told(keys, "change to a.txt is pending: :qa! rejects it");
    }
    review.world.nvim.input(":qa!<CR>");
    assert_eq!(review.world.nvim.wait_exit(), 0);
    assert_eq!(
        review.gemini.outcome(),
        Update::DiffRejected {
            path: review.path()
        }
    );
}

/// While the second key is awaited, Neovim hears of no proposal.
#[each_neovim]
fn the_last_window_stays_for_what_came_between_two_keys(version: NvimVersion) {
    for [first, second] in [["Z", "Z"], ["Z", "Q"], ["<C-w>", "q"]] {
        let mut review = Review::new(version);
        review.world.nvim.input(first);
        review.begin(PROPOSED);
        // Nothing tells when it has reached Neovim, which does not look.
        sleep(LOOK);
        review.type_until(
            second,
            "vim.fn.tabpagenr('$') == 2 and vim.fn.bufname():find('^pillion://') ~= nil",
        );
        review.is_pending(second);
    }
}

#[each_neovim]
fn a_function_that_quits_all_is_stopped_by_a_pending_diff(version: NvimVersion) {
    let mut review = Review::new(version);
    review.propose(PROPOSED);
    review.type_until("1gt", "vim.b.pillion_diff == nil");
    review.is_told(
        ":lua pcall(vim.cmd, 'qa')<CR>",
        "change to a.txt is pending: :qa! rejects it",
    );
    review.type_until("2gt", "vim.b.pillion_diff == 1");
    review.is_told(
        ":lua pcall(vim.cmd, 'qa')<CR>",
        "change to a.txt is pending: :qa! rejects it",
    );
}

#[each_neovim]
fn what_neovim_cannot_quit_yet_is_written_by_wqa(version: NvimVersion) {
    let mut review = Review::new(version);
    review.propose(PROPOSED);
    review.type_until("1gtGomine<Esc>", "vim.bo.modified");
    review.is_told(":wqa<CR>", "change to a.txt is pending: :qa! rejects it");
    review
        .world
        .nvim
        .wait_until("written", "not vim.bo.modified");
    review.world.nvim.input(":PillionReject<CR>");
    review.is_rejected();
    review.world.nvim.input(":qa<CR>");
    assert_eq!(review.world.nvim.wait_exit(), 0);
}

/// Neovim 0.12 has both.
#[each_neovim]
fn a_restart_throws_no_proposal_away(version: NvimVersion) {
    let mut review = Review::new(version);
    if !review
        .world
        .nvim
        .lua::<bool>("return vim.fn.exists(':restart') == 2", json!([]))
    {
        return;
    }
    review.propose(PROPOSED);
    for tab in [2, 1] {
        review.world.nvim.command(&format!("tabnext {tab}"));
        for keys in [":restart<CR>", "ZR"] {
            review.is_told(keys, "change to a.txt is pending");
        }
    }
}

#[each_neovim]
fn update_on_an_unedited_proposal_says_what_accepts(version: NvimVersion) {
    let mut review = Review::with(version, "vim.cmd [[nnoremap <C-s> <Cmd>update<CR>]]");
    review.propose(PROPOSED);
    for keys in [":update<CR>", ":up<CR>", "<C-s>"] {
        review.is_told(keys, ":update writes only what you edited: :w accepts");
    }
    review.world.nvim.input("Gomine<Esc>:up<CR>");
    review.is_accepted(EDITED);
}

#[each_neovim]
fn what_is_typed_twice_neither_quits_nor_writes_below_the_proposal(version: NvimVersion) {
    // Typed as soon as the view is gone: no machine is so slow that the guard is over then.
    let mut review = Review::with(
        version,
        "vim.g.again, vim.g.written = '', 0
         vim.api.nvim_create_autocmd('User', { pattern = 'PillionDiffClosed', callback = function()
           vim.api.nvim_feedkeys(vim.keycode(vim.g.again), 't', false)
         end })
         vim.cmd('autocmd BufWritePost * let g:written += 1')",
    );
    for (first, again) in [
        (":q<CR>", ":q"),
        (":q!<CR>", ":q!"),
        (":w<CR>", ":w"),
        (":wq<CR>", ":wq"),
        (":x<CR>", ":x"),
        ("ZZ", "ZZ"),
        ("<C-w>q", "<C-W>q"),
        ("", ":q"),
        ("", "ZQ"),
    ] {
        review.propose(PROPOSED);
        review.world.nvim.command("messages clear");
        let end = if again.starts_with(':') { "<CR>" } else { "" };
        review
            .world
            .nvim
            .lua::<()>("vim.g.again = ...", json!([format!("{again}{end}")]));
        review.world.nvim.input(first);
        match first {
            "" => drop(review.gemini.close(&review.path).unwrap()),
            ":q<CR>" | ":q!<CR>" | "<C-w>q" => review.is_rejected(),
            _ => review.is_accepted(PROPOSED),
        }
        let said =
            format!("the proposal for a.txt has just closed: {again} counts here once you pause");
        let is_said = format!("vim.api.nvim_exec('messages', true):find('{said}', 1, true) ~= nil");
        review.world.nvim.wait_until(&said, &is_said);
        let state: Value = review.world.nvim.lua(
            "return { vim.fn.fnamemodify(vim.fn.bufname(), ':t'), vim.g.written }",
            json!([]),
        );
        assert_eq!(state, json!(["a.txt", 0]), "{first}");
    }
    review.world.nvim.command("let g:again = ''");
    review.world.nvim.wait_until(
        "a pause",
        "#vim.api.nvim_get_autocmds({ group = 'PillionAstray' }) == 0",
    );
    let mapped: String = review
        .world
        .nvim
        .lua("return vim.fn.maparg('ZZ', 'n')", json!([]));
    assert_eq!(mapped, "");
    review.type_until(":w<CR>", "vim.g.written == 1");
    review.world.nvim.assert_no_errors();
    review.world.nvim.input("ZZ");
    assert_eq!(review.world.nvim.wait_exit(), 0);
}

/// Under the keys of who is in it, it does not make room for what is below it.
#[each_neovim]
fn a_proposal_that_is_settled_elsewhere_takes_the_keys_until_a_pause(version: NvimVersion) {
    let review = Review::new(version);
    let before = review.lines();
    review.propose(PROPOSED);
    let hold = "vim.g.held = vim.fn.timer_start(20, function()
                  vim.api.nvim_feedkeys('j', 't', false)
                end, { ['repeat'] = -1 })";
    review.world.nvim.lua::<()>(hold, json!([]));
    review.gemini.close(&review.path).unwrap();
    review.world.nvim.wait_until(
        "what has become of it",
        "vim.wo.winbar:find('settled elsewhere', 1, true) ~= nil and not vim.bo.modifiable",
    );
    review
        .world
        .nvim
        .lua::<()>("vim.fn.timer_stop(vim.g.held)", json!([]));
    review.wait_gone();
    assert_eq!(review.lines(), before);
    review.world.nvim.assert_no_errors();
}

/// Nobody has seen the one that comes in place of the one that was closed.
#[each_neovim]
fn what_is_typed_twice_does_not_close_the_next_proposal(version: NvimVersion) {
    let mut review = Review::with(
        version,
        "vim.g.again = ''
         vim.api.nvim_create_autocmd('BufEnter', { pattern = 'pillion://*/b.txt', callback = function()
           vim.api.nvim_feedkeys(vim.keycode(vim.g.again), 't', false)
         end })",
    );
    let other = review.world.home.file("b.txt", "b\n");
    for again in [":q", "ZQ", "<C-W>q"] {
        review.propose(PROPOSED);
        review.gemini.propose(&other, "B\n");
        let end = if again == ":q" { "<CR>" } else { "" };
        let set = "vim.cmd('messages clear'); vim.g.again = ...";
        review
            .world
            .nvim
            .lua::<()>(set, json!([format!("{again}{end}")]));
        review.world.nvim.input(":q<CR>");
        let path = review.path();
        let rejected = Update::DiffRejected { path };
        assert_eq!(review.gemini.outcome(), rejected);
        let said =
            format!("the proposal for b.txt has just come: {again} counts here once you pause");
        let is_said = format!("vim.api.nvim_exec('messages', true):find('{said}', 1, true) ~= nil");
        review.world.nvim.wait_until(&said, &is_said);
        review.is_pending(again);
        review.world.nvim.command("let g:again = ''");
        review.world.nvim.wait_until(
            "a pause",
            "#vim.api.nvim_get_autocmds({ group = 'PillionAstray' }) == 0",
        );
        review.world.look();
        review.world.nvim.input(":q<CR>");
        let path = other.display().to_string();
        let rejected = Update::DiffRejected { path };
        assert_eq!(review.gemini.outcome(), rejected);
        review.wait_gone();
    }
    review.world.nvim.assert_no_errors();
}
