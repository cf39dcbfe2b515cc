//! What each command does.

use std::time::{Duration, Instant};

use crossterm::event::KeyEvent;
use pillion_judge::DECIDING;
use pillion_judge::act::{Act, Guard, Place};
use pillion_judge::proposal::NotText;
use pillion_judge::rows::Layout;
use pillion_protocol::ReviewChoice;
use pillion_text::counted;
use pillion_view::{Choice, DiffId, Proposed};

use super::review_delay::{LOOK, Press, TooEarly};
use super::{App, Digits, Effect, Overlay, PASTED, Question, Tone};
use crate::geometry::SIDE_BY_SIDE;
use crate::help;
use crate::view::{Top, Viewport};

/// Digits that follow each other within this time make one number.
const DIGITS: Duration = Duration::from_secs(2);

/// The distance "to the very right", in steps that stop at the end of the longest visible line.
const FAR: isize = isize::MAX;

/// What a question says in addition that was answered before it can have been read.
const READ_FIRST: &str = " (read this first)";

/// The act does nothing but what was said.
struct Asked;

/// The reason why a proposal may not be changed now.
enum NotNow {
    Early(TooEarly),
    Because(Tone, String),
}

impl App {
    /// The part of the review that keys mean.
    pub fn place(&self) -> Place {
        match self.overlay {
            _ if self.remark.is_some() => Place::Prompt,
            Some(Overlay::Help(_)) => Place::Help,
            Some(Overlay::Quit) => Place::Quit,
            Some(Overlay::History) => Place::History,
            Some(Overlay::Changes) => Place::List,
            Some(Overlay::Files) => Place::Files,
            Some(Overlay::Notes) => Place::Notes,
            None => Place::Diff,
        }
    }

    /// A key is typed that is no command.
    pub(super) fn on_typed(&mut self, key: KeyEvent, press: &Press, now: Instant) {
        self.changes.forget_opening();
        let place = self.place();
        match place {
            Place::Prompt => self.on_remark_key(key, press, now),
            Place::Files => self.on_files_key(key),
            _ => {
                self.drop_question();
                let is_diff = place == Place::Diff && self.view().is_some();
                if let Err(why) = press.check() {
                    self.say_too_early(why, now);
                } else if is_diff || place == Place::List {
                    let text = self
                        .keys
                        .fill("this key does nothing · <help> shows all keys");
                    self.say(Tone::Info, text, now);
                }
            }
        }
    }

    /// The person does something.
    pub(super) fn on_act(&mut self, act: Act, press: &Press, now: Instant) {
        self.see(press.at);
        if act == Act::Copy && std::mem::take(&mut self.lost_question) {
            let text = self
                .keys
                .fill("nothing is asked any more, and nothing was decided: <copy> again copies");
            return self.say(Tone::Warning, text, now);
        }
        let Ok((act, answered)) = self.answered(act, press, now) else {
            return;
        };
        if act == Act::EndSearch || answered.is_some() {
            self.lost_question = false;
        }
        self.changes.forget_opening();
        self.message.take_if(|message| message.is_brief);
        if !matches!(act, Act::Digit(_) | Act::End) {
            self.digits = None;
        }
        let guard = act.command().map_or(Guard::Free, |command| command.guard);
        // Whoever does something else meanwhile has seen enough.
        self.accepting.take_if(|_| guard != Guard::Free);
        if guard != Guard::Free
            && let Err(why) = press.check()
        {
            return self.say_too_early(why, now);
        }
        match (act, self.place()) {
            (Act::Suspend, _) => self.effects.push(Effect::Suspend),
            (Act::EditWords, _) => self.edit_words(),
            (Act::Interrupt | Act::Answer, Place::Quit) => self.quit(),
            (Act::Interrupt | Act::Quit, _) => self.ask_to_quit(),
            (Act::Help, Place::Help) | (Act::Close | Act::Stay, Place::Help | Place::Quit) => {
                self.uncover();
            }
            (Act::Help, _) => self.cover(Overlay::Help(0)),
            (_, Place::Help) => self.on_help_act(act),
            (_, Place::History) => self.on_history_act(act),
            (_, Place::Notes) => self.on_notes_act(act, now),
            (Act::Pane, _) => self.toggle_pane(now),
            (Act::Web, _) => self.effects.push(Effect::Web),
            (Act::Mouse, _) => self.toggle_mouse(now),
            (_, Place::List) => self.on_list_act(act, press, now),
            (Act::Mode, _) => self.choose_mode(answered, now),
            (Act::SendNotes, _) => self.effects.push(Effect::Choose(Choice::SendNotes)),
            (Act::View, _) => {
                let choice = Choice::Review(Some(ReviewChoice::Changes));
                self.effects.push(Effect::Choose(choice));
            }
            (Act::Files, _) if self.views.is_empty() => {}
            (Act::Files, _) => self.show_files(),
            (Act::History, _) => self.ask_for_history(),
            (Act::List, _) => self.show_changes(),
            _ => self.on_diff_act(act, guard, press, now),
        }
    }

