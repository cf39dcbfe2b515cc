//! Serves HTTP on loopback: few connections, bounded in what they send and in time, and every answer with the headers that keep
//! the page to itself.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use crossbeam_channel::Sender;
use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_NONE_MATCH, REFERRER_POLICY,
    SET_COOKIE, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use pillion_discovery::budget::Budget;
use pillion_http::unauthenticated::{Admission, Unauthenticated};
use pillion_system::peer::Connection;
use pillion_system::spawn;
use pillion_text::fingerprint;
use pillion_view::Handle;
use serde::Serialize;
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};

use crate::Input;
use crate::assets::{ASSETS, Asset};
use crate::door::{self, Door, Peer, Refused, not_understood, refused};
use crate::routes;
use crate::wire;

/// The most connections at once: a browser has six, and one of each tab stays open.
const MAX_CONNECTIONS: usize = 64;

/// The most of those without a cookie: the newest have precedence.
const MAX_STRANGERS: usize = 16;

/// The time limit for the head of a request, also between two of them.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// The most that is held of a request's head.
const MAX_HEAD: usize = 16 * 1024;

/// The largest body, in bytes, and the time limit for it.
const MAX_BODY: usize = 64 * 1024 * 1024;
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// The most that all bodies come to that are being received.
const MAX_BODIES: usize = 2 * MAX_BODY;

/// The pause in accepting connections when the system has no descriptor left.
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(20);

/// What the page may do: nothing but what comes from here, and no text that becomes a program.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'";

/// An event as it is sent to a tab.
pub(crate) type Told = Bytes;

type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

/// What the state of the page answers to a call: JSON, or why not.
pub(crate) type Outcome = Result<Vec<u8>, Refused>;

/// A value as the answer to a call.
pub(crate) fn json(value: &impl Serialize) -> Outcome {
    serde_json::to_vec(value).map_err(|error| {
        refused(
            StatusCode::INTERNAL_SERVER_ERROR,
            "failed",
            error.to_string(),
        )
    })
}

struct Shared {
    door: Arc<Door>,
    companion: Handle,
    page: Sender<Input>,
    bodies: Budget,
}

/// Binds this port of loopback, or any if that is taken.
///
/// # Errors
/// When loopback has no port left.
pub(crate) fn bind(port: Option<u16>) -> io::Result<TcpListener> {
    let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let listener = port.map(bind).and_then(Result::ok);
    let listener = listener.map_or_else(|| bind(0), Ok)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Serves from now on, on a thread of its own, for as long as the program runs.
///
/// # Errors
/// When the system refuses.
pub(crate) fn start(
    listener: TcpListener,
    door: Arc<Door>,
    companion: Handle,
    page: Sender<Input>,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let bodies = Budget::new(MAX_BODIES);
    let shared = Arc::new(Shared {
        door,
        companion,
        page,
        bodies,
    });
    spawn("page", move || {
        runtime.block_on(async {
            match tokio::net::TcpListener::from_std(listener) {
                Ok(listener) => accept(listener, shared).await,
                Err(error) => tracing::warn!(%error, "cannot serve the page"),
            }
        });
    })
}

async fn accept(listener: tokio::net::TcpListener, shared: Arc<Shared>) {
    let strangers = Unauthenticated::with_limit(MAX_STRANGERS);
    let places = Arc::new(tokio::sync::Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(EXHAUSTED_PAUSE).await;
            continue;
        };
        // Whoever has a cookie keeps its place; who has none is one of few.
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            strangers.evict_oldest();
            continue;
        };
        let admission = Admission::new(&strangers);
        let number = admission.number();
        let shared = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            serve(stream, &admission, shared).await;
            drop(place);
        });
        strangers.add(number, task.abort_handle());
    }
}

