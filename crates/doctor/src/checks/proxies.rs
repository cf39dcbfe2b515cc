//! The proxy variables that stand between an agent and its companion.
//!
//! Gemini CLI and Qwen Code dial companions with a client that reads the proxy variables but leaves out the
//! host that they dial. So a proxy does no harm, with two exceptions: a value that is not an address of an
//! HTTP proxy makes that client fail before it dials, and older releases of Gemini CLI leave out
//! `127.0.0.1` only, not the host that they dial in a container.
//!
//! Claude Code dials its own machine past every proxy, but does not start if the variable from which it takes
//! its proxy holds no address, be it one that it could not use. (Seen with 2.1.330, which says so, and with
//! 2.1.112, which shows nothing; neither minds `ALL_PROXY`.) The last releases on Node dial even their own
//! machine through the proxy, unless `NO_PROXY` excepts it. (Seen with 2.1.112.)

use pillion_agent::find::{Change, Version};
use pillion_agent::host::Host;
use pillion_discovery::Environment;
use pillion_protocol::Dialect;
use pillion_protocol::dialect::Protocol;

use super::super::facts::Facts;
use super::super::finding::{Finding, Id};
use super::variables;

/// The variables that the agents' client reads, the first that is set of each pair.
const PAIRS: [[&str; 2]; 2] = [["http_proxy", "HTTP_PROXY"], ["https_proxy", "HTTPS_PROXY"]];

/// The last release of Claude Code that runs on Node, whose client sends everything to a proxy that is set.
const LAST_ON_NODE: Version = Version::new(2, 1, 112);

/// The variables that Claude Code takes its proxy from: the first of them that is filled, and on Node any.
const CLAUDES: [&str; 4] = ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"];

pub fn check(facts: &Facts, findings: &mut Vec<Finding>) {
    let agent = facts.agent();
    let name = agent.display_name();
    match agent.protocol() {
        Protocol::Companion => {
            let mut invalid: Vec<_> = in_force(facts.environment()).collect();
            invalid.retain(|(_, value)| !is_address(value));
            let why = format!(
                "{name}'s HTTP client fails on it before it connects, even to this machine; some releases do not start at all"
            );
            let invalid = invalid.into_iter();
            findings.extend(invalid.map(|(variable, value)| {
                let what = "is not a valid HTTP proxy address";
                not_valid(facts, variable, &value, what, &why)
            }));
            outside(facts, findings);
        }
        Protocol::Claude if agent == Dialect::ClaudeCode => claude(facts, findings),
        Protocol::Claude => {}
        // No proxy is asked for a socket.
        Protocol::Copilot | Protocol::Codex => {}
    }
}

fn claude(facts: &Facts, findings: &mut Vec<Finding>) {
    let on_node = facts.release.version <= LAST_ON_NODE;
    let mut invalid = claudes(facts.environment());
    if on_node {
        invalid.retain(|(_, value)| !is_address(value));
    } else {
        invalid.truncate(1);
        invalid.retain(|(_, value)| !is_url(value));
    }
    let why = "Claude Code does not start with it, whether or not it needs a proxy";
    let what = "is not a valid proxy address: it needs a scheme such as `http://`, and a host";
    let invalid = invalid.into_iter();
    findings.extend(invalid.map(|(variable, value)| not_valid(facts, variable, &value, what, why)));
    if on_node {
        let mut proxies = claudes(facts.environment()).into_iter();
        let proxy = proxies.find(|(_, value)| is_address(value));
        let why = "a proxy is on another machine, or does not know what this one runs";
        let host = Host::Loopback.to_string();
        findings.extend(proxy.and_then(|(name, _)| through(facts, name, &host, why)));
    }
}

fn not_valid(facts: &Facts, variable: &'static str, value: &str, what: &str, why: &str) -> Finding {
    // It may hold a password.
    let what = format!("{} {what}", variables::shown(facts, variable));
    let with_scheme = format!("http://{value}");
    let fix = if is_address(&with_scheme) && !value.contains('@') && !value.contains("://") {
        variables::change(facts, variable, &with_scheme)
    } else {
        variables::unset(facts, variable)
    };
    Finding::problem(Id::ProxyVariable, what, why).fix(fix)
}

/// The variables that Claude Code takes its proxy from, and their values.
fn claudes(environment: &Environment) -> Vec<(&'static str, String)> {
    let value = |name| {
        let value = environment.filled(name)?.to_string_lossy().into_owned();
        Some((name, value))
    };
    CLAUDES.into_iter().filter_map(value).collect()
}

