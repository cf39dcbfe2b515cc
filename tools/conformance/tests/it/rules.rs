//! A companion that keeps every rule passes them all; one that breaks a rule is caught by the row
//! of that rule, and by no other.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use companion_conformance::{
    Help, Helper, Protocol, Report, Rule, Step, Target, Timeouts, Verdict, rules,
};
use pillion_discovery::Environment;

use crate::companion::{Companion, Shared, TOKEN};
use crate::examined::{self, assert_passes_all, examine, failed, moves, own_ids, skips};
use crate::flaws::{is_examined, uncaught, unpassed};

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
const VARIANTS: &[&str] = &[
    "C1.1-events/outcome",
    "C1.1-host-foreign/prefix",
    "C1.1-id/number",
    "C1.1-origin-foreign/prefix",
    "C1.1-ping/none",
    "C1.4-context/moves",
    "C1.4-leaving/sessions",
    "C1.4-leaving/silent",
    "C1.4-two/first-only",
    "C1.4-two/one-server",
    "C2.1-file/all",
    "C2.1-file/other",
    "C2.1-file/pipe",
    "C2.2-gemini/folder",
    "C2.2-gemini/other-folder",
    "C2.2-gemini/tmpdir",
    "C2.2-lock-ppid/text",
    "C2.2-lock/folder",
    "C2.2-name/letters",
    "C2.2-name/lock",
    "C2.2-name/short",
    "C2.2-qwen/folder",
    "C2.3-port/swapped",
    "C2.4-authToken/number",
    "C2.4-ideInfo/empty",
    "C2.4-ideName/empty",
    "C2.4-json/array",
    "C2.4-json/mark",
    "C2.4-port/zero",
    "C2.5-absolute/uri",
    "C2.5-atomic/gone",
    "C2.5-atomic/half",
    "C2.5-separator/array",
    "C2.5-separator/later",
    "C3.3-delete-truncated/end",
    "C3.3-get-extended/end",
    "C3.3-get-wrong/half",
    "C3.3-post-none/empty",
    "C3.3-post-none/tells",
    "C3.3-post-scheme/basic",
    "C3.3-post-wrong/half",
    "C4.2-debounce/5ms",
    "C4.2-debounce/slow-command",
    "C4.3-listed/empty",
    "C4.3-listed/no-files",
    "C4.3-moved/inactive",
    "C4.3-path/uri",
    "C4.3-shape/active",
    "C4.3-shape/cursor",
    "C4.3-shape/null",
    "C4.3-shape/request",
    "C4.4-exists/folder",
    "C4.5-timestamp/microseconds",
    "C4.6-active/stays",
    "C4.6-details/cursor",
    "C4.8-newest/equal",
    "C5.1-replace/rejected",
    "C5.2-failure/no-text",
    "C5.2-open/early",
    "C5.2-open/hangs",
    "C5.2-open/slow",
    "C5.5-alike/case",
    "C5.5-alike/close",
    "C5.5-alike/folder",
    "C5.5-alike/longer",
    "C5.5-alike/opened-case",
    "C5.5-alike/pattern",
    "C5.5-alike/prefix",
    "C5.5-alike/prefix-last",
    "C5.5-markup/entities",
    "C5.5-markup/escapes",
    "C5.5-markup/percent",
    "C5.5-odd-path/close",
    "C5.5-several/close",
    "C5.5-several/last",
    "C5.5-several/text",
    "C5.5-shape/array",
    "C5.5-shape/no-content",
    "C5.5-shape/two-blocks",
    "C5.5-unknown/empty",
    "C5.6-bytes/bom",
    "C5.6-bytes/cr",
    "C5.6-bytes/crlf",
    "C5.6-bytes/long",
    "C5.6-bytes/lossy",
    "C5.6-bytes/nul",
    "C5.6-bytes/nul-ends",
    "C5.6-bytes/spaces",
    "C5.6-sent/nothing",
    "C5.6-sent/request",
    "C5.7-sent/nothing",
    "C5.8-accepted/composed",
    "C5.8-accepted/escaped",
    "C5.8-rejected/uri",
    "C5.9-writes/always",
    "C5.9-writes/closed",
    "C5.9-writes/open",
    "C5.9-writes/rejected",
    "C6.2-files/lock",
    "C6.2-port/streams",
];

