//! A proposal that comes, goes or is replaced while the person is at something: no key of theirs goes into a proposal, no
//! prompt is dropped, and nothing is lost.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use pillion_testkit::client::Update;
use pillion_testkit::{KakouneVersion, SOON, each_kakoune};

use crate::world::{PILLION, World};

/// Longer than the pause after which a proposal opens: only time can tell that it does not.
const QUIET: Duration = Duration::from_millis(600);

const ANNOUNCED: &str = "1 proposal: :pillion-show";

/// Nothing but `idle` of somebody who is at nothing: not within a command, and recording no macro.
const BUSY_VALUES: &str = "%opt{pillion_rest} %opt{pillion_recording}";

/// The ways in which a person is at something: keys, the mode that Kakoune is in then, the keys that end it, and the content of
/// the file's buffer afterwards.
const BUSY: [(&str, &str, &str, &str); 10] = [
    ("itext", "insert", " more<esc>", "text moreone\n"),
    ("\\itext", "", "<esc>", "textone\n"),
    ("itext<a-;>", "", "geX<esc>", "textone\nX"),
    (":echo -debug hel", "prompt", "lo<ret>", "one\n"),
    ("/on", "prompt", "e<ret>", "one\n"),
    ("<space>", "", "x", "one\n"),
    ("r", "", "X", "Xne\n"),
    ("Q", "", "lQ", "one\n"),
    ("2", "", "l", "one\n"),
    ("v", "", "v", "one\n"),
];

#[each_kakoune]
fn a_proposal_waits_until_the_person_is_done(version: KakouneVersion) {
    let home = pillion_testkit::Home::new();
    let files = [("a.txt", "one\n"), ("b.txt", "two\n")];
    let world = World::with(version, home, &files, |setup| {
        setup.kakrc("map global user x 'l'")
    });
    let (kakoune, path) = (&world.kakoune, world.home.workspace().join("b.txt"));
    let mut gemini = world.gemini();
    for (keys, mode, end, text) in BUSY {
        kakoune.wait_value("%opt{pillion_rest}", "idle");
        kakoune.input(keys);
        kakoune.wait_until(keys, BUSY_VALUES, |rest| rest != ["idle"]);
        if !mode.is_empty() {
            kakoune.wait_value("%opt{pillion_mode}", mode);
        }
        gemini.propose(&path, "proposed\n");
        kakoune.wait_value("%opt{pillion_pending}", &format!(" {ANNOUNCED}"));
        if mode == "insert" {
            // Boxes and menus of other modes may lie on it.
            kakoune.pane().wait_for(ANNOUNCED, SOON);
        }
        sleep(QUIET);
        world.is_pending(&mut gemini, keys);
        assert_eq!(kakoune.get("%val{bufname}"), "a.txt", "{keys}");
        kakoune.input(end);
        kakoune.wait_until("the proposal", "%val{bufname}", |name| {
            name[0].starts_with("*pillion-")
        });
        assert_eq!(kakoune.text_in_focus(), "proposed\n", "{keys}");
        kakoune.pane().wait_for(":w accepts, :q rejects", SOON);
        let held = kakoune.text("a.txt");
        assert!(held.starts_with(text), "{keys}: {held:?}");
        world.look();
        kakoune.input(":pillion-reject<ret>");
        let expected = Update::DiffRejected {
            path: path.display().to_string(),
        };
        assert_eq!(gemini.outcome(), expected);
        kakoune.wait_value("%val{bufname}", "a.txt");
        kakoune
            .pane()
            .wait_until("nothing announced", SOON, |screen| {
                !screen.contains(ANNOUNCED)
            });
        kakoune.command("execute-keys -draft '%cone<ret><esc>'; execute-keys gg");
    }
    kakoune.wait_debug("hello");
    kakoune.assert_no_errors();
}

