//! The text that is accepted, and the fate of the others.

use super::*;

/// The text that a message for the person says a private file keeps.
fn kept(second: &mut Second) -> String {
    let said = second.message();
    let path = said.split_whitespace().find_map(|word| {
        let word = word.trim_end_matches(['.', ',', ';', ':']);
        word.starts_with('/')
            .then(|| fs::read_to_string(word).ok())?
    });
    path.unwrap_or_else(|| panic!("{said}"))
}

#[test]
fn each_window_accepts_what_it_shows_and_what_was_written_in_the_other_is_kept_and_said_there() {
    let mut world = World::new();
    let other = IdleProcess::start();
    let target = world.target("a.rs", "a\n");
    let proposal = world.shown(&target, "b\n");
    let mut second = Second::of_another(&world, &other, &proposal);
    let mut third = Second::of_another(&world, &other, &proposal);
    second.did_change(1, "second\n");
    third.did_change(1, "third\n");
    assert_eq!((second.actions().len(), third.actions().len()), (2, 2));
    let answer = third.choose("Accept");
    assert_eq!(answer["result"], Value::Null, "{answer}");
    assert_eq!(world.agent.outcome(), accepted(&target, "third\n"));
    assert_eq!(kept(&mut second), "second\n");
    assert!(second.actions().is_empty());
}

#[test]
fn what_the_editor_that_shows_it_decides_takes_it_from_the_others() {
    for (decision, text) in [
        ("pillion.accept", "b\n"),
        ("pillion.accept", "theirs\n"),
        ("pillion.reject", "b\n"),
    ] {
        let mut world = World::new();
        let other = IdleProcess::start();
        let target = world.target("a.rs", "a\n");
        let proposal = world.shown(&target, "b\n");
        let mut second = Second::of_another(&world, &other, &proposal);
        assert!(!second.diagnostics().is_empty());
        second.did_change(1, "mine\n");
        assert_eq!(second.actions().len(), 2);
        if text != "b\n" {
            world.did_change(&proposal.uri, text);
        }
        let answer = world.execute(decision, json!([1, 1]));
        assert_eq!(answer["result"], Value::Null, "{answer}");
        let expected = match decision {
            "pillion.accept" => accepted(&target, text),
            _ => rejected(&target),
        };
        assert_eq!(world.agent.outcome(), expected);
        while !second.diagnostics().is_empty() {}
        assert_eq!(kept(&mut second), "mine\n");
        wait_gone(&proposal.path);
    }
}

#[test]
fn what_was_not_edited_closes_without_a_word() {
    let mut world = World::new();
    let target = world.target("a.rs", "a\n");
    let proposal = world.shown(&target, "b\n");
    let other = IdleProcess::start();
    let mut second = Second::of_another(&world, &other, &proposal);
    assert!(!second.diagnostics().is_empty());
    world.choose(&proposal, "Accept");
    assert_eq!(world.agent.outcome(), accepted(&target, "b\n"));
    while !second.diagnostics().is_empty() {}
    let said = "window/showMessage".to_owned();
    assert!(!second.editor.passed().contains(&said));
}

#[test]
fn what_another_window_has_saved_is_not_accepted_where_it_is_not_shown() {
    let mut world = World::new();
    let other = IdleProcess::start();
    let target = world.target("a.rs", "a\n");
    let proposal = world.shown(&target, "b\n");
    let mut second = Second::of_another(&world, &other, &proposal);
    second.did_change(1, "saved\n");
    fs::write(&proposal.path, "saved\n").unwrap();
    assert_eq!(second.actions().len(), 2);
    let answer = world.execute("pillion.accept", json!([1, 1]));
    let why = answer["error"]["message"].as_str().unwrap();
    assert!(why.contains("differs here from its file"), "{why}");
    let answer = second.choose("Accept");
    assert_eq!(answer["result"], Value::Null, "{answer}");
    assert_eq!(world.agent.outcome(), accepted(&target, "saved\n"));
}

/// Before its server ran: it is what the window shows, and not what the agent proposed.
#[test]
fn what_was_typed_before_the_window_was_connected_is_accepted() {
    for changes in [&[][..], &["more\n", "mine\n"]] {
        let mut world = World::new();
        let other = IdleProcess::start();
        let target = world.target("a.rs", "a\n");
        let proposal = world.shown(&target, "b\n");
        let mut window = Second::unopened(&world, &other, &proposal);
        window.did_open("mine\n");
        for (version, text) in (1..).zip(changes) {
            window.did_change(version, text);
        }
        let answer = window.choose("Accept");
        assert_eq!(answer["result"], Value::Null, "{answer}");
        assert_eq!(world.agent.outcome(), accepted(&target, "mine\n"));
    }
}

#[test]
fn bytes_that_the_window_does_not_show_stay_as_the_agent_wrote_them() {
    for (proposed, shown, now, expected) in [
        ("b\r\nc\r\n", "b\nc\n", "b\nc\n", "b\r\nc\r\n"),
        ("b\r\nc\r\n", "b\nc\n", "b\nC\n", "b\r\nC\r\n"),
        ("\u{feff}b", "b\n", "b\nnew\n", "\u{feff}b\nnew"),
    ] {
        let mut world = World::new();
        let other = IdleProcess::start();
        let target = world.target("a.rs", "a\n");
        let proposal = world.shown(&target, proposed);
        let mut window = Second::unopened(&world, &other, &proposal);
        window.did_open(shown);
        if now != shown {
            window.did_change(1, now);
        }
        window.choose("Accept");
        assert_eq!(world.agent.outcome(), accepted(&target, expected));
    }
}

#[test]
fn of_what_is_typed_fast_the_highest_version_counts() {
    let mut world = World::new();
    let target = world.target("a.rs", "a\n");
    let proposal = shown_elsewhere(&mut world, &target, "b\n");
    let mut second = Second::of_same_editor(&world, &proposal);
    for version in 1..1000 {
        second.did_change(version, &format!("{version}\n"));
    }
    second.did_change(500, "old\n");
    second.choose("Accept");
    assert_eq!(world.agent.outcome(), accepted(&target, "999\n"));
}

#[test]
fn the_hunks_follow_the_edits() {
    let mut world = World::new();
    let target = world.target("a.rs", "a\nb\n");
    let proposal = shown_elsewhere(&mut world, &target, "a\nB\n");
    let mut second = Second::of_same_editor(&world, &proposal);
    assert_eq!(second.diagnostics()[0]["message"], "b");
    second.did_change(1, "A\nB\n");
    assert_eq!(second.diagnostics()[0]["message"], "a\nb");
}
