//! Nothing changes on its way, whatever it is.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use pillion_discovery::Environment;
use pillion_protocol::ask::{FromProgram, ToProgram};
use pillion_protocol::verdict::Lines;
use pillion_protocol::{
    Dialect, File, IdeInfo, Outcome, Position, Proposer, Range, ReviewChoice, ReviewMode, Verdict,
};
use pillion_text::hunks::{Hunk, Mark};
use proptest::prelude::*;
use serde::de::DeserializeOwned;

use super::*;
use crate::OpenFile;
use crate::ask::{Ask, Changes, Mention, SetReview};
use crate::decision::{Against, By, Decide, LOOK, Refusal, Ruling, Seen, Told, Unseen};
use crate::editor::{CloseReason, EndedTurn, Review, Shows, Status};
use crate::lost::{Loss, LostOutcome, LostText};
use crate::original::{Original, Stamp};
use crate::proposal::{Diff, DiffId, ProposalKey, SetPlace};
use crate::tell::Leaving;

/// Returns the value that comes out of the line that it becomes.
fn sent<T: Serialize + DeserializeOwned>(value: &T) -> T {
    let line = serde_json::to_vec(value).unwrap();
    assert!(!line.contains(&b'\n'), "it is one line");
    serde_json::from_slice(&line).unwrap()
}

fn key() -> ProposalKey {
    let id = DiffId(u64::MAX);
    ProposalKey { id, revision: 2 }
}

fn raw_path() -> PathBuf {
    PathBuf::from(OsStr::from_bytes(b"/w/\xff"))
}

fn decide() -> Decide {
    let mut decide = Decide::blind(key(), Outcome::accepted("a\r\n\u{0}b"));
    decide.by = By::Seen(Seen {
        pauses: vec![Duration::from_millis(3), Duration::from_millis(u64::MAX)],
        unseen_hunks: Some(Unseen { hunks: 1, of: 2 }),
        against: Against {
            newer: 1,
            written: 2,
            taken_out: 3,
        },
        ..Seen::typed(LOOK)
    });
    decide.base = Some("base".to_owned());
    decide
}

fn selected() -> File {
    let mut file = File::focused("/w/a", 7);
    let at = |character| Position { line: 1, character };
    file.selected_text = Some("x".to_owned());
    file.selection = Some(Range {
        start: at(1),
        end: at(2),
    });
    file
}

#[test]
fn what_a_view_says_arrives() {
    let attach = Attach {
        version: VERSION.to_owned(),
        options: Options {
            environment: Environment::from_pairs([("HOME", "/h")]),
            editor_pid: 7,
            ide: IdeInfo::new("test", "Test"),
            roots: vec![raw_path()],
            shows: Shows::Alone,
        },
        process: 8,
        former_hub: Some(7),
    };
    let mut guest = attach.clone();
    guest.options.shows = Shows::Only {
        host: 8,
        key: decide().key,
    };
    for message in [
        FromView::Attach(attach),
        FromView::Attach(guest),
        FromView::Program(Program {
            pid: 7,
            commanded_by: vec!["gemini".to_owned()],
        }),
        FromView::Tell(Tell::context(vec![selected()], Some(true))),
        FromView::Tell(Tell::Saved(File::open("/w/b", 1).into())),
        FromView::Tell(Tell::Synced {
            path: raw_path(),
            is_saved: true,
        }),
        FromView::Tell(Tell::Draft {
            key: key(),
            text: Some("a\r\n\u{0}".to_owned()),
        }),
        FromView::Tell(Tell::Draft {
            key: key(),
            text: None,
        }),
        FromView::Tell(Tell::Roots(vec![raw_path(), "/w".into()])),
        FromView::Tell(Tell::Editor(9)),
        FromView::Tell(Tell::Leave(Leaving::Signalled(7))),
        FromView::Answer(Answered {
            request: 3,
            result: Err("why".into()),
        }),
    ] {
        assert_eq!(sent(&message), message);
    }
    assert_eq!(File::from(sent(&OpenFile::from(selected()))), selected());
}

/// Returns the request that arrives where it is carried out.
fn asked<A: Ask>(ask: &A, at: Option<Duration>) -> A {
    let message = FromView::Ask(Asked {
        at,
        ..Asked::new(1, ask).unwrap()
    });
    let received = sent(&message);
    assert_eq!(received, message);
    let FromView::Ask(received) = received else {
        panic!("{received:?}");
    };
    assert_eq!((&*received.method, received.at), (A::METHOD, at));
    serde_json::from_value(received.params).unwrap()
}

#[test]
fn what_is_asked_arrives() {
    let rejected = Decide {
        verdict: Verdict::reject(),
        by: By::View,
        ..decide()
    };
    for (decide, at) in [
        (decide(), Duration::from_nanos(1)),
        (rejected, Duration::MAX),
    ] {
        assert_eq!(asked(&decide, Some(at)), decide);
    }
    for lines in [Some(Lines { first: 1, last: 2 }), None] {
        let path = raw_path();
        let mention = Mention { path, lines };
        assert_eq!(asked(&mention, None), mention);
    }
    for number in [Some(3), None] {
        let choice = ReviewChoice::Always;
        let set = SetReview { choice, number };
        assert_eq!(asked(&set, None), set);
    }
    assert_eq!(asked(&Changes, None), Changes);
}

