//! What taking back must cost nobody: files behind links, lines in any encoding, and the history of repositories.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]
#![cfg(unix)]

mod shared;

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pillion_changes::deciding::last_act;
use pillion_changes::recorder::{Call, Coverage};
use pillion_changes::take_back::{TakeBackError, present, take_back};
use pillion_changes::{
    Act, Author, Change, ChangeRef, ChangeState, Deciding, FileState, Kept, Recorder, Store,
};

use shared::{WorkTree, recorder, shell};

const HOOKED: u64 = 1;
const ATTENDED: u64 = 2;

/// A folder in which agents work.
struct Lab {
    root: PathBuf,
    store: Store,
    recorder: Recorder,
    folder: tempfile::TempDir,
}

/// The two ways in which changes are found: around an agent's calls, or by looking while one is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Agent {
    WithHooks,
    WithoutHooks,
}

const BOTH: [Agent; 2] = [Agent::WithHooks, Agent::WithoutHooks];

impl Lab {
    fn new() -> Self {
        let WorkTree {
            root,
            store,
            folder,
        } = WorkTree::new();
        let recorder = recorder(&store, &root);
        Self {
            root,
            store,
            recorder,
            folder,
        }
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Runs a shell command in the folder.
    fn shell(&self, command: &str) {
        self.run("sh", &["-ec", command]);
    }

    fn run(&self, program: &str, arguments: &[&str]) -> String {
        let output = Command::new(program)
            .args(arguments)
            .current_dir(&self.root)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.folder.path())
            .env("GIT_CONFIG_COUNT", "3")
            .env("GIT_CONFIG_KEY_0", "user.name")
            .env("GIT_CONFIG_VALUE_0", "t")
            .env("GIT_CONFIG_KEY_1", "user.email")
            .env("GIT_CONFIG_VALUE_1", "t@example.org")
            .env("GIT_CONFIG_KEY_2", "protocol.file.allow")
            .env("GIT_CONFIG_VALUE_2", "always")
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// A turn of an agent in which this happens; none if nothing of it is kept.
    fn turn(&mut self, agent: Agent, work: impl FnOnce(&Self)) -> Option<Kept> {
        if agent == Agent::WithoutHooks {
            self.recorder.attend(ATTENDED, "opencode").unwrap();
            work(self);
            self.recorder.glance().unwrap();
            self.recorder.left(ATTENDED).unwrap();
        } else {
            self.recorder.begin(HOOKED, "claude", "").unwrap();
            self.recorder.before(HOOKED, "claude", shell("1")).unwrap();
            work(self);
            self.recorder.after(HOOKED, "1", |_| Vec::new()).unwrap();
            self.recorder.end(HOOKED).unwrap();
        }
        let number = self.store.numbers().unwrap().into_iter().max()?;
        Some(Kept::read(&self.store, number).unwrap())
    }

    /// The changes of a turn, as they are shown.
    fn shown(&self, kept: &Kept) -> Vec<String> {
        let mut shown: Vec<_> = { kept.turn.real_changes() }
            .map(|it| kept.place(it).replace(", unclear who changed it", ""))
            .collect();
        shown.sort();
        shown
    }

    /// Does this with all changes of a turn, as commands and views do it.
    fn act(&self, act: Act, turn: u64) {
        let kept = Kept::read(&self.store, turn).unwrap();
        let mut deciding = Deciding::new(&self.store, &kept);
        let name = ChangeRef { turn, change: None };
        let mut failed = Vec::new();
        deciding
            .all(act, &[name], |it| {
                failed.extend(it.result.err().map(|error| (it.path, error.to_string())));
            })
            .unwrap();
        assert_eq!(failed, [], "{act:?}");
    }

    /// All files and links, with their texts and targets.
    fn copy(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let (mut files, mut folders) = (BTreeMap::new(), vec![self.root.clone()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let metadata = path.symlink_metadata().unwrap();
                if metadata.is_dir() {
                    folders.push(path);
                    continue;
                }
                let text = match metadata.is_symlink() {
                    true => fs::read_link(&path)
                        .unwrap()
                        .into_os_string()
                        .into_encoded_bytes(),
                    false => fs::read(&path).unwrap(),
                };
                files.insert(path.strip_prefix(&self.root).unwrap().to_owned(), text);
            }
        }
        files
    }

    fn text_before(&self, kept: &Kept, name: &str) -> Vec<u8> {
        let path = self.root.join(name);
        let change = kept.turn.real_changes().find(|it| it.path == path).unwrap();
        self.store.get(change.before.text().unwrap()).unwrap()
    }
}

/// Each row: what an agent does, and the changes that are listed.
#[test]
fn a_folder_for_which_a_link_stands_is_deleted_and_comes_back() {
    let rows: [(&str, &[&str]); 8] = [
        (
            "mv d e && ln -s e d",
            &[
                "d (new link)",
                "d/f (deleted)",
                "d/in/g (deleted)",
                "e/f (new), moved from d/f",
                "e/in/g (new), moved from d/in/g",
            ],
        ),
        (
            "rm -r d && ln -s other d",
            &["d (new link)", "d/f (deleted)", "d/in/g (deleted)"],
        ),
        (
            "mv d e && ln -s e d && printf new > d/f",
            &[
                "d (new link)",
                "d/f (deleted)",
                "d/in/g (deleted)",
                "e/f (new)",
                "e/in/g (new), moved from d/in/g",
            ],
        ),
        (
            "mv d/in e && ln -s ../e d/in",
            &[
                "d/in (new link)",
                "d/in/g (deleted)",
                "e/g (new), moved from d/in/g",
            ],
        ),
        (
            "rm -r d && ln -s ../outside d",
            &["d (new link)", "d/f (deleted)", "d/in/g (deleted)"],
        ),
        (
            "rm -r d && ln -s d d",
            &["d (new link)", "d/f (deleted)", "d/in/g (deleted)"],
        ),
        ("mv a b && ln -s b a", &["a (link for file)", "b (new)"]),
        ("rm a && ln -s other/f a", &["a (link for file)"]),
    ];
    for has_git in [false, true] {
        for agent in BOTH {
            for (command, changes) in rows {
                let mut lab = Lab::new();
                fs::create_dir_all(lab.folder.path().join("outside/in")).unwrap();
                for name in ["../outside/f", "../outside/in/g", "other/f", "other/in/g"] {
                    lab.write(name, "other\n");
                }
                lab.write("a", "a file\n");
                lab.write("d/f", "precious\n");
                lab.write("d/in/g", "inner\n");
                if has_git {
                    lab.shell("git init -q && git add . && git commit -qm x");
                }
                let (before, turn) = (lab.copy(), lab.turn(agent, |lab| lab.shell(command)));
                let (kept, after) = (turn.expect("a turn"), lab.copy());
                let case = format!("{command}, {agent:?}, git: {has_git}");
                assert_eq!(lab.shown(&kept), changes, "{case}");
                if command.contains(" d &&") {
                    assert_eq!(lab.text_before(&kept, "d/f"), b"precious\n", "{case}");
                }
                lab.act(Act::TakeBack, kept.turn.number);
                assert_eq!(lab.copy(), before, "{case}: taken back");
                lab.act(Act::Undo, kept.turn.number);
                assert_eq!(lab.copy(), after, "{case}: undone");
                // Nothing of it is found again in a later turn.
                let later = lab
                    .turn(Agent::WithHooks, |lab| lab.write("later", "x"))
                    .unwrap();
                assert_eq!(lab.shown(&later), ["later (new)"], "{case}");
            }
        }
    }
}

#[test]
fn an_edit_is_not_looked_for_through_a_link_that_came_meanwhile() {
    let mut lab = Lab::new();
    lab.write("d/f", "precious\n");
    lab.recorder.begin(HOOKED, "claude", "").unwrap();
    let edit = Call {
        path: Some(lab.root.join("d/f")),
        tool: "Edit".to_owned(),
        ..shell("1")
    };
    lab.recorder.before(HOOKED, "claude", edit).unwrap();
    lab.shell("mv d e; ln -s e d; printf other > e/f");
    lab.recorder.after(HOOKED, "1", |_| Vec::new()).unwrap();
    lab.recorder.end(HOOKED).unwrap();
    let kept = Kept::read(&lab.store, 1).unwrap();
    assert_eq!(
        lab.shown(&kept),
        ["d (new link)", "d/f (deleted)", "e/f (new)"]
    );
}

/// Lines of a text in an encoding.
fn encoded(lines: &[&str], end: &str, encoding: &str) -> Vec<u8> {
    let text: String = lines.iter().flat_map(|line| [*line, end]).collect();
    match encoding {
        "UTF-8" => text.into_bytes(),
        "Latin-1" => text
            .chars()
            .map(|it| u8::try_from(u32::from(it)).unwrap())
            .collect(),
        _ => {
            let units = text.encode_utf16().flat_map(u16::to_le_bytes);
            [0xff, 0xfe].into_iter().chain(units).collect()
        }
    }
}

const BEFORE: [&str; 7] = ["größe", "zwei", "drei", "für", "fünf", "sechs", "höhe"];
const AGENTS: [&str; 7] = ["größe", "zwö", "drei", "für", "fünf", "sächs", "höhe"];

#[test]
fn taking_back_keeps_a_persons_lines_in_any_encoding() {
    // What a person makes of what the agent left, and what is left of that without the agent's lines.
    let rows: [(&str, &[&str], &[&str]); 5] = [
        (
            "before",
            &["meine größe", "zwö", "drei", "für", "fünf", "sächs", "höhe"],
            &[
                "meine größe",
                "zwei",
                "drei",
                "für",
                "fünf",
                "sechs",
                "höhe",
            ],
        ),
        (
            "between",
            &["größe", "zwö", "drei", "führe", "fünf", "sächs", "höhe"],
            &["größe", "zwei", "drei", "führe", "fünf", "sechs", "höhe"],
        ),
        (
            "after",
            &[
                "größe", "zwö", "drei", "für", "fünf", "sächs", "höhe", "öde",
            ],
            &[
                "größe", "zwei", "drei", "für", "fünf", "sechs", "höhe", "öde",
            ],
        ),
        (
            "removed",
            &["zwö", "drei", "für", "sächs", "höhe"],
            &["zwei", "drei", "für", "sechs", "höhe"],
        ),
        (
            "everywhere",
            &[
                "é", "größe", "zwö", "drei", "è", "für", "fünf", "sächs", "ê",
            ],
            &[
                "é", "größe", "zwei", "drei", "è", "für", "fünf", "sechs", "ê",
            ],
        ),
    ];
    for encoding in ["UTF-8", "Latin-1", "UTF-16"] {
        for end in ["\n", "\r\n"] {
            for (place, persons, left) in rows {
                let case = format!("{encoding} {end:?} {place}");
                let mut lab = Lab::new();
                lab.write("a", encoded(&BEFORE, end, encoding));
                let agents = encoded(&AGENTS, end, encoding);
                let kept = lab
                    .turn(Agent::WithHooks, |lab| lab.write("a", &agents))
                    .unwrap();
                let change = &kept.turn.changes[0];
                let persons = encoded(persons, end, encoding);
                lab.write("a", &persons);
                let taken = take_back(&lab.store, &kept.turn.roots, change, None);
                let now = fs::read(lab.root.join("a")).unwrap();
                // Two bytes of UTF-16 may be an end of line in one place and a part of a letter in another.
                if encoding == "UTF-16" {
                    assert!(matches!(taken, Err(TakeBackError::Changed(_))), "{case}");
                    assert_eq!(now, persons, "{case}");
                    lab.write("a", &agents);
                    take_back(&lab.store, &kept.turn.roots, change, None).unwrap();
                    let now = fs::read(lab.root.join("a")).unwrap();
                    assert_eq!(now, encoded(&BEFORE, end, encoding), "{case}");
                    continue;
                }
                taken.unwrap();
                assert_eq!(now, encoded(left, end, encoding), "{case}");
                lab.write("a", &persons);
                lab.act(Act::TakeBack, 1);
                lab.act(Act::Undo, 1);
                assert_eq!(fs::read(lab.root.join("a")).unwrap(), persons, "{case}");
            }
        }
    }
}

#[test]
fn a_line_of_the_agents_that_a_person_changed_in_latin_1_is_refused() {
    let mut lab = Lab::new();
    lab.write("a", encoded(&BEFORE, "\n", "Latin-1"));
    let agents = encoded(&AGENTS, "\n", "Latin-1");
    let kept = lab
        .turn(Agent::WithHooks, |lab| lab.write("a", &agents))
        .unwrap();
    let persons = ["größe", "zwô", "drei", "für", "fünf", "sächs", "höhe"];
    let persons = encoded(&persons, "\n", "Latin-1");
    lab.write("a", &persons);
    let taken = take_back(&lab.store, &kept.turn.roots, &kept.turn.changes[0], None);
    let is_refused = matches!(taken, Err(TakeBackError::Conflict { conflicts: 1, .. }));
    assert!(is_refused, "{taken:?}");
    assert_eq!(fs::read(lab.root.join("a")).unwrap(), persons);
}

#[test]
fn what_a_person_saves_in_latin_1_is_theirs_within_the_turn() {
    let mut lab = Lab::new();
    lab.write("a", encoded(&BEFORE, "\n", "Latin-1"));
    lab.recorder.begin(HOOKED, "claude", "").unwrap();
    lab.recorder.before(HOOKED, "claude", shell("1")).unwrap();
    lab.write("a", encoded(&AGENTS, "\n", "Latin-1"));
    lab.recorder.after(HOOKED, "1", |_| Vec::new()).unwrap();
    let persons = ["meine größe", "zwö", "drei", "für", "fünf", "sächs", "höhe"];
    lab.write("a", encoded(&persons, "\n", "Latin-1"));
    lab.recorder.saved(&lab.root.join("a")).unwrap();
    lab.recorder.end(HOOKED).unwrap();
    let kept = Kept::read(&lab.store, 1).unwrap();
    assert_eq!(
        lab.shown(&kept),
        ["a"],
        "it does not include changes of theirs"
    );
    lab.act(Act::TakeBack, 1);
    let left = [
        "meine größe",
        "zwei",
        "drei",
        "für",
        "fünf",
        "sechs",
        "höhe",
    ];
    assert_eq!(
        fs::read(lab.root.join("a")).unwrap(),
        encoded(&left, "\n", "Latin-1")
    );
}

/// Each row: the files of another version control program, as it lays them out.
#[test]
fn the_history_of_other_programs_is_neither_recorded_nor_taken_back() {
    let rows: [(&str, &[&str]); 6] = [
        (
            "jj",
            &[
                ".jj/repo/op_store/operations/a1",
                ".jj/repo/op_heads/heads/a1",
                ".jj/working_copy/tree_state",
            ],
        ),
        (
            "hg",
            &[
                ".hg/store/data/n.i",
                ".hg/store/00changelog.i",
                ".hg/dirstate",
            ],
        ),
        ("svn", &[".svn/wc.db", ".svn/pristine/ab/abcd.svn-base"]),
        (
            "bzr",
            &[".bzr/repository/pack-names", ".bzr/checkout/dirstate"],
        ),
        ("darcs", &["_darcs/hashed_inventory"]),
        ("pijul", &[".pijul/pristine/db"]),
    ];
    for agent in BOTH {
        for (program, files) in rows {
            let mut lab = Lab::new();
            for name in files.iter().chain(&["a"]) {
                lab.write(name, "one");
                lab.write(&format!("inner/{name}"), "one");
            }
            let kept = lab.turn(agent, |lab| {
                for name in files.iter().chain(&["a"]) {
                    lab.write(name, "two");
                    lab.write(&format!("inner/{name}"), "two");
                    lab.write(&format!("{name}.new"), "two");
                }
            });
            let kept = kept.expect("a turn");
            assert_eq!(
                lab.shown(&kept),
                ["a", "a.new (new)", "inner/a"],
                "{program}"
            );
            lab.act(Act::TakeBack, kept.turn.number);
            for name in files {
                let text = fs::read(lab.root.join(name)).unwrap();
                assert_eq!(text, b"two", "{program}: {name}");
            }
        }
    }
}

/// What an agent committed stays, what it changed in the work tree is taken back, and the repository is whole.
#[test]
#[ignore = "needs the real Mercurial: cargo xtask test"]
fn a_repository_of_mercurial_is_whole_after_its_turn_is_taken_back() {
    for agent in BOTH {
        let mut lab = Lab::new();
        let hg = |root: &Path, command: &str| {
            let mut hg = Command::new("hg");
            hg.args(["--config", "ui.username=t"]).env("HGPLAIN", "1");
            hg.args(command.split(' ')).current_dir(root);
            let output = hg.output().unwrap();
            assert!(output.status.success(), "{command}: {output:?}");
            String::from_utf8(output.stdout).unwrap()
        };
        let root = lab.root.clone();
        hg(&root, "init");
        for name in ["a", "sub/b", "c"] {
            lab.write(name, "one\n");
        }
        hg(&root, "commit -A -m first");
        let kept = lab.turn(agent, |lab| {
            lab.write("a", "two\n");
            hg(&lab.root, "commit -m second");
            hg(&lab.root, "mv sub/b moved");
            hg(&lab.root, "rm c");
            lab.write("new", "two\n");
        });
        let kept = kept.expect("a turn");
        let mut shown = lab.shown(&kept);
        shown.sort();
        let expected = [
            "a",
            "c (deleted)",
            "moved (new), moved from sub/b",
            "new (new)",
            "sub/b (deleted)",
        ];
        assert_eq!(shown, expected, "{agent:?}");
        lab.act(Act::TakeBack, kept.turn.number);
        for name in ["a", "sub/b", "c"] {
            assert_eq!(fs::read_to_string(root.join(name)).unwrap(), "one\n");
        }
        hg(&root, "verify");
        assert_eq!(hg(&root, "log --template {desc}+"), "second+first+");
        assert_eq!(hg(&root, "revert --all --no-backup").lines().count(), 4);
        assert_eq!(hg(&root, "status"), "", "{agent:?}");
    }
}

/// What an agent committed stays, what it changed in the work tree is taken back, and Jujutsu finds its repository whole. Where it
/// shares git's `HEAD`, that was moved is said.
#[test]
#[ignore = "in --all: needs the real Jujutsu: cargo xtask test --all"]
fn a_repository_of_jujutsu_is_whole_after_its_turn_is_taken_back() {
    let jj = std::env::var_os("PILLION_TEST_JUJUTSU").expect("PILLION_TEST_JUJUTSU");
    let jj = Path::new(&jj).join("bin/jj");
    let layouts = [
        ("--no-colocate", ".jj/repo/store/git"),
        ("--colocate", ".git"),
    ];
    for (layout, git) in layouts {
        for agent in BOTH {
            let mut lab = Lab::new();
            let root = lab.root.clone();
            let home = tempfile::tempdir().unwrap();
            let jj = |command: &str| {
                let mut jj = Command::new(&jj);
                jj.args(command.split(' ')).current_dir(&root);
                jj.env("HOME", home.path()).env_remove("XDG_CONFIG_HOME");
                jj.env("JJ_USER", "t").env("JJ_EMAIL", "t@example.org");
                let output = jj.output().unwrap();
                assert!(output.status.success(), "{command}: {output:?}");
                String::from_utf8(output.stdout).unwrap()
            };
            jj(&format!("git init {layout}"));
            for name in ["a", "b", "c"] {
                lab.write(name, "one\n");
            }
            jj("commit -m first");
            lab.write("later", "one\n");
            jj("commit -m second");
            let kept = lab.turn(agent, |lab| {
                lab.write("a", "two\n");
                jj("commit -m third");
                lab.shell("rm b; mv c moved");
                jj("restore b");
                lab.write("new", "two\n");
            });
            let kept = kept.expect("a turn");
            let mut shown = lab.shown(&kept);
            shown.sort();
            let expected = ["a", "c (deleted)", "moved (new), moved from c", "new (new)"];
            assert_eq!(shown, expected, "{layout} {agent:?}");
            assert_eq!(kept.remarks(), [""; 0]);
            lab.act(Act::TakeBack, kept.turn.number);
            for name in ["a", "b", "c", "later"] {
                assert_eq!(fs::read_to_string(root.join(name)).unwrap(), "one\n");
            }
            assert_eq!(jj("diff --summary"), "M a\n", "{layout} {agent:?}");
            let log = jj("log --no-graph -r ::@ -T description");
            assert_eq!(log, "third\nsecond\nfirst\n");
            jj("debug reindex");
            // What moves the whole work tree.
            jj("restore");
            let kept = lab.turn(agent, |_| drop(jj("edit @---"))).expect("a turn");
            let is_moved = ["later (deleted)", "later (deleted), as HEAD was moved"];
            let is_told = layout == "--colocate";
            let shown = lab.shown(&kept);
            assert!(
                shown.contains(&is_moved[usize::from(is_told)].to_owned()),
                "{shown:?}"
            );
            let said = kept.remarks().concat();
            assert_eq!(said.contains("to refs/jj/root: "), is_told, "{said}");
            jj("undo");
            assert_eq!(jj("diff --summary"), "", "{layout} {agent:?}");
            lab.shell(&format!("git --git-dir={git} fsck --no-dangling"));
        }
    }
}

/// A work tree of Jujutsu whose git lies within: nothing there tells of a `HEAD`, and no text is git's alone.
#[test]
fn in_a_jujutsu_work_tree_without_gits_head_every_text_is_a_copy() {
    for agent in BOTH {
        let mut lab = Lab::new();
        lab.shell(
            "mkdir -p .jj/repo/store .jj/working_copy && git init -q --bare .jj/repo/store/git",
        );
        for name in ["tracked", "loose", ".jj/working_copy/tree_state"] {
            lab.write(name, "one\n");
        }
        lab.write(".gitignore", "ignored\n");
        lab.write("ignored", "one\n");
        let git = "git --git-dir=.jj/repo/store/git";
        let kept = lab.turn(agent, |lab| {
            // As a commit of jj's: its store and its state, and another text in the work tree.
            lab.shell(&format!(
                "{git} hash-object -w tracked; echo two > .jj/working_copy/tree_state"
            ));
            lab.shell("echo two > tracked; rm loose ignored");
        });
        let kept = kept.expect("a turn");
        let shown = ["ignored (deleted)", "loose (deleted)", "tracked"];
        assert_eq!(lab.shown(&kept), shown, "{agent:?}");
        assert_eq!(kept.remarks(), [""; 0], "{agent:?}");
        lab.act(Act::TakeBack, kept.turn.number);
        for name in ["tracked", "loose", "ignored"] {
            assert_eq!(fs::read(lab.root.join(name)).unwrap(), b"one\n", "{name}");
        }
        let state = fs::read(lab.root.join(".jj/working_copy/tree_state"));
        assert_eq!(state.unwrap(), b"two\n");
        lab.shell(&format!("{git} fsck --no-dangling"));
    }
}

/// What an older release has recorded is there still.
#[test]
fn a_change_of_a_repositorys_own_files_that_was_recorded_is_not_taken_back() {
    let lab = Lab::new();
    lab.shell("git init -q --bare bare");
    for name in [".hg/store/data/n.i", "bare/objects/ab/cd", ".git/index"] {
        lab.write(name, "new");
        let text = |text: &[u8]| Some(lab.store.put(text).unwrap());
        let change = Change {
            number: 1,
            path: lab.root.join(name),
            before: FileState::Absent,
            after: FileState::File {
                mode: 0o644,
                size: 3,
                text: text(b"new"),
            },
            made: 0,
            by: Author::Unclear,
            moved_from: None,
            accepted: None,
            decided: None,
            is_mixed: false,
            shared: None,
            is_by_head: false,
            is_lost: false,
            folder_modes: Vec::new(),
        };
        for roots in [vec![lab.root.clone()], vec![PathBuf::from("/elsewhere")]] {
            let error = take_back(&lab.store, &roots, &change, None).unwrap_err();
            assert!(
                matches!(error, TakeBackError::VersionControl(_)),
                "{name}: {error}"
            );
        }
        assert_eq!(fs::read(lab.root.join(name)).unwrap(), b"new");
    }
}

#[test]
fn an_edit_of_a_repositorys_own_file_is_not_kept_and_the_coverage_says_so() {
    let mut lab = Lab::new();
    lab.write("a", "one");
    lab.shell("git init -q; git init -q --bare bare; mkdir .hg; echo one > .hg/hgrc");
    lab.shell("mkdir -p .github/workflows docs; ln -s .github/workflows ci; ln -s docs other; ln .git/description same");
    lab.recorder.begin(HOOKED, "claude", "").unwrap();
    for (name, expected) in [
        (".git/config", Coverage::RunsCode),
        (".git/hooks/pre-commit", Coverage::RunsCode),
        ("bare/config", Coverage::RunsCode),
        (".hg/hgrc", Coverage::NotKept),
    ] {
        let path = lab.root.join(name);
        let edit = Call {
            path: Some(path.clone()),
            tool: "Edit".to_owned(),
            ..shell("1")
        };
        lab.recorder.before(HOOKED, "claude", edit).unwrap();
        assert_eq!(lab.recorder.coverage(&path), expected, "{name}");
        lab.write(name, "[user]\n");
        lab.recorder.after(HOOKED, "1", |_| Vec::new()).unwrap();
    }
    assert_eq!(lab.recorder.coverage(&lab.root.join("a")), Coverage::Kept);
    // Another name of what runs as code is no other file.
    let of = |name: &str| lab.recorder.coverage(&lab.root.join(name));
    assert_eq!(of("ci/new.yml"), Coverage::RunsCode);
    assert_eq!(of("other/new.yml"), Coverage::Leads);
    assert_eq!(of("same"), Coverage::NotKept);
    // Its text could not be looked at afterwards.
    assert_eq!(of(".env.production"), Coverage::NotKept);
    assert_eq!(of("new.yml"), Coverage::Kept);
    lab.recorder.end(HOOKED).unwrap();
    let kept = lab.store.numbers().unwrap();
    assert_eq!(kept, Vec::<u64>::new(), "nothing of it is kept");
}

/// The layouts in which a repository of git's is not simply `.git`, with the work tree in each.
#[test]
fn commits_in_bare_folders_with_work_trees_survive_taking_back() {
    let rows = [
        (
            "hidden",
            "git clone -q --bare source .bare; echo 'gitdir: ./.bare' > .git; git worktree add -q main",
            "main",
        ),
        (
            "inside",
            "git clone -q --bare source proj.git; cd proj.git; git worktree add -q --detach main; git worktree add -q --detach feature/x",
            "proj.git/main",
        ),
        (
            "separate",
            "git clone -q --separate-git-dir=store source tree",
            "tree",
        ),
        (
            "submodule",
            "git clone -q source tree; cd tree; git submodule -q add ../source sub; git commit -qm sub",
            "tree/sub",
        ),
        (
            "linked",
            "git clone -q source tree; mv tree/.git store; ln -s ../store tree/.git",
            "tree",
        ),
        ("plain", "git clone -q source tree", "tree"),
    ];
    for agent in BOTH {
        for (layout, make, tree) in rows {
            let case = format!("{layout}, {agent:?}");
            let mut lab = Lab::new();
            lab.shell(
                "git init -qb main source; cd source; echo one > a; git add a; git commit -qm one",
            );
            lab.shell(make);
            let kept = lab.turn(agent, |lab| {
                lab.shell(&format!(
                    "cd {tree}; echo two > a; echo new > b; git add .; git commit -qm agent"
                ));
            });
            let kept = kept.expect("a turn");
            let changes = [format!("{tree}/a"), format!("{tree}/b (new)")];
            assert_eq!(lab.shown(&kept), changes, "{case}");
            assert_eq!(
                lab.text_before(&kept, &format!("{tree}/a")),
                b"one\n",
                "{case}"
            );
            lab.shell(&format!(
                "cd {tree}; echo mine > c; git add c; git commit -qm mine"
            ));
            lab.act(Act::TakeBack, kept.turn.number);
            let log = lab.run("git", &["-C", tree, "log", "--format=%s"]);
            assert!(log.starts_with("mine\nagent\n"), "{case}: {log}");
            lab.run("git", &["-C", tree, "fsck", "--strict"]);
            let status = lab.run("git", &["-C", tree, "status", "--porcelain"]);
            assert_eq!(status, " M a\n D b\n", "{case}");
        }
    }
}

#[test]
fn a_repository_that_is_made_or_unmade_in_a_turn_stays_as_it_is() {
    let mut lab = Lab::new();
    lab.write("a", "one");
    lab.shell("git init -q --bare old.git");
    let kept = lab.turn(Agent::WithHooks, |lab| {
        lab.shell("git init -q --bare new.git; echo x > b")
    });
    assert_eq!(lab.shown(&kept.unwrap()), ["b (new)"]);
    let kept = lab.turn(Agent::WithHooks, |lab| {
        lab.shell("rm old.git/HEAD; mv new.git newer.git; echo x > c")
    });
    assert_eq!(lab.shown(&kept.unwrap()), ["c (new)"]);
    // Nobody knows how long its files have been there.
    lab.act(Act::TakeBack, 2);
    assert!(lab.root.join("old.git/config").is_file() && lab.root.join("newer.git/HEAD").is_file());
}

#[test]
fn files_do_not_pass_unseen_because_their_folder_is_made_a_repository() {
    for has_git in [false, true] {
        let mut lab = Lab::new();
        lab.write("src/main.c", "one");
        lab.write("src/deep/other.c", "one");
        if has_git {
            lab.shell("git init -q; git add .; git commit -qm x");
        }
        let kept = lab.turn(Agent::WithHooks, |lab| {
            lab.shell(
                "git init -q --bare src; echo evil > src/main.c; echo evil > src/deep/other.c",
            );
        });
        let shown = lab.shown(&kept.unwrap());
        for name in ["src/main.c", "src/deep/other.c"] {
            assert!(
                shown.iter().any(|it| it == name),
                "{shown:?}, git: {has_git}"
            );
        }
    }
}

#[test]
fn a_large_file_that_is_not_copied_leaves_the_room_to_others() {
    let mut lab = Lab::new();
    let file = fs::File::create(lab.root.join("aaa.img")).unwrap();
    file.set_len(511 << 20).unwrap();
    for number in 0..10 {
        lab.write(&format!("b{number}"), vec![b'x'; 400_000]);
    }
    let before = lab.copy();
    let kept = lab.turn(Agent::WithHooks, |lab| {
        for number in 0..10 {
            lab.write(&format!("b{number}"), "gone");
        }
    });
    assert_eq!(kept.unwrap().turn.uncovered, Vec::<String>::new());
    lab.act(Act::TakeBack, 1);
    assert_eq!(lab.copy(), before);
}

/// A repository that somebody else has made: each row puts something there that never ends, or never begins.
#[test]
fn a_repository_with_pipes_and_devices_neither_stops_nor_fills_the_recorder() {
    let zero = |lab: &Lab, name: &str| {
        let path = lab.root.join(name);
        let _ = fs::remove_file(&path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink("/dev/zero", path).unwrap();
    };
    let pipe = |lab: &Lab, name: &str| {
        let path = lab.root.join(name);
        let _ = fs::remove_file(&path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        lab.run("mkfifo", &[path.to_str().unwrap()]);
    };
    type Put<'a> = &'a dyn Fn(&Lab, &str);
    let puts: [Put<'_>; 2] = [&zero, &pipe];
    for put in puts {
        for name in [
            ".gitattributes",
            "sub/.gitattributes",
            ".gitignore",
            ".git/info/attributes",
            ".git/info/exclude",
            ".git/config",
            ".git/config.worktree",
            ".git/commondir",
            ".git/index",
            ".git/HEAD",
            ".git/packed-refs",
            ".git/objects/info/alternates",
            ".git/objects/pack/pack-0123456789012345678901234567890123456789.idx",
            "named-by-config",
            "tree/.git",
            "tree/inner/.git",
            "HEAD",
        ] {
            let mut lab = Lab::new();
            lab.shell(
                "git init -q; mkdir sub tree; echo one > a; echo '* -text' > sub/.gitattributes; \
                 git add .; git commit -qm x; git config core.attributesFile ../named-by-config; \
                 git config include.path ../named-by-config; git config core.excludesFile ../named-by-config",
            );
            put(&lab, name);
            let kept = lab.turn(Agent::WithHooks, |lab| lab.write("a", "two\n"));
            let kept = kept.expect("a turn");
            assert_eq!(lab.shown(&kept), ["a"], "{name}");
            assert_eq!(lab.text_before(&kept, "a"), b"one\n", "{name}");
        }
    }
}

/// Each row: a repository, and what an agent does to it and to its files. What they were is a copy of ours, not git's.
#[test]
fn the_files_of_a_repository_come_back_whatever_became_of_it() {
    let committed = "printf one > a; printf two > b; touch -d 2020-01-01 a b; git add .; git commit -qm x; git gc -q";
    let filtered = "git config filter.up.clean 'tr a-z A-Z'; mkdir sub; printf hello > sub/a.f;
        echo '*.f filter=up' > sub/.gitattributes; touch -d 2020-01-01 sub/a.f; git add sub/a.f; git commit -qm x";
    let rows = [
        (committed, "rm -rf .git a b"),
        (
            committed,
            "chmod -R u+w .git; for it in .git/objects/pack/*; do : > $it; done; rm a; printf other > b",
        ),
        (committed, ": > .git/index; rm a b"),
        (filtered, "rm sub/a.f"),
        (&*format!("{filtered}; rm sub/.gitattributes"), "rm sub/a.f"),
    ];
    for (repository, command) in rows {
        for agent in BOTH {
            let mut lab = Lab::new();
            lab.shell(&format!("git init -q; {repository}"));
            let files = |lab: &Lab| {
                let mut files = lab.copy();
                files.retain(|path, _| !path.starts_with(".git"));
                files
            };
            let before = files(&lab);
            let kept = lab.turn(agent, |lab| lab.shell(command)).unwrap();
            lab.act(Act::TakeBack, kept.turn.number);
            assert_eq!(files(&lab), before, "{agent:?}: {command}");
        }
    }
}

/// Names and marks with which files are left out, given to what is known or made on purpose.
#[test]
fn no_name_and_no_mark_hides_what_an_agent_does() {
    let rows: [(&str, &[&str]); 4] = [
        (
            "touch d/CACHEDIR.TAG; printf x > d/f",
            &["d/CACHEDIR.TAG (new)", "d/f"],
        ),
        (
            "touch CACHEDIR.TAG; printf x > d/f",
            &["CACHEDIR.TAG (new)", "d/f"],
        ),
        (
            "true & wait; printf x > .pillion-$!-abcdefghijklmnop",
            &[".pillion-PID-abcdefghijklmnop (new)"],
        ),
        (
            "printf x > .pillion-$PPID-abcdefghijklmnop",
            &[".pillion-PID-abcdefghijklmnop (new)"],
        ),
    ];
    for (command, expected) in rows {
        for agent in BOTH {
            let mut lab = Lab::new();
            lab.write("d/f", "precious");
            let kept = lab.turn(agent, |lab| lab.shell(command)).unwrap();
            let shown = lab.shown(&kept).into_iter();
            let digits = |it: String| match it.split_once("-abc") {
                Some((_, rest)) => format!(".pillion-PID-abc{rest}"),
                None => it,
            };
            assert_eq!(shown.map(digits).collect::<Vec<_>>(), expected, "{agent:?}");
        }
    }
}

/// What is written where a mark was until then is listed, but nobody knows what was there before; what was there is not. Where the
/// folder was made in the meantime, all of it is new.
#[test]
fn a_mark_that_is_taken_away_hides_nothing_that_is_written_with_that() {
    let mark = "mkdir nw; touch nw/CACHEDIR.TAG; printf old > nw/old; sleep 0.1";
    for agent in BOTH {
        let mut lab = Lab::new();
        lab.write("f", "x");
        let before = lab.copy();
        lab.turn(agent, |lab| lab.shell(mark));
        lab.turn(agent, |lab| lab.shell("echo y > f"));
        let unmark = "rm nw/CACHEDIR.TAG; printf x > nw/run.sh";
        let kept = lab.turn(agent, |lab| lab.shell(unmark)).unwrap();
        let mut shown = lab.shown(&kept);
        shown.sort();
        assert_eq!(shown, ["nw/old (new)", "nw/run.sh (new)"], "{agent:?}");
        lab.act(Act::TakeBack, kept.turn.number);
        lab.write("f", "x");
        assert_eq!(lab.copy(), before, "{agent:?}");
    }
    for agent in BOTH {
        let mut lab = Lab::new();
        lab.write("f", "x");
        lab.shell(mark);
        let unmark = "sleep 0.1; rm nw/CACHEDIR.TAG; printf x > nw/run.sh";
        let kept = lab.turn(agent, |lab| lab.shell(unmark)).unwrap();
        let shown = lab.shown(&kept);
        let [found] = &*shown else {
            panic!("{agent:?}: {shown:?}");
        };
        assert!(found.starts_with("nw/run.sh"), "{agent:?}: {found}");
        let [change] = &*kept.turn.changes else {
            panic!("{agent:?}: {:?}", kept.turn.changes);
        };
        // It may have been the person's.
        assert!(!change.before.is_known());
    }
}

/// What a person has written since in a file of two names stays, and comes back, whichever is taken back first.
#[test]
fn a_persons_lines_in_a_file_of_two_names_stay() {
    let before: String = (0..12).map(|it| format!("line {it}\n")).collect();
    for (names, at_once) in [(["a", "b"], true), (["a", "b"], false), (["b", "a"], false)] {
        for is_new in [true, false] {
            let mut lab = Lab::new();
            lab.write("a", &before);
            if is_new {
                lab.write("b", "other\n");
            } else {
                lab.shell("ln a b");
            }
            let command = if is_new {
                "ln -f a b; echo x >> b"
            } else {
                "echo x >> a"
            };
            let kept = lab
                .turn(Agent::WithHooks, |lab| lab.shell(command))
                .unwrap();
            lab.shell("sed 's/line 0/mine/' a > new; cat new > a; rm new");
            let of_both = lab.copy();
            let turn = kept.turn.number;
            let do_one = |act: Act, name: &str| {
                let kept = Kept::read(&lab.store, turn).unwrap();
                let change = { kept.turn.changes.iter() }.find(|it| it.path == lab.root.join(name));
                let mut deciding = Deciding::new(&lab.store, &kept);
                deciding
                    .one(act, change.unwrap())
                    .map(drop)
                    .map_err(|it| it.to_string())
            };
            let case = format!("{names:?} {at_once} {is_new}");
            if is_new {
                // The name that has replaced another file has nothing of the person's then.
                assert!(do_one(Act::TakeBack, "b").is_err(), "{case}");
                continue;
            }
            match at_once {
                true => lab.act(Act::TakeBack, turn),
                false => names
                    .iter()
                    .for_each(|it| do_one(Act::TakeBack, it).unwrap()),
            }
            let mine = before.replace("line 0", "mine").into_bytes();
            let expected: Vec<_> = lab.copy().into_values().collect();
            assert_eq!(expected, [mine.clone(), mine], "{case}");
            match at_once {
                true => lab.act(Act::Undo, turn),
                false => { names.iter().rev() }.for_each(|it| do_one(Act::Undo, it).unwrap()),
            }
            assert_eq!(lab.copy(), of_both, "{case}");
        }
    }
}

/// What was made before the turn was there in another place, which may have been the only one.
#[test]
fn what_was_moved_to_where_agents_work_stays_unless_all_is_taken_back() {
    for (before, agents, stays) in [
        ("echo 1 > ../out", "mv ../out in", true),
        ("echo 1 > ../out", "mv ../out in; echo 2 >> in", true),
        ("mkdir ../d; echo 1 > ../d/a", "mv ../d in", true),
        ("ln -s x ../out", "mv ../out in", true),
        ("echo A=1 > .env", "mv .env in; echo B=2 >> in", true),
        (
            "head -c 20000000 /dev/zero > big",
            "mv big in; echo 2 >> in",
            true,
        ),
        // Whatever is in these, is elsewhere, or the agent's own.
        ("echo 1 > ../out", "cp -p ../out in", false),
        ("echo 1 > ../out", "ln ../out in", false),
        ("seq 9 > a", "mv a in", false),
        ("seq 9 > a", "mv a in; seq 20 30 > in", false),
        ("true", "echo 1 > b; mv b in", false),
    ] {
        let mut lab = Lab::new();
        lab.shell(before);
        // What is made within one step of the clock may be the turn's.
        let began = Instant::now();
        while began.elapsed() < Duration::from_millis(30) {
            std::thread::yield_now();
        }
        let kept = lab.turn(Agent::WithHooks, |lab| lab.shell(agents)).unwrap();
        let place = lab.root.join("in");
        let is_there = || place.symlink_metadata().is_ok();
        let turn = ChangeRef {
            turn: kept.turn.number,
            change: None,
        };
        let mut said = Vec::new();
        Deciding::new(&lab.store, &kept)
            .all(Act::TakeBack, &[turn], |it| said.push(it))
            .unwrap();
        assert_eq!(is_there(), stays, "{agents}: {said:?}");
        let of_it = said.iter().find(|it| it.path.starts_with("in")).unwrap();
        assert_eq!(of_it.is_left_out(), stays, "{agents}: {of_it:?}");
        let kept = Kept::read(&lab.store, kept.turn.number).unwrap();
        let mut deciding = Deciding::new(&lab.store, &kept);
        deciding.take_all();
        deciding.all(Act::TakeBack, &[turn], drop).unwrap();
        assert!(!is_there(), "{agents}");
        lab.act(Act::Undo, kept.turn.number);
        assert!(is_there(), "{agents}");
    }
}

/// The permissions of a file that stood for a folder are not the folder's: who is not root could not enter it any more.
#[test]
fn a_folder_gets_no_permissions_of_a_file_that_stood_for_it() {
    for agent in BOTH {
        let mut lab = Lab::new();
        lab.write("d/f", "f\n");
        lab.write("d/in/g", "g\n");
        let command = "rm -r d; echo x > d; chmod 640 d";
        let kept = lab.turn(agent, |lab| lab.shell(command)).unwrap();
        let turn = kept.turn.number;
        let after = lab.copy();
        lab.act(Act::TakeBack, turn);
        let kept = Kept::read(&lab.store, turn).unwrap();
        for change in &kept.turn.changes {
            let judged = kept.judged(change).unwrap();
            let is_folders = |it: &pillion_changes::state::FolderMode| it.before != 0o640;
            assert!(judged.folder_modes.iter().all(is_folders), "{judged:?}");
        }
        lab.act(Act::Undo, turn);
        assert_eq!(lab.copy(), after, "{agent:?}");
    }
}

/// What was done last is known by its turn: another one may have made the same of the file.
#[test]
fn what_was_taken_back_last_is_no_change_of_an_earlier_turn() {
    for command in ["rm a", "echo same > a"] {
        let mut lab = Lab::new();
        lab.write("a", "one\n");
        lab.turn(Agent::WithHooks, |lab| lab.shell(command))
            .unwrap();
        lab.write("a", "two\n");
        lab.turn(Agent::WithHooks, |lab| lab.shell(command))
            .unwrap();
        lab.act(Act::TakeBack, 2);
        let last = last_act(&lab.store, std::slice::from_ref(&lab.root)).unwrap();
        let last: Vec<_> = last.iter().map(ToString::to_string).collect();
        assert_eq!(last, ["2.1"], "{command}");
    }
}

/// What a later turn has removed is not in the file, whatever was taken back and undone of that turn: nothing is taken back and nothing comes
/// of undoing that.
#[test]
fn what_a_later_turn_has_removed_is_gone_after_that_was_taken_back_and_undone() {
    for (first, second) in [
        ("mv a b", "mv b c"),
        ("mv a b", "rm b"),
        ("echo n > b", "rm b"),
        ("rm a; echo other > b", "mv b c"),
    ] {
        let mut lab = Lab::new();
        lab.write("a", "one\ntwo\n");
        for command in [first, second] {
            lab.turn(Agent::WithHooks, |lab| lab.shell(command))
                .unwrap();
        }
        lab.act(Act::TakeBack, 2);
        lab.act(Act::Undo, 2);
        let now = lab.copy();
        let kept = Kept::read(&lab.store, 1).unwrap();
        let path = lab.root.join("b");
        let of_b = kept.turn.changes.iter().find(|it| it.path == path).unwrap();
        let done = Deciding::new(&lab.store, &kept).one(Act::TakeBack, of_b);
        assert_eq!(done.unwrap(), "no longer in the file", "{first} {second}");
        assert_eq!(lab.copy(), now, "{first} {second}");
    }
}

/// Undoing it needs no other undoing where a third file has the text.
#[test]
fn what_holds_a_text_that_stays_elsewhere_is_undone_alone() {
    let mut lab = Lab::new();
    lab.write("a", "same\ntext\n");
    lab.write("b", "same\ntext\n");
    let kept = { lab.turn(Agent::WithHooks, |lab| lab.shell("mv a c; echo x > b")) }.unwrap();
    let mut deciding = Deciding::new(&lab.store, &kept);
    for number in [1, 3, 2] {
        deciding
            .one(Act::TakeBack, kept.turn.change(number).unwrap())
            .unwrap();
    }
    for number in [2, 3, 1] {
        let kept = Kept::read(&lab.store, 1).unwrap();
        let mut deciding = Deciding::new(&lab.store, &kept);
        let name = format!("1.{number}").parse().unwrap();
        let undone = |it: pillion_changes::Decided| assert!(it.result.is_ok(), "{it:?}");
        deciding.all(Act::Undo, &[name], undone).unwrap();
    }
    let expected = [("b", "x\n"), ("c", "same\ntext\n")];
    let expected = expected.map(|(name, text)| (PathBuf::from(name), text.as_bytes().to_vec()));
    assert_eq!(lab.copy(), BTreeMap::from(expected));
}

/// Each row: what an agent does with folders and with files of several names. Everything is as before afterwards: texts, names,
/// permissions and folders; and what was never touched stays as it is.
#[test]
fn folders_and_other_names_of_files_are_as_before() {
    let rows = [
        "rm -r private",
        "mv private/in new; rm -r private",
        "mkdir -p new/deep; printf x > new/deep/f; printf y > new/g",
        "mv dir moved",
        "mv dir/f elsewhere; rmdir dir; mv elsewhere dir",
        "rm plain; mkdir plain; printf x > plain/in",
        "mv a b",
        "ln -f a b; printf x > c",
        "rm a; cp b a",
        "printf longer > a",
    ];
    for command in rows {
        for agent in BOTH {
            let mut lab = Lab::new();
            lab.shell(
                "mkdir -p private/in/er dir; printf f > private/in/er/f; printf g > private/in/g; printf f > dir/f;
                 chmod 700 private; chmod 2750 private/in; chmod 711 private/in/er;
                 printf p > plain; printf A > a; ln a a2; printf B > b",
            );
            let all = "find . -printf '%p %y %m\n' | sort";
            let folders = lab.run("sh", &["-c", all]);
            let before = lab.copy();
            let kept = lab.turn(agent, |lab| lab.shell(command)).unwrap();
            lab.act(Act::TakeBack, kept.turn.number);
            assert_eq!(lab.copy(), before, "{agent:?}: {command}");
            assert_eq!(lab.run("sh", &["-c", all]), folders, "{agent:?}: {command}");
        }
    }
}

/// While something is taken back, a folder of its path is exchanged for a link again and again.
#[test]
fn nothing_is_written_outside_while_folders_are_exchanged_for_links() {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use std::os::unix::fs::PermissionsExt;
    use std::sync::atomic::{AtomicBool, Ordering};
    for command in [
        "printf agent > d/f",
        "rm d/f",
        "chmod 600 d/f",
        "mv d/f d/g",
    ] {
        let mut lab = Lab::new();
        lab.write("d/f", "before");
        let outside = lab.folder.path().join("outside");
        fs::create_dir(&outside).unwrap();
        let kept = lab
            .turn(Agent::WithHooks, |lab| lab.shell(command))
            .unwrap();
        let (d, aside) = (lab.root.join("d"), lab.root.join("aside"));
        // The same text: to compare it does not tell that it is elsewhere.
        for name in ["f", "g"] {
            if let Ok(text) = fs::read(d.join(name)) {
                fs::write(outside.join(name), text).unwrap();
                let mode = d.join(name).metadata().unwrap().permissions();
                fs::set_permissions(outside.join(name), mode).unwrap();
            }
        }
        let facts = || {
            let facts = fs::read_dir(&outside).unwrap().map(|it| {
                let path = it.unwrap().path();
                let mode = path.metadata().unwrap().permissions().mode();
                (path.clone(), mode, fs::read(path).unwrap())
            });
            let mut facts: Vec<_> = facts.collect();
            facts.sort();
            facts
        };
        let before = facts();
        symlink(&outside, &aside).unwrap();
        let ends = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !ends.load(Ordering::Relaxed) {
                    renameat_with(CWD, &d, CWD, &aside, RenameFlags::EXCHANGE).unwrap();
                }
            });
            let (mut done, mut tries) = (0, 0);
            while done < 50 || tries < 200 {
                tries += 1;
                for change in kept.turn.real_changes() {
                    done +=
                        usize::from(take_back(&lab.store, &kept.turn.roots, change, None).is_ok());
                    let again = Change {
                        before: change.after.clone(),
                        after: change.before.clone(),
                        ..change.clone()
                    };
                    let _ = take_back(&lab.store, &kept.turn.roots, &again, None);
                }
            }
            ends.store(true, Ordering::Relaxed);
        });
        assert_eq!(facts(), before, "{command}");
    }
}

