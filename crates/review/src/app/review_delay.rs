//! The screen when a key was pressed, and the time that it was shown: the gate rules whether it decides. A key that is held
//! down, or part of a paste, never does. No clock of its own.

use std::time::{Duration, Instant};

use pillion_view::DiffId;
pub use pillion_view::{HELD, HeldKey, LOOK};

/// A terminal that has never said what it shows counts as showing it after so long.
const SILENT: Duration = Duration::from_secs(2);

/// One that does say so may be at the end of a very slow line. It may also have lost the question.
const SLOW: Duration = Duration::from_secs(30);

/// How a key was pressed.
#[derive(Debug, Clone, Copy)]
pub struct Press {
    /// The time at which it was read.
    pub at: Instant,
    /// True if it arrived together with another key, which no person's keys do.
    pub is_in_burst: bool,
    /// True if it repeats because it is held down.
    pub is_held: bool,
}

impl Press {
    /// A key that nothing else came with.
    pub fn alone(at: Instant) -> Self {
        Self {
            at,
            is_in_burst: false,
            is_held: false,
        }
    }

    /// Returns true if it decides nothing, whatever is on the screen: it is held down, or pasted.
    pub fn is_no_decision(&self) -> bool {
        self.check().is_err()
    }

    /// Checks that a person can have meant it.
    ///
    /// # Errors
    /// The reason why not.
    pub fn check(&self) -> Result<(), TooEarly> {
        match (self.is_in_burst, self.is_held) {
            (true, _) => Err(TooEarly::Pasted),
            (false, true) => Err(TooEarly::Held),
            (false, false) => Ok(()),
        }
    }
}

/// A question to the terminal whether it shows a frame: the cursor is put to a place of its own, and the terminal is
/// asked where it is. So no answer is taken for that to another question, however late it comes or however often.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mark(u8);

impl Mark {
    /// Every terminal that shows a diff has so many columns and rows for it. No key reads like a place below the
    /// first row.
    const COLUMNS: u8 = 32;
    const FIRST_ROW: u16 = 2;

    /// The row and the column, from 1.
    pub fn place(self) -> (u16, u16) {
        let (row, column) = (self.0 / Self::COLUMNS, self.0 % Self::COLUMNS);
        (Self::FIRST_ROW + u16::from(row), 1 + u16::from(column))
    }

    /// The one with this place.
    pub fn at(row: u16, column: u16) -> Option<Self> {
        (0..=u8::MAX)
            .map(Self)
            .find(|mark| mark.place() == (row, column))
    }

    fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }
}

/// The subject of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subject {
    /// The diff.
    pub id: DiffId,
    /// The number of its proposal.
    pub revision: u32,
    /// The number of times that the reviewer changed it.
    pub changes: u64,
    /// The question about it that waits for an answer.
    pub asked: Option<u64>,
}

/// The reason why a key decides nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TooEarly {
    /// The subject of its decision was not seen.
    Unseen,
    /// The terminal has not shown it yet.
    OnItsWay,
    /// It is held down.
    Held,
    /// It is part of a paste.
    Pasted,
}

/// The delay before a decision.
#[derive(Debug, Default)]
pub struct ReviewDelay {
    drawn: Option<Drawn>,
    /// The last question to the terminal.
    mark: Option<Mark>,
    /// The time of the question that waits for its answer, if that is the last one.
    asked: Option<Instant>,
    /// The terminal says what it shows.
    answers: bool,
}

#[derive(Debug, Clone, Copy)]
struct Drawn {
    subject: Subject,
    mark: Mark,
    /// The time at which it was written.
    written: Instant,
    /// The time at which the terminal showed it.
    shown: Option<Instant>,
    /// The time at which the terminal first showed this proposal, whatever the reviewer changed since.
    came: Option<Instant>,
}

impl Subject {
    fn is_same_proposal(&self, other: &Self) -> bool {
        (self.id, self.revision) == (other.id, other.revision)
    }
}

