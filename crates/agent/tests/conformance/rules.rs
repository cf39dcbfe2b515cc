//! A companion that keeps every rule passes them all; one that breaks a rule is caught by the row
//! of that rule, and by no other.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use pillion_agent::conformance::{
    Conformance, Help, Helper, Patience, Report, Rule, Step, Target, Verdict, rules,
};
use pillion_discovery::Environment;

use crate::companion::{Companion, Shared, TOKEN};

/// Rules that nobody can break so that it could be seen, and why.
const UNBREAKABLE: [(&str, &str); 3] = [
    ("C1.1-origin-own", "a MAY: who leaves it out breaks nothing"),
    ("C4.1-sent", "a MAY: who leaves it out breaks nothing"),
    (
        "C4.9-trusted",
        "whether the editor really knows cannot be seen",
    ),
];

/// Other ways to break some rules: the rule, and the way.
const VARIANTS: [&str; 17] = [
    "C1.4-context/moves",
    "C1.4-two/first-only",
    "C1.4-two/one-server",
    "C2.1-file/pipe",
    "C2.4-json/array",
    "C2.5-atomic/gone",
    "C2.5-atomic/half",
    "C4.2-debounce/slow-command",
    "C4.3-shape/null",
    "C4.4-exists/folder",
    "C4.8-newest/equal",
    "C5.2-failure/no-text",
    "C5.2-open/hangs",
    "C5.5-shape/no-content",
    "C5.5-unknown/empty",
    "C5.6-sent/nothing",
    "C6.2-port/streams",
];

/// How many companions are looked at at once. They mostly wait.
const AT_ONCE: usize = 16;

/// Longer than a debounce: moves at this pace are not merged by anybody.
const SLOW: Duration = Duration::from_millis(150);

struct Reviewer {
    companion: Arc<Shared>,
    /// What each command takes that moves the cursor.
    slowness: Duration,
}

impl Helper for Reviewer {
    fn help<'a>(&'a self, step: &'a Step) -> Pin<Box<dyn Future<Output = Help> + 'a>> {
        let companion = &self.companion;
        match step {
            Step::Accept { file } => companion.settle(file, true),
            Step::Reject { file } => companion.settle(file, false),
            Step::Move { lines, .. } => {
                let (companion, slowness) = (Arc::clone(companion), self.slowness);
                return Box::pin(async move {
                    for line in 1..=*lines {
                        companion.move_cursor(line);
                        tokio::time::sleep(slowness).await;
                    }
                    Help::Done
                });
            }
            Step::Burst { lines, .. } => (1..=*lines).for_each(|line| companion.move_cursor(line)),
            Step::Stop => companion.stop(),
        }
        Box::pin(async { Help::Done })
    }
}

/// Nobody.
pub struct Absent;

impl Helper for Absent {
    fn help<'a>(&'a self, _step: &'a Step) -> Pin<Box<dyn Future<Output = Help> + 'a>> {
        Box::pin(async { Help::Nobody("nobody is here".to_owned()) })
    }
}

fn patience(flaw: &str) -> Patience {
    let short = Duration::from_millis(300);
    let is_long = flaw == "C1.1-stream-stays";
    let idle = if is_long {
        Duration::from_secs(2)
    } else {
        short
    };
    Patience {
        answer: Duration::from_secs(3),
        quiet: Duration::from_millis(150),
        idle,
        silence: short,
        help: Duration::from_secs(10),
    }
}

fn report(flaw: &'static str) -> Report {
    let is_slow = flaw.ends_with("/slow-command");
    report_with(flaw, if is_slow { SLOW } else { Duration::ZERO })
}

fn report_with(flaw: &'static str, slowness: Duration) -> Report {
    let companion = Companion::start(flaw);
    let environment = Environment::from_pairs(companion.environment());
    let target = Target::of_file(&companion.files[0], &environment).unwrap();
    let helper = Box::new(Reviewer {
        companion: Arc::clone(&companion.shared),
        slowness,
    });
    let conformance = Conformance::new(target, patience(flaw), helper);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    // Large texts take a debug build long, and only who spoils texts could spoil them.
    let large = ["C5.5-long-line", "C5.5-1mb", "C5.5-5mb"];
    let is_wanted = |rule: &Rule| flaw == "none" || flaw == rule.id || !large.contains(&rule.id);
    runtime.block_on(conformance.run(is_wanted, |_| {}))
}

