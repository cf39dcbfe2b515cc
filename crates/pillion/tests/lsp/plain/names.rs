//! Proposal files: what they are called, where they lie, and that they go.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

use pillion_testkit::{SOON, pause};
use serde_json::json;

use crate::agent::rejected;
use crate::plain::world::{World, path, wait_gone};
use crate::sandbox::{Sandbox, signal};

#[test]
fn a_proposal_keeps_the_extension_whatever_the_name_is() {
    let mut world = World::new();
    let long = "x".repeat(240);
    for (name, expected) in [
        ("a.rs", "a.proposed.rs"),
        (".bashrc", ".bashrc.proposed"),
        ("Makefile", "Makefile.proposed"),
        ("[id].tsx", "[id].proposed.tsx"),
        (
            "100% #1 $(touch x)|;.md",
            "100% #1 $(touch x)|;.proposed.md",
        ),
        ("two\nlines.c", "two\nlines.proposed.c"),
        ("é 😀.py", "é 😀.proposed.py"),
        (
            &format!("{long}.rs"),
            &format!("{}.proposed.rs", "x".repeat(188)),
        ),
    ] {
        let target = world.target(name, "before\n");
        let proposal = world.shown(&target, "after\n");
        assert_eq!(proposal.path.file_name().unwrap().to_str(), Some(expected));
        assert_eq!(fs::read_to_string(&proposal.path).unwrap(), "after\n");
        world.choose(&proposal, "Reject");
        world.agent.outcome();
        wait_gone(&proposal.path);
    }
}

#[test]
fn an_editor_may_spell_the_uri_otherwise() {
    let mut world = World::new();
    let target = world.target("[id] (x).tsx", "before\n");
    let proposal = world.propose(&target, "after\n");
    let spelled = format!("file://{}", proposal.path.display()).replace(' ', "%20");
    assert_ne!(spelled, proposal.uri);
    world.did_open(&spelled, "after\n");
    proposal.call.end().unwrap();
    assert_eq!(
        world.diagnostics(&spelled, |found| !found.is_empty()).len(),
        1
    );
    let actions = world.code_actions(&spelled, (0, 0), (0, 0));
    assert_eq!(actions.as_array().unwrap().len(), 2);
}

#[test]
fn proposals_are_private_and_outside_of_the_workspace() {
    let mut world = World::new();
    let target = world.target("a.rs", "before\n");
    let proposal = world.shown(&target, "after\n");
    assert!(!proposal.path.starts_with(world.sandbox.home.workspace()));
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&proposal.path), 0o600);
    let folders = proposal.path.ancestors().skip(1).take(3);
    assert!(folders.map(mode).all(|mode| mode == 0o700));
}

#[test]
fn nothing_is_left_but_what_a_successor_takes_when_the_editor_leaves_or_dies() {
    let mut world = World::new();
    let target = world.target("a.rs", "before\n");
    let proposal = world.shown(&target, "after\n");
    world.editor.request("shutdown", json!(null));
    // Helix kills as soon as it is answered.
    signal(&world.editor.child, "KILL");
    world.editor.ended();
    assert_eq!(world.agent.outcome(), rejected(&target), "C5.7");
    assert!(!proposal.path.exists());
    let state = world.proposals().parent().unwrap().to_owned();
    let left = || {
        let entries = fs::read_dir(&state).unwrap();
        let mut left: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        left.retain(|path| path.extension().is_none_or(|it| it != "handover"));
        left
    };
    // The hub ends after the editor.
    let started = Instant::now();
    while left() != [world.proposals()] {
        assert!(started.elapsed() < SOON, "C6.2: {:?}", left());
        pause(started);
    }
    for end in ["TERM", "HUP", "end of input"] {
        let mut world = World::new();
        let target = world.target("a.rs", "before\n");
        world.shown(&target, "after\n");
        match end {
            "end of input" => world.editor.hang_up(),
            name => signal(&world.editor.child, name),
        }
        assert_eq!(world.editor.ended().0, Some(0), "{end}");
        let left = fs::read_dir(world.proposals()).unwrap().count();
        assert_eq!(left, 0, "{end}");
    }
}

#[test]
fn the_next_one_clears_what_a_killed_one_left() {
    let sandbox = Sandbox::new();
    let mut world = World::in_sandbox(sandbox, &[], json!({}));
    let target = world.target("a.rs", "before\n");
    let left = world.shown(&target, "after\n").path;
    signal(&world.editor.child, "KILL");
    world.editor.ended();
    assert!(left.exists());
    let World { sandbox, .. } = world;
    let mut world = World::in_sandbox(sandbox, &[], json!({}));
    assert!(!left.exists());
    let proposal = world.propose(&target, "after\n");
    assert!(path(&proposal.uri).exists());
}
