//! One connection to the small companion: a request, and what it is answered with.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, unbounded};
use serde_json::{Value, json};

use super::companion::{Session, Shared, View};
use crate::lock_files::takes;
use crate::wire::{Reading, Request};

type Asked = Request<UnixStream>;

/// The longest head that is read, and the longest body without a token.
const MAX_HEAD: usize = 64 << 10;
const LONG_BODY: usize = 100_000;

/// More is too much for a companion that takes no large messages.
const MEGABYTE: usize = 1 << 20;

/// The interval between looks whether a caller is gone.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);
const SHORT_LIFE: Duration = Duration::from_millis(1_500);

const SESSION: &str = "mcp-session-id";

impl Shared {
    /// Serves a connection to its end.
    pub fn connected(self: &Arc<Self>, stream: UnixStream) -> io::Result<()> {
        let reading = Reading {
            head: if self.breaks("P3-head") {
                usize::MAX
            } else {
                MAX_HEAD
            },
            wants_body: match self.flaw {
                "P3-body" => |_| true,
                _ => {
                    |request: &Asked| request.header("authorization").is_some() || !is_long(request)
                }
            },
            chunks: !self.breaks("P2-chunked"),
        };
        let request = Request::read_as(stream, &reading)?;
        if let Err((status, body)) = self.checked(&request) {
            if self.breaks("none/hangs-up") {
                return Ok(());
            }
            return request.answer(status, "", &body);
        }
        if request.path != "/mcp" {
            return request.answer(404, "", "");
        }
        match request.method.as_str() {
            "POST" => self.posted(request),
            "GET" => self.streamed(request),
            "DELETE" => self.ended(request),
            _ => request.answer(405, "", ""),
        }
    }

    /// Checks that a request is let in.
    fn checked(&self, request: &Asked) -> Result<(), (u16, String)> {
        let refuse = |status: u16| Err((status, String::new()));
        let is_known = match request.header("host").unwrap_or_default() {
            "localhost" => true,
            other => {
                self.breaks("P3-host")
                    || self.breaks("P3-host/prefix") && other.starts_with("localhost")
            }
        };
        let origin = request.header("origin").filter(|origin| match self.flaw {
            "P3-origin" => false,
            "P3-origin/null" => *origin != "null",
            _ => true,
        });
        if origin.is_some() || !is_known {
            return refuse(403);
        }
        if !self.has_token(request) {
            let body = match self.flaw {
                "P3-none/tells" if is_bare(request) => self.token,
                _ => "",
            };
            return Err((401, body.to_owned()));
        }
        if request.body.len() > MEGABYTE && self.breaks("P5-large") {
            return refuse(413);
        }
        Ok(())
    }

    fn has_token(&self, request: &Asked) -> bool {
        let (token, is_in_session) = (self.token, request.header(SESSION).is_some());
        let sent = request.header("authorization");
        let Some(sent) = sent.filter(|sent| *sent != "Nonce") else {
            let is_plain = request.query.is_empty() && !is_long(request);
            return match self.flaw {
                "P3-query" => request.query.contains(&format!("={token}")),
                "P3-none" => is_plain && request.method == "POST" && !is_in_session,
                "P3-session" => is_plain && request.method == "POST" && is_in_session,
                "P3-get" => is_plain && request.method == "GET",
                "P3-delete" => is_plain && request.method == "DELETE",
                "P1-headers" | "P1-headers/number" | "P1-token" | "P1-token/empty" => is_plain,
                _ => false,
            };
        };
        let Some(sent) = sent.strip_prefix("Nonce ") else {
            let (word, scheme) = (sent == token, sent.strip_prefix("Basic ") == Some(token));
            return self.breaks("P3-scheme") && word || self.breaks("P3-scheme/basic") && scheme;
        };
        let way = self.flaw.strip_prefix("P3-").unwrap_or_default();
        takes(token, sent, way)
    }

    fn posted(self: &Arc<Self>, request: Asked) -> io::Result<()> {
        let Ok(message) = serde_json::from_slice::<Value>(&request.body) else {
            let status = if self.breaks("P2-bad-json") { 200 } else { 400 };
            return request.answer(status, "", "");
        };
        let (id, method) = (
            &message["id"],
            message["method"].as_str().unwrap_or_default(),
        );
        let Some(session) = request.header(SESSION).map(str::to_owned) else {
            return self.opened(request, id, method, &message["params"]);
        };
        let is_known = self.state().sessions.contains_key(&session);
        let is_served = self.breaks("P2-unknown-session") && !session.starts_with("session");
        if !is_known && !is_served {
            return request.answer(404, "", "");
        }
        if id.is_null() {
            let status = if self.breaks("P2-notification") {
                200
            } else {
                202
            };
            return request.answer(status, "", "");
        }
        match self.asked(&session, id, method, &message["params"]) {
            Ok(reply) => self.reply(request, &reply),
            Err((tab, decision)) => self.waits(request, id, &session, &tab, &decision),
        }
    }

    fn reply(&self, request: Asked, reply: &Value) -> io::Result<()> {
        match self.breaks("none/json") {
            true => request.json("", &reply.to_string()),
            false => request.event(&reply.to_string()),
        }
    }

