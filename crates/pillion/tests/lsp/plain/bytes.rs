//! The accepted text, byte for byte, whatever the editor shows.

use std::fs;

use serde_json::json;

use crate::agent::accepted;
use crate::plain::world::{Proposal, World};

const STRANGE: &str = "\u{feff}a\r\nb\nc  \r\n\r\nlast";

/// As most editors hold a text: without the mark, with LF, with a last line end.
fn normalised(text: &str) -> String {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    format!("{}\n", text.trim_end_matches('\n'))
}

fn opened_as(world: &mut World, proposed: &str, text: &str) -> Proposal {
    let target = world.target("a.txt", "before\n");
    let proposal = world.propose(&target, proposed);
    assert_eq!(fs::read_to_string(&proposal.path).unwrap(), proposed);
    world
        .editor
        .answer(&proposal.request, json!({"success": true}));
    world.did_open(&proposal.uri, text);
    proposal
}

fn expect_accepted(mut world: World, proposal: Proposal, content: &str) {
    world.choose(&proposal, "Accept");
    assert_eq!(world.agent.outcome(), accepted(&proposal.target, content));
}

#[test]
fn a_proposal_that_was_never_opened_is_accepted_as_it_came() {
    let mut world = World::new();
    let target = world.target("a.txt", "before\n");
    let proposal = world.propose(&target, STRANGE);
    world
        .editor
        .answer(&proposal.request, json!({"success": true}));
    expect_accepted(world, proposal, STRANGE);
}

#[test]
fn what_was_saved_by_an_editor_that_synchronises_nothing_is_accepted() {
    let mut world = World::new();
    let target = world.target("a.txt", "before\n");
    let proposal = world.propose(&target, "after\n");
    world
        .editor
        .answer(&proposal.request, json!({"success": true}));
    fs::write(&proposal.path, "edited elsewhere\n").unwrap();
    expect_accepted(world, proposal, "edited elsewhere\n");
}

#[test]
fn what_was_not_edited_is_accepted_as_it_came_whatever_the_editor_shows() {
    for text in [normalised(STRANGE), "something else\n".to_owned()] {
        let mut world = World::new();
        let proposal = opened_as(&mut world, STRANGE, &text);
        // An editor may normalise what it saves, too.
        fs::write(&proposal.path, normalised(STRANGE)).unwrap();
        world.did_save(&proposal.uri, &text);
        expect_accepted(world, proposal, STRANGE);
    }
}

#[test]
fn an_edit_changes_nothing_but_what_was_edited() {
    let mut world = World::new();
    let shown = normalised(STRANGE);
    let proposal = opened_as(&mut world, STRANGE, &shown);
    let insert = json!({"range": {"start": {"line": 2, "character": 0},
                                  "end": {"line": 2, "character": 1}}, "text": "C\nnew"});
    world.did_edit(&proposal.uri, json!([insert]));
    let expected = "\u{feff}a\r\nb\nC\r\nnew  \r\n\r\nlast";
    expect_accepted(world, proposal, expected);
}

#[test]
fn an_editor_that_shows_every_byte_may_change_every_byte() {
    let mut world = World::new();
    let proposal = opened_as(&mut world, "a\r\nb", "a\r\nb");
    world.did_change(&proposal.uri, "a\nb\n");
    expect_accepted(world, proposal, "a\nb\n");
}

#[test]
fn the_text_of_a_save_counts_before_the_edit_that_led_there() {
    let mut world = World::new();
    let proposal = opened_as(&mut world, "a\n", "a\n");
    world.did_save(&proposal.uri, "saved\na\n");
    expect_accepted(world, proposal, "saved\na\n");
    let mut world = World::new();
    let proposal = opened_as(&mut world, "a\n", "a\n");
    world.did_save(&proposal.uri, "saved\na\n");
    let late = json!({"range": {"start": {"line": 0, "character": 0},
                                "end": {"line": 0, "character": 0}}, "text": "saved\n"});
    world.did_edit(&proposal.uri, json!([late]));
    expect_accepted(world, proposal, "saved\na\n");
}

#[test]
fn an_edit_that_was_taken_back_leaves_the_proposal_as_it_came() {
    let mut world = World::new();
    let shown = normalised(STRANGE);
    let proposal = opened_as(&mut world, STRANGE, &shown);
    world.did_change(&proposal.uri, "x\n");
    world.did_change(&proposal.uri, &shown);
    expect_accepted(world, proposal, STRANGE);
}

#[test]
fn what_was_saved_as_something_else_than_text_is_refused() {
    let mut world = World::new();
    let target = world.target("a.txt", "before\n");
    let proposal = world.propose(&target, "é\n");
    world
        .editor
        .answer(&proposal.request, json!({"success": true}));
    fs::write(&proposal.path, b"\xe9\n").unwrap();
    let answer = world.execute("pillion.accept", json!([1, 1]));
    let text = answer["error"]["message"].as_str().unwrap();
    assert!(text.contains("UTF-8"), "{text}");
    let ran = world.sandbox.run(["accept", "1.1"]).expect(1);
    assert!(ran.stderr.contains("does not tell"), "{}", ran.stderr);
    fs::write(&proposal.path, "fine\n").unwrap();
    expect_accepted(world, proposal, "fine\n");
}

#[test]
fn what_was_saved_but_cannot_be_read_is_refused() {
    let mut world = World::new();
    let target = world.target("a.txt", "before\n");
    let proposal = world.propose(&target, "after\n");
    world
        .editor
        .answer(&proposal.request, json!({"success": true}));
    fs::remove_file(&proposal.path).unwrap();
    fs::create_dir(&proposal.path).unwrap();
    let answer = world.execute("pillion.accept", json!([1, 1]));
    let text = answer["error"]["message"].as_str().unwrap();
    assert!(text.contains("not a regular file"), "{text}");
    fs::remove_dir(&proposal.path).unwrap();
    expect_accepted(world, proposal, "after\n");
}
