//! HTTP and MCP: the handshake, the messages, sessions and where they are (C1).

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

use pillion_http::header::CONTENT_TYPE;
use pillion_http::{Method, StatusCode};
use pillion_protocol::Address;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::agent::Agent;
use crate::check::checks;
use crate::mcp::{
    KNOWN_VERSIONS, agreed_version, ids, initialized, ping, unknown_method, unknown_tool,
};
use crate::message::{NEWEST_VERSION, initialize_params, notification, request};
use crate::probe::Answer;
use crate::rule::{Finding, Otherwise, Problem, blocked, broken, unchecked, wrong};
use crate::session::{self, Session};
use crate::test_context::TestContext;

checks! {
    Transport:
    Must "C1.1-initialize" => initialize,
        "`initialize` at /mcp is answered as MCP specifies";
    Must "C1.1-version" => version,
        "An unknown protocol version is answered with one that the companion supports";
    Must "C1.1-agents-version" => agents_version,
        "The versions that agents ask for are answered with one that agents support";
    Should "C1.1-session" => session_id,
        "Every session has its own id";
    Must "C1.1-notification" => accepts_notification in deaf_session,
        "A notification is accepted with 202";
    Must "C1.1-id" => ids([json!(7_001), json!("7001"), json!("an id"), json!(1_u64 << 40)]) in deaf_session,
        "A response has the id of its request, with the same type";
    Must "C1.1-ping" => ping in deaf_session,
        "`ping` is answered with an empty result";
    Must "C1.1-unknown-method" => unknown_method in deaf_session,
        "An unknown method is answered with error -32601";
    Must "C1.1-unknown-tool" => unknown_tool in deaf_session,
        "A call to an unknown tool fails";
    Must "C1.1-bad-json" => bad_json in deaf_session,
        "A body that is not JSON is refused, and the session survives";
    Should "C1.1-media-type" => media_type in deaf_session,
        "A body without a JSON content type is refused";
    Should "C1.1-delete" => delete in deaf_session,
        "DELETE ends a session";
    Should "C1.1-unknown-session" => unknown_session in deaf_session,
        "A session id that the companion did not issue is refused";
    Should "C1.2-endpoint" => endpoint,
        "/mcp is the only endpoint for MCP";
    Must "C1.3-loopback" => loopback,
        "The port is open on loopback only";
}

/// The id of a handshake.
const FIRST: &str = "first";

/// An id as no companion gives it.
const NOBODYS_SESSION: &str = "pillion-conformance-nobody";

/// The answer to `initialize`. The session is ended at once.
async fn shake(test: &TestContext, version: &str) -> Result<Value, Problem> {
    let body = request(FIRST, "initialize", initialize_params(version));
    let answer = test.send(test.probe(Method::POST).body(body)).await?;
    test.opened_by(&answer);
    let reply = answer.reply(&json!(FIRST), test.timeouts.answer).await;
    test.close_sessions().await;
    Ok(reply?)
}

/// The version that a handshake with this one is answered with.
async fn agreed(test: &TestContext, version: &str) -> Result<String, Problem> {
    test.has_sessions().await?;
    let reply = shake(test, version).await?;
    let agreed = agreed_version(&reply).map_err(|problem| problem.about(version))?;
    Ok(agreed.to_owned())
}

pub(super) async fn initialize(test: &TestContext) -> Finding {
    let reply = shake(test, NEWEST_VERSION).await?;
    if reply["id"] != FIRST {
        return wrong(&reply);
    }
    let result = initialized(&reply)?;
    if !result["capabilities"]["tools"].is_object() {
        return broken("`capabilities` announces no tools");
    }
    let name = result["serverInfo"]["name"].as_str().unwrap_or_default();
    Ok(format!("{name}, MCP {}", agreed_version(&reply)?))
}

pub(super) async fn version(test: &TestContext) -> Finding {
    match agreed(test, "1999-01-01").await? {
        same if same == "1999-01-01" => broken("it claims to know version 1999-01-01"),
        other => Ok(format!("1999-01-01 is answered with {other}")),
    }
}

pub(super) async fn agents_version(test: &TestContext) -> Finding {
    let mut seen = Vec::new();
    for version in ["2025-06-18", NEWEST_VERSION] {
        let agreed = agreed(test, version).await?;
        if !KNOWN_VERSIONS.contains(&agreed.as_str()) {
            return broken(format!("{version} is answered with {agreed}"));
        }
        seen.push(format!("{version}: {agreed}"));
    }
    Ok(seen.join(", "))
}

pub(super) async fn session_id(test: &TestContext) -> Finding {
    let first = test.deaf_session().await?;
    let first_id = first.id().map(str::to_owned);
    first.leave().await;
    let second = test.deaf_session().await?;
    let (Some(first), Some(second)) = (first_id.as_deref(), second.id()) else {
        return broken("`initialize` is answered without Mcp-Session-Id");
    };
    if first == second {
        return broken("two sessions have the same id");
    }
    if !first.bytes().all(|byte| (0x21..=0x7e).contains(&byte)) {
        return broken("the id contains characters that are not visible ASCII");
    }
    Ok("two sessions, two ids".to_owned())
}

