//! Editors whose `pillion lsp` relays to us: they see and decide proposals of ours, and nothing else. What
//! they send about other documents is ignored.

use std::collections::HashMap;
use std::time::Instant;

use lsp_server::{Message, Notification, Request};
use serde_json::{Value, json};

use super::wire::{
    At, CodeAction, DidChange, DidClose, DidOpen, DidSave, Edits, ExecuteCommand, Opened,
};
use super::{Plain, wants_commands};
use crate::handshake::InitializeParams;
use crate::link::{End, Event};
use crate::plain::viewer::{Caller, Seat, Viewer};
use crate::profile::Action;
use crate::{message, uri};

/// The editors that are connected: nothing, before one has identified itself.
pub type Peers = HashMap<u32, Option<Seat>>;

impl Plain {
    /// Something happened to one of them.
    pub(super) fn peer(&mut self, number: u32, event: Event, now: Instant) -> Vec<Action> {
        let end = End::Peer(number);
        match (event, self.peers.get(&number).copied()) {
            (Event::Opened(_), _) => {
                self.peers.insert(number, None);
                Vec::new()
            }
            (Event::Closed(_), _) => {
                self.peers.remove(&number);
                self.proposals.left(Viewer::Peer(number), now);
                Vec::new()
            }
            (Event::Message(message), Some(Some(seat))) => self.peer_message(seat, message, now),
            (Event::Message(Message::Request(request)), Some(None))
                if request.method == "initialize" =>
            {
                self.join(number, request)
            }
            (Event::Message(_), _) => vec![Action::HangUp(end)],
        }
    }

    fn join(&mut self, number: u32, request: Request) -> Vec<Action> {
        let viewer = Viewer::Peer(number);
        let caller = Caller {
            viewer,
            id: request.id,
        };
        let params: InitializeParams = match message::params(request.params) {
            Ok(params) => params,
            Err(why) => return vec![caller.answer(Err(message::invalid(why)))],
        };
        let seat = Seat {
            viewer,
            encoding: params.encoding(),
            is_same_editor: params.editor_pid() == self.editor_pid,
        };
        self.peers.insert(number, Some(seat));
        vec![caller.answer(Ok(json!({"capabilities": {}})))]
    }

    fn peer_message(&mut self, seat: Seat, message: Message, now: Instant) -> Vec<Action> {
        match message {
            Message::Request(request) => self.peer_asks(seat.viewer, request, now),
            Message::Notification(Notification { method, params }) => {
                let actions = self.peer_notification(seat, &method, params, now);
                actions.unwrap_or_else(|why| {
                    tracing::warn!(method, why, "ignored a message from another editor");
                    Vec::new()
                })
            }
            // Nothing was asked.
            Message::Response(_) => Vec::new(),
        }
    }

    fn peer_notification(
        &mut self,
        seat: Seat,
        method: &str,
        params: Value,
        now: Instant,
    ) -> Result<Vec<Action>, String> {
        let (viewer, proposals) = (seat.viewer, &mut self.proposals);
        match method {
            "textDocument/didOpen" => {
                let DidOpen { text_document } = message::params(params)?;
                let Opened { uri, text } = text_document;
                if let Some(path) = uri::to_path(&uri) {
                    return Ok(proposals.did_open(seat, &path, uri, text, now));
                }
            }
            "textDocument/didChange" => {
                let DidChange {
                    text_document,
                    content_changes: changes,
                } = message::params(params)?;
                let version = text_document.version.as_i64();
                if let Some(path) = uri::to_path(&text_document.uri) {
                    proposals.did_change(viewer, &path, Edits { version, changes }, now);
                }
            }
            "textDocument/didSave" => {
                let DidSave {
                    text_document,
                    text,
                } = message::params(params)?;
                if let Some(path) = uri::to_path(&text_document.uri) {
                    proposals.did_save(viewer, &path, text, now);
                }
            }
            "textDocument/didClose" => {
                let DidClose { text_document } = message::params(params)?;
                if let Some(path) = uri::to_path(&text_document.uri) {
                    proposals.did_close(viewer, &path, now);
                }
            }
            _ => {}
        }
        Ok(Vec::new())
    }

    fn peer_asks(&mut self, viewer: Viewer, request: Request, now: Instant) -> Vec<Action> {
        let Request { id, method, params } = request;
        let caller = Caller { viewer, id };
        let result = match method.as_str() {
            "workspace/executeCommand" => match message::params(params) {
                Ok(ExecuteCommand { command, arguments }) => {
                    let arguments = arguments.unwrap_or_default();
                    return self.proposals.execute(caller, &command, &arguments, now);
                }
                Err(why) => Err(why),
            },
            "textDocument/codeAction" => message::params(params).map(|params: CodeAction| {
                let path = uri::to_path(&params.text_document.uri);
                let commands = path.map(|path| {
                    self.proposals.focus(viewer, &path);
                    self.proposals.commands(viewer, &path)
                });
                let commands = commands.filter(|_| wants_commands(params.context.only));
                json!(commands.unwrap_or_default())
            }),
            "textDocument/documentHighlight"
            | "textDocument/hover"
            | "textDocument/signatureHelp" => message::params(params).map(|params: At| {
                if let Some(path) = uri::to_path(&params.text_document.uri) {
                    self.proposals.focus(viewer, &path);
                }
                Value::Null
            }),
            _ => return vec![caller.answer(Err(message::unknown_method(&method)))],
        };
        vec![caller.answer(result.map_err(message::invalid))]
    }
}
