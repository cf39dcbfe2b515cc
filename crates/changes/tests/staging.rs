//! What was accepted or kept goes into git's index, by itself.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]
#![cfg(unix)]

mod shared;

use std::fs;
use std::ops::Range;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use pillion_changes::recorder::Call;
use pillion_changes::staging::{self, StageError};
use pillion_changes::{Act, Deciding, Kept, Recorder, Store};

use pillion_text::fingerprint;
use shared::{WorkTree, recorder, shell};

const OLD: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
const NEW: &str = "one\n2\n3\n4\nfive\n6\n7\n8\nnine\n";

/// A repository in which an agent has changed files.
struct Lab {
    root: PathBuf,
    store: Store,
    recorder: Recorder,
    _folder: tempfile::TempDir,
}

impl Lab {
    /// With what this command makes in it, committed.
    fn new(command: &str) -> Self {
        let WorkTree {
            root,
            store,
            folder,
        } = WorkTree::new();
        sh(
            &root,
            &format!("git init -q . && {command} && git add -A && git commit -qm first"),
        );
        let recorder = recorder(&store, &root);
        Self {
            root,
            store,
            recorder,
            _folder: folder,
        }
    }

    /// A file with nine lines, of which three were changed.
    fn edited() -> Self {
        let mut lab = Self::new("seq 9 > a");
        lab.turn(|root| fs::write(root.join("a"), NEW).unwrap());
        lab
    }

    /// A turn in which a shell command does this in the folder.
    fn turn(&mut self, command: impl FnOnce(&Path)) {
        self.recorder.begin(1, "claude", "").unwrap();
        self.recorder.before(1, "claude", shell("1")).unwrap();
        command(&self.root);
        self.recorder.after(1, "1", |_| Vec::new()).unwrap();
        self.recorder.end(1).unwrap();
    }

    fn kept(&self, turn: u64) -> Kept {
        Kept::read(&self.store, turn).unwrap()
    }

    fn act(&self, act: Act, name: &str) {
        let name: pillion_changes::ChangeRef = name.parse().unwrap();
        let kept = self.kept(name.turn);
        let mut deciding = Deciding::new(&self.store, &kept);
        let mut results = Vec::new();
        deciding
            .all(act, &[name], |it| results.push(it.result))
            .unwrap();
        results.into_iter().for_each(|it| {
            it.unwrap();
        });
    }

    fn keep(&self, name: &str) {
        self.act(Act::Keep, name);
    }

    fn stage(&self, turn: u64, lines: Option<Range<usize>>) -> Result<&'static str, String> {
        let kept = self.kept(turn);
        let change = &kept.turn.changes[0];
        let staged = staging::stage(&self.store, &kept, change, lines);
        staged.map_err(|error| error.to_string())
    }

    fn print(&self, command: &str) -> String {
        sh(&self.root, command)
    }

    fn index(&self, name: &str) -> String {
        self.print(&format!("git cat-file blob :{name}"))
    }
}

fn sh(folder: &Path, command: &str) -> String {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder);
    for (name, value) in [
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_AUTHOR_NAME", "x"),
        ("GIT_AUTHOR_EMAIL", "x@x"),
        ("GIT_COMMITTER_NAME", "x"),
        ("GIT_COMMITTER_EMAIL", "x@x"),
    ] {
        shell.env(name, value);
    }
    let output = shell.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What the agent has made of it since without asking is decided by itself.
#[test]
fn what_was_accepted_is_staged_whatever_came_after_it() {
    for rest in [None, Some(Act::Keep), Some(Act::TakeBack)] {
        let mut lab = Lab::new("seq 9 > a");
        let file = lab.root.join("a");
        let [accepted, all] = [OLD.replace('9', "nine"), NEW.replace("five", "5")];
        lab.recorder.begin(1, "claude", "").unwrap();
        let call = Call {
            path: Some(file.clone()),
            ..shell("1")
        };
        lab.recorder.before(1, "claude", call).unwrap();
        fs::write(&file, &accepted).unwrap();
        let shown = [&*accepted, OLD].map(|it| fingerprint::of(Some(it.as_bytes())));
        lab.recorder.after(1, "1", |_| shown.to_vec()).unwrap();
        lab.recorder.before(1, "claude", shell("2")).unwrap();
        fs::write(&file, &all).unwrap();
        lab.recorder.after(1, "2", |_| Vec::new()).unwrap();
        lab.recorder.end(1).unwrap();
        rest.into_iter().for_each(|act| lab.act(act, "1.1"));
        assert_eq!(lab.stage(1, None), Ok(staging::STAGED), "{rest:?}");
        let staged = match rest {
            Some(Act::Keep) => &all,
            _ => &accepted,
        };
        assert_eq!(lab.index("a"), *staged, "{rest:?}");
    }
}

