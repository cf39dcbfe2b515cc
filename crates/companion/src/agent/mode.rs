//! Tracks whether an agent asks before it changes files: the person's choice, and what of it can be seen. Its hooks say in
//! which mode it is, and what is written without a proposal is noticed. Without I/O.
//!
//! Every hook fails open, so that hooks alone prove nothing: the request for diagnostics that comes before each
//! write is compared with the proposals.

use std::collections::{HashMap, HashSet};

use pillion_protocol::claude::hooks::Call;
use pillion_protocol::{ReviewChoice, ReviewMode};

/// The permission modes in which it changes files without asking.
const WITHOUT_ASKING: [&str; 4] = ["auto", "acceptEdits", "bypassPermissions", "dontAsk"];

/// The way to make it ask.
const CURE: &str =
    "started with `pillion run claude`, and with hooks enabled, it asks before each change";

/// The reason why an agent is not let write without asking.
pub(super) const UNRECORDED: &str = "what agents change is not recorded here (see PILLION_CHANGES), so there would be nothing to look at after the write";

/// The number of files that are remembered. One more is no asked one.
const MAX_FILES: usize = 2000;

/// A longer name of a mode is none, and a longer path is none of a file.
const MAX_MODE: usize = 32;
const MAX_PATH: usize = 4096;

/// The signs that were seen of an agent.
#[derive(Debug, Default)]
pub(crate) struct Mode {
    hook: Hook,
    /// The person's choice, in place of what it was started with.
    chosen: Option<ReviewMode>,
    /// The person wants to see shell commands before they run.
    commands: bool,
    /// True if a hook that is a command shows each change first.
    is_commanded: bool,
    /// The files of which it has proposed changes and not written them yet, and how many.
    proposed: HashMap<String, usize>,
    /// The files that subagents are about to change: they go on when the next prompt comes.
    subagents: HashSet<String>,
    /// A file that it wrote without a proposal.
    unasked: Option<String>,
    /// A file that it was not let write in this turn, as it would have asked nobody.
    refused: Option<String>,
    /// True if it is to write without asking, and cannot because nothing of that is recorded.
    is_unrecorded: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Hook {
    /// No turn has begun yet.
    #[default]
    Unknown,
    /// A turn began without a word of one.
    None,
    Says {
        review: ReviewMode,
        mode: String,
    },
}

impl Mode {
    /// A hook was called; `records` tells whether what agents change is recorded. Returns true if what people see has changed.
    pub(crate) fn hooked(&mut self, call: &Call, records: bool) -> bool {
        let subagents = call.path.as_ref().filter(|_| call.is_subagent());
        if let Some(path) = subagents.filter(|path| is_short(path))
            && self.subagents.len() < MAX_FILES
        {
            self.subagents.insert(path.clone());
        }
        // It is shown, and another's text.
        let letters = call.mode.chars().filter(char::is_ascii_alphabetic);
        let mode: String = letters.take(MAX_MODE).collect();
        let review = self.recorded(call.review, records);
        let is_known = matches!(
            &self.hook,
            Hook::Says { review: before, mode: known } if *before == review && *known == mode
        );
        self.hook = Hook::Says { review, mode };
        !is_known
    }

    /// A hook that is a command was called, which shows each change first. Returns true if that is news.
    pub(super) fn commanded(&mut self) -> bool {
        !std::mem::replace(&mut self.is_commanded, true)
    }

    /// A turn begins; a hook has been called before, if there is one. Returns true if something has changed.
    pub(crate) fn turn_begins(&mut self) -> bool {
        // Of the others it has written what was accepted.
        let subagents = &self.subagents;
        self.proposed.retain(|path, _| subagents.contains(path));
        let is_new = matches!(self.hook, Hook::Unknown);
        if is_new {
            self.hook = Hook::None;
        }
        self.refused.take().is_some() || is_new
    }

    /// It is not let write this file, as it would ask nobody.
    pub(super) fn refuses(&mut self, path: &str) {
        self.refused = Some(path.chars().take(MAX_PATH).collect());
    }

