//! A person who does something else when a proposal comes: nothing of what they do goes astray, and nothing that waits
//! for them is forgotten.

use std::process::Command;

use pillion_testkit::{Editors, EmacsVersion, Home, SOON, Size, each_emacs};

use crate::world::{ORIGINAL, PROPOSED, World};

const CLEAR: &str =
    "(with-current-buffer \"*Messages*\" (let ((inhibit-read-only t)) (erase-buffer)))";

/// That the mode line says what waits.
const WAITS: &str = "(string-search \"[M-x pillion-diffs: 1 diff]\" (format-mode-line (default-value 'mode-line-format)))";

#[each_emacs]
fn keys_of_the_first_second_change_nothing(version: EmacsVersion) {
    let world = World::new(version);
    let mut gemini = world.gemini();
    // No machine is so slow that this is over before the keys come.
    world.emacs.eval("(setq pillion-astray--delay 1000)");
    gemini.propose(&world.path, PROPOSED);
    world.wait_view();
    for keys in ["xyz", "<C-k>", "<C-x>h<C-w>", "<C-x>k<RET>", "<C-x>0"] {
        world.emacs.eval(CLEAR);
        world.emacs.input(keys);
        world.emacs.wait_said("keys count once you pause");
        assert_eq!(
            world.emacs.get::<String>("(buffer-string)"),
            PROPOSED,
            "{keys}"
        );
        assert!(
            !world
                .emacs
                .get::<bool>("(if (buffer-modified-p) t :json-false)"),
            "{keys}"
        );
    }
    world.is_pending(&mut gemini, "keys for what had the focus before");
    world
        .emacs
        .eval("(setq pillion-astray--delay 0 pillion-astray--burst 0)");
    world
        .emacs
        .input_until("mine", "(string-search \"mine\" (buffer-string))");
    world.emacs.assert_no_errors();
}

/// A buffer such as that of a commit's message, in which the keys that decide about a proposal do something else.
const COMMIT: &str = "(defvar test-did nil) \
    (defun test-commit () (interactive) (push 'committed test-did)) \
    (defun test-cancel () (interactive) (push 'cancelled test-did)) \
    (define-minor-mode test-commit-mode \"\" :keymap (list (cons (kbd \"C-c C-c\") #'test-commit) (cons (kbd \"C-c C-k\") #'test-cancel)))";

/// Goes to that buffer.
const MESSAGE: &str = "(progn (switch-to-buffer \"message\") (test-commit-mode 1))";

/// That the view is gone, and the person in that buffer.
const IN_MESSAGE: &str = "(and (null pillion-diff--leaving) (equal (buffer-name) \"message\"))";

#[each_emacs]
fn what_is_pressed_twice_decides_nothing_in_the_buffer_below(version: EmacsVersion) {
    let world = World::with(version, Home::new(), |setup| setup.init(COMMIT));
    let mut gemini = world.gemini();
    for decision in ["<C-c><C-c>", "<C-c><C-k>", "the agent's"] {
        world.emacs.eval(MESSAGE);
        world.propose(&gemini, PROPOSED);
        // No machine is so slow that this is over before the keys come.
        world.emacs.eval("(setq pillion-astray--delay 1000)");
        match decision {
            "the agent's" => drop(gemini.close(&world.path).unwrap()),
            keys => world.emacs.input(keys),
        }
        match decision {
            "<C-c><C-c>" => world.is_accepted(&mut gemini, PROPOSED),
            "<C-c><C-k>" => world.is_rejected(&mut gemini),
            _ => world.wait_gone(),
        }
        world.emacs.wait_until("the buffer below", IN_MESSAGE);
        for (keys, name) in [
            ("<C-c><C-c>", "C-c C-c"),
            ("<C-c><C-k>", "C-c C-k"),
            ("<C-c><C-c><C-c><C-c>", "C-c C-c"),
        ] {
            world.emacs.eval(CLEAR);
            world.emacs.input(keys);
            world.emacs.wait_said(&format!(
                "the proposal for a.txt has just closed: {name} counts here once you pause"
            ));
            world.emacs.pane().wait_read();
            let did: String = world.emacs.get("(format \"%S\" test-did)");
            assert_eq!(did, "nil", "{keys} after {decision}");
        }
        // All other keys are the buffer's.
        world
            .emacs
            .input_until("<C-x>h", "(= (mark t) (point-max))");
        world
            .emacs
            .eval("(setq pillion-astray--delay 0 pillion-astray--burst 0)");
        world
            .emacs
            .input_until("<C-c><C-c>", "(equal test-did '(committed))");
        world
            .emacs
            .input_until("<C-c><C-k>", "(equal test-did '(cancelled committed))");
        let is_watched = "(if (memq 'pillion-astray--check-left pre-command-hook) t :json-false)";
        assert!(!world.emacs.get::<bool>(is_watched));
        world
            .emacs
            .eval("(deactivate-mark) (setq test-did nil pillion-astray--delay 1.0 pillion-astray--burst 0.3)");
    }
    world.emacs.assert_no_errors();
}

