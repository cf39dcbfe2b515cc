//! Nothing of the person's is disturbed: windows, registers, marks, options, jumps.

use pillion_testkit::{Size, VimVersion, each_vim};
use serde_json::Value;

use crate::review::{PROPOSED, Review};
use crate::world::PILLION;

/// Everything that must be as before.
const EVERYTHING: &str = "[winlayout(), winrestcmd(), tabpagenr('$'), win_getid(), winnr('#'), getcurpos(), winsaveview(), \
    getreginfo('\"'), getreginfo('/'), getreginfo(':'), getreg('a'), getmarklist(), getmarklist(bufnr()), bufnr('#'), bufnr(), undotree(), \
    &eventignore, &switchbuf, &scrollopt, &diffopt, &hidden, execute('setlocal!')->split(\"\\n\")->filter('v:val !~ \"statusline\"'), \
    v:errmsg, getjumplist(), getchangelist(), &modified, getbufinfo({'buflisted': 1})->mapnew('v:val.name'), &modifiable, v:hlsearch, &diff]";

#[each_vim]
fn everything_is_as_before(version: VimVersion) {
    for (vimrc, layout) in [
        ("set hidden", ""),
        (
            "set nohidden equalalways winwidth=60 winheight=12 switchbuf=usetab,newtab splitright splitbelow",
            "split | vsplit | resize 5",
        ),
        (
            "set autochdir autowriteall scrollopt=ver,jump,hor showtabline=2 laststatus=0",
            "vsplit",
        ),
        ("let g:pillion_diff_layout = 'unified'", "split"),
        (
            "let g:pillion_diff_layout = 'horizontal'\nset foldmethod=indent nowrap number",
            "tabnew | tabprevious",
        ),
    ] {
        let mut review = Review::with(version, vimrc);
        review.vim().command(layout);
        review.vim().input("jyiwma/three<CR>\"ayiwix<Esc>u");
        review
            .vim()
            .wait_until("at rest", "mode() == 'n' && getreg('a') == 'three'");
        let before: Value = review.vim().get(EVERYTHING);
        for keys in [":w<CR>", ":q<CR>", ""] {
            review.propose(PROPOSED);
            // The command that is typed is one of the person's own.
            review.vim().input(keys);
            match keys {
                ":w<CR>" => review.is_accepted(PROPOSED),
                ":q<CR>" => review.is_rejected(),
                _ => review.close(),
            }
            let mut after: Value = review.vim().get(EVERYTHING);
            after[9] = before[9].clone();
            for (index, (one, other)) in before
                .as_array()
                .unwrap()
                .iter()
                .zip(after.as_array().unwrap())
                .enumerate()
            {
                assert_eq!(one, other, "{index} with {vimrc} after {keys:?}");
            }
        }
    }
}

#[each_vim]
fn a_person_in_a_terminal_stays_in_it_and_sees_the_diff(version: VimVersion) {
    let mut review = Review::new(version);
    review.vim().command("vertical botright terminal");
    review.vim().wait_until("a terminal", "mode() == 't'");
    let before: Value = review.vim().get("[winlayout(), winrestcmd(), win_getid()]");
    review.gemini.propose(&review.path, PROPOSED);
    review.vim().wait_until(
        "a view beside it",
        "mode() == 't' && tabpagenr('$') == 2 && winnr('$') == 3",
    );
    review.vim().input("echo hello<CR>");
    review.vim().pane().wait_for("hello", pillion_testkit::SOON);
    let screen = review
        .vim()
        .pane()
        .wait_for(":PillionAccept", pillion_testkit::SOON);
    assert!(screen.contains("six"), "{screen}");
    review.look();
    review.vim().input("<C-w>:PillionAccept<CR>");
    review.is_accepted(PROPOSED);
    review.vim().wait_until("the terminal", "mode() == 't'");
    assert_eq!(
        review
            .vim()
            .get::<Value>("[winlayout(), winrestcmd(), win_getid()]"),
        before
    );
}

#[each_vim]
fn where_two_windows_find_no_room_one_shows_the_proposal(version: VimVersion) {
    let mut review = Review::set_up(version, |setup| {
        setup
            .size(Size::new(24, 5))
            .vimrc("let g:pillion_diff_layout = 'horizontal' | set shortmess+=F")
    });
    review.propose("one\n2\nthree\nfour\nfive\n");
    review.vim().input(":w<CR>");
    review.is_accepted("one\n2\nthree\nfour\nfive\n");
    // Of several changes, not all of them are in sight.
    review.propose(PROPOSED);
    review.vim().input(":w<CR>");
    review
        .vim()
        .wait_said("1 of 2 changes has not been on the screen: accept again to go ahead");
    review.is_pending("what was not seen");
    review.vim().input("<CR>G");
    std::thread::sleep(pillion_view::LOOK);
    review.vim().input(":w<CR>");
    review.is_accepted(PROPOSED);
}

#[each_vim]
fn keys_meant_for_a_proposal_never_reach_the_persons_own_buffer(version: VimVersion) {
    let mut review = Review::new(version);
    for (begun, mode, rest) in [
        (":%s/o/X/", "c", "<CR>"),
        ("ggd", "no", "d"),
        ("Gotyped", "i", " ddp<Esc>"),
        ("ggVj", "V", "d"),
    ] {
        review.propose(PROPOSED);
        review
            .vim()
            .input_until(begun, &format!("mode(1) == '{mode}'"));
        review.gemini.close(&review.path).unwrap();
        review.vim().input(rest);
        review.wait_gone();
        assert_eq!(
            review.vim().get::<Vec<String>>("getline(1, '$')"),
            ["one", "two", "three", "four", "five"],
            "after {begun}"
        );
    }
    assert_eq!(
        review.gemini.check_heard_all(&review.world.home, PILLION),
        Ok(())
    );
}
