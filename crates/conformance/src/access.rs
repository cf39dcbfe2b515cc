//! Which requests are let in: those with the token on every method (C3), and the Host and Origin rules that keep web
//! pages out.

use pillion_http::Method;
use pillion_protocol::Token;
use serde_json::json;

use crate::check::checks;
use crate::message::{NEWEST_VERSION, initialize_params, request};
use crate::probe::{NoAnswer, Probe};
use crate::rule::{Finding, Problem, blocked, broken, unchecked};
use crate::session::Session;
use crate::test_context::TestContext;

checks! {
    Access:
    Must "C3.1-secret" => secret,
        "The token is long and varied enough to be a secret";
    Must "C3.2-files" => every_token,
        "The token in every discovery file is accepted";
    Must "C3.3-post-none" => post(Bearer::None),
        "POST without a token is refused";
    Must "C3.3-post-wrong" => post(Bearer::Wrong),
        "POST with a wrong token is refused";
    Must "C3.3-post-truncated" => post(Bearer::Truncated),
        "POST with a token cut short is refused";
    Must "C3.3-post-case" => post(Bearer::Case),
        "POST with the token in a different case is refused";
    Must "C3.3-post-extended" => post(Bearer::Extended),
        "POST with extra characters after the token is refused";
    Must "C3.3-post-scheme" => post(Bearer::Bare),
        "POST with the token but without `Bearer` is refused";
    Must "C3.3-post-query" => post(Bearer::Query),
        "POST with the token only in the query is refused";
    Must "C3.3-post-session" => post_in_session,
        "POST within a session, but without a token, is refused";
    Must "C3.3-get-none" => get(Bearer::None),
        "GET without a token is refused";
    Must "C3.3-get-wrong" => get(Bearer::Wrong),
        "GET with a wrong token is refused";
    Must "C3.3-get-truncated" => get(Bearer::Truncated),
        "GET with a token cut short is refused";
    Must "C3.3-get-case" => get(Bearer::Case),
        "GET with the token in a different case is refused";
    Must "C3.3-get-extended" => get(Bearer::Extended),
        "GET with extra characters after the token is refused";
    Must "C3.3-get-query" => get(Bearer::Query),
        "GET with the token only in the query is refused";
    Must "C3.3-delete-none" => delete(Bearer::None),
        "DELETE without a token is refused";
    Must "C3.3-delete-wrong" => delete(Bearer::Wrong),
        "DELETE with a wrong token is refused";
    Must "C3.3-delete-truncated" => delete(Bearer::Truncated),
        "DELETE with a token cut short is refused";
    Must "C3.3-delete-case" => delete(Bearer::Case),
        "DELETE with the token in a different case is refused";
    Must "C3.3-delete-extended" => delete(Bearer::Extended),
        "DELETE with extra characters after the token is refused";
    Must "C3.3-delete-query" => delete(Bearer::Query),
        "DELETE with the token only in the query is refused";
    Must "C1.1-origin-foreign" => origin_foreign,
        "A request from a web page (foreign Origin) is refused";
    Must "C1.1-origin-null" => origin_null,
        "A request from a page without an origin (Origin `null`) is refused";
    May "C1.1-origin-own" => origin_own,
        "An Origin with the companion's own address is allowed";
    Should "C1.1-host-foreign" => host_foreign,
        "A Host other than loopback is refused";
    Should "C1.1-host-localhost" => host("localhost"),
        "The Host `localhost` is allowed";
    Should "C1.1-host-docker" => host("host.docker.internal"),
        "The Host `host.docker.internal`, which agents in containers send, is allowed";
}

/// How a request presents its token.
#[derive(Debug, Clone, Copy)]
enum Bearer {
    None,
    Wrong,
    Truncated,
    Case,
    Extended,
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
    /// The values of `Authorization` to try, none for a request without.
    fn values(self, token: &str) -> Result<Vec<Option<String>>, Problem> {
        let bearers = |spoilt: Spoilt| -> Result<Vec<_>, Problem> {
            let bearer = |token: String| Some(format!("Bearer {token}"));
            Ok(spoilt.of(token)?.into_iter().map(bearer).collect())
        };
        Ok(match self {
            Self::None => vec![None, Some("Bearer".to_owned())],
            Self::Wrong => bearers(Spoilt::Wrong)?,
            Self::Truncated => bearers(Spoilt::Truncated)?,
            Self::Case => bearers(Spoilt::Case)?,
            Self::Extended => bearers(Spoilt::Extended)?,
            Self::Bare => vec![Some(token.to_owned()), Some(format!("Basic {token}"))],
            Self::Query => vec![None],
        })
    }

