//! The acts of views on changes that are written, with a store and files of the test's own.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pillion_changes::looking::look;
use pillion_changes::recorder::{self, Call};
use pillion_changes::{Change, Kept, Recorder, Store, Turn};
use tempfile::TempDir;

use pillion_discovery::{Environment, real_path};
use pillion_protocol::Note;
use pillion_protocol::remarks::FileRemark;
use pillion_protocol::verdict::{Lines, Verdict};
use pillion_view::changes::{
    ActDone, BufferText, ChangesAct, ListedTurn, Meant, Named, NamedAct, Part, Row,
};
use pillion_view::decision::LOOK;

use super::listing::list;
use crate::acting::{Acted, UNSAID, decide, perform, undone_in_editor};
use crate::unkept::Unkept;

const BEFORE: &str = "a\nb\nc\nd\ne\n";
const AFTER: &str = "a\nB\nc\nd\nE\n";

struct Lab {
    _folder: TempDir,
    root: PathBuf,
    store: Store,
    recorder: Recorder,
    calls: u64,
}

impl Lab {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = real_path(folder.path());
        let root = base.join("work");
        fs::create_dir(&root).unwrap();
        let state = [("XDG_STATE_HOME", base.join("state"))];
        let store = Store::of(&Environment::from_pairs(state)).unwrap();
        let recorder = Recorder::new(store.clone(), std::slice::from_ref(&root), Vec::new());
        Self {
            _folder: folder,
            root,
            store,
            recorder,
            calls: 0,
        }
    }

    fn path(&self) -> PathBuf {
        self.root.join("a.txt")
    }

    /// A turn in which a call writes this text. With `goes_on`, the call has not ended.
    fn turn(&mut self, text: &str, goes_on: bool) {
        let path = self.path();
        self.turn_of(|| fs::write(path, text).unwrap(), goes_on);
    }

    fn turn_of(&mut self, work: impl FnOnce(), goes_on: bool) {
        self.calls += 1;
        let (id, tool) = (self.calls.to_string(), "Bash".to_owned());
        let path = None;
        self.recorder.begin(1, "claude", "do it").unwrap();
        let call = Call {
            id,
            tool,
            path,
            subagent: None,
        };
        self.recorder.before(1, "claude", call).unwrap();
        work();
        let id = self.calls.to_string();
        self.recorder.after(1, &id, |_| Vec::new()).unwrap();
        match goes_on {
            true => {
                let (id, tool) = ("next".to_owned(), "Bash".to_owned());
                let call = Call {
                    id,
                    tool,
                    path: None,
                    subagent: None,
                };
                self.recorder.before(1, "claude", call).unwrap();
            }
            false => self.recorder.end(1).unwrap(),
        }
    }

    fn listed(&self) -> Vec<ListedTurn> {
        self.listed_with(&Unkept::default())
    }

    fn listed_with(&self, unkept: &Unkept) -> Vec<ListedTurn> {
        list(&self.store, std::slice::from_ref(&self.root), unkept).turns
    }

    fn act(&self, act: ChangesAct) -> Result<ActDone, String> {
        let performed = perform(&self.store, std::slice::from_ref(&self.root), act);
        match performed.done.done {
            true => Ok(performed.done),
            false => Err(performed.done.message),
        }
    }

    /// What was made of the first change.
    fn made(&self) -> Option<&'static str> {
        Some(self.store.judged(1).unwrap().of(1)?.name())
    }

    fn state(&self, turn: usize) -> String {
        self.listed()[turn].changes[0].state.clone()
    }
}

/// What agents are to hear.
fn remarks(acted: Acted) -> Vec<FileRemark> {
    acted.told.into_iter().flat_map(|it| it.remarks).collect()
}

fn meant(id: &str, revision: &str) -> Meant {
    Meant {
        id: Some(id.to_owned()),
        path: None,
        revision: Some(revision.to_owned()),
        ..Meant::default()
    }
}

fn lines(meant: Meant, lines: Range<u32>, buffers: Vec<BufferText>) -> ChangesAct {
    let lines = Lines {
        first: lines.start,
        last: lines.end - 1,
    };
    ChangesAct::TakeBack(Part {
        meant: Meant { buffers, ..meant },
        lines: Some(lines),
    })
}

fn whole_turn(id: &str) -> ChangesAct {
    ChangesAct::TakeBack(Part {
        meant: Meant {
            id: Some(id.to_owned()),
            ..Meant::default()
        },
        ..Part::default()
    })
}

fn in_file(path: &Path) -> Meant {
    Meant {
        path: Some(path.to_owned()),
        ..Meant::default()
    }
}

fn in_buffer(path: &Path, content: &str, is_modified: bool) -> Meant {
    Meant {
        buffers: text(path, content, is_modified),
        ..in_file(path)
    }
}

fn text(path: &Path, content: &str, is_modified: bool) -> Vec<BufferText> {
    vec![BufferText {
        path: path.to_owned(),
        content: content.to_owned(),
        is_modified,
    }]
}

fn lab() -> Lab {
    let mut lab = Lab::new();
    fs::write(lab.path(), BEFORE).unwrap();
    lab.turn(AFTER, false);
    lab
}

#[test]
fn nothing_that_was_listed_before_it_changed_is_decided() {
    let mut lab = lab();
    let turn = lab.listed().remove(0);
    let (id, revision) = (&turn.changes[0].id, &turn.changes[0].revision);
    fs::write(lab.path(), "mine\n").unwrap();
    for act in [
        ChangesAct::Keep(meant(id, revision)),
        lines(meant(id, revision), 1..2, Vec::new()),
        ChangesAct::TakeBack(Part {
            meant: meant(id, revision),
            ..Part::default()
        }),
    ] {
        let refused = lab.act(act).unwrap_err();
        assert!(
            refused.contains("has changed since it was listed"),
            "{refused}"
        );
    }
    assert_eq!(fs::read_to_string(lab.path()).unwrap(), "mine\n");
    // A turn that goes on is another one once more was written in it.
    lab.turn("more\n", true);
    let goes_on = lab.listed().remove(0);
    fs::write(lab.path(), "and more\n").unwrap();
    lab.recorder.after(1, "next", |_| Vec::new()).unwrap();
    let refused = lab.act(ChangesAct::Keep(meant(&goes_on.id, &goes_on.revision)));
    assert!(
        refused
            .unwrap_err()
            .contains("has changed since it was listed")
    );
    let now = lab.listed().remove(0);
    assert_eq!(lab.state(0), "unseen");
    lab.act(ChangesAct::Keep(meant(&now.id, &now.revision)))
        .unwrap();
    assert_eq!(lab.state(0), "kept");
}

