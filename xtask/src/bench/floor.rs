//! The benchmark's floor: what a server on the same stack takes that reads the whole request,
//! understands nothing of it, and answers what it always answers.

mod websocket;

use std::convert::Infallible;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::process::ExitCode;

use anyhow::{Context, Result};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::broadcast;

use super::text;

/// The number of outcomes that may wait for a client; it takes each before it asks for the next.
const MAX_WAITING: usize = 4;

/// The outcomes for every open event stream.
type Outcomes = broadcast::Sender<Bytes>;

/// The benchmark's floor, as a process of its own
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Serves until it is killed. Prints `{"port", "websocket"}`, its two ports, when it listens.
pub fn run(Args {}: &Args) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(serve())?;
    Ok(ExitCode::SUCCESS)
}

async fn serve() -> Result<()> {
    let opened = answer(&json!([]));
    let decided = opened.clone();
    let accepted = text::SIZES.map(|size| {
        let params = json!({"filePath": "/", "content": text::of(size)});
        (
            size,
            message(&json!({"method": "ide/diffAccepted", "params": params})),
        )
    });
    let decide = move |State(outcomes): State<Outcomes>, Path(size): Path<usize>, _: Bytes| async move {
        let found = accepted.iter().find(|(accepted, _)| *accepted == size);
        let (_, outcome) = found.ok_or(StatusCode::NOT_FOUND)?;
        // Fails only when the receiver is gone.
        let _ = outcomes.send(outcome.clone());
        Ok::<_, StatusCode>(event(decided))
    };
    let closed = text::SIZES.map(|size| {
        let text = json!({"content": text::of(size)}).to_string();
        (size, answer(&json!([{"type": "text", "text": text}])))
    });
    let close = move |Path(size): Path<usize>, _: Bytes| async move {
        let found = closed.iter().find(|(closed, _)| *closed == size);
        found.map_or(Err(StatusCode::NOT_FOUND), |(_, answer)| {
            Ok(event(answer.clone()))
        })
    };
    let router = Router::new()
        .route("/mcp", get(stream).post(|_: Bytes| async { event(opened) }))
        .route("/decide/{size}", post(decide))
        .route("/close/{size}", post(close))
        .route(
            "/control/focus",
            post(|_: Bytes| async { StatusCode::NO_CONTENT }),
        )
        .layer(DefaultBodyLimit::disable())
        .with_state(broadcast::channel(MAX_WAITING).0);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let websocket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let [port, websocket_port] =
        [listener.local_addr()?, websocket.local_addr()?].map(|it| it.port());
    let mut out = io::stdout();
    writeln!(
        out,
        "{}",
        json!({"port": port, "websocket": websocket_port})
    )
    .and_then(|()| out.flush())
    .context("cannot say that the floor is ready")?;
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    tokio::select! {
        served = axum::serve(listener, router) => served.context("cannot serve"),
        served = websocket::serve(websocket) => served.context("cannot serve WebSockets"),
    }
}

/// The event with the result of a tool call.
fn answer(content: &serde_json::Value) -> Bytes {
    message(&json!({"jsonrpc": "2.0", "id": 1, "result": {"content": content}}))
}

fn message(message: &serde_json::Value) -> Bytes {
    format!("data: {message}\n\n").into()
}

fn event(answer: Bytes) -> impl IntoResponse {
    let headers = [
        (CONTENT_TYPE.as_str(), "text/event-stream"),
        ("mcp-session-id", "floor"),
    ];
    (headers, answer)
}

/// An event stream on which outcomes come, and nothing else.
async fn stream(State(outcomes): State<Outcomes>) -> impl IntoResponse {
    let events = futures_util::stream::unfold(outcomes.subscribe(), |mut outcomes| async {
        let event = outcomes.recv().await.ok()?;
        Some((Ok::<_, Infallible>(event), outcomes))
    });
    (
        [(CONTENT_TYPE, "text/event-stream")],
        Body::from_stream(events),
    )
}
