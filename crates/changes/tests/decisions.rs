//! A person's decisions about proposals, and what they write before that, in a store of its own.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use pillion_changes::history::{self, Item};
use pillion_changes::store::MAX_ENTRIES;
use pillion_changes::{
    Decision, Entry, EntryRef, EntryState, FileState, Offer, Proposal, Recorder, Store,
    WriteOutcome,
};
use pillion_discovery::Environment;
use pillion_protocol::Note;

/// A user's folders.
struct World {
    folder: tempfile::TempDir,
    environment: Environment,
    store: Store,
}

/// The texts of a proposal: a file, the text before, and the proposed one.
type Texts = (&'static str, Option<&'static [u8]>, Option<&'static str>);

/// A proposal as the recorder is told of it.
struct Shown((u64, u32), Proposal, (Option<Vec<u8>>, Option<Arc<String>>));

impl Shown {
    fn to(self, recorder: &mut Recorder) {
        recorder.proposed(self.0, self.1, self.2);
    }
}

const USUAL: Texts = ("a.txt", Some(b"1\n2\n3\n"), Some("one\n2\n3\n"));
const MINE: &str = "one\n2\nmine\n";

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        fs::create_dir_all(&state).unwrap();
        fs::create_dir_all(folder.path().join("w")).unwrap();
        let state = state.to_str().unwrap().to_owned();
        let environment =
            Environment::from_pairs([("XDG_STATE_HOME", state.as_str()), ("HOME", "/h")]);
        let store = Store::of(&environment).unwrap();
        Self {
            folder,
            environment,
            store,
        }
    }

    fn root(&self) -> PathBuf {
        pillion_discovery::real_path(self.folder.path()).join("w")
    }

    /// One for each hub.
    fn recorder(&self) -> Recorder {
        let store = Store::of(&self.environment).unwrap();
        Recorder::new(store, &[self.root()], Vec::new())
    }

    /// The number of texts in the store.
    fn texts(&self) -> usize {
        let parts = fs::read_dir(self.store.path().join("texts"));
        let parts = parts.into_iter().flatten().map(Result::unwrap);
        parts
            .map(|it| fs::read_dir(it.path()).unwrap().count())
            .sum()
    }

    fn proposal(&self, id: u64, revision: u32, texts: Texts) -> Shown {
        let (name, before, proposed) = texts;
        let is_there = before.map(|_| FileState::unknown());
        let proposal = Proposal {
            agent: "gemini".to_owned(),
            path: self.root().join(name),
            roots: vec![self.root()],
            set: None,
            written: None,
            before: is_there.unwrap_or(FileState::Absent),
            proposed: FileState::Absent,
        };
        let proposed = proposed.map(|text| Arc::new(text.to_owned()));
        Shown(
            (id, revision),
            proposal,
            (before.map(<[u8]>::to_vec), proposed),
        )
    }

    fn log(&self) -> Vec<Entry> {
        self.store.entries().unwrap()
    }

    fn states(&self) -> Vec<EntryState> {
        self.log().iter().map(|it| it.state).collect()
    }

    fn after(&self, entry: &Entry) -> Option<String> {
        let text = self.store.text_of(entry.after()).unwrap();
        text.map(|text| String::from_utf8(text).unwrap())
    }

    /// The process that had them pending is gone.
    fn hub_is_killed(&self) {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        for mut entry in self.log() {
            entry.pending_in = entry.pending_in.map(|_| child.id());
            entry.awaited_in = entry.awaited_in.map(|_| child.id());
            self.store.save_entry(&entry).unwrap();
        }
    }
}

fn accepted(edited: Option<&str>) -> Decision {
    Decision {
        is_accepted: true,
        edited: edited.map(|it| Arc::new(it.to_owned())),
        notes: Vec::new(),
        unsaid: Vec::new(),
        session: None,
    }
}

fn rejected(reason: &str) -> Decision {
    let note = Note::on_all(reason);
    Decision {
        is_accepted: false,
        edited: None,
        notes: vec![note],
        unsaid: Vec::new(),
        session: None,
    }
}

fn offered(recorder: &mut Recorder) -> Vec<(u64, String)> {
    let offers = recorder.offers(None).unwrap().into_iter();
    offers.map(|Offer { id, text, .. }| (id, text)).collect()
}