#[test]
fn what_nobody_has_seen_is_not_staged_and_what_was_kept_is_once() {
    let lab = Lab::edited();
    let unseen = lab.stage(1, None).unwrap_err();
    assert_eq!(unseen, StageError::Unseen.to_string());
    assert_eq!(lab.index("a"), OLD);
    lab.keep("1.1");
    assert_eq!(lab.stage(1, None), Ok(staging::STAGED));
    assert_eq!(lab.index("a"), NEW);
    assert_eq!(lab.stage(1, None), Ok("staged already"));
    assert_eq!(lab.print("git status --porcelain"), "M  a\n");
    lab.act(Act::TakeBack, "1.1");
    assert_eq!(lab.stage(1, None), Err(StageError::Gone.to_string()));
}

#[test]
fn the_persons_own_lines_and_later_changes_stay_out_of_the_index() {
    let mut lab = Lab::new("seq 9 > a");
    // Their own, before the turn and after it.
    fs::write(lab.root.join("a"), OLD.replace('7', "mine")).unwrap();
    let agents = NEW.replace('7', "mine");
    lab.turn(|root| fs::write(root.join("a"), &agents).unwrap());
    lab.keep("1.1");
    let later = agents.replace('3', "later");
    lab.turn(|root| fs::write(root.join("a"), &later).unwrap());
    fs::write(lab.root.join("a"), format!("top\n{later}end\n")).unwrap();
    assert_eq!(lab.stage(1, None), Ok(staging::STAGED));
    assert_eq!(lab.index("a"), NEW);
    lab.keep("2.1");
    assert_eq!(lab.stage(2, None), Ok(staging::STAGED));
    assert_eq!(lab.index("a"), NEW.replace('3', "later"));
    let text = fs::read_to_string(lab.root.join("a")).unwrap();
    assert_eq!(text, format!("top\n{later}end\n"));
}

#[test]
fn a_hunk_is_staged_by_the_lines_where_it_stands_now() {
    let lab = Lab::edited();
    lab.keep("1.1");
    fs::write(lab.root.join("a"), format!("top\ntop\n{NEW}")).unwrap();
    assert_eq!(lab.stage(1, Some(6..7)), Ok(staging::STAGED));
    assert_eq!(lab.index("a"), OLD.replace('5', "five"));
    let nothing = lab.stage(1, Some(0..2)).unwrap_err();
    assert_eq!(nothing, StageError::NoHunk.to_string());
    assert_eq!(lab.stage(1, Some(2..3)), Ok(staging::STAGED));
    assert_eq!(lab.index("a"), NEW.replace("nine", "9"));
}

#[test]
fn what_was_taken_out_of_it_is_not_staged() {
    let lab = Lab::edited();
    let kept = lab.kept(1);
    let mut deciding = Deciding::new(&lab.store, &kept);
    deciding
        .take_lines_back(&kept.turn.changes[0], 4..5)
        .unwrap();
    drop(deciding);
    lab.keep("1.1");
    assert_eq!(lab.stage(1, None), Ok(staging::STAGED));
    assert_eq!(lab.index("a"), NEW.replace("five", "5"));
}

