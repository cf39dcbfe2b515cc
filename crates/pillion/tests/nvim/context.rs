//! The context that agents get of the files that are open: which, in which order, and the cursor.

use pillion_protocol::{File, IdeContext};
use pillion_testkit::{NvimVersion, TestAgent, each_neovim};
use serde_json::json;

use crate::world::World;

const THREE: [(&str, &str); 3] = [("a.txt", "a\n"), ("b.txt", "b\n"), ("c.txt", "c\n")];

/// Names, the first one first.
fn names(context: &IdeContext) -> Vec<String> {
    let files = context
        .workspace_state
        .iter()
        .flat_map(|state| &state.open_files);
    let name = |file: &File| file.path.rsplit('/').next().unwrap_or_default().to_owned();
    files.flatten().map(name).collect()
}

/// Waits until agents are shown exactly these, of which the first one is active.
fn shows(agent: &mut TestAgent, wanted: &[&str]) -> IdeContext {
    let context = agent.context(|context| names(context) == wanted);
    let active = context.active_file().map(|file| file.path.clone());
    assert!(
        active.is_some_and(|path| path.ends_with(wanted[0])),
        "the newest file is the active one: {context:?}"
    );
    context
}

fn cursor(file: &File) -> Option<(u32, u32)> {
    file.cursor.map(|cursor| (cursor.line, cursor.character))
}

/// Waits until the cursor is shown there, in this file.
fn points_at(world: &World, agent: &mut TestAgent, name: &str, place: (u32, u32)) -> File {
    world.active(agent, |file| {
        file.path.ends_with(name) && cursor(file) == Some(place)
    })
}

#[each_neovim]
fn the_cursor_counts_utf16_units_from_one(version: NvimVersion) {
    let world = World::open(version, &[("a.txt", "plain\né😀x\n\te\u{301}中y\n")]);
    let mut gemini = world.gemini();
    points_at(&world, &mut gemini, "a.txt", (1, 1));
    world.nvim.input("j$");
    points_at(&world, &mut gemini, "a.txt", (2, 4));
    world.nvim.input("j");
    points_at(&world, &mut gemini, "a.txt", (3, 5));
    world.nvim.input("A!");
    points_at(&world, &mut gemini, "a.txt", (3, 7));
    world.nvim.input("<Esc>");
    points_at(&world, &mut gemini, "a.txt", (3, 6));
    world.nvim.assert_no_errors();
}

/// Counted by bytes, and for what is no UTF-8 as if it were shown with U+FFFD.
#[each_neovim]
fn units_are_counted_and_cut_right(version: NvimVersion) {
    let world = World::open(version, &[("a.txt", "a\n")]);
    let lua = "local utf16 = require('pillion.context.utf16')
                   local text, units = ...
                   return { utf16.length(text), utf16.cut(text, units) }";
    for text in [
        "",
        "plain",
        "é",
        "aé😀中\u{ffff}z",
        "e\u{301}",
        "\u{10ffff}",
        "\u{800}",
    ] {
        let units: Vec<_> = text.encode_utf16().collect();
        for limit in 0..=units.len() {
            let (length, cut): (usize, String) = world.nvim.lua(lua, json!([text, limit]));
            assert_eq!(length, units.len(), "{text:?}");
            let mut wanted = text;
            while wanted.encode_utf16().count() > limit {
                wanted = &wanted[..wanted.char_indices().last().map_or(0, |(at, _)| at)];
            }
            assert_eq!(cut, wanted, "{text:?} cut to {limit}");
        }
    }
    let broken: Vec<usize> = world.nvim.lua(
        "return vim.tbl_map(require('pillion.context.utf16').length,
               { '\\255', '\\195', '\\240\\159a', '\\192\\128é' })",
        json!([]),
    );
    assert_eq!(broken, [1, 1, 3, 3]);
    let valid: Vec<String> = world.nvim.lua(
        "return vim.tbl_map(require('pillion.context.utf16').valid,
               { 'a\\128\\195b', '\\237\\160\\128', '\\224\\128\\128', '\\244\\144\\128\\128', 'é\\240\\159\\152' })",
        json!([]),
    );
    let bad = |count| "\u{fffd}".repeat(count);
    let wanted = [
        format!("a{}b", bad(2)),
        bad(3),
        bad(3),
        bad(4),
        format!("é{}", bad(3)),
    ];
    assert_eq!(valid, wanted);
}

