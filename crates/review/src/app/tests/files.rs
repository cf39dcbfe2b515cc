//! The list of the pending diffs: found by typing, opened, and never a way to decide.

use super::*;
use crate::screen::tests::see;

fn with_files() -> Person {
    let mut person = Person::new(100, 12);
    for at in 0..28 {
        let folder = if at % 2 == 0 { "api" } else { "web" };
        let name = format!("src/{folder}/part{at}.rs");
        person.open(&name, Some("a\nb\n"), "a\nB\n");
    }
    person
}

#[test]
fn what_is_typed_finds_a_file_and_enter_opens_it() {
    let mut person = with_files();
    person.press("f");
    let screen = see(&mut person);
    assert!(screen.contains("28 of 28 pending"), "{screen}");
    assert!(
        screen.contains("▶ 1         +1 −1     seen    M   part0.rs"),
        "{screen}"
    );
    assert!(screen.contains("  src/api/"), "{screen}");
    assert!(screen.contains("0/1     M   part2.rs"), "{screen}");
    person.press("WEB 27");
    let screen = see(&mut person);
    assert!(
        screen.contains("1 of 28 pending · type to find: WEB 27▏"),
        "{screen}"
    );
    person.key(KeyCode::Enter);
    assert_eq!(person.app.overlay, None);
    assert_eq!(person.app.view().unwrap().target.shown, "src/web/part27.rs");
    // By the cursor, and back without another one.
    person.press("f");
    for _ in 0..3 {
        person.key(KeyCode::Up);
    }
    person.key(KeyCode::Enter);
    assert_eq!(person.app.view().unwrap().target.shown, "src/web/part21.rs");
    person.press("fnothing fits");
    assert!(see(&mut person).contains("No pending diff fits this."));
    person.key(KeyCode::Enter);
    assert_eq!(person.app.view().unwrap().target.shown, "src/web/part21.rs");
    person.press("f7");
    person.key(KeyCode::Esc);
    assert_eq!(person.app.view().unwrap().target.shown, "src/web/part21.rs");
}

#[test]
fn keys_of_the_diff_decide_nothing_in_the_list() {
    let mut person = with_files();
    person.press("f");
    person.wait(2_000);
    assert_eq!(outcomes(person.press("arRyqza")), []);
    assert_eq!(person.app.views.len(), 28);
    // What has only come into sight again is to be looked at.
    person.key(KeyCode::Esc);
    assert_eq!(outcomes(person.press("a")), []);
}

#[test]
fn the_list_goes_with_its_last_diff_and_follows_those_that_go() {
    let mut person = Person::new(80, 12);
    let first = person.open("a.txt", Some("a\n"), "b\n");
    let second = person.open("b.txt", Some("a\n"), "b\n");
    person.press("f");
    person.key(KeyCode::Down);
    person.close(second).unwrap();
    let screen = see(&mut person);
    assert!(screen.contains("1 of 1 pending"), "{screen}");
    assert!(
        !screen.contains('▶'),
        "nothing takes its place unseen: {screen}"
    );
    person.close(first).unwrap();
    assert_eq!(person.app.overlay, None);
}

#[test]
fn a_file_that_gets_another_name_is_one_entry() {
    let mut person = Person::new(140, 20);
    person.open("a.txt", Some("a\n"), "b\n");
    person.deletes = true;
    person.open("old/name.rs", Some("one\ntwo\n"), "");
    person.open("old/other.rs", Some("three\n"), "");
    person.deletes = false;
    let new = person.open("new/name.rs", None, "one\ntwo\n");
    person.open("new/none.rs", None, "four\n");
    person.key(KeyCode::Tab);
    let screen = see(&mut person);
    for row in [
        "R …me.rs → name.rs",
        "+0 −0   1/2",
        "D   other.rs",
        "proposes to delete old/name.rs · renamed to new/name.rs",
        "A   none.rs",
        "M a.txt",
    ] {
        assert!(screen.contains(row), "{row}: {screen}");
    }
    assert!(!screen.contains("D   name.rs"), "{screen}");
    let marked = screen.lines().find(|line| line.starts_with('▶'));
    assert!(
        marked.unwrap().contains("→ name.rs"),
        "it is of both: {screen}"
    );
    // By either name, in the list that is over everything, too.
    for name in ["old/name", "new/name"] {
        person.press("f");
        person.press(name);
        let screen = see(&mut person);
        assert!(screen.contains("R old/name.rs → new/name.rs"), "{screen}");
        person.key(KeyCode::Enter);
        assert_eq!(person.shown(), new, "{name}");
        let screen = see(&mut person);
        assert!(screen.contains("renamed from old/name.rs"), "{screen}");
    }
}
