//! The work that a frame leaves for later: colours, words, and what is not seen.

use super::*;

/// The number of cells below the title that have one of the colours of the syntax.
fn coloured_cells(buffer: &Buffer, theme: &Theme) -> usize {
    let classes = [Class::Keyword, Class::String, Class::Comment];
    let colours = classes.map(|class| theme.class(class).fg);
    let width = usize::from(buffer.area.width);
    let body = &buffer.content[2 * width..buffer.content.len() - 2 * width];
    let is_coloured = |cell: &&Cell| colours.contains(&Some(cell.fg));
    body.iter().filter(is_coloured).count()
}

#[test]
fn a_frame_never_waits_for_colours() {
    let theme = Theme::new(true, Depth::True);
    let mut person = reviewer(120, 30);
    let line = |number| format!("export const a{number}: string = `text`; // why\n");
    let before: String = (0..300).map(line).collect();
    let after = format!("{before}{}", line(300));
    person.open("src/big.ts", Some(&before), &after);
    let (buffer, rest) = draw_once(&mut person, &theme);
    assert!(text(&buffer).contains("export const a300"), "{buffer:?}");
    assert_eq!(coloured_cells(&buffer, &theme), 0);
    // Nothing comes of it without another thread's work.
    let wanted = rest.colours.unwrap();
    assert!(!rest.is_unfinished);
    assert_eq!(wanted.right.end, 301);
    person.press("k");
    let (buffer, _) = draw_once(&mut person, &theme);
    assert_eq!(coloured_cells(&buffer, &theme), 0);
    // Colours of lines above help nobody; those of the lines in view are drawn as they come.
    let texts = wanted.texts;
    let mut bits = colours(wanted);
    let last = bits.pop().unwrap();
    for (side, coloured) in bits {
        person.happens(Event::Coloured(texts, side, coloured));
    }
    let (_, rest) = draw_once(&mut person, &theme);
    assert!(rest.colours.is_some());
    person.happens(Event::Coloured(texts, last.0, last.1));
    let (buffer, rest) = draw_once(&mut person, &theme);
    assert!(coloured_cells(&buffer, &theme) > 100, "{}", text(&buffer));
    assert!(rest.colours.is_none());
}

#[test]
fn colours_of_a_text_that_is_gone_are_not_drawn() {
    let theme = Theme::new(true, Depth::True);
    let mut person = with_diff(120, 30);
    let (_, rest) = draw_once(&mut person, &theme);
    let wanted = rest.colours.unwrap();
    let id = person.app.views[0].diff.id;
    person.propose(
        id,
        Dialect::GeminiCli,
        "src/app.ts",
        Some(BEFORE),
        "let a = 1;\n",
    );
    let former = wanted.texts;
    colour(&mut person, wanted);
    let (buffer, rest) = draw_once(&mut person, &theme);
    assert_eq!(coloured_cells(&buffer, &theme), 0);
    assert_ne!(rest.colours.unwrap().texts, former);
}

#[test]
fn a_long_line_is_worked_out_as_far_as_it_is_seen() {
    // The longest that is shown at all.
    let bytes = (1 << 20) - 1;
    for line in ["\u{1}", "a", "漢", "\u{301}", "é ", "\u{fffd}"] {
        let before = format!("{}\n", line.repeat(bytes / line.len()));
        let mut person = reviewer(80, 24);
        person.open("a.txt", Some(&before), "short\n");
        let theme = Theme::new(true, Depth::True);
        let (buffer, _) = draw_once(&mut person, &theme);
        assert!(text(&buffer).contains('›'), "{}", text(&buffer));
        person.press("llhn0");
        draw_once(&mut person, &theme);
        let effort = person.app.view().unwrap().paint.effort;
        assert!(effort < bytes / 3, "{line:?}: {effort}");
    }
}

#[test]
fn words_of_many_long_lines_are_marked_over_several_frames() {
    let lines = |word: &str| -> String {
        let line = |at| {
            format!(
                "{at} {} {word} {}\n",
                "left ".repeat(2_000),
                "right ".repeat(2_000)
            )
        };
        (0..20).map(line).collect()
    };
    let mut person = reviewer(80, 60);
    person.open("a.txt", Some(&lines("before")), &lines("after"));
    let theme = Theme::new(true, Depth::True);
    let marked = |buffer: &Buffer| {
        let word = theme.added.word.bg.unwrap();
        buffer.content.iter().filter(|cell| cell.bg == word).count()
    };
    let (buffer, rest) = draw_once(&mut person, &theme);
    assert!(rest.is_unfinished);
    assert!(marked(&buffer) < 20 * "after".len(), "{}", marked(&buffer));
    assert_eq!(marked(&draw(&mut person, &theme)), 20 * "after".len());
}
