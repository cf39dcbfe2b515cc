//! The part of a proposal that was on a screen: Kakoune tells which lines and columns a window shows, and where the lines
//! that changed are by now.

use std::ops::Range;

use pillion_text::hunks::Hunk;
use pillion_text::{Text, visible, words};
use pillion_view::Unseen;

/// More changed lines are not followed.
const MAX_PLACES: usize = 5000;

/// So many columns Kakoune may keep free beside the cursor.
const MARGIN: usize = 8;

/// The lines that changed, and what was seen of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeenLines {
    places: Vec<Place>,
    hunks: usize,
}

/// A line that changed, or beside which lines were removed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    hunk: usize,
    /// From 1.
    line: usize,
    /// The bytes of the buffer's text that changed; none where lines were removed, which are only in the box.
    changed: Option<Range<usize>>,
    /// The start of its line.
    start: usize,
    /// The columns that were on the screen.
    columns: Vec<Range<usize>>,
    is_seen: bool,
}

/// The part of a buffer that a window shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    first: usize,
    left: usize,
    lines: usize,
    width: usize,
    is_wrapped: bool,
    cursor: usize,
    tabstop: usize,
    /// The current places: the line and the number of each.
    places: Vec<(usize, usize)>,
}

/// A place to go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// From 1.
    pub line: usize,
    /// From 1, in the line.
    pub byte: usize,
    /// True if the window does not show the line.
    pub is_far: bool,
}

impl Window {
    /// Reads what `pillion-saw` wrote.
    pub fn read(words: impl IntoIterator<Item = String>) -> Option<Self> {
        let mut words = words.into_iter();
        let mut number = || words.next()?.parse::<usize>().ok();
        let (first, left, lines, width) = (number()?, number()?, number()?, number()?);
        let (all_columns, rows, line_count) = (number()?, number()?, number()?);
        let (cursor, column, tabstop) = (number()?, number()?, number()?);
        // Kakoune 2024 tells no width: what may stand in the margin is not counted, but the cursor is on the screen.
        let margin = line_count.to_string().len() + 4;
        let width = match width {
            0 => all_columns
                .saturating_sub(margin)
                .max(column.min(left + all_columns).saturating_sub(left)),
            width => width,
        };
        let places = words.skip(1).filter_map(|word| {
            let (line, place) = word.split_once('|')?;
            Some((line.parse().ok()?, place.parse().ok()?))
        });
        Some(Self {
            first: first + 1,
            left,
            lines,
            width,
            // Some line takes more than one row.
            is_wrapped: lines < rows && first + lines < line_count,
            cursor,
            tabstop: tabstop.max(1),
            places: places.collect(),
        })
    }

    fn shows(&self, line: usize) -> bool {
        (self.first..self.first + self.lines).contains(&line)
    }
}

impl SeenLines {
    /// Nothing was seen yet of what these hunks change, from `before` to the text of the buffer.
    pub fn of(hunks: &[Hunk], before: &Text, held: &str) -> Self {
        let mut starts = vec![0];
        starts.extend(held.match_indices('\n').map(|(at, _)| at + 1));
        let mut places = Vec::new();
        for (number, hunk) in hunks.iter().enumerate() {
            let len = starts.len() - 1;
            let is_removal = hunk.after.is_empty();
            let lines = match is_removal {
                true => {
                    hunk.after.start.min(len.saturating_sub(1))
                        ..hunk.after.start.min(len.saturating_sub(1)) + 1
                }
                false => hunk.after.clone(),
            };
            for (at, line) in lines.enumerate() {
                if places.len() == MAX_PLACES {
                    return Self::default();
                }
                let start = starts.get(line).copied().unwrap_or_default();
                let end = starts.get(line + 1).map_or(held.len(), |next| next - 1);
                let former = hunk.before.clone().nth(at).map(|it| before.shown(it));
                let text = held.get(start..end).unwrap_or_default();
                let differing = words::to_see(former.unwrap_or_default(), text);
                let changed = match differing.as_deref() {
                    Some([first, .., last]) => first.start..last.end,
                    Some([one]) => one.clone(),
                    _ => 0..text.len(),
                };
                places.push(Place {
                    hunk: number,
                    line: line + 1,
                    changed: (!is_removal).then(|| start + changed.start..start + changed.end),
                    start,
                    columns: Vec::new(),
                    is_seen: false,
                });
            }
        }
        let hunks = hunks.len();
        Self { places, hunks }
    }

    /// `LINE|NUMBER` for each line, as a `line-specs` option has it.
    pub fn specs(&self) -> impl Iterator<Item = String> {
        let places = self.places.iter().enumerate();
        places.map(|(number, place)| format!("{}|{number}", place.line))
    }

