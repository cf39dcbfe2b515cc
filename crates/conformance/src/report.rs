//! What was found, rule by rule.

use serde::Serialize;

use crate::rule::{Level, Rule, Verdict};

/// One rule and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The rule.
    pub rule: Rule,
    /// What became of it. Holds no token, whatever the companion answered.
    pub verdict: Verdict,
}

/// Every rule that was looked at, in the order of the table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The rows.
    pub rows: Vec<Row>,
}

/// How many rows ended how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Rules that are kept.
    pub passed: usize,
    /// Rules that are broken.
    pub failed: usize,
    /// Rules that were not checked.
    pub skipped: usize,
}

impl Verdict {
    /// `pass`, `fail` or `skip`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Pass(_) => "pass",
            Self::Fail(_) => "fail",
            Self::Skip(_) => "skip",
        }
    }

    /// What was seen, or why nothing was looked at.
    pub fn detail(&self) -> &str {
        match self {
            Self::Pass(detail) | Self::Fail(detail) | Self::Skip(detail) => detail,
        }
    }

    /// Whether the rule is broken.
    pub fn is_fail(&self) -> bool {
        matches!(self, Self::Fail(_))
    }

    /// Of what a companion MAY do: to leave it out breaks nothing.
    pub(super) fn forgiven(self) -> Self {
        match self {
            Self::Fail(detail) => Self::Skip(format!("it is left out, which is allowed: {detail}")),
            other => other,
        }
    }

    /// The same with every occurrence of `secret` taken out: a companion may echo what it gets.
    pub(super) fn without(self, secret: &str) -> Self {
        if secret.is_empty() {
            return self;
        }
        let clean = |text: String| text.replace(secret, "…");
        match self {
            Self::Pass(detail) => Self::Pass(clean(detail)),
            Self::Fail(detail) => Self::Fail(clean(detail)),
            Self::Skip(detail) => Self::Skip(clean(detail)),
        }
    }
}

impl Report {
    /// How many rows ended how.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        for row in &self.rows {
            match row.verdict {
                Verdict::Pass(_) => summary.passed += 1,
                Verdict::Fail(_) => summary.failed += 1,
                Verdict::Skip(_) => summary.skipped += 1,
            }
        }
        summary
    }

    /// Whether a rule of this level is broken.
    pub fn breaks(&self, level: Level) -> bool {
        let mut rows = self.rows.iter();
        rows.any(|row| row.rule.level == level && row.verdict.is_fail())
    }
}
