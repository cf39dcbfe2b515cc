//! The accidents that must not be taken for a decision, and what must not happen to a proposal by the way.

use std::thread::sleep;

use pillion_testkit::client::Update;
use pillion_testkit::{Home, NvimVersion, each_neovim};
use pillion_view::LOOK;
use serde_json::{Value, json};

use crate::diff::{ORIGINAL, Review};
use crate::world::World;

const PROPOSED: &str = "one\n2\nthree\nfour\nfive\nsix\nseven\n";

#[each_neovim]
fn leaving_an_unedited_proposal_accepts_it_only_with_x_and_zz(version: NvimVersion) {
    let mut review = Review::new(version);
    let before = review.everything();
    for keys in [
        "ZQ",
        ":q<CR>",
        "<C-w>q",
        "<C-w>c",
        ":tabclose<CR>",
        ":1tabnext<CR>:tabonly<CR>",
    ] {
        review.propose(PROPOSED);
        review.world.nvim.input(keys);
        review.is_rejected();
        assert_eq!(review.everything(), before, "after {keys}");
    }
}

#[each_neovim]
fn suspending_neovim_accepts_nothing(version: NvimVersion) {
    let mut review = Review::with(version, "vim.o.autowrite = true");
    review.propose(PROPOSED);
    review.type_until("Gomine<Esc><C-z>:let g:done = 1<CR>", "vim.g.done == 1");
    review.is_pending("a Neovim that is suspended");
    // Nor from a file of the person's own.
    review.type_until("1gt<C-z>:let g:done = 2<CR>", "vim.g.done == 2");
    review.is_pending("one that is suspended in another file");
    // Nor does what was seen before still count.
    review.type_until("2gt", "vim.b.pillion_diff ~= nil");
    review.world.look();
    review.world.nvim.input(":PillionAccept<CR>");
    review.is_accepted(&format!("{PROPOSED}mine\n"));
}

/// Both agents ignore an empty text, and write their own proposal.
#[each_neovim]
fn an_emptied_proposal_is_accepted_only_when_asked_twice(version: NvimVersion) {
    let mut review = Review::new(version);
    review.world.nvim.command("set columns=200");
    let warned =
        "vim.api.nvim_exec('messages', true):find('ignores an empty text', 1, true) ~= nil";
    for keys in [":w<CR>", ":x<CR>", ":wq<CR>", ":PillionAccept<CR>"] {
        review.propose(PROPOSED);
        review.world.nvim.command("messages clear");
        review.type_until(&format!("gg\"_dG{keys}"), warned);
        review.is_pending(keys);
        sleep(LOOK);
        review.world.nvim.input(keys);
        review.is_accepted("");
    }
    review.propose("");
    review.world.nvim.input(":w<CR>");
    review.is_accepted("");
}

#[each_neovim]
fn autocommands_for_the_filetype_change_no_text(version: NvimVersion) {
    let mut review = Review::with(
        version,
        "vim.api.nvim_create_autocmd('FileType', { callback = function(event)
               vim.api.nvim_buf_set_lines(event.buf, 0, 1, false, { 'spoilt' })
               vim.cmd('setlocal ff=dos bomb noeol bufhidden=wipe nomodifiable readonly')
               heard = true
             end })",
    );
    let path = review.world.home.file("a.lua", "local a \n");
    review.gemini.propose(&path, "local b \n");
    review.world.look();
    let heard: Value = review.world.nvim.lua(
        "local left = vim.api.nvim_win_get_buf(vim.fn.win_getid(1))
             return { heard, vim.bo.modified, vim.fn.getbufline(left, 1)[1] }",
        json!([]),
    );
    assert_eq!(heard, json!([true, false, "local a "]));
    review.world.nvim.input(":w<CR>");
    let path = path.display().to_string();
    let expected = Update::accepted(path, "local b \n");
    assert_eq!(review.gemini.outcome(), expected);
}

#[each_neovim]
fn what_is_kept_of_an_edited_proposal_is_one_buffer_that_neovim_does_not_quit_over(
    version: NvimVersion,
) {
    let review = Review::new(version);
    review.propose("\u{feff}one\r\ntwo");
    review.type_until("Gomine<Esc>", "vim.fn.line('$') == 3");
    review.world.nvim.command("Pillion stop");
    review
        .world
        .nvim
        .wait_until("no view left", "vim.fn.bufnr('^pillion://') == -1");
    let kept: Value = review.world.nvim.lua(
        "return vim.tbl_map(function(info)
               local options = vim.bo[info.bufnr]
               return { vim.fn.getbufline(info.bufnr, 1, '$'), options.fileformat, options.bomb, options.endofline, options.buftype }
             end, vim.fn.getbufinfo({ buflisted = 1, bufmodified = 1 }))",
        json!([]),
    );
    assert_eq!(
        kept,
        json!([[["one", "two", "mine"], "dos", true, false, ""]])
    );
    let is_left = "vim.api.nvim_exec('messages', true):find('E37', 1, true) ~= nil \
                   or vim.api.nvim_exec('messages', true):find('E162', 1, true) ~= nil";
    // The last key answers the prompt after its two messages.
    review.type_until(":qa<CR><CR>", is_left);
}

