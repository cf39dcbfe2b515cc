//! Codex CLI: its hooks, the companion that they ask, and the socket at which it asks itself.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::Instant;

use pillion_testkit::SOON;
use serde_json::Value;

use super::world::{CODEX, World};

fn world() -> World {
    let world = World::new();
    world.install(CODEX, "0.171.0");
    symlink(env!("CARGO_BIN_EXE_pillion"), world.bin().join("pillion")).unwrap();
    world
}

fn home(world: &World) -> PathBuf {
    world.home().home().join(".codex")
}

/// The events of the hooks, as Codex writes them.
const EVENTS: [&str; 5] = [
    "pre_tool_use",
    "permission_request",
    "post_tool_use",
    "user_prompt_submit",
    "stop",
];

/// Trusts the hooks at these events, as a person does in `/hooks`.
fn trust(world: &World, events: &[&str]) {
    let path = home(world).join("config.toml");
    let mut text = fs::read_to_string(&path).unwrap();
    if !text.contains("[hooks.state]") {
        text += "\n[hooks.state]\n";
    }
    for event in events {
        text += &format!(
            "\"{}:{event}:0:0\" = {{ trusted_hash = \"sha256:x\" }}\n",
            path.display()
        );
    }
    fs::write(path, text).unwrap();
}

#[test]
fn codex_is_brought_to_show_its_changes_by_the_doctors_advice() {
    let world = world();
    fs::create_dir(home(&world)).unwrap();
    let fix = world
        .doctor(CODEX)
        .expect_first("hook-missing", "are not in ");
    assert_eq!(fix, "pillion hook install codex");
    let told = world.after(&format!("{fix} >/dev/null"), CODEX);
    told.expect_gone("hook-missing");
    assert_eq!(
        told.expect_first("hook-untrusted", "have not trusted them"),
        "/hooks"
    );
    trust(&world, &EVENTS[..1]);
    let told = world.doctor(CODEX);
    // It shows its changes with that one, if somebody is there.
    told.expect(
        "hook-untrusted",
        "warning",
        "does not run 4 of Pillion's 5 hooks yet",
    );
    told.expect_first("no-companion", "is open for ");
    trust(&world, &EVENTS[1..]);
    let told = world.doctor(CODEX);
    let fix = told.expect_first("no-companion", "is open for ");
    assert_eq!(fix, "pillion");
    assert_eq!(told.agent["companion"], Value::Null);
    let _serve = world.sandbox.serve_in_hub::<&str>([]);
    // The hub serves the socket soon after it has started.
    let start = Instant::now();
    let told = loop {
        let told = world.doctor(CODEX);
        assert_eq!(told.code, 0, "{}", told.text);
        if told.finding("no-context").is_none() {
            break told;
        }
        assert!(start.elapsed() < SOON, "{}", told.text);
    };
    let context = format!(
        "after `/ide`, from {}",
        home(&world).join("ipc/ipc.sock").display()
    );
    assert!(told.text.contains(&context), "{}", told.text);
    assert_eq!(told.agent["version"], "0.171.0");
    assert_eq!(told.agent["companion"]["displayName"], "Pillion");
    let verdict = "Pillion's hooks would show you the changes of Codex CLI in Pillion.";
    assert!(told.text.contains(verdict), "{}", told.text);
    // It opens no connection.
    assert!(!told.text.contains("connect"), "{}", told.text);
    for leg in ["IDE mode", "folders", "session"] {
        assert!(!told.text.contains(leg), "{}", told.text);
    }
}

#[test]
fn a_socket_that_answers_for_another_codex_home_is_told_and_hinders_nothing() {
    let world = world();
    fs::create_dir(home(&world)).unwrap();
    // As a `/tmp` of all users: elsewhere Codex is answered in the temporary directory.
    fs::set_permissions(world.home().tmp(), fs::Permissions::from_mode(0o1777)).unwrap();
    let _serve = world.serve();
    let told = world.after("pillion hook install codex >/dev/null", CODEX);
    assert_eq!(told.expect_first("hook-untrusted", ""), "/hooks");
    trust(&world, &EVENTS);
    let other = world.home().root().join("other");
    fs::create_dir(&other).unwrap();
    let world = world.with("CODEX_HOME", &other);
    let told = world.doctor(CODEX);
    told.expect(
        "no-context",
        "warning",
        "other/ipc/ipc.sock does not answer",
    );
    told.expect_first("hook-missing", "other/config.toml");
    let gone = world.home().root().join("gone");
    let told = world.with("CODEX_HOME", &gone).doctor(CODEX);
    told.expect("no-context", "warning", "gone is not there");
}

/// Codex asks in the temporary directory if nothing is in its own.
#[test]
fn a_codex_home_that_nobody_knows_is_answered_in_a_private_temporary_directory() {
    let world = world();
    let _serve = world.serve();
    let other = world.home().root().join("other");
    fs::create_dir(&other).unwrap();
    let world = world.with("CODEX_HOME", &other);
    let started = Instant::now();
    // The socket is made beside the start.
    while world.doctor(CODEX).finding("no-context").is_some() {
        assert!(started.elapsed() < SOON);
    }
}

#[test]
fn codex_without_a_program_or_with_broken_settings_is_named() {
    let world = world();
    let _serve = world.serve();
    fs::create_dir(home(&world)).unwrap();
    fs::write(home(&world).join("config.toml"), "hooks = [").unwrap();
    world
        .doctor(CODEX)
        .expect_first("settings-broken", "is not a valid settings file");
    fs::remove_file(world.bin().join(CODEX)).unwrap();
    let fix = world
        .doctor(CODEX)
        .expect_first("agent-not-installed", "the command `codex` is not on PATH");
    assert_eq!(fix, "npm install -g @openai/codex@latest");
}
