//! How an acceptance, a rejection and the contexts of the first seconds are seen, once each.

use std::collections::VecDeque;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use pillion_protocol::context::CONTEXT_UPDATE;
use serde_json::Value;

use super::bench::{Bench, Step};
use super::probe::NoAnswer;
use super::rule::{Problem, unchecked};
use super::seen::{Contexts, Moves, Story};
use super::session::Session;

/// Something of everything that programs spoil, and that a person can still accept.
const TEXT: &str = "one\r\ntwo\t \n\u{2028}é e\u{301} 👩\u{200d}🚀\rno final newline";

/// How many entries of a workspace are looked at for a file to focus.
const MAX_ENTRIES: usize = 2_000;

/// Longer files are not looked into.
const MAX_TEXT: u64 = 64 * 1024;

/// How far the cursor is moved.
const LINES: u32 = 4;

/// How often it is moved by several commands at once, if it comes to that.
const BURSTS: usize = 8;

/// A move of the cursor, done or asked for.
#[derive(Debug)]
pub(super) struct Move {
    /// How long to wait for the effect.
    pub(super) time: Duration,
    is_done: bool,
    /// How many moves there are.
    lines: u32,
    /// The file and the line, unless a person is asked.
    to: Option<(String, u32)>,
}

/// The way of a proposal that was accepted.
pub(super) async fn accepted(bench: &Bench) -> Result<&Story, Problem> {
    let story = || Story::of(bench, |file| Step::Accept { file });
    let told = bench.seen.accepted.get_or_init(story);
    told.await.as_ref().map_err(Clone::clone)
}

/// The way of a proposal that was rejected.
pub(super) async fn rejected(bench: &Bench) -> Result<&Story, Problem> {
    let story = || Story::of(bench, |file| Step::Reject { file });
    let told = bench.seen.rejected.get_or_init(story);
    told.await.as_ref().map_err(Clone::clone)
}

/// The contexts of two sessions, and those that came when the cursor moved.
pub(super) async fn contexts(bench: &Bench) -> Result<&Contexts, Problem> {
    let told = bench.seen.contexts.get_or_init(|| Contexts::gather(bench));
    told.await.as_ref().map_err(Clone::clone)
}

