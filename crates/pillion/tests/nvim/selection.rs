//! The selection that agents get: exactly what is selected, and nothing when nothing is.

use pillion_protocol::File;
use pillion_testkit::{NvimVersion, TestAgent, each_neovim};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::world::World;

/// Waits until exactly this is shown as selected.
fn selected(world: &World, agent: &mut TestAgent, wanted: Option<&str>) -> File {
    world.active(agent, |file| file.selected_text.as_deref() == wanted)
}

const TEXT: &str = "one two\n\n\tthree é😀中 end\nlast\n";

/// B16: not whole lines, and not for ever.
#[each_neovim]
fn a_selection_is_shown_exactly_and_is_gone_with_it(version: NvimVersion) {
    let world = World::open(version, &[("a.txt", TEXT)]);
    let mut gemini = world.gemini();
    for (keys, wanted) in [
        ("gg0wve", "two"),
        ("gg$vb", "two"),
        ("gg0wviw", "two"),
        // The cursor stays where it is, and only the other end moves.
        ("gg$viw", "two"),
        ("gg0v$", "one two"),
        ("gg0V", "one two"),
        ("gg0wvjj", "two\n\n\t"),
        ("gg0wVjo", "one two\n"),
        ("3G0wfév", "é"),
        ("3G0févll", "é😀中"),
        ("3G0f中vhh", "é😀中"),
        ("gg0<C-v>jjl", "one two\n\n\tt"),
        ("gg0l<C-v>Gl", "ne\n\n  \nas"),
        ("3G0f😀<C-v>$", "😀中 end"),
        ("gg0<C-v>G$", "one two\n\n\tthree é😀中 end\nlast"),
        ("gg0wgh<Right>", "tw"),
    ] {
        world.nvim.input(keys);
        selected(&world, &mut gemini, Some(wanted));
        world.nvim.input("<Esc>");
        selected(&world, &mut gemini, None);
    }
    world.nvim.input("gg0wve");
    selected(&world, &mut gemini, Some("two"));
    world.nvim.input("iw");
    world.nvim.command("normal! \u{1b}");
    world.nvim.input("viwy");
    selected(&world, &mut gemini, None);
    world.nvim.assert_no_errors();
}

/// From now on it is noted what the plugin says of the active file.
fn listen(world: &World) {
    world.nvim.lua::<()>(
        "local client = require('pillion.client')
         local notify = client.notify_encoded
         client.notify_encoded = function(method, params)
           if method == 'pillion/didChangeContext' then
             _G.active = vim.json.decode(params).openFiles[1] or {}
           end
           return notify(method, params)
         end",
        json!([]),
    );
}

/// Waits until this is reported as selected there: line, character, line, character.
#[track_caller]
fn says(world: &World, text: Option<&str>, range: [u32; 4]) {
    let [from, start, to, end] = range;
    let said = text.map_or("nil".to_owned(), |text| format!("[==[\n{text}]==]"));
    let wanted = format!(
        "(function()
           local active = _G.active or {{}}
           local range = active.selection
           if active.selectedText ~= {said} or range == nil ~= (active.selectedText == nil) then
             return false
           end
           local found = range and {{ range.start.line, range.start.character,
             range['end'].line, range['end'].character }} or {{ 0, 0, 0, 0 }}
           return vim.deep_equal(found, {{ {from}, {start}, {to}, {end} }})
         end)()"
    );
    world
        .nvim
        .wait_until(&format!("{text:?} at {range:?}"), &wanted);
}

#[each_neovim]
fn a_selection_is_told_with_its_range_in_utf16_units(version: NvimVersion) {
    let world = World::open(version, &[("a.txt", TEXT)]);
    listen(&world);
    for (keys, text, range) in [
        ("gg0wve", "two", [0, 4, 0, 7]),
        ("gg$vb", "two", [0, 4, 0, 7]),
        ("gg0V", "one two", [0, 0, 0, 7]),
        ("gg0wVjo", "one two\n", [0, 0, 1, 0]),
        ("gg0wvjj", "two\n\n\t", [0, 4, 2, 1]),
        ("3G0fév", "é", [2, 7, 2, 8]),
        ("3G0févll", "é😀中", [2, 7, 2, 11]),
        ("3G0f中vhh", "é😀中", [2, 7, 2, 11]),
        ("3G0f😀<C-v>$", "😀中 end", [2, 8, 2, 15]),
        ("gg0l<C-v>Gl", "ne\n\n  \nas", [0, 1, 3, 3]),
        ("G0l<C-v>gg0", "on\n\n  \nla", [0, 0, 3, 2]),
    ] {
        world.nvim.input(keys);
        says(&world, Some(text), range);
        world.nvim.input("<Esc>");
        says(&world, None, [0; 4]);
    }
    world.nvim.assert_no_errors();
}

/// The text and the cursor are the same, and the range is another.
#[each_neovim]
fn the_range_of_an_equal_text_is_told_anew(version: NvimVersion) {
    let world = World::open(version, &[("a.txt", "aaa\n")]);
    listen(&world);
    world.nvim.input("gg0vl");
    says(&world, Some("aa"), [0, 0, 0, 2]);
    world.nvim.input("<Esc>$vh");
    says(&world, Some("aa"), [0, 1, 0, 3]);
}

