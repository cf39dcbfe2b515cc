//! The mouse moves what is looked at, and copies; it never decides.

use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

use super::*;
use crate::app::Overlay;

const LEFT: MouseButton = MouseButton::Left;

/// The mouse does something on what is drawn now.
fn mouse(person: &mut Person, kind: MouseEventKind, at: (u16, u16)) -> Vec<Effect> {
    draw_once(person, &Theme::new(true, Depth::None));
    event(person, kind, at)
}

fn event(person: &mut Person, kind: MouseEventKind, (column, row): (u16, u16)) -> Vec<Effect> {
    person.happens(Event::Mouse(MouseEvent {
        kind,
        column,
        row,
        modifiers: KeyModifiers::NONE,
    }))
}

fn click(person: &mut Person, at: (u16, u16)) -> Vec<Effect> {
    let mut effects = mouse(person, MouseEventKind::Down(LEFT), at);
    effects.extend(mouse(person, MouseEventKind::Up(LEFT), at));
    effects
}

/// What is copied by dragging from one place to another.
fn drag(person: &mut Person, from: (u16, u16), to: (u16, u16)) -> Option<String> {
    mouse(person, MouseEventKind::Down(LEFT), from);
    mouse(person, MouseEventKind::Drag(LEFT), to);
    let effects = mouse(person, MouseEventKind::Up(LEFT), to);
    effects.into_iter().find_map(|effect| match effect {
        Effect::Copy(text) => Some(text),
        _ => None,
    })
}

/// The column and the row of a text on the screen.
fn place(person: &mut Person, of: &str) -> (u16, u16) {
    let screen = see(person);
    let mut rows = (0..).zip(screen.lines());
    let found = rows.find_map(|(y, line)| Some((y, visible::width(&line[..line.find(of)?]))));
    let (y, x) = found.unwrap_or_else(|| panic!("{of}: {screen}"));
    (u16::try_from(x).unwrap(), y)
}

/// Two files of 200 lines, in each of which three change.
fn two(width: u16, height: u16) -> Person {
    let mut person = reviewer(width, height);
    let before: String = (0..200).map(|line| format!("\tline {line}\n")).collect();
    let after = before
        .replace("\tline 50\n", "\tnew 50\n\tnew 51\n")
        .replace("\tline 70\n", "\tnew 70\n")
        .replace("\tline 150\n", "");
    for name in ["a.txt", "b.txt"] {
        person.open(name, Some(&before), &after);
    }
    person
}

#[test]
fn the_wheel_scrolls_what_is_in_front() {
    let mut person = two(80, 24);
    person.press("xg");
    let top = |person: &Person| person.app.view().unwrap().top.row;
    mouse(&mut person, MouseEventKind::ScrollDown, (10, 10));
    mouse(&mut person, MouseEventKind::ScrollDown, (10, 10));
    assert_eq!(top(&person), 6);
    mouse(&mut person, MouseEventKind::ScrollUp, (10, 10));
    assert_eq!(top(&person), 3);
    person.press("f");
    mouse(&mut person, MouseEventKind::ScrollDown, (10, 10));
    assert_eq!((top(&person), person.app.chosen_file()), (3, Some(1)));
}

#[test]
fn a_click_goes_to_a_tab_a_file_a_hunk_and_what_is_folded() {
    let mut person = two(80, 30);
    let tab = place(&mut person, "b.txt");
    click(&mut person, tab);
    assert_eq!(person.app.current, 1);
    person.press("f");
    let file = place(&mut person, "a.txt");
    click(&mut person, file);
    assert_eq!((person.app.current, person.app.overlay), (0, None));
    let hunk = place(&mut person, "new 70");
    click(&mut person, hunk);
    assert_eq!(person.app.view().unwrap().hunk, 1);
    let fold = place(&mut person, "⋯ 13 unchanged");
    click(&mut person, fold);
    assert!(see(&mut person).contains("line 60"));
}

