//! The changes that agents have written already: listed, kept and taken back.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use pillion_testkit::{Home, KakouneVersion, SOON, each_kakoune};
use pillion_view::LOOK;

use crate::world::World;

const BEFORE: &str = "a\nb\nc\nd\ne\nf\n";
const AFTER: &str = "a\nB\nc\nd\ne\nF\n";

/// Waits until this line of the list has been under the cursor for as long as a decision needs: Kakoune has told which row
/// it is, and since then no other one came there.
fn look_at(world: &World, line: u32) {
    let since = RefCell::new((Instant::now(), Vec::new()));
    let state = "%val{cursor_line} %opt{pillion_row}";
    world
        .kakoune
        .wait_until("a row that was looked at", state, |found| {
            let (started, row) = &mut *since.borrow_mut();
            let is_told = found[0] == line.to_string() && !found[1].is_empty();
            if row != found || !is_told {
                (*started, *row) = (Instant::now(), found.to_vec());
            }
            is_told && started.elapsed() > LOOK
        });
}

#[each_kakoune]
fn the_list_leads_to_hunks_and_its_line_is_decided(version: KakouneVersion) {
    let home = Home::new();
    let path = home.file("it's a.txt", BEFORE);
    home.agents_turn("change letters", |folder| {
        fs::write(folder.join("it's a.txt"), AFTER).unwrap();
        fs::write(folder.join("new.txt"), "new\n").unwrap();
    });
    let workspace = home.workspace();
    let world = World::with(version, home, &[("it's a.txt", AFTER)], |setup| {
        setup.cwd(&workspace)
    });
    world.kakoune.command("pillion-changes");
    world
        .kakoune
        .wait_value("%val{bufname}", "*pillion-changes*");
    let shown = path.display();
    let new = workspace.join("new.txt");
    assert_eq!(
        world.kakoune.text("*pillion-changes*").trim_end(),
        format!(
            "{shown}:2: 1.1 unseen +1 -1: B\n{shown}:6: 1.1 unseen +1 -1: F\n{}:1: 1.2 unseen +1 -0: new",
            new.display()
        )
    );
    world.kakoune.input("gg2g<ret>");
    world
        .kakoune
        .wait_value("%val{buffile}", path.to_str().unwrap());
    world.kakoune.wait_value("%val{cursor_line}", "6");
    world.kakoune.command("buffer *pillion-changes*");
    world.kakoune.input("gg3g");
    look_at(&world, 3);
    world.kakoune.input(":pillion-keep<ret>");
    world.kakoune.pane().wait_for("1.2 new.txt: kept", SOON);
    world.kakoune.wait_value("%val{buf_line_count}", "2");
    // A row is a hunk.
    world.kakoune.input("gg");
    look_at(&world, 1);
    world.kakoune.input(":pillion-keep<ret>");
    let said = "1.1 has 2 hunks, and is kept as a whole: name it";
    world.kakoune.pane().wait_for(said, SOON);
    look_at(&world, 1);
    world.kakoune.input(":pillion-take-back<ret>");
    wait_text(&world, &path, &AFTER.replace('B', "b"));
    world.kakoune.input("gg:pillion-take-back 1.1<ret>");
    world.kakoune.wait_until("all of it", "%val{bufname}", |_| {
        fs::read_to_string(&path).unwrap() == BEFORE
    });
    world.kakoune.command("pillion-changes all");
    world.kakoune.pane().wait_for("1.1 taken back +2 -2", SOON);
    for said in [
        "is as before the last hunk was taken back",
        "is as the agent left it",
    ] {
        world.kakoune.input(":pillion-undo 1.1<ret>");
        world.kakoune.pane().wait_for(said, SOON);
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), AFTER);
    world.kakoune.assert_no_errors();
}

