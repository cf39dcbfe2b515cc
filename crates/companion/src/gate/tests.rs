//! The decisions that count, as a table: the drivers of the views run the same cases.

use std::borrow::Cow;
use std::path::Path;

use pillion_protocol::{Dialect, Proposer};
use pillion_view::DiffId;

use pillion_protocol::runs_code::Runner;
use pillion_protocol::{Outcome, Verdict};
use pillion_view::decision::*;

use super::*;

/// A person at a view, and their clock.
struct Scene {
    gate: Gate,
    now: Instant,
    drawn: Option<Instant>,
    key: ProposalKey,
}

impl Scene {
    fn new() -> Self {
        let now = Instant::now();
        Self {
            gate: Gate::default(),
            now,
            drawn: Some(now),
            key: ProposalKey {
                id: DiffId(1),
                revision: 1,
            },
        }
    }

    fn wait(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
    }

    /// Returns the outcome of a decision: the code of its refusal, or nothing.
    fn decide(&mut self) -> Cow<'static, str> {
        let drawn_for = self.drawn.map(|at| self.now - at);
        let seen = drawn_for.map_or(
            Seen {
                drawn_for,
                ..Seen::typed(LOOK)
            },
            Seen::typed,
        );
        self.decide_as(Some(seen))
    }

    fn decide_as(&mut self, seen: Option<Seen>) -> Cow<'static, str> {
        let decide = Decide {
            key: self.key,
            verdict: Verdict::accept(None),
            by: seen.into(),
            base: None,
        };
        code(self.gate.look(&decide, self.now))
    }

    fn ask(&mut self, text: &str, doubts: &[Doubt]) -> Cow<'static, str> {
        self.ask_by(By::View, text, doubts)
    }

    fn ask_by(&mut self, by: By, text: &str, doubts: &[Doubt]) -> Cow<'static, str> {
        let decide = Decide {
            by,
            ..Decide::blind(self.key, Outcome::Rejected)
        };
        code(self.gate.ask(&decide, text, doubts.to_vec(), self.now))
    }
}

fn code(result: Result<(), Refusal>) -> Cow<'static, str> {
    result.map_or_else(|refusal| refusal.code, |()| "".into())
}

/// A command that is repeated answers any question but the one whether the person knows the file.
#[test]
fn a_command_accepts_over_a_changed_file_only_if_it_says_so() {
    let changed = || Doubt::FileChanged(Dialect::GeminiCli.into());
    for (despite_change, doubts, first, repeated) in [
        (false, &[][..], "", ""),
        (false, &[changed()][..], FILE_CHANGED, FILE_CHANGED),
        (
            false,
            &[Doubt::Outside, changed()],
            FILE_CHANGED,
            FILE_CHANGED,
        ),
        (false, &[Doubt::Outside], "outsideWorkspace", ""),
        (true, &[changed()][..], "", ""),
        (true, &[changed(), Doubt::Outside], "outsideWorkspace", ""),
    ] {
        let mut scene = Scene::new();
        let by = || By::Named { despite_change };
        assert_eq!(scene.ask_by(by(), "x", doubts), first, "{doubts:?}");
        scene.now += LOOK;
        assert_eq!(scene.ask_by(by(), "x", doubts), repeated, "{doubts:?}");
    }
}

#[test]
fn a_question_that_is_answered_too_soon_says_so_and_waits_no_longer() {
    for interval in [150, 300, 400, 650] {
        let mut scene = Scene::new();
        let mut ask = |now| {
            let by = By::Named {
                despite_change: false,
            };
            let decide = Decide {
                by,
                ..Decide::blind(scene.key, Outcome::Rejected)
            };
            scene.gate.ask(&decide, "x", vec![Doubt::Outside], now)
        };
        let first = ask(scene.now).unwrap_err().message;
        assert!(!first.ends_with(TOO_EARLY), "{first}");
        let start = scene.now;
        let mut repeats = (1..).map(|count| Duration::from_millis(interval) * count);
        for after in repeats.by_ref().take_while(|after| *after < LOOK) {
            let again = ask(start + after).unwrap_err().message;
            assert_eq!(again, first.clone() + TOO_EARLY, "{interval}");
        }
        assert_eq!(ask(start + LOOK), Ok(()), "{interval}");
    }
}

