//! A shell command that changes 20,000 files, as a checkout does: commands end within seconds, and print no more than
//! anybody reads.

use std::fs;
use std::time::{Duration, Instant};

use super::World;
use crate::sandbox::Ran;

const FILES: usize = 20_000;

/// Longer than any of it takes, also on a busy machine; what is quadratic takes much longer.
const SECONDS: Duration = Duration::from_secs(300);

#[expect(
    clippy::print_stderr,
    reason = "with --nocapture, one sees what takes how long"
)]
fn say(what: &str, took: Duration) {
    eprintln!("{what}: {took:.1?}");
}

fn in_time(what: &str, world: &World, args: &[&str]) -> Ran {
    let began = Instant::now();
    let ran = world.sandbox.run(args).expect(0);
    let took = began.elapsed();
    say(what, took);
    assert!(took < SECONDS, "{what} took {took:.1?}");
    assert!(ran.stdout.lines().count() < 110, "{}", ran.report());
    ran
}

#[test]
#[ignore = "takes a minute: cargo xtask test"]
fn twenty_thousand_changed_files_are_listed_kept_and_taken_back() {
    let world = World::new();
    let path = |at: usize| world.root.join(format!("d{}/f{at}.txt", at % 7));
    for at in 0..FILES {
        fs::create_dir_all(path(at).parent().unwrap()).unwrap();
        fs::write(path(at), format!("{at}\none\n")).unwrap();
    }
    let before = world.tree();
    let began = Instant::now();
    let turn = world.turn(|_| {
        for at in 0..FILES {
            fs::write(path(at), format!("{at}\ntwo\n")).unwrap();
        }
    });
    say("the turn", began.elapsed());
    assert_eq!(turn, 1);
    let after = world.tree();
    let listed = in_time("changes", &world, &["changes"]);
    assert!(
        listed
            .stdout
            .contains("… and 19900 more: `pillion changes 1`"),
        "{}",
        listed.report()
    );
    let turns = in_time("turns", &world, &["turns"]);
    assert!(turns.stdout.contains("20000 files, 20000 unseen"));
    let kept = in_time("keep", &world, &["keep", "1"]);
    assert!(
        kept.stdout.contains("… and 19900 more: kept"),
        "{}",
        kept.report()
    );
    let none = in_time("changes, all seen", &world, &["changes"]);
    assert!(none.stdout.contains("no unseen changes"));
    let reverted = in_time("revert", &world, &["revert", "1"]);
    assert!(reverted.stdout.contains("… and 19900 more: taken back"));
    assert!(world.tree() == before, "all of it is taken back");
    in_time("undo", &world, &["undo", "1"]);
    assert!(world.tree() == after, "and is there again");
    let json = world.sandbox.run(["changes", "--all", "--json"]).expect(0);
    let all: Vec<serde_json::Value> = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(all.len(), FILES);
}
