//! Draws the pending diffs as a list: over everything else, where they are found by typing, or beside the diff.

use pillion_judge::Disk;
use pillion_text::visible;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::pages::panel;
use super::theme::Theme;
use super::{agents, around, put};
use pillion_judge::act::Act;

use crate::app::{App, Spot};
use crate::view::View;

/// Columns of the frame and of all that stands before the path.
const BEFORE_PATH: usize = 6 + 2 + 5 + 15 + 8;

/// Over everything else.
pub fn draw(buffer: &mut Buffer, area: Rect, app: &App, theme: &Theme) -> Vec<(Rect, Spot)> {
    let mut spots = vec![(area, Spot::Page)];
    let listed = app.listed_files();
    let height = usize::from(area.height.saturating_sub(2));
    let room = usize::from(area.width).saturating_sub(BEFORE_PATH);
    let are_several = agents::are_several(app);
    let chosen = app.chosen_file();
    let rows = around(&listed, chosen.unwrap_or_default(), height);
    let mut lines: Vec<_> = (area.top() + 1..)
        .zip(rows)
        .map(|(y, (at, view))| {
            let view = &app.views[*view];
            spots.push((
                Rect {
                    y,
                    height: 1,
                    ..area
                },
                Spot::Diff(view.diff.id),
            ));
            let agent = match are_several {
                true => format!("  {}", app.agent_name(view)),
                false => String::new(),
            };
            row(view, &agent, Some(at) == chosen, room, theme)
        })
        .collect();
    if lines.is_empty() {
        lines.push(Line::raw("No pending diff fits this."));
    }
    let filter = visible::one_line(&app.files.filter());
    let title = format!(
        " {} of {} pending · type to find: {filter} · Enter opens it · Esc ",
        listed.len(),
        app.views.len()
    );
    panel(buffer, area, &title, lines, 0, theme);
    spots
}

/// A diff, in a panel that has so many columns for its path and what follows.
fn row<'a>(view: &View, agent: &str, is_chosen: bool, room: usize, theme: &Theme) -> Line<'a> {
    let mark = match is_chosen {
        true => Span::styled("▶ ", theme.current),
        false => Span::raw("  "),
    };
    let (added, removed) = counts(view);
    let (seen, seen_style) = seen(view, theme);
    let rest = visible::one_line(&format!("{agent}{}", state(view)));
    let path = visible::tail(
        &view.target.shown,
        room.saturating_sub(visible::width(&rest)).max(room / 2),
    );
    let rest = visible::head(&rest, room.saturating_sub(visible::width(&path)));
    Line::from(vec![
        mark,
        Span::styled(format!("{:<5}", view.diff.id.to_string()), theme.muted),
        Span::styled(format!("{added:>7}"), theme.added.sign),
        Span::styled(format!(" {removed:<7}"), theme.removed.sign),
        Span::styled(format!("{seen:<8}"), seen_style),
        Span::styled(path, theme.strong),
        Span::styled(rest, theme.muted),
    ])
}

/// The lines that it adds and removes.
fn counts(view: &View) -> (String, String) {
    let count = view.proposal.count();
    (format!("+{}", count.added), format!("−{}", count.removed))
}

/// How much of it was seen.
fn seen(view: &View, theme: &Theme) -> (String, Style) {
    let seen = view.seen_hunks();
    match () {
        () if view.is_comparing() => ("…".to_owned(), theme.muted),
        () if seen.of == 0 => (String::new(), theme.muted),
        () if seen.seen == seen.of => ("seen".to_owned(), theme.good),
        () => (format!("{}/{}", seen.seen, seen.of), theme.warning),
    }
}

/// Beside the diff, around the one that is shown: a heading, and a row for each. Answers what is left of the area.
pub fn draw_beside(
    buffer: &mut Buffer,
    area: Rect,
    app: &App,
    theme: &Theme,
    spots: &mut Vec<(Rect, Spot)>,
) -> Rect {
    if app.views.len() < 2 {
        return area;
    }
    // The turns below have their half.
    let most = match app.pane().rows().is_empty() {
        true => area.height,
        false => area.height / 2,
    };
    let mut rows = area.rows().take(most.into());
    if let Some(row) = rows.next() {
        let key = |act| Span::styled(app.keys.name(act), theme.key);
        let word = |text| Span::styled(text, theme.muted);
        let count = format!("  {} pending  ", app.views.len());
        let spans = [
            Span::styled(count, theme.strong),
            key(Act::Files),
            word(" finds  "),
            key(Act::Pane),
            word(" hides it"),
        ];
        put(buffer, row, &Line::from_iter(spans));
    }
    let are_several = agents::are_several(app);
    let views: Vec<_> = app.views.iter().collect();
    let listed = around(&views, app.current, usize::from(most.saturating_sub(1)));
    let mut used = 1;
    for (row, (at, view)) in rows.zip(listed) {
        let agent = match are_several {
            true => format!(" ({})", app.short_agent_name(view)),
            false => String::new(),
        };
        let line = row_beside(view, &agent, at == app.current, row.width.into(), theme);
        put(buffer, row, &line);
        spots.push((row, Spot::Diff(view.diff.id)));
        used += 1;
    }
    Rect {
        y: area.y + used,
        height: area.height.saturating_sub(used),
        ..area
    }
}

/// A diff in so many columns: its number, the end of its path, its lines, and how much of it was seen.
fn row_beside<'a>(
    view: &View,
    agent: &str,
    is_shown: bool,
    width: usize,
    theme: &Theme,
) -> Line<'a> {
    let (added, removed) = counts(view);
    let (seen, seen_style) = seen(view, theme);
    let (mark, name) = match is_shown {
        true => (Span::styled("▶", theme.current), theme.strong),
        false => (Span::raw(" "), Style::new()),
    };
    let id = format!("{:<3} ", view.diff.id.to_string());
    let behind = format!(" {added} {removed} {seen:>5}");
    let room = width.saturating_sub(visible::width(&id) + visible::width(&behind) + 1);
    let path = visible::tail(&format!("{}{agent}", view.target.shown), room);
    let pad = " ".repeat(room.saturating_sub(visible::width(&path)) + 1);
    Line::from(vec![
        mark,
        Span::styled(id, theme.muted),
        Span::styled(path, name),
        Span::raw(pad),
        Span::styled(added, theme.added.sign),
        Span::raw(" "),
        Span::styled(removed, theme.removed.sign),
        Span::styled(format!(" {seen:>5}"), seen_style),
    ])
}

/// What is special about a diff, in words.
fn state(view: &View) -> String {
    let mut facts = Vec::new();
    if view.diff.written.is_some() {
        facts.push("written".to_owned());
    }
    if view.proposal.is_new_file() {
        facts.push("new".to_owned());
    }
    if view.diff.deletes {
        facts.push("deletes it".to_owned());
    }
    match view.proposal.count().out {
        0 => {}
        out => facts.push(format!("{out} excluded")),
    }
    if view.proposal.holds_edits() {
        facts.push("edited".to_owned());
    }
    if view.disk != Disk::Same {
        facts.push("changed on disk".to_owned());
    }
    match view.hunk_notes.len() {
        0 => {}
        notes => facts.push(pillion_text::counted(notes, "note")),
    }
    if view.deciding.is_some() {
        facts.push("being decided".to_owned());
    }
    if facts.is_empty() {
        return String::new();
    }
    format!("  {}", facts.join(", "))
}
