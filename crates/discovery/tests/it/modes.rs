//! No moment shows a file to others, or half a file to anybody.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use pillion_discovery::private_file::Folder;
use pillion_protocol::DiscoveryFile;
use pillion_protocol::claude::LockFile;

use crate::world::{Listener, World, again, is_root, publish};

#[test]
fn every_moment_is_private_and_complete_whatever_the_umask() {
    let test = "modes::watched_while_written";
    for umask in ["000", "022", "077"] {
        again(test, &format!("umask {umask}"), &[]);
    }
    // Closes the test's own directories to all but root.
    if is_root() {
        again(test, "umask 777", &[]);
    }
}

/// The number of unfinished files that are looked at, at least: they are there for moments only.
const UNFINISHED: u32 = 3;

/// The number of finished ones, at least.
const FINISHED: u32 = 20;

/// Looks at every file as fast as it can while all are written again and again.
#[test]
#[ignore = "run by every_moment_is_private_and_complete_whatever_the_umask"]
fn watched_while_written() {
    let (world, listener) = (World::new(), Listener::new());
    let (unfinished, finished) = (AtomicU32::new(0), AtomicU32::new(0));
    // Otherwise nothing is tested.
    let is_enough = || {
        unfinished.load(Ordering::Relaxed) >= UNFINISHED
            && finished.load(Ordering::Relaxed) >= FINISHED
    };
    let claudes = world.path("home/.claude/ide");
    fs::create_dir_all(&claudes).unwrap();
    let folders = [world.path("tmp"), claudes.clone()];
    thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            while !is_enough() {
                let entries = folders
                    .iter()
                    .flat_map(|it| fs::read_dir(it).unwrap().flatten());
                for entry in entries {
                    let Ok(metadata) = entry.path().symlink_metadata() else {
                        continue;
                    };
                    let others = metadata.mode() & 0o077;
                    assert_eq!(others, 0, "{:?} {:o}", entry.path(), metadata.mode());
                    if !metadata.is_file() {
                        continue;
                    }
                    if entry.file_name().as_encoded_bytes().starts_with(b".") {
                        unfinished.fetch_add(1, Ordering::Relaxed);
                    } else if let Ok(content) = fs::read(entry.path()) {
                        finished.fetch_add(1, Ordering::Relaxed);
                        if entry.path().starts_with(&claudes) {
                            let file: LockFile = serde_json::from_slice(&content).unwrap();
                            assert!(file.auth_token.is_some());
                        } else {
                            serde_json::from_slice::<DiscoveryFile>(&content).unwrap();
                        }
                    }
                }
            }
        });
        let mut discovery_files = publish(&world, listener.port());
        for round in 0_u64.. {
            if watcher.is_finished() {
                break;
            }
            discovery_files
                .set_roots(vec![format!("/round/{round}").into()])
                .unwrap();
        }
        assert!(discovery_files.warnings().is_empty());
        watcher.join().unwrap();
    });
}

#[test]
fn folders_and_files_have_the_rights_that_we_need_whatever_the_umask() {
    let test = "modes::published_where_nothing_is";
    for umask in ["000", "022", "277", "777"] {
        // The prelude sets it when the test has made its own directories.
        again(test, "true", &[("WANTED_UMASK", Path::new(umask))]);
    }
}

#[test]
#[ignore = "run by folders_and_files_have_the_rights_that_we_need_whatever_the_umask"]
fn published_where_nothing_is() {
    let (world, listener) = (World::new(), Listener::new());
    let wanted = std::env::var("WANTED_UMASK").unwrap();
    let wanted = u32::from_str_radix(&wanted, 8).unwrap();
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(wanted));
    let discovery_files = publish(&world, listener.port());
    assert!(discovery_files.warnings().is_empty());
    for file in discovery_files.files() {
        let mode = |path: &Path| path.metadata().unwrap().mode() & 0o777;
        assert_eq!(mode(&file), 0o600, "{file:?}");
    }
    let folder = world.path("tmp/gemini");
    assert_eq!(folder.metadata().unwrap().mode() & 0o777, 0o700);
}

#[test]
fn a_reader_sees_one_whole_file_or_another() {
    let world = World::new();
    let folder = Folder::create(&world.path("tmp"), &["a"]).unwrap();
    let (short, long) = (vec![b'a'; 10], vec![b'b'; 1 << 20]);
    folder.write("f", &short).unwrap();
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for _ in 0..100 {
                folder.write("f", &long).unwrap();
                folder.write("f", &short).unwrap();
            }
        });
        while !writer.is_finished() {
            let found = fs::read(world.path("tmp/a/f")).unwrap();
            assert!(found == short || found == long, "{} bytes", found.len());
        }
    });
    assert_eq!(
        folder
            .names()
            .unwrap()
            .iter()
            .filter(|name| name.contains("pillion"))
            .count(),
        0
    );
}