#[test]
fn new_files_deleted_ones_modes_and_links_are_staged_as_git_has_them() {
    let mut lab = Lab::new("echo > 'gone away' && echo > run && mkdir inner");
    lab.turn(|root| {
        let run =
            |name: &str| fs::set_permissions(root.join(name), PermissionsExt::from_mode(0o755));
        fs::write(root.join("inner/a new\t\"one\" é"), "new\n").unwrap();
        fs::write(root.join("script"), "new\n").unwrap();
        for name in ["empty", ":(glob)x", ":!y"] {
            fs::write(root.join(name), "").unwrap();
        }
        run("script").unwrap();
        run("run").unwrap();
        fs::remove_file(root.join("gone away")).unwrap();
        std::os::unix::fs::symlink("run", root.join("link")).unwrap();
    });
    lab.keep("1");
    let kept = lab.kept(1);
    for change in &kept.turn.changes {
        let staged = staging::stage(&lab.store, &kept, change, None);
        assert_eq!(staged.unwrap(), staging::STAGED, "{change:?}");
    }
    assert_eq!(lab.print("git diff"), "");
    let names = lab.print("git status --porcelain -z");
    let mut names: Vec<_> = names.split('\0').filter(|it| !it.is_empty()).collect();
    names.sort_unstable();
    let expected = [
        "A  :!y",
        "A  :(glob)x",
        "A  empty",
        "A  inner/a new\t\"one\" é",
        "A  link",
        "A  script",
        "D  gone away",
        "M  run",
    ];
    assert_eq!(names, expected);
    let modes = lab.print("git ls-files -s link script run | cut -c-6");
    assert_eq!(modes, "120000\n100755\n100755\n");
}

#[test]
fn line_endings_and_other_encodings_are_those_of_the_index() {
    // Git writes CRLF into the work tree of the first one; Latin-1 and mixed endings stay as they are.
    let mut lab =
        Lab::new("echo 'a text eol=crlf' > .gitattributes && printf '1\\r\\n2\\r\\n3\\r\\n' > a");
    lab.turn(|root| fs::write(root.join("a"), "1\r\ntwo\r\n3\r\n").unwrap());
    lab.keep("1");
    assert_eq!(lab.stage(1, None), Ok(staging::STAGED));
    assert_eq!(lab.index("a"), "1\ntwo\n3\n");
    assert_eq!(lab.print("git diff --stat"), "");

    let mut lab = Lab::new("printf '1\\351\\r\\n2\\n3' > a");
    lab.turn(|root| fs::write(root.join("a"), b"1\xe9\r\ntwo\xe9\n3").unwrap());
    lab.keep("1");
    assert_eq!(lab.stage(1, None), Ok(staging::STAGED));
    assert_eq!(lab.print("git diff --stat"), "");
}

/// Whatever git does to a file when it adds it.
#[test]
fn the_index_is_as_if_git_had_added_the_file() {
    const CRLF: &str = "seq 9 | sed 's/$/\\r/' > a";
    for (settings, first, agents) in [
        ("true", "seq 9 > a", "sed -i s/5/five/ a"),
        ("git config core.autocrlf true", CRLF, "echo lf >> a"),
        (
            "git config core.autocrlf true",
            CRLF,
            "sed -i s/5/five/ a; echo lf >> a",
        ),
        (
            "git config core.autocrlf true",
            "seq 9 > a",
            "cp a b; printf 'x\\r\\n' > n",
        ),
        // What is in the index with CRLF stays so.
        (
            "true",
            CRLF,
            "git config core.autocrlf true; sed -i s/5/five/ a",
        ),
        (
            "true",
            CRLF,
            "echo '* text=auto' > .gitattributes; sed -i s/5/five/ a",
        ),
        (
            "echo '* text=auto' > .gitattributes",
            "seq 9 > a",
            "printf 'x\\r\\n' > n",
        ),
        (
            "echo 'n eol=crlf' > .gitattributes",
            "seq 9 > a",
            "mkdir d; printf 'x\\r\\n' | tee n > d/n",
        ),
        (
            "echo '* text working-tree-encoding=ISO-8859-1' > .gitattributes",
            "printf 'l\\366\\nx\\n' > a",
            "printf 'n\\366\\n' | tee n >> a",
        ),
        (
            "echo '* text working-tree-encoding=UTF-16LE-BOM' > .gitattributes",
            "printf '\\377\\376a\\0\\n\\0' > a",
            "printf 'b\\0\\n\\0' >> a; cp a n",
        ),
        (
            "echo '* ident' > .gitattributes",
            "printf '$Id: 0123 $\\n1\\n' > a",
            "echo '$Id: 4567 $' > n; echo 2 >> a",
        ),
        (
            "echo '* ident' > .gitattributes",
            "seq 9 > a",
            "ln -s '$Id: 4567 $' l",
        ),
        (
            "git config core.fileMode false",
            "seq 9 > a",
            "chmod +x a; echo 10 >> a; cp a n",
        ),
        (
            "true",
            "seq 9 > a; ln -s a l",
            "ln -sf l a; rm l; seq 3 > l",
        ),
        // A folder becomes a repository of its own.
        (
            "true",
            "mkdir d; echo 1 > d/a; echo 2 > a",
            "rm d/a; git init -q d",
        ),
    ] {
        let mut lab = Lab::new(&format!("{settings} && {first}"));
        lab.turn(|root| drop(sh(root, agents)));
        lab.keep("1");
        // In another index, for nobody has staged anything.
        let added = lab.print(
            "cp .git/index ../added; export GIT_INDEX_FILE=$PWD/../added; git add -A 2>/dev/null; git ls-files -s",
        );
        let kept = lab.kept(1);
        for change in &kept.turn.changes {
            let staged = staging::stage(&lab.store, &kept, change, None);
            assert_eq!(staged.unwrap(), staging::STAGED, "{agents}");
        }
        assert_eq!(lab.print("git ls-files -s"), added, "{settings}; {agents}");
        for change in &kept.turn.changes {
            let staged = staging::stage(&lab.store, &kept, change, None);
            assert_eq!(staged.unwrap(), "staged already", "{agents}");
        }
    }
}

