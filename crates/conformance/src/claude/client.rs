//! A client as the agent is one: the handshake, calls and answers over a WebSocket, and everything
//! that came in between.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt};
use pillion_protocol::claude::tools::CLOSE_TAB;
use pillion_protocol::diff::OPEN_DIFF;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout_at;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::upgrade::{Answered, Upgrade};
use crate::message::{NEWEST_VERSION, initialize_params};
use crate::probe::{MAX_ANSWER, NoAnswer};
use crate::rule::{Finding, Problem, blocked, shown};
use crate::session::ToolReply;
use crate::test_context::TestContext;

/// How long it listens at a time while it waits for something else.
const LISTEN_INTERVAL: Duration = Duration::from_secs(1);

/// A connected client. Dropping it cuts the connection.
pub(super) struct Client<'a> {
    pub(super) test: &'a TestContext,
    socket: WebSocketStream<TcpStream>,
    /// Everything that came, each with its time.
    pub(super) messages: Vec<(Instant, Value)>,
    /// The first thing that came and is not a message.
    pub(super) flaw: Option<String>,
    /// Why nothing more comes.
    pub(super) end: Option<String>,
    last_id: u64,
    /// How long an answer may take.
    pub(super) limit: Duration,
    /// The tabs that were opened here and not closed, each with the id of its call.
    tabs: Vec<String>,
}

/// Runs a check with a client, and closes what it left open, whatever it finds.
pub(super) async fn with_client<'a>(
    test: &'a TestContext,
    check: impl AsyncFnOnce(&mut Client<'a>) -> Finding,
) -> Finding {
    let mut client = session(test).await?;
    let finding = check(&mut client).await;
    client.leave().await;
    finding
}

/// A client that has shaken hands.
pub(super) async fn session(test: &TestContext) -> Result<Client<'_>, Problem> {
    let missing = |why: &str| {
        let by: &'static [&'static str] = &["K2-upgrade", "K4-initialize"];
        blocked(by, format!("there is no session: {why}"))
    };
    match test.claude.handshake.get() {
        // Who never answers is not waited for again and again.
        Some(Err(why)) => return missing(why),
        Some(Ok(())) => return another(test, Client::open).await,
        None => {}
    }
    let opened = Client::open(test).await;
    let first = opened
        .as_ref()
        .map(|_| ())
        .map_err(|error| error.why.clone());
    let _ = test.claude.handshake.set(first);
    opened.or_else(|NoAnswer { why, .. }| missing(&why))
}

/// A further client. A companion that serves one at a time may still be parting with the one before.
pub(super) async fn another<'a>(
    test: &'a TestContext,
    connect: impl AsyncFn(&'a TestContext) -> Result<Client<'a>, NoAnswer>,
) -> Result<Client<'a>, Problem> {
    let timeouts = &test.connection.timeouts;
    let until = Instant::now() + timeouts.answer;
    loop {
        match connect(test).await {
            Ok(client) => return Ok(client),
            Err(_) if Instant::now() < until => tokio::time::sleep(timeouts.quiet).await,
            Err(NoAnswer { why, .. }) => {
                return blocked(&["K8-two"], format!("no further client is served: {why}"));
            }
        }
    }
}

impl<'a> Client<'a> {
    /// Connects and shakes hands, as the agent does.
    pub(super) async fn open(test: &'a TestContext) -> Result<Self, NoAnswer> {
        let mut client = Self::connect(test).await?;
        client.initialize().await?;
        Ok(client)
    }

    /// Connects, and says nothing as yet.
    pub(super) async fn connect(test: &'a TestContext) -> Result<Self, NoAnswer> {
        let limit = test.connection.timeouts.answer;
        Self::of(test, Upgrade::of_agent(test).send(limit).await?).await
    }

    /// The client of a request that was answered.
    pub(super) async fn of(test: &'a TestContext, answered: Answered) -> Result<Self, NoAnswer> {
        answered.agrees()?;
        let config = WebSocketConfig::default()
            .max_message_size(Some(MAX_ANSWER))
            .max_frame_size(Some(MAX_ANSWER));
        let (stream, rest) = (answered.stream, answered.rest);
        let socket =
            WebSocketStream::from_partially_read(stream, rest, Role::Client, Some(config)).await;
        Ok(Self {
            test,
            socket,
            messages: Vec::new(),
            flaw: None,
            end: None,
            last_id: 0,
            limit: test.connection.timeouts.answer,
            tabs: Vec::new(),
        })
    }

