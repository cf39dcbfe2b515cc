//! Draws what is below the diff: the last message, where the view stands, and the keys.

use pillion_judge::act::{Act, Place, commands};
use pillion_judge::listed::ChangesRow;
use pillion_judge::marks;
use pillion_judge::rows::Layout;
use pillion_text::counted;
use pillion_text::visible::{self, width};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::app::{App, Tone};
use crate::geometry::{self, Geometry, SIDE_BY_SIDE};
use crate::screen::theme::Theme;
use crate::screen::{fill, indented, put, right_end, wrapped};
use crate::view::View;

/// Where there are fewer columns, what a hunk lies in is left out.
const MIN_HEADING: usize = 12;

/// Draws the lines below the diff.
pub fn draw(buffer: &mut Buffer, geometry: &Geometry, app: &App, theme: &Theme) {
    status(buffer, geometry.status, app, theme);
    keys(buffer, geometry.footer, app, theme);
}

fn status(buffer: &mut Buffer, area: Rect, app: &App, theme: &Theme) {
    let first = Rect { height: 1, ..area };
    fill(buffer, first, "─", theme.missing);
    let message = message(app, theme).or_else(|| enclosing(app, theme));
    let room = geometry::message_room(area.width);
    let position = position(app);
    let needed = message.as_ref().map_or(0, |(text, _)| width(text) + 3);
    // A message may name the place of a text: it is worth more than the position.
    let taken = width(&position) + 4;
    if !position.is_empty() && needed + taken <= room {
        let position = Line::styled(format!(" {position} "), theme.muted);
        put(buffer, right_end(first, taken), &position);
    }
    if let Some((text, style)) = message {
        rows(buffer, area, &text, room, style);
    }
}

/// Puts a text into as many rows as there are.
fn rows(buffer: &mut Buffer, area: Rect, text: &str, room: usize, style: Style) {
    for (y, row) in (area.top()..).zip(wrapped(text, room, area.height)) {
        let spans = [Span::raw(" "), Span::styled(row, style), Span::raw(" ")];
        put(
            buffer,
            indented(Rect { y, ..area }, 2),
            &Line::from_iter(spans),
        );
    }
}

/// What the current hunk lies in, where there is nothing else to say.
fn enclosing(app: &App, theme: &Theme) -> Option<(String, Style)> {
    let view = app.view().filter(|_| app.changes().is_none())?;
    let heading = view.enclosing(view.current_hunk()?.after.start)?;
    let room = geometry::message_room(app.size.width);
    let room = room.saturating_sub(width(&position(app)) + 7);
    let heading = visible::head(&visible::one_line(heading), room);
    (room > MIN_HEADING).then_some((heading, theme.muted))
}

fn message(app: &App, theme: &Theme) -> Option<(String, Style)> {
    let (text, tone) = app.line()?;
    let style = match tone {
        Tone::Info => theme.info,
        Tone::Good => theme.good,
        Tone::Warning => theme.warning,
    };
    Some((visible::one_line(&text), style))
}

/// The cases in which agents ask, and the place of the view in the diff.
fn position(app: &App) -> String {
    if let Some(page) = app.changes() {
        let (rows, at) = (page.rows(), page.at());
        let state = match rows.get(at) {
            Some(ChangesRow::Change(change)) => format!("{} · ", change.label),
            Some(ChangesRow::Turn(_)) | None => String::new(),
        };
        let count = rows.len();
        let at = format!("{state}{}/{count}", (at + 1).min(count));
        return match page.left_out() {
            0 => at,
            more => format!("{at}, {more} more: pillion changes"),
        };
    }
    let review = app.status.review.as_ref();
    let decided = app.status.decided.as_ref().map(|it| it.text.clone());
    let mut parts: Vec<_> = review.map(|it| it.label.clone()).into_iter().collect();
    parts.extend(decided);
    let Some(view) = app.view() else {
        return parts.join(" · ");
    };
    let hunks = view.proposal.hunks().len();
    let rows = view.rows().count();
    let height = usize::from(app.geometry().body.height);
    if app.views.len() > 1 {
        parts.push(format!("diff {}", view.diff.id));
    }
    if view.x > 0 {
        parts.push(format!("column {}", view.x + 1));
    }
    if hunks > 0 {
        let mark = view.current_hunk().and_then(|hunk| hunk.mark);
        let white = view.white.get(view.hunk) == Some(&true);
        let mark = mark.map(marks::name).or(white.then_some("whitespace only"));
        let mark = mark.map_or_else(String::new, |mark| format!(" ({mark})"));
        parts.push(format!("hunk {}/{hunks}{mark}", view.hunk + 1));
    }
    match view.hunk_notes.len() {
        0 => {}
        notes => parts.push(counted(notes, "note")),
    }
    let seen = view.seen_hunks();
    if seen.seen < seen.of {
        parts.push(format!("seen {}/{}", seen.seen, seen.of));
    }
    if view.top == Default::default() {
        parts.extend((rows > height).then(|| "top".to_owned()));
    } else {
        let percent = (view.top.row + height).min(rows) * 100 / rows.max(1);
        parts.push(format!("{percent}%"));
    }
    parts.join(" · ")
}