#[test]
fn what_git_cannot_take_by_itself_is_refused_and_the_index_stays() {
    let cases: [(&str, &str, &str, StageError); 7] = [
        (
            "seq 9 > b",
            "seq 9 > a",
            "echo more >> a",
            StageError::Untracked,
        ),
        ("seq 9 > b", "seq 9 > a", "rm a", StageError::Untracked),
        (
            "echo '*.o' > .gitignore",
            "true",
            "seq 9 > a.o",
            StageError::Ignored,
        ),
        (
            "printf 'a\\0b' > a",
            "true",
            "printf 'a\\0c' > a",
            StageError::NotText,
        ),
        (
            "echo 'a filter=some' > .gitattributes && seq 9 > a",
            "true",
            "echo more >> a",
            StageError::Filtered,
        ),
        (
            "seq 9 > a",
            "git checkout -qb o && echo o > a && git commit -qam o && git checkout -q - && echo m > a && git commit -qam m && ! git merge o",
            "echo more >> a",
            StageError::Unmerged,
        ),
        (
            "seq 9 > a",
            "sed -i s/5/mine/ a",
            "sed -i s/mine/agent/ a",
            StageError::Conflict(1),
        ),
    ];
    for (first, persons, agents, expected) in cases {
        let mut lab = Lab::new(first);
        lab.print(persons);
        lab.turn(|root| drop(sh(root, agents)));
        lab.keep("1");
        let before = lab.print("git ls-files -s");
        let refused = lab.stage(1, None).unwrap_err();
        assert_eq!(refused, expected.to_string(), "{agents}");
        assert_eq!(lab.print("git ls-files -s"), before, "{agents}");
    }
    let WorkTree {
        root,
        store,
        folder: _folder,
    } = WorkTree::new();
    fs::write(root.join("a"), OLD).unwrap();
    let mut recorder = recorder(&store, &root);
    recorder.begin(1, "claude", "").unwrap();
    recorder.before(1, "claude", shell("1")).unwrap();
    fs::write(root.join("a"), NEW).unwrap();
    recorder.after(1, "1", |_| Vec::new()).unwrap();
    let kept = Kept::read(&store, 1).unwrap();
    let mut deciding = Deciding::new(&store, &kept);
    deciding.one(Act::Keep, &kept.turn.changes[0]).unwrap();
    let kept = Kept::read(&store, 1).unwrap();
    let refused = staging::stage(&store, &kept, &kept.turn.changes[0], None);
    assert!(
        matches!(refused, Err(StageError::NoRepository)),
        "{refused:?}"
    );
}

#[test]
fn of_two_repositories_the_inner_one_is_meant() {
    let mut lab = Lab::new(
        "seq 9 > a && git init -q inner && cd inner && seq 9 > b && git add b && git commit -qm inner && cd ..",
    );
    lab.turn(|root| fs::write(root.join("inner/b"), NEW).unwrap());
    lab.keep("1");
    assert_eq!(lab.stage(1, None), Ok(staging::STAGED));
    assert_eq!(lab.print("git -C inner cat-file blob :b"), NEW);
}
