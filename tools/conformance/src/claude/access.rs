//! The requests that are let in: those with the token in the agent's own header, and the Host and Origin rules that keep
//! web pages out. All others are refused before there is a WebSocket.

use pillion_http::HeaderName;
use pillion_http::header::{AUTHORIZATION, HOST, ORIGIN};
use pillion_protocol::Token;
use pillion_protocol::claude::WEBSOCKET_PATH;

use super::client::Client;
use super::upgrade::{TOKEN, of_agent, of_stranger};
use crate::access::{
    FOREIGN_HOSTS, FOREIGN_ORIGINS, Spoilt, all_refused, hard_to_guess, in_query, others_tokens,
    token,
};
use crate::check::checks;
use crate::probe::Probe;
use crate::rule::Finding;
use crate::test_context::TestContext;

checks! {
    Access:
    Must "K3-secret" => hard_to_guess,
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
    Must "K3-origin" => none_with(ORIGIN, &[FOREIGN_ORIGINS, &["null"]].concat()),
        "A request from a web page (any foreign Origin, or `null`) is refused",
        "Browsers let every web page open a WebSocket to this machine.";
    Should "K3-host" => none_with(HOST, FOREIGN_HOSTS),
        "A Host other than loopback is refused",
        "A web page whose host name is pointed at this machine would be let in.";
    Should "K3-localhost" => host_localhost,
        "The Host `localhost` is allowed",
        "Clients that dial by name are locked out.";
}

async fn header_case(test: &TestContext) -> Finding {
    let stranger = of_stranger(test).header(TOKEN, &token(test)?);
    test.has_clients().await?;
    for probe in [stranger.clone().title_case(), stranger] {
        Client::open_by(test, probe).await?.leave().await;
    }
    Ok("both are known".to_owned())
}

/// None of these becomes a WebSocket.
pub(super) async fn none_opens(
    test: &TestContext,
    probes: impl IntoIterator<Item = Probe>,
) -> Finding {
    test.has_clients().await?;
    let is_served = async || {
        Client::open(test).await?.leave().await;
        Ok(())
    };
    all_refused(test, probes, is_served).await
}

async fn without(test: &TestContext) -> Finding {
    token(test)?;
    let stranger = of_stranger(test);
    let empty = stranger.clone().header(TOKEN, "");
    none_opens(test, [stranger, empty]).await
}

async fn spoilt(test: &TestContext, spoilt: Spoilt) -> Finding {
    let tokens = spoilt.of(&token(test)?)?;
    let with = |token: &String| of_stranger(test).header(TOKEN, token);
    none_opens(test, tokens.iter().map(with)).await
}

async fn elsewhere(test: &TestContext) -> Finding {
    let token = token(test)?;
    let bearer = format!("Bearer {token}");
    let stranger = || of_stranger(test);
    let probes = [
        stranger().header(AUTHORIZATION, &bearer),
        stranger().header(TOKEN, &bearer),
        stranger().target(in_query(WEBSOCKET_PATH, &token)),
    ];
    none_opens(test, probes).await
}

async fn other_agents(test: &TestContext) -> Finding {
    let tokens = others_tokens(test)?;
    let with = |token: &Token| of_stranger(test).header(TOKEN, token.expose());
    none_opens(test, tokens.iter().map(with)).await
}

async fn none_with(test: &TestContext, name: HeaderName, values: &[&str]) -> Finding {
    none_opens(test, of_agent(test).with_each(&name, values)).await
}

async fn host_localhost(test: &TestContext) -> Finding {
    test.has_clients().await?;
    let probe = of_agent(test).with_port(HOST, "localhost:PORT");
    Client::open_by(test, probe).await?.leave().await;
    Ok("it is".to_owned())
}