/// Longer than a debounce: moves at this pace are not merged by anybody.
const SLOW: Duration = Duration::from_millis(150);

struct Reviewer {
    companion: Arc<Shared>,
    /// The time that each command takes that moves the cursor.
    slowness: Duration,
    /// True if the editor decides, so that nobody else does.
    is_absent: bool,
}

impl Helper for Reviewer {
    fn help<'a>(&'a self, step: &'a Step) -> Pin<Box<dyn Future<Output = Help> + 'a>> {
        Box::pin(self.step(step))
    }
}

impl Reviewer {
    async fn step(&self, step: &Step) -> Help {
        let companion = &self.companion;
        match step {
            Step::Accept(_) | Step::Reject(_) if self.is_absent => {
                return Help::Nobody("the editor decides".to_owned());
            }
            Step::Accept(file) => companion.settle(file, true),
            Step::Reject(file) => companion.settle(file, false),
            Step::Move { file, lines } => {
                for line in 1..=*lines {
                    companion.move_cursor(file, line);
                    tokio::time::sleep(self.slowness).await;
                }
            }
            Step::Burst { .. } | Step::Visit(_) => {
                moves(step, |file, line| companion.move_cursor(file, line)).await;
            }
            Step::Stop => companion.stop(),
            Step::AcceptAgain(_)
            | Step::AcceptEdited(_)
            | Step::Close(_)
            | Step::Mention { .. } => {
                return Help::Nobody("no rule of this protocol is about it".to_owned());
            }
        }
        Help::Done
    }
}

fn timeouts(flaw: &str) -> Timeouts {
    let short = Duration::from_millis(300);
    let long = Duration::from_secs(2);
    let is_none = flaw.split('/').next() == Some("none");
    let idle = match is_none || flaw == "C1.1-stream-stays" {
        true => long,
        false => short,
    };
    // A companion on a busy machine may be silent for a moment.
    let silence = match flaw {
        "C1.1-stream-alive" => short,
        _ => long,
    };
    Timeouts {
        answer: Duration::from_secs(3),
        prompt: Duration::from_secs(1),
        quiet: Duration::from_millis(300),
        idle,
        silence,
        restore: short,
        help: Duration::from_secs(10),
    }
}

fn report(flaw: &'static str) -> Report {
    let is_slow = flaw.ends_with("/slow-command");
    report_with(flaw, if is_slow { SLOW } else { Duration::ZERO })
}

fn report_with(flaw: &'static str, slowness: Duration) -> Report {
    // Large texts take a debug build long, and only who spoils texts could spoil them.
    let large = ["C5.5-long-line", "C5.5-1mb", "C5.5-5mb"];
    let is_large = |rule: &Rule| flaw != "none" && flaw != rule.id && large.contains(&rule.id);
    report_of(flaw, slowness, |rule| {
        is_examined(flaw, rule.id) && !is_large(rule)
    })
}

fn report_of(flaw: &'static str, slowness: Duration, is_wanted: impl Fn(&Rule) -> bool) -> Report {
    let companion = Companion::start(flaw);
    let environment = Environment::from_pairs(companion.environment());
    let target = Target::of_file(companion.entry(), Protocol::Companion, &environment).unwrap();
    let helper = Box::new(Reviewer {
        companion: Arc::clone(&companion.shared),
        slowness,
        is_absent: flaw.starts_with("none/accepts-itself"),
    });
    let report = examine(target, timeouts(flaw), helper, is_wanted);
    assert_eq!(companion.left(), [] as [PathBuf; 0], "{flaw}");
    report
}

#[test]
#[ignore = "in --all: checks the suite itself: cargo xtask test --all"]
fn who_keeps_every_rule_passes_them_all() {
    assert_passes_all(&report("none"), Protocol::Companion, TOKEN);
}

#[test]
#[ignore = "in --all: takes two minutes: cargo xtask test --all"]
fn who_breaks_a_rule_is_caught_by_its_row_and_by_no_other() {
    let is_breakable = |id: &&str| !UNBREAKABLE.iter().any(|(other, _)| other == id);
    let flaws = rules(Protocol::Companion)
        .map(|rule| rule.id)
        .filter(is_breakable);
    let flaws = flaws.chain(VARIANTS.iter().copied());
    let uncaught = uncaught(flaws, report);
    assert!(uncaught.is_empty(), "{uncaught:#?}");
}

