//! The files of a set are in one editor.

use pillion_view::SetPlace;

use super::*;

fn of_set(id: u64, set: u64, place: u32) -> Diff {
    let set = SetPlace {
        id: set,
        place,
        of: 3,
    };
    Diff {
        set: Some(set),
        ..diff(id, 1)
    }
}

#[test]
fn a_file_of_a_set_comes_to_the_editor_with_the_others_whichever_was_used_last() {
    let mut scene = Scene::new(Shows::LastUsed, "/w");
    let second = scene.add(Shows::LastUsed, "/w");
    scene.views.used(ViewId::FIRST);
    scene.views.open(of_set(1, 1, 1));
    scene.views.used(second);
    scene.views.open(of_set(2, 1, 2));
    scene.views.open(of_set(3, 2, 1));
    scene.views.open(diff(4, 1));
    scene.views.open(of_set(5, 1, 3));
    assert_eq!(
        scene.words(),
        [
            vec!["open 1.1", "open 2.1", "open 5.1"],
            vec!["open 3.1", "open 4.1"]
        ]
    );
}

#[test]
fn an_editor_that_is_not_for_a_file_of_the_set_does_not_get_it() {
    let mut scene = Scene::new(Shows::LastUsed, "/w/a");
    scene.add(Shows::LastUsed, "/w/b");
    scene.views.open(of_set(1, 1, 1));
    let elsewhere = Diff {
        path: "/w/b/file".into(),
        ..of_set(2, 1, 2)
    };
    scene.views.open(elsewhere);
    assert_eq!(scene.words(), [vec!["open 1.1"], vec!["open 2.1"]]);
}

#[test]
fn what_is_undecided_of_a_set_goes_to_one_editor_when_its_own_leaves() {
    let mut scene = Scene::new(Shows::LastUsed, "/w");
    scene.add(Shows::LastUsed, "/w");
    scene.add(Shows::LastUsed, "/w");
    scene.views.used(ViewId::FIRST);
    for place in 1..=3 {
        scene.views.open(of_set(u64::from(place), 1, place));
    }
    let key = of_set(2, 1, 2).key();
    scene
        .views
        .decided(Decider::View(ViewId::FIRST), key, None, scene.now);
    assert!(scene.views.remove(ViewId::FIRST, scene.now).is_empty());
    let words = scene.words();
    assert_eq!(words[0], ["open 1.1", "open 2.1", "open 3.1"]);
    assert_eq!(words[1], [""; 0]);
    assert_eq!(words[2], ["open 1.1", "open 3.1"]);
}
