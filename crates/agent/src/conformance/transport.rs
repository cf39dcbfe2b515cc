//! HTTP and MCP: the handshake, the messages, the event stream (C1).

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Instant;

use ::http::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::bench::Bench;
use super::check::{Check, check};
use super::message::{NEWEST_VERSION, initialize_params, notification, request};
use super::probe::{NoAnswer, Probe};
use super::rule::Group::Transport;
use super::rule::Level::{Must, Should};
use super::rule::{Finding, Problem, broken, cut, shown, unchecked};

pub(super) const CHECKS: &[Check] = &[
    check(
        Transport,
        Must,
        "C1.1-initialize",
        "`initialize` at /mcp is answered as MCP says",
        |b| Box::pin(initialize(b)),
    ),
    check(
        Transport,
        Must,
        "C1.1-version",
        "A version that the companion does not know is answered with one that it knows",
        |b| Box::pin(version(b)),
    ),
    check(
        Transport,
        Must,
        "C1.1-agents-version",
        "The versions that agents ask for lead to one that agents know",
        |b| Box::pin(agents_version(b)),
    ),
    check(
        Transport,
        Should,
        "C1.1-session",
        "Every session has an id of its own",
        |b| Box::pin(session_id(b)),
    ),
    check(
        Transport,
        Must,
        "C1.1-notification",
        "A notification is accepted with 202",
        |b| Box::pin(accepts_notification(b)),
    ),
    check(
        Transport,
        Must,
        "C1.1-ping",
        "`ping` is answered with an empty result",
        |b| Box::pin(ping(b)),
    ),
    check(
        Transport,
        Must,
        "C1.1-unknown-method",
        "An unknown method is answered with error -32601",
        |b| Box::pin(unknown_method(b)),
    ),
    check(
        Transport,
        Must,
        "C1.1-unknown-tool",
        "A call of an unknown tool fails",
        |b| Box::pin(unknown_tool(b)),
    ),
    check(
        Transport,
        Must,
        "C1.1-bad-json",
        "A body that is no JSON is refused, and harms nobody",
        |b| Box::pin(bad_json(b)),
    ),
    check(
        Transport,
        Should,
        "C1.1-media-type",
        "A body that does not say that it is JSON is refused",
        |b| Box::pin(media_type(b)),
    ),
    check(
        Transport,
        Must,
        "C1.1-stream",
        "GET opens an event stream",
        |b| Box::pin(stream(b)),
    ),
    check(
        Transport,
        Must,
        "C1.1-stream-stays",
        "An event stream stays open",
        |b| Box::pin(stream_stays(b)),
    ),
    check(
        Transport,
        Should,
        "C1.1-stream-alive",
        "A silent event stream shows signs of life",
        |b| Box::pin(stream_alive(b)),
    ),
    check(
        Transport,
        Should,
        "C1.1-events",
        "Events are JSON-RPC messages without ids: agents of today stumble over others",
        |b| Box::pin(events(b)),
    ),
    check(
        Transport,
        Should,
        "C1.1-delete",
        "DELETE ends a session",
        |b| Box::pin(delete(b)),
    ),
    check(
        Transport,
        Should,
        "C1.1-unknown-session",
        "A session id that the companion did not give is refused",
        |b| Box::pin(unknown_session(b)),
    ),
    check(
        Transport,
        Should,
        "C1.2-endpoint",
        "/mcp is the only endpoint for MCP",
        |b| Box::pin(endpoint(b)),
    ),
    check(
        Transport,
        Must,
        "C1.3-loopback",
        "The port is open on loopback only",
        |b| Box::pin(loopback(b)),
    ),
];

/// What some release of some agent understands.
const KNOWN_VERSIONS: [&str; 5] = [
    "2024-10-07",
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
];

/// An id as no companion gives it.
const NOBODYS_SESSION: &str = "pillion-conformance-nobody";

