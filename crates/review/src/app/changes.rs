//! The list of what agents have written already: turns with their files, what was decided about them, and the keys by which
//! the person decides. The companion makes the list, and acts for them. Where there is room, the list stands beside the
//! diff; keys mean it only after `S`.

use std::collections::HashMap;
use std::time::Instant;

use pillion_judge::act::Act;
use pillion_judge::listed::{self, ChangesRow, RowWords, SentWords};
use pillion_protocol::Note;
use pillion_protocol::verdict::Lines;
use pillion_text::counted;
use pillion_view::GLANCE;
use pillion_view::changes::{ActDone, ChangesAct, ChangesList, ListedChange, Meant, Part};

use super::acts::moved;
use super::review_delay::{Press, TooEarly};
use super::{App, Effect, Overlay, Question, Tone};
use crate::geometry::{self, LEAST_WITH_PANE};
use crate::view::View;

/// The message where no agent has written anything.
const NO_TURNS: &str = "no turn of an agent is known here";

/// The list, and where the cursor is in it.
#[derive(Debug, Default)]
pub struct ChangesPage {
    /// None until it has come.
    list: Option<ChangesList>,
    /// The turn or change under the cursor.
    id: String,
    /// True if the companion has a newer list, as far as is known.
    is_stale: bool,
    /// True if the companion was asked and has not answered.
    is_asked: bool,
    /// The person's choice with `t`: true if the list is to stand beside the diff.
    beside: Option<bool>,
    /// The turn about which a question is asked, as it was then.
    asked: Option<(String, String)>,
    /// The turn or change that the person has just opened.
    opening: Option<String>,
    /// The line under the cursor, with its revision, as it was drawn last, and since when.
    drawn: Option<(String, String, Instant)>,
    /// The person's words about lines of the list, which were not sent.
    pub(super) words: RowWords,
}

/// What goes with an act, until it is done.
#[derive(Debug, Clone, Default)]
pub struct Sent {
    words: SentWords,
    /// The act can be undone.
    is_decision: bool,
}

impl ChangesPage {
    /// The text in place of lines, if there are none.
    pub fn instead(&self) -> Option<&str> {
        match &self.list {
            None => Some("reading what agents have written…"),
            Some(list) => match &list.problem {
                Some(problem) => Some(problem),
                None => list.turns.is_empty().then_some(NO_TURNS),
            },
        }
    }

    /// The lines, the newest turn first.
    pub fn rows(&self) -> Vec<ChangesRow<'_>> {
        self.list.iter().flat_map(listed::rows).collect()
    }

    /// The number of changes that are left out.
    pub fn left_out(&self) -> usize {
        self.list.as_ref().map_or(0, |list| list.left_out)
    }

    /// The row of the cursor.
    pub fn at(&self) -> usize {
        let rows = self.rows();
        let at = rows.iter().position(|row| row.id() == self.id);
        at.unwrap_or_default()
    }

    /// It was drawn as it is now, with keys that mean it, or was not.
    pub(super) fn drawn(&mut self, has_keys: bool, now: Instant) {
        let Some(row) = self.row().filter(|_| has_keys) else {
            self.drawn = None;
            return;
        };
        let is_same = |(id, revision, _): &&(String, String, Instant)| {
            id == row.id() && revision == row.revision()
        };
        let since = self
            .drawn
            .as_ref()
            .filter(is_same)
            .map(|(.., since)| *since);
        self.drawn = Some((
            row.id().to_owned(),
            row.revision().to_owned(),
            since.unwrap_or(now),
        ));
    }

    /// The line under the cursor.
    fn row(&self) -> Option<ChangesRow<'_>> {
        self.rows().get(self.at()).copied()
    }

    /// The name and revision of the line under the cursor.
    pub(super) fn under_cursor(&self) -> Option<(String, String)> {
        let row = self.row()?;
        Some((row.id().to_owned(), row.revision().to_owned()))
    }

    /// Returns true if this line was under the cursor when the list was drawn last, and long enough before `at`.
    fn is_drawn(&self, row: ChangesRow<'_>, at: Instant) -> bool {
        self.drawn.as_ref().is_some_and(|(id, revision, since)| {
            (id, revision) == (&row.id().to_owned(), &row.revision().to_owned())
                && at.saturating_duration_since(*since) >= GLANCE
        })
    }

    /// The companion has reported. The list is another one then, or cannot be read and perhaps can be now.
    pub(super) fn heard(&mut self, is_other: bool) {
        let is_read = |list: &ChangesList| list.problem.is_none();
        self.is_stale |= is_other || !self.list.as_ref().is_some_and(is_read);
    }

    /// The person does something else than to wait for what they have opened.
    pub(super) fn forget_opening(&mut self) {
        self.opening = None;
    }

    /// Returns true if this change, or its turn, is what the person has just opened. Only the first one is.
    pub(super) fn opens(&mut self, written: Option<&str>) -> bool {
        let is_of = |id: &mut String| written.is_some_and(|written| is_or_is_of(written, id));
        self.opening.take_if(is_of).is_some()
    }

    fn take(&mut self, mut list: ChangesList) {
        self.is_asked = false;
        self.words.take_former(&mut list);
        self.list = Some(list);
        self.settle();
    }

    /// The cursor is on a line that exists.
    fn settle(&mut self) {
        let rows = self.rows();
        let is_there = rows.iter().any(|row| row.id() == self.id);
        if !is_there && self.list.is_some() {
            let unseen = rows.iter().find(|row| row.is_unseen());
            let id = unseen.or(rows.first()).map(|row| row.id().to_owned());
            self.id = id.unwrap_or_default();
        }
    }

    /// Goes to a row.
    pub(super) fn go_to(&mut self, row: usize) {
        self.id = self
            .rows()
            .get(row)
            .map_or_else(String::new, |row| row.id().to_owned());
    }

    /// Goes to the next change that nobody has seen. Returns false if there is none.
    fn go_on(&mut self) -> bool {
        let (rows, at) = (self.rows(), self.at());
        let (before, after) = rows.split_at((at + 1).min(rows.len()));
        let id = after.iter().chain(before).find(|row| row.is_unseen());
        let id = id.map(|row| row.id().to_owned());
        let is_there = id.is_some();
        self.id = id.unwrap_or_else(|| self.id.clone());
        is_there
    }
}

