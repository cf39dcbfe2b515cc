//! Files that belong together, without a plugin: each is named with its place, and decided on its own.

use pillion_testkit::TestAgent;
use serde_json::{Value, json};

use crate::agent::{accepted, rejected};
use crate::client::Editor;
use crate::plain::world::{Proposal, World, wait_gone};

impl World {
    /// The same, with a script as its agent.
    fn for_script() -> Self {
        let mut world = Self::new();
        world.agent = TestAgent::script(&world.sandbox.home);
        world
    }

    /// The script proposes a new file at this place of a set, and the editor shows it.
    fn shown_in_set(&mut self, set: &str, place: &str, name: &str) -> Proposal {
        let target = self.sandbox.home.workspace().join(name);
        let target = target.to_str().unwrap().to_owned();
        let call = self.agent.proposing_in_set(set, place, &target, "new\n");
        let request = self.editor.next("window/showDocument");
        self.editor.answer(&request, json!({"success": true}));
        let uri = request["params"]["uri"].as_str().unwrap().to_owned();
        self.did_open(&uri, "new\n");
        Proposal {
            path: crate::plain::world::path(&uri),
            target,
            uri,
            request,
            call,
        }
    }

    fn titles(&mut self, uri: &str) -> Vec<String> {
        let actions = self.code_actions(uri, (0, 0), (0, 0));
        let actions = actions.as_array().unwrap().iter();
        let titles = actions.map(|action| action["title"].as_str().unwrap().to_owned());
        titles.collect()
    }
}

fn titles(name: &str) -> [String; 2] {
    [
        format!("Accept {name} as shown (Script)"),
        format!("Reject the change to {name} (Script)"),
    ]
}

#[test]
fn the_files_of_two_sets_are_named_with_their_places_and_decided_one_by_one() {
    let mut world = World::for_script();
    let files = [
        ("x", "1 of 3", "a.rs"),
        ("y", "1 of 2", "d.rs"),
        ("x", "2 of 3", "b.rs"),
        ("x", "3 of 3", "c.rs"),
    ];
    let shown = files.map(|(set, place, name)| world.shown_in_set(set, place, name));
    for (proposal, (_, place, name)) in shown.iter().zip(files) {
        assert_eq!(
            world.titles(&proposal.uri),
            titles(&format!("{name} ({place})"))
        );
    }
    let [a, d, b, c] = &shown;
    world.choose(b, "Reject");
    assert_eq!(world.agent.outcome(), rejected(&b.target));
    for proposal in [c, a, d] {
        world.choose(proposal, "Accept");
        assert_eq!(world.agent.outcome(), accepted(&proposal.target, "new\n"));
    }
}

#[test]
fn a_file_of_a_set_is_withdrawn_or_revised_and_then_its_proposer_is_gone() {
    let mut world = World::for_script();
    let files = [("1 of 3", "a.rs"), ("2 of 3", "b.rs"), ("3 of 3", "c.rs")];
    let [a, b, c] = files.map(|(place, name)| world.shown_in_set("x", place, name));
    let closing = world.agent.closing(&a.target);
    closing.end().unwrap();
    wait_gone(&a.path);
    let revised = world.shown(&b.target, "newer\n");
    assert_eq!(world.titles(&revised.uri), titles("b.rs (2 of 3)"));
    let gone = std::mem::replace(&mut world.agent, TestAgent::script(&world.sandbox.home));
    // Of the calls nothing is left.
    for call in [a.call, b.call, c.call, revised.call] {
        let _ = call.end();
    }
    gone.disconnect();
    let news = "Script is gone: its change to b.rs (2 of 3) can no longer be accepted";
    assert_eq!(world.message(), news);
    for path in [&revised.path, &c.path] {
        wait_gone(path);
    }
}

#[test]
fn when_the_editor_that_shows_a_set_leaves_another_takes_over_what_is_undecided() {
    let mut world = World::for_script();
    let files = [("1 of 3", "a.rs"), ("2 of 3", "b.rs"), ("3 of 3", "c.rs")];
    let [a, _, _] = files.map(|(place, name)| world.shown_in_set("x", place, name));
    world.choose(&a, "Accept");
    assert_eq!(world.agent.outcome(), accepted(&a.target, "new\n"));
    let mut second = Editor::plugin(&world.sandbox);
    world.editor.request("shutdown", Value::Null);
    world.editor.notify("exit", Value::Null);
    let left = [("b.rs", 2), ("c.rs", 3)].map(|(name, place)| {
        let diff = second.open_diff();
        let label = format!("{place} of 3");
        let set = json!({"id": 1, "place": place, "of": 3, "label": label});
        assert_eq!(diff["set"], set);
        assert!(diff["path"].as_str().unwrap().ends_with(name));
        diff
    });
    let [b, c] = &left;
    let ruling = second.decide(b, "reject", None);
    assert_eq!(ruling["result"]["next"], c["id"], "{ruling}");
    let path = |diff: &Value| diff["path"].as_str().unwrap().to_owned();
    assert_eq!(world.agent.outcome(), rejected(&path(b)));
    second.settle(c, "accept", None);
    assert_eq!(world.agent.outcome(), accepted(&path(c), "new\n"));
}
