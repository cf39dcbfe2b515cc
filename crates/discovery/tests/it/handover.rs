//! Port and token of a companion go to one successor, and only to the one that they are meant for.

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use pillion_discovery::handover::{self, REFRESH_INTERVAL, Takeover, VALID_FOR};
use pillion_discovery::{Handover, Predecessor, sweep, tokens};
use pillion_protocol::{AgentProcess, ProcessChoice, ReviewMode, Token};
use pillion_system::process;
use serde_json::{Value, json};

use crate::world::{World, dead_pid, is_root, mode};

const NOW: u64 = 1_800_000_000_000;
const PORT: u16 = 40_404;

fn roots(roots: &[&str]) -> Vec<PathBuf> {
    roots.iter().map(PathBuf::from).collect()
}

fn record(world: &World, roots: &[PathBuf], port: u16) -> (Handover, Token) {
    let token = tokens::random_token().unwrap();
    let environment = world.environment();
    let recorded = Handover::record(&environment, roots, port, token.clone(), NOW);
    (recorded.unwrap(), token)
}

fn take(world: &World, roots: &[PathBuf], now_ms: u64) -> Option<Predecessor> {
    match handover::take_over(&world.environment(), roots, now_ms) {
        Takeover::Taken(predecessor) => Some(predecessor),
        Takeover::Running | Takeover::Nothing => None,
    }
}

fn file(world: &World, pid: u32, port: u16) -> PathBuf {
    world.path(&format!("run/pillion/{pid}-{port}.handover"))
}

/// The record as that of a process which crashed.
fn crash(world: &World, handover: Handover, port: u16) -> PathBuf {
    let (own, pid) = (file(world, std::process::id(), port), dead_pid());
    std::mem::forget(handover);
    let mut content: Value = serde_json::from_slice(&fs::read(&own).unwrap()).unwrap();
    content["pid"] = json!(pid);
    let crashed = file(world, pid, port);
    fs::rename(&own, &crashed).unwrap();
    fs::write(&crashed, content.to_string()).unwrap();
    crashed
}

#[test]
fn a_successor_takes_port_and_token_of_a_companion_that_ended_once() {
    let world = World::new();
    let workspace = roots(&["/w"]);
    let (handover, token) = record(&world, &workspace, PORT);
    handover.end(NOW);
    let taken = take(&world, &workspace, NOW + 1).unwrap();
    assert_eq!(taken.port, PORT);
    assert!(taken.token.matches(token.expose().as_bytes()));
    assert!(taken.is_closing, "its process, this one, still lives");
    assert!(take(&world, &workspace, NOW + 1).is_none());
    assert!(world.files().is_empty());
}

#[test]
fn a_companion_that_runs_keeps_its_token_and_one_that_crashed_does_not() {
    let world = World::new();
    let workspace = roots(&["/w"]);
    let (handover, token) = record(&world, &workspace, PORT);
    // However long it has not been refreshed: the machine may have slept.
    for later in [0, 1_000, 86_400_000] {
        let found = handover::take_over(&world.environment(), &workspace, NOW + later);
        assert!(matches!(found, Takeover::Running), "{found:?}");
    }
    let other = handover::take_over(&world.environment(), &roots(&["/x"]), NOW);
    assert!(matches!(other, Takeover::Nothing), "{other:?}");
    crash(&world, handover, PORT);
    let taken = take(&world, &workspace, NOW + 5_000).unwrap();
    assert!(taken.token.matches(token.expose().as_bytes()));
    assert!(!taken.is_closing);
}

#[test]
fn what_is_too_old_is_not_taken_and_is_removed() {
    let world = World::new();
    let workspace = roots(&["/w"]);
    let valid = u64::try_from(VALID_FOR.as_millis()).unwrap();
    let refreshed = u64::try_from(REFRESH_INTERVAL.as_millis()).unwrap();
    // Also by a clock that was set back.
    for (age, is_taken) in [
        (valid, true),
        (valid + 1, false),
        (valid + 86_400_000, false),
    ] {
        for now in [NOW + age, NOW - age] {
            record(&world, &workspace, PORT).0.end(NOW);
            assert_eq!(take(&world, &workspace, now).is_some(), is_taken, "{age}");
            assert!(world.files().is_empty(), "{:?}", world.files());
        }
    }
    for (age, is_taken) in [(valid + refreshed, true), (valid + refreshed + 1, false)] {
        let (mut handover, _) = record(&world, &workspace, PORT);
        handover.refresh(NOW + 60_000).unwrap();
        crash(&world, handover, PORT);
        let taken = take(&world, &workspace, NOW + 60_000 + age);
        assert_eq!(taken.is_some(), is_taken, "{age}");
        assert!(world.files().is_empty(), "{:?}", world.files());
    }
    // Another workspace's, too.
    record(&world, &roots(&["/x"]), PORT).0.end(NOW);
    assert!(take(&world, &workspace, NOW + valid + 1).is_none());
    assert!(world.files().is_empty());
}

