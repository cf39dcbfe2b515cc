//! The keys by which the person chooses when agents ask before they change files, and sends their notes to agents.

use std::time::Instant;

use pillion_protocol::{ReviewChoice, ReviewMode};
use pillion_view::Chosen;

use super::review_delay::Press;
use super::{App, Armed, Effect, Tone};

impl App {
    /// That all is shown is chosen at once; to be shown less, the person presses it again.
    pub(super) fn choose_mode(&mut self, press: &Press, armed: Option<Armed>, now: Instant) {
        if press.is_no_decision() {
            return;
        }
        let mode = self.status.review.as_ref().map(|review| review.mode);
        let choice = match mode {
            None => None,
            Some(Some(ReviewMode::Always)) if armed == Some(Armed::Unasked) => {
                Some(ReviewChoice::Asked)
            }
            Some(Some(ReviewMode::Always)) => {
                let text = "then some changes may not be shown: m again has agents ask as their permission modes say";
                return self.ask(Armed::Unasked, text, now);
            }
            Some(_) => Some(ReviewChoice::Always),
        };
        self.effects.push(Effect::Review(choice));
    }

    /// The notes that wait for agents are sent at once.
    pub(super) fn send_notes(&mut self, press: &Press) {
        if !press.is_no_decision() {
            self.effects.push(Effect::SendNotes);
        }
    }

    pub(super) fn chosen(&mut self, chosen: Chosen, now: Instant) {
        let tone = match chosen.done {
            true => Tone::Good,
            false => Tone::Warning,
        };
        self.say(tone, chosen.message, now);
    }
}
