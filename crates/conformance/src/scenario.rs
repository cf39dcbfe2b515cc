//! How an acceptance, a rejection and the contexts of the first seconds are seen, once each.

use std::path::{MAIN_SEPARATOR, Path};
use std::time::{Duration, Instant, SystemTime};

use pillion_protocol::context::MAX_FILES;
use serde_json::Value;

use crate::files::{some_file, some_texts};
use crate::message::{is_context, is_outcome};
use crate::observation::{Contexts, Moves, Scenario, Visits};
use crate::probe::NoAnswer;
use crate::rule::{Problem, blocked, unchecked};
use crate::session::Session;
use crate::test_context::{Step, TestContext};

/// Something of everything that programs spoil, and that a person can still accept.
const TEXT: &str = "\u{feff}one\r\ntwo\t \n\0\u{2028}é e\u{301} 👩\u{200d}🚀\r";

/// The end of a name that does not survive as a URI that is not escaped, or is twice, nor where
/// names are composed.
const ODD_END: &str = " 20%20 #1 e\u{301}.txt";

/// How many lines follow: more than fits in 64 KiB, where some programs stop.
const MORE_LINES: usize = 2_000;

/// How far the cursor is moved.
const LINES: u32 = 4;

/// How often it is moved in quick succession, if it comes to that: on a busy machine commands may
/// take effect far apart.
const BURSTS: usize = 8;

/// How many moves that are, and how far apart: less than a debounce of 50 ms lasts, and more than
/// one that is hardly any.
const BURST: u32 = 8;
const PACE: Duration = Duration::from_millis(15);

/// A move of the cursor, done or asked for.
#[derive(Debug)]
pub(super) struct Move {
    /// How long to wait for the effect.
    pub(super) time: Duration,
    /// Whether it is done already.
    pub(super) is_done: bool,
    /// How many moves there are.
    lines: u32,
    /// The file and the line, unless a person is asked.
    to: Option<(String, u32)>,
}

/// The way of a proposal that was accepted.
pub(super) async fn accepted(test: &TestContext) -> Result<&Scenario, Problem> {
    let scenario = || Scenario::of(test, |file| Step::Accept { file });
    let outcome = test.observations.accepted.get_or_init(scenario);
    outcome.await.as_ref().map_err(Clone::clone)
}

/// The way of a proposal that was rejected.
pub(super) async fn rejected(test: &TestContext) -> Result<&Scenario, Problem> {
    let scenario = || Scenario::of(test, |file| Step::Reject { file });
    let outcome = test.observations.rejected.get_or_init(scenario);
    outcome.await.as_ref().map_err(Clone::clone)
}

/// The contexts of two sessions, and those that came when the cursor moved.
pub(super) async fn contexts(test: &TestContext) -> Result<&Contexts, Problem> {
    let outcome = test
        .observations
        .contexts
        .get_or_init(|| Contexts::gather(test));
    outcome.await.as_ref().map_err(Clone::clone)
}

impl Scenario {
    async fn of(test: &TestContext, step: impl Fn(String) -> Step) -> Result<Self, Problem> {
        let mut owner = test.session().await?;
        let (path, text) = propose(test, &owner).await?;
        let (time, is_done) = test.done_or_asked(&step(path.clone())).await?;
        let outcome = owner.wait_for(time, is_outcome).await;
        if outcome.is_none() && !is_done {
            let closed = owner.close_diff(&path, true).await;
            if closed.is_ok_and(|reply| reply.closed_content().is_ok()) {
                return in_vain(test, &owner, format!("nobody decided within {time:?}"));
            }
        }
        owner.listen(test.connection.timeouts.quiet).await;
        Ok(Self {
            was_written: Path::new(&path).exists(),
            outcomes: owner.outcomes(),
            path,
            text,
        })
    }
}

/// Nothing was heard of what a person was asked for: then the request is not repeated.
fn in_vain<T>(test: &TestContext, session: &Session<'_>, why: String) -> Result<T, Problem> {
    if session.end.is_some() {
        return blocked(&["C1.1-stream-stays"], "the event stream ended meanwhile");
    }
    test.nobody_came();
    unchecked(why)
}

