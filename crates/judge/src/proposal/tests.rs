//! Rules that must hold for every proposal, whatever the texts are.

use pillion_text::endings;
use proptest::prelude::*;

use super::*;
use crate::rows::{Layout, Rows, Unfolding};

fn lines(proposal: &Proposal) -> Vec<(usize, usize)> {
    let hunks = proposal.hunks().iter();
    hunks
        .map(|hunk| (hunk.before.start + 1, hunk.after.len()))
        .collect()
}

/// The number of hunks that have this mark.
fn marked(proposal: &Proposal, mark: Mark) -> usize {
    let hunks = proposal.hunks().iter();
    hunks.filter(|hunk| hunk.mark == Some(mark)).count()
}

#[test]
fn a_hunk_that_is_out_leaves_the_original_lines() {
    let mut proposal = Proposal::new(Some(Text::new("a\nb\nc\nd\ne\n")), "a\nB\nc\nd\nE\n");
    assert_eq!(lines(&proposal), [(2, 1), (5, 1)]);
    assert_eq!(proposal.toggle(0), Ok(true));
    assert_eq!(proposal.text(), "a\nb\nc\nd\nE\n");
    assert_eq!(
        proposal.count(),
        Count {
            added: 1,
            removed: 1,
            hunks: 2,
            out: 1
        }
    );
    assert!(!proposal.is_nothing());
    assert_eq!(proposal.toggle(1), Ok(true));
    assert!(proposal.is_nothing());
    assert_eq!(proposal.toggle(9), Ok(false));
}

#[test]
fn lines_of_hunks_are_taken_out_by_themselves() {
    let before = "a\nb\nc\nd\n";
    let after = "a\nB1\nB2\nc\nd\nF\nG\n";
    for layout in [Layout::SideBySide, Layout::Unified] {
        let new = || Proposal::new(Some(Text::new(before)), after);
        let mut proposal = new();
        let rows = Rows::new(&proposal, layout, &Unfolding::default());
        let row = |side, line| rows.of(side, line).unwrap();
        // Of one hunk an added line,
        let added = row(Side::Right, 2);
        assert_eq!(
            proposal.toggle_lines(&rows.parts(added..added + 1)),
            Ok(true)
        );
        assert_eq!(proposal.text(), "a\nB1\nc\nd\nF\nG\n", "{layout:?}");
        assert_eq!(proposal.undo(), Some(Change::Toggled));
        assert_eq!(proposal.text(), after);
        // a removed one, and rows of two hunks with what is between.
        if layout == Layout::Unified {
            let removed = row(Side::Left, 1);
            proposal
                .toggle_lines(&rows.parts(removed..removed + 1))
                .unwrap();
            assert_eq!(proposal.text(), "a\nb\nB1\nB2\nc\nd\nF\nG\n");
        }
        let mut proposal = new();
        let two = row(Side::Right, 2)..row(Side::Right, 5) + 1;
        let two = rows.parts(two);
        assert_eq!(two.len(), 2);
        assert_eq!(proposal.toggle_lines(&two), Ok(true));
        assert_eq!(proposal.text(), "a\nB1\nc\nd\nG\n", "{layout:?}");
        let rows = Rows::new(&proposal, layout, &Unfolding::default());
        let again = rows.parts(0..rows.count());
        let out: Vec<_> = again
            .into_iter()
            .filter(|it| proposal.hunks()[it.hunk].out)
            .collect();
        assert_eq!(proposal.toggle_lines(&out), Ok(false));
        assert_eq!(proposal.text(), after);
    }
}

#[test]
fn lines_that_undo_a_newer_change_of_the_file_say_so_as_often_as_they_come_and_go() {
    let mut proposal = Proposal::new(Some(Text::new("a\nb\nc\n")), "A\nb\nC\n");
    proposal.rebase(Some(Text::new("a\nb\nmine\n")));
    assert_eq!(marked(&proposal, Mark::Conflict), 1);
    for _ in 0..2 {
        let rows = Rows::new(&proposal, Layout::Unified, &Unfolding::default());
        let all = rows.parts(0..rows.count());
        proposal.toggle_lines(&all).unwrap();
        assert_eq!(marked(&proposal, Mark::Conflict), 1);
    }
}