    /// The act as it is if a question waits: an answer is the act that asked, and the question that it answers. Every other one
    /// lets the question go, but the one that asked it.
    fn answered(
        &mut self,
        act: Act,
        press: &Press,
        now: Instant,
    ) -> Result<(Act, Option<Question>), Asked> {
        let Some(question) = self.question().filter(|_| act != Act::Suspend) else {
            return Ok((act, None));
        };
        match act {
            Act::Answer if !self.is_line_whole() => {
                let text = "there is no room for the question: enlarge the window, and ask again";
                self.say(Tone::Warning, text, now);
                return Err(Asked);
            }
            Act::Answer if self.is_early_answer(press) => {
                self.say_read_first();
                return Err(Asked);
            }
            Act::Answer => return Ok((question.act(), Some(question))),
            act if act == question.act() => return Err(Asked),
            _ => self.drop_question(),
        }
        Ok((act, None))
    }

    /// Returns true if a question about the diff was not on the screen for long enough to be read.
    fn is_early_answer(&self, press: &Press) -> bool {
        let is_about_diff = self.place() == Place::Diff && self.view().is_some();
        let time = self.delay.looked_at(press, self.subject());
        is_about_diff && press.check().is_ok() && time.is_none_or(|time| time < LOOK)
    }

    /// The question stays, and says why nothing came of the answer.
    fn say_read_first(&mut self) {
        let Some(message) = &mut self.message else {
            return;
        };
        let question = message.text.clone();
        if !question.ends_with(READ_FIRST) {
            message.text += READ_FIRST;
        }
        if !self.is_line_whole()
            && let Some(message) = &mut self.message
        {
            message.text = question;
        }
    }

    fn ask_to_quit(&mut self) {
        let has_words = !self.row_notes().is_empty();
        if self.views.is_empty() && self.status.at_quit().is_none() && !has_words {
            return self.quit();
        }
        self.cover(Overlay::Quit);
    }

    /// Shows a page or question until it is [uncovered](Self::uncover).
    pub(super) fn cover(&mut self, overlay: Overlay) {
        // One of them after the other covers the same page.
        if !self.is_covered() {
            self.covered = self.overlay;
        }
        self.overlay = Some(overlay);
    }

    /// Returns true while the help or the question whether to leave is there.
    fn is_covered(&self) -> bool {
        matches!(self.overlay, Some(Overlay::Help(_) | Overlay::Quit))
    }

    /// Returns true if the list of what agents have written is in front, or will be.
    pub(super) fn is_at_list(&self) -> bool {
        let page = match self.is_covered() {
            true => self.covered,
            false => self.overlay,
        };
        page == Some(Overlay::Changes)
    }

    /// Shows the page again that was covered, if there was one.
    pub(super) fn uncover(&mut self) {
        self.overlay = self.covered.take();
    }

    fn on_help_act(&mut self, act: Act) {
        let Some(Overlay::Help(line)) = self.overlay else {
            return;
        };
        let (line, last) = (line.into(), help::last_scroll(&self.keys, self.size).into());
        if let Some(to) = moved(act, line, last, self.size.height.saturating_sub(3)) {
            self.overlay = Some(Overlay::Help(u16::try_from(to).unwrap_or(u16::MAX)));
        }
    }