/// B17: agents drop the cursor of a file that is not the newest one, and ignore ties.
#[each_neovim]
fn files_come_most_recently_focused_first_with_falling_times(version: NvimVersion) {
    let world = World::open(version, &THREE);
    let mut gemini = world.gemini();
    shows(&mut gemini, &["a.txt"]);
    world.nvim.command("next | next | edit a.txt");
    let context = shows(&mut gemini, &["a.txt", "c.txt", "b.txt"]);
    let state = context.workspace_state.expect("it has files");
    let files = state.open_files.expect("it has files");
    assert!(
        files
            .windows(2)
            .all(|pair| pair[0].timestamp > pair[1].timestamp),
        "{files:?}"
    );
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .expect("it is after 1970")
        .as_millis();
    let age = now - u128::from(files[0].timestamp);
    assert!(age < 60_000, "the times are real: {age} ms ago");
}

/// B16.
#[each_neovim]
fn only_files_are_shown(version: NvimVersion) {
    let world = World::open(version, &[("a.txt", "a\n"), ("b.txt", "b\n")]);
    let mut gemini = world.gemini();
    shows(&mut gemini, &["a.txt"]);
    // netrw says so much about a page that somebody would have to press a key.
    world.nvim.detach_ui();
    for command in [
        "help help",
        "only",
        "terminal",
        "enew",
        "edit .",
        "edit http://localhost/page",
        "edit a\\ new\\ file.txt",
        "call setqflist([{'filename': 'a.txt', 'lnum': 1}]) | copen",
        "new | setlocal buftype=nofile | file scratch.txt",
        "edit term.txt | setlocal nobuflisted",
    ] {
        world.nvim.command(&format!("silent! {command}"));
        // What is in focus when Neovim is back in its loop counts.
        world.nvim.wait_until("Neovim's next turn", "true");
    }
    world.nvim.command("edit! b.txt");
    shows(&mut gemini, &["b.txt", "a.txt"]);
}

/// B16.
#[each_neovim]
fn a_terminal_leaves_the_file_active_with_its_cursor(version: NvimVersion) {
    let world = World::open(version, &[("a.txt", "one two\n"), ("b.txt", "b\n")]);
    let mut gemini = world.gemini();
    world.nvim.command("split | terminal");
    world.nvim.command("wincmd p");
    world.nvim.input("we");
    points_at(&world, &mut gemini, "a.txt", (1, 7));
    world.nvim.input("0<C-w>w");
    points_at(&world, &mut gemini, "a.txt", (1, 1));
    world.nvim.input("i");
    world
        .nvim
        .wait_until("terminal mode", "vim.api.nvim_get_mode().mode == 't'");
    world.nvim.input("echo 1<CR>");
    world
        .nvim
        .lua::<()>("vim.cmd('stopinsert | edit b.txt')", json!([]));
    shows(&mut gemini, &["b.txt", "a.txt"]);
}

/// B16.
#[each_neovim]
fn what_is_no_place_for_files_leaves_the_file_active(version: NvimVersion) {
    let world = World::open(version, &[("a.txt", "one\ntwo\n"), ("b.txt", "b\n")]);
    let mut gemini = world.gemini();
    world.nvim.input("j");
    points_at(&world, &mut gemini, "a.txt", (2, 1));
    world.nvim.lua::<()>(
        "-- Each of them shows b.txt, and is focused for a while.
             local b = vim.fn.bufadd('b.txt')
             local function turn() vim.wait(100) end
             vim.bo[b].buflisted = true
             local float = vim.api.nvim_open_win(b, true, {
               relative = 'editor', row = 0, col = 0, width = 9, height = 3 })
             turn()
             vim.api.nvim_win_close(float, true)
             vim.cmd('split')
             vim.w.pillion_diff = 1
             vim.api.nvim_win_set_buf(0, b)
             turn()
             vim.w.pillion_diff = nil
             vim.b[b].pillion_diff = 1
             vim.cmd('doautocmd WinEnter')
             turn()
             vim.cmd('close')
             vim.b[b].pillion_diff = nil",
        json!([]),
    );
    world.nvim.input("q:");
    world
        .nvim
        .wait_until("the command-line window", "vim.fn.getcmdwintype() == ':'");
    world.nvim.input(":quit<CR>");
    world
        .nvim
        .wait_until("normal mode", "vim.api.nvim_get_mode().mode == 'n'");
    world.nvim.input("gg");
    // The very next context: in between there was nothing to be shown.
    let next = gemini.context(|_| true);
    assert_eq!(names(&next), ["a.txt"]);
    assert_eq!(next.active_file().and_then(cursor), Some((1, 1)));
}

