//! The changes that agents have written already: listed, kept and taken back, in files and in buffers.

use std::fs;
use std::path::{Path, PathBuf};

use pillion_testkit::{Home, Size, VimVersion, each_vim};
use pillion_view::LOOK;
use serde_json::Value;

use crate::world::World;

const BEFORE: &str = "a\nb\nc\nd\ne\nf\ng\nh\n";
const AFTER: &str = "a\nB\nc\nd\ne\nf\nG\nG2\nh\n";

/// An agent has written two hunks of `first.txt`, and made `new.txt`.
fn world(version: VimVersion) -> (World, PathBuf) {
    let home = Home::new();
    let path = home.file("first.txt", BEFORE);
    home.agents_turn("change letters", |folder| {
        fs::write(folder.join("first.txt"), AFTER).unwrap();
        fs::write(folder.join("new.txt"), "new\n").unwrap();
    });
    let world = World::with(version, home, &[("first.txt", AFTER)], |setup| setup);
    (world, path)
}

fn wait_lines(world: &World, text: &str) {
    let lines = text.trim_end().replace('\n', ",");
    world
        .vim
        .wait_until(text, &format!("join(getline(1, '$'), ',') == '{lines}'"));
}

fn read(path: &PathBuf) -> String {
    fs::read_to_string(path).unwrap()
}

/// Goes to a line of the list, and looks at it for long enough.
fn look_at(world: &World, line: u32) {
    world.vim.command(&format!("call cursor({line}, 1)"));
    look(world);
}

fn look(world: &World) {
    world.vim.command("doautocmd CursorMoved");
    let looked = format!("pillion#row#Rested() >= {}", LOOK.as_millis());
    world.vim.wait_until("a look", &looked);
}

#[each_vim]
fn the_list_leads_to_hunks_and_what_is_in_it_is_decided(version: VimVersion) {
    let (world, path) = world(version);
    world.vim.command("PillionChanges");
    world.vim.wait_until("the list", "&buftype == 'quickfix'");
    let found: Vec<(String, i64, i64)> = world
        .vim
        .get("mapnew(getqflist(), {_, item -> [item.text, item.lnum, item.end_lnum]})");
    assert!(found[0].0.starts_with("turn 1 of Claude Code, "));
    let rest = [
        ("1.1 unseen +1 -1: B", 2, 2),
        ("1.1 unseen +2 -1: G", 7, 8),
        ("1.2 unseen +1 -0: new", 1, 1),
    ];
    let rest = rest.map(|(text, first, last)| (text.to_owned(), first, last));
    assert_eq!(found[1..], rest);
    look_at(&world, 4);
    world.vim.command("PillionKeep");
    world.vim.wait_said("1.2 new.txt: kept");
    world
        .vim
        .wait_until("a shorter list", "len(getqflist()) == 3");
    look_at(&world, 3);
    world.vim.command("PillionTakeBack");
    world.vim.wait_until("one hunk", "len(getqflist()) == 2");
    assert_eq!(read(&path), AFTER.replace("G\nG2", "g"));
    world.vim.command("PillionTakeBack 1.1");
    world.vim.wait_until("an empty list", "empty(getqflist())");
    assert_eq!(read(&path), BEFORE);
    world.vim.assert_no_errors();
}

/// A hunk is no file: what is kept has to be named. Undo is about what was done last.
#[each_vim]
fn a_row_of_several_hunks_keeps_nothing_unasked_and_a_keep_is_undone(version: VimVersion) {
    let (world, _) = world(version);
    world.vim.command("PillionChanges");
    world.vim.wait_until("the list", "&buftype == 'quickfix'");
    look_at(&world, 3);
    world.vim.command("PillionKeep");
    world
        .vim
        .wait_said("1.1 has 2 hunks, and is kept as a whole: name it");
    assert_eq!(world.home.states_of(1)[0], "unseen");
    look_at(&world, 3);
    world.vim.command("PillionKeep!");
    world.home.wait_state(1, "kept");
    world.vim.command("PillionUndo");
    world.vim.wait_said("1.1 first.txt: is not kept any more");
    assert_eq!(world.home.states_of(1)[0], "unseen");
    world.vim.command("PillionLook 1.1");
    world.vim.wait_until("the diff", "&diff");
    world.vim.assert_no_errors();
}