    fn on_diff_act(&mut self, act: Act, guard: Guard, press: &Press, now: Instant) {
        let Some(viewport) = self.viewport() else {
            if act == Act::Undo && !self.decided.is_empty() {
                self.undo_decision();
            } else if act == Act::Undo {
                let text = "no diff is open: <list> lists what is written, and <undo> undoes there";
                let text = self.keys.fill(text);
                self.say(Tone::Info, text, now);
            }
            return;
        };
        if guard == Guard::Shown
            && let Err(why) = self.may_change(act, press)
        {
            return match why {
                NotNow::Early(why) => self.say_too_early(why, now),
                NotNow::Because(tone, why) => self.say(tone, why, now),
            };
        }
        match act {
            Act::Accept | Act::Reject if self.views[self.current].deciding.is_some() => {
                self.say(Tone::Info, DECIDING, now);
            }
            Act::Accept => self.accept(press),
            Act::AcceptSeen => self.accept_seen(press, now),
            Act::Reject => self.ask_or_reject(press, now),
            Act::Exclude if self.toggle_selected(now) => {}
            Act::Exclude => self.toggle_hunk(&viewport, now),
            Act::Split => self.split(now),
            Act::Select => self.select(now),
            Act::EndSearch if self.selected().is_some() => self.end_selection(),
            Act::Stage => self.stage_hunk(now),
            Act::Edit => self.edit(),
            Act::OpenFile => self.open_file(now),
            Act::Undo => self.undo(true, now),
            Act::Redo => self.undo(false, now),
            Act::Merge => self.merge(now),
            Act::Reason => self.ask_for_reason(now),
            Act::Note => self.ask_for_note(false, now),
            Act::NoteFile => self.ask_for_note(true, now),
            Act::Notes => self.show_notes(now),
            Act::NextNote => self.go_to_note(now),
            Act::Base => self.ask_for_bases(),
            Act::Layout => self.change_layout(now),
            Act::Wrap => self.change_wrap(now),
            Act::Copy => self.copy_hunk(now),
            Act::CopyPath => self.copy_path(now),
            Act::More => self.unfold_more(now),
            Act::Gap => self.views[self.current].toggle_gaps(),
            Act::Unfold => self.views[self.current].toggle_folds(),
            Act::Whitespace => self.ignore_whitespace(now),
            Act::Search => self.ask_what_to_search(),
            Act::SearchWord => self.search_for_word(now),
            Act::Line => self.ask_for_line(),
            _ => self.on_moving_act(act, &viewport, now),
        }
    }

    fn unfold_more(&mut self, now: Instant) {
        if !self.views[self.current].unfold_more() {
            self.say(Tone::Info, "nothing is folded beside this hunk", now);
        }
    }

    /// Checks that what would be accepted may become something else.
    fn may_change(&self, act: Act, press: &Press) -> Result<(), NotNow> {
        let admitted = self.delay.admit(press, self.subject());
        admitted.map_err(NotNow::Early)?;
        let view = &self.views[self.current];
        let looked_at = || self.delay.looked_at(press, self.subject());
        if act == Act::Merge && view.is_gone && looked_at().is_none_or(|it| it < LOOK) {
            return Err(NotNow::Early(TooEarly::Unseen));
        }
        let tone = match view.deciding {
            Some(_) => Tone::Info,
            None => Tone::Warning,
        };
        let writes = matches!(act, Act::Exclude | Act::Edit);
        view.may_change(writes)
            .map_err(|why| NotNow::Because(tone, why))
    }

    fn merge(&mut self, now: Instant) {
        if self.views[self.current].diff.written.is_some() {
            let text = "this is in the file already: there is nothing to merge with";
            return self.say(Tone::Info, text, now);
        }
        self.say(Tone::Info, "reading the file on disk…", now);
        let view = &mut self.views[self.current];
        view.is_rereading = true;
        self.effects.push(Effect::Reread(view.diff.id));
    }

    fn change_wrap(&mut self, now: Instant) {
        self.keep_place(|app| app.wrap = !app.wrap);
        let text = match self.wrap {
            true => "long lines wrap",
            false => "long lines are cut",
        };
        self.say(Tone::Info, text, now);
    }

