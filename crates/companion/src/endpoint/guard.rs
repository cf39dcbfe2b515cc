//! Owns admission (C3.3): the Host and Origin rules, and the tokens.
//!
//! Host and Origin are looked at first, then the token, whose owner names the agent.

use http::header::{AUTHORIZATION, HOST, ORIGIN};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use pillion_discovery::Tokens;
use pillion_protocol::dialect::Protocol;
use pillion_protocol::{Address, Dialect, claude, copilot};

use super::response::Refusal;

/// The names under which loopback is dialled. An agent in a container dials the last one.
const HOSTS: [&str; 4] = ["127.0.0.1", "localhost", "[::1]", "host.docker.internal"];

/// The origins of pages that loopback itself serves.
const ORIGINS: [&str; 2] = ["http://127.0.0.1", "http://localhost"];

#[derive(Debug)]
pub(crate) struct Guard {
    hosts: Vec<String>,
    origins: Vec<String>,
    tokens: Tokens,
    /// The protocol of the agents that come to `/mcp`.
    protocol: Protocol,
}

impl Guard {
    /// That of the listener at this address.
    pub(crate) fn new(address: &Address, tokens: Tokens) -> Self {
        let (hosts, origins, protocol) = match address {
            Address::Tcp(port) => {
                let with_port = |name: &&str| format!("{name}:{port}");
                let hosts = HOSTS.iter().map(with_port).collect();
                let origins = ORIGINS.iter().map(with_port).collect();
                (hosts, origins, Protocol::Companion)
            }
            // No page is served there.
            Address::Unix(_) => {
                let hosts = vec![copilot::HOST.to_owned()];
                (hosts, Vec::new(), Protocol::Copilot)
            }
        };
        Self {
            hosts,
            origins,
            tokens,
            protocol,
        }
    }

    /// The agent whose token a request to `/mcp` bears.
    pub(super) fn admit_agent(&self, headers: &HeaderMap) -> Result<Dialect, Refusal> {
        self.check_host_and_origin(headers)?;
        let presented = bearer(headers).unwrap_or_default();
        let agent = self.tokens.dialect_of(presented);
        let agent = agent.filter(|agent| agent.protocol() == self.protocol);
        agent.ok_or_else(|| {
            unauthorized("send the authToken of the discovery file as Authorization: Bearer")
        })
    }

    /// The agent whose token a request for a WebSocket bears.
    pub(super) fn admit_websocket(&self, headers: &HeaderMap) -> Result<Dialect, Refusal> {
        self.check_host_and_origin(headers)?;
        let presented = headers.get(claude::AUTHORIZATION_HEADER);
        let presented = presented.map(HeaderValue::as_bytes).unwrap_or_default();
        let agent = self.tokens.dialect_of(presented);
        let is_here = self.protocol == Protocol::Companion;
        let agent = agent.filter(|agent| is_here && agent.protocol() == Protocol::Claude);
        agent.ok_or_else(|| {
            let header = claude::AUTHORIZATION_HEADER;
            unauthorized(&format!("send the authToken of the lock file as {header}"))
        })
    }

