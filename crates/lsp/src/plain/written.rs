//! The files that agents have written already, for a client without a plugin: diagnostics on the hunks that nobody looked at,
//! and code actions that keep them or take them back. A file that is open in the editor is changed by an edit of the editor's
//! own, so that its undo works.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};

use lsp_server::{ErrorCode, RequestId, Response};
use pillion_protocol::verdict::Lines;
use pillion_protocol::{Note, Position, Proposer, Range as LspRange};
use pillion_text::{counted, visible};
use pillion_view::ask::Changes;
use pillion_view::changes::{
    ActDone, BufferEdit, BufferText, ChangesAct, ChangesList, ListedChange, ListedHunk, Meant, Part,
};
use serde_json::{Value, json};

use super::wire;
use crate::asking::Asking;
use crate::disk::Done;
use crate::message::{self, Diagnostic, MessageType};
use crate::outgoing::Outgoing;
use crate::plain::document::text_edits;
use crate::position::Encoding;
use crate::profile::Action;
use crate::uri;

pub const KEEP: &str = "pillion.keep";

/// Takes a change back, or the hunks of it at some lines.
pub const TAKE_BACK: &str = "pillion.takeBack";

/// Brings back what was taken back last.
pub const UNDO: &str = "pillion.undo";

pub const COMMANDS: [&str; 3] = [KEEP, TAKE_BACK, UNDO];

/// The ids of these requests are none of those of proposals.
const FIRST_EDIT: i32 = 1_500_000_000;

/// More diagnostics of one file slow an editor down.
const MAX_HUNKS: usize = 200;

/// The changes that agents have written.
#[derive(Debug, Default)]
pub struct Written {
    encoding: Encoding,
    /// The number of the list, as the status has it.
    number: u64,
    /// The changes that nobody has looked at, by their files, with what people call the agent.
    unseen: BTreeMap<PathBuf, (String, ListedChange)>,
    /// The changes that are being taken back: the texts of the editor that were sent with each.
    acting: HashMap<RequestId, Vec<BufferText>>,
    /// `workspace/applyEdit`, each with the change that it takes out.
    edits: Outgoing<String>,
}

impl Written {
    /// Nothing is known yet.
    pub fn new(encoding: Encoding) -> Self {
        Self {
            encoding,
            edits: Outgoing::from(FIRST_EDIT),
            ..Self::default()
        }
    }

    /// The list has this number now.
    pub fn status(&mut self, number: u64) -> Option<Action> {
        (std::mem::replace(&mut self.number, number) != number).then(ask)
    }

    /// A file was saved: its lines may be elsewhere.
    pub fn saved(&self, path: &Path) -> Option<Action> {
        self.unseen.contains_key(path).then(ask)
    }

    /// Takes the new list.
    pub fn listed(&mut self, list: ChangesList) -> Vec<Action> {
        if list.problem.is_some() {
            return Vec::new();
        }
        let mut unseen = BTreeMap::new();
        for turn in list.turns {
            let agent = Proposer::display_name_of(&turn.agent);
            for change in turn.changes.into_iter().filter(|it| it.is_unseen) {
                // The newest turn comes first.
                let path = change.path.clone();
                unseen.entry(path).or_insert((agent.to_owned(), change));
            }
        }
        let former = std::mem::replace(&mut self.unseen, unseen);
        let gone = former
            .keys()
            .filter(|path| !self.unseen.contains_key(*path));
        let empty = gone.map(|path| publish(path, Vec::new()));
        let news = self
            .unseen
            .iter()
            .filter(|(path, it)| former.get(*path) != Some(it));
        let news = news.map(|(path, (agent, change))| publish(path, diagnostics(agent, change)));
        empty.chain(news).collect()
    }

