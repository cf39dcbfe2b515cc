//! The list of changes beside the diff, as it looks.

use pillion_view::SetPlace;
use pillion_view::changes::{ChangesList, ListedChange, ListedTurn};

use super::*;
use crate::app::Spot;
use crate::app::tests::changes::{change, turn};

fn named(id: &str, state: &str, name: &str, lines: Option<(usize, usize)>) -> ListedChange {
    ListedChange {
        path: format!("/work/shop/{name}").into(),
        mode: None,
        added: lines.map(|(added, _)| added),
        removed: lines.map(|(_, removed)| removed),
        ..change(id, state, None)
    }
}

fn told(id: &str, heading: &str, prompt: &str, changes: Vec<ListedChange>) -> ListedTurn {
    ListedTurn {
        heading: heading.to_owned(),
        prompt: prompt.to_owned(),
        ..turn(id, changes)
    }
}

fn list() -> ChangesList {
    let newer = vec![
        named("12.1", "accepted", "README.md", Some((3, 0))),
        named("12.2", "unseen", "src/app.ts", Some((12, 5))),
        named("12.3", "unseen", "assets/logo.png", None),
        named("12.4", "edited", "src/cart/totals.test.ts", Some((140, 96))),
    ];
    let older = vec![
        named(
            "9.1",
            "kept",
            "src/api/v2/routes/orders/index.ts",
            Some((1_204, 988)),
        ),
        named("9.2", "taken back", "package.json", Some((1, 1))),
    ];
    ChangesList {
        turns: vec![
            told(
                "12",
                "Claude Code",
                "Make the port configurable and listen on localhost only",
                newer,
            ),
            told("9", "while opencode was connected", "", older),
        ],
        left_out: 0,
        ..ChangesList::default()
    }
}

/// The same diff as elsewhere, as a change of a turn, beside this list.
fn beside(width: u16, height: u16, list: ChangesList) -> Person {
    let mut person = reviewer(width, height);
    person.happens(Event::Listed(list));
    person.written = Some("12.2".to_owned());
    person.open("src/app.ts", Some(BEFORE), &after());
    person.written = None;
    person
}

#[test]
fn wide_terminals_have_the_list_beside_the_diff() {
    insta::assert_snapshot!("pane_in_a_wide_terminal", see(&mut beside(160, 24, list())));
    let mut person = beside(120, 24, list());
    assert!(!see(&mut person).contains("README"), "as without turns");
    person.press("t");
    insta::assert_snapshot!("pane_that_was_asked_for", see(&mut person));
}

#[test]
fn a_mode_that_is_another_is_in_the_pane_and_written_files_are_named_below_a_diff() {
    let run = ListedChange {
        mode: Some("mode 644→755".to_owned()),
        ..named("3.1", "unseen", "run.sh", None)
    };
    let written = ChangesList {
        turns: vec![told("3", "Qwen Code", "make it run", vec![run])],
        ..list()
    };
    let mut person = beside(160, 16, written);
    let screen = see(&mut person);
    let row = screen.lines().find(|row| row.contains("run.sh")).unwrap();
    assert!(row.contains(" mode 644→755 │"), "{screen}");
    for width in [80, 100] {
        let mut person = beside(width, 16, list());
        let status = Status {
            unseen: 1,
            ..person.app.status.clone()
        };
        person.happens(Event::Status(status));
        let screen = see(&mut person);
        assert!(screen.contains("S written"), "{screen}");
    }
}