    /// The requests that present it so.
    fn on(self, probe: &Probe, token: &str) -> Result<Vec<Probe>, Problem> {
        let probe = match self {
            Self::Query => probe.clone().target(format!(
                "/mcp?token={token}&authToken={token}&access_token={token}"
            )),
            _ => probe.clone(),
        };
        let on = |value: Option<String>| match value {
            Some(value) => probe.clone().authorization(&value),
            None => probe.clone(),
        };
        Ok(self.values(token)?.into_iter().map(on).collect())
    }
}

/// What a refusal looks like. The contract names no status for it: a closed connection is one, too.
async fn refused(test: &TestContext, within: Option<&Session<'_>>, probe: Probe) -> Finding {
    let limit = test.connection.timeouts.answer;
    let answer = match test.connection.send(probe, limit).await {
        Ok(answer) => answer,
        Err(closed) if closed.is_hung_up => {
            is_served(test, within).await?;
            return Ok("the connection is closed".to_owned());
        }
        Err(NoAnswer { why, .. }) => return broken(why),
    };
    test.connection.opened_by(&answer);
    let status = answer.status.as_u16();
    if !answer.status.is_success() {
        let token = test.connection.target.token();
        let token = token.as_ref().map_or("", Token::expose);
        if answer.holds(token, test.connection.timeouts.quiet).await {
            return broken(format!("HTTP {status}, with the token in it"));
        }
        return Ok(format!("HTTP {status}"));
    }
    if answer.media_type() == "application/json"
        && let Ok(reply) = answer.reply(&json!(0), limit).await
        && reply["error"].is_object()
        && reply.get("result").is_none()
    {
        return Ok(format!("error {}", reply["error"]["code"]));
    }
    broken(format!("HTTP {status}: it is served"))
}

/// A companion that closes every connection, or is gone for good, refuses nothing.
async fn is_served(test: &TestContext, within: Option<&Session<'_>>) -> Result<(), Problem> {
    let served = match within {
        Some(session) => session.is_served().await,
        None => Session::open(&test.connection).await.map(|_| ()),
    };
    served.or_else(|NoAnswer { why, .. }| {
        broken(format!(
            "the connection is closed, and no further request is served: {why}"
        ))
    })
}

/// The same of each of these.
async fn all_refused(
    test: &TestContext,
    within: Option<&Session<'_>>,
    probes: impl IntoIterator<Item = Probe>,
) -> Finding {
    let mut seen: Vec<String> = Vec::new();
    for probe in probes {
        let new = refused(test, within, probe).await?;
        if !seen.contains(&new) {
            seen.push(new);
        }
    }
    Ok(seen.join(", "))
}

/// The token to present, in every wrong way.
fn token(test: &TestContext) -> Result<String, Problem> {
    match test.connection.target.token() {
        Some(token) => Ok(token.expose().to_owned()),
        None => blocked(&["C2.4-authToken"], "no discovery file holds a token"),
    }
}

fn initialize() -> String {
    request(0, "initialize", initialize_params(NEWEST_VERSION))
}

async fn secret(test: &TestContext) -> Finding {
    hard_to_guess(&token(test)?)
}

/// Whether a token is a secret.
pub(super) fn hard_to_guess(token: &str) -> Finding {
    let length = token.chars().count();
    let mut letters: Vec<_> = token.chars().collect();
    letters.sort_unstable();
    letters.dedup();
    if length < 16 {
        broken(format!("it has {length} characters: too easy to guess"))
    } else if letters.len() < 6 {
        broken(format!(
            "it consists of {} different characters",
            letters.len()
        ))
    } else {
        Ok(format!("{length} characters"))
    }
}

