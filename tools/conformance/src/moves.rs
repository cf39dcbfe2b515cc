//! Moves of the cursor, and the messages about them, whatever the protocol.

use std::iter;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::agent::{Agent, params_since};
use crate::files::some_file;
use crate::helper::Step;
use crate::observation::{CursorMoved, Moves, TOO_CLOSE, Timed};
use crate::rule::{Finding, Otherwise, Problem, blocked, broken, shown, unchecked};
use crate::shape::{is_absolute, is_in};
use crate::test_context::TestContext;

/// The number of lines that the cursor is moved over.
pub(super) const LINES: u32 = 4;

/// The number of attempts at moving it in quick succession, if it comes to that: on a busy machine commands may
/// take effect far apart.
const BURSTS: usize = 8;

/// The number of moves in such a burst, and the time between them: less than a debounce of 50 ms lasts, and more than
/// one that is hardly any.
const BURST: u32 = 8;
const PACE: Duration = Duration::from_millis(15);

/// The way in which a protocol shows where the cursor stands.
pub(super) struct Cursor {
    /// The notification that does.
    pub(super) method: &'static str,
    /// The file that has the focus, by the params of one.
    pub(super) file: fn(&Value) -> Option<&str>,
    /// Returns true if it stands in this file, on this line, counted from 1.
    pub(super) is_at: fn(&Value, &str, u32) -> bool,
}

/// A move of the cursor, done or asked for.
#[derive(Debug)]
pub(super) struct Move {
    /// The time limit for the effect.
    pub(super) time: Duration,
    /// True if it is done already.
    pub(super) is_done: bool,
    /// The file and the line where a command has moved it, from the first line on.
    to: Option<(String, u32)>,
}

/// Has the cursor moved to where it does not stand already.
pub(super) async fn move_about(
    test: &TestContext,
    agent: &mut impl Agent,
    cursor: &Cursor,
) -> Result<Move, Problem> {
    let last = params_since(agent, 0, cursor.method).pop();
    let last = last.map(|(_, params)| params).unwrap_or_default();
    let roots = test.target.roots();
    let focused = (cursor.file)(&last);
    let Some((file, has_lines)) = some_file(&roots, focused, LINES as usize) else {
        return unchecked("there is no file in the workspace to focus");
    };
    let is_there = (cursor.is_at)(&last, &file, LINES);
    let lines = if is_there { LINES - 1 } else { LINES };
    let step = Step::Move {
        file: file.clone(),
        lines,
    };
    // What comes is taken in at once: its time counts.
    let (time, is_done) = agent.listening(test.done_or_asked(&step)).await?;
    let to = (is_done && has_lines).then_some((file, lines));
    Ok(Move { time, is_done, to })
}

/// The person did not do what they were asked for: then the request is not repeated.
pub(super) fn in_vain<T>(
    test: &TestContext,
    agent: &impl Agent,
    why: impl Into<String>,
) -> Result<T, Problem> {
    if let Some(end) = agent.end() {
        let row = test.rows().stays;
        return blocked(row, format!("the connection ended meanwhile: {end}"));
    }
    test.nobody_came();
    unchecked(why)
}

impl CursorMoved {
    /// Has the cursor moved, and once more in quick succession where commands do that.
    pub(super) async fn hear(test: &TestContext, agent: &mut impl Agent, cursor: &Cursor) -> Self {
        let moves = Moves::hear(test, agent, cursor).await;
        let bursts = match &moves {
            Ok(moves) => moves.bursts(test, agent, cursor).await,
            Err(_) => Vec::new(),
        };
        Self { moves, bursts }
    }

    /// Every context that came of it.
    pub(super) fn contexts(&self) -> impl Iterator<Item = &Timed> {
        let moves = self.moves.iter().chain(&self.bursts);
        moves.flat_map(|moves| &moves.contexts)
    }

    /// The messages that came while it was moved about.
    pub(super) fn moves(&self) -> Result<&Moves, Problem> {
        self.moves.as_ref().map_err(Clone::clone)
    }

    /// The file and the line where a command has moved it, if that is known.
    pub(super) fn place(&self) -> Result<(&str, u32), Problem> {
        match self.moves.as_ref().ok().and_then(|moves| moves.to.as_ref()) {
            Some((file, line)) => Ok((file, *line)),
            None => unchecked(
                "it is not known where the cursor was moved to: pass --move-with CMD, with a file of several lines in the workspace",
            ),
        }
    }

