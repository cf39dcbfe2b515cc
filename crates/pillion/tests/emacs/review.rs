//! The tests of what is special about deciding in Emacs.

use pillion_testkit::{EmacsVersion, Home, SOON, Size, each_emacs};

use crate::world::{ORIGINAL, PILLION, PROPOSED, World};

/// The buffers in the windows, in their order.
const WINDOWS: &str = "(mapcar (lambda (it) (buffer-name (window-buffer it))) (window-list nil 'no-mini (frame-first-window)))";

#[each_emacs]
fn original_and_proposal_are_side_by_side_with_their_keys(version: EmacsVersion) {
    let world = World::new(version);
    let mut gemini = world.gemini();
    world.propose(&gemini, PROPOSED);
    assert_eq!(
        world.emacs.get::<Vec<String>>(WINDOWS),
        ["*Original: a.txt*", "*Proposal: a.txt*"]
    );
    let screen = world.emacs.pane().screen();
    assert!(
        screen.contains("C-c C-c accepts, C-c C-k rejects") && screen.contains("a.txt (on disk)"),
        "{screen}"
    );
    let colours = "(mapcar (lambda (it) (mapcar (lambda (o) (list (overlay-get o 'face) (overlay-start o) (overlay-end o))) \
        (with-current-buffer (window-buffer it) (seq-filter (lambda (it) (overlay-get it 'face)) (sort (overlays-in 1 100) (lambda (a b) (< (overlay-start a) (overlay-start b)))))))) (window-list nil 'no-mini (frame-first-window)))";
    let drawn: String = world.emacs.get(&format!("(format \"%S\" {colours})"));
    assert_eq!(
        drawn,
        "(((pillion-removed 5 9) (pillion-removed 25 25)) ((pillion-added 5 7) (pillion-added 23 27)))"
    );
    world.emacs.input("<C-c><C-c>");
    world.is_accepted(&mut gemini, PROPOSED);
    assert_eq!(world.emacs.get::<Vec<String>>(WINDOWS), ["a.txt"]);
}

#[each_emacs]
fn what_differs_within_a_line_is_marked(version: EmacsVersion) {
    let world = World::new(version);
    let gemini = world.gemini();
    world.propose(&gemini, "one\ntwice\nthree\nfour hours\n5\n");
    let marked = |buffer: &str, face: &str| {
        format!(
            "(with-current-buffer \"*{buffer}: a.txt*\" (mapcar (lambda (it) \
               (buffer-substring (overlay-start it) (overlay-end it))) \
               (sort (seq-filter (lambda (it) (eq (overlay-get it 'face) '{face})) \
                      (overlays-in (point-min) (point-max))) \
                     (lambda (a b) (< (overlay-start a) (overlay-start b))))))"
        )
    };
    let added: Vec<String> = world.emacs.get(&marked("Proposal", "pillion-added-text"));
    assert_eq!(added, ["ice", " hours"]);
    let removed: Vec<String> = world.emacs.get(&marked("Original", "pillion-removed-text"));
    assert_eq!(removed, ["o"]);
    world.emacs.assert_no_errors();
}

#[each_emacs]
fn hunk_by_hunk_it_becomes_what_it_was(version: EmacsVersion) {
    let world = World::new(version);
    let mut gemini = world.gemini();
    world.propose(&gemini, PROPOSED);
    world.emacs.input_until(
        "<C-c><C-d>",
        "(equal (buffer-string) \"one\\ntwo\\nthree\\nfour\\nfive\\nsix\\n\")",
    );
    world
        .emacs
        .input_until("<C-/>", "(string-search \"2\" (buffer-string))");
    world.emacs.input_until(
        "<C-c><C-n><C-c><C-d>",
        "(not (string-search \"six\" (buffer-string)))",
    );
    world.emacs.input("<C-c><C-c>");
    world.is_accepted(&mut gemini, "one\n2\nthree\nfour\nfive\n");
    world.emacs.assert_no_errors();
}

