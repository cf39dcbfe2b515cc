//! Files that are proposed together.

use crossbeam_channel::{Receiver, unbounded};
use pillion_agent::ClientError;
use pillion_agent::set::{self, End, ProposedFile, Reviewed};
use pillion_protocol::Note;
use pillion_view::ask::Diffs;
use pillion_view::{DiffId, Tell};
use std::thread::{self, JoinHandle};
use tokio::sync::oneshot;

use super::*;

/// A set that waits for its decisions.
struct Asking {
    reviewed: JoinHandle<Reviewed>,
    stop: oneshot::Sender<()>,
    shown: Receiver<()>,
}

impl World {
    fn ask(&self, names: &[&str]) -> Asking {
        let file = |name: &&str| ProposedFile::new(self.path(name), format!("of {name}"));
        let files: Vec<_> = names.iter().map(file).collect();
        let (stop, stopped) = oneshot::channel::<()>();
        let (all, shown) = unbounded();
        let found = state::list(&self.environment).pop().unwrap();
        let address = Address::new(found.port).with_token(found.script_token);
        let run = async move || {
            let (client, mut updates) = Client::connect_to(address).await.unwrap();
            let stopped = async { drop(stopped.await) };
            let shown = || all.send(()).unwrap();
            set::review(
                &client,
                &mut updates,
                &files,
                shown,
                &mut |_, _| {},
                stopped,
            )
            .await
        };
        let reviewed = thread::spawn(|| pillion_agent::runtime().unwrap().block_on(run()));
        Asking {
            reviewed,
            stop,
            shown,
        }
    }

    /// The proposals that come now, in their order.
    fn diffs(&self, count: usize) -> Vec<Diff> {
        (0..count).map(|_| self.shown()).collect()
    }

    /// The number of undecided diffs.
    fn pending(&self) -> usize {
        let found = state::list(&self.environment).pop().unwrap();
        pillion_view::Client::new(&found)
            .unwrap()
            .ask(Diffs)
            .unwrap()
            .len()
    }

    fn decide(&self, diff: &Diff, outcome: Outcome, note: &str) {
        let mut decide = Decide::blind(diff.key(), outcome);
        decide.verdict.notes.push(Note::on_all(note));
        insist(&self.companion.handle(), decide, drop);
    }
}

impl Asking {
    fn end(self) -> Reviewed {
        // Until then it waits.
        let Self { reviewed, stop, .. } = self;
        let reviewed = reviewed.join().unwrap();
        drop(stop);
        reviewed
    }
}

fn decided(outcome: Outcome, note: &str) -> End {
    End::Decided {
        outcome,
        notes: vec![Note::on_all(note)],
    }
}

fn places(diffs: &[Diff]) -> Vec<(DiffId, String)> {
    let place = |diff: &Diff| diff.set.map_or_else(String::new, |it| it.to_string());
    diffs.iter().map(|diff| (diff.id, place(diff))).collect()
}

#[test]
fn each_file_is_decided_on_its_own_in_any_order() {
    let world = World::start();
    let asking = world.ask(&["a", "b", "c"]);
    let diffs = world.diffs(3);
    asking.shown.recv_timeout(SOON).unwrap();
    assert_eq!(
        places(&diffs),
        [(1, "1 of 3"), (2, "2 of 3"), (3, "3 of 3")].map(|(id, it)| (DiffId(id), it.to_owned()))
    );
    assert!(diffs.iter().all(|diff| diff.set.unwrap().id == 1));
    world.decide(&diffs[2], Outcome::accepted("edited"), "third");
    world.decide(&diffs[1], Outcome::Rejected, "second");
    world.decide(&diffs[0], Outcome::accepted("of a"), "first");
    let reviewed = asking.end();
    assert!(reviewed.error.is_none(), "{reviewed:?}");
    let expected = [
        decided(Outcome::accepted("of a"), "first"),
        decided(Outcome::Rejected, "second"),
        decided(Outcome::accepted("edited"), "third"),
    ];
    assert_eq!(reviewed.ends, expected);
}

