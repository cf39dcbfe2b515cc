//! MCP as the small companion speaks it.

use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::companion::{Session, Shared, View};
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
    pub fn handle(&self, request: Request) -> io::Result<()> {
        if !self.admits_host(&request) {
            return request.answer(403, "", "");
        }
        if !self.admits_token(&request) {
            return request.answer(401, "", "");
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

    fn admits_host(&self, request: &Request) -> bool {
        let own = |name: &str| Some(format!("{name}:{}", self.port));
        let host = request.header("host").map(str::to_owned);
        let is_host = host == own("127.0.0.1")
            || host == own("localhost") && !self.breaks("C1.1-host-localhost")
            || host == own("host.docker.internal") && !self.breaks("C1.1-host-docker")
            || self.breaks("C1.1-host-foreign");
        let is_origin = match request.header("origin") {
            None => true,
            Some(_) if self.breaks("C1.1-origin-foreign") => true,
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
        match bearer.strip_prefix("Bearer ") {
            None => lax("scheme") && bearer == self.token,
            Some(token) if token == self.token => true,
            Some(token) if token.len() == self.token.len() => lax("wrong"),
            Some(token) => {
                lax("truncated") && self.token.starts_with(token)
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

    fn post(&self, request: Request) -> io::Result<()> {
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
        // One server for all sessions: it answers whoever came last.
        if self.breaks("C1.4-two/one-server") && session != self.newest_session() {
            std::thread::sleep(HANGS);
            return Ok(());
        }
        let mut answer = self.answer(&session, &message);
        answer["jsonrpc"] = "2.0".into();
        answer["id"] = message["id"].clone();
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
        let (sender, events) = mpsc::channel();
        self.state().sessions.entry(id.clone()).or_default().stream = Some(sender);
        let is_wrong = self.breaks("C1.1-stream");
        let media_type = if is_wrong {
            "text/plain"
        } else {
            "text/event-stream"
        };
        let mut out = request.begin_stream(media_type)?;
        if self.breaks("C1.1-events") {
            write!(out, "id: 1\ndata:\n\n")?;
        }
        self.greet(&id);
        let _open = OpenStream::new(&self.streams);
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
                    if !self.breaks("C1.1-stream-alive") {
                        write!(out, ": alive\n\n")?;
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
        }
        request.answer(200, "", "")
    }

    fn answer(&self, session: &str, message: &Value) -> Value {
        let error = |code: i32| json!({"error": {"code": code, "message": "no"}});
        let params = &message["params"];
        match message["method"].as_str().unwrap() {
            "ping" => {
                let sessions = &self.state().sessions;
                let streams = sessions.values().filter(|it| it.stream.is_some()).count();
                match () {
                    () if self.breaks("C1.1-ping") => json!({"result": {"pong": true}}),
                    () if self.breaks("C1.4-two") && streams > 1 => error(-32603),
                    () => json!({"result": {}}),
                }
            }
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

    fn open_diff(&self, session: &str, arguments: &Value) -> Value {
        let path = arguments["filePath"].as_str().unwrap_or_default();
        let text = arguments["newContent"].as_str();
        let mut state = self.state();
        let mut views = state.views.iter();
        let has_others = views.any(|(file, view)| view.session == session && file != path);
        let is_busy = state.views.values().any(|view| view.session != session);
        let is_refused = Path::new(path).is_relative() && !self.breaks("C5.1-relative")
            || Path::new(path).is_dir()
            || path.is_empty()
            || text.is_none() && !self.breaks("C5.1-arguments")
            || self.breaks("C5.2-open")
            || self.breaks("C5.5-several") && has_others
            || self.breaks("C5.5-odd-path") && path.contains('$')
            || self.breaks("C1.4-views") && is_busy;
        if is_refused && self.breaks("C5.2-failure") {
            return json!({"error": {"code": -32603, "message": "no"}});
        }
        if is_refused && self.breaks("C5.2-failure/no-text") {
            return json!({"result": {"isError": true, "content": []}});
        }
        if is_refused {
            return failure();
        }
        if self.breaks("C5.2-open/hangs") {
            drop(state);
            std::thread::sleep(HANGS);
            return failure();
        }
        if self.breaks("C5.9-beside") {
            let _ = std::fs::write(format!("{path}.proposed"), "");
        }
        let view = View {
            session: session.to_owned(),
            text: text.unwrap_or_default().to_owned(),
        };
        let is_kept = self.breaks("C5.1-replace") && state.views.contains_key(path);
        if !is_kept {
            state.views.insert(path.to_owned(), view);
        }
        if self.breaks("C5.2-empty") {
            return json!({"result": {"content": [{"type": "text", "text": "opened"}]}});
        }
        json!({"result": {"content": []}})
    }

    fn close_diff(&self, session: &str, arguments: &Value) -> Value {
        let path = arguments["filePath"].as_str().unwrap_or_default();
        let is_suppressed = arguments["suppressNotification"] == true;
        if is_suppressed && self.breaks("C5.4-suppress") {
            return failure();
        }
        let mut state = self.state();
        let stays = self.breaks("C5.5-closes");
        let base = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let is_alike = |view: &&String| base(view) == base(path);
        let first = state.views.keys().find(is_alike).cloned();
        let first = first.filter(|_| self.breaks("C5.5-alike"));
        let path = first.as_deref().unwrap_or(path);
        let text = match state.views.get(path) {
            None if self.breaks("C5.5-unknown/empty") => {
                return json!({"result": {"content": [{"type": "text", "text": "{}"}]}});
            }
            None if self.breaks("C5.5-unknown") => return json!({"result": {"content": []}}),
            None => return failure(),
            Some(view) => view.text.clone(),
        };
        if self.breaks("C5.9-beside") {
            let _ = std::fs::remove_file(format!("{path}.proposed"));
        }
        if !stays {
            state.views.remove(path);
        }
        drop(state);
        let flaw = if is_suppressed {
            "C5.10-suppressed"
        } else {
            "C5.10-closed"
        };
        if self.breaks(flaw) {
            let params = json!({"filePath": path});
            self.push("ide/diffRejected", &params, |id| id == session);
        }
        let text = self.closed_text(&text);
        json!({"result": {"content": [{"type": "text", "text": text}]}})
    }

    /// The text block of `closeDiff`.
    fn closed_text(&self, text: &str) -> String {
        let is_json = text.starts_with("{\"content\"");
        if self.breaks("C5.5-shape/no-content") {
            return json!({"text": text}).to_string();
        }
        if self.breaks("C5.5-shape") {
            return format!("text: {text}");
        }
        if self.breaks("C5.5-json") && is_json {
            return text.to_owned();
        }
        json!({"content": self.spoilt(text)}).to_string()
    }

    /// The text as an editor spoils it that breaks one of the rules about texts.
    fn spoilt(&self, text: &str) -> String {
        let breaks = |rule: &str| self.breaks(&format!("C5.5-{rule}"));
        let has_lone_lf = text.replace("\r\n", "").contains('\n');
        let has_lone_cr = text.replace("\r\n", "").contains('\r');
        let has_crlf = text.contains("\r\n");
        let has_long_line = || text.lines().any(|line| line.len() > 100_000);
        let cut = |at: usize| text.chars().take(at).collect();
        match () {
            () if breaks("empty") && text.is_empty() => "\n".to_owned(),
            () if breaks("no-newline") && text == "one\ntwo" => format!("{text}\n"),
            () if breaks("newlines") && text.ends_with("\n\n") => format!("{}\n", text.trim_end()),
            () if breaks("spaces") => text.replace("  \n", "\n"),
            () if breaks("crlf") && has_crlf && !has_lone_lf => text.replace("\r\n", "\n"),
            () if breaks("mixed") && has_crlf && has_lone_lf => text.replace("\r\n", "\n"),
            () if breaks("cr") && has_lone_cr => text.replace('\r', "\n"),
            () if breaks("bom") => text.trim_start_matches('\u{feff}').to_owned(),
            () if breaks("separators") => text.replace('\u{2028}', "\n"),
            () if breaks("unicode") => text.replace("e\u{301}", "é"),
            () if breaks("nul") => text.split('\0').next().unwrap_or_default().to_owned(),
            () if breaks("long-line") && has_long_line() => cut(100_000),
            () if breaks("1mb") && (1_000_000..2_000_000).contains(&text.len()) => cut(65_536),
            () if breaks("5mb") && text.len() > 4_194_304 => cut(4_194_304),
            () => text.to_owned(),
        }
    }
}

fn failure() -> Value {
    let content = json!([{"type": "text", "text": "it cannot be done"}]);
    json!({"result": {"isError": true, "content": content}})
}