async fn serve(stream: TcpStream, admission: &Admission, shared: Arc<Shared>) {
    let _ = stream.set_nodelay(true);
    let ends = || Ok::<_, io::Error>((stream.peer_addr()?, stream.local_addr()?));
    let connection = ends().ok().map(|(peer, local)| Connection { peer, local });
    let peer = Peer::new(connection, shared.companion.clone());
    let service = service_fn(|request: Request<Incoming>| {
        if !admission.is_admitted() && shared.door.knows(request.headers()) {
            admission.admit();
        }
        let (shared, peer) = (Arc::clone(&shared), Arc::clone(&peer));
        async move { Ok::<_, Infallible>(handle(&shared, &peer, request).await) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD);
    // Browsers come and go as they like.
    let _ = http.serve_connection(TokioIo::new(stream), service).await;
}

async fn handle(shared: &Shared, peer: &Arc<Peer>, request: Request<Incoming>) -> Answer {
    let answer = answer(shared, peer, request).await;
    let mut answer = answer.unwrap_or_else(|(status, refusal)| {
        whole(
            status,
            "application/json",
            serde_json::to_vec(&refusal).unwrap_or_default(),
        )
    });
    let headers = answer.headers_mut();
    for (name, value) in [
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("content-security-policy"), POLICY),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ] {
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
    answer
}

async fn answer(
    shared: &Shared,
    peer: &Arc<Peer>,
    request: Request<Incoming>,
) -> Result<Answer, Refused> {
    let (parts, body) = request.into_parts();
    let (method, headers) = (&parts.method, &parts.headers);
    let path = parts.uri.path();
    let asset = ASSETS.iter().find(|it| it.path == path);
    door::check(method, headers, path == "/")?;
    if let Some(asset) = asset.filter(|_| method == Method::GET || method == Method::HEAD) {
        return Ok(file(asset, headers));
    }
    if path == "/session" && method == Method::POST {
        peer.admit().await?;
        let body = read(headers, body, &shared.bodies).await?;
        let session: wire::Session = routes::parse(&body)?;
        let (cookie, entered) = shared.door.enter(&session.token)?;
        let mut answer = whole(StatusCode::OK, "application/json", json(&entered)?);
        answer.headers_mut().insert(SET_COOKIE, cookie);
        return Ok(answer);
    }
    shared.door.admit(headers)?;
    peer.admit().await?;
    let query = parts.uri.query().unwrap_or_default();
    if path == "/events" && method == Method::GET {
        return events(shared, peer, query);
    }
    if method != Method::GET && method != Method::POST {
        let mut answer = whole(
            StatusCode::METHOD_NOT_ALLOWED,
            "application/json",
            Vec::new(),
        );
        answer
            .headers_mut()
            .insert(ALLOW, HeaderValue::from_static("GET, POST"));
        return Ok(answer);
    }
    let tab = door::tab(method, headers)?;
    let body = match *method == Method::POST {
        true => read(headers, body, &shared.bodies).await?,
        false => Bytes::new(),
    };
    let call = routes::call(method, path, query, &body)?;
    drop(body);
    let (reply, outcome) = oneshot::channel();
    let _ = shared
        .page
        .send(Input::Call(tab, Box::new(call), Respond(reply)));
    let closing = |_| {
        Err(refused(
            StatusCode::SERVICE_UNAVAILABLE,
            "failed",
            "the page is closing",
        ))
    };
    let body = outcome.await.unwrap_or_else(closing)?;
    Ok(whole(StatusCode::OK, "application/json", body))
}

/// The way of the one answer to a call.
pub(crate) struct Respond(oneshot::Sender<Outcome>);

impl Respond {
    /// Answers.
    pub(crate) fn with(self, outcome: Outcome) {
        // The tab may be gone.
        let _ = self.0.send(outcome);
    }

    /// Answers with a value.
    pub(crate) fn json(self, value: &impl Serialize) {
        self.with(json(value));
    }
}

/// The events of a tab, from now on, for as long as whoever hears them is the person: an agent may be known later than its browser.
fn events(shared: &Shared, peer: &Arc<Peer>, query: &str) -> Result<Answer, Refused> {
    let mut query = routes::query(query);
    let mut name = |of| query.remove(of).filter(|it| door::is_tab(it));
    let (tab, former) = (name("tab"), name("former"));
    let tab = tab.ok_or_else(|| not_understood("the tab has no name"))?;
    let (sender, mut told) = mpsc::unbounded_channel();
    let (stream, receiver) = mpsc::unbounded_channel();
    let came = Input::Tab(tab.clone(), former, sender.clone());
    let _ = shared.page.send(came);
    let (page, peer) = (shared.page.clone(), Arc::clone(peer));
    tokio::spawn(async move {
        let next = async |told: &mut mpsc::UnboundedReceiver<Told>| {
            tokio::select! {
                () = stream.closed() => None,
                event = told.recv() => event,
            }
        };
        while let Some(event) = next(&mut told).await
            && peer.admit().await.is_ok()
        {
            let _ = stream.send(event);
            while let Ok(event) = told.try_recv() {
                let _ = stream.send(event);
            }
        }
        let _ = page.send(Input::TabGone(tab, sender));
    });
    let mut answer = Response::new(EventStream(receiver).boxed_unsync());
    let kind = HeaderValue::from_static("text/event-stream");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    Ok(answer)
}

/// Events as they come. Dropping it tells whoever sends them that the tab is gone.
struct EventStream(mpsc::UnboundedReceiver<Bytes>);

impl Body for EventStream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let event = ready!(self.0.poll_recv(context));
        Poll::Ready(event.map(|event| Ok(Frame::data(event))))
    }
}

