//! The hunks of a proposal that were on the screen: the count, and the way to the rest.

use pillion_testkit::{EmacsVersion, Home, SOON, Size, each_emacs};

use crate::world::{World, lines};

const CLEAR: &str =
    "(with-current-buffer \"*Messages*\" (let ((inhibit-read-only t)) (erase-buffer)))";

/// True if a decision was asked about.
const ASKED: &str = "(with-current-buffer \"*Messages*\" (if (string-search \"not been on the screen\" (buffer-string)) t :json-false))";

/// The number of hunks of the proposal in focus that were seen, as far as Emacs has looked.
const COUNT: &str = "(pillion-diff-seen-count (pillion-view-focused))";

/// Goes on until all was on the screen. Returns how often.
#[track_caller]
fn go_on_to_the_end(world: &World) -> usize {
    world.emacs.eval(CLEAR);
    for number in 0..60 {
        let before: String = world.emacs.get("(format \"%S\" (list last-command (buffer-name) (point) (mapcar #'window-start (window-list)) (current-message)))");
        world.emacs.input_until("<C-c><C-v>", &format!("(not (equal {before:?} (format \"%S\" (list last-command (buffer-name) (point) (mapcar #'window-start (window-list)) (current-message)))))"));
        if world.emacs.get::<bool>("(if (equal (current-message) \"Pillion: all of it has been on the screen\") t :json-false)") {
            return number;
        }
    }
    panic!("{}", world.emacs.describe());
}

#[each_emacs]
fn how_many_hunks_were_seen_is_on_the_screen(version: EmacsVersion) {
    for (size, name, edits, key) in [
        (Size::new(80, 24), "a.txt", "", false),
        (
            Size::new(80, 24),
            "settings-of-the-production-cluster.local.txt",
            "mine",
            false,
        ),
        (Size::new(220, 50), "b.txt", "", true),
    ] {
        let world = World::with(version, Home::new(), |setup| setup.size(size));
        let gemini = world.gemini();
        let path = world.home.file(name, lines(300, |_| None));
        gemini.propose(
            &path,
            &lines(300, |number| {
                number
                    .is_multiple_of(10)
                    .then(|| format!("changed {number}\n"))
            }),
        );
        world.wait_view();
        world.look();
        world.emacs.wait_until("a look", COUNT);
        world.emacs.input(edits);
        let pane = world.emacs.pane();
        let mut last = 0;
        for _page in 0..3 {
            world
                .emacs
                .wait_until("more", &format!("(> {COUNT} {last})"));
            last = world.emacs.get(COUNT);
            pane.wait_for(&format!("seen {last}/30"), SOON);
            assert!(pane.screen().contains(&name[..5]), "{}", pane.screen());
            let shown = pane.screen().contains(": C-c C-v goes on");
            assert_eq!(shown, key, "{}", pane.screen());
            world.emacs.input("<C-v>");
        }
        go_on_to_the_end(&world);
        pane.wait_until("no count", SOON, |screen| !screen.contains("/30"));
        world.emacs.assert_no_errors();
    }
}

#[each_emacs]
fn one_key_goes_on_to_what_was_not_seen(version: EmacsVersion) {
    let far = "word ".repeat(400);
    for (name, original, proposed, most) in [
        (
            "one longer than the screen",
            "a\n".to_owned(),
            format!("a\n{}", lines(100, |_| None)),
            8,
        ),
        (
            "many",
            lines(120, |_| None),
            lines(120, |number| {
                number
                    .is_multiple_of(30)
                    .then(|| format!("changed {number}\n"))
            }),
            5,
        ),
        (
            "an end that is far away",
            format!("{far}\nb\n"),
            format!("X{far}Y\nb\n"),
            3,
        ),
    ] {
        let world = World::new(version);
        let mut gemini = world.gemini();
        std::fs::write(&world.path, original).unwrap();
        world.propose(&gemini, &proposed);
        let pages = go_on_to_the_end(&world);
        assert!((1..=most).contains(&pages), "{name}: {pages}");
        world.emacs.input("<C-c><C-c>");
        world.is_accepted(&mut gemini, &proposed);
        assert!(!world.emacs.get::<bool>(ASKED), "{name}");
        world.emacs.assert_no_errors();
    }
}