    pub(super) fn say_too_early(&mut self, why: TooEarly, now: Instant) {
        // A question stays on the screen as long as it waits for its answer.
        if self.question().is_some() {
            return;
        }
        let text = match why {
            TooEarly::Unseen if self.changes().is_some() => {
                "the cursor is here only now: look at this line, then press again"
            }
            TooEarly::Unseen if self.view().is_some_and(|view| view.is_comparing()) => {
                "still comparing: look at it first"
            }
            TooEarly::Unseen => "a new diff just opened: look at it, then press again",
            TooEarly::OnItsWay => "the terminal has not shown this yet: look at it first",
            TooEarly::Held => "key repeat ignored: release the key and press it again",
            TooEarly::Pasted => PASTED,
        };
        match &mut self.remark {
            // What is typed covers messages.
            Some(remark) => remark.refuse(text),
            None => self.say(Tone::Warning, text, now),
        }
    }

    /// What changes nothing but what is visible.
    fn on_moving_act(&mut self, act: Act, viewport: &Viewport, now: Instant) {
        let (count, shown) = (self.views.len(), self.current);
        let view = &mut self.views[shown];
        let page = isize::try_from(viewport.height.saturating_sub(2).max(1)).unwrap_or(isize::MAX);
        match act {
            Act::End if self.digits.is_some_and(|it| now < it.until) => {
                return self.go_to_typed_line(now);
            }
            Act::Next | Act::PreviousHit if self.search.is_some() => {
                return self.go_to_hit(act == Act::Next, now);
            }
            Act::Next => return self.go_on(viewport, now),
            Act::Previous | Act::PreviousHit => {
                let hunk = view.next_hunk(view.hunk, false).unwrap_or(view.hunk);
                view.go_to_hunk(hunk, viewport);
            }
            Act::EndSearch => self.end_search(),
            Act::Down | Act::Up => view.step(act == Act::Down, viewport),
            Act::PageDown => view.scroll(page, viewport),
            Act::PageUp => view.scroll(-page, viewport),
            Act::HalfDown => view.scroll(page / 2, viewport),
            Act::HalfUp => view.scroll(-(page / 2), viewport),
            Act::Top => view.go_to_start(viewport),
            Act::End => view.go_to_end(viewport),
            Act::Right => view.scroll_sideways(1, viewport),
            Act::Left => view.scroll_sideways(-1, viewport),
            Act::FarRight => view.scroll_sideways(FAR, viewport),
            Act::NextDiff => self.current = (self.current + 1) % count,
            Act::PreviousDiff => self.current = (self.current + count - 1) % count,
            Act::Digit(digit) => self.on_digit(digit, now),
            _ => {}
        }
        let current = std::mem::replace(&mut self.current, shown);
        self.show_at(current);
    }

    /// Shows the diff at a place among the pending ones.
    pub(super) fn show_at(&mut self, at: usize) {
        if self.current != at {
            self.current = at;
            // Such as that another one was proposed, which is shown now.
            self.message.take_if(|message| !message.is_lasting);
            self.show_first_hunk();
        }
    }

    /// Goes to the diff of a number, as tabs and commands show it: several digits make one.
    fn on_digit(&mut self, digit: u8, now: Instant) {
        let views = &self.views;
        let is_pending = |number: &u64| {
            let number = number.to_string();
            let mut ids = views.iter().map(|view| view.diff.id.to_string());
            ids.any(|id| id.starts_with(&number))
        };
        let with = |number: u64| number.saturating_mul(10).saturating_add(digit.into());
        let begun = self.digits.filter(|it| now < it.until);
        if digit == 0 && begun.is_none() {
            self.views[self.current].x = 0;
            return;
        }
        let longer = begun.map(|it| with(it.diff)).filter(is_pending);
        let digits = Digits {
            diff: longer.unwrap_or(digit.into()),
            line: begun.map_or(digit.into(), |it| with(it.line)),
            from: begun.map_or(self.views[self.current].diff.id, |it| it.from),
            until: now + DIGITS,
        };
        self.digits = Some(digits);
        if let Ok(at) = self.views.position(DiffId(digits.diff)) {
            self.current = at;
        } else if !is_pending(&digits.diff) {
            let Digits { diff, line, .. } = digits;
            let way = self.keys.fill("<end> goes to line");
            let text = format!("no diff {diff} is pending · {way} {line}");
            self.say(Tone::Info, text, now);
        }
    }