/// Their agents ask in windows of their own, which nobody closes.
#[test]
fn what_agents_still_ask_about_when_their_companion_ends_is_in_the_log_once() {
    let world = World::new();
    let folders = [world.root()];
    let mut killed = world.recorder();
    for id in 1..=3 {
        world.proposal(id, 1, USUAL).to(&mut killed);
    }
    for id in 1..=2 {
        killed.asks_elsewhere(id).unwrap();
    }
    killed.decided(2, accepted(None)).unwrap();
    let mut next = world.recorder();
    assert_eq!(next.take_left(&folders).unwrap(), [], "its process lives");
    killed.leave_all().unwrap();
    killed.closed_all().unwrap();
    let elsewhere = [world.root().with_file_name("elsewhere")];
    assert_eq!(next.take_left(&elsewhere).unwrap(), []);
    let left = next.take_left(&folders).unwrap();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(world.after(&left[0]).as_deref(), USUAL.2);
    assert_eq!(next.take_left(&folders).unwrap(), [], "once");
    let states = [EntryState::Undecided, EntryState::Accepted];
    assert!(states.iter().all(|it| world.states().contains(it)));
    assert_eq!(
        next.offers(None).unwrap(),
        [],
        "it is nothing that the person wrote"
    );
}

#[test]
fn each_decision_is_kept_with_all_its_texts() {
    let crlf: Texts = ("b.txt", Some(b"\xef\xbb\xbfa\r\nb"), Some("\u{feff}A\r\nb"));
    let new: Texts = ("new", None, Some("no last line feed"));
    let deleted: Texts = ("gone", Some(b"x\n"), None);
    for (texts, decided, state, after) in [
        (
            USUAL,
            accepted(Some("one\n2\n3\n")),
            EntryState::Accepted,
            Some("one\n2\n3\n"),
        ),
        (USUAL, accepted(Some(MINE)), EntryState::Edited, Some(MINE)),
        (
            crlf,
            accepted(Some("\u{feff}A\r\nc")),
            EntryState::Edited,
            Some("\u{feff}A\r\nc"),
        ),
        (
            crlf,
            rejected("no"),
            EntryState::Rejected,
            Some("\u{feff}A\r\nb"),
        ),
        (
            new,
            rejected("not here"),
            EntryState::Rejected,
            Some("no last line feed"),
        ),
        (
            new,
            accepted(None),
            EntryState::Accepted,
            Some("no last line feed"),
        ),
        (deleted, accepted(None), EntryState::Accepted, None),
        (deleted, accepted(Some("")), EntryState::Accepted, None),
        (
            deleted,
            accepted(Some("x\n")),
            EntryState::Edited,
            Some("x\n"),
        ),
        (deleted, rejected(""), EntryState::Rejected, None),
    ] {
        let world = World::new();
        let mut recorder = world.recorder();
        world.proposal(1, 1, texts).to(&mut recorder);
        let reason = decided.notes.first().map_or("", |it| &it.text).to_owned();
        recorder.decided(1, decided).unwrap();
        let [entry] = &world.log()[..] else {
            panic!("{:?}", world.log());
        };
        assert_eq!((entry.state, world.after(entry).as_deref()), (state, after));
        let before = world.store.text_of(&entry.proposal.before).unwrap();
        assert_eq!(before.as_deref(), texts.1);
        assert_eq!(entry.reason(), reason);
        let items = history::read(&world.store, &[&world.root()], 9).unwrap();
        assert_eq!(items, [Item::Entry(Box::new(entry.clone()))]);
        let elsewhere = history::read(&world.store, &[Path::new("/elsewhere")], 9).unwrap();
        assert_eq!(elsewhere, []);
        recorder.decided(1, rejected("twice")).unwrap();
        assert_eq!(world.log().len(), 1, "one decision of each");
    }
}

