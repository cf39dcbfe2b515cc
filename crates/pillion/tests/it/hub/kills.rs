//! An enemy kills the hub and its views while a person decides, again and again: each proposal has one outcome at most,
//! and no text that somebody wrote and that counts is nowhere.
//!
//! `PILLION_KILLS=1000` sets the number of rounds, `PILLION_KILLS_SEED` repeats the choices of an earlier run (but not
//! the moments: these depend on the machine).

mod leftovers;
mod round;
mod seat;

use std::collections::BTreeMap;
use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use pillion_protocol::Dialect;
use pillion_testkit::client::Update;
use pillion_testkit::{Heard, SOON, TestAgent, all_of, discovery_file, kill_tree, lock_files};
use proptest::prelude::RngExt;
use proptest::test_runner::{RngAlgorithm, TestRng};
use serde_json::Value;

use self::round::{Blow, Choice, Made, Round};
use self::seat::{Seat, Shown};
use super::{is_alive, kill, running, wait_until};
use crate::sandbox::{Sandbox, Serve, ran};

const ROUNDS: usize = 40;

/// Before and after the decision, blows fall within this time.
const AROUND: Duration = Duration::from_millis(30);

/// Within this time the next hub has been started.
const STARTING: Duration = Duration::from_millis(120);

/// Half of them fall within this time after it.
const DECIDING: Duration = Duration::from_millis(8);

/// Within this time another hub must serve all views, and the agent: Claude Code dials no longer.
const RECOVERED_WITHIN: Duration = Duration::from_secs(15);

/// The words that people are told then.
const KEPT_IN: &str = "your text is kept in ";

const BLOWS: [Blow; 12] = [
    Blow::KillHub,
    Blow::KillHubs,
    Blow::EndHub,
    Blow::EndHub,
    Blow::KillDecider,
    Blow::KillDecider,
    Blow::KillOther,
    Blow::KillServe,
    Blow::CutAgent,
    Blow::CutAgent,
    Blow::Command,
    Blow::Nothing,
];

/// The events of all rounds.
#[derive(Debug, Default)]
struct Figures {
    /// The number of times that each blow came to this.
    rounds: BTreeMap<String, usize>,
    delivered: usize,
    kept: usize,
    /// Of these, the person at the editor that was used last got to know where.
    told: usize,
    /// Accepted texts that a killed hub had not given to their agent, nor put into a file. `pillion log` has them.
    gone_with_hub: usize,
    cut: usize,
    /// The number of times that a hub was killed while it started, and that the port or the token of Claude Code went with it.
    killed_at_start: usize,
    moved: usize,
    slowest_recovery: Duration,
}

/// An accepted text that its agent never received, because it was gone.
#[derive(Debug)]
struct Owed {
    file: PathBuf,
    text: String,
}

/// A blow has fallen.
struct Struck {
    at: Instant,
    /// The decision of a command.
    made: Option<Made>,
}

struct World {
    sandbox: Sandbox,
    rng: TestRng,
    seats: Vec<Seat>,
    serve: Serve,
    /// None while it has lost its companion.
    agent: Option<TestAgent>,
    /// The hub has them, and keeps them in files before it ends.
    owed: Vec<Owed>,
    /// Claude Code's way to the companion.
    lock: (PathBuf, String),
    figures: Figures,
}

#[test]
fn an_enemy_kills_and_nothing_counts_twice_or_is_lost() {
    let rounds = number("PILLION_KILLS").map_or(ROUNDS, |rounds| rounds.try_into().unwrap());
    let seed =
        number("PILLION_KILLS_SEED").unwrap_or_else(|| RandomState::new().build_hasher().finish());
    println!("PILLION_KILLS={rounds} PILLION_KILLS_SEED={seed}");
    let sandbox = Sandbox::new();
    let before = leftovers::files(&sandbox);
    let started = Instant::now();
    let mut world = World::start(sandbox, seed);
    let mut failures = Vec::new();
    // The last one is quiet: what came too late in the one before it would be its outcome.
    for number in 1..=rounds + 1 {
        let blow = match number <= rounds {
            true => world.blow(),
            false => Blow::Nothing,
        };
        let round = world.round(number, blow);
        let broken = round.broken();
        if !broken.is_empty() {
            println!("{broken:?}: {round:#?}");
            failures.push((number, broken));
        }
    }
    let (sandbox, figures) = world.end();
    leftovers::check(&sandbox, &before);
    println!(
        "{figures:#?}\n{rounds} rounds in {:?}, failures: {failures:?}",
        started.elapsed()
    );
    assert!(failures.is_empty(), "{failures:?}");
}

