//! `:PillionSend` in file trees: netrw as it is, and what other trees are asked.

use pillion_testkit::{NvimVersion, each_neovim};
use serde_json::json;

use crate::send::{back_to_the_file, with_gemini};
use crate::standin::{StandIn, StandIns};
use crate::terminal;
use crate::world::World;

/// A folder of a project, and netrw to be opened on it.
fn with_files(version: NvimVersion, style: u8) -> (World, StandIns, StandIn) {
    let scene = with_gemini(version);
    let (world, ..) = &scene;
    for name in [
        "tree/sub/deep/a.txt",
        "tree/sub/b'%#.txt",
        "tree/with two  blanks.txt",
        "tree/star*",
        "tree/z.txt",
    ] {
        world.home.file(name, "text\n");
    }
    std::os::unix::fs::symlink("/dev/null", world.home.workspace().join("tree/link")).unwrap();
    world.nvim.command(&format!(
        "let g:netrw_liststyle = {style} | let g:netrw_dirhistmax = 0 | edit tree"
    ));
    world.nvim.wait_until(
        "netrw",
        "vim.bo.filetype == 'netrw' and vim.fn.line('$') > 3",
    );
    scene
}

/// Puts the cursor on a line that holds this.
fn go_to(world: &World, text: &str) {
    let code = "return vim.fn.search([[\\V]] .. (...), 'cw')";
    let line: u32 = world.nvim.lua(code, json!([text]));
    assert_ne!(line, 0, "no {text} in {}", world.nvim.describe());
}

fn sends(world: &World, gemini: &StandIn, keys: &str, bytes: &str) {
    let before = gemini.typed("").len();
    world.nvim.input(keys);
    assert_eq!(gemini.typed_after(before, bytes), bytes, "{keys}");
    world
        .nvim
        .wait_until("typing on", "vim.api.nvim_get_mode().mode == 't'");
    back_to_the_tree(world);
}

fn back_to_the_tree(world: &World) {
    world.nvim.input("<C-\\><C-n>1<C-w>w");
    world.nvim.wait_until(
        "the tree in focus",
        "vim.bo.buftype ~= 'terminal' and vim.api.nvim_get_mode().mode == 'n'",
    );
}

#[each_neovim]
fn in_netrw_it_is_the_file_under_the_cursor_in_every_listing(version: NvimVersion) {
    for style in [0, 1, 2] {
        let (world, _agents, gemini) = with_files(version, style);
        for (text, mention) in [
            ("z.txt", "@tree/z.txt "),
            ("sub", "@tree/sub/ "),
            ("with two", "@tree/with\\ two\\ \\ blanks.txt "),
            ("star", "@tree/star\\* "),
            ("link", "@tree/link "),
        ] {
            go_to(&world, text);
            sends(&world, &gemini, ":PillionSend<CR>", mention);
        }
        world.nvim.input("gg");
        terminal::is_refused(&world, "PillionSend", "there is no file or folder here");
        world.nvim.assert_no_errors();
    }
}

