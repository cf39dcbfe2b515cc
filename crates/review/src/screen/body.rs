//! Draws the rows of the diff that are in view.

use std::ops::Range;

use pillion_judge::Elsewhere;
use pillion_judge::highlight::ColourRequest;
use pillion_judge::proposal::Side;
use pillion_judge::rows::{Layout, Row};
use pillion_judge::white;
use pillion_text::Text;
use pillion_text::hunks::Mark;
use pillion_text::visible;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use crate::app::{App, Search, Spot};
use crate::geometry::{DIVIDER, MARK, SIGN};
use crate::screen::line::TextLine;
use crate::screen::theme::{Change, Theme};
use crate::screen::{Rest, indented, narrow, write};
use crate::view::{Changed, LineOf, RowPart, View, Viewport};

/// The mark at the edge of the line that keys mean.
const CURSOR: &str = "❯";

/// Longer lines are not compared again for each frame.
const MAX_WHITE: usize = 16 << 10;

/// Draws the current view. Answers what it lacks.
pub fn draw(buffer: &mut Buffer, area: Rect, app: &mut App, theme: &Theme) -> Rest {
    let Some(viewport) = app.viewport() else {
        return Rest::default();
    };
    let (search, dragged) = (app.search.clone(), app.dragged());
    let selected = app.selected().unwrap_or_default();
    let (view, spots) = (&mut app.views[app.current], &mut app.spots);
    if let Some(text) = instead(view) {
        write(buffer, indented(area, 2), text, theme.muted);
        return Rest::default();
    }
    view.paint.refill();
    let rows = view.visible(&viewport);
    let colours = wanted(view, rows.clone(), viewport.columns.layout);
    let shows_crlf = !is_all_crlf(view);
    let mut painter = Painter {
        view,
        viewport,
        theme,
        search,
        dragged: None,
        is_selected: false,
        shows_crlf,
        is_unfinished: false,
    };
    let mut lines = area.rows();
    let mut above = painter.view.top.sub;
    for index in rows {
        let Some(row) = painter.view.rows().get(index) else {
            break;
        };
        let height = painter.view.height_of(index, &painter.viewport);
        painter.dragged = dragged
            .as_ref()
            .filter(|it| it.0.contains(&index))
            .map(|it| it.1);
        painter.is_selected = selected.contains(&index);
        let first = above;
        for (sub, line) in (above..height).zip(&mut lines) {
            spots.push((line, Spot::Row(index)));
            painter.row(buffer, line, row, sub);
            if index == painter.view.cursor && sub == first {
                painter.cursor(buffer, line);
            } else if painter.is_selected {
                write(buffer, line, "█", theme.current);
            }
        }
        above = 0;
    }
    Rest {
        colours,
        is_unfinished: painter.is_unfinished,
    }
}

/// The text in place of a diff that cannot be shown.
fn instead(view: &View) -> Option<String> {
    if view.is_comparing() {
        return Some("comparing…".to_owned());
    }
    let is_hidden = view.proposal.hidden_after().is_some();
    is_hidden.then(|| "not shown: binary".to_owned())
}

/// The colours that the rows in view lack.
fn wanted(view: &View, rows: Range<usize>, layout: Layout) -> Option<ColourRequest> {
    let (mut left, mut right) = (0..0, 0..0);
    for row in rows.filter_map(|row| view.rows().get(row)) {
        let lines = row.drawn(layout);
        extend(&mut left, lines.0);
        extend(&mut right, lines.1);
    }
    let lacks = |side, lines: &Range<usize>| {
        let last = lines.end.checked_sub(1);
        last.is_some_and(|line| view.paint.lacks_colours(side, line))
    };
    if !lacks(Side::Left, &left) && !lacks(Side::Right, &right) {
        return None;
    }
    let (before, after) = view.proposal.shared();
    Some(ColourRequest {
        texts: view.texts(),
        path: view.target.path.clone(),
        before,
        after,
        left,
        right,
    })
}

/// Adds a line below others.
fn extend(lines: &mut Range<usize>, line: Option<usize>) {
    if let Some(line) = line {
        let start = if lines.end == 0 { line } else { lines.start };
        *lines = start..line + 1;
    }
}

/// A text whose every line ends in `\r\n` needs no marks for it.
fn is_all_crlf(view: &View) -> bool {
    let is_crlf = |text: &Text| text.is_empty() || text.is_crlf();
    is_crlf(view.proposal.before()) && is_crlf(view.proposal.after())
}

struct Painter<'a> {
    view: &'a mut View,
    viewport: Viewport,
    theme: &'a Theme,
    search: Option<Search>,
    /// The side of the row that is being dragged over.
    dragged: Option<Side>,
    /// The row is selected.
    is_selected: bool,
    shows_crlf: bool,
    /// True if something is left to the next frame.
    is_unfinished: bool,
}

