//! The pick from all files, before anything is dialled.

use super::Situation;
use super::content::{Content, port_number};
use super::read::Seen;
use super::verdict::{Candidate, Verdict};
use super::workspace::Matcher;
use crate::release::Change;

/// A release in its situation, with what it works out first.
pub(super) struct Place<'a> {
    pub(super) situation: &'a Situation<'a>,
    pub(super) ide_pid: Option<u32>,
    pub(super) matcher: Matcher<'a>,
    /// The port variable's value, if the release heeds it.
    pub(super) port_variable: Option<String>,
}

/// A file and its verdict.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) seen: Seen,
    pub(super) verdict: Verdict,
}

/// All files, in the order in which the agent looks at them.
#[derive(Debug, Default)]
pub(super) struct Pick {
    pub(super) files: Vec<Judged>,
    /// The port variable names a companion of another workspace, and is not dialled.
    pub(super) is_variable_rejected: bool,
    /// The files that are dialled after the chosen one, if it does not answer, in this order.
    pub(super) fallbacks: Vec<usize>,
    /// The file at which the attempt ends instead.
    pub(super) failing_fallback: Option<usize>,
}

impl<'a> Place<'a> {
    pub(super) fn new(situation: &'a Situation<'a>, ide_pid: Option<u32>) -> Self {
        let release = situation.release;
        let variable = release.agent.port_variable();
        let value = variable.and_then(|name| situation.environment.filled(name));
        let value = value.map(|value| value.to_string_lossy().into_owned());
        let is_port = |value: &String| port_number(value).is_some_and(|port| port > 0);
        Self {
            situation,
            ide_pid,
            matcher: Matcher::new(release, situation.current_dir),
            port_variable: value.filter(|value| !release.has(Change::LockFile) || is_port(value)),
        }
    }
}

impl Pick {
    pub(super) fn push(&mut self, seen: Seen, verdict: Verdict) {
        self.files.push(Judged { seen, verdict });
    }

    pub(super) fn chosen(&self) -> Option<&Judged> {
        self.files.iter().find(|judged| judged.verdict.is_chosen())
    }

    /// Returns true if the agent still looks for one.
    pub(super) fn is_open(&self) -> bool {
        self.chosen().is_none() && self.ending().is_none()
    }

    pub(super) fn chosen_content(&self) -> Option<&Content> {
        self.chosen()?.seen.content()
    }

    pub(super) fn ending(&self) -> Option<&Judged> {
        let ends = |judged: &&Judged| judged.verdict == Verdict::EndsAttempt;
        self.files.iter().find(ends)
    }

    pub(super) fn candidates(self) -> Vec<Candidate> {
        let candidate = |Judged { seen, verdict }| Candidate {
            port: seen.content().and_then(Content::port),
            roots: seen.content().map(Content::roots).unwrap_or_default(),
            path: seen.path,
            verdict,
        };
        self.files.into_iter().map(candidate).collect()
    }
}
