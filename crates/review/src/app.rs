//! The whole review as a state machine: events and time in, effects out. No I/O, no clock.

mod acts;
mod all_seen;
mod bases;
mod changes;
mod comparing;
mod deciding;
mod files;
mod history;
mod mode;
mod mouse;
mod naming;
mod note_list;
mod notes;
mod outside;
mod plain;
mod remark;
mod review_delay;
mod search;
mod selection;

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crossterm::event::{KeyEvent, MouseEvent};
use pillion_judge::act::{Act, Place};
use pillion_judge::bases::Bases;
use pillion_judge::highlight::Texts;
use pillion_judge::history::Past;
use pillion_judge::keys::Keys;
use pillion_judge::naming::Numbered;
use pillion_judge::proposal::Side;
use pillion_judge::rows::Layout;
use pillion_judge::syntax::Coloured;
use pillion_judge::{Compared, Disk, Job, Step};
use pillion_protocol::{Dialect, Note, Proposer};
use pillion_text::visible;
use pillion_text::visible::wrap;
use pillion_view::changes::{ActDone, ChangesAct, ChangesList};
use pillion_view::{
    Choice, Chosen, CloseReason, Decide, Diff, DiffId, Pending, ProposalKey, Reply, Ruling, Status,
};
use ratatui::layout::{Rect, Size};

use crate::geometry::{self, Geometry, SIDE_BY_SIDE, SMALLEST};
use crate::view::{Sight, Stayed, View, Viewport};
use all_seen::Accepting;
pub use changes::{ChangesPage, Sent};
pub use files::{FilesPage, FilesRow};
pub use history::{History, Opened};
use mouse::Drag;
pub use mouse::Spot;
use note_list::NoteName;
pub use plain::Line;
use remark::Remark;
pub use review_delay::{HELD, HeldKey, LOOK, Mark, Press};
use review_delay::{ReviewDelay, Subject};
pub use search::Search;
use selection::Selection;

/// The message after a paste.
const PASTED: &str = "pasted text decides nothing here";

/// The time for which a message stays.
const MESSAGE: Duration = Duration::from_secs(6);

/// The time for which a message stays that names a place to remember.
const LONG_MESSAGE: Duration = Duration::from_secs(60);

/// Everything that happens to a review.
#[derive(Debug)]
pub enum Event {
    /// The person does something.
    Act(Act, Press),
    /// A key was pressed that stands for nothing else: it is typed, if anything is.
    Typed(KeyEvent, Press),
    /// The terminal has shown what was written before this question, at this time.
    Answered(Mark, Instant),
    /// The mouse was moved, pressed or turned.
    Mouse(MouseEvent),
    /// A text was pasted, and the terminal marked it as such.
    Pasted(String),
    /// The terminal has another size.
    Resized(Size),
    /// The terminal is ours again, and so large, after this process was stopped.
    Resumed(Size),
    /// An agent proposes a change, of a file that was read.
    Opened {
        /// The proposal.
        diff: Diff,
        /// Its bytes; `None` when it is not there yet.
        original: Option<Vec<u8>>,
        /// Answered when the view can be seen.
        shown: Reply<()>,
    },
    /// A view goes away.
    Closed {
        /// The view.
        id: DiffId,
        /// The reason.
        reason: CloseReason,
        /// Answered with the text in the view.
        closed: Reply<String>,
    },
    /// Agents or the context changed.
    Status(Status),
    /// The person wrote this for the file of a proposal before, and nobody decided about it.
    Drafted(ProposalKey, String),
    /// The person wrote these notes on an earlier proposal of the file.
    Noted(ProposalKey, Vec<Note>),
    /// The file of a pending diff changed on disk, or is as it was.
    Disk(DiffId, Disk),
    /// The file was read again, to merge with it, or could not be.
    Reread(DiffId, Result<Option<Vec<u8>>, String>),
    /// Texts were compared.
    Compared(Compared),
    /// The reviewer's editor saved this text and still runs.
    Saved(DiffId, String),
    /// The reviewer's editor ended.
    Edited(DiffId, Edit),
    /// The reviewer's editor saved these words, which are being typed, or ended with them.
    Worded(Edit),
    /// The gate has ruled about a decision.
    Ruled(ProposalKey, Ruling),
    /// The changes that agents have written.
    Listed(ChangesList),
    /// The outcome of [`Effect::Act`], with what went with it.
    Acted(ActDone, Sent),
    /// The outcome of [`Effect::Choose`].
    Chosen(Chosen),
    /// A message.
    Notice(String),
    /// The former decisions, newest first, or why those cannot be read.
    History(Result<Vec<Past>, String>),
    /// One of those is to be shown.
    Past(Opened),
    /// The outcome of [`Effect::Bases`], in the order in which they are shown.
    Bases(ProposalKey, Vec<Opened>),
    /// These agents' programs are on PATH.
    Installed(Vec<Dialect>),
    /// The place of a text that would have been lost.
    Kept(String),
    /// Syntax colours were worked out.
    Coloured(Texts, Side, Coloured),
    /// Time passed.
    Tick,
    /// The review is to end, now.
    Stop,
}

