//! The work that is to be done, as data: shown, or carried out step by step.
//!
//! `Plan::next` is all that is needed for an editor in whose settings the user adds the lines.

use std::fmt;

/// One change to the machine: described first, by `Display`, and then done.
pub trait Step: fmt::Debug + fmt::Display {
    /// Does it. Returns what was done, for people.
    ///
    /// # Errors
    /// Why not.
    fn carry_out(&self) -> anyhow::Result<String>;
}

/// The steps, and what else to report.
#[derive(Debug, Default)]
pub struct Plan {
    pub steps: Vec<Box<dyn Step>>,
    /// Notes for the user, whether or not there is something to do.
    pub notes: Vec<String>,
    /// The next step for the user: lines as they are, such as those that belong into a settings
    /// file.
    pub next: Option<&'static str>,
}

impl Plan {
    /// With `before` in front of its notes, and, if it does anything, with what is to be done `then`.
    #[must_use]
    pub fn between(mut self, before: Vec<String>, then: &'static str) -> Self {
        self.notes.splice(..0, before);
        self.next = (!self.steps.is_empty()).then_some(then);
        self
    }
}
