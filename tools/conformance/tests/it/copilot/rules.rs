//! A companion that keeps every rule passes them all; one that breaks a rule is caught by the row
//! of that rule, and by no other.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use companion_conformance::{Help, Helper, Protocol, Report, Rule, Step, Target, Timeouts, rules};
use pillion_discovery::Environment;

use super::companion::{Companion, Decision, Shared, TOKEN};
use crate::editor::Editor;
use crate::examined::{
    Absent, assert_passes_all, assert_says_what_breaks, examine, failed, moves, skips,
};
use crate::flaws::{is_examined, uncaught, unpassed};

/// Other ways to break some rules: the rule, and the way.
const VARIANTS: &[&str] = &[
    "P1-folders/empty",
    "P1-folders/text",
    "P1-headers/number",
    "P1-ideName/empty",
    "P1-json/array",
    "P1-pid/none",
    "P1-pid/word",
    "P1-resolved/gone",
    "P1-resolved/relative",
    "P1-socket/file",
    "P1-socket/relative",
    "P1-timestamp/text",
    "P1-token/empty",
    "P2-discover/error",
    "P3-extended/end",
    "P3-host/prefix",
    "P3-none/tells",
    "P3-origin/null",
    "P3-scheme/basic",
    "P3-truncated/end",
    "P3-wrong/half",
    "P4-diagnostics/error",
    "P4-schemas/number",
    "P5-accepted/error",
    "P5-accepted/nothing",
    "P5-accepted/trigger",
    "P5-accepted/words",
    "P5-close-ends/saved",
    "P5-close/words",
    "P5-rejected/message",
    "P5-rejected/nothing",
    "P5-rejected/saved",
    "P5-waits/error",
    "P5-writes/open",
    "P5-writes/rejected",
    "P7-mention/nothing",
    "P7-mention/path",
    "P7-mention/request",
    "P7-mention/twice",
    "P7-path/uri",
    "P7-shape/backwards",
    "P7-shape/empty",
    "P7-shape/line",
    "P7-shape/url",
    "P8-tab-names/close",
    "P9-atomic/gone",
    "P9-atomic/half",
    "P9-socket/streams",
];

struct Reviewer(Arc<Shared>);

impl Helper for Reviewer {
    fn help<'a>(&'a self, step: &'a Step) -> Pin<Box<dyn Future<Output = Help> + 'a>> {
        Box::pin(self.step(step))
    }
}

impl Reviewer {
    async fn step(&self, step: &Step) -> Help {
        let companion = &self.0;
        let settled = |file: &str, decision| match companion.settle(file, decision) {
            true => Help::Done,
            false => Help::Failed("there is no such view, or it is refused".to_owned()),
        };
        match step {
            Step::Accept(file) | Step::AcceptAgain(file) => {
                return settled(file, Decision::Accept);
            }
            Step::AcceptEdited(file) => return settled(file, Decision::AcceptEdited),
            Step::Reject(file) => return settled(file, Decision::Reject),
            Step::Close(file) => return settled(file, Decision::Close),
            Step::Mention { file, lines } => companion.mention(file, *lines),
            Step::Move { .. } | Step::Burst { .. } | Step::Visit(_) => {
                moves(step, |file, line| companion.move_cursor(file, line)).await;
            }
            Step::Stop => companion.stop(),
        }
        Help::Done
    }
}

fn timeouts(flaw: &str) -> Timeouts {
    let short = Duration::from_millis(300);
    let is_long = flaw == "P2-stream-stays";
    Timeouts {
        answer: Duration::from_secs(3),
        prompt: Duration::from_secs(1),
        quiet: short,
        idle: if is_long {
            Duration::from_secs(2)
        } else {
            short
        },
        silence: short,
        restore: short,
        help: Duration::from_secs(10),
    }
}

fn report(flaw: &'static str) -> Report {
    // It takes a debug build long.
    let is_large = |rule: &Rule| flaw != "none" && flaw != rule.id && rule.id == "P5-large";
    let is_wanted = |rule: &Rule| is_examined(flaw, rule.id) && !is_large(rule);
    let companion = Companion::start(flaw);
    let reviewer = Reviewer(Arc::clone(&companion.shared));
    let report = report_of(&companion, Box::new(reviewer), is_wanted);
    assert_eq!(companion.left(), [] as [PathBuf; 0], "{flaw}");
    report
}

fn report_of(
    companion: &Companion,
    helper: Box<dyn Helper>,
    is_wanted: impl Fn(&Rule) -> bool,
) -> Report {
    let environment = Environment::from_pairs(companion.environment());
    let target = Target::of_file(&companion.entry(), Protocol::Copilot, &environment).unwrap();
    examine(target, timeouts(companion.shared.flaw), helper, is_wanted)
}

#[test]
#[ignore = "in --all: checks the suite itself: cargo xtask test --all"]
fn who_keeps_every_rule_of_copilot_clis_passes_them_all() {
    assert_passes_all(&report("none"), Protocol::Copilot, TOKEN);
}

#[test]
#[ignore = "in --all: takes two minutes: cargo xtask test --all"]
fn who_breaks_a_rule_of_copilot_clis_is_caught_by_its_row_and_by_no_other() {
    let flaws = rules(Protocol::Copilot).map(|rule| rule.id);
    let flaws = flaws.chain(VARIANTS.iter().copied());
    let uncaught = uncaught(flaws, report);
    assert!(uncaught.is_empty(), "{uncaught:#?}");
}

/// The agent takes all of these.
#[test]
#[ignore = "in --all: checks the suite itself: cargo xtask test --all"]
fn who_does_it_in_another_way_passes_every_rule_of_copilot_clis() {
    let unpassed = unpassed(["none/hangs-up", "none/json", "none/slash"], report);
    assert!(unpassed.is_empty(), "{unpassed:#?}");
}

#[test]
#[ignore = "in --all: checks the suite itself: cargo xtask test --all"]
fn every_rule_of_copilot_clis_has_an_id_of_its_own_and_says_what_breaks() {
    assert_says_what_breaks(Protocol::Copilot, 'P', VARIANTS);
}

/// There is no person at the editor: what needs one is skipped with the reason, and nothing fails.
#[test]
#[ignore = "in --all: checks the suite itself: cargo xtask test --all"]
fn what_nobody_does_for_copilot_cli_breaks_no_rule() {
    let companion = Companion::start("none");
    let report = report_of(&companion, Box::new(Absent), |_| true);
    let failed = failed(&report);
    assert!(failed.is_empty(), "{failed:#?}");
    for id in ["P5-accepted", "P5-edited", "P7-moved", "P9-files"] {
        assert!(skips(&report, id), "{id}");
    }
}
