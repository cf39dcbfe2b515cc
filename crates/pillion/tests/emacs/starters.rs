//! Emacs as people set it up: not at all, as Debian does, and with what most starter configurations have.

use std::fs;
use std::process::Command;

use pillion_protocol::Dialect;
use pillion_testkit::client::Update;
use pillion_testkit::{
    Editors, EmacsSetup, EmacsVersion, Home, TestAgent, Tmux, each_emacs, each_newer_emacs,
};

use crate::world::{PILLION, PROPOSED, World};

/// The settings that most starters switch on, with use-package, eglot and Evil.
const STARTER: &str = "(require 'use-package)
    (setq use-package-always-ensure nil ring-bell-function #'ignore use-short-answers t
          desktop-dirname user-emacs-directory tab-always-indent 'complete window-combination-resize t)
    (setq-default indent-tabs-mode nil truncate-lines t fill-column 80 require-final-newline t)
    (use-package emacs
      :hook ((prog-mode . display-line-numbers-mode) (before-save . delete-trailing-whitespace))
      :init (savehist-mode 1) (save-place-mode 1) (recentf-mode 1) (winner-mode 1) (global-hl-line-mode 1)
            (electric-pair-mode 1) (delete-selection-mode 1) (global-auto-revert-mode 1) (fido-vertical-mode 1)
            (show-paren-mode 1) (column-number-mode 1) (auto-save-visited-mode 1) (repeat-mode 1)
            (when (fboundp 'which-key-mode) (which-key-mode 1)))
    (use-package eglot :hook (prog-mode . eglot-ensure))
    (use-package evil :init (setq evil-want-keybinding nil evil-want-C-u-scroll t) :config (evil-mode 1))
    (use-package pillion :config (pillion-mode 1))";

/// Proposals for a file that is open and one that is not are decided, and what the agent writes is shown.
fn decide_two(world: &World) {
    let mut gemini = world.gemini();
    world.propose(&gemini, PROPOSED);
    world.emacs.input("<C-c><C-c>");
    world.is_accepted(&mut gemini, PROPOSED);
    fs::write(&world.path, PROPOSED).unwrap();
    world.emacs.wait_until(
        "what was written",
        &format!("(equal (buffer-string) {PROPOSED:?})"),
    );

    let path = world.home.file("b.py", "def f():\n    return 1\n");
    for keys in ["<C-c><C-k>", "<C-c><C-c>"] {
        let text = "def f():\n    return (2)\n";
        gemini.propose(&path, text);
        world.wait_view();
        world.look();
        assert!(
            !world.emacs.get::<bool>(
                "(if (and (fboundp 'eglot-managed-p) (eglot-managed-p)) t :json-false)"
            )
        );
        world.emacs.input(keys);
        let shown = path.display().to_string();
        let expected = match keys {
            "<C-c><C-k>" => Update::DiffRejected { path: shown },
            _ => Update::accepted(shown, text),
        };
        assert_eq!(gemini.outcome(), expected, "{}", world.emacs.describe());
        world.wait_gone();
    }
    world.emacs.assert_no_errors();
}

#[each_newer_emacs]
fn it_works_in_the_commonest_starter(version: EmacsVersion) {
    let world = World::with(version, Home::new(), |setup| {
        setup.packages(&["evil", "goto-chg"]).init(STARTER)
    });
    decide_two(&world);
}

#[each_newer_emacs]
fn it_works_with_what_debian_sets_up(version: EmacsVersion) {
    let editors = Editors::from_env();
    let place = editors.emacs(version);
    let root = place.data.ancestors().nth(5).unwrap();
    let site = root.join("etc/emacs/site-start.d/00debian.el");
    let packages = editors.emacs_packages(version);
    let init = format!(
        "(load {:?} nil t) (setq package-directory-list '({:?})) (package-activate-all)",
        site.display().to_string(),
        packages.display().to_string()
    );
    let world = World::with(version, Home::new(), |setup| setup.init(&init));
    decide_two(&world);
}

#[each_emacs]
fn it_works_without_an_init_file(version: EmacsVersion) {
    let (home, tmux) = (Home::new(), Tmux::start());
    let settings = home.home().join(".emacs.d");
    fs::create_dir_all(&settings).unwrap();
    let status = Command::new(PILLION)
        .args(["install", "emacs"])
        .env_clear()
        .envs(home.env().iter())
        .status();
    assert!(status.unwrap().success());
    let path = home.file("a.txt", "one\n");
    // The screen with which Emacs greets is there, too.
    let setup = EmacsSetup::new(version, &home)
        .pillion(PILLION)
        .without_package()
        .init("(setq inhibit-startup-screen nil)");
    let emacs = setup.in_tmux(&tmux);
    emacs.wait_until("the first screen", "(equal (buffer-name) \"*GNU Emacs*\")");
    emacs.command("pillion-mode");
    emacs.wait_until("Pillion running", "(and (fboundp 'pillion-client-running-p) (pillion-client-running-p) (pillion-client-get :port))");
    let mut gemini = TestAgent::find(&home, Dialect::GeminiCli);
    gemini.propose(&path, "one\ntwo\n");
    emacs.wait_until(
        "a proposal",
        "(string-prefix-p \"*Proposal\" (buffer-name))",
    );
    emacs.wait_looked();
    emacs.input("<C-c><C-c>");
    assert_eq!(
        gemini.outcome(),
        Update::accepted(path.display().to_string(), "one\ntwo\n")
    );
    emacs.wait_until(
        "the screen of before",
        "(equal (buffer-name) \"*GNU Emacs*\")",
    );
    assert!(!settings.join("init.el").exists());
    emacs.assert_no_errors();
}
