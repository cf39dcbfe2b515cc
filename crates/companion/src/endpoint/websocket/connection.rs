//! One WebSocket: what comes is answered, and what is to be pushed is sent, each without waiting for
//! the other.
//!
//! A client that does not read is not read from either, not even if it only pings.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use pillion_discovery::budget::Budget;
use pillion_protocol::Dialect;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::{Instant, interval_at, sleep};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::{CapacityError, Error as WebSocketError};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Bytes, Message as Frame, Utf8Bytes};

use crate::endpoint::unfinished::{Begun, Counted, MAX_MESSAGE};
use crate::mcp::{Answer, EventStream, Mcp, Message, OpenError, Request};
use crate::sessions::SessionId;
use crate::wire::Wire;

/// The most bytes that are read at once.
const READ_BUFFER: usize = 16 * 1024;

/// The most answers that may wait to be sent: an agent that does not read them is not read either.
const MAX_UNREAD: usize = 64;

/// The time limit for a message to come.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(30);

/// The interval at which the other end is pinged, so that nothing between us takes the connection for dead.
const PING_INTERVAL: Duration = Duration::from_secs(45);

/// The time limit for the other end to close.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(200);

/// After this notification the agent listens.
const INITIALIZED: &str = "notifications/initialized";

type Socket = WebSocketStream<Counted<TokioIo<Upgraded>>>;

/// A connection that is about to be a WebSocket.
pub(in crate::endpoint) struct Upgrade {
    pub(super) on: OnUpgrade,
    pub(super) agent: Dialect,
    pub(super) mcp: Mcp,
    pub(super) wire: Arc<Wire>,
    pub(super) unfinished: Budget,
}

/// A message that is to be sent.
enum Outgoing {
    /// With what is given back when it is sent.
    Answer(Vec<u8>, OwnedSemaphorePermit),
    /// The agent listens: what is pushed to it may go.
    Stream(Box<EventStream>),
    /// The answer to a ping, which is made by itself, with what is given back when it is sent.
    Pong(OwnedSemaphorePermit),
    Close(CloseCode, &'static str),
}

impl Upgrade {
    /// Serves it until either end closes it, or the companion stops.
    pub(in crate::endpoint) async fn serve(self) {
        // Gone before it was one.
        let Ok(upgraded) = self.on.await else { return };
        let begun = Begun::new(&self.unfinished);
        let counted = Counted::new(TokioIo::new(upgraded), begun.clone());
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_BUFFER)
            .write_buffer_size(0)
            .max_message_size(Some(MAX_MESSAGE))
            .max_frame_size(Some(MAX_MESSAGE));
        let socket = WebSocketStream::from_raw_socket(counted, Role::Server, Some(config)).await;
        let (sink, frames) = socket.split();
        let (outgoing, queue) = mpsc::unbounded_channel();
        let mut reader = Reader {
            agent: self.agent,
            mcp: self.mcp,
            wire: self.wire,
            begun,
            outgoing,
            session: None,
            calls: JoinSet::new(),
            unread: Arc::new(Semaphore::new(MAX_UNREAD)),
        };
        tokio::select! {
            () = reader.read(frames) => {}
            () = write(sink, queue) => {}
        }
        if let Some(session) = &reader.session {
            reader.mcp.end(session);
        }
    }
}

struct Reader {
    agent: Dialect,
    mcp: Mcp,
    wire: Arc<Wire>,
    begun: Begun,
    outgoing: mpsc::UnboundedSender<Outgoing>,
    session: Option<SessionId>,
    calls: JoinSet<()>,
    unread: Arc<Semaphore>,
}

impl Reader {
    /// Reads until the connection is over.
    async fn read(&mut self, mut frames: SplitStream<Socket>) {
        let mut timer = pin!(sleep(MESSAGE_TIMEOUT));
        loop {
            while self.calls.try_join_next().is_some() {}
            let begun = &self.begun;
            // Polled after the frames, which come in parts: only what has begun is waited for.
            let overdue = poll_fn(|context| {
                let Some(since) = begun.since() else {
                    return Poll::Pending;
                };
                let until = Instant::from(since + MESSAGE_TIMEOUT);
                if timer.deadline() != until {
                    timer.as_mut().reset(until);
                }
                timer.as_mut().poll(context)
            });
            let is_overdue = begun
                .since()
                .is_some_and(|since| since.elapsed() > MESSAGE_TIMEOUT);
            let frame = tokio::select! {
                biased;
                frame = frames.next(), if !is_overdue => frame,
                () = overdue => {
                    return self.close(CloseCode::Policy, "a message took too long").await;
                }
            };
            match frame {
                Some(Ok(Frame::Text(text))) => {
                    self.receive(text.as_bytes()).await;
                    drop(text);
                    self.begun.complete();
                }
                Some(Ok(Frame::Binary(_))) => {
                    return self
                        .close(CloseCode::Unsupported, "messages must be text")
                        .await;
                }
                Some(Ok(control)) => {
                    self.begun.complete_control(control.len());
                    if control.is_ping() {
                        let permit = self.permit().await;
                        let _ = self.outgoing.send(Outgoing::Pong(permit));
                    }
                }
                Some(Err(error)) => {
                    let Some((code, reason)) = fault(&error) else {
                        return;
                    };
                    return self.close(code, reason).await;
                }
                None => return,
            }
        }
    }

