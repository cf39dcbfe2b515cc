//! Brings a person's notes to an agent. No agent's protocol has room for them beside a decision. Where hooks of ours are run they carry them, with the next result of a tool or with the
//! next prompt; other agents add the editor's selection to the next prompt, so the notes take its place until then.
//!
//! The context that hooks carry may be of any length. Claude Code puts one of more than 10,000 characters into a file of its own
//! and gives its model the beginning and the path; the model reads that file in every permission mode without a question.
//! It would have to ask for a file of ours, which is outside the workspace. A reason for a rejection arrives whole up to
//! 50 kB, and with that all that a person may write.
//!
//! A state machine without I/O: notes, contexts and the beginnings of turns come in.

use std::collections::HashMap;
use std::sync::Arc;

use pillion_protocol::remarks::{self, FileRemark};
use pillion_protocol::verdict::{self, Lines};
use pillion_protocol::{Dialect, File, IdeContext, Note, Outcome, Position, Proposer, Range};
use pillion_text::unified::unified;
use pillion_view::Told;

use crate::sessions::SessionId;

/// Claude Code shows its model about so many characters of a selection.
const MAX_TEXT: usize = 1_900;

/// Notes on a proposal that was decided, for its agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Remark {
    proposer: Proposer,
    file_path: String,
    /// The lines that the first note on lines is about, where they are in the file as well.
    lines: Option<Lines>,
    /// All notes, as the agent's model reads them.
    text: String,
    is_accepted: bool,
    /// True if the file exists, or soon does.
    is_there: bool,
    /// The sentence for the person, if this is about a change that is written already.
    of_written: Option<&'static str>,
}

/// The notes for each session that its agent has not sent to its model yet.
#[derive(Debug, Default)]
pub(crate) struct Feedback {
    waiting: HashMap<SessionId, Waiting>,
    /// The person's edits of texts that each agent is writing.
    edits: HashMap<SessionId, Vec<String>>,
}

/// Notes that wait, oldest first.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Notes(Vec<Remark>);

#[derive(Debug)]
struct Waiting {
    notes: Notes,
    way: Way,
}

/// The way in which notes that wait come into the next prompt.
#[derive(Debug)]
enum Way {
    /// A hook adds them.
    Hook,
    /// They are shown in place of the selection. This was selected when they came: selecting anything else takes their
    /// place.
    Selection(Option<String>),
}

impl Remark {
    /// The notes of a decision about a proposal for this file, whose text in the view was `shown`; none without
    /// notes. `is_there` tells whether the file exists.
    pub(crate) fn new(
        proposer: impl Into<Proposer>,
        file_path: &str,
        outcome: &Outcome,
        shown: &str,
        is_there: bool,
        notes: &[Note],
    ) -> Option<Self> {
        let is_accepted = matches!(outcome, Outcome::Accepted { .. });
        if notes.is_empty() {
            return None;
        }
        let text = remarks::decided(is_accepted, file_path, notes, shown);
        let lines = notes.iter().find_map(|note| note.lines);
        Some(Self {
            proposer: proposer.into(),
            file_path: file_path.to_owned(),
            // Of a text that was rejected, the file does not have them.
            lines: lines.filter(|_| is_accepted),
            text,
            is_accepted,
            is_there: is_there || is_accepted,
            of_written: None,
        })
    }

    /// The person's judgement of changes that were written already, one file at least.
    pub(crate) fn written(agent: Dialect, told: &[FileRemark]) -> Self {
        let texts: Vec<&str> = told.iter().map(|it| it.text.as_str()).collect();
        let first = told.iter().find(|it| !it.is_gone);
        let file = first.or(told.first()).map(|it| it.path.clone());
        Self {
            proposer: agent.into(),
            file_path: file.unwrap_or_default(),
            lines: None,
            text: texts.join("\n"),
            is_accepted: true,
            is_there: first.is_some(),
            of_written: None,
        }
    }

    /// The same with this text, where there is no room for more.
    pub(crate) fn in_short(self, text: String) -> Self {
        Self { text, ..self }
    }

    /// The same beside this file, which is there.
    pub(crate) fn beside(self, file_path: &str) -> Self {
        Self {
            file_path: file_path.to_owned(),
            is_there: true,
            ..self
        }
    }

    /// The same about a change that is written already, decided with these notes.
    pub(crate) fn on_written(self, notes: &[Note]) -> Self {
        let message = match (self.is_accepted, verdict::takes_back(notes)) {
            (true, _) => "is told your notes",
            (false, true) => "is told why, and the change is taken back",
            (false, false) => "is told your notes, and the change stays",
        };
        Self {
            of_written: Some(message),
            ..self
        }
    }

    /// All notes, as the agent's model reads them.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns what the person is told if the agent is answered with it.
    pub(crate) fn told_now(&self) -> Told {
        let agent = self.proposer.display_name();
        Told {
            message: format!("{agent} reads your note now and goes on"),
            clipboard: None,
        }
    }

