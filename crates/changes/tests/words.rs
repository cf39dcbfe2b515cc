//! What a person says to the agent with what they decide about its changes: what the agent hears, and what is kept of it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod shared;

use std::collections::BTreeMap;
use std::fs;

use pillion_changes::history::{self, Item};
use pillion_changes::{Act, Change, ChangeRef, Deciding, Kept, Words};
use pillion_protocol::Note;
use pillion_protocol::remarks::{self, FileRemark};
use pillion_protocol::verdict::Lines;

use shared::{WorkTree, recorder, shell};

const OLD: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
const NEW: &str = "one\n2\n3\n4\nfive\n6\n7\n8\nnine\n";

/// A turn in which these files were made of [`OLD`] into [`NEW`].
fn tree(names: &[&str], has_hooks: bool) -> WorkTree {
    let tree = WorkTree::new();
    for name in names {
        fs::write(tree.root.join(name), OLD).unwrap();
    }
    let mut recorder = recorder(&tree.store, &tree.root);
    recorder.prepare();
    recorder.begin(1, "claude", "do it").unwrap();
    recorder.before(1, "claude", shell("1")).unwrap();
    for name in names {
        fs::write(tree.root.join(name), NEW).unwrap();
    }
    recorder.after(1, "1", |_| Vec::new()).unwrap();
    recorder.end(1).unwrap();
    if !has_hooks {
        let mut turn = tree.store.turn(1).unwrap();
        turn.is_without_hooks = true;
        tree.store.save(&turn).unwrap();
    }
    tree
}

fn names(all: &[&str]) -> Vec<ChangeRef> {
    all.iter().map(|name| name.parse().unwrap()).collect()
}

fn on_line(line: u32, text: &str) -> Note {
    let lines = Lines {
        first: line,
        last: line,
    };
    Note::at(Some(lines), text)
}

/// Does this, and returns what the agent hears.
fn told(tree: &WorkTree, act: Act, of: &[&str], words: Words) -> Vec<FileRemark> {
    let kept = Kept::read(&tree.store, 1).unwrap();
    let mut deciding = Deciding::new(&tree.store, &kept);
    deciding.say(words);
    let mut count = 0;
    deciding
        .all(act, &names(of), |it| {
            it.result.unwrap();
            count += 1;
        })
        .unwrap();
    assert!(count > 0);
    deciding.take_told()
}

fn because(of: &[&str], reason: &str) -> Words {
    Words::on(&names(of), vec![Note::on_all(reason)])
}

/// The reasons of all changes, as the lists have them.
fn reasons(tree: &WorkTree) -> Vec<Option<String>> {
    let kept = Kept::read(&tree.store, 1).unwrap();
    let changes = kept.turn.real_changes();
    changes.map(|it| kept.reason(it)).collect()
}

fn some(reason: &str) -> Option<String> {
    Some(reason.to_owned())
}

/// What no text shows is said in words: a file of which only the mode is another one, and an empty one that comes or goes.
#[cfg(unix)]
#[test]
fn the_agent_hears_what_became_of_a_file_whose_text_is_the_same() {
    use std::os::unix::fs::PermissionsExt;
    let tree = WorkTree::new();
    let at = |name: &str| tree.root.join(name);
    let runs = |mode| fs::set_permissions(at("runs"), fs::Permissions::from_mode(mode)).unwrap();
    fs::write(at("runs"), OLD).unwrap();
    runs(0o750);
    let mut recorder = recorder(&tree.store, &tree.root);
    recorder.prepare();
    recorder.begin(1, "claude", "do it").unwrap();
    recorder.before(1, "claude", shell("1")).unwrap();
    runs(0o644);
    fs::write(at("empty"), "").unwrap();
    recorder.after(1, "1", |_| Vec::new()).unwrap();
    recorder.end(1).unwrap();
    for (act, said) in [
        (
            Act::TakeBack,
            [
                "(It is gone.)",
                "(Its text is the same, and its mode is 750 again.)",
            ],
        ),
        (
            Act::Undo,
            [
                "(It is there again, and empty.)",
                "(Its text is the same, and its mode is 644 again.)",
            ],
        ),
    ] {
        let mut heard = told(&tree, act, &["1"], Words::default());
        heard.sort_by_key(|it| it.text.contains("mode"));
        let heard: Vec<_> = heard
            .iter()
            .filter_map(|it| it.text.trim_end().lines().last())
            .collect();
        assert_eq!(heard, said, "{act:?}");
    }
}