#[test]
fn nothing_counts_before_it_was_on_the_screen_for_a_while() {
    for (drawn_ms, expected) in [
        (None, "notSeen"),
        (Some(0), "tooSoon"),
        (Some(699), "tooSoon"),
        (Some(700), ""),
    ] {
        let mut scene = Scene::new();
        let drawn_for = drawn_ms.map(Duration::from_millis);
        let seen = Seen {
            drawn_for,
            ..Seen::typed(LOOK)
        };
        assert_eq!(scene.decide_as(Some(seen)), expected, "{drawn_ms:?}");
    }
}

#[test]
fn what_was_not_typed_decides_nothing_however_long_it_was_there() {
    let seen = Seen {
        is_typed: false,
        ..Seen::typed(LOOK * 100)
    };
    assert_eq!(Scene::new().decide_as(Some(seen)), "notTyped");
}

#[test]
fn a_view_that_cannot_know_is_believed() {
    assert_eq!(Scene::new().decide_as(None), "");
}

#[test]
fn a_refused_decision_does_not_start_the_wait_anew() {
    for interval in [150, 300, 400, 650] {
        let mut scene = Scene::new();
        let mut accepted = false;
        while scene.now - scene.drawn.unwrap() < LOOK {
            accepted = scene.decide().is_empty();
            scene.wait(interval);
        }
        assert!(!accepted, "not before its time");
        assert_eq!(scene.decide(), "", "every {interval} ms");
    }
}

#[test]
fn a_held_key_decides_nothing_however_often_it_repeats() {
    for (first, interval) in [(200, 10), (250, 33), (500, 30), (660, 100)] {
        let mut scene = Scene::new();
        scene.wait(700);
        assert_eq!(scene.decide(), "", "the first press");
        // The next proposal is drawn a frame later; the key goes on repeating.
        scene.wait(16);
        scene.drawn = Some(scene.now);
        scene.key.id.0 += 1;
        scene.wait(first);
        for _ in 0..300 {
            assert_ne!(scene.decide(), "", "{first} {interval}");
            scene.wait(interval);
        }
        scene.wait(700);
        assert_eq!(scene.decide(), "", "released and pressed again");
    }
}

#[test]
fn a_held_key_decides_nothing_where_its_repeats_come_late_and_in_bursts() {
    for (repeats, stall) in [(2, 150), (3, 400), (20, 699)] {
        let mut scene = Scene::new();
        for _ in 0..10 {
            for _ in 0..repeats {
                assert_ne!(scene.decide(), "", "{repeats} and {stall} ms");
                scene.wait(5);
            }
            scene.wait(stall - 5);
        }
        scene.wait(700 - stall);
        assert_eq!(scene.decide(), "", "released and pressed again");
    }
}

/// A key that types a command repeats more slowly than one that is held down.
#[test]
fn what_comes_after_a_decision_is_decided_after_a_pause() {
    for interval in [130, 299, 300, 500, 900] {
        let mut scene = Scene::new();
        scene.wait(700);
        assert_eq!(scene.decide(), "");
        scene.key.id.0 += 1;
        scene.drawn = Some(scene.now + Duration::from_millis(50));
        let mut decided = false;
        for _ in 0..20 {
            scene.wait(interval);
            decided |= scene.decide().is_empty();
        }
        assert_eq!(decided, interval >= 300, "every {interval} ms");
        scene.wait(700);
        assert_eq!(scene.decide(), "", "every {interval} ms");
    }
    // It was on the screen beside the first one.
    let mut scene = Scene::new();
    scene.wait(700);
    assert_eq!(scene.decide(), "");
    scene.key.id.0 += 1;
    scene.wait(200);
    assert_eq!(scene.decide(), "");
}

/// A view sends only what is typed once the last decision has been answered, and that takes long.
#[test]
fn a_held_key_decides_nothing_however_late_answers_come() {
    for (repeat, answer) in [(33, 130), (20, 400), (100, 650)] {
        let mut scene = Scene::new();
        scene.wait(700);
        let repeats = answer / repeat + 1;
        for round in 0..10 {
            let pauses = [Duration::from_millis(repeat)].repeat(repeats as usize);
            let seen = Seen {
                pauses,
                ..Seen::typed(scene.now - scene.drawn.unwrap())
            };
            // The first has just been pressed.
            if round > 0 {
                assert_eq!(scene.decide_as(Some(seen)), "held", "{repeat} {answer}");
            }
            scene.wait(repeat * repeats);
        }
    }
}