    /// This was on the screen; `held` is what the buffer held at first.
    pub fn see(&mut self, held: &str, window: &Window) {
        let mut is_there = vec![false; self.places.len()];
        for (line, number) in &window.places {
            let Some(place) = self.places.get_mut(*number) else {
                continue;
            };
            is_there[*number] = true;
            if window.shows(*line) {
                place.see(*line, held, window);
            }
        }
        // The person took the others out.
        for (place, is_there) in self.places.iter_mut().zip(is_there) {
            place.is_seen |= !is_there;
        }
    }

    /// A place that was never on a screen, from the cursor of this window on: `held` is what the buffer held at
    /// first.
    pub fn next(&self, held: &str, window: &Window) -> Option<Target> {
        let unseen = window.places.iter().filter_map(|(line, number)| {
            let place = self.places.get(*number).filter(|place| !place.is_seen)?;
            Some((*line, place))
        });
        let (line, place) = unseen.min_by_key(|(line, _)| (*line < window.cursor, *line))?;
        Some(Target {
            line,
            byte: place.byte_to_see(held, window) + 1,
            is_far: !window.shows(line),
        })
    }

    /// The hunks of which something was never on a screen; none if that is not followed.
    pub fn unseen(&self) -> Option<Unseen> {
        let mut unseen: Vec<usize> = self
            .places
            .iter()
            .filter(|it| !it.is_seen)
            .map(|it| it.hunk)
            .collect();
        unseen.dedup();
        let (hunks, of) = (unseen.len(), self.hunks);
        (of > 0).then_some(Unseen { hunks, of })
    }
}

impl Place {
    fn see(&mut self, line: usize, held: &str, window: &Window) {
        let Some(changed) = &self.changed else {
            self.is_seen |= window.cursor == line;
            return;
        };
        let changed = changed.clone();
        self.columns.push(window.left..window.left + window.width);
        self.columns.sort_by_key(|columns| columns.start);
        self.columns.dedup();
        self.is_seen |= window.is_wrapped || self.missing(changed, held, window).is_empty();
    }

    /// The columns of a change that were not on the screen, up to the last of them.
    fn missing(&self, changed: Range<usize>, held: &str, window: &Window) -> Range<usize> {
        let column =
            |at: usize| columns(held.get(self.start..at).unwrap_or_default(), window.tabstop);
        let mut needed = column(changed.start)..column(changed.end);
        for columns in &self.columns {
            if columns.start <= needed.start {
                needed.start = needed.start.max(columns.end);
            }
        }
        needed
    }

    /// The place of the cursor in its line at which the window shows as much as it can of the part that was not on the screen:
    /// the window follows the cursor sideways, no further than it must.
    fn byte_to_see(&self, held: &str, window: &Window) -> usize {
        let Some(changed) = self.changed.clone() else {
            return 0;
        };
        let missing = self.missing(changed, held, window);
        let is_right = missing.end > window.left + window.width;
        let column = match is_right && missing.start >= window.left {
            true => (missing.start + window.width)
                .saturating_sub(1 + MARGIN)
                .min(missing.end - 1)
                .max(missing.start),
            false => missing.start,
        };
        let line = held.get(self.start..).unwrap_or_default();
        let line = line.split('\n').next().unwrap_or_default();
        let is_before =
            |end: usize| columns(line.get(..end).unwrap_or_default(), window.tabstop) <= column;
        let starts = line.char_indices().map(|(at, _)| at);
        starts
            .take_while(|at| is_before(*at))
            .last()
            .unwrap_or_default()
    }
}

