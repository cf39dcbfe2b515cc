//! Everything can be read, in both themes and with as many colours as a terminal has.

use super::*;
use crate::screen::theme::Change;

#[test]
fn without_colours_there_are_none() {
    let mut person = with_diff(120, 30);
    person.press(" n");
    for key in ["", "?"] {
        person.press(key);
        let buffer = draw(&mut person, &Theme::new(true, Depth::None));
        for cell in &buffer.content {
            assert_eq!((cell.fg, cell.bg), (Color::Reset, Color::Reset), "{cell:?}");
        }
    }
}

#[test]
fn few_colours_are_those_that_users_choose() {
    let mut person = with_diff(120, 30);
    for dark in [true, false] {
        let buffer = draw(&mut person, &Theme::new(dark, Depth::Basic));
        let is_basic = |colour| !matches!(colour, Color::Rgb(..) | Color::Indexed(_));
        assert!(
            buffer
                .content
                .iter()
                .all(|cell| is_basic(cell.fg) && is_basic(cell.bg))
        );
    }
}

/// Red, green, blue.
type Rgb = (u8, u8, u8);

/// A colour as a terminal shows it. The first sixteen are the user's own.
fn shown(colour: Color, default: Rgb) -> Rgb {
    match colour {
        Color::Rgb(r, g, b) => (r, g, b),
        Color::Indexed(index @ 16..=231) => {
            let part = |at: u8| if at == 0 { 0 } else { 55 + 40 * at };
            let index = index - 16;
            (part(index / 36), part(index / 6 % 6), part(index % 6))
        }
        Color::Indexed(index @ 232..) => {
            let grey = 8 + 10 * (index - 232);
            (grey, grey, grey)
        }
        _ => default,
    }
}

/// WCAG's contrast of two colours.
fn contrast(a: Rgb, b: Rgb) -> f64 {
    let light = |(r, g, b): Rgb| {
        let part = |value: u8| {
            let value = f64::from(value) / 255.0;
            if value <= 0.040_45 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b) + 0.05
    };
    let (a, b) = (light(a), light(b));
    a.max(b) / a.min(b)
}

/// The text and the paper of a dark and of a light terminal.
const TERMINALS: [(bool, Rgb, Rgb); 2] = [
    (true, (220, 223, 228), (24, 26, 31)),
    (false, (30, 32, 36), (255, 255, 255)),
];

type Colours = fn(bool, Depth) -> Theme;

/// All themes, for a dark and a light terminal.
const THEMES: [(&str, Colours); 2] = [
    ("red-green", Theme::new),
    ("blue-orange", Theme::blue_orange),
];

/// Every theme with many colours, and the text and the paper below it.
fn themes() -> impl Iterator<Item = (String, Theme, Rgb, Rgb)> {
    let depths = [Depth::True, Depth::Indexed].into_iter();
    let of_depth = |depth| TERMINALS.map(|terminal| (depth, terminal));
    depths
        .flat_map(of_depth)
        .flat_map(|(depth, (dark, text, paper))| {
            THEMES.map(|(name, theme)| {
                (
                    format!("{name}, {depth:?}, dark {dark}"),
                    theme(dark, depth),
                    text,
                    paper,
                )
            })
        })
}

/// Every style of text that a theme has, on every paper on which it is drawn.
fn styles(theme: &Theme) -> Vec<(String, Style)> {
    let mut styles = vec![
        ("muted".to_owned(), theme.muted),
        ("agent".to_owned(), theme.agent),
        ("info".to_owned(), theme.info),
        ("good".to_owned(), theme.good),
        ("warning".to_owned(), theme.warning),
        ("current".to_owned(), theme.current),
        ("stand-in".to_owned(), theme.stand_in),
        ("out".to_owned(), theme.out),
        ("fold".to_owned(), theme.fold),
        ("added word".to_owned(), theme.added.word),
        ("removed word".to_owned(), theme.removed.word),
    ];
    let classes = [
        Class::Plain,
        Class::Comment,
        Class::String,
        Class::Constant,
        Class::Keyword,
        Class::Function,
        Class::Type,
        Class::Name,
    ];
    let parts = classes.map(|class| (format!("{class:?}"), theme.class(class)));
    styles.extend(parts.clone());
    let changes = [
        ("added", theme.added),
        ("removed", theme.removed),
        ("moved", theme.moved),
    ];
    for (name, change) in changes {
        let more = [
            ("stand-in".to_owned(), theme.stand_in),
            ("sign".to_owned(), change.sign),
            ("spaces".to_owned(), change.spaces),
        ];
        let on_line = parts.iter().chain(&more);
        styles.extend(on_line.map(|(of, style)| {
            let style = change.line.patch(*style);
            (format!("{of} in an {name} line"), style)
        }));
    }
    styles
}

#[test]
fn everything_can_be_read() {
    let mut unreadable = Vec::new();
    for (of, theme, text, paper) in themes() {
        for (name, style) in styles(&theme) {
            let front = shown(style.fg.unwrap_or_default(), text);
            let back = shown(style.bg.unwrap_or_default(), paper);
            let contrast = contrast(front, back);
            if contrast < 4.5 {
                unreadable.push(format!("{of}: {name}: {contrast:.2}"));
            }
        }
    }
    assert!(unreadable.is_empty(), "{unreadable:#?}");
}

