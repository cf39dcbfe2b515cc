//! From the HTTP request to the WebSocket.

use pillion_http::header::{
    SEC_WEBSOCKET_EXTENSIONS, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION,
};
use pillion_protocol::claude::SUBPROTOCOL;

use super::access::none_opens;
use super::client::Client;
use super::upgrade::{agrees, of_agent};
use crate::check::checks;
use crate::probe::{Answer, Probe};
use crate::rule::{Finding, Otherwise, Problem, broken};
use crate::test_context::TestContext;
use crate::transport::loopback;

checks! {
    Transport:
    Must "K2-upgrade" => upgrade,
        "`GET /` with the token opens a WebSocket",
        "The agent never connects.";
    Must "K2-protocol" => protocol,
        "The answer names the subprotocol `mcp`, which the agent offers",
        "Claude Code hangs up at once, and does not try again.";
    Must "K2-no-protocol" => no_protocol,
        "A client that offers no subprotocol is served, and the answer names none",
        "opencode offers none, and a client ends a connection for a subprotocol that it did not offer.";
    Must "K2-deflate" => deflate,
        "An offer of permessage-deflate is declined or agreed to",
        "Claude Code offers it with every connection.";
    Should "K2-version" => version,
        "A WebSocket version other than 13 is refused",
        "The two sides would not understand each other's frames.";
    Should "K2-path" => path,
        "There is no WebSocket at paths other than /",
        "Anyone scanning for open services finds a second way in.";
    Must "K2-loopback" => loopback,
        "The port is open on loopback only",
        "Other machines could read proposals, and answer them.";
}

/// The answer to a request that differs in one thing from the agent's.
async fn agreed(test: &TestContext, probe: Probe) -> Result<Answer, Problem> {
    test.has_clients().await?;
    let answer = test.send(probe).await?;
    agrees(&answer)?;
    Ok(answer)
}

async fn upgrade(test: &TestContext) -> Finding {
    Client::connect(test).await?;
    Ok("HTTP 101".to_owned())
}

async fn protocol(test: &TestContext) -> Finding {
    let answer = test.send(of_agent(test)).await?;
    agrees(&answer).or_blocked(&["K2-upgrade"], "there is no WebSocket")?;
    let names = answer.values(SEC_WEBSOCKET_PROTOCOL).join(", ");
    Client::of(test, answer).await?;
    match names.as_str() {
        SUBPROTOCOL => Ok(names),
        "" => broken("it names none"),
        _ => broken(format!("it names {names:?}")),
    }
}

async fn no_protocol(test: &TestContext) -> Finding {
    let answer = agreed(test, of_agent(test).without(SEC_WEBSOCKET_PROTOCOL)).await?;
    if let [name, ..] = answer.values(SEC_WEBSOCKET_PROTOCOL)[..] {
        return broken(format!("it names {name:?}, which was not offered"));
    }
    Client::of(test, answer).await?.initialize().await?;
    Ok("it is served".to_owned())
}

async fn deflate(test: &TestContext) -> Finding {
    let offer = "permessage-deflate; client_max_window_bits";
    let probe = of_agent(test).header(SEC_WEBSOCKET_EXTENSIONS, offer);
    let answer = agreed(test, probe).await?;
    let extensions = answer.values(SEC_WEBSOCKET_EXTENSIONS).join(", ");
    if extensions.is_empty() {
        Client::of(test, answer).await?.initialize().await?;
        return Ok("it is declined".to_owned());
    }
    let mut parameters = extensions.split(';').map(str::trim);
    let known = [
        "server_no_context_takeover",
        "client_no_context_takeover",
        "server_max_window_bits",
        "client_max_window_bits",
    ];
    let is_known = |parameter: &str| {
        let name = parameter.split('=').next().unwrap_or_default();
        known.contains(&name.trim())
    };
    match parameters.next() {
        Some("permessage-deflate") if parameters.all(is_known) => Ok(extensions),
        _ => broken(format!("it agrees to {extensions:?}")),
    }
}

async fn version(test: &TestContext) -> Finding {
    none_opens(test, [of_agent(test).header(SEC_WEBSOCKET_VERSION, "8")]).await
}

async fn path(test: &TestContext) -> Finding {
    let mut seen = String::new();
    for path in ["/mcp", "/ide", "/sse"] {
        let refused = none_opens(test, [of_agent(test).target(path)]).await;
        seen = refused.map_err(|problem| problem.about(path))?;
    }
    Ok(seen)
}