#[each_vim]
fn a_hunk_is_taken_back_in_the_file_and_the_buffer_can_undo_it(version: VimVersion) {
    let (world, path) = world(version);
    let taken = AFTER.replace('B', "b");
    world.vim.command("call cursor(2, 1) | PillionTakeBack");
    wait_lines(&world, &taken);
    assert_eq!(read(&path), taken);
    world.vim.command("8 PillionTakeBack");
    wait_lines(&world, BEFORE);
    assert!(!world.vim.get::<bool>("&modified ? v:true : v:false"));
    world.vim.command("undo");
    wait_lines(&world, &taken);
    world.vim.command("edit!");
    for text in [&taken, AFTER] {
        world.vim.command("PillionUndo 1.1");
        wait_lines(&world, text);
        assert_eq!(read(&path), *text);
    }
    // The agent goes on in that file.
    let next = AFTER.replace("c\n", "C\n");
    world
        .home
        .agents_turn("again", |_| fs::write(&path, &next).unwrap());
    world.vim.command("edit");
    wait_lines(&world, &next);
    world.vim.command("3 PillionTakeBack");
    wait_lines(&world, AFTER);
    world.vim.wait_said("2.1 first.txt: taken back");
    world.vim.assert_no_errors();
}

#[each_vim]
fn unsaved_lines_stay_and_nothing_is_saved(version: VimVersion) {
    let (world, path) = world(version);
    world
        .vim
        .command("call append(0, 'mine') | call setline(6, 'mine, too')");
    world.vim.command("PillionTakeBack!");
    let merged = "mine\na\nb\nc\nd\nmine, too\nf\ng\nh\n";
    wait_lines(&world, merged);
    world.vim.wait_said("which has unsaved changes: save it");
    assert_eq!(read(&path), AFTER, "not saved");
    world.vim.command("undo");
    wait_lines(&world, "mine\na\nB\nc\nd\nmine, too\nf\nG\nG2\nh\n");
    world.vim.command("redo");
    wait_lines(&world, merged);
    world.vim.command("write");
    assert_eq!(read(&path), merged);
    world.vim.assert_no_errors();
}

#[each_vim]
fn a_conflict_changes_nothing_and_what_is_elsewhere_is_taken_back(version: VimVersion) {
    let (world, path) = world(version);
    world.vim.command("call setline(2, 'mine')");
    world.vim.command("PillionTakeBack!");
    world
        .vim
        .wait_said("has changed since, in 1 of the same places");
    wait_lines(&world, &AFTER.replace('B', "mine"));
    assert_eq!(read(&path), AFTER);
    world.vim.command("PillionTakeBack 1");
    world.vim.wait_said("1.2 new.txt: taken back");
    assert!(!world.home.workspace().join("new.txt").exists());
    wait_lines(&world, &AFTER.replace('B', "mine"));
    world.vim.command("7 PillionTakeBack");
    wait_lines(&world, "a\nmine\nc\nd\ne\nf\ng\nh\n");
    world.vim.assert_no_errors();
}

#[each_vim]
fn the_agent_is_told_why_something_was_taken_back_or_kept(version: VimVersion) {
    let (world, path) = world(version);
    let said = |id: &str, words: &str| (id.to_owned(), words.to_owned());
    world.vim.command("2 PillionTakeBack use the | \"table\"");
    wait_lines(&world, &AFTER.replace('B', "b"));
    assert_eq!(world.home.said_of(1), [said("1.1", "use the | \"table\"")]);
    // A number may be part of the reason: that is asked for, and nothing happens.
    for (words, number) in [
        ("7 spaces", "7"),
        ("1.1 is too low", "1.1"),
        ("1:2 it is", "1"),
    ] {
        world.vim.command(&format!("7 PillionTakeBack {words}"));
        world
            .vim
            .wait_said(&format!("{number} may be a change: write"));
    }
    assert_eq!(read(&path), AFTER.replace('B', "b"));
    world.vim.command("PillionKeep 1.2: good, and : short");
    world.vim.wait_said("1.2 new.txt: kept");
    world.vim.command("7 PillionTakeBack 2nd G is too many");
    wait_lines(&world, BEFORE);
    let rest = said("1.1", "2nd G is too many, use the | \"table\"");
    let kept = said("1.2", "good, and : short");
    assert_eq!(world.home.said_of(1), [rest, kept]);
    // Of a turn as a whole.
    world.vim.command("PillionTakeBack 1: all of it");
    world.vim.wait_said("1.2 new.txt: left out, as you kept it");
    assert_eq!(world.home.said_of(1)[1], said("1.2", "good, and : short"));
}

