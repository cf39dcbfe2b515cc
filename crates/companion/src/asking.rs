//! Whether agents ask before they change files, as far as it can be seen: their hooks say in which mode they
//! are, and what is written without a proposal is noticed. Without I/O.
//!
//! Every hook fails open, so that hooks alone prove nothing: the request for diagnostics that comes before each
//! write is compared with the proposals.

use std::collections::{HashMap, HashSet};

use pillion_protocol::Dialect;
use pillion_protocol::claude::hooks::{Call, Review};

use crate::sessions::SessionId;

/// The permission modes in which it changes files without asking.
const WITHOUT_ASKING: [&str; 4] = ["auto", "acceptEdits", "bypassPermissions", "dontAsk"];

/// What makes it ask.
const CURE: &str =
    "started with `pillion run claude`, and with hooks enabled, it asks before each change";

/// How many files of a session are remembered. One more is no asked one.
const MAX_FILES: usize = 2000;

/// A longer name of a mode is none, and a longer path is none of a file.
const MAX_MODE: usize = 32;
const MAX_PATH: usize = 4096;

/// What each session was seen to do.
#[derive(Debug, Default)]
pub(crate) struct Asking {
    sessions: HashMap<SessionId, Seen>,
    /// The files of which a person has accepted changes that a command of ours proposed, such as an agent's hook.
    accepted: HashSet<String>,
}

#[derive(Debug, Default)]
struct Seen {
    hook: Hook,
    /// True if a hook that is a command shows each change first.
    is_commanded: bool,
    /// The files of which it has proposed changes and not written them yet, and how many.
    proposed: HashMap<String, usize>,
    /// The files that subagents are about to change: they go on when the next prompt comes.
    subagents: HashSet<String>,
    /// A file that it wrote without a proposal.
    unasked: Option<String>,
}

#[derive(Debug, Default)]
enum Hook {
    /// No turn has begun yet.
    #[default]
    Unknown,
    /// A turn began without a word of one.
    None,
    Says {
        review: Review,
        mode: String,
    },
}

impl Asking {
    /// A hook was called. Whether what people see of the session has changed.
    pub(crate) fn hooked(&mut self, session: &SessionId, call: &Call) -> bool {
        let seen = self.sessions.entry(session.clone()).or_default();
        let subagents = call.path.as_ref().filter(|_| call.is_subagent);
        if let Some(path) = subagents.filter(|path| is_short(path))
            && seen.subagents.len() < MAX_FILES
        {
            seen.subagents.insert(path.clone());
        }
        // It is shown, and another's text.
        let letters = call.mode.chars().filter(char::is_ascii_alphabetic);
        let mode: String = letters.take(MAX_MODE).collect();
        let is_known = matches!(
            &seen.hook,
            Hook::Says { review, mode: known } if *review == call.review && *known == mode
        );
        let review = call.review;
        seen.hook = Hook::Says { review, mode };
        !is_known
    }

    /// A person accepted a change of this file that a command of ours proposed.
    pub(crate) fn command_accepted(&mut self, path: &str) {
        if self.accepted.len() < MAX_FILES && is_short(path) {
            self.accepted.insert(path.to_owned());
        }
    }

