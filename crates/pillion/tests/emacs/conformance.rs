//! The companion of a real Emacs keeps the contract, every rule of it.

use std::thread;

use pillion_testkit::conformance::{commands, fill, run, suite};
use pillion_testkit::{EmacsVersion, Home, each_emacs};

use crate::world::World;

#[each_emacs(all, conformance)]
fn emacs_passes(version: EmacsVersion) {
    let home = Home::new();
    fill(&home);
    home.file("b.txt", "text\n\n\n\ntext\n");
    let other = home.other_workspace("other");
    let world = World::with(version, home, |setup| setup.arg("b.txt"));
    let mut command = suite(
        &world.home,
        commands(&format!("kill {}", world.emacs.pid())),
    );
    let running = thread::spawn(move || run(&mut command));
    // By then it has read the files.
    world
        .emacs
        .wait_until("an agent", "(pillion-client-get :agents)");
    let roots = [world.home.workspace(), other].map(|it| format!("{:?}", it.display().to_string()));
    world.emacs.eval(&format!(
        "(setq pillion-roots '({})) (pillion-roots-refresh)",
        roots.join(" ")
    ));
    let outcome = running.join().unwrap();
    // Nothing but time shows that a silent stream lives.
    outcome.expect_all_but(&["C1.1-stream-alive"]);
}
