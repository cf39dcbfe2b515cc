//! Things that are easily overlooked can be seen.

use super::*;

fn lines(count: usize) -> String {
    (0..count).map(|line| format!("line {line}\n")).collect()
}

/// The cells of the row that contains `text`.
fn row_with(buffer: &Buffer, text: &str) -> Vec<Cell> {
    let rows = (0..buffer.area.height).map(|y| -> Vec<Cell> {
        let row = (0..buffer.area.width).map(|x| buffer[(x, y)].clone());
        row.collect()
    });
    let is_it = |row: &Vec<Cell>| {
        let line: String = row.iter().map(Cell::symbol).collect();
        line.contains(text)
    };
    { rows }.find(is_it).unwrap()
}

#[test]
fn tabs_and_spaces_can_be_told_apart_where_nothing_else_changes() {
    for width in [80, 120] {
        for (before, after, shown) in [
            ("\tlet a;\n", "    let a;\n", ["→", "····let·a;"]),
            ("    let a;\n", "\tlet a;\n", ["····let·a;", "→"]),
            ("let  a;\n", "let a;\n", ["let··a;", "let·a;"]),
        ] {
            let mut person = reviewer(width, 24);
            person.open("a.txt", Some(before), after);
            let screen = see(&mut person);
            for shown in shown {
                assert!(screen.contains(shown), "{shown}: {screen}");
            }
            assert!(screen.contains("whitespace only"), "{screen}");
        }
    }
    let mut person = reviewer(80, 24);
    person.open("a.txt", Some("let a;\n"), "let b;\n");
    let screen = see(&mut person);
    assert!(
        screen.contains("let b;") && !screen.contains("whitespace"),
        "{screen}"
    );
}

#[test]
fn deleting_most_of_a_file_is_red() {
    let theme = Theme::new(true, Depth::True);
    for (of, left, is_most) in [
        (2_000, 40, true),
        (21, 10, true),
        (2_000, 1_100, false),
        (10, 1, false),
    ] {
        let mut person = reviewer(80, 24);
        person.open("a.txt", Some(&lines(of)), &lines(left));
        let buffer = draw(&mut person, &theme);
        let sentence = format!("−{} of {of} lines", of - left);
        assert_eq!(text(&buffer).contains(&sentence), is_most, "{of}, {left}");
        if is_most {
            let row = row_with(&buffer, &sentence);
            let minus = row.iter().find(|cell| cell.symbol() == "−").unwrap();
            assert_eq!(Some(minus.fg), theme.removed.sign.fg);
        }
    }
}

#[test]
fn what_becomes_unreadable_is_red() {
    let theme = Theme::new(true, Depth::True);
    let mut person = reviewer(120, 24);
    person.open("a.txt", Some("café\nold\n"), "caf\u{fffd}\nnew\n");
    let buffer = draw(&mut person, &theme);
    assert!(text(&buffer).contains("1 line gets � in place"));
    let row = row_with(&buffer, "caf\u{fffd}");
    let cell = row
        .iter()
        .rfind(|cell| cell.symbol() == "\u{fffd}")
        .unwrap();
    assert_eq!(Some(cell.fg), theme.removed.sign.fg);
    assert!(cell.modifier.contains(Modifier::REVERSED));
}

#[test]
fn a_very_long_line_is_cut_and_the_rest_is_shown() {
    let image = "x".repeat(3 << 20);
    let cell = |code: &str| format!("{{\n \"code\": \"{code}\",\n \"image\": \"{image}\"\n}}\n");
    for (before, after, shown) in [
        (Some(cell("one")), cell("two"), "\"two\""),
        (None, cell("two"), "\"image\""),
        (Some("a\n".to_owned()), format!("{image}\nb\n"), "xxx"),
    ] {
        for wrap in [false, true] {
            let mut person = reviewer(100, 24);
            person.open("a.ipynb", before.as_deref(), &after);
            if wrap {
                person.press("w");
            }
            let screen = see(&mut person);
            assert!(screen.contains(shown), "{screen}");
            assert!(!screen.contains("not shown"), "{screen}");
        }
    }
}

#[test]
fn notes_that_wait_for_the_decision_are_counted_wherever_the_view_stands() {
    let mut person = reviewer(100, 24);
    person.open("a.txt", Some("a\nb\nc\n"), "A\nb\nC\n");
    assert!(!see(&mut person).contains("· 1 note"));
    for (keys, shown) in [("Cx", "hunk 1/2 · 1 note"), ("nCy", "hunk 2/2 · 2 notes")] {
        person.press(keys);
        person.key(KeyCode::Enter);
        person.wait(10_000);
        let screen = see(&mut person);
        assert!(screen.contains(shown), "{screen}");
    }
    person.press("p");
    let screen = see(&mut person);
    assert!(screen.contains("hunk 1/2 · 2 notes"), "{screen}");
}

#[test]
fn selected_lines_stand_out_and_the_footer_is_about_them() {
    let theme = Theme::new(true, Depth::True);
    let mut person = reviewer(80, 24);
    person.open("a.txt", None, &lines(9));
    person.press("Vj");
    let buffer = draw(&mut person, &theme);
    let is_reversed = |text: &str| {
        let number = row_with(&buffer, text)[6].clone();
        number.modifier.contains(Modifier::REVERSED)
    };
    let marked = ["line 0", "line 1", "line 2"].map(is_reversed);
    assert_eq!(marked, [true, true, false]);
    let first = |text: &str| row_with(&buffer, text)[0].symbol().to_owned();
    assert_eq!(["line 0", "line 1"].map(first), ["█", "❯"]);
    assert!(text(&buffer).contains("space exclude or include"));
    // As soon as there is something to undo, it is there however little room there is.
    person.wait(1_000);
    person.press(" ");
    assert!(see(&mut person).contains("z undo"));
}
