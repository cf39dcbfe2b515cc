//! What `accept` and `reject` decide about: the proposal that their user has seen, and no other.

use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::{env, fs};

use pillion_agent::Update;
use pillion_testkit::TestAgent;

use crate::sandbox::{Ran, Sandbox, Serve, ran};

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

    /// The same in another terminal.
    fn run_elsewhere<const N: usize>(&self, args: [&str; N]) -> Ran {
        let command = self.sandbox.command(args);
        let mut elsewhere = Command::new("/usr/bin/setsid");
        elsewhere
            .arg("--wait")
            .arg(command.get_program())
            .args(command.get_args())
            .env_clear()
            .envs(self.sandbox.home.env().iter())
            .current_dir(self.sandbox.home.workspace());
        ran(&mut elsewhere, b"")
    }

    #[track_caller]
    fn expect_accepted(&mut self, text: &str) {
        let accepted = Update::accepted(self.path.clone(), text);
        assert_eq!(self.agent.outcome(), accepted);
    }
}

#[test]
fn a_proposal_that_came_after_the_look_is_not_accepted() {
    let mut world = World::new();
    world.propose("harmless");
    assert_eq!(world.run(["diffs", "1"]).expect(0).stdout, "harmless");
    world.propose("harmful");
    let newer = "diff 1 is at 1.2, and you were shown 1.1";
    world.run(["accept", "1"]).expect_error(1, newer, LOOK);
    let other = ["accept", "1", "--content-file", "-"];
    let refused = world.sandbox.run_with_input(other, b"mine");
    refused.expect_error(1, newer, LOOK);
    world
        .run(["accept", "1.1"])
        .expect_error(1, "diff 1 is at 1.2, not 1.1", LOOK);
    // A list is no look at the text.
    assert!(
        world
            .run(["diffs"])
            .expect(0)
            .stdout
            .contains("\n 1.2  gemini")
    );
    world
        .run(["accept", "1"])
        .expect_error(1, newer, "pillion accept 1.2");
    assert_eq!(world.run(["diffs", "1"]).expect(0).stdout, "harmful");
    world.run(["accept", "1"]).expect(0);
    world.expect_accepted("harmful");
}

#[test]
fn discarded_output_shows_nothing() {
    let mut world = World::new();
    world.propose("one");
    let unseen = "you have not viewed diff 1.";
    for arguments in [&["diffs", "1"][..], &["diffs", "1.1", "--json"]] {
        let mut command = world.sandbox.command(arguments);
        assert!(command.stdout(Stdio::null()).status().unwrap().success());
        world.run(["accept", "1"]).expect_error(1, unseen, LOOK);
    }
    let looked = world.sandbox.command(["diffs", "1"]);
    let mut closed = Command::new("/bin/sh");
    closed
        .args(["-c", "exec \"$0\" \"$@\" >&-"])
        .arg(looked.get_program())
        .args(looked.get_args())
        .env_clear()
        .envs(world.sandbox.home.env().iter())
        .current_dir(world.sandbox.home.workspace());
    assert!(closed.status().unwrap().success());
    world.run(["accept", "1"]).expect_error(1, unseen, LOOK);
    // A file can be read later.
    let file = fs::File::create(world.sandbox.home.workspace().join("shown")).unwrap();
    let mut command = world.sandbox.command(["diffs", "1"]);
    assert!(command.stdout(file).status().unwrap().success());
    world.run(["accept", "1"]).expect(0);
    world.expect_accepted("one");
}

#[test]
fn a_look_that_is_discarded_does_not_undo_an_earlier_one() {
    let mut world = World::new();
    world.propose("one");
    assert_eq!(world.run(["diffs", "1"]).expect(0).stdout, "one");
    let mut command = world.sandbox.command(["diffs", "1"]);
    assert!(command.stdout(Stdio::null()).status().unwrap().success());
    world.run(["accept", "1"]).expect(0);
    world.expect_accepted("one");
}

#[test]
fn a_revision_that_is_named_is_decided_and_no_other() {
    let mut world = World::new();
    world.propose("one");
    world.propose("two");
    world
        .run(["accept", "1"])
        .expect_error(1, "you have not viewed diff 1.", LOOK);
    world
        .run(["reject", "1.1"])
        .expect_error(1, "1.2, not 1.1", LOOK);
    world
        .run(["diffs", "1.1"])
        .expect_error(1, "1.2, not 1.1", LOOK);
    assert_eq!(world.run(["diffs", "1.2"]).expect(0).stdout, "two");
    world.run(["accept", "1.2"]).expect(0);
    world.expect_accepted("two");
    world.propose("three");
    world.propose("four");
    world.run(["reject", "2"]).expect(0);
    assert!(matches!(world.agent.outcome(), Update::DiffRejected { .. }));
}

