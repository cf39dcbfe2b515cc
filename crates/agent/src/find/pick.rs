//! The pick from all files, before anything is dialled.

use std::path::Path;

use pillion_protocol::discovery::{DiscoveryFile, split_roots};

use super::Situation;
use super::read::{Seen, names};
use super::verdict::{Candidate, Verdict};
use super::workspace::Matcher;

/// An agent in its situation, with what it works out first.
pub(super) struct Place<'a> {
    pub(super) situation: &'a Situation<'a>,
    pub(super) ide_pid: Option<u32>,
    pub(super) matcher: Matcher<'a>,
    /// The port in the port variable.
    pub(super) port_variable: Option<u16>,
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
}

impl<'a> Place<'a> {
    pub(super) fn new(situation: &'a Situation<'a>, ide_pid: Option<u32>) -> Self {
        let agent = situation.release.agent;
        let variable = agent.port_variable();
        let value = variable.and_then(|name| situation.environment.filled(name)?.to_str());
        let port = value.and_then(|value| value.parse().ok());
        Self {
            situation,
            ide_pid,
            matcher: Matcher::new(agent, situation.current_dir),
            port_variable: port.filter(|port| *port > 0),
        }
    }

    /// Adds the agent's other files, which it does not read: those of other processes and of older releases.
    pub(super) fn not_looked_at(&self, pick: &mut Pick) {
        if self.situation.only.is_some() {
            return;
        }
        for place in self.situation.release.agent.places() {
            let folder = self.situation.environment.directory(place);
            let fitting = names(&folder, None).into_iter();
            for name in fitting.filter(|name| place.name.fits(name)) {
                let path = folder.join(name);
                if !pick.knows(&path) {
                    pick.push(Seen::read(path), Verdict::NotLookedAt);
                }
            }
        }
    }
}

impl Pick {
    pub(super) fn push(&mut self, seen: Seen, verdict: Verdict) {
        self.files.push(Judged { seen, verdict });
    }

    pub(super) fn knows(&self, path: &Path) -> bool {
        self.files.iter().any(|judged| judged.seen.path == path)
    }

    pub(super) fn chosen(&self) -> Option<&Judged> {
        self.files.iter().find(|judged| judged.verdict.is_chosen())
    }

    /// Returns true if the agent still looks for one.
    pub(super) fn is_open(&self) -> bool {
        self.chosen().is_none()
    }

    pub(super) fn chosen_content(&self) -> Option<&DiscoveryFile> {
        self.chosen()?.seen.content()
    }

    pub(super) fn candidates(self) -> Vec<Candidate> {
        let candidate = |Judged { seen, verdict }| {
            let content = seen.content();
            Candidate {
                port: content.map(|it| it.port).filter(|port| *port > 0),
                roots: content.map_or_else(Vec::new, |it| split_roots(&it.workspace_path)),
                path: seen.path,
                verdict,
            }
        };
        self.files.into_iter().map(candidate).collect()
    }
}
