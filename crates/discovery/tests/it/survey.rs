//! Finding every companion, Pillion's and others'.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

use pillion_discovery::CompanionState;
use pillion_discovery::survey::{Companion, Liveness, survey};
use pillion_protocol::Dialect;

use crate::state::state;
use crate::world::{
    Answering, Deaf, Listener, World, dead_pid, dead_port, pids, publish, publish_in,
};

fn write(world: &World, name: &str, content: &str) {
    let folder = world.path("tmp/gemini/ide");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(name), content).unwrap();
}

fn others(port: u16, workspace: &str) -> String {
    format!(r#"{{"port":{port},"workspacePath":"{workspace}","authToken":"t"}}"#)
}

#[test]
fn a_companion_of_ours_is_one_although_it_has_many_files() {
    let (world, listener) = (World::new(), Listener::new());
    let discovery_files = publish(&world, listener.port());
    let found = survey(&world.environment());
    assert_eq!(found.companions.len(), 1, "{found:?}");
    let companion = &found.companions[0];
    assert_eq!(companion.port, listener.port());
    assert!(companion.is_alive() && companion.is_pillion());
    assert_eq!(companion.display_name(), "Neovim");
    assert_eq!(
        companion.roots,
        [Path::new("/work/a"), Path::new("/work/b c")]
    );
    let mut expected = pids();
    expected.sort_unstable();
    assert_eq!(companion.pids, expected);
    assert_eq!(companion.files.len(), discovery_files.files().len());
    for dialect in Dialect::AGENTS {
        let own = discovery_files.info().tokens.get(dialect);
        let told = companion.token(dialect).unwrap();
        assert!(own.matches(told.expose().as_bytes()), "{dialect}");
    }
    assert_eq!(companion.depth(Path::new("/work/a/deep")), Some(3));
    assert_eq!(companion.depth(Path::new("/work")), None);
}

#[test]
fn others_are_alive_when_their_process_lives_and_their_port_listens() {
    let (world, listener) = (World::new(), Listener::new());
    let (own, dead) = (std::process::id(), dead_pid());
    let nobody = dead_port();
    for (pid, port, workspace) in [
        (own, listener.port(), "/alive"),
        (dead, listener.port(), "/dead"),
        (own, nobody, "/silent"),
    ] {
        let name = format!("gemini-ide-server-{pid}-{port}.json");
        write(&world, &name, &others(port, workspace));
    }
    let found = survey(&world.environment());
    let liveness = |root: &str| {
        let mut companions = found.companions.iter();
        let companion = companions.find(|it| it.roots == [Path::new(root)]);
        companion.unwrap().liveness
    };
    assert_eq!(liveness("/alive"), Liveness::Alive);
    assert_eq!(liveness("/dead"), Liveness::ProcessGone);
    assert_eq!(liveness("/silent"), Liveness::NobodyListens);
    assert!(found.companions.iter().all(|it| !it.is_pillion()));
}

#[test]
fn a_companion_of_others_is_one_however_its_files_spell_its_workspace() {
    let own = std::process::id();
    for (first, second, pids) in [
        ("/w/a", "/w/a/", [own, 1]),
        ("/w/a:/w/b", "/w/b:/w/a", [own, 1]),
        ("/w/a", "/real/a", [own, own]),
    ] {
        let (world, listener) = (World::new(), Listener::new());
        let port = listener.port();
        let name = format!("gemini-ide-server-{}-{port}.json", pids[0]);
        write(&world, &name, &others(port, first));
        let qwen = world.path("tmp/qwen/ide");
        fs::create_dir_all(&qwen).unwrap();
        let name = format!("qwen-code-ide-server-{}-{port}.json", pids[1]);
        fs::write(qwen.join(name), others(port, second)).unwrap();
        let found = survey(&world.environment()).companions;
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].files.len(), 2, "{found:?}");
    }
    // One after another on one port are two.
    let (world, listener) = (World::new(), Listener::new());
    let port = listener.port();
    for (pid, workspace) in [(own, "/w/a"), (dead_pid(), "/w/b")] {
        let name = format!("gemini-ide-server-{pid}-{port}.json");
        write(&world, &name, &others(port, workspace));
    }
    assert_eq!(survey(&world.environment()).companions.len(), 2);
}

