//! The task that owns a connection: it sends what it is given, and hands out what comes.
//!
//! It never stops reading because it has something to send, nor the other way round: a companion that
//! does both at once is not waited for.

use std::collections::HashMap;
use std::future::poll_fn;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::protocol::Message as Frame;

use crate::claude::socket::{Sink, Stream};
use crate::claude::updates::{Inbox, update};
use crate::error::ClientError;
use crate::link::{envelope, reply};
use crate::message::{self, Message};

/// How many requests may wait to be sent.
const MAX_COMMANDS: usize = 16;

/// How long the companion may take to end the connection with us.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// What the task is asked to do.
pub(super) enum Command {
    /// Sends a request; its answer goes there. No caller has to wait for it.
    Request {
        method: &'static str,
        params: Value,
        answer: oneshot::Sender<Result<Value, ClientError>>,
    },
    /// Sends what has no answer.
    Notify(Value),
    /// Ends the connection.
    Close,
}

/// A connection. Dropping it cuts it.
#[derive(Debug)]
pub(super) struct Connection {
    commands: mpsc::Sender<Command>,
    /// The one task, which ends with this.
    tasks: JoinSet<()>,
}

impl Connection {
    /// Starts the task. Notifications of the companion go to `inbox`.
    pub(super) fn start(sink: Sink, stream: Stream, inbox: Inbox) -> Self {
        let (commands, waiting) = mpsc::channel(MAX_COMMANDS);
        let task = Task {
            sink,
            inbox,
            last_id: 0,
            calls: HashMap::new(),
            is_sending: false,
            reply: None,
        };
        let mut tasks = JoinSet::new();
        tasks.spawn(task.run(stream, waiting));
        Self { commands, tasks }
    }

    /// The result of a request, however long it takes.
    ///
    /// # Errors
    /// [`ClientError::Lost`] when the connection ends first, [`ClientError::Protocol`] when the answer
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
        if self.command(Command::Close).await.is_ok() {
            // A server that does not answer is cut off.
            let _ = tokio::time::timeout(CLOSE_TIMEOUT, self.tasks.join_next()).await;
        }
    }
}

struct Task {
    sink: Sink,
    inbox: Inbox,
    last_id: u64,
    /// The requests whose answers are still to come.
    calls: HashMap<u64, oneshot::Sender<Result<Value, ClientError>>>,
    /// Whether a message is still on its way out.
    is_sending: bool,
    /// The answer to a request of the companion's that goes out next: a companion that asks faster than it
    /// reads gets no other.
    reply: Option<Value>,
}

impl Task {
    /// Until the connection ends, or nobody has anything to say any more. All who wait learn it then
    /// because their channels are dropped.
    async fn run(mut self, mut stream: Stream, mut commands: mpsc::Receiver<Command>) {
        loop {
            if !self.is_sending
                && let Some(reply) = self.reply.take()
                && !self.send(reply)
            {
                return;
            }
            let sink = &mut self.sink;
            tokio::select! {
                command = commands.recv(), if !self.is_sending => match command {
                    Some(Command::Request { method, params, answer }) => {
                        if !self.call(method, params, answer) {
                            return;
                        }
                    }
                    Some(Command::Notify(message)) => {
                        if !self.send(message) {
                            return;
                        }
                    }
                    Some(Command::Close) => {
                        // The end is what was wanted, however it comes.
                        let _ = sink.close().await;
                        while let Some(Ok(_)) = stream.next().await {}
                        return;
                    }
                    None => return,
                },
                flushed = poll_fn(|context| sink.poll_flush_unpin(context)), if self.is_sending => {
                    if flushed.is_err() {
                        return;
                    }
                    self.is_sending = false;
                }
                frame = stream.next() => match frame {
                    Some(Ok(Frame::Text(text))) => self.take(text.as_bytes()),
                    // The library answers pings, and closes when it is asked to.
                    Some(Ok(_)) => {}
                    Some(Err(_)) | None => return,
                },
            }
        }
    }

    fn call(
        &mut self,
        method: &str,
        params: Value,
        answer: oneshot::Sender<Result<Value, ClientError>>,
    ) -> bool {
        self.calls.retain(|_, answer| !answer.is_closed());
        self.last_id += 1;
        self.calls.insert(self.last_id, answer);
        self.send(json!({"id": self.last_id, "method": method, "params": params}))
    }

    /// Starts to send a message. False if the connection has ended.
    fn send(&mut self, message: Value) -> bool {
        let Ok(text) = envelope(message).try_into() else {
            // JSON is Unicode.
            return false;
        };
        self.is_sending = true;
        self.sink.start_send_unpin(Frame::Text(text)).is_ok()
    }

    fn take(&mut self, text: &[u8]) {
        for message in message::parse(text) {
            match message {
                Message::Response { id, result } => {
                    let call = id.as_u64().and_then(|id| self.calls.remove(&id));
                    if let Some(call) = call {
                        let result = result.map_err(|error| message::rpc_error(&error));
                        // No caller has to wait for it.
                        let _ = call.send(result);
                    }
                }
                Message::Notification { method, params } => {
                    if let Some(update) = update(&method, params) {
                        self.inbox.put(update);
                    }
                }
                Message::Request { id, method } => self.reply = Some(reply(id, &method)),
            }
        }
    }
}
