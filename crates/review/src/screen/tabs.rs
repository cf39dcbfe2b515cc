//! Draws the pending diffs, when there are several: which is shown, how many there are, what tells them apart, and
//! which belong together: ` 1 a.txt  [2 b.txt   3 c.txt] `.

use pillion_text::visible::{self, width};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use crate::app::{App, Spot};
use crate::screen::theme::Theme;
use crate::screen::{agents, narrow, put, right_end};
use crate::view::View;

/// A name in a tab has at most so many columns.
const MAX_NAME: usize = 28;

/// Draws as many tabs as there is room for, the current one among them.
pub fn draw(buffer: &mut Buffer, area: Rect, app: &App, theme: &Theme) -> Vec<(Rect, Spot)> {
    let count = app.views.len();
    let total = format!(" {}/{count} ", app.current + 1);
    let taken_before = width(&total) + 1;
    // The signs at both ends take a column each.
    let room = usize::from(area.width).saturating_sub(width(&total) + 2);
    let are_several = agents::are_several(app);
    let name = |at| tab(app, at, are_several);
    let current = name(app.current);
    let mut taken = width(&current) + 1;
    let mut tabs = std::collections::VecDeque::from([(app.current, current)]);
    let (mut first, mut end) = (app.current, app.current + 1);
    while let Some(before) = first.checked_sub(1) {
        let name = name(before);
        if taken + width(&name) + 1 > room {
            break;
        }
        taken += width(&name) + 1;
        tabs.push_front((before, name));
        first = before;
    }
    while end < count && taken < room {
        let name = name(end);
        taken += width(&name) + 1;
        tabs.push_back((end, name));
        end += 1;
    }
    let mut spans = vec![
        Span::styled(total, theme.muted),
        Span::styled(if first > 0 { "‹" } else { " " }, theme.muted),
    ];
    let mut clicks = Vec::new();
    let mut x = area.x + narrow(taken_before);
    for (at, name) in tabs {
        let width = narrow(width(&name));
        let tab = Rect { x, width, ..area }.intersection(area);
        clicks.push((tab, Spot::Diff(app.views[at].diff.id)));
        x = x.saturating_add(width + 1);
        let style = if at == app.current {
            theme.current.add_modifier(Modifier::REVERSED)
        } else {
            theme.muted
        };
        spans.push(Span::styled(name, style));
        spans.push(Span::raw(" "));
    }
    let line = Line::from(spans);
    let is_cut = line.width() > usize::from(area.width) || end < count;
    put(buffer, area, &line);
    if is_cut {
        let sign = Line::styled("›", theme.muted);
        put(buffer, right_end(area, 1), &sign);
    }
    clicks
}

fn tab(app: &App, at: usize, with_agent: bool) -> String {
    let view = &app.views[at];
    let name = visible::tail(distinct(app, view), MAX_NAME);
    let agent = if with_agent {
        format!(" ({})", app.short_agent_name(view))
    } else {
        String::new()
    };
    let set = |at: usize| Some(app.views.get(at)?.diff.set?.id);
    let is_beside =
        |other: Option<usize>| view.diff.set.is_some() && other.and_then(set) == set(at);
    let (before, after) = (is_beside(at.checked_sub(1)), is_beside(Some(at + 1)));
    let begin = if after && !before { '[' } else { ' ' };
    let end = if before && !after { ']' } else { ' ' };
    format!("{begin}{} {name}{agent}{end}", view.diff.id)
}

/// The shortest end of the path that no other path ends in.
fn distinct<'a>(app: &App, view: &'a View) -> &'a str {
    let path = &view.target.shown;
    let others = app.views.iter().map(|view| &view.target.shown);
    let others: Vec<_> = others.filter(|other| *other != path).collect();
    let is_distinct = |end: &&str| {
        let ends = |other: &&&String| {
            let before = other.strip_suffix(*end);
            before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
        };
        !others.iter().any(|other| ends(&other))
    };
    let starts = path.rmatch_indices('/').map(|(at, _)| &path[at + 1..]);
    let mut ends = starts.filter(|end| !end.is_empty());
    ends.find(is_distinct).unwrap_or(path)
}
