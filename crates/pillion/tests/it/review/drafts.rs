//! The reviewer's draft of a proposal outlives the review, the hub, the agent and a newer proposal: it is offered again, and
//! one key brings it back.

use std::fs;

use pillion_testkit::client::Update;
use pillion_testkit::{Env, SOON, TestAgent};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{QUESTION, Review, decide_in};

/// A file, the proposal, and what comes of the keys with which it is changed.
struct Case {
    before: &'static str,
    proposed: &'static str,
    keys: &'static [&'static str],
    mine: &'static str,
}

const TYPED: Case = Case {
    before: "1\n2\n3\n4\n5\n6\n7\n",
    proposed: "one\n2\n3\n4\n5\n6\n7\n",
    keys: &["e"],
    mine: "one\n2\n3\nmine\n5\n6\n7\n",
};

/// With a byte order mark, CRLF and no last line feed.
const BYTES: Case = Case {
    before: "\u{feff}1\r\n2\r\n3\r\n4\r\n5",
    proposed: "\u{feff}one\r\n2\r\n3\r\n4\r\n5",
    keys: &["e"],
    mine: "\u{feff}one\r\n2\r\n3\r\nmine\r\n5",
};

const HUNK_OUT: Case = Case {
    before: "1\n-\n-\n-\n-\n-\n-\n-\n-\n2\n",
    proposed: "one\n-\n-\n-\n-\n-\n-\n-\n-\ntwo\n",
    keys: &[" "],
    mine: "1\n-\n-\n-\n-\n-\n-\n-\n-\ntwo\n",
};

const CASES: [Case; 3] = [TYPED, BYTES, HUNK_OUT];

impl Case {
    fn start(&self) -> (Review, TestAgent, String) {
        let review = Review::usual_with(&editor());
        let file = review.sandbox.home.file("a.txt", self.before);
        let path = file.to_str().unwrap().to_owned();
        let agent = review.connect();
        self.change(&review, &agent, &path);
        (review, agent, path)
    }

    /// Changes the proposal, and waits until that is kept.
    fn change(&self, review: &Review, agent: &TestAgent, path: &str) {
        agent.propose(path, self.proposed);
        review.pane.wait_for("proposes", SOON);
        for key in self.keys {
            review.decide(key);
        }
        let is_kept = |_: &str| texts(review) == [self.mine];
        review.pane.wait_until("it is kept", SOON, is_kept);
    }

    /// The same is proposed again, and accepted as the person had it.
    fn comes_back(&self, review: &Review, agent: &mut TestAgent, path: &str) {
        agent.propose(path, self.proposed);
        review.pane.wait_for("Z brings it back", SOON);
        review.decide("Z");
        review.pane.wait_for("redone", SOON);
        review.decide("a");
        let expected = Update::accepted(path.to_owned(), self.mine.to_owned());
        assert_eq!(agent.outcome(), expected);
        let is_settled = |_: &str| states(review) == ["edited"];
        review.pane.wait_until("one entry", SOON, is_settled);
    }
}

fn editor() -> Env {
    Env::default().with("EDITOR", "sed -i 's/^4/mine/'")
}

pub(super) fn log(review: &Review) -> Vec<Value> {
    let printed = review.sandbox.run(["log", "--json"]).expect(0);
    serde_json::from_str(&printed.stdout).unwrap()
}

pub(super) fn states(review: &Review) -> Vec<String> {
    let log = log(review).into_iter();
    log.map(|it| it["state"].as_str().unwrap().to_owned())
        .collect()
}

/// The texts of what is not decided, newest first.
pub(super) fn texts(review: &Review) -> Vec<String> {
    let log = log(review).into_iter();
    let undecided = log.filter(|it| it["state"] == "not decided");
    undecided
        .map(|it| {
            let id = it["id"].as_str().unwrap();
            review.sandbox.run(["show", id, "--text"]).expect(0).stdout
        })
        .collect()
}

fn hub_of(review: &Review) -> Option<u64> {
    let listed = review.sandbox.run(["list", "--json"]).expect(0);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    listed[0]["pid"].as_u64()
}

