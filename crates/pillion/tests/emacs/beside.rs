//! The package beside eglot and lsp-mode that have `pillion lsp` as well, by the lines for those without the package:
//! agents find Emacs once.

use pillion_testkit::{
    EmacsSetup, EmacsVersion, Home, each_newer_emacs, lock_files, make_repository,
};

use crate::world::{PROPOSED, World};

const PAGE: &str = include_str!("../../../../docs/editors.md");

const FILES: &str = "(add-hook 'text-mode-hook #'lsp) (setq lsp-auto-guess-root t)";

/// The page's lines for the init file: first eglot's lines, then lsp-mode's.
fn lines(place: usize) -> &'static str {
    let section = PAGE.split("\n## ").find(|it| it.starts_with("Emacs\n"));
    let mut blocks = section
        .expect("the page has it")
        .split("```elisp\n")
        .skip(1);
    let block = blocks.nth(place).and_then(|rest| rest.split("```").next());
    block.expect("the page has two")
}

#[each_newer_emacs]
fn agents_find_emacs_once_beside_eglot(version: EmacsVersion) {
    once(version, "(eglot-managed-p)", |setup| setup.init(lines(0)));
}

#[each_newer_emacs]
fn agents_find_emacs_once_beside_lsp_mode(version: EmacsVersion) {
    once(
        version,
        "(bound-and-true-p lsp--buffer-workspaces)",
        |setup| setup.with_lsp_mode().init(lines(1)).init(FILES),
    );
}

fn once(version: EmacsVersion, is_served: &str, client: impl FnOnce(EmacsSetup) -> EmacsSetup) {
    let home = Home::new();
    // A project, whose folder is the root.
    make_repository(&home.workspace());
    let world = World::with(version, home, client);
    // Its server has answered, and would be found.
    world.emacs.wait_until("a server", is_served);
    let companions = lock_files(&world.home);
    assert_eq!(companions.len(), 1, "{companions:?}");
    let mut gemini = world.gemini();
    world.propose(&gemini, PROPOSED);
    world.emacs.input("<C-c><C-c>");
    world.is_accepted(&mut gemini, PROPOSED);
    assert_eq!(lock_files(&world.home), companions);

    let without: bool = world
        .emacs
        .get("(progn (pillion-mode -1) (null (getenv \"PILLION_PLUGIN_OF\")))");
    assert!(without);
}
