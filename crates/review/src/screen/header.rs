//! Draws what is above the diff: workspace and agents, the pending diffs, what is proposed.

use pillion_judge::Target;
use pillion_judge::proposal::Proposal;
use pillion_text::visible::{self, width};
use pillion_text::{counted, damage};
use pillion_view::SetPlace;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use crate::app::{App, Spot};
use crate::geometry::{self, Geometry};
use crate::screen::theme::Theme;
use crate::screen::{agents, fill, indented, put, right_end, tabs, wrapped, write};
use crate::view::View;

/// Draws the lines above the diff. Answers where the tabs are.
pub fn draw(
    buffer: &mut Buffer,
    geometry: &Geometry,
    app: &App,
    theme: &Theme,
) -> Vec<(Rect, Spot)> {
    workspace(buffer, geometry.header, app, theme);
    let tabs = geometry
        .tabs
        .map(|area| tabs::draw(buffer, area, app, theme));
    if let Some(view) = app.view() {
        title(buffer, geometry.title, app, view, theme);
    } else {
        fill(buffer, geometry.title, "─", theme.missing);
    }
    if let (Some(area), Some(note)) = (geometry.note, app.note()) {
        self::note(buffer, area, &note, theme.warning);
    }
    let mode = app.view().and_then(|view| view.diff.mode);
    if let (Some(area), Some(mode)) = (geometry.mode, mode) {
        let style = match mode.makes_executable() {
            true => theme.removed.sign.add_modifier(Modifier::BOLD),
            false => theme.info,
        };
        write(buffer, indented(area, 2), mode.to_string(), style);
    }
    tabs.unwrap_or_default()
}

fn note(buffer: &mut Buffer, area: Rect, note: &str, style: Style) {
    let room = geometry::note_room(area.width);
    let rows = wrapped(note, room, area.height);
    for (y, text) in (area.top()..).zip(rows) {
        let mark = if y == area.top() { " ! " } else { "   " };
        let line = Line::styled(format!("{mark}{text}"), style);
        put(buffer, Rect { y, ..area }, &line);
    }
}

fn workspace(buffer: &mut Buffer, area: Rect, app: &App, theme: &Theme) {
    let agents = agents::presence(app, theme);
    let agents_width: usize = agents.iter().map(|span| width(&span.content)).sum();
    let room = usize::from(area.width).saturating_sub(agents_width + 2);
    let name = visible::tail(&workspace_name(app), room.saturating_sub(10).max(8));
    let mut left = vec![
        Span::styled(" pillion ", theme.strong),
        Span::raw(name.clone()),
    ];
    let context = context(app);
    let context_room = room.saturating_sub(9 + width(&name) + 3);
    let bare = context.strip_prefix("shares ").unwrap_or(&context);
    let is_roomy = width(&context) <= context_room;
    let context = visible::tail(if is_roomy { &context } else { bare }, context_room);
    if width(&context) > 6 {
        left.push(Span::styled(" · ", theme.muted));
        left.push(Span::styled(context, theme.muted));
    }
    put(buffer, area, &Line::from(left));
    let right = right_end(area, agents_width + 1);
    put(buffer, right, &Line::from(agents));
}

fn workspace_name(app: &App) -> String {
    let names = app.roots.iter().map(|root| {
        let name = root.file_name().unwrap_or(root.as_os_str());
        visible::one_line(&name.to_string_lossy())
    });
    names.collect::<Vec<_>>().join(" + ")
}

/// The context that agents get, in a few words.
fn context(app: &App) -> String {
    let context = &app.status.context;
    let files = context.files().len();
    let Some(file) = context.active_file() else {
        return match files {
            0 => "no files shared".to_owned(),
            files => format!("shares {files} files"),
        };
    };
    let name = Target::new(file.path.clone().into(), &app.roots).shown;
    let line = file
        .cursor
        .map_or_else(String::new, |cursor| format!(":{}", cursor.line));
    let others = match files {
        0 | 1 => String::new(),
        files => format!(" +{}", files - 1),
    };
    format!("shares {name}{line}{others}")
}