#[test]
fn other_roots_take_nothing() {
    let world = World::new();
    record(&world, &roots(&["/w", "/v"]), PORT).0.end(NOW);
    for other in [&["/u"][..], &["/w/below"], &["/"], &[]] {
        assert!(take(&world, &roots(other), NOW).is_none(), "{other:?}");
    }
    // Their order says nothing, nor does one that is listed twice.
    assert!(take(&world, &roots(&["/v", "/w", "/v"]), NOW).is_some());
}

/// Of several front ends, one comes back first. Agents of the one before are never shown a folder more.
#[test]
fn some_of_the_roots_are_enough_and_others_are_too_many() {
    let world = World::new();
    for (own, fits) in [
        (&["/w"][..], true),
        (&["/v"], true),
        (&["/w", "/v"], true),
        (&["/x"], false),
        (&["/u", "/w"], false),
        (&["/w", "/v", "/u"], false),
        (&["/w/deep"], false),
    ] {
        record(&world, &roots(&["/w", "/v", "/t"]), PORT).0.end(NOW);
        let taken = take(&world, &roots(own), NOW + 1);
        assert_eq!(taken.is_some(), fits, "{own:?}");
        take(&world, &roots(&["/t"]), NOW + 1);
    }
    // One of all its roots is taken first, also if it ended earlier; and none of one that runs.
    record(&world, &roots(&["/w", "/v"]), PORT).0.end(NOW + 9);
    record(&world, &roots(&["/w"]), PORT + 1).0.end(NOW);
    let _running = record(&world, &roots(&["/w", "/x"]), PORT + 2);
    let next = || take(&world, &roots(&["/w"]), NOW + 10).map(|it| it.port);
    assert_eq!([next(), next(), next()], [Some(PORT + 1), Some(PORT), None]);
}

#[test]
fn without_roots_there_is_nothing_to_take_over() {
    let world = World::new();
    let (mut handover, _) = record(&world, &[], PORT);
    let found = handover::take_over(&world.environment(), &[], NOW);
    assert!(matches!(found, Takeover::Nothing), "{found:?}");
    handover.set_roots(&roots(&["/w"])).unwrap();
    handover.set_roots(&[]).unwrap();
    handover.end(NOW);
    assert!(world.files().is_empty(), "{:?}", world.files());
}

#[test]
fn another_process_takes_over_the_workspaces_of_one_that_crashed() {
    let world = World::new();
    for (root, port) in [("/w", PORT), ("/v", PORT + 1)] {
        crash(&world, record(&world, &roots(&[root]), port).0, port);
    }
    let taken = |root| take(&world, &roots(&[root]), NOW + 1_000).map(|it| it.port);
    assert_eq!(taken("/x"), None);
    assert_eq!(taken("/v"), Some(PORT + 1));
    assert_eq!(taken("/w"), Some(PORT));
    assert_eq!(taken("/w"), None);
}

#[test]
fn of_companions_of_one_process_only_those_that_ended_are_taken() {
    let world = World::new();
    let (running, _) = record(&world, &roots(&["/w"]), PORT);
    record(&world, &roots(&["/v"]), PORT + 1).0.end(NOW);
    let look = |root| handover::take_over(&world.environment(), &roots(&[root]), NOW);
    assert!(matches!(look("/w"), Takeover::Running));
    let Takeover::Taken(taken) = look("/v") else {
        panic!()
    };
    // Its successor has the same process and port, and so its file the same name.
    let (next, _) = record(&world, &roots(&["/v"]), taken.port);
    assert!(matches!(look("/v"), Takeover::Running));
    next.end(NOW);
    running.end(NOW);
    for root in ["/v", "/w"] {
        assert!(matches!(look(root), Takeover::Taken(_)), "{root}");
    }
}

#[test]
fn a_record_follows_the_roots() {
    let world = World::new();
    let (mut handover, _) = record(&world, &roots(&["/w"]), PORT);
    handover.set_roots(&["/new".into()]).unwrap();
    handover.end(NOW);
    assert!(take(&world, &roots(&["/w"]), NOW).is_none());
    assert!(take(&world, &roots(&["/new"]), NOW).is_some());
}

#[test]
fn of_several_that_ended_the_last_is_taken_first() {
    let world = World::new();
    let workspace = roots(&["/w"]);
    for (port, ended) in [(1, 5), (2, 9), (3, 7)] {
        record(&world, &workspace, port).0.end(NOW + ended);
    }
    let ports = std::iter::from_fn(|| take(&world, &workspace, NOW + 10).map(|it| it.port));
    assert_eq!(ports.collect::<Vec<_>>(), [2, 3, 1]);
}

#[test]
fn of_many_successors_at_once_one_gets_it() {
    let world = World::new();
    let workspace = roots(&["/w"]);
    for _ in 0..20 {
        record(&world, &workspace, PORT).0.end(NOW);
        let taken = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let found = take(&world, &workspace, NOW).is_some();
                    taken.fetch_add(usize::from(found), Ordering::Relaxed);
                });
            }
        });
        assert_eq!(taken.into_inner(), 1);
    }
}