/// Whoever decides, and where: the rows that are left are true, and the cursor stays at its own.
#[each_kakoune]
fn the_list_follows_what_is_decided(version: KakouneVersion) {
    let home = Home::new();
    home.file("a.txt", BEFORE);
    home.agents_turn("change letters", |folder| {
        fs::write(folder.join("a.txt"), AFTER).unwrap();
        for name in ["b.txt", "c.txt"] {
            fs::write(folder.join(name), "new\n").unwrap();
        }
    });
    let workspace = home.workspace();
    let world = World::with(version, home, &[("a.txt", AFTER)], |setup| {
        setup.cwd(&workspace)
    });
    let list = |rows: &[&str]| {
        let rows: Vec<String> = rows.iter().map(|it| format!("/{it}\n")).collect();
        world.kakoune.wait_until("the rows", "%val{bufname}", |_| {
            let text = world.kakoune.text("*pillion-changes*");
            let shown = text.replace(&format!("{}/", workspace.display()), "/");
            shown == rows.concat()
        });
    };
    let [b, f] = [
        "a.txt:2: 1.1 unseen +1 -1: B",
        "a.txt:6: 1.1 unseen +1 -1: F",
    ];
    let [b_txt, c_txt] = [
        "b.txt:1: 1.2 unseen +1 -0: new",
        "c.txt:1: 1.3 unseen +1 -0: new",
    ];
    world.kakoune.command("pillion-changes");
    list(&[b, f, b_txt, c_txt]);
    world.kakoune.input("gg4g");
    world.kakoune.wait_value("%val{cursor_line}", "4");
    // In another place.
    let done = std::process::Command::new(crate::world::PILLION)
        .args(["keep", "1.2"])
        .current_dir(&workspace)
        .env_clear()
        .envs(world.home.env().iter())
        .output();
    assert!(done.unwrap().status.success());
    list(&[b, f, c_txt]);
    // In the list, and lines of the file move.
    look_at(&world, 3);
    world.kakoune.input(":pillion-keep<ret>");
    list(&[b, f]);
    // Its row is gone, and the cursor is at another one.
    world.kakoune.input(":pillion-undo<ret>");
    list(&[b, f, c_txt]);
    world.kakoune.input("gg");
    look_at(&world, 1);
    world.kakoune.input(":pillion-take-back<ret>");
    list(&[f, c_txt]);
    world.kakoune.assert_no_errors();
}

/// The rows below move up under a key that is held down, and nobody has looked at them.
#[each_kakoune]
fn a_key_that_is_held_in_the_list_decides_about_one_row(version: KakouneVersion) {
    for (command, state) in [("keep", "kept"), ("take-back", "taken back")] {
        let home = Home::new();
        home.file("a.txt", BEFORE);
        home.agents_turn("write files", |folder| {
            for name in ["1.txt", "2.txt", "3.txt", "4.txt"] {
                fs::write(folder.join(name), "new\n").unwrap();
            }
        });
        let workspace = home.workspace();
        let world = World::with(version, home, &[("a.txt", BEFORE)], |setup| {
            setup.cwd(&workspace)
        });
        world.kakoune.command("pillion-changes");
        world.kakoune.wait_value("%val{buf_line_count}", "4");
        let map = format!("map buffer normal D ':pillion-{command}<ret>'");
        world.kakoune.command(&map);
        world.kakoune.input("gg");
        look_at(&world, 1);
        world.kakoune.input("DDD");
        // What came of the first key may be said after it.
        let said = "release the key, look at the line";
        world.kakoune.wait_value("%val{buf_line_count}", "3");
        world.kakoune.wait_debug(said);
        assert_eq!(
            world.home.states_of(1),
            [state, "unseen", "unseen", "unseen"]
        );
        look_at(&world, 1);
        world.kakoune.input("D");
        world.kakoune.wait_value("%val{buf_line_count}", "2");
        assert_eq!(world.home.states_of(1), [state, state, "unseen", "unseen"]);
        world.kakoune.assert_no_errors();
    }
}

/// Kakoune in a file in which an agent has changed two lines, and what the person has added to it.
fn world(version: KakouneVersion, unsaved: bool) -> (World, PathBuf) {
    let (world, path) = changed(version, BEFORE, AFTER);
    if unsaved {
        world.kakoune.input("gjomine<esc>");
        world.kakoune.wait_value("%val{modified}", "true");
    }
    (world, path)
}

