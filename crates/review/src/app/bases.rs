//! `d`: what is proposed beside other texts than the file. It is worked out elsewhere, because the texts are read from disks and may
//! be long.

use std::collections::VecDeque;
use std::time::Instant;

use pillion_judge::bases::{Bases, NO_BASES};
use pillion_view::{ProposalKey, Proposed};

use super::history::{History, Opened};
use super::{App, Effect, Overlay, Tone};

impl App {
    pub(super) fn ask_for_bases(&mut self) {
        let bases = Bases::of(&self.views[self.current], &self.roots);
        self.effects.push(Effect::Bases(Box::new(bases)));
    }

    pub(super) fn show_bases(&mut self, key: ProposalKey, compared: Vec<Opened>, now: Instant) {
        let is_shown = self.view().is_some_and(|view| view.key() == key);
        if !is_shown || self.overlay.is_some() || self.remark.is_some() {
            return;
        }
        let mut compared = VecDeque::from(compared);
        let Some(first) = compared.pop_front() else {
            return self.say(Tone::Info, NO_BASES, now);
        };
        self.history = History {
            opened: Some(first),
            others: compared,
            ..History::default()
        };
        self.overlay = Some(Overlay::History);
    }
}
