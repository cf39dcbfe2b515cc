//! The changes that agents have written already: listed, kept and taken back, in files and in buffers.

use std::fs;

use pillion_testkit::{EmacsVersion, Home, SOON, each_emacs};

use crate::world::{ORIGINAL, World};

/// The text of `a.txt` before the agent made [`ORIGINAL`] of it.
fn before() -> String {
    ORIGINAL.replace("two\n", "2\n").replace("five\n", "")
}

/// An agent has written two hunks of `a.txt`, and made `new.txt`.
fn world(version: EmacsVersion) -> World {
    let home = Home::new();
    home.file("a.txt", before());
    home.agents_turn("write words", |folder| {
        fs::write(folder.join("a.txt"), ORIGINAL).unwrap();
        fs::write(folder.join("new.txt"), "new\n").unwrap();
    });
    World::with(version, home, |setup| setup)
}

fn buffer(text: &str, is_modified: bool) -> String {
    let is_modified = match is_modified {
        true => "(buffer-modified-p)",
        false => "(not (buffer-modified-p))",
    };
    format!("(with-current-buffer \"a.txt\" (and (equal (buffer-string) {text:?}) {is_modified}))")
}

fn wait_list(world: &World, words: &str) {
    let there = format!(
        "(with-current-buffer \"*pillion changes*\" (string-search {words:?} (buffer-string)))"
    );
    world.emacs.wait_until(words, &there);
}

/// Puts point at the line of the list that these words are in, and has looked at it.
fn go_to(world: &World, words: &str) {
    world.emacs.eval(&format!(
        "(with-current-buffer \"*pillion changes*\" \
           (goto-char (point-min)) (search-forward {words:?}) (beginning-of-line) \
           (set-window-point (get-buffer-window) (point)))"
    ));
    shown_since(world, "0");
}

/// The line under point was drawn, and at this time.
fn shown_since(world: &World, time: &str) {
    world.emacs.wait_until(
        "the line drawn",
        "(with-current-buffer \"*pillion changes*\" \
           (equal (car pillion-changes--shown) (pillion-changes--at-point)))",
    );
    world.emacs.eval(&format!(
        "(with-current-buffer \"*pillion changes*\" (setcdr pillion-changes--shown {time}))"
    ));
}

fn read(world: &World) -> String {
    fs::read_to_string(&world.path).unwrap()
}

#[each_emacs]
fn the_list_leads_to_hunks_and_its_keys_decide(version: EmacsVersion) {
    let world = world(version);
    world.emacs.command("pillion-changes");
    wait_list(&world, "turn 1 of Claude Code, ");
    wait_list(
        &world,
        "  1.1 unseen +2 -1           a.txt\n      line 2: 1.1 unseen +1 -1: two\n      line 5: 1.1 unseen +1 -0: five\n",
    );
    wait_list(&world, "  1.2 unseen +1 -0           new.txt (new)\n");
    let go = |words: &str| go_to(&world, words);
    go("line 5");
    world.emacs.input("<RET>");
    world.emacs.wait_until(
        "the hunk",
        "(and (equal (buffer-name) \"a.txt\") (= (line-number-at-pos) 5))",
    );
    world
        .emacs
        .eval("(select-window (get-buffer-window \"*pillion changes*\"))");
    go("new.txt");
    world.emacs.input("u");
    world
        .emacs
        .wait_said("Pillion: nothing was decided in this list.");
    world.emacs.input("s");
    world.emacs.wait_said("1.2 new.txt: kept");
    world.emacs.wait_until(
        "a shorter list",
        "(with-current-buffer \"*pillion changes*\" (not (string-search \"new.txt\" (buffer-string))))",
    );
    // What was taken back is not in the list: undo brings back the last, wherever point is.
    for undoes in [true, false] {
        go("line 2");
        world.emacs.input("r");
        world.emacs.wait_until(
            "one hunk less",
            &buffer(&ORIGINAL.replace("two", "2"), false),
        );
        if undoes {
            world.emacs.input("u");
            world.emacs.wait_until("it again", &buffer(ORIGINAL, false));
            wait_list(&world, "      line 2");
        }
    }
    world.emacs.input("a");
    wait_list(&world, "  1.2 kept +1 -0");
    go("1.1 unseen");
    world.emacs.input("r");
    world
        .emacs
        .wait_until("all of it", &buffer(&before(), false));
    wait_list(&world, "  1.1 taken back");
    go("1.1 taken back");
    world.emacs.input("u");
    wait_list(&world, "  1.1 unseen");
    assert_eq!(read(&world), ORIGINAL.replace("two", "2"));
    world.emacs.assert_no_errors();
}