/// Kakoune in a file of which an agent has made this text out of that.
fn changed(version: KakouneVersion, before: &str, after: &str) -> (World, PathBuf) {
    let home = Home::new();
    let path = home.file("a.txt", before);
    home.agents_turn("change letters", |folder| {
        fs::write(folder.join("a.txt"), after).unwrap();
    });
    let workspace = home.workspace();
    let world = World::with(version, home, &[("a.txt", after)], |setup| {
        setup.cwd(&workspace)
    });
    (world, path)
}

fn wait_text(world: &World, path: &Path, text: &str) {
    let name = path.to_str().unwrap();
    world
        .kakoune
        .wait_until(text, "%val{bufname}", |_| world.kakoune.text(name) == text);
}

#[each_kakoune]
fn what_an_agent_wrote_is_marked_until_it_is_decided(version: KakouneVersion) {
    let (world, path) = world(version, false);
    let kakoune = &world.kakoune;
    // After the time of the buffer at which they were set.
    let marked = |marks: &[&str]| {
        kakoune.wait_until("marks", "%opt{pillion_written}", |it| {
            it.get(1..).unwrap_or_default() == marks
        });
    };
    let both = ["2|{yellow}~", "6|{yellow}~"];
    marked(&both);
    kakoune.pane().wait_for("~B", SOON);
    // Lines that are there again have them again.
    kakoune.input("2gxd");
    kakoune.wait_value("%val{modified}", "true");
    kakoune.input("u");
    kakoune.wait_value("%val{modified}", "false");
    kakoune.wait_until(
        "marks anew",
        "%val{timestamp} %opt{pillion_written}",
        |it| it.len() == 4 && it[0] == it[1],
    );
    marked(&both);
    kakoune.input("gg");
    for (way, line) in [("next", "2"), ("next", "6"), ("previous", "2")] {
        kakoune.input(&format!(":pillion-{way}-change<ret>"));
        kakoune.wait_value("%val{cursor_line}", line);
    }
    kakoune.input(":pillion-previous-change<ret>");
    let none = "this file has no previous change that nobody has looked at";
    kakoune.pane().wait_for(none, SOON);
    kakoune.input(":pillion-take-back<ret>");
    marked(&["6|{yellow}~"]);
    // In a window that is opened later.
    kakoune.input(":delete-buffer<ret>");
    kakoune.wait_until("no file", "%val{buflist}", |names| {
        !names.iter().any(|name| name.ends_with("a.txt"))
    });
    kakoune.input(&format!(":edit {}<ret>", path.display()));
    marked(&["6|{yellow}~"]);
    kakoune.input("gg:pillion-keep<ret>");
    let none = "nothing that an agent has written waits at this line";
    kakoune.pane().wait_for(none, SOON);
    kakoune.input("6g:pillion-keep<ret>");
    marked(&[]);
}

#[each_kakoune]
fn the_hunks_under_the_selection_are_taken_back(version: KakouneVersion) {
    let (world, path) = world(version, false);
    let without_first = AFTER.replace('B', "b");
    // Who keeps one hunk has not looked at the other one.
    world.kakoune.input("2g:pillion-keep<ret>");
    let said = "1.1 has 2 hunks, and is kept as a whole";
    world.kakoune.pane().wait_for(said, SOON);
    world.kakoune.input(":pillion-keep 1.1<ret>");
    world.kakoune.pane().wait_for("1.1 a.txt: kept", SOON);
    world.kakoune.input(":pillion-undo<ret>");
    world.home.wait_state(1, "unseen");
    world.kakoune.input("2g:pillion-take-back<ret>");
    world.kakoune.pane().wait_for("1.1 a.txt", SOON);
    wait_text(&world, &path, &without_first);
    assert_eq!(fs::read_to_string(&path).unwrap(), without_first);
    world.kakoune.wait_value("%val{modified}", "false");
    // Where nothing of an agent's is.
    world.kakoune.input("4g:pillion-take-back<ret>");
    world.kakoune.pane().wait_for("nothing of an agent", SOON);
    // A selection of many lines, and the whole file.
    world.kakoune.input("%:pillion-take-back<ret>");
    wait_text(&world, &path, BEFORE);
    assert_eq!(fs::read_to_string(&path).unwrap(), BEFORE);
    world.kakoune.assert_no_errors();
}

