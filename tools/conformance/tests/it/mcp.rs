//! MCP as the small companion speaks it.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{RecvTimeoutError, unbounded};
use serde_json::{Value, json};

use crate::companion::{Session, Shared};
use crate::wire::Request;

const SIGN_OF_LIFE: Duration = Duration::from_millis(50);
/// Longer than anybody waits.
const HANGS: Duration = Duration::from_secs(60);
const SHORT_LIFE: Duration = Duration::from_millis(1_500);

/// Counts a stream as long as it is open.
struct OpenStream<'a>(&'a AtomicU32);

impl<'a> OpenStream<'a> {
    fn new(streams: &'a AtomicU32) -> Self {
        streams.fetch_add(1, Ordering::SeqCst);
        Self(streams)
    }
}

impl Drop for OpenStream<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Shared {
    pub fn handle(self: &Arc<Self>, request: Request) -> io::Result<()> {
        if !self.admits_host(&request) {
            return self.refuse(request, 403);
        }
        if !self.admits_token(&request) {
            return self.refuse(request, 401);
        }
        if request.path != "/mcp" && self.breaks("none/hangs-up-elsewhere") {
            return Ok(());
        }
        if request.path != "/mcp" && !self.breaks("C1.2-endpoint") {
            return request.answer(404, "", "");
        }
        match request.method.as_str() {
            "POST" => self.post(request),
            "GET" => self.get(request),
            "DELETE" => self.delete(request),
            _ => request.answer(405, "", ""),
        }
    }

    /// The contract names no status.
    fn refuse(&self, request: Request, status: u16) -> io::Result<()> {
        let is_plain = request.method == "POST"
            && request.header("mcp-session-id").is_none()
            && request.header("authorization").is_none()
            && request.query.is_empty();
        match self.flaw {
            "none/hangs-up" => Ok(()),
            "none/not-found" => request.answer(404, "", ""),
            "none/in-words" if request.method == "POST" => {
                let error = json!({"code": -32001, "message": "no"});
                let answer = json!({"jsonrpc": "2.0", "id": null, "error": error});
                request.json("", &answer.to_string())
            }
            "C3.3-post-none/tells" if is_plain => request.answer(401, "", &self.token),
            _ => request.answer(status, "", ""),
        }
    }

    fn admits_host(&self, request: &Request) -> bool {
        let own = |name: &str| Some(format!("{name}:{}", self.port));
        let host = request.header("host").map(str::to_owned);
        let is_host = host == own("127.0.0.1")
            || host == own("localhost") && !self.breaks("C1.1-host-localhost")
            || host == own("host.docker.internal") && !self.breaks("C1.1-host-docker")
            || self.breaks("C1.1-host-foreign")
            || self.breaks("C1.1-host-foreign/prefix")
                && host.is_some_and(|host| host.starts_with("127.0.0.1"));
        let is_origin = match request.header("origin") {
            None => true,
            Some("null") => self.breaks("C1.1-origin-null"),
            Some(_) if self.breaks("C1.1-origin-foreign") => true,
            Some(origin) if self.breaks("C1.1-origin-foreign/prefix") => {
                origin.starts_with("http://127.0.0.1")
            }
            Some(origin) => {
                own("http://127.0.0.1").as_deref() == Some(origin)
                    && !self.breaks("C1.1-origin-own")
            }
        };
        is_host && is_origin
    }

