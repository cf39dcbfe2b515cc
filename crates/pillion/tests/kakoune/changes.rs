//! What agents have written already: listed, kept and taken back.

use std::fs;

use pillion_testkit::{Home, KakouneVersion, SOON, each_kakoune};

use crate::world::World;

const BEFORE: &str = "a\nb\nc\nd\ne\nf\n";
const AFTER: &str = "a\nB\nc\nd\ne\nF\n";

#[each_kakoune]
fn the_list_leads_to_hunks_and_its_line_is_decided(version: KakouneVersion) {
    let home = Home::new();
    let path = home.file("it's a.txt", BEFORE);
    home.agents_turn("change letters", |folder| {
        fs::write(folder.join("it's a.txt"), AFTER).unwrap();
        fs::write(folder.join("new.txt"), "new\n").unwrap();
    });
    let workspace = home.workspace();
    let world = World::with(version, home, &[("it's a.txt", AFTER)], |setup| {
        setup.cwd(&workspace)
    });
    world.kakoune.command("pillion-changes");
    world
        .kakoune
        .wait_value("%val{bufname}", "*pillion-changes*");
    let shown = path.display();
    let new = workspace.join("new.txt");
    assert_eq!(
        world.kakoune.text("*pillion-changes*").trim_end(),
        format!(
            "{shown}:2: 1.1 unseen +2 -2\n{shown}:6: 1.1 unseen +2 -2\n{}:1: 1.2 unseen +1 -0",
            new.display()
        )
    );
    world.kakoune.input("gg2g<ret>");
    world
        .kakoune
        .wait_value("%val{buffile}", path.to_str().unwrap());
    world.kakoune.wait_value("%val{cursor_line}", "6");
    world.kakoune.command("buffer *pillion-changes*");
    world.kakoune.input("gg3g:pillion-keep<ret>");
    world.kakoune.pane().wait_for("1.2 new.txt: kept", SOON);
    world.kakoune.input("gg:pillion-take-back<ret>");
    world
        .kakoune
        .pane()
        .wait_for("1.1 it's a.txt: taken back", SOON);
    assert_eq!(fs::read_to_string(&path).unwrap(), BEFORE);
    world.kakoune.command("pillion-changes all");
    world.kakoune.pane().wait_for("1.1 taken back +2 -2", SOON);
    world.kakoune.input(":pillion-undo 1.1<ret>");
    world
        .kakoune
        .pane()
        .wait_for("is as the agent left it", SOON);
    assert_eq!(fs::read_to_string(&path).unwrap(), AFTER);
    world.kakoune.assert_no_errors();
}
