//! Beside what people add to Emacs: vterm, eat, Evil, Flycheck.

use pillion_testkit::{EmacsSetup, EmacsVersion, Home, TestClaude, each_newer_emacs};

use crate::world::{ORIGINAL, PROPOSED, World};

/// The buffers in the windows, in their order.
const WINDOWS: &str = "(mapcar (lambda (it) (buffer-name (window-buffer it))) (window-list nil 'no-mini (frame-first-window)))";

/// With these packages, and this in the init file.
fn world(version: EmacsVersion, packages: &[&str], init: &str) -> World {
    let change = |setup: EmacsSetup| setup.packages(packages).init(init);
    World::with(version, Home::new(), change)
}

/// A terminal in which `pillion-run` starts a shell: it gets the environment and what is sent, keeps the focus, and
/// leaves the selection of the file alone.
fn check_terminal(world: &World, mode: &str) {
    let emacs = &world.emacs;
    let mut gemini = world.gemini();
    let port: u32 = emacs.get("(pillion-client-get :port)");
    let shows = |text: &str| {
        format!("(and (eq major-mode '{mode}) (string-search {text:?} (buffer-string)))")
    };
    emacs.input_until("<M-lt><C-n><C-SPC><C-n>", "(and mark-active (= (point) 9))");
    emacs.input("<M-x>pillion-run<RET>sh<RET>");
    emacs.wait_until("its shell", &shows("$ "));
    emacs.input("echo port=$GEMINI_CLI_IDE_SERVER_PORT,$CLAUDE_CODE_SSE_PORT.<RET>");
    emacs.wait_until("the ports", &shows(&format!("port={port},{port}.")));
    world.active(&mut gemini, |file| {
        file.selected_text.as_deref() == Some("two\n")
    });
    emacs.command("pillion-send");
    emacs.wait_until("what was sent", &shows("@a.txt "));
    emacs.input("<C-c><C-c>");
    // Until then, the shell discards its input.
    emacs.wait_until(
        "the next prompt",
        r#"(string-match-p "\\^C[ \n]*\\$ " (buffer-string))"#,
    );

    let before: Vec<String> = emacs.get(WINDOWS);
    gemini.propose(&world.path, PROPOSED);
    emacs.wait_until(
        "a view beside it",
        "(get-buffer-window \"*Proposal: a.txt*\")",
    );
    emacs.input("echo still here<RET>");
    emacs.wait_until("what was typed", &shows("\nstill here"));
    world.is_pending(&mut gemini, "typing in the terminal");
    emacs.command("pillion-diffs");
    world.wait_view();
    world.look();
    emacs.input("<C-c><C-c>");
    world.is_accepted(&mut gemini, PROPOSED);
    assert_eq!(emacs.get::<Vec<String>>(WINDOWS), before);
    emacs.assert_no_errors();
}

/// A shell that says that it waits.
const AGENTS: &str = "(setq pillion-agents '((\"sh\" \"env\" \"PS1=$ \" \"sh\")))";

#[each_newer_emacs]
fn vterm_is_found_and_keeps_the_focus(version: EmacsVersion) {
    let world = world(version, &["vterm"], AGENTS);
    check_terminal(&world, "vterm-mode");
}

#[each_newer_emacs]
fn eat_is_found_and_keeps_the_focus(version: EmacsVersion) {
    let world = world(version, &["eat"], AGENTS);
    check_terminal(&world, "eat-mode");
}

#[each_newer_emacs]
fn terminals_that_the_person_opens_lead_agents_here(version: EmacsVersion) {
    let world = world(
        version,
        &["vterm"],
        "(require 'vterm) (setenv \"PS1\" \"$ \") (setq vterm-shell \"/bin/sh\")",
    );
    let port: u32 = world.emacs.get("(pillion-client-get :port)");
    for (command, mode) in [
        ("vterm<RET>", "vterm-mode"),
        ("term<RET><RET>", "term-mode"),
        ("ansi-term<RET><RET>", "term-mode"),
    ] {
        world.emacs.input(&format!("<M-x>{command}"));
        world.emacs.wait_until(
            "a shell",
            &format!("(and (eq major-mode '{mode}) (string-match-p \"[$#] \" (buffer-string)))"),
        );
        world
            .emacs
            .input("echo port=$GEMINI_CLI_IDE_SERVER_PORT.<RET>");
        world.emacs.wait_until(
            "the port",
            &format!("(string-search \"port={port}.\" (buffer-string))"),
        );
        world.emacs.eval("(switch-to-buffer \"a.txt\")");
    }
}

const EVIL: &str = "(require 'evil) (evil-mode 1)";