#[test]
fn what_was_shown_in_another_terminal_is_not_seen_in_this_one() {
    let mut world = World::new();
    world.propose("one");
    world.run(["diffs", "1"]).expect(0);
    world.propose("two");
    assert_eq!(world.run_elsewhere(["diffs", "1"]).expect(0).stdout, "two");
    world
        .run(["accept", "1"])
        .expect_error(1, "you were shown 1.1", LOOK);
    world.run(["diffs", "1"]).expect(0);
    world
        .run_elsewhere(["accept", "1"])
        .expect_error(1, "you have not viewed diff 1.", LOOK);
    world.run(["accept", "1"]).expect(0);
    world.expect_accepted("two");
}

/// As in a container whose shell was started from outside: the session has no number there.
#[test]
fn whose_session_is_outside_of_the_namespace_decides_all_the_same() {
    const INSIDE: &str = "PILLION_TEST_INSIDE";
    if env::var_os(INSIDE).is_none() {
        let mut inside = Command::new("unshare");
        inside
            .args(["--user", "--map-root-user", "--pid", "--fork"])
            .arg("--mount-proc")
            .arg(env::current_exe().unwrap())
            .arg("whose_session_is_outside_of_the_namespace")
            .env(INSIDE, "1");
        let out = ran(&mut inside, b"").expect(0).stdout;
        return assert!(out.contains("test result: ok. 1 passed"), "{out}");
    }
    let mut world = World::new();
    world.propose("one");
    world
        .run(["accept", "1"])
        .expect_error(1, "you have not viewed diff 1.", LOOK);
    assert_eq!(world.run(["diffs", "1"]).expect(0).stdout, "one");
    world.run(["accept", "1"]).expect(0);
    world.expect_accepted("one");
}

#[test]
fn a_file_that_changed_since_the_look_is_said_and_looked_at_again() {
    let mut world = World::new();
    world.propose("one");
    world.run(["diffs", "1"]).expect(0);
    fs::write(&world.path, "somebody else's").unwrap();
    world
        .run(["accept", "1"])
        .expect_error(1, "changed on disk since 1.1 was", LOOK);
    let exactly = world.run(["accept", "1.1"]).expect(0);
    assert!(
        exactly.stderr.starts_with("note: the file changed on disk"),
        "{}",
        exactly.stderr
    );
    world.expect_accepted("one");

    world.propose("unseen");
    world
        .run(["accept", "2"])
        .expect_error(1, "you have not viewed diff 2.", "pillion diffs 2");
    world.run(["reject", "2"]).expect(0);
    assert!(matches!(world.agent.outcome(), Update::DiffRejected { .. }));

    world.propose("two");
    world.run(["diffs"]).expect(0);
    world
        .run(["accept", "3"])
        .expect_error(1, "you have not viewed diff 3.", "pillion diffs 3");
    world.run(["diffs", "3", "--json"]).expect(0);
    fs::write(&world.path, "and once more").unwrap();
    world
        .run(["accept", "3"])
        .expect_error(1, "changed on disk", "pillion diffs 3");
    world.run(["diffs", "3"]).expect(0);
    let ran = world.run(["accept", "3"]).expect(0);
    assert_eq!(ran.stderr, "");
    world.expect_accepted("two");
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
        .run(["accept", "1"])
        .expect_error(1, "changed on disk", LOOK);
}

#[test]
fn an_agent_that_proposes_in_a_hurry_gets_accepted_what_was_read_or_nothing() {
    let mut world = World::new();
    for _ in 0..20 {
        world.propose("harmless");
        let listed = world.run(["diffs", "--json"]).expect(0).stdout;
        let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
        let id = listed[0]["id"].to_string();
        world.run(["diffs", &id]).expect(0);
        let mut accept = world.sandbox.command(["accept", &id]);
        let mut accept = accept.stderr(Stdio::null()).spawn().unwrap();
        world.propose("harmful");
        if accept.wait().unwrap().success() {
            world.expect_accepted("harmless");
        }
        world.agent.close(&world.path).unwrap();
    }
}
