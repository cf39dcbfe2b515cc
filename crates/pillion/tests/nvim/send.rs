//! Files and selections in the prompts of agents: `:PillionSend`.

use pillion_testkit::{NvimVersion, each_neovim};
use serde_json::{Value, json};

use crate::standin::{StandIn, StandIns};
use crate::terminal;
use crate::world::World;

/// A file open, and Gemini's stand-in in a terminal beside it. The focus is on the file.
pub fn with_gemini(version: NvimVersion) -> (World, StandIns, StandIn) {
    let (world, agents) = terminal::world(version, |setup| setup);
    world.nvim.command("Pillion run gemini");
    let gemini = agents.one("gemini");
    back_to_the_file(&world);
    (world, agents, gemini)
}

pub fn back_to_the_file(world: &World) {
    world.nvim.input("<C-\\><C-n>1<C-w>w");
    world.nvim.wait_until(
        "the file in focus",
        "vim.bo.buftype == '' and vim.api.nvim_get_mode().mode == 'n'",
    );
}

pub fn pasted(text: &str) -> String {
    format!("\x1b[200~{text}\x1b[201~")
}

#[each_neovim]
fn the_file_is_mentioned_as_agents_read_it(version: NvimVersion) {
    let (world, _agents, gemini) = with_gemini(version);
    for (name, mention) in [
        ("src/main.rs", "@src/main.rs "),
        ("with space, comma.txt", "@with\\ space\\,\\ comma.txt "),
        (
            "[id] (1) $(touch x);.tsx",
            "@\\[id\\]\\ \\(1\\)\\ \\$\\(touch\\ x\\)\\;.tsx ",
        ),
        ("größe'|\"%#.md", "@größe\\'\\|\\\"%\\#.md "),
    ] {
        let path = world.home.file(name, "text\n");
        let open = "vim.fn.bufadd((...)) vim.api.nvim_win_set_buf(0, vim.fn.bufadd((...)))";
        world.nvim.lua::<()>(
            &format!("vim.bo[vim.fn.bufadd((...))].buflisted = true {open}"),
            json!([path]),
        );
        world.nvim.input(":PillionSend<CR>");
        gemini.typed(mention);
        world
            .nvim
            .wait_until("typing on", "vim.api.nvim_get_mode().mode == 't'");
        back_to_the_file(&world);
    }
    let outside = world.home.other_workspace("elsewhere").join("far.txt");
    std::fs::write(&outside, "").unwrap();
    world.nvim.command(&format!("edit {}", outside.display()));
    world.nvim.command("PillionSend");
    let typed = gemini.typed(&format!("@{} ", outside.display()));
    assert!(!typed.contains(['\r', '\n']), "{typed:?}");
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn what_is_selected_arrives_exactly(version: NvimVersion) {
    let (world, _agents, gemini) = with_gemini(version);
    world.nvim.command("xmap gs <Plug>(pillion-send)");
    world.nvim.command("xnoremap gx <Cmd>PillionSend<CR>");
    for (keys, text) in [
        ("gg0lvj:PillionSend<CR>", "ne\ntw"),
        ("ggVj:PillionSend<CR>", "one\ntwo\n"),
        ("gg0<C-v>jl:PillionSend gemini<CR>", "on\ntw"),
        ("gg0v:Pillion send<CR>", "o"),
        (":2,3PillionSend<CR>", "two\nthree\n"),
        ("ggVGgs", "one\ntwo\nthree\n"),
        ("gg0lvgx", "n"),
    ] {
        world.nvim.lua::<()>(
            "vim.fn.setreg('z', 'mine') vim.fn.setreg('a', 'yours', 'u')",
            json!([]),
        );
        world.nvim.input(keys);
        gemini.typed(&pasted(text));
        world
            .nvim
            .wait_until("typing on", "vim.api.nvim_get_mode().mode == 't'");
        let registers: Value = world.nvim.lua(
            "return { vim.fn.getreg('z'), vim.fn.getreg('a'), vim.fn.getreg('\"') }",
            json!([]),
        );
        assert_eq!(registers, json!(["mine", "yours", "yours"]), "{keys}");
        back_to_the_file(&world);
    }
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn nothing_that_is_sent_ends_the_paste_or_presses_a_key(version: NvimVersion) {
    let (world, _agents, gemini) = with_gemini(version);
    let hostile = "a\u{1b}[201~\rrm -rf\u{9b}201~\u{3}\t\0ä\r";
    world.nvim.lua::<()>(
        "vim.api.nvim_buf_set_lines(0, 0, -1, false, { (...), 'end' })",
        json!([hostile]),
    );
    world.nvim.input("ggVG:PillionSend<CR>");
    let typed = gemini.typed(&pasted("a␛[201~␍rm -rf\u{fffd}201~␃\t␀ä\nend\n"));
    assert_eq!(typed.matches('\x1b').count(), 2, "{typed:?}");
}

#[each_neovim]
fn a_large_selection_arrives_whole(version: NvimVersion) {
    let (world, _agents, gemini) = with_gemini(version);
    let text: String = (0..50_000)
        .map(|line| format!("line {line} of many, ä\n"))
        .collect();
    assert!(text.len() > 1 << 20);
    let path = world.home.file("large.txt", &text);
    world.nvim.command(&format!("edit {}", path.display()));
    world.nvim.input("ggVG:PillionSend<CR>");
    let end = "line 49999 of many, ä\n\x1b[201~";
    let typed = gemini.typed(end);
    let whole = format!("@large.txt lines 1-50000 {}", pasted(&text));
    assert!(typed == whole, "{} of {} bytes", typed.len(), text.len());
}

#[each_neovim]
fn the_agent_used_last_gets_it_also_when_it_is_hidden(version: NvimVersion) {
    let (world, agents, gemini) = with_gemini(version);
    world.nvim.command("Pillion run qwen");
    let qwen = agents.one("qwen");
    back_to_the_file(&world);
    world.nvim.command("Pillion run qwen");
    world
        .nvim
        .wait_until("qwen hidden", "vim.fn.winnr('$') == 2");
    back_to_the_file(&world);
    world.nvim.command("PillionSend");
    qwen.typed("@first.txt ");
    world
        .nvim
        .wait_until("qwen shown", "vim.b.pillion_agent == 'qwen'");
    back_to_the_file(&world);
    world.nvim.command("PillionSend gemini");
    gemini.typed("@first.txt ");
}

#[each_neovim]
fn an_agent_that_the_person_started_in_a_terminal_gets_it_too(version: NvimVersion) {
    let (world, agents) = terminal::world(version, |setup| setup);
    let hint = "no agent is running in a terminal. Hint: :Pillion run claude";
    terminal::is_refused(&world, "PillionSend", hint);
    world.nvim.command("botright new | terminal");
    let start = "vim.fn.chansend(vim.bo.channel, (...) .. '\\n')";
    world
        .nvim
        .lua::<Value>(start, json!([agents.program("qwen")]));
    let qwen = agents.one("qwen");
    back_to_the_file(&world);
    world.nvim.command("PillionSend");
    qwen.typed("@first.txt ");
    back_to_the_file(&world);
    terminal::is_refused(
        &world,
        "PillionSend gemini",
        "gemini is not running in a terminal",
    );
}
