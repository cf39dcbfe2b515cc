//! The keys, and what each of them does.

use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use pillion_judge::rows::Layout;
use pillion_protocol::ReviewChoice;
use pillion_text::counted;
use pillion_view::decision::takes_no_edits;
use pillion_view::{DiffId, Proposed};

use super::review_delay::{LOOK, Press, TooEarly};
use super::{App, Effect, Overlay, PASTED, Question, Tone};
use crate::geometry::SIDE_BY_SIDE;
use crate::help;
use crate::view::Viewport;

/// Digits that follow each other within this time make one number.
const DIGITS: Duration = Duration::from_secs(2);

/// The distance "to the very right", in steps that stop at the end of the longest visible line.
const FAR: isize = isize::MAX;

/// The key does nothing but what was said.
struct Asked;

impl App {
    pub(super) fn on_key(&mut self, press: &Press, now: Instant) {
        let key = press.key;
        if key.kind == KeyEventKind::Release {
            return;
        }
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let (press, answered) = match self.answered(press, control, now) {
            Ok(answered) => answered,
            Err(Asked) => return,
        };
        let press = &press;
        let key = press.key;
        self.changes.forget_opening();
        match (key.code, control) {
            (KeyCode::Char('z'), true) => self.effects.push(Effect::Suspend),
            _ if self.remark.is_some() => self.on_remark_key(press, now),
            (KeyCode::Char('c'), true) if self.overlay == Some(Overlay::Quit) => self.quit(),
            (KeyCode::Char('c'), true) => self.ask_to_quit(),
            _ if self.overlay == Some(Overlay::History) => self.on_history_key(key),
            _ if self.overlay == Some(Overlay::Files) => self.on_files_key(key),
            _ if self.overlay == Some(Overlay::Changes) => self.on_changes_key(press, now),
            (KeyCode::Char('q' | 'y'), false) if press.is_no_decision() => {}
            _ if self.overlay.is_some() => self.on_overlay_key(key),
            _ if key
                .modifiers
                .intersects(KeyModifiers::ALT | KeyModifiers::SUPER) => {}
            (KeyCode::Char('?') | KeyCode::F(1), false) => {
                self.cover(Overlay::Help(0));
            }
            (KeyCode::Char('q'), false) => self.ask_to_quit(),
            (KeyCode::Char('m'), false) => self.choose_mode(press, answered, now),
            (KeyCode::Char('v'), false) if !press.is_no_decision() => {
                self.effects
                    .push(Effect::Review(Some(ReviewChoice::Changes)));
            }
            (KeyCode::Char('f'), false) if !self.views.is_empty() => self.show_files(),
            (KeyCode::Char('H'), false) => self.ask_for_history(),
            (KeyCode::Char('S'), false) => self.show_changes(),
            (KeyCode::Char('t'), false) => self.toggle_pane(now),
            (KeyCode::Char('M'), false) => self.toggle_mouse(now),
            (KeyCode::Char('s'), false) => self.send_notes(press),
            _ => self.on_diff_key(press, control, now),
        }
    }

    /// The key as it is if a question waits: `y` is the key that asked, and the question that it answers. Every other key lets the
    /// question go, but the one that asked it.
    fn answered(
        &mut self,
        press: &Press,
        control: bool,
        now: Instant,
    ) -> Result<(Press, Option<Question>), Asked> {
        let Some(question) = self.question() else {
            return Ok((*press, None));
        };
        match press.key.code {
            KeyCode::Char('y') if !control && !self.is_line_whole() => {
                let text = "there is no room for the question: enlarge the window, and ask again";
                self.say(Tone::Warning, text, now);
                return Err(Asked);
            }
            KeyCode::Char('y') if !control => {
                let mut asked = *press;
                asked.key.code = KeyCode::Char(question.key());
                return Ok((asked, Some(question)));
            }
            KeyCode::Char(key) if !control && key == question.key() => return Err(Asked),
            _ => self.drop_question(),
        }
        Ok((*press, None))
    }