#[each_emacs]
fn what_no_buffer_has_open_is_taken_back_in_the_file(version: EmacsVersion) {
    let world = world(version);
    world.emacs.command("pillion-changes");
    wait_list(&world, "  1.1 unseen");
    world.emacs.eval("(kill-buffer \"a.txt\")");
    go_to(&world, "1.1 unseen");
    world.emacs.input("r");
    world.emacs.wait_said("1.1 a.txt: taken back");
    assert_eq!(read(&world), before());
    world
        .emacs
        .wait_until("no buffer", "(not (get-buffer \"a.txt\"))");
    world.emacs.input("u");
    let started = std::time::Instant::now();
    while read(&world) != ORIGINAL {
        assert!(started.elapsed() < SOON, "{}", read(&world));
    }
    wait_list(&world, "  1.1 unseen");
    world.emacs.assert_no_errors();
}

/// What is decided elsewhere is in the list by itself, and in the marks of buffers.
#[each_emacs]
fn the_list_follows_what_is_decided_elsewhere(version: EmacsVersion) {
    let world = world(version);
    world.emacs.command("pillion-changes");
    wait_list(&world, "  1.1 unseen");
    world.emacs.input("a");
    world.emacs.eval("(kill-buffer \"a.txt\")");
    world
        .emacs
        .eval("(pillion-client-ask :pillion/takeBack (list :id \"1.1\") #'ignore)");
    wait_list(&world, "  1.1 taken back");
    assert_eq!(read(&world), before());
    world
        .emacs
        .eval("(pillion-client-ask :pillion/undo (list :id \"1.1\") #'ignore)");
    wait_list(&world, "  1.1 unseen");
    world.emacs.assert_no_errors();
}

/// A hunk of several is not kept by itself, and undo is about what was done in this list, a keep among it.
#[each_emacs]
fn a_hunk_is_not_kept_unasked_and_undo_is_about_this_list(version: EmacsVersion) {
    let world = world(version);
    // Something older, decided elsewhere.
    world
        .emacs
        .eval("(pillion-client-ask :pillion/takeBack (list :id \"1.2\") #'ignore)");
    world.emacs.command("pillion-changes");
    wait_list(&world, "line 5: 1.1");
    go_to(&world, "line 5");
    world.emacs.input("s");
    world
        .emacs
        .pane()
        .wait_for("1.1 has 2 hunks, and is kept as a whole; keep it?", SOON);
    world.emacs.input("n");
    world.emacs.wait_said("Pillion: nothing was kept");
    assert_eq!(world.home.states_of(1), ["unseen", "taken back"]);
    for undoes in [true, false] {
        go_to(&world, "line 5");
        world.emacs.input("sy");
        world.emacs.wait_said("1.1 a.txt: kept");
        wait_list(&world, "There are no unseen changes here.");
        if undoes {
            world.emacs.input("u");
            wait_list(&world, "line 5: 1.1");
            world.emacs.input("u");
            world
                .emacs
                .wait_said("Pillion: nothing was decided in this list.");
        }
    }
    assert_eq!(world.home.states_of(1), ["kept", "taken back"]);
    world.emacs.command("pillion-log");
    world.emacs.wait_until(
        "what was decided",
        "(with-current-buffer \"*pillion log*\" (string-search \"kept\" (buffer-string)))",
    );
    assert!(!world.home.workspace().join("new.txt").exists());
    world.emacs.assert_no_errors();
}

