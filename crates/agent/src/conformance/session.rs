//! One MCP session with a companion, as an agent has it, and what it hears.

use std::cell::Cell;
use std::time::{Duration, Instant};

use ::http::Method;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use pillion_protocol::diff::{CLOSE_DIFF, OPEN_DIFF};
use serde_json::{Value, json};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::bench::Bench;
use super::events::{Event, Events};
use super::probe::{NoAnswer, Probe, VERSION};

/// What the agents of today ask for.
pub(super) const NEWEST_VERSION: &str = "2025-11-25";

/// What came on an event stream.
#[derive(Debug, Clone)]
pub(super) enum Heard {
    /// Some bytes, whatever they mean.
    Sign,
    /// An event.
    Event { at: Instant, event: Event },
    /// The end of the stream.
    End,
}

/// A session.
#[derive(Debug)]
pub(super) struct Session<'a> {
    bench: &'a Bench,
    pub(super) id: Option<String>,
    version: String,
    last_id: Cell<u64>,
    /// How long to wait for an answer.
    pub(super) patience: Duration,
    stream: Option<Stream>,
    /// The messages that came so far, with the time.
    pub(super) messages: Vec<(Instant, Value)>,
    /// The events that are no JSON-RPC messages, or that have an id.
    pub(super) odd_events: Vec<Event>,
    /// How often anything came.
    pub(super) signs: usize,
    pub(super) has_ended: bool,
}

#[derive(Debug)]
struct Stream {
    heard: UnboundedReceiver<Heard>,
    reader: AbortHandle,
}

/// What is to be undone of a session when a check ends early.
#[derive(Debug, Clone)]
pub(super) struct Record {
    pub(super) id: Option<String>,
    pub(super) version: String,
    pub(super) views: Vec<String>,
}

/// The answer to a tool call: a result or a JSON-RPC error.
#[derive(Debug, Clone)]
pub(super) struct ToolReply(pub(super) Value);

/// The body of a request.
pub(super) fn request(id: impl Into<Value>, method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params}).to_string()
}

/// The body of a notification.
pub(super) fn notification(method: &str) -> String {
    json!({"jsonrpc": "2.0", "method": method}).to_string()
}

/// The params of `initialize`.
pub(super) fn initialize_params(version: &str) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "pillion-conformance", "version": env!("CARGO_PKG_VERSION")},
    })
}

impl<'a> Session<'a> {
    /// Shakes hands; without an event stream as yet.
    pub(super) async fn open(bench: &'a Bench) -> Result<Self, NoAnswer> {
        let patience = bench.patience.answer;
        let params = initialize_params(NEWEST_VERSION);
        let probe = bench.probe(Method::POST);
        let answer = probe
            .body(request(0, "initialize", params))
            .send(patience)
            .await?;
        let id = answer.session();
        let reply = answer.reply(&json!(0), patience).await?;
        let version = reply.pointer("/result/protocolVersion");
        let version = version.and_then(Value::as_str).unwrap_or(NEWEST_VERSION);
        bench.opened(Record {
            id: id.clone(),
            version: version.to_owned(),
            views: Vec::new(),
        });
        let session = Self {
            bench,
            id,
            version: version.to_owned(),
            last_id: Cell::new(0),
            patience,
            stream: None,
            messages: Vec::new(),
            odd_events: Vec::new(),
            signs: 0,
            has_ended: false,
        };
        let initialized = session.probe(Method::POST);
        let initialized = initialized.body(notification("notifications/initialized"));
        initialized.send(patience).await?;
        Ok(session)
    }

    /// A request of this session.
    pub(super) fn probe(&self, method: Method) -> Probe {
        self.dress(self.bench.probe(method))
    }

    /// A request with this session's headers.
    pub(super) fn dress(&self, probe: Probe) -> Probe {
        probe
            .session(self.id.as_deref())
            .header(VERSION, &self.version)
    }

    /// Opens the event stream.
    pub(super) async fn open_stream(&mut self) -> Result<(), NoAnswer> {
        let get = self.probe(Method::GET).accept("text/event-stream");
        let answer = get.send(self.bench.patience.answer).await?;
        if !answer.status.is_success() {
            return Err(NoAnswer(format!("GET: HTTP {}", answer.status.as_u16())));
        }
        let (sender, heard) = mpsc::unbounded_channel();
        let reader = tokio::spawn(read(answer.into_stream(), sender)).abort_handle();
        self.stream = Some(Stream { heard, reader });
        Ok(())
    }

    /// Sends a request and waits for its answer.
    pub(super) async fn ask(&self, method: &str, params: Value) -> Result<Value, NoAnswer> {
        let id = self.last_id.get() + 1;
        self.last_id.set(id);
        let patience = self.patience;
        let body = request(id, method, params);
        let answer = self.probe(Method::POST).body(body).send(patience).await?;
        answer.reply(&json!(id), patience).await
    }

    /// Whether the session is there.
    pub(super) async fn ping(&self) -> Result<(), NoAnswer> {
        let reply = self.ask("ping", json!({})).await?;
        match reply.get("result") {
            Some(_) => Ok(()),
            None => Err(NoAnswer(format!("ping is answered with {reply}"))),
        }
    }

    pub(super) async fn call(&self, tool: &str, arguments: Value) -> Result<ToolReply, NoAnswer> {
        let params = json!({"name": tool, "arguments": arguments});
        self.ask("tools/call", params).await.map(ToolReply)
    }