    /// Checks that the last selection is where the cursor was moved to, lines counted from 0. `shape` and `path` are about
    /// its look.
    pub(super) fn selected(
        &self,
        well_formed: fn(&Value) -> Result<(), String>,
        shape: &'static [&'static str],
        path: &'static [&'static str],
    ) -> Finding {
        let moves = self.moves()?;
        let (file, line) = self.place()?;
        let last = moves.last()?;
        well_formed(last).or_blocked(shape, "the last selection")?;
        if !is_in(last, file) {
            let its = &last["filePath"];
            return match its.is_string() && !is_absolute(its) {
                true => blocked(path, "its path is not absolute"),
                false => broken(format!("{file} was focused, `filePath` is {its}")),
            };
        }
        // The command may select from there on, or up to there.
        let lines = ["start", "end"].map(|end| last["selection"][end]["line"].as_u64());
        if lines.contains(&Some(u64::from(line - 1))) {
            return Ok(format!("line {line}"));
        }
        broken(format!(
            "it was moved to line {line} (counted from 1), `selection` is {}",
            shown(&last["selection"])
        ))
    }

    /// Checks that changes are debounced. Judged by what a debounce does, merging moves, and more than
    /// once: on a busy machine contexts may come late, and then close together, whatever sent them.
    /// `row` is about whether anything comes at all.
    pub(super) fn debounced(&self, row: &'static [&'static str]) -> Finding {
        let moves = self.moves()?;
        if moves.contexts.is_empty() {
            return blocked(row, "nothing was sent when the cursor moved");
        }
        // Moves that were done one after the other may have come all at once, and any debounce merges
        // these.
        let mut bursts = self.bursts.iter();
        let groups = iter::once(moves).chain(bursts.clone());
        let close: Vec<_> = groups.flat_map(Moves::close_gaps).collect();
        let merged = match bursts.clone().find(|group| group.is_debounced()) {
            // Once it may be this machine that was busy.
            None if close.len() < 2 => bursts.find(|group| group.is_merged()),
            other => other,
        };
        if let Some(merged) = merged {
            let (messages, count) = (merged.contexts.len(), merged.count.unwrap_or_default());
            return Ok(format!("{messages} sent for {count} moves"));
        }
        if let [first, _, ..] = close[..] {
            return broken(format!(
                "{} messages arrived less than {TOO_CLOSE:?} after the one before, the first after {first:.0?}",
                close.len()
            ));
        }
        unchecked(match moves.count {
            Some(_) => {
                "the moves came too slowly for a debounce to merge any: pass a quicker command to --move-with"
            }
            None => {
                "it is not known how quickly the cursor was moved: pass --move-with CMD, with a file of several lines in the workspace"
            }
        })
    }
}

impl Moves {
    /// Has the cursor moved, and hears the messages about it.
    async fn hear(
        test: &TestContext,
        agent: &mut impl Agent,
        cursor: &Cursor,
    ) -> Result<Self, Problem> {
        let (before, asked) = (agent.messages().len(), SystemTime::now());
        let Move { time, is_done, to } = move_about(test, agent, cursor).await?;
        let is_effect = |message: &Value| match &to {
            _ if message["method"] != cursor.method => false,
            Some((file, line)) => (cursor.is_at)(&message["params"], file, *line),
            None => true,
        };
        // The first may be what the moves before it led to: some more may follow.
        agent.wait_from(before, time, is_effect).await;
        agent.listen(test.timeouts.quiet).await;
        let contexts = params_since(agent, before, cursor.method);
        if contexts.is_empty() && !is_done {
            let why = "the cursor was not moved, or it is not sent";
            let why = format!("none arrived within {time:?}: {why}");
            return in_vain(test, agent, why);
        }
        Ok(Self {
            asked,
            // In a file without lines nothing moves.
            count: to.as_ref().map(|(_, lines)| *lines),
            to,
            contexts,
        })
    }

    /// Has commands move the cursor in that file in quick succession, until the moves were merged once.
    async fn bursts(
        &self,
        test: &TestContext,
        agent: &mut impl Agent,
        cursor: &Cursor,
    ) -> Vec<Self> {
        let mut bursts: Vec<Self> = Vec::new();
        let Some((file, _)) = self.to.as_ref().filter(|_| !self.contexts.is_empty()) else {
            return bursts;
        };
        while bursts.len() < BURSTS && !bursts.last().is_some_and(Self::is_debounced) {
            // None ends where the one before did: that would be no change.
            let nth = u32::try_from(bursts.len()).unwrap_or_default();
            let step = Step::Burst {
                file: file.clone(),
                lines: (1..=BURST).map(|move_| (nth + move_) % LINES + 1).collect(),
                pace: PACE,
            };
            let (before, asked) = (agent.messages().len(), SystemTime::now());
            if agent.listening(test.help(&step)).await.is_err() {
                break;
            }
            let is_any = |message: &Value| message["method"] == cursor.method;
            let answer = test.timeouts.answer;
            agent.wait_from(before, answer, is_any).await;
            agent.listen(test.timeouts.quiet).await;
            bursts.push(Self {
                asked,
                count: Some(BURST),
                to: None,
                contexts: params_since(agent, before, cursor.method),
            });
        }
        bursts
    }

    /// The last context that came of them.
    pub(super) fn last(&self) -> Result<&Value, Problem> {
        match self.contexts.last() {
            Some((_, context)) => Ok(context),
            None => unchecked("nothing was sent when the cursor moved"),
        }
    }

    /// Checks that anything came of them.
    pub(super) fn sent(&self) -> Finding {
        match self.contexts.len() {
            0 => broken("none arrived when the cursor moved"),
            count => Ok(format!("{count} arrived")),
        }
    }
}
