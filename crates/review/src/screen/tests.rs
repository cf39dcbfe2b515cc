//! The screen that the reviewer sees, at the sizes and in the situations that matter.

mod enclosing;
mod legibility;
mod mouse;
mod moved;
mod noticing;
mod pace;
mod pane;
mod sets;

use crossterm::event::KeyCode;
use pillion_judge::Disk;
use pillion_judge::highlight::Highlighting;
use pillion_judge::proposal::Side;
use pillion_judge::syntax::{Class, Coloured};
use pillion_protocol::{Cursor, Dialect, File, IdeContext, Proposer, WorkspaceState};
use pillion_view::{DiffId, ModeChange, Review, Status};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Cell;
use ratatui::layout::Size;
use ratatui::style::{Color, Modifier};

use ratatui::Frame;

use super::*;
use crate::app::tests::Person;
use crate::app::{Effect, Event, Opened};

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

/// One frame, and what it lacks.
fn draw_once(person: &mut Person, theme: &Theme) -> (Buffer, Rest) {
    let Size { width, height } = person.app.size;
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let mut rest = Rest::default();
    let drawn = |frame: &mut Frame<'_>| {
        rest = super::draw(frame.buffer_mut(), &mut person.app, theme);
    };
    terminal.draw(drawn).unwrap();
    (terminal.backend().buffer().clone(), rest)
}

/// Draws until nothing is lacking.
fn draw(person: &mut Person, theme: &Theme) -> Buffer {
    loop {
        let (buffer, rest) = draw_once(person, theme);
        match rest.colours {
            Some(wanted) => colour(person, wanted),
            None if !rest.is_unfinished => return buffer,
            None => {}
        }
    }
}

/// All colours that are wanted.
fn colours(wanted: ColourRequest) -> Vec<(Side, Coloured)> {
    let (sender, bits) = crossbeam_channel::unbounded();
    let deliver = move |_, side, coloured| sender.send((side, coloured)).is_ok();
    Highlighting::start(deliver).unwrap().ask(wanted);
    bits.iter().collect()
}

fn colour(person: &mut Person, wanted: ColourRequest) {
    let texts = wanted.texts;
    for (side, coloured) in colours(wanted) {
        person.happens(Event::Coloured(texts, side, coloured));
    }
}