    /// The code actions for these lines of a file. Where its hunks are in a text that `is_edited`, only the companion finds
    /// out.
    pub fn commands(&self, path: &Path, range: wire::Range, is_edited: bool) -> Vec<Value> {
        let Some((_, change)) = self.unseen.get(path) else {
            return Vec::new();
        };
        let (first, last) = (range.start.line, range.end.line.max(range.start.line));
        let touched = first as usize..last as usize + 1;
        let is_touched = |lines: &Range<usize>| {
            lines.start <= touched.end
                && touched.start <= lines.end
                && (lines.is_empty() || (lines.start < touched.end && touched.start < lines.end))
        };
        let command = |title: &str, command: &str, arguments: Value| {
            let title = format!("{title} ({})", change.id);
            json!({"title": title, "command": command, "arguments": arguments})
        };
        let (id, revision) = (&change.id, &change.revision);
        let mut commands = vec![command(
            "Keep what the agent wrote",
            KEEP,
            json!([id, revision]),
        )];
        let has_hunk =
            |it: &ListedHunk| !it.is_changed_since && (is_edited || is_touched(&it.lines));
        if change.hunks.iter().any(has_hunk) {
            let arguments = json!([id, revision, first, last]);
            commands.push(command("Take this hunk back", TAKE_BACK, arguments));
        }
        commands.push(command(
            "Take the file back",
            TAKE_BACK,
            json!([id, revision]),
        ));
        commands
    }

    /// Runs one of [`COMMANDS`]. `text` knows what is open.
    ///
    /// # Errors
    /// A sentence, if the arguments make no sense.
    pub fn execute<'a>(
        &mut self,
        request: RequestId,
        command: &str,
        arguments: &[Value],
        text: impl Fn(&Path) -> Option<&'a str>,
    ) -> Result<Action, String> {
        let word = |at: usize| match arguments.get(at) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(word)) => Ok(Some(word.clone())),
            Some(_) => Err("arguments: not the name of a change".to_owned()),
        };
        let line = |at: usize| arguments.get(at).and_then(Value::as_u64);
        let (id, revision) = (word(0)?, word(1)?);
        let said = |at: usize| match arguments.get(at) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::String(text)) => Ok(vec![Note::on_all(text)]),
            Some(_) => Err("arguments: the note is not a text".to_owned()),
        };
        if command == UNDO {
            return Ok(act_on(Some(request), ChangesAct::Undo(id)));
        }
        let id = Some(id.ok_or("arguments: no change is named")?);
        let lines = line(2).zip(line(3));
        let number = |line: u64| u32::try_from(line).unwrap_or(u32::MAX);
        let lines = lines.map(|(first, last)| Lines {
            first: number(first),
            last: number(last),
        });
        let paths = self.unseen.values().map(|(_, change)| &change.path);
        // Whether it is as on disk, this program does not know: the editor's undo is to work in either case.
        let buffers = paths.filter_map(|path| {
            Some(BufferText {
                path: path.clone(),
                content: text(path)?.to_owned(),
                is_modified: true,
            })
        });
        let buffers: Vec<_> = buffers.collect();
        let mut listed = self.unseen.values().map(|(_, change)| change);
        let own = listed.find(|it| Some(&it.id) == id.as_ref());
        let path = own.map(|it| it.path.clone());
        if command == KEEP {
            let act = ChangesAct::Keep(Meant {
                id,
                path,
                revision,
                buffers,
                notes: said(2)?,
                ..Meant::default()
            });
            return Ok(act_on(Some(request), act));
        }
        let notes = said(4)?;
        let is_open = { buffers.iter() }.any(|it| Some(&it.path) == path.as_ref());
        self.acting.insert(request.clone(), buffers.clone());
        let meant = Meant {
            id,
            // What is open and not saved has another one, and is merged with.
            revision: revision.filter(|_| !is_open),
            buffers,
            notes,
            ..Meant::default()
        };
        let act = ChangesAct::TakeBack(Part { meant, lines });
        Ok(act_on(Some(request), act))
    }

    /// Reports an outcome: the editor gets its edits, the person the sentence, and the request its answer.
    pub fn acted<'a>(
        &mut self,
        request: Option<RequestId>,
        done: ActDone,
        text: impl Fn(&Path) -> Option<&'a str>,
    ) -> Vec<Action> {
        let Some(request) = request else {
            return vec![ask()];
        };
        let sent = self.acting.remove(&request).unwrap_or_default();
        let mut actions = Vec::new();
        for edit in done.edits {
            let former = sent.iter().find(|it| it.path == edit.path);
            let former = former.filter(|it| text(&it.path) == Some(&it.content));
            match former {
                Some(former) => actions.push(self.apply(&former.content, &edit)),
                None => actions.extend([
                    show(
                        MessageType::Warning,
                        "the file was edited meanwhile: nothing was taken out of it",
                    ),
                    undo(&edit.id),
                ]),
            }
        }
        let kind = match done.done {
            true => MessageType::Info,
            false => MessageType::Warning,
        };
        actions.push(show(kind, &done.message));
        actions.push(ask());
        let answer = match done.done {
            true => Ok(Value::Null),
            false => Err(message::error(ErrorCode::RequestFailed, done.message)),
        };
        actions.push(Action::answer(request, answer));
        actions
    }

    /// The editor has answered a request of ours. None if it was not one of these.
    pub fn response(&mut self, response: &Response) -> Option<Vec<Action>> {
        let id = self.edits.answered(&response.id)?;
        let result = response.response_result.as_ref();
        if result.is_ok_and(|it| it["applied"] == true) {
            return Some(Vec::new());
        }
        Some(vec![
            show(
                MessageType::Warning,
                "the editor did not take the edit: nothing was taken back",
            ),
            undo(&id),
        ])
    }

    fn apply(&mut self, former: &str, edit: &BufferEdit) -> Action {
        let edits = text_edits(former, &edit.content, self.encoding);
        let params = json!({
            "label": format!("Take {} back", edit.id),
            "edit": {"changes": {uri::from_path(&edit.path): edits}},
        });
        let id = edit.id.clone();
        Action::Send(self.edits.ask("workspace/applyEdit", params, id))
    }
}

