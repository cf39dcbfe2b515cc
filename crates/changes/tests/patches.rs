//! Patches are those that `git apply` takes: whatever the bytes, names and kinds of files are.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]
#![cfg(unix)]

mod shared;

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use pillion_changes::{FileState, Store, patch};

use shared::WorkTree;

/// A file, a link, or nothing.
#[derive(Debug, Clone, Copy)]
enum Is {
    File(u32, &'static [u8]),
    Link(&'static str),
    Nothing,
}

impl Is {
    fn state(self, store: &Store) -> FileState {
        match self {
            Self::Nothing => FileState::Absent,
            Self::Link(target) => FileState::Link {
                text: Some(store.put(target.as_bytes()).unwrap()),
            },
            Self::File(mode, text) => FileState::File {
                mode,
                size: text.len() as u64,
                text: Some(store.put(text).unwrap()),
            },
        }
    }

    fn make(self, path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match self {
            Self::Nothing => {}
            Self::Link(target) => symlink(target, path).unwrap(),
            Self::File(mode, text) => {
                fs::write(path, text).unwrap();
                fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
            }
        }
    }

    fn check(self, path: &Path, about: &str) {
        match self {
            Self::Nothing => assert!(path.symlink_metadata().is_err(), "{about}"),
            Self::Link(target) => {
                assert_eq!(fs::read_link(path).unwrap(), Path::new(target), "{about}");
            }
            Self::File(mode, text) => {
                assert_eq!(fs::read(path).unwrap(), text, "{about}");
                let now = path.symlink_metadata().unwrap().permissions().mode();
                assert_eq!(now & 0o100, mode & 0o100, "{about}");
            }
        }
    }
}

/// Returns true if git applies the patch in this folder.
fn is_taken(tree: &WorkTree, root: &Path, patch: &[u8]) -> bool {
    let mut git = Command::new("git");
    git.args(["apply", "-"]).current_dir(root);
    git.env("GIT_CEILING_DIRECTORIES", &tree.root);
    let mut git = git.stdin(Stdio::piped()).spawn().unwrap();
    git.stdin.take().unwrap().write_all(patch).unwrap();
    git.wait().unwrap().success()
}

#[test]
fn git_takes_the_patch_of_any_change_there_and_back() {
    use Is::{File, Link, Nothing};
    let changes = [
        (File(0o644, b"one\ntwo\n"), File(0o644, b"one\nzwei\n")),
        (Nothing, File(0o644, b"new")),
        (Nothing, File(0o755, b"")),
        (File(0o644, b"gone\n"), Nothing),
        (File(0o644, b"x\n"), File(0o755, b"x\n")),
        (File(0o644, b"x\n"), File(0o755, b"y\n")),
        (File(0o644, b"x\n"), File(0o600, b"y\n")),
        (File(0o644, b"a\rb\nc\n"), File(0o644, b"a\rB\rC\nc\n")),
        (
            File(0o644, b"gr\xfc\xdfe\n"),
            File(0o644, b"Gr\xfc\xdfe\n\xff"),
        ),
        (Nothing, Link("some where")),
        (Link("some where"), Link("else")),
        (Link("else"), Nothing),
        (File(0o644, b"x\n"), Link("else")),
        (Link("else"), File(0o644, b"x\n")),
    ];
    let names = [
        "a",
        "in/a b",
        "t\tab",
        "q\"uote\\",
        "\u{e9}\u{2603}",
        "n\newline",
    ];
    let tree = WorkTree::new();
    let mut number = 0;
    for (before, after) in changes {
        for name in names {
            for (from, to) in [(before, after), (after, before)] {
                number += 1;
                let root = tree.root.join(number.to_string());
                let path = root.join(name);
                from.make(&path);
                let states = (from.state(&tree.store), to.state(&tree.store));
                let patch = patch::of(&tree.store, Path::new(name), &states.0, &states.1);
                let about = String::from_utf8_lossy(&patch).into_owned();
                assert!(is_taken(&tree, &root, &patch), "{about}");
                to.check(&path, &about);
            }
        }
    }
}

#[test]
fn what_git_cannot_know_is_a_remark_and_no_name_adds_lines() {
    let tree = WorkTree::new();
    let file = |mode, text: Option<&[u8]>| FileState::File {
        mode,
        size: 3,
        text: text.map(|it| tree.store.put(it).unwrap()),
    };
    for (name, before, after, expected) in [
        (
            "a",
            file(0o4755, Some(b"x")),
            file(0o755, Some(b"x")),
            "# mode 4755 \u{2192} 755\n",
        ),
        (
            "a\n+++ b/c",
            file(0o644, None),
            file(0o644, Some(b"x")),
            "diff --git \"a/a\\n+++ b/c\" \"b/a\\n+++ b/c\"\n\
             index 0000000..0000000\nBinary files \"a/a\\n+++ b/c\" and \"b/a\\n+++ b/c\" differ\n# its text was not kept\n",
        ),
        (
            "\u{1b}[2J\u{202e}",
            file(0o644, Some(b"\0")),
            FileState::Absent,
            "diff --git \"a/\\033[2J\\342\\200\\256\" \"b/\\033[2J\\342\\200\\256\"\n\
             deleted file mode 100644\nindex 0000000..0000000\n\
             Binary files \"a/\\033[2J\\342\\200\\256\" and /dev/null differ\n",
        ),
    ] {
        let patch = patch::of(&tree.store, Path::new(name), &before, &after);
        assert_eq!(String::from_utf8(patch).unwrap(), expected);
    }
}

/// Git would make an empty file of it, or change the permissions alone.
#[test]
fn git_refuses_what_the_patch_does_not_have() {
    let tree = WorkTree::new();
    let file = |mode, text: Option<&[u8]>| FileState::File {
        mode,
        size: 3,
        text: text.map(|it| tree.store.put(it).unwrap()),
    };
    let text = Path::new("text");
    let beside = patch::of(
        &tree.store,
        text,
        &FileState::Absent,
        &file(0o644, Some(b"x\n")),
    );
    for (before, after) in [
        (FileState::Absent, file(0o644, Some(b"\0"))),
        (FileState::Absent, file(0o644, None)),
        (file(0o644, Some(b"x\n")), file(0o755, Some(b"\0"))),
        (file(0o644, None), file(0o755, Some(b"x\n"))),
        (file(0o644, Some(b"\0")), FileState::Absent),
    ] {
        let patch = patch::of(&tree.store, Path::new("a"), &before, &after);
        let root = tree.root.join("work");
        fs::create_dir_all(&root).unwrap();
        if !before.is_absent() {
            fs::write(root.join("a"), b"x\n").unwrap();
        }
        let all = [&*beside, &patch, &*beside].concat();
        assert!(
            !is_taken(&tree, &root, &all),
            "{}",
            String::from_utf8_lossy(&all)
        );
        assert!(!root.join(text).exists() && root.join("a").exists() != before.is_absent());
        fs::remove_dir_all(root).unwrap();
    }
}