#[each_kakoune]
fn a_prompt_that_a_program_opens_is_not_dropped(version: KakouneVersion) {
    let world = World::open(version, &[("a.txt", "one\n")]);
    let kakoune = &world.kakoune;
    let path = world.home.workspace().join("a.txt");
    let mut gemini = world.gemini();
    for prompt in [
        "prompt Name: %{ echo -debug %val{text} }",
        "on-key %{ echo -debug %val{key} }",
        "menu a 'echo -debug chosen' b nop",
    ] {
        kakoune.wait_value("%opt{pillion_rest}", "idle");
        kakoune.command(prompt);
        gemini.propose(&path, "proposed\n");
        kakoune.wait_value("%opt{pillion_pending}", &format!(" {ANNOUNCED}"));
        sleep(QUIET);
        world.is_pending(&mut gemini, prompt);
        assert_eq!(kakoune.get("%val{bufname}"), "a.txt", "{prompt}");
        kakoune.input(if prompt.starts_with("prompt") {
            "answer<ret>"
        } else {
            "<ret>"
        });
        world.look();
        kakoune.input(":q<ret>");
        gemini.outcome();
        kakoune.wait_value("%val{bufname}", "a.txt");
    }
    for said in ["answer", "<ret>", "chosen"] {
        kakoune.wait_debug(said);
    }
}

#[each_kakoune]
fn a_proposal_that_is_closed_goes_when_the_person_is_done_in_it(version: KakouneVersion) {
    let world = World::open(version, &[("a.txt", "one\n")]);
    let kakoune = &world.kakoune;
    let path = world.home.workspace().join("a.txt");
    let mut gemini = world.gemini();
    for (keys, end, left) in [
        ("imine ", "too<esc>", Some("mine tooproposed\n")),
        (":echo -debug hel", "lo<ret>", None),
        ("Q", "lQ", None),
        ("r", "X", Some("Xroposed\n")),
    ] {
        gemini.propose(&path, "proposed\n");
        world.look();
        kakoune.input(keys);
        kakoune.wait_until(keys, BUSY_VALUES, |rest| rest != ["idle"]);
        if let Some(typed) = keys.strip_prefix('i') {
            kakoune.wait_until(keys, "%val{bufname}", |_| {
                kakoune.text_in_focus().starts_with(typed)
            });
        }
        let given = gemini.close(&path).unwrap();
        let expected = if left.is_some() && keys != "r" {
            "mine proposed\n"
        } else {
            "proposed\n"
        };
        assert_eq!(given, expected, "{keys}");
        sleep(QUIET);
        assert!(
            kakoune.get("%val{bufname}").starts_with("*pillion-"),
            "{keys}\n{}",
            kakoune.describe()
        );
        kakoune.input(end);
        kakoune.wait_value("%val{bufname}", "a.txt");
        assert_eq!(kakoune.text("a.txt"), "one\n", "{keys}");
        if let Some(left) = left {
            kakoune.wait_debug("the proposal was settled elsewhere, and your edits are kept in");
            wait_kept(&world, left);
        }
        assert_eq!(
            gemini.check_heard_all(&world.home, PILLION),
            Ok(()),
            "{keys}"
        );
    }
    kakoune.wait_debug("hello");
    kakoune.wait_until("no proposal", "%val{buflist}", |buffers| {
        !buffers.iter().any(|name| name.starts_with("*pillion-"))
    });
    kakoune.assert_no_errors();
}

