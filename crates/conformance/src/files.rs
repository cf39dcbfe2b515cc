//! Which files of a workspace may be focused to see what agents are told of that. They are read at
//! most.

use std::collections::VecDeque;
use std::fs::DirEntry;
use std::path::PathBuf;
use std::vec;

/// How many entries of a workspace are looked at.
const MAX_ENTRIES: usize = 2_000;

/// Longer files are not looked into.
const MAX_TEXT: u64 = 64 * 1024;

/// A file and whether it is a text with this many lines; another one than `focused`, if there is
/// one, and one with lines, if there is one.
pub(super) fn some_file(
    roots: &[PathBuf],
    focused: Option<&str>,
    lines: usize,
) -> Option<(String, bool)> {
    let mut found: Option<(String, bool)> = None;
    for path in Walk::below(roots) {
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
    let texts = Walk::below(roots).filter(|path| count_lines(path).is_some());
    texts.take(count).collect()
}

/// The lines of a text that is not too long.
fn count_lines(path: &str) -> Option<usize> {
    let is_small = std::fs::metadata(path).is_ok_and(|it| it.len() <= MAX_TEXT);
    let text = is_small.then(|| std::fs::read_to_string(path).ok())?;
    text.map(|text| text.lines().count())
}

/// The regular files below some folders, by name, the nearest first. Hidden ones are left alone.
struct Walk {
    folders: VecDeque<PathBuf>,
    entries: vec::IntoIter<DirEntry>,
    looked_at: usize,
}

impl Walk {
    fn below(roots: &[PathBuf]) -> Self {
        Self {
            folders: roots.iter().cloned().collect(),
            entries: Vec::new().into_iter(),
            looked_at: 0,
        }
    }

    fn entry(&mut self) -> Option<DirEntry> {
        loop {
            if let Some(entry) = self.entries.next() {
                return Some(entry);
            }
            let folder = self.folders.pop_front()?;
            let entries = folder.read_dir().into_iter().flatten().flatten();
            let mut entries: Vec<_> = entries.collect();
            entries.sort_by_key(DirEntry::file_name);
            self.entries = entries.into_iter();
        }
    }
}

impl Iterator for Walk {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        while self.looked_at < MAX_ENTRIES {
            let entry = self.entry()?;
            self.looked_at += 1;
            let name = entry.file_name();
            let is_hidden = name.to_str().is_none_or(|name| name.starts_with('.'));
            let Some(kind) = entry.file_type().ok().filter(|_| !is_hidden) else {
                continue;
            };
            if kind.is_dir() {
                self.folders.push_back(entry.path());
            }
            if kind.is_file()
                && let Ok(path) = entry.path().into_os_string().into_string()
            {
                return Some(path);
            }
        }
        None
    }
}
