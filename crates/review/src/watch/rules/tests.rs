//! The rules about what is ignored, compared with git.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::*;

/// A folder with these files, given as path and text.
fn folder_with(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    for (name, text) in files {
        let file = path.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
        if let Some((top, _)) = name.split_once(".git/") {
            let git = path.join(top).join(".git");
            for inner in ["objects", "refs"] {
                fs::create_dir_all(git.join(inner)).unwrap();
            }
            fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        }
    }
    (folder, path)
}

/// Returns true if a file below `root` is ignored, asked as the walk does: from folder to folder.
fn is_ignored(root: &Path, excludes: Option<&Path>, file: &str) -> bool {
    let mut folder = root.to_owned();
    let within =
        |rules: &Rules, folder: &Path| rules.within(folder, |name| folder.join(name).exists());
    let mut rules = within(&Rules::above(root, excludes), root);
    let mut parts = Path::new(file).iter().peekable();
    while let Some(part) = parts.next() {
        folder.push(part);
        let is_folder = parts.peek().is_some();
        if rules.ignore(&folder, is_folder) {
            return true;
        }
        if is_folder {
            rules = within(&rules, &folder);
        }
    }
    false
}

#[track_caller]
fn check(root: &Path, excludes: Option<&Path>, expected: &[(&str, bool)]) {
    for (file, expected) in expected {
        assert_eq!(is_ignored(root, excludes, file), *expected, "{file}");
    }
}

#[test]
fn ignored_and_hidden_files_are_left_out_without_a_repository_too() {
    let (_folder, root) = folder_with(&[
        (
            ".gitignore",
            "target/\n*.log\n[wrong\n\u{feff}\n/only-here\n",
        ),
        ("src/.gitignore", "!keep.log\ndeep/\n"),
        ("src/.ignore", "keep.log.old\n"),
    ]);
    check(
        &root,
        None,
        &[
            ("src/a.rs", false),
            ("a.log", true),
            ("src/keep.log", false),
            ("src/keep.log.old", true),
            ("src/deep/a.rs", true),
            ("target/debug/x", true),
            (".git/HEAD", true),
            ("src/.env", true),
            ("only-here", true),
            ("src/only-here", false),
        ],
    );
}

#[test]
fn rules_above_the_root_hold_up_to_the_top_of_the_repository() {
    let (_folder, outer) = folder_with(&[
        (".gitignore", "*.rs\n"),
        ("repo/.gitignore", "*.env.json\n/sub/out/\n"),
        ("repo/.git/info/exclude", "mine.txt\n"),
        ("repo/sub/a.rs", ""),
    ]);
    check(
        &outer.join("repo/sub"),
        None,
        &[
            ("secret.env.json", true),
            ("out/a.txt", true),
            ("mine.txt", true),
            ("a.rs", false),
        ],
    );
}

#[test]
fn a_folder_called_git_that_is_no_repository_keeps_no_rules_out() {
    let (_folder, outer) = folder_with(&[(".git/HEAD", ""), (".gitignore", "*.log\n")]);
    fs::create_dir_all(outer.join("sub/.git")).unwrap();
    check(&outer.join("sub"), None, &[("a.log", true)]);
    check(&outer, None, &[("sub/a.log", true)]);
}

#[test]
fn a_folder_that_was_asked_for_is_not_ignored_itself() {
    let (_folder, outer) = folder_with(&[
        (".gitignore", "scratch/\n*.log\n"),
        (".git/HEAD", ""),
        ("scratch/a.rs", ""),
    ]);
    check(
        &outer.join("scratch"),
        None,
        &[
            ("a.rs", false),
            ("a.log", true),
            ("deep/scratch/a.rs", true),
        ],
    );
}

#[test]
fn what_the_user_ignores_everywhere_is_ignored_unless_the_repository_says_else() {
    let (_folder, root) = folder_with(&[
        ("excludes", "*.secret\n/private/\n*.local\n"),
        ("repo/.git/info/exclude", "!shared.local\n"),
        ("repo/sub/.gitignore", "!public.secret\n"),
        ("plain/a", ""),
    ]);
    let excludes = root.join("excludes");
    let excludes = Some(excludes.as_path());
    check(
        &root.join("repo"),
        excludes,
        &[
            ("a.secret", true),
            ("private/a", true),
            ("sub/private/a", false),
            ("sub/public.secret", false),
            ("mine.local", true),
            ("shared.local", false),
        ],
    );
    check(&root.join("plain"), excludes, &[("a.secret", true)]);
}

