//! Editors whose `pillion lsp` relays to us: they see and decide proposals of ours, and nothing else. What
//! they send about other documents is ignored.

use std::collections::HashMap;
use std::time::Instant;

use lsp_server::{Message, Notification, Request};
use serde_json::json;

use super::Plain;
use crate::handshake::InitializeParams;
use crate::link::{End, Event};
use crate::message;
use crate::plain::viewer::{Caller, Seat, Viewer};
use crate::profile::Action;

/// The editors that have identified themselves, by the numbers of their connections.
pub type Peers = HashMap<u32, Seat>;

impl Plain {
    /// Something happened to one of them.
    pub(super) fn peer(&mut self, number: u32, event: Event, now: Instant) -> Vec<Action> {
        match (event, self.peers.get(&number).copied()) {
            (Event::Opened(_), _) => Vec::new(),
            (Event::Closed(_), _) => {
                self.peers.remove(&number);
                self.proposals.left(Viewer::Peer(number), now);
                Vec::new()
            }
            (Event::Message(message), Some(seat)) => self.peer_message(seat, message),
            (Event::Message(Message::Request(request)), None) if request.method == "initialize" => {
                self.join(number, request)
            }
            (Event::Message(_), None) => vec![Action::HangUp(End::Peer(number))],
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
        self.peers.insert(number, seat);
        vec![caller.answer(Ok(json!({"capabilities": {}})))]
    }

    fn peer_message(&mut self, seat: Seat, message: Message) -> Vec<Action> {
        match message {
            Message::Request(Request { id, method, params }) => {
                let viewer = seat.viewer;
                self.asked(Caller { viewer, id }, &method, params)
            }
            Message::Notification(Notification { method, params }) => {
                let actions = self.notified(seat, &method, params);
                actions.unwrap_or_else(|why| {
                    tracing::warn!(method, why, "ignored a message from another editor");
                    Vec::new()
                })
            }
            // Nothing was asked.
            Message::Response(_) => Vec::new(),
        }
    }
}
