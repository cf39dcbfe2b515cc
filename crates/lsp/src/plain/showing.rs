//! A proposal in one editor.

use std::time::Instant;

use crate::plain::restore::restore;
use crate::plain::view::View;
use crate::plain::viewer::Seat;

/// What one editor has of a proposal, and since when.
#[derive(Debug)]
pub struct Showing {
    pub seat: Seat,
    /// The file, as this editor spells it.
    pub uri: String,
    pub view: View,
    /// Counts up: of an editor's proposals, the biggest one is what the person looks at.
    pub focused: u64,
    /// When it came before another one, which the person may still have in mind.
    pub interrupts: Option<Instant>,
    /// When it counts as closed, if the editor does not open it again.
    pub closes: Option<Instant>,
    /// When its diagnostics are due.
    pub redraw: Option<Instant>,
}

impl Showing {
    /// One that is not open yet.
    pub fn new(seat: Seat, focused: u64) -> Self {
        Self {
            seat,
            uri: String::new(),
            view: View::default(),
            focused,
            interrupts: None,
            closes: None,
            redraw: None,
        }
    }

    /// The editor opened it.
    pub fn open(&mut self, uri: String, text: String, proposed: &str, now: Instant) {
        self.uri = uri;
        self.closes = None;
        self.redraw = None;
        self.interrupts = self.interrupts.map(|_| now);
        self.view.open(text, proposed);
    }

    /// Whether the editor has it open.
    pub fn is_open(&self) -> bool {
        self.view.text().is_some() && self.closes.is_none()
    }

    /// The text that would be accepted here, byte for byte, if this editor told of edits. Otherwise the
    /// file says what it is.
    pub fn edited_text(&self, proposed: &str) -> Option<String> {
        let (first, now) = self.view.edited()?;
        Some(restore(proposed, first, now))
    }
}
