//! Which proxy variables stand between an agent and its companion.
//!
//! Both agents dial companions with a client that reads the proxy variables but leaves out the host
//! that they dial. So a proxy does no harm, with two exceptions: a value that is not an address of an
//! HTTP proxy makes that client fail before it dials, and older releases of Gemini CLI leave out
//! `127.0.0.1` only, not the host that they dial in a container.

use pillion_agent::find::Change;
use pillion_agent::host::Host;
use pillion_discovery::Environment;
use pillion_protocol::Dialect;

use super::super::facts::Facts;
use super::super::finding::{Finding, Id};
use super::variables;

/// The variables that the agents' client reads, the first that is set of each pair.
const PAIRS: [[&str; 2]; 2] = [["http_proxy", "HTTP_PROXY"], ["https_proxy", "HTTPS_PROXY"]];

pub fn check(facts: &Facts, findings: &mut Vec<Finding>) {
    for (name, value) in in_force(facts.environment()) {
        if is_address(&value) {
            continue;
        }
        let agent = facts.agent().display_name();
        // It may hold a password.
        let shown = variables::shown(facts, name);
        let what = format!("{shown} is not a valid HTTP proxy address");
        let why = format!(
            "{agent}'s HTTP client fails on it before it connects, even to this machine; some releases do not start at all"
        );
        let with_scheme = format!("http://{value}");
        let fix = if is_address(&with_scheme) && !value.contains('@') && !value.contains("://") {
            variables::change(facts, name, &with_scheme)
        } else {
            variables::unset(facts, name)
        };
        findings.push(Finding::problem(Id::ProxyVariable, what, why).fix(fix));
    }
    outside(facts, findings);
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
    let host = Host::ContainerHost.to_string();
    let excepted = facts.environment().filled("NO_PROXY");
    let excepted = excepted.unwrap_or_default().to_string_lossy();
    let mut listed = excepted.split([',', ' ']);
    if !is_old || !dials_out || listed.any(|entry| entry == "*" || entry == host) {
        return;
    }
    let shown = variables::shown(facts, name);
    let what = format!(
        "{} dials {host} through the proxy in {shown}",
        facts.release
    );
    let why = "a proxy does not know that name, which exists only inside this container";
    let joined = [excepted.as_ref(), &host];
    let joined: Vec<_> = joined.into_iter().filter(|part| !part.is_empty()).collect();
    let fix = variables::change(facts, "NO_PROXY", &joined.join(","));
    findings.push(Finding::problem(Id::ProxyVariable, what, why).fix(fix));
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

/// Whether an HTTP client takes this for the address of a proxy.
fn is_address(value: &str) -> bool {
    let value = value.trim().to_ascii_lowercase();
    let rest = value
        .strip_prefix("http://")
        .or_else(|| value.strip_prefix("https://"));
    let Some(rest) = rest else {
        return false;
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let (host, port) = match host.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port),
        _ => (host, ""),
    };
    let is_host = !host.is_empty() && !host.contains([' ', '<', '>', '^', '|', '\\', '%']);
    is_host && (port.is_empty() || port.parse::<u16>().is_ok())
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
