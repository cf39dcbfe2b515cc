//! The thread that works out syntax colours, so that no key ever waits for them. It works for what
//! is on the screen, a bit at a time, and hands over each bit.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender};
use pillion_system::spawn;
use pillion_text::Text;
use pillion_view::DiffId;

use crate::proposal::Side;
use crate::syntax::{Coloured, Heading, Highlighter, Span};

/// So many bytes of each text are worked through before the result is handed over and a newer
/// request is looked for.
const CHUNK: usize = 4 << 10;

/// The number of pairs of texts for which the progress of the work is kept.
const MAX_KEPT: usize = 16;

/// A pair of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Texts {
    /// Their diff.
    pub id: DiffId,
    /// Grows whenever one of its texts becomes another.
    pub generation: u64,
}

/// Lines whose colours are wanted: first theirs, guessed, then all from the top down to them.
#[derive(Debug)]
pub struct ColourRequest {
    /// The texts.
    pub texts: Texts,
    /// The file, whose name determines the language.
    pub path: PathBuf,
    /// The text before.
    pub before: Arc<Text>,
    /// The text after.
    pub after: Arc<Text>,
    /// The lines that are seen of the text before.
    pub left: Range<usize>,
    /// The lines that are seen of the text after.
    pub right: Range<usize>,
}

/// The thread. It loads languages only when they are needed.
pub struct Highlighting {
    requests: Sender<ColourRequest>,
    /// The texts for which colours were asked last, and their lines.
    asked: Option<(Texts, Range<usize>, Range<usize>)>,
}

impl Highlighting {
    /// Starts the thread, which waits for requests, and hands over each bit of colours to `deliver` until that answers false.
    ///
    /// # Errors
    /// When there can be no thread.
    pub fn start(
        deliver: impl FnMut(Texts, Side, Coloured) -> bool + Send + 'static,
    ) -> io::Result<Self> {
        let (requests, receiver) = crossbeam_channel::unbounded();
        let asked = None;
        spawn("colours", move || work(&receiver, deliver))?;
        Ok(Self { requests, asked })
    }

    /// Asks for colours. A former request that is not done yet is dropped.
    pub fn ask(&mut self, wanted: ColourRequest) {
        let asked = Some((wanted.texts, wanted.left.clone(), wanted.right.clone()));
        if self.asked != asked {
            self.asked = asked;
            // If the thread is gone there are no colours, and all the rest works.
            let _ = self.requests.send(wanted);
        }
    }
}

/// The syntax colours of one text, from its first line on, as far as they arrived.
#[derive(Default)]
pub struct Colours {
    known: Coloured,
    /// Those that were guessed of lines further down.
    guess: Coloured,
}

impl Colours {
    /// The bit in which the colours of a line are, if in any.
    fn of(&self, line: usize) -> &Coloured {
        match line < self.known.lines.len() {
            true => &self.known,
            false => &self.guess,
        }
    }

    /// Takes in a bit that was worked out.
    pub fn take(&mut self, bit: Coloured) {
        let known = if bit.is_guess {
            &mut self.guess
        } else {
            &mut self.known
        };
        let end = known.first + known.lines.len();
        if bit.is_guess && bit.first != end {
            *known = bit;
        } else if let Some(twice) = end.checked_sub(bit.first) {
            // Work that began anew brings lines once more.
            known.lines.extend(bit.lines.into_iter().skip(twice));
            let new = bit.headings.into_iter().filter(|it| it.line >= end);
            known.headings.extend(new);
            known.is_whole |= bit.is_whole;
        }
    }

    /// The coloured parts of a line, as far as they are known.
    pub fn spans(&self, line: usize) -> &[Span] {
        let bit = self.of(line);
        let at = line.checked_sub(bit.first);
        at.and_then(|at| bit.lines.get(at))
            .map_or(&[], Vec::as_slice)
    }

    /// The lines that name what they begin, in order, as far as those above a line are known.
    pub fn headings(&self, line: usize) -> &[Heading] {
        &self.of(line).headings
    }

    /// Returns true if the colours of a line may still come.
    pub fn lacks(&self, line: usize) -> bool {
        !self.known.is_whole && line >= self.known.lines.len()
    }
}

/// Answers requests until there are no more, or nobody takes the answers. Only the newest counts.
fn work(
    requests: &Receiver<ColourRequest>,
    mut deliver: impl FnMut(Texts, Side, Coloured) -> bool,
) {
    let mut kept = Kept::default();
    while let Ok(mut wanted) = requests.recv() {
        loop {
            while let Ok(newer) = requests.try_recv() {
                wanted = newer;
            }
            let bits = kept.work(&wanted);
            if bits.is_empty() {
                break;
            }
            for (side, coloured) in bits {
                if !deliver(wanted.texts, side, coloured) {
                    return;
                }
            }
        }
    }
}

/// The progress of the work.
#[derive(Default)]
struct Kept {
    texts: VecDeque<(Texts, [Highlighter; 2])>,
}

