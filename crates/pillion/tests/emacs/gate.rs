//! The facts that the package tells Pillion of a decision, and what it does with the answer.

use std::thread::sleep;

use pillion_testkit::{Emacs, EmacsVersion, Home, SOON, Size, each_emacs};
use pillion_view::LOOK;

use crate::world::{ORIGINAL, PROPOSED, World, lines};

/// The person pages through the proposal to its end.
fn page_through(emacs: &Emacs) {
    while !emacs.get::<bool>("(if (pos-visible-in-window-p (point-max)) t :json-false)") {
        let before: u32 = emacs.get("(window-start)");
        emacs.input_until("<C-v>", &format!("(> (window-start) {before})"));
    }
}

/// Has answers to decisions come only once `(test-answer)` is called.
const LATE: &str = "(defvar test-answers nil) \
    (defun test-answer () (mapc #'funcall test-answers) (setq test-answers nil) (advice-remove 'pillion-client-ask 'late)) \
    (defun test-late () (advice-add 'pillion-client-ask :around (lambda (ask method params answer) \
        (funcall ask method params (lambda (it) (push (lambda () (funcall answer it)) test-answers)))) '((name . late))))";

#[each_emacs]
fn hunks_that_were_not_on_the_screen_are_asked_about(version: EmacsVersion) {
    let even = |number: usize| {
        number
            .is_multiple_of(3)
            .then(|| format!("changed {number}\n"))
    };
    let far = "x".repeat(300);
    for (name, init, original, proposed, page) in [
        ("many", "", lines(120, |_| None), lines(120, even), false),
        (
            "many, paged through",
            "",
            lines(120, |_| None),
            lines(120, even),
            true,
        ),
        (
            "one longer than the screen",
            "",
            "a\n".to_owned(),
            format!("a\n{}", lines(60, |_| None)),
            false,
        ),
        (
            "one longer than the screen, paged through",
            "",
            "a\n".to_owned(),
            format!("a\n{}", lines(60, |_| None)),
            true,
        ),
        (
            "removed lines far below",
            "",
            lines(90, |_| None),
            lines(90, |number| match number {
                2 => Some("two\n".to_owned()),
                80 => Some(String::new()),
                _ => None,
            }),
            false,
        ),
        (
            "cut off",
            "(setq-default truncate-lines t)",
            format!("{far}a\n"),
            format!("{far}b\n"),
            false,
        ),
        (
            "wrapped",
            "",
            format!("{far}a\n"),
            format!("{far}b\n"),
            true,
        ),
    ] {
        let world = World::with(version, Home::new(), |setup| setup.init(init));
        let mut gemini = world.gemini();
        std::fs::write(&world.path, original).unwrap();
        world.propose(&gemini, &proposed);
        if page {
            page_through(&world.emacs);
        }
        world.emacs.input("<C-c><C-c>");
        if !page {
            world.emacs.wait_said("not been on the screen");
            world.is_pending(&mut gemini, name);
            world.wait_view();
            sleep(LOOK);
            world.emacs.input("<C-c><C-c>");
        }
        world.is_accepted(&mut gemini, &proposed);
        let said = "(with-current-buffer \"*Messages*\" (if (string-search \"not been on the screen\" (buffer-string)) t :json-false))";
        assert_eq!(world.emacs.get::<bool>(said), !page, "{name}");
        world.emacs.assert_no_errors();
    }
}

#[each_emacs]
fn what_the_person_changes_counts_as_seen(version: EmacsVersion) {
    let world = World::new(version);
    let mut gemini = world.gemini();
    let proposed = lines(90, |number| {
        [2, 80]
            .contains(&number)
            .then(|| format!("changed {number}\n"))
    });
    std::fs::write(&world.path, lines(90, |_| None)).unwrap();
    world.propose(&gemini, &proposed);
    // As a command does that replaces in all of the buffer.
    world.emacs.eval("(save-excursion (goto-char (point-min)) (search-forward \"changed 80\") (replace-match \"mine\"))");
    world.emacs.input("<C-c><C-c>");
    world.is_accepted(&mut gemini, &proposed.replace("changed 80", "mine"));
}