#[test]
fn what_was_written_outlives_a_view_a_hub_and_the_agent_and_is_offered_again() {
    type End = fn(&World, Recorder) -> Recorder;
    let ends: [(&str, End); 4] = [
        ("the view", |_, mut recorder| {
            recorder.view_left(1).unwrap();
            recorder
        }),
        ("the hub", |world, _| {
            world.hub_is_killed();
            world.recorder()
        }),
        ("the companion", |world, mut recorder| {
            recorder.closed_all().unwrap();
            world.recorder()
        }),
        ("the agent", |_, mut recorder| {
            recorder.closed(1).unwrap();
            recorder
        }),
    ];
    let crlf: Texts = ("b.txt", Some(b"\xef\xbb\xbfa\r\nb"), Some("\u{feff}A\r\nb"));
    let new: Texts = ("new", None, Some("x"));
    for (name, end) in ends {
        for (texts, mine) in [(USUAL, MINE), (crlf, "\u{feff}A\r\nmine"), (new, "")] {
            let world = World::new();
            let mut recorder = world.recorder();
            world.proposal(1, 1, texts).to(&mut recorder);
            recorder.edited(1, 1, 1, Some("first")).unwrap();
            recorder.edited(1, 1, 1, Some(mine)).unwrap();
            assert_eq!(offered(&mut recorder), [], "the view has it");
            let mut recorder = end(&world, recorder);
            world.proposal(2, 1, texts).to(&mut recorder);
            let other = ("other", texts.1, texts.2);
            world.proposal(3, 1, other).to(&mut recorder);
            let offers = recorder.offers(None).unwrap();
            let of_file = offers.iter().find(|it| it.id == 2).unwrap();
            assert_eq!(of_file.text, mine, "{name}");
            assert!(offers.iter().all(|it| it.id != 3));
            // It is in the view again.
            recorder.edited(2, 1, 7, Some(mine)).unwrap();
            assert!(
                !offered(&mut recorder).iter().any(|(id, _)| *id == 2),
                "{name}"
            );
            assert_eq!(world.states(), [EntryState::Undecided], "no copies");
            recorder.decided(2, accepted(Some(mine))).unwrap();
            assert_eq!(world.states(), [EntryState::Edited], "{name}");
        }
    }
}

/// Also while the person goes through them: what they look at takes no other one's place.
#[test]
fn what_was_written_in_two_views_is_offered_the_newest_last() {
    let world = World::new();
    let mut recorder = world.recorder();
    world.proposal(1, 1, USUAL).to(&mut recorder);
    let (edit, exclusion) = (MINE, "1\n2\n3\n");
    recorder.edited(1, 1, 1, Some(edit)).unwrap();
    recorder.edited(1, 1, 2, Some(exclusion)).unwrap();
    let both = |id| [(id, edit.to_owned()), (id, exclusion.to_owned())];
    let ends: [fn(&mut Recorder, u64); 2] = [
        |recorder, id| recorder.closed(id).unwrap(),
        |recorder, _| {
            for view in [1, 2, 7] {
                recorder.view_left(view).unwrap();
            }
        },
    ];
    ends[0](&mut recorder, 1);
    for (id, end) in [2, 3].into_iter().zip(ends) {
        world.proposal(id, 1, USUAL).to(&mut recorder);
        let offers = offered(&mut recorder);
        assert_eq!(offers.len(), 2);
        assert!(both(id).iter().all(|it| offers.contains(it)), "{offers:?}");
        for text in [exclusion, edit, exclusion] {
            recorder.edited(id, 1, 7, Some(text)).unwrap();
        }
        assert_eq!(world.log().len(), 2, "no copies");
        end(&mut recorder, id);
    }
    assert_eq!(offered(&mut recorder).len(), 2);
    recorder.edited(3, 1, 8, Some(edit)).unwrap();
    recorder.decided(3, accepted(Some(edit))).unwrap();
    let states = [EntryState::Undecided, EntryState::Edited];
    assert!(states.iter().all(|it| world.states().contains(it)));
    world.proposal(4, 1, USUAL).to(&mut recorder);
    assert_eq!(offered(&mut recorder), [], "they have decided without it");
}

#[test]
fn it_is_offered_for_the_same_file_or_the_same_text_until_that_is_decided() {
    let same_text: Texts = ("a.txt", Some(b"now\n"), USUAL.2);
    let same_file: Texts = ("a.txt", USUAL.1, Some("another\n2\n3\n"));
    let others: Texts = ("a.txt", Some(b"now\n"), Some("another\n2\n3\n"));
    let both: Texts = ("a.txt", USUAL.1, Some("one\n2\ntheirs\n"));
    let along = Some("another\n2\nmine\n");
    for (texts, expected) in [
        (same_text, Some(MINE)),
        (same_file, along),
        (both, Some(MINE)),
        (others, None),
    ] {
        let world = World::new();
        let mut recorder = world.recorder();
        world.proposal(1, 1, USUAL).to(&mut recorder);
        recorder.edited(1, 1, 1, Some(MINE)).unwrap();
        recorder.closed(1).unwrap();
        world.proposal(2, 1, texts).to(&mut recorder);
        let expected = expected.map(|text| (2, text.to_owned()));
        assert_eq!(offered(&mut recorder), Vec::from_iter(expected));
        recorder.decided(2, rejected("no")).unwrap();
        assert_eq!(
            world.states(),
            [EntryState::Undecided, EntryState::Rejected]
        );
        assert_eq!(
            world.after(&world.log()[0]).as_deref(),
            Some(MINE),
            "it is not lost"
        );
        world.proposal(3, 1, texts).to(&mut recorder);
        assert_eq!(
            offered(&mut recorder),
            [],
            "the person has decided without it"
        );
    }
    let world = World::new();
    let mut recorder = world.recorder();
    world.proposal(1, 1, USUAL).to(&mut recorder);
    recorder.edited(1, 1, 1, Some(MINE)).unwrap();
    recorder.closed(1).unwrap();
    let mut other = world.proposal(2, 1, USUAL);
    "claude".clone_into(&mut other.1.agent);
    other.to(&mut recorder);
    assert_eq!(offered(&mut recorder), [], "another agent's");
}