/// One side of a row: which line it is, and what is special about it.
struct Cell {
    side: Side,
    line: usize,
    change: Option<Change>,
    moved: Option<Elsewhere>,
    changed: Option<Changed>,
    is_out: bool,
    /// It is dragged over, or selected.
    is_marked: bool,
    /// It differs from the other side in whitespace only.
    is_white: bool,
    /// It gets U+FFFD in place of its characters.
    is_unreadable: bool,
}

impl Cell {
    fn changed(&self) -> &[Range<usize>] {
        let changed = self.changed.as_deref();
        changed.map_or(&[], |(left, right)| self.side.of((left, right)))
    }
}

impl Painter<'_> {
    fn row(&mut self, buffer: &mut Buffer, area: Rect, row: Row, sub: usize) {
        let (mut is_out, mut changed, mut is_white) = (false, None, false);
        match row {
            Row::Fold { right, lines, .. } => {
                return self.fold(buffer, area, lines, right + lines);
            }
            Row::Note(note) => return self.note(buffer, area, note),
            Row::Same { .. } => {}
            Row::Changed { hunk, pair, .. } => {
                is_out = self.view.proposal.hunks()[hunk].out;
                self.mark(buffer, area, hunk, is_out, sub);
                self.second_mark(buffer, area, hunk, sub);
                changed = if is_out { None } else { self.words(pair) };
                is_white = pair.is_some_and(|pair| self.is_white(pair));
            }
        }
        let theme = self.theme;
        let is_changed = matches!(row, Row::Changed { .. });
        let lines = row.lines();
        let dragged = self
            .dragged
            .filter(|side| side.of((&lines.0, &lines.1)).is_some());
        // Unified, a line that is the same on both sides is drawn once.
        let is_unified = self.viewport.columns.layout == Layout::Unified;
        let is_selected = self.is_selected;
        let (unreadable, moved) = (&self.view.unreadable, &self.view.moved);
        let cell = |side: Side, line: Option<usize>| {
            let moved = moved.of(side, line?).filter(|_| is_changed && !is_out);
            let change = match moved {
                Some(_) => theme.moved,
                None => side.of((theme.removed, theme.added)),
            };
            Some(Cell {
                side,
                line: line?,
                change: is_changed.then_some(change),
                moved,
                changed: changed.clone(),
                is_out,
                is_marked: is_selected || dragged.is_some_and(|it| is_unified || it == side),
                is_white,
                is_unreadable: side == Side::Right && unreadable.contains(&line?),
            })
        };
        let (left, right) = (cell(Side::Left, lines.0), cell(Side::Right, lines.1));
        match self.viewport.columns.layout {
            Layout::SideBySide => self.side_by_side(buffer, area, [left, right], sub),
            // Of a line that is the same on both sides one is shown, with both numbers.
            Layout::Unified => {
                if let Some(cell) = right.or(left) {
                    self.unified(buffer, area, &cell, lines, sub);
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

    /// The mark of the cursor, beside which an excluded hunk still says so.
    fn cursor(&self, buffer: &mut Buffer, area: Rect) {
        let is_out = buffer[(area.x, area.y)].symbol() == "✗";
        write(buffer, area, CURSOR, self.theme.current);
        if is_out && buffer[(area.x + 1, area.y)].symbol() != "!" {
            write(buffer, indented(area, 1), "✗", self.theme.current);
        }
    }

    /// The mark beside it: which hunks are not as the reviewer knows them, or were not on the screen as a whole.
    fn second_mark(&self, buffer: &mut Buffer, area: Rect, hunk: usize, sub: usize) {
        let symbol = match self.view.proposal.hunks()[hunk].mark {
            Some(Mark::New | Mark::Changed) if sub == 0 => "*",
            Some(Mark::Reverts | Mark::Conflict | Mark::Overwrites) if sub == 0 => "!",
            _ if sub == 0 && !self.view.has_seen(hunk) => "·",
            _ => return,
        };
        write(buffer, indented(area, 1), symbol, self.theme.warning);
    }

    fn words(&mut self, pair: Option<(usize, usize)>) -> Option<Changed> {
        let view = &mut *self.view;
        let changed = view.paint.words_in_budget(&view.judged.proposal, pair?);
        self.is_unfinished |= changed.is_none();
        changed
    }

    /// Returns true if two lines differ in whitespace only.
    fn is_white(&self, pair: (usize, usize)) -> bool {
        let proposal = &self.view.proposal;
        let (left, right) = (
            proposal.before().line(pair.0),
            proposal.after().line(pair.1),
        );
        left.len().max(right.len()) <= MAX_WHITE && white::is_same(left, right)
    }

    /// A row in place of unchanged lines, with what the first line below them lies in.
    fn fold(&self, buffer: &mut Buffer, area: Rect, lines: usize, below: usize) {
        let indent = MARK + self.viewport.columns.left_number + SIGN;
        let area = indented(area, indent);
        let folded = format!("⋯ {lines} unchanged lines");
        write(buffer, area, &folded, self.theme.fold);
        if let Some(heading) = self.view.enclosing(below) {
            let area = indented(area, visible::width(&folded));
            let heading = visible::one_line(heading);
            let heading = visible::head(&heading, usize::from(area.width).saturating_sub(3));
            write(buffer, area, format!(" · {heading}"), self.theme.muted);
        }
    }

    /// A note below the last of its lines, as far as there is room: the line below the diff has all of the one at the cursor.
    fn note(&self, buffer: &mut Buffer, area: Rect, note: usize) {
        let Some(note) = self.view.hunk_notes.get(note) else {
            return;
        };
        let lines = note.lines_in(&self.view.proposal);
        let on = match (note.is_on_file, lines.len()) {
            (true, _) => " on the file".to_owned(),
            (false, 1) => String::new(),
            (false, _) => format!(" on {} to {}", lines.start + 1, lines.end),
        };
        let area = indented(area, MARK + self.viewport.columns.left_number + SIGN);
        let text = visible::one_line(&format!("note{on}: {}", note.says(&self.view.proposal)));
        let text = visible::head(&text, usize::from(area.width));
        write(buffer, area, text, self.theme.info);
    }

    fn side_by_side(
        &mut self,
        buffer: &mut Buffer,
        area: Rect,
        cells: [Option<Cell>; 2],
        sub: usize,
    ) {
        let columns = self.viewport.columns;
        let left_width = narrow(columns.left_width());
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
                    write(buffer, area, number, self.number_style(&cell));
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
        let columns = self.viewport.columns;
        let shown = |line: Option<usize>, digits| match line {
            Some(line) => number(line, digits, sub),
            None => " ".repeat(digits),
        };
        let left = shown(numbers.0, columns.left_number);
        let right = shown(numbers.1, columns.right_number);
        let numbers = format!("{left} {right}");
        let area = indented(area, MARK);
        write(buffer, area, &numbers, self.number_style(cell));
        self.text(buffer, indented(area, numbers.len()), cell, sub);
    }

    /// The style of a line's number, which also tells of hits that are not in sight.
    fn number_style(&self, cell: &Cell) -> Style {
        let proposal = &self.view.proposal;
        let is_hit = self.search.as_ref().is_some_and(|search| {
            let line = LineOf::new(proposal, cell.side, cell.line);
            !search.in_line(line.content).is_empty()
        });
        if is_hit {
            return self.theme.hit;
        }
        let style = match cell.change {
            Some(_) if cell.is_unreadable => self.theme.removed.sign,
            Some(change) if !cell.is_out => change.sign,
            _ => self.theme.muted,
        };
        match cell.is_marked {
            true => style.add_modifier(Modifier::REVERSED),
            false => style,
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
            write(buffer, indented(area, 1), sign, style);
            if let Some(moved) = cell.moved {
                let arrow = if moved.line > cell.line { "↓" } else { "↑" };
                write(buffer, area, arrow, base.patch(change.sign));
            }
        }
        let area = indented(area, SIGN);
        let view = &mut *self.view;
        let shown = view.judged.proposal.side(cell.side).shown(cell.line);
        let line_of = LineOf::new(&view.judged.proposal, cell.side, cell.line);
        let sight = if self.viewport.wrap {
            let width = usize::from(area.width);
            view.paint.wrapped_row(line_of, width, sub)
        } else {
            view.paint.cut_at(line_of, view.x)
        };
        let window = match sight {
            RowPart::Part(window) => window,
            RowPart::Nothing => return,
            RowPart::Later => {
                self.is_unfinished = true;
                return;
            }
            RowPart::TooLong(bytes) => {
                let mark = format!("⟨{bytes} bytes more: w cuts lines⟩");
                write(buffer, area, mark, base.patch(self.theme.stand_in));
                return;
            }
        };
        let is_live = cell.change.is_some() && !cell.is_out;
        let is_struck = cell.is_out && cell.side == Side::Right;
        let search = self.search.as_ref();
        let line = TextLine {
            text: shown,
            hits: search.map_or_else(Vec::new, |search| search.in_line(line_of.content)),
            base: if is_struck { self.theme.struck } else { base },
            spans: if cell.is_out {
                &[]
            } else {
                view.paint.spans(cell.side, cell.line)
            },
            changed: if is_live { cell.changed() } else { &[] },
            word: cell.change.map_or_else(Style::new, |change| change.word),
            spaces: cell
                .change
                .filter(|_| (cell.side == Side::Right || cell.is_white) && is_live)
                .map(|change| change.spaces),
            shows_spaces: cell.is_white,
            unreadable: cell.is_unreadable.then_some(self.theme.removed.sign),
            shows_crlf: self.shows_crlf,
            shows_no_newline: cell.change.is_some(),
            moved: cell.moved.and_then(|moved| moved_mark(cell.side, moved)),
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

/// What the first line of a block says that stands elsewhere.
fn moved_mark(side: Side, moved: Elsewhere) -> Option<String> {
    let way = side.of(("to", "from"));
    let line = moved.line + 1;
    moved.is_first.then(|| format!("moved {way} line {line}"))
}

fn number(line: usize, digits: usize, sub: usize) -> String {
    if sub > 0 {
        return " ".repeat(digits);
    }
    format!("{:>digits$}", line + 1)
}
