//! Files that belong together, without a plugin: each is named with its place, and decided on its own.

use pillion_testkit::TestProgram;
use serde_json::{Value, json};

use crate::client::Editor;
use crate::plain::world::{World, path, wait_gone};

impl World {
    /// A program proposes these new files as a set, and the editor shows each: they are returned with their URIs.
    fn shown_as_set(&mut self, names: &[&str]) -> (TestProgram, Vec<String>) {
        let files: Vec<_> = names.iter().map(|name| (*name, "new\n")).collect();
        let proposing = TestProgram::proposing(&self.sandbox.home, &files);
        let uris = names.iter().map(|_| {
            let request = self.editor.next("window/showDocument");
            self.editor.answer(&request, json!({"success": true}));
            let uri = request["params"]["uri"].as_str().unwrap().to_owned();
            self.did_open(&uri, "new\n");
            uri
        });
        let uris = uris.collect();
        (proposing.shown(), uris)
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
        format!("Accept {name} as shown (Pillion)"),
        format!("Reject the change to {name} (Pillion)"),
    ]
}

fn accepted(at: usize) -> (usize, Option<String>) {
    (at, Some("new\n".to_owned()))
}

#[test]
fn the_files_of_two_sets_are_named_with_their_places_and_decided_one_by_one() {
    let mut world = World::new();
    let (mut first, shown) = world.shown_as_set(&["a.rs", "b.rs", "c.rs"]);
    let (mut second, others) = world.shown_as_set(&["d.rs", "e.rs"]);
    let names = [
        "a.rs (1 of 3)",
        "b.rs (2 of 3)",
        "c.rs (3 of 3)",
        "d.rs (1 of 2)",
        "e.rs (2 of 2)",
    ];
    for (uri, name) in shown.iter().chain(&others).zip(names) {
        assert_eq!(world.titles(uri), titles(name));
    }
    world.choose_at(&shown[1], "Reject");
    assert_eq!(first.accepted(), (1, None));
    for at in [2, 0] {
        world.choose_at(&shown[at], "Accept");
        assert_eq!(first.accepted(), accepted(at));
    }
    for (at, uri) in others.iter().enumerate() {
        world.choose_at(uri, "Accept");
        assert_eq!(second.accepted(), accepted(at));
    }
}

#[test]
fn a_set_goes_with_its_proposer() {
    let mut world = World::new();
    let (program, shown) = world.shown_as_set(&["a.rs", "b.rs", "c.rs"]);
    drop(program);
    let news = "Pillion no longer waits for a.rs (1 of 3) here: nothing was decided";
    assert_eq!(world.message(), news);
    for uri in shown {
        wait_gone(&path(&uri));
    }
}

#[test]
fn when_the_editor_that_shows_a_set_leaves_another_takes_over_what_is_undecided() {
    let mut world = World::new();
    let (mut program, shown) = world.shown_as_set(&["a.rs", "b.rs", "c.rs"]);
    world.choose_at(&shown[0], "Accept");
    assert_eq!(program.accepted(), accepted(0));
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
    assert_eq!(program.accepted(), (1, None));
    second.settle(c, "accept", None);
    assert_eq!(program.accepted(), accepted(2));
}