/// Releases that send what is for the machine around the container to the proxy.
fn outside(facts: &Facts, findings: &mut Vec<Finding>) {
    let is_old = facts.agent() == Dialect::GeminiCli && !facts.release.has(Change::Decoded);
    let dials_out = facts
        .search
        .dials
        .iter()
        .any(|dial| dial.host == Host::ContainerHost);
    let mut proxies = in_force(facts.environment());
    let Some((name, _)) =
        proxies.find(|(name, value)| name.eq_ignore_ascii_case("http_proxy") && is_address(value))
    else {
        return;
    };
    if is_old && dials_out {
        let host = Host::ContainerHost.to_string();
        let why = "a proxy does not know that name, which exists only inside this container";
        findings.extend(through(facts, name, &host, why));
    }
}

/// The finding that the agent dials this host through the proxy in this variable, unless it is excepted.
fn through(facts: &Facts, proxy: &'static str, host: &str, why: &str) -> Option<Finding> {
    let environment = facts.environment();
    let mut names = ["no_proxy", "NO_PROXY"].into_iter();
    let name = names.find(|name| environment.filled(name).is_some());
    let name = name.unwrap_or("NO_PROXY");
    let excepted = environment.filled(name).unwrap_or_default();
    let excepted = excepted.to_string_lossy();
    let mut listed = excepted.split([',', ' ']);
    if listed.any(|entry| entry == "*" || entry == host) {
        return None;
    }
    let shown = variables::shown(facts, proxy);
    let what = format!(
        "{} dials {host} through the proxy in {shown}",
        facts.release
    );
    let joined = [excepted.as_ref(), host];
    let joined: Vec<_> = joined.into_iter().filter(|part| !part.is_empty()).collect();
    let fix = variables::change(facts, name, &joined.join(","));
    Some(Finding::problem(Id::ProxyVariable, what, why).fix(fix))
}

/// The proxy variables that count, and their values. An empty one hides the other of its pair.
fn in_force(environment: &Environment) -> impl Iterator<Item = (&'static str, String)> {
    PAIRS.into_iter().filter_map(|pair| {
        let set = pair
            .into_iter()
            .find(|name| environment.value(name).is_some())?;
        let value = environment.filled(set)?;
        Some((set, value.to_string_lossy().into_owned()))
    })
}

/// Returns true if an HTTP client takes this for the address of a proxy.
fn is_address(value: &str) -> bool {
    let scheme = value
        .trim_start()
        .split_once("://")
        .map(|(scheme, _)| scheme);
    let schemes = ["http", "https"];
    let is_http = |scheme: &str| schemes.iter().any(|it| scheme.eq_ignore_ascii_case(it));
    scheme.is_some_and(is_http) && is_url(value)
}

/// Returns true if it has a scheme, a host and, if any, a port.
fn is_url(value: &str) -> bool {
    let Some((scheme, rest)) = value.trim().split_once("://") else {
        return false;
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let (host, port) = match host.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port),
        _ => (host, ""),
    };
    let is_host = !host.is_empty() && !host.contains([' ', '<', '>', '^', '|', '\\', '%']);
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic());
    is_scheme && is_host && (port.is_empty() || port.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_http_address_is_one_of_a_proxy() {
        for good in [
            "http://p",
            "http://p:3128",
            "HTTPS://u:p@p:1/",
            " http://[::1]:80/x",
            "http://p:",
        ] {
            assert!(is_address(good), "{good}");
        }
        for bad in [
            "p:3128",
            "127.0.0.1:9",
            "socks5://p:1",
            "http://",
            "http://p:x",
            "//p",
            "",
            "not a url",
            "http://a b",
        ] {
            assert!(!is_address(bad), "{bad}");
        }
    }

    #[test]
    fn the_lower_case_name_goes_first_even_when_it_is_empty() {
        let force = |pairs: &[(&str, &str)]| -> Vec<_> {
            let environment = Environment::from_pairs(pairs.iter().copied());
            in_force(&environment).map(|(name, _)| name).collect()
        };
        assert_eq!(
            force(&[("http_proxy", "x"), ("HTTP_PROXY", "y")]),
            ["http_proxy"]
        );
        assert_eq!(
            force(&[("HTTP_PROXY", "y"), ("HTTPS_PROXY", "z")]),
            ["HTTP_PROXY", "HTTPS_PROXY"]
        );
        assert!(force(&[("http_proxy", ""), ("HTTP_PROXY", "y")]).is_empty());
    }
}