    fn admits_token(&self, request: &Request) -> bool {
        let method = request.method.to_ascii_lowercase();
        let lax = |how: &str| self.breaks(&format!("C3.3-{method}-{how}"));
        let authorization = request.header("authorization");
        let Some(bearer) = authorization else {
            let is_in_session = method == "post" && request.header("mcp-session-id").is_some();
            if is_in_session && self.breaks("C3.3-post-session") {
                return true;
            }
            let is_in_query = request.query.contains(&self.token);
            return lax("none") && !is_in_query && !is_in_session || lax("query") && is_in_query;
        };
        let half = self.token.len() / 2;
        match bearer.strip_prefix("Bearer ") {
            None if bearer == "Bearer" => lax("none/empty"),
            None => {
                lax("scheme") && bearer == self.token
                    || lax("scheme/basic") && bearer.strip_prefix("Basic ") == Some(&self.token)
            }
            Some(token) if token == self.token => true,
            Some(token) if token.eq_ignore_ascii_case(&self.token) => lax("case"),
            Some(token) if token.len() == self.token.len() => {
                lax("wrong") || lax("wrong/half") && token[..half] == self.token[..half]
            }
            Some(token) => {
                lax("truncated") && self.token.starts_with(token)
                    || lax("truncated/end") && self.token.ends_with(token)
                    || lax("extended/end") && token.ends_with(&self.token)
                    || lax("extended") && token.starts_with(&self.token)
            }
        }
    }

    fn session(&self, request: &Request) -> Option<String> {
        let id = request.header("mcp-session-id")?;
        let is_foreign = !id.starts_with("session");
        if is_foreign && self.breaks("C1.1-unknown-session") {
            return Some(self.newest_session());
        }
        self.state()
            .sessions
            .contains_key(id)
            .then(|| id.to_owned())
    }

    fn post(self: &Arc<Self>, request: Request) -> io::Result<()> {
        let is_json = request.header("content-type") == Some("application/json");
        if !is_json && !self.breaks("C1.1-media-type") {
            return request.answer(415, "", "");
        }
        let Ok(message) = serde_json::from_slice::<Value>(&request.body) else {
            let status = if self.breaks("C1.1-bad-json") {
                500
            } else {
                400
            };
            return request.answer(status, "", "");
        };
        if message["method"] == "initialize" {
            return self.initialize(request, &message);
        }
        let Some(session) = self.session(&request) else {
            return request.answer(404, "", "");
        };
        if message.get("id").is_none() {
            let status = if self.breaks("C1.1-notification") {
                200
            } else {
                202
            };
            return request.answer(status, "", "");
        }
        // One server for all sessions: it answers the one that came last.
        if self.breaks("C1.4-two/one-server") && session != self.newest_session() {
            std::thread::sleep(HANGS);
            return Ok(());
        }
        let mut answer = self.answer(&session, &message);
        answer["jsonrpc"] = "2.0".into();
        answer["id"] = match &message["id"] {
            Value::Number(id) if self.breaks("C1.1-id") => id.to_string().into(),
            Value::String(id) if self.breaks("C1.1-id/number") => id
                .parse::<u64>()
                .map_or_else(|_| id.clone().into(), Into::into),
            id => id.clone(),
        };
        if message["method"] == "tools/call" {
            request.event(&answer.to_string())
        } else {
            request.json("", &answer.to_string())
        }
    }

    fn initialize(&self, request: Request, message: &Value) -> io::Result<()> {
        if self.breaks("C1.4-two/first-only") && !self.state().sessions.is_empty() {
            return request.answer(500, "", "");
        }
        self.state().last_session += 1;
        let id = self.newest_session();
        let mut state = self.state();
        state.sessions.insert(id.clone(), Session::default());
        drop(state);
        let asked = message["params"]["protocolVersion"].as_str().unwrap();
        let is_known = ["2025-06-18", "2025-11-25"].contains(&asked);
        let version = match () {
            () if self.breaks("C1.1-agents-version") => "2025-09-15",
            () if is_known || self.breaks("C1.1-version") => asked,
            () => "2025-11-25",
        };
        let mut info = json!({"name": "small", "version": "1"});
        if self.breaks("C1.1-initialize") {
            info.as_object_mut().unwrap().remove("version");
        }
        let result = json!({
            "protocolVersion": version,
            "capabilities": {"tools": {}},
            "serverInfo": info,
        });
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
        let header = format!("Mcp-Session-Id: {id}\r\n");
        request.json(&header, &answer.to_string())
    }