/// Kakoune's buffer ends with a newline all the same.
#[each_kakoune]
fn lines_of_a_file_without_a_last_newline_are_taken_back(version: KakouneVersion) {
    let (before, after) = (BEFORE.trim_end(), AFTER.trim_end());
    let (world, path) = changed(version, before, after);
    let without_first = after.replace('B', "b");
    world.kakoune.input("2g:pillion-take-back<ret>");
    wait_text(&world, &path, &format!("{without_first}\n"));
    assert_eq!(fs::read_to_string(&path).unwrap(), without_first);
    world.kakoune.input("%:pillion-take-back<ret>");
    wait_text(&world, &path, BEFORE);
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
    world.kakoune.assert_no_errors();
}

#[each_kakoune]
fn from_a_buffer_with_unsaved_changes_a_hunk_is_taken_out_of_the_buffer(version: KakouneVersion) {
    let (world, path) = world(version, true);
    let mine = |text: &str| format!("{text}mine\n");
    world.kakoune.input("2g:pillion-take-back<ret>");
    wait_text(&world, &path, &mine(&AFTER.replace('B', "b")));
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        AFTER,
        "nothing is saved"
    );
    world.kakoune.wait_value("%val{modified}", "true");
    world.kakoune.input("u");
    wait_text(&world, &path, &mine(AFTER));
    // Its lines are not those of the file.
    for keep in ["pillion-keep", "pillion-keep -file"] {
        world.kakoune.input(&format!("2g:{keep}<ret>"));
        let said = "the buffer differs from its file";
        world.kakoune.pane().wait_for(said, SOON);
        world.kakoune.input(":echo none<ret>");
        world.kakoune.pane().wait_gone(said, SOON);
    }
    assert_eq!(world.home.states_of(1), ["unseen"]);
    world.kakoune.input(":write<ret>");
    world.kakoune.wait_value("%val{modified}", "false");
    world.kakoune.input(":pillion-keep -file it is fine<ret>");
    world.kakoune.pane().wait_for("1.1 a.txt: kept", SOON);
    let said = ("1.1".to_owned(), "it is fine".to_owned());
    assert_eq!(world.home.said_of(1), [said]);
    world.kakoune.assert_no_errors();
}

#[each_kakoune]
fn a_file_is_taken_back_as_a_whole(version: KakouneVersion) {
    for unsaved in [false, true] {
        let (world, path) = world(version, unsaved);
        world.kakoune.input("4g:pillion-take-back -file<ret>");
        let (text, file) = match unsaved {
            true => (format!("{BEFORE}mine\n"), AFTER),
            false => (BEFORE.to_owned(), BEFORE),
        };
        wait_text(&world, &path, &text);
        assert_eq!(fs::read_to_string(&path).unwrap(), file);
        world.kakoune.assert_no_errors();
    }
    // Nothing has it open.
    let (world, path) = world(version, false);
    world.kakoune.input(":delete-buffer<ret>");
    world.kakoune.input(":pillion-take-back 1.1<ret>");
    world.kakoune.pane().wait_for("1.1 a.txt: taken back", SOON);
    assert_eq!(fs::read_to_string(&path).unwrap(), BEFORE);
    world.kakoune.assert_no_errors();
}