#[each_emacs]
fn no_code_and_no_keyboard_macro_accepts(version: EmacsVersion) {
    let world = World::new(version);
    let mut gemini = world.gemini();
    world.propose(&gemini, PROPOSED);
    world
        .emacs
        .eval("(run-at-time 0 nil (lambda () (ignore-errors (pillion-accept))))");
    world.emacs.eval(
        "(run-at-time 0 nil (lambda () (ignore-errors (call-interactively #'pillion-accept))))",
    );
    world
        .emacs
        .eval("(ignore-errors (execute-kbd-macro (kbd \"C-c C-c\")))");
    world
        .emacs
        .eval("(fset 'my-macro (kbd \"C-c C-c\")) (global-set-key (kbd \"<f5>\") 'my-macro)");
    world.emacs.pane().send_keys(["F5"]);
    world.emacs.wait_said("a keyboard macro cannot accept");
    world.is_pending(&mut gemini, "code");
    world.look();
    world.emacs.command("pillion-accept");
    world.is_accepted(&mut gemini, PROPOSED);
}

#[each_emacs]
fn a_newer_proposal_is_not_accepted_by_what_was_begun_before(version: EmacsVersion) {
    let world = World::new(version);
    let mut gemini = world.gemini();
    world.propose(&gemini, PROPOSED);
    for begun in ["<M-x>pillion-accept", "<C-c>"] {
        let newer = format!("{begun} newer\n");
        world.emacs.input(begun);
        gemini.propose(&world.path, &newer);
        world.emacs.wait_until(
            "the newer one, seen for a while",
            "(let ((diff (car pillion-diff--pending))) (and (= (pillion-diff-seen-revision diff) (pillion-diff-revision diff)) \
             (> (- (float-time) (pillion-diff-seen-since diff)) 1.2) pillion-seen--begun-at))",
        );
        world
            .emacs
            .input(if begun == "<C-c>" { "<C-c>" } else { "<RET>" });
        world.emacs.wait_said("a newer proposal");
        world.is_pending(&mut gemini, begun);
    }
    world.look();
    world.emacs.input("<C-c><C-c>");
    world.is_accepted(&mut gemini, "<C-c> newer\n");
}

#[each_emacs]
fn a_prompt_a_region_and_a_macro_keep_the_focus(version: EmacsVersion) {
    let world = World::new(version);
    let mut gemini = world.gemini();
    for (begin, state, end) in [
        ("<M-x>abc", "(minibufferp)", "<C-g>"),
        ("<C-SPC><C-f>", "mark-active", "<C-g>"),
        ("<C-x>(", "defining-kbd-macro", "<C-x>)"),
        ("<C-s>t", "isearch-mode", "<C-g>"),
    ] {
        world.emacs.input_until(begin, state);
        gemini.propose(&world.path, PROPOSED);
        world.emacs.wait_said("M-x pillion-diffs shows it");
        world.emacs.wait_until(begin, state);
        world.is_pending(&mut gemini, begin);
        world.emacs.input(end);
        world.wait_view();
        world.look();
        world.emacs.input("<C-c><C-k>");
        world.is_rejected(&mut gemini);
        world.emacs.eval(
            "(with-current-buffer \"*Messages*\" (let ((inhibit-read-only t)) (erase-buffer)))",
        );
    }
}

#[each_emacs]
fn in_ediff_the_same_keys_decide(version: EmacsVersion) {
    let init = "(setq pillion-diff-function #'pillion-diff-ediff)";
    let world = World::with(version, Home::new(), |setup| setup.init(init));
    let mut gemini = world.gemini();
    for keys in ["<C-c><C-c>", "<C-c><C-k>"] {
        gemini.propose(&world.path, PROPOSED);
        world
            .emacs
            .wait_until("Ediff", "(eq major-mode 'ediff-mode)");
        world.look();
        world.emacs.input(keys);
        match keys {
            "<C-c><C-c>" => world.is_accepted(&mut gemini, PROPOSED),
            _ => world.is_rejected(&mut gemini),
        }
        world.emacs.wait_until(
            "the windows of before",
            &format!("(equal {WINDOWS} '(\"a.txt\"))"),
        );
        world
            .emacs
            .wait_until("no Ediff", "(not (get-buffer \"*Ediff Control Panel*\"))");
    }
    world.emacs.assert_no_errors();
}

#[each_emacs]
fn windows_that_the_person_changed_meanwhile_stay_theirs(version: EmacsVersion) {
    let world = World::new(version);
    let mut gemini = world.gemini();
    world.home.file("b.txt", "b\n");
    world.propose(&gemini, PROPOSED);
    world.emacs.input_until(
        "<C-x>o<C-x><C-f>b.txt<RET>",
        "(equal (buffer-name) \"b.txt\")",
    );
    gemini.close(&world.path).unwrap();
    world.wait_gone();
    assert_eq!(world.emacs.get::<Vec<String>>(WINDOWS), ["b.txt"]);
    assert_eq!(gemini.check_heard_all(&world.home, PILLION), Ok(()));
}