    fn ask_to_quit(&mut self) {
        if self.views.is_empty() && self.status.at_quit().is_none() {
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

    fn on_overlay_key(&mut self, key: KeyEvent) {
        match (self.overlay, key.code) {
            (Some(Overlay::Quit), KeyCode::Char('y')) => self.quit(),
            (Some(Overlay::Quit), KeyCode::Char('n' | 'q') | KeyCode::Esc) => self.uncover(),
            (Some(Overlay::Help(lines)), KeyCode::Down | KeyCode::Char('j')) => {
                self.overlay = Some(Overlay::Help((lines + 1).min(help::last_scroll(self.size))));
            }
            (Some(Overlay::Help(lines)), KeyCode::Up | KeyCode::Char('k')) => {
                self.overlay = Some(Overlay::Help(lines.saturating_sub(1)));
            }
            (Some(Overlay::Help(_)), KeyCode::Char('?' | 'q') | KeyCode::Esc | KeyCode::Enter) => {
                self.uncover();
            }
            _ => {}
        }
    }

    fn on_diff_key(&mut self, press: &Press, control: bool, now: Instant) {
        let Some(viewport) = self.viewport() else {
            return;
        };
        let code = press.key.code;
        if self.on_moving_key(code, control, &viewport, now) || control {
            return;
        }
        if let KeyCode::Char('a' | 'r' | ' ' | 'e' | 'z' | 'Z' | 'o') = code {
            let settles = matches!(code, KeyCode::Char('a' | 'r'));
            let admitted = match settles {
                true => press.check(),
                false => self.delay.admit(press, self.subject()),
            };
            if let Err(why) = admitted {
                return self.say_too_early(why, now);
            }
            let view = &self.views[self.current];
            let looked_at = || self.delay.looked_at(press, self.subject());
            if code == KeyCode::Char('o') && view.is_gone && looked_at().is_none_or(|it| it < LOOK)
            {
                return self.say_too_early(TooEarly::Unseen, now);
            }
            if view.deciding.is_some() {
                return self.say(Tone::Info, "this is being decided", now);
            }
            if !settles && view.is_rereading {
                // What would be changed now is about to be merged.
                return self.say(Tone::Warning, "still reading the file on disk", now);
            }
            if settles {
                return self.decide(press, now);
            }
            if let (KeyCode::Char(' ' | 'e'), Some(why)) =
                (code, view.diff.proposer.itself().and_then(takes_no_edits))
            {
                return self.say(Tone::Warning, why, now);
            }
        }
        match code {
            KeyCode::Char(' ') => self.toggle_hunk(&viewport, now),
            KeyCode::Char('e') => self.edit(),
            KeyCode::Char('z') => self.undo(true, now),
            KeyCode::Char('Z') => self.undo(false, now),
            KeyCode::Char('o') => {
                self.say(Tone::Info, "reading the file on disk…", now);
                let view = &mut self.views[self.current];
                view.is_rereading = true;
                self.effects.push(Effect::Reread(view.diff.id));
            }
            KeyCode::Char('R') => self.ask_for_reason(now),
            KeyCode::Char('C') => self.ask_for_note(now),
            KeyCode::Char('u') => self.change_layout(now),
            KeyCode::Char('w') => {
                self.keep_place(|app| app.wrap = !app.wrap);
                let text = if self.wrap {
                    "long lines wrap"
                } else {
                    "long lines are cut"
                };
                self.say(Tone::Info, text, now);
            }
            KeyCode::Char('c') => self.unfold_more(now),
            KeyCode::Enter => self.views[self.current].toggle_gaps(),
            KeyCode::Char('x') => self.views[self.current].toggle_folds(),
            KeyCode::Char('i') => self.ignore_whitespace(now),
            KeyCode::Char('y') => self.copy_hunk(now),
            KeyCode::Char('Y') => self.copy_path(now),
            KeyCode::Char(_) | KeyCode::F(_) => {
                self.say(Tone::Info, "this key does nothing · ? shows all keys", now);
            }
            _ => {}
        }
    }

    fn unfold_more(&mut self, now: Instant) {
        if !self.views[self.current].unfold_more() {
            self.say(Tone::Info, "nothing is folded beside this hunk", now);
        }
    }

    pub(super) fn say_too_early(&mut self, why: TooEarly, now: Instant) {
        // A question stays on the screen as long as it waits for its answer.
        if self.question().is_some() {
            return;
        }
        let text = match why {
            TooEarly::Unseen if self.changes().is_some() => {
                "the list has not shown this line yet: look at it, then press again"
            }
            TooEarly::Unseen if self.view().is_some_and(|view| view.is_comparing()) => {
                "still comparing: look at it first"
            }
            TooEarly::Unseen => "a new diff just opened: look at it, then press again",
            TooEarly::OnItsWay => "the terminal has not shown this yet: look at it first",
            TooEarly::Held => "key repeat ignored: release the key and press it again",
            TooEarly::Pasted => PASTED,
        };
        self.say(Tone::Warning, text, now);
    }

    /// Keys that change nothing but what is visible. Returns whether it was one.
    fn on_moving_key(
        &mut self,
        code: KeyCode,
        control: bool,
        viewport: &Viewport,
        now: Instant,
    ) -> bool {
        let (count, shown) = (self.views.len(), self.current);
        match (code, control) {
            (KeyCode::Char('n'), false) if self.search.is_some() => {
                self.go_to_hit(true, now);
                return true;
            }
            (KeyCode::Char('N'), false) if self.search.is_some() => {
                self.go_to_hit(false, now);
                return true;
            }
            _ => {}
        }
        let view = &mut self.views[shown];
        let page = isize::try_from(viewport.height.saturating_sub(2).max(1)).unwrap_or(isize::MAX);
        match (code, control) {
            (KeyCode::Esc, _) => self.end_search(),
            (KeyCode::Char('/'), false) => self.ask_what_to_search(),
            (KeyCode::Char(':'), false) => self.ask_for_line(),
            (KeyCode::Char('n'), false) => return self.go_on(viewport, now),
            (KeyCode::Char('p' | 'N'), false) => {
                let hunk = view.next_hunk(view.hunk, false).unwrap_or(view.hunk);
                view.go_to_hunk(hunk, viewport);
            }
            (KeyCode::Down | KeyCode::Char('j'), false) => view.scroll(1, viewport),
            (KeyCode::Up | KeyCode::Char('k'), false) => view.scroll(-1, viewport),
            (KeyCode::PageDown, _) | (KeyCode::Char('f'), true) => view.scroll(page, viewport),
            (KeyCode::PageUp, _) | (KeyCode::Char('b'), true) => view.scroll(-page, viewport),
            (KeyCode::Char('d'), true) => view.scroll(page / 2, viewport),
            (KeyCode::Char('u'), true) => view.scroll(-(page / 2), viewport),
            (KeyCode::Home | KeyCode::Char('g'), _) => view.go_to_start(viewport),
            (KeyCode::End | KeyCode::Char('G'), _) => view.go_to_end(viewport),
            (KeyCode::Right | KeyCode::Char('l'), false) => view.scroll_sideways(1, viewport),
            (KeyCode::Left | KeyCode::Char('h'), false) => view.scroll_sideways(-1, viewport),
            (KeyCode::Char('$'), false) => view.scroll_sideways(FAR, viewport),
            (KeyCode::Tab, _) => self.current = (self.current + 1) % count,
            (KeyCode::BackTab, _) => self.current = (self.current + count - 1) % count,
            (KeyCode::Char(digit @ '0'..='9'), false) => self.on_digit(digit, now),
            _ => return false,
        }
        let current = std::mem::replace(&mut self.current, shown);
        self.show_at(current);
        true
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
    fn on_digit(&mut self, digit: char, now: Instant) {
        let views = &self.views;
        let is_pending = |number: &u64| {
            let number = number.to_string();
            let mut ids = views.iter().map(|view| view.diff.id.to_string());
            ids.any(|id| id.starts_with(&number))
        };
        let value = u64::from(digit.to_digit(10).unwrap_or(0));
        let begun = self.typed.take().filter(|(_, until)| now < *until);
        let longer = begun.map(|(number, _)| number.saturating_mul(10) + value);
        let number = match longer.filter(is_pending) {
            Some(number) => number,
            None if digit == '0' => {
                self.views[self.current].x = 0;
                return;
            }
            None => value,
        };
        if !is_pending(&number) {
            return self.say(Tone::Info, format!("no diff {number} is pending"), now);
        }
        self.typed = Some((number, now + DIGITS));
        if let Ok(at) = self.views.position(DiffId(number)) {
            self.current = at;
        }
    }

    /// Goes to what was not on the screen yet: of the current hunk, then to the next hunk, then to another diff.
    fn go_on(&mut self, viewport: &Viewport, now: Instant) -> bool {
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
                        left => format!("all but {} that i skips", counted(left, "hunk")),
                    };
                    self.say(Tone::Info, text, now);
                }
            }
        }
        true
    }

    fn toggle_hunk(&mut self, viewport: &Viewport, now: Instant) {
        let view = &mut self.views[self.current];
        let hunk = view.hunk;
        if view.proposal.hunks().is_empty() {
            self.say(Tone::Info, "this proposal changes nothing", now);
        } else if !view.sees_hunk(viewport) {
            view.go_to_hunk(hunk, viewport);
        } else {
            match view.proposal.toggle(hunk) {
                Err(_) => {
                    let text = "the old lines are not UTF-8: this hunk stays";
                    self.say(Tone::Warning, text, now);
                }
                Ok(_) if view.proposal.is_nothing() => {
                    let text = match view.diff.written {
                        None => "all hunks excluded: r rejects, a accepts the file unchanged",
                        Some(_) => {
                            "all hunks excluded: a takes the change out of the file, r leaves it"
                        }
                    };
                    self.say(Tone::Info, text, now);
                }
                Ok(_) => self.message = None,
            }
        }
    }

    fn edit(&mut self) {
        let view = &self.views[self.current];
        self.effects.push(Effect::Edit {
            proposal: view.key(),
            path: view.target.path.clone(),
            text: view.proposal.text(),
            line: view.proposal.line_of(view.hunk),
        });
    }

    fn undo(&mut self, back: bool, now: Instant) {
        let proposal = &mut self.views[self.current].proposal;
        let (change, how) = if back {
            (proposal.undo(), "undone · Z redoes it")
        } else {
            (proposal.redo(), "redone")
        };
        let text = match change {
            Some(change) => format!("{change} {how}"),
            None if back => "nothing to undo".to_owned(),
            None => "nothing to redo".to_owned(),
        };
        self.say(Tone::Info, text, now);
    }

    fn ignore_whitespace(&mut self, now: Instant) {
        let view = &mut self.views[self.current];
        view.ignores_white = !view.ignores_white;
        let hunks = view.white.iter().filter(|white| **white).count();
        let text = match (hunks, view.ignores_white) {
            (0, _) => {
                view.ignores_white = false;
                "no hunk changes whitespace only".to_owned()
            }
            (1, true) => "1 hunk changes whitespace only: n skips it".to_owned(),
            (hunks, true) => format!("{hunks} hunks change whitespace only: n skips them"),
            (_, false) => "n skips nothing now".to_owned(),
        };
        self.say(Tone::Info, text, now);
    }

    fn change_layout(&mut self, now: Instant) {
        if self.views[self.current].is_one_sided() {
            self.say(Tone::Info, "this file has only one side to show", now);
        } else if self.body_width() < SIDE_BY_SIDE {
            let how = match self.size.width < SIDE_BY_SIDE {
                true => "",
                false => ": t hides the list beside it",
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
            self.views[self.current].go_back_to(place, &viewport);
        }
    }
}