#[test]
fn a_single_file_is_no_set_and_sets_of_two_sessions_are_two() {
    let world = World::start();
    let one = world.ask(&["a"]);
    let diff = world.shown();
    assert_eq!(diff.set, None);
    let two = world.ask(&["a", "b"]);
    let first = world.diffs(2);
    let three = world.ask(&["b", "c"]);
    let second = world.diffs(2);
    let ids = |diffs: &[Diff]| {
        diffs
            .iter()
            .map(|it| it.set.unwrap().id)
            .collect::<Vec<_>>()
    };
    assert_eq!((ids(&first), ids(&second)), (vec![1, 1], vec![2, 2]));
    for diff in first.iter().chain(&second).chain([&diff]) {
        world.decide(diff, Outcome::Rejected, "no");
    }
    for asking in [one, two, three] {
        let ends = asking.end().ends;
        assert!(
            ends.iter()
                .all(|end| *end == decided(Outcome::Rejected, "no"))
        );
    }
}

#[test]
fn what_nobody_has_decided_is_withdrawn_with_its_edits() {
    let world = World::start();
    let asking = world.ask(&["a", "b", "c"]);
    let diffs = world.diffs(3);
    asking.shown.recv_timeout(SOON).unwrap();
    world.decide(&diffs[1], Outcome::Rejected, "no");
    // Until the decision has arrived.
    while world.pending() > 2 {
        thread::yield_now();
    }
    let Asking { reviewed, stop, .. } = asking;
    stop.send(()).unwrap();
    let reviewed = reviewed.join().unwrap();
    let withdrawn = End::Withdrawn {
        edited: Some("in the view".to_owned()),
        is_closed: true,
    };
    let expected = [
        withdrawn.clone(),
        decided(Outcome::Rejected, "no"),
        withdrawn,
    ];
    assert_eq!(reviewed.ends, expected);
    for _ in 0..2 {
        assert!(matches!(
            world.next(),
            Asked::Close(CloseReason::ClosedByAgent)
        ));
    }
}

#[test]
fn a_file_that_cannot_be_shown_takes_the_others_back() {
    let world = World::start();
    std::fs::create_dir(world.path("folder")).unwrap();
    std::os::unix::fs::symlink(world.path("a"), world.path("link")).unwrap();
    for (bad, why) in [
        ("folder", "is a folder"),
        ("a", "is file 1 of 3 of this set already"),
        ("link", "are the same file"),
    ] {
        let reviewed = world.ask(&["a", bad, "c"]).end();
        match &reviewed.error {
            Some(ClientError::Tool(text)) => assert!(text.contains(why), "{text}"),
            other => panic!("{bad}: {other:?}"),
        }
        let is_decided = |end: &End| matches!(end, End::Decided { .. });
        assert!(!reviewed.ends.iter().any(is_decided), "{reviewed:?}");
        assert_eq!(reviewed.ends.len(), 3);
        world.shown();
        assert!(matches!(world.next(), Asked::Close(_)), "{bad}");
    }
}

#[test]
fn what_was_decided_before_the_companion_went_away_counts() {
    let world = World::start();
    let asking = world.ask(&["a", "b"]);
    let diffs = world.diffs(2);
    asking.shown.recv_timeout(SOON).unwrap();
    world.decide(&diffs[0], Outcome::accepted("of a"), "yes");
    while world.pending() > 1 {
        thread::yield_now();
    }
    // What is undecided counts as rejected then.
    world.companion.handle().tell(Tell::Leave);
    let reviewed = asking.end();
    let is_rejected = |end: &End| match end {
        End::Decided { outcome, .. } => *outcome == Outcome::Rejected,
        End::Withdrawn { .. } => false,
    };
    assert_eq!(reviewed.ends[0], decided(Outcome::accepted("of a"), "yes"));
    assert!(is_rejected(&reviewed.ends[1]), "{reviewed:?}");
}