    /// Returns true if a request comes from a client with a token, whatever it may be for.
    pub(super) fn knows(&self, headers: &HeaderMap) -> bool {
        self.admit_agent(headers).is_ok() || self.admit_websocket(headers).is_ok()
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

/// Tells whether a header has only values of this list; `None` when it is not there.
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

    /// A guard, and the header value of two of its tokens: Gemini's and Qwen's.
    fn guard() -> (Guard, [String; 2]) {
        let tokens = Tokens::generate().unwrap();
        let bearer = |token: &Token| format!("Bearer {}", token.expose());
        let bearers = [
            bearer(tokens.get(Dialect::GeminiCli)),
            bearer(tokens.get(Dialect::QwenCode)),
        ];
        (Guard::new(&Address::Tcp(80), tokens), bearers)
    }

    fn headers(list: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in list {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    /// Returns the agent or the status for a request with Gemini's token and these headers.
    fn status(list: &[(&'static str, &str)]) -> Result<Dialect, u16> {
        let (guard, [gemini, ..]) = guard();
        let mut headers = headers(list);
        headers.insert(AUTHORIZATION, gemini.parse().unwrap());
        let admitted = guard.admit_agent(&headers);
        admitted.map_err(|refusal| refusal.status())
    }

    const HOST: (&str, &str) = ("host", "127.0.0.1:80");

    #[test]
    fn the_token_says_which_agent_it_is() {
        let (guard, [gemini, qwen]) = guard();
        let admit = |authorization: &str| {
            let admitted = guard.admit_agent(&headers(&[HOST, ("authorization", authorization)]));
            admitted.map_err(|refusal| refusal.status())
        };
        assert_eq!(admit(&gemini), Ok(Dialect::GeminiCli));
        assert_eq!(admit(&qwen), Ok(Dialect::QwenCode));
        assert_eq!(
            admit(&gemini.replace("Bearer", "bearer")),
            Ok(Dialect::GeminiCli)
        );
        let (almost, bare) = (&gemini[..gemini.len() - 1], &gemini["Bearer ".len()..]);
        let basic = gemini.replace("Bearer", "Basic");
        for wrong in ["", "Bearer", "Bearer ", almost, bare, &basic] {
            assert_eq!(admit(wrong), Err(401), "{wrong:?}");
        }
        let without = guard.admit_agent(&headers(&[HOST]));
        assert_eq!(without.map_err(|refusal| refusal.status()), Err(401));
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
            assert!(status(&[("host", host)]).is_ok(), "{host}");
        }
        for host in [
            "evil.example:80",
            "127.0.0.1",
            "127.0.0.1:81",
            "127.0.0.1.evil.example:80",
            "",
        ] {
            assert_eq!(status(&[("host", host)]), Err(403), "{host}");
        }
        assert_eq!(status(&[]), Err(403));
    }

    #[test]
    fn web_pages_are_kept_out() {
        for origin in ["http://127.0.0.1:80", "http://localhost:80"] {
            assert!(status(&[HOST, ("origin", origin)]).is_ok(), "{origin}");
        }
        let foreign = "https://evil.example";
        for origin in [
            foreign,
            "null",
            "http://localhost",
            "http://localhost:81",
            "",
        ] {
            assert_eq!(status(&[HOST, ("origin", origin)]), Err(403), "{origin}");
        }
        let both = [HOST, ("origin", "http://localhost:80"), ("origin", foreign)];
        assert_eq!(status(&both), Err(403));
    }

    #[test]
    fn at_a_socket_only_its_own_agents_are_let_in() {
        let tokens = Tokens::generate().unwrap();
        let socket = Address::Unix("/run/s".into());
        let guard = Guard::new(&socket, tokens.clone());
        let admit = |list: &[(&'static str, &str)]| {
            let admitted = guard.admit_agent(&headers(list));
            admitted.map_err(|refusal| refusal.status())
        };
        let bearer = |agent| format!("Bearer {}", tokens.get(agent).expose());
        let own = bearer(Dialect::CopilotCli);
        let host = ("host", "localhost");
        let agent = admit(&[host, ("authorization", &own)]);
        assert_eq!(agent, Ok(Dialect::CopilotCli));
        for other in Dialect::ALL {
            let admitted = admit(&[host, ("authorization", &bearer(other))]);
            assert_eq!(admitted.is_ok(), other == Dialect::CopilotCli, "{other}");
        }
        for list in [
            &[("authorization", own.as_str())][..],
            &[("host", "evil.example"), ("authorization", &own)],
            &[
                host,
                ("origin", "http://localhost"),
                ("authorization", &own),
            ],
        ] {
            assert_eq!(admit(list), Err(403), "{list:?}");
        }
        let name = claude::AUTHORIZATION_HEADER;
        let claude = tokens.get(Dialect::ClaudeCode).expose();
        assert!(
            guard
                .admit_websocket(&headers(&[host, (name, claude)]))
                .is_err()
        );
    }

    #[test]
    fn the_token_of_a_sockets_agent_opens_no_port() {
        let tokens = Tokens::generate().unwrap();
        let own = format!("Bearer {}", tokens.get(Dialect::CopilotCli).expose());
        let guard = Guard::new(&Address::Tcp(80), tokens);
        let admitted = guard.admit_agent(&headers(&[HOST, ("authorization", &own)]));
        assert_eq!(admitted.map_err(|refusal| refusal.status()), Err(401));
    }
}
