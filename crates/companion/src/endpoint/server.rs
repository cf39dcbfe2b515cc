//! Accepts connections, and keeps clients without a token from starving those that have one:
//! neither descriptors nor memory nor time.

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use pillion_http::unauthenticated::{Admission, Unauthenticated};
use pillion_system::lock;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::Shared;
use super::listener::{Accepted, Listener};
use super::socket::Socket;
use super::websocket::Upgrade;

/// The time limit for a connection to present a token: for its first request's headers, and idle
/// before it.
const ADMISSION_TIMEOUT: Duration = Duration::from_secs(10);

/// The most that is held of a request's headers, and at once of a body.
const MAX_BUFFER: usize = 64 * 1024;

/// The pause in accepting connections when the system has no descriptor left.
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(20);

/// The time limit for connections to end when the companion stops: an agent may read slowly.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(300);

/// Serves until it is asked to stop; ends when every connection has.
pub(super) async fn serve(
    listener: Listener,
    shared: Arc<Shared>,
    mut stopping: watch::Receiver<()>,
) {
    let unauthenticated = Unauthenticated::new();
    let (stop, stopped) = watch::channel(());
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next() => continue,
            _ = stopping.changed() => break,
        };
        match accepted {
            Ok(accepted) => {
                let admission = Admission::new(&unauthenticated);
                let number = admission.number();
                let (shared, stopped) = (Arc::clone(&shared), stopped.clone());
                let task = connections.spawn(serve_one(accepted, admission, shared, stopped));
                unauthenticated.add(number, task);
                // Earlier connections are read before the next one is accepted.
                tokio::task::yield_now().await;
            }
            Err(error) if is_of_one_connection(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "cannot accept");
                unauthenticated.evict_oldest();
                tokio::time::sleep(EXHAUSTED_PAUSE).await;
            }
        }
    }
    drop(listener);
    stop.send_replace(());
    let ended = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, ended).await;
    // Those that did not end by themselves end here.
    connections.shutdown().await;
}

async fn serve_one(
    stream: Accepted,
    admission: Admission,
    shared: Arc<Shared>,
    mut stopping: watch::Receiver<()>,
) {
    let Some(wire) = stream.wire().map(Arc::new) else {
        return;
    };
    let socket = TokioIo::new(Socket::new(stream, Arc::clone(&wire)));
    let upgrade = Arc::new(Mutex::new(None));
    let service = service_fn(|request| {
        if !admission.is_admitted() && shared.guard.knows(request.headers()) {
            admission.admit();
        }
        let (shared, wire, upgrade) =
            (Arc::clone(&shared), Arc::clone(&wire), Arc::clone(&upgrade));
        let handled = super::handle(shared, request, wire, upgrade);
        async { Ok::<_, Infallible>(handled.await) }
    });
    let mut http = http1::Builder::new();
    http.max_buf_size(MAX_BUFFER);
    let mut connection = pin!(http.serve_connection(socket, service).with_upgrades());
    let mut deadline = pin!(tokio::time::sleep(ADMISSION_TIMEOUT));
    let (mut is_timed, mut is_stopping) = (true, false);
    loop {
        tokio::select! {
            // Clients come and go as they like.
            _ = &mut connection => break,
            () = &mut deadline, if is_timed => {
                if !admission.is_admitted() {
                    return;
                }
                is_timed = false;
            }
            _ = stopping.changed(), if !is_stopping => {
                connection.as_mut().graceful_shutdown();
                is_stopping = true;
            }
        }
    }
    let upgrade = lock(&upgrade).take();
    if let Some(upgrade) = upgrade {
        Upgrade::serve(upgrade).await;
    }
}

/// An error about a connection that went away before it was accepted.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    )
}