/// A person changes the file that a call is to change, and the call fails, or they reject it: it has changed nothing.
#[test]
fn what_a_person_changes_during_a_call_that_fails_is_theirs() {
    let edit = |lab: &Lab, id: &str| Call {
        path: Some(lab.root.join("a")),
        tool: "Edit".to_owned(),
        ..shell(id)
    };
    for (end, is_shell, expected) in [
        ("fails", false, None),
        ("is rejected", false, None),
        ("ends", false, Some("a")),
        ("fails", true, Some("a")),
    ] {
        let mut lab = Lab::new();
        lab.write("a", "one\ntwo\nthree\n");
        lab.recorder.begin(HOOKED, "claude", "").unwrap();
        let call = if is_shell {
            shell("1")
        } else {
            edit(&lab, "1")
        };
        lab.recorder.before(HOOKED, "claude", call).unwrap();
        lab.write("a", "mine\ntwo\nthree\n");
        let file = lab.root.join("a");
        match end {
            "fails" => lab.recorder.failed(HOOKED, "1", |_| ()).unwrap(),
            "is rejected" => lab.recorder.rejected(HOOKED, &file).unwrap(),
            _ => lab.recorder.after(HOOKED, "1", |_| Vec::new()).unwrap(),
        }
        let listed = |lab: &Lab| {
            let turn = lab.store.turn(1).unwrap();
            let listed = turn.real_changes().next();
            listed.map(|it| it.path.file_name().unwrap().to_str().unwrap().to_owned())
        };
        assert_eq!(listed(&lab).as_deref(), expected);
        // What it changes when it is tried again is its own, and their line stays.
        lab.recorder
            .before(HOOKED, "claude", edit(&lab, "2"))
            .unwrap();
        lab.write("a", "mine\ntwo\nagent\n");
        lab.recorder.after(HOOKED, "2", |_| Vec::new()).unwrap();
        lab.recorder.end(HOOKED).unwrap();
        lab.act(Act::TakeBack, 1);
        let first = if expected.is_none() { "mine" } else { "one" };
        let text = fs::read_to_string(lab.root.join("a")).unwrap();
        assert_eq!(text, format!("{first}\ntwo\nthree\n"));
    }
}

