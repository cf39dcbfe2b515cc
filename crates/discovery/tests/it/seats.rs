//! One companion for several editors: the agents of each find it, as long as that editor is attached.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use pillion_discovery::survey::survey;
use pillion_discovery::{CompanionState, DiscoveryFiles, Environment};
use pillion_protocol::dialect::Base;
use pillion_protocol::{Dialect, IdeInfo};
use serde_json::Value;

use crate::state::state;
use crate::world::{
    Answering, Listener, Process, World, claude_lock, discovery_info, is_claudes, publish,
    read_lock, seat, seats, warnings,
};

/// An environment whose temporary and home directory are others.
fn elsewhere(world: &World) -> Environment {
    let home = Some(world.path("other/home"));
    let environment = world.environment().with("HOME", home);
    environment.with_tmpdir(world.path("other/tmp"))
}

/// The editor that a discovery file names.
fn editor_in(path: &Path) -> u32 {
    let content: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let key = if is_claudes(path) { "pid" } else { "ppid" };
    content[key].as_u64().unwrap().try_into().unwrap()
}

fn contents(world: &World) -> BTreeMap<String, Vec<u8>> {
    let files = world.files().into_iter();
    let read = |file: String| {
        let content = fs::read(world.path(&file)).unwrap();
        (file, content)
    };
    files.map(read).collect()
}

/// The lock files that Claude Code and opencode see in this environment: newer releases look in both folders.
fn seen_locks(world: &World, environment: &Environment) -> Vec<String> {
    let bases = [Base::ClaudeConfig, Base::ClaudeHome].map(|base| environment.base(base));
    let folders: BTreeSet<_> = bases.iter().map(|base| base.join("ide")).collect();
    let mut locks: Vec<_> = world.files().into_iter().collect();
    locks.retain(|file| {
        let path = world.path(file);
        file.ends_with(".lock") && path.parent().is_some_and(|it| folders.contains(it))
    });
    locks
}

#[test]
fn the_agents_of_two_editors_find_it_where_each_looks() {
    let (world, listener, child) = (World::new(), Listener::new(), Process::new());
    let (here, there) = (world.environment(), elsewhere(&world));
    let attached = vec![seat(&here, std::process::id()), seat(&there, child.id())];
    let discovery_files =
        DiscoveryFiles::publish(attached, discovery_info(listener.port())).unwrap();
    assert!(
        discovery_files.warnings().is_empty(),
        "{:?}",
        warnings(&discovery_files)
    );
    let port = listener.port();
    for (environment, editor) in [(&here, std::process::id()), (&there, child.id())] {
        let announced = discovery_files.info();
        let reached = Dialect::ALL.into_iter();
        for dialect in reached.filter(|it| announced.address(*it).is_some()) {
            for place in dialect.places() {
                let path = environment
                    .directory(place)
                    .join(place.name.of(editor, port));
                assert_eq!(editor_in(&path), editor, "{path:?}");
            }
        }
        let companions = survey(environment).companions;
        assert_eq!(companions.len(), 1, "{companions:?}");
    }
    assert_eq!(discovery_files.files().len(), world.files().len());
    drop(discovery_files);
    assert!(world.files().is_empty());
}

#[test]
fn an_editor_that_leaves_takes_its_files_with_it_and_no_others() {
    let (world, listener, child) = (World::new(), Listener::new(), Process::new());
    let mut discovery_files = publish(&world, listener.port());
    let before = contents(&world);
    for environment in [world.environment(), elsewhere(&world)] {
        let mut both = seats(&world.environment());
        both.push(seat(&environment, child.id()));
        discovery_files.set_seats(both);
        let attached = contents(&world);
        assert!(attached.len() > before.len());
        let is_same = |(file, content): (&String, _)| attached.get(file) == Some(content);
        assert!(before.iter().all(is_same), "the first goes on as it was");
        discovery_files.set_seats(seats(&world.environment()));
        assert_eq!(contents(&world), before);
    }
    // The first may leave, too.
    discovery_files.set_seats(vec![seat(&elsewhere(&world), child.id())]);
    let files = world.files();
    assert!(!files.is_empty() && files.iter().all(|it| it.starts_with("other/")));
    discovery_files.set_seats(Vec::new());
    assert!(world.files().is_empty() && discovery_files.files().is_empty());
}

#[test]
fn an_editor_that_is_attached_twice_is_one() {
    let (world, listener) = (World::new(), Listener::new());
    let mut discovery_files = publish(&world, listener.port());
    let before = contents(&world);
    let mut twice = seats(&world.environment());
    twice.extend(twice.clone());
    discovery_files.set_seats(twice);
    assert_eq!(contents(&world), before);
}

