//! Who is let in: the token on every method (C3), and the Host and Origin rules that keep web
//! pages out.

use ::http::{Method, StatusCode};
use serde_json::json;

use super::bench::Bench;
use super::check::{Check, check};
use super::message::{NEWEST_VERSION, initialize_params, request};
use super::probe::{NoAnswer, Probe};
use super::rule::Group::Access;
use super::rule::Level::{May, Must, Should};
use super::rule::{Finding, Problem, broken, unchecked};

pub(super) const CHECKS: &[Check] = &[
    check(
        Access,
        Must,
        "C3.1-secret",
        "The token is long and varied enough to be a secret",
        |b| Box::pin(async { secret(b) }),
    ),
    check(
        Access,
        Must,
        "C3.2-files",
        "The token of every discovery file is accepted",
        |b| Box::pin(every_token(b)),
    ),
    check(
        Access,
        Must,
        "C3.3-post-none",
        "POST without a token is refused",
        |b| Box::pin(post(b, Bearer::None)),
    ),
    check(
        Access,
        Must,
        "C3.3-post-wrong",
        "POST with a wrong token is refused",
        |b| Box::pin(post(b, Bearer::Wrong)),
    ),
    check(
        Access,
        Must,
        "C3.3-post-truncated",
        "POST with a token cut short is refused",
        |b| Box::pin(post(b, Bearer::Truncated)),
    ),
    check(
        Access,
        Must,
        "C3.3-post-extended",
        "POST with the token and more behind it is refused",
        |b| Box::pin(post(b, Bearer::Extended)),
    ),
    check(
        Access,
        Must,
        "C3.3-post-scheme",
        "POST with the token but without `Bearer` is refused",
        |b| Box::pin(post(b, Bearer::Bare)),
    ),
    check(
        Access,
        Must,
        "C3.3-post-query",
        "POST with the token in the query only is refused",
        |b| Box::pin(post(b, Bearer::Query)),
    ),
    check(
        Access,
        Must,
        "C3.3-post-session",
        "POST within a session, but without a token, is refused",
        |b| Box::pin(post_in_session(b)),
    ),
    check(
        Access,
        Must,
        "C3.3-get-none",
        "GET without a token is refused",
        |b| Box::pin(get(b, Bearer::None)),
    ),
    check(
        Access,
        Must,
        "C3.3-get-wrong",
        "GET with a wrong token is refused",
        |b| Box::pin(get(b, Bearer::Wrong)),
    ),
    check(
        Access,
        Must,
        "C3.3-get-truncated",
        "GET with a token cut short is refused",
        |b| Box::pin(get(b, Bearer::Truncated)),
    ),
    check(
        Access,
        Must,
        "C3.3-get-extended",
        "GET with the token and more behind it is refused",
        |b| Box::pin(get(b, Bearer::Extended)),
    ),
    check(
        Access,
        Must,
        "C3.3-get-query",
        "GET with the token in the query only is refused",
        |b| Box::pin(get(b, Bearer::Query)),
    ),
    check(
        Access,
        Must,
        "C3.3-delete-none",
        "DELETE without a token is refused",
        |b| Box::pin(delete(b, Bearer::None)),
    ),
    check(
        Access,
        Must,
        "C3.3-delete-wrong",
        "DELETE with a wrong token is refused",
        |b| Box::pin(delete(b, Bearer::Wrong)),
    ),
    check(
        Access,
        Must,
        "C3.3-delete-truncated",
        "DELETE with a token cut short is refused",
        |b| Box::pin(delete(b, Bearer::Truncated)),
    ),
    check(
        Access,
        Must,
        "C3.3-delete-extended",
        "DELETE with the token and more behind it is refused",
        |b| Box::pin(delete(b, Bearer::Extended)),
    ),
    check(
        Access,
        Must,
        "C3.3-delete-query",
        "DELETE with the token in the query only is refused",
        |b| Box::pin(delete(b, Bearer::Query)),
    ),
    check(
        Access,
        Must,
        "C1.1-origin-foreign",
        "A request of a web page (foreign Origin) is refused",
        |b| Box::pin(origin_foreign(b)),
    ),
    check(
        Access,
        May,
        "C1.1-origin-own",
        "An Origin of the companion's own address is allowed",
        |b| Box::pin(origin_own(b)),
    ),
    check(
        Access,
        Should,
        "C1.1-host-foreign",
        "A Host that is not loopback's is refused",
        |b| Box::pin(host_foreign(b)),
    ),
    check(
        Access,
        Should,
        "C1.1-host-localhost",
        "The Host `localhost` is allowed",
        |b| Box::pin(host(b, "localhost")),
    ),
    check(
        Access,
        Should,
        "C1.1-host-docker",
        "The Host `host.docker.internal`, which agents in containers send, is allowed",
        |b| Box::pin(host(b, "host.docker.internal")),
    ),
];

/// How a request presents its token.
#[derive(Debug, Clone, Copy)]
enum Bearer {
    None,
    Wrong,
    Truncated,
    Extended,
    Bare,
    Query,
}

impl Bearer {
    fn on(self, probe: Probe, token: &str) -> Probe {
        match self {
            Self::None => probe,
            Self::Wrong => {
                let other = |char| if char == '0' { '1' } else { '0' };
                let wrong: String = token.chars().map(other).collect();
                probe.bearer(&wrong)
            }
            Self::Truncated => {
                let mut chars = token.chars();
                chars.next_back();
                probe.bearer(chars.as_str())
            }
            Self::Extended => probe.bearer(&format!("{token}0")),
            Self::Bare => probe.authorization(token),
            Self::Query => probe.target(format!(
                "/mcp?token={token}&authToken={token}&access_token={token}"
            )),
        }
    }
}