/// The agent goes on while a command is typed: what comes above in the list does not move what is meant.
#[each_vim]
fn a_command_is_about_the_line_under_the_cursor_when_it_was_begun(version: VimVersion) {
    let (world, path) = world(version);
    let later = |turn: u64| {
        let made = world.home.agents_turn("again", |folder| {
            for name in [&*format!("later-{turn}.txt"), "seen.txt"] {
                fs::write(folder.join(name), format!("{turn}\n")).unwrap();
            }
        });
        assert_eq!(made, turn);
        // Something is decided in another place: the list follows.
        let keep = format!("'pillion/keep', {{'id': '{turn}.2'}}, {{error, result -> 0}}");
        let _: Value = world.vim.get(&format!("pillion#client#Ask({keep})"));
    };
    let on_top = |turn: u64| {
        let is_there = format!("getqflist()[0].text =~ '^turn {turn} '");
        world.vim.wait_until("the new turn", &is_there);
    };
    world.vim.command("PillionChanges");
    world.vim.wait_until("the list", "&buftype == 'quickfix'");
    // Nothing is typed: the cursor goes with its line.
    world.vim.command("call cursor(3, 1)");
    later(2);
    on_top(2);
    for (turn, command, said) in [
        (3, "TakeBack one", "1.1 first.txt: taken back"),
        (4, "Keep two", "1.2 new.txt: kept"),
    ] {
        look(&world);
        world.vim.input(&format!(":Pillion{command}"));
        world.vim.wait_until("a command line", "mode() == 'c'");
        later(turn);
        world
            .vim
            .wait_until("an answer", "exists('#PillionChanges#CmdlineLeave')");
        world.vim.input("<CR>");
        world.vim.wait_said(said);
        on_top(turn);
    }
    let said = |id: &str, words: &str| (id.to_owned(), words.to_owned());
    assert_eq!(
        world.home.said_of(1),
        [said("1.1", "one"), said("1.2", "two")]
    );
    assert_eq!(read(&path), AFTER.replace("G\nG2", "g"));
    for turn in 2..=4 {
        assert_eq!(world.home.states_of(turn), ["unseen", "kept"]);
    }
    world.vim.assert_no_errors();
}

/// The file was written, or only the buffer was changed.
#[each_vim]
fn what_the_editor_undoes_counts_when_it_is_saved(version: VimVersion) {
    let (world, path) = world(version);
    world.vim.command("PillionTakeBack!");
    wait_lines(&world, BEFORE);
    world.vim.wait_said("1.1 first.txt: taken back");
    world.vim.command("undo");
    assert_eq!(world.home.states_of(1)[0], "taken back", "nothing is saved");
    world.vim.command("write");
    world.home.wait_state(1, "unseen");
    assert_eq!(read(&path), AFTER);
    world.vim.command("call append(0, 'mine')");
    world.vim.command("PillionTakeBack!");
    wait_lines(&world, &format!("mine\n{BEFORE}"));
    world.home.wait_state(1, "taken back");
    world.vim.command("write");
    world.vim.command("undo");
    world.vim.command("write");
    world.home.wait_state(1, "unseen");
    assert_eq!(read(&path), format!("mine\n{AFTER}"));
    world.vim.assert_no_errors();
}

const SIGNS: &str =
    "mapnew(sign_getplaced('%', {'group': '*'})[0].signs, {_, it -> [it.lnum, it.name]})";

fn wait_signs(world: &World, count: usize) {
    let are_there = format!("len({SIGNS}) == {count}");
    world.vim.wait_until("the marks", &are_there);
}

