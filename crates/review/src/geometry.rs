//! The places of things on the screen. Shared by drawing and scrolling, so that both agree.

use pillion_judge::rows::Layout;
use ratatui::layout::Rect;

/// Side by side needs this many columns.
pub const SIDE_BY_SIDE: u16 = 100;

/// Unified needs this many columns beside the list of changes.
const UNIFIED: u16 = 80;

/// The columns of the list of changes beside the diff.
const PANE: std::ops::RangeInclusive<u16> = 36..=56;

/// The smallest terminal that shows a diff.
pub const SMALLEST: (u16, u16) = (40, 10);

/// Columns of the status line that are not for the message.
const MESSAGE_MARGIN: u16 = 5;

/// Columns of the note that are not for its text.
const NOTE_MARGIN: u16 = 4;

/// Columns for the mark of the current hunk.
pub const MARK: usize = 2;

/// Columns for the sign between a number and its line.
pub const SIGN: usize = 3;

/// Columns between the two sides.
pub const DIVIDER: usize = 2;

/// The parts of the screen, from top to bottom.
#[derive(Debug, Clone, Copy)]
pub struct Geometry {
    /// Workspace, agents, context.
    pub header: Rect,
    /// The pending diffs, when there are several.
    pub tabs: Option<Rect>,
    /// The proposal and its agent.
    pub title: Rect,
    /// The note, when there is one.
    pub note: Option<Rect>,
    /// The list of changes, when it stands beside the diff.
    pub pane: Option<Rect>,
    /// The permissions that the file gets, when no text shows them.
    pub mode: Option<Rect>,
    /// The diff.
    pub body: Rect,
    /// The last message, and where in the diff the view is.
    pub status: Rect,
    /// The keys.
    pub footer: Rect,
}

/// The columns that a message has in a terminal of this width.
pub fn message_room(width: u16) -> usize {
    usize::from(width.saturating_sub(MESSAGE_MARGIN)).max(1)
}

/// The columns that a note has in a terminal of this width.
pub fn note_room(width: u16) -> usize {
    usize::from(width.saturating_sub(NOTE_MARGIN)).max(1)
}

/// The columns of the list of changes beside a diff, with the line between them; none if the diff would not have enough.
///
/// By itself, the list takes no columns that the two sides of a diff need. If the person `asks` for it, a unified diff is enough.
pub fn pane_width(width: u16, asks: bool) -> Option<u16> {
    let pane = (width / 4).clamp(*PANE.start(), *PANE.end());
    let needed = if asks { UNIFIED } else { SIDE_BY_SIDE };
    (width >= pane + needed).then_some(pane)
}

/// The columns that a terminal needs for the list beside a diff, if the person asks for it.
pub const LEAST_WITH_PANE: u16 = *PANE.start() + UNIFIED;

impl Geometry {
    /// Divides `area`, with so many columns for the list of changes beside the diff.
    ///
    /// A note and a message of so many rows are shown as a whole: they may say what nothing else shows,
    /// such as where a text is kept.
    pub fn new(
        area: Rect,
        (tabs, mode): (bool, bool),
        note: usize,
        message: usize,
        pane: Option<u16>,
    ) -> Self {
        let most = (area.height / 3).max(1);
        let most = |rows: usize| u16::try_from(rows).unwrap_or(u16::MAX).min(most);
        let mut rest = area;
        let mut top = |rows: u16| {
            let height = rows.min(rest.height);
            let part = Rect { height, ..rest };
            rest.y += height;
            rest.height -= height;
            part
        };
        let header = top(1);
        let tabs = tabs.then(|| top(1));
        let title = top(1);
        let note = (note > 0).then(|| top(most(note)));
        let mut bottom = |rows: u16| {
            let height = rows.min(rest.height);
            rest.height -= height;
            let y = rest.bottom();
            Rect { y, height, ..rest }
        };
        let footer = bottom(1);
        let status = bottom(most(message).max(1));
        let pane = pane.map(|width| {
            let pane = Rect { width, ..rest };
            rest.x += width;
            rest.width -= width;
            pane
        });
        let mode = (mode && rest.height > 1).then(|| {
            let row = Rect { height: 1, ..rest };
            rest.y += 1;
            rest.height -= 1;
            row
        });
        Self {
            header,
            tabs,
            title,
            note,
            pane,
            mode,
            body: rest,
            status,
            footer,
        }
    }
}

/// The columns of a row of the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Columns {
    /// The arrangement of the texts.
    pub layout: Layout,
    /// Columns for a line number before.
    pub left_number: usize,
    /// Columns for a line number after.
    pub right_number: usize,
    /// Columns for the text before; unified, for both.
    pub left_text: usize,
    /// Columns for the text after.
    pub right_text: usize,
}

impl Columns {
    /// Divides `width` columns for texts of so many lines.
    pub fn new(layout: Layout, width: u16, left_lines: usize, right_lines: usize) -> Self {
        let digits = |lines: usize| lines.max(99).to_string().len();
        let (left_number, right_number) = (digits(left_lines), digits(right_lines));
        let width = usize::from(width);
        let (left_text, right_text) = match layout {
            Layout::Unified => {
                let text = width.saturating_sub(MARK + left_number + 1 + right_number + SIGN);
                (text, text)
            }
            Layout::SideBySide => {
                let left = width.saturating_sub(DIVIDER) / 2;
                let right = width.saturating_sub(left + DIVIDER);
                (
                    left.saturating_sub(MARK + left_number + SIGN),
                    right.saturating_sub(right_number + SIGN),
                )
            }
        };
        Self {
            layout,
            left_number,
            right_number,
            left_text: left_text.max(1),
            right_text: right_text.max(1),
        }
    }

    /// The columns of the left side, with its marks.
    pub fn left_width(&self) -> usize {
        MARK + self.left_number + SIGN + self.left_text
    }
}
