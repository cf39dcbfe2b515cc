//! Hunks of a proposal that were not on the screen are asked about before it is accepted.

use pillion_testkit::client::Update;
use pillion_testkit::{KakouneVersion, SOON, each_kakoune};

use crate::world::World;

/// The words of the question.
const ASKED: &str = "not been on the screen";

/// A file of so many lines, these of them others.
fn lines(count: usize, other: &[usize]) -> String {
    let line = |number| match other.contains(&number) {
        true => format!("other {number}\n"),
        false => format!("line {number}\n"),
    };
    (1..=count).map(line).collect()
}

#[each_kakoune]
fn what_was_not_on_the_screen_is_asked_about(version: KakouneVersion) {
    let wide = |end: &str| format!("\t{}{end}\n", "long ".repeat(60));
    for (before, after, asked, keys) in [
        ("short\n".to_owned(), "others\nmore\n".to_owned(), false, ""),
        (lines(200, &[]), lines(200, &[3, 150]), true, "150g"),
        (wide("old"), wide("new"), true, "gl"),
        (
            "a\nb\nc\nd\ne\n".to_owned(),
            "b\nc\ne\n".to_owned(),
            true,
            "ge",
        ),
    ] {
        let world = World::open(version, &[("a.txt", &before)]);
        let kakoune = &world.kakoune;
        let path = world.home.workspace().join("a.txt");
        let mut gemini = world.gemini();
        for is_looked_at in [false, true] {
            gemini.propose(&path, &after);
            world.look();
            if is_looked_at && asked {
                kakoune.input(keys);
                // Then what is on the screen was written down, and is read before the decision.
                kakoune.wait_until("the cursor", "%val{selection_desc}", |place| {
                    place != ["1.1,1.1"]
                });
                kakoune.wait_value("%opt{pillion_rest}", "idle");
            }
            kakoune.input(":w<ret>");
            if asked && !is_looked_at {
                kakoune.pane().wait_for(ASKED, SOON);
                world.look();
                kakoune.input(":w<ret>");
            }
            let outcome = gemini.outcome();
            assert_eq!(
                outcome,
                Update::accepted(path.display().to_string(), &after),
                "{keys}"
            );
            kakoune.wait_value("%val{bufname}", "a.txt");
        }
        let debug = kakoune.text("*debug*");
        assert_eq!(
            debug.matches(ASKED).count(),
            usize::from(asked),
            "{keys}\n{debug}"
        );
        kakoune.assert_no_errors();
    }
}

#[each_kakoune]
fn the_next_change_is_a_page_a_column_a_removal_or_another_one(version: KakouneVersion) {
    let wide = |end: &str| format!("\t{}{end}\n", "long ".repeat(90));
    for (before, after, presses) in [
        // Of four pages, the first is there already.
        (
            Some(lines(3, &[])),
            format!("{}{}", lines(3, &[]), lines(90, &[])),
            2..=5,
        ),
        (Some(lines(300, &[])), lines(300, &[3, 150, 290]), 2..=2),
        (Some(wide("old")), wide("new"), 1..=2),
        (
            Some("a\nb\nc\nd\ne\n".to_owned()),
            "b\nc\ne\n".to_owned(),
            1..=2,
        ),
        (None, lines(90, &[]), 2..=5),
    ] {
        let world = World::open(version, &[("a.txt", before.as_deref().unwrap_or("one\n"))]);
        let kakoune = &world.kakoune;
        let name = if before.is_some() { "a.txt" } else { "new.txt" };
        let path = world.home.workspace().join(name);
        let mut gemini = world.gemini();
        gemini.propose(&path, &after);
        world.look();
        let mut pressed = 0;
        let all = "all of it has been on the screen";
        loop {
            let place = || kakoune.get("%val{selection_desc} %val{window_range}");
            let from = place();
            kakoune.input(":pillion-next<ret>");
            kakoune.wait_until(
                "it goes on",
                "%val{selection_desc} %val{window_range}",
                |_| place() != from || kakoune.text("*debug*").contains(all),
            );
            if kakoune.text("*debug*").contains(all) {
                break;
            }
            pressed += 1;
            assert!(pressed < 10, "{}", kakoune.describe());
            kakoune.wait_value("%opt{pillion_rest}", "idle");
        }
        assert!(
            presses.contains(&pressed),
            "{pressed} of {presses:?}\n{}",
            kakoune.describe()
        );
        kakoune.input(":w<ret>");
        assert_eq!(
            gemini.outcome(),
            Update::accepted(path.display().to_string(), &after)
        );
        assert!(!kakoune.text("*debug*").contains(ASKED));
        kakoune.assert_no_errors();
    }
}

#[each_kakoune]
fn after_the_last_change_comes_the_next_proposal(version: KakouneVersion) {
    let files = [("a.txt", "one\n"), ("b.txt", "one\n")];
    let world = World::open(version, &files);
    let kakoune = &world.kakoune;
    let gemini = world.gemini();
    gemini.propose(world.home.workspace().join("a.txt"), "first\n");
    world.look();
    gemini.propose(world.home.workspace().join("b.txt"), "second\n");
    kakoune.wait_value("%opt{pillion_pending}", " 2 proposals: :pillion-show");
    kakoune.input(":pillion-next<ret>");
    kakoune.wait_until("the other one", "%val{bufname}", |name| {
        name[0].ends_with("/b.txt")
    });
    kakoune.wait_debug("this is the next proposal: b.txt");
    world.look();
    kakoune.input(":pillion-next<ret>");
    kakoune.wait_debug("all of it has been on the screen");
    // From a file, it leads to what waits.
    kakoune.input(":b b.txt<ret>");
    kakoune.wait_value("%val{bufname}", "b.txt");
    kakoune.input(":pillion-next<ret>");
    kakoune.wait_until("the first one", "%val{bufname}", |name| {
        name[0].starts_with("*pillion-")
    });
    kakoune.assert_no_errors();
}