#[test]
fn a_newer_revision_takes_a_text_along_or_leaves_it() {
    for (newer, text, left) in [
        ("one\ntwo\n3\n", "one\ntwo\nmine\n", 1),
        ("one\n2\nthree\n", "one\n2\nthree!\n", 2),
        ("one\n2\n3\n", MINE, 1),
    ] {
        let world = World::new();
        let mut recorder = world.recorder();
        world.proposal(1, 1, USUAL).to(&mut recorder);
        recorder.edited(1, 1, 1, Some(MINE)).unwrap();
        let mut second = world.proposal(1, 2, USUAL);
        second.2.1 = Some(Arc::new(newer.to_owned()));
        second.to(&mut recorder);
        recorder.edited(1, 1, 1, Some("late")).unwrap();
        recorder.edited(1, 2, 1, Some(text)).unwrap();
        let texts: Vec<_> = world
            .log()
            .iter()
            .filter_map(|it| world.after(it))
            .collect();
        assert_eq!(texts.len(), left, "{texts:?}");
        assert_eq!(texts.last().map(String::as_str), Some(text));
        recorder.edited(1, 2, 1, None).unwrap();
        assert_eq!(world.log().len(), left - 1);
    }
}

#[test]
fn what_two_views_have_is_kept_apart() {
    let world = World::new();
    let mut recorder = world.recorder();
    world.proposal(1, 1, USUAL).to(&mut recorder);
    recorder.edited(1, 1, 1, Some(MINE)).unwrap();
    recorder.edited(1, 1, 2, Some("other\n")).unwrap();
    recorder.decided(1, accepted(Some("other\n"))).unwrap();
    assert_eq!(world.states(), [EntryState::Undecided, EntryState::Edited]);
    assert_eq!(world.after(&world.log()[0]).as_deref(), Some(MINE));
}

#[test]
fn a_decision_belongs_to_the_turn_that_goes_on() {
    for (session, agents, expected) in [
        (Some(1), &["gemini", "gemini"][..], Some(1)),
        (None, &["gemini", "claude"], Some(1)),
        (None, &["gemini", "gemini"], None),
        (None, &["claude"], None),
        (None, &[], None),
    ] {
        let world = World::new();
        let mut recorder = world.recorder();
        for (session, agent) in (1..).zip(agents) {
            recorder.begin(session, agent, "prompt").unwrap();
        }
        world.proposal(9, 1, USUAL).to(&mut recorder);
        let decided = Decision {
            session,
            ..rejected("no")
        };
        recorder.decided(9, decided).unwrap();
        assert_eq!(world.log()[0].turn, expected, "{session:?} {agents:?}");
        for session in 1..=agents.len() as u64 {
            recorder.end(session).unwrap();
        }
        let kept = world.store.numbers().unwrap();
        assert_eq!(
            kept,
            Vec::from_iter(expected),
            "a turn without any is not kept"
        );
    }
}

#[test]
fn old_entries_go_and_their_texts_with_them() {
    let world = World::new();
    let mut recorder = world.recorder();
    for (id, name) in [(1, "draft"), (2, "decided"), (3, "newest")] {
        let texts = (name, USUAL.1, USUAL.2);
        world.proposal(id, 1, texts).to(&mut recorder);
        match id {
            1 => {
                recorder.edited(id, 1, 1, Some(MINE)).unwrap();
                recorder.closed(id).unwrap();
            }
            _ => recorder.decided(id, accepted(Some(name))).unwrap(),
        }
    }
    let days = |days: u64| SystemTime::now() + Duration::from_secs(days * 24 * 60 * 60 + 60);
    let newest = world.log().pop().unwrap();
    assert_eq!(world.after(&newest).as_deref(), Some("newest"));
    for (age, expected) in [(6, &[1, 2, 3][..]), (8, &[1]), (29, &[1]), (31, &[])] {
        world.store.tidy(days(age), |_| false).unwrap();
        let numbers: Vec<_> = world.log().iter().map(|it| it.number).collect();
        assert_eq!(numbers, expected, "{age} days");
    }
    assert!(world.store.forget_entry(EntryRef(3)).is_err());
    world
        .store
        .remove_texts(
            SystemTime::now() + Duration::from_secs(1),
            Duration::ZERO,
            |_| false,
        )
        .unwrap();
    assert!(
        world.store.text_of(newest.after()).is_err(),
        "nothing needs it"
    );
}

