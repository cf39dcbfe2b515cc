//! The crates that Pillion is built from may be given away with it: every crate's licence fits MIT OR Apache-2.0.
//! Of those that nobody maintains any more, there are only the ones that are named here; and nothing is built twice.

use std::collections::BTreeSet;
use std::env;
use std::process::Command;

use serde_json::Value;

/// The licences that ask for no more than to be named. One of them has to be enough for a crate.
const FIT: [&str; 10] = [
    "0BSD",
    "Apache-2.0",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Returns true if an SPDX expression can be met with the licences that fit. A slash is an old way to write OR.
fn fits(expression: &str) -> bool {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let mut words = spaced.split_whitespace().peekable();
    let fits = any(&mut words);
    fits && words.next().is_none()
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn any(words: &mut Words) -> bool {
    let mut fits = all(words);
    while words.next_if_eq(&"OR").is_some() {
        // Not `||`: the words have to be read in any case.
        fits |= all(words);
    }
    fits
}

fn all(words: &mut Words) -> bool {
    let mut fits = one(words);
    while words.next_if_eq(&"AND").is_some() {
        fits &= one(words);
    }
    fits
}

fn one(words: &mut Words) -> bool {
    if words.next_if_eq(&"(").is_some() {
        let fits = any(words);
        return words.next_if_eq(&")").is_some() && fits;
    }
    let fits = words.next().is_some_and(|word| FIT.contains(&word));
    // An exception only allows more.
    if words.next_if_eq(&"WITH").is_some() {
        words.next();
    }
    fits
}

/// The output of a command that has to succeed.
fn output(command: &mut Command) -> String {
    let output = command.output().expect("the command starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8(output.stdout).expect("text")
}

/// Crates with an advisory that nobody maintains them, and the one crate that brings each in.
///
/// `syntect` uses `bincode` 1 (the advisory reports no flaw) only to decode the grammars that are compiled into the
/// program, never input from outside. Every release of `syntect` so far depends on it, and reading the grammars as YAML
/// instead would bring in an unmaintained YAML parser and a slow start.
const UNMAINTAINED: [(&str, &str, &str); 1] = [("bincode", "RUSTSEC-2025-0141", "syntect")];

fn metadata() -> Value {
    let version = output(Command::new("rustc").arg("-vV"));
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    // Of this system alone: the crates of the others need not be on this machine.
    let metadata = output(
        Command::new(env::var("CARGO").expect("cargo runs tests"))
            .args(["metadata", "--format-version", "1", "--locked"])
            .args(["--filter-platform", host.expect("a host")])
            .current_dir(env!("CARGO_MANIFEST_DIR")),
    );
    serde_json::from_str(&metadata).expect("JSON")
}

#[test]
fn what_nobody_maintains_comes_from_where_it_is_known_to() {
    let metadata = metadata();
    let nodes = metadata["resolve"]["nodes"].as_array().expect("nodes");
    for (name, advisory, known) in UNMAINTAINED {
        let is_user = |node: &&Value| {
            let mut deps = node["deps"].as_array().into_iter().flatten();
            deps.any(|dep| dep["name"] == name)
        };
        let users: Vec<_> = nodes
            .iter()
            .filter(is_user)
            .map(|node| &node["id"])
            .collect();
        let is_known = |id: &&Value| id.as_str().is_some_and(|id| id.contains(known));
        assert!(
            matches!(&users[..], [user] if is_known(user)),
            "{name} ({advisory}) is used by {users:#?}, and {known} alone is known to use it"
        );
    }
}

/// The crates that are built with these kinds of dependencies, each with its features.
fn built(packages: &[&str], kinds: &str) -> BTreeSet<String> {
    let tree = output(
        Command::new(env::var("CARGO").expect("cargo runs tests"))
            .args(["tree", "--locked", "--prefix", "none", "--no-dedupe"])
            .args(["--edges", kinds, "--format", "{p} with {f}"])
            .args(packages)
            .current_dir(env!("CARGO_MANIFEST_DIR")),
    );
    tree.lines().map(str::to_owned).collect()
}

/// On a fresh machine `cargo xtask` comes before the tests: where it asks for another set of features, a
/// crate and all that depends on it are built twice.
#[test]
fn xtask_and_the_tests_share_one_build() {
    let own = built(&["--package", "xtask"], "normal,build");
    let all = built(&["--workspace"], "normal,build,dev");
    assert!(own.len() > 50, "only {} crates", own.len());
    let twice: Vec<_> = own.difference(&all).collect();
    assert!(twice.is_empty(), "{twice:#?}");
}

#[test]
fn every_crates_licence_fits() {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    assert!(packages.len() > 100, "only {} crates", packages.len());
    let wrong: Vec<_> = packages
        .iter()
        .filter(|package| !package["license"].as_str().is_some_and(fits))
        .map(|package| format!("{}: {}", package["name"], package["license"]))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn an_expression_fits_if_one_way_to_meet_it_does() {
    for good in [
        "MIT",
        "MIT/Apache-2.0",
        "LGPL-3.0 OR MIT",
        "(MIT OR GPL-2.0) AND Unicode-3.0",
        "Apache-2.0 WITH LLVM-exception",
        "GPL-3.0 AND MIT OR ISC",
    ] {
        assert!(fits(good), "{good}");
    }
    for bad in [
        "",
        "GPL-3.0-only",
        "MIT AND GPL-3.0-only",
        "MPL-2.0 OR LGPL-2.1",
        "(MIT OR Apache-2.0) AND OpenSSL",
        "(MIT",
        "MIT Apache-2.0",
    ] {
        assert!(!fits(bad), "{bad}");
    }
}
