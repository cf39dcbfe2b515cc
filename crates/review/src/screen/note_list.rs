//! Draws the person's notes as a list, over everything else.

use pillion_judge::act::Act;
use pillion_text::visible;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::around;
use super::pages::panel;
use super::theme::Theme;
use crate::app::App;

/// Columns of the frame and of the mark of the cursor.
const BEFORE_PLACE: usize = 6 + 2;

/// Over everything else: what each note is on, and its words.
pub fn draw(buffer: &mut Buffer, area: Rect, app: &App, theme: &Theme) {
    let (notes, chosen) = (app.all_notes(), app.chosen_note());
    let height = usize::from(area.height.saturating_sub(2));
    let room = usize::from(area.width).saturating_sub(BEFORE_PLACE);
    let rows = around(&notes, chosen.unwrap_or_default(), height);
    let lines = rows.map(|(at, (view, note))| {
        let view = &app.views[*view];
        let note = &view.hunk_notes[*note];
        let mark = match Some(at) == chosen {
            true => Span::styled("▶ ", theme.current),
            false => Span::raw("  "),
        };
        let place = note.place(&view.proposal);
        let place = format!("{} {}, {place}: ", view.diff.id, view.target.shown);
        let place = visible::tail(&place, room / 2);
        let text = visible::one_line(&note.says(&view.proposal));
        let text = visible::head(&text, room.saturating_sub(visible::width(&place)));
        Line::from(vec![
            mark,
            Span::styled(place, theme.strong),
            Span::raw(text),
        ])
    });
    let key = |act| app.keys.name(act);
    let title = format!(
        " {} · {} goes there · {} deletes it · Esc ",
        pillion_text::counted(notes.len(), "note"),
        key(Act::Open),
        key(Act::DeleteNote)
    );
    panel(buffer, area, &title, lines.collect(), 0, theme);
}