impl Story {
    async fn of(bench: &Bench, step: impl Fn(String) -> Step) -> Result<Self, Problem> {
        let mut owner = bench.session().await?;
        let path = propose(bench, &owner).await?;
        let (time, is_done) = bench.done_or_asked(&step(path.clone())).await?;
        let outcome = owner.wait_for(time, is_outcome).await;
        if outcome.is_none() && !is_done {
            let closed = owner.close_diff(&path, true).await;
            if closed.is_ok_and(|reply| reply.closed_content().is_ok()) {
                return in_vain(bench, &owner, format!("nobody decided within {time:?}"));
            }
        }
        owner.listen(bench.line.patience.quiet).await;
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

/// Nothing was heard of what a person was asked for: nobody is asked again, if that is why.
fn in_vain<T>(bench: &Bench, session: &Session<'_>, why: String) -> Result<T, Problem> {
    if session.end.is_some() {
        return unchecked("the event stream ended meanwhile; see C1.1-stream-stays");
    }
    bench.nobody_came();
    unchecked(why)
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
    let mut contexts = session.messages.iter().rev().map(|(_, message)| message);
    let last = contexts.find(|it| is_context(it));
    let focused = last.and_then(|last| active(&last["params"])?["path"].as_str());
    let Some((file, has_lines)) = some_file(&bench.line.target.roots(), focused) else {
        return unchecked("there is no file in the workspace that could be focused");
    };
    let is_there = last.is_some_and(|last| stands_at(&last["params"], &file, LINES));
    let lines = if is_there { LINES - 1 } else { LINES };
    let step = Step::Move {
        file: file.clone(),
        lines,
    };
    let (time, is_done) = bench.done_or_asked(&step).await?;
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
    async fn gather(bench: &Bench) -> Result<Self, Problem> {
        let (answer, quiet) = (bench.line.patience.answer, bench.line.patience.quiet);
        let mut first = bench.session().await?;
        let is_sent = first.wait_for(answer, is_context).await;
        first.listen(quiet).await;
        let of_first = params_of(&first);
        first.leave().await;
        let mut second = bench.session().await?;
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
        };
        match Moves::hear(bench, &mut second).await {
            Err(problem) => contexts.of_moves = Err(problem),
            Ok((moves, to)) => {
                if let Some((file, _)) = &to {
                    contexts.of_bursts = Moves::bursts(bench, &mut second, &moves, file).await;
                    let is_new = before.is_some_and(|it| is_focus_elsewhere(&it, file));
                    contexts.focused = is_new.then(|| file.clone());
                }
                contexts.of_moves = Ok(moves);
                contexts.moved_to = to;
            }
        }
        Ok(contexts)
    }

    /// Every context that was heard.
    pub(super) fn all(&self) -> impl Iterator<Item = &Value> {
        let moves = self.of_moves.iter().chain(&self.of_bursts);
        let moves = moves.flat_map(|moves| &moves.contexts);
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
        bench: &Bench,
        session: &mut Session<'_>,
    ) -> Result<(Self, Option<(String, u32)>), Problem> {
        let before = session.messages.len();
        let asked = SystemTime::now();
        let Move {
            time,
            is_done,
            lines,
            to,
        } = move_about(bench, session).await?;
        let is_effect = |message: &Value| match &to {
            _ if !is_context(message) => false,
            Some((file, line)) => stands_at(&message["params"], file, *line),
            None => true,
        };
        // The first may be what the moves before it led to: some more may follow.
        session.wait_for_new(before, time, is_effect).await;
        session.listen(bench.line.patience.quiet).await;
        let contexts = contexts_since(session, before);
        if contexts.is_empty() && !is_done {
            let why =
                format!("none came within {time:?}: nobody moved the cursor, or it is not sent");
            return in_vain(bench, session, why);
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

    /// Has commands move the cursor at the same time, if they took so long one after the other that
    /// no debounce could merge anything.
    async fn bursts(
        bench: &Bench,
        session: &mut Session<'_>,
        one_by_one: &Self,
        file: &str,
    ) -> Vec<Self> {
        let mut bursts = Vec::new();
        let step = Step::Burst {
            file: file.to_owned(),
            lines: LINES,
        };
        // On a busy machine even commands that are started together may end far apart.
        let is_unclear = |it: &Self| it.count.is_some() && !it.is_debounced();
        let has_moved = !one_by_one.contexts.is_empty();
        while has_moved && is_unclear(bursts.last().unwrap_or(one_by_one)) && bursts.len() < BURSTS
        {
            let before = session.messages.len();
            let asked = SystemTime::now();
            if bench.help(&step).await.is_err() {
                break;
            }
            let answer = bench.line.patience.answer;
            session.wait_for_new(before, answer, is_context).await;
            session.listen(bench.line.patience.quiet).await;
            bursts.push(Self {
                asked,
                count: Some(LINES),
                contexts: contexts_since(session, before),
            });
        }
        bursts
    }
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

pub(super) fn is_context(message: &Value) -> bool {
    message["method"] == CONTEXT_UPDATE
}

fn params((at, message): (Instant, Value)) -> Option<(Instant, Value)> {
    is_context(&message).then(|| (at, message["params"].clone()))
}

fn params_of(session: &Session<'_>) -> Vec<(Instant, Value)> {
    let messages = session.messages.iter().cloned();
    messages.filter_map(params).collect()
}

/// A regular file below one of the roots, and whether the cursor can be moved in it; another one
/// than `focused`, if there is one. Hidden folders are left alone.
fn some_file(roots: &[PathBuf], focused: Option<&str>) -> Option<(String, bool)> {
    let mut found: Option<(String, bool)> = None;
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
            if kind.is_file()
                && !is_hidden
                && let Ok(path) = entry.path().into_os_string().into_string()
            {
                let has_lines = has_lines(&path);
                if has_lines && focused != Some(&path) {
                    return Some((path, true));
                }
                if found.is_none() || has_lines {
                    found = Some((path, has_lines));
                }
            }
            if kind.is_dir() && !is_hidden && looked_at < MAX_ENTRIES {
                folders.push_back(entry.path());
            }
            if looked_at > MAX_ENTRIES {
                return found;
            }
        }
    }
    found
}

/// Whether it is a text with as many lines as the cursor is moved over.
fn has_lines(path: &str) -> bool {
    let is_small = std::fs::metadata(path).is_ok_and(|it| it.len() <= MAX_TEXT);
    let lines = || std::fs::read_to_string(path).map_or(0, |text| text.lines().count());
    is_small && lines() >= LINES as usize
}
