//! The HTTP endpoint (C1): a listener on loopback that serves agents at `/mcp`, or over a WebSocket at `/`, and one on a
//! Unix socket, for agents that dial no port. The only module, with those below it, that knows HTTP.

mod body;
mod guard;
mod listener;
mod response;
mod server;
mod socket;
mod streamable_http;
mod unfinished;
mod websocket;

use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};

use futures_util::future::join_all;
use http::{Method, Request, StatusCode};
use hyper::body::Incoming;
use pillion_discovery::budget::Budget;
use pillion_protocol::MCP_PATH;
use pillion_system::lock;
use tokio::net::TcpListener;
use tokio::sync::watch;

pub(crate) use self::guard::Guard;
pub(crate) use self::listener::Listener;
use self::response::{Refusal, Response};
use self::websocket::Upgrade;
use crate::mcp::Mcp;
use crate::wire::Wire;

/// The state that the handlers of one endpoint share.
struct Shared {
    guard: Guard,
    mcp: Mcp,
    /// The budget for what is being received.
    unfinished: Budget,
}

/// Binds this port, or one that the system chooses (C1.3).
///
/// # Errors
/// The system's error when loopback has no port left, or this one is taken.
pub(crate) async fn bind(port: Option<u16>) -> io::Result<(TcpListener, u16)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0))).await?;
    let port = listener.local_addr()?.port();
    Ok((listener, port))
}

/// Serves all of these until it is asked to stop; ends when every connection has.
pub(crate) async fn serve(
    listeners: Vec<(Listener, Guard)>,
    mcp: Mcp,
    stopping: watch::Receiver<()>,
) {
    let unfinished = unfinished::budget();
    let serving = listeners.into_iter().map(|(listener, guard)| {
        let shared = Shared {
            guard,
            mcp: mcp.clone(),
            unfinished: unfinished.clone(),
        };
        server::serve(listener, Arc::new(shared), stopping.clone())
    });
    join_all(serving).await;
}

/// Answers a request that came on this wire. If it is for a WebSocket, what its connection becomes is
/// left in `upgrade`.
async fn handle(
    shared: Arc<Shared>,
    request: Request<Incoming>,
    wire: Arc<Wire>,
    upgrade: Arc<Mutex<Option<Upgrade>>>,
) -> Response {
    if websocket::is_wanted(&request) {
        let upgraded = websocket::upgrade(&shared, request, wire);
        return upgraded
            .map(|(response, connection)| {
                *lock(&upgrade) = Some(connection);
                response
            })
            .unwrap_or_else(Refusal::into_response);
    }
    let (parts, body) = request.into_parts();
    let (path, method, headers) = (parts.uri.path(), &parts.method, &parts.headers);
    let handled = match (path, method) {
        (MCP_PATH, &Method::POST) => streamable_http::post(&shared, headers, body, wire).await,
        (MCP_PATH, &Method::GET) => streamable_http::get(&shared, headers, wire),
        (MCP_PATH, &Method::DELETE) => streamable_http::delete(&shared, headers),
        (MCP_PATH, _) => streamable_http::other(&shared, headers),
        _ => {
            let text = "not found: agents are served at /mcp";
            Err(Refusal::new(StatusCode::NOT_FOUND, text))
        }
    };
    handled.unwrap_or_else(Refusal::into_response)
}
