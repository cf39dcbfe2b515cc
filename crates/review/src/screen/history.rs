//! Draws what was decided before: the list, or one entry of it.

use pillion_text::visible;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::pages::panel;
use super::theme::Theme;
use crate::app::{App, Opened};
use pillion_judge::history::Past;

/// Over everything else.
pub fn draw(buffer: &mut Buffer, area: Rect, app: &App, theme: &Theme) {
    let height = usize::from(area.height.saturating_sub(2));
    let history = &app.history;
    if let Some(opened) = &history.opened {
        let shown = opened.lines.iter().skip(opened.from).take(height);
        let lines = shown.map(|line| diff_line(line, theme));
        return panel(
            buffer,
            area,
            &title(app, opened, height),
            lines.collect(),
            0,
            theme,
        );
    }
    let shown = history.items.iter().enumerate();
    let shown = shown.skip(history.top).take(height);
    let mut lines: Vec<_> = shown
        .map(|(at, past)| row(past, at == history.at, usize::from(area.width), theme))
        .collect();
    if lines.is_empty() {
        lines.push(Line::raw("You have not decided anything here yet."));
    }
    let title = " What you decided · Enter opens it · Esc ";
    panel(buffer, area, title, lines, 0, theme);
}

fn title(app: &App, opened: &Opened, height: usize) -> String {
    let more = match opened.lines.len() > opened.from + height {
        true => " · ↓ for more",
        false => "",
    };
    let next = match app.history.others.is_empty() {
        true => String::new(),
        false => app.keys.fill(" · <base> the next"),
    };
    format!(" {}{more}{next} · Esc goes back ", opened.title)
}

/// Columns of the frame and of all that stands before the name of the file.
const BEFORE_NAME: usize = 6 + 2 + 7 + 12 + 10 + 13;

/// A decision in a panel of so many columns. The end of a long path, and the beginning of a long reason, are shown.
fn row<'a>(past: &Past, is_chosen: bool, width: usize, theme: &Theme) -> Line<'a> {
    let (item, style) = (&past.item, Style::default());
    let state = match item.state() {
        "accepted" | "kept" => theme.good,
        "not decided" | "not written" => theme.warning,
        _ => style,
    };
    let mark = match is_chosen {
        true => Span::styled("▶ ", theme.current),
        false => Span::raw("  "),
    };
    let shown = visible::one_line(&item.shown().to_string_lossy());
    let remark = item.remark();
    let room = width.saturating_sub(BEFORE_NAME);
    let rest = visible::one_line(&format!("  {}{remark}", past.agent));
    let shown = visible::tail(
        &shown,
        room.saturating_sub(visible::width(&rest)).max(room / 2),
    );
    let rest = visible::head(&rest, room.saturating_sub(visible::width(&shown)));
    Line::from(vec![
        mark,
        Span::styled(format!("{:<6} ", item.id()), theme.muted),
        Span::styled(format!("{:<11} ", item.state()), state),
        Span::raw(format!("{:>9} ", past.lines)),
        Span::styled(format!("{:>11}  ", past.ago), theme.muted),
        Span::styled(shown, theme.strong),
        Span::styled(rest, theme.muted),
    ])
}

fn diff_line<'a>(line: &str, theme: &Theme) -> Line<'a> {
    let style = match line.as_bytes() {
        [b'+', ..] if !line.starts_with("+++ ") => theme.added.line,
        [b'-', ..] if !line.starts_with("--- ") => theme.removed.line,
        [b'#', ..] => theme.strong,
        [b' ', ..] => Style::default(),
        _ => theme.muted,
    };
    // Nothing of a file reaches the terminal as it is.
    let text = visible::one_line(&line.replace('\t', "    "));
    Line::styled(text, style)
}
