//! Draws the pending diffs as a list.

use pillion_judge::Disk;
use pillion_text::visible;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::pages::panel;
use super::theme::Theme;
use super::{agents, around};
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
    let count = view.proposal.count();
    let seen = view.seen_hunks();
    let (seen, seen_style) = match () {
        () if view.is_comparing() => ("…".to_owned(), theme.muted),
        () if seen.of == 0 => (String::new(), theme.muted),
        () if seen.seen == seen.of => ("seen".to_owned(), theme.good),
        () => (format!("{}/{}", seen.seen, seen.of), theme.warning),
    };
    let rest = visible::one_line(&format!("{agent}{}", state(view)));
    let path = visible::tail(
        &view.target.shown,
        room.saturating_sub(visible::width(&rest)).max(room / 2),
    );
    let rest = visible::head(&rest, room.saturating_sub(visible::width(&path)));
    let added = format!("+{}", count.added);
    let removed = format!("−{}", count.removed);
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