/// Of two calls on one file, of one agent or of two, neither is said to have made what a person did while both fail.
#[test]
fn what_a_person_changes_while_two_calls_fail_is_theirs() {
    for (is_other_agent, is_shell, second_fails, expected) in [
        (false, false, true, None),
        (true, false, true, None),
        (false, false, false, Some("Edit")),
        (true, false, false, Some("Write")),
        (false, true, false, Some("Bash")),
    ] {
        let mut lab = Lab::new();
        lab.write("a", "one\ntwo\n");
        let file = lab.root.join("a");
        let edit = |tool: &str, id: &str| Call {
            path: Some(file.clone()),
            tool: tool.to_owned(),
            ..shell(id)
        };
        let (other, agent, tool) = match is_other_agent {
            true => (HOOKED + 5, "codex", "Write"),
            false => (HOOKED, "claude", "Edit"),
        };
        lab.recorder.begin(HOOKED, "claude", "").unwrap();
        lab.recorder.goes_on(other, agent).unwrap();
        let first = edit("Edit", "1");
        lab.recorder.before(HOOKED, "claude", first).unwrap();
        // Two agents may call theirs the same.
        let id = if is_other_agent { "1" } else { "2" };
        let second = if is_shell { shell(id) } else { edit(tool, id) };
        lab.recorder.before(other, agent, second).unwrap();
        lab.write("a", "mine\ntwo\n");
        lab.recorder.failed(HOOKED, "1", |_| ()).unwrap();
        match second_fails {
            true => lab.recorder.failed(other, id, |_| ()).unwrap(),
            false => lab.recorder.after(other, id, |_| Vec::new()).unwrap(),
        }
        let turns = lab.store.numbers().unwrap().into_iter();
        let changes = turns.flat_map(|it| lab.store.turn(it).unwrap().changes);
        let changes: Vec<_> = changes
            .filter(|it| !it.is_undone())
            .map(|it| it.by)
            .collect();
        let expected: Vec<_> = { expected.into_iter() }
            .map(|tool: &str| Author::Tool(tool.to_owned()))
            .collect();
        assert_eq!(
            changes, expected,
            "{is_other_agent} {is_shell} {second_fails}"
        );
    }
}