#[each_emacs]
fn a_refusal_is_on_the_screen_as_a_whole_and_keeps_view_and_text(version: EmacsVersion) {
    for size in [Size::new(80, 24), Size::new(60, 20), Size::new(150, 40)] {
        let world = World::with(version, Home::new(), |setup| setup.size(size));
        let mut gemini = world.gemini();
        let path = world.home.workspace().join(".git/hooks/pre-commit");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, lines(200, |_| None)).unwrap();
        gemini.propose(
            &path,
            &lines(90, |number| {
                number.is_multiple_of(4).then(|| "\u{fffd}\n".to_owned())
            }),
        );
        world.wait_view();
        world.look();
        world
            .emacs
            .input_until("mine", "(string-search \"mine\" (buffer-string))");
        let text: String = world.emacs.get("(buffer-string)");
        world.emacs.input("<C-c><C-c>");
        world.emacs.wait_until(
            "a message",
            "(string-search \"accept again to go ahead\" (or (current-message) \"\"))",
        );
        let said: String = world.emacs.get("(current-message)");
        for part in [
            "not been on the screen",
            "110 of the file's 200 lines are deleted",
            "\u{fffd}",
        ] {
            assert!(said.contains(part), "{said}");
        }
        let red = "(seq-count (lambda (it) (eq (overlay-get it 'face) 'error)) (overlays-in 1 (point-max)))";
        assert_eq!(world.emacs.get::<u32>(red), 22);
        let is_whole = |screen: &str| screen.replace("\\\n", "").contains(&said);
        world.emacs.pane().wait_until(&said, SOON, is_whole);
        world.is_pending(&mut gemini, "one acceptance");
        assert_eq!(world.emacs.get::<String>("(buffer-string)"), text);
        world
            .emacs
            .input_until("more", "(string-search \"minemore\" (buffer-string))");
        world.emacs.assert_no_errors();
    }
}

/// The times that Emacs noted before lie in the future then.
#[each_emacs]
fn after_the_clock_was_set_back_a_proposal_is_looked_at_anew_and_accepted(version: EmacsVersion) {
    let world = World::new(version);
    let mut gemini = world.gemini();
    let future = "(+ (float-time) 3600)";
    for (times, text) in [
        ("", "first\n"),
        ("(setq pillion-seen--begun-at now)", "second\n"),
        (
            "(setq pillion-seen--decided (cons now (1- now)))",
            "third\n",
        ),
    ] {
        world.propose(&gemini, text);
        world.emacs.eval(&format!(
            "(let ((now {future})) {times} \
             (dolist (it pillion-diff--pending) (setf (pillion-diff-seen-since it) now)))"
        ));
        world.emacs.input("<C-c><C-c>");
        world.is_pending(&mut gemini, "it is looked at from now on");
        sleep(LOOK);
        world.emacs.input("<C-c><C-c>");
        world.is_accepted(&mut gemini, text);
        std::fs::write(&world.path, ORIGINAL).unwrap();
    }
    world.emacs.assert_no_errors();
}

