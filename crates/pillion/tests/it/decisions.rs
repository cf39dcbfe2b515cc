//! The proposal that `accept` and `reject` decide about: the one that they name, and no other.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Stdio;

use pillion_testkit::TestAgent;
use pillion_testkit::client::Update;

use crate::sandbox::{Ran, Sandbox, Serve};

const LOOK: &str = "pillion diffs 1";

struct World {
    sandbox: Sandbox,
    _serve: Serve,
    agent: TestAgent,
    path: String,
}

impl World {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        let serve = sandbox.serve::<&str>([]);
        let path = sandbox.home.workspace().join("a.txt");
        Self {
            agent: serve.connect(),
            sandbox,
            _serve: serve,
            path: path.to_str().unwrap().to_owned(),
        }
    }

    fn propose(&self, text: &str) {
        self.agent.propose(&self.path, text);
    }

    fn run<const N: usize>(&self, args: [&str; N]) -> Ran {
        self.sandbox.run(args)
    }

    /// Each way of deciding about the proposal with this name is refused.
    #[track_caller]
    fn expect_refused(&self, name: &str, why: &str, hint: &str) {
        for args in [
            &["accept", name][..],
            &["accept", name, "--content-file", "-"],
            &["accept", name, "--despite-change"],
            &["reject", name],
            &["reject", name, "--because", "no"],
            &["reject", name, "--note", "a.txt:1", "no"],
        ] {
            let ran = self.sandbox.run_with_input(args, b"mine");
            ran.expect_error(1, why, hint);
        }
    }

    #[track_caller]
    fn expect_pending(&self, name: &str) {
        let listed = self.run(["diffs"]).expect(0).stdout;
        assert!(listed.contains(&format!(" {name}  gemini")), "{listed}");
    }

    #[track_caller]
    fn expect_accepted(&mut self, text: &str) {
        let accepted = Update::accepted(self.path.clone(), text);
        assert_eq!(self.agent.outcome(), accepted);
    }
}

#[test]
fn without_its_revision_nothing_is_decided() {
    let world = World::new();
    // Also if there is no such diff.
    let why = "diff 1 is named without the revision that you have seen";
    world.expect_refused("1", why, LOOK);
    world.propose("one");
    world.expect_refused("1", why, "then `pillion ");
    let accept = world.run(["accept", "1"]);
    accept.expect_error(1, why, "then `pillion accept 1.REV`.");
    let reject = world.run(["reject", "1"]);
    reject.expect_error(1, why, "then `pillion reject 1.REV`.");
    // Looking makes no difference.
    assert_eq!(world.run(["diffs", "1"]).expect(0).stdout, "one");
    world.expect_refused("1", why, LOOK);
    world.expect_pending("1.1");
}

#[test]
fn a_proposal_that_came_after_the_look_is_not_decided() {
    let mut world = World::new();
    world.propose("harmless");
    assert_eq!(world.run(["diffs", "1"]).expect(0).stdout, "harmless");
    world.propose("harmful");
    let newer = "a newer proposal has arrived: diff 1 is at 1.2, not 1.1";
    world.expect_refused("1.1", newer, LOOK);
    world.run(["diffs", "1.1"]).expect_error(1, newer, LOOK);
    world.expect_pending("1.2");
    assert_eq!(world.run(["diffs", "1"]).expect(0).stdout, "harmful");
    world.propose("worse");
    world.expect_refused("1.2", "diff 1 is at 1.3, not 1.2", LOOK);
    assert_eq!(world.run(["diffs", "1.3"]).expect(0).stdout, "worse");
    world.run(["accept", "1.3"]).expect(0);
    world.expect_accepted("worse");
    world.propose("again");
    world.propose("and again");
    world.run(["reject", "2.2"]).expect(0);
    assert!(matches!(world.agent.outcome(), Update::DiffRejected { .. }));
}

