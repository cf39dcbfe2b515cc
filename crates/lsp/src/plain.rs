//! The plain profile: for language-server clients without a plugin. Context comes from what the client
//! opens, saves and asks about; proposals are files that it opens, with diagnostics and two code
//! actions. It shows nothing else and slows nothing down.

mod document;
mod files;
mod peers;
mod proposal;
mod proposals;
mod reads;
mod relay;
mod showing;
mod view;
mod viewer;
mod wire;

use std::path::{Path, PathBuf};
use std::time::Instant;

use gen_lsp_types::{
    CodeActionProvider, DocumentHighlightProvider, ExecuteCommandOptions, HoverProvider,
    MessageType, Save, SaveOptions, ServerCapabilities, SignatureHelpOptions, TextDocumentSync,
    TextDocumentSyncKind, TextDocumentSyncOptions,
};
use lsp_server::{Request, RequestId, Response};
use pillion_companion::{EditorEvent, now_ms};
use serde_json::{Value, json};

use crate::disk::Done;
use crate::link::{End, Event};
use crate::plain::files::Files;
use crate::plain::peers::Peers;
use crate::plain::proposal::{ACCEPT, REJECT};
use crate::plain::proposals::Proposals;
use crate::plain::relay::Relay;
use crate::plain::viewer::{Caller, Viewer};
use crate::plain::wire::{
    At, CodeAction, DidChange, DidClose, DidOpen, DidSave, Edits, ExecuteCommand, Opened,
};
use crate::position::Encoding;
use crate::profile::{self, Action, ClientProfile, Published};
use crate::quirks::Quirks;
use crate::{message, uri};

/// What the plain profile has to know from the beginning.
#[derive(Debug)]
pub struct Setup {
    /// How the client counts.
    pub encoding: Encoding,
    /// What is peculiar to the client.
    pub quirks: Quirks,
    /// The program that opens a file in the editor, if the editor cannot by itself.
    pub open_with: Option<String>,
    /// Where proposals lie, by each of their names.
    pub folders: Vec<PathBuf>,
    /// The editor's process.
    pub editor_pid: u32,
}

/// The profile of a client without a plugin.
#[derive(Debug)]
pub struct Plain {
    encoding: Encoding,
    quirks: Quirks,
    files: Files,
    proposals: Proposals,
    editor_pid: u32,
    /// The editors that have opened proposals of ours.
    peers: Peers,
    /// The proposals of others that our editor has opened.
    relay: Relay,
    /// What was reported already.
    warnings: Vec<String>,
}

impl Plain {
    /// A profile that has received nothing yet.
    pub fn new(setup: Setup) -> Self {
        let (encoding, quirks, editor_pid) = (setup.encoding, setup.quirks, setup.editor_pid);
        let hello = json!({
            "processId": editor_pid,
            "capabilities": {"general": {"positionEncodings": [encoding.kind()]}},
        });
        Self {
            encoding,
            quirks,
            editor_pid,
            peers: Peers::default(),
            relay: Relay::new(std::process::id(), hello),
            files: Files::new(encoding, quirks.has_block_cursor),
            proposals: Proposals::new(setup),
            warnings: Vec::new(),
        }
    }

    /// Edits count only in the order in which they were made, and of whole texts the newest does.
    fn sync_kind(&self) -> TextDocumentSyncKind {
        if self.quirks.mixes_up_edits {
            TextDocumentSyncKind::Full
        } else {
            TextDocumentSyncKind::Incremental
        }
    }

    fn notified(&mut self, method: &str, params: Value) -> Result<Vec<Action>, String> {
        match method {
            "textDocument/didOpen" => message::params(params).map(|params| self.did_open(params)),
            "textDocument/didChange" => {
                message::params(params).map(|params| self.did_change(params))
            }
            "textDocument/didSave" => message::params(params).map(|params| self.did_save(params)),
            "textDocument/didClose" => message::params(params).map(|params| self.did_close(params)),
            // What every client sends and nothing needs.
            _ => Ok(Vec::new()),
        }
    }

