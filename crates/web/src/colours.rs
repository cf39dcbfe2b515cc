//! The thread that works out syntax colours, so that rows never wait for them.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pillion_judge::highlight::{Colours, Texts};
use pillion_judge::proposal::Side;
use pillion_judge::syntax::Highlighter;
use pillion_system::Worker;
use pillion_text::Text;

use crate::rows;
use crate::server::Respond;
use crate::wire;

/// So many bytes are worked through at a time.
const CHUNK: usize = 16 << 10;

/// An answer comes after this at the latest, with what is known by then.
const LONGEST: Duration = Duration::from_millis(500);

/// The number of pairs of texts for which the progress of the work is kept.
const MAX_KEPT: usize = 16;

/// The lines whose colours are asked for.
pub(crate) struct Wanted {
    pub(crate) texts: Texts,
    pub(crate) path: PathBuf,
    pub(crate) before: Arc<Text>,
    pub(crate) after: Arc<Text>,
    pub(crate) left: Range<usize>,
    pub(crate) right: Range<usize>,
    /// The lines after folds, of which it is asked what they lie in.
    pub(crate) below_folds: Vec<usize>,
    pub(crate) g: u64,
    pub(crate) respond: Respond,
}

struct Known {
    texts: Texts,
    sides: [(Highlighter, Colours); 2],
}

/// Starts the thread.
///
/// # Errors
/// When there can be none.
pub(crate) fn start() -> io::Result<Worker<Wanted>> {
    let mut kept: VecDeque<Known> = VecDeque::new();
    Worker::start("colours", Duration::ZERO, move |wanted: Wanted| {
        let known = kept.iter().position(|it| it.texts == wanted.texts);
        let known = known.and_then(|at| kept.remove(at));
        let mut known = known.unwrap_or_else(|| Known {
            texts: wanted.texts,
            sides: [&wanted.before, &wanted.after]
                .map(|text| (Highlighter::new(&wanted.path, text), Colours::default())),
        });
        let since = Instant::now();
        let below = wanted.below_folds.iter().map(|line| line + 1).max();
        let right = wanted.right.start..wanted.right.end.max(below.unwrap_or(0));
        for (side, text, lines) in [
            (Side::Right, &wanted.after, &right),
            (Side::Left, &wanted.before, &wanted.left),
        ] {
            let [left, right] = &mut known.sides;
            let (highlighter, colours) = side.of((left, right));
            while colours.lacks(lines.end.saturating_sub(1)) && since.elapsed() < LONGEST {
                match highlighter.work(text, lines, CHUNK) {
                    Some(bit) => colours.take(bit),
                    None => break,
                }
            }
        }
        let [(_, left), (_, right)] = &known.sides;
        let colours = wire::Colours {
            g: wanted.g,
            left: rows::coloured(&wanted.before, left, wanted.left),
            right: rows::coloured(&wanted.after, right, wanted.right),
            within: rows::within(&wanted.after, right, wanted.below_folds.into_iter()),
        };
        wanted.respond.json(&colours);
        kept.push_front(known);
        kept.truncate(MAX_KEPT);
    })
}