#[test]
fn the_agent_hears_why_a_change_was_taken_back_or_kept() {
    let path = |tree: &WorkTree| tree.root.join("a").display().to_string();
    let tree = tree(&["a", "b"], true);
    let heard = told(
        &tree,
        Act::TakeBack,
        &["1.1"],
        because(&["1.1"], "no words"),
    );
    let [heard] = &heard[..] else {
        panic!("{heard:?}");
    };
    assert!(
        heard
            .text
            .starts_with("The user has taken back your change in ")
    );
    assert!(heard.text.contains("\n-nine\n+9\n"), "{}", heard.text);
    assert!(heard.text.contains("\nThe user says of this: no words\n"));
    assert_eq!(reasons(&tree), [some("no words"), None]);
    // What is undone is as if it had not been said.
    told(&tree, Act::Undo, &["1.1"], Words::default());
    assert_eq!(reasons(&tree), [None, None]);
    // Lines are those of the file as it stands.
    let mut words = because(&["1.1"], "all of it");
    words.on_lines = BTreeMap::from([(1, vec![on_line(4, "five?")])]);
    let heard = told(&tree, Act::TakeBack, &["1.1"], words.clone());
    let said = "The user says of this:\n- all of it\n- line 5 (`five`): five?";
    assert!(heard[0].text.contains(said), "{}", heard[0].text);
    told(&tree, Act::Undo, &["1.1"], Words::default());
    let heard = told(&tree, Act::Keep, &["1.1"], words);
    assert_eq!(
        heard[0].text,
        format!(
            "The user accepted your change to {} and says:\n- all of it\n- line 5 (`five`): five?",
            path(&tree)
        )
    );
    assert_eq!(reasons(&tree), [some("all of it; five?"), None]);
    assert!(told(&tree, Act::Keep, &["1.2"], Words::default()).is_empty());
}

/// Of a turn, of several changes, and of files about which the agent hears no more by name.
#[test]
fn what_is_said_of_several_changes_is_told_once_and_kept_of_each() {
    for (of, has_hooks, whose) in [
        (&["1"][..], true, "your changes to"),
        (&["1.1", "1.3"], true, "your changes to"),
        (&["1"], false, "changes that may be yours to"),
    ] {
        for (act, what) in [(Act::TakeBack, "taken back"), (Act::Keep, "kept")] {
            let tree = tree(&["a", "b", "c"], has_hooks);
            let mut words = because(of, "too early");
            words.on_lines.insert(3, vec![on_line(0, "one?")]);
            let heard = told(&tree, act, of, words);
            let is_about_all = |it: &&FileRemark| it.text.contains("too early");
            let said: Vec<_> = heard.iter().filter(is_about_all).collect();
            let [said] = said[..] else {
                panic!("{heard:?}");
            };
            let start = format!("The user has {what} {whose} ");
            assert!(said.text.starts_with(&start), "{}", said.text);
            assert!(said.text.contains(" and says: too early"));
            // No file's own remark says again what that one says of all.
            let again = heard.iter().filter(|it| it.text.contains("again unless"));
            assert_eq!(again.count(), usize::from(act == Act::TakeBack));
            assert_eq!(said.text.contains("/b"), of.len() == 1);
            let on_line = heard.iter().filter(|it| it.text.contains("one?"));
            assert_eq!(on_line.count(), 1, "{heard:?}");
            let expected: Vec<_> = (1..=3)
                .map(|it| match it {
                    2 if of.len() != 1 => None,
                    3 => some("too early; one?"),
                    _ => some("too early"),
                })
                .collect();
            assert_eq!(reasons(&tree), expected);
            // With no room for more, the words are there nevertheless.
            let short = remarks::judged_in_short(&heard).text;
            assert!(
                short.contains("too early") && short.contains("/c"),
                "{short}"
            );
        }
    }
}

#[test]
fn nothing_is_told_of_what_is_not_done() {
    let tree = tree(&["a", "b"], true);
    told(&tree, Act::TakeBack, &["1"], Words::default());
    // Taken back already.
    assert!(told(&tree, Act::TakeBack, &["1"], because(&["1"], "why")).is_empty());
    // In the way.
    told(&tree, Act::Undo, &["1"], Words::default());
    for name in ["a", "b"] {
        fs::write(tree.root.join(name), NEW.replace("nine", "mine")).unwrap();
    }
    let kept = Kept::read(&tree.store, 1).unwrap();
    let mut deciding = Deciding::new(&tree.store, &kept);
    deciding.say(because(&["1"], "why"));
    let all = names(&["1"]);
    deciding
        .all(Act::TakeBack, &all, |it| assert!(it.result.is_err()))
        .unwrap();
    assert!(deciding.take_told().is_empty());
    assert_eq!(reasons(&tree), [None, None]);
}

