//! The sets that diffs belong to, and the files that are refused there.

use pillion_view::Proposed as _;

use super::*;

fn of_set(session: &str, path: &str, place: u32, of: u32) -> Proposal {
    Proposal {
        proposer: Proposer::Pillion,
        set: Some((place, of)),
        ..proposal(session, path, "new")
    }
}

/// Proposes a path that leads elsewhere, shows it, and answers the diff with its place, as a view gets it, or the error.
fn propose_at(diffs: &mut Machine, proposal: Proposal, leads_to: &str) -> Result<String, String> {
    let now = Instant::now();
    let mut actions = diffs.open(proposal, "open", now);
    if let Some(&Action::Check(key)) = actions.last() {
        actions = diffs.checked(key, Ok(target(leads_to)), now);
    }
    match actions.pop() {
        Some(Action::Show(diff)) => {
            diffs.shown(diff.key(), Ok(()));
            let set = diff.set.map(|set| format!("{} of set {}", set, set.id));
            Ok(format!("{} {}", diff.id, set.unwrap_or_default()))
        }
        Some(Action::Answer {
            answer: Err(why), ..
        }) => Err(why),
        other => panic!("{other:?}"),
    }
}

/// The same of a path that leads to itself.
fn propose(diffs: &mut Machine, proposal: Proposal) -> String {
    let path = proposal.file_path.clone();
    propose_at(diffs, proposal, &path).unwrap()
}

#[test]
fn a_set_is_what_one_proposer_proposes_and_goes_with_it() {
    let mut diffs = Machine::default();
    for (proposal, expected) in [
        (of_set("s", "/a", 1, 3), "1 1 of 3 of set 1"),
        (of_set("t", "/a", 1, 2), "2 1 of 2 of set 2"),
        (of_set("s", "/b", 2, 3), "3 2 of 3 of set 1"),
        (of_set("t", "/b", 2, 2), "4 2 of 2 of set 2"),
        (of_set("s", "/c", 3, 3), "5 3 of 3 of set 1"),
        (proposal("u", "/e", "new"), "6 "),
    ] {
        assert_eq!(propose(&mut diffs, proposal), expected);
    }
    let gone = diffs.session_gone(&"s".into(), Instant::now());
    let closed = [1, 3, 5].map(|id| format!("close {id} AgentGone"));
    assert_eq!(lines(gone), closed);
    let places: Vec<_> = diffs
        .pending()
        .map(|it| it.set.map(|it| it.place))
        .collect();
    assert_eq!(places, [Some(1), Some(2), None]);
    assert_eq!(
        propose(&mut diffs, of_set("v", "/a", 1, 2)),
        "7 1 of 2 of set 7"
    );
}

#[test]
fn two_paths_to_one_file_are_one_file() {
    let mut diffs = Machine::default();
    propose(&mut diffs, of_set("s", "/a", 1, 3));
    let other = propose_at(&mut diffs, of_set("s", "/link", 2, 3), "/a");
    let refused = r#""/link" and "/a" are the same file"#;
    assert_eq!(other, Err(refused.to_owned()));
    let elsewhere = propose_at(&mut diffs, of_set("s", "/link", 2, 3), "/b");
    assert_eq!(elsewhere.unwrap(), "3 2 of 3 of set 1");
    let in_another = propose_at(&mut diffs, of_set("t", "/also", 1, 2), "/a");
    assert_eq!(in_another.unwrap(), "4 1 of 2 of set 4");
}
