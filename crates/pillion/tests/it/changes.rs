//! The changes of agents, when something goes wrong: kills between two system calls, disks that are full or must not be
//! written, and a store that somebody has damaged; and strange names.

mod accepted;
mod any_turns;
mod at_work;
mod cut_off;
mod damaged;
mod faked;
mod kills;
mod many;
mod names;
mod reasons;
mod shown;
mod staged;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use pillion_changes::recorder::Call;
use pillion_changes::{Recorder, Store};
use pillion_discovery::Environment;

use crate::sandbox::Sandbox;

const SESSION: u64 = 1;

/// The entry at a path: its permissions, and its text or where it leads.
type Tree = BTreeMap<PathBuf, (u32, Vec<u8>)>;

/// A shell command of this name.
fn call(id: &str) -> Call {
    Call {
        id: id.to_owned(),
        tool: "Bash".to_owned(),
        path: None,
        subagent: None,
    }
}

/// Nobody is told that there is nothing where nothing is known.
#[test]
fn where_nothing_is_recorded_the_lists_say_so() {
    let world = World::new();
    let sandbox = &world.sandbox;
    let elsewhere = sandbox.home.other_workspace("elsewhere");
    let elsewhere = ["--workspace", elsewhere.to_str().unwrap()];
    let mut other = sandbox.serve_with("PILLION_CHANGES", "off", elsewhere);
    for (command, nothing) in [
        ("changes", "there are no unseen changes here\n"),
        ("turns", "no turn of an agent is known here\n"),
        ("log", "nothing has been decided here\n"),
    ] {
        let said = sandbox.run([command]).expect(0);
        assert_eq!(
            (&*said.stdout, &*said.stderr),
            (nothing, ""),
            "another folder"
        );
    }
    let _serve = sandbox.serve_with::<&str>("PILLION_CHANGES", "off", []);
    for args in [
        ["changes", "--json"],
        ["turns", "--json"],
        ["log", "--json"],
    ] {
        let said = sandbox.run(args).expect(0);
        assert_eq!(said.stdout, "[]\n", "{args:?}");
        assert!(
            said.stderr.contains("PILLION_CHANGES=off"),
            "{}",
            said.stderr
        );
        let said = sandbox.run([args[0]]).expect(0);
        assert_eq!(said.stdout, "", "{args:?}");
        assert!(said.stderr.contains("is not recorded"), "{}", said.stderr);
    }
    other.signal("TERM");
    other.ended();
}

/// A workspace with the store of its user.
struct World {
    sandbox: Sandbox,
    root: PathBuf,
    store: Store,
}

impl World {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        let root = pillion_discovery::canonicalize(&sandbox.home.workspace()).unwrap();
        let home = [("HOME", sandbox.home.home())];
        let store = Store::of(&Environment::from_pairs(home)).unwrap();
        Self {
            sandbox,
            root,
            store,
        }
    }

    /// Runs what an agent does as one shell command of a turn. Returns the turn's number.
    fn turn(&self, work: impl FnOnce(&Path)) -> u64 {
        let roots = std::slice::from_ref(&self.root);
        let mut recorder = Recorder::new(self.store.clone(), roots, Vec::new());
        recorder.prepare();
        let turn = recorder.begin(SESSION, "claude", "a prompt").unwrap();
        recorder.before(SESSION, "claude", call("1")).unwrap();
        work(&self.root);
        recorder.after(SESSION, "1", |_| Vec::new()).unwrap();
        recorder.end(SESSION).unwrap();
        turn
    }

    /// All that is in the workspace.
    fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        let mut folders = vec![self.root.clone()];
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
                let mode = metadata.permissions().mode() & 0o7777;
                let inner = path.strip_prefix(&self.root).unwrap().to_owned();
                tree.insert(inner, (mode, text));
            }
        }
        tree
    }

    /// The files that are still being written, or were never finished, in the workspace and in the store.
    fn leftovers(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.root.clone(), self.store.path()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                if name.starts_with(".pillion-") {
                    found.push(path.clone());
                }
                if path.symlink_metadata().is_ok_and(|it| it.is_dir()) {
                    folders.push(path);
                }
            }
        }
        found
    }
}
