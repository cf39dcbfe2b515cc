//! From the HTTP request to the WebSocket.

use pillion_protocol::claude::SUBPROTOCOL;

use super::client::{Client, session};
use super::upgrade::{Answered, Upgrade};
use crate::check::checks;
use crate::rule::{Finding, Problem, blocked, broken};
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

async fn answered(test: &TestContext, upgrade: &Upgrade) -> Result<Answered, Problem> {
    Ok(upgrade.send(test.connection.timeouts.answer).await?)
}

/// The answer to a request that differs in one thing from the agent's.
async fn agreed(test: &TestContext, upgrade: &Upgrade) -> Result<Answered, Problem> {
    session(test).await?.leave().await;
    let answered = answered(test, upgrade).await?;
    answered.agrees()?;
    Ok(answered)
}

async fn upgrade(test: &TestContext) -> Finding {
    let answered = answered(test, &Upgrade::of_agent(test)).await?;
    Client::of(test, answered).await?.leave().await;
    Ok("HTTP 101".to_owned())
}

async fn protocol(test: &TestContext) -> Finding {
    let answered = answered(test, &Upgrade::of_agent(test)).await?;
    if let Err(error) = answered.agrees() {
        return blocked(&["K2-upgrade"], error.why);
    }
    let named = match answered.values("Sec-WebSocket-Protocol")[..] {
        [SUBPROTOCOL] => Ok(SUBPROTOCOL.to_owned()),
        [] => broken("it names none"),
        ref others => broken(format!("it names {:?}", others.join(", "))),
    };
    Client::of(test, answered).await?.leave().await;
    named
}

async fn no_protocol(test: &TestContext) -> Finding {
    let upgrade = Upgrade::of_agent(test).without("Sec-WebSocket-Protocol");
    let answered = agreed(test, &upgrade).await?;
    if let [name, ..] = answered.values("Sec-WebSocket-Protocol")[..] {
        return broken(format!("it names {name:?}, which was not offered"));
    }
    let mut client = Client::of(test, answered).await?;
    client.initialize().await?;
    client.leave().await;
    Ok("it is served".to_owned())
}

async fn deflate(test: &TestContext) -> Finding {
    let offer = "permessage-deflate; client_max_window_bits";
    let upgrade = Upgrade::of_agent(test).header("Sec-WebSocket-Extensions", offer);
    let answered = agreed(test, &upgrade).await?;
    let extensions = answered.values("Sec-WebSocket-Extensions").join(", ");
    if extensions.is_empty() {
        let mut client = Client::of(test, answered).await?;
        client.initialize().await?;
        client.leave().await;
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
    session(test).await?.leave().await;
    let upgrade = Upgrade::of_agent(test).header("Sec-WebSocket-Version", "8");
    refused(test, &upgrade).await
}

async fn path(test: &TestContext) -> Finding {
    session(test).await?.leave().await;
    let mut seen = String::new();
    for path in ["/mcp", "/ide", "/sse"] {
        seen = refused(test, &Upgrade::of_agent(test).target(path))
            .await
            .map_err(|problem| match problem {
                Problem::Broken(why) => Problem::Broken(format!("{path}: {why}")),
                other => other,
            })?;
    }
    Ok(seen)
}

/// Whether a request is refused before it becomes a WebSocket.
pub(super) async fn refused(test: &TestContext, upgrade: &Upgrade) -> Finding {
    let limit = test.connection.timeouts.answer;
    match upgrade.send(limit).await {
        Ok(answered) if answered.status == 101 => broken("HTTP 101: the WebSocket is opened"),
        Ok(answered) if (200..300).contains(&answered.status) => {
            broken(format!("HTTP {}: it is served", answered.status))
        }
        Ok(answered) => {
            let status = answered.status;
            let token = test.connection.target.token();
            let quiet = test.connection.timeouts.quiet;
            if let Some(token) = token
                && answered.holds(token.expose(), quiet).await
            {
                return broken(format!("HTTP {status}, with the token in it"));
            }
            Ok(format!("HTTP {status}"))
        }
        Err(closed) if closed.is_hung_up => match Client::open(test).await {
            Ok(client) => {
                client.leave().await;
                Ok("the connection is closed".to_owned())
            }
            Err(error) => broken(format!(
                "the connection is closed, and no further client is served: {}",
                error.why
            )),
        },
        Err(error) => broken(error.why),
    }
}