#[each_neovim]
fn the_range_of_a_kept_selection_moves_with_its_text(version: NvimVersion) {
    let world = World::open(version, &[("a.txt", TEXT)]);
    listen(&world);
    let change = "vim.api.nvim_buf_set_lines(vim.fn.bufnr('a.txt'), 0, 0, false, { '😀', 'new' })";
    for (keys, text, before, after) in [
        ("3G0févll", "é😀中", [2, 7, 2, 11], [4, 7, 4, 11]),
        ("3G0V", "\tthree é😀中 end", [2, 0, 2, 15], [4, 0, 4, 15]),
        ("gg0<C-v>jjl", "one two\n\n\tt", [0, 0, 2, 2], [2, 0, 4, 2]),
    ] {
        world.nvim.command("silent! only! | edit! a.txt");
        world
            .nvim
            .input(&format!("{keys}:<C-u>botright split | terminal<CR>"));
        says(&world, Some(text), before);
        world.nvim.lua::<()>(change, json!([]));
        says(&world, Some(text), after);
        world.nvim.input("<C-\\><C-n>:wincmd p<CR>gg0");
        says(&world, None, [0; 4]);
    }
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn the_option_selection_is_heeded(version: NvimVersion) {
    let world = World::open(version, &[("a.txt", TEXT)]);
    let mut gemini = world.gemini();
    for (option, keys, wanted) in [
        ("exclusive", "gg0ve", "one"),
        ("exclusive", "gg0<C-v>G3l", "one\n\n   \nlas"),
        ("old", "gg0v$", "one two"),
        ("inclusive", "gg0ve", "one"),
    ] {
        world.nvim.command(&format!("set selection={option}"));
        world.nvim.input(keys);
        selected(&world, &mut gemini, Some(wanted));
        world.nvim.input("<Esc>");
        selected(&world, &mut gemini, None);
    }
}

/// The lines of the file are joined as they are in the file.
#[each_neovim]
fn a_selection_in_a_dos_file_has_its_line_endings(version: NvimVersion) {
    let world = World::open(version, &[("a.txt", "one\r\ntwo\r\n")]);
    let mut gemini = world.gemini();
    world.nvim.input("gg0Vj");
    selected(&world, &mut gemini, Some("one\r\ntwo"));
}

#[each_neovim]
fn a_closed_fold_is_selected_as_a_whole(version: NvimVersion) {
    let world = World::open(version, &[("a.txt", "1\n2\n3\n4\n")]);
    let mut gemini = world.gemini();
    world.nvim.command("2,3fold");
    world.nvim.input("2GV");
    selected(&world, &mut gemini, Some("2\n3"));
}

/// The work of reading a selection.
#[derive(Debug, Deserialize)]
struct Work {
    /// Calls of Neovim's functions.
    calls: usize,
    /// Of text that they gave.
    bytes: usize,
}

/// B18. Agents get 16,384 units, and no more than that is read here.
#[each_neovim]
fn a_large_selection_is_cut_between_characters(version: NvimVersion) {
    let lines = "0123456789é😀\n".repeat(100_000);
    let long = "😀".repeat(400_000);
    let world = World::open(version, &[("a.txt", &lines), ("b.txt", &long)]);
    let mut gemini = world.gemini();
    for keys in [
        "ggVG",
        "GVgg",
        "ggvG$",
        "gg<C-v>G$",
        ":next<CR>V",
        "v$",
        "<Esc>0<C-v>$",
    ] {
        world.nvim.input(keys);
        let file = world.active(&mut gemini, |file| file.selected_text.is_some());
        let text = file.selected_text.expect("it was wanted");
        let units = text.encode_utf16().count();
        assert!(
            (16_300..=16_400).contains(&units),
            "{units} units by {keys}"
        );
        assert!(!text.contains('\u{fffd}'), "{keys}");
        let work: Work = world
            .nvim
            .lua(include_str!("selection_work.lua"), json!([]));
        // A block is put together line by line, of whole lines.
        let most = if keys.contains("<C-v>") {
            Work {
                calls: 300_000,
                bytes: 5_000_000,
            }
        } else {
            Work {
                calls: 100,
                bytes: 70_000,
            }
        };
        let is_little = work.calls < most.calls && work.bytes < most.bytes;
        assert!(is_little, "{work:?} to read it by {keys}");
        world.nvim.input("<Esc>");
        selected(&world, &mut gemini, None);
    }
}

/// Yanking is the judge: 600 selections of all kinds in lines of all kinds.
#[each_neovim]
fn what_is_shown_is_what_a_yank_takes(version: NvimVersion) {
    let world = World::open(version, &[("a.txt", "a\n")]);
    let wrong: Vec<Value> = world
        .nvim
        .lua(include_str!("selection_oracle.lua"), json!([600]));
    assert!(wrong.is_empty(), "{wrong:#?}");
}
