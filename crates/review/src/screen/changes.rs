//! Draws the list of what agents have written: over the diff, or beside it.

use pillion_judge::Target;
use pillion_judge::act::Act;
use pillion_judge::listed::ChangesRow;
use pillion_text::visible::{self, width};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};

use pillion_view::changes::{ListedChange, ListedTurn};

use crate::app::{App, ChangesPage, Spot};
use crate::screen::theme::Theme;
use crate::screen::{around, files, fill, narrow, put};

/// Columns of a change's name.
const NAME: usize = 7;

/// Columns of its state.
const STATE: usize = 11;

/// Columns of its number of lines.
const LINES: usize = 10;

/// Draws the list, as far as there is room, around the cursor.
pub fn draw(
    buffer: &mut Buffer,
    area: Rect,
    page: &ChangesPage,
    theme: &Theme,
) -> Vec<(Rect, Spot)> {
    Clear.render(area, buffer);
    let mut clicks = vec![(area, Spot::Page)];
    if let Some(text) = page.instead() {
        let line = Line::styled(format!("  {}", visible::one_line(text)), theme.strong);
        put(buffer, area, &line);
        return clicks;
    }
    let (rows, at) = (page.rows(), page.at());
    let height = usize::from(area.height);
    for (y, (number, row)) in (area.top()..).zip(around(&rows, at, height)) {
        let mark = match number == at {
            true => Span::styled("▌ ", theme.current),
            false => Span::raw("  "),
        };
        let mut spans = vec![mark];
        let room = usize::from(area.width).saturating_sub(3);
        match row {
            ChangesRow::Turn(turn) => {
                let title = visible::head(&visible::one_line(&turn.title), room);
                spans.push(Span::styled(title, theme.strong));
            }
            ChangesRow::Change(change) => {
                let state = match change.is_unseen {
                    true => theme.warning,
                    false => theme.muted,
                };
                let (added, removed) = counts(change);
                let counted = width(&added) + width(&removed) + 1;
                let pad = " ".repeat(LINES.saturating_sub(counted));
                let used = NAME + STATE + LINES.max(counted) + 4;
                let file = visible::one_line(&change.shown);
                spans.extend([
                    Span::raw(format!("  {:<NAME$}", change.id)),
                    Span::styled(format!("{:<STATE$}", change.state), state),
                    Span::raw(pad),
                    Span::styled(added, theme.added.sign),
                    Span::raw(" "),
                    Span::styled(removed, theme.removed.sign),
                    Span::raw("  "),
                    Span::raw(visible::head(&file, room.saturating_sub(used))),
                ]);
            }
        }
        let line = Rect {
            y,
            height: 1,
            ..area
        };
        put(buffer, line, &Line::from(spans));
        clicks.push((line, Spot::Change(number)));
    }
    left_out(buffer, area, page, rows.len(), theme);
    clicks
}

/// Draws the lists beside the diff: the pending diffs, and what was written, around the cursor if keys mean the list, or else around what is on the screen.
pub fn draw_pane(buffer: &mut Buffer, area: Rect, app: &App, theme: &Theme) -> Vec<(Rect, Spot)> {
    let mut clicks = vec![(area, Spot::Page)];
    if area.is_empty() {
        return clicks;
    }
    let edge = Rect {
        x: area.right() - 1,
        width: 1,
        ..area
    };
    for row in edge.rows() {
        fill(buffer, row, "│", theme.missing);
    }
    let width = area.width - 1;
    let area = Rect { width, ..area };
    let area = files::draw_beside(buffer, area, app, theme, &mut clicks);
    let page = app.pane();
    let rows = page.rows();
    if rows.is_empty() || area.is_empty() {
        return clicks;
    }
    let heading = area;
    let list = Rect {
        y: area.y + 1,
        height: area.height - 1,
        ..area
    };
    let has_keys = app.changes().is_some();
    let keys: &[_] = match has_keys {
        true => &[(Act::Close, " goes back to the diff")],
        false => &[(Act::List, " opens this list  "), (Act::Pane, " hides it")],
    };
    let mut spans = vec![Span::raw("  ")];
    for (act, what) in keys {
        spans.push(Span::styled(app.keys.name(*act), theme.key));
        spans.push(Span::styled(*what, theme.muted));
    }
    put(buffer, heading, &Line::from(spans));
    let shown = app.view().and_then(|view| view.diff.written.as_deref());
    let is_shown = |row: &ChangesRow<'_>| shown == Some(row.id());
    let cursor = has_keys.then(|| page.at());
    let at = cursor.or_else(|| rows.iter().position(is_shown));
    let height = usize::from(list.height);
    let visible = around(&rows, at.unwrap_or_default(), height);
    for (y, (number, row)) in (list.top()..).zip(visible) {
        let mark = match (cursor == Some(number), is_shown(row)) {
            (true, _) => "▌",
            (false, true) => "▶",
            (false, false) => " ",
        };
        let mut spans = vec![Span::styled(mark, theme.current)];
        let room = usize::from(width).saturating_sub(1);
        match row {
            ChangesRow::Turn(turn) => spans.extend(turn_in(turn, room, theme)),
            ChangesRow::Change(change) => {
                spans.extend(change_in(change, app, room, is_shown(row), theme));
            }
        }
        let line = Rect {
            y,
            height: 1,
            ..list
        };
        put(buffer, line, &Line::from(spans));
        clicks.push((line, Spot::Change(number)));
    }
    left_out(buffer, list, page, rows.len(), theme);
    clicks
}

