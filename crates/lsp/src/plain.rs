//! The plain profile: for language-server clients without a plugin. Context comes from what the client
//! opens, saves and asks about; proposals are files that it opens, with diagnostics and two code
//! actions. It shows nothing else and slows nothing down.

mod document;
mod files;
mod proposal;
mod proposals;
mod reads;
mod showing;
mod view;
mod wire;
mod written;

use std::path::{Path, PathBuf};
use std::time::Instant;

use lsp_server::{ErrorCode, Request, RequestId, Response, ResponseError};
use pillion_system::now_ms;
use pillion_view::ask::Refused;
use pillion_view::{Choice, Chosen, DiffId, EditorEvent, Phrase, Tell, TurnNews};
use serde_json::{Value, json};

use crate::asking::Asking;
use crate::disk::Done;
use crate::message::{self, MessageType};
use crate::plain::files::Files;
use crate::plain::proposal::{ACCEPT, BRING_BACK, REJECT};
use crate::plain::proposals::Proposals;
use crate::plain::wire::{At, CodeAction, DocumentEvent, ExecuteCommand};
use crate::plain::written::Written;
use crate::position::Encoding;
use crate::profile::{Action, ClientProfile, Published};
use crate::quirks::Quirks;
use crate::uri;

/// The command by which the person chooses when agents ask before they change files.
const REVIEW: &str = "pillion.review";

/// The command by which the person sends the notes that wait for agents.
const SEND_NOTES: &str = "pillion.sendNotes";

/// The ways in which a client can tell what a document became.
const WHOLE: u8 = 1;
const INCREMENTAL: u8 = 2;

/// The plain profile's setup, known from the beginning.
#[derive(Debug)]
pub struct Setup {
    pub encoding: Encoding,
    pub quirks: Quirks,
    /// The program that opens a file in the editor, if the editor cannot by itself.
    pub open_with: Option<String>,
    /// The folders of proposals, by each of their names.
    pub folders: Vec<PathBuf>,
}

/// The profile of a client without a plugin.
#[derive(Debug)]
pub struct Plain {
    encoding: Encoding,
    quirks: Quirks,
    files: Files,
    proposals: Proposals,
    written: Written,
    /// The warnings that were reported already.
    warnings: Vec<String>,
    /// The files that agents were said to have changed without asking.
    unasked: Vec<String>,
    turn_news: TurnNews,
    /// The last decision, as it was reported.
    decided: Option<Phrase>,
    /// What a person is told who quits now.
    at_quit: Option<String>,
}

impl Plain {
    /// A profile that has received nothing yet.
    pub fn new(setup: Setup) -> Self {
        let (encoding, quirks) = (setup.encoding, setup.quirks);
        Self {
            encoding,
            quirks,
            files: Files::new(encoding, quirks.has_block_cursor),
            proposals: Proposals::new(setup),
            written: Written::new(encoding),
            warnings: Vec::new(),
            unasked: Vec::new(),
            turn_news: TurnNews::default(),
            decided: None,
            at_quit: None,
        }
    }

    fn notified(&mut self, method: &str, params: Value) -> Result<Vec<Action>, String> {
        let Some((path, event)) = wire::document_event(method, params)? else {
            return Ok(Vec::new());
        };
        let is_edit = matches!(event, DocumentEvent::Changed(_));
        if self.proposals.holds(&path) {
            let now = Instant::now();
            if is_edit {
                self.proposals.typed(now);
            }
            return Ok(self.proposals.document_event(&path, event, now));
        }
        let now = now_ms();
        let is_saved = match event {
            DocumentEvent::Saved(_) => Some(true),
            // The editor has read the file anew, or the person begins to change what it has read.
            DocumentEvent::Changed(_) if self.files.may_be_read(&path, now) => Some(false),
            DocumentEvent::Changed(_) => {
                self.proposals.typed(Instant::now());
                None
            }
            _ => None,
        };
        let synced = is_saved.map(|is_saved| {
            let path = path.clone();
            Action::Tell(Tell::Synced { path, is_saved })
        });
        let written = (is_saved == Some(true))
            .then(|| self.written.saved(&path))
            .flatten();
        let is_news = self.files.document_event(path, event, now);
        let reported = if is_news { self.report() } else { Vec::new() };
        Ok(synced.into_iter().chain(reported).chain(written).collect())
    }