#[each_neovim]
fn ten_files_are_shown_of_many(version: NvimVersion) {
    let files: Vec<_> = (1..=13).map(|number| format!("{number}.txt")).collect();
    let files: Vec<_> = files.iter().map(|name| (name.as_str(), "text\n")).collect();
    let world = World::open(version, &files);
    let mut gemini = world.gemini();
    world.nvim.command("silent argdo normal! gg");
    let newest: Vec<_> = (4..=13)
        .rev()
        .map(|number| format!("{number}.txt"))
        .collect();
    let newest: Vec<_> = newest.iter().map(String::as_str).collect();
    shows(&mut gemini, &newest);
    world.nvim.command("edit 12.txt | bdelete 13.txt");
    shows(
        &mut gemini,
        &[
            "12.txt", "11.txt", "10.txt", "9.txt", "8.txt", "7.txt", "6.txt", "5.txt", "4.txt",
            "3.txt",
        ],
    );
}

#[each_neovim]
fn a_renamed_file_is_shown_by_its_new_name(version: NvimVersion) {
    let world = World::open(version, &[("a.txt", "a\n")]);
    let mut gemini = world.gemini();
    shows(&mut gemini, &["a.txt"]);
    world.nvim.command("saveas other.txt");
    shows(&mut gemini, &["other.txt"]);
    world.nvim.command("file third.txt | write");
    shows(&mut gemini, &["third.txt"]);
}

#[each_neovim]
fn a_closed_file_is_not_shown(version: NvimVersion) {
    let world = World::open(version, &THREE);
    let mut gemini = world.gemini();
    world.nvim.command("next | next");
    shows(&mut gemini, &["c.txt", "b.txt", "a.txt"]);
    world.nvim.command("bwipeout b.txt");
    shows(&mut gemini, &["c.txt", "a.txt"]);
    world.nvim.command("bdelete");
    shows(&mut gemini, &["a.txt"]);
}