    /// It proposes a change of this file.
    pub(crate) fn proposed(&mut self, path: &str) {
        let is_known = self.proposed.contains_key(path);
        if is_known || (self.proposed.len() < MAX_FILES && is_short(path)) {
            *self.proposed.entry(path.to_owned()).or_default() += 1;
        }
    }

    /// It is about to write this file. Returns true if something has changed.
    pub(crate) fn writes(&mut self, path: &str) -> bool {
        if self.settle(path) || self.review() == Some(ReviewMode::After) {
            return false;
        }
        // Of one that never asks, once is enough.
        let is_first = self.unasked.is_none();
        let is_new = is_first || (self.always_asks() && self.unasked.as_deref() != Some(path));
        if is_new {
            self.unasked = Some(path.chars().take(MAX_PATH).collect());
        }
        is_new
    }

    /// One proposal for this file is over, as after a rejection; whether there was one.
    pub(crate) fn settle(&mut self, path: &str) -> bool {
        let Some(count) = self.proposed.get_mut(path) else {
            return false;
        };
        *count -= 1;
        if *count == 0 {
            self.proposed.remove(path);
            self.subagents.remove(path);
        }
        true
    }

    pub(super) fn choose(&mut self, choice: ReviewChoice) {
        match choice {
            ReviewChoice::Always => self.chosen = Some(ReviewMode::Always),
            ReviewChoice::Asked => self.chosen = Some(ReviewMode::Asked),
            ReviewChoice::After => self.chosen = Some(ReviewMode::After),
            ReviewChoice::Commands => self.commands = true,
            ReviewChoice::NoCommands => self.commands = false,
            ReviewChoice::Changes => {}
        }
    }

    /// The person has chosen this for its process before. What they have chosen since is newer.
    pub(super) fn chosen_before(
        &mut self,
        mode: Option<ReviewMode>,
        commands: bool,
        records: bool,
    ) {
        let mode = mode.map(|mode| self.recorded(mode, records));
        self.chosen = self.chosen.or(mode);
        self.commands |= commands;
    }

    /// Returns the person's choice, and whether they want to see shell commands.
    pub(super) fn chosen(&self) -> (Option<ReviewMode>, bool) {
        (self.chosen, self.commands)
    }

    /// Returns true if its hooks have been heard of.
    pub(crate) fn is_hooked(&self) -> bool {
        matches!(self.hook, Hook::Says { .. })
    }

    /// Returns true if a turn began without a word of its hooks.
    pub(super) fn is_without_hooks(&self) -> bool {
        self.hook == Hook::None
    }

    /// Returns true if a subagent proposes a change of this file: it waits for the decision also when the
    /// next turn begins.
    pub(crate) fn is_of_subagent(&self, path: &str) -> bool {
        self.subagents.contains(path)
    }

    /// Returns true if the person wants to see shell commands before they run.
    pub(crate) fn shows_commands(&self) -> bool {
        self.commands
    }

    /// Returns when it asks, if a hook can make it do so: as the person has chosen, or as it was started.
    pub(crate) fn review(&self) -> Option<ReviewMode> {
        match &self.hook {
            Hook::None => None,
            Hook::Unknown => self.chosen,
            Hook::Says { review, .. } => Some(self.chosen.unwrap_or(*review)),
        }
    }

    /// Returns true if it asks in its own window before each change while nobody is connected: as it was started.
    pub(super) fn asks_alone(&self) -> bool {
        matches!(&self.hook, Hook::Says { review, .. } if *review != ReviewMode::Asked)
    }

    /// The mode in which it can be: where nothing is recorded, every change is shown first.
    fn recorded(&mut self, mode: ReviewMode, records: bool) -> ReviewMode {
        let is_unrecorded = mode == ReviewMode::After && !records;
        self.is_unrecorded |= is_unrecorded;
        match is_unrecorded {
            true => ReviewMode::Always,
            false => mode,
        }
    }

    fn always_asks(&self) -> bool {
        match &self.hook {
            Hook::Says { .. } => self.review() == Some(ReviewMode::Always),
            Hook::Unknown | Hook::None => self.is_commanded,
        }
    }

