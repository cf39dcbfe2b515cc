//! Full and read-only file systems: mounted for the test, in a mount namespace of its own.

use std::fs;
use std::path::PathBuf;

use pillion_discovery::Environment;

use crate::world::{Listener, World, again, is_root, publish_in, warnings};

#[test]
fn a_full_disk_leaves_no_partial_file_and_is_named() {
    run(
        "full_disk::publishes_on_a_full_disk",
        r#"mount -t tmpfs -o size=4m pillion-test "$TEST_DISK""#,
    );
}

#[test]
fn a_read_only_disk_is_named() {
    run(
        "full_disk::publishes_on_a_read_only_disk",
        r#"mount -t tmpfs -o ro pillion-test "$TEST_DISK""#,
    );
}

fn run(test: &str, mount: &str) {
    if !is_root() {
        return;
    }
    let world = World::new();
    again(test, mount, &[("TEST_DISK", &world.path("tmp"))]);
}

/// The disk that the caller mounted. Nothing to do if this test is run by itself.
fn disk() -> Option<(PathBuf, World, Environment)> {
    let disk = PathBuf::from(std::env::var_os("TEST_DISK")?);
    let world = World::new();
    let environment =
        Environment::from_pairs([("TMPDIR", disk.clone()), ("HOME", world.path("home"))]);
    Some((disk, world, environment))
}

#[test]
#[ignore = "run by a_full_disk_leaves_no_partial_file_and_is_named"]
fn publishes_on_a_full_disk() {
    let Some((disk, world, environment)) = disk() else {
        return;
    };
    let listener = Listener::new();
    let filler = disk.join("filler");
    let error = fs::write(&filler, vec![b'x'; 8 << 20]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);

    let mut discovery_files = publish_in(&environment, listener.port());
    assert_eq!(
        world.files().len(),
        2,
        "the lock files in the home directory"
    );
    assert_eq!(
        discovery_files.warnings().len(),
        3,
        "{:?}",
        warnings(&discovery_files)
    );
    for warning in discovery_files.warnings() {
        assert!(warning.to_string().contains("free some space"), "{warning}");
        assert!(warning.directory.starts_with(&disk), "{warning}");
    }
    let left: Vec<_> = fs::read_dir(&disk)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_file())
        .map(|entry| entry.file_name())
        .collect();
    assert_eq!(left, ["filler"]);
    for folder in ["gemini/ide", "qwen/ide"] {
        assert_eq!(
            fs::read_dir(disk.join(folder)).unwrap().count(),
            0,
            "{folder}"
        );
    }
    // Once there is room, what failed is made good.
    fs::remove_file(&filler).unwrap();
    assert!(!discovery_files.restore().is_empty());
    assert!(
        discovery_files.warnings().is_empty(),
        "{:?}",
        warnings(&discovery_files)
    );
}

#[test]
#[ignore = "run by a_read_only_disk_is_named"]
fn publishes_on_a_read_only_disk() {
    let Some((disk, world, environment)) = disk() else {
        return;
    };
    let discovery_files = publish_in(&environment, 1);
    assert_eq!(world.files().len(), 2);
    for warning in warnings(&discovery_files) {
        assert!(warning.contains(disk.to_str().unwrap()), "{warning}");
        assert!(warning.contains("set TMPDIR"), "{warning}");
    }
    assert_eq!(discovery_files.warnings().len(), 3);
}
