//! The selection while an agent's terminal, or anything else that is no file, has the focus: it
//! stays until the person goes on in the file.

use pillion_protocol::File;
use pillion_testkit::{Home, NvimVersion, TestAgent, each_neovim};
use serde_json::json;

use crate::terminal;
use crate::world::World;

const TEXT: &str = "one two\nthree\nfour é😀 five\nlast\n";

fn world(version: NvimVersion) -> (World, TestAgent) {
    let world = World::open(version, &[("a.txt", TEXT), ("b.txt", "b\n")]);
    let gemini = world.gemini();
    (world, gemini)
}

/// Waits until exactly this is shown as selected in `a.txt`.
fn selected(world: &World, agent: &mut TestAgent, wanted: Option<&str>) -> File {
    world.active(agent, |file| {
        file.path.ends_with("a.txt") && file.selected_text.as_deref() == wanted
    })
}

fn wait_no_file(world: &World) {
    world
        .nvim
        .wait_until("the focus elsewhere", "vim.fn.bufname() ~= 'a.txt'");
}

/// Waits until agents are shown another cursor, and with it nothing newer of the selection.
fn nothing_else_was_reported(world: &World, agent: &mut TestAgent, wanted: Option<&str>) {
    // What comes next is the context of this: had the selection gone in between, it came first.
    world.nvim.lua::<()>("vim.cmd('tabedit b.txt')", json!([]));
    let mut next = agent.context(|_| true);
    while next
        .active_file()
        .is_some_and(|file| file.path.ends_with("a.txt"))
    {
        let file = next.active_file().unwrap();
        assert_eq!(file.selected_text.as_deref(), wanted, "{file:?}");
        next = agent.context(|_| true);
    }
}

#[each_neovim]
fn whatever_has_the_focus_leaves_the_selection(version: NvimVersion) {
    for open in [
        "split | terminal",
        "botright vsplit | terminal",
        "tabnew | terminal",
        "terminal",
        "help help",
        "call setqflist([{'filename': 'b.txt', 'lnum': 1}]) | copen",
        "Lexplore",
        "lua vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), true, \
         { relative = 'editor', row = 0, col = 0, width = 9, height = 3 })",
        "lua vim.api.nvim_open_win(vim.fn.bufadd('b.txt'), true, \
         { relative = 'editor', row = 0, col = 0, width = 9, height = 3 })",
    ] {
        let (world, mut gemini) = world(version);
        world.nvim.lua::<()>(
            "vim.keymap.set('x', '<F2>', '<Cmd>' .. (...) .. '<CR>')",
            json!([open]),
        );
        world.nvim.input("gg0wvj");
        selected(&world, &mut gemini, Some("two\nthree"));
        world.nvim.input("<F2>");
        wait_no_file(&world);
        nothing_else_was_reported(&world, &mut gemini, Some("two\nthree"));
    }
}

