//! The changelog: a section gets its number, and is what a release says about itself.

use anyhow::{Context, Result, ensure};

const UNRELEASED: &str = "## [Unreleased]";

/// The changelog with this version in it. Before the first release there may be several sections.
pub fn released(text: &str, version: &str, date: &str) -> Result<String> {
    let (head, rest) = text
        .split_once(UNRELEASED)
        .context("there is no section [Unreleased]")?;
    let body = rest.split_once('\n').map_or("", |(_, body)| body);
    let own = body.split("\n## ").next().unwrap_or_default();
    ensure!(
        own.contains("\n- "),
        "the section [Unreleased] has no changes"
    );
    let earlier = format!("## Before {version}");
    let body = body.replace(UNRELEASED, &earlier);
    Ok(format!(
        "{head}{UNRELEASED}\n\n## [{version}] - {date}\n{body}"
    ))
}

/// The notes on a version in it.
pub fn notes(text: &str, version: &str) -> Result<String> {
    let start = format!("\n## [{version}] - ");
    let (_, rest) = text
        .split_once(&start)
        .with_context(|| format!("no section [{version}]"))?;
    let (_, body) = rest.split_once('\n').unwrap_or_default();
    let body = body.split("\n## [").next().unwrap_or_default();
    Ok(format!("{}\n", body.trim()))
}
