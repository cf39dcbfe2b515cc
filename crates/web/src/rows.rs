//! The rows of a diff as the page draws them: what may be shown of each line, and what of it differs.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use pillion_judge::highlight::Colours;
use pillion_judge::proposal::{Part, Proposal, Side};
use pillion_judge::rows::{self, Layout, Rows, Unfolding};
use pillion_judge::search::{Needle, lines};
use pillion_judge::syntax::Class;
use pillion_judge::{Judged, enclosing};
use pillion_text::Text;
use pillion_text::visible::{self, Place};
use pillion_text::words::{self, content};

use crate::wire::{self, Cell, Fold, Row, RowsPage, RowsQuery};

/// The most rows that are sent at once.
const MAX_ROWS: usize = 1_000;

/// The most of a line that is sent, in units, and of one that is asked for whole.
const MAX_LINE: usize = 10_000;
const LONGEST_LINE: usize = 2_000_000;

/// The most hits that are sent.
const MAX_HITS: usize = 1_000;

/// The lines below a search result's fold, and the most that a hit shows.
const MAX_SHOWN: usize = 400;

/// The rows of a diff in an arrangement, which are kept: the page asks for them bit by bit.
#[derive(Debug)]
pub(crate) struct Arranged {
    layout: Layout,
    unfold: String,
    rows: Rows,
}

impl Arranged {
    /// Those that are asked for; `known` if that is they.
    pub(crate) fn of(known: Option<Self>, judged: &Judged, query: &RowsQuery) -> Self {
        let is_it = |it: &Self| it.layout == query.layout && it.unfold == query.unfold;
        known.filter(is_it).unwrap_or_else(|| {
            let rows = Rows::new(&judged.proposal, query.layout, &unfolding(&query.unfold));
            Self {
                layout: query.layout,
                unfold: query.unfold.clone(),
                rows: rows.with_notes(&judged.note_places()),
            }
        })
    }

    /// The number of rows.
    pub(crate) fn count(&self) -> usize {
        self.rows.count()
    }

    /// The changed lines in rows.
    pub(crate) fn parts(&self, rows: Range<usize>) -> Vec<Part> {
        self.rows.parts(rows.start..rows.end.min(self.rows.count()))
    }

    /// The row of a line of one side, or of the fold that hides it.
    pub(crate) fn row_of(&self, side: Side, line: usize) -> Option<usize> {
        self.rows.of(side, line)
    }

    /// The rows that are asked for, as they are drawn.
    pub(crate) fn page(&self, g: u64, judged: &Judged, query: &RowsQuery) -> RowsPage {
        let total = self.count();
        let to = query.to.min(total).min(query.from.saturating_add(MAX_ROWS));
        let all_hunks = 0..judged.proposal.hunks().len();
        let hunks = all_hunks.filter(|_| query.from == 0).map(|hunk| {
            let rows = self.rows.of_hunk(hunk);
            (rows.start, rows.end)
        });
        let shown = (query.from..to).filter_map(|row| self.rows.get(row));
        RowsPage {
            g,
            total,
            from: query.from,
            hunks: hunks.collect(),
            rows: shown.map(|row| drawn(judged, row, query.long)).collect(),
        }
    }
}

/// `all`, or `LEFT.ABOVE.BELOW` with commas between them.
fn unfolding(text: &str) -> Unfolding {
    let gap = |text: &str| {
        let mut numbers = text.split('.').map(|it| it.parse().ok());
        let [left, above, below] = std::array::from_fn(|_| numbers.next().flatten());
        Some((left?, (above?, below?)))
    };
    Unfolding {
        all: text == "all",
        gaps: text.split(',').filter_map(gap).collect(),
    }
}