    /// A hook that is a command was called, and proposed changes of these files for the agent: those count that a person
    /// has accepted. Whether what people see of the session has changed.
    pub(crate) fn commanded<'a>(
        &mut self,
        session: &SessionId,
        paths: impl Iterator<Item = &'a str>,
    ) -> bool {
        for path in paths {
            if self.accepted.remove(path) {
                self.proposed(session, path);
            }
        }
        let seen = self.sessions.entry(session.clone()).or_default();
        !std::mem::replace(&mut seen.is_commanded, true)
    }

    /// A turn begins; a hook has been called before, if there is one. Whether something has changed.
    pub(crate) fn turn_begins(&mut self, session: &SessionId) -> bool {
        let seen = self.sessions.entry(session.clone()).or_default();
        // Of the others it has written what was accepted.
        let subagents = &seen.subagents;
        seen.proposed.retain(|path, _| subagents.contains(path));
        let is_new = matches!(seen.hook, Hook::Unknown);
        if is_new {
            seen.hook = Hook::None;
        }
        is_new
    }

    /// It proposes a change of this file.
    pub(crate) fn proposed(&mut self, session: &SessionId, path: &str) {
        let seen = self.sessions.entry(session.clone()).or_default();
        let is_known = seen.proposed.contains_key(path);
        if is_known || (seen.proposed.len() < MAX_FILES && is_short(path)) {
            *seen.proposed.entry(path.to_owned()).or_default() += 1;
        }
    }

    /// The proposal was rejected, and nothing is written.
    pub(crate) fn rejected(&mut self, session: &SessionId, path: &str) {
        if let Some(seen) = self.sessions.get_mut(session) {
            seen.settle(path);
        }
    }

    /// It is about to write this file. Whether something has changed.
    pub(crate) fn writes(&mut self, session: &SessionId, path: &str) -> bool {
        let seen = self.sessions.entry(session.clone()).or_default();
        if seen.settle(path) {
            return false;
        }
        // Of one that never asks, once is enough.
        let is_first = seen.unasked.is_none();
        let is_new = is_first || (seen.always_asks() && seen.unasked.as_deref() != Some(path));
        if is_new {
            seen.unasked = Some(path.chars().take(MAX_PATH).collect());
        }
        is_new
    }

    /// Returns true if its hooks have been heard of.
    pub(crate) fn is_hooked(&self, session: &SessionId) -> bool {
        let seen = self.sessions.get(session);
        seen.is_some_and(|seen| matches!(seen.hook, Hook::Says { .. }))
    }

    /// Returns true if a subagent proposes a change of this file: it waits for the decision also when the
    /// next turn begins.
    pub(crate) fn is_of_subagent(&self, session: &SessionId, path: &str) -> bool {
        let seen = self.sessions.get(session);
        seen.is_some_and(|seen| seen.subagents.contains(path))
    }

    pub(crate) fn forget(&mut self, session: &SessionId) {
        self.sessions.remove(session);
    }

    /// How the agents ask, one sentence for each that something is known of.
    pub(crate) fn notes(&self, agents: &[(SessionId, Dialect)]) -> Vec<String> {
        let seen = |(session, agent): &(SessionId, Dialect)| {
            self.sessions.get(session)?.note(agent.display_name())
        };
        unique(agents.iter().filter_map(seen))
    }

    /// What was written without asking, one sentence for each agent.
    pub(crate) fn unasked(&self, agents: &[(SessionId, Dialect)]) -> Vec<String> {
        let seen = |(session, agent): &(SessionId, Dialect)| {
            self.sessions.get(session)?.unasked(agent.display_name())
        };
        unique(agents.iter().filter_map(seen))
    }
}

fn unique(sentences: impl Iterator<Item = String>) -> Vec<String> {
    let mut unique = Vec::new();
    for sentence in sentences {
        if !unique.contains(&sentence) {
            unique.push(sentence);
        }
    }
    unique
}

fn is_short(path: &str) -> bool {
    path.len() <= MAX_PATH
}

