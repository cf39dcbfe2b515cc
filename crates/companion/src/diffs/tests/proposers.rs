//! Whose name is shown of a program's proposal, and by whose rules it is decided.

use std::path::Path;

use pillion_changes::looking::Shown;
use pillion_changes::take_back::Present;
use pillion_changes::{FileState as State, WriteOutcome};
use pillion_protocol::{Note, Verdict};
use pillion_text::fingerprint;
use pillion_view::{By, Decide, ProposalKey, Stamp};

use super::*;
use crate::lost::Lost;
use crate::on_disk::{FileState, OnDisk};
use crate::stand_in::StandIn;

/// The programs that propose.
const PROGRAMS: [Proposer; 3] = [
    Proposer::Pillion,
    Proposer::For(Dialect::CodexCli),
    Proposer::For(Dialect::ClaudeCode),
];

/// Diff 1 on `/a`, shown: what the view got, too.
fn of_program(proposer: Proposer) -> (Machine, pillion_view::Diff) {
    let mut diffs = Machine::default();
    let proposal = Proposal {
        proposer,
        ..proposal("s", "/a", "new")
    };
    let mut actions = open(&mut diffs, proposal, "open", Instant::now());
    let Some(Action::Show(diff)) = actions.pop() else {
        panic!("{actions:?}");
    };
    diffs.shown(key(1, 1), Ok(()));
    (diffs, diff)
}

#[test]
fn views_and_lists_name_the_agent() {
    for proposer in PROGRAMS {
        let (diffs, diff) = of_program(proposer);
        assert_eq!(diff.proposer, proposer);
        let pending: Vec<_> = diffs.pending().map(|it| it.agent).collect();
        assert_eq!(pending, [proposer.name()]);
    }
}

/// A hook only ends if its agent does not wait any more; who ends a command of theirs, or answers an agent, has decided.
#[test]
fn what_a_hook_takes_back_nobody_has_decided() {
    let claude = Proposer::For(Dialect::ClaudeCode);
    for (proposer, reason) in [
        (claude, "AgentGone"),
        (Proposer::Pillion, "ClosedByAgent"),
        (Dialect::GeminiCli.into(), "ClosedByAgent"),
    ] {
        let (mut diffs, _) = of_program(proposer);
        let closed = diffs.close(&"s".into(), "/a", None, "close", Instant::now());
        assert_eq!(lines(closed), [format!("close 1 {reason}")]);
    }
}

#[test]
fn the_outcome_is_told_as_to_any_command_and_what_it_misses_is_the_agents() {
    for proposer in PROGRAMS {
        let (mut diffs, _) = of_program(proposer);
        let notes = vec![Note::on_all("why?")];
        diffs.note(DiffId(1), notes.clone(), Vec::new());
        let mut actions = diffs.resolved(key(1, 1), accepted("mine"));
        let Some(Action::Notify {
            delivery, accepted, ..
        }) = actions.pop()
        else {
            panic!("{actions:?}");
        };
        assert_eq!(delivery.notes, notes);
        assert!(accepted.is_none(), "nobody doubts that it is written");
        let lost = Lost::new(delivery).unwrap();
        assert_eq!(lost.proposer, proposer);
    }
}

/// The file when it has this fingerprint: it was not there before.
fn file_with(text: Option<&str>) -> FileState {
    let some_file = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let on_disk = OnDisk {
        leads_to: "/a".into(),
        stamp: text.and_then(|_| Stamp::of(&some_file)),
    };
    let text = text.map(str::to_owned);
    FileState { on_disk, text }
}

#[test]
fn a_hook_hears_over_which_text_it_may_write_and_a_command_which_was_shown() {
    for proposer in PROGRAMS {
        for (weighed, shown) in [
            (None, None),
            (None, Some("shown")),
            (Some("now"), None),
            (Some("now"), Some("shown")),
        ] {
            let (mut diffs, _) = of_program(proposer);
            diffs.note_file(DiffId(1), file_with(weighed));
            let outcome = Outcome::Accepted {
                content: Arc::new("new".to_owned()),
                base: shown.map(str::to_owned),
            };
            let mut actions = diffs.resolved(key(1, 1), outcome);
            let Some(Action::Notify { delivery, .. }) = actions.pop() else {
                panic!("{actions:?}");
            };
            let Outcome::Accepted { base, .. } = delivery.outcome else {
                panic!("it is accepted");
            };
            let expected = proposer.agent().and(weighed).or(shown);
            assert_eq!(base.as_deref(), expected, "{proposer:?} {weighed:?}");
        }
    }
}

