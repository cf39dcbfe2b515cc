//! Who may come in (C3.3): the Host and Origin rules, and the tokens.

use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use pillion_protocol::Dialect;

use super::Tokens;
use super::refusal::Refusal;

/// The names under which loopback is dialled. An agent in a container dials the last one.
const HOSTS: [&str; 4] = ["127.0.0.1", "localhost", "[::1]", "host.docker.internal"];

/// The origins of pages that loopback itself serves.
const ORIGINS: [&str; 2] = ["http://127.0.0.1", "http://localhost"];

#[derive(Debug)]
pub(super) struct Guard {
    hosts: Vec<String>,
    origins: Vec<String>,
    tokens: Tokens,
}

impl Guard {
    pub(super) fn new(port: u16, tokens: Tokens) -> Self {
        let with_port = |name: &&str| format!("{name}:{port}");
        Self {
            hosts: HOSTS.iter().map(with_port).collect(),
            origins: ORIGINS.iter().map(with_port).collect(),
            tokens,
        }
    }

    /// The agent whose token a request to `/mcp` bears.
    pub(super) fn admit_agent(&self, headers: &HeaderMap) -> Result<Dialect, Refusal> {
        self.check_host_and_origin(headers)?;
        let presented = bearer(headers).unwrap_or_default();
        // Every token is compared, so that the time does not tell which one is close.
        let mut agent = None;
        for (dialect, token) in &self.tokens.agents {
            if token.matches(presented) {
                agent = Some(*dialect);
            }
        }
        agent.ok_or_else(|| {
            unauthorized("send the authToken of the discovery file as Authorization: Bearer")
        })
    }

    /// Lets a command in, and no agent: none may accept its own diff.
    pub(super) fn admit_command(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        self.check_host_and_origin(headers)?;
        if self
            .tokens
            .control
            .matches(bearer(headers).unwrap_or_default())
        {
            Ok(())
        } else if self.admit_agent(headers).is_ok() {
            Err(forbidden("an agent's token opens /mcp and nothing else"))
        } else {
            Err(unauthorized("send the control token"))
        }
    }

    fn check_host_and_origin(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        if !is_one_of(&self.hosts, headers, &HOST).unwrap_or(false) {
            return Err(forbidden("the Host header does not name this companion"));
        }
        if !is_one_of(&self.origins, headers, &ORIGIN).unwrap_or(true) {
            return Err(forbidden("requests from web pages are not served"));
        }
        Ok(())
    }
}

/// Whether a header has one of the values; `None` when it is not there.
fn is_one_of(allowed: &[String], headers: &HeaderMap, name: &HeaderName) -> Option<bool> {
    headers.contains_key(name).then(|| {
        headers.get_all(name).iter().all(|value| {
            let value = value.as_bytes();
            allowed
                .iter()
                .any(|allowed| allowed.as_bytes().eq_ignore_ascii_case(value))
        })
    })
}

fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let value = headers.get(AUTHORIZATION)?.as_bytes();
    let (scheme, token) = value.split_at_checked("Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then_some(token)
}

fn forbidden(why: &str) -> Refusal {
    Refusal::new(StatusCode::FORBIDDEN, format!("forbidden: {why}"))
}

fn unauthorized(hint: &str) -> Refusal {
    Refusal::new(StatusCode::UNAUTHORIZED, format!("unauthorized: {hint}"))
}

#[cfg(test)]
mod tests {
    use pillion_protocol::Token;

    use super::*;

    fn guard() -> Guard {
        let token = |text: &str| Token::from(text.to_owned());
        let agents = vec![
            (Dialect::GeminiCli, token("gemini")),
            (Dialect::QwenCode, token("qwen")),
        ];
        let control = token("control");
        Guard::new(80, Tokens { agents, control })
    }

    fn headers(list: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in list {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    fn status(list: &[(&'static str, &'static str)]) -> Result<Dialect, u16> {
        let admitted = guard().admit_agent(&headers(list));
        admitted.map_err(|refusal| refusal.status())
    }

    const GOOD: (&str, &str) = ("authorization", "Bearer gemini");

    #[test]
    fn the_token_says_which_agent_it_is() {
        let host = ("host", "127.0.0.1:80");
        assert_eq!(status(&[host, GOOD]), Ok(Dialect::GeminiCli));
        let qwen = ("authorization", "bearer qwen");
        assert_eq!(status(&[host, qwen]), Ok(Dialect::QwenCode));
        for wrong in [
            "",
            "gemini",
            "Bearer",
            "Bearer ",
            "Bearer qwe",
            "Basic gemini",
            "Bearer control",
        ] {
            let answer = status(&[host, ("authorization", wrong)]);
            assert_eq!(answer, Err(401), "{wrong:?}");
        }
        assert_eq!(status(&[host]), Err(401));
    }

    #[test]
    fn only_loopback_names_with_our_port_are_hosts() {
        for host in [
            "127.0.0.1:80",
            "localhost:80",
            "LOCALHOST:80",
            "[::1]:80",
            "host.docker.internal:80",
        ] {
            assert!(status(&[("host", host), GOOD]).is_ok(), "{host}");
        }
        for host in [
            "evil.example:80",
            "127.0.0.1",
            "127.0.0.1:81",
            "127.0.0.1.evil.example:80",
            "",
        ] {
            assert_eq!(status(&[("host", host), GOOD]), Err(403), "{host}");
        }
        assert_eq!(status(&[GOOD]), Err(403));
    }

    #[test]
    fn web_pages_are_kept_out() {
        let host = ("host", "127.0.0.1:80");
        for origin in ["http://127.0.0.1:80", "http://localhost:80"] {
            assert!(
                status(&[host, GOOD, ("origin", origin)]).is_ok(),
                "{origin}"
            );
        }
        for origin in [
            "https://evil.example",
            "null",
            "http://localhost",
            "http://localhost:81",
            "",
        ] {
            assert_eq!(
                status(&[host, GOOD, ("origin", origin)]),
                Err(403),
                "{origin}"
            );
        }
        let second = ("origin", "https://evil.example");
        let both = [host, GOOD, ("origin", "http://localhost:80"), second];
        assert_eq!(status(&both), Err(403));
    }

    #[test]
    fn no_agent_can_command() {
        let host = ("host", "127.0.0.1:80");
        let command = |authorization| {
            let admitted =
                guard().admit_command(&headers(&[host, ("authorization", authorization)]));
            admitted.map_err(|refusal| refusal.status())
        };
        assert_eq!(command("Bearer control"), Ok(()));
        assert_eq!(command("Bearer gemini"), Err(403));
        assert_eq!(command("Bearer qwen"), Err(403));
        assert_eq!(command("Bearer other"), Err(401));
    }
}