    fn did_open(&mut self, params: DidOpen) -> Vec<Action> {
        let Opened { uri, text } = params.text_document;
        match uri::to_path(&uri) {
            Some(path) if self.proposals.holds(&path) => {
                let own = self.proposals.own();
                self.proposals
                    .did_open(own, &path, uri, text, Instant::now())
            }
            Some(path) => {
                self.files.open(path, text, now_ms());
                self.report()
            }
            None => Vec::new(),
        }
    }

    fn did_change(&mut self, params: DidChange) -> Vec<Action> {
        let edits = Edits {
            version: params.text_document.version.as_i64(),
            changes: params.content_changes,
        };
        match uri::to_path(&params.text_document.uri) {
            Some(path) if self.proposals.holds(&path) => {
                self.proposals
                    .did_change(Viewer::Own, &path, edits, Instant::now());
                Vec::new()
            }
            Some(path) if self.files.change(&path, edits) => self.report(),
            _ => Vec::new(),
        }
    }

    fn did_save(&mut self, params: DidSave) -> Vec<Action> {
        match uri::to_path(&params.text_document.uri) {
            Some(path) if self.proposals.holds(&path) => {
                let now = Instant::now();
                self.proposals
                    .did_save(Viewer::Own, &path, params.text, now);
                Vec::new()
            }
            Some(path) => {
                self.files.save(&path, params.text, now_ms());
                self.report()
            }
            None => Vec::new(),
        }
    }

    fn did_close(&mut self, params: DidClose) -> Vec<Action> {
        match uri::to_path(&params.text_document.uri) {
            Some(path) if self.proposals.holds(&path) => {
                self.proposals.did_close(Viewer::Own, &path, Instant::now());
                Vec::new()
            }
            Some(path) => {
                self.files.close(&path);
                self.report()
            }
            None => Vec::new(),
        }
    }

    /// A place that the client asks about is where the cursor is. The answer is empty.
    fn at(&mut self, params: Value) -> Answered {
        let At {
            text_document,
            position,
        } = message::params(params)?;
        let actions = self.focus(&text_document, |files, path| {
            files.visit(path, position, now_ms());
        });
        Ok((Value::Null, actions))
    }

    fn code_action(&mut self, params: Value) -> Answered {
        let params: CodeAction = message::params(params)?;
        let has_no_place = self.quirks.asks_for_each_line;
        let actions = self.focus(&params.text_document, |files, path| {
            if !has_no_place {
                files.select(path, params.range, now_ms());
            }
        });
        let path = uri::to_path(&params.text_document.uri);
        let path = path.filter(|_| wants_commands(params.context.only));
        let commands = path.map_or(Vec::new(), |path| {
            self.proposals.commands(Viewer::Own, &path)
        });
        Ok((json!(commands), actions))
    }

    fn execute(&mut self, request: Request) -> Vec<Action> {
        let now = Instant::now();
        let is_any_pending = self.proposals.is_any_pending();
        let Request { id, params, .. } = match self.relay.command(request, is_any_pending, now) {
            Ok(actions) => return actions,
            Err(request) => request,
        };
        match message::params::<ExecuteCommand>(params) {
            Ok(ExecuteCommand { command, arguments }) => {
                let arguments = arguments.unwrap_or_default();
                let proposals = &mut self.proposals;
                proposals.execute(Caller::own(id), &command, &arguments, now)
            }
            Err(why) => answer(id, Err(why)),
        }
    }