#[each_emacs]
fn hunks_are_the_programs_however_many_they_are(version: EmacsVersion) {
    let world = World::new(version);
    let gemini = world.gemini();
    let count = "(length (pillion-diff-hunks (car pillion-diff--pending)))";
    let changed = |first: usize| {
        lines(1837, move |number| {
            (number % 4 == 1 && number >= first).then(|| format!("changed {number}\n"))
        })
    };
    for (original, proposed, hunks, after_drop) in [
        (lines(1837, |_| None), changed(1), 460, changed(5)),
        (
            "a\rb\rc\rd".to_owned(),
            "a\rB\rc\rD".to_owned(),
            1,
            "a\nb\nc\nd".to_owned(),
        ),
        (String::new(), "new\nfile\n".to_owned(), 1, String::new()),
        (
            "a\r\nb\r\nc\r\n".to_owned(),
            "A\r\nb\r\nC\r\n".to_owned(),
            2,
            "a\nb\nC\n".to_owned(),
        ),
    ] {
        if original.is_empty() {
            std::fs::remove_file(&world.path).unwrap();
        } else {
            std::fs::write(&world.path, &original).unwrap();
        }
        world.propose(&gemini, &proposed);
        assert_eq!(world.emacs.get::<usize>(count), hunks);
        world.emacs.input_until(
            "<C-c><C-d>",
            &format!("(equal (buffer-string) {after_drop:?})"),
        );
        // It is compared again.
        world
            .emacs
            .wait_until("one hunk less", &format!("(= {count} {})", hunks - 1));
        gemini.close(&world.path).unwrap();
        world.wait_gone();
    }
    world.emacs.assert_no_errors();
}

#[each_emacs]
fn while_a_decision_is_under_way_nothing_changes_it(version: EmacsVersion) {
    let world = World::with(version, Home::new(), |setup| setup.init(LATE));
    let mut gemini = world.gemini();
    world.propose(&gemini, PROPOSED);
    world.emacs.eval("(test-late)");
    world.emacs.input("<C-c><C-c>");
    for (keys, said) in [
        ("<C-c><C-c>", "this diff is being decided"),
        ("<C-c><C-k>", "this diff is being decided"),
        ("<C-x>k<RET>", "this diff is being decided"),
        ("x", "Buffer is read-only"),
        ("<C-c><C-d>", "read-only"),
    ] {
        world.emacs.eval(
            "(with-current-buffer \"*Messages*\" (let ((inhibit-read-only t)) (erase-buffer)))",
        );
        world.emacs.input(keys);
        world.emacs.wait_said(said);
    }
    assert_eq!(world.emacs.get::<String>("(buffer-string)"), PROPOSED);
    world.emacs.wait_until("its answer", "test-answers");
    world.emacs.eval("(test-answer)");
    world.is_accepted(&mut gemini, PROPOSED);

    // One that does not count leaves everything as it was.
    gemini.propose(&world.path, "newer\n");
    world.wait_view();
    world.emacs.input("<C-c><C-c>");
    // Right after the decision before, it is taken for a key that is held down.
    world.emacs.wait_said("again");
    world.emacs.wait_until(
        "an editable text",
        "(not (or buffer-read-only (pillion-astray-p (car pillion-diff--pending))))",
    );
    world
        .emacs
        .input_until("x", "(string-search \"x\" (buffer-string))");
    world
        .emacs
        .input_until("<DEL>", "(equal (buffer-string) \"newer\\n\")");
    world.emacs.assert_no_errors();
}

#[each_emacs]
fn who_leaves_right_after_deciding_has_decided(version: EmacsVersion) {
    for (keys, code) in [
        ("<C-c><C-c><C-x><C-c>", "t"),
        ("<C-c><C-c>", "(kill-emacs)"),
    ] {
        let world = World::with(version, Home::new(), |setup| setup.init(LATE));
        let mut gemini = world.gemini();
        world.propose(&gemini, PROPOSED);
        // Later than Emacs would be gone.
        world
            .emacs
            .eval("(test-late) (run-at-time 1.5 nil #'test-answer)");
        world.emacs.input(keys);
        if code != "t" {
            world.emacs.wait_until(
                "a decision under way",
                "(seq-some #'pillion-diff-is-deciding pillion-diff--pending)",
            );
            world
                .emacs
                .eval(&format!("(run-at-time 0 nil (lambda () {code}))"));
        }
        let path = world.path.display().to_string();
        assert_eq!(
            gemini.outcome(),
            pillion_testkit::client::Update::accepted(path, PROPOSED),
            "{keys}"
        );
        world.emacs.wait_exit();
        assert_eq!(std::fs::read_to_string(&world.path).unwrap(), ORIGINAL);
    }
}