#[each_newer_emacs]
fn in_evil_no_way_of_saving_accepts(version: EmacsVersion) {
    let world = world(version, &["evil", "goto-chg"], EVIL);
    let mut gemini = world.gemini();
    for path in [
        world.path.clone(),
        world.home.workspace().join("new.of-no-mode"),
    ] {
        gemini.propose(&path, PROPOSED);
        world.wait_view();
        world.look();
        world.emacs.wait_until(
            "normal state",
            "(and evil-local-mode (eq evil-state 'normal))",
        );
        for keys in [
            ":w<RET>",
            "ZZ",
            ":wq<RET>",
            ":x<RET>",
            ":w!<RET>",
            "<C-x><C-s>",
        ] {
            world.emacs.eval(
                "(with-current-buffer \"*Messages*\" (let ((inhibit-read-only t)) (erase-buffer)))",
            );
            world.emacs.input(keys);
            world
                .emacs
                .wait_said("saving accepts nothing: C-c C-c accepts, C-c C-k rejects");
            world.is_pending(&mut gemini, keys);
        }
        world.emacs.input_until(
            "ggddcwII<ESC>",
            "(and (string-prefix-p \"II\" (buffer-string)) (eq evil-state 'normal))",
        );
        world.emacs.input("<C-c><C-c>");
        let text = PROPOSED.replace("one\n2\n", "II\n");
        let expected = pillion_testkit::client::Update::accepted(path.display().to_string(), text);
        assert_eq!(gemini.outcome(), expected, "{}", world.emacs.describe());
        world.wait_gone();
    }
    world.emacs.assert_no_errors();
}

#[each_newer_emacs]
fn in_evil_the_keys_of_the_list_decide(version: EmacsVersion) {
    let home = Home::new();
    home.agents_turn("write words", |folder| {
        std::fs::write(folder.join("new.txt"), "new\n").unwrap();
    });
    let world = World::with(version, home, |setup| {
        setup.packages(&["evil", "goto-chg"]).init(EVIL)
    });
    world.emacs.command("pillion-changes");
    world.emacs.wait_until(
        "the list",
        "(and (derived-mode-p 'pillion-changes-mode) (string-search \"new.txt\" (buffer-string)))",
    );
    world.emacs.input("j");
    world.emacs.wait_until(
        "a line that was looked at",
        "(with-current-buffer \"*pillion changes*\" \
           (>= (or (pillion-changes--rested-ms (pillion-changes--at-point)) 0) 700))",
    );
    world.emacs.input("s");
    world.emacs.wait_said("1.1 new.txt: kept");
    world.emacs.assert_no_errors();
}

#[each_newer_emacs]
fn in_evil_a_closed_window_decides_nothing(version: EmacsVersion) {
    let world = world(version, &["evil", "goto-chg"], EVIL);
    let mut gemini = world.gemini();
    world
        .emacs
        .input_until("<C-x>2", "(= (length (window-list)) 2)");
    let before: Vec<String> = world.emacs.get(WINDOWS);
    world.propose(&gemini, PROPOSED);
    world.emacs.input(":q<RET>");
    world
        .emacs
        .wait_said("a.txt is still pending: M-x pillion-diffs goes to it");
    world.is_pending(&mut gemini, ":q");
    world.emacs.command("pillion-diffs");
    world.wait_view();
    world.look();
    world.emacs.input("<C-c><C-k>");
    world.is_rejected(&mut gemini);
    assert_eq!(world.emacs.get::<Vec<String>>(WINDOWS), before);
    world.emacs.assert_no_errors();
}

#[each_newer_emacs]
fn what_is_selected_in_evil_is_what_agents_see(version: EmacsVersion) {
    let world = world(version, &["evil", "goto-chg"], EVIL);
    let mut gemini = world.gemini();
    for (keys, text) in [
        ("ggjvl", "tw"),
        ("ggjVj", "two\nthree\n"),
        ("gg0j0l<C-v>jl", "wo\nhr"),
    ] {
        world.emacs.input_until(keys, "(eq evil-state 'visual)");
        world.active(&mut gemini, |file| {
            file.selected_text.as_deref() == Some(text)
        });
        // It is not disturbed.
        gemini.propose(&world.path, PROPOSED);
        world.emacs.wait_said("M-x pillion-diffs shows it");
        assert!(world.emacs.get::<bool>("(eq evil-state 'visual)"), "{keys}");
        world.emacs.input("<ESC>");
        world.wait_view();
        world.look();
        world.emacs.input("<C-c><C-k>");
        world.is_rejected(&mut gemini);
        world.emacs.eval(
            "(with-current-buffer \"*Messages*\" (let ((inhibit-read-only t)) (erase-buffer)))",
        );
    }
    assert_eq!(std::fs::read_to_string(&world.path).unwrap(), ORIGINAL);
    world.emacs.assert_no_errors();
}

/// Finds a word on the second line.
const CHECKER: &str = "(require 'flycheck)
    (flycheck-define-generic-checker 'spell \"Finds a word.\" :modes '(text-mode)
      :start (lambda (checker report)
               (funcall report 'finished (list (flycheck-error-new-at 2 1 'warning \"no such word\" :id \"W7\" :checker checker)))))
    (add-to-list 'flycheck-checkers 'spell)
    (global-flycheck-mode 1)";

#[each_newer_emacs]
fn diagnostics_are_those_of_flycheck(version: EmacsVersion) {
    let world = world(version, &["flycheck"], CHECKER);
    world
        .emacs
        .wait_until("a problem", "(bound-and-true-p flycheck-current-errors)");
    let claude = TestClaude::find(&world.home);
    let found = claude.diagnostics(None);
    let text = format!("{found:?}");
    assert_eq!(found.len(), 1, "{text}");
    for part in [
        "no such word",
        "spell",
        "W7",
        "Warning",
        "line: 1",
        "character: 0",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    world.emacs.assert_no_errors();
}