/// Opens a view for a new file, spelt so that a companion that tidies paths is found out, with a
/// text that is easily spoilt.
async fn propose(test: &TestContext, session: &Session<'_>) -> Result<(String, String), Problem> {
    test.has_views(session).await?;
    let (folder, name) = (test.names.folder(), test.names.name());
    let odd_name = name.replace(".txt", ODD_END);
    let more = (0..MORE_LINES).map(|number| format!("{number}: one more line of a long text\n"));
    let text = format!("{TEXT}{}no final newline", more.collect::<String>());
    let odd = format!("{folder}{MAIN_SEPARATOR}{MAIN_SEPARATOR}.{MAIN_SEPARATOR}{odd_name}");
    let plain = format!("{folder}{MAIN_SEPARATOR}{name}");
    let mut seen = String::new();
    // Whether NUL and such paths are taken is other rules' matter.
    for (path, text) in [
        (odd, text.clone()),
        (plain.clone(), text.clone()),
        (plain, text.replace('\0', "")),
    ] {
        match session.open_diff(&path, &text).await {
            Ok(reply) if !reply.is_error() => return Ok((path, text)),
            Ok(reply) => seen = reply.shown(),
            Err(NoAnswer { why, .. }) => seen = why,
        }
    }
    let why = format!("openDiff opens no view for a new file in {folder}: {seen}");
    blocked(&["C5.2-open"], why)
}

/// Has the cursor moved to where it does not stand already.
pub(super) async fn move_about(test: &TestContext, session: &Session<'_>) -> Result<Move, Problem> {
    let mut contexts = session.messages.iter().rev().map(|(_, message)| message);
    let last = contexts.find(|it| is_context(it));
    let focused = last.and_then(|last| active(&last["params"])?["path"].as_str());
    let Some((file, has_lines)) =
        some_file(&test.connection.target.roots(), focused, LINES as usize)
    else {
        return unchecked("there is no file in the workspace to focus");
    };
    let is_there = last.is_some_and(|last| stands_at(&last["params"], &file, LINES));
    let lines = if is_there { LINES - 1 } else { LINES };
    let step = Step::Move {
        file: file.clone(),
        lines,
    };
    let (time, is_done) = test.done_or_asked(&step).await?;
    let to = (is_done && has_lines).then_some((file, lines));
    Ok(Move {
        time,
        is_done,
        lines,
        to,
    })
}

/// Whether the active file of a context is this one, with the cursor on this line.
fn stands_at(context: &Value, file: &str, line: u32) -> bool {
    active(context)
        .is_some_and(|active| active["path"] == *file && active["cursor"]["line"] == line)
}

impl Contexts {
    async fn gather(test: &TestContext) -> Result<Self, Problem> {
        let (answer, quiet) = (
            test.connection.timeouts.answer,
            test.connection.timeouts.quiet,
        );
        let mut first = test.session().await?;
        let is_sent = first.wait_for(answer, is_context).await;
        first.listen(quiet).await;
        let of_first = params_of(&first);
        let is_asked = has_requests(&first);
        first.leave().await;
        let mut second = test.session().await?;
        if is_sent.is_some() {
            second.wait_for(answer, is_context).await;
        }
        second.listen(quiet).await;
        let of_second = params_of(&second);
        let before = of_second.last().map(|(_, context)| context.clone());
        let of_sessions = [of_first, of_second];
        let mut contexts = Self {
            of_sessions: of_sessions.map(|them| them.into_iter().map(|(_, it)| it).collect()),
            of_moves: unchecked("the cursor was not moved"),
            of_bursts: Vec::new(),
            moved_to: None,
            focused: None,
            of_visits: Visits::default(),
            is_asked,
        };
        match Moves::hear(test, &mut second).await {
            Err(problem) => contexts.of_moves = Err(problem),
            Ok((moves, to)) => {
                if let Some((file, _)) = &to {
                    contexts.of_bursts = Moves::bursts(test, &mut second, &moves, file).await;
                    let is_new = before.is_some_and(|it| is_focus_elsewhere(&it, file));
                    contexts.focused = is_new.then(|| file.clone());
                    contexts.of_visits = Visits::hear(test, &mut second).await;
                }
                contexts.of_moves = Ok(moves);
                contexts.moved_to = to;
            }
        }
        contexts.is_asked |= has_requests(&second);
        Ok(contexts)
    }

    /// Every context that was heard.
    pub(super) fn all(&self) -> impl Iterator<Item = &Value> {
        let moves = self.of_moves.iter().chain(&self.of_bursts);
        let moves = moves.flat_map(|moves| &moves.contexts);
        let moves = moves.chain(&self.of_visits.contexts);
        let moves = moves.map(|(_, context)| context);
        self.of_sessions.iter().flatten().chain(moves)
    }

    /// Every file in them.
    pub(super) fn files(&self) -> impl Iterator<Item = &Value> {
        self.all().flat_map(files)
    }
}

