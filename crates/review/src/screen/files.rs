//! Draws the pending diffs as a list: over everything else, where they are found by typing, or beside the diff.

use pillion_judge::Disk;
use pillion_text::visible;
use pillion_view::SetPlace;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::pages::panel;
use super::theme::Theme;
use super::{agents, around, put};
use pillion_judge::act::Act;

use crate::app::{App, FilesRow, Spot};
use crate::view::View;

/// Columns of the frame and of all that stands before the path.
const BEFORE_PATH: usize = 6 + 2 + 5 + 15 + 8 + 2;

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
        .map(|(y, (at, file))| {
            let (view, from) = match file {
                FilesRow::Folder(folder) => return self::folder(folder, area.width, theme),
                FilesRow::Diff(at, from) => (&app.views[*at], from.map(|at| &app.views[at])),
            };
            spots.push((
                Rect {
                    y,
                    height: 1,
                    ..area
                },
                Spot::Diff(view.diff.id),
            ));
            let agent = match proposer(view, are_several.then(|| app.agent_name(view))) {
                None => String::new(),
                Some(name) => format!("  {name}"),
            };
            let entry = Entry::new(view, from, &listed);
            row(&entry, &agent, Some(at) == chosen, room, theme)
        })
        .collect();
    if lines.is_empty() {
        lines.push(Line::raw("No pending diff fits this."));
    }
    let filter = visible::one_line(&app.files.filter());
    let title = format!(
        " {} of {} pending · type to find: {filter} · Enter opens it · Esc ",
        listed.iter().map(FilesRow::diffs).sum::<usize>(),
        app.views.len()
    );
    panel(buffer, area, &title, lines, 0, theme);
    spots
}

/// A diff of the list, as that shows it.
struct Entry<'a> {
    view: &'a View,
    /// The diff that deletes the file under its former name.
    from: Option<&'a View>,
    /// What is done to the file, in one letter, as git has it.
    does: (&'static str, fn(&Theme) -> Style),
    /// The path, without the folder where that is named above.
    path: String,
}

impl<'a> Entry<'a> {
    fn new(view: &'a View, from: Option<&'a View>, listed: &[FilesRow]) -> Self {
        let shown = &view.target.shown;
        let is_below = listed.iter().any(|row| matches!(row, FilesRow::Folder(_)));
        let folder = view.target.folder().filter(|_| is_below);
        let path = folder.map_or(&**shown, |folder| &shown[folder.len() + 1..]);
        let indent = if folder.is_some() { "  " } else { "" };
        Self {
            view,
            from,
            does: match () {
                () if from.is_some() => ("R", |theme| theme.current),
                () if view.diff.deletes => ("D", |theme| theme.removed.sign),
                () if view.proposal.is_new_file() => ("A", |theme| theme.added.sign),
                () => ("M", |theme| theme.muted),
            },
            path: match from {
                Some(from) => format!("{indent}{} → {path}", from.target.shown),
                None => format!("{indent}{path}"),
            },
        }
    }

    fn does(&self, theme: &Theme) -> Span<'static> {
        Span::styled(format!("{} ", self.does.0), (self.does.1)(theme))
    }

    /// The lines that it adds and removes.
    fn counts(&self) -> (String, String) {
        let count = self.view.proposal.count();
        match self.from {
            // The same lines, elsewhere.
            Some(_) => ("+0".to_owned(), "−0".to_owned()),
            None => (format!("+{}", count.added), format!("−{}", count.removed)),
        }
    }

    /// How much of it was seen.
    fn seen(&self, theme: &Theme) -> (String, Style) {
        let hunks = |view: &View| {
            let seen = view.seen_hunks();
            (seen.seen, seen.of)
        };
        let (mut seen, mut of) = hunks(self.view);
        if let Some(from) = self.from {
            (seen, of) = (seen + hunks(from).0, of + hunks(from).1);
        }
        match () {
            () if self.view.is_comparing() => ("…".to_owned(), theme.muted),
            () if of == 0 => (String::new(), theme.muted),
            () if seen == of => ("seen".to_owned(), theme.good),
            () => (format!("{seen}/{of}"), theme.warning),
        }
    }
}

/// The folder of the diffs below it.
fn folder<'a>(folder: &str, width: u16, theme: &Theme) -> Line<'a> {
    let folder = visible::tail(folder, usize::from(width).saturating_sub(9));
    Line::styled(format!("  {folder}/"), theme.muted)
}