/// The outcome of the reviewer's editor.
#[derive(Debug)]
pub enum Edit {
    /// The proposal as edited.
    Text(String),
    /// It was left unchanged.
    Unchanged,
    /// The file itself was opened; true if it is another one since.
    File(bool),
    /// It cannot be used, and why.
    Failed(String),
    /// It cannot be used; a sentence with the reason and where it is.
    Kept(String),
    /// It is not there, or cannot be read; a sentence that names the file.
    Lost(String),
    /// A newer proposal took the place of the one that was edited.
    Late {
        /// The text that the editor got.
        base: String,
        /// The text that it became, if it was changed.
        text: Option<String>,
    },
}

/// An action outside of the state machine.
#[derive(Debug)]
pub enum Effect {
    /// Ask the gate whether this decision counts.
    Decide(Box<Decide>),
    /// The person chooses something for all agents.
    Choose(Choice),
    /// Have what agents have written listed.
    Changes,
    /// The person does something with that.
    Act(ChangesAct, Sent),
    /// Compare texts, on a thread.
    Compare(Box<Job>),
    /// Answer once the screen is drawn.
    Shown(Reply<()>),
    /// Answer with the text of a view that is gone.
    Closed(Reply<String>, Result<String, String>),
    /// Run the reviewer's editor on the text.
    Edit {
        /// The proposal that is edited; none if it is the words that are being typed.
        proposal: Option<ProposalKey>,
        /// The file, for its name.
        path: PathBuf,
        /// The text to edit; none if the file itself is to be opened.
        text: Option<String>,
        /// The line at the cursor, from 1.
        line: usize,
    },
    /// Keep what the reviewer wrote, which would be lost, in a private file, and report where.
    Keep {
        /// The diff.
        id: DiffId,
        /// The file.
        path: PathBuf,
        /// The text.
        text: String,
        /// The reason why it would be lost.
        why: String,
    },
    /// Open the page in the person's browser.
    Web,
    /// Read what was decided before.
    History,
    /// Read one of those, to show it.
    Past(Box<Past>),
    /// Compare a proposal with other texts than its own, as far as they are known.
    Bases(Box<Bases>),
    /// Put a text on the clipboard.
    Copy(String),
    /// Have the terminal report what the mouse does, or not.
    Mouse(bool),
    /// Read the file of this diff again, on a thread.
    Reread(DiffId),
    /// Give the terminal back to the shell until it brings us back.
    Suspend,
    /// Leave.
    Quit,
}

/// The page or question that covers the diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlay {
    /// The keys, scrolled by so many lines.
    Help(u16),
    /// The question whether to leave although diffs are pending.
    Quit,
    /// The former decisions.
    History,
    /// The list of what agents have written.
    Changes,
    /// The list of the pending diffs.
    Files,
    /// The list of the person's notes.
    Notes,
}