pub(super) async fn accepts_notification(session: &mut Session<'_>) -> Finding {
    let probe = session.probe(Method::POST);
    let probe = probe.body(notification("notifications/initialized"));
    let answer = session.test.send(probe).await?;
    match answer.status {
        StatusCode::ACCEPTED => Ok(answer.shown()),
        _ => broken(answer.shown()),
    }
}

pub(super) async fn bad_json(session: &mut Session<'_>) -> Finding {
    let mut seen = String::new();
    for body in ["{", "no JSON", "\u{0}"] {
        let probe = session.probe(Method::POST).body(body);
        seen = match session.test.send(probe).await {
            Ok(answer) if answer.status.is_client_error() => answer.shown(),
            Ok(answer) => {
                let shown = answer.shown();
                return broken(format!("{body:?} is answered with {shown}"));
            }
            Err(closed) if closed.is_hung_up => "the connection is closed".to_owned(),
            Err(error) => return Err(error.into()),
        };
    }
    let served = session.is_served().await;
    served.or_broken("the session is gone afterwards")?;
    Ok(seen)
}

async fn media_type(session: &mut Session<'_>) -> Finding {
    let body = request(7, "tools/list", json!({}));
    let probe = session
        .probe(Method::POST)
        .header(CONTENT_TYPE, "text/plain");
    let answer = session.test.send(probe.body(body)).await?;
    match answer.status.is_client_error() {
        true => Ok(answer.shown()),
        false => broken(format!("text/plain is answered with {}", answer.shown())),
    }
}

/// The answer to a request with this id of a session.
async fn answer_to(session: &Session<'_>, id: Option<&str>) -> Result<Answer, Problem> {
    let body = request(8, "tools/list", json!({}));
    let probe = session.probe(Method::POST).session(id).body(body);
    Ok(session.test.send(probe).await?)
}

pub(super) async fn delete(session: &mut Session<'_>) -> Finding {
    let Some(id) = session.id() else {
        return blocked(session.test.rows().session_id, "sessions have no id");
    };
    let answer = session.test.send(session.probe(Method::DELETE)).await?;
    let shown = answer.shown();
    if answer.status == StatusCode::METHOD_NOT_ALLOWED {
        return Ok(format!("{shown}: clients may not end sessions"));
    }
    if !answer.status.is_success() {
        return broken(format!(
            "{shown}: a server that does not let clients end sessions answers 405"
        ));
    }
    let later = answer_to(session, Some(id)).await?;
    match later.status {
        StatusCode::NOT_FOUND | StatusCode::BAD_REQUEST => {
            Ok(format!("{shown}, then {}", later.shown()))
        }
        _ => broken(format!("the session still answers: {}", later.shown())),
    }
}

pub(super) async fn unknown_session(session: &mut Session<'_>) -> Finding {
    if session.id().is_none() {
        return blocked(session.test.rows().session_id, "sessions have no id");
    }
    let answer = answer_to(session, Some(NOBODYS_SESSION)).await?;
    match answer.status.is_client_error() {
        true => Ok(answer.shown()),
        false => broken(format!("{}: it is served", answer.shown())),
    }
}

async fn endpoint(test: &TestContext) -> Finding {
    test.has_sessions().await?;
    for path in ["/", "/sse", "/mcp/pillion"] {
        let probe = test.probe(Method::POST).target(path);
        let answer = match test.send(session::initialize(probe)).await {
            // To hang up is to refuse, too.
            Err(closed) if closed.is_hung_up => continue,
            answer => answer?,
        };
        test.opened_by(&answer);
        test.close_sessions().await;
        if answer.status.is_success() {
            return broken(format!("{path} answers too"));
        }
    }
    Ok("no other path answers".to_owned())
}

pub(super) async fn loopback(test: &TestContext) -> Finding {
    let Address::Tcp(port) = *test.target.address() else {
        return unchecked("it has no port");
    };
    let mut addresses = own_addresses();
    // Who listens on every address listens on this one, too, even without a network.
    if cfg!(target_os = "linux") {
        addresses.push(Ipv4Addr::new(127, 0, 0, 2).into());
    }
    if addresses.is_empty() {
        return unchecked("this machine has no other address than 127.0.0.1");
    }
    for address in &addresses {
        let address = SocketAddr::new(*address, port);
        let connect = TcpStream::connect(address);
        if let Ok(Ok(_)) = timeout(test.timeouts.answer, connect).await {
            // Somebody else may have the port there.
            let probe = test.stranger(Method::POST).address(address).body("{}");
            if probe.send(test.timeouts.answer).await.is_ok() {
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