    /// A place that the editor asks about is where the cursor is. The answer is empty.
    fn at(&mut self, id: RequestId, params: Value) -> Result<Vec<Action>, String> {
        let params: At = message::params(params)?;
        let answer = Action::answer(id, Ok(Value::Null));
        let actions = self.focus(&params.text_document, |files, path| {
            files.visit(path, params.position, now_ms());
        });
        Ok([answer].into_iter().chain(actions).collect())
    }

    fn code_action(&mut self, id: RequestId, params: Value) -> Result<Vec<Action>, String> {
        let params: CodeAction = message::params(params)?;
        let has_no_place = self.quirks.asks_for_each_line;
        let actions = self.focus(&params.text_document, |files, path| {
            if !has_no_place {
                files.select(path, params.range, now_ms());
            }
        });
        let path = uri::to_path(&params.text_document.uri);
        let path = path.filter(|_| wants_commands(params.context.only));
        let answer = match path {
            Some(path) => {
                let others = {
                    let is_edited = self.files.is_edited(&path);
                    self.written.commands(&path, params.range, is_edited)
                };
                self.proposals.ask_commands(&path, id, others)
            }
            None => Some(Action::answer(id, Ok(json!([])))),
        };
        Ok(answer.into_iter().chain(actions).collect())
    }

    /// This document has the focus; `visit` gets it if it is no proposal.
    fn focus(
        &mut self,
        document: &wire::Identifier,
        visit: impl FnOnce(&mut Files, &Path),
    ) -> Vec<Action> {
        let Some(path) = uri::to_path(&document.uri) else {
            return Vec::new();
        };
        // A proposal keeps the last file active.
        if self.proposals.holds(&path) {
            self.proposals.focus(&path);
            return Vec::new();
        }
        visit(&mut self.files, &path);
        self.report()
    }

    /// Whatever keeps agents away belongs into the editor's log.
    fn warn(&mut self, warnings: Vec<String>) -> Vec<Action> {
        let known = std::mem::replace(&mut self.warnings, warnings);
        let news = self
            .warnings
            .iter()
            .filter(|warning| !known.contains(warning));
        news.map(|warning| Action::Send(message::log(MessageType::Warning, warning)))
            .collect()
    }

    fn report(&self) -> Vec<Action> {
        vec![Action::ReportContext {
            files: self.files.report(),
            is_trusted: None,
        }]
    }
}

/// The person chooses something for all agents, by the word that is the first argument if there is one.
fn choose(request: RequestId, command: &str, arguments: &[Value]) -> Action {
    let word = arguments.first().map(|word| {
        let word = word.as_str();
        word.ok_or_else(|| "arguments: not a word".to_owned())
    });
    let choice = word.transpose();
    match choice.and_then(|word| Choice::named(command, word)) {
        Ok(choice) => Action::Ask(Asking::choice(request, choice, chosen)),
        Err(why) => Action::invalid(request, why),
    }
}

fn chosen(chosen: Result<Chosen, Refused>) -> Result<Value, ResponseError> {
    let chosen = chosen.unwrap_or_else(Chosen::from);
    match chosen.done {
        true => Ok(chosen.message.into()),
        false => Err(message::error(ErrorCode::RequestFailed, chosen.message)),
    }
}

/// Returns true if a client that wants code actions of these kinds gets ours. One that wants some kind, such
/// as those before a save, may run them unasked. The kind without a name is every kind.
fn wants_commands(only: Option<Vec<String>>) -> bool {
    only.is_none_or(|kinds| kinds.is_empty() || kinds.iter().any(String::is_empty))
}

impl ClientProfile for Plain {
    fn capabilities(&self) -> Value {
        let own = [ACCEPT, REJECT, BRING_BACK, REVIEW, SEND_NOTES];
        let commands = [&own[..], &written::COMMANDS].concat();
        json!({
            "positionEncoding": self.encoding.name(),
            "textDocumentSync": {
                "openClose": true,
                // Edits count only in the order in which they were made, and of whole texts the newest does.
                "change": if self.quirks.mixes_up_edits { WHOLE } else { INCREMENTAL },
                "save": {"includeText": true},
            },
            "documentHighlightProvider": true,
            "hoverProvider": true,
            "signatureHelpProvider": {},
            "codeActionProvider": true,
            "executeCommandProvider": {"commands": commands},
        })
    }

    fn initialized(&mut self, _published: &Published) -> Vec<Action> {
        vec![written::ask()]
    }

