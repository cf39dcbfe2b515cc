//! Comparing takes long for long texts, so that it is done elsewhere, for each view on its own.

use std::time::{Duration, Instant};

use pillion_judge::{Compared, Step};
use pillion_view::DiffId;

use super::{App, Effect};

/// Shorter comparisons are not worth a frame of their own.
const QUICK: Duration = Duration::from_millis(50);

impl App {
    /// Takes a step with the view's proposal when those before it are taken.
    pub(super) fn compare(&mut self, id: DiffId, step: Step, now: Instant) {
        if let Some(view) = self.views.find_mut(id) {
            view.push_step(step);
            self.start(id, now);
        }
    }

    fn start(&mut self, id: DiffId, now: Instant) {
        self.jobs += 1;
        let number = self.jobs;
        let view = self.views.find_mut(id);
        let job = view.and_then(|view| view.next_job(number, now));
        self.effects
            .extend(job.map(|job| Effect::Compare(Box::new(job))));
    }

    /// A step was taken.
    pub(super) fn compared(&mut self, compared: Compared, now: Instant) {
        let id = compared.id();
        let view = self.views.find_mut(id);
        // Otherwise the waiting agent gets an error.
        if let Some(done) = view.and_then(|view| view.take_step(compared)) {
            self.arrived(id, done, now);
            self.start(id, now);
        }
    }

    /// The time until which to wait, if a frame now would only show that something is being compared.
    pub fn settles(&self, now: Instant) -> Option<Instant> {
        let since = self.view()?.is_comparing_since()?;
        Some(since + QUICK).filter(|until| *until > now)
    }
}