fn number(variable: &str) -> Option<u64> {
    let value = std::env::var(variable).ok()?;
    Some(value.parse().unwrap())
}

impl World {
    fn start(sandbox: Sandbox, seed: u64) -> Self {
        let seed = seed.to_le_bytes().repeat(4);
        let serve = sandbox.serve_in_hub::<&str>([]);
        let seats = (0..2).map(|_| Seat::start(&sandbox)).collect();
        Self {
            rng: TestRng::from_seed(RngAlgorithm::ChaCha, &seed),
            seats,
            serve,
            agent: Some(find_agent(&sandbox)),
            owed: Vec::new(),
            lock: lock(&sandbox),
            sandbox,
            figures: Figures::default(),
        }
    }

    fn blow(&mut self) -> Blow {
        BLOWS[self.rng.random_range(0..BLOWS.len())]
    }

    fn round(&mut self, number: usize, blow: Blow) -> Round {
        let file = self.sandbox.home.file("read.txt", "");
        let path = self
            .sandbox
            .home
            .workspace()
            .join(format!("round-{number}.txt"));
        let mut round = Round {
            number,
            blow,
            proposed: format!("proposed in round {number}\n"),
            path,
            made: Vec::new(),
            outcomes: Vec::new(),
            is_cut: false,
            kept: Vec::new(),
        };
        let used = self.rng.random_range(0..self.seats.len());
        self.seats[used].look_at(&file, number);
        let (at, shown) = self.propose(&round);
        let hub = self.hub();
        let blow = self.strike(blow, at, hub);
        let choice = self.choose(number, "first");
        sleep(AROUND);
        self.decide(&mut round, at, &shown, choice);
        let Struck { at: struck, made } = blow.join().unwrap();
        round.made.extend(made);
        self.settle(&mut round, &shown, at);
        self.repair(&round, at, hub, struck);
        round.kept = kept(&self.sandbox, &round.path);
        self.count(&round);
        self.settle_debts(&round);
        round
    }

    /// The agent proposes a change, and an editor shows it: which, and what.
    fn propose(&mut self, round: &Round) -> (usize, Shown) {
        let agent = self.agent.as_ref().unwrap();
        let call = agent.proposing(round.path.to_str().unwrap(), &round.proposed);
        let started = Instant::now();
        let found = loop {
            let mut seats = self.seats.iter_mut().enumerate();
            let found = seats.find_map(|(at, seat)| Some((at, seat.catch_up()?)));
            if let Some(found) = found {
                break found;
            }
            assert!(started.elapsed() < SOON, "nobody shows {round:?}");
            sleep(Duration::from_millis(1));
        };
        assert_eq!(found.1.path, round.path);
        call.end().unwrap();
        found
    }

    fn choose(&mut self, number: usize, who: &str) -> Choice {
        match self.rng.random_range(0..4) {
            0 => Choice::Accept,
            1 => Choice::Reject,
            _ => Choice::Edit(format!("written by the {who} in round {number}\n")),
        }
    }

    /// Has the blow fall at a random moment.
    fn strike(&mut self, blow: Blow, decider: usize, hub: u32) -> JoinHandle<Struck> {
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap();
        let delay = match self.rng.random_range(0..2) {
            0 => self.rng.random_range(0..micros(2 * AROUND)),
            _ => micros(AROUND) + self.rng.random_range(0..micros(DECIDING)),
        };
        let signal = match blow {
            Blow::KillHub | Blow::KillHubs => Some((hub, "KILL")),
            Blow::EndHub => Some((hub, "TERM")),
            Blow::KillDecider => Some((self.seats[decider].program_id(), "KILL")),
            Blow::KillOther => Some((self.seats[1 - decider].program_id(), "KILL")),
            Blow::KillServe => Some((self.serve.child.id(), "KILL")),
            Blow::CutAgent | Blow::Command | Blow::Nothing => None,
        };
        let agent = self.agent.take_if(|_| blow == Blow::CutAgent);
        let command = (blow == Blow::Command).then(|| self.rejection());
        thread::spawn(move || {
            // A command takes a while until it does anything.
            let delay = if command.is_some() { delay / 2 } else { delay };
            sleep(Duration::from_micros(delay));
            drop(agent);
            if let Some((pid, signal)) = signal {
                kill(pid, signal);
            }
            let at = Instant::now();
            let made = command.map(|mut command| Made::by_command(ran(&mut command, b"").code));
            Struck { at, made }
        })
    }