fn keys(buffer: &mut Buffer, area: Rect, app: &App, theme: &Theme) {
    let all = wanted(app);
    // Nothing needs to follow the last one.
    let mut room = usize::from(area.width) + 1;
    let mut kept = vec![false; all.len()];
    let mut order: Vec<_> = (0..all.len()).collect();
    order.sort_by_key(|at| all[*at].2);
    for at in order {
        let (key, what, _) = &all[at];
        let taken = width(key) + width(what) + 3;
        if taken <= room {
            room -= taken;
            kept[at] = true;
        }
    }
    let mut spans = vec![Span::raw(" ")];
    for ((key, what, _), _) in all.iter().zip(&kept).filter(|(_, kept)| **kept) {
        spans.push(Span::styled(key.clone(), theme.key));
        spans.push(Span::raw(" "));
        spans.push(Span::styled(*what, theme.muted));
        spans.push(Span::raw("  "));
    }
    put(buffer, area, &Line::from(spans));
}

/// A key, what it does in a word or two, and how soon it gives way when there is no room.
type Hint = (String, &'static str, i8);

/// The commands that are of use now, in the order of their table, and last what is said of all.
fn wanted(app: &App) -> Vec<Hint> {
    if let Some((enter, esc)) = app.enter_and_esc_do() {
        let mut hints = vec![("Enter".to_owned(), enter, 0), ("Esc".to_owned(), esc, 0)];
        if app.types_lines() {
            hints.push((app.keys.name(Act::EditWords), "in your editor", 1));
        }
        return hints;
    }
    let place = match app.changes() {
        Some(_) => Place::List,
        None => Place::Diff,
    };
    let held = commands().filter(|command| command.places.contains(&place));
    let hints = held.filter_map(|command| {
        let (word, rank) = command.hint?;
        let word = match place {
            Place::List => word_in_list(app, command.act, word),
            _ => word_on_diff(app, command.act, word),
        }?;
        let is_undoable = app.view().is_some_and(|view| view.acts() > 0);
        let rank = match command.act {
            Act::Undo if is_undoable => 1,
            Act::List if app.view().is_some() => 2,
            _ => rank,
        };
        let key = app.keys.name(command.act);
        let beside = match (command.act, place, &app.search) {
            (Act::Next, Place::Diff, Some(_)) => Some(Act::PreviousHit),
            (Act::Next, Place::Diff, None) => Some(Act::Previous),
            _ => None,
        };
        let key = beside.map_or(key.clone(), |act| format!("{key}/{}", app.keys.name(act)));
        Some((key, word, rank))
    });
    hints.collect()
}

fn word_in_list(app: &App, act: Act, word: &'static str) -> Option<&'static str> {
    match act {
        Act::List if app.views.is_empty() => Some("close"),
        Act::List => Some("diffs"),
        Act::Next => Some("next"),
        _ => Some(word),
    }
}

/// The word for a command on the page of a diff, if it is of use there now.
fn word_on_diff(app: &App, act: Act, word: &'static str) -> Option<&'static str> {
    let word_if = |is_useful: bool| is_useful.then_some(word);
    match (act, app.view()) {
        (Act::SendNotes, _) => word_if(!app.status.waiting.is_empty()),
        (Act::Help | Act::Quit, _) => Some(word),
        (Act::List, None) => word_if(app.status.unseen > 0),
        (Act::List, Some(_)) => (app.status.unseen > 0).then_some("written"),
        (Act::Mode, None) => word_if(app.status.review.is_some()),
        (Act::Mode, _) | (_, None) => None,
        (act, Some(view)) => word_on_view(app, view, act, word),
    }
}

fn word_on_view(app: &App, view: &View, act: Act, word: &'static str) -> Option<&'static str> {
    let is_written = view.diff.written.is_some();
    let has_folds = view.rows().folds().next().is_some();
    let either = |is_other: bool, other| Some(if is_other { other } else { word });
    match act {
        Act::AcceptSeen => (app.all_seen().nth(1).is_some()).then_some(word),
        Act::Reject => either(is_written, "leave"),
        Act::Reason => is_written.then_some("take back"),
        Act::Exclude => {
            let is_out = view.current_hunk().is_some_and(|hunk| hunk.out);
            Some(match (app.selected().is_some(), is_out) {
                (true, _) => "exclude or include",
                (false, true) => "include",
                (false, false) => word,
            })
        }
        Act::Next => either(app.search.is_some(), "hit"),
        Act::NextDiff | Act::Files => (app.views.len() > 1).then_some(word),
        Act::Stage => is_written.then_some(word),
        Act::Layout if view.is_one_sided() || app.body_width() < SIDE_BY_SIDE => None,
        Act::Layout => either(app.layout_of(view) == Layout::Unified, "side by side"),
        Act::More => has_folds.then_some(word),
        Act::Unfold => (view.is_unfolded() && !has_folds).then_some(word),
        Act::Wrap => either(app.wrap, "cut lines"),
        _ => Some(word),
    }
}