    /// A call that waits for the person.
    fn waits(
        &self,
        mut request: Asked,
        id: &Value,
        session: &str,
        tab: &str,
        decision: &Receiver<Value>,
    ) -> io::Result<()> {
        request.stream.set_read_timeout(Some(LOOK_INTERVAL))?;
        loop {
            match decision.recv_timeout(LOOK_INTERVAL) {
                Ok(result) => {
                    let reply = json!({"jsonrpc": "2.0", "id": id, "result": result});
                    return self.reply(request, &reply);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            if matches!(request.stream.read(&mut [0]), Ok(0)) {
                let is_its = |view: &View| view.session == session && view.tab == tab;
                // It may have been closed just now.
                let is_open = self.state().views.iter().any(is_its);
                if is_open && !self.breaks("P5-lost") {
                    self.gone(is_its);
                }
                return Ok(());
            }
        }
    }

    /// Handles a request without a session.
    fn opened(&self, request: Asked, id: &Value, method: &str, params: &Value) -> io::Result<()> {
        if method != "initialize" {
            let code = if self.breaks("P2-discover/error") {
                -32600
            } else {
                -32601
            };
            let error = json!({"code": code, "message": "no such method"});
            let reply = json!({"jsonrpc": "2.0", "id": id, "error": error});
            return match self.flaw {
                "P2-discover" => request.answer(400, "", &reply.to_string()),
                _ => self.reply(request, &reply),
            };
        }
        let has_other = self.state().sessions.values().any(|it| it.stream.is_some());
        if has_other && self.breaks("P8-two") {
            return request.answer(429, "", "");
        }
        let asked = params["protocolVersion"].as_str().unwrap_or_default();
        let version = match (self.flaw, asked) {
            ("P2-version", _) => asked,
            ("P2-agents-version", "2025-06-18" | "2025-11-25") => "2026-01-01",
            (_, "2025-06-18") => "2025-06-18",
            _ => "2025-11-25",
        };
        let mut result = json!({
            "protocolVersion": version, "capabilities": {"tools": {}},
            "serverInfo": {"name": "small", "version": "1"},
        });
        if self.breaks("P2-initialize") {
            result.as_object_mut().unwrap().remove("serverInfo");
        }
        let session = {
            let mut state = self.state();
            state.last_session += 1;
            let blank = if self.breaks("P2-session") { " " } else { "-" };
            let session = format!("session{blank}{}", state.last_session);
            state.sessions.insert(session.clone(), Session::default());
            session
        };
        let reply = json!({"jsonrpc": "2.0", "id": id, "result": result});
        request.json(&format!("{SESSION}: {session}\r\n"), &reply.to_string())
    }

    fn streamed(self: &Arc<Self>, request: Asked) -> io::Result<()> {
        if self.breaks("P2-stream") {
            return request.answer(405, "", "");
        }
        let session = request.header(SESSION).unwrap_or_default().to_owned();
        let (sender, events) = unbounded();
        let is_first = {
            let mut state = self.state();
            let is_first = state.sessions.values().all(|it| it.stream.is_none());
            match state.sessions.get_mut(&session) {
                Some(known) => known.stream = Some(sender),
                None => return request.answer(404, "", ""),
            }
            is_first
        };
        let mut stream = request.begin_stream("text/event-stream")?;
        if !self.breaks("P7-start") && (is_first || !self.breaks("P8-selection")) {
            self.show(&session);
        }
        let started = Instant::now();
        let ended = loop {
            if self.breaks("P2-stream-stays") && started.elapsed() > SHORT_LIFE {
                break Ok(());
            }
            let sent = match events.recv_timeout(LOOK_INTERVAL) {
                Ok(event) => stream.write_all(event.as_bytes()),
                // A comment, to see whether anybody reads.
                Err(RecvTimeoutError::Timeout) => stream.write_all(b":\n\n"),
                Err(RecvTimeoutError::Disconnected) => break Ok(()),
            };
            if sent.is_err() {
                break sent;
            }
        };
        if let Some(known) = self.state().sessions.get_mut(&session) {
            known.stream = None;
        }
        ended
    }

    fn ended(&self, request: Asked) -> io::Result<()> {
        let session = request.header(SESSION).unwrap_or_default().to_owned();
        if !self.breaks("P2-delete") {
            self.state().sessions.remove(&session);
        }
        self.gone(|view| view.session == session);
        request.answer(202, "", "")
    }

    /// Pushes a notification to a session.
    pub fn push(&self, session: &str, message: &Value) {
        let state = self.state();
        let known = state.sessions.get(session);
        if let Some(stream) = known.and_then(|it| it.stream.as_ref()) {
            let id = if self.breaks("P9-events") {
                "id: 7\n"
            } else {
                ""
            };
            let _ = stream.send(format!("{id}data: {message}\n\n"));
        }
    }
}

/// A first request without anything that could be taken for a token.
fn is_bare(request: &Asked) -> bool {
    let is_first = request.header(SESSION).is_none() && request.query.is_empty();
    is_first && request.header("authorization").is_none()
}

/// A body that is not read for everybody.
fn is_long(request: &Asked) -> bool {
    let length = request.header("content-length").map(str::parse);
    matches!(length, Some(Ok(LONG_BODY..)))
}