proptest! {
    #[test]
    fn what_is_split_is_the_same_text_until_lines_are_out(
        before in "([abc]\n){0,8}[abc]?",
        after in "([abc]\n){0,8}[abc]?",
        from in 0_usize..12,
        count in 0_usize..12,
        unified: bool,
    ) {
        let layout = if unified { Layout::Unified } else { Layout::SideBySide };
        let mut proposal = Proposal::new(Some(Text::new(before.clone())), &after);
        let rows = Rows::new(&proposal, layout, &Unfolding::default());
        let parts = rows.parts(from..from + count);
        let is_out = proposal.toggle_lines(&parts).unwrap();
        prop_assert_eq!(is_out, !parts.is_empty());
        let (left, right) = (proposal.before(), proposal.after());
        prop_assert!(hunks::is_sound(left, right, proposal.hunks()));
        for hunk in 0..proposal.hunks().len() {
            if proposal.hunks()[hunk].out {
                proposal.toggle(hunk).unwrap();
            }
        }
        prop_assert_eq!(proposal.text(), after);
    }
}

#[test]
fn a_new_file_is_one_hunk_and_out_it_is_empty() {
    let mut proposal = Proposal::new(None, "a\nb");
    assert!(proposal.is_new_file());
    assert_eq!(proposal.hunks().len(), 1);
    assert_eq!(proposal.toggle(0), Ok(true));
    assert_eq!(proposal.text(), "");
}

#[test]
fn lines_that_are_no_text_cannot_come_back_but_others_can() {
    let mut proposal = Proposal::new(
        Some(Text::new(b"a\xff\nb\nc\nd\n".to_vec())),
        "A\nb\nc\nD\n",
    );
    assert_eq!(proposal.toggle(0), Err(NotText));
    assert_eq!(proposal.toggle(1), Ok(true));
    assert_eq!(proposal.text(), "A\nb\nc\nd\n");
}

#[test]
fn every_change_can_be_taken_back_and_done_again() {
    let mut proposal = Proposal::new(Some(Text::new("a\nb\nc\n")), "A\nb\nC\n");
    assert_eq!(proposal.undo(), None);
    proposal.toggle(0).unwrap();
    assert!(proposal.edit("mine\n"));
    assert!(!proposal.edit("mine\n"));
    proposal.replace(Some(Text::new("a\nb\nc\n")), "newer\n");
    assert_eq!(proposal.undo(), Some(Change::Proposed));
    assert_eq!(proposal.text(), "mine\n");
    assert_eq!(proposal.undo(), Some(Change::Edited));
    assert_eq!(proposal.text(), "a\nb\nC\n");
    assert_eq!(proposal.undo(), Some(Change::Toggled));
    assert_eq!(proposal.text(), "A\nb\nC\n");
    assert_eq!(proposal.redo(), Some(Change::Toggled));
    assert_eq!(proposal.redo(), Some(Change::Edited));
    assert_eq!(proposal.text(), "mine\n");
}

#[test]
fn a_change_after_undo_loses_nothing() {
    let mut proposal = Proposal::new(Some(Text::new("a\nb\nc\n")), "A\nb\nC\n");
    proposal.edit("typed\n");
    proposal.undo();
    proposal.toggle(0).unwrap();
    let mut texts = Vec::new();
    while proposal.undo().is_some() {
        texts.push(proposal.text());
    }
    assert!(texts.contains(&"typed\n".to_owned()), "{texts:?}");
}

#[test]
fn what_was_undone_is_given_up_by_the_next_act() {
    let mut proposal = Proposal::new(Some(Text::new("a\nb\nc\n")), "A\nb\nC\n");
    proposal.toggle(0).unwrap();
    proposal.toggle(1).unwrap();
    proposal.undo();
    proposal.undo();
    proposal.toggle(1).unwrap();
    assert_eq!(proposal.text(), "A\nb\nc\n");
    assert_eq!(proposal.undo(), Some(Change::Toggled));
    assert_eq!(proposal.text(), "A\nb\nC\n");
    assert_eq!(proposal.undo(), None, "nothing is taken out again");
    // Whatever the agent does gives nothing up.
    proposal.replace(Some(Text::new("a\nb\nc\n")), "newer\n");
    assert_eq!(proposal.undo(), Some(Change::Proposed));
    assert_eq!(proposal.undo(), Some(Change::Left));
    assert_eq!(proposal.text(), "A\nb\nc\n");
}