#[test]
fn who_typed_again_while_an_answer_was_awaited_decides_once_they_let_go() {
    for (pauses, expected) in [
        (vec![30, 30, 700], ""),
        (vec![30, 30, 699], "held"),
        (vec![30, 800, 119], "held"),
        (vec![120], ""),
        (vec![], ""),
    ] {
        let mut scene = Scene::new();
        let pauses = pauses.iter().copied().map(Duration::from_millis).collect();
        let seen = Seen {
            pauses,
            ..Seen::typed(LOOK)
        };
        assert_eq!(scene.decide_as(Some(seen.clone())), expected, "{seen:?}");
    }
}

#[test]
fn a_doubt_is_asked_once_and_its_answer_counts_once_it_was_read() {
    let unseen = |hunks| Doubt::Unseen(Unseen { hunks, of: 40 });
    let mut scene = Scene::new();
    assert_eq!(scene.ask("x", &[]), "", "nothing is doubted");
    assert_eq!(scene.ask("x", &[unseen(35)]), "unseenHunks");
    scene.wait(699);
    assert_eq!(scene.ask("x", &[unseen(35)]), "unseenHunks", "not read yet");
    scene.wait(1);
    assert_eq!(
        scene.ask("x", &[unseen(20)]),
        "",
        "fewer than were asked about"
    );
}

#[test]
fn an_answer_is_about_the_same_text_the_same_proposal_and_the_same_doubts() {
    let unseen = Doubt::Unseen(Unseen { hunks: 3, of: 4 });
    let ask = |then: &dyn Fn(&mut Scene) -> Cow<'static, str>| {
        let mut scene = Scene::new();
        scene.ask("x", std::slice::from_ref(&unseen));
        scene.wait(5_000);
        then(&mut scene)
    };
    assert_eq!(
        ask(&|scene| scene.ask("x", std::slice::from_ref(&unseen))),
        ""
    );
    assert_eq!(
        ask(&|scene| scene.ask("y", std::slice::from_ref(&unseen))),
        "unseenHunks"
    );
    assert_eq!(
        ask(&|scene| scene.ask("x", &[Doubt::FileChanged(Dialect::GeminiCli.into())])),
        "fileChanged"
    );
    let both = [
        Doubt::FileChanged(Dialect::GeminiCli.into()),
        unseen.clone(),
    ];
    assert_eq!(
        ask(&|scene| scene.ask("x", &both)),
        "fileChanged",
        "one more"
    );
    let more = Doubt::Unseen(Unseen { hunks: 4, of: 4 });
    assert_eq!(
        ask(&|scene| scene.ask("x", std::slice::from_ref(&more))),
        "unseenHunks"
    );
    let newer = |scene: &mut Scene| {
        scene.key.revision += 1;
        scene.ask("x", std::slice::from_ref(&unseen))
    };
    assert_eq!(ask(&newer), "unseenHunks");
}

/// `pillion accept A; pillion accept B`, again and again.
#[test]
fn a_question_stands_until_its_proposal_is_over_whatever_is_asked_about_others() {
    let mut scene = Scene::new();
    let mut ask = |id, revision, is_first: bool| {
        scene.wait(700);
        scene.key = ProposalKey {
            id: DiffId(id),
            revision,
        };
        let code = scene.ask("x", &[Doubt::Outside]);
        assert_eq!(code.is_empty(), !is_first, "{id}.{revision}");
        let over = DiffId(3);
        scene.gate.forget_others(|key| key.id != over);
        scene.gate.asked.len()
    };
    assert_eq!(ask(1, 1, true), 1);
    assert_eq!(ask(2, 1, true), 2);
    assert_eq!(ask(1, 1, false), 2);
    assert_eq!(ask(2, 1, false), 2);
    assert_eq!(ask(2, 2, true), 2, "a newer proposal");
    assert_eq!(ask(3, 1, true), 2, "it is over");
}

