//! Tracks whether agents ask before they change files: the person's choice, and what of it can be seen. Their hooks say in
//! which mode they are, and what is written without a proposal is noticed. Without I/O.
//!
//! Every hook fails open, so that hooks alone prove nothing: the request for diagnostics that comes before each
//! write is compared with the proposals.

use std::collections::{HashMap, HashSet};

use pillion_protocol::claude::hooks::Call;
use pillion_protocol::{AgentProcess, ProcessChoice, ReviewChoice, ReviewMode};
use pillion_view::Review;

use crate::sessions::{Listening, SessionId};

/// The permission modes in which it changes files without asking.
const WITHOUT_ASKING: [&str; 4] = ["auto", "acceptEdits", "bypassPermissions", "dontAsk"];

/// The way to make it ask.
const CURE: &str =
    "started with `pillion run claude`, and with hooks enabled, it asks before each change";

/// The agents that do as the person chooses.
const CHOOSES: &str = "Claude Code 2.1.118 or later, started with `pillion run claude` and with hooks enabled, asks as you choose";

/// The reason why an agent is not let write without asking.
const UNRECORDED: &str = "what agents change is not recorded here (see PILLION_CHANGES), so there would be nothing to look at after the write";

/// The number of files of a session that are remembered. One more is no asked one.
const MAX_FILES: usize = 2000;

/// For how many processes what the person chose is kept.
const MAX_CHOICES: usize = 64;

/// A longer name of a mode is none, and a longer path is none of a file.
const MAX_MODE: usize = 32;
const MAX_PATH: usize = 4096;

/// The signs that were seen of each session.
#[derive(Debug, Default)]
pub(crate) struct Asking {
    sessions: HashMap<SessionId, Seen>,
    /// The files of which a person has accepted changes that a command of ours proposed, such as an agent's hook.
    accepted: HashSet<String>,
    /// The person's choice for each process: it counts also when that connects again. The latest is the last.
    choices: Vec<ProcessChoice>,
    /// True if what agents change is recorded: otherwise nothing is looked at after the write.
    records: bool,
}

#[derive(Debug, Default)]
struct Seen {
    /// Its process, as it says.
    process: Option<AgentProcess>,
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

impl Asking {
    /// With what was chosen for processes before.
    pub(crate) fn with(choices: Vec<ProcessChoice>, records: bool) -> Self {
        Self {
            choices,
            records,
            ..Self::default()
        }
    }

    /// Returns the person's choices for processes of agents.
    pub(crate) fn choices(&self) -> &[ProcessChoice] {
        &self.choices
    }

    /// The person has chosen this elsewhere. What they have chosen here for the same process is newer.
    #[cfg(unix)]
    pub(crate) fn adopt(&mut self, mut choices: Vec<ProcessChoice>) {
        choices.retain(|it| self.choices.iter().all(|own| own.process != it.process));
        choices.append(&mut self.choices);
        choices.drain(..choices.len().saturating_sub(MAX_CHOICES));
        self.choices = choices;
    }

    /// A session is of this process. Returns true if something was chosen for that before.
    pub(crate) fn identified(&mut self, session: &SessionId, process: AgentProcess) -> bool {
        let seen = self.sessions.entry(session.clone()).or_default();
        seen.process = Some(process);
        let mut choices = self.choices.iter();
        let Some(choice) = choices.find(|choice| choice.process == process) else {
            return false;
        };
        let mode = choice.mode.map(|mode| seen.recorded(mode, self.records));
        seen.chosen = seen.chosen.or(mode);
        seen.commands |= choice.shows_commands;
        true
    }