    /// The command that rejects what is shown.
    fn rejection(&self) -> Command {
        let pending = self.pending();
        let [diff] = &pending[..] else {
            panic!("{pending:?}");
        };
        self.sandbox
            .command(["reject", diff["diff"].as_str().unwrap()])
    }

    /// The proposals that wait for a decision, as commands show them.
    fn pending(&self) -> Vec<Value> {
        let listed = self.sandbox.run(["diffs", "--json"]).expect(0).stdout;
        serde_json::from_str(&listed).unwrap()
    }

    fn decide(&mut self, round: &mut Round, at: usize, shown: &Shown, choice: Choice) {
        let answer = self.seats[at].decide(shown, &choice);
        round.made.push(Made { choice, answer });
    }

    /// Waits until the proposal has its outcome, or the agent has lost its companion. If the view was killed, the next
    /// one decides.
    fn settle(&mut self, round: &mut Round, first: &Shown, at: usize) {
        let started = Instant::now();
        let other = 1 - at;
        while !(round.is_cut || !round.outcomes.is_empty() && !round.blow.is_to_hub()) {
            assert!(started.elapsed() < SOON, "no outcome of {round:?}");
            self.listen(round, Duration::from_millis(5));
            if round.blow != Blow::KillOther
                && let Some(shown) = self.seats[other].catch_up()
            {
                assert_eq!(shown.path, round.path);
                let choice = self.choose(round.number, "second");
                self.decide(round, other, &shown, choice);
            }
        }
        // Nobody decides a second time.
        if round.made[0].is_settled() && !round.blow.is_to_hub() {
            assert_eq!(self.pending(), Vec::<Value>::new(), "after {round:?}");
            if round.blow != Blow::KillDecider {
                self.decide(round, at, first, Choice::Reject);
            }
        }
    }

    /// The agent takes what comes, and writes what was accepted.
    fn listen(&mut self, round: &mut Round, time: Duration) {
        let heard = self.agent.as_mut().map(|agent| agent.hear(time));
        match heard.unwrap_or(Heard::End) {
            Heard::Outcome(outcome) => {
                if let Update::DiffAccepted { path, content, .. } = &outcome {
                    fs::write(path, content).unwrap();
                }
                round.outcomes.push(outcome);
            }
            Heard::Nothing => {}
            Heard::End => round.is_cut = true,
        }
    }

    /// Starts what was killed, and waits until everything is as it was before.
    fn repair(&mut self, round: &Round, decider: usize, hub: u32, struck: Instant) {
        match round.blow {
            Blow::KillDecider => self.seats[decider].start_again(&self.sandbox),
            Blow::KillOther => self.seats[1 - decider].start_again(&self.sandbox),
            Blow::KillServe => self.serve = self.sandbox.serve_in_hub::<&str>([]),
            Blow::CutAgent => self.agent = Some(find_agent(&self.sandbox)),
            Blow::Command | Blow::Nothing => {}
            Blow::KillHub | Blow::KillHubs | Blow::EndHub => {
                if round.blow == Blow::KillHubs {
                    self.kill_next_hub();
                }
                wait_until("the hub is gone", || !is_alive(hub));
                wait_until("another hub serves all", || self.serves_all());
                self.agent = Some(find_agent(&self.sandbox));
                let time = struck.elapsed();
                assert!(time < RECOVERED_WITHIN, "{time:?} after {round:?}");
                self.figures.slowest_recovery = self.figures.slowest_recovery.max(time);
            }
        }
        self.expect_same_lock(round);
        for seat in &mut self.seats {
            // What is shown then was taken away with the hub, or is in a view that was killed.
            let _ = seat.catch_up();
        }
    }

    /// If somebody stayed, Claude Code comes back by the same port and token. Only a hub that is killed in the moment
    /// between taking its predecessor's record and writing its own takes both along.
    fn expect_same_lock(&mut self, round: &Round) {
        let lock = lock(&self.sandbox);
        if round.blow == Blow::KillHubs {
            let figures = &mut self.figures;
            figures.killed_at_start += 1;
            figures.moved += usize::from(lock != self.lock);
            assert!(figures.moved <= 1 + figures.killed_at_start / 20);
            self.lock = lock;
        } else {
            assert_eq!(lock, self.lock, "after {round:?}");
        }
    }

