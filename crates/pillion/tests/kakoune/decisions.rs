//! The actions that decide nothing, although they look like a person's command.

use std::fs;

use pillion_testkit::client::Update;
use pillion_testkit::{KakouneVersion, SOON, each_kakoune};

use crate::world::{PILLION, World};

#[each_kakoune]
fn neither_macros_nor_programs_nor_hooks_decide(version: KakouneVersion) {
    let world = World::open(version, &[("a.txt", "one\n")]);
    let kakoune = &world.kakoune;
    // Recorded before there is a proposal.
    kakoune.input("Q:w<ret>Q");
    let mut gemini = world.gemini();
    let path = world.home.workspace().join("a.txt");
    gemini.propose(&path, "two\n");
    world.look();
    kakoune.input("q");
    world.is_pending(&mut gemini, "a macro");
    for command in [
        "write",
        "pillion-accept",
        "pillion-reject",
        "quit",
        "execute-keys ':w<ret>'",
        "execute-keys -with-maps ':w<ret>'",
        "hook -once global User x %{ execute-keys ':pillion-accept<ret>' }; trigger-user-hook x",
    ] {
        kakoune.command(&format!("try %{{ {command} }}"));
        // A key afterwards makes no decision of it.
        kakoune.input("l");
        world.is_pending(&mut gemini, command);
    }
    kakoune.wait_debug("only what you type accepts or rejects");
    world.look();
    kakoune.input(":w<ret>");
    assert_eq!(
        gemini.outcome(),
        Update::accepted(path.display().to_string(), "two\n")
    );
    kakoune.assert_no_errors();
}

/// Keeping, taking back and all else that is done in the person's name.
#[each_kakoune]
fn another_program_does_nothing_in_the_persons_name(version: KakouneVersion) {
    let world = World::open(version, &[("a.txt", "one\n")]);
    let kakoune = &world.kakoune;
    for command in [
        "pillion-keep 1.1:",
        "pillion-take-back",
        "pillion-undo",
        "pillion-review off",
        "pillion-send-notes",
    ] {
        for run in [command, &format!("execute-keys ':{command}<ret>'")] {
            kakoune.command("set-option global pillion_was ''");
            kakoune.command(&format!(
                "try %{{ {run} }} catch %{{ set-option global pillion_was %val{{error}} }}"
            ));
            let error = kakoune.get("%opt{pillion_was}");
            assert!(error.contains("only what you type"), "{run}: {error:?}");
        }
        // The prompt was the person's, and is closed.
        kakoune.input(":<esc>");
        kakoune.wait_value("%opt{pillion_prompted}", "false");
        kakoune.command(
            "hook -once global ModeChange 'pop:prompt:normal' %{ set-option global pillion_was typed }",
        );
        kakoune.input(&format!(":{command}<ret>"));
        kakoune.wait_value("%opt{pillion_was}", "typed");
        let debug = kakoune.text("*debug*");
        assert!(!debug.contains("only what you type"), "{command}: {debug}");
    }
}

