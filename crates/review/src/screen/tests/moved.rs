//! A block that moved is seen as such at both places, with colours and without.

use super::*;
use crate::screen::theme::Change;

fn moved(depth: Depth, width: u16) -> (String, Buffer, Theme) {
    let block = "fn moved_elsewhere() {\n    some_call(\"here\");\n}\n";
    let rest: String = (0..8)
        .map(|line| format!("let unmoved_{line} = {line};\n"))
        .collect();
    let (before, after) = (format!("{block}{rest}"), format!("{rest}{block}"));
    let mut person = reviewer(width, 30);
    person.open("a.rs", Some(&before), &after);
    let theme = Theme::new(true, depth);
    let buffer = draw(&mut person, &theme);
    (text(&buffer), buffer, theme)
}

#[test]
fn both_places_name_each_other_in_words_and_in_the_margin() {
    for depth in [Depth::True, Depth::None] {
        for width in [80, 120] {
            let (screen, ..) = moved(depth, width);
            assert!(
                screen.contains("↓- fn moved_elsewhere() {  moved to line 9"),
                "{screen}"
            );
            assert!(
                screen.contains("↑+ fn moved_elsewhere() {  moved from line 1"),
                "{screen}"
            );
            assert!(screen.contains("↓-     some_call(\"here\");"), "{screen}");
            assert_eq!(screen.matches("moved to").count(), 1, "{screen}");
        }
    }
}

#[test]
fn where_there_is_no_room_the_words_are_cut_with_a_mark() {
    let (screen, ..) = moved(Depth::None, 42);
    let line = |sign: &str| screen.lines().find(|it| it.contains(sign)).unwrap();
    assert!(line("↓- fn moved").ends_with("moved t›"), "{screen}");
}

#[test]
fn its_lines_have_a_colour_of_their_own() {
    let (_, buffer, theme) = moved(Depth::True, 80);
    let ground = |change: Change| change.line.bg.unwrap();
    let count = |colour| {
        buffer
            .content
            .iter()
            .filter(|cell| cell.bg == colour)
            .count()
    };
    assert!(count(ground(theme.moved)) > 6 * 60);
    assert_eq!(count(ground(theme.added)) + count(ground(theme.removed)), 0);
}