pub fn failed(report: &Report) -> Vec<String> {
    let rows = report.rows.iter().filter(|row| row.verdict.is_fail());
    let shown = |row: &pillion_agent::conformance::Row| {
        format!("{}: {}", row.rule.id, row.verdict.detail())
    };
    rows.map(shown).collect()
}

#[test]
fn who_keeps_every_rule_passes_them_all() {
    let report = report("none");
    let others: Vec<_> = report
        .rows
        .iter()
        .filter(|row| !matches!(row.verdict, Verdict::Pass(_)))
        .map(|row| (row.rule.id, &row.verdict))
        .collect();
    assert!(others.is_empty(), "{others:#?}");
    assert_eq!(report.rows.len(), rules().count());
    for row in &report.rows {
        assert!(!row.verdict.detail().contains(TOKEN), "{row:?}");
    }
}

#[test]
fn who_breaks_a_rule_is_caught_by_its_row_and_by_no_other() {
    let is_breakable = |id: &&str| !UNBREAKABLE.iter().any(|(other, _)| other == id);
    let flaws = rules().map(|rule| rule.id).filter(is_breakable);
    let flaws: VecDeque<_> = flaws.chain(VARIANTS).collect();
    let flaws = Mutex::new(flaws);
    let surprises = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some(flaw) = flaws.lock().unwrap().pop_front() else {
                        return;
                    };
                    let report = report(flaw);
                    let failed = failed(&report);
                    let rule = flaw.split('/').next().unwrap();
                    let is_caught =
                        matches!(&failed[..], [one] if one.starts_with(&format!("{rule}: ")));
                    if !is_caught {
                        surprises.lock().unwrap().push((flaw, failed));
                    }
                }
            });
        }
    });
    let surprises = surprises.into_inner().unwrap();
    assert!(surprises.is_empty(), "{surprises:#?}");
}

trait Skips {
    fn skips(&self, id: &str) -> bool;
}

impl Skips for Report {
    fn skips(&self, id: &str) -> bool {
        let mut rows = self.rows.iter().filter(|row| row.rule.id == id);
        rows.any(|row| matches!(row.verdict, Verdict::Skip(_)))
    }
}

#[test]
fn every_rule_has_an_id_of_its_own_that_names_the_contract() {
    let mut ids: Vec<_> = rules().map(|rule| rule.id).collect();
    let count = ids.len();
    assert!(ids.iter().all(|id| id.starts_with('C') && id.contains('-')));
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
    for (id, _) in UNBREAKABLE {
        assert!(ids.contains(&id), "{id}");
    }
}

#[test]
fn who_leaves_out_what_may_be_left_out_breaks_nothing() {
    let report = report("C1.1-origin-own");
    let failed = failed(&report);
    assert!(failed.is_empty(), "{failed:#?}");
    assert!(report.skips("C1.1-origin-own"));
}

#[test]
fn a_companion_that_sends_no_context_breaks_nothing() {
    let report = report("C4.1-sent");
    let failed = failed(&report);
    assert!(failed.is_empty(), "{failed:#?}");
    assert!(report.skips("C4.1-sent") && report.skips("C4.3-shape"));
}

#[test]
fn a_slow_command_hides_no_debounce() {
    let report = report_with("none", SLOW);
    let rows = report.rows.iter();
    let others: Vec<_> = rows
        .filter(|row| !matches!(row.verdict, Verdict::Pass(_)))
        .map(|row| (row.rule.id, &row.verdict))
        .collect();
    assert!(others.is_empty(), "{others:#?}");
}

#[test]
fn trust_that_is_sent_is_shown_to_who_can_judge_it() {
    let report = report("C4.9-trusted");
    let failed = failed(&report);
    assert!(failed.is_empty(), "{failed:#?}");
    let mut rows = report.rows.iter();
    let row = rows.find(|row| row.rule.id == "C4.9-trusted").unwrap();
    let is_told = matches!(&row.verdict, Verdict::Skip(why) if why.contains("it is sent: true"));
    assert!(is_told, "{row:?}");
}
