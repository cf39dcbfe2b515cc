//! Writes that accept nothing, whatever way they come, and the message then: in our words, with the
//! proposal as usable as before.

use std::time::Duration;

use pillion_testkit::{Home, NvimVersion, Size, TestAgent, Tmux, each_neovim};
use pillion_view::HELD;
use serde_json::{Value, json};

use crate::diff::{ORIGINAL, Review};
use crate::world::{World, setup};

const PROPOSED: &str = "one\n2\nthree\nfour\nfive\nsix\nseven\n";
const EDITED: &str = "one\n2\nthree\nfour\nfive\nsix\nseven\nmine\n";

/// Long enough for anything that happens at once, on a busy machine.
const SOON: Duration = Duration::from_secs(60);

impl Review {
    /// The keys decide nothing, and this is shown. Enter goes on where Neovim asks for it.
    #[track_caller]
    fn decides_nothing(&mut self, keys: &str, said: &str) {
        self.world.nvim.command("messages clear");
        let condition =
            format!("vim.api.nvim_exec('messages', true):find([[{said}]], 1, true) ~= nil");
        self.type_until(keys, &condition);
        self.stays(keys);
    }

    /// Nothing was decided, and the proposal has the focus.
    #[track_caller]
    fn stays(&mut self, keys: &str) {
        self.is_pending(keys);
        let state: Value = self.world.nvim.lua(
            "return { #require('pillion.diff').list(), vim.fn.bufname():find('^pillion://') ~= nil, vim.bo.buftype }",
            json!([]),
        );
        assert_eq!(state, json!([1, true, "acwrite"]), "after {keys}");
    }

    #[track_caller]
    fn has_no_message(&self, text: &str) {
        let messages = self.world.nvim.messages();
        assert!(!messages.contains(text), "{messages}");
    }
}

#[each_neovim]
fn a_proposal_keeps_its_name_and_says_how_to_write_a_copy(version: NvimVersion) {
    let mut review = Review::new(version);
    review.propose(PROPOSED);
    let buffers = "#vim.api.nvim_list_bufs()";
    let before: Value = review
        .world
        .nvim
        .lua(&format!("return {buffers}"), json!([]));
    for keys in [
        ":saveas copy.txt<CR>",
        ":sav! copy.txt<CR>",
        ":silent keepalt saveas copy.txt<CR>",
        ":file copy.txt<CR>",
    ] {
        review.decides_nothing(keys, "Pillion: :w copy.txt writes a copy");
        review.has_no_message("E676");
        let now: Value = review
            .world
            .nvim
            .lua(&format!("return {buffers}"), json!([]));
        assert_eq!(now, before, "after {keys}");
    }
    review.decides_nothing(
        ":lua pcall(vim.cmd, 'saveas copy.txt') vim.notify('done')<CR>",
        "done",
    );
    assert!(!review.world.home.workspace().join("copy.txt").exists());
    review.type_until(":w copy.txt<CR>", "vim.fn.filereadable('copy.txt') == 1");
    review.stays(":w copy.txt");
    review.world.nvim.input("Gomine<Esc>:w<CR>");
    review.is_accepted(EDITED);
}

#[each_neovim]
fn a_command_for_many_buffers_accepts_nothing(version: NvimVersion) {
    let mut review = Review::new(version);
    review.propose(PROPOSED);
    for keys in [
        ":bufdo PillionAccept<CR>",
        ":silent windo PillionAccept<CR>",
        ":%g/o/PillionAccept<CR>",
    ] {
        review.world.nvim.command("messages clear");
        let said = "vim.api.nvim_exec('messages', true):find('a command for many buffers cannot accept', 1, true) ~= nil";
        review.type_until(keys, said);
        review.is_pending(keys);
        review.type_until(":PillionDiffs<CR>", "vim.b.pillion_diff ~= nil");
    }
    review.world.nvim.input(":PillionAccept<CR>");
    review.is_accepted(PROPOSED);
}

#[each_neovim]
fn a_write_without_autocommands_is_refused_in_our_words(version: NvimVersion) {
    let mut review = Review::new(version);
    review.propose(PROPOSED);
    for keys in [":noautocmd w<CR>", ":noa w!<CR>", ":silent noa x<CR>"] {
        review.decides_nothing(keys, "nothing is accepted without autocommands");
        review.has_no_message("E676");
    }
    review.type_until(
        ":noa w copy.txt<CR>",
        "vim.fn.filereadable('copy.txt') == 1",
    );
    review.world.nvim.input(":w<CR>");
    review.is_accepted(PROPOSED);
}

#[each_neovim]
fn an_autosave_that_does_not_nest_fails_without_a_question_and_accepts_nothing(
    version: NvimVersion,
) {
    let mut review = Review::with(
        version,
        "vim.cmd [[autocmd InsertLeave * silent update | let g:saved = get(g:, 'saved', 0) + 1]]",
    );
    review.propose(PROPOSED);
    review.type_until("Gomine<Esc>", "vim.g.saved == 1");
    review.stays("an autosave");
    review.has_no_message("E676");
    review.world.nvim.assert_no_errors();
    review.world.nvim.input(":w<CR>");
    review.is_accepted(EDITED);
    // Where the write itself is an error, ours is shown, too.
    review
        .world
        .nvim
        .command("autocmd! InsertLeave * silent! write");
    review.propose(PROPOSED);
    review.decides_nothing("Gomine<Esc>", "autosave and :wa do not accept a proposal");
    review.world.nvim.input(":w<CR>");
    review.is_accepted(EDITED);
}

