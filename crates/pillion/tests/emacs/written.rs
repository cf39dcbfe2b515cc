//! Files that agents write, and the buffers that visit them.

use std::fs;
use std::io::Write as _;

use pillion_testkit::{EmacsVersion, Home, each_emacs};

use crate::world::{ORIGINAL, PROPOSED, World};

/// The file's fifty lines before an agent has written.
const FIFTY: &str =
    "(apply #'concat (mapcar (lambda (n) (format \"line %d\\n\" n)) (number-sequence 1 50)))";

fn lines(changed: &str) -> String {
    (1..=50)
        .map(|number| {
            if number == 3 {
                format!("{changed}\n")
            } else {
                format!("line {number}\n")
            }
        })
        .collect()
}

/// Writes as many programs do: the file is empty first.
fn truncate_and_write(world: &World, text: &str) {
    let mut file = fs::File::create(&world.path).unwrap();
    world.emacs.wait_until("Emacs at rest", "t");
    file.write_all(text.as_bytes()).unwrap();
}

#[each_emacs]
fn points_stay_where_they_are_when_an_agent_empties_and_writes(version: EmacsVersion) {
    for init in [
        "",
        "(global-auto-revert-mode 1)",
        "(global-auto-revert-mode 1) (setq auto-revert-use-notify nil auto-revert-interval 0.2)",
    ] {
        let world = World::with(version, Home::new(), |setup| setup.init(init));
        fs::write(&world.path, lines("line 3")).unwrap();
        world.emacs.eval("(revert-buffer t t) (delete-other-windows) (split-window) (goto-char (point-min)) (forward-line 39) (forward-char 2)");
        world
            .emacs
            .wait_until("the lines", &format!("(equal (buffer-string) {FIFTY})"));
        let mut gemini = world.gemini();
        for (round, is_accepted) in [(1, true), (2, false), (3, true)] {
            let text = lines(&format!("round {round}"));
            if is_accepted {
                world.propose(&gemini, &text);
                world.emacs.input("<C-c><C-c>");
                world.is_accepted(&mut gemini, &text);
            }
            truncate_and_write(&world, &text);
            world.emacs.wait_until(
                "what the agent wrote",
                &format!("(string-search \"round {round}\\n\" (buffer-string))"),
            );
            let place: (u32, u32) = world
                .emacs
                .get("(list (line-number-at-pos) (current-column))");
            assert_eq!(place, (40, 2), "{init} {round}\n{}", world.emacs.describe());
        }
        world.emacs.assert_no_errors();
    }
}

#[each_emacs]
fn narrowing_and_folds_stay_when_an_agent_writes(version: EmacsVersion) {
    let home = Home::new();
    let org = "* One\ntext one\n* Two\ntext two\n* Three\ntext three\n";
    let path = home.file("a.org", org);
    let world = World::with(version, home, |setup| setup.arg(path.clone()));
    let _gemini = world.gemini();
    let folded = "(mapcar (lambda (it) (save-excursion (goto-char (point-min)) (search-forward it) (and (invisible-p (1- (point))) t))) '(\"text one\" \"text two\" \"text three\"))";
    world.emacs.eval("(switch-to-buffer \"a.org\") (delete-other-windows) (goto-char (point-min)) (org-overview) (search-forward \"* Two\") (org-show-entry) (goto-char (point-min))");
    assert_eq!(
        world.emacs.get::<Vec<Option<bool>>>(folded),
        [Some(true), None, Some(true)]
    );
    fs::write(&path, org.replace("text two", "text 2 and more, text two")).unwrap();
    world.emacs.wait_until(
        "what the agent wrote",
        "(string-search \"and more\" (buffer-string))",
    );
    assert_eq!(
        world.emacs.get::<Vec<Option<bool>>>(folded),
        [Some(true), None, Some(true)],
        "{}",
        world.emacs.describe()
    );

    world
        .emacs
        .eval("(org-show-all) (search-forward \"* Two\") (org-narrow-to-subtree)");
    fs::write(
        &path,
        org.replace("text one", "text 1")
            .replace("text two", "text 2"),
    )
    .unwrap();
    world.emacs.wait_until(
        "what the agent wrote",
        "(string-suffix-p \"text 2\" (buffer-string))",
    );
    assert_eq!(
        world.emacs.get::<String>("(buffer-string)"),
        "* Two\ntext 2"
    );
    world.emacs.assert_no_errors();
}

#[each_emacs]
fn a_file_whose_encoding_changes_is_read_with_the_new_one(version: EmacsVersion) {
    let latin: &[u8] = b"caf\xe9\ntwo\n";
    let explicit = "(let ((coding-system-for-read 'latin-1)) (find-file-noselect \"LATIN\")) (switch-to-buffer (get-file-buffer \"LATIN\"))";
    for (name, opened) in [
        ("plain", "(find-file \"LATIN\")"),
        ("explicit", explicit),
        (
            "preferred",
            "(progn (prefer-coding-system 'latin-1) (find-file \"LATIN\"))",
        ),
    ] {
        let home = Home::new();
        let path = home.workspace().join(format!("{name}.txt"));
        fs::write(&path, latin).unwrap();
        let world = World::new(version);
        let path = world.home.workspace().join(path.file_name().unwrap());
        fs::write(&path, latin).unwrap();
        let mut gemini = world.gemini();
        world
            .emacs
            .eval(&opened.replace("LATIN", &path.display().to_string()));
        world
            .emacs
            .wait_until("Latin-1", "(string-prefix-p \"café\" (buffer-string))");
        let text = "café\n2 ü\n";
        gemini.propose(&path, text);
        world.wait_view();
        world.look();
        let screen = world.emacs.pane().screen();
        assert!(screen.contains("not UTF-8"), "{screen}");
        world.emacs.input("<C-c><C-c>");
        let expected = pillion_testkit::client::Update::accepted(path.display().to_string(), text);
        assert_eq!(gemini.outcome(), expected);
        world.wait_gone();
        fs::write(&path, text).unwrap();
        world.emacs.wait_until(name, &format!("(and (equal (buffer-string) {text:?}) (eq (coding-system-base buffer-file-coding-system) 'utf-8))"));
        world.emacs.assert_no_errors();
    }
}

#[each_emacs]
fn nothing_wakes_emacs_while_nothing_happens(version: EmacsVersion) {
    let world = World::new(version);
    let _gemini = world.gemini();
    world
        .emacs
        .wait_until("its folder watched", "pillion-reload--watched");
    let timers = "(seq-count (lambda (it) (string-match-p \"pillion\" (format \"%s\" (timer--function it)))) timer-list)";
    world
        .emacs
        .wait_until("no timer", &format!("(= 0 {timers})"));
    assert_eq!(fs::read_to_string(&world.path).unwrap(), ORIGINAL);
    fs::write(&world.path, PROPOSED).unwrap();
    world.emacs.wait_until(
        "what was written",
        "(string-search \"six\" (buffer-string))",
    );
    world
        .emacs
        .wait_until("no timer", &format!("(= 0 {timers})"));
    world.emacs.assert_no_errors();
}