/// Claude Code may refuse to write over a file that has changed. What the others write goes into the log only.
#[test]
fn the_person_hears_of_an_agent_that_may_refuse_to_write_over_a_changed_file() {
    for proposer in PROGRAMS {
        for (text, is_changed) in [(None, false), (Some("other"), true), (Some("third"), true)] {
            let (mut diffs, _) = of_program(proposer);
            diffs.note_file(DiffId(1), file_with(text));
            let mut actions = diffs.resolved(key(1, 1), accepted("new"));
            let Some(Action::Notify { accepted, .. }) = actions.pop() else {
                panic!("{actions:?}");
            };
            let is_told = is_changed && proposer.agent() == Some(Dialect::ClaudeCode);
            let accepted = accepted.map(|it| (it.proposer, it.is_told));
            assert_eq!(accepted, Some((proposer, is_told)), "{text:?}");
        }
    }
}

/// "The user rejected it" would be wrong.
#[test]
fn what_nobody_decides_is_no_rejection_for_a_hook() {
    for proposer in PROGRAMS {
        let (mut diffs, _) = of_program(proposer);
        let stopped = lines(diffs.stop());
        let (mut diffs, _) = of_program(proposer);
        let unseen = diffs.unseen(key(1, 1));
        match proposer.agent() {
            None => {
                assert_eq!(stopped, ["notify s /a Rejected"]);
                assert_eq!(unseen.map(lines), Ok(stopped));
            }
            Some(_) => {
                assert_eq!(stopped, ["close 1 Settled"]);
                assert_eq!(unseen.map(lines), Err("s".into()));
            }
        }
    }
}

/// Gemini CLI asks itself, too, in its default mode.
#[test]
fn what_was_accepted_for_a_hook_is_not_shown_again_when_its_agent_proposes_it() {
    let own = |agent: Dialect, text: &str| Proposal {
        proposer: agent.into(),
        ..proposal("own", "/a", text)
    };
    for (agent, text, is_same_file, is_shown) in [
        (Dialect::GeminiCli, "new", true, false),
        (Dialect::GeminiCli, "new\n", true, true),
        (Dialect::GeminiCli, "new", false, true),
        (Dialect::QwenCode, "new", true, true),
    ] {
        let (mut diffs, _) = of_program(Proposer::For(Dialect::GeminiCli));
        diffs.note_file(
            DiffId(1),
            file_with(if is_same_file { None } else { Some("x") }),
        );
        diffs.resolved(key(1, 1), accepted("new"));
        let opened = open(&mut diffs, own(agent, text), "open", Instant::now());
        let opened = lines(opened);
        match is_shown {
            true => assert_eq!(opened, [format!("show 2 #1 {text:?}")], "{agent} {text:?}"),
            false => {
                let answered = [
                    "open: Opened",
                    "notify own /a Accepted { content: \"new\" }",
                ];
                assert_eq!(opened, answered);
                // It counts once.
                let again = open(&mut diffs, own(agent, text), "open", Instant::now());
                assert_eq!(lines(again), ["show 3 #1 \"new\""]);
            }
        }
    }
}

