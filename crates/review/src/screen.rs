//! Draws the review. Reads the state and never changes what it means.

mod agents;
mod body;
mod changes;
mod files;
mod footer;
mod header;
mod history;
mod line;
mod note_list;
mod pages;
mod tabs;
mod theme;

use pillion_judge::highlight::ColourRequest;
use pillion_text::visible::{self, wrap};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;

pub use theme::{Depth, Theme};

use crate::app::{App, Overlay};
use crate::ascii;
use crate::geometry::SMALLEST;

/// The things that a frame lacks.
#[derive(Debug, Default)]
pub struct Rest {
    /// Colours that are still to be computed.
    pub colours: Option<ColourRequest>,
    /// True if the next frame will have more, although nothing happens meanwhile.
    pub is_unfinished: bool,
}

/// Draws everything, in bounded time. Answers what is lacking.
pub fn draw(buffer: &mut Buffer, app: &mut App, theme: &Theme) -> Rest {
    let rest = draw_all(buffer, app, theme);
    // Lines get theirs when they are printed, where a mark may have several.
    if theme.is_ascii && !app.is_plain {
        ascii::put(buffer);
    }
    rest
}

fn draw_all(buffer: &mut Buffer, app: &mut App, theme: &Theme) -> Rest {
    let area = buffer.area;
    // The terminal may have another size since the last event.
    if area.as_size() != app.size {
        app.fit(area.as_size());
    }
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        pages::too_small(buffer, area, app, theme);
        return Rest::default();
    }
    let geometry = app.geometry();
    app.spots = header::draw(buffer, &geometry, app, theme);
    let mut rest = Rest::default();
    if app.views.is_empty() {
        let (x, width) = (geometry.body.x, geometry.body.width);
        pages::welcome(buffer, Rect { x, width, ..area }, app, theme);
    } else {
        rest = body::draw(buffer, geometry.body, app, theme);
    }
    if let Some(pane) = geometry.pane {
        let spots = changes::draw_pane(buffer, pane, app, theme);
        app.spots.extend(spots);
    } else if let Some(page) = app.changes() {
        let top = geometry.header.bottom();
        let height = geometry.status.top().saturating_sub(top);
        let area = Rect {
            y: top,
            height,
            ..area
        };
        let spots = changes::draw(buffer, area, page, theme);
        app.spots.extend(spots);
    }
    footer::draw(buffer, &geometry, app, theme);
    if app.is_plain && !matches!(app.overlay, Some(Overlay::Changes) | None) {
        // Lines are read one by one: nothing stands beside a page.
        buffer.reset();
    }
    match app.overlay {
        Some(Overlay::Files) => {
            let spots = files::draw(buffer, area, app, theme);
            app.spots.extend(spots);
        }
        Some(Overlay::Help(from)) => pages::help(buffer, area, &app.keys, from, theme),
        Some(Overlay::Quit) => pages::quit(buffer, area, app, theme),
        Some(Overlay::Notes) => note_list::draw(buffer, area, app, theme),
        Some(Overlay::History) => history::draw(buffer, area, app, theme),
        Some(Overlay::Changes) | None => {}
    }
    rest
}

/// The text of the window's title, if there is to be one.
pub fn title(app: &App) -> String {
    match app.view() {
        None => "pillion".to_owned(),
        Some(view) => format!(
            "pillion: {} pending, {}",
            app.views.len(),
            view.target.shown
        ),
    }
}

/// Puts a line at a place, cut at the edge, in place of what stands there. Its style ends where its
/// text does.
fn put(buffer: &mut Buffer, area: Rect, line: &Line<'_>) {
    let area = Rect { height: 1, ..area }.intersection(buffer.area);
    let end = area.x + narrow(line.width()).min(area.width);
    for x in area.x..end {
        buffer[(x, area.y)].reset();
    }
    buffer.set_line(area.x, area.y, line, area.width);
}

/// Writes a text at a place, over what stands there, cut at the edge.
fn write(buffer: &mut Buffer, area: Rect, text: impl AsRef<str>, style: Style) {
    buffer.set_stringn(area.x, area.y, text, usize::from(area.width), style);
}

/// A text in rows of so many columns, at most `count`. The last has all that has no row of its own.
fn wrapped(text: &str, columns: usize, count: u16) -> Vec<String> {
    let count = usize::from(count);
    let rows = wrap::rows(text, columns).into_iter().take(count);
    let rows = rows.enumerate().map(|(at, row)| match at + 1 == count {
        true => visible::head(&text[row.start..], columns),
        false => text[row].to_owned(),
    });
    rows.collect()
}

/// An area without so many columns at its left.
fn indented(area: Rect, columns: usize) -> Rect {
    right_end(area, usize::from(area.width).saturating_sub(columns))
}

/// The last so many columns of an area.
fn right_end(area: Rect, columns: usize) -> Rect {
    let width = narrow(columns).min(area.width);
    Rect {
        x: area.right() - width,
        width,
        ..area
    }
}

/// The rows that there is room for, with the one at `at` among them, and their numbers.
fn around<T>(rows: &[T], at: usize, height: usize) -> impl Iterator<Item = (usize, &T)> {
    let top = at
        .saturating_sub(height / 2)
        .min(rows.len().saturating_sub(height));
    rows.iter().enumerate().skip(top).take(height)
}

/// A number of columns as a coordinate.
fn narrow(columns: usize) -> u16 {
    u16::try_from(columns).unwrap_or(u16::MAX)
}

/// Fills a row with one character.
fn fill(buffer: &mut Buffer, area: Rect, symbol: &str, style: Style) {
    let area = area.intersection(buffer.area);
    for place in area.positions() {
        buffer[place].set_symbol(symbol).set_style(style);
    }
}

#[cfg(test)]
pub(crate) mod tests;
