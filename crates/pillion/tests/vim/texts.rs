//! Texts come back byte for byte through Vim's buffers, NUL and all.

use std::thread::sleep;

use pillion_testkit::{Home, VimVersion, each_vim};
use pillion_view::HELD;

use crate::review::Review;
use crate::world::World;

#[each_vim]
fn what_the_person_sets_counts(version: VimVersion) {
    let mut review = Review::new(version);
    for (keys, text) in [
        (":set fileformat=dos<CR>", "a\r\nb\r\n"),
        (":set noendofline<CR>", "a\nb"),
        (":set bomb<CR>", "\u{feff}a\nb\n"),
        ("ggdGax<Esc>", "x\n"),
        ("ggdGi<CR><Esc>dd", "\n"),
        ("Gdd", "a\n"),
    ] {
        review.propose("a\nb\n");
        review.vim().input(&format!("{keys}:w<CR>"));
        review.is_accepted(text);
    }
}

#[each_vim]
fn bytes_that_are_no_text_are_not_accepted_and_not_lost(version: VimVersion) {
    let mut review = Review::new(version);
    review.propose("a\nb\n");
    review.vim().command("call setline(2, \"\\xff\")");
    review.vim().input(":wq<CR>");
    review.vim().wait_said("line 2 is not valid UTF-8");
    // Vim tells no such text.
    review.vim().input_until("u", "getline(2) == 'b'");
    review.is_pending(":wq");
    sleep(HELD);
    review.vim().input(":w<CR>");
    review.is_accepted("a\nb\n");
}

#[each_vim]
fn without_utf_8_inside_vim_a_proposal_is_refused(version: VimVersion) {
    let world = World::with(version, Home::new(), &[("a.txt", "one\n")], |setup| {
        setup.vimrc("set encoding=latin1")
    });
    let gemini = world.gemini();
    let error = gemini
        .try_propose(world.home.workspace().join("a.txt"), "two\n")
        .unwrap_err()
        .to_string();
    assert!(error.contains("'encoding' is latin1"), "{error}");
}
