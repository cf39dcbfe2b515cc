//! Draws what stands instead of a diff or over it: welcome, help, the question before leaving.

use pillion_judge::act::Act;
use pillion_judge::keys::Keys;
use pillion_protocol::Dialect;
use pillion_text::visible::wrap;
use pillion_text::{counted, visible};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Padding, Paragraph, Widget, Wrap};

use crate::app::App;
use crate::help::{self, HelpRow};
use crate::screen::agents;
use crate::screen::theme::Theme;

/// A terminal in which no diff can be read.
pub fn too_small(buffer: &mut Buffer, area: Rect, app: &App, theme: &Theme) {
    let count = app.views.len();
    let lines = vec![
        Line::styled("pillion: this terminal is too small", theme.strong),
        Line::raw(format!(
            "{count} pending · {} quits",
            app.keys.name(Act::Quit)
        )),
    ];
    Paragraph::new(lines)
        .wrap(Wrap { trim: true })
        .render(area, buffer);
}

/// Nothing is pending: how to get an agent here.
pub fn welcome(buffer: &mut Buffer, area: Rect, app: &App, theme: &Theme) {
    let working = agents::working(app);
    let mut lines = if app.status.agents.is_empty() && working.is_empty() {
        how_to_start(&app.installed, theme)
    } else if app.status.agents.is_empty() {
        vec![
            Line::styled(format!("{working}: at work."), theme.strong),
            Line::raw(""),
            Line::raw("What it asks about opens here, and what it writes is listed here."),
        ]
    } else {
        let unasked = app.status.review.as_ref();
        let unasked = unasked.and_then(|review| review.unasked.as_deref());
        let (head, next) = match unasked {
            None => (
                "Nothing to review right now.",
                "When an agent proposes a change, it opens here.",
            ),
            Some(unasked) => (
                unasked,
                &*app.keys.fill("<mode> shows every change here first."),
            ),
        };
        vec![
            Line::styled(visible::one_line(head), theme.strong),
            Line::raw(""),
            Line::raw(next.to_owned()),
        ]
    };
    if app.status.unseen > 0 {
        let files = counted(app.status.unseen, "changed file");
        let how = app.keys.fill("<view> shows what changed, <list> lists it.");
        lines.push(Line::raw(""));
        lines.push(Line::styled(
            format!("{files} that you have not seen: {how}"),
            theme.strong,
        ));
    }
    for note in app.asking() {
        lines.push(Line::raw(""));
        lines.push(Line::raw(visible::one_line(note)));
    }
    for waiting in &app.status.waiting {
        lines.push(Line::raw(""));
        // `pillion notes` shows all of it.
        let first = waiting.lines().next().unwrap_or_default();
        lines.push(Line::raw(visible::one_line(first)));
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
    let rows = |line: &Line<'_>| wrap::rows(&line.to_string(), usize::from(width)).len();
    let height: usize = lines.iter().map(rows).sum();
    let height = u16::try_from(height + 1)
        .unwrap_or(u16::MAX)
        .min(room.height);
    let text = Paragraph::new(lines).wrap(Wrap { trim: false });
    text.render(centred(room, width, height), buffer);
}

/// The steps until a proposal comes: with the agents that are installed, else with those that most people have.
fn how_to_start(installed: &[Dialect], theme: &Theme) -> Vec<Line<'static>> {
    let key = |text: String| Span::styled(text, theme.key);
    let muted = |text| Span::styled(text, theme.muted);
    let usual = [Dialect::ClaudeCode, Dialect::QwenCode];
    let mut agents = match installed.is_empty() {
        true => usual.to_vec(),
        false => installed.to_vec(),
    };
    // Private users cannot sign in to it any more.
    agents.sort_by_key(|agent| *agent == Dialect::GeminiCli);
    let mut lines = vec![
        Line::styled("Waiting for an agent.", theme.strong),
        Line::raw(""),
        Line::raw("1  In another terminal, in this folder, start one:"),
    ];
    lines.extend(agents.iter().map(|agent| {
        let remark = match agent.proposes() {
            true => String::new(),
            false => format!(
                "  (its changes: pillion hook install {agent})",
                agent = agent.name()
            ),
        };
        Line::from_iter([
            Span::raw("   "),
            key(format!("pillion run {}", agent.usual_command())),
            Span::styled(remark, theme.muted),
        ])
    }));
    let to_enable = agents
        .iter()
        .filter(|agent| Dialect::AGENTS.contains(agent));
    let to_enable: Vec<_> = to_enable.map(|agent| agent.display_name()).collect();
    let mut steps = 2..;
    let mut step = || format!("{}  ", steps.next().unwrap_or_default());
    if !to_enable.is_empty() {
        let names = to_enable.join(" and ");
        lines.push(Line::from_iter([
            Span::raw(format!("{}In {names}, once: ", step())),
            key("/ide enable".to_owned()),
        ]));
    }
    lines.push(Line::raw(format!(
        "{}Ask it for a change. It opens here for review.",
        step()
    )));
    lines.push(Line::raw(""));
    for (question, command, answer) in [
        ("It does not connect? ", "pillion doctor", " says why."),
        (
            "No agent at hand? ",
            "pillion review --demo",
            " shows it all.",
        ),
    ] {
        lines.push(Line::from_iter([
            muted(question),
            key(command.to_owned()),
            muted(answer),
        ]));
    }
    lines
}