/// The next line moves up under it, and nobody has looked at that one.
#[each_emacs]
fn a_key_that_is_held_down_decides_about_one_line(version: EmacsVersion) {
    for (key, done) in [("s", "kept"), ("r", "taken back")] {
        let home = Home::new();
        home.file("a.txt", ORIGINAL);
        home.agents_turn("write words", |folder| {
            for name in ["b.txt", "c.txt", "d.txt"] {
                fs::write(folder.join(name), "new\n").unwrap();
            }
        });
        let world = World::with(version, home, |setup| setup);
        world.emacs.command("pillion-changes");
        wait_list(&world, "d.txt");
        go_to(&world, "b.txt");
        world.emacs.input(key);
        world.emacs.wait_said(&format!("1.1 b.txt: {done}"));
        world.emacs.wait_until(
            "the next line",
            "(with-current-buffer \"*pillion changes*\" \
               (equal \"1.2\" (plist-get (pillion-changes--at-point) :id)))",
        );
        for _ in 0..3 {
            // However slow the machine is: it has been there for no time.
            shown_since(&world, "(+ 1000 (float-time))");
            world.emacs.eval(
                "(with-current-buffer \"*Messages*\" (let ((inhibit-read-only t)) (erase-buffer)))",
            );
            world.emacs.input(key);
            world
                .emacs
                .wait_said("this line has only just come under the cursor");
        }
        assert_eq!(world.home.states_of(1), [done, "unseen", "unseen"]);
        // Released, and looked at.
        shown_since(&world, "0");
        world.emacs.input(key);
        world.emacs.wait_said(&format!("1.2 c.txt: {done}"));
        assert_eq!(world.home.states_of(1), [done, done, "unseen"]);
        world.emacs.assert_no_errors();
    }
}

#[each_emacs]
fn the_list_shows_diffs_and_a_menu(version: EmacsVersion) {
    let world = world(version);
    world.emacs.command("pillion-changes");
    wait_list(&world, "line 5: 1.1");
    go_to(&world, "line 5");
    world.emacs.input("?");
    world.emacs.pane().wait_for("take back for a reason", SOON);
    world.emacs.input("r");
    world.emacs.wait_until(
        "it is taken back",
        &buffer(&ORIGINAL.replace("five\n", ""), false),
    );
    go_to(&world, "line 2");
    world.emacs.input("<TAB>");
    world.emacs.pane().wait_for("Original: a.txt", SOON);
    world.wait_view();
    world.emacs.assert_no_errors();
}

/// The text of the marks of `a.txt`: each hunk with what was there before it.
const MARKS: &str = "(with-current-buffer \"a.txt\" (mapcar (lambda (it) \
      (list (line-number-at-pos (overlay-start it)) (overlay-get it 'before-string) \
            (buffer-substring-no-properties (overlay-start it) (overlay-end it)))) \
      (sort (copy-sequence pillion-written--marks) \
            (lambda (a b) (< (overlay-start a) (overlay-start b))))))";

fn wait_marks(world: &World, wanted: &str) {
    world
        .emacs
        .wait_until(wanted, &format!("(equal {MARKS} '({wanted}))"));
}