impl Moves {
    /// Has the cursor moved; what came of it, and where it stands then, if that is known.
    async fn hear(
        test: &TestContext,
        session: &mut Session<'_>,
    ) -> Result<(Self, Option<(String, u32)>), Problem> {
        let before = session.messages.len();
        let asked = SystemTime::now();
        let Move {
            time,
            is_done,
            lines,
            to,
        } = move_about(test, session).await?;
        let is_effect = |message: &Value| match &to {
            _ if !is_context(message) => false,
            Some((file, line)) => stands_at(&message["params"], file, *line),
            None => true,
        };
        // The first may be what the moves before it led to: some more may follow.
        session.wait_for_new(before, time, is_effect).await;
        session.listen(test.connection.timeouts.quiet).await;
        let contexts = contexts_since(session, before);
        if contexts.is_empty() && !is_done {
            let why = format!(
                "none arrived within {time:?}: the cursor was not moved, or it is not sent"
            );
            return in_vain(test, session, why);
        }
        // In a file without lines nothing moves.
        let count = to.is_some().then_some(lines);
        let moves = Self {
            asked,
            count,
            contexts,
        };
        Ok((moves, to))
    }

    /// Has commands move the cursor in quick succession, until the moves were merged once.
    async fn bursts(
        test: &TestContext,
        session: &mut Session<'_>,
        one_by_one: &Self,
        file: &str,
    ) -> Vec<Self> {
        let mut bursts: Vec<Self> = Vec::new();
        let has_moved = !one_by_one.contexts.is_empty();
        while has_moved && bursts.len() < BURSTS && !bursts.last().is_some_and(Self::is_debounced) {
            // None ends where the one before did: that would be no change.
            let nth = u32::try_from(bursts.len()).unwrap_or_default();
            let step = Step::Burst {
                file: file.to_owned(),
                lines: (1..=BURST).map(|move_| (nth + move_) % LINES + 1).collect(),
                pace: PACE,
            };
            let before = session.messages.len();
            let asked = SystemTime::now();
            if test.help(&step).await.is_err() {
                break;
            }
            let answer = test.connection.timeouts.answer;
            session.wait_for_new(before, answer, is_context).await;
            session.listen(test.connection.timeouts.quiet).await;
            bursts.push(Self {
                asked,
                count: Some(BURST),
                contexts: contexts_since(session, before),
            });
        }
        bursts
    }
}

impl Visits {
    /// Has more files focused than may be listed.
    async fn hear(test: &TestContext, session: &mut Session<'_>) -> Self {
        let files = some_texts(&test.connection.target.roots(), MAX_FILES + 1);
        let (count, last) = (files.len(), files.last().cloned());
        let before = session.messages.len();
        let mut visits = Self::default();
        if count <= MAX_FILES {
            visits.why_not = Some(format!(
                "there are only {count} text files in the workspace"
            ));
        } else if let Err(problem) = test.help(&Step::Visit { files }).await {
            visits.why_not = Some(match problem {
                Problem::Broken(why) | Problem::Unchecked(why) => why,
                Problem::Blocked { why, .. } => why,
            });
        } else {
            visits.count = count;
            let is_last = |message: &Value| {
                let active = active(&message["params"]);
                is_context(message) && active.and_then(|it| it["path"].as_str()) == last.as_deref()
            };
            let answer = test.connection.timeouts.answer;
            session.wait_for_new(before, answer, is_last).await;
            session.listen(test.connection.timeouts.quiet).await;
        }
        visits.contexts = contexts_since(session, before);
        visits
    }
}

/// Whether a context came as a request, which nobody answers.
fn has_requests(session: &Session<'_>) -> bool {
    let mut messages = session.messages.iter().map(|(_, message)| message);
    messages.any(|it| is_context(it) && it.get("id").is_some())
}

fn contexts_since(session: &Session<'_>, before: usize) -> Vec<(Instant, Value)> {
    let new = session.messages[before..].iter().cloned();
    new.filter_map(params).collect()
}

/// Whether another file than this one has the focus, or none that is open.
fn is_focus_elsewhere(context: &Value, file: &str) -> bool {
    let is_it = |it: &&Value| it["path"] == file;
    match active(context) {
        Some(active) => !is_it(&active),
        None => !files(context).iter().any(|it| is_it(&it)),
    }
}

/// The active file of a context.
pub(super) fn active(context: &Value) -> Option<&Value> {
    let mut files = files(context).iter();
    files.find(|file| file["isActive"] == true)
}

/// The open files of a context.
pub(super) fn files(context: &Value) -> &[Value] {
    let files = context.pointer("/workspaceState/openFiles");
    files.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn params((at, message): (Instant, Value)) -> Option<(Instant, Value)> {
    is_context(&message).then(|| (at, message["params"].clone()))
}

fn params_of(session: &Session<'_>) -> Vec<(Instant, Value)> {
    let messages = session.messages.iter().cloned();
    messages.filter_map(params).collect()
}