/// The answer to `initialize`, and the id of the request. The session is ended at once.
async fn shake(bench: &Bench, version: &str) -> Result<(Value, Value), Problem> {
    let id = json!("first");
    let body = request(id.clone(), "initialize", initialize_params(version));
    let answer = bench
        .sent(bench.line.probe(Method::POST).body(body))
        .await?;
    bench.line.opened_by(&answer);
    let reply = answer.reply(&id, bench.line.patience.answer).await;
    bench.line.clean_up().await;
    let reply = reply.map_err(|NoAnswer(why)| Problem::Broken(why))?;
    Ok((reply, id))
}

/// The version that `initialize` is answered with.
async fn agreed_version(bench: &Bench, version: &str) -> Result<String, Problem> {
    bench.has_sessions().await?;
    let (reply, _) = shake(bench, version).await?;
    match reply.pointer("/result/protocolVersion") {
        Some(Value::String(agreed)) => Ok(agreed.clone()),
        _ => broken(format!(
            "version {version} is answered with {}",
            shown(&reply)
        )),
    }
}

async fn initialize(bench: &Bench) -> Finding {
    let (reply, id) = shake(bench, NEWEST_VERSION).await?;
    if reply["jsonrpc"] != "2.0" || reply["id"] != id {
        return broken(format!(
            "it is no answer to this request: {}",
            shown(&reply)
        ));
    }
    let result = &reply["result"];
    let strings = [
        "/protocolVersion",
        "/serverInfo/name",
        "/serverInfo/version",
    ];
    for path in strings {
        if !result.pointer(path).is_some_and(Value::is_string) {
            return broken(format!("`result{path}` is no string"));
        }
    }
    if !result["capabilities"]["tools"].is_object() {
        return broken("`capabilities` announces no tools");
    }
    let name = result["serverInfo"]["name"].as_str().unwrap_or_default();
    Ok(format!(
        "{name}, MCP {}",
        result["protocolVersion"].as_str().unwrap_or_default()
    ))
}

async fn version(bench: &Bench) -> Finding {
    let agreed = agreed_version(bench, "1999-01-01").await?;
    if agreed == "1999-01-01" {
        return broken("it claims to know version 1999-01-01");
    }
    Ok(format!("1999-01-01 is answered with {agreed}"))
}

async fn agents_version(bench: &Bench) -> Finding {
    let mut seen = Vec::new();
    for version in ["2025-06-18", NEWEST_VERSION] {
        let agreed = agreed_version(bench, version).await?;
        if !KNOWN_VERSIONS.contains(&agreed.as_str()) {
            return broken(format!("{version} is answered with {agreed}"));
        }
        seen.push(format!("{version}: {agreed}"));
    }
    Ok(seen.join(", "))
}

async fn session_id(bench: &Bench) -> Finding {
    let first = bench.deaf_session().await?;
    let first_id = first.id.clone();
    first.leave().await;
    let second = bench.deaf_session().await?;
    let (Some(first), Some(second)) = (&first_id, &second.id) else {
        return broken("`initialize` is answered without Mcp-Session-Id");
    };
    if first == second {
        return broken("two sessions have the same id");
    }
    if !first.bytes().all(|byte| (0x21..=0x7e).contains(&byte)) {
        return broken("the id has characters that are not visible ASCII");
    }
    Ok("two sessions, two ids".to_owned())
}

async fn accepts_notification(bench: &Bench) -> Finding {
    let session = bench.deaf_session().await?;
    let probe = session.probe(Method::POST);
    let probe = probe.body(notification("notifications/initialized"));
    let status = bench.sent(probe).await?.status;
    if status == StatusCode::ACCEPTED {
        Ok("HTTP 202".to_owned())
    } else {
        broken(format!("HTTP {}", status.as_u16()))
    }
}

async fn ping(bench: &Bench) -> Finding {
    let session = bench.deaf_session().await?;
    match session.ask("ping", json!({})).await {
        Ok(reply) if reply["result"] == json!({}) => Ok("an empty result".to_owned()),
        Ok(reply) => broken(format!("it is answered with {}", shown(&reply))),
        Err(NoAnswer(why)) => broken(why),
    }
}

