//! The changes that agents write reach the buffers, and nobody is asked.

use std::fs;
use std::path::PathBuf;

use pillion_testkit::{Home, NvimVersion, SOON, Size, TestAgent, Tmux, each_neovim};
use serde_json::{Value, json};

use crate::standin::StandIns;
use crate::world::{World, setup};

/// A file of a hundred lines open, and an agent that is connected.
fn with_agent(version: NvimVersion) -> (World, TestAgent, PathBuf) {
    let world = World::open(version, &[("first.txt", &lines("line"))]);
    let agent = world.gemini();
    world.nvim.command("set noautoread");
    let path = world.home.workspace().join("first.txt");
    (world, agent, path)
}

fn lines(word: &str) -> String {
    (1..=100).map(|line| format!("{word} {line}\n")).collect()
}

fn wait_first_line(world: &World, text: &str) {
    world
        .nvim
        .wait_until(text, &format!("vim.fn.getline(1) == {text:?}"));
}

/// Lets the plugin look twice at all that is visible.
fn let_it_look(world: &World) {
    for _ in 0..2 {
        world
            .nvim
            .lua::<()>("require('pillion.reload').check()", json!([]));
    }
}

fn told(world: &World, message: &str) -> usize {
    world.nvim.messages().matches(message).count()
}

#[each_neovim]
fn an_unmodified_buffer_is_read_again_where_the_person_was(version: NvimVersion) {
    let (world, _agent, path) = with_agent(version);
    world.nvim.command("set scrolloff=0 | split");
    let views = "return vim.tbl_map(function(win)
            local line = vim.fn.getwininfo(win)[1].topline
            return { line, vim.api.nvim_win_get_cursor(win) }
        end, vim.api.nvim_list_wins())";
    world.nvim.lua::<()>(
        "for index, win in ipairs(vim.api.nvim_list_wins()) do
                vim.api.nvim_win_call(win, function()
                    vim.fn.winrestview({ topline = 30 * index, lnum = 30 * index + 2, col = 3 })
                end)
            end",
        json!([]),
    );
    let before: Value = world.nvim.lua(views, json!([]));
    fs::write(&path, lines("new")).unwrap();
    wait_first_line(&world, "new 1");
    let after: Value = world.nvim.lua(views, json!([]));
    assert_eq!(after, before);
    fs::write(path.with_extension("new"), lines("replaced")).unwrap();
    fs::rename(path.with_extension("new"), &path).unwrap();
    wait_first_line(&world, "replaced 1");
    assert_eq!(told(&world, "Pillion:"), 0, "{}", world.nvim.messages());
    world.nvim.assert_no_errors();
}

/// An agent adds lines above, and changes one: everything stays at its text, and one undo takes all of it back.
#[each_neovim]
fn what_is_on_the_screen_stays_at_its_text(version: NvimVersion) {
    let (world, _agent, path) = with_agent(version);
    let_it_look(&world);
    world
        .nvim
        .command("set scrolloff=0 foldmethod=manual | 20,25fold | normal! zR");
    world.nvim.command("30mark a | split");
    world.nvim.lua::<()>(
        "vim.g.space = vim.api.nvim_create_namespace('somebody')
            vim.g.extmark = vim.api.nvim_buf_set_extmark(0, vim.g.space, 29, 0, {})
            for index, win in ipairs(vim.api.nvim_list_wins()) do
                vim.api.nvim_win_call(win, function()
                    vim.fn.winrestview({ topline = 35 * index, lnum = 35 * index + 2, col = 3 })
                end)
            end",
        json!([]),
    );
    let places = "local views = vim.tbl_map(function(win)
                return { vim.fn.getwininfo(win)[1].topline, vim.api.nvim_win_get_cursor(win) }
            end, vim.api.nvim_list_wins())
            local mark, folds = vim.fn.line(\"'a\"), { vim.fn.foldlevel(20), vim.fn.foldlevel(27) }
            local extmark = vim.api.nvim_buf_get_extmark_by_id(0, vim.g.space, vim.g.extmark, {})[1]
            return { views, mark, folds, extmark }";
    let before: Value = world.nvim.lua(places, json!([]));
    assert_eq!(
        before,
        json!([[[35, [37, 3]], [70, [72, 3]]], 30, [1, 0], 29])
    );
    let changed = lines("line").replace("line 50\n", "changed\n");
    fs::write(&path, format!("import a\nimport b\n{changed}")).unwrap();
    wait_first_line(&world, "import a");
    let after: Value = world.nvim.lua(places, json!([]));
    assert_eq!(
        after,
        json!([[[37, [39, 3]], [72, [74, 3]]], 32, [0, 1], 31])
    );
    let is_modified = "return vim.bo.modified";
    assert!(!world.nvim.lua::<bool>(is_modified, json!([])));
    world.nvim.command("silent undo");
    wait_first_line(&world, "line 1");
    let line: String = world.nvim.lua("return vim.fn.getline(50)", json!([]));
    assert_eq!(line, "line 50");
    assert!(world.nvim.lua::<bool>(is_modified, json!([])));
    // Nobody is asked whether what the agent wrote may be written over.
    world.nvim.command("silent write");
    assert_eq!(fs::read_to_string(&path).unwrap(), lines("line"));
    assert_eq!(world.nvim.blocked_in(), None);
    world.nvim.assert_no_errors();
}

