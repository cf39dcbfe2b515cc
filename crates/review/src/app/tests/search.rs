//! What is searched for is found in all pending diffs, in folds and on both sides, and read where it stands.

use super::*;

/// Searches as a person does.
fn search(person: &mut Person, text: &str) {
    person.press("/");
    person.press(text);
    person.key(KeyCode::Enter);
}

/// The file, and the line of its text that is at the hit.
fn at(person: &Person) -> (String, String) {
    let message = person.message().to_owned();
    let name = person.app.view().unwrap().target.shown.clone();
    (name, message)
}

#[test]
fn hits_are_walked_through_all_diffs_and_around() {
    let mut person = Person::new(80, 24);
    let lines = |word: &str| {
        format!(
            "{}{word}\n{}old {word}\n",
            "-\n".repeat(40),
            "-\n".repeat(40)
        )
    };
    person.open("a.txt", Some(&lines("one")), &lines("two"));
    person.open("b.txt", Some(&lines("six")), &lines("Two"));
    search(&mut person, "two");
    let mut walked = vec![at(&person)];
    for key in ["n", "n", "n", "n", "N", "N"] {
        person.press(key);
        walked.push(at(&person));
    }
    let said: Vec<_> = walked
        .iter()
        .map(|(name, said)| (name.as_str(), said.split(" · ").next().unwrap()))
        .collect();
    let (a, b) = ("a.txt", "b.txt");
    assert_eq!(
        said,
        [
            (a, "1 of 2 hits in a.txt"),
            (a, "2 of 2 hits in a.txt"),
            (b, "1 of 2 hits in b.txt"),
            (b, "2 of 2 hits in b.txt"),
            (a, "1 of 2 hits in a.txt"),
            (b, "2 of 2 hits in b.txt"),
            (b, "1 of 2 hits in b.txt"),
        ]
    );
    // With a capital, the case counts.
    search(&mut person, "Two");
    assert!(
        person.message().starts_with("1 of 2 hits in b.txt"),
        "{}",
        person.message()
    );
    // The line before is found where only that has it.
    search(&mut person, "old one");
    assert!(
        person.message().starts_with("1 of 1 hit in a.txt"),
        "{}",
        person.message()
    );
    search(&mut person, "nowhere");
    assert_eq!(person.message(), "\"nowhere\" is in no pending diff");
    assert!(person.app.search.is_none());
}

/// The hit that was gone to last is in a diff that has gone, or in another one by now: it goes on from what is in sight.
#[test]
fn the_hit_before_is_found_where_the_last_one_is_not_known() {
    let mut person = Person::new(80, 24);
    let text: String = (0..60).map(|line| format!("two {line}\n")).collect();
    person.open("a.txt", None, "two\n");
    let second = person.open("b.txt", None, &text);
    search(&mut person, "two");
    person.key(KeyCode::Tab);
    assert_eq!(person.shown(), second);
    person.press("jjj");
    person.press("N");
    assert!(
        person.message().starts_with("3 of 60 hits in b.txt"),
        "{}",
        person.message()
    );
    person.close(DiffId(1)).unwrap();
    person.press("N");
    assert!(
        person.message().contains(" of 60 hits in b.txt"),
        "{}",
        person.message()
    );
}

#[test]
fn a_hit_in_a_fold_is_unfolded_and_after_esc_the_same_key_reads_on() {
    let mut person = Person::new(80, 24);
    let [before, after] = ["a", "A"].map(|word| {
        let numbers: String = (0..90).map(|line| format!("{line}\n")).collect();
        format!("{word}\n{numbers}{word}\n")
    });
    person.open("a.txt", Some(&before), &after);
    search(&mut person, "77");
    let screen = crate::screen::tests::see(&mut person);
    assert!(screen.contains("❯ 79 79   77\n"), "{screen}");
    assert!(screen.contains("n/N hit"), "{screen}");
    person.key(KeyCode::Esc);
    assert!(person.app.search.is_none());
    person.press("n");
    assert_eq!(
        person.app.view().unwrap().hunk,
        1,
        "the last is not seen yet"
    );
}

