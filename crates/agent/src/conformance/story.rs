//! What is seen once and read by several rules: an acceptance, a rejection, the contexts of the
//! first seconds.

use std::collections::VecDeque;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::time::{Duration, Instant};

use pillion_protocol::context::CONTEXT_UPDATE;
use serde_json::Value;

use super::bench::{Bench, Step};
use super::probe::NoAnswer;
use super::rule::{Problem, unchecked};
use super::session::Session;

/// Something of everything that programs spoil, and that a person can still accept.
const TEXT: &str = "one\r\ntwo\t \n\u{2028}é e\u{301} 👩\u{200d}🚀\rno final newline";

/// How many entries of a workspace are looked at for a file to focus.
const MAX_ENTRIES: usize = 2_000;

/// Longer files are not looked into.
const MAX_TEXT: u64 = 64 * 1024;

/// How far the cursor is moved.
const LINES: u32 = 4;

/// The way of one proposal from `openDiff` to its outcome.
#[derive(Debug, Clone)]
pub(super) struct Story {
    /// As it was sent: spelt oddly, where the companion takes it.
    pub(super) path: String,
    pub(super) text: &'static str,
    /// The outcomes that the agent heard, in order.
    pub(super) outcomes: Vec<Value>,
    /// Whether the file was on the disk afterwards.
    pub(super) was_written: bool,
}

/// What the editor showed.
#[derive(Debug, Clone)]
pub(super) struct Contexts {
    /// What two sessions heard from their start on, one after the other.
    pub(super) of_sessions: [Vec<Value>; 2],
    /// What was heard when somebody moved about.
    pub(super) of_moves: Result<Vec<(Instant, Value)>, Problem>,
    /// The file and the line where a command, which can be relied on, has moved the cursor.
    pub(super) moved_to: Option<(String, u32)>,
}

/// A move of the cursor, done or asked for.
#[derive(Debug)]
pub(super) struct Move {
    /// How long to wait for the effect.
    pub(super) time: Duration,
    is_done: bool,
    /// The file and the line, unless a person is asked.
    to: Option<(String, u32)>,
}

impl Story {
    pub(super) async fn of_acceptance(bench: &Bench) -> Result<Self, Problem> {
        Self::of(bench, |file| Step::Accept { file }).await
    }

    pub(super) async fn of_rejection(bench: &Bench) -> Result<Self, Problem> {
        Self::of(bench, |file| Step::Reject { file }).await
    }

    async fn of(bench: &Bench, step: impl Fn(String) -> Step) -> Result<Self, Problem> {
        let mut owner = bench.session().await?;
        let path = propose(bench, &owner).await?;
        let (time, is_done) = bench.done_or_asked(&step(path.clone())).await?;
        let outcome = owner.wait_for(time, is_outcome).await;
        if outcome.is_none() && !is_done {
            let closed = owner.close_diff(&path, true).await;
            if closed.is_ok_and(|reply| reply.closed_content().is_ok()) {
                bench.nobody_came();
                return unchecked(format!("nobody decided within {time:?}"));
            }
        }
        owner.listen(bench.patience.quiet).await;
        let was_written = Path::new(&path).exists();
        if was_written {
            // The name is ours, and nothing had it before.
            let _ = std::fs::remove_file(&path);
        }
        Ok(Self {
            path,
            text: TEXT,
            outcomes: outcomes(&owner),
            was_written,
        })
    }
}

/// Opens a view for a new file, spelt so that a companion that tidies paths is found out.
async fn propose(bench: &Bench, session: &Session<'_>) -> Result<String, Problem> {
    bench.has_views(session).await?;
    let folder = bench.folder();
    let name = bench.new_name();
    let odd = format!("{folder}{MAIN_SEPARATOR}{MAIN_SEPARATOR}.{MAIN_SEPARATOR}{name}");
    let plain = format!("{folder}{MAIN_SEPARATOR}{name}");
    let mut seen = String::new();
    for path in [odd, plain] {
        match session.open_diff(&path, TEXT).await {
            Ok(reply) if !reply.is_error() => return Ok(path),
            Ok(reply) => seen = reply.shown(),
            Err(NoAnswer(why)) => return unchecked(format!("openDiff opens no view: {why}")),
        }
    }
    unchecked(format!(
        "openDiff opens no view for a new file in {folder}: {seen}"
    ))
}

pub(super) fn is_outcome(message: &Value) -> bool {
    let method = message["method"].as_str();
    method.is_some_and(|method| method.starts_with("ide/diff"))
}

pub(super) fn outcomes(session: &Session<'_>) -> Vec<Value> {
    let messages = session.messages.iter().map(|(_, message)| message);
    messages.filter(|it| is_outcome(it)).cloned().collect()
}

/// Has the cursor moved to where it does not stand already.
pub(super) async fn move_about(bench: &Bench, session: &Session<'_>) -> Result<Move, Problem> {
    let Some((file, has_lines)) = some_file(&bench.target.roots()) else {
        return unchecked("there is no file in the workspace that could be focused");
    };
    let mut contexts = session.messages.iter().rev().map(|(_, message)| message);
    let last = contexts.find(|it| is_context(it));
    let is_there = last.is_some_and(|last| stands_at(&last["params"], &file, LINES));
    let lines = if is_there { LINES - 1 } else { LINES };
    let step = Step::Move {
        file: file.clone(),
        lines,
    };
    let (time, is_done) = bench.done_or_asked(&step).await?;
    let to = (is_done && has_lines).then_some((file, lines));
    Ok(Move { time, is_done, to })
}

