//! Owns the numbers of diffs and of agents: none is given twice, whichever hub or companion gives it. Some are taken ahead,
//! because the loop waits for no disk. Where none can be taken, the time is the number: it is long, but nobody has read it before.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use pillion_discovery::Environment;
use pillion_discovery::counter::{self, Counter};
use pillion_system::{Worker, clock, lock};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// So many numbers are taken at a time. What is left of them at the end is given back, but not by who is killed.
const BLOCK: u64 = 100;

/// With fewer than this, the next ones are taken: an agent may propose many files at once.
const FEW: u64 = 50;

/// The time limit for the first ones to be taken.
const FIRST_WITHIN: Duration = Duration::from_secs(1);

/// The time limit for giving back what is left.
const GRACE: Duration = Duration::from_secs(1);

/// The ways to the numbers by the user's state directory and their name: the companions of a hub count together.
static SHARED: Mutex<BTreeMap<(PathBuf, &str), Weak<Ahead>>> = Mutex::new(BTreeMap::new());

/// The numbers that a companion gives. Cheap to clone. By default, nothing is kept of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Numbers(Arc<Ahead>);

#[derive(Debug, Default)]
struct Ahead {
    reserve: Arc<Mutex<Reserve>>,
    /// Takes more; who waits for that is told. None where no number is kept.
    worker: Option<Worker<Option<oneshot::Sender<()>>>>,
}

/// The numbers that were taken, and not given to anything yet.
#[derive(Debug, Default)]
struct Reserve {
    ranges: VecDeque<Range<u64>>,
    /// True while more are being taken.
    is_filling: bool,
    /// No number up to this one is given any more.
    former: u64,
    /// The last one that is the time.
    last_time: u64,
}

/// The way to the disk, on the worker's thread.
struct Filler {
    counter: Counter,
    reserve: Arc<Mutex<Reserve>>,
}

/// A hub or companion before has given some of each kind. If nothing is known of them any more, the next one is the time. Waits
/// for the disk.
pub(crate) fn were_given(environment: &Environment) {
    let Some(base) = environment.user_state_dir() else {
        return;
    };
    let mut are_gone = false;
    for name in counter::NAMES {
        // Who starts takes numbers of diffs and of agents. Where these are there, no turn was numbered of which nothing is known.
        if !are_gone && [counter::TURNS, counter::ENTRIES].contains(&name) {
            break;
        }
        let counter = Counter::of(environment, name);
        match counter.map_or(Ok(None), |it| it.were_given()) {
            Ok(None) => {}
            Ok(Some(former)) => {
                are_gone = true;
                let ahead = lock(&SHARED)
                    .get(&(base.clone(), name))
                    .and_then(Weak::upgrade);
                if let Some(ahead) = ahead {
                    lock(&ahead.reserve).leave_out(former);
                }
            }
            Err(error) => tracing::warn!(%error, "the numbers are not kept"),
        }
    }
}

impl Numbers {
    /// Those of this user that have this name. Nothing is taken yet.
    pub(crate) fn of(environment: &Environment, name: &'static str) -> Self {
        let Some((place, counter)) = environment
            .user_state_dir()
            .zip(Counter::of(environment, name))
        else {
            return Self::default();
        };
        let place = (place, name);
        let mut shared = lock(&SHARED);
        shared.retain(|_, it| it.strong_count() > 0);
        if let Some(ahead) = shared.get(&place).and_then(Weak::upgrade) {
            return Self(ahead);
        }
        let ahead = Arc::new(Ahead::start(counter));
        shared.insert(place, Arc::downgrade(&ahead));
        Self(ahead)
    }

    /// Waits until the first ones are taken, but not for a disk that does not answer.
    pub(crate) fn taken(&self) -> impl Future<Output = ()> + use<> {
        let (taken, waiting) = oneshot::channel();
        if let Some(worker) = &self.0.worker {
            worker.order(Some(taken));
        }
        async {
            let _ = timeout(FIRST_WITHIN, waiting).await;
        }
    }

    /// Gives a number. Never waits.
    pub(crate) fn give(&self) -> u64 {
        let mut reserve = lock(&self.0.reserve);
        let number = reserve.give(clock::now_ms());
        if let Some(worker) = &self.0.worker
            && reserve.left() < FEW
            && !reserve.is_filling
        {
            reserve.is_filling = true;
            worker.order(None);
        }
        number
    }
}