/// Such a name has no revision: what a command showed the person is what they mean.
#[test]
fn a_name_that_is_typed_means_what_the_person_was_shown() {
    let named = || Meant {
        id: Some("1.1".to_owned()),
        ..Meant::default()
    };
    let typed = || Meant {
        typed: Some("1.1".to_owned()),
        ..in_file(Path::new("/w/other"))
    };
    let mut lab = Lab::new();
    fs::write(lab.path(), BEFORE).unwrap();
    lab.turn(AFTER, true);
    let show = |lab: &Lab| {
        let kept = Kept::read(&lab.store, 1).unwrap();
        kept.note_shown(&lab.store, "1".parse().unwrap()).unwrap();
    };
    show(&lab);
    fs::write(lab.path(), "newer\n").unwrap();
    lab.recorder.after(1, "next", |_| Vec::new()).unwrap();
    for act in [
        ChangesAct::Keep(named()),
        ChangesAct::Keep(typed()),
        ChangesAct::TakeBack(Part {
            meant: typed(),
            ..Part::default()
        }),
    ] {
        let refused = lab.act(act).unwrap_err();
        assert!(
            refused.contains("`pillion show 1.1` prints what is there now"),
            "{refused}"
        );
    }
    assert_eq!(lab.state(0), "unseen");
    show(&lab);
    lab.act(ChangesAct::Keep(typed())).unwrap();
    assert_eq!(lab.state(0), "kept");
}

/// A line of the file on which the person stands is one change's, wherever newer ones are; of several hunks, others may not be in
/// sight.
#[test]
fn in_a_file_what_stands_at_the_cursor_is_kept_and_nothing_else() {
    let mut lab = Lab::new();
    fs::write(lab.path(), BEFORE).unwrap();
    lab.turn("a\nB\nc\nd\ne\n", false);
    lab.turn("a\nB\nc\nd\nE\n", false);
    let keep_in = |lab: &Lab, at: Option<u32>, buffer: &str| {
        lab.act(ChangesAct::Keep(Meant {
            at: at.map(|line| Lines {
                first: line,
                last: line,
            }),
            ..in_buffer(&lab.path(), buffer, true)
        }))
    };
    let keep = |lab: &Lab, at| keep_in(lab, at, &fs::read_to_string(lab.path()).unwrap());
    let states = |lab: &Lab| -> Vec<String> {
        let turns = lab.listed().into_iter().rev();
        turns.map(|turn| turn.changes[0].state.clone()).collect()
    };
    // Beside it, and behind the last line.
    for line in [0, 2, 3, 5, 900] {
        assert_eq!(
            keep(&lab, Some(line)).unwrap_err(),
            "nothing that an agent has written waits at this line: name the change, or use the list"
        );
    }
    // Its lines are others, or it shows what was there before: nobody has seen in it what would be kept.
    for (buffer, at) in [
        ("mine\na\nB\nc\nd\nE\n", Some(2)),
        ("mine\nmine\nmine\na\nB\nc\nd\nE\n", Some(4)),
        ("a\nB\nc\nd\ne\n", Some(4)),
        ("a\nB\nc\nd\ne\n", None),
        ("", None),
    ] {
        assert_eq!(
            keep_in(&lab, at, buffer).unwrap_err(),
            "the buffer differs from its file: save it or have the file read again first"
        );
    }
    // It was not sent, or is another file's.
    let at = Some(Lines { first: 1, last: 1 });
    let other = text(&lab.root.join("other"), "a\nB\nc\nd\nE\n", false);
    for buffers in [Vec::new(), other] {
        let meant = Meant {
            at,
            buffers,
            ..in_file(&lab.path())
        };
        lab.act(ChangesAct::Keep(meant)).unwrap_err();
    }
    assert_eq!(states(&lab), ["unseen", "unseen"]);
    keep(&lab, Some(1)).unwrap();
    assert_eq!(states(&lab), ["kept", "unseen"]);
    // It is another change's by now: nobody has looked at that.
    lab.turn("A\nB\nc\nD\nE\n", false);
    let several = keep(&lab, Some(0)).unwrap_err();
    assert!(
        several.contains("has 2 hunks, and is kept as a whole"),
        "{several}"
    );
    keep(&lab, Some(4)).unwrap();
    assert_eq!(states(&lab), ["kept", "kept", "unseen"]);
    // Without a line, as before.
    keep(&lab, None).unwrap();
    assert_eq!(states(&lab), ["kept", "kept", "kept"]);
}

/// Others than the hunk of the row may not have been looked at.
#[test]
fn a_row_of_a_change_with_several_hunks_keeps_nothing_unless_it_is_named() {
    let mut lab = lab();
    let one = Some(Lines { first: 1, last: 1 });
    let keep = |lab: &Lab, turn: usize, at, typed: &str| {
        let change = &lab.listed()[turn].changes[0];
        let row = Row {
            rested_for: (typed.is_empty()).then_some(LOOK),
            is_chosen: true,
        };
        lab.act(ChangesAct::Keep(Meant {
            at,
            typed: Some(typed.to_owned()),
            row: Some(row),
            ..meant(&change.id, &change.revision)
        }))
    };
    assert_eq!(
        keep(&lab, 0, one, "").unwrap_err(),
        "1.1 has 2 hunks, and is kept as a whole: name it to keep all of them"
    );
    assert_eq!(lab.state(0), "unseen");
    keep(&lab, 0, None, "").unwrap();
    assert_eq!(lab.state(0), "kept");
    lab.act(ChangesAct::Undo(None)).unwrap();
    // It is meant wherever the cursor is, and however it came there.
    keep(&lab, 0, one, "1.1").unwrap();
    assert_eq!(lab.state(0), "kept");
    lab.turn("a\nB\nC\nd\nE\n", false);
    keep(&lab, 0, Some(Lines { first: 2, last: 2 }), "").unwrap();
    assert_eq!(lab.state(0), "kept");
}

/// An agent may have rewritten the line under the cursor of a person who meant what stood there before.
#[test]
fn what_the_editor_has_read_just_now_is_not_kept_unless_it_is_named() {
    let lab = lab();
    #[cfg_attr(not(unix), expect(unused_mut, reason = "links are made on Unix"))]
    let mut read = vec![lab.path()];
    #[cfg(unix)]
    {
        read.push(lab.root.join("link"));
        std::os::unix::fs::symlink(&read[0], &read[1]).unwrap();
    }
    let keep = |read: &Path, typed: &str| {
        lab.act(ChangesAct::Keep(Meant {
            just_read: vec![read.to_owned()],
            typed: Some(typed.to_owned()),
            ..in_buffer(&lab.path(), AFTER, false)
        }))
    };
    for read in &read {
        assert_eq!(
            keep(read, "").unwrap_err(),
            format!(
                "the editor has read {} only just now: look at it, then do the same again",
                read.display()
            )
        );
    }
    assert_eq!(lab.state(0), "unseen");
    keep(&lab.root.join("other"), "").unwrap();
    lab.act(ChangesAct::Undo(None)).unwrap();
    assert_eq!(lab.state(0), "unseen");
    keep(&lab.path(), "1.1").unwrap();
    assert_eq!(lab.state(0), "kept");
}