#[test]
fn a_companion_that_answers_is_neither_dialled_nor_are_its_files_read() {
    let (world, listener) = (World::new(), Listener::new());
    let discovery_files = publish(&world, listener.port());
    let others_port = listener.port() ^ 1;
    write(
        &world,
        &format!("gemini-ide-server-1-{others_port}.json"),
        &others(others_port, "/w"),
    );
    let state = CompanionState {
        files: discovery_files.files(),
        ..state(std::process::id(), listener.port())
    };
    let _answering = Answering::start(&world.environment(), vec![state]);
    // Who read them would not take them for its files.
    for path in discovery_files.files() {
        fs::write(path, "{}").unwrap();
    }
    listener.dials();
    let found = survey(&world.environment());
    assert_eq!((found.malformed, found.companions.len()), (vec![], 2));
    let own = |it: &&Companion| it.state.is_some();
    let found = found.companions.iter().find(own).unwrap();
    assert_eq!(listener.dials(), 0);
    assert!(found.is_alive());
    assert_eq!(found.files.len(), discovery_files.files().len());
    assert!(found.token(Dialect::GeminiCli).is_none());

    let name = format!(
        "gemini-ide-server-{}-{}.json",
        std::process::id(),
        found.port
    );
    let path = world.path("tmp/gemini/ide").join(name);
    fs::write(&path, others(found.port, "/w")).unwrap();
    // What is there now is its, the others are none any more; those of other agents are not asked for.
    let read = found.clone().read(Dialect::GeminiCli);
    let geminis = read.files.iter().filter(|it| it.is_for(Dialect::GeminiCli));
    assert_eq!(geminis.map(|it| &it.path).collect::<Vec<_>>(), [&path]);
    assert_eq!(read.token(Dialect::GeminiCli).unwrap().expose(), "t");
    let of = |companion: &Companion| {
        let files = companion.files.iter();
        files.filter(|it| it.is_for(Dialect::QwenCode)).count()
    };
    assert_eq!(of(&read), of(found));
}

#[test]
fn those_that_answer_no_dial_are_there_and_are_waited_for_at_the_same_time() {
    let world = World::new();
    let own = std::process::id();
    let deaf: Vec<_> = (0..100).map(|_| Deaf::new()).collect();
    for deaf in &deaf {
        let port = deaf.port();
        let name = format!("gemini-ide-server-{own}-{port}.json");
        write(&world, &name, &others(port, "/deaf"));
    }
    let start = Instant::now();
    let found = survey(&world.environment()).companions;
    let took = start.elapsed();
    assert_eq!(found.len(), deaf.len());
    assert!(found.iter().all(|it| it.is_alive()), "{found:?}");
    // One after the other they would take a hundred times the 200 ms that each is given.
    assert!(took < Duration::from_secs(15), "{took:?}");
}

