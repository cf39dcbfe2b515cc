//! The person's draft of a proposal outlives the agent, the server and the hub: a code action brings it back when the file
//! is proposed again, as an edit of the editor's own.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use pillion_testkit::{SOON, TestAgent};
use serde_json::{Value, json};

use crate::agent::accepted;
use crate::plain::world::{Proposal, World, discovery_file};
use crate::plain::written::apply;

const BEFORE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
const PROPOSED: &str = "one\n2\n3\n4\n5\n6\n7\n8\n9\n";
const MINE: &str = "one\n2\n3\n4\n5\n6\n7\n8\nmine\n";

const TITLE: &str = "Bring back what you had changed in a.txt";

/// The undecided texts, as the log has them.
fn undecided(world: &World) -> Vec<String> {
    let log = world.sandbox.run(["log", "--json"]).expect(0).stdout;
    let log: Vec<Value> = serde_json::from_str(&log).unwrap();
    let undecided = log.iter().filter(|it| it["state"] == "not decided");
    // What was taken out in between is not there any more.
    let text = |it: &Value| {
        let id = it["id"].as_str().unwrap();
        world.sandbox.run(["show", id, "--text"]).stdout
    };
    undecided.map(text).collect()
}

/// Waits until this, and nothing else, is kept.
fn wait_kept(world: &World, texts: &[&str]) {
    let started = Instant::now();
    while undecided(world) != texts {
        assert!(started.elapsed() < SOON, "{:?}", undecided(world));
        sleep(Duration::from_millis(50));
    }
}

/// The agent proposes, and the person edits the proposal, which is kept.
fn edited() -> World {
    let mut world = World::new();
    let target = world.target("a.txt", BEFORE);
    let proposal = world.shown(&target, PROPOSED);
    assert!(!titles(&mut world, &proposal).contains(&TITLE.to_owned()));
    world.did_change(&proposal.uri, MINE);
    wait_kept(&world, &[MINE]);
    world
}

fn titles(world: &mut World, proposal: &Proposal) -> Vec<String> {
    let actions = world.code_actions(&proposal.uri, (0, 0), (0, 0));
    let titles = actions.as_array().unwrap().iter();
    titles
        .map(|it| it["title"].as_str().unwrap().to_owned())
        .collect()
}

/// The arguments with which what was kept is brought back to this proposal.
fn offered(world: &mut World, uri: &str) -> Value {
    let actions = world.code_actions(uri, (0, 0), (0, 0));
    let action = actions.as_array().unwrap().iter();
    let action = { action }.find(|it| it["title"] == TITLE).unwrap();
    action["arguments"].clone()
}

/// The file is proposed again, in this form: the person hears that their text was kept, brings it back and accepts it.
fn comes_back(world: &mut World, proposed: &str, text: &str) {
    let target = world.sandbox.home.workspace().join("a.txt");
    let target = target.to_str().unwrap().to_owned();
    let proposal = world.shown(&target, proposed);
    let said = world.editor.wait(|message| {
        let text = message["params"]["message"].as_str().unwrap_or_default();
        message["method"] == "window/showMessage" && text.contains("was kept")
    });
    assert_eq!(
        said["params"]["message"],
        "What you had changed in a.txt was kept: a code action there brings it back."
    );
    let offered = offered(world, &proposal.uri);
    let answer = world.execute("pillion.bringBack", offered);
    assert!(answer.get("error").is_none(), "{answer}");
    let applied = apply(world, &proposal.uri, proposed);
    assert_eq!(applied, text);
    world.did_change(&proposal.uri, &applied);
    assert!(
        !titles(world, &proposal).contains(&TITLE.to_owned()),
        "it is there"
    );
    world.choose(&proposal, "Accept");
    assert_eq!(world.agent.outcome(), accepted(&target, text));
    wait_kept(world, &[]);
}

#[test]
fn edits_outlive_the_agent() {
    let mut world = edited();
    let next = TestAgent::connect(&discovery_file(&world.sandbox));
    std::mem::replace(&mut world.agent, next).disconnect();
    comes_back(&mut world, PROPOSED, MINE);
}

#[test]
fn edits_outlive_a_server_that_is_killed() {
    let mut world = edited();
    world.editor.child.kill().unwrap();
    world.editor.child.wait().unwrap();
    wait_kept(&world, &[MINE]);
    let World { sandbox, .. } = world;
    let mut world = World::in_sandbox(sandbox, &[], json!({}));
    comes_back(&mut world, PROPOSED, MINE);
}