    /// Proposes a text; the view is closed when the check ends, whatever happens.
    pub(super) async fn open_diff(&self, path: &str, text: &str) -> Result<ToolReply, NoAnswer> {
        self.bench.note(self.id.as_deref(), |record| {
            record.views.push(path.to_owned());
        });
        let arguments = json!({"filePath": path, "newContent": text});
        self.call(OPEN_DIFF, arguments).await
    }

    pub(super) async fn close_diff(
        &self,
        path: &str,
        suppress: bool,
    ) -> Result<ToolReply, NoAnswer> {
        self.bench.note(self.id.as_deref(), |record| {
            record.views.retain(|view| view != path);
        });
        let mut arguments = json!({"filePath": path});
        if suppress {
            arguments["suppressNotification"] = true.into();
        }
        self.call(CLOSE_DIFF, arguments).await
    }

    /// Takes in what comes for so long.
    pub(super) async fn listen(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while self.hear(until).await {}
    }

    /// The first message that is as wanted, of those that came and those that come in time.
    pub(super) async fn wait_for(
        &mut self,
        time: Duration,
        wanted: impl Fn(&Value) -> bool,
    ) -> Option<(Instant, Value)> {
        let until = Instant::now() + time;
        let mut looked_at = 0;
        loop {
            let new = self.messages[looked_at..].iter();
            if let Some(found) = new.clone().find(|(_, message)| wanted(message)) {
                return Some(found.clone());
            }
            looked_at = self.messages.len();
            if !self.hear(until).await {
                return None;
            }
        }
    }

    /// Takes in one thing; false when the time is up or nothing can come any more.
    async fn hear(&mut self, until: Instant) -> bool {
        let Some(stream) = &mut self.stream else {
            return false;
        };
        let left = until.saturating_duration_since(Instant::now());
        match timeout(left, stream.heard.recv()).await {
            Err(_) => return false,
            Ok(None | Some(Heard::End)) => {
                self.has_ended = true;
                return false;
            }
            Ok(Some(Heard::Sign)) => self.signs += 1,
            Ok(Some(Heard::Event { at, event })) => {
                let message = serde_json::from_str::<Value>(&event.data).ok();
                let message = message.filter(|message| message["jsonrpc"] == "2.0");
                if message.is_none() || event.has_id {
                    self.odd_events.push(event);
                }
                self.messages.extend(message.map(|message| (at, message)));
            }
        }
        true
    }

    /// Closes the stream and ends the session.
    pub(super) async fn leave(self) {
        let id = self.id.clone();
        let bench = self.bench;
        let record = Record {
            id: id.clone(),
            version: self.version.clone(),
            views: Vec::new(),
        };
        drop(self);
        record.end(bench).await;
        bench.ended(id.as_deref());
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        if let Some(stream) = &self.stream {
            stream.reader.abort();
        }
    }
}

async fn read(mut body: Incoming, heard: UnboundedSender<Heard>) {
    let mut events = Events::default();
    while let Some(Ok(frame)) = body.frame().await {
        let Some(bytes) = frame.data_ref() else {
            continue;
        };
        let at = Instant::now();
        let mut new = vec![Heard::Sign];
        let event = |event| Heard::Event { at, event };
        new.extend(events.push(bytes).into_iter().map(event));
        if new.into_iter().any(|new| heard.send(new).is_err()) {
            return;
        }
    }
    let _ = heard.send(Heard::End);
}

impl Record {
    /// Closes its views and ends it, as far as the companion lets itself be talked to.
    pub(super) async fn end(&self, bench: &Bench) {
        let patience = bench.patience.answer;
        let probe = |method| {
            let probe = bench.probe(method).session(self.id.as_deref());
            probe.header(VERSION, &self.version)
        };
        for view in &self.views {
            let arguments = json!({"filePath": view, "suppressNotification": true});
            let params = json!({"name": CLOSE_DIFF, "arguments": arguments});
            let body = request("clean-up", "tools/call", params);
            let _ = probe(Method::POST).body(body).send(patience).await;
        }
        if self.id.is_some() {
            let _ = probe(Method::DELETE).send(patience).await;
        }
    }
}

impl ToolReply {
    fn result(&self) -> &Value {
        &self.0["result"]
    }

    /// Whether the tool, or the call, failed.
    pub(super) fn is_error(&self) -> bool {
        !self.result().is_object() || self.result()["isError"] == true
    }

    /// Its content blocks.
    pub(super) fn content(&self) -> Option<&Vec<Value>> {
        self.result()["content"].as_array()
    }

    /// The text of its only block.
    pub(super) fn text(&self) -> Option<&str> {
        match self.content()?.as_slice() {
            [block] if block["type"] == "text" => block["text"].as_str(),
            _ => None,
        }
    }

    /// The text in the view, if the answer has the form that agents read (C5.5).
    pub(super) fn closed_content(&self) -> Result<String, String> {
        if self.is_error() {
            return Err(format!("the answer is a failure: {}", self.shown()));
        }
        let Some(text) = self.text() else {
            return Err(format!(
                "the answer is not one text block: {}",
                self.shown()
            ));
        };
        let Ok(value) = serde_json::from_str::<Value>(text) else {
            return Err("the block's text is not JSON".to_owned());
        };
        match value.get("content") {
            Some(Value::String(content)) => Ok(content.clone()),
            _ => Err("the block's text is JSON without a string `content`".to_owned()),
        }
    }

    /// Whether it fails as C5.2 and C5.5 say: `isError` and one text block that says why.
    pub(super) fn fails_well(&self) -> bool {
        self.result()["isError"] == true && self.text().is_some_and(|text| !text.trim().is_empty())
    }

    /// The beginning of it, for a report.
    pub(super) fn shown(&self) -> String {
        super::shown(&self.0)
    }
}