#[each_emacs]
fn bytes_that_are_no_text_are_not_accepted_and_not_lost(version: EmacsVersion) {
    let world = World::new(version);
    let mut gemini = world.gemini();
    world.propose(&gemini, "a\nb\n");
    world
        .emacs
        .eval("(goto-char (point-max)) (insert (unibyte-char-to-multibyte 255))");
    world.emacs.input("<C-c><C-c>");
    world.emacs.wait_said("line 3 is not valid UTF-8");
    // Emacs tells no such text.
    world
        .emacs
        .input_until("<M-gt><DEL>", "(equal (buffer-string) \"a\\nb\\n\")");
    world.is_pending(&mut gemini, "C-c C-c");
    world.look();
    world.emacs.input("<C-c><C-c>");
    world.is_accepted(&mut gemini, "a\nb\n");
}

#[each_emacs]
fn what_the_person_sets_for_the_file_counts(version: EmacsVersion) {
    let world = World::new(version);
    let mut gemini = world.gemini();
    for (coding, text) in [
        ("dos", "a\r\nb\r\n"),
        ("utf-8-with-signature-unix", "\u{feff}a\nb\n"),
    ] {
        world.propose(&gemini, "a\nb\n");
        world.emacs.input(&format!("<C-x><RET>f{coding}<RET>"));
        world.emacs.wait_until(
            "the coding system",
            &format!("(string-search \"{coding}\" (symbol-name buffer-file-coding-system))"),
        );
        world.emacs.input("<C-c><C-c>");
        world.is_accepted(&mut gemini, text);
    }
}

#[each_emacs]
fn remote_files_and_other_buffers_are_not_shared(version: EmacsVersion) {
    let world = World::new(version);
    let mut gemini = world.gemini();
    world.active(&mut gemini, |file| file.path.ends_with("a.txt"));
    // As TRAMP sets it, without a connection to anywhere.
    world.emacs.eval("(with-current-buffer (get-buffer-create \"remote\") (setq buffer-file-name \"/ssh:nobody@nowhere:/etc/passwd\") (set-buffer-modified-p nil)) (switch-to-buffer \"remote\")");
    world.home.file("b.txt", "b\n");
    world.emacs.eval(
        "(pillion-context-look) (with-current-buffer \"remote\" (setq buffer-file-name nil))",
    );
    world
        .emacs
        .input_until("<C-x><C-f>b.txt<RET>", "(equal (buffer-name) \"b.txt\")");
    let context = gemini.context(|context| {
        context
            .active_file()
            .is_some_and(|file| file.path.ends_with("b.txt"))
    });
    let shown = format!("{context:?}");
    assert!(
        !shown.contains("nowhere") && shown.contains("a.txt"),
        "{shown}"
    );
    assert_eq!(std::fs::read_to_string(&world.path).unwrap(), ORIGINAL);
    world.emacs.assert_no_errors();
}

#[each_emacs]
fn leaving_emacs_asks_first_while_a_proposal_waits(version: EmacsVersion) {
    let world = World::new(version);
    let mut gemini = world.gemini();
    world.propose(&gemini, PROPOSED);
    world.emacs.input("<C-x><C-c>");
    world
        .emacs
        .pane()
        .wait_for("reject those that are not open elsewhere?", SOON);
    world.emacs.input("n");
    world.is_pending(&mut gemini, "C-x C-c");
    world.look();
    world.emacs.input("<C-x><C-c>");
    world
        .emacs
        .pane()
        .wait_for("reject those that are not open elsewhere?", SOON);
    world.emacs.input("y");
    let path = world.path.display().to_string();
    assert_eq!(
        gemini.outcome(),
        pillion_testkit::client::Update::DiffRejected { path }
    );
    world.emacs.wait_exit();
}

