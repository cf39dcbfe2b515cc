//! The notes of the person to the agent beside a decision: a reason, and notes on lines of the proposal.

use pillion_testkit::{EmacsVersion, Home, SOON, each_emacs};
use serde_json::{Value, json};

use crate::world::{PROPOSED, World};

/// Notes down which notes are sent; `test-ruling` is the answer in place of the program's if it is set.
const LISTENS: &str = "(defvar test-sent nil) (defvar test-ruling nil) \
    (with-eval-after-load 'pillion-client (advice-add 'pillion-client-ask :around \
      (lambda (ask method params answer) \
        (when (eq method :pillion/decide) (setq test-sent (plist-get params :notes))) \
        (funcall ask method params \
          (if (eq method :pillion/decide) (lambda (it) (funcall answer (append test-ruling it))) answer)))))";

fn world(version: EmacsVersion) -> World {
    World::with(version, Home::new(), |setup| setup.init(LISTENS))
}

fn sent(world: &World) -> Value {
    world.emacs.get("test-sent")
}

/// Opens the prompt of these keys and answers it.
#[track_caller]
fn answer(world: &World, keys: &str, text: &str) {
    world.emacs.input_until(keys, "(active-minibuffer-window)");
    world
        .emacs
        .input_until(&format!("{text}<RET>"), "(not (active-minibuffer-window))");
}

fn on(first: u32, last: u32, text: &str) -> Value {
    json!({"lines": {"first": first, "last": last}, "text": text})
}

#[each_emacs]
fn a_reason_is_asked_for_and_leaving_the_prompt_decides_nothing(version: EmacsVersion) {
    let world = world(version);
    let mut gemini = world.gemini();
    for reason in ["too long", "quotes \" ' %s %sh{x} \\\\", "ü"] {
        world.propose(&gemini, PROPOSED);
        world
            .emacs
            .input_until("<C-u><C-c><C-k>", "(active-minibuffer-window)");
        world
            .emacs
            .input_until("not this<C-g>", "(not (active-minibuffer-window))");
        world.is_pending(&mut gemini, "C-g");
        world.look();
        answer(&world, "<C-u><C-c><C-k>", reason);
        world.is_rejected(&mut gemini);
        assert_eq!(sent(&world), json!([{"text": reason}]));
        world.emacs.wait_said("Gemini");
    }
    world.propose(&gemini, PROPOSED);
    world.emacs.input("<C-c><C-k>");
    world.is_rejected(&mut gemini);
    assert_eq!(sent(&world), json!(null), "nobody asked for a reason");
    world.emacs.assert_no_errors();
}

#[each_emacs]
fn notes_move_with_their_lines_can_be_changed_and_go_along(version: EmacsVersion) {
    let world = world(version);
    let mut gemini = world.gemini();
    for is_accepted in [true, false] {
        world.propose(&gemini, PROPOSED);
        world
            .emacs
            .input_until("<M-lt><C-n>", "(= 2 (line-number-at-pos))");
        answer(&world, "<C-c><C-a>", "why a digit");
        world.emacs.pane().wait_for("▸ why a digit", SOON);
        world.emacs.pane().wait_for(", 1 note", SOON);
        // Another one on two lines, which is changed; and one that is removed.
        world.emacs.input_until(
            "<M-g>g3<RET><C-SPC><M-g>g5<RET>",
            "(= 5 (line-number-at-pos))",
        );
        answer(&world, "<C-c><C-a>", "both");
        answer(&world, "<C-p><C-c><C-a>", " of them");
        world.emacs.input_until("<M-gt>", "(eobp)");
        answer(&world, "<C-c><C-a>", "last");
        world.emacs.pane().wait_for(", 3 notes", SOON);
        answer(&world, "<C-c><C-a>", "<C-a><C-k>");
        world.emacs.pane().wait_for(", 2 notes", SOON);
        world.emacs.input_until(
            "<M-lt>top<RET>",
            "(string-prefix-p \"top\\n\" (buffer-string))",
        );
        world.emacs.input(if is_accepted {
            "<C-c><C-c>"
        } else {
            "<C-c><C-k>"
        });
        if is_accepted {
            world.is_accepted(&mut gemini, &format!("top\n{PROPOSED}"));
        } else {
            world.is_rejected(&mut gemini);
        }
        assert_eq!(
            sent(&world),
            json!([on(2, 2, "why a digit"), on(3, 4, "both of them")])
        );
        world.emacs.assert_no_errors();
    }
}

#[each_emacs]
fn what_no_agent_takes_is_in_the_kill_ring(version: EmacsVersion) {
    let world = world(version);
    let mut gemini = world.gemini();
    // As the program answers; closed by the agent; with notes that are too long.
    world.emacs.eval("(setq test-ruling '(:message \"it is on the clipboard\" :clipboard \"one\\ntwo\" :settled t))");
    world.propose(&gemini, PROPOSED);
    answer(&world, "<C-u><C-c><C-k>", "no");
    world.is_rejected(&mut gemini);
    world.emacs.wait_said("it is on the clipboard");
    assert_eq!(world.emacs.get::<String>("(current-kill 0)"), "one\ntwo");
    world.emacs.eval("(setq test-ruling nil)");
    world.propose(&gemini, PROPOSED);
    answer(&world, "<C-c><C-a>", "mine");
    gemini.close(&world.path).unwrap();
    world.emacs.wait_said("was not told your notes");
    assert_eq!(world.emacs.get::<String>("(current-kill 0)"), "mine");
    world.wait_gone();
    world.propose(&gemini, PROPOSED);
    answer(&world, "<C-c><C-a>", "short");
    world.emacs.eval("(overlay-put (car (pillion-notes--overlays (current-buffer))) 'pillion-note (make-string 20000 ?x))");
    world.emacs.input("<C-c><C-k>");
    world.emacs.wait_said("the limit is 10000");
    world.is_pending(&mut gemini, "notes that are too long");
}