#[test]
fn lines_count_only_in_the_text_in_which_they_were_seen() {
    let lab = lab();
    let path = lab.path();
    let of_nothing = lab.act(lines(in_file(&path), 1..2, Vec::new()));
    let of_another = lab.act(lines(in_file(&path), 1..2, text(&path, "another\n", false)));
    for (refused, said) in [
        (of_nothing, "has changed since it was listed"),
        (of_another, "the buffer differs from its file"),
    ] {
        let refused = refused.unwrap_err();
        assert!(refused.contains(said), "{refused}");
    }
    let unchanged = lab.act(lines(in_file(&path), 2..4, text(&path, AFTER, false)));
    assert!(
        unchanged
            .unwrap_err()
            .contains("nothing of an agent's change")
    );
    lab.act(lines(in_file(&path), 1..2, text(&path, AFTER, false)))
        .unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "a\nb\nc\nd\nE\n");
    assert_eq!(lab.state(0), "unseen", "the other hunk waits");
    let listed = lab.listed().remove(0).changes.remove(0);
    lab.act(lines(meant(&listed.id, &listed.revision), 4..5, Vec::new()))
        .unwrap();
    assert_eq!(lab.state(0), "taken back");
    for text in ["a\nb\nc\nd\nE\n", AFTER] {
        lab.act(ChangesAct::Undo(None)).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        assert_eq!(lab.state(0), "unseen");
    }
    assert!(
        lab.act(ChangesAct::Undo(None))
            .unwrap_err()
            .contains("nothing has been kept or taken back")
    );
}

#[test]
fn lines_of_a_file_in_latin_1_are_taken_back_as_they_are_shown() {
    let mut lab = Lab::new();
    let path = lab.path();
    fs::write(&path, b"a\n\xe9\n").unwrap();
    lab.turn_of(|| fs::write(&path, b"A\n\xe9\n").unwrap(), false);
    let other = lab.act(lines(
        in_file(&path),
        0..1,
        text(&path, "A\n\u{fffd}\n", false),
    ));
    assert!(other.unwrap_err().contains("differs from its file"));
    lab.act(lines(in_file(&path), 0..1, text(&path, "A\né\n", false)))
        .unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"a\n\xe9\n");
}

#[test]
fn a_last_line_that_only_the_editor_ends_is_no_other_text() {
    for (before, after, end) in [
        ("a\nb\nc", "A\nb\nc", "\n"),
        ("a\n", "A", "\n"),
        ("a", "A\nb", "\n"),
        ("a\r\nb", "A\r\nb", "\r\n"),
    ] {
        let mut lab = Lab::new();
        let path = lab.path();
        fs::write(&path, before).unwrap();
        lab.turn(after, false);
        for other in [format!("{after}\n\n"), format!("{after}x\n"), "\n".into()] {
            let refused = lab.act(lines(in_file(&path), 0..1, text(&path, &other, false)));
            let refused = refused.unwrap_err();
            assert!(refused.contains("differs from its file"), "{refused}");
        }
        let held = format!("{after}{end}");
        lab.act(lines(in_file(&path), 0..1, text(&path, &held, false)))
            .unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), before);
    }
    // The other way round, it is another text.
    let lab = lab();
    let path = lab.path();
    let shorter = AFTER.trim_end();
    let refused = lab.act(lines(in_file(&path), 0..2, text(&path, shorter, false)));
    assert!(refused.unwrap_err().contains("differs from its file"));
}

#[test]
fn what_is_undone_without_a_name_was_taken_back_in_this_folder() {
    let lab = lab();
    let elsewhere = lab.root.with_file_name("elsewhere");
    let below = lab.root.join("below");
    for folder in [&elsewhere, &below] {
        fs::create_dir(folder).unwrap();
    }
    let undo = |folder: &Path| perform(&lab.store, &[folder.to_owned()], ChangesAct::Undo(None));
    for folder in [&*lab.root, &below, lab.root.parent().unwrap()] {
        lab.act(ChangesAct::TakeBack(Part {
            meant: in_file(&lab.path()),
            ..Part::default()
        }))
        .unwrap();
        let refused = undo(&elsewhere).done;
        assert!(!refused.done);
        assert_eq!(refused.message, "nothing has been kept or taken back here");
        assert_eq!(fs::read_to_string(lab.path()).unwrap(), BEFORE);
        assert!(undo(folder).done.done);
        assert_eq!(fs::read_to_string(lab.path()).unwrap(), AFTER);
    }
}

#[test]
fn what_was_taken_back_at_once_is_undone_at_once() {
    let mut lab = lab();
    let other = lab.root.join("other.txt");
    let third = lab.root.join("third.txt");
    lab.calls = 1;
    lab.recorder.begin(1, "claude", "more").unwrap();
    let call = Call {
        id: "x".to_owned(),
        tool: "Bash".to_owned(),
        path: None,
        subagent: None,
    };
    lab.recorder.before(1, "claude", call).unwrap();
    for path in [&other, &third] {
        fs::write(path, "new\n").unwrap();
    }
    lab.recorder.after(1, "x", |_| Vec::new()).unwrap();
    lab.recorder.end(1).unwrap();
    let are_there = || [lab.path(), other.clone(), third.clone()].map(|it| it.exists());
    // One by itself, and then two at once.
    lab.act(whole_turn("1")).unwrap();
    lab.act(whole_turn("2")).unwrap();
    assert_eq!(are_there(), [true, false, false]);
    let done = lab.act(ChangesAct::Undo(None)).unwrap();
    assert!(done.message.contains("other.txt") && done.message.contains("third.txt"));
    assert_eq!(are_there(), [true, true, true]);
    assert_eq!(fs::read_to_string(lab.path()).unwrap(), BEFORE);
    lab.act(ChangesAct::Undo(None)).unwrap();
    assert_eq!(fs::read_to_string(lab.path()).unwrap(), AFTER);
    // One after the other.
    for name in ["2.1", "2.2"] {
        lab.act(whole_turn(name)).unwrap();
    }
    lab.act(ChangesAct::Undo(None)).unwrap();
    assert_eq!(are_there(), [true, false, true]);
}

#[test]
fn the_agent_hears_what_was_undone() {
    let lab = lab();
    let path = lab.path();
    let whole = || {
        ChangesAct::TakeBack(Part {
            meant: in_file(&path),
            ..Part::default()
        })
    };
    let hunk = || lines(in_file(&path), 1..2, text(&path, AFTER, false));
    let told = |act| {
        let performed = perform(&lab.store, std::slice::from_ref(&lab.root), act);
        let [told] = <[_; 1]>::try_from(remarks(performed)).unwrap();
        assert_eq!(Path::new(&told.path), path);
        told.text
    };
    for (take_back, lines) in [
        (whole(), ["-b", "+B", "-e", "+E"].as_slice()),
        (hunk(), &["-b", "+B"]),
    ] {
        assert!(told(take_back).contains("Do not make that change again"));
        let told = told(ChangesAct::Undo(None));
        assert!(told.starts_with("The user has undone what they took back or changed in "));
        let changed = |line: &&str| line.starts_with(['-', '+']);
        assert_eq!(told.lines().filter(changed).collect::<Vec<_>>(), lines);
    }
    // A new file is there again as a whole.
    let mut lab = Lab::new();
    lab.turn(AFTER, false);
    lab.act(whole_turn("1")).unwrap();
    assert!(!lab.path().exists());
    let act = ChangesAct::Undo(Some("1".to_owned()));
    let performed = perform(&lab.store, &[], act);
    assert!(
        remarks(performed)[0]
            .text
            .ends_with("\n+a\n+B\n+c\n+d\n+E\n")
    );
}