/// Whether the active file of a context is this one, with the cursor on this line.
fn stands_at(context: &Value, file: &str, line: u32) -> bool {
    let mut files = files(context).iter();
    let active = files.find(|file| file["isActive"] == true);
    active.is_some_and(|active| active["path"] == *file && active["cursor"]["line"] == line)
}

/// What was heard when the cursor moved, and where to.
type Moves = (Vec<(Instant, Value)>, Option<(String, u32)>);

impl Contexts {
    pub(super) async fn gather(bench: &Bench) -> Result<Self, Problem> {
        let mut first = bench.session().await?;
        let is_sent = first.wait_for(bench.patience.answer, is_context).await;
        first.listen(bench.patience.quiet).await;
        let of_first = contexts(&first);
        first.leave().await;
        let mut second = bench.session().await?;
        if is_sent.is_some() {
            second.wait_for(bench.patience.answer, is_context).await;
        }
        second.listen(bench.patience.quiet).await;
        let of_sessions = [of_first, contexts(&second)];
        let (of_moves, moved_to) = match Self::moves(bench, &mut second).await {
            Ok((moves, to)) => (Ok(moves), to),
            Err(problem) => (Err(problem), None),
        };
        Ok(Self {
            moved_to,
            of_sessions: of_sessions.map(|them| them.into_iter().map(|(_, it)| it).collect()),
            of_moves,
        })
    }

    async fn moves(bench: &Bench, session: &mut Session<'_>) -> Result<Moves, Problem> {
        let before = session.messages.len();
        let Move { time, is_done, to } = move_about(bench, session).await?;
        let is_effect = |message: &Value| match &to {
            _ if !is_context(message) => false,
            Some((file, line)) => stands_at(&message["params"], file, *line),
            None => true,
        };
        // The first may be what the moves before it led to: some more may follow.
        let so_far = |session: &Session<'_>| session.messages[before..].to_vec();
        let until = Instant::now() + time;
        while Instant::now() < until && !so_far(session).iter().any(|(_, it)| is_effect(it)) {
            session.listen(Duration::from_millis(20)).await;
        }
        session.listen(bench.patience.quiet).await;
        let moved: Vec<_> = so_far(session).into_iter().filter_map(params).collect();
        if moved.is_empty() && !is_done {
            bench.nobody_came();
            return unchecked(format!(
                "none came within {time:?}: nobody moved the cursor, or it is not sent"
            ));
        }
        Ok((moved, to))
    }

    /// Every context that was heard.
    pub(super) fn all(&self) -> impl Iterator<Item = &Value> {
        let moves = self.of_moves.iter().flatten().map(|(_, context)| context);
        self.of_sessions.iter().flatten().chain(moves)
    }

    /// Every file in them.
    pub(super) fn files(&self) -> impl Iterator<Item = &Value> {
        self.all().flat_map(files)
    }
}

/// The open files of a context.
pub(super) fn files(context: &Value) -> &[Value] {
    let files = context.pointer("/workspaceState/openFiles");
    files.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

pub(super) fn is_context(message: &Value) -> bool {
    message["method"] == CONTEXT_UPDATE
}

fn params((at, message): (Instant, Value)) -> Option<(Instant, Value)> {
    is_context(&message).then(|| (at, message["params"].clone()))
}

fn contexts(session: &Session<'_>) -> Vec<(Instant, Value)> {
    let messages = session.messages.iter().cloned();
    messages.filter_map(params).collect()
}

/// A regular file below one of the roots, and whether the cursor can be moved in it. Hidden folders
/// are left alone.
fn some_file(roots: &[PathBuf]) -> Option<(String, bool)> {
    let mut first = None;
    let mut folders = VecDeque::from_iter(roots.iter().cloned());
    let mut looked_at = 0;
    while let Some(folder) = folders.pop_front() {
        let Ok(entries) = folder.read_dir() else {
            continue;
        };
        let mut entries: Vec<_> = entries.flatten().collect();
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            looked_at += 1;
            let name = entry.file_name();
            let is_hidden = name.to_str().is_none_or(|name| name.starts_with('.'));
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if kind.is_file() && !is_hidden {
                let path = entry.path().to_str().map(str::to_owned);
                let has_lines = path.as_deref().is_some_and(has_lines);
                first = first.or_else(|| path.clone().map(|path| (path, false)));
                if let (true, Some(path)) = (has_lines, path) {
                    return Some((path, true));
                }
            }
            if kind.is_dir() && !is_hidden && looked_at < MAX_ENTRIES {
                folders.push_back(entry.path());
            }
            if looked_at > MAX_ENTRIES {
                return first;
            }
        }
    }
    first
}

/// Whether it is a text with as many lines as the cursor is moved over.
fn has_lines(path: &str) -> bool {
    let is_small = std::fs::metadata(path).is_ok_and(|it| it.len() <= MAX_TEXT);
    let lines = || std::fs::read_to_string(path).map_or(0, |text| text.lines().count());
    is_small && lines() >= LINES as usize
}