#[path = "../../tests/shared/doubts.rs"]
mod doubts;

/// The drivers of the views run the same rows.
#[test]
fn every_row_of_the_table_raises_its_doubt_alone() {
    for row in doubts::doubted() {
        let path = row.path(Path::new("/h/w"));
        let on_disk = row.meanwhile.unwrap_or(&row.before).as_bytes();
        let doubts = weigh(Weighed {
            path: &path,
            runner: Runner::of(&path),
            roots: &["/h/w".into()],
            has_other_names: row.has_other_name,
            unseen: row.is_long.then_some(Unseen { hunks: 38, of: 39 }),
            has_changed: row.meanwhile.is_some(),
            on_disk: Some(on_disk),
            ..plain(Some(row.before.as_bytes()), &row.proposed)
        });
        let codes: Vec<_> = doubts.iter().map(Doubt::code).collect();
        assert_eq!(codes, [row.code]);
        let question = question(&doubts, true).message;
        assert!(question.contains(row.question), "{question}");
        let hunks = pillion_text::hunks::between(
            &pillion_text::Text::new(row.before.as_str()),
            &pillion_text::Text::new(row.proposed.as_str()),
        );
        assert_eq!(row.is_long, hunks.len() == 39, "{}", row.code);
    }
}

/// An acceptance of `accepted` for a file with `before`.
fn weighed(before: Option<&[u8]>, accepted: &str) -> Vec<Doubt> {
    weigh(plain(before, accepted))
}

fn plain<'a>(before: Option<&'a [u8]>, accepted: &'a str) -> Weighed<'a> {
    Weighed {
        is_of_hook: false,
        is_inexpressible: false,
        has_other_names: false,
        is_asked: false,
        proposer: Dialect::GeminiCli.into(),
        path: Path::new("/w/a.txt"),
        runner: None,
        deletes: false,
        roots: &[],
        proposed: accepted,
        accepted,
        unseen: None,
        against: Against::default(),
        has_changed: false,
        base: None,
        on_disk: before,
        original: before.map(Cow::from),
        unwritten: None,
    }
}

fn lines(range: std::ops::Range<usize>) -> String {
    range.map(|line| format!("line {line}\n")).collect()
}

#[test]
fn an_ordinary_change_raises_no_doubt() {
    for (before, accepted) in [
        (Some("a\n"), "b\n"),
        (None, "new\n"),
        (Some(""), "x"),
        (Some("caf\u{e9}\n"), "caf\u{e9}s\n"),
        (Some("\u{fffd}\n"), "a \u{fffd}\n"),
    ] {
        let doubts = weighed(before.map(str::as_bytes), accepted);
        assert_eq!(doubts, [], "{before:?} {accepted:?}");
    }
}

#[test]
fn lines_that_lose_their_characters_are_counted() {
    for (before, accepted, expected) in [
        (&b"caf\xe9\nx\n"[..], "caf\u{fffd}\nx\n", 1),
        (b"\x83\x65\n\x83\x58\nx\n", "\u{fffd}e\n\u{fffd}X\nx\n", 2),
        (
            "caf\u{e9}\nna\u{ef}ve\n".as_bytes(),
            "caf\u{fffd}\nna\u{fffd}ve\n",
            2,
        ),
        (
            "\u{fffd}\ncaf\u{e9}\n".as_bytes(),
            "\u{fffd}!\ncaf\u{fffd}\n",
            1,
        ),
    ] {
        assert_eq!(
            weighed(Some(before), accepted),
            [Doubt::Unreadable(expected)],
            "{accepted:?}"
        );
    }
}

#[test]
fn deleting_most_of_a_file_is_doubted() {
    let file = lines(0..2000);
    let deleted = |accepted: &str| weighed(Some(file.as_bytes()), accepted);
    assert_eq!(
        deleted(&lines(0..40)),
        [Doubt::Deleted {
            lines: 1960,
            of: 2000
        }]
    );
    assert_eq!(deleted(&lines(0..1200)), []);
    assert_eq!(deleted(&lines(3000..5000)), [], "rewritten, not deleted");
    let short = lines(0..10);
    assert_eq!(weighed(Some(short.as_bytes()), "line 1\n"), []);
}

