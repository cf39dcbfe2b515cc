//! Draws the pending diffs, when there are several: which is shown, how many there are, what tells them apart, and
//! which belong together: ` 1 a.txt  [2 b.txt   3 c.txt] `.

use pillion_text::visible::{self, width};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::app::{App, Spot};
use crate::screen::theme::Theme;
use crate::screen::{agents, narrow, put};
use crate::view::View;

/// A name in a tab has at most so many columns.
const MAX_NAME: usize = 28;

/// Draws all of them, or the next one and where the others are listed if there is no room for all.
pub fn draw(buffer: &mut Buffer, area: Rect, app: &App, theme: &Theme) -> Vec<(Rect, Spot)> {
    let count = app.views.len();
    let total = format!(" {}/{count}  ", app.current + 1);
    let are_several = agents::are_several(app);
    let tabs: Vec<_> = (0..count)
        .map(|at| (at, tab(app, at, are_several)))
        .collect();
    let taken: usize = tabs.iter().map(|(_, name)| width(name) + 1).sum();
    let fits = width(&total) + taken <= usize::from(area.width) + 1;
    let next = (app.current + 1) % count.max(1);
    let mut spans = vec![Span::styled(total, theme.muted)];
    if !fits {
        let files = app.keys.fill("<files> lists them   <next-diff> ");
        spans.push(Span::styled(files, theme.muted));
    }
    let mut clicks = Vec::new();
    let shown = tabs.into_iter().filter(|(at, _)| fits || *at == next);
    for (at, name) in shown {
        let x = area.x + narrow(spans.iter().map(Span::width).sum());
        let width = narrow(width(&name));
        let tab = Rect { x, width, ..area }.intersection(area);
        clicks.push((tab, Spot::Diff(app.views[at].diff.id)));
        let style = if at == app.current {
            theme.current
        } else {
            theme.muted
        };
        spans.push(Span::styled(name, style));
        spans.push(Span::raw(" "));
    }
    put(buffer, area, &Line::from(spans));
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
