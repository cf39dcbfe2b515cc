//! A companion beside a container, and a doctor in it: other processes, another network, or both.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use pillion_testkit::IdleProcess;
use serde_json::json;

use super::world::{CLAUDE, GEMINI, QWEN, Told, World, in_namespaces};

/// The namespaces that a container may have of its own.
const PROCESSES: &[&str] = &["-p", "-f", "--mount-proc"];
const NETWORK: &[&str] = &["-n"];
const BOTH: &[&str] = &["-p", "-f", "--mount-proc", "-n"];

fn world() -> World {
    let world = World::new();
    world.install(CLAUDE, "2.1.332");
    let home = world.home().home();
    fs::create_dir_all(home.join(".claude/ide")).unwrap();
    fs::write(home.join(".claude.json"), r#"{"autoConnectIde": true}"#).unwrap();
    world
}

/// A command in a container that has these of its own.
fn contained(own: &[&str], command: &Command) -> Command {
    let script = "ip link set lo up 2> /dev/null; exec \"$@\"";
    in_namespaces(own, script, &[], command)
}

fn doctor(world: &World, own: &[&str], agent: &str) -> Told {
    let wrapped = |args: &[&str]| contained(own, &world.command("\"$0\" \"$@\"; exit $?", args));
    world.told_by(wrapped(&[agent, "--json"]), || wrapped(&[agent]))
}

/// No command of a finding removes anything.
#[track_caller]
fn expect_nothing_removed(told: &Told) {
    assert!(!told.text.contains("rm -"), "{}", told.text);
    told.expect_gone("dead-companion");
}

#[test]
fn a_companion_with_other_processes_is_reached() {
    let world = world();
    let _serve = world.serve();
    for agent in [CLAUDE, GEMINI] {
        let told = doctor(&world, PROCESSES, agent);
        told.expect_connects("no-companion");
        expect_nothing_removed(&told);
    }
    for agent in [CLAUDE, QWEN] {
        let told = doctor(&world, PROCESSES, agent);
        let part = "runs in another container, whose processes are not seen here";
        assert!(told.text.contains(part), "{}", told.text);
        expect_nothing_removed(&told);
    }
}

#[test]
fn a_companion_with_another_network_is_out_of_reach_and_not_dead() {
    let world = world();
    let _serve = world.serve();
    for own in [NETWORK, BOTH] {
        for agent in [CLAUDE, GEMINI, QWEN] {
            let told = doctor(&world, own, agent);
            let fix = told.expect_first("no-companion", "no companion is running");
            assert_eq!(fix, "pillion");
            let part = "belongs to another container or machine";
            assert!(told.text.contains(part), "{}", told.text);
            expect_nothing_removed(&told);
        }
    }
}

/// Others' files do not say where they were written.
#[test]
fn anothers_companion_that_is_not_seen_may_live() {
    let world = world();
    let process = IdleProcess::start();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let lock = json!({
        "pid": process.id(), "workspaceFolders": [world.home().workspace()], "ideName": "Kate",
        "transport": "ws", "authToken": "hidden",
    });
    let path = world.home().home().join(format!(".claude/ide/{port}.lock"));
    fs::write(&path, lock.to_string()).unwrap();
    for own in [PROCESSES, BOTH] {
        let told = doctor(&world, own, CLAUDE);
        let part = "is gone, or runs in another container";
        assert!(told.text.contains(part), "{}", told.text);
        expect_nothing_removed(&told);
    }
}

fn files(world: &World) -> Vec<PathBuf> {
    let claude = world.home().home().join(".claude/ide");
    let folders = [claude, world.home().tmp().join("gemini/ide")];
    let entries = folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// A companion that starts in a container clears away what it takes for dead.
#[test]
fn a_companion_in_a_container_leaves_those_beside_it_alone() {
    for own in [PROCESSES, NETWORK, BOTH] {
        let world = world();
        let _serve = world.serve();
        let before = files(&world);
        assert!(before.len() > 1, "{before:?}");
        let elsewhere = world.home().other_workspace("elsewhere");
        let said = world.home().root().join("said");
        let script = "\"$0\" serve --workspace \"$2\" > \"$3\" & \
                      until grep -q port \"$3\"; do sleep 0.05; done; kill $!; wait $!";
        let mut command = world.command(script, &[]);
        command.args([&elsewhere, &said]);
        let output = contained(own, &command).output().unwrap();
        let said = fs::read_to_string(said).unwrap();
        assert!(said.contains("port"), "{output:?}");
        assert_eq!(files(&world), before, "{own:?}");
    }
}