fn text(buffer: &Buffer) -> String {
    let mut text = String::new();
    for y in 0..buffer.area.height {
        let mut line = String::new();
        let mut x = 0;
        while x < buffer.area.width {
            let symbol = buffer[(x, y)].symbol();
            line.push_str(symbol);
            x += u16::try_from(visible::width(symbol).max(1)).unwrap();
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

pub(crate) fn see(person: &mut Person) -> String {
    // Whoever looks at it takes their time.
    person.wait(300);
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
        asking: Vec::new(),
        unasked: Vec::new(),
        agents: Dialect::AGENTS.to_vec(),
        context: IdeContext {
            workspace_state: Some(WorkspaceState {
                open_files: Some(vec![focused, File::open("/work/shop/README.md", 1)]),
                is_trusted: None,
            }),
        },
        warnings: Vec::new(),
        review: None,
        unseen: 0,
        working: Vec::new(),
        changes: 0,
        ended: None,
        waiting: Vec::new(),
        left_alone: Vec::new(),
        decided: None,
    }
}

fn reviewer(width: u16, height: u16) -> Person {
    let mut person = Person::new(width, height);
    person.happens(Event::Status(status()));
    person
}

/// A thing that does not work is said with the reason and with what to do, which stand at its end.
#[test]
fn a_long_warning_is_shown_as_a_whole() {
    let path = "x".repeat(120);
    for (width, height) in [(80, 24), (120, 40), (200, 50)] {
        let mut person = Person::new(width, height);
        person.open("a.txt", Some("1\n"), "2\n");
        person.happens(Event::Status(Status {
            warnings: vec![format!("cannot write {path}: no space is left; free some")],
            ..status()
        }));
        person.wait(60_000);
        let screen = see(&mut person);
        assert!(screen.contains("free some"), "{screen}");
        // Where nothing is to be reviewed, the page has it, once.
        person.press("r");
        person.wait(60_000);
        let screen = see(&mut person);
        assert_eq!(screen.matches("free some").count(), 1, "{screen}");
    }
}

fn with_diff(width: u16, height: u16) -> Person {
    let mut person = reviewer(width, height);
    person.open("src/app.ts", Some(BEFORE), &after());
    person
}

#[test]
fn side_by_side() {
    let mut person = with_diff(120, 30);
    person.press("u");
    insta::assert_snapshot!(see(&mut person));
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
fn tabs_have_the_shortest_names_that_tell_them_apart_and_the_total() {
    let mut person = reviewer(100, 12);
    for name in [
        "src/a/mod.rs",
        "src/b/mod.rs",
        "lib/b/mod.rs",
        "mod.rs",
        "docs/new.md",
    ] {
        person.open(name, None, "text\n");
    }
    let row = |person: &mut Person| see(person).lines().nth(1).unwrap().to_owned();
    assert_eq!(
        row(&mut person),
        " 1/5   1 a/mod.rs   2 src/b/mod.rs   3 lib/b/mod.rs   4 mod.rs   5 new.md"
    );
    person.app.size.width = 40;
    person.key(KeyCode::BackTab);
    assert_eq!(row(&mut person), " 5/5  f lists them   Tab  1 a/mod.rs");
    person.press("1");
    assert_eq!(row(&mut person), " 1/5  f lists them   Tab  2 src/b/mod.rs");
}

#[test]
fn many_pending_diffs_show_which_of_how_many() {
    let mut person = reviewer(80, 12);
    for number in 0..30 {
        person.open(&format!("src/{number}/mod.rs"), None, "text\n");
    }
    for _ in 0..11 {
        person.key(KeyCode::Tab);
    }
    let row = see(&mut person).lines().nth(1).unwrap().to_owned();
    assert_eq!(row, " 12/30  f lists them   Tab  13 12/mod.rs");
}

#[test]
fn a_deletion_is_named_in_the_title() {
    for (columns, title) in [
        (100, "Pillion proposes to delete a.txt"),
        (44, "Pillion deletes "),
    ] {
        let mut person = reviewer(columns, 12);
        person.deletes = true;
        person.propose(DiffId(1), Proposer::Pillion, "a.txt", Some("one\n"), "");
        let screen = see(&mut person);
        assert!(screen.contains(title), "{screen}");
    }
}

#[test]
fn a_newer_proposal_that_deletes_is_named_so_too() {
    let mut person = reviewer(100, 12);
    person.propose(DiffId(1), Proposer::Pillion, "a.txt", Some("one\n"), "1\n");
    person.deletes = true;
    person.propose(DiffId(1), Proposer::Pillion, "a.txt", Some("one\n"), "");
    let screen = see(&mut person);
    assert!(screen.contains("proposes to delete a.txt"), "{screen}");
}

#[test]
fn two_agents_of_one_kind_have_numbers() {
    let mut person = reviewer(100, 12);
    person.open("a.txt", None, "one\n");
    let screen = see(&mut person);
    assert!(screen.contains(" Gemini CLI proposes a.txt"), "{screen}");
    person.number = 2;
    person.open("b.txt", None, "two\n");
    person.propose(DiffId(9), Dialect::QwenCode, "c.txt", None, "three\n");
    let screen = see(&mut person);
    assert!(screen.contains(" Gemini CLI 1 proposes a.txt"), "{screen}");
    assert!(screen.contains(" 1 a.txt (gemini 1) "), "{screen}");
    assert!(screen.contains(" 2 b.txt (gemini 2) "), "{screen}");
    assert!(screen.contains(" 9 c.txt (qwen)"), "{screen}");
    person.key(KeyCode::Tab);
    let screen = see(&mut person);
    assert!(screen.contains(" Gemini CLI 2 proposes b.txt"), "{screen}");
}

#[test]
fn of_a_program_the_agent_is_named_for_which_it_proposes() {
    let mut person = reviewer(120, 12);
    let agents = vec![Dialect::ClaudeCode];
    let status = Status { agents, ..status() };
    person.happens(Event::Status(status));
    let programs = [
        (1, Proposer::For(Dialect::CodexCli), "a.txt"),
        (2, Proposer::For(Dialect::ClaudeCode), "b.txt"),
        (3, Proposer::Pillion, "c.txt"),
    ];
    for (number, proposer, name) in programs {
        person.number = number;
        person.propose(DiffId(number), proposer, name, None, "one\n");
    }
    let screen = see(&mut person);
    assert!(screen.contains(" Codex CLI proposes a.txt"), "{screen}");
    assert!(screen.contains(" 2   A b.txt (claude) "), "{screen}");
    assert!(screen.contains(" 3   A c.txt (pillion)"), "{screen}");
    person.press("t");
    let screen = see(&mut person);
    assert!(screen.contains(" 2 b.txt (claude) "), "{screen}");
    assert!(screen.contains(" 3 c.txt (pillion)"), "{screen}");
    let header = screen.lines().next().unwrap();
    let here = "● Claude Code  ● Codex CLI";
    assert!(header.ends_with(here), "{header}");
    person.key(KeyCode::Tab);
    let screen = see(&mut person);
    assert!(screen.contains(" Claude Code proposes b.txt"), "{screen}");
}

#[test]
fn what_no_agent_proposed_is_counted_by_itself() {
    let mut person = Person::new(80, 24);
    let agents = Vec::new();
    person.happens(Event::Status(Status { agents, ..status() }));
    person.propose(DiffId(1), Proposer::Pillion, "a.txt", None, "one\n");
    let header = see(&mut person).lines().next().unwrap().to_owned();
    assert!(header.ends_with("  1 pending"), "{header}");
}

#[test]
fn an_agent_that_is_away_is_not_said_to_be_none() {
    let mut person = with_diff(80, 24);
    let agents_are = |person: &mut Person, agents: &[Dialect]| {
        let status = Status {
            agents: agents.to_vec(),
            ..status()
        };
        person.happens(Event::Status(status));
        see(person).lines().next().unwrap().to_owned()
    };
    let header = agents_are(&mut person, &[]);
    assert!(header.ends_with("○ Gemini CLI away, 1 pending"), "{header}");
    let header = agents_are(&mut person, &[Dialect::QwenCode]);
    assert!(
        header.ends_with("● Qwen Code  ○ Gemini CLI away"),
        "{header}"
    );
    let header = agents_are(&mut person, &[Dialect::GeminiCli]);
    assert!(header.ends_with("● Gemini CLI"), "{header}");
    person.number = 2;
    person.open("b.txt", None, "two\n");
    let header = agents_are(&mut person, &[Dialect::GeminiCli]);
    assert!(
        header.ends_with("● Gemini CLI  ○ Gemini CLI away"),
        "{header}"
    );
    let mut idle = Person::new(80, 24);
    let header = agents_are(&mut idle, &[]);
    assert!(header.ends_with("○ no agent connected"), "{header}");
}

#[test]
fn text_that_would_hide_something() {
    let mut person = reviewer(80, 24);
    let proposed = "a\u{1b}[2Jb\0\u{9b}m\n\u{202e}evil\u{202c}\n\ttab \t\n漢字 e\u{301} 👩\u{200d}🚀|\r\n\
                    zero\u{200b}width \u{e0041}\nlast";
    person.open("src/ta\nb\u{1b}[31m.txt", None, proposed);
    insta::assert_snapshot!(see(&mut person));
}

/// Blanks that are drawn are none of the characters that the terminal has not.
#[test]
fn without_utf_8_each_blank_has_a_mark() {
    let mut person = reviewer(80, 24);
    person.open("a.txt", Some("one\n"), "one\ttab\t \né\n");
    let mut theme = Theme::new(true, Depth::True);
    theme.is_ascii = true;
    let screen = text(&draw(&mut person, &theme));
    assert!(screen.contains("one tab>."), "{screen}");
    assert!(screen.contains("+ ?"), "{screen}");
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
    let id = person.app.views[0].diff.id;
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
    let id = person.app.views[0].diff.id;
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

/// The person leaves them behind, as they leave pending diffs.
#[test]
fn notes_that_wait_are_listed_and_leaving_says_so() {
    let mut person = reviewer(80, 24);
    let waits = "Claude Code has not read yet: why?";
    for (count, said) in [(1, "1 note waits for its agent"), (2, "2 notes wait")] {
        let waiting = vec![waits.to_owned(); count];
        person.happens(Event::Status(Status {
            waiting,
            ..status()
        }));
        let screen = see(&mut person);
        assert_eq!(screen.matches(waits).count(), count, "{screen}");
        assert!(screen.contains("@ send notes"), "{screen}");
        person.press("q");
        let screen = see(&mut person);
        assert!(screen.contains(said), "{screen}");
        assert!(person.press("n").is_empty());
    }
    person.happens(Event::Status(status()));
    assert!(matches!(person.press("q")[..], [Effect::Quit]));
}

#[test]
fn when_agents_ask_is_always_to_be_seen() {
    let mut person = with_diff(80, 24);
    let tell = |person: &mut Person, unasked: Option<&str>| {
        person.happens(Event::Status(Status {
            review: Some(Review {
                mode: None,
                label: "review: asked".to_owned(),
                unasked: unasked.map(str::to_owned),
            }),
            ..status()
        }));
        see(person)
    };
    let screen = tell(
        &mut person,
        Some("Claude Code changes files without asking."),
    );
    assert!(screen.contains("review: asked · hunk 1/"), "{screen}");
    let mut person = reviewer(80, 24);
    let screen = tell(&mut person, None);
    assert!(screen.contains("Nothing to review right now."), "{screen}");
    assert!(screen.contains("─ review: asked ─"), "{screen}");
    assert!(screen.contains("m when to ask"), "{screen}");
    let screen = tell(
        &mut person,
        Some("Claude Code changes files without asking."),
    );
    assert!(!screen.contains("Nothing to review"), "{screen}");
    assert!(
        screen.contains("Claude Code changes files without asking."),
        "{screen}"
    );
}

#[test]
fn the_agents_that_are_installed_are_named() {
    for (name, agents) in [
        ("claude", vec![Dialect::ClaudeCode]),
        ("all", Dialect::ALL.to_vec()),
    ] {
        let mut person = Person::new(80, 24);
        person.happens(Event::Installed(agents));
        insta::assert_snapshot!(format!("welcome_{name}_installed"), see(&mut person));
    }
}

#[test]
fn help_and_the_question_before_leaving() {
    // All of it.
    let mut person = with_diff(80, 36);
    person.press("?");
    insta::assert_snapshot!("help", see(&mut person));
    person.key(KeyCode::Esc);
    person.press("q");
    insta::assert_snapshot!("quit", see(&mut person));
}

#[test]
fn a_line_that_is_too_long_to_be_wrapped_says_so() {
    let mut person = reviewer(80, 24);
    let long = "word ".repeat(60_000);
    person.open("a.txt", Some("short\n"), &format!("{long}\n"));
    person.press("wG");
    let screen = see(&mut person);
    assert!(
        screen.contains("⟨37856 bytes more: w cuts lines⟩"),
        "{screen}"
    );
}

#[test]
fn going_to_a_hunk_brings_the_changed_word_into_sight() {
    let line = |word: &str| {
        format!(
            "let list = [{}{word}{}];\n",
            "1, ".repeat(2_000),
            "2, ".repeat(50)
        )
    };
    let same = "same\n".repeat(20);
    let before = format!("short one\n{same}{}{same}short two\n", line("before"));
    let after = format!("short 1\n{same}{}{same}short 2\n", line("after"));
    for width in [80, 160] {
        let mut person = reviewer(width, 24);
        person.open("src/a.rs", Some(&before), &after);
        assert_eq!(person.app.view().unwrap().x, 0);
        person.press("n");
        let screen = see(&mut person);
        assert!(
            screen.contains("1, before2,") && screen.contains("1, after2,"),
            "{screen}"
        );
        // What is in sight already moves nothing.
        let x = person.app.view().unwrap().x;
        person.press("l");
        person.press("pn");
        let screen = see(&mut person);
        assert!(screen.contains("1, before2,"), "{screen}");
        person.press("n");
        let screen = see(&mut person);
        assert!(screen.contains("short two"), "{screen}");
        assert!(x > 5_000 && person.app.view().unwrap().x == 0);
    }
}

#[test]
fn going_to_a_hunk_in_a_wrapped_line_brings_the_changed_word_into_sight() {
    let line = |word: &str| format!("{}{word}{}\n", "1, ".repeat(2_000), "2, ".repeat(2_000));
    let mut person = reviewer(80, 24);
    person.press("w");
    person.open("a.txt", Some(&line("before")), &line("after"));
    person.press("w");
    person.press("n");
    let screen = see(&mut person);
    assert!(screen.contains("before2,"), "{screen}");
}

#[test]
fn the_demo_has_a_line_with_a_changed_word() {
    let mut person = reviewer(80, 40);
    let before = include_str!("../../../pillion/src/commands/demo/before.py");
    let after = include_str!("../../../pillion/src/commands/demo/after.py");
    person.open("reading_list.py", Some(before), after);
    let theme = Theme::new(true, Depth::True);
    let buffer = draw(&mut person, &theme);
    let word = theme.added.word.bg;
    let marked = buffer.content.iter().filter(|cell| word == Some(cell.bg));
    let marked: String = marked.map(Cell::symbol).collect();
    assert!(marked.contains(r#", encoding="utf-8""#), "{marked}");
    assert_eq!(person.app.view().unwrap().proposal.hunks().len(), 5);
}

#[test]
fn a_message_is_shown_as_a_whole_however_long_the_path_in_it() {
    let mut person = with_diff(60, 20);
    let place = format!("/tmp/{}/proposal.txt", "folder".repeat(18));
    person.happens(Event::Kept(format!("your text is kept in {place}")));
    let screen = see(&mut person);
    let rows: String = screen
        .lines()
        .map(|row| row.trim_matches(['─', ' ']))
        .collect();
    assert!(rows.contains(&place), "{screen}");
    assert!(screen.contains("accept"), "{screen}");
}

#[test]
fn a_terminal_that_shrinks_before_it_is_drawn_does_no_harm() {
    let mut person = with_diff(100, 40);
    let theme = Theme::new(true, Depth::True);
    for (width, height) in [(100, 10), (96, 16), (24, 2), (200, 50), (40, 10), (1, 1)] {
        let backend = TestBackend::new(width, height);
        let mut terminal = Terminal::new(backend).unwrap();
        // No event has reached the review yet.
        terminal
            .draw(|frame| drop(super::draw(frame.buffer_mut(), &mut person.app, &theme)))
            .unwrap();
        assert_eq!(person.app.size, Size::new(width, height));
    }
}

#[test]
fn a_note_is_shown_whole_in_narrow_terminals_and_leaves_the_diff_its_place() {
    for (width, height) in [(80, 24), (60, 20), (40, 10)] {
        let mut person = Person::new(width, height);
        let note = "The file mixes CRLF and LF line endings; the agent writes all of it with LF.";
        person.notes = vec![note.to_owned()];
        person.open("a.txt", Some("before\n"), "after\n");
        let screen = see(&mut person);
        let first = screen.lines().position(|line| line.starts_with(" ! "));
        let rows = screen.lines().skip(first.unwrap());
        let rows: Vec<_> = rows
            .take_while(|row| {
                row.starts_with([' ']) && !row.contains('│') && !row.contains("before")
            })
            .collect();
        let shown = rows.join(" ").replace(" ! ", "");
        let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.starts_with(note), "{width}: {screen}");
        assert!(
            screen.contains("before") && screen.contains("after"),
            "{screen}"
        );
    }
}

#[test]
fn what_was_decided_is_drawn_without_a_byte_that_a_terminal_obeys() {
    let mut person = Person::new(80, 12);
    person.happens(Event::History(Ok(Vec::new())));
    assert!(see(&mut person).contains("You have not decided anything here yet."));
    let lines = [
        "# d1 rejected",
        "--- a/x",
        "+++ b/x",
        "+\tred \u{1b}[31m\u{202e}",
        "-old",
    ];
    person.happens(Event::Past(Opened {
        title: "d1 rejected".to_owned(),
        lines: lines.iter().map(|line| (*line).to_owned()).collect(),
        from: 0,
    }));
    let screen = see(&mut person);
    assert!(screen.contains(" d1 rejected · Esc goes back "), "{screen}");
    assert!(
        screen.contains("+    red ") && screen.contains("-old"),
        "{screen}"
    );
    assert!(!screen.contains(['\u{1b}', '\u{202e}', '\t']), "{screen}");
}

#[test]
fn other_permissions_have_a_row_of_their_own_which_is_red_if_the_file_can_be_run() {
    let theme = Theme::new(true, Depth::True);
    for (before, after, said, is_red) in [
        (
            Some(0o644),
            0o755,
            "The file is made executable: mode 644 → 755.",
            true,
        ),
        (None, 0o755, "The file is made executable: mode 755.", true),
        (
            Some(0o755),
            0o4755,
            "The file is made executable: mode 755 → 4755.",
            true,
        ),
        (
            Some(0o755),
            0o644,
            "The file gets other permissions: mode 755 → 644.",
            false,
        ),
    ] {
        for (width, text) in [(80, "same\n"), (130, "other\n")] {
            let mut person = reviewer(width, 24);
            let mode = ModeChange { before, after };
            (person.mode, person.written) = (Some(mode), Some("7.1".to_owned()));
            // Other views have it as a note.
            person.notes = vec![mode.to_string(), "Something else.".to_owned()];
            person.open("run.sh", before.map(|_| "same\n"), text);
            let buffer = draw(&mut person, &theme);
            let screen = self::text(&buffer);
            let rows: Vec<_> = { screen.lines().enumerate() }
                .filter(|(_, row)| row.contains(said))
                .collect();
            let [(y, row)] = rows[..] else {
                panic!("{screen}");
            };
            assert!(row.starts_with(&format!("  {said}")), "{screen}");
            let cell = &buffer[(2, u16::try_from(y).unwrap())];
            assert_eq!(cell.fg == theme.removed.sign.fg.unwrap(), is_red, "{said}");
            assert!(screen.contains("! Something else."), "{screen}");
            let is_same = before.is_some() && text == "same\n";
            assert_eq!(screen.contains("mode only"), is_same, "{screen}");
        }
    }
}

/// Also where the hit itself is out of sight.
#[test]
fn the_number_of_a_line_with_a_hit_stands_out() {
    let theme = Theme::new(true, Depth::True);
    for width in [80, 130] {
        let mut person = reviewer(width, 24);
        let far = format!("{}needle", " x".repeat(200));
        let text = format!("one\nneedle\nthree\n{far}\n");
        person.open("a.txt", Some("one\n"), &text);
        person.press("/needle");
        person.key(KeyCode::Enter);
        person.press("0");
        let buffer = draw(&mut person, &theme);
        let hit = theme.hit.fg.unwrap();
        let screen = self::text(&buffer);
        let marked: Vec<_> = { screen.lines().enumerate() }
            .filter(|(y, _)| {
                let y = u16::try_from(*y).unwrap();
                (2..13).any(|x| buffer[(x, y)].fg == hit && buffer[(x, y)].symbol() != " ")
            })
            .map(|(_, row)| {
                row.chars()
                    .skip(2)
                    .filter(char::is_ascii_digit)
                    .collect::<String>()
            })
            .filter(|digits| !digits.is_empty())
            .collect();
        assert_eq!(marked, ["2", "4"], "{screen}");
    }
}
