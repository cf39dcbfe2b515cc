//! Draws the rows of the diff that are in view.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::review::app::App;
use crate::review::geometry::{DIVIDER, MARK, SIGN};
use crate::review::rows::{Layout, Row};
use crate::review::screen::line::{TextLine, Window};
use crate::review::screen::narrow;
use crate::review::screen::theme::{Change, Theme};
use crate::review::view::{Port, STRIDE, Side, View};
use crate::review::words;
use crate::text::Text;
use crate::text::hunks::Mark;

/// Draws the current view. Answers whether colours are still being worked out.
pub fn draw(buffer: &mut Buffer, area: Rect, app: &mut App, theme: &Theme) -> bool {
    let Some(port) = app.port() else {
        return false;
    };
    let view = &mut app.views[app.current];
    if let Some(text) = instead(view) {
        buffer.set_stringn(
            area.x + 2,
            area.y,
            text,
            usize::from(area.width).saturating_sub(2),
            theme.muted,
        );
        return false;
    }
    let rows = view.visible(&port);
    let more = work(view, rows.clone());
    let shows_crlf = !is_all_crlf(view);
    let mut painter = Painter {
        view,
        port,
        theme,
        shows_crlf,
    };
    let mut y = i32::from(area.y) - i32::try_from(painter.view.top.sub).unwrap_or(0);
    for index in rows {
        let Some(row) = painter.view.rows().get(index) else {
            break;
        };
        let height = painter.view.height_of(index, &painter.port);
        for sub in 0..height {
            if let Ok(y) = u16::try_from(y)
                && (area.top()..area.bottom()).contains(&y)
            {
                painter.row(
                    buffer,
                    Rect {
                        y,
                        height: 1,
                        ..area
                    },
                    row,
                    sub,
                );
            }
            y += 1;
            if y >= i32::from(area.bottom()) {
                break;
            }
        }
    }
    more
}

/// What stands where the diff would, if there is none to be seen.
fn instead(view: &View) -> Option<String> {
    if view.is_comparing() {
        return Some("comparing…".to_owned());
    }
    let (why, _) = view.proposal.hidden_after()?;
    Some(format!("not shown: {why}"))
}

/// Works on the colours of the rows in view.
fn work(view: &mut View, rows: Range<usize>) -> bool {
    let (mut left, mut right) = (0, 0);
    for row in rows.rev().filter_map(|row| view.rows().get(row)) {
        let lines = match row {
            Row::Fold(_) => (None, None),
            Row::Same { left, right } => (Some(left), Some(right)),
            Row::Changed { left, right, .. } => (left, right),
        };
        left = left.max(lines.0.unwrap_or(0));
        right = right.max(lines.1.unwrap_or(0));
    }
    view.paint.work(&view.proposal, left, right)
}

/// A text whose every line ends in `\r\n` needs no marks for it.
fn is_all_crlf(view: &View) -> bool {
    let is_crlf = |text: &Text| text.len() == 0 || text.is_crlf();
    is_crlf(view.proposal.before()) && is_crlf(view.proposal.after())
}

struct Painter<'a> {
    view: &'a mut View,
    port: Port,
    theme: &'a Theme,
    shows_crlf: bool,
}

/// One side of a row: which line it is, and what is special about it.
struct Cell {
    side: Side,
    line: usize,
    change: Option<Change>,
    changed: words::Ranges,
    is_out: bool,
}

