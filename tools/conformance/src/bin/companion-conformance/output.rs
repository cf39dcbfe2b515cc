//! The report as a table and as JSON. What companions say may not control the terminal.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};

use companion_conformance::{Group, Report, Row, Rule, Summary, Target, Verdict};
use crossterm::style::{Color, Stylize};
use pillion_protocol::Address;
use pillion_text::visible;
use serde::Serialize;

/// The width before the ids in a list, their own width, and the one before them in a table, and
/// before a detail.
const LEVEL: usize = 10;
const ID: usize = 22;
const INDENT: usize = 16;

/// The texts get at least so many columns, even where the terminal then breaks them anywhere.
const NARROWEST: usize = 24;

/// Prints a text as it is, at once.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// Prints JSON on one line. It may be read in a terminal, too.
pub fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    print(&format!(
        "{}\n",
        visible::json(&serde_json::to_string(value)?)
    ))
}

/// The columns of the terminal that standard output goes to, if it goes to one.
pub fn terminal_width() -> Option<usize> {
    let size = || crossterm::terminal::size().map_or(80, |(width, _)| usize::from(width));
    io::stdout().is_terminal().then(size)
}

#[derive(Serialize)]
struct JsonReport<'a> {
    companion: JsonCompanion,
    rules: Vec<JsonRow<'a>>,
    summary: Summary,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonCompanion {
    /// That of a companion with a socket, where its file has it.
    port: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    socket: Option<String>,
    display_name: Option<String>,
    workspace: Vec<String>,
    pids: Vec<u32>,
    files: Vec<String>,
}

#[derive(Serialize)]
struct JsonRow<'a> {
    #[serde(flatten)]
    rule: JsonRule,
    result: Verdict,
    detail: &'a str,
}

#[derive(Serialize)]
struct JsonRule {
    id: &'static str,
    level: &'static str,
    /// Only in a list of rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<&'static str>,
    title: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: &'static str,
}

/// The name of a companion for people.
pub fn companion(target: &Target) -> String {
    let name = target.display_name().unwrap_or("an unnamed companion");
    visible::one_line(&format!("{name} on {}", target.address()))
}

/// The table of a report, as its rows come.
pub struct Table {
    group: Option<Group>,
    /// The terminal's, if it goes to one.
    width: Option<usize>,
}

impl Table {
    pub fn new(width: Option<usize>) -> Self {
        Self { group: None, width }
    }

    /// A row, with a heading if it is the first of its group.
    pub fn row(&mut self, row: &Row) -> String {
        let mut text = String::new();
        heading(&mut text, &mut self.group, &row.rule);
        let result = result(row.verdict, self.width.is_some());
        let (level, id) = (row.rule.level, row.rule.id);
        let _ = write!(text, "  {result}  {level:<6}  {id:<ID$}  ");
        hang(&mut text, row.rule.title, INDENT + ID + 2, self.width);
        if row.verdict != Verdict::Pass {
            let detail = visible::one_line(&row.detail);
            let _ = write!(text, "{:INDENT$}", "");
            hang(&mut text, &detail, INDENT, self.width);
        }
        if row.verdict == Verdict::Fail && !row.rule.reason.is_empty() {
            let _ = write!(text, "{:INDENT$}", "");
            hang(&mut text, row.rule.reason, INDENT, self.width);
        }
        text
    }

    /// The text below the rows.
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
pub fn list(rules: &[&Rule], width: Option<usize>) -> String {
    let mut text = String::new();
    let mut group = None;
    for rule in rules {
        heading(&mut text, &mut group, rule);
        let (level, id) = (rule.level, rule.id);
        let _ = write!(text, "  {level:<6}  {id:<ID$}  ");
        hang(&mut text, rule.title, LEVEL + ID + 2, width);
        if !rule.reason.is_empty() {
            let at = LEVEL + ID + 2;
            let _ = write!(text, "{:at$}", "");
            hang(&mut text, rule.reason, at, width);
        }
    }
    text.trim_start().to_owned()
}

fn heading(text: &mut String, group: &mut Option<Group>, rule: &Rule) {
    if group.replace(rule.group) != Some(rule.group) {
        let _ = writeln!(text, "\n{}", rule.group.title());
    }
}

/// Puts `words` where the line stands, in column `at`; what does not fit goes below it.
fn hang(text: &mut String, words: &str, at: usize, width: Option<usize>) {
    let room = width.map_or(usize::MAX, |width| width.saturating_sub(at).max(NARROWEST));
    let mut column = 0;
    for word in words.split(' ') {
        let width = visible::width(word);
        if column > 0 && column + 1 + width > room {
            let _ = write!(text, "\n{:at$}", "");
            column = 0;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += width;
    }
    text.push('\n');
}

/// The result; in colour on a terminal, unless `NO_COLOR` is set, which the library looks at.
fn result(verdict: Verdict, is_terminal: bool) -> String {
    let (word, colour) = match verdict {
        Verdict::Pass => ("pass", Color::Green),
        Verdict::Fail => ("FAIL", Color::Red),
        Verdict::Skip => ("skip", Color::Yellow),
    };
    if is_terminal {
        word.with(colour).to_string()
    } else {
        word.to_owned()
    }
}

/// The report, for JSON.
pub fn json<'a>(target: &Target, report: &'a Report) -> impl Serialize + use<'a> {
    let shown = |path: &std::path::Path| path.to_string_lossy().into_owned();
    let row = |row: &'a Row| JsonRow {
        rule: rule(&row.rule, None),
        result: row.verdict,
        detail: &row.detail,
    };
    JsonReport {
        companion: JsonCompanion {
            port: target.port(),
            socket: match target.address() {
                Address::Tcp(_) => None,
                Address::Unix(path) => Some(shown(path)),
            },
            display_name: target.display_name().map(str::to_owned),
            workspace: target.roots().iter().map(|root| shown(root)).collect(),
            pids: target.pids(),
            files: target.files().map(shown).collect(),
        },
        rules: report.rows.iter().map(row).collect(),
        summary: report.summary(),
    }
}

/// The rules, for JSON.
pub fn list_json(rules: &[&Rule]) -> impl Serialize + use<> {
    let grouped = |it: &&Rule| rule(it, Some(it.group));
    rules.iter().map(grouped).collect::<Vec<_>>()
}

fn rule(rule: &Rule, group: Option<Group>) -> JsonRule {
    JsonRule {
        id: rule.id,
        level: rule.level.keyword(),
        group: group.map(Group::title),
        title: rule.title,
        reason: rule.reason,
    }
}
