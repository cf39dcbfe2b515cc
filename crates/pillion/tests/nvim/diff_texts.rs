//! Texts come back byte for byte through Neovim's buffers (C5.5, C5.6).

use pillion_testkit::{NvimVersion, each_neovim};

use crate::diff::Review;

#[each_neovim]
fn what_the_person_sets_counts(version: NvimVersion) {
    let mut review = Review::new(version);
    let texts = [
        (":set fileformat=dos<CR>", "a\r\nb\r\n"),
        (":set noendofline<CR>", "a\nb"),
        (":set bomb<CR>", "\u{feff}a\nb\n"),
        ("ggdG", ""),
        ("ggdGax<Esc>", "x\n"),
        ("Gdd", "a\n"),
    ];
    for (number, (keys, text)) in texts.into_iter().enumerate() {
        review.propose("a\nb\n");
        review.type_until(
            &format!("{keys}:let g:done = {number}<CR>"),
            &format!("vim.g.done == {number}"),
        );
        review.world.accept_whatever_is_asked();
        review.is_accepted(text);
    }
}

#[each_neovim]
fn bytes_that_cannot_be_sent_are_not_accepted_and_not_lost(version: NvimVersion) {
    let mut review = Review::new(version);
    review.propose("a\nb\n");
    review.world.nvim.command("call setline(2, \"\\xff\")");
    review.type_until(
        ":wq<CR>",
        "vim.api.nvim_exec('messages', true):find('line 2 is not valid UTF%-8') ~= nil",
    );
    review.type_until("u", "vim.fn.getline(2) == 'b'");
    review.world.nvim.input(":w<CR>");
    review.is_accepted("a\nb\n");
}