/// What a question on the screen is about. Another key than the one that asks answers it: who taps a key has not read what it
/// asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Question {
    Accept,
    /// All that were seen.
    AcceptSeen,
    Reject,
    /// `o`, of a file that is gone.
    Create,
    /// `m`, after which agents ask less.
    Unasked,
    /// `m`, after which they ask nothing.
    After,
    /// Several files at once, in the list of what was written.
    Keep,
    TakeBack,
}

impl Question {
    /// What asks it, and is done when it is answered.
    fn act(self) -> Act {
        match self {
            Self::Accept => Act::Accept,
            Self::AcceptSeen => Act::AcceptSeen,
            Self::Reject => Act::Reject,
            Self::Create => Act::Merge,
            Self::Unasked | Self::After => Act::Mode,
            Self::Keep => Act::Keep,
            Self::TakeBack => Act::TakeBack,
        }
    }
}

/// The style of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// For information.
    Info,
    /// Something is done.
    Good,
    /// Something needs care.
    Warning,
}

/// A line about what just happened.
#[derive(Debug, Clone)]
pub struct Message {
    /// The line.
    pub text: String,
    /// Its style.
    pub tone: Tone,
    until: Instant,
    /// It names a place to remember.
    is_lasting: bool,
    /// It goes with the next command.
    is_brief: bool,
    /// It waits for an answer as long as it is there.
    asks: Option<Question>,
    /// It says that this agent does not wait for this file any more: it goes when the agent proposes it again.
    ended: Option<(Proposer, PathBuf)>,
}

/// Digits that follow each other: a pending diff, or a line.
#[derive(Debug, Clone, Copy)]
struct Digits {
    diff: u64,
    line: u64,
    /// The diff that was shown before them.
    from: DiffId,
    until: Instant,
}

/// The review.
#[derive(Default)]
pub struct App {
    /// The workspace folders.
    pub roots: Vec<PathBuf>,
    /// The keys of commands.
    pub keys: Keys,
    /// The last report of the companion.
    pub status: Status,
    /// Why commands have not the keys that the person chose.
    pub troubles_of_keys: Option<String>,
    /// The agents whose programs are on PATH, as far as is known.
    pub installed: Vec<Dialect>,
    numbered: Numbered,
    /// The pending diffs, oldest first.
    pub views: Pending<View>,
    /// The one that is shown.
    pub current: usize,
    /// The page or question that covers it.
    pub overlay: Option<Overlay>,
    /// The page that the help or the question whether to leave covers in its turn.
    covered: Option<Overlay>,
    changes: ChangesPage,
    /// The arrangement that the reviewer asked for; without one, each diff has the one that it fits.
    layout: Option<Layout>,
    /// True if long lines are wrapped.
    pub wrap: bool,
    /// The former decisions, while they are shown.
    pub history: History,
    /// The list of the pending diffs, while it is shown.
    pub files: FilesPage,
    /// The note that is chosen in the list of notes.
    chosen_note: Option<NoteName>,
    /// The terminal reports what the mouse does.
    pub has_mouse: bool,
    /// What the last frame has where.
    pub spots: Vec<(Rect, Spot)>,
    drag: Option<Drag>,
    /// The terminal's size.
    pub size: Size,
    /// True if it is shown in lines that are appended.
    pub is_plain: bool,
    message: Option<Message>,
    /// A question is gone that nobody has answered: whose answer comes now means nothing else.
    lost_question: bool,
    /// Messages that came while the gate looked at a decision, or a question was there: said once that is known, or is gone.
    notices: Vec<(Duration, Tone, String)>,
    /// The words that are being typed.
    remark: Option<Remark>,
    /// The lines that are selected.
    selection: Option<Selection>,
    /// What was searched for, until Esc.
    pub search: Option<Search>,
    /// For each decision about what is written that can be undone, the last one last: how much could be undone then in each diff.
    decided: Vec<HashMap<DiffId, usize>>,
    /// Counts what was asked.
    questions: u64,
    delay: ReviewDelay,
    /// What the last frame shows that was not seen before.
    sight: Sight,
    /// The diffs that are being accepted one after the other.
    accepting: Option<Accepting>,
    /// The digits that were typed last.
    digits: Option<Digits>,
    /// Counts what was compared.
    jobs: u64,
    /// The actions to take when [`App::update`] returns.
    effects: Vec<Effect>,
}