fn title(buffer: &mut Buffer, area: Rect, app: &App, view: &View, theme: &Theme) {
    let agent = app.agent_name(view);
    let place = SetPlace::after_name(view.diff.set);
    let room = usize::from(area.width).saturating_sub(2 + width(&place));
    let path_width = width(&view.target.shown);
    let mut facts = facts(view, theme);
    let other_name = app.other_name().map(|name| (name, theme.current));
    facts.splice(0..0, other_name);
    let width_of =
        |facts: &[(String, Style)]| facts.iter().map(|(text, _)| width(text) + 3).sum::<usize>();
    let mut intro = format!("{agent} {} ", view.diff.does());
    let wanted = path_width.min(24);
    if width(&intro) + wanted + width_of(&facts) > room {
        intro = match (view.diff.deletes, view.diff.written.is_some()) {
            (true, false) => format!("{agent} deletes "),
            (true, true) => format!("{agent}: deleted "),
            (false, true) => format!("{agent}: written "),
            (false, false) => format!("{agent}: "),
        };
    }
    while facts.len() > 1 && width(&intro) + wanted + width_of(&facts) > room {
        facts.remove(0);
    }
    let path_room = room.saturating_sub(width(&intro) + width_of(&facts));
    let mut spans = vec![
        Span::raw(" "),
        Span::styled(intro, theme.agent),
        Span::styled(
            visible::tail(&view.target.shown, path_room.max(8)),
            theme.strong,
        ),
        Span::styled(place, theme.current),
    ];
    for (text, style) in facts {
        spans.push(Span::styled(" · ", theme.muted));
        spans.push(Span::styled(text, style));
    }
    put(buffer, area, &Line::from(spans));
}

/// The facts about a proposal, the least important first.
fn facts(view: &View, theme: &Theme) -> Vec<(String, Style)> {
    let mut facts = Vec::new();
    let plain = Style::new();
    let proposal = &view.proposal;
    if view.is_comparing() {
        return vec![("comparing…".to_owned(), theme.current)];
    }
    let count = proposal.count();
    if proposal.after().is_crlf() {
        facts.push(("CRLF".to_owned(), theme.muted));
    }
    if proposal.is_new_file() {
        facts.push(("new file".to_owned(), theme.good));
    } else if proposal.after().is_empty() && count.hunks > 0 && !view.diff.deletes {
        facts.push(("empties the file".to_owned(), theme.warning));
    }
    if proposal.is_edited() {
        facts.push(("edited".to_owned(), theme.current));
    }
    if let Some(sizes) = sizes(proposal) {
        facts.push((sizes, theme.warning));
        return facts;
    }
    let hunks = match (count.hunks, count.out) {
        (0, _) if view.diff.mode.is_some() => "mode only".to_owned(),
        (0, _) => "no changes".to_owned(),
        (hunks, 0) => counted(hunks, "hunk"),
        (1, _) => "1 hunk, excluded".to_owned(),
        (hunks, out) => format!("{hunks} hunks, {out} excluded"),
    };
    let is_white = |at: usize| view.white.get(at) == Some(&true);
    if count.hunks > 0 && (0..count.hunks).all(is_white) {
        facts.push(("whitespace only".to_owned(), theme.current));
    }
    facts.push((hunks, if count.out > 0 { theme.current } else { plain }));
    let of = proposal.before().len();
    let left = (of + count.added).saturating_sub(count.removed);
    if damage::deletes_most(of, left) {
        let text = format!("+{} −{} of {of} lines", count.added, count.removed);
        facts.push((text, theme.removed.sign.add_modifier(Modifier::BOLD)));
    } else {
        facts.push((format!("+{} −{}", count.added, count.removed), plain));
    }
    facts
}

/// The sizes in place of hunks, where a text cannot be shown.
fn sizes(proposal: &Proposal) -> Option<String> {
    let size = |bytes| format!("binary, {bytes} bytes");
    match (proposal.hidden_before(), proposal.hidden_after()) {
        (None, None) => None,
        (Some(before), None) => Some(format!("the file is {}", size(before))),
        (None, Some(after)) => Some(size(after)),
        (Some(before), Some(after)) => Some(format!("{} → {}", size(before), size(after))),
    }
}
