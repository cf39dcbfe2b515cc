//! The private state files by which Pillion's own commands find a companion.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;

use pillion_discovery::state::list;
use pillion_discovery::{CompanionState, Environment, StateError, StateFile};
use pillion_protocol::{IdeInfo, Token};

use crate::world::{Listener, World, dead_pid, dead_port, is_root, mode};

pub fn state(pid: u32, port: u16) -> CompanionState {
    CompanionState {
        pid,
        version: None,
        port,
        control_token: Token::from("secret-control-token".to_owned()),
        script_token: Token::from("secret-script-token".to_owned()),
        roots: vec!["/w".into()],
        ide: IdeInfo::new("x", "X"),
        editors: vec![pid],
        started_at_ms: 7,
        tmpdir: None,
        namespaces: None,
    }
}

fn ports(environment: &Environment) -> Vec<u16> {
    list(environment).iter().map(|state| state.port).collect()
}

#[test]
fn a_running_companion_is_listed_until_its_file_is_dropped() {
    let (world, listener) = (World::new(), Listener::new());
    let environment = world.environment();
    let own = std::process::id();
    let file = StateFile::publish(&environment, state(own, listener.port())).unwrap();
    let name = format!("run/pillion/{own}-{}.json", listener.port());
    assert_eq!(file.path(), world.path(&name));
    assert_eq!(
        (mode(file.path()), mode(world.path("run/pillion"))),
        (0o600, 0o700)
    );
    let [found] = &list(&environment)[..] else {
        panic!()
    };
    assert_eq!(
        (found.pid, found.port, found.started_at_ms),
        (own, listener.port(), 7)
    );
    assert_eq!(found.roots, [Path::new("/w")]);
    assert!(found.control_token.matches(b"secret-control-token"));
    drop(file);
    assert!(world.files().is_empty());
    assert!(list(&environment).is_empty());
}

#[test]
fn companions_of_one_process_have_a_file_each() {
    let (world, one, other) = (World::new(), Listener::new(), Listener::new());
    let environment = world.environment();
    let own = std::process::id();
    let first = StateFile::publish(&environment, state(own, one.port())).unwrap();
    let mut second = StateFile::publish(&environment, state(own, other.port())).unwrap();
    let mut listed = ports(&environment);
    listed.sort_unstable();
    let mut expected = [one.port(), other.port()];
    expected.sort_unstable();
    assert_eq!(listed, expected);
    drop(first);
    let change = |state: &mut CompanionState| {
        state.editors = vec![7, 8];
        state.ide = IdeInfo::new("y", "Y");
    };
    second.update(change).unwrap();
    let [found] = &list(&environment)[..] else {
        panic!()
    };
    assert_eq!(
        (found.port, &found.editors[..]),
        (other.port(), &[7, 8][..])
    );
    assert_eq!(found.ide.name, "y");
}

#[test]
fn dead_companions_are_not_listed() {
    let (world, listener) = (World::new(), Listener::new());
    let environment = world.environment();
    let _gone = StateFile::publish(&environment, state(dead_pid(), listener.port())).unwrap();
    let _deaf = StateFile::publish(&environment, state(std::process::id(), dead_port())).unwrap();
    assert!(list(&environment).is_empty());
}

#[test]
fn files_that_are_not_what_they_should_be_count_for_nothing() {
    let (world, listener) = (World::new(), Listener::new());
    let environment = world.environment();
    let own = std::process::id();
    let file = StateFile::publish(&environment, state(own, listener.port())).unwrap();
    let folder = world.path("run/pillion");
    let port = listener.port();
    for other in [
        format!("1-{port}.json"),
        format!("{own}-1.json"),
        format!("0{own}-{port}.json"),
        format!("{own}.json"),
    ] {
        fs::copy(file.path(), folder.join(other)).unwrap();
    }
    fs::write(folder.join("2-2.json"), "{").unwrap();
    assert_eq!(ports(&environment), [listener.port()]);
    fs::rename(file.path(), folder.join("elsewhere")).unwrap();
    symlink(folder.join("elsewhere"), file.path()).unwrap();
    assert!(list(&environment).is_empty());
}