/// Qwen Code closes its diff before or after its hook asks, once the person has said yes in its own window; after a no its hook asks
/// for nothing in that turn.
#[test]
fn what_was_answered_in_the_agents_own_window_is_not_shown_again_when_its_hook_proposes_it() {
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum First {
        Hook,
        Close,
        OtherTurn,
        AsksAgain,
    }
    use First::{AsksAgain, Close, Hook, OtherTurn};
    for (first, asked_in, text, is_shown) in [
        (Hook, "own", "new", false),
        (Close, "own", "new", false),
        (Hook, "own", "other", true),
        (Close, "own", "other", true),
        // The hook of another process, which has asked nothing.
        (Hook, "another", "new", true),
        (Close, "another", "new", true),
        (OtherTurn, "own", "new", true),
        (AsksAgain, "own", "new", false),
    ] {
        let mut diffs = Machine::default();
        let own = || Proposal {
            proposer: Dialect::QwenCode.into(),
            ..proposal("own", "/a", "new")
        };
        let close = |diffs: &mut Machine, id| {
            assert!(diffs.answered(&"own".into(), "/a").is_some());
            diffs.close(&"own".into(), "/a", None, "close", Instant::now());
            diffs.closed(key(id, 1), Ok("new".to_owned()));
        };
        open(&mut diffs, own(), "open", Instant::now());
        diffs.shown(key(1, 1), Ok(()));
        let mut id = 2;
        if first != Hook {
            close(&mut diffs, 1);
        }
        match first {
            OtherTurn => diffs.forget_answers(),
            AsksAgain => {
                // Its former answer was a no, then.
                open(&mut diffs, own(), "open", Instant::now());
                diffs.shown(key(2, 1), Ok(()));
                assert!(diffs.answered.is_empty());
                id = 3;
            }
            Hook | Close => {}
        }
        let hook = Proposal {
            proposer: Proposer::For(Dialect::QwenCode),
            asked_in: Some(asked_in.into()),
            ..proposal("hook", "/a", text)
        };
        let opened = lines(open(&mut diffs, hook, "hook", Instant::now()));
        let expected = match is_shown {
            true => vec![format!("show {id} #1 {text:?}")],
            false => vec![
                "hook: Opened".to_owned(),
                format!("notify hook /a Accepted {{ content: {text:?} }}"),
            ],
        };
        assert_eq!(opened, expected, "{first:?} {asked_in} {text}");
    }
}

/// The agent proposes LF for a file that it writes with CRLF, and its hook proposes what will be written: it is one change, whichever
/// comes first and wherever it is answered. What the agent gets back is as it sent it.
#[test]
fn a_change_that_a_hook_proposes_with_other_line_ends_is_the_same_change() {
    let qwen = Dialect::QwenCode;
    let of = |proposer: Proposer, session: &str, text: &str| Proposal {
        proposer,
        asked_in: proposer.itself().is_none().then(|| "own".into()),
        ..proposal(session, "/a", text)
    };
    let own = || of(qwen.into(), "own", "new\n");
    let hook = || of(Proposer::For(qwen), "hook", "new\r\n");
    let open = |diffs: &mut Machine, proposal: Proposal, caller| {
        let original = Some(b"old\r\n".to_vec());
        let mut target = Target::new(
            "/a".into(),
            Original {
                text: original,
                stamp: None,
            },
        );
        if proposal.proposer.itself().is_some() {
            target = target.with_crlf(&proposal.proposed);
        }
        let now = Instant::now();
        let Some(Action::Check(key)) = diffs.open(proposal, caller, now).pop() else {
            panic!("the target is not checked");
        };
        lines(diffs.checked(key, Ok(target), now))
    };
    let file = || FileState {
        text: Some(fingerprint::of(Some(b"old\r\n"))),
        ..file_with(None)
    };
    for is_own_first in [true, false] {
        let mut diffs = Machine::default();
        let (first, then) = match is_own_first {
            true => (own(), hook()),
            false => (hook(), own()),
        };
        assert_eq!(open(&mut diffs, first, "open"), ["show 1 #1 \"new\\r\\n\""]);
        diffs.shown(key(1, 1), Ok(()));
        diffs.note_file(DiffId(1), file());
        let decided = lines(diffs.resolved(key(1, 1), accepted("new\r\n")));
        let again = open(&mut diffs, then, "again");
        let (to_agent, to_hook) = match is_own_first {
            true => (&decided[0], &again[1]),
            false => (&again[1], &decided[0]),
        };
        assert_eq!(to_agent, "notify own /a Accepted { content: \"new\\n\" }");
        assert!(
            to_hook.starts_with("notify hook /a Accepted { content: \"new\\r\\n\""),
            "{to_hook}"
        );
    }
    let mut diffs = Machine::default();
    open(&mut diffs, own(), "open");
    diffs.shown(key(1, 1), Ok(()));
    assert!(diffs.answered(&"own".into(), "/a").is_some());
    diffs.close(&"own".into(), "/a", None, "close", Instant::now());
    let closed = lines(diffs.closed(key(1, 1), Ok("new\r\n".to_owned())));
    assert_eq!(closed, ["close: Closed(\"new\\n\")"]);
    let answered = open(&mut diffs, hook(), "hook");
    assert_eq!(answered[0], "hook: Opened");
}