#[each_neovim]
fn keys_that_code_plays_accept_nothing(version: NvimVersion) {
    let mut review = Review::new(version);
    review.propose(PROPOSED);
    let played = [
        ":call timer_start(5, {-> execute('normal ZZ')})<CR>",
        ":lua vim.defer_fn(function() vim.cmd('normal ZZ') end, 5)<CR>",
        ":lua vim.defer_fn(function() vim.cmd('normal! :w\\r') end, 5)<CR>",
        ":exe \"normal! :w\\<lt>CR>\"<CR>",
        ":call feedkeys(\":w\\<lt>CR>\")<CR>",
        ":call timer_start(5, {-> feedkeys(\":silent w\\<lt>CR>\", 'n')})<CR>",
        ":lua vim.defer_fn(function() vim.api.nvim_feedkeys(':w\\r', 'm', false) end, 5)<CR>",
        ":norm ZZ<CR>",
    ];
    for keys in played {
        // It is shown once for each proposal.
        review.world.nvim.lua::<()>(
            "require('pillion.diff.pending').get(...).is_write_explained = nil",
            json!([1]),
        );
        review.decides_nothing(keys, "autosave and :wa do not accept a proposal");
    }
    review.world.nvim.input("ZZ");
    review.is_accepted(PROPOSED);
}

#[each_neovim]
fn a_write_in_all_buffers_leaves_the_proposal_where_it_can_be_found(version: NvimVersion) {
    let mut review = Review::new(version);
    review.propose(PROPOSED);
    review.type_until(
        "Gomine<Esc>:set hidden<CR>:bufdo w<CR>:let g:done = 1<CR>",
        "vim.g.done == 1",
    );
    review.is_pending(":bufdo w");
    assert_eq!(std::fs::read_to_string(&review.path).unwrap(), ORIGINAL);
    review.world.nvim.assert_no_errors();
    review.type_until(":PillionDiffs<CR>", "vim.b.pillion_diff == 1");
    review.world.look();
    review.world.nvim.input(":w<CR>");
    review.is_accepted(EDITED);
}

#[each_neovim]
fn a_refusal_goes_once_the_proposal_is_decided(version: NvimVersion) {
    let (home, tmux) = (Home::new(), Tmux::start());
    let file = home.file("a.txt", ORIGINAL);
    let setup = setup(version, &home).arg(&file);
    let nvim = setup.in_tmux(&tmux, Size::new(100, 24));
    let world = World { nvim, home };
    world.wait_running();
    let mut gemini = TestAgent::find(&world.home, pillion_protocol::Dialect::GeminiCli);
    world.looked_for(0);
    gemini.propose(&file, PROPOSED);
    world.nvim.pane().wait_for(":w accepts, :q rejects", SOON);
    world.nvim.input("ZZ");
    world.nvim.pane().wait_for("only just opened", SOON);
    world.looked_for(3_600_000);
    std::thread::sleep(HELD);
    world.nvim.input("ZZ");
    gemini.outcome();
    world.nvim.pane().wait_until("no refusal", SOON, |screen| {
        !screen.contains("only just opened")
    });
}

#[each_neovim]
fn one_u_brings_edits_back_from_below_several_newer_proposals(version: NvimVersion) {
    let mut review = Review::new(version);
    for (edit, after) in [
        ("Gomine<Esc>", ""),
        ("Gomine", ""),
        ("Gomine<Esc>", "u<C-r>"),
    ] {
        review.propose(PROPOSED);
        review.type_until(edit, "vim.bo.modified");
        for newer in ["one\nTWO\nthree\n", "ONE\nthree\n", "ONE\nthree\nfour\n"] {
            review.world.nvim.command("messages clear");
            review.begin(newer);
            review.world.nvim.wait_until("the message", "vim.api.nvim_exec('messages', true):find('; u restores your edits', 1, true) ~= nil");
            let shown = format!(
                "table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '|') == '{}'",
                newer.trim_end().replace('\n', "|")
            );
            review.type_until(after, &shown);
        }
        review.type_until("<Esc>", "vim.api.nvim_get_mode().mode == 'n'");
        review.type_until("u", "vim.bo.modified");
        assert_eq!(review.lines().join("\n") + "\n", EDITED, "after {edit}");
        review.world.look();
        review.world.nvim.input(":w<CR>");
        review.is_accepted(EDITED);
    }
    // What was written over a newer proposal comes back by itself.
    review.propose(PROPOSED);
    review.type_until("Gomine<Esc>", "vim.bo.modified");
    review.propose("one\nTWO\nthree\n");
    review.type_until("Goagain<Esc>", "vim.bo.modified");
    review.propose("one\n");
    review.type_until("u", "vim.bo.modified");
    assert_eq!(review.lines(), ["one", "TWO", "three", "again"]);
    review.world.nvim.input(":q!<CR>");
    review.is_rejected();
}