#[each_neovim]
fn a_file_that_was_deleted_on_disk_is_not_shown_until_it_is_back(version: NvimVersion) {
    let world = World::open(version, &THREE);
    let mut gemini = world.gemini();
    world.nvim.command("next");
    shows(&mut gemini, &["b.txt", "a.txt"]);
    std::fs::remove_file(world.home.workspace().join("b.txt")).expect("it is there");
    world.nvim.command("doautocmd <nomodeline> FocusGained");
    shows(&mut gemini, &["a.txt"]);
    world.nvim.command("write!");
    shows(&mut gemini, &["b.txt", "a.txt"]);
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn each_window_has_its_own_cursor_in_any_tab_page(version: NvimVersion) {
    let world = World::open(version, &[("a.txt", "1\n2\n3\n"), ("b.txt", "b\n")]);
    let mut gemini = world.gemini();
    world.nvim.command("split");
    world.nvim.input("G");
    points_at(&world, &mut gemini, "a.txt", (3, 1));
    world.nvim.command("wincmd p");
    points_at(&world, &mut gemini, "a.txt", (1, 1));
    world.nvim.command("tabedit b.txt");
    points_at(&world, &mut gemini, "b.txt", (1, 1));
    world.nvim.command("tabprevious | wincmd p");
    let context = shows(&mut gemini, &["a.txt", "b.txt"]);
    assert_eq!(context.active_file().and_then(cursor), Some((3, 1)));
}

/// Counts the contexts that leave Neovim.
const COUNT: &str = "
    local client = require('pillion.client')
    local notify = client.notify
    vim.g.sent = 0
    client.notify = function(method, params)
      vim.g.sent = vim.g.sent + 1
      return notify(method, params)
    end";

#[each_neovim]
fn nothing_is_sent_when_nothing_changed_and_little_for_a_macro(version: NvimVersion) {
    let world = World::open(version, &[("a.txt", &"line\n".repeat(3000))]);
    let mut gemini = world.gemini();
    points_at(&world, &mut gemini, "a.txt", (1, 1));
    world.nvim.lua::<()>(COUNT, json!([]));
    world.nvim.input("ljhk<Esc>gg0");
    world
        .nvim
        .command("doautocmd CursorMoved | doautocmd WinEnter | doautocmd FocusGained");
    world.nvim.lua::<()>("vim.wait(100)", json!([]));
    let before: u64 = world
        .nvim
        .lua("vim.g.sent = 0 return vim.g.sent", json!([]));
    assert_eq!(before, 0);
    world
        .nvim
        .command("doautocmd CursorMoved | doautocmd WinEnter | doautocmd FocusGained");
    world.nvim.lua::<()>("vim.wait(100)", json!([]));
    assert_eq!(world.nvim.lua::<u64>("return vim.g.sent", json!([])), 0);
    world.nvim.lua::<()>(
        "vim.fn.setreg('q', 'j') vim.cmd('normal! 1000@q')",
        json!([]),
    );
    points_at(&world, &mut gemini, "a.txt", (1001, 1));
    let sent: u64 = world.nvim.lua("return vim.g.sent", json!([]));
    assert!(sent <= 2, "{sent} messages for a macro");
}

#[each_neovim]
fn ten_thousand_buffers_cost_a_cursor_move_nothing(version: NvimVersion) {
    let world = World::open(version, &[("a.txt", &"line\n".repeat(500))]);
    let mut gemini = world.gemini();
    points_at(&world, &mut gemini, "a.txt", (1, 1));
    world.nvim.lua::<()>(
        "for _ = 1, 10000 do vim.api.nvim_create_buf(true, false) end
             for _, name in ipairs({ 'nvim_list_bufs', 'nvim_buf_is_valid', 'nvim_buf_get_name' }) do
               local real = vim.api[name]
               vim.g.asked = 0
               vim.api[name] = function(...)
                 vim.g.asked = vim.g.asked + 1
                 return real(...)
               end
             end",
        json!([]),
    );
    world.nvim.input("5j");
    points_at(&world, &mut gemini, "a.txt", (6, 1));
    let asked: u64 = world.nvim.lua("return vim.g.asked", json!([]));
    assert!(asked < 10, "{asked} questions about buffers");
    world.nvim.command("Pillion restart");
    world.wait_running();
    let mut gemini = world.gemini();
    points_at(&world, &mut gemini, "a.txt", (6, 1));
    world.nvim.assert_no_errors();
}

/// B22: a trust flag would switch off the agent's own question.
#[each_neovim]
fn trust_is_told_only_if_the_user_said_so(version: NvimVersion) {
    let trust = |context: &IdeContext| {
        context
            .workspace_state
            .as_ref()
            .and_then(|state| state.is_trusted)
    };
    let world = World::open(version, &[("a.txt", "a\n")]);
    let context = shows(&mut world.gemini(), &["a.txt"]);
    assert_eq!(trust(&context), None);
    let world = World::with(
        version,
        pillion_testkit::Home::new(),
        &[("a.txt", "a\n")],
        |setup| setup.init("require('pillion').setup({ is_trusted = true })"),
    );
    let context = shows(&mut world.gemini(), &["a.txt"]);
    assert_eq!(trust(&context), Some(true));
}

/// B13, B14.
#[each_neovim]
fn any_name_of_a_file_arrives_as_it_is(version: NvimVersion) {
    let strange = "[id] %#|$(touch ran) 'é\" \\a.tsx";
    let world = World::open(version, &[(strange, "text\n"), ("i.tsx", "other\n")]);
    let mut gemini = world.gemini();
    let file = world.active(&mut gemini, |_| true);
    assert_eq!(
        file.path,
        world.home.workspace().join(strange).display().to_string()
    );
    assert!(!world.home.workspace().join("ran").exists());
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn a_read_only_file_is_shown_like_any_other(version: NvimVersion) {
    let world = World::with(
        version,
        pillion_testkit::Home::new(),
        &[("a.txt", "a\n")],
        |setup| setup.arg("-R"),
    );
    let mut gemini = world.gemini();
    shows(&mut gemini, &["a.txt"]);
}

#[each_neovim]
fn text_that_is_no_utf8_does_not_break_the_connection(version: NvimVersion) {
    let world = World::open(version, &[("a.txt", "ok\n")]);
    let mut gemini = world.gemini();
    let file = world.home.workspace().join("latin.txt");
    std::fs::write(file, b"a\xe9b\0c\n").expect("the workspace is ours");
    world.nvim.command("edit ++enc=utf-8 ++bad=keep latin.txt");
    world.nvim.input("V");
    world.active(&mut gemini, |file| {
        file.selected_text.as_deref() == Some("a\u{fffd}b\0c")
    });
    world.nvim.input("<Esc>$");
    points_at(&world, &mut gemini, "latin.txt", (1, 5));
}
