//! A client as the agent is one: the handshake, calls and answers over a WebSocket, and everything
//! that came in between.

use std::path::MAIN_SEPARATOR;
use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt};
use pillion_protocol::claude::tools::CLOSE_TAB;
use pillion_protocol::diff::OPEN_DIFF;
use serde_json::{Value, json};
use tokio::time::timeout_at;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Bytes, Error, Message};

use super::upgrade::{agrees, of_agent};
use crate::agent::{Agent, initialized};
use crate::claude_observation::Socket;
use crate::message::{NEWEST_VERSION, answers, initialize_params, notification, request};
use crate::observation::once;
use crate::probe::{Answer, MAX_ANSWER, NoAnswer, Probe};
use crate::reply::ToolReply;
use crate::rule::{Otherwise, Problem, broken};
use crate::test_context::TestContext;

/// A proposal that waits for its decision.
#[derive(Debug, Clone)]
pub(super) struct View {
    pub(super) tab: String,
    pub(super) path: String,
    /// The id of the call.
    pub(super) id: Value,
}

/// A connected client. What it leaves open is closed after the check, whatever happens.
pub(super) struct Client<'a> {
    pub(super) test: &'a TestContext,
    /// None when it was cut.
    socket: Option<Socket>,
    /// The tabs that were opened here and not closed.
    tabs: Vec<String>,
    messages: Vec<(Instant, Value)>,
    /// The first thing that came and is not a message.
    pub(super) flaw: Option<String>,
    /// The payload of the last pong.
    pub(super) pong: Option<Bytes>,
    end: Option<String>,
    last_id: u64,
    /// The time limit for an answer.
    pub(super) limit: Duration,
}

/// A name for the tab of a file, as the agent gives it.
pub(super) fn tab_name(test: &TestContext, path: &str) -> String {
    let name = path.rsplit(MAIN_SEPARATOR).next().unwrap_or(path);
    // No two are alike.
    let number = test.names.number();
    format!("✻ [Claude Code] {name} ({number:0>6}) ⧉")
}

impl TestContext {
    /// A client that has shaken hands.
    pub(super) async fn client(&self) -> Result<Client<'_>, Problem> {
        let first = async {
            let opened = Client::open(self).await;
            let opened = opened.or_blocked(self.rows().session, "there is no session")?;
            opened.leave().await;
            Ok(())
        };
        once(&self.observations.handshake, first).await?;
        self.another(Client::open).await
    }

    /// Checks that a client is served at all: a companion that refuses everything proves nothing.
    pub(super) async fn has_clients(&self) -> Result<(), Problem> {
        self.client().await?.leave().await;
        Ok(())
    }

    /// A further client. A companion that serves one at a time may still be parting with the one before.
    pub(super) async fn another<'a>(
        &'a self,
        connect: impl AsyncFn(&'a Self) -> Result<Client<'a>, NoAnswer>,
    ) -> Result<Client<'a>, Problem> {
        let until = Instant::now() + self.timeouts.answer;
        loop {
            let client = connect(self).await;
            if client.is_ok() || Instant::now() > until {
                return client.or_blocked(&["K8-two"], "no further client is served");
            }
            tokio::time::sleep(self.timeouts.quiet).await;
        }
    }

    /// Parts with every client that was left connected. False when one had a view open and the
    /// companion did not answer: it may be open still.
    pub(crate) async fn close_clients(&self) -> bool {
        let mut is_clean = true;
        for (socket, tabs) in self.claude.left.take() {
            let mut client = Client::on(self, socket);
            client.tabs = tabs;
            is_clean &= client.leave().await;
        }
        is_clean
    }
}

impl View {
    /// The arguments of the call.
    pub(super) fn arguments(&self, text: &str) -> Value {
        json!({
            "old_file_path": self.path,
            "new_file_path": self.path,
            "new_file_contents": text,
            "tab_name": self.tab,
        })
    }
}

impl<'a> Client<'a> {
    /// Connects and shakes hands, as the agent does.
    pub(super) async fn open(test: &'a TestContext) -> Result<Self, NoAnswer> {
        Self::open_by(test, of_agent(test)).await
    }

    /// The same with another request.
    pub(super) async fn open_by(test: &'a TestContext, probe: Probe) -> Result<Self, NoAnswer> {
        let mut client = Self::of(test, test.send(probe).await?).await?;
        client.initialize().await?;
        client.initialized().await?;
        Ok(client)
    }

    /// Connects, and says nothing as yet.
    pub(super) async fn connect(test: &'a TestContext) -> Result<Self, NoAnswer> {
        Self::of(test, test.send(of_agent(test)).await?).await
    }

    /// The client of a request that was answered.
    pub(super) async fn of(test: &'a TestContext, answer: Answer) -> Result<Self, NoAnswer> {
        agrees(&answer)?;
        let config = WebSocketConfig::default()
            .max_message_size(Some(MAX_ANSWER))
            .max_frame_size(Some(MAX_ANSWER));
        let stream = answer.upgraded().await?;
        let socket = WebSocketStream::from_raw_socket(stream, Role::Client, Some(config)).await;
        Ok(Self::on(test, socket))
    }

    fn on(test: &'a TestContext, socket: Socket) -> Self {
        Self {
            test,
            socket: Some(socket),
            tabs: Vec::new(),
            messages: Vec::new(),
            flaw: None,
            pong: None,
            end: None,
            last_id: 0,
            limit: test.timeouts.answer,
        }
    }

    /// The answer to `initialize`.
    pub(super) async fn initialize(&mut self) -> Result<Value, NoAnswer> {
        let params = initialize_params(NEWEST_VERSION);
        initialized(self.ask_with_id(&json!(0), "initialize", params).await?)
    }