impl Ahead {
    fn start(counter: Counter) -> Self {
        let reserve = Arc::<Mutex<Reserve>>::default();
        let filler = Filler {
            counter,
            reserve: Arc::clone(&reserve),
        };
        let perform = move |waiting: Option<oneshot::Sender<()>>| {
            filler.fill();
            if let Some(waiting) = waiting {
                let _ = waiting.send(());
            }
        };
        let worker = Worker::start("numbers", GRACE, perform);
        let worker = worker.inspect_err(|error| tracing::warn!(%error, "cannot start a thread"));
        let worker = worker.ok();
        Self { reserve, worker }
    }
}

impl Reserve {
    fn left(&self) -> u64 {
        self.ranges.iter().map(|it| it.end - it.start).sum()
    }

    fn give(&mut self, now: u64) -> u64 {
        while let Some(range) = self.ranges.front_mut() {
            if let Some(number) = range.next() {
                return number;
            }
            self.ranges.pop_front();
        }
        self.last_time = now.max(self.last_time + 1);
        self.last_time
    }

    fn add(&mut self, taken: Range<u64>) {
        match self.ranges.back_mut() {
            Some(last) if last.end == taken.start => last.end = taken.end,
            _ => self.ranges.push_back(taken),
        }
        self.trim();
    }

    /// The numbers up to this one may have been given before.
    fn leave_out(&mut self, former: u64) {
        self.former = former.max(self.former);
        self.trim();
    }

    fn trim(&mut self) {
        for range in &mut self.ranges {
            let mut first = range.start.max(self.former + 1);
            // Meanwhile the time was given, which the range has as well.
            if range.contains(&self.last_time) {
                first = first.max(self.last_time + 1);
            }
            range.start = first.min(range.end);
        }
    }
}

impl Filler {
    fn fill(&self) {
        let is_enough = lock(&self.reserve).left() >= FEW;
        let taken = (!is_enough).then(|| {
            let given = u64::from(self.counter.is_among_others());
            self.counter.take(BLOCK, given)
        });
        let mut reserve = lock(&self.reserve);
        reserve.is_filling = false;
        match taken {
            Some(Ok(first)) => reserve.add(first..first + BLOCK),
            Some(Err(error)) => tracing::warn!(%error, "the numbers are not kept"),
            None => {}
        }
    }
}