#[each_emacs]
fn then_it_goes_to_another_file(version: EmacsVersion) {
    let world = World::new(version);
    let (gemini, claude) = (
        world.gemini(),
        world.agent(pillion_protocol::Dialect::QwenCode),
    );
    let other = world.home.file("b.txt", lines(90, |_| None));
    std::fs::write(&world.path, lines(90, |_| None)).unwrap();
    let proposed = lines(90, |number| {
        [2, 80].contains(&number).then(|| "changed\n".to_owned())
    });
    world.propose(&gemini, &proposed);
    claude.propose(&other, &proposed);
    world
        .emacs
        .wait_until("two", "(= 2 (length pillion-diff--pending))");
    world
        .emacs
        .input_until("<C-c><C-v>", "(= 80 (line-number-at-pos))");
    world
        .emacs
        .input_until("<C-c><C-v>", "(equal (buffer-name) \"*Proposal: b.txt*\")");
    world.emacs.wait_said("this is the next diff: b.txt");
    world.look();
    world
        .emacs
        .input_until("<C-c><C-v>", "(= 80 (line-number-at-pos))");
    world.emacs.input("<C-c><C-v>");
    world.emacs.wait_said("all of it has been on the screen");
    // From elsewhere, it leads to a proposal.
    world
        .emacs
        .input_until("<C-x>4bother<RET>", "(equal (buffer-name) \"other\")");
    world.emacs.command("pillion-next-unseen");
    world.wait_view();
    world.emacs.assert_no_errors();
}

#[each_emacs]
fn of_lines_that_are_cut_off_the_changed_columns_must_be_seen(version: EmacsVersion) {
    let far = "x".repeat(300);
    let truncated = "(setq-default truncate-lines t)";
    for (name, init, original, proposed, is_seen) in [
        (
            "at its beginning",
            "",
            format!("a{far}\n"),
            format!("b{far}\n"),
            true,
        ),
        (
            "at its end",
            "",
            format!("{far}a\n"),
            format!("{far}b\n"),
            false,
        ),
        (
            "twice",
            "",
            format!("a{far}a\n"),
            format!("b{far}b\n"),
            false,
        ),
        (
            "only removed",
            "",
            format!("{far}abc{far}\n"),
            format!("{far}{far}\n"),
            false,
        ),
        (
            "with line numbers",
            "(add-hook 'pillion-diff-opened-functions (lambda (it) (with-current-buffer (pillion-diff-buffer it) (display-line-numbers-mode 1))))",
            format!("{}a\n", &far[..56]),
            format!("{}b\n", &far[..56]),
            false,
        ),
        (
            "where point is not followed",
            "(setq auto-hscroll-mode nil)",
            format!("{far}a\nb\n"),
            format!("{far}b\nb\n"),
            false,
        ),
        (
            "where its line alone is followed",
            "(setq auto-hscroll-mode 'current-line)",
            format!("{far}a\n{far}a\n"),
            format!("{far}b\n{far}b\n"),
            false,
        ),
    ] {
        let world = World::with(version, Home::new(), |setup| {
            setup.init(&format!("{truncated} {init}"))
        });
        let mut gemini = world.gemini();
        std::fs::write(&world.path, &original).unwrap();
        world.propose(&gemini, &proposed);
        world.emacs.wait_until("a look", COUNT);
        world.emacs.input("<C-c><C-c>");
        if !is_seen {
            world.emacs.wait_said("not been on the screen");
            world.is_pending(&mut gemini, name);
            world.look();
            let steps = go_on_to_the_end(&world);
            assert!((1..=7).contains(&steps), "{name}: {steps}");
            world.look();
            world.emacs.eval(CLEAR);
            world.emacs.input("<C-c><C-c>");
        }
        world.is_accepted(&mut gemini, &proposed);
        assert!(!world.emacs.get::<bool>(ASKED), "{name}");
        world.emacs.assert_no_errors();
    }
}