/// The text of before has those whose lines it has. What another window has in sight, and its folds, stay at their text.
#[each_vim]
fn marks_go_and_come_back_with_what_was_read(version: VimVersion) {
    let (world, path) = world(version);
    wait_signs(&world, 3);
    let before: Vec<(u32, String)> = world.vim.get(SIGNS);
    world
        .vim
        .command("split | setlocal foldmethod=manual | 5,6 fold | call cursor(8, 1) | wincmd w");
    let next = format!("import\n{AFTER}");
    let turn = world.home.agents_turn("again", |folder| {
        fs::write(&path, &next).unwrap();
        fs::write(folder.join("seen.txt"), "seen\n").unwrap();
    });
    // What is decided has views hear of it, as an agent's hook has.
    world.vim.command(&format!("PillionKeep {turn}.2"));
    wait_signs(&world, 4);
    let other = "line('.', win_getid(1)) .. win_execute(win_getid(1), 'echo foldclosed(7) foldclosedend(6)')";
    assert_eq!(world.vim.get::<String>(other), "9\n6 7");
    let found: Vec<(u32, String)> = world.vim.get(SIGNS);
    for _ in 0..2 {
        world.vim.input("u");
        wait_lines(&world, AFTER);
        wait_signs(&world, 3);
        assert_eq!(world.vim.get::<Vec<(u32, String)>>(SIGNS), before);
        world.vim.input(":redo<CR>");
        wait_signs(&world, 4);
        assert_eq!(world.vim.get::<Vec<(u32, String)>>(SIGNS), found);
    }
    world.vim.assert_no_errors();
}

/// Signs, the lines that were there before, and the way from one hunk to the next.
#[each_vim]
fn what_an_agent_has_written_is_marked_until_it_was_looked_at(version: VimVersion) {
    let (world, _) = world(version);
    let signs = SIGNS;
    wait_signs(&world, 3);
    let found: Vec<(u32, String)> = world.vim.get(signs);
    let change = "PillionChange".to_owned();
    assert_eq!(found, [2, 7, 8].map(|line| (line, change.clone())));
    let before: Vec<(u32, String)> = world.vim.get(
        "mapnew(filter(prop_list(1, {'end_lnum': -1}), {_, it -> it.type ==# 'PillionDelete'}),
          {_, it -> [it.lnum, it.text]})",
    );
    assert_eq!(before, [(2, "b".to_owned()), (7, "g".to_owned())]);
    for (command, line) in [
        ("PillionNextChange", 2),
        ("PillionNextChange", 7),
        ("PillionPreviousChange", 2),
    ] {
        world.vim.command(command);
        assert_eq!(world.vim.get::<u32>("line('.')"), line, "{command}");
    }
    // They stay at their text while the person types.
    world.vim.command("call append(0, 'mine')");
    world.vim.command("PillionNextChange");
    assert_eq!(world.vim.get::<u32>("line('.')"), 8);
    world.vim.command("undo");
    world.vim.command("PillionKeep 1.1");
    wait_signs(&world, 0);
    world.vim.command("PillionNextChange");
    world.vim.wait_said("no more unseen changes here");
    world.vim.assert_no_errors();
}

/// Nothing is taken back from a text that was not there to be seen. What is read stays in place, and is one step to undo.
#[each_vim]
fn a_buffer_is_read_again_before_anything_is_taken_back(version: VimVersion) {
    let (world, path) = world(version);
    world.vim.command("5mark a | call cursor(7, 1)");
    let next = format!("import\nimport, too\n{AFTER}").replace("c\n", "C\n");
    // Before Vim hears of it.
    let keep = format!(
        "call writefile({:?}->split(\"\\n\"), {path:?}, 'b') | PillionKeep!",
        format!("{next}\n")
    );
    world
        .home
        .agents_turn("again", |_| world.vim.command(&keep));
    world.vim.wait_said("look at it, then do the same again");
    wait_lines(&world, &next);
    assert_eq!(world.home.states_of(2), ["unseen"]);
    let places: (u32, u32, u32) = world.vim.get("[line(\"'a\"), line('.'), &modified]");
    assert_eq!(places, (7, 9, 0));
    assert_eq!(read(&path), next);
    world.vim.command("PillionTakeBack");
    wait_lines(&world, &next.replace("G\nG2", "g"));
    world.vim.command("undo | undo");
    wait_lines(&world, AFTER);
    // Its lines are not those of the file.
    for command in ["PillionKeep", "PillionKeep!"] {
        world.vim.command("echo 'none'");
        world.vim.command(command);
        world.vim.wait_said("the buffer differs from its file");
    }
    assert_eq!(world.home.states_of(1)[0], "unseen");
    world.vim.assert_no_errors();
}

