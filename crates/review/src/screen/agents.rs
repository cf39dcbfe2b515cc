//! Shows which agents are connected.

use pillion_protocol::Proposer;
use ratatui::text::Span;

use crate::app::App;
use crate::screen::theme::Theme;

/// Returns true if the pending diffs are of several agents.
pub fn are_several(app: &App) -> bool {
    let mut names = app.views.iter().map(|view| app.agent_name(view));
    let first = names.next();
    names.any(|name| Some(name) != first)
}

/// The connected agents, in a few words. An agent whose stream is away for a moment still has what it
/// proposed.
pub fn presence(app: &App, theme: &Theme) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    for kind in app.here().kinds() {
        let name = kind.display_name();
        let here = app.here().connected(kind);
        let away = app
            .here()
            .proposing(Proposer::Agent(kind))
            .saturating_sub(here);
        if here > 0 {
            push(&mut spans, "● ", theme.good, counted(name, here));
        }
        if away > 0 {
            let text = format!("{} away", counted(name, away));
            push(&mut spans, "○ ", theme.warning, text);
        }
    }
    match app.views.len() {
        0 if spans.is_empty() => match &*working(app) {
            "" => vec![Span::styled("○ no agent connected", theme.muted)],
            names => vec![
                Span::styled("● ", theme.good),
                Span::raw(format!("{names} at work")),
            ],
        },
        count if app.status.agents.is_empty() && count > 0 => {
            let comma = if spans.is_empty() { "" } else { ", " };
            spans.push(Span::raw(format!("{comma}{count} pending")));
            spans
        }
        _ => spans,
    }
}

/// The names of the agents that are at work and not connected.
pub fn working(app: &App) -> String {
    let names = app.status.working.iter().map(|it| it.display_name());
    names.collect::<Vec<_>>().join(", ")
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