/// Nobody has decided, and the next keys are meant for what is on the screen: it stays until its person leaves it.
#[each_emacs]
fn who_is_in_a_proposal_whose_agent_is_gone_stays_in_it(version: EmacsVersion) {
    let world = World::new(version);
    let gone = "Gemini CLI no longer waits for a.txt here: nothing was decided";
    world.emacs.eval("(setq pillion-editing-delay 1.0)");
    for (mine, leave) in [
        ("", "<C-c><C-c>"),
        ("MINE ", "<C-c><C-k>"),
        ("", "<C-x>b*scratch*<RET>"),
        ("MINE ", "<C-x>k<RET>"),
    ] {
        let gemini = world.gemini();
        world.propose(&gemini, PROPOSED);
        world.emacs.input(mine);
        let text = format!("(string-search {mine:?} (buffer-string))");
        world.emacs.wait_until("it is typed", &text);
        world
            .emacs
            .wait_until("a pause", "(not (pillion-typing-p))");
        let before: String = world.emacs.get("(buffer-string)");
        gemini.disconnect();
        world.emacs.wait_said(gone);
        world.emacs.wait_until("its end", "buffer-read-only");
        let header = "| Gemini CLI no longer waits for a.txt";
        world.emacs.pane().wait_for(header, SOON);
        world.emacs.input("MORE");
        world.emacs.pane().wait_read();
        assert_eq!(world.emacs.get::<String>("(buffer-string)"), before);
        world.emacs.input(leave);
        world.wait_gone();
        let below = "(with-current-buffer \"a.txt\" (list (buffer-string) (buffer-modified-p)))";
        let below: (String, Option<bool>) = world.emacs.get(below);
        assert_eq!(below, (ORIGINAL.to_owned(), None), "{leave}");
        if !mine.is_empty() && !leave.contains("<C-x>k") {
            world.emacs.wait_said(&format!(
                "{gone}: your edits of a.txt are in the buffer *Kept: a.txt*"
            ));
            world
                .emacs
                .eval("(kill-buffer \"*Kept: a.txt*\") (switch-to-buffer \"a.txt\")");
        }
        world.emacs.eval(
            "(progn (switch-to-buffer \"a.txt\") (with-current-buffer \"*Messages*\" (let ((inhibit-read-only t)) (erase-buffer))))",
        );
    }
    world.emacs.assert_no_errors();
}

#[each_emacs]
fn only_who_was_in_the_view_that_closed_is_kept_from_deciding(version: EmacsVersion) {
    let world = World::with(version, Home::new(), |setup| setup.init(COMMIT));
    let mut gemini = world.gemini();
    let forever = "(setq pillion-astray--delay 1000)";

    // They had gone elsewhere.
    world.propose(&gemini, PROPOSED);
    world.emacs.eval(forever);
    world.emacs.eval(MESSAGE);
    gemini.close(&world.path).unwrap();
    world.wait_gone();
    world
        .emacs
        .input_until("<C-c><C-c>", "(equal test-did '(committed))");

    // The next proposal is one to decide about.
    let other = world.home.file("b.txt", "b\n");
    world.emacs.eval("(setq pillion-astray--delay 1.0)");
    world.propose(&gemini, PROPOSED);
    gemini.propose(&other, "B\n");
    world
        .emacs
        .wait_until("two", "(= 2 (length pillion-diff--pending))");
    world.emacs.eval(forever);
    world.emacs.input("<C-c><C-c>");
    let expected =
        pillion_testkit::client::Update::accepted(world.path.display().to_string(), PROPOSED);
    assert_eq!(gemini.outcome(), expected);
    world
        .emacs
        .wait_until("the next", "(equal (buffer-name) \"*Proposal: b.txt*\")");
    // As long as `World::look` would wait.
    let is_seen = "(and (pillion-diff-seen-count (pillion-view-focused)) (> (- (float-time) (pillion-diff-seen-since (pillion-view-focused))) 0.8))";
    world.emacs.wait_until("a look", is_seen);
    world.emacs.input("<C-c><C-k>");
    let path = other.display().to_string();
    assert_eq!(
        gemini.outcome(),
        pillion_testkit::client::Update::DiffRejected { path }
    );
    world.wait_gone();
    world.emacs.assert_no_errors();
}

