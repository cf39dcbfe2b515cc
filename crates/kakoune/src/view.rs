//! One proposal in a buffer: what was seen of it, and so what may be decided about it. Knows no clock and no
//! Kakoune.
//!
//! The time of drawing counts, which `NormalIdle` reports.

use std::sync::Arc;
use std::time::SystemTime;

use pillion_protocol::dialect::Protocol;
use pillion_text::fingerprint;
use pillion_view::{Against, Diff, FileChange, LOOK, ProposalKey, Proposed, Reply, Seen, SetPlace};

use crate::form::Form;
use crate::notes::Notes;
use crate::offer::PAUSE;
use crate::seen::{SeenLines, Target, Window};

/// More characters of a name say no more.
const MAX_NAME: usize = 60;

/// A proposal.
#[derive(Debug)]
pub struct View {
    /// Shared with the thread that compares and writes it.
    pub diff: Arc<Diff>,
    pub form: Form,
    /// The proposed text as its buffer holds it.
    pub held: String,
    /// The reply to the agent, sent once it is shown.
    pub shown: Option<Reply<()>>,
    pub is_loaded: bool,
    /// True if the person knows that what they did not type decides nothing.
    pub is_untyped_reported: bool,
    /// True if it came into a window, where it is to be drawn.
    pub is_displayed: bool,
    /// True if it waits to be loaded until the person is done with the former one.
    pub is_deferred: bool,
    /// The former proposal, which stands in its buffer until then.
    pub former: Option<Box<View>>,
    pub seen_lines: SeenLines,
    pub notes: Notes,
    /// What was found in the file on disk when the person merged both.
    pub merged: Option<FileChange>,
    /// True if the person has changed it, as far as its buffer was told.
    pub is_edited: bool,
    /// The person's texts from earlier proposals of the file, byte for byte: the last one comes back first.
    pub kept: Vec<String>,
    /// The part that the window showed when it was drawn last.
    window: Option<Window>,
    /// True if it cannot be edited yet, and since the person paused last, nobody has tried to change that.
    is_locked: bool,
    is_unlock_due: bool,
    /// When they paused last.
    idle: Option<SystemTime>,
    /// When they opened a prompt in front of it last.
    asked: Option<SystemTime>,
    drawn: Option<SystemTime>,
    /// When a decision was refused last: a command that is repeated by a held key takes longer than the gate's interval.
    refused: Option<SystemTime>,
}

impl Proposed for View {
    fn key(&self) -> ProposalKey {
        self.diff.key()
    }

