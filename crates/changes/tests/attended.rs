//! Agents without hooks: what changes while one is connected.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]
#![cfg(unix)]

mod shared;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pillion_changes::take_back::take_back;
use pillion_changes::{
    Author, Change, ChangeState, FileState, Judged, Judgement, Kept, Recorder, Store, Turn,
};

use pillion_text::fingerprint;
use shared::{WorkTree, recorder, shell};

const AGENT: u64 = 1;
const OTHER: u64 = 2;
const HOOKED: u64 = 3;

const SOON: Duration = Duration::from_secs(60);

struct Lab {
    // Last.
    root: PathBuf,
    store: Store,
    recorder: Recorder,
    _folder: tempfile::TempDir,
}

impl Lab {
    /// With files of these names, and an agent without hooks.
    fn new(names: &[&str]) -> Self {
        let WorkTree {
            root,
            store,
            folder,
        } = WorkTree::new();
        for name in names {
            fs::write(root.join(name), format!("{name}\r\n")).unwrap();
        }
        let mut recorder = recorder(&store, &root);
        recorder.attend(AGENT, "opencode").unwrap();
        Self {
            root,
            store,
            recorder,
            _folder: folder,
        }
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.root.join(name), text).unwrap();
    }

    /// The sessions in whose turns a look has found something.
    fn glance(&mut self) -> Vec<u64> {
        self.recorder.glance().unwrap().sessions
    }

    fn turns(&self) -> Vec<Turn> {
        let numbers = self.store.numbers().unwrap().into_iter();
        numbers.map(|it| self.store.turn(it).unwrap()).collect()
    }

    /// The agent of each turn, with the names of the files that changed in it.
    fn changed(&self) -> Vec<(String, Vec<String>)> {
        let names = |turn: &Turn| turn.real_changes().map(|it| name(&it.path)).collect();
        let turns = self.turns();
        turns
            .iter()
            .map(|it| (it.agent.clone(), names(it)))
            .collect()
    }

    fn text_before(&self, change: &Change) -> Vec<u8> {
        self.store.get(change.before.text().unwrap()).unwrap()
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// The turns that are expected, as [`Lab::changed`] has them.
fn turns(expected: &[(&str, &[&str])]) -> Vec<(String, Vec<String>)> {
    let names = |names: &[&str]| names.iter().map(|&it| it.to_owned()).collect();
    let expected = expected.iter();
    expected
        .map(|(agent, of)| ((*agent).to_owned(), names(of)))
        .collect()
}

#[test]
fn what_changes_while_it_is_connected_is_a_turn_of_which_nobody_knows_the_author() {
    let mut lab = Lab::new(&["edited", "gone", "same"]);
    assert!(lab.glance().is_empty());
    assert!(lab.turns().is_empty(), "nothing has changed");
    lab.write("edited", "new\n");
    lab.write("made", "made\n");
    fs::remove_file(lab.root.join("gone")).unwrap();
    assert_eq!(lab.glance(), [AGENT]);
    assert_eq!(
        lab.changed(),
        turns(&[("opencode", &["gone", "edited", "made"])])
    );
    let turn = &lab.turns()[0];
    assert!(turn.is_without_hooks && turn.ended.is_none());
    let kept = Kept::read(&lab.store, turn.number).unwrap();
    let title = kept.title();
    assert!(
        title.starts_with("turn 1: changes while opencode was connected, "),
        "{title}"
    );
    for change in turn.real_changes() {
        assert_eq!(change.by, Author::Unclear);
        assert_eq!(change.state(None), ChangeState::Unseen);
        if name(&change.path) != "made" {
            let expected = format!("{}\r\n", name(&change.path));
            assert_eq!(lab.text_before(change), expected.as_bytes());
        }
        take_back(&lab.store, &turn.roots, change, None).unwrap();
    }
    assert_eq!(fs::read(lab.root.join("edited")).unwrap(), b"edited\r\n");
    assert_eq!(fs::read(lab.root.join("gone")).unwrap(), b"gone\r\n");
    assert!(!lab.root.join("made").exists());
}

#[test]
fn a_turn_ends_when_the_next_begins_when_it_is_quiet_and_when_the_agent_leaves() {
    let mut lab = Lab::new(&["a"]);
    lab.write("a", "first\n");
    lab.glance();
    // Found as the next one begins, it was written before.
    lab.write("b", "first\n");
    lab.recorder.attended_begins(AGENT).unwrap();
    lab.write("a", "second\n");
    assert_eq!(lab.glance(), [AGENT]);
    // It is not quiet while something changes.
    lab.write("b", "second\n");
    let glance = lab.recorder.attended_is_quiet(AGENT).unwrap();
    assert_eq!(glance.sessions, [AGENT]);
    assert!(lab.turns()[1].ended.is_none());
    lab.recorder.attended_is_quiet(AGENT).unwrap();
    let ended = lab.recorder.ended().unwrap();
    assert!(ended.number == 2 && ended.unseen == 2 && ended.is_without_hooks);
    lab.write("a", "third\n");
    lab.recorder.left(AGENT).unwrap();
    let both: &[&str] = &["a", "b"];
    let expected = [("opencode", both), ("opencode", both), ("opencode", &["a"])];
    assert_eq!(lab.changed(), turns(&expected));
    assert!(lab.turns().iter().all(|turn| turn.ended.is_some()));
    // Nobody is there any more.
    lab.write("a", "fourth\n");
    assert!(lab.glance().is_empty());
    assert_eq!(lab.changed().len(), 3);
}

#[test]
fn a_turn_in_which_all_was_undone_is_none() {
    let mut lab = Lab::new(&["a"]);
    lab.write("a", "new\n");
    lab.glance();
    lab.write("a", "a\r\n");
    lab.glance();
    lab.recorder.attended_is_quiet(AGENT).unwrap();
    assert!(lab.turns().is_empty());
}

#[test]
fn what_a_person_saves_is_theirs_whenever_it_is_heard_of() {
    let mut lab = Lab::new(&["first", "late", "both"]);
    let path = |lab: &Lab, name: &str| lab.root.join(name);
    lab.write("first", "mine\n");
    lab.recorder.saved(&path(&lab, "first")).unwrap();
    assert!(lab.glance().is_empty());
    // A look that comes before the editor's word.
    for name in ["late", "new"] {
        lab.write(name, "mine\n");
        assert_eq!(lab.glance(), [AGENT]);
        lab.recorder.saved(&path(&lab, name)).unwrap();
    }
    // And one of what both have changed.
    lab.write("both", "agent's\nboth\r\n");
    lab.glance();
    lab.write("both", "agent's\nboth\r\nmine\n");
    lab.recorder.saved(&path(&lab, "both")).unwrap();
    lab.recorder.attended_is_quiet(AGENT).unwrap();
    assert_eq!(lab.changed(), turns(&[("opencode", &["both"])]));
    let turn = &lab.turns()[0];
    let change = turn.real_changes().next().unwrap();
    assert_eq!(lab.text_before(change), b"both\r\nmine\n");
}

/// An edited file, a new one, and one that was found in an earlier glance.
/// A look may come in the middle of that.
#[test]
fn what_an_editor_writes_in_place_is_the_persons_whenever_it_is_looked_at() {
    for is_hooked in [false, true] {
        let mut lab = Lab::new(&["a"]);
        if is_hooked {
            lab.recorder.begin(HOOKED, "codex", "").unwrap();
            lab.recorder.before(HOOKED, "codex", shell("1")).unwrap();
        }
        lab.write("a", "");
        lab.glance();
        lab.write("a", "a\r\nmine\r\n");
        lab.recorder.saved(&lab.root.join("a")).unwrap();
        lab.write("a", "agent\r\nmine\r\n");
        lab.glance();
        let turns = lab.turns();
        let changes: Vec<_> = turns.iter().flat_map(Turn::real_changes).collect();
        assert_eq!(changes.len(), 1, "{is_hooked}");
        assert_eq!(lab.text_before(changes[0]), b"a\r\nmine\r\n", "{is_hooked}");
        assert!(!changes[0].is_mixed, "{is_hooked}");
    }
}

#[test]
fn what_an_editor_has_read_and_its_person_saves_unchanged_stays_the_agents() {
    let mut lab = Lab::new(&["edited", "earlier"]);
    lab.write("earlier", "agent's\n");
    lab.glance();
    for name in ["edited", "made"] {
        lab.write(name, "agent's\n");
    }
    lab.glance();
    for name in ["edited", "made", "earlier"] {
        let path = lab.root.join(name);
        lab.recorder.seen(&path).unwrap();
        lab.write(name, "agent's\n");
        lab.recorder.saved(&path).unwrap();
    }
    let all: &[&str] = &["earlier", "edited", "made"];
    assert_eq!(lab.changed(), turns(&[("opencode", all)]));
    // And what they have changed is theirs.
    for name in all {
        lab.write(name, "mine\n");
        lab.recorder.saved(&lab.root.join(name)).unwrap();
    }
    lab.glance();
    for change in lab.turns()[0].real_changes() {
        let text = lab.store.get(change.after.text().unwrap()).unwrap();
        assert_eq!(text, b"mine\n");
    }
}

#[test]
fn what_a_person_has_accepted_is_known_as_accepted() {
    let mut lab = Lab::new(&["seen", "unseen", "other"]);
    for name in ["seen", "unseen"] {
        lab.write(name, "new\n");
    }
    let seen = lab.root.join("seen");
    let beside = fingerprint::of(Some(b"seen\r\n"));
    let shown = move |path: &Path| vec![beside.clone(); usize::from(path == seen)];
    lab.recorder.on_accepted(shown);
    lab.recorder.glance().unwrap();
    lab.write("other", "new\n");
    lab.glance();
    let turn = &lab.turns()[0];
    let state = |change: &Change| (name(&change.path), change.state(None));
    let mut all: Vec<_> = turn.real_changes().map(state).collect();
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    let expected = [
        ("other".to_owned(), ChangeState::Unseen),
        ("seen".to_owned(), ChangeState::Accepted),
        ("unseen".to_owned(), ChangeState::Unseen),
    ];
    assert_eq!(all, expected);
    // What it writes there next, nobody has seen.
    lab.recorder.on_accepted(|_| Vec::new());
    lab.write("seen", "newer\n");
    lab.glance();
    let turn = &lab.turns()[0];
    assert!(
        turn.real_changes()
            .all(|it| it.state(None) == ChangeState::Unseen)
    );
}

/// Whatever comes sooner than the next look.
#[test]
fn what_was_accepted_is_known_as_accepted_to_whoever_finds_it() {
    type Then = fn(&mut Recorder);
    let all: [(&str, Then); 5] = [
        ("it goes", |it| it.left(AGENT).unwrap()),
        ("its hooks speak", |it| {
            it.before(AGENT, "opencode", shell("1")).unwrap();
        }),
        ("another one comes", |it| {
            it.attend(OTHER, "gemini").unwrap();
        }),
        ("the last view goes", |it| it.ends(true).unwrap()),
        ("the last view is killed", |it| it.ends(false).unwrap()),
    ];
    for (what, then) in all {
        let mut lab = Lab::new(&["seen"]);
        let beside = fingerprint::of(Some(b"seen\r\n"));
        lab.recorder.on_accepted(move |_| vec![beside.clone()]);
        lab.write("seen", "new\n");
        then(&mut lab.recorder);
        let change = &lab.turns()[0].changes[0];
        assert_eq!(change.state(None), ChangeState::Accepted, "{what}");
    }
}

#[test]
fn beside_an_agent_with_hooks_each_change_is_listed_once() {
    let mut lab = Lab::new(&["a", "b", "c", "d"]);
    lab.write("a", "before its turn\n");
    lab.recorder.begin(HOOKED, "claude", "go").unwrap();
    lab.recorder.before(HOOKED, "claude", shell("1")).unwrap();
    lab.write("b", "by its call\n");
    lab.recorder.after(HOOKED, "1", |_| Vec::new()).unwrap();
    lab.recorder.end(HOOKED).unwrap();
    lab.write("c", "after its turn\n");
    lab.glance();
    let expected = [("opencode", &["a", "c"][..]), ("claude", &["b"])];
    assert_eq!(lab.changed(), turns(&expected));
    // The other one was at work, so that nobody can tell.
    let turn = &lab.turns()[1];
    assert_eq!(turn.changes[0].by, Author::Unclear);
    lab.recorder.attended_is_quiet(AGENT).unwrap();
    lab.recorder.begin(HOOKED, "claude", "go").unwrap();
    lab.recorder.before(HOOKED, "claude", shell("2")).unwrap();
    lab.write("d", "by its call\n");
    lab.recorder.after(HOOKED, "2", |_| Vec::new()).unwrap();
    let turn = &lab.turns()[2];
    assert_eq!(turn.changes[0].by, Author::Tool("Bash".to_owned()));
}

#[test]
fn of_two_without_hooks_it_is_the_one_that_did_something_last() {
    let mut lab = Lab::new(&["a", "b"]);
    lab.recorder.attend(OTHER, "gemini").unwrap();
    lab.write("a", "new\n");
    assert_eq!(lab.glance(), [OTHER]);
    lab.recorder.attended_is_heard(AGENT);
    lab.write("b", "new\n");
    assert_eq!(lab.glance(), [AGENT]);
    assert_eq!(
        lab.changed(),
        turns(&[("gemini", &["a"]), ("opencode", &["b"])])
    );
}

#[test]
fn an_agent_whose_hooks_speak_is_recorded_by_them_from_then_on() {
    type Speak = fn(&mut Recorder);
    let speaks: [Speak; 2] = [
        |it| assert!(it.begin(AGENT, "opencode", "go").is_ok()),
        |it| it.before(AGENT, "opencode", shell("1")).unwrap(),
    ];
    for speak in speaks {
        let mut lab = Lab::new(&["a", "b", "c"]);
        lab.recorder.attended_begins(AGENT).unwrap();
        lab.write("a", "new\n");
        lab.glance();
        // And the turn of which the hooks tell.
        lab.recorder.attended_begins(AGENT).unwrap();
        speak(&mut lab.recorder);
        lab.write("b", "new\n");
        lab.recorder.end(AGENT).unwrap();
        lab.write("c", "new\n");
        assert!(lab.glance().is_empty(), "a person's");
        let expected = [("opencode", &["a"][..]), ("opencode", &["b"])];
        assert_eq!(lab.changed(), turns(&expected));
        let are_without: Vec<_> = lab.turns().iter().map(|it| it.is_without_hooks).collect();
        assert_eq!(are_without, [true, false]);
    }
}

/// Before it was asked anything, it has changed nothing: its hooks would have told that.
#[test]
fn what_changed_before_hooks_tell_of_the_first_turn_is_not_the_agents() {
    type Speak = fn(&mut Recorder);
    let speaks: [(Speak, bool); 4] = [
        (
            |it| assert!(it.begin(AGENT, "opencode", "go").is_ok()),
            false,
        ),
        // It tells the same in two ways.
        (
            |it| {
                it.attended_begins(AGENT).unwrap();
                it.begin(AGENT, "opencode", "go").unwrap();
            },
            false,
        ),
        (|it| it.attended_had_no_turn(AGENT).unwrap(), false),
        // In the middle of a turn.
        (|it| it.before(AGENT, "opencode", shell("1")).unwrap(), true),
    ];
    for (speak, is_kept) in speaks {
        let mut lab = Lab::new(&["a", "b"]);
        lab.write("a", "new\n");
        lab.glance();
        // A quiet while.
        lab.recorder.attended_is_quiet(AGENT).unwrap();
        lab.write("b", "new\n");
        speak(&mut lab.recorder);
        let without = lab.turns().into_iter().filter(|it| it.is_without_hooks);
        assert_eq!(without.count(), if is_kept { 2 } else { 0 });
    }
    let mut lab = Lab::new(&["a"]);
    lab.write("a", "new\n");
    lab.glance();
    let judged = Judged {
        judgement: Judgement::Kept,
        after: lab.turns()[0].changes[0].after.clone(),
        made: 0,
        at: 0,
        overwritten: None,
        written: None,
        in_editor: None,
        folder_modes: Vec::new(),
        made_way: Vec::new(),
        linked: None,
        notes: Vec::new(),
        former: None,
    };
    lab.store.judge(1, [(1, Some(&judged))]).unwrap();
    lab.recorder.attended_had_no_turn(AGENT).unwrap();
    assert_eq!(lab.turns().len(), 1, "what a person has judged stays");
    let mut lab = Lab::new(&["a"]);
    lab.write("a", "new\n");
    lab.glance();
    fs::create_dir(lab.store.path().join("turns/1/judged.jsonl")).unwrap();
    lab.recorder.attended_had_no_turn(AGENT).unwrap();
    assert_eq!(lab.turns().len(), 1, "they may have judged it");
}

/// An edited file, a new one, one that is gone, and one that is changed once more.
#[test]
fn what_was_found_when_no_turn_could_be_kept_is_put_down_when_one_can() {
    let mut lab = Lab::new(&["edited", "gone", "twice"]);
    let in_the_way = lab.store.path().join("turns");
    let _ = fs::remove_dir(&in_the_way);
    fs::write(&in_the_way, "").unwrap();
    lab.write("edited", "new\n");
    lab.write("made", "new\n");
    lab.write("twice", "once\n");
    fs::remove_file(lab.root.join("gone")).unwrap();
    assert_eq!(lab.glance(), [AGENT]);
    assert!(lab.recorder.problem().is_some());
    assert!(lab.glance().is_empty());
    lab.write("twice", "new\n");
    assert_eq!(lab.glance(), [AGENT]);
    // And one of which an editor says late that its person has saved it.
    lab.write("mine", "new\n");
    assert_eq!(lab.glance(), [AGENT]);
    lab.recorder.saved(&lab.root.join("mine")).unwrap_err();
    fs::remove_file(&in_the_way).unwrap();
    lab.recorder.catch_up().unwrap();
    let turns = lab.turns();
    let mut found = Vec::new();
    for change in turns[0].real_changes() {
        let text = |state: &FileState| {
            let text = lab.store.text_of(state).unwrap();
            text.map(|text| String::from_utf8(text).unwrap())
        };
        let name = name(&change.path);
        found.push((name, text(&change.before), text(&change.after)));
    }
    found.sort();
    let text = |text: &str| Some(text.to_owned());
    let new = || text("new\n");
    assert_eq!(
        found,
        [
            ("edited".to_owned(), text("edited\r\n"), new()),
            ("gone".to_owned(), text("gone\r\n"), None),
            ("made".to_owned(), None, new()),
            ("twice".to_owned(), text("twice\r\n"), new()),
        ]
    );
}

#[test]
fn what_editors_write_for_themselves_is_no_change() {
    let mut lab = Lab::new(&["a"]);
    for name in [".a.swp", "a~", "#a#", "4913", "server.log"] {
        lab.write(name, "x\n");
    }
    assert!(lab.glance().is_empty());
    assert!(lab.turns().is_empty());
    lab.write("swp", "x\n");
    assert_eq!(lab.glance(), [AGENT]);
    assert_eq!(lab.changed(), turns(&[("opencode", &["swp"])]));
}

#[cfg(target_os = "linux")]
#[test]
fn that_something_has_changed_is_told_until_the_agent_has_gone() {
    let mut lab = Lab::new(&["a"]);
    let (sender, stirred) = crossbeam_channel::unbounded();
    let tell = std::sync::Mutex::new(sender);
    lab.recorder.on_stir(move || {
        let _ = tell.lock().unwrap().send(());
    });
    assert!(lab.recorder.glance().unwrap().is_watched);
    stirred.recv_timeout(SOON).expect("what came before");
    lab.glance();
    lab.write("a", "new\n");
    stirred.recv_timeout(SOON).expect("a change");
    assert_eq!(lab.glance(), [AGENT]);
    // A folder that is new is watched, and so is what is in it.
    let inner = lab.root.join("inner");
    fs::create_dir(&inner).unwrap();
    stirred.recv_timeout(SOON).expect("a new folder");
    lab.glance();
    stirred
        .recv_timeout(SOON)
        .expect("what came in it meanwhile");
    lab.glance();
    fs::write(inner.join("b"), "new\n").unwrap();
    stirred.recv_timeout(SOON).expect("a change there");
    lab.recorder.left(AGENT).unwrap();
    drop(lab.recorder);
    while stirred.recv_timeout(SOON).is_ok() {}
}