impl Kept {
    /// The next bit of what is wanted; none when all of it is done.
    fn work(&mut self, wanted: &ColourRequest) -> Vec<(Side, Coloured)> {
        let [left, right] = self.of(wanted);
        let sides = [
            (Side::Right, right, &wanted.after, &wanted.right),
            (Side::Left, left, &wanted.before, &wanted.left),
        ];
        let bits = sides
            .into_iter()
            .filter_map(|(side, highlighter, text, lines)| {
                let coloured = highlighter.work(text, lines, CHUNK)?;
                Some((side, coloured))
            });
        bits.collect()
    }

    fn of(&mut self, wanted: &ColourRequest) -> &mut [Highlighter; 2] {
        let known = self
            .texts
            .iter()
            .position(|(texts, _)| *texts == wanted.texts);
        let entry = match known.and_then(|at| self.texts.remove(at)) {
            Some(entry) => entry,
            None => {
                let new = |text| Highlighter::new(&wanted.path, text);
                (wanted.texts, [new(&wanted.before), new(&wanted.after)])
            }
        };
        self.texts.truncate(MAX_KEPT - 1);
        self.texts.push_front(entry);
        &mut self.texts[0].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(id: u64, lines: usize, last: usize) -> ColourRequest {
        let text = Arc::new(Text::new("let a = 1;\n".repeat(lines)));
        ColourRequest {
            texts: Texts {
                id: DiffId(id),
                generation: 0,
            },
            path: "a.rs".into(),
            before: Arc::clone(&text),
            after: text,
            left: 0..last + 1,
            right: 0..last + 1,
        }
    }

    /// The colours that are delivered for requests that are all there when the work begins, or come with a
    /// delivery.
    fn delivered(
        requests: Vec<ColourRequest>,
        then: Option<ColourRequest>,
    ) -> Vec<(u64, Side, usize, usize)> {
        let (sender, receiver) = crossbeam_channel::unbounded();
        for wanted in requests {
            sender.send(wanted).unwrap();
        }
        let mut sender = Some(sender);
        let mut then = then;
        let mut delivered = Vec::new();
        let note = |texts: Texts, side, coloured: Coloured| {
            delivered.push((texts.id.0, side, coloured.first, coloured.lines.len()));
            if let Some(sender) = sender.take() {
                then.take().map(|then| sender.send(then));
            }
            true
        };
        work(&receiver, note);
        delivered
    }

    #[test]
    fn colours_come_in_bits_and_only_as_far_as_wanted() {
        let bits = delivered(vec![wanted(1, 10_000, 999)], None);
        assert!(bits.len() > 4, "{bits:?}");
        let sum = |of: Side| {
            let bits = bits.iter().filter(|(_, side, ..)| *side == of);
            bits.fold(0, |next, (_, _, first, lines)| {
                assert_eq!(*first, next);
                assert!(*lines * 11 <= CHUNK + 11, "{lines} at once");
                next + lines
            })
        };
        assert_eq!((sum(Side::Left), sum(Side::Right)), (1_000, 1_000));
    }

    #[test]
    fn far_down_each_line_comes_twice_at_most_and_then_nothing_more() {
        for line in [
            "let a = 1;\n",
            "let a = \"a line of more than forty letters\"; // that\n",
        ] {
            let mut wanted = wanted(1, 0, 0);
            wanted.after = Arc::new(Text::new(line.repeat(1_000)));
            wanted.right = 950..990;
            let (sender, receiver) = crossbeam_channel::unbounded();
            sender.send(wanted).unwrap();
            drop(sender);
            let (mut guessed, mut known) = (None, 0);
            work(&receiver, |_, side, bit| {
                let end = bit.first + bit.lines.len();
                match (side, bit.is_guess) {
                    (Side::Left, _) => {}
                    (Side::Right, true) => {
                        assert_eq!(guessed.unwrap_or(bit.first), bit.first, "once more");
                        guessed = Some(end);
                    }
                    (Side::Right, false) => {
                        assert_eq!(bit.first, known);
                        known = end;
                    }
                }
                true
            });
            assert_eq!((guessed, known), (Some(990), 990), "{line}");
        }
    }

    #[test]
    fn only_the_newest_request_is_worked_on() {
        let bits = delivered(vec![wanted(1, 10_000, 9_999), wanted(2, 10, 9)], None);
        assert!(bits.iter().all(|(id, ..)| *id == 2), "{bits:?}");
        let bits = delivered(vec![wanted(1, 10_000, 9_999)], Some(wanted(2, 10, 9)));
        assert!(bits.len() < 10, "{bits:?}");
        assert_eq!(bits.last().unwrap().0, 2);
    }

    #[test]
    fn the_work_goes_on_where_it_was() {
        let more = wanted(1, 1_000, 500);
        let bits = delivered(vec![wanted(1, 1_000, 10)], Some(more));
        let of_left: Vec<_> = bits.iter().filter(|bit| bit.1 == Side::Left).collect();
        assert_eq!(of_left[0].2, 0);
        assert_eq!(of_left[1].2, of_left[0].3);
    }
}
