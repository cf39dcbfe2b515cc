//! The changes that agents have written already: listed, kept and taken back, in files and in buffers.

use std::fs;
use std::path::PathBuf;

use pillion_testkit::{Home, NvimVersion, each_neovim};
use pillion_view::LOOK;
use serde_json::{Value, json};

use crate::world::World;

const BEFORE: &str = "a\nb\nc\nd\ne\nf\ng\nh\n";
const AFTER: &str = "a\nB\nc\nd\ne\nf\nG\nG2\nh\n";

/// An agent has written two hunks of `first.txt`, and made `new.txt` and a binary file.
fn world(version: NvimVersion) -> (World, PathBuf) {
    let home = Home::new();
    let path = home.file("first.txt", BEFORE);
    let number = home.agents_turn("change letters", |folder| {
        fs::write(folder.join("first.txt"), AFTER).unwrap();
        fs::write(folder.join("new.txt"), "new\n").unwrap();
        fs::write(folder.join("picture"), b"\0\xff").unwrap();
    });
    assert_eq!(number, 1);
    let world = World::with(version, home, &[("first.txt", AFTER)], |setup| setup);
    (world, path)
}

fn list(world: &World) -> Vec<(String, i64, i64)> {
    let items: Vec<Value> = world.nvim.lua(
        "return vim.tbl_map(function(item)
            local name = item.bufnr > 0 and vim.fn.fnamemodify(vim.api.nvim_buf_get_name(item.bufnr), ':t') or ''
            return { item.text .. (name ~= '' and ' ' .. name or ''), item.lnum, item.end_lnum }
        end, vim.fn.getqflist())",
        json!([]),
    );
    let items = items.into_iter();
    items
        .map(|it| serde_json::from_value(it).unwrap())
        .collect()
}

fn open_list(world: &World, command: &str) {
    world.nvim.command(command);
    world
        .nvim
        .wait_until("the list", "vim.bo.buftype == 'quickfix'");
}

/// Goes to a line of the list, and looks at it for long enough.
fn look_at(world: &World, line: u32) {
    world.nvim.command(&format!("call cursor({line}, 1)"));
    look(world);
}

fn look(world: &World) {
    world.nvim.command("doautocmd CursorMoved");
    let looked = format!("require('pillion.row').rested() >= {}", LOOK.as_millis());
    world.nvim.wait_until("a look", &looked);
}

fn lines(world: &World) -> String {
    let lines: Vec<String> = world.nvim.lua(
        "return vim.api.nvim_buf_get_lines(0, 0, -1, false)",
        json!([]),
    );
    lines.into_iter().map(|line| line + "\n").collect()
}

fn wait_lines(world: &World, text: &str) {
    let code = format!(
        "table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n') .. '\\n' == {text:?}"
    );
    world.nvim.wait_until(text, &code);
}

fn wait_told(world: &World, words: &str) {
    let code = format!("vim.api.nvim_exec('messages', true):find({words:?}, 1, true) ~= nil");
    world.nvim.wait_until(words, &code);
}

#[each_neovim]
fn the_list_leads_to_hunks_and_shows_what_became_of_them(version: NvimVersion) {
    let (world, _) = world(version);
    open_list(&world, "PillionChanges");
    let found = list(&world);
    assert!(
        found[0].0.starts_with("turn 1 of Claude Code, "),
        "{found:?}"
    );
    assert!(found[0].0.ends_with("\"change letters\""), "{found:?}");
    let rest: Vec<_> = found[1..]
        .iter()
        .map(|(text, first, last)| (text.as_str(), *first, *last))
        .collect();
    assert_eq!(
        rest,
        [
            ("1.1 unseen +1 -1: B first.txt", 2, 2),
            ("1.1 unseen +2 -1: G first.txt", 7, 8),
            ("1.2 unseen +1 -0: new new.txt", 1, 1),
            ("1.3 unseen  picture (new) picture", 1, 1),
        ]
    );
    look_at(&world, 4);
    world.nvim.command("PillionKeep");
    wait_told(&world, "1.2 new.txt: kept");
    world
        .nvim
        .wait_until("a shorter list", "#vim.fn.getqflist() == 4");
    // What was decided stays in the whole list.
    world.nvim.command("PillionChanges all");
    world
        .nvim
        .wait_until("all changes", "#vim.fn.getqflist() == 5");
    assert_eq!(list(&world)[3].0, "1.2 kept +1 -0: new new.txt");
    look_at(&world, 5);
    world.nvim.command("PillionTakeBack");
    wait_told(&world, "1.3 picture: taken back");
    assert!(!world.home.workspace().join("picture").exists());
    world.nvim.command("PillionUndo");
    wait_told(&world, "1.3 picture: is as the agent left it");
    assert_eq!(
        fs::read(world.home.workspace().join("picture")).unwrap(),
        b"\0\xff"
    );
    world.nvim.assert_no_errors();
}

