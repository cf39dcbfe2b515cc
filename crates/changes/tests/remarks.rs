//! What is said of a turn beside its changes of files.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]
#![cfg(unix)]

mod shared;

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use pillion_changes::{Act, ChangeRef, Deciding, Kept, Recorder, looking};

use shared::{WorkTree, recorder, shell};

const SESSION: u64 = 1;

/// An agent that is there, with hooks or without.
fn begun(tree: &WorkTree, has_hooks: bool) -> Recorder {
    fs::create_dir_all(tree.root.join("sub/inner")).unwrap();
    fs::write(tree.root.join("sub/a"), "a\n").unwrap();
    let mut recorder = recorder(&tree.store, &tree.root);
    match has_hooks {
        true => drop(recorder.begin(SESSION, "claude", "").unwrap()),
        false => drop(recorder.attend(SESSION, "opencode").unwrap()),
    }
    recorder
}

/// A shell command does this.
fn call(recorder: &mut Recorder, has_hooks: bool, act: impl FnOnce()) {
    if has_hooks {
        recorder.before(SESSION, "claude", shell("1")).unwrap();
        act();
        recorder.after(SESSION, "1", |_| Vec::new()).unwrap();
    } else {
        act();
        recorder.glance().unwrap();
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn remarks(tree: &WorkTree) -> Vec<String> {
    Kept::read(&tree.store, 1).map_or_else(|_| Vec::new(), |it| it.remarks())
}

#[test]
fn the_permissions_of_a_folder_are_said_with_what_undoes_it() {
    for has_hooks in [true, false] {
        let tree = WorkTree::new();
        let sub = tree.root.join("sub");
        let mut recorder = begun(&tree, has_hooks);
        let odd = tree.root.join("it's");
        fs::create_dir(&odd).unwrap();
        set_mode(&odd, 0o755);
        call(&mut recorder, has_hooks, || set_mode(&odd, 0o755));
        call(&mut recorder, has_hooks, || set_mode(&odd, 0o700));
        let said = remarks(&tree).concat();
        assert!(said.ends_with(r"`chmod 755 'it'\''s'` undoes it"), "{said}");
        set_mode(&odd, 0o755);
        set_mode(&sub, 0o755);
        call(&mut recorder, has_hooks, || set_mode(&sub, 0o755));
        let before = remarks(&tree).len();
        for (mode, said) in [(0o700, "700"), (0, "0")] {
            call(&mut recorder, has_hooks, || set_mode(&sub, mode));
            let remarks = remarks(&tree);
            assert_eq!(remarks.len(), before + 1, "{has_hooks} {remarks:?}");
            let expected = format!("the permissions of sub are {said}");
            assert!(remarks[0].starts_with(&expected), "{remarks:?}");
            assert!(
                remarks[0].ends_with("`chmod 755 sub` undoes it"),
                "{remarks:?}"
            );
        }
        call(&mut recorder, has_hooks, || set_mode(&sub, 0o755));
        assert_eq!(remarks(&tree), [""; 0], "{has_hooks}");
        // It is in the list alone, and stays there.
        call(&mut recorder, has_hooks, || set_mode(&sub, 0o711));
        recorder.left(SESSION).unwrap();
        assert_eq!(remarks(&tree).len(), 1, "{has_hooks}");
        set_mode(&sub, 0o755);
    }
}

/// They may lie outside, where nobody looks.
#[test]
fn that_a_changed_file_has_other_names_is_said_while_it_has_them() {
    for has_hooks in [true, false] {
        let tree = WorkTree::new();
        let mut recorder = begun(&tree, has_hooks);
        let (path, twin) = (tree.root.join("sub/a"), tree.root.with_file_name("twin"));
        call(&mut recorder, has_hooks, || {
            fs::write(&path, "b\n").unwrap()
        });
        assert_eq!(remarks(&tree), [""; 0], "{has_hooks}");
        fs::hard_link(&path, &twin).unwrap();
        call(&mut recorder, has_hooks, || {
            fs::write(&path, "c\n").unwrap()
        });
        let said = remarks(&tree);
        assert_eq!(said.len(), 1, "{has_hooks} {said:?}");
        assert!(said[0].starts_with("sub/a has other names (hard links)"));
        fs::remove_file(twin).unwrap();
        assert_eq!(remarks(&tree), [""; 0], "{has_hooks}");
    }
}

/// No diff shows them.
#[test]
fn permissions_that_became_others_are_named_with_the_file() {
    for (act, place, mode) in [
        ("text", "sub/a", None),
        ("mode", "sub/a, mode 644→4755", Some((Some(0o644), 0o4755))),
        ("both", "sub/a, mode 644→4755", Some((Some(0o644), 0o4755))),
        ("new", "new (new), mode 4755", Some((None, 0o4755))),
    ] {
        let tree = WorkTree::new();
        let mut recorder = begun(&tree, true);
        let path = tree.root.join(if act == "new" { "new" } else { "sub/a" });
        call(&mut recorder, true, || {
            if act != "mode" {
                fs::write(&path, "b\n").unwrap();
            }
            if act != "text" {
                set_mode(&path, 0o4755);
            }
        });
        let kept = Kept::read(&tree.store, 1).unwrap();
        let change = kept.turn.real_changes().next().unwrap();
        assert_eq!(kept.place(change), place, "{act}");
        let looked = looking::look(&tree.store, &kept, kept.name(change), &[], 9).unwrap();
        assert_eq!(looked.shown[0].mode, mode, "{act}");
    }
}

/// The names of the folders are as before, and what they lead to is.
#[test]
fn a_change_in_a_workspace_whose_folder_became_a_link_is_listed() {
    for has_hooks in [true, false] {
        let tree = WorkTree::new();
        let mut recorder = begun(&tree, has_hooks);
        let moved = tree.root.with_file_name("moved");
        call(&mut recorder, has_hooks, || {
            fs::rename(&tree.root, &moved).unwrap();
            symlink(&moved, &tree.root).unwrap();
        });
        call(&mut recorder, has_hooks, || {
            fs::write(moved.join("sub/a"), "EVIL\n").unwrap()
        });
        for folder in [&tree.root, &moved] {
            let turns =
                Kept::of_folders(&tree.store, std::slice::from_ref(folder), |_| ()).unwrap();
            let unseen: usize = turns.iter().map(Kept::unseen).sum();
            assert_eq!(unseen, 1, "{has_hooks} {folder:?}");
        }
    }
}

fn git(folder: &Path, args: &str) {
    let mut git = Command::new("git");
    git.args([
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "-c",
        "init.defaultBranch=main",
    ]);
    git.args(args.split(' ')).current_dir(folder).env_clear();
    git.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    let output = git.output().unwrap();
    assert!(output.status.success(), "{args} {output:?}");
}

/// A repository with a commit more in `other`, and something that is not committed in `b`. `is_linked`: in a work tree elsewhere.
fn repository(is_linked: bool) -> WorkTree {
    let tree = WorkTree::new();
    let top = match is_linked {
        true => tree.root.with_file_name("top"),
        false => tree.root.clone(),
    };
    fs::create_dir_all(&top).unwrap();
    git(&top, "init -q");
    for (name, text) in [("a", "one\n"), ("b", "two\n")] {
        fs::write(top.join(name), text).unwrap();
    }
    git(&top, "add .");
    git(&top, "commit -qm 1");
    git(&top, "checkout -qb other");
    fs::write(top.join("a"), "other\n").unwrap();
    git(&top, "commit -qam 2");
    git(&top, "checkout -q main");
    if is_linked {
        fs::remove_dir(&tree.root).unwrap();
        git(&top, "worktree add -q -b linked ../work");
    }
    fs::write(tree.root.join("b"), "dirty\n").unwrap();
    tree
}

/// What git writes there is not the agent's text. The command that undoes it does.
#[test]
fn what_came_with_a_move_of_head_is_named_and_left_out_of_a_turn() {
    for (commands, path, said, back) in [
        (
            &["checkout -q other"][..],
            "a",
            "HEAD was moved from main to other",
            Some("checkout -q main"),
        ),
        (
            &["checkout -q --detach other"],
            "a",
            "HEAD was moved from main to ",
            Some("checkout -q main"),
        ),
        (
            &["rebase -q --autostash other"],
            "a",
            "HEAD was moved from ",
            Some("reset"),
        ),
        (
            &["merge -q other"],
            "a",
            "HEAD was moved from ",
            Some("reset"),
        ),
        (
            &["stash -q"],
            "b",
            "what was not committed was put away",
            Some("stash pop"),
        ),
        (
            &["reset -q --hard"],
            "b",
            "what was not committed was put away",
            None,
        ),
    ] {
        for is_linked in [false, true] {
            let tree = repository(is_linked);
            let mut recorder = recorder(&tree.store, &tree.root);
            recorder.begin(SESSION, "claude", "").unwrap();
            let before = fs::read(tree.root.join(path)).unwrap();
            call(&mut recorder, true, || {
                commands.iter().for_each(|it| git(&tree.root, it))
            });
            call(&mut recorder, true, || {
                fs::write(tree.root.join("mine"), "x\n").unwrap()
            });
            recorder.end(SESSION).unwrap();
            let case = format!("{commands:?} {is_linked}");
            let remarks = remarks(&tree);
            let said = match is_linked {
                true => said.replace("main", "linked"),
                false => said.to_owned(),
            };
            assert!(
                remarks.len() == 1 && remarks[0].starts_with(&said),
                "{case} {remarks:?}"
            );
            let text = || fs::read(tree.root.join(path)).unwrap();
            let after = text();
            revert(&tree, false);
            assert_eq!(text(), after, "{case}");
            assert!(!tree.root.join("mine").exists(), "{case}");
            if back.is_none() {
                revert(&tree, true);
                assert_eq!(text(), before, "{case}");
            }
            if let Some(back) = back.filter(|it| *it != "reset") {
                git(
                    &tree.root,
                    &back.replace("main", if is_linked { "linked" } else { "main" }),
                );
                assert_eq!(text(), before, "{case}");
            }
        }
    }
}

/// What was put away comes out of the stash where it was put away.
#[test]
fn a_stash_and_a_checkout_are_undone_by_the_command_that_is_named() {
    for calls in [
        &[&["stash -q", "checkout -q other"][..]][..],
        &[&["stash -q"], &["checkout -q other"]],
        &[&["checkout -q other"], &["stash -q"]],
        &[&["stash -q", "checkout -q other"], &["checkout -q main"]],
        &[&["add b", "stash -q"]],
        &[&["stash push -q -- b"]],
        &[&["add b"], &["stash push -q -- b"]],
    ] {
        let tree = repository(false);
        let mut recorder = recorder(&tree.store, &tree.root);
        recorder.begin(SESSION, "claude", "").unwrap();
        let read = || {
            let files = ["a", "b", ".git/HEAD"].map(|it| fs::read_to_string(tree.root.join(it)));
            files.map(Result::unwrap)
        };
        let before = read();
        for commands in calls {
            call(&mut recorder, true, || {
                commands.iter().for_each(|it| git(&tree.root, it));
            });
        }
        recorder.end(SESSION).unwrap();
        let remarks = remarks(&tree);
        let [remark] = &*remarks else {
            panic!("{calls:?} {remarks:?}");
        };
        let way = remark.split('`').nth(1).unwrap();
        let after = read();
        assert_ne!(after, before, "{calls:?}");
        revert(&tree, false);
        assert_eq!(read(), after, "{calls:?}: what git undoes is left out");
        shell_does(&tree, way);
        assert_eq!(read(), before, "{calls:?} {remark}");
    }
}

fn shell_does(tree: &WorkTree, script: &str) {
    let mut sh = Command::new("sh");
    sh.args([
        "-ec",
        &format!("git() {{ command git -c user.name=a -c user.email=a@b \"$@\"; }}; {script}"),
    ]);
    sh.current_dir(&tree.root)
        .env("GIT_CONFIG_GLOBAL", "/dev/null");
    let output = sh.output().unwrap();
    assert!(output.status.success(), "{script} {output:?}");
}

/// Takes the turn back, or all of it.
fn revert(tree: &WorkTree, takes_all: bool) {
    revert_turn(tree, 1, takes_all);
}

fn revert_turn(tree: &WorkTree, number: u64, takes_all: bool) {
    let kept = Kept::read(&tree.store, number).unwrap();
    let mut deciding = Deciding::new(&tree.store, &kept);
    if takes_all {
        deciding.take_all();
    }
    let turn = ChangeRef {
        turn: number,
        change: None,
    };
    deciding.all(Act::TakeBack, &[turn], |_| ()).unwrap();
}

/// The files that came with a move of HEAD, and those that are the agent's.
#[test]
fn what_a_call_has_written_itself_beside_a_move_of_head_is_the_agents() {
    for (calls, by_head, own, has_remark) in [
        (
            &["git checkout -q other; echo AG >> b; echo n > mine"][..],
            "a",
            "b mine",
            true,
        ),
        (
            &["git checkout -q other", "echo AG >> a; echo n > mine"],
            "",
            "a mine",
            true,
        ),
        (&["git merge -q other; echo AG >> a"], "a", "", true),
        (
            &["git checkout -q other; echo AG >> a; echo n > mine"],
            "a",
            "mine",
            true,
        ),
        (&["echo AG >> a; git add a; git reset -q"], "", "a", false),
        (&["echo AG >> a; git reset -q --soft HEAD"], "", "a", false),
        (
            &["echo AG >> a; git commit -qam 3; git reset -q --soft HEAD~1"],
            "",
            "a",
            false,
        ),
        (
            &["echo AG >> a; git commit -qam 3; git reset -q HEAD~1"],
            "",
            "a",
            false,
        ),
        (
            &["git checkout -q other; git checkout -q main; echo AG >> a"],
            "",
            "a",
            false,
        ),
        (
            &["git stash -q; git stash pop -q; echo AG >> a"],
            "",
            "a",
            false,
        ),
        (&["git stash -q; echo AG >> a"], "b", "a", true),
    ] {
        let tree = repository(false);
        let mut recorder = recorder(&tree.store, &tree.root);
        recorder.begin(SESSION, "claude", "").unwrap();
        for script in calls {
            call(&mut recorder, true, || shell_does(&tree, script));
        }
        recorder.end(SESSION).unwrap();
        let kept = Kept::read(&tree.store, 1).unwrap();
        let names = |is_by_head| {
            let changes = kept.turn.real_changes();
            let changes = changes.filter(|it| it.is_by_head == is_by_head);
            let mut names: Vec<_> = changes
                .map(|it| kept.turn.shown(&it.path).display().to_string())
                .collect();
            names.sort();
            names.join(" ")
        };
        assert_eq!((&*names(true), &*names(false)), (by_head, own), "{calls:?}");
        assert_eq!(
            remarks(&tree).len(),
            usize::from(has_remark),
            "{calls:?} {:?}",
            remarks(&tree)
        );
        assert!(
            remarks(&tree).iter().all(|it| !it.contains("no copy")),
            "{calls:?}"
        );
        revert(&tree, false);
        for name in own.split(' ') {
            let text = fs::read_to_string(tree.root.join(name)).unwrap_or_default();
            assert!(
                !text.contains("AG") && text != "n\n",
                "{calls:?} {name} {text}"
            );
        }
    }
}

/// What the agent has made of a file since is listed with what was there before, and the stash may be dropped.
#[test]
fn what_was_put_away_is_in_the_record_whatever_becomes_of_the_stash() {
    for is_dropped in [false, true] {
        let tree = repository(false);
        shell_does(&tree, "echo mine > added; git add added");
        let mut recorder = recorder(&tree.store, &tree.root);
        recorder.begin(SESSION, "claude", "").unwrap();
        let drop = if is_dropped {
            "git stash drop -q"
        } else {
            "true"
        };
        for script in ["git stash -q", "echo AG >> b", drop] {
            call(&mut recorder, true, || shell_does(&tree, script));
        }
        recorder.end(SESSION).unwrap();
        revert(&tree, false);
        let text = |name| fs::read_to_string(tree.root.join(name)).ok();
        assert_eq!(text("b").as_deref(), Some("dirty\n"), "{is_dropped}");
        assert_eq!(text("added"), None, "{is_dropped}");
        revert(&tree, true);
        assert_eq!(text("added").as_deref(), Some("mine\n"), "{is_dropped}");
    }
}

#[test]
fn what_undoes_a_move_of_head_in_an_inner_repository_names_it() {
    let tree = repository(false);
    let inner = tree.root.join("nest");
    fs::create_dir(&inner).unwrap();
    for (text, commands) in [
        ("one", &["init -q", "add .", "commit -qm 1"][..]),
        ("two", &["checkout -qb other", "commit -qam 2"]),
    ] {
        fs::write(inner.join("a"), text).unwrap();
        commands.iter().for_each(|command| git(&inner, command));
    }
    let mut recorder = recorder(&tree.store, &tree.root);
    recorder.begin(SESSION, "claude", "").unwrap();
    call(&mut recorder, true, || git(&inner, "checkout -q main"));
    recorder.end(SESSION).unwrap();
    let remarks = remarks(&tree);
    assert!(
        remarks[0].contains("`git -C nest checkout other` undoes it"),
        "{remarks:?}"
    );
}

/// The person's line in `b` is put away and comes back: in one turn, in two, and by another agent.
#[test]
fn what_comes_back_out_of_the_stash_is_nobodys_change() {
    const OTHER: u64 = SESSION + 1;
    let scenes = [None, Some(SESSION), Some(OTHER)].into_iter();
    for (by, back) in scenes.flat_map(|by| [(by, "pop"), (by, "apply")]) {
        let tree = repository(false);
        fs::write(tree.root.join("untracked"), "mine\n").unwrap();
        let mut recorder = recorder(&tree.store, &tree.root);
        recorder.begin(SESSION, "claude", "").unwrap();
        call(&mut recorder, true, || {
            shell_does(&tree, "git stash -q -u");
        });
        if let Some(by) = by {
            recorder.end(SESSION).unwrap();
            recorder.begin(by, "claude", "").unwrap();
        }
        let session = by.unwrap_or(SESSION);
        recorder.before(session, "claude", shell("2")).unwrap();
        let script = format!("git stash {back} -q; echo AG > own");
        shell_does(&tree, &script);
        recorder.after(session, "2", |_| Vec::new()).unwrap();
        recorder.end(session).unwrap();
        let numbers = tree.store.numbers().unwrap();
        for number in numbers.into_iter().rev() {
            let kept = Kept::read(&tree.store, number).unwrap();
            let change = |name: &str| {
                let mut real = kept.turn.real_changes();
                real.find(|it| it.path.ends_with(name)).cloned()
            };
            for name in ["b", "untracked"] {
                let is_by_head = change(name).is_none_or(|it| it.is_by_head);
                assert!(is_by_head, "{by:?} {back} {number} {name}");
            }
            assert!(change("own").is_none_or(|it| !it.is_by_head), "{by:?}");
            revert_turn(&tree, number, false);
        }
        let text = |name| fs::read_to_string(tree.root.join(name)).ok();
        assert_eq!(text("b").as_deref(), Some("dirty\n"), "{by:?} {back}");
        assert_eq!(
            text("untracked").as_deref(),
            Some("mine\n"),
            "{by:?} {back}"
        );
    }
}

/// The person's uncommitted line in `b` goes.
#[test]
fn what_a_move_of_head_has_thrown_away_is_said_with_what_brings_it_back() {
    for (script, said) in [
        ("git reset -q --hard HEAD~1", "`git reset --keep "),
        ("git checkout -q -f other", "`git checkout main` undoes it"),
        ("git reset -q --hard", "git has no copy of it"),
        (
            "git checkout -q -f other; echo AG >> b",
            "`git checkout main` undoes it",
        ),
    ] {
        let tree = repository(false);
        shell_does(
            &tree,
            "git stash -q; git commit -q --allow-empty -m 3; git rm -q a; git commit -qm 4; git stash pop -q",
        );
        let mut recorder = recorder(&tree.store, &tree.root);
        recorder.begin(SESSION, "claude", "").unwrap();
        call(&mut recorder, true, || shell_does(&tree, script));
        recorder.end(SESSION).unwrap();
        let remarks = remarks(&tree);
        assert!(
            remarks.len() == 1 && remarks[0].contains(said),
            "{script} {remarks:?}"
        );
        let is_back = |text: &str| text.contains("`pillion revert --all 1` brings it back");
        // The agent's own change has what was there before.
        let is_own = script.contains("AG");
        assert_eq!(is_back(&remarks[0]), !is_own, "{script} {remarks:?}");
        revert(&tree, !is_own);
        assert_eq!(
            fs::read_to_string(tree.root.join("b")).unwrap(),
            "dirty\n",
            "{script}"
        );
    }
}

/// Each command that is named gives the tree and the commit back, also where git has stopped or has written no file.
#[test]
fn what_leads_back_is_what_git_lets_one_do() {
    for (scripts, way) in [
        (&["git reset -q HEAD~1"][..], "git reset "),
        (&["git reset -q --soft HEAD~1"], "git reset --soft "),
        (
            &["git stash -q; git rebase -q other"],
            "git rebase --abort && git stash pop",
        ),
        (
            &["git stash -q; git merge -q other"],
            "git merge --abort && git stash pop",
        ),
        (
            &["git stash -q; git cherry-pick other"],
            "git cherry-pick --abort && git stash pop",
        ),
        (
            &["git stash -q; git checkout -q other; git rebase -q main"],
            "git rebase --abort && git checkout main && git stash pop",
        ),
        (
            &["git stash -q; git checkout -q other", "git rebase -q main"],
            "git rebase --abort && git checkout main && git stash pop",
        ),
    ] {
        let tree = repository(false);
        let then = "git checkout -q -f main; seq 20 > c; git add c; git commit -qm c; git branch -qf other; \
                    seq 20 | sed s/^5$/M/ > c; git commit -qam m; git checkout -q other; seq 20 | sed s/^5$/O/ > c; git commit -qam o; \
                    git checkout -q main; seq 20 | sed 's/^5$/M/; s/^15$/dirty/' > c";
        shell_does(&tree, then);
        let state = || {
            let text = fs::read_to_string(tree.root.join("c")).unwrap();
            let name = fs::read_to_string(tree.root.join(".git/HEAD")).unwrap();
            let commit = fs::read_to_string(tree.root.join(".git/refs/heads/main")).unwrap();
            (text, name, commit)
        };
        let was = state();
        let mut recorder = recorder(&tree.store, &tree.root);
        recorder.begin(SESSION, "claude", "").unwrap();
        for script in scripts {
            let script = format!("({script}) > ../out 2>&1 || true");
            call(&mut recorder, true, || shell_does(&tree, &script));
        }
        recorder.end(SESSION).unwrap();
        let said = remarks(&tree).concat();
        let (_, rest) = said
            .split_once(": `")
            .unwrap_or_else(|| panic!("{scripts:?} {said}"));
        let (back, _) = rest.split_once("` undoes it").unwrap();
        assert!(back.starts_with(way), "{scripts:?} {said}");
        shell_does(&tree, &format!("({back}) > ../out 2>&1"));
        assert_eq!(state(), was, "{scripts:?} {said}");
    }
}

/// Nothing leads back to a branch of a repository that is deleted.
#[test]
fn a_repository_in_the_place_of_another_one_has_not_moved_head() {
    let tree = repository(false);
    let mut recorder = recorder(&tree.store, &tree.root);
    recorder.begin(SESSION, "claude", "").unwrap();
    let again = "rm -rf .git; git init -qb new; git add -A; git commit -qm x; git reset -q --hard; echo x > a";
    call(&mut recorder, true, || shell_does(&tree, again));
    recorder.end(SESSION).unwrap();
    assert_eq!(remarks(&tree), [""; 0]);
    revert(&tree, false);
    assert_eq!(fs::read_to_string(tree.root.join("a")).unwrap(), "one\n");
}

/// Its files would come back without their `.git`, and git would refuse to make it again in their place.
#[test]
fn a_work_tree_that_git_has_removed_is_left_out_with_the_command_that_makes_it_again() {
    let rows: [(&str, &str, &str, Option<&str>); 6] = [
        (
            "git worktree add -q wt other",
            "git worktree remove wt",
            "wt",
            Some("git worktree add wt other"),
        ),
        (
            "git worktree add -q --detach 'w t' other; echo more > 'w t/new'; echo dirty > 'w t/a'",
            "git worktree remove -f 'w t'",
            "w t",
            Some("git worktree add 'w t' "),
        ),
        (
            "git worktree add -q wt other",
            "rm -r wt",
            "wt",
            Some("git worktree add -f wt other"),
        ),
        (
            "git worktree add -q wt other",
            "git worktree move wt moved",
            "wt",
            None,
        ),
        (
            "git clone -q . ../sub; git -c protocol.file.allow=always submodule --quiet add ../sub sub; git commit -qm s -- sub .gitmodules",
            "git submodule --quiet deinit -f sub",
            "sub",
            Some("git submodule update --init sub"),
        ),
        ("git clone -q . sub", "rm -r sub", "sub", Some("")),
    ];
    for (before, work, name, way) in rows {
        let tree = repository(false);
        shell_does(&tree, before);
        let folder = tree.root.join(name);
        let texts = || ["a", "b", "new"].map(|it| fs::read_to_string(folder.join(it)).ok());
        let was = texts();
        let mut recorder = recorder(&tree.store, &tree.root);
        recorder.begin(SESSION, "claude", "").unwrap();
        call(&mut recorder, true, || shell_does(&tree, work));
        recorder.end(SESSION).unwrap();
        let remarks = remarks(&tree);
        let Some(way) = way else {
            assert_eq!(remarks, [""; 0], "{work}");
            continue;
        };
        let [remark] = &*remarks else {
            panic!("{work} {remarks:?}");
        };
        if way.is_empty() {
            let gone = "the git repository of sub is gone, and there is no copy of it";
            assert!(remark.starts_with(gone), "{remark}");
            revert(&tree, false);
            assert_eq!(texts(), was, "{work}");
            continue;
        }
        revert(&tree, false);
        assert_eq!(texts(), [None, None, None], "{work}");
        if was[2].is_some() {
            let instead = "`pillion revert --all 1` brings back its files instead";
            assert!(remark.contains(instead), "{remark}");
            revert(&tree, true);
            assert_eq!(texts(), was, "{work}");
            continue;
        }
        let said = remark.split('`').nth(1).unwrap();
        assert!(said.starts_with(way), "{remark}");
        shell_does(
            &tree,
            &said.replace("submodule", "-c protocol.file.allow=always submodule"),
        );
        assert_eq!(texts(), was, "{work}");
        assert!(folder.join(".git").exists(), "{work}");
    }
}

#[test]
fn what_is_said_of_a_turn_of_which_nothing_else_is_left_can_be_dismissed() {
    for (script, back) in [
        ("git checkout -q other", "git checkout -q main"),
        ("chmod 700 sub", "true"),
    ] {
        let tree = repository(false);
        fs::create_dir(tree.root.join("sub")).unwrap();
        set_mode(&tree.root.join("sub"), 0o755);
        let mut recorder = recorder(&tree.store, &tree.root);
        recorder.begin(SESSION, "claude", "").unwrap();
        call(&mut recorder, true, || shell_does(&tree, script));
        recorder.end(SESSION).unwrap();
        shell_does(&tree, back);
        assert_eq!(remarks(&tree).len(), 1, "{script}");
        let kept = Kept::read(&tree.store, 1).unwrap();
        let turn = ChangeRef {
            turn: 1,
            change: None,
        };
        let mut deciding = Deciding::new(&tree.store, &kept);
        deciding.all(Act::Keep, &[turn], |_| ()).unwrap();
        assert_eq!(remarks(&tree), [""; 0], "{script}");
        let left = Kept::read(&tree.store, 1).unwrap().turn.changes;
        assert_eq!(left, kept.turn.changes, "{script}");
    }
}

/// What is committed in the command that has changed it is the agent's, as what an earlier call has written. What came with a commit
/// that was there before, also with one on top of this one, is not.
#[test]
fn a_commit_of_jujutsus_is_said_if_files_have_come_with_it() {
    for (is_at_once, is_new) in [(false, true), (true, true), (true, false)] {
        let tree = repository(false);
        fs::create_dir(tree.root.join(".jj")).unwrap();
        let mut recorder = recorder(&tree.store, &tree.root);
        recorder.begin(SESSION, "claude", "").unwrap();
        let edit = || fs::write(tree.root.join("a"), "agent\n").unwrap();
        if !is_at_once {
            call(&mut recorder, true, edit);
        }
        let at = if is_new { "" } else { "2001-02-03T04:05:06Z" };
        // What Jujutsu writes into the log.
        let commit = format!(
            "git add a; new=$(GIT_COMMITTER_DATE={at} git -c user.name=a -c user.email=a@b commit-tree -p HEAD -m 3 $(git write-tree)); \
             git update-ref -m 'export from jj' HEAD $new"
        );
        call(&mut recorder, true, || {
            if is_at_once {
                edit();
            }
            shell_does(&tree, &commit);
        });
        assert_eq!(remarks(&tree).len(), usize::from(!is_new));
        let kept = Kept::read(&tree.store, 1).unwrap();
        let by_head: Vec<_> = kept.turn.changes.iter().map(|it| it.is_by_head).collect();
        assert_eq!(by_head, [!is_new]);
    }
}

/// One command may be many operations, and the last may be an undo: what is named is the operation from before, with what the person had
/// written and Jujutsu first noted.
#[test]
fn what_undoes_a_move_of_jujutsus_is_the_operation_before_it() {
    let name = |digit: &str| digit.repeat(128);
    for (notes_files, heads, expected) in [
        (false, &["a"][..], Some("aaaaaaaaaaaa")),
        (true, &["a"], Some("bbbbbbbbbbbb")),
        (true, &["a", "c"], None),
    ] {
        let tree = repository(false);
        let repo = tree.root.join(".jj/repo");
        let (of_heads, records) = (
            repo.join("op_heads/heads"),
            repo.join("op_store/operations"),
        );
        for folder in [&of_heads, &records] {
            fs::create_dir_all(folder).unwrap();
        }
        for head in heads {
            fs::write(of_heads.join(name(head)), "").unwrap();
        }
        let mut recorder = recorder(&tree.store, &tree.root);
        recorder.begin(SESSION, "claude", "").unwrap();
        call(&mut recorder, true, || {
            let parent = [0xaa; 64];
            let text = if notes_files {
                "snapshot working copy"
            } else {
                "edit commit"
            };
            let record = [&b"\x12\x40"[..], &parent, text.as_bytes()].concat();
            fs::write(records.join(name("b")), record).unwrap();
            for head in heads {
                fs::remove_file(of_heads.join(name(head))).unwrap();
            }
            fs::write(of_heads.join(name("d")), "").unwrap();
            shell_does(
                &tree,
                "echo agent > a; new=$(GIT_COMMITTER_DATE=2001-02-03T04:05:06Z git -c user.name=a -c user.email=a@b \
                 commit-tree -p HEAD -m 3 HEAD^{tree}); git update-ref -m 'export from jj' HEAD $new",
            );
        });
        let said = remarks(&tree).concat();
        match expected {
            Some(operation) => {
                let way = format!("`jj op restore {operation}` undoes it");
                assert!(said.contains(&way), "{said}");
            }
            None => assert!(
                said.contains("revert --all") && !said.contains("jj op"),
                "{said}"
            ),
        }
    }
}

/// They write no file.
#[test]
fn a_commit_and_a_new_branch_are_no_such_moves() {
    for commands in [
        &["commit -qam 3"][..],
        &["checkout -qb new"],
        &["switch -qc new", "commit -qam 3"],
    ] {
        let tree = repository(false);
        let mut recorder = recorder(&tree.store, &tree.root);
        recorder.begin(SESSION, "claude", "").unwrap();
        call(&mut recorder, true, || {
            fs::write(tree.root.join("a"), "agent\n").unwrap();
            commands.iter().for_each(|it| git(&tree.root, it));
        });
        assert_eq!(remarks(&tree), [""; 0], "{commands:?}");
        let kept = Kept::read(&tree.store, 1).unwrap();
        assert!(
            kept.turn.real_changes().all(|it| !it.is_by_head),
            "{commands:?}"
        );
    }
}
