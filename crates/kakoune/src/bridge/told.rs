//! The text of a view, for whoever asks: Kakoune tells it, and the view stays.

use pillion_view::{ProposalKey, Reply};

use super::Bridge;
use crate::script;

impl Bridge {
    pub(super) fn ask_text(&mut self, key: ProposalKey, told: Reply<String>) {
        match self.views.current(key) {
            Err(stale) => told.failed(stale.to_string()),
            Ok(view) if !view.is_loaded => told.done(view.diff.proposed.to_string()),
            Ok(view) => {
                self.session.run(script::ask_text(view));
                self.asked.push((key, told));
            }
        }
    }

    pub(super) fn told(&mut self, key: ProposalKey, held: Vec<u8>) {
        let view = self.views.current(key).ok();
        let text = String::from_utf8(held).ok();
        let text = view.zip(text).map(|(view, held)| view.form.text(&held));
        // Whoever asked about what is gone is answered with that.
        for (asked, told) in std::mem::take(&mut self.asked) {
            match &text {
                Some(text) if asked == key => told.done(text.clone()),
                _ if self.views.current(asked).is_err() || asked == key => drop(told),
                _ => self.asked.push((asked, told)),
            }
        }
    }
}