#[test]
fn keeping_the_rest_leaves_what_was_taken_back_to_be_undone() {
    let lab = lab();
    let path = lab.path();
    lab.act(lines(in_file(&path), 1..2, text(&path, AFTER, false)))
        .unwrap();
    lab.act(ChangesAct::Keep(in_file(&path))).unwrap();
    assert_eq!(lab.state(0), "edited");
    // What is written later stays.
    fs::write(&path, "mine\na\nb\nc\nd\nE\n").unwrap();
    for written in ["mine\na\nb\nc\nd\nE\n", &format!("mine\n{AFTER}")] {
        lab.act(ChangesAct::Undo(Some("1.1".to_owned()))).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), written);
    }
}

#[test]
fn what_was_edited_and_then_taken_back_is_undone_step_by_step() {
    let lab = lab();
    let path = lab.path();
    let edited = "a\nb\nc\nd\nE\n";
    lab.act(lines(in_file(&path), 1..2, text(&path, AFTER, false)))
        .unwrap();
    lab.act(ChangesAct::Keep(in_file(&path))).unwrap();
    lab.act(whole_turn("1")).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), BEFORE);
    for (text, state, said) in [
        (edited, "edited", "is as you had edited it"),
        (edited, "unseen", "is not kept any more"),
        (AFTER, "unseen", "is as the agent left it"),
    ] {
        let done = lab.act(ChangesAct::Undo(None)).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        assert_eq!(lab.state(0), state);
        assert!(done.message.ends_with(said), "{}", done.message);
    }
}

#[test]
fn a_text_that_is_not_saved_is_changed_and_the_file_is_not() {
    let lab = lab();
    let path = lab.path();
    let buffer = format!("mine\n{AFTER}");
    let wanted = Part {
        meant: in_buffer(&path, &buffer, true),
        lines: None,
    };
    let done = lab.act(ChangesAct::TakeBack(wanted)).unwrap();
    assert_eq!(done.edits[0].content, format!("mine\n{BEFORE}"));
    assert!(done.message.contains("save it"), "{}", done.message);
    assert_eq!(fs::read_to_string(&path).unwrap(), AFTER);
    assert_eq!(lab.state(0), "taken back");
    let undone = lab.act(ChangesAct::Undo(Some("1.1".to_owned()))).unwrap();
    assert!(
        undone.message.contains("undo it in the editor"),
        "{}",
        undone.message
    );
    assert_eq!(lab.state(0), "unseen");
}

/// The editor may be closed by then, and its undo gone.
#[test]
fn what_was_taken_out_of_a_buffer_that_was_saved_since_comes_back_in_the_file() {
    let lab = lab();
    let path = lab.path();
    let wanted = Part {
        meant: in_buffer(&path, &format!("mine\n{AFTER}"), true),
        lines: None,
    };
    let done = lab.act(ChangesAct::TakeBack(wanted)).unwrap();
    fs::write(&path, format!("{}later\n", done.edits[0].content)).unwrap();
    let undone = lab.act(ChangesAct::Undo(None)).unwrap();
    let said = "is back, beside what has changed since";
    assert!(undone.message.ends_with(said), "{}", undone.message);
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        format!("mine\n{AFTER}later\n")
    );
    assert_eq!(lab.state(0), "unseen");
}

/// What undoing it writes is no take-back that somebody was killed in.
#[test]
fn each_hunk_that_was_taken_out_of_a_buffer_is_brought_back_once() {
    for (mine, is_modified, saves_between) in [
        ("mine\n", true, false),
        ("mine\n", true, true),
        ("", true, false),
        ("", false, false),
    ] {
        let lab = lab();
        let path = lab.path();
        let mut buffer = format!("{mine}{AFTER}");
        let at = u32::try_from(mine.lines().count()).unwrap();
        for (line, saves) in [(at + 4, saves_between), (at + 1, true)] {
            let taken = text(&path, &buffer, is_modified);
            let done = lab.act(lines(in_file(&path), line..line + 1, taken));
            match done.unwrap().edits.pop() {
                Some(edit) => buffer = edit.content,
                None => buffer = fs::read_to_string(&path).unwrap(),
            }
            if saves {
                fs::write(&path, &buffer).unwrap();
            }
        }
        let undo = || {
            let done = lab.act(ChangesAct::Undo(None));
            // The editor reads it.
            undone_in_editor(&lab.store, &[1], &path, false);
            let file = fs::read_to_string(&path).unwrap();
            (done.map_or_else(|it| it, |it| it.message), file)
        };
        assert_eq!(buffer, format!("{mine}{BEFORE}"));
        let (said, file) = undo();
        assert!(said.ends_with("is as before the last hunk was taken back"));
        assert_eq!(file, format!("{mine}{}", BEFORE.replace('b', "B")));
        let (said, file) = undo();
        let end = match mine {
            "" => "is as the agent left it",
            _ => "is back, beside what has changed since",
        };
        assert!(said.ends_with(end), "{said}");
        assert_eq!(file, format!("{mine}{AFTER}"));
        let nothing = "nothing has been kept or taken back here";
        for _ in 0..2 {
            assert_eq!(undo(), (nothing.to_owned(), file.clone()));
        }
    }
}

/// Some editors show a last line as ended, and others end it when they save.
#[test]
fn a_last_line_that_is_not_ended_is_taken_out_of_a_buffer_and_comes_back() {
    for (shown, left, saved) in [
        ("mine\na\nB", "mine\na\nb", "mine\na\nb\n"),
        ("mine\na\nB", "mine\na\nb", "mine\na\nb"),
        ("mine\na\nB\n", "mine\na\nb\n", "mine\na\nb\n"),
        (
            "mine\r\na\r\nB\r\n",
            "mine\r\na\r\nb\r\n",
            "mine\r\na\r\nb\r\n",
        ),
    ] {
        let end = if shown.contains('\r') { "\r\n" } else { "\n" };
        for line in [Some(2), None] {
            let mut lab = Lab::new();
            let path = lab.path();
            fs::write(&path, format!("a{end}b")).unwrap();
            lab.turn(&format!("a{end}B"), false);
            let act = match line {
                Some(line) => lines(in_file(&path), line..line + 1, text(&path, shown, true)),
                None => ChangesAct::TakeBack(Part {
                    meant: in_buffer(&path, shown, true),
                    lines: None,
                }),
            };
            let done = lab.act(act).unwrap();
            assert_eq!(done.edits[0].content, left, "{shown:?}");
            fs::write(&path, saved).unwrap();
            assert!(remarks(undone_in_editor(&lab.store, &[1], &path, true)).is_empty());
            lab.act(ChangesAct::Undo(None)).unwrap();
            let back = saved.replace('b', "B");
            assert_eq!(fs::read_to_string(&path).unwrap(), back, "{shown:?}");
            assert_eq!(lab.state(0), "unseen");
        }
    }
}

