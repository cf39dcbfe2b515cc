//! The keys by which the person chooses when agents ask before they change files, and sends their notes to agents.

use std::time::Instant;

use pillion_protocol::{ReviewChoice, ReviewMode};
use pillion_view::Chosen;

use super::review_delay::Press;
use super::{App, Armed, Effect, Message, Tone};

/// The words that ask for the key once more, and what it does then.
const AGAIN: &str = "m again";
const AFTER: &str = "m again: agents write first, and you look afterwards";

impl App {
    /// That all is shown is chosen at once; to be shown less, the person presses it again, and once more to be asked
    /// nothing.
    pub(super) fn choose_mode(&mut self, press: &Press, armed: Option<Armed>, now: Instant) {
        if press.is_no_decision() {
            return;
        }
        let mode = self.status.review.as_ref().map(|review| review.mode);
        // Only while it can be read what the key does.
        let is_read = |it: &Message| it.text.contains(AGAIN);
        let armed = armed.filter(|_| self.message.as_ref().is_some_and(is_read));
        let choice = match (mode, armed) {
            (None, _) => None,
            (Some(_), Some(Armed::After)) => Some(ReviewChoice::After),
            (Some(Some(ReviewMode::Always)), Some(Armed::Unasked)) => {
                self.ask(Armed::After, AFTER, now);
                Some(ReviewChoice::Asked)
            }
            (Some(Some(ReviewMode::Always)), _) => {
                let text = "then some changes may not be shown: m again has agents ask as their permission modes say";
                return self.ask(Armed::Unasked, text, now);
            }
            (Some(_), _) => Some(ReviewChoice::Always),
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
        // Beside it stands what is chosen now.
        if self.armed == Some(Armed::After) && chosen.done {
            return self.ask(Armed::After, AFTER, now);
        }
        let tone = match chosen.done {
            true => Tone::Good,
            false => Tone::Warning,
        };
        self.say(tone, chosen.message, now);
    }
}
