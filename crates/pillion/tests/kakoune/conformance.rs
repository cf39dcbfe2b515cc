//! The companion of a real Kakoune keeps the contract, every rule of it.

use std::thread;

use pillion_testkit::conformance::{commands, fill, run, suite};
use pillion_testkit::{Home, KakouneVersion, each_kakoune, make_repository};

use crate::world::World;

#[each_kakoune(all, conformance)]
fn kakoune_passes(version: KakouneVersion) {
    let home = Home::new();
    fill(&home);
    // It stays a root when Kakoune works elsewhere.
    make_repository(&home.workspace());
    let other = home.other_workspace("other");
    let text = "text\n\n\n\ntext\n";
    let files = [("a.txt", text), ("b.txt", text)];
    let world = World::with(version, home, &files, |setup| setup);
    let mut command = suite(
        &world.home,
        commands(&format!("kill {}", world.kakoune.pid())),
    );
    let running = thread::spawn(move || run(&mut command));
    let status = format!("{}/out/status", world.kakoune.get("%opt{pillion_dir}"));
    // By then it has read the files.
    world.kakoune.wait_until("an agent", "%val{session}", |_| {
        !std::fs::read_to_string(&status)
            .unwrap()
            .contains("no agent")
    });
    world
        .kakoune
        .command(&format!("change-directory {}", other.display()));
    let outcome = running.join().unwrap();
    // Nothing but time shows that a silent stream lives.
    outcome.expect_all_but(&["C1.1-stream-alive"]);
}
