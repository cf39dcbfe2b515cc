//! MCP with `rmcp`: the handshake, the two tools and the push stream. The only module that knows
//! `rmcp`.
//!
//! The SDK's own session manager does the protocol. [`PushSessions`] wraps it to hear of sessions
//! and streams, and to own the push stream, which agents need without event ids, priming events
//! and replays.

mod calls;
mod handler;
mod push_sessions;

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Request, Response};
use http_body_util::Full;
use http_body_util::combinators::BoxBody;
use pillion_protocol::Dialect;
use rmcp::transport::streamable_http_server::{
    SessionManager, StreamableHttpServerConfig, StreamableHttpService,
};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

pub(crate) use self::calls::Call;
use self::handler::Handler;
use self::push_sessions::PushSessions;
use crate::event::Events;
use crate::sessions::SessionId;
use crate::wire::Wire;

/// The header that names a session.
pub(crate) const SESSION_HEADER: &str = "mcp-session-id";

/// How many sessions of one agent may be open.
pub(crate) const MAX_SESSIONS: usize = 256;

/// The MCP service behind the endpoint.
#[derive(Clone)]
pub(crate) struct Mcp {
    service: StreamableHttpService<Handler, PushSessions>,
    sessions: Arc<PushSessions>,
    events: Events,
    stop: CancellationToken,
}

/// What the endpoint found out about a request before MCP sees it. Travels in its extensions.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    /// Whose token the request bears.
    pub(crate) agent: Dialect,
    /// The arguments of a tool call, which do not pass through the SDK.
    pub(crate) arguments: Option<Arc<Map<String, Value>>>,
}

impl Mcp {
    pub(crate) fn new(events: Events) -> Self {
        let sessions = Arc::new(PushSessions::new(events.clone()));
        let stop = CancellationToken::new();
        // The endpoint has checked Host and Origin, and limited the body.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_max_request_body_bytes(usize::MAX)
            .with_sse_retry(None)
            .with_cancellation_token(stop.clone());
        let handler = Handler::new(events.clone());
        let factory = move || Ok(handler.clone());
        let service = StreamableHttpService::new(factory, Arc::clone(&sessions), config);
        Self {
            service,
            sessions,
            events,
            stop,
        }
    }

    /// Whose session this is.
    pub(crate) fn agent_of(&self, session: &str) -> Option<Dialect> {
        self.sessions.agent_of(session)
    }

    /// Whether one more session of this agent may be opened.
    pub(crate) fn has_room_for(&self, agent: Dialect) -> bool {
        self.sessions.count_of(agent) < MAX_SESSIONS
    }

    /// Answers a tool call of a known session, unless only the SDK can.
    ///
    /// The SDK finds out what a message is by trying one type after the other, and hands it from
    /// task to task: more work than all the rest of a call.
    pub(crate) fn call(&self, headers: &HeaderMap, call: Call) -> Result<Response<Body>, Call> {
        let call = call.plain(headers)?;
        self.sessions.heard(call.session());
        Ok(call.answer(self.events.clone()))
    }

    /// Answers one request, on this wire.
    pub(crate) async fn handle(
        &self,
        request: Request<Full<Bytes>>,
        wire: Option<Arc<Wire>>,
    ) -> Response<BoxBody<Bytes, Infallible>> {
        push_sessions::on_wire(wire, self.service.handle(request)).await
    }

    /// Frees a session that is gone for good.
    pub(crate) async fn free(&self, session: &SessionId) {
        if let Err(error) = self.sessions.close_session(session).await {
            tracing::debug!(%error, "freeing a session");
        }
    }

    /// Ends every session and stream.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }
}