    /// Shakes hands; the answer to `initialize`.
    pub(super) async fn initialize(&mut self) -> Result<Value, NoAnswer> {
        let reply = self.ask_with_id(json!(0), "initialize", initialize_params(NEWEST_VERSION));
        let reply = reply.await?;
        if !reply["result"].is_object() {
            let shown = shown(&reply);
            return Err(NoAnswer::new(format!(
                "initialize is answered with {shown}"
            )));
        }
        self.notify("notifications/initialized", None).await?;
        let params = json!({"pid": std::process::id()});
        self.notify("ide_connected", Some(params)).await?;
        Ok(reply)
    }

    /// Sends a frame or a message.
    pub(super) async fn send(&mut self, message: Message) -> Result<(), NoAnswer> {
        let until = Instant::now() + self.limit;
        match timeout_at(until.into(), self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(self.ended(&error)),
            Err(_) => Err(NoAnswer::new(format!(
                "nothing is read within {:?}",
                self.limit
            ))),
        }
    }

    pub(super) async fn send_text(&mut self, text: impl Into<String>) -> Result<(), NoAnswer> {
        self.send(Message::text(text.into())).await
    }

    pub(super) async fn notify(
        &mut self,
        method: &str,
        params: Option<Value>,
    ) -> Result<(), NoAnswer> {
        let mut message = json!({"jsonrpc": "2.0", "method": method});
        if let Some(params) = params {
            message["params"] = params;
        }
        self.send_text(message.to_string()).await
    }

    /// A new id.
    pub(super) fn id(&mut self) -> Value {
        self.last_id += 1;
        self.last_id.into()
    }

    /// Sends a request and waits for its answer.
    pub(super) async fn ask(&mut self, method: &str, params: Value) -> Result<Value, NoAnswer> {
        let id = self.id();
        self.ask_with_id(id, method, params).await
    }

    pub(super) async fn ask_with_id(
        &mut self,
        id: Value,
        method: &str,
        params: Value,
    ) -> Result<Value, NoAnswer> {
        self.start(&id, method, params).await?;
        self.answer(&id).await
    }

    /// Sends a request.
    pub(super) async fn start(
        &mut self,
        id: &Value,
        method: &str,
        params: Value,
    ) -> Result<(), NoAnswer> {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send_text(request.to_string()).await
    }

    /// Waits for the answer to a request.
    pub(super) async fn answer(&mut self, id: &Value) -> Result<Value, NoAnswer> {
        let limit = self.limit;
        let answer = self
            .wait_from(0, limit, |message| answers(message, id))
            .await;
        answer.ok_or_else(|| {
            let end = self.end.clone();
            NoAnswer::new(end.unwrap_or_else(|| format!("no answer within {limit:?}")))
        })
    }

    pub(super) async fn call(
        &mut self,
        tool: &str,
        arguments: Value,
    ) -> Result<ToolReply, NoAnswer> {
        let params = json!({"name": tool, "arguments": arguments});
        self.ask("tools/call", params).await.map(ToolReply)
    }

    /// Proposes a text under this name, and does not wait for the answer: the id of the call.
    pub(super) async fn open_diff(
        &mut self,
        tab: &str,
        path: &str,
        text: &str,
    ) -> Result<Value, NoAnswer> {
        let id = self.id();
        self.open_diff_as(&id, tab, path, text).await?;
        Ok(id)
    }

    /// The same with this id.
    pub(super) async fn open_diff_as(
        &mut self,
        id: &Value,
        tab: &str,
        path: &str,
        text: &str,
    ) -> Result<(), NoAnswer> {
        let arguments = json!({
            "old_file_path": path, "new_file_path": path, "new_file_contents": text, "tab_name": tab,
        });
        let meta = json!({"progressToken": id});
        let params = json!({"name": OPEN_DIFF, "arguments": arguments, "_meta": meta});
        self.tabs.push(tab.to_owned());
        self.test.claude.has_views.store(true, Ordering::Relaxed);
        self.start(id, "tools/call", params).await
    }

    pub(super) async fn close_tab(&mut self, tab: &str) -> Result<ToolReply, NoAnswer> {
        let reply = self.call(CLOSE_TAB, json!({"tab_name": tab})).await?;
        self.tabs.retain(|open| open != tab);
        Ok(reply)
    }

