//! Sessions: what is saved while a proposal is shown, and what runs once one was restored.

use std::fs;

use pillion_testkit::{Home, NvimVersion, each_neovim};
use serde_json::{Value, json};

use crate::diff::Review;
use crate::world::{World, setup};

const PROPOSED: &str = "one\n2\nthree\nfour\nfive\nsix\nseven\n";

/// Restores what `write` saved in `session`, and looks that nothing of the view is in it.
fn restores_no_view(version: NvimVersion, home: Home, session: &std::path::Path) {
    let world = World::with(version, home, &[], |setup| setup.arg("-S").arg(session));
    world.wait_running();
    world
        .nvim
        .wait_until("one window", "#vim.api.nvim_list_wins() == 1");
    let state: Value = world.nvim.lua(
        "return { #vim.api.nvim_list_tabpages(), #vim.api.nvim_list_wins(), vim.wo.diff, vim.wo.foldmethod, vim.fn.expand('%:t'),
           #vim.tbl_filter(function(buf) return vim.api.nvim_buf_get_name(buf):find('^pillion') end, vim.api.nvim_list_bufs()) }",
        json!([]),
    );
    assert_eq!(state, json!([1, 1, false, "manual", "a.txt", 0]));
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn no_session_has_the_view_in_it(version: NvimVersion) {
    for (save, layout) in [
        (":mksession! {}<CR>", "open_in_new_tab = true"),
        (":mksession! {}<CR>", "open_in_new_tab = false"),
        (":lua vim.cmd('mksession! {}')<CR>", "layout = 'unified'"),
        (
            ":call timer_start(1, {-> execute('mksession! {}')})<CR>",
            "open_in_new_tab = true",
        ),
    ] {
        let mut review = Review::with(
            version,
            &format!("require('pillion').setup({{ diff = {{ {layout} }} }})"),
        );
        let session = review.world.home.root().join("session.vim");
        review.propose(PROPOSED);
        review.type_until("Gomine<Esc>2G", "vim.bo.modified");
        let here = "return { vim.api.nvim_win_get_cursor(0), vim.b.pillion_diff, #vim.api.nvim_list_wins(), vim.wo.diff, vim.wo.winbar ~= '' }";
        let before: Value = review.world.nvim.lua(here, json!([]));
        let file = session.display().to_string();
        review.type_until(
            &save.replace("{}", &file),
            &format!("vim.fn.filereadable('{file}') == 1 and vim.b.pillion_diff ~= nil"),
        );
        let after: Value = review.world.nvim.lua(here, json!([]));
        assert_eq!(after, before, "{save} {layout}");
        let written = fs::read_to_string(&session).unwrap();
        assert!(!written.contains("pillion://"), "{written}");
        review.world.nvim.input(":w<CR>");
        review.is_accepted(&format!("{PROPOSED}mine\n"));
        review.world.nvim.quit();
        restores_no_view(version, review.world.home, &session);
    }
}

#[each_neovim]
fn a_session_that_is_saved_at_the_end_has_no_view_in_it(version: NvimVersion) {
    // Whoever is loaded first hears of the end first, and no event tells of what they write then.
    let review = Review::with(version, "
            vim.o.sessionoptions = vim.o.sessionoptions .. ',localoptions'
            vim.api.nvim_create_autocmd('VimLeavePre', { callback = function() vim.cmd('mksession! ' .. vim.g.session) end })");
    let session = review.world.home.root().join("session.vim");
    review
        .world
        .nvim
        .lua::<()>("vim.g.session = ...", json!([session]));
    review.propose(PROPOSED);
    review.world.nvim.quit();
    let written = fs::read_to_string(&session).unwrap();
    assert!(!written.contains("pillion://"), "{written}");
    assert!(!written.contains("nomodifiable"), "{written}");
    restores_no_view(version, review.world.home, &session);
}

/// Saved where no event tells of it, or before Pillion was there.
#[each_neovim]
fn a_view_in_a_session_is_not_restored(version: NvimVersion) {
    for layout in [
        "open_in_new_tab = true",
        "open_in_new_tab = false",
        "layout = 'unified'",
    ] {
        let review = Review::with(
            version,
            &format!("require('pillion').setup({{ diff = {{ {layout} }} }})"),
        );
        let session = review.world.home.root().join("session.vim");
        review.propose(PROPOSED);
        review
            .world
            .nvim
            .command(&format!("noautocmd mksession {}", session.display()));
        assert!(fs::read_to_string(&session).unwrap().contains("pillion://"));
        review.world.nvim.quit();
        restores_no_view(version, review.world.home, &session);
    }
}

#[each_neovim]
fn a_restored_session_starts_it_wherever_the_focus_is(version: NvimVersion) {
    for elsewhere in [
        "terminal",
        "help",
        "enew | setlocal buftype=nofile | file pillion://1/a.txt",
        "new | only",
        "tabnew | terminal",
    ] {
        let home = Home::new();
        let session = home.root().join("session.vim");
        let file = home.file("a.txt", "one\n");
        let nvim = setup(version, &home)
            .init("require('pillion').setup({ auto_start = false })")
            .arg(file)
            .headless();
        nvim.command(&format!("split | {elsewhere}"));
        nvim.command(&format!("mksession {}", session.display()));
        nvim.quit();
        let nvim = setup(version, &home).arg("-S").arg(&session).headless();
        nvim.wait_until(elsewhere, "require('pillion.client').is_running()");
        nvim.quit();
        // A plugin that restores it later.
        let nvim = setup(version, &home).headless();
        nvim.command(&format!("source {}", session.display()));
        nvim.wait_until(elsewhere, "require('pillion.client').is_running()");
    }
}