fn drawn(judged: &Judged, row: rows::Row, is_long: bool) -> Row {
    let proposal = &judged.proposal;
    let most = if is_long { LONGEST_LINE } else { MAX_LINE };
    match row {
        rows::Row::Fold { left, right, lines } => Row::Fold(Fold {
            left,
            right,
            lines,
            gap: gap_of(proposal, left),
        }),
        rows::Row::Note(note) => Row::Note(note),
        rows::Row::Same { left, right } => Row::Same {
            left,
            right: Shown::new(proposal, Side::Right, right).cell(most),
        },
        rows::Row::Changed {
            hunk,
            left,
            right,
            pair,
        } => {
            let changed = pair.and_then(|(left, right)| {
                let text = |side: Side, line| content(proposal.side(side).shown(line));
                words::changed(text(Side::Left, left), text(Side::Right, right))
            });
            let cell = |side: Side, line: Option<usize>| {
                let shown = Shown::new(proposal, side, line?);
                let words = changed.as_ref().map(|(left, right)| side.of((left, right)));
                let words = words.into_iter().flatten().map(|it| shown.units(it));
                let trimmed = shown.content.trim_end_matches([' ', '\t']).len();
                let is_blank = side == Side::Right && trimmed < shown.content.len();
                Some(Cell {
                    words: words.collect(),
                    blanks: is_blank.then(|| shown.unit(trimmed)),
                    moved: judged.moved.of(side, shown.line).map(|it| it.line),
                    end: end(proposal, side, shown.line, pair),
                    ..shown.cell(most)
                })
            };
            Row::Changed {
                hunk,
                left: cell(Side::Left, left),
                right: cell(Side::Right, right),
            }
        }
    }
}

/// The line before at which the gap between two hunks begins that holds this one.
fn gap_of(proposal: &Proposal, left: usize) -> usize {
    let hunks = proposal.hunks();
    let above = hunks.partition_point(|hunk| hunk.before.end <= left);
    above.checked_sub(1).map_or(0, |at| hunks[at].before.end)
}

/// What is to be said of the end of a line that changes.
fn end(
    proposal: &Proposal,
    side: Side,
    line: usize,
    pair: Option<(usize, usize)>,
) -> Option<&'static str> {
    let text = proposal.side(side).line(line);
    if !text.ends_with(b"\n") {
        return Some("no line end");
    }
    let is_crlf = |line: &[u8]| line.ends_with(b"\r\n");
    let (left, right) = pair?;
    let (left, right) = (proposal.before().line(left), proposal.after().line(right));
    let differ = is_crlf(left) != is_crlf(right);
    (differ && is_crlf(text)).then_some("CRLF")
}

/// A line as it may be shown, with the places of its bytes in that.
pub(crate) struct Shown<'a> {
    line: usize,
    content: &'a str,
    text: Cow<'a, str>,
    /// Where pieces begin, in bytes and in units, unless each byte is one.
    places: Vec<(usize, usize)>,
    replaced: Vec<(usize, usize)>,
}

impl<'a> Shown<'a> {
    pub(crate) fn new(proposal: &'a Proposal, side: Side, line: usize) -> Self {
        Self::of(content(proposal.side(side).shown(line)), line)
    }

    fn of(content: &'a str, line: usize) -> Self {
        let mut shown = Self {
            line,
            content,
            text: Cow::Borrowed(content),
            places: Vec::new(),
            replaced: Vec::new(),
        };
        if content.bytes().all(|it| matches!(it, b' '..=b'~')) {
            return shown;
        }
        let mut text = String::with_capacity(content.len());
        let mut unit = 0;
        for piece in visible::pieces(content, Place::default()) {
            shown.places.push((piece.at.byte, unit));
            let end = unit + piece.text.encode_utf16().count();
            if piece.replaced {
                shown.replaced.push((unit, end));
            }
            text.push_str(&piece.text);
            unit = end;
        }
        shown.places.push((content.len(), unit));
        shown.text = Cow::Owned(text);
        shown
    }

    /// The unit at which a byte stands.
    fn unit(&self, byte: usize) -> usize {
        if self.places.is_empty() {
            return byte.min(self.content.len());
        }
        let at = self.places.partition_point(|(it, _)| *it < byte);
        self.places
            .get(at)
            .or(self.places.last())
            .map_or(0, |(_, unit)| *unit)
    }