#[test]
fn another_text_of_the_file_is_merged_and_decisions_stand() {
    let mut proposal = Proposal::new(Some(Text::new("a\nb\nc\nd\n")), "A\nb\nc\nD\n");
    proposal.toggle(0).unwrap();
    assert!(!proposal.rebase(Some(Text::new("a\nb\nc\nd\n"))));
    assert!(proposal.rebase(Some(Text::new("a\nb\nmore\nc\nd\n"))));
    assert_eq!(proposal.text(), "a\nb\nmore\nc\nD\n");
    assert_eq!(marked(&proposal, Mark::Reverts), 1);
    proposal.toggle(0).unwrap();
    assert_eq!(proposal.text(), "A\nb\nmore\nc\nD\n");
    assert_eq!(proposal.undo(), Some(Change::Toggled));
    assert_eq!(proposal.undo(), Some(Change::Rebased));
    assert!(!proposal.is_current());
    assert_eq!(proposal.text(), "a\nb\nc\nD\n");
    assert_eq!(proposal.redo(), Some(Change::Rebased));
    assert!(proposal.is_current());
    // The agent does not know of the newer line, and says the same again.
    let newer = Some(Text::new("a\nb\nmore\nc\nd\n"));
    proposal.replace(newer, "A\nb\nc\nD\nE\n");
    assert_eq!(proposal.text(), "a\nb\nmore\nc\nD\nE\n");
    assert_eq!(marked(&proposal, Mark::Reverts), 1);
}

#[test]
fn a_merge_keeps_line_ends_byte_order_marks_and_a_missing_newline() {
    let mut proposal = Proposal::new(Some(Text::new("\u{feff}a\r\nb\r\nc")), "\u{feff}a\nB\nc");
    assert!(proposal.rebase(Some(Text::new("\u{feff}a\r\nb\r\nc\r\nd"))));
    assert!(proposal.ignores_endings());
    assert_eq!(proposal.text(), "\u{feff}a\nB\nc\nd", "as agents write it");
    let mut proposal = Proposal::new(Some(Text::new("a\r\nb\r\n")), "a\r\nB\r\n");
    assert!(proposal.rebase(Some(Text::new("x\r\na\r\nb\r\n"))));
    assert_eq!(proposal.text(), "x\r\na\r\nB\r\n");
}

#[test]
fn a_file_that_vanished_or_appeared_loses_nothing() {
    let mut proposal = Proposal::new(Some(Text::new("a\nb\nc\n")), "A\nb\nC\n");
    proposal.toggle(0).unwrap();
    assert!(proposal.rebase(None));
    assert!(proposal.is_new_file());
    assert_eq!(proposal.text(), "a\nb\nC\n");
    let mut proposal = Proposal::new(None, "new\n");
    assert!(proposal.rebase(Some(Text::new("there\n"))));
    assert_eq!(proposal.text(), "there\n");
    assert_eq!(marked(&proposal, Mark::Conflict), 1);
}

#[test]
fn a_decision_is_about_a_hunk_in_its_place() {
    let mut proposal = Proposal::new(Some(Text::new("a\nb\nc\nd\n")), "a\n+\nb\nc\n+\nd\n");
    proposal.toggle(1).unwrap();
    // Another line above moves both.
    let original = || Some(Text::new("top\na\nb\nc\nd\n"));
    proposal.replace(original(), "top\na\n+\nb\nc\n+\nd\n");
    assert_eq!(proposal.text(), "top\na\n+\nb\nc\nd\n");
    // It goes and comes back.
    proposal.replace(original(), "top\na\n+\nb\nc\nd\n");
    proposal.replace(original(), "top\na\n+\nb\nc\n+\nd\n");
    assert_eq!(proposal.text(), "top\na\n+\nb\nc\nd\n");
    assert!(proposal.hunks().iter().all(|hunk| hunk.mark.is_none()));
}

#[test]
fn another_text_altogether_is_marked_as_new() {
    let mut proposal = Proposal::new(Some(Text::new("a\n")), "b\n");
    proposal.replace(Some(Text::new("a\n")), "c\nd\n");
    assert_eq!(marked(&proposal, Mark::New), 1);
}

/// Lines with numbers below `different`, in an order that depends on the seed.
fn long_text(mut seed: u64, different: u64) -> String {
    let mut line = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        format!("{}\n", (seed >> 33) % different)
    };
    (0..200_000).map(|_| line()).collect()
}

#[test]
fn long_texts_in_another_order_do_not_take_minutes() {
    for different in [5, 50, 100_000] {
        let (before, after) = (long_text(1, different), long_text(99, different));
        let mut proposal = Proposal::new(Some(Text::new(before.as_str())), &after);
        assert_eq!(proposal.text(), after);
        for hunk in 0..proposal.hunks().len().min(100) {
            proposal.toggle(hunk).unwrap();
        }
        while proposal.undo().is_some() {}
        assert_eq!(proposal.text(), after);
        let rows = Rows::new(&proposal, Layout::SideBySide, &Default::default());
        assert!(!rows.of_hunk(0).is_empty());
    }
}