    fn get(&self, request: Request) -> io::Result<()> {
        let Some(id) = self.session(&request) else {
            return request.answer(404, "", "");
        };
        let (sender, events) = unbounded();
        self.state().sessions.entry(id.clone()).or_default().stream = Some(sender);
        let is_wrong = self.breaks("C1.1-stream");
        let media_type = if is_wrong {
            "text/plain"
        } else {
            "text/event-stream"
        };
        let _open = OpenStream::new(&self.streams);
        let mut out = request.begin_stream(media_type)?;
        if self.breaks("C1.1-events") {
            write!(out, "id: 1\ndata:\n\n")?;
        }
        self.greet(&id);
        let started = Instant::now();
        loop {
            match events.recv_timeout(SIGN_OF_LIFE) {
                Ok(event) => out.write_all(event.as_bytes())?,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {
                    let is_short = self.breaks("C1.1-stream-stays");
                    if is_short && started.elapsed() > SHORT_LIFE {
                        return Ok(());
                    }
                    if !self.breaks("C1.1-stream-alive")
                        && let Err(error) = write!(out, ": alive\n\n")
                    {
                        // The listener is gone without closing.
                        if self.breaks("C1.4-leaving/silent") {
                            self.state().views.clear();
                        }
                        return Err(error);
                    }
                }
            }
        }
    }

    fn delete(&self, request: Request) -> io::Result<()> {
        let Some(id) = self.session(&request) else {
            return request.answer(404, "", "");
        };
        if !self.breaks("C1.1-delete") {
            let mut state = self.state();
            state.sessions.remove(&id);
            let everybody = self.breaks("C1.4-leaving");
            state
                .views
                .retain(|_, view| view.session != id && !everybody);
            if self.breaks("C1.4-leaving/sessions") {
                state.sessions.clear();
            }
        }
        request.answer(200, "", "")
    }

    fn answer(self: &Arc<Self>, session: &str, message: &Value) -> Value {
        let error = |code: i32| json!({"error": {"code": code, "message": "no"}});
        let params = &message["params"];
        match message["method"].as_str().unwrap() {
            "ping" => match () {
                () if self.breaks("C1.1-ping/none") => error(-32601),
                () if self.breaks("C1.1-ping") => json!({"result": {"pong": true}}),
                () => json!({"result": {}}),
            },
            "tools/list" if self.breaks("C1.4-two") && self.streams_open() > 1 => error(-32603),
            "tools/list" => json!({"result": {"tools": self.tools()}}),
            "tools/call" => match params["name"].as_str().unwrap() {
                "openDiff" => self.open_diff(session, &params["arguments"]),
                "closeDiff" => self.close_diff(session, &params["arguments"]),
                _ if self.breaks("C1.1-unknown-tool") => json!({"result": {"content": []}}),
                _ => error(-32602),
            },
            _ if self.breaks("C1.1-unknown-method") => error(-32603),
            _ => error(-32601),
        }
    }

    fn streams_open(&self) -> usize {
        let sessions = &self.state().sessions;
        sessions.values().filter(|it| it.stream.is_some()).count()
    }

    fn tools(&self) -> Value {
        let string = json!({"type": "string"});
        let mut open = json!({"name": "openDiff", "inputSchema": {
            "type": "object",
            "properties": {"filePath": string, "newContent": string},
            "required": ["filePath", "newContent"],
        }});
        let mut close = json!({"name": "closeDiff", "inputSchema": {
            "type": "object",
            "properties": {"filePath": string},
            "required": ["filePath"],
        }});
        if self.breaks("C5.1-tool") {
            open["name"] = "open_diff".into();
        }
        if self.breaks("C5.1-schema") {
            open["inputSchema"]["required"] = json!(["filePath"]);
        }
        if self.breaks("C5.4-tool") {
            close["name"] = "close_diff".into();
        }
        if self.breaks("C5.4-schema") {
            close["inputSchema"]["properties"]["filePath"]["type"] = "array".into();
        }
        if self.breaks("C5.4-suppress-schema") {
            close["inputSchema"]["additionalProperties"] = false.into();
        }
        json!([open, close])
    }
}