/// The width of a text that a line begins with, in columns.
fn columns(text: &str, tabstop: usize) -> usize {
    let parts = text.split('\t').map(visible::width);
    let ends = parts.reduce(|column, width| (column / tabstop + 1) * tabstop + width);
    ends.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use pillion_text::hunks;

    use super::*;

    fn window(first: usize, left: usize, cursor: usize, places: &[&str]) -> Window {
        let numbers = [first, left, 3, 10, 14, 3, 20, cursor, 1, 8].map(|it| it.to_string());
        let places = places.iter().map(|it| (*it).to_owned());
        let words = numbers.into_iter().chain(["7".to_owned()]).chain(places);
        Window::read(words).expect("it is whole")
    }

    fn seen(before: &str, held: &str) -> SeenLines {
        let (old, new) = (Text::new(before.as_bytes()), Text::new(held));
        SeenLines::of(&hunks::between(&old, &new), &old, held)
    }

    fn unseen(seen: &SeenLines) -> usize {
        seen.unseen().expect("it is followed").hunks
    }

    #[test]
    fn lines_are_seen_as_the_window_passes_over_them() {
        let held = "a\nB\nc\nd\ne\nf\ng\nH\n";
        let mut seen = seen("a\nb\nc\nd\ne\nf\ng\nh\n", held);
        assert_eq!(seen.specs().collect::<Vec<_>>(), ["2|0", "8|1"]);
        seen.see(held, &window(0, 0, 1, &["2|0", "8|1"]));
        assert_eq!(unseen(&seen), 1);
        // The person has written two lines above it.
        seen.see(held, &window(7, 0, 9, &["2|0", "11|1"]));
        assert_eq!(unseen(&seen), 1);
        seen.see(held, &window(8, 0, 9, &["2|0", "11|1"]));
        assert_eq!(unseen(&seen), 0);
    }

    #[test]
    fn of_a_line_that_is_wider_than_the_window_the_changed_columns_are_seen() {
        let (before, held) = ("0123456789\tabc old def\n", "0123456789\tabc new def\n");
        let mut seen = seen(before, held);
        for (left, left_over) in [(0, 1), (9, 1), (16, 0)] {
            seen.see(held, &window(0, left, 1, &["1|0"]));
            assert_eq!(unseen(&seen), left_over, "{left}");
        }
    }

    #[test]
    fn without_a_width_the_margin_is_not_counted_but_the_cursor_is() {
        let width = |column: usize| {
            let words = [0, 20, 3, 0, 80, 3, 3, 1, column, 8, 7].map(|it| it.to_string());
            Window::read(words).expect("it is whole").width
        };
        assert_eq!(width(21), 75);
        assert_eq!(width(98), 78);
        assert_eq!(width(1), 75, "it is on another line, further left");
    }

    #[test]
    fn the_next_place_is_a_page_a_column_removed_lines_or_another_change() {
        let far = |line, byte| {
            Some(Target {
                line,
                byte,
                is_far: true,
            })
        };
        let here = |line, byte| {
            Some(Target {
                line,
                byte,
                is_far: false,
            })
        };
        // Six lines that are new, of which the window shows three; then one is removed.
        let held = "a\n1\n2\n3\n4\n5\n6\nb\n";
        let mut long = seen("a\nb\nx\n", held);
        let places: Vec<String> = long.specs().collect();
        let places: Vec<&str> = places.iter().map(String::as_str).collect();
        for (first, cursor, next) in [
            (0, 1, far(4, 1)),
            (3, 4, far(7, 1)),
            (6, 7, here(8, 1)),
            (6, 8, None),
        ] {
            let window = window(first, 0, cursor, &places);
            long.see(held, &window);
            assert_eq!(long.next(held, &window), next, "{first}");
        }
        let held = "a\nB\nc\nd\ne\nf\ng\nH\n";
        let two = seen("a\nb\nc\nd\ne\nf\ng\nh\n", held);
        let below = window(8, 0, 9, &["2|0", "8|1"]);
        assert_eq!(
            two.next(held, &below),
            far(2, 1),
            "what is above comes last"
        );
    }

    #[test]
    fn the_next_columns_of_a_wide_line_follow_each_other() {
        let long = "0123456789".repeat(12);
        let (before, held) = (
            format!("ä\t{long}\n"),
            format!("ä\t{}\n", long.replace('5', "x")),
        );
        let mut seen = seen(&before, &held);
        let wide = |left: usize| {
            let numbers = [0, left, 3, 40, 44, 3, 20, 1, 1, 8, 7].map(|it| it.to_string());
            let words = numbers.into_iter().chain(["1|0".to_owned()]);
            Window::read(words).expect("it is whole")
        };
        let (mut left, mut steps) = (0, 0);
        loop {
            seen.see(&held, &wide(left));
            let Some(target) = seen.next(&held, &wide(left)) else {
                break;
            };
            // As Kakoune follows the cursor, with three columns beside it.
            let column = columns(&held[..target.byte - 1], 8);
            left = match column < left {
                true => column.saturating_sub(3),
                false => (column + 4).saturating_sub(40).max(left),
            };
            steps += 1;
            assert!(steps < 10, "{left}");
        }
        assert_eq!(unseen(&seen), 0);
        assert!((3..=5).contains(&steps), "{steps}");
    }

    #[test]
    fn what_was_removed_is_seen_in_its_box_and_what_the_person_took_out_is_known() {
        let held = "a\nb\nc\nnew\n";
        let mut seen = seen("a\nx\nb\nc\n", held);
        seen.see(held, &window(0, 0, 1, &["2|0", "4|1"]));
        assert_eq!(unseen(&seen), 2);
        seen.see(held, &window(0, 0, 2, &["2|0"]));
        assert_eq!(unseen(&seen), 0);
    }
}
