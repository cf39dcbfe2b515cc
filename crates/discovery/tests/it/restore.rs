//! Files that an agent or a cleaner deleted come back.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pillion_discovery::DiscoveryFiles;
use pillion_protocol::DiscoveryFile;

use crate::world::{
    Listener, World, dead_port, discovery_info, mode, publish, read, seat, warnings,
};

#[test]
fn deleted_files_and_folders_come_back() {
    let (world, listener) = (World::new(), Listener::new());
    let mut discovery_files = publish(&world, listener.port());
    let before = world.files();
    assert!(discovery_files.restore().is_empty());
    let lock = world.path(&format!("home/.qwen/ide/{}.lock", listener.port()));
    fs::remove_file(&lock).unwrap();
    assert_eq!(discovery_files.restore(), std::slice::from_ref(&lock));
    assert_eq!((read(&lock).port, mode(&lock)), (listener.port(), 0o600));
    fs::remove_dir_all(world.path("tmp")).unwrap();
    discovery_files.restore();
    assert_eq!(world.files(), before);
    assert_eq!(mode(world.path("tmp/gemini")), 0o700);
}

#[test]
fn files_that_were_overwritten_come_back() {
    let (world, listener) = (World::new(), Listener::new());
    let mut discovery_files = publish(&world, listener.port());
    let lock = world.path(&format!("home/.qwen/ide/{}.lock", listener.port()));
    for junk in ["", "{}", "[1]", &"x".repeat(100_000)] {
        fs::write(&lock, junk).unwrap();
        assert_eq!(discovery_files.restore(), std::slice::from_ref(&lock));
    }
    assert_eq!(read(&lock).port, listener.port());
    // Also one that was found as it is, by a text of its length.
    assert!(discovery_files.restore().is_empty());
    let changed = || {
        let metadata = fs::metadata(&lock).unwrap();
        (metadata.ctime(), metadata.ctime_nsec())
    };
    let (before, junk) = (changed(), vec![b'x'; fs::read(&lock).unwrap().len()]);
    while changed() == before {
        fs::write(&lock, &junk).unwrap();
    }
    assert_eq!(discovery_files.restore(), std::slice::from_ref(&lock));
}

#[test]
fn files_that_others_may_read_or_that_became_pipes_are_put_right() {
    let (world, listener) = (World::new(), Listener::new());
    let mut discovery_files = publish(&world, listener.port());
    let lock = world.path(&format!("home/.qwen/ide/{}.lock", listener.port()));
    for widened in [0o644, 0o604, 0o660] {
        fs::set_permissions(&lock, fs::Permissions::from_mode(widened)).unwrap();
        assert_eq!(discovery_files.restore(), std::slice::from_ref(&lock));
        assert_eq!(mode(&lock), 0o600);
    }
    fs::remove_file(&lock).unwrap();
    let made = Command::new("mkfifo").arg(&lock).status();
    assert!(made.unwrap().success());
    assert_eq!(discovery_files.restore(), std::slice::from_ref(&lock));
    assert_eq!((read(&lock).port, mode(&lock)), (listener.port(), 0o600));
    assert!(warnings(&discovery_files).is_empty());

    fs::remove_file(&lock).unwrap();
    fs::create_dir(&lock).unwrap();
    assert!(discovery_files.restore().is_empty());
    assert_eq!(
        warnings(&discovery_files).len(),
        1,
        "a folder may hold something"
    );
}

#[test]
fn a_dead_companions_file_is_replaced_and_a_living_ones_is_not() {
    let (world, listener, other) = (World::new(), Listener::new(), Listener::new());
    let mut discovery_files = publish(&world, listener.port());
    let shared = world.path(&format!(
        "tmp/gemini-ide-server-{}.json",
        std::process::id()
    ));
    let foreign = |port| DiscoveryFile {
        port,
        pillion: None,
        ..read(&discovery_files.files()[0])
    };
    let (living, dead) = (foreign(other.port()), foreign(dead_port()));
    fs::write(&shared, serde_json::to_vec(&living).unwrap()).unwrap();
    assert!(discovery_files.restore().is_empty());
    assert_eq!(read(&shared).port, other.port());
    assert!(!discovery_files.files().contains(&shared));
    fs::write(&shared, serde_json::to_vec(&dead).unwrap()).unwrap();
    assert_eq!(discovery_files.restore(), std::slice::from_ref(&shared));
    assert_eq!(read(&shared).port, listener.port());
}

#[test]
fn what_failed_is_tried_again() {
    let (world, listener) = (World::new(), Listener::new());
    symlink(world.path("nowhere"), world.path("tmp/gemini")).unwrap();
    let mut discovery_files = publish(&world, listener.port());
    assert_eq!(discovery_files.warnings().len(), 1);
    fs::remove_file(world.path("tmp/gemini")).unwrap();
    assert!(!discovery_files.restore().is_empty());
    assert!(
        discovery_files.warnings().is_empty(),
        "{:?}",
        warnings(&discovery_files)
    );
    assert!(world.path("tmp/gemini/ide").is_dir());
}

#[test]
fn a_folder_that_became_a_link_is_not_written_or_removed_through() {
    let (world, listener) = (World::new(), Listener::new());
    let mut discovery_files = publish(&world, listener.port());
    fs::rename(world.path("tmp/gemini"), world.path("moved")).unwrap();
    symlink(world.path("moved"), world.path("tmp/gemini")).unwrap();
    let files = fs::read_dir(world.path("moved/ide")).unwrap().count();
    discovery_files.set_roots(vec!["/new".into()]).unwrap();
    assert_eq!(discovery_files.warnings().len(), 1);
    drop(discovery_files);
    assert_eq!(
        fs::read_dir(world.path("moved/ide")).unwrap().count(),
        files
    );
}

#[test]
fn files_under_an_ancestor_that_has_ended_go() {
    let (world, listener) = (World::new(), Listener::new());
    // A shell that starts the editor, and ends before it.
    let mut shell = Command::new("sh");
    shell.args(["-c", "sleep 600 >/dev/null & echo $!; read end"]);
    shell.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut shell = shell.spawn().unwrap();
    let mut line = String::new();
    let mut output = BufReader::new(shell.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    let editor: u32 = line.trim().parse().unwrap();
    let seats = vec![seat(&world.environment(), editor)];
    let mut discovery_files =
        DiscoveryFiles::publish(seats, discovery_info(listener.port())).unwrap();
    let named = |pid: u32| {
        let marks = [format!("-{pid}-"), format!("-{pid}.json")];
        let files = world.files().into_iter();
        files
            .filter(|file| marks.iter().any(|mark| file.contains(mark)))
            .count()
    };
    assert!(named(editor) > 0 && named(editor) == named(shell.id()));
    let before = named(editor);
    drop(shell.stdin.take());
    shell.wait().unwrap();
    assert!(discovery_files.restore().is_empty());
    assert_eq!((named(shell.id()), named(editor)), (0, before));
    // The editor's own stay until it says that it is another process: the companion ends with it, or goes on.
    Command::new("kill")
        .arg(editor.to_string())
        .status()
        .unwrap();
    let started = Instant::now();
    while pillion_system::process::is_alive(editor) {
        assert!(started.elapsed() < Duration::from_secs(240));
    }
    discovery_files.restore();
    assert_eq!(named(editor), before);
}
