//! What the reviewer sees, at the sizes and in the situations that matter.

use crossterm::event::KeyCode;
use pillion_companion::{DiffId, Status};
use pillion_protocol::{Cursor, Dialect, File, IdeContext, WorkspaceState};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Cell;
use ratatui::layout::Size;
use ratatui::style::{Color, Modifier};

use super::*;
use crate::review::app::Event;
use crate::review::app::tests::Person;
use crate::review::syntax::{self, Class};
use crate::review::view::Disk;

const BEFORE: &str = "\
import path from \"node:path\";

const PORT = 8080;

export function inside(root: string, file: string): boolean {
  const relative = path.relative(root, file);
  return !relative.startsWith(\"..\");
}

export function describe(port: number): string {
  return `listening on ${port}`;
}

function unused() {
  return 42;
}
";

fn after() -> String {
    BEFORE
        .replace("PORT = 8080;", "PORT = 3000;\nconst HOST = \"127.0.0.1\";")
        .replace("return !relative", "return relative !== \"\" && !relative")
        .replace("function unused() {\n  return 42;\n}\n", "")
}

fn draw(person: &mut Person, theme: &Theme) -> Buffer {
    syntax::load();
    let Size { width, height } = person.app.size;
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let mut more = true;
    while more {
        let drawn = |frame: &mut Frame<'_>| more = super::draw(frame, &mut person.app, theme);
        terminal.draw(drawn).unwrap();
    }
    terminal.backend().buffer().clone()
}

fn text(buffer: &Buffer) -> String {
    let mut text = String::new();
    for y in 0..buffer.area.height {
        let mut line = String::new();
        let mut x = 0;
        while x < buffer.area.width {
            let symbol = buffer[(x, y)].symbol();
            line.push_str(symbol);
            x += u16::try_from(crate::visible::width(symbol).max(1)).unwrap();
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn see(person: &mut Person) -> String {
    text(&draw(person, &Theme::new(true, Depth::True)))
}

fn status() -> Status {
    let focused = File {
        cursor: Some(Cursor {
            line: 12,
            character: 1,
        }),
        ..File::focused("/work/shop/src/app.ts", 2)
    };
    Status {
        agents: Dialect::AGENTS.to_vec(),
        context: IdeContext {
            workspace_state: Some(WorkspaceState {
                open_files: Some(vec![focused, File::open("/work/shop/README.md", 1)]),
                is_trusted: None,
            }),
        },
        warnings: Vec::new(),
    }
}

fn reviewer(width: u16, height: u16) -> Person {
    let mut person = Person::new(width, height);
    person.happens(Event::Status(status()));
    person
}

fn with_diff(width: u16, height: u16) -> Person {
    let mut person = reviewer(width, height);
    person.open("src/app.ts", Some(BEFORE), &after());
    person
}

#[test]
fn side_by_side() {
    insta::assert_snapshot!(see(&mut with_diff(120, 30)));
}

#[test]
fn unified_in_a_usual_terminal() {
    insta::assert_snapshot!(see(&mut with_diff(80, 24)));
}

#[test]
fn unified_in_the_smallest_terminal() {
    insta::assert_snapshot!(see(&mut with_diff(60, 15)));
}

#[test]
fn a_terminal_that_is_too_small_says_so() {
    insta::assert_snapshot!(see(&mut with_diff(30, 6)));
}

#[test]
fn a_hunk_that_is_taken_out() {
    let mut person = with_diff(80, 24);
    person.press("n ");
    insta::assert_snapshot!(see(&mut person));
}

#[test]
fn several_diffs_one_on_the_same_path_by_another_agent() {
    let mut person = with_diff(80, 24);
    let qwen = Dialect::QwenCode;
    person.propose(DiffId(7), qwen, "src/app.ts", Some(BEFORE), "");
    person.propose(DiffId(8), qwen, "docs/new.md", None, "# Title\n\nText\n");
    insta::assert_snapshot!(see(&mut person));
    person.key(KeyCode::Tab);
    insta::assert_snapshot!("another_agent_empties_the_file", see(&mut person));
}

#[test]
fn text_that_would_hide_something() {
    let mut person = reviewer(80, 24);
    let proposed = "a\u{1b}[2Jb\0\u{9b}m\n\u{202e}evil\u{202c}\n\ttab \t\n漢字 e\u{301} 👩\u{200d}🚀|\r\n\
                    zero\u{200b}width \u{e0041}\nlast";
    person.open("src/ta\nb\u{1b}[31m.txt", None, proposed);
    insta::assert_snapshot!(see(&mut person));
}

#[test]
fn line_ends_that_differ() {
    let mut person = reviewer(100, 15);
    person.open(
        "a.txt",
        Some("one\r\ntwo\r\nthree\r\n"),
        "one\r\ntwo\nthree",
    );
    insta::assert_snapshot!(see(&mut person));
}

#[test]
fn long_lines_cut_and_wrapped() {
    let mut person = reviewer(60, 15);
    let long = "word 漢字 ".repeat(20);
    person.open("a.txt", Some("short\n"), &format!("{long}\nshort\n"));
    insta::assert_snapshot!(see(&mut person));
    person.press("ll");
    insta::assert_snapshot!("long_lines_scrolled_sideways", see(&mut person));
    person.press("w");
    insta::assert_snapshot!("long_lines_wrapped", see(&mut person));
}

#[test]
fn a_file_that_changed_on_disk() {
    let mut person = with_diff(80, 24);
    let id = person.app.views[0].id;
    person.happens(Event::Disk(id, Disk::Changed));
    insta::assert_snapshot!(see(&mut person));
}

#[test]
fn a_file_outside_of_the_workspace() {
    let mut person = reviewer(80, 15);
    person.open("/etc/hosts", Some("a\n"), "b\n");
    insta::assert_snapshot!(see(&mut person));
}

#[test]
fn a_file_that_is_not_utf8() {
    let mut person = with_diff(80, 15);
    let original = b"caf\xe9\nb\n".to_vec();
    let id = person.app.views[0].id;
    person.happens(Event::Reread(id, Ok(Some(original))));
    person.wait(1_000);
    person.press(" ");
    insta::assert_snapshot!(see(&mut person));
}

#[test]
fn welcome() {
    insta::assert_snapshot!(see(&mut Person::new(80, 24)));
    insta::assert_snapshot!(
        "welcome_in_the_smallest_terminal",
        see(&mut Person::new(60, 15))
    );
    insta::assert_snapshot!("welcome_with_agents", see(&mut reviewer(80, 24)));
}

#[test]
fn help_and_the_question_before_leaving() {
    // All of it.
    let mut person = with_diff(80, 34);
    person.press("?");
    insta::assert_snapshot!("help", see(&mut person));
    person.key(KeyCode::Esc);
    person.press("q");
    insta::assert_snapshot!("quit", see(&mut person));
}

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
    for (name, change) in [("added", theme.added), ("removed", theme.removed)] {
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
    for depth in [Depth::True, Depth::Indexed] {
        for (dark, text, paper) in TERMINALS {
            for (name, style) in styles(&Theme::new(dark, depth)) {
                let front = shown(style.fg.unwrap_or_default(), text);
                let back = shown(style.bg.unwrap_or_default(), paper);
                let contrast = contrast(front, back);
                if contrast < 4.5 {
                    unreadable.push(format!("{depth:?}, dark {dark}: {name}: {contrast:.2}"));
                }
            }
        }
    }
    assert!(unreadable.is_empty(), "{unreadable:#?}");
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
        ("ee", "another diff just came here: have a look first"),
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
