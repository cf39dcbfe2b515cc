//! Finding every companion, Pillion's and others'.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use pillion_discovery::survey::{Liveness, survey};
use pillion_protocol::Dialect;

use crate::world::{Listener, World, dead_pid, dead_port, pids, publish};

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
    let publication = publish(&world, listener.port());
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
    assert_eq!(companion.files.len(), publication.files().len());
    for dialect in Dialect::AGENTS {
        let own = publication.announcement().tokens.get(dialect);
        let told = companion.token(dialect).unwrap();
        assert!(own.matches(told.expose().as_bytes()), "{dialect}");
    }
    assert_eq!(companion.depth(Path::new("/work/a/deep")), Some(3));
    assert_eq!(companion.depth(Path::new("/work")), None);
}

#[test]
fn others_are_alive_when_their_process_lives_and_somebody_listens() {
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
fn what_cannot_be_a_discovery_file_is_told_and_hides_nothing() {
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
