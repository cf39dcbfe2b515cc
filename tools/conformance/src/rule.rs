//! The subject of a row of the report, and its outcome.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

/// The strength of the contract's demand for a rule. Where the published texts use no keyword, a rule that
/// agents cannot do without is a MUST, and what keeps them well is a SHOULD.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// A companion that breaks it does not conform.
    Must,
    /// A companion that breaks it conforms, but some agent or user will suffer.
    Should,
    /// A companion may leave it out.
    May,
}

/// The rules that are listed together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// The files by which agents find the companion.
    Discovery,
    /// HTTP and MCP.
    Transport,
    /// Access to the companion.
    Access,
    /// The tools as they are announced, and the answers of MCP.
    Tools,
    /// The contexts: the editor's state.
    Context,
    /// Proposals and their outcomes.
    Diffs,
    /// Texts that must survive byte for byte.
    Texts,
    /// Several agents at once.
    Sessions,
    /// From the start to the end.
    Lifecycle,
}

/// One rule that can be seen from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// The contract's number, with a suffix where one number needs several rows: `C3.3-post-none`.
    pub id: &'static str,
    /// The strength of the contract's demand.
    pub level: Level,
    /// The group that it is listed in.
    pub group: Group,
    /// The demand, as a statement.
    pub title: &'static str,
    /// The damage if it is not kept; empty where a published text asks for it.
    pub reason: &'static str,
}

/// The outcome of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It is kept.
    Pass,
    /// It is broken.
    Fail,
    /// It was not checked.
    Skip,
}

impl Level {
    /// The keyword of the specifications.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Must => "MUST",
            Self::Should => "SHOULD",
            Self::May => "MAY",
        }
    }
}

impl Group {
    /// The heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Discovery => "Discovery files",
            Self::Transport => "Transport",
            Self::Access => "Access",
            Self::Tools => "Tools",
            Self::Context => "Context",
            Self::Diffs => "Diffs",
            Self::Texts => "Texts",
            Self::Sessions => "Several agents",
            Self::Lifecycle => "Lifecycle",
        }
    }
}

impl Rule {
    /// Returns true if a person's pattern means this rule: its id, its number (`C3.3`), or its
    /// group of numbers (`C3`).
    pub fn is_meant_by(&self, pattern: &str) -> bool {
        let rest = self.id.strip_prefix(pattern);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.']))
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.keyword())
    }
}

/// Why a check did not pass.
#[derive(Debug, Clone)]
pub(super) enum Problem {
    /// The rule is broken.
    Broken(String),
    /// This run could not bring about what the rule is about: nobody was there to do it, there is
    /// one workspace root only. Never because of an answer that the companion gave.
    Unchecked(String),
    /// The companion did not let the check get to its rule, which is what these rows are about. If
    /// one of them fails in the same report, nothing is known of this rule; if none does, the rule
    /// is broken, however well all others are kept.
    Blocked {
        /// Their ids.
        by: &'static [&'static str],
        why: String,
    },
}

impl Problem {
    /// The same, and of what part of it.
    pub(super) fn about(self, what: impl fmt::Display) -> Self {
        match self {
            Self::Broken(why) => Self::Broken(format!("{what}: {why}")),
            other => other,
        }
    }

    /// The same for another rule, in whose way it stands: these rows are about it.
    pub(super) fn due_to(self, by: &'static [&'static str]) -> Self {
        match self {
            Self::Broken(why) => Self::Blocked { by, why },
            other => other,
        }
    }
}

/// The result of a check: what was seen, or why it did not pass.
pub(super) type Finding = Result<String, Problem>;

/// The rule is broken: `why` is what was seen.
pub(super) fn broken<T>(why: impl Into<String>) -> Result<T, Problem> {
    Err(Problem::Broken(why.into()))
}

/// The rule cannot be checked: `why`, and what to do about it.
pub(super) fn unchecked<T>(why: impl Into<String>) -> Result<T, Problem> {
    Err(Problem::Unchecked(why.into()))
}

/// The companion did not let the check get to its rule: `why`, and the rows that are about that.
pub(super) fn blocked<T>(
    by: &'static [&'static str],
    why: impl Into<String>,
) -> Result<T, Problem> {
    let why = why.into();
    Err(Problem::Blocked { by, why })
}

/// Turns a failure on the way into a problem of the rule that is looked at.
pub(super) trait Otherwise<T> {
    /// It breaks the rule; `what` failed.
    fn or_broken(self, what: impl fmt::Display) -> Result<T, Problem>;

    /// It is what these rows are about; `what` failed.
    fn or_blocked(self, by: &'static [&'static str], what: impl fmt::Display)
    -> Result<T, Problem>;
}

impl<T, E: fmt::Display> Otherwise<T> for Result<T, E> {
    fn or_broken(self, what: impl fmt::Display) -> Result<T, Problem> {
        self.or_else(|why| broken(format!("{what}: {why}")))
    }

    fn or_blocked(
        self,
        by: &'static [&'static str],
        what: impl fmt::Display,
    ) -> Result<T, Problem> {
        self.or_else(|why| blocked(by, format!("{what}: {why}")))
    }
}

/// A request is answered in a way that breaks the rule.
pub(super) fn wrong<T>(answer: &Value) -> Result<T, Problem> {
    broken(format!("it is answered with {}", shown(answer)))
}

/// The result of a look at one of many things that does not break a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// It keeps the rule.
    Kept,
    /// The rule is not about it.
    NotAbout,
    /// The thing that the rule is about is missing or wrong in it, as this row says.
    Blocked(&'static [&'static str]),
}

/// Counts the things that keep the rule, by a look at each. When it is about none of them, `none` says what
/// is missing.
pub(super) fn kept(
    looks: impl IntoIterator<Item = Result<Look, Problem>>,
    none: &str,
) -> Result<usize, Problem> {
    let (mut kept, mut blocked_by) = (0, None);
    for look in looks {
        match look? {
            Look::Kept => kept += 1,
            Look::NotAbout => {}
            Look::Blocked(by) => blocked_by = Some(by),
        }
    }
    match (kept, blocked_by) {
        (0, Some(by)) => blocked(by, "the value it checks is missing or wrong"),
        (0, None) => unchecked(none),
        (kept, _) => Ok(kept),
    }
}

/// The beginning of a message, for a report.
pub(super) fn shown(value: &Value) -> String {
    cut(&value.to_string())
}

/// The beginning of a text, for a report.
pub(super) fn cut(text: &str) -> String {
    const MAX: usize = 160;
    match text.char_indices().nth(MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_a_rule_a_number_or_a_chapter() {
        let rule = Rule {
            id: "C3.3-post-none",
            level: Level::Must,
            group: Group::Access,
            title: "",
            reason: "",
        };
        for pattern in ["C3", "C3.3", "C3.3-post", "C3.3-post-none"] {
            assert!(rule.is_meant_by(pattern), "{pattern}");
        }
        for pattern in ["", "C", "C3.", "C3.3-p", "C3.31", "C33", "c3"] {
            assert!(!rule.is_meant_by(pattern), "{pattern}");
        }
    }
}
