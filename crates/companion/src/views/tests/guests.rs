//! Guests: they see one revision, and nothing else changes because of them.

use super::*;

fn guest(id: u64, revision: u32) -> Shows {
    let key = diff(id, revision).key();
    Shows::Only { host: 7, key }
}

#[test]
fn a_guest_is_shown_the_revision_that_it_came_for_and_no_other() {
    let mut scene = Scene::new(Shows::LastUsed, "/w");
    scene.views.open(diff(1, 1));
    scene.views.open(diff(2, 1));
    for (shows, words) in [
        (guest(1, 1), vec!["open 1.1"]),
        (guest(2, 1), vec!["open 2.1"]),
        (guest(1, 2), vec![]),
        (guest(3, 1), vec![]),
    ] {
        let id = scene.add(shows, "/guest");
        assert_eq!(scene.words()[id.0 as usize], words, "{shows:?}");
    }
    scene.views.open(diff(1, 2));
    let words = scene.words();
    assert_eq!(words[0], ["open 1.2"]);
    assert_eq!(words[1], ["close 1 Overruled"], "what it came for is gone");
    assert_eq!(words[2], [""; 0]);
    assert_eq!(words[3], ["open 1.2"]);
    assert_eq!(scene.closes(1, Ok("mine")), Closed::default());
}

#[test]
fn whoever_shows_it_hears_of_a_guest() {
    let mut scene = Scene::new(Shows::LastUsed, "/w");
    scene.add(Shows::Always, "/w");
    scene.add(Shows::LastUsed, "/elsewhere");
    scene.views.open(diff(1, 1));
    scene.add(guest(1, 1), "/guest");
    scene.words();
    scene.views.send_shared(diff(1, 1).key());
    let shared = vec!["shared 1.1"];
    assert_eq!(scene.words(), [shared.clone(), shared, vec![], vec![]]);
    scene.views.send_shared(diff(1, 2).key());
    assert_eq!(scene.words().concat(), [""; 0]);
}

#[test]
fn only_what_is_open_can_be_had_by_a_guest() {
    let mut scene = Scene::new(Shows::LastUsed, "/w");
    scene.views.open(diff(1, 2));
    scene.views.open(diff(2, 1));
    scene
        .views
        .close(diff(2, 1).key(), CloseReason::ClosedByAgent);
    for (id, revision, expected) in [
        (1, 2, Ok(())),
        (1, 1, Err(Stale::Replaced)),
        (1, 3, Err(Stale::Replaced)),
        (2, 1, Err(Stale::NotPending)),
        (3, 1, Err(Stale::NotPending)),
    ] {
        assert_eq!(scene.views.check_open(diff(id, revision).key()), expected);
    }
}

#[test]
fn a_guest_is_no_place_for_proposals_and_nothing_that_agents_look_for() {
    let mut scene = Scene::new(Shows::Never, "/w");
    scene.add(guest(1, 1), "/w");
    assert!(!scene.views.shows_diffs());
    assert_eq!(scene.views.options().count(), 1);
    assert_eq!(scene.views.seats().len(), 1);
    assert_eq!(scene.views.ide().unwrap().name, "Never");
    scene.views.open(diff(2, 1));
    assert_eq!(scene.words(), [vec![""; 0], vec![]]);
    let nowhere = scene.events.try_recv();
    assert!(matches!(nowhere, Ok(Event::Shown(_, _, Err(_)))));
}

#[test]
fn guests_keep_no_companion_alive() {
    let mut scene = Scene::new(Shows::LastUsed, "/w");
    let guest = scene.add(guest(1, 1), "/guest");
    assert!(scene.views.is_last(ViewId::FIRST));
    assert!(!scene.views.is_last(guest));
    let second = scene.add(Shows::Always, "/w");
    assert!(!scene.views.is_last(ViewId::FIRST) && !scene.views.is_last(second));
    scene.views.remove(ViewId::FIRST, scene.now);
    assert!(scene.views.is_last(second) && !scene.views.is_last(guest));
}

#[test]
fn a_guest_that_leaves_decides_nothing() {
    let mut scene = Scene::new(Shows::LastUsed, "/w");
    scene.views.open(diff(1, 1));
    let guest = scene.add(guest(1, 1), "/guest");
    scene.words();
    assert_eq!(scene.views.remove(guest, scene.now), []);
    assert_eq!(scene.words(), [vec![""; 0], vec![]]);
    assert_eq!(scene.views.check_open(diff(1, 1).key()), Ok(()));
}

#[test]
fn what_a_guest_decides_closes_the_others_and_the_other_way_round() {
    for (decider, other) in [(1, 0), (0, 1)] {
        for (accepted, word) in [
            (Some("accepted"), "close 1 AcceptedElsewhere"),
            (None, "close 1 RejectedElsewhere"),
        ] {
            let mut scene = Scene::new(Shows::LastUsed, "/w");
            scene.views.open(diff(1, 1));
            scene.add(guest(1, 1), "/guest");
            scene.words();
            let accepted = accepted.map(|it| Arc::new(it.to_owned()));
            let view = ViewId(decider);
            scene
                .views
                .decided(Decider::View(view), diff(1, 1).key(), accepted, scene.now);
            assert_eq!(scene.words()[other], [word]);
            let left = scene.closes(other, Ok("mine")).leftovers;
            assert_eq!(left, [left_over(u32::try_from(other).unwrap(), "mine")]);
        }
    }
}