/// An agent that names a link to a file writes that file: it is the call's own, and what was accepted is known as that.
#[test]
#[cfg(unix)]
fn what_a_call_writes_behind_a_link_is_its_own() {
    let mut lab = Lab::new();
    lab.write("a", "old\n");
    let (file, link) = (lab.root.join("a"), lab.root.join("link"));
    symlink("a", &link).unwrap();
    let before = pillion_text::fingerprint::of(Some(b"old\n"));
    lab.recorder.begin(HOOKED, "claude", "").unwrap();
    let edit = Call {
        path: Some(link),
        tool: "Edit".to_owned(),
        ..shell("1")
    };
    lab.recorder.before(HOOKED, "claude", edit).unwrap();
    lab.write("a", "new\n");
    let seen_from = |path: &Path| vec![before.clone(); usize::from(path == file)];
    lab.recorder.after(HOOKED, "1", seen_from).unwrap();
    lab.recorder.end(HOOKED).unwrap();
    let turn = lab.store.turn(1).unwrap();
    let changes = turn.real_changes().map(|it| (&it.by, it.state(None)));
    let expected = (&Author::Tool("Edit".to_owned()), ChangeState::Accepted);
    assert_eq!(changes.collect::<Vec<_>>(), [expected]);
}

/// Codex CLI does not tell that a command has run which applies a patch: what was accepted is known as that at the end of the turn, and
/// when its next call begins.
#[test]
fn what_was_accepted_is_known_as_accepted_if_the_end_of_its_call_is_not_told() {
    for has_next in [false, true] {
        let mut lab = Lab::new();
        lab.write("a", "old\n");
        let before = pillion_text::fingerprint::of(Some(b"old\n"));
        lab.recorder.on_accepted(move |_| vec![before.clone()]);
        lab.recorder.begin(HOOKED, "codex", "").unwrap();
        lab.recorder.before(HOOKED, "codex", shell("1")).unwrap();
        lab.write("a", "new\n");
        if has_next {
            lab.recorder.before(HOOKED, "codex", shell("2")).unwrap();
            lab.recorder.on_accepted(|_| Vec::new());
        }
        lab.recorder.end(HOOKED).unwrap();
        let turn = lab.store.turn(1).unwrap();
        let states = turn.real_changes().map(|it| it.state(None));
        assert_eq!(
            states.collect::<Vec<_>>(),
            [ChangeState::Accepted],
            "{has_next}"
        );
    }
}

