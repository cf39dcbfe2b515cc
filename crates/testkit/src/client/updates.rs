//! The notifications that a companion pushes: context and outcomes.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use pillion_agent::ClientError as Refusal;
use pillion_http::{Event, Events};
use pillion_protocol::context::CONTEXT_UPDATE;
use pillion_protocol::{IdeContext, Outcome};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::client::backoff::Backoff;
use crate::client::error::ClientError;
use crate::client::link::{Link, reply};
use crate::client::message::{self, Message};

/// A companion that ends the event stream before it has paused for so long is given up.
const MAX_PAUSE: Duration = Duration::from_millis(400);

/// One pushed notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Update {
    /// The editor's context changed (C4), as the companion sent it:
    /// [`IdeContext::as_seen_by_agent`] is what an agent makes of it (C4.8).
    Context(IdeContext),
    /// The reviewer accepted a diff (C5.6).
    DiffAccepted {
        /// The file, as it was given to [`Client::open_diff`](crate::client::Client::open_diff).
        path: String,
        /// The complete final text.
        content: String,
    },
    /// The reviewer rejected a diff (C5.7), also by its old name `ide/diffClosed`.
    DiffRejected {
        /// The file, as it was given to [`Client::open_diff`](crate::client::Client::open_diff).
        path: String,
    },
}

impl Update {
    /// Accepted, with this text.
    pub fn accepted(path: impl Into<String>, content: impl Into<String>) -> Self {
        Self::DiffAccepted {
            path: path.into(),
            content: content.into(),
        }
    }
}

/// The event stream of a session. Unread events wait at the companion; dropping it closes the
/// stream.
#[derive(Debug)]
pub struct Updates {
    link: Arc<Link>,
    /// None after the end.
    stream: Option<Events>,
    /// The updates that were read already.
    ready: VecDeque<Update>,
    /// The updates that came with the answer to a call.
    aside: mpsc::Receiver<Update>,
    /// The answer to the companion that is on its way.
    replying: JoinSet<()>,
    /// When the stream was opened, and how long to wait before it is opened again.
    opened: Instant,
    backoff: Backoff,
}

impl Updates {
    pub(crate) fn new(link: Arc<Link>, stream: Events, aside: mpsc::Receiver<Update>) -> Self {
        Self {
            link,
            stream: Some(stream),
            ready: VecDeque::new(),
            aside,
            replying: JoinSet::new(),
            opened: Instant::now(),
            backoff: Backoff::default(),
        }
    }

    /// The next update; `None` when the companion ended the stream, or broke it. Cancel-safe.
    /// After the end it still gives what comes with the answers to calls.
    ///
    /// Notifications that the contract does not know are skipped, and requests of the companion
    /// are answered: `ping` as MCP wants it, everything else with "method not found".
    pub async fn next(&mut self) -> Option<Update> {
        loop {
            if let Some(update) = self.ready.pop_front() {
                return Some(update);
            }
            let Some(stream) = &mut self.stream else {
                return self.aside.try_recv().ok();
            };
            let events = tokio::select! {
                Some(update) = self.aside.recv() => return Some(update),
                events = stream.next() => events.ok().flatten(),
            };
            let Some(events) = events else {
                self.stream = None;
                continue;
            };
            for event in events.into_iter().filter(Event::is_message) {
                for message in message::parse(event.data.as_bytes()) {
                    self.take(message);
                }
            }
        }
    }

    /// As [`next`](Self::next), but opens the stream again when it ends. Cancel-safe.
    ///
    /// # Errors
    /// When the companion or the session is gone, or the companion ends every stream at once.
    pub async fn next_of_session(&mut self) -> Result<Update, ClientError> {
        loop {
            if let Some(update) = self.next().await {
                return Ok(update);
            }
            let pause = self.backoff.next(self.opened.elapsed());
            if pause > MAX_PAUSE {
                let text = "it keeps closing the event stream";
                return Err(ClientError::protocol(text.to_owned()));
            }
            tokio::time::sleep(pause).await;
            // A companion of Pillion's has kept the outcomes for it.
            let opened = self.link.open_stream().await;
            self.stream = Some(opened.map_err(|error| match error {
                // Another companion knows nothing of this session.
                ClientError::Refusal(Refusal::Unreachable(_) | Refusal::Refused(400..=499)) => {
                    ClientError::Lost
                }
                error => error,
            })?);
            self.opened = Instant::now();
        }
    }

    /// The editor's next context, as an agent sees it (C4.8). Cancel-safe. Outcomes are skipped.
    ///
    /// # Errors
    /// As [`next_of_session`](Self::next_of_session).
    pub async fn context(&mut self) -> Result<IdeContext, ClientError> {
        loop {
            if let Update::Context(context) = self.next_of_session().await? {
                return Ok(context.as_seen_by_agent());
            }
        }
    }

    /// Waits until a person has decided about the diff of this file, however long that takes. The accepted
    /// text may be another one than the proposed: the reviewer can edit it. Cancel-safe. Updates about
    /// something else are skipped.
    ///
    /// # Errors
    /// [`ClientError::Lost`] when the companion or the session is gone before.
    pub async fn decision(&mut self, file: &str) -> Result<Outcome, ClientError> {
        loop {
            let update = self.next_of_session().await;
            match update.map_err(|_| ClientError::Lost)? {
                Update::DiffAccepted { path, content } if path == file => {
                    return Ok(Outcome::accepted(content));
                }
                Update::DiffRejected { path } if path == file => return Ok(Outcome::Rejected),
                _ => {}
            }
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Notification { method, params } => {
                self.ready.extend(update(&method, params));
            }
            Message::Request { id, method } => {
                // One at a time: a companion that asks faster than it reads gets no answer.
                while self.replying.try_join_next().is_some() {}
                if self.replying.is_empty() {
                    let link = Arc::clone(&self.link);
                    let reply = reply(id, &method);
                    // The companion may not care any more.
                    self.replying
                        .spawn(async move { drop(link.notify(reply).await) });
                }
            }
            Message::Response { .. } => {}
        }
    }
}

/// The update that a notification is.
pub(crate) fn update(method: &str, mut params: Value) -> Option<Update> {
    if method == CONTEXT_UPDATE {
        make_integers(&mut params);
        return serde_json::from_value(params).ok().map(Update::Context);
    }
    let mut take = |field| match params.get_mut(field)?.take() {
        Value::String(text) => Some(text),
        _ => None,
    };
    let path = take("filePath")?;
    match method {
        "ide/diffAccepted" => {
            let content = take("content")?;
            Some(Update::DiffAccepted { path, content })
        }
        "ide/diffRejected" | "ide/diffClosed" => Some(Update::DiffRejected { path }),
        _ => None,
    }
}

/// Agents take any number for a time or a position: some companions send fractions.
fn make_integers(params: &mut Value) {
    let files = params.pointer_mut("/workspaceState/openFiles");
    for file in files.and_then(Value::as_array_mut).into_iter().flatten() {
        for pointer in ["/timestamp", "/cursor/line", "/cursor/character"] {
            if let Some(number) = file.pointer_mut(pointer)
                && number.as_u64().is_none()
                && let Some(float) = number.as_f64()
            {
                // `as` keeps to the limits of the type.
                *number = (float as u64).into();
            }
        }
    }
}