#[each_emacs]
fn what_others_put_in_is_not_seen(version: EmacsVersion) {
    for (name, keys, seen) in [
        ("merged", "<C-c><RET>", "(0)"),
        ("merged and undone", "<C-c><RET><C-/>", "(0)"),
        ("formatted", "<M-x>test-format<RET>", "(0)"),
        ("replaced", "<M-x>test-replace<RET>", "(0 1)"),
        (
            "replaced and undone",
            "<M-x>test-replace<RET><C-/>",
            "(0 1)",
        ),
    ] {
        let commands = "(defun test-format () (interactive) (let ((source (generate-new-buffer \"source\")) (text (buffer-string))) \
            (with-current-buffer source (insert \"formatted\\n\" text)) (replace-buffer-contents source))) \
            (defun test-replace () (interactive) (save-excursion (goto-char (point-min)) (search-forward \"changed 80\") (replace-match \"mine\")))";
        let world = World::with(version, Home::new(), |setup| setup.init(commands));
        let gemini = world.gemini();
        std::fs::write(&world.path, lines(90, |_| None)).unwrap();
        world.emacs.eval("(revert-buffer t t)");
        // As if typed a while ago.
        world.emacs.eval("(with-current-buffer \"a.txt\" (save-excursion (goto-char (point-min)) (forward-line 49) (insert \"mine\\n\")))");
        world.propose(
            &gemini,
            &lines(90, |number| {
                [2, 80]
                    .contains(&number)
                    .then(|| format!("changed {number}\n"))
            }),
        );
        world.emacs.wait_until("a look", COUNT);
        let is_proposed = "(equal (buffer-string) (pillion-diff-proposed (pillion-view-focused)))";
        world.emacs.input_until(
            keys.trim_end_matches("<C-/>"),
            &format!("(not {is_proposed})"),
        );
        if keys.ends_with("<C-/>") {
            world.emacs.input_until("<C-/>", is_proposed);
        }
        world.emacs.wait_until(
            name,
            &format!("(equal '{seen} (append (pillion-seen--hunks (pillion-view-focused)) nil))"),
        );
        world.emacs.assert_no_errors();
    }
}

#[each_emacs]
fn removed_lines_must_have_been_seen_where_the_original_is(version: EmacsVersion) {
    let removed = |from: usize, to: usize| {
        lines(200, |number| {
            (from..=to).contains(&number).then(String::new)
        })
    };
    for (name, size, proposed, is_seen) in [
        ("few", Size::new(120, 30), removed(3, 8), true),
        ("many", Size::new(120, 30), removed(3, 90), false),
        (
            "many, and one in their place",
            Size::new(80, 24),
            removed(3, 90).replace("line 2\n", "line 2\nnew\n"),
            false,
        ),
        (
            "no room for the original",
            Size::new(60, 10),
            removed(3, 90),
            true,
        ),
    ] {
        let world = World::with(version, Home::new(), |setup| setup.size(size));
        let mut gemini = world.gemini();
        std::fs::write(&world.path, lines(200, |_| None)).unwrap();
        world.propose(&gemini, &proposed);
        world.emacs.wait_until("a look", COUNT);
        world.emacs.input("<C-c><C-c>");
        if !is_seen {
            world.emacs.wait_said("not been on the screen");
            world.is_pending(&mut gemini, name);
            world.look();
            let steps = go_on_to_the_end(&world);
            assert!((1..=6).contains(&steps), "{name}: {steps}");
            world.look();
            world.emacs.eval(CLEAR);
            world.emacs.input("<C-c><C-c>");
        }
        world.is_accepted(&mut gemini, &proposed);
        assert!(!world.emacs.get::<bool>(ASKED), "{name}");
        world.emacs.assert_no_errors();
    }
}

#[each_emacs]
fn nothing_is_looked_at_twice(version: EmacsVersion) {
    for (size, keys) in [
        (Size::new(120, 30), ""),
        (Size::new(80, 24), "<C-v>"),
        (Size::new(60, 20), "<C-c><C-v>"),
    ] {
        let count = "(defvar test-looks 0) (advice-add 'pillion-seen--look :before (lambda (&rest _) (setq test-looks (1+ test-looks))))";
        let world = World::with(version, Home::new(), |setup| setup.init(count).size(size));
        let gemini = world.gemini();
        std::fs::write(&world.path, lines(300, |_| None)).unwrap();
        world.propose(
            &gemini,
            &lines(300, |number| {
                number
                    .is_multiple_of(10)
                    .then(|| format!("changed {number}\n"))
            }),
        );
        world.emacs.wait_until("a look", COUNT);
        let before: usize = world.emacs.get(COUNT);
        world.emacs.input(keys);
        if !keys.is_empty() {
            world
                .emacs
                .wait_until("more", &format!("(> {COUNT} {before})"));
        }
        let looks: usize = world.emacs.get("test-looks");
        std::thread::sleep(pillion_view::LOOK);
        let later: usize = world.emacs.get("test-looks");
        assert!(later <= looks + 2, "{looks}, then {later}");
        world.emacs.assert_no_errors();
    }
}
