//! Compares `find` with the real Claude Code, by the lock file that it takes: in generated situations it must dial
//! what `find` says, and nothing else.

mod machine;
mod program;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use pillion_agent::find::{Finding, Refusal, Release, Situation, find};
use pillion_discovery::Environment;
use pillion_protocol::Dialect;
use pillion_system::process;
use pillion_testkit::{ClaudeRelease, Model};

use self::machine::Machine;
use self::program::Dialled;

/// Programs at once: each works for a second and then waits.
const AT_ONCE: usize = 3;

/// The kinds of answers.
const KINDS: [&str; 7] = [
    "dials",
    "dials by variable",
    "dials an event source",
    "several fit",
    "elsewhere",
    "other terminal",
    "none",
];

#[test]
#[ignore = "takes half a minute, and needs the real agents and Claude Code: cargo xtask test"]
fn as_claude_code_2_1_332_chooses() {
    compare(ClaudeRelease::Native, 0..400, 1);
}

#[test]
#[ignore = "in --all: takes a minute, and needs the real agents and Claude Code: cargo xtask test --all"]
fn as_claude_code_2_1_332_chooses_in_other_situations() {
    compare(ClaudeRelease::Native, 400..800, 3);
}

/// Compares both in situations of these seeds, the first few of each kind: some come up ten times as often as
/// others, and a kind is known long before the program has started.
fn compare(release: ClaudeRelease, seeds: std::ops::Range<u64>, of_each_kind: usize) {
    let model = Model::start();
    let next = AtomicU64::new(seeds.start);
    let (kinds, differing) = (Mutex::new(BTreeMap::new()), Mutex::new(Vec::new()));
    let take_place = |kind| {
        let mut kinds = kinds.lock().unwrap();
        let count = kinds.entry(kind).or_insert(0);
        *count += 1;
        *count <= of_each_kind
    };
    let is_complete = || {
        let kinds = kinds.lock().unwrap();
        KINDS
            .iter()
            .all(|kind| kinds.get(kind).is_some_and(|count| *count >= of_each_kind))
    };
    let work = || {
        while !is_complete() {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return;
            }
            let machine = Machine::generate(seed);
            let finding = ours(release, &machine);
            if !take_place(kind(&finding)) {
                continue;
            }
            let expected: Vec<Dialled> = finding.dials.iter().map(Dialled::of).collect();
            let listing = machine.listing();
            // The real program goes last: it deletes files.
            let dialled = program::dials(release, &machine, &model);
            if dialled != expected {
                differing.lock().unwrap().push(format!(
                    "seed {seed}: it dials {dialled:?}, and {expected:?} was expected\n{listing}{finding:#?}"
                ));
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(work);
        }
    });
    let differing = differing.into_inner().unwrap();
    assert!(
        differing.is_empty(),
        "{} differ; the shortest: {}",
        differing.len(),
        differing.iter().min_by_key(|text| text.len()).unwrap()
    );
    assert!(is_complete(), "{:?} of {KINDS:?}", kinds.lock().unwrap());
}

fn ours(release: ClaudeRelease, machine: &Machine) -> Finding {
    let environment =
        Environment::from_pairs(machine.variables()).with_current_dir(machine.real_folder());
    // The program is started below this process.
    let chain = process::chain(std::process::id());
    find(&Situation {
        only: None,
        release: Release {
            agent: Dialect::ClaudeCode,
            version: release.version().parse().unwrap(),
        },
        environment: &environment,
        current_dir: &machine.real_folder(),
        chain: &chain,
        in_container: false,
    })
}

fn kind(finding: &Finding) -> &'static str {
    match (&finding.refusal, finding.dials.first()) {
        (Some(Refusal::Ambiguous(_)), _) => "several fit",
        (Some(Refusal::OtherWorkspace(_)), _) => "elsewhere",
        (Some(Refusal::OtherTerminal), _) => "other terminal",
        (Some(_), _) => "none",
        (None, Some(dial)) if dial.to_string().ends_with("/sse") => "dials an event source",
        (None, _) if machine::is_named(finding) => "dials by variable",
        (None, _) => "dials",
    }
}