impl Seen {
    /// One proposal for this file is over; whether there was one.
    fn settle(&mut self, path: &str) -> bool {
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

    fn always_asks(&self) -> bool {
        let review = Review::Always;
        match &self.hook {
            Hook::Says { review: said, .. } => *said == review,
            Hook::Unknown | Hook::None => self.is_commanded,
        }
    }

    fn note(&self, agent: &str) -> Option<String> {
        Some(match &self.hook {
            Hook::Unknown | Hook::None if self.is_commanded => {
                format!("{agent} runs `pillion hook`: every change is shown here first.")
            }
            Hook::Unknown => return None,
            Hook::None => format!(
                "{agent} may change files without asking: in its modes auto, acceptEdits and bypassPermissions it \
                 does; {CURE}."
            ),
            Hook::Says { review, mode } => {
                let does = match review {
                    Review::Always => "every change is shown here first",
                    Review::Asked if WITHOUT_ASKING.contains(&mode.as_str()) => {
                        "it changes files without asking"
                    }
                    Review::Asked => "it asks before it changes a file",
                };
                format!("{agent} is in mode {mode}: {does}.")
            }
        })
    }

    fn unasked(&self, agent: &str) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn call(review: Review, mode: &str, path: Option<&str>) -> Call {
        Call {
            review,
            mode: mode.into(),
            is_subagent: false,
            path: path.map(str::to_owned),
        }
    }

    fn said(asking: &Asking) -> (Vec<String>, Vec<String>) {
        let agents = [("s".into(), Dialect::ClaudeCode)];
        (asking.notes(&agents), asking.unasked(&agents))
    }

    #[test]
    fn the_mode_and_what_it_means_are_said() {
        let session = SessionId::from("s");
        let mut asking = Asking::default();
        assert_eq!(said(&asking), (vec![], vec![]));
        for (review, mode, expected) in [
            (Review::Always, "auto", "every change is shown here first"),
            (Review::Asked, "auto", "it changes files without asking"),
            (
                Review::Asked,
                "acceptEdits",
                "it changes files without asking",
            ),
            (Review::Asked, "plan", "it asks before it changes a file"),
        ] {
            let call = call(review, mode, None);
            assert!(asking.hooked(&session, &call), "{mode}");
            assert!(!asking.hooked(&session, &call), "nothing new");
            assert!(!asking.turn_begins(&session));
            let expected = format!("Claude Code is in mode {mode}: {expected}.");
            assert_eq!(said(&asking), (vec![expected], vec![]));
        }
    }

    #[test]
    fn a_turn_without_a_hook_says_how_to_have_one() {
        let mut asking = Asking::default();
        assert!(asking.turn_begins(&"s".into()));
        let (notes, _) = said(&asking);
        assert!(notes[0].contains("`pillion run claude`"), "{notes:?}");
        assert!(!asking.turn_begins(&"s".into()));
        asking.forget(&"s".into());
        assert_eq!(said(&asking), (vec![], vec![]));
    }

    #[test]
    fn where_a_hook_is_a_command_what_was_accepted_there_was_shown() {
        let session = SessionId::from("s");
        let mut asking = Asking::default();
        asking.turn_begins(&session);
        let none = std::iter::empty::<&str>;
        assert!(asking.commanded(&session, none()));
        assert!(!asking.commanded(&session, none()), "nothing new");
        let note = "Claude Code runs `pillion hook`: every change is shown here first.";
        assert_eq!(said(&asking), (vec![note.to_owned()], vec![]));
        asking.command_accepted("/a");
        asking.commanded(&session, ["/a", "/b"].into_iter());
        assert!(!asking.writes(&session, "/a"), "it was shown");
        for path in ["/a", "/b"] {
            assert!(asking.writes(&session, path), "{path} was not");
            let expected = format!("Claude Code changed {path:?} without showing it here first");
            assert_eq!(said(&asking).1, [expected]);
        }
        assert!(
            !asking.is_hooked(&session),
            "it does not call the companion"
        );
    }

    #[test]
    fn what_was_not_asked_about_is_said_once() {
        let session = SessionId::from("s");
        let mut asking = Asking::default();
        asking.proposed(&session, "/a");
        assert!(!asking.writes(&session, "/a"), "it was asked about");
        asking.proposed(&session, "/c");
        asking.rejected(&session, "/c");
        assert!(asking.writes(&session, "/c"), "written although rejected");
        assert!(!asking.writes(&session, "/d"), "said before");
        let (_, unasked) = said(&asking);
        let expected =
            "Claude Code changes files without showing them here first, such as \"/c\"; ";
        assert!(unasked[0].starts_with(expected), "{unasked:?}");
    }

    #[test]
    fn where_each_change_is_to_be_shown_each_that_was_not_is_said() {
        let session = SessionId::from("s");
        let mut asking = Asking::default();
        for path in ["/a", "/b", "/a"] {
            // The hook answered "ask", and no proposal came.
            asking.hooked(&session, &call(Review::Always, "auto", Some(path)));
            assert!(asking.writes(&session, path), "{path}");
            assert!(!asking.writes(&session, path), "{path} is said");
            let expected = format!("Claude Code changed {path:?} without showing it here first");
            assert_eq!(said(&asking).1, [expected]);
        }
    }

    #[test]
    fn two_proposals_for_one_file_are_two() {
        let session = SessionId::from("s");
        let mut asking = Asking::default();
        for _ in 0..2 {
            asking.proposed(&session, "/a");
        }
        assert!(!asking.writes(&session, "/a"));
        assert!(!asking.writes(&session, "/a"));
        assert!(asking.writes(&session, "/a"));
    }

    #[test]
    fn what_was_asked_in_the_last_turn_does_not_count() {
        let session = SessionId::from("s");
        let mut asking = Asking::default();
        let subagents = Call {
            is_subagent: true,
            ..call(Review::Always, "auto", Some("/b"))
        };
        asking.hooked(&session, &subagents);
        for path in ["/a", "/b"] {
            asking.proposed(&session, path);
        }
        asking.turn_begins(&session);
        assert!(asking.is_of_subagent(&session, "/b"));
        assert!(!asking.is_of_subagent(&session, "/a"));
        assert!(!asking.writes(&session, "/b"), "a subagent goes on");
        assert!(!asking.is_of_subagent(&session, "/b"));
        assert!(asking.writes(&session, "/a"));
    }

    #[test]
    fn nothing_grows_with_what_an_agent_sends() {
        let session = SessionId::from("s");
        let mut asking = Asking::default();
        for number in 0..2 * MAX_FILES {
            let path = number.to_string().repeat(MAX_PATH / 4);
            let subagents = Call {
                is_subagent: true,
                ..call(Review::Always, &path, Some(&path))
            };
            asking.hooked(&session, &subagents);
            asking.proposed(&session, &path);
        }
        let long = "x".repeat(MAX_PATH + 1);
        asking.writes(&session, &long);
        let seen = &asking.sessions[&session];
        assert!(seen.proposed.len() <= MAX_FILES && seen.subagents.len() <= MAX_FILES);
        assert!(
            seen.unasked
                .as_ref()
                .is_some_and(|path| path.len() <= MAX_PATH)
        );
        assert!(!seen.proposed.contains_key(&long));
    }
}