    /// Kills the hub that is being started, at a random moment.
    fn kill_next_hub(&mut self) {
        let delay = self
            .rng
            .random_range(0..u64::try_from(STARTING.as_micros()).unwrap());
        sleep(Duration::from_micros(delay));
        for pid in all_of(&self.sandbox.home) {
            let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            if command.split(|byte| *byte == 0).any(|word| word == b"hub") {
                kill_tree(pid);
                wait_until("the next hub is gone", || !is_alive(pid));
            }
        }
    }

    /// Returns true if one companion has all views.
    fn serves_all(&self) -> bool {
        let companions = running(&self.sandbox);
        let mut views = self
            .seats
            .iter()
            .map(Seat::id)
            .chain([self.serve.child.id()]);
        companions.len() == 1 && views.all(|view| companions[0].editors().contains(&view))
    }

    fn hub(&self) -> u32 {
        let companions = running(&self.sandbox);
        assert_eq!(companions.len(), 1, "{companions:?}");
        companions[0].pid
    }

    fn count(&mut self, round: &Round) {
        let figures = &mut self.figures;
        *figures.rounds.entry(round.title()).or_default() += 1;
        figures.delivered += round.outcomes.len();
        figures.cut += usize::from(round.is_cut);
    }

    /// A text that the agent of this round never received is kept when the hub ends; a hub that is killed takes it along.
    fn settle_debts(&mut self, round: &Round) {
        let undelivered = round.undelivered();
        self.owed.extend(undelivered.map(|text| Owed {
            file: round.path.clone(),
            text: text.to_owned(),
        }));
        match round.blow {
            Blow::KillHub | Blow::KillHubs => {
                let is_gone = |owed: &Owed| !kept(&self.sandbox, &owed.file).contains(&owed.text);
                let gone: Vec<_> = self.owed.drain(..).filter(is_gone).collect();
                self.figures.gone_with_hub += gone.len();
                for owed in gone {
                    let text = &owed.text;
                    assert!(logged(&self.sandbox).contains(text), "{text} is nowhere");
                }
            }
            Blow::EndHub => self.expect_kept(),
            _ => {}
        }
    }

    fn expect_kept(&mut self) {
        for owed in self.owed.drain(..) {
            let kept = kept(&self.sandbox, &owed.file);
            assert_eq!(
                kept,
                std::slice::from_ref(&owed.text),
                "{owed:?} is nowhere"
            );
            let name = owed.file.to_str().unwrap();
            let mut told = self.seats.iter().flat_map(|seat| &seat.told);
            let is_told = told.any(|text| text.starts_with(KEPT_IN) && text.ends_with(name));
            self.figures.kept += 1;
            self.figures.told += usize::from(is_told);
        }
    }

    /// Everybody leaves.
    fn end(mut self) -> (Sandbox, Figures) {
        self.agent.take().unwrap().disconnect();
        for seat in std::mem::take(&mut self.seats) {
            assert_eq!(seat.leave(), Some(0));
        }
        self.serve.signal("TERM");
        assert_eq!(self.serve.ended(), Some(0));
        wait_until("the hub ends", || running(&self.sandbox).is_empty());
        if cfg!(target_os = "linux") {
            wait_until("nothing runs any more", || {
                all_of(&self.sandbox.home).is_empty()
            });
        }
        self.expect_kept();
        (self.sandbox, self.figures)
    }
}

/// Claude Code's lock file, whose name is the port, and the token in it.
fn lock(sandbox: &Sandbox) -> (PathBuf, String) {
    let files = lock_files(&sandbox.home);
    let [file] = &files[..] else {
        panic!("{files:?}");
    };
    let token = discovery_file(file).auth_token.unwrap();
    (file.clone(), token.expose().to_owned())
}

fn find_agent(sandbox: &Sandbox) -> TestAgent {
    TestAgent::find(&sandbox.home, Dialect::GeminiCli)
}

/// The texts of everything that was decided.
fn logged(sandbox: &Sandbox) -> Vec<String> {
    let texts = sandbox
        .home
        .home()
        .join(".local/state/pillion/changes/texts");
    let folders = fs::read_dir(texts).unwrap().flatten();
    let files = folders.flat_map(|folder| fs::read_dir(folder.path()).unwrap().flatten());
    files
        .filter_map(|file| fs::read_to_string(file.path()).ok())
        .collect()
}

/// The texts that are kept for this file.
fn kept(sandbox: &Sandbox, file: &Path) -> Vec<String> {
    let name = file.file_name().unwrap();
    let folders = fs::read_dir(sandbox.home.tmp()).unwrap().flatten();
    let files = folders.map(|folder| folder.path().join(name));
    files
        .filter_map(|file| fs::read_to_string(file).ok())
        .collect()
}
