//! `d`: what is proposed beside other texts than the file: to be read, and nothing else. It is worked out elsewhere, because the texts
//! are read from disks and may be long.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use pillion_judge::proposal::Version;
use pillion_text::Text;
use pillion_view::{ProposalKey, Proposed};

use super::history::{History, Opened};
use super::{App, Effect, Overlay, Tone};

/// A proposal, and what the review itself knows of its file's former texts.
#[derive(Debug)]
pub struct Bases {
    /// The proposal.
    pub key: ProposalKey,
    /// The file.
    pub path: PathBuf,
    /// Its name for people.
    pub shown: String,
    /// The text that would be accepted.
    pub proposed: String,
    /// The proposal that was on the screen before it.
    pub looked_at: Option<Version>,
    /// The file as it came with the proposal, and the agent's own text: none if that is in the file already.
    pub came: Option<(Arc<Text>, Arc<Text>)>,
    /// The workspace folders.
    pub roots: Vec<PathBuf>,
}

impl App {
    pub(super) fn ask_for_bases(&mut self) {
        let view = &self.views[self.current];
        let is_written = view.diff.written.is_some();
        self.effects.push(Effect::Bases(Box::new(Bases {
            key: view.key(),
            path: view.target.path.clone(),
            shown: view.target.shown.clone(),
            proposed: view.proposal.text(),
            looked_at: view.looked_at_before().cloned(),
            came: view.proposal.came().filter(|_| !is_written),
            roots: self.roots.clone(),
        })));
    }

    pub(super) fn show_bases(&mut self, key: ProposalKey, compared: Vec<Opened>, now: Instant) {
        let is_shown = self.view().is_some_and(|view| view.key() == key);
        if !is_shown || self.overlay.is_some() || self.remark.is_some() {
            return;
        }
        let mut compared = VecDeque::from(compared);
        let Some(first) = compared.pop_front() else {
            let text =
                "no other text of this file is known: git has none, and no turn has changed it";
            return self.say(Tone::Info, text, now);
        };
        self.history = History {
            opened: Some(first),
            others: compared,
            ..History::default()
        };
        self.overlay = Some(Overlay::History);
    }
}
