//! The sets that diffs belong to, and the proposals that are refused.

use pillion_protocol::SetArgument;

use super::*;

fn of_set(session: &str, path: &str, name: &str, place: u32, of: u32) -> Proposal {
    let name = name.to_owned();
    Proposal {
        agent: Dialect::Script,
        set: Some(SetArgument { name, place, of }),
        ..proposal(session, path, "new")
    }
}

/// Proposes, shows, and answers the diff with its place, as a view gets it, or the error.
fn propose(diffs: &mut Machine, proposal: Proposal) -> Result<String, String> {
    let path = proposal.file_path.clone();
    propose_at(diffs, proposal, &path)
}

/// The same of a path that leads elsewhere.
fn propose_at(diffs: &mut Machine, proposal: Proposal, leads_to: &str) -> Result<String, String> {
    let now = Instant::now();
    let mut actions = diffs.open(proposal, "open", now);
    if let Some(Action::Check(wanted)) = actions.last() {
        let (id, revision) = (wanted.id, wanted.revision);
        actions = diffs.checked(id, revision, Ok(target(leads_to)), now);
    }
    match actions.pop() {
        Some(Action::Show(diff)) => {
            diffs.shown(diff.id, diff.revision, Ok(()));
            let set = diff.set.map(|set| format!("{} of set {}", set, set.id));
            Ok(format!(
                "{}.{} {}",
                diff.id,
                diff.revision,
                set.unwrap_or_default()
            ))
        }
        Some(Action::Answer {
            answer: Err(why), ..
        }) => Err(why),
        other => panic!("{other:?}"),
    }
}

fn ok(what: &str) -> Result<String, String> {
    Ok(what.to_owned())
}

fn refused(why: &str) -> Result<String, String> {
    Err(format!("openDiff: set: {why}"))
}

#[test]
fn a_set_is_what_a_session_calls_by_one_name() {
    let mut diffs = Machine::default();
    for (proposal, expected) in [
        (of_set("s", "/a", "x", 1, 3), "1.1 1 of 3 of set 1"),
        (of_set("s", "/b", "y", 1, 2), "2.1 1 of 2 of set 2"),
        (of_set("s", "/c", "x", 3, 3), "3.1 3 of 3 of set 1"),
        (of_set("t", "/a", "x", 2, 3), "4.1 2 of 3 of set 3"),
        (of_set("s", "/d", "y", 2, 2), "5.1 2 of 2 of set 2"),
        (proposal("s", "/e", "new"), "6.1 "),
    ] {
        assert_eq!(propose(&mut diffs, proposal), ok(expected));
    }
    let places: Vec<_> = diffs
        .pending()
        .map(|it| it.set.map(|it| it.place))
        .collect();
    assert_eq!(places, [Some(1), Some(1), Some(3), Some(2), Some(2), None]);
}

#[test]
fn a_newer_revision_keeps_its_place() {
    let mut diffs = Machine::default();
    let first = of_set("s", "/a", "x", 2, 3);
    assert_eq!(propose(&mut diffs, first), ok("1.1 2 of 3 of set 1"));
    let same = of_set("s", "/a", "x", 2, 3);
    assert_eq!(propose(&mut diffs, same), ok("1.2 2 of 3 of set 1"));
    let nameless = Proposal {
        set: None,
        deletes: false,
        ..of_set("s", "/a", "", 1, 1)
    };
    assert_eq!(propose(&mut diffs, nameless), ok("1.3 2 of 3 of set 1"));
    diffs.resolved(DiffId(1), 3, Outcome::Rejected);
    let again = of_set("s", "/a", "x", 2, 3);
    assert_eq!(propose(&mut diffs, again), ok("2.1 2 of 3 of set 1"));
}

#[test]
fn a_file_has_one_place_and_a_place_has_one_file() {
    let mut diffs = Machine::default();
    propose(&mut diffs, of_set("s", "/a", "x", 1, 3)).unwrap();
    propose(&mut diffs, proposal("s", "/alone", "new")).unwrap();
    for (proposal, why) in [
        (
            of_set("s", "/a", "x", 2, 3),
            r#""/a" is file 1 of 3 of this set already"#,
        ),
        (
            of_set("s", "/b", "x", 1, 3),
            r#"file 1 of 3 is "/a" already"#,
        ),
        (of_set("s", "/b", "x", 2, 4), "this set has 3 files, not 4"),
        (
            of_set("s", "/a", "y", 1, 3),
            r#""/a" is pending already, and not in this set"#,
        ),
        (
            of_set("s", "/alone", "x", 2, 3),
            r#""/alone" is pending already, and not in this set"#,
        ),
    ] {
        assert_eq!(propose(&mut diffs, proposal), refused(why));
    }
    assert_eq!(diffs.pending().count(), 2, "what was there stays");
    let second = of_set("s", "/b", "x", 2, 3);
    assert_eq!(propose(&mut diffs, second), ok("3.1 2 of 3 of set 1"));
}

#[test]
fn two_paths_to_one_file_are_one_file() {
    let mut diffs = Machine::default();
    propose(&mut diffs, of_set("s", "/a", "x", 1, 3)).unwrap();
    let other = propose_at(&mut diffs, of_set("s", "/link", "x", 2, 3), "/a");
    assert_eq!(other, refused(r#""/link" and "/a" are the same file"#));
    let elsewhere = propose_at(&mut diffs, of_set("s", "/link", "x", 2, 3), "/b");
    assert_eq!(elsewhere, ok("3.1 2 of 3 of set 1"));
    let in_another = propose_at(&mut diffs, of_set("s", "/also", "y", 1, 1), "/a");
    assert_eq!(in_another, ok("4.1 1 of 1 of set 2"));
}

#[test]
fn a_withdrawn_file_leaves_its_place_and_a_dead_proposer_all() {
    let mut diffs = Machine::default();
    let now = Instant::now();
    for (path, place) in [("/a", 1), ("/b", 2), ("/c", 3)] {
        propose(&mut diffs, of_set("s", path, "x", place, 3)).unwrap();
    }
    let closed = diffs.close(&"s".into(), "/b", None, "close", now);
    assert_eq!(lines(closed), ["close 2 ClosedByAgent"]);
    diffs.closed(DiffId(2), 1, Ok("new".to_owned()));
    let in_its_place = of_set("s", "/d", "x", 2, 3);
    assert_eq!(propose(&mut diffs, in_its_place), ok("4.1 2 of 3 of set 1"));
    let gone = diffs.session_gone(&"s".into(), now);
    assert_eq!(
        lines(gone),
        [
            "close 1 AgentGone",
            "close 3 AgentGone",
            "close 4 AgentGone"
        ]
    );
    let new = of_set("t", "/a", "x", 1, 2);
    assert_eq!(propose(&mut diffs, new), ok("5.1 1 of 2 of set 2"));
}

#[test]
fn sets_without_an_open_file_are_forgotten_in_the_end() {
    let mut diffs = Machine::default();
    propose(&mut diffs, of_set("s", "/open", "open", 1, 2)).unwrap();
    for number in 0..300 {
        let name = number.to_string();
        let id = DiffId(number + 2);
        propose(&mut diffs, of_set("s", "/a", &name, 1, 2)).unwrap();
        diffs.resolved(id, 1, Outcome::Rejected);
    }
    let mut next = |path, name| propose(&mut diffs, of_set("s", path, name, 2, 2)).unwrap();
    assert!(next("/b", "open").ends_with("of set 1"));
    assert!(next("/c", "299").ends_with("of set 301"));
    assert!(next("/d", "0").ends_with("of set 302"), "it was forgotten");
}
