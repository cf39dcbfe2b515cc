//! Nothing changes on its way, whatever it is.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use pillion_discovery::Environment;
use pillion_protocol::{
    Dialect, File, IdeInfo, Outcome, Position, Range, ReviewChoice, ReviewMode, Verdict,
};
use pillion_text::hunks::{Hunk, Mark};
use proptest::prelude::*;
use serde::de::DeserializeOwned;

use super::*;
use crate::decision::{Against, Refusal, Ruling, Seen, Told, Unseen};
use crate::editor::{EndedTurn, Review, Shows};
use crate::lost::{Loss, LostText};
use crate::original::{Original, Stamp};
use crate::proposal::SetPlace;

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
    decide.seen = Some(Seen {
        pauses: vec![Duration::from_millis(3), Duration::MAX],
        unseen_hunks: Some(Unseen { hunks: 1, of: 2 }),
        against: Against {
            newer: 1,
            written: 2,
            taken_out: 3,
        },
        ..Seen::typed(Duration::from_nanos(700_000_001))
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
    };
    let mut guest = attach.clone();
    guest.options.shows = Shows::Only {
        host: 8,
        key: decide().key,
    };
    let rejected = Decide {
        verdict: Verdict::reject(),
        seen: None,
        ..decide()
    };
    for message in [
        FromView::Attach(attach),
        FromView::Attach(guest),
        FromView::Context {
            files: vec![selected().into()],
            is_trusted: Some(true),
        },
        FromView::Saved(File::open("/w/b", 1).into()),
        FromView::Mention {
            request: 1,
            path: raw_path(),
            lines: Some((1, 2)),
        },
        FromView::Review {
            request: 4,
            choice: Some(ReviewChoice::Always),
        },
        FromView::Review {
            request: 5,
            choice: None,
        },
        FromView::SendNotes { request: 6 },
        FromView::Decide {
            request: 2,
            decide: Box::new(decide()),
            at: Duration::from_nanos(1),
        },
        FromView::Decide {
            request: 3,
            decide: Box::new(rejected),
            at: Duration::MAX,
        },
        FromView::Draft {
            key: key(),
            text: Some("a\r\n\u{0}".to_owned()),
        },
        FromView::Draft {
            key: key(),
            text: None,
        },
        FromView::Roots(vec![raw_path(), "/w".into()]),
        FromView::Editor(9),
        FromView::Leave,
        FromView::Answer(Answered {
            request: 3,
            result: Err("why".into()),
        }),
    ] {
        assert_eq!(sent(&message), message);
    }
    assert_eq!(File::from(sent(&OpenFile::from(selected()))), selected());
}

#[test]
fn what_the_hub_says_arrives() {
    let lost = LostOutcome {
        agent: Dialect::QwenCode,
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
        FromHub::Shared(decide().key),
        FromHub::Open {
            request: 1,
            diff: Box::new(diff(None, String::new())),
        },
        FromHub::Close {
            request: 2,
            id: DiffId(1),
            reason: CloseReason::AcceptedElsewhere,
        },
        FromHub::Text {
            request: 3,
            key: key(),
        },
        FromHub::Draft {
            key: key(),
            text: "\u{feff}a\r".to_owned(),
        },
        FromHub::Diagnostics {
            request: 4,
            uri: None,
        },
        FromHub::Status(Box::new(status)),
        FromHub::Lost(Box::new(lost)),
        FromHub::Stopped,
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
        agent: Dialect::OpenCode,
        agent_number: 3,
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
        on_behalf_of: Some(Dialect::CodexCli),
        original_is_other: true,
        written: None,
        is_unclear: false,
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
    let mut seen = serde_json::to_value(decide().seen).unwrap();
    seen.as_object_mut().unwrap().remove("pauses").unwrap();
    let read: Seen = serde_json::from_value(seen).unwrap();
    assert!(read.pauses.is_empty());
}
