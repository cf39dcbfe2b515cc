//! An editor that is killed is expected back; one that its person quits is not.

use std::fs;
use std::process::Command;
use std::time::Instant;

use pillion_discovery::{Environment, state, unended};
use pillion_testkit::{Home, SOON, all_of, each_editor, pause};

use crate::driver::Kind;
use crate::person::{PROPOSED, Person};

#[each_editor]
fn an_editor_that_is_killed_is_expected_back(kind: Kind) {
    // Kakoune ends in the same way when it is asked to by a signal as by its person.
    let is_told = matches!(kind, Kind::Kakoune(_));
    for signal in ["KILL", "TERM"]
        .into_iter()
        .take(if is_told { 1 } else { 2 })
    {
        let person = Person::new(kind);
        let editor = state::list(&environment(&person.home)).remove(0).editors()[0];
        let kill = [format!("-{signal}"), editor.to_string()];
        assert!(Command::new("kill").args(kill).status().unwrap().success());
        assert!(is_expected(&person.home), "{signal}");
    }
}

#[each_editor]
fn an_editor_that_its_person_quits_is_not(kind: Kind) {
    let person = Person::new(kind);
    person.editor.quit();
    assert!(!is_expected(&person.home));
}

/// They are kept whatever the person does, and go to the agent. Nothing asks for the name of a file.
#[each_editor]
fn who_quits_while_notes_wait_is_told_so(kind: Kind) {
    for way in 0..kind.ways_to_quit() {
        let mut person = Person::new(kind);
        person.propose(PROPOSED);
        person.editor.reject_because("use the table");
        person.is_rejected();
        person.wait("the decision", |editor| {
            editor.has_in_status_line("a.txt: rejected")
        });
        if person.editor.try_to_quit(way) {
            person.wait("it is said", |editor| editor.sees("1 note waits"));
            if matches!(kind, Kind::Neovim(_) | Kind::Vim(_)) {
                person.wait("how to quit", |editor| {
                    editor.sees("reads it: the same again quits")
                });
            }
            for asked in ["E212", "E162", "Press ENTER", "Save changes"] {
                assert!(!person.editor.sees(asked), "{}", person.editor.describe());
            }
        }
        person.editor.quit_by(way);
        assert!(!is_expected(&person.home));
    }
}

fn environment(home: &Home) -> Environment {
    Environment::from_pairs([("TMPDIR", home.tmp()), ("XDG_RUNTIME_DIR", home.runtime())])
}

/// Whether a companion is, once everything of ours has ended.
#[track_caller]
fn is_expected(home: &Home) -> bool {
    let is_ours = |pid: &u32| {
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        name.trim() == "pillion"
    };
    let started = Instant::now();
    while all_of(home).iter().any(is_ours) {
        assert!(started.elapsed() < SOON, "Pillion does not end");
        pause(started);
    }
    unended::roots_around(&environment(home), &home.workspace()).is_some()
}