#[test]
fn no_more_decisions_are_kept_than_the_limit() {
    let world = World::new();
    let mut recorder = world.recorder();
    for id in 0..MAX_ENTRIES as u64 + 20 {
        world.proposal(id, 1, USUAL).to(&mut recorder);
        recorder.decided(id, rejected("no")).unwrap();
    }
    world.store.tidy(SystemTime::now(), |_| false).unwrap();
    let numbers: Vec<_> = world.log().iter().map(|it| it.number).collect();
    assert_eq!(numbers.len(), MAX_ENTRIES);
    assert_eq!(
        (numbers[0], numbers.last()),
        (21, Some(&(MAX_ENTRIES as u64 + 20)))
    );
}

#[test]
fn two_recorders_never_take_one_number() {
    let world = World::new();
    let threads: Vec<_> = (0..4)
        .map(|at| {
            let mut recorder = world.recorder();
            let proposals: Vec<_> = (0..20).map(|id| world.proposal(id, 1, USUAL)).collect();
            std::thread::spawn(move || {
                for (id, proposal) in (0..).zip(proposals) {
                    proposal.to(&mut recorder);
                    match at % 2 {
                        0 => recorder
                            .edited(id, 1, 1, Some(&format!("{at} {id}")))
                            .unwrap(),
                        _ => recorder.decided(id, rejected("no")).unwrap(),
                    }
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let log = world.log();
    let mut numbers: Vec<_> = log.iter().map(|it| it.number).collect();
    numbers.dedup();
    assert_eq!((log.len(), numbers.len()), (80, 80));
}

#[cfg(unix)]
#[test]
fn nobody_else_can_read_it_and_what_is_damaged_is_left_out() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let mut recorder = world.recorder();
    for id in 1..=3 {
        world.proposal(id, 1, USUAL).to(&mut recorder);
        recorder.decided(id, accepted(Some(MINE))).unwrap();
    }
    let folder = world.store.path().join("log/0");
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let files: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|it| it.unwrap().path())
        .collect();
    assert_eq!(files.len(), 3);
    assert!(files.iter().all(|file| mode(file) == 0o600));
    world.proposal(9, 1, USUAL).to(&mut recorder);
    recorder.edited(9, 1, 1, Some(MINE)).unwrap();
    let drafts = world.store.path().join("drafts");
    assert_eq!(
        (mode(&drafts), mode(&drafts.join("4.json"))),
        (0o700, 0o600)
    );
    recorder.edited(9, 1, 1, None).unwrap();
    fs::write(folder.join("1.json"), "{").unwrap();
    fs::write(folder.join("x.json"), "{}").unwrap();
    fs::remove_file(folder.join("2.json")).unwrap();
    std::os::unix::fs::symlink("3.json", folder.join("2.json")).unwrap();
    let texts = world.texts();
    let removed = world
        .store
        .remove_texts(SystemTime::now(), Duration::ZERO, |_| false);
    assert!(removed.is_err(), "it may need any text");
    assert_eq!(world.texts(), texts);
    let numbers: Vec<_> = world.log().iter().map(|it| it.number).collect();
    assert_eq!(numbers, [3]);
    world.proposal(4, 1, USUAL).to(&mut recorder);
    recorder.decided(4, rejected("")).unwrap();
    assert_eq!(world.log().last().unwrap().number, 5);
}

#[test]
fn a_proposal_that_nobody_decides_about_or_edits_leaves_nothing() {
    let world = World::new();
    let mut recorder = world.recorder();
    world.proposal(1, 1, USUAL).to(&mut recorder);
    recorder.edited(1, 1, 1, None).unwrap();
    assert_eq!(offered(&mut recorder), []);
    recorder.closed(1).unwrap();
    assert_eq!((world.log().len(), world.texts()), (0, 0));
    world.proposal(2, 1, USUAL).to(&mut recorder);
    recorder.decided(2, accepted(None)).unwrap();
    assert_eq!(
        (world.log().len(), world.texts()),
        (1, 2),
        "before and after"
    );
}

#[test]
fn a_text_that_was_accepted_is_the_one_in_the_log_whatever_was_heard_of_its_proposal() {
    let world = World::new();
    let mut recorder = world.recorder();
    for (id, text, state) in [
        (1, USUAL.2, EntryState::Accepted),
        // A newer revision of which the disk was too slow to take note.
        (2, Some("newer\n"), EntryState::Edited),
    ] {
        world.proposal(id, 1, USUAL).to(&mut recorder);
        recorder.decided(id, accepted(text)).unwrap();
        let log = world.log();
        let entry = log.last().unwrap();
        assert_eq!(entry.state, state);
        assert_eq!(world.after(entry).as_deref(), text);
    }
}

#[test]
fn numbers_go_on_where_those_before_were_removed() {
    let world = World::new();
    let (mut one, mut other) = (world.recorder(), world.recorder());
    let decide = |recorder: &mut Recorder, id| {
        world.proposal(id, 1, USUAL).to(recorder);
        recorder.decided(id, rejected("no")).unwrap();
        world.log().last().unwrap().number
    };
    assert_eq!(decide(&mut one, 1), 1);
    // A draft has a number for as long as it is there, and an entry after it keeps its own.
    world.proposal(2, 1, USUAL).to(&mut other);
    other.edited(2, 1, 1, Some(MINE)).unwrap();
    assert_eq!(decide(&mut other, 3), 3);
    other.decided(2, accepted(Some(MINE))).unwrap();
    let numbers = |world: &World| world.log().iter().map(|it| it.number).collect::<Vec<_>>();
    assert_eq!(numbers(&world), [1, 3, 4]);
    assert_eq!(decide(&mut one, 5), 5);
    for id in 6..=105 {
        decide(&mut one, id);
    }
    for name in 100..=104 {
        world.store.forget_entry(EntryRef(name)).unwrap();
    }
    assert_eq!(decide(&mut other, 200), 106);
    world.store.forget_entry(EntryRef(106)).unwrap();
    world.store.forget_entry(EntryRef(105)).unwrap();
    assert_eq!(decide(&mut other, 201), 107, "the last folder was empty");
    let later = SystemTime::now() + Duration::from_secs(8 * 24 * 60 * 60);
    world.store.tidy(later, |_| false).unwrap();
    let parts = fs::read_dir(world.store.path().join("log")).unwrap();
    let parts: Vec<_> = parts.map(|it| it.unwrap().file_name()).collect();
    assert_eq!((numbers(&world), parts), (vec![], vec!["1".into()]));
    fs::remove_dir_all(world.store.path()).unwrap();
    world.proposal(202, 1, USUAL).to(&mut other);
    other.edited(202, 1, 1, Some(MINE)).unwrap();
    assert_eq!(
        numbers(&world),
        [108],
        "a draft, in a store that was removed"
    );
}

#[test]
fn stores_in_turn_count_over_the_end_of_a_folder() {
    let world = World::new();
    let mut recorders = [world.recorder(), world.recorder(), world.recorder()];
    for number in 1..=305 {
        let recorder = &mut recorders[usize::try_from(number % 3).unwrap()];
        world.proposal(number, 1, USUAL).to(recorder);
        recorder.decided(number, rejected("no")).unwrap();
        let entry = world.store.entry(EntryRef(number)).unwrap();
        assert_eq!(entry.number, number);
    }
    let numbers: Vec<_> = world.log().iter().map(|it| it.number).collect();
    assert_eq!(numbers, (1..=305).collect::<Vec<_>>());
}

#[test]
fn an_entry_that_a_killed_process_has_only_begun_is_removed() {
    let world = World::new();
    let mut recorder = world.recorder();
    world.proposal(1, 1, USUAL).to(&mut recorder);
    recorder.decided(1, rejected("no")).unwrap();
    let name = format!(".pillion-7-{}", "a".repeat(32));
    let file = world.store.path().join("log/0").join(name);
    fs::write(&file, "{").unwrap();
    let tidy = |time: Duration| {
        world
            .store
            .tidy(SystemTime::now() + time, |_| false)
            .unwrap()
    };
    tidy(Duration::from_secs(60));
    assert!(file.exists(), "it may be written yet");
    tidy(Duration::from_secs(2 * 60 * 60));
    assert!(!file.exists());
    assert_eq!(world.log().len(), 1);
}

/// The agent takes its proposal away, once more the same, or the hub ends: what the person had to say of it is in the log.
#[test]
fn notes_on_what_nobody_decided_are_in_the_log_once() {
    let world = World::new();
    let mut recorder = world.recorder();
    let why = |text: &str| vec![Note::on_all(text)];
    for ends in [Recorder::closed_all, |it: &mut Recorder| it.closed(1)] {
        world.proposal(1, 1, USUAL).to(&mut recorder);
        recorder.noted(1, why("first")).unwrap();
        recorder.noted(1, why("why?")).unwrap();
        ends(&mut recorder).unwrap();
        let [entry] = &world.log()[..] else {
            panic!("{:?}", world.log());
        };
        let (state, reason) = (entry.state, entry.reason());
        assert_eq!((state, &*reason), (EntryState::Undecided, "why?"));
        // There is no text to offer.
        world.proposal(2, 1, USUAL).to(&mut recorder);
        assert_eq!(offered(&mut recorder), []);
        recorder.closed(2).unwrap();
    }
    // Beside what the person has made of it.
    world.proposal(3, 1, USUAL).to(&mut recorder);
    recorder.edited(3, 1, 1, Some(MINE)).unwrap();
    recorder.noted(3, why("like this")).unwrap();
    recorder.closed(3).unwrap();
    let log = world.log();
    let last = log.last().unwrap();
    assert_eq!(
        (last.reason(), world.after(last)),
        ("like this".to_owned(), Some(MINE.to_owned()))
    );
    // Said in the view before that has closed: the new ones, once.
    recorder
        .noted(3, vec![Note::on_all("like this"), Note::on_all("late")])
        .unwrap();
    recorder.let_go(3);
    recorder.noted(3, why("too late")).unwrap();
    let late = world.log().pop().unwrap();
    assert_eq!(late.reason(), "late");
    // What is decided has them itself, but for what is not said with it.
    world.proposal(4, 1, USUAL).to(&mut recorder);
    recorder.noted(4, why("no")).unwrap();
    let decided = Decision {
        unsaid: why("elsewhere"),
        ..rejected("no")
    };
    recorder.decided(4, decided).unwrap();
    let of = |state: EntryState, why: &str| {
        let log = world.log().into_iter();
        log.filter(|it| it.state == state && it.reason() == why)
            .count()
    };
    let [rejected, left] = [EntryState::Rejected, EntryState::Undecided];
    assert_eq!((of(rejected, "no"), of(left, "no")), (1, 0));
    assert_eq!(of(left, "elsewhere"), 1);
}

/// What was decided about a change that is written stands in its turn; what was written beside it and not used, in the log.
#[test]
fn what_a_person_makes_of_a_written_change_is_about_that_change() {
    for (decided, states) in [
        (None, vec![EntryState::Undecided]),
        (Some(accepted(Some(MINE))), vec![]),
        (
            Some(accepted(Some("one\n2\n3\n"))),
            vec![EntryState::Undecided],
        ),
        (Some(rejected("no")), vec![EntryState::Undecided]),
    ] {
        let world = World::new();
        let mut recorder = world.recorder();
        let of = |id, written: &str| {
            let mut shown = world.proposal(id, 1, USUAL);
            shown.1.written = (!written.is_empty()).then(|| written.to_owned());
            shown
        };
        of(1, "1.1").to(&mut recorder);
        recorder.edited(1, 1, 1, Some(MINE)).unwrap();
        recorder.noted(1, vec![Note::on_all("why?")]).unwrap();
        let is_decided = decided.is_some();
        match decided {
            Some(decided) => {
                recorder.decided(1, decided).unwrap();
            }
            None => recorder.closed(1).unwrap(),
        }
        assert_eq!(world.states(), states);
        // It is offered for that change alone, if nothing was decided about it.
        for (id, written) in [(2, ""), (3, "2.1"), (4, "1.1")] {
            of(id, written).to(&mut recorder);
            let is_offered = written == "1.1" && !is_decided;
            let expected = is_offered.then(|| (id, MINE.to_owned()));
            assert_eq!(
                offered(&mut recorder),
                Vec::from_iter(expected),
                "{written}"
            );
            // What is decided about another one does not end it.
            if written != "1.1" {
                recorder.decided(id, accepted(None)).unwrap();
            }
        }
        let own = world.log().into_iter();
        let own: Vec<_> = own.filter(|it| it.proposal.written.is_some()).collect();
        let reasons: Vec<_> = own.iter().map(Entry::reason).collect();
        let expected: &[&str] = match (is_decided, states.len()) {
            (false, _) => &["why?"],
            // The decision has the words.
            (true, count) => &[""; 1][..count],
        };
        assert_eq!(reasons, expected);
    }
}

/// Killed between the decision and the write: whoever comes next says what is on the disk, once.
#[test]
fn the_next_hub_finds_out_what_came_of_what_was_accepted() {
    let differently = ("written differently", None);
    let unwritten = (
        "not written",
        Some("Gemini CLI had not written it when Pillion came back"),
    );
    for (on_disk, expected) in [
        (Some("one\n2\n3\n"), ("written", None)),
        (Some("one\r\n2\r\n3\r\n"), ("written", None)),
        (Some("1\n2\n3\n"), unwritten),
        (Some("other\n"), differently),
        (None, differently),
    ] {
        let world = World::new();
        let mut recorder = world.recorder();
        world.proposal(1, 1, USUAL).to(&mut recorder);
        recorder.decided(1, accepted(None)).unwrap();
        let outcome = || world.log()[0].outcome.clone();
        recorder.watch(&[world.root()]);
        let _other_folder = Recorder::new(world.store.clone(), &["/elsewhere".into()], Vec::new());
        assert_eq!(outcome(), None, "the first hub will tell");
        world.hub_is_killed();
        if let Some(text) = on_disk {
            fs::write(world.root().join("a.txt"), text).unwrap();
        }
        drop(world.recorder());
        let found = outcome().unwrap();
        assert_eq!((found.name(), found.why()), expected, "{on_disk:?}");
        fs::write(world.root().join("a.txt"), "later\n").unwrap();
        drop(world.recorder());
        assert_eq!(outcome(), Some(found), "it is found out once");
    }
}

/// Which way a person has answered in the agent's own window, only what comes of it tells: it may come late.
#[test]
fn what_was_answered_in_the_agents_own_window_is_known_by_what_came_of_it() {
    let why = "Gemini CLI did not write it".to_owned();
    let not_written = WriteOutcome::NotWritten { why };
    let (written, other) = (WriteOutcome::Written, WriteOutcome::WrittenDifferently);
    let place = "in Gemini CLI's own window";
    for (outcomes, expected) in [
        (vec![], None),
        (
            vec![&written],
            Some(("accepted", format!(", written, {place}"))),
        ),
        (vec![&not_written], Some(("rejected", format!(", {place}")))),
        (
            vec![&not_written, &written],
            Some(("accepted", format!(", written, {place}"))),
        ),
        (vec![&other], None),
    ] {
        let world = World::new();
        let mut recorder = world.recorder();
        world.proposal(1, 1, USUAL).to(&mut recorder);
        recorder.answered(1, None).unwrap();
        recorder.closed(1).unwrap();
        assert_eq!(world.log(), []);
        for outcome in &outcomes {
            recorder.came_of(1, (*outcome).clone()).unwrap();
        }
        let logged = world.log().pop();
        let logged = logged.map(|it| (it.shown_state(), Item::Entry(Box::new(it)).remark()));
        assert_eq!(logged, expected, "{outcomes:?}");
    }
    let world = World::new();
    let mut recorder = world.recorder();
    world.proposal(1, 1, USUAL).to(&mut recorder);
    recorder.answered(1, None).unwrap();
    recorder.forget_answer(1);
    recorder.came_of(1, not_written).unwrap();
    assert_eq!(world.log(), []);
}

/// Of two accepted changes of one file, what the second began with was there.
#[test]
fn what_came_of_a_change_is_not_judged_by_what_came_later() {
    for (before, expected) in [
        (Some("one\n2\n3\n"), Some("written")),
        (Some("1\n2\n3\n"), None),
    ] {
        let world = World::new();
        let mut recorder = world.recorder();
        world.proposal(1, 1, USUAL).to(&mut recorder);
        recorder.decided(1, accepted(None)).unwrap();
        let before = before.map(str::as_bytes);
        world
            .proposal(2, 1, ("a.txt", before, Some("two\n")))
            .to(&mut recorder);
        recorder.decided(2, accepted(None)).unwrap();
        world.hub_is_killed();
        fs::write(world.root().join("a.txt"), "two\n").unwrap();
        drop(world.recorder());
        let outcomes = world.log().into_iter().map(|it| it.outcome);
        let names: Vec<_> = outcomes.map(|it| it.map(|it| it.name())).collect();
        assert_eq!(names, [expected, Some("written")], "{before:?}");
    }
}
