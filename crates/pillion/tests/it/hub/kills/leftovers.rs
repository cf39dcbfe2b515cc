//! The files that may stay of Pillion once all its processes have ended.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::sandbox::Sandbox;

/// Everything in the home, the temporary folder and the runtime folder that is no folder.
pub fn files(sandbox: &Sandbox) -> BTreeSet<PathBuf> {
    let home = &sandbox.home;
    let mut found = BTreeSet::new();
    for folder in [home.home(), home.tmp(), home.runtime()] {
        walk(&folder, &mut found);
    }
    found
}

/// Of all that is no folder, these may stay: `TMPDIR/pillion-kept-*/round-*.txt`, which are people's texts, the store with
/// what was decided, the numbers that were given, and one record for a successor, `XDG_RUNTIME_DIR/pillion/*.handover`.
pub fn check(sandbox: &Sandbox, before: &BTreeSet<PathBuf>) {
    let after = files(sandbox);
    let left: Vec<&PathBuf> = after.difference(before).collect();
    let records = sandbox.home.runtime().join("pillion");
    let is_record = |path: &Path| {
        let is_named = path.extension().is_some_and(|it| it == "handover");
        is_named && path.parent() == Some(&records)
    };
    let is_kept = |path: &Path| {
        let folder = path.parent().unwrap();
        let name = folder.file_name().unwrap().to_str().unwrap();
        let file = path.file_name().unwrap().to_str().unwrap();
        let is_in_place = folder.parent() == Some(&sandbox.home.tmp());
        is_in_place && name.starts_with("pillion-kept-") && file.starts_with("round-")
    };
    let state = sandbox.home.home().join(".local/state/pillion");
    let stores = ["changes", "numbers"].map(|it| state.join(it));
    let others = left.into_iter().filter(|path| !is_kept(path));
    let others = others.filter(|path| !stores.iter().any(|it| path.starts_with(it)));
    let (records, others): (Vec<_>, Vec<_>) = others.partition(|path| is_record(path));
    assert_eq!(others, Vec::<&PathBuf>::new());
    assert!(records.len() <= 1, "{records:?}");
}

fn walk(folder: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            walk(&entry.path(), found);
        } else {
            found.insert(entry.path());
        }
    }
}