#[test]
fn a_file_that_a_call_may_be_writing_is_left_alone() {
    let mut lab = Lab::new();
    fs::write(lab.path(), BEFORE).unwrap();
    lab.turn(AFTER, true);
    let path = lab.path();
    for act in [
        ChangesAct::TakeBack(Part {
            meant: in_file(&path),
            ..Part::default()
        }),
        lines(in_file(&path), 1..2, text(&path, AFTER, false)),
        lines(in_file(&path), 1..2, text(&path, AFTER, true)),
    ] {
        let refused = lab.act(act).unwrap_err();
        assert!(refused.contains("Claude Code is running Bash"), "{refused}");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), AFTER);
}

#[test]
fn of_several_changes_of_a_file_the_newest_is_meant_that_has_something_there() {
    let mut lab = lab();
    let path = lab.path();
    lab.turn("a\nB\nC\nd\nE\n", false);
    let now = "a\nB\nC\nd\nE\n";
    lab.act(lines(in_file(&path), 2..3, text(&path, now, false)))
        .unwrap();
    assert_eq!(
        (lab.state(0), lab.state(1)),
        ("taken back".into(), "unseen".into())
    );
    lab.act(lines(in_file(&path), 4..5, text(&path, AFTER, false)))
        .unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "a\nB\nc\nd\ne\n");
    assert_eq!(
        lab.state(1),
        "unseen",
        "the other hunk of the first turn waits"
    );
}

/// It is listed where it is now, and only the other hunk can be taken back; by the person, and by a later turn.
#[test]
fn a_hunk_that_somebody_changed_again_is_listed_as_such() {
    for is_turn in [true, false] {
        let mut lab = Lab::new();
        fs::write(lab.path(), BEFORE).unwrap();
        lab.recorder.prepare();
        lab.turn(AFTER, false);
        let mine = "a\nmine\nc\nd\nE\n";
        match is_turn {
            true => lab.turn(mine, false),
            false => fs::write(lab.path(), mine).unwrap(),
        }
        let listed = lab.listed().pop().unwrap().changes.remove(0);
        let hunks = listed.hunks.iter();
        let hunks: Vec<_> = hunks
            .map(|it| (it.lines.clone(), it.is_changed_since, &*it.label))
            .collect();
        let labels = [
            "1.1 unseen, changed since, +1 -1: mine",
            "1.1 unseen +1 -1: E",
        ];
        assert_eq!(hunks, [(1..2, true, labels[0]), (4..5, false, labels[1])]);
        let meant = meant(&listed.id, &listed.revision);
        let on = |line: u32| lines(meant.clone(), line..line + 1, Vec::new());
        lab.act(on(1)).unwrap_err();
        assert_eq!(fs::read_to_string(lab.path()).unwrap(), mine);
        lab.act(on(4)).unwrap();
        let left = fs::read_to_string(lab.path()).unwrap();
        assert_eq!(left, "a\nmine\nc\nd\ne\n");
    }
}

#[cfg(unix)]
#[test]
fn where_only_permissions_have_changed_no_lines_are_counted() {
    use std::os::unix::fs::PermissionsExt;

    let mut lab = Lab::new();
    let path = lab.path();
    fs::write(&path, BEFORE).unwrap();
    let mode = fs::Permissions::from_mode(0o755);
    lab.turn_of(|| fs::set_permissions(path, mode).unwrap(), false);
    let listed = lab.listed().remove(0).changes.remove(0);
    assert_eq!(listed.label, "1.1 unseen");
    assert!(listed.shown.ends_with("mode 644→755"), "{}", listed.shown);
}

#[test]
fn what_is_no_text_is_listed_and_taken_back_as_a_whole() {
    let mut lab = Lab::new();
    let path = lab.path();
    fs::write(&path, b"\0before").unwrap();
    lab.turn("\0after", false);
    let listed = lab.listed().remove(0).changes.remove(0);
    assert_eq!((listed.added, listed.hunks.len()), (None, 0));
    let take_back = Part {
        meant: meant(&listed.id, &listed.revision),
        ..Part::default()
    };
    for (act, told) in [
        (ChangesAct::TakeBack(take_back.clone()), "Do not make"),
        (ChangesAct::Undo(None), "has undone"),
        (ChangesAct::TakeBack(take_back), "Do not make"),
    ] {
        let performed = perform(&lab.store, std::slice::from_ref(&lab.root), act);
        let text = &remarks(performed)[0].text;
        assert!(text.contains(told), "{text}");
        assert!(text.contains("(It is not text.)"), "{text}");
    }
    assert_eq!(fs::read(&path).unwrap(), b"\0before");
}

#[test]
fn what_cannot_be_done_is_said_with_what_to_do() {
    let lab = lab();
    let said = |act: ChangesAct| {
        let done = perform(&lab.store, std::slice::from_ref(&lab.root), act).done;
        assert!(!done.done, "it is done");
        done.message
    };
    let turn = said(ChangesAct::Undo(Some("99".to_owned())));
    assert_eq!(turn, "there is no turn 99; `pillion turns` lists them");
    let change = said(ChangesAct::Keep(meant("1.99", "")));
    assert!(
        change.contains("; `pillion changes --all` lists"),
        "{change}"
    );
    // The same for a list that cannot be made: something else lies where the store is.
    let base = lab.root.parent().unwrap().join("other");
    fs::create_dir_all(base.join("pillion")).unwrap();
    fs::write(base.join("pillion/changes"), "no folder").unwrap();
    let state = [("XDG_STATE_HOME", base)];
    let store = Store::of(&Environment::from_pairs(state)).unwrap();
    let problem = list(&store, std::slice::from_ref(&lab.root), &Unkept::default())
        .problem
        .unwrap();
    assert!(
        problem.ends_with(" is not a folder; remove it, or move it away"),
        "{problem}"
    );
}