#[test]
fn edits_are_taken_along_to_a_proposal_of_something_else() {
    let mut world = edited();
    let next = TestAgent::connect(&discovery_file(&world.sandbox));
    std::mem::replace(&mut world.agent, next).disconnect();
    let other = PROPOSED.replace("4\n", "four\n");
    comes_back(&mut world, &other, &MINE.replace("4\n", "four\n"));
}

/// An editor that shows neither the mark nor the line ends of a file is given a text as it shows texts.
#[test]
fn edits_come_back_byte_for_byte_where_the_editor_hides_some() {
    let mut world = World::new();
    let target = world.target("a.txt", "\u{feff}1\r\n2\r\n3\r\n");
    let proposed = "\u{feff}one\r\n2\r\n3\r\n";
    let opened = |world: &mut World| {
        let proposal = world.propose(&target, proposed);
        world
            .editor
            .answer(&proposal.request, json!({"success": true}));
        assert_eq!(fs::read_to_string(&proposal.path).unwrap(), proposed);
        world.did_open(&proposal.uri, "one\n2\n3\n");
        proposal
    };
    let proposal = opened(&mut world);
    world.did_change(&proposal.uri, "one\n2\nmine\n");
    let mine = "\u{feff}one\r\n2\r\nmine\r\n";
    wait_kept(&world, &[mine]);
    let next = TestAgent::connect(&discovery_file(&world.sandbox));
    std::mem::replace(&mut world.agent, next).disconnect();
    let proposal = opened(&mut world);
    world
        .editor
        .wait(|message| message.to_string().contains("was kept"));
    let answer = world.execute("pillion.bringBack", Value::Null);
    assert!(answer.get("error").is_none(), "{answer}");
    let applied = apply(&mut world, &proposal.uri, "one\n2\n3\n");
    assert_eq!(applied, "one\n2\nmine\n");
    world.did_change(&proposal.uri, &applied);
    world.choose(&proposal, "Accept");
    assert_eq!(world.agent.outcome(), accepted(&target, mine));
}

#[test]
fn what_is_taken_out_again_is_not_kept_and_nothing_is_brought_back_that_is_not_there() {
    let mut world = World::new();
    let target = world.target("a.txt", BEFORE);
    let proposal = world.shown(&target, PROPOSED);
    let refused = world.execute("pillion.bringBack", json!([1, 1]));
    let why = refused["error"]["message"].as_str().unwrap();
    assert_eq!(why, "nothing that you had changed in a.txt was kept");
    world.did_change(&proposal.uri, MINE);
    wait_kept(&world, &[MINE]);
    world.did_change(&proposal.uri, PROPOSED);
    wait_kept(&world, &[]);
}

/// Edits that Helix has not reported yet would be lost where those that it knows are replaced.
#[test]
fn while_a_save_and_the_edits_contradict_each_other_nothing_is_brought_back() {
    let mut world = edited();
    world.editor.child.kill().unwrap();
    world.editor.child.wait().unwrap();
    wait_kept(&world, &[MINE]);
    let World { sandbox, .. } = world;
    let mut world = World::in_sandbox(sandbox, &[], json!({"clientInfo": {"name": "helix"}}));
    let target = world.target("a.txt", BEFORE);
    let proposal = world.shown(&target, PROPOSED);
    let kept = |message: &Value| message.to_string().contains("was kept");
    world.editor.wait(kept);
    let offered = offered(&mut world, &proposal.uri);
    let typed = |world: &mut World, version: u32, text: &str| {
        let document = json!({"uri": proposal.uri, "version": version});
        let params = json!({"textDocument": document, "contentChanges": [{"text": text}]});
        world.editor.notify("textDocument/didChange", params);
    };
    // The save is reported before the last two edits.
    let all = PROPOSED.replace("2\n", "two\n");
    world.did_save(&proposal.uri, &all);
    typed(&mut world, 1, &PROPOSED.replace("2\n", "tw\n"));
    let refused = world.execute("pillion.bringBack", offered.clone());
    let why = refused["error"]["message"].as_str().unwrap();
    assert!(why.contains("has not reported all edits"), "{refused}");
    let passed = world.editor.passed();
    assert!(!passed.contains(&"workspace/applyEdit".to_owned()));
    typed(&mut world, 2, &all);
    let answer = world.execute("pillion.bringBack", offered);
    assert!(answer.get("error").is_none(), "{answer}");
}
