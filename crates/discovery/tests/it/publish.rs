//! Files that are written, their places, and their removal (C2, C6).

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use pillion_discovery::{DiscoveryFiles, DiscoveryInfo, Environment};
use pillion_protocol::Dialect;
use pillion_protocol::discovery::RootError;

use crate::world::{
    Listener, Process, World, claude_lock, discovery_info, is_claudes, mode, pids, publish,
    publish_in, read, read_lock, seat, seats, warnings,
};

/// Every name that a release reads, for every pid (C2.2, C2.3).
fn expected(port: u16) -> BTreeSet<String> {
    let per_pid = |pid: &u32| {
        [
            format!("tmp/gemini/ide/gemini-ide-server-{pid}-{port}.json"),
            format!("tmp/gemini-ide-server-{pid}.json"),
            format!("tmp/qwen/ide/qwen-code-ide-server-{pid}-{port}.json"),
            format!("tmp/gemini/ide/qwen-code-ide-server-{pid}-{port}.json"),
            format!("tmp/qwen-code-ide-server-{pid}.json"),
        ]
    };
    let mut all: BTreeSet<_> = pids().iter().flat_map(per_pid).collect();
    all.insert(format!("home/.qwen/ide/{port}.lock"));
    all.insert(format!("home/.claude/ide/{port}.lock"));
    all.insert(format!("tmp/qwen-code-ide-server-{port}.json"));
    all
}

#[test]
fn every_place_is_served_for_every_ancestor() {
    let (world, listener) = (World::new(), Listener::new());
    let discovery_files = publish(&world, listener.port());
    assert!(
        warnings(&discovery_files).is_empty(),
        "{:?}",
        warnings(&discovery_files)
    );
    assert_eq!(world.files(), expected(listener.port()));
    let files = discovery_files.files();
    let told: BTreeSet<_> = files.iter().map(|path| world.relative(path)).collect();
    assert_eq!(told, expected(listener.port()));
}

/// Two files of one companion would be two companions to Claude Code, which then takes neither.
#[test]
fn claude_codes_folder_elsewhere_has_its_only_file() {
    let (world, listener) = (World::new(), Listener::new());
    let configured = world.path("config");
    let environment = world
        .environment()
        .with("CLAUDE_CONFIG_DIR", Some(&configured));
    let discovery_files = publish_in(&environment, listener.port());
    let name = format!("{}.lock", listener.port());
    let files = discovery_files.files();
    let locks = files.iter().filter(|path| {
        let is_qwens = path.to_str().unwrap().contains("/.qwen/");
        path.ends_with(&name) && !is_qwens
    });
    let locks: Vec<_> = locks.map(|path| world.relative(path)).collect();
    assert_eq!(locks, [format!("config/ide/{name}")]);
}

#[test]
fn a_file_has_what_the_contract_requires_and_each_agent_its_own_token() {
    let (world, listener) = (World::new(), Listener::new());
    let discovery_files = publish(&world, listener.port());
    let files = discovery_files.files();
    for path in files.iter().filter(|path| !is_claudes(path)) {
        let file = read(path);
        assert_eq!(file.port, listener.port());
        assert_eq!(file.workspace_path, "/work/a:/work/b c");
        assert_eq!(file.ide_info.unwrap().name, "neovim");
        assert_eq!(file.ide_name.as_deref(), Some("Neovim"));
        // Qwen Code deletes a lock file whose ppid is dead.
        assert_eq!(file.ppid, Some(std::process::id()));
        assert_eq!(file.pillion.unwrap().pid, std::process::id());
        let name = path.file_name().unwrap().to_str().unwrap();
        let reader = if name.starts_with("gemini") {
            Dialect::GeminiCli
        } else {
            Dialect::QwenCode
        };
        let token = file.auth_token.unwrap();
        let tokens = &discovery_files.info().tokens;
        assert_eq!(
            tokens.dialect_of(token.expose().as_bytes()),
            Some(reader),
            "{name}"
        );
    }
}

#[test]
fn files_are_0600_and_new_folders_0700() {
    let (world, listener) = (World::new(), Listener::new());
    let discovery_files = publish(&world, listener.port());
    for path in discovery_files.files() {
        assert_eq!(mode(&path), 0o600, "{path:?}");
    }
    for folder in [
        "tmp/gemini",
        "tmp/gemini/ide",
        "tmp/qwen",
        "tmp/qwen/ide",
        "home/.qwen",
        "home/.qwen/ide",
        "home/.claude",
        "home/.claude/ide",
    ] {
        assert_eq!(mode(world.path(folder)), 0o700, "{folder}");
    }
}

#[test]
fn dropping_takes_every_file_away_and_leaves_folders() {
    let (world, listener) = (World::new(), Listener::new());
    drop(publish(&world, listener.port()));
    assert!(world.files().is_empty());
    assert!(world.path("tmp/gemini/ide").is_dir());
}

