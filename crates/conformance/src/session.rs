//! One MCP session with a companion, as an agent has it, and what it hears.

use std::cell::Cell;
use std::iter;
use std::time::{Duration, Instant};

use pillion_http::{Error, Event, Events, Method};
use pillion_protocol::diff::{CLOSE_DIFF, OPEN_DIFF};
use serde_json::{Value, json};
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use crate::connection::{Connection, Record};
use crate::message::{NEWEST_VERSION, initialize_params, is_outcome, notification, request};
use crate::probe::{NoAnswer, Probe, VERSION};
use crate::rule::shown;
use pillion_protocol::json;

/// What came on an event stream.
#[derive(Debug, Clone)]
pub(super) enum Heard {
    /// Some bytes, whatever they mean.
    Sign,
    /// An event.
    Event { at: Instant, event: Event },
    /// Nothing is heard any more, and why.
    End(&'static str),
}

/// How much is read before a check has taken it in: a companion that sends without end has to wait.
const AHEAD: usize = 1024;

/// How many messages one session takes in, of `MAX_ANSWER` bytes in all. One that sends more is not
/// listened to any longer.
const MAX_MESSAGES: usize = 10_000;

/// A session.
#[derive(Debug)]
pub(super) struct Session<'a> {
    connection: &'a Connection,
    pub(super) id: Option<String>,
    version: String,
    last_id: Cell<u64>,
    /// How long to wait for an answer.
    pub(super) limit: Duration,
    stream: Option<Stream>,
    /// The messages that came so far, with the time.
    pub(super) messages: Vec<(Instant, Value)>,
    /// How many events are no JSON-RPC messages, or have an id.
    odd_events: usize,
    /// How often anything came.
    pub(super) signs: usize,
    /// Why nothing is heard any more, if so.
    pub(super) end: Option<&'static str>,
}

#[derive(Debug)]
struct Stream {
    heard: Receiver<Heard>,
    reader: AbortHandle,
}

/// The answer to a tool call: a result or a JSON-RPC error.
#[derive(Debug, Clone)]
pub(super) struct ToolReply(pub(super) Value);

impl<'a> Session<'a> {
    /// Shakes hands; without an event stream as yet.
    pub(super) async fn open(connection: &'a Connection) -> Result<Self, NoAnswer> {
        let limit = connection.timeouts.answer;
        let params = initialize_params(NEWEST_VERSION);
        let probe = connection.probe(Method::POST);
        let probe = probe.body(request(0, "initialize", params));
        let answer = connection.send(probe, limit).await?;
        let id = answer.session();
        connection.opened(Record {
            id: id.clone(),
            version: NEWEST_VERSION.to_owned(),
            views: Vec::new(),
        });
        let reply = answer.reply(&json!(0), limit).await?;
        if !reply["result"].is_object() {
            return Err(NoAnswer::new(format!(
                "initialize is answered with {}",
                shown(&reply)
            )));
        }
        let version = reply.pointer("/result/protocolVersion");
        let version = version.and_then(Value::as_str).unwrap_or(NEWEST_VERSION);
        connection.note(id.as_deref(), |record| record.version = version.to_owned());
        let session = Self {
            connection,
            id,
            version: version.to_owned(),
            last_id: Cell::new(0),
            limit,
            stream: None,
            messages: Vec::new(),
            odd_events: 0,
            signs: 0,
            end: None,
        };
        let initialized = session.probe(Method::POST);
        let initialized = initialized.body(notification("notifications/initialized"));
        connection.send(initialized, limit).await?;
        Ok(session)
    }

    /// A request of this session.
    pub(super) fn probe(&self, method: Method) -> Probe {
        self.dress(self.connection.probe(method))
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
        let answer = self
            .connection
            .send(get, self.connection.timeouts.answer)
            .await?;
        if !answer.status.is_success() {
            return Err(NoAnswer::new(format!(
                "GET: HTTP {}",
                answer.status.as_u16()
            )));
        }
        let (sender, heard) = mpsc::channel(AHEAD);
        let reader = tokio::spawn(read(answer.into_events(), sender)).abort_handle();
        self.stream = Some(Stream { heard, reader });
        Ok(())
    }

