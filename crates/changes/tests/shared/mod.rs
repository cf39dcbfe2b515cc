//! Parts that several tests of this folder share: a work tree with a store elsewhere, and a shell command of an agent.

use std::fs;
use std::path::{Path, PathBuf};

use pillion_changes::recorder::Call;
use pillion_changes::{Recorder, Store};
use pillion_discovery::Environment;

/// A work tree with a store elsewhere.
pub struct WorkTree {
    pub root: PathBuf,
    pub store: Store,
    /// Holds both, and is removed when it is dropped.
    #[allow(dead_code, reason = "some tests only hold it")]
    pub folder: tempfile::TempDir,
}

impl WorkTree {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = pillion_discovery::canonicalize(folder.path());
        let root = root.unwrap().join("work");
        fs::create_dir(&root).unwrap();
        let state = folder.path().join("state");
        let store = Store::of(&Environment::from_pairs([("XDG_STATE_HOME", state)])).unwrap();
        Self {
            root,
            store,
            folder,
        }
    }
}

/// A recorder of this folder.
#[allow(dead_code, reason = "some tests record nothing")]
pub fn recorder(store: &Store, root: &Path) -> Recorder {
    Recorder::new(store.clone(), &[root.to_owned()], Vec::new())
}

/// A shell command by this name.
#[allow(dead_code, reason = "some tests record nothing")]
pub fn shell(id: &str) -> Call {
    Call {
        id: id.to_owned(),
        tool: "Bash".to_owned(),
        path: None,
        subagent: None,
    }
}
