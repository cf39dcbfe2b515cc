//! The keys by which the person chooses when agents ask before they change files, and sends their notes to agents.

use std::time::Instant;

use pillion_protocol::{ReviewChoice, ReviewMode};
use pillion_view::Chosen;

use super::review_delay::Press;
use super::{App, Effect, Question, Tone};

/// The words that ask once more.
const AFTER: &str = "y: agents write first, and you look afterwards";

impl App {
    /// That all is shown is chosen at once; to be shown less, the person answers a question, and another one to be asked nothing.
    pub(super) fn choose_mode(&mut self, press: &Press, answered: Option<Question>, now: Instant) {
        if press.is_no_decision() {
            return;
        }
        let mode = self.status.review.as_ref().map(|review| review.mode);
        let choice = match (mode, answered) {
            (None, _) => None,
            (Some(_), Some(Question::After)) => {
                self.drop_question();
                Some(ReviewChoice::After)
            }
            (Some(Some(ReviewMode::Always)), Some(Question::Unasked)) => {
                self.ask(Question::After, AFTER, now);
                Some(ReviewChoice::Asked)
            }
            (Some(Some(ReviewMode::Always)), _) => {
                let text = "some changes may not be shown then: y has agents ask as their permission modes say";
                return self.ask(Question::Unasked, text, now);
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
        if self.question() == Some(Question::After) && chosen.done {
            return self.ask(Question::After, AFTER, now);
        }
        let tone = match chosen.done {
            true => Tone::Good,
            false => Tone::Warning,
        };
        self.say(tone, chosen.message, now);
    }
}
