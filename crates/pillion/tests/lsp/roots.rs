//! The workspace roots: where they come from, and how they change (C2.5).

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use pillion_testkit::{SOON, discovery_file, make_repository};
use serde_json::{Value, json};

use crate::client::{Editor, files, plugin_params, uri};
use crate::sandbox::Sandbox;

fn folder(path: &Path) -> Value {
    json!({"uri": uri(path), "name": "a name"})
}

/// The roots in the discovery file.
fn served(environment: &Value) -> String {
    discovery_file(&files(environment)[0]).workspace_path
}

#[test]
fn agents_get_the_folders_and_those_that_come_and_go() {
    let sandbox = Sandbox::new();
    let (one, two) = (
        sandbox.home.other_workspace("one"),
        sandbox.home.other_workspace("two"),
    );
    let link = sandbox.home.root().join("link");
    std::os::unix::fs::symlink(&one, &link).unwrap();
    let mut params = plugin_params();
    params["rootUri"] = uri(&two).into();
    params["workspaceFolders"] = json!([folder(&link)]);
    let mut editor = Editor::start::<&str>(&sandbox, []);
    editor.initialize(params);
    editor.notify("initialized", json!({}));
    let environment = editor.params("pillion/environment");
    assert_eq!(
        served(&environment),
        one.to_str().unwrap(),
        "real paths, C2.7"
    );

    let mut change = |added: Value, removed: Value| {
        let event = json!({"added": added, "removed": removed});
        editor.notify(
            "workspace/didChangeWorkspaceFolders",
            json!({"event": event}),
        );
        editor.params("pillion/environment")
    };
    let environment = change(json!([folder(&two)]), json!([]));
    let both = format!("{}:{}", one.display(), two.display());
    assert_eq!(
        environment["variables"]["GEMINI_CLI_IDE_WORKSPACE_PATH"],
        both
    );
    let environment = change(json!([]), json!([folder(&link)]));
    let left = &environment["variables"]["QWEN_CODE_IDE_WORKSPACE_PATH"];
    assert_eq!(left, two.to_str().unwrap());
    let start = Instant::now();
    while served(&environment) != two.to_str().unwrap() {
        assert!(start.elapsed() < SOON, "{}", served(&environment));
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn without_folders_the_root_is_served() {
    let sandbox = Sandbox::new();
    let root = sandbox.home.other_workspace("root");
    let mut params = plugin_params();
    params["rootUri"] = uri(&root).into();
    params["workspaceFolders"] = Value::Null;
    let mut editor = Editor::start::<&str>(&sandbox, []);
    editor.initialize(params);
    editor.notify("initialized", json!({}));
    assert_eq!(
        served(&editor.params("pillion/environment")),
        root.to_str().unwrap()
    );
}

#[test]
fn folders_that_cannot_be_published_are_named_and_the_others_served() {
    let sandbox = Sandbox::new();
    let colon = sandbox.home.other_workspace("a:b");
    let good = sandbox.home.other_workspace("good");
    let gone = sandbox.home.root().join("gone");
    let remote = json!({"uri": "ssh://host/a", "name": ""});
    let mut params = plugin_params();
    params["workspaceFolders"] = json!([folder(&colon), folder(&gone), remote, folder(&good)]);
    let mut editor = Editor::start::<&str>(&sandbox, []);
    editor.initialize(params);
    editor.notify("initialized", json!({}));
    assert_eq!(
        served(&editor.params("pillion/environment")),
        good.to_str().unwrap()
    );
    let text = |params: Value| params["message"].as_str().unwrap().to_owned();
    assert!(text(editor.params("window/showMessage")).contains("separates roots"));
    assert!(text(editor.params("window/logMessage")).contains("gone"));
    assert!(text(editor.params("window/logMessage")).contains("ssh://host/a"));

    fs::remove_dir(&good).unwrap();
    let event = json!({"added": [folder(&gone)], "removed": []});
    editor.notify(
        "workspace/didChangeWorkspaceFolders",
        json!({"event": event}),
    );
    assert!(text(editor.params("window/logMessage")).contains("gone"));
    let passed = editor.passed();
    assert!(
        !passed.contains(&"pillion/environment".to_owned()),
        "nothing changed: {passed:?}"
    );
}

#[test]
fn a_change_that_cannot_be_read_is_ignored_and_reported() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::plugin(&sandbox);
    editor.notify(
        "workspace/didChangeWorkspaceFolders",
        json!({"event": {"added": 5}}),
    );
    let told = editor.params("window/logMessage");
    assert!(
        told["message"].as_str().unwrap().contains("event.added"),
        "{told}"
    );
}

/// The paths in a field of `pillion/environment`, as names below the home directory.
fn below(home: &Path, value: &Value) -> Vec<String> {
    let paths = value.as_array().unwrap().iter();
    let path = |value: &Value| {
        Path::new(value.as_str().unwrap())
            .strip_prefix(home)
            .unwrap()
            .display()
            .to_string()
    };
    paths.map(path).collect()
}

#[test]
fn a_plugin_s_workspace_makes_the_roots_and_the_folder_where_agents_start() {
    let sandbox = Sandbox::new();
    let home = sandbox.home.home().canonicalize().unwrap();
    for folder in ["repo/src", "other/_darcs", "notes"] {
        fs::create_dir_all(home.join(folder)).unwrap();
    }
    for top in ["", "repo"] {
        make_repository(&home.join(top));
    }
    let workspace = |folders: &[&str], files: &[&str], chosen: Option<bool>| {
        let uris = |names: &[&str]| {
            names
                .iter()
                .map(|name| uri(&home.join(name)))
                .collect::<Value>()
        };
        json!({"folders": uris(folders), "files": uris(files), "chosen": chosen})
    };
    let mut params = plugin_params();
    // They count for nothing.
    params["workspaceFolders"] = json!([folder(&home.join("notes"))]);
    params["capabilities"]["experimental"]["pillion"] =
        json!({"workspace": workspace(&[""], &["repo/src/a"], None)});
    let mut editor = Editor::start::<&str>(&sandbox, []);
    editor.initialize(params);
    editor.notify("initialized", json!({}));
    let environment = editor.params("pillion/environment");
    assert_eq!(served(&environment), home.join("repo").to_str().unwrap());
    assert_eq!(below(&home, &environment["roots"]), ["repo"]);
    for (folders, files, chosen, roots, start) in [
        (
            vec!["notes"],
            vec!["repo/a"],
            None,
            vec!["notes", "repo"],
            Some("repo"),
        ),
        (
            vec!["notes"],
            vec!["notes/a", "repo/a"],
            None,
            vec!["notes", "repo"],
            Some("notes"),
        ),
        (
            vec!["notes"],
            vec!["notes/a", "other/a"],
            Some(false),
            vec!["notes", "other"],
            Some("notes"),
        ),
        (
            vec!["notes"],
            vec!["repo/a"],
            Some(true),
            vec!["notes"],
            Some("notes"),
        ),
        (vec![], vec![], None, vec![], None),
        (vec![""], vec!["repo/a"], Some(true), vec![""], Some("")),
    ] {
        let change = workspace(&folders, &files, chosen);
        editor.notify("pillion/didChangeWorkspace", change.clone());
        let environment = editor.params("pillion/environment");
        assert_eq!(below(&home, &environment["roots"]), roots, "{change}");
        let start = start.map(|start| home.join(start).display().to_string());
        let told = environment["startFolder"]
            .as_str()
            .map(|path| path.trim_end_matches('/'));
        assert_eq!(
            told,
            start.as_deref().map(|path| path.trim_end_matches('/')),
            "{change}"
        );
    }
}

/// Before it, the plugin is told them, if they are others.
#[test]
fn a_request_of_a_workspace_is_answered_when_its_roots_are_known() {
    let sandbox = Sandbox::new();
    let home = sandbox.home.home().canonicalize().unwrap();
    fs::create_dir(home.join("notes")).unwrap();
    for top in ["repo", "other"] {
        make_repository(&home.join(top));
    }
    let mut params = plugin_params();
    params["capabilities"]["experimental"]["pillion"] =
        json!({"workspace": {"folders": [uri(&home.join("notes"))], "files": []}});
    let mut editor = Editor::start::<&str>(&sandbox, []);
    editor.initialize(params);
    editor.notify("initialized", json!({}));
    let known = editor.params("pillion/environment");
    assert_eq!(below(&home, &known["roots"]), ["notes"]);
    for (file, start) in [
        ("repo/a", Some("repo")),
        ("other/a", Some("other")),
        ("other/b", None),
        ("notes/a", Some("notes")),
    ] {
        let asked = json!({
            "folders": [uri(&home.join("notes"))],
            "files": [uri(&home.join(file)), uri(&home.join("repo/a"))],
        });
        let id = editor.ask("pillion/workspace", asked);
        if let Some(start) = start {
            let start = home.join(start);
            let told = editor.params("pillion/environment");
            assert_eq!(told["startFolder"], start.to_str().unwrap(), "{file}");
        }
        let answer = editor.wait(|message| message["id"] == id);
        assert_eq!(answer.get("result"), Some(&Value::Null), "{answer}");
    }
    let answer = editor.request("pillion/workspace", json!({"folders": []}));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

#[test]
fn a_workspace_that_cannot_be_read_is_refused_by_its_field() {
    for (workspace, field) in [
        (json!({"files": []}), "folders"),
        (json!({"folders": "a", "files": []}), "folders"),
        (json!({"folders": [], "files": [5]}), "files[0]"),
    ] {
        let sandbox = Sandbox::new();
        let mut params = plugin_params();
        params["capabilities"]["experimental"]["pillion"] = json!({"workspace": workspace});
        let mut editor = Editor::start::<&str>(&sandbox, []);
        let answer = editor.request("initialize", params);
        let error = &answer["error"]["message"];
        let error = error.as_str().unwrap();
        assert!(
            error.contains("experimental.pillion.workspace: "),
            "{error}"
        );
        assert!(error.contains(field), "{error}");
    }
}
