//! HTTP and MCP: the handshake, the messages, sessions and where they are (C1).

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

use pillion_http::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::check::checks;
use crate::message::{NEWEST_VERSION, initialize_params, notification, request};
use crate::probe::{NoAnswer, Probe};
use crate::rule::{Finding, Problem, blocked, broken, shown, unchecked};
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
    Must "C1.1-notification" => accepts_notification,
        "A notification is accepted with 202";
    Must "C1.1-id" => ids,
        "A response has the id of its request, with the same type";
    Must "C1.1-ping" => ping,
        "`ping` is answered with an empty result";
    Must "C1.1-unknown-method" => unknown_method,
        "An unknown method is answered with error -32601";
    Must "C1.1-unknown-tool" => unknown_tool,
        "A call to an unknown tool fails";
    Must "C1.1-bad-json" => bad_json,
        "A body that is not JSON is refused, and the session survives";
    Should "C1.1-media-type" => media_type,
        "A body without a JSON content type is refused";
    Should "C1.1-delete" => delete,
        "DELETE ends a session";
    Should "C1.1-unknown-session" => unknown_session,
        "A session id that the companion did not issue is refused";
    Should "C1.2-endpoint" => endpoint,
        "/mcp is the only endpoint for MCP";
    Must "C1.3-loopback" => loopback,
        "The port is open on loopback only";
}

/// What some release of some agent understands.
pub(super) const KNOWN_VERSIONS: [&str; 5] = [
    "2024-10-07",
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
];

/// An id as no companion gives it.
const NOBODYS_SESSION: &str = "pillion-conformance-nobody";

/// The answer to `initialize`, and the id of the request. The session is ended at once.
async fn shake(test: &TestContext, version: &str) -> Result<(Value, Value), Problem> {
    let id = json!("first");
    let body = request(id.clone(), "initialize", initialize_params(version));
    let answer = test
        .sent(test.connection.probe(Method::POST).body(body))
        .await?;
    test.connection.opened_by(&answer);
    let reply = answer.reply(&id, test.connection.timeouts.answer).await;
    test.connection.clean_up().await;
    Ok((reply?, id))
}

/// The version that `initialize` is answered with.
async fn agreed_version(test: &TestContext, version: &str) -> Result<String, Problem> {
    test.has_sessions().await?;
    let (reply, _) = shake(test, version).await?;
    match reply.pointer("/result/protocolVersion") {
        Some(Value::String(agreed)) => Ok(agreed.clone()),
        _ => broken(format!(
            "version {version} is answered with {}",
            shown(&reply)
        )),
    }
}

