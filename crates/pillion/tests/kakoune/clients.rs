//! Several clients of one session: agents find the editor by those that are there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use pillion_protocol::{Dialect, DiscoveryFile};
use pillion_testkit::client::Update;
use pillion_testkit::{
    AgentsTerminal, Home, KakouneSetup, KakouneVersion, Pane, SOON, Size, discovery_files,
    each_kakoune,
};

use crate::world::{World, may_accept};

#[each_kakoune]
fn agents_find_the_clients_that_stay(version: KakouneVersion) {
    let ways: [fn(&Pane); 2] = [|pane| pane.type_text(":q\r"), Pane::close];
    for leave in ways {
        let world = World::with(
            version,
            Home::new(),
            &[("a.txt", "one\n")],
            KakouneSetup::from_a_shell,
        );
        let first = world.kakoune.pid();
        wait_published(&world, first);
        let second = client(&world);
        assert_eq!(
            published(&world),
            [first],
            "it stays for as long as it is there"
        );
        leave(&world.kakoune.pane());
        wait_published(&world, second.pid());
        let mut gemini = world.gemini();
        let path = world.home.workspace().join("a.txt");
        gemini.propose(&path, "two\n");
        second.wait_until("a proposal that may be accepted", SOON, |_| {
            let ready = world
                .kakoune
                .list_in("client1", "%opt{pillion_ready} %opt{readonly}");
            ready.is_some_and(|ready| may_accept(&ready))
        });
        second.type_text(":w\r");
        assert_eq!(
            gemini.outcome(),
            Update::accepted(path.display().to_string(), "two\n")
        );
        // What is typed while its buffer is taken away goes astray.
        second.wait_until("the file", SOON, |_| {
            world
                .kakoune
                .list_in("client1", "%val{bufname}")
                .is_some_and(|name| name == ["a.txt"])
        });
        // It follows `:cd`, wherever the server is now.
        let other = world.home.other_workspace("other");
        second.type_text(&format!(":cd {}\r", other.display()));
        gemini.disconnect();
        let name = other.display().to_string();
        wait(&world, &name, || {
            roots(&world).iter().any(|roots| roots.starts_with(&name))
        });
        // Until then it is taken for a second answer to the proposal.
        let guarded = "%opt{pillion_guarded}";
        second.wait_until("the proposal's end", SOON, |_| {
            let guarded = world.kakoune.list_in("client1", guarded);
            guarded.is_some_and(|it| it == ["false"])
        });
        second.type_text(":q\r");
        wait(&world, "nothing", || {
            discovery_files(&world.home, Dialect::GeminiCli).is_empty()
        });
    }
}

#[each_kakoune]
fn the_person_is_in_the_client_that_was_used_last(version: KakouneVersion) {
    let files = [("a.txt", "one\n"), ("b.txt", "two\n")];
    let world = World::with(version, Home::new(), &files, KakouneSetup::from_a_shell);
    let (in_first, in_second) = (world.kakoune.pane(), client(&world));
    let first = (&in_first, world.kakoune.pid());
    let second = (&in_second, in_second.pid());
    in_second.type_text(":e b.txt\r");
    go_to(&world, second, "/b.txt");
    // Nothing else changes in either.
    for _ in 0..2 {
        go_to(&world, first, "/a.txt");
        go_to(&world, second, "/b.txt");
    }
    // A proposal opens where the person is.
    go_to(&world, first, "/a.txt");
    let gemini = world.gemini();
    gemini.propose(world.home.workspace().join("new.txt"), "new\n");
    world
        .kakoune
        .wait_until("the proposal", "%val{bufname}", |name| {
            name[0].starts_with("*pillion-")
        });
    let beside = world
        .kakoune
        .list_in("client1", "%val{bufname}")
        .expect("it is there");
    assert_eq!(beside, ["b.txt"]);
}

#[each_kakoune]
fn what_answers_a_key_is_said_in_the_client_in_which_it_was_pressed(version: KakouneVersion) {
    let files = [("a.txt", "one\n"), ("b.txt", "two\n")];
    let world = World::with(version, Home::new(), &files, KakouneSetup::from_a_shell);
    let (in_first, in_second) = (world.kakoune.pane(), client(&world));
    let mut gemini = world.gemini();
    let path = world.home.workspace().join("a.txt");
    let second = (&in_second, in_second.pid());
    gemini.propose(&path, "new\n");
    in_second.type_text(":pillion-show\r");
    let is_ready = || {
        let ready = world
            .kakoune
            .list_in("client1", "%opt{pillion_ready} %opt{readonly}");
        ready.is_some_and(|ready| may_accept(&ready))
    };
    wait(&world, "a proposal that may be accepted", is_ready);
    // A decision that a program takes in it.
    let untyped = "only what you type accepts";
    let there = |command: &str| {
        world
            .kakoune
            .command(&format!("evaluate-commands -client client1 {command}"))
    };
    there("pillion-accept");
    in_second.wait_for(untyped, SOON);
    assert!(
        !in_first.screen().contains(untyped),
        "{}",
        in_first.screen()
    );
    // A question.
    fs::write(&path, "changed\n").unwrap();
    let question = "the file has changed on disk";
    in_second.type_text(":w\r");
    in_second.wait_for(question, SOON);
    assert!(
        !in_first.screen().contains(question),
        "{}",
        in_first.screen()
    );
    // Where edits are, once it is rejected.
    in_second.type_text("imine ");
    in_second.wait_for("mine new", SOON);
    in_second.type_text("\u{1b}");
    wait(&world, "normal mode", || {
        let mode = world.kakoune.list_in("client1", "%opt{pillion_mode}");
        mode.is_some_and(|mode| mode == ["normal"])
    });
    // Right after the question it would not count.
    wait(&world, "a proposal that may be rejected", is_ready);
    in_second.type_text(":q\r");
    in_second.wait_for("your edits are kept in", SOON);
    assert!(
        !in_first.screen().contains("your edits"),
        "{}",
        in_first.screen()
    );
    assert_eq!(
        gemini.outcome(),
        Update::DiffRejected {
            path: path.display().to_string()
        }
    );
    go_to(&world, second, ".txt");
}

