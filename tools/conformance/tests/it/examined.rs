//! A small companion is examined: who helps, and what its report says.

use std::future::Future;
use std::pin::Pin;

use companion_conformance::{
    Conformance, Help, Helper, Protocol, Report, Row, Rule, Step, Target, Timeouts, Verdict, rules,
};

/// Checks a companion by the rules that are wanted.
pub fn examine(
    target: Target,
    timeouts: Timeouts,
    helper: Box<dyn Helper>,
    is_wanted: impl Fn(&Rule) -> bool,
) -> Report {
    let conformance = Conformance::new(target, timeouts, helper);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(conformance.run(is_wanted, |_| {}))
}

/// Nobody.
pub struct Absent;

impl Helper for Absent {
    fn help<'a>(&'a self, _step: &'a Step) -> Pin<Box<dyn Future<Output = Help> + 'a>> {
        Box::pin(async { Help::Nobody("nobody is here".to_owned()) })
    }
}

/// Does a step that is done by moving the cursor.
pub async fn moves(step: &Step, move_cursor: impl Fn(&str, u32)) {
    match step {
        Step::Move { file, lines } => (1..=*lines).for_each(|line| move_cursor(file, line)),
        Step::Burst { file, lines, pace } => {
            for line in lines {
                move_cursor(file, *line);
                tokio::time::sleep(*pace).await;
            }
        }
        Step::Visit(files) => files.iter().for_each(|file| move_cursor(file, 1)),
        other => panic!("{other:?} moves no cursor"),
    }
}

/// The rows that failed.
pub fn failed(report: &Report) -> Vec<String> {
    let rows = report
        .rows
        .iter()
        .filter(|row| row.verdict == Verdict::Fail);
    let shown = |row: &Row| format!("{}: {}", row.rule.id, row.detail);
    rows.map(shown).collect()
}

/// The rows that did not pass.
pub fn unpassed(report: &Report) -> Vec<String> {
    let rows = report.rows.iter();
    let others = rows.filter(|row| row.verdict != Verdict::Pass);
    others.map(|row| format!("{row:?}")).collect()
}

pub fn skips(report: &Report, id: &str) -> bool {
    let mut rows = report.rows.iter().filter(|row| row.rule.id == id);
    rows.any(|row| row.verdict == Verdict::Skip)
}

/// Every rule of the protocol passes, and no row shows the token.
pub fn assert_passes_all(report: &Report, protocol: Protocol, token: &str) {
    let unpassed = unpassed(report);
    assert!(unpassed.is_empty(), "{unpassed:#?}");
    assert_eq!(report.rows.len(), rules(protocol).count());
    for row in &report.rows {
        assert!(!row.detail.contains(token), "{row:?}");
    }
}

/// The ids of the rules of a protocol, each of which is different and begins with its letter.
pub fn own_ids(protocol: Protocol, letter: char) -> Vec<&'static str> {
    let mut ids: Vec<_> = rules(protocol).map(|rule| rule.id).collect();
    let count = ids.len();
    let is_its = |id: &&str| id.starts_with(letter) && id.contains('-');
    assert!(ids.iter().all(is_its));
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
    ids
}

/// Every rule of a protocol without a published text says what breaks, and every variant is one of a rule.
pub fn assert_says_what_breaks(protocol: Protocol, letter: char, variants: &[&str]) {
    let ids = own_ids(protocol, letter);
    for rule in rules(protocol) {
        assert!(rule.reason.ends_with('.'), "{rule:?}");
    }
    let is_known = |variant: &&str| ids.contains(&variant.split('/').next().unwrap());
    assert!(variants.iter().all(is_known));
}
