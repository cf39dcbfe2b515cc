//! The requests that are let in: those with the token on every method, from programs and not from web pages.

use pillion_http::Method;
use pillion_http::header::{HOST, ORIGIN};
use pillion_protocol::Token;

use crate::access::Spoilt::{Case, Extended, Truncated, Wrong};
use crate::access::{
    Bearer, FOREIGN_HOSTS, FOREIGN_ORIGINS, hard_to_guess, in_session, none_opens, none_with,
    others_tokens, post,
};
use crate::check::checks;
use crate::rule::Finding;
use crate::test_context::TestContext;

checks! {
    Access:
    Must "P3-secret" => hard_to_guess,
        "The token is long and varied enough to be a secret",
        "A program that can connect to the socket could guess it.";
    Must "P3-none" => post(Bearer::Empty),
        "POST without a token is refused",
        "A program that cannot read the lock file could read proposals, and answer them.";
    Must "P3-wrong" => post(Bearer::Spoilt(Wrong)),
        "POST with a wrong token is refused",
        "A program that cannot read the lock file could read proposals, and answer them.";
    Must "P3-truncated" => post(Bearer::Spoilt(Truncated)),
        "POST with a token cut short is refused",
        "The token could be guessed piece by piece.";
    Must "P3-extended" => post(Bearer::Spoilt(Extended)),
        "POST with extra characters after the token is refused",
        "The token could be guessed piece by piece.";
    Must "P3-case" => post(Bearer::Spoilt(Case)),
        "POST with the token in a different case is refused",
        "The token would be easier to guess than it looks.";
    Must "P3-scheme" => post(Bearer::Bare),
        "POST with the token but without the scheme of the lock file is refused",
        "The companion reads a header that the agent does not send.";
    Must "P3-query" => post(Bearer::Query),
        "POST with the token only in the query is refused",
        "A token in an address ends up in logs and histories.";
    Must "P3-session" => in_session(Method::POST, Bearer::None),
        "POST within a session, but without a token, is refused",
        "Whoever learns the id of a session could pose as the agent.";
    Must "P3-get" => in_session(Method::GET, Bearer::Empty),
        "GET without a token is refused",
        "A program that cannot read the lock file could read what is selected.";
    Must "P3-delete" => in_session(Method::DELETE, Bearer::Empty),
        "DELETE without a token is refused",
        "A program that cannot read the lock file could end the agent's session.";
    Should "P3-other" => other_agents,
        "The token of another agent's discovery file is refused",
        "Anyone who reads one agent's file could pose as any other agent.";
    Must "P3-origin" => none_with(ORIGIN, &[FOREIGN_ORIGINS, &["null"]].concat()),
        "A request from a web page (any foreign Origin, or `null`) is refused",
        "A proxy that leads to the socket would let web pages in.";
    Should "P3-host" => none_with(HOST, FOREIGN_HOSTS),
        "A Host other than `localhost` is refused",
        "A proxy that leads to the socket would let web pages in.";
}

async fn other_agents(test: &TestContext) -> Finding {
    let tokens = others_tokens(test)?;
    let with = |token: &Token| {
        let stranger = test.stranger(Method::POST);
        stranger.token(test.target.scheme(), token.expose())
    };
    none_opens(test, tokens.iter().map(with)).await
}