/// Also with changed lines. What is decided about the entry is decided about both places, in one act, which is undone as one.
#[test]
fn a_moved_file_is_one_entry() {
    let long: String = (0..40).map(|line| format!("line {line}\n")).collect();
    let changed = long.replace("line 7\n", "LINE 7\n");
    for (after, lines) in [(&long, (0, 0)), (&changed, (1, 1))] {
        let mut lab = Lab::new();
        let (old, new) = (lab.path(), lab.root.join("b.txt"));
        fs::write(&old, &long).unwrap();
        let work = || {
            fs::remove_file(&old).unwrap();
            fs::write(&new, after).unwrap();
        };
        lab.turn_of(work, false);
        let listed = |lab: &Lab| {
            let mut changes = lab.listed().remove(0).changes;
            assert_eq!(changes.len(), 1, "{changes:?}");
            changes.remove(0)
        };
        let row = listed(&lab);
        assert_eq!(row.shown, "a.txt → b.txt");
        let counts = (row.added.unwrap(), row.removed.unwrap());
        assert_eq!(counts, lines);
        let meant = || meant(&row.id, &listed(&lab).revision);
        let undo = || lab.act(ChangesAct::Undo(None)).unwrap();
        lab.act(ChangesAct::Keep(meant())).unwrap();
        assert_eq!(listed(&lab).state, "kept");
        undo();
        assert_eq!(listed(&lab).state, "unseen");
        let meant = meant();
        let take_back = Part {
            meant,
            ..Part::default()
        };
        lab.act(ChangesAct::TakeBack(take_back)).unwrap();
        assert_eq!(fs::read_to_string(&old).unwrap(), long);
        assert!(!new.exists());
        assert_eq!(listed(&lab).state, "taken back");
        undo();
        assert!(!old.exists());
        assert_eq!(fs::read_to_string(&new).unwrap(), *after);
        // So it is for commands, which list both places.
        let named = |act, name: &str| {
            ChangesAct::Named(Named {
                act,
                names: vec![name.to_owned()],
                takes_all: false,
                folders: vec![lab.root.clone()],
                notes: Vec::new(),
                on_lines: Vec::new(),
            })
        };
        let [take_back, undo_both, keep] = [
            named(NamedAct::TakeBack, "1.2"),
            named(NamedAct::Undo, "1.2"),
            named(NamedAct::Keep, "1.1"),
        ];
        lab.act(take_back).unwrap();
        assert_eq!(fs::read_to_string(&old).unwrap(), long);
        assert!(!new.exists());
        lab.act(undo_both).unwrap();
        assert!(!old.exists());
        assert_eq!(fs::read_to_string(&new).unwrap(), *after);
        // What was decided about one place alone stands apart.
        lab.act(keep).unwrap();
        assert_eq!(lab.listed()[0].changes.len(), 2);
    }
}

/// With the new place open in the editor, too: then files are taken back one by one.
#[test]
fn a_moved_file_is_taken_back_as_a_whole_and_not_lost_if_its_former_place_is_taken() {
    for is_open in [false, true] {
        let mut lab = Lab::new();
        let (old, new) = (lab.path(), lab.root.join("b.txt"));
        fs::write(&old, BEFORE).unwrap();
        lab.turn_of(|| fs::rename(&old, &new).unwrap(), false);
        let take_back = |id: &str| {
            let mut act = whole_turn(id);
            if let ChangesAct::TakeBack(act) = &mut act
                && is_open
            {
                act.meant.buffers = text(&new, BEFORE, false);
            }
            lab.act(act)
        };
        fs::write(&old, "mine").unwrap();
        let holds = "b.txt holds the text of a.txt, which is not back · Take them back at once: \
                     `pillion revert 1.2 1.1`; if something else is at a.txt, move that aside before.";
        for id in ["1.2", "1"] {
            let refused = take_back(id).unwrap_err();
            assert!(refused.contains(holds), "{refused}");
            assert_eq!(fs::read_to_string(&new).unwrap(), BEFORE);
        }
        fs::remove_file(&old).unwrap();
        take_back("1").unwrap();
        assert_eq!(fs::read_to_string(&old).unwrap(), BEFORE);
        assert!(!new.exists());
    }
}

/// An editor that has not read the file again shows a text from before one turn or several; some do not know that it is not
/// an unsaved one.
#[test]
fn nothing_is_taken_out_of_a_buffer_that_is_behind_but_of_the_file() {
    const LATER: &str = "a\nB\nC\nd\nE\n";
    for (later, shown, is_modified, left) in [
        (None, BEFORE, true, BEFORE),
        (None, BEFORE, false, BEFORE),
        (Some(LATER), BEFORE, true, AFTER),
        (Some(LATER), AFTER, true, AFTER),
    ] {
        let mut lab = lab();
        if let Some(later) = later {
            lab.turn(later, false);
        }
        let path = lab.path();
        let buffers = text(&path, shown, is_modified);
        let hunk = lab.act(lines(in_file(&path), 1..2, buffers.clone()));
        let refused = hunk.unwrap_err();
        assert!(
            refused.contains("as it was before the agent changed it"),
            "{refused}"
        );
        assert_eq!(lab.state(0), "unseen");
        let all = ChangesAct::TakeBack(Part {
            meant: Meant {
                buffers,
                ..in_file(&path)
            },
            lines: None,
        });
        let done = lab.act(all).unwrap();
        assert!(
            done.edits.is_empty() && !done.message.contains("save it"),
            "{done:?}"
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), left);
        assert_eq!(lab.state(0), "taken back");
    }
}

#[test]
fn what_the_person_says_is_told_with_the_change_the_hunk_or_the_turn() {
    let note = |text: &str| vec![Note::on_all(text)];
    let heard = |lab: &Lab, act: ChangesAct| {
        let done = perform(&lab.store, std::slice::from_ref(&lab.root), act);
        assert!(done.done.done, "{}", done.done.message);
        let told = remarks(done).into_iter().map(|it| it.text);
        told.collect::<Vec<_>>().join("\n")
    };
    let reason = |lab: &Lab| {
        let kept = Kept::read(&lab.store, 1).unwrap();
        kept.reason(&kept.turn.changes[0])
    };
    let with = |notes: Vec<Note>, meant: Meant| Meant { notes, ..meant };
    let lab = lab();
    let id = |id: &str| Meant {
        id: Some(id.to_owned()),
        ..Meant::default()
    };
    // A hunk in a buffer that is not saved, in the file, the turn, and what is kept.
    let path = lab.path();
    let buffer = text(&path, AFTER, true);
    let meant = with(note(" why in the buffer "), in_file(&path));
    let said = heard(&lab, lines(meant, 1..2, buffer));
    assert!(
        said.contains("The user says of this: why in the buffer\n"),
        "{said}"
    );
    assert_eq!(reason(&lab).as_deref(), Some("why in the buffer"));
    heard(&lab, ChangesAct::Undo(Some("1.1".to_owned())));
    let meant = with(note("why here"), in_file(&path));
    let said = heard(&lab, lines(meant, 1..2, text(&path, AFTER, false)));
    assert!(said.contains("The user says of this: why here\n"), "{said}");
    let take_back = ChangesAct::TakeBack(Part {
        meant: with(note("why all"), id("1")),
        ..Part::default()
    });
    let said = heard(&lab, take_back);
    // Of a turn with one change it is said once.
    assert!(
        said.starts_with("The user has taken back your change in "),
        "{said}"
    );
    assert!(said.contains("The user says of this: why all\n"), "{said}");
    heard(&lab, ChangesAct::Undo(Some("1".to_owned())));
    heard(&lab, ChangesAct::Undo(Some("1".to_owned())));
    assert_eq!(reason(&lab), None);
    let said = heard(&lab, ChangesAct::Keep(with(note("good"), id("1.1"))));
    assert!(said.ends_with("and says: good"), "{said}");
    assert_eq!(reason(&lab).as_deref(), Some("good"));
    // Nothing is said with blanks, and nothing done with too much.
    let said = heard(&lab, ChangesAct::Keep(with(note("  "), id("1.1"))));
    assert_eq!((&*said, reason(&lab)), ("", None));
    let long = note(&"x".repeat(10_001));
    let refused = lab.act(ChangesAct::TakeBack(Part {
        meant: with(long, id("1.1")),
        ..Part::default()
    }));
    assert!(refused.unwrap_err().contains("10001 bytes"));
    assert_eq!(lab.state(0), "kept");
}

