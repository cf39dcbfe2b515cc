//! The state that companions report at their sockets.

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::Path;
use std::time::{Duration, Instant};

use pillion_discovery::state::{self, list};
use pillion_discovery::{CompanionState, Environment, Socket, ViewState};
use pillion_protocol::IdeInfo;

use crate::world::{Answering, World, is_root, mode};

pub fn state(pid: u32, port: u16) -> CompanionState {
    CompanionState {
        pid,
        version: "1.2.3".to_owned(),
        port,
        roots: vec!["/w".into()],
        ide: IdeInfo::new("x", "X"),
        views: vec![ViewState {
            name: "x".to_owned(),
            display_name: "X".to_owned(),
            pid,
        }],
        started_at_ms: 7,
        files: Vec::new(),
        agents: Vec::new(),
        pending_diffs: 0,
        hides_diffs: false,
        review: None,
        unrecorded: None,
        state_dir: None,
        changes_limit: None,
        last_focused_ms: None,
        address: None,
        open: Default::default(),
    }
}

fn ports(environment: &Environment) -> Vec<u16> {
    let mut ports: Vec<_> = list(environment).iter().map(|state| state.port).collect();
    ports.sort_unstable();
    ports
}

#[test]
fn companions_are_listed_with_what_they_say_until_they_listen_no_longer() {
    let world = World::new();
    let environment = world.environment();
    let own = std::process::id();
    let one = Answering::start(&environment, vec![state(own, 7), state(own, 8)]);
    let other = Answering::start(&environment, vec![state(own, 9)]);
    assert_eq!(ports(&environment), [7, 8, 9]);
    let mut found = list(&environment);
    found.sort_by_key(|state| state.port);
    assert_eq!((found[0].pid, found[0].started_at_ms), (own, 7));
    assert_eq!(found[0].roots, [Path::new("/w")]);
    assert_eq!(found[0].editors(), [own]);
    assert_eq!(found[0].address.as_ref(), Some(&one.address));
    assert_eq!(found[2].address.as_ref(), Some(&other.address));
    drop(one);
    assert_eq!(ports(&environment), [9]);
    drop(other);
    assert!(world.files().is_empty());
    assert!(list(&environment).is_empty());
}

#[test]
fn a_socket_is_private() {
    let world = World::new();
    let socket = Socket::of_companion(&world.environment()).unwrap();
    assert!(socket.path().starts_with(world.path("run/pillion")));
    assert_eq!(
        (mode(socket.path()), mode(world.path("run/pillion"))),
        (0o600, 0o700)
    );
}

#[test]
fn who_listens_and_does_not_answer_is_named_and_the_others_are_not_waited_for_in_turn() {
    let world = World::new();
    let environment = world.environment();
    let own = std::process::id();
    let silent = [(); 5].map(|()| Socket::of_companion(&environment).unwrap());
    let _answering = Answering::start(&environment, vec![state(own, 7)]);
    let start = Instant::now();
    let running = state::look(&environment);
    assert!(start.elapsed() < Duration::from_secs(20));
    assert_eq!(running.companions.len(), 1);
    #[cfg(target_os = "linux")]
    assert_eq!(running.silent, [own; 5]);
    drop(silent);
    assert!(state::look(&environment).silent.is_empty());
}

#[test]
fn what_is_no_answer_and_what_is_no_socket_of_ours_counts_for_nothing() {
    let world = World::new();
    let environment = world.environment();
    for line in ["", "{}", "null", "[{\"port\":7}]", "\u{1b}[2J"] {
        let _other = Answering::with(&environment, line.to_owned());
        assert!(list(&environment).is_empty(), "{line}");
    }
    let answering = Answering::start(&environment, vec![state(std::process::id(), 7)]);
    let folder = world.path("run/pillion");
    let socket = fs::read_dir(&folder)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let name = socket.file_name().unwrap().to_str().unwrap().to_owned();
    fs::write(folder.join(name.replace("own-", "own-1")), "a file").unwrap();
    symlink(&socket, folder.join(name.replace("own-", "own-2"))).unwrap();
    assert_eq!(ports(&environment), [7]);
    fs::rename(&socket, folder.join("elsewhere")).unwrap();
    symlink(folder.join("elsewhere"), &socket).unwrap();
    assert!(list(&environment).is_empty());
    drop(answering);
}

#[test]
fn another_users_socket_counts_for_nothing() {
    if !is_root() {
        return;
    }
    let world = World::new();
    let environment = world.environment();
    let _answering = Answering::start(&environment, vec![state(std::process::id(), 7)]);
    let folder = world.path("run/pillion");
    let socket = fs::read_dir(folder).unwrap().next().unwrap().unwrap();
    chown(socket.path(), Some(65534), None).unwrap();
    assert!(list(&environment).is_empty());
}

#[test]
fn a_runtime_directory_that_cannot_be_used_is_passed_over_and_companions_there_are_still_found() {
    let world = World::new();
    let environment = world.environment();
    symlink(world.path("home"), world.path("run/pillion")).unwrap();
    let _answering = Answering::start(&environment, vec![state(std::process::id(), 7)]);
    // A user without a runtime directory finds it, too.
    let without = Environment::from_pairs([("TMPDIR", world.path("tmp"))]);
    for environment in [environment, without] {
        assert_eq!(ports(&environment), [7]);
    }
}

#[test]
fn no_directory_at_all_is_an_error_with_a_hint() {
    let world = World::new();
    fs::write(world.path("file"), "").unwrap();
    let environment = Environment::from_pairs([("TMPDIR", world.path("file"))]);
    let error = Socket::of_companion(&environment).unwrap_err();
    assert!(error.to_string().contains("file"), "{error}");
    assert!(!error.hint().is_empty());
}