    /// Says that it is ready, and who it is.
    pub(super) async fn initialized(&mut self) -> Result<(), NoAnswer> {
        self.send_text(notification("notifications/initialized"))
            .await?;
        let params = json!({"pid": std::process::id()});
        self.notify("ide_connected", params).await
    }

    /// Sends a frame or a message.
    pub(super) async fn send(&mut self, message: Message) -> Result<(), NoAnswer> {
        let Some(socket) = &mut self.socket else {
            return NoAnswer::because("the connection was cut");
        };
        let until = Instant::now() + self.limit;
        match timeout_at(until.into(), socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(self.ended(&error)),
            Err(_) => {
                let limit = self.limit;
                NoAnswer::because(format!("nothing is read within {limit:?}"))
            }
        }
    }

    pub(super) async fn send_text(&mut self, text: impl Into<String>) -> Result<(), NoAnswer> {
        self.send(Message::text(text.into())).await
    }

    pub(super) async fn notify(&mut self, method: &str, params: Value) -> Result<(), NoAnswer> {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.send_text(message.to_string()).await
    }

    /// Waits for the answer to a request, of the messages from this one on.
    pub(super) async fn answer(&mut self, from: usize, id: &Value) -> Result<Value, NoAnswer> {
        let limit = self.limit;
        let answer = self.wait_from(from, limit, |it| answers(it, id)).await;
        answer.ok_or_else(|| {
            let end = self.end.clone();
            NoAnswer::new(end.unwrap_or_else(|| format!("no answer within {limit:?}")))
        })
    }

    /// A view of this file, with a name and an id of its own, that is not proposed as yet.
    pub(super) fn view(&mut self, path: &str) -> View {
        View {
            tab: tab_name(self.test, path),
            path: path.to_owned(),
            id: self.new_id(),
        }
    }

    /// Proposes a text, and does not wait for the answer.
    pub(super) async fn open_diff(&mut self, view: &View, text: &str) -> Result<(), NoAnswer> {
        let meta = json!({"progressToken": view.id});
        let params = json!({"name": OPEN_DIFF, "arguments": view.arguments(text), "_meta": meta});
        self.tabs.push(view.tab.clone());
        let call = request(view.id.clone(), "tools/call", params);
        self.send_text(call).await
    }

    pub(super) async fn close_tab(&mut self, tab: &str) -> Result<ToolReply, NoAnswer> {
        let reply = self.call(CLOSE_TAB, json!({"tab_name": tab})).await?;
        self.tabs.retain(|open| open != tab);
        Ok(reply)
    }

    /// The answers to a request so far.
    pub(super) fn answers(&self, id: &Value) -> Vec<ToolReply> {
        let own = self.heard().filter(|message| answers(message, id));
        own.cloned().map(ToolReply).collect()
    }

    /// Nothing has answered a request so far.
    pub(super) fn unanswered(&self, id: &Value, what: &str) -> Result<(), Problem> {
        match self.answers(id).first() {
            Some(answer) => broken(format!("{what} is answered with {}", answer.shown())),
            None => Ok(()),
        }
    }

    /// Takes in what comes for as long as something that must not come is waited for.
    pub(super) async fn settle(&mut self) {
        self.listen(self.test.timeouts.quiet).await;
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

    /// Closes what is open and leaves as the agent does. False when the companion did not answer about
    /// a view.
    pub(super) async fn leave(mut self) -> bool {
        let mut is_clean = true;
        for tab in std::mem::take(&mut self.tabs) {
            is_clean &= self.end.is_some() || self.close_tab(&tab).await.is_ok();
        }
        let until = Instant::now() + self.limit;
        if let Some(socket) = &mut self.socket {
            let _ = timeout_at(until.into(), socket.close(None)).await;
        }
        // By then the companion knows of it.
        let until = Instant::now() + self.test.timeouts.quiet;
        while self.end.is_none() && self.hear(until).await {}
        self.cut();
        is_clean
    }

    /// Cuts the connection without a word.
    pub(super) fn cut(mut self) {
        self.socket = None;
    }
}

impl Agent for Client<'_> {
    fn messages(&self) -> &[(Instant, Value)] {
        &self.messages
    }

    fn end(&self) -> Option<&str> {
        self.end.as_deref()
    }

    fn new_id(&mut self) -> Value {
        self.last_id += 1;
        self.last_id.into()
    }

    async fn ask_with_id(
        &mut self,
        id: &Value,
        method: &str,
        params: Value,
    ) -> Result<Value, NoAnswer> {
        let from = self.messages.len();
        self.send_text(request(id.clone(), method, params)).await?;
        self.answer(from, id).await
    }

    /// The content of the answer is another rule's matter.
    async fn is_served(&mut self) -> Result<(), NoAnswer> {
        self.ask("tools/list", json!({})).await.map(drop)
    }

    async fn hear(&mut self, until: Instant) -> bool {
        let Some(socket) = self.socket.as_mut().filter(|_| self.end.is_none()) else {
            tokio::time::sleep_until(until.into()).await;
            return false;
        };
        let message = match timeout_at(until.into(), socket.next()).await {
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
            Message::Pong(payload) => self.pong = Some(payload),
            Message::Ping(_) | Message::Frame(_) => {}
        }
        true
    }
}

impl Drop for Client<'_> {
    fn drop(&mut self) {
        let socket = self.socket.take().filter(|_| self.end.is_none());
        let left = socket.map(|socket| (socket, std::mem::take(&mut self.tabs)));
        self.test.claude.left.borrow_mut().extend(left);
    }
}