    /// Goes to the line that digits name, of the diff that was there before them.
    fn go_to_typed_line(&mut self, now: Instant) {
        if let Some(digits) = self.digits.take()
            && let Ok(at) = self.views.position(digits.from)
        {
            self.show_at(at);
            self.go_to_line(&digits.line.to_string(), now);
        }
    }

    /// Goes to what was not on the screen yet: of the current hunk, then to the next hunk, then to another diff.
    fn go_on(&mut self, viewport: &Viewport, now: Instant) {
        let view = &mut self.views[self.current];
        let (hunk, count) = (view.hunk, view.proposal.hunks().len());
        if count > 0 && !view.sees_hunk(viewport) {
            view.go_to_hunk(hunk, viewport);
        } else if let Some(place) = view.first_unseen(hunk).filter(|_| view.is_wanted(hunk)) {
            view.go_to_unseen(hunk, &place, viewport);
        } else if let Some(next) = view.next_hunk(hunk, true) {
            view.go_to_hunk(next, viewport);
        } else if let Some(hunk) = (0..count).find(|hunk| view.is_wanted(*hunk)) {
            view.go_to_hunk(hunk, viewport);
        } else {
            let others = (1..self.views.len()).map(|by| (self.current + by) % self.views.len());
            let has_unseen = |at: &usize| {
                let view = &self.views[*at];
                (0..view.proposal.hunks().len()).any(|hunk| view.is_wanted(hunk))
            };
            match { others }.find(has_unseen) {
                Some(other) => {
                    self.current = other;
                    self.show_first_hunk();
                    let name = &self.views[other].target.shown;
                    let text = format!("this is the next diff: {name}");
                    self.say(Tone::Info, text, now);
                }
                None => {
                    let view = &mut self.views[self.current];
                    view.go_to_hunk(hunk, viewport);
                    let text = match view.seen_hunks().unseen {
                        0 => "all of it has been on the screen".to_owned(),
                        left => {
                            let skips = self.keys.fill("<whitespace> skips");
                            format!("all but {} that {skips}", counted(left, "hunk"))
                        }
                    };
                    self.say(Tone::Info, text, now);
                }
            }
        }
    }

    fn toggle_hunk(&mut self, viewport: &Viewport, now: Instant) {
        let view = &mut self.views[self.current];
        let hunk = view.hunk;
        if view.proposal.hunks().is_empty() {
            self.say(Tone::Info, "this proposal changes nothing", now);
        } else if !view.sees_hunk(viewport) {
            view.go_to_hunk(hunk, viewport);
        } else {
            let toggled = view.proposal.toggle(hunk);
            self.toggled(toggled, now);
        }
    }

    /// Tells what came of taking something out, or back in.
    pub(super) fn toggled(&mut self, toggled: Result<bool, NotText>, now: Instant) {
        let tone = match toggled {
            Ok(_) => Tone::Info,
            Err(_) => Tone::Warning,
        };
        match self.views[self.current].say_toggled(toggled, &self.keys) {
            Some(text) => self.say(tone, text, now),
            None => self.message = None,
        }
    }

    fn edit(&mut self) {
        let view = &self.views[self.current];
        self.effects.push(Effect::Edit {
            proposal: Some(view.key()),
            path: view.target.path.clone(),
            text: Some(view.proposal.text()),
            line: match view.line_at_cursor() {
                Some(line) => view.proposal.line_in_text(line) + 1,
                None => view.proposal.line_of(view.hunk),
            },
        });
    }

    /// Opens the file as it is on disk, where the cursor is.
    fn open_file(&mut self, now: Instant) {
        let view = &self.views[self.current];
        if view.proposal.is_new_file() {
            let text = "the file is not there yet: <edit> edits the proposal";
            let text = self.keys.fill(text);
            return self.say(Tone::Info, text, now);
        }
        self.effects.push(Effect::Edit {
            proposal: Some(view.key()),
            path: view.target.path.clone(),
            text: None,
            line: view.line_in_file(),
        });
    }