    /// Returns what they are told otherwise. `is_hooked` tells whether the agent runs hooks of ours, and `can_wake` whether it
    /// can be woken.
    pub(crate) fn told(&self, is_hooked: bool, can_wake: bool) -> Told {
        if let Some(message) = self.of_written {
            let agent = self.proposer.agent().map(Dialect::display_name);
            return Told {
                message: format!("{} {message}", agent.unwrap_or("the agent")),
                clipboard: None,
            };
        }
        let agent = match self.proposer {
            Proposer::Agent(agent) => agent,
            Proposer::For(agent) => {
                return Told {
                    message: format!("{agent} gets your note from its hook"),
                    clipboard: None,
                };
            }
            Proposer::Pillion => {
                return Told {
                    message: "your note is printed by the command that proposed the change"
                        .to_owned(),
                    clipboard: None,
                };
            }
        };
        if !self.is_taken(is_hooked) {
            return self.left();
        }
        if is_hooked {
            return Told {
                message: match self.is_accepted {
                    true => format!("{agent} reads your note when it has written the file"),
                    false if can_wake => {
                        format!("{agent} gets your note with your next prompt, or when you send it")
                    }
                    false => format!("{agent} gets your note with your next prompt"),
                },
                clipboard: None,
            };
        }
        if agent.repeats_selection() {
            let until = match self.is_accepted {
                true => "until you select something",
                false => "until it proposes a change or you select something",
            };
            return Told {
                message: format!("{agent} gets your note with each prompt, {until}"),
                clipboard: None,
            };
        }
        let when = match agent.misses_context_after_rejection() && !self.is_accepted {
            true => " but one (it adds nothing to the prompt right after a rejection)",
            false => "",
        };
        Told {
            message: format!(
                "{agent} gets your note with your next prompt{when}, unless you select something before"
            ),
            clipboard: None,
        }
    }

    /// The same where its agent does not get it.
    pub(crate) fn left(&self) -> Told {
        let agent = self.proposer.display_name();
        Told {
            message: format!("{agent} cannot be told your note: it is on the clipboard"),
            clipboard: Some(self.text.clone()),
        }
    }

    /// Returns true if its agent gets it. `is_hooked` tells whether the agent runs hooks of ours.
    pub(crate) fn is_taken(&self, is_hooked: bool) -> bool {
        let fits = self.text.chars().count() <= MAX_TEXT;
        // The companion contract allows no context with a file that does not exist (C4.4).
        let is_shown = |agent: Dialect| self.is_there || agent.reads_selection_of_no_file();
        self.proposer
            .is(|agent| is_hooked || (fits && is_shown(agent)))
    }

    /// The file to mention in the prompt of an agent without hooks, and its lines: the person sees there that something
    /// goes with it.
    pub(crate) fn mention(&self) -> Option<(&str, Option<(u32, u32)>)> {
        let knows_mentions = self.proposer.is(Dialect::knows_mentions);
        let lines = self.lines.map(|lines| (lines.first, lines.last));
        (knows_mentions && self.is_there && self.is_taken(false))
            .then_some((self.file_path.as_str(), lines))
    }
}

impl Feedback {
    /// A remark waits for a hook that takes it.
    pub(crate) fn add_for_hook(&mut self, session: &SessionId, remark: Remark) {
        self.add_by(session, remark, Way::Hook);
    }

    /// A remark waits for the next prompt of an agent without hooks.
    pub(crate) fn add(&mut self, session: &SessionId, remark: Remark, now: &IdeContext) {
        let way = Way::Selection(selected(now).map(str::to_owned));
        let waiting = self.add_by(session, remark, way);
        // The newest are what the agent is to read if there is no room for all.
        let notes = &mut waiting.notes;
        while notes.0.len() > 1 && notes.length() > MAX_TEXT {
            notes.0.remove(0);
        }
    }

    fn add_by(&mut self, session: &SessionId, remark: Remark, way: Way) -> &mut Waiting {
        let waiting = self.waiting.entry(Arc::clone(session));
        let waiting = waiting.or_insert_with(|| Waiting {
            notes: Notes::default(),
            way: Way::Hook,
        });
        waiting.way = way;
        waiting.notes.0.push(remark);
        waiting
    }

    /// Notes that were taken for a hook wait again, before all that came later.
    pub(crate) fn put_back(&mut self, session: &SessionId, notes: Notes) {
        let waiting = self.waiting.entry(Arc::clone(session));
        let waiting = waiting.or_insert_with(|| Waiting {
            notes: Notes::default(),
            way: Way::Hook,
        });
        waiting.notes.0.splice(0..0, notes.0);
    }

    /// Returns true if notes wait for this agent.
    pub(crate) fn waits(&self, session: &SessionId) -> bool {
        self.waiting.contains_key(session)
    }