/// Also when the keys come so fast that nothing was shown of it before.
#[each_neovim]
fn each_kind_of_selection_is_kept_however_it_ends(version: NvimVersion) {
    let (world, mut gemini) = world(version);
    world.nvim.command("vsplit | terminal");
    world.nvim.command("wincmd p");
    for (keys, wanted) in [
        ("gg0wve", "two"),
        ("gg0wVj", "one two\nthree"),
        ("gg0w<C-v>jl", "tw\ne"),
        ("gg0l<C-v>j$", "ne two\nhree"),
        ("3G0fév$", "é😀 five"),
    ] {
        for leave in ["<C-w>w", ":<C-u>wincmd w<CR>"] {
            world.nvim.input(&format!("{keys}{leave}"));
            world
                .nvim
                .wait_until("the terminal in focus", "vim.bo.buftype == 'terminal'");
            selected(&world, &mut gemini, Some(wanted));
            world.nvim.input("<C-w>pgg0j");
            selected(&world, &mut gemini, None);
        }
    }
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn a_kept_selection_goes_when_the_person_goes_on(version: NvimVersion) {
    let (world, mut gemini) = world(version);
    world.nvim.command("vsplit | terminal");
    world.nvim.command("wincmd p");
    for going_on in ["h", "x", "V<Esc>", "ix<Esc>", "dd", "G"] {
        world.nvim.input("gg0wve<C-w>w");
        world
            .nvim
            .wait_until("the terminal in focus", "vim.bo.buftype == 'terminal'");
        selected(&world, &mut gemini, Some("two"));
        world.nvim.input("<C-w>w");
        world
            .nvim
            .wait_until("the file in focus", "vim.bo.buftype == ''");
        world.nvim.input(going_on);
        selected(&world, &mut gemini, None);
        world.nvim.command("edit!");
    }
    // Another file, and back.
    world.nvim.input("gg0ve<C-w>w");
    selected(&world, &mut gemini, Some("one"));
    world.nvim.command("wincmd w | edit! b.txt");
    world.active(&mut gemini, |file| {
        file.path.ends_with("b.txt") && file.selected_text.is_none()
    });
    world.nvim.command("edit! a.txt | wincmd w");
    selected(&world, &mut gemini, None);
    world.nvim.assert_no_errors();
}

/// The keys that end a selection in the file end it for agents, too.
#[each_neovim]
fn nothing_is_kept_of_what_ended_in_the_file(version: NvimVersion) {
    let (world, mut gemini) = world(version);
    world.nvim.command("vsplit | terminal");
    world.nvim.command("wincmd p");
    for (keys, wanted) in [("gg0wve", "two"), ("gg0Vj", "one two\nthree")] {
        for end in ["<Esc>", "y", ":<C-u>echo 1<CR>", ":<Esc>"] {
            world.nvim.input(keys);
            selected(&world, &mut gemini, Some(wanted));
            world.nvim.input(end);
            selected(&world, &mut gemini, None);
            world.nvim.command("wincmd w");
            world
                .nvim
                .wait_until("the next turn", "vim.bo.buftype == 'terminal'");
            world.nvim.command("wincmd w");
        }
    }
    // The text is gone, in one go with the way to the terminal.
    world.nvim.input("gg0wved<C-w>w");
    world
        .nvim
        .wait_until("the terminal in focus", "vim.bo.buftype == 'terminal'");
    nothing_else_was_reported(&world, &mut gemini, None);
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn an_agent_that_is_run_from_visual_mode_is_shown_the_selection(version: NvimVersion) {
    for (maps, keys) in [
        ("", "ggVj:Pillion run gemini<CR>"),
        ("", "ggVj:<C-u>Pillion run gemini<CR>"),
        ("xnoremap <F2> <Cmd>Pillion run gemini<CR>", "ggVj<F2>"),
        ("xnoremap <F2> :Pillion run gemini<CR>", "ggVj<F2>"),
        ("xnoremap <F2> <Esc>:Pillion run gemini<CR>", "ggVj<F2>"),
    ] {
        let (world, agents) = terminal::world(version, |setup| setup);
        world.nvim.command(maps);
        world.nvim.input(keys);
        agents.one("gemini");
        world
            .nvim
            .wait_until("typing there", "vim.api.nvim_get_mode().mode == 't'");
        // It connects only now.
        let mut gemini = world.gemini();
        world.active(&mut gemini, |file| {
            file.selected_text.as_deref() == Some("one\ntwo")
        });
        world.nvim.assert_no_errors();
    }
}

/// The companion starts with the command, or the terminal is in another program.
#[each_neovim]
fn a_command_about_the_selection_holds_it(version: NvimVersion) {
    for (keys, wanted) in [
        ("ggVj:Pillion run gemini<CR>", "one two\nthree"),
        ("gg0wve<F2>", "two"),
    ] {
        let home = Home::new();
        let file = home.file("a.txt", TEXT);
        let world = World::with(version, home, &[], |setup| {
            setup
                .arg(file)
                .init("vim.keymap.set('x', '<F2>', '<Cmd>Pillion run qwen<CR><Esc>')")
                .init(
                    "require('pillion').setup({ auto_start = false, agents = {
                gemini = { 'true' }, qwen = { 'true' } },
                terminal = { provider = function() _G.ran = true end } })",
                )
        });
        world.nvim.input(keys);
        world.nvim.wait_until(
            "the terminal",
            "_G.ran and vim.api.nvim_get_mode().mode == 'n'",
        );
        let mut gemini = world.gemini();
        selected(&world, &mut gemini, Some(wanted));
        world.nvim.input("G");
        selected(&world, &mut gemini, None);
        world.nvim.assert_no_errors();
    }
}

#[each_neovim]
fn a_selection_is_where_its_text_is_after_others_changed_the_file(version: NvimVersion) {
    for (change, wanted) in [
        // What the agent writes reaches the buffer as a whole.
        (
            "zero\none two\nthree\nfour é😀 five\nlast\n",
            Some("two\nthree"),
        ),
        (
            "one two\nand a half\nthree\n",
            Some("two\nand a half\nthree"),
        ),
        (
            "one two\nTHREE AND MORE\nlast\n",
            Some("two\nTHREE AND MORE"),
        ),
        ("last\n", None),
    ] {
        let (world, mut gemini) = world(version);
        world.nvim.command("vsplit | terminal");
        world.nvim.command("wincmd p");
        world.nvim.input("gg0wvj$h<C-w>w");
        selected(&world, &mut gemini, Some("two\nthree"));
        std::fs::write(world.home.workspace().join("a.txt"), change).unwrap();
        world.nvim.command("silent! checktime");
        world.nvim.command("doautocmd <nomodeline> FocusGained");
        world.nvim.wait_for::<serde_json::Value>(
            "the new text",
            "return table.concat(vim.fn.getbufline(vim.fn.bufnr('a.txt'), 1, '$'), '\\n') .. '\\n' == (...)",
            json!([change]),
        );
        if wanted != Some("two\nthree") {
            selected(&world, &mut gemini, wanted);
        }
        nothing_else_was_reported(&world, &mut gemini, wanted);
        world.nvim.assert_no_errors();
    }
}

/// By a language server, say: without any event that Neovim would tell of.
#[each_neovim]
fn a_selection_moves_with_edits_of_its_buffer(version: NvimVersion) {
    let (world, mut gemini) = world(version);
    world.nvim.command("vsplit | terminal");
    world.nvim.command("wincmd p");
    let edit = "local first, last, lines = ...
             vim.api.nvim_buf_set_lines(vim.fn.bufnr('a.txt'), first, last, false, lines)";
    world.nvim.input("2G0v$h<C-w>w");
    selected(&world, &mut gemini, Some("three"));
    world.nvim.lua::<()>(edit, json!([0, 0, ["zero", "and"]]));
    world.nvim.lua::<()>(edit, json!([3, 4, ["THREE", "MORE"]]));
    selected(&world, &mut gemini, Some("THREE\nMORE"));
    world.nvim.lua::<()>(edit, json!([3, 5, []]));
    selected(&world, &mut gemini, None);
    world.nvim.assert_no_errors();
}
