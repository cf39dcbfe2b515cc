//! One side dies without a word: an agent with a diff open (C5), or the companion (C6.2).

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use pillion_testkit::{AgentKind, Env, Turn};
use serde_json::Value;

use crate::review::{Review, Scene};

const FILE: &str = "new.txt";

/// An agent may come back within 30 s.
const GIVEN_UP: Duration = Duration::from_secs(35);

#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn the_view_of_a_killed_gemini_goes_away() {
    the_view_of_a_killed_agent_goes_away(AgentKind::Gemini);
}

#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn the_view_of_a_killed_qwen_goes_away() {
    the_view_of_a_killed_agent_goes_away(AgentKind::Qwen);
}

#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn gemini_goes_on_with_the_next_companion_of_a_killed_one() {
    goes_on_with_the_next_companion(AgentKind::Gemini);
}

#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn qwen_goes_on_with_the_next_companion_of_a_killed_one() {
    goes_on_with_the_next_companion(AgentKind::Qwen);
}

fn the_view_of_a_killed_agent_goes_away(kind: AgentKind) {
    let Scene {
        agent,
        review,
        model,
        tmux: _tmux,
        home,
    } = Scene::new(kind);
    let path = home.workspace().join(FILE);
    model.script([Turn::write_file(&path, "one\n")]);
    agent.prompt("write it");
    review.wait_view(kind, FILE);
    agent.kill();
    review
        .pane()
        .wait_for(&format!("no longer waits for {FILE} here"), GIVEN_UP);
    review.pane().wait_for("Waiting for an agent.", GIVEN_UP);
    assert!(!path.exists());
}

fn goes_on_with_the_next_companion(kind: AgentKind) {
    let Scene {
        agent,
        review,
        model,
        tmux,
        home,
    } = Scene::new(kind);
    let ports = ports_in_files(home.root());
    assert_eq!(ports.len(), 1, "{ports:?}");
    review.kill();
    assert_eq!(ports_in_files(home.root()), ports, "nobody could tidy up");

    let review = Review::start_with(&tmux, &home, "next", &Env::default());
    // It comes from the same shell, so it has the same port.
    assert_eq!(ports_in_files(home.root()), ports);
    agent.ide_enable();
    review.wait_connected(kind);

    let path = home.workspace().join(FILE);
    model.script([Turn::write_file(&path, "one\n"), Turn::say("that is done")]);
    agent.prompt("write it");
    review.wait_view(kind, FILE);
    review.accept(FILE);
    agent.wait_accepted(FILE);
    agent.wait_for("that is done");
    assert_eq!(fs::read_to_string(&path).expect("it was written"), "one\n");
}

/// The ports of companions that the files below `root` tell agents and commands.
fn ports_in_files(root: &Path) -> BTreeSet<u64> {
    let mut ports = BTreeSet::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the home is ours").flatten() {
            let path = entry.path();
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            if path.is_dir() && !is_link {
                folders.push(path);
            } else if let Some(port) = port_in(&path) {
                ports.insert(port);
            }
        }
    }
    ports
}

/// The port, if the file is one that a companion writes.
fn port_in(path: &Path) -> Option<u64> {
    let place = path.to_str()?;
    let is_companions = ["-ide-server-", "/.qwen/ide/", "/run/pillion/"]
        .iter()
        .any(|part| place.contains(part));
    if !is_companions {
        return None;
    }
    let content: Value = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    content["port"].as_u64()
}