#[test]
fn words_that_changed_stand_out_from_their_lines() {
    let mut faint = Vec::new();
    for (of, theme, _, paper) in themes() {
        for (name, change) in [("added", theme.added), ("removed", theme.removed)] {
            let ground = |style: Style| shown(style.bg.unwrap_or_default(), paper);
            let contrast = contrast(ground(change.word), ground(change.line));
            if contrast < 1.3 {
                faint.push(format!("{of}: {name}: {contrast:.2}"));
            }
        }
    }
    assert!(faint.is_empty(), "{faint:#?}");
}

/// A colour as somebody sees it who has no cones for red, or none for green (Viénot, Brettel and Mollon 1999).
fn dichromatic((r, g, b): Rgb, lacks_red: bool) -> Rgb {
    let linear = |value: u8| (f64::from(value) / 255.0).powf(2.2);
    let (r, g, b) = (linear(r), linear(g), linear(b));
    let (red, blue) = match lacks_red {
        true => (0.112_38 * r + 0.887_62 * g, 0.004_01 * r - 0.004_01 * g + b),
        false => (
            0.292_75 * r + 0.707_25 * g,
            -0.022_34 * r + 0.022_34 * g + b,
        ),
    };
    let part = |value: f64| (value.clamp(0.0, 1.0).powf(1.0 / 2.2) * 255.0) as u8;
    (part(red), part(red), part(blue))
}

#[test]
fn blue_and_orange_differ_for_whoever_takes_red_for_green() {
    for (dark, _, paper) in TERMINALS {
        for depth in [Depth::True, Depth::Indexed] {
            let theme = Theme::blue_orange(dark, depth);
            let grounds = |style: fn(&Change) -> Style| {
                [&theme.added, &theme.removed]
                    .map(|change| shown(style(change).bg.unwrap_or_default(), paper))
            };
            for [added, removed] in [grounds(|it| it.line), grounds(|it| it.word)] {
                for lacks_red in [true, false] {
                    let (one, other) = (
                        dichromatic(added, lacks_red),
                        dichromatic(removed, lacks_red),
                    );
                    // What is blue is not yellow, whatever is seen of red and green.
                    let blueness = |(yellow, _, blue): Rgb| i32::from(blue) - i32::from(yellow);
                    let differ = blueness(one) - blueness(other);
                    assert!(differ >= 25, "{dark} {depth:?}: {one:?} {other:?}");
                }
            }
        }
    }
}

/// The cells of a message in the line below the diff, and the others of that line.
fn status_cells(buffer: &Buffer, message: &str) -> (Vec<Cell>, Vec<Cell>) {
    let y = buffer.area.height - 2;
    let row: Vec<_> = (0..buffer.area.width)
        .map(|x| buffer[(x, y)].clone())
        .collect();
    let line: String = row.iter().map(Cell::symbol).collect();
    let start = line.find(message).unwrap_or_else(|| panic!("{line}"));
    let start = line[..start].chars().count();
    let (before, rest) = row.split_at(start);
    let (message, after) = rest.split_at(message.chars().count());
    (message.to_vec(), [before, after].concat())
}

#[test]
fn a_message_can_be_read_and_its_style_ends_with_it() {
    let depths = [Depth::True, Depth::Indexed, Depth::Basic, Depth::None];
    let tones = [
        // For information, of something done, of something that needs care.
        ("w", "long lines wrap"),
        ("a", "accepted src/app.ts"),
        ("ee", "a new diff just opened: look at it, then press again"),
    ];
    for ((dark, text, paper), depth) in TERMINALS
        .into_iter()
        .flat_map(|terminal| depths.map(|depth| (terminal, depth)))
    {
        for (keys, message) in tones {
            let mut person = with_diff(120, 30);
            person.open("src/other.ts", Some(BEFORE), &after());
            if keys == "ee" {
                person.press("a");
            }
            person.press(keys);
            let theme = Theme::new(dark, depth);
            let buffer = draw(&mut person, &theme);
            let (letters, others) = status_cells(&buffer, message);
            for cell in &letters {
                let contrast = contrast(shown(cell.fg, text), shown(cell.bg, paper));
                assert!(contrast >= 4.5, "{depth:?}, dark {dark}: {cell:?}");
                assert!(
                    !cell.modifier.contains(Modifier::DIM) && cell.fg != Color::DarkGray,
                    "{depth:?}, dark {dark}: {cell:?}"
                );
            }
            let rule = Cell::new("─").set_style(theme.missing).clone();
            assert!(others.contains(&rule), "{others:?}");
            for cell in others.iter().filter(|cell| cell.symbol() == "─") {
                assert_eq!(*cell, rule, "{depth:?}, dark {dark}");
            }
            let counter = Style::reset().patch(theme.muted).fg;
            let counter = counter.unwrap_or_default();
            for cell in others.iter().filter(|cell| cell.symbol() == "h") {
                assert_eq!((cell.fg, cell.bg), (counter, Color::Reset));
                assert!(!cell.modifier.contains(Modifier::BOLD), "{cell:?}");
            }
        }
    }
}
