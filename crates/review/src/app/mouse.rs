//! The mouse: the wheel scrolls, a click goes somewhere, and dragging over lines copies them. None of it decides anything.

use std::ops::RangeInclusive;
use std::time::Instant;

use crossterm::event::{KeyCode, MouseButton, MouseEvent, MouseEventKind};
use pillion_judge::act::Act;
use pillion_judge::highlight::Texts;
use pillion_judge::proposal::Side;
use pillion_judge::rows::{Layout, Row};
use pillion_text::counted;
use pillion_view::DiffId;
use ratatui::layout::Position;

use super::{App, Effect, Overlay, Press, Tone};
use crate::view::View;

/// The rows by which one step of the wheel moves.
const WHEEL: u8 = 3;

/// What is drawn somewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spot {
    /// The name of a pending diff.
    Diff(DiffId),
    /// A line of the list of what agents have written.
    Change(usize),
    /// A row of the diff.
    Row(usize),
    /// Something that covers what is below it.
    Page,
}

/// Rows that are being dragged over, of one side.
#[derive(Debug, Clone, Copy)]
pub struct Drag {
    texts: Texts,
    side: Side,
    began: Position,
    from: usize,
    to: usize,
    has_moved: bool,
}

impl Drag {
    fn rows(&self) -> RangeInclusive<usize> {
        self.from.min(self.to)..=self.from.max(self.to)
    }
}

impl App {
    pub(super) fn on_mouse(&mut self, mouse: MouseEvent, now: Instant) {
        let position = Position::new(mouse.column, mouse.row);
        match mouse.kind {
            MouseEventKind::ScrollDown => self.on_wheel(KeyCode::Down, now),
            MouseEventKind::ScrollUp => self.on_wheel(KeyCode::Up, now),
            MouseEventKind::ScrollRight => self.on_wheel(KeyCode::Right, now),
            MouseEventKind::ScrollLeft => self.on_wheel(KeyCode::Left, now),
            MouseEventKind::Down(MouseButton::Left) => self.begin_drag(position),
            MouseEventKind::Drag(MouseButton::Left) => self.drag_to(position),
            MouseEventKind::Up(MouseButton::Left) => self.end_drag(position, now),
            _ => {}
        }
    }

    /// The rows of the shown diff that are being dragged over, and their side.
    pub fn dragged(&self) -> Option<(RangeInclusive<usize>, Side)> {
        let texts = self.view().map(View::texts);
        let drag = self
            .drag
            .filter(|it| it.has_moved && Some(it.texts) == texts)?;
        Some((drag.rows(), drag.side))
    }

    /// The mouse is this program's, or the terminal's.
    pub(super) fn toggle_mouse(&mut self, now: Instant) {
        self.has_mouse = !self.has_mouse;
        self.drag = None;
        self.effects.push(Effect::Mouse(self.has_mouse));
        let text = match self.has_mouse {
            true => "the mouse scrolls, goes where you click, and copies lines",
            false => "the mouse is the terminal's · <mouse> takes it again",
        };
        let text = self.keys.fill(text);
        self.say(Tone::Info, text, now);
    }

    /// As a key would: in a list the cursor moves.
    fn on_wheel(&mut self, code: KeyCode, now: Instant) {
        if self.remark.is_some() {
            return;
        }
        self.drop_question();
        match (self.overlay, self.viewport()) {
            (Some(Overlay::Files), _) => {
                (0..WHEEL).for_each(|_| self.on_files_key(code.into()));
            }
            (Some(_), _) => {
                let act = if code == KeyCode::Down {
                    Act::Down
                } else {
                    Act::Up
                };
                // Held down, it decides nothing, whatever it comes to mean.
                let press = Press {
                    at: now,
                    is_in_burst: false,
                    is_held: true,
                };
                (0..WHEEL).for_each(|_| self.on_act(act, &press, now));
            }
            (None, Some(viewport)) => {
                let view = &mut self.views[self.current];
                match code {
                    KeyCode::Down => view.scroll(WHEEL.into(), &viewport),
                    KeyCode::Up => view.scroll(-isize::from(WHEEL), &viewport),
                    KeyCode::Right => view.scroll_sideways(1, &viewport),
                    _ => view.scroll_sideways(-1, &viewport),
                }
            }
            (None, None) => {}
        }
    }

    /// What the last frame has there, above everything else.
    fn spot_at(&self, position: Position) -> Option<Spot> {
        let mut above = self.spots.iter().rev();
        let (_, place) = above.find(|(area, _)| area.contains(position))?;
        Some(*place)
    }