/// What has no room is in the help, which has its key there at any width.
#[test]
fn the_keys_that_matter_most_stand_below_the_list_and_a_written_diff() {
    for (width, of_list, of_diff) in [
        (
            120,
            "Enter look  a keep  r take back  R with reason  C note  n next  z undo  + stage  S diffs  ? help",
            "a accept  r leave  R take back  C note  space exclude  n/p hunk  e edit  z undo  + stage  / search  ? help  q quit",
        ),
        (
            80,
            "Enter look  a keep  r take back  R with reason  C note  n next  S diffs  ? help",
            "a accept  r leave  R take back  C note  space exclude  n/p hunk  e edit  ? help",
        ),
        (
            60,
            "Enter look  a keep  r take back  n next  S diffs  ? help",
            "a accept  r leave  space exclude  n/p hunk  e edit  ? help",
        ),
        (
            40,
            "Enter look  a keep  r take back  ? help",
            "a accept  r leave  n/p hunk  ? help",
        ),
    ] {
        let mut person = beside(width, 24, list());
        let last_row = |person: &mut Person| {
            let screen = see(person);
            screen.lines().next_back().unwrap().trim().to_owned()
        };
        assert_eq!(last_row(&mut person), of_diff, "{width}");
        person.press("S");
        assert_eq!(last_row(&mut person), of_list, "{width}");
    }
}

#[test]
fn the_list_has_the_keys_when_the_person_goes_there() {
    let mut person = beside(160, 16, list());
    person.press("Sj");
    insta::assert_snapshot!("pane_with_the_keys", see(&mut person));
}

#[test]
fn the_list_stands_beside_the_welcome_too() {
    let mut person = reviewer(160, 16);
    person.happens(Event::Listed(list()));
    insta::assert_snapshot!("pane_beside_the_welcome", see(&mut person));
}

#[test]
fn names_that_are_long_wide_or_hostile_keep_their_place() {
    let names = [
        "src/a/very/long/path/that/has/no/end/at/all/and/goes/on/file.rs",
        "docs/\u{8aac}\u{660e}\u{66f8}/\u{7b2c}\u{4e00}\u{7ae0}\u{306e}\u{7de8}\u{96c6}\u{65b9}\u{6cd5}\u{306b}\u{3064}\u{3044}\u{3066}.md",
        "a\u{1b}[31m\u{202e}b\nc.txt",
    ];
    let changes = names
        .iter()
        .enumerate()
        .map(|(at, name)| named(&format!("12.{}", at + 1), "unseen", name, Some((1, 20_000))));
    let hostile = "\u{1b}]0;x\u{7}\u{202e}do\nit";
    let turns = vec![told("12", "Claude Code", hostile, changes.collect())];
    let list = ChangesList {
        turns,
        ..ChangesList::default()
    };
    let mut person = beside(140, 14, list);
    let screen = see(&mut person);
    assert!(
        !screen.contains(['\u{1b}', '\u{202e}', '\u{7}']),
        "{screen}"
    );
    insta::assert_snapshot!("pane_with_hostile_names", screen);
}

#[test]
fn what_is_on_the_screen_is_in_sight_in_a_list_of_hundreds() {
    let files: Vec<_> = (1..=400)
        .map(|at| {
            named(
                &format!("3.{at}"),
                "unseen",
                &format!("src/file{at:03}.rs"),
                Some((1, 1)),
            )
        })
        .collect();
    let turns = vec![told("3", "Claude Code", "rename it everywhere", files)];
    let list = ChangesList {
        turns,
        ..ChangesList::default()
    };
    let mut person = reviewer(160, 20);
    person.happens(Event::Listed(list));
    for at in [1, 200, 400] {
        person.written = Some(format!("3.{at}"));
        person.open(&format!("src/file{at:03}.rs"), Some("one\n"), "1\n");
        person.written = None;
    }
    // `n` goes on to the next diff when all of this one was seen.
    for at in [1, 200, 400] {
        let marked = format!("▶● src/file{at:03}.rs");
        let screen = see(&mut person);
        assert!(screen.contains(&marked), "{marked}: {screen}");
        assert_eq!(
            screen.matches('▶').count(),
            2,
            "pending and written: {screen}"
        );
        person.press("n");
    }
    // Of what is only proposed, nothing is marked.
    person.open("src/file007.rs", Some("one\n"), "1\n");
    person.app.current = person.app.views.len() - 1;
    person.happens(Event::Tick);
    let screen = see(&mut person);
    assert!(
        !screen.contains("▶●") && screen.contains("src/file001.rs"),
        "{screen}"
    );
}

