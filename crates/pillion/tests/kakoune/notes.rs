//! The notes of the person to the agent beside a decision: a reason, and notes on lines of the proposal.

use std::time::Instant;

use pillion_testkit::{KakouneVersion, SOON, TestAgent, each_kakoune, pause};

use crate::world::{PILLION, World};

/// Waits until the agent is shown this in place of the selection.
#[track_caller]
fn is_told(gemini: &mut TestAgent, told: &str) {
    gemini.context(|context| {
        let file = context.active_file();
        file.is_some_and(|file| {
            let text = file.selected_text.as_deref();
            text.is_some_and(|text| text.contains(told))
        })
    });
}

#[each_kakoune]
fn a_reason_is_the_rest_of_the_line(version: KakouneVersion) {
    let world = World::open(version, &[("a.txt", "one\n")]);
    let kakoune = &world.kakoune;
    let path = world.home.workspace().join("a.txt");
    let mut gemini = world.gemini();
    for (typed, reason) in [
        ("too long", "too long"),
        (
            "it's not what I asked: {x} $(id)",
            "it's not what I asked: {x} $(id)",
        ),
        ("'%sh{touch ran}; fail'", "%sh{touch ran}; fail"),
    ] {
        gemini.propose(&path, "two\n");
        world.look();
        kakoune.input(&format!(":pillion-reject {typed}<ret>"));
        is_told(
            &mut gemini,
            &format!(
                "rejected your change to {} and says: {reason}",
                path.display()
            ),
        );
        kakoune.wait_value("%val{bufname}", "a.txt");
    }
    assert!(!world.home.workspace().join("ran").exists());
    kakoune.assert_no_errors();
}

#[each_kakoune]
fn notes_are_about_the_selected_lines_and_move_with_them(version: KakouneVersion) {
    let world = World::open(version, &[("a.txt", "one\n")]);
    let kakoune = &world.kakoune;
    let path = world.home.workspace().join("a.txt");
    let mut gemini = world.gemini();
    gemini.propose(&path, "a\nb\nc\nd\n");
    world.look();
    kakoune.input("ggjJ");
    kakoune.wait_value("%val{selection_desc}", "2.1,3.1");
    kakoune.input(":pillion-note why<ret>");
    kakoune.pane().wait_for("▸1", SOON);
    // One that is asked for, changed and removed.
    for (text, count) in [
        ("'; quit! %sh{touch ran}", "2 notes go"),
        ("x", "2 notes go"),
        ("", "1 note goes"),
    ] {
        kakoune.input("ge");
        kakoune.wait_until("the last line", "%val{selection_desc}", |place| {
            place[0].starts_with("4.")
        });
        kakoune.input(":pillion-note<ret>");
        kakoune.pane().wait_for("note:", SOON);
        kakoune.input(&format!("{text}<ret>"));
        kakoune.pane().wait_for(count, SOON);
        kakoune.wait_value("%opt{pillion_rest}", "idle");
    }
    kakoune.input("ggOtop<esc>");
    kakoune.wait_until("the edit", "%val{bufname}", |_| {
        kakoune.text_in_focus() == "top\na\nb\nc\nd\n"
    });
    kakoune.wait_value("%opt{pillion_mode}", "normal");
    world.look();
    kakoune.input(":w<ret>");
    is_told(
        &mut gemini,
        &format!(
            "accepted your change to {} and says:\n- lines 3 to 4 (`b`): why",
            path.display()
        ),
    );
    assert!(!world.home.workspace().join("ran").exists());
    kakoune.assert_no_errors();
}

#[each_kakoune]
fn notes_on_what_the_agent_closes_are_in_a_message(version: KakouneVersion) {
    let world = World::open(version, &[("a.txt", "one\n")]);
    let gemini = world.gemini();
    let path = world.home.workspace().join("a.txt");
    gemini.propose(&path, "two\n");
    world.look();
    world.kakoune.input(":pillion-note mine alone<ret>");
    world.kakoune.pane().wait_for("1 note goes", SOON);
    gemini.close(&path).unwrap();
    world
        .kakoune
        .wait_debug("the agent was not told your notes: mine alone");
}

#[each_kakoune]
fn notes_outlive_the_agent(version: KakouneVersion) {
    let world = World::open(version, &[("a.txt", "one\n")]);
    let gemini = world.gemini();
    gemini.propose(world.home.workspace().join("a.txt"), "two\n");
    world.look();
    world.kakoune.input(":pillion-note mine alone<ret>");
    world.kakoune.pane().wait_for("1 note goes", SOON);
    gemini.disconnect();
    world
        .kakoune
        .wait_debug("nothing was decided; the agent was not told your notes: mine alone");
    let log = || {
        let mut log = std::process::Command::new(PILLION);
        log.arg("log").env_clear().envs(world.home.env().iter());
        let log = log.current_dir(world.home.workspace()).output().unwrap();
        String::from_utf8(log.stdout).unwrap()
    };
    let started = Instant::now();
    while !log().contains("mine alone") {
        assert!(started.elapsed() < SOON, "{}", log());
        pause(started);
    }
}

/// Nothing can keep it from quitting: the terminal has it after that.
#[each_kakoune]
fn who_quits_while_a_note_waits_reads_it_in_the_terminal(version: KakouneVersion) {
    let world = World::open(version, &[("a.txt", "one\n")]);
    let kakoune = &world.kakoune;
    let path = world.home.workspace().join("a.txt");
    let gemini = world.gemini();
    gemini.propose(&path, "two\n");
    world.look();
    kakoune.input(":pillion-reject use the table<ret>");
    kakoune.wait_value("%val{bufname}", "a.txt");
    let waits = "1 note waits for its agent, and is kept until it reads it";
    kakoune.wait_value("%opt{pillion_at_quit}", &format!(" {waits}"));
    kakoune.assert_no_errors();
    // Until then, `:q` may have been meant for the view.
    kakoune.wait_value("%opt{pillion_guarded}", "false");
    kakoune.input(":q<ret>");
    assert_eq!(kakoune.wait_exit(), 0);
    let printed = kakoune.pane().scrollback();
    assert!(printed.contains(&format!("pillion: {waits}")), "{printed}");
}