/// The keys.
pub fn help(buffer: &mut Buffer, area: Rect, keys: &Keys, from: u16, theme: &Theme) {
    let (rows, seen) = help::rows(keys, area.as_size());
    let count = u16::try_from(rows.len()).unwrap_or(u16::MAX);
    let lines = rows.into_iter().map(|row| match row {
        HelpRow::Key(key, text) => Line::from(vec![
            Span::styled(format!("{key:<width$}", width = help::KEY), theme.key),
            Span::raw(text),
        ]),
        HelpRow::Note(text, None) => Line::styled(text, theme.muted),
        HelpRow::Note("", Some(command)) => Line::styled(command, theme.key),
        HelpRow::Note(text, Some(command)) => Line::from(vec![
            Span::styled(format!("{text} "), theme.muted),
            Span::styled(command, theme.key),
        ]),
    });
    let [down, close] = [Act::Down, Act::Close].map(|act| keys.name(act));
    let title = match count > seen {
        true => format!(" Keys · {down} for more · {close} "),
        false => format!(" Keys · {close} "),
    };
    let width = help::width(area.as_size());
    let area = centred(area, width, count.min(seen).saturating_add(2));
    panel(buffer, area, &title, lines.collect(), from, theme);
}

/// The question whether to leave although diffs are pending, or notes wait for agents.
pub fn quit(buffer: &mut Buffer, area: Rect, app: &App, theme: &Theme) {
    let pending = match app.views.len() {
        0 => String::new(),
        1 => "1 diff is pending. Quitting rejects it unless it is also open elsewhere.".to_owned(),
        count => format!(
            "{count} diffs are pending. Quitting rejects those that are not open elsewhere."
        ),
    };
    let edited = app
        .views
        .iter()
        .filter_map(|view| view.edited_text())
        .count();
    let kept = match edited {
        0 => "",
        1 => " The text that you edited is kept in a file.",
        _ => " The texts that you edited are kept in files.",
    };
    let notes: usize = app.views.iter().map(|view| app.words_on(view).len()).sum();
    let noted = match notes {
        0 => "",
        1 => " Your note is not lost.",
        _ => " Your notes are not lost.",
    };
    let listed = match app.row_notes().len() {
        0 => "",
        1 => " Your note in the list is not sent yet: it is there again in the next review.",
        _ => " Your notes in the list are not sent yet: they are there again in the next review.",
    };
    let waiting = app.status.at_quit();
    let waiting = waiting.map_or_else(String::new, |it| it + ". ");
    let pending = format!("{waiting}{pending}{kept}{noted}{listed}");
    let pending = pending.trim_start();
    let width = area.width.min(51);
    let rows = wrap::rows(pending, usize::from(width.saturating_sub(help::FRAME)));
    let rows = rows.into_iter().map(|row| Line::raw(&pending[row]));
    let answers = Line::from_iter([
        Span::styled(app.keys.name(Act::Answer), theme.key),
        Span::raw(" quit    "),
        Span::styled(app.keys.name(Act::Stay), theme.key),
        Span::raw(" stay"),
    ]);
    let lines: Vec<_> = rows.chain([Line::raw(""), answers.centered()]).collect();
    let height = u16::try_from(lines.len() + 2).unwrap_or(u16::MAX);
    let area = centred(area, width, height);
    panel(buffer, area, " Quit? ", lines, 0, theme);
}

/// A frame with lines over what is drawn.
pub fn panel(
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