/// A hunk is no file: what is kept has to be named. Undo is about what was done last.
#[each_neovim]
fn a_row_of_several_hunks_keeps_nothing_unasked_and_a_keep_is_undone(version: NvimVersion) {
    let (world, _) = world(version);
    open_list(&world, "PillionChanges");
    look_at(&world, 3);
    world.nvim.input(":PillionKeep<CR>");
    wait_told(&world, "1.1 has 2 hunks, and is kept as a whole: name it");
    assert_eq!(world.home.states_of(1)[0], "unseen");
    look_at(&world, 3);
    world.nvim.input(":PillionKeep!<CR>");
    world.home.wait_state(1, "kept");
    world.nvim.input(":PillionUndo<CR>");
    wait_told(&world, "1.1 first.txt: is not kept any more");
    assert_eq!(world.home.states_of(1)[0], "unseen");
    world.nvim.input(":PillionUndo<CR>");
    wait_told(&world, "nothing");
    world.nvim.assert_no_errors();
}

/// What is drawn in the buffer: the signs by line, and the virtual lines.
const MARKS: &str = "local space = vim.api.nvim_create_namespace('pillion_written')
    local signs, gone = {}, {}
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true })) do
        local about = mark[4]
        if about.sign_text then
            table.insert(signs, { mark[2] + 1, vim.trim(about.sign_text) })
        end
        for _, line in ipairs(about.virt_lines or {}) do
            table.insert(gone, { mark[2] + 1, vim.trim(vim.iter(line):map(function(it) return it[1] end):join('')) })
        end
    end
    return { signs, gone }";

fn wait_marks(world: &World, signs: usize) {
    let code = format!("#(function() {MARKS} end)()[1] == {signs}");
    world.nvim.wait_until("the marks", &code);
}

#[each_neovim]
fn what_an_agent_wrote_is_marked_in_the_buffer_until_it_is_decided(version: NvimVersion) {
    let (world, path) = world(version);
    wait_marks(&world, 3);
    let marks: Value = world.nvim.lua(MARKS, json!([]));
    assert_eq!(
        marks,
        json!([[[2, "~"], [7, "~"], [8, "+"]], [[2, "b"], [7, "g"]]])
    );
    let line = || world.nvim.lua::<u64>("return vim.fn.line('.')", json!([]));
    for (command, wanted) in [("Next", 2), ("Next", 7), ("Next", 7), ("Previous", 2)] {
        world.nvim.command(&format!("Pillion{command}Change"));
        assert_eq!(line(), wanted, "{command}");
    }
    wait_told(&world, "no more unseen changes here");
    // They move with the text.
    world.nvim.command("call append(0, ['mine', 'too'])");
    let moved: Value = world.nvim.lua(MARKS, json!([]));
    assert_eq!(moved[0], json!([[4, "~"], [9, "~"], [10, "+"]]));
    world.nvim.command("silent undo | 2 PillionTakeBack");
    wait_marks(&world, 2);
    let rest: Value = world.nvim.lua(MARKS, json!([]));
    assert_eq!(rest, json!([[[7, "~"], [8, "+"]], [[7, "g"]]]));
    world.nvim.command("PillionKeep 1.1");
    wait_marks(&world, 0);
    // Lines that are only gone.
    let text = fs::read_to_string(&path).unwrap().replace("c\nd\n", "");
    world
        .home
        .agents_turn("again", |_| fs::write(&path, &text).unwrap());
    world.nvim.command("checktime");
    wait_marks(&world, 1);
    let gone: Value = world.nvim.lua(MARKS, json!([]));
    assert_eq!(gone[1], json!([[3, "c"], [3, "d"]]));
    world.nvim.assert_no_errors();
}