/// An agent writes all lines of a mixed file with CRLF, or a whole file with LF.
#[each_neovim]
fn a_file_that_gets_other_line_endings_is_read_with_them(version: NvimVersion) {
    let (world, _agent, path) = with_agent(version);
    world.nvim.command("set autoread fileformats=unix,dos");
    for (before, after, format, first) in [
        ("a\r\nb\n", "c\r\nd\r\n", "dos", "c"),
        ("a\r\nb\r\n", "e\nf\n", "unix", "e"),
        ("a\r\nb\n", "g\r\nh\ni\r\n", "unix", "g\r"),
    ] {
        fs::write(&path, before).unwrap();
        world.nvim.command("edit!");
        let_it_look(&world);
        fs::write(&path, after).unwrap();
        wait_first_line(&world, first);
        let found: Value = world
            .nvim
            .lua("return { vim.bo.fileformat, vim.bo.modified }", json!([]));
        assert_eq!(found, json!([format, false]), "{after:?}");
        let local: String = world.nvim.lua(
            "return vim.api.nvim_exec('setlocal autoread?', true)",
            json!([]),
        );
        assert_eq!(local, "--autoread");
    }
    // Read so on purpose.
    fs::write(&path, "a\r\nb\r\n").unwrap();
    world.nvim.command("edit! ++ff=unix");
    let_it_look(&world);
    fs::write(&path, "j\r\nk\r\n").unwrap();
    wait_first_line(&world, "j\r");
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn a_modified_buffer_is_left_alone_and_said_once(version: NvimVersion) {
    let (world, _agent, path) = with_agent(version);
    world.nvim.command("call setline(1, 'mine')");
    let_it_look(&world);
    for word in ["theirs", "theirs again"] {
        fs::write(&path, lines(word)).unwrap();
        let_it_look(&world);
    }
    world.nvim.wait_until(
        "the message",
        "vim.api.nvim_exec('messages', true):find('first.txt changed on disk:') ~= nil",
    );
    let_it_look(&world);
    assert_eq!(
        told(&world, "changed on disk: :e! loads it, :w! keeps yours"),
        1
    );
    wait_first_line(&world, "mine");
    assert_eq!(world.nvim.blocked_in(), None);
    world.nvim.command("silent undo");
    wait_first_line(&world, "theirs again 1");
}

#[each_neovim]
fn a_buffer_with_the_very_text_that_was_written_counts_as_written(version: NvimVersion) {
    let (world, _agent, path) = with_agent(version);
    world.nvim.command("call setline(1, 'accepted')");
    let_it_look(&world);
    fs::write(&path, lines("line").replacen("line 1\n", "accepted\n", 1)).unwrap();
    world
        .nvim
        .wait_until("not modified", "vim.bo.modified == false");
    assert_eq!(told(&world, "Pillion:"), 0, "{}", world.nvim.messages());
}

#[each_neovim]
fn a_deleted_file_leaves_its_text_and_comes_back(version: NvimVersion) {
    let (world, _agent, path) = with_agent(version);
    let_it_look(&world);
    fs::remove_file(&path).unwrap();
    world.nvim.wait_until(
        "the message",
        "vim.api.nvim_exec('messages', true):find('first.txt was deleted on disk') ~= nil",
    );
    wait_first_line(&world, "line 1");
    assert_eq!(world.nvim.blocked_in(), None);
    fs::write(&path, lines("back")).unwrap();
    wait_first_line(&world, "back 1");
}

#[each_neovim]
fn a_file_that_the_agent_makes_fills_the_buffer_that_waited_for_it(version: NvimVersion) {
    let (world, _agent, path) = with_agent(version);
    let new = path.with_file_name("new.txt");
    world.nvim.command(&format!("edit {}", new.display()));
    fs::write(&new, lines("made")).unwrap();
    wait_first_line(&world, "made 1");
    let other = path.with_file_name("other.txt");
    world.nvim.command(&format!("edit {}", other.display()));
    world.nvim.command("call setline(1, 'mine')");
    fs::write(&other, lines("made")).unwrap();
    world.nvim.wait_until(
        "the message",
        "vim.api.nvim_exec('messages', true):find('other.txt changed on disk:') ~= nil",
    );
    wait_first_line(&world, "mine");
    assert_eq!(world.nvim.blocked_in(), None);
}

#[each_neovim]
fn new_permissions_are_nobodys_business(version: NvimVersion) {
    use std::os::unix::fs::PermissionsExt;
    let (world, _agent, path) = with_agent(version);
    let_it_look(&world);
    world
        .nvim
        .lua::<()>("vim.b.changedtick_before = vim.b.changedtick", json!([]));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let_it_look(&world);
    let same: bool = world.nvim.lua(
        "return vim.b.changedtick_before == vim.b.changedtick",
        json!([]),
    );
    assert!(same);
    assert_eq!(told(&world, "Pillion:"), 0, "{}", world.nvim.messages());
}

#[each_neovim]
fn a_hidden_buffer_is_read_again_when_its_file_is_expected(version: NvimVersion) {
    let (world, _agent, path) = with_agent(version);
    world.nvim.command("enew");
    world
        .nvim
        .lua::<()>("require('pillion.reload').expect(...)", json!([path]));
    fs::write(&path, lines("accepted")).unwrap();
    world.nvim.wait_until(
        "the hidden buffer read again",
        "vim.fn.getbufline('first.txt', 1)[1] == 'accepted 1'",
    );
}

#[each_neovim]
fn going_back_to_a_changed_buffer_asks_nothing(version: NvimVersion) {
    let (world, _agent, path) = with_agent(version);
    world.nvim.command("call setline(1, 'mine') | enew");
    let_it_look(&world);
    fs::write(&path, lines("theirs")).unwrap();
    world.nvim.wait_until(
        "the message",
        "vim.api.nvim_exec('messages', true):find('first.txt changed on disk:') ~= nil",
    );
    world.nvim.command("buffer first.txt");
    wait_first_line(&world, "mine");
    assert_eq!(told(&world, "W12"), 0, "{}", world.nvim.messages());
}

/// Neovim looks by itself, before any event that could be answered earlier.
#[each_neovim]
fn entering_a_hidden_buffer_whose_file_changed_asks_nothing(version: NvimVersion) {
    let (world, agent, path) = with_agent(version);
    world.nvim.command("enew");
    fs::write(&path, lines("theirs")).unwrap();
    world.nvim.command("buffer first.txt");
    wait_first_line(&world, "theirs 1");
    assert_eq!(told(&world, "W1"), 0, "{}", world.nvim.messages());
    world
        .nvim
        .command("autocmd FileChangedShell *.txt let g:asked = v:fcs_reason");
    world.nvim.command("enew");
    fs::write(&path, lines("not wanted")).unwrap();
    world.nvim.command("buffer first.txt");
    let asked: String = world.nvim.lua("return vim.g.asked", json!([]));
    assert_eq!(asked, "changed");
    wait_first_line(&world, "theirs 1");
    agent.disconnect();
}

#[each_neovim]
fn without_an_agent_neovim_asks_as_ever(version: NvimVersion) {
    let home = Home::new();
    let path = home.file("first.txt", lines("line"));
    let tmux = Tmux::start();
    let nvim = setup(version, &home)
        .arg(&path)
        .in_tmux(&tmux, Size::new(80, 24));
    let world = World { nvim, home };
    world.wait_running();
    world
        .nvim
        .command("set noautoread | autocmd FileChangedShell *.other let g:asked = 1");
    world.nvim.command("enew");
    fs::write(&path, lines("theirs")).unwrap();
    world.nvim.input(":buffer first.txt<CR>");
    world.nvim.pane().wait_for("W11", SOON);
    world.nvim.input("L");
    wait_first_line(&world, "theirs 1");
}

#[each_neovim]
fn nothing_is_read_while_a_command_is_typed(version: NvimVersion) {
    let (world, _agent, path) = with_agent(version);
    let_it_look(&world);
    world.nvim.input(":echo 1");
    world
        .nvim
        .wait_until("the command line", "vim.api.nvim_get_mode().mode == 'c'");
    fs::write(&path, lines("new")).unwrap();
    let_it_look(&world);
    wait_first_line(&world, "line 1");
    world.nvim.input("<Esc>");
    wait_first_line(&world, "new 1");
}

#[each_neovim]
fn peoples_own_answers_stay_in_charge_of_what_they_check_themselves(version: NvimVersion) {
    let (world, agent, path) = with_agent(version);
    world
        .nvim
        .command("autocmd FileChangedShell * let g:asked = v:fcs_reason");
    fs::write(&path, lines("new")).unwrap();
    wait_first_line(&world, "new 1");
    world.nvim.command("unlet g:asked");
    agent.disconnect();
    world.nvim.command("Pillion stop");
    world
        .nvim
        .wait_until("the end", "require('pillion.client').phase() == 'stopped'");
    fs::write(&path, lines("later")).unwrap();
    world.nvim.command("checktime");
    let asked: String = world.nvim.lua("return vim.g.asked", json!([]));
    assert_eq!(asked, "changed");
    wait_first_line(&world, "new 1");
}

/// With the focus Neovim looks by itself, and asks.
#[each_neovim]
fn coming_back_to_neovim_asks_nothing(version: NvimVersion) {
    let home = Home::new();
    let path = home.file("first.txt", lines("line"));
    let new = home.workspace().join("new.txt");
    let tmux = Tmux::start();
    let nvim = setup(version, &home)
        .arg(&path)
        .in_tmux(&tmux, Size::new(80, 24));
    let world = World { nvim, home };
    world.wait_running();
    let _agent = world.gemini();
    world.nvim.command("call setline(1, 'mine')");
    world
        .nvim
        .command(&format!("new {} | call setline(1, 'mine')", new.display()));
    let_it_look(&world);
    fs::write(&path, lines("theirs")).unwrap();
    fs::write(&new, lines("theirs")).unwrap();
    world.nvim.pane().type_text("\u{1b}[I");
    world.nvim.wait_until(
        "both messages",
        "vim.api.nvim_exec('messages', true):find('first.txt changed on disk:') ~= nil \
         and vim.api.nvim_exec('messages', true):find('new.txt changed on disk:') ~= nil",
    );
    assert_eq!(world.nvim.blocked_in(), None);
    world.nvim.input("itype on<Esc>");
    wait_first_line(&world, "type onmine");
}

#[each_neovim]
fn the_original_beside_a_proposal_follows_the_file(version: NvimVersion) {
    let (world, agent, path) = with_agent(version);
    agent.propose(&path, "proposed\n");
    world
        .nvim
        .wait_until("the view", "#require('pillion.diff').list() == 1");
    fs::write(&path, lines("new")).unwrap();
    world.nvim.wait_until(
        "the original read again",
        "vim.fn.getbufline('first.txt', 1)[1] == 'new 1'",
    );
    world.nvim.assert_no_errors();
}

/// The answer to Neovim's question is typed ahead, and must reach nobody else.
#[each_neovim]
fn a_created_file_disturbs_no_typing(version: NvimVersion) {
    let home = Home::new();
    let agents = StandIns::install(&home);
    let new = home.workspace().join("new.txt");
    let first = home.file("first.txt", "");
    let tmux = Tmux::start();
    let nvim = agents
        .found_by(setup(version, &home))
        .arg(first)
        .in_tmux(&tmux, Size::new(120, 24));
    let world = World { nvim, home };
    world.wait_running();
    world
        .nvim
        .command(&format!("edit {} | call setline(1, 'mine')", new.display()));
    world.nvim.command("Pillion run gemini");
    let gemini = agents.one("gemini");
    world
        .nvim
        .wait_until("typing to it", "vim.api.nvim_get_mode().mode == 't'");
    let_it_look(&world);
    fs::write(&new, lines("theirs")).unwrap();
    world.nvim.wait_until(
        "the message",
        "vim.api.nvim_exec('messages', true):find('new.txt changed on disk:') ~= nil",
    );
    world.nvim.input("typed on");
    assert_eq!(gemini.typed("typed on"), "typed on");
    world.nvim.input("<C-\\><C-n>:Pillion run gemini<CR>GA end");
    wait_first_line(&world, "mine end");
    assert_eq!(world.nvim.mode(), "i");
}

#[each_neovim]
fn a_file_that_gets_another_encoding_is_read_in_it(version: NvimVersion) {
    let (world, _agent, path) = with_agent(version);
    for (before, opened, after, encoding, first) in [
        (
            &b"caf\xe9\n"[..],
            "++enc=latin1",
            "na\u{ef}ve\n".as_bytes(),
            "utf-8",
            "na\u{ef}ve",
        ),
        (
            &b"\x93\xfa\x96\x7b\n"[..],
            "++enc=cp932",
            "\u{65e5}\n".as_bytes(),
            "utf-8",
            "\u{65e5}",
        ),
        (&b"\xff\xfea\0\n\0"[..], "", "b\n".as_bytes(), "utf-8", "b"),
        (
            "\u{e9}\n".as_bytes(),
            "",
            &b"\xe9t\xe9\n"[..],
            "latin1",
            "\u{e9}t\u{e9}",
        ),
    ] {
        fs::write(&path, before).unwrap();
        world.nvim.command(&format!("edit! {opened}"));
        let_it_look(&world);
        fs::write(&path, after).unwrap();
        wait_first_line(&world, first);
        let found: Value = world
            .nvim
            .lua("return { vim.bo.fileencoding, vim.bo.modified }", json!([]));
        assert_eq!(found, json!([encoding, false]), "{opened}");
    }
    world.nvim.assert_no_errors();
}