#[each_emacs]
fn who_has_typed_nothing_yet_does_not_count_as_typing(version: EmacsVersion) {
    let world = World::new(version);
    let is_typing = "(cl-letf (((symbol-function 'current-idle-time) (lambda () '(0 0 0 0)))) (if (pillion-typing-p) t :json-false))";
    assert!(!world.emacs.get::<bool>(is_typing));
    world.emacs.input_until("<C-f>", "(= (point) 2)");
    assert!(world.emacs.get::<bool>(is_typing));
}

#[each_emacs]
fn what_waits_stays_in_the_mode_line_and_is_said_when_it_opens(version: EmacsVersion) {
    let world = World::new(version);
    let mut gemini = world.gemini();
    for (begin, state, end) in [
        ("<M-x>abc", "(minibufferp)", "<C-g>"),
        ("<C-x>", "(equal (this-single-command-keys) [24])", "<C-g>"),
        ("<C-SPC><C-f>", "mark-active", "<C-g>"),
        ("<C-x>(", "defining-kbd-macro", "<C-x>)"),
        ("<C-s>t", "isearch-mode", "<C-g>"),
    ] {
        world.emacs.eval(CLEAR);
        world.emacs.input_until(begin, state);
        gemini.propose(&world.path, PROPOSED);
        world.emacs.wait_said("M-x pillion-diffs shows it");
        world.emacs.wait_until("the mode line", WAITS);
        world.emacs.input(end);
        world.wait_view();
        world
            .emacs
            .wait_said("Gemini CLI proposes a.txt: C-c C-c accepts, C-c C-k rejects");
        world
            .emacs
            .wait_until("nothing that waits", &format!("(not {WAITS})"));
        world.look();
        world.emacs.input("<C-c><C-k>");
        world.is_rejected(&mut gemini);
    }
    world.emacs.assert_no_errors();
}

#[each_emacs]
fn what_covers_a_proposal_without_a_command_is_said(version: EmacsVersion) {
    let world = World::new(version);
    let mut gemini = world.gemini();
    let other = world.home.file("b.txt", "b\n");
    world
        .emacs
        .eval("(require 'server) (setq server-name \"test\") (server-start)");
    let server: String = world
        .emacs
        .get("(expand-file-name server-name server-socket-dir)");
    let client = || {
        let place = Editors::from_env().emacs(version);
        let client = Command::new(place.client)
            .args(["--no-wait", "--socket-name", &server])
            .arg(&other)
            .status();
        assert!(client.unwrap().success());
    };
    let code = |code: &str| {
        world
            .emacs
            .eval(&format!("(run-at-time 0 nil (lambda () {code}))"))
    };
    let covers: [&dyn Fn(); 3] = [
        &client,
        &|| code("(switch-to-buffer \"*Messages*\")"),
        &|| code("(delete-window (get-buffer-window \"*Proposal: a.txt*\"))"),
    ];
    for (number, cover) in covers.iter().enumerate() {
        world.propose(&gemini, PROPOSED);
        world.emacs.eval(CLEAR);
        cover();
        world
            .emacs
            .wait_said("a.txt is still pending: M-x pillion-diffs goes to it");
        world.emacs.wait_until("the mode line", WAITS);
        world.is_pending(&mut gemini, &number.to_string());
        world.emacs.command("pillion-diffs");
        world.wait_view();
        world.look();
        world.emacs.input("<C-c><C-k>");
        world.is_rejected(&mut gemini);
    }
    world.emacs.assert_no_errors();
}

#[each_emacs]
fn a_frame_or_a_tab_in_front_of_a_proposal_is_said(version: EmacsVersion) {
    for (first, is_there, cover) in [
        ("", "t", "<C-x>5bother<RET>"),
        ("<C-x>52", "(cdr (frame-list))", "<C-x>bother<RET>"),
        // Where more keys wait already, Emacs itself crashes.
        ("<C-x>t2", "(cdr (tab-bar-tabs))", "<C-x>bother<RET>"),
    ] {
        let world = World::with(version, Home::new(), |setup| setup.size(Size::new(80, 24)));
        let mut gemini = world.gemini();
        world.propose(&gemini, PROPOSED);
        world.emacs.input_until(first, is_there);
        world
            .emacs
            .input_until(cover, "(equal (buffer-name) \"other\")");
        world
            .emacs
            .wait_said("a.txt is still pending: M-x pillion-diffs goes to it");
        world.emacs.wait_until("the mode line", WAITS);
        // Half a window has no room for it.
        if world.emacs.get::<u32>("(window-width)") == 80 {
            world.emacs.pane().wait_for("[M-x pillion-diffs: 1", SOON);
        }
        world.is_pending(&mut gemini, cover);
        world.emacs.command("pillion-diffs");
        world.wait_view();
        world.look();
        world.emacs.input("<C-c><C-k>");
        world.is_rejected(&mut gemini);
        world.emacs.assert_no_errors();
    }
}
