//! Says who is here, and who proposes what.

use pillion_protocol::Dialect;
use ratatui::text::Span;

use crate::review::app::App;
use crate::review::screen::theme::Theme;
use crate::review::view::View;

/// What people call the agent of `view`: with its number if several of its kind are here.
pub fn name(app: &App, view: &View) -> String {
    with_number(app, view, view.agent.display_name())
}

/// The same in one word, for a tab.
pub fn short_name(app: &App, view: &View) -> String {
    with_number(app, view, view.agent.name())
}

fn with_number(app: &App, view: &View, name: &str) -> String {
    let is_one_of_several = view.agent_number > 1
        || connected(app, view.agent) > 1
        || numbers(app, view.agent).len() > 1;
    if is_one_of_several {
        format!("{name} {}", view.agent_number)
    } else {
        name.to_owned()
    }
}

/// Whether the pending diffs are of several agents.
pub fn are_several(app: &App) -> bool {
    let mut views = app.views.iter().map(|view| (view.agent, view.agent_number));
    let first = views.next();
    views.any(|agent| Some(agent) != first)
}

/// Who is here, in a few words. An agent whose stream is away for a moment still has what it
/// proposed.
pub fn presence(app: &App, theme: &Theme) -> Vec<Span<'static>> {
    let mut kinds: Vec<Dialect> = Vec::new();
    let proposing = app.views.iter().map(|view| view.agent);
    for agent in app.status.agents.iter().copied().chain(proposing) {
        if !kinds.contains(&agent) {
            kinds.push(agent);
        }
    }
    let mut spans = Vec::new();
    for kind in kinds {
        let name = kind.display_name();
        let here = connected(app, kind);
        let away = numbers(app, kind).len().saturating_sub(here);
        if here > 0 {
            push(&mut spans, "● ", theme.good, counted(name, here));
        }
        if away > 0 {
            let text = format!("{} away", counted(name, away));
            push(&mut spans, "○ ", theme.warning, text);
        }
    }
    match app.views.len() {
        0 if spans.is_empty() => vec![Span::styled("○ no agent connected", theme.muted)],
        count if app.status.agents.is_empty() && count > 0 => {
            spans.push(Span::raw(format!(", {count} pending")));
            spans
        }
        _ => spans,
    }
}

fn push(
    spans: &mut Vec<Span<'static>>,
    mark: &'static str,
    style: ratatui::style::Style,
    text: String,
) {
    if !spans.is_empty() {
        spans.push(Span::raw("  "));
    }
    spans.push(Span::styled(mark, style));
    spans.push(Span::raw(text));
}

fn counted(name: &str, count: usize) -> String {
    match count {
        1 => name.to_owned(),
        count => format!("{name} ×{count}"),
    }
}

/// How many agents of this kind are connected.
fn connected(app: &App, kind: Dialect) -> usize {
    let agents = app.status.agents.iter();
    agents.filter(|agent| **agent == kind).count()
}

/// The numbers of the agents of this kind that have something pending.
fn numbers(app: &App, kind: Dialect) -> Vec<u32> {
    let views = app.views.iter().filter(|view| view.agent == kind);
    let mut numbers: Vec<_> = views.map(|view| view.agent_number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}
