//! The requests that are let in: those with the token on every method (C3), and the Host and Origin rules that keep web
//! pages out.

use std::collections::BTreeSet;

use pillion_http::header::{ACCEPT, AUTHORIZATION, HOST, ORIGIN};
use pillion_http::{HeaderName, Method, StatusCode};
use pillion_protocol::dialect::Protocol;
use pillion_protocol::{MCP_PATH, Token};
use serde_json::json;

use self::Spoilt::{Case, Extended, Truncated, Wrong};
use crate::agent::Agent;
use crate::check::checks;
use crate::message::request;
use crate::probe::{NoAnswer, Probe};
use crate::rule::{Finding, Otherwise, Problem, blocked, broken, unchecked};
use crate::session::{Session, initialize};
use crate::test_context::TestContext;

checks! {
    Access:
    Must "C3.1-secret" => hard_to_guess,
        "The token is long and varied enough to be a secret";
    Must "C3.2-files" => every_token,
        "The token in every discovery file is accepted";
    Must "C3.3-post-none" => post(Bearer::Empty),
        "POST without a token is refused";
    Must "C3.3-post-wrong" => post(Bearer::Spoilt(Wrong)),
        "POST with a wrong token is refused";
    Must "C3.3-post-truncated" => post(Bearer::Spoilt(Truncated)),
        "POST with a token cut short is refused";
    Must "C3.3-post-case" => post(Bearer::Spoilt(Case)),
        "POST with the token in a different case is refused";
    Must "C3.3-post-extended" => post(Bearer::Spoilt(Extended)),
        "POST with extra characters after the token is refused";
    Must "C3.3-post-scheme" => post(Bearer::Bare),
        "POST with the token but without `Bearer` is refused";
    Must "C3.3-post-query" => post(Bearer::Query),
        "POST with the token only in the query is refused";
    Must "C3.3-post-session" => in_session(Method::POST, Bearer::None),
        "POST within a session, but without a token, is refused";
    Must "C3.3-get-none" => in_session(Method::GET, Bearer::Empty),
        "GET without a token is refused";
    Must "C3.3-get-wrong" => in_session(Method::GET, Bearer::Spoilt(Wrong)),
        "GET with a wrong token is refused";
    Must "C3.3-get-truncated" => in_session(Method::GET, Bearer::Spoilt(Truncated)),
        "GET with a token cut short is refused";
    Must "C3.3-get-case" => in_session(Method::GET, Bearer::Spoilt(Case)),
        "GET with the token in a different case is refused";
    Must "C3.3-get-extended" => in_session(Method::GET, Bearer::Spoilt(Extended)),
        "GET with extra characters after the token is refused";
    Must "C3.3-get-query" => in_session(Method::GET, Bearer::Query),
        "GET with the token only in the query is refused";
    Must "C3.3-delete-none" => in_session(Method::DELETE, Bearer::Empty),
        "DELETE without a token is refused";
    Must "C3.3-delete-wrong" => in_session(Method::DELETE, Bearer::Spoilt(Wrong)),
        "DELETE with a wrong token is refused";
    Must "C3.3-delete-truncated" => in_session(Method::DELETE, Bearer::Spoilt(Truncated)),
        "DELETE with a token cut short is refused";
    Must "C3.3-delete-case" => in_session(Method::DELETE, Bearer::Spoilt(Case)),
        "DELETE with the token in a different case is refused";
    Must "C3.3-delete-extended" => in_session(Method::DELETE, Bearer::Spoilt(Extended)),
        "DELETE with extra characters after the token is refused";
    Must "C3.3-delete-query" => in_session(Method::DELETE, Bearer::Query),
        "DELETE with the token only in the query is refused";
    Must "C1.1-origin-foreign" => none_with(ORIGIN, FOREIGN_ORIGINS),
        "A request from a web page (foreign Origin) is refused";
    Must "C1.1-origin-null" => none_with(ORIGIN, &["null"]),
        "A request from a page without an origin (Origin `null`) is refused";
    May "C1.1-origin-own" => lets_in(ORIGIN, "http://127.0.0.1:PORT"),
        "An Origin with the companion's own address is allowed";
    Should "C1.1-host-foreign" => none_with(HOST, FOREIGN_HOSTS),
        "A Host other than loopback is refused";
    Should "C1.1-host-localhost" => lets_in(HOST, "localhost:PORT"),
        "The Host `localhost` is allowed";
    Should "C1.1-host-docker" => lets_in(HOST, "host.docker.internal:PORT"),
        "The Host `host.docker.internal`, which agents in containers send, is allowed";
}

