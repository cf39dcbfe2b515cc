//! The answers to agents that ask for problems.

use pillion_testkit::{EmacsVersion, Home, TestClaude, each_emacs};

use crate::world::World;

/// Finds a word that is on the second line, from the fifth character on.
const BACKEND: &str = "(require 'flymake)
    (defun spell (report &rest _)
      (funcall report (list (flymake-make-diagnostic (current-buffer) 9 11 :warning \"no such word\"))))
    (defun use-spell () (add-hook 'flymake-diagnostic-functions #'spell nil t) (flymake-mode 1))
    (add-hook 'find-file-hook #'use-spell)";

#[each_emacs]
fn diagnostics_are_those_of_flymake(version: EmacsVersion) {
    let world = World::with(version, Home::new(), |setup| setup.init(BACKEND));
    world.emacs.wait_until("a problem", "(flymake-diagnostics)");
    let claude = TestClaude::find(&world.home);
    let found = claude.diagnostics(None);
    let text = format!("{found:?}");
    assert_eq!(found.len(), 1, "{text}");
    for part in [
        "no such word",
        "spell",
        "line: 2",
        "character: 0",
        "character: 2",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    world.emacs.assert_no_errors();
}
