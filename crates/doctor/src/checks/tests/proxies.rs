//! The effect of proxy variables on Claude Code, judged.

use super::*;

const NATIVE: Version = Version::new(2, 1, 330);
const NODE: Version = Version::new(2, 1, 112);

/// The findings about proxies with these variables: the statement, and the fix.
fn found(version: Version, pairs: &[(&'static str, &'static str)]) -> Vec<(String, String)> {
    let outcome = connected(true, true);
    let mut facts = beside(Dialect::ClaudeCode, version, &[Host::Loopback], outcome);
    let home = [("HOME", "/h"), ("TMPDIR", "/t")];
    facts.setup.variables.all =
        Environment::from_pairs(home.into_iter().chain(pairs.iter().copied()));
    let findings = judge(&facts).into_iter();
    let own = findings.filter(|finding| finding.id == Id::ProxyVariable);
    own.map(|finding| {
        assert_eq!(finding.level, Level::Problem);
        (finding.what, finding.fix.unwrap_or_default())
    })
    .collect()
}

#[test]
fn claude_code_does_not_start_with_a_proxy_that_is_no_address() {
    for (pairs, fix) in [
        (
            &[("http_proxy", "proxy:3128")][..],
            "export http_proxy=http://proxy:3128",
        ),
        (
            &[("HTTP_PROXY", "127.0.0.1:3128")],
            "export HTTP_PROXY=http://127.0.0.1:3128",
        ),
        (
            &[("https_proxy", "proxy")],
            "export https_proxy=http://proxy",
        ),
        (&[("HTTPS_PROXY", "http://")], "unset HTTPS_PROXY"),
        (&[("HTTPS_PROXY", "http://p:x")], "unset HTTPS_PROXY"),
        (&[("HTTPS_PROXY", "u:secret@p:1")], "unset HTTPS_PROXY"),
        (
            &[
                ("https_proxy", ""),
                ("HTTP_PROXY", "p:1"),
                ("NO_PROXY", "*"),
            ],
            "export HTTP_PROXY=http://p:1",
        ),
    ] {
        for version in [NATIVE, NODE] {
            let found = found(version, pairs);
            let [(what, command)] = found.as_slice() else {
                panic!("{version} {pairs:?}: {found:?}");
            };
            assert_eq!(command, fix, "{version} {pairs:?}");
            assert!(what.contains("is not a valid proxy address"), "{what}");
            assert!(!what.contains("secret"), "{what}");
        }
    }
}

/// The native releases look at one variable, and what they cannot use stops them only later.
#[test]
fn other_proxies_do_no_harm() {
    for pairs in [
        &[("HTTPS_PROXY", "socks5://p:1")][..],
        &[("http_proxy", "p:1"), ("https_proxy", "http://p:1")],
        &[("HTTP_PROXY", "p:1"), ("http_proxy", "http://p:1")],
        &[("ALL_PROXY", "p:1"), ("all_proxy", "p")],
    ] {
        assert_eq!(found(NATIVE, pairs), [], "{pairs:?}");
    }
    let excepted = [("http_proxy", "http://p:1"), ("no_proxy", "x,127.0.0.1")];
    for version in [NATIVE, NODE] {
        assert_eq!(found(version, &excepted), []);
        assert_eq!(found(version, &[("ALL_PROXY", "p:1")]), []);
    }
}

#[test]
fn on_node_it_dials_its_own_machine_through_the_proxy() {
    for (pairs, fix) in [
        (
            &[("HTTPS_PROXY", "http://p:1")][..],
            "export NO_PROXY=127.0.0.1",
        ),
        (
            &[("http_proxy", "http://p:1"), ("no_proxy", "localhost")],
            "export no_proxy=localhost,127.0.0.1",
        ),
        (
            &[("HTTP_PROXY", "http://p:1"), ("NO_PROXY", "a b")],
            "export NO_PROXY='a b,127.0.0.1'",
        ),
    ] {
        let found = found(NODE, pairs);
        let [(what, command)] = found.as_slice() else {
            panic!("{pairs:?}: {found:?}");
        };
        assert_eq!(command, fix);
        assert!(what.contains("through the proxy in"), "{what}");
    }
}