/// Texts that share lines, with every kind of line end.
fn texts() -> impl Strategy<Value = (String, String)> {
    let line = prop_oneof![
        Just("a\n"),
        Just("b\n"),
        Just("\n"),
        Just("  {\n"),
        Just("  }\n"),
        Just("c\r\n"),
        Just("d\re\n"),
        Just("\u{feff}x\n"),
        Just("\u{2028}\n"),
        Just("\0\n"),
        Just("é\n"),
    ];
    let end = prop_oneof![Just(""), Just("end"), Just("\r"), Just("🦀")];
    let text =
        (prop::collection::vec(line, 0..20), end).prop_map(|(lines, end)| lines.concat() + end);
    (text.clone(), text)
}

/// The text before, to the byte unless its line endings are not compared.
fn as_compared(before: &str, after: &str) -> String {
    let text = endings::comparable(Text::new(before), after);
    String::from_utf8(text.bytes().to_vec()).unwrap()
}

#[test]
fn a_file_with_crlf_is_compared_with_a_proposal_with_lf_line_by_line() {
    let mut proposal = Proposal::new(Some(Text::new("a\r\nb\r\nc\r\n")), "a\nB\nc\n");
    assert!(proposal.ignores_endings());
    assert_eq!(lines(&proposal), [(2, 1)]);
    assert_eq!(proposal.text(), "a\nB\nc\n");
    proposal.toggle(0).unwrap();
    assert_eq!(proposal.text(), "a\nb\nc\n", "never mixed");
    proposal.replace(Some(Text::new("a\r\n")), "b\r\n");
    assert!(!proposal.ignores_endings());
}

proptest! {
    #[test]
    fn all_in_is_the_proposal_and_all_out_the_original((before, after) in texts()) {
        let mut proposal = Proposal::new(Some(Text::new(before.as_str())), &after);
        prop_assert_eq!(proposal.text(), after.clone());
        for hunk in 0..proposal.hunks().len() {
            prop_assert_eq!(proposal.toggle(hunk), Ok(true));
        }
        prop_assert_eq!(proposal.text(), as_compared(&before, &after));
        while proposal.undo().is_some() {}
        prop_assert_eq!(proposal.text(), after);
    }

    #[test]
    fn any_two_texts_come_back(before: String, after: String) {
        let mut proposal = Proposal::new(Some(Text::new(before.as_str())), &after);
        prop_assert_eq!(proposal.text(), after.clone());
        for hunk in 0..proposal.hunks().len() {
            prop_assert_eq!(proposal.toggle(hunk), Ok(true));
        }
        prop_assert_eq!(proposal.text(), as_compared(&before, &after));
    }

    #[test]
    fn toggling_any_hunks_twice_changes_nothing(
        (before, after) in texts(),
        picks in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let mut proposal = Proposal::new(Some(Text::new(before)), &after);
        let count = proposal.hunks().len();
        prop_assume!(count > 0);
        let picks: Vec<_> = picks.iter().map(|pick| pick.index(count)).collect();
        for hunk in picks.iter().chain(&picks) {
            proposal.toggle(*hunk).unwrap();
        }
        prop_assert_eq!(proposal.text(), after);
    }
}

#[test]
fn a_hunk_that_was_split_is_split_in_a_newer_proposal_too() {
    let before = "a\nb\nc\nd\ne\nf\ng\n";
    for out in [0, 1, 2] {
        let mut proposal = Proposal::new(Some(Text::new(before)), "a\nB\nC\nD\ne\nf\ng\n");
        let part = |lines: Range<usize>| Part {
            hunk: 0,
            before: lines.clone(),
            after: lines,
        };
        assert!(proposal.split(&[part(2..3)]));
        proposal.toggle(out).unwrap();
        let hunks = proposal.hunks().to_vec();
        // Something else is new, and lines came above.
        let newer = Text::new(format!("top\n{before}"));
        proposal.replace(Some(newer), "top\na\nB\nC\nD\ne\nf\nG\n");
        let is_out: Vec<_> = proposal.hunks().iter().map(|hunk| hunk.out).collect();
        let expected: Vec<_> = { hunks.iter() }
            .map(|hunk| hunk.out)
            .chain([false])
            .collect();
        assert_eq!(is_out, expected, "{out}");
        assert_eq!(lines(&proposal), [(3, 1), (4, 1), (5, 1), (8, 1)]);
        assert_eq!(marked(&proposal, Mark::Changed), 0, "{out}");
        assert_eq!(marked(&proposal, Mark::New), 1);
        // What is another hunk now is one hunk, and says so.
        proposal.replace(Some(Text::new(before)), "a\nB\nC\nother\ne\nf\nG\n");
        assert_eq!(lines(&proposal), [(2, 3), (7, 1)]);
        assert_eq!(marked(&proposal, Mark::Changed), 1, "{out}");
    }
}
