//! A person who wants agents to have the context and no diffs here.

use pillion_testkit::{EmacsSetup, EmacsVersion, Home, TestClaude, each_emacs};

use crate::world::{PILLION, PROPOSED, World};

#[each_emacs]
fn without_diffs_agents_have_the_context_alone(version: EmacsVersion) {
    let home = Home::new();
    let options = "(setq pillion-show-diffs nil)\n(pillion-mode 1)";
    let setup = EmacsSetup::new(version, &home)
        .pillion(PILLION)
        .init(options);
    let world = World::with(version, home, |_| setup);
    let mut gemini = world.gemini();
    let file = world.active(&mut gemini, |_| true);
    assert_eq!(file.path, world.path.to_str().unwrap());
    gemini.try_propose(&world.path, PROPOSED).unwrap_err();
    let claude = TestClaude::find(&world.home);
    let told = claude
        .proposing(&world.path, PROPOSED, "tab")
        .end()
        .unwrap_err();
    assert!(told.contains("no editor shows changes here"), "{told}");
    assert_eq!(world.emacs.get::<u32>("(pillion-client-get :pending)"), 0);
    world.emacs.assert_no_errors();
}