    fn request(&mut self, Request { id, method, params }: Request) -> Vec<Action> {
        let handled = match method.as_str() {
            "workspace/executeCommand" => message::params(params).map(|params| {
                let ExecuteCommand { command, arguments } = params;
                let (arguments, now) = (arguments.unwrap_or_default(), Instant::now());
                if [REVIEW, SEND_NOTES].contains(&&*command) {
                    return vec![choose(id.clone(), &command, &arguments)];
                }
                if written::COMMANDS.contains(&&*command) {
                    let text = |path: &Path| self.files.text(path);
                    let act = self.written.execute(id.clone(), &command, &arguments, text);
                    return vec![act.unwrap_or_else(|why| Action::invalid(id.clone(), why))];
                }
                self.proposals
                    .execute(id.clone(), &command, &arguments, now)
            }),
            "textDocument/documentHighlight"
            | "textDocument/hover"
            | "textDocument/signatureHelp" => self.at(id.clone(), params),
            "textDocument/codeAction" => self.code_action(id.clone(), params),
            _ => {
                let unknown = Err(message::unknown_method(&method));
                return vec![Action::answer(id, unknown)];
            }
        };
        handled.unwrap_or_else(|why| vec![Action::invalid(id, why)])
    }

    fn notification(&mut self, method: &str, params: Value) -> Vec<Action> {
        self.notified(method, params)
            .unwrap_or_else(|why| vec![Action::Send(message::ignored(method, &why))])
    }

    fn response(&mut self, response: Response) -> Vec<Action> {
        match self.written.response(&response) {
            Some(actions) => actions,
            None => self.proposals.response(response, Instant::now()),
        }
    }

    fn event(&mut self, event: EditorEvent) -> Vec<Action> {
        let now = Instant::now();
        match event {
            EditorEvent::Open(diff, shown) => self.proposals.open(diff, shown, now),
            EditorEvent::Close(id, reason, closed) => self.proposals.close(id, reason, closed, now),
            EditorEvent::Text(key, told) => self.proposals.tell(key, told, now),
            EditorEvent::Shared(key) => {
                self.proposals.shared(key, now);
                Vec::new()
            }
            EditorEvent::Status(status) => {
                let ended = self.turn_news.of(&status);
                self.at_quit = status.waiting_at_quit();
                let mut actions = self.warn(status.warnings);
                actions.extend(self.written.status(status.changes));
                let known = std::mem::replace(&mut self.unasked, status.unasked);
                let news = self.unasked.iter().filter(|it| !known.contains(it));
                actions.extend(news.map(|it| Action::show(MessageType::Warning, it)));
                actions.extend(ended.map(|it| Action::show(MessageType::Info, it)));
                // What was not written has a message of its own.
                let known = std::mem::replace(&mut self.decided, status.decided);
                let written = self.decided.iter().filter(|it| it.is_written);
                let news = written.filter(|it| known.as_ref() != Some(*it));
                actions.extend(news.map(|it| Action::show(MessageType::Info, &it.text)));
                actions
            }
            EditorEvent::Draft(key, text) => self.proposals.offer(key, text),
            // Dropping a request for diagnostics answers that there are none.
            EditorEvent::Diagnostics(..)
            | EditorEvent::Notes(..)
            | EditorEvent::Lost(_)
            | EditorEvent::Moved(_)
            | EditorEvent::Stopped => Vec::new(),
        }
    }

    fn done(&mut self, done: Done) -> Vec<Action> {
        match done {
            Done::Listed(list) => self.written.listed(list),
            Done::Acted { request, done } => {
                let text = |path: &Path| self.files.text(path);
                self.written.acted(request, done, text)
            }
            done => self.proposals.done(done, Instant::now()),
        }
    }

    fn joined(&mut self, guest: DiffId, joined: Result<bool, String>) -> Vec<Action> {
        self.proposals.joined(guest, joined)
    }

    fn guest_left(&mut self, guest: DiffId) -> Vec<Action> {
        self.proposals.guest_left(guest)
    }

    fn has_guests(&self) -> bool {
        self.proposals.has_guests()
    }

    fn finish(&mut self) -> Vec<Action> {
        let mut actions = self.proposals.finish();
        let told = self.at_quit.take();
        actions.extend(told.map(|it| Action::show(MessageType::Info, it)));
        actions
    }

    fn is_deciding(&self) -> bool {
        self.proposals.is_deciding()
    }

    fn due(&self) -> Option<Instant> {
        self.proposals.due()
    }

    fn elapse(&mut self, now: Instant) -> Vec<Action> {
        self.proposals.elapse(now)
    }
}
