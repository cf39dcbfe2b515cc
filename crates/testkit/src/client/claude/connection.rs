//! The WebSocket to a companion, and the task that owns it: it sends what it is given, and hands out what comes.
//!
//! It never stops reading because it has something to send, nor the other way round: a companion that
//! does both at once is not waited for.

use std::collections::HashMap;
use std::future::pending;
use std::sync::Mutex;
use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use pillion_http::HeaderValue;
use pillion_http::header::SEC_WEBSOCKET_PROTOCOL;
use pillion_protocol::claude::{AUTHORIZATION_HEADER, SUBPROTOCOL, WEBSOCKET_PATH};
use pillion_system::lock;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::error::Error;
use tokio_tungstenite::tungstenite::protocol::{Message as Frame, WebSocketConfig};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use crate::client::claude::updates::{Inbox, update};
use crate::client::error::{ClientError, unreachable};
use crate::client::link::{self, MAX_MESSAGE, envelope};
use crate::client::message::{self, Message};
use pillion_agent::{Address, ClientError as Refusal};

/// The half that sends.
type Sink = SplitSink<WebSocketStream<TcpStream>, Frame>;
/// The half that receives.
type Stream = SplitStream<WebSocketStream<TcpStream>>;

/// The number of requests that may wait to be sent.
const MAX_COMMANDS: usize = 16;

/// The time limit for the companion to end the connection with us.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Connects and upgrades to a WebSocket, as Claude Code asks for it.
///
/// # Errors
/// When nothing listens, the upgrade is refused, or what answers is not a companion of this protocol.
pub(super) async fn open(address: &Address) -> Result<(Sink, Stream), ClientError> {
    let (host, port) = (address.host(), address.port()?);
    let mut request = format!("ws://{host}:{port}{WEBSOCKET_PATH}")
        .into_client_request()
        .map_err(unreachable)?;
    let headers = request.headers_mut();
    let subprotocol = HeaderValue::from_static(SUBPROTOCOL);
    headers.insert(SEC_WEBSOCKET_PROTOCOL, subprotocol);
    if let Some(token) = address.token_header("")? {
        headers.insert(AUTHORIZATION_HEADER, token);
    }
    let stream = TcpStream::connect((host, port))
        .await
        .map_err(unreachable)?;
    stream.set_nodelay(true).map_err(unreachable)?;
    let config = WebSocketConfig::default()
        .max_message_size(Some(MAX_MESSAGE))
        .max_frame_size(Some(MAX_MESSAGE));
    let opened = client_async_with_config(request, stream, Some(config)).await;
    let (socket, _) = opened.map_err(failure)?;
    Ok(socket.split())
}

/// The error of an upgrade that failed.
fn failure(error: Error) -> ClientError {
    match error {
        Error::Http(answer) if !answer.status().is_success() => {
            Refusal::Refused(answer.status().as_u16()).into()
        }
        Error::Io(error) => unreachable(error),
        error => ClientError::protocol(format!("no WebSocket: {error}")),
    }
}

/// A request to the task.
pub(super) enum Command {
    /// Sends a request; its answer goes there. No caller has to wait for it.
    Request {
        method: &'static str,
        params: Value,
        answer: oneshot::Sender<Result<Value, ClientError>>,
    },
    /// Sends what has no answer.
    Notify(Value),
}

/// A connection. Dropping it cuts it.
#[derive(Debug)]
pub(super) struct Connection {
    /// The one task. Dropped first: without `commands` it would end the connection in good order.
    tasks: JoinSet<()>,
    commands: mpsc::Sender<Command>,
}

impl Connection {
    /// Starts the task. Notifications of the companion go to `inbox`.
    pub(super) fn start(sink: Sink, stream: Stream, inbox: Inbox) -> Self {
        let (commands, waiting) = mpsc::channel(MAX_COMMANDS);
        let mut tasks = JoinSet::new();
        tasks.spawn(run(sink, stream, waiting, inbox));
        Self { commands, tasks }
    }

    /// The result of a request, however long it takes.
    ///
    /// # Errors
    /// [`ClientError::Lost`] when the connection ends first, [`Protocol`](pillion_agent::ClientError::Protocol) when the answer
    /// is an error.
    pub(super) async fn request(
        &self,
        method: &'static str,
        params: Value,
    ) -> Result<Value, ClientError> {
        let (answer, answered) = oneshot::channel();
        let command = Command::Request {
            method,
            params,
            answer,
        };
        self.command(command).await?;
        answered.await.unwrap_or(Err(ClientError::Lost))
    }

    /// Gives the task something to do.
    ///
    /// # Errors
    /// When the connection has ended.
    pub(super) async fn command(&self, command: Command) -> Result<(), ClientError> {
        let sent = self.commands.send(command).await;
        sent.map_err(|_| ClientError::Lost)
    }

    /// Ends the connection and waits until it has ended.
    pub(super) async fn close(mut self) {
        drop(self.commands);
        // A server that does not answer is cut off.
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, self.tasks.join_next()).await;
    }
}

/// The requests whose answers are still to come.
type Calls = HashMap<u64, oneshot::Sender<Result<Value, ClientError>>>;

/// Until the connection ends. All who wait learn it then because their channels are dropped.
async fn run(sink: Sink, stream: Stream, commands: mpsc::Receiver<Command>, inbox: Inbox) {
    let calls = Mutex::new(Calls::new());
    // One at a time: a companion that asks faster than it reads gets no other answer.
    let (reply, replies) = mpsc::channel(1);
    tokio::select! {
        () = write(sink, commands, replies, &calls) => {}
        () = read(stream, inbox, reply, &calls) => {}
    }
}

/// Sends one message after the other, and ends the connection when nobody has anything to say any more.
async fn write(
    mut sink: Sink,
    mut commands: mpsc::Receiver<Command>,
    mut replies: mpsc::Receiver<Value>,
    calls: &Mutex<Calls>,
) {
    let mut last_id = 0;
    loop {
        let message = tokio::select! {
            Some(reply) = replies.recv() => reply,
            command = commands.recv() => match command {
                Some(Command::Request { method, params, answer }) => {
                    last_id += 1;
                    let mut calls = lock(calls);
                    calls.retain(|_, answer| !answer.is_closed());
                    calls.insert(last_id, answer);
                    json!({"id": last_id, "method": method, "params": params})
                }
                Some(Command::Notify(message)) => message,
                None => {
                    // The end is what was wanted, however it comes.
                    let _ = sink.close().await;
                    return pending().await;
                }
            },
        };
        let Ok(text) = envelope(message).try_into() else {
            // JSON is Unicode.
            return;
        };
        if sink.send(Frame::Text(text)).await.is_err() {
            return;
        }
    }
}

/// Hands out what comes.
async fn read(mut stream: Stream, inbox: Inbox, reply: mpsc::Sender<Value>, calls: &Mutex<Calls>) {
    // The library answers pings, and closes when it is asked to.
    while let Some(Ok(frame)) = stream.next().await {
        let Frame::Text(text) = frame else { continue };
        for message in message::parse(text.as_bytes()) {
            match message {
                Message::Response { id, result } => {
                    let call = id.as_u64().and_then(|id| lock(calls).remove(&id));
                    let result = result.map_err(|error| message::rpc_error(&error));
                    // No caller has to wait for it.
                    let _ = call.map(|call| call.send(result));
                }
                Message::Notification { method, params } => {
                    if let Some(update) = update(&method, params) {
                        inbox.put(update);
                    }
                }
                Message::Request { id, method } => {
                    let _ = reply.try_send(link::reply(id, &method));
                }
            }
        }
    }
}