#[test]
fn dragging_copies_the_lines_of_one_side() {
    let mut person = two(120, 30);
    person.press("t");
    let (from, to) = (place(&mut person, "line 49"), place(&mut person, "line 52"));
    let old = "\tline 49\n\tline 50\n\tline 51\n\tline 52\n";
    assert_eq!(drag(&mut person, from, to).as_deref(), Some(old));
    // The other way round, on the other side.
    let right = |(x, y): (u16, u16)| (x + 60, y);
    let new = "\tline 49\n\tnew 50\n\tnew 51\n\tline 51\n\tline 52\n";
    assert_eq!(
        drag(&mut person, right(to), right(from)).as_deref(),
        Some(new)
    );
    // Unified, by where it begins.
    person.press("u");
    let (from, to) = (place(&mut person, "line 49"), place(&mut person, "line 52"));
    assert_eq!(drag(&mut person, from, to).as_deref(), Some(new));
    let removed = place(&mut person, "line 50");
    let old = "\tline 50\n\tline 51\n\tline 52\n";
    assert_eq!(drag(&mut person, removed, to).as_deref(), Some(old));
    // The numbers show what is dragged over.
    mouse(&mut person, MouseEventKind::Down(LEFT), from);
    mouse(&mut person, MouseEventKind::Drag(LEFT), to);
    let buffer = draw(&mut person, &Theme::new(true, Depth::True));
    let is_marked = |y: u16| buffer[(4, y)].modifier.contains(Modifier::REVERSED);
    let rows: Vec<_> = (from.1..=to.1).map(is_marked).collect();
    assert_eq!(rows, [true, false, true, true, true, true]);
}

#[test]
fn no_click_decides_wherever_it_is_and_whatever_is_asked() {
    let states = ["", "a", "q", "f", "?", "S", "R", " a"];
    for keys in states {
        let mut person = two(80, 24);
        person.press(keys);
        let state = |person: &Person| {
            let views = person.app.views.iter();
            let out: usize = views.map(|view| view.proposal.count().out).sum();
            (person.app.views.len(), out)
        };
        let before = state(&person);
        for (x, y) in (0..24).flat_map(|y| [5, 30, 75].map(|x| (x, y))) {
            let mut effects = click(&mut person, (x, y));
            effects.extend(event(&mut person, MouseEventKind::Down(LEFT), (x, y)));
            effects.extend(event(&mut person, MouseEventKind::Up(LEFT), (x, y)));
            let is_harmless = |effect: &Effect| {
                matches!(
                    effect,
                    Effect::Changes | Effect::Copy(_) | Effect::Compare(_)
                )
            };
            assert!(
                effects.iter().all(is_harmless),
                "{keys} {x} {y}: {effects:?}"
            );
            event(&mut person, MouseEventKind::ScrollDown, (x, y));
        }
        assert_eq!(state(&person), before, "{keys}");
    }
}

#[test]
fn the_mouse_can_be_given_to_the_terminal() {
    let mut person = two(80, 24);
    person.app.has_mouse = true;
    assert!(matches!(person.press("M")[..], [Effect::Mouse(false)]));
    assert!(matches!(person.press("M")[..], [Effect::Mouse(true)]));
}

#[test]
fn y_copies_where_nothing_is_asked_and_else_answers() {
    let mut person = two(80, 24);
    let copied = |effects: &[Effect]| match effects {
        [Effect::Copy(text)] => text.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(copied(&person.press("y")), "\tnew 50\n\tnew 51\n");
    assert_eq!(copied(&person.press("Y")), "/work/shop/a.txt");
    person.press("pnn");
    assert_eq!(
        copied(&person.press("y")),
        "\tline 150\n",
        "what a hunk removes"
    );
    // Asked whether to leave, it leaves.
    person.press("q");
    assert_eq!(person.app.overlay, Some(Overlay::Quit));
    let effects = person.press("y");
    assert!(
        effects
            .iter()
            .all(|effect| !matches!(effect, Effect::Copy(_))),
        "{effects:?}"
    );
    // Asked about what was not seen, it accepts.
    let mut person = two(80, 24);
    person.press("a");
    person.wait(1_000);
    person.press("y");
    assert_eq!(person.app.views.len(), 1);
}
