//! In tmux a proposal gets a pane of its own beside the person's.

use pillion_testkit::client::Update;
use pillion_testkit::{
    Home, Kakoune, KakouneSetup, KakouneVersion, Pane, SOON, Size, each_kakoune,
};

use crate::world::{World, may_accept};

#[each_kakoune]
fn a_proposal_opens_in_a_pane_beside_the_persons(version: KakouneVersion) {
    let files = [("a.txt", "one\ntwo\n"), ("b.txt", "other\n")];
    let change = |setup: KakouneSetup| setup.knowing_tmux().size(Size::new(160, 30));
    let world = World::with(version, Home::new(), &files, change);
    let kakoune = &world.kakoune;
    let mut gemini = world.gemini();
    let folder = world.home.workspace();
    let (first, second) = (folder.join("a.txt"), folder.join("b.txt"));
    // They type on, and lose no key.
    kakoune.input("itext");
    gemini.propose(&first, "one\n2\n");
    let view = opened(kakoune);
    view.wait_for("Gemini CLI", SOON);
    assert!(kakoune.pane().is_active(), "{}", kakoune.describe());
    kakoune.input(" typed <esc>");
    kakoune.wait_until("the text", "%val{bufname}", |name| {
        name == ["a.txt"] && kakoune.text_in_focus().starts_with("text typed one")
    });
    // The next one waits for its turn, in the same pane.
    gemini.propose(&second, "new\n");
    assert_eq!(kakoune.pane().others().len(), 1);
    view.activate();
    view.wait_until("the old line", SOON, |screen| screen.contains("- two"));
    let expected = Update::accepted(first.display().to_string(), "one\n2\n");
    accept(kakoune, &view);
    assert_eq!(gemini.outcome(), expected);
    view.wait_for("new", SOON);
    let expected = Update::accepted(second.display().to_string(), "new\n");
    accept(kakoune, &view);
    assert_eq!(gemini.outcome(), expected);
    // tmux keeps what programs leave here, so that tests can look at it.
    view.wait_exit(SOON);
    kakoune.assert_no_errors();
}

#[each_kakoune]
fn closing_the_pane_rejects(version: KakouneVersion) {
    let change = |setup: KakouneSetup| setup.knowing_tmux();
    let world = World::with(version, Home::new(), &[("a.txt", "one\n")], change);
    let mut gemini = world.gemini();
    let path = world.home.workspace().join("a.txt");
    for round in 0..2 {
        gemini.propose(&path, "two\n");
        let view = opened(&world.kakoune);
        view.wait_for("Gemini CLI", SOON);
        view.close();
        let expected = Update::DiffRejected {
            path: path.display().to_string(),
        };
        assert_eq!(gemini.outcome(), expected, "{round}");
        world
            .kakoune
            .wait_until("no view", "%val{buflist}", |buffers| {
                !buffers.iter().any(|name| name.starts_with("*pillion-"))
            });
    }
}

#[each_kakoune]
fn a_proposal_that_is_closed_in_the_pane_waits_for_who_types_there(version: KakouneVersion) {
    let files = [("a.txt", "one\n"), ("b.txt", "other\n")];
    let change = |setup: KakouneSetup| setup.knowing_tmux().size(Size::new(160, 30));
    let world = World::with(version, Home::new(), &files, change);
    let kakoune = &world.kakoune;
    let gemini = world.gemini();
    let folder = world.home.workspace();
    let (first, second) = (folder.join("a.txt"), folder.join("b.txt"));
    gemini.propose(&first, "1\n");
    let view = opened(kakoune);
    view.wait_for("Gemini CLI", SOON);
    gemini.propose(&second, "2\n");
    view.activate();
    wait_may_accept(kakoune, &view);
    view.type_text("imine ");
    view.wait_for("mine 1", SOON);
    assert_eq!(gemini.close(&first).unwrap(), "mine 1\n");
    view.wait_for("settled elsewhere", SOON);
    view.type_text("too");
    view.wait_for("mine too1", SOON);
    view.type_text("\u{1b}");
    view.wait_until("the next one", SOON, |_| {
        let shown = kakoune.list_in("pillion", "%val{bufname}");
        shown.is_some_and(|name| name == ["*pillion-2*/b.txt"])
    });
    let text = kakoune.text("*pillion-2*/b.txt");
    assert_eq!(text, "2\n", "no key went into it");
    kakoune.wait_debug("the proposal was settled elsewhere, and your edits are kept in");
    // Without another one the pane goes, once nobody types in it.
    view.type_text(":echo -debug hel");
    view.wait_for(":echo", SOON);
    gemini.close(&second).unwrap();
    kakoune.wait_until("nothing waits", "%opt{pillion_waiting}", |waiting| {
        waiting == [""]
    });
    view.type_text("lo\r");
    kakoune.wait_debug("hello");
    view.wait_exit(SOON);
    kakoune.assert_no_errors();
}

/// The pane beside the person's, once it is there.
fn opened(kakoune: &Kakoune) -> Pane {
    let own = kakoune.pane();
    own.wait_until("a pane beside it", SOON, |_| own.others().len() == 1);
    own.others().remove(0)
}

/// Looks at the proposal so long that it may be accepted, and types `:w`.
fn accept(kakoune: &Kakoune, view: &Pane) {
    wait_may_accept(kakoune, view);
    view.type_text(":w\r");
}

fn wait_may_accept(kakoune: &Kakoune, view: &Pane) {
    view.wait_until("a proposal that may be accepted", SOON, |_| {
        let ready = kakoune.list_in("pillion", "%opt{pillion_ready} %opt{readonly}");
        ready.is_some_and(|ready| may_accept(&ready))
    });
}
