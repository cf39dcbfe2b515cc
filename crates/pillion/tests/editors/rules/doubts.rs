//! What a person may not expect of an acceptance is asked, once, in the gate's own words (`pillion/decide`).

use std::fs;
use std::thread::sleep;

use pillion_testkit::{Home, each_editor};
use pillion_view::LOOK;

use crate::driver::{Habit, Kind};
use crate::person::{ORIGINAL, PROPOSED, Person};
use crate::shared_doubts::doubted;

#[each_editor]
fn a_doubt_is_asked_about_once_and_then_the_person_is_obeyed(kind: Kind) {
    let home = Home::new();
    let cwd = home.workspace();
    for row in doubted() {
        row.write(&cwd);
    }
    let open = home.file("a.txt", ORIGINAL);
    let mut person = Person::in_folder(kind, Habit::None, home, cwd.clone(), open);
    for row in doubted() {
        person.path = row.path(&cwd);
        person.propose(&row.proposed);
        if let Some(text) = row.meanwhile {
            fs::write(&person.path, text).unwrap();
        }
        person.editor.accept();
        person.wait(row.code, |editor| editor.sees(row.question));
        sleep(LOOK);
        person.accept_whatever_is_asked();
        person.is_accepted(&row.proposed);
    }
}

/// Another program has written the file while the proposal is there.
#[each_editor]
fn a_change_on_disk_that_was_merged_in_is_not_asked_about(kind: Kind) {
    for is_taken_back in [false, true] {
        let mut person = Person::new(kind);
        person.propose(PROPOSED);
        fs::write(&person.path, format!("theirs\n{ORIGINAL}")).unwrap();
        let merged = format!("theirs\n{PROPOSED}");
        person.editor.command("merge", "");
        person.wait("both", |editor| editor.text() == merged);
        if is_taken_back {
            person.editor.undo();
            person.wait("the proposal alone", |editor| editor.text() == PROPOSED);
        }
        person.look();
        person.editor.accept();
        if is_taken_back {
            person.wait("a question", |editor| {
                editor.sees("that change would be lost")
            });
            person.accept_whatever_is_asked();
        }
        person.is_accepted(if is_taken_back { PROPOSED } else { &merged });
        person.editor.assert_no_errors();
    }
}
