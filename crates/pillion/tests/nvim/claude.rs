//! Claude Code's protocol, spoken by the project's own client: what it gets from a person in Neovim,
//! and what that person sees of what it proposes.

use std::thread::sleep;

use pillion_protocol::{Position, Range, Severity};
use pillion_testkit::client::claude::Answer;
use pillion_testkit::{NvimVersion, TestClaude, each_neovim};
use pillion_view::LOOK;
use serde_json::json;

use crate::send::back_to_the_file;
use crate::terminal;
use crate::world::{self, World};

/// Claude Code, connected, as Neovim knows.
fn connect(world: &World) -> TestClaude {
    let claude = TestClaude::find(&world.home);
    let known = "vim.tbl_contains(require('pillion.client').state.mentions, 'claude')";
    world.nvim.wait_until("Claude Code known", known);
    claude
}

fn range(from: (u32, u32), to: (u32, u32)) -> Range {
    let place = |(line, character)| Position { line, character };
    Range {
        start: place(from),
        end: place(to),
    }
}

#[each_neovim]
fn a_selection_arrives_with_its_range_and_stays_in_a_terminal(version: NvimVersion) {
    let text = "one two\n\té😀中 end\nlast\n";
    let world = World::open(version, &[("a b.txt", text)]);
    let mut claude = connect(&world);
    let path = world.home.workspace().join("a b.txt");
    let path = path.to_str();
    let caret = range((0, 0), (0, 0));
    claude.selection(|it| it.path.as_deref() == path && it.text.is_empty() && it.range == caret);
    for (keys, text, place) in [
        ("gg0wve", "two", range((0, 4), (0, 7))),
        ("2G0lvl", "é😀", range((1, 1), (1, 4))),
        ("gg0wV", "one two", range((0, 0), (0, 7))),
        ("gg0vj$h", "one two\n\té😀中 end", range((0, 0), (1, 9))),
    ] {
        world.nvim.input(keys);
        claude.selection(|it| it.path.as_deref() == path && it.text == text && it.range == place);
        world.nvim.input("<Esc>");
        claude.selection(|it| it.text.is_empty());
    }
    world
        .nvim
        .input("2G0lvl:<C-u>botright split | terminal<CR>");
    claude.selection(|it| it.text == "é😀" && it.range == range((1, 1), (1, 4)));
    let insert = "vim.api.nvim_buf_set_lines(vim.fn.bufnr('a b.txt'), 0, 0, false, { 'new' })";
    world.nvim.lua::<()>(insert, json!([]));
    claude.selection(|it| it.text == "é😀" && it.range == range((2, 1), (2, 4)));
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn files_and_lines_are_mentioned_in_its_prompt(version: NvimVersion) {
    let (world, agents) = terminal::world(version, |setup| setup);
    world.home.file("a b.txt", "1\n2\n");
    world.home.file("src/c.rs", "1\n2\n");
    let at = |name: &str| {
        world
            .home
            .workspace()
            .join(name)
            .to_str()
            .unwrap()
            .to_owned()
    };
    let mut claude = connect(&world);
    for (keys, path, lines) in [
        (":PillionSend<CR>", at("first.txt"), None),
        (":2,3PillionSend<CR>", at("first.txt"), Some((1, 2))),
        ("ggVj:PillionSend<CR>", at("first.txt"), Some((0, 1))),
        (":PillionAdd src/c.rs 2<CR>", at("src/c.rs"), Some((1, 1))),
        (
            ":PillionAdd a\\ b.txt 1 2<CR>",
            format!("\"{}#L1-2\"", at("a b.txt")),
            None,
        ),
        (":PillionAdd src<CR>", format!("\"{}/\"", at("src")), None),
    ] {
        world.nvim.input(keys);
        let mention = claude.mention();
        assert_eq!(
            (mention.path.clone(), mention.lines()),
            (path, lines),
            "{keys}"
        );
    }
    // In its terminal the person goes on typing, and in Gemini's the text is pasted as ever.
    world.nvim.command("Pillion run claude");
    let stand_in = agents.one("claude");
    back_to_the_file(&world);
    world.nvim.input(":PillionSend<CR>");
    claude.mention();
    let typing = "vim.b.pillion_agent == 'claude' and vim.api.nvim_get_mode().mode == 't'";
    world.nvim.wait_until("typing in its terminal", typing);
    assert_eq!(stand_in.typed(""), "");
    back_to_the_file(&world);
    world.nvim.command("Pillion run gemini");
    let gemini = agents.one("gemini");
    back_to_the_file(&world);
    world.nvim.command("PillionSend");
    gemini.typed("@first.txt ");
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn diagnostics_are_answered_as_asked(version: NvimVersion) {
    let world = World::open(version, &[("a b.txt", "é😀 one\ntwo\n"), ("c.txt", "c\n")]);
    let claude = connect(&world);
    let path = world.home.workspace().join("a b.txt");
    let uri = format!("file://{}", path.to_str().unwrap());
    assert_eq!(claude.diagnostics(Some(&uri)), []);
    assert_eq!(claude.diagnostics(None), []);
    world.nvim.lua::<()>(
        "vim.diagnostic.set(vim.api.nvim_create_namespace('x'), vim.fn.bufnr('a b.txt'), {
               { lnum = 0, col = 2, end_lnum = 0, end_col = 6, severity = 2, message = 'm', source = 'tsc' } })",
        json!([]),
    );
    for asked in [Some(uri.as_str()), None] {
        let files = claude.diagnostics(asked);
        assert_eq!(files.len(), 1, "{files:?}");
        assert_eq!(files[0].uri, uri);
        let one = &files[0].diagnostics[0];
        assert_eq!(
            (one.message.as_str(), one.severity),
            ("m", Severity::Warning)
        );
        assert_eq!(
            (one.range, one.source.as_deref()),
            (range((0, 1), (0, 3)), Some("tsc"))
        );
    }
    assert_eq!(claude.diagnostics(Some("file:///no/such")), []);
}

