//! Draws what stands instead of a diff or over it: welcome, help, the question before leaving.

use ratatui::buffer::Buffer;
use ratatui::layout::{Alignment, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Padding, Paragraph, Widget, Wrap};

use crate::review::app::App;
use crate::review::screen::theme::Theme;
use crate::visible;

/// What each key does.
const KEYS: [(&str, &str); 22] = [
    ("a", "accept the proposal as it stands"),
    ("r", "reject it"),
    ("space", "take the hunk out, or back in"),
    ("e", "edit the proposal in $VISUAL or $EDITOR"),
    ("z  Z", "undo the last change; redo it"),
    ("", ""),
    ("n  p", "next, previous hunk"),
    ("Tab  1-9", "next pending diff; that one"),
    ("↑↓  j k", "scroll by a line"),
    ("PgUp PgDn", "scroll by a page"),
    ("Home End", "top, end (also g G)"),
    ("←→  h l", "scroll sideways; 0 and $ all the way"),
    ("", ""),
    ("u", "unified, or side by side"),
    ("c  Enter", "unfold or fold unchanged lines"),
    ("w", "wrap long lines, or cut them"),
    ("o", "merge with the file as it is on disk now"),
    ("", ""),
    ("?", "this help"),
    ("q  Ctrl-C", "quit; pending diffs are rejected"),
    ("Ctrl-Z", "suspend"),
    ("", ""),
];

/// A terminal in which no diff can be read.
pub fn too_small(buffer: &mut Buffer, area: Rect, app: &App, theme: &Theme) {
    let count = app.views.len();
    let lines = vec![
        Line::styled("pillion: this terminal is too small", theme.strong),
        Line::raw(format!("{count} pending · q quits")),
    ];
    Paragraph::new(lines)
        .wrap(Wrap { trim: true })
        .render(area, buffer);
}

/// Nothing is pending: how to get an agent here.
pub fn welcome(buffer: &mut Buffer, area: Rect, app: &App, theme: &Theme) {
    let is_connected = !app.status.agents.is_empty();
    let key = |text: &'static str| Span::styled(text, theme.key);
    let mut lines = Vec::new();
    if is_connected {
        lines.push(Line::styled("Nothing to review right now.", theme.strong));
        lines.push(Line::raw(""));
        lines.push(Line::raw("When an agent proposes a change, it opens here."));
    } else {
        lines.push(Line::styled("Waiting for an agent.", theme.strong));
        lines.push(Line::raw(""));
        lines.push(Line::raw(
            "1  In another terminal, in this folder, start one:",
        ));
        lines.push(Line::from(vec![
            Span::raw("   "),
            key("pillion run gemini"),
            Span::styled("  or  ", theme.muted),
            key("pillion run qwen"),
        ]));
        lines.push(Line::from(vec![
            Span::raw("2  There, once: "),
            key("/ide enable"),
        ]));
        lines.push(Line::raw(
            "3  Ask it for a change. It opens here for you to judge.",
        ));
        lines.push(Line::raw(""));
        lines.push(Line::from(vec![
            Span::styled("It does not connect? ", theme.muted),
            key("pillion doctor"),
            Span::styled(" says why.", theme.muted),
        ]));
        lines.push(Line::from(vec![
            Span::styled("No agent at hand? ", theme.muted),
            key("pillion review --demo"),
            Span::styled(" shows it all.", theme.muted),
        ]));
    }
    for warning in app.warnings() {
        lines.push(Line::raw(""));
        let warning = visible::one_line(warning);
        lines.push(Line::styled(format!("! {warning}"), theme.warning));
    }
    let room = Rect {
        y: area.y + 2,
        height: area.height.saturating_sub(4),
        ..area
    };
    let width = 64.min(room.width.saturating_sub(4));
    let rows = |line: &Line<'_>| line.width().div_ceil(usize::from(width.max(1))).max(1);
    let height: usize = lines.iter().map(rows).sum();
    let height = u16::try_from(height + 1)
        .unwrap_or(u16::MAX)
        .min(room.height);
    let text = Paragraph::new(lines).wrap(Wrap { trim: false });
    text.render(centred(room, width, height), buffer);
}

/// The keys.
pub fn help(buffer: &mut Buffer, area: Rect, from: u16, theme: &Theme) {
    let mut lines: Vec<_> = KEYS
        .iter()
        .map(|(key, what)| {
            Line::from(vec![
                Span::styled(format!("{key:<11}"), theme.key),
                Span::raw(*what),
            ])
        })
        .collect();
    lines.extend([
        Line::styled("The agent writes the file after you accept.", theme.muted),
        Line::styled("Nothing here writes to your workspace.", theme.muted),
        Line::styled(
            "A held key decides once; a paste decides nothing.",
            theme.muted,
        ),
        Line::styled(
            "An unchanged last line keeps its missing newline.",
            theme.muted,
        ),
    ]);
    lines.push(Line::from(vec![
        Span::styled("An agent does not find this window? ", theme.muted),
        Span::styled("pillion run gemini", theme.key),
    ]));
    let height = u16::try_from(lines.len())
        .unwrap_or(u16::MAX)
        .saturating_add(2);
    let shown = height.min(area.height);
    let from = from.min(height - shown);
    let title = if height > shown {
        " Keys · ↓ for more · Esc "
    } else {
        " Keys · Esc "
    };
    panel(buffer, centred(area, 60, shown), title, lines, from, theme);
}

/// Whether to leave although diffs are pending.
pub fn quit(buffer: &mut Buffer, area: Rect, app: &App, theme: &Theme) {
    let pending = match app.views.len() {
        1 => "1 diff is pending. Quitting rejects it.".to_owned(),
        count => format!("{count} diffs are pending. Quitting rejects them."),
    };
    let lines = vec![
        Line::raw(pending),
        Line::raw(""),
        Line::from(vec![
            Span::styled("y", theme.key),
            Span::raw(" quit    "),
            Span::styled("n", theme.key),
            Span::raw(" stay"),
        ])
        .alignment(Alignment::Center),
    ];
    panel(buffer, centred(area, 51, 5), " Quit? ", lines, 0, theme);
}

fn panel(
    buffer: &mut Buffer,
    area: Rect,
    title: &str,
    lines: Vec<Line<'_>>,
    from: u16,
    theme: &Theme,
) {
    Clear.render(area, buffer);
    let block = Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(theme.muted)
        .title(Span::styled(title, theme.strong))
        .padding(Padding::horizontal(2));
    Paragraph::new(lines)
        .block(block)
        .scroll((from, 0))
        .render(area, buffer);
}

fn centred(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    }
}
