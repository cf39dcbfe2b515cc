//! MCP, whatever carries it: what a companion answers, and what it pushes. A transport
//! reads messages, determines their session, and writes what comes back.
//!
//! This is our own code, as is the client's: little of MCP is needed here, which is a handshake, a few tools and
//! notifications. The SDK's server had to be wrapped everywhere, because its defaults break the real agents
//! (priming events, event ids, replays, a timeout for silent sessions); it also kept a second record of sessions,
//! and took most of the time of a call.
//!
//! A call goes to the loop as one event, and its answer comes back on a channel; there is no other way.

mod answer;
mod calls;
mod message;
mod toolset;

use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pillion_discovery::tokens::random_token;
use pillion_protocol::{AgentProcess, Dialect};
use pillion_system::{process, spawn};
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;

pub(crate) use self::answer::Answer;
use self::answer::{Error, INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, Success, write_push};
use self::calls::Calls;
pub(crate) use self::message::{Message, Request};
use crate::agents::{self, AgentProtocol, Reply};
use crate::event::{Event, Events};
use crate::ids::RequestId;
use crate::outbox;
use crate::sessions::{SessionId, Sessions, TooManySessions};
use crate::tasks;
use crate::who::Who;
use crate::wire::Wire;

/// The revisions that are spoken, oldest first: those that have sessions and an event stream. Newer
/// ones know neither.
const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

const INITIALIZE: &str = "initialize";

/// With this an agent tells its process.
const IDE_CONNECTED: &str = "ide_connected";

/// The server's side of MCP. Clones share its sessions.
#[derive(Debug, Clone)]
pub(crate) struct Mcp {
    sessions: Sessions,
    calls: Calls,
    events: Events,
    who: Who,
}

/// The reason why no session was opened.
#[derive(Debug)]
pub(crate) enum OpenError {
    /// The request is in a revision that is not spoken here. The agent goes on with another when it has read this.
    UnknownRevision(Answer),
    /// The request, which has this id, asks for something else.
    NoInitialize(RequestId),
    /// It asks in a way that this answers.
    Refused(Answer),
    TooMany(RequestId),
    NoRandomness(RequestId),
}

/// An open event stream of a session. Dropping it closes the stream.
#[derive(Debug)]
pub(crate) struct EventStream {
    stream: outbox::Stream,
    session: SessionId,
    agent: Dialect,
    mcp: Mcp,
}

impl Mcp {
    pub(crate) fn new(sessions: Sessions, events: Events, who: Who) -> Self {
        let calls = Calls::default();
        Self {
            sessions,
            calls,
            events,
            who,
        }
    }

    /// Finds out which processes hold an agent's connection. Nobody is judged until they are known.
    fn identify(&self, session: &SessionId, wire: Arc<Wire>) {
        let Some(agent) = self.sessions.note_wire(session, &wire) else {
            return;
        };
        let claimed = self.sessions.process(session);
        let sought = self.who.seek();
        let find = move || sought.find(agent, Some(&wire), claimed);
        if let Err(error) = spawn("an agent's process", find) {
            tracing::warn!(%error, "an agent's process is not looked for");
        }
    }

    /// The session of this name, if it is open and this agent's.
    pub(crate) fn session(&self, name: &str, agent: Dialect) -> Option<SessionId> {
        self.sessions.find(name, agent)
    }

    /// Opens a session, if that is what the request asks for.
    ///
    /// # Errors
    /// When it asks for something else or in a wrong way, or the agent has too many sessions.
    pub(crate) fn open(
        &self,
        agent: Dialect,
        request: Request,
    ) -> Result<(SessionId, Answer), OpenError> {
        let Request { id, method, params } = request;
        if method != INITIALIZE {
            return Err(match agents::of(agent).tries_newer_revision() {
                true => OpenError::UnknownRevision(Answer::new(id, Err(unknown_method(&method)))),
                false => OpenError::NoInitialize(id),
            });
        }
        let outcome = initialize(&params);
        if outcome.is_err() {
            return Err(OpenError::Refused(Answer::new(id, outcome)));
        }
        let agent = toolset::who(agent, &params);
        let name = random_token();
        let Ok(name) = name else {
            return Err(OpenError::NoRandomness(id));
        };
        let session = SessionId::from(name.expose());
        let opened = self
            .sessions
            .open(Arc::clone(&session), agent, Instant::now());
        if let Err(TooManySessions) = opened {
            return Err(OpenError::TooMany(id));
        }
        if toolset::is_suite(&params) {
            self.sessions.plays_the_person(&session);
        }
        if toolset::drops_last_line_feed(agent, &params) {
            self.sessions.drops_last_line_feed(&session);
        }
        tracing::info!(%agent, "session opened");
        Ok((session, Answer::new(id, outcome)))
    }