    fn set(&self) -> Option<SetPlace> {
        self.diff.set
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
            is_deferred: false,
            former: None,
            seen_lines: SeenLines::default(),
            notes: Notes::default(),
            merged: None,
            is_edited: false,
            kept: Vec::new(),
            window: None,
            is_locked: true,
            is_unlock_due: true,
            idle: None,
            asked: None,
            drawn: None,
            refused: None,
        }
    }

    /// It takes the place of another one in the buffer, which may not have been loaded itself.
    pub fn replace(&mut self, mut former: View) {
        self.notes = std::mem::take(&mut former.notes);
        self.notes.lose_places();
        self.former = match former.is_loaded {
            true => Some(Box::new(former)),
            false => former.former,
        };
    }

    /// The text that `accepted` was compared with, so that a file which was saved as it was is no other one. Claude Code refuses such
    /// a file, too, and what it is shown may have other line endings.
    pub fn base(&self, accepted: &str) -> Option<String> {
        let merged = self.merged.as_ref();
        if let Some(file) = merged.and_then(|it| it.base(accepted)) {
            return Some(file.to_owned());
        }
        let original = &self.diff.original;
        let is_read = original.text.is_some() == original.stamp.is_some();
        let agent = self.diff.proposer.itself();
        let is_compared = agent.is_none_or(|agent| agent.protocol() == Protocol::Companion);
        (is_read && is_compared).then(|| fingerprint::of(original.text.as_deref()))
    }

    /// The former one, if that is the revision that stands in the buffer.
    pub fn take_former(&mut self, revision: u32) -> Option<View> {
        let former = self.former.take_if(|it| it.key().revision == revision);
        former.map(|former| *former)
    }

    /// The person's text of the former one, if this is what stood in the buffer.
    pub fn former_edits(&self, key: ProposalKey, held: &[u8]) -> Option<String> {
        let former = self.former.as_deref();
        former.filter(|it| it.key() == key)?.edits(held)
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

    /// A window shows this of it, and the person pauses.
    pub fn see(&mut self, window: Window, at: SystemTime) {
        self.seen_lines.see(&self.held, &window);
        self.window = Some(window);
        self.idle = Some(at);
        self.is_unlock_due = true;
    }

    /// A place that was not on the screen.
    pub fn next(&self) -> Option<Target> {
        self.seen_lines.next(&self.held, self.window.as_ref()?)
    }

    pub fn has_unseen(&self) -> bool {
        self.seen_lines
            .unseen()
            .is_some_and(|unseen| unseen.hunks > 0)
    }

    /// Sets whether the person can edit it.
    pub fn lock(&mut self, is_locked: bool) {
        self.is_locked = is_locked;
        self.is_unlock_due = true;
    }

    pub fn is_locked(&self) -> bool {
        self.is_locked
    }

    /// The time from which on they are to be able to: once they have looked at it, and pause.
    pub fn unlock_at(&self) -> Option<SystemTime> {
        let drawn = self
            .drawn
            .filter(|_| self.is_locked && self.is_unlock_due)?;
        let pause = self.idle.map_or(drawn, |idle| idle + PAUSE);
        Some(pause.max(drawn + LOOK))
    }

    /// If they are busy after all, it is tried again when they pause.
    pub fn try_unlock(&mut self) {
        self.is_unlock_due = false;
    }

    /// The person opened a prompt in front of it.
    pub fn ask(&mut self, at: SystemTime) {
        self.asked = Some(at);
    }

    pub fn is_drawn(&self) -> bool {
        self.drawn.is_some()
    }

    /// From when on it may be accepted, once it is drawn.
    pub fn ready_at(&self) -> Option<SystemTime> {
        Some(self.looked_at()? + LOOK)
    }

    /// A decision did not count. A proposal that was drawn later than now was drawn before the clock was set back.
    pub fn refuse(&mut self, now: SystemTime) {
        self.refused = Some(now);
        self.drawn = self.drawn.map(|drawn| drawn.min(now));
    }

    /// Since when the person has looked at it undisturbed.
    fn looked_at(&self) -> Option<SystemTime> {
        let drawn = self.drawn?;
        Some(self.refused.map_or(drawn, |refused| refused.max(drawn)))
    }

    /// The part that the person had seen when they typed something at this time.
    pub fn seen(&self, at: SystemTime) -> Seen {
        let at = self.asked.map_or(at, |asked| asked.min(at));
        Seen {
            // A clock that went back has seen nothing for a while.
            drawn_for: self
                .looked_at()
                .map(|since| at.duration_since(since).unwrap_or_default()),
            is_typed: true,
            // Each refusal has the person look anew, so that a held key that was refused once is refused again.
            pauses: Vec::new(),
            unseen_hunks: self.seen_lines.unseen(),
            against: Against::default(),
            answers: None,
        }
    }

    /// The person's text, if its buffer holds something else now.
    pub fn edits(&self, held: &[u8]) -> Option<String> {
        let is_edited = !held.is_empty() && held != self.held.as_bytes();
        is_edited.then(|| self.form.text(&String::from_utf8_lossy(held)))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use pillion_protocol::Dialect;
    use pillion_view::{DiffId, Original};

    use super::*;

    fn view(proposed: &str) -> View {
        let diff = Diff {
            id: DiffId(3),
            revision: 2,
            proposer: Dialect::GeminiCli.into(),
            number: 1,
            path: "/w/-it's a, %sh{x}\n$n.rs".into(),
            original: Original::default(),
            proposed: proposed.to_owned().into(),
            notes: Vec::new(),
            hunks: Vec::new(),
            set: None,
            deletes: false,
            original_is_other: false,
            written: None,
            is_unclear: false,
            is_of_subagent: false,
            runner: None,
            mode: None,
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
    fn it_is_seen_from_when_it_was_drawn_or_got_the_focus() {
        let drawn_for = |view: &View, millis| view.seen(after(millis)).drawn_for;
        let ms = |millis| Some(Duration::from_millis(millis));
        let mut view = view("x\n");
        assert_eq!(drawn_for(&view, 0), None);
        view.draw(after(0));
        assert_eq!(drawn_for(&view, 900), ms(900));
        view.draw(after(800));
        assert_eq!(drawn_for(&view, 900), ms(900), "it was there");
        view.focus(after(2700));
        assert_eq!(drawn_for(&view, 3600), ms(900));
        assert_eq!(drawn_for(&view, 0), ms(0), "a clock that went back");
        view.refuse(after(100));
        assert_eq!(
            drawn_for(&view, 800),
            ms(700),
            "it does not have to catch up"
        );
        view.refuse(after(1000));
        assert_eq!(drawn_for(&view, 1700), ms(700), "the person looks anew");
    }

    #[test]
    fn a_decision_counts_from_when_its_prompt_was_opened() {
        let mut view = view("x\n");
        view.draw(after(0));
        view.ask(after(100));
        let drawn_for = |at| view.seen(after(at)).drawn_for;
        assert_eq!(drawn_for(2000), Some(Duration::from_millis(100)));
        assert_eq!(
            drawn_for(50),
            Some(Duration::from_millis(50)),
            "it was another prompt"
        );
    }

    #[test]
    fn it_may_be_edited_once_the_person_has_looked_at_it_and_pauses() {
        let mut view = view("x\n");
        let window = || {
            let words = [0, 0, 1, 10, 14, 1, 1, 1, 1, 8, 7].map(|it| it.to_string());
            Window::read(words).expect("it is whole")
        };
        assert_eq!(view.unlock_at(), None, "it is not there");
        view.draw(after(0));
        assert_eq!(view.unlock_at(), Some(after(700)));
        view.see(window(), after(600));
        assert_eq!(view.unlock_at(), Some(after(600) + PAUSE));
        view.try_unlock();
        assert_eq!(view.unlock_at(), None, "they were busy");
        view.see(window(), after(1500));
        assert_eq!(view.unlock_at(), Some(after(1500) + PAUSE));
        view.lock(false);
        assert_eq!(view.unlock_at(), None);
        view.lock(true);
        assert_eq!(view.unlock_at(), Some(after(1500) + PAUSE), "it came back");
    }

    #[test]
    fn a_buffer_has_a_plain_name() {
        assert_eq!(view("").buffer(), "*pillion-3*/_it_s_a___sh_x___n.rs");
    }
}
