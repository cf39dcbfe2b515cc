//! The event stream: how companions push (C1.1).

use std::time::Instant;

use pillion_http::header::ACCEPT;
use pillion_http::{Method, StatusCode};

use crate::agent::Agent;
use crate::check::checks;
use crate::rule::{Finding, blocked, broken, unchecked};
use crate::session::Session;

checks! {
    Transport:
    Must "C1.1-stream" => stream in deaf_session,
        "GET opens an event stream";
    Must "C1.1-stream-stays" => stream_stays in session,
        "An event stream stays open";
    Should "C1.1-stream-alive" => stream_alive in session,
        "A silent event stream sends keep-alives";
}

pub(super) async fn stream(session: &mut Session<'_>) -> Finding {
    let get = session
        .probe(Method::GET)
        .header(ACCEPT, "text/event-stream");
    let answer = session.test.send(get).await?;
    let shown = answer.shown();
    match answer.media_type().as_str() {
        _ if answer.status != StatusCode::OK => broken(shown),
        "text/event-stream" => Ok(format!("{shown}, text/event-stream")),
        other => broken(format!("its Content-Type is {other:?}")),
    }
}

pub(super) async fn stream_stays(session: &mut Session<'_>) -> Finding {
    let started = Instant::now();
    session.listen(session.test.timeouts.idle).await;
    match session.end() {
        Some(how) => broken(format!("after {:.1?} {how}", started.elapsed())),
        None => Ok(format!("open after {:.1?}", started.elapsed())),
    }
}

async fn stream_alive(session: &mut Session<'_>) -> Finding {
    let timeouts = session.test.timeouts;
    let (idle, silence) = (timeouts.idle, timeouts.silence);
    // What comes at the start is not a sign of life.
    session.listen(timeouts.quiet).await;
    let (before, started) = (session.signs, Instant::now());
    while session.signs == before && session.end().is_none() && started.elapsed() < idle {
        session.listen(timeouts.quiet.min(idle)).await;
    }
    if session.end().is_some() {
        return blocked(session.test.rows().stays, "the stream ended");
    }
    if session.signs > before {
        let (signs, elapsed) = (session.signs - before, started.elapsed());
        return Ok(format!("{signs} within {elapsed:.1?}"));
    }
    if idle < silence {
        return unchecked(format!(
            "it was silent for {idle:.1?}; agents give up after {silence:.0?}: watch longer with --idle SECONDS"
        ));
    }
    broken(format!("it was silent for {idle:.1?}"))
}