/// Copilot CLI waits for the outcome in the call, and asks itself if a project has hooks for Claude Code.
#[test]
fn a_proposal_that_waits_in_its_call_is_not_shown_again_if_its_agent_only_hears_yes_or_no() {
    for (agent, is_shown) in [(Dialect::CopilotCli, false), (Dialect::ClaudeCode, true)] {
        let (mut diffs, _) = of_program(Proposer::For(agent));
        diffs.note_file(DiffId(1), file_with(None));
        diffs.resolved(key(1, 1), accepted("new"));
        let own = Proposal {
            proposer: agent.into(),
            tab: Some(Tab {
                name: "n".to_owned(),
                request: RequestId::new(json!(1)).unwrap(),
                drops_last_line_feed: false,
                question: None,
            }),
            ..proposal("own", "/a", "new")
        };
        let opened = lines(open(&mut diffs, own, "open", Instant::now()));
        let expected = r#"show 2 #1 "new""#;
        assert_eq!(
            opened.iter().any(|it| it == expected),
            is_shown,
            "{agent}: {opened:?}"
        );
    }
}

/// Qwen Code asks itself first, in its default mode, and then by its hook.
#[test]
fn what_was_accepted_for_an_agent_is_not_shown_again_when_its_hook_proposes_it() {
    let hook = |agent, text: &str| Proposal {
        proposer: Proposer::For(agent),
        ..proposal("hook", "/a", text)
    };
    for (agent, text, is_same_file, is_shown) in [
        (Dialect::QwenCode, "mine", true, false),
        (Dialect::QwenCode, "new", true, true),
        (Dialect::QwenCode, "mine", false, true),
        (Dialect::GeminiCli, "mine", true, true),
    ] {
        let mut diffs = Machine::default();
        let own = Proposal {
            proposer: Dialect::QwenCode.into(),
            ..proposal("own", "/a", "new")
        };
        open(&mut diffs, own, "open", Instant::now());
        diffs.shown(key(1, 1), Ok(()));
        let file = file_with(if is_same_file { None } else { Some("x") });
        diffs.note_file(DiffId(1), file);
        diffs.resolved(key(1, 1), accepted("mine"));
        let opened = open(&mut diffs, hook(agent, text), "open", Instant::now());
        match is_shown {
            true => assert_eq!(
                lines(opened),
                [format!("show 2 #1 {text:?}")],
                "{agent} {text:?}"
            ),
            false => {
                let answered = [
                    "open: Opened",
                    "notify hook /a Accepted { content: \"mine\" }",
                ];
                assert_eq!(lines(opened), answered);
                // It counts once.
                let again = open(&mut diffs, hook(agent, text), "open", Instant::now());
                assert_eq!(lines(again), ["show 3 #1 \"mine\""]);
            }
        }
    }
}

/// The second of two changes of a file in one answer, which its agent proposes itself once it has made the first.
#[test]
fn what_was_accepted_over_a_text_is_not_shown_again_once_the_file_has_that() {
    for (over, on_disk, is_shown) in [
        (Some("one"), Some("one"), false),
        (Some("one"), Some("other"), true),
        (None, Some("one"), true),
        (None, None, true),
    ] {
        let mut diffs = Machine::default();
        let hook = Proposal {
            proposer: Proposer::For(Dialect::CopilotCli),
            over: over.map(str::to_owned),
            ..proposal("s", "/a", "one and two")
        };
        open(&mut diffs, hook, "open", Instant::now());
        diffs.shown(key(1, 1), Ok(()));
        diffs.note_file(DiffId(1), file_with(Some("before")));
        diffs.resolved(key(1, 1), accepted("one and two"));
        let own = Proposal {
            proposer: Dialect::CopilotCli.into(),
            ..proposal("own", "/a", "one and two")
        };
        let now = Instant::now();
        diffs.open(own, "open", now);
        let target = Target {
            fingerprint: on_disk.map(str::to_owned),
            ..target("/a")
        };
        let opened = lines(diffs.checked(key(2, 1), Ok(target), now));
        let shown = r#"show 2 #1 "one and two""#;
        let is_it = opened.iter().any(|it| it == shown);
        assert_eq!(is_it, is_shown, "{over:?} {on_disk:?}: {opened:?}");
    }
}