    /// Returns true if it changes files without asking now.
    pub(super) fn is_silent(&self) -> bool {
        let Hook::Says { mode, .. } = &self.hook else {
            return false;
        };
        self.review() == Some(ReviewMode::Asked) && WITHOUT_ASKING.contains(&mode.as_str())
    }

    /// Returns how it asks, as a sentence, if something is known of it.
    pub(super) fn note(&self, agent: &str) -> Option<String> {
        let mut note = match (&self.hook, self.review()) {
            (Hook::Unknown | Hook::None, _) if self.is_commanded => {
                format!("{agent} runs `pillion hook`: every change is shown here first.")
            }
            (Hook::Unknown, None) if self.commands => format!("{agent} asks as it was started."),
            (Hook::Unknown, None) => return None,
            (Hook::Unknown, Some(ReviewMode::Always)) => {
                format!("{agent} shows every change here first, from your next prompt on.")
            }
            (Hook::Unknown, Some(ReviewMode::Asked)) => {
                format!("{agent} asks as its permission mode has it, from your next prompt on.")
            }
            (Hook::Unknown, Some(ReviewMode::After)) => format!(
                "{agent} changes files in the workspace without asking, from your next prompt on. You look at them after \
                 the write."
            ),
            (Hook::None, _) => format!(
                "{agent} may change files without asking: in its modes auto, acceptEdits and bypassPermissions it \
                 does; {CURE}."
            ),
            (Hook::Says { mode, .. }, review) => {
                let does = match review {
                    Some(ReviewMode::Always) => "every change is shown here first",
                    Some(ReviewMode::After) => {
                        "it changes files in the workspace without asking, and you look at them after the write"
                    }
                    _ if self.is_silent() => "it changes files without asking",
                    _ => "it asks before it changes a file",
                };
                format!("{agent} is in mode {mode}: {does}.")
            }
        };
        if self.is_unrecorded && self.always_asks() {
            note.push_str(" It asks because ");
            note.push_str(UNRECORDED);
            note.push('.');
        }
        if self.commands && self.hook != Hook::None {
            note.push_str(" Its shell commands are shown here before they run.");
        }
        Some(note)
    }

    /// Returns what it was not let write, as a sentence.
    pub(super) fn refused(&self, agent: &str) -> Option<String> {
        let path = self.refused.as_ref()?;
        let Hook::Says { mode, .. } = &self.hook else {
            return None;
        };
        Some(format!(
            "{agent} was not let change {path:?}: the file runs as code, and in mode {mode} you would not be asked; in another mode \
             (Shift+Tab in it) you are"
        ))
    }

    /// Returns what it wrote without asking, as a sentence.
    pub(super) fn unasked(&self, agent: &str) -> Option<String> {
        let path = self.unasked.as_ref()?;
        if self.always_asks() {
            return Some(format!(
                "{agent} changed {path:?} without showing it here first"
            ));
        }
        let cure = match &self.hook {
            Hook::Says { .. } => String::new(),
            _ => format!("; {CURE}"),
        };
        Some(format!(
            "{agent} changes files without showing them here first, such as {path:?}{cure}"
        ))
    }
}

fn is_short(path: &str) -> bool {
    path.len() <= MAX_PATH
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;

    #[test]
    fn nothing_grows_with_what_an_agent_sends() {
        let mut mode = Mode::default();
        for number in 0..2 * MAX_FILES {
            let path = number.to_string().repeat(MAX_PATH / 4);
            let subagents = Call {
                mode: path.clone(),
                subagent: Some("a1".to_owned()),
                path: Some(path.clone()),
                ..Call::from_arguments(Map::new())
            };
            mode.hooked(&subagents, true);
            mode.proposed(&path);
        }
        let long = "x".repeat(MAX_PATH + 1);
        mode.writes(&long);
        assert!(mode.proposed.len() <= MAX_FILES && mode.subagents.len() <= MAX_FILES);
        assert!(mode.unasked.is_some_and(|path| path.len() <= MAX_PATH));
        assert!(!mode.proposed.contains_key(&long));
    }
}