/// Until it is seen: what is new, what was there before, and the way from hunk to hunk.
#[each_emacs]
fn what_an_agent_wrote_is_marked_in_the_buffer(version: EmacsVersion) {
    let world = world(version);
    let marks = "(2 \"2\\n\" \"two\\n\") (5 nil \"five\\n\")";
    wait_marks(&world, marks);
    world.emacs.eval("(goto-char (point-min))");
    for (command, line) in [("next", 2), ("next", 5), ("previous", 2)] {
        world.emacs.command(&format!("pillion-{command}-change"));
        world
            .emacs
            .wait_until(command, &format!("(= (line-number-at-pos) {line})"));
    }
    world.emacs.command("pillion-previous-change");
    world.emacs.wait_said("no more unseen changes here.");
    // Marks move with the text, and with what is saved.
    world
        .emacs
        .eval("(progn (goto-char (point-min)) (insert \"mine\\n\"))");
    let moved = "(3 \"2\\n\" \"two\\n\") (6 nil \"five\\n\")";
    wait_marks(&world, moved);
    world.emacs.command("save-buffer");
    wait_marks(&world, moved);
    world
        .emacs
        .eval("(goto-char (overlay-start (car pillion-written--marks)))");
    world.emacs.command("pillion-take-back");
    wait_marks(&world, "(6 nil \"five\\n\")");
    // One that removes the last line, of which nothing is left to colour.
    let text = read(&world).replace("four\nfive\n", "four\n");
    world
        .home
        .agents_turn("again", |_| fs::write(&world.path, &text).unwrap());
    world.emacs.eval("(revert-buffer t t)");
    wait_marks(&world, "(6 \"five\\n\" \"\")");
    // Lines of a buffer that is not saved are not those of the file.
    world
        .emacs
        .eval("(progn (goto-char (point-min)) (insert \"mine\\n\"))");
    world
        .emacs
        .eval("(goto-char (overlay-start (car pillion-written--marks)))");
    world.emacs.command("pillion-keep");
    world.emacs.wait_said("the buffer differs from its file");
    assert_eq!(world.home.states_of(2), ["unseen"]);
    world.emacs.command("save-buffer");
    let keep = || world.emacs.command("pillion-keep");
    world.home.wait_state_by(2, "kept", keep);
    wait_marks(&world, "");
    world.emacs.assert_no_errors();
}

/// An agent's next turn makes this of `a.txt`. What is decided elsewhere has views hear of it, as an agent's hook has.
fn go_on(world: &World, text: &str) {
    let turn = world.home.agents_turn("again", |folder| {
        fs::write(&world.path, text).unwrap();
        fs::write(folder.join("seen.txt"), text).unwrap();
    });
    world.emacs.eval(&format!(
        "(pillion-client-ask :pillion/keep (list :id \"{turn}.2\") #'ignore)"
    ));
}

/// Who cuts marked lines out and puts them back, there or elsewhere, has their marks again.
#[each_emacs]
fn marks_come_back_with_the_lines_that_were_cut_out(version: EmacsVersion) {
    let world = world(version);
    let marks = "(2 \"2\\n\" \"two\\n\") (5 nil \"five\\n\")";
    wait_marks(&world, marks);
    let cut = "(progn (goto-char (point-min)) (undo-boundary) \
               (kill-region (point) (point-max)) (undo-boundary))";
    world.emacs.eval(cut);
    world.emacs.command("undo");
    world.emacs.wait_until("it again", &buffer(ORIGINAL, false));
    wait_marks(&world, marks);
    // Moved below what was left, which is theirs.
    world.emacs.eval(&format!(
        "(progn {cut} (insert \"mine\\n\") (yank) (undo-boundary))"
    ));
    wait_marks(&world, "(3 \"2\\n\" \"two\\n\") (6 nil \"five\\n\")");
    world.emacs.assert_no_errors();
}

/// The text of before has not all of them.
#[each_emacs]
fn marks_go_and_come_back_with_what_was_read(version: EmacsVersion) {
    let world = world(version);
    wait_marks(&world, "(2 \"2\\n\" \"two\\n\") (5 nil \"five\\n\")");
    let next = format!("import\n{}", ORIGINAL.replace("three", "3"));
    go_on(&world, &next);
    let shown = "(mapcar (lambda (it) (line-number-at-pos (overlay-start it))) \
                 (seq-filter (lambda (it) (overlay-get it 'face)) \
                  (with-current-buffer \"a.txt\" pillion-written--marks)))";
    let shown = |lines: &str| format!("(equal (sort {shown} #'<) '({lines}))");
    world.emacs.wait_until("the marks", &shown("1 3 4 6"));
    for _ in 0..2 {
        world.emacs.command("undo");
        world
            .emacs
            .wait_until("it as before", &buffer(ORIGINAL, true));
        world.emacs.wait_until("no others", &shown("2 5"));
        world.emacs.command("undo-redo");
        world.emacs.wait_until("it again", &buffer(&next, false));
        world.emacs.wait_until("the marks", &shown("1 3 4 6"));
    }
    world.emacs.assert_no_errors();
}