#[each_neovim]
fn in_the_tree_of_netrw_files_of_open_folders_are_found(version: NvimVersion) {
    let (world, _agents, gemini) = with_files(version, 3);
    go_to(&world, "sub/");
    world.nvim.input("<CR>");
    world
        .nvim
        .wait_until("sub open", "vim.fn.search('deep', 'nw') > 0");
    go_to(&world, "deep/");
    world.nvim.input("<CR>");
    world
        .nvim
        .wait_until("deep open", "vim.fn.search('a\\\\.txt', 'nw') > 0");
    for (text, mention) in [
        ("a.txt", "@tree/sub/deep/a.txt "),
        ("b'%#.txt", "@tree/sub/b\\'%\\#.txt "),
        ("deep/", "@tree/sub/deep/ "),
        ("z.txt", "@tree/z.txt "),
    ] {
        go_to(&world, text);
        sends(&world, &gemini, ":PillionSend<CR>", mention);
    }
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn in_netrw_marked_and_selected_files_are_sent_together(version: NvimVersion) {
    let (world, _agents, gemini) = with_files(version, 0);
    go_to(&world, "star");
    world.nvim.input("mf");
    go_to(&world, "z.txt");
    world.nvim.input("mf");
    world.nvim.wait_until(
        "two marked",
        "type(vim.fn['netrw#Expose']('netrwmarkfilelist')) == 'table' \
         and #vim.fn['netrw#Expose']('netrwmarkfilelist') == 2",
    );
    sends(
        &world,
        &gemini,
        ":PillionSend<CR>",
        "@tree/star\\* @tree/z.txt ",
    );
    // What is selected goes first.
    go_to(&world, "star");
    // Releases of netrw sort links differently.
    let below: String = world
        .nvim
        .lua("return vim.fn.getline(vim.fn.line('.') + 1)", json!([]));
    let below = match below.starts_with("link") {
        true => "@tree/link ",
        false => "@tree/with\\ two\\ \\ blanks.txt ",
    };
    let both = format!("@tree/star\\* {below}");
    world.nvim.command("xnoremap <F2> <Cmd>PillionSend<CR>");
    for keys in ["Vj:PillionSend<CR>", "Vj<F2>"] {
        sends(&world, &gemini, keys, &both);
    }
    world.nvim.assert_no_errors();
}

/// The functions that the plugins document, for a buffer with one name a line.
const STAND_INS: &str = "
    local folder, filetype = ...
    local function at(line)
      return { name = vim.fn.getline(line), path = folder .. '/' .. vim.fn.getline(line), type = 'file' }
    end
    local marked = {}
    _G.mark = function(name) marked = { { name = name, absolute_path = folder .. '/' .. name, file = name } } end
    package.loaded['oil'] = {
      get_current_dir = function() return folder .. '/' end,
      get_entry_on_line = function(buf, line) return at(line) end,
    }
    package.loaded['nvim-tree.api'] = {
      marks = { list = function() return marked end },
      tree = { get_node_under_cursor = function()
        return { name = 'x', absolute_path = at(vim.fn.line('.')).path }
      end },
    }
    package.loaded['neo-tree.sources.manager'] = {
      get_state_for_window = function()
        return { tree = { get_node = function(_, line) return at(line) end } }
      end,
    }
    package.loaded['mini.files'] = { get_fs_entry = function(buf, line) return at(line) end }
    package.loaded['snacks'] = { picker = {
      util = { path = function(item) return folder .. '/' .. item.file end },
      get = function()
        return { {
          list = {
            win = { win = vim.api.nvim_get_current_win() },
            row2idx = function(_, row) return row end,
            get = function(_, line) return { file = vim.fn.getline(line) } end,
          },
          selected = function() return marked end,
        } }
      end,
    } }
    vim.cmd('enew')
    vim.bo.buftype = 'nofile'
    vim.api.nvim_buf_set_lines(0, 0, -1, false, { \"b'%#.txt\", 'deep', 'gone' })
    vim.bo.filetype = filetype";

#[each_neovim]
fn other_trees_are_asked_for_their_files(version: NvimVersion) {
    for (filetype, marks) in [
        ("oil", false),
        ("NvimTree", true),
        ("neo-tree", false),
        ("minifiles", false),
        ("snacks_picker_list", true),
    ] {
        let (world, _agents, gemini) = with_files(version, 0);
        let folder = world.home.workspace().join("tree/sub");
        world.nvim.lua::<()>(STAND_INS, json!([folder, filetype]));
        sends(
            &world,
            &gemini,
            "gg:PillionSend<CR>",
            "@tree/sub/b\\'%\\#.txt ",
        );
        sends(
            &world,
            &gemini,
            "ggVG:PillionSend<CR>",
            "@tree/sub/b\\'%\\#.txt @tree/sub/deep/ ",
        );
        world.nvim.input("3G");
        terminal::is_refused(&world, "PillionSend", "there is no file or folder here");
        if marks {
            world.nvim.lua::<()>("_G.mark('deep')", json!([]));
            sends(&world, &gemini, "gg:PillionSend<CR>", "@tree/sub/deep/ ");
        }
        world.nvim.assert_no_errors();
    }
}

#[each_neovim]
fn a_tree_that_cannot_be_asked_is_a_message(version: NvimVersion) {
    let (world, _agents, gemini) = with_gemini(version);
    world.nvim.command("enew | set filetype=oil");
    terminal::is_refused(&world, "PillionSend", "cannot get the files from oil");
    world.nvim.command("edit! first.txt");
    back_to_the_file(&world);
    world.nvim.input(":PillionSend<CR>");
    gemini.typed("@first.txt ");
}