/// The way in which a request presents its token.
#[derive(Debug, Clone, Copy)]
pub(super) enum Bearer {
    None,
    /// Not at all, or nothing behind the scheme.
    Empty,
    Spoilt(Spoilt),
    Bare,
    Query,
}

/// A token that is nearly the right one.
#[derive(Debug, Clone, Copy)]
pub(super) enum Spoilt {
    Wrong,
    Truncated,
    Case,
    Extended,
}

impl Spoilt {
    /// The tokens to try.
    pub(super) fn of(self, token: &str) -> Result<Vec<String>, Problem> {
        let other = |char: char| if char == '0' { '1' } else { '0' };
        let wrong_at = |wrong: usize| {
            let chars = token.chars().enumerate();
            chars
                .map(|(at, char)| if at == wrong { other(char) } else { char })
                .collect()
        };
        let count = token.chars().count();
        let tail = token.chars().skip(1).collect();
        let head = token.chars().take(count.saturating_sub(1)).collect();
        Ok(match self {
            Self::Wrong => vec![
                token.chars().map(other).collect(),
                wrong_at(0),
                wrong_at(count / 2),
                wrong_at(count - 1),
            ],
            Self::Truncated => vec![head, tail],
            Self::Case => {
                let (lower, upper) = (token.to_ascii_lowercase(), token.to_ascii_uppercase());
                let others = [lower, upper].into_iter().filter(|it| it != token);
                let others: Vec<_> = others.collect();
                if others.is_empty() {
                    return unchecked("the token has no letters");
                }
                others
            }
            Self::Extended => vec![format!("{token}0"), format!("0{token}")],
        })
    }
}

impl Bearer {
    /// The requests that present it so.
    fn on(self, probe: Probe, scheme: &str, token: &str) -> Result<Vec<Probe>, Problem> {
        let with = |value: &str| probe.clone().header(AUTHORIZATION, value);
        Ok(match self {
            Self::None => vec![probe],
            Self::Empty => vec![with(scheme), probe],
            Self::Spoilt(spoilt) => {
                let tokens = spoilt.of(token)?.into_iter();
                tokens.map(|it| probe.clone().token(scheme, &it)).collect()
            }
            Self::Bare => vec![with(token), with(&format!("Basic {token}"))],
            Self::Query => vec![probe.target(in_query(MCP_PATH, token))],
        })
    }
}

/// A target with the token in its query.
pub(super) fn in_query(path: &str, token: &str) -> String {
    format!("{path}?token={token}&authToken={token}&access_token={token}")
}

/// Checks that a request is refused. The contract names no status for a refusal: a closed connection is one, too,
/// unless nobody is served any more: a companion that is gone for good refuses nothing.
async fn refused(
    test: &TestContext,
    probe: Probe,
    is_served: &mut impl AsyncFnMut() -> Result<(), NoAnswer>,
) -> Finding {
    let answer = match test.send(probe).await {
        Err(closed) if closed.is_hung_up => {
            let served = is_served().await;
            served.or_broken("the connection is closed, and no further request is served")?;
            return Ok("the connection is closed".to_owned());
        }
        answer => answer?,
    };
    test.opened_by(&answer);
    let shown = answer.shown();
    if !answer.status.is_success() && answer.status != StatusCode::SWITCHING_PROTOCOLS {
        let token = test.target.token();
        let token = token.as_ref().map_or("", Token::expose);
        if answer.holds(token, test.timeouts.quiet).await {
            return broken(format!("{shown}, with the token in it"));
        }
        return Ok(shown);
    }
    if test.target.protocol != Protocol::Claude
        && answer.media_type() == "application/json"
        && let Ok(reply) = answer.reply(&json!(0), test.timeouts.answer).await
        && reply["error"].is_object()
        && reply.get("result").is_none()
    {
        return Ok(format!("error {}", reply["error"]["code"]));
    }
    broken(format!("{shown}: it is served"))
}

/// The same of each of these; `is_served` asks whether others still are.
pub(super) async fn all_refused(
    test: &TestContext,
    probes: impl IntoIterator<Item = Probe>,
    mut is_served: impl AsyncFnMut() -> Result<(), NoAnswer>,
) -> Finding {
    let mut seen: Vec<String> = Vec::new();
    for probe in probes {
        let new = refused(test, probe, &mut is_served).await?;
        if !seen.contains(&new) {
            seen.push(new);
        }
    }
    Ok(seen.join(", "))
}