    fn units(&self, bytes: &Range<usize>) -> (usize, usize) {
        (self.unit(bytes.start), self.unit(bytes.end))
    }

    fn length(&self) -> usize {
        self.places
            .last()
            .map_or(self.content.len(), |(_, unit)| *unit)
    }

    /// At most so many units of it.
    fn cell(&self, most: usize) -> Cell {
        let length = self.length();
        let (text, kept) = match length > most {
            false => (self.text.to_string(), length),
            true => {
                let mut kept = 0;
                let fits = |it: &char| {
                    kept += it.len_utf16();
                    kept <= most
                };
                let text: String = self.text.chars().take_while(fits).collect();
                let kept = text.encode_utf16().count();
                (text, kept)
            }
        };
        Cell {
            line: self.line,
            text,
            replaced: self.replaced.clone(),
            cut: length - kept,
            ..Cell::default()
        }
    }

    /// Its syntax colours.
    fn colours(&self, colours: &Colours) -> Vec<(usize, usize, &'static str)> {
        let mut from = 0;
        let mut parts = Vec::new();
        for span in colours.spans(self.line) {
            let start = std::mem::replace(&mut from, span.end);
            if let Some(class) = class(span.class) {
                parts.push((self.unit(start), self.unit(span.end), class));
            }
        }
        parts
    }
}

fn class(class: Class) -> Option<&'static str> {
    Some(match class {
        Class::Plain => return None,
        Class::Comment => "comment",
        Class::String => "string",
        Class::Constant => "constant",
        Class::Keyword => "keyword",
        Class::Function => "function",
        Class::Type => "type",
        Class::Name => "name",
    })
}

/// The colours of lines of a text, as far as they are known.
pub(crate) fn coloured(
    text: &Text,
    colours: &Colours,
    lines: Range<usize>,
) -> BTreeMap<usize, Vec<(usize, usize, &'static str)>> {
    let lines = lines.start..lines.end.min(text.len());
    let parts = lines.map(|line| {
        let shown = Shown::of(content(text.shown(line)), line);
        (line, shown.colours(colours))
    });
    parts.filter(|(_, parts)| !parts.is_empty()).collect()
}

/// What the first lines of hunks lie in that are among these.
pub(crate) fn within(
    text: &Text,
    colours: &Colours,
    lines: impl Iterator<Item = usize>,
) -> BTreeMap<usize, String> {
    let name = |line: usize| {
        let found = enclosing(text, colours.headings(line), line)?;
        Some((line, visible::one_line(found)))
    };
    lines.filter_map(name).collect()
}

/// The places of a text in a diff.
pub(crate) fn hits(found: &mut wire::Hits, needle: &Needle, g: u64, judged: &Judged) {
    let proposal = &judged.proposal;
    for (side, line) in lines(proposal) {
        let text = content(proposal.side(side).shown(line));
        for bytes in needle.in_line(text) {
            if found.hits.len() >= MAX_HITS {
                found.more = true;
                return;
            }
            let shown = Shown::of(text, line);
            found.hits.push(wire::Hit {
                id: judged.diff.id.0,
                g,
                side: side.of(("left", "right")),
                line,
                left: (side == Side::Right)
                    .then(|| line_before(proposal, line))
                    .flatten(),
                at: shown.units(&bytes),
                text: shown.cell(MAX_SHOWN).text,
            });
        }
    }
}

/// The line before beside a line after that is the same; none of one that changes.
fn line_before(proposal: &Proposal, line: usize) -> Option<usize> {
    let hunks = proposal.hunks();
    let above = hunks.partition_point(|hunk| hunk.after.end <= line);
    let is_same = hunks.get(above).is_none_or(|hunk| hunk.after.start > line);
    let (before, after) = above
        .checked_sub(1)
        .map_or((0, 0), |at| (hunks[at].before.end, hunks[at].after.end));
    is_same.then(|| before + (line - after))
}