    fn begin_drag(&mut self, position: Position) {
        self.drag = None;
        let place = self.spot_at(position);
        if let (Some(Spot::Row(row)), None, None) = (place, self.overlay, &self.remark) {
            self.drag = self.side_at(position, row).map(|(texts, side)| Drag {
                texts,
                side,
                began: position,
                from: row,
                to: row,
                has_moved: false,
            });
        }
    }

    /// The side of a diff that is drawn there.
    fn side_at(&self, position: Position, row: usize) -> Option<(Texts, Side)> {
        let (view, columns) = (self.view()?, self.viewport()?.columns);
        let is_left = match columns.layout {
            Layout::SideBySide => {
                let column = position.x.saturating_sub(self.geometry().body.x);
                usize::from(column) < columns.left_width()
            }
            Layout::Unified => view.rows().get(row)?.lines().1.is_none(),
        };
        let side = if is_left { Side::Left } else { Side::Right };
        Some((view.texts(), side))
    }

    fn drag_to(&mut self, position: Position) {
        let place = self.spot_at(position);
        if let Some(drag) = &mut self.drag {
            drag.has_moved |= drag.began != position;
            if let Some(Spot::Row(row)) = place {
                drag.to = row;
            }
        }
    }

    fn end_drag(&mut self, position: Position, now: Instant) {
        self.drag_to(position);
        let dragged = self.dragged();
        let has_moved = self.drag.take().is_some_and(|drag| drag.has_moved);
        match dragged {
            Some((rows, side)) => self.copy_rows(rows, side, now),
            None if has_moved => {}
            None => self.click(position),
        }
    }

    fn click(&mut self, position: Position) {
        let is_covered = matches!(
            self.overlay,
            Some(Overlay::Quit | Overlay::Help(_) | Overlay::History | Overlay::Notes)
        );
        if self.remark.is_some() || is_covered {
            return;
        }
        match self.spot_at(position) {
            Some(Spot::Diff(id)) => self.show_diff(id),
            Some(Spot::Change(row)) => {
                self.overlay = Some(Overlay::Changes);
                self.changes.go_to(row);
            }
            Some(Spot::Row(row)) => self.click_row(row),
            Some(Spot::Page) | None => return,
        }
        self.drop_question();
    }

    fn show_diff(&mut self, id: DiffId) {
        if let Ok(at) = self.views.position(id) {
            self.overlay = None;
            self.show_at(at);
        }
    }

    fn click_row(&mut self, row: usize) {
        let Some(view) = self.views.get_mut(self.current) else {
            return;
        };
        match view.rows().get(row) {
            Some(Row::Fold { left, .. }) => view.unfold_at(left),
            Some(_) => view.point_at(row),
            None => {}
        }
    }

    fn copy_rows(&mut self, rows: RangeInclusive<usize>, side: Side, now: Instant) {
        let Some(view) = self.view() else { return };
        let lines = rows.filter_map(|row| {
            let lines = view.rows().get(row)?.lines();
            *side.of((&lines.0, &lines.1))
        });
        let lines: Vec<_> = lines.collect();
        let text = lines
            .iter()
            .map(|line| view.proposal.side(side).shown(*line));
        let text: String = text.collect();
        match lines.len() {
            0 => self.say(Tone::Info, "no line of this side is there", now),
            count => self.copy(text, &counted(count, "line"), now),
        }
    }

    /// Copies the current hunk: what it adds, or else what it removes.
    pub(super) fn copy_hunk(&mut self, now: Instant) {
        let hunk = self
            .view()
            .and_then(|view| Some((view, view.current_hunk()?)));
        let Some((view, hunk)) = hunk else {
            return self.say(Tone::Info, "there is no hunk to copy", now);
        };
        let (side, lines) = match hunk.after.is_empty() {
            true => (Side::Left, hunk.before.clone()),
            false => (Side::Right, hunk.after.clone()),
        };
        let what = match side {
            Side::Left => "what the hunk removes",
            Side::Right => "the hunk's new text",
        };
        let text = lines
            .map(|line| view.proposal.side(side).shown(line))
            .collect();
        self.copy(text, what, now);
    }

    /// Copies the path of the file.
    pub(super) fn copy_path(&mut self, now: Instant) {
        if let Some(view) = self.view() {
            let path = view.target.path.to_string_lossy().into_owned();
            self.copy(path, "the path", now);
        }
    }

    fn copy(&mut self, text: String, what: &str, now: Instant) {
        self.effects.push(Effect::Copy(text));
        self.say(
            Tone::Good,
            format!("sent to the terminal's clipboard: {what}"),
            now,
        );
    }
}
