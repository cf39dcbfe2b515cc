//! MCP's own conformance suite against the companion (C1.1). The suite's scenarios for servers with
//! other features than two tools are listed as expected failures; it fails when one of these passes.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use pillion_testkit::{Home, Npm};

use crate::companion::Serve;

/// The scenarios for a server that has tools and pushes notifications: nothing in it may fail.
const APPLICABLE: [&str; 6] = [
    "dns-rebinding-protection",
    "ping",
    "server-initialize",
    "server-sse-multiple-streams",
    "server-sse-polling",
    "tools-list",
];

const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/npm");

#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn what_applies_of_mcps_own_suite_passes() {
    let home = Home::new();
    let serve = Serve::start(&home);
    let npm = Npm::from_env();
    let files = Path::new(FILES);
    let bearer = files.join("bearer.mjs");
    let output = Command::new(npm.node())
        .arg(format!("--import={}", bearer.display()))
        .arg(
            npm.package("@modelcontextprotocol/conformance")
                .join("dist/index.js"),
        )
        .args(["server", "--suite", "all", "--url", &serve.url()])
        .arg("--expected-failures")
        .arg(files.join("conformance-baseline.yml"))
        .arg("--output-dir")
        .arg(home.root().join("results"))
        .env_clear()
        .envs(home.env().iter())
        .env("COMPANION_TOKEN", serve.token())
        .output()
        .expect("the pinned node runs");
    let report = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{}\n{report}\n{errors}",
        output.status
    );
    // The suite counts a scenario that it does not know any more as nothing at all. And warnings
    // are failures to the baseline, but not here.
    let passed: BTreeSet<&str> = report
        .lines()
        .filter_map(|line| line.strip_prefix("✓ ")?.split(':').next())
        .collect();
    assert_eq!(passed, BTreeSet::from(APPLICABLE), "{report}");
}