/// Waits until this message is shown.
fn is_told(world: &World, message: &str) {
    world.nvim.wait_for::<serde_json::Value>(
        "the message",
        "return vim.api.nvim_exec('messages', true):find(..., 1, true)",
        json!([message]),
    );
}

fn with_file(
    version: NvimVersion,
    name: &str,
    text: &str,
) -> (World, TestClaude, std::path::PathBuf) {
    let world = World::with(
        version,
        pillion_testkit::Home::new(),
        &[(name, text)],
        |setup| setup.init("vim.o.columns = 200 vim.o.lines = 50"),
    );
    let claude = connect(&world);
    let path = world.home.workspace().join(name);
    (world, claude, path)
}

#[each_neovim]
fn a_proposal_is_accepted_as_edited_and_rejected(version: NvimVersion) {
    let (world, claude, path) = with_file(version, "a.txt", "one\ntwo\n");
    let call = claude.proposing(&path, "one\n2\n", "tab 1");
    world::look(&world.nvim);
    world.nvim.input("Gomine<Esc>:w<CR>");
    assert_eq!(call.end(), Ok(Answer::Saved("one\n2\nmine\n".to_owned())));
    claude.close_tab("tab 1").unwrap();
    let call = claude.proposing(&path, "one\n3\n", "tab 2");
    world::look(&world.nvim);
    world.nvim.input(":q<CR>");
    assert_eq!(call.end(), Ok(Answer::Rejected));
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn what_counts_as_a_rejection_is_said_before(version: NvimVersion) {
    let (world, claude, path) = with_file(version, "a.txt", "one\r\ntwo\r\n");
    world.nvim.command("set columns=200");
    let call = claude.proposing(&path, "one\n2\n", "tab 1");
    world::look(&world.nvim);
    world
        .nvim
        .input(":%d _ | call setline(1, ['one', 'two'])<CR>:w<CR>");
    is_told(
        &world,
        "Claude Code treats this as a rejection and changes nothing",
    );
    assert_eq!(call.check_pending(&world.home, &path), Ok(()));
    sleep(LOOK);
    world.nvim.input(":w<CR>");
    world.nvim.wait_until(
        "the view gone",
        "require('pillion.diff.pending').is_empty()",
    );
    assert!(matches!(call.end(), Ok(Answer::Saved(_))));
    let new = path.with_file_name("new.txt");
    let call = claude.proposing(&new, "text\n", "tab 2");
    world.nvim.command("messages clear");
    world::look(&world.nvim);
    world.nvim.input(":%d _<CR>:w<CR>");
    is_told(
        &world,
        "Claude Code treats this as a rejection and changes nothing",
    );
    world.nvim.input(":q!<CR>");
    assert_eq!(call.end(), Ok(Answer::Rejected));
}

#[each_neovim]
fn the_views_of_the_person_survive_the_start_of_a_turn(version: NvimVersion) {
    let (world, claude, path) = with_file(version, "a.txt", "one\n");
    world.nvim.command("diffsplit b.txt | tabnew");
    let layout = "return vim.tbl_map(function(tab) return #vim.api.nvim_tabpage_list_wins(tab) end, vim.api.nvim_list_tabpages())";
    let before: serde_json::Value = world.nvim.lua(layout, json!([]));
    let call = claude.proposing(&path, "two\n", "tab 1");
    world::look(&world.nvim);
    claude.close_all();
    world.nvim.wait_until(
        "the view gone",
        "require('pillion.diff.pending').is_empty() and #vim.api.nvim_list_tabpages() == 2",
    );
    assert_eq!(
        world.nvim.lua::<serde_json::Value>(layout, json!([])),
        before
    );
    drop(call);
}

#[each_neovim]
fn a_note_about_what_is_written_stands_above_the_proposal(version: NvimVersion) {
    let (world, claude, path) = with_file(version, "a.txt", "one\r\ntwo\nthree\n");
    let call = claude.proposing(&path, "one\n2\nthree\n", "tab 1");
    world::look(&world.nvim);
    is_told(&world, "Pillion: The file mixes CRLF and LF");
    world.nvim.wait_until(
        "the note above it",
        "(function()
            local win = vim.fn.win_findbuf(vim.fn.bufnr('^pillion://'))[1]
            local option = 'winbar'
            return vim.api.nvim_win_get_option(win, option):find('[The file mixes', 1, true) ~= nil
          end)()",
    );
    world.nvim.input(":q<CR>");
    assert_eq!(call.end(), Ok(Answer::Rejected));
}

