//! Draws one line of a text, or the part of it that is in view: syntax colours, changed words, and
//! stand-ins for everything that would be invisible.

use std::ops::Range;

use pillion_judge::syntax::Span;
use pillion_text::visible;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use crate::screen::theme::Theme;
use crate::screen::{indented, write};
use crate::view::{Window, content};

/// Of more spaces at the end of a line only the last are shown as such.
const MAX_SPACES: usize = 4 << 10;

/// A line, and how to draw it.
pub struct TextLine<'a> {
    /// The line with its end.
    pub text: &'a str,
    /// Its style where no other is given.
    pub base: Style,
    /// The kinds of its parts.
    pub spans: &'a [Span],
    /// The byte ranges where what is searched for stands.
    pub hits: Vec<Range<usize>>,
    /// The byte ranges that changed.
    pub changed: &'a [Range<usize>],
    /// Their style.
    pub word: Style,
    /// The style of spaces at the end, if they are to be seen.
    pub spaces: Option<Style>,
    /// True if all spaces are to be seen, not only those at the end.
    pub shows_spaces: bool,
    /// The style of U+FFFD, where it takes the place of what was there.
    pub unreadable: Option<Style>,
    /// True if `\r\n` at the end is to be seen.
    pub shows_crlf: bool,
    /// True if it matters that the text ends without a newline here.
    pub shows_no_newline: bool,
    /// What is said behind it of where else it stands.
    pub moved: Option<String>,
}

impl TextLine<'_> {
    /// Draws into one row.
    pub fn draw(&self, buffer: &mut Buffer, area: Rect, window: &Window, theme: &Theme) {
        self.draw_pieces(buffer, area, window, theme);
        if window.is_cut_left && !content(self.text).is_empty() {
            self.draw_cut_left(buffer, area, theme);
        }
    }

    fn draw_pieces(&self, buffer: &mut Buffer, area: Rect, window: &Window, theme: &Theme) {
        let content = content(self.text);
        let tail = content.floor_char_boundary(content.len().saturating_sub(MAX_SPACES));
        let trailing = tail + content[tail..].trim_end_matches([' ', '\t']).len();
        let width = usize::from(area.width);
        let mut end = window.from.column.saturating_sub(window.column);
        for piece in visible::pieces(content, window.from) {
            if window.until.is_some_and(|until| piece.at.byte >= until) {
                return;
            }
            let Some(x) = piece.at.column.checked_sub(window.column) else {
                // Cut off in the middle by the left edge: its columns stay empty.
                end = (piece.at.column + piece.width).saturating_sub(window.column);
                continue;
            };
            if x + piece.width > width {
                if window.until.is_none() && width > 0 {
                    self.draw_cut(buffer, area, end, theme);
                }
                return;
            }
            end = x + piece.width;
            let byte = piece.at.byte;
            let mut style = self.base.patch(self.class(byte, theme));
            let is_changed = self.changed.iter().any(|range| range.contains(&byte));
            if is_changed {
                style = style.patch(self.word);
            }
            let mut text = piece.text;
            if piece.replaced && is_changed {
                style = style.add_modifier(Modifier::REVERSED);
            } else if piece.replaced {
                style = style.patch(theme.stand_in);
            } else if let Some(spaces) = self
                .spaces
                .filter(|_| byte >= trailing || self.is_shown_space(content, byte))
            {
                style = style.patch(spaces);
                let is_tab = content.as_bytes().get(byte) == Some(&b'\t');
                text = shown_spaces(&text, is_tab).into();
            } else if let Some(unreadable) = self.unreadable.filter(|_| text == "\u{fffd}") {
                style = style.patch(unreadable).add_modifier(Modifier::REVERSED);
            }
            let is_own = piece.replaced
                || content
                    .as_bytes()
                    .get(byte)
                    .is_some_and(u8::is_ascii_whitespace);
            if theme.is_ascii && !is_own && !text.is_ascii() {
                text = "?".repeat(piece.width).into();
            }
            if self.hits.iter().any(|range| range.contains(&byte)) {
                style = style.patch(theme.hit);
            }
            write(buffer, indented(area, x), &text, style);
        }
        self.draw_end(buffer, area, end, content, theme);
    }

    /// The sign that there is more to the left, in the first column. A wide character that begins there gives way.
    fn draw_cut_left(&self, buffer: &mut Buffer, area: Rect, theme: &Theme) {
        let style = self.base.patch(theme.muted);
        if area.width > 1 && visible::width(buffer[(area.x, area.y)].symbol()) > 1 {
            write(buffer, indented(area, 1), " ", style);
        }
        write(buffer, area, "‹", style);
    }

    /// Returns true if a space within the line is to be seen.
    fn is_shown_space(&self, content: &str, byte: usize) -> bool {
        self.shows_spaces && matches!(content.as_bytes().get(byte), Some(b' ' | b'\t'))
    }

    /// The sign that a line goes on, in the last column. A wide character that ends there gives way.
    fn draw_cut(&self, buffer: &mut Buffer, area: Rect, end: usize, theme: &Theme) {
        let width = usize::from(area.width);
        let style = self.base.patch(theme.muted);
        if end == width && width > 1 {
            let at = area.x + area.width - 2;
            if visible::width(buffer[(at, area.y)].symbol()) > 1 {
                write(buffer, indented(area, width - 2), " ", style);
            }
        }
        write(buffer, indented(area, width - 1), "›", style);
    }

    fn draw_end(&self, buffer: &mut Buffer, area: Rect, x: usize, content: &str, theme: &Theme) {
        if let Some(moved) = &self.moved {
            let style = self.base.patch(theme.moved.sign);
            write(buffer, indented(area, x + 2), moved, style);
            let width = usize::from(area.width);
            if x < width && x + 2 + visible::width(moved) > width {
                write(buffer, indented(area, width - 1), "›", style);
            }
        }
        let end = &self.text[content.len()..];
        let mark = match end {
            "\r\n" | "\r" if self.shows_crlf => "␍",
            "" if self.shows_no_newline => "⟨no newline at the end⟩",
            _ => return,
        };
        let style = self.base.patch(theme.stand_in);
        write(buffer, indented(area, x), mark, style);
    }

    fn class(&self, byte: usize, theme: &Theme) -> Style {
        let at = self.spans.partition_point(|span| span.end <= byte);
        self.spans
            .get(at)
            .map_or_else(Style::new, |span| theme.class(span.class))
    }
}

fn shown_spaces(text: &str, is_tab: bool) -> String {
    if !is_tab {
        return "·".to_owned();
    }
    // It was expanded before: an arrow, and the rest of its columns.
    format!("→{}", " ".repeat(text.len().saturating_sub(1)))
}
