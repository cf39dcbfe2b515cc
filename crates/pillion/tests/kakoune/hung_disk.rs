//! A disk that does not answer keeps neither Kakoune nor another file waiting.

use std::{fs, thread};

use pillion_testkit::client::Update;
use pillion_testkit::{HungDisk, KakouneVersion, SOON, each_kakoune};
use pillion_view::LOOK;

use crate::world::World;

#[each_kakoune]
fn an_open_file_that_does_not_answer_holds_up_no_proposal(version: KakouneVersion) {
    let world = World::open(version, &[("a.txt", "one\n"), ("far/b.txt", "far\n")]);
    let mut gemini = world.gemini();
    let path = world.home.workspace().join("a.txt");
    let Some(hung) = HungDisk::mount(&world.home.workspace().join("far")) else {
        return;
    };
    // The search for its repository.
    hung.wait_for_request();
    gemini.propose(&path, "two\n");
    world.look();
    world.kakoune.input(":w<ret>");
    assert_eq!(
        gemini.outcome(),
        Update::accepted(path.display().to_string(), "two\n")
    );
    drop(hung);
}

#[each_kakoune]
fn a_file_that_does_not_answer_is_asked_about_and_the_next_one_is_shown(version: KakouneVersion) {
    let world = World::open(version, &[("a.txt", "one\n")]);
    let mut gemini = world.gemini();
    let folder = world.home.workspace().join("far");
    fs::create_dir(&folder).unwrap();
    let (near, far) = (world.home.workspace().join("a.txt"), folder.join("b.txt"));
    gemini.propose(&far, "new\n");
    world.look();
    let Some(hung) = HungDisk::mount(&folder) else {
        return;
    };
    world.kakoune.input(":w<ret>");
    hung.wait_for_request();
    gemini.propose(&near, "two\n");
    world.look();
    world
        .kakoune
        .pane()
        .wait_for("the disk does not answer", SOON);
    thread::sleep(LOOK);
    world.kakoune.input(":w<ret>");
    let accepted =
        |path: &std::path::Path, text| Update::accepted(path.display().to_string(), text);
    assert_eq!(gemini.outcome(), accepted(&far, "new\n"));
    // Its agent hears of it before its view is gone.
    world.kakoune.wait_value("%opt{pillion_id}", "2");
    world.look();
    world.kakoune.input(":w<ret>");
    assert_eq!(gemini.outcome(), accepted(&near, "two\n"));
    drop(hung);
}

#[each_kakoune]
fn a_decision_that_waits_for_its_file_does_not_accept_a_newer_proposal(version: KakouneVersion) {
    let world = World::open(version, &[("a.txt", "one\n")]);
    let mut gemini = world.gemini();
    let folder = world.home.workspace().join("far");
    fs::create_dir(&folder).unwrap();
    let path = folder.join("b.txt");
    gemini.propose(&path, "older\n");
    world.look();
    let Some(hung) = HungDisk::mount(&folder) else {
        return;
    };
    world.kakoune.input(":w<ret>");
    hung.wait_for_request();
    hung.detach();
    gemini.propose(&path, "newer\n");
    // The file of the decision is found now.
    drop(hung);
    world
        .kakoune
        .wait_until("the newer one", "%val{bufname}", |_| {
            world.kakoune.text_in_focus() == "newer\n"
        });
    world.look();
    world.kakoune.input(":w<ret>");
    assert_eq!(
        gemini.outcome(),
        Update::accepted(path.display().to_string(), "newer\n")
    );
}

#[each_kakoune]
fn edits_that_cannot_be_kept_hold_up_no_agent(version: KakouneVersion) {
    let world = World::open(version, &[("a.txt", "one\n")]);
    let mut gemini = world.gemini();
    let path = world.home.workspace().join("a.txt");
    gemini.propose(&path, "two\n");
    world.look();
    world.kakoune.input("geomine<esc>");
    world.kakoune.wait_until("the edit", "%val{bufname}", |_| {
        world.kakoune.text_in_focus() == "two\nmine\n"
    });
    let Some(hung) = HungDisk::mount(&world.home.tmp()) else {
        return;
    };
    world.kakoune.input(":q<ret>");
    assert_eq!(
        gemini.outcome(),
        Update::DiffRejected {
            path: path.display().to_string()
        }
    );
    gemini.propose(&path, "three\n");
    world.kakoune.wait_debug("your edits are lost");
    world.kakoune.pane().wait_for("three", SOON);
    drop(hung);
}
