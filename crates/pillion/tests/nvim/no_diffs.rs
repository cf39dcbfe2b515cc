//! A person who wants agents to have the context and no diffs here.

use pillion_testkit::{Home, NvimVersion, TestClaude, each_neovim};
use serde_json::{Value, json};

use crate::world::World;

#[each_neovim]
fn without_diffs_agents_have_the_context_alone(version: NvimVersion) {
    let options = "require('pillion').setup({ diff = { enabled = false } })";
    let world = World::with(version, Home::new(), &[("a.txt", "one\n")], |setup| {
        setup.init(options)
    });
    let mut gemini = world.gemini();
    let path = world.home.workspace().join("a.txt");
    let file = world.active(&mut gemini, |_| true);
    assert_eq!(file.path, path.to_str().unwrap());
    gemini.try_propose(&path, "two\n").unwrap_err();
    let claude = TestClaude::find(&world.home);
    let told = claude.proposing(&path, "two\n", "tab").end().unwrap_err();
    assert!(told.contains("no editor shows changes here"), "{told}");
    let diffs: Value = world
        .nvim
        .lua("return #require('pillion.diff').list()", json!([]));
    assert_eq!(diffs, 0);
    world.nvim.assert_no_errors();
}