    /// The answers to a request so far.
    pub(super) fn answers(&self, id: &Value) -> Vec<ToolReply> {
        let messages = self.messages.iter().map(|(_, message)| message);
        let own = messages.filter(|message| answers(message, id));
        own.cloned().map(ToolReply).collect()
    }

    /// Takes in what comes for so long.
    pub(super) async fn listen(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while self.hear(until).await {}
    }

    /// Waits for something and takes in what comes meanwhile.
    pub(super) async fn listening<T>(&mut self, other: impl Future<Output = T>) -> T {
        let mut other = std::pin::pin!(other);
        loop {
            tokio::select! {
                done = &mut other => return done,
                () = self.listen(LISTEN_INTERVAL) => {}
            }
        }
    }

    /// The first message that is as wanted, of those that came from this one on and those that come
    /// in time.
    pub(super) async fn wait_from(
        &mut self,
        mut at: usize,
        limit: Duration,
        is_wanted: impl Fn(&Value) -> bool,
    ) -> Option<Value> {
        let until = Instant::now() + limit;
        loop {
            while let Some((_, message)) = self.messages.get(at) {
                if is_wanted(message) {
                    return Some(message.clone());
                }
                at += 1;
            }
            if !self.hear(until).await {
                return None;
            }
        }
    }

    /// Takes in what comes next; false when nothing did in time.
    async fn hear(&mut self, until: Instant) -> bool {
        if self.end.is_some() {
            tokio::time::sleep_until(until.into()).await;
            return false;
        }
        let message = match timeout_at(until.into(), self.socket.next()).await {
            Err(_) => return false,
            Ok(None) => {
                self.end = Some("the connection ended".to_owned());
                return false;
            }
            Ok(Some(Err(error))) => {
                self.ended(&error);
                return false;
            }
            Ok(Some(Ok(message))) => message,
        };
        match message {
            Message::Text(text) => match pillion_protocol::json::value(text.as_str().as_bytes()) {
                Ok(value) => self.messages.push((Instant::now(), value)),
                Err(error) => self.odd(format!("a message that is not JSON: {error}")),
            },
            Message::Binary(_) => self.odd("a binary message".to_owned()),
            Message::Close(frame) => {
                let code = frame.map(|frame| u16::from(frame.code));
                let code = code.map_or_else(|| "no code".to_owned(), |code| code.to_string());
                self.end = Some(format!("it closed the connection with {code}"));
            }
            Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
        }
        true
    }

    fn odd(&mut self, what: String) {
        self.flaw.get_or_insert(what);
    }

    fn ended(&mut self, error: &Error) -> NoAnswer {
        let why = match error {
            Error::Protocol(error) => {
                format!("received something that is not a WebSocket frame: {error}")
            }
            error => format!("the connection was cut off: {error}"),
        };
        self.end.get_or_insert_with(|| why.clone());
        NoAnswer::new(why)
    }

    /// Whether requests are still answered here.
    pub(super) async fn is_served(&mut self) -> Result<(), NoAnswer> {
        let id = self.id();
        self.start(&id, "tools/list", json!({})).await?;
        self.answer(&id).await.map(drop)
    }

    /// Closes what is open and leaves as the agent does.
    pub(super) async fn leave(mut self) {
        for tab in std::mem::take(&mut self.tabs) {
            if self.end.is_none() {
                let _ = self.close_tab(&tab).await;
            }
        }
        self.test.claude.has_views.store(false, Ordering::Relaxed);
        let until = Instant::now() + self.limit;
        let _ = timeout_at(until.into(), self.socket.close(None)).await;
        // By then the companion knows of it.
        let quiet = self.test.connection.timeouts.quiet;
        let until = Instant::now() + quiet;
        while self.end.is_none() && self.hear(until).await {}
    }

    /// Cuts the connection without a word.
    pub(super) fn cut(self) {
        self.test.claude.has_views.store(false, Ordering::Relaxed);
    }
}

/// Whether a message is an answer, to whatever request.
pub(super) fn is_reply(message: &Value) -> bool {
    message.get("method").is_none() && message.get("id").is_some_and(|id| !id.is_null())
}

/// Whether a message answers this request. Its id may be of another type: that is one rule's matter
/// and not that of all others.
pub(super) fn answers(message: &Value, id: &Value) -> bool {
    let text = |id: &Value| id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    let is_reply = message.get("method").is_none();
    is_reply && message.get("id").is_some_and(|its| text(its) == text(id))
}