/// The text of before has those whose lines it has.
#[each_neovim]
fn marks_go_and_come_back_with_what_was_read(version: NvimVersion) {
    let (world, path) = world(version);
    wait_marks(&world, 3);
    let before: Value = world.nvim.lua(MARKS, json!([]));
    let next = format!("import\n{AFTER}");
    let turn = world.home.agents_turn("again", |folder| {
        fs::write(&path, &next).unwrap();
        fs::write(folder.join("seen.txt"), "seen\n").unwrap();
    });
    // What is decided has views hear of it, as an agent's hook has.
    world.nvim.command(&format!("PillionKeep {turn}.2"));
    wait_marks(&world, 4);
    let found: Value = world.nvim.lua(MARKS, json!([]));
    for _ in 0..2 {
        world.nvim.input("u");
        wait_lines(&world, AFTER);
        wait_marks(&world, 3);
        assert_eq!(world.nvim.lua::<Value>(MARKS, json!([])), before);
        world.nvim.input("<C-r>");
        wait_marks(&world, 4);
        assert_eq!(world.nvim.lua::<Value>(MARKS, json!([])), found);
    }
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn what_an_agent_wrote_is_shown_beside_what_was_there(version: NvimVersion) {
    let (world, _) = world(version);
    open_list(&world, "PillionChanges");
    world.nvim.command("call cursor(2, 1) | PillionLook");
    let is_shown = "vim.wo.diff and vim.b.pillion_diff ~= nil";
    world.nvim.wait_until("the diff", is_shown);
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn a_hunk_is_taken_back_in_the_file_and_the_buffer_can_undo_it(version: NvimVersion) {
    let (world, path) = world(version);
    world.nvim.command("call cursor(2, 1) | PillionTakeBack");
    let taken = AFTER.replace('B', "b");
    wait_lines(&world, &taken);
    assert_eq!(fs::read_to_string(&path).unwrap(), taken);
    let is_modified: bool = world.nvim.lua("return vim.bo.modified", json!([]));
    assert!(!is_modified);
    // The rest of the change waits, and goes with it.
    world.nvim.command("8 PillionTakeBack");
    wait_lines(&world, BEFORE);
    wait_told(&world, "1.1 first.txt: taken back");
    world.nvim.command("undo");
    assert_eq!(lines(&world), taken, "the buffer's own undo");
    world.nvim.command("edit!");
    for text in [&taken, AFTER] {
        world.nvim.command("PillionUndo 1.1");
        wait_lines(&world, text);
        assert_eq!(fs::read_to_string(&path).unwrap(), *text);
    }
    // The agent goes on in that file.
    let next = AFTER.replace("c\n", "C\n");
    let number = world
        .home
        .agents_turn("again", |_| fs::write(&path, &next).unwrap());
    world.nvim.command("checktime");
    wait_lines(&world, &next);
    world.nvim.command("3 PillionTakeBack");
    wait_lines(&world, AFTER);
    wait_told(&world, &format!("{number}.1 first.txt: taken back"));
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn unsaved_lines_stay_and_nothing_is_saved(version: NvimVersion) {
    let (world, path) = world(version);
    world
        .nvim
        .command("call append(0, 'mine') | call setline(6, 'mine, too')");
    world.nvim.command("PillionTakeBack!");
    let merged = "mine\na\nb\nc\nd\nmine, too\nf\ng\nh\n";
    wait_lines(&world, merged);
    wait_told(&world, "which has unsaved changes: save it");
    assert_eq!(fs::read_to_string(&path).unwrap(), AFTER, "not saved");
    world.nvim.command("undo");
    assert_eq!(lines(&world), "mine\na\nB\nc\nd\nmine, too\nf\nG\nG2\nh\n");
    world.nvim.command("redo | write");
    assert_eq!(fs::read_to_string(&path).unwrap(), merged);
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn a_conflict_changes_nothing_and_is_said(version: NvimVersion) {
    let (world, path) = world(version);
    world.nvim.command("call setline(2, 'mine')");
    let buffer = lines(&world);
    world.nvim.command("PillionTakeBack!");
    wait_told(&world, "has changed since, in 1 of the same places");
    world.nvim.command("2 PillionTakeBack");
    wait_told(
        &world,
        "nothing of an agent's change can be taken back by itself",
    );
    assert_eq!(lines(&world), buffer);
    assert_eq!(fs::read_to_string(&path).unwrap(), AFTER);
    // The other hunk goes by itself.
    world.nvim.command("7 PillionTakeBack");
    wait_lines(&world, "a\nmine\nc\nd\ne\nf\ng\nh\n");
    world.nvim.assert_no_errors();
}

/// In each state of the buffer: what nobody has open is written, too.
#[each_neovim]
fn a_turn_is_taken_back_in_files_and_buffers_at_once(version: NvimVersion) {
    let (world, path) = world(version);
    world.nvim.command("call setline(9, 'mine')");
    world.nvim.command("PillionTakeBack 1");
    wait_lines(&world, "a\nb\nc\nd\ne\nf\ng\nmine\n");
    wait_told(&world, "1.2 new.txt: taken back");
    assert!(!world.home.workspace().join("new.txt").exists());
    assert_eq!(fs::read_to_string(&path).unwrap(), AFTER, "not saved");
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn the_agent_is_told_why_something_was_taken_back_or_kept(version: NvimVersion) {
    let (world, path) = world(version);
    let said = |id: &str, words: &str| (id.to_owned(), words.to_owned());
    world.nvim.command("2 PillionTakeBack use the | \"table\"");
    wait_lines(&world, &AFTER.replace('B', "b"));
    assert_eq!(world.home.said_of(1), [said("1.1", "use the | \"table\"")]);
    // A number may be part of the reason: that is asked for, and nothing happens.
    for words in ["7 spaces", "1.1 is too low", "1:2 it is"] {
        world.nvim.input(&format!(":7 PillionTakeBack {words}<CR>"));
        wait_told(&world, "may be a change: write `");
        world.nvim.command("messages clear");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), AFTER.replace('B', "b"));
    world.nvim.command("PillionKeep 1.2: good, and : short");
    wait_told(&world, "1.2 new.txt: kept");
    world.nvim.command("7 PillionTakeBack 2nd G is too many");
    wait_lines(&world, BEFORE);
    let rest = said("1.1", "2nd G is too many, use the | \"table\"");
    let kept = said("1.2", "good, and : short");
    assert_eq!(world.home.said_of(1), [rest, kept]);
    // In the list, and of a turn as a whole.
    open_list(&world, "PillionChanges");
    look_at(&world, 2);
    world.nvim.command("PillionKeep fine");
    wait_told(&world, "1.3 picture: kept");
    assert_eq!(world.home.said_of(1)[2], said("1.3", "fine"));
    world.nvim.command("PillionTakeBack 1: all of it");
    wait_told(&world, "1.3 picture: left out, as you kept it");
    let all = world.home.said_of(1);
    assert_eq!(
        all[1..],
        [said("1.2", "good, and : short"), said("1.3", "fine")]
    );
}

/// The agent goes on while a command is typed: what comes above in the list does not move what is meant.
#[each_neovim]
fn a_command_is_about_the_line_under_the_cursor_when_it_was_begun(version: NvimVersion) {
    let (world, path) = world(version);
    let number = "require('pillion.client').state.changes";
    let later = |turn: u64| {
        let made = world.home.agents_turn("again", |folder| {
            for name in [&*format!("later-{turn}.txt"), "seen.txt"] {
                fs::write(folder.join(name), format!("{turn}\n")).unwrap();
            }
        });
        assert_eq!(made, turn);
        // Something is decided in another place: the list follows.
        let known: Value = world.nvim.lua(&format!("return {number}"), json!([]));
        let request = "local client, method, params = require('pillion.client'), ...
            vim.g.is_answered = false
            client.request(method, params, function() vim.g.is_answered = true end)";
        let ask = |method: &str, params: Value| {
            let _: Value = world.nvim.lua(request, json!([method, params]));
            world.nvim.wait_until("an answer", "vim.g.is_answered");
        };
        ask("pillion/keep", json!({"id": format!("{turn}.2")}));
        let is_other = format!("{number} ~= {}", known.to_string().replace("null", "nil"));
        world.nvim.wait_until("another list", &is_other);
        ask("pillion/changes", json!({"all": true}));
    };
    let on_top = |turn: u64| {
        let code = format!("vim.fn.getqflist()[1].text:find('turn {turn} ', 1, true) ~= nil");
        world.nvim.wait_until("the new turn", &code);
    };
    open_list(&world, "PillionChanges");
    // Nothing is typed: the cursor goes with its line.
    world.nvim.command("call cursor(3, 1)");
    later(2);
    on_top(2);
    for (turn, command, id) in [(3, "TakeBack one", "1.1"), (4, "Keep two", "1.2")] {
        // What the last command did is listed.
        let line = format!("vim.api.nvim_get_current_line():find('{id} ', 1, true) ~= nil");
        world.nvim.wait_until("its line", &line);
        look(&world);
        world.nvim.input(&format!(":Pillion{command}"));
        world
            .nvim
            .wait_until("a command line", "vim.fn.mode() == 'c'");
        later(turn);
        world.nvim.input("<CR>");
        wait_told(&world, &format!("{id} "));
        on_top(turn);
    }
    let said = |id: &str, words: &str| (id.to_owned(), words.to_owned());
    assert_eq!(
        world.home.said_of(1),
        [said("1.1", "one"), said("1.2", "two")]
    );
    assert_eq!(
        fs::read_to_string(path).unwrap(),
        AFTER.replace("G\nG2", "g")
    );
    for turn in 2..=4 {
        assert_eq!(world.home.states_of(turn), ["unseen", "kept"]);
    }
    world.nvim.assert_no_errors();
}

/// The file was written, or only the buffer was changed.
#[each_neovim]
fn what_the_editor_undoes_counts_when_it_is_saved(version: NvimVersion) {
    let (world, path) = world(version);
    world.nvim.command("PillionTakeBack!");
    wait_lines(&world, BEFORE);
    wait_told(&world, "1.1 first.txt: taken back");
    world.nvim.command("undo");
    assert_eq!(world.home.states_of(1)[0], "taken back", "nothing is saved");
    world.nvim.command("write");
    world.home.wait_state(1, "unseen");
    assert_eq!(fs::read_to_string(&path).unwrap(), AFTER);
    world
        .nvim
        .command("call append(0, 'mine') | 3 PillionTakeBack");
    wait_lines(&world, &format!("mine\n{}", AFTER.replace('B', "b")));
    world.nvim.command("8 PillionTakeBack");
    wait_lines(&world, &format!("mine\n{BEFORE}"));
    world.home.wait_state(1, "taken back");
    world.nvim.command("write");
    world.nvim.command("undo | undo | write");
    world.home.wait_state(1, "unseen");
    assert_eq!(fs::read_to_string(&path).unwrap(), format!("mine\n{AFTER}"));
    world.nvim.assert_no_errors();
}

/// The lines that move up under it were not looked at.
#[each_neovim]
fn a_held_key_decides_about_one_line_of_the_list(version: NvimVersion) {
    let home = Home::new();
    home.file("first.txt", BEFORE);
    home.agents_turn("many", |folder| {
        for nth in 0..20 {
            fs::write(folder.join(format!("new-{nth}.txt")), "new\n").unwrap();
        }
    });
    let world = World::with(version, home, &[("first.txt", BEFORE)], |setup| setup);
    open_list(&world, "PillionChanges");
    world.nvim.command("nnoremap K <Cmd>PillionKeep<CR>");
    look_at(&world, 2);
    for _ in 0..20 {
        world.nvim.input("K");
    }
    wait_told(&world, "this line has only just come under the cursor");
    world.home.wait_state(1, "kept");
    let kept = |world: &World| {
        let states = world.home.states_of(1).into_iter();
        states.filter(|state| *state == "kept").count()
    };
    let before = kept(&world);
    assert!(before < 20, "{before}");
    // Released, and looked at.
    look_at(&world, 3);
    world.nvim.input("K");
    world.nvim.wait_until(
        "one more",
        &format!("#vim.fn.getqflist() < {}", 21 - before),
    );
    assert!(kept(&world) > before);
    world.nvim.assert_no_errors();
}

/// Nothing is taken back from a text that was not there to be seen. What is read stays in place, and is one step to undo.
#[each_neovim]
fn a_buffer_is_read_again_before_anything_is_taken_back(version: NvimVersion) {
    let (world, path) = world(version);
    world.nvim.command("5mark a | call cursor(7, 1)");
    let next = format!("import\nimport, too\n{AFTER}").replace("c\n", "C\n");
    // Before Neovim hears of it.
    let keep = format!(
        "lua local file = io.open({path:?}, 'wb') file:write({next:?}) file:close() vim.cmd('PillionKeep!')"
    );
    world
        .home
        .agents_turn("again", |_| world.nvim.command(&keep));
    wait_told(&world, "look at it, then do the same again");
    wait_lines(&world, &next);
    assert_eq!(world.home.states_of(2), ["unseen"]);
    let places: (u32, u32, bool) = world.nvim.lua(
        "return { vim.fn.line(\"'a\"), vim.fn.line('.'), vim.bo.modified }",
        json!([]),
    );
    assert_eq!(places, (7, 9, false));
    assert_eq!(fs::read_to_string(&path).unwrap(), next);
    world.nvim.command("PillionTakeBack");
    wait_lines(&world, &next.replace("G\nG2", "g"));
    world.nvim.command("undo | undo");
    wait_lines(&world, AFTER);
    // Its lines are not those of the file.
    for command in ["PillionKeep", "PillionKeep!"] {
        world.nvim.command("messages clear");
        world.nvim.command(command);
        wait_told(&world, "the buffer differs from its file");
    }
    assert_eq!(world.home.states_of(1)[0], "unseen");
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn what_was_decided_is_listed(version: NvimVersion) {
    let (world, _) = world(version);
    world.nvim.command("PillionKeep 1.2");
    wait_told(&world, "1.2 new.txt: kept");
    world.nvim.command("PillionLog");
    world.nvim.wait_until(
        "the decision",
        "vim.bo.buftype == 'nofile' and vim.fn.search('kept.*new.txt', 'nw') > 0",
    );
    world.nvim.assert_no_errors();
}

/// Nobody has seen what has come under the cursor just now.
#[each_neovim]
fn what_has_just_been_read_is_not_kept(version: NvimVersion) {
    let (world, path) = world(version);
    let next = AFTER.replace("B\n", "B, rewritten\n");
    world.nvim.command("call cursor(2, 1)");
    let keep = "lua vim.cmd('PillionKeep') vim.cmd('PillionKeep')";
    world
        .home
        .agents_turn("again", |_| fs::write(&path, &next).unwrap());
    world.nvim.command(keep);
    wait_told(
        &world,
        "first.txt only just now: look at it, then do the same again",
    );
    wait_lines(&world, &next);
    assert_eq!(world.home.states_of(2), ["unseen"]);
    let again = || world.nvim.command("PillionKeep");
    world.home.wait_state_by(2, "kept", again);
    world.nvim.assert_no_errors();
}
