//! Sessions: what is saved while a proposal is shown, and what runs once one was restored.

use std::fs;

use pillion_testkit::{Home, Tmux, VimVersion, each_vim};

use crate::review::{PROPOSED, Review};
use crate::world::{World, setup};

/// Restores what `write` saved in `session`, and looks that nothing of the view is in it.
fn restores_no_view(version: VimVersion, home: Home, session: &std::path::Path) {
    let world = World::with(version, home, &[], |setup| setup.arg("-S").arg(session));
    // What Vim says about the files may fill the screen.
    world.vim.input("<CR>");
    world.wait_running();
    world.vim.wait_until(
        "the file alone",
        "winnr('$') == 1 && tabpagenr('$') == 1 && bufname() =~ 'a.txt$' && !&diff",
    );
    let left: u32 = world
        .vim
        .get("len(getbufinfo()->filter('v:val.name =~ \"^pillion\"'))");
    assert_eq!(left, 0);
    world.vim.assert_no_errors();
}

#[each_vim]
fn no_session_has_the_view_in_it(version: VimVersion) {
    for (save, layout) in [
        (":mksession! {}<CR>", "vertical"),
        (
            ":call timer_start(1, {-> execute('mksession! {}')})<CR>",
            "horizontal",
        ),
        (":call execute('mksession! {}')<CR>", "unified"),
    ] {
        let mut review = Review::with(version, &format!("let g:pillion_diff_layout = '{layout}'"));
        let session = review.world.home.root().join("session.vim");
        review.propose(PROPOSED);
        review
            .vim()
            .input_until("Gomine<Esc>2G", "&modified && line('.') == 2");
        let here = "[getcurpos(), tabpagenr(), winnr('$'), &diff, &statusline]";
        let before: serde_json::Value = review.vim().get(here);
        let file = session.display().to_string();
        review.vim().input_until(
            &save.replace("{}", &file),
            &format!("filereadable('{file}') && bufname() =~ '^pillion://'"),
        );
        assert_eq!(
            review.vim().get::<serde_json::Value>(here),
            before,
            "{save} {layout}"
        );
        let written = fs::read_to_string(&session).unwrap();
        assert!(!written.contains("pillion://"), "{written}");
        review.vim().input(":w<CR>");
        review.is_accepted(&format!("{PROPOSED}mine\n"));
        review.vim().quit();
        restores_no_view(version, review.world.home, &session);
    }
}

/// Their event comes first, and there is none of what they write then.
#[each_vim]
fn a_session_that_is_saved_at_the_end_has_no_view_in_it(version: VimVersion) {
    let review = Review::with(
        version,
        "set sessionoptions+=localoptions\nautocmd VimLeavePre * execute 'mksession! ' .. g:session",
    );
    let session = review.world.home.root().join("session.vim");
    let name = session.display();
    review.vim().command(&format!("let g:session = '{name}'"));
    review.propose(PROPOSED);
    review.vim().quit();
    let written = fs::read_to_string(&session).unwrap();
    assert!(!written.contains("pillion://"), "{written}");
    assert!(!written.contains("nomodifiable"), "{written}");
    restores_no_view(version, review.world.home, &session);
}

/// Saved where no event tells of it, or before Pillion was there.
#[each_vim]
fn a_view_in_a_session_is_not_restored(version: VimVersion) {
    for layout in ["vertical", "horizontal", "unified"] {
        let review = Review::with(version, &format!("let g:pillion_diff_layout = '{layout}'"));
        let session = review.world.home.root().join("session.vim");
        review.propose(PROPOSED);
        review.vim().command(&format!(
            "set sessionoptions-=options | noautocmd mksession {}",
            session.display()
        ));
        assert!(fs::read_to_string(&session).unwrap().contains("pillion://"));
        review.vim().quit();
        restores_no_view(version, review.world.home, &session);
    }
}

#[each_vim]
fn a_restored_session_starts_it_wherever_the_focus_is(version: VimVersion) {
    for elsewhere in [
        "terminal",
        "help",
        "enew | setlocal buftype=nofile | file pillion://1/a.txt",
        "new | only",
        "tabnew | terminal",
    ] {
        let (home, tmux) = (Home::new(), Tmux::start());
        let session = home.root().join("session.vim");
        let file = home.file("a.txt", "one\n");
        let vim = setup(version, &home)
            .vimrc("let g:pillion_auto_start = 0")
            .arg(file)
            .in_tmux(&tmux);
        vim.command(&format!("split | {elsewhere}"));
        vim.command(&format!("mksession {}", session.display()));
        vim.quit();
        let vim = setup(version, &home).arg("-S").arg(&session).in_tmux(&tmux);
        vim.wait_until(elsewhere, "pillion#Status().running");
        vim.quit();
        // A plugin that restores it later.
        let vim = setup(version, &home).in_tmux(&tmux);
        vim.command(&format!("source {}", session.display()));
        vim.wait_until(elsewhere, "pillion#Status().running");
    }
}

#[each_vim]
fn editing_the_proposal_again_does_not_list_it(version: VimVersion) {
    let review = Review::new(version);
    review.propose(PROPOSED);
    review
        .vim()
        .input_until("Gomine<Esc>:edit!<CR>", "line('$') == 6 && !&modified");
    review.vim().wait_until(
        "unlisted",
        "!&buflisted && getbufinfo({'buflisted': 1})->len() == 1",
    );
}
