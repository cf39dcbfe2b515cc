//! Companions that are not seen whole, judged.

use pillion_agent::find::Stale;
use pillion_discovery::survey::Liveness;
use pillion_protocol::discovery::{Namespaces, Publisher};

use super::*;

const CLAUDE: Dialect = Dialect::ClaudeCode;
const QWEN: Dialect = Dialect::QwenCode;

/// An agent that dials a companion which lies so to it; its files say that they were written in a container with
/// other processes, if `says` is.
fn facts(agent: Dialect, liveness: Liveness, says: bool, outcome: Outcome) -> Facts {
    let version = Release::newest(agent).version;
    let mut facts = beside(agent, version, &[Host::Loopback], outcome);
    let companion = &mut facts.survey.companions[0];
    companion.liveness = liveness;
    let own = pillion_discovery::namespaces::here();
    let other = own.map(|own| Namespaces { pid: 1, ..own });
    companion.files[0].content.pillion = says.then(|| Publisher {
        namespaces: other,
        ..Publisher::from(7)
    });
    facts
}

fn problems(facts: &Facts) -> Vec<&'static str> {
    let ids = ids(facts).into_iter();
    let problems = ids.filter(|(id, level)| *level == Level::Problem && *id != "ide-mode-off");
    problems.map(|(id, _)| id).collect()
}

/// Whatever is found, no command removes what may live.
fn expect_nothing_removed(facts: &Facts) {
    for finding in judge(facts) {
        let fix = finding.fix.unwrap_or_default();
        assert!(!fix.contains("rm "), "{fix}");
    }
}

#[test]
fn what_is_out_of_reach_is_never_removed() {
    for agent in [CLAUDE, QWEN, GEMINI] {
        let facts = facts(agent, Liveness::OutOfReach, true, Outcome::Unreachable);
        assert_eq!(problems(&facts), ["other-container"], "{agent}");
        expect_nothing_removed(&facts);
    }
}

#[test]
fn who_is_in_doubt_is_never_removed_and_who_is_not_is() {
    for liveness in [Liveness::ProcessGone, Liveness::NobodyListens] {
        for agent in [CLAUDE, QWEN, GEMINI] {
            let mut facts = facts(agent, liveness, false, Outcome::Unreachable);
            facts.doubtful = vec![PORT];
            assert_eq!(problems(&facts), ["other-container"], "{agent}");
            expect_nothing_removed(&facts);
            facts.doubtful.clear();
            assert!(problems(&facts).contains(&"dead-companion"), "{agent}");
        }
    }
    let mut facts = facts(GEMINI, Liveness::ProcessGone, false, Outcome::Silent);
    facts.doubtful = vec![PORT];
    assert!(problems(&facts).contains(&"no-answer"));
    expect_nothing_removed(&facts);
}

/// Each agent goes its own way with a process that it does not see.
#[test]
fn a_companion_with_unseen_processes_is_what_the_agent_makes_of_it() {
    let connects = || connected(true, true);
    let claude = facts(CLAUDE, Liveness::Alive, true, connects());
    assert_eq!(problems(&claude), [""; 0]);
    assert!(ids(&claude).contains(&("other-container", Level::Note)));
    let gemini = facts(GEMINI, Liveness::Alive, true, connects());
    assert_eq!(ids(&gemini), []);
    let mut qwen = facts(QWEN, Liveness::Alive, true, Outcome::Unreachable);
    qwen.search.candidates[0].verdict = Verdict::Stale(Stale::ProcessGone);
    qwen.search.refusal = Some(Refusal::NoCompanion);
    qwen.search.dials.clear();
    qwen.dialled.clear();
    assert_eq!(problems(&qwen), ["other-container"]);
    expect_nothing_removed(&qwen);
    let told = judge(&qwen);
    assert!(
        told.iter().any(|it| it.why.contains("`--pid host`")),
        "{told:?}"
    );
}
