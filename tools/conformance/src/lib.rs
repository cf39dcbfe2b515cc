//! Checks whether a companion keeps the contract, rule by rule, as far as that can be seen from outside.
//!
//! Anybody's companion: it is found by its discovery files and spoken to as agents do, and as no
//! agent would. What only a person can do in the editor is asked of a [`Helper`]. Nothing is
//! written into the user's workspace; every view and session is closed again, whatever happens.
//!
//! - [`Target`]: the companion, read from its discovery files.
//! - [`Conformance`]: runs the checks.
//! - [`Report`]: what was found.
//!
//! ```no_run
//! use std::future::Future;
//! use std::path::Path;
//! use std::pin::Pin;
//!
//! use companion_conformance::{Conformance, Help, Helper, Protocol, Step, Target, Timeouts};
//! use pillion_discovery::Environment;
//!
//! /// Nobody sits at the editor.
//! struct Absent;
//!
//! impl Helper for Absent {
//!     fn help<'a>(&'a self, _step: &'a Step) -> Pin<Box<dyn Future<Output = Help> + 'a>> {
//!         Box::pin(async { Help::Nobody("this is an example".to_owned()) })
//!     }
//! }
//!
//! # async fn example(file: &Path) -> Result<(), Box<dyn std::error::Error>> {
//! let target = Target::of_file(file, Protocol::Companion, &Environment::current())?;
//! let conformance = Conformance::new(target, Timeouts::default(), Box::new(Absent));
//! let report = conformance.run(|_| true, |row| println!("{}", row.rule.id)).await;
//! assert_eq!(report.summary().failed, 0);
//! # Ok(())
//! # }
//! ```
//!
//! The rules of the protocols lie in groups above shared parts, which know only parts below them. What several
//! protocols ask for is checked in one place: `mcp`, `fields` (of discovery files), `shape` (of messages),
//! `access`, `selections`, `mentions`. The suite's requests go through `pillion-http` like those of a good client, with
//! whatever headers, target and body a rule is about. Whatever a session leaves open when it is dropped is closed after the row.
//!
//! A check that cannot reach its rule returns one of two reasons: `unchecked`, if this run could not create the
//! situation, and `blocked`, with the rows that the companion's answer breaks; that becomes a skip only if such a
//! row of the same report fails. For each rule that can be broken visibly, the tests have a companion that breaks
//! it, often in several ways, and exactly that row fails: of all rows for the first way, of its section for most
//! others.

mod access;
mod agent;
mod check;
mod claude;
mod claude_observation;
mod context;
mod copilot;
mod copilot_observation;
mod decide;
mod diffs;
mod discovery;
mod facts;
mod fields;
mod files;
mod helper;
mod lifecycle;
mod mcp;
mod mentions;
mod message;
mod moves;
mod names;
mod observation;
mod paths;
mod probe;
mod protocol;
mod reply;
mod report;
mod rule;
mod scenario;
mod selections;
mod session;
mod sessions;
mod shape;
mod stream;
mod target;
mod test_context;
mod texts;
mod timeouts;
mod tools;
mod transport;
mod views;
mod watch;

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Duration;

use tokio::time::timeout;

pub use pillion_protocol::dialect::Protocol;

pub use crate::helper::{Help, Helper, Step};
pub use crate::report::{Report, Row, Summary};
pub use crate::rule::{Group, Level, Rule, Verdict};
pub use crate::target::{Target, TargetError};
pub use crate::timeouts::Timeouts;

use crate::check::Check;
use crate::rule::{Finding, Otherwise, Problem, broken};
use crate::test_context::TestContext;

/// The rows of every group of the published contract, in the order in which they are looked at and shown.
const GROUPS: &[&[Check]] = &[
    discovery::CHECKS,
    transport::CHECKS,
    stream::CHECKS,
    access::CHECKS,
    tools::CHECKS,
    context::CHECKS,
    diffs::CHECKS,
    paths::CHECKS,
    texts::CHECKS,
    sessions::CHECKS,
    lifecycle::CHECKS,
];

/// No check takes longer, but for a person's time and a silent stream's.
const LONGEST: Duration = Duration::from_secs(120);

/// A run of the checks on one companion.
#[derive(Debug)]
pub struct Conformance {
    test: TestContext,
}

/// Every rule of a protocol, in the order of the report.
pub fn rules(protocol: Protocol) -> impl Iterator<Item = &'static Rule> {
    checks(protocol).map(|check| &check.rule)
}

fn checks(protocol: Protocol) -> impl Iterator<Item = &'static Check> {
    let groups = match protocol {
        Protocol::Companion => GROUPS,
        Protocol::Claude => claude::GROUPS,
        Protocol::Copilot => copilot::GROUPS,
        // Nobody can ask for one.
        Protocol::Hooks => &[],
    };
    groups.iter().flat_map(|checks| checks.iter())
}

