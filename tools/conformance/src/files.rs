//! The files of a workspace that may be focused to see what is sent to agents. They are only read.

use std::path::{Path, PathBuf};

use ignore::{DirEntry, WalkBuilder};
use pillion_discovery::version_control::{GIT, GitFolders};

/// The number of entries of a workspace that are looked at.
const MAX_ENTRIES: usize = 2_000;

/// Longer files are not looked into.
const MAX_TEXT: u64 = 64 * 1024;

/// Files of rules are not longer than this, in bytes.
const MAX_RULES: u64 = 1 << 20;

/// A file and whether it is a text with this many lines; another one than `focused`, if there is
/// one, and one with lines, if there is one.
pub(super) fn some_file(
    roots: &[PathBuf],
    focused: Option<&str>,
    lines: usize,
) -> Option<(String, bool)> {
    let mut found: Option<(String, bool)> = None;
    for path in below(roots) {
        let has_lines = count_lines(&path).is_some_and(|count| count >= lines);
        if has_lines && focused != Some(&path) {
            return Some((path, true));
        }
        if found.is_none() || has_lines {
            found = Some((path, has_lines));
        }
    }
    found
}

/// So many texts, or as many as there are.
pub(super) fn some_texts(roots: &[PathBuf], count: usize) -> Vec<String> {
    let texts = below(roots).filter(|path| count_lines(path).is_some());
    texts.take(count).collect()
}

/// The lines of a text that is not too long.
fn count_lines(path: &str) -> Option<usize> {
    let is_small = std::fs::metadata(path).is_ok_and(|it| it.len() <= MAX_TEXT);
    let text = is_small.then(|| std::fs::read_to_string(path).ok())?;
    text.map(|text| text.lines().count())
}

/// The regular files below some folders, those of a folder before those of the folders in it. Hidden
/// and ignored ones are left alone: an editor need not tell agents of them.
fn below(roots: &[PathBuf]) -> impl Iterator<Item = String> {
    let walk = |root: &PathBuf| {
        let by_nearness = |a: &Path, b: &Path| (a.is_dir(), a).cmp(&(b.is_dir(), b));
        let may_enter = |entry: &DirEntry| {
            let is_inner = entry.depth() > 0 && entry.file_type().is_some_and(|it| it.is_dir());
            !is_inner || has_readable_rules(entry.path())
        };
        let mut walk = WalkBuilder::new(root);
        if !root.ancestors().all(has_readable_rules) {
            walk.standard_filters(false).hidden(true);
        }
        walk.sort_by_file_path(by_nearness)
            .filter_entry(may_enter)
            .build()
    };
    let entries = roots.iter().flat_map(walk).flatten().take(MAX_ENTRIES);
    let files = entries.filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    files.filter_map(|entry| entry.into_path().into_os_string().into_string().ok())
}

/// Returns true if the files of rules in a folder, which the walk reads by itself, are not too long, and neither pipes nor
/// devices: it would wait for these, or read on and on.
fn has_readable_rules(folder: &Path) -> bool {
    let git = folder.join(GIT);
    let mut files = vec![folder.join(".gitignore"), folder.join(".ignore")];
    if let Some(GitFolders { own, common }) = GitFolders::of(folder) {
        files.extend([own.join("commondir"), common.join("info/exclude")]);
    }
    if !git.is_dir() {
        files.push(git);
    }
    let is_readable = |file: &PathBuf| {
        let metadata = file.metadata();
        metadata.map_or(true, |it| it.is_file() && it.len() <= MAX_RULES)
    };
    files.iter().all(is_readable)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_nearest_files_come_first_and_hidden_or_ignored_ones_not_at_all() {
        let folder = tempfile::tempdir().expect("the folder is ours");
        let root = folder.path();
        for inner in [".git", "a/b", "built"] {
            fs::create_dir_all(root.join(inner)).unwrap();
        }
        fs::write(root.join(".gitignore"), "built\n").unwrap();
        for file in ["here", "a/near", "a/b/far", "built/file", ".hidden"] {
            fs::write(root.join(file), "text\n").unwrap();
        }
        let found: Vec<_> = below(&[root.to_owned()]).map(PathBuf::from).collect();
        assert_eq!(found, ["here", "a/near", "a/b/far"].map(|it| root.join(it)));
    }

    #[cfg(unix)]
    #[test]
    fn rules_that_never_end_are_not_read() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().expect("the folder is ours");
        let root = folder.path();
        let mode = rustix::fs::Mode::RUSR;
        let pipe = |path: PathBuf| rustix::fs::mkfifoat(rustix::fs::CWD, path, mode).unwrap();
        for inner in ["plain", "device", "pipe", "repository", "outer/.git/info"] {
            fs::create_dir_all(root.join(inner)).unwrap();
            fs::write(root.join(inner).join("file"), "text\n").unwrap();
        }
        symlink("/dev/zero", root.join("device/.gitignore")).unwrap();
        pipe(root.join("pipe/.ignore"));
        pipe(root.join("repository/.git"));
        pipe(root.join("outer/.git/info/exclude"));
        fs::write(root.join("outer/file"), "text\n").unwrap();
        let found = |root: PathBuf| below(&[root]).map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(found(root.to_owned()), [root.join("plain/file")]);
        for inner in ["device", "pipe", "repository", "outer"] {
            let root = root.join(inner);
            let visible = found(root.clone());
            assert!(visible.contains(&root.join("file")), "{inner}: {visible:?}");
        }
    }
}