#[test]
fn a_later_proposal_is_older_than_what_the_agent_has_not_written_yet() {
    // Of one that is made over that text, it is known that it is in there.
    let over = |text: &str| Some(fingerprint::of(Some(text.as_bytes())));
    let cases = [(None, true), (over("new"), false), (over("other"), true)];
    let cases = PROGRAMS
        .into_iter()
        .flat_map(|it| cases.clone().map(|case| (it, case)));
    for (proposer, (over, is_older)) in cases {
        let (mut diffs, _) = of_program(proposer);
        diffs.note_file(DiffId(1), file_with(None));
        diffs.resolved(key(1, 1), accepted("new"));
        let other = Proposal {
            over,
            ..proposal("other", "/a", "x")
        };
        open(&mut diffs, other, "open", Instant::now());
        let decide = Decide {
            key: ProposalKey {
                id: DiffId(2),
                revision: 1,
            },
            verdict: Verdict::accept(None),
            by: By::View,
            base: None,
        };
        let decide = Arc::new(decide);
        let acceptance = diffs.acceptance(&decide, &Arc::from([]));
        let older = is_older.then_some((None, proposer));
        assert_eq!(acceptance.unwrap().unwritten, Vec::from_iter(older));
        // Whatever came of it, nothing is awaited any more.
        let why = "it was not".to_owned();
        let outcomes = [WriteOutcome::NotWritten { why }, WriteOutcome::Written];
        for outcome in outcomes {
            diffs.came_of(DiffId(1), &outcome);
            let acceptance = diffs.acceptance(&decide, &Arc::from([]));
            assert_eq!(acceptance.unwrap().unwritten, []);
        }
    }
}

/// A text that is written already is nobody's to write: it settles nothing that an agent proposes, and makes nothing older.
#[test]
fn a_look_at_what_is_written_says_nothing_of_later_proposals() {
    let look = |agent| {
        let mut diffs = Machine::default();
        let proposal = Proposal {
            proposer: Proposer::For(agent),
            stand_in: Some(Arc::new(StandIn::Written(
                Arc::new(Shown {
                    name: "7.2".parse().unwrap(),
                    path: "/a".into(),
                    present: Present {
                        before: Some(b"old".to_vec()),
                        now: Some(b"new".to_vec()),
                        changed_since: 0,
                        changed_at: String::new(),
                        is_link: false,
                    },
                    now: "new".to_owned(),
                    after: State::Absent,
                    is_unclear: false,
                    mode: None,
                    link: None,
                    from: None,
                }),
                true,
            ))),
            ..proposal("s", "/a", "new")
        };
        open(&mut diffs, proposal, "open", Instant::now());
        diffs.shown(key(1, 1), Ok(()));
        diffs.note_file(DiffId(1), file_with(None));
        let mut actions = diffs.resolved(key(1, 1), accepted("new"));
        let Some(Action::Notify { accepted, .. }) = actions.pop() else {
            panic!("{actions:?}");
        };
        assert!(accepted.is_none(), "no agent is to write it");
        diffs
    };
    for agent in [Dialect::ClaudeCode, Dialect::GeminiCli, Dialect::CodexCli] {
        for text in ["new", "newer"] {
            let mut diffs = look(agent);
            let own = Proposal {
                proposer: agent.into(),
                ..proposal("own", "/a", text)
            };
            let opened = lines(open(&mut diffs, own, "open", Instant::now()));
            assert_eq!(opened, [format!("show 2 #1 {text:?}")], "{agent}");
            let decide = Decide {
                key: ProposalKey {
                    id: DiffId(2),
                    revision: 1,
                },
                verdict: Verdict::accept(None),
                by: By::View,
                base: None,
            };
            let acceptance = diffs.acceptance(&Arc::new(decide), &Arc::from([]));
            assert_eq!(acceptance.unwrap().unwritten, [], "{agent}");
        }
    }
}
