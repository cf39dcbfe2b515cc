//! The HTTP endpoint (C1): one listener on loopback that serves agents at `/mcp` and commands at
//! `/control`. The only module, with those below it, that knows HTTP.

mod body;
mod control;
mod guard;
mod message;
mod refusal;
mod server;
mod socket;
mod strangers;

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use axum::routing::{any, get, post};
use http_body_util::Full;
use pillion_protocol::MCP_PATH;
use tokio::net::TcpListener;

pub(crate) use self::guard::Guard;
use self::message::Message;
use self::refusal::Refusal;
use crate::control::on_disk;
use crate::disk::Lane;
use crate::event::Events;
use crate::mcp::{MAX_SESSIONS, Mcp, Origin, SESSION_HEADER};
use crate::wire::Wire;

/// What the handlers of one endpoint share.
#[derive(Clone)]
struct Shared {
    guard: Arc<Guard>,
    mcp: Mcp,
    events: Events,
    /// For commands that look at files.
    looks: Lane,
}

/// Binds a port that the system chooses (C1.3).
///
/// # Errors
/// What the system says when loopback has no port left.
pub(crate) async fn bind() -> io::Result<(TcpListener, u16)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let port = listener.local_addr()?.port();
    Ok((listener, port))
}

/// Serves until the task is dropped.
pub(crate) fn serve(
    listener: TcpListener,
    guard: Guard,
    mcp: Mcp,
    events: Events,
) -> impl Future<Output = ()> + Send + 'static {
    let guard = Arc::new(guard);
    let shared = Shared {
        guard: Arc::clone(&guard),
        mcp,
        events,
        looks: Lane::new(on_disk::MAX_LOOKS),
    };
    let router = Router::new()
        .route(MCP_PATH, any(serve_agent))
        .route("/control/diffs", get(control::diffs))
        .route("/control/diffs/{diff}", get(control::diff))
        .route("/control/status", get(control::status))
        .route("/control/settle", post(control::settle))
        .route("/control/focus", post(control::focus))
        .fallback(|| async {
            (
                StatusCode::NOT_FOUND,
                "not found: agents are served at /mcp",
            )
        })
        .with_state(shared);
    server::serve(listener, guard, router)
}

async fn serve_agent(State(shared): State<Shared>, request: Request) -> Result<Response, Refusal> {
    let agent = shared.guard.admit_agent(request.headers())?;
    if let Some(session) = request.headers().get(SESSION_HEADER) {
        // A session belongs to the agent whose token opened it.
        let owner = session.to_str().ok().and_then(|id| shared.mcp.agent_of(id));
        if owner != Some(agent) {
            let text = "no such session: initialize first";
            return Err(Refusal::new(StatusCode::NOT_FOUND, text));
        }
    }
    let (mut parts, body) = request.into_parts();
    let mut origin = Origin {
        agent,
        arguments: None,
    };
    let mut bytes = axum::body::Bytes::new();
    if parts.method == Method::POST {
        bytes = body::read(&parts.headers, body).await?;
        let message = is_json(&parts.headers)
            .then(|| Message::parse(&bytes))
            .transpose()?;
        if message.as_ref().is_some_and(Message::is_initialize) && !shared.mcp.has_room_for(agent) {
            let text = format!(
                "too many sessions: {MAX_SESSIONS} of {} are open; end some, or wait until they are given up",
                agent.name()
            );
            return Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, text));
        }
        if let Some(call) = message.and_then(Message::into_call) {
            match shared.mcp.call(&parts.headers, call) {
                Ok(response) => return Ok(response),
                Err(call) => {
                    bytes = call.envelope();
                    origin.arguments = Some(Arc::new(call.arguments));
                }
            }
        }
    }
    parts.extensions.insert(origin);
    let wire = parts.extensions.get::<Arc<Wire>>().cloned();
    let request = Request::from_parts(parts, Full::new(bytes));
    Ok(shared.mcp.handle(request, wire).await.map(Body::new))
}

/// Any other type is refused by MCP itself.
fn is_json(headers: &axum::http::HeaderMap) -> bool {
    let content_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    content_type.is_some_and(|value| {
        let essence = value.split(';').next().unwrap_or_default();
        essence.trim().eq_ignore_ascii_case("application/json")
    })
}
