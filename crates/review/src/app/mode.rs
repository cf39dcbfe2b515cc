//! The person chooses when agents ask before they change files.

use std::time::Instant;

use pillion_protocol::{ReviewChoice, ReviewMode};
use pillion_view::{Choice, Chosen};

use super::{App, Effect, Question, Tone};

impl App {
    /// That all is shown is chosen at once; to be shown less, the person answers a question, and another one to be asked nothing.
    pub(super) fn choose_mode(&mut self, answered: Option<Question>, now: Instant) {
        let mode = self.status.review.as_ref().map(|review| review.mode);
        let choice = match (mode, answered) {
            (None, _) => None,
            (Some(_), Some(Question::After)) => {
                self.answered_question();
                Some(ReviewChoice::After)
            }
            (Some(Some(ReviewMode::Always)), Some(Question::Unasked)) => {
                self.ask_for_after(now);
                Some(ReviewChoice::Asked)
            }
            (Some(Some(ReviewMode::Always)), _) => {
                let text = "some changes may not be shown then: <answer> has agents ask as their permission modes say";
                let text = self.keys.fill(text);
                return self.ask(Question::Unasked, text, now);
            }
            (Some(_), _) => Some(ReviewChoice::Always),
        };
        self.effects.push(Effect::Choose(Choice::Review(choice)));
    }

    fn ask_for_after(&mut self, now: Instant) {
        let text = self
            .keys
            .fill("<answer>: agents write first, and you look afterwards");
        self.ask(Question::After, text, now);
    }

    pub(super) fn chosen(&mut self, chosen: Chosen, now: Instant) {
        // Beside it stands what is chosen now.
        if self.question() == Some(Question::After) && chosen.done {
            return self.ask_for_after(now);
        }
        let tone = match chosen.done {
            true => Tone::Good,
            false => Tone::Warning,
        };
        self.say(tone, chosen.message, now);
    }
}