fn whole(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(body.into()).boxed_unsync());
    *answer.status_mut() = status;
    let kind = HeaderValue::from_static(kind);
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}

/// A file of the page, unless the browser has it already.
fn file(asset: &'static Asset, headers: &HeaderMap) -> Answer {
    let tag = format!("\"{}\"", fingerprint::hash(asset.text.as_bytes()));
    let is_known = headers
        .get(IF_NONE_MATCH)
        .is_some_and(|it| it.as_bytes() == tag.as_bytes());
    let mut answer = match is_known {
        true => whole(StatusCode::NOT_MODIFIED, asset.kind, Bytes::new()),
        false => whole(StatusCode::OK, asset.kind, asset.text),
    };
    if let Ok(tag) = HeaderValue::try_from(tag) {
        answer.headers_mut().insert(ETAG, tag);
        let cached = HeaderValue::from_static("no-cache");
        answer.headers_mut().insert(CACHE_CONTROL, cached);
    }
    answer
}

/// Reads a body: bounded in size, in time, and together with all others.
async fn read(headers: &HeaderMap, body: Incoming, bodies: &Budget) -> Result<Bytes, Refused> {
    let too_long = || {
        let message = format!("the limit is {MAX_BODY} bytes");
        refused(StatusCode::PAYLOAD_TOO_LARGE, "tooLong", message)
    };
    let length = headers
        .get(CONTENT_LENGTH)
        .and_then(|it| it.to_str().ok()?.parse::<usize>().ok());
    let missing = || {
        refused(
            StatusCode::LENGTH_REQUIRED,
            "notUnderstood",
            "the length is missing",
        )
    };
    let length = length.ok_or_else(missing)?;
    if length > MAX_BODY {
        return Err(too_long());
    }
    let mut share = bodies.share();
    if !share.hold(length) {
        let message = "too much is sent at once";
        return Err(refused(StatusCode::SERVICE_UNAVAILABLE, "tooMany", message));
    }
    let body = Limited::new(body, MAX_BODY).collect();
    match tokio::time::timeout(BODY_TIMEOUT, body).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(_)) => Err(not_understood("the body was cut off")),
        Err(_) => Err(refused(
            StatusCode::REQUEST_TIMEOUT,
            "tooSlow",
            "the body did not end in time",
        )),
    }
}

/// An event as it is sent.
pub(crate) fn event(event: &wire::Event) -> Option<Bytes> {
    let value = serde_json::to_value(event).ok()?;
    let (name, data) = (value.get("event")?.as_str()?, value.get("data")?);
    Some(Bytes::from(format!("event: {name}\ndata: {data}\n\n")))
}