#[test]
fn what_the_agent_would_not_write_is_doubted() {
    let by = |proposer, before: Option<&'static str>, accepted: &'static str| {
        weigh(Weighed {
            proposer,
            proposed: "proposed\n",
            ..plain(before.map(str::as_bytes), accepted)
        })
    };
    let (claude, gemini) = (
        Proposer::Agent(Dialect::ClaudeCode),
        Proposer::Agent(Dialect::GeminiCli),
    );
    assert_eq!(by(gemini, Some("a\n"), ""), [Doubt::IgnoresEmpty(gemini)]);
    assert_eq!(
        by(claude, Some("a\n"), "a\n"),
        [Doubt::TakenForRejection(claude)]
    );
    assert_eq!(by(claude, None, ""), [Doubt::TakenForRejection(claude)]);
    // Its own question can be answered instead, which says what is meant.
    for (before, expected) in [
        (None, vec![]),
        (Some(&b""[..]), vec![Doubt::TakenForRejection(claude)]),
    ] {
        let asked = weigh(Weighed {
            proposer: claude,
            is_asked: true,
            ..plain(before, "")
        });
        assert_eq!(asked, expected, "{before:?}");
    }
    assert_eq!(by(gemini, Some("a\n"), "a\n"), [Doubt::Nothing]);
    assert_eq!(by(Proposer::Pillion, Some("a\n"), ""), []);
}

#[test]
fn a_file_that_is_another_one_now_is_doubted() {
    let seen = fingerprint_of("new");
    let changed = |has_changed, base: Option<&str>| {
        let before = Some(&b"new"[..]);
        weigh(Weighed {
            has_changed,
            base,
            ..plain(before, "x")
        })
    };
    assert_eq!(
        changed(true, None),
        [Doubt::FileChanged(Dialect::GeminiCli.into())]
    );
    assert_eq!(changed(true, Some(&seen)), [], "it was merged with");
    assert_eq!(
        changed(false, Some("sha256:other")),
        [Doubt::FileChanged(Dialect::GeminiCli.into())]
    );
    assert_eq!(changed(false, None), []);
    let proposer = Proposer::Agent(Dialect::ClaudeCode);
    let doubts = weigh(Weighed {
        proposer,
        has_changed: true,
        base: Some(&seen),
        ..plain(Some(b"new"), "x")
    });
    assert_eq!(
        doubts,
        [Doubt::FileChanged(proposer)],
        "it has not read that"
    );
}

#[test]
fn what_goes_against_the_person_or_the_file_is_doubted() {
    let against = |newer, written, taken_out| {
        let against = Against {
            newer,
            written,
            taken_out,
        };
        weigh(Weighed {
            against,
            ..plain(Some(b"a"), "b")
        })
    };
    assert_eq!(against(0, 0, 0), []);
    assert_eq!(against(2, 0, 0), [Doubt::Undoes(2)]);
    assert_eq!(against(0, 1, 0), [Doubt::Overwrites(1)]);
    let all = [Doubt::Undoes(1), Doubt::Overwrites(2), Doubt::Back(3)];
    assert_eq!(against(1, 2, 3), all);
    let message = question(&all, true).message;
    assert!(message.contains("undoes a newer one"), "{message}");
    assert!(
        message.contains("2 changes replace what you wrote"),
        "{message}"
    );
}

fn fingerprint_of(text: &str) -> String {
    pillion_text::fingerprint::of(Some(text.as_bytes()))
}

#[test]
fn where_the_file_lies_is_doubted() {
    let roots = ["/w/one".into(), "/w/two".into()];
    let at = |path: &'static str| {
        weigh(Weighed {
            path: Path::new(path),
            roots: &roots,
            ..plain(Some(b"a"), "b")
        })
    };
    assert_eq!(at("/w/two/a.txt"), []);
    assert_eq!(at("/w/three/a.txt"), [Doubt::Outside]);
    assert_eq!(at("/w/one2/a.txt"), [Doubt::Outside]);
    let hook = weigh(Weighed {
        runner: Some(Runner::Git),
        ..plain(Some(b"a"), "b")
    });
    assert_eq!(hook, [Doubt::Runs(Runner::Git)]);
}

