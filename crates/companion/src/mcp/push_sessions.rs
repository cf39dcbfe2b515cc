//! The SDK's sessions, with a push stream of our own.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::request::Parts;
use futures_util::{Stream, StreamExt, stream};
use pillion_protocol::Dialect;
use pillion_protocol::context::CONTEXT_UPDATE;
use rmcp::model::{
    ClientJsonRpcMessage, CustomNotification, GetExtensions, ServerJsonRpcMessage,
    ServerNotification,
};
use rmcp::transport::WorkerTransport;
use rmcp::transport::streamable_http_server::SessionManager;
use rmcp::transport::streamable_http_server::session::ServerSseMessage;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, LocalSessionWorker, SessionConfig,
};

use super::Origin;
use crate::event::{Event, Events};
use crate::outbox::{self, Outbox, Push};
use crate::sessions::SessionId;
use crate::wire::Wire;

tokio::task_local! {
    /// Where the answer to the request goes that is being handled. The SDK does not hand it on.
    static WIRE: Option<Arc<Wire>>;
}

/// Handles a request that came on this wire.
pub(super) async fn on_wire<T>(wire: Option<Arc<Wire>>, handling: impl Future<Output = T>) -> T {
    WIRE.scope(wire, handling).await
}

#[derive(Debug)]
pub(super) struct PushSessions {
    inner: Arc<LocalSessionManager>,
    known: Mutex<HashMap<SessionId, Known>>,
    events: Events,
}

#[derive(Debug)]
struct Known {
    agent: Dialect,
    outbox: Arc<Outbox>,
}

impl PushSessions {
    pub(super) fn new(events: Events) -> Self {
        let mut inner = LocalSessionManager::default();
        inner.session_config = session_config();
        Self {
            inner: Arc::new(inner),
            known: Mutex::default(),
            events,
        }
    }

    pub(super) fn agent_of(&self, session: &str) -> Option<Dialect> {
        self.known().get(session).map(|known| known.agent)
    }

    /// How many sessions an agent has.
    pub(super) fn count_of(&self, agent: Dialect) -> usize {
        let known = self.known();
        known.values().filter(|known| known.agent == agent).count()
    }

    /// The session sent a request.
    pub(super) fn heard(&self, session: &SessionId) {
        if let Some(known) = self.known().get(session) {
            known.outbox.heard();
        }
        let session = Arc::clone(session);
        self.tell(Event::RequestArrived { session });
    }

    fn known(&self) -> MutexGuard<'_, HashMap<SessionId, Known>> {
        // Every operation on the map is a single one.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The loop may be gone while the last requests are answered.
    fn tell(&self, event: Event) {
        let _ = self.events.send(event);
    }

    fn push_stream(
        &self,
        id: &SessionId,
    ) -> Result<
        impl Stream<Item = ServerSseMessage> + Send + Sync + 'static,
        LocalSessionManagerError,
    > {
        let outbox = self
            .known()
            .get(id)
            .map(|known| Arc::clone(&known.outbox))
            .ok_or_else(|| LocalSessionManagerError::SessionNotFound(Arc::clone(id)))?;
        let session = Arc::clone(id);
        let open = OpenStream {
            stream: outbox.stream(WIRE.try_with(Option::clone).ok().flatten()),
            session,
            events: self.events.clone(),
        };
        let session = Arc::clone(id);
        self.tell(Event::StreamOpened { session });
        Ok(stream::unfold(open, |mut open| async move {
            let push = open.stream.next().await?;
            Some((ServerSseMessage::from_message(notification(push)), open))
        }))
    }
}

/// An open push stream; tells the loop when it closes.
struct OpenStream {
    stream: outbox::Stream,
    session: SessionId,
    events: Events,
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let session = Arc::clone(&self.session);
        let _ = self.events.send(Event::StreamClosed { session });
    }
}

/// A handshake under way. A client that goes away meanwhile leaves a session that nobody knows, and
/// that the SDK would keep for ever.
struct Unfinished<'a> {
    inner: &'a Arc<LocalSessionManager>,
    id: Option<SessionId>,
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let inner = Arc::clone(self.inner);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let _ = inner.close_session(&id).await;
            });
        }
    }
}

impl SessionManager for PushSessions {
    type Error = LocalSessionManagerError;
    type Transport = WorkerTransport<LocalSessionWorker>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        self.inner.create_session().await
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        let mut unfinished = Unfinished {
            inner: &self.inner,
            id: Some(Arc::clone(id)),
        };
        let agent = origin_of(&message).map(|origin| origin.agent);
        let answer = self.inner.initialize_session(id, message).await?;
        if let Some(agent) = agent {
            let outbox = Arc::new(Outbox::default());
            let known = Known {
                agent,
                outbox: Arc::clone(&outbox),
            };
            self.known().insert(Arc::clone(id), known);
            self.tell(Event::SessionOpened {
                session: Arc::clone(id),
                agent,
                outbox,
            });
        }
        unfinished.id = None;
        Ok(answer)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.inner.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        let known = self.known().remove(id);
        if let Some(known) = known {
            known.outbox.close();
            let session = Arc::clone(id);
            self.tell(Event::SessionClosed { session });
        }
        self.inner.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.heard(id);
        let stream = self.inner.create_stream(id, message).await?;
        // An id on an answer makes agents reconnect after every call.
        Ok(stream.map(|mut message| {
            message.event_id = None;
            message
        }))
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        self.inner.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.push_stream(id)
    }

    /// Nothing is replayed: what was delivered is delivered, the rest still waits in the outbox.
    async fn resume(
        &self,
        id: &SessionId,
        _last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.push_stream(id)
    }
}

fn session_config() -> SessionConfig {
    let mut config = SessionConfig::default();
    // The loop knows when a session is gone; an open stream may be idle for hours.
    config.keep_alive = None;
    // A priming event is empty, and agents try to parse it.
    config.sse_retry = None;
    // Answers hold whole files, and nothing is resumed.
    config.completed_cache_ttl = Duration::ZERO;
    config
}

fn origin_of(message: &ClientJsonRpcMessage) -> Option<&Origin> {
    let ClientJsonRpcMessage::Request(request) = message else {
        return None;
    };
    let parts = request.request.extensions().get::<Parts>()?;
    parts.extensions.get::<Origin>()
}

fn notification(push: Push) -> ServerJsonRpcMessage {
    let (method, params) = match push {
        Push::Context(context) => (CONTEXT_UPDATE, serde_json::to_value(&*context).ok()),
        Push::Outcome { file_path, outcome } => {
            (outcome.method(), Some(outcome.into_params(file_path)))
        }
    };
    ServerJsonRpcMessage::notification(ServerNotification::CustomNotification(
        CustomNotification::new(method, params),
    ))
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn a_handshake_that_is_given_up_leaves_no_session() {
        let (events, _inbox) = mpsc::unbounded_channel();
        let sessions = PushSessions::new(events);
        let (id, _transport) = sessions.create_session().await.unwrap();
        let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{
            "protocolVersion":"2025-06-18","capabilities":{},
            "clientInfo":{"name":"t","version":"0"}}}"#;
        let message = serde_json::from_str(initialize).unwrap();
        let handshake = sessions.initialize_session(&id, message);
        // Nobody answers it; the client goes away.
        let given_up = tokio::time::timeout(Duration::from_millis(10), handshake).await;
        assert!(given_up.is_err());
        while sessions.has_session(&id).await.unwrap() {
            tokio::task::yield_now().await;
        }
    }
}