fn kill(pid: u64) {
    let pid = Pid::from_raw(pid.try_into().unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn what_was_changed_outlives_the_review() {
    for (case, signal) in CASES.iter().zip([Signal::KILL, Signal::HUP, Signal::TERM]) {
        let (review, agent, path) = case.start();
        review.signal(signal);
        review.pane.wait_for("exit code", SOON);
        drop(agent);
        assert_eq!(texts(&review), [case.mine], "{signal:?}");
        let review = review.again(&editor());
        let mut agent = review.connect();
        case.comes_back(&review, &mut agent, &path);
    }
}

/// An edit in one, an exclusion in the other: both come back, the newest first.
#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn what_was_changed_in_two_windows_outlives_both() {
    let (review, agent, path) = TYPED.start();
    let other = review.beside();
    other.wait_for("proposes", SOON);
    decide_in(&other, " ", "all hunks excluded");
    let are_kept = |_: &str| texts(&review).len() == 2;
    review.pane.wait_until("both are kept", SOON, are_kept);
    review.signal(Signal::HUP);
    review.pane.wait_for("exit code", SOON);
    decide_in(&other, "q", "1 diff is pending");
    other.send_keys(["y"]);
    drop(agent);
    let review = review.again(&editor());
    let mut agent = review.connect();
    agent.propose(&path, TYPED.proposed);
    review.pane.wait_for("2 texts of yours for a.txt", SOON);
    review.decide_until("Z", "redone: excluded again");
    review.decide_until("Z", "your edit was redone");
    review.decide("a");
    let expected = Update::accepted(path, TYPED.mine.to_owned());
    assert_eq!(agent.outcome(), expected);
    let is_settled = |_: &str| {
        let mut states = states(&review);
        states.sort();
        states == ["edited", "not decided"]
    };
    review.pane.wait_until("both entries", SOON, is_settled);
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn what_was_changed_outlives_the_hub() {
    for case in &CASES {
        let (review, agent, path) = case.start();
        let hub = hub_of(&review).unwrap();
        kill(hub);
        let is_back = |_: &str| hub_of(&review).is_some_and(|pid| pid != hub);
        review.pane.wait_until("another hub", SOON, is_back);
        drop(agent);
        let mut agent = review.connect();
        case.comes_back(&review, &mut agent, &path);
    }
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn what_was_changed_outlives_the_agent() {
    for case in &CASES {
        let (review, agent, path) = case.start();
        agent.disconnect();
        review.pane.wait_for("no longer waits for", SOON);
        let mut agent = review.connect();
        case.comes_back(&review, &mut agent, &path);
    }
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn what_the_agent_closed_is_offered_until_it_is_decided_without_it() {
    for case in &CASES {
        let (review, mut agent, path) = case.start();
        agent.close(&path).unwrap();
        review.pane.wait_for("closed its diff", SOON);
        agent.propose(&path, case.proposed);
        review.pane.wait_for("Z brings it back", SOON);
        review.decide("a");
        let proposed = Update::accepted(path.clone(), case.proposed.to_owned());
        assert_eq!(agent.outcome(), proposed, "by itself it does not count");
        let both = |_: &str| states(&review) == ["accepted", "not decided"];
        review.pane.wait_until("both entries", SOON, both);
        assert_eq!(texts(&review), [case.mine], "nothing is lost");
    }
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn what_a_newer_proposal_overwrites_is_in_the_log() {
    let (review, mut agent, path) = TYPED.start();
    let newer = "one\n2\n3\nfour\n5\n6\n7\n";
    agent.propose(&path, newer);
    review.pane.wait_for("your text is kept in", SOON);
    review.decide("a");
    review.pane.wait_for(QUESTION, SOON);
    review.decide("y");
    assert_eq!(agent.outcome(), Update::accepted(path, newer.to_owned()));
    let is_there = |_: &str| states(&review).first().is_some_and(|it| it == "accepted");
    review.pane.wait_until("the decision", SOON, is_there);
    assert!(texts(&review).iter().any(|it| it == TYPED.mine));
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn nothing_is_kept_if_that_is_turned_off() {
    let review = Review::usual_with(&editor().with("PILLION_CHANGES", "off"));
    let file = review.sandbox.home.file("a.txt", TYPED.before);
    let mut agent = review.connect();
    agent.propose(&file, TYPED.proposed);
    review.pane.wait_for("proposes", SOON);
    review.decide("e");
    review.decide("a");
    agent.outcome();
    assert_eq!(states(&review), [""; 0]);
    let state = review
        .sandbox
        .home
        .home()
        .join(".local/state/pillion/changes");
    // The processes of agents are noted all the same.
    let names = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
    let noted: Vec<_> = fs::read_dir(&state).unwrap().map(names).collect();
    assert_eq!(noted, ["agents"]);
    assert_eq!(fs::read_to_string(file).unwrap(), TYPED.before);
}
