//! The keys that a review of many files takes, on the shape of a change of 28 files that a person once read.

use super::*;

/// Files: how many lines each has, the columns of its longest changed one, and its hunks: the line, and how many go and come there.
type Shape = (&'static str, usize, usize, &'static [(usize, usize, usize)]);

#[rustfmt::skip]
const SHAPES: [Shape; 28] = [
    ("crates/agent/src/find/claude.rs", 306, 93, &[(10, 1, 1), (269, 1, 1), (271, 1, 1)]),
    ("crates/companion/src/checks.rs", 212, 93, &[(15, 1, 1), (39, 4, 4), (56, 3, 3), (65, 2, 4), (87, 1, 1), (97, 2, 4), (101, 1, 4), (114, 1, 1), (116, 1, 1), (125, 1, 1), (129, 1, 1), (144, 1, 1), (148, 1, 1), (156, 1, 1), (159, 1, 1)]),
    ("crates/companion/src/commands.rs", 411, 58, &[(35, 1, 1), (55, 1, 1), (68, 1, 1)]),
    ("crates/companion/src/disk.rs", 50, 102, &[(1, 1, 1), (15, 1, 1), (19, 1, 1), (26, 1, 1)]),
    ("crates/companion/src/judging.rs", 479, 83, &[(24, 1, 1), (48, 1, 1), (50, 1, 1), (59, 2, 2), (79, 1, 1), (81, 1, 1), (92, 1, 1), (94, 1, 1)]),
    ("crates/companion/src/lost.rs", 160, 53, &[(19, 1, 1), (48, 1, 1), (50, 1, 1), (67, 2, 2)]),
    ("crates/companion/src/on_disk.rs", 178, 100, &[(9, 1, 1), (85, 2, 2), (94, 2, 2)]),
    ("crates/companion/src/outbox.rs", 439, 64, &[(20, 1, 1), (257, 1, 1), (259, 3, 3)]),
    ("crates/companion/src/wire.rs", 234, 97, &[(52, 1, 1), (54, 1, 1), (158, 2, 2), (164, 3, 3), (193, 2, 2), (200, 1, 1), (202, 1, 4), (209, 1, 4), (219, 1, 1)]),
    ("crates/discovery/src/namespaces.rs", 116, 87, &[(11, 1, 1), (18, 1, 1), (83, 2, 2), (103, 5, 5), (111, 3, 3)]),
    ("crates/discovery/src/survey.rs", 471, 89, &[(16, 1, 1), (99, 1, 1), (129, 1, 1), (131, 1, 4), (247, 1, 1), (460, 1, 1), (463, 1, 1)]),
    ("crates/discovery/src/sweep.rs", 139, 90, &[(15, 1, 1), (100, 2, 2), (103, 1, 1)]),
    ("crates/doctor/src/checks/containers.rs", 89, 77, &[(26, 1, 1)]),
    ("crates/doctor/src/checks/files.rs", 283, 80, &[(250, 1, 1)]),
    ("crates/lsp/src/lib.rs", 54, 24, &[(36, 1, 1)]),
    ("crates/lsp/src/server.rs", 312, 77, &[(165, 1, 5)]),
    ("crates/pillion/src/choice.rs", 177, 91, &[(16, 1, 1), (158, 1, 1), (162, 1, 1), (167, 1, 1), (169, 1, 1)]),
    ("crates/pillion/src/choice/rules.rs", 225, 87, &[(10, 1, 1), (20, 3, 3), (113, 2, 2), (121, 1, 1), (123, 1, 1), (128, 6, 6), (139, 1, 1), (145, 2, 2)]),
    ("crates/pillion/src/commands/lsp.rs", 51, 45, &[(44, 1, 1)]),
    ("crates/review/src/app.rs", 537, 71, &[(38, 1, 1), (371, 2, 2), (375, 1, 1), (385, 1, 1), (393, 1, 1), (398, 1, 1)]),
    ("crates/review/src/app/deciding.rs", 176, 67, &[(46, 1, 1)]),
    ("crates/review/src/app/keys.rs", 367, 75, &[(102, 1, 1), (108, 1, 1)]),
    ("crates/review/src/app/review_delay.rs", 225, 121, &[(86, 1, 1), (122, 1, 1), (132, 1, 1), (139, 2, 2), (143, 1, 1), (146, 1, 1), (151, 1, 1), (153, 1, 1), (182, 1, 1), (186, 1, 1), (188, 1, 1), (191, 1, 1), (201, 4, 4), (211, 1, 5)]),
    ("crates/review/src/app/review_delay/tests.rs", 254, 76, &[(10, 1, 1), (30, 1, 1), (45, 1, 1), (75, 1, 1), (83, 1, 1), (122, 1, 1), (137, 1, 1), (148, 1, 1)]),
    ("crates/review/src/screen/body.rs", 359, 67, &[(18, 1, 1), (308, 3, 3), (314, 1, 1)]),
    ("crates/review/src/view.rs", 292, 32, &[(21, 1, 1)]),
    ("crates/review/src/view/part.rs", 118, 93, &[(26, 1, 1), (39, 1, 1), (46, 1, 1), (52, 2, 2), (72, 1, 1), (75, 1, 1), (78, 1, 1)]),
    ("crates/review/src/view/seen.rs", 346, 85, &[(10, 1, 1), (201, 1, 1), (207, 1, 1)]),
];

/// The texts before and after.
fn texts((_, count, widest, hunks): &Shape) -> [String; 2] {
    let [mut before, mut after] = [const { String::new() }; 2];
    let mut line = 1;
    let changed = |word: &str, line: usize| {
        let width = widest - (line * 7) % (widest / 2);
        format!(
            "{:width$.width$}\n",
            format!("    let {word}_{line} = {}", "value + ".repeat(20))
        )
    };
    let same = |line: usize| format!("    unchanged({line});\n");
    for (at, gone, come) in *hunks {
        for line in line..*at {
            before += &same(line);
            after += &same(line);
        }
        before.extend((0..*gone).map(|more| changed("old", at + more)));
        after.extend((0..*come).map(|more| changed("new", at + more)));
        line = at + gone;
    }
    for line in line..=*count {
        before += &same(line);
        after += &same(line);
    }
    [before, after]
}

/// The keys that it takes to read each file to its end and to accept it.
fn keys(width: u16, height: u16, read_on: KeyCode) -> usize {
    let mut person = Person::new(width, height);
    for shape in &SHAPES {
        let [before, after] = texts(shape);
        person.open_now(shape.0, Some(&before), &after);
    }
    person.wait(1_000);
    let (mut keys, mut last, mut at_end) = (0, None, None);
    while let Some(view) = person.app.view() {
        let place = Some((view.diff.id, view.top));
        if place == last {
            at_end = Some(view.diff.id);
        }
        let key = match view.seen_hunks().unseen {
            0 => KeyCode::Char('a'),
            // What is left then is to the side.
            _ if at_end == Some(view.diff.id) => KeyCode::Char('n'),
            _ => read_on,
        };
        last = place;
        person.key(key);
        assert!(keys < 200, "{place:?}");
        person.wait(1_000);
        keys += 1;
    }
    keys
}

/// It took 128 by hunks at 100 columns when lines were cut.
#[test]
fn twenty_eight_files_are_reviewed_with_eighty_keys() {
    let [hunks, pages] = [KeyCode::Char('n'), KeyCode::PageDown].map(|key| keys(100, 30, key));
    assert!(
        hunks <= 104 && pages <= 80,
        "by hunks {hunks}, by pages {pages}"
    );
    println!("by hunks {hunks}, by pages {pages}");
}
