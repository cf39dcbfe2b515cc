//! The pages of a proposal that are compared with other texts.

use std::fs;
use std::process::Command;

use pillion_view::DiffId;

use super::*;
use crate::proposal::Proposal;

const CAME: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

fn bases(path: &Path, proposed: &str) -> Bases {
    let proposal = Proposal::new(Some(Text::new(CAME)), proposed);
    Bases {
        key: ProposalKey {
            id: DiffId(1),
            revision: 2,
        },
        path: path.to_owned(),
        shown: "a.txt".to_owned(),
        proposed: proposed.to_owned(),
        looked_at: None,
        came: proposal.came(),
        roots: path.parent().into_iter().map(Path::to_owned).collect(),
    }
}

#[test]
fn the_last_commit_and_what_was_looked_at_are_compared_with_what_is_proposed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    fs::write(&path, CAME).unwrap();
    let mut bases = bases(&path, &CAME.replace('5', "five"));
    let pages = |bases: &Bases| compared(bases);
    assert_eq!(pages(&bases), [], "git has no such file");
    for arguments in [
        &["init", "-q"][..],
        &["add", "a.txt"],
        &[
            "-c",
            "user.name=n",
            "-c",
            "user.email=e",
            "commit",
            "-qm",
            "m",
        ],
    ] {
        let mut git = Command::new("git");
        let git = git.arg("-C").arg(folder.path()).args(arguments);
        assert!(git.status().unwrap().success());
    }
    let former = Proposal::new(Some(Text::new(CAME)), &CAME.replace('5', "V"));
    bases.looked_at = Some(former.version());
    let pages = pages(&bases);
    let [(looked_at, lines), (head, changed)] = &pages[..] else {
        panic!("{pages:?}");
    };
    let end = "nothing is decided here";
    assert_eq!(
        *looked_at,
        format!("a.txt compared with what you looked at last (1 of 2), {end}")
    );
    assert!(
        lines.contains(&"-V".to_owned()) && lines.contains(&"+five".to_owned()),
        "{lines:?}"
    );
    assert_eq!(
        *head,
        format!("a.txt compared with the last commit (HEAD) (2 of 2), {end}")
    );
    assert!(changed.contains(&"-5".to_owned()), "{changed:?}");
}

#[test]
fn what_the_file_and_the_proposal_both_change_is_shown_three_ways() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    let mut bases = bases(&path, &CAME.replace('5', "five"));
    fs::write(&path, CAME.replace('9', "nine")).unwrap();
    assert_eq!(compared(&bases), [], "no line is changed by both");
    fs::write(&path, CAME.replace('5', "mine\nand")).unwrap();
    let pages = compared(&bases);
    assert!(
        pages[0]
            .0
            .starts_with("a.txt and the file both change 1 place (1 of 1)")
    );
    let expected = [
        "# 1 of 1: line 5, before both",
        " 5",
        "@ the file now",
        "-mine",
        "-and",
        "@ the proposal",
        "+five",
    ];
    assert_eq!(pages[0].1, expected);
    // It is in the file already.
    bases.came = None;
    assert_eq!(compared(&bases), []);
}