impl App {
    /// A review without diffs.
    pub fn new(roots: Vec<PathBuf>, size: Size) -> Self {
        Self {
            roots,
            size,
            ..Self::default()
        }
    }

    /// Takes in what happened and returns what is to be done.
    pub fn update(&mut self, event: Event, now: Instant) -> Vec<Effect> {
        self.note_look(now);
        match event {
            Event::Act(act, press) => self.on_act(act, &press, now),
            Event::Typed(key, press) => self.on_typed(key, &press, now),
            Event::Answered(mark, at) => {
                if self.delay.answered(mark, at) {
                    self.sight.shown(at);
                }
            }
            Event::Mouse(mouse) => self.on_mouse(mouse, now),
            Event::Pasted(text) => {
                if !self.paste_remark(&text) {
                    self.say(Tone::Warning, PASTED, now);
                }
            }
            Event::Resized(size) => self.fit(size),
            Event::Resumed(size) => {
                self.delay.forget();
                self.out_of_sight();
                self.fit(size);
            }
            Event::Opened {
                diff,
                original,
                shown,
            } => self.open(diff, original, shown, now),
            Event::Closed { id, reason, closed } => self.close(id, reason, closed, now),
            Event::Status(status) => {
                let former = std::mem::replace(&mut self.status, status).changes;
                self.number_agents();
                self.changes.heard(former != self.status.changes);
            }
            Event::Drafted(key, text) => {
                if self.views.current(key).is_ok() {
                    self.compare(key.id, Step::Offer(text), now);
                }
            }
            Event::Noted(key, notes) => {
                if self.views.current(key).is_ok()
                    && !self.types_since_before(key)
                    && let Some(view) = self.views.find_mut(key.id)
                {
                    view.take_notes(notes);
                }
            }
            Event::Disk(id, disk) => {
                if let Some(view) = self.views.find_mut(id) {
                    view.disk = disk;
                }
            }
            Event::Reread(id, original) => self.reread(id, original, now),
            Event::Compared(compared) => self.compared(compared, now),
            Event::Saved(id, text) => self.compare(id, Step::Edit(text.into()), now),
            Event::Edited(id, edit) => self.edited(id, edit, now),
            Event::Worded(edit) => self.worded(edit),
            Event::Ruled(key, ruling) => self.ruled(key, ruling, now),
            Event::Listed(list) => self.listed(list),
            Event::Acted(done, sent) => self.acted(done, &sent, now),
            Event::Chosen(chosen) => self.chosen(chosen, now),
            Event::Notice(text) => self.noticed(text, now),
            Event::History(items) => self.show_history(items, now),
            Event::Past(opened) => self.show_past(opened),
            Event::Bases(key, compared) => self.show_bases(key, compared, now),
            Event::Installed(agents) => self.installed = agents,
            Event::Kept(text) => self.report(LONG_MESSAGE, Tone::Warning, text, now),
            Event::Coloured(texts, side, coloured) => {
                if let Some(view) = self.views.find_mut(texts.id)
                    && view.texts() == texts
                {
                    view.paint.colour(side, coloured);
                }
            }
            Event::Tick => {}
            Event::Stop => self.quit(),
        }
        self.message.take_if(|message| message.until <= now);
        self.accept_next(now);
        self.tell_notices(now);
        self.ask_for_changes();
        self.arrange();
        std::mem::take(&mut self.effects)
    }

    /// Arranges everything for a terminal of this size.
    pub fn fit(&mut self, size: Size) {
        self.size = size;
        self.fit_history();
        self.arrange();
    }

    /// The review as it is now was drawn. Answers what to ask the terminal, if anything.
    pub fn drawn(&mut self, now: Instant) -> Option<Mark> {
        let subject = self.subject();
        let former = std::mem::take(&mut self.sight);
        if let (Some(_), Some(viewport)) = (subject, self.viewport()) {
            self.sight = self.views[self.current].in_sight(&viewport, &former);
        }
        let has_keys = self.changes().is_some() && !self.is_too_small();
        self.changes.drawn(has_keys, now);
        self.delay
            .drawn(subject, self.sight.waits_more_than(&former), now)
    }