#[test]
fn another_process_of_the_editor_takes_the_place_of_the_first() {
    let (world, listener) = (World::new(), Listener::new());
    let mut discovery_files = publish(&world, listener.port());
    let child = Process::new();
    discovery_files.set_seats(vec![seat(&world.environment(), child.id())]);
    let mut files = expected(listener.port());
    let before = files.len();
    files.extend(world.files());
    assert_eq!(files, world.files(), "those of its ancestors stay");
    assert!(files.len() > before);
    for path in discovery_files
        .files()
        .iter()
        .filter(|path| !is_claudes(path))
    {
        assert_eq!(read(path).ppid, Some(child.id()));
    }
    drop(child);
    discovery_files.set_seats(seats(&world.environment()));
    assert_eq!(world.files(), expected(listener.port()));
}

#[test]
fn new_roots_are_written_everywhere() {
    let (world, listener) = (World::new(), Listener::new());
    let mut discovery_files = publish(&world, listener.port());
    discovery_files
        .set_roots(vec!["/elsewhere".into()])
        .unwrap();
    assert_eq!(world.files(), expected(listener.port()));
    let files = discovery_files.files();
    for path in files.iter().filter(|path| !is_claudes(path)) {
        assert_eq!(
            (read(path).workspace_path.as_str(), mode(path)),
            ("/elsewhere", 0o600)
        );
    }
    let lock = claude_lock(&world, listener.port());
    assert_eq!(
        read_lock(&lock).workspace_folders,
        [Path::new("/elsewhere")]
    );
    assert_eq!(mode(&lock), 0o600);
}

#[test]
fn roots_that_no_file_can_carry_are_refused_before_anything_is_written() {
    let world = World::new();
    let not_unicode = OsStr::from_bytes(b"/work/\xff");
    for (root, is_expected) in [
        (
            OsStr::new("/work/a:b"),
            (|error| matches!(error, RootError::HoldsSeparator(_))) as fn(&_) -> bool,
        ),
        (not_unicode, |error| {
            matches!(error, RootError::NotUnicode(_))
        }),
        (OsStr::new("work"), |error| {
            matches!(error, RootError::Relative(_))
        }),
    ] {
        let discovery_info = DiscoveryInfo {
            roots: vec!["/fine".into(), root.into()],
            ..discovery_info(1)
        };
        let error =
            DiscoveryFiles::publish(seats(&world.environment()), discovery_info).unwrap_err();
        assert!(is_expected(&error), "{error}");
        assert!(world.files().is_empty());
    }
}

#[test]
fn refused_roots_leave_what_was_published() {
    let (world, listener) = (World::new(), Listener::new());
    let mut discovery_files = publish(&world, listener.port());
    discovery_files
        .set_roots(vec!["/work/a:b".into()])
        .unwrap_err();
    assert_eq!(discovery_files.info().roots.len(), 2);
    assert!(discovery_files.restore().is_empty());
    assert_eq!(
        read(&discovery_files.files()[0]).workspace_path,
        "/work/a:/work/b c"
    );
}

#[test]
fn two_companions_of_one_parent_share_names_that_hold_no_port() {
    let (world, one, other) = (World::new(), Listener::new(), Listener::new());
    let first = publish(&world, one.port());
    let mut second = publish(&world, other.port());
    let shared = world.path(&format!(
        "tmp/gemini-ide-server-{}.json",
        std::process::id()
    ));
    assert_eq!(read(&shared).port, one.port());
    assert!(warnings(&second).is_empty(), "{:?}", warnings(&second));
    assert!(!second.files().contains(&shared));
    let both: BTreeSet<_> = &expected(one.port()) | &expected(other.port());
    assert_eq!(world.files(), both);

    // The one that stays takes the names of the one that goes.
    drop((first, one));
    let taken = second.restore();
    assert!(taken.contains(&shared), "{taken:?}");
    assert_eq!(read(&shared).port, other.port());
    assert_eq!(world.files(), expected(other.port()));
}

#[test]
fn a_successors_file_is_not_removed() {
    let (world, one, other) = (World::new(), Listener::new(), Listener::new());
    let first = publish(&world, one.port());
    // The first companion's server is gone already: its names are free.
    drop(one);
    let second = publish(&world, other.port());
    drop(first);
    assert_eq!(world.files(), expected(other.port()));
    assert_eq!(second.files().len(), expected(other.port()).len());
}

#[test]
fn a_temporary_directory_that_is_a_link_is_followed() {
    let (world, listener) = (World::new(), Listener::new());
    std::os::unix::fs::symlink(world.path("tmp"), world.path("link")).unwrap();
    let environment =
        Environment::from_pairs([("TMPDIR", world.path("link")), ("HOME", world.path("home"))]);
    let discovery_files = publish_in(&environment, listener.port());
    assert!(discovery_files.warnings().is_empty());
    fs::remove_file(world.path("link")).unwrap();
    assert_eq!(world.files(), expected(listener.port()));
}

#[test]
fn debug_shows_no_token() {
    let (world, listener) = (World::new(), Listener::new());
    let discovery_files = publish(&world, listener.port());
    let shown = format!("{discovery_files:?} {:?}", discovery_files.info());
    for dialect in Dialect::ALL {
        let token = discovery_files.info().tokens.get(dialect);
        assert!(!shown.contains(token.expose()));
    }
}

#[test]
fn a_companion_that_has_names_of_ours_is_dialled_once() {
    let (world, first, second) = (World::new(), Listener::new(), Listener::new());
    let _first = publish(&world, first.port());
    let _second = publish(&world, second.port());
    // Once to know that its files stay, and once because it has names that both would have.
    assert!(first.dials() <= 2);
}