/// A diff, in a panel that has so many columns for its path and what follows.
fn row<'a>(
    entry: &Entry<'_>,
    agent: &str,
    is_chosen: bool,
    room: usize,
    theme: &Theme,
) -> Line<'a> {
    let mark = match is_chosen {
        true => Span::styled("▶ ", theme.current),
        false => Span::raw("  "),
    };
    let (added, removed) = entry.counts();
    let (seen, seen_style) = entry.seen(theme);
    let view = entry.view;
    let set = SetPlace::after_name(view.diff.set);
    let rest = visible::one_line(&format!("{set}{agent}{}", state(view)));
    let path = visible::tail(
        &entry.path,
        room.saturating_sub(visible::width(&rest)).max(room / 2),
    );
    let rest = visible::head(&rest, room.saturating_sub(visible::width(&path)));
    Line::from(vec![
        mark,
        Span::styled(format!("{:<5}", view.diff.id.to_string()), theme.muted),
        Span::styled(format!("{added:>7}"), theme.added.sign),
        Span::styled(format!(" {removed:<7}"), theme.removed.sign),
        Span::styled(format!("{seen:<8}"), seen_style),
        entry.does(theme),
        Span::styled(path, theme.strong),
        Span::styled(rest, theme.muted),
    ])
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
        // Of the others, the person knows already, or their agent is about to propose them.
        let count = match (app.views.len(), app.of_sets()) {
            (pending, all) if pending < all => format!("  {pending} of {all} pending  "),
            (pending, _) => format!("  {pending} pending  "),
        };
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
    let files = app.files_by_folders();
    let shown = files.iter().position(|row| row.is_of(app.current));
    let listed = around(
        &files,
        shown.unwrap_or_default(),
        usize::from(most.saturating_sub(1)),
    );
    let mut used = 1;
    for (row, (at, file)) in rows.zip(listed) {
        used += 1;
        let (view, from) = match file {
            FilesRow::Folder(folder) => {
                put(buffer, row, &self::folder(folder, row.width, theme));
                continue;
            }
            FilesRow::Diff(at, from) => (&app.views[*at], from.map(|at| &app.views[at])),
        };
        let agent = match proposer(view, are_several.then(|| app.short_agent_name(view))) {
            None => String::new(),
            Some(name) => format!(" ({name})"),
        };
        let entry = Entry::new(view, from, &files);
        let line = row_beside(&entry, &agent, Some(at) == shown, row.width.into(), theme);
        put(buffer, row, &line);
        spots.push((row, Spot::Diff(view.diff.id)));
    }
    Rect {
        y: area.y + used,
        height: area.height.saturating_sub(used),
        ..area
    }
}

/// A diff in so many columns: its number, the end of its path, its lines, and how much of it was seen.
fn row_beside<'a>(
    entry: &Entry<'_>,
    agent: &str,
    is_shown: bool,
    width: usize,
    theme: &Theme,
) -> Line<'a> {
    let (added, removed) = entry.counts();
    let (seen, seen_style) = entry.seen(theme);
    let (mark, name) = match is_shown {
        true => (Span::styled("▶", theme.current), theme.strong),
        false => (Span::raw(" "), Style::new()),
    };
    let id = format!("{:<3}", entry.view.diff.id.to_string());
    let behind = format!(" {added} {removed} {seen:>5}");
    let room = width.saturating_sub(visible::width(&id) + visible::width(&behind) + 4);
    // The end of the path says which it is, and comes before whose.
    let path = visible::tail(&entry.path, room);
    let agent = visible::head(agent, room - visible::width(&path));
    let path = path + &agent;
    let pad = " ".repeat(room.saturating_sub(visible::width(&path)) + 1);
    Line::from(vec![
        mark,
        Span::styled(id, theme.muted),
        Span::styled(note(entry.view), theme.warning),
        entry.does(theme),
        Span::styled(path, name),
        Span::raw(pad),
        Span::styled(added, theme.added.sign),
        Span::raw(" "),
        Span::styled(removed, theme.removed.sign),
        Span::styled(format!(" {seen:>5}"), seen_style),
    ])
}

/// Who proposes a diff, where that is not said of all of them.
fn proposer(view: &View, agent: Option<String>) -> Option<String> {
    let subagent = view.diff.is_of_subagent.then(|| "subagent".to_owned());
    let parts: Vec<_> = agent.into_iter().chain(subagent).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// What is most special about a diff, as a mark: the file is another one, or the person has something to say.
fn note(view: &View) -> &'static str {
    match () {
        () if view.disk != Disk::Same => "!",
        () if view.proposal.count().out > 0 => "✗",
        () if view.proposal.holds_edits() || !view.hunk_notes.is_empty() => "✎",
        () => " ",
    }
}

/// What is special about a diff, in words.
fn state(view: &View) -> String {
    let mut facts = Vec::new();
    if view.diff.written.is_some() {
        facts.push("written".to_owned());
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