#[test]
fn choices_are_taken_over_for_processes_that_still_run() {
    let world = World::new();
    let workspace = roots(&["/w"]);
    let own = std::process::id();
    let started = process::started_at(own).unwrap();
    let choice = |pid, started_at| ProcessChoice {
        process: AgentProcess { pid, started_at },
        mode: Some(ReviewMode::Asked),
        shows_commands: true,
    };
    let all = [
        choice(dead_pid(), started),
        choice(own, started),
        // Another process had the number before.
        choice(own, started + 1),
    ];
    let (mut handover, _) = record(&world, &workspace, PORT);
    handover.set_choices(all.to_vec()).unwrap();
    crash(&world, handover, PORT);
    let taken = take(&world, &workspace, NOW).unwrap();
    assert_eq!(taken.choices, [choice(own, started)]);
    // One that has ended since the record was written is left out, too, and what an older Pillion wrote has none.
    for (choices, expected) in [
        (json!([all[1], all[0]]), vec![all[1].clone()]),
        (json!([all[2]]), vec![]),
        (Value::Null, vec![]),
    ] {
        record(&world, &workspace, PORT).0.end(NOW);
        let path = file(&world, own, PORT);
        let mut content: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let fields = content.as_object_mut().unwrap();
        match choices {
            Value::Null => fields.remove("choices"),
            choices => fields.insert("choices".to_owned(), choices),
        };
        fs::write(&path, content.to_string()).unwrap();
        assert_eq!(take(&world, &workspace, NOW).unwrap().choices, expected);
    }
}

#[test]
fn a_record_is_private_and_shows_no_token() {
    let world = World::new();
    let (mut handover, token) = record(&world, &roots(&["/w"]), PORT);
    let path = file(&world, std::process::id(), PORT);
    handover.refresh(NOW).unwrap();
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    assert!(!format!("{handover:?}").contains(token.expose()));
    handover.end(NOW);
    assert_eq!(mode(&path), 0o600);
    let taken = take(&world, &roots(&["/w"]), NOW);
    assert!(!format!("{taken:?}").contains(token.expose()));
}

#[test]
fn what_is_no_record_of_ours_gives_no_token() {
    let world = World::new();
    let workspace = roots(&["/w"]);
    record(&world, &workspace, PORT).0.end(NOW);
    let path = file(&world, std::process::id(), PORT);
    let good: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let with = |key: &str, value: Value| {
        let mut content = good.clone();
        content[key] = value;
        content.to_string()
    };
    for content in [
        String::new(),
        "{}".to_owned(),
        "[1]".to_owned(),
        // It would let everything in.
        with("token", json!("")),
        with("token", json!("short")),
        with("token", json!(["a"])),
        with("port", json!(0)),
        with("port", json!(1)),
        with("pid", json!(1)),
        with("roots", json!(null)),
        with("choices", json!([{"pid": 1}])),
        "x".repeat(100_000),
    ] {
        fs::write(&path, &content).unwrap();
        assert!(take(&world, &workspace, NOW).is_none(), "{content:.80}");
        assert!(!path.exists(), "{content:.80}");
    }
    // Links and others' files are not followed, read or removed.
    fs::write(world.path("elsewhere"), good.to_string()).unwrap();
    symlink(world.path("elsewhere"), &path).unwrap();
    assert!(take(&world, &workspace, NOW).is_none());
    assert!(path.is_symlink() && world.path("elsewhere").exists());
    if is_root() {
        fs::remove_file(&path).unwrap();
        fs::write(&path, good.to_string()).unwrap();
        chown(&path, Some(65534), None).unwrap();
        assert!(take(&world, &workspace, NOW).is_none());
        assert!(path.exists());
    }
}

#[test]
fn without_a_usable_state_directory_there_is_an_error_and_nothing_to_take() {
    let world = World::new();
    let workspace = roots(&["/w"]);
    let nowhere = world.path("nowhere");
    fs::write(&nowhere, "").unwrap();
    let environment = world
        .environment()
        .with("XDG_RUNTIME_DIR", None::<&Path>)
        .with_tmpdir(&nowhere);
    let token = tokens::random_token().unwrap();
    let recorded = Handover::record(&environment, &workspace, PORT, token, NOW);
    assert!(recorded.is_err());
    let found = handover::take_over(&environment, &workspace, NOW);
    assert!(matches!(found, Takeover::Nothing), "{found:?}");
}

#[test]
fn sweeping_and_listing_pass_records_over() {
    let world = World::new();
    let (handover, _) = record(&world, &roots(&["/w"]), PORT);
    let crashed = crash(&world, handover, PORT);
    assert!(sweep(&world.environment()).is_empty());
    assert!(pillion_discovery::state::list(&world.environment()).is_empty());
    assert!(crashed.exists(), "a successor may still come");
}
