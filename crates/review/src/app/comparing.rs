//! Comparing takes long for long texts, so that it is done elsewhere, for each view on its own.

use std::time::{Duration, Instant};

use pillion_companion::DiffId;

use super::{App, Effect};
use crate::view::{Compared, Step};

/// Shorter comparisons are not worth a frame of their own.
const QUICK: Duration = Duration::from_millis(50);

impl App {
    /// Takes a step with the view's proposal when those before it are taken.
    pub(super) fn compare(&mut self, id: DiffId, step: Step, now: Instant) -> Option<Effect> {
        self.views.find_mut(id)?.push_step(step);
        self.start(id, now)
    }

    fn start(&mut self, id: DiffId, now: Instant) -> Option<Effect> {
        self.jobs += 1;
        let number = self.jobs;
        let job = self.views.find_mut(id)?.next_job(number, now)?;
        Some(Effect::Compare(Box::new(job)))
    }

    /// A step was taken.
    pub(super) fn compared(&mut self, compared: Compared, now: Instant) -> Vec<Effect> {
        let id = compared.id();
        let done = self
            .views
            .find_mut(id)
            .and_then(|view| view.take_step(compared));
        let Some(done) = done else {
            // The waiting agent gets an error.
            return Vec::new();
        };
        let mut effects = self.arrived(id, done, now);
        effects.extend(self.start(id, now));
        effects
    }

    /// Whether a frame now would only show that something is being compared, and until when to wait.
    pub fn settles(&self, now: Instant) -> Option<Instant> {
        let since = self.view()?.is_comparing_since()?;
        Some(since + QUICK).filter(|until| *until > now)
    }
}