    /// Answers a request of a session; not at all if the agent takes it back meanwhile. The answer is written to this
    /// wire, if that is known.
    pub(crate) async fn answer(
        self,
        session: SessionId,
        request: Request,
        wire: Option<Arc<Wire>>,
    ) -> Option<Answer> {
        self.sessions.note_activity(&session, Instant::now());
        if let Some(wire) = wire
            .as_ref()
            .filter(|_| self.sessions.is_without_wire(&session))
        {
            self.identify(&session, Arc::clone(wire));
        }
        let Request { id, method, params } = request;
        let outcome = match method.as_str() {
            INITIALIZE => initialize(&params),
            "ping" => Ok(Success::Value(json!({}))),
            "tools/list" => {
                let protocol = self.protocol(&session)?;
                if let Some(time) = protocol.settle_time() {
                    self.settle(&session, time);
                }
                Ok(Success::Value(toolset::list(
                    protocol.tools(self.sessions.shows_diffs()),
                )))
            }
            "tools/call" => {
                let mut running = self.calls.begin(&session, &id);
                tokio::select! {
                    outcome = self.call(&session, &id, params, wire) => match outcome.transpose() {
                        Some(outcome) => outcome,
                        // What the person decides is pushed.
                        None => return None,
                    },
                    () = running.cancelled() => return None,
                }
            }
            _ => Err(unknown_method(&method)),
        };
        Some(Answer::new(id, outcome))
    }

    /// Takes note of a notification.
    pub(crate) fn notified(&self, session: &SessionId, method: &str, params: Map<String, Value>) {
        if method == IDE_CONNECTED {
            let pid = params.get("pid").and_then(Value::as_u64);
            if let Some(pid) = pid.and_then(|pid| pid.try_into().ok()) {
                self.sessions.note_process(session, pid);
                if let Some(started_at) = process::started_at(pid) {
                    let process = AgentProcess { pid, started_at };
                    self.tell(Event::Identified(Arc::clone(session), process));
                }
                if let Some(wire) = self.sessions.wire(session) {
                    self.identify(session, wire);
                }
            }
        }
        if method == "notifications/cancelled" {
            let id = params.get("requestId").cloned().and_then(RequestId::new);
            if let Some(request) = id {
                self.calls.cancel(session, &request);
                let session = Arc::clone(session);
                self.tell(Event::CallCancelled { session, request });
            }
        }
    }

    /// Opens an event stream of a session, which is written to this wire.
    pub(crate) fn stream(&self, session: &SessionId, wire: Arc<Wire>) -> Option<EventStream> {
        let agent = self.sessions.agent(session)?;
        let outbox = self.sessions.stream_opened(session)?;
        self.identify(session, Arc::clone(&wire));
        self.tell(Event::StreamOpened(Arc::clone(session)));
        Some(EventStream {
            stream: match agents::of(agent).waits_for_outcomes() {
                true => outbox.stream(Some(wire)).without_answers(),
                false => outbox.stream(Some(wire)),
            },
            session: Arc::clone(session),
            agent,
            mcp: self.clone(),
        })
    }

    pub(crate) fn end(&self, session: &SessionId) {
        self.sessions.end(session);
        self.tell(Event::SessionEnded(Arc::clone(session)));
    }