/// Nobody has decided, and the next keys are meant for what is on the screen: it stays until its person leaves it.
#[each_kakoune]
fn who_is_in_a_proposal_whose_agent_is_gone_stays_in_it(version: KakouneVersion) {
    let world = World::open(version, &[("a.txt", "one\n"), ("b.txt", "two\n")]);
    let kakoune = &world.kakoune;
    let path = world.home.workspace().join("b.txt");
    let gone = "Gemini CLI no longer waits for b.txt here: nothing was decided";
    for (edited, leave) in [
        ("", ":q<ret>"),
        ("MINE", ":w<ret>"),
        ("", ":buffer a.txt<ret>"),
        ("MINE", ":buffer a.txt<ret>"),
    ] {
        kakoune.input(":buffer a.txt<ret>");
        kakoune.wait_value("%val{bufname}", "a.txt");
        let gemini = world.gemini();
        gemini.propose(&path, "proposed\n");
        world.look();
        if !edited.is_empty() {
            kakoune.input(&format!("o{edited}<esc>"));
        }
        let text = match edited {
            "" => "proposed\n".to_owned(),
            edited => format!("proposed\n{edited}\n"),
        };
        kakoune.wait_until("a pause", BUSY_VALUES, |rest| rest == ["idle"]);
        gemini.disconnect();
        kakoune.wait_debug(gone);
        // That edits are kept is said in its place, in the same sentence.
        let said = match edited {
            "" => ":q closes this: Gemini CLI no longer waits for b.txt",
            _ => "pillion: Gemini CLI no longer waits for b.txt here: nothing was decided",
        };
        kakoune.pane().wait_for(said, SOON);
        kakoune.wait_value("%opt{readonly}", "true");
        kakoune.input("oMORE<esc>");
        kakoune.pane().wait_read();
        assert_eq!(kakoune.text_in_focus(), text);
        kakoune.input(leave);
        kakoune.wait_value("%val{bufname}", "a.txt");
        kakoune.wait_until("no proposal", "%val{buflist}", |names| {
            !names.iter().any(|name| name.starts_with("*pillion-"))
        });
        for (name, text) in [("a.txt", "one\n"), ("b.txt", "two\n")] {
            assert_eq!(kakoune.text(name), text, "{leave}");
        }
        if !edited.is_empty() {
            kakoune.wait_debug("nothing was decided, and your edits are kept in");
            wait_kept(&world, &text);
        }
    }
}

/// Below a proposal, what is said is read as being about that one.
#[each_kakoune]
fn what_waits_is_not_said_below_another_proposal(version: KakouneVersion) {
    let world = World::open(version, &[("a.txt", "one\n")]);
    let gemini = world.gemini();
    let path = |name: &str| world.home.workspace().join(name);
    gemini.propose(path("a.txt"), "proposed\n");
    world.look();
    gemini.propose(path("b.txt"), "proposed\n");
    world
        .kakoune
        .wait_debug("pillion: Gemini CLI proposes b.txt");
    let screen = world.kakoune.pane().wait_for("2 proposals", SOON);
    assert!(!screen.contains("b.txt"), "{screen}");
    assert!(screen.contains("a.txt: :w accepts, :q rejects"), "{screen}");
}

#[each_kakoune]
fn a_newer_proposal_takes_no_key_that_was_meant_for_the_former_one(version: KakouneVersion) {
    let world = World::open(version, &[("a.txt", "one\n")]);
    let kakoune = &world.kakoune;
    let path = world.home.workspace().join("a.txt");
    let mut gemini = world.gemini();
    for (keys, end, edited) in [
        ("imine ", "too<esc>", Some("mine toofirst\n")),
        (":echo -debug hel", "lo<ret>", None),
        ("Q", "lQ", None),
    ] {
        gemini.propose(&path, "first\n");
        world.look();
        kakoune.input(keys);
        kakoune.wait_until(keys, BUSY_VALUES, |rest| rest != ["idle"]);
        gemini.propose(&path, "second\n");
        sleep(QUIET);
        world.is_pending(&mut gemini, keys);
        assert!(
            !kakoune.text_in_focus().contains("second"),
            "{keys}\n{}",
            kakoune.describe()
        );
        kakoune.input(end);
        kakoune.wait_until("the newer one", "%val{bufname}", |_| {
            kakoune.text_in_focus() == "second\n"
        });
        if let Some(edited) = edited {
            kakoune.wait_debug("a newer proposal took the place of yours: u brings it back, and your edits are kept in");
            wait_kept(&world, edited);
        }
        world.look();
        kakoune.input(":w<ret>");
        let outcome = gemini.outcome();
        assert_eq!(
            outcome,
            Update::accepted(path.display().to_string(), "second\n"),
            "{keys}"
        );
        kakoune.wait_value("%val{bufname}", "a.txt");
    }
    kakoune.wait_debug("hello");
    kakoune.assert_no_errors();
}