#[test]
fn what_is_said_of_hunks_one_after_the_other_stays_in_the_log() {
    let tree = tree(&["a"], true);
    let kept = Kept::read(&tree.store, 1).unwrap();
    let change: &Change = &kept.turn.changes[0];
    let mut deciding = Deciding::new(&tree.store, &kept);
    for (line, reason) in [(0, "first"), (4, "second")] {
        deciding.say(because(&["1.1"], reason));
        deciding.take_lines_back(change, line..line + 1).unwrap();
    }
    let heard = deciding.take_told();
    let texts: Vec<_> = heard.iter().map(|it| it.text.as_str()).collect();
    assert!(texts[0].starts_with("The user has changed what you wrote in "));
    assert!(texts[0].contains("The user says of this: first\n"));
    assert!(texts[1].contains("The user says of this: second\n"));
    // The rest stays, with one more word.
    told(&tree, Act::Keep, &["1.1"], because(&["1.1"], "the rest"));
    let items = history::read(&tree.store, &[&tree.root], 9).unwrap();
    let [Item::Change(item)] = &items[..] else {
        panic!("{items:?}");
    };
    let all: Vec<_> = item.judged.all_notes().map(|it| it.text.as_str()).collect();
    assert_eq!(all, ["the rest", "second", "first"]);
    assert_eq!(reasons(&tree), [some("the rest; second; first")]);
    let diff = String::from_utf8(items[0].diff(&tree.store)).unwrap();
    assert!(
        diff.contains("\n# the rest\n# second\n# first\ndiff --git a/"),
        "{diff}"
    );
}

/// A turn may have thousands of changes.
#[test]
fn long_words_on_several_changes_are_told_whole_and_kept_in_short() {
    for (of, is_short) in [
        (&["1"][..], true),
        (&["1.1", "1.2"], true),
        (&["1.1"], false),
    ] {
        let tree = tree(&["a", "b"], true);
        let long = "ä".repeat(4_000);
        let heard = told(&tree, Act::Keep, of, because(of, &long));
        assert!(heard[0].text.contains(&long));
        let kept = Kept::read(&tree.store, 1).unwrap();
        let judged = kept.judged(&kept.turn.changes[0]).unwrap();
        assert_eq!(judged.notes[0].text.len() < 600, is_short, "{of:?}");
    }
}

/// However often it is named: two threads would write it, and the agent would hear it twice.
#[test]
fn a_change_that_is_named_twice_is_decided_once() {
    for (of, count) in [
        (&["1.1", "1.1"][..], 1),
        (&["1", "1.2"], 3),
        (&["1.2", "1.1", "1", "1.2"], 3),
    ] {
        for act in [Act::Keep, Act::TakeBack, Act::Undo] {
            let tree = tree(&["a", "b", "c"], true);
            if act == Act::Undo {
                told(&tree, Act::TakeBack, &["1"], Words::default());
            }
            let kept = Kept::read(&tree.store, 1).unwrap();
            let mut deciding = Deciding::new(&tree.store, &kept);
            if act != Act::Undo {
                deciding.say(because(of, "once"));
            }
            let mut decided = Vec::new();
            let all = deciding.all(act, &names(of), |it| {
                it.result.unwrap();
                decided.push(it.name);
            });
            all.unwrap();
            assert_eq!(decided.len(), count, "{of:?}, {act:?}");
            let heard = deciding.take_told();
            let said = heard.iter().filter(|it| it.text.contains("once"));
            assert_eq!(said.count(), usize::from(act != Act::Undo), "{of:?}");
            // One change is not several because it was named twice.
            let is_of_several = heard.iter().any(|it| it.text.contains("your changes to"));
            assert_eq!(is_of_several, count > 1 && act != Act::Undo, "{of:?}");
        }
    }
}

