//! Which requests are let in: those with the token in the agent's own header, and the Host and Origin rules that keep
//! web pages out. All others are refused before there is a WebSocket.

use pillion_protocol::claude::AUTHORIZATION_HEADER;

use super::client::{Client, session};
use super::handshake::refused;
use super::upgrade::Upgrade;
use crate::access::{Spoilt, foreign_origins, hard_to_guess};
use crate::check::checks;
use crate::rule::{Finding, Problem, blocked, broken, unchecked};
use crate::test_context::TestContext;

checks! {
    Access:
    Must "K3-secret" => secret,
        "The token is long and varied enough to be a secret",
        "Any program on this machine could guess it, and answer proposals.";
    Must "K3-header" => header_case,
        "The token's header is known in any case",
        "Claude Code writes X-Claude-Code-Ide-Authorization, opencode the same in lower case.";
    Must "K3-none" => without,
        "A client without a token is refused",
        "Any program on this machine could read proposals, and answer them.";
    Must "K3-wrong" => spoilt(Spoilt::Wrong),
        "A client with a wrong token is refused",
        "Any program on this machine could read proposals, and answer them.";
    Must "K3-truncated" => spoilt(Spoilt::Truncated),
        "A client with a token cut short is refused",
        "The token could be guessed piece by piece.";
    Must "K3-extended" => spoilt(Spoilt::Extended),
        "A client with extra characters after the token is refused",
        "The token could be guessed piece by piece.";
    Must "K3-case" => spoilt(Spoilt::Case),
        "A client with the token in a different case is refused",
        "The token would be easier to guess than it looks.";
    Must "K3-elsewhere" => elsewhere,
        "The token counts in no other header and not in the query",
        "A token in an address ends up in logs and histories.";
    Should "K3-other" => other_agents,
        "The token of another agent's discovery file is refused",
        "Anyone who reads one agent's file could pose as any other agent.";
    Must "K3-origin" => origin,
        "A request from a web page (any foreign Origin, or `null`) is refused",
        "Browsers let every web page open a WebSocket to this machine.";
    Should "K3-host" => host_foreign,
        "A Host other than loopback is refused",
        "A web page whose host name is pointed at this machine would be let in.";
    Should "K3-localhost" => host_localhost,
        "The Host `localhost` is allowed",
        "Clients that dial by name are locked out.";
}

/// The token to present, in every wrong way.
fn token(test: &TestContext) -> Result<String, Problem> {
    match test.connection.target.token() {
        Some(token) => Ok(token.expose().to_owned()),
        None => blocked(&["K1-token", "K1-json"], "no lock file holds a token"),
    }
}

async fn secret(test: &TestContext) -> Finding {
    hard_to_guess(&token(test)?)
}

/// A client with these headers is let in.
async fn let_in(test: &TestContext, upgrade: &Upgrade) -> Result<(), Problem> {
    let answered = upgrade.send(test.connection.timeouts.answer).await?;
    let mut client = Client::of(test, answered).await?;
    client.initialize().await?;
    client.leave().await;
    Ok(())
}

async fn header_case(test: &TestContext) -> Finding {
    let token = token(test)?;
    session(test).await?.leave().await;
    let stranger = Upgrade::of_stranger(test);
    for name in ["X-Claude-Code-Ide-Authorization", AUTHORIZATION_HEADER] {
        let_in(test, &stranger.clone().header(name, &token)).await?;
    }
    Ok("both are known".to_owned())
}

/// Each of these is refused.
async fn all_refused(test: &TestContext, upgrades: impl IntoIterator<Item = Upgrade>) -> Finding {
    // A companion that refuses everything proves nothing.
    session(test).await?.leave().await;
    let mut seen: Vec<String> = Vec::new();
    for upgrade in upgrades {
        let new = refused(test, &upgrade).await?;
        if !seen.contains(&new) {
            seen.push(new);
        }
    }
    Ok(seen.join(", "))
}

async fn without(test: &TestContext) -> Finding {
    token(test)?;
    let stranger = Upgrade::of_stranger(test);
    let empty = stranger.clone().header(AUTHORIZATION_HEADER, "");
    all_refused(test, [stranger, empty]).await
}

async fn spoilt(test: &TestContext, spoilt: Spoilt) -> Finding {
    let stranger = Upgrade::of_stranger(test);
    let tokens = spoilt.of(&token(test)?)?;
    let upgrades = tokens
        .iter()
        .map(|token| stranger.clone().header(AUTHORIZATION_HEADER, token));
    all_refused(test, upgrades).await
}

async fn elsewhere(test: &TestContext) -> Finding {
    let token = token(test)?;
    let stranger = || Upgrade::of_stranger(test);
    let query = format!("/?token={token}&authToken={token}&access_token={token}");
    let upgrades = [
        stranger().header("Authorization", &format!("Bearer {token}")),
        stranger().header(AUTHORIZATION_HEADER, &format!("Bearer {token}")),
        stranger().target(query),
    ];
    all_refused(test, upgrades).await
}

async fn other_agents(test: &TestContext) -> Finding {
    let own = token(test)?;
    let tokens = test.connection.target.other_tokens();
    if tokens.is_empty() {
        return unchecked("this companion has discovery files for no other agent");
    }
    if tokens.iter().any(|token| token.expose() == own) {
        return broken("it is the same token");
    }
    let stranger = Upgrade::of_stranger(test);
    let with = |token: &str| stranger.clone().header(AUTHORIZATION_HEADER, token);
    all_refused(test, tokens.iter().map(|token| with(token.expose()))).await
}

async fn origin(test: &TestContext) -> Finding {
    let origins = foreign_origins(test.connection.target.port());
    let origins = origins.iter().map(String::as_str).chain(["null"]);
    let upgrades = origins.map(|it| Upgrade::of_agent(test).header("Origin", it));
    all_refused(test, upgrades).await
}

async fn host_foreign(test: &TestContext) -> Finding {
    let port = test.connection.target.port();
    let hosts = [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
    ];
    let with = |host: &str| Upgrade::of_agent(test).header("Host", &format!("{host}:{port}"));
    all_refused(test, hosts.map(with)).await
}

async fn host_localhost(test: &TestContext) -> Finding {
    session(test).await?.leave().await;
    let host = format!("localhost:{}", test.connection.target.port());
    let_in(test, &Upgrade::of_agent(test).header("Host", &host)).await?;
    Ok("it is".to_owned())
}
