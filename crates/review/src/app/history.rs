//! The person's former decisions: a list, and one entry of it opened again, to be read and nothing else.

use std::collections::VecDeque;
use std::time::Instant;

use pillion_judge::act::Act;
use pillion_judge::history::Past;

use super::acts::moved;
use super::{App, Effect, Overlay, Tone};

/// The rows of the frame around it.
const FRAME: u16 = 2;

/// The former decisions, newest first, and the part of them that is shown.
#[derive(Debug, Default)]
pub struct History {
    /// The decisions.
    pub items: Vec<Past>,
    /// The one that is chosen.
    pub at: usize,
    /// The first that is shown.
    pub top: usize,
    /// The one that is opened.
    pub opened: Option<Opened>,
    /// The same file compared with other texts, one after the other.
    pub others: VecDeque<Opened>,
}

/// A decision as it was decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// Its name and what was decided.
    pub title: String,
    /// As a unified diff.
    pub lines: Vec<String>,
    /// The first line that is shown.
    pub from: usize,
}

impl App {
    /// Has the history read.
    pub(super) fn ask_for_history(&mut self) {
        self.effects.push(Effect::History);
    }

    /// It was read, or cannot be.
    pub(super) fn show_history(&mut self, items: Result<Vec<Past>, String>, now: Instant) {
        match items {
            Ok(items) => {
                self.history = History {
                    items,
                    ..History::default()
                };
                self.overlay = Some(Overlay::History);
            }
            Err(why) => self.say(Tone::Warning, why, now),
        }
    }

    /// One of them was read.
    pub(super) fn show_past(&mut self, opened: Opened) {
        if self.overlay == Some(Overlay::History) {
            self.history.opened = Some(opened);
        }
    }

    pub(super) fn on_history_act(&mut self, act: Act) {
        let height = self.size.height.saturating_sub(FRAME).max(1);
        let history = &mut self.history;
        let (at, last) = match &history.opened {
            Some(opened) => {
                let last = opened.lines.len().saturating_sub(height.into());
                (opened.from, last)
            }
            None => (history.at, history.items.len().saturating_sub(1)),
        };
        match (act, &mut history.opened) {
            (Act::Close | Act::History, opened) => {
                let is_of_list = opened.take().is_some() && !history.items.is_empty();
                self.overlay = self.overlay.filter(|_| is_of_list);
            }
            (Act::Base, Some(opened)) => {
                if let Some(next) = history.others.pop_front() {
                    history.others.push_back(std::mem::replace(opened, next));
                }
            }
            (Act::Open, None) => {
                let chosen = history.items.get(at).cloned();
                self.effects
                    .extend(chosen.map(|past| Effect::Past(Box::new(past))));
            }
            (act, opened) => {
                let to = moved(act, at, last, height.saturating_sub(1)).unwrap_or(at);
                match opened {
                    Some(opened) => opened.from = to,
                    None => history.at = to,
                }
            }
        }
        self.fit_history();
    }

    /// Scrolls so that the chosen one is on the screen.
    pub(super) fn fit_history(&mut self) {
        let height = usize::from(self.size.height.saturating_sub(FRAME)).max(1);
        let history = &mut self.history;
        history.top = history
            .top
            .clamp((history.at + 1).saturating_sub(height), history.at);
    }
}