/// Has the list told: [`Done::Listed`].
pub fn ask() -> Action {
    Action::Ask(Asking::own(Changes, Done::Listed))
}

fn undo(id: &str) -> Action {
    act_on(None, ChangesAct::Undo(Some(id.to_owned())))
}

fn act_on(request: Option<RequestId>, act: ChangesAct) -> Action {
    Action::Ask(Asking::own(act, |done| Done::Acted { request, done }))
}

fn show(kind: MessageType, text: &str) -> Action {
    Action::show(kind, format!("Pillion: {text}"))
}

fn publish(path: &Path, diagnostics: Vec<Diagnostic>) -> Action {
    Action::Send(message::diagnostics(&uri::from_path(path), diagnostics))
}

fn diagnostics(agent: &str, change: &ListedChange) -> Vec<Diagnostic> {
    let hunks = change.hunks.iter().take(MAX_HUNKS).map(|hunk| {
        let what = match (hunk.lines.len(), hunk.removed) {
            (0, removed) => format!("removed {}", counted(removed, "line")),
            (added, 0) => format!("added {}", counted(added, "line")),
            (added, removed) => format!("put {} in place of {removed}", counted(added, "line")),
        };
        let place = |line: usize| Position {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            character: 0,
        };
        let agent = visible::one_line(agent);
        Diagnostic {
            range: LspRange {
                start: place(hunk.lines.start),
                end: place(hunk.lines.end),
            },
            severity: MessageType::Info as u8,
            source: Some("pillion".to_owned()),
            code: Some(change.id.as_str().into()),
            message: match hunk.is_changed_since {
                true => format!("{agent} has {what} here, which has changed since."),
                false => format!("{agent} has {what} here, and nobody has looked at it."),
            },
        }
    });
    hunks.collect()
}