async fn initialize(test: &TestContext) -> Finding {
    let (reply, id) = shake(test, NEWEST_VERSION).await?;
    if reply["jsonrpc"] != "2.0" || reply["id"] != id {
        return broken(format!(
            "it is not an answer to this request: {}",
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
            return broken(format!("`result{path}` is not a string"));
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

async fn version(test: &TestContext) -> Finding {
    let agreed = agreed_version(test, "1999-01-01").await?;
    if agreed == "1999-01-01" {
        return broken("it claims to know version 1999-01-01");
    }
    Ok(format!("1999-01-01 is answered with {agreed}"))
}

async fn agents_version(test: &TestContext) -> Finding {
    let mut seen = Vec::new();
    for version in ["2025-06-18", NEWEST_VERSION] {
        let agreed = agreed_version(test, version).await?;
        if !KNOWN_VERSIONS.contains(&agreed.as_str()) {
            return broken(format!("{version} is answered with {agreed}"));
        }
        seen.push(format!("{version}: {agreed}"));
    }
    Ok(seen.join(", "))
}

async fn session_id(test: &TestContext) -> Finding {
    let first = test.deaf_session().await?;
    let first_id = first.id.clone();
    first.leave().await;
    let second = test.deaf_session().await?;
    let (Some(first), Some(second)) = (&first_id, &second.id) else {
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

async fn accepts_notification(test: &TestContext) -> Finding {
    let session = test.deaf_session().await?;
    let probe = session.probe(Method::POST);
    let probe = probe.body(notification("notifications/initialized"));
    let status = test.sent(probe).await?.status;
    if status == StatusCode::ACCEPTED {
        Ok("HTTP 202".to_owned())
    } else {
        broken(format!("HTTP {}", status.as_u16()))
    }
}

async fn ids(test: &TestContext) -> Finding {
    let session = test.deaf_session().await?;
    let ids = [
        json!(7_001),
        json!("7001"),
        json!("an id"),
        json!(1_u64 << 40),
    ];
    for id in &ids {
        let probe = session.probe(Method::POST);
        let probe = probe.body(request(id.clone(), "tools/list", json!({})));
        let reply = test.sent(probe).await?;
        let reply = reply.reply(id, test.connection.timeouts.answer).await;
        let reply = reply.or_else(|NoAnswer { why, .. }| broken(format!("{id}: {why}")))?;
        if reply["id"] != *id {
            return broken(format!("{id} is answered with the id {}", reply["id"]));
        }
    }
    Ok(format!("{} ids", ids.len()))
}

async fn ping(test: &TestContext) -> Finding {
    let session = test.deaf_session().await?;
    match session.ask("ping", json!({})).await {
        Ok(reply) if reply["result"] == json!({}) => Ok("an empty result".to_owned()),
        Ok(reply) => broken(format!("it is answered with {}", shown(&reply))),
        Err(NoAnswer { why, .. }) => broken(why),
    }
}

async fn unknown_method(test: &TestContext) -> Finding {
    let session = test.deaf_session().await?;
    match session.ask("pillion/none", json!({})).await {
        Ok(reply) if reply["error"]["code"] == -32601 => Ok("error -32601".to_owned()),
        Ok(reply) => broken(format!("it is answered with {}", shown(&reply))),
        Err(NoAnswer { why, .. }) => broken(why),
    }
}

async fn unknown_tool(test: &TestContext) -> Finding {
    let session = test.deaf_session().await?;
    match session.call("pillionNone", json!({})).await {
        Ok(reply) if reply.is_error() => Ok(reply.shown()),
        Ok(reply) => broken(format!("it succeeds: {}", reply.shown())),
        Err(NoAnswer { why, .. }) => broken(why),
    }
}

async fn bad_json(test: &TestContext) -> Finding {
    let session = test.deaf_session().await?;
    let mut seen = String::new();
    for body in ["{", "no JSON", "\u{0}"] {
        let probe = session.probe(Method::POST).body(body);
        let sent = test
            .connection
            .send(probe, test.connection.timeouts.answer)
            .await;
        seen = match sent {
            Ok(answer) if answer.status.is_client_error() => {
                format!("HTTP {}", answer.status.as_u16())
            }
            Ok(answer) => {
                let status = answer.status.as_u16();
                return broken(format!("{body:?} is answered with HTTP {status}"));
            }
            Err(closed) if closed.is_hung_up => "the connection is closed".to_owned(),
            Err(NoAnswer { why, .. }) => return broken(why),
        };
    }
    match session.is_served().await {
        Ok(()) => Ok(seen),
        Err(NoAnswer { why, .. }) => broken(format!("the session is gone afterwards: {why}")),
    }
}

async fn media_type(test: &TestContext) -> Finding {
    let session = test.deaf_session().await?;
    let body = request(7, "tools/list", json!({}));
    let probe = session.probe(Method::POST).content_type("text/plain");
    let status = test.sent(probe.body(body)).await?.status;
    if status.is_client_error() {
        Ok(format!("HTTP {}", status.as_u16()))
    } else {
        broken(format!(
            "text/plain is answered with HTTP {}",
            status.as_u16()
        ))
    }
}

async fn delete(test: &TestContext) -> Finding {
    let session = test.deaf_session().await?;
    if session.id.is_none() {
        return blocked(&["C1.1-session"], "sessions have no id");
    }
    let status = test.sent(session.probe(Method::DELETE)).await?.status;
    if status == StatusCode::METHOD_NOT_ALLOWED {
        return Ok("HTTP 405: clients may not end sessions".to_owned());
    }
    if !status.is_success() {
        return broken(format!(
            "HTTP {}: a server that does not let clients end sessions answers 405",
            status.as_u16()
        ));
    }
    let body = request(8, "tools/list", json!({}));
    let probe = session.probe(Method::POST).body(body);
    let later = test.sent(probe).await?.status;
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

async fn unknown_session(test: &TestContext) -> Finding {
    let session = test.deaf_session().await?;
    if session.id.is_none() {
        return blocked(&["C1.1-session"], "sessions have no id");
    }
    let body = request(8, "tools/list", json!({}));
    let probe = session.probe(Method::POST).session(Some(NOBODYS_SESSION));
    let status = test.sent(probe.body(body)).await?.status;
    if status.is_client_error() {
        Ok(format!("HTTP {}", status.as_u16()))
    } else {
        broken(format!("HTTP {}: it is served", status.as_u16()))
    }
}

async fn endpoint(test: &TestContext) -> Finding {
    test.has_sessions().await?;
    for path in ["/", "/sse", "/mcp/pillion"] {
        let body = request(0, "initialize", initialize_params(NEWEST_VERSION));
        let probe = test.connection.probe(Method::POST).target(path).body(body);
        let answer = test.sent(probe).await?;
        test.connection.opened_by(&answer);
        test.connection.clean_up().await;
        if answer.status.is_success() {
            return broken(format!("{path} answers too"));
        }
    }
    Ok("no other path answers".to_owned())
}

pub(super) async fn loopback(test: &TestContext) -> Finding {
    let mut addresses = own_addresses();
    // Who listens on every address listens on this one, too, even without a network.
    if cfg!(target_os = "linux") {
        addresses.push(Ipv4Addr::new(127, 0, 0, 2).into());
    }
    if addresses.is_empty() {
        return unchecked("this machine has no other address than 127.0.0.1");
    }
    for address in &addresses {
        let address = SocketAddr::new(*address, test.connection.target.port());
        let connect = TcpStream::connect(address);
        if let Ok(Ok(_)) = timeout(test.connection.timeouts.answer, connect).await {
            // Somebody else may have the port there.
            let probe: Probe = test.connection.stranger(Method::POST).address(address);
            let answer = probe.body("{}").send(test.connection.timeouts.answer).await;
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
