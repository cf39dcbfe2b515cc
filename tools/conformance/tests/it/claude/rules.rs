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
    "K1-folders/empty",
    "K1-folders/text",
    "K1-json/lines",
    "K1-name/zeros",
    "K1-pid/word",
    "K1-resolved/gone",
    "K1-resolved/relative",
    "K1-token/empty",
    "K1-transport/sse",
    "K2-deflate/refused",
    "K2-no-protocol/refused",
    "K2-ping/empty",
    "K2-protocol/other",
    "K2-unmasked/code",
    "K2-upgrade/refused",
    "K3-elsewhere/bearer",
    "K3-elsewhere/header",
    "K3-extended/end",
    "K3-host/prefix",
    "K3-none/late",
    "K3-none/tells",
    "K3-origin/null",
    "K3-origin/prefix",
    "K3-truncated/end",
    "K3-wrong/half",
    "K4-batch/closes",
    "K4-notification/unknown",
    "K4-schemas/number",
    "K5-accepted/nothing",
    "K5-accepted/order",
    "K5-accepted/word",
    "K5-all/count",
    "K5-arguments/crash",
    "K5-blocks/empty",
    "K5-blocks/error",
    "K5-bytes/bom",
    "K5-bytes/cr",
    "K5-bytes/long",
    "K5-bytes/lossy",
    "K5-bytes/nul",
    "K5-bytes/spaces",
    "K5-close-late/error",
    "K5-close-once/saved",
    "K5-once/rejected",
    "K5-rejected/error",
    "K5-rejected/nothing",
    "K5-rejected/tab",
    "K5-same-name/tab",
    "K5-writes/open",
    "K5-writes/rejected",
    "K7-diagnostics-shape/range",
    "K7-diagnostics-uri/all",
    "K7-diagnostics/object",
    "K7-diagnostics/two",
    "K7-diagnostics/words",
    "K7-mention/nothing",
    "K7-mention/path",
    "K7-mention/request",
    "K7-mention/twice",
    "K7-path/uri",
    "K7-shape/backwards",
    "K7-shape/empty",
    "K7-shape/line",
    "K7-shape/text",
    "K8-close-all/count",
    "K8-tab-names/close",
    "K9-atomic/back",
    "K9-atomic/gone",
    "K9-atomic/half",
    "K9-port/clients",
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
        let settled = async |file: &str, decision| {
            let (companion, file) = (Arc::clone(companion), file.to_owned());
            // It may wait for who reads the answer.
            let settled = tokio::task::spawn_blocking(move || companion.settle(&file, decision));
            match settled.await.unwrap() {
                true => Help::Done,
                false => Help::Failed("no such view".to_owned()),
            }
        };
        match step {
            Step::Accept(file) | Step::AcceptAgain(file) => {
                return settled(file, Decision::Accept).await;
            }
            Step::AcceptEdited(_) => {
                return Help::Nobody("no rule of this protocol is about it".to_owned());
            }
            Step::Reject(file) => return settled(file, Decision::Reject).await,
            Step::Close(file) => return settled(file, Decision::Close).await,
            Step::Mention { file, lines } => companion.mention(file, *lines),
            Step::Move { .. } | Step::Burst { .. } | Step::Visit(_) => {
                moves(step, |file, line| companion.move_cursor(file, line)).await;
            }
            Step::Stop => companion.stop(),
        }
        Help::Done
    }
}

fn timeouts() -> Timeouts {
    Timeouts {
        answer: Duration::from_secs(3),
        prompt: Duration::from_secs(1),
        quiet: Duration::from_millis(300),
        idle: Duration::from_millis(300),
        silence: Duration::from_millis(300),
        restore: Duration::from_secs(3),
        help: Duration::from_secs(10),
    }
}

fn report(flaw: &'static str) -> Report {
    // Large texts take a debug build long, and only who spoils texts could spoil them.
    let large = ["K2-large", "K6-long-line", "K6-5mb"];
    let is_large = |rule: &Rule| flaw != "none" && flaw != rule.id && large.contains(&rule.id);
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
    let target = Target::of_file(&companion.entry(), Protocol::Claude, &environment).unwrap();
    examine(target, timeouts(), helper, is_wanted)
}

#[test]
#[ignore = "in --all: checks the suite itself: cargo xtask test --all"]
fn who_keeps_every_rule_of_claude_codes_passes_them_all() {
    assert_passes_all(&report("none"), Protocol::Claude, TOKEN);
}

#[test]
#[ignore = "in --all: takes two minutes: cargo xtask test --all"]
fn who_breaks_a_rule_of_claude_codes_is_caught_by_its_row_and_by_no_other() {
    let flaws = rules(Protocol::Claude).map(|rule| rule.id);
    let flaws = flaws.chain(VARIANTS.iter().copied());
    let uncaught = uncaught(flaws, report);
    assert!(uncaught.is_empty(), "{uncaught:#?}");
}

/// The agent takes all of these.
#[test]
#[ignore = "in --all: checks the suite itself: cargo xtask test --all"]
fn who_does_it_in_another_way_passes_every_rule_of_claude_codes() {
    let ways = [
        "none/binary-ignored",
        "none/closed-silently",
        "none/deflate",
        "none/empty-rejected",
        "none/hangs-up",
        "none/pid-text",
        "none/slash",
    ];
    let unpassed = unpassed(ways, report);
    assert!(unpassed.is_empty(), "{unpassed:#?}");
}

#[test]
#[ignore = "in --all: checks the suite itself: cargo xtask test --all"]
fn every_rule_of_claude_codes_has_an_id_of_its_own_and_says_what_breaks() {
    assert_says_what_breaks(Protocol::Claude, 'K', VARIANTS);
}

/// There is no person at the editor: what needs one is skipped with the reason, and nothing fails.
#[test]
#[ignore = "in --all: checks the suite itself: cargo xtask test --all"]
fn what_nobody_does_for_claude_code_breaks_no_rule() {
    let companion = Companion::start("none");
    let report = report_of(&companion, Box::new(Absent), |_| true);
    let failed = failed(&report);
    assert!(failed.is_empty(), "{failed:#?}");
    for id in ["K5-accepted", "K9-files"] {
        assert!(skips(&report, id), "{id}");
    }
}
