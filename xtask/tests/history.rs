//! The subjects of commits: `area: what changed`, short enough for a list.

use std::process::Command;

/// The last commit before the rule.
const SINCE: &str = "45d5d86";

/// In characters.
const MAX_LENGTH: usize = 72;

/// Returns true if it names an area, or several, and is short enough.
fn is_good(subject: &str) -> bool {
    let Some((area, what)) = subject.split_once(": ") else {
        return false;
    };
    let is_of_area =
        |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || " ,./_-".contains(it);
    let starts_well = area.starts_with(|it: char| it.is_ascii_lowercase() || it == '.');
    starts_well
        && area.chars().all(is_of_area)
        && !what.trim().is_empty()
        && subject.chars().count() <= MAX_LENGTH
}

#[test]
fn every_commit_names_its_area_in_a_short_subject() {
    let log = Command::new("git")
        .args([
            "log",
            "--no-merges",
            "--format=%h %s",
            &format!("{SINCE}..HEAD"),
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output();
    let log = log.ok().filter(|log| log.status.success());
    // A copy without the history has nothing to check.
    let Some(log) = log else { return };
    let log = String::from_utf8_lossy(&log.stdout);
    let subject = |line: &&str| {
        line.split_once(' ')
            .is_some_and(|(_, subject)| is_good(subject))
    };
    let wrong: Vec<_> = log.lines().filter(|line| !subject(line)).collect();
    assert!(
        wrong.is_empty(),
        "not `area: what changed` in {MAX_LENGTH} characters: {wrong:#?}"
    );
}

#[test]
fn a_subject_is_an_area_and_what_changed() {
    let long = format!("a: {}", "é".repeat(69));
    for good in [
        "review: a key less",
        "docs, nvim: plain words",
        "crates/lsp: x",
        ".ci: y",
        &long,
    ] {
        assert!(is_good(good), "{good}");
    }
    let longer = format!("{long}x");
    for bad in [
        "",
        "fix",
        "Review: a key",
        "review:",
        "review: ",
        ": what",
        "Merge branch 'x'",
        &longer,
    ] {
        assert!(!is_good(bad), "{bad}");
    }
}
