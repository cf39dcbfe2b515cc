//! What was accepted or kept goes into git's index by a command, with and without a companion.

use std::fs;
use std::process::Command;

use super::World;

/// Runs a command of git's in the workspace, and returns what it prints.
fn git(world: &World, arguments: &str) -> String {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=x", "-c", "user.email=x@x", "-C"]);
    git.arg(&world.root).args(arguments.split(' '));
    let output = git.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(output.status.success(), "{arguments}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn what_was_kept_of_a_turn_is_staged_and_what_nobody_has_seen_is_named() {
    for has_companion in [false, true] {
        let world = World::new();
        git(&world, "init -q .");
        for name in ["a", "b"] {
            fs::write(world.root.join(name), "one\ntwo\n").unwrap();
        }
        git(&world, "add a b");
        git(&world, "commit -qm first");
        let turn = world.turn(|root| {
            for name in ["a", "b"] {
                fs::write(root.join(name), "one\nnew\n").unwrap();
            }
        });
        let _serve = has_companion.then(|| world.sandbox.serve::<&str>([]));
        let run = |command: &str| world.sandbox.run(command.split(' '));
        let turn = turn.to_string();
        let unseen = run(&format!("stage {turn}.1"));
        unseen.expect_error(1, "is not staged", "Keep it first.");
        run(&format!("keep {turn}.1")).expect(0);
        fs::write(world.root.join("a"), "mine\none\nnew\n").unwrap();
        // It is the file's own repository that is meant.
        let mut command = world.sandbox.command(["stage", &turn]);
        command
            .env("GIT_DIR", "/nonexistent")
            .env("GIT_INDEX_FILE", "/nonexistent");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8(output.stdout).unwrap();
        let expected = format!(
            "{turn}.1 a: staged\n{turn}.2 b: left out, as nobody has accepted or kept it\n"
        );
        assert_eq!(said, expected);
        assert_eq!(git(&world, "cat-file blob :a"), "one\nnew\n");
        assert_eq!(git(&world, "status --porcelain"), "MM a\n M b\n");
        let again = run(&format!("stage {turn}.1")).expect(0);
        assert_eq!(again.stdout, format!("{turn}.1 a: staged already\n"));
    }
}