    /// A hook was called. Returns true if what people see of the session has changed.
    pub(crate) fn hooked(&mut self, session: &SessionId, call: &Call) -> bool {
        let seen = self.sessions.entry(session.clone()).or_default();
        let subagents = call.path.as_ref().filter(|_| call.is_subagent());
        if let Some(path) = subagents.filter(|path| is_short(path))
            && seen.subagents.len() < MAX_FILES
        {
            seen.subagents.insert(path.clone());
        }
        // It is shown, and another's text.
        let letters = call.mode.chars().filter(char::is_ascii_alphabetic);
        let mode: String = letters.take(MAX_MODE).collect();
        let review = seen.recorded(call.review, self.records);
        let is_known = matches!(
            &seen.hook,
            Hook::Says { review: before, mode: known } if *before == review && *known == mode
        );
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
    /// has accepted. Returns true if what people see of the session has changed.
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

    /// A turn begins; a hook has been called before, if there is one. Returns true if something has changed.
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

    /// It is about to write this file. Returns true if something has changed.
    pub(crate) fn writes(&mut self, session: &SessionId, path: &str) -> bool {
        let seen = self.sessions.entry(session.clone()).or_default();
        if seen.settle(path) || seen.mode() == Some(ReviewMode::After) {
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

    /// Returns when an agent asks, if that is known: as the person has chosen, or as it was started.
    pub(crate) fn mode(&self, session: &SessionId) -> Option<ReviewMode> {
        self.sessions.get(session)?.mode()
    }

    /// Returns true if the person wants to see shell commands before they run.
    pub(crate) fn shows_commands(&self, session: &SessionId) -> bool {
        self.sessions.get(session).is_some_and(|seen| seen.commands)
    }

    /// The person chooses for all agents that do as they choose, or for that of this number; without a choice nothing
    /// changes. Returns what those agents do then, in sentences.
    pub(crate) fn choose(
        &mut self,
        agents: &[Listening],
        choice: Option<ReviewChoice>,
        number: Option<u32>,
    ) -> Result<String, String> {
        let able = |it: &&Listening| {
            let seen = self.sessions.get(&it.session);
            it.agent.announces_writes() && !seen.is_some_and(|seen| seen.hook == Hook::None)
        };
        let able: Vec<_> = agents.iter().filter(able).cloned().collect();
        if able.is_empty() {
            let all = if agents.is_empty() {
                "no agent is connected"
            } else {
                "no agent that is connected does this"
            };
            return Err(format!("{all}: {CHOOSES}"));
        }
        if choice == Some(ReviewChoice::After) && !self.records {
            return Err(UNRECORDED.to_owned());
        }
        let is_meant = |it: &&Listening| number.is_none_or(|number| it.number == number);
        let meant: Vec<_> = able.iter().filter(is_meant).cloned().collect();
        if meant.is_empty() {
            let numbers: Vec<_> = able.iter().map(|it| it.number.to_string()).collect();
            return Err(format!(
                "no such agent: the numbers are {}",
                numbers.join(", ")
            ));
        }
        for it in &meant {
            let seen = self.sessions.entry(it.session.clone()).or_default();
            match choice {
                Some(ReviewChoice::Always) => seen.chosen = Some(ReviewMode::Always),
                Some(ReviewChoice::Asked) => seen.chosen = Some(ReviewMode::Asked),
                Some(ReviewChoice::After) => seen.chosen = Some(ReviewMode::After),
                Some(ReviewChoice::Commands) => seen.commands = true,
                Some(ReviewChoice::NoCommands) => seen.commands = false,
                Some(ReviewChoice::Changes) | None => continue,
            }
            if let Some(process) = seen.process {
                self.choices.retain(|choice| choice.process != process);
                let too_many = (self.choices.len() + 1).saturating_sub(MAX_CHOICES);
                self.choices.drain(..too_many);
                self.choices.push(ProcessChoice {
                    process,
                    mode: seen.chosen,
                    shows_commands: seen.commands,
                });
            }
        }
        let sentences = |it: &Listening| {
            let seen = self.sessions.get(&it.session);
            let note = seen.and_then(|seen| seen.note(&it.name(agents)));
            note.unwrap_or_else(|| format!("{} asks as it was started.", it.name(agents)))
        };
        Ok(unique(meant.iter().map(sentences)).join(" "))
    }

    /// Returns how the agents ask, one sentence for each that something is known of.
    pub(crate) fn notes(&self, agents: &[Listening]) -> Vec<String> {
        let seen = |it: &Listening| self.sessions.get(&it.session)?.note(&it.name(agents));
        unique(agents.iter().filter_map(seen))
    }

    /// Returns what was written without asking, one sentence for each agent.
    pub(crate) fn unasked(&self, agents: &[Listening]) -> Vec<String> {
        let seen = |it: &Listening| {
            let seen = self.sessions.get(&it.session)?;
            seen.unasked(it.agent.display_name())
        };
        unique(agents.iter().filter_map(seen))
    }

    /// Returns when the agents ask, of those that do as the person chooses.
    pub(crate) fn review(&self, agents: &[Listening]) -> Option<Review> {
        let known = agents.iter().filter_map(|it| {
            let seen = self.sessions.get(&it.session)?;
            Some((it, seen, seen.mode()?))
        });
        let known: Vec<_> = known.collect();
        let (_, _, first) = known.first()?;
        let mode = known
            .iter()
            .all(|(_, _, mode)| mode == first)
            .then_some(*first);
        let word = mode.map_or("differs", ReviewMode::name);
        let silent = known.iter().filter(|(_, seen, _)| seen.is_silent());
        let silent: Vec<_> = silent.map(|(it, _, _)| it.name(agents)).collect();
        let unasked = match silent.as_slice() {
            [] => None,
            [one] => Some(format!("{one} changes files without asking.")),
            several => Some(format!(
                "{} change files without asking.",
                several.join(" and ")
            )),
        };
        let commands = match known.iter().any(|(_, seen, _)| seen.commands) {
            true => ", commands",
            false => "",
        };
        let label = match mode {
            Some(ReviewMode::After) => format!("after the write{commands}"),
            _ => format!("review: {word}{commands}"),
        };
        Some(Review {
            mode,
            label,
            unasked,
        })
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

    /// The mode in which it can be: where nothing is recorded, every change is shown first.
    fn recorded(&mut self, mode: ReviewMode, records: bool) -> ReviewMode {
        let is_unrecorded = mode == ReviewMode::After && !records;
        self.is_unrecorded |= is_unrecorded;
        match is_unrecorded {
            true => ReviewMode::Always,
            false => mode,
        }
    }

    /// Returns when it asks, if a hook can make it do so.
    fn mode(&self) -> Option<ReviewMode> {
        match &self.hook {
            Hook::None => None,
            Hook::Unknown => self.chosen,
            Hook::Says { review, .. } => Some(self.chosen.unwrap_or(*review)),
        }
    }

    fn always_asks(&self) -> bool {
        match &self.hook {
            Hook::Says { .. } => self.mode() == Some(ReviewMode::Always),
            Hook::Unknown | Hook::None => self.is_commanded,
        }
    }

    /// Returns true if it changes files without asking now.
    fn is_silent(&self) -> bool {
        let Hook::Says { mode, .. } = &self.hook else {
            return false;
        };
        self.mode() == Some(ReviewMode::Asked) && WITHOUT_ASKING.contains(&mode.as_str())
    }

    fn note(&self, agent: &str) -> Option<String> {
        let mut note = match (&self.hook, self.mode()) {
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
    use pillion_protocol::Dialect;

    use super::*;

    fn listening(session: &str, number: u32) -> Listening {
        Listening {
            session: session.into(),
            agent: Dialect::ClaudeCode,
            number,
        }
    }

    fn call(review: ReviewMode, mode: &str, path: Option<&str>) -> Call {
        Call {
            review,
            mode: mode.into(),
            subagent: None,
            path: path.map(str::to_owned),
            held: None,
            is_command: false,
            id: String::new(),
            is_guarded: false,
            tool: String::new(),
            input: serde_json::Value::Null,
            folder: String::new(),
            prompt: String::new(),
        }
    }

    fn said(asking: &Asking) -> (Vec<String>, Vec<String>) {
        let agents = [listening("s", 1)];
        (asking.notes(&agents), asking.unasked(&agents))
    }

    #[test]
    fn the_mode_and_what_it_means_are_said() {
        let session = SessionId::from("s");
        let mut asking = Asking::with(Vec::new(), true);
        assert_eq!(said(&asking), (vec![], vec![]));
        for (review, mode, expected) in [
            (
                ReviewMode::Always,
                "auto",
                "every change is shown here first",
            ),
            (ReviewMode::Asked, "auto", "it changes files without asking"),
            (
                ReviewMode::Asked,
                "acceptEdits",
                "it changes files without asking",
            ),
            (
                ReviewMode::Asked,
                "plan",
                "it asks before it changes a file",
            ),
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
    fn what_the_person_chooses_counts_in_place_of_what_it_was_started_with() {
        let session = SessionId::from("s");
        let agents = [listening("s", 1)];
        let mut asking = Asking::with(Vec::new(), true);
        for (started, choice, mode, label, unasked) in [
            (
                ReviewMode::Always,
                ReviewChoice::Asked,
                "auto",
                "review: asked",
                true,
            ),
            (
                ReviewMode::Asked,
                ReviewChoice::Always,
                "auto",
                "review: always",
                false,
            ),
            (
                ReviewMode::Always,
                ReviewChoice::Asked,
                "default",
                "review: asked",
                false,
            ),
        ] {
            asking.hooked(&session, &call(started, mode, None));
            let said = asking.choose(&agents, Some(choice), None).unwrap();
            assert_eq!(asking.notes(&agents), std::slice::from_ref(&said));
            // The next call of a hook says again what it was started with.
            assert!(!asking.hooked(&session, &call(started, mode, None)));
            let review = asking.review(&agents).unwrap();
            assert_eq!((&*review.label, review.unasked.is_some()), (label, unasked));
            assert_eq!(asking.choose(&agents, None, None), Ok(said), "asked only");
        }
        asking.forget(&session);
        assert_eq!(asking.mode(&session), None);
    }

    #[test]
    fn shell_commands_are_shown_where_the_person_wants_it() {
        let session = SessionId::from("s");
        let agents = [listening("s", 1)];
        let mut asking = Asking::with(Vec::new(), true);
        let mut choose = |choice| {
            let said = asking.choose(&agents, Some(choice), None).unwrap();
            let label = asking.review(&agents).map(|review| review.label);
            (said, label, asking.shows_commands(&session))
        };
        let (said, label, shows) = choose(ReviewChoice::Commands);
        assert!(
            said.ends_with("Its shell commands are shown here before they run."),
            "{said}"
        );
        assert_eq!((label, shows), (None, true));
        let (_, label, _) = choose(ReviewChoice::Asked);
        assert_eq!(label.as_deref(), Some("review: asked, commands"));
        let (said, label, shows) = choose(ReviewChoice::NoCommands);
        assert!(!said.contains("commands"), "{said}");
        assert_eq!((label.as_deref(), shows), (Some("review: asked"), false));
    }

    #[test]
    fn what_is_chosen_for_a_process_counts_when_it_connects_again() {
        let agents = [listening("s", 1)];
        let process = |pid, started_at| AgentProcess { pid, started_at };
        let started = |asking: &mut Asking, session: &str, process| {
            let session = SessionId::from(session);
            let is_known = asking.identified(&session, process);
            asking.hooked(&session, &call(ReviewMode::Always, "auto", None));
            let shows = asking.shows_commands(&session);
            (is_known, asking.mode(&session).unwrap(), shows)
        };
        let asked = (true, ReviewMode::Asked, true);
        let as_started = (false, ReviewMode::Always, false);
        let mut asking = Asking::with(Vec::new(), true);
        assert_eq!(started(&mut asking, "s", process(7, 1)), as_started);
        for choice in [ReviewChoice::Asked, ReviewChoice::Commands] {
            asking.choose(&agents, Some(choice), None).unwrap();
        }
        asking.choose(&agents, None, None).unwrap();
        asking.forget(&"s".into());
        // Another process, also one with the same number, begins as it was started.
        assert_eq!(started(&mut asking, "a", process(8, 1)), as_started);
        assert_eq!(started(&mut asking, "b", process(7, 2)), as_started);
        assert_eq!(started(&mut asking, "c", process(7, 1)), asked);
        let mut next = Asking::with(asking.choices().to_vec(), true);
        assert_eq!(started(&mut next, "d", process(8, 1)), as_started);
        assert_eq!(started(&mut next, "s", process(7, 1)), asked);
        // The last choice counts.
        for choice in [ReviewChoice::Always, ReviewChoice::NoCommands] {
            next.choose(&agents, Some(choice), None).unwrap();
        }
        let chosen = (true, ReviewMode::Always, false);
        assert_eq!(started(&mut next, "e", process(7, 1)), chosen);
        assert_eq!(next.choices().len(), 1);
    }

    #[test]
    fn no_more_choices_are_kept_than_there_may_be_agents() {
        let mut asking = Asking::with(Vec::new(), true);
        let pids = 0..2 * MAX_CHOICES as u32;
        for pid in pids.clone() {
            let process = AgentProcess { pid, started_at: 1 };
            asking.identified(&"s".into(), process);
            let always = Some(ReviewChoice::Always);
            asking.choose(&[listening("s", 1)], always, None).unwrap();
        }
        let kept = asking.choices().iter().map(|choice| choice.process.pid);
        assert_eq!(
            kept.collect::<Vec<_>>(),
            pids.skip(MAX_CHOICES).collect::<Vec<_>>()
        );
    }

    #[test]
    fn a_choice_before_the_first_prompt_waits_for_it() {
        let session = SessionId::from("s");
        let agents = [listening("s", 1)];
        let mut asking = Asking::with(Vec::new(), true);
        let always = Some(ReviewChoice::Always);
        let said = asking.choose(&agents, always, None).unwrap();
        assert!(said.ends_with("from your next prompt on."), "{said}");
        assert_eq!(asking.mode(&session), Some(ReviewMode::Always));
        asking.hooked(&session, &call(ReviewMode::Asked, "auto", None));
        assert_eq!(asking.mode(&session), Some(ReviewMode::Always));
        // A turn that begins without a hook: nothing can make it ask.
        let mut asking = Asking::with(Vec::new(), true);
        asking.choose(&agents, always, None).unwrap();
        asking.turn_begins(&session);
        assert_eq!(
            (asking.mode(&session), asking.review(&agents)),
            (None, None)
        );
        let refused = asking.choose(&agents, always, None).unwrap_err();
        assert!(refused.contains("`pillion run claude`"), "{refused}");
        assert!(
            asking
                .choose(&[], always, None)
                .unwrap_err()
                .starts_with("no agent is connected")
        );
    }

    #[test]
    fn of_several_agents_one_can_be_meant() {
        let agents = [listening("a", 1), listening("b", 2)];
        let mut asking = Asking::with(Vec::new(), true);
        for session in ["a", "b"] {
            let call = call(ReviewMode::Always, "auto", None);
            asking.hooked(&session.into(), &call);
        }
        let said = asking.choose(&agents, Some(ReviewChoice::Asked), Some(2));
        let expected = "Claude Code 2 is in mode auto: it changes files without asking.";
        assert_eq!(said, Ok(expected.to_owned()));
        let review = asking.review(&agents).unwrap();
        assert_eq!((review.mode, &*review.label), (None, "review: differs"));
        assert_eq!(
            review.unasked.unwrap(),
            "Claude Code 2 changes files without asking."
        );
        let refused = asking.choose(&agents, Some(ReviewChoice::Asked), Some(3));
        assert_eq!(refused.unwrap_err(), "no such agent: the numbers are 1, 2");
        asking
            .choose(&agents, Some(ReviewChoice::Asked), None)
            .unwrap();
        let unasked = asking.review(&agents).unwrap().unasked.unwrap();
        assert_eq!(
            unasked,
            "Claude Code 1 and Claude Code 2 change files without asking."
        );
    }

    #[test]
    fn a_turn_without_a_hook_says_how_to_have_one() {
        let mut asking = Asking::with(Vec::new(), true);
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
        let mut asking = Asking::with(Vec::new(), true);
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
        let mut asking = Asking::with(Vec::new(), true);
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
        let mut asking = Asking::with(Vec::new(), true);
        for path in ["/a", "/b", "/a"] {
            // The hook answered "ask", and no proposal came.
            asking.hooked(&session, &call(ReviewMode::Always, "auto", Some(path)));
            assert!(asking.writes(&session, path), "{path}");
            assert!(!asking.writes(&session, path), "{path} is said");
            let expected = format!("Claude Code changed {path:?} without showing it here first");
            assert_eq!(said(&asking).1, [expected]);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_choice_of_another_companion_counts_unless_there_is_one() {
        let process = |pid| AgentProcess { pid, started_at: 1 };
        let choice = |pid, mode| ProcessChoice {
            process: process(pid),
            mode: Some(mode),
            shows_commands: true,
        };
        let (always, asked) = (ReviewMode::Always, ReviewMode::Asked);
        let mut asking = Asking::with(vec![choice(1, always)], true);
        asking.adopt(vec![choice(1, asked), choice(2, asked)]);
        for (pid, mode) in [(1, Some(always)), (2, Some(asked)), (3, None)] {
            let session = SessionId::from(pid.to_string());
            assert_eq!(asking.identified(&session, process(pid)), mode.is_some());
            assert_eq!(asking.mode(&session), mode, "{pid}");
            assert_eq!(asking.shows_commands(&session), mode.is_some());
        }
        let others = 0..2 * u32::try_from(MAX_CHOICES).unwrap();
        asking.adopt(others.map(|pid| choice(10 + pid, always)).collect());
        assert_eq!(asking.choices().len(), MAX_CHOICES);
        assert!(asking.choices().contains(&choice(1, always)));
    }

    #[test]
    fn two_proposals_for_one_file_are_two() {
        let session = SessionId::from("s");
        let mut asking = Asking::with(Vec::new(), true);
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
        let mut asking = Asking::with(Vec::new(), true);
        let subagents = Call {
            subagent: Some("a1".to_owned()),
            ..call(ReviewMode::Always, "auto", Some("/b"))
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
        let mut asking = Asking::with(Vec::new(), true);
        for number in 0..2 * MAX_FILES {
            let path = number.to_string().repeat(MAX_PATH / 4);
            let subagents = Call {
                subagent: Some("a1".to_owned()),
                ..call(ReviewMode::Always, &path, Some(&path))
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
