//! `/` and `:`: a text that is searched in all pending diffs, and going to a line. Until Esc, `n` goes from hit to hit.

use std::ops::Range;
use std::time::Instant;

use pillion_judge::proposal::Side;
use pillion_judge::rows::{Row, Rows};
use pillion_judge::search::{Needle, is_letter, lines};
use pillion_text::counted;

use super::{App, Tone};
use crate::view::content;

/// A text that is searched for.
#[derive(Debug, Clone)]
pub struct Search {
    needle: Needle,
    /// The hit that was gone to last.
    at: Option<Hit>,
}

/// A place where it stands: the diff, its line in the order in which lines are read, and the bytes of that.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hit {
    view: usize,
    side: Side,
    line: usize,
    bytes: Range<usize>,
}

impl Search {
    fn new(needle: Needle) -> Self {
        Self { needle, at: None }
    }

    /// The bytes of a line where it stands.
    pub fn in_line(&self, line: &str) -> Vec<Range<usize>> {
        self.needle.in_line(line)
    }
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    let words = line.split(|it| !is_letter(it));
    words.filter(|word| !word.is_empty())
}

impl App {
    /// Searches for a text, from the cursor on.
    pub(super) fn search_for(&mut self, text: String, now: Instant) {
        if text.is_empty() {
            return self.end_search();
        }
        self.search = Some(Search::new(Needle::new(text)));
        self.go_to_hit(true, now);
    }

    /// Searches for the first word of the line at the cursor that its other version has not, or else for its first.
    pub(super) fn search_for_word(&mut self, now: Instant) {
        let Some((place, word)) = self.word_at_cursor() else {
            return self.say(Tone::Info, "there is no word in this line", now);
        };
        let mut search = Search::new(Needle::of_word(word));
        let is_here = |hit: &Hit| place == (hit.side, hit.line);
        let hits = self.hits(&search, self.current);
        search.at = hits.into_iter().find(is_here);
        self.search = Some(search);
        self.go_to_hit(true, now);
    }

    fn word_at_cursor(&self) -> Option<((Side, usize), String)> {
        let view = self.view()?;
        let row = view.rows().get(view.cursor)?;
        let (left, right) = row.lines();
        let text = |side: Side, line| content(view.proposal.side(side).shown(line));
        let (side, line) = match (left, right) {
            (_, Some(line)) => (Side::Right, line),
            (left, None) => (Side::Left, left?),
        };
        let other = match row {
            Row::Changed { pair, .. } => pair.map(|(left, right)| match side {
                Side::Left => text(Side::Right, right),
                Side::Right => text(Side::Left, left),
            }),
            _ => None,
        };
        let is_new = |word: &&str| words(other.unwrap_or_default()).all(|it| it != *word);
        let text = text(side, line);
        let word = words(text).find(is_new).or_else(|| words(text).next())?;
        Some(((side, line), word.to_owned()))
    }

    /// `n` reads on again.
    pub(super) fn end_search(&mut self) {
        if self.search.take().is_some() {
            self.message = None;
        }
    }

    /// All places of a diff where the text stands.
    fn hits(&self, search: &Search, view: usize) -> Vec<Hit> {
        let Some(shown) = self.views.get(view).filter(|view| !view.is_comparing()) else {
            return Vec::new();
        };
        let proposal = &shown.proposal;
        let found = lines(proposal).flat_map(|(side, line)| {
            let found = search.in_line(content(proposal.side(side).shown(line)));
            found.into_iter().map(move |bytes| Hit {
                view,
                side,
                line,
                bytes,
            })
        });
        found.collect()
    }

