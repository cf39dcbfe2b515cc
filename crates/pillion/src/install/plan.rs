//! What is to be done, as data: shown, or carried out step by step.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::anyhow;

use super::edit::Edit;
use super::program::{self, INSTALL_TIMEOUT, LIST_TIMEOUT};
use super::step::Step;

/// The steps, and what else to report.
#[derive(Debug, Default)]
pub struct Plan {
    pub steps: Vec<Box<dyn Step>>,
    /// What the user should know, whether or not there is something to do.
    pub notes: Vec<String>,
    /// What the user is to do then: lines as they are, such as those that belong into a settings
    /// file.
    pub next: Option<String>,
}

impl Plan {
    /// Changes a settings file, unless all of it is there already.
    pub fn of_edit(edit: Edit) -> Self {
        let mut plan = Self::default();
        if edit.before == edit.after {
            let note = format!("{} is already set up", edit.path.display());
            plan.notes.push(note);
        } else {
            plan.steps.push(Box::new(edit));
        }
        plan
    }

    /// With `before` in front of its notes, and, if it does anything, with what is to be done `then`.
    #[must_use]
    pub fn between(mut self, before: Vec<String>, then: &str) -> Self {
        self.notes.splice(..0, before);
        self.next = (!self.steps.is_empty()).then(|| then.to_owned());
        self
    }
}

/// Runs the editor's own program.
#[derive(Debug)]
pub struct Run {
    pub program: PathBuf,
    pub arguments: Vec<String>,
    /// What that does.
    pub what: String,
    /// How to know that it did: some of these programs fail and say that they did not.
    pub proof: Proof,
}

/// A line that the program must print, or must not, when it is run with these arguments.
#[derive(Debug)]
pub struct Proof {
    pub arguments: &'static [&'static str],
    pub line: &'static str,
    pub is_there: bool,
}

impl Step for Run {
    /// What the program did, in its own words.
    fn carry_out(&self) -> anyhow::Result<String> {
        let in_words = |reason: String| format!("{}: {reason}", self.what);
        let failed = |reason| anyhow!(in_words(reason));
        let ended =
            program::run(&self.program, &self.arguments, INSTALL_TIMEOUT).map_err(failed)?;
        // Success is reported in the last line; the reason for a failure may be followed by warnings.
        let last = ended.out.last().or(ended.errors.last()).cloned();
        let reason = program::in_words(&ended.errors).or_else(|| last.clone());
        let reason = reason.unwrap_or_else(|| "it gave no reason".to_owned());
        if !ended.status.success() {
            let status = ended.status;
            return Err(failed(format!("failed ({status}): {reason}")));
        }
        if self.proof.is_contradicted_by(&self.program) {
            let lists = if self.proof.is_there {
                "does not list it"
            } else {
                "still lists it"
            };
            let program = self.program.display();
            return Err(failed(format!("{program} {lists} afterwards: {reason}")));
        }
        Ok(in_words(last.unwrap_or_else(|| "done".to_owned())))
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.arguments.join(" ");
        write!(f, "run {} {words} ({})", self.program.display(), self.what)
    }
}

impl Proof {
    /// Whether the program answers, and otherwise. One that cannot tell is believed.
    fn is_contradicted_by(&self, program: &Path) -> bool {
        let ended = program::run(program, self.arguments, LIST_TIMEOUT);
        ended.is_ok_and(|ended| {
            let mut lines = ended.out.iter();
            let is_there = lines.any(|line| line.eq_ignore_ascii_case(self.line));
            ended.status.success() && is_there != self.is_there
        })
    }
}