/// Of thousands of changes, an agent reads a part, and all that the person says.
#[test]
fn notes_on_lines_are_told_also_where_there_is_no_room_for_diffs() {
    let long: String = (0..900).map(|it| format!("line {it}\n")).collect();
    let all: Vec<_> = (0..12).map(|it| format!("f{it:02}")).collect();
    let all: Vec<_> = all.iter().map(String::as_str).collect();
    for (has_hooks, act) in [
        (true, Act::TakeBack),
        (false, Act::TakeBack),
        (true, Act::Keep),
    ] {
        let tree = tree(&[], true);
        let mut recorder = recorder(&tree.store, &tree.root);
        recorder.prepare();
        recorder.begin(2, "claude", "more").unwrap();
        recorder.before(2, "claude", shell("1")).unwrap();
        for name in &all {
            fs::write(tree.root.join(name), &long).unwrap();
        }
        recorder.after(2, "1", |_| Vec::new()).unwrap();
        recorder.end(2).unwrap();
        let number = *tree.store.numbers().unwrap().last().unwrap();
        if !has_hooks {
            let mut turn = tree.store.turn(number).unwrap();
            turn.is_without_hooks = true;
            tree.store.save(&turn).unwrap();
        }
        let kept = Kept::read(&tree.store, number).unwrap();
        let mut deciding = Deciding::new(&tree.store, &kept);
        let notes = (1..=12).map(|it| (it, vec![on_line(2, &format!("note {it}."))]));
        let name = number.to_string();
        deciding.say(Words {
            on_lines: notes.collect(),
            ..because(&[&name], "for all of them")
        });
        deciding
            .all(act, &names(&[&name]), |it| assert!(it.result.is_ok()))
            .unwrap();
        assert!(deciding.unsaid().is_empty());
        let heard = deciding.take_told();
        let text: Vec<_> = heard.iter().map(|it| it.text.as_str()).collect();
        let text = text.join("\n");
        for it in 1..=12 {
            let note = format!("line 3 (`line 2`): note {it}.");
            assert_eq!(text.matches(&note).count(), 1, "{note}");
        }
        assert_eq!(text.matches("for all of them").count(), 1);
        assert!(!text.contains("did the same with"), "{text}");
        assert!(text.len() < 80 << 10, "{}", text.len());
    }
}

#[test]
fn words_about_what_is_not_decided_are_named() {
    let tree = tree(&["a", "b"], true);
    told(&tree, Act::Keep, &["1.1"], Words::default());
    let mut words = because(&["1"], "on all");
    words.on_lines = BTreeMap::from([(1, vec![on_line(2, "on a")]), (2, vec![on_line(2, "on b")])]);
    let kept = Kept::read(&tree.store, 1).unwrap();
    let mut deciding = Deciding::new(&tree.store, &kept);
    for (act, unsaid) in [
        // What was seen before is not kept again.
        (Act::Keep, &["on a"][..]),
        (Act::Keep, &["on all", "on a", "on b"]),
        (Act::TakeBack, &[]),
        (Act::TakeBack, &["on all", "on a", "on b"]),
    ] {
        deciding.say(words.clone());
        deciding
            .all(act, &names(&["1"]), |it| assert!(it.result.is_ok()))
            .unwrap();
        let found: Vec<_> = deciding
            .unsaid()
            .into_iter()
            .map(|it| it.text.as_str())
            .collect();
        assert_eq!(found, unsaid, "{act:?}");
        let heard = deciding.take_told();
        assert_eq!(heard.is_empty(), unsaid.len() == 3, "{heard:?}");
    }
}

/// The editor may refuse the text, or not save it: what the agent heard before is no longer true.
#[test]
fn the_agent_hears_that_what_was_taken_out_of_a_buffer_was_undone() {
    for lines in [None, Some(0..1), Some(0..9)] {
        let tree = tree(&["a"], true);
        let kept = Kept::read(&tree.store, 1).unwrap();
        let change = &kept.turn.changes[0];
        let mut deciding = Deciding::new(&tree.store, &kept);
        deciding.say(because(&["1.1"], "why"));
        deciding.take_out_of(change, lines, NEW).unwrap();
        assert!(deciding.take_told()[0].text.contains("of this: why\n"));
        let [undone] = &told(&tree, Act::Undo, &["1.1"], Words::default())[..] else {
            panic!("it is told");
        };
        let text = &undone.text;
        assert!(
            text.starts_with("The user has undone what they took back or changed in "),
            "{text}"
        );
        assert!(
            text.ends_with("/a. They did that in their editor: read the file before you go on.")
        );
        assert_eq!(fs::read_to_string(&change.path).unwrap(), NEW);
        assert_eq!(reasons(&tree), [None]);
    }
}