    /// This document has the focus; `visit` gets it if it is a file.
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
            self.proposals.focus(Viewer::Own, &path);
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

/// Whether a client that wants code actions of these kinds gets ours. One that wants some kind, such as those
/// before a save, may run them unasked. The kind without a name is every kind.
fn wants_commands(only: Option<Vec<String>>) -> bool {
    only.is_none_or(|kinds| kinds.is_empty() || kinds.iter().any(String::is_empty))
}

/// The answer to a request, and what is to be done besides; or what is wrong with its parameters.
type Answered = Result<(Value, Vec<Action>), String>;

fn answer(id: RequestId, answered: Answered) -> Vec<Action> {
    let (result, actions) = match answered {
        Ok((value, actions)) => (Ok(value), actions),
        Err(why) => {
            let error = message::invalid(why);
            (Err(error), Vec::new())
        }
    };
    let answer = Action::Answer { id, result };
    [answer].into_iter().chain(actions).collect()
}

impl ClientProfile for Plain {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities {
            position_encoding: Some(self.encoding.kind()),
            text_document_sync: Some(TextDocumentSync::Options(TextDocumentSyncOptions {
                open_close: Some(true),
                change: Some(self.sync_kind()),
                save: Some(Save::SaveOptions(SaveOptions {
                    include_text: Some(true),
                })),
                ..TextDocumentSyncOptions::default()
            })),
            document_highlight_provider: Some(DocumentHighlightProvider::Bool(true)),
            hover_provider: Some(HoverProvider::Bool(true)),
            signature_help_provider: Some(SignatureHelpOptions::default()),
            code_action_provider: Some(CodeActionProvider::Bool(true)),
            execute_command_provider: Some(ExecuteCommandOptions {
                commands: vec![ACCEPT.to_owned(), REJECT.to_owned()],
                ..ExecuteCommandOptions::default()
            }),
            workspace: Some(profile::follows_roots()),
            ..ServerCapabilities::default()
        }
    }

    fn initialized(&mut self, _: &Published) -> Vec<Action> {
        Vec::new()
    }

    fn roots_changed(&mut self, _: &Published) -> Vec<Action> {
        Vec::new()
    }

    fn request(&mut self, request: Request) -> Vec<Action> {
        if let Some(path) = self.relay.document(&request.method, &request.params) {
            return self.relay.request(&path, request, Instant::now());
        }
        if request.method == "workspace/executeCommand" {
            return self.execute(request);
        }
        let Request { id, method, params } = request;
        match method.as_str() {
            "textDocument/documentHighlight"
            | "textDocument/hover"
            | "textDocument/signatureHelp" => answer(id, self.at(params)),
            "textDocument/codeAction" => answer(id, self.code_action(params)),
            _ => {
                let result = Err(message::unknown_method(&method));
                vec![Action::Answer { id, result }]
            }
        }
    }

    fn notification(&mut self, method: &str, params: Value) -> Vec<Action> {
        if let Some(path) = self.relay.document(method, &params) {
            return self
                .relay
                .notification(path, method, params, Instant::now());
        }
        self.notified(method, params)
            .unwrap_or_else(|why| vec![Action::Send(message::ignored(method, &why))])
    }

    fn response(&mut self, response: Response) -> Vec<Action> {
        self.proposals.response(response, Instant::now())
    }

    fn event(&mut self, event: EditorEvent) -> Vec<Action> {
        match event {
            EditorEvent::Open(diff, shown) => self.proposals.open(diff, shown),
            EditorEvent::Close(id, reason, closed) => {
                self.proposals.close(id, reason, closed, Instant::now())
            }
            EditorEvent::Diagnostics(_, found) => {
                found.done(Vec::new());
                Vec::new()
            }
            EditorEvent::Status(status) => self.warn(status.warnings),
            EditorEvent::Lost(_) | EditorEvent::Stopped => Vec::new(),
        }
    }

    fn done(&mut self, done: Done) -> Vec<Action> {
        self.proposals.done(done, Instant::now())
    }

    fn link(&mut self, end: End, event: Event) -> Vec<Action> {
        match end {
            End::Owner(number) => self.relay.event(number, event),
            End::Peer(number) => self.peer(number, event, Instant::now()),
        }
    }

    fn is_relaying(&self) -> bool {
        self.relay.is_in_use()
    }

    fn is_deciding(&self) -> bool {
        self.proposals.is_deciding()
    }

    fn due(&self) -> Option<Instant> {
        self.proposals
            .due()
            .into_iter()
            .chain(self.relay.due())
            .min()
    }

    fn elapse(&mut self, now: Instant) -> Vec<Action> {
        let mut actions = self.proposals.elapse(now);
        actions.extend(self.relay.elapse(now));
        actions
    }
}