#[test]
fn a_proposal_that_is_not_there_is_not_decided() {
    let mut world = World::new();
    world.propose("one");
    world.propose("two");
    let other = world.sandbox.home.workspace().join("b.txt");
    world.agent.propose(other.to_str().unwrap(), "other");
    for (name, why, hint) in [
        ("1.3", "diff 1 is at 1.2, not 1.3", LOOK),
        ("1.0", "diff 1 is at 1.2, not 1.0", LOOK),
        ("2.2", "diff 2 is at 2.1, not 2.2", "pillion diffs 2"),
        ("3.1", "no diff 3 is pending", "pillion diffs"),
        ("0.1", "no diff 0 is pending", "pillion diffs"),
    ] {
        world.expect_refused(name, why, hint);
    }
    for name in ["1.", ".2", "1.2.3", "one"] {
        world.run(["accept", name]).expect(2);
        world.run(["reject", name]).expect(2);
    }
    world.expect_pending("1.2");
    world.expect_pending("2.1");
    world.run(["accept", "1.2"]).expect(0);
    world.expect_accepted("two");
    // What is decided is not decided again.
    world.expect_refused("1.2", "no diff 1 is pending", "pillion diffs");
}

#[test]
fn what_would_go_over_a_changed_file_is_accepted_only_if_that_is_said() {
    let mut world = World::new();
    fs::write(&world.path, "as it was").unwrap();
    world.propose("one");
    world.run(["diffs", "1"]).expect(0);
    fs::write(&world.path, "somebody else's").unwrap();
    let changed = "the file of diff 1 changed on disk since 1.1 was proposed";
    let hint = "`pillion accept 1.1 --despite-change` accepts it";
    for _ in 0..2 {
        world.run(["accept", "1.1"]).expect_error(1, changed, hint);
        let other = ["accept", "1.1", "--content-file", "-"];
        let refused = world.sandbox.run_with_input(other, b"mine");
        refused.expect_error(1, changed, hint);
        world.run(["diffs", "1"]).expect(0);
    }
    let ran = world.run(["accept", "1.1", "--despite-change"]).expect(0);
    assert_eq!(ran.stderr, "");
    world.expect_accepted("one");

    world.propose("two");
    fs::remove_file(&world.path).unwrap();
    world
        .run(["accept", "2.1"])
        .expect_error(1, "changed on disk", "2.1 --despite-change");
    // A newer proposal is about the file as it is by then.
    world.propose("three");
    world.run(["accept", "2.2"]).expect(0);
    world.expect_accepted("three");

    // To reject is harmless.
    world.propose("four");
    fs::write(&world.path, "and once more").unwrap();
    world.run(["reject", "3.1"]).expect(0);
    assert!(matches!(world.agent.outcome(), Update::DiffRejected { .. }));
}

#[test]
fn a_path_is_shown_with_what_it_really_leads_to() {
    let world = World::new();
    let real = world.sandbox.home.file("real.txt", "");
    symlink(&real, &world.path).unwrap();
    world.propose("one");
    let real = real.canonicalize().unwrap();
    let listed = world.run(["diffs"]).expect(0).stdout;
    let expected = format!("{} -> {}\n", world.path, real.display());
    assert!(listed.ends_with(&expected), "{listed}");
    let json = world.run(["diffs", "--json"]).expect(0).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json[0]["leadsTo"], real.to_str().unwrap());
    // Also when it leads elsewhere since.
    world.run(["diffs", "1"]).expect(0);
    fs::remove_file(&world.path).unwrap();
    world
        .run(["accept", "1.1"])
        .expect_error(1, "changed on disk", LOOK);
}

#[test]
fn an_agent_that_proposes_in_a_hurry_gets_accepted_what_was_read_or_nothing() {
    let mut world = World::new();
    for _ in 0..20 {
        world.propose("harmless");
        let listed = world.run(["diffs", "--json"]).expect(0).stdout;
        let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
        let name = listed[0]["diff"].as_str().unwrap();
        world.run(["diffs", name]).expect(0);
        let mut accept = world.sandbox.command(["accept", name]);
        let mut accept = accept.stderr(Stdio::null()).spawn().unwrap();
        world.propose("harmful");
        if accept.wait().unwrap().success() {
            world.expect_accepted("harmless");
        }
        world.agent.close(&world.path).unwrap();
    }
}