    /// Undoes what the person did last, or redoes what they have undone last.
    pub(super) fn undo(&mut self, back: bool, now: Instant) {
        let view = &mut self.views[self.current];
        let before = self.decided.last().filter(|_| back);
        if before.is_some_and(|acts| view.acts() <= acts.get(&view.diff.id).copied().unwrap_or(0)) {
            return self.undo_decision();
        }
        let text = view.go_back_and_say(back, &self.keys);
        self.say(Tone::Info, text, now);
        if let Some(message) = &mut self.message {
            message.is_brief = true;
        }
    }

    fn ignore_whitespace(&mut self, now: Instant) {
        let next = self.keys.name(Act::Next);
        let view = &mut self.views[self.current];
        view.ignores_white = !view.ignores_white;
        let hunks = view.white.iter().filter(|white| **white).count();
        let mut text = match (hunks, view.ignores_white) {
            (0, _) => {
                view.ignores_white = false;
                "no hunk changes only whitespace that has no meaning".to_owned()
            }
            (1, true) => format!("1 hunk changes whitespace only: {next} skips it"),
            (hunks, true) => format!("{hunks} hunks change whitespace only: {next} skips them"),
            (_, false) => format!("{next} skips nothing now"),
        };
        if view.indenting > 0 && (hunks == 0 || view.ignores_white) {
            let count = counted(view.indenting, "hunk");
            text += &format!(" · indentation has a meaning in this file: {next} stops at {count}");
        }
        self.say(Tone::Info, text, now);
    }

    fn change_layout(&mut self, now: Instant) {
        if self.views[self.current].is_one_sided() {
            self.say(Tone::Info, "this file has only one side to show", now);
        } else if self.body_width() < SIDE_BY_SIDE {
            let how = match self.size.width < SIDE_BY_SIDE {
                true => String::new(),
                false => self.keys.fill(": <pane> hides the list beside it"),
            };
            let text = format!("side by side needs {SIDE_BY_SIDE} columns{how}");
            self.say(Tone::Info, text, now);
        } else {
            self.keep_place(Self::toggle_layout);
        }
    }

    /// Shows the other layout, from now on. Who goes back to what fits gets what fits of the next diffs as well.
    fn toggle_layout(&mut self) {
        let view = &self.views[self.current];
        let fitting = self.fitting_layout(view);
        let other = match self.layout_of(view) {
            Layout::SideBySide => Layout::Unified,
            Layout::Unified => Layout::SideBySide,
        };
        self.layout = (other != fitting).then_some(other);
    }

    /// Changes how lines are shown, and stays at the part of a long line that is in sight.
    fn keep_place(&mut self, change: impl FnOnce(&mut Self)) {
        let viewport = self.viewport();
        let view = &mut self.views[self.current];
        let place = viewport.and_then(|viewport| view.part_in_sight(&viewport));
        (view.x, view.top.sub) = (0, 0);
        change(self);
        self.arrange();
        if let (Some(place), Some(viewport)) = (place, self.viewport()) {
            let view = &mut self.views[self.current];
            let (cursor, hunk) = (view.cursor, view.hunk);
            view.go_back_to(place, &viewport);
            // The part may be of another line than the one at which the person is.
            view.hunk = hunk;
            view.point_at(cursor);
            if !view.visible(&viewport).contains(&cursor) {
                view.top = Top {
                    row: cursor,
                    sub: 0,
                };
            }
            view.keep_in_view(&viewport);
        }
    }
}

/// The line or row to go to from `at`, by an act that moves; `height` of them are a page.
pub(super) fn moved(act: Act, at: usize, last: usize, height: u16) -> Option<usize> {
    let page = usize::from(height).max(1);
    let to = match act {
        Act::Down => at.saturating_add(1),
        Act::Up => at.saturating_sub(1),
        Act::PageDown => at.saturating_add(page),
        Act::PageUp => at.saturating_sub(page),
        Act::Top => 0,
        Act::End => last,
        _ => return None,
    };
    Some(to.min(last))
}