#[each_emacs]
fn the_layout_is_as_the_person_sets_it(version: EmacsVersion) {
    let wide = World::new(version);
    let narrow = World::with(version, Home::new(), |setup| setup.size(Size::new(70, 30)));
    for (world, layout, expected) in [
        (&wide, "auto", "beside"),
        (&wide, "stacked", "below"),
        (&wide, "side-by-side", "beside"),
        (&narrow, "auto", "below"),
        (&narrow, "side-by-side", "beside"),
    ] {
        let mut gemini = world.gemini();
        world
            .emacs
            .eval(&format!("(setq pillion-diff-layout '{layout})"));
        world.propose(&gemini, PROPOSED);
        assert_eq!(
            world.emacs.get::<Vec<String>>(WINDOWS),
            ["*Original: a.txt*", "*Proposal: a.txt*"],
            "{layout}"
        );
        let found: String = world.emacs.get(
            "(let ((left (window-edges (get-buffer-window \"*Original: a.txt*\"))) (right (window-edges))) \
             (cond ((= (nth 1 left) (nth 1 right)) \"beside\") ((= (nth 0 left) (nth 0 right)) \"below\")))",
        );
        assert_eq!(found, expected, "{layout}");
        world.emacs.input("<C-c><C-k>");
        world.is_rejected(&mut gemini);
    }
}

#[each_emacs]
fn windows_that_the_person_closed_come_back_as_they_were(version: EmacsVersion) {
    let world = World::new(version);
    let mut gemini = world.gemini();
    world
        .emacs
        .input_until("<C-x>2", "(= (length (window-list)) 2)");
    for keys in ["<C-x>0", "<C-x>1", "<C-x>o<C-x>1"] {
        world.propose(&gemini, PROPOSED);
        world
            .emacs
            .input_until(keys, "(= (length (window-list)) 1)");
        if keys != "<C-x>1" {
            world
                .emacs
                .wait_said("a.txt is still pending: M-x pillion-diffs goes to it");
            world.is_pending(&mut gemini, keys);
            world.emacs.command("pillion-diffs");
            world.wait_view();
        }
        world.look();
        world.emacs.input("<C-c><C-c>");
        world.is_accepted(&mut gemini, PROPOSED);
        assert_eq!(
            world.emacs.get::<Vec<String>>(WINDOWS),
            ["a.txt", "a.txt"],
            "{keys}"
        );
        world.emacs.eval(
            "(with-current-buffer \"*Messages*\" (let ((inhibit-read-only t)) (erase-buffer)))",
        );
    }
    world.emacs.assert_no_errors();
}

#[each_emacs]
fn quitting_ediff_decides_nothing(version: EmacsVersion) {
    let init = "(setq pillion-diff-function #'pillion-diff-ediff)";
    let world = World::with(version, Home::new(), |setup| setup.init(init));
    let mut gemini = world.gemini();
    gemini.propose(&world.path, PROPOSED);
    world
        .emacs
        .wait_until("Ediff", "(eq major-mode 'ediff-mode)");
    world.look();
    world.emacs.input("q");
    world
        .emacs
        .pane()
        .wait_for("Quit this Ediff session?", SOON);
    world.emacs.input("y");
    world
        .emacs
        .wait_said("still pending: M-x pillion-diffs goes to it");
    world.is_pending(&mut gemini, "q in Ediff");
    world.emacs.command("pillion-diffs");
    world.look();
    world.emacs.input("<C-c><C-c>");
    world.is_accepted(&mut gemini, PROPOSED);
    world.emacs.wait_until(
        "the windows of before",
        &format!("(equal {WINDOWS} '(\"a.txt\"))"),
    );
    world.emacs.assert_no_errors();
}

#[each_emacs]
fn what_no_line_shows_is_on_the_screen_however_narrow_it_is(version: EmacsVersion) {
    let latin: &[u8] = b"caf\xe9\ntwo\n";
    for columns in [80, 100, 130] {
        let world = World::with(version, Home::new(), |setup| {
            setup.size(Size::new(columns, 30))
        });
        let path = world.home.workspace().join("settings.local.txt");
        let mut gemini = world.gemini();
        for (original, proposed, remarks) in [
            (
                ORIGINAL.as_bytes(),
                "one\ntwo",
                &["removes the final newline"][..],
            ),
            (
                latin,
                "caf\u{e9}\n2",
                &["removes the final newline", "not UTF-8"],
            ),
            (b"a\nb\n", "a\r\nb\r\nc\r\n", &["line endings: LF to CRLF"]),
        ] {
            std::fs::write(&path, original).unwrap();
            gemini.propose(&path, proposed);
            world.wait_view();
            for text in remarks.iter().chain(&["settings.local.txt"]) {
                world.emacs.pane().wait_for(text, SOON);
            }
            world.look();
            world.emacs.input("<C-c><C-k>");
            let path = path.display().to_string();
            assert_eq!(
                gemini.outcome(),
                pillion_testkit::client::Update::DiffRejected { path }
            );
            world.wait_gone();
        }
        world.emacs.assert_no_errors();
    }
}