#[test]
fn an_editor_is_known_by_the_file_that_has_both_of_its_names() {
    let (world, listener) = (World::new(), Listener::new());
    let (own, port) = (std::process::id(), listener.port());
    let told = |at: u32, ide: &str| {
        let name = format!(
            "gemini-ide-server-{own}-{port}{}.json",
            "0".repeat(at as usize)
        );
        let content = format!(r#"{{"port":{port},"workspacePath":"/w","ideInfo":{ide}}}"#);
        write(&world, &name, &content);
        let mut found = survey(&world.environment()).companions;
        assert_eq!(found.len(), 1, "{found:?}");
        let found = found.remove(0);
        (found.display_name().to_owned(), found.ide.is_some())
    };
    let nameless = ("an unnamed companion".to_owned(), false);
    assert_eq!(told(0, r#"{"name":"x","displayName":""}"#), nameless);
    assert_eq!(told(0, r#"{"name":"","displayName":"X"}"#), nameless);
    let named = told(1, r#"{"name":"x","displayName":"X"}"#);
    assert_eq!(named, ("X".to_owned(), true));
}

#[test]
fn a_root_that_is_not_absolute_contains_nothing() {
    let (world, listener) = (World::new(), Listener::new());
    let (own, port) = (std::process::id(), listener.port());
    let name = format!("gemini-ide-server-{own}-{port}.json");
    let content = format!(r#"{{"port":{port},"workspacePath":"[\"\", \".\", \"/w\"]"}}"#);
    write(&world, &name, &content);
    let found = survey(&world.environment()).companions;
    assert_eq!(found[0].roots.len(), 3, "{found:?}");
    let here = std::env::current_dir().unwrap();
    assert_eq!(found[0].depth(&here), None);
    assert_eq!(found[0].depth(Path::new("/w/x")), Some(2));
}

#[test]
fn a_folder_is_in_a_workspace_by_real_paths_also_where_it_is_not_there_yet() {
    let (world, listener) = (World::new(), Listener::new());
    fs::create_dir(world.path("root")).unwrap();
    symlink(world.path("root"), world.path("link")).unwrap();
    symlink("root/not/there", world.path("dangling")).unwrap();
    symlink("elsewhere", world.path("root/out")).unwrap();
    symlink("/nowhere", world.path("root/away")).unwrap();
    let (own, port) = (std::process::id(), listener.port());
    let name = format!("gemini-ide-server-{own}-{port}.json");
    let inside = |root: &str, asked: &str| {
        let root = world.path(root);
        write(&world, &name, &others(port, root.to_str().unwrap()));
        let found = survey(&world.environment()).companions;
        found[0].depth(&world.path(asked)).is_some()
    };
    for root in ["root", "link"] {
        for asked in ["root", "link", "link/not/there", "dangling", "root/out"] {
            assert!(inside(root, asked), "{asked} in {root}");
        }
        for asked in [".", "roots", "root/away", "link/../x"] {
            assert!(!inside(root, asked), "{asked} in {root}");
        }
    }
}

#[test]
fn what_cannot_be_a_discovery_file_is_reported_and_hides_nothing() {
    let (world, listener) = (World::new(), Listener::new());
    let (own, port) = (std::process::id(), listener.port());
    write(&world, "notes.json", "{}");
    write(&world, "gemini-ide-server-1-2.json", "{\"port\":");
    let name = format!("gemini-ide-server-{own}-{port}.json");
    write(&world, &name, &others(port, "/a"));
    let folder = world.path("tmp/gemini/ide");
    symlink(folder.join(name), folder.join("gemini-ide-server-3-4.json")).unwrap();
    let found = survey(&world.environment());
    assert_eq!(found.companions.len(), 1, "{found:?}");
    assert_eq!(found.malformed, [folder.join("gemini-ide-server-1-2.json")]);
    assert_eq!(found.unread.len(), 1, "{found:?}");
    assert_eq!(
        found.unread[0].path(),
        folder.join("gemini-ide-server-3-4.json")
    );
}

#[test]
fn an_empty_machine_has_no_companions() {
    let found = survey(&World::new().environment());
    assert!(found.companions.is_empty() && found.unread.is_empty());
}

#[test]
fn a_companion_that_was_started_with_another_temporary_directory_is_asked_for_it() {
    let (world, listener) = (World::new(), Listener::new());
    let own = std::process::id();
    let elsewhere = world.environment().with_tmpdir(world.path("elsewhere"));
    let discovery_files = publish_in(&elsewhere, listener.port());
    let state = CompanionState {
        files: discovery_files.files(),
        ..state(own, listener.port())
    };
    let answering = Answering::start(&elsewhere, vec![state]);
    // What lies beside its files is no matter of this terminal's.
    let folder = world.path("elsewhere/gemini/ide");
    let name = format!("gemini-ide-server-{own}-{}.json", listener.port() ^ 1);
    fs::write(folder.join(name), others(listener.port(), "/other")).unwrap();

    let found = survey(&world.environment()).companions;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].files.len(), discovery_files.files().len());
    assert!(found[0].is_alive() && found[0].state.is_some());
    assert!(found[0].is_seen(Dialect::GeminiCli, &elsewhere));
    assert!(!found[0].is_seen(Dialect::GeminiCli, &world.environment()));
    // Its lock file lies at home.
    assert!(found[0].is_seen(Dialect::QwenCode, &world.environment()));

    drop(discovery_files);
    let found = survey(&world.environment()).companions;
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].files.is_empty() && found[0].is_alive() && found[0].is_pillion());
    assert_eq!(found[0].roots, [Path::new("/w")]);
    drop(answering);
    assert!(survey(&world.environment()).companions.is_empty());
}

#[test]
fn files_of_others_in_a_shared_directory_are_not_waited_for() {
    let world = World::new();
    let folder = world.path("tmp");
    for number in 0..5000 {
        // A link is refused as another user's file is.
        symlink("x", folder.join(format!("gemini-ide-server-{number}.json"))).unwrap();
    }
    let took = || {
        let start = Instant::now();
        assert_eq!(survey(&world.environment()).unread.len(), 5000);
        start.elapsed()
    };
    // What the survey takes, not what a busy machine adds to one of them.
    let fastest = (0..5).map(|_| took()).min().unwrap();
    assert!(fastest < Duration::from_millis(1500), "{fastest:?}");
}
