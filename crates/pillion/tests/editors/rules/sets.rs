//! Files that belong together, proposed by a script.

use pillion_agent::Update;
use pillion_testkit::{TestAgent, each_editor};

use crate::driver::Kind;
use crate::person::{ORIGINAL, Person};

/// The proposal with this text is in focus, and this is on the screen beside its name.
#[track_caller]
fn is_in_front(person: &Person, text: &str, place: &str) {
    person.wait(place, |editor| {
        editor.is_in_proposal() && editor.text() == text && editor.sees(place)
    });
}

/// Some views also say what the text was compared with.
#[track_caller]
fn hears_accepted(script: &mut TestAgent, text: &str) {
    match script.outcome() {
        Update::DiffAccepted { content, .. } => assert_eq!(content, text),
        other => panic!("{other:?}"),
    }
}

#[each_editor]
fn a_file_of_a_set_says_its_place_as_long_as_it_is_there(kind: Kind) {
    let person = Person::new(kind);
    let script = TestAgent::script(&person.home);
    script.propose_in_set("x", "2 of 3", &person.path, "new\n");
    is_in_front(&person, "new\n", "2 of 3");
    script.propose(&person.path, "newer\n");
    is_in_front(&person, "newer\n", "2 of 3");
    script.close(&person.path).unwrap();
    person.wait_gone();
    person.editor.assert_no_errors();
}

#[each_editor]
fn after_a_file_of_a_set_comes_the_next_one_of_it_and_not_what_came_before(kind: Kind) {
    let person = Person::new(kind);
    let (mut script, mut other) = (
        TestAgent::script(&person.home),
        TestAgent::script(&person.home),
    );
    let file = |name: &str| person.home.workspace().join(name);
    script.propose_in_set("x", "1 of 3", &person.path, "first\n");
    is_in_front(&person, "first\n", "1 of 3");
    other.propose_in_set("y", "1 of 2", file("y.txt"), "other\n");
    script.propose_in_set("x", "2 of 3", file("b.txt"), "second\n");
    script.propose_in_set("x", "3 of 3", file("c.txt"), "third\n");
    person.look();
    person.editor.accept();
    hears_accepted(&mut script, "first\n");
    if matches!(kind, Kind::Neovim(_)) {
        // There each is in a tab page of its own, and the person goes back to where they came from.
        person.wait("the file again", |editor| {
            !editor.is_in_proposal() && editor.text() == ORIGINAL
        });
        assert!(person.editor.has_views());
        return;
    }
    is_in_front(&person, "second\n", "2 of 3");
    person.look();
    person.editor.reject();
    let path = file("b.txt").display().to_string();
    assert_eq!(script.outcome(), Update::DiffRejected { path });
    is_in_front(&person, "third\n", "3 of 3");
    person.look();
    person.editor.accept();
    hears_accepted(&mut script, "third\n");
    is_in_front(&person, "other\n", "1 of 2");
    person.look();
    person.editor.reject();
    let path = file("y.txt").display().to_string();
    assert_eq!(other.outcome(), Update::DiffRejected { path });
    person.wait_gone();
    person.editor.assert_no_errors();
}