/// Agents delete a lock file whose process is dead.
#[test]
fn a_lock_file_names_the_first_editor_that_lives() {
    let (world, listener) = (World::new(), Listener::new());
    let (first, second) = (Process::new(), Process::new());
    let editors = [first.id(), second.id()];
    let attached = editors.map(|pid| seat(&world.environment(), pid));
    let mut discovery_files =
        DiscoveryFiles::publish(attached.to_vec(), discovery_info(listener.port())).unwrap();
    let qwens = world.path(&format!("home/.qwen/ide/{}.lock", listener.port()));
    let shared = world.path(&format!(
        "tmp/gemini-ide-server-{}.json",
        std::process::id()
    ));
    let locks = [qwens, claude_lock(&world, listener.port())];
    let named = || locks.each_ref().map(|path| editor_in(path));
    assert_eq!((named(), editor_in(&shared)), ([editors[0]; 2], editors[0]));
    drop(first);
    let written = discovery_files.restore();
    assert!(locks.iter().all(|lock| written.contains(lock)));
    assert_eq!((named(), editor_in(&shared)), ([editors[1]; 2], editors[1]));
    // Its own files stay until it is detached.
    let own = format!("-{}-{}.json", editors[0], listener.port());
    let has_own = || world.files().iter().any(|file| file.ends_with(&own));
    assert!(has_own());
    discovery_files.set_seats(attached[1..].to_vec());
    assert!(!has_own());
    assert!(discovery_files.restore().is_empty());
    drop(second);
    discovery_files.restore();
    assert_eq!(named(), [editors[1]; 2], "there is no other");
}

#[test]
fn claude_code_of_each_editor_sees_one_lock_file() {
    let world = World::new();
    let plain = world.environment();
    let config = |name| {
        let folder = world.path(name);
        plain.clone().with("CLAUDE_CONFIG_DIR", Some(folder))
    };
    let (one, two) = (config("one"), config("two"));
    let named_home = config("home/.claude");
    for environments in [
        vec![&plain, &one],
        vec![&one, &plain],
        vec![&one, &two],
        vec![&one, &named_home, &two],
        vec![&one, &one],
    ] {
        let (listener, child) = (Listener::new(), Process::new());
        let attached = environments.iter().map(|it| seat(it, child.id())).collect();
        let mut discovery_files =
            DiscoveryFiles::publish(attached, discovery_info(listener.port())).unwrap();
        for environment in &environments {
            let seen = seen_locks(&world, environment);
            assert_eq!(seen.len(), 1, "{environments:?}: {seen:?}");
        }
        // Whoever stays, its own is there again.
        discovery_files.set_seats(vec![seat(environments[0], child.id())]);
        let own = environments[0].base(Base::ClaudeConfig).join("ide");
        let name = format!("{}.lock", listener.port());
        let seen = seen_locks(&world, environments[0]);
        assert_eq!(seen, [world.relative(&own.join(name))]);
    }
}

#[test]
fn another_identity_is_written_everywhere() {
    let (world, listener) = (World::new(), Listener::new());
    let mut discovery_files = publish(&world, listener.port());
    let before = world.files();
    discovery_files.set_ide(IdeInfo::new("helix", "Helix"));
    assert_eq!(world.files(), before);
    let lock = read_lock(claude_lock(&world, listener.port()));
    assert_eq!(lock.ide_name.as_deref(), Some("Helix"));
    let [companion] = &survey(&world.environment()).companions[..] else {
        panic!()
    };
    assert_eq!(companion.display_name(), "Helix");
}

#[test]
fn companions_of_one_process_are_surveyed_each_with_its_files_in_several_places() {
    let (world, child) = (World::new(), Process::new());
    let listeners = [Listener::new(), Listener::new()];
    // The first editor has another temporary directory than this terminal.
    let there = world.environment().with_tmpdir(world.path("other"));
    let attached = [
        seat(&there, child.id()),
        seat(&world.environment(), std::process::id()),
    ];
    let started = listeners.each_ref().map(|listener| {
        let port = listener.port();
        let discovery_files = DiscoveryFiles::publish(attached.to_vec(), discovery_info(port));
        let discovery_files = discovery_files.unwrap();
        let state = CompanionState {
            files: discovery_files.files(),
            ..state(std::process::id(), port)
        };
        (Answering::start(&there, vec![state]), discovery_files)
    });
    let found = survey(&world.environment()).companions;
    assert_eq!(found.len(), 2, "{found:?}");
    for (_, discovery_files) in &started {
        let port = discovery_files.info().port;
        let companion = found.iter().find(|it| it.port == port).unwrap();
        let state = companion.state.as_ref().unwrap();
        assert!(companion.is_alive() && state.port == port);
        let files: BTreeSet<_> = companion.files.iter().map(|file| &file.path).collect();
        assert_eq!(files.len(), companion.files.len(), "each once");
        assert_eq!(files, discovery_files.files().iter().collect());
    }
}