#[test]
fn a_terminal_that_changes_its_size_takes_the_list_along() {
    let mut person = beside(200, 30, list());
    let id = person.app.view().unwrap().diff.id;
    for (width, height, is_there) in [
        (80, 24, false),
        (136, 24, true),
        (135, 10, false),
        (240, 10, true),
        (30, 5, false),
        (200, 10, true),
    ] {
        person.happens(Event::Resized(Size::new(width, height)));
        let screen = see(&mut person);
        assert_eq!(
            screen.contains("● src/app.ts"),
            is_there,
            "{width}: {screen}"
        );
        let view = person.app.view().unwrap();
        assert_eq!((view.diff.id, view.hunk), (id, 0));
        let cells = screen.lines().map(visible::width);
        assert!(cells.max() <= Some(usize::from(width)));
    }
}

#[test]
fn pending_diffs_are_listed_beside_the_one_that_is_shown() {
    let mut person = reviewer(120, 16);
    let line = |at: usize| format!("{at}\n");
    let long: String = (0..40).map(line).collect();
    person.open("src/api/handlers.rs", Some("a\n"), "b\n");
    person.open("a/very/long/path/to/some/module/of/it.rs", None, &long);
    for at in 3..20 {
        person.open(&format!("src/part{at}.rs"), Some("a\nb\n"), "a\nB\n");
    }
    insta::assert_snapshot!("pending_beside", see(&mut person));
    // Beside the turns, it has a half; and the one that is shown is in sight.
    person.happens(Event::Listed(list()));
    person.press("17");
    person.wait(7_000);
    insta::assert_snapshot!("pending_beside_turns", see(&mut person));
    let spots = person.app.spots.iter();
    let is_there = |spot: &Spot| matches!(spot, Spot::Diff(id) if *id == DiffId(17));
    assert_eq!(spots.filter(|(_, spot)| is_there(spot)).count(), 1);
}

#[test]
fn who_proposes_hides_no_name_of_a_file() {
    let mut person = reviewer(130, 24);
    person.is_of_subagent = true;
    let names = ["parser.rs", "lexer.rs"];
    for name in names {
        person.open(&format!("src/{name}"), Some("old\n"), "new\n");
    }
    let screen = see(&mut person);
    for name in names {
        let is_row = |line: &&str| line.contains(name) && line.contains("+1 −1");
        assert!(screen.lines().any(|line| is_row(&line)), "{screen}");
    }
}

/// Who proposes is beside the path, and what is decided of a set, or is yet to come, is counted.
#[test]
fn the_list_tells_of_subagents_and_of_the_rest_of_a_set() {
    for (width, keys) in [(130, ""), (80, "f")] {
        let mut person = reviewer(width, 24);
        let place = |place| {
            Some(SetPlace {
                id: 1,
                place,
                of: 30,
            })
        };
        person.open("alone.ts", Some("old\n"), "new\n");
        for at in 1..=4 {
            (person.set, person.is_of_subagent) = (place(at), at == 2);
            person.open(&format!("{at}.ts"), Some("old\n"), "new\n");
        }
        person.press(keys);
        let screen = see(&mut person);
        let rows: Vec<_> = screen
            .lines()
            .filter(|it| it.contains("subagent"))
            .collect();
        assert_eq!(rows.len(), 1, "{screen}");
        assert!(rows[0].contains("2.ts"), "{screen}");
        let counted = match keys {
            "" => "5 of 31 pending",
            _ => "(2 of 30)",
        };
        assert!(screen.contains(counted), "{screen}");
        if !keys.is_empty() {
            person.press("subag");
            assert!(see(&mut person).contains("1 of 5 pending"));
        }
    }
}