impl Conformance {
    /// A run on this companion.
    pub fn new(target: Target, timeouts: Timeouts, helper: Box<dyn Helper>) -> Self {
        let test = TestContext::new(target, timeouts, helper);
        Self { test }
    }

    /// Looks at every rule that is wanted, and says after each one how it ended. Must run within a
    /// Tokio runtime.
    pub async fn run(
        &self,
        is_wanted: impl Fn(&Rule) -> bool,
        mut tell: impl FnMut(&Row),
    ) -> Report {
        let run = Run {
            test: &self.test,
            is_wanted: &is_wanted,
            results: RefCell::default(),
        };
        let mut report = Report::default();
        for check in run.checks().filter(|check| is_wanted(&check.rule)) {
            let row = run.result(check).await.row;
            tell(&row);
            report.rows.push(row);
        }
        report
    }

    /// Closes what is still open and removes what was written, for a run that was broken off. False
    /// when the companion did not answer: a view may be open still.
    pub async fn clean_up(&self) -> bool {
        self.test.clean_up().await
    }
}

/// One run. A row that a broken one stands in the way of is skipped, so rows are looked at in the
/// order in which they need one another.
struct Run<'a> {
    test: &'a TestContext,
    is_wanted: &'a dyn Fn(&Rule) -> bool,
    /// By id; none while it is looked at.
    results: RefCell<HashMap<&'static str, Option<Looked>>>,
}

/// The outcome of a row.
#[derive(Debug, Clone)]
struct Looked {
    row: Row,
    /// True if the rule is broken, or hidden by one that is.
    is_hurt: bool,
}

impl Run<'_> {
    fn checks(&self) -> impl Iterator<Item = &'static Check> + use<> {
        checks(self.test.target.protocol)
    }

    async fn result(&self, check: &Check) -> Looked {
        let id = check.rule.id;
        if let Some(Some(looked)) = self.results.borrow().get(id) {
            return looked.clone();
        }
        self.results.borrow_mut().insert(id, None);
        let finding = self.finding(check).await;
        self.test.clean_up().await;
        let (mut verdict, mut detail, is_hurt) = self.judged(check, finding).await;
        // Of what a companion MAY do: to leave it out breaks nothing.
        if check.rule.level == Level::May && verdict == Verdict::Fail {
            verdict = Verdict::Skip;
            detail = format!("it is left out, which is allowed: {detail}");
        }
        // A companion may echo what it gets.
        for secret in self.test.target.secrets() {
            detail = detail.replace(&secret, "…");
        }
        let row = Row {
            rule: check.rule,
            verdict,
            detail,
        };
        let looked = Looked { row, is_hurt };
        let mut results = self.results.borrow_mut();
        results.insert(id, Some(looked.clone()));
        looked
    }

    async fn finding(&self, check: &Check) -> Finding {
        let test = self.test;
        let needs_answers = !matches!(check.rule.group, Group::Discovery | Group::Lifecycle);
        if needs_answers {
            let what = format_args!("nothing answers on {}", test.target.address());
            let row = test.rows().answers;
            test.answers().await.or_blocked(row, what)?;
        }
        let longest = LONGEST + test.timeouts.help + test.timeouts.idle;
        let finding = timeout(longest, (check.run)(test)).await;
        finding.unwrap_or_else(|_| broken(format!("no result within {longest:?}")))
    }

    /// The verdict, what was seen, and whether the rule is broken or hidden by one that is.
    async fn judged(&self, check: &Check, finding: Finding) -> (Verdict, String, bool) {
        let (by, why) = match finding {
            Ok(seen) => return (Verdict::Pass, seen, false),
            Err(Problem::Broken(seen)) => return (Verdict::Fail, seen, true),
            Err(Problem::Unchecked(why)) => return (Verdict::Skip, why, false),
            Err(Problem::Blocked { by, why }) => (by, why),
        };
        for id in by.iter() {
            if self.is_hurt(id, check.rule.level).await {
                return (Verdict::Skip, format!("{why}; see {id}"), true);
            }
        }
        (Verdict::Fail, why, true)
    }

    /// Returns true if this row of the same report fails, so that the exit code reports it as it would report
    /// one of this level.
    async fn is_hurt(&self, id: &str, level: Level) -> bool {
        let mut rows = self.checks().filter(|check| check.rule.id == id);
        let Some(check) = rows.find(|check| (self.is_wanted)(&check.rule)) else {
            return false;
        };
        // A row that is looked at already asks for itself.
        let is_open = matches!(self.results.borrow().get(check.rule.id), Some(None));
        !is_open && check.rule.level <= level && Box::pin(self.result(check)).await.is_hurt
    }
}