impl ReviewDelay {
    /// A frame was written; `subject` is what can be decided about in it. Answers what to ask the terminal, if anything.
    /// It is asked again about the same subject if it shows something `new` of it.
    pub fn drawn(&mut self, subject: Option<Subject>, new: bool, now: Instant) -> Option<Mark> {
        let is_first = self.mark.is_none();
        let before = self.drawn.take();
        let Some(subject) = subject else {
            return is_first.then(|| self.next_mark(now));
        };
        if let Some(drawn) = before.filter(|drawn| drawn.subject == subject) {
            self.drawn = Some(drawn);
            return new.then(|| self.next_mark(now));
        }
        let mark = self.next_mark(now);
        let is_same = |drawn: &Drawn| drawn.subject.is_same_proposal(&subject);
        self.drawn = Some(Drawn {
            subject,
            mark,
            written: now,
            shown: None,
            came: before.filter(is_same).and_then(|drawn| drawn.came),
        });
        Some(mark)
    }

    fn next_mark(&mut self, now: Instant) -> Mark {
        let mark = self.mark.map_or_else(Mark::default, Mark::next);
        (self.mark, self.asked) = (Some(mark), Some(now));
        mark
    }

    /// The terminal has shown all that was written before this question. Answers whether that is all of which it was asked.
    pub fn answered(&mut self, mark: Mark, at: Instant) -> bool {
        self.answers = true;
        let is_last = self.mark == Some(mark);
        self.asked.take_if(|_| is_last);
        if let Some(drawn) = self.drawn.as_mut().filter(|drawn| drawn.mark == mark) {
            drawn.shown.get_or_insert(at);
            drawn.came.get_or_insert(at);
        }
        is_last
    }

    /// The time from which the terminal counts as showing all that was written, although it has not said so.
    pub fn gives_up(&self) -> Option<Instant> {
        Some(self.asked? + self.patience())
    }

    fn patience(&self) -> Duration {
        if self.answers { SLOW } else { SILENT }
    }

    /// The screen does not show what was drawn any more, although it is the same proposal.
    pub fn forget(&mut self) {
        self.drawn = None;
    }

    /// Checks that `press` may change `subject`.
    ///
    /// # Errors
    /// The reason why not.
    pub fn admit(&self, press: &Press, subject: Option<Subject>) -> Result<(), TooEarly> {
        press.check()?;
        let (Some(drawn), Some(subject)) = (self.drawn, subject) else {
            return Err(TooEarly::Unseen);
        };
        if !drawn.subject.is_same_proposal(&subject) {
            return Err(TooEarly::Unseen);
        }
        match self.shown(&drawn, press.at).1 {
            None => Err(TooEarly::OnItsWay),
            Some(came) if press.at < came + LOOK => Err(TooEarly::Unseen),
            Some(_) => Ok(()),
        }
    }

    /// The time for which exactly `subject`, which `press` decides about, has been on the screen then.
    pub fn looked_at(&self, press: &Press, subject: Option<Subject>) -> Option<Duration> {
        let (drawn, subject) = (self.drawn?, subject?);
        // The question that stood beside it need not be answered.
        let asked = subject.asked.or(drawn.subject.asked);
        if drawn.subject != (Subject { asked, ..subject }) {
            return None;
        }
        let (shown, came) = self.shown(&drawn, press.at);
        let shown = shown.filter(|shown| *shown <= press.at)?;
        // A question is read before it is answered. What the reviewer changed is known to them: it only has to be
        // there.
        let since = if subject.asked.is_some() {
            shown
        } else {
            came?
        };
        Some(press.at.saturating_duration_since(since))
    }

    /// The time at which the terminal showed what was drawn, and the one for the proposal in it, as far as known at a time.
    fn shown(&self, drawn: &Drawn, at: Instant) -> (Option<Instant>, Option<Instant>) {
        let given_up = Some(drawn.written + self.patience()).filter(|until| *until <= at);
        (drawn.shown.or(given_up), drawn.came.or(given_up))
    }
}

#[cfg(test)]
mod tests;