#[test]
fn worktrees_and_submodules_have_the_rules_of_the_folder_that_their_file_leads_to() {
    let (_folder, root) = folder_with(&[
        ("main/.git/info/exclude", "mine.txt\n"),
        ("main/.git/worktrees/other/commondir", "../..\n"),
        ("main/.git/modules/lib/info/exclude", "its.txt\n"),
        ("main/.gitignore", "*.log\n"),
        ("main/lib/.git", "gitdir: ../.git/modules/lib\n"),
        ("broken/.git", "no such thing\n"),
    ]);
    let worktree = root.join("other");
    fs::create_dir(&worktree).unwrap();
    let leads_to = root.join("main/.git/worktrees/other");
    fs::write(
        worktree.join(".git"),
        format!("gitdir: {}\n", leads_to.display()),
    )
    .unwrap();
    check(&worktree, None, &[("mine.txt", true), ("a.txt", false)]);
    check(
        &root.join("main"),
        None,
        &[
            ("mine.txt", true),
            ("lib/its.txt", true),
            ("its.txt", false),
            // Rules from around a repository do not hold inside it.
            ("lib/mine.txt", false),
            ("lib/a.log", false),
        ],
    );
    check(&root.join("broken"), None, &[("a.txt", false)]);
}

#[cfg(unix)]
#[test]
fn rules_that_are_no_regular_file_are_not_waited_for() {
    let (_folder, root) = folder_with(&[("rules", "*.rs\n")]);
    std::os::unix::fs::symlink("rules", root.join(".gitignore")).unwrap();
    let made = Command::new("mkfifo").arg(root.join(".ignore")).status();
    assert!(made.unwrap().success());
    check(&root, None, &[("a.rs", false)]);
}

#[test]
fn git_says_the_same() {
    let (_folder, root) = folder_with(&[
        ("excludes", "*.everywhere\n"),
        (
            ".gitignore",
            "/top\n*.log\n!important.log\nbuild/\nsub/*.txt\n",
        ),
        ("sub/.gitignore", "*\n!keep.*\n!more/\n"),
        (
            "docs/.gitignore",
            "**/draft/**\nfoo[0-9].md\n\\#odd\nspace\\ \n",
        ),
        ("a/b/.gitignore", "c/d\n!/x.everywhere\n"),
    ]);
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.current_dir(&root).env("GIT_CONFIG_NOSYSTEM", "1");
        git.env("HOME", &root).args(arguments).output().unwrap()
    };
    assert!(git(&["init", "--quiet"]).status.success());
    let excludes = root.join("excludes");
    let setting = ["config", "core.excludesFile", excludes.to_str().unwrap()];
    assert!(git(&setting).status.success());
    assert_eq!(user_excludes(&root), Some(excludes.clone()));
    for file in [
        "top",
        "sub/top",
        "a.log",
        "important.log",
        "a/important.log",
        "build/x",
        "a/build/x",
        "build.rs",
        "sub/a.txt",
        "sub/keep.txt",
        "sub/keep.rs",
        "sub/other.rs",
        "sub/more/a",
        "sub/more/keep.x",
        "docs/draft/a",
        "docs/x/draft/y/z",
        "docs/draft.md",
        "docs/foo1.md",
        "docs/foox.md",
        "docs/#odd",
        "docs/space ",
        "a/b/c/d",
        "a/b/c/d/e",
        "a/b/x/c/d",
        "a/b/x.everywhere",
        "a/x.everywhere",
        "x.everywhere",
    ] {
        let asked = git(&["check-ignore", "--quiet", "--no-index", file]);
        let by_git = asked.status.code() == Some(0);
        assert_eq!(is_ignored(&root, Some(&excludes), file), by_git, "{file}");
    }
}
