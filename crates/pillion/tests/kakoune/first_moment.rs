//! The first moment of a proposal in a client: keys that were meant for the buffer before change and decide nothing.

use pillion_testkit::client::Update;
use pillion_testkit::{Home, Kakoune, KakouneVersion, each_kakoune};

use crate::world::World;

/// Whoever is shown a proposal is busy from then on, so that its first moment lasts.
const LASTING: &str = "hook global WinDisplay \\*pillion-.* %{ set-option -add global pillion_recording %val{client} }";

/// Nothing is drawn so that Kakoune would tell.
const UNSEEN: &str =
    "hook -once global WinDisplay \\*pillion-.* %{ set-option global idle_timeout 100000000 }";

/// Presses keys at the beginning of the text, and waits until they have done what they do.
#[track_caller]
fn press(kakoune: &Kakoune, keys: &str) {
    kakoune.input("gg");
    kakoune.wait_value("%val{selection_desc}", "1.1,1.1");
    kakoune.input(&format!("{keys}%"));
    kakoune.wait_until(keys, "%val{selection_desc}", |place| {
        place[0].starts_with("1.1,") && place[0] != "1.1,1.1"
    });
}

#[each_kakoune]
fn keys_that_were_meant_for_another_buffer_change_nothing(version: KakouneVersion) {
    let files = [("a.txt", "one\n")];
    let world = World::with(version, Home::new(), &files, |setup| setup.kakrc(LASTING));
    let kakoune = &world.kakoune;
    let path = world.home.workspace().join("a.txt");
    let mut gemini = world.gemini();
    let text = "first\nsecond\n";
    gemini.propose(&path, text);
    kakoune.wait_until("the proposal", "%val{bufname}", |name| {
        name[0].starts_with("*pillion-")
    });
    for keys in ["xd", "ihello", "cX", "rX", "u", "yp", "~", "|cat<ret>", "o"] {
        press(kakoune, keys);
        assert_eq!(kakoune.text_in_focus(), text, "{keys}");
        assert_eq!(kakoune.get("%opt{readonly}"), "true", "{keys}");
    }
    // It is theirs once they are done, however long that took.
    kakoune.command("set-option -remove global pillion_recording client0");
    kakoune.input("gg");
    world.look();
    kakoune.input("imine <esc>");
    kakoune.wait_until("the edit", "%val{bufname}", |_| {
        kakoune.text_in_focus() == "mine first\nsecond\n"
    });
    kakoune.wait_value("%opt{pillion_mode}", "normal");
    kakoune.input(":w<ret>");
    let outcome = gemini.outcome();
    assert_eq!(
        outcome,
        Update::accepted(path.display().to_string(), "mine first\nsecond\n")
    );
    kakoune.wait_value("%val{bufname}", "a.txt");
    assert_eq!(
        kakoune.get("%opt{readonly}"),
        "false",
        "the file is as it was"
    );
}

#[each_kakoune]
fn what_takes_its_place_or_comes_back_is_looked_at_first_too(version: KakouneVersion) {
    let world = World::open(version, &[("a.txt", "one\n")]);
    let kakoune = &world.kakoune;
    let path = world.home.workspace().join("a.txt");
    let mut gemini = world.gemini();
    gemini.propose(&path, "first\n");
    world.look();
    let hold = "set-option -add global pillion_recording client0";
    // A newer one is loaded while nobody is busy.
    kakoune.command(&format!(
        "hook -once global BufSetOption readonly=true %{{ {hold} }}"
    ));
    gemini.propose(&path, "second\n");
    kakoune.wait_until("the newer one", "%val{bufname}", |_| {
        kakoune.text_in_focus() == "second\n"
    });
    press(kakoune, "xd");
    assert_eq!(kakoune.text_in_focus(), "second\n");
    kakoune.command("set-option -remove global pillion_recording client0");
    kakoune.input("gg");
    world.look();
    // One that the person has left.
    kakoune.input(":b a.txt<ret>");
    kakoune.wait_value("%val{bufname}", "a.txt");
    kakoune.command(&format!("{hold}; pillion-show"));
    press(kakoune, "xd");
    assert_eq!(kakoune.text_in_focus(), "second\n");
    kakoune.command("set-option -remove global pillion_recording client0");
    kakoune.input("gg");
    world.look();
    kakoune.input("xd");
    kakoune.wait_until("the edit", "%val{bufname}", |_| {
        kakoune.text_in_focus() == "\n"
    });
    kakoune.input(":w<ret>");
    assert_eq!(
        gemini.outcome(),
        Update::accepted(path.display().to_string(), "\n")
    );
}

#[each_kakoune]
fn a_command_that_was_meant_for_another_buffer_decides_nothing(version: KakouneVersion) {
    for command in [
        ":q<ret>",
        ":pillion-reject<ret>",
        ":w<ret>",
        ":wq<ret>",
        ":q!<ret>",
    ] {
        let files = [("a.txt", "one\n")];
        let world = World::with(version, Home::new(), &files, |setup| setup.kakrc(UNSEEN));
        let kakoune = &world.kakoune;
        let path = world.home.workspace().join("a.txt");
        let mut gemini = world.gemini();
        gemini.propose(&path, "two\n");
        kakoune.wait_until("the proposal", "%val{bufname}", |name| {
            name[0].starts_with("*pillion-")
        });
        kakoune.input(command);
        kakoune.wait_debug("this has not been on the screen yet: look at it first");
        assert!(
            kakoune.get("%val{bufname}").starts_with("*pillion-"),
            "{command}"
        );
        kakoune.command("set-option global idle_timeout 50");
        kakoune.input("gg");
        world.look();
        kakoune.input(":q<ret>");
        let expected = Update::DiffRejected {
            path: path.display().to_string(),
        };
        assert_eq!(gemini.outcome(), expected, "{command}");
        kakoune.wait_value("%val{bufname}", "a.txt");
    }
}