/// Hooks alone report this agent: none is connected, and no mode of Emacs reads files again.
#[each_emacs]
fn what_an_agent_wrote_is_read_again_until_it_is_seen(version: EmacsVersion) {
    let world = world(version);
    wait_marks(&world, "(2 \"2\\n\" \"two\\n\") (5 nil \"five\\n\")");
    let next = ORIGINAL.replace("three", "3");
    let write = |text: &str| go_on(&world, text);
    write(&next);
    world.emacs.wait_until("it is read", &buffer(&next, false));
    // Where something is unsaved, it is said why nothing is marked, and nothing is lost.
    world
        .emacs
        .eval("(progn (goto-char (point-max)) (insert \"mine\\n\"))");
    write(&next.replace("one", "1"));
    world.emacs.wait_said("a.txt changed on disk");
    world.emacs.command("pillion-next-change");
    world.emacs.wait_said("the file has changed on disk.");
    world
        .emacs
        .wait_until("mine", &buffer(&format!("{next}mine\n"), true));
    world.emacs.assert_no_errors();
}

/// Before the file was read again by itself, the way to a hunk reads it.
#[each_emacs]
fn the_way_to_a_hunk_reads_the_file_again(version: EmacsVersion) {
    let world = world(version);
    wait_marks(&world, "(2 \"2\\n\" \"two\\n\") (5 nil \"five\\n\")");
    world.emacs.eval(
        "(progn (pillion-reload-detach) (advice-add 'pillion-reload--look :override #'ignore))",
    );
    let next = ORIGINAL.replace("three", "3");
    go_on(&world, &next);
    world.emacs.wait_until(
        "it is known",
        "(with-current-buffer \"a.txt\" (seq-some (lambda (it) (equal '(\"three\") (append (plist-get it :before) nil))) (pillion-written-hunks (current-buffer))))",
    );
    world.emacs.eval("(goto-char (point-min))");
    for line in [2, 3] {
        world.emacs.command("pillion-next-change");
        world
            .emacs
            .wait_until("there", &format!("(= (line-number-at-pos) {line})"));
    }
    world.emacs.wait_until("it is read", &buffer(&next, false));
    world.emacs.assert_no_errors();
}

#[each_emacs]
fn a_hunk_is_taken_back_in_the_file_and_the_buffer_can_undo_it(version: EmacsVersion) {
    let world = world(version);
    let taken = ORIGINAL.replace("two", "2");
    world
        .emacs
        .eval("(progn (goto-char (point-min)) (forward-line 1) (undo-boundary))");
    world.emacs.command("pillion-take-back");
    world.emacs.wait_until("the text", &buffer(&taken, false));
    assert_eq!(read(&world), taken);
    world.emacs.command("undo");
    world
        .emacs
        .wait_until("its own undo", &buffer(ORIGINAL, true));
    world.emacs.eval("(revert-buffer t t)");
    world.emacs.command("pillion-undo");
    world
        .emacs
        .wait_until("as it was", &buffer(ORIGINAL, false));
    // The agent goes on in that file.
    let next = ORIGINAL.replace("three", "3");
    world
        .home
        .agents_turn("again", |_| fs::write(&world.path, &next).unwrap());
    world
        .emacs
        .eval("(progn (revert-buffer t t) (goto-char (point-min)) (forward-line 2))");
    world.emacs.command("pillion-take-back");
    world
        .emacs
        .wait_until("that is gone", &buffer(ORIGINAL, false));
    world.emacs.wait_said("2.1 a.txt: taken back");
    world.emacs.assert_no_errors();
}