/// Returns true if a change has this name, or is one of the turn of this name.
fn is_or_is_of(change: &str, id: &str) -> bool {
    let rest = change.strip_prefix(id);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

impl App {
    /// The list, while keys mean it.
    pub fn changes(&self) -> Option<&ChangesPage> {
        let is_shown = self.overlay == Some(Overlay::Changes);
        is_shown.then_some(&self.changes)
    }

    /// Returns true if the person looks at what this turn has written already: in the list, or in a diff.
    pub fn looks_at(&self, turn: u64) -> bool {
        let shown = self.view().and_then(|view| view.diff.written.as_deref());
        let is_of = |change| is_or_is_of(change, &turn.to_string());
        self.changes().is_some() || shown.is_some_and(is_of)
    }

    /// The list, for where it stands beside the diff.
    pub fn pane(&self) -> &ChangesPage {
        &self.changes
    }

    /// The columns of the list beside the diff; none if it is not shown there.
    pub fn pane_width(&self) -> Option<u16> {
        let list = self.changes.list.as_ref();
        let has_turns = list.is_some_and(|it| it.problem.is_none() && !it.turns.is_empty());
        self.room_for_pane()
            .filter(|_| has_turns || self.views.len() > 1)
    }

    /// The columns that there are for it: where several diffs are pending, their list is worth more than two sides.
    fn room_for_pane(&self) -> Option<u16> {
        let beside = self.changes.beside;
        let asks = beside.unwrap_or(self.views.len() > 1);
        let width = geometry::pane_width(self.size.width, asks);
        width.filter(|_| beside != Some(false) && !self.is_plain)
    }

    pub(super) fn toggle_pane(&mut self, now: Instant) {
        if self.pane_width().is_some() {
            self.changes.beside = Some(false);
            let text = self
                .keys
                .fill("<pane> shows the list again, <list> opens it");
            return self.say(Tone::Info, text, now);
        }
        let has_turns = |list: &ChangesList| !list.turns.is_empty();
        let is_empty = !self.changes.list.as_ref().is_none_or(has_turns) && self.views.len() < 2;
        self.changes.beside = Some(true);
        if self.room_for_pane().is_none() {
            let opens = self.keys.fill("<list> opens it over the diff");
            let text = format!("the list beside the diff needs {LEAST_WITH_PANE} columns: {opens}");
            self.say(Tone::Info, text, now);
        } else if is_empty {
            self.say(Tone::Info, NO_TURNS, now);
        }
    }

    pub(super) fn show_changes(&mut self) {
        self.overlay = Some(Overlay::Changes);
        self.changes.is_stale = true;
        self.changes.drawn = None;
        let shown = self.view().and_then(|view| view.diff.written.clone());
        self.changes.id = shown.unwrap_or_default();
        self.changes.settle();
    }

    /// All words on rows of the list that no decision has taken along, with those that are being typed, by the names of the rows.
    pub fn row_notes(&self) -> HashMap<String, Vec<Note>> {
        self.changes.words.drafts(self.typed_on_row())
    }

    /// Has the list made anew if it is to be seen, or what was typed there goes with a diff, and is another one by now.
    pub(super) fn ask_for_changes(&mut self) {
        let has_written = || self.views.iter().any(|it| it.diff.written.is_some());
        let is_to_be_seen = self.changes().is_some()
            || self.room_for_pane().is_some()
            || (!self.changes.words.has_former() && has_written());
        let page = &mut self.changes;
        if is_to_be_seen && page.is_stale && !page.is_asked {
            (page.is_stale, page.is_asked) = (false, true);
            self.effects.push(Effect::Changes);
        }
    }

    pub(super) fn listed(&mut self, list: ChangesList) {
        self.changes.take(list);
    }

    pub(super) fn acted(&mut self, done: ActDone, sent: &Sent, now: Instant) {
        for (id, words) in sent.words.iter().filter(|_| done.done) {
            self.changes.words.told(id, words);
        }
        if sent.is_decision && done.done {
            self.note_decision(true);
        }
        let tone = match done.done {
            true => Tone::Good,
            false => Tone::Warning,
        };
        self.say(tone, done.message, now);
        self.changes.is_stale = true;
    }

    pub(super) fn on_list_act(&mut self, act: Act, press: &Press, now: Instant) {
        let list = &mut self.changes;
        match act {
            Act::Next if !list.go_on() => self.say(Tone::Info, "nothing is unseen here", now),
            Act::List | Act::Close => self.overlay = None,
            Act::Open | Act::Keep | Act::TakeBack | Act::Undo | Act::Stage => {
                self.act_on_row(act, press, false, now);
            }
            Act::Redo => {
                let text = "nothing is redone here: <keep> keeps it, <take-back> takes it back";
                let text = self.keys.fill(text);
                self.say(Tone::Info, text, now);
            }
            Act::Reason => self.ask_about_row(true),
            Act::Note => self.ask_about_row(false),
            _ => {
                let last = list.rows().len().saturating_sub(1);
                let height = self.size.height.saturating_sub(6);
                if let Some(to) = moved(act, list.at(), last, height) {
                    list.go_to(to);
                }
            }
        }
    }

    /// Stages the hunk that is shown of a change, as it stands in the file.
    pub(super) fn stage_hunk(&mut self, now: Instant) {
        let view = &self.views[self.current];
        let (Some(id), Some(hunk)) = (&view.diff.written, view.proposal.hunks().get(view.hunk))
        else {
            let text = "nothing is written yet: stage it in the list of what was written (<list>)";
            let text = self.keys.fill(text);
            return self.say(Tone::Info, text, now);
        };
        let line = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
        let last = hunk.after.end.saturating_sub(1).max(hunk.after.start);
        let part = Part {
            meant: Meant {
                id: Some(id.clone()),
                ..Meant::default()
            },
            lines: Some(Lines {
                first: line(hunk.after.start),
                last: line(last),
            }),
        };
        let act = ChangesAct::Stage(part);
        self.effects.push(Effect::Act(act, Sent::default()));
    }

    /// What was decided last about what is written is undone.
    pub(super) fn undo_decision(&mut self) {
        self.decided.pop();
        let undo = ChangesAct::Undo(None);
        self.effects.push(Effect::Act(undo, Sent::default()));
    }

    /// The view that shows a change, or the first one of a turn, if all that opening it would show is there.
    fn view_of(&self, row: ChangesRow<'_>) -> Option<usize> {
        let find = |change: &ListedChange| {
            let is_it = |view: &View| view.diff.written.as_deref() == Some(&*change.id);
            self.views.iter().position(is_it)
        };
        match row {
            ChangesRow::Change(change) => find(change),
            ChangesRow::Turn(turn) => {
                let is_opened = |it: &&ListedChange| it.is_unseen && it.added.is_some();
                let views: Option<Vec<_>> = { turn.changes.iter() }
                    .filter(is_opened)
                    .map(find)
                    .collect();
                views?.first().copied()
            }
        }
    }

    /// Takes back what is under the cursor, for the reason that was typed, if that is what it was typed about.
    pub(super) fn take_back_because(
        &mut self,
        press: &Press,
        id: &str,
        revision: &str,
        now: Instant,
    ) {
        let row = self.changes.under_cursor();
        let is_same = row.is_some_and(|(of, is)| of == id && is == revision);
        if !is_same || self.changes().is_none() {
            let text = "this has changed since: look at it; <reason> goes on with your reason";
            let text = self.keys.fill(text);
            return self.say(Tone::Warning, text, now);
        }
        self.act_on_row(Act::TakeBack, press, true, now);
    }

    /// What a key is about to do to several files at once, as a question.
    fn question_about(&self, row: ChangesRow<'_>, act: Act) -> Option<(Question, String)> {
        let ChangesRow::Turn(turn) = row else {
            return None;
        };
        let unseen = turn.changes.iter().filter(|it| it.is_unseen).count();
        let is_kept = |it: &ListedChange| it.state == "kept";
        let keeps_all = turn.changes.iter().all(is_kept);
        // As the turn's taking back leaves them out.
        let is_out = |it: &ListedChange| {
            matches!(&*it.state, "taken back" | "gone") || (!keeps_all && is_kept(it))
        };
        let of = turn.changes.iter().filter(|it| !is_out(it)).count();
        let title = format!("turn {}", turn.id);
        // It is not known of which turns the others are.
        let files = match self.changes.left_out() {
            0 => "files",
            _ => "or more files",
        };
        let yes = self.keys.fill("<answer>");
        match act {
            Act::Keep if unseen > 1 => Some((
                Question::Keep,
                format!("{title}: {unseen} {files} are unseen: {yes} keeps them all"),
            )),
            Act::TakeBack if turn.changes.len() > 1 => Some((
                Question::TakeBack,
                match self.changes.left_out() {
                    0 => format!("{title}: {yes} takes {} back", counted(of, "file")),
                    _ => format!("{title}: {yes} takes {of} {files} back"),
                },
            )),
            _ => None,
        }
    }

    /// `has_reason`: with the reason that was typed, which names what it takes back.
    fn act_on_row(&mut self, act: Act, press: &Press, has_reason: bool, now: Instant) {
        let Some(row) = self.changes.row() else {
            return;
        };
        let may = press.check().and_then(|()| {
            match act == Act::Open || self.changes.is_drawn(row, press.at) {
                true => Ok(()),
                false => Err(TooEarly::Unseen),
            }
        });
        if let Err(why) = may {
            return self.say_too_early(why, now);
        }
        let asked = self.question_about(row, act).filter(|_| !has_reason);
        let under_cursor = self.changes.under_cursor();
        if let Some((question, text)) = asked
            && !(self.is_asked(question, &text) && self.changes.asked == under_cursor)
        {
            self.changes.asked = under_cursor;
            self.answered_question();
            return self.ask(question, text, now);
        }
        self.answered_question();
        let Some(row) = self.changes.row() else {
            return;
        };
        let (id, revision) = (Some(row.id().to_owned()), Some(row.revision().to_owned()));
        let is_keeping = act == Act::Keep;
        let mut words = self.changes.words.for_act(row, is_keeping, has_reason);
        let meant = Meant {
            id: id.clone(),
            revision,
            notes: row.notes_of(&words),
            ..Meant::default()
        };
        let is_text = !matches!(row, ChangesRow::Change(change) if change.added.is_none());
        let is_decision = matches!(act, Act::Keep | Act::TakeBack);
        let act = match act {
            Act::Open if !is_text => {
                let text = "no text of it can be shown: <keep> keeps it, <take-back> takes it back";
                let text = self.keys.fill(text);
                return self.say(Tone::Info, text, now);
            }
            Act::Open => {
                // What is opened is to be seen.
                self.overlay = None;
                if let Some(at) = self.view_of(row) {
                    self.current = at;
                    return self.show_first_hunk();
                }
                self.changes.opening.clone_from(&id);
                ChangesAct::Look(id)
            }
            Act::Keep => ChangesAct::Keep(meant),
            Act::Undo => return self.undo_decision(),
            Act::Stage => ChangesAct::Stage(Part { meant, lines: None }),
            _ => ChangesAct::TakeBack(Part {
                meant,
                ..Part::default()
            }),
        };
        if act.notes().is_empty() {
            words.clear();
        }
        let sent = Sent { words, is_decision };
        self.effects.push(Effect::Act(act, sent));
    }
}