async fn unknown_method(bench: &Bench) -> Finding {
    let session = bench.deaf_session().await?;
    match session.ask("pillion/none", json!({})).await {
        Ok(reply) if reply["error"]["code"] == -32601 => Ok("error -32601".to_owned()),
        Ok(reply) => broken(format!("it is answered with {}", shown(&reply))),
        Err(NoAnswer(why)) => broken(why),
    }
}

async fn unknown_tool(bench: &Bench) -> Finding {
    let session = bench.deaf_session().await?;
    match session.call("pillionNone", json!({})).await {
        Ok(reply) if reply.is_error() => Ok(reply.shown()),
        Ok(reply) => broken(format!("it succeeds: {}", reply.shown())),
        Err(NoAnswer(why)) => broken(why),
    }
}

async fn bad_json(bench: &Bench) -> Finding {
    let session = bench.deaf_session().await?;
    let mut seen = String::new();
    for body in ["{", "no JSON", "\u{0}"] {
        let answer = bench.sent(session.probe(Method::POST).body(body)).await?;
        if !answer.status.is_client_error() {
            return broken(format!(
                "{body:?} is answered with HTTP {}",
                answer.status.as_u16()
            ));
        }
        seen = format!("HTTP {}", answer.status.as_u16());
    }
    match session.ping().await {
        Ok(()) => Ok(seen),
        Err(NoAnswer(why)) => broken(format!("the session is gone afterwards: {why}")),
    }
}

async fn media_type(bench: &Bench) -> Finding {
    let session = bench.deaf_session().await?;
    let body = request(7, "ping", json!({}));
    let probe = session.probe(Method::POST).content_type("text/plain");
    let status = bench.sent(probe.body(body)).await?.status;
    if status.is_client_error() {
        Ok(format!("HTTP {}", status.as_u16()))
    } else {
        broken(format!(
            "text/plain is answered with HTTP {}",
            status.as_u16()
        ))
    }
}

async fn stream(bench: &Bench) -> Finding {
    let session = bench.deaf_session().await?;
    let get = session.probe(Method::GET).accept("text/event-stream");
    let answer = bench.sent(get).await?;
    if answer.status != StatusCode::OK {
        return broken(format!("HTTP {}", answer.status.as_u16()));
    }
    match answer.media_type().as_str() {
        "text/event-stream" => Ok("HTTP 200, text/event-stream".to_owned()),
        other => broken(format!("its Content-Type is {other:?}")),
    }
}

async fn stream_stays(bench: &Bench) -> Finding {
    let mut session = bench.session().await?;
    let started = Instant::now();
    session.listen(bench.line.patience.idle).await;
    if let Some(how) = session.end {
        return broken(format!("{how} after {:.1?}", started.elapsed()));
    }
    Ok(format!("open after {:.1?}", started.elapsed()))
}

async fn stream_alive(bench: &Bench) -> Finding {
    let mut session = bench.session().await?;
    // What comes at the start is no sign of life.
    session.listen(bench.line.patience.quiet).await;
    let before = session.signs;
    session.listen(bench.line.patience.idle).await;
    if session.end.is_some() {
        return unchecked("the stream ended; see C1.1-stream-stays");
    }
    let (idle, silence) = (bench.line.patience.idle, bench.line.patience.silence);
    if session.signs > before {
        return Ok(format!("{} within {idle:.1?}", session.signs - before));
    }
    if idle < silence {
        return unchecked(format!(
            "it was silent for {idle:.1?}; agents give up after {silence:.0?}: watch it longer \
             with --idle SECONDS"
        ));
    }
    broken(format!("it was silent for {idle:.1?}"))
}

async fn events(bench: &Bench) -> Finding {
    let mut session = bench.session().await?;
    session.listen(bench.line.patience.quiet).await;
    // An answer to a request may be a stream as well.
    let odd = session.odd_events.first();
    match odd {
        Some(event) if event.has_id => broken("an event has an id: agents reconnect to resume"),
        Some(event) if event.data.is_empty() => broken("an event is empty"),
        Some(event) => broken(format!(
            "an event is no JSON-RPC message: {}",
            cut(&event.data)
        )),
        None => Ok(format!("{} messages", session.messages.len())),
    }
}

