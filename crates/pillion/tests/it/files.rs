//! The companion never writes the user's files (C5.9): a whole session leaves the workspace as it
//! was.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::sandbox::Sandbox;

#[test]
fn a_whole_session_leaves_the_workspace_as_it_was() {
    let sandbox = Sandbox::new();
    let file = sandbox.home.file("src/a.txt", "old\r\n");
    sandbox.home.file("b.txt", "b");
    let before = contents(&sandbox.home.workspace());
    let serve = sandbox.serve::<&str>([]);
    let mut agent = serve.connect();
    let path = file.to_str().unwrap();
    for command in ["accept", "reject"] {
        agent.propose(path, "new\n");
        let id = if command == "accept" { "1.1" } else { "2.1" };
        sandbox.run([command, id]).expect(0);
        agent.outcome();
    }
    sandbox.run(["focus", "b.txt"]).expect(0);
    drop(serve);
    assert_eq!(contents(&sandbox.home.workspace()), before);
}

fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(contents(&path));
        } else {
            let text = fs::read(&path).unwrap();
            found.insert(path, text);
        }
    }
    found
}