/// The token to present, in every wrong way.
pub(super) fn token(test: &TestContext) -> Result<String, Problem> {
    match test.target.token() {
        Some(token) => Ok(token.expose().to_owned()),
        None => blocked(test.rows().token, "no discovery file holds a token"),
    }
}

/// The tokens of other agents, none of which is this agent's.
pub(super) fn others_tokens(test: &TestContext) -> Result<Vec<Token>, Problem> {
    let own = token(test)?;
    let tokens = test.target.other_tokens();
    if tokens.is_empty() {
        return unchecked("this companion has discovery files for no other agent");
    }
    if tokens.iter().any(|token| token.expose() == own) {
        return broken("it is the same token");
    }
    Ok(tokens)
}

/// Checks that the token is a secret.
pub(super) async fn hard_to_guess(test: &TestContext) -> Finding {
    let token = token(test)?;
    let length = token.chars().count();
    let letters = token.chars().collect::<BTreeSet<_>>().len();
    if length < 16 {
        broken(format!("it has {length} characters: too easy to guess"))
    } else if letters < 6 {
        broken(format!("it consists of {letters} different characters"))
    } else {
        Ok(format!("{length} characters"))
    }
}

/// Each of these handshakes is refused.
pub(super) async fn none_opens(
    test: &TestContext,
    probes: impl IntoIterator<Item = Probe>,
) -> Finding {
    let is_served = async || Session::open(test).await.map(drop);
    all_refused(test, probes.into_iter().map(initialize), is_served).await
}

async fn every_token(test: &TestContext) -> Finding {
    let mut accepted = 0;
    for file in test.target.discovery_files() {
        let Some(token) = file.token() else { continue };
        let probe = test
            .stranger(Method::POST)
            .token(test.target.scheme(), token.expose());
        let answer = test.send(initialize(probe)).await?;
        if !answer.status.is_success() {
            let (path, shown) = (file.path.display(), answer.shown());
            return broken(format!("{path}: its token gets {shown}"));
        }
        test.opened_by(&answer);
        test.close_sessions().await;
        accepted += 1;
    }
    token(test)?;
    Ok(format!("{accepted} files"))
}

pub(super) async fn post(test: &TestContext, bearer: Bearer) -> Finding {
    let probes = bearer.on(
        test.stranger(Method::POST),
        test.target.scheme(),
        &token(test)?,
    )?;
    none_opens(test, probes).await
}

pub(super) async fn in_session(test: &TestContext, method: Method, bearer: Bearer) -> Finding {
    let token = token(test)?;
    let mut session = test.deaf_session().await?;
    let probe = session.dress(test.stranger(method.clone()));
    let probe = match method {
        Method::POST => probe.body(request(0, "tools/list", json!({}))),
        _ => probe.header(ACCEPT, "text/event-stream"),
    };
    let probes = bearer.on(probe, test.target.scheme(), &token)?;
    let seen = all_refused(test, probes, async || session.is_served().await).await?;
    let served = session.is_served().await;
    served.or_broken("the session is gone afterwards")?;
    Ok(seen)
}

/// Origins of web pages elsewhere. The last two begin like allowed ones.
pub(super) const FOREIGN_ORIGINS: &[&str] = &[
    "https://evil.example",
    "http://evil.example:PORT",
    "http://127.0.0.1.evil.example:PORT",
    "http://localhost.evil.example",
];

/// Hosts that no program on this machine means. The last two begin like allowed ones.
pub(super) const FOREIGN_HOSTS: &[&str] = &[
    "evil.example:PORT",
    "127.0.0.1.evil.example:PORT",
    "localhost.evil.example:PORT",
];

pub(super) async fn none_with(test: &TestContext, name: HeaderName, values: &[&str]) -> Finding {
    let probes = test.probe(Method::POST).with_each(&name, values);
    none_opens(test, probes).await
}

async fn lets_in(test: &TestContext, name: HeaderName, value: &str) -> Finding {
    let probe = test.probe(Method::POST).with_port(name, value);
    // Whether it would let anybody in is another rule's matter.
    test.has_sessions().await?;
    let answer = test.send(initialize(probe)).await?;
    test.opened_by(&answer);
    let shown = answer.shown();
    answer.reply(&json!(0), test.timeouts.answer).await?;
    Ok(shown)
}