/// As a server has its output open; another one that the agent's command has started; and one that has closed it again, which
/// nobody can tell from the command.
#[test]
#[cfg(target_os = "linux")]
fn what_another_program_writes_while_a_command_runs_is_unclear() {
    let mut lab = Lab::new();
    lab.write("a", "old\n");
    let run = |script: &str| {
        let mut sh = Command::new("sh");
        sh.args(["-c", script]).current_dir(&lab.root);
        sh.stdin(Stdio::piped()).spawn().unwrap()
    };
    let wait_for = |name: &str| {
        let path = lab.root.join(name);
        let started = Instant::now();
        while fs::read(&path).unwrap_or_default().is_empty() {
            assert!(started.elapsed() < Duration::from_secs(60), "{name}");
        }
    };
    lab.recorder.begin(HOOKED, "claude", "").unwrap();
    lab.recorder.before(HOOKED, "claude", shell("1")).unwrap();
    let mut agent = run("(exec 3> own; echo x >&3; read end); true");
    let mut server =
        run("exec 3> output; echo x >&3; exec 4>> a; echo y >&4; echo x > closed; read end");
    ["own", "closed"].into_iter().for_each(wait_for);
    lab.recorder.is_process(HOOKED, agent.id());
    lab.recorder.after(HOOKED, "1", |_| Vec::new()).unwrap();
    lab.recorder.end(HOOKED).unwrap();
    let turn = lab.store.turn(1).unwrap();
    let of = |by: &Author| {
        let changes = turn.real_changes().filter(|it| it.by == *by);
        let names = changes.map(|it| it.path.file_name().unwrap().to_str().unwrap());
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    let [mut unclear, mut its] = [of(&Author::Unclear), of(&Author::Tool("Bash".to_owned()))];
    unclear.sort();
    its.sort();
    assert_eq!(
        (unclear, its),
        (
            vec!["a".into(), "output".into()],
            vec!["closed".into(), "own".into()]
        )
    );
    for child in [&mut agent, &mut server] {
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}

/// By the turn, by one name after the other, and whichever is taken back first; and each comes back.
#[test]
fn what_is_taken_back_by_one_name_of_a_file_is_no_persons_by_the_others() {
    for (command, mode) in [
        ("echo new > f; ln f k", 0o644),
        ("echo new > f; ln f k; ln f m; ln f c", 0o644),
        ("echo new > g; ln g k", 0o644),
        ("echo new > f; ln -f f h", 0o644),
        ("chmod 644 g; echo new > g; chmod 444 g", 0o444),
        ("ln -f g h", 0o444),
        ("chmod 444 f; ln f k", 0o444),
        ("ln -f f h; echo new >> h", 0o644),
        ("ln -f g h; echo new >> h", 0o444),
    ] {
        for (order, is_back_in_order) in (0..8).map(|it| (it / 2, it % 2 == 0)) {
            let mut lab = Lab::new();
            lab.write("f", "old\n");
            lab.write("g", "old g\n");
            lab.write("h", "old h\n");
            fs::hard_link(lab.root.join("g"), lab.root.join("twin")).unwrap();
            fs::set_permissions(lab.root.join("g"), Permissions::from_mode(mode)).unwrap();
            let texts = |lab: &Lab| {
                let names = ["f", "g", "h", "twin", "k", "m", "c"].map(|it| lab.root.join(it));
                let mode = |it: &PathBuf| it.metadata().map(|it| it.mode() & 0o777).ok();
                names.map(|it| (mode(&it), fs::read_to_string(it).ok()))
            };
            let before = texts(&lab);
            let kept = lab
                .turn(Agent::WithHooks, |lab| lab.shell(command))
                .unwrap();
            let after = texts(&lab);
            let mut names: Vec<_> = kept.turn.real_changes().map(|it| kept.name(it)).collect();
            match order {
                0 => {
                    names = vec![ChangeRef {
                        turn: 1,
                        change: None,
                    }]
                }
                1 => names.reverse(),
                _ => names.rotate_left(order - 2),
            }
            let mut stages = Vec::new();
            for (act, expected) in [(Act::TakeBack, &before), (Act::Undo, &after)] {
                for name in &names {
                    if act == Act::TakeBack {
                        stages.push(texts(&lab));
                    }
                    let kept = Kept::read(&lab.store, 1).unwrap();
                    let mut deciding = Deciding::new(&lab.store, &kept);
                    let done = deciding.all(act, &[*name], |it| {
                        assert!(it.result.is_ok(), "{command} {order}: {it:?}");
                    });
                    done.unwrap();
                    // What is undone is the last act, and nothing before it.
                    if act == Act::Undo && is_back_in_order {
                        assert_eq!(Some(texts(&lab)), stages.pop(), "{command} {order} {name}");
                    }
                }
                assert_eq!(texts(&lab), *expected, "{command} {order} {act:?}");
                if is_back_in_order {
                    names.reverse();
                }
            }
        }
    }
}

/// Each row: what somebody does to the file after the turn, and the text that it has then. The name elsewhere keeps its text and its
/// permissions, whether all is taken back, a hunk, or the person's own text is written, and when that is undone.
#[test]
fn a_file_that_is_exchanged_for_a_hard_link_is_not_written_through() {
    let (old, new) = ("1\n2\n3\n4\n5\n6\n7\n8\n", "1\ntwo\n3\n4\n5\n6\n7\neight\n");
    let merged = new.replace('4', "mine");
    for (is_other_file, text) in [(true, new), (true, merged.as_str()), (false, new)] {
        for agent in BOTH {
            for way in ["all", "hunk", "text", "mode"] {
                let mut lab = Lab::new();
                lab.write("f", old);
                let file = lab.root.join("f");
                lab.recorder.glance().unwrap();
                let written = if way == "mode" { old } else { new };
                let text = if way == "mode" { old } else { text };
                let kept = lab
                    .turn(agent, |lab| {
                        lab.write("f", written);
                        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
                    })
                    .unwrap();
                let elsewhere = lab.folder.path().join("elsewhere");
                if is_other_file {
                    fs::write(&elsewhere, text).unwrap();
                    fs::set_permissions(&elsewhere, Permissions::from_mode(0o640)).unwrap();
                    fs::remove_file(&file).unwrap();
                    fs::hard_link(&elsewhere, &file).unwrap();
                } else {
                    fs::hard_link(&file, &elsewhere).unwrap();
                }
                let why = format!("{is_other_file} {agent:?} {way} {text:?}");
                let is_untouched = |when: &str| {
                    assert_eq!(
                        fs::read_to_string(&elsewhere).unwrap(),
                        text,
                        "{why} {when}"
                    );
                    let mode = elsewhere.metadata().unwrap().mode() & 0o777;
                    assert_eq!(mode, 0o640, "{why} {when}");
                };
                let change = kept.turn.real_changes().next().unwrap();
                let mut deciding = Deciding::new(&lab.store, &kept);
                match way {
                    "hunk" => {
                        deciding.take_lines_back(change, 0..2).unwrap();
                    }
                    "text" => {
                        let seen = present(&lab.store, &kept.turn.roots, change).unwrap();
                        deciding.rewrite(change, &seen, "mine\n").unwrap();
                    }
                    _ => lab.act(Act::TakeBack, kept.turn.number),
                }
                is_untouched("taken back");
                let now = fs::read_to_string(&file).unwrap();
                assert_ne!(
                    (file.metadata().unwrap().mode() & 0o777, &*now),
                    (0o640, text),
                    "{why}"
                );
                lab.act(Act::Undo, kept.turn.number);
                is_untouched("undone");
                assert_eq!(fs::read_to_string(&file).unwrap(), text, "{why}");
            }
        }
    }
}

/// What may be secret by its name, or is named by the person, is listed, and no text of it is kept.
#[test]
fn no_text_of_a_secret_is_kept_and_that_it_changed_is_listed() {
    for agent in BOTH {
        let mut lab = Lab::new();
        lab.write(".env", "TOKEN=secret-1");
        lab.write("in/named", "secret-2");
        lab.write("plain", "plain");
        lab.write(".pillionignore", "named\n");
        let work = |lab: &Lab| {
            lab.shell("printf secret-3 > .env; printf secret-4 > in/named; printf x > plain; printf secret-5 > new.pem");
            // What the agent names itself hides nothing.
            lab.write(".pillionignore", "named\nplain\n");
        };
        let kept = lab.turn(agent, work).unwrap();
        let shown = lab.shown(&kept);
        assert_eq!(
            shown,
            [
                ".env, its contents before were not kept",
                ".pillionignore",
                "in/named, its contents before were not kept",
                "new.pem (new), its contents are not kept",
                "plain",
            ]
        );
        let uncovered = &kept.turn.uncovered;
        assert!(
            uncovered[0].contains("what may be secret: .env, in/named"),
            "{uncovered:?}"
        );
        for change in kept.turn.real_changes() {
            let roots = &kept.turn.roots;
            let is_possible = kept.is_revertible(change);
            let refused = take_back(&lab.store, roots, change, None)
                .err()
                .map(|it| it.to_string());
            let is_known = change.before.is_known() && change.after.is_known();
            assert_eq!(
                (refused.is_none(), is_possible),
                (is_known, is_known),
                "{change:?}"
            );
            let is_new = change.before.is_absent();
            let said = if is_new {
                "may hold a secret"
            } else {
                "before the change was not kept"
            };
            assert!(refused.is_none_or(|it| it.contains(said)), "{change:?}");
        }
        let all = lab.run("sh", &["-c", "grep -rl secret- ../state || true"]);
        assert_eq!(all, "");
    }
}

/// What an agent made too long to be kept is taken back and brought back; what somebody has changed since, and nobody could tell
/// from that, stays.
#[test]
fn a_file_that_became_too_long_is_taken_back() {
    for agent in BOTH {
        let mut lab = Lab::new();
        lab.write("f", "old\n");
        lab.write("changed", "old\n");
        lab.write("aside", "old\n");
        let before = lab.copy();
        let grow = "truncate -s 17M f changed aside new";
        let kept = lab.turn(agent, |lab| lab.shell(grow)).unwrap();
        let (number, after) = (kept.turn.number, lab.copy());
        lab.act(Act::TakeBack, number);
        assert_eq!(lab.copy(), before);
        lab.act(Act::Undo, number);
        assert_eq!(lab.copy(), after);
        lab.shell("echo mine > changed; mv aside mine");
        let kept = Kept::read(&lab.store, number).unwrap();
        let mut results = BTreeMap::new();
        for change in kept.turn.real_changes() {
            let done = take_back(&lab.store, &kept.turn.roots, change, None);
            let name = change.path.file_name().unwrap().to_str().unwrap();
            results.insert(name.to_owned(), done.map(drop));
        }
        let refused = results.remove("changed").unwrap().unwrap_err();
        assert!(
            matches!(refused, TakeBackError::Incomparable(_)),
            "{refused}"
        );
        assert_eq!(
            refused.hint().unwrap(),
            "Move it aside, and give the command again."
        );
        assert!(results.values().all(Result::is_ok), "{results:?}");
        lab.shell("printf 'mine\\nold\\nold\\n' > ../expected; cat changed f aside | cmp - ../expected; ! test -e new");
    }
}

#[test]
fn what_is_too_long_to_be_taken_back_is_not_said_to_be_revertible() {
    for (size, is_possible) in [("17M", true), ("64M", true), ("65M", false)] {
        let mut lab = Lab::new();
        lab.write("f", "old\n");
        let grow = format!("truncate -s {size} f");
        let kept = lab.turn(Agent::WithHooks, |lab| lab.shell(&grow)).unwrap();
        let change = kept.turn.real_changes().next().unwrap();
        assert_eq!(kept.is_revertible(change), is_possible, "{size}");
        let said = match is_possible {
            true => "its contents are kept only once it is taken back",
            false => "its contents are not kept",
        };
        assert!(kept.place(change).ends_with(said), "{size}");
        let done = take_back(&lab.store, &kept.turn.roots, change, None);
        assert_eq!(done.is_ok(), is_possible, "{done:?}");
    }
}

/// A folder that has taken the place of a file or a link goes, if nothing is in it; otherwise it is named.
#[test]
fn an_empty_folder_makes_way_for_the_file_that_it_replaced() {
    for agent in BOTH {
        for (work, is_empty) in [
            ("rm f; mkdir f", true),
            ("rm f; mkdir -p f/in/deep f/other; chmod 700 f/in", true),
            ("rm link; mkdir link", true),
            ("rm f; mkdir f; mkfifo f/pipe", false),
            (
                "rm f; mkdir -p f/node_modules; echo x > f/node_modules/x",
                false,
            ),
            ("rm f; mkdir -p f/a; echo x > f/a/x; rm f/a/x", true),
        ] {
            let mut lab = Lab::new();
            lab.write("f", "old\n");
            lab.shell("ln -s f link");
            let before = lab.copy();
            let kept = lab.turn(agent, |lab| lab.shell(work)).unwrap();
            if is_empty {
                let list = "find . -type d ! -path './.git*' -exec stat -c '%n %a' {} + | sort";
                let folders = lab.run("sh", &["-c", list]);
                for _ in 0..2 {
                    lab.act(Act::TakeBack, kept.turn.number);
                    assert_eq!(lab.copy(), before, "{work}");
                    lab.act(Act::Undo, kept.turn.number);
                    assert_ne!(lab.copy(), before, "{work}");
                    assert_eq!(lab.run("sh", &["-c", list]), folders, "{work}");
                }
                continue;
            }
            let change = kept.turn.real_changes().next().unwrap();
            let refused = take_back(&lab.store, &kept.turn.roots, change, None).unwrap_err();
            assert!(matches!(refused, TakeBackError::Folder(_)), "{refused}");
            lab.shell("ls f/*");
        }
    }
}

/// A folder that one call opens to all, and a later one takes away or moves, is as private again as before both.
#[test]
fn a_private_folder_that_was_opened_first_is_private_again() {
    use std::os::unix::fs::PermissionsExt;
    for agent in BOTH {
        for later in ["rm -r p", "mv p pp"] {
            let mut lab = Lab::new();
            lab.write("p/q/f", "old\n");
            lab.shell("chmod 700 p; chmod 750 p/q");
            let session = match agent {
                Agent::WithoutHooks => {
                    drop(lab.recorder.attend(ATTENDED, "opencode").unwrap());
                    ATTENDED
                }
                Agent::WithHooks => {
                    lab.recorder.begin(HOOKED, "claude", "").unwrap();
                    HOOKED
                }
            };
            for command in ["chmod 777 p p/q", later] {
                if agent == Agent::WithHooks {
                    lab.recorder.before(HOOKED, "claude", shell("1")).unwrap();
                }
                lab.shell(command);
                match agent {
                    Agent::WithoutHooks => drop(lab.recorder.glance().unwrap()),
                    Agent::WithHooks => lab.recorder.after(HOOKED, "1", |_| Vec::new()).unwrap(),
                }
            }
            lab.recorder.left(session).unwrap();
            lab.act(Act::TakeBack, 1);
            for (folder, mode) in [("p", 0o700), ("p/q", 0o750)] {
                let found = fs::metadata(lab.root.join(folder)).unwrap().permissions();
                assert_eq!(found.mode() & 0o777, mode, "{agent:?} {later} {folder}");
            }
        }
    }
}

/// What is said of a folder's permissions is about the one that was there, and about one that is there.
#[test]
fn permissions_of_a_folder_that_took_anothers_place_are_undone_to_those_before() {
    for (commands, said) in [
        (
            &["mv p x; mv e p; mv x e", "chmod 777 p"][..],
            Some("`chmod 700 p` undoes it"),
        ),
        (
            &["chmod 777 p", "mv p x; mv e p; mv x e; chmod 777 p"],
            Some("`chmod 700 p` undoes it"),
        ),
        (&["chmod 777 p"], Some("`chmod 700 p` undoes it")),
        (&["chmod 777 p", "rm -r p"], None),
        (&["chmod 777 p", "mv p pp"], None),
        (&["chmod 777 p", "chmod 700 p"], None),
    ] {
        let mut lab = Lab::new();
        lab.write("p/f", "old\n");
        lab.write("e/g", "other\n");
        lab.shell("chmod 700 p; chmod 755 e");
        let number = lab.recorder.begin(HOOKED, "claude", "").unwrap();
        for command in commands {
            lab.recorder.before(HOOKED, "claude", shell("1")).unwrap();
            lab.shell(command);
            lab.recorder.after(HOOKED, "1", |_| Vec::new()).unwrap();
        }
        lab.recorder.end(HOOKED).unwrap();
        // A turn in which all was undone is none.
        let kept = || Kept::read(&lab.store, number).ok();
        let remarks = || kept().map_or_else(Vec::new, |it| it.remarks());
        let of_p: Vec<_> = { remarks().into_iter() }
            .filter(|it| it.contains("chmod"))
            .collect();
        assert_eq!(
            of_p.len(),
            usize::from(said.is_some()),
            "{commands:?}: {of_p:?}"
        );
        assert!(
            of_p.iter()
                .all(|it| said.is_some_and(|said| it.ends_with(said))),
            "{commands:?}: {of_p:?}"
        );
        // Whoever does that is told no more.
        lab.shell("test ! -d p || chmod 700 p");
        assert_eq!(remarks(), [""; 0], "{commands:?}");
    }
}

/// A folder of one person's alone that went in one call, and was made again in a later one, is theirs alone again.
#[test]
fn a_private_folder_that_was_made_again_is_private_again() {
    use std::os::unix::fs::PermissionsExt;
    for (agent, later) in BOTH
        .into_iter()
        .flat_map(|it| [(it, "mkdir p; echo x > p/x"), (it, "mkdir -p p")])
    {
        let mut lab = Lab::new();
        lab.write("p/f", "old\n");
        lab.shell("chmod 700 p");
        let between = |lab: &mut Lab| match agent {
            Agent::WithoutHooks => drop(lab.recorder.glance().unwrap()),
            Agent::WithHooks => lab.recorder.after(HOOKED, "1", |_| Vec::new()).unwrap(),
        };
        match agent {
            Agent::WithoutHooks => drop(lab.recorder.attend(ATTENDED, "opencode").unwrap()),
            Agent::WithHooks => drop(lab.recorder.begin(HOOKED, "claude", "").unwrap()),
        }
        for command in ["rm -r p", later] {
            if agent == Agent::WithHooks {
                lab.recorder.before(HOOKED, "claude", shell("1")).unwrap();
            }
            lab.shell(command);
            between(&mut lab);
        }
        lab.recorder
            .left(if agent == Agent::WithHooks {
                HOOKED
            } else {
                ATTENDED
            })
            .unwrap();
        lab.act(Act::TakeBack, 1);
        let mode = fs::metadata(lab.root.join("p"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o700, "{agent:?} {later}");
        lab.act(Act::Undo, 1);
        let left = fs::metadata(lab.root.join("p/x")).map(|_| lab.root.join("p"));
        if let Ok(folder) = left {
            let mode = fs::metadata(folder).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o755, "{agent:?} {later}");
        }
    }
}