/// The contract names no status for a refusal.
#[test]
#[ignore = "in --all: checks the suite itself: cargo xtask test --all"]
fn who_refuses_in_another_way_passes_every_rule() {
    let ways = [
        "none/hangs-up",
        "none/hangs-up-elsewhere",
        "none/not-found",
        "none/in-words",
    ];
    let unpassed = unpassed(ways, report);
    assert!(unpassed.is_empty(), "{unpassed:#?}");
}

#[test]
#[ignore = "in --all: checks the suite itself: cargo xtask test --all"]
fn an_editor_that_accepts_by_itself_breaks_nothing() {
    for way in ["none/accepts-itself", "none/accepts-itself/later"] {
        let report = report(way);
        let failed = failed(&report);
        assert!(failed.is_empty(), "{way}: {failed:#?}");
        assert!(!skips(&report, "C1.4-leaving"), "{way}");
    }
}

/// With one row alone, what blocks it is reported, with an exit code for that.
#[test]
#[ignore = "in --all: checks the suite itself: cargo xtask test --all"]
fn a_row_is_hidden_only_by_a_broken_one_of_the_same_report() {
    let row = |flaw, wanted: &'static [&'static str]| {
        let report = report_of(flaw, Duration::ZERO, |rule| wanted.contains(&rule.id));
        let mut rows = report.rows.into_iter();
        rows.find(|row| row.rule.id == wanted[0]).unwrap()
    };
    let both = row("C5.5-shape", &["C5.5-bom", "C5.5-shape"]);
    let is_hidden = both.verdict == Verdict::Skip && both.detail.ends_with("; see C5.5-shape");
    assert!(is_hidden, "{both:?}");
    let alone = row("C5.5-shape", &["C5.5-bom"]);
    assert_eq!(alone.verdict, Verdict::Fail, "{alone:?}");
    let kept = row("C5.5-odd-path/close", &["C5.5-odd-path", "C5.5-shape"]);
    assert_eq!(kept.verdict, Verdict::Fail, "{kept:?}");
}

#[test]
#[ignore = "in --all: checks the suite itself: cargo xtask test --all"]
fn every_rule_has_an_id_of_its_own_that_names_the_contract() {
    let ids = own_ids(Protocol::Companion, 'C');
    for (id, _) in UNBREAKABLE {
        assert!(ids.contains(&id), "{id}");
    }
}

#[test]
#[ignore = "in --all: checks the suite itself: cargo xtask test --all"]
fn who_leaves_out_what_may_be_left_out_breaks_nothing() {
    let report = report("C1.1-origin-own");
    let failed = failed(&report);
    assert!(failed.is_empty(), "{failed:#?}");
    assert!(skips(&report, "C1.1-origin-own"));
}

#[test]
#[ignore = "in --all: checks the suite itself: cargo xtask test --all"]
fn a_companion_that_sends_no_context_breaks_nothing() {
    let report = report("C4.1-sent");
    let failed = failed(&report);
    assert!(failed.is_empty(), "{failed:#?}");
    assert!(skips(&report, "C4.1-sent") && skips(&report, "C4.3-shape"));
}

#[test]
#[ignore = "in --all: checks the suite itself: cargo xtask test --all"]
fn a_slow_command_hides_no_debounce() {
    let report = report_with("none", SLOW);
    let unpassed = examined::unpassed(&report);
    assert!(unpassed.is_empty(), "{unpassed:#?}");
}

#[test]
#[ignore = "in --all: checks the suite itself: cargo xtask test --all"]
fn trust_that_is_sent_is_shown_to_who_can_judge_it() {
    let report = report("C4.9-trusted");
    let failed = failed(&report);
    assert!(failed.is_empty(), "{failed:#?}");
    let mut rows = report.rows.iter();
    let row = rows.find(|row| row.rule.id == "C4.9-trusted").unwrap();
    let is_told = row.verdict == Verdict::Skip && row.detail.contains("it is sent: true");
    assert!(is_told, "{row:?}");
}
