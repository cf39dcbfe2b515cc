//! `pillion-open-kak`, with which kakoune-lsp shows proposals: in a real session, as `pillion lsp --open-with` starts
//! it. kakoune-lsp itself is in no release of Debian.

use std::process::Command;

use pillion_testkit::{KakouneVersion, each_kakoune};

use crate::world::World;

const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../editors/kakoune/pillion-open-kak"
);

#[each_kakoune]
fn the_script_opens_files_whatever_they_are_called(version: KakouneVersion) {
    let world = World::open(version, &[("a.txt", "one\n")]);
    for name in [
        "plain.rs",
        "it's 'quoted'.rs",
        "%sh{touch PWNED}.rs",
        "$(touch PWNED)`touch PWNED`.rs",
        "two\nlines.rs",
        "ends with a newline\n",
        "-x.rs",
        "a,b {c} \"d\" \\.rs",
    ] {
        let path = world.home.file(name, format!("{name:?}\n"));
        open(&world, path.to_str().unwrap());
        world.kakoune.wait_until(name, "%val{buffile}", |file| {
            file == [path.to_str().unwrap()]
        });
        assert_eq!(world.kakoune.text_in_focus(), format!("{name:?}\n"));
    }
    assert!(!world.home.workspace().join("PWNED").exists());
    assert!(!world.home.home().join("PWNED").exists());
    world.kakoune.assert_no_errors();
}

/// Runs the script as kakoune-lsp's servers run theirs.
fn open(world: &World, file: &str) {
    let (_, env) = world.kakoune.program();
    let status = Command::new(SCRIPT)
        .arg(file)
        .env_clear()
        .envs(env.iter())
        .env("kak_session", world.kakoune.session())
        .status();
    assert!(status.unwrap().success());
}