/// The lines that move up under it were not looked at.
#[each_vim]
fn a_held_key_decides_about_one_line_of_the_list(version: VimVersion) {
    let home = Home::new();
    home.file("first.txt", BEFORE);
    home.agents_turn("many", |folder| {
        for nth in 0..20 {
            fs::write(folder.join(format!("new-{nth}.txt")), "new\n").unwrap();
        }
    });
    let world = World::with(version, home, &[("first.txt", BEFORE)], |setup| setup);
    world.vim.command("PillionChanges");
    world.vim.wait_until("the list", "&buftype == 'quickfix'");
    world.vim.command("nnoremap K <Cmd>PillionKeep<CR>");
    look_at(&world, 2);
    for _ in 0..20 {
        world.vim.input("K");
    }
    world
        .vim
        .wait_said("this line has only just come under the cursor");
    world.home.wait_state(1, "kept");
    let kept = |world: &World| {
        let states = world.home.states_of(1).into_iter();
        states.filter(|state| *state == "kept").count()
    };
    let before = kept(&world);
    assert!(before < 20, "{before}");
    // Released, and looked at.
    look_at(&world, 3);
    world.vim.input("K");
    world
        .vim
        .wait_until("one more", &format!("len(getqflist()) < {}", 21 - before));
    assert!(kept(&world) > before);
    world.vim.assert_no_errors();
}

#[each_vim]
fn what_was_decided_is_listed(version: VimVersion) {
    let (world, _) = world(version);
    world.vim.command("PillionKeep 1.2");
    world.vim.wait_said("1.2 new.txt: kept");
    world.vim.command("PillionLog");
    world.vim.wait_until(
        "the decision",
        "&buftype == 'nofile' && search('kept.*new.txt', 'nw') > 0",
    );
    world.vim.assert_no_errors();
}

/// Nobody has seen what has come under the cursor just now.
#[each_vim]
fn what_has_just_been_read_is_not_kept(version: VimVersion) {
    let (world, path) = world(version);
    let next = AFTER.replace("B\n", "B, rewritten\n");
    let again = |folder: &Path| fs::write(folder.join("first.txt"), &next).unwrap();
    world.home.agents_turn("again", again);
    let keep = "call cursor(2, 1) | execute 'PillionKeep' | execute 'PillionKeep'";
    world.vim.command(keep);
    world
        .vim
        .wait_said("first.txt only just now: look at it, then do the same again");
    wait_lines(&world, &next);
    assert_eq!(world.home.states_of(2), ["unseen"]);
    let again = || world.vim.command("PillionKeep");
    world.home.wait_state_by(2, "kept", again);
    assert_eq!(read(&path), next);
    world.vim.assert_no_errors();
}

/// Where one decides, the answers are not over what is decided.
#[each_vim]
fn on_a_narrow_screen_messages_leave_the_list_in_sight(version: VimVersion) {
    let home = Home::new();
    home.file("first.txt", BEFORE);
    home.agents_turn("many", |folder| {
        for nth in 0..20 {
            fs::write(folder.join(format!("new-{nth}.txt")), "new\n").unwrap();
        }
    });
    let world = World::with(version, home, &[("first.txt", BEFORE)], |setup| {
        setup.size(Size::new(60, 24))
    });
    world.vim.command("PillionChanges");
    world.vim.wait_until("the list", "&buftype == 'quickfix'");
    let above = "popup_list()->filter({_, id -> getwinvar(id, 'pillion_message', v:false)})";
    for nth in 0..6 {
        world.vim.command(&format!(
            "call pillion#notify#ByLevel('info', repeat('word ', 20) .. {nth})"
        ));
        let rows: Vec<(u32, u32)> = world.vim.get(&format!(
            "{above}->mapnew({{_, id -> [popup_getpos(id).line, popup_getpos(id).height]}})"
        ));
        let list: u32 = world.vim.get("win_screenpos(0)[0]");
        assert!(!rows.is_empty());
        assert!(
            rows.iter().all(|(line, height)| line + height <= list),
            "{rows:?} {list}"
        );
        assert!(
            rows.iter().map(|(_, height)| height).sum::<u32>() <= 5,
            "{rows:?}"
        );
        let texts: Vec<String> = world.vim.get(&format!(
            "{above}->mapnew({{_, id -> getbufline(winbufnr(id), 1)[0]}})"
        ));
        let newest = nth.to_string();
        assert!(
            texts.iter().any(|text| text.ends_with(&newest)),
            "{texts:?}"
        );
    }
    // In the upper window they are below.
    world
        .vim
        .command("wincmd k | call pillion#notify#ByLevel('info', repeat('line ', 20))");
    let places: Vec<u32> = world.vim.get(&format!(
        "{above}->mapnew({{_, id -> popup_getpos(id).line}})"
    ));
    assert!(places.iter().all(|line| *line > 12), "{places:?}");
    world.vim.assert_no_errors();
}
