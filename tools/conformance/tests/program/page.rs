//! `docs/conformance.md` and `--list`: they say what the suite does.

use std::fs;
use std::path::Path;
use std::process::Command;

use companion_conformance::{Protocol, Rule, rules};
use pillion_testkit::conformance::{fill, program};
use serde_json::Value;

use crate::sandbox::Sandbox;

#[test]
#[ignore = "in --all: takes seconds each: cargo xtask test --all"]
fn the_rules_are_listed() {
    let sandbox = Sandbox::new();
    let listed = sandbox.run(["--list", "--json"]).expect(0).stdout;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let ids: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["id"])
        .collect();
    assert!(
        ids.iter()
            .copied()
            .eq(rules(Protocol::Companion).map(|rule| rule.id))
    );
    let listed = sandbox.run(["--list", "--only", "C2.1"]).expect(0).stdout;
    let line = "  MUST    C2.1-file               Discovery files are regular files";
    assert!(
        listed.starts_with(&format!("Discovery files\n{line}")),
        "{listed}"
    );
    let listed = sandbox
        .run(["--protocol", "claude", "--list", "--only", "K5-closed"])
        .expect(0)
        .stdout;
    let is_told = listed.contains("MUST    K5-closed") && listed.contains("what nobody accepted");
    assert!(is_told, "{listed}");
}

/// The page says how Pillion's own companions are checked; that is run here as it stands there.
#[test]
#[ignore = "in --all: takes seconds each: cargo xtask test --all"]
fn the_example_on_the_page_runs() {
    let page = include_str!("../../../../docs/conformance.md");
    let start = page
        .find("   companion-conformance \\\n")
        .expect("the example is there");
    let example = page[start..].split("```").next().unwrap();
    let sandbox = Sandbox::new();
    fill(&sandbox.home);
    let _serve = sandbox.serve();
    let folder = program("pillion");
    let folder = folder.parent().unwrap();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", folder.display());
    let output = Command::new("sh")
        .args(["-c", example])
        .env_clear()
        .envs(sandbox.home.env().iter())
        .env("PATH", path)
        .current_dir(sandbox.home.workspace())
        .output()
        .unwrap();
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{table}");
    for row in [
        "C5.6-sent",
        "C5.7-sent",
        "C4.2-change",
        "C4.7-files",
        "C4.7-selection",
    ] {
        let line = table.lines().find(|line| line.contains(row));
        assert!(line.is_some_and(|line| line.contains("pass")), "{table}");
    }
}

/// `docs/conformance.md` lists every rule. `UPDATE_DOCS=1 cargo test -p companion-conformance the_page` writes
/// the list.
#[test]
fn the_page_lists_every_rule() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/conformance.md");
    let page = fs::read_to_string(&path).unwrap();
    let (begin, end) = ("<!-- rules -->\n", "<!-- end of rules -->\n");
    let (before, rest) = page.split_once(begin).expect("the list has a beginning");
    let (_, after) = rest.split_once(end).expect("the list has an end");
    let list = list(rules(Protocol::Companion))
        + "\n## Claude Code's rules\n"
        + &list(rules(Protocol::Claude))
        + "\n## Copilot CLI's rules\n"
        + &list(rules(Protocol::Copilot));
    let expected = format!("{before}{begin}{list}\n{end}{after}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap();
    assert_eq!(
        written, expected,
        "docs/conformance.md does not list the rules"
    );
}

/// The tables of a protocol's rules, with what breaks otherwise where a rule says so.
fn list(rules: impl Iterator<Item = &'static Rule>) -> String {
    let mut list = String::new();
    let mut group = None;
    for rule in rules {
        let has_reason = !rule.reason.is_empty();
        if group.replace(rule.group) != Some(rule.group) {
            let title = rule.group.title();
            list += &format!("\n### {title}\n\n| rule | level | what is asked |");
            list += if has_reason {
                " what breaks otherwise |\n| --- | --- | --- | --- |\n"
            } else {
                "\n| --- | --- | --- |\n"
            };
        }
        list += &format!("| {} | {} | {} |", rule.id, rule.level, rule.title);
        if has_reason {
            list += &format!(" {} |", rule.reason);
        }
        list += "\n";
    }
    list
}
