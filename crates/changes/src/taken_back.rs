//! Finds the turns in which a person has taken something back of a file, without reading all turns each time.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::time::SystemTime;

use crate::kept::Kept;
use crate::scan::is_settled;
use crate::store::{Store, StoreError};
use crate::turn::Change;

/// Knows of which files something was taken back in each turn, as long as the turn is as it was when it was read.
#[derive(Debug, Default)]
pub struct TakenBack {
    turns: HashMap<u64, Known>,
    hasher: RandomState,
}

/// A turn as it was read.
#[derive(Debug)]
struct Known {
    written_at: (SystemTime, u64),
    /// The hashes of the paths, which may be tens of thousands. Two paths with the same one are told apart when the turn is read.
    files: HashSet<u64>,
}

impl TakenBack {
    /// The turns in which a person has taken something back of this file.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn of(&mut self, store: &Store, path: &Path) -> Result<Vec<Kept>, StoreError> {
        let numbers = store.numbers()?;
        let is_there = |turn: &u64| numbers.binary_search(turn).is_ok();
        self.turns.retain(|turn, _| is_there(turn));
        let hash = self.hasher.hash_one(path);
        let mut found = Vec::new();
        for turn in numbers {
            let written_at = store.written_at(turn);
            if written_at.is_some_and(|(_, judged)| judged == 0) {
                continue;
            }
            let known = self.turns.get(&turn);
            let known = known.filter(|it| Some(it.written_at) == written_at);
            if known.is_some_and(|it| !it.files.contains(&hash)) {
                continue;
            }
            // What cannot be read cannot be undone.
            let Ok(kept) = Kept::read(store, turn) else {
                continue;
            };
            let edited = || {
                kept.turn
                    .changes
                    .iter()
                    .filter(|it| kept.has_taken_back(it))
            };
            match written_at.filter(|(at, _)| is_settled(*at)) {
                Some(_) if known.is_some() => {}
                Some(written_at) => {
                    let hash = |it: &Change| self.hasher.hash_one(&*it.path);
                    let files = edited().map(hash).collect();
                    self.turns.insert(turn, Known { written_at, files });
                }
                None => drop(self.turns.remove(&turn)),
            }
            if edited().any(|it| it.path == path) {
                found.push(kept);
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::state::{FileState, Hash};
    use crate::turn::{Author, Judged, Judgement, Turn};

    /// A turn that has changed these files.
    fn turn(files: &[String]) -> Turn {
        let changes = (1..).zip(files).map(|(number, file)| Change {
            number,
            path: Path::new("/w").join(file),
            before: FileState::Absent,
            after: after(1),
            by: Author::Unclear,
            moved_from: None,
            accepted: None,
            is_mixed: false,
        });
        Turn {
            number: 0,
            agent: "claude".to_owned(),
            prompt: String::new(),
            is_without_hooks: false,
            began: 0,
            ended: Some(1),
            roots: vec!["/w".into()],
            uncovered: Vec::new(),
            watcher: 0,
            session: 0,
            running: Vec::new(),
            changes: changes.collect(),
        }
    }

    fn after(version: u64) -> FileState {
        FileState::File {
            mode: 0o644,
            size: version,
            text: Some(Hash::of(&version.to_le_bytes())),
        }
    }

    fn judged(judgement: Judgement) -> Judged {
        Judged {
            judgement,
            after: after(1),
            at: 1,
            overwritten: None,
            written: None,
            notes: Vec::new(),
            former: None,
        }
    }

    /// Some time has passed since the turn was written.
    fn settle(store: &Store, turn: u64) {
        let folder = File::open(store.path().join(format!("turns/{turn}"))).unwrap();
        let at = folder.metadata().unwrap().modified().unwrap();
        folder.set_modified(at - Duration::from_secs(10)).unwrap();
    }

    fn found(taken_back: &mut TakenBack, store: &Store, file: &str) -> Vec<u64> {
        let found = taken_back.of(store, &Path::new("/w").join(file)).unwrap();
        found.iter().map(|it| it.turn.number).collect()
    }

    const FILES: [&str; 4] = ["a", "b", "c", "d"];

    #[derive(Debug, Clone)]
    enum Step {
        Begin(Vec<usize>),
        Judge(u64, u64, Option<Judgement>),
        /// The agent changes all files of a turn again.
        Change(u64, u64),
        Forget(u64),
        Settle(u64),
        Save(usize),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let judgement = prop_oneof![
            Just(Judgement::Kept),
            Just(Judgement::TakenBack),
            Just(Judgement::Edited),
            Just(Judgement::Part)
        ];
        let step = prop_oneof![
            2 => proptest::collection::vec(0..FILES.len(), 1..4).prop_map(Step::Begin),
            4 => (1..5_u64, 1..4_u64, proptest::option::of(judgement))
                .prop_map(|(turn, change, judged)| Step::Judge(turn, change, judged)),
            1 => (1..5_u64, 1..3_u64).prop_map(|(turn, version)| Step::Change(turn, version)),
            1 => (1..5_u64).prop_map(Step::Forget),
            3 => (1..5_u64).prop_map(Step::Settle),
            5 => (0..FILES.len()).prop_map(Step::Save),
        ];
        proptest::collection::vec(step, 0..50)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

        #[test]
        fn what_is_known_is_what_would_be_read(steps in steps()) {
            let (_folder, store) = Store::temporary();
            let mut taken_back = TakenBack::default();
            for step in steps {
                match step {
                    Step::Begin(files) => {
                        let files: Vec<_> = files.iter().map(|at| FILES[*at].to_owned()).collect();
                        store.begin(turn(&files)).unwrap();
                    }
                    Step::Judge(turn, change, made) if store.turn(turn).is_ok() => {
                        let made = made.map(judged);
                        store.judge(turn, [(change, made.as_ref())]).unwrap();
                    }
                    Step::Change(turn, version) => {
                        if let Ok(mut turn) = store.turn(turn) {
                            for change in &mut turn.changes {
                                change.after = after(version);
                            }
                            store.save(&turn).unwrap();
                        }
                    }
                    Step::Forget(turn) => drop(store.forget(turn)),
                    Step::Settle(turn) if store.turn(turn).is_ok() => settle(&store, turn),
                    Step::Judge(..) | Step::Settle(_) => {}
                    Step::Save(at) => {
                        let anew = found(&mut TakenBack::default(), &store, FILES[at]);
                        prop_assert_eq!(found(&mut taken_back, &store, FILES[at]), anew);
                    }
                }
            }
        }
    }

    #[test]
    fn a_turn_is_read_again_only_for_its_files_or_if_it_has_changed() {
        let (_folder, store) = Store::temporary();
        let number = store.begin(turn(&["a".into(), "b".into()])).unwrap().number;
        let back = judged(Judgement::TakenBack);
        store.judge(number, [(1, Some(&back))]).unwrap();
        let mut taken_back = TakenBack::default();
        assert_eq!(found(&mut taken_back, &store, "a"), [number]);
        assert!(taken_back.turns.is_empty(), "it may change unnoticed");
        settle(&store, number);
        assert_eq!(found(&mut taken_back, &store, "b"), [] as [u64; 0]);
        // What nobody does: it changes, and does not look like that.
        let path = store.path().join(format!("turns/{number}/turn.json"));
        let json = fs::read_to_string(&path).unwrap();
        fs::write(&path, json.replace("/w/a", "/w/b")).unwrap();
        assert_eq!(found(&mut TakenBack::default(), &store, "b"), [number]);
        assert_eq!(found(&mut taken_back, &store, "b"), [] as [u64; 0]);
        assert_eq!(found(&mut taken_back, &store, "a"), [] as [u64; 0]);
        // Each of these tells.
        store.judge(number, [(9, None)]).unwrap();
        assert_eq!(found(&mut taken_back, &store, "b"), [number]);
        store.judge(number, [(1, None)]).unwrap();
        assert_eq!(found(&mut taken_back, &store, "b"), [] as [u64; 0]);
        store.forget(number).unwrap();
        assert_eq!(found(&mut taken_back, &store, "b"), [] as [u64; 0]);
        assert!(taken_back.turns.is_empty());
    }
}
