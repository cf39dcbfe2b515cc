//! One proposal in a buffer: what was seen of it, and so what may be decided about it. Knows no clock and no
//! Kakoune.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use pillion_companion::{Diff, ProposalKey, Proposed, Reply};

use crate::form::Form;

/// What is typed sooner after a proposal was drawn is about what stood there before, or from a held key.
const REVIEW_DELAY: Duration = Duration::from_secs(1);

/// More characters of a name say no more.
const MAX_NAME: usize = 60;

/// A proposal.
#[derive(Debug)]
pub struct View {
    /// Shared with the thread that compares and writes it.
    pub diff: Arc<Diff>,
    pub form: Form,
    /// What its buffer holds of the proposed text.
    pub held: String,
    /// Where the agent is answered once it is shown.
    pub shown: Option<Reply<()>>,
    /// Whether its buffer is there.
    pub is_loaded: bool,
    /// Whether the person knows that what they did not type decides nothing.
    pub is_untyped_reported: bool,
    /// Whether it came into a window, where it is to be drawn.
    pub is_displayed: bool,
    drawn: Option<SystemTime>,
    refused: Option<SystemTime>,
    /// What the person was asked about once more.
    asked: Option<&'static str>,
}

/// Why a decision does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the proposal has not been on the screen yet: look at it first")]
    Unseen,
    #[error("the proposal has only just appeared: wait a second and try again")]
    TooSoon,
    #[error("{0}")]
    Ask(&'static str),
}

const EMPTY: &str =
    "this agent ignores an empty text and writes its own proposal: repeat to accept anyway";
const UNCHANGED: &str =
    "this is the unchanged file, which the agent treats as a rejection: repeat to accept anyway";

impl Proposed for View {
    fn key(&self) -> ProposalKey {
        self.diff.key()
    }
}

impl View {
    pub fn new(diff: Diff, shown: Reply<()>) -> Self {
        let (form, held) = Form::of(&diff.proposed);
        Self {
            diff: Arc::new(diff),
            form,
            held,
            shown: Some(shown),
            is_loaded: false,
            is_untyped_reported: false,
            is_displayed: false,
            drawn: None,
            refused: None,
            asked: None,
        }
    }

    /// The name of its buffer. It ends as the file's name, by which Kakoune knows the language, and is made of
    /// characters that mean nothing to anybody.
    pub fn buffer(&self) -> String {
        let name = self.diff.path.file_name().unwrap_or_default();
        let plain: String = name
            .to_string_lossy()
            .chars()
            .map(|char| match char {
                'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '_' => char,
                _ => '_',
            })
            .collect();
        let name = &plain[plain.len().saturating_sub(MAX_NAME)..];
        format!("*pillion-{}*/{name}", self.diff.id)
    }

    /// It stands on a screen.
    pub fn draw(&mut self, at: SystemTime) {
        if self.is_loaded {
            self.drawn.get_or_insert(at);
        }
    }

    /// It is displayed, or its window got the focus.
    pub fn focus(&mut self, at: SystemTime) {
        self.is_displayed = true;
        if let Some(drawn) = &mut self.drawn {
            *drawn = at.max(*drawn);
        }
    }

    pub fn is_drawn(&self) -> bool {
        self.drawn.is_some()
    }

    /// From when on it may be accepted, once it is drawn.
    pub fn ready_at(&self) -> Option<SystemTime> {
        let drawn = self.drawn?;
        Some(self.refused.map_or(drawn, |refused| refused.max(drawn)) + REVIEW_DELAY)
    }

    /// What the person made of it, if its buffer holds something else now.
    pub fn edits(&self, held: &[u8]) -> Option<String> {
        let is_edited = !held.is_empty() && held != self.held.as_bytes();
        is_edited.then(|| self.form.text(&String::from_utf8_lossy(held)))
    }

    /// Whether what was typed now accepts `text`.
    ///
    /// # Errors
    /// Why not.
    pub fn accept(&mut self, text: &str, at: SystemTime) -> Result<(), Refusal> {
        if at < self.ready_at().ok_or(Refusal::Unseen)? {
            self.refused = Some(at);
            return Err(Refusal::TooSoon);
        }
        match self.doubt(text) {
            Some(doubt) if self.asked != Some(doubt) => {
                self.asked = Some(doubt);
                self.refused = Some(at);
                Err(Refusal::Ask(doubt))
            }
            _ => Ok(()),
        }
    }

    /// What the agent makes of this text that the person does not expect.
    fn doubt(&self, text: &str) -> Option<&'static str> {
        let (agent, proposed) = (self.diff.agent, &self.diff.proposed);
        if text.is_empty() && !proposed.is_empty() && agent.ignores_empty_text() {
            return Some(EMPTY);
        }
        let original = self.diff.original.text.as_deref().unwrap_or_default();
        let is_unchanged = original == text.as_bytes() && *text != **proposed;
        (is_unchanged && agent.unchanged_is_rejection()).then_some(UNCHANGED)
    }
}

#[cfg(test)]
mod tests {
    use pillion_companion::{DiffId, Original};
    use pillion_protocol::Dialect;

    use super::*;

    fn view(proposed: &str) -> View {
        let diff = Diff {
            id: DiffId(3),
            revision: 2,
            agent: Dialect::GeminiCli,
            agent_number: 1,
            path: "/w/-it's a, %sh{x}\n$n.rs".into(),
            original: Original::default(),
            proposed: proposed.to_owned().into(),
            notes: Vec::new(),
        };
        View {
            is_loaded: true,
            ..View::new(diff, Reply::new(|_| {}))
        }
    }

    fn after(millis: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(1_000_000 + millis)
    }

    #[test]
    fn nothing_is_accepted_that_was_not_seen_for_a_second() {
        let mut view = view("x\n");
        assert_eq!(view.accept("x\n", after(0)), Err(Refusal::Unseen));
        view.draw(after(0));
        assert_eq!(view.accept("x\n", after(900)), Err(Refusal::TooSoon));
        // A held key comes again and again.
        assert_eq!(view.accept("x\n", after(1800)), Err(Refusal::TooSoon));
        view.focus(after(2700));
        assert_eq!(view.accept("x\n", after(3600)), Err(Refusal::TooSoon));
        assert_eq!(view.accept("x\n", after(4600)), Ok(()));
    }

    #[test]
    fn a_clock_that_went_back_accepts_nothing() {
        let mut view = view("x\n");
        view.draw(after(5000));
        assert_eq!(view.accept("x\n", after(0)), Err(Refusal::TooSoon));
    }

    #[test]
    fn an_empty_text_is_asked_about_once() {
        let mut view = view("x\n");
        view.draw(after(0));
        assert_eq!(view.accept("", after(1000)), Err(Refusal::Ask(EMPTY)));
        assert_eq!(view.accept("", after(1500)), Err(Refusal::TooSoon));
        assert_eq!(view.accept("", after(2500)), Ok(()));
    }

    #[test]
    fn a_buffer_has_a_plain_name() {
        assert_eq!(view("").buffer(), "*pillion-3*/_it_s_a___sh_x___n.rs");
    }
}
