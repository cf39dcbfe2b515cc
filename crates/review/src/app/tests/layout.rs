//! Which layout a diff has, and the place that is kept when lines are shown otherwise.

use pillion_judge::rows::Layout;

use super::*;

fn layout(person: &Person) -> Layout {
    person.app.layout_of(person.app.view().unwrap())
}

#[test]
fn sides_stand_beside_each_other_where_no_changed_line_is_cut() {
    let long = |columns: usize| "x".repeat(columns);
    // Of 120 columns, each side has some 53 for its text.
    for (before, after, expected) in [
        (long(40), long(50), Layout::SideBySide),
        (long(40), long(60), Layout::Unified),
        (long(60), long(40), Layout::Unified),
        ("\t".repeat(20), long(9), Layout::Unified),
        (long(40), "漢".repeat(30), Layout::Unified),
    ] {
        let mut person = Person::new(120, 24);
        let unchanged = format!("{}\n", long(90));
        let texts = [before, after].map(|line| format!("{unchanged}{line}\n"));
        person.open("a.txt", Some(&texts[0]), &texts[1]);
        assert_eq!(layout(&person), expected, "{texts:?}");
    }
}

/// What the person asks for holds from then on, and what fits is had back by the same key.
#[test]
fn the_layout_that_is_asked_for_holds_for_the_next_diffs() {
    let narrow = ("a\nb\n", "a\nB\n");
    let wide = format!("a\n{}\n", "B".repeat(90));
    let mut person = Person::new(110, 24);
    person.open("narrow.txt", Some(narrow.0), narrow.1);
    person.open("wide.txt", Some(narrow.0), &wide);
    let layouts = |person: &mut Person| {
        let first = layout(person);
        person.key(KeyCode::Tab);
        let second = layout(person);
        person.key(KeyCode::Tab);
        (first, second)
    };
    let (beside, unified) = (Layout::SideBySide, Layout::Unified);
    assert_eq!(layouts(&mut person), (beside, unified));
    person.press("u");
    assert_eq!(layouts(&mut person), (unified, unified));
    person.press("u");
    assert_eq!(layouts(&mut person), (beside, unified));
    person.key(KeyCode::Tab);
    person.press("u");
    person.key(KeyCode::Tab);
    assert_eq!(layouts(&mut person), (beside, beside));
}

/// A long line, of which a part far to the right is in sight, is there still when it is wrapped, and back again.
#[test]
fn the_part_of_a_long_line_that_is_in_sight_stays_there() {
    let line = |word: &str| format!("{}{word}{}\n", "ab ".repeat(900), " cd".repeat(400));
    let mut person = Person::new(120, 24);
    person.open("a.txt", Some(&line("old")), &line("new"));
    person.press("n");
    let sees = |person: &mut Person| {
        let screen = crate::screen::tests::see(person);
        screen.contains("old cd") || screen.contains("new cd")
    };
    assert!(sees(&mut person));
    for key in ["w", "w", "u", "u", "w", "u", "w"] {
        person.press(key);
        assert!(
            sees(&mut person),
            "{key}\n{}",
            crate::screen::tests::see(&mut person)
        );
    }
}

/// Also where a longer line that changed is in sight above it, and below it.
#[test]
fn the_place_of_the_person_stays_when_lines_are_shown_otherwise() {
    let line = |word: &str| format!("{}{word}\n", "ab ".repeat(90));
    let text = |word: &str| {
        let changed = [line(word), format!("short {word}\n"), line(word)];
        changed.join(&"same\n".repeat(5))
    };
    let mut person = Person::new(120, 60);
    person.open("a.txt", Some(&text("old")), &text("new"));
    person.press("n");
    let place = |person: &Person| {
        let view = person.app.view().unwrap();
        let (left, right) = view.rows().get(view.cursor).unwrap().lines();
        (view.hunk, left.or(right))
    };
    let first = place(&person);
    assert_eq!(first, (1, Some(6)));
    for key in ["w", "w", "u", "u", "w", "u", "w"] {
        person.press(key);
        assert_eq!(place(&person), first, "{key}");
    }
}

#[test]
fn the_place_of_the_person_stays_where_less_fits_than_before() {
    let line = |at: usize| {
        format!(
            "    let value_{at} = some_function_with_a_name({at}, \"text that is rather long and goes on\"); // end {at}\n"
        )
    };
    let before: String = (0..80).map(line).collect();
    let after = before
        .replace("value_5 =", "value_5x =")
        .replace("// end 40\n", "// the end 40\n")
        .replace("value_70", "valu_70");
    for (columns, keys) in [
        (100, "uwwuwu"),
        (100, "wuwuuw"),
        (60, "wwww"),
        (160, "uwuw"),
    ] {
        let mut person = Person::new(columns, 30);
        person.open("long.rs", Some(&before), &after);
        person.press("nn");
        while person.app.view().unwrap().hunk < 2 {
            person.press("n");
        }
        for key in keys.chars() {
            person.press(&key.to_string());
            let view = person.app.view().unwrap();
            let (left, right) = view.rows().get(view.cursor).unwrap().lines();
            let place = (view.hunk, left.or(right));
            assert_eq!(place, (2, Some(70)), "{key} of {keys} in {columns} columns");
        }
    }
}

/// `n` goes back to the left as soon as all that it shows is there.
#[test]
fn the_next_hunk_is_read_from_its_first_column() {
    let line = |word: &str| format!("{}{word}\n", "ab ".repeat(60));
    let before = format!("{}{}c\n", line("old"), "-\n".repeat(20));
    let after = format!("{}{}C\n", line("new"), "-\n".repeat(20));
    let mut person = Person::new(80, 24);
    person.open("a.txt", Some(&before), &after);
    assert!(person.app.view().unwrap().x > 0);
    person.press("n");
    let view = person.app.view().unwrap();
    assert_eq!((view.hunk, view.x), (1, 0));
}

/// The sign that a line is cut stands in the place of a character, which nobody has seen then.
#[test]
fn what_the_sign_of_a_cut_covers_was_not_seen() {
    let mut person = Person::new(60, 15);
    person.open("a.txt", None, &format!("{}\n", "x".repeat(90)));
    let seen = |person: &Person| person.app.view().unwrap().seen_hunks().seen;
    let room = person.app.viewport().unwrap().columns.right_text;
    assert_eq!(seen(&person), 0);
    // At the first column its sign covers the one that the sign at the right edge has covered before.
    for (column, expected) in [(room - 1, 0), (room - 2, 1)] {
        person.app.views[0].x = column;
        person.wait(0);
        person.wait(300);
        assert_eq!(seen(&person), expected, "{column}");
    }
}