/// In the place of a cursor that is elsewhere, in the list or nowhere.
#[test]
fn a_change_that_was_typed_is_meant_and_what_may_be_one_is_refused() {
    let typed = |meant: Meant, text: &str| Meant {
        typed: Some(text.to_owned()),
        ..meant
    };
    let said = |lab: &Lab| {
        let kept = Kept::read(&lab.store, 1).unwrap();
        (lab.state(0), kept.reason(&kept.turn.changes[0]))
    };
    let why = Some("why".to_owned());
    for meant in [
        |_: &Path| Meant::default(),
        |_: &Path| meant("9.9", "old"),
        |path: &Path| in_file(&path.with_file_name("other")),
    ] {
        let lab = lab();
        let path = lab.path();
        for text in ["1,1", "1.1 why", "#1", "turn 1", "1.1:why"] {
            let act = lines(typed(meant(&path), text), 1..2, text_of(&path));
            lab.act(act).unwrap_err();
            lab.act(ChangesAct::Keep(typed(meant(&path), text)))
                .unwrap_err();
        }
        assert_eq!(said(&lab), ("unseen".to_owned(), None));
        lab.act(ChangesAct::Keep(typed(meant(&path), "1.1: why")))
            .unwrap();
        assert_eq!(said(&lab), ("kept".to_owned(), why.clone()));
        // All of it, although the cursor was at lines.
        let act = lines(typed(meant(&path), "1"), 1..2, text_of(&path));
        lab.act(act).unwrap();
        assert_eq!(lab.state(0), "taken back");
        assert_eq!(fs::read_to_string(&path).unwrap(), BEFORE);
    }
    // Words alone are about the place of the cursor, and without one about nothing.
    let lab = lab();
    lab.act(ChangesAct::Keep(typed(in_file(&lab.path()), "why")))
        .unwrap();
    assert_eq!(said(&lab), ("kept".to_owned(), why));
    let nothing = lab.act(ChangesAct::Keep(typed(Meant::default(), "why")));
    assert!(nothing.unwrap_err().starts_with("no change is meant here"));
}

fn text_of(path: &Path) -> Vec<BufferText> {
    text(path, AFTER, false)
}