impl Painter<'_> {
    fn row(&mut self, buffer: &mut Buffer, area: Rect, row: Row, sub: usize) {
        match row {
            Row::Fold(lines) => self.fold(buffer, area, lines),
            Row::Same { left, right } => {
                let same = |side, line| Cell {
                    side,
                    line,
                    change: None,
                    changed: Vec::new(),
                    is_out: false,
                };
                match self.port.columns.layout {
                    Layout::SideBySide => {
                        let cells = [Some(same(Side::Left, left)), Some(same(Side::Right, right))];
                        self.side_by_side(buffer, area, cells, sub);
                    }
                    Layout::Unified => {
                        let numbers = (Some(left), Some(right));
                        self.unified(buffer, area, &same(Side::Right, right), numbers, sub);
                    }
                }
            }
            Row::Changed {
                hunk,
                left,
                right,
                pair,
            } => {
                let is_out = self.view.proposal.hunks()[hunk].out;
                self.mark(buffer, area, hunk, is_out, sub);
                self.second_mark(buffer, area, hunk, sub);
                let (removed, added) = self.words(pair);
                let theme = self.theme;
                let left = left.map(|line| Cell {
                    side: Side::Left,
                    line,
                    change: Some(theme.removed),
                    changed: removed,
                    is_out,
                });
                let right = right.map(|line| Cell {
                    side: Side::Right,
                    line,
                    change: Some(theme.added),
                    changed: added,
                    is_out,
                });
                match self.port.columns.layout {
                    Layout::SideBySide => self.side_by_side(buffer, area, [left, right], sub),
                    Layout::Unified => {
                        for cell in [left, right].iter().flatten() {
                            let number = Some(cell.line);
                            let numbers = match cell.side {
                                Side::Left => (number, None),
                                Side::Right => (None, number),
                            };
                            self.unified(buffer, area, cell, numbers, sub);
                        }
                    }
                }
            }
        }
    }

    /// The mark at the edge: which hunk is the current one, and which are taken out.
    fn mark(&self, buffer: &mut Buffer, area: Rect, hunk: usize, is_out: bool, sub: usize) {
        let is_current = hunk == self.view.hunk;
        let (symbol, style) = match (is_out && sub == 0, is_current) {
            (true, true) => ("✗", self.theme.current),
            (true, false) => ("✗", self.theme.out),
            (false, true) => ("▌", self.theme.current),
            (false, false) => return,
        };
        buffer[(area.x, area.y)].set_symbol(symbol).set_style(style);
    }

    /// The mark beside it: which hunks are not as the reviewer knows them.
    fn second_mark(&self, buffer: &mut Buffer, area: Rect, hunk: usize, sub: usize) {
        let symbol = match self.view.proposal.hunks()[hunk].mark {
            Some(Mark::New | Mark::Changed) if sub == 0 => "*",
            Some(Mark::Reverts | Mark::Conflict) if sub == 0 => "!",
            _ => return,
        };
        let area = indented(area, 1);
        buffer.set_stringn(
            area.x,
            area.y,
            symbol,
            usize::from(area.width),
            self.theme.warning,
        );
    }

    fn words(&self, pair: Option<(usize, usize)>) -> (words::Ranges, words::Ranges) {
        let changed = pair.and_then(|(left, right)| {
            let left = self.view.proposal.before().shown(left);
            let right = self.view.proposal.after().shown(right);
            words::changed(TextLine::content(&left), TextLine::content(&right))
        });
        changed.unwrap_or_default()
    }

    fn fold(&self, buffer: &mut Buffer, area: Rect, lines: usize) {
        let text = format!("⋯ {lines} unchanged lines");
        let indent = MARK + self.port.columns.left_number + SIGN;
        let area = indented(area, indent);
        buffer.set_stringn(
            area.x,
            area.y,
            text,
            usize::from(area.width),
            self.theme.fold,
        );
    }

    fn side_by_side(
        &mut self,
        buffer: &mut Buffer,
        area: Rect,
        cells: [Option<Cell>; 2],
        sub: usize,
    ) {
        let columns = self.port.columns;
        let left_width = narrow(MARK + columns.left_number + SIGN + columns.left_text);
        let left = Rect {
            width: left_width.min(area.width),
            ..area
        };
        let left = indented(left, MARK);
        let right = indented(area, usize::from(left_width) + DIVIDER);
        buffer.set_string(area.x + left_width, area.y, "│", self.theme.missing);
        let [left_cell, right_cell] = cells;
        for (area, cell, digits) in [
            (left, left_cell, columns.left_number),
            (right, right_cell, columns.right_number),
        ] {
            match cell {
                None => super::fill(buffer, area, "╱", self.theme.missing),
                Some(cell) => {
                    let number = number(cell.line, digits, sub);
                    let room = usize::from(area.width);
                    buffer.set_stringn(area.x, area.y, number, room, self.number_style(&cell));
                    self.text(buffer, indented(area, digits), &cell, sub);
                }
            }
        }
    }

    fn unified(
        &mut self,
        buffer: &mut Buffer,
        area: Rect,
        cell: &Cell,
        numbers: (Option<usize>, Option<usize>),
        sub: usize,
    ) {
        let columns = self.port.columns;
        let shown = |line: Option<usize>, digits| match line {
            Some(line) => number(line, digits, sub),
            None => " ".repeat(digits),
        };
        let left = shown(numbers.0, columns.left_number);
        let right = shown(numbers.1, columns.right_number);
        let numbers = format!("{left} {right}");
        let area = indented(area, MARK);
        let style = self.number_style(cell);
        buffer.set_stringn(area.x, area.y, &numbers, usize::from(area.width), style);
        self.text(buffer, indented(area, numbers.len()), cell, sub);
    }

    fn number_style(&self, cell: &Cell) -> Style {
        match cell.change {
            Some(change) if !cell.is_out => change.sign,
            _ => self.theme.muted,
        }
    }

    /// The sign and the text of one side.
    fn text(&mut self, buffer: &mut Buffer, area: Rect, cell: &Cell, sub: usize) {
        let base = self.base(cell);
        buffer.set_style(indented(area, 1), base);
        if let Some(change) = cell.change
            && sub == 0
        {
            let sign = if cell.side == Side::Left { "-" } else { "+" };
            let style = if cell.is_out {
                self.theme.out
            } else {
                base.patch(change.sign)
            };
            buffer.set_stringn(area.x + 1, area.y, sign, 1, style);
        }
        let area = indented(area, SIGN);
        let view = &mut *self.view;
        let text = match cell.side {
            Side::Left => view.proposal.before(),
            Side::Right => view.proposal.after(),
        };
        let shown = text.shown(cell.line);
        let content = TextLine::content(&shown);
        let window = if self.port.wrap {
            let breaks = view
                .paint
                .breaks(cell.side, cell.line, content, usize::from(area.width));
            let Some(from) = breaks.get(sub).copied() else {
                return;
            };
            Window {
                from,
                column: from.column,
                until: breaks.get(sub + 1).map(|next| next.byte),
            }
        } else {
            let breaks = view.paint.breaks(cell.side, cell.line, content, STRIDE);
            let after = breaks.partition_point(|place| place.column <= view.x);
            Window {
                from: breaks
                    .get(after.saturating_sub(1))
                    .copied()
                    .unwrap_or_default(),
                column: view.x,
                until: None,
            }
        };
        let is_live = cell.change.is_some() && !cell.is_out;
        let is_struck = cell.is_out && cell.side == Side::Right;
        let line = TextLine {
            text: &shown,
            base: if is_struck { self.theme.struck } else { base },
            spans: if cell.is_out {
                &[]
            } else {
                view.paint.spans(cell.side, cell.line)
            },
            changed: if is_live { &cell.changed } else { &[] },
            word: cell.change.map_or_else(Style::new, |change| change.word),
            spaces: cell
                .change
                .filter(|_| cell.side == Side::Right && is_live)
                .map(|change| change.spaces),
            shows_crlf: self.shows_crlf,
            shows_no_newline: cell.change.is_some(),
        };
        line.draw(buffer, area, &window, self.theme);
    }

    fn base(&self, cell: &Cell) -> Style {
        match cell.change {
            None => Style::new(),
            Some(_) if cell.is_out => self.theme.out,
            Some(change) => change.line,
        }
    }
}

fn number(line: usize, digits: usize, sub: usize) -> String {
    if sub > 0 {
        return " ".repeat(digits);
    }
    format!("{:>digits$}", line + 1)
}

fn indented(area: Rect, columns: usize) -> Rect {
    let columns = narrow(columns).min(area.width);
    Rect {
        x: area.x + columns,
        width: area.width - columns,
        ..area
    }
}
