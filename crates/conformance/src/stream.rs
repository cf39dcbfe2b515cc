//! The event stream: how companions push (C1.1).

use std::time::Instant;

use pillion_http::{Method, StatusCode};

use crate::check::checks;
use crate::rule::{Finding, blocked, broken, unchecked};
use crate::test_context::TestContext;

checks! {
    Transport:
    Must "C1.1-stream" => stream,
        "GET opens an event stream";
    Must "C1.1-stream-stays" => stream_stays,
        "An event stream stays open";
    Should "C1.1-stream-alive" => stream_alive,
        "A silent event stream sends keep-alives";
}

async fn stream(test: &TestContext) -> Finding {
    let session = test.deaf_session().await?;
    let get = session.probe(Method::GET).accept("text/event-stream");
    let answer = test.sent(get).await?;
    if answer.status != StatusCode::OK {
        return broken(format!("HTTP {}", answer.status.as_u16()));
    }
    match answer.media_type().as_str() {
        "text/event-stream" => Ok("HTTP 200, text/event-stream".to_owned()),
        other => broken(format!("its Content-Type is {other:?}")),
    }
}

async fn stream_stays(test: &TestContext) -> Finding {
    let mut session = test.session().await?;
    let started = Instant::now();
    session.listen(test.connection.timeouts.idle).await;
    if let Some(how) = session.end {
        return broken(format!("{how} after {:.1?}", started.elapsed()));
    }
    Ok(format!("open after {:.1?}", started.elapsed()))
}

async fn stream_alive(test: &TestContext) -> Finding {
    let mut session = test.session().await?;
    // What comes at the start is not a sign of life.
    session.listen(test.connection.timeouts.quiet).await;
    let before = session.signs;
    session.listen(test.connection.timeouts.idle).await;
    if session.end.is_some() {
        return blocked(&["C1.1-stream-stays"], "the stream ended");
    }
    let (idle, silence) = (
        test.connection.timeouts.idle,
        test.connection.timeouts.silence,
    );
    if session.signs > before {
        return Ok(format!("{} within {idle:.1?}", session.signs - before));
    }
    if idle < silence {
        return unchecked(format!(
            "it was silent for {idle:.1?}; agents give up after {silence:.0?}: watch longer with --idle SECONDS"
        ));
    }
    broken(format!("it was silent for {idle:.1?}"))
}