/// A program's messages are those of a view.
#[test]
fn a_program_is_understood() {
    let program = Program::default();
    let ask = Asked::new(1, &Changes).unwrap();
    for (message, expected) in [
        (
            FromProgram::Program(program.clone()),
            FromView::Program(program),
        ),
        (FromProgram::Ask(ask.clone()), FromView::Ask(ask)),
    ] {
        let line = serde_json::to_vec(&message).unwrap();
        assert_eq!(serde_json::from_slice::<FromView>(&line).unwrap(), expected);
    }
    let refused = FromHub::Refused(Refused {
        kind: RefusedKind::Unserved,
        reason: "no".to_owned(),
    });
    let line = serde_json::to_vec(&refused).unwrap();
    let reason = "no".to_owned();
    assert_eq!(
        serde_json::from_slice::<ToProgram>(&line).unwrap(),
        ToProgram::Refused { reason }
    );
}

fn show(show: Show) -> FromHub {
    FromHub::Show(Box::new(show))
}

#[test]
fn what_the_hub_says_arrives() {
    let lost = LostOutcome {
        proposer: Dialect::QwenCode.into(),
        how: Loss::Different,
        path: raw_path(),
        text: LostText::Kept(raw_path()),
    };
    let status = Status {
        agents: vec![Dialect::GeminiCli, Dialect::ClaudeCode],
        warnings: vec!["w".to_owned()],
        review: Some(Review {
            mode: Some(ReviewMode::Asked),
            label: "review: asked".to_owned(),
            unasked: None,
        }),
        ended: Some(EndedTurn {
            turn: 7,
            text: "x".to_owned(),
        }),
        ..Status::default()
    };
    for message in [
        FromHub::Attached(Attached {
            version: VERSION.to_owned(),
            pid: 1,
            port: 2,
            files: vec![raw_path()],
            is_in_hosts_editor: true,
        }),
        FromHub::Refused(Refused {
            kind: RefusedKind::Unserved,
            reason: "no".to_owned(),
        }),
        show(Show::Shared(key())),
        show(Show::Open(diff(None, String::new()), 1)),
        show(Show::Close(DiffId(1), CloseReason::AcceptedElsewhere, 2)),
        show(Show::Text(key(), 3)),
        show(Show::Draft(key(), "\u{feff}a\r".to_owned())),
        show(Show::Diagnostics(None, 4)),
        show(Show::Status(status)),
        show(Show::Lost(lost)),
        show(Show::Stopped),
    ] {
        assert_eq!(sent(&message), message);
    }
}

#[test]
fn a_ruling_arrives() {
    let told = Told {
        message: "told".to_owned(),
        clipboard: Some("notes".to_owned()),
    };
    let refusal = Refusal {
        code: "code".into(),
        message: "message".to_owned(),
        repeat: true,
    };
    for ruling in [
        Ruling::Settled(None),
        Ruling::Settled(Some(told)),
        Ruling::Refused(refusal),
    ] {
        assert_eq!(sent(&ruling), ruling);
    }
}

#[test]
fn the_stamp_of_a_file_arrives_to_the_nanosecond() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let file = std::fs::File::create(&path).unwrap();
    for time in [
        UNIX_EPOCH + Duration::new(1_700_000_000, 123_456_789),
        UNIX_EPOCH - Duration::new(3, 400),
    ] {
        file.set_modified(time).unwrap();
        let stamp = Stamp::of(&path).unwrap();
        assert_eq!(sent(&stamp), stamp);
    }
}

fn diff(original: Option<Vec<u8>>, proposed: String) -> Diff {
    let hunk = Hunk {
        out: true,
        mark: Some(Mark::Conflict),
        ..Hunk::new(0..1, 2..usize::MAX)
    };
    Diff {
        id: DiffId(1),
        revision: 2,
        proposer: Proposer::For(Dialect::CodexCli),
        number: 3,
        path: raw_path(),
        original: Original {
            text: original,
            stamp: Stamp::of(Path::new("/")),
        },
        proposed: Arc::new(proposed),
        notes: vec!["note".to_owned()],
        hunks: vec![hunk],
        set: Some(SetPlace {
            id: 4,
            place: 2,
            of: 3,
        }),
        deletes: true,
        original_is_other: true,
        written: None,
        is_unclear: false,
        is_of_subagent: false,
        runner: None,
        mode: None,
    }
}

proptest! {
    #[test]
    fn texts_arrive_byte_for_byte(
        bytes in proptest::option::of(any::<Vec<u8>>()),
        text in any::<String>(),
    ) {
        let diff = diff(bytes, text);
        prop_assert_eq!(sent(&diff), diff);
    }

    #[test]
    fn no_line_is_a_panic(line in any::<Vec<u8>>()) {
        let _ = serde_json::from_slice::<FromView>(&line);
        let _ = serde_json::from_slice::<FromHub>(&line);
    }
}

/// A program of the same version may have been built before views said this.
#[test]
fn what_a_view_has_seen_is_read_without_its_pauses() {
    let mut seen = serde_json::to_value(decide().by.seen()).unwrap();
    seen.as_object_mut().unwrap().remove("pausesMs").unwrap();
    let read: Seen = serde_json::from_value(seen).unwrap();
    assert!(read.pauses.is_empty());
}