    /// Waits until the other end has read enough of what it was answered.
    async fn permit(&self) -> OwnedSemaphorePermit {
        let unread = Arc::clone(&self.unread).acquire_owned();
        unread.await.expect("nobody closes it")
    }

    async fn receive(&mut self, bytes: &[u8]) {
        let permit = self.permit().await;
        match (Message::parse(bytes), &self.session) {
            (Err(malformed), _) => self.answer(&Answer::malformed(malformed), permit),
            (Ok(Message::Request(request)), None) => self.open(request, permit),
            (Ok(Message::Request(request)), Some(session)) => {
                let answered = self.mcp.clone().answer(Arc::clone(session), request, None);
                let outgoing = self.outgoing.clone();
                self.calls.spawn(async move {
                    if let Some(answer) = answered.await {
                        let _ = outgoing.send(Outgoing::Answer(written(&answer), permit));
                    }
                });
                // The call is with the loop before the next message is read: their order counts.
                tokio::task::yield_now().await;
            }
            (Ok(Message::Notification { method, params }), Some(session)) => {
                if method == INITIALIZED {
                    let stream = self.mcp.stream(session, Arc::clone(&self.wire));
                    let stream = stream.map(|stream| Outgoing::Stream(Box::new(stream)));
                    stream.map(|stream| self.outgoing.send(stream));
                }
                self.mcp.notified(session, &method, params);
            }
            (Ok(Message::Notification { .. } | Message::Response), _) => {}
        }
    }

    fn open(&mut self, request: Request, permit: OwnedSemaphorePermit) {
        let answer = match self.mcp.open(self.agent, request) {
            Ok((session, answer)) => {
                self.session = Some(session);
                answer
            }
            Err(OpenError::Refused(answer) | OpenError::UnknownRevision(answer)) => answer,
            Err(OpenError::NoInitialize(id)) => {
                Answer::refused(id, "there is no session: initialize first")
            }
            Err(OpenError::TooMany(id)) => Answer::refused(id, "too many sessions are open"),
            Err(OpenError::NoRandomness(id)) => {
                Answer::refused(id, "the system has no random bytes for a session")
            }
        };
        self.answer(&answer, permit);
    }

    fn answer(&self, answer: &Answer, permit: OwnedSemaphorePermit) {
        let _ = self
            .outgoing
            .send(Outgoing::Answer(written(answer), permit));
    }

    /// Says why the connection ends, and waits for that to be sent: then it is over.
    async fn close(&self, code: CloseCode, reason: &'static str) {
        let _ = self.outgoing.send(Outgoing::Close(code, reason));
        self.outgoing.closed().await;
    }
}

/// Sends what is to be sent until the connection or the session is over.
async fn write(mut sink: SplitSink<Socket, Frame>, mut queue: mpsc::UnboundedReceiver<Outgoing>) {
    let mut ping = interval_at(Instant::now() + PING_INTERVAL, PING_INTERVAL);
    let mut stream: Option<EventStream> = None;
    loop {
        let mut push = Vec::new();
        let pushed = async {
            match &mut stream {
                Some(stream) => stream.next(&mut push).await,
                None => std::future::pending().await,
            }
        };
        let sent = tokio::select! {
            biased;
            next = queue.recv() => match next {
                Some(Outgoing::Answer(answer, _permit)) => sink.send(text(answer)).await,
                Some(Outgoing::Pong(_permit)) => sink.flush().await,
                Some(Outgoing::Stream(opened)) => {
                    stream = Some(*opened);
                    continue;
                }
                Some(Outgoing::Close(code, reason)) => return say_goodbye(sink, code, reason).await,
                None => return,
            },
            is_open = pushed => {
                if !is_open {
                    return say_goodbye(sink, CloseCode::Away, "the companion is stopping").await;
                }
                sink.send(text(push)).await
            }
            _ = ping.tick() => sink.send(Frame::Ping(Bytes::new())).await,
        };
        if sent.is_err() {
            return;
        }
    }
}

async fn say_goodbye(mut sink: SplitSink<Socket, Frame>, code: CloseCode, reason: &'static str) {
    let frame = CloseFrame {
        code,
        reason: Utf8Bytes::from_static(reason),
    };
    let goodbye = sink.send(Frame::Close(Some(frame)));
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, goodbye).await;
}

fn written(answer: &Answer) -> Vec<u8> {
    let mut text = Vec::new();
    answer.write_to(&mut text);
    text
}

fn text(json: Vec<u8>) -> Frame {
    Frame::text(String::from_utf8(json).expect("JSON is UTF-8"))
}

/// Returns the other end's fault, if that is reported to it.
fn fault(error: &WebSocketError) -> Option<(CloseCode, &'static str)> {
    match error {
        WebSocketError::Capacity(CapacityError::MessageTooLong { .. }) => {
            Some((CloseCode::Size, "a message is longer than 64 MiB"))
        }
        WebSocketError::Protocol(_) => Some((CloseCode::Protocol, "a frame is malformed")),
        WebSocketError::Utf8(_) => Some((CloseCode::Invalid, "a text is not UTF-8")),
        _ => None,
    }
}