    /// Hands a call to the loop and waits for the answer; none, if it comes as a push.
    async fn call(
        &self,
        session: &SessionId,
        id: &RequestId,
        mut params: Map<String, Value>,
        wire: Option<Arc<Wire>>,
    ) -> Result<Option<Success>, Error> {
        let ended = || Error::new(INTERNAL_ERROR, "the session has ended");
        let protocol = self.protocol(session).ok_or_else(ended)?;
        let invalid = |message: String| Error::new(INVALID_PARAMS, message);
        let name = params.get("name").and_then(Value::as_str);
        let name =
            name.ok_or_else(|| invalid("tools/call: name is missing or not a string".into()))?;
        let meta = params.get("_meta");
        let is_models = meta.is_some_and(|meta| protocol.is_models(meta));
        let tool = protocol.tool(name, is_models);
        let tool = tool.ok_or_else(|| invalid(format!("unknown tool {name:?}")))?;
        let arguments = match params.remove("arguments") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(arguments)) => arguments,
            Some(_) => return Err(invalid("tools/call: arguments is not an object".into())),
        };
        let (caller, answer) = oneshot::channel();
        let event = Event::ToolCalled {
            session: Arc::clone(session),
            request: id.clone(),
            tool,
            arguments,
            is_models,
            caller,
        };
        let stopping = || Error::new(INTERNAL_ERROR, "the companion is stopping");
        self.events.send(event).map_err(|_| stopping())?;
        let waits = protocol.waits_for_outcomes();
        let waiting = waits.then(|| Waiting {
            mcp: self,
            session,
            request: id,
        });
        let result = match protocol.patience(tool) {
            Some(limit) => tokio::time::timeout(limit, answer).await.ok(),
            None => Some(answer.await),
        };
        let reply = protocol.answer(tool, result.and_then(Result::ok));
        if matches!(reply, Some(Reply::Outcome)) {
            let texts = self.outcome(session, id, wire).await;
            mem::forget(waiting);
            return texts.map(Success::Blocks).map(Some).ok_or_else(stopping);
        }
        mem::forget(waiting);
        Ok(match reply.ok_or_else(stopping)? {
            Reply::Tool(result) => Some(Success::Tool(result)),
            Reply::Blocks(texts) => Some(Success::Blocks(texts)),
            Reply::Decision | Reply::Outcome => None,
        })
    }

    /// Waits for the person's decision about the proposal of a request; none if the session ends before.
    async fn outcome(
        &self,
        session: &SessionId,
        id: &RequestId,
        wire: Option<Arc<Wire>>,
    ) -> Option<Vec<String>> {
        let outbox = self.sessions.outbox(session)?;
        let delivery = outbox.outcome_of(id, wire).await?;
        match self.protocol(session)?.outcome(delivery) {
            agents::Message::Answer(_, texts) => Some(texts),
            agents::Message::Notification(..) => None,
        }
    }

    /// The agent is about to listen: what it was sent before is sent again.
    fn settle(&self, session: &SessionId, time: Duration) {
        let (mcp, session) = (self.clone(), Arc::clone(session));
        tasks::spawn(async move {
            tokio::time::sleep(time).await;
            mcp.tell(Event::Settled(session));
        });
    }

    /// The protocol of a session; none once that is forgotten.
    fn protocol(&self, session: &SessionId) -> Option<&'static dyn AgentProtocol> {
        self.sessions.agent(session).map(agents::of)
    }

    /// The loop may be gone while the last requests are answered.
    fn tell(&self, event: Event) {
        let _ = self.events.send(event);
    }
}

impl EventStream {
    /// Writes the next push to the end of `out`, as soon as there is one; whether there was: none
    /// comes when the session is over. Nothing is lost when this is dropped before it is done.
    pub(crate) async fn next(&mut self, out: &mut Vec<u8>) -> bool {
        while let Some(push) = self.stream.next().await {
            if write_push(push, self.agent, out) {
                return true;
            }
        }
        false
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        let Self { mcp, session, .. } = self;
        mcp.sessions.stream_closed(session, Instant::now());
        mcp.tell(Event::StreamClosed);
    }
}

/// A call whose answer the agent waits for on the connection that it came on. Dropping it says that nobody waits any more: the connection
/// has ended. Once it is answered, it is forgotten.
struct Waiting<'a> {
    mcp: &'a Mcp,
    session: &'a SessionId,
    request: &'a RequestId,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.mcp.tell(Event::CallCancelled {
            session: Arc::clone(self.session),
            request: self.request.clone(),
        });
    }
}

fn unknown_method(method: &str) -> Error {
    let message = format!("unknown method {method:?}");
    Error::new(METHOD_NOT_FOUND, message)
}

/// Refuses a request in a revision that is not spoken.
pub(crate) fn check_revision(revision: &str, id: Option<&RequestId>) -> Result<(), Answer> {
    if REVISIONS.contains(&revision) {
        return Ok(());
    }
    Err(Answer::unsupported(id.cloned(), revision, &REVISIONS))
}

/// Agrees on a revision: the one that is asked for, or else the newest.
fn initialize(params: &Map<String, Value>) -> Result<Success, Error> {
    let asked = params.get("protocolVersion").and_then(Value::as_str);
    let asked = asked.ok_or_else(|| {
        let message = "initialize: protocolVersion is missing or not a string";
        Error::new(INVALID_PARAMS, message)
    })?;
    let known = REVISIONS.into_iter().find(|revision| *revision == asked);
    let [.., newest] = REVISIONS;
    Ok(Success::Value(json!({
        "protocolVersion": known.unwrap_or(newest),
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "pillion", "version": env!("CARGO_PKG_VERSION")},
    })))
}
