//! Whether a companion keeps the contract, rule by rule, as far as that can be seen from outside.
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
//! use pillion_agent::conformance::{Conformance, Help, Helper, Patience, Step, Target};
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
//! let target = Target::of_file(file, &Environment::current())?;
//! let conformance = Conformance::new(target, Patience::default(), Box::new(Absent));
//! let report = conformance.run(|_| true, |row| println!("{}", row.rule.id)).await;
//! assert_eq!(report.summary().failed, 0);
//! # Ok(())
//! # }
//! ```

mod access;
mod bench;
mod check;
mod context;
mod diffs;
mod discovery;
mod events;
mod facts;
mod lifecycle;
mod line;
mod message;
mod paths;
mod probe;
mod report;
mod rule;
mod seen;
mod session;
mod sessions;
mod shape;
mod story;
mod target;
mod texts;
mod tools;
mod transport;
mod watch;

use std::time::Duration;

use tokio::time::timeout;

pub use bench::{Help, Helper, Step};
pub use line::Patience;
pub use report::{Report, Row, Summary};
pub use rule::{Group, Level, Rule, Verdict};
pub use target::{Target, TargetError};

use bench::Bench;
use check::Check;

/// The rows of every group, in the order in which they are looked at and shown.
const GROUPS: &[&[Check]] = &[
    discovery::CHECKS,
    transport::CHECKS,
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
const LONGEST: Duration = Duration::from_secs(60);

/// A run of the checks on one companion.
#[derive(Debug)]
pub struct Conformance {
    bench: Bench,
}

/// Every rule, in the order of the report.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    checks().map(|check| &check.rule)
}

fn checks() -> impl Iterator<Item = &'static Check> {
    GROUPS.iter().flat_map(|checks| checks.iter())
}

impl Conformance {
    /// A run on this companion.
    pub fn new(target: Target, patience: Patience, helper: Box<dyn Helper>) -> Self {
        let bench = Bench::new(target, patience, helper);
        Self { bench }
    }

    /// Looks at every rule that is wanted, and says after each one how it ended. Must run within a
    /// Tokio runtime.
    pub async fn run(
        &self,
        is_wanted: impl Fn(&Rule) -> bool,
        mut tell: impl FnMut(&Row),
    ) -> Report {
        let mut report = Report::default();
        for check in checks().filter(|check| is_wanted(&check.rule)) {
            let row = self.row(check).await;
            self.bench.line.clean_up().await;
            tell(&row);
            report.rows.push(row);
        }
        report
    }

    /// Closes what is still open, for a run that was broken off. False when the companion did not
    /// answer: a view may be open still.
    pub async fn clean_up(&self) -> bool {
        self.bench.line.clean_up().await
    }

    async fn row(&self, check: &Check) -> Row {
        let bench = &self.bench;
        let needs_answers = !matches!(check.rule.group, Group::Discovery | Group::Lifecycle);
        let mut verdict = match bench.answers().await {
            Err(why) if needs_answers => Verdict::Skip(format!(
                "nobody answers on port {}: {why}; see C6.1",
                bench.line.target.port()
            )),
            _ => {
                let longest = LONGEST + bench.line.patience.help + bench.line.patience.idle;
                let finding = timeout(longest, (check.run)(bench)).await;
                finding.map_or_else(
                    |_| Verdict::Fail(format!("no result within {longest:?}")),
                    Verdict::from,
                )
            }
        };
        if check.rule.level == Level::May {
            verdict = verdict.forgiven();
        }
        for file in bench.line.target.discovery_files() {
            if let Some(token) = file.token() {
                verdict = verdict.without(token.expose());
            }
        }
        Row {
            rule: check.rule,
            verdict,
        }
    }
}