async fn every_token(test: &TestContext) -> Finding {
    let mut accepted = 0;
    for file in test.connection.target.discovery_files() {
        let Some(token) = file.token() else { continue };
        let probe = test
            .connection
            .stranger(Method::POST)
            .bearer(token.expose());
        let answer = test.sent(probe.body(initialize())).await?;
        if !answer.status.is_success() {
            let status = answer.status.as_u16();
            return broken(format!(
                "{}: its token gets HTTP {status}",
                file.path.display()
            ));
        }
        test.connection.opened_by(&answer);
        test.connection.clean_up().await;
        accepted += 1;
    }
    match accepted {
        0 => blocked(&["C2.4-authToken"], "no discovery file holds a token"),
        count => Ok(format!("{count} files")),
    }
}

async fn post(test: &TestContext, bearer: Bearer) -> Finding {
    let token = token(test)?;
    let probe = test.connection.stranger(Method::POST).body(initialize());
    all_refused(test, None, bearer.on(&probe, &token)?).await
}

async fn post_in_session(test: &TestContext) -> Finding {
    token(test)?;
    let session = test.deaf_session().await?;
    let probe = session.dress(test.connection.stranger(Method::POST));
    refused(
        test,
        Some(&session),
        probe.body(request(0, "tools/list", json!({}))),
    )
    .await
}

async fn get(test: &TestContext, bearer: Bearer) -> Finding {
    let token = token(test)?;
    let session = test.deaf_session().await?;
    let probe = session.dress(test.connection.stranger(Method::GET));
    let probe = probe.accept("text/event-stream");
    all_refused(test, Some(&session), bearer.on(&probe, &token)?).await
}

async fn delete(test: &TestContext, bearer: Bearer) -> Finding {
    let token = token(test)?;
    let session = test.deaf_session().await?;
    let probe = session.dress(test.connection.stranger(Method::DELETE));
    let seen = all_refused(test, Some(&session), bearer.on(&probe, &token)?).await?;
    if let Err(NoAnswer { why, .. }) = session.is_served().await {
        return broken(format!("the session is gone afterwards: {why}"));
    }
    Ok(seen)
}

/// Origins of web pages elsewhere. The last two begin like allowed ones.
pub(crate) fn foreign_origins(port: u16) -> [String; 4] {
    [
        "https://evil.example".to_owned(),
        format!("http://evil.example:{port}"),
        format!("http://127.0.0.1.evil.example:{port}"),
        "http://localhost.evil.example".to_owned(),
    ]
}

async fn origin_foreign(test: &TestContext) -> Finding {
    let origins = foreign_origins(test.connection.target.port());
    let probe = || test.connection.probe(Method::POST).body(initialize());
    let probes = origins.iter().map(|origin| probe().origin(origin));
    all_refused(test, None, probes).await
}

async fn origin_null(test: &TestContext) -> Finding {
    let probe = test.connection.probe(Method::POST).origin("null");
    refused(test, None, probe.body(initialize())).await
}

async fn origin_own(test: &TestContext) -> Finding {
    let origin = format!("http://127.0.0.1:{}", test.connection.target.port());
    let probe = test.connection.probe(Method::POST).origin(&origin);
    lets_in(test, probe).await
}

async fn host_foreign(test: &TestContext) -> Finding {
    let port = test.connection.target.port();
    let probe = || test.connection.probe(Method::POST).body(initialize());
    let hosts = [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
    ];
    let probes = hosts.map(|host| probe().host(&format!("{host}:{port}")));
    all_refused(test, None, probes).await
}

async fn host(test: &TestContext, name: &str) -> Finding {
    let host = format!("{name}:{}", test.connection.target.port());
    lets_in(test, test.connection.probe(Method::POST).host(&host)).await
}

async fn lets_in(test: &TestContext, probe: Probe) -> Finding {
    // Whether it would let anybody in is another rule's matter.
    test.has_sessions().await?;
    let answer = test.sent(probe.body(initialize())).await?;
    let status = answer.status;
    test.connection.opened_by(&answer);
    if status.is_success() {
        let reply = answer
            .reply(&json!(0), test.connection.timeouts.answer)
            .await;
        return match reply {
            Ok(_) => Ok(format!("HTTP {}", status.as_u16())),
            Err(NoAnswer { why, .. }) => broken(why),
        };
    }
    broken(format!("HTTP {}", status.as_u16()))
}