/// The view goes once they are done.
#[each_neovim]
fn keys_meant_for_a_proposal_never_reach_the_persons_own_buffer(version: NvimVersion) {
    let review = Review::new(version);
    for (begun, mode, rest) in [
        (":%s/o/X/", "c", "<CR>"),
        ("ggd", "no", "d"),
        ("Gotyped", "i", " ddp<Esc>"),
        ("ggVj", "V", "d"),
    ] {
        review.propose(PROPOSED);
        review.type_until(begun, &format!("vim.api.nvim_get_mode().mode == '{mode}'"));
        review.gemini.close(&review.path).unwrap();
        review.world.nvim.input(rest);
        review.wait_gone();
        assert_eq!(review.lines().join("\n") + "\n", ORIGINAL, "after {begun}");
        assert_eq!(review.world.nvim.mode(), "n");
    }
}

#[each_neovim]
fn the_only_diff_is_shown_without_asking_which(version: NvimVersion) {
    let mut review = Review::new(version);
    review.propose(PROPOSED);
    review.type_until("1gt", "vim.b.pillion_diff == nil");
    review.type_until(":PillionDiffs<CR>", "vim.b.pillion_diff == 1");
    assert_eq!(review.world.nvim.mode(), "n");
    review.world.nvim.input(":q<CR>");
    review.is_rejected();
}

#[each_neovim]
fn where_two_windows_find_no_room_one_shows_the_proposal(version: NvimVersion) {
    let mut review = Review::with(
        version,
        "require('pillion').setup({ diff = { layout = 'horizontal' } })",
    );
    review.world.nvim.command("set columns=20 lines=5");
    let before = review.everything();
    review.propose(PROPOSED);
    let shown: Value = review.world.nvim.lua(
        "local marks = vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace('pillion_diff'), 0, -1, {})
             return { vim.b.pillion_diff, vim.fn.winnr('$'), #marks }",
        json!([]),
    );
    assert_eq!(shown, json!([1, 1, 3]));
    review.world.nvim.input(":w<CR>");
    review.is_accepted(PROPOSED);
    assert_eq!(review.everything(), before);
}

#[each_neovim]
fn windows_that_scroll_sideways_together_still_do(version: NvimVersion) {
    let mut review = Review::with(version, "vim.o.scrollopt = 'ver,jump,hor'");
    for keys in [":q<CR>", ":tabclose<CR>", ":w<CR>:let g:done = 1<CR>"] {
        review.propose(PROPOSED);
        review.world.nvim.input(keys);
        review.gemini.outcome();
        review.wait_gone();
        let scrollopt: String = review.world.nvim.lua("return vim.o.scrollopt", json!([]));
        assert_eq!(scrollopt, "ver,jump,hor", "after {keys}");
    }
}

#[each_neovim]
fn a_binary_file_is_shown_and_left_as_it_is(version: NvimVersion) {
    const BYTES: &[u8] = b"\x7fELF\0\x01\xff\xfe\n\0\r\n\xc3\n";
    for is_open in [false, true] {
        let world = World::with(version, Home::new(), &[("a.txt", ORIGINAL)], |setup| setup);
        let mut gemini = world.gemini();
        let path = world.home.file("a.bin", BYTES);
        if is_open {
            world
                .nvim
                .lua::<Value>("vim.cmd('edit ' .. vim.fn.fnameescape(...))", json!([path]));
        }
        gemini.propose(&path, "text\0 now\n");
        world.look();
        world.nvim.lua::<Value>("vim.cmd('redraw!')", json!([]));
        world.nvim.input(":w<CR>");
        let path = path.display().to_string();
        let expected = Update::accepted(path.clone(), "text\0 now\n");
        assert_eq!(gemini.outcome(), expected);
        if is_open {
            // Its buffer still is the file.
            world
                .nvim
                .wait_until("no view left", "vim.fn.bufnr('^pillion://') == -1");
            world.nvim.command("setlocal modifiable | silent write!");
        }
        assert_eq!(std::fs::read(path).unwrap(), BYTES, "{is_open}");
        world.nvim.assert_no_errors();
    }
}
