//! A person who wants agents to have the context and no diffs here.

use pillion_testkit::{Home, TestClaude, VimVersion, each_vim};

use crate::world::World;

#[each_vim]
fn without_diffs_agents_have_the_context_alone(version: VimVersion) {
    let world = World::with(version, Home::new(), &[("a.txt", "one\n")], |setup| {
        setup.vimrc("let g:pillion_diffs = v:false\n")
    });
    let mut gemini = world.gemini();
    let path = world.home.workspace().join("a.txt");
    let file = world.active(&mut gemini, |_| true);
    assert_eq!(file.path, path.to_str().unwrap());
    gemini.try_propose(&path, "two\n").unwrap_err();
    let claude = TestClaude::find(&world.home);
    let told = claude.proposing(&path, "two\n", "tab").end().unwrap_err();
    assert!(told.contains("no editor shows changes here"), "{told}");
    assert_eq!(world.vim.get::<u32>("pillion#Status().pendingDiffs"), 0);
    world.vim.assert_no_errors();
}