/// As an agent's shell can be one, in a terminal of its own.
#[each_kakoune]
fn a_client_that_another_program_starts_decides_nothing(version: KakouneVersion) {
    let world = World::open(version, &[("a.txt", "one\n")]);
    let mut gemini = world.gemini();
    let path = world.home.workspace().join("a.txt");
    gemini.propose(&path, "two\n");
    world.look();
    let (program, env) = world.kakoune.program();
    let command = [program.to_str().unwrap(), "-c", world.kakoune.session()];
    let mut others = AgentsTerminal::run(&env, &command);
    wait(&world, "its client", || {
        world.kakoune.list_in("client1", "%val{bufname}").is_some()
    });
    others.type_text(":pillion-show\r");
    wait(&world, "a proposal that may be accepted", || {
        let ready = world
            .kakoune
            .list_in("client1", "%opt{pillion_ready} %opt{readonly}");
        ready.is_some_and(|ready| may_accept(&ready))
    });
    others.type_text(":pillion-accept\r");
    others.wait_for("another program is connected to this editor");
    world.is_pending(&mut gemini, "another client's");
    drop(others);
    world.look();
    world.kakoune.input(":pillion-accept<ret>");
    let expected = Update::accepted(path.display().to_string(), "two\n");
    assert_eq!(gemini.outcome(), expected);
}

/// The companion that starts again knows only the server that has started it.
#[each_kakoune]
fn where_the_first_client_has_gone_a_companion_that_is_killed_comes_back(version: KakouneVersion) {
    let files = [("a.txt", "one\n")];
    let world = World::with(version, Home::new(), &files, KakouneSetup::from_a_shell);
    let second = client(&world);
    world.kakoune.pane().type_text(":q\r");
    wait_published(&world, second.pid());
    let folder = || world.kakoune.list_in("client1", "%opt{pillion_dir}");
    let before = folder().unwrap();
    let companion = Path::new(&before[0]).file_name().unwrap();
    let kill = Command::new("kill").arg("-KILL").arg(companion).status();
    assert!(kill.unwrap().success());
    wait(&world, "another companion", || {
        folder().is_some_and(|it| it != before)
    });
    let mut gemini = world.gemini();
    let path = world.home.workspace().join("a.txt");
    gemini.propose(&path, "two\n");
    wait(&world, "a proposal that may be accepted", || {
        let ready = "%opt{pillion_ready} %opt{readonly}";
        let ready = world.kakoune.list_in("client1", ready);
        ready.is_some_and(|ready| may_accept(&ready))
    });
    second.type_text(":w\r");
    let expected = Update::accepted(path.display().to_string(), "two\n");
    assert_eq!(gemini.outcome(), expected);
}

/// Another client of the session in a terminal of its own, which has reported itself.
fn client(world: &World) -> Pane {
    let (program, env) = world.kakoune.program();
    let command = [program.to_str().unwrap(), "-c", world.kakoune.session()];
    let folder = world.home.workspace();
    let pane = world
        .tmux
        .spawn("second", Size::new(120, 30), &env, &folder, &command);
    pane.wait_for("client1@", SOON);
    let report = report(world, pane.pid());
    wait(world, "its report", || {
        fs::read_to_string(&report).is_ok_and(|report| report.contains("'client1'"))
    });
    pane
}

/// The file in which the client of this process reports what it shows.
fn report(world: &World, pid: u32) -> PathBuf {
    let folder = world.kakoune.get("%opt{pillion_dir}");
    Path::new(&folder).join(format!("in/context-{pid}"))
}

/// Presses a key that changes nothing in the client of this process, until an agent that connects hears that this file is
/// in front of the person.
#[track_caller]
fn go_to(world: &World, (pane, pid): (&Pane, u32), name: &str) {
    let report = report(world, pid);
    let written = || fs::metadata(&report).and_then(|data| data.modified()).ok();
    wait(world, name, || {
        let before = written();
        pane.type_text("\u{1b}");
        wait(world, "a report", || written() != before);
        let mut gemini = world.gemini();
        let context = gemini.context(|context| context.active_file().is_some());
        gemini.disconnect();
        let file = context.active_file().expect("it has one");
        file.path.ends_with(name)
    });
}

/// The files that are there while one is written anew.
fn files(world: &World) -> impl Iterator<Item = DiscoveryFile> {
    let files = discovery_files(&world.home, Dialect::GeminiCli).into_iter();
    files.filter_map(|path| serde_json::from_slice(&fs::read(path).ok()?).ok())
}

fn published(world: &World) -> Vec<u32> {
    let mut pids: Vec<u32> = files(world).filter_map(|file| file.ppid).collect();
    pids.dedup();
    pids
}

fn roots(world: &World) -> Vec<String> {
    files(world).map(|file| file.workspace_path).collect()
}

#[track_caller]
fn wait_published(world: &World, pid: u32) {
    wait(world, &format!("{pid} published"), || {
        published(world) == [pid]
    });
}

#[track_caller]
fn wait(world: &World, what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(
            begun.elapsed() < SOON,
            "expected {what}, but {:?} is published for {:?}",
            published(world),
            roots(world)
        );
        sleep(Duration::from_millis(20));
    }
}