/// At the end, on the same thread.
impl Drop for Filler {
    fn drop(&mut self) {
        let left = lock(&self.reserve).ranges.pop_back();
        let left = left.filter(|it| !it.is_empty());
        let given_back = left.map(|it| self.counter.give_back(it.start, it.end));
        if let Some(Err(error)) = given_back {
            tracing::debug!(%error, "these numbers are not used");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    impl Numbers {
        /// From 1, for the tests of state machines.
        pub(crate) fn from_one() -> Self {
            let numbers = Self::default();
            lock(&numbers.0.reserve).add(1..u64::MAX);
            numbers
        }
    }

    fn environment(home: &tempfile::TempDir) -> Environment {
        Environment::from_pairs([("XDG_STATE_HOME", home.path())])
    }

    /// The numbers of a process that begins now, unless another one of the test has them.
    async fn begun(environment: &Environment) -> Numbers {
        let numbers = Numbers::of(environment, counter::DIFFS);
        numbers.taken().await;
        numbers
    }

    #[tokio::test]
    async fn where_something_is_kept_and_no_numbers_are_they_begin_with_the_time() {
        let home = tempfile::tempdir().unwrap();
        let environment = environment(&home);
        fs::create_dir_all(home.path().join("pillion/turns")).unwrap();
        let before = clock::now_ms();
        assert!(begun(&environment).await.give() >= before);
    }

    /// A view knows that there was a hub, also where everything is gone that this has kept.
    #[tokio::test]
    async fn where_a_hub_is_remembered_and_no_numbers_are_they_begin_with_the_time() {
        let home = tempfile::tempdir().unwrap();
        let environment = environment(&home);
        let before = clock::now_ms();
        were_given(&environment);
        let numbers = begun(&environment).await;
        let first = numbers.give();
        assert!(first >= before);
        were_given(&environment);
        assert_eq!(numbers.give(), first + 1);
        drop(numbers);
        were_given(&environment);
        assert_eq!(begun(&environment).await.give(), first + 2);
    }

    /// Who removes everything may be at it just then.
    #[tokio::test]
    async fn what_a_view_remembers_counts_whenever_the_files_go() {
        type Goes = fn(&Environment, &dyn Fn());
        let goes: [Goes; 3] = [
            |environment, remove| {
                remove();
                were_given(environment);
            },
            |environment, remove| {
                were_given(environment);
                remove();
            },
            |environment, remove| {
                remove();
                were_given(environment);
                remove();
            },
        ];
        for goes in goes {
            let home = tempfile::tempdir().unwrap();
            let environment = environment(&home);
            let before = clock::now_ms();
            goes(&environment, &|| {
                let _ = fs::remove_dir_all(home.path().join("pillion"));
            });
            assert!(begun(&environment).await.give() >= before);
        }
    }

    /// An editor is killed before there was a turn.
    #[tokio::test]
    async fn of_what_there_was_none_the_first_has_number_1() {
        let (former, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let numbers = |home: &tempfile::TempDir| home.path().join("pillion/numbers");
        for name in [counter::DIFFS, counter::AGENTS] {
            let begun = Numbers::of(&environment(&former), name);
            begun.taken().await;
            // As what another process has left.
            fs::create_dir_all(numbers(&home)).unwrap();
            fs::copy(numbers(&former).join(name), numbers(&home).join(name)).unwrap();
        }
        let environment = environment(&home);
        were_given(&environment);
        for name in [counter::TURNS, counter::ENTRIES] {
            let counter = Counter::of(&environment, name).unwrap();
            assert_eq!(counter.take(1, 0).unwrap(), 1, "{name}");
        }
        assert!(begun(&environment).await.give() < 1_000);
    }

    #[tokio::test]
    async fn a_view_that_remembers_a_hub_may_come_after_one_that_does_not() {
        let home = tempfile::tempdir().unwrap();
        let environment = environment(&home);
        let numbers = begun(&environment).await;
        assert_eq!(numbers.give(), 1);
        let before = clock::now_ms();
        were_given(&environment);
        let mut given = Vec::new();
        for _ in 0..2 * BLOCK {
            given.push(numbers.give());
            numbers.taken().await;
        }
        assert!(given[0] >= before, "{given:?}");
        assert!(given.is_sorted_by(|one, next| one < next), "{given:?}");
    }

    #[tokio::test]
    async fn who_comes_later_goes_on_and_who_is_killed_gives_nothing_back() {
        let home = tempfile::tempdir().unwrap();
        let environment = environment(&home);
        let numbers = begun(&environment).await;
        let other_companion = begun(&environment).await;
        assert_eq!([1, 2, 3].map(|_| numbers.give()), [1, 2, 3]);
        assert_eq!(other_companion.give(), 4);
        drop((numbers, other_companion));
        let numbers = begun(&environment).await;
        assert_eq!(numbers.give(), 5);
        // As if its process had been killed.
        lock(&SHARED).clear();
        std::mem::forget(numbers);
        assert_eq!(begun(&environment).await.give(), BLOCK + 5);
    }

    #[tokio::test]
    async fn many_at_once_have_different_numbers_of_few_digits() {
        let home = tempfile::tempdir().unwrap();
        let numbers = begun(&environment(&home)).await;
        let mut given = Vec::new();
        for _ in 0..20 {
            given.extend((0..FEW).map(|_| numbers.give()));
            numbers.taken().await;
        }
        assert_eq!(given, (1..=20 * FEW).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn where_nothing_can_be_kept_no_number_is_given_twice() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("pillion"), "no folder").unwrap();
        let environments = [
            environment(&home),
            Environment::from_pairs::<&str, &str>([]),
        ];
        for environment in environments {
            let mut given = Vec::new();
            for _ in 0..2 {
                let numbers = begun(&environment).await;
                given.extend([1, 2, 3].map(|_| numbers.give()));
                let now = clock::now_ms();
                while clock::now_ms() < now + 5 {
                    std::thread::yield_now();
                }
            }
            assert!(given.is_sorted_by(|one, next| one < next), "{given:?}");
            assert!(given[0] > 1 << 40, "{given:?}");
        }
    }

    #[tokio::test]
    async fn a_file_that_is_removed_or_spoilt_meanwhile_gives_no_number_again() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("pillion/numbers").join(counter::DIFFS);
        let numbers = begun(&environment(&home)).await;
        let mut given = Vec::new();
        for spoilt in [None, Some("x"), Some("7"), Some("")] {
            match spoilt {
                None => fs::remove_dir_all(home.path().join("pillion")).unwrap(),
                Some(text) => fs::write(&file, text).unwrap(),
            }
            let mut next = Vec::new();
            for _ in 0..2 * BLOCK {
                next.push(numbers.give());
                numbers.taken().await;
            }
            given.extend(next);
        }
        assert!(given.is_sorted_by(|one, next| one < next), "{given:?}");
    }
}