#[each_emacs]
fn unsaved_lines_stay_and_nothing_is_saved(version: EmacsVersion) {
    let world = world(version);
    world
        .emacs
        .eval("(progn (goto-char (point-min)) (insert \"mine\\n\") (undo-boundary))");
    world.emacs.eval("(pillion-take-back t)");
    let merged = format!("mine\n{}", before());
    world.emacs.wait_until("merged", &buffer(&merged, true));
    world.emacs.wait_said("which has unsaved changes: save it");
    assert_eq!(read(&world), ORIGINAL, "not saved");
    world.emacs.command("undo");
    world
        .emacs
        .wait_until("its own undo", &buffer(&format!("mine\n{ORIGINAL}"), true));
    world.emacs.assert_no_errors();
}

#[each_emacs]
fn a_conflict_changes_nothing_and_what_is_elsewhere_is_taken_back(version: EmacsVersion) {
    let world = world(version);
    let mine = ORIGINAL.replace("two", "mine");
    world
        .emacs
        .eval("(progn (goto-char (point-min)) (search-forward \"two\") (replace-match \"mine\"))");
    world.emacs.eval("(pillion-take-back t)");
    world
        .emacs
        .wait_said("has changed since, in 1 of the same places");
    world.emacs.wait_until("no change", &buffer(&mine, true));
    assert_eq!(read(&world), ORIGINAL);
    world
        .emacs
        .eval("(progn (goto-char (point-min)) (search-forward \"five\"))");
    world.emacs.command("pillion-take-back");
    let rest = mine.replace("five\n", "");
    world
        .emacs
        .wait_until("the other hunk", &buffer(&rest, true));
    world.emacs.assert_no_errors();
}

#[each_emacs]
fn the_agent_is_told_why_something_was_taken_back_or_kept(version: EmacsVersion) {
    let world = world(version);
    let said = |id: &str, words: &str| (id.to_owned(), words.to_owned());
    world
        .emacs
        .eval("(progn (goto-char (point-min)) (forward-line 1))");
    world.emacs.command("pillion-take-back-because");
    world.emacs.input("use: 2<RET>");
    let taken = ORIGINAL.replace("two", "2");
    world.emacs.wait_until("the text", &buffer(&taken, false));
    assert_eq!(world.home.said_of(1), [said("1.1", "use: 2")]);
    world.emacs.command("pillion-changes");
    wait_list(&world, "new.txt (new)");
    go_to(&world, "new.txt");
    world.emacs.input("<C-u>s");
    world.emacs.input("a new file<RET>");
    world.emacs.wait_said("1.2 new.txt: kept");
    go_to(&world, "turn 1 ");
    world.emacs.input("R");
    world.emacs.input("all of it<RET>");
    world
        .emacs
        .wait_said("1.2 new.txt: left out, as you kept it");
    let all = [said("1.1", "all of it, use: 2"), said("1.2", "a new file")];
    assert_eq!(world.home.said_of(1), all);
    world.emacs.assert_no_errors();
}