fn is_refusal(status: StatusCode) -> bool {
    status == StatusCode::UNAUTHORIZED || status == StatusCode::FORBIDDEN
}

fn refused(status: StatusCode) -> Finding {
    if is_refusal(status) {
        Ok(format!("HTTP {}", status.as_u16()))
    } else {
        broken(format!("HTTP {}, not 401 or 403", status.as_u16()))
    }
}

/// The token to present, in every wrong way.
fn token(bench: &Bench) -> Result<String, Problem> {
    match bench.line.target.token() {
        Some(token) => Ok(token.expose().to_owned()),
        None => unchecked("no discovery file holds a token"),
    }
}

fn initialize() -> String {
    request(0, "initialize", initialize_params(NEWEST_VERSION))
}

fn secret(bench: &Bench) -> Finding {
    let token = token(bench)?;
    let length = token.chars().count();
    let mut letters: Vec<_> = token.chars().collect();
    letters.sort_unstable();
    letters.dedup();
    if length < 16 {
        broken(format!("it has {length} characters: too easily guessed"))
    } else if letters.len() < 6 {
        broken(format!(
            "it is made of {} different characters",
            letters.len()
        ))
    } else {
        Ok(format!("{length} characters"))
    }
}

async fn every_token(bench: &Bench) -> Finding {
    let mut accepted = 0;
    for file in bench.line.target.discovery_files() {
        let Some(token) = file.token() else { continue };
        let probe = bench.line.stranger(Method::POST).bearer(token.expose());
        let answer = bench.sent(probe.body(initialize())).await?;
        if !answer.status.is_success() {
            let status = answer.status.as_u16();
            return broken(format!(
                "{}: its token gets HTTP {status}",
                file.path.display()
            ));
        }
        bench.line.opened_by(&answer);
        bench.line.clean_up().await;
        accepted += 1;
    }
    match accepted {
        0 => unchecked("no discovery file holds a token"),
        count => Ok(format!("{count} files")),
    }
}

async fn post(bench: &Bench, bearer: Bearer) -> Finding {
    let token = token(bench)?;
    let probe = bearer.on(bench.line.stranger(Method::POST), &token);
    let answer = bench.sent(probe.body(initialize())).await?;
    bench.line.opened_by(&answer);
    refused(answer.status)
}

async fn post_in_session(bench: &Bench) -> Finding {
    token(bench)?;
    let session = bench.deaf_session().await?;
    let probe = session.dress(bench.line.stranger(Method::POST));
    let body = request(9, "tools/list", json!({}));
    refused(bench.sent(probe.body(body)).await?.status)
}

async fn get(bench: &Bench, bearer: Bearer) -> Finding {
    let token = token(bench)?;
    let session = bench.deaf_session().await?;
    let probe = session.dress(bench.line.stranger(Method::GET));
    let probe = bearer.on(probe.accept("text/event-stream"), &token);
    refused(bench.sent(probe).await?.status)
}

async fn delete(bench: &Bench, bearer: Bearer) -> Finding {
    let token = token(bench)?;
    let session = bench.deaf_session().await?;
    let probe = session.dress(bench.line.stranger(Method::DELETE));
    let status = bench.sent(bearer.on(probe, &token)).await?.status;
    let without_delete = [StatusCode::NOT_FOUND, StatusCode::METHOD_NOT_ALLOWED];
    if status.is_success() {
        return broken(format!("HTTP {}", status.as_u16()));
    }
    if let Err(NoAnswer(why)) = session.ping().await {
        return broken(format!("the session is gone afterwards: {why}"));
    }
    if without_delete.contains(&status) {
        return Ok(format!("HTTP {}: no DELETE at all", status.as_u16()));
    }
    refused(status)
}

async fn origin_foreign(bench: &Bench) -> Finding {
    let probe = bench
        .line
        .probe(Method::POST)
        .origin("https://evil.example");
    let answer = bench.sent(probe.body(initialize())).await?;
    bench.line.opened_by(&answer);
    keeps_out(answer.status)
}

async fn origin_own(bench: &Bench) -> Finding {
    let origin = format!("http://127.0.0.1:{}", bench.line.target.port());
    let probe = bench.line.probe(Method::POST).origin(&origin);
    lets_in(bench, probe).await
}

async fn host_foreign(bench: &Bench) -> Finding {
    let host = format!("evil.example:{}", bench.line.target.port());
    let probe = bench.line.probe(Method::POST).host(&host);
    let answer = bench.sent(probe.body(initialize())).await?;
    bench.line.opened_by(&answer);
    keeps_out(answer.status)
}

async fn host(bench: &Bench, name: &str) -> Finding {
    let host = format!("{name}:{}", bench.line.target.port());
    lets_in(bench, bench.line.probe(Method::POST).host(&host)).await
}

fn keeps_out(status: StatusCode) -> Finding {
    if status.is_success() {
        broken(format!("HTTP {}: it is served", status.as_u16()))
    } else {
        Ok(format!("HTTP {}", status.as_u16()))
    }
}

async fn lets_in(bench: &Bench, probe: Probe) -> Finding {
    // Whether it would let anybody in is another rule's matter.
    bench.has_sessions().await?;
    let answer = bench.sent(probe.body(initialize())).await?;
    let status = answer.status;
    bench.line.opened_by(&answer);
    if status.is_success() {
        let reply = answer.reply(&json!(0), bench.line.patience.answer).await;
        return match reply {
            Ok(_) => Ok(format!("HTTP {}", status.as_u16())),
            Err(NoAnswer(why)) => broken(why),
        };
    }
    broken(format!("HTTP {}", status.as_u16()))
}
