//! Files of dead companions go, all others stay (C6.2).

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use pillion_discovery::{Socket, sweep};
use pillion_protocol::claude::LockFile;
use pillion_protocol::discovery::{Namespaces, Publisher};
use pillion_protocol::{DiscoveryFile, Token};

use crate::world::{Deaf, Listener, World, dead_pid, dead_port, is_root, publish};

const FOLDER: &str = "tmp/gemini/ide";

/// The file of a companion, Pillion's if `publisher` is there.
fn file(port: u16, publisher: Option<u32>) -> String {
    let file = DiscoveryFile {
        port,
        workspace_path: "/w".into(),
        auth_token: Some(Token::from("t".to_owned())),
        ide_info: None,
        ppid: None,
        ide_name: None,
        pillion: publisher.map(Publisher::from),
    };
    serde_json::to_string(&file).unwrap()
}

/// The lock file of a companion for Claude Code, Pillion's if `publisher` is there.
fn lock(publisher: Option<u32>) -> String {
    let token = Token::from("t".to_owned());
    let mut file = LockFile::new(std::process::id(), vec!["/w".into()], "X", token);
    file.pillion = publisher.map(Publisher::from);
    serde_json::to_string(&file).unwrap()
}

/// Puts a file at `below`.
fn plant(world: &World, below: &str, content: &str) -> PathBuf {
    let path = world.path(below);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, content).unwrap();
    path
}

#[test]
fn dead_files_go_from_every_place() {
    let (world, listener) = (World::new(), Listener::new());
    let own = std::process::id();
    let mut planted = Vec::new();
    for (content, number) in [
        (file(dead_port(), Some(own)), 1),
        (file(listener.port(), Some(dead_pid())), 2),
    ] {
        for below in [
            format!("{FOLDER}/gemini-ide-server-{number}-4242.json"),
            format!("{FOLDER}/qwen-code-ide-server-{number}-4242.json"),
            format!("tmp/qwen/ide/qwen-code-ide-server-{number}-4242.json"),
            format!("tmp/gemini-ide-server-{number}.json"),
            format!("tmp/qwen-code-ide-server-{number}.json"),
            format!("home/.qwen/ide/{number}.lock"),
        ] {
            planted.push(plant(&world, &below, &content));
        }
    }
    for (port, publisher) in [(dead_port(), own), (listener.port(), dead_pid())] {
        let below = format!("home/.claude/ide/{port}.lock");
        planted.push(plant(&world, &below, &lock(Some(publisher))));
    }
    let mut removed = sweep(&world.environment());
    removed.sort();
    planted.sort();
    assert_eq!(removed, planted);
    assert!(world.files().is_empty());
}

#[test]
fn what_is_not_surely_a_dead_companions_stays() {
    let (world, listener) = (World::new(), Listener::new());
    let own = std::process::id();
    let dead = file(dead_port(), Some(dead_pid()));
    let long = format!("{dead}{}", " ".repeat(64 * 1024));
    for (below, content) in [
        // It lives.
        (
            "tmp/gemini-ide-server-1.json",
            &file(listener.port(), Some(own)),
        ),
        // It is not ours.
        ("tmp/gemini-ide-server-2.json", &file(dead_port(), None)),
        ("home/.qwen/ide/3.lock", &"{}".to_owned()),
        ("home/.qwen/ide/4.lock", &"not JSON".to_owned()),
        ("home/.qwen/ide/5.lock", &String::new()),
        ("home/.qwen/ide/6.lock", &long),
        // Other companions', whose agents delete them.
        (
            &format!("home/.claude/ide/{}.lock", dead_port()),
            &lock(None),
        ),
        ("home/.claude/ide/7.lock", &"/w\n/v\n".to_owned()),
        ("home/.claude/ide/8.lock", &String::new()),
        (
            &format!("home/.claude/ide/{}.lock", listener.port()),
            &lock(Some(own)),
        ),
        // Its name says no port.
        ("home/.claude/ide/70000.lock", &lock(Some(dead_pid()))),
        ("home/.claude/ide/x.lock", &lock(Some(dead_pid()))),
        // No agent looks for it.
        (&format!("{FOLDER}/notes.json"), &dead),
        (&format!("{FOLDER}/gemini-ide-server-x-1.json"), &dead),
        (&format!("{FOLDER}/gemini-ide-server-7.json"), &dead),
        ("tmp/8.lock", &dead),
        ("tmp/deeper/gemini-ide-server-9.json", &dead),
        (".pillion-1-2", &dead),
    ] {
        plant(&world, below, content);
    }
    let before = world.files();
    assert!(sweep(&world.environment()).is_empty());
    assert_eq!(world.files(), before);
}

