//! Prompts with placeholders: `:Pillion prompt` and `:Pillion ask`.

use pillion_testkit::{NvimVersion, each_neovim};
use serde_json::json;

use crate::send::{back_to_the_file, pasted, with_gemini};
use crate::standin::{StandIn, StandIns};
use crate::terminal;
use crate::world::World;

/// Diagnostics as a language server gives them, in the file in focus.
const DIAGNOSE: &str = "
    local space = vim.api.nvim_create_namespace('test')
    vim.diagnostic.set(space, 0, {
      { lnum = 2, col = 1, end_lnum = 2, message = 'third', severity = 2, source = 'lint' },
      { lnum = 0, col = 0, end_lnum = 0, message = 'first\\nof two lines', severity = 1 },
    })";

const PROBLEMS: &str = "first.txt:1:1: error: first of two lines\n\
                        first.txt:3:2: warning: third [lint]";

fn with_prompts(version: NvimVersion) -> (World, StandIns, StandIn) {
    let scene = with_gemini(version);
    scene.0.nvim.lua::<()>(
        "require('pillion').setup({ prompts = {
           mine = 'a {file} b {line} c',
           chosen = 'do {selection}!',
           this = '{this}',
           problems = '{diagnostics}',
           wrong = '{flie}',
         } })",
        json!([]),
    );
    scene
}

#[each_neovim]
fn placeholders_stand_for_what_the_person_looks_at(version: NvimVersion) {
    let (world, _agents, gemini) = with_prompts(version);
    world.nvim.lua::<()>(DIAGNOSE, json!([]));
    let chosen = "do first.txt lines 1-2:\n```\none\ntwo\n```\n!";
    for (keys, text) in [
        (
            "2G:Pillion prompt mine<CR>",
            "a @first.txt b @first.txt line 2 c",
        ),
        ("ggVj:Pillion prompt chosen<CR>", chosen),
        (":1,2Pillion prompt chosen gemini<CR>", chosen),
        (
            "gg0lvj:Pillion prompt this<CR>",
            "first.txt lines 1-2:\n```\nne\ntw\n```\n",
        ),
        ("3G:Pillion prompt this<CR>", "@first.txt line 3"),
        ("gg:Pillion prompt problems<CR>", PROBLEMS),
        (
            ":1Pillion prompt problems<CR>",
            "first.txt:1:1: error: first of two lines",
        ),
        (
            "2G:Pillion ask Why {this}, {x} and {file}?<CR>",
            "Why @first.txt line 2, {x} and @first.txt? ",
        ),
    ] {
        world.nvim.input(keys);
        let typed = gemini.typed(&pasted(text));
        assert!(!typed.contains('\r'), "nothing is submitted: {typed:?}");
        world
            .nvim
            .wait_until("typing on", "vim.api.nvim_get_mode().mode == 't'");
        back_to_the_file(&world);
    }
    world.nvim.assert_no_errors();
}

/// The agent's terminal is in focus, and the file is what was looked at before.
#[each_neovim]
fn from_the_terminal_the_file_before_it_counts(version: NvimVersion) {
    let (world, _agents, gemini) = with_prompts(version);
    world
        .nvim
        .command("tnoremap <F2> <Cmd>Pillion prompt this<CR>");
    world.nvim.input("ggVj:Pillion focus<CR>");
    world
        .nvim
        .wait_until("typing there", "vim.api.nvim_get_mode().mode == 't'");
    // Agents are shown it, too.
    let mut agent = world.gemini();
    world.active(&mut agent, |file| {
        file.selected_text.as_deref() == Some("one\ntwo")
    });
    world.nvim.input("<F2>");
    gemini.typed(&pasted("first.txt lines 1-2:\n```\none\ntwo\n```\n"));
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn a_placeholder_without_a_value_sends_nothing_and_is_named(version: NvimVersion) {
    let (world, _agents, gemini) = with_prompts(version);
    for (command, message) in [
        (
            "Pillion prompt chosen",
            "needs {selection}, but nothing is selected",
        ),
        (
            "Pillion prompt problems",
            "needs {diagnostics}, but there are none in first.txt",
        ),
        (
            "Pillion prompt wrong",
            "unknown placeholder {flie}. Hint: use one of {diagnostics}, {file}",
        ),
        (
            "Pillion prompt nothing",
            "unknown prompt nothing. Hint: use one of chosen, document",
        ),
        ("Pillion prompt", "a prompt is missing"),
        ("Pillion ask", "the text is missing"),
        (
            "bwipeout | Pillion prompt mine",
            "needs {file}, but no file is open",
        ),
    ] {
        terminal::is_refused(&world, command, message);
    }
    assert_eq!(gemini.typed(""), "");
}

/// A text that is put in is not looked at again, and ends neither the paste nor its fence.
#[each_neovim]
fn hostile_text_in_a_placeholder_stays_text(version: NvimVersion) {
    let (world, _agents, gemini) = with_prompts(version);
    world.nvim.lua::<()>(
        "vim.api.nvim_buf_set_lines(0, 0, -1, false, { '```{file}\\27[201~%1', 'end' })",
        json!([]),
    );
    world.nvim.input("gg0V:Pillion prompt chosen<CR>");
    gemini.typed(&pasted(
        "do first.txt line 1:\n````\n```{file}␛[201~%1\n````\n!",
    ));
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn prompts_that_are_not_well_formed_are_said_and_the_defaults_stay(version: NvimVersion) {
    let (world, _agents, _gemini) = with_gemini(version);
    for wrong in [
        "'x'",
        "{ a = 1 }",
        "{ 'text' }",
        "{ a = { 'x' } }",
        "{ ['a b'] = 'x' }",
    ] {
        world.nvim.command(&format!(
            "lua require('pillion').setup({{ prompts = {wrong} }})"
        ));
        assert!(
            world
                .nvim
                .messages()
                .contains("setup: prompts must be a table of texts"),
            "{wrong}"
        );
        world.nvim.command("messages clear");
        let names: Vec<String> = world.nvim.lua(
            "return vim.fn.getcompletion('Pillion prompt ', 'cmdline')",
            json!([]),
        );
        assert_eq!(names, ["document", "explain", "fix", "review", "tests"]);
    }
}