#[test]
fn a_hit_far_to_the_right_is_brought_into_sight() {
    let mut person = Person::new(80, 24);
    let line = format!("{}needle{}\n", "ä ".repeat(300), " ö".repeat(300));
    person.open("a.txt", None, &line);
    for key in ["", "w"] {
        person.press(key);
        search(&mut person, "NEEDLE".to_lowercase().as_str());
        let screen = crate::screen::tests::see(&mut person);
        assert!(screen.contains("needle"), "{screen}");
    }
}

/// A letter may have another length in lower case, and none is cut.
#[test]
fn hits_are_whole_characters() {
    for (text, line, expected) in [
        ("ss", "Straße SS ss", vec!["SS", "ss"]),
        ("i", "İi", vec!["İ", "i"]),
        ("é", "É é e", vec!["É", "é"]),
        ("aa", "aaaa", vec!["aa", "aa"]),
        ("K", "k K", vec!["K"]),
    ] {
        let mut person = Person::new(80, 24);
        person.open("a.txt", None, &format!("{line}\n"));
        search(&mut person, text);
        let search = person.app.search.clone().unwrap();
        let found = search.in_line(line).into_iter().map(|range| &line[range]);
        assert_eq!(found.collect::<Vec<_>>(), expected, "{text}");
    }
}

#[test]
fn a_line_is_gone_to_by_its_number() {
    let mut person = Person::new(80, 24);
    let before: String = (1..=200).map(|line| format!("line {line}\n")).collect();
    let after = before.replace("line 5\n", "five\n");
    person.open("a.txt", Some(&before), &after);
    for (typed, expected) in [
        ("120", "line 120"),
        ("5", "five"),
        (" 200 ", "line 200"),
        ("0", "a line has a number from 1"),
        ("x", "a line has a number from 1"),
        ("201", "the proposed text has 200 lines"),
    ] {
        person.press(":");
        person.press(typed);
        person.key(KeyCode::Enter);
        let screen = crate::screen::tests::see(&mut person);
        assert!(screen.contains(expected), "{typed}: {screen}");
    }
    // Nothing is typed: nothing happens. And the diff may go meanwhile.
    for key in [":", "/"] {
        person.press(key);
        person.key(KeyCode::Enter);
    }
    person.press("/line");
    person.close(DiffId(1)).unwrap();
    person.key(KeyCode::Enter);
    person.press(":7");
    person.key(KeyCode::Enter);
}

#[test]
fn the_word_that_changes_is_searched_as_a_whole_from_the_cursor_on() {
    let mut person = Person::new(100, 24);
    let text =
        |name: &str| format!("let {name} = 1;\nlet {name}s = 2;\nuse({name});\n---\n{name}\n");
    person.open("a.rs", Some(&text("old")), &text("new"));
    person.open("b.rs", Some("new\n"), "New new_one new\n");
    person.press("*");
    let mut walked = vec![at(&person)];
    for key in ["n", "n", "n"] {
        person.press(key);
        walked.push(at(&person));
    }
    let said: Vec<_> = { walked.iter() }
        .map(|(_, said)| said.split(" · ").next().unwrap())
        .collect();
    let expected = [
        "2 of 3 hits in a.rs",
        "3 of 3 hits in a.rs",
        "1 of 2 hits in b.rs",
        "2 of 2 hits in b.rs",
    ];
    assert_eq!(said, expected, "neither `news` nor `New`");
    // Of a line that stays, its first word; of none, nothing.
    let mut person = Person::new(120, 24);
    person.open("a.txt", Some("a b\n  -\nx\n"), "a b\n  -\ny\n");
    person.press("g*");
    assert!(
        person.message().starts_with("1 of 1 hit"),
        "{}",
        person.message()
    );
    person.key(KeyCode::Esc);
    person.press("j*");
    assert_eq!(person.message(), "there is no word in this line");
}
