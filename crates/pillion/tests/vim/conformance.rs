//! The companion of a real Vim keeps the contract, every rule of it.

use std::thread;

use pillion_testkit::conformance::{commands, fill, run, suite};
use pillion_testkit::{Home, VimVersion, each_vim};

use crate::world::World;

#[each_vim(all, conformance)]
fn vim_passes(version: VimVersion) {
    let home = Home::new();
    fill(&home);
    let other = home.other_workspace("other");
    let text = "text\n\n\n\ntext\n";
    let files = [("a.txt", text), ("b.txt", text)];
    let world = World::with(version, home, &files, |setup| setup);
    let mut command = suite(&world.home, commands(&format!("kill {}", world.vim.pid())));
    let running = thread::spawn(move || run(&mut command));
    // By then it has read the files.
    world
        .vim
        .wait_until("an agent", "!empty(pillion#Status().agents)");
    world
        .vim
        .command(&format!("tabnew | tcd {}", other.display()));
    let outcome = running.join().unwrap();
    // Nothing but time shows that a silent stream lives.
    outcome.expect_all_but(&["C1.1-stream-alive"]);
}
