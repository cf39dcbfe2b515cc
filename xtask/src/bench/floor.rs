//! The benchmark's floor: what a server on the same stack takes that reads the whole request,
//! understands nothing of it, and answers what it always answers.

use std::convert::Infallible;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::process::ExitCode;

use anyhow::{Context, Result};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Path};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use serde_json::json;

use super::text;

/// The benchmark's floor, as a process of its own
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Serves until it is killed. Prints `{"port"}` when it listens.
pub fn run(Args {}: &Args) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(serve())?;
    Ok(ExitCode::SUCCESS)
}

async fn serve() -> Result<()> {
    let opened = answer(&json!([]));
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
        .route(
            "/mcp",
            get(silent_stream).post(|_: Bytes| async { event(opened) }),
        )
        .route("/close/{size}", post(close))
        .route(
            "/control/focus",
            post(|_: Bytes| async { StatusCode::NO_CONTENT }),
        )
        .layer(DefaultBodyLimit::disable());
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let port = listener.local_addr()?.port();
    let mut out = io::stdout();
    writeln!(out, "{}", json!({"port": port}))
        .and_then(|()| out.flush())
        .context("cannot say that the floor is ready")?;
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, router).await.context("cannot serve")
}

/// The event with the result of a tool call.
fn answer(content: &serde_json::Value) -> Bytes {
    let message = json!({"jsonrpc": "2.0", "id": 1, "result": {"content": content}});
    format!("data: {message}\n\n").into()
}

fn event(answer: Bytes) -> impl IntoResponse {
    let headers = [
        (CONTENT_TYPE.as_str(), "text/event-stream"),
        ("mcp-session-id", "floor"),
    ];
    (headers, answer)
}

/// An event stream on which nothing ever comes.
async fn silent_stream() -> impl IntoResponse {
    let silence = futures_util::stream::pending::<Result<Bytes, Infallible>>();
    (
        [(CONTENT_TYPE, "text/event-stream")],
        Body::from_stream(silence),
    )
}