    /// Sends a request and waits for its answer.
    pub(super) async fn ask(&self, method: &str, params: Value) -> Result<Value, NoAnswer> {
        let id = self.last_id.get() + 1;
        self.last_id.set(id);
        let limit = self.limit;
        let body = request(id, method, params);
        let probe = self.probe(Method::POST).body(body);
        let answer = self.connection.send(probe, limit).await?;
        answer.reply(&json!(id), limit).await
    }

    /// Whether the session is served, by what every agent asks.
    pub(super) async fn is_served(&self) -> Result<(), NoAnswer> {
        let reply = self.ask("tools/list", json!({})).await?;
        match reply.get("result") {
            Some(_) => Ok(()),
            None => {
                let shown = shown(&reply);
                Err(NoAnswer::new(format!(
                    "tools/list is answered with {shown}"
                )))
            }
        }
    }

    pub(super) async fn call(&self, tool: &str, arguments: Value) -> Result<ToolReply, NoAnswer> {
        let params = json!({"name": tool, "arguments": arguments});
        self.ask("tools/call", params).await.map(ToolReply)
    }

    /// Proposes a text; the view is closed when the check ends, whatever happens.
    pub(super) async fn open_diff(&self, path: &str, text: &str) -> Result<ToolReply, NoAnswer> {
        self.connection.note(self.id.as_deref(), |record| {
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
        let mut arguments = json!({"filePath": path});
        if suppress {
            arguments["suppressNotification"] = true.into();
        }
        let reply = self.call(CLOSE_DIFF, arguments).await?;
        if !reply.is_error() {
            self.connection.note(self.id.as_deref(), |record| {
                record.views.retain(|view| view != path);
            });
        }
        Ok(reply)
    }

    /// The outcomes reported so far.
    pub(super) fn outcomes(&self) -> Vec<Value> {
        let messages = self.messages.iter().map(|(_, message)| message);
        messages.filter(|it| is_outcome(it)).cloned().collect()
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
        self.wait_for_new(0, time, wanted).await
    }

    /// The same, of those after the first `looked_at`.
    pub(super) async fn wait_for_new(
        &mut self,
        mut looked_at: usize,
        time: Duration,
        wanted: impl Fn(&Value) -> bool,
    ) -> Option<(Instant, Value)> {
        let until = Instant::now() + time;
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
        if self.messages.len() + self.odd_events >= MAX_MESSAGES {
            self.end = Some("it was closed because too many messages came,");
        }
        let Some(stream) = self.stream.as_mut().filter(|_| self.end.is_none()) else {
            return false;
        };
        let left = until.saturating_duration_since(Instant::now());
        match timeout(left, stream.heard.recv()).await {
            Err(_) | Ok(None) => return false,
            Ok(Some(Heard::End(how))) => {
                self.end = Some(how);
                return false;
            }
            Ok(Some(Heard::Sign)) => self.signs += 1,
            Ok(Some(Heard::Event { at, event })) => {
                let message = json::value(event.data.as_bytes()).ok();
                let message = message.filter(|message| message["jsonrpc"] == "2.0");
                let is_odd = message.is_none() || event.has_id;
                self.odd_events += usize::from(is_odd);
                self.connection.heard(event, is_odd);
                self.messages.extend(message.map(|message| (at, message)));
            }
        }
        true
    }

    /// Closes the stream and ends the session.
    pub(super) async fn leave(self) {
        let id = self.id.clone();
        let connection = self.connection;
        let record = Record {
            id: id.clone(),
            version: self.version.clone(),
            views: Vec::new(),
        };
        drop(self);
        record.end(connection).await;
        connection.ended(id.as_deref());
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        if let Some(stream) = &self.stream {
            stream.reader.abort();
        }
    }
}

async fn read(mut stream: Events, heard: Sender<Heard>) {
    let how = loop {
        let events = match stream.next().await {
            Ok(Some(events)) => events,
            Err(Error::TooLong(_)) => break "it was closed because too many bytes came,",
            Ok(None) | Err(_) => break "it ended",
        };
        let at = Instant::now();
        let events = events.into_iter();
        let events = events.map(|event| Heard::Event { at, event });
        for new in iter::once(Heard::Sign).chain(events) {
            if heard.send(new).await.is_err() {
                return;
            }
        }
    };
    let _ = heard.send(Heard::End(how)).await;
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
        shown(&self.0)
    }
}