#[each_kakoune]
fn the_agent_is_told_why_something_was_taken_back_or_kept(version: KakouneVersion) {
    let (world, path) = world(version, false);
    let said = |words: &str| vec![("1.1".to_owned(), words.to_owned())];
    let first = AFTER.replace('B', "b");
    world
        .kakoune
        .input("2g:pillion-take-back it's %{1} \"no\"<ret>");
    wait_text(&world, &path, &first);
    // A message that came later would take the place of the next ones.
    world.kakoune.pane().wait_for("1.1 a.txt: taken back", SOON);
    assert_eq!(world.home.said_of(1), said("it's 1 no"));
    // A number may be part of the reason: that is asked for, and nothing happens.
    for words in ["7 spaces", "1.1 is too low", "1:2 it is"] {
        world
            .kakoune
            .input(&format!("6g:pillion-take-back {words}<ret>"));
        world
            .kakoune
            .pane()
            .wait_for("may be a change: write", SOON);
        world.kakoune.input(":echo none<ret>");
        world
            .kakoune
            .pane()
            .wait_gone("may be a change: write", SOON);
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), first);
    world
        .kakoune
        .input(":pillion-take-back -file it is too early<ret>");
    wait_text(&world, &path, BEFORE);
    world.kakoune.pane().wait_for("1.1 a.txt: taken back", SOON);
    assert_eq!(world.home.said_of(1), said("it is too early, it's 1 no"));
    world.kakoune.assert_no_errors();
}

/// Whatever is selected there, and not if it only looks like a name.
#[each_kakoune]
fn a_change_is_named_in_the_buffer_of_its_file(version: KakouneVersion) {
    let (world, path) = world(version, false);
    let said = |words: &str| vec![("1.1".to_owned(), words.to_owned())];
    world
        .kakoune
        .input("2g:pillion-keep 1.1: -- no, $(fine)<ret>");
    world.kakoune.pane().wait_for("1.1 a.txt: kept", SOON);
    assert_eq!(world.home.said_of(1), said("-- no, $(fine)"));
    world.kakoune.input("2g:pillion-take-back 1,1<ret>");
    world
        .kakoune
        .pane()
        .wait_for("1,1 names no change: write", SOON);
    assert_eq!(fs::read_to_string(&path).unwrap(), AFTER);
    world
        .kakoune
        .input("2g:pillion-take-back 1.1: all of it<ret>");
    wait_text(&world, &path, BEFORE);
    world.kakoune.pane().wait_for("1.1 a.txt: taken back", SOON);
    // Beside what was said when it was kept, which `undo` brings back.
    assert_eq!(world.home.said_of(1), said("all of it, -- no, $(fine)"));
    world.kakoune.assert_no_errors();
}

#[each_kakoune]
fn a_reason_in_the_list_is_about_its_line(version: KakouneVersion) {
    let (world, path) = world(version, false);
    world.kakoune.command("pillion-changes");
    world
        .kakoune
        .wait_value("%val{bufname}", "*pillion-changes*");
    world.kakoune.input("gg");
    look_at(&world, 1);
    world.kakoune.input(":pillion-take-back 3x too many<ret>");
    world.kakoune.pane().wait_for("1.1 a.txt: taken back", SOON);
    assert_eq!(fs::read_to_string(&path).unwrap(), BEFORE);
    let said = [("1.1".to_owned(), "3x too many".to_owned())];
    assert_eq!(world.home.said_of(1), said);
    world.kakoune.assert_no_errors();
}

#[each_kakoune]
fn what_the_editor_undoes_counts_when_it_is_saved(version: KakouneVersion) {
    let (world, path) = world(version, true);
    world.kakoune.input(":pillion-take-back -file<ret>");
    wait_text(&world, &path, &format!("{BEFORE}mine\n"));
    world.home.wait_state(1, "taken back");
    world.kakoune.input("u");
    wait_text(&world, &path, &format!("{AFTER}mine\n"));
    assert_eq!(world.home.states_of(1), ["taken back"], "nothing is saved");
    world.kakoune.input(":write<ret>");
    world.home.wait_state(1, "unseen");
    assert_eq!(fs::read_to_string(&path).unwrap(), format!("{AFTER}mine\n"));
    world.kakoune.assert_no_errors();
}