    /// Goes to the next hit, or the one before: of this diff, then of the others.
    pub(super) fn go_to_hit(&mut self, down: bool, now: Instant) {
        let count = self.views.len();
        let Some(search) = self.search.clone().filter(|_| count > 0) else {
            return;
        };
        let views = (0..=count).map(|by| match down {
            true => (self.current + by) % count,
            false => (self.current + count - by % count) % count,
        });
        let mut found = None;
        for (round, view) in views.enumerate() {
            let hits = self.hits(&search, view);
            let last = search.at.as_ref().filter(|_| round == 0);
            let from = match last.and_then(|last| hits.iter().position(|hit| hit == last)) {
                Some(at) => at + usize::from(down),
                None if round == 0 => self.above_cursor(&hits),
                None if down => 0,
                None => hits.len(),
            };
            let at = match down {
                true => Some(from).filter(|at| *at < hits.len()),
                false => from.checked_sub(1),
            };
            if let Some(at) = at {
                found = Some((hits[at].clone(), at + 1, hits.len()));
                break;
            }
        }
        let text = &search.needle.text;
        let Some((hit, number, of)) = found else {
            let text = format!("{text:?} is in no pending diff");
            self.search = None;
            return self.say(Tone::Warning, text, now);
        };
        self.show_hit(&hit);
        let name = &self.views[hit.view].target.shown;
        let hits = counted(of, "hit");
        let ways = self
            .keys
            .fill("<next> <previous-hit> next, <end-search> ends");
        let said = format!("{number} of {hits} in {name} · {ways}");
        self.say(Tone::Info, said, now);
        if let Some(search) = &mut self.search {
            search.at = Some(hit);
        }
    }

    /// The number of the hits above the cursor.
    fn above_cursor(&self, hits: &[Hit]) -> usize {
        let view = &self.views[self.current];
        let row = |hit: &Hit| view.rows().of(hit.side, hit.line);
        let is_above = |hit: &&Hit| row(hit).is_none_or(|row| row < view.cursor);
        hits.iter().take_while(is_above).count()
    }

    fn show_hit(&mut self, hit: &Hit) {
        self.current = hit.view;
        self.show_line(hit.side, hit.line, hit.bytes.clone());
    }

    /// Brings a line of the shown diff into sight, and unfolds what hides it.
    fn show_line(&mut self, side: Side, line: usize, bytes: Range<usize>) {
        self.arrange();
        let view = &mut self.views[self.current];
        let row = |rows: &Rows| rows.of(side, line);
        let shown = row(view.rows()).and_then(|row| view.rows().get(row));
        if let Some(Row::Fold { left, .. }) = shown {
            view.unfold_at(left);
            self.arrange();
        }
        let Some(viewport) = self.viewport() else {
            return;
        };
        let view = &mut self.views[self.current];
        let Some(row) = row(view.rows()) else {
            return;
        };
        view.go_to_bytes(row, (side, line), bytes, &viewport);
        view.follow(&viewport);
    }

    /// Goes to the next note of this diff, then of the others.
    pub(super) fn go_to_note(&mut self, now: Instant) {
        let count = self.views.len();
        let next = (0..=count).find_map(|by| {
            let at = (self.current + by) % count;
            let view = &self.views[at];
            let mut notes = view.note_places();
            notes.sort_unstable();
            let is_below = |note: usize| view.rows().of_note(note) > Some(view.cursor);
            let next = { notes.into_iter() }.find(|(_, note)| by > 0 || is_below(*note));
            Some((at, next?))
        });
        let Some((at, (_, note))) = next else {
            return self.say(Tone::Info, "there is no note", now);
        };
        self.show_note(at, note);
    }

    /// Goes to a note of the diff at a place.
    pub(super) fn show_note(&mut self, at: usize, note: usize) {
        self.show_at(at);
        let places = self.views[at].note_places();
        let Some((line, _)) = places.into_iter().find(|(_, it)| *it == note) else {
            return;
        };
        self.show_line(Side::Right, line, 0..0);
        if let Some(viewport) = self.viewport() {
            let view = &mut self.views[at];
            let row = view.rows().of_note(note).unwrap_or(view.cursor);
            view.go_to_bytes(row, (Side::Right, line), 0..0, &viewport);
            view.follow(&viewport);
        }
    }

    /// Goes to a line of the text after, by its number from 1.
    pub(super) fn go_to_line(&mut self, number: &str, now: Instant) {
        let Some(view) = self.view() else {
            return;
        };
        let lines = view.proposal.after().len();
        let line = number.trim().parse::<usize>().ok();
        match line.and_then(|line| line.checked_sub(1)) {
            _ if number.trim().is_empty() => {}
            None => self.say(Tone::Warning, "a line has a number from 1", now),
            Some(line) if line >= lines => {
                let text = format!("the proposed text has {}", counted(lines, "line"));
                self.say(Tone::Warning, text, now);
            }
            Some(line) => self.show_line(Side::Right, line, 0..0),
        }
    }
}