#[test]
fn links_and_folders_and_pipes_are_passed_over() {
    let world = World::new();
    let precious = plant(&world, "precious", &file(dead_port(), Some(dead_pid())));
    symlink(&precious, world.path("tmp/gemini-ide-server-1.json")).unwrap();
    fs::create_dir(world.path("tmp/gemini-ide-server-2.json")).unwrap();
    let pipe = world.path("tmp/gemini-ide-server-3.json");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(pipe)
            .status()
            .unwrap()
            .success()
    );
    // A linked folder is not swept.
    plant(
        &world,
        "moved/ide/qwen-code-ide-server-1-2.json",
        &file(dead_port(), Some(dead_pid())),
    );
    symlink(world.path("moved"), world.path("tmp/qwen")).unwrap();
    assert!(sweep(&world.environment()).is_empty());
    assert!(precious.exists());
}

#[test]
fn another_users_files_stay() {
    if !is_root() {
        return;
    }
    let world = World::new();
    let theirs = plant(
        &world,
        "tmp/gemini-ide-server-1.json",
        &file(dead_port(), Some(dead_pid())),
    );
    chown(&theirs, Some(65534), None).unwrap();
    assert!(sweep(&world.environment()).is_empty());
    assert!(theirs.exists());
}

#[test]
fn a_killed_companion_is_swept_and_its_neighbour_stays() {
    let (world, one, other) = (World::new(), Listener::new(), Listener::new());
    let killed = publish(&world, one.port());
    let neighbour = publish(&world, other.port());
    let count = killed.files().len();
    std::mem::forget(killed);
    drop(one);
    assert_eq!(sweep(&world.environment()).len(), count);
    assert_eq!(world.files().len(), neighbour.files().len());
}

#[test]
fn files_that_a_dead_companion_did_not_finish_go() {
    let world = World::new();
    let random = "0123456789abcdef".repeat(2);
    let dead = plant(
        &world,
        &format!("{FOLDER}/.pillion-{}-{random}", dead_pid()),
        "{",
    );
    let living = plant(
        &world,
        &format!("{FOLDER}/.pillion-{}-{random}", std::process::id()),
        "{",
    );
    assert_eq!(sweep(&world.environment()), [dead]);
    assert!(living.exists());
}

#[test]
fn sockets_of_dead_processes_go() {
    let world = World::new();
    let socket = Socket::of_companion(&world.environment()).unwrap();
    let living = socket.path();
    let named = |pid: u32| {
        let name = living.file_name().unwrap().to_str().unwrap();
        name.replace(&std::process::id().to_string(), &pid.to_string())
    };
    let dead = living.with_file_name(named(dead_pid()));
    UnixListener::bind(&dead).unwrap();
    let others = [
        plant(&world, "run/pillion/notes.json", "{}"),
        plant(
            &world,
            &format!("run/pillion/own-{}-0-1-1.sock", dead_pid()),
            "",
        ),
        plant(&world, "run/pillion/hub.sock", ""),
    ];
    assert_eq!(sweep(&world.environment()), [dead]);
    assert!(living.exists() && others.iter().all(|path| path.exists()));
}

#[test]
fn a_companion_with_many_files_is_dialled_once() {
    let (world, listener, deaf) = (World::new(), Listener::new(), Deaf::new());
    let own = std::process::id();
    let mut planted = 0;
    for port in [listener.port(), deaf.port()] {
        for number in 1..=20 {
            let name = format!("{FOLDER}/gemini-ide-server-{number}-{port}.json");
            plant(&world, &name, &file(port, Some(own)));
            planted += 1;
        }
    }
    assert_eq!(sweep(&world.environment()), [""; 0].map(PathBuf::from));
    assert_eq!(listener.dials(), 1);
    assert_eq!(world.files().len(), planted, "who does not answer may live");
}

/// In another container the same numbers mean other processes, and other ports.
#[test]
#[cfg(target_os = "linux")]
fn what_is_not_seen_from_here_stays() {
    let (world, listener) = (World::new(), Listener::new());
    let own = pillion_discovery::namespaces::here().unwrap();
    let with = |pid, net| Namespaces {
        pid,
        net,
        ..own.clone()
    };
    let other_boot = Namespaces {
        boot: "x".to_owned(),
        ..own.clone()
    };
    let living = listener.port();
    let cases = [
        (own.clone(), living, false),
        (with(1, own.net), living, true),
        (with(1, own.net), dead_port(), false),
        (with(own.pid, 1), dead_port(), false),
        (with(1, 1), dead_port(), true),
        (other_boot, dead_port(), true),
    ];
    let planted = cases.into_iter().enumerate().map(|(number, case)| {
        let (written, port, stays) = case;
        let mut file: DiscoveryFile = serde_json::from_str(&file(port, Some(dead_pid()))).unwrap();
        file.pillion.as_mut().unwrap().namespaces = Some(written);
        let below = format!("{FOLDER}/gemini-ide-server-{number}-4242.json");
        (
            plant(&world, &below, &serde_json::to_string(&file).unwrap()),
            stays,
        )
    });
    let planted: Vec<_> = planted.collect();
    sweep(&world.environment());
    for (path, stays) in planted {
        assert_eq!(path.exists(), stays, "{}", path.display());
    }
}
