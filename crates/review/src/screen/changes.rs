//! Draws the list of what agents have written.

use pillion_text::visible::{self, width};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};

use crate::app::{ChangesPage, ChangesRow};
use crate::screen::put;
use crate::screen::theme::Theme;

/// Columns of a change's name.
const NAME: usize = 7;

/// Columns of its state.
const STATE: usize = 11;

/// Columns of its number of lines.
const LINES: usize = 10;

/// Draws the list, as far as there is room, around the cursor.
pub fn draw(buffer: &mut Buffer, area: Rect, page: &ChangesPage, theme: &Theme) {
    Clear.render(area, buffer);
    if let Some(text) = page.instead() {
        let line = Line::styled(format!("  {}", visible::one_line(text)), theme.strong);
        return put(buffer, area, &line);
    }
    let (rows, at) = (page.rows(), page.at());
    let height = usize::from(area.height);
    let top = at
        .saturating_sub(height / 2)
        .min(rows.len().saturating_sub(height));
    let shown = rows.iter().enumerate().skip(top).take(height);
    for (y, (number, row)) in (area.top()..).zip(shown) {
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
                let lines = change.added.zip(change.removed);
                let (added, removed) = lines.map_or_else(Default::default, |(added, removed)| {
                    (format!("+{added}"), format!("-{removed}"))
                });
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
        put(buffer, Rect { y, ..area }, &Line::from(spans));
    }
    let left_out = page.left_out();
    if left_out > 0 && rows.len() < height {
        let y = area.top() + crate::screen::narrow(rows.len());
        let text = format!("  {left_out} older changes: pillion changes --all");
        put(buffer, Rect { y, ..area }, &Line::styled(text, theme.muted));
    }
}
