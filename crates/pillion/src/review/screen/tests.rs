//! What the reviewer sees, at the sizes and in the situations that matter.

use std::collections::BTreeSet;

use crossterm::event::KeyCode;
use pillion_companion::{DiffId, Status};
use pillion_protocol::{Cursor, Dialect, File, IdeContext, WorkspaceState};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::layout::Size;
use ratatui::style::Color;

use super::*;
use crate::review::app::Event;
use crate::review::app::tests::Person;
use crate::review::syntax;
use crate::review::view::Disk;
use crate::text::Text;

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
    let original = Text::new(b"caf\xe9\nb\n".to_vec());
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
    // All of it, with the variables for agents that do not find us.
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

/// WCAG's contrast of two colours.
fn contrast(a: (u8, u8, u8), b: (u8, u8, u8)) -> f64 {
    let light = |(r, g, b): (u8, u8, u8)| {
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

#[test]
fn everything_can_be_read() {
    for (dark, text, paper) in [
        (true, (220, 223, 228), (24, 26, 31)),
        (false, (30, 32, 36), (255, 255, 255)),
    ] {
        let mut person = with_diff(120, 30);
        person.press("n ");
        let buffer = draw(&mut person, &Theme::new(dark, Depth::True));
        let colour = |colour, default| match colour {
            Color::Rgb(r, g, b) => (r, g, b),
            _ => default,
        };
        let seen: BTreeSet<_> = buffer
            .content
            .iter()
            .filter(|cell| !["╱", "─", "│", " "].contains(&cell.symbol()))
            .map(|cell| (colour(cell.fg, text), colour(cell.bg, paper)))
            .collect();
        for (front, back) in seen {
            let contrast = contrast(front, back);
            assert!(contrast >= 4.0, "{front:?} on {back:?}: {contrast:.1}");
        }
    }
}
