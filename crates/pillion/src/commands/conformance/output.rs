//! The report as a table and as JSON. What companions say may not control the terminal.

use std::fmt::Write;

use crossterm::style::{Color, Stylize};
use pillion_agent::conformance::{Group, Report, Row, Rule, Summary, Target, Verdict};
use serde::Serialize;

use crate::visible;

/// Between two columns, and before a detail.
const ID: usize = 22;
const INDENT: usize = 16;

#[derive(Serialize)]
struct JsonReport<'a> {
    companion: JsonCompanion,
    rules: Vec<JsonRow<'a>>,
    summary: JsonSummary,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonCompanion {
    port: u16,
    display_name: Option<String>,
    workspace: Vec<String>,
    pids: Vec<u32>,
    files: Vec<String>,
}

#[derive(Serialize)]
struct JsonRow<'a> {
    id: &'a str,
    level: &'a str,
    title: &'a str,
    result: &'a str,
    detail: &'a str,
}

#[derive(Serialize)]
struct JsonSummary {
    passed: usize,
    failed: usize,
    skipped: usize,
}

#[derive(Serialize)]
struct JsonRule<'a> {
    id: &'a str,
    level: &'a str,
    group: &'a str,
    title: &'a str,
}

/// The name of a companion for people.
pub fn companion(target: &Target) -> String {
    let name = target.display_name().unwrap_or("an editor without a name");
    visible::one_line(&format!("{name} on port {}", target.port()))
}

/// The table of a report, as its rows come.
pub struct Table {
    group: Option<Group>,
    is_terminal: bool,
}

impl Table {
    pub fn new(is_terminal: bool) -> Self {
        Self {
            group: None,
            is_terminal,
        }
    }

    /// A row, with a heading if it is the first of its group.
    pub fn row(&mut self, row: &Row) -> String {
        let mut text = String::new();
        heading(&mut text, &mut self.group, &row.rule);
        line(
            &mut text,
            &result(&row.verdict, self.is_terminal),
            &row.rule,
        );
        if !matches!(row.verdict, Verdict::Pass(_)) {
            let detail = visible::one_line(row.verdict.detail());
            let _ = writeln!(text, "{:INDENT$}{detail}", "");
        }
        text
    }

    /// What stands below the rows.
    pub fn end(report: &Report) -> String {
        let Summary {
            passed,
            failed,
            skipped,
        } = report.summary();
        format!("\n{passed} passed, {failed} failed, {skipped} skipped\n")
    }
}

/// The table of the rules.
pub fn list(rules: &[&Rule]) -> String {
    let mut text = String::new();
    let mut group = None;
    for rule in rules {
        heading(&mut text, &mut group, rule);
        line(&mut text, "", rule);
    }
    text.trim_start().to_owned()
}

fn heading(text: &mut String, group: &mut Option<Group>, rule: &Rule) {
    if group.replace(rule.group) != Some(rule.group) {
        let _ = writeln!(text, "\n{}", rule.group.title());
    }
}

fn line(text: &mut String, result: &str, rule: &Rule) {
    let Rule {
        id, level, title, ..
    } = rule;
    let result = if result.is_empty() {
        String::new()
    } else {
        format!("{result}  ")
    };
    let _ = writeln!(text, "  {result}{level:<6}  {id:<ID$}  {title}");
}

/// The result; in colour on a terminal, unless `NO_COLOR` is set, which the library looks at.
fn result(verdict: &Verdict, is_terminal: bool) -> String {
    let (word, colour) = match verdict {
        Verdict::Pass(_) => ("pass", Color::Green),
        Verdict::Fail(_) => ("FAIL", Color::Red),
        Verdict::Skip(_) => ("skip", Color::Yellow),
    };
    if is_terminal {
        word.with(colour).to_string()
    } else {
        word.to_owned()
    }
}

/// The report as one line of JSON.
pub fn json(target: &Target, report: &Report) -> anyhow::Result<String> {
    let Summary {
        passed,
        failed,
        skipped,
    } = report.summary();
    let shown = |path: &std::path::Path| path.to_string_lossy().into_owned();
    let report = JsonReport {
        companion: JsonCompanion {
            port: target.port(),
            display_name: target.display_name().map(str::to_owned),
            workspace: target.roots().iter().map(|root| shown(root)).collect(),
            pids: target.pids(),
            files: target.files().map(shown).collect(),
        },
        rules: report.rows.iter().map(row).collect(),
        summary: JsonSummary {
            passed,
            failed,
            skipped,
        },
    };
    Ok(visible::json(&serde_json::to_string(&report)?) + "\n")
}

fn row(row: &Row) -> JsonRow<'_> {
    JsonRow {
        id: row.rule.id,
        level: row.rule.level.keyword(),
        title: row.rule.title,
        result: row.verdict.word(),
        detail: row.verdict.detail(),
    }
}

/// The rules as one line of JSON.
pub fn list_json(rules: &[&Rule]) -> anyhow::Result<String> {
    let rules: Vec<_> = rules
        .iter()
        .map(|rule| JsonRule {
            id: rule.id,
            level: rule.level.keyword(),
            group: rule.group.title(),
            title: rule.title,
        })
        .collect();
    Ok(visible::json(&serde_json::to_string(&rules)?) + "\n")
}