#[test]
fn an_acceptance_that_is_not_written_yet_counts_as_newer() {
    let other = Proposer::Agent(Dialect::QwenCode);
    let doubts = weigh(Weighed {
        unwritten: Some(other),
        ..plain(Some(b"a"), "b")
    });
    assert_eq!(doubts, [Doubt::OlderThanAccepted(other)]);
}

#[test]
fn a_question_names_every_doubt_and_what_to_do() {
    let doubts = [
        Doubt::FileChanged(Dialect::GeminiCli.into()),
        Doubt::Unseen(Unseen { hunks: 1, of: 3 }),
    ];
    let refusal = question(&doubts, true);
    assert!(refusal.repeat && refusal.code == "fileChanged");
    assert!(
        refusal
            .message
            .contains("1 of 3 changes has not been on the screen")
    );
    assert!(refusal.message.ends_with("accept again to go ahead"));
    let asked = question(&doubts, false);
    assert!(!asked.message.contains("again"), "{}", asked.message);
}

/// Where another key answers, who decides anew is asked anew, however often.
#[test]
fn only_an_answer_answers_where_another_key_does() {
    let mut gate = Gate::default();
    let doubts = || vec![Doubt::Unseen(Unseen { hunks: 1, of: 3 })];
    let mut now = Instant::now();
    let mut ask = |answers| {
        now += Duration::from_secs(1);
        let decide = Decide {
            key: Scene::new().key,
            verdict: Verdict::accept(None),
            by: By::Seen(Seen {
                answers,
                ..Seen::typed(LOOK)
            }),
            base: None,
        };
        gate.ask(&decide, "text", doubts(), now).is_ok()
    };
    let answers = [Some(true), Some(false), Some(false), Some(true), None];
    let counts = answers.map(&mut ask);
    assert_eq!(counts, [false, false, false, true, true]);
}

#[test]
fn a_silent_disk_hides_no_other_doubt() {
    let unseen = Unseen { hunks: 1, of: 2 };
    let codes = |path: &str, accepted: &str, unseen: Option<Unseen>| {
        let doubts = weigh_blind(&Weighed {
            path: Path::new(path),
            runner: Runner::of(Path::new(path)),
            proposed: "proposed\n",
            unseen,
            ..plain(None, accepted)
        });
        doubts.iter().map(Doubt::code).collect::<Vec<_>>()
    };
    assert_eq!(codes("/w/a.rs", "a\n", None), ["diskSilent"]);
    assert_eq!(
        codes("/w/a.rs", "a\n", Some(unseen)),
        ["diskSilent", "unseenHunks"]
    );
    assert_eq!(
        codes("/w/a.rs", "", None),
        ["diskSilent", "ignoresEmptyText"]
    );
    assert_eq!(
        codes("/w/.git/hooks/pre-commit", "a\n", None),
        ["diskSilent", "runsCode"]
    );
    let against = Against {
        newer: 1,
        ..Against::default()
    };
    let doubts = weigh_blind(&Weighed {
        path: Path::new("/w/a.rs"),
        against,
        ..plain(None, "a\n")
    });
    assert_eq!(doubts, [Doubt::DiskSilent, Doubt::Undoes(1)]);
}

#[test]
fn who_deletes_a_file_is_asked_by_its_name() {
    let deletion = |before: &'static [u8], accepted| Weighed {
        proposer: Proposer::Pillion,
        deletes: true,
        proposed: "",
        ..plain(Some(before), accepted)
    };
    let long = b"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
    for before in [&b"one\n"[..], b"", long] {
        let doubts = weigh(deletion(before, ""));
        assert_eq!(doubts, [Doubt::DeletesFile("a.txt".to_owned())]);
        assert_eq!(
            question(&doubts, true).message,
            "accepting this deletes a.txt: accept again to go ahead"
        );
    }
    // Who writes something in its place keeps it.
    assert_eq!(weigh(deletion(b"one\n", "two\n")), []);
    let blind = weigh_blind(&Weighed {
        path: Path::new("/w/x\n.txt"),
        ..deletion(b"", "")
    });
    let name = blind.last().expect("it is doubted").to_string();
    assert_eq!(name, "accepting this deletes x\u{240a}.txt");
}