    /// Returns when an agent without hooks gets the notes that wait for it.
    pub(crate) fn told(&self, session: &SessionId) -> Option<String> {
        let remark = self.waiting.get(session)?.notes.0.last()?;
        Some(remark.told(false, false).message)
    }

    /// Returns the context for the agent of this session, with the notes that wait in place of the selection.
    pub(crate) fn with_context(
        &mut self,
        session: &SessionId,
        context: Arc<IdeContext>,
    ) -> Arc<IdeContext> {
        let Some(waiting) = self.waiting.get(session) else {
            return context;
        };
        let Way::Selection(before) = &waiting.way else {
            return context;
        };
        let now = selected(&context);
        if now.is_some() && now != before.as_deref() {
            self.waiting.remove(session);
            return context;
        }
        waiting.notes.shown_in(&context).map_or(context, Arc::new)
    }

    /// Keeps what the person edited in a change of this file, until [`take`](Self::take) or the next turn.
    pub(crate) fn add_edits(
        &mut self,
        session: &SessionId,
        file_path: &str,
        proposed: &str,
        accepted: &str,
    ) {
        let edits = self.edits.entry(Arc::clone(session)).or_default();
        edits.push(self::edits(file_path, proposed, accepted));
    }

    /// The agent has sent the prompt, and with it what it was shown. Returns true if there were notes.
    pub(crate) fn turn_begins(&mut self, session: &SessionId) -> bool {
        self.edits.remove(session);
        let is_shown = |waiting: &mut Waiting| matches!(waiting.way, Way::Selection(_));
        let shown = self
            .waiting
            .extract_if(|id, it| id == session && is_shown(it));
        shown.count() > 0
    }

    /// The agent proposes a change. A rejection ended its turn, so that it has sent a prompt since, and what it was shown
    /// with that. Returns true if there were notes.
    pub(crate) fn proposes(&mut self, session: &SessionId) -> bool {
        let waiting = self.waiting.get(session);
        let ended = waiting.is_some_and(|it| it.notes.0.iter().any(|remark| !remark.is_accepted));
        ended && self.turn_begins(session)
    }

    /// Takes all that waits, edits first, for a hook that tells it after a tool has run.
    pub(crate) fn take(&mut self, session: &SessionId) -> Option<String> {
        let mut texts = self.edits.remove(session).unwrap_or_default();
        texts.extend(self.take_notes(session).map(|notes| notes.text()));
        (!texts.is_empty()).then(|| texts.join("\n"))
    }

    /// Takes the notes that wait, for a hook that tells them with the prompt, or at once.
    pub(crate) fn take_notes(&mut self, session: &SessionId) -> Option<Notes> {
        let waiting = self.waiting.remove(session)?;
        Some(waiting.notes)
    }

    /// The session is over.
    pub(crate) fn forget(&mut self, session: &SessionId) {
        self.waiting.remove(session);
        self.edits.remove(session);
    }
}

/// Returns the person's edits in a change of this file, as the agent's model reads them.
pub(crate) fn edits(file_path: &str, proposed: &str, accepted: &str) -> String {
    remarks::edited(file_path, &unified(proposed, accepted))
}

impl Notes {
    fn length(&self) -> usize {
        let lengths = self.0.iter();
        lengths.map(|remark| remark.text.chars().count() + 1).sum()
    }

    /// All of them, as the agent's model reads them.
    pub(crate) fn text(&self) -> String {
        let texts: Vec<&str> = self.0.iter().map(Remark::text).collect();
        texts.join("\n")
    }

    fn shown_in(&self, context: &IdeContext) -> Option<IdeContext> {
        let last = self.0.last()?;
        let others = context.files().iter();
        let newest = others.clone().map(|file| file.timestamp).max();
        let place = |line| Position { line, character: 0 };
        let file = File {
            selected_text: Some(self.text()),
            selection: last.lines.map(|lines| Range {
                start: place(lines.first),
                end: place(lines.last.saturating_add(1)),
            }),
            ..File::focused(last.file_path.as_str(), newest.unwrap_or_default() + 1)
        };
        let files = std::iter::once(file).chain(others.cloned()).collect();
        let state = context.workspace_state.as_ref();
        let is_trusted = state.and_then(|state| state.is_trusted);
        Some(IdeContext::for_agents(files, is_trusted))
    }
}

/// Returns the message about notes on a proposal whose agent went away in that moment; nothing without notes.
pub(crate) fn left_over(notes: &[Note]) -> Option<Told> {
    let texts: Vec<&str> = notes.iter().map(|note| note.text.as_str()).collect();
    (!notes.is_empty()).then(|| Told {
        message: "the agent is gone: your note is on the clipboard".to_owned(),
        clipboard: Some(texts.join("\n")),
    })
}

/// Returns the text that the person has selected.
fn selected(context: &IdeContext) -> Option<&str> {
    let (text, _) = context.active_file()?.selected()?;
    Some(text)
}

#[cfg(test)]
mod tests;
