//! A proposal in the editor.

use std::time::{Duration, Instant};

use pillion_view::Against;
use pillion_view::decision::Seen;

use crate::plain::view::View;
use pillion_text::restore::restore;

/// The time limit for an editor that reports its edits in any order, until it has reported all.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(1);

/// The editor's state of a proposal, and since when.
#[derive(Debug)]
pub struct Showing {
    /// The file, as the editor spells it.
    pub uri: String,
    /// Once it was opened.
    pub view: Option<View>,
    /// Counts up: of all proposals, the biggest one is what the person sees.
    pub focused: u64,
    /// When it came before another one, which the person may still have in mind.
    pub interrupts: Option<Instant>,
    /// Since when it is on the screen, as far as that is known.
    pub since: Option<Instant>,
    /// When it counts as closed, if the editor does not open it again.
    pub closes: Option<Instant>,
    /// The end of the time in which its text is uncertain, because the editor reports saves and edits in any order.
    pub settles: Option<Instant>,
    /// When it is to be compared again.
    pub redraw: Option<Instant>,
    /// The number of its last comparison, until that is done. Those before it do not count.
    pub comparison: Option<u64>,
}

impl Showing {
    /// One that is not open yet.
    pub fn new(focused: u64) -> Self {
        Self {
            uri: String::new(),
            view: None,
            focused,
            interrupts: None,
            since: None,
            closes: None,
            settles: None,
            redraw: None,
            comparison: None,
        }
    }

    pub fn open(&mut self, uri: String, text: String, proposed: &str, now: Instant) {
        self.uri = uri;
        self.closes = None;
        self.redraw = None;
        self.interrupts = self.interrupts.map(|_| now);
        match &mut self.view {
            Some(view) => view.reopen(text, proposed),
            view => {
                *view = Some(View::new(text));
                self.since = Some(now);
            }
        }
    }

    /// What is known of who decides about it now by a command: editors say no more than since when they have it open.
    pub fn seen(&self, now: Instant) -> Seen {
        Seen {
            drawn_for: self.since.map(|since| now.saturating_duration_since(since)),
            is_typed: true,
            pauses: Vec::new(),
            unseen_hunks: None,
            against: Against::default(),
            answers: None,
        }
    }

    /// The editor reported an edit or a save.
    pub fn reported(&mut self, now: Instant) {
        let is_contradicted = self.view.as_ref().is_some_and(View::is_contradicted);
        let settles = self.settles.unwrap_or(now + SETTLE_TIMEOUT);
        self.settles = is_contradicted.then_some(settles);
    }

    /// Returns true if the editor may show another text than it has reported last.
    pub fn is_uncertain(&self, now: Instant) -> bool {
        self.settles.is_some_and(|until| now < until)
    }

    pub fn is_open(&self) -> bool {
        self.view.is_some() && self.closes.is_none()
    }

    /// The text that would be accepted, byte for byte, if the editor reported edits. Otherwise the file says what it
    /// is.
    pub fn edited_text(&self, proposed: &str) -> Option<String> {
        let (first, now) = self.view.as_ref()?.edited()?;
        Some(restore(proposed, first, now))
    }

    /// The text that the editor shows, byte for byte, whoever has edited it.
    pub fn text(&self, proposed: &str) -> Option<String> {
        let view = self.view.as_ref()?;
        Some(restore(proposed, view.first(), view.text()))
    }
}