    /// Notes that what has been on the screen for long enough at that time was seen: before each frame, and before the person does
    /// something.
    pub fn see(&mut self, at: Instant) {
        if let Some(shown) = self.delay.gives_up().filter(|until| *until <= at) {
            self.sight.shown(shown);
        }
        let view = self.sight.id().and_then(|id| self.views.find_mut(id));
        if let Some(view) = view {
            view.see(&mut self.sight, at);
        }
    }

    /// Something else has the terminal, or had it: nothing of a diff is in sight.
    pub fn out_of_sight(&mut self) {
        self.sight = Sight::default();
    }

    fn is_too_small(&self) -> bool {
        self.size.width < SMALLEST.0 || self.size.height < SMALLEST.1
    }

    /// The subject of a decision if it was drawn as it is now.
    fn subject(&self) -> Option<Subject> {
        if self.is_too_small() || self.overlay.is_some() {
            return None;
        }
        let view = self.view().filter(|view| !view.is_comparing())?;
        Some(Subject {
            id: view.diff.id,
            revision: view.diff.revision,
            changes: view.proposal.changes(),
            asked: self.question().map(|_| self.questions),
        })
    }

    /// The time at which something on the screen expires by itself.
    pub fn expires(&self) -> Option<Instant> {
        let message = self.message.as_ref().map(|message| message.until);
        let silent = self.sight.waits().then(|| self.delay.gives_up()).flatten();
        let due = [message, self.accepts_next(), self.sight.due(), silent];
        due.into_iter().flatten().min()
    }

    /// The view that is shown.
    pub fn view(&self) -> Option<&View> {
        self.views.get(self.current)
    }

    /// The ways in which agents ask before they change files.
    pub fn asking(&self) -> &[String] {
        &self.status.asking
    }

    /// The things that do not work, as long as they do not.
    pub fn warnings(&self) -> impl Iterator<Item = &str> {
        let status = &self.status;
        let warnings = status.unasked.iter().chain(&status.warnings);
        let warnings = warnings.chain(&self.troubles_of_keys);
        warnings.map(String::as_str)
    }

    /// The line below the diff: the words that are being typed, or else the last message, or else what does not work, or else
    /// the note on the hunk. Where there is no diff, the page says what does not work.
    pub fn line(&self) -> Option<(String, Tone)> {
        let remark = self.remark_line().map(|line| (line, Tone::Info));
        let message = self.message.as_ref();
        let message = || message.map(|message| (message.text.clone(), message.tone));
        let is_page = self.views.is_empty() && self.changes().is_none();
        let mut warnings = self.warnings().filter(|_| !is_page);
        let warning = || Some((warnings.next()?.to_owned(), Tone::Warning));
        let note = || self.note_line().map(|line| (line, Tone::Info));
        remark.or_else(message).or_else(warning).or_else(note)
    }

    /// Returns true if the line below the diff is on the screen as a whole.
    fn is_line_whole(&self) -> bool {
        let rows = self.line().map_or(0, |line| self.rows_of(&line.0));
        rows <= usize::from(self.geometry().status.height)
    }

    fn rows_of(&self, message: &str) -> usize {
        let text = visible::one_line(message);
        wrap::rows(&text, geometry::message_room(self.size.width)).len()
    }

    /// The layout of `view`: side by side if that cuts no line that changed, unless the reviewer asked for another.
    pub fn layout_of(&self, view: &View) -> Layout {
        if self.body_width() < SIDE_BY_SIDE || view.is_one_sided() {
            return Layout::Unified;
        }
        self.layout.unwrap_or_else(|| self.fitting_layout(view))
    }

    fn fitting_layout(&self, view: &View) -> Layout {
        let beside = view.columns(Layout::SideBySide, self.body_width());
        match view.fits(&beside) {
            true => Layout::SideBySide,
            false => Layout::Unified,
        }
    }