/// While the person is in a terminal, the name of its mode covers messages.
#[each_neovim]
fn a_note_is_said_when_the_person_can_read_it(version: NvimVersion) {
    let (world, claude, path) = with_file(version, "a.txt", "one\r\ntwo\nthree\r\n");
    world.nvim.command("botright split | terminal");
    world.nvim.input("i");
    world
        .nvim
        .wait_until("the terminal", "vim.api.nvim_get_mode().mode == 't'");
    let call = claude.proposing(&path, "one\n2\nthree\n", "tab 1");
    world::look(&world.nvim);
    let note = "all of it with CRLF";
    assert!(!world.nvim.messages().contains(note), "nobody would see it");
    world.nvim.input("<C-\\><C-n>");
    is_told(&world, note);
    world.nvim.command("messages clear");
    world.nvim.input(":PillionDiffs<CR>");
    is_told(&world, note);
    world.nvim.command("messages clear");
    world.nvim.input("<C-w>p<C-w>p");
    world
        .nvim
        .wait_until("the view", "vim.b.pillion_diff ~= nil");
    world.nvim.input(":q<CR>");
    assert_eq!(call.end(), Ok(Answer::Rejected));
    assert!(!world.nvim.messages().contains(note), "it was read");
    world.nvim.assert_no_errors();
}

/// Its hooks say nothing, and it is about to write what it has not proposed.
#[each_neovim]
fn how_it_asks_is_said(version: NvimVersion) {
    let (world, claude, path) = with_file(version, "a.txt", "one\n");
    claude.close_all();
    let state = "table.concat(require('pillion.client').state.notes)";
    world.nvim.wait_until(
        "a note",
        &format!("{state}:find('may change files without asking', 1, true) ~= nil"),
    );
    world.nvim.command("Pillion status");
    is_told(&world, "`pillion run claude`");
    claude.diagnostics(Some(&format!("file://{}", path.display())));
    is_told(&world, "without showing them here first");
    world.nvim.assert_no_errors();
}