/// While the reason is typed, the agent goes on, and its new turn comes above what is meant.
#[each_emacs]
fn a_reason_is_about_what_was_under_point_when_it_was_begun(version: EmacsVersion) {
    let world = world(version);
    world.emacs.command("pillion-changes");
    wait_list(&world, "line 5: 1.1 unseen +1 -0: five");
    let mut top = 1;
    let mut rest = ORIGINAL.to_owned();
    for (row, key, words, taken) in [
        ("line 5", "R", "one", Some("five\n")),
        ("new.txt (new)", "<C-u>s", "two", None),
        ("a.txt", "R", "three", Some("two\n")),
    ] {
        go_to(&world, row);
        world.emacs.input(key);
        world
            .emacs
            .wait_until("it is asked", "(active-minibuffer-window)");
        top += 1;
        let name = format!("later-{top}.txt");
        let turn = world.home.agents_turn("again", |folder| {
            for name in [&*name, "seen.txt"] {
                fs::write(folder.join(name), format!("{top}\n")).unwrap();
            }
        });
        assert_eq!(turn, top);
        // Something is decided in another place: the list follows.
        world.emacs.eval(&format!(
            "(pillion-client-ask :pillion/keep (list :id \"{top}.2\") #'ignore)"
        ));
        wait_list(&world, &name);
        world.emacs.input(&format!("{words}<RET>"));
        match taken {
            Some(line) => {
                let with = if line == "two\n" { "2\n" } else { "" };
                rest = rest.replace(line, with);
                world.emacs.wait_until("the text", &buffer(&rest, false));
            }
            None => world.emacs.wait_said("1.2 new.txt: kept"),
        }
        assert_eq!(world.home.states_of(top), ["unseen", "kept"]);
    }
    let said = |id: &str, words: &str| (id.to_owned(), words.to_owned());
    let all = [said("1.1", "three, one"), said("1.2", "two")];
    assert_eq!(world.home.said_of(1), all);
    world.emacs.assert_no_errors();
}

/// What is said of a change that is written already is long: the keys are there all the same, and of several diffs, none is
/// meant by an empty answer.
#[each_emacs]
fn a_written_change_shows_its_keys_and_an_empty_answer_means_none(version: EmacsVersion) {
    let home = Home::new();
    home.file("a.txt", before());
    home.agents_turn("write words", |folder| {
        fs::write(folder.join("a.txt"), ORIGINAL).unwrap();
        for name in ["b.txt", "c.txt"] {
            fs::write(folder.join(name), "new\n").unwrap();
        }
    });
    let world = World::with(version, home, |setup| setup);
    world.emacs.input("<M-x>pillion-review<RET>changes<RET>");
    world.emacs.wait_until(
        "the diffs",
        "(and (= 3 (length pillion-diff--pending)) (pillion-view-focused))",
    );
    let shown = world
        .emacs
        .pane()
        .wait_for("| C-c C-c accepts, C-c C-k rejects |", SOON);
    assert!(
        shown.contains("! This change is already in the file."),
        "{shown}"
    );
    world.look();
    world.emacs.input("<M-x>pillion-diffs<RET>");
    world.emacs.pane().wait_for("Go to which diff?", SOON);
    world.emacs.input("<RET>");
    world.emacs.wait_said("no diff was chosen");
}

#[each_emacs]
fn what_the_editor_undoes_counts_when_it_is_saved(version: EmacsVersion) {
    let world = world(version);
    world.emacs.eval("(undo-boundary)");
    world.emacs.input("<C-u><M-x>pillion-take-back<RET>");
    world
        .emacs
        .wait_until("the text", &buffer(&before(), false));
    world.emacs.wait_said("1.1 a.txt: taken back");
    world.emacs.command("undo");
    world
        .emacs
        .wait_until("its own undo", &buffer(ORIGINAL, true));
    assert_eq!(world.home.states_of(1)[0], "taken back", "nothing is saved");
    world.emacs.command("save-buffer");
    world.home.wait_state(1, "unseen");
    assert_eq!(read(&world), ORIGINAL);
    world.emacs.assert_no_errors();
}

/// Nobody has seen what has come under the cursor just now.
#[each_emacs]
fn what_has_just_been_read_is_not_kept(version: EmacsVersion) {
    let world = world(version);
    let next = ORIGINAL.replace("two\n", "two, rewritten\n");
    world
        .home
        .agents_turn("again", |_| fs::write(&world.path, &next).unwrap());
    world.emacs.eval(
        "(progn (revert-buffer t t) (goto-char (point-min)) (search-forward \"rewritten\") (pillion-keep))",
    );
    world
        .emacs
        .wait_said("a.txt only just now: look at it, then do the same again");
    assert_eq!(world.home.states_of(2), ["unseen"]);
    let again = || world.emacs.command("pillion-keep");
    world.home.wait_state_by(2, "kept", again);
    world.emacs.assert_no_errors();
}