/// A turn in so many columns: its number, its agent, and as much of the prompt as fits.
fn turn_in<'a>(turn: &ListedTurn, room: usize, theme: &Theme) -> [Span<'a>; 3] {
    let number = format!("{} ", turn.id);
    let heading = visible::one_line(&turn.heading);
    let heading = visible::head(&heading, room.saturating_sub(width(&number)));
    let used = width(&number) + width(&heading) + 1;
    let prompt = visible::head(&visible::one_line(&turn.prompt), room.saturating_sub(used));
    [
        Span::styled(number, theme.strong),
        Span::styled(heading, theme.agent),
        Span::raw(format!(" {prompt}")),
    ]
}

/// A change in so many columns: its state as a sign, the end of its path, and how many lines there are.
fn change_in<'a>(
    change: &ListedChange,
    app: &App,
    room: usize,
    is_shown: bool,
    theme: &Theme,
) -> Vec<Span<'a>> {
    let (sign, style) = match (&*change.state, change.is_unseen) {
        (_, true) => ("●", theme.warning),
        ("accepted" | "kept", _) => ("✓", theme.good),
        ("taken back", _) => ("↩", theme.muted),
        ("gone", _) => ("∅", theme.muted),
        _ => ("✎", theme.current),
    };
    let (added, removed) = counts(change);
    let mut said = vec![
        Span::styled(added, theme.added.sign),
        Span::styled(removed, theme.removed.sign),
        Span::styled(change.mode.clone().unwrap_or_default(), theme.warning),
    ];
    said.retain(|it| !it.content.is_empty());
    let counted: usize = said.iter().map(|it| it.width() + 1).sum();
    let room = room.saturating_sub(3 + counted);
    let path = Target::new(change.path.clone(), &app.roots).shown;
    let path = visible::tail(&path, room);
    let pad = " ".repeat(room.saturating_sub(width(&path)));
    let name = match is_shown {
        true => theme.strong,
        false => ratatui::style::Style::new(),
    };
    let mut spans = vec![
        Span::styled(sign, style),
        Span::raw(" "),
        Span::styled(path, name),
    ];
    let beside = said.into_iter().flat_map(|it| [Span::raw(" "), it]);
    spans.push(Span::raw(pad));
    spans.extend(beside);
    spans
}

/// The numbers of lines that were added and removed, if it is text and not only the permissions have changed.
fn counts(change: &ListedChange) -> (String, String) {
    let lines = change.added.zip(change.removed).filter(|it| *it != (0, 0));
    lines.map_or_else(Default::default, |(added, removed)| {
        (format!("+{added}"), format!("-{removed}"))
    })
}

/// Draws the number of changes that are not listed, below the last row if there is room.
fn left_out(buffer: &mut Buffer, area: Rect, page: &ChangesPage, rows: usize, theme: &Theme) {
    let left_out = page.left_out();
    if left_out > 0 && rows < usize::from(area.height) {
        let y = area.top() + narrow(rows);
        let text = format!("  {left_out} more changes: pillion changes --all");
        put(buffer, Rect { y, ..area }, &Line::styled(text, theme.muted));
    }
}