#[test]
fn another_users_state_counts_for_nothing() {
    if !is_root() {
        return;
    }
    let (world, listener) = (World::new(), Listener::new());
    let environment = world.environment();
    let file =
        StateFile::publish(&environment, state(std::process::id(), listener.port())).unwrap();
    chown(file.path(), Some(65534), None).unwrap();
    assert!(list(&environment).is_empty());
}

#[test]
fn new_roots_and_deleted_files_are_written_again() {
    let (world, listener) = (World::new(), Listener::new());
    let environment = world.environment();
    let mut file =
        StateFile::publish(&environment, state(std::process::id(), listener.port())).unwrap();
    let change = |state: &mut CompanionState| state.roots = vec!["/new".into()];
    file.update(change).unwrap();
    assert_eq!(list(&environment)[0].roots, [Path::new("/new")]);
    assert!(!file.restore().unwrap());
    fs::remove_dir_all(world.path("run/pillion")).unwrap();
    assert!(file.restore().unwrap());
    fs::set_permissions(file.path(), fs::Permissions::from_mode(0o644)).unwrap();
    assert!(file.restore().unwrap(), "others may read it");
    assert_eq!(mode(file.path()), 0o600);
    fs::remove_file(file.path()).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(file.path())
        .status();
    assert!(made.unwrap().success());
    assert!(file.restore().unwrap(), "it is a pipe");
    assert!(!file.restore().unwrap());
    assert_eq!(list(&environment)[0].roots, [Path::new("/new")]);
}

#[test]
fn a_root_that_is_not_unicode_is_refused_and_named() {
    let (world, listener) = (World::new(), Listener::new());
    let environment = world.environment();
    let mut file =
        StateFile::publish(&environment, state(std::process::id(), listener.port())).unwrap();
    let root = OsStr::from_bytes(b"/w/\xff");
    let change = |state: &mut CompanionState| state.roots = vec![root.into()];
    let error = file.update(change).unwrap_err();
    assert!(matches!(error, StateError::NotUnicode(_)), "{error}");
    assert_eq!(list(&environment)[0].roots, [Path::new("/w")]);
}

#[test]
fn a_runtime_directory_that_cannot_be_used_is_passed_over_and_companions_there_are_still_found() {
    let (world, listener) = (World::new(), Listener::new());
    let environment = world.environment();
    symlink(world.path("home"), world.path("run/pillion")).unwrap();
    let file =
        StateFile::publish(&environment, state(std::process::id(), listener.port())).unwrap();
    assert!(
        file.path().starts_with(world.path("tmp")),
        "{:?}",
        file.path()
    );
    // A user without a runtime directory finds it, too.
    let without = Environment::from_pairs([("TMPDIR", world.path("tmp"))]);
    for environment in [environment, without] {
        assert_eq!(ports(&environment), [listener.port()]);
    }
}

#[test]
fn no_directory_at_all_is_an_error_with_a_hint() {
    let (world, listener) = (World::new(), Listener::new());
    fs::write(world.path("file"), "").unwrap();
    let environment = Environment::from_pairs([("TMPDIR", world.path("file"))]);
    let error =
        StateFile::publish(&environment, state(std::process::id(), listener.port())).unwrap_err();
    assert!(error.hint().is_some());
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("file"), "{cause}");
}

#[test]
fn debug_shows_no_token() {
    let (world, listener) = (World::new(), Listener::new());
    let file = StateFile::publish(
        &world.environment(),
        state(std::process::id(), listener.port()),
    )
    .unwrap();
    let shown = format!("{file:?} {:?}", list(&world.environment()));
    assert!(!shown.contains("secret-control-token"), "{shown}");
}
