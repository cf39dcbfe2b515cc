//! Turns of random changes: whatever an agent did is taken back to the byte, and brought back to the byte. A run prints its seeds;
//! `PILLION_TURNS=1000 PILLION_SEED=7` makes it longer, and another one. A turn that fails is cut down to the changes that matter.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]
#![cfg(unix)]

#[path = "shared/any_steps.rs"]
mod any_steps;
mod shared;

use std::cmp::Reverse;
use std::process::Command;

use pillion_changes::deciding::last_act;
use pillion_changes::{Act, ChangeRef, Deciding, Kept, Recorder};
use pillion_system::clock;

use any_steps::{Numbers, Step, copy, cut_down, fill, same, variable};
use shared::{WorkTree, recorder, shell};

const HOOKED: u64 = 1;
const ATTENDED: u64 = 2;

/// A folder before a turn: as a repository or not, with files that have several names.
fn start(shape: usize, has_hard_links: bool) -> WorkTree {
    let tree = WorkTree::new();
    fill(&tree.root, has_hard_links);
    let git = |arguments: &str| {
        let mut git = Command::new("sh");
        git.args(["-ec", arguments]).current_dir(&tree.root);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null");
        assert!(git.status().unwrap().success());
    };
    match shape {
        0 => {}
        1 => git("git init -q; git add -A"),
        _ => git(
            "git init -q; printf 'a\\nd/\\n' > .gitignore; git init -q d/in; git add -A 2>&1 | true",
        ),
    }
    tree
}

/// The turns of one run.
#[derive(Debug, Clone, Copy)]
struct Kind {
    shape: usize,
    has_hooks: bool,
    has_hard_links: bool,
    /// True if each half is a turn of its own, and both are taken back at once.
    has_two_turns: bool,
}

/// These steps, taken back and brought back. Returns what went wrong.
fn check(steps: &[Step], kind: Kind) -> Result<(), String> {
    let Kind {
        shape,
        has_hooks,
        has_hard_links,
        has_two_turns,
    } = kind;
    let tree = start(shape, has_hard_links);
    let mut recorder: Recorder = recorder(&tree.store, &tree.root);
    match has_hooks {
        true => {
            recorder.begin(HOOKED, "claude", "").unwrap();
            // Twice, so that the system tells of all folders.
            recorder.before(HOOKED, "claude", shell("0")).unwrap();
            recorder.after(HOOKED, "0", |_| Vec::new()).unwrap();
        }
        false => drop(recorder.attend(ATTENDED, "opencode").unwrap()),
    }
    let before = copy(&tree.root);
    for (at, part) in steps.chunks(steps.len().div_ceil(2).max(1)).enumerate() {
        let id = at.to_string();
        if at > 0 && has_two_turns && has_hooks {
            recorder.end(HOOKED).unwrap();
            recorder.begin(HOOKED, "claude", "").unwrap();
        }
        if has_hooks {
            recorder.before(HOOKED, "claude", shell(&id)).unwrap();
        }
        part.iter().for_each(|step| step.act(&tree.root));
        match has_hooks {
            true => recorder.after(HOOKED, &id, |_| Vec::new()).unwrap(),
            false if has_two_turns => drop(recorder.attended_begins(ATTENDED).unwrap()),
            false => drop(recorder.glance().unwrap()),
        }
    }
    let session = if has_hooks { HOOKED } else { ATTENDED };
    recorder.left(session).unwrap();
    let after = copy(&tree.root);
    let mut turns = tree.store.numbers().unwrap();
    if turns.is_empty() {
        return same(&before, &after, "nothing is listed");
    }
    turns.sort_unstable_by_key(|it| Reverse(*it));
    let all = turns.into_iter();
    let all = all.map(|turn| ChangeRef { turn, change: None });
    act(&tree, Act::TakeBack, &all.collect::<Vec<_>>())?;
    same(&before, &copy(&tree.root), "taken back")?;
    let Ok(last) = last_act(&tree.store, std::slice::from_ref(&tree.root)) else {
        return same(&before, &after, "nothing was left of what it did");
    };
    act(&tree, Act::Undo, &last)?;
    same(&after, &copy(&tree.root), "brought back")
}

/// Does this with what is named, turn by turn in this order.
fn act(tree: &WorkTree, act: Act, names: &[ChangeRef]) -> Result<(), String> {
    let (at, mut failed) = (clock::now_ms(), Vec::new());
    for names in names.chunk_by(|one, other| one.turn == other.turn) {
        let kept = Kept::read(&tree.store, names[0].turn).unwrap();
        let mut deciding = Deciding::new(&tree.store, &kept);
        deciding.at(at);
        deciding.take_all();
        let done = deciding.all(act, names, |it| {
            failed.extend(it.result.err().map(|error| format!("{}: {error}", it.path)));
        });
        done.map_err(|error| error.to_string())?;
    }
    match failed.is_empty() {
        true => Ok(()),
        false => Err(format!("{act:?}: {failed:?}")),
    }
}

#[test]
fn whatever_a_turn_did_is_taken_back_and_brought_back() {
    let (turns, seed): (u64, u64) = (
        variable("PILLION_TURNS").unwrap_or(100),
        variable("PILLION_SEED").unwrap_or(1),
    );
    for seed in seed..seed + turns {
        let mut numbers = Numbers::new(seed);
        let steps: Vec<Step> = (0..=numbers.next(9))
            .map(|_| Step::random(&mut numbers))
            .collect();
        let kind = Kind {
            shape: numbers.next(3),
            has_hooks: numbers.next(2) == 0,
            has_hard_links: numbers.next(2) == 0,
            has_two_turns: numbers.next(2) == 0,
        };
        let Err(why) = check(&steps, kind) else {
            continue;
        };
        let (steps, why) = cut_down(steps, why, |steps| check(steps, kind));
        panic!("seed {seed}, {kind:?}: {steps:?}\n{why}");
    }
}
