//! What Claude Code changes without asking: known with the texts before, shown by commands, and taken back.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use pillion_testkit::{ClaudeRelease, Turn};
use serde_json::{Value, json};

use super::Scene;
use super::run::{SETTINGS, run};
use crate::companion;

/// One that asks about nothing.
fn scene() -> Scene {
    let options = ["--review", "asked"];
    let own = ["--permission-mode", "bypassPermissions"];
    run(ClaudeRelease::Native, &options, &own, SETTINGS)
}

fn shell(command: &str) -> Turn {
    Turn::CallTool {
        name: "Bash",
        input: json!({"command": command, "description": "x"}),
    }
}

fn changes(scene: &Scene) -> Vec<Value> {
    let folder = scene.home.workspace();
    let mut command = companion::command(&scene.home, ["changes", "--json"]);
    let output = command.current_dir(folder).output().expect("pillion runs");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}");
    serde_json::from_slice(&output.stdout).expect("it prints JSON")
}

fn pillion(scene: &Scene, args: &[&str]) -> String {
    let mut command = companion::command(&scene.home, args);
    let output = command.current_dir(scene.home.workspace()).output();
    let output = output.expect("pillion runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{args:?}: {}",
        text(&output.stderr)
    );
    text(&output.stdout)
}

fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("it is a folder") {
            let path = entry.expect("it is an entry").path();
            match path.is_dir() {
                true => folders.push(path),
                false => drop(all.insert(path.clone(), fs::read(path).expect("it is a file"))),
            }
        }
    }
    all
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn what_claude_writes_without_asking_is_known_and_taken_back() {
    let scene = scene();
    let folder = scene.home.workspace();
    let edited = scene.home.file("edited.txt", "one\r\ntwo\r\n");
    scene.home.file("streamed.txt", "\u{feff}old\nlines\n");
    scene.home.file("gone.txt", "here\n");
    scene.home.file("moved.txt", "the same\n");
    fs::write(folder.join("binary"), b"\0\xff\xfe").expect("the workspace is ours");
    let before = files(&folder);
    scene.model.script([
        Turn::read_file(&edited),
        Turn::replace(&edited, "two", "zwei"),
        Turn::write_file(folder.join("written.txt"), "new\n"),
        shell("sed -i s/old/new/ streamed.txt; printf x >> binary"),
        shell("for n in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $n > many-$n; done; rm gone.txt; mkdir in; mv moved.txt in/moved.txt"),
        shell("echo failed > failed.txt; exit 3"),
        Turn::say("all is done"),
    ]);
    scene.claude.prompt("change it");
    scene.claude.wait_for("all is done");
    scene.claude.wait_ready();
    let all = companion::wait_until("a turn that has ended", || {
        let turns: Vec<Value> =
            serde_json::from_str(&pillion(&scene, &["turns", "--json"])).ok()?;
        (turns.first()?["ended"].is_u64()).then(|| changes(&scene))
    });
    let after = files(&folder);
    let mut names: Vec<_> = all
        .iter()
        .map(|it| it["path"].as_str().expect("a path"))
        .collect();
    names.sort_unstable();
    let mut expected: Vec<_> = before
        .keys()
        .chain(after.keys())
        .filter(|it| before.get(*it) != after.get(*it))
        .collect();
    expected.sort_unstable();
    expected.dedup();
    assert_eq!(
        names,
        expected
            .iter()
            .map(|it| it.to_str().expect("UTF-8"))
            .collect::<Vec<_>>(),
        "{all:#?}"
    );
    let of = |name: &str| {
        let path = folder.join(name);
        let found = all
            .iter()
            .find(|it| it["path"] == path.to_str().expect("UTF-8"));
        found.unwrap_or_else(|| panic!("{name} is known"))
    };
    assert_eq!(
        (&of("edited.txt")["by"], &of("edited.txt")["added"]),
        (&json!("Edit"), &json!(1))
    );
    assert_eq!(of("written.txt")["by"], "Write");
    assert_eq!(
        (&of("failed.txt")["by"], &of("failed.txt")["state"]),
        (&json!("Bash"), &json!("unseen"))
    );
    assert_eq!(
        of("in/moved.txt")["movedFrom"],
        folder.join("moved.txt").to_str().expect("UTF-8")
    );
    let id = of("streamed.txt")["id"].as_str().expect("an id");
    let shown = pillion(&scene, &["show", id]);
    assert!(shown.contains("-\u{feff}old\n+\u{feff}new\n"), "{shown}");
    // What a person writes elsewhere since stays, when the agent's lines go.
    let turn = id.split_once('.').expect("it has two parts").0;
    pillion(&scene, &["revert", turn]);
    assert_eq!(files(&folder), before, "all of it is taken back");
    assert!(changes(&scene).is_empty());
    pillion(&scene, &["undo", turn]);
    assert_eq!(files(&folder), after, "and is there again");
    pillion(&scene, &["keep", turn]);
    assert!(changes(&scene).is_empty());
}
