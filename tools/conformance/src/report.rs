//! The findings, rule by rule.

use serde::Serialize;

use crate::rule::{Rule, Verdict};

/// One rule and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The rule.
    pub rule: Rule,
    /// The outcome.
    pub verdict: Verdict,
    /// The observation, or why nothing was looked at and what to do about it. Holds no token, whatever the
    /// companion answered.
    pub detail: String,
}

/// Every rule that was looked at, in the order of the table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The rows.
    pub rows: Vec<Row>,
}

/// The numbers of rows by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Rules that are kept.
    pub passed: usize,
    /// Rules that are broken.
    pub failed: usize,
    /// Rules that were not checked.
    pub skipped: usize,
}

impl Report {
    /// Returns the numbers of rows by outcome.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        for row in &self.rows {
            match row.verdict {
                Verdict::Pass => summary.passed += 1,
                Verdict::Fail => summary.failed += 1,
                Verdict::Skip => summary.skipped += 1,
            }
        }
        summary
    }
}
