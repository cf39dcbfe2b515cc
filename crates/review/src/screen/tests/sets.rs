//! Files that belong together, in the tabs and in the title.

use pillion_view::SetPlace;

use super::*;

#[test]
fn the_files_of_a_set_are_one_group_and_their_place_is_beside_the_name() {
    let mut person = Person::new(100, 24);
    for (name, set) in [
        ("alone.txt", None),
        ("a.txt", Some((1, 1))),
        ("x.txt", Some((2, 1))),
        ("b.txt", Some((1, 2))),
        ("y.txt", Some((2, 2))),
        ("c.txt", Some((1, 3))),
    ] {
        person.set = set.map(|(id, place)| SetPlace {
            id,
            place,
            of: 4 - id as u32,
        });
        person.open(name, Some("old\n"), "new\n");
    }
    person.press("4");
    let screen = see(&mut person);
    let tabs = " 1 alone.txt  [2 a.txt   4 b.txt   6 c.txt] [3 x.txt   5 y.txt]";
    assert!(screen.contains(tabs), "{screen}");
    assert!(
        screen.contains("Gemini CLI proposes b.txt (2 of 3) · 1 hunk"),
        "{screen}"
    );
    person.press("5");
    person.wait(1_000);
    person.press("r");
    let screen = see(&mut person);
    let title = "Gemini CLI proposes x.txt (1 of 2)";
    assert!(screen.contains(title), "{screen}");
    assert!(screen.contains(" 6 c.txt]  3 x.txt"), "{screen}");
}

#[test]
fn a_place_in_a_set_is_legible_in_the_smallest_terminal() {
    for name in ["b.txt", "some/very/long/path/of/a/file/that/is/cut.txt"] {
        let mut person = Person::new(40, 12);
        person.set = Some(SetPlace {
            id: 1,
            place: 99,
            of: 100,
        });
        person.open(name, Some("old\n"), "new\n");
        let screen = see(&mut person);
        assert!(screen.contains(".txt (99 of 100)"), "{screen}");
    }
}