#[each_kakoune]
fn what_an_agent_gets_back_is_its_newest_text_also_if_an_older_one_stands_there(
    version: KakouneVersion,
) {
    let world = World::open(version, &[("a.txt", "one\n")]);
    let kakoune = &world.kakoune;
    let path = world.home.workspace().join("a.txt");
    let gemini = world.gemini();
    for (keys, end, edited) in [
        ("imine ", "<esc>", Some("mine first\n")),
        (":echo -debug hel", "lo<ret>", None),
        ("Q", "lQ", None),
        ("r", "<esc>", None),
    ] {
        gemini.propose(&path, "first\n");
        world.look();
        kakoune.input(keys);
        kakoune.wait_until(keys, BUSY_VALUES, |rest| rest != ["idle"]);
        if let Some(edited) = edited {
            kakoune.wait_until(keys, "%val{bufname}", |_| kakoune.text_in_focus() == edited);
        }
        gemini.propose(&path, "second\r\n");
        assert_eq!(gemini.close(&path).unwrap(), "second\r\n", "{keys}");
        assert!(
            kakoune.text_in_focus().contains("first"),
            "{keys}\n{}",
            kakoune.describe()
        );
        if let Some(edited) = edited {
            wait_kept(&world, edited);
        }
        kakoune.input(end);
        kakoune.wait_value("%val{bufname}", "a.txt");
    }
    assert_eq!(
        kept(&world).len(),
        1,
        "what nobody edited is not kept: {:?}",
        kept(&world)
    );
    kakoune.assert_no_errors();
}

#[each_kakoune]
fn a_buffer_that_is_removed_while_a_newer_text_waits_keeps_only_edits(version: KakouneVersion) {
    let world = World::open(version, &[("a.txt", "one\n")]);
    let kakoune = &world.kakoune;
    let path = world.home.workspace().join("a.txt");
    let mut gemini = world.gemini();
    for edited in [None, Some("mine first\n")] {
        gemini.propose(&path, "first\n");
        world.look();
        if let Some(edited) = edited {
            kakoune.input("imine <esc>");
            kakoune.wait_until("the edit", "%val{bufname}", |_| {
                kakoune.text_in_focus() == edited
            });
            kakoune.wait_value("%opt{pillion_mode}", "normal");
        }
        kakoune.input("Q");
        kakoune.wait_until("a macro", BUSY_VALUES, |rest| rest != ["idle"]);
        gemini.propose(&path, "second\n");
        kakoune.input(":db<ret>");
        let expected = Update::DiffRejected {
            path: path.display().to_string(),
        };
        assert_eq!(gemini.outcome(), expected, "{edited:?}");
        if let Some(edited) = edited {
            wait_kept(&world, edited);
        }
        kakoune.input("Q");
        kakoune.wait_value("%val{bufname}", "a.txt");
    }
    assert_eq!(
        kept(&world).len(),
        1,
        "what nobody edited is not kept: {:?}",
        kept(&world)
    );
    kakoune.assert_no_errors();
}

/// The texts in private files.
fn kept(world: &World) -> Vec<String> {
    let folders = fs::read_dir(world.home.tmp()).unwrap().flatten();
    let folders = folders.filter(|it| {
        it.file_name()
            .to_string_lossy()
            .starts_with("pillion-kept-")
    });
    let files = folders.filter_map(|folder| fs::read_dir(folder.path()).ok());
    let files = files.flat_map(|files| files.flatten());
    files
        .filter_map(|file| fs::read_to_string(file.path()).ok())
        .collect()
}

/// Waits until a private file keeps this text.
#[track_caller]
fn wait_kept(world: &World, text: &str) {
    world
        .kakoune
        .wait_until("a file that keeps it", "%val{bufname}", |_| {
            kept(world).iter().any(|kept| kept == text)
        });
}