/// A view forgets the words with what is done: they are lost if the agent does not hear them.
#[test]
fn words_of_which_nothing_is_decided_are_not_done() {
    let keep = |_: &Path, meant| ChangesAct::Keep(meant);
    let take_back = |_: &Path, meant| {
        ChangesAct::TakeBack(Part {
            meant,
            ..Part::default()
        })
    };
    type Act<'a> = &'a dyn Fn(&Path, Meant) -> ChangesAct;
    let acts: [(&str, Act<'_>); 4] = [
        ("1", &keep),
        ("1", &take_back),
        ("1.1", &take_back),
        // Beside a buffer.
        ("1.1", &|path, meant| {
            let buffers = text(path, AFTER, false);
            let meant = Meant { buffers, ..meant };
            ChangesAct::TakeBack(Part { meant, lines: None })
        }),
    ];
    for (id, act) in acts {
        let lab = lab();
        let meant = |words: &str| Meant {
            id: Some(id.to_owned()),
            notes: vec![Note::on_all(words)],
            ..Meant::default()
        };
        lab.act(act(&lab.path(), meant("first"))).unwrap();
        // Another view had it on the screen still.
        let done = perform(
            &lab.store,
            std::slice::from_ref(&lab.root),
            act(&lab.path(), meant("late")),
        );
        assert!(!done.done.done, "{}", done.done.message);
        assert!(done.done.message.ends_with(UNSAID), "{}", done.done.message);
        assert!(done.told.is_empty());
        // Without words, nothing is lost.
        lab.act(act(&lab.path(), meant(" "))).unwrap();
    }
}

/// By the undo of an editor, after what was taken back of the file, of a buffer, and in part; with other lines, too.
#[test]
fn what_is_undone_in_an_editor_is_undone_when_it_is_saved() {
    let whole = |path: &Path, buffers| {
        ChangesAct::TakeBack(Part {
            meant: Meant {
                buffers,
                ..in_file(path)
            },
            lines: None,
        })
    };
    let hunk =
        |path: &Path, is_modified| lines(in_file(path), 1..2, text(path, AFTER, is_modified));
    let mine = format!("mine\n{AFTER}");
    type Act<'a> = &'a dyn Fn(&Path) -> ChangesAct;
    let acts: [Act<'_>; 4] = [
        &|path| whole(path, Vec::new()),
        &|path| whole(path, text(path, AFTER, true)),
        &|path| hunk(path, false),
        &|path| hunk(path, true),
    ];
    for (number, act) in acts.into_iter().enumerate() {
        for saved in [AFTER, &mine] {
            let lab = lab();
            let path = lab.path();
            let saved_in_editor =
                |path: &Path| remarks(undone_in_editor(&lab.store, &[1], path, true));
            assert!(saved_in_editor(&path).is_empty());
            lab.act(act(&path)).unwrap();
            // Saved without that: it stays taken back.
            fs::write(&path, format!("{BEFORE}more\n")).unwrap();
            assert!(saved_in_editor(&path).is_empty(), "{number}");
            fs::write(&path, AFTER.replace('B', "b")).unwrap();
            assert!(saved_in_editor(&path).is_empty(), "{number}");
            fs::write(&path, saved).unwrap();
            let undone = saved_in_editor(&path);
            let [undone] = &undone[..] else {
                panic!("{number}: {undone:?}");
            };
            let told = &undone.text;
            assert!(
                told.starts_with("The user has undone what they took back"),
                "{told}"
            );
            assert!(told.contains("\n-b\n+B\n"), "{told}");
            assert_eq!(lab.state(0), "unseen", "{number}");
            // It is told once, and can be taken back again.
            assert!(saved_in_editor(&path).is_empty());
            lab.act(whole(&path, Vec::new())).unwrap();
            assert_eq!(
                fs::read_to_string(&path).unwrap(),
                saved.replace(AFTER, BEFORE)
            );
        }
    }
}

/// What was taken out of the file itself and stands there again is somebody else's.
#[test]
fn what_was_taken_out_of_a_buffer_that_is_thrown_away_is_unseen_again() {
    for is_modified in [true, false] {
        let lab = lab();
        let path = lab.path();
        let read = || remarks(undone_in_editor(&lab.store, &[1], &path, false)).len();
        lab.act(lines(in_file(&path), 1..2, text(&path, AFTER, is_modified)))
            .unwrap();
        assert_eq!(lab.made(), Some("taken back in part"));
        fs::write(&path, AFTER).unwrap();
        assert_eq!(read(), usize::from(is_modified));
        let expected = (!is_modified).then_some("taken back in part");
        assert_eq!(lab.made(), expected);
    }
}

/// Of several hunks, one that was taken out of a buffer that nobody had saved, also where the person had changed another one there.
#[test]
fn of_what_is_undone_in_an_editor_the_agent_hears_that_alone() {
    for unsaved in [format!("mine\n{AFTER}"), AFTER.replace('B', "mine")] {
        let lab = lab();
        let path = lab.path();
        let at = unsaved.lines().position(|line| line == "E").unwrap() as u32;
        let buffers = text(&path, &unsaved, true);
        lab.act(lines(in_file(&path), at..at + 1, buffers)).unwrap();
        assert!(lab.made().is_some(), "{unsaved}");
        fs::write(&path, &unsaved).unwrap();
        let undone = remarks(undone_in_editor(&lab.store, &[1], &path, true));
        let [undone] = &undone[..] else {
            panic!("{unsaved}: {undone:?}");
        };
        let told: Vec<_> = undone.text.lines().collect();
        let changed = told.iter().filter(|it| it.starts_with(['+', '-']));
        assert_eq!(changed.collect::<Vec<_>>(), [&"-e", &"+E"], "{told:?}");
        assert_eq!(lab.made(), None, "{unsaved}");
    }
}

/// The last of two steps is undone by itself.
#[test]
fn what_was_taken_out_before_stays_so() {
    let lab = lab();
    let path = lab.path();
    let without_b = AFTER.replace('B', "b");
    for (at, buffer) in [(1, AFTER), (4, &without_b)] {
        let buffers = text(&path, buffer, true);
        lab.act(lines(in_file(&path), at..at + 1, buffers)).unwrap();
    }
    let saved = || remarks(undone_in_editor(&lab.store, &[1], &path, true)).len();
    fs::write(&path, &without_b).unwrap();
    assert_eq!((saved(), lab.made()), (1, Some("taken back in part")));
    fs::write(&path, AFTER).unwrap();
    assert_eq!((saved(), lab.made()), (1, None));
}

/// Whoever has forgotten it, or put the text back, has done so at the very moment: the view has no words any more.
#[test]
fn the_words_on_a_change_that_is_gone_when_it_is_decided_are_named() {
    for is_forgotten in [true, false] {
        let lab = lab();
        let kept = Kept::read(&lab.store, 1).unwrap();
        let name = kept.name(kept.turn.real_changes().next().unwrap());
        let looked = look(&lab.store, &kept, name, &[], 9).unwrap();
        match is_forgotten {
            true => drop(lab.store.forget_all(&[1], &[]).unwrap()),
            false => fs::write(lab.path(), BEFORE).unwrap(),
        }
        let mut verdict = Verdict::reject();
        verdict.notes = vec![Note::on_all("use the\ntable".to_owned())];
        let acted = decide(&lab.store, &looked.shown[0], &verdict);
        let said = "no agent is told: use the table";
        assert!(acted.done.message.ends_with(said), "{acted:?}");
        assert!(!acted.done.done && remarks(acted).is_empty());
    }
}

/// One of a turn that is listed, which has another one; and one of a turn that could not be begun.
#[test]
fn what_cannot_be_written_yet_is_listed_and_nothing_can_be_decided_about_it() {
    let mut lab = Lab::new();
    lab.turn(AFTER, false);
    let turn = lab.store.turn(1).unwrap();
    let of_turn = |number: u64, change: u64| {
        let path = lab.root.join(format!("{number}.{change}"));
        let change = Change {
            number: change,
            path,
            ..turn.changes[0].clone()
        };
        Turn {
            number,
            changes: vec![change],
            ..turn.clone()
        }
    };
    let unkept = Unkept(Arc::new(recorder::Unkept {
        turns: vec![of_turn(1, 2), of_turn(0, 1)],
        why: "the disk is full".to_owned(),
        ..recorder::Unkept::default()
    }));
    let listed = lab.listed_with(&unkept);
    let changes = |it: &ListedTurn| {
        let changes = it.changes.iter();
        changes.map(|it| it.label.clone()).collect::<Vec<_>>()
    };
    let [unbegun, begun] = &*listed else {
        panic!("{listed:?}");
    };
    assert_eq!(changes(unbegun), ["0.1 not kept yet"]);
    assert_eq!(changes(begun)[1], "1.2 not kept yet");
    assert!(changes(begun)[0].starts_with("1.1 unseen"), "{begun:?}");
    for turn in &listed {
        assert!(
            turn.title.ends_with("; not kept yet: the disk is full"),
            "{turn:?}"
        );
    }
    let keep = ChangesAct::Keep;
    let stage = |id: &str| {
        ChangesAct::Stage(Part {
            meant: meant(id, ""),
            ..Part::default()
        })
    };
    let named = |act, name: &str| {
        ChangesAct::Named(Named {
            act,
            names: vec![name.to_owned()],
            takes_all: false,
            folders: Vec::new(),
            notes: Vec::new(),
            on_lines: Vec::new(),
        })
    };
    for (act, is_refused) in [
        (keep(meant("1.2", "")), true),
        (keep(meant("0.1", "")), true),
        (keep(in_file(&lab.root.join("1.2"))), true),
        (whole_turn("1"), true),
        (stage("1.2"), true),
        (ChangesAct::Look(Some("1.2".to_owned())), true),
        (named(NamedAct::TakeBack, "1.2"), true),
        (named(NamedAct::Stage, "1"), true),
        (named(NamedAct::Keep, "1.1"), false),
        (named(NamedAct::Forget, "1"), false),
        (keep(meant("1.1", "")), false),
        (keep(in_file(&lab.path())), false),
        (stage("1.1"), false),
        (ChangesAct::Look(None), false),
        (ChangesAct::Undo(Some("1".to_owned())), false),
    ] {
        let why = unkept.refusal(&act);
        assert_eq!(why.is_some(), is_refused, "{act:?}");
        let is_said = |it: String| it == "not kept yet: the disk is full";
        assert!(why.is_none_or(is_said), "{act:?}");
    }
}
