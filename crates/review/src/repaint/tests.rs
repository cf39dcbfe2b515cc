//! The output for a frame, in bytes and on a screen that does what they say.

use ratatui::layout::Rect;
use ratatui::style::Style;

use super::*;
use crate::app::tests::Person;
use crate::screen::{self, Depth, Theme};

/// The frame that the reviewer gets, with all that is worked out over several.
fn frame(person: &mut Person) -> Buffer {
    let size = person.app.size;
    let backend = ratatui::backend::TestBackend::new(size.width, size.height);
    let mut terminal = ratatui::Terminal::new(backend).unwrap();
    let theme = Theme::new(true, Depth::True);
    let mut rest = screen::Rest::default();
    loop {
        terminal
            .draw(|frame| rest = screen::draw(frame.buffer_mut(), &mut person.app, &theme))
            .unwrap();
        if !rest.is_unfinished {
            return terminal.backend().buffer().clone();
        }
    }
}

/// The symbols of a screen after these bytes. Knows what `bytes` writes, and nothing else.
fn played(mut screen: Buffer, bytes: &[u8]) -> Vec<String> {
    let text = std::str::from_utf8(bytes).unwrap();
    let (mut x, mut y, mut margins) = (0, 0, None);
    let mut rest = text.chars().peekable();
    while let Some(char) = rest.next() {
        if char != '\x1b' {
            let cell = &mut screen[(x, y)];
            cell.set_char(char);
            x += 1;
            continue;
        }
        assert_eq!(rest.next(), Some('['));
        let mut arguments = String::new();
        let action = loop {
            match rest.next().unwrap() {
                end if end.is_ascii_alphabetic() => break end,
                other => arguments.push(other),
            }
        };
        let numbers: Vec<usize> = arguments
            .split(';')
            .filter_map(|n| n.parse().ok())
            .collect();
        match action {
            'H' => {
                x = u16::try_from(numbers.get(1).map_or(0, |x| x - 1)).unwrap();
                y = u16::try_from(numbers[0] - 1).unwrap();
            }
            'C' => x += u16::try_from(numbers[0]).unwrap(),
            'r' => margins = numbers.first().map(|top| (top - 1, numbers[1])),
            'M' | 'L' => {
                let (top, end) = margins.unwrap();
                assert_eq!(top, usize::from(y), "lines go where the cursor is");
                let (by, up) = (numbers.first().copied().unwrap_or(1), action == 'M');
                Scroll { top, end, by, up }.apply(&mut screen);
            }
            'm' | 'h' | 'l' => {}
            other => panic!("{other}"),
        }
    }
    symbols(&screen)
}

fn symbols(buffer: &Buffer) -> Vec<String> {
    let symbols = buffer.content.iter().map(|cell| cell.symbol().to_owned());
    symbols.collect()
}

/// A new file of so many lines, each like no other.
fn reading(width: u16, height: u16) -> Person {
    let line = |at: usize| format!("export const value{at}: string = \"{}\";\n", at * 7919);
    let text: String = (0..10_000).map(line).collect();
    let mut person = Person::new(width, height);
    person.open("src/big.ts", Some("one\n"), &text);
    person
}

#[test]
fn a_line_further_is_written_as_little_more() {
    for (width, height, most) in [(80, 24, 300), (100, 30, 330), (200, 50, 640)] {
        let mut person = reading(width, height);
        let mut scrolled = 0;
        // Down the page, and then with it; and back again.
        for key in ["j", "k"].iter().flat_map(|key| [key; 60]) {
            let shown = frame(&mut person);
            let top = person.app.views[0].top;
            person.press(key);
            scrolled += usize::from(person.app.views[0].top != top);
            let next = frame(&mut person);
            let written = bytes(shown.clone(), &next).unwrap();
            let count = written.len();
            let text = String::from_utf8_lossy(&written);
            assert!(count <= most, "{key} at {width}: {count} {text:?}");
            assert_eq!(played(shown, &written), symbols(&next), "{key} at {width}");
        }
        assert!(scrolled > 10, "{scrolled} at {width}");
    }
}

/// Which hunk the marks at the edge are for is another one, and the rest of the page moves all the same.
#[test]
fn a_page_moves_whatever_marks_are_at_its_edge() {
    let text = |word: &str| -> String {
        let line = |at: usize| format!("{at} {}\n", [word, "same"][at / 4 % 2]);
        (0..200).map(line).collect()
    };
    let mut person = Person::new(80, 24);
    person.open("a.txt", Some(&text("before")), &text("after"));
    for _ in 0..80 {
        let shown = frame(&mut person);
        person.press("j");
        let next = frame(&mut person);
        let written = bytes(shown, &next).unwrap();
        assert!(
            written.len() <= 600,
            "{}",
            String::from_utf8_lossy(&written)
        );
    }
}

#[test]
fn a_frame_that_is_the_same_writes_nothing() {
    let mut person = reading(100, 30);
    person.press("G");
    let shown = frame(&mut person);
    assert_eq!(bytes(shown.clone(), &shown).unwrap(), b"");
}

/// What stands behind a wide character has its own place, wherever the terminal thinks that the character ends.
#[test]
fn a_wide_character_moves_nothing_behind_it() {
    let rows = |text| Buffer::with_lines([text]);
    let written = bytes(rows("abcdef"), &rows("漢cde!")).unwrap();
    let text = String::from_utf8(written).unwrap();
    assert!(text.contains("\u{1b}[1H漢\u{1b}[1;6H!"), "{text:?}");
    let written = bytes(rows("abcdef"), &rows("Abcd漢")).unwrap();
    let text = String::from_utf8(written).unwrap();
    assert!(text.contains("A\u{1b}[3C漢"), "{text:?}");
}

#[test]
fn whatever_moves_the_screen_is_right_in_the_end() {
    let area = Rect::new(0, 0, 30, 12);
    let rows = |numbers: &mut dyn Iterator<Item = usize>| {
        let mut buffer = Buffer::empty(area);
        for (y, number) in (0..12).zip(numbers) {
            let row = format!("{number} {}", number * 104_729);
            buffer.set_string(0, y, row, Style::new());
        }
        buffer
    };
    let shown = rows(&mut (0..12));
    let next: [Buffer; 5] = [
        rows(&mut (3..15)),
        rows(&mut [90, 91, 92].into_iter().chain(0..9)),
        rows(&mut [0, 1].into_iter().chain(3..11).chain([77, 11])),
        rows(&mut (50..62)),
        rows(&mut (0..12).rev()),
    ];
    for next in next {
        let written = bytes(shown.clone(), &next).unwrap();
        assert_eq!(played(shown.clone(), &written), symbols(&next));
    }
    let moved = Scroll::find(&shown, &rows(&mut (3..15))).unwrap();
    let (top, end, by, up) = (0, 12, 3, true);
    assert_eq!(moved, Scroll { top, end, by, up });
}