async fn delete(bench: &Bench) -> Finding {
    let session = bench.deaf_session().await?;
    if session.id.is_none() {
        return unchecked("sessions have no id; see C1.1-session");
    }
    let status = bench.sent(session.probe(Method::DELETE)).await?.status;
    if status == StatusCode::METHOD_NOT_ALLOWED {
        return Ok("HTTP 405: clients may not end sessions".to_owned());
    }
    if !status.is_success() {
        return broken(format!(
            "HTTP {}: who lets no client end a session answers 405",
            status.as_u16()
        ));
    }
    let body = request(8, "ping", json!({}));
    let probe = session.probe(Method::POST).body(body);
    let later = bench.sent(probe).await?.status;
    match later {
        StatusCode::NOT_FOUND | StatusCode::BAD_REQUEST => {
            Ok(format!("HTTP {}, then {}", status.as_u16(), later.as_u16()))
        }
        _ => broken(format!(
            "the session still answers, with HTTP {}",
            later.as_u16()
        )),
    }
}

async fn unknown_session(bench: &Bench) -> Finding {
    let session = bench.deaf_session().await?;
    if session.id.is_none() {
        return unchecked("sessions have no id; see C1.1-session");
    }
    let body = request(8, "ping", json!({}));
    let probe = session.probe(Method::POST).session(Some(NOBODYS_SESSION));
    let status = bench.sent(probe.body(body)).await?.status;
    if status.is_client_error() {
        Ok(format!("HTTP {}", status.as_u16()))
    } else {
        broken(format!("HTTP {}: it is served", status.as_u16()))
    }
}

async fn endpoint(bench: &Bench) -> Finding {
    bench.has_sessions().await?;
    for path in ["/", "/sse", "/mcp/pillion"] {
        let body = request(0, "initialize", initialize_params(NEWEST_VERSION));
        let probe = bench.line.probe(Method::POST).target(path).body(body);
        let answer = bench.sent(probe).await?;
        bench.line.opened_by(&answer);
        bench.line.clean_up().await;
        if answer.status.is_success() {
            return broken(format!("{path} answers too"));
        }
    }
    Ok("no other path answers".to_owned())
}

async fn loopback(bench: &Bench) -> Finding {
    let mut addresses = own_addresses();
    // Who listens on every address listens on this one, too, even without a network.
    if cfg!(target_os = "linux") {
        addresses.push(Ipv4Addr::new(127, 0, 0, 2).into());
    }
    if addresses.is_empty() {
        return unchecked("this machine has no other address than 127.0.0.1");
    }
    for address in &addresses {
        let address = SocketAddr::new(*address, bench.line.target.port());
        let connect = TcpStream::connect(address);
        if let Ok(Ok(_)) = timeout(bench.line.patience.answer, connect).await {
            // Somebody else may have the port there.
            let probe: Probe = bench.line.stranger(Method::POST).address(address);
            let answer = probe.body("{}").send(bench.line.patience.answer).await;
            if answer.is_ok() {
                return broken(format!("it answers on {address}, not on 127.0.0.1 only"));
            }
        }
    }
    let shown: Vec<_> = addresses.iter().map(ToString::to_string).collect();
    Ok(format!("closed on {}", shown.join(", ")))
}

/// The addresses from which this machine would send elsewhere; nothing is sent.
fn own_addresses() -> Vec<IpAddr> {
    let towards = [("0.0.0.0:0", "192.0.2.1:9"), ("[::]:0", "[2001:db8::1]:9")];
    let address = |(from, to): (&str, &str)| {
        let socket = UdpSocket::bind(from).ok()?;
        socket.connect(to).ok()?;
        Some(socket.local_addr().ok()?.ip())
    };
    let found = towards.into_iter().filter_map(address);
    found
        .filter(|it| !it.is_loopback() && !it.is_unspecified())
        .collect()
}