    /// The places of things on the screen.
    pub fn geometry(&self) -> Geometry {
        let area = Rect::new(0, 0, self.size.width, self.size.height);
        let message = self.line().map_or(1, |(text, _)| self.rows_of(&text));
        let note = self.note().map_or(0, |note| {
            wrap::rows(&note, geometry::note_room(area.width)).len()
        });
        let pane = self.pane_width();
        // Their list says more.
        let has_tabs = self.views.len() > 1 && pane.is_none();
        let has_mode = self.view().is_some_and(|view| view.diff.mode.is_some());
        Geometry::new(area, (has_tabs, has_mode), note, message, pane)
    }

    /// The columns of the diff.
    pub fn body_width(&self) -> u16 {
        self.size.width - self.pane_width().unwrap_or_default()
    }

    /// The window through which the current diff is seen.
    pub fn viewport(&self) -> Option<Viewport> {
        let view = self.view()?;
        let body = self.geometry().body;
        Some(Viewport {
            columns: view.columns(self.layout_of(view), body.width),
            height: usize::from(body.height).max(1),
            wrap: self.wrap,
        })
    }

    fn arrange(&mut self) {
        if let Some(view) = self.views.get_mut(self.current) {
            view.measure();
        }
        let Some(layout) = self.view().map(|view| self.layout_of(view)) else {
            return;
        };
        let height = usize::from(self.geometry().body.height).max(1);
        let stayed = self.views[self.current].arrange(layout, height);
        if let Some(viewport) = self.viewport() {
            let view = &mut self.views[self.current];
            view.clamp(&viewport);
            match stayed {
                Some(Stayed::InView) => view.keep_in_view(&viewport),
                Some(Stayed::Elsewhere) => view.follow(&viewport),
                None => {}
            }
        }
    }

    fn say(&mut self, tone: Tone, text: impl Into<String>, now: Instant) {
        self.say_for(MESSAGE, tone, text, now);
    }

    /// The question that waits for its answer.
    fn question(&self) -> Option<Question> {
        self.message.as_ref()?.asks
    }

    /// Returns true if a question waits for its answer where keys answer it.
    pub fn has_question(&self) -> bool {
        self.question().is_some() && matches!(self.place(), Place::Diff | Place::List)
    }

    /// The question does not wait any more, and has no answer.
    fn drop_question(&mut self) {
        self.lost_question |= self.answered_question().is_some();
    }

    /// The question does not wait any more: it has its answer.
    fn answered_question(&mut self) -> Option<Message> {
        self.message.take_if(|message| message.asks.is_some())
    }

    /// Returns true if exactly this question is there.
    fn is_asked(&self, question: Question, text: &str) -> bool {
        let message = self.message.as_ref();
        // It may say more by now.
        message.is_some_and(|it| it.asks == Some(question) && it.text.starts_with(text))
    }

    /// Asks, until `y` answers it or another key does something else.
    fn ask(&mut self, question: Question, text: impl Into<String>, now: Instant) {
        let text = text.into();
        if !self.is_asked(question, &text) {
            self.questions += 1;
        }
        self.say_for(LONG_MESSAGE, Tone::Warning, text, now);
        if let Some(message) = &mut self.message {
            message.asks = Some(question);
        }
        self.lost_question = false;
    }

    fn say_for(&mut self, time: Duration, tone: Tone, text: impl Into<String>, now: Instant) {
        self.message = Some(Message {
            text: text.into(),
            tone,
            until: now + time,
            is_lasting: time == LONG_MESSAGE,
            is_brief: false,
            asks: None,
            ended: None,
        });
    }

    /// Leaves. Diffs that no other editor or review shows are rejected then, once what is being decided is carried out.
    fn quit(&mut self) {
        let pending = std::mem::take(&mut self.views);
        let kept = pending.iter().filter_map(|view| {
            let why = format!("the review ended with your edits of {}", view.target.shown);
            view.keep_edits(why)
        });
        self.effects.extend(kept);
        self.effects.push(Effect::Quit);
    }
}

#[cfg(test)]
pub mod tests;