/// What is typed twice, or while the agent takes the proposal away, neither quits nor writes what is below.
#[each_kakoune]
fn what_is_typed_twice_does_nothing_in_the_buffer_below(version: KakouneVersion) {
    let world = World::open(version, &[("a.txt", "one\n")]);
    let kakoune = &world.kakoune;
    // As if it came at once: no machine is too slow.
    kakoune.command("define-command -override -hidden pillion-unguard nop");
    let mut gemini = world.gemini();
    let path = world.home.workspace().join("a.txt");
    for (keys, is_closed_by_agent) in [(":q<ret>", false), (":w<ret>", false), (":q<ret>", true)] {
        gemini.propose(&path, "two\n");
        world.look();
        match is_closed_by_agent {
            true => drop(gemini.close(&path)),
            false => {
                kakoune.input(keys);
                gemini.outcome();
            }
        }
        kakoune.wait_value("%val{buffile}", path.to_str().unwrap());
        kakoune.input(keys);
        let said = "the proposal has just closed: this counts here in a second";
        kakoune.pane().wait_for(said, SOON);
        kakoune.input(":nop<ret>");
        kakoune.pane().wait_gone(said, SOON);
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\n");
}

/// Nobody has decided about it elsewhere.
#[each_kakoune]
fn what_is_typed_twice_in_a_proposal_is_told_that_it_closes(version: KakouneVersion) {
    let world = World::open(version, &[("a.txt", "one\n")]);
    let kakoune = &world.kakoune;
    // As if it were about to: no machine is too fast.
    kakoune.command("define-command -override -hidden -params .. pillion-clear nop");
    let mut gemini = world.gemini();
    gemini.propose(world.home.workspace().join("a.txt"), "two\n");
    world.look();
    kakoune.input(":w<ret>");
    gemini.outcome();
    kakoune.input(":w<ret>");
    let said = "this proposal is about to close: nothing more counts in it";
    kakoune.pane().wait_for(said, SOON);
}

#[each_kakoune]
fn what_guards_the_buffer_below_ends(version: KakouneVersion) {
    let world = World::open(version, &[("a.txt", "one\n")]);
    let kakoune = &world.kakoune;
    let mut gemini = world.gemini();
    let path = world.home.workspace().join("a.txt");
    gemini.propose(&path, "two\n");
    world.look();
    kakoune.input(":q<ret>");
    gemini.outcome();
    kakoune.wait_value("%val{buffile}", path.to_str().unwrap());
    kakoune.wait_value("%opt{pillion_guarded}", "false");
    kakoune.input(":q<ret>");
    assert_eq!(kakoune.wait_exit(), 0);
}

/// It is said where the keys that decide are, which would cover a message.
#[each_kakoune]
fn that_edits_were_kept_is_on_the_screen(version: KakouneVersion) {
    let world = World::open(version, &[("a.txt", "one\n")]);
    let path = world.home.workspace().join("a.txt");
    let gemini = world.gemini();
    gemini.propose(&path, "two\n");
    world.look();
    world.kakoune.input("omine<esc>");
    world
        .kakoune
        .wait_until("what was kept", "%val{timestamp}", |_| {
            let log = std::process::Command::new(PILLION)
                .args(["log", "--json"])
                .current_dir(world.home.workspace())
                .env_clear()
                .envs(world.home.env().iter())
                .output()
                .unwrap();
            String::from_utf8_lossy(&log.stdout).contains("not decided")
        });
    gemini.disconnect();
    world.kakoune.wait_value("%opt{readonly}", "true");
    world.kakoune.input(":q<ret>");
    world
        .kakoune
        .wait_value("%val{buffile}", path.to_str().unwrap());
    let gemini = world.gemini();
    gemini.propose(&path, "two\n");
    world.look();
    let said = "what you had changed in a.txt was kept: :pillion-bring-back";
    world.kakoune.pane().wait_for(said, SOON);
}

#[each_kakoune]
fn writing_and_quitting_everything_decides_nothing_and_says_so(version: KakouneVersion) {
    let world = World::open(version, &[("a.txt", "one\n")]);
    let mut gemini = world.gemini();
    gemini.propose(world.home.workspace().join("a.txt"), "two\n");
    world.look();
    for command in ["waq", "write-all-quit!"] {
        world.kakoune.input(&format!(":{command}<ret>"));
        let said = "this decides nothing: :w accepts, :q rejects";
        world.kakoune.pane().wait_for(said, SOON);
        world.is_pending(&mut gemini, command);
        world.kakoune.input(":nop<ret>");
        world.kakoune.pane().wait_gone(said, SOON);
    }
}

#[each_kakoune]
fn a_key_of_the_persons_decides(version: KakouneVersion) {
    let maps = "map global normal <c-s> ':w<ret>'\nmap global user r ':pillion-reject<ret>'";
    let files = [("a.txt", "one\n")];
    let home = pillion_testkit::Home::new();
    let world = World::with(version, home, &files, |setup| setup.kakrc(maps));
    let mut gemini = world.gemini();
    let path = world.home.workspace().join("a.txt");
    let name = path.display().to_string();
    gemini.propose(&path, "two\n");
    world.look();
    world.kakoune.input("<c-s>");
    assert_eq!(gemini.outcome(), Update::accepted(name.clone(), "two\n"));
    gemini.propose(&path, "three\n");
    world.look();
    world.kakoune.input("<space>r");
    assert_eq!(gemini.outcome(), Update::DiffRejected { path: name });
}

/// A prompt of a person is over once it is closed: what a program writes then was not typed into it.
#[each_kakoune]
fn a_prompt_that_was_closed_decides_nothing(version: KakouneVersion) {
    let world = World::open(version, &[("a.txt", "one\n")]);
    let kakoune = &world.kakoune;
    let mut gemini = world.gemini();
    let path = world.home.workspace().join("a.txt");
    gemini.propose(&path, "two\n");
    world.look();
    for (keys, mode, key) in [
        (":", "normal", "l"),
        (":w", "normal", "l"),
        ("i<a-;>:", "insert", "x"),
    ] {
        kakoune.input(keys);
        kakoune.wait_value("%opt{pillion_mode}", "prompt");
        kakoune.input("<esc>");
        kakoune.wait_value("%opt{pillion_mode}", mode);
        kakoune.command("try %{ write }");
        kakoune.input(key);
        world.is_pending(&mut gemini, keys);
    }
    kakoune.input("<esc>");
    kakoune.wait_value("%opt{pillion_mode}", "normal");
    kakoune.input(":q<ret>");
    let path = path.display().to_string();
    assert_eq!(gemini.outcome(), Update::DiffRejected { path });
}

#[each_kakoune]
fn deleting_the_buffer_rejects_and_keeps_the_edits(version: KakouneVersion) {
    let world = World::open(version, &[("a.txt", "one\n")]);
    let mut gemini = world.gemini();
    let path = world.home.workspace().join("a.txt");
    gemini.propose(&path, "two\r\n");
    world.look();
    world.kakoune.input("geomine<esc>");
    world.kakoune.wait_until("the edit", "%val{bufname}", |_| {
        world.kakoune.text_in_focus() == "two\nmine\n"
    });
    // Otherwise the terminal takes it for Alt and the next key.
    world.kakoune.wait_value("%opt{pillion_mode}", "normal");
    world.kakoune.input(":db<ret>");
    let expected = Update::DiffRejected {
        path: path.display().to_string(),
    };
    assert_eq!(gemini.outcome(), expected);
    world.kakoune.wait_debug("your edits are kept in");
    let kept = fs::read_dir(world.home.tmp()).unwrap().flatten();
    let kept = kept.filter_map(|entry| fs::read_to_string(entry.path().join("a.txt")).ok());
    assert_eq!(kept.collect::<Vec<_>>(), ["two\r\nmine\r\n"]);
    world.kakoune.wait_value("%val{bufname}", "a.txt");
    world.kakoune.assert_no_errors();
}

#[each_kakoune]
fn a_companion_that_is_killed_is_started_again_and_its_texts_stay(version: KakouneVersion) {
    let world = World::open(version, &[("a.txt", "one\n")]);
    let gemini = world.gemini();
    let path = world.home.workspace().join("a.txt");
    gemini.propose(&path, "two\n");
    world.look();
    let port = world.kakoune.get("%opt{pillion_port}");
    world.kakoune.command("set-option global pillion_port 0");
    let folder = world.kakoune.get("%opt{pillion_dir}");
    let pid = folder.rsplit('/').next().unwrap();
    let killed = std::process::Command::new("kill")
        .args(["-KILL", pid])
        .status();
    assert!(killed.unwrap().success());
    world.wait_running();
    assert_eq!(
        world.kakoune.get("%opt{pillion_port}"),
        port,
        "agents find it again"
    );
    world
        .kakoune
        .wait_until("an ordinary buffer", "%val{bufname}", |name| {
            name[0].ends_with("(not answered)")
        });
    assert_eq!(world.kakoune.text_in_focus(), "two\n");
    world.gemini().propose(&path, "three\n");
    world.look();
    assert_eq!(world.kakoune.text_in_focus(), "three\n");
}

/// Whoever reads line 50 goes on reading it when lines are added above, and one `u` takes all of it back.
#[each_kakoune]
fn a_reload_keeps_the_place_in_the_text(version: KakouneVersion) {
    let lines: Vec<String> = (1..=60).map(|it| format!("line {it}\n")).collect();
    let before = lines.concat();
    let after = format!("new\nnew\n{before}");
    let world = World::open(version, &[("a.txt", &before)]);
    let mut gemini = world.gemini();
    let path = world.home.workspace().join("a.txt");
    world.kakoune.input("50gx");
    world.kakoune.wait_value("%val{selection}", "line 50\n");
    gemini.propose(&path, &after);
    world.look();
    world.kakoune.input(":w<ret>");
    gemini.outcome();
    world.kakoune.wait_value("%opt{autoreload}", "no");
    fs::write(&path, &after).unwrap();
    world.kakoune.wait_value("%opt{autoreload}", "ask");
    world.kakoune.wait_value("%val{bufname}", "a.txt");
    world
        .kakoune
        .wait_until("the new text", "%val{bufname}", |_| {
            world.kakoune.text_in_focus() == after
        });
    world.kakoune.wait_value("%val{selection}", "line 50\n");
    world.kakoune.wait_value("%val{cursor_line}", "52");
    world.kakoune.input("u");
    world
        .kakoune
        .wait_until("the text before", "%val{bufname}", |_| {
            world.kakoune.text_in_focus() == before
        });
    world.kakoune.assert_no_errors();
}

#[each_kakoune]
fn a_file_that_an_agent_wrote_is_reloaded_without_a_question(version: KakouneVersion) {
    let world = World::open(version, &[("a.txt", "one\n")]);
    let mut gemini = world.gemini();
    let path = world.home.workspace().join("a.txt");
    gemini.propose(&path, "two\n");
    world.look();
    world.kakoune.input(":w<ret>");
    gemini.outcome();
    world.kakoune.wait_value("%opt{autoreload}", "no");
    fs::write(&path, "two\n").unwrap();
    world.kakoune.wait_value("%opt{autoreload}", "ask");
    world
        .kakoune
        .wait_until("the new text", "%val{bufname}", |_| {
            world.kakoune.text_in_focus() == "two\n"
        });
    assert!(
        !world.kakoune.pane().screen().contains("reload"),
        "{}",
        world.kakoune.describe()
    );
    world.kakoune.assert_no_errors();
}

/// As everywhere: what is written elsewhere is a copy.
#[each_kakoune]
fn writing_a_proposal_to_another_file_decides_nothing(version: KakouneVersion) {
    let world = World::open(version, &[("a.txt", "one\n"), ("there.txt", "there\n")]);
    let kakoune = &world.kakoune;
    let mut gemini = world.gemini();
    let folder = world.home.workspace();
    let path = folder.join("a.txt");
    gemini.propose(&path, "two\n");
    world.look();
    for (at, command) in [
        "w",
        "write",
        "wq",
        "w!",
        "w -force",
        "write -method replace",
    ]
    .into_iter()
    .enumerate()
    {
        let copy = folder.join(format!("copy {at}.txt"));
        kakoune.input(&format!(":{command} '{}'<ret>", copy.display()));
        kakoune.wait_until(command, "%val{bufname}", |_| {
            fs::read_to_string(&copy).is_ok_and(|text| text == "two\n")
        });
        world.is_pending(&mut gemini, command);
    }
    let there = folder.join("there.txt");
    kakoune.input(&format!(":w {}<ret>", there.display()));
    kakoune
        .pane()
        .wait_for("cannot overwrite existing file", SOON);
    assert_eq!(fs::read_to_string(&there).unwrap(), "there\n");
    world.is_pending(&mut gemini, "a file that is there");
    world.look();
    kakoune.input(":w -force<ret>");
    let expected = Update::accepted(path.display().to_string(), "two\n");
    assert_eq!(gemini.outcome(), expected);
}
