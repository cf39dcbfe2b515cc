//! The lock files of Copilot CLI: what they say, and that none is left or written in vain.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use pillion_discovery::{DiscoveryFiles, DiscoveryInfo, survey, sweep};
use pillion_protocol::Dialect;
use serde_json::{Value, json};

use crate::world::{Listener, World, dead_pid, discovery_info, mode, publish, seats};

/// Publishes with a socket.
fn published(world: &World, port: u16, roots: Vec<PathBuf>) -> DiscoveryFiles {
    let discovery_info = DiscoveryInfo {
        socket: Some("/run/p/1.sock".into()),
        roots,
        ..discovery_info(port)
    };
    DiscoveryFiles::publish(seats(&world.environment()), discovery_info).unwrap()
}

fn lock(world: &World, port: u16) -> PathBuf {
    world.path("home/.copilot/ide").join(format!("{port}.lock"))
}

#[test]
fn a_lock_file_has_every_field_without_which_the_agent_passes_it_over() {
    let (world, listener) = (World::new(), Listener::new());
    fs::create_dir(world.path("real")).unwrap();
    symlink("real", world.path("link")).unwrap();
    let port = listener.port();
    let discovery_files = published(&world, port, vec![world.path("link")]);
    let path = lock(&world, port);
    assert_eq!(mode(&path), 0o600);
    let content: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let token = discovery_files.info().tokens.get(Dialect::CopilotCli);
    let own = std::process::id();
    assert!(content["timestamp"].as_u64().unwrap() > 0);
    assert_eq!(
        content,
        json!({
            "socketPath": "/run/p/1.sock", "scheme": "unix",
            "headers": {"Authorization": format!("Bearer {}", token.expose())},
            "pid": own, "ideName": "Neovim", "timestamp": content["timestamp"],
            // It compares real folders only.
            "workspaceFolders": [pillion_discovery::real_path(&world.path("real"))],
            "pillion": {"pid": own, "namespaces": pillion_discovery::namespaces::here()},
        })
    );
    let found = survey(&world.environment()).companions;
    let [companion] = found.as_slice() else {
        panic!("it is one companion, whatever its files: {found:?}");
    };
    assert!(companion.is_seen(Dialect::CopilotCli, &world.environment()));
    drop(discovery_files);
    assert!(!path.exists());
}

#[test]
fn the_folder_is_where_the_variable_says() {
    let (world, listener) = (World::new(), Listener::new());
    let there = world.path("elsewhere");
    let environment = world.environment().with("COPILOT_HOME", Some(&there));
    let discovery_info = DiscoveryInfo {
        socket: Some("/run/p/1.sock".into()),
        ..discovery_info(listener.port())
    };
    let _discovery_files = DiscoveryFiles::publish(seats(&environment), discovery_info).unwrap();
    let name = format!("ide/{}.lock", listener.port());
    assert!(there.join(name).exists());
    assert!(!lock(&world, listener.port()).exists());
}

#[test]
fn without_a_socket_nothing_is_written_for_it() {
    let (world, listener) = (World::new(), Listener::new());
    let _discovery_files = publish(&world, listener.port());
    assert!(!world.path("home/.copilot").exists());
}

/// The agent goes on with a companion that is gone until its file is.
#[test]
fn the_file_of_a_dead_companion_is_swept_and_those_of_others_stay() {
    let (world, listener) = (World::new(), Listener::new());
    let discovery_files = published(&world, listener.port(), vec![world.path("home")]);
    let own = lock(&world, listener.port());
    let mut content: Value = serde_json::from_slice(&fs::read(&own).unwrap()).unwrap();
    content["pillion"]["pid"] = dead_pid().into();
    let dead = lock(&world, 1);
    fs::write(&dead, content.to_string()).unwrap();
    content.as_object_mut().unwrap().remove("pillion");
    for name in ["2.lock", "0a1b.lock"] {
        fs::write(own.with_file_name(name), content.to_string()).unwrap();
    }
    assert_eq!(sweep(&world.environment()), [dead]);
    assert!(own.exists());
    drop(discovery_files);
}
